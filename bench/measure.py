"""What the benchmarks share: jobs timed in turn, a line a job, memory of a process of its own."""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# What both sides use unless told otherwise.
THREADS = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count() or 1))


def machine() -> str:
    names = Path("/proc/cpuinfo")
    lines = names.read_text().splitlines() if names.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{model}, {THREADS} threads, NumPy {np.__version__}, load {os.getloadavg()[0]:.1f}"


# A shorter job is called again and again, as timeit does: one call of some milliseconds is mostly threads waking up.
SHORT = 0.2


def seconds(job) -> tuple[float, float]:
    """Return seconds by the clock and of all processors, child processes counted when they have ended."""
    start, busy, calls = time.perf_counter(), sum(os.times()[:4]), 0
    while calls == 0 or time.perf_counter() - start < SHORT:
        job()
        calls += 1
    return (time.perf_counter() - start) / calls, (sum(os.times()[:4]) - busy) / calls


def side_by_side(jobs: dict, repeats: int) -> dict:
    times = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            time.sleep(0.3)  # The other's threads spin on for a while after their work.
            times[name].append(seconds(job))
    return {name: summary(t) for name, t in times.items()}


def summary(runs: list) -> dict:
    times, busy = (list(of) for of in zip(*runs, strict=True))
    return {
        "median": float(np.median(times)),
        "least": min(times),
        "most": max(times),
        "all": times,
        "processor": float(np.median(busy)),
    }


def report(title: str, own: dict, peer: dict, figures: list) -> None:
    """Print both sides, the ratio of the medians, and the least and most ratio of runs that followed each other.

    The ratio of processor seconds is a check: other work on the machine changes it less.
    """
    ratio, busy = peer["median"] / own["median"], peer["processor"] / max(own["processor"], 0.01)
    ratios = [theirs / ours for ours, theirs in zip(own["all"], peer["all"], strict=True)]
    print(
        f"{title:<46} {own['median']:8.3f} s ({own['least']:.3f}-{own['most']:.3f})"
        f"   peer {peer['median']:8.3f} s ({peer['least']:.3f}-{peer['most']:.3f})"
        f"   {ratio:6.2f}x ({min(ratios):.2f}-{max(ratios):.2f})"
        f"   processor {busy:.2f}x   load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    sides = {"own": own, "peer": peer}
    figures.append({"job": title, **sides, "ratio": ratio, "ratios": ratios, "busy": busy, "load": os.getloadavg()[0]})


def memory(name: str) -> float:
    """Megabytes of this process, by the kernel's name for them."""
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) / 1024 for line in status if line.startswith(name))


def alone(prepare: str, job: str) -> tuple[float, float, float]:
    """Seconds, megabytes beyond what is prepared, and processor seconds of a job in a process of its own (Linux)."""
    code = (
        f"import sys; sys.path.insert(0, sys.argv[1]); from measure import *; {prepare};"
        "open('/proc/self/clear_refs', 'w').write('5');"  # the high-water mark starts anew
        "low = memory('VmRSS'); start, busy = time.perf_counter(), time.process_time();"
        f"{job}; took, busy = time.perf_counter() - start, time.process_time() - busy;"
        "print(took, memory('VmHWM') - low, busy)"
    )
    folder = os.path.dirname(os.path.abspath(__file__))
    out = subprocess.run([sys.executable, "-c", code, folder], check=True, stdout=subprocess.PIPE, text=True)
    took, megabytes, busy = map(float, out.stdout.split())
    return took, megabytes, busy


def arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--json", help="write the figures here too")
    given = parser.parse_args()
    print(machine(), flush=True)
    return given


def keep(figures: list, path: str | None) -> None:
    if path:
        with open(path, "w") as out:
            json.dump({"machine": machine(), "figures": figures}, out, indent=1)
