"""Fits on a cluster of Dask beside the same fits on one machine, in processor seconds.

    python bench/cluster.py                      # 10⁶ rows: 9 GB of memory, some ten minutes
    python bench/cluster.py --rows 100000        # a minute

The cluster has workers of one thread on this machine, and its side counts the workers, the scheduler and the process
that calls `fit`. The other side is a process of its own with as many threads. Making the rows is not counted on either
side. `--tasks` prints what the workers' time went into, by the names of the tasks.
"""

import argparse
import json
import logging
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from time import perf_counter

import numpy as np
from basis import GAMMA, P, basis, ringnorm_classes
from measure import machine

import mercer

# The same rows for every number of partitions: they are made in this many blocks.
BLOCKS = 64
GOAL_RATIO, GOAL_MB = 1.3, 10

JOBS = {
    "kobl": lambda m: basis(m),
    "GDA": lambda m: mercer.GDA(basis=basis(m)),
    "KLFE, 2 000 queries": lambda m: mercer.KLFE(10, n_queries=2000, basis=basis(m)),
    "transform": lambda m: basis(m),
}


def block_rows(n: int, block: int) -> int:
    return n * (block + 1) // BLOCKS - n * block // BLOCKS


def rows_of(n: int, blocks: range) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of neighbouring blocks."""
    parts = [ringnorm_classes(block_rows(n, block), seed=block) for block in blocks]
    x, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    return x, y


def busy() -> float:
    """Return the processor seconds of this process."""
    return sum(os.times()[:2])


def local(job: str, n: int, m: int) -> dict:
    """Measure in this process."""
    x, y = rows_of(n, range(BLOCKS))
    estimator = JOBS[job](m)
    if job == "transform":
        estimator.fit(rows_of(n, range(8))[0][:5000])
    start, before = perf_counter(), busy()
    found = estimator.transform(x) if job == "transform" else estimator.fit(x, y)
    return {"processor": busy() - before, "clock": perf_counter() - start, **answer_of(job, found)}


def answer_of(job: str, found) -> dict:
    """Return what both sides should agree on."""
    if job == "transform":
        return {"pivots": []}
    fitted = found if job == "kobl" else found.basis_
    return {"pivots": [int(pivot) for pivot in fitted.pivots_]}


def alone(job: str, n: int, m: int, threads: int) -> dict:
    """Measure in a process of its own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    command = [sys.executable, __file__, "--local", job, "--rows", str(n), "--components", str(m)]
    run = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | dict.fromkeys(names, str(threads))
    )
    return json.loads(run.stdout)


def collections(n: int, partitions: int):
    """Return rows and labels as collections whose partitions are made by functions."""
    import dask
    import dask.array as da

    each = BLOCKS // partitions
    make = dask.delayed(rows_of, nout=2, pure=True)
    rows, labels = [], []
    for at in range(partitions):
        blocks = range(at * each, (at + 1) * each)
        x, y = make(n, blocks)
        size = sum(block_rows(n, block) for block in blocks)
        rows.append(da.from_delayed(x, shape=(size, P), dtype=np.float64))
        labels.append(da.from_delayed(y, shape=(size,), dtype=np.int64))
    return da.concatenate(rows), da.concatenate(labels)


def on_cluster(client, job: str, n: int, m: int, partitions: int, tasks: bool) -> dict:
    """Measure on the workers and in this process."""
    from distributed import get_task_stream, wait

    from mercer import dask

    class Counted(dask._Collection):
        """Counts what leaves the coordinator: each question once."""

        bytes_out = 0
        passes = 0

        def start(self, question, first, merged) -> None:
            self.bytes_out += len(pickle.dumps(question))
            self.passes += question.name == "offer"
            super().start(question, first, merged)

    x, y = client.persist(collections(n, partitions))
    wait([x, y])
    estimator = JOBS[job](m)
    if job == "transform":
        estimator.fit(rows_of(n, range(8))[0][:5000])
    all_busy = lambda: busy() + sum(client.run(busy).values())  # noqa: E731
    traffic = {}
    start, before, own = perf_counter(), all_busy(), busy()
    with get_task_stream(client=client) as stream:
        if job == "transform":
            found = client.persist(dask.transform(estimator, x))
            wait(found)
        else:
            engine = Counted(x, y, client)
            found = estimator.fit(engine)
            traffic = {"in": engine.bytes_in, "out": engine.bytes_out, "passes": engine.passes}
            engine.close()
    took, own, spent = perf_counter() - start, busy() - own, all_busy() - before
    if tasks:
        print_tasks(f"{job}, {partitions} partitions", stream.data, own, spent)
    return {"processor": spent, "client": own, "clock": took, **traffic, **answer_of(job, found)}


def print_tasks(title: str, stream: list, own: float, spent: float) -> None:
    """Print the seconds of the workers' tasks by name, and what is left of the processor seconds."""
    seconds: dict = defaultdict(lambda: [0, defaultdict(float)])
    for task in stream:
        name = task["key"] if isinstance(task["key"], str) else task["key"][0]
        name = "-".join(name.split("-")[:2]) if name.startswith("mercer-") else name.split("-")[0]
        seconds[name][0] += 1
        for of in task["startstops"]:
            seconds[name][1][of["action"]] += of["stop"] - of["start"]
    print(f"\n{title}: processor seconds {spent:.2f}, of them client and scheduler {own:.2f}")
    for name, (count, actions) in sorted(seconds.items(), key=lambda item: -sum(item[1][1].values())):
        parts = ", ".join(f"{action} {took:.2f}" for action, took in actions.items())
        print(f"  {name:<32} {count:6} tasks, seconds by the clock: {parts}")
    computed = sum(actions["compute"] for _, actions in seconds.values())
    print(f"  all tasks: {computed:.2f} s of computing; workers outside of tasks: {spent - own - computed:.2f} s")


def table(figures: list) -> None:
    columns = "job", "partitions", "local", "cluster", "of which client", "ratio", "MB in", "MB out", "landmarks"
    print("\n| " + " | ".join(columns) + " |\n|---|" + "---:|" * 7 + "---|")
    for f in figures:
        near, far = ([run["processor"] for run in f[side]] for side in ("local", "cluster"))
        ratios = [b / a for a, b in zip(near, far, strict=True)]
        client = np.median([run["client"] for run in f["cluster"]])
        one = f["cluster"][0]
        moved = [f"{one[way] / 1e6:.1f}" if way in one else "" for way in ("in", "out")]
        same = all(a["pivots"] == b["pivots"] for a, b in zip(f["local"], f["cluster"], strict=True))
        agree = ("the same" if same else "**differ**") if "in" in one else ""
        ratio = np.median(far) / np.median(near)
        met = "" if ratio <= GOAL_RATIO and one.get("in", 0) <= GOAL_MB * 1e6 else ", **not met**"
        print(
            f"| {f['job']} | {f['partitions']} | {np.median(near):.1f} s | {np.median(far):.1f} s | {client:.1f} s"
            f" | {ratio:.2f} ({min(ratios):.2f}–{max(ratios):.2f}){met}"
            f" | {moved[0]} | {moved[1]} | {agree} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--components", type=int, default=500, help="landmarks, m")
    parser.add_argument("--partitions", type=int, nargs="+", default=[8, 64], help=f"divisors of {BLOCKS}")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread, and threads of the local side")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--memory", default="auto", help="of a worker; little of it, and the factor is not kept")
    parser.add_argument("--no-trim", action="store_true", help="without Dask's MALLOC_TRIM_THRESHOLD_ for workers")
    parser.add_argument("--tasks", action="store_true", help="print what the workers' time went into")
    parser.add_argument("--json", help="write the figures here too")
    parser.add_argument("--local", choices=list(JOBS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    n, m = given.rows, given.components
    if given.local:
        print(json.dumps(local(given.local, n, m)))
        return

    import dask
    from distributed import Client

    if given.no_trim:
        dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None})
    print(f"{machine()}; n = {n}, p = {P}, m = {m}, γ = {GAMMA}, {given.workers} workers", flush=True)
    figures = [
        {"job": job, "partitions": partitions, "local": [], "cluster": []}
        for job in given.jobs
        for partitions in given.partitions
    ]
    settings = {"memory_limit": given.memory, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with Client(n_workers=given.workers, threads_per_worker=1, **settings) as client:
        for _ in range(given.repeats):
            for f in figures:
                f["local"].append(alone(f["job"], n, m, given.workers))
                f["cluster"].append(on_cluster(client, f["job"], n, m, f["partitions"], given.tasks))
                near, far = f["local"][-1], f["cluster"][-1]
                print(
                    f"{f['job']:<20} {f['partitions']:3} partitions: local {near['processor']:6.2f} s,"
                    f" cluster {far['processor']:6.2f} s, by the clock {near['clock']:.2f} and {far['clock']:.2f} s,"
                    f" {far.get('passes', 0)} passes, load {os.getloadavg()[0]:.1f}",
                    flush=True,
                )
    table(figures)
    if given.json:
        with open(given.json, "w") as out:
            json.dump({"machine": machine(), "rows": n, "components": m, "figures": figures}, out, indent=1)


if __name__ == "__main__":
    main()
