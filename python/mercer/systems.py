"""Systems: a basis of the kernel's space, and the few of its coordinates that matter for the labels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._catalogue import SPECS, as_seed, as_text, limits, stage
from mercer._fit import Settings, fit, warn
from mercer._input import CLASS_WEIGHT, Task, as_target, is_partitioned, same_task
from mercer._mapped import LIMITS, Basis, Mapped
from mercer._words import Gamma, Neighbors, Power, Precision, Weighted
from mercer.kernel import AnyKernel
from mercer.select import KFFS, NFeatures, RandomState, Relief, _Selector, named

__all__ = ["EKS", "TAKES", "KRelief", "SKRelief"]


def _limits(method: str, **others: list[Any]) -> dict[str, list[Any]]:
    return {**limits(SPECS[method]), **others, **LIMITS}


class _System(Mapped):
    """What all systems share: fit a basis, score its coordinates, keep the best."""

    scores_: NDArray[np.float64]
    ranking_: NDArray[np.intp]
    selector_: Any
    _weights: NDArray[np.float64] | None  # what the coordinates kept are multiplied by, where they are

    @abstractmethod
    def _selector(self, seed: int) -> Any:
        """Return an unfitted selector for this fit alone."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the basis, score its coordinates and keep the best of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,)
            Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
            numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
            than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.
            Selectors that are not mercer's are not given them.

        Returns
        -------
        self : object
            The fitted system.

        Examples
        --------
        >>> from mercer import KRelief
        >>> system = KRelief(n_features=1).fit([[0.0], [0.5], [4.0], [4.5]], ["a", "a", "b", "b"])
        >>> system.n_components_
        1

        Float32 rows are used without a copy, and what is computed from them is float32, too:

        >>> import numpy as np
        >>> from mercer import TAKES
        >>> X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
        >>> system = TAKES(n_features=2).fit(X, X[:, 0] > 0)
        >>> system.precision_, system.rounding_error_ < 1e-4, system.transform(X).dtype
        ('single', True, dtype('float32'))
        """
        self._validate_params()
        seed = as_seed(getattr(self, "random_state", None))
        selector = self._selector(seed)
        if not isinstance(selector, _Selector):
            if sample_weight is not None or getattr(self, "class_weight", None) is not None:
                raise ValueError(
                    f"rows are weighted, but the selector {type(selector).__name__} is not mercer's\n"
                    "hint: leave it out, or use a selector of mercer, such as FScore or KFFS"
                )
            return self._fit_foreign(X, y, selector)
        self._check_selector(selector)
        selector._count_neighbors(X)
        task = self._task_with(selector)
        found = self._fit(X, y, self._settings(selector), seed=seed, task=task, sample_weight=sample_weight)
        if found.selection is not None:
            self._keep_selection(selector, found.selection)
        warn([*found.basis_warnings, *found.warnings], stacklevel=2)
        return self

    def _settings(self, selector: _Selector) -> Settings:
        """Return the settings of the system and its selector by their names in the catalogue."""
        settings = dict(selector._settings())
        settings.setdefault("n_features", "all")
        if hasattr(self, "weighted"):
            settings["weighted"] = as_text(self.weighted if self.weighted == "sqrt" else bool(self.weighted))
        if hasattr(self, "selector"):
            settings["selector"] = selector._called()
        return list(settings.items())

    def _check_selector(self, selector: _Selector) -> None:
        selector._validate_params()
        if getattr(selector, "class_weight", None) is not None:
            raise ValueError(
                f"class_weight is given for `{selector._called()}`, but the basis looks at the labels, too\n"
                f"hint: give it to {type(self).__name__}"
            )
        if getattr(selector, "categorical_features", None) is not None:
            raise ValueError(
                f"categorical_features is given for `{selector._called()}`, but the columns of `{self._method}` are "
                "coordinates of the kernel's space, which are numbers\nhint: leave it out"
            )

    def _check_foreign(self, selector: Any) -> None:
        """Refuse settings that only mercer's own selectors can follow."""

    def _task_with(self, selector: _Selector) -> str:
        """Return what the labels are: what the system says or, where it does not, its selector, which is told."""
        own: str = getattr(selector, "task", "auto")
        if "auto" not in (own, self.task) and same_task(own) != same_task(self.task):
            raise ValueError(
                f"task = {self.task!r}, but the selector has task = {own!r}\nhint: leave one of the two out"
            )
        task = own if self.task == "auto" else self.task
        if "task" in selector.get_params(deep=False):  # else it does not look at the labels
            selector.set_params(task=task)
        return task

    def _keep_selection(self, selector: _Selector, found: _core.Selection) -> None:
        selector.n_features_in_ = len(found["scores"])
        selector._keep(found)
        self.selector_ = selector
        self.scores_, self.ranking_ = found["scores"], found["ranking"]
        self._weights = None
        if getattr(self, "weighted", False):
            weights = found["scores"] if found["weights"] is None else found["weights"]
            kept = weights[found["support"]]
            if self.weighted == "sqrt":
                kept = np.sqrt(kept)
            # Where no coordinate has a weight they are kept as they are.
            self._weights = kept if kept.any() else None

    def _fit_foreign(self, X: Any, y: Any, selector: Any) -> Self:
        """Fit with a selector that is not mercer's, which looks at the coordinates in Python."""
        self._check_foreign(selector)
        if is_partitioned(X):
            raise TypeError(
                f"the selector {type(selector).__name__} looks at all rows at once, but they lie in partitions\n"
                "hint: use a selector of mercer (FScore, KFFS, Relief with n_queries), or fit on a sample of the rows"
            )
        device = self._device_for(X)
        basis, of_basis = self._basis(0)
        rows, y = self._checked(X, y, basis)
        target = as_target(y) if basis._looks_at(y) else None
        verbose = max(int(self.verbose), int(basis.verbose))
        found = fit(
            self,
            rows,
            target,
            of_basis,
            self._method,
            basis_only=True,
            task=self.task,
            want_coordinates=True,
            device=device,
            verbose=verbose,
        )
        selector.fit(found.coordinates, y)
        support = selector.get_support()
        self.scores_, self.ranking_ = _scores_of(selector, support)
        kept, scores = np.flatnonzero(support).tolist(), self.scores_[support].tolist()
        model = found.basis.compose(kept, scores, self._method, type(selector).__name__)
        self._keep(basis, found.basis, model, rows)
        self._name_basis(basis, found)
        self.selector_, self._weights = selector, None
        warn(found.basis_warnings, stacklevel=3)
        return self

    @property
    def components_(self) -> NDArray[np.float64]:
        """The features in the basis' coordinates."""
        check_is_fitted(self)
        kept = self.get_support(indices=True)
        components = np.zeros((len(kept), len(self.scores_)))
        components[np.arange(len(kept)), kept] = 1.0 if self._weights is None else self._weights
        components.flags.writeable = False
        return components

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which of the basis' coordinates are kept.

        Parameters
        ----------
        indices : bool, default=False
            Return their indices instead of a mask.

        Returns
        -------
        support : ndarray
            One boolean a coordinate, or the indices of those kept, ascending.

        Examples
        --------
        >>> from mercer import KRelief
        >>> KRelief(n_features=1).fit([[0.0], [0.5], [4.0], [4.5]], [0, 0, 1, 1]).get_support(indices=True).shape
        (1,)
        """
        check_is_fitted(self)
        support: NDArray[Any] = self.selector_.get_support(indices)
        return support


def _scores_of(selector: Any, support: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return scores and ranking of a selector of scikit-learn's, which may have neither, or no numbers as scores."""
    scores = getattr(selector, "scores_", None)
    if scores is None or np.shape(scores) != support.shape:
        scores = support
    scores = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0)
    return scores, rankdata(-scores, method="ordinal").astype(np.intp)


class TAKES(_System):
    """TAKES: a KOBL basis, KFFS on its coordinates, and features multiplied by their weights.

    The basis learns its size, and the number of features follows from the labels.

    Parameters
    ----------
    n_features : int, float, {"positive", "cv"} or None, default="positive"
        How many of the best coordinates to keep: a number, a share (0.5), "positive" for those with a weight above 0,
        "cv" for as many as cross-validated ridge asks for, or None for all. More than there are keeps all, with a
        warning.
    weighted : bool or "sqrt", default=True
        Multiply features by their weights w, or with "sqrt" by √w: then inner products of features are
        K_w(x, x') = Σ w φ(x)φ(x'), and a linear machine on them is the kernel machine on K_w.
    reweight : bool, default=False
        Whether rows that the ensemble gets right lose weight (lines 7 and 14 of the paper's Algorithm 2).
    theta : int, default=1
        By how many votes a class must lead for the ensemble of weak classifiers to decide; below, the newest one does.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kobl" with `threshold="linear"`, which "kobl" has in TAKES unless
        `threshold` or `tol` is given. Settings beyond the kernel's come with a `KernelBasis`,
        `TAKES(basis=KernelBasis("kobl", n_components=100))`, and all can be searched as `basis__NAME`.
    kernel : str, Kernel, callable or None, default=None
        Kernel of a basis that is not a `KernelBasis`, any that `KernelBasis` takes, "precomputed" among them. None:
        "rbf". With a `KernelBasis`, which has its own, this and the next three are refused where they differ.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of that kernel, or the rule that finds it. None: "loo" where `fit` is given `y`, else "median" where there
        are more columns than rows, else "scale".
    degree : int or None, default=None
        Degree of "poly". None: that of `KernelBasis`.
    coef0 : float or None, default=None
        Constant of "poly" and "sigmoid". None: that of `KernelBasis`.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there. At "cpu", the `device` of a `KernelBasis` counts.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    basis_ : KernelBasis
        The fitted basis, of m components.
    selector_ : KFFS
        The fitted selector.
    components_ : ndarray of shape (n_components_, m)
        The features in the basis' coordinates.
    scores_ : ndarray of shape (m,)
        The weight of every coordinate; high is good.
    ranking_ : ndarray of shape (m,)
        The place of every coordinate; 1 is the best.
    error_path_ : ndarray of shape (m,)
        Share of training rows that the ensemble of weak classifiers gets wrong after each round.
    gamma_ : float
        The width of the kernel, as `basis_` has it.
    precision_ : {"single", "double"}
        What the coordinates of the training rows, and sums over them, were computed in.
    rounding_error_ : float or None
        In float32, the largest error of a coordinate that was found among up to 256 training rows, as
        `basis_` has it. Else None.
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
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import TAKES
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(TAKES(n_features=10), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    selector_: KFFS

    _method = "takes"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("takes", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_features: NFeatures = "positive",
        weighted: Weighted = True,
        reweight: bool = False,
        theta: int = 1,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.weighted = weighted
        self.reweight = reweight
        self.theta = theta
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.precision = precision
        self.device = device
        self.verbose = verbose

    @property
    def error_path_(self) -> NDArray[np.float64]:
        """Share of training rows that the ensemble gets wrong after each round."""
        check_is_fitted(self)
        path: NDArray[np.float64] = self.selector_.error_path_
        return path

    def _selector(self, seed: int) -> Any:
        return KFFS(self.n_features, reweight=self.reweight, theta=self.theta, verbose=self.verbose)


class KRelief(_System):
    """K-Relief: all rows as a basis, Relief with neighbours in the kernel's space, and the best coordinates.

    Parameters
    ----------
    n_features : int, float, {"cv", "positive"} or None, default="cv"
        How many of the best coordinates to keep: "cv" for as many as cross-validated ridge asks for, a number, a share
        (0.5), "positive" for those with a score above 0, or None for all. More than there are keeps all, with a
        warning.
    n_neighbors : int or float, default=1
        Hits and misses that a row is compared with. A fraction is the share of all rows that both are together.
    power : {1, 2}, default=1
        Sum differences (1) or their squares (2).
    weighted : bool or "sqrt", default=False
        Multiply features by their weights w, those of `Relief`, or with "sqrt" by √w: then inner products of features
        are K_w(x, x') = Σ w φ(x)φ(x'), and a linear machine on them is the kernel machine on K_w.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kpca", beyond 5000 rows "rpcholesky" with a warning. Settings beyond the
        kernel's come with a `KernelBasis`, `KRelief(basis=KernelBasis("kpca", n_components=100))`, and all can be
        searched as `basis__NAME`.
    kernel : str, Kernel, callable or None, default=None
        Kernel of a basis that is not a `KernelBasis`, any that `KernelBasis` takes, "precomputed" among them. None:
        "rbf". With a `KernelBasis`, which has its own, this and the next three are refused where they differ.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of that kernel, or the rule that finds it. None: "loo" where `fit` is given `y`, else "median" where there
        are more columns than rows, else "scale".
    degree : int or None, default=None
        Degree of "poly". None: that of `KernelBasis`.
    coef0 : float or None, default=None
        Constant of "poly" and "sigmoid". None: that of `KernelBasis`.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there. At "cpu", the `device` of a `KernelBasis` counts.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    basis_ : KernelBasis
        The fitted basis, of m components.
    selector_ : Relief
        The fitted selector.
    components_ : ndarray of shape (n_components_, m)
        The features in the basis' coordinates.
    scores_ : ndarray of shape (m,)
        The score of every coordinate; high is good.
    ranking_ : ndarray of shape (m,)
        The place of every coordinate; 1 is the best.
    gamma_ : float
        The width of the kernel, as `basis_` has it.
    precision_ : {"single", "double"}
        What the coordinates of the training rows, and sums over them, were computed in.
    rounding_error_ : float or None
        In float32, the largest error of a coordinate that was found among up to 256 training rows, as
        `basis_` has it. Else None.
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
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import KRelief
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(KRelief(n_features=5), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    selector_: Relief

    _method = "k-relief"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("k-relief", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_features: NFeatures = "cv",
        n_neighbors: int | float = 1,
        power: Power = 1,
        weighted: Weighted = False,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        random_state: RandomState = None,
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.n_neighbors = n_neighbors
        self.power = power
        self.weighted = weighted
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.neighbors = neighbors
        self.n_queries = n_queries
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose

    def _selector(self, seed: int) -> Any:
        return Relief(
            self.n_features,
            n_neighbors=self.n_neighbors,
            power=self.power,
            neighbors=self.neighbors,
            n_queries=self.n_queries,
            random_state=seed,
            verbose=self.verbose,
        )


class SKRelief(KRelief):
    """SK-Relief: a sparse basis, Relief with neighbours in the kernel's space, and the best coordinates.

    Few landmarks, so few kernel values for a new row.

    Parameters
    ----------
    n_features : int, float, {"cv", "positive"} or None, default="cv"
        How many of the best coordinates to keep: "cv" for as many as cross-validated ridge asks for, a number, a share
        (0.5), "positive" for those with a score above 0, or None for all. More than there are keeps all, with a
        warning.
    n_neighbors : int or float, default=1
        Hits and misses that a row is compared with. A fraction is the share of all rows that both are together.
    power : {1, 2}, default=1
        Sum differences (1) or their squares (2).
    weighted : bool or "sqrt", default=False
        Multiply features by their weights w, those of `Relief`, or with "sqrt" by √w: then inner products of features
        are K_w(x, x') = Σ w φ(x)φ(x'), and a linear machine on them is the kernel machine on K_w.
    nu : float, default=0.01
        Share of k(x, x) that must be new for a row to join the basis. Used only where `basis` is None.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "sparse". Settings beyond the kernel's come with a `KernelBasis`,
        `SKRelief(basis=KernelBasis("sparse", nu=0.05))`, and all can be searched as `basis__NAME`.
    kernel : str, Kernel, callable or None, default=None
        Kernel of a basis that is not a `KernelBasis`, any that `KernelBasis` takes, "precomputed" among them. None:
        "rbf". With a `KernelBasis`, which has its own, this and the next three are refused where they differ.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of that kernel, or the rule that finds it. None: "loo" where `fit` is given `y`, else "median" where there
        are more columns than rows, else "scale".
    degree : int or None, default=None
        Degree of "poly". None: that of `KernelBasis`.
    coef0 : float or None, default=None
        Constant of "poly" and "sigmoid". None: that of `KernelBasis`.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Number of rows, drawn at random, that are compared with their neighbours; None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of queries, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there. At "cpu", the `device` of a `KernelBasis` counts.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    basis_ : KernelBasis
        The fitted basis, of m components.
    selector_ : Relief
        The fitted selector.
    components_ : ndarray of shape (n_components_, m)
        The features in the basis' coordinates.
    scores_ : ndarray of shape (m,)
        The score of every coordinate; high is good.
    ranking_ : ndarray of shape (m,)
        The place of every coordinate; 1 is the best.
    gamma_ : float
        The width of the kernel, as `basis_` has it.
    precision_ : {"single", "double"}
        What the coordinates of the training rows, and sums over them, were computed in.
    rounding_error_ : float or None
        In float32, the largest error of a coordinate that was found among up to 256 training rows, as
        `basis_` has it. Else None.
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
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer import SKRelief
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> system = SKRelief(n_features=5, nu=0.2).fit(X, y)
    >>> system.basis_.n_components_ < 100
    True
    """

    selector_: Relief

    _method = "sk-relief"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("sk-relief", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_features: NFeatures = "cv",
        n_neighbors: int | float = 1,
        power: Power = 1,
        weighted: Weighted = False,
        nu: float = 0.01,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        random_state: RandomState = None,
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_features,
            n_neighbors,
            power,
            weighted,
            basis=basis,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            class_weight=class_weight,
            task=task,
            neighbors=neighbors,
            n_queries=n_queries,
            random_state=random_state,
            precision=precision,
            device=device,
            verbose=verbose,
        )
        self.nu = nu

    def _own_basis(self) -> dict[str, Any]:
        return {"nu": self.nu}


class EKS(_System):
    """EKS, explicit kernel space: any basis, and any selector on its coordinates.

    Parameters
    ----------
    selector : str or selector, default="f"
        What chooses among the coordinates: a name ("relief", "relieff", "rrelieff", "irelief", "surf", "surf-star",
        "multisurf", "multisurf-star", "kffs", "f", "fpr", "fdr", "fwe", "mi", "laplacian", "lasso"), a selector of
        `mercer` with settings of its own, or any of scikit-learn's. One that is not a name decides itself how many to
        keep.
    n_features : int, float, {"cv", "positive"} or None, default="cv"
        How many of the best coordinates to keep, where `selector` is a name: "cv" for as many as cross-validated ridge
        asks for (two thirds where there is no `y`), a number, a share (0.5), "positive" for those with a score above 0,
        or None for all. More than there are keeps all, with a warning.
    weighted : bool or "sqrt", default=False
        Multiply features by their weights w, or with "sqrt" by √w: then inner products of features are
        K_w(x, x') = Σ w φ(x)φ(x'), and a linear machine on them is the kernel machine on K_w. Only "relief", "irelief"
        and "kffs" have weights.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "gram-schmidt", beyond 5000 rows "rpcholesky" with a warning. Settings
        beyond the kernel's come with a `KernelBasis`, `EKS(basis=KernelBasis("kpca", n_components=100))`, and all can
        be searched as `basis__NAME`.
    kernel : str, Kernel, callable or None, default=None
        Kernel of a basis that is not a `KernelBasis`, any that `KernelBasis` takes, "precomputed" among them. None:
        "rbf". With a `KernelBasis`, which has its own, this and the next three are refused where they differ.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of that kernel, or the rule that finds it. None: "loo" where `fit` is given `y`, else "median" where there
        are more columns than rows, else "scale".
    degree : int or None, default=None
        Degree of "poly". None: that of `KernelBasis`.
    coef0 : float or None, default=None
        Constant of "poly" and "sigmoid". None: that of `KernelBasis`.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count, by the class, or "balanced" for n_samples / (n_classes * rows of the class).
        It multiplies the `sample_weight` of `fit`.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone. "auto": that
        of a `selector` of `mercer`, if it has one.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed with
        there. At "cpu", the `device` of a `KernelBasis` counts.
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Attributes
    ----------
    basis_ : KernelBasis
        The fitted basis, of m components.
    selector_ : object
        The fitted selector: a copy of `selector`, or what its name stands for.
    components_ : ndarray of shape (n_components_, m)
        The features in the basis' coordinates.
    scores_ : ndarray of shape (m,)
        The score of every coordinate, high is good; of a selector without `scores_`, 1 for what it keeps and 0 else.
    ranking_ : ndarray of shape (m,)
        The place of every coordinate; 1 is the best.
    gamma_ : float
        The width of the kernel, as `basis_` has it.
    precision_ : {"single", "double"}
        What the coordinates of the training rows, and sums over them, were computed in.
    rounding_error_ : float or None
        In float32, the largest error of a coordinate that was found among up to 256 training rows, as
        `basis_` has it. Else None.
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
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.feature_selection import SelectKBest
    >>> from mercer import EKS, KernelBasis
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> ours = EKS("f", n_features=4, basis=KernelBasis("kpca", n_components=20)).fit(X, y)
    >>> theirs = EKS(SelectKBest(k=4), basis=KernelBasis("kpca", n_components=20)).fit(X, y)
    >>> bool((ours.get_support() == theirs.get_support()).all())
    True
    """

    _method = "eks"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits(
        "eks",
        selector=[StrOptions(set(stage("select"))), HasMethods(["fit", "get_support"])],
        class_weight=CLASS_WEIGHT,
    )

    def __init__(
        self,
        selector: Any = "f",
        n_features: NFeatures = "cv",
        weighted: Weighted = False,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.n_features = n_features
        self.weighted = weighted
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.precision = precision
        self.device = device
        self.verbose = verbose

    @property
    def _takes_several(self) -> bool:
        selector = named(self.selector, None, 0) if isinstance(self.selector, str) else self.selector
        return getattr(selector, "_takes_several", False) or not isinstance(selector, _Selector)

    def _selector(self, seed: int) -> Any:
        if not isinstance(self.selector, str):
            return clone(self.selector)
        return named(self.selector, self.n_features, self.verbose)

    def _check_foreign(self, selector: Any) -> None:
        if self.weighted:
            raise ValueError(
                f"weighted = {self.weighted!r}, but {type(selector).__name__} gives scores and no weights; "
                "KFFS, Relief and IRelief of mercer have weights\nhint: use weighted=False"
            )

    def _needs_y(self) -> bool:
        if self._known_basis()._needs_y():
            return True
        if isinstance(self.selector, str):
            return self.selector != "laplacian"
        return bool(get_tags(self.selector).target_tags.required)
