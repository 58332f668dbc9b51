"""Weights of the input columns: `InputWeights`."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from mercer import _core
from mercer._catalogue import as_seed
from mercer._fit import warn, warn_of_scales
from mercer._input import FLOATS, TASKS, Task, as_given, as_target, categories_as_text, row_weights, validated
from mercer._kept import Kept, stored, weighted
from mercer._words import WeightedKernel
from mercer.select import RandomState

__all__ = ["InputWeights"]


class InputWeights(Kept, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Weigh input columns by what they tell about the labels, so that a kernel sees what matters.

    A column's weight is the root of the mean squared slope of kernel ridge predictions along it; with the weights the
    ridge is fitted again, for up to `rounds` rounds. With more columns than rows, where most slopes are due to chance,
    the first round weighs every column alone: by the root of F - 1, where F is its F statistic, which is 1 on average
    where a column says nothing. Rows that are left out decide how many rounds are used; where none helps, all weights
    are 1. `transform` multiplies columns by their weights, and keeps the heaviest alone if `n_features` is given.

    Data is never scaled here; put a `StandardScaler` before it.

    Parameters
    ----------
    n_features : int or None, default=None
        How many of the heaviest columns to keep; None: all. More than there are keeps all, with a warning. Where all
        weights are 1, no column ranks above another: the first ones are kept, with a warning.
    rounds : int, default=3
        The most rounds.
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "rq"}, default="rbf"
        The kernel of the predictions whose slopes make the weights.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are; "auto" decides by their values.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample of rows and of the folds. None means 0: two fits on the same data are the same.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        A weight for every column, with a mean square of 1.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The same, for `RFE` and `SelectFromModel` of scikit-learn.
    ranking_ : ndarray of shape (n_features_in_,)
        The place of every column by weight; 1 is the heaviest.
    support_ : ndarray of shape (n_features_in_,)
        Whether a column is kept.
    n_rounds_ : int
        Rounds that were used; 0: weights do not help, and all are 1.
    errors_ : ndarray
        Squared error of rows left out, relative to that of their mean, without weights and after every round tried.
    gamma_ : float
        The width that was found with the weights.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from mercer import InputWeights
    >>> X, y = make_friedman1(400, n_features=20, random_state=0)
    >>> weights = InputWeights(n_features=5).fit(X, y)
    >>> weights.get_support(indices=True)
    array([0, 1, 2, 3, 4])
    >>> weights.transform(X).shape
    (400, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
        "rounds": [Interval(Integral, 0, None, closed="left")],
        "kernel": [StrOptions({"rbf", "laplacian", "matern12", "matern32", "matern52", "rq"})],
        "task": TASKS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        n_features: int | None = None,
        *,
        rounds: int = 3,
        kernel: WeightedKernel = "rbf",
        task: Task = "auto",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.rounds = rounds
        self.kernel = kernel
        self.task = task
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, at least 6.
        y : array-like of shape (n_samples,)
            Labels: classes or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.

        Returns
        -------
        self : InputWeights
            Fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import InputWeights
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> int(InputWeights().fit(X, X[:, 1] > 0).weights_.argmax())
        1
        """
        self._validate_params()
        if isinstance(self.n_features, bool | np.bool_):
            raise ValueError(
                f"n_features = {self.n_features}, but it must be a whole number of at least 1, or None for all columns"
            )
        rows, y = validated(
            self,
            X,
            categories_as_text(y),
            accept_sparse="csr",
            dtype=FLOATS,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=6,
        )
        found = _core.input_weights(
            as_given(rows),
            as_target(y),
            kernel=self.kernel,
            rounds=int(self.rounds),
            seed=as_seed(self.random_state),
            task=self.task,
            weights=row_weights(self, rows, y, sample_weight),
            verbose=int(self.verbose),
        )
        warn(found["warnings"], stacklevel=2)
        warn_of_scales(self, rows)
        self.weights_ = found["weights"]
        self.n_rounds_, self.errors_, self.gamma_ = found["rounds"], found["errors"], found["gamma"]
        order = np.argsort(-self.weights_, kind="stable")
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= (self.n_features or len(order))
        if self.n_features is not None and self.n_features > len(order):
            text = f"n_features = {self.n_features}, but there are only {len(order)} columns; keeping all of them"
            warn([text], stacklevel=2)
        if not self.support_.all() and (self.weights_ == self.weights_[0]).all():
            why = "do not help to predict left-out rows" if self.rounds else "were not learned (rounds = 0)"
            text = (
                f"weights of the columns {why}, so all are 1 and no column ranks above another: the first "
                f"{self.n_features} of {len(order)} are kept\n"
                "hint: leave n_features out to keep all, or select with another method"
            )
            warn([text], stacklevel=2)
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns, each multiplied by its weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Z : {array, sparse matrix} of shape (n_samples, n_features)
            The weighted columns; with `n_features`, the heaviest, in their order.
        """
        check_is_fitted(self)
        rows = validated(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        given: Any = rows
        return weighted(given[:, self.support_], self.weights_[self.support_])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The weights, for `RFE` and `SelectFromModel` of scikit-learn."""
        check_is_fitted(self)
        return self.weights_

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their places instead of one boolean per column.

        Returns
        -------
        support : ndarray
            One boolean per column, or the places of those kept.
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that are kept.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input columns; only checked where the training data had names.

        Returns
        -------
        names : ndarray of str objects
            Names.
        """
        check_is_fitted(self)
        names: NDArray[np.object_] = _check_feature_names_in(self, input_features)
        return names[self.support_]

    def _stored(self) -> _core.Columns:
        check_is_fitted(self)
        given = {"n_features": self.n_features, "kernel": self.kernel, "rounds": self.rounds}
        settings = [(name, str(value)) for name, value in given.items() if value is not None]
        return stored(self, "input-weights", self.weights_, settings, weights=self.weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
