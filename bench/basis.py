"""KOBL, transform and memory beside their peers, in one run: `make bench`.

Every job and its peer are timed in turn, several times; the ratio of the medians is what counts. The machine is named
because the seconds mean nothing without it. With `--json FILE` the figures are written as well.
"""

import sys

import numpy as np
from measure import alone, arguments, keep, report, side_by_side
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

import mercer

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


def basis(n: int, m: int):
    return mercer.KernelBasis("kobl", gamma=GAMMA, n_components=m, threshold=0.0)


def peak_memory(n: int, m: int) -> float:
    """Megabytes that a fit and a transform take beyond the rows and the n×m result."""
    prepare = f"from basis import *; x = ringnorm({n}); b = basis({n}, {m}).fit(x[:2000])"
    jobs = (f"z = basis({n}, {m}).fit_transform(x)", "z = b.transform(x)")
    return max(alone(prepare, job)[1] for job in jobs) - n * m * 8 / 2**20


def main() -> None:
    given = arguments(__doc__)
    scale, repeats = (20, 1) if given.quick else (1, 5)
    n, m, rows = 50_000 // scale, 500 // scale, 100_000 // scale
    figures: list = []

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
    keep(figures, given.json)


if __name__ == "__main__":
    main()
