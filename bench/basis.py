"""KOBL, RPCholesky, transform and memory beside their peers, in one run: `make bench`.

Every job and its peer are timed in turn, several times; the ratio of the medians is what counts. The machine is named
because the seconds mean nothing without it. With `--json FILE` the figures are written as well.
"""

import sys
import time
from functools import partial

import numpy as np
from measure import alone, arguments, keep, report, seconds, side_by_side, summary
from scipy.linalg import solve_triangular
from sklearn.kernel_approximation import Nystroem

import mercer

GAMMA = 0.02
P = 20


def ringnorm_classes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Breiman's ringnorm: two normal classes in 20 dimensions."""
    random = np.random.default_rng(seed)
    wide = random.random(n) < 0.5
    a = 2 / np.sqrt(P)
    return np.where(wide[:, None], 2 * random.normal(size=(n, P)), a + random.normal(size=(n, P))), wide.astype(int)


def ringnorm(n: int, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    return ringnorm_classes(n, seed)[0].astype(dtype, copy=False)


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


def panel(x: np.ndarray, squares: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Kernel values of all rows against chosen ones, each pass in place, in Fortran's order as the factor is."""
    k = (x[chosen] @ x.T).T
    k *= 2 * GAMMA
    k -= GAMMA * squares[:, None]
    k -= GAMMA * squares[chosen]
    np.minimum(k, 0, out=k)
    return np.exp(k, out=k)


def numpy_rpcholesky(x: np.ndarray, m: int, block: int = 200, seed: int = 0) -> float:
    """Accelerated RPCholesky (Epperly, Tropp & Webber 2024): blocks proposed, rows accepted by rejection.

    Blocks of 200 were its fastest among 50, 100 and 200. Returns the share of the trace that is left.
    """
    random = np.random.default_rng(seed)
    n, j = len(x), 0
    squares = np.einsum("ij,ij->i", x, x)
    residual = np.ones(n)
    g = np.empty((n, m), order="F")
    while j < m:
        proposed = random.choice(n, block, p=residual / residual.sum())
        own = g[proposed, :j]
        h = panel(x[proposed], squares[proposed], np.arange(block)) - own @ own.T
        before = h.diagonal().copy()
        accepted = []
        for i in range(block):
            if j + len(accepted) < m and random.random() * before[i] < h[i, i]:
                accepted.append(i)
                h[i:, i] /= np.sqrt(h[i, i])
                h[i + 1 :, i + 1 :] -= np.outer(h[i + 1 :, i], h[i + 1 :, i])
        rows = proposed[accepted]
        k = panel(x, squares, rows)
        k -= g[:, :j] @ g[rows, :j].T
        new = solve_triangular(h[np.ix_(accepted, accepted)], k.T, lower=True, overwrite_b=True, check_finite=False).T
        g[:, j : j + len(rows)] = new
        residual = np.maximum(residual - np.einsum("ij,ij->i", new, new), 0)
        residual[rows] = 0
        j += len(rows)
    return float(residual.sum() / n)


def basis(m: int, method: str = "kobl"):
    rule = {"threshold": 0.0} if method == "kobl" else {}
    return mercer.KernelBasis(method, gamma=GAMMA, n_components=m, **rule)


def chosen(n: int, m: int, repeats: int, figures: list) -> None:
    """Pivots: kobl and rpcholesky, the textbook's loop and RPCholesky in NumPy, in turn."""
    x = ringnorm(n)
    jobs = {
        "kobl": lambda: basis(m).fit(x),
        "rpcholesky": lambda: basis(m, "rpcholesky").fit(x),
        "NumPy RPCholesky": lambda: numpy_rpcholesky(x, m),
        "textbook": lambda: textbook(x, m),
    }
    times = side_by_side(jobs, repeats)
    for own, peer in (("kobl", "textbook"), ("kobl", "NumPy RPCholesky"), ("rpcholesky", "NumPy RPCholesky")):
        report(f"{own}, n = {n}, m = {m}, against {peer}", times[own], times[peer], figures)
    same = np.mean(basis(m).fit(x).pivots_ == textbook(x, m)) if n <= 10_000 else None
    left = {
        "kobl": basis(m).fit(x).residual_,
        "rpcholesky": [
            mercer.KernelBasis("rpcholesky", gamma=GAMMA, n_components=m, random_state=seed).fit(x).residual_
            for seed in range(3)
        ],
        "NumPy RPCholesky": [numpy_rpcholesky(x, m, seed=seed) for seed in range(3)],
    }
    print(f"  share of the trace that is left: {left}; pivots equal to the textbook's: {same}")
    figures.append({"job": "share of the trace that is left", **left})


def transformed(rows: int, m: int, figures: list) -> None:
    """Rows in chunks, own and peer in turn; the peer would need kernel values and result at once, 16 GB."""
    x = ringnorm(20 * m)
    for dtype, chunks in ((np.float64, 10), (np.float32, 3)):
        own = basis(m).fit(x)
        peer = Nystroem(gamma=GAMMA, n_components=m, random_state=0).fit(x.astype(dtype))
        took = {"own": [], "peer": []}
        for seed in range(chunks):
            new = ringnorm(rows // 10, seed + 1, dtype)
            time.sleep(0.3)
            took["own"].append(seconds(partial(own.transform, new)))
            time.sleep(0.3)
            took["peer"].append(seconds(partial(peer.transform, new)))
        title = f"transform {rows // 10} rows, m = {m}, {np.dtype(dtype).name}"
        report(title, summary(took["own"]), summary(took["peer"]), figures)
        whole = {name: sum(t for t, _ in runs) for name, runs in took.items()}
        print(f"  {chunks} such chunks, seconds: {whole}")


def memory_beyond(n: int, m: int, figures: list) -> None:
    """Megabytes that a fit and a transform take beyond the rows and the n×m result."""
    prepare = f"from basis import *; x = ringnorm({n}); b = basis({m}).fit(x[:{5 * m}])"
    jobs = {"fit_transform": f"z = basis({m}).fit_transform(x)", "transform": "z = b.transform(x)"}
    for name, job in jobs.items():
        took, megabytes, _ = alone(prepare, job)
        beyond = megabytes - n * m * 8 / 2**20
        print(f"{name}, n = {n}, m = {m}: {took:.1f} s, {beyond:.0f} MB beyond rows and result", flush=True)
        figures.append({"job": f"{name}, n = {n}, m = {m}", "seconds": took, "MB beyond rows and result": beyond})


def main() -> None:
    given = arguments(__doc__)
    scale, repeats = (20, 1) if given.quick else (1, 3)
    figures: list = []
    chosen(100_000 // scale, 1_000 // scale, repeats, figures)
    transformed(1_000_000 // scale**2, 1_000 // scale, figures)
    if sys.platform == "linux":
        for n in (100_000, 1_000_000):  # the second result is of 8 GB
            memory_beyond(n // scale, 1_000 // scale, figures)
    keep(figures, given.json)


if __name__ == "__main__":
    main()
