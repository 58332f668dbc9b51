"""The methods of the SKFE experiment on one split: features of each, and how often 1-NN is wrong on them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize

from mercer import AKDAQR, KOC, KPLS, SKFE, KernelBasis

# KPLS and AKDA/QR have two forms: mercer's, and the one that the paper's words and its sources suggest.
# KPLS scaled: scores of unit length on the training rows, as Rosipal & Trejo's listing has them; mercer's have the
# length that unit weights give. AKDA/QR c: c features, as the paper says, though the last has nothing between classes;
# mercer keeps c - 1.
METHODS = ["NN", "KPLS", "KPLS scaled", "KOC", "AKDA/QR", "AKDA/QR c", "SKFE", "SKFE kobl"]

# Settings in full: defaults of the library may change, these do not.
SEARCH = {"init": "koc", "max_iter": 200, "tol": 1e-6, "center": False}
REG = 1e-3


@dataclass(frozen=True)
class Split:
    """Rows for training and testing as a kernel takes them, and as they are, for AKDA/QR, which needs means."""

    train: Any
    test: Any
    y_train: np.ndarray
    y_test: np.ndarray
    raw_train: Any
    raw_test: Any

    def basis(self, gamma: float | None, method: str = "kobl", **settings: Any) -> KernelBasis:
        """Return an unfitted basis for `train`: Gaussian with a width, else of the linear kernel's given matrix."""
        settings = {"threshold": "linear", **settings}
        if gamma is None:
            return KernelBasis(method, kernel="precomputed", **settings)
        return KernelBasis(method, gamma=gamma, **settings)

    def span(self, gamma: float | None) -> KernelBasis:
        """Return the basis of the paper: all training rows. `kobl` without a stop rule spans them like any other."""
        return self.basis(gamma, threshold=0.0)


def folds(y: np.ndarray, count: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return stratified folds; a class smaller than their number is missing from some, which is no error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(StratifiedKFold(count, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def halves(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return half the rows of each class, rounded up, and the others."""
    rng = np.random.default_rng(seed)
    train = []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        train.extend(rows[: (len(rows) + 1) // 2])
    return np.sort(train), np.setdiff1d(np.arange(len(y)), train)


def gene_split(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Split:
    """Standardise by the training rows, then turn the axes: n coordinates instead of p.

    There are fewer rows than columns. A rotation changes no distance and commutes with means, so that every method
    here gives the same features as on all columns, a hundred times faster.
    """
    scale = X[train].std(axis=0)
    rows = (X - X[train].mean(axis=0)) / np.where(scale > 0, scale, 1)
    rows = np.linalg.qr(rows.T, mode="r").T
    return Split(rows[train], rows[test], y[train], y[test], rows[train], rows[test])


def text_split(X, y: np.ndarray, train: np.ndarray, test: np.ndarray, weighting: str) -> Split:
    """Weight the counts, with document frequencies of the training rows alone, and take the linear kernel once."""
    if weighting == "unit":
        X = normalize(X)
    elif weighting == "tfidf":
        X = TfidfTransformer().fit(X[train]).transform(X)
    kernel = (X @ X[train].T).toarray()
    return Split(kernel[train], kernel[test], y[train], y[test], X[train], X[test])


def inner_split(split: Split, train: np.ndarray, test: np.ndarray, precomputed: bool) -> Split:
    """Split the training part again."""
    columns = train if precomputed else slice(None)
    return Split(
        split.train[train][:, columns],
        split.train[test][:, columns],
        split.y_train[train],
        split.y_train[test],
        split.raw_train[train],
        split.raw_train[test],
    )


def any_split(data: Path, name: str, number: int, folds_of_genes: int, weighting: str) -> Split:
    """Return split `number` of a set: folds of repeated cross-validation for genes, halves for texts."""
    X, y = datasets.load(name, data)
    if issparse(X):
        return text_split(X, y, *halves(y, number), weighting)
    return gene_split(X, y, *folds(y, folds_of_genes, number // folds_of_genes)[number % folds_of_genes])


def width(data: Path, name: str, gamma: float) -> float | None:
    """Return the Gaussian's γ for microarrays, None for texts, whose kernel is linear."""
    X, _ = datasets.load(name, data)
    return None if issparse(X) else gamma / X.shape[1]


def wrong(train: np.ndarray, test: np.ndarray, split: Split) -> int:
    """Count the test rows whose nearest training row is of another class; the first of equals decides."""
    nearest = cdist(test, train).argmin(axis=1)
    return int((split.y_train[nearest] != split.y_test).sum())


def wrong_raw(split: Split, precomputed: bool) -> int:
    """Count the errors of 1-NN without features; ‖x − z‖² from kernel values where rows are sparse."""
    if not precomputed:
        return wrong(split.train, split.test, split)
    nearest = (np.diag(split.train) - 2 * split.test).argmin(axis=1)
    return int((split.y_train[nearest] != split.y_test).sum())


def alignment(features: np.ndarray, y: np.ndarray) -> float:
    """Return the alignment of Z Zᵀ with Y Yᵀ without forming either: ‖ZᵀY‖² / (‖ZᵀZ‖ ‖YᵀY‖)."""
    labels = (y[:, None] == np.unique(y)).astype(float)
    norms = np.linalg.norm(features.T @ features) * np.linalg.norm(labels.T @ labels)
    return float(np.linalg.norm(features.T @ labels) ** 2 / norms) if norms > 0 else 0.0


def fit_skfe(split: Split, basis: KernelBasis, **settings: Any) -> tuple[SKFE, bool]:
    """Fit SKFE; say whether the search ended by itself."""
    settings = SEARCH | settings
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        skfe = SKFE(basis=basis, **settings).fit(split.train, split.y_train)
    return skfe, not any(issubclass(w.category, ConvergenceWarning) for w in told)


def count_kpls(split: Split, gamma: float | None, factors: list[int]) -> dict[str, list[int]]:
    """Count the errors of both forms of KPLS for each number of features, from one fit: components are nested."""
    classes = len(np.unique(split.y_train))
    most = min(max(factors) * classes, len(split.y_train) - 1)
    kpls = KPLS(most, basis=split.span(gamma)).fit(split.train, split.y_train)
    train, test = kpls.transform(split.train), kpls.transform(split.test)
    norms = np.linalg.norm(train, axis=0)
    pairs = {"KPLS": (train, test), "KPLS scaled": (train / norms, test / norms)}
    return {m: [wrong(a[:, : f * classes], b[:, : f * classes], split) for f in factors] for m, (a, b) in pairs.items()}


def discriminants(features: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return all directions of the discriminant problem, with the regularisation of AKDA/QR."""
    rows = features - features.mean(axis=0)
    total = rows.T @ rows
    labels = (y[:, None] == np.unique(y)).astype(float)
    sums = rows.T @ labels
    between = sums / labels.sum(axis=0) @ sums.T
    ridge = REG * np.trace(total) / len(total) * np.eye(len(total))
    return eigh(between, total + ridge)[1][:, ::-1]


def count_akda(split: Split, gamma: float | None) -> dict[str, int]:
    """Count the errors of both forms of AKDA/QR."""
    kernel = KernelBasis("kobl", kernel="linear") if gamma is None else KernelBasis("kobl", gamma=gamma)
    akda = AKDAQR(reg=REG, basis=kernel).fit(split.raw_train, split.y_train)
    out = {"AKDA/QR": wrong(akda.transform(split.raw_train), akda.transform(split.raw_test), split)}
    means = akda.basis_.transform(split.raw_train), akda.basis_.transform(split.raw_test)
    turn = discriminants(means[0], split.y_train)
    return out | {"AKDA/QR c": wrong(means[0] @ turn, means[1] @ turn, split)}


def count_others(split: Split) -> dict[str, int]:
    """Count on a text the errors of what has nothing to choose: KOC, both forms of AKDA/QR, and 1-NN on the rows."""
    koc = KOC(basis=split.span(None)).fit(split.train, split.y_train)
    out = {"KOC": wrong(koc.transform(split.train), koc.transform(split.test), split)}
    return out | count_akda(split, None) | {"NN": wrong_raw(split, True)}


def count_errors(split: Split, gamma: float | None, factors: list[int], *, watch: bool) -> dict[str, Any]:
    """Count each method's errors on one split; KPLS has one count for each number of features.

    With `watch`, also what the search did: alignment of the start (KOC) and of the end, on training and test rows.
    """
    counts = count_kpls(split, gamma, factors) | {m: [n] for m, n in count_akda(split, gamma).items()}
    span = split.span(gamma)
    koc = KOC(basis=span).fit(split.train, split.y_train)
    start = koc.transform(split.train), koc.transform(split.test)
    counts["KOC"] = [wrong(*start, split)]
    watched = {}
    for name, basis in (("SKFE", span), ("SKFE kobl", split.basis(gamma))):
        skfe, ended = fit_skfe(split, basis)
        train, test = skfe.transform(split.train), skfe.transform(split.test)
        counts[name] = [wrong(train, test, split)]
        watched[name] = {
            "size": skfe.basis_.n_components_,
            "steps": skfe.n_iter_,
            "ended": int(ended),
            "train": alignment(train, split.y_train),
            "test": alignment(test, split.y_test),
            "train_koc": alignment(start[0], split.y_train),
            "test_koc": alignment(start[1], split.y_test),
        }
    return {"wrong": counts} | ({"watched": watched} if watch else {})
