"""What the user gives, as `_core` takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d

if TYPE_CHECKING:
    from mercer._core import Rows, Target

FLOATS = (np.float64, np.float32)


def as_rows(X: Any) -> Rows:
    """Return checked input in double precision and C order, or as canonical CSR; the user's object stays as it is."""
    rows: Any = X
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    rows = rows.astype(np.float64, copy=not rows.has_canonical_format)
    rows.sum_duplicates()
    return cast("Rows", rows)


def as_target(y: Any) -> Target:
    """Return the target by its type alone: numbers, whole numbers or text. What it means is decided in Rust."""
    values: np.ndarray[Any, Any] = column_or_1d(y, warn=True)
    if values.dtype.kind == "O":
        values = np.asarray(values.tolist())
    match values.dtype.kind:
        case "f":
            return np.ascontiguousarray(values, dtype=np.float64)
        case "i" | "u":
            return np.ascontiguousarray(values, dtype=np.int64)
        case "b" | "U" | "S" | "T":
            return [str(value) for value in values]
        case _:
            raise ValueError(
                f"y has the type {values.dtype}, but numbers, booleans or text are needed\n"
                "hint: fill or drop missing labels, and turn other objects into text"
            )


def as_csr(parts: Any, n_columns: int, like: Any = None) -> Any:
    """Return the rows that `_core` gives back: a matrix, or CSR of the kind that the user works with."""
    if not isinstance(parts, tuple):
        return parts
    indptr = parts[2]
    kind = sparse.csr_matrix if isinstance(like, sparse.spmatrix) else sparse.csr_array
    return kind(parts, shape=(len(indptr) - 1, n_columns))
