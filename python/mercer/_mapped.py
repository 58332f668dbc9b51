"""What systems and extractors share: a fitted basis, and a map that is made of its coordinates."""

from __future__ import annotations

import warnings
from abc import ABC
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags, check_array, get_tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import _core
from mercer._catalogue import allowed, stage
from mercer._input import FLOATS, as_csr, as_given, as_rows, check_names_in, in_frame
from mercer.basis import KernelBasis

Basis = KernelBasis | str | None

# What every method on a basis lets these be.
LIMITS: dict[str, list[Any]] = {
    "basis": [StrOptions(set(stage("basis"))), KernelBasis, None],
    "precision": allowed("precision"),
    "verbose": ["verbose"],
}


class Mapped(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A method that fits a basis and makes features of its coordinates; a class on top of it has `fit`."""

    _method: ClassVar[str]

    basis: Basis
    verbose: int
    n_features_in_: int
    basis_: KernelBasis
    n_components_: int
    precision_: str
    rounding_error_: float | None
    _map: _core.Model

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with a precomputed kernel, their kernel values against all training rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Features: float32 where X is, else float64. Those of dense float32 rows are computed in single precision
            where rounding stays within 1e-5 of sqrt(k(x, x)), or of a feature's own range if that is larger,
            else in double; `verbose` says which.

        Examples
        --------
        >>> from mercer import EKS
        >>> X = [[1.0, 0.0], [2.0, 0.1], [-1.0, 0.1], [-2.0, 0.0]]
        >>> EKS(n_features=1).fit(X, [1, 1, 0, 0]).transform(X).shape
        (4, 1)
        """
        rows = self._check_new(X)
        return _core.transform(self._map, as_given(rows), verbose=int(self.verbose)).astype(rows.dtype, copy=False)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return rows whose features come closest to the given ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Features.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features_in_)
            Pre-images of the shortest points with these features. Kernels that have one: "linear", "rbf", "matern12",
            "matern32", "matern52", "rq".

        Examples
        --------
        >>> from mercer import EKS, KernelBasis
        >>> X = [[1.0, 2.0], [2.0, 4.0], [-1.0, -2.0], [-2.0, -4.0]]
        >>> system = EKS(n_features=1, basis=KernelBasis("kobl", kernel="linear")).fit(X, [1, 1, 0, 0])
        >>> system.inverse_transform(system.transform(X)).round(12)
        array([[ 1.,  2.],
               [ 2.,  4.],
               [-1., -2.],
               [-2., -4.]])
        """
        check_is_fitted(self)
        features = check_array(X, dtype=FLOATS, order="C")
        rows = _core.inverse_transform(self._map, as_rows(features), verbose=int(self.verbose))
        return rows.astype(features.dtype, copy=False)

    def input_importance(self, X: Any) -> Any:
        """Return how much each feature depends on each input column, near the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the units that the fit was made in.

        Returns
        -------
        importance : ndarray of shape (n_components_, n_features_in_), or a dataframe
            The mean over the rows of the squared slope of the feature along the column; divide by a row's sum for
            shares. A pandas frame in, a pandas frame out, with the columns' names above and the features' at the side;
            a polars frame in, a polars frame out, with the features' names in its first column, "feature". Not
            defined for precomputed kernels.

        Examples
        --------
        >>> from mercer import EKS, KernelBasis
        >>> X = [[3.0, 4.0], [6.0, 8.0], [-3.0, -4.0], [-6.0, -8.0]]
        >>> system = EKS(n_features=1, basis=KernelBasis("kobl", kernel="linear")).fit(X, [1, 1, 0, 0])
        >>> system.input_importance(X).round(12)
        array([[0.36, 0.64]])
        """
        rows = self._check_new(X)
        importance = _core.input_importance(self._map, as_rows(rows), verbose=int(self.verbose))
        return in_frame(importance, X, self.get_feature_names_out())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Only checked: as many as there are input columns, and equal to `feature_names_in_` where that exists.

        Returns
        -------
        names : ndarray of str objects
            A coordinate that was selected keeps its name in the basis ("kobl3", "kobl17"); an extracted feature is
            called by the method without dashes, and a number ("klfe0", "klfe1").

        Examples
        --------
        >>> from mercer import KRelief
        >>> system = KRelief(n_features=2).fit([[0.0], [0.5], [4.0], [4.5]], [0, 0, 1, 1])
        >>> len(system.get_feature_names_out()), system.get_feature_names_out()[0][:11]
        (2, 'gramschmidt')
        """
        check_names_in(self, input_features)
        return np.asarray(self._map["feature_names"], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _needs_y(self) -> bool:
        return True

    def _basis(self, n: int, *, seed: int = 0, **own: Any) -> KernelBasis:
        """Return the basis asked for, or the one that the method comes with, with settings of its `own`."""
        precision: str | None = getattr(self, "precision", None)
        if isinstance(self.basis, KernelBasis):
            if precision is not None and precision != self.basis.precision:
                raise ValueError(
                    f"precision = {precision!r}, but the basis is a KernelBasis, which has its own\n"
                    "hint: say it there: KernelBasis(precision=...)"
                )
            copy: KernelBasis = clone(self.basis)
            return copy
        if self.basis is not None:
            return KernelBasis(self.basis, random_state=seed, precision=precision, verbose=self.verbose)
        method, texts = _core.default_basis(self._method, n)
        for text in texts:
            warnings.warn(text, UserWarning, stacklevel=4)
        return KernelBasis(method, random_state=seed, precision=precision, verbose=self.verbose, **own)

    def _keep_map(self, basis: KernelBasis, model: _core.Model) -> None:
        """Keep a fitted basis and the map of what was made of its coordinates."""
        model["landmarks"] = as_csr(model["landmarks"], self.n_features_in_, like=basis.landmarks_)
        self.basis_ = basis
        self.precision_ = basis.precision_
        self.rounding_error_ = basis.rounding_error_
        self._map = model
        self.n_components_ = len(model["matrix"])

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.basis_._non_negative(validate_data(self, X, reset=False, **self.basis_._checks()))

    def _model(self) -> _core.Model:
        return self._map

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        basis = self.basis if isinstance(self.basis, KernelBasis) else KernelBasis()
        tags.input_tags = get_tags(basis).input_tags
        tags.target_tags.required = self._needs_y()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
