"""Do chosen landmarks beat uniform ones? Trace error, score and time at equal basis size, on all sets at hand."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).parents[1]),
    str(Path(__file__).parents[2] / "tools"),
    str(Path(__file__).parent),
]
import landmarks_data as sets
import landmarks_report
import numpy as np
from lab import Job, Report, Results, main
from scipy.sparse import csr_matrix, issparse
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.metrics import balanced_accuracy_score, pairwise_distances_argmin
from sklearn.metrics.pairwise import rbf_kernel

from mercer import KernelBasis

VERSION = 2
ALPHAS = np.logspace(-6, 2, 9)  # penalties of ridge, also where the width is tuned
OWN = ("uniform", "k-means", "rpcholesky", "kobl", "csi")
WIDTHS = 10 ** np.arange(-2, 1.51, 0.5)  # times 1/p: the grid of mercer's gamma="loo"


def jobs(settings: dict) -> list[Job]:
    """List one job a set and seed, and the timings."""
    out = []
    for name in settings["sets"]:
        kind = "_large" if name in settings["large"] else "_made" if name in sets.MADE else ""
        for seed in range(settings["repeats" + kind]):
            told = {k: settings[k] for k in ("sizes", "max_train", "max_test", "max_slow", "tune_rows")}
            told["draws"] = settings["draws_large" if kind else "draws"]
            out.append(Job("cell", {"name": name, "seed": seed, **told}, needs=sets.needs(name)))
    for name, rows in settings["timed"].items():
        told = {"name": name, "rows": rows, "sizes": settings["timed_sizes"], "repeats": settings["timed_repeats"]}
        out.append(Job("times", told, needs=sets.needs(name)))
    return out


def cell(
    data: Path,
    *,
    name: str,
    seed: int,
    sizes: list[int],
    max_train: int,
    max_test: int,
    max_slow: int,
    tune_rows: int,
    draws: int,
) -> dict:
    """Fit every basis to one training part, under each rule for the width."""
    train, test, y, y_test = sets.split(name, data, seed, max_train, max_test)
    sizes = [m for m in sizes if 2 * m < len(y)]
    middle = nearest_size(sizes, len(y))
    out = {"n_train": len(y), "n_test": len(y_test), "p": train.shape[1], "m": sizes, "middle": middle, "draws": draws}
    sample = np.random.default_rng(seed).permutation(len(y))[:tune_rows]
    judge = partial(judged, y=y, y_test=y_test, balanced=name in sets.MADE)
    for rule, gamma in widths(name, train, y, sample, seed).items():
        kernel = {"kernel": "cosine"} if gamma is None else {"kernel": "rbf", "gamma": gamma}
        told = out[rule] = {"gamma": gamma, **shape_of(train[sample], gamma, len(y))}
        for method, by_size in fit_all(train, y, kernel, sizes, seed, max_slow).items():
            told[method] = [judge(z, basis.transform(test)[:, : z.shape[1]]) for z, basis in by_size]
            if method == "k-means":
                centres = by_size[sizes.index(middle)][1].landmarks_
        rows = KernelBasis("nystrom", landmarks=train[nearest_rows(centres, train)], **kernel)
        told["nearest"] = judge(rows.fit_transform(train), rows.transform(test))
        more = [KernelBasis("nystrom", n_components=middle, random_state=s, **kernel) for s in further(seed, draws)]
        told["further"] = np.mean([judge(b.fit_transform(train), b.transform(test)) for b in more], axis=0)
    if name not in sets.TEXTS:
        out["own"] = own_widths(train, test, y, y_test, middle, seed)
        more = [own_widths(train, test, y, y_test, middle, s, ("uniform",)) for s in further(seed, draws)]
        out["own"]["further"] = np.mean([each["uniform"] for each in more], axis=0)
    return out


def further(seed: int, draws: int) -> list[int]:
    """Return the seeds of further draws of uniform landmarks, at the middle size.

    Every method is compared with uniform, so one lucky or unlucky draw would move all of them together. On small sets
    it would: five landmarks of forty rows are a matter of luck.
    """
    return [5000 + 100 * seed + draw for draw in range(draws)]


def nearest_size(sizes: list[int], n: int) -> int:
    """Return the size nearest to √n."""
    return min(sizes, key=lambda m: abs(np.log(m / n**0.5)))


def widths(name: str, train, y, sample, seed: int) -> dict[str, float | None]:
    """Return the rules for the width that all methods share, and what they say. Texts have no width."""
    if name in sets.TEXTS:
        return {"cosine": None}
    median = KernelBasis("nystrom", gamma="median", n_components=2, random_state=seed).fit(train).gamma_
    return {"tuned": tuned_width(train[sample], y[sample]), "median": median}


def own_widths(train, test, y, y_test, m: int, seed: int, methods: tuple[str, ...] = OWN) -> dict:
    """Let every method have the width that suits it best at size m, by the training part's leave-one-out error.

    This is what a grid search over the pipeline does, and so the comparison that a user sees.
    """
    plain = {"n_components": m, "threshold": 0.0, "random_state": seed}
    bases = {
        "uniform": KernelBasis("nystrom", **plain),
        "k-means": on_centres(train, m, {}, seed) if "k-means" in methods else None,
        "rpcholesky": KernelBasis("rpcholesky", **plain),
        "kobl": KernelBasis("kobl", **plain),
        "csi": KernelBasis("csi", tol=1e-9, **plain),
    }
    out = {}
    for method in methods:
        basis = bases[method]
        found = (-np.inf, None, None)
        for gamma in WIDTHS / train.shape[1]:
            z = basis.set_params(gamma=float(gamma)).fit_transform(train, y)
            found = max(found, (ridge(y).fit(z, y).best_score_, float(gamma), z), key=lambda found: found[0])
        basis.set_params(gamma=found[1]).fit(train, y)
        out[method] = judged(found[2], basis.transform(test), y, y_test)
    return out


def ridge(y):
    """Ridge for classes or numbers, its penalty chosen by the leave-one-out error of the training part."""
    return RidgeCV(ALPHAS) if y.dtype.kind == "f" else RidgeClassifierCV(ALPHAS)


def fit_all(train, y, kernel: dict, sizes: list[int], seed: int, max_slow: int) -> dict:
    """Return for each method and size the training features and the fitted basis.

    The first m features of a pivoted basis are the basis of size m, so these are fitted once, at the largest size.
    Uniform landmarks that depend on others are dropped, so the first m features may have seen more than m draws:
    these are fitted anew for every size, as are k-means' centres.
    """
    top = {"n_components": sizes[-1], "threshold": 0.0, "random_state": seed, **kernel}
    slow = {**top, "n_components": max(m for m in sizes if m <= max_slow or len(y) <= 1000)}
    pivoted = {
        "rpcholesky": KernelBasis("rpcholesky", **top),
        "kobl": KernelBasis("kobl", **top),
        "csi": KernelBasis("csi", tol=1e-9, **slow),
        "kpca": KernelBasis("kpca", **slow),
    }
    out = {
        "uniform": [_fitted(KernelBasis("nystrom", **{**top, "n_components": m}), train) for m in sizes],
        "sklearn": [_fitted(Nystroem(**kernel, n_components=m, random_state=seed + 1000), train) for m in sizes],
        "k-means": [_fitted(on_centres(train, m, kernel, seed), train) for m in sizes],
    }
    for method, basis in pivoted.items():
        features = basis.fit_transform(train, y)
        reached = [m for m in sizes if m <= basis.n_components]
        out[method] = [(features[:, :m], basis) for m in reached]
    return out


def _fitted(basis, train):
    return basis.fit_transform(train), basis


def on_centres(train, m: int, kernel: dict, seed: int) -> KernelBasis:
    """Take k-means' centres as landmarks: the strong baseline of the literature (Zhang, Tsang & Kwok 2008)."""
    centres = KMeans(m, n_init=1, max_iter=20, random_state=seed).fit(train).cluster_centers_
    centres = csr_matrix(centres) if issparse(train) else centres
    return KernelBasis("nystrom", landmarks=centres, n_components=m, random_state=seed, **kernel)


def nearest_rows(centres, train) -> np.ndarray:
    """Return the rows nearest to the centres, each once: they tell whether a centre must be no row to win."""
    return np.unique(pairwise_distances_argmin(centres, train))


def judged(z, z_test, y, y_test, balanced: bool = False) -> list[float]:
    """Return relative trace error and score on the test part; if asked for, balanced accuracy too.

    Every kernel here has k(x, x) = 1, so the error is one minus the mean squared length of the features.
    """
    error = _short(1 - float((z**2).sum()) / len(z))
    model = ridge(y).fit(z, y)
    if not balanced:
        return [error, _short(model.score(z_test, y_test))]
    guess = model.predict(z_test)
    return [error, _short((guess == y_test).mean()), _short(balanced_accuracy_score(y_test, guess))]


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def tuned_width(rows, y) -> float:
    """Return the width with the least leave-one-out error of ridge with the full kernel.

    No basis takes part, so no choice of landmarks is favoured. mercer's gamma="loo" works in a basis, which would be.
    """
    targets = y[:, None] if y.dtype.kind == "f" else np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    targets = targets - targets.mean(0)
    errors = [left_out_error(rbf_kernel(rows, gamma=w / rows.shape[1]), targets) for w in WIDTHS]
    return float(WIDTHS[int(np.argmin(errors))] / rows.shape[1])


def left_out_error(kernel, targets) -> float:
    """Return the mean squared leave-one-out error at the best penalty, in closed form."""
    values, vectors = np.linalg.eigh(kernel)
    inner, squares = vectors.T @ targets, vectors**2
    best = np.inf
    for alpha in ALPHAS:
        shrunk = alpha / (np.maximum(values, 0) + alpha)
        left = (vectors @ (shrunk[:, None] * inner)) / (squares @ shrunk)[:, None]
        best = min(best, float((left**2).mean()))
    return best


def shape_of(rows, gamma: float | None, n: int) -> dict:
    """Measure on a sample what theory says decides: decay of the spectrum, and how unevenly rows matter.

    `tail` is the trace error of the best basis of √n components. `uneven` is the spread (sd over mean) of the rows'
    ridge leverage scores, with the penalty at which they sum to √n: 0 where every row matters alike.
    """
    kernel = (rows @ rows.T).toarray() if gamma is None else rbf_kernel(rows, gamma=gamma)
    values, vectors = np.linalg.eigh(kernel)
    values, size = np.maximum(values, 0), n**0.5
    low, high = 1e-12, float(values.sum())
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if (values / (values + middle)).sum() > size else (low, middle)
    leverage = vectors**2 @ (values / (values + high))
    tail = values[: -round(size)].sum() / values.sum()
    return {"tail": _short(tail), "uneven": _short(leverage.std() / leverage.mean())}


def times(data: Path, *, name: str, rows: int, sizes: list[int], repeats: int) -> dict:
    """Time fit and training features, the methods in turn, several times over.

    Jobs have one thread each, and what is measured is the processor's time, not the clock's: so others who use the
    machine hardly matter, and the job need not be alone.
    """
    train, _, y, _ = sets.split(name, data, 0, rows, 1)
    kernel = {"kernel": "rbf", "gamma": KernelBasis("nystrom", gamma="median", n_components=2).fit(train).gamma_}
    out = {"n_train": len(y), "p": train.shape[1], "m": sizes, "seconds": {}}
    for m in sizes:
        settings = {"n_components": m, "threshold": 0.0, "random_state": 0, **kernel}
        makers = {
            "uniform": lambda settings=settings: KernelBasis("nystrom", **settings),
            "sklearn": lambda m=m: Nystroem(**kernel, n_components=m, random_state=0),
            "rpcholesky": lambda settings=settings: KernelBasis("rpcholesky", **settings),
            "kobl": lambda settings=settings: KernelBasis("kobl", **settings),
            "k-means": lambda m=m: on_centres(train, m, kernel, 0),
            "csi": lambda settings=settings: KernelBasis("csi", tol=1e-9, **settings),
        }
        spent: dict[str, list[float]] = {method: [] for method in makers}
        for _ in range(repeats):
            for method, make in makers.items():
                start = time.process_time()
                basis = make()
                basis.fit_transform(train, y)
                spent[method].append(time.process_time() - start)
        for method, each in spent.items():
            out["seconds"].setdefault(method, []).append(float(np.median(each)))
    return out


def report(results: Results, report: Report) -> None:
    """Write tables, figures and claims."""
    landmarks_report.write(results, report)


if __name__ == "__main__":
    main("landmarks")
