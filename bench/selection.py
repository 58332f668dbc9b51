"""Selectors beside skrebate and scikit-learn, in one run: `make bench`.

Every job and its peer are timed in turn, several times; the ratio of the medians is what counts.
"""

import sys

import numpy as np
import skrebate
from measure import alone, arguments, keep, report, side_by_side
from scipy.stats import spearmanr
from sklearn.feature_selection import mutual_info_classif

import mercer


def rows(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that differ in five of p columns."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    x = random.normal(size=(n, p))
    x[:, :5] += 0.7 * y[:, None]
    return x, y


def beside(title: str, own, peer, n: int, p: int, repeats: int, figures: list) -> None:
    x, y = rows(n, p)
    times = side_by_side({"own": lambda: own.fit(x, y), "peer": lambda: peer.fit(x, y)}, repeats)
    report(f"{title}, n = {n}, p = {p}", times["own"], times["peer"], figures)
    agreement = spearmanr(own.scores_, peer.feature_importances_).statistic
    print(f"  rank correlation of the scores: {agreement:.4f}")


class MutualInfoPeer:
    """scikit-learn's function in the shape of an estimator."""

    def fit(self, x, y):
        """Score the columns."""
        self.feature_importances_ = mutual_info_classif(x, y, random_state=0, n_jobs=None)


def main() -> None:
    given = arguments(__doc__)
    n, p, many, repeats = (200, 10, 2_000, 1) if given.quick else (2_000, 50, 100_000, 3)
    figures: list = []
    threads = -1  # skrebate shares its rows out to processes
    beside(
        "ReliefF",
        mercer.ReliefF(n_neighbors=10),
        skrebate.ReliefF(n_neighbors=10, n_jobs=threads),
        n,
        p,
        repeats,
        figures,
    )
    beside("MultiSURF", mercer.MultiSURF(), skrebate.MultiSURF(n_jobs=threads), n, p, repeats, figures)
    beside("mutual information", mercer.MutualInfo(), MutualInfoPeer(), 10 * n, p, repeats, figures)

    if sys.platform == "linux":
        m = 6 * p
        basis = f"mercer.KernelBasis(n_components={m})"
        jobs = {
            f"ReliefF, n = {many}, p = {p}": "mercer.ReliefF().fit(x, y)",
            f"KRelief on kobl, n = {many}, m = {m}": f"mercer.KRelief(basis={basis}).fit(x, y)",
            f"TAKES, n = {many}, m = {m}": f"mercer.TAKES(basis={basis}).fit(x, y)",
        }
        for title, job in jobs.items():
            took, megabytes = alone(f"from selection import *; x, y = rows({many}, {p})", job)
            print(f"{title}: {took:.1f} s, {megabytes:.0f} MB beyond the rows", flush=True)
            figures.append({"job": title, "seconds": took, "MB": megabytes})
    keep(figures, given.json)


if __name__ == "__main__":
    main()
