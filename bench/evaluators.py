"""Evaluators beside scikit-learn's models, in one run: `make bench`.

Every job and its peer are timed in turn, several times; the ratio of the medians is what counts. A job learns from n
rows and predicts a fifth as many.
"""

import numpy as np
from measure import arguments, keep, report, side_by_side
from scipy.sparse import random_array
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR, LinearSVC

from mercer import _core


def classes(n: int, p: int = 20) -> tuple:
    """Two classes of four clusters each, some labels wrong: rows to learn from, rows to be asked about."""
    many = n + n // 5
    x, y = make_classification(many, p, n_informative=p // 2, n_clusters_per_class=4, flip_y=0.05, random_state=0)
    x = np.ascontiguousarray((x - x.mean(axis=0)) / x.std(axis=0))
    return x[:n], y[:n].astype(np.int64), x[n:], y[n:]


def numbers(n: int, p: int = 20) -> tuple:
    x, y = make_regression(n + n // 5, p, noise=20, random_state=1)
    y = np.tanh((y - y.mean()) / y.std())
    return np.ascontiguousarray(x[:n]), y[:n], np.ascontiguousarray(x[n:]), y[n:]


def words(n: int, p: int = 30_000) -> tuple:
    random = np.random.default_rng(2)
    x = random_array((n + n // 5, p), density=0.003, rng=random, format="csr")
    y = (x @ random.normal(size=p) + 0.3 * random.normal(size=x.shape[0]) > 0).astype(np.int64)
    return x[:n], y[:n], x[n:], y[n:]


def beside(title: str, name: str, settings: dict, peer, rows: tuple, repeats: int, figures: list) -> None:
    x, y, t, truth = rows
    said = {}

    def own() -> None:
        said["own"] = _core.evaluate(x, y, t, name, **settings)["predictions"]

    def theirs() -> None:
        said["peer"] = peer.fit(x, y).predict(t)

    times = side_by_side({"own": own, "peer": theirs}, repeats)
    report(f"{title}, n = {x.shape[0]}, p = {x.shape[1]}", times["own"], times["peer"], figures)
    if y.dtype == np.int64:
        own_right, peer_right = (said["own"] == truth).mean(), (said["peer"] == truth).mean()
        print(
            f"  accuracy {own_right:.4f}, peer {peer_right:.4f}; same answer {(said['own'] == said['peer']).mean():.4f}"
        )
    else:
        own_error, peer_error = ((said["own"] - truth) ** 2).mean(), ((said["peer"] - truth) ** 2).mean()
        print(f"  mean squared error {own_error:.6f}, peer {peer_error:.6f}")


def searched(model, grid: dict):
    return GridSearchCV(model, grid, cv=StratifiedKFold(3, shuffle=True, random_state=0), n_jobs=-1)


def main() -> None:
    given = arguments(__doc__)
    n, repeats = (500, 1) if given.quick else (10_000, 3)
    figures: list = []
    rows = classes(n)
    for c in (1.0, 10.0, 100.0):
        settings = {"c": c, "gamma": 0.05}
        beside(f"rbf-svm, c = {c:g}", "rbf-svm", settings, SVC(C=c, gamma=0.05, cache_size=500), rows, repeats, figures)
    peer = searched(SVC(cache_size=500), {"C": [1, 10, 100]})
    beside("rbf-svm, c chosen", "rbf-svm", {}, peer, rows, repeats, figures)
    beside("rbf-svm, numbers", "rbf-svm", {"c": 1.0}, SVR(cache_size=500), numbers(n), repeats, figures)
    peer = searched(LinearSVC(dual=False), {"C": [0.01, 0.1, 1, 10, 100]})
    beside("linear-svm, c chosen", "linear-svm", {}, peer, classes(10 * n, 100), repeats, figures)
    beside("linear-svm, words", "linear-svm", {"c": 1.0}, LinearSVC(tol=1e-3), words(n), repeats, figures)
    beside("knn, 5", "knn", {"n_neighbors": 5}, KNeighborsClassifier(5), classes(2 * n), repeats, figures)
    x, y, t, truth = numbers(10 * n, 100)
    penalties = (x**2).sum() / x.shape[1] * 10.0 ** np.arange(-8, 5)
    beside("ridge", "ridge", {}, RidgeCV(penalties), (x, y, t, truth), repeats, figures)
    beside("linear", "linear", {}, LinearRegression(), (x, y, t, truth), repeats, figures)
    keep(figures, given.json)


if __name__ == "__main__":
    main()
