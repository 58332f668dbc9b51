"""What selectors share with `InputWeights`: columns that are kept can be stored as a model file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._fit import Settings, input_names
from mercer._input import as_array, check_finite


class Kept:
    """An estimator that keeps columns, and can be saved."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted selector as a model file, which `mercer.load` and `mercer transform` read.

        Parameters
        ----------
        path : str or path-like
            The file. It is written whole or not at all; an existing one is replaced.

        Examples
        --------
        >>> import mercer, os, tempfile
        >>> X, y = [[0.0, 3.0], [0.1, 1.0], [1.0, 2.9], [1.1, 1.1]], [0, 0, 1, 1]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mercer.FScore(1).fit(X, y).save(os.path.join(folder, "kept.mercer"))
        ...     selected = mercer.load(os.path.join(folder, "kept.mercer"))
        >>> selected.transform(X[:2])
        array([[0. ],
               [0.1]])
        """
        self._stored().save(os.fspath(path))

    def _stored(self) -> _core.Columns:
        """Return what a model file holds of the fitted estimator."""
        raise NotImplementedError


def weighted(rows: Any, weights: NDArray[np.float64]) -> Any:
    """Return columns multiplied by their weights, in the precision of the rows."""
    weights = weights.astype(rows.dtype)
    is_sparse: bool = sparse.issparse(rows)
    with np.errstate(over="ignore"):
        if is_sparse:
            values: Any = weights[np.newaxis]
            diagonal: Any = sparse.dia_array((values, [0]), shape=(len(weights), len(weights)))
            product = (rows @ diagonal).tocsr()
        else:
            product = rows * weights
    check_finite(product.data if is_sparse else product, "a column times its weight is too large", "scale the columns")
    return product


def stored(estimator: Any, method: str, scores: Any, settings: Settings, *, weights: Any = None) -> _core.Columns:
    """Return what a model file holds of a fitted estimator with `ranking_` and `support_`."""
    check_is_fitted(estimator)
    support = np.asarray(estimator.support_)
    pvalues = getattr(estimator, "pvalues_", None)
    return _core.Columns.of(
        method,
        as_array(scores, np.float64),
        [int(place) for place in estimator.ranking_],
        [int(at) for at in np.flatnonzero(support)],
        weights=None if weights is None else as_array(weights[support], np.float64),
        pvalues=None if pvalues is None else as_array(pvalues, np.float64),
        input_names=input_names(estimator),
        settings=list(settings),
    )
