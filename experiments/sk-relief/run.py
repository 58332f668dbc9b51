"""Sparse Kernel-Relief: Relief on kernel coordinates beside other extractors, and what a sparse basis costs.

Four kinds of jobs: `compare` (all methods on one split, with the curve over nu and other orders of the rows), `bases`
(Relief on other bases of the same size), `times` and `growth` (alone, because they measure time).
"""

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tools")]
import numpy as np
import skrelief_pages
from lab import Job, Report, Results, main
from skrelief_methods import MFA, RELIEF, Split, divide, errors, kernel, load, relief, tuned, words

from mercer import GDA, KANMM, KMFA, KPCA, KernelBasis, KRelief, metrics

VERSION = 1


def jobs(settings: dict) -> list[Job]:
    """List the jobs: one a split for errors, one a set for times, and one for growth."""
    s = settings
    grid = {k: s[k] for k in ("folds", "widths", "neighbours", "dims")}
    out = []
    for name in s["sets"]:
        where = {"name": name, "rows": s["rows"].get(name), "train": s["train"], "seed": s["seed"]}
        curve = {k: s[k] for k in ("nu", "nus", "orders")}
        out += [Job("compare", where | {"run": r} | grid | curve, needs=(name,)) for r in range(s["runs"])]
        for some in ("bases", "more_bases"):
            sizes = {"bases": s[some], "size": s["size"]}
            out += [Job("bases", where | {"run": r} | grid | sizes, needs=(name,)) for r in range(s["base_runs"])]
        spend = {"nu": s["nu"], "repeats": s["repeats"], "v": 4}
        out.append(Job("times", where | spend, alone=True, needs=(name,)))
    spend = {"nu": s["nu"], "sizes": s["growth_rows"], "test": s["growth_test"], "repeats": s["growth_repeats"], "v": 4}
    where = {"name": s["growth_set"], "seed": s["seed"]}
    return [*out, Job("growth", where | spend, alone=True, needs=(s["growth_set"],))]


METHODS = ("kNN", "Relief", "first rows", "K-Relief", "SK-Relief", "KPCA", "GDA", "KANMM", "KMFA")


def compare(data: Path, *, name, rows, run, train, nu, nus, orders, **grid) -> dict:
    """Judge all methods on one split, then K-Relief on other orders of its rows and SK-Relief on other seeds and nu."""
    seed = grid["seed"]
    part = divide(*load(data, name, rows, seed), train, seed + run)
    found = {}
    for method in METHODS:
        grid_of = grid | {"dims": [part.x.shape[1]]} if method == "kNN" else grid
        widths = [1.0] if method in ("kNN", "Relief") else grid["widths"]
        found[method] = tuned(method, widths, part, grid_of, nu=nu)
        if method not in ("K-Relief", "SK-Relief"):
            del found[method]["landmarks"]
    dense, sparse = found["K-Relief"]["best"], found["SK-Relief"]["best"]
    rng = np.random.default_rng([seed, run])
    shuffles = [rng.permutation(len(part.x)) for _ in range(orders)]
    return {
        "train": len(part.x),
        "methods": found,
        "dictionary": dictionary(sparse["width"], nu, part),
        "nus": [at_nu(value, dense["width"], part, grid) for value in nus],
        "orders": [reordered(dense, order, part) for order in shuffles],
        "by class": reordered(dense, np.argsort(part.y, kind="stable"), part),
        "seeds": [reseeded(sparse, number, nu, part) for number in range(1, orders + 1)],
        "places": places(dense, part),
    }


def dictionary(width: float, nu: float, part: Split) -> int:
    """Count the rows that the sparse basis keeps."""
    return kernel("sparse", width, part.x, nu=nu).fit(part.x).n_components_


def at_nu(nu: float, width: float, part: Split, grid: dict) -> dict:
    """Judge SK-Relief at another nu and at K-Relief's width; k and the number of features are tuned again."""
    best = tuned("SK-Relief", [width], part, grid, nu=nu)["best"]
    kept = {q: best[q] for q in ("error", "seen", "landmarks", "dim")}
    return {"nu": nu, "dictionary": dictionary(width, nu, part)} | kept


def reordered(best: dict, order: np.ndarray, part: Split) -> float:
    """Return the test error of K-Relief, as it was tuned, on the same training rows in another order."""
    x, y = part.x[order], part.y[order]
    z, zt, _ = relief(kernel("gram-schmidt", best["width"], x), x, y, part.test, best["dim"])
    return float(errors(z, y, zt, part.truth, [best["dim"]], [best["k"]])[0, 0])


def reseeded(best: dict, seed: int, nu: float, part: Split) -> float:
    """Return the test error of SK-Relief, as it was tuned, when it visits the rows in another random order."""
    basis = kernel("sparse", best["width"], part.x, nu=nu, random_state=seed)
    z, zt, _ = relief(basis, part.x, part.y, part.test, best["dim"])
    return float(errors(z, part.y, zt, part.truth, [best["dim"]], [best["k"]])[0, 0])


def places(best: dict, part: Split) -> dict:
    """Say where in the order of the rows K-Relief's ten best coordinates stand; 0.5 would be the mean by chance."""
    system = KRelief(n_features=10, **RELIEF, basis=kernel("gram-schmidt", best["width"], part.x))
    system.fit(part.x, words(part.y))
    at = np.flatnonzero(system.get_support())
    return {"mean": float((at / (system.basis_.n_components_ - 1)).mean()), "last": int(at.max()) + 1}


def bases(data: Path, *, name, rows, run, train, bases, size, **grid) -> dict:
    """Judge Relief, and the basis' own order, on bases of the same size."""
    part = divide(*load(data, name, rows, grid["seed"]), train, grid["seed"] + run)
    found = {}
    for method in bases:
        for order in ("relief", "own"):
            best = tuned(method, grid["widths"], part, grid, fit=on_basis, size=size, order=order)["best"]
            found[f"{method} {order}"] = {q: best[q] for q in ("error", "dim")}
    return found


def on_basis(method: str, width: float, x, y, test, most: int, *, size: int, order: str):
    """Fit a basis of this size, and rank its coordinates by Relief or leave them in their own order.

    The sparse dictionary gets a small nu and csi a small tolerance, so that the size ends them.
    """
    options = {"sparse": {"nu": 0.001}, "kobl": {"threshold": 0.0}, "csi": {"tol": 1e-9}}.get(method, {})
    basis = kernel(method, width, x, n_components=size, **options)
    if order == "relief":
        return relief(basis, x, y, test, most)
    basis.fit(x, words(y))
    return basis.transform(x)[:, :most], basis.transform(test)[:, :most], [size] * min(most, basis.n_components_)


# Times and counts.


def median_times(calls: dict, repeats: int) -> dict[str, float]:
    """Time each call in turn, again and again; processor time, which another program on the machine hardly changes."""
    taken = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            call()
            taken[name].append(time.process_time() - start)
    return {name: float(np.median(values)) for name, values in taken.items()}


def times(data: Path, *, name, rows, train, seed, nu, repeats, v) -> dict:
    """Measure fit and transform of every method with ten features (or what it has) on one split, and check identities.

    `v` is raised when this function measures something else.
    The basis of K-Relief, GDA, KANMM and KMFA is the paper's, `gram-schmidt`. What they cost on `kobl`, which spans the
    same rows in less time, is what is left of the difference when the basis is cheap.
    """
    _, x, y, test, _ = divide(*load(data, name, rows, seed), train, seed)
    y = words(y)
    methods = {
        "SK-Relief": KRelief(n_features=10, **RELIEF, basis=kernel("sparse", 1.0, x, nu=nu)),
        "KPCA": KPCA(n_components=10, basis=kernel("kpca", 1.0, x, n_components=10, center=True)),
        # K-Relief's basis has as many coordinates as rows; KPCA with as many is the like comparison.
        "KPCA all": KPCA(basis=kernel("kpca", 1.0, x, center=True)),
        "K-Relief on kpca": KRelief(n_features=10, **RELIEF, basis=kernel("kpca", 1.0, x)),
    }
    for end, basis in (("", kernel("gram-schmidt", 1.0, x)), (" on kobl", kernel("kobl", 1.0, x, threshold=0.0))):
        methods |= {
            f"K-Relief{end}": KRelief(n_features=10, **RELIEF, basis=basis),
            f"GDA{end}": GDA(reg=1e-3, basis=basis),
            f"KANMM{end}": KANMM(n_components=10, n_neighbors=5, basis=basis),
            f"KMFA{end}": KMFA(n_components=10, **MFA, basis=basis),
        }
    for method in methods.values():
        method.fit(x, y)
    return {
        "train": len(x),
        "fit": median_times({m: lambda e=e: e.fit(x, y) for m, e in methods.items()}, repeats),
        "transform": median_times({m: lambda e=e: e.transform(test) for m, e in methods.items()}, 10 * repeats),
        "values": {m: e.basis_.n_kernel_evaluations_ for m, e in methods.items()},
        "identities": identities(methods["K-Relief"], x, y)
        | {"dictionary": unexplained(methods["SK-Relief"].basis_, x)},
    }


def unexplained(basis: KernelBasis, x: np.ndarray) -> float:
    """Return the largest share of a training row that the dictionary leaves unexplained; nu bounds it."""
    return float((1 - (basis.transform(x) ** 2).sum(axis=1)).max())


def identities(system: KRelief, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Check the corrected derivation against a few lines of NumPy: the largest deviations.

    `basis`: A K Aᵀ = I. `kernel`: Z Zᵀ = K. `scores`: the sum of |difference from miss| - |difference from hit| over
    the rows, with neighbours by the kernel's own distance. `weights`: the closed form against the best of 1000 random
    non-negative unit vectors; negative means that none is better.
    """
    basis = system.basis_
    z = basis.transform(x)
    gram = np.exp(-basis.gamma_ * ((x[:, None] - x[None]) ** 2).sum(2))
    distance = 2 - 2 * gram
    np.fill_diagonal(distance, np.inf)
    same = y[:, None] == y
    hit = np.where(same, distance, np.inf).argmin(1)
    miss = np.where(same, np.inf, distance).argmin(1)
    scores = (np.abs(z - z[miss]) - np.abs(z - z[hit])).mean(0)
    closed = np.maximum(system.scores_, 0)
    closed /= np.linalg.norm(closed)
    random = np.abs(np.random.default_rng(0).normal(size=(1000, len(closed))))
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    return {
        "basis": float(metrics.orthogonality_loss(basis, x)),
        "kernel": float(np.abs(z @ z.T - gram).max()),
        "scores": float(np.abs(scores - system.scores_).max()),
        "weights": float((random @ system.scores_).max() - closed @ system.scores_),
    }


def growth(data: Path, *, name, seed, nu, sizes, test, repeats, v) -> list[dict]:
    """Measure time, kernel values and landmarks of ten features against the number of training rows.

    KPCA is beside them for what a feature costs that is a sum over all training rows. `v` as in `times`.
    """
    out = []
    for size in sizes:
        _, x, y, new, _ = divide(*load(data, name, size + test, seed), size / (size + test), seed)
        systems = {
            "K-Relief": KRelief(n_features=10, **RELIEF, basis=kernel("gram-schmidt", 1.0, x)),
            "SK-Relief": KRelief(n_features=10, **RELIEF, basis=kernel("sparse", 1.0, x, nu=nu)),
            "KPCA": KPCA(n_components=10, basis=kernel("kpca", 1.0, x, n_components=10, center=True)),
            "KPCA all": KPCA(basis=kernel("kpca", 1.0, x, center=True)),
        }
        for system in systems.values():
            system.fit(x, y)
        relief_only = {m: s for m, s in systems.items() if "Relief" in m}
        whole = {m: s.basis_ for m, s in relief_only.items()}
        out.append(
            {
                "rows": len(x),
                "fit": median_times({m: lambda s=s, x=x, y=y: s.fit(x, y) for m, s in systems.items()}, repeats),
                "transform": median_times(
                    {m: lambda s=s, v=new: s.transform(v) for m, s in systems.items()}, 10 * repeats
                ),
                "all": median_times({m: lambda s=s, v=new: s.transform(v) for m, s in whole.items()}, 10 * repeats),
                "values": {m: s.basis_.n_kernel_evaluations_ for m, s in relief_only.items()},
                "basis": {m: s.n_components_ for m, s in whole.items()},
                "last": {m: int(np.flatnonzero(s.get_support()).max()) + 1 for m, s in relief_only.items()},
            }
        )
    return out


def report(results: Results, report: Report) -> None:
    """Make the tables, figures and claims."""
    skrelief_pages.write(results, report)


if __name__ == "__main__":
    main("sk-relief")
