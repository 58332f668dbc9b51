"""Extractors: directions in the coordinates of a kernel basis that serve the labels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._catalogue import EXTRACTORS, as_seed, as_text, limits
from mercer._fit import Settings, warn
from mercer._input import Task, as_csr
from mercer._mapped import KERNEL_SETTINGS, LIMITS, Basis, Mapped
from mercer.basis import KernelBasis
from mercer.select import RandomState

__all__ = ["AKDAQR", "GDA", "KANMM", "KLFE", "KMFA", "KOC", "KPCA", "KPLS", "SKFE"]


def _limits(method: str, **others: list[Any]) -> dict[str, list[Any]]:
    return {**limits(EXTRACTORS[method]), **others, **LIMITS}


class _Extractor(Mapped):
    """What all extractors share: a class of its own is its parameters."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = LIMITS
    _warning: ClassVar[type[Warning]] = UserWarning  # what its warnings are

    components_: NDArray[np.float64]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the basis and find directions in its coordinates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,)
            Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
            numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
            than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides. `KPLS`
            takes both, `KPCA` looks at none unless its basis does, the others need classes.

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
        self._validate_params()
        seed = as_seed(getattr(self, "random_state", None))
        found = self._fit(X, y, self._settings(seed), seed=seed, task=self.task)
        if found.directions is not None:
            self._keep_directions(found.directions)
        warn(found.basis_warnings, stacklevel=2)
        warn(found.warnings, stacklevel=2, category=self._warning)
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
        others = ("basis", *KERNEL_SETTINGS, "precision", "device", "verbose", "task", "random_state")
        return [(name, as_text(value)) for name, value in values.items() if value is not None and name not in others]


class KLFE(_Extractor):
    """KLFE, kernel local feature extraction: directions in which misses are farther away than hits.

    Eigenvectors of the difference of two scatters, of rows and their nearest of other classes and of rows and their
    nearest of their own, each scaled by the root of its eigenvalue.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: all with a positive eigenvalue. More than there are is refused.
    n_neighbors : int, default=5
        Hits (rows of the own class) and misses (of all others together) that a row is compared with.
    metric : {"kernel", "l1", "l2"}, default="kernel"
        The distance by which these are the nearest: that of the kernel's space, or the L1 distance (equation 5 of the
        paper) or L2 distance of the rows, which a precomputed kernel does not know.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        says what share of the true ones was found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Rows, drawn at random, that are compared with their neighbours and stand for all. None: all rows, which takes
        time in proportion to their square.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kpca" (uncentred), beyond 5000 rows "rpcholesky" with a warning.
        Settings beyond the kernel's come with a `KernelBasis`, `KLFE(basis=KernelBasis("kpca", n_components=100))`, and
        all can be searched as `basis__NAME`.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    random_state : int, RandomState instance or None, default=None
        Seed of that draw, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "klfe"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("klfe")

    def __init__(
        self,
        n_components: int | None = None,
        n_neighbors: int = 5,
        *,
        metric: str = "kernel",
        neighbors: str = "exact",
        n_queries: int | None = None,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: str | None = None,
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
        Number of features. None: one a class. More than there are is refused.
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
        Move so many points of the input space, from k-means centres on, until the subspace that their images span
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
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    random_state : int, RandomState instance or None, default=None
        Seed of a random start, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "skfe"
    _warning = ConvergenceWarning
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("skfe")

    def __init__(
        self,
        n_components: int | None = None,
        init: str = "koc",
        max_iter: int = 50,
        tol: float = 1e-6,
        center: bool = False,
        *,
        criterion: str = "alignment",
        points: int | None = None,
        reg: float = 0.1,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: str | None = None,
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


class GDA(_Extractor):
    """GDA, generalised discriminant analysis: class means far apart relative to the scatter of the rows.

    Linear discriminant analysis in the basis' coordinates; with two classes, the kernel Fisher discriminant.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: the number of classes less one. More than there are is refused.
    reg : float, default=0.1
        Share of the mean total scatter that is added to the diagonal; 0: none, on the range of the scatter alone.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with as many components as the left-out error of the labels asks
        for, beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `GDA(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "gda"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("gda")

    def __init__(
        self,
        n_components: int | None = None,
        reg: float = 0.1,
        *,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        precision: str | None = None,
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
        self.task = task
        self.precision = precision
        self.device = device
        self.verbose = verbose


class KOC(_Extractor):
    """KOC, kernel orthogonal centroids: an orthonormal basis of the class centroids.

    One feature a class, but for classes whose centroid those before it span, which are left out with a warning; with
    `n_clusters` one a cluster.

    Parameters
    ----------
    n_clusters : int, default=1
        Take the centroids of so many k-means clusters of every class, found in the basis' coordinates.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with as many components as the left-out error of the labels asks
        for, beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KOC(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusters, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("koc")

    def __init__(
        self,
        n_clusters: int = 1,
        *,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: str | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.task = task
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose


class AKDAQR(_Extractor):
    """AKDA/QR: discriminant analysis among the images of the class means.

    The means of the classes' rows are the landmarks, so that c kernel values turn a row into its features: fast on many
    rows, and a rough picture where a class is not about its mean. A precomputed kernel is refused: it knows no means.

    Parameters
    ----------
    reg : float, default=1e-3
        Share of the mean total scatter that is added to the diagonal; 0: none, on the range of the scatter alone.
    n_components : int, default=None
        Number of features, at most one a class. None: one less than there are classes. With one a class the last is the
        direction of the class means' span that the others leave; it separates nothing, so that its eigenvalue is 0.
    basis : KernelBasis, str or None, default=None
        Whose kernel, gamma and random state are used; the basis itself is "gram-schmidt" on the class means. Rules for
        gamma look at the rows, not at the means. Searched as `basis__NAME`. Its few coordinates are always computed in
        float64.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "akda-qr"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed for name, allowed in _limits("akda-qr").items() if name not in ("precision", "random_state")
    }

    def __init__(
        self,
        reg: float = 1e-3,
        *,
        n_components: int | None = None,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
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
        self.task = task
        self.device = device
        self.verbose = verbose

    def _name_basis(self, basis: KernelBasis, found: _core.Fitted) -> None:
        super()._name_basis(basis, found)
        basis.landmarks = as_csr(found.landmarks, self.n_features_in_, spmatrix=basis._has_spmatrix)
        basis.set_params(threshold=None, tol=None, n_components=None, center=False, precision=None)


class KPLS(_Extractor):
    """KPLS, kernel partial least squares: directions of largest covariance with the labels, one after another.

    The labels may be classes or numbers. Features are the x-scores, which are orthogonal on the training rows.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: two a class, 10 for numbers, or as many as there are; more than there are is refused.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with as many components as the left-out error of the labels asks
        for, beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KPLS(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "kpls"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kpls")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        precision: str | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.basis = basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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
        The basis, or its method's name; None: "kfa" with as many components as the left-out error of the labels asks
        for, beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KMFA(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        precision: str | None = None,
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


class KANMM(_Extractor):
    """KANMM, kernel average neighbourhood margin maximisation: orthonormal directions of the largest mean margin.

    As `KLFE`, but neighbours are averaged, and directions are not scaled.

    Parameters
    ----------
    n_components : int, default=None
        Number of features. None: all with a positive eigenvalue. More than there are is refused.
    n_neighbors : int, default=5
        Hits (rows of the own class) and misses (of all others together) that a row is compared with.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found: all that are nearest, or about 95 % of them by an IVF index, with a warning that
        says what share of the true ones was found on a sample of rows. Classes of fewer than 20 000 rows are searched
        exactly all the same, and all of them if fewer rows than that are compared with their neighbours.
    n_queries : int, default=None
        Rows, drawn at random, that are compared with their neighbours and stand for all. None: all rows, which takes
        time in proportion to their square.
    basis : KernelBasis, str or None, default=None
        The basis, or its method's name; None: "kfa" with as many components as the left-out error of the labels asks
        for, beyond 5000 rows "rpcholesky" of 1000. Settings beyond the kernel's come with a `KernelBasis`,
        `KANMM(basis=KernelBasis("kpca", n_components=100))`, and all can be searched as `basis__NAME`.
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    random_state : int, RandomState instance or None, default=None
        Seed of that draw, and of a basis that is not a `KernelBasis` with a seed of its own. None means 0.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "kanmm"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kanmm")

    def __init__(
        self,
        n_components: int | None = None,
        n_neighbors: int = 5,
        *,
        neighbors: str = "exact",
        n_queries: int | None = None,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        random_state: RandomState = None,
        precision: str | None = None,
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
        self.task = task
        self.random_state = random_state
        self.precision = precision
        self.device = device
        self.verbose = verbose


class KPCA(_Extractor):
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
    kernel : str or None, default=None
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
        What the labels are ("classification" and "regression" mean the same); "auto" looks at them, as `fit` says. It
        counts for the basis, too: the `task` of a `KernelBasis` is used only where that is fitted alone.
    precision : {"single", "double"} or None, default=None
        What a basis that is made from a name, and all that is computed from its coordinates, is computed in: "single"
        takes half the memory and, where matrix products dominate, less time. None: that of X, "single" for
        dense float32, which is then read where it lies. A `KernelBasis` has its own. Only the bases "kobl", "sparse",
        "nystrom", "rpcholesky" and "kfa" can be in float32.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA card), "cuda:1" (the one with that
        number) or "auto" (a card if there is one and it has the formulas). Rows that lie on a card are computed with
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

    _method = "kpca"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = _limits("kpca")

    def __init__(
        self,
        n_components: int | None = None,
        center: bool = True,
        *,
        basis: Basis = None,
        kernel: str | None = None,
        gamma: float | str | None = None,
        degree: int | None = None,
        coef0: float | None = None,
        task: Task = "auto",
        precision: str | None = None,
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
