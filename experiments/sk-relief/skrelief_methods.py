"""What the jobs of sk-relief share: splits, the methods with nested features, nearest neighbours, and honest tuning."""

from pathlib import Path
from typing import NamedTuple

import datasets
import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import GDA, KANMM, KMFA, KPCA, KernelBasis, KRelief, Relief

# Settings in full: defaults of the library may change, these do not.
RELIEF = {"n_neighbors": 1, "power": 1, "weighted": False}
MFA = {"k_within": 5, "k_between": 20, "reg": 1e-3}

# Data: one split, scaled by its training rows; classes as numbers.


class Split(NamedTuple):
    """Training rows before and after scaling, test rows scaled by the training rows, and the classes of both."""

    raw: np.ndarray
    x: np.ndarray
    y: np.ndarray
    test: np.ndarray
    truth: np.ndarray


def load(data: Path, name: str, rows: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Read a set, or a fixed sample of its rows with the classes in proportion."""
    x, y = datasets.load(name, data)
    y = np.unique(y, return_inverse=True)[1]
    if rows:
        x, _, y, _ = train_test_split(x, y, train_size=rows, stratify=y, random_state=seed)
    return x, y


def words(y: np.ndarray) -> np.ndarray:
    """Return the classes as text, in the same order: numbers of many values would be read as a target of numbers."""
    return np.array([f"{c:02d}" for c in y])


def scaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale both by the training rows."""
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test)


def divide(x: np.ndarray, y: np.ndarray, share: float, seed: int) -> Split:
    """Divide the rows at random, with the classes in proportion."""
    raw, test, y, truth = train_test_split(x, y, train_size=share, stratify=y, random_state=seed)
    x, test = scaled(raw, test)
    return Split(raw, x, y, test, truth)


# Methods: each returns features of training and test rows, the best first, and the landmarks that the first d need.


def kernel(method: str, width: float, x: np.ndarray, **options) -> KernelBasis:
    """Make a basis whose width is a multiple of the usual 1/(p var X)."""
    return KernelBasis(method, gamma=width / (x.shape[1] * x.var()), **options)


def relief(basis: KernelBasis, x: np.ndarray, y: np.ndarray, test: np.ndarray, most: int):
    """Rank a basis' coordinates by Relief with neighbours in kernel space: K-Relief, SK-Relief and their kin.

    The coordinates of all bases but KPCA and Nyström are triangular: the j-th needs the first j landmarks and no more.
    So the landmarks that a selection needs are counted up to its last coordinate.
    """
    system = KRelief(n_features=most, **RELIEF, basis=basis).fit(x, words(y))
    kept = np.flatnonzero(system.get_support())
    order = np.argsort(-system.scores_[kept], kind="stable")
    triangular = basis.method not in ("kpca", "nystrom")
    landmarks = np.maximum.accumulate(kept[order]) + 1 if triangular else [len(x)] * len(kept)
    return system.transform(x)[:, order], system.transform(test)[:, order], [int(n) for n in landmarks]


def mapped(estimator, x: np.ndarray, y: np.ndarray, test: np.ndarray, most: int):
    """Fit an extractor, whose features come in the order of their eigenvalues and need all training rows."""
    z = estimator.fit(x, words(y)).transform(x)[:, :most]
    return z, estimator.transform(test)[:, :most], [len(x)] * z.shape[1]


def plain(x: np.ndarray, y: np.ndarray, test: np.ndarray, most: int):
    """Rank the columns of the data themselves by Relief."""
    order = np.argsort(Relief(n_neighbors=1, power=1).fit(x, words(y)).ranking_, kind="stable")[:most]
    return x[:, order], test[:, order], [0] * len(order)


def kmfa(basis: KernelBasis, x: np.ndarray, y: np.ndarray, test: np.ndarray, most: int):
    """KMFA has no more features than its pairs of near rows span, and refuses to make more: ask for fewer then."""
    for count in (most, 20, 15):
        try:
            return mapped(KMFA(n_components=count, **MFA, basis=basis), x, y, test, most)
        except ValueError:
            continue
    return mapped(KMFA(**MFA, basis=basis), x, y, test, most)


def features(method: str, width: float, x: np.ndarray, y: np.ndarray, test: np.ndarray, most: int, nu: float):
    """Fit one method of the comparison.

    GDA, KANMM and KMFA do not depend on which orthonormal basis of the training rows they are given. `kobl` without
    its stop rule spans all rows as `gram-schmidt` does, in a sixth of the time.
    """
    span = kernel("kobl", width, x, threshold=0.0)
    if method == "kNN":
        return x, test, [0] * x.shape[1]
    if method == "Relief":
        return plain(x, y, test, most)
    if method == "K-Relief":
        return relief(kernel("gram-schmidt", width, x), x, y, test, most)
    if method == "first rows":
        basis = kernel("gram-schmidt", width, x, n_components=most).fit(x)
        return basis.transform(x), basis.transform(test), list(range(1, basis.n_components_ + 1))
    if method == "SK-Relief":
        return relief(kernel("sparse", width, x, nu=nu), x, y, test, most)
    if method == "KPCA":
        return mapped(KPCA(basis=kernel("kpca", width, x, center=True)), x, y, test, most)
    if method == "GDA":
        return mapped(GDA(reg=1e-3, basis=span), x, y, test, most)
    if method == "KANMM":
        return mapped(KANMM(n_neighbors=5, basis=span), x, y, test, most)
    return kmfa(span, x, y, test, most)


# k nearest neighbours on nested features. Distances are summed column by column, so all numbers of features cost one
# pass; ties between classes go to the lower class, as in scikit-learn.


def errors(z, classes, test, truth, dims, neighbours, *, itself: bool = False) -> np.ndarray:
    """Return the error rate for every number of features (rows) and every k (columns).

    Where there are fewer features than asked for, all are used. `itself`: the test rows are the training rows, and no
    row is its own neighbour.
    """
    one_hot, ks = np.eye(classes.max() + 1)[classes], np.array(neighbours)
    distance, done, out = np.zeros((len(test), len(z))), 0, []
    for dim in dims:
        new = slice(done, min(dim, z.shape[1]))
        if done < new.stop:
            a, b = test[:, new], z[:, new]
            distance += (a**2).sum(1)[:, None] - 2 * a @ b.T + (b**2).sum(1)
            if itself:
                np.fill_diagonal(distance, np.inf)
            near = np.argpartition(distance, ks.max(), axis=1)[:, : ks.max()]
            near = np.take_along_axis(near, np.take_along_axis(distance, near, 1).argsort(1, kind="stable"), 1)
            votes = one_hot[near].cumsum(axis=1)[:, ks - 1].argmax(2)
            wrong = (votes != truth[:, None]).mean(0)
            done = new.stop
        out.append(wrong)
    return np.array(out)


def cross_validated(method, widths, part: Split, grid: dict, fit, **options) -> np.ndarray:
    """Return the error of every width, number of features and k, by folds of the training rows, each scaled anew."""
    table = np.zeros((len(widths), len(grid["dims"]), len(grid["neighbours"])))
    raw, y = part.raw, part.y
    for a, b in StratifiedKFold(grid["folds"], shuffle=True, random_state=grid["seed"]).split(raw, y):
        xa, xb = scaled(raw[a], raw[b])
        for i, width in enumerate(widths):
            z, zb, _ = fit(method, width, xa, y[a], xb, max(grid["dims"]), **options)
            table[i] += errors(z, y[a], zb, y[b], grid["dims"], grid["neighbours"]) * len(b) / len(raw)
    return table


def tuned(method, widths, part: Split, grid: dict, fit=features, **options) -> dict:
    """Tune width and k by cross-validation, for every number of features and for the number of features as well.

    `error` is the test error against the number of features, and `best` what cross-validation takes of them, at ties
    the smallest number. `seen` is the leave-one-out error on the training rows that the features were fitted to.
    """
    _, x, y, test, truth = part
    dims, ks = grid["dims"], grid["neighbours"]
    table = cross_validated(method, widths, part, grid, fit, **options)
    at = [np.unravel_index(layer.argmin(), layer.shape) for layer in table.transpose(1, 0, 2)]
    fitted = {i: fit(method, widths[i], x, y, test, max(dims), **options) for i in {i for i, _ in at}}
    shown = {i: errors(f[0], y, f[1], truth, dims, ks) for i, f in fitted.items()}
    d = int(table.min(axis=(0, 2)).argmin())
    width, k = at[d]
    z, _, landmarks = fitted[width]
    return {
        "error": [shown[i][j, k] for j, (i, k) in enumerate(at)],
        "landmarks": [fitted[i][2][min(q, len(fitted[i][2])) - 1] for q, (i, _) in zip(dims, at, strict=True)],
        "best": {
            "error": shown[width][d, k],
            "dim": min(dims[d], z.shape[1]),
            "width": widths[width],
            "k": ks[k],
            "seen": errors(z, y, z, y, dims[d : d + 1], ks, itself=True)[0, k],
            "landmarks": landmarks[min(dims[d], len(landmarks)) - 1],
        },
    }
