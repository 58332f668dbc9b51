"""Kernel principal components beside scikit-learn's KernelPCA with each of its solvers, in one run: `make bench`.

Every job and its peers are timed in turn, several times; the ratio of the medians is what counts. Both sides centre.
"""

import os
import sys
from functools import partial

import numpy as np
from basis import GAMMA, ringnorm
from measure import alone, arguments, keep, report, side_by_side
from sklearn.decomposition import KernelPCA

import mercer


def own(q: int | None):
    return mercer.KernelBasis("kpca", center=True, gamma=GAMMA, n_components=q)


def peer(q: int | None, solver: str):
    return KernelPCA(q, kernel="rbf", gamma=GAMMA, eigen_solver=solver, random_state=0)


def beside(n: int, q: int | None, solvers: tuple, repeats: int, figures: list) -> None:
    x = ringnorm(n)
    models = {"own": own(q), **{solver: peer(q, solver) for solver in solvers}}
    times = side_by_side({name: partial(model.fit, x) for name, model in models.items()}, repeats)
    for solver in solvers:
        report(f"KPCA, n = {n}, {q or 'all'} components, {solver}", times["own"], times[solver], figures)
    top = {name: model.eigenvalues_[: q or 50] for name, model in models.items()}
    errors = {name: float(np.abs(values / top["dense"] - 1).max()) for name, values in top.items()}
    print(f"  largest relative difference of an eigenvalue from the dense solver's: {errors}", flush=True)
    figures.append({"job": f"eigenvalues, n = {n}, {q or 'all'}", **errors})


def beyond_memory(small: int, n: int, q: int, figures: list) -> None:
    """Measure a factor in place of K: its accuracy where K can still be had, its memory where it cannot."""
    x = ringnorm(small)
    exact = own(q).fit(x)
    os.environ["MERCER_MEMORY"] = f"{small * small * 16}"  # less than K and its solver take
    factored = own(q).fit(x)
    del os.environ["MERCER_MEMORY"]
    error = factored.eigenvalues_ / exact.eigenvalues_ - 1
    print(
        f"KPCA by a factor of {len(factored.pivots_)} rows, n = {small}: eigenvalues off by {np.abs(error).max():.2%}"
        f" at most; share of the trace left out {factored.residual_:.4f}, by the best {q} {exact.residual_:.4f}",
        flush=True,
    )
    took, megabytes, _ = alone(
        f"from components import *; x = ringnorm({n})",
        f"b = own({q}).fit(x); print(b.residual_, len(b.pivots_), file=sys.stderr)",
    )
    print(f"KPCA, n = {n}, {q} components: {took:.1f} s, {megabytes:.0f} MB beyond the rows", flush=True)
    figures.append(
        {"job": f"KPCA, n = {n}, {q}", "seconds": took, "MB": megabytes, "error": float(np.abs(error).max())}
    )


def main() -> None:
    given = arguments(__doc__)
    n, small, many, q, repeats = (400, 400, 2_000, 10, 1) if given.quick else (4_000, 10_000, 50_000, 50, 3)
    figures: list = []
    beside(n, q, ("dense", "arpack", "randomized"), repeats, figures)
    beside(n, None, ("dense",), repeats, figures)
    if sys.platform == "linux":
        beyond_memory(small, many, q, figures)
    keep(figures, given.json)


if __name__ == "__main__":
    main()
