"""The figures of TAKES."""

import numpy as np
from lab import Report, summary
from lab.report import colour
from matplotlib.ticker import NullFormatter, ScalarFormatter
from takes_common import NAMES, PAPER
from takes_gather import Runs

MARKS = {"standard": ("o", "standardised"), "unit": ("s", "[0, 1]"), "raw": ("^", "not scaled")}


def costs(report: Report, found: dict) -> None:
    """Draw the paper's columns of Table 2 against what comes near them."""
    panels = (
        (2, "kobl", "KOBL", "KOBL at the paper's dimension"),
        (3, "kgs_at_m", "FSKGS", "KGS stopped at KOBL's dimension"),
        (4, "kpca_centred", "FSKPCA", "centred KPCA, mean forgotten"),
    )
    with report.figure("table2", 1, 3, size=(10, 3.4)) as axes:
        for axis, (column, key, method, title) in zip(axes, panels, strict=True):
            ends = [PAPER[name][column] for name in PAPER]
            for scaling, (mark, words) in MARKS.items():
                x = [PAPER[name][column] for name in found[scaling]]
                y = [c[key].mean for c in found[scaling].values()]
                shade = colour("TAKES" if method == "KOBL" else method)
                axis.plot(x, y, mark, color=shade, mfc="none" if scaling != "standard" else shade, ms=5, label=words)
                ends += y
            low, high = 0.85 * min(ends), 1.15 * max(ends)
            axis.plot([low, high], [low, high], color="#999999", lw=0.8, zorder=0)
            axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
            plain_ticks(axis)
            paper = {2: "KOBL", 3: "KGS, all rows", 4: "KPCA, all rows"}[column]
            axis.set(xlabel=f"E(M), Table 2: {paper}", ylabel="E(M), ours", title=title)
        axes[0].legend(loc="upper left", fontsize=8)


def plain_ticks(axis) -> None:
    """Write a few plain numbers on logarithmic axes that span less than two decades."""
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(ScalarFormatter())
        side.set_minor_formatter(NullFormatter())
        low, high = side.get_view_interval()
        side.set_ticks([t for t in (0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8) if low <= t <= high])


def figure_2(report: Report, found: dict[str, Runs]) -> None:
    """Draw TAKES as a point against KGS+KFFS over the number of features."""
    with report.figure("figure2", 2, 3, size=(10, 5.6)) as axes:
        for axis, (name, r) in panels(axes, found):
            curve(axis, r, "KGS+KFFS", "KGS+KFFS, by weight", "KGS+KFFS")
            key = "KGS+KFFS, no sample weights, weighted, as taken"
            curve(axis, r, key, "KGS+KFFS, in the order taken", "KNNC", style=":", band=False)
            point(axis, r.accuracy("TAKES"), np.mean(r.readings["features"]), "TAKES")
            finish(axis, name)
        legend(axes)


def figure_3(report: Report, found: dict[str, Runs]) -> None:
    """Draw TAKES, FSKGS, FSKPCA, KDA and KNNC."""
    with report.figure("figure3", 2, 3, size=(10, 5.6)) as axes:
        for axis, (name, r) in panels(axes, found):
            for method in ("FSKGS", "FSKPCA"):
                curve(axis, r, method, method, method)
            axis.axhline(100 * r.accuracy("KNNC").mean(), color=colour("KNNC"), ls=":", label="KNNC")
            point(axis, r.accuracy("KDA"), 2 if name == "new_thyroid" else 1, "KDA", "s")
            point(axis, r.accuracy("TAKES"), np.mean(r.readings["features"]), "TAKES")
            finish(axis, name)
        legend(axes)


def panels(axes, found: dict[str, Runs]):
    """Pair panels with sets; hide those that are left."""
    for axis in axes.flat[len(found) :]:
        axis.set_visible(False)
    return zip(axes.flat, found.items(), strict=False)


def curve(axis, r: Runs, key: str, label: str, shade: str, style: str = "-", band: bool = True) -> None:
    """Draw mean accuracy over the number of features, with a band of one standard error."""
    values = 100 * r.curve(key)
    mean = values.mean(0)
    axis.plot(r.grid, mean, style, color=colour(shade), label=label)
    if band and len(values) > 1:
        error = values.std(0, ddof=1) / len(values) ** 0.5
        axis.fill_between(r.grid, mean - error, mean + error, color=colour(shade), alpha=0.2, lw=0)


def point(axis, values: np.ndarray, at: float, method: str, mark: str = "o") -> None:
    """Draw one accuracy with its standard error."""
    s = summary(values)
    error = 0 if np.isnan(s.se) else 100 * s.se
    axis.errorbar(
        [at], [100 * s.mean], [error], fmt=mark, color=colour(method), ms=6, capsize=2, label=method, zorder=5
    )


def finish(axis, name: str) -> None:
    """Name the axes."""
    axis.set(xscale="log", title=NAMES[name], xlabel="features", ylabel="1-NN accuracy, %")
    axis.xaxis.set_major_formatter("{x:g}")


def legend(axes) -> None:
    """Put one legend below all panels."""
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[0].figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def times(report: Report, clock: dict) -> None:
    """Draw processor seconds against rows."""
    with report.figure("times", size=(6.4, 3.4)) as axis:
        for method in [m for m in next(iter(clock.values()), {}) if m != "m"]:
            points = [(n, r[method]["cpu"]) for n, r in clock.items() if method in r]
            style = "--" if "rule" in method else "-"
            label = "TAKES, d = 200" if method == "TAKES" else method
            axis.plot(
                *zip(*points, strict=True), style, marker="o", ms=3, color=colour(method.split(",")[0]), label=label
            )
        axis.set(xscale="log", yscale="log", xlabel="rows", ylabel="processor seconds", title="Time of a fit")
        axis.set_xticks(list(clock), [f"{n:g}" for n in clock], rotation=45)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.figure.legend(loc="outside right upper")
