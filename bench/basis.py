"""KOBL, transform and memory beside their peers, in one run: `make bench`.

Every job and its peer are timed in turn, several times; the ratio of the medians is what counts. The machine is named
because the seconds mean nothing without it. With `--json FILE` the figures are written as well.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time

import numpy as np

THREADS = str(os.cpu_count() or 1)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MERCER_NUM_THREADS"):
    os.environ.setdefault(name, THREADS)

from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.metrics.pairwise import rbf_kernel  # noqa: E402

import mercer  # noqa: E402

GAMMA = 0.02


def ringnorm(n: int, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    """Breiman's ringnorm: two normal classes in 20 dimensions."""
    random = np.random.default_rng(seed)
    wide = random.random(n) < 0.5
    a = 2 / np.sqrt(20)
    return np.where(wide[:, None], 2 * random.normal(size=(n, 20)), a + random.normal(size=(n, 20))).astype(dtype)


def textbook(x: np.ndarray, m: int) -> np.ndarray:
    """Pivoted Cholesky as the books have it: one column and one matrix-vector product a pivot."""
    n = len(x)
    squares = np.einsum("ij,ij->i", x, x)
    residual = np.ones(n)
    g = np.zeros((n, m), order="F")
    pivots = np.zeros(m, dtype=np.intp)
    for j in range(m):
        i = int(np.argmax(residual))
        distances = squares + squares[i] - 2 * (x @ x[i])
        column = np.exp(-GAMMA * np.maximum(distances, 0)) - g[:, :j] @ g[i, :j]
        g[:, j] = column / np.sqrt(residual[i])
        residual -= g[:, j] ** 2
        residual[i] = 0
        pivots[j] = i
    return pivots


def seconds(job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def side_by_side(jobs: dict, repeats: int) -> dict:
    times = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            time.sleep(0.3)  # The other's threads spin on for a while after their work.
            times[name].append(seconds(job))
    return {name: {"median": float(np.median(t)), "least": min(t), "most": max(t)} for name, t in times.items()}


def basis(n: int, m: int):
    return mercer.KernelBasis("kobl", gamma=GAMMA, n_components=m, threshold=0.0)


def report(title: str, own: dict, peer: dict, figures: list) -> None:
    ratio = peer["median"] / own["median"]
    print(
        f"{title:<46} {own['median']:8.3f} s ({own['least']:.3f}-{own['most']:.3f})"
        f"   peer {peer['median']:8.3f} s ({peer['least']:.3f}-{peer['most']:.3f})   {ratio:6.2f}x",
        flush=True,
    )
    figures.append({"job": title, "own": own, "peer": peer, "ratio": ratio})


def peak_memory(n: int, m: int) -> float:
    """Megabytes that a fit and a transform take beyond the rows and the n×m result, in a process of its own (Linux)."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from basis import *;"
        f"x = ringnorm({n}); b = basis({n}, {m}).fit(x[:2000]);"
        "open('/proc/self/clear_refs', 'w').write('5');"  # the high-water mark starts anew
        "low = memory('VmRSS');"
        f"z = basis({n}, {m}).fit_transform(x) if sys.argv[2] == 'fit' else b.transform(x);"
        "print(memory('VmHWM') - low - z.nbytes / 2**20)"
    )
    folder = os.path.dirname(os.path.abspath(__file__))
    worst = -np.inf
    for job in ("fit", "transform"):
        out = subprocess.run([sys.executable, "-c", code, folder, job], check=True, capture_output=True, text=True)
        worst = max(worst, float(out.stdout))
    return worst


def memory(name: str) -> float:
    """Megabytes of this process, by the kernel's name for them."""
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) / 1024 for line in status if line.startswith(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--json", help="write the figures here too")
    arguments = parser.parse_args()
    scale, repeats = (20, 1) if arguments.quick else (1, 5)
    n, m, rows = 50_000 // scale, 500 // scale, 100_000 // scale
    figures: list = []
    print(f"{platform.processor() or platform.machine()}, {THREADS} threads, NumPy {np.__version__}")

    x = ringnorm(n)
    times = side_by_side({"own": lambda: basis(n, m).fit(x), "peer": lambda: textbook(x, m)}, repeats)
    report(f"kobl, n = {n}, m = {m}, against NumPy's textbook", times["own"], times["peer"], figures)
    same = np.mean(basis(n, m).fit(x).pivots_ == textbook(x, m))
    print(f"  pivots equal to the textbook's: {same:.1%} (np.argmax knows no tie rule)")

    new = ringnorm(rows, seed=1)
    own = basis(n, m).fit(x)
    peer = Nystroem(gamma=GAMMA, n_components=m, random_state=0).fit(x)
    times = side_by_side({"own": lambda: own.transform(new), "peer": lambda: peer.transform(new)}, repeats + 2)
    report(f"transform {rows} rows, m = {m}, against Nystroem", times["own"], times["peer"], figures)

    landmarks = own.landmarks_
    alone = mercer.KernelBasis("nystrom", gamma=GAMMA, landmarks=landmarks).fit(landmarks)
    difference = np.abs(
        alone.transform(new[:200]) @ alone.transform(new[200:400]).T
        - own.transform(new[:200]) @ own.transform(new[200:400]).T
    ).max()
    print(f"  the same landmarks in another order give the same inner products to {difference:.1e}")
    assert rbf_kernel(new[:2], gamma=GAMMA)[0, 0] == 1.0

    if sys.platform == "linux":
        extra = peak_memory(rows, m)
        print(f"peak memory beyond rows and result, n = {rows}, m = {m}: {extra:.0f} MB")
        figures.append({"job": "memory beyond rows and result, MB", "own": extra})
    if arguments.json:
        with open(arguments.json, "w") as out:
            json.dump(figures, out, indent=1)


if __name__ == "__main__":
    main()
