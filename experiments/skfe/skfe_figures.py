"""Figures of the SKFE experiment."""

from __future__ import annotations

import numpy as np
from lab import Report, Results, summary
from lab.report import colour
from skfe_methods import METHODS

COLOUR = {m: colour(m) for m in METHODS} | {
    "SKFE kobl": "#e07b39",
    "KPLS inner": "#2a9d8f",
    "KPLS scaled": "#8fbc6f",
    "AKDA/QR c": "#b58bd0",
}
MARK = {
    "NN": "x",
    "KPLS": "s",
    "KPLS inner": "P",
    "KPLS scaled": "s",
    "KOC": "o",
    "AKDA/QR": "^",
    "AKDA/QR c": "^",
    "SKFE": "D",
    "SKFE kobl": "d",
}
MEASURES = {
    "paper": "Microarrays, the paper's measure: the error that chose the width",
    "nested": "Microarrays, nested: the width by inner folds",
}
WEIGHTINGS = {"unit": "Texts, counts at unit length", "counts": "Texts, raw counts", "tfidf": "Texts, tf-idf"}


def draw(results: Results, report: Report, genes: dict, texts: dict, changes: list[dict]) -> None:
    """Draw what there are results for."""
    genes = {m: e for m, e in genes.items() if e}
    if genes:
        with report.figure("genes", len(genes), 1, size=(7.6, 5.6), squeeze=False) as axes:
            for at, (measure, errors) in zip(axes[:, 0], genes.items(), strict=True):
                _dots(at, errors, METHODS, MEASURES[measure])
    if texts:
        with report.figure("texts", len(texts), 1, size=(7.6, 2.6 * len(texts)), squeeze=False) as axes:
            for at, (weighting, errors) in zip(axes[:, 0], texts.items(), strict=True):
                _dots(at, errors, [*METHODS[:2], "KPLS inner", *METHODS[2:]], WEIGHTINGS[weighting])
    if changes:
        _changes(report, changes)
    paths = list(results.find("path"))
    if paths:
        _paths(report, paths)
    noises = list(results.find("noise"))
    if noises:
        _noise(report, noises)
    costs = list(results.find("cost"))
    if costs:
        _costs(report, costs, results.settings["genes"])


def _dots(axes, errors: dict, methods: list[str], title: str) -> None:
    for number, method in enumerate(methods):
        x = np.arange(len(errors)) + (number - (len(methods) - 1) / 2) * 0.095
        told = [summary(row[method].runs) for row in errors.values()]
        axes.errorbar(
            x,
            [100 * s.mean for s in told],
            [0 if s.n < 2 else 100 * s.se for s in told],
            fmt=MARK[method],
            ms=4,
            color=COLOUR[method],
            label=method,
            lw=1,
        )
    axes.set_xticks(range(len(errors)), [name.replace("_tumor", "\ntumor") for name in errors])
    axes.grid(axis="x", visible=False)
    for line in range(len(errors) - 1):
        axes.axvline(line + 0.5, color="#dddddd", lw=0.6)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("error of 1-NN, %")
    axes.set_title(title, loc="left")
    axes.legend(fontsize=7, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _changes(report: Report, changes: list[dict]) -> None:
    """Draw the change of error from KOC to SKFE against the change of alignment."""
    with report.figure("alignment", 1, 2, size=(7.6, 3.0), sharey=True) as axes:
        for at, rows in zip(axes, ("train", "test"), strict=True):
            for method in ("SKFE", "SKFE kobl"):
                found = [c for c in changes if c["method"] == method]
                x = [c[rows] - c[f"{rows}_koc"] for c in found]
                y = [100 * (c["end"] - c["koc"]) for c in found]
                label = {"SKFE": "SKFE in the span of all rows", "SKFE kobl": "SKFE on kobl"}[method]
                at.plot(x, y, MARK[method], ms=5, color=COLOUR[method], label=label, alpha=0.8)
            at.axhline(0, color="#222222", lw=0.8)
            at.set_xlabel(f"gain of alignment on {'training' if rows == 'train' else 'test'} rows")
        axes[0].set_ylabel("error less that of KOC, points")
        axes[0].set_title("One mark a set", loc="left")
        axes[0].legend(fontsize=7, loc="lower right")


def _paths(report: Report, paths: list) -> None:
    """Draw alignment and error as the search goes on, for four sets."""
    wanted = ("prostate_tumor", "9_tumors", "tr11", "tr45")
    four = [r for r in paths if r.settings["name"] in wanted] or paths[:4]
    with report.figure("path", 2, len(four), size=(2.5 * len(four) + 0.6, 4.8), squeeze=False, sharex=True) as axes:
        for column, record in enumerate(four):
            steps = np.array([0.25, *record.settings["steps"]])
            for basis, method in (("span", "SKFE"), ("kobl", "SKFE kobl")):
                for rows, style in (("train", "-"), ("test", "--")):
                    _band(axes[0, column], steps, record.result[basis][rows], 1, COLOUR[method], style)
                _band(axes[1, column], steps, record.result[basis]["error"], 100, COLOUR[method], "-")
            axes[0, column].set_title(record.settings["name"], loc="left")
            axes[0, column].set_ylim(0, 1)
            axes[1, column].set_ylim(bottom=0)
            axes[1, column].set_xscale("log")
            axes[1, column].set_xticks([0.25, 1, 10, 100, 1000], ["KOC", "1", "10", "100", "1000"])
            axes[1, column].minorticks_off()
            axes[1, column].set_xlabel("steps")
        axes[0, 0].set_ylabel("alignment")
        axes[1, 0].set_ylabel("error of 1-NN, %")
        handles = [
            axes[0, 0].plot([], [], color="#555555", ls="-", label="training rows")[0],
            axes[0, 0].plot([], [], color="#555555", ls="--", label="test rows")[0],
        ]
        axes[0, 0].legend(handles=handles, fontsize=7, loc="lower right")
        for basis, method in (("all rows", "SKFE"), ("kobl", "SKFE kobl")):
            axes[1, -1].plot([], [], color=COLOUR[method], label=f"basis: {basis}")
        axes[1, -1].legend(fontsize=7, loc="lower right")


def _band(axes, x: np.ndarray, runs: list, scale: float, shade: str, style: str) -> None:
    values = scale * np.array(runs)
    mean = values.mean(axis=0)
    axes.plot(x, mean, style, color=shade)
    if len(values) > 1:
        se = values.std(axis=0, ddof=1) / len(values) ** 0.5
        axes.fill_between(x, mean - se, mean + se, color=shade, alpha=0.15, lw=0)


def _noise(report: Report, noises: list) -> None:
    """Draw the alignment with true and with shuffled labels by size of the basis."""
    with report.figure("noise", 1, len(noises), size=(3.8 * len(noises), 3.0), squeeze=False, sharey=True) as axes:
        for at, record in zip(axes[0], noises, strict=True):
            labels = [k.split(" ")[1] for k in record.result if k.startswith("true ")]
            sizes = {b: float(np.mean([r[0] for r in record.result[f"true {b}"]])) for b in labels}
            order = sorted(labels, key=sizes.get)
            for labels_are, shade in (("true", "#c1272d"), ("shuffled", "#555555")):
                for number, style, rows in ((1, "-o", "training"), (2, "--o", "test")):
                    told = [summary([r[number] for r in record.result[f"{labels_are} {b}"]]) for b in order]
                    y, e = [s.mean for s in told], [0 if s.n < 2 else s.se for s in told]
                    word = f"{labels_are} labels, {rows} rows"
                    at.errorbar(range(len(order)), y, e, fmt=style, ms=3, color=shade, label=word)
            ticks = [f"{sizes[b]:.0f}" + {"span": "\nall rows", "kobl": "\nkobl"}.get(b, "") for b in order]
            at.set_xticks(range(len(order)), ticks)
            at.set_ylim(0, 1)
            at.set_xlabel("size of the basis")
            at.set_title(record.settings["name"], loc="left")
        axes[0, 0].set_ylabel("alignment of SKFE's features")
        axes[0, 0].legend(fontsize=7, loc="lower right")


def _costs(report: Report, costs: list, microarrays: list[str]) -> None:
    """Draw the time of one fit against the number of training rows."""
    with report.figure("cost", size=(5.6, 3.2)) as axes:
        found = sorted(costs, key=lambda r: r.result["rows"])
        for method in found[0].result["seconds"]:
            for genes in (True, False):  # microarrays differ in columns, so no line joins them
                part = [r for r in found if (r.settings["name"] in microarrays) == genes]
                x = [r.result["rows"] for r in part]
                y = [float(np.median(r.result["seconds"][method])) for r in part]
                look = {"marker": MARK[method], "ms": 4, "color": COLOUR[method], "ls": "none" if genes else "-"}
                axes.plot(x, y, label=None if genes else method, **look)
        axes.set(xscale="log", yscale="log", xlabel="training rows", ylabel="processor seconds of one fit")
        axes.set_title("Lines join texts, single marks are microarrays", loc="left")
        axes.legend(fontsize=7)
