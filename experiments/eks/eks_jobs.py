"""What is computed: the thesis' tables in several readings, the full sets, other bases, sizes, and lost orthogonality.

The kernel is rbf with γ = 1/p everywhere (p columns): the default of scikit-learn at the time of the thesis, which does
not name its kernel. On standardised columns it is also today's default.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import datasets
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer import (
    EKS,
    FScore,
    KernelBasis,
    LaplacianScore,
    LassoSelector,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
    metrics,
)

BUILT_IN = {"wine": load_wine, "breast cancer": load_breast_cancer, "diabetes": load_diabetes}
FILES = {"eunite2001": "eunite2001_train"}
NUMBERS = ("diabetes", "eunite2001")
P_LEVEL = 0.00005  # Table 4.3, for FPR, FDR and FWE
# Settings in full: defaults of the library may change, these do not.
STABLE = {"cv": 5, "randomized": True, "n_resamples": 100, "threshold": 0.6, "task": "numbers"}


def needs(name: str) -> tuple[str, ...]:
    """Name the files that a set is read from; three sets come with scikit-learn."""
    return () if name in BUILT_IN else (FILES.get(name, name),)


def rows_of(name: str, data: Path, size: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `size` rows, which is the plain reading of a set cut to 200 or 300."""
    X, y = BUILT_IN[name](return_X_y=True) if name in BUILT_IN else datasets.load(FILES.get(name, name), data)
    return X[:size], y[:size]


def splits(y: np.ndarray, numbers: bool, folds: int, seeds: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield seed, training and test rows of shuffled k-fold cross-validation; training rows keep their order."""
    for seed in range(seeds):
        kind = KFold if numbers else StratifiedKFold
        for train, test in kind(folds, shuffle=True, random_state=seed).split(y, y):
            yield seed, train, test


def models(numbers: bool) -> dict:
    """Return what is fitted on the kept coordinates; the thesis says SVM and linear regression, and no settings."""
    if numbers:
        return {"ols": LinearRegression(), "ridge": RidgeCV(np.logspace(-6, 3, 19))}
    limit = 200_000
    return {
        "linear": SVC(kernel="linear", max_iter=limit),
        "rbf": SVC(max_iter=limit),
        "rbf 1/q": SVC(gamma="auto", max_iter=limit),
    }


def score(model, train: np.ndarray, y_train: np.ndarray, test: np.ndarray, y_test: np.ndarray, numbers: bool) -> float:
    """Return MSE for numbers and accuracy for classes; without a column, the mean or the largest class is predicted."""
    if train.shape[1] == 0:
        names, counts = np.unique(y_train, return_counts=True)
        told = np.full(len(y_test), y_train.mean() if numbers else names[counts.argmax()])
    else:
        told = model.fit(train, y_train).predict(test)
    return float(mean_squared_error(y_test, told) if numbers else accuracy_score(y_test, told))


def select(X: np.ndarray, y: np.ndarray, selector, basis: KernelBasis) -> np.ndarray:
    """Return which coordinates are kept; a test that keeps none is an answer too."""
    try:
        return EKS(selector, basis=basis).fit(X, y).get_support(indices=True)
    except ValueError as error:
        if "none of the" not in str(error):
            raise
        return np.empty(0, dtype=int)


def class_selectors(kept: int) -> dict:
    """Return Table 4.2's six for classes."""
    return {
        "Relief": Relief(kept, n_neighbors=1, power=1),
        "ReliefF": ReliefF(kept, n_neighbors=10),
        "RReliefF": RReliefF(kept, n_neighbors=70, sigma=20.0),
        "F-score": FScore(kept),
        "MI": MutualInfo(kept, n_neighbors=3),
        "Laplacian": LaplacianScore(kept, n_neighbors=5),
    }


def number_selectors(kept: int) -> dict:
    """Return Table 4.2's for numbers that are told how many to keep, or that a level tells."""
    tests = {mode.upper(): FScore(mode=mode, alpha=P_LEVEL, task="numbers") for mode in ("fpr", "fdr", "fwe")}
    return {
        "RReliefF": RReliefF(kept, n_neighbors=70, sigma=20.0, task="numbers"),
        "F-score": FScore(kept, task="numbers"),
        "MI": MutualInfo(kept, n_neighbors=3, task="numbers"),
        **tests,
    }


def selections(
    X: np.ndarray, y: np.ndarray, numbers: bool, kept: int | None, basis: KernelBasis, wanted: tuple[str, ...] = ()
) -> dict:
    """Return what every algorithm of Table 4.2 keeps, or the wanted ones alone.

    `kept` None is two thirds of the coordinates for classes, and as many as randomised LASSO keeps for numbers.
    """
    size = basis.fit(X, y).n_components_
    out = {"all": np.arange(size)}
    if numbers:
        out["LASSO"] = select(X, y, LassoSelector(**STABLE), basis)
        if not wanted:
            out["plain LASSO"] = select(X, y, LassoSelector(cv=5, task="numbers"), basis)
        chosen = number_selectors(min(kept or max(len(out["LASSO"]), 1), size))
    else:
        chosen = class_selectors(min(kept or round(2 * size / 3), size))
    chosen = {name: selector for name, selector in chosen.items() if not wanted or name in wanted}
    return out | {name: select(X, y, selector, basis) for name, selector in chosen.items()}


def table(data: Path, *, name, size, kept, columns, protocol, basis, n_components, seeds, folds) -> dict:
    """Run all algorithms of Table 4.2 on one set in one reading.

    `columns`: raw or standard. `protocol`: "honest" (basis and selection see training rows alone), "basis" (the basis
    is that of all rows, as the thesis' Table 4.1 has it) or "all" (the selection has seen all rows and labels too).
    """
    X, y = rows_of(name, data, size)
    numbers = name in NUMBERS
    scores: dict = defaultdict(dict)
    counts, rank = defaultdict(list), []

    def space(seed: int, landmarks: np.ndarray | None = None) -> KernelBasis:
        return KernelBasis(
            basis,
            gamma="auto",
            n_components=n_components,
            threshold=0.0,
            nu=0.1,
            landmarks=landmarks,
            random_state=seed,
        )

    ready = StandardScaler().fit_transform(X) if columns == "standard" else X
    before = selections(ready, y, numbers, kept, space(0)) if protocol == "all" else None
    for seed, train, test in splits(y, numbers, folds, seeds):
        scaler = StandardScaler().fit(X[train])
        W = scaler.transform(X) if columns == "standard" and protocol == "honest" else ready
        fitted = space(seed, ready if protocol == "basis" else None)
        Z = fitted.fit(W if protocol == "all" else W[train], y if protocol == "all" else y[train]).transform(W)
        rank.append(fitted.n_components_)
        found = before or selections(W[train], y[train], numbers, kept, fitted)
        for who, columns_kept in found.items():
            counts[who].append(len(columns_kept))
            for what, model in models(numbers).items():
                a, b = Z[train][:, columns_kept], Z[test][:, columns_kept]
                scores[who].setdefault(what, []).append(score(model, a, y[train], b, y[test], numbers))
            if numbers and protocol != "honest":
                # A coordinate belongs to a row; these are without those that belong to a row held out.
                known = columns_kept[np.isin(fitted.pivots_[columns_kept], train)]
                value = score(LinearRegression(), Z[train][:, known], y[train], Z[test][:, known], y[test], numbers)
                scores[who].setdefault("ols, training rows", []).append(value)
        plain = LinearRegression() if numbers else SVC(gamma="auto")
        scores["baseline"].setdefault("own", []).append(score(plain, W[train], y[train], W[test], y[test], numbers))
    return {
        "scores": scores,
        "kept": {who: float(np.mean(counts[who])) for who in counts},
        "rank": float(np.mean(rank)),
        "columns": X.shape[1],
        "variance": float(np.var(y)) if numbers else 1.0,
    }


def tuned(data: Path, *, name, size, kept, widths, inner, seeds, folds) -> dict:
    """Run the algorithms for numbers, each with the width (times 1/p) that cross-validation of its own model chooses.

    Columns are standardised; basis, selection and choice see training rows alone. The inner folds repeat the whole way
    from the basis to the model.
    """
    X, y = rows_of(name, data, size)
    scores: dict = defaultdict(dict)
    chosen: dict = defaultdict(dict)

    def errors(rows: np.ndarray, t: np.ndarray, train: np.ndarray, test: np.ndarray, gamma: float) -> dict:
        W = StandardScaler().fit(rows[train]).transform(rows)
        basis = KernelBasis("gram-schmidt", gamma=gamma)
        Z = basis.fit(W[train]).transform(W)
        out = {}
        for who, columns in selections(W[train], t[train], True, kept, basis).items():
            for what, model in models(True).items():
                out[who, what] = score(model, Z[train][:, columns], t[train], Z[test][:, columns], t[test], True)
        return out

    for seed, train, test in splits(y, True, folds, seeds):
        A, t = X[train], y[train]
        gammas = [w / X.shape[1] for w in widths]
        cuts = list(KFold(inner, shuffle=True, random_state=seed).split(t))
        tried = [[errors(A, t, a, b, gamma) for a, b in cuts] for gamma in gammas]
        found: dict[int, dict] = {}
        for who, what in tried[0][0]:
            at = int(np.argmin([np.mean([fold[who, what] for fold in one]) for one in tried]))
            if at not in found:
                found[at] = errors(X, y, train, test, gammas[at])
            scores[who].setdefault(what, []).append(found[at][who, what])
            chosen[who].setdefault(what, []).append(widths[at])
        W = StandardScaler().fit(A).transform(X)
        plain = score(LinearRegression(), W[train], t, W[test], y[test], True)
        scores["baseline"].setdefault("own", []).append(plain)
    medians = {who: {what: float(np.median(w)) for what, w in of.items()} for who, of in chosen.items()}
    return {"scores": scores, "widths": medians}


def control(data: Path, *, name, size, kept, columns, protocol, seeds, folds) -> dict:
    """Shuffle the labels, so that nothing can be learnt, and let F-score keep `kept` coordinates as in `table`.

    Also count the rows of each class whose coordinates F-score keeps, with the true labels and all rows seen.
    """
    X, y = rows_of(name, data, size)
    ready = StandardScaler().fit_transform(X) if columns == "standard" else X
    out: dict = {"linear": [], "rbf": []}
    for seed in range(seeds):
        told = np.random.default_rng(seed).permutation(y)
        for _, train, test in splits(told, False, folds, 1):
            scaler = StandardScaler().fit(X[train])
            W = scaler.transform(X) if columns == "standard" and protocol == "honest" else ready
            seen = train if protocol == "honest" else np.arange(len(y))
            space = EKS(FScore(kept), basis=KernelBasis("gram-schmidt", gamma="auto")).fit(W[seen], told[seen])
            Z = space.transform(W)
            for what in ("linear", "rbf"):
                out[what].append(score(models(False)[what], Z[train], told[train], Z[test], told[test], False))
    space = EKS(FScore(kept), basis=KernelBasis("gram-schmidt", gamma="auto")).fit(ready, y)
    rows = space.basis_.pivots_[space.get_support(indices=True)]
    out["kept of each class"] = [[int((y[rows] == c).sum()), int((y == c).sum())] for c in np.unique(y)]
    return out


def points(data: Path, *, name, components, bases, seeds, folds) -> dict:
    """Compare ways to choose the rows that span the space, at equal numbers of them and without a selection."""
    X, y = rows_of(name, data)
    numbers = name in NUMBERS
    used = models(numbers) if numbers else {"linear": models(False)["linear"]}
    scores: dict = {m: {b: {what: [] for what in used} for b in bases} for m in components}
    size: dict = {m: defaultdict(list) for m in components}
    left: dict = {m: defaultdict(list) for m in components}
    for seed, train, test in splits(y, numbers, folds, seeds):
        W = StandardScaler().fit(X[train]).transform(X)
        for m in components:
            for b in bases:
                # nu is small so that the cap ends "sparse", as it ends the others.
                basis = KernelBasis(b, gamma="auto", n_components=m, threshold=0.0, nu=1e-6, tol=_tol(b))
                Z = basis.set_params(random_state=seed).fit(W[train], y[train]).transform(W)
                size[m][b].append(basis.n_components_)
                left[m][b].append(basis.residual_)
                for what, model in used.items():
                    scores[m][b][what].append(score(model, Z[train], y[train], Z[test], y[test], numbers))
    means = {m: {b: [float(np.mean(size[m][b])), float(np.mean(left[m][b]))] for b in bases} for m in components}
    return {"scores": scores, "size and residual": means, "rows": len(y)}


def _tol(basis: str) -> float | None:
    """Keep CSI from ending before the cap."""
    return 1e-12 if basis == "csi" else None


def sizes(data: Path, *, name, sizes, shares, seeds, folds) -> dict:
    """Change the number of rows, drawn at random, and the share of coordinates kept; the same for the plain columns."""
    X, y = rows_of(name, data)
    numbers = name in NUMBERS
    model = models(numbers)["ols" if numbers else "linear"]
    plain = LinearRegression() if numbers else SVC(gamma="auto")
    out: dict = {"size": {}, "share": {"EKS": {}, "columns": {}}, "useful": {}}
    for n in [s for s in sizes if s < len(y)] + [len(y)]:
        rows: dict = defaultdict(list)
        useful = []
        for seed in range(seeds):
            some = np.sort(np.random.default_rng(seed).permutation(len(y))[:n])
            A, t = X[some], y[some]
            for _, train, test in splits(t, numbers, folds, 1):
                W = StandardScaler().fit(A[train]).transform(A)
                basis = KernelBasis("gram-schmidt", gamma="auto")
                Z = basis.fit(W[train]).transform(W)
                tested = FScore(task="numbers" if numbers else "auto").fit(Z[train], t[train])
                useful.append(float((tested.pvalues_ < 0.05).mean()))
                found = selections(W[train], t[train], numbers, None, basis, ("F-score", "RReliefF"))
                for who in ("F-score", "RReliefF", "LASSO") if numbers else ("F-score", "RReliefF"):
                    a, b = Z[train][:, found[who]], Z[test][:, found[who]]
                    rows[who].append(score(model, a, t[train], b, t[test], numbers))
                rows["baseline"].append(score(plain, W[train], t[train], W[test], t[test], numbers))
        out["size"][n] = rows
        out["useful"][n] = float(np.mean(useful))
    for _, train, test in splits(y, numbers, folds, seeds):
        W = StandardScaler().fit(X[train]).transform(X)
        Z = KernelBasis("gram-schmidt", gamma="auto").fit(W[train]).transform(W)
        for where, features, m in (("EKS", Z, model), ("columns", W, plain)):
            order = FScore(task="numbers" if numbers else "auto").fit(features[train], y[train]).ranking_
            for share in shares:
                best = order <= max(round(share * features.shape[1]), 1)
                a, b = features[train][:, best], features[test][:, best]
                out["share"][where].setdefault(share, []).append(score(m, a, y[train], b, y[test], numbers))
    return out


def gram_schmidt(K: np.ndarray, passes: int, printed: bool = False) -> np.ndarray:
    """Return the coefficients of Algorithm 1 as it stands: every row in its order, none skipped.

    mercer orthogonalises twice and skips what rounding has swallowed, so the plain form is here. `printed` is equation
    3.3, whose inner product is of the k-th row with the k-th vector where Algorithm 1 has the i-th row's.
    """
    n = len(K)
    A = np.zeros((n, n))
    for i in range(n):
        a = np.zeros(n)
        a[i] = 1.0
        if printed:
            a -= A[:i].T @ np.einsum("kj,kj->k", A[:i], K[:i])
        else:
            for _ in range(passes):
                a -= A[:i].T @ (A[:i] @ (K @ a))
        # Rounding can leave a negative square where nothing is left; the thesis has no guard.
        A[i] = a / max(abs(a @ K @ a), 1e-300) ** 0.5
    return A


def passes(data: Path, *, name, size, kept, widths, protocol, seeds, folds) -> dict:
    """Measure the loss of orthogonality of four Gram–Schmidt processes, and what models make of the coordinates.

    `protocol` is that of `table`: with "all", basis and selection see the test rows.
    """
    X, y = rows_of(name, data, size)
    numbers = name in NUMBERS
    out = {}
    for width in widths:
        cell: dict = defaultdict(dict)
        for _, train, test in splits(y, numbers, folds, seeds):
            seen = np.arange(len(y)) if protocol == "all" else train
            W = StandardScaler().fit(X[seen]).transform(X)
            gamma = width / X.shape[1]
            K = rbf_kernel(W, W[seen], gamma=gamma)
            ours = KernelBasis("gram-schmidt", gamma=gamma).fit(W[seen])
            processes = {
                "eq. 3.3": gram_schmidt(K[seen], 1, printed=True),
                "one pass": gram_schmidt(K[seen], 1),
                "two passes": gram_schmidt(K[seen], 2),
                "mercer": None,
            }
            for who, A in processes.items():
                Z = ours.transform(W) if A is None else K @ A.T
                loss = (
                    metrics.orthogonality_loss(ours)
                    if A is None
                    else np.linalg.norm(A @ K[seen] @ A.T - np.eye(len(A)))
                )
                told = {
                    "loss": float(loss / Z.shape[1] ** 0.5),
                    "vectors": Z.shape[1],
                    "theorem": float(np.abs(Z[seen] @ Z[seen].T - K[seen]).max()),
                }
                for label, value in (told | _judged(Z, y, seen, train, test, numbers, kept)).items():
                    cell[who].setdefault(label, []).append(value)
        out[width] = cell
    return out


def _judged(Z: np.ndarray, y: np.ndarray, seen, train, test, numbers: bool, kept: int | None) -> dict:
    """Score the coordinates after a selection on the matrix: F-score for classes, RReliefF and LASSO for numbers."""
    if numbers:
        lasso = LassoSelector(**STABLE).fit(Z[seen], y[seen])
        count = max(int(lasso.get_support().sum()), 1)
        chosen = {
            "LASSO": lasso,
            "RReliefF": RReliefF(count, n_neighbors=70, sigma=20.0, metric="euclidean", task="numbers"),
        }
        chosen["RReliefF"].fit(Z[seen], y[seen])
        what = models(True)
    else:
        chosen = {"F-score": FScore(min(kept, Z.shape[1])).fit(Z[seen], y[seen])}
        what = {"linear": models(False)["linear"]}
    out = {}
    for who, selector in chosen.items():
        best = selector.get_support()
        for label, model in what.items():
            out[f"{who}, {label}"] = score(model, Z[train][:, best], y[train], Z[test][:, best], y[test], numbers)
    return out


def theorem(data: Path, *, name, size, columns, folds) -> dict:
    """Measure Theorem 1: on training rows, on new rows, in an SVM, and in Relief's neighbours (Step 3)."""
    X, y = rows_of(name, data, size)
    numbers = name in NUMBERS
    out: dict = defaultdict(list)
    for _, train, test in splits(y, numbers, folds, 1):
        W = StandardScaler().fit(X[train]).transform(X) if columns == "standard" else X
        basis = KernelBasis("gram-schmidt", gamma="auto").fit(W[train])
        Z = basis.transform(W)
        K = rbf_kernel(W, gamma=1 / X.shape[1])
        out["vectors"].append(basis.n_components_)
        out["rows"].append(len(train))
        out["training error"].append(float(np.abs(Z[train] @ Z[train].T - K[np.ix_(train, train)]).max()))
        out["cross error"].append(float(np.abs(Z[test] @ Z[train].T - K[np.ix_(test, train)]).max()))
        out["lost on new rows"].append(float(np.mean(1 - (Z[test] ** 2).sum(1))))
        if not numbers:
            linear = SVC(kernel="linear", tol=1e-6).fit(Z[train], y[train])
            kernel = SVC(gamma=1 / X.shape[1], tol=1e-6).fit(W[train], y[train])
            difference = linear.decision_function(Z[test]) - kernel.decision_function(W[test])
            out["SVM difference"].append(float(np.abs(difference).max()))
            half = basis.n_components_ // 2
            by_kernel = select(
                W[train], y[train], Relief(half, n_neighbors=1, power=1), KernelBasis("gram-schmidt", gamma="auto")
            )
            by_rows = (
                Relief(half, n_neighbors=1, power=1, metric="euclidean")
                .fit(Z[train], y[train])
                .get_support(indices=True)
            )
            out["same kept"].append(len(np.intersect1d(by_kernel, by_rows)) / half)
    return dict(out)


def cost(data: Path, *, name, sizes, capped, repeats, clock) -> dict:
    """Take processor times of the basis of all rows and of bases of a fixed number of chosen rows."""
    X, y = rows_of(name, data)
    W = StandardScaler().fit_transform(X)
    order = np.random.default_rng(0).permutation(len(W))
    ways = {"gram-schmidt": None, "kobl": capped, "rpcholesky": capped}
    out: dict = {way: {} for way in ways}
    for n in sizes:
        spent: dict = defaultdict(list)
        for _ in range(repeats):
            for way, m in ways.items():
                basis = KernelBasis(way, gamma="auto", n_components=m, threshold=0.0)
                start = time.process_time()
                basis.fit(W[order[:n]], y[order[:n]])
                spent[way].append(time.process_time() - start)
        for way in ways:
            out[way][n] = float(np.median(spent[way]))
    return out
