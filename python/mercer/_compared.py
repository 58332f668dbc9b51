"""A comparison on rows in partitions: one task per split."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer import _core
from mercer._catalogue import as_seed
from mercer._device import device_for
from mercer._fit import named_columns
from mercer._partitions import Part, labelled
from mercer.comparison import arguments_of, frame_of

# What looks at all rows in the process that calls it.
_ELSEWHERE = ("cv", "groups", "estimators")


def on_partitions(rows: Any, n_rows: int, settings: dict[str, Any]) -> Any:
    """Return the frame of `compare` on a sample of rows in partitions, whose splits run as tasks.

    `rows` has partitions and submits tasks: it is the `_Collection` of `mercer.dask`.
    """
    given = [name for name in _ELSEWHERE if settings.get(name) is not None]
    if callable(settings.get("score")):
        given.append("score")
    if given:
        raise ValueError(
            f"{', '.join(given)}: not for rows in partitions\n"
            "hint: give a score by its name, and use mercer.compare on a sample of the rows for the others"
        )
    arguments = arguments_of(**settings)
    names = None if rows.names is None else [str(name) for name in rows.names]
    arguments["settings"] = named_columns(arguments["settings"], names)
    sizes = _gathered(rows, rows.map("count", _count, rows.parts))
    n = sum(sizes)
    chosen = _sample(n, n_rows, as_seed(settings.get("random_state", 0)))
    first = np.concatenate([[0], np.cumsum(sizes)])
    here = [chosen[(chosen >= start) & (chosen < end)] - start for start, end in pairwise(first)]
    taken = rows.map("take", _take, rows.parts, here)
    (sample,) = rows.map("sample", _joined, [taken])
    n_splits = arguments["repeats"] * (arguments["folds"] if arguments["test_share"] is None else 1)
    same = ([sample] * n_splits, [arguments] * n_splits)
    splits = rows.map("split", _split, *same, range(n_splits))
    outcome = rows.map("join", _outcome, [sample], [arguments], [splits])
    (found,) = _gathered(rows, outcome)
    return frame_of(json.loads(found) | {"rows_in_all": n})


def _gathered(rows: Any, tasks: list[Any]) -> list[Any]:
    """Return what tasks found."""
    rows.pending = tasks
    found: list[Any] = rows.answers()
    return found


def _sample(n: int, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Return the places of so many rows, ascending; of all, where there are no more."""
    if size >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def _count(part: Part) -> int:
    return int(part[0].shape[0])


def _take(part: Part, places: Any) -> Part:
    """Return some rows of a partition, with their labels."""
    rows, target = labelled(part)
    chosen: Any = rows[places]
    return chosen, [target[at] for at in places] if isinstance(target, list) else target[places]


def _joined(parts: list[Part]) -> Part:
    """Return the rows of several partitions as one."""
    full = [part for part in parts if part[0].shape[0]]
    blocks: list[Any] = [part[0] for part in full]
    rows = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
    targets: list[Any] = [part[1] for part in full]
    if isinstance(targets[0], list):
        return rows, [label for target in targets for label in target]
    return rows, np.concatenate(targets)


def _split(sample: Part, arguments: dict[str, Any], at: int) -> str:
    """Return what one split finds."""
    from mercer.dask import use_threads_of_worker

    use_threads_of_worker()
    device_for(None, arguments["device"])  # of the worker's machine
    rows, target = labelled(sample)
    return _core.compare(rows, target, **arguments, split=at)


def _outcome(sample: Part, arguments: dict[str, Any], found: list[str]) -> str:
    """Return what all splits found together."""
    device_for(None, arguments["device"])
    rows, target = labelled(sample)
    return _core.compare(rows, target, **arguments, found=found)
