"""Past one machine: fit, transform and compare on collections of Dask.

The same estimators, fitted where the rows lie. `fit` returns the estimator that `estimator.fit` would return on all
rows in one place, with the same landmarks and with features that agree to rounding; what travels to the process that
calls it are a few hundred rows a pass, sums, and the model. `pip install 'mercer[dask]'` brings what it needs.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._input import categories_as_text, is_collection
from mercer._partitions import Part, Partitions, opened

try:
    import dask
    import dask.array as da
    import distributed
except ImportError as error:
    raise ImportError(
        "mercer.dask needs dask and distributed, which are not installed\nhint: pip install 'mercer[dask]'"
    ) from error

__all__ = ["compare", "fit", "transform"]

# Of the memory of all workers together, what partitions may keep from pass to pass; else it is computed again.
_KEPT_SHARE = 0.25

# Answers that a task merges: a power of 2, so that pairs are those of a tree of pairs.
_MERGED = 8


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
        Landmarks are chosen among so many rows, drawn at random by the basis' seed, and in one place, so that every
        basis will do. None: among all rows, where they lie.

    Returns
    -------
    estimator : estimator
        The same estimator, fitted: `transform`, `predict`, `save` and pickles work as ever, without Dask.

    Notes
    -----
    Sums are computed in float64. The basis that a method comes with is the one for many rows. Repeated fits on the same
    partitions give the same bits, whatever happens to the workers in between; other partitions give the same landmarks.

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
    if is_collection(estimator) or not hasattr(estimator, "fit"):
        raise TypeError(
            f"the first argument is a {type(estimator).__name__}, but it must be an estimator\n"
            "hint: mercer.dask.fit(GDA(...), X, y)"
        )
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
    names = [str(name) for name in estimator.get_feature_names_out()]
    shared = dask.delayed(estimator)
    if isinstance(X, da.Array):
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        return X.map_blocks(
            _features,
            shared,
            names,
            dtype=dtype,
            chunks=(X.chunks[0], (len(names),)),
            meta=np.empty((0, 0), dtype=dtype),
            name=f"mercer-transform-{uuid.uuid4().hex}",
        )
    meta = _features(X._meta_nonempty, estimator, names).iloc[:0]
    return X.map_partitions(_features, shared, names, meta=meta)


def compare(
    X: Any,
    y: Any,
    *,
    client: distributed.Client | None = None,
    n_rows: int = 20_000,
    **settings: Any,
) -> Any:
    """Compare methods on a collection of Dask, one task a split.

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
        self.client, self.n_partitions, self.has_target = client, len(parts), y is not None
        self.names = None if isinstance(X, da.Array) else list(X.columns)
        self.n_features = int(X.shape[1]) if isinstance(X, da.Array) else len(X.columns)
        targets: list[Any] = [None] * len(parts)
        if y is not None:
            if not is_collection(y):
                raise TypeError(
                    f"X is a collection of Dask, but y is a {type(y).__name__}\n"
                    "hint: make it one with the same partitions, such as da.from_array(y, chunks=X.chunks[0])"
                )
            targets = _parts(y)
        if len(targets) != len(parts):
            raise ValueError(
                f"X has {len(parts)} partitions, but y has {len(targets)}\n"
                "hint: give both the same: X.rechunk, y.rechunk for arrays, repartition for dataframes"
            )
        self.kept = int(_KEPT_SHARE * _memory(client))
        self._token = uuid.uuid4().hex
        self._round = 0
        open_ = dask.delayed(_open, pure=False)
        opened = [
            open_(part, target, self.names, number, dask_key_name=f"mercer-open-{self._token}-{number}")
            for number, (part, target) in enumerate(zip(parts, targets, strict=True))
        ]
        self.parts: list[distributed.Future] = client.compute(opened, optimize_graph=True)
        self.states: list[distributed.Future | None] = [None] * len(parts)
        self.pending: list[distributed.Future] = []
        self.bytes_in = 0

    def _map(self, name: str, function: Any, *arguments: Sequence[Any]) -> list[distributed.Future]:
        """Submit a task for each of the arguments in one message: a message a task costs the scheduler more than it."""
        keys = [f"mercer-{name}-{self._token}-{self._round}-{at}" for at in range(len(arguments[0]))]
        return self.client.map(function, *arguments, key=keys, pure=False)

    def start(self, question: _core.Question, first: Sequence[int], merged: bool) -> None:
        """Submit a task for every partition, and for answers that are merged."""
        self._round += 1
        name, parts = question.name, self.n_partitions
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "4GiB"}):
            # With a map of 2 000 landmarks it has 32 MB, and is sent once.
            shared = self._map("question", _same, [question])
        tasks = self._map(name, _answer, self.parts, self.states, shared * parts, range(parts), first or [None] * parts)
        if question.makes_state:
            self.states = list(tasks)
            tasks = self._map("answer", _second, tasks)
        level = 0
        while merged and len(tasks) > 1:
            level += 1
            groups = [tasks[at : at + _MERGED] for at in range(0, len(tasks), _MERGED)]
            tasks = self._map(f"merge-{level}", _merged, groups)
        self.pending = tasks

    def wait(self, seconds: float) -> bool:
        """Wait for the answers."""
        try:
            distributed.wait(self.pending, timeout=seconds)
        except TimeoutError:
            return False
        return True

    def answers(self) -> list[_core.Answer]:
        """Gather the answers."""
        try:
            found = self.client.gather(self.pending)
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"a task killed the worker that ran it, {error.allowed_failures + 1} times: most often the memory of a "
                "worker was not enough\nhint: repartition into smaller partitions, or give workers more memory"
            ) from error
        except (distributed.client.FutureCancelledError, distributed.client.FuturesCancelledError) as error:
            raise RuntimeError(
                "rows or what was made of them are lost, and cannot be computed again: they were scattered, or their "
                "source is gone\nhint: make the collection from files or functions (dd.read_parquet, da.from_delayed)"
            ) from error
        self.pending = []
        self.bytes_in += sum(answer.__sizeof__() for answer in found)
        return cast("list[_core.Answer]", found)

    def cancel(self) -> None:
        """Cancel all that was submitted."""
        self.client.cancel([*self.pending, *(state for state in self.states if state is not None), *self.parts])

    def close(self) -> None:
        """Let go of everything on the workers."""
        self.pending, self.states, self.parts = [], [], []


def _client(client: distributed.Client | None) -> distributed.Client:
    if client is not None:
        return client
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ValueError(
            "there is no Dask client\nhint: client = distributed.Client() starts workers on this machine"
        ) from error


def _memory(client: distributed.Client) -> int:
    """Return the bytes of memory that all workers have together."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(int(worker["memory_limit"]) for worker in workers)


def _check_rows(X: Any) -> None:
    if not is_collection(X):
        raise TypeError(
            f"X is a {type(X).__name__}, but it must be an array or a dataframe of Dask\n"
            "hint: the estimator's own methods take other rows"
        )
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions, but rows have 2")
        if X.numblocks[1] > 1:
            raise ValueError("X is cut between columns\nhint: X.rechunk({1: -1})")
    elif not hasattr(X, "columns"):
        raise TypeError(f"X is a {type(X).__name__} of Dask, but it must be an array or a dataframe")


def _parts(collection: Any) -> list[Any]:
    """Return the partitions, as many as the collection says that it has.

    Where few columns of small files are needed, Dask's optimizer reads several files as one partition: more of them for
    the labels than for the rows. Of its steps only the first is used, which leaves out columns that are not needed.
    """
    if hasattr(collection, "simplify"):
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))


# What runs on workers. Names are those of the dashboard's tasks.


def _open(X: Any, y: Any, names: list[Any] | None, number: int) -> Part:
    """Return a partition as `_core` takes it."""
    if names is not None:
        missing = [name for name in names if name not in X.columns]
        if missing or len(X.columns) != len(names):
            extra = [name for name in X.columns if name not in names]
            raise ValueError(
                f"the columns of partition {number + 1} differ by name: "
                f"{', '.join(f'`{name}` is missing' for name in missing[:5])}"
                f"{', ' if missing and extra else ''}{', '.join(f'`{name}` is new' for name in extra[:5])}"
            )
        X = _numbers(X[names])
    elif not sparse.issparse(X):
        X = np.asarray(X)
    else:
        X = sparse.csr_array(X)
    try:
        return opened(X, None if y is None else np.asarray(categories_as_text(y)))
    except ValueError as error:
        raise ValueError(f"partition {number + 1}: {error}") from None


def _numbers(frame: Any) -> Any:
    """Return the numbers of a dataframe: in float32 if all are, else in float64; missing ones are NaN."""
    kinds = {str(kind) for kind in frame.dtypes}
    single = kinds <= {"float32", "Float32", "float[pyarrow]"}
    return frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)


def _same(question: _core.Question) -> _core.Question:
    return question


def _answer(
    part: Part,
    kept: tuple[_core.State, _core.Answer] | None,
    question: _core.Question,
    number: int,
    first: int | None,
) -> Any:
    """Return a partition's answer; with the new state, if the question makes one."""
    _use_threads_of_worker()
    rows, target = opened(*part)
    state = None if kept is None else kept[0]
    found = _core.answer(rows, target, question, state, number=number, first=first)
    return found if question.makes_state else found[1]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _merged(answers: list[_core.Answer]) -> _core.Answer:
    """Merge neighbours in pairs, then the results in pairs, until one is left."""
    while len(answers) > 1:
        pairs = [answers[at : at + 2] for at in range(0, len(answers), 2)]
        answers = [pair[0].merged(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return answers[0]


def _use_threads_of_worker() -> None:
    """Compute with as many threads as this worker has: Dask tells libraries to use one."""
    try:
        threads = distributed.get_worker().state.nthreads
    except ValueError:
        return
    if not distributed.get_worker().name or distributed.get_worker().nanny is not None:
        _core.set_threads(threads)


def _features(X: Any, estimator: Any, names: list[str]) -> Any:
    """Return the features of one partition, in a dataframe with its index if it is one."""
    is_frame = hasattr(X, "columns")
    rows = X
    if is_frame:
        wanted = getattr(estimator, "feature_names_in_", None)
        rows = X if wanted is None else X[list(wanted)]
        values = _numbers(rows)
        import pandas as pd

        rows = pd.DataFrame(values, columns=rows.columns) if wanted is not None else values
    elif not sparse.issparse(X):
        rows = np.asarray(X)
    dtype = np.float32 if (values if is_frame else rows).dtype == np.float32 else np.float64
    if X.shape[0] == 0:
        features = np.empty((0, len(names)), dtype=dtype)
    else:
        features = np.asarray(estimator.transform(rows)).astype(dtype, copy=False)
    if not is_frame:
        return features
    return pd.DataFrame(features, index=X.index, columns=names)
