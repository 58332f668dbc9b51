"""Tables of the comparison of landmarks."""

from __future__ import annotations

import landmarks_data as sets
import numpy as np
from lab import Report, Results, summary
from landmarks_claims import claims
from landmarks_figures import draw_forest, draw_made, draw_sizes, draw_times, draw_where
from landmarks_table import METHODS, RULES, WIDTH, Table, sizes_of

DASH = "–"


def write(results: Results, report: Report) -> None:
    """Make everything from the results."""
    table = Table(results)
    answer(table, report)
    wins(table, report)
    per_set(table, report)
    by_size(table, report)
    equivalents(table, report)
    kinds(table, report)
    where(table, report)
    made(table, report)
    times(results, report)
    claims(table, results, report)
    draw_forest(table, report)
    draw_sizes(table, report)
    draw_where(table, report)
    draw_made(table, report)
    draw_times(results, report)


def _text(pooled) -> str:
    return DASH if pooled is None else pooled.text()


def answer(table: Table, report: Report) -> None:
    """Give the result in one table: means over data sets at m ≈ √n."""
    rows = []
    for method in ("sklearn", *METHODS, "nearest", "kpca"):
        trace = [_text(table.pooled(rule, method, "trace")) for rule in ("tuned", "median")]
        score = [_text(table.pooled(rule, method, "score")) for rule in RULES if rule != "own" or method in METHODS]
        rows.append([method, *trace, *score, *[DASH] * (5 - len(trace) - len(score))])
    head = ["against uniform, at m ≈ √n", "trace error ratio, tuned", "median", "score, tuned", "median", "own"]
    note = (
        f"Means over {len(table.real)} data sets with 95 % intervals over the sets. Below 1 is a smaller trace error, "
        "above 0 is a better score (points of accuracy, or of R² where the target is a number). "
        "nearest: the rows nearest to k-means' centres. kpca: the least trace error there is, from all rows."
    )
    report.table("answer", head, rows, note)


def wins(table: Table, report: Report) -> None:
    """Count sets won and lost."""
    rows = []
    for measure, rules in (("trace", ("tuned", "median")), ("score", RULES)):
        for rule in rules:
            for method in METHODS:
                c, pooled = table.counts(rule, method, measure), table.pooled(rule, method, measure)
                p = DASH if pooled is None else f"{pooled.wilcoxon:.3f}"
                counts = f"{c.wins} / {c.ties} / {c.losses}", f"{c.clear_wins} / {c.clear_losses}"
                rows.append([f"{method}, {measure}, {rule}", *counts, p])
    head = ["against uniform, at m ≈ √n", "better / equal / worse", "clearly better / clearly worse", "Wilcoxon p"]
    note = (
        "Clear: p < 5 % in the corrected paired test on the set's own splits. With no difference anywhere, one set "
        "in twenty would be clear by chance."
    )
    report.table("wins", head, rows, note)


def per_set(table: Table, report: Report) -> None:
    """Show every set, at its middle size: scores and trace errors."""
    for rule in RULES:
        rows = []
        for name in table.names:
            cell = table.first(name)
            uniform = summary(table.values(name, rule, "uniform", "score")).text()
            cells = []
            for method in METHODS:
                found = table.against(name, rule, method, "score")
                text = f"{found.difference:+.1f}"
                cells.append(f"**{text}**" if found.clear else text)
            rows.append([name, cell["n_train"], cell["p"], cell["middle"], uniform, *cells])
        head = ["set", "n", "p", "m", "uniform", *METHODS]
        note = (
            f"Rule: {WIDTH[rule]}. Score in percent with its standard error over the splits, then differences from "
            "it in points; bold: clear in the corrected test, for better or worse."
        )
        report.table(f"scores-{rule}", head, rows, note)
    for rule in ("tuned", "median"):
        rows = []
        for name in table.names:
            cells = []
            for method in ("uniform", *METHODS, "kpca"):
                text = f"{100 * table.values(name, rule, method, 'trace').mean():.2f}"
                clear = method in METHODS and table.against(name, rule, method, "trace").clear
                cells.append(f"**{text}**" if clear else text)
            rows.append([name, table.middle(name), *cells])
        head = ["set", "m", "uniform", *METHODS, "kpca (least possible)"]
        note = f"Rule: {WIDTH[rule]}. Relative trace error in percent, mean over splits; bold: clearly not uniform's."
        report.table(f"traces-{rule}", head, rows, note)


def by_size(table: Table, report: Report) -> None:
    """Show means over sets at each size."""
    for rule in ("tuned", "median"):
        rows = []
        for m in sizes_of(table):
            count = sum(m in table.first(name)["m"] for name in table.real)
            for measure in ("trace", "score"):
                cells = [_text(table.pooled(rule, method, measure, m)) for method in METHODS]
                rows.append([f"{m}: {measure}", count, *cells])
        note = f"Rule: {WIDTH[rule]}. As above, over the sets that have the size: fewer and larger ones as m grows."
        report.table(f"sizes-{rule}", ["m", "sets", *METHODS], rows, note)


def equivalents(table: Table, report: Report) -> None:
    """Tell the number of uniform landmarks that does as well."""
    rows = []
    for measure in ("trace", "score"):
        for rule in ("tuned", "median"):
            cells = []
            for method in METHODS:
                cells.append(_quartiles(equivalent(table, rule, method, measure)))
            rows.append([f"same {measure}, {rule}", *cells])
    note = (
        "Uniform landmarks needed, as a multiple of the method's m ≈ √n: median over the sets [quartiles]. Above 1 "
        "the method saves landmarks, below 1 it wastes them; > where uniform's curve does not get there, < where "
        "even its smallest size is better."
    )
    report.table("equivalent", ["uniform needs", *METHODS], rows, note)


def equivalent(table: Table, rule: str, method: str, measure: str) -> np.ndarray:
    """Return the ratio for every real set."""
    found = np.array([table.equivalent(name, rule, method, measure) for name in table.real])
    return found[~np.isnan(found)]


def _quartiles(values: np.ndarray) -> str:
    if not len(values):
        return DASH
    low, middle, high = np.percentile(values, [25, 50, 75], method="nearest")
    words = [("< grid" if v == 0 else "> grid" if np.isinf(v) else f"{v:.2f}") for v in (low, middle, high)]
    return f"{words[1]} [{words[0]}, {words[2]}]"


def kinds(table: Table, report: Report) -> None:
    """Show the same by kind of set, since seven sets of genes are hardly seven independent witnesses."""
    groups: dict[str, list[str]] = {}
    for name in table.real:
        groups.setdefault(sets.group(name), []).append(name)
    groups["few columns (classes, numbers)"] = groups.get("classes", []) + groups.get("numbers", [])
    groups["all but genes"] = [name for name in table.real if sets.group(name) != "genes"]
    groups["all but texts"] = [name for name in table.real if sets.group(name) != "text"]
    rows = []
    for kind, names in groups.items():
        for measure in ("trace", "score"):
            cells = [_text(table.pooled("tuned", method, measure, names=names)) for method in (*METHODS, "nearest")]
            rows.append([f"{kind}: {measure}", len(names), *cells])
    report.table("kinds", ["kind of set", "sets", *METHODS, "nearest"], rows, f"Rule: {WIDTH['tuned']}; at m ≈ √n.")


def where(table: Table, report: Report) -> None:
    """Tell what the gain goes with."""
    rows = []
    for rule in ("tuned", "median"):
        for measure in ("trace", "score"):
            for key, words in (("tail", "slow decay"), ("uneven", "uneven rows")):
                cells = []
                for method in METHODS:
                    r, p = table.correlation(rule, method, measure, key)
                    cells.append(f"{r:+.2f} (p {p:.3f})")
                rows.append([f"gain in {measure}, {words}, {rule}", *cells])
    note = (
        "Spearman's correlation over the sets, at m ≈ √n. Slow decay: trace error of the best basis of √n. "
        "Uneven rows: sd over mean of the ridge leverage scores. Positive: chosen landmarks gain more "
        "where there is more of it."
    )
    report.table("where", ["correlation of", *METHODS], rows, note)


def made(table: Table, report: Report) -> None:
    """Show the made sets."""
    rows = []
    for name in [n for n in table.names if n in sets.MADE]:
        for m in [m for m in table.first(name)["m"] if m in (10, 20, 50, 100, 200)]:
            for rule in ("tuned", "median"):
                uniform = summary(table.values(name, rule, "uniform", "balanced", m)).text()
                cells = []
                for method in METHODS:
                    found = table.against(name, rule, method, "balanced", m)
                    text = f"{found.difference:+.1f}"
                    cells.append(f"**{text}**" if found.clear else text)
                rows.append([f"{name}, {rule}", m, uniform, *cells])
    note = (
        "Balanced accuracy of uniform in percent with its standard error, and differences from it; bold: clear in the "
        "paired test over independent draws."
    )
    report.table("made", ["set", "m", "uniform", *METHODS], rows, note)


def times(results: Results, report: Report) -> None:
    """Show seconds of a fit."""
    rows = []
    for record in results.find("times"):
        told = record.result
        for at, m in enumerate(told["m"]):
            base = told["seconds"]["uniform"][at]
            cells = [f"{told['seconds'][method][at] / base:.1f}" for method in ("sklearn", *METHODS)]
            rows.append([f"{record.settings['name']}, n = {told['n_train']}, m = {m}", f"{1000 * base:.0f} ms", *cells])
    note = (
        "Fit and training features: processor time on one thread, median of three, the methods in turn; the others as "
        "multiples of uniform. scikit-learn does not measure the trace error, which is part of the others' fit."
    )
    report.table("times", ["set", "uniform", "sklearn", *METHODS], rows, note)
