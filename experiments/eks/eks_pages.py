"""What is shown: tables and figures of the thesis' tests, of what it left open, and verdicts on its sentences."""

from __future__ import annotations

import numpy as np
from eks_claims import judge
from eks_view import CLASSES, NUMBER_WAYS, PROTOCOLS, View, title
from lab import Report, Results, paired, summary
from lab.report import best, colour

WORDS = {"honest": "training rows only", "basis": "basis on all rows", "all": "basis and selection on all rows"}
LONG = {"raw": "raw", "standard": "standardised"}
MODELS = {"linear": "linear SVM", "rbf": "rbf SVM", "rbf 1/q": "rbf SVM, γ = 1/q"}
INKS = {
    "F-score": "#c1272d",
    "MI": "#3f7d20",
    "Laplacian": "#8a8a8a",
    "Relief": "#7b3fa0",
    "ReliefF": "#e07b39",
    "RReliefF": "#1f6fb4",
    "LASSO": "#2a9d8f",
    "plain LASSO": "#b08900",
    "baseline": "#222222",
}


def report(results: Results, report: Report) -> None:
    """Make everything from the results."""
    view = View(results)
    class_table(view, report)
    number_table(view, report)
    readings_table(view, report)
    leak_table(view, report)
    control_table(view, report)
    poor_table(view, report)
    whole_table(view, report)
    bases_table(view, report)
    points_table(view, report)
    passes_table(view, report)
    theorem_table(view, report)
    sizes_table(view, report)
    cost_table(view, report)
    draw_classes(view, report)
    draw_numbers(view, report)
    draw_leak(view, report)
    draw_points(view, report)
    draw_passes(view, report)
    draw_sizes(view, report)
    judge(view, report)


def mse(value: float) -> str:
    """Write a mean squared error, however large."""
    return f"{value:.0f}" if value < 1e5 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def mse_text(values: list[float]) -> str:
    """Write a mean squared error and its standard error."""
    s = summary(values)
    return f"{mse(s.mean)} ± {mse(s.se)}" if s.n > 1 else mse(s.mean)


def columns_of(cells: list[list[tuple[float, str]]], low: bool) -> list[list[str]]:
    """Print the best of every column of cells in bold; the last row is the baseline and counts too."""
    out = []
    for column in zip(*cells, strict=True):
        told = [c for c in column if c[0] == c[0]]
        out.append(best([c[0] for c in column], [c[1] for c in column], low=low) if told else [c[1] for c in column])
    return [list(row) for row in zip(*out, strict=True)]


def class_table(view: View, report: Report) -> None:
    """Figures 4.1–4.3, honest and as probably run."""
    tests = view.tests(numbers=False)
    readings = [("standard", "honest", "linear"), ("raw", "all", "rbf")]
    rows = [*CLASSES, "all", "baseline"]
    cells = []
    for who in rows:
        line = []
        for name, size in tests:
            for columns, protocol, model in readings:
                values = view.scores(name, size, columns, protocol, who, model)
                line.append((np.mean(values), summary(values).text()) if values else (np.nan, "–"))
        cells.append(line)
    heads = [f"{title(n, s)}, {w}" for n, s in tests for w in ("honest", "all rows, raw")]
    names = {"all": "all coordinates, no selection", "baseline": "baseline: SVM on the columns"}
    body = columns_of(cells, low=False) if tests else []
    report.table(
        "classes",
        ["accuracy, %", *heads],
        [[names.get(who, who), *line] for who, line in zip(rows, body, strict=False)],
        "Mean ± standard error over folds and repeats. *Honest*: standardised columns, basis and selection on training "
        "rows, linear SVM on the coordinates. *All rows, raw*: raw columns, basis and selection on all rows, SVM with "
        "an rbf kernel. The baseline has the columns of its reading and γ = 1/p. Bold: best of a column.",
    )


def number_table(view: View, report: Report) -> None:
    """Figures 4.4–4.6."""
    tests = view.tests(numbers=True)
    readings = [("standard", "honest"), ("standard", "tuned"), ("raw", "honest"), ("raw", "all"), ("standard", "all")]
    readings = [r for r in readings if any(view.scores(*t, *r, "baseline", "ols") for t in tests)]
    rows = [*NUMBER_WAYS, "all", "baseline"]
    cells = []
    for who in rows:
        line = []
        for name, size in tests:
            for columns, protocol in readings:
                values = view.scores(name, size, columns, protocol, who, "ols")
                line.append((np.mean(values), mse_text(values)) if values else (np.nan, "–"))
        cells.append(line)
    short = {"honest": "honest", "all": "all rows", "tuned": "honest, width tuned"}
    heads = [f"{title(n, s)}, {short[p]}, {c}" for n, s in tests for c, p in readings]
    names = {"all": "all coordinates, no selection", "baseline": "baseline: linear regression on the columns"}
    names["LASSO"] = "LASSO (randomised, as in the thesis)"
    body = columns_of(cells, low=True) if tests else []
    report.table(
        "numbers",
        ["MSE", *heads],
        [[names.get(who, who), *line] for who, line in zip(rows, body, strict=False)],
        "Least squares on the kept coordinates, as in the thesis. Mean ± standard error. Bold: best of a column. Width "
        "tuned: γ·p by inner cross-validation of each algorithm, elsewhere γ = 1/p.",
    )
    chosen = {(r.settings["name"], r.settings["size"]): r.result["widths"] for r in view.results.find("tuned")}
    if chosen:
        body = [[who, *(f"{chosen[t][who]['ols']:g}" for t in tests if t in chosen)] for who in [*NUMBER_WAYS, "all"]]
        heads = [title(*t) for t in tests if t in chosen]
        report.table("widths", ["γ·p chosen, median over folds", *heads], body)


def readings_table(view: View, report: Report) -> None:
    """Count what the thesis reports of Figures 4.1–4.3, reading by reading."""
    tests, rows = view.tests(numbers=False), []
    for columns in ("raw", "standard"):
        for protocol in PROTOCOLS:
            for model in ("linear", "rbf", "rbf 1/q"):
                if not all(view.cell(*t, columns, protocol) for t in tests):
                    continue
                reading = (columns, protocol, model)
                above = view.against(tests, reading, [(w, "baseline") for w in CLASSES])
                gain = max(view.mean(*t, *reading[:2], "F-score", model) / _raw(view, t) - 1 for t in tests)
                tops = [max(CLASSES, key=lambda w: view.mean(*t, columns, protocol, w, model)) for t in tests]
                weak = view.against(tests, reading, [("F-score", "MI"), ("F-score", "Laplacian")])
                relief = view.against(tests, reading, [("RReliefF", "Relief"), ("RReliefF", "ReliefF")])
                line = [
                    f"{above.wins} of {above.sets}",
                    f"{100 * gain:+.0f} %",
                    f"{tops.count('F-score')} of {len(tests)}",
                ]
                line += [
                    f"{weak.clear_wins} of {weak.sets}",
                    f"{relief.wins} of {relief.sets} ({relief.clear_wins} clear)",
                ]
                rows.append([f"{columns}, {WORDS[protocol]}, {MODELS[model]}", *line])
    head = ["reading", "above the baseline", "F-score's largest gain over the raw baseline", "F-score best"]
    report.table(
        "readings",
        [*head, "F-score clearly above MI, Laplacian", "RReliefF above Relief, ReliefF"],
        rows,
        "The thesis: most above; up to 50–60 %; F-score in particular; MI and Laplacian not good; RReliefF better. The "
        "baseline is the SVM on the columns of the reading, except for the gain.",
    )


def _raw(view: View, test: tuple[str, int]) -> float:
    """Return the accuracy of the SVM on raw columns."""
    return view.mean(*test, "raw", "honest", "baseline", "")


def control_table(view: View, report: Report) -> None:
    """Show what F-score reaches on shuffled labels, and whose coordinates it keeps."""
    rows = []
    for name, size in view.tests(numbers=False):
        for columns in ("raw", "standard"):
            told = {p: view.results.one("control", name=name, size=size, columns=columns, protocol=p) for p in WORDS}
            told = {p: t for p, t in told.items() if t}
            if len(told) < 2:
                continue
            kept = told["all"]["kept of each class"]
            line = [summary(told[p]["rbf"]).text() for p in ("honest", "all")]
            line.append(summary(view.scores(name, size, columns, "all", "F-score", "rbf") or [np.nan]).text())
            line.append(", ".join(f"{a} of {b}" for a, b in kept))
            # Where every row is alone in its coordinate: right on all but the kept rows of the other class.
            n = sum(b for _, b in kept)
            full = max((b for a, b in kept if a == b), default=0)
            foretold = f"{100 * (1 - (sum(a for a, _ in kept) - full) / n):.1f}" if len(kept) == 2 and full else "–"
            rows.append([f"{title(name, size)}, {columns}", *line, foretold])
    head = ["F-score, rbf SVM, accuracy in %", "shuffled labels, training rows only", "shuffled labels, all rows"]
    report.table(
        "control",
        [*head, "true labels, all rows", "kept rows of each class", "foretold by the counts"],
        rows,
        "Foretold: one class kept whole and x rows of the other gives 1 − x/n, whatever the columns say.",
    )


def leak_table(view: View, report: Report) -> None:
    """Show what F-score gains when basis and selection see the test rows."""
    rows = []
    for name, size in view.tests(numbers=False):
        for columns in ("raw", "standard"):
            for model in ("linear", "rbf"):
                got = {p: view.scores(name, size, columns, p, "F-score", model) for p in PROTOCOLS}
                if not all(got.values()):
                    continue
                d = paired(got["all"], got["honest"], view.ratio)
                told = [summary(got[p]).text() for p in PROTOCOLS]
                gain = f"{100 * d.difference:+.1f} ± {100 * d.se:.1f}"
                rows.append([f"{title(name, size)}, {columns}, {model} SVM", *told, gain, _p(d.p), _p(d.p_corrected)])
    report.table(
        "leak",
        ["F-score's accuracy, %", *WORDS.values(), "gain by leak", "p", "p corrected"],
        rows,
        "p: Student's paired test; corrected: Nadeau and Bengio's.",
    )


def _p(value: float) -> str:
    return "–" if value != value else "< 0.001" if value < 0.001 else f"{value:.3f}"


def poor_table(view: View, report: Report) -> None:
    """Count folds with a very poor model, and how many remain without coordinates of held-out rows."""
    rows = []
    ways = [*NUMBER_WAYS, "all"]
    for columns in ("raw", "standard"):
        for protocol in PROTOCOLS:
            for model, words in (
                ("ols", "least squares"),
                ("ols, training rows", "least squares, coordinates of training rows only"),
                ("ridge", "ridge"),
            ):
                if protocol == "honest" and model == "ols, training rows":
                    continue
                line = []
                for who in ways:
                    shares = [view.poor(n, s, columns, protocol, who, model) for n, s in view.tests(numbers=True)]
                    told = [s for s in shares if s is not None]
                    line.append(f"{100 * np.mean(told):.0f}" if told else "–")
                if any(cell != "–" for cell in line):
                    rows.append([f"{columns}, {WORDS[protocol]}, {words}", *line])
    report.table(
        "poor",
        ["very poor models, % of folds", *ways],
        rows,
        "Very poor: an MSE over ten times that of linear regression on the columns, on the same fold.",
    )


def whole_table(view: View, report: Report) -> None:
    """Show the whole sets, honest and standardised."""
    rows = []
    for name in view.whole():
        numbers = view.numbers(name)
        if numbers:
            continue
        ways = [*CLASSES, "all", "baseline"]
        got = {w: view.scores(name, None, "standard", "honest", w, "linear") for w in ways}
        if not all(got.values()):
            continue
        rows.append(
            [name, *best([np.mean(v) for v in got.values()], [summary(v).text() for v in got.values()], low=False)]
        )
    report.table("whole-classes", ["accuracy, %", *CLASSES, "all coordinates", "SVM on the columns"], rows)
    rows = []
    for name in view.whole():
        if not view.numbers(name):
            continue
        ways = [*NUMBER_WAYS, "all", "baseline"]
        for model, words in (("ols", "least squares"), ("ridge", "ridge")):
            got = {w: view.scores(name, None, "standard", "honest", w, model) for w in ways}
            if all(got.values()):
                cells = best([np.mean(v) for v in got.values()], [mse_text(v) for v in got.values()])
                rows.append([f"{name}, {words}", *cells])
    report.table("whole-numbers", ["MSE", *NUMBER_WAYS, "all coordinates", "linear regression on the columns"], rows)


def bases_table(view: View, report: Report) -> None:
    """Other bases, at equal numbers of vectors and of kept coordinates."""
    rows = []
    for basis in view.settings["bases"]:
        line = []
        for name in view.whole():
            for who in ("F-score", "RReliefF", "all"):
                values = view.capped(name, basis, who)
                if not values:
                    line.append((np.nan, "–"))
                elif view.numbers(name):
                    line.append((-np.mean(values), mse_text(values)))
                else:
                    line.append((np.mean(values), summary(values).text()))
        rows.append(line)
    heads = [f"{name}, {who}" for name in view.whole() for who in ("F", "RReliefF", "all")]
    body = columns_of(rows, low=False) if rows and rows[0] else []
    told = [[basis, *line] for basis, line in zip(view.settings["bases"], body, strict=False)]
    m, q = view.settings["bases_components"], view.settings["bases_kept"]
    report.table(
        "bases",
        ["basis", *heads],
        told,
        f"{m} vectors; {q} kept by F-score or RReliefF, or all {m}. Accuracy in % (linear SVM), MSE (ridge). "
        "Bold: best of a column.",
    )


def points_table(view: View, report: Report) -> None:
    """Choosing rows against taking them in order, at equal numbers."""
    rows = []
    others = [b for b in view.settings["bases"] if b != "gram-schmidt"]
    for name in view.whole():
        for m in view.settings["points_components"]:
            first = view.at(name, m, "gram-schmidt")
            if not first:
                continue
            line = []
            for b in others:
                d = view.chosen(name, m, b)
                scale, digits = (1, 0) if view.numbers(name) else (100, 1)
                text = f"{scale * d.difference:+.{digits}f} ± {scale * d.se:.{digits}f}"
                line.append(f"**{text}**" if d.clear else text)
            start = mse_text(first) if view.numbers(name) else summary(first).text()
            rows.append([f"{name}, m = {m}", start, *line])
    report.table(
        "points",
        ["set and vectors", "rows in order", *others],
        rows,
        "First column: accuracy in % (linear SVM) or MSE (ridge) of the first m training rows; then differences from "
        "it, ± standard error. Above 0 is better for accuracy, below 0 for MSE. Bold: clear by the corrected test.",
    )


def passes_table(view: View, report: Report) -> None:
    """Loss of orthogonality, and what it does to models."""
    rows = []
    for record in view.results.find("passes"):
        name, size, protocol = (record.settings[k] for k in ("name", "size", "protocol"))
        label = "LASSO, ols" if view.numbers(name) else "F-score, linear"
        for width, cell in record.result.items():
            losses = [f"{np.median(cell[w]['loss']):.0e}" for w in ("eq. 3.3", "one pass", "two passes", "mercer")]
            told = []
            for who in ("eq. 3.3", "one pass", "two passes", "mercer"):
                values = cell[who][label]
                told.append(mse(np.mean(values)) if view.numbers(name) else f"{100 * np.mean(values):.1f}")
            kept = f"{np.mean(cell['mercer']['vectors']):.0f}/{np.mean(cell['one pass']['vectors']):.0f}"
            rows.append([f"{title(name, size)}, {protocol}, {float(width):g}/p", *losses, kept, *told])
    head = ["set, rows seen, γ", "loss: eq. 3.3", "one pass", "two passes", "mercer", "vectors: mercer/all"]
    report.table(
        "passes",
        [*head, "score: eq. 3.3", "one pass", "two passes", "mercer"],
        rows,
        "Loss: ‖AKAᵀ − I‖ over √m, median over folds. Score: accuracy in % of F-score and a linear SVM, or MSE of "
        "randomised LASSO and least squares. *honest*: training rows alone; *all*: all rows. Columns are standardised; "
        "raw diabetes with γ = 1/p is about 0.002/p here.",
    )


def theorem_table(view: View, report: Report) -> None:
    """Theorem 1 and Step 3."""
    rows = []
    for record in view.results.find("theorem"):
        told, s = record.result, record.settings
        line = [f"{np.mean(told['vectors']):.0f}/{np.mean(told['rows']):.0f}"]
        line += [f"{np.max(told[k]):.0e}" for k in ("training error", "cross error")]
        line += [f"{100 * np.mean(told['lost on new rows']):.1f}"]
        line += [f"{np.max(told['SVM difference']):.0e}" if "SVM difference" in told else "–"]
        line += [f"{100 * np.mean(told['same kept']):.0f}" if "same kept" in told else "–"]
        rows.append([f"{title(s['name'], s['size'])}, {s['columns']}", *line])
    head = ["set, columns", "vectors/rows", "error, training rows", "error, new × training", "lost on new rows, %"]
    report.table(
        "theorem",
        [*head, "linear SVM − kernel SVM", "Relief keeps the same, %"],
        rows,
        "Errors: largest |⟨s, s'⟩ − K|. Lost: mean of 1 − ‖s‖² over new rows, whose images lie outside the space. "
        "Last: coordinates that Relief keeps alike with neighbours by the kernel and by the coordinates (Step 3).",
    )


def sizes_table(view: View, report: Report) -> None:
    """Rows and shares."""
    rows = []
    for record in view.results.find("sizes"):
        name = record.settings["name"]
        for n, cell in record.result["size"].items():
            show = mse_text if view.numbers(name) else (lambda v: summary(v).text())
            told = [show(cell[who]) if who in cell else "–" for who in ("F-score", "RReliefF", "LASSO", "baseline")]
            rows.append([f"{name}, {n} rows", *told, f"{100 * record.result['useful'][n]:.0f}"])
    report.table(
        "sizes",
        ["set", "F-score", "RReliefF", "LASSO", "baseline", "useful coordinates, %"],
        rows,
        "Accuracy in % or MSE, honest, standardised columns, rows drawn at random. Useful: F-test's p < 0.05 on "
        "training rows.",
    )


def cost_table(view: View, report: Report) -> None:
    """Time of the basis."""
    rows = []
    for record in view.results.find("cost"):
        for n in record.settings["sizes"]:
            told = {way: times[str(n)] for way, times in record.result.items()}
            ratio = told["gram-schmidt"] / told["kobl"]
            rows.append([n, *(f"{t:.3f}" for t in told.values()), f"{ratio:.0f}"])
    capped = view.settings["cost_capped"]
    head = ["rows", "gram-schmidt, all rows, s", f"kobl, {capped}, s", f"rpcholesky, {capped}, s", "first / second"]
    report.table("cost", head, rows, "Processor seconds, median of interleaved runs: trust the ratio, not the seconds.")


def draw_classes(view: View, report: Report) -> None:
    """Draw Figures 4.1–4.3 anew."""
    tests = view.tests(numbers=False)
    if not tests:
        return
    with report.figure("classes", 1, len(tests), size=(3.6 * len(tests), 3.4), squeeze=False, sharey=True) as axes:
        for axis, (name, size) in zip(axes[0], tests, strict=True):
            for shift, (columns, protocol, model), ink, label in (
                (-0.2, ("standard", "honest", "linear"), "#1f6fb4", "honest, standardised"),
                (0.2, ("raw", "all", "rbf"), "#c1272d", "all rows, raw columns"),
            ):
                got = [summary(view.scores(name, size, columns, protocol, who, model) or [np.nan]) for who in CLASSES]
                axis.bar(
                    np.arange(len(CLASSES)) + shift,
                    [100 * s.mean for s in got],
                    0.38,
                    yerr=[100 * np.nan_to_num(s.se) for s in got],
                    color=ink,
                    label=f"EKS, {label}",
                )
                base = view.scores(name, size, columns, protocol, "baseline", model)
                if base:
                    words = "standardised" if columns == "standard" else "raw"
                    axis.axhline(100 * np.mean(base), color=ink, ls="--", label=f"baseline SVM, {words} columns")
            axis.set_xticks(range(len(CLASSES)), CLASSES, rotation=40, ha="right")
            axis.set_title(title(name, size))
            axis.set_ylim(30, 100)
        axes[0][0].set_ylabel("accuracy, %")
        handles, labels = axes[0][0].get_legend_handles_labels()
        axes[0][0].get_figure().legend(handles, labels, loc="outside lower center", ncols=4)


def draw_numbers(view: View, report: Report) -> None:
    """Draw Figures 4.4–4.6 anew."""
    tests = view.tests(numbers=True)
    if not tests:
        return
    readings = (
        (-0.27, ("standard", "honest"), "#1f6fb4", "honest, standardised"),
        (0.0, ("raw", "honest"), "#7fb2dd", "honest, raw columns"),
        (0.27, ("raw", "all"), "#c1272d", "all rows, raw columns"),
    )
    with report.figure("numbers", 1, len(tests), size=(3.6 * len(tests), 3.4), squeeze=False) as axes:
        for axis, (name, size) in zip(axes[0], tests, strict=True):
            for shift, (columns, protocol), ink, label in readings:
                got = [view.scores(name, size, columns, protocol, who, "ols") or [np.nan] for who in NUMBER_WAYS]
                stats = [summary(v) for v in got]
                low = [s.mean - max(s.mean - np.nan_to_num(s.se), 0.5 * s.mean) for s in stats]
                bars = [low, [np.nan_to_num(s.se) for s in stats]]
                places = np.arange(len(got)) + shift
                axis.bar(places, [s.mean for s in stats], 0.25, yerr=bars, color=ink, label=f"EKS, {label}")
            base = view.scores(name, size, "raw", "honest", "baseline", "ols")
            if base:
                axis.axhline(np.mean(base), color="#222222", ls="--", label="baseline: linear regression")
                axis.set_ylim(bottom=0.5 * np.mean(base))
            axis.set_yscale("log")
            axis.set_xticks(range(len(NUMBER_WAYS)), NUMBER_WAYS, rotation=40, ha="right")
            axis.set_title(title(name, size))
        axes[0][0].set_ylabel("mean squared error")
        handles, labels = axes[0][0].get_legend_handles_labels()
        axes[0][0].get_figure().legend(handles, labels, loc="outside lower center", ncols=4)


def draw_leak(view: View, report: Report) -> None:
    """Show what happens from honest to leaking, on raw columns for classes and standardised ones for numbers."""
    classes, numbers = view.tests(numbers=False), view.tests(numbers=True)
    width = max(len(classes), len(numbers))
    if not width:
        return
    short = {"honest": "training\nrows only", "basis": "basis on\nall rows", "all": "selection\ntoo"}
    with report.figure("leak", 2, width, size=(3.4 * width, 5.2), squeeze=False) as axes:
        for row, tests, ways, columns, model in (
            (0, classes, CLASSES, "raw", "rbf"),
            (1, numbers, ["LASSO", "plain LASSO", "F-score", "MI", "RReliefF"], "standard", "ols"),
        ):
            for axis, test in zip(axes[row], tests, strict=False):
                for who in [*ways, "baseline"]:
                    got = [(p, view.scores(*test, columns, p, who, model)) for p in PROTOCOLS]
                    got = [(p, summary(v)) for p, v in got if v]
                    scale = 1 if row else 100
                    axis.errorbar(
                        [PROTOCOLS.index(p) for p, _ in got],
                        [scale * s.mean for _, s in got],
                        None if row else [scale * np.nan_to_num(s.se) for _, s in got],
                        color=INKS.get(who),
                        ls="--" if who == "baseline" else "-",
                        marker="o",
                        ms=3,
                        label=who,
                    )
                axis.set_xticks(range(len(PROTOCOLS)), short.values())
                axis.set_title(f"{title(*test)}, {LONG[columns]}")
                if row and view.scores(*test, columns, "honest", "baseline", model):
                    axis.set_yscale("log")
            axes[row][0].set_ylabel("mean squared error" if row else "accuracy, %")
            axes[row][0 if row else -1].legend(fontsize=7, loc="upper left", ncols=1 if row else 2)
            for axis in axes[row][len(tests) :]:
                axis.set_axis_off()


def draw_points(view: View, report: Report) -> None:
    """Show scores against the number of vectors, by the way they are chosen."""
    names = [n for n in view.whole() if view.results.one("points", name=n)]
    if not names:
        return
    with report.figure("points", 1, len(names), size=(2.9 * len(names), 3.2), squeeze=False) as axes:
        for axis, name in zip(axes[0], names, strict=True):
            grid = view.settings["points_components"]
            scale = 1 if view.numbers(name) else 100
            for b in view.settings["bases"]:
                got = [summary(view.at(name, m, b)) for m in grid]
                label = {"gram-schmidt": "rows in order", "nystrom": "uniform"}.get(b, b)
                means = [scale * s.mean for s in got]
                bars = [scale * np.nan_to_num(s.se) for s in got]
                ink = colour(b)
                axis.errorbar(grid, means, bars, color=ink, marker="o", ms=3, lw=1.1, elinewidth=0.6, label=label)
            axis.set_xscale("log")
            axis.set_xticks(grid, grid)
            axis.minorticks_off()
            axis.set_xlabel("vectors m")
            axis.set_title(f"{name}: {'MSE, ridge' if view.numbers(name) else 'accuracy, %'}")
        handles, labels = axes[0][0].get_legend_handles_labels()
        axes[0][0].get_figure().legend(handles, labels, loc="outside lower center", ncols=7)


def draw_passes(view: View, report: Report) -> None:
    """Show lost orthogonality and the scores against the width."""
    records = list(view.results.find("passes", protocol="honest"))
    if not records:
        return
    styles = {"eq. 3.3": "#8a8a8a", "one pass": "#c1272d", "two passes": "#e07b39", "mercer": "#1f6fb4"}
    marks = {"eq. 3.3": "x", "one pass": "o", "two passes": "s", "mercer": "."}
    with report.figure("passes", 2, len(records), size=(3.6 * len(records), 5.0), squeeze=False) as axes:
        for column, record in enumerate(records):
            name = record.settings["name"]
            label = "LASSO, ols" if view.numbers(name) else "F-score, linear"
            widths = [float(w) for w in record.result]
            for who, ink in styles.items():
                loss = [np.median(c[who]["loss"]) for c in record.result.values()]
                axes[0][column].plot(widths, loss, color=ink, marker=marks[who], ms=4, label=who, mfc="none")
                got = [summary(c[who][label]) for c in record.result.values()]
                scale = 1 if view.numbers(name) else 100
                means = [scale * s.mean for s in got]
                axes[1][column].plot(widths, means, color=ink, marker=marks[who], ms=4, label=who, mfc="none")
            axes[0][column].set_yscale("log")
            axes[0][column].set_title(title(name, record.settings["size"]))
            words = "MSE of LASSO, least squares" if view.numbers(name) else "accuracy of F-score, %"
            axes[1][column].set_ylabel(words)
            for axis in axes[:, column]:
                axis.set_xscale("log")
            axes[1][column].set_xlabel("γ·p (left: smooth kernels)")
        axes[0][0].set_ylabel("loss of orthogonality")
        axes[0][0].legend(fontsize=7)


def draw_sizes(view: View, report: Report) -> None:
    """Show scores against rows and against the share of features kept."""
    records = list(view.results.find("sizes"))
    if not records:
        return
    with report.figure("sizes", 2, len(records), size=(2.9 * len(records), 5.2), squeeze=False) as axes:
        for column, record in enumerate(records):
            name = record.settings["name"]
            numbers = view.numbers(name)
            scale = 1 if numbers else 100
            grid = [int(n) for n in record.result["size"]]
            for who in ("F-score", "RReliefF", "LASSO", "baseline"):
                got = [summary(c[who]) for c in record.result["size"].values() if who in c]
                if got:
                    bars = [scale * np.nan_to_num(s.se) for s in got]
                    look = {"color": INKS[who], "ls": "--" if who == "baseline" else "-", "marker": "o", "ms": 3}
                    axes[0][column].errorbar(grid, [scale * s.mean for s in got], bars, label=who, **look)
            axes[0][column].set_xlabel("rows")
            axes[0][column].set_title(f"{name}: {'MSE' if numbers else 'accuracy, %'}")
            for where, ink, label in (("EKS", INKS["F-score"], "coordinates"), ("columns", "#222222", "columns")):
                told = record.result["share"][where]
                got = [summary(v) for v in told.values()]
                shares = [float(s) for s in told]
                bars = [scale * np.nan_to_num(s.se) for s in got]
                look = {"color": ink, "ls": "-" if where == "EKS" else "--", "marker": "o", "ms": 3}
                axes[1][column].errorbar(shares, [scale * s.mean for s in got], bars, label=label, **look)
            axes[1][column].set_xlabel("share kept by F-score")
            if numbers:
                axes[1][column].set_yscale("log")
        axes[0][0].legend(fontsize=7)
        axes[0][-1].legend(fontsize=7)
        axes[1][0].legend(fontsize=7)
