"""A job is one setting of one experiment; its result is computed once and kept in a file of its own.

So a run that was stopped goes on where it was, and a changed setting costs that setting alone. Jobs run side by side
in processes of one thread each; those marked `alone`, whose time is measured, run afterwards, one at a time with all
threads.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

from datasets import MissingSetError

from lab.results import Record

THREADS = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A call of the script's function `kind` with these settings, which must be JSON: `kind(data, **settings)`.

    `alone` is for jobs that measure time. `needs` names the data sets that it reads: where one is missing, the job
    is skipped, and said to be.
    """

    kind: str
    settings: dict[str, Any]
    alone: bool = False
    needs: tuple[str, ...] = field(default=())

    def key(self, paper: str, version: int) -> str:
        """Return the name under which the result is kept."""
        import mercer

        told = [paper, version, mercer.__version__, self.kind, self.settings]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:20]

    def title(self) -> str:
        """Describe the job in one line."""
        return " ".join([self.kind, *(f"{k}={v}" for k, v in self.settings.items())])


def load_script(path: Path) -> ModuleType:
    """Import an experiment's `run.py` by its path; folders such as sk-relief are no names for an import."""
    name = "experiment_" + path.parent.name.replace("-", "_")
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _compute(script: str, search: list[str], data: str, job: Job) -> tuple[Any, float]:
    sys.path[:0] = [p for p in search if p not in sys.path]
    kind = getattr(load_script(Path(script)), job.kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        result = kind(Path(data), **job.settings)
        return result, time.perf_counter() - start


class Progress:
    """One line that is written over on a terminal, and one line a job elsewhere."""

    def __init__(self, paper: str, total: int, kept: int) -> None:
        self.paper, self.total, self.done, self.kept = paper, total, kept, kept
        self.start = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def step(self, title: str) -> None:
        """Say that a job has ended."""
        self.done += 1
        spent = time.monotonic() - self.start
        left = spent / (self.done - self.kept) * (self.total - self.done)
        text = f"{self.paper} {self.done}/{self.total}, about {_minutes(left)} left: {title}"
        print(f"\r\x1b[K{text[:118]}" if self.terminal else text, end="" if self.terminal else "\n", file=sys.stderr)
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self.terminal and self.done > self.kept:
            print(file=sys.stderr)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def run_jobs(
    script: Path,
    jobs: Iterable[Job],
    data: Path,
    cache: Path,
    *,
    version: int,
    workers: int,
    again: bool = False,
    wanted: Callable[[Job], bool] = lambda job: True,
) -> tuple[list[Record], list[str]]:
    """Compute what is wanted and not kept yet; return all records there are, in the jobs' order, and what was skipped.

    So a part of an experiment adds to what earlier runs computed.
    """
    paper, jobs = script.parent.name, list(jobs)
    cache = cache / paper
    cache.mkdir(parents=True, exist_ok=True)
    files = {job.key(paper, version): cache / f"{job.key(paper, version)}.json" for job in jobs}
    skipped = _missing(jobs, data)
    missing = {name for name, _ in skipped}
    present = [job for job in jobs if not missing.intersection(job.needs)]
    part = [job for job in present if wanted(job)]
    todo = [job for job in part if again or not files[job.key(paper, version)].exists()]
    progress = Progress(paper, len(part), len(part) - len(todo))
    search = [p for p in sys.path if p]

    def keep(job: Job, future: Future) -> None:
        try:
            result, seconds = future.result()
        except Exception as error:
            error.add_note(f"in {paper}: {job.title()}")
            raise
        file = files[job.key(paper, version)]
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps({"result": _rounded(result), "seconds": round(seconds, 4)}))
        part.replace(file)
        progress.step(job.title())

    try:
        for alone, count in ((False, workers), (True, 1)):
            _pool([job for job in todo if job.alone == alone], count, alone, keep, (str(script), search, str(data)))
    finally:
        progress.end()
    records = []
    for job in present:
        if not files[job.key(paper, version)].exists():
            continue
        kept = json.loads(files[job.key(paper, version)].read_text())
        records.append(Record(job.kind, job.settings, kept["result"], kept["seconds"]))
    return records, [f"{name}: {why}" for name, why in skipped]


def adopt(script: Path, jobs: Iterable[Job], records: Iterable[Record], cache: Path, *, version: int) -> int:
    """Put results that a file of results holds into the cache, for jobs with the same settings; count them.

    So a part can be run anew where the cache is not there. Whether the code of these jobs is still the same is for the
    caller to know: results do not say which version computed them.
    """
    paper, told = script.parent.name, {}
    for record in records:
        told[record.kind, json.dumps(record.settings, sort_keys=True)] = record
    (cache / paper).mkdir(parents=True, exist_ok=True)
    count = 0
    for job in jobs:
        file = cache / paper / f"{job.key(paper, version)}.json"
        record = told.get((job.kind, json.dumps(job.settings, sort_keys=True)))
        if record is not None and not file.exists():
            file.write_text(json.dumps({"result": record.result, "seconds": record.seconds}))
            count += 1
    return count


def _pool(jobs: list[Job], workers: int, all_threads: bool, keep, context: tuple) -> None:
    if not jobs:
        return
    before = {name: os.environ.get(name) for name in THREADS}
    if not all_threads:
        os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            try:
                running = {pool.submit(_compute, *context, job): job for job in jobs}
                while running:
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    # Several may end at once: keep those that succeeded before one that failed ends the run.
                    for future in sorted(done, key=lambda ended: ended.exception() is not None):
                        keep(running.pop(future), future)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _missing(jobs: list[Job], data: Path) -> list[tuple[str, str]]:
    from datasets import find

    out = []
    for name in dict.fromkeys(name for job in jobs for name in job.needs):
        try:
            find(name, data)
        except MissingSetError as error:
            out.append((name, str(error)))
    return out


def _rounded(value: Any) -> Any:
    """Keep six significant digits: enough for every table, and the file stays small."""
    if isinstance(value, dict):
        return {str(k): _rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    if hasattr(value, "tolist"):
        return _rounded(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, float) else value
