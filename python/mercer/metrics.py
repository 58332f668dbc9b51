"""Measures of a basis, and of a kernel against labels."""

from __future__ import annotations

from typing import Any, Literal, overload

from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._fit import warn
from mercer._input import Task, as_rows, as_target, refuse_collections
from mercer.basis import KernelBasis

__all__ = ["kernel_alignment", "orthogonality_loss", "reconstruction_cost", "relevant_dimension"]


def reconstruction_cost(basis: KernelBasis, X: Any) -> float:
    """Return E(M): the mean distance of the rows' images from the span of a basis.

    Parameters
    ----------
    basis : KernelBasis
        Fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; with a precomputed kernel, the square training matrix.

    Returns
    -------
    cost : float
        0 where the basis spans all the rows.

    Examples
    --------
    >>> from mercer import KernelBasis, metrics
    >>> basis = KernelBasis("kobl", kernel="linear").fit([[3.0, 4.0]])
    >>> metrics.reconstruction_cost(basis, [[6.0, 8.0], [-4.0, 3.0]])
    2.5
    """
    return basis.reconstruction_cost(X)


def orthogonality_loss(basis: KernelBasis, X: Any = None) -> float:
    """Return ‖A K Aᵀ − I‖ (Frobenius) over the landmarks of a basis: how far from orthonormal rounding has left it.

    Parameters
    ----------
    basis : KernelBasis
        Fitted.
    X : array-like of shape (n_samples, n_samples), default=None
        The training matrix; needed for a precomputed kernel alone.

    Returns
    -------
    loss : float
        Near 0.

    Examples
    --------
    >>> from mercer import KernelBasis, metrics
    >>> basis = KernelBasis("kobl", gamma=1.0).fit([[0.0], [1.0], [3.0]])
    >>> metrics.orthogonality_loss(basis) < 1e-14
    True
    """
    check_is_fitted(basis)
    rows = None if X is None else as_rows(basis._check_new(X))
    return basis._model.orthogonality_loss(rows)


def kernel_alignment(K: Any, y: Any, *, center: bool = False, task: Task = "auto") -> float:
    """Return the alignment of a kernel matrix with the labels, ⟨K, YYᵀ⟩ / (‖K‖ ‖YYᵀ‖).

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix.
    y : array-like of shape (n_samples,)
        Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
        numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
        than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides. Y is
        their one-hot matrix, or the numbers themselves.
    center : bool, default=False
        Centre both matrices first (Cortes, Mohri & Rostamizadeh 2012).
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `y`.

    Returns
    -------
    alignment : float
        At most 1; it is 1 where K is 1 within classes and 0 between them.

    Examples
    --------
    >>> from mercer.metrics import kernel_alignment
    >>> K = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> round(kernel_alignment(K, ["a", "a", "b"]), 12)
    1.0
    """
    K, y = _matrix_and_target("kernel_alignment", K, y)
    alignment, warnings = _core.kernel_alignment(K, y, center=bool(center), task=task)
    warn(warnings, stacklevel=2)
    return alignment


@overload
def relevant_dimension(K: Any, y: Any, *, task: Task = "auto", return_noise: Literal[False] = False) -> int: ...
@overload
def relevant_dimension(K: Any, y: Any, *, task: Task = "auto", return_noise: Literal[True]) -> tuple[int, float]: ...
def relevant_dimension(K: Any, y: Any, *, task: Task = "auto", return_noise: bool = False) -> int | tuple[int, float]:
    """Return the number of leading kernel principal components that tell about the labels.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix.
    y : array-like of shape (n_samples,)
        Labels.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are, as in `kernel_alignment`.
    return_noise : bool, default=False
        Return the variance of the labels beyond that dimension too.

    Returns
    -------
    dimension : int
        d of the two-component model of Braun, Buhmann & Müller (2008).
    noise : float
        Only if `return_noise`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.metrics import relevant_dimension
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 200, 10))
    >>> x *= [9, 5, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> relevant_dimension(x @ x.T, x[:, 0] - 2 * x[:, 1] + noise[:, 0])
    2
    """
    K, y = _matrix_and_target("relevant_dimension", K, y)
    dimension, noise, warnings = _core.relevant_dimension(K, y, task=task)
    warn(warnings, stacklevel=2)
    return (dimension, noise) if return_noise else dimension


def _matrix_and_target(caller: str, K: Any, y: Any) -> tuple[_core.Rows, _core.Target]:
    """Return a kernel matrix and labels as `_core` takes them."""
    refuse_collections(caller, K=K, y=y)
    return as_rows(check_array(K)), as_target(y)
