"""Selectors: a score for every column of any matrix, and the best columns kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _num_samples, check_is_fitted

from mercer import _core
from mercer._catalogue import SPECS, as_seed, as_text, limits
from mercer._device import DEVICE, columns_on_gpu, device_for, is_on_gpu
from mercer._fit import WEIGHTS_OF_PARTITIONS, input_names, refuse_device_of_partitions, warn
from mercer._input import (
    CLASS_WEIGHT,
    FLOATS,
    TASKS,
    Task,
    as_rows,
    as_sums,
    as_target,
    categories_as_text,
    is_frame,
    is_partitioned,
    refusal_explained,
    refuse_collections,
    row_weights,
    same_task,
    validated,
    validated_shape,
    with_categories,
)
from mercer._kept import Kept, stored
from mercer._words import Metric, Neighbors, Power

__all__ = [
    "KFFS",
    "SURF",
    "FScore",
    "IRelief",
    "LaplacianScore",
    "LassoSelector",
    "MultiSURF",
    "MultiSURFStar",
    "MutualInfo",
    "RReliefF",
    "Relief",
    "ReliefF",
    "SURFStar",
]

NFeatures = int | float | Literal["positive", "all", "cv"] | None
RandomState = int | np.random.RandomState | None

_CATEGORIES = ["array-like", StrOptions({"auto"}), None]

# The most constant columns that a warning names.
_CONSTANTS_SHOWN = 5

# Importances are at most this, so that their squares, which `RFE` sums, are finite.
_LARGEST_IMPORTANCE = 1e150


class _Selector(Kept, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What all selectors share: a class of its own is its parameters and what they are called in the catalogue."""

    _method: ClassVar[str]
    _names: ClassVar[dict[str, str]] = {}  # the catalogue's names of parameters that are called otherwise here
    _finds: ClassVar[tuple[str, ...]] = ()  # what `fit_selector` finds beyond scores
    _needs_y: ClassVar[bool] = True
    _allow_nan: ClassVar[bool] = False
    _takes_partitions = True
    _takes_shares: ClassVar[bool] = False  # whether `n_neighbors` may be a share of the rows

    n_features: NFeatures
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    scores_: NDArray[np.float64]
    ranking_: NDArray[np.intp]
    support_: NDArray[np.bool_]
    n_features_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score the columns and decide which to keep.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
            numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
            than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides.
            `LaplacianScore` does not look at them. `FScore`, `MutualInfo` and `LassoSelector` take several columns of
            numbers, too.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.

        Returns
        -------
        self : object
            The fitted selector.

        Examples
        --------
        >>> from mercer import FScore
        >>> FScore(1).fit([[0.0, 3.0], [0.1, 1.0], [1.0, 2.9], [1.1, 1.1]], ["a", "a", "b", "b"]).get_support()
        array([ True, False])
        """
        return self._fit_all(X, y, sample_weight)

    def _fit_all(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit; warnings are those of who calls `fit`."""
        self._validate_params()
        if is_partitioned(X):
            if sample_weight is not None or getattr(self, "class_weight", None) is not None:
                raise ValueError(WEIGHTS_OF_PARTITIONS)
            return self._fit_partitions(X)
        device = device_for(X, self.device) if hasattr(self, "device") else "cpu"
        X, categorical = with_categories(X, getattr(self, "categorical_features", None))
        # NaN and infinity are refused by the Rust side, which says at which row and column.
        checks = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", "ensure_all_finite": False}
        for name in ("support_", "_sums"):  # A fit that fails leaves nothing fitted.
            self.__dict__.pop(name, None)
        if self._needs_y:
            X, y = validated(self, X, categories_as_text(y), ensure_min_samples=2, **checks)
            weights = row_weights(self, X, y, sample_weight)
            y = as_target(y)
        else:
            X, y = validated(self, X, ensure_min_samples=2, **checks), None
            weights = row_weights(self, X, y, sample_weight)
        self._count_neighbors(X)
        found = _core.fit_selector(
            as_rows(X),
            y,
            self._called(),
            self._settings(),
            categorical=categorical,
            weights=weights,
            task=getattr(self, "task", "auto"),
            device=device,
            verbose=int(self.verbose),
        )
        self._keep(found)
        warn([*found["warnings"], *self._doubts(X)], stacklevel=3)
        return self

    def _doubts(self, X: Any) -> list[str]:
        """Return what the user should know about the rows, now that they are scored."""
        return []

    def _fit_partitions(self, X: Any) -> Self:
        """Score the columns of rows in partitions."""
        if getattr(self, "categorical_features", None) is not None:
            raise ValueError(
                "categorical_features are not compared on rows in partitions\n"
                "hint: leave them out, or fit on a sample of the rows"
            )
        refuse_device_of_partitions(getattr(self, "device", "cpu"))
        for name in ("support_", "_sums"):
            self.__dict__.pop(name, None)
        self._count_neighbors(X)
        validated(self, X)
        found = _core.fit_selector_partitions(
            X,
            self._called(),
            self._settings(),
            input_names=input_names(self),
            task=getattr(self, "task", "auto"),
            verbose=int(self.verbose),
        )
        self._keep(found)
        warn(found["warnings"], stacklevel=4)
        return self

    def _keep(self, found: _core.Selection) -> None:
        self.scores_ = found["scores"]
        self.ranking_ = found["ranking"]
        self.support_ = found["support"]
        self.n_features_ = int(self.support_.sum())
        if found["n_neighbors"] is not None:
            self.n_neighbors_ = found["n_neighbors"]
        for name in self._finds:
            setattr(self, f"{name}_", found[name])  # type: ignore[literal-required]

    def _count_neighbors(self, X: Any) -> None:
        """Keep the number of neighbours, which may be given as a share of these rows."""
        if not self._takes_shares:
            return
        for name in ("n_neighbors_", "_n_neighbors"):
            self.__dict__.pop(name, None)
        if isinstance(self.n_neighbors, Integral):
            self._n_neighbors = int(self.n_neighbors)
        elif not is_partitioned(X):  # where a share is refused: nobody counts the rows before the fit
            self._n_neighbors = _core.neighbor_count(self._called(), as_text(self.n_neighbors), _num_samples(X))
        else:
            return
        # As asked for; a row may not have so many, which is known after the fit.
        self.n_neighbors_ = self._n_neighbors

    def _called(self) -> str:
        """Return the selector's name in the catalogue."""
        return self._method

    def _settings(self, *, with_seed: bool = True) -> list[tuple[str, str]]:
        settings = []
        for name in SPECS[self._called()]["parameters"]:
            if name == "seed" and not with_seed:
                continue
            value = as_seed(self.random_state) if name == "seed" else getattr(self, self._names.get(name, name))
            if name == "n_neighbors" and self._takes_shares:
                value = getattr(self, "_n_neighbors", getattr(self, "n_neighbors_", value))
            if value is not None:
                settings.append((name, as_text(value)))
        return settings

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The scores, none of them below 0, for `RFE` and `SelectFromModel` of scikit-learn.

        Where a score is negative, the lowest is subtracted from all: both would take a column that is worse than chance
        for one that matters, because they look at squares and absolute values. The order is that of the scores.
        """
        check_is_fitted(self)
        scores: NDArray[np.float64] = np.minimum(self.scores_, _LARGEST_IMPORTANCE)
        return scores - min(float(scores.min()), 0.0)

    def transform(self, X: Any) -> Any:
        """Return the kept columns.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        kept : {array, sparse matrix, dataframe} of shape (n_samples, n_features_)
            The kept columns as they are, in their order.

        Examples
        --------
        >>> from mercer import FScore
        >>> X = [[0.0, 3.0], [0.1, 1.0], [1.0, 2.9], [1.1, 1.1]]
        >>> FScore(1).fit(X, [0, 0, 1, 1]).transform(X[:2])
        array([[0. ],
               [0.1]])
        """
        check_is_fitted(self)
        refuse_collections(type(self).__name__, "transform", X=X)
        if is_on_gpu(X):
            validated_shape(self, X)
            return columns_on_gpu(X, self.get_support(indices=True))
        polars = is_frame(X) and not hasattr(X, "iloc")
        wanted = _get_output_config("transform", estimator=self)["dense"] == "polars"
        if not polars or not wanted or not self.get_support().any():
            with refusal_explained(X, self):
                return super().transform(X)
        # Through a matrix, text in one column would make objects of all of them.
        validated(self, X, reset=False, skip_check_array=True)
        return self._transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Return the kept columns in their places, with zeros in all others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features_)
            The kept columns.

        Returns
        -------
        rows : {array, sparse matrix} of shape (n_samples, n_features_in_)
            Rows.

        Examples
        --------
        >>> from mercer import FScore
        >>> test = FScore(1).fit([[0.0, 3.0], [0.1, 1.0], [1.0, 2.9], [1.1, 1.1]], [0, 0, 1, 1])
        >>> test.inverse_transform([[0.5]])
        array([[0.5, 0. ]])
        """
        refuse_collections(type(self).__name__, "each block", X=X)
        return super().inverse_transform(X)

    def _stored(self) -> _core.Columns:
        check_is_fitted(self)
        # A RandomState would be drawn from, and what it gives now is not what the fit got.
        settings = self._settings(with_seed=isinstance(getattr(self, "random_state", None), Integral))
        return stored(self, self._called(), self.scores_, settings)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allow_nan
        tags.input_tags.categorical = getattr(self, "categorical_features", None) is not None
        tags.target_tags.required = self._needs_y
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Relief(_Selector):
    """Relief: columns in which the nearest rows of other classes are farther away than those of the same class.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    n_neighbors : int or float, default=1
        Hits (rows of its own class) and misses (of all others together) that a row is compared with. A fraction is the
        share of all rows that both are together, as in scikit-rebate: 0.1 of 200 rows are 10 hits and 10 misses.
    power : {1, 2}, default=1
        Sum differences (1) or their squares (2).
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows; None: "euclidean".
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Mean over the rows of the differences from misses less those from hits; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    weights_ : ndarray of shape (n_features_in_,)
        Positive scores as a vector of length 1; all 0 where no score is positive.
    n_neighbors_ : int
        The most neighbours of each kind that a row was compared with: `n_neighbors`, or as many as there are. Of rows
        in partitions, as many as were asked for.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    NaN is a missing value: a pair of rows in which either lacks a column is left out of that column's sums.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Relief
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> Relief(2, n_neighbors=10).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    weights_: NDArray[np.float64]

    _method = "relief"
    _finds = ("weights",)
    _allow_nan = True
    _takes_shares = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["relief"],
        categorical_features=_CATEGORIES,
        task=TASKS,
        device=DEVICE,
        class_weight=CLASS_WEIGHT,
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        n_neighbors: int | float = 1,
        power: Power = 1,
        metric: Metric | None = None,
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        categorical_features: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.power = power
        self.metric = metric
        self.neighbors = neighbors
        self.n_queries = n_queries
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.device = device
        self.verbose = verbose


class ReliefF(_Selector):
    """ReliefF: Relief with k hits, and k misses of each class weighted by how common the class is.

    Differences are divided by the column's range, so that columns in different units can be compared.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    n_neighbors : int or float, default=10
        Hits, and misses of each other class, that a row is compared with. A fraction is the share of all rows that hits
        and misses are together, as in scikit-rebate: 0.1 of 200 rows are 10 hits and 10 misses.
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows; None: "manhattan".
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between -1 and 1; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    pvalues_ : ndarray of shape (n_features_in_,)
        STIR's, of a t-test of misses against hits. They rank columns and are no probabilities: on noise they are tiny
        where classes differ in size or columns are many.
    n_neighbors_ : int
        The most neighbours of each kind that a row was compared with: `n_neighbors`, or as many as there are. Of rows
        in partitions, as many as were asked for.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    NaN is a missing value: a pair of rows in which either lacks a column is left out of that column's means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ReliefF
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> relieff = ReliefF(2).fit(X, y)
    >>> relieff.get_support(indices=True)
    array([1, 3])
    >>> bool(relieff.pvalues_[1] < 0.001)
    True
    """

    pvalues_: NDArray[np.float64]

    _method = "relieff"
    _finds = ("pvalues",)
    _allow_nan = True
    _takes_shares = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["relieff"],
        categorical_features=_CATEGORIES,
        task=TASKS,
        device=DEVICE,
        class_weight=CLASS_WEIGHT,
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        n_neighbors: int | float = 10,
        metric: Metric | None = None,
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        categorical_features: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.neighbors = neighbors
        self.n_queries = n_queries
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.device = device
        self.verbose = verbose


class RReliefF(_Selector):
    """RReliefF: ReliefF for numbers. Near rows with different targets should differ in the column.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    n_neighbors : int or float, default=70
        Neighbours that a row is compared with. A fraction is a share of the rows: 0.1 of 200 are 20.
    sigma : float, default=20.0
        The neighbour of rank r weighs exp(-(r/sigma)**2).
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows, whose columns are divided by their range; None: "manhattan".
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
        Classes count as their place in order: 0, 1, 2, …; say "numbers" where integers are amounts.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between -1 and 1; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_neighbors_ : int
        Number of neighbours that a row was compared with: `n_neighbors`, or all other rows. Of rows in partitions, as
        many as were asked for.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    NaN is a missing value: a pair of rows in which either lacks a column is left out of that column's sums.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RReliefF
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 5))
    >>> RReliefF(2).fit(X, X[:, 1] * X[:, 3]).get_support(indices=True)
    array([1, 3])
    """

    _method = "rrelieff"
    _allow_nan = True
    _takes_shares = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["rrelieff"], categorical_features=_CATEGORIES, task=TASKS, device=DEVICE
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        n_neighbors: int | float = 70,
        sigma: float = 20.0,
        metric: Metric | None = None,
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        categorical_features: Any = None,
        task: Task = "auto",
        random_state: RandomState = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.metric = metric
        self.neighbors = neighbors
        self.n_queries = n_queries
        self.categorical_features = categorical_features
        self.task = task
        self.random_state = random_state
        self.device = device
        self.verbose = verbose


class IRelief(_Selector):
    """I-Relief: Relief with every row as a neighbour to a degree, in a distance that uses the weights found.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    width : float, default=None
        A row at distance d counts as a neighbour by exp(-d/width); None: the median distance.
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with all others; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Expected difference from a miss less that from a hit; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    weights_ : ndarray of shape (n_features_in_,)
        Positive scores as a vector of length 1; all 0 where no score is positive.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    Columns are compared as they are; put a `StandardScaler` before it where their units differ. NaN is a missing
    value: a pair of rows in which either lacks a column is left out of that column's means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import IRelief
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] + X[:, 3] > 0
    >>> IRelief(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    weights_: NDArray[np.float64]

    _method = "irelief"
    _finds = ("weights",)
    _allow_nan = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["irelief"], categorical_features=_CATEGORIES, task=TASKS, class_weight=CLASS_WEIGHT
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        width: float | None = None,
        n_queries: int | None = None,
        categorical_features: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.width = width
        self.n_queries = n_queries
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.verbose = verbose


class _Surf(_Selector):
    """ReliefF with all rows within a radius as neighbours."""

    _allow_nan = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["multisurf"], categorical_features=_CATEGORIES, task=TASKS, class_weight=CLASS_WEIGHT
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        metric: Metric | None = None,
        n_queries: int | None = None,
        categorical_features: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.metric = metric
        self.n_queries = n_queries
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.verbose = verbose


class SURF(_Surf):
    """SURF: ReliefF with every row nearer than the mean distance of all pairs as a neighbour.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows, whose columns are divided by their range; None: "manhattan".
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between -1 and 1; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    Numbers are targets too: a hit is a row whose number differs by less than their standard deviation. NaN is a missing
    value: a pair of rows in which either lacks a column is left out of that column's means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SURF
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> SURF(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    _method = "surf"


class SURFStar(_Surf):
    """SURF*: SURF in which rows farther than the mean distance count too, with the opposite sign.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows, whose columns are divided by their range; None: "manhattan".
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between -2 and 2; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    A column that matters alone differs most between far rows of different classes, which count against it, so it may
    come last. Use it for columns that matter only together, and `SURF` otherwise. Numbers are targets too: a hit is a
    row whose number differs by less than their standard deviation. NaN is a missing value: a pair of rows in which
    either lacks a column is left out of that column's means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SURFStar
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> SURFStar(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    _method = "surf-star"


class MultiSURF(_Surf):
    """MultiSURF: ReliefF with every row clearly nearer than average as a neighbour, so their number need not be chosen.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows, whose columns are divided by their range; None: "manhattan".
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between -1 and 1; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    Numbers are targets too: a hit is a row whose number differs by less than their standard deviation. NaN is a missing
    value: a pair of rows in which either lacks a column is left out of that column's means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MultiSURF
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> MultiSURF(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    _method = "multisurf"


class MultiSURFStar(_Surf):
    """MultiSURF*: MultiSURF in which rows clearly farther than average count too, with the opposite sign.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    metric : {"euclidean", "manhattan"}, default=None
        Distance between rows, whose columns are divided by their range; None: "manhattan".
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: two of them differ by 0 or 1. Names of a dataframe's columns, indices, or a
        mask; "auto": a dataframe's columns of text or categories. Text in such columns is encoded.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries. None means 0.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between -2 and 2; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Notes
    -----
    A column that matters alone differs most between far rows of different classes, which count against it, so it may
    come last. Use it for columns that matter only together, and `MultiSURF` otherwise. Numbers are targets too: a hit
    is a row whose number differs by less than their standard deviation. NaN is a missing value: a pair of rows in which
    either lacks a column is left out of that column's means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MultiSURFStar
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> MultiSURFStar(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    _method = "multisurf-star"


class KFFS(_Selector):
    """KFFS: one weak classifier per column, taken one by one into an ensemble that errs as little as possible.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    reweight : bool, default=False
        Whether rows that the ensemble gets right lose weight, as in boosting.
    theta : int, default=1
        By how many votes a class must lead for the ensemble to decide; below, its newest column does. A theta above the
        number of columns ranks each column by its own errors.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Weights ln((1-e)/e) + ln(c-1), with e the error of the ensemble that the column joined and c the number of
        classes, at least 0; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The round that took the column, and its place: 1 is the best. A late column's score is that of the ensemble
        which it joined.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The inverse of every column's place, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    order_ : ndarray of shape (n_features_in_,)
        The columns in the order taken.
    error_path_ : ndarray of shape (n_features_in_,)
        Share of training rows that the ensemble gets wrong after each round.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from mercer import KFFS
    >>> X = [[0.0, 2.0, 1.0], [1.0, 1.0, 1.1], [2.0, 2.0, 5.0], [3.0, 0.0, 4.0]]
    >>> kffs = KFFS(1).fit(X, [0, 0, 1, 1])
    >>> kffs.get_support()
    array([ True, False, False])
    >>> float(kffs.error_path_[0])
    0.0
    """

    order_: NDArray[np.intp]
    error_path_: NDArray[np.float64]

    _method = "kffs"
    _finds = ("order", "error_path")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["kffs"], task=TASKS, class_weight=CLASS_WEIGHT
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        reweight: bool = False,
        theta: int = 1,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.reweight = reweight
        self.theta = theta
        self.class_weight = class_weight
        self.task = task
        self.verbose = verbose

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The inverse of every column's place, since a score is that of the ensemble which the column joined."""
        check_is_fitted(self)
        return 1.0 / self.ranking_


class FScore(_Selector):
    """F-test: columns whose mean differs between classes, or that are correlated with a number.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep, or of those that the test keeps: a number, a share (0.5) of all,
        "positive" for those with a score above 0, or None for all. More than there are keeps all, with a warning.
    mode : {"fpr", "fdr", "fwe"}, default=None
        What the test keeps: columns with a p-value below `alpha` ("fpr"), by the rate of false discoveries ("fdr",
        Benjamini and Hochberg), or by the chance of any false positive ("fwe", Bonferroni). None: all columns.
    alpha : float, default=0.05
        How much error `mode` allows.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        F; 0 for a constant column and the largest float for a perfect one. High is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, at most 1e150, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    pvalues_ : ndarray of shape (n_features_in_,)
        Probability of an F as large by chance.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FScore
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = X[:, 7] + X[:, 31] > 0
    >>> FScore(mode="fwe").fit(X, y).get_support(indices=True)
    array([ 7, 31])
    """

    pvalues_: NDArray[np.float64]
    _sums: _core.FSums  # what `partial_fit` goes on from
    _classes: list[str] | None

    _takes_several = True
    _method = "f"
    _names: ClassVar[dict[str, str]] = {"level": "alpha"}
    _finds = ("pvalues",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["fdr"], _names, mode=[StrOptions({"fpr", "fdr", "fwe"}), None], task=TASKS, class_weight=CLASS_WEIGHT
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        mode: Literal["fpr", "fdr", "fwe"] | None = None,
        alpha: float = 0.05,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.mode = mode
        self.alpha = alpha
        self.class_weight = class_weight
        self.task = task
        self.verbose = verbose

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add a batch of rows, and score the columns by all rows so far.

        Counts, means and spreads are merged exactly, so that scores are those of one `fit` on all rows, to rounding,
        however the rows are cut into batches. After `fit` it goes on; `fit` starts afresh.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The batch.
        y : array-like of shape (n_samples,)
            Its labels. The first batch decides whether they are classes or numbers, unless `task` is given.
        classes : array-like of shape (n_classes,), default=None
            All classes, with the first batch; None: those of the first batch, and any other is refused later.

        Returns
        -------
        self : object
            The selector. It counts as fitted once there are rows of two classes and more rows than classes, or three
            rows whose numbers differ.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import FScore
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> y = X[:, 3] > 0
        >>> test = FScore(1)
        >>> for i in range(0, 200, 20):
        ...     test = test.partial_fit(X[i : i + 20], y[i : i + 20], classes=[False, True])
        >>> test.get_support(indices=True)
        array([3])
        >>> bool(np.allclose(test.scores_, FScore().fit(X, y).scores_, rtol=1e-10))
        True
        """
        self._validate_params()
        refuse_collections(type(self).__name__, "fit", X=X, y=y)
        first = not hasattr(self, "_sums")
        checks = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", "ensure_all_finite": False}
        X, y = validated(self, X, categories_as_text(y), reset=first, **checks)
        y = as_target(y)
        names, doubts = self._names_of_classes(y, classes) if first else (self._classes, [])
        if not first and classes is not None and names != self._names_of_classes(y, classes)[0]:
            raise ValueError(f"classes = {list(classes)}, but with the first batch they were {names}")
        so_far = None if first else as_sums(self._sums)
        self._sums = _core.f_accumulate(so_far, as_rows(X), y, names, verbose=int(self.verbose))
        self._classes = names
        self.__dict__.pop("support_", None)
        warn(doubts, stacklevel=2)
        found = _core.f_finish(self._sums, self._called(), self._settings())
        if found is not None:
            found["sums"], found["classes"] = self._sums, names
            self._keep(found)
            warn(found["warnings"], stacklevel=2)
        return self

    def _names_of_classes(self, y: _core.Target, classes: Any) -> tuple[list[str] | None, list[str]]:
        """Return what the classes are called, or None if the labels are numbers; and warnings."""
        if classes is None:
            return _core.decide(y, task=self.task)[1:]
        if same_task(self.task) == "numbers":
            raise ValueError("classes are given, but task = 'numbers'\nhint: leave one of the two out")
        return _core.decide(as_target(classes), task="classes")[1:]

    def _doubts(self, X: Any) -> list[str]:
        is_sparse: bool = sparse.issparse(X)
        columns = ((j, X[:, [j]].toarray() if is_sparse else X[:, j]) for j in np.flatnonzero(self.scores_ == 0.0))
        constant = [int(j) for j, column in columns if column.min() == column.max()]
        if not constant:
            return []
        names = input_names(self) or [str(j) for j in range(self.n_features_in_)]
        shown = ", ".join(f"`{names[j]}`" for j in constant[:_CONSTANTS_SHOWN])
        more = ", …" if len(constant) > _CONSTANTS_SHOWN else ""
        are = "1 column is" if len(constant) == 1 else f"{len(constant)} columns are"
        return [f"{are} constant, with a score of 0: {shown}{more}"]

    def _keep(self, found: _core.Selection) -> None:
        super()._keep(found)
        sums = found["sums"]
        if sums is not None:
            self._sums, self._classes = sums, found["classes"]

    def _called(self) -> str:
        return self.mode or self._method


class MutualInfo(_Selector):
    """Mutual information of a column and the labels, estimated from nearest neighbours or, for categories, counted.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), "positive" for those with a score above 0, or
        None for all. More than there are keeps all, with a warning.
    n_neighbors : int, default=3
        Neighbours that the estimate is made from: more of them vary less, and are more biased.
    categorical_features : array-like of {bool, int, str}, "auto" or None, default=None
        Columns whose values are names: with classes they are counted, with numbers it is the estimate for classes with
        the two exchanged. Names of a dataframe's columns, indices, or a mask; "auto": a dataframe's columns of text or
        categories. Text in such columns is encoded. scikit-learn calls them `discrete_features`.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Mutual information in nats, at least 0; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MutualInfo
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> MutualInfo(1).fit(X, np.abs(X[:, 2]) > 0.7).get_support(indices=True)
    array([2])

    A column that decides which of two equally frequent classes a row has has a mutual information of ln 2:

    >>> kinds = [[0.0], [1.0], [2.0], [2.0]]
    >>> MutualInfo(categorical_features=[0]).fit(kinds, ["a", "a", "b", "b"]).scores_.round(4)
    array([0.6931])
    """

    _takes_several = True
    _method = "mi"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["mi"], categorical_features=_CATEGORIES, task=TASKS, class_weight=CLASS_WEIGHT
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        n_neighbors: int = 3,
        categorical_features: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.task = task
        self.verbose = verbose


class LaplacianScore(_Selector):
    """Laplacian score: columns that vary little between neighbours and much overall. Needs no labels.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep: a number, a share (0.5), or None for all. No score is above 0, so
        "positive" keeps nothing. More than there are keeps all, with a warning.
    n_neighbors : int, default=5
        Neighbours of a row in the graph.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The negative of the Laplacian score, so that high is good: from -2, which constant columns get, to 0.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LaplacianScore
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:100, 1] += 10  # two groups
    >>> LaplacianScore(1).fit(X).get_support(indices=True)
    array([1])
    """

    _method = "laplacian"
    _needs_y = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(SPECS["laplacian"])

    def __init__(self, n_features: NFeatures = None, *, n_neighbors: int = 5, verbose: int = 0) -> None:
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Score the columns and decide which to keep.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Neighbours count the same, so there are no weights.
        y : None
            Not looked at.

        Returns
        -------
        self : object
            The fitted selector.

        Examples
        --------
        >>> from mercer import LaplacianScore
        >>> LaplacianScore(1).fit([[0.0, 3.0], [0.1, 1.0], [1.0, 2.9], [1.1, 1.1]]).n_features_
        1
        """
        return self._fit_all(X, y, None)


class LassoSelector(_Selector):
    """LASSO: columns with a coefficient in L1-penalised least squares, or chosen often over random parts of the rows.

    Columns are centred and not scaled; put a `StandardScaler` before it where their units differ.

    Parameters
    ----------
    n_features : int, float, "positive" or None, default=None
        How many of the best columns to keep among those chosen: a number, a share (0.5) of all, "positive" for those
        with a score above 0, or None for all. More than there are keeps all, with a warning.
    cv : int, default=5
        Folds that choose the penalty.
    randomized : bool, default=False
        Stability selection: at that penalty, columns are scored by how often random parts of the rows, with columns
        scaled at random, choose them.
    n_resamples : int, default=100
        Number of random parts.
    threshold : float, default=0.6
        Share of the random parts that must choose a column for it to be kept.
    sample_fraction : float, default=0.5
        Share of the rows in a random part.
    scaling : float, default=0.5
        Columns of a random part are multiplied by random numbers between 1 - `scaling` and 1; 0 leaves them.
    penalty : float, default=None
        The penalty, what scikit-learn's `Lasso` calls `alpha`. None: the one with the smallest cross-validated error.
    n_penalties : int, default=100
        Penalties that cross-validation chooses from.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`. Two
        classes are -1 and 1; more are one column each, with one penalty for all.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, random parts and scales. None means 0.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Size of the coefficients, or the share of the random parts; high is good.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column; 1 is the best.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The scores, less the lowest where that is negative, for `RFE` and `SelectFromModel` of scikit-learn.
    n_features_ : int
        Number of columns kept.
    penalty_ : float
        The penalty that was given or that cross-validation chose; what scikit-learn's `Lasso` calls `alpha`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LassoSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> y = X[:, 4] - 2 * X[:, 11] + np.random.default_rng(1).normal(size=200)
    >>> LassoSelector(2).fit(X, y).get_support(indices=True)
    array([ 4, 11])
    """

    penalty_: float

    _takes_several = True
    _method = "lasso"
    _names: ClassVar[dict[str, str]] = {"stability": "threshold"}
    _finds = ("penalty",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = limits(
        SPECS["lasso"], _names, task=TASKS, class_weight=CLASS_WEIGHT
    )

    def __init__(
        self,
        n_features: NFeatures = None,
        *,
        cv: int = 5,
        randomized: bool = False,
        n_resamples: int = 100,
        threshold: float = 0.6,
        sample_fraction: float = 0.5,
        scaling: float = 0.5,
        penalty: float | None = None,
        n_penalties: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.cv = cv
        self.randomized = randomized
        self.n_resamples = n_resamples
        self.threshold = threshold
        self.sample_fraction = sample_fraction
        self.scaling = scaling
        self.penalty = penalty
        self.n_penalties = n_penalties
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.verbose = verbose


_BY_NAME: dict[str, Callable[..., _Selector]] = {
    **{kind._method: kind for kind in map(globals().__getitem__, __all__)},
    **{mode: partial(FScore, mode=mode) for mode in ("fpr", "fdr", "fwe")},
}


def named(name: str, n_features: NFeatures, verbose: int) -> _Selector:
    """Return the selector with this name in the catalogue."""
    return _BY_NAME[name](n_features, verbose=verbose)
