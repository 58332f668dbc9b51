"""The compiled part: arrays in, arrays out. Not for users; `mercer` is."""

from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

Numbers: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Numbers | csr_array | csr_matrix  # C order; CSR without duplicates, sorted, in double precision
Target: TypeAlias = NDArray[np.int64] | Numbers | list[str]
# Values, column indices and row starts, as SciPy takes them.
SparseParts: TypeAlias = tuple[Numbers, NDArray[np.int64], NDArray[np.int64]]

# Rows to learn from and rows to be asked about, a split each.
Splits: TypeAlias = list[tuple[NDArray[np.intp], NDArray[np.intp]]]

class Judged(TypedDict):
    """What a judge said: codes of classes or numbers, and how many kernel values a prediction costs."""

    predictions: NDArray[np.intp] | Numbers
    support: int
    warnings: list[str]

class Expansion(TypedDict):
    """What `transform` needs: z(x) = matrix · k(scaled x, landmarks) − offset."""

    kernel: str
    gamma: float
    degree: int
    coef0: float
    alpha: float
    n_inputs: int
    landmarks: Rows | None
    pivots: NDArray[np.intp]
    matrix: Numbers
    offset: Numbers
    origin: Numbers | None
    scaling: tuple[Numbers, Numbers] | None
    input_names: list[str] | None

class Model(Expansion):
    """What a model file holds."""

    method: str
    feature_names: list[str]
    scores: Numbers
    pivot_norms: Numbers
    eigenvalues: Numbers
    facts: str

class FittedBasis(Model):
    """What a fit gives. Sparse landmarks are `SparseParts` here, as in what `load` returns."""

    residual: float
    trace: float
    precision: str
    rounding_error: float | None
    n_kernel_evaluations: int
    warnings: list[str]
    features: NDArray[Any] | None

class Selection(TypedDict):
    """What a selector finds."""

    scores: Numbers
    support: NDArray[np.bool_]
    ranking: NDArray[np.intp]
    pvalues: Numbers | None
    order: NDArray[np.intp] | None
    error_path: Numbers
    weights: Numbers | None
    penalty: float | None
    sums: FSums | None  # the F-test's
    classes: list[str] | None
    chosen: NDArray[np.bool_] | None
    warnings: list[str]

class FSums(TypedDict):
    """Sums of the F-test so far."""

    sizes: Numbers
    target: list[float] | None
    columns: Numbers

class Extraction(TypedDict):
    """What an extractor finds; empty arrays where it has no such thing."""

    components: Numbers
    offset: Numbers
    eigenvalues: Numbers
    explained: Numbers
    alignment_path: Numbers
    warnings: list[str]
    model: Model

class Automatic(TypedDict):
    """What features without choices are: their map, that of their basis, and the advice that was followed, as JSON."""

    model: Model
    basis: Model
    advice: str
    warnings: list[str]

class Moments(TypedDict):
    """Sums over rows so far."""

    n_features: int
    n: float
    shift: Numbers
    mean: Numbers
    scatter: Numbers

class Summary(TypedDict):
    """What such sums say."""

    n: float
    mean: Numbers
    target_mean: Numbers
    total: Numbers
    cross: Numbers
    target_total: Numbers
    gram: Numbers
    sums: Numbers
    between: Numbers

class Margins(TypedDict):
    """Sums over pairs of rows so far."""

    hits: Numbers
    misses: Numbers

__version__: str

class NumericalError(ArithmeticError): ...

def catalogue() -> str: ...
def n_threads() -> int: ...
def decide(y: Target, *, task: str = "auto") -> tuple[NDArray[np.intp] | Numbers, list[str] | None]: ...
def fit_basis(
    X: Rows | NDArray[np.float32],
    y: Target | None,
    method: str,
    settings: list[tuple[str, str]],
    *,
    landmarks: Rows | None = None,
    center: bool = False,
    precision: str | None = None,
    want_features: bool = False,
    verbose: int = 0,
) -> FittedBasis: ...
def grow_basis(
    X: Rows | NDArray[np.float32],
    settings: list[tuple[str, str]],
    so_far: Model | None = None,
    trace: float = 0.0,
    *,
    verbose: int = 0,
) -> FittedBasis: ...
def f_accumulate(
    state: FSums | None, X: Rows, y: Target, classes: list[str] | None = None, *, verbose: int = 0
) -> FSums: ...
def f_finish(state: FSums, selector: str, settings: list[tuple[str, str]]) -> Selection | None: ...
def fit_selector(
    X: Rows | NDArray[np.float32],
    y: Target | None,
    selector: str,
    settings: list[tuple[str, str]],
    *,
    categorical: list[int] | None = None,
    space: tuple[Expansion, Rows | NDArray[np.float32]] | None = None,
    task: str = "auto",
    verbose: int = 0,
) -> Selection: ...
def check_extractor(
    y: Target | None, extractor: str, settings: list[tuple[str, str]], *, task: str = "auto"
) -> None: ...
def fit_extractor(
    X: Rows | NDArray[np.float32],
    y: Target | None,
    extractor: str,
    settings: list[tuple[str, str]],
    basis_model: Model,
    *,
    task: str = "auto",
    verbose: int = 0,
) -> Extraction: ...
def class_means(X: Rows | NDArray[np.float32], y: Target, kernel: str) -> Numbers | SparseParts: ...
def moments_of_nothing(n_features: int, n_targets: int) -> Moments: ...
def moments_accumulate(state: Moments, Z: Numbers, Y: Numbers) -> Moments: ...
def moments_merge(state: Moments, other: Moments) -> Moments: ...
def moments_finish(state: Moments) -> Summary: ...
def margins_of_nothing(n_features: int) -> Margins: ...
def margins_accumulate(
    state: Margins, side: str, A: Numbers, B: Numbers, weights: Numbers | None = None
) -> Margins: ...
def margins_merge(state: Margins, other: Margins) -> Margins: ...
def default_basis(method: str, n: int) -> tuple[str, list[str]]: ...
def compose(
    model: Model, columns: list[int], weights: list[float] | None, scores: list[float], method: str
) -> Model: ...
def reconstruction_cost(expansion: Expansion, X: Rows, *, verbose: int = 0) -> float: ...
def residuals(expansion: Expansion, X: Rows, left: float, *, verbose: int = 0) -> Numbers: ...
def orthogonality_loss(expansion: Expansion, X: Rows | None = None, *, verbose: int = 0) -> float: ...
def transform(expansion: Expansion, X: Rows | NDArray[np.float32], *, verbose: int = 0) -> NDArray[Any]: ...
def inverse_transform(expansion: Expansion, features: Rows, *, verbose: int = 0) -> Numbers: ...
def input_importance(expansion: Expansion, X: Rows, *, verbose: int = 0) -> Numbers: ...
def save(model: Model, path: str) -> None: ...
def load(path: str) -> Model: ...
def kernel_alignment(K: Rows, y: Target, *, center: bool = False, task: str = "auto") -> float: ...
def relevant_dimension(K: Rows, y: Target, *, task: str = "auto") -> tuple[int, float]: ...
def folds(y: Target, k: int, *, repeats: int = 1, seed: int = 0, task: str = "auto") -> tuple[Splits, list[str]]: ...
def splits(
    y: Target, test_share: float, *, repeats: int = 1, seed: int = 0, task: str = "auto"
) -> tuple[Splits, list[str]]: ...
def compare(
    X: Rows,
    y: Target,
    methods: list[str],
    settings: list[tuple[str, str]],
    *,
    gammas: list[str],
    sizes: list[int | None],
    judges: list[str],
    knn: int = 1,
    scale: str = "standard",
    folds: int = 5,
    repeats: int = 1,
    test_share: float | None = None,
    seed: int = 0,
    memory: int | None = None,
    n_threads: int | None = None,
    task: str = "auto",
    verbose: int = 0,
) -> str: ...
def advise(
    X: Rows,
    y: Target,
    *,
    scale: str = "standard",
    seed: int = 0,
    memory: int | None = None,
    task: str = "auto",
    verbose: int = 0,
) -> str: ...
def fit_auto(
    X: Rows, y: Target, *, max_components: int, seed: int = 0, task: str = "auto", verbose: int = 0
) -> Automatic: ...
def judge(
    X: Rows,
    y: Target,
    T: Rows,
    name: str,
    *,
    n_neighbors: int = 1,
    c: float | None = None,
    gamma: float | None = None,
    seed: int = 0,
    task: str = "auto",
    verbose: int = 0,
) -> Judged: ...
def svm_dual(X: Rows, y: Target, c: float, gamma: float, *, task: str = "auto") -> tuple[Numbers, float]: ...
