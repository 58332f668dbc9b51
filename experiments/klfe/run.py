"""KLFE: kernel local feature extraction against LFE, GDA, KPCA, FSKPCA, PCA and the plain nearest neighbour.

Every job is one split: L, the number of hits and misses, is chosen by cross-validation inside the training part for
every number of features I', and the error of the nearest neighbour is told for every I'.
"""

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tools"), str(Path(__file__).parent)]

import klfe_report
import klfe_sets
import numpy as np
from klfe_sets import FILES, SIMULATED
from lab import Job, Report, Results, main
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold

import mercer
from mercer import KernelBasis

VERSION = 1  # raised whenever a job computes something else


def jobs(settings):
    """List the settings of the paper's figures, then our own questions."""
    s = settings
    shape = {k: s[k] for k in ("columns", "distance", "matrix", "train", "test")}
    tune = {k: s[k] for k in ("neighbours", "grid", "folds")}
    out = []

    def add(kind, name, alone=False, **told):
        needs = (FILES[name],) if name in FILES else ()
        # Of a real set only the number of test rows is ours to choose, where the paper's is too large.
        test = {"test": s["test_rows"][name]} if name in s["test_rows"] else {}
        drawn = {"shape": shape if name in SIMULATED else test}
        out.append(Job(kind, {"name": name} | drawn | told, alone=alone, needs=needs))

    for name, normalise in s["cases"]:
        runs = s["runs"] if name in SIMULATED else s["real_runs"]
        for run in range(1 if name == "usps-exchanged" else runs):
            common = {"normalise": normalise, "seed": s["seed"] + run} | tune
            add("linear", name, **common)
            add("kernel", name, width="one", kobl=s["kobl"], **common)
            if normalise == "zscore":
                by_folds = {"folds": s["cv_folds"], "widths": s["cv_widths"]}
                add("kernel", name, width="cv", kobl=s["kobl"], **common | by_folds)
    names = dict.fromkeys(name for name, _ in s["cases"] if name != "usps-exchanged")
    for name in names:
        for normalise in s["normalisations"]:
            for run in range(s["normalisation_runs"]):
                told = {"neighbours": s["normalisation_neighbours"], "features": s["normalisation_features"]}
                add("normalisation", name, normalise=normalise, seed=s["seed"] + run, **told)
    for name in SIMULATED[:2]:
        for other in [{}, *s["other"]]:
            for run in range(s["runs"]):
                told = {"seed": s["seed"] + run, "neighbours": s["other_neighbours"], "grid": s["grid"]}
                add("choices", name, **{"shape": shape | other} | told)
    for name in s["invariance"]:
        for width in s["invariance_widths"]:
            add("invariance", name, width=width, seed=s["seed"], neighbours=10)
    for n in s["times"]:
        told = {"n": n, "seed": s["seed"], "repeats": s["repeats"], "kobl": s["kobl"], "neighbours": 10}
        add("times", "ringnorm", alone=True, **told, clock="cpu")
    return out


# ---- methods: fit(rows, labels, L, gamma) returns a map from rows to features, the best first --------------------


def kpca_basis(gamma):
    """Return the paper's basis: eigenvectors of the kernel matrix as it is, not centred (57)."""
    return KernelBasis("kpca", gamma=gamma)


def columns_basis():
    """Return a basis of the columns' own space: as many vectors as the rows have rank, without an n × n problem."""
    return KernelBasis("kobl", kernel="linear", threshold=0.0)


def klfe(a, y, neighbours, gamma):
    """KLFE as the paper has it."""
    return mercer.KLFE(n_neighbors=neighbours, basis=kpca_basis(gamma)).fit(a, y).transform


def lfe(a, y, neighbours, gamma):
    """LFE is KLFE with the linear kernel; neighbours by euclidean distance, not L1 (see the README)."""
    return mercer.KLFE(n_neighbors=neighbours, basis=columns_basis()).fit(a, y).transform


def gda(a, y, neighbours, gamma):
    """GDA: one feature for two classes."""
    return mercer.GDA(reg=1e-3, basis=kpca_basis(gamma)).fit(a, y).transform


def kpca(a, y, neighbours, gamma):
    """KPCA in its classical form, centred."""
    return mercer.KPCA(basis=KernelBasis("kpca", gamma=gamma, center=True)).fit(a).transform


def kpca_uncentred(a, y, neighbours, gamma):
    """KPCA as KLFE and FSKPCA use it."""
    return kpca_basis(gamma).fit(a).transform


def fskpca(a, y, neighbours, gamma, weighted=False):
    """FSKPCA: Relief on the coordinates of KPCA, the best ones first."""
    fitted = mercer.KRelief(None, n_neighbors=neighbours, power=1, weighted=False, basis=kpca_basis(gamma)).fit(a, y)
    order = np.argsort(-fitted.scores_, kind="stable")
    weight = np.maximum(fitted.scores_[order], 0) if weighted else 1.0
    return lambda rows: fitted.transform(rows)[:, order] * weight


def fskpca_weighted(a, y, neighbours, gamma):
    """FSKPCA with each coordinate multiplied by its Relief weight."""
    return fskpca(a, y, neighbours, gamma, weighted=True)


def pca(a, y, neighbours, gamma):
    """PCA of the normalised columns."""
    return PCA().fit(a).transform


# The second entry says whether L matters.
KERNEL = {
    "KLFE": (klfe, True),
    "GDA": (gda, False),
    "KPCA": (kpca, False),
    "KPCA uncentred": (kpca_uncentred, False),
    "FSKPCA": (fskpca, True),
}
LINEAR = {"LFE": (lfe, True), "PCA": (pca, False)}


# ---- errors ------------------------------------------------------------------------------------------------------


def errors(features, a, ya, b, yb, grid):
    """Return the error of the nearest neighbour on the first I' features, for all I' at once, and how many there are.

    |z − z'|² without |z|², which is the same for all z', grows by one block of columns from one I' to the next.
    Beyond the last feature the error stays.
    """
    za, zb = features(a), features(b)
    far, done, out = np.zeros((len(b), len(a))), 0, []
    for q in grid:
        q = min(q, za.shape[1])
        if q > done:
            block = za[:, done:q]
            far += (block**2).sum(axis=1) - 2 * zb[:, done:q] @ block.T
            done = q
            error = float(np.mean(ya[far.argmin(axis=1)] != yb))
        out.append(error)
    return out, za.shape[1]


def tuned(fit, needs_l, a, ya, b, yb, *, gammas, neighbours, grid, folds, seed):
    """Choose width and L for every I', and all three together, by cross-validation; report the test errors.

    With one width there is none to choose. The paper tunes all of them so (section 4.4).
    """
    candidates = [(gamma, count) for gamma in gammas for count in (neighbours if needs_l else [0])]
    inner = np.zeros((len(grid), len(candidates)))
    for train, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(a, ya):
        for j, (gamma, count) in enumerate(candidates):
            features = fit(a[train], ya[train], count, gamma)
            inner[:, j] += errors(features, a[train], ya[train], a[held], ya[held], grid)[0]
    best = inner.argmin(axis=1)
    # Ties go to fewer features, then to the first width and to fewer neighbours.
    q, j = np.unravel_index(inner.argmin(), inner.shape)
    outer = {}
    for k in {*best.tolist(), int(j)}:
        gamma, count = candidates[k]
        outer[k] = errors(fit(a, ya, count, gamma), a, ya, b, yb, grid)
    return {
        "curve": [outer[k][0][i] for i, k in enumerate(best)],
        "neighbours": [candidates[k][1] for k in best],
        "gammas": [candidates[k][0] for k in best],
        "chosen": outer[j][0][q],
        "chosen_features": min(grid[q], outer[j][1]),
        "chosen_neighbours": candidates[j][1],
        "chosen_gamma": candidates[j][0],
        "available": min(last for _, last in outer.values()),
    }


def width_of(width, a, ya):
    """Return gamma: 1/(2 sigma²) with sigma = 1, or the one of least leave-one-out error on the training part."""
    return 0.5 if width == "one" else float(KernelBasis("kpca", gamma=width).fit(a, ya).gamma_)


def neighbour(a, ya, b, yb):
    """KKNN with K = 1: the rbf kernel falls with distance, so its nearest neighbour is that of the rows themselves."""
    return errors(lambda rows: rows, a, ya, b, yb, [a.shape[1]])[0][0]


# ---- jobs --------------------------------------------------------------------------------------------------------


def linear(data: Path, *, name, shape, normalise, seed, neighbours, grid, folds):
    """Compute what does not depend on the kernel's width: LFE, PCA and KKNN."""
    a, ya, b, yb = klfe_sets.split(data, name, seed, normalise, shape)
    told = {"gammas": [None], "neighbours": neighbours, "grid": grid, "folds": folds, "seed": seed}
    out = {method: tuned(fit, needs, a, ya, b, yb, **told) for method, (fit, needs) in LINEAR.items()}
    return {"methods": out, "KKNN": neighbour(a, ya, b, yb), "train": len(a), "test": len(b)}


def kernel(data: Path, *, name, shape, normalise, seed, width, neighbours, grid, folds, kobl, widths=()):
    """All kernel methods at one width, or each with the width that its own cross-validation chooses.

    `widths` are those tried, times 1/p. Beside them KLFE on a small KOBL basis with the same width and L.
    """
    a, ya, b, yb = klfe_sets.split(data, name, seed, normalise, shape)
    gammas = [w / a.shape[1] for w in widths] if width == "cv" else [width_of(width, a, ya)]
    told = {"gammas": gammas, "neighbours": neighbours, "grid": grid, "folds": folds, "seed": seed}
    used = [method for method in KERNEL if width != "cv" or method != "KPCA uncentred"]
    out = {method: tuned(*KERNEL[method], a, ya, b, yb, **told) for method in used}
    full, small = out["KLFE"], {}
    chosen = (full["chosen_gamma"], full["chosen_neighbours"])
    pairs = list(zip(full["gammas"], full["neighbours"], strict=True))
    for gamma, count in {*pairs, chosen}:
        basis = KernelBasis("kobl", gamma=gamma, threshold="linear", n_components=kobl)
        fitted = mercer.KLFE(n_neighbors=count, basis=basis).fit(a, ya)
        small[gamma, count] = errors(fitted.transform, a, ya, b, yb, grid)[0]
    out["KLFE kobl"] = {
        "curve": [small[pair][i] for i, pair in enumerate(pairs)],
        "chosen": _at(small[chosen], grid, full["chosen_features"]),
        "available": full["available"],
    }
    return {"methods": out, "gamma": full["chosen_gamma"]}


def _at(curve, grid, features):
    return curve[min(i for i, q in enumerate(grid) if q >= features)]


def normalisation(data: Path, *, name, shape, normalise, seed, neighbours, features):
    """Sigma = 1 under another normalisation, with L and I' fixed: how large the kernel values are, and the errors."""
    a, ya, b, yb = klfe_sets.split(data, name, seed, normalise, shape)
    fits = {name: fit for name, (fit, _) in (KERNEL | LINEAR).items()} | {"FSKPCA weighted": fskpca_weighted}
    out = {n: errors(fit(a, ya, neighbours, 0.5), a, ya, b, yb, [features])[0][0] for n, fit in fits.items()}
    square = (a**2).sum(axis=1)
    values = np.exp(-0.5 * (square[:, None] + square - 2 * a @ a.T))[np.triu_indices(len(a), 1)]
    outside = 1 - (kpca_basis(0.5).fit(a).transform(b) ** 2).sum(axis=1)
    return {
        "errors": out | {"KKNN": neighbour(a, ya, b, yb)},
        "median": float(np.median(values)),
        "outside": float(outside.mean()),
    }


def choices(data: Path, *, name, shape, seed, neighbours, grid):
    """Twin sine with another I, D, N or R at sigma = 1: test errors of all L, so that the reader can favour KLFE."""
    a, ya, b, yb = klfe_sets.split(data, name, seed, "zscore", shape)
    out = {"KLFE": [errors(klfe(a, ya, count, 0.5), a, ya, b, yb, grid)[0] for count in neighbours]}
    for name in ("GDA", "KPCA", "FSKPCA"):
        out[name] = errors(KERNEL[name][0](a, ya, 10, 0.5), a, ya, b, yb, grid)[0]
    return out | {"KKNN": neighbour(a, ya, b, yb)}


def invariance(data: Path, *, name, shape, seed, width, neighbours):
    """Lemma 1, Propositions 1 and 2 and Theorem 1, in numbers."""
    a, ya, b, yb = klfe_sets.split(data, name, seed, "zscore", shape)
    b, yb = b[:1000], yb[:1000]
    gamma = width_of(width, a, ya)
    rows = np.vstack([a, b])
    bases = {
        "kpca": kpca_basis(gamma),
        "gram-schmidt": KernelBasis("gram-schmidt", gamma=gamma),
        "kobl": KernelBasis("kobl", gamma=gamma, threshold=0.0),
        # The basis of a larger space, which the test rows span as well.
        "larger": KernelBasis("kobl", gamma=gamma, threshold=0.0, landmarks=rows),
    }
    fitted = {n: mercer.KLFE(n_neighbors=neighbours, basis=basis).fit(a, ya) for n, basis in bases.items()}
    features = {n: f.transform(rows) for n, f in fitted.items()}
    seen = {n: nearest(z[: len(a)], ya, z[len(a) :]) for n, z in features.items()}
    inner = {n: z @ z.T for n, z in features.items()}
    scale, n = np.abs(inner["kpca"]).max(), len(a)
    rank = int(fitted["kpca"].basis_.n_components_)
    outside = 1 - (fitted["kpca"].basis_.transform(b) ** 2).sum(axis=1)
    return {
        # Inner products of features do not see signs, nor turns among equal eigenvalues, which no basis fixes.
        "gap": {m: float(np.abs(inner[m] - inner["kpca"]).max() / scale) for m in ("gram-schmidt", "kobl")},
        "same": {m: float(np.mean(seen[m] == seen["kpca"])) for m in ("gram-schmidt", "kobl")},
        "gap_larger": float(np.abs(inner["larger"] - inner["kpca"])[:n, :n].max() / scale),
        "larger": int(fitted["larger"].basis_.n_components_),
        "features": {m: int(f.n_components_) for m, f in fitted.items()},
        "rank": rank,
        "outside": float(outside.mean()),
        "rotation": rotation(a, ya, neighbours, seed),
        "optimum": optimum(a, ya, seed),
    }


def nearest(za, ya, zb):
    """Return the labels of the nearest neighbours."""
    return ya[((za**2).sum(axis=1) - 2 * zb @ za.T).argmin(axis=1)]


def margin_matrix(a, y, neighbours, p):
    """Σ_mh of LFE with neighbours by the L^p distance; mercer has the euclidean alone, the paper's (5) says p = 1."""
    from scipy.spatial.distance import cdist

    far = cdist(a, a, "minkowski", p=p)
    np.fill_diagonal(far, np.inf)
    same = y[:, None] == y
    out, chosen = np.zeros((a.shape[1],) * 2), []
    for sign, allowed in ((1, ~same), (-1, same)):
        near = np.argsort(np.where(allowed, far, np.inf), axis=1, kind="stable")[:, :neighbours]
        delta = (a[:, None] - a[near]).reshape(-1, a.shape[1])
        out += sign * delta.T @ delta
        chosen.append(near)
    return out, np.hstack(chosen)


def rotation(a, y, neighbours, seed):
    """Turn the rows by a random rotation Q: LFE's matrix must become QΣQᵀ (Lemma 1), with p = 2 and with p = 1."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(a.shape[1],) * 2))[0]
    out = {}
    for p in (1, 2):
        (before, near), (after, near_after) = (margin_matrix(x, y, neighbours, p) for x in (a, a @ turn.T))
        gap = np.abs(turn @ before @ turn.T - after).max() / np.abs(after).max()
        out[f"p{p}"] = {"gap": float(gap), "moved": float(np.mean(near != near_after))}
    return out


def optimum(a, y, seed, draws=2000):
    """Compare Theorem 1's margin with those of random W and of small steps away from its own W, all of norm one."""
    sigma, _ = margin_matrix(a, y, 1, 2)
    axes = mercer.KLFE(n_neighbors=1, basis=columns_basis()).fit(a, y)
    unit = axes.basis_.coefficients_ @ axes.basis_.landmarks_  # the basis' vectors, as rows of the input space
    w = (axes.components_ @ unit).T @ (axes.components_ @ unit)
    rng, p = np.random.default_rng(seed), a.shape[1]
    best, root = -np.inf, np.linalg.cholesky(w / np.linalg.norm(w) + 1e-12 * np.eye(p))
    for i in range(draws):
        half = rng.normal(size=(p, p)) if i % 2 else root + 10 ** rng.uniform(-4, 0) * rng.normal(size=(p, p)) / p
        other = half @ half.T
        best = max(best, float(np.sum(sigma * other) / np.linalg.norm(other)))
    return {"theorem": float(np.sum(sigma * w) / np.linalg.norm(w)), "others": best}


def times(data: Path, *, name, shape, n, seed, repeats, kobl, neighbours, clock):
    """Processor seconds to fit, interleaved; the median of the repeats. All components, but for KOBL's small basis."""
    import datasets

    rows, y = datasets.load(name, data)
    order = np.random.default_rng(seed).permutation(len(y))[:n]
    a, ya = klfe_sets.SCALERS["zscore"]().fit_transform(rows[order]), y[order]
    gamma = 1 / a.shape[1]
    bases = {
        "LFE": columns_basis(),
        "LFE kpca": KernelBasis("kpca", kernel="linear"),
        "KLFE kpca": kpca_basis(gamma),
        "KLFE gram-schmidt": KernelBasis("gram-schmidt", gamma=gamma),
        "KLFE kobl": KernelBasis("kobl", gamma=gamma, threshold="linear", n_components=kobl),
    }
    spent = {name: [] for name in bases}
    for _ in range(repeats):
        for name, basis in bases.items():
            start = time.process_time()
            mercer.KLFE(n_neighbors=neighbours, basis=basis).fit(a, ya)
            spent[name].append(time.process_time() - start)
    return {name: float(np.median(s)) for name, s in spent.items()}


def report(results: Results, report: Report) -> None:
    """Tables, figures and claims."""
    klfe_report.write(results, report)


if __name__ == "__main__":
    main("klfe")
