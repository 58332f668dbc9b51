"""Extractors: directions in the coordinates of a kernel basis, found with the labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._catalogue import EXTRACTORS, as_seed, as_text, limits
from mercer._fit import Settings, warn
from mercer._input import (
    CLASS_WEIGHT,
    Task,
    as_array,
    as_csr,
    as_sums,
    as_target,
    categories_as_text,
    refuse_collections,
    row_weights,
    validated,
)
from mercer._mapped import KERNEL_SETTINGS, LIMITS, Basis, Mapped
from mercer._words import Criterion, Gamma, Init, LocalMetric, Neighbors, Precision
from mercer.basis import KernelBasis
from mercer.kernel import AnyKernel
from mercer.select import RandomState

__all__ = ["AKDAQR", "GDA", "KANMM", "KLFE", "KMFA", "KOC", "KPCA", "KPLS", "SKFE"]


def _limits(method: str, **others: list[Any]) -> dict[str, list[Any]]:
    return {**limits(EXTRACTORS[method]), **others, **LIMITS}


class _Extractor(Mapped):
    """What all extractors share: a class of its own is its parameters."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = LIMITS
    _warning: ClassVar[type[Warning]] = UserWarning  # what its warnings are

    components_: NDArray[np.float64]
    offset_: NDArray[np.float64]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the basis and find directions in its coordinates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,)
            Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
            numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
            than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides. `KPLS`
            takes both, and several columns of numbers; so does `SKFE`, besides classes. `KPCA` looks at none unless its
            basis does, the others need classes.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.

        Returns
        -------
        self : object
            The fitted extractor.

        Examples
        --------
        >>> from mercer import GDA
        >>> extractor = GDA().fit([[0.0], [0.5], [4.0], [4.5]], ["a", "a", "b", "b"])
        >>> extractor.n_components_
        1

        Float32 rows are used without a copy, and what is computed from them is float32, too:

        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
        >>> extractor = GDA(basis="kobl").fit(X, X[:, 0] > 0)
        >>> extractor.precision_, extractor.rounding_error_ < 1e-4, extractor.transform(X).dtype
        ('single', True, dtype('float32'))
        """
        return self._fit_all(X, y, sample_weight)

    def _fit_all(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit; warnings are those of who calls `fit`."""
        self._validate_params()
        for name in ("_sums", "_seen", "n_samples_seen_"):  # Batches are forgotten.
            self.__dict__.pop(name, None)
        seed = as_seed(getattr(self, "random_state", None))
        found = self._fit(X, y, self._settings(seed), seed=seed, task=self.task, sample_weight=sample_weight)
        if found.directions is not None:
            self._keep_directions(found.directions)
        warn(found.basis_warnings, stacklevel=3)
        warn(found.warnings, stacklevel=3, category=self._warning)
        return self

    def _keep_directions(self, found: _core.Directions) -> None:
        self.components_ = found["components"]
        self.offset_ = found["offset"]
        for name, values in (("eigenvalues_", found["eigenvalues"]), ("explained_ratio_", found["explained"])):
            if len(values):
                setattr(self, name, values)

    def _settings(self, seed: int) -> Settings:
        """Return the settings by their names in the catalogue."""
        values = self.get_params(deep=False)
        if "random_state" in values:
            values["seed"] = seed
        others = (
            *("basis", *KERNEL_SETTINGS, "precision", "class_weight"),
            *("device", "verbose", "task", "random_state"),
        )
        return [(name, as_text(value)) for name, value in values.items() if value is not None and name not in others]


def _has_fitted_basis(extractor: Any) -> bool:
    """Return whether there is a `partial_fit`: batches are added up in the coordinates of a basis that is there."""
    basis = extractor.basis
    if isinstance(basis, KernelBasis) and hasattr(basis, "_model"):
        return True
    raise AttributeError(
        f"{type(extractor).__name__} has no partial_fit without a fitted basis\n"
        "hint: basis=KernelBasis(...).fit(a sample of the rows)"
    )


class _BySums(_Extractor):
    """An extractor whose directions come from sums over the rows, which batches add up to."""

    _sums: _core.Moments
    _seen: dict[str, Any]

    @available_if(_has_fitted_basis)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of rows, in the coordinates of `basis`, which must be a fitted `KernelBasis`.

        What comes out is what one fit on all rows finds in the same basis, up to the sign of features: the largest
        coefficient of a direction is positive, because no rows are kept that could decide. `fit` starts afresh.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch.
        y : array-like of shape (n_samples,), default=None
            Its labels; `KPCA` looks at none.
        classes : array-like, default=None
            All classes, with the first batch; None: those of the first batch, or numbers for `KPLS` if `task` or the
            first batch decides so.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
            The extractor so far; it is fitted once the rows are of two classes, or differ.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import GDA, KernelBasis
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(600, 3))
        >>> y = (X[:, 0] > 0).astype(int)
        >>> basis = KernelBasis("rpcholesky", gamma=0.2, n_components=30).fit(X[:200])
        >>> extractor = GDA(basis=basis)
        >>> for start in range(0, 600, 100):
        ...     batch = slice(start, start + 100)
        ...     extractor = extractor.partial_fit(X[batch], y[batch], classes=[0, 1])
        >>> extractor.n_samples_seen_, extractor.transform(X).shape
        (600, (600, 1))
        """
        self._validate_params()
        refuse_collections(type(self).__name__, "nothing", X=X, y=y)
        first = not hasattr(self, "_sums")
        basis = cast("KernelBasis", self.basis)
        checks = {**basis._checks(), "reset": first}
        if self._needs_y():
            rows, y = validated(self, X, categories_as_text(y), **checks)
        else:
            rows, y = validated(self, X, **checks), None
        if rows.shape[1] != basis.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} columns, but the basis was fitted on {basis.n_features_in_}")
        targets, seen = self._targets_of(rows.shape[0], y, classes, {} if first else dict(self._seen))
        Z = as_array(basis.transform(rows), np.float64)
        sums = _core.moments_of_nothing(Z.shape[1], targets.shape[1]) if first else as_sums(self._sums)
        weights = row_weights(self, rows, y, sample_weight)
        self._sums = _core.moments_accumulate(sums, Z, as_array(targets, np.float64), weights)
        seen["n"] = seen.get("n", 0) + rows.shape[0]
        self._seen = seen
        self._finish_sums(basis, rows)
        return self

    def _targets_of(
        self, n: int, y: Any, classes: Any, seen: dict[str, Any]
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Return what is added up beside the coordinates, and what is known of all labels with this batch."""
        if y is None:
            return np.empty((n, 0)), seen
        if not seen and classes is None:
            values, names, warnings = _core.decide(as_target(y), task=self.task)
            warn(warnings, stacklevel=3)
            classes = None if names is None else np.unique(y)
        if "classes" in seen or classes is not None:
            known: NDArray[Any] = seen["classes"] if "classes" in seen else np.unique(np.asarray(classes))
            codes = np.searchsorted(known, y)
            strange = (codes >= len(known)) | (known[np.minimum(codes, len(known) - 1)] != y)
            if strange.any():
                raise ValueError(
                    f"the class {np.asarray(y)[strange].tolist()[0]!r} is not among those of the first batch\n"
                    "hint: name all classes (`classes`) with the first batch"
                )
            sizes = np.bincount(codes, minlength=len(known)) + seen.get("sizes", 0)
            return np.eye(len(known))[codes], {**seen, "classes": known, "sizes": sizes}
        values = np.asarray(y, dtype=np.float64)
        low, high = seen.get("range", (np.inf, -np.inf))
        return values[:, None], {**seen, "range": (min(low, values.min()), max(high, values.max()))}

    def _finish_sums(self, basis: KernelBasis, rows: Any) -> None:
        """Find the directions of all batches so far, once there are enough rows."""
        seen, sums = self._seen, self._sums
        self.n_samples_seen_: int = seen["n"]
        classes, numbers = None, None
        if "classes" in seen:
            if (seen["sizes"] > 0).sum() < 2:
                return
            classes = ([str(name) for name in seen["classes"]], [int(size) for size in seen["sizes"]])
        elif "range" in seen:
            if seen["range"][0] == seen["range"][1]:
                return
            numbers = (float(np.asarray(sums["shift"])[-1] + np.asarray(sums["mean"])[-1]), seen["range"])
        if seen["n"] < 2:
            return
        settings = list(self._settings(as_seed(getattr(self, "random_state", None))))
        model, found, warnings = _core.fit_sums(
            as_sums(sums), classes, numbers, self._method, settings, basis._model, verbose=int(self.verbose)
        )
        self.basis_, self._model = basis, model
        self._keep_directions(found)
        warn(warnings, stacklevel=3, category=self._warning)


class KLFE(_Extractor):
    """KLFE, kernel local feature extraction: directions in which misses are farther away than hits.

    Eigenvectors of the difference of two scatters, of rows and their nearest of other classes and of rows and their
    nearest of their own, each scaled by the root of its eigenvalue.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: all with a positive eigenvalue. More than there are is refused.
    n_neighbors : int, default=5
        Hits (rows of its own class) and misses (of all others together) that a row is compared with.
    metric : {"kernel", "l1", "l2"}, default="kernel"
        The distance by which these are the nearest: that of the kernel's space, or the L1 distance (equation 5 of the
        paper) or L2 distance of the rows, which a precomputed kernel does not know.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Rows, drawn at random, that are compared with their neighbours and stand for all. None: all rows, which takes
        time in proportion to their square.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kpca" (uncentred), beyond 5000 rows "rpcholesky" with a warning.
        Settings beyond the kernel's come with a `KernelBasis`, `KLFE(basis=KernelBasis("kpca", n_components=100))`, and
        all can be searched as `basis__NAME`.
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
    random_state : int, RandomState instance or None, default=None
        Seed of that draw, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates, times the roots of their eigenvalues.
    offset_ : ndarray of shape (n_components_,)
        Zeros: features are those of the basis' own zero.
    eigenvalues_ : ndarray of shape (n_components_,)
        Margins along the directions, descending.
    explained_ratio_ : ndarray of shape (n_components_,)
        Their shares of the sum of all positive ones.
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
    >>> from mercer import KLFE
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(KLFE(n_components=3), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    eigenvalues_: NDArray[np.float64]
    explained_ratio_: NDArray[np.float64]

    _method = "klfe"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("klfe", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_components: int | None = None,
        n_neighbors: int = 5,
        *,
        metric: LocalMetric = "kernel",
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.neighbors = neighbors
        self.n_queries = n_queries
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose


class SKFE(_Extractor):
    """SKFE, subspace kernel feature extraction: the subspace whose kernel is best aligned with the labels.

    Conjugate gradients among subspaces of the basis' coordinates. On a basis that spans all rows it fits noise: look at
    `alignment_` on new rows, and keep the basis small, such as `basis=KernelBasis(n_components=50)`.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: one per class. More than there are is refused.
    init : {"koc", "gda", "kpls", "kpca", "akda-qr", "random"}, default="koc"
        Where the search starts: at the class centroids, the discriminants, the directions of largest covariance with
        the labels, those of largest variance, the discriminants in the span of the class means, or anywhere.
    max_iter : int, default=50
        The most steps; where the search has not ended by then, there is a `ConvergenceWarning`.
    tol : float, default=1e-6
        The norm of the gradient, relative to the first, at which the search ends.
    center : bool, default=False
        Whether alignment is that of centred kernels; features are then centred, too.
    criterion : {"alignment", "margin", "radius-margin"}, default="alignment"
        What the subspace maximises: the alignment of its kernel with the labels, the margin of support vector machines
        in it, or that margin relative to the radius of the ball that holds the rows. Margins look at no more than 5000
        rows.
    points : int or None, default=None
        Move this many points of the input space, from k-means centres on, until the subspace that their images span
        maximises the criterion; `basis_.landmarks_` are where they end. With `criterion="margin"` it is the subspace of
        the sparse large margin classifier. The kernel must be smooth ("rbf", "matern32", "matern52", "rq", "linear",
        "poly", "sigmoid", "cosine"), and `basis` is left out. None: directions are sought in the coordinates of the
        basis.
    reg : float, default=0.1
        Softness of the margin: what is added to the kernel's diagonal, relative to its mean.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kobl" of all rows, beyond 5000 "rpcholesky" with a warning. Settings
        beyond the kernel's come with a `KernelBasis`, `SKFE(basis=KernelBasis("kpca", n_components=100))`, and all can
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
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    random_state : int, RandomState instance or None, default=None
        Seed of a random start, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates, orthonormal.
    offset_ : ndarray of shape (n_components_,)
        Subtracted from the features: those of the mean where `center`, else zeros.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squares of the features, descending.
    alignment_ : float
        Alignment of the features' kernel with that of the labels, on the training rows.
    alignment_path_ : ndarray of shape (n_iter_ + 1,)
        The alignment at the start and after each step; it never falls, unless `criterion` is another. With `points`
        only that of the end.
    n_iter_ : int
        Number of steps.
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
    >>> from mercer import KernelBasis, SKFE
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(SKFE(3, tol=1e-3, basis=KernelBasis(n_components=10)), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    _takes_several = True
    eigenvalues_: NDArray[np.float64]

    _method = "skfe"
    _warning = ConvergenceWarning
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("skfe", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_components: int | None = None,
        init: Init = "koc",
        max_iter: int = 50,
        tol: float = 1e-6,
        center: bool = False,
        *,
        criterion: Criterion = "alignment",
        points: int | None = None,
        reg: float = 0.1,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.center = center
        self.criterion = criterion
        self.points = points
        self.reg = reg
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose

    def _keep_directions(self, found: _core.Directions) -> None:
        super()._keep_directions(found)
        self.alignment_path_ = found["alignment_path"]
        self.n_iter_ = len(self.alignment_path_) - 1

    @property
    def alignment_(self) -> float:
        """Alignment of the features' kernel with that of the labels, on the training rows."""
        check_is_fitted(self)
        return float(self.alignment_path_[-1])


class GDA(_BySums):
    """GDA, generalised discriminant analysis: class means far apart relative to the scatter of the rows.

    Linear discriminant analysis in the basis' coordinates; with two classes, the kernel Fisher discriminant.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: the number of classes less one. More than there are is refused.
    reg : float, default=0.1
        Share of the mean total scatter that is added to the diagonal; 0: none, on the range of the scatter alone.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with its size chosen by the leave-one-out error of the labels,
        beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `GDA(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates; the features have total scatter 1, but for `reg`.
    offset_ : ndarray of shape (n_components_,)
        Subtracted from the features, so that those of the mean are 0.
    eigenvalues_ : ndarray of shape (n_components_,)
        Share of the scatter along each direction that is between the classes, descending.
    explained_ratio_ : ndarray of shape (n_components_,)
        Their shares of the sum of all.
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
    >>> from mercer import GDA
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(GDA(), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True

    Another kernel, whose width is searched:

    >>> from sklearn.model_selection import GridSearchCV
    >>> model = make_pipeline(GDA(kernel="laplacian"), KNeighborsClassifier(1))
    >>> search = GridSearchCV(model, {"gda__gamma": [0.01, 1.0]}).fit(X, y)
    >>> bool(search.best_score_ > 0.95)
    True
    """

    eigenvalues_: NDArray[np.float64]
    explained_ratio_: NDArray[np.float64]

    _method = "gda"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("gda", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_components: int | None = None,
        reg: float = 0.1,
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
        self.n_components = n_components
        self.reg = reg
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


class KOC(_BySums):
    """KOC, kernel orthogonal centroids: an orthonormal basis of the class centroids.

    One feature per class, but for classes whose centroid those before it span, which are left out with a warning; with
    `n_clusters` one a cluster.

    Parameters
    ----------
    n_clusters : int, default=1
        Take the centroids of this many k-means clusters of every class, found in the basis' coordinates.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with its size chosen by the leave-one-out error of the labels,
        beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KOC(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
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
    random_state : int, RandomState instance or None, default=None
        Seed of the clusters, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates, orthonormal.
    offset_ : ndarray of shape (n_components_,)
        Zeros: features are those of the basis' own zero.
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
    >>> from mercer import KOC
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(KOC(), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    _method = "koc"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("koc", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_clusters: int = 1,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose


class AKDAQR(_Extractor):
    """AKDA/QR: discriminant analysis among the images of the class means.

    The means of the classes' rows are the landmarks, so that c kernel values turn a row into its features: fast on many
    rows, and rough where a class is not near its mean. A precomputed kernel is refused: it has no means.

    Parameters
    ----------
    reg : float, default=1e-3
        Share of the mean total scatter that is added to the diagonal; 0: none, on the range of the scatter alone.
    n_components : int, default=None
        Number of features, at most one per class. None: one less than classes. With one per class the last is the
        direction of the class means' span that the others leave; it separates nothing, so that its eigenvalue is 0.
    basis : KernelBasis, str or None, default=None
        Whose kernel, gamma and random state are used; the basis itself is "gram-schmidt" on the class means. Rules for
        gamma look at the rows, not at the means. Searched as `basis__NAME`. Its few coordinates are always computed in
        float64.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates.
    offset_ : ndarray of shape (n_components_,)
        Subtracted from the features, so that those of the mean are 0.
    eigenvalues_ : ndarray of shape (n_components_,)
        Share of the scatter along each direction that is between the classes, descending.
    explained_ratio_ : ndarray of shape (n_components_,)
        Their shares of the sum of all.
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
        Number of landmarks, which are class means, that the features of a row need. As they are no training rows there
        are no `important_points_`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import AKDAQR
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(AKDAQR(), KNeighborsClassifier(5))
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.85
    True
    >>> len(model[0].basis_.landmarks_)
    3
    """

    eigenvalues_: NDArray[np.float64]
    explained_ratio_: NDArray[np.float64]

    _method = "akda-qr"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed
        for name, allowed in _limits("akda-qr", class_weight=CLASS_WEIGHT).items()
        if name not in ("precision", "random_state")
    }

    def __init__(
        self,
        reg: float = 1e-3,
        *,
        n_components: int | None = None,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.reg = reg
        self.n_components = n_components
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.device = device
        self.verbose = verbose

    def _name_basis(self, basis: KernelBasis, found: _core.Fitted) -> None:
        super()._name_basis(basis, found)
        basis.landmarks = as_csr(found.landmarks, self.n_features_in_, spmatrix=basis._has_spmatrix)
        basis.set_params(threshold=None, tol=None, n_components=None, center=False, precision=None)


class KPLS(_BySums):
    """KPLS, kernel partial least squares: directions of largest covariance with the labels, one after another.

    The labels may be classes or numbers. Features are the x-scores, which are orthogonal on the training rows.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: two per class but at most 100, 10 for numbers, or as many as there are; more
        are refused.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with its size chosen by the leave-one-out error of the labels,
        beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KPLS(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates: rotations, as they are called in PLS.
    offset_ : ndarray of shape (n_components_,)
        Subtracted from the features, so that those of the mean are 0.
    eigenvalues_ : ndarray of shape (n_components_,)
        Squared covariances with the labels, in the order found.
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
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import KPLS
    >>> X, y = make_friedman1(400, noise=0.5, random_state=0)
    >>> LinearRegression().fit(X[:300], y[:300]).score(X[300:], y[300:]) < 0.8
    True
    >>> model = make_pipeline(KPLS(n_components=20), LinearRegression())
    >>> model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.85
    True
    """

    _takes_several = True
    eigenvalues_: NDArray[np.float64]

    _method = "kpls"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kpls", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_components: int | None = None,
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
        self.n_components = n_components
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


class KMFA(_Extractor):
    """KMFA, kernel marginal Fisher analysis: rows near the border of their class apart, neighbours within it together.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: at most 10. More than there are is refused.
    k_within : int, default=5
        Nearest rows of its own class that a row is compared with.
    k_between : int, default=100
        Nearest pairs of a row of a class and a row of another, for every class.
    reg : float, default=0.1
        Share of the mean within-class scatter that is added to the diagonal; 0: none, on the range of the scatter
        alone.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with its size chosen by the leave-one-out error of the labels,
        beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KMFA(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates.
    offset_ : ndarray of shape (n_components_,)
        Zeros: features are those of the basis' own zero.
    eigenvalues_ : ndarray of shape (n_components_,)
        Scatter between classes over that within, along each direction, descending.
    explained_ratio_ : ndarray of shape (n_components_,)
        Their shares of the sum of all.
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
    >>> from mercer import KMFA
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(KMFA(n_components=3), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    eigenvalues_: NDArray[np.float64]
    explained_ratio_: NDArray[np.float64]

    _method = "kmfa"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kmfa")

    def __init__(
        self,
        n_components: int | None = None,
        k_within: int = 5,
        k_between: int = 100,
        reg: float = 0.1,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.k_within = k_within
        self.k_between = k_between
        self.reg = reg
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.task = task
        self.precision = precision
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the basis and find directions in its coordinates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,)
            Classes. Pairs of near rows count the same, so there are no weights.

        Returns
        -------
        self : object
            The fitted extractor.

        Examples
        --------
        >>> from mercer import KMFA
        >>> KMFA(1).fit([[0.0], [0.5], [4.0], [4.5]], ["a", "a", "b", "b"]).n_components_
        1
        """
        return self._fit_all(X, y, None)


class KANMM(_Extractor):
    """KANMM, kernel average neighbourhood margin maximisation: orthonormal directions of the largest mean margin.

    As `KLFE`, but neighbours are averaged, and directions are not scaled.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: all with a positive eigenvalue. More than there are is refused.
    n_neighbors : int, default=10
        Hits (rows of its own class) and misses (of all others together) that a row is compared with.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        reports the share of the true ones found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Rows, drawn at random, that are compared with their neighbours and stand for all. None: all rows, which takes
        time in proportion to their square.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with its size chosen by the leave-one-out error of the labels,
        beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KANMM(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
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
    random_state : int, RandomState instance or None, default=None
        Seed of that draw, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates, orthonormal.
    offset_ : ndarray of shape (n_components_,)
        Zeros: features are those of the basis' own zero.
    eigenvalues_ : ndarray of shape (n_components_,)
        Margins along the directions, descending.
    explained_ratio_ : ndarray of shape (n_components_,)
        Their shares of the sum of all positive ones.
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
    >>> from mercer import KANMM
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> model = make_pipeline(KANMM(n_components=3), KNeighborsClassifier(1))
    >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    True
    """

    eigenvalues_: NDArray[np.float64]
    explained_ratio_: NDArray[np.float64]

    _method = "kanmm"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kanmm", class_weight=CLASS_WEIGHT)

    def __init__(
        self,
        n_components: int | None = None,
        n_neighbors: int = 10,
        *,
        neighbors: Neighbors = "exact",
        n_queries: int | None = None,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.n_queries = n_queries
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.task = task
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose


class KPCA(_BySums):
    """KPCA, kernel principal components: directions in which the rows vary most, with pre-images. It needs no labels.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: all with an eigenvalue above 1e-10 of the largest. More than there are is refused.
    center : bool, default=True
        Whether the mean is subtracted in the kernel's space first.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kpca" with the same `n_components` and `center`, whose coordinates are
        the features. Settings beyond the kernel's come with a `KernelBasis`,
        `KPCA(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
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
    components_ : ndarray of shape (n_components_, m)
        The directions in the basis' coordinates, orthonormal.
    offset_ : ndarray of shape (n_components_,)
        Subtracted from the features; zeros where the basis is centred itself, as its own is.
    eigenvalues_ : ndarray of shape (n_components_,)
        Eigenvalues of the (centred) kernel matrix, descending.
    explained_ratio_ : ndarray of shape (n_components_,)
        Their shares of its trace.
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
    >>> import numpy as np
    >>> from sklearn.decomposition import KernelPCA
    >>> from mercer import KernelBasis, KPCA
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> ours = KPCA(n_components=4, basis=KernelBasis("kobl", gamma=0.2, threshold=0.0)).fit(X)
    >>> theirs = KernelPCA(4, kernel="rbf", gamma=0.2).fit(X)
    >>> bool(np.allclose(ours.eigenvalues_, theirs.eigenvalues_))
    True

    Kernel settings may be given here as well:

    >>> short = KPCA(n_components=4, kernel="rbf", gamma=0.2).fit(X)
    >>> bool(np.allclose(short.eigenvalues_, theirs.eigenvalues_))
    True
    """

    eigenvalues_: NDArray[np.float64]
    explained_ratio_: NDArray[np.float64]

    _method = "kpca"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kpca")

    def __init__(
        self,
        n_components: int | None = None,
        center: bool = True,
        *,
        basis: Basis = None,
        kernel: AnyKernel | None = None,
        gamma: Gamma | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        precision: Precision | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.task = task
        self.precision = precision
        self.device = device
        self.verbose = verbose

    def _own_basis(self) -> dict[str, Any]:
        return {"center": self.center, "n_components": self.n_components}

    def _needs_y(self) -> bool:
        return self._known_basis()._needs_y()
