"""Rows that are too many for memory: written once to a file of the temporary folder, and paged in as they are read."""

from __future__ import annotations

import gzip
import importlib
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from mercer import _core
from mercer._input import as_array, categories_as_text, refuse_collections
from mercer._raw import raw_columns
from mercer._words import Missing

ENDINGS = ".npy, .csv, .tsv (these two also with .gz), .parquet, .arrow, .ipc, .feather, .npz, .svm, .libsvm"

# Rows of a file that are in memory at a time.
BATCH = 65_536


def read_rows(
    source: Any,
    *,
    target: str | int | None = None,
    dtype: Any = np.float64,
    sep: str | None = None,
    decimal: str | None = None,
    categorical: str | list[str] | None = "from_dtype",
    missing: Missing = "fill",
    inputs: list[str] | None = None,
) -> tuple[Any, Any]:
    """Return rows and their target from a source larger than memory, ready for any estimator's `fit`.

    The rows are written to a file without a name in the folder for temporary files (the variable ``TMPDIR`` says which)
    and mapped: the system pages them in as they are read and out as memory is needed. It is removed with the array. A
    ``numpy.memmap`` of your own needs none of this; it can be given to `fit` as it is.

    Columns with names that are not just numbers are encoded as `TableEncoder` does: booleans, dates, categories and
    missing values; columns that number the rows are dropped. A warning says what was done. To encode new rows in the
    same way, use a `TableEncoder` on frames, or `mercer fit`, which keeps the encoding in its model.

    Estimators keep to 8 GiB beside the rows; the environment variable ``MERCER_MEMORY``, such as ``2GB``, changes it.

    Parameters
    ----------
    source : path, iterable of batches, or pyarrow table, dataset or reader
        The ending of a path is its format: .npy, .csv, .tsv (these two also with .gz), .parquet, .arrow, .ipc or
        .feather; .npz (of `scipy.sparse.save_npz`), .svm and .libsvm hold sparse rows, which are read into memory.
        A batch is a matrix, a frame of pandas or polars, a record batch of pyarrow, or a pair of rows and their target.
    target : str or int, default=None
        The target's column: a name, or a place (-1 is the last). Batches that are pairs and LIBSVM files need none.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        What the rows are kept as. Half the file with float32.
    sep : str, default=None
        What separates the fields of a text file: one character, or "tab". None: found out from its first lines.
    decimal : {".", ","}, default=None
        The decimal sign of a text file. None: found out.
    categorical : "from_dtype", None or list of str, default="from_dtype"
        Columns that are categories, as for `TableEncoder`.
    missing : {"fill", "refuse"}, default="fill"
        Whether missing values of columns with names are filled by the median, with a warning, or refused.
    inputs : list of str, default=None
        The columns to use, by name. None: all but the target and those that number the rows.

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
    refuse_collections("read_rows", "each batch", source=source)
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"dtype = {np.dtype(dtype)}, but rows are float64 or float32")
    if target is None and isinstance(source, (str, Path)) and str(source).lower().endswith(".npy"):
        array = np.load(source, mmap_mode="r")
        if array.ndim == 2 and array.dtype == dtype and array.flags.c_contiguous:
            return array, None
    if isinstance(source, (str, Path)) and Path(source).suffix.lower() in (".npz", ".svm", ".libsvm"):
        return _sparse(Path(source), target, np.dtype(dtype))
    if missing not in ("fill", "refuse"):
        raise ValueError(f"missing = {missing!r}, but it must be 'fill' or 'refuse'")
    if isinstance(categorical, str) and categorical != "from_dtype":
        raise ValueError(f"categorical = {categorical!r}, but it must be 'from_dtype', a list of names or None")
    named = [] if categorical is None or isinstance(categorical, str) else [str(name) for name in categorical]
    encoding = Encoding(named, categorical is not None, missing, inputs)
    return _collect(_batches(source, sep, decimal), target, np.dtype(dtype), encoding)


class Encoding(NamedTuple):
    """How columns that are not just numbers are encoded."""

    categorical: list[str]
    from_dtype: bool
    missing: str
    inputs: list[str] | None


def _sparse(path: Path, target: str | int | None, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the rows of a sparse file, and its target."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    if path.suffix.lower() != ".npz":
        if target is not None:
            raise ValueError(f"target = {target!r}, but a LIBSVM file has its target before the columns; leave it out")
        # Imported late: it brings readers of many other files, which take time.
        from sklearn.datasets import load_svmlight_file

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


def _batches(source: Any, sep: str | None, decimal: str | None) -> Iterable[Any]:
    """Return the batches of a source."""
    if isinstance(source, (str, Path)):
        return _batches_of_file(Path(source), sep, decimal)
    if type(source).__module__.partition(".")[0] == "pyarrow":
        return cast("Iterable[Any]", source.to_batches())
    if isinstance(source, np.ndarray) or hasattr(source, "columns") or not isinstance(source, Iterable):
        raise TypeError(
            f"source is a {type(source).__name__}, but a path, an iterable of batches or pyarrow's tables are read\n"
            "hint: a matrix or a frame can be given to `fit` as it is; for one batch write [batch]"
        )
    return source


def _batches_of_file(path: Path, sep: str | None, decimal: str | None) -> Iterator[Any]:
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
        pd = _imported("pandas", ending)
        opened: Any = gzip.open if ending.endswith(".gz") else open
        with opened(path, "rb") as file:
            sample = file.read(1 << 16)
        usual = "tab" if ending.startswith(".tsv") else ","
        sep, decimal = _core.sniff(sample, usual, sep=sep, decimal=decimal)
        # pandas before 3.1 reads numbers to twelve digits unless asked for all; later ones deprecate the argument.
        old = tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1)
        exact = {"float_precision": "round_trip"} if old else {}
        yield from pd.read_csv(path, sep=sep, decimal=decimal, na_values=["?"], chunksize=BATCH, **exact)
    elif ending in (".parquet", ".arrow", ".ipc", ".feather"):
        kind = "parquet" if ending == ".parquet" else "ipc"
        yield from _imported("pyarrow.dataset", ending).dataset(path, format=kind).to_batches(batch_size=BATCH)
    else:
        raise ValueError(f"{path}: the name tells no known format; it must end in one of {ENDINGS}")


def _imported(module: str, ending: str) -> Any:
    """Return a module that files with this ending are read with."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{ending} files are read with {package}\nhint: pip install 'mercer[files]'") from error


def _collect(
    batches: Iterable[Any], target: str | int | None, dtype: np.dtype[Any], encoding: Encoding
) -> tuple[Any, Any]:
    """Write batches to a file and map it; from the first batch on that is not just numbers, through an encoder."""
    n, p, labels = 0, None, []
    names: list[str] | None = None
    table: _core.RawTable | None = None
    with tempfile.TemporaryFile(prefix="mercer-") as file:
        for batch in batches:
            rows, label = _split(batch, target, encoding.inputs)
            if p is None:
                p = rows.shape[1]
                names = [str(name) for name in rows.columns] if hasattr(rows, "columns") else None
            if rows.shape[1] != p:
                raise ValueError(f"a batch has {rows.shape[1]} columns, but the first has {p}")
            if label is not None:
                labels.append(label)
            if table is None and names is not None and _needs_encoding(rows, n, encoding):
                table = _core.RawTable(names)
                file.flush()
                for start in range(0, n, BATCH):
                    part = np.memmap(file, dtype=dtype, mode="r", shape=(n, p))[start : start + BATCH]
                    table.push([("numbers", as_array(part[:, j], np.float64)) for j in range(p)])
            if table is not None:
                table.push(raw_columns(rows, categories=encoding.from_dtype)[1])
            else:
                numbers = rows.to_numpy() if hasattr(rows, "columns") else rows
                file.write(np.ascontiguousarray(numbers, dtype=dtype).data)
            n += len(rows)
        if n == 0 or not p:
            raise ValueError(f"the source has {n} rows of {p or 0} columns; at least one of each is needed")
        if table is not None:
            file.seek(0)
            file.truncate()
            p = _write_encoded(table, encoding, file, dtype)
        file.flush()
        # The mapping outlives the file's handle, and the file goes with the mapping.
        X = np.memmap(file, dtype=dtype, mode="r", shape=(n, p))
    y = np.concatenate(labels) if labels else None
    if y is not None and len(y) != n:
        raise ValueError(f"{n} rows, but {len(y)} labels: every batch needs a target, or none")
    return X, y


def _needs_encoding(rows: Any, before: int, encoding: Encoding) -> bool:
    """Return whether a frame holds more than numbers, or a column that may number the rows."""
    if encoding.categorical or any(kind.kind not in "fiu" for kind in rows.dtypes) or rows.isna().any(axis=None):
        return True
    if before > 0 or encoding.inputs is not None or len(rows) < 2:
        return False
    heads = rows.iloc[:2].to_numpy()
    counts = (heads[1] - heads[0] == 1) & np.isin(heads[0], (0, 1))
    words = ("id", "index", "idx", "row", "rowid", "row_id", "row_number", "rownames", "#")
    lower = [str(name).lower() for name in rows.columns]
    return bool(counts.any()) or any(
        name in words or name.endswith("_id") or name.startswith(("unnamed: ", "__index_level_")) for name in lower
    )


def _write_encoded(table: _core.RawTable, encoding: Encoding, file: Any, dtype: np.dtype[Any]) -> int:
    """Write the encoded rows and say what was done with the columns; return how many there are now."""

    def sink(block: Any) -> None:
        file.write(np.ascontiguousarray(block, dtype=dtype).data)

    settings = (encoding.categorical, encoding.missing, encoding.inputs is not None)
    _, names, notes, told = table.learn(*settings, sink)
    for text in (*notes, *told):
        if text.startswith("read as "):
            continue  # What the columns are is no news to who gave them.
        done, hint, _ = text.partition("\nhint: ")
        more = "\nhint: use `inputs` and `categorical` to choose otherwise" if hint else ""
        warnings.warn(done + more, UserWarning, stacklevel=4)
    return len(names)


def _split(batch: Any, target: str | int | None, inputs: list[str] | None) -> tuple[Any, Any]:
    """Return a batch's rows as a matrix or a pandas frame, and its target."""
    if isinstance(batch, tuple):
        if len(batch) != 2:
            raise ValueError(f"a batch is a tuple of {len(batch)}, but a pair of rows and target is meant")
        rows, label = batch
        label = np.asarray(label)
        rows, _ = _split(rows, None, inputs)
        if label.ndim != 1 or len(label) != len(rows):
            raise ValueError(f"a batch has {len(rows)} rows and a target of the shape {label.shape}")
        return rows, label
    if type(batch).__module__.partition(".")[0] in ("pyarrow", "polars"):
        batch = batch.to_pandas()
    if hasattr(batch, "columns"):
        if target is None:
            return _chosen(batch, inputs), None
        names = list(batch.columns)
        name = names[target] if isinstance(target, int) else target
        if name not in names:
            raise ValueError(f"there is no column `{name}`; the columns are {', '.join(map(str, names[:8]))}")
        return _chosen(batch.drop(columns=name), inputs), np.asarray(categories_as_text(batch[name]))
    rows = np.asarray(batch)
    if rows.ndim != 2:
        raise ValueError(f"a batch has {rows.ndim} dimensions, but rows have 2")
    if target is None:
        return rows, None
    if not isinstance(target, int):
        raise ValueError(f"target = {target!r}, but the columns have no names\nhint: count them; -1 is the last")
    return np.delete(rows, target, axis=1), rows[:, target].copy()


def _chosen(frame: Any, inputs: list[str] | None) -> Any:
    """Return the columns to use."""
    if inputs is None:
        return frame
    gone = [name for name in inputs if name not in frame.columns]
    if gone:
        raise ValueError(f"there is no column `{gone[0]}`; the columns are {', '.join(map(str, frame.columns[:8]))}")
    return frame[list(inputs)]
