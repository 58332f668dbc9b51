"""The questions and their answers; every verdict comes from the shared rule in lab/verdicts.py."""

from __future__ import annotations

import landmarks_data as sets
import numpy as np
from lab import Report, Results, paired
from lab import verdicts as shared
from landmarks_table import METHODS, RULES, Table


def time_ratio(results: Results, method: str) -> float | None:
    """Return the median over sets and sizes of a method's fit time over uniform's."""
    each = [a / b for r in results.find("times") for a, b in zip(*_pair(r.result["seconds"], method), strict=True)]
    return float(np.median(each)) if each else None


def _pair(seconds: dict, method: str) -> tuple[list[float], list[float]]:
    return seconds[method], seconds["uniform"]


def judge(
    table: Table, method: str, measure: str, other: str = "uniform", names: list[str] | None = None
) -> tuple[str, str]:
    """Judge 'method is better than other' at m ≈ √n; the rules for the width are readings of it."""
    both = measure == "trace" or {"kpca", "nearest"} & {method, other}
    rules = ("tuned", "median") if both else RULES
    return read(table, method, measure, [(None, rule) for rule in rules], other, names)


def read(
    table: Table,
    method: str,
    measure: str,
    readings: list[tuple[int | None, str]],
    other: str = "uniform",
    names: list[str] | None = None,
) -> tuple[str, str]:
    """Judge by the counts over sets in each reading, a size and a rule for the width; show the means over sets too."""
    verdicts, words = [], []
    for m, rule in readings:
        pooled = table.pooled(rule, method, measure, m, other, names)
        if pooled is None:
            continue
        counts = table.counts(rule, method, measure, other, names, m)
        verdicts.append(shared.better(counts))
        words.append((f"m = {m}, " if m else "") + f"{rule} {pooled.text()}, {counts.text()}")
    what = "trace error ratio" if measure == "trace" else "points"
    return shared.joined(verdicts), f"{what}: {'; '.join(words)}" if words else "not run"


def claims(table: Table, results: Results, report: Report) -> None:
    """Judge each sentence."""
    for text, method, measure, other in (
        ("Random pivots (rpcholesky) reduce the trace error at equal m", "rpcholesky", "trace", "uniform"),
        ("Greedy pivots (kobl) reduce the trace error at equal m", "kobl", "trace", "uniform"),
        ("Random pivots (rpcholesky) raise the score at equal m", "rpcholesky", "score", "uniform"),
        ("Greedy pivots (kobl) raise the score at equal m", "kobl", "score", "uniform"),
        ("Greedy pivots leave less trace error than random pivots", "kobl", "trace", "rpcholesky"),
        ("Greedy pivots score better than random pivots", "kobl", "score", "rpcholesky"),
        ("Pivots that know the labels (csi) raise the score over uniform", "csi", "score", "uniform"),
        ("Labels help greedy pivots: csi scores better than kobl", "csi", "score", "kobl"),
        ("k-means centres reduce the trace error at equal m", "k-means", "trace", "uniform"),
        ("k-means centres raise the score at equal m", "k-means", "score", "uniform"),
        ("k-means centres leave less trace error than the best pivots (rpcholesky)", "k-means", "trace", "rpcholesky"),
        ("k-means centres score better than the best pivots (rpcholesky)", "k-means", "score", "rpcholesky"),
        ("Rows nearest to the centres still leave less trace error than uniform", "nearest", "trace", "uniform"),
        ("Rows nearest to the centres still score better than uniform", "nearest", "score", "uniform"),
        ("Centres score better than the rows nearest to them", "k-means", "score", "nearest"),
        ("There is room above: the best basis (kpca) scores better than k-means", "kpca", "score", "k-means"),
    ):
        report.claim(text, "beyond", *judge(table, method, measure, other))
    few = [name for name in table.real if sets.group(name) in ("classes", "numbers")]
    for method in METHODS:
        text = f"{method} raises the score on sets with few columns (no texts, no genes)"
        report.claim(text, "beyond", *judge(table, method, "score", names=few))
    claim_sane(table, report)
    claim_large(table, report)
    claim_sizes(table, report)
    claim_uneven(table, report)
    claim_proxy(table, report)
    claim_made(table, report)
    claim_time(results, report)


def claim_sane(table: Table, report: Report) -> None:
    """Expect no difference between two codes, in trace error and in score."""
    trace = [table.pooled(rule, "sklearn", "trace") for rule in ("tuned", "median")]
    score = [table.pooled(rule, "sklearn", "score") for rule in ("tuned", "median")]
    if None in trace + score:
        return
    verdicts = [
        shared.similar(table.counts(rule, "sklearn", measure), margin)
        for rule in ("tuned", "median")
        for measure, margin in (("trace", shared.RELATIVE), ("score", 100 * shared.MARGIN))
    ]
    figure = f"trace error ratio {trace[0].text()}, {trace[1].text()}; points {score[0].text()}, {score[1].text()}"
    text = "scikit-learn's Nystroem and mercer's nystrom are the same method"
    report.claim(text, "beyond", shared.joined(verdicts), figure)


def claim_large(table: Table, report: Report) -> None:
    """Judge at m = 100 and 200, on the sets that have them."""
    readings = [(m, rule) for m in (100, 200) for rule in ("tuned", "median")]
    for method in ("rpcholesky", "kobl"):
        for measure, words in (("trace", "reduces the trace error"), ("score", "raises the score")):
            text = f"{method} {words} at m = 100 and 200"
            report.claim(text, "beyond", *read(table, method, measure, readings))


def claim_sizes(table: Table, report: Report) -> None:
    """Compare the gains in score at m = 10 and 100, split by split, over sets that have both."""
    for method in ("rpcholesky", "k-means"):
        names = [n for n in table.real if {10, 100} <= set(table.first(n)["m"])]
        text = f"The gain in score of {method} is larger at m = 10 than at m = 100"
        if len(names) < 2:
            report.claim(text, "beyond", shared.UNTESTED, "too few sets have both sizes")
            continue
        verdicts, words = [], []
        for rule in ("tuned", "median"):
            tests, means = [], []
            for n in names:
                small, large = (
                    100 * (table.values(n, rule, method, "score", m) - table.values(n, rule, "uniform", "score", m))
                    for m in (10, 100)
                )
                tests.append(paired(small, large, table.first(n)["n_test"] / table.first(n)["n_train"]))
                means.append((small.mean(), large.mean()))
            counts = shared.count(tests)
            verdicts.append(shared.better(counts))
            ten, hundred = np.mean(means, axis=0)
            words.append(f"{rule} {ten:+.2f} against {hundred:+.2f}, {counts.text()}")
        report.claim(text, "beyond", shared.joined(verdicts), f"points on {len(names)} sets: {'; '.join(words)}")


def claim_uneven(table: Table, report: Report) -> None:
    """Correlate over the sets, by Spearman; readings: the rules for the width."""
    for method in ("rpcholesky", "kobl"):
        for measure, words in (("trace", "in trace error"), ("score", "in score")):
            found = {rule: table.correlation(rule, method, measure, "uneven") for rule in ("tuned", "median")}
            told = shared.joined([shared.trend(r, p) for r, p in found.values()])
            figure = "; ".join(f"{rule} ρ = {r:+.2f}, p = {p:.3f}" for rule, (r, p) in found.items())
            text = f"The gain {words} of {method} is larger where rows matter unevenly"
            report.claim(text, "beyond", told, figure)


def claim_proxy(table: Table, report: Report) -> None:
    """Correlate the two gains over the sets; readings: the rules for the width."""
    for method in ("rpcholesky", "k-means"):
        found = {rule: table.proxy(rule, method) for rule in ("tuned", "median")}
        told = shared.joined([shared.trend(r, p) for r, p in found.values()])
        figure = "; ".join(f"{rule} ρ = {r:+.2f}, p = {p:.3f}" for rule, (r, p) in found.items())
        text = f"Where {method} reduces the trace error more, it raises the score more"
        report.claim(text, "beyond", told, figure)


def claim_made(table: Table, report: Report) -> None:
    """Compare balanced accuracy at m = 50 on made sets by the paired test over independent draws."""
    for name, method, worse, text in (
        ("made_rare", "kobl", False, "A cluster of 1 % is found by greedy pivots and missed by uniform ones"),
        ("made_rare", "rpcholesky", False, "A cluster of 1 % is found by random pivots and missed by uniform ones"),
        ("made_outliers", "kobl", True, "Greedy pivots are lost on 1 % of scattered outliers"),
    ):
        if name not in table.names or 50 not in table.first(name)["m"]:
            report.claim(text, "beyond, made data", shared.UNTESTED, "not run")
            continue
        verdicts, words = [], []
        for rule in ("tuned", "median"):
            found = table.against(name, rule, method, "balanced", 50)
            verdicts.append(shared.better(shared.count([found], low=worse)))
            words.append(f"{rule} {found.difference:+.1f} ± {found.se:.1f}")
        figure = f"balanced accuracy at m = 50 against uniform, points: {', '.join(words)}"
        report.claim(text, "beyond, made data", shared.joined(verdicts), figure)


def claim_time(results: Results, report: Report) -> None:
    """Expect the median over sets and sizes within a factor of two of uniform's time."""
    ratio = {method: time_ratio(results, method) for method in METHODS}
    if None in ratio.values():
        return
    figure = "fit time over uniform's, median: " + ", ".join(f"{k} {v:.1f}" for k, v in ratio.items())
    near = shared.fact(sum(ratio[m] < 2 for m in ("rpcholesky", "kobl")), 2)
    text = "Pivoted bases cost about as much as uniform landmarks (within a factor of 2)"
    report.claim(text, "beyond", near, figure)
    near = shared.fact(int(ratio["k-means"] < 2), 1)
    report.claim("k-means centres cost about as much as uniform landmarks", "beyond", near, figure)
