"""Kernels to add and to multiply: `Kernel`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer import _core
from mercer._input import FLOATS, as_given, checked_array
from mercer._words import KernelName

# A kernel's name, a text of one, or a function of one's own, with its settings.
_Factor = tuple["str | Callable[..., Any]", tuple[tuple[str, str], ...]]

# A weight and what it multiplies.
_Term = tuple[float, tuple[_Factor, ...]]


class Kernel:
    """A kernel that can be added to others, multiplied with them, weighted, and put on a group of columns.

    `0.5 * Kernel("rbf", gamma=0.1) + Kernel("linear")` is a kernel, and so is
    `Kernel("rbf", columns=["age", "income"]) * Kernel("match", columns="city")`. Every estimator takes one as `kernel`,
    or its text, which is its `repr`. Kernels are equal if their texts and functions are, and never change.

    Parameters
    ----------
    kernel : str or callable
        The name of a kernel that `KernelBasis` lists, but "precomputed"; a text such as "0.5*rbf+linear", for which the
        settings here must be left out; or a function of two blocks of rows, k(X, Z)[i, j] = k(X[i], Z[j]).
    gamma : float or None, default=None
        Width of the kernel. None: that of the estimator, by its rule.
    degree : int or None, default=None
        Degree of "poly". None: that of the estimator.
    coef0 : float or None, default=None
        Constant of "poly" and "sigmoid". None: that of the estimator.
    alpha : float or None, default=None
        Exponent of "rq". None: that of the estimator.
    columns : int, str, slice, or list of int or str, default=None
        The columns that the kernel sees: by place, or by name where X is a dataframe. A slice needs both its ends.
        None: all.

    Examples
    --------
    >>> from mercer import Kernel, KernelBasis
    >>> kernel = 0.5 * Kernel("rbf", gamma=0.1, columns=slice(0, 2)) + Kernel("match", columns=2)
    >>> kernel
    0.5*rbf(gamma=0.1, columns=0:2)+match(columns=2)
    >>> X = [[0.0, 0.0, 7], [1.0, 2.0, 7], [1.0, 2.0, 8]]
    >>> kernel.matrix(X).round(3)
    array([[1.5  , 1.303, 0.303],
           [1.303, 1.5  , 0.5  ],
           [0.303, 0.5  , 1.5  ]])
    >>> KernelBasis(kernel=kernel).fit(X).n_components_
    3
    """

    _terms: tuple[_Term, ...]

    def __init__(
        self,
        kernel: str | Callable[..., Any],
        *,
        gamma: float | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        alpha: float | None = None,
        columns: Any = None,
    ) -> None:
        numbers = {"gamma": gamma, "degree": degree, "coef0": coef0, "alpha": alpha}
        settings = [(name, _number(name, value)) for name, value in numbers.items() if value is not None]
        if columns is not None:
            settings.append(("columns", _columns(columns)))
        if isinstance(kernel, str):
            is_name = kernel.replace("_", "").isalnum()
            if settings and not is_name:
                names = ", ".join(name for name, _ in settings)
                raise ValueError(
                    f"{names} beside the kernel {kernel!r}, which is a text\nhint: write settings into the text"
                )
        elif not callable(kernel):
            raise TypeError(f"a kernel is a name, a text or a function, not {type(kernel).__name__}")
        self._terms = ((1.0, ((kernel, tuple(settings)),)),)
        _core.kernel_text(self.text)

    @classmethod
    def _of(cls, terms: Iterable[_Term]) -> Self:
        made = cls.__new__(cls)
        made._terms = tuple(terms)
        _core.kernel_text(made.text)
        return made

    @property
    def text(self) -> str:
        """The kernel as text; a function is in it by its name and a number."""
        alone = len(self._terms) == 1 and self._terms[0][0] == 1.0 and len(self._terms[0][1]) == 1
        return "+".join(_term(term, alone=alone) for term in self._terms)

    def __add__(self, other: Any) -> Self:
        """Return the sum of two kernels."""
        if isinstance(other, Kernel):
            return self._of((*self._terms, *other._terms))
        return self if other == 0 else NotImplemented  # sum() starts with 0

    __radd__ = __add__

    def __mul__(self, other: Any) -> Self:
        """Return the product with a kernel or a number of at least 0."""
        if isinstance(other, Kernel):
            pairs = ((a, b) for a in self._terms for b in other._terms)
            return self._of((v * w, (*f, *g)) for (v, f), (w, g) in pairs)
        if isinstance(other, Real) and not isinstance(other, bool):
            return self._of((float(other) * weight, factors) for weight, factors in self._terms)
        return NotImplemented

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Return whether texts and functions are the same."""
        return self._terms == other._terms if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._terms)

    def __repr__(self) -> str:
        return self.text

    def matrix(self, X: Any, Z: Any = None) -> NDArray[np.float64]:
        """Return the kernel values of rows; every part that has a width must have been given it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        Z : {array-like, sparse matrix} of shape (n_others, n_features), default=None
            Other rows; None: the same.

        Returns
        -------
        K : ndarray of shape (n_samples, n_others)
            k(X[i], Z[j]).

        Examples
        --------
        >>> from mercer import Kernel
        >>> Kernel("additive_chi2").matrix([[1.0, 0.0], [1.0, 3.0]], [[1.0, 1.0]])
        array([[1. ],
               [2.5]])
        """
        names = getattr(X, "columns", None)
        names = [str(name) for name in names] if names is not None else None
        rows = [
            as_given(checked_array("Kernel", given, accept_sparse="csr", dtype=FLOATS, order="C"))
            for given in (X, X if Z is None else Z)
        ]
        return _core.kernel_matrix(_core.kernel_text(self.text, names), *rows)


# What `kernel` may be: a name, a text such as "0.5*rbf+linear", a `Kernel`, or a function of two blocks of rows.
AnyKernel = KernelName | str | Kernel | Callable[..., Any]


def kernel_text(kernel: Any) -> str:
    """Return what an estimator was given as `kernel` as text; a function is made known to `_core`."""
    if isinstance(kernel, Kernel):
        return kernel.text
    return _core.own_kernel(kernel) if callable(kernel) else str(kernel)


def is_plain(kernel: Any, *names: str) -> bool:
    """Return whether a kernel is one of these, by name."""
    return (isinstance(kernel, str) and kernel in names) or (isinstance(kernel, Kernel) and kernel.text in names)


def has_width(kernel: Any) -> bool:
    """Return whether a kernel has a part whose width is to be found."""
    try:
        return _core.kernel_uses_gamma(kernel_text(kernel))
    except ValueError:  # it is refused where it is used
        return True


def functions(kernel: Any) -> list[tuple[str, Callable[..., Any]]]:
    """Return the functions in a kernel, each with the text that stands for it in this process."""
    if isinstance(kernel, Kernel):
        parts = (part for _, factors in kernel._terms for part, _ in factors)
        return [(_core.own_kernel(part), part) for part in parts if not isinstance(part, str)]
    return [(_core.own_kernel(kernel), kernel)] if callable(kernel) else []


def _term(term: _Term, *, alone: bool) -> str:
    weight, factors = term
    texts = [_factor(factor, alone=alone) for factor in factors]
    return "*".join([_number("weight", weight), *texts] if weight != 1.0 or not texts else texts)


def _factor(factor: _Factor, *, alone: bool) -> str:
    kernel, settings = factor
    if not isinstance(kernel, str):
        name = _core.own_kernel(kernel)
    elif alone or kernel.replace("_", "").isalnum():
        name = kernel
    else:
        name = f"({kernel})"
    return f"{name}({', '.join(f'{key}={value}' for key, value in settings)})" if settings else name


def _number(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} = {value!r} of a kernel, but it must be a number")
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _columns(columns: Any) -> str:
    if isinstance(columns, slice):
        if columns.start is None or columns.stop is None or columns.step not in (None, 1):
            raise ValueError(f"columns = {columns}, but a slice of columns needs both its ends and no step")
        return f"{int(columns.start)}:{int(columns.stop)}"
    if isinstance(columns, str | Integral):
        columns = [columns]
    texts: list[str] = []
    places: list[int] = []
    for column in columns:
        if isinstance(column, Integral) and not isinstance(column, bool):
            if column < 0:
                raise ValueError(f"columns = {column}, but places are counted from 0")
            places.append(int(column))
        elif isinstance(column, str):
            escaped = column.replace("\\", "\\\\").replace('"', '\\"')
            is_word = column.replace("_", "").isalnum() and not column[0].isdigit()
            texts.append(column if is_word else f'"{escaped}"')
        else:
            raise TypeError(f"columns hold {column!r}, but they are places or names")
    texts = [*_ranges(sorted(places)), *texts]
    if not texts:
        raise ValueError("columns are none\nhint: leave columns out for all of them")
    return ",".join(texts)


def _ranges(places: list[int]) -> list[str]:
    """Return ascending places as 0:3, 5."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return [f"{run[0]}:{run[-1] + 1}" if len(run) > 1 else str(run[0]) for run in runs]
