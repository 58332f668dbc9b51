"""What systems and extractors share: a fitted basis, and a map that is made of its coordinates."""

from __future__ import annotations

import inspect
from abc import ABC
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._catalogue import allowed, as_seed, as_texts, stage
from mercer._device import DEVICE, asked_device, device_for, to_host
from mercer._fit import Settings, features, fit
from mercer._input import (
    FLOATS,
    TASKS,
    Task,
    as_rows,
    as_target,
    categories_as_text,
    check_names_in,
    checked_array,
    in_frame,
    is_partitioned,
    row_weights,
    validated,
)
from mercer._words import Method, Precision
from mercer.basis import KernelBasis

Basis = KernelBasis | Method | None

# What a method on a basis takes itself, in place of a `KernelBasis` with these settings.
KERNEL_SETTINGS = ("kernel", "gamma", "degree", "coef0")

# What every method on a basis lets these be.
LIMITS: dict[str, list[Any]] = {
    "basis": [StrOptions(set(stage("basis"))), KernelBasis, None],
    **{name: list(dict.fromkeys([*allowed(name), None])) for name in KERNEL_SETTINGS},
    "task": TASKS,
    "precision": allowed("precision"),
    "device": DEVICE,
    "verbose": ["verbose"],
}


class ChangedBasis(KernelBasis):
    """A basis that is given by name or not at all, with settings that were set as `basis__NAME`.

    What is at its default here is as without this object: the method's own basis where `method` is None, and seed,
    precision and kernel of the estimator. It is a class, not a mark on an object, so that `clone` keeps it.
    """


def _not_default(basis: KernelBasis) -> dict[str, Any]:
    """Return the settings of a basis that are not at their defaults."""
    values = basis.get_params(deep=False)
    defaults = {name: parameter.default for name, parameter in inspect.signature(KernelBasis).parameters.items()}
    # Landmarks, which cannot be compared as a whole, are None by default.
    return {
        name: value
        for name, value in values.items()
        if value is not defaults[name] and (defaults[name] is None or value != defaults[name])
    }


def important_points(model: _core.Model) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the training rows that carry features; no such attribute where landmarks are no training rows."""
    try:
        return model.important_points()
    except ValueError as error:
        raise AttributeError(f"{error}: no important points") from None


class Mapped(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A method that fits a basis and makes features of its coordinates; subclasses have `fit`."""

    _method: ClassVar[str]
    _takes_partitions = True

    basis: Basis
    task: Task
    device: str
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    basis_: KernelBasis
    _model: _core.Model

    def transform(self, X: Any) -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with a precomputed kernel, their kernel values against all training rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Features: float32 where X is, else float64. Those of dense float32 rows are computed in float32
            where rounding stays within 1e-5 of sqrt(k(x, x)), or of a feature's own range if that is larger,
            else in float64; `verbose` shows which. Where X is an array of CuPy or PyTorch on a GPU, so is Z.

        Examples
        --------
        >>> from mercer import EKS
        >>> X = [[1.0, 0.0], [2.0, 0.1], [-1.0, 0.1], [-2.0, 0.0]]
        >>> EKS(n_features=1).fit(X, [1, 1, 0, 0]).transform(X).shape
        (4, 1)
        """
        rows = self._check_new(X)
        return features(self._model, rows, device=self._device_for(X), verbose=self.verbose)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return rows whose features come closest to the given ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Features.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features_in_)
            Pre-images of the shortest points with these features. Kernels that have one: "linear", "poly" (not of an
            even degree with `coef0=0`), "cosine", "rbf", "matern12", "matern32", "matern52", "rq". Those of "cosine"
            are directions, as long as landmarks on average.

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
        given = checked_array(type(self).__name__, X, "each block", dtype=FLOATS, order="C")
        rows = self._model.inverse_transform(as_rows(given), verbose=int(self.verbose))
        return rows.astype(given.dtype, copy=False)

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
        rows = self._check_new(to_host(X))  # computed on the processor
        importance = self._model.input_importance(as_rows(rows), verbose=int(self.verbose))
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
        >>> len(system.get_feature_names_out()), system.get_feature_names_out()[0][:4]
        (2, 'kpca')
        """
        check_names_in(self, input_features)
        return np.asarray(self._model.feature_names, dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _needs_y(self) -> bool:
        return True

    def _own_basis(self) -> dict[str, Any]:
        """Return settings of the basis that the method comes with."""
        return {}

    def _basis(self, seed: int) -> tuple[KernelBasis, _core.BasisSettings]:
        """Return an unfitted basis for this fit alone: the one asked for, or that which the method comes with.

        And its settings, which leave it to Rust which that is.
        """
        self._check_given_once()
        if isinstance(self.basis, KernelBasis) and not isinstance(self.basis, ChangedBasis):
            basis: KernelBasis = clone(self.basis)
            basis._validate_params()
            basis.device = asked_device(*self._devices())
            return basis, basis._settings_of_basis()
        asked: dict[str, Any] = {"task": self.task, "random_state": seed, "verbose": self.verbose, **self._given()}
        asked |= _not_default(clone(self.basis)) if isinstance(self.basis, ChangedBasis) else {"method": self.basis}
        if asked.get("method") is None:
            asked = {**self._own_basis(), **asked}
        basis = KernelBasis(**asked)
        basis._validate_params()
        basis.device = asked_device(*self._devices())
        method, settings, landmarks = basis._settings_of_basis()
        if basis.method is not None:
            return basis, (method, settings, landmarks)
        elsewhere = ("task", "random_state", "device", "verbose", "landmarks")
        given = {name: value for name, value in _not_default(basis).items() if name not in elsewhere}
        given["seed"] = as_seed(basis.random_state)
        return basis, (None, as_texts(given), landmarks)

    def _devices(self) -> list[str]:
        """Return the devices that were asked for, of which the first that is not "cpu" counts."""
        return [self.device, self.basis.device] if isinstance(self.basis, KernelBasis) else [self.device]

    def _device_for(self, X: Any) -> str:
        """Return where to compute with these rows, once it is known to be there."""
        return device_for(X, *self._devices())

    def _given(self) -> dict[str, Any]:
        """Return the settings of the basis that the estimator was given itself."""
        given = {name: getattr(self, name, None) for name in (*KERNEL_SETTINGS, "precision")}
        return {name: value for name, value in given.items() if value is not None}

    def _check_given_once(self) -> None:
        """Refuse settings that the estimator and its `KernelBasis` have both, and not alike."""
        if not isinstance(self.basis, KernelBasis):
            return
        theirs = _not_default(self.basis) if isinstance(self.basis, ChangedBasis) else self.basis.get_params(deep=False)
        for name, value in self._given().items():
            if name in theirs and value != theirs[name]:
                raise ValueError(
                    f"{name} = {value!r}, but the basis is a KernelBasis, which has its own: "
                    f"{name} = {theirs[name]!r}\n"
                    f"hint: leave {name} out, or say it there: KernelBasis({name}={value!r})"
                )

    def _known_basis(self) -> KernelBasis:
        """Return the basis as far as it is known before a fit, unchecked."""
        if not isinstance(self.basis, KernelBasis):
            return KernelBasis(self.basis, **self._given())
        return KernelBasis(**{**self.basis.get_params(deep=False), **self._given()})

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the basis as `basis__NAME`.

        Parameters
        ----------
        **params : object
            Parameters by name. `basis__NAME` changes one setting of the basis, also of one that is given by its
            method's name and, where `basis` is None, of the one that the estimator comes with.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from sklearn.model_selection import GridSearchCV
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from sklearn.pipeline import Pipeline
        >>> from mercer import GDA
        >>> X, y = make_moons(200, noise=0.1, random_state=0)
        >>> model = Pipeline([("gda", GDA()), ("knn", KNeighborsClassifier())])
        >>> search = GridSearchCV(model, {"gda__basis__gamma": [1e-4, 1.0]}).fit(X, y)
        >>> search.best_params_
        {'gda__basis__gamma': 1.0}
        """
        if "basis" in self._get_param_names() and any(name.startswith("basis__") for name in params):
            basis = params.get("basis", self.basis)
            if not isinstance(basis, KernelBasis):
                params = {**params, "basis": ChangedBasis(basis)}
        return cast("Self", super().set_params(**params))

    def _checked(self, X: Any, y: Any, basis: KernelBasis) -> tuple[Any, Any]:
        """Return the rows and, where labels are looked at, the labels, as scikit-learn has checked them."""
        checks = {**basis._checks(), "ensure_min_samples": 2}
        if self._needs_y() or basis._looks_at(y):
            X, y = validated(self, X, categories_as_text(y), **checks)
        else:
            X = validated(self, X, **checks)
        return basis._non_negative(X), y

    def _fit(
        self, X: Any, y: Any, settings: Settings, *, seed: int = 0, task: str, sample_weight: Any = None
    ) -> _core.Fitted:
        """Fit the basis and what the method makes of it, keep both, and return what else was found."""
        device = self._device_for(X)
        basis, of_basis = self._basis(seed)
        rows, y = self._checked(X, y, basis)
        labelled = (self._needs_y() or basis._looks_at(y)) and not is_partitioned(rows)
        target = as_target(y) if labelled else None
        verbose = max(int(self.verbose), int(basis.verbose))
        found = fit(
            self,
            rows,
            target,
            of_basis,
            self._method,
            settings,
            task=task,
            weights=row_weights(self, rows, y, sample_weight),
            device=device,
            verbose=verbose,
        )
        self._keep(basis, found.basis, found.model, rows)
        self._name_basis(basis, found)
        return found

    def _name_basis(self, basis: KernelBasis, found: _core.Fitted) -> None:
        """Set the parameters of the basis that the fit has decided on."""
        basis.method = cast("Method", found.basis.method)

    def _keep(self, basis: KernelBasis, basis_model: _core.Model, model: _core.Model, rows: Any) -> None:
        """Keep a basis as if it had been fitted by itself, and the model of what was made of its coordinates."""
        basis.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            basis.feature_names_in_ = self.feature_names_in_
        basis._keep(basis_model, rows)
        self.basis_ = basis
        self._model = model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    @property
    def gamma_(self) -> float:
        """The width of the kernel."""
        check_is_fitted(self)
        return self.basis_.gamma_

    @property
    def n_components_(self) -> int:
        """Number of features."""
        check_is_fitted(self)
        return self._model.n_features

    @property
    def n_support_(self) -> int:
        """Number of training rows that the features of a row need."""
        check_is_fitted(self)
        return self._model.n_support

    @property
    def important_points_(self) -> NDArray[np.intp]:
        """Indices of the training rows that carry the features, the most important first."""
        check_is_fitted(self)
        return important_points(self._model)[0]

    @property
    def important_points_share_(self) -> NDArray[np.float64]:
        """Their shares, which sum to 1."""
        check_is_fitted(self)
        return important_points(self._model)[1]

    @property
    def precision_(self) -> Precision:
        """What the coordinates of the training rows, and sums over them, were computed in."""
        check_is_fitted(self)
        return self.basis_.precision_

    @property
    def rounding_error_(self) -> float | None:
        """The largest error of a coordinate in float32."""
        check_is_fitted(self)
        return self.basis_.rounding_error_

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.basis_._non_negative(validated(self, X, reset=False, **self.basis_._checks()))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._known_basis()).input_tags
        tags.target_tags.required = self._needs_y()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
