"""Tables and figures of KLFE's experiment; the verdicts are in `klfe_claims.py`."""

from __future__ import annotations

import klfe_claims
import numpy as np
from klfe_view import FOUR, KNOWN, LABELS, View
from lab import summary
from lab.report import best, colour

METHODS = ("KLFE", "LFE", "GDA", "KPCA", "FSKPCA", "PCA", "KKNN")
WIDTHS = {"one": "σ = 1", "cv": "σ by cross-validation", "loo": "σ by leave-one-out"}
# Twin sine, η the share of class 1 at a place: the Bayes error Φ(−D/2σ), below which no rule comes, and E[2η(1−η)],
# which the nearest neighbour approaches with ever more rows, if its features keep what tells the classes.
FLOOR = {"twin-sine-0": (0.3085, 0.3980), "twin-sine-5": (0.3893, 0.4633)}


def write(results, report):
    """Make everything from the results."""
    view = View(results)
    for width in view.widths:
        errors_table(view, report, width)
        pairs_table(view, report, width)
    dimension_table(view, report)
    small_basis_table(view, report)
    normalisation_table(view, report)
    choices_table(view, report)
    invariance_table(view, report)
    times_table(view, report)
    figures(view, report)
    others = {case: [view.versus(case, "cv", m) for m in METHODS[1:]] for case in view.cases("cv")}
    report.resolution({LABELS[c]: [d for d in ds if d is not None and d.n > 1] for c, ds in others.items()})
    klfe_claims.write(view, report)


def errors_table(view, report, width):
    """Errors with the number of features chosen inside the training part, and with the best on the test rows."""
    rows = []
    for case in view.cases(width):
        for title, of in (("by inner CV", view.chosen), ("best on test", view.lowest)):
            found = [of(case, width, m) for m in METHODS]
            told = [summary(x) if x is not None else None for x in found]
            texts = [s.text() if s else "–" for s in told]
            rows.append([LABELS[case], title, *best([s.mean if s else np.nan for s in told], texts)])
    note = (
        f"Error in percent of the nearest neighbour, {WIDTHS[width]}, ± standard error over runs. L by inner "
        "cross-validation of each method, and with it the width where that is not 1. *By inner CV*: the number of "
        "features too (the honest number). *Best on test*: the number with the lowest mean test error, as a reader of "
        "the paper's figures would pick it; for GDA and KKNN, which have none to choose, both are the same."
    )
    report.table(f"errors-{width}", ["set", "features", *METHODS], rows, note)


def pairs_table(view, report, width):
    """KLFE less each other method, both with the number of features by inner cross-validation."""
    rows = []
    for case in view.cases(width):
        cells = []
        for other in METHODS[1:]:
            d = view.versus(case, width, other)
            cells.append("–" if d is None else _difference(d))
        rows.append([LABELS[case], *cells])
    note = (
        f"Points of error, KLFE less the other, {WIDTHS[width]}, numbers of features by inner CV; below zero KLFE is "
        "better. In brackets p of Student's paired test / corrected for shared rows (for the simulated sets every run "
        "draws anew, so both are the same). Bold: clear by the corrected test. One run gives no p."
    )
    report.table(f"pairs-{width}", ["set", *METHODS[1:]], rows, note)


def _difference(d):
    text = f"{100 * d.difference:+.1f}"
    if d.n < 2:
        return text
    text += f" ({_p(d.p)} / {_p(d.p_corrected)})"
    return f"**{text}**" if d.clear else text


def _p(p):
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def dimension_table(view, report):
    """Errors at a few numbers of features, as read off the paper's figures if they were there."""
    shown, rows = [1, 2, 3, 10, 30, 100], []
    for case in view.cases("one"):
        if case[0] == "usps-exchanged":
            continue
        for method in (*METHODS[:6], "KPCA uncentred"):
            curve = view.curve(case, "one", method)
            if curve is None:
                continue
            last = view.available(case, "one", method)
            cells = [summary(curve[:, view.grid.index(q)]).text() if q <= last else "–" for q in shown]
            rows.append([f"{LABELS[case]}: {method}", *cells])
    note = "Error in percent at σ = 1, L by inner cross-validation for every I'. –: there are not so many features."
    report.table("dimensions", ["set: method", *(f"I' = {q}" for q in shown)], rows, note)


def small_basis_table(view, report):
    """KLFE on all coordinates and on a few of them, same L and number of features."""
    rows = []
    for width in view.widths:
        for case in view.cases(width):
            full, small = (view.chosen(case, width, m) for m in ("KLFE", "KLFE kobl"))
            d = view.versus(case, width, "KLFE kobl")
            if full is None or len(full) < 2:
                continue
            cells = [summary(full).text(), summary(small).text(), _difference(d)]
            rows.append([f"{LABELS[case]}, {WIDTHS[width]}", *cells])
    note = (
        f"KLFE on the full KPCA basis and on at most {view.settings['kobl']} KOBL coordinates, with the same L and I'."
    )
    report.table("small-basis", ["set", "full basis", "KOBL", "full − KOBL (p / corrected)"], rows, note)


def normalisation_table(view, report):
    """Show that what sigma = 1 means depends on how the rows are normalised."""
    names = ("KLFE", "LFE", "GDA", "KPCA", "KPCA uncentred", "FSKPCA", "FSKPCA weighted", "PCA", "KKNN")
    rows = []
    for (name, normalise), found in view.normalisations().items():
        cells = [
            f"{np.median([r['median'] for r in found]):.1e}",
            f"{100 * np.mean([r['outside'] for r in found]):.0f}",
        ]
        told = [summary([r["errors"][m] for r in found]) for m in names]
        rows.append([f"{KNOWN[name]}, {normalise}", *cells, *best([s.mean for s in told], [s.text() for s in told])])
    s = view.settings
    note = (
        f"σ = 1, L = {s['normalisation_neighbours']}, I' = {s['normalisation_features']} (or all there are), "
        f"{s['normalisation_runs']} runs. *Kernel value*: the median over pairs of training rows. *Outside*: percent "
        "of a test row's squared length that lies outside the training rows' span. zscore: columns of mean 0 and "
        "variance 1; range: columns in [0, 1]; unit: rows of length 1."
    )
    report.table("normalisations", ["set", "kernel value", "outside", *names], rows, note)


def choices_table(view, report):
    """Twin sine under other choices of what the paper does not say."""
    rows = []
    for (name, text), found in view.choices().items():
        klfe, others, gain = view.favoured(found)
        cells = [f"{100 * klfe:.1f}", *(f"{100 * others[m]:.1f}" for m in FOUR), f"{100 * gain:+.1f} %"]
        rows.append([f"{KNOWN[name]}, {text}", *cells])
    note = (
        "Mean test error in percent at σ = 1, as favourable to KLFE as can be: the best L and the best I' ≥ 10 on the "
        "test rows for KLFE; for KPCA and FSKPCA (L = 10) the best I' ≥ 10. *Reduction*: by how much KLFE is below the "
        "best of the four, relative to it."
    )
    report.table("choices", ["set", "KLFE", *FOUR, "reduction"], rows, note)


def invariance_table(view, report):
    """Propositions 1 and 2 in numbers."""
    rows = []
    for r in view.results.find("invariance"):
        x = r.result
        rows.append(
            [
                f"{KNOWN[r.settings['name']]}, {WIDTHS[r.settings['width']]}",
                f"{x['gap']['gram-schmidt']:.0e}",
                f"{x['gap']['kobl']:.0e}",
                f"{100 * min(x['same'].values()):.1f} %",
                f"{x['rank']} → {x['larger']}",
                f"{x['gap_larger']:.0e}",
                x["features"]["kpca"],
                f"{100 * x['outside']:.1f} %",
            ]
        )
    head = [
        "set",
        "KPCA − Gram–Schmidt",
        "KPCA − KOBL",
        "same labels",
        "basis with test rows",
        "change by it",
        "features σ > 0",
        "test rows outside",
    ]
    note = (
        "Largest difference between inner products of KLFE's features (training and test rows), relative to the "
        "largest. Same labels: test rows whose nearest neighbour has the same label whatever the basis. Basis with "
        "test rows: its size without and with them; the change is of the training rows' features."
    )
    report.table("invariance", head, rows, note)


def times_table(view, report):
    """Seconds to fit."""
    found = view.times()
    names = list(next(iter(found.values()))) if found else []
    rows = [[n, *(f"{1000 * t[m]:.0f}" for m in names), f"{t['KLFE kpca'] / t['LFE']:.0f}"] for n, t in found.items()]
    if len(found) > 1:
        slopes = [f"{klfe_claims.slope(found, m):.1f}" for m in names]
        rows.append(["exponent, last step", *slopes, ""])
    note = (
        f"Processor milliseconds to fit on ringnorm (20 columns), one thread, median of {view.settings['repeats']}, "
        "interleaved; other work ran on the machine, so only ratios within a row mean something. All have all "
        "components but KLFE kobl. LFE works in the space of the columns; LFE kpca is the same method through the "
        "N × N matrix."
    )
    report.table("times", ["N", *names, "KLFE kpca / LFE"], rows, note)


def figures(view, report):
    """Draw the paper's Figures 5 to 8, at its width and at a chosen one."""
    sine = [("twin-sine-0", "zscore"), ("twin-sine-5", "zscore")]
    uci = [("pima", "zscore"), ("ringnorm", "zscore")]
    grid_of(view, report, "twin_sine", [[(c, w) for c in sine] for w in ("one", "cv")], METHODS)
    swiss = ("swiss-roll", "zscore")
    grid_of(view, report, "swiss_roll", [[(swiss, w) for w in ("one", "cv")]], ("KLFE", "LFE", "PCA"), log=True)
    grid_of(view, report, "uci", [[(c, w) for c in uci] for w in ("one", "cv")], METHODS)
    usps = [(("usps", "zscore"), "one"), (("usps", "unit"), "one"), (("usps", "zscore"), "cv")]
    grid_of(view, report, "usps", [usps], ("KLFE", "LFE", "PCA", "KKNN"), log=True)
    times_figure(view, report)


def grid_of(view, report, name, panels, methods, log=False):
    """Draw one panel a case and width; a panel without results is left out with a word."""
    with report.figure(name, len(panels), len(panels[0]), squeeze=False) as axes:
        for row, line in zip(axes, panels, strict=True):
            for ax, (case, width) in zip(row, line, strict=True):
                panel(view, ax, case, width, methods)
                if log:
                    ax.set_yscale("log")
                    low, high = ax.get_ylim()
                    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= t <= high]
                    ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
                    ax.minorticks_off()
                ax.set_title(f"{LABELS[case]}\n{WIDTHS[width]}", fontsize=9)
            row[0].set_ylabel("error of 1-NN, %")
        for ax in axes[-1]:
            ax.set_xlabel("features I'")
        handles, names = max((ax.get_legend_handles_labels() for ax in axes.flat), key=lambda h: len(h[1]))
        axes[0, 0].figure.legend(handles, names, loc="outside lower center", ncols=4)


def panel(view, ax, case, width, methods):
    """Draw error against the number of features, with bands of one standard error."""
    ax.set_xscale("log")
    if not view.has(case, width):
        ax.text(0.5, 0.5, "not computed", transform=ax.transAxes, ha="center")
        return
    for method in methods:
        curve = view.curve(case, width, method)
        flat = method in ("GDA", "KKNN")
        last = view.grid[-1] if flat else view.available(case, width, method)
        keep = [i for i, q in enumerate(view.grid) if q <= last]
        x = [view.grid[i] for i in keep]
        told = [summary(100 * curve[:, i]) for i in keep]
        mean, se = np.array([t.mean for t in told]), np.nan_to_num([t.se for t in told])
        style = {"GDA": "--", "KKNN": ":"}.get(method, "-")
        ax.plot(x, mean, style, color=colour(method), label=method, zorder=3 if method == "KLFE" else 2)
        ax.fill_between(x, mean - se, mean + se, color=colour(method), alpha=0.15, linewidth=0)
    ax.set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
    ax.minorticks_off()
    if case[0] in FLOOR:
        bayes, limit = FLOOR[case[0]]
        ax.axhline(100 * bayes, color="#bbbbbb", linewidth=1, label="Bayes error")
        ax.axhline(100 * limit, color="#e377c2", linewidth=1, linestyle="-.", label="1-NN, N → ∞")


def times_figure(view, report):
    """Draw the time to fit against N."""
    found = view.times()
    with report.figure("times", size=(6.2, 3.2)) as ax:
        shades = {"LFE": "LFE", "LFE kpca": "PCA", "KLFE kpca": "kpca", "KLFE gram-schmidt": "gram-schmidt"}
        for name in next(iter(found.values()), {}):
            ax.loglog(
                list(found), [t[name] for t in found.values()], "o-", color=colour(shades.get(name, "kobl")), label=name
            )
        ax.set_xlabel("training rows N (ringnorm, 20 columns)")
        ax.set_ylabel("seconds to fit")
        ax.set_xticks(list(found), [str(n) for n in found])
        ax.minorticks_off()
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
