"""Tables, figures and claims of the comparison of landmarks."""

from __future__ import annotations

import landmarks_data as sets
import numpy as np
from lab import Report, Results, summary
from lab.report import colour
from landmarks_table import METHODS, RULES, Table
from scipy import stats

COLOUR = {method: colour(method) for method in ("uniform", *METHODS, "kpca")} | {
    "k-means": "#e07b39",
    "sklearn": "#8a8a8a",
}
WIDTH = {"tuned": "width tuned, same for all", "median": "width by the median rule", "own": "each its own width"}
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
    """The result in one table: means over data sets at m ≈ √n."""
    rows = []
    for method in ("sklearn", *METHODS, "kpca"):
        trace = [_text(table.pooled(rule, method, "trace")) for rule in ("tuned", "median")]
        score = [_text(table.pooled(rule, method, "score")) for rule in RULES if rule != "own" or method in METHODS]
        rows.append([method, *trace, *score, *[DASH] * (5 - len(trace) - len(score))])
    head = ["against uniform, at m ≈ √n", "trace error ratio, tuned", "median", "score, tuned", "median", "own"]
    note = (
        f"Means over {len(table.real)} data sets with 95 % intervals over the sets. Below 1 is a smaller trace error, "
        "above 0 is a better score (points of accuracy, or of R² where the target is a number)."
    )
    report.table("answer", head, rows, note)


def wins(table: Table, report: Report) -> None:
    """Sets won and lost."""
    rows = []
    for measure, rules in (("trace", ("tuned", "median")), ("score", RULES)):
        for rule in rules:
            for method in METHODS:
                c, pooled = table.counts(rule, method, measure), table.pooled(rule, method, measure)
                tie = c["sets"] - c["better"] - c["worse"]
                p = DASH if pooled is None else f"{pooled.wilcoxon:.3f}"
                counts = f"{c['better']} / {tie} / {c['worse']}", f"{c['clearly better']} / {c['clearly worse']}"
                rows.append([f"{method}, {measure}, {rule}", *counts, p])
    head = ["against uniform, at m ≈ √n", "better / equal / worse", "clearly better / clearly worse", "Wilcoxon p"]
    note = (
        "Clear: p < 5 % in the corrected paired test on the set's own splits. With no difference anywhere, one set "
        "in twenty would be clear by chance."
    )
    report.table("wins", head, rows, note)


def per_set(table: Table, report: Report) -> None:
    """Every set, at its middle size: scores and trace errors."""
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


def sizes_of(table: Table) -> list[int]:
    """Return the sizes that at least two real sets have."""
    every = sorted({m for name in table.real for m in table.first(name)["m"]})
    return [m for m in every if sum(m in table.first(name)["m"] for name in table.real) > 1]


def by_size(table: Table, report: Report) -> None:
    """Means over sets at each size."""
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
    """The number of uniform landmarks that does as well."""
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
    """The same by kind of set, since seven sets of genes are hardly seven independent witnesses."""
    groups: dict[str, list[str]] = {}
    for name in table.real:
        groups.setdefault(sets.group(name), []).append(name)
    groups["all without genes"] = [name for name in table.real if sets.group(name) != "genes"]
    rows = []
    for kind, names in groups.items():
        for measure in ("trace", "score"):
            cells = [_text(table.pooled("tuned", method, measure, names=names)) for method in METHODS]
            rows.append([f"{kind}: {measure}", len(names), *cells])
    report.table("kinds", ["kind of set", "sets", *METHODS], rows, f"Rule: {WIDTH['tuned']}; at m ≈ √n.")


def correlation(table: Table, rule: str, method: str, measure: str, key: str) -> tuple[float, float]:
    """Return Spearman's correlation, over sets, of a kernel matrix's property with the gain over uniform, and its p."""
    x = [table.shape(name, rule, key) for name in table.real]
    gain = [table.against(name, rule, method, measure).difference for name in table.real]
    if len(x) < 4:
        return float("nan"), float("nan")
    found = stats.spearmanr(x, [-g for g in gain] if measure == "trace" else gain)
    return float(found.statistic), float(found.pvalue)


def where(table: Table, report: Report) -> None:
    """What the gain goes with."""
    rows = []
    for rule in ("tuned", "median"):
        for measure in ("trace", "score"):
            for key, words in (("tail", "slow decay"), ("uneven", "uneven rows")):
                cells = []
                for method in METHODS:
                    r, p = correlation(table, rule, method, measure, key)
                    cells.append(f"{r:+.2f} (p {p:.3f})")
                rows.append([f"gain in {measure}, {words}, {rule}", *cells])
    note = (
        "Spearman's correlation over the sets, at m ≈ √n. Slow decay: trace error of the best basis of √n. Uneven rows: "
        "sd over mean of the ridge leverage scores. Positive: chosen landmarks gain more where there is more of it."
    )
    report.table("where", ["correlation of", *METHODS], rows, note)


def made(table: Table, report: Report) -> None:
    """The made sets."""
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
    """Seconds of a fit."""
    rows = []
    for record in results.find("times"):
        told = record.result
        for at, m in enumerate(told["m"]):
            base = told["seconds"]["uniform"][at]
            cells = [f"{told['seconds'][method][at] / base:.1f}" for method in ("sklearn", *METHODS)]
            rows.append([f"{record.settings['name']}, n = {told['n_train']}, m = {m}", f"{1000 * base:.0f} ms", *cells])
    note = (
        "Fit and training features, median of three, the methods in turn on all cores; the others as multiples of "
        "uniform. The machine was shared, so read the ratios, not the milliseconds."
    )
    report.table("times", ["set", "uniform", "sklearn", *METHODS], rows, note)


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


def judge(table: Table, method: str, measure: str, other: str = "uniform") -> tuple[str, str]:
    """Judge 'method is better than other' at m ≈ √n by the intervals over data sets, one for each rule of the width."""
    rules = ("tuned", "median") if measure == "trace" or "kpca" in (method, other) else RULES
    found = {rule: table.pooled(rule, method, measure, other=other) for rule in rules}
    found = {rule: pooled for rule, pooled in found.items() if pooled is not None}
    what = "trace error ratio" if measure == "trace" else "points"
    figures = "; ".join(f"{rule} {pooled.text()}" for rule, pooled in found.items())
    counts = table.counts("tuned", method, measure, other)
    clear = f"clear for better on {counts['clearly better']}, for worse on {counts['clearly worse']} of {counts['sets']} sets"
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
        ("There is room above: the best basis (kpca) scores better than k-means", "kpca", "score", "k-means"),
    ):
        report.claim(text, "beyond", *judge(table, method, measure, other))
    claim_sane(table, report)
    claim_sizes(table, report)
    claim_uneven(table, report)
    claim_made(table, report)
    claim_time(results, report)


def claim_sane(table: Table, report: Report) -> None:
    """Same method, other code: intervals must hold no difference, and be narrow (5 % of trace error, 1 point)."""
    trace = [table.pooled(rule, "sklearn", "trace") for rule in ("tuned", "median")]
    score = [table.pooled(rule, "sklearn", "score") for rule in ("tuned", "median")]
    if None in trace + score:
        return
    same = all(p.sign == 0 for p in trace + score)
    near = all(0.95 < p.mean < 1.05 for p in trace) and all(abs(p.mean) < 1 for p in score)
    figure = f"trace error ratio {trace[0].text()}, {trace[1].text()}; points {score[0].text()}, {score[1].text()}"
    told = "holds" if same and near else "holds partly" if near else "does not hold"
    report.claim("scikit-learn's Nystroem and mercer's nystrom are the same method", "beyond", told, figure)


def claim_sizes(table: Table, report: Report) -> None:
    """The gain in score at m = 10 minus that at m = 100, over sets that have both: holds if the interval is above 0."""
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
    """Holds for a rule of the width if Spearman's correlation is positive with p < 5 %."""
    for method in ("rpcholesky", "kobl"):
        for measure, words in (("trace", "in trace error"), ("score", "in score")):
            found = {rule: correlation(table, rule, method, measure, "uneven") for rule in ("tuned", "median")}
            signs = [(1 if r > 0 else -1) if p < 0.05 else 0 for r, p in found.values() if p == p]
            figure = "; ".join(f"{rule} ρ = {r:+.2f}, p = {p:.3f}" for rule, (r, p) in found.items())
            text = f"The gain {words} of {method} is larger where rows matter unevenly"
            report.claim(text, "beyond", verdict(signs), figure)


def claim_made(table: Table, report: Report) -> None:
    """Balanced accuracy at m = 50 on made sets, paired over independent draws: clear for better is 1, for worse −1."""
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
    """Within a factor of two of uniform, by the median over sets and sizes: holds; of five: partly."""
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


def draw_forest(table: Table, report: Report) -> None:
    """Score differences of every set at its middle size."""
    names = sorted(table.real, key=lambda n: table.against(n, "tuned", "k-means", "score").difference)
    with report.figure("forest", 1, 4, size=(11, 0.21 * len(names) + 1.8), sharey=True) as axes:
        for axis, method in zip(axes, METHODS, strict=True):
            for at, name in enumerate(names):
                middle, low, high = table.interval(name, "tuned", method, "score")
                clear = table.against(name, "tuned", method, "score").clear
                axis.plot([low, high], [at, at], color=COLOUR[method], lw=1.1)
                axis.plot(middle, at, "o", ms=4.5, color=COLOUR[method], mfc=COLOUR[method] if clear else "white")
            pooled = table.pooled("tuned", method, "score")
            if pooled is not None:
                axis.plot(pooled.interval, [-2, -2], color="black", lw=2.5, solid_capstyle="butt")
                axis.plot(pooled.mean, -2, "D", ms=6, color="black")
            axis.axvline(0, color="black", lw=0.8)
            axis.set(title=method, xlim=(-32, 32), xlabel="points over uniform")
        axes[0].set_yticks([-2, *range(len(names))], ["mean over sets", *[f"{n} ({table.middle(n)})" for n in names]])


def draw_sizes(table: Table, report: Report) -> None:
    """Trace error ratio and score difference against m."""
    sizes = sizes_of(table)
    with report.figure("trace", 1, 2, size=(9, 3.3), sharey=True) as axes:
        for axis, rule in zip(axes, ("tuned", "median"), strict=True):
            for at, method in enumerate((*METHODS, "kpca")):
                lines = []
                for m in sizes:
                    names = [n for n in table.real if table.has(n, rule, method, m)]
                    logs = [table.against(n, rule, method, "trace", m).difference for n in names]
                    if len(logs) > 1:
                        lines.append((m * 1.04 ** (at - 2), *np.exp(np.percentile(logs, [25, 50, 75]))))
                if lines:
                    x, low, middle, high = np.array(lines).T
                    axis.errorbar(
                        x, middle, [middle - low, high - middle], color=COLOUR[method], label=method, capsize=2
                    )
            axis.axhline(1, color="black", lw=0.8)
            axis.set(xscale="log", yscale="log", title=WIDTH[rule], xlabel="landmarks m")
            axis.set_xticks(sizes, [str(m) for m in sizes])
            axis.minorticks_off()
            axis.set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
        axes[0].set_ylabel("trace error / uniform's\n(median and quartiles over sets)")
        axes[1].legend(fontsize=8)
    with report.figure("score", 1, 2, size=(9, 3.3), sharey=True) as axes:
        for axis, rule in zip(axes, ("tuned", "median"), strict=True):
            for at, method in enumerate((*METHODS, "kpca")):
                lines = []
                for m in sizes:
                    pooled = table.pooled(rule, method, "score", m)
                    if pooled is not None:
                        lines.append((m * 1.04 ** (at - 2), pooled.each.mean, pooled.each.se))
                if lines:
                    x, mean, se = np.array(lines).T
                    axis.errorbar(x, mean, se, color=COLOUR[method], label=method, capsize=2)
            axis.axhline(0, color="black", lw=0.8)
            axis.set(xscale="log", title=WIDTH[rule], xlabel="landmarks m")
            axis.set_xticks(sizes, [str(m) for m in sizes])
            axis.minorticks_off()
        axes[0].set_ylabel("points over uniform\n(mean over sets ± standard error)")
        axes[1].legend(fontsize=8)


def draw_where(table: Table, report: Report) -> None:
    """Gain against the kernel matrix's shape."""
    with report.figure("where", 2, 2, size=(8.5, 6), sharex="col", sharey="row") as axes:
        for row, measure in enumerate(("trace", "score")):
            for column, (key, words) in enumerate(
                (("tail", "slow decay: trace left by the best √n"), ("uneven", "uneven rows: spread of leverage"))
            ):
                axis = axes[row][column]
                for method in ("kobl", "rpcholesky", "k-means"):
                    for made_too, marker in ((False, "o"), (True, "*")):
                        names = [n for n in table.names if (n in sets.MADE) == made_too]
                        gain = [table.against(n, "median", method, measure).difference for n in names]
                        y = np.exp(gain) if measure == "trace" else gain
                        x = [table.shape(n, "median", key) for n in names]
                        label = method if not made_too else None
                        axis.plot(x, y, marker, ms=8 if made_too else 4, color=COLOUR[method], alpha=0.8, label=label)
                axis.axhline(1 if measure == "trace" else 0, color="black", lw=0.8)
                axis.set_xscale("log")
                if row:
                    axis.set_xlabel(words)
        axes[0][0].set_yscale("log")
        axes[0][0].set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
        axes[0][0].set_ylabel("trace error / uniform's")
        axes[1][0].set_ylabel("points over uniform")
        axes[0][1].legend(fontsize=8)
        axes[0][0].set_title("one dot a set, stars: made sets", loc="left", fontsize=9)


def draw_made(table: Table, report: Report) -> None:
    """Balanced accuracy on the made sets."""
    titles = {
        "made_even": "four equal clusters",
        "made_rare": "one cluster of 1 %",
        "made_outliers": "1 % scattered noise",
    }
    names = [n for n in table.names if n in sets.MADE]
    if not names:
        return
    with report.figure("made", 2, len(names), size=(3.3 * len(names), 5.2), sharey="col", squeeze=False) as axes:
        for row, rule in enumerate(("tuned", "median")):
            for axis, name in zip(axes[row], names, strict=True):
                for method in ("uniform", *METHODS):
                    sizes = [m for m in table.first(name)["m"] if table.has(name, rule, method, m)]
                    each = [summary(100 * table.values(name, rule, method, "balanced", m)) for m in sizes]
                    mean, se = [s.mean for s in each], [s.se for s in each]
                    axis.errorbar(sizes, mean, se, color=COLOUR[method], label=method, capsize=2)
                axis.set(xscale="log", title=f"{titles[name]}, {rule}")
                axis.set_xticks(sizes, [str(m) for m in sizes])
                axis.minorticks_off()
                if row:
                    axis.set_xlabel("landmarks m")
            axes[row][0].set_ylabel("balanced accuracy, %")
        axes[0][0].legend(fontsize=8)


def draw_times(results: Results, report: Report) -> None:
    """Fit times."""
    records = list(results.find("times"))
    if not records:
        return
    with report.figure("times", 1, len(records), size=(4.2 * len(records), 3.2), sharey=True, squeeze=False) as axes:
        for axis, record in zip(axes[0], records, strict=True):
            told = record.result
            for method, seconds in told["seconds"].items():
                axis.plot(told["m"], seconds, "o-", ms=3.5, color=COLOUR[method], label=method)
            title = f"{record.settings['name']}: n = {told['n_train']}, p = {told['p']}"
            axis.set(xscale="log", yscale="log", title=title, xlabel="landmarks m")
            axis.set_xticks(told["m"], [str(m) for m in told["m"]])
            axis.minorticks_off()
        axes[0][0].set_ylabel("fit and training features, s")
        axes[0][0].legend(fontsize=8)
