"""The compiled part: arrays in, arrays and fitted models out. Not for users; `mercer` is."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

Numbers: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Numbers | csr_array | csr_matrix  # C order; CSR without duplicates, sorted, in float64
Target: TypeAlias = NDArray[np.int64] | Numbers | list[str]
# Values, column indices and row starts, as SciPy takes them.
SparseParts: TypeAlias = tuple[Numbers, NDArray[np.int64], NDArray[np.int64]]

# Name, None for the basis that a method comes with; settings; rows to choose landmarks among.
BasisSettings: TypeAlias = tuple[str | None, list[tuple[str, str]], Rows | None]

# Residual, trace, precision, rounding error, kernel evaluations, rows, what ended the fit.
PickledFit: TypeAlias = tuple[float, float, str, float | None, int, int, str]

# Rows to learn from and rows to be asked about, a split each.
Splits: TypeAlias = list[tuple[NDArray[np.intp], NDArray[np.intp]]]

class Evaluation(TypedDict):
    """Predictions, codes of classes or numbers, and how many kernel values one of them costs."""

    predictions: NDArray[np.intp] | Numbers
    support: int
    warnings: list[str]

@final
class Columns:
    """Columns that a selector has kept, and the scores of all. It cannot be changed.

    Threads share it, and a pickle holds the bytes of a model file. Arrays are made when they are asked for; they are
    read-only.
    """

    def __new__(cls, data: bytes) -> Columns: ...
    def __copy__(self) -> Columns: ...
    def __deepcopy__(self, memo: Any) -> Columns: ...
    @staticmethod
    def of(
        method: str,
        scores: Numbers,
        ranking: list[int],
        columns: list[int],
        *,
        weights: Numbers | None = None,
        pvalues: Numbers | None = None,
        input_names: list[str] | None = None,
        settings: list[tuple[str, str]] | None = None,
    ) -> Columns: ...
    def save(self, path: str) -> None: ...
    def to_onnx(self, path: str | None = None, *, dtype: str = "float64", opset: int = 17) -> bytes | None: ...
    @property
    def method(self) -> str: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def input_names(self) -> list[str] | None: ...
    @property
    def columns(self) -> NDArray[np.intp]: ...
    @property
    def ranking(self) -> NDArray[np.intp]: ...
    @property
    def scores(self) -> Numbers: ...
    @property
    def weights(self) -> Numbers | None: ...
    @property
    def pvalues(self) -> Numbers | None: ...
    @property
    def stability(self) -> Numbers | None: ...
    @property
    def facts(self) -> str: ...

@final
class RawTable:
    """Rows of mixed columns, collected batch by batch; rows beyond half the memory budget go to a temporary file."""

    def __new__(cls, names: list[str]) -> RawTable: ...
    def push(self, columns: list[tuple[str, Numbers | list[str | None]]]) -> None: ...
    def learn(
        self, categorical: list[str], missing: str, keep_row_numbers: bool, sink: Callable[[Numbers], None]
    ) -> tuple[str, list[str], list[str], list[str]]: ...
    def apply(self, encoder: str, sink: Callable[[Numbers], None]) -> list[str]: ...

@final
class Model:
    """A fitted map from rows to features, z(x) = matrix · k(scaled x, landmarks) − offset. It cannot be changed.

    Threads share it, and a pickle holds the bytes of a model file. Arrays are made when they are asked for; they are
    read-only.
    """

    def __new__(
        cls,
        data: bytes,
        fit: PickledFit | None = None,
        functions: list[tuple[str, Callable[..., Any]]] | None = None,
    ) -> Model: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, memo: Any) -> Model: ...
    @staticmethod
    def load(path: str) -> Model: ...
    def save(self, path: str) -> None: ...
    def to_onnx(
        self,
        path: str | None = None,
        *,
        dtype: str = "float64",
        features: bool = False,
        encoded: bool = False,
        opset: int = 17,
        classes: list[tuple[str, int | None]] | None = None,
    ) -> bytes | None: ...
    def transform(self, X: Rows | NDArray[np.float32], *, device: str = "cpu", verbose: int = 0) -> NDArray[Any]: ...
    def transform_to(self, X: Any, out: Any, *, verbose: int = 0) -> None: ...
    def predict(
        self, X: Rows | NDArray[np.float32], *, probabilities: bool = False, device: str = "cpu", verbose: int = 0
    ) -> Numbers: ...
    @property
    def classes(self) -> list[str] | None: ...
    @property
    def predicts(self) -> bool: ...
    def inverse_transform(self, features: Rows, *, verbose: int = 0) -> Numbers: ...
    def input_importance(self, X: Rows, *, verbose: int = 0) -> Numbers: ...
    def prediction_importance(self, X: Rows, *, verbose: int = 0) -> Numbers | None: ...
    def reconstruction_cost(self, X: Rows, *, verbose: int = 0) -> float: ...
    def residuals(self, X: Rows, *, verbose: int = 0) -> Numbers: ...
    def orthogonality_loss(self, X: Rows | None = None, *, verbose: int = 0) -> float: ...
    def with_scaling(self, center: Numbers, factor: Numbers, input_names: list[str] | None) -> Model: ...
    def with_unit_length(self, input_names: list[str] | None) -> Model: ...
    def with_input_names(self, names: list[str] | None) -> Model: ...
    def compose(self, columns: list[int], scores: list[float], method: str, selector: str) -> Model: ...
    @property
    def method(self) -> str: ...
    @property
    def kernel(self) -> str: ...
    @property
    def kernel_text(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def degree(self) -> int | None: ...
    @property
    def coef0(self) -> float | None: ...
    @property
    def alpha(self) -> float | None: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_support(self) -> int: ...
    def important_points(self) -> tuple[NDArray[np.intp], Numbers]: ...
    @property
    def n_landmarks(self) -> int: ...
    @property
    def landmarks(self) -> Numbers | SparseParts | None: ...
    @property
    def matrix(self) -> Numbers: ...
    @property
    def offset(self) -> Numbers: ...
    @property
    def origin(self) -> Numbers | None: ...
    @property
    def pivots(self) -> NDArray[np.intp]: ...
    @property
    def pivot_norms(self) -> Numbers: ...
    @property
    def eigenvalues(self) -> Numbers: ...
    @property
    def scores(self) -> Numbers: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def input_names(self) -> list[str] | None: ...
    @property
    def scaling(self) -> tuple[Numbers, Numbers] | None: ...
    @property
    def unit_length(self) -> bool: ...
    @property
    def encoder(self) -> str | None: ...
    def with_encoder(self, encoder: str) -> Model: ...
    @property
    def facts(self) -> str: ...

    # Of a basis alone:
    @property
    def residual(self) -> float: ...
    @property
    def trace(self) -> float: ...
    @property
    def precision(self) -> str: ...
    @property
    def rounding_error(self) -> float | None: ...
    @property
    def n_kernel_evaluations(self) -> int: ...
    @property
    def n_rows(self) -> int: ...

@final
class Fitted:
    """What a fit found."""

    @property
    def model(self) -> Model: ...
    @property
    def basis(self) -> Model: ...
    @property
    def landmarks(self) -> Numbers | SparseParts | None: ...
    @property
    def coordinates(self) -> NDArray[Any] | None: ...
    @property
    def directions(self) -> Directions | None: ...
    @property
    def selection(self) -> Selection | None: ...
    @property
    def basis_warnings(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...

class Selection(TypedDict):
    """What a selector finds in columns."""

    scores: Numbers
    support: NDArray[np.bool_]
    ranking: NDArray[np.intp]
    pvalues: Numbers | None
    order: NDArray[np.intp] | None
    error_path: Numbers
    weights: Numbers | None
    penalty: float | None
    n_neighbors: int | None  # the most that a row was compared with
    sums: FSums | None  # the F-test's
    classes: list[str] | None
    chosen: NDArray[np.bool_] | None

class Learned(TypedDict):
    """What a predictor learned."""

    model: Model
    basis: Model
    tried: list[dict[str, Any]]
    error: float
    missed: float | None
    log_loss: float | None
    left_out: dict[str, Any]
    is_above_chance: bool
    weights: Numbers | None
    warnings: list[str]

class FoundWeights(TypedDict):
    """Weights of input columns."""

    weights: Numbers
    rounds: int
    errors: Numbers
    gamma: float
    warnings: list[str]

class FittedSelector(Selection):
    """What a selector finds by itself."""

    warnings: list[str]

class FSums(TypedDict):
    """Sums of the F-test so far."""

    sizes: Numbers
    target: list[float] | None
    columns: Numbers

class Directions(TypedDict):
    """What an extractor finds; empty arrays where it has no such thing."""

    components: Numbers
    offset: Numbers
    eigenvalues: Numbers
    explained: Numbers
    alignment_path: Numbers

class Automatic(TypedDict):
    """What features without choices are: their map, that of their basis, and the advice that was followed, as JSON."""

    model: Model
    basis: Model
    weights: Numbers | None
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

@final
class Question:
    """What the coordinator of a fit on rows in partitions asks of every partition."""

    @property
    def name(self) -> str: ...
    @property
    def makes_state(self) -> bool: ...
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Question: ...  # noqa: A002

@final
class Answer:
    """What a partition answers."""

    def merged(self, other: Answer) -> Answer: ...
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Answer: ...  # noqa: A002

@final
class State:
    """What a partition keeps between two questions."""

    @classmethod
    def from_bytes(cls, bytes: bytes) -> State: ...  # noqa: A002

__version__: str

class NumericalError(ArithmeticError): ...
class DeviceError(RuntimeError): ...

def catalogue() -> str: ...
def check_device(device: str) -> None: ...
def open_device(device: str) -> str | None: ...
def look_into(folders: list[str]) -> None: ...
def n_threads() -> int: ...
def set_threads(n_threads: int) -> None: ...
def sniff(sample: bytes, usual: str, *, sep: str | None = None, decimal: str | None = None) -> tuple[str, str]: ...
def encoder_columns(encoder: str) -> tuple[list[str], bool, list[str]]: ...
def encoder_words(encoder: str) -> list[tuple[str, str]]: ...
def decide(y: Target, *, task: str = "auto") -> tuple[NDArray[np.intp] | Numbers, list[str] | None, list[str]]: ...
def fit(
    X: Rows | NDArray[np.float32],
    y: Target | None,
    method: str | None,
    settings: list[tuple[str, str]],
    *,
    basis: BasisSettings,
    basis_only: bool = False,
    input_names: list[str] | None = None,
    task: str = "auto",
    want_coordinates: bool = False,
    weights: list[float] | None = None,
    device: str = "cpu",
    verbose: int = 0,
) -> Fitted: ...
def fit_sums(
    sums: Moments,
    classes: tuple[list[str], list[int]] | None,
    numbers: tuple[float, tuple[float, float]] | None,
    method: str,
    settings: list[tuple[str, str]],
    basis: Model,
    *,
    verbose: int = 0,
) -> tuple[Model, Directions, list[str]]: ...
def grow(
    X: Rows | NDArray[np.float32],
    settings: list[tuple[str, str]],
    so_far: Model | None = None,
    *,
    input_names: list[str] | None = None,
    device: str = "cpu",
    verbose: int = 0,
) -> tuple[Model, list[str]]: ...
def load(path: str) -> Model | Columns: ...
def f_accumulate(
    state: FSums | None, X: Rows, y: Target, classes: list[str] | None = None, *, verbose: int = 0
) -> FSums: ...
def f_finish(state: FSums, selector: str, settings: list[tuple[str, str]]) -> FittedSelector | None: ...
def fit_selector(
    X: Rows | NDArray[np.float32],
    y: Target | None,
    selector: str,
    settings: list[tuple[str, str]],
    *,
    categorical: list[int] | None = None,
    weights: list[float] | None = None,
    task: str = "auto",
    device: str = "cpu",
    verbose: int = 0,
) -> FittedSelector: ...
def neighbor_count(selector: str, n_neighbors: str, n: int) -> int: ...
def answer(
    X: Rows | NDArray[np.float32],
    y: Target | None,
    question: Question,
    state: State | None = None,
    *,
    number: int = 0,
    first: int | None = None,
) -> tuple[State | None, Answer]: ...
def fit_partitions(
    engine: Any,
    method: str | None,
    settings: list[tuple[str, str]],
    *,
    basis: BasisSettings,
    basis_only: bool = False,
    input_names: list[str] | None = None,
    task: str = "auto",
    kept: int = 0,
    basis_rows: int | None = None,
    weights: list[float] | None = None,
    ridge_rows: int | None = None,
    verbose: int = 0,
) -> Fitted: ...
def fit_selector_partitions(
    engine: Any,
    selector: str,
    settings: list[tuple[str, str]],
    *,
    input_names: list[str] | None = None,
    task: str = "auto",
    verbose: int = 0,
) -> FittedSelector: ...
def sample_partitions(
    engine: Any, size: int, *, seed: int = 0, input_names: list[str] | None = None, task: str = "auto"
) -> tuple[int, Numbers | SparseParts, tuple[NDArray[Any], list[str] | None] | None]: ...
def moments_of_nothing(n_features: int, n_targets: int) -> Moments: ...
def moments_accumulate(state: Moments, Z: Numbers, Y: Numbers, weights: list[float] | None = None) -> Moments: ...
def moments_merge(state: Moments, other: Moments) -> Moments: ...
def moments_finish(state: Moments) -> Summary: ...
def margins_of_nothing(n_features: int) -> Margins: ...
def margins_accumulate(
    state: Margins, side: str, A: Numbers, B: Numbers, weights: Numbers | None = None
) -> Margins: ...
def margins_merge(state: Margins, other: Margins) -> Margins: ...
def kernel_alignment(K: Rows, y: Target, *, center: bool = False, task: str = "auto") -> tuple[float, list[str]]: ...
def relevant_dimension(K: Rows, y: Target, *, task: str = "auto") -> tuple[int, float, list[str]]: ...
def kernel_width(
    X: Rows | NDArray[np.float32], y: Target, settings: list[tuple[str, str]], *, task: str = "auto"
) -> tuple[float, str | None]: ...
def own_kernel(function: Callable[..., Any]) -> str: ...
def kernel_text(
    text: str, input_names: list[str] | None = None, *, degree: int = 3, coef0: float = 1.0, alpha: float = 1.0
) -> str: ...
def kernel_uses_gamma(text: str) -> bool: ...
def kernel_matrix(
    text: str, X: Rows | NDArray[np.float32], Y: Rows | NDArray[np.float32], *, verbose: int = 0
) -> Numbers: ...
def nearest_in_kernel(
    train: Rows | NDArray[np.float32],
    test: Rows | NDArray[np.float32],
    settings: list[tuple[str, str]],
    n_neighbors: int,
    *,
    verbose: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]: ...
def group_folds(groups: list[int], k: int, *, repeats: int = 1, seed: int = 0) -> Splits: ...
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
    evaluators: list[str],
    knn: int = 1,
    scale: str = "standard",
    folds: int = 5,
    repeats: int = 1,
    test_share: float | None = None,
    splits: list[tuple[list[int], list[int]]] | None = None,
    groups: list[int] | None = None,
    score: str | None = None,
    keep_predictions: bool = False,
    seed: int = 0,
    memory: int | None = None,
    n_threads: int | None = None,
    task: str = "auto",
    split: int | None = None,
    found: list[str] | None = None,
    device: str = "cpu",
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
    weights: list[float] | None = None,
    device: str = "cpu",
    verbose: int = 0,
) -> str: ...
def fit_auto(
    X: Rows,
    y: Target,
    *,
    max_components: int,
    input_weights: bool,
    input_names: list[str] | None = None,
    seed: int = 0,
    task: str = "auto",
    weights: list[float] | None = None,
    device: str = "cpu",
    verbose: int = 0,
) -> Automatic: ...
def fit_predictor(
    X: Rows | NDArray[np.float32],
    y: Target,
    *,
    scale: str,
    max_components: int,
    input_weights: bool,
    input_names: list[str] | None = None,
    seed: int = 0,
    task: str = "auto",
    weights: list[float] | None = None,
    device: str = "cpu",
    verbose: int = 0,
) -> Learned: ...
def input_weights(
    X: Rows | NDArray[np.float32],
    y: Target,
    *,
    kernel: str = "rbf",
    rounds: int = 3,
    seed: int = 0,
    task: str = "auto",
    weights: list[float] | None = None,
    verbose: int = 0,
) -> FoundWeights: ...
def evaluate(
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
) -> Evaluation: ...
def svm_dual(X: Rows, y: Target, c: float, gamma: float, *, task: str = "auto") -> tuple[Numbers, float]: ...
