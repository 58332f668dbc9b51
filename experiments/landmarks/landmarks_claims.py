"""Verdicts, each by a rule in code."""

from __future__ import annotations

import landmarks_data as sets
import numpy as np
from lab import Report, Results, summary
from landmarks_table import METHODS, RULES, Table


def time_ratio(results: Results, method: str) -> float | None:
    """Return the median over sets and sizes of a method's fit time over uniform's."""
    each = [a / b for r in results.find("times") for a, b in zip(*_pair(r.result["seconds"], method), strict=True)]
    return float(np.median(each)) if each else None


def _pair(seconds: dict, method: str) -> tuple[list[float], list[float]]:
    return seconds[method], seconds["uniform"]


def verdict(signs: list[int]) -> str:
    """All rules say better: holds. Some do and none says worse: partly. Else it does not hold. No rule: untested."""
    if not signs:
        return "cannot be tested"
    if all(sign > 0 for sign in signs):
        return "holds"
    return "holds partly" if any(sign > 0 for sign in signs) and min(signs) == 0 else "does not hold"


def judge(
    table: Table, method: str, measure: str, other: str = "uniform", names: list[str] | None = None
) -> tuple[str, str]:
    """Judge 'method is better than other' at m ≈ √n by the intervals over data sets, one for each rule of the width."""
    both = measure == "trace" or {"kpca", "nearest"} & {method, other}
    rules = ("tuned", "median") if both else RULES
    found = {rule: table.pooled(rule, method, measure, other=other, names=names) for rule in rules}
    found = {rule: pooled for rule, pooled in found.items() if pooled is not None}
    what = "trace error ratio" if measure == "trace" else "points"
    figures = "; ".join(f"{rule} {pooled.text()}" for rule, pooled in found.items())
    counts = table.counts("tuned", method, measure, other, names)
    clear = "clearly better on {clearly better}, clearly worse on {clearly worse} of {sets} sets".format(**counts)
    return verdict([pooled.sign for pooled in found.values()]), f"{what}: {figures}; tuned: {clear}"


def claims(table: Table, results: Results, report: Report) -> None:
    """Judge each sentence by the rule that `verdict` and `judge` state; other rules stand beside their claims."""
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
    """Expect no difference between two codes: intervals must hold none, and the means be near (5 %, 1 point)."""
    trace = [table.pooled(rule, "sklearn", "trace") for rule in ("tuned", "median")]
    score = [table.pooled(rule, "sklearn", "score") for rule in ("tuned", "median")]
    if None in trace + score:
        return
    same = all(p.sign == 0 for p in trace + score)
    near = all(0.95 < p.mean < 1.05 for p in trace) and all(abs(p.mean) < 1 for p in score)
    figure = f"trace error ratio {trace[0].text()}, {trace[1].text()}; points {score[0].text()}, {score[1].text()}"
    told = "holds" if same and near else "holds partly" if near else "does not hold"
    report.claim("scikit-learn's Nystroem and mercer's nystrom are the same method", "beyond", told, figure)


def claim_large(table: Table, report: Report) -> None:
    """Judge at m = 100 and 200, on the sets that have them: every interval must be on the good side."""
    for method in ("rpcholesky", "kobl"):
        for measure, words in (("trace", "reduces the trace error"), ("score", "raises the score")):
            found = {(m, r): table.pooled(r, method, measure, m) for m in (100, 200) for r in ("tuned", "median")}
            found = {key: pooled for key, pooled in found.items() if pooled is not None}
            figures = "; ".join(f"m = {m}, {rule} {pooled.text()}" for (m, rule), pooled in found.items())
            signs = [pooled.sign for pooled in found.values()]
            report.claim(f"{method} {words} at m = 100 and 200", "beyond", verdict(signs), figures or "not run")


def claim_sizes(table: Table, report: Report) -> None:
    """Compare the gains in score at m = 10 and 100, over sets that have both: holds if the interval is above 0."""
    for method in ("rpcholesky", "k-means"):
        names = [n for n in table.real if {10, 100} <= set(table.first(n)["m"])]
        text = f"The gain in score of {method} is larger at m = 10 than at m = 100"
        if len(names) < 2:
            report.claim(text, "beyond", "cannot be tested", "too few sets have both sizes")
            continue
        signs, words = [], []
        for rule in ("tuned", "median"):
            gains = [[table.against(n, rule, method, "score", m).difference for n in names] for m in (10, 100)]
            falls = summary(np.subtract(*gains))
            low, high = falls.interval()
            signs.append(1 if low > 0 else -1 if high < 0 else 0)
            means = f"{np.mean(gains[0]):+.2f} against {np.mean(gains[1]):+.2f}"
            words.append(f"{rule} {means}, difference [{low:+.2f}, {high:+.2f}]")
        report.claim(text, "beyond", verdict(signs), f"points on {len(names)} sets: {'; '.join(words)}")


def claim_uneven(table: Table, report: Report) -> None:
    """Hold it for a rule of the width if Spearman's correlation is positive with p < 5 %."""
    for method in ("rpcholesky", "kobl"):
        for measure, words in (("trace", "in trace error"), ("score", "in score")):
            found = {rule: table.correlation(rule, method, measure, "uneven") for rule in ("tuned", "median")}
            signs = [(1 if r > 0 else -1) if p < 0.05 else 0 for r, p in found.values() if p == p]
            figure = "; ".join(f"{rule} ρ = {r:+.2f}, p = {p:.3f}" for rule, (r, p) in found.items())
            text = f"The gain {words} of {method} is larger where rows matter unevenly"
            report.claim(text, "beyond", verdict(signs), figure)


def claim_proxy(table: Table, report: Report) -> None:
    """Hold it for a rule of the width if the gains correlate over the sets, positive with p < 5 %."""
    for method in ("rpcholesky", "k-means"):
        found = {rule: table.proxy(rule, method) for rule in ("tuned", "median")}
        signs = [(1 if r > 0 else -1) if p < 0.05 else 0 for r, p in found.values() if p == p]
        figure = "; ".join(f"{rule} ρ = {r:+.2f}, p = {p:.3f}" for rule, (r, p) in found.items())
        text = f"Where {method} reduces the trace error more, it raises the score more"
        report.claim(text, "beyond", verdict(signs), figure)


def claim_made(table: Table, report: Report) -> None:
    """Compare balanced accuracy at m = 50 on made sets by the paired test over independent draws."""
    for name, method, worse, text in (
        ("made_rare", "kobl", False, "A cluster of 1 % is found by greedy pivots and missed by uniform ones"),
        ("made_rare", "rpcholesky", False, "A cluster of 1 % is found by random pivots and missed by uniform ones"),
        ("made_outliers", "kobl", True, "Greedy pivots are lost on 1 % of scattered outliers"),
    ):
        if name not in table.names or 50 not in table.first(name)["m"]:
            report.claim(text, "beyond, made data", "cannot be tested", "not run")
            continue
        signs, words = [], []
        for rule in ("tuned", "median"):
            found = table.against(name, rule, method, "balanced", 50)
            sign = 0 if not found.clear else 1 if found.difference > 0 else -1
            signs.append(-sign if worse else sign)
            words.append(f"{rule} {found.difference:+.1f} ± {found.se:.1f}")
        figure = f"balanced accuracy at m = 50 against uniform, points: {', '.join(words)}"
        report.claim(text, "beyond, made data", verdict(signs), figure)


def claim_time(results: Results, report: Report) -> None:
    """Expect the median over sets and sizes within a factor of two of uniform's time."""
    ratio = {method: time_ratio(results, method) for method in METHODS}
    if None in ratio.values():
        return
    figure = "fit time over uniform's, median: " + ", ".join(f"{k} {v:.1f}" for k, v in ratio.items())
    told = [1 if r < 2 else 0 if r < 5 else -1 for r in (ratio["rpcholesky"], ratio["kobl"])]
    report.claim(
        "Pivoted bases cost about as much as uniform landmarks (within a factor of 2)", "beyond", verdict(told), figure
    )
    told = [1 if ratio["k-means"] < 2 else 0 if ratio["k-means"] < 5 else -1]
    report.claim("k-means centres cost about as much as uniform landmarks", "beyond", verdict(told), figure)
