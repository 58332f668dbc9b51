"""Features without choices: `AutoFeatures`."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from mercer import _core
from mercer._catalogue import as_seed
from mercer._device import DEVICE
from mercer._fit import WEIGHTS_OF_PARTITIONS, input_names, refuse_device_of_partitions, warn
from mercer._input import (
    CLASS_WEIGHT,
    FLOATS,
    TASKS,
    Task,
    as_csr,
    as_rows,
    as_target,
    categories_as_text,
    is_partitioned,
    row_weights,
    validated,
)
from mercer._mapped import Mapped
from mercer.advice import Advice
from mercer.basis import KernelBasis
from mercer.kernel import AnyKernel
from mercer.select import RandomState

__all__ = ["AutoFeatures"]

# Rows in partitions that the search looks at.
_SAMPLE_ROWS = 10_000


class AutoFeatures(Mapped):
    """Features without choices: kernel, width, size of the basis and method are found from the labels.

    Does what `advise` recommends. Kernel and width are those with the smallest leave-one-out error of ridge, the linear
    kernel where no other errs clearly less (of sparse rows, the laplacian kernel is not tried); the basis is the
    smallest that is nearly as good as the best; the method is the one with the fewest features among those that inner
    folds cannot tell from the best. Features are multiplied by one number, so that ridge with its default penalty of 1
    is right for them. Where left-out rows are predicted no better than by the mean of the labels, `fit` warns.

    Data is never scaled here; put a `StandardScaler` before it.

    Parameters
    ----------
    max_components : int, default=3000
        The most coordinates of a basis that are tried; more only while the error of left-out rows falls.
    input_weights : bool, default=True
        Whether weights of the input columns are learned first, as `InputWeights` does, and kept if they help.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of every random choice. None means 0: two fits on the same data are the same.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    method_ : str
        The method that was chosen: a name of the catalogue.
    gamma_ : float
        The width that was chosen; 1.0 where the kernel is "linear".
    kernel_ : str
        The kernel that was chosen.
    n_components_ : int
        Number of features.
    n_support_ : int
        Number of training rows that the features of a row need: landmarks with a coefficient other than 0.
    important_points_ : ndarray of shape (n_support_,)
        Indices of the training rows that carry the features, the most important first. A row's share is that in the
        squared coefficients of each feature, averaged over the features by their variance over the landmarks (with a
        precomputed kernel: evenly). No such attribute where landmarks are no training rows: on "kmeans" or `landmarks`.
    important_points_share_ : ndarray of shape (n_support_,)
        Their shares, which sum to 1.
    input_weights_ : ndarray of shape (n_features_in_,) or None
        Weights of the input columns, with a mean square of 1; all 1 where weights do not help, None where they were not
        tried.
    basis_ : KernelBasis
        The fitted basis that the features are made from.
    inner_scores_ : list of (str, float, float)
        Candidates with mean score and standard error on inner folds, best first; "raw" is the columns. Where columns
        are weighted, each fold has weights of its own.
    advice_ : Advice
        The advice that was followed, with its reasons.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import AutoFeatures
    >>> X, y = make_circles(300, factor=0.5, noise=0.1, random_state=0)
    >>> model = make_pipeline(StandardScaler(), AutoFeatures(), RidgeClassifier())
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    True
    """

    method_: str
    kernel_: AnyKernel
    input_weights_: NDArray[np.float64] | None
    inner_scores_: list[tuple[str, float, float]]
    advice_: Advice

    basis = None  # not a parameter: it is found
    _method = "auto"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "input_weights": ["boolean"],
        "class_weight": CLASS_WEIGHT,
        "task": TASKS,
        "random_state": ["random_state"],
        "device": DEVICE,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        max_components: int = 3000,
        input_weights: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.max_components = max_components
        self.input_weights = input_weights
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find features for the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, at least 6.
        y : array-like of shape (n_samples,)
            Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
            numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
            than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.

        Returns
        -------
        self : AutoFeatures
            Fitted.

        Examples
        --------
        >>> from mercer import AutoFeatures
        >>> AutoFeatures().fit([[0.0], [0.5], [1.0], [4.0], [4.5], [5.0]], list("aaabbb")).n_features_in_
        1
        """
        self._validate_params()
        if is_partitioned(X):
            if row_weights(self, X, y, sample_weight) is not None:
                raise ValueError(WEIGHTS_OF_PARTITIONS)
            return self._fit_partitions(X)
        device = self._device_for(X)
        rows, y = validated(
            self,
            X,
            categories_as_text(y),
            accept_sparse="csr",
            dtype=FLOATS,
            order="C",
            ensure_all_finite=False,  # refused by the Rust side, which says at which row and column
            ensure_min_samples=6,
        )
        found = _core.fit_auto(
            as_rows(rows),
            as_target(y),
            max_components=int(self.max_components),
            input_weights=bool(self.input_weights),
            input_names=input_names(self),
            seed=as_seed(self.random_state),
            task=self.task,
            weights=row_weights(self, rows, y, sample_weight),
            device=device,
            verbose=int(self.verbose),
        )
        self.advice_ = Advice(json.loads(found["advice"]), sparse_rows=sparse.issparse(rows), task=self.task)
        chosen = self.advice_.estimator()
        basis: KernelBasis = chosen if isinstance(chosen, KernelBasis) else chosen.basis
        basis.set_params(task=self.task, device=self.device, verbose=self.verbose)
        self._keep(basis, found["basis"], found["model"], rows)
        self.method_ = self.advice_.method
        self.input_weights_ = found["weights"]
        self.kernel_ = self.basis_.kernel
        self.inner_scores_ = self.advice_.inner
        warn(found["warnings"], stacklevel=2)
        return self

    def _fit_partitions(self, X: Any) -> Self:
        """Search on a sample of rows in partitions, and fit what was found on all of them."""
        refuse_device_of_partitions(self.device)
        validated(self, X)
        seed = as_seed(self.random_state)
        _, rows, labels = _core.sample_partitions(
            X, _SAMPLE_ROWS, seed=seed, input_names=input_names(self), task=self.task
        )
        if labels is None:
            raise ValueError("AutoFeatures looks at the labels, but none were given\nhint: give them (y)")
        values, names = labels
        y = values if names is None else np.asarray(names, dtype=object)[values]
        task = "numbers" if names is None else "classes"
        sample = clone(self).set_params(task=task).fit(as_csr(rows, self.n_features_in_), y)
        chosen = sample.advice_.estimator()
        if "n_queries" in chosen.get_params(deep=False):
            chosen.set_params(n_queries=_SAMPLE_ROWS)
        basis: KernelBasis = chosen if isinstance(chosen, KernelBasis) else chosen.basis
        basis.set_params(gamma=sample.gamma_, input_weights=False, verbose=self.verbose)
        weights = sample.input_weights_
        X.weights = None if weights is None or (weights == 1).all() else weights.tolist()
        X.ridge_rows = _SAMPLE_ROWS
        chosen = self._fit_or_basis(chosen.set_params(task=task), basis, X)
        self._keep(chosen if isinstance(chosen, KernelBasis) else chosen.basis_, *_models(chosen), X)
        self.advice_, self.input_weights_ = sample.advice_, weights
        self.method_ = self.basis_.method_ if chosen is basis else sample.method_
        self.kernel_ = self.basis_.kernel
        self.inner_scores_ = sample.inner_scores_
        return self

    def _fit_or_basis(self, chosen: Any, basis: KernelBasis, X: Any) -> Any:
        """Return the chosen estimator, fitted; or its basis, where the method looks at all rows at once."""
        try:
            return chosen.fit(X)
        except ValueError as error:
            if isinstance(chosen, KernelBasis) or "lie in partitions" not in str(error):
                raise
        warn(
            [f"`{chosen._method}` was advised, but it looks at all rows at once: the coordinates are the features"],
            stacklevel=4,
        )
        return basis.fit(X)


def _models(estimator: Any) -> tuple[_core.Model, _core.Model]:
    """Return the model of an estimator's basis, and its own."""
    own = estimator._model
    return (own if isinstance(estimator, KernelBasis) else estimator.basis_._model), own
