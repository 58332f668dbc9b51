"""What a GPU computes beside PyTorch on the same GPU and beside the processor, in one run.

    python bench/gpu.py                          # 10⁶ rows, 4096 landmarks: a GPU of 80 GB, some minutes
    python bench/gpu.py --quick                  # small sizes, to see that it runs
    python bench/gpu.py --rows rpcholesky,kobl   # some rows of the table; `--rows help` lists them

It needs an NVIDIA GPU and PyTorch. Rows are 11 normal clouds, made on the GPU by PyTorch, float64, gamma = 0.5/p.
Every job runs once to warm up, then three times in turn with PyTorch's; the median counts. A job of more than 5 s runs
once more. All work on the GPU is waited for before and after. PyTorch keeps its cached memory within a row of the
table, unless mercer would have too little. With `--json FILE` all figures are written, after every row.

A TFLOP/s figure counts the multiplications and additions that cannot be left out: n·m² for a basis, 9/8·n·m² for all
m features by a triangular matrix in blocks of 512, n·m² for sums of products of m features.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache

import numpy as np
from measure import machine

import mercer

try:
    import torch
except ImportError:
    sys.exit("bench/gpu.py needs PyTorch with CUDA, which is what mercer is compared with (pip install torch)")

REPEATS = 3
CLASSES = 11
GPU = "cuda"

# A job of so many seconds is not run three times.
LONG = 5.0

# What matrix products in float64 reach on an H200, 8192³.
LIMIT = 62.0

# Rows that PyTorch computes at a time, and pivots that it draws at a time.
CHUNK, BLOCK = 65_536, 128

# Seconds on one H200 at full size, as the design asks for.
GOALS = {
    "rpcholesky": 0.6,
    "kobl": 1.0,
    "transform": 0.5,
    "ten": 0.1,
    "gda-numpy": 2.0,
    "neighbours": 0.5,
    "relieff": 15.0,
    "klfe": 15.0,
}


# Rows.


class Data:
    """Rows on the GPU and in memory, made when they are first asked for."""

    def __init__(self, n: int, p: int, seed: int = 0) -> None:
        random = torch.Generator(device=GPU).manual_seed(seed)
        middles = torch.randn((CLASSES, p), generator=random, device=GPU, dtype=torch.float64)
        classes = torch.randint(0, CLASSES, (n,), generator=random, device=GPU)
        self.X = torch.randn((n, p), generator=random, device=GPU, dtype=torch.float64)
        self.X += middles[classes]
        self.classes = classes
        self.y = classes.cpu().numpy()
        self.gamma = 0.5 / p

    @property
    def in_memory(self) -> np.ndarray:
        """A copy of the rows for NumPy."""
        return self.X.cpu().numpy()


class Sizes:
    """What is measured, and how large it is."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.n, self.m, self.p = given.n, given.m, given.p
        self.queries = min(100_000, given.n // 10)
        # For neighbours, as the goals have it.
        self.few = min(20, given.p)
        # A basis for KLFE, whose pairs cost m² each.
        self.klfe_m = min(500, given.m)
        self.cpu_n, self.cpu_m = min(100_000, given.n), min(1000, given.m)
        self.crossover = [2_000, 10_000, 50_000, 200_000] if not given.quick else [500, 2_000]
        self.crossover_m = min(500, given.m)
        self.check_n, self.check_m = (20_000, 300) if not given.quick else (2_000, 100)

    @cache  # noqa: B019
    def data(self, p: int) -> Data:
        """Return rows of p columns."""
        return Data(self.n, p)

    @cache  # noqa: B019
    def basis(self) -> mercer.KernelBasis:
        """Return a basis of all rows."""
        data = self.data(self.p)
        return basis("rpcholesky", self.m, data.gamma).fit(data.X)


def basis(method: str, m: int, gamma: float, device: str = GPU) -> mercer.KernelBasis:
    more = {"threshold": 0.0} if method == "kobl" else {}  # only m ends it
    return mercer.KernelBasis(method, n_components=m, kernel="rbf", gamma=gamma, random_state=0, device=device, **more)


# PyTorch, as a user would write it.


def rbf(a, b, gamma: float):
    """Kernel values by one matrix product."""
    k = a @ b.T
    k *= 2 * gamma
    k -= gamma * (a * a).sum(1)[:, None]
    k -= gamma * (b * b).sum(1)
    return k.clamp_(max=0).exp_()


def torch_rpcholesky(X, m: int, gamma: float):
    """Return the factor, m×n, of randomly pivoted Cholesky by blocks, and its pivots."""
    n = len(X)
    G = torch.zeros((m, n), dtype=X.dtype, device=X.device)
    residual = torch.ones(n, dtype=X.dtype, device=X.device)
    pivots = []
    for j in range(0, m, BLOCK):
        b = min(BLOCK, m - j)
        chosen = torch.multinomial(residual, b)
        rows = rbf(X[chosen], X, gamma) - G[:j, chosen].T @ G[:j]
        block = rows[:, chosen]
        block.diagonal().add_(1e-14 * n)
        L = torch.linalg.cholesky(block)
        G[j : j + b] = torch.linalg.solve_triangular(L, rows, upper=False)
        residual -= (G[j : j + b] ** 2).sum(0)
        residual.clamp_(min=0)
        residual[chosen] = 0
        pivots.append(chosen)
    return G, torch.cat(pivots)


def torch_greedy(X, m: int, gamma: float):
    """Return the pivots of the textbook's pivoted Cholesky: one column a pivot."""
    n = len(X)
    G = torch.zeros((m, n), dtype=X.dtype, device=X.device)
    residual = torch.ones(n, dtype=X.dtype, device=X.device)
    squares = (X * X).sum(1)
    pivots = []
    for j in range(m):
        i = int(torch.argmax(residual))
        distances = (squares + squares[i] - 2 * (X @ X[i])).clamp_(min=0)
        column = torch.exp(-gamma * distances) - G[:j, i] @ G[:j]
        G[j] = column / residual[i].sqrt()
        residual -= G[j] ** 2
        residual[i] = 0
        pivots.append(i)
    return pivots


def torch_features(X, landmarks, A, gamma: float):
    """Return A k(x, landmarks) of all rows."""
    found = torch.empty((len(X), len(A)), dtype=X.dtype, device=X.device)
    for at in range(0, len(X), CHUNK):
        torch.matmul(rbf(X[at : at + CHUNK], landmarks, gamma), A.T, out=found[at : at + CHUNK])
    return found


def torch_discriminants(X, classes, m: int, gamma: float, reg: float = 0.1):
    """Return directions of kernel discriminant analysis in the coordinates of a random basis."""
    G, _ = torch_rpcholesky(X, m, gamma)
    n = len(X)
    sizes = torch.bincount(classes, minlength=CLASSES).to(X.dtype)
    members = torch.nn.functional.one_hot(classes, CLASSES).to(X.dtype)
    means = G @ members / sizes
    within = G @ G.T
    within -= (means * sizes) @ means.T
    within.diagonal().add_(reg * within.diagonal().mean())
    L = torch.linalg.cholesky(within)
    between = (means - G.mean(1, keepdim=True)) * (sizes / n).sqrt()
    U, values, _ = torch.linalg.svd(torch.linalg.solve_triangular(L, between, upper=False), full_matrices=False)
    return torch.linalg.solve_triangular(L.T, U[:, : CLASSES - 1], upper=True), values


def torch_neighbours(X, group, queries, k: int):
    """Return the nearest rows of each of two groups, by all distances in float32.

    A query is among the nearest of its own group, so that one more is found.
    """
    X = X.float()
    parts = [X[group == g] for g in (0, 1)]
    squares = [(part * part).sum(1) for part in parts]
    chunk = max(1, int(4e9) // (4 * len(X)))
    found = []
    for at in range(0, len(queries), chunk):
        wanted = X[queries[at : at + chunk]]
        for part, square in zip(parts, squares, strict=True):
            distances = torch.addmm(square, wanted, part.T, alpha=-2)
            found.append(torch.topk(distances, min(k + 1, len(part)), largest=False).indices)
    return found


# Times.


def settle() -> None:
    torch.cuda.synchronize()


def give_back() -> None:
    """Give PyTorch's cached memory back to the GPU."""
    gc.collect()
    torch.cuda.empty_cache()


def make_room(needed: float) -> None:
    """Let mercer have its memory: it counts what is free."""
    if torch.cuda.mem_get_info()[0] < 1.5 * needed:
        give_back()


def seconds(job: Callable, needed: float = 0.0) -> float:
    make_room(needed)
    settle()
    start = time.perf_counter()
    found = job()
    settle()
    took = time.perf_counter() - start
    del found
    return took


def in_turn(jobs: dict[str, Callable], needed: float = 0.0) -> dict[str, dict]:
    """Time jobs in turn after a warm-up of each; one that fails ends alone."""
    found: dict[str, dict] = {}
    for name, job in jobs.items():
        try:
            found[name] = {"warm-up": seconds(job, needed), "all": []}
        except Exception as error:
            found[name] = {"error": failed(name, error)}
            give_back()
    for turn in range(REPEATS):
        for name, times in found.items():
            if "error" not in times and (turn == 0 or times["warm-up"] < LONG):
                times["all"].append(seconds(jobs[name], needed))
    for times in found.values():
        if "error" not in times:
            times |= {"median": float(np.median(times["all"])), "least": min(times["all"])}
    return found


def failed(name: str, error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}".splitlines()
    print(f"  {name} failed: {' '.join(text[:3])}", flush=True)
    if os.environ.get("BENCH_TRACEBACK"):
        traceback.print_exc()
    return text[0]


def figure(title: str, times: dict, *, flops: float | None = None, note: str = "", **more) -> dict:
    """Print a row's times, and return all of it."""
    found = {"title": title, **times, "flops": flops, "note": note, **more}
    parts = [title]
    for name, side in times.items():
        parts.append(f"{name} {cell(side)} s (least {side['least']:.3f})" if "median" in side else f"{name} failed")
    if flops and "median" in times.get("mercer", {}):
        found["tflops"] = flops / times["mercer"]["median"] / 1e12
        parts.append(f"{found['tflops']:.0f} TFLOP/s of {LIMIT:.0f}")
    print("  " + ", ".join(parts) + (f" ({note})" if note else ""), flush=True)
    return found


# The rows of the table.


def row_rpcholesky(sizes: Sizes) -> list[dict]:
    data, n, m = sizes.data(sizes.p), sizes.n, sizes.m
    jobs = {
        "mercer": lambda: basis("rpcholesky", m, data.gamma).fit(data.X),
        "PyTorch": lambda: torch_rpcholesky(data.X, m, data.gamma),
    }
    return [figure("rpcholesky, rows on the GPU", in_turn(jobs, 8 * n * m), flops=n * m**2, goal="rpcholesky")]


def row_kobl(sizes: Sizes) -> list[dict]:
    data, n, m = sizes.data(sizes.p), sizes.n, sizes.m
    few, pivots = m // 4, {}
    whole = in_turn({"mercer": lambda: basis("kobl", m, data.gamma).fit(data.X)}, 8 * n * m)
    jobs = {
        "mercer": lambda: pivots.update(mercer=basis("kobl", few, data.gamma).fit(data.X).pivots_),
        "PyTorch": lambda: pivots.update(PyTorch=torch_greedy(data.X, few, data.gamma)),
    }
    times = in_turn(jobs, 8 * n * m)
    same = sum(a == b for a, b in zip(*pivots.values(), strict=True)) if len(pivots) == 2 else 0
    note = f"the loop of PyTorch takes a quarter of the landmarks: its time grows as their square; {same} are the same"
    return [
        figure("kobl, rows on the GPU", whole, flops=n * m**2, goal="kobl"),
        figure(f"kobl, m = {few}", times, flops=n * few**2, note=note),
    ]


def on_gpu(values: np.ndarray):
    return torch.from_numpy(values if values.flags.writeable else values.copy()).to(GPU)


def row_transform(sizes: Sizes) -> list[dict]:
    data, n, m, fitted = sizes.data(sizes.p), sizes.n, sizes.m, sizes.basis()
    landmarks, A = on_gpu(fitted.landmarks_), on_gpu(fitted.coefficients_)
    jobs = {
        "mercer": lambda: fitted.transform(data.X),
        "PyTorch": lambda: torch_features(data.X, landmarks, A, data.gamma),
    }
    apart = difference(fitted.transform(data.X[:1000]), torch_features(data.X[:1000], landmarks, A, data.gamma))
    title = f"transform to {m} features, left on the GPU"
    times = in_turn(jobs, 8 * n * m)
    return [figure(title, times, flops=n * m**2 * 9 / 8, goal="transform", note=f"{apart:.0e} apart")]


def row_ten(sizes: Sizes) -> list[dict]:
    data, n, m = sizes.data(sizes.p), sizes.n, sizes.m
    some = min(n, 4 * CHUNK)
    gda = mercer.GDA(basis=basis("rpcholesky", m, data.gamma), device=GPU).fit(data.X[:some], data.y[:some])
    A = on_gpu(gda.components_ @ gda.basis_.coefficients_)
    landmarks, offset = on_gpu(gda.basis_.landmarks_), on_gpu(gda.offset_)

    def peer(X):
        return torch_features(X, landmarks, A, data.gamma) - offset

    apart = difference(gda.transform(data.X[:1000]), peer(data.X[:1000]))
    jobs = {"mercer": lambda: gda.transform(data.X), "PyTorch": lambda: peer(data.X)}
    title = f"transform to {len(A)} features of GDA, left on the GPU"
    flops = 2 * n * m * (sizes.p + len(A))
    return [figure(title, in_turn(jobs), flops=flops, goal="ten", note=f"{apart:.0e} apart")]


def row_gda_gpu(sizes: Sizes) -> list[dict]:
    data, n, m = sizes.data(sizes.p), sizes.n, sizes.m
    jobs = {
        "mercer": lambda: mercer.GDA(basis=basis("rpcholesky", m, data.gamma), device=GPU).fit(data.X, data.y),
        "the basis alone": lambda: basis("rpcholesky", m, data.gamma).fit(data.X),
        "PyTorch": lambda: torch_discriminants(data.X, data.classes, m, data.gamma),
    }
    times = in_turn(jobs, 16 * n * m)
    found = figure("GDA, rows on the GPU", times, flops=2 * n * m**2)
    if all("median" in times[name] for name in ("mercer", "the basis alone")):
        found["moments"] = times["mercer"]["median"] - times["the basis alone"]["median"]
        found["note"] = f"{found['moments']:.2f} s beyond the basis: sums of products of features, and the solve"
        print(f"  {found['note']}", flush=True)
    return [found]


def row_gda_numpy(sizes: Sizes) -> list[dict]:
    data, n, m = sizes.data(sizes.p), sizes.n, sizes.m
    X = data.in_memory

    def peer():
        directions, _ = torch_discriminants(on_gpu(X), on_gpu(data.y), m, data.gamma)
        return directions.cpu().numpy()

    jobs = {
        "mercer": lambda: mercer.GDA(basis=basis("rpcholesky", m, data.gamma), device=GPU).fit(X, data.y),
        "PyTorch": peer,
    }
    return [figure("GDA from NumPy", in_turn(jobs, 16 * n * m), flops=2 * n * m**2, goal="gda-numpy")]


def row_numpy(sizes: Sizes) -> list[dict]:
    data, n, m, fitted = sizes.data(sizes.p), sizes.n, sizes.m, sizes.basis()
    X = data.in_memory
    jobs = {
        "mercer": lambda: basis("rpcholesky", m, data.gamma).fit(X),
        "PyTorch": lambda: torch_rpcholesky(on_gpu(X), m, data.gamma)[1].cpu(),
    }
    found = [figure("rpcholesky from NumPy", in_turn(jobs, 8 * n * m), flops=n * m**2)]
    give_back()
    few = max(1, n // 10)
    landmarks, A = on_gpu(fitted.landmarks_), on_gpu(fitted.coefficients_)
    jobs = {
        "mercer": lambda: fitted.transform(X[:few]),
        "PyTorch": lambda: torch_features(on_gpu(X[:few]), landmarks, A, data.gamma).cpu().numpy(),
    }
    title = f"transform {few} rows to {m} features, NumPy in and out"
    return [*found, figure(title, in_turn(jobs, 8 * few * m), flops=few * m**2 * 9 / 8)]


def relieff(queries: int | None, device: str = GPU) -> mercer.ReliefF:
    return mercer.ReliefF(n_neighbors=10, metric="euclidean", n_queries=queries, random_state=0, device=device)


def row_neighbours(sizes: Sizes) -> list[dict]:
    data, n, queries = sizes.data(sizes.few), sizes.n, sizes.queries
    two = data.y % 2
    group, chosen = data.classes % 2, torch.randperm(n, device=GPU)[:queries]
    jobs = {
        "mercer": lambda: relieff(queries).fit(data.X, two),
        "PyTorch": lambda: torch_neighbours(data.X, group, chosen, 10),
    }
    title = f"exact neighbours, {queries} queries, p = {sizes.few}: ReliefF"
    note = "ten of each of two classes; mercer's are exact and it sums differences, PyTorch compares in float32"
    return [figure(title, in_turn(jobs), goal="neighbours", note=note)]


def extrapolated(sizes: Sizes, k: int) -> dict:
    """Return PyTorch's time for neighbours of all rows, as a multiple of what a part of them took."""
    data = sizes.data(sizes.few)
    chosen = torch.randperm(sizes.n, device=GPU)[: sizes.queries]
    job = lambda: torch_neighbours(data.X, data.classes % 2, chosen, k)  # noqa: E731
    seconds(job)
    took, share = seconds(job), sizes.n / sizes.queries
    return {"median": took * share, "least": took * share, "all": [took], "extrapolated": share}


def row_relieff(sizes: Sizes) -> list[dict]:
    data = sizes.data(sizes.few)
    times = in_turn({"mercer": lambda: relieff(None).fit(data.X, data.y % 2)})
    times["PyTorch"] = extrapolated(sizes, 10)
    title = f"ReliefF on all rows, p = {sizes.few}, 10 neighbours"
    note = "PyTorch: neighbours alone, extrapolated from a tenth of the queries"
    return [figure(title, times, goal="relieff", note=note)]


def klfe(m: int, gamma: float, device: str = GPU) -> mercer.KLFE:
    return mercer.KLFE(10, n_neighbors=5, basis=basis("rpcholesky", m, gamma, device), random_state=0, device=device)


def row_klfe(sizes: Sizes) -> list[dict]:
    data, m = sizes.data(sizes.few), sizes.klfe_m
    times = in_turn({"mercer": lambda: klfe(m, data.gamma).fit(data.X, data.y % 2)})
    times["PyTorch"] = extrapolated(sizes, 5)
    title = f"KLFE on all rows, p = {sizes.few}, m = {m}, 5 neighbours"
    note = "PyTorch: neighbours alone, extrapolated from a tenth of the queries"
    return [figure(title, times, goal="klfe", note=note)]


# Beside the processor.


def both(title: str, make: Callable, X: np.ndarray, y: np.ndarray | None, *, transform: bool = False, **more) -> dict:
    """Time an estimator on the GPU and on the processor, from NumPy."""
    if transform:
        fitted = {device: make(device).fit(X[:5000], y) for device in (GPU, "cpu")}
        jobs = {name: (lambda f=fitted[device]: f.transform(X)) for name, device in PLACES.items()}
    else:
        jobs = {name: (lambda d=device: make(d).fit(X, y)) for name, device in PLACES.items()}
    return figure(title, in_turn(jobs), **more)


PLACES = {"mercer": GPU, "processor": "cpu"}


def row_cpu(sizes: Sizes) -> list[dict]:
    n, m = sizes.cpu_n, sizes.cpu_m
    wide, narrow = Data(n, sizes.p), Data(n, sizes.few)
    X, y, gamma = wide.in_memory, wide.y, wide.gamma
    found = []
    for method in ("rpcholesky", "kobl", "nystrom"):
        title = f"{method}, n = {n}, m = {m}, p = {sizes.p}"
        found.append(both(title, lambda device, name=method: basis(name, m, gamma, device), X, None, n=n))

    def gda(device: str):
        return mercer.GDA(basis=basis("rpcholesky", m, gamma, device), device=device)

    found.append(both(f"GDA, n = {n}, m = {m}, p = {sizes.p}", gda, X, y, n=n))
    title = f"transform, n = {n}, m = {m}, p = {sizes.p}"
    found.append(both(title, lambda device: basis("kobl", m, gamma, device), X, None, transform=True, n=n))
    X, y = narrow.in_memory, narrow.y % 2
    found.append(both(f"ReliefF, n = {n}, p = {sizes.few}", lambda device: relieff(None, device), X, y, n=n))
    few = min(500, m)
    title = f"KLFE, n = {n}, m = {few}, p = {sizes.few}"
    found.append(both(title, lambda device: klfe(few, narrow.gamma, device), X, y, n=n))
    return found


def row_crossover(sizes: Sizes) -> list[dict]:
    found = []
    for n in sizes.crossover:
        wide, narrow = Data(n, sizes.p), Data(n, sizes.few)
        X, gamma, m = wide.in_memory, wide.gamma, min(sizes.crossover_m, n // 4)
        kobl = lambda device: basis("kobl", m, gamma, device)  # noqa: B023, E731
        gda = lambda device: mercer.GDA(basis=kobl(device), device=device)  # noqa: B023, E731
        jobs = {
            "kobl": (kobl, X, None, False),
            "transform": (kobl, X, None, True),
            "GDA": (gda, X, wide.y, False),
            "ReliefF": (lambda device: relieff(None, device), narrow.in_memory, narrow.y % 2, False),
        }
        for name, (make, rows, y, transform) in jobs.items():
            found.append(both(f"{name}, n = {n}, m = {m}", make, rows, y, transform=transform, n=n, job=name))
    return found


# Results.


def as_array(values) -> np.ndarray:
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)


def difference(a, b) -> float:
    """Return the largest difference, relative to the largest magnitude."""
    a, b = as_array(a), as_array(b)
    return float(np.abs(a - b).max() / np.abs(b).max())


def row_checks(sizes: Sizes) -> list[dict]:
    n, m = sizes.check_n, sizes.check_m
    data, narrow = Data(n, sizes.p), Data(n, sizes.few)
    X, gamma = data.in_memory, data.gamma
    here, there = (basis("kobl", m, gamma, device).fit(X) for device in ("cpu", GPU))
    again = basis("kobl", m, gamma).fit(data.X)
    random, random_again = (basis("rpcholesky", m, gamma).fit(data.X) for _ in range(2))
    scores = [relieff(None, device).fit(narrow.in_memory, narrow.y % 2).scores_ for device in ("cpu", GPU)]
    features = there.transform(data.X)
    apart = difference(features, here.transform(X))
    checks = {
        f"the {m} landmarks of kobl are the processor's": np.array_equal(here.pivots_, there.pivots_),
        "from NumPy and from rows on the GPU: the same landmarks": np.array_equal(there.pivots_, again.pivots_),
        f"features agree to 1e-10 ({apart:.1e})": apart <= 1e-10,
        "kobl: the same bits twice": np.array_equal(there.coefficients_, again.coefficients_),
        "rpcholesky: the same bits twice": np.array_equal(random.pivots_, random_again.pivots_)
        and np.array_equal(random.coefficients_, random_again.coefficients_),
        "transform: the same bits twice": np.array_equal(as_array(features), as_array(there.transform(data.X))),
        "transform: PyTorch in, PyTorch out": isinstance(features, torch.Tensor),
        f"ReliefF: the processor's scores ({difference(*scores[::-1]):.1e})": difference(*scores[::-1]) <= 1e-12,
    }
    for what, holds in checks.items():
        print(f"  {'yes' if holds else 'NO'}: {what}", flush=True)
    return [{"check": what, "holds": bool(holds)} for what, holds in checks.items()]


ROWS: dict[str, Callable[[Sizes], list[dict]]] = {
    "checks": row_checks,
    "rpcholesky": row_rpcholesky,
    "kobl": row_kobl,
    "transform": row_transform,
    "ten": row_ten,
    "gda-GPU": row_gda_gpu,
    "gda-numpy": row_gda_numpy,
    "numpy": row_numpy,
    "neighbours": row_neighbours,
    "relieff": row_relieff,
    "klfe": row_klfe,
    "cpu": row_cpu,
    "crossover": row_crossover,
}


# What is printed last.


def cell(side: dict | None) -> str:
    if side is None or "median" not in side:
        return "failed" if side and "error" in side else ""
    about = "≈ " if "extrapolated" in side else ""
    return f"{about}{side['median']:.3f}" if side["median"] < 10 else f"{about}{side['median']:.1f}"


def ratio(figure: dict, peer: str) -> str:
    sides = [figure.get(name, {}).get("median") for name in ("mercer", peer)]
    found = sides[1] / sides[0] if all(sides) else None
    return "" if found is None else f"{found:.1f}" if found >= 1 else f"{found:.2f}"


def table(figures: dict[str, list[dict]], at_full_size: bool) -> None:
    beside = [f for name, found in figures.items() if name not in ("checks", "cpu", "crossover") for f in found]
    if beside:
        print("\n| job | mercer, s | PyTorch, s | ratio | TFLOP/s | goal, s |\n|---|---:|---:|---:|---:|---:|")
    for f in beside:
        speed = f"{f['tflops']:.0f}" if f.get("tflops") else ""
        goal = GOALS.get(f.get("goal", "")) if at_full_size else None
        met = f"{goal:g}{'' if f['mercer'].get('median', goal + 1) <= goal else ', **not met**'}" if goal else ""
        print(
            f"| {f['title']} | {cell(f.get('mercer'))} | {cell(f.get('PyTorch'))} | {ratio(f, 'PyTorch')} "
            f"| {speed} | {met} |"
        )
    if beside:
        print("\n" + "\n".join(f"- {f['title']}: {f['note']}." for f in beside if f.get("note")))
    here = figures.get("cpu", []) + figures.get("crossover", [])
    if here:
        print("\n| from NumPy | GPU, s | processor, s | ratio |\n|---|---:|---:|---:|")
    for f in here:
        print(f"| {f['title']} | {cell(f.get('mercer'))} | {cell(f.get('processor'))} | {ratio(f, 'processor')} |")
    for job, n in crossovers(figures.get("crossover", [])).items():
        print(f"\n{job}: " + (f"the GPU is faster from n = {n} on" if n else "the GPU is not faster at any of these n"))
    checks = figures.get("checks", [])
    wrong = [check["check"] for check in checks if not check.get("holds", True)]
    print(
        f"\n{len(checks)} checks of results" + (", **these do not hold**: " + "; ".join(wrong) if wrong else " hold.")
    )


def crossovers(found: list[dict]) -> dict[str, int | None]:
    """Return for every job the smallest n from which on the GPU was faster at all sizes."""
    first: dict[str, int | None] = dict.fromkeys(f["job"] for f in found)
    for job in first:
        for f in sorted((f for f in found if f["job"] == job), key=lambda f: -f["n"]):
            sides = [f.get(name, {}).get("median") for name in PLACES]
            if not all(sides) or sides[0] >= sides[1]:
                break
            first[job] = f["n"]
    return first


def about() -> dict[str, str]:
    """Return what was measured on."""
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0"]
        driver = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        driver = "unknown"
    free, total = torch.cuda.mem_get_info()
    return {
        "GPU": torch.cuda.get_device_name(0),
        "memory": f"{total / 2**30:.0f} GiB, {free / 2**30:.0f} free",
        "driver": driver,
        "torch": f"{torch.__version__}, CUDA {torch.version.cuda}",
        "mercer": mercer.__version__,
        "python": sys.version.split()[0],
        "machine": machine(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, help="rows (default 1000000)")
    parser.add_argument("--m", type=int, help="landmarks (default 4096)")
    parser.add_argument("--p", type=int, default=100, help="columns")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--rows", default="", help="names of rows with commas between; `help` lists them")
    parser.add_argument("--json", help="write the figures here too")
    given = parser.parse_args()
    names = [name for name in given.rows.split(",") if name] or list(ROWS)
    if unknown := [name for name in names if name not in ROWS]:
        sys.exit(f"--rows {unknown[0]}: the rows are {', '.join(ROWS)}")
    if not torch.cuda.is_available():
        sys.exit("bench/gpu.py needs an NVIDIA GPU that PyTorch can use; torch.cuda.is_available() is False")
    at_full_size = (given.n, given.m, given.p) in [(None, None, 100), (1_000_000, 4096, 100)] and not given.quick
    given.n = given.n or (20_000 if given.quick else 1_000_000)
    given.m = given.m or (512 if given.quick else 4096)
    sizes, facts, figures = Sizes(given), about(), {}
    print("; ".join(f"{name}: {value}" for name, value in facts.items()))
    print(f"n = {given.n}, m = {given.m}, p = {given.p}, float64", flush=True)
    start = time.perf_counter()
    for name in names:
        print(f"{name} (after {time.perf_counter() - start:.0f} s)", flush=True)
        try:
            figures[name] = ROWS[name](sizes)
        except Exception as error:
            figures[name] = [{"title": name, "note": failed(name, error), "mercer": {"error": str(error)}, "n": 0}]
            figures[name][0] |= {"job": name, "check": name, "holds": False}
        give_back()
        if given.json:
            with open(given.json, "w") as out:
                json.dump({"about": facts, "n": given.n, "m": given.m, "p": given.p, "figures": figures}, out, indent=1)
    table(figures, at_full_size)


if __name__ == "__main__":
    main()
