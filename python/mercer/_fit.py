"""The one way from rows to a fitted model, for every estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from mercer import _core
from mercer._input import as_given

# Names and values as the catalogue reads them.
Settings = Sequence[tuple[str, str]]


def fit(
    estimator: Any,
    rows: Any,
    target: _core.Target | None,
    basis: _core.BasisSettings,
    method: str | None = None,
    settings: Settings = (),
    *,
    basis_only: bool = False,
    task: str = "auto",
    want_coordinates: bool = False,
    verbose: int = 0,
) -> _core.Fitted:
    """Return what is found in checked rows: a basis and, with a `method`, what it makes of the coordinates.

    `basis_only` finds the basis of a method without the method. The estimator has the names of the columns.
    """
    return _core.fit(
        as_given(rows),
        target,
        method,
        list(settings),
        basis=basis,
        basis_only=basis_only,
        input_names=input_names(estimator),
        task=task,
        want_coordinates=want_coordinates,
        verbose=int(verbose),
    )


def input_names(estimator: Any) -> list[str] | None:
    """Return the names of the columns that an estimator was fitted on, if they had names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def warn(texts: Iterable[str], *, stacklevel: int, category: type[Warning] = UserWarning) -> None:
    """Warn the caller who is `stacklevel` calls up, where 1 is the function that calls this."""
    for text in texts:
        warnings.warn(text, category, stacklevel=stacklevel + 1)
