"""Selectors beside skrebate and scikit-learn, in one run: `make bench`.

Every job and its peer are timed in turn, several times; the ratio of the medians is what counts.
"""

import sys

import numpy as np
import skrebate
from measure import alone, arguments, keep, report, side_by_side
from scipy.stats import spearmanr
from sklearn.feature_selection import mutual_info_classif
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import mercer
from mercer import _core


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


def neighbours(n: int, p: int, k: int, repeats: int, figures: list) -> None:
    """Seek the k nearest rows of every row, in two ways.

    `Relief` is the public call that seeks them: it finds k hits and k misses, twice what the peer finds, and adds up
    their differences. The evaluator `knn` finds k and lets them vote, and so does scikit-learn's.
    """
    x, y = rows(n, p)
    brute = {"algorithm": "brute", "n_neighbors": k}
    jobs = {
        "Relief": lambda: mercer.Relief(n_neighbors=k).fit(x, y),
        "NearestNeighbors": lambda: NearestNeighbors(**brute).fit(x).kneighbors(),
        "knn": lambda: _core.evaluate(x, y, x, "knn", n_neighbors=k),
        "KNeighborsClassifier": lambda: KNeighborsClassifier(**brute).fit(x, y).predict(x),
    }
    times = side_by_side(jobs, repeats)
    for own, peer in (("Relief", "NearestNeighbors"), ("knn", "KNeighborsClassifier"), ("knn", "NearestNeighbors")):
        report(f"{own}, n = {n}, p = {p}, k = {k}, against {peer}", times[own], times[peer], figures)
    same = np.mean(_core.evaluate(x, y, x, "knn", n_neighbors=k)["predictions"] == jobs["KNeighborsClassifier"]())
    print(f"  the same vote: {same:.4f} (five against five goes to the nearest here, to the lower class there)")


class MutualInfoPeer:
    """scikit-learn's function in the shape of an estimator."""

    def fit(self, x, y):
        """Score the columns."""
        self.feature_importances_ = mutual_info_classif(x, y, random_state=0, n_jobs=None)


def main() -> None:
    given = arguments(__doc__)
    n, p, many, repeats = (200, 10, 2_000, 1) if given.quick else (2_000, 50, 100_000, 3)
    figures: list = []
    neighbours(10 * n, p, 10, repeats + 2, figures)
    share = {"n_jobs": -1}  # skrebate shares its rows out to processes
    relieff, peer = mercer.ReliefF(n_neighbors=10), skrebate.ReliefF(n_neighbors=10, **share)
    beside("ReliefF", relieff, peer, n, p, repeats, figures)
    beside("ReliefF", relieff, peer, 5 * n // 2, p, 1, figures)  # once: it grows with the square
    beside("MultiSURF", mercer.MultiSURF(), skrebate.MultiSURF(**share), n, p, repeats, figures)
    beside("mutual information", mercer.MutualInfo(), MutualInfoPeer(), 10 * n, p, repeats, figures)

    if sys.platform == "linux":
        m = 6 * p
        basis = f"mercer.KernelBasis(n_components={m})"
        jobs = {
            f"ReliefF, n = {many // 10}, p = {p}": (many // 10, "mercer.ReliefF().fit(x, y)"),
            f"ReliefF, n = {many}, p = {p}": (many, "mercer.ReliefF().fit(x, y)"),
            f"KRelief on kobl, n = {many // 10}, m = {m}": (many // 10, f"mercer.KRelief(basis={basis}).fit(x, y)"),
        }
        for title, (n, job) in jobs.items():
            took, megabytes, _ = alone(f"from selection import *; x, y = rows({n}, {p})", job)
            print(f"{title}: {took:.1f} s, {megabytes:.0f} MB beyond the rows", flush=True)
            figures.append({"job": title, "seconds": took, "MB": megabytes})
    keep(figures, given.json)


if __name__ == "__main__":
    main()
