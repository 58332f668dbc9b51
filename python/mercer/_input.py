"""What the user gives, as `_core` takes it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.utils import check_array, check_X_y, column_or_1d, get_tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mercer import _core
from mercer._device import GpuRows, is_on_gpu, to_host

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mercer._core import FSums, Margins, Moments, Rows, Target

FLOATS = (np.float64, np.float32)

# Sums as a dictionary of numbers and arrays.
Sums = TypeVar("Sums", "FSums", "Moments", "Margins")

# What labels are; the last two are what others call classes and numbers.
Task = Literal["auto", "classes", "numbers", "classification", "regression"]
TASKS = [StrOptions(set(get_args(Task)))]


# Estimators that take several targets.
_TAKE_SEVERAL = ("KPLS", "SKFE", "FScore", "MutualInfo", "LassoSelector", "AutoRegressor")

# What `class_weight` may be.
CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]

# What does the work of a call where a collection's parts lie.
_WHERE_IT_LIES = {
    "fit": "mercer.dask.fit({name}(...), X, y) fits on it where it lies; ",
    "transform": "mercer.dask.transform(estimator, X) transforms it where it lies; ",
    "compare": "mercer.dask.compare(X, y) compares on it where it lies; ",
    "each block": "its map_blocks or map_partitions calls this on each part where it lies; ",
    "each batch": "(block.compute() for block in source.partitions) gathers it block by block; ",
    "sums": "accumulate the parts where they lie, and merge the sums; ",
    "nothing": "",
}


def validated(estimator: Any, X: Any, y: Any = "no_validation", **checks: Any) -> Any:
    """Return what an estimator was given as scikit-learn's `validate_data` checks it; refuse Dask collections.

    With `reset=False` the rows are those of a fitted estimator, else they are fitted on.
    """
    if is_partitioned(X):
        return _partitioned(estimator, X, y)
    again = "transform" if hasattr(estimator, "transform") else "each block"
    call = "fit" if checks.get("reset", True) else again
    refuse_collections(type(estimator).__name__, call, X=X, y=y)
    refuse_masked(X=X, y=y)
    y = to_host(y)  # one number a row
    if checks.get("dtype", FLOATS) is not None and not checks.get("skip_check_array"):
        refuse_dates(X)
    if is_several(y):
        if not getattr(estimator, "_takes_several", False):
            raise ValueError(
                f"{type(estimator).__name__} takes one target, but y should be a 1d array and has "
                f"{np.asarray(y).shape[1]} columns\nhint: fit each column by itself, or use {', '.join(_TAKE_SEVERAL)}"
            )
        checks["multi_output"] = True
    refuse_missing_labels(y)
    if is_on_gpu(X) and hasattr(estimator, "device"):
        return _on_gpu(estimator, GpuRows.of(X), y, **checks)
    with refusal_explained(X, estimator):
        found = validate_data(estimator, to_host(X), y, **checks)
    if is_frame(X) and checks.get("ensure_all_finite") is False:
        rows = found[0] if isinstance(found, tuple) else found
        refuse_not_finite(rows, X.columns, allow_nan=get_tags(estimator).input_tags.allow_nan)
    return found


_FILL = {
    "NaN": "fill them (mercer.TableEncoder does, with medians), or drop such rows",
    "infinity": "fill or drop such rows first",
}


def refuse_not_finite(rows: Any, names: Any = None, *, allow_nan: bool = False) -> None:
    """Refuse NaN and infinity in rows, of a frame by the column's name, which Rust is not told."""
    if sparse.issparse(rows):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum()):
            return
    found = np.flatnonzero(np.isinf(rows) if allow_nan else ~np.isfinite(rows))
    if len(found):
        row, column = divmod(int(found[0]), rows.shape[1])
        what = "NaN" if np.isnan(rows[row, column]) else "infinity"
        also = "" if names is None else f" (`{names[column]}`)"
        raise ValueError(
            f"Input contains {what} at row {row + 1}, column {column + 1}{also}; {_allowed(allow_nan=allow_nan)} "
            f"allowed\nhint: {_FILL[what]}"
        )


def _allowed(*, allow_nan: bool) -> str:
    return "numbers, and NaN for missing values, are" if allow_nan else "only finite numbers are"


def refuse_missing_labels(y: Any) -> None:
    """Refuse labels of which some are missing, with the row of the first."""
    if y is None or isinstance(y, str) or sparse.issparse(y):
        return
    values = np.asarray(y)
    if values.dtype.kind in "biu" or (values is y and values.dtype.kind in "US") or values.ndim not in (1, 2):
        return
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    else:  # not those of `values`, in which NaN among text may be text
        values = np.asarray(y, dtype=object)
        missing = np.array([is_missing(value) for value in values.ravel()], dtype=bool).reshape(values.shape)
    table = missing.reshape(len(missing), -1)
    rows = np.flatnonzero(table.any(axis=1))
    if not len(rows):
        return
    first = values.reshape(table.shape)[rows[0], table[rows[0]].argmax()]
    what = "NaN" if isinstance(first, float | np.floating) else str(first)
    mask = "pandas.isna(y).any(axis=1)" if values.ndim == 2 else "pandas.isna(y)"
    kept = "X.filter(keep) and y.filter(keep)" if _is_of_polars(y) else "X[keep] and y[keep]"
    kept = kept.replace("y[", "numpy.array(y)[") if isinstance(y, list | tuple) else kept
    raise ValueError(
        f"Input y contains {what} at row {rows[0] + 1}; {len(rows)} of {len(values)} labels "
        f"{'is' if len(rows) == 1 else 'are'} missing\nhint: drop such rows: keep = ~{mask}, then {kept}"
    )


def refuse_dates(X: Any) -> None:
    """Refuse columns of dates and of durations, which NumPy would read as numbers in whatever unit they are kept in."""
    if is_frame(X):
        kinds = {dtype: _kind_of_time(dtype) for dtype in set(X.dtypes)}
        if not any(kinds.values()):
            return
        found = [(str(name), kinds[dtype]) for name, dtype in zip(X.columns, X.dtypes, strict=True) if kinds[dtype]]
        kind = found[0][1]
        names = [f"`{name}`" for name, of in found if of == kind]
        where = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    elif isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        kind, where = _kind_of_time(X.dtype), f"X has the type {X.dtype}"
    else:
        return
    raise ValueError(f"columns of {kind} cannot be compared as numbers: {where}\nhint: {_AS_NUMBERS[kind]}")


_ENCODE = "encode them (mercer.TableEncoder), or drop them"
_AS_NUMBERS = {
    "dates": _ENCODE,
    "durations": "make seconds of them (`.dt.total_seconds()` of a frame's column), or drop them",
}


def _kind_of_time(dtype: Any) -> str:
    """Return what a column of this type holds: "dates", which may be periods, "durations" or, neither, ""."""
    name = str(dtype).lower()
    if name.startswith(("timedelta", "duration")):
        return "durations"
    return "dates" if name.startswith(("date", "timestamp", "period")) else ""


def _on_gpu(estimator: Any, rows: GpuRows, y: Any, *, reset: bool = True, **checks: Any) -> Any:
    """Return rows that lie on a GPU, and labels, checked as `validate_data` does, which looks at arrays of NumPy."""
    name = type(estimator).__name__
    stand_in = np.zeros((rows.shape[0], min(rows.shape[1], 1)), dtype=np.int8)
    of_X = {"dtype": None, "ensure_min_samples": checks.get("ensure_min_samples", 1), "estimator": name}
    if isinstance(y, str) and y == "no_validation":
        check_array(stand_in, input_name="X", **of_X)
    else:
        of_y = {name: checks.get(name, False) for name in ("y_numeric", "multi_output")}
        _, y = check_X_y(stand_in, y, **of_y, **of_X)
    validate_data(estimator, rows, reset=reset, skip_check_array=True)
    return rows if isinstance(y, str) and y == "no_validation" else (rows, y)


def validated_shape(estimator: Any, X: Any) -> None:
    """Refuse an array on a GPU that has not the columns of a fitted estimator."""
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead\nhint: X is a row for every sample")
    validate_data(estimator, X, reset=False, skip_check_array=True)


def is_partitioned(X: Any) -> bool:
    """Return whether these are rows in partitions, which `_core.fit_partitions` takes."""
    return getattr(type(X), "is_partitioned", False)


def _partitioned(estimator: Any, X: Any, y: Any) -> Any:
    """Return rows in partitions as they are; the estimator keeps the names of their columns."""
    name = type(estimator).__name__
    if not getattr(estimator, "_takes_partitions", False):
        raise TypeError(
            f"{name} is not fitted on rows in partitions\n"
            "hint: fit it on a sample of the rows, or on the features of an estimator that is (AutoFeatures, GDA, ...)"
        )
    for attribute in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(attribute, None)
    estimator.n_features_in_ = X.n_features
    if X.names is not None and all(isinstance(column, str) for column in X.names):
        estimator.feature_names_in_ = np.asarray(X.names, dtype=object)
    return X if isinstance(y, str) and y == "no_validation" else (X, None)


def checked_array(caller: str, X: Any, call: str = "nothing", **checks: Any) -> Any:
    """Return a matrix that is no estimator's input as scikit-learn's `check_array` does; refuse Dask collections."""
    refuse_collections(caller, call, **{checks.get("input_name", "X"): X})
    refuse_masked(**{checks.get("input_name", "X"): X})
    if checks.get("dtype", FLOATS) is not None:
        refuse_dates(X)
    with refusal_explained(X):
        return check_array(to_host(X), **checks)


def refuse_collections(caller: str, call: str = "nothing", /, **given: Any) -> None:
    """Refuse Dask collections, which NumPy would gather from all machines without a word, and frames that are lazy.

    `call` says which hint is given, and `given` are the arguments by their names.
    """
    for name, values in given.items():
        if is_lazy(values):
            raise TypeError(
                f"{caller} was given a polars LazyFrame as {name}, which is a plan and has no rows yet\n"
                f"hint: {name}.collect() runs it"
            )
        if is_collection(values):
            kind = f"{type(values).__module__.partition('.')[0]} {type(values).__name__}"
            raise TypeError(
                f"{caller} was given a {kind} as {name}, which may be larger than the memory of this process\n"
                f"hint: {_WHERE_IT_LIES[call].format(name=caller)}{name}.compute() gathers it here"
            )


def refuse_masked(**given: Any) -> None:
    """Refuse arrays with masked numbers, whose masks scikit-learn drops without a word."""
    for name, values in given.items():
        if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
            raise ValueError(
                f"{name} has {int(np.ma.getmaskarray(values).sum())} masked entries, which would be read as numbers\n"
                f"hint: {name}.filled(value) fills them; or leave out their rows"
            )


def is_collection(values: Any) -> bool:
    """Return whether this is a collection of Dask, or has one inside; Dask itself is not imported."""
    if not callable(getattr(type(values), "__dask_graph__", None)):
        return False
    # The graphs of Dask's own are not made, which takes time. Objects of xarray always have the method, and it returns
    # None where they hold arrays of NumPy.
    return type(values).__module__.startswith("dask") or values.__dask_graph__() is not None


def is_lazy(values: Any) -> bool:
    """Return whether this is a frame of polars that is not computed yet; polars itself is not imported."""
    return type(values).__name__ == "LazyFrame" and _is_of_polars(values)


def _is_of_polars(values: Any) -> bool:
    return type(values).__module__.partition(".")[0] == "polars"


def as_array(values: Any, dtype: Any = None) -> NDArray[Any]:
    """Return an array in C order and at an aligned address: itself where it is that already.

    Arrays that travelled between processes may start at any byte, where Rust cannot read them.
    """
    return np.require(np.ascontiguousarray(values, dtype=dtype), requirements=["C", "A"])


def check_finite(values: NDArray[Any], what: str, hint: str) -> None:
    """Raise an error if numbers have outgrown their type."""
    if not np.isfinite(values).all():
        raise _core.NumericalError(f"{what}: {values.dtype} has no room for it; {hint}")


def as_sums(sums: Sums) -> Sums:
    """Return sums so far, which may have travelled, with their arrays as `as_array` returns them."""
    parts = cast("dict[str, Any]", sums)
    aligned = {name: as_array(part) if isinstance(part, np.ndarray) else part for name, part in parts.items()}
    return cast("Sums", aligned)


def as_rows(X: Any) -> Rows:
    """Return checked input in float64 and C order, on the GPU where it lies there, or as canonical CSR.

    The user's object stays as it is.
    """
    rows: Any = X
    if isinstance(X, GpuRows):
        return cast("Rows", X.as_float64())
    if not sparse.issparse(X):
        return as_array(X, np.float64)
    rows = rows.astype(np.float64, copy=not rows.has_canonical_format)
    rows.sum_duplicates()
    if not all(part.flags.aligned for part in (rows.data, rows.indices, rows.indptr)):
        parts = tuple(as_array(part) for part in (rows.data, rows.indices, rows.indptr))
        rows = type(rows)(parts, shape=rows.shape)
    return cast("Rows", rows)


def as_given(X: Any) -> Rows | NDArray[np.float32]:
    """Return checked input as `as_rows` does, but dense rows in float32 as they are."""
    if isinstance(X, GpuRows):
        return cast("Rows", X)
    if not sparse.issparse(X) and X.dtype == np.float32:
        return as_array(X)
    return as_rows(X)


def is_several(y: Any) -> bool:
    """Return whether these are labels in several columns."""
    if y is None or isinstance(y, str) or is_collection(y):
        return False
    shape = getattr(y, "shape", None)
    shape = np.asarray(y, dtype=object).shape if shape is None else shape
    return len(shape) == 2 and shape[1] > 1


def row_weights(estimator: Any, rows: Any, y: Any, sample_weight: Any) -> list[float] | None:
    """Return what each row counts: its own weight times that of its class; None where all count the same."""
    class_weight = getattr(estimator, "class_weight", None)
    if sample_weight is None and class_weight is None:
        return None
    if is_partitioned(rows):
        return []  # to be refused
    weights = _check_sample_weight(to_host(sample_weight), np.empty((rows.shape[0], 0)), dtype=np.float64)
    if class_weight is not None:
        kind = "missing" if y is None else type_of_target(y)
        if kind not in ("binary", "multiclass"):
            raise ValueError(
                f"class_weight = {class_weight!r}, but the labels are {kind}, not classes\nhint: use sample_weight"
            )
        weights = weights * compute_sample_weight(class_weight, y)
    return cast("list[float]", weights.tolist())


def as_target(y: Any) -> Target:
    """Return the target by its type alone: numbers, whole numbers or text. What it means is decided in Rust."""
    if is_several(y):
        try:
            return as_array(np.asarray(y), np.float64)
        except ValueError:
            raise ValueError(
                "y has several columns, which must be numbers\nhint: make 0 and 1 of labels (MultiLabelBinarizer)"
            ) from None
    values: np.ndarray[Any, Any] = column_or_1d(categories_as_text(y), warn=True)
    if values.dtype.kind == "O":
        values = np.asarray(values.tolist())
    match values.dtype.kind:
        case "f":
            return as_array(values, np.float64)
        case "u" if values.size and values.max() > np.iinfo(np.int64).max:
            return [str(value) for value in values]
        case "i" | "u":
            return as_array(values, np.int64)
        case "b" | "U" | "S" | "T":
            return [str(value) for value in values]
        case _:
            raise ValueError(
                f"y has the type {values.dtype}, but numbers, booleans or text are needed\n"
                "hint: fill or drop missing labels, and turn other objects into text"
            )


def categories_as_text(y: Any) -> Any:
    """Return labels with pandas' categories as text: NumPy would make numbers of categories that are numbers."""
    if is_collection(y) or is_lazy(y):
        return y  # to be refused with the rows
    kinds = y.dtypes if is_frame(y) else [getattr(y, "dtype", None)]
    if not any(str(kind) == "category" for kind in kinds) or np.any(np.asarray(y.isna())):
        return y
    return y.astype(str)


def same_task(task: str) -> str:
    """Return the name of a task that may be given by its synonym."""
    return {"classification": "classes", "regression": "numbers"}.get(task, task)


def as_csr(parts: Any, n_columns: int, *, spmatrix: bool = False) -> Any:
    """Return the rows that `_core` gives back: a matrix, or CSR of the kind that the user works with."""
    if not isinstance(parts, tuple):
        return parts
    kind = sparse.csr_matrix if spmatrix else sparse.csr_array
    return kind(parts, shape=(len(parts[2]) - 1, n_columns))


def is_frame(X: Any) -> bool:
    """Return whether this is a frame of pandas or polars."""
    known = type(X).__module__.partition(".")[0] in ("pandas", "polars") and not is_lazy(X)
    return known and hasattr(X, "columns")


def with_categories(X: Any, chosen: Any) -> tuple[Any, list[int]]:
    """Return the rows, with text in categorical columns of a frame as numbers, and where these columns are.

    `chosen` is None, "auto" (columns of text or categories), names, indices or a mask.
    """
    if chosen is None or is_collection(X) or is_lazy(X):  # A collection is refused later, as without categories.
        return X, []
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if len(shape) != 2 or 0 in shape:
        return X, []  # to be refused with the other bad shapes
    names = list(X.columns) if is_frame(X) else []
    text = [j for j, dtype in enumerate(X.dtypes) if _is_text(dtype)] if names else []
    columns = text if isinstance(chosen, str) and chosen == "auto" else _places(np.asarray(chosen), names, shape[1])
    for j in sorted(set(columns) & set(text)):
        if hasattr(X, "iloc"):
            codes = _codes(X.iloc[:, j])
            X = X.copy(deep=False)
            X.isetitem(j, codes)
        else:
            series = X.to_series(j)
            X = X.with_columns(type(series)(series.name, _codes(series)))
    return X, columns


@contextmanager
def text_explained(X: Any) -> Iterator[None]:
    """Say which columns hold text where that is why a frame is refused whose rows are some of many."""
    try:
        yield
    except ValueError as error:
        if not is_frame(X) or "could not convert string" not in str(error):
            raise
        text = [str(name) for name, dtype in zip(X.columns, X.dtypes, strict=True) if _is_text(dtype)]
        raise ValueError(
            f"columns of text cannot be compared as numbers: {', '.join(f'`{name}`' for name in text[:5])}\n"
            "hint: encode or drop them"
        ) from error


@contextmanager
def refusal_explained(X: Any, estimator: Any = None) -> Iterator[None]:
    """Say at which row and column text, a date, NaN or infinity is, where that is why rows are refused.

    Within, arrays of other libraries become NumPy's, whatever scikit-learn's `array_api_dispatch` says.
    """
    try:
        if get_config()["array_api_dispatch"]:
            with config_context(array_api_dispatch=False):
                yield
        else:
            yield
    except TypeError as error:
        place = _first_where(X, lambda value: bool(_kind_of_object(value)) or _is_na(value))
        if place is None:
            raise
        row, column, value = place
        if _is_na(value):
            also = f" ({_named(X, column)})" if is_frame(X) else ""
            takes_nan = estimator is not None and get_tags(estimator).input_tags.allow_nan
            raise ValueError(
                f"Input contains {value} at row {row + 1}, column {column + 1}{also}; {_allowed(allow_nan=takes_nan)} "
                f"allowed\nhint: {_NA_AS_NAN if takes_nan else _FILL['NaN']}"
            ) from error
        kind = _kind_of_object(value)
        raise ValueError(
            f"columns of {kind} cannot be compared as numbers: {_named(X, column)} has `{value}` at row {row + 1}\n"
            f"hint: {_AS_NUMBERS[kind]}"
        ) from error
    except ValueError as error:
        text = "could not convert string" in str(error)
        bad = re.match(r"Input X contains (NaN|infinity)", str(error))
        place = _first_where(X, _is_word) if text else None if bad is None else _first_that_is(X, bad[1])
        if place is None:
            raise
        row, column, value = place
        if text:
            relief = hasattr(estimator, "categorical_features") and is_frame(X)
            raise ValueError(
                f"columns of text cannot be compared as numbers: {_named(X, column)} has {value!r} at row {row + 1}\n"
                f"hint: {_TEXT_AS_NAMES if relief else ''}{_ENCODE}"
            ) from error
        also = f" ({_named(X, column)})" if is_frame(X) else ""
        raise ValueError(
            f"Input contains {value} at row {row + 1}, column {column + 1}{also}; only finite numbers are allowed\n"
            f"hint: {_FILL[value]}"
        ) from error


_NA_AS_NAN = "write NaN for it (numpy.nan)"
_TEXT_AS_NAMES = 'categorical_features="auto" compares them as names; else '


def _named(X: Any, column: int) -> str:
    return f"`{X.columns[column]}`" if is_frame(X) else f"column {column + 1}"


def _first_where(X: Any, is_wanted: Callable[[Any], bool]) -> tuple[int, int, Any] | None:
    """Return row, column and value of the first object that is wanted, of a frame the first in its first column."""
    places: Iterable[tuple[int, int, Any]] = ()
    if is_frame(X):
        text = [j for j, dtype in enumerate(X.dtypes) if _is_text(dtype)]
        columns = ((j, X.iloc[:, j] if hasattr(X, "iloc") else X.to_series(j)) for j in text)
        places = ((row, j, value) for j, column in columns for row, value in enumerate(column))
    elif not sparse.issparse(X) and np.ndim(X) == 2:
        rows = np.asarray(X, dtype=object)
        places = ((row, j, rows[row, j]) for row, j in np.ndindex(rows.shape))
    return next((place for place in places if is_wanted(place[2])), None)


def _kind_of_object(value: Any) -> str:
    """Return what an object is, as `_kind_of_time` has it."""
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return "durations"
    is_date = isinstance(value, datetime.date | np.datetime64) or type(value).__name__ == "Period"
    return "dates" if is_date else ""


def _is_word(value: Any) -> bool:
    """Return whether this is text that does not say a number."""
    if not isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _first_that_is(X: Any, kind: str) -> tuple[int, int, str] | None:
    """Return row, column and name of the first value that is NaN, or infinity."""
    is_kind = np.isnan if kind == "NaN" else np.isinf
    if sparse.issparse(X):
        parts: Any = X
        parts = parts.tocoo()
        found = np.flatnonzero(is_kind(parts.data))
        return None if not len(found) else (int(parts.row[found[0]]), int(parts.col[found[0]]), kind)
    rows = np.asarray(to_host(X), dtype=np.float64)
    found = np.flatnonzero(is_kind(rows))
    if rows.ndim != 2 or not len(found):
        return None
    return int(found[0] // rows.shape[1]), int(found[0] % rows.shape[1]), kind


def _is_text(dtype: Any) -> bool:
    """Return whether a frame's column of this type holds text or categories."""
    words = ("category", "categorical", "enum", "object", "str", "string", "large_string")
    return re.split(r"[\[(]", str(dtype).lower())[0] in words


def _places(chosen: NDArray[Any], names: list[Any], p: int) -> list[int]:
    """Return the indices of columns given by name, by index or by a mask."""
    if chosen.size == 0:
        return []
    match chosen.dtype.kind:
        case "b" if chosen.shape == (p,):
            return [int(j) for j in np.flatnonzero(chosen)]
        case "i" | "u" if chosen.ndim == 1 and chosen.min() >= 0 and chosen.max() < p:
            return [int(j) for j in chosen]
        case "U" | "O" | "T" if chosen.ndim == 1 and set(chosen.tolist()) <= set(names):
            return [names.index(name) for name in chosen.tolist()]
    raise ValueError(
        f"categorical_features = {chosen.tolist()}, but there are {p} columns\n"
        "hint: give names of a frame's columns, indices from 0, or one boolean per column"
    )


def _codes(values: Any) -> NDArray[np.float64]:
    """Return a number for every category, and NaN for a missing one."""
    known: dict[Any, int] = {}
    codes = [np.nan if is_missing(value) else known.setdefault(value, len(known)) for value in values]
    return np.asarray(codes, dtype=np.float64)


def is_missing(value: Any) -> bool:
    """Return whether this is None, NaN, or what pandas has for a missing value."""
    if value is None or _is_na(value) or type(value).__name__ == "NaTType":
        return True
    return isinstance(value, float | Decimal | np.floating | np.datetime64) and bool(value != value)


def _is_na(value: Any) -> bool:
    """Return whether this is pandas' `NA`, of which NumPy makes no number."""
    return type(value).__name__ == "NAType"


def check_names_in(estimator: Any, input_features: Any) -> None:
    """Refuse names of input columns that are not those of the fit."""
    check_is_fitted(estimator)
    if input_features is None:
        return
    given = np.asarray(input_features, dtype=object)
    if hasattr(estimator, "feature_names_in_") and not np.array_equal(estimator.feature_names_in_, given):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(given) != estimator.n_features_in_:
        raise ValueError(
            f"input_features should have length equal to number of features ({estimator.n_features_in_}), "
            f"got {len(given)}"
        )


def in_frame(values: NDArray[np.float64], like: Any, features: NDArray[np.object_]) -> Any:
    """Return a matrix of features × columns in a frame of the kind that the user works with, if it is one."""
    if not is_frame(like):
        return values
    if hasattr(like, "iloc"):
        import pandas as pd

        return pd.DataFrame(values, index=features, columns=like.columns)
    import polars as pl

    columns = zip(like.columns, values.T, strict=True)
    name = "feature" if "feature" not in like.columns else "feature_"
    return pl.DataFrame([pl.Series(name, features.tolist()), *(pl.Series(*column) for column in columns)])
