"""Past one machine: fit, transform and compare on collections of Dask.

The same estimators, fitted where the rows lie. `fit` returns the estimator that `estimator.fit` would return on all
rows in one place, with the same landmarks and with features that agree to rounding; what travels to the process that
calls it are a few hundred rows per pass, sums, and the model. `pip install 'mercer[dask]'` brings what it needs.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._input import as_array, as_given, categories_as_text, is_collection, text_explained
from mercer._partitions import FIRST_QUESTION, Part, Partitions, opened

try:
    import dask
    import dask.array as da
    import distributed
    from dask.utils import is_dataframe_like, is_series_like
except ImportError as error:
    raise ImportError(
        "mercer.dask needs dask and distributed, which are not installed\nhint: pip install 'mercer[dask]'"
    ) from error

__all__ = ["compare", "fit", "transform"]

# Of the memory of all workers together, what partitions may keep from pass to pass; else it is computed again.
_KEPT_SHARE = 0.25

# Answers that a task merges: a power of 2, so that pairs are those of a tree of pairs.
_MERGED = 8

# Bytes of a question that go into one message: Dask warns of graphs above 10 MB.
_MESSAGE_BYTES = 4_000_000

# Questions about the labels as they were given; later ones find what they are in a partition's state.
_ABOUT_LABELS = (FIRST_QUESTION, "label")

# What decides on the threads that a worker computes with where the user has set it. Dask sets others, to 1.
_THREADS_SET = ("MERCER_NUM_THREADS", "RAYON_NUM_THREADS")


def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    client: distributed.Client | None = None,
    basis_rows: int | None = None,
) -> Any:
    """Fit an estimator on a collection of Dask, where its parts lie.

    Parameters
    ----------
    estimator : estimator
        A `KernelBasis`, an extractor, a system, a selector or `AutoFeatures`, fitted in place as by its `fit`. It must
        look at the rows through sums, or at some of them: "csi", "gram-schmidt", exact "kpca", precomputed kernels
        and `KMFA` are refused by name, and `KLFE`, `KANMM` and the Relief family need `n_queries`.
    X : dask array or dask dataframe
        Rows, of known or unknown number: dense, float32, or blocks of SciPy's sparse rows. An array must not be cut
        between columns; the columns of a dataframe are taken by name.
    y : dask array or dask series, default=None
        Labels, in the same partitions. What they are is decided from all of them, as in `estimator.fit`.
    client : distributed.Client, default=None
        Where to compute. None: the client that was started last.
    basis_rows : int, default=None
        Landmarks are chosen among this many rows, drawn at random by the basis' seed, and in one place, so that every
        basis will do. None: among all rows, where they lie.

    Returns
    -------
    estimator : estimator
        The same estimator, fitted: `transform`, `mercer.save` and pickles work as ever, without Dask.

    Notes
    -----
    `n_kernel_evaluations_` of a basis is n * (m + 1), the kernel values that no fit can avoid; those that are computed
    again are not counted here. Sums are computed in float64. The basis that a method comes with is the one for many
    rows. Repeated fits on the same partitions give the same bits, whatever happens to the workers in between; other
    partitions give the same landmarks, and features that agree to rounding. So do clusters with more or less memory:
    the coordinates of the rows are kept from pass to pass where they fit into a quarter of the memory that all workers
    have when the fit begins; else they are recomputed.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from mercer import GDA, KernelBasis
    >>> from mercer.dask import fit, transform
    >>> X = da.random.default_rng(0).normal(size=(2_000, 3), chunks=(500, 3))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     model = fit(GDA(basis=KernelBasis("kobl", n_components=50)), X, y)
    ...     Z = transform(model, X).compute()
    >>> Z.shape
    (2000, 1)
    """
    _check_estimator(estimator)
    rows = _Collection(X, y, _client(client))
    rows.basis_rows = basis_rows
    try:
        return estimator.fit(rows)
    finally:
        rows.close()


def transform(estimator: Any, X: Any) -> Any:
    """Return the features of a collection of Dask, to be computed where its parts lie, when they are asked for.

    Parameters
    ----------
    estimator : estimator
        Fitted, with `transform`.
    X : dask array or dask dataframe
        Rows, as in `fit`.

    Returns
    -------
    Z : dask array or dask dataframe
        Features, of the kind that X is, lazily: with its chunks of rows, or its divisions and its index.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer import KernelBasis
    >>> from mercer.dask import transform
    >>> basis = KernelBasis("kobl", kernel="linear").fit([[3.0, 4.0]])
    >>> transform(basis, da.ones((4, 2), chunks=(2, 2))).compute()[:, 0].round(12)
    array([1.4, 1.4, 1.4, 1.4])
    """
    check_is_fitted(estimator)
    _check_rows(X)
    _check_columns(estimator, X)
    names = [str(name) for name in estimator.get_feature_names_out()]
    shared = dask.delayed(estimator)
    if isinstance(X, da.Array):
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        keeps_sparse = sparse.issparse(X._meta) and hasattr(estimator, "support_")  # A selector takes columns.
        return X.map_blocks(
            _features,
            shared,
            names,
            dtype=dtype,
            chunks=(X.chunks[0], (len(names),)),
            meta=X._meta.astype(dtype) if keeps_sparse else np.empty((0, 0), dtype=dtype),
            name=f"mercer-transform-{uuid.uuid4().hex}",
        )
    import pandas as pd

    meta = pd.DataFrame(index=X._meta.index, columns=names, dtype=_dtype_of(_columns_of(estimator, X._meta)))
    return X.map_partitions(_features, shared, names, meta=meta, token="mercer-transform")


def compare(
    X: Any,
    y: Any,
    *,
    client: distributed.Client | None = None,
    n_rows: int = 20_000,
    **settings: Any,
) -> Any:
    """Compare methods on a collection of Dask, one task per split.

    Parameters
    ----------
    X : dask array or dask dataframe
        Rows, as in `fit`.
    y : dask array or dask series
        Labels, in the same partitions.
    client : distributed.Client, default=None
        Where to compute. None: the client that was started last.
    n_rows : int, default=20_000
        Rows that are compared on, drawn at random by `random_state`; all, where there are no more. A worker holds all
        of them, and the process that calls this none.
    **settings : object
        Those of `mercer.compare`: `methods`, `gamma`, `folds`, `repeats`, `test_share`, `random_state` and so on.

    Returns
    -------
    frame : pandas.DataFrame
        As from `mercer.compare` on these rows, with `rows_in_all` in its `attrs`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from mercer.dask import compare
    >>> X = da.random.default_rng(0).normal(size=(300, 3), chunks=(100, 3))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     frame = compare(X, y, methods=["gda"], folds=3, evaluators="ridge")
    >>> frame.attrs["splits"], frame.attrs["rows_in_all"]
    (3, 300)
    """
    from mercer import _compared

    rows = _Collection(X, y, _client(client))
    if y is None:
        raise ValueError("compare looks at the labels, but none were given\nhint: give them (y)")
    try:
        return _compared.on_partitions(rows, n_rows, settings)
    finally:
        rows.close()


class _Collection(Partitions):
    """Partitions of Dask collections, as futures.

    Nothing is scattered and nothing is pinned to a worker: every value can be computed again from X and y, so that a
    worker that dies costs time alone.
    """

    def __init__(self, X: Any, y: Any, client: distributed.Client) -> None:
        _check_rows(X)
        parts = _parts(X)
        targets = [None] * len(parts) if y is None else _targets(y)
        if len(targets) != len(parts):
            raise ValueError(
                f"X has {len(parts)} partitions, but y has {len(targets)}\n"
                "hint: give both the same: X.rechunk, y.rechunk for arrays, repartition for dataframes"
            )
        self.client, self.n_partitions, self.has_target = client, len(parts), y is not None
        self.names = None if isinstance(X, da.Array) else list(X.columns)
        self.n_features = int(X.shape[1]) if isinstance(X, da.Array) else len(X.columns)
        self.kept = int(_KEPT_SHARE * _memory(client))
        self._token = uuid.uuid4().hex
        self._round = 0
        self.bytes_in = 0
        self.states: list[distributed.Future | None] = [None] * len(parts)
        self.pending: list[distributed.Future] = []
        open_ = dask.delayed(_open, pure=False)
        shape = (self.names, self.n_features)
        tasks = [
            open_(part, target, *shape, number, dask_key_name=f"mercer-open-{self._token}-{number}")
            for number, (part, target) in enumerate(zip(parts, targets, strict=True))
        ]
        try:
            self.parts: list[distributed.Future] = client.compute(tasks, optimize_graph=True)
        except distributed.CancelledError as error:
            raise _lost() from error

    def start(self, question: _core.Question, first: Sequence[int], merged: bool) -> None:
        """Submit a task for every partition, and for answers that are merged."""
        self._round += 1
        if question.name == FIRST_QUESTION:
            self.states = [None] * self.n_partitions
        numbers = range(self.n_partitions)
        firsts = list(first) if first else [None for _ in numbers]
        questions = [self._share(question)] * len(numbers)
        tasks = self.map(question.name, _answer, self.parts, self.states, questions, numbers, firsts)
        if question.makes_state:
            self.states = list(tasks)
            tasks = self.map("answer", _second, tasks)
        level = 0
        while merged and len(tasks) > 1:
            level += 1
            groups = [tasks[at : at + _MERGED] for at in range(0, len(tasks), _MERGED)]
            tasks = self.map("merge", _merged, groups, level=level)
        self.pending = tasks

    def _share(self, question: _core.Question) -> distributed.Future:
        """Return the question as one task, so that it travels once to every worker; if long, in several messages."""
        content = pickle.dumps(question)
        pieces: list[Any] = [content[at : at + _MESSAGE_BYTES] for at in range(0, len(content), _MESSAGE_BYTES)]
        if len(pieces) > 1:
            pieces = [self.map("piece", _same, [piece], level=at)[0] for at, piece in enumerate(pieces)]
        return self.map("question", _unpickled, [pieces])[0]

    def map(self, name: str, function: Any, *arguments: Sequence[Any], level: int = 0) -> list[distributed.Future]:
        """Submit a task for each of the arguments in one message, which costs less than a message a task.

        `level` tells tasks of one name and round apart.
        """
        keys = [f"mercer-{name}-{self._token}-{self._round}-{level}-{at}" for at in range(len(arguments[0]))]
        return cast("list[Any]", self.client.map(function, *arguments, key=keys, pure=False))

    def wait(self, seconds: float) -> bool:
        """Wait for the answers."""
        try:
            with self.client.as_current():  # it need not be the default one, which `wait` takes otherwise
                distributed.wait(self.pending, timeout=seconds)
        except TimeoutError:
            return False
        except distributed.CancelledError:  # which `answers` explains
            return True
        return True

    def answers(self) -> list[_core.Answer]:
        """Gather the answers, or raise what the first of the partitions that failed has raised."""
        failed = [task for task in self.pending if task.status in ("error", "cancelled")]
        try:
            found = self.client.gather(failed[:1] or self.pending)
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"a task killed the worker that ran it, {error.allowed_failures + 1} times: most often the memory of a "
                "worker was not enough\nhint: repartition into smaller partitions, or give workers more memory"
            ) from error
        except distributed.CancelledError as error:
            raise _lost() from error
        _release(self.pending)
        self.pending = []
        self.bytes_in += sum(answer.__sizeof__() for answer in found)
        return cast("list[_core.Answer]", found)

    def cancel(self) -> None:
        """Cancel all that was submitted."""
        self.client.cancel([*self.pending, *(state for state in self.states if state is not None), *self.parts])

    def close(self) -> None:
        """Let go of everything on the workers."""
        _release([*self.pending, *self.states, *self.parts])
        self.pending, self.states, self.parts = [], [], []


def _release(futures: Sequence[distributed.Future | None]) -> None:
    """Let go of futures now: waiting leaves them in cycles, which the garbage collector may find much later."""
    for future in futures:
        if future is not None:
            future.release()


def _check_estimator(estimator: Any) -> None:
    hint = "hint: mercer.dask.fit(GDA(...), X, y)"
    if isinstance(estimator, type):
        raise TypeError(f"the first argument is the class {estimator.__name__}, but it must be an estimator\n{hint}")
    if is_collection(estimator) or not hasattr(estimator, "fit"):
        raise TypeError(f"the first argument is a {type(estimator).__name__}, but it must be an estimator\n{hint}")
    if not getattr(estimator, "_takes_partitions", False):
        raise TypeError(
            f"{type(estimator).__name__} is not fitted on collections of Dask\n"
            "hint: fit it on a sample of the rows, or on the features of an estimator that is (AutoFeatures, GDA, ...)"
        )


def _client(client: distributed.Client | None) -> distributed.Client:
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError as error:
            raise ValueError(
                "there is no Dask client\nhint: client = distributed.Client() starts workers on this machine"
            ) from error
    if client.asynchronous:
        raise TypeError("the Dask client is asynchronous, but fits wait\nhint: distributed.Client(asynchronous=False)")
    return client


def _lost() -> RuntimeError:
    return RuntimeError(
        "rows or what was made of them are lost, and cannot be computed again: they were scattered, or their source is "
        "gone\nhint: make the collection from files or functions (dd.read_parquet, da.from_delayed)"
    )


def _memory(client: distributed.Client) -> int:
    """Return the bytes of memory that all workers have together; one without a limit counts for none.

    The scheduler is asked itself: `Client.scheduler_info` returns what the client refreshes at times without workers.
    """
    workers = client.sync(client.scheduler.identity)["workers"].values()
    return sum(int(worker["memory_limit"] or 0) for worker in workers)


def _check_rows(X: Any) -> None:
    if not is_collection(X):
        raise TypeError(
            f"X is a {type(X).__name__}, but it must be an array or a dataframe of Dask\n"
            "hint: the estimator's own methods take other rows"
        )
    if not isinstance(X, da.Array):
        if not is_dataframe_like(X):
            raise TypeError(f"X is a {type(X).__name__}, but it must be an array or a dataframe of Dask")
        return
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions, but rows have 2\nhint: X.reshape(-1, 1) for one column")
    if X.numblocks[1] > 1:
        raise ValueError("X is cut between columns\nhint: X.rechunk({1: -1})")
    if np.isnan(X.shape[1]):
        raise ValueError("the number of columns of X is not known\nhint: X.compute_chunk_sizes() finds it")


def _check_columns(estimator: Any, X: Any) -> None:
    """Refuse columns that are not those of the fit."""
    wanted = getattr(estimator, "feature_names_in_", None)
    if wanted is not None and not isinstance(X, da.Array):
        missing = [name for name in wanted if name not in X.columns]
        if missing:
            raise ValueError(
                f"{type(estimator).__name__} was fitted with columns that X does not have: {_listed(missing)}"
            )
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns, but {type(estimator).__name__} was fitted with {estimator.n_features_in_}"
        )


def _listed(names: Sequence[Any]) -> str:
    """Return the first of some names."""
    return ", ".join(f"`{name}`" for name in names[:5]) + (", ..." if len(names) > 5 else "")


def _targets(y: Any) -> list[Any]:
    """Return the labels' partitions."""
    if not is_collection(y):
        raise TypeError(
            f"X is a collection of Dask, but y is a {type(y).__name__}\n"
            "hint: make it one with the same partitions, such as da.from_array(y, chunks=X.chunks[0])"
        )
    if not (isinstance(y, da.Array) or is_series_like(y) or is_dataframe_like(y)):
        raise TypeError(f"y is a {type(y).__name__}, but it must be an array or a series of Dask")
    if y.ndim > 1 and y.shape[1] != 1:
        raise ValueError(f"y has {y.shape[1]} columns, but labels have 1\nhint: fit once for each of them")
    return _parts(y)


def _parts(collection: Any) -> list[Any]:
    """Return the partitions, as many as the collection says that it has.

    Where few columns of small files are needed, Dask's optimizer reads several files as one partition: more of them for
    the labels than for the rows. Of its steps only the first is used, which leaves out columns that are not needed.
    """
    if hasattr(collection, "simplify"):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))


# What runs on workers. Names are those of the dashboard's tasks.


def _open(X: Any, y: Any, names: list[Any] | None, n_features: int, number: int) -> Part:
    """Return a partition as `_core` takes it."""
    try:
        if names is not None:
            X = _numbers(_in_order(X, names))
        elif hasattr(X, "tocsr"):
            X = X.tocsr()
        if X.shape[0] > 0 and X.shape[1:] != (n_features,):
            raise ValueError(f"the shape is {X.shape}, but X has {n_features} columns")
        return opened(X, None if y is None else np.asarray(categories_as_text(y)))
    except ValueError as error:
        raise ValueError(f"partition {number + 1}: {error}") from None


def _in_order(frame: Any, names: list[Any]) -> Any:
    """Return a dataframe with its columns in this order."""
    if list(frame.columns) == names:
        return frame
    missing = [name for name in names if name not in frame.columns]
    more = [name for name in frame.columns if name not in names]
    if missing or more or len(frame.columns) != len(names):
        differences = [f"{_listed(of)} {what}" for of, what in ((missing, "missing"), (more, "not expected")) if of]
        raise ValueError(
            f"its columns differ from those of the dataframe by name: {'; '.join(differences) or 'some occur twice'}\n"
            "hint: give every partition the columns that X.columns says"
        )
    return frame[names]


def _dtype_of(frame: Any) -> Any:
    """Return float32 if all columns of a dataframe are, else float64."""
    single = {"float32", "Float32", "float[pyarrow]"}
    return np.float32 if {str(kind) for kind in frame.dtypes} <= single else np.float64


def _numbers(frame: Any) -> Any:
    """Return the numbers of a dataframe; missing ones are NaN."""
    with text_explained(frame):
        return frame.to_numpy(dtype=_dtype_of(frame), na_value=np.nan)


def _same(value: Any) -> Any:
    return value


def _unpickled(pieces: list[bytes]) -> Any:
    return pickle.loads(b"".join(pieces))


def _answer(
    part: Part,
    kept: tuple[_core.State, _core.Answer] | None,
    question: _core.Question,
    number: int,
    first: int | None,
) -> Any:
    """Return a partition's answer; with the new state, if the question makes one."""
    use_threads_of_worker()
    rows, target = part
    if question.name not in _ABOUT_LABELS:
        target = None
    elif isinstance(target, np.ndarray):
        target = as_array(target)  # It may have travelled.
    state = None if kept is None else kept[0]
    found = _core.answer(as_given(rows), target, question, state, number=number, first=first)
    return found if question.makes_state else found[1]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _merged(answers: list[_core.Answer]) -> _core.Answer:
    """Merge neighbours in pairs, then the results in pairs, until one is left."""
    while len(answers) > 1:
        pairs = [answers[at : at + 2] for at in range(0, len(answers), 2)]
        answers = [pair[0].merged(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return answers[0]


def use_threads_of_worker() -> None:
    """Compute with as many threads as this worker has: Dask tells libraries to use one.

    A worker in the process of the user computes with what the user computes with.
    """
    try:
        worker = distributed.get_worker()
    except ValueError:  # another scheduler than the distributed one
        return
    if not worker.address.startswith("inproc://") and not any(name in os.environ for name in _THREADS_SET):
        _core.set_threads(worker.state.nthreads)


def _features(X: Any, estimator: Any, names: list[str]) -> Any:
    """Return the features of one partition, in a dataframe with its index if it is one."""
    use_threads_of_worker()
    if not hasattr(X, "columns"):
        return _features_of(X if sparse.issparse(X) else np.asarray(X), estimator, names)
    import pandas as pd

    frame = _columns_of(estimator, X)
    rows: Any = _numbers(frame)
    dtype = rows.dtype
    if hasattr(estimator, "feature_names_in_"):
        rows = pd.DataFrame(rows, columns=frame.columns)
    return pd.DataFrame(_features_of(rows, estimator, names, dtype), index=X.index, columns=names)


def _columns_of(estimator: Any, frame: Any) -> Any:
    """Return the columns that an estimator was fitted with, in their order; all of them if they had no names."""
    return frame[list(estimator.feature_names_in_)] if hasattr(estimator, "feature_names_in_") else frame


def _features_of(rows: Any, estimator: Any, names: list[str], dtype: Any = None) -> Any:
    """Return the features of rows: in float32 if these are, else in float64."""
    dtype = np.float32 if (dtype or rows.dtype) == np.float32 else np.float64
    if rows.shape[0] == 0:
        return np.empty((0, len(names)), dtype=dtype)
    found = estimator.transform(rows)
    features: Any = found if sparse.issparse(found) else np.asarray(found)
    return features.astype(dtype, copy=False)
