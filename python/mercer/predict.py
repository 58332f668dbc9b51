"""Predictions without choices: `AutoClassifier` and `AutoRegressor`."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._catalogue import as_seed
from mercer._device import DEVICE, device_for
from mercer._fit import input_names, warn
from mercer._input import CLASS_WEIGHT, FLOATS, as_array, as_given, is_several, row_weights, validated
from mercer._words import Scale
from mercer.model import FeatureMap
from mercer.select import RandomState

__all__ = ["AutoClassifier", "AutoRegressor"]


class _Predictor(BaseEstimator):  # type: ignore[misc]
    """What both share: the search in Rust, and what it found."""

    scale: Scale
    max_components: int
    input_weights: bool
    random_state: RandomState
    device: str
    verbose: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _model: _core.Model

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scale": [StrOptions({"standard", "min-max", "unit", "none"})],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "input_weights": ["boolean"],
        "random_state": ["random_state"],
        "device": DEVICE,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        scale: Scale = "standard",
        max_components: int = 8000,
        input_weights: bool = True,
        random_state: RandomState = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.scale = scale
        self.max_components = max_components
        self.input_weights = input_weights
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def _rows(self, X: Any, *, reset: bool, **others: Any) -> Any:
        checks = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", "ensure_all_finite": False, **others}
        return validated(self, X, reset=reset, **checks)

    def _learn(self, rows: Any, target: _core.Target, task: str, device: str, weights: list[float] | None) -> None:
        found = _core.fit_predictor(
            as_given(rows),
            target,
            scale=self.scale,
            max_components=int(self.max_components),
            input_weights=bool(self.input_weights),
            input_names=input_names(self),
            seed=as_seed(self.random_state),
            task=task,
            weights=weights,
            device=device,
            verbose=int(self.verbose),
        )
        self._model = found["model"]
        self.tried_ = found["tried"]
        self.error_ = found["error"]
        self.input_weights_ = found["weights"]
        self.left_out_ = found["left_out"]
        self._found = found
        warn(found["warnings"], stacklevel=3)
        if not found["is_above_chance"]:
            warn([_no_better(self.left_out_)], stacklevel=3)

    @property
    def features_(self) -> FeatureMap:
        """The coordinates of the best kernel, as a fitted map."""
        check_is_fitted(self)
        return FeatureMap(self._model)

    @property
    def n_support_(self) -> int:
        """Number of training rows that a prediction needs."""
        check_is_fitted(self)
        return self._model.n_support

    def _predict(self, X: Any, *, probabilities: bool = False) -> NDArray[np.float64]:
        check_is_fitted(self)
        device = device_for(X, self.device)
        rows = self._rows(X, reset=False)
        return self._model.predict(
            as_given(rows), probabilities=probabilities, device=device, verbose=int(self.verbose)
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_found"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _no_better(score: dict[str, Any]) -> str:
    """Say that what was learned predicts nothing."""
    name = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "r2": "R²"}[score["measure"]]
    than = "by the mean of the target" if score["p_value"] <= 0.05 else "by chance"
    return (
        f"left-out rows are predicted no better than {than}: {name} {score['value']:.3f}, {score['chance']:.3f} with "
        f"shuffled labels (p = {score['p_value']:.3f}); the columns may not say anything about the target, or the rows "
        "are too few"
    )


class AutoClassifier(ClassifierMixin, _Predictor):  # type: ignore[misc]
    """Predict classes without choices: kernel, width, size and penalty are those that predict left-out rows best.

    Ridge on the coordinates of a kernel's space. The rbf and the laplacian kernel are tried at eight widths each (of
    sparse rows the rbf kernel alone), weights of the input columns are learned and kept if rows left out gain by them,
    landmarks are added while the error falls, up to all training rows, and the kernels that predict better together are
    averaged. Left-out rows choose how sharp probabilities are, and by how much the scores of each class are shifted.

    Parameters
    ----------
    scale : {"standard", "min-max", "unit", "none"}, default="standard"
        How columns are scaled first, or with "unit" rows, each of which is divided by its length; the scaling is part
        of the model. Sparse columns are not centred.
    max_components : int, default=8000
        The most landmarks of a kernel. Up to so many training rows can all be landmarks; of more rows at most 4000 are.
        Where fewer predict left-out rows nearly as well, fewer are used. More take more time and make a larger model.
    input_weights : bool, default=True
        Whether weights of the input columns are tried.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
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
    classes_ : ndarray of shape (n_classes,)
        The classes.
    features_ : FeatureMap
        Coordinates of the best kernel, as a fitted map: `features_.transform(X)`; 1000 of them where all rows of many
        are landmarks of the predictor. The default penalty of 1 of ridge is right for them.
    tried_ : list of dict
        The kernels that were tried, best first: kernel, whether columns are weighted, gamma, size of the basis (and the
        size with which the error was measured, which is smaller where the basis was enlarged in the end), squared
        error of left-out rows, and whether it is a member of the predictor.
    n_support_ : int
        Number of training rows that a prediction needs: the landmarks of all members.
    error_ : float
        Squared error of left-out rows, of the members together.
    left_out_score_ : float
        Share of left-out rows whose class is predicted right. Each is left out alone, or, where columns of fewer than
        3000 rows are weighted, with a third of the rows (with 667 where there are more than 2000). Of 3000 rows and
        more, at most 3000 are left out: some of those that weights are not learned from. It is optimistic where kernel
        and width were chosen by the same rows, and pessimistic where more rows or a larger basis help: the predictor
        has all rows.
    left_out_ : dict
        How well left-out rows are predicted: `measure`, `value`, `chance` (the same for shuffled labels) and `p_value`.
        Where that is no better than chance, `fit` warns.
    log_loss_ : float
        Mean negative logarithm of the true class' probability over left-out rows.
    input_weights_ : ndarray of shape (n_features_in_,) or None
        Weights of the input columns, with a mean square of 1; all 1 where weights do not help, None where they were not
        tried.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import AutoClassifier
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = AutoClassifier().fit(X[:200], y[:200])
    >>> model.score(X[200:], y[200:]) > 0.9
    True
    >>> model.predict_proba(X[200:202]).shape
    (2, 2)
    """

    classes_: NDArray[Any]
    class_weight: dict[Any, float] | str | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_Predictor._parameter_constraints,
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        scale: Scale = "standard",
        max_components: int = 8000,
        input_weights: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        random_state: RandomState = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(
            scale=scale,
            max_components=max_components,
            input_weights=input_weights,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn to predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, at least 6.
        y : array-like of shape (n_samples,)
            Their classes: text, integers or booleans.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.

        Returns
        -------
        self : AutoClassifier
            Fitted.

        Examples
        --------
        >>> from mercer import AutoClassifier
        >>> X = [[0.0], [0.2], [0.5], [0.8], [1.0], [4.0], [4.2], [4.5], [4.8], [5.0]]
        >>> AutoClassifier().fit(X, list("aaaaabbbbb")).predict([[0.2], [4.8]])
        array(['a', 'b'], dtype='<U1')
        """
        self._validate_params()
        device = device_for(X, self.device)
        rows, y = self._rows(X, reset=True, y=y, ensure_min_samples=6)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        names = [str(name) for name in classes.tolist()]
        weights = row_weights(self, rows, y, sample_weight)
        self._learn(rows, [names[code] for code in codes], "classes", device, weights)
        self.classes_ = classes
        # The classes' places among those of the model, which may order text that looks like numbers otherwise.
        known = self._model.classes or names
        self._order = [known.index(name) for name in names]
        self.left_out_score_ = 1.0 - float(self._found["missed"] or 0.0)
        self.log_loss_ = float(self._found["log_loss"] or 0.0)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        scores = self._predict(X)[:, self._order]
        predicted: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return self._predict(X, probabilities=True)[:, self._order]


class AutoRegressor(RegressorMixin, _Predictor):  # type: ignore[misc]
    """Predict numbers without choices: kernel, width, size and penalty are those that predict left-out rows best.

    Ridge on the coordinates of a kernel's space, as `AutoClassifier` has it.

    Parameters
    ----------
    scale : {"standard", "min-max", "unit", "none"}, default="standard"
        How columns are scaled first, or with "unit" rows, each of which is divided by its length; the scaling is part
        of the model. Sparse columns are not centred.
    max_components : int, default=8000
        The most landmarks of a kernel. Up to so many training rows can all be landmarks; of more rows at most 4000 are.
        Where fewer predict left-out rows nearly as well, fewer are used. More take more time and make a larger model.
    input_weights : bool, default=True
        Whether weights of the input columns are tried.
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
    features_ : FeatureMap
        Coordinates of the best kernel, as a fitted map: `features_.transform(X)`; 1000 of them where all rows of many
        are landmarks of the predictor. The default penalty of 1 of ridge is right for them.
    tried_ : list of dict
        The kernels that were tried, best first: kernel, whether columns are weighted, gamma, size of the basis (and the
        size with which the error was measured, which is smaller where the basis was enlarged in the end), squared
        error of left-out rows, and whether it is a member of the predictor.
    n_support_ : int
        Number of training rows that a prediction needs: the landmarks of all members.
    error_ : float
        Squared error of left-out rows, of the members together.
    left_out_score_ : float
        R² of left-out rows, the mean over several targets. Each is left out alone, or, where columns of fewer than 3000
        rows are weighted, with a third of the rows (with 667 where there are more than 2000). Of 3000 rows and more, at
        most 3000 are left out: some of those that weights are not learned from.
    left_out_ : dict
        How well left-out rows are predicted: `measure`, `value`, `chance` (the same for shuffled labels, or 0, which
        the mean of the target has) and `p_value`: by shuffled labels, or by the F-test of four coefficients where that
        is more, because these rows have chosen the model and the best of many fits noise.
        Where that is no better than chance, `fit` warns.
    input_weights_ : ndarray of shape (n_features_in_,) or None
        Weights of the input columns, with a mean square of 1; all 1 where weights do not help, None where they were not
        tried.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from mercer import AutoRegressor
    >>> X, y = make_friedman1(400, random_state=0)
    >>> model = AutoRegressor().fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.9
    True
    """

    _takes_several = True
    _n_targets: int | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn to predict numbers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, at least 6.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their numbers; several targets share kernel, width, size and penalty, and each counts the same.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.

        Returns
        -------
        self : AutoRegressor
            Fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import AutoRegressor
        >>> X = np.linspace(0.0, 3.0, 40)[:, None]
        >>> bool(abs(AutoRegressor().fit(X, np.sin(X[:, 0])).predict([[1.0]])[0] - np.sin(1.0)) < 0.01)
        True
        """
        self._validate_params()
        device = device_for(X, self.device)
        rows, y = self._rows(X, reset=True, y=y, ensure_min_samples=6, y_numeric=True)
        weights = row_weights(self, rows, y, sample_weight)
        self._n_targets = y.shape[1] if is_several(y) else None
        self._learn(rows, as_array(y, np.float64), "numbers", device, weights)
        self.left_out_score_ = float(self.left_out_["value"])
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the number of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        predicted = self._predict(X)
        return predicted[:, 0] if self._n_targets is None else predicted
