"""Figures 2 and 3: the nearest neighbour on the features of each method."""

from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from takes_common import split, width_for_dimension

import mercer
from mercer import KernelBasis


def classify(
    data: Path, *, name: str, scaling: str, width: str, seeds: list[int], classes: int | None = None, **options
) -> dict:
    """Count the test rows that each method gets right, split by split.

    `width` is "table2", the one that gives KOBL the paper's dimension on the training rows, or "tuned": each method
    has its own best of `widths` / p on the inner folds, together with its number of features.
    """
    splits = [one_split(split(data, name, seed, scaling, classes), width, seed, **options) for seed in seeds]
    out = {key: splits[0][key] for key in ("grid", "test", "train")}
    out["gammas"] = [s["gammas"] for s in splits]
    for part in ("methods", "readings"):
        out[part] = {key: merged([s[part][key] for s in splits]) for key in splits[0][part]}
    return out


def theta(
    data: Path, *, name: str, scaling: str, dimension: int, seeds: list[int], thetas: list[int], folds: int
) -> dict:
    """Count the test rows that TAKES gets right with each theta, and with the one that inner folds choose.

    With theta the ensemble of KFFS decides only where a class leads by so many votes; 1 is the paper's algorithm.
    """
    out: dict[str, list] = {"alone": [], "chosen": [], "honest": []}
    for seed in seeds:
        train, test, y_train, y_test = split(data, name, seed, scaling)
        gamma = width_for_dimension(train, dimension)

        def count(a, y_a, b, y_b, gamma=gamma) -> np.ndarray:
            rule = KernelBasis("kobl", gamma=gamma, threshold="linear")
            told = {"n_features": "positive", "weighted": True, "reweight": False, "basis": rule}
            fits = [mercer.TAKES(theta=t, **told).fit(a, y_a) for t in thetas]
            return np.array([everything(f.transform(a), y_a, f.transform(b), y_b)[0] for f in fits])

        cuts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(train, y_train)
        at = int(sum(count(train[a], y_train[a], train[b], y_train[b]) for a, b in cuts).argmax())
        right = count(train, y_train, test, y_test)
        out["alone"].append(right)
        out["chosen"].append(thetas[at])
        out["honest"].append(int(right[at]))
    return out | {"test": len(test), "train": len(train)}


def merged(found: list):
    """Turn a list of one dictionary a split into one dictionary of lists."""
    return {key: [f[key] for f in found] for key in found[0]} if isinstance(found[0], dict) else found


def one_split(parts, width: str, seed: int, *, dimension: int, counts: int, folds: int, widths: list[float],
              regs: list[float], read: bool) -> dict:  # fmt: skip
    """Choose on inner folds of the training rows what is to be chosen, then count on the test rows."""
    train, test, y_train, y_test = parts
    grid = np.unique(np.geomspace(1, len(train), counts).round().astype(int))
    gammas = [width_for_dimension(train, dimension)] if width == "table2" else [w / train.shape[1] for w in widths]
    cuts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(train, y_train))
    inner = []
    for gamma in gammas:
        tables = [right(train[a], y_train[a], train[b], y_train[b], gamma, grid, regs) for a, b in cuts]
        inner.append({key: np.sum([table[key] for table in tables], axis=0) for key in tables[0]})
    # A method's width is the one whose best count of features is best; ties go to the first, then to fewer features.
    chosen = {key: int(np.argmax([table[key].max() for table in inner])) for key in inner[0]}
    outer = {i: right(train, y_train, test, y_test, gammas[i], grid, regs) for i in set(chosen.values())}
    out = {"gammas": gammas, "grid": grid, "test": len(test), "train": len(train), "methods": {}, "readings": {}}
    for key, i in chosen.items():
        at = int(inner[i][key].argmax())
        told = {"width": i, "at": at, "honest": int(outer[i][key][at])}
        if len(outer[i][key]) > 1:
            told["right"] = outer[i][key]
        out["methods"][key] = told
    if read:
        out["readings"] = readings(train, y_train, test, y_test, gammas[0], grid)
    return out


def right(train, y_train, test, y_test, gamma: float, grid: np.ndarray, regs: list[float]) -> dict[str, np.ndarray]:
    """Count rows classified right: over `grid` for curves, over `regs` for KDA, one number for the others."""
    # The papers' settings in full: defaults of the library may change, these do not.
    rule = KernelBasis("kobl", gamma=gamma, threshold="linear")
    takes = mercer.TAKES(n_features="positive", weighted=True, reweight=False, basis=rule).fit(train, y_train)
    every = {"n_features": None, "n_neighbors": 1, "power": 1, "weighted": False}
    fskgs = mercer.KRelief(**every, basis=KernelBasis("gram-schmidt", gamma=gamma)).fit(train, y_train)
    fskpca = mercer.KRelief(**every, basis=KernelBasis("kpca", gamma=gamma)).fit(train, y_train)
    a, b = fskgs.transform(train), fskgs.transform(test)
    kffs = mercer.KFFS(reweight=False).fit(a, y_train)

    def curve(a, b, ranking):
        return nested(a, y_train, b, y_test, np.argsort(ranking), grid)

    def point(model):
        return everything(model.transform(train), y_train, model.transform(test), y_test)

    return {
        # The rbf kernel's distance is monotone in the input distance, so this is the nearest neighbour of the rows.
        "KNNC": everything(train, y_train, test, y_test),
        "TAKES": point(takes),
        "KOBL": point(takes.basis_),
        "KGS+KFFS": curve(a * kffs.scores_, b * kffs.scores_, kffs.ranking_),
        "FSKGS": curve(a, b, fskgs.ranking_),
        "FSKPCA": curve(fskpca.transform(train), fskpca.transform(test), fskpca.ranking_),
        "KDA": np.concatenate([point(mercer.GDA(reg=r, basis=fskpca.basis_).fit(train, y_train)) for r in regs]),
    }


def readings(train, y_train, test, y_test, gamma: float, grid: np.ndarray) -> dict:
    """Read KFFS in the other ways that the paper allows: sample weights, unweighted features, in the order taken."""
    out = {}
    for basis, method in (("TAKES", "kobl"), ("KGS+KFFS", "gram-schmidt")):
        basis_ = KernelBasis(method, gamma=gamma, threshold="linear").fit(train)
        a, b = basis_.transform(train), basis_.transform(test)
        for reweight in (False, True):
            kffs = mercer.KFFS(reweight=reweight).fit(a, y_train)
            w, kept = kffs.scores_, np.flatnonzero(kffs.scores_ > 0)
            for weighted in (True, False):
                x, z = (a * w, b * w) if weighted else (a, b)
                key = f"{basis}, {'' if reweight else 'no '}sample weights, {'' if weighted else 'un'}weighted"
                if method == "kobl":
                    out[key] = nested(x, y_train, z, y_test, kept, [len(kept)])
                    out["features" + (", sample weights" if reweight else "")] = [len(kept)]
                else:
                    out[key] = nested(x, y_train, z, y_test, np.argsort(kffs.ranking_), grid)
                    if weighted and not reweight:
                        out[key + ", as taken"] = nested(x, y_train, z, y_test, kffs.order_, grid)
    return out


def everything(a: np.ndarray, y_a: np.ndarray, b: np.ndarray, y_b: np.ndarray) -> np.ndarray:
    """Count the rows of b whose nearest row of a, in all columns, has their label."""
    return nested(a, y_a, b, y_b, np.arange(a.shape[1]), [a.shape[1]])


def nested(a: np.ndarray, y_a: np.ndarray, b: np.ndarray, y_b: np.ndarray, order, grid) -> np.ndarray:
    """Count the rows of b whose nearest row of a has their label, for the first 1, 2, … columns in an order.

    Squared distances are sums over columns, so those of more columns build on those of fewer.
    """
    distance, done, out = np.zeros((len(b), len(a))), 0, []
    for count in grid:
        new = order[done:count]
        x, z = a[:, new], b[:, new]
        distance += (z**2).sum(1)[:, None] + (x**2).sum(1) - 2 * z @ x.T
        done = max(done, min(count, len(order)))
        out.append(int((y_a[distance.argmin(1)] == y_b).sum()))
    return np.array(out)
