"""Nearest neighbours in a kernel's space: `KernelNeighborsClassifier` and `KernelNeighborsRegressor`."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative

from mercer import _core
from mercer._catalogue import allowed, as_texts
from mercer._fit import has_scales, input_names, named_columns, warn_of_scales
from mercer._input import FLOATS, as_array, as_given, check_finite, validated
from mercer._words import Gamma, Votes
from mercer.kernel import AnyKernel, functions, is_plain

__all__ = ["KernelNeighborsClassifier", "KernelNeighborsRegressor"]

# Parameters of a kernel.
_KERNEL = ("kernel", "gamma", "degree", "coef0", "alpha")


class _Neighbors(BaseEstimator):  # type: ignore[misc]
    """What both share: the training rows, the kernel, and the search in Rust."""

    n_neighbors: int
    kernel: AnyKernel
    gamma: Gamma | None
    degree: int
    coef0: float
    alpha: float
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    gamma_: float
    _rows: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        **{name: allowed(name) for name in _KERNEL if name != "gamma"},
        "gamma": [*allowed("gamma"), None],
        "weights": [StrOptions({"uniform", "distance"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: AnyKernel = "rbf",
        gamma: Gamma | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        alpha: float = 1.0,
        weights: Votes = "uniform",
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.weights = weights
        self.verbose = verbose

    def _check(self, X: Any, *, reset: bool, **others: Any) -> Any:
        checks = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", **others}
        checked = validated(self, X, reset=reset, **checks)
        if is_plain(self.kernel, "chi2", "additive_chi2"):
            whom = f"{type(self).__name__} with the kernel {self.kernel}"
            check_non_negative(checked[0] if "y" in others else checked, whom)
        return checked

    def _keep(self, rows: Any, target: _core.Target, task: str) -> None:
        if rows.shape[0] < self.n_neighbors:
            raise ValueError(
                f"n_neighbors = {self.n_neighbors}, but there are only {rows.shape[0]} samples (n_samples): lower it"
            )
        if is_plain(self.kernel, "precomputed") and rows.shape[0] != rows.shape[1]:
            raise ValueError(
                "the kernel 'precomputed' needs the square kernel matrix of the training rows, but X is "
                f"{rows.shape[0]} x {rows.shape[1]}"
            )
        settings = self._settings(self.kernel, "scale" if self.gamma is None else self.gamma)
        settings = named_columns(settings, input_names(self))
        self.gamma_, self._formula = _core.kernel_width(as_given(rows), target, settings, task=task)
        self._functions = functions(self.kernel)
        self._rows = rows
        if has_scales(dict(settings)["kernel"]):
            warn_of_scales(self, rows)

    def _settings(self, kernel: Any, gamma: float | str | None) -> list[tuple[str, str]]:
        values = {name: getattr(self, name) for name in _KERNEL} | {"kernel": kernel, "gamma": gamma}
        return as_texts(values)

    def _found(self) -> list[tuple[str, str]]:
        """Return the settings with the widths that were found."""
        formula = self._formula
        if formula is None:
            return self._settings(self.kernel, self.gamma_)
        # A sum has its widths in its text, and functions have other numbers in another process.
        for before, function in self._functions:
            formula = formula.replace(before, _core.own_kernel(function))
        return self._settings(formula, self.gamma_)

    @property
    def n_support_(self) -> int:
        """How many training rows a prediction needs: all."""
        check_is_fitted(self)
        return int(self._rows.shape[0])

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]] | NDArray[np.intp]:
        """Return the nearest training rows of every row, nearest first; equal distances go to the lower index.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or None, default=None
            Rows; with a precomputed kernel, their kernel values against the training rows. None: the training rows,
            each without itself.
        n_neighbors : int or None, default=None
            How many; None: those of the estimator.
        return_distance : bool, default=True
            Whether distances in the kernel's space are returned, too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            sqrt(k(x, x) + k(z, z) - 2 k(x, z)). With a precomputed kernel k(x, x) of new rows is not known: these are
            then squared distances less that.
        indices : ndarray of shape (n_queries, n_neighbors)
            Of the training rows.

        Examples
        --------
        >>> from mercer import KernelNeighborsClassifier
        >>> model = KernelNeighborsClassifier(1, gamma=1.0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
        >>> model.kneighbors([[0.9]], return_distance=False)
        array([[1]])
        """
        check_is_fitted(self)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        n = self._rows.shape[0]
        itself = X is None
        most = n - 1 if itself else n
        if not 1 <= count <= most:
            raise ValueError(f"n_neighbors = {count}, but it must lie between 1 and {most}")
        queries = self._rows if itself else self._check(X, reset=False)
        distances, indices = _core.nearest_in_kernel(
            as_given(self._rows),
            as_given(queries),
            self._found(),
            count + itself,
            verbose=int(self.verbose),
        )
        if itself:
            distances, indices = _without_self(distances, indices)
        return (distances, indices) if return_distance else indices

    def _weighted(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the weights of the nearest rows, and which they are."""
        distances, indices = self.kneighbors(X)
        if self.weights == "uniform":
            return np.ones_like(distances), indices
        if is_plain(self.kernel, "precomputed"):
            raise ValueError(
                "weights='distance' needs distances, which a precomputed kernel does not have for new rows"
            )
        exact = distances == 0
        some = exact.any(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.where(some, exact, 1.0 / np.where(exact, 1.0, distances)), indices

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_plain(self.kernel, "precomputed")
        tags.input_tags.positive_only = is_plain(self.kernel, "chi2", "additive_chi2")
        return tags


def _without_self(
    distances: NDArray[np.float64], indices: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Leave out each row itself, or the last where copies of it come first."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return distances[~own].reshape(shape), indices[~own].reshape(shape)


class KernelNeighborsClassifier(ClassifierMixin, _Neighbors):  # type: ignore[misc]
    """Nearest neighbours in the kernel's space, by their majority (the KNNC of TAKES, which has one neighbour).

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    kernel : str, Kernel or callable, default="rbf"
        Any kernel that `KernelBasis` takes, "precomputed" among them. With "rbf", "laplacian", "rq" and the Matérn
        kernels the neighbours are those of the input space, whatever the width: the kernel's distance grows with
        theirs.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of the kernel, or the rule that finds it. None: "scale".
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=1.0
        Constant of "poly" and "sigmoid".
    alpha : float, default=1.0
        Of "rq".
    weights : {"uniform", "distance"}, default="uniform"
        Whether votes count the same, or by the inverse of the distance.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    gamma_ : float
        The width used.
    n_support_ : int
        How many training rows a prediction needs: all.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from mercer import KernelNeighborsClassifier
    >>> X = [[9.0, 9.0], [8.0, 7.0], [1.0, 0.0], [2.0, 0.1]]
    >>> model = KernelNeighborsClassifier(1, kernel="cosine").fit(X, ["diagonal", "diagonal", "flat", "flat"])
    >>> model.predict([[1.0, 0.8]])                  # by angle, not by distance
    array(['diagonal'], dtype='<U8')
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows and find the width.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : KernelNeighborsClassifier
            Fitted.
        """
        self._validate_params()
        rows, y = self._check(X, reset=True, y=y)
        check_classification_targets(y)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        self._keep(rows, [str(code) for code in self._codes], "classes")
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return every class' share of the votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
            Shares, in the order of `classes_`.
        """
        check_is_fitted(self)
        weights, indices = self._weighted(X)
        votes = np.zeros((len(indices), len(self.classes_)))
        np.add.at(votes, (np.arange(len(indices))[:, None], self._codes[indices]), weights)
        shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes; of tied ones that of the nearest row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Classes.
        """
        check_is_fitted(self)
        weights, indices = self._weighted(X)
        codes = self._codes[indices]
        votes = np.zeros((len(indices), len(self.classes_)))
        np.add.at(votes, (np.arange(len(indices))[:, None], codes), weights)
        # The nearest row whose class has no fewer votes than any other.
        is_best = np.take_along_axis(votes, codes, axis=1) >= votes.max(axis=1, keepdims=True) * (1 - 1e-12)
        nearest = is_best.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes[np.arange(len(codes)), nearest]]
        return predicted


class KernelNeighborsRegressor(RegressorMixin, _Neighbors):  # type: ignore[misc]
    """Nearest neighbours in the kernel's space, by their mean.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    kernel : str, Kernel or callable, default="rbf"
        Any kernel that `KernelBasis` takes, "precomputed" among them. With "rbf", "laplacian", "rq" and the Matérn
        kernels the neighbours are those of the input space, whatever the width: the kernel's distance grows with
        theirs.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of the kernel, or the rule that finds it. None: "scale".
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=1.0
        Constant of "poly" and "sigmoid".
    alpha : float, default=1.0
        Of "rq".
    weights : {"uniform", "distance"}, default="uniform"
        Whether neighbours count the same, or by the inverse of the distance.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    gamma_ : float
        The width used.
    n_support_ : int
        How many training rows a prediction needs: all.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from mercer import KernelNeighborsRegressor
    >>> model = KernelNeighborsRegressor(2).fit([[0.0], [1.0], [5.0], [6.0]], [0.0, 1.0, 5.0, 6.0])
    >>> model.predict([[0.4], [5.6]])
    array([0.5, 5.5])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows and find the width.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,)
            Their numbers.

        Returns
        -------
        self : KernelNeighborsRegressor
            Fitted.
        """
        self._validate_params()
        rows, y = self._check(X, reset=True, y=y, y_numeric=True)
        self._values = as_array(y, np.float64)
        self._keep(rows, self._values, "numbers")
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the neighbours' numbers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Numbers.
        """
        check_is_fitted(self)
        weights, indices = self._weighted(X)
        with np.errstate(over="ignore"):
            predicted: NDArray[np.float64] = (weights * self._values[indices]).sum(axis=1) / weights.sum(axis=1)
        check_finite(predicted, "the neighbours' numbers are too large to be added up", "divide y")
        return predicted
