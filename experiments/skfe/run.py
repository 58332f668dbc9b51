"""SKFE (Wu & Farquhar 2007): 1-NN on the features of four kernel extractors, on microarrays and texts.

Beside the paper's protocol, which reports the error that chose the parameters, stands one that chooses them inside the
training part. And we look at what the method maximises: does a higher alignment make a lower error?
"""

import sys
import time
import warnings
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tools")]

import datasets
import numpy as np
import skfe_methods as lib
import skfe_report
from lab import Job, Report, Results, main
from sklearn.preprocessing import normalize

from mercer import AKDAQR, KOC, KPLS, SKFE, KernelBasis

VERSION = 1


def jobs(settings: dict) -> list[Job]:
    """List the paper's two tables, then what is ours."""
    s = settings
    genes = [
        Job("genes", {"name": n, "repeat": r} | {k: s[k] for k in ("folds", "inner", "gammas", "factors")}, needs=(n,))
        for n in s["genes"]
        for r in range(s["repeats"])
    ]
    weighted = [(s["weighting"], s["splits"]), *((w, s["other_splits"]) for w in s["other_weightings"])]
    texts = [
        Job("texts", {"name": n, "weighting": w, "split": r} | {k: s[k] for k in ("inner", "factors")}, needs=(n,))
        for w, count in weighted
        for n in s["texts"]
        for r in range(count)
    ]
    stops = {"steps": s["early_steps"], "inner": s["early_inner"], "weighting": s["weighting"]}
    early = [
        Job("early", {"name": n, "split": r} | stops, needs=(n,))
        for n in s["texts"]
        for r in range(s["early_splits_large" if n in s["large_texts"] else "early_splits"])
    ]
    told = {"steps": s["fresh_steps"], "inner": s["fresh_inner"], "weighting": s["weighting"], "factors": s["factors"]}
    fresh = [
        Job("fresh", {"name": n, "split": s["fresh_seed"] + r} | told, needs=(n,))
        for n in s["texts"]
        for r in range(s["fresh_splits_large" if n in s["large_texts"] else "fresh_splits"])
    ]
    common = {k: s[k] for k in ("gamma", "folds", "weighting")}
    return [
        *genes,
        *texts,
        *early,
        *fresh,
        *(
            Job("path", {"name": n, "splits": s["path_splits"], "steps": s["steps"]} | common, needs=(n,))
            for n in s["path_sets"]
        ),
        *(
            Job(
                "starts",
                {"name": n, "splits": s["start_splits"], "steps": s["start_steps"], "random": s["random_starts"]}
                | common,
                needs=(n,),
            )
            for n in s["path_sets"]
        ),
        *(
            Job("criteria", {"name": n, "splits": s["path_splits"], "points": s["points"]} | common, needs=(n,))
            for n in s["criteria_sets"]
        ),
        *(
            Job("noise", {"name": n, "splits": s["noise_splits"], "sizes": s["noise_sizes"]} | common, needs=(n,))
            for n in s["noise_sets"]
        ),
        Job("law", {"name": s["law_set"]} | common, needs=(s["law_set"],)),
        *(
            Job(
                "cost",
                {"name": n, "runs": s["cost_runs"], "clock": "cpu", "basis": "gram-schmidt"} | common,
                alone=True,
                needs=(n,),
            )
            for n in s["cost_sets"]
        ),
        Job(
            "growth",
            {k: s[f"growth_{k}"] for k in ("rows", "columns", "classes", "runs")} | {"clock": "cpu, one thread"},
            alone=True,
        ),
    ]


def genes(data: Path, *, name: str, repeat: int, folds: int, inner: int, gammas: list, factors: list) -> dict:
    """Cross-validate once: every width on every fold, and the width that an inner cross-validation would choose.

    A candidate is a width, for KPLS a width and a number of features. `wrong[method][candidate][fold]` counts errors;
    `nested[method][fold]` those of the candidate with the fewest inner errors, the first among equals.
    """
    X, y = datasets.load(name, data)
    widths = [g / X.shape[1] for g in gammas]
    counts, nested, chosen, watched, sizes = {}, {}, {}, {}, []
    for train, test in lib.folds(y, folds, repeat):
        split = lib.gene_split(X, y, train, test)
        sizes.append(len(test))
        counts.setdefault("NN", [[]])[0].append(lib.wrong_raw(split, False))
        outer = _all_widths(split, widths, factors, watched)
        inside: dict[str, np.ndarray] = {}
        for a, b in lib.folds(split.y_train, inner, repeat):
            for method, row in _all_widths(lib.inner_split(split, a, b, False), widths, factors, None).items():
                inside[method] = inside.get(method, 0) + np.array(row)
        for method, row in outer.items():
            table = counts.setdefault(method, [[] for _ in row])
            for cell, value in zip(table, row, strict=True):
                cell.append(value)
            choice = int(np.argmin(inside[method]))
            nested.setdefault(method, []).append(row[choice])
            chosen.setdefault(method, []).append(choice)
    means = {m: [{k: float(np.mean([f[k] for f in fs])) for k in fs[0]} for fs in at] for m, at in watched.items()}
    return {"shape": _shape(X, y), "sizes": sizes, "wrong": counts, "nested": nested, "chosen": chosen} | {
        "watched": means
    }


def _all_widths(split: lib.Split, widths: list, factors: list, watched: dict | None) -> dict[str, list[int]]:
    """Return each method's errors by candidate; add what was watched, by method and width."""
    out: dict[str, list[int]] = {}
    for at, gamma in enumerate(widths):
        found = lib.count_errors(split, gamma, factors, watch=watched is not None)
        for method, row in found["wrong"].items():
            out.setdefault(method, []).extend(row)
        for method, told in found.get("watched", {}).items():
            watched.setdefault(method, [[] for _ in widths])[at].append(told)
    return out


def texts(data: Path, *, name: str, weighting: str, split: int, inner: int, factors: list) -> dict:
    """Train on half of each class, test on the rest; KPLS also with the number of features by inner folds."""
    X, y = datasets.load(name, data)
    part = lib.text_split(X, y, *lib.halves(y, split), weighting)
    found = lib.count_errors(part, None, factors, watch=True)
    inside = {"KPLS": np.zeros(len(factors)), "KPLS scaled": np.zeros(len(factors))}
    for a, b in lib.folds(part.y_train, inner, split):
        for method, row in lib.count_kpls(lib.inner_split(part, a, b, True), None, factors).items():
            inside[method] += row
    share = {m: (np.array(row) / len(part.y_test)).tolist() for m, row in found["wrong"].items()}
    share["NN"] = [lib.wrong_raw(part, True) / len(part.y_test)]
    share |= {f"{m} inner": [share[m][int(np.argmin(row))]] for m, row in inside.items()}
    return {"shape": _shape(X, y), "error": share, "watched": found["watched"]}


def early(data: Path, *, name: str, split: int, steps: list, inner: int, weighting: str) -> dict:
    """Stop SKFE elsewhere on the splits of `texts`: each number of steps, and the one that inner folds choose."""
    X, y = datasets.load(name, data)
    part = lib.text_split(X, y, *lib.halves(y, split), weighting)

    def count(part: lib.Split) -> np.ndarray:
        fits = [lib.fit_skfe(part, part.span(None), max_iter=s)[0] for s in steps]
        return np.array([lib.wrong(f.transform(part.train), f.transform(part.test), part) for f in fits])

    inside = sum(count(lib.inner_split(part, a, b, True)) for a, b in lib.folds(part.y_train, inner, split))
    error = count(part) / len(part.y_test)
    return {"error": error.tolist(), "chosen": steps[int(np.argmin(inside))], "inner": float(error[np.argmin(inside)])}


def fresh(data: Path, *, name: str, split: int, steps: list, inner: int, weighting: str, factors: list) -> dict:
    """Compare on splits that chose nothing else: SKFE with the number of steps by inner folds, KPLS beside it.

    SKFE, KOC and AKDA/QR have c features, one a class; KPLS has c too, or a multiple of c that inner folds choose.
    *Scaled* features have unit length on the training rows.
    """
    X, y = datasets.load(name, data)
    part = lib.text_split(X, y, *lib.halves(y, split), weighting)

    def searches(part: lib.Split) -> dict[str, np.ndarray]:
        out: dict[str, list[int]] = {"SKFE": [], "SKFE scaled": []}
        for count in steps:
            fit = lib.fit_skfe(part, part.span(None), max_iter=count)[0]
            a, b = fit.transform(part.train), fit.transform(part.test)
            norms = np.linalg.norm(a, axis=0)
            out["SKFE"].append(lib.wrong(a, b, part))
            out["SKFE scaled"].append(lib.wrong(a / norms, b / norms, part))
        return {m: np.array(row) for m, row in (out | lib.count_kpls(part, None, factors)).items()}

    folds = [lib.inner_split(part, a, b, True) for a, b in lib.folds(part.y_train, inner, split)]
    inside = [searches(fold) for fold in folds]
    outer = searches(part)
    at = {m: int(np.argmin(sum(found[m] for found in inside))) for m in outer}
    rows = len(part.y_test)
    error = {f"{m} inner": float(row[at[m]] / rows) for m, row in outer.items()}
    one = factors.index(1)
    error |= {f"{m} c": float(outer[m][one] / rows) for m in ("KPLS", "KPLS scaled")}
    error |= {m: wrong / rows for m, wrong in lib.count_others(part).items()}
    table = {m: (row / rows).tolist() for m, row in outer.items()}
    chosen = {m: (steps if "SKFE" in m else factors)[i] for m, i in at.items()}
    return {"error": error, "chosen": chosen, "table": table}


def _shape(X, y) -> dict:
    counts = np.unique(y, return_counts=True)[1]
    return {
        "n": X.shape[0],
        "p": X.shape[1],
        "c": len(counts),
        "largest": int(max(counts)),
        "smallest": int(min(counts)),
    }


def path(data: Path, *, name: str, splits: int, steps: list, gamma: float, folds: int, weighting: str) -> dict:
    """Stop the search after so many steps; step 0 is its start, KOC. Rows of the lists are splits."""
    at = lib.width(data, name, gamma)
    out = {b: {"train": [], "test": [], "error": []} for b in ("span", "kobl")}
    for number in range(splits):
        split = lib.any_split(data, name, number, folds, weighting)
        for label, basis in (("span", split.span(at)), ("kobl", split.basis(at))):
            fits = [KOC(basis=basis).fit(split.train, split.y_train)]
            fits += [lib.fit_skfe(split, basis, max_iter=s)[0] for s in steps]
            pairs = [(f.transform(split.train), f.transform(split.test)) for f in fits]
            out[label]["train"].append([lib.alignment(a, split.y_train) for a, _ in pairs])
            out[label]["test"].append([lib.alignment(b, split.y_test) for _, b in pairs])
            out[label]["error"].append([lib.wrong(a, b, split) / len(split.y_test) for a, b in pairs])
    return out


def starts(
    data: Path, *, name: str, splits: int, steps: int, random: int, gamma: float, folds: int, weighting: str
) -> dict:
    """Search long from other starts, in the whole span, to see whether the searches meet."""
    at = lib.width(data, name, gamma)
    out = {}
    for number in range(splits):
        split = lib.any_split(data, name, number, folds, weighting)
        begin = [("koc", 0), ("gda", 0), ("kpls", 0), *(("random", seed) for seed in range(random))]
        for init, seed in begin:
            skfe, ended = lib.fit_skfe(split, split.span(at), init=init, random_state=seed, max_iter=steps)
            count = lib.wrong(skfe.transform(split.train), skfe.transform(split.test), split)
            row = [skfe.alignment_path_[0], skfe.alignment_, skfe.n_iter_, int(ended), count / len(split.y_test)]
            out.setdefault(init, []).append([number, *row])
    return out


def criteria(data: Path, *, name: str, splits: int, points: int, gamma: float, folds: int, weighting: str) -> dict:
    """Climb what the paper leaves to others: margins instead of alignment, other starts, points of the input space.

    All in the whole span, with the steps that SKFE has unless told otherwise; `points` a class.
    """
    at = lib.width(data, name, gamma)
    kernel = {"kernel": "linear"} if at is None else {"gamma": at}
    out: dict = {"error": {}, "shares": []}
    for number in range(splits):
        split = lib.any_split(data, name, number, folds, weighting)
        count = points * len(np.unique(split.y_train))
        basis = KernelBasis("kobl", threshold=0.0, **kernel)
        fits = {
            "alignment": SKFE(basis=basis),
            "margin": SKFE(criterion="margin", basis=basis),
            "radius-margin": SKFE(criterion="radius-margin", basis=basis),
            "alignment, from kpca": SKFE(init="kpca", basis=basis),
            "alignment, from akda-qr": SKFE(init="akda-qr", basis=basis),
            "points, alignment": SKFE(points=count, **kernel),
            "points, margin": SKFE(points=count, criterion="margin", **kernel),
        }
        for label, fit in fits.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit.fit(split.raw_train, split.y_train)
            wrong = lib.wrong(fit.transform(split.raw_train), fit.transform(split.raw_test), split)
            out["error"].setdefault(label, []).append(wrong / len(split.y_test))
        out["shares"].append(len(split.y_test) / len(split.y_train))
    return out


def noise(data: Path, *, name: str, splits: int, sizes: list, gamma: float, folds: int, weighting: str) -> dict:
    """Align with the labels, and with the same labels shuffled, in bases of several sizes."""
    at = lib.width(data, name, gamma)
    X, y = datasets.load(name, data)
    make = (lambda *s: lib.text_split(X, y, *s, weighting)) if at is None else (lambda *s: lib.gene_split(X, y, *s))
    out = {}
    for number in range(splits):
        split = make(*lib.halves(y, number))
        rng = np.random.default_rng(1000 + number)
        shuffled = lib.Split(
            split.train, split.test, rng.permutation(split.y_train), split.y_test, split.raw_train, split.raw_test
        )
        for labels, part in (("true", split), ("shuffled", shuffled)):
            bases = {"span": part.span(at), "kobl": part.basis(at)}
            bases |= {str(m): part.basis(at, n_components=m, threshold=0.0) for m in sizes}
            for label, basis in bases.items():
                skfe, _ = lib.fit_skfe(part, basis)
                rows = skfe.transform(part.train), skfe.transform(part.test)
                row = [skfe.basis_.n_components_, skfe.alignment_, lib.alignment(rows[1], part.y_test)]
                row += [lib.wrong(*rows, part) / len(part.y_test)]
                out.setdefault(f"{labels} {label}", []).append(row)
    return out


def law(data: Path, *, name: str, gamma: float, folds: int, weighting: str) -> dict:
    """Hold SKFE to the paper's formulas: the subspace kernel, the alignment and its gradient."""
    split = lib.any_split(data, name, 0, folds, weighting)
    at = lib.width(data, name, gamma)
    skfe, _ = lib.fit_skfe(split, split.span(at))
    n, q = len(split.y_train), skfe.n_components_
    K = np.exp(-at * lib.cdist(split.train, split.train) ** 2)
    W = np.zeros((n, q))
    W[skfe.basis_.pivots_] = (skfe.components_ @ skfe.basis_.coefficients_).T
    Y = (split.y_train[:, None] == np.unique(split.y_train)).astype(float)

    def subspace(weights: np.ndarray) -> np.ndarray:
        return K @ weights @ np.linalg.solve(weights.T @ K @ weights, weights.T @ K)

    features = skfe.transform(split.train)
    Kw, Ky = subspace(W), Y @ Y.T
    direct = np.sum(Kw * Ky) / (np.linalg.norm(Kw) * np.linalg.norm(Ky))
    rng = np.random.default_rng(0)
    a, V = rng.normal(size=n), rng.normal(size=(n, q))
    beta = np.linalg.solve(V.T @ K @ V, V.T @ K @ a)
    gradient = 2 * np.outer(K @ a - K @ V @ beta, beta)
    D, h = rng.normal(size=(n, q)), 1e-5
    slope = (a @ subspace(V + h * D) @ a - a @ subspace(V - h * D) @ a) / (2 * h)
    return {
        "kernel": float(np.abs(Kw - features @ features.T).max()),
        "alignment": float(abs(direct - skfe.alignment_)),
        "gradient": float(abs(slope - np.sum(gradient * D)) / abs(slope)),
    }


def _timed(call) -> float:
    """Return the processor time of a call, all threads together: what else the machine does hardly counts."""
    start = time.process_time()
    call()
    return time.process_time() - start


def cost(data: Path, *, name: str, runs: int, clock: str, basis: str, gamma: float, folds: int, weighting: str) -> dict:
    """Time each fit from the rows themselves, kernel values included, in turns; every run in seconds."""
    X, y = datasets.load(name, data)
    at = lib.width(data, name, gamma)
    if at is None:
        train, _ = lib.halves(y, 0)
        rows, kernel = normalize(X)[train], {"kernel": "linear"}
    else:
        train, _ = lib.folds(y, folds, 0)[0]
        scale = X[train].std(axis=0)
        rows, kernel = (X[train] - X[train].mean(axis=0)) / np.where(scale > 0, scale, 1), {"gamma": at}
    labels, c = y[train], len(np.unique(y))
    span = KernelBasis(basis, **kernel)
    fits = {
        "KPLS": KPLS(2 * c, basis=span),
        "KOC": KOC(basis=span),
        "AKDA/QR": AKDAQR(reg=lib.REG, basis=span),
        "SKFE": SKFE(**lib.SEARCH, basis=span),
        "SKFE kobl": SKFE(**lib.SEARCH, basis=KernelBasis("kobl", threshold="linear", **kernel)),
    }
    for fit in fits.values():  # once unmeasured where that is quick: threads and memory are warm
        if rows.shape[0] < 500:
            fit.fit(rows, labels)
    out = {method: [] for method in fits}
    for _ in range(runs):
        for method, fit in fits.items():
            out[method].append(_timed(lambda fit=fit: fit.fit(rows, labels)))
    return {"rows": len(train), "seconds": out}


def growth(data: Path, *, rows: list, columns: list, classes: list, runs: int, clock: str) -> dict:
    """Time AKDA/QR as rows, columns and classes grow, and the alignment by its factors and by n×n products."""
    rng = np.random.default_rng(0)

    def akda(n: int, p: int, c: int) -> float:
        X, y = rng.normal(size=(n, p)), np.arange(n) % c
        fit = AKDAQR(reg=lib.REG, basis=KernelBasis("kobl", gamma=1 / p))
        return float(np.median([_timed(lambda: fit.fit(X, y)) for _ in range(runs)]))

    def inner(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.einsum("ij,ij->", a, b))  # one thread: idle threads of a product would be counted, too

    def aligned(n: int, q: int = 10) -> list[float]:
        Z, y = rng.normal(size=(n, q)), np.arange(n) % q
        Y = (y[:, None] == np.arange(q)).astype(float)
        Kw, Ky = Z @ Z.T, Y @ Y.T  # forming them is not counted
        by_factors = [_timed(lambda: lib.alignment(Z, y)) for _ in range(runs)]
        direct = [_timed(lambda: inner(Kw, Ky) / (inner(Kw, Kw) * inner(Ky, Ky)) ** 0.5) for _ in range(runs)]
        return [float(np.median(by_factors)), float(np.median(direct))]

    return {
        "rows": [akda(n, columns[0], classes[0]) for n in rows],
        "columns": [akda(rows[-2], p, classes[0]) for p in columns],
        "classes": [akda(rows[-2], columns[0], c) for c in classes],
        "alignment": [aligned(n) for n in rows[:3]],
    }


def report(results: Results, report: Report) -> None:
    """Write tables, figures and claims."""
    skfe_report.write(results, report)


if __name__ == "__main__":
    main("skfe")
