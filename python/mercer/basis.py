"""Coordinates of a kernel's space: `KernelBasis`."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_non_negative

from mercer import _core
from mercer._catalogue import SPECS, allowed, as_seed, as_texts, stage
from mercer._device import DEVICE, GpuRows, device_for, is_on_gpu, to_host
from mercer._fit import Settings, features, fit, input_names, warn
from mercer._input import (
    FLOATS,
    TASKS,
    Task,
    as_csr,
    as_given,
    as_rows,
    as_target,
    categories_as_text,
    check_names_in,
    checked_array,
    in_frame,
    is_collection,
    is_lazy,
    is_partitioned,
    is_several,
    refuse_collections,
    row_weights,
    validated,
)
from mercer._words import Gamma, Method, Precision
from mercer.kernel import AnyKernel, has_width, is_plain

# Which parameters of the catalogue each basis uses.
_USED: dict[str, list[str]] = {name: SPECS[name]["parameters"] for name in stage("basis")}


def _grows(basis: KernelBasis) -> bool:
    """Return True if such a basis takes batches; else raise what is in the way, which scikit-learn passes on."""
    if basis.method != "sparse":
        raise AttributeError(
            f"the basis {basis.method or 'kobl'!r} looks at all rows at once; only 'sparse' grows batch by batch\n"
            "hint: mercer.read_rows makes one matrix of batches, which need not fit into memory"
        )
    if is_plain(basis.kernel, "precomputed") or basis.landmarks is not None:
        raise AttributeError("a basis that grows chooses among rows that arrive, not among columns or given landmarks")
    if has_width(basis.kernel) and not isinstance(basis.gamma, Real) and basis.gamma != "auto":
        raise AttributeError(
            f"gamma = {basis.gamma!r} is a rule that would have to see all rows\n"
            "hint: give a number, such as the `gamma_` of a fit on the first rows, or 'auto', which is 1/p"
        )
    return True


class KernelBasis(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Coordinates in the space of a kernel, orthonormal there.

    Features of a row are z(x) = A k(x, landmarks), where A makes them the coordinates of x's image in an orthonormal
    basis of the landmarks' images. Inner products of features are kernel values, as far as the landmarks reach.

    Data is never scaled here; put a `StandardScaler` before it.

    Parameters
    ----------
    method : str or None, default=None
        "kobl", "gram-schmidt", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans" or "csi". How landmarks are
        chosen: the row farthest from the span so far ("kobl"), rows in their own order
        ("gram-schmidt"), rows in random order that are not nearly spanned ("sparse"), principal components ("kpca"),
        uniformly at random ("nystrom"), at random in proportion to the squared distance from the span
        ("rpcholesky"), of a few rows drawn so the one that explains most of the kernel ("kfa"), centres of k-means
        clusters, which are not rows ("kmeans"; not for a precomputed kernel), or rows that explain kernel and labels
        ("csi", which needs `y`). None: "kobl", unless `n_components` is given without `threshold` and `tol`: then
        "kfa", or "rpcholesky" beyond 5000 rows, whose first landmarks count for more.
    kernel : str, Kernel or callable, default="rbf"
        "rbf", "laplacian", "linear", "poly", "sigmoid", "cosine", "matern12", "matern32", "matern52", "rq", "chi2",
        "additive_chi2", "match" or "precomputed"; a weighted sum of products of these, also on groups of columns, as
        text ("0.5*rbf(gamma=0.1)+match(columns=3:5)") or as a `Kernel`; or a function of two blocks of dense rows,
        f(X, Z)[i, j] = k(X[i], Z[j]), which is called once a panel of rows with float64 arrays. Models with a function
        cannot be saved; they are pickled if the function can be. With "precomputed", `fit` takes the square kernel
        matrix of the training rows and `transform` the kernel values of new rows against all training rows.
    gamma : float, {"scale", "auto", "median", "align", "loo"} or None, default=None
        Width of the kernel, or the rule that finds it: 1/(p var X), 1/p, from the median distance, by kernel-target
        alignment, or by leave-one-out error. The last two need `y`. None: "loo" where `fit` is given `y`, else "median"
        where there are more columns than rows, else "scale". In sums and products it is the width of the parts without
        one: the first three rules find that of every part on its own columns, the others one number that multiplies
        the "scale" of all of them.
    degree : int, default=3
        Degree of "poly".
    coef0 : float, default=1.0
        Constant of "poly" and "sigmoid".
    alpha : float, default=1.0
        Exponent of "rq".
    input_weights : bool, default=False
        Whether to learn a weight for every column from `y` first, as `InputWeights` does, so that the kernel sees what
        matters. `landmarks_` and `gamma_` are then those of weighted columns.
    n_components : int, "relevant" or None, default=None
        The most components. "relevant" keeps the first components, as many as are relevant for `y` (the relevant
        dimension of Braun, Buhmann and Müller 2008); the components of "nystrom" and "kmeans" have no order. None: as
        many as the rule of the method keeps, at most 1000 beyond 5000 rows ("kobl", "sparse", "csi"); min(n, 1000)
        ("nystrom", "rpcholesky", "kfa", "kmeans"); all there are ("gram-schmidt", "kpca").
    threshold : "linear", float, ("power", a), callable or None, default=None
        The stop rule of TAKES for "kobl": it ends when r/r1 < f(j/n), with r the distance of the next row from the
        span, r1 that of the first and j the number taken: f(t) = t, a constant f in [0, 1] (0.0: only `n_components`
        stops it), f(t) = t**a, or a function of t with values in [0, 1] that never falls; it is read at 10001 places
        between 0 and 1, with straight lines between. None: `tol` decides.
    tol : float, default=None
        "kobl" and "sparse": squared distance from the span, relative to the variance in the kernel's space, at which
        the residual of a row is small (None: 0.03). "gram-schmidt": residual norm, relative to the row's own, at which
        a row is skipped (None: 1e-6). "kpca": share of the trace to keep (None: every eigenvalue above 1e-10 of the
        largest). "csi": mean squared residual, relative to the variance
        between rows, at which it stops (None: 0.001).
    nu : float, default=None
        "sparse": share of k(x, x) that must be new for a row to be kept. None: `tol` decides; in `partial_fit`, which
        does not know what varies, 0.1.
    candidates : int or "all", default=10
        "kfa": rows drawn, of which the best becomes the next landmark. "all" compares all rows, and needs 8 n**2 bytes.
    landmarks : {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
        Choose among these rows instead of the training rows, by the same rules: with "kobl", `threshold=0.0` keeps all
        of them that are independent, as "nystrom" does.
    center : bool, default=False
        "kpca": centre in the kernel's space, as classical kernel PCA does.
    precision : {"single", "double"} or None, default=None
        What "kobl", "sparse", "nystrom", "rpcholesky" and "kfa" compute the coordinates of all rows in: "single" takes
        half the memory and two thirds of the time, and ends where it cannot tell rows apart, with a warning. Pivots and
        `coefficients_` are found in float64. None: that of X, "single" for dense float32, which is then read
        where it lies; the other methods are always float64.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `fit`. Used
        only where the basis is fitted alone; as the basis of another estimator, that one's `task` counts.
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
    n_components_ : int
        Number of features m.
    n_support_ : int
        Number of training rows that the features of a row need: landmarks with a coefficient that is not 0.
    method_ : str
        How landmarks were chosen.
    pivots_ : ndarray of shape (n_landmarks,)
        Indices of the chosen rows, in the order chosen, into the training rows (or into `landmarks`). Empty for
        "kpca", which uses all rows, unless the kernel matrix did not fit into memory, and for "kmeans".
    pivot_norms_ : ndarray of shape (n_landmarks,)
        Distance of each chosen row from the span of those before it. Empty for "kpca".
    landmarks_ : {ndarray, sparse matrix} of shape (n_landmarks, n_features) or None
        The chosen rows, or the centres that "kmeans" found; None for a precomputed kernel.
    coefficients_ : ndarray of shape (n_components_, n_landmarks)
        A.
    offset_ : ndarray of shape (n_components_,)
        Subtracted from A k(x, landmarks): the features of the mean for centred "kpca", else 0.
    origin_ : ndarray of shape (n_landmarks,) or None
        Centred "kpca": the mean image as weights of the landmarks, from which `inverse_transform` starts. Else None.
    gamma_ : float
        The width used; 1.0 for kernels without one, and for sums and products, whose widths are in `kernel_`.
    kernel_ : str
        The kernel with its widths as numbers, "rbf(gamma=0.1)".
    input_weights_ : ndarray of shape (n_features_in_,)
        The weights of the columns, with a mean square of 1; all 1 without `input_weights`.
    eigenvalues_ : ndarray of shape (n_components_,)
        "kpca" only: eigenvalues of the (centred) kernel matrix, descending.
    residual_ : float
        Mean squared distance of the training rows from the span, over the mean of k(x, x); for centred "kpca" the
        share of the centred trace that is left out. After `partial_fit` a bound on it: what was left of every row when
        it came.
    n_samples_seen_ : int
        Number of rows in `fit`, or in all batches.
    precision_ : {"single", "double"}
        What the coordinates of the training rows were computed in.
    rounding_error_ : float or None
        In float32, the largest error of a feature or of a row's squared distance from the span, relative to
        the largest sqrt(k(x, x)) or k(x, x), among up to 256 training rows that were recomputed in float64. Else
        None.
    n_kernel_evaluations_ : int
        Kernel values that the fit computed.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all were strings.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import KernelBasis
    >>> X, y = make_circles(300, factor=0.5, noise=0.05, random_state=0)
    >>> RidgeClassifier().fit(X, y).score(X, y) < 0.7
    True
    >>> model = make_pipeline(KernelBasis("kobl", n_components=30), RidgeClassifier())
    >>> model.fit(X, y).score(X, y)
    1.0
    >>> basis = KernelBasis("kobl", n_components=30).fit(X.astype("float32"))
    >>> basis.precision_, basis.rounding_error_ < 1e-4
    ('single', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions(set(_USED)), None],
        **{name: allowed(name) for used in _USED.values() for name in used if name != "seed"},
        "landmarks": ["array-like", "sparse matrix", None],
        "task": TASKS,
        "random_state": ["random_state"],
        "device": DEVICE,
        "verbose": ["verbose"],
    }

    _takes_partitions = True
    _takes_several = True
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _model: _core.Model
    _has_spmatrix: bool  # sparse landmarks are a `csr_matrix`, as the rows were, not a `csr_array`

    def __init__(
        self,
        method: Method | None = None,
        *,
        kernel: AnyKernel = "rbf",
        gamma: Gamma | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        alpha: float = 1.0,
        input_weights: bool = False,
        n_components: int | Literal["relevant"] | None = None,
        threshold: Literal["linear"] | float | tuple[Literal["power"], float] | Callable[[float], float] | None = None,
        tol: float | None = None,
        nu: float | None = None,
        candidates: int | Literal["all"] = 10,
        landmarks: Any = None,
        center: bool = False,
        precision: Precision | None = None,
        task: Task = "auto",
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.input_weights = input_weights
        self.n_components = n_components
        self.threshold = threshold
        self.tol = tol
        self.nu = nu
        self.candidates = candidates
        self.landmarks = landmarks
        self.center = center
        self.precision = precision
        self.task = task
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the basis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,), default=None
            Labels, looked at by the method "csi" and to find gamma, unless that is a number or a rule that does
            without. Several columns of numbers count the same. Text, booleans, categories and whole numbers are
            classes; fractions are numbers. Whole numbers are numbers, too, if more than 20 and more than
            sqrt(n_samples) of them are distinct and the rarest occurs fewer than 5 times; where that is not obvious, a
            warning says what they were read as. `task` overrides.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same.
            "rpcholesky", "nystrom" and "kfa" draw rows in proportion; "kobl", "sparse" and "gram-schmidt" choose the
            same rows however often each is there, so that weights matter for gamma alone; "kmeans", "csi" and "kpca"
            take none (`KPCA` does).

        Returns
        -------
        self : KernelBasis
            The fitted basis.

        Examples
        --------
        >>> from mercer import KernelBasis
        >>> KernelBasis("kobl", gamma=1.0).fit([[0.0], [1.0], [5.0]]).pivots_
        array([0, 2, 1])
        """
        self._fit(X, y, sample_weight, want_coordinates=False)
        return self

    @available_if(_grows)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Let the basis grow by a batch of rows; for the method "sparse".

        A row is kept if more than `nu` of k(x, x) is new to the rows kept so far, in the order of arrival, whatever the
        batches are. The basis is all that is remembered, so that batches can go on for ever; without `n_components` it
        takes at most 1000 rows. After `fit` it grows on; `fit` starts afresh. It computes in float64.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The batch.
        y : None
            Not looked at.

        Returns
        -------
        self : KernelBasis
            The basis so far. `pivots_` count rows as they came.

        Notes
        -----
        `gamma` must be a number or "auto", because another rule would have to see all rows; else, and for other
        methods, there is no `partial_fit`. `mercer.read_rows` makes one matrix of batches for them.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelBasis
        >>> basis = KernelBasis("sparse", gamma=0.5, nu=0.2)
        >>> for seed in range(5):
        ...     batch = np.random.default_rng(seed).normal(size=(1000, 2))
        ...     basis = basis.partial_fit(batch)
        >>> basis.n_samples_seen_, bool(basis.residual_ < 0.2)
        (5000, True)
        """
        self._validate_params()
        refuse_collections(type(self).__name__, "fit", X=X)
        first, device = not hasattr(self, "_model"), device_for(X, self.device)
        X = self._non_negative(validated(self, X, reset=first, **self._checks()))
        model, warnings = _core.grow(
            as_given(X),
            [(name, text) for name, text in self._settings() if name != "seed"],
            None if first else self._model,
            input_names=input_names(self),
            device=device,
            verbose=int(self.verbose),
        )
        self._model = model
        if first:
            self._has_spmatrix = isinstance(X, sparse.spmatrix)
        warn(warnings, stacklevel=2)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the basis and return the features of the training rows, which the fit mostly has already.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; with a precomputed kernel, their square kernel matrix.
        y : array-like of shape (n_samples,), default=None
            Labels, as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, as in `fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Features: float32 where X is, else float64. Where X is an array of CuPy or PyTorch on a GPU, so is Z.

        Examples
        --------
        >>> from mercer import KernelBasis
        >>> Z = KernelBasis("kobl", kernel="linear").fit_transform([[3.0, 4.0], [0.0, 0.0]])
        >>> Z.round(12) + 0.0
        array([[5.],
               [0.]])
        """
        # The fit's coordinates come back as an array of NumPy; on a GPU they are computed again, and stay there.
        there = is_on_gpu(X)
        rows, coordinates = self._fit(X, y, sample_weight, want_coordinates=not there)
        if there or coordinates is None or len(coordinates) != rows.shape[0]:
            return features(self._model, rows, device=device_for(X, self.device), verbose=self.verbose)
        return coordinates.astype(rows.dtype, copy=False)

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, want_coordinates: bool) -> tuple[Any, NDArray[Any] | None]:
        """Find the basis; return the rows as they were checked and, if wanted, their coordinates."""
        self._validate_params()
        device, target = device_for(X, self.device), None
        if self._looks_at(y):
            X, y = validated(self, X, categories_as_text(y), **self._checks())
            target = None if is_partitioned(X) else as_target(y)
        else:
            X = validated(self, X, **self._checks())
        X = self._non_negative(X)
        found = fit(
            self,
            X,
            target,
            self._settings_of_basis(),
            task=self.task,
            want_coordinates=want_coordinates,
            weights=row_weights(self, X, y, sample_weight),
            device=device,
            verbose=self.verbose,
        )
        self._keep(found.basis, X)
        warn(found.basis_warnings, stacklevel=3)
        return X, found.coordinates

    def _settings_of_basis(self) -> _core.BasisSettings:
        """Return the method, its settings and the landmarks as `_core` takes them."""
        landmarks = self.landmarks
        if landmarks is not None:
            landmarks = as_rows(
                checked_array(type(self).__name__, landmarks, input_name="landmarks", accept_sparse="csr")
            )
        return self._method(), list(self._settings()), landmarks

    def _method(self) -> str:
        """Return the method; "default" leaves it to the number of rows."""
        if self.method is not None:
            return self.method
        by_rule = self.n_components in (None, "relevant") or self.threshold is not None or self.tol is not None
        return "kobl" if by_rule else "default"

    def _settings(self) -> Settings:
        """Return the settings that the method uses, and those that it refuses where they are not the defaults."""
        values = {**self.get_params(deep=False), "seed": as_seed(self.random_state), "center": self.center or None}
        used = _USED[{"default": "rpcholesky"}.get(self._method(), self._method())]
        names = dict.fromkeys([*used, "center", "precision"])
        return as_texts({name: values[name] for name in names})

    def _keep(self, model: _core.Model, X: Any) -> None:
        """Keep what was found in these rows."""
        self._model = model
        self._has_spmatrix = isinstance(X, sparse.spmatrix)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    @property
    def _fitted(self) -> _core.Model:
        check_is_fitted(self)
        return self._model

    @property
    def n_components_(self) -> int:
        """Number of features."""
        return self._fitted.n_features

    @property
    def n_support_(self) -> int:
        """Number of training rows that the features of a row need."""
        return self._fitted.n_support

    @property
    def method_(self) -> Method:
        """How landmarks were chosen."""
        return cast("Method", self._fitted.method)

    @property
    def pivots_(self) -> NDArray[np.intp]:
        """Indices of the chosen rows, in the order chosen."""
        return self._fitted.pivots

    @property
    def pivot_norms_(self) -> NDArray[np.float64]:
        """Distance of each chosen row from the span of those before it."""
        return self._fitted.pivot_norms

    @property
    def landmarks_(self) -> NDArray[np.float64] | sparse.csr_array | sparse.csr_matrix | None:
        """The chosen rows; None for a precomputed kernel."""
        landmarks: Any = as_csr(self._fitted.landmarks, self.n_features_in_, spmatrix=self._has_spmatrix)
        return landmarks  # type: ignore[no-any-return]

    @property
    def coefficients_(self) -> NDArray[np.float64]:
        """What kernel values against the landmarks are multiplied by."""
        return self._fitted.matrix

    @property
    def offset_(self) -> NDArray[np.float64]:
        """What is subtracted then."""
        return self._fitted.offset

    @property
    def origin_(self) -> NDArray[np.float64] | None:
        """The mean image as weights of the landmarks, for centred "kpca"."""
        return self._fitted.origin

    @property
    def gamma_(self) -> float:
        """The width used."""
        return self._fitted.gamma

    @property
    def kernel_(self) -> str:
        """The kernel with all its widths, as text."""
        return self._fitted.kernel_text

    @property
    def input_weights_(self) -> NDArray[np.float64]:
        """The weights of the input columns."""
        scaling = self._fitted.scaling
        return np.ones(self.n_features_in_) if scaling is None else scaling[1]

    @property
    def eigenvalues_(self) -> NDArray[np.float64]:
        """Eigenvalues of the kernel matrix, for "kpca"."""
        if self._fitted.method != "kpca":
            raise AttributeError(f"the basis {self._fitted.method!r} has no eigenvalues; 'kpca' has")
        return self._fitted.eigenvalues

    @property
    def residual_(self) -> float:
        """Share of k(x, x) of the training rows that is left out."""
        return self._fitted.residual

    @property
    def n_samples_seen_(self) -> int:
        """Number of training rows."""
        return self._fitted.n_rows

    @property
    def precision_(self) -> Precision:
        """What the coordinates of the training rows were computed in."""
        return cast("Precision", self._fitted.precision)

    @property
    def rounding_error_(self) -> float | None:
        """The largest error found in float32."""
        return self._fitted.rounding_error

    @property
    def n_kernel_evaluations_(self) -> int:
        """Kernel values that the fit computed."""
        return self._fitted.n_kernel_evaluations

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
        >>> from mercer import KernelBasis
        >>> basis = KernelBasis("kobl", kernel="linear").fit([[3.0, 4.0]])
        >>> basis.transform([[6.0, 8.0], [-4.0, 3.0]]).round(12)
        array([[10.],
               [ 0.]])
        """
        rows = self._check_new(X)
        return features(self._model, rows, device=device_for(X, self.device), verbose=self.verbose)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return rows whose features come closest to the given ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Features.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features_in_)
            Pre-images. Kernels that have one: "linear", "poly" (not of an even degree with `coef0=0`), "cosine", "rbf",
            "matern12", "matern32", "matern52", "rq". Those of "cosine" are directions, as long as landmarks on average.

        Examples
        --------
        >>> from mercer import KernelBasis
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.3, 0.8]]
        >>> basis = KernelBasis("kobl", gamma=0.5, threshold=0.0).fit(X)
        >>> basis.inverse_transform(basis.transform(X)).round(6) + 0.0
        array([[0. , 0. ],
               [1. , 0.5],
               [0.3, 0.8]])
        """
        check_is_fitted(self)
        given = checked_array(type(self).__name__, X, "each block", dtype=FLOATS, order="C")
        rows = self._model.inverse_transform(as_rows(given), verbose=int(self.verbose))
        return rows.astype(given.dtype, copy=False)

    def reconstruction_cost(self, X: Any) -> float:
        """Return E(M): the mean distance of the rows' images from the span of the basis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with a precomputed kernel, the square training matrix.

        Returns
        -------
        cost : float
            0 where the basis spans all the rows. Not defined for centred "kpca".

        Examples
        --------
        >>> from mercer import KernelBasis
        >>> basis = KernelBasis("kobl", kernel="linear").fit([[3.0, 4.0]])
        >>> basis.reconstruction_cost([[6.0, 8.0], [-4.0, 3.0]])
        2.5
        """
        X = self._check_new(to_host(X))  # computed on the processor
        return self._model.reconstruction_cost(as_rows(X), verbose=int(self.verbose))

    def input_importance(self, X: Any) -> Any:
        """Return how much each feature depends on each input column, near the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the units that the basis was fitted in.

        Returns
        -------
        importance : ndarray of shape (n_components_, n_features_in_), or a dataframe
            The mean over the rows of the squared slope of the feature along the column; divide by a row's sum for
            shares. A pandas frame in, a pandas frame out, with the columns' names above and the features' at the side;
            a polars frame in, a polars frame out, with the features' names in its first column, "feature". Not
            defined for precomputed kernels.

        Examples
        --------
        >>> from mercer import KernelBasis
        >>> X = [[0.0, 0.0], [3.0, 4.0]]
        >>> KernelBasis("kobl", kernel="linear").fit(X).input_importance(X).round(12)
        array([[0.36, 0.64]])
        """
        rows = self._check_new(to_host(X))  # computed on the processor
        importance = self._model.input_importance(as_rows(rows), verbose=int(self.verbose))
        return in_frame(importance, X, self.get_feature_names_out())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features: the method's name without dashes, and a number.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Only checked: as many as there are input columns, and equal to `feature_names_in_` where that exists.

        Returns
        -------
        names : ndarray of str objects
            For example "kobl0", "kobl1".

        Examples
        --------
        >>> from mercer import KernelBasis
        >>> KernelBasis("gram-schmidt").fit([[0.0], [1.0]]).get_feature_names_out()
        array(['gramschmidt0', 'gramschmidt1'], dtype=object)
        """
        check_names_in(self, input_features)
        return np.asarray(self._model.feature_names, dtype=object)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _needs_y(self) -> bool:
        by_labels = isinstance(self.gamma, str) and self.gamma in ("align", "loo")
        of_labels = self.method == "csi" or self.input_weights or self.n_components == "relevant"
        return of_labels or (by_labels and has_width(self.kernel))

    def _looks_at(self, y: Any) -> bool:
        """Return whether labels are looked at: they must be, or they are there and of use."""
        by_labels = self.gamma is None and y is not None and has_width(self.kernel)
        # A collection is to be refused with the rows, and not to be gathered for its shape.
        if is_several(y):  # Text in several columns is of no use here.
            return self._needs_y() or (by_labels and np.asarray(to_host(y)).dtype.kind in "biuf")
        return self._needs_y() or (by_labels and (is_collection(y) or is_lazy(y) or np.asarray(to_host(y)).ndim == 1))

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._non_negative(validated(self, X, reset=False, **self._checks()))

    def _non_negative(self, X: Any) -> Any:
        # A GPU has no formula for this kernel.
        of_counts = is_plain(self.kernel, "chi2", "additive_chi2")
        if of_counts and not is_partitioned(X) and not isinstance(X, GpuRows):
            check_non_negative(X, f"KernelBasis with the kernel {self.kernel}")
        return X

    def _checks(self) -> dict[str, Any]:
        precomputed = is_plain(self.kernel, "precomputed")
        accept_sparse = False if precomputed else "csr"
        # NaN and infinity among rows are refused by the Rust side, which says at which row and column.
        return {"accept_sparse": accept_sparse, "dtype": FLOATS, "order": "C", "ensure_all_finite": precomputed}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = is_plain(self.kernel, "precomputed")
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not precomputed
        tags.input_tags.positive_only = is_plain(self.kernel, "chi2", "additive_chi2")
        tags.target_tags.required = self._needs_y()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
