"""Rows that are too many for memory: written once to a file of the temporary folder, and paged in as they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from mercer._input import categories_as_text

ENDINGS = ".npy, .csv, .tsv (these two also with .gz), .parquet, .arrow, .ipc, .feather, .npz, .svm, .libsvm"

# Rows of a file that are in memory at a time.
BATCH = 65_536


def read_rows(source: Any, *, target: str | int | None = None, dtype: Any = np.float64) -> tuple[Any, Any]:
    """Return rows and their target from a source larger than memory, ready for any estimator's `fit`.

    The rows are written to a file without a name in the folder for temporary files (the variable ``TMPDIR`` says which)
    and mapped: the system pages them in as they are read and out as memory is needed. The file goes with the array. A
    ``numpy.memmap`` of your own needs none of this; it can be given to `fit` as it is.

    Estimators keep to 8 GiB beside the rows; the environment variable ``MERCER_MEMORY``, such as ``2GB``, changes it.

    Parameters
    ----------
    source : path, iterable of batches, or pyarrow table, dataset or reader
        A path tells its format by its ending: .npy, .csv, .tsv (these two also with .gz), .parquet, .arrow, .ipc or
        .feather; .npz (of `scipy.sparse.save_npz`), .svm and .libsvm hold sparse rows, which are read into memory.
        A batch is a matrix, a frame of pandas or polars, a record batch of pyarrow, or a pair of rows and their target.
    target : str or int, default=None
        The target's column: a name, or a place (-1 is the last). Batches that are pairs and LIBSVM files need none.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        What the rows are kept as. Half the file with float32.

    Returns
    -------
    X : numpy.memmap or scipy.sparse.csr_array of shape (n_samples, n_features)
        The rows. (An .npy file without a target column is mapped where it is.)
    y : ndarray of shape (n_samples,) or None
        The target, in memory.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> def batches():
    ...     for seed in range(3):
    ...         X = np.random.default_rng(seed).normal(size=(100, 4))
    ...         yield X, X[:, 0] * X[:, 1] > 0
    >>> X, y = mercer.read_rows(batches())
    >>> X.shape, y.dtype
    ((300, 4), dtype('bool'))
    >>> mercer.GDA(basis=mercer.KernelBasis("kobl", n_components=20)).fit(X, y).transform(X[:2]).shape
    (2, 1)
    """
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype = {np.dtype(dtype)}, but rows are float64 or float32")
    if target is None and isinstance(source, (str, Path)) and str(source).lower().endswith(".npy"):
        array = np.load(source, mmap_mode="r")
        if array.ndim == 2 and array.dtype == dtype and array.flags.c_contiguous:
            return array, None
    if isinstance(source, (str, Path)) and Path(source).suffix.lower() in (".npz", ".svm", ".libsvm"):
        return _sparse(Path(source), target, np.dtype(dtype))
    return _collect(_batches(source), target, np.dtype(dtype))


def _sparse(path: Path, target: str | int | None, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the rows of a sparse file, and its target."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    if path.suffix.lower() != ".npz":
        if target is not None:
            raise ValueError(f"target = {target!r}, but a LIBSVM file has its target before the columns; leave it out")
        rows, labels = load_svmlight_file(str(path), dtype=dtype, zero_based=False)
        return sparse.csr_array(rows), labels
    try:
        rows = sparse.csr_array(sparse.load_npz(path)).astype(dtype)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}\nhint: scipy.sparse.save_npz writes such files; use .npy for dense rows"
        ) from error
    if target is None:
        return rows, None
    if not isinstance(target, int) or not -rows.shape[1] <= target < rows.shape[1]:
        raise ValueError(f"target = {target!r}, but the {rows.shape[1]} columns have no names\nhint: count them")
    place = target % rows.shape[1]
    others = [j for j in range(rows.shape[1]) if j != place]
    return sparse.csr_array(rows[:, others]), rows[:, [place]].toarray().ravel()


def _batches(source: Any) -> Iterable[Any]:
    """Return the batches of a source."""
    if isinstance(source, (str, Path)):
        return _batches_of_file(Path(source))
    if type(source).__module__.partition(".")[0] == "pyarrow":
        return cast("Iterable[Any]", source.to_batches())
    if isinstance(source, np.ndarray) or hasattr(source, "columns") or not isinstance(source, Iterable):
        raise TypeError(
            f"source is a {type(source).__name__}, but a path, an iterable of batches or pyarrow's tables are read\n"
            "hint: a matrix or a frame can be given to `fit` as it is; for one batch write [batch]"
        )
    return source


def _batches_of_file(path: Path) -> Iterator[Any]:
    name = path.name.lower()
    ending = "".join(path.suffixes[-2:]).lower() if name.endswith(".gz") else path.suffix.lower()
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    if ending == ".npy":
        array = np.load(path, mmap_mode="r")
        if array.ndim != 2:
            raise ValueError(f"{path} has {array.ndim} dimensions, but rows have 2")
        for start in range(0, len(array), BATCH):
            yield array[start : start + BATCH]
    elif ending in (".csv", ".tsv", ".csv.gz", ".tsv.gz"):
        import pandas as pd

        yield from pd.read_csv(path, sep="\t" if ending.startswith(".tsv") else ",", chunksize=BATCH)
    elif ending in (".parquet", ".arrow", ".ipc", ".feather"):
        import pyarrow.dataset

        kind = "parquet" if ending == ".parquet" else "ipc"
        yield from pyarrow.dataset.dataset(path, format=kind).to_batches(batch_size=BATCH)
    else:
        raise ValueError(f"{path}: the name tells no known format; it must end in one of {ENDINGS}")


def _collect(batches: Iterable[Any], target: str | int | None, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Write batches to a file and map it."""
    n, p, labels = 0, None, []
    with tempfile.TemporaryFile(prefix="mercer-") as file:
        for batch in batches:
            rows, label = _split(batch, target)
            if p is None:
                p = rows.shape[1]
            if rows.shape[1] != p:
                raise ValueError(f"a batch has {rows.shape[1]} columns, but the first has {p}")
            if label is not None:
                labels.append(label)
            file.write(np.ascontiguousarray(rows, dtype=dtype).data)
            n += len(rows)
        if n == 0 or not p:
            raise ValueError(f"the source has {n} rows of {p or 0} columns; at least one of each is needed")
        file.flush()
        # The mapping outlives the file's handle, and the file goes with the mapping.
        X = np.memmap(file, dtype=dtype, mode="r", shape=(n, p))
    y = np.concatenate(labels) if labels else None
    if y is not None and len(y) != n:
        raise ValueError(f"{n} rows, but {len(y)} labels: every batch needs a target, or none")
    return X, y


def _split(batch: Any, target: str | int | None) -> tuple[Any, Any]:
    """Return a batch's rows as a matrix, and its target."""
    if isinstance(batch, tuple):
        if len(batch) != 2:
            raise ValueError(f"a batch is a tuple of {len(batch)}, but a pair of rows and target is meant")
        rows, label = batch
        label = np.asarray(label)
        rows, _ = _split(rows, None)
        if label.ndim != 1 or len(label) != len(rows):
            raise ValueError(f"a batch has {len(rows)} rows and a target of the shape {label.shape}")
        return rows, label
    if type(batch).__module__.partition(".")[0] in ("pyarrow", "polars"):
        batch = batch.to_pandas()
    if hasattr(batch, "columns"):
        if target is None:
            return _numbers(batch), None
        names = list(batch.columns)
        name = names[target] if isinstance(target, int) else target
        if name not in names:
            raise ValueError(f"there is no column `{name}`; the columns are {', '.join(map(str, names[:8]))}")
        return _numbers(batch.drop(columns=name)), np.asarray(categories_as_text(batch[name]))
    rows = np.asarray(batch)
    if rows.ndim != 2:
        raise ValueError(f"a batch has {rows.ndim} dimensions, but rows have 2")
    if target is None:
        return rows, None
    if not isinstance(target, int):
        raise ValueError(f"target = {target!r}, but the columns have no names\nhint: count them; -1 is the last")
    return np.delete(rows, target, axis=1), rows[:, target].copy()


def _numbers(frame: Any) -> Any:
    """Return a frame of numbers as a matrix."""
    text = [name for name, kind in frame.dtypes.items() if kind.kind not in "fiub"]
    if text:
        raise ValueError(
            f"columns of text cannot be rows of numbers: {', '.join(f'`{name}`' for name in text[:5])}\n"
            "hint: name the target (target=...), and encode or drop the others"
        )
    return frame.to_numpy()
