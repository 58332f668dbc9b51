"""Figures."""

from __future__ import annotations

import landmarks_data as sets
import numpy as np
from lab import Report, Results, summary
from lab.report import colour
from landmarks_table import METHODS, WIDTH, Table, sizes_of

COLOUR = {method: colour(method) for method in ("uniform", *METHODS, "kpca")} | {
    "k-means": "#e07b39",
    "sklearn": "#8a8a8a",
}


def draw_forest(table: Table, report: Report) -> None:
    """Draw score differences of every set at its middle size."""
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
            axis.set(title=method, xlim=(-32, 28), ylim=(-3, len(names)), xlabel="points over uniform")
        axes[0].set_yticks([-2, *range(len(names))], ["mean over sets", *[f"{n} ({table.middle(n)})" for n in names]])


def draw_sizes(table: Table, report: Report) -> None:
    """Draw trace error ratio and score difference against m."""
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
    few = [name for name in table.real if sets.group(name) in ("classes", "numbers")]
    parts = {"all sets": table.real, "without texts and genes": few}
    with report.figure("score", 2, 2, size=(9, 6), sharey="row", sharex=True) as axes:
        for row, (words, names) in zip(axes, parts.items(), strict=True):
            for axis, rule in zip(row, ("tuned", "median"), strict=True):
                for at, method in enumerate((*METHODS, "kpca")):
                    found = {m: table.pooled(rule, method, "score", m, names=names) for m in sizes}
                    lines = [(m * 1.04 ** (at - 2), p.each.mean, p.each.se) for m, p in found.items() if p is not None]
                    if lines:
                        x, mean, se = np.array(lines).T
                        axis.errorbar(x, mean, se, color=COLOUR[method], label=method, capsize=2)
                axis.axhline(0, color="black", lw=0.8)
                axis.set(xscale="log", title=f"{words}, {WIDTH[rule]}")
                axis.set_xticks(sizes, [str(m) for m in sizes])
                axis.minorticks_off()
            row[0].set_ylabel("points over uniform\n(mean over sets ± standard error)")
        for axis in axes[1]:
            axis.set_xlabel("landmarks m")
        axes[0][1].legend(fontsize=8)


def draw_where(table: Table, report: Report) -> None:
    """Draw the gain against the kernel matrix's shape."""
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
                axis.set_xscale("log" if key == "tail" else "linear")
                if row:
                    axis.set_xlabel(words)
        axes[0][0].set_yscale("log")
        axes[0][0].set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
        axes[0][0].minorticks_off()
        axes[0][0].set_ylabel("trace error / uniform's")
        axes[1][0].set_ylabel("points over uniform")
        axes[0][1].legend(fontsize=8)
        axes[0][0].set_title("one dot a set, stars: made sets", loc="left", fontsize=9)


def draw_made(table: Table, report: Report) -> None:
    """Draw balanced accuracy on the made sets."""
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
    """Draw fit times."""
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
        axes[0][-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
