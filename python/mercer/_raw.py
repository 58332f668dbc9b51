"""Columns of frames and arrays as `_core.RawTable` takes them: numbers, days of dates, text or categories."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import _core
from mercer._input import as_array, is_frame, is_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    # A kind and its values.
    Column = tuple[str, Any]

# Nanoseconds in a day.
DAY = 86_400e9


def raw_columns(X: Any, *, categories: bool = True) -> tuple[list[str], list[Column]]:
    """Return the names of a table's columns and their values.

    `categories`: whether the type says what text is: categories, or words that are no numbers even if they look like
    some; else its values are read like those of a text file.
    """
    if is_frame(X):
        names = [str(name) for name in X.columns]
        series = [X.iloc[:, j] for j in range(len(names))] if hasattr(X, "iloc") else X.get_columns()
        return names, [_of_series(column, categories=categories) for column in series]
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X has {array.ndim} dimensions, but a table has 2\nhint: reshape it, or pass a frame")
    return [f"x{j}" for j in range(array.shape[1])], [
        _of_array(array[:, j], words=categories) for j in range(array.shape[1])
    ]


def raw_table(X: Any, names: list[str] | None = None, *, categories: bool = True) -> _core.RawTable:
    """Return a table's rows, collected; `names` replaces those of its columns."""
    own, columns = raw_columns(X, categories=categories)
    table = _core.RawTable(names or own)
    table.push(columns)
    return table


def encoded(table: Callable[[Callable[[NDArray[np.float64]], None]], Any]) -> tuple[NDArray[np.float64], Any]:
    """Return the rows that a call gives to its sink, and what it returns."""
    blocks: list[NDArray[np.float64]] = []
    answer = table(blocks.append)
    return (blocks[0] if len(blocks) == 1 else np.concatenate(blocks)), answer


def _of_series(series: Any, *, categories: bool) -> Column:
    kind = str(series.dtype).lower()
    if hasattr(series, "iloc"):
        if kind.startswith("datetime64"):
            if getattr(series.dt, "tz", None) is not None:
                series = series.dt.tz_convert("UTC").dt.tz_localize(None)
            return "dates", _days(series.to_numpy(dtype="datetime64[ns]"))
        if kind == "category":
            return ("categories" if categories else "text"), _words(series.astype(object), series.isna())
        if series.dtype.kind in "biuf" or kind.startswith("decimal"):
            return "numbers", as_array(series.to_numpy(dtype=np.float64, na_value=np.nan))
        if series.dtype == np.dtype(object):
            return _of_objects(series.tolist(), series.isna().tolist(), words=categories)
        return ("words" if categories else "text"), _words(series, series.isna())
    if kind.startswith(("date", "datetime")) and not kind.startswith("duration"):
        return "dates", _days(series.cast(_datetime(series)).to_numpy().astype("datetime64[ns]"))
    missing = series.is_null().to_list()
    if kind.startswith(("categorical", "enum")):
        return ("categories" if categories else "text"), _words(series.to_list(), missing)
    if kind.startswith(("int", "uint", "float", "decimal", "bool")):
        values = [np.nan if value is None else float(value) for value in series.to_list()]
        return "numbers", np.asarray(values, dtype=np.float64)
    return ("words" if categories else "text"), _words(series.to_list(), missing)


def _datetime(series: Any) -> Any:
    """Return polars' type of a date with a time, without a zone: casting to it keeps the instant."""
    import polars as pl

    return pl.Datetime("us")


def _of_array(values: NDArray[Any], *, words: bool) -> Column:
    if values.dtype.kind in "biuf":
        return "numbers", as_array(values, np.float64)
    if values.dtype.kind == "M":
        return "dates", _days(values.astype("datetime64[ns]"))
    return _of_objects(values.tolist(), [is_missing(value) for value in values.tolist()], words=words)


def _of_objects(values: list[Any], missing: list[bool], *, words: bool) -> Column:
    there = zip(values, missing, strict=True)
    if all(gone or isinstance(value, (int, float, Decimal, np.number, np.bool_)) for value, gone in there):
        filled = [np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)]
        return "numbers", np.asarray(filled, dtype=np.float64)
    return ("words" if words else "text"), _words(values, missing)


def _days(instants: NDArray[Any]) -> NDArray[np.float64]:
    days = instants.astype("int64").astype(np.float64) / DAY
    days[np.isnat(instants)] = np.nan
    return as_array(days)


def _words(values: Any, missing: Any) -> list[str | None]:
    return [None if gone else _word(value) for value, gone in zip(values, missing, strict=True)]


def _word(value: Any) -> str:
    """Return a value as the text that a file would hold."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if np.isfinite(value) and value == int(value) else repr(float(value))
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return str(value)
