"""Tables, figures and claims: each default beside its alternatives."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from defaults_methods import BASES, SIZED, kind_of, title
from defaults_sets import GROUPS
from lab import Report, Results, Summary, summary
from lab.verdicts import fact

DASH = "–"
MEASURES = {"nn": "1-NN", "ridge": "ridge"}
COLOUR = {"nn": "#c1272d", "ridge": "#1f6fb4"}
SCORE = {"numbers": "R², points"}


class Table:
    """The cells of some groups of sets, by method, title of the setting, and set."""

    def __init__(self, results: Results, name: str, groups: Iterable[str]) -> None:
        self.name, self.points = name, results.settings["points"]
        self.cells: dict[str, dict[str, dict[str, dict]]] = {}
        for record in (record for group in groups for record in results.find("cell", group=group)):
            s = record.settings
            self.cells.setdefault(s["method"], {}).setdefault(title(s["setting"]), {})[s["name"]] = record.result

    @cached_property
    def methods(self) -> list[str]:
        """Methods whose default has a score on some set."""
        return [method for method in self.cells if self.scored(method, "default")]

    def titles(self, method: str) -> list[str]:
        """Titles of the settings that have a score on some set, the default first."""
        return [title for title in self.cells[method] if self.scored(method, title)]

    def scored(self, method: str, title: str) -> dict[str, dict]:
        """Return the cells that have scores, by set."""
        return {name: cell for name, cell in self.cells[method].get(title, {}).items() if "nn" in cell}

    def mean(self, method: str, title: str, key: str) -> float:
        """Return the mean over sets of their means over splits."""
        return float(np.mean([np.mean(cell[key]) for cell in self.scored(method, title).values()]))

    def total(self, method: str, title: str, key: str) -> int:
        """Return a count over all sets and splits."""
        return sum(cell[key] for cell in self.scored(method, title).values())

    def against(self, method: str, title: str, measure: str) -> Summary | None:
        """Return default less alternative in points, over the sets that both have, each by the mean of its splits."""
        own, other = self.scored(method, "default"), self.scored(method, title)
        shared = [name for name in own if name in other]
        if not shared:
            return None
        return summary([100 * np.mean(np.subtract(own[n][measure], other[n][measure])) for n in shared])

    def same(self, method: str, title: str) -> bool:
        """Whether a setting scores as the default on every split: the default written out, or no matter."""
        own, other = self.scored(method, "default"), self.scored(method, title)
        return all(own[n][m] == other[n][m] for n in own if n in other for m in MEASURES)

    def best(self, method: str, measure: str) -> tuple[str, Summary] | None:
        """Return the alternative that the default does worst against, if it has half of the default's sets."""
        enough = len(self.scored(method, "default")) / 2
        found = [
            (title, self.against(method, title, measure))
            for title in self.titles(method)
            if title != "default" and len(self.scored(method, title)) >= enough and not self.same(method, title)
        ]
        return min(
            ((title, each) for title, each in found if each is not None), key=lambda pair: pair[1].mean, default=None
        )

    def good(self, method: str, measure: str) -> bool:
        """Whether the default loses no more than the allowed points to its best alternative."""
        best = self.best(method, measure)
        return best is None or best[1].mean >= -self.points


def tables_of(results: Results) -> dict[str, Table]:
    """Return a table for all sets with classes, and one for each group of sets."""
    classes = [group for group in GROUPS if group != "numbers"]
    groups = {group: Table(results, group, [group]) for group in GROUPS}
    return {"classes": Table(results, "classes", classes), **groups}


def write(results: Results, report: Report) -> None:
    """Make everything from the results."""
    tables = tables_of(results)
    for name, table in tables.items():
        for stem, wanted in (("", lambda m: kind_of(m) != "select"), ("selectors-", lambda m: kind_of(m) == "select")):
            methods = [method for method in table.methods if wanted(method)]
            if stem and name not in ("tables", "numbers"):
                continue
            summarise(table, methods, f"{stem}{name}", report)
            compare(table, methods, f"{stem}{name}", report)
        draw(table, report)
    at_equal_size(results, {group: tables[group] for group in GROUPS}, report)
    not_available(results, report)
    claims({name: tables[name] for name in ("classes", "numbers")}, report)


def summarise(table: Table, methods: list[str], name: str, report: Report) -> None:
    """Show every method's default beside its best alternative."""
    rows = []
    for method in methods:
        cells = []
        for measure in MEASURES:
            cells.append(f"{100 * table.mean(method, 'default', measure):.1f}")
            best = table.best(method, measure)
            cells += [DASH, DASH] if best is None else [best[0], difference(best[1])]
        within = "yes" if all(table.good(method, measure) for measure in MEASURES) else "**no**"
        constant = " / ".join(str(table.total(method, "default", f"constant_{m}")) for m in MEASURES)
        rows.append([method, *cells, within, table.total(method, "default", "none"), constant])
    head = ["method"]
    for words in MEASURES.values():
        head += [f"default, {words}", "best alternative", "default − best"]
    head += [f"within {table.points:g} points", "no features", "constant prediction, 1-NN / ridge"]
    report.table(f"summary-{name}", head, rows, note_of(table, methods))


def note_of(table: Table, methods: list[str]) -> str:
    """Say what the numbers of a group are."""
    if not methods:
        return "No set of this group was run."
    cells = {name: cell for method in methods for name, cell in table.scored(method, "default").items()}
    score = "R², in points of a hundred" if table.name == "numbers" else "Accuracy in percent"
    return (
        f"{score}, mean over {count(cells)} ({', '.join(cells)}). Differences in points with standard errors over "
        "sets; below zero the alternative is better. Counts are of the default's "
        f"{sum(len(cell['nn']) for cell in cells.values())} splits."
    )


def count(sets) -> str:
    """Write how many sets there are."""
    return "1 set" if len(sets) == 1 else f"{len(sets)} sets"


def difference(d: Summary) -> str:
    """Write a difference in points with its standard error."""
    return f"{d.mean:+.1f}" if d.n < 2 else f"{d.mean:+.1f} ± {d.se:.1f}"


def difference_apart(d: Summary) -> str:
    """Write how far apart two settings are, without saying which is better."""
    return difference(d).lstrip("+-")


def compare(table: Table, methods: list[str], name: str, report: Report) -> None:
    """Show all alternatives of all methods."""
    rows = []
    for method in methods:
        sets = len(table.scored(method, "default"))
        for each in table.titles(method):
            cells = []
            for measure in MEASURES:
                d = table.against(method, each, measure)
                cells.append(f"{100 * table.mean(method, each, measure):.1f}")
                cells.append(DASH if each == "default" or d is None else difference(d))
            if each != "default" and table.same(method, each):
                cells[1::2] = ["same", "same"]
            there = len(table.scored(method, each))
            cells += [round(table.mean(method, each, "features")), f"{table.mean(method, each, 'seconds'):.2g}"]
            cells += [f"{there} of {sets}", table.total(method, each, "none")]
            cells += [" / ".join(str(table.total(method, each, f"constant_{m}")) for m in MEASURES)]
            first = f"**{method}**" if each == "default" else f"{method}, {each}"
            rows.append([first, *cells])
    head = ["setting"]
    for words in MEASURES.values():
        head += [words, "default − it"]
    head += ["features", "s", "sets", "no features", "constant, 1-NN / ridge"]
    note = (
        "Bold: the bare class. *same*: equal to the default on every split, so it is the default written out or makes "
        "no difference. Means are over the sets that a setting has, differences over those that both have. *s*: "
        "processor seconds of fit and training features."
    )
    report.table(f"alternatives-{name}", head, rows, note if rows else "No set of this group was run.")


def at_equal_size(results: Results, tables: dict[str, Table], report: Report) -> None:
    """Compare bases at equal numbers of components, with their times; draw score against time."""
    rows, sizes = [], results.settings["sizes"]
    for group, table in tables.items():
        for m in sizes:
            found = sized(table, m)
            for basis, cells in found.items():
                mean = means_of(cells, shared(found))
                scores = [f"{100 * mean[measure]:.1f}" for measure in MEASURES]
                told = [f"{mean['seconds']:.2g}", round(mean["features"]), len(shared(found))]
                rows.append([f"{group}, m = {m}, {basis}", *scores, *told])
    head = ["basis", *MEASURES.values(), "s", "features", "sets"]
    note = (
        "At equal size, on the sets that all bases have at it; every other setting is the default, and only the size "
        "ends a basis. *s*: processor seconds of fit and training features, the search for the width included where "
        "the default has one."
    )
    report.table("sizes", head, rows, note if rows else "No basis was run at these sizes.")
    drawn = {group: table for group, table in tables.items() if any(sized(table, m) for m in sizes)}
    if drawn:
        draw_times(drawn, sizes, report)


def sized(table: Table, m: int) -> dict[str, dict[str, dict]]:
    """Return the cells of every basis of m components, by set."""
    named = {basis: title({"n_components": m, **SIZED.get(basis, {})}) for basis in BASES if basis in table.cells}
    found = {basis: table.scored(basis, each) for basis, each in named.items()}
    return {basis: cells for basis, cells in found.items() if cells}


def shared(found: dict[str, dict[str, dict]]) -> list[str]:
    """Return the sets that all bases have."""
    return sorted(set.intersection(*map(set, found.values())))


def means_of(cells: dict[str, dict], names: list[str]) -> dict[str, float]:
    """Return means over sets."""
    keys = (*MEASURES, "seconds", "features")
    return {key: float(np.mean([np.mean(cells[name][key]) for name in names])) for key in keys}


def draw_times(tables: dict[str, Table], sizes: list[int], report: Report) -> None:
    """Draw ridge's score against processor time, one line a basis over its sizes, on sets that have all sizes."""
    from matplotlib import colormaps
    from matplotlib.ticker import LogLocator

    shades = dict(zip(BASES, colormaps["tab10"].colors, strict=False))
    size = (4 * len(tables) + 1.5, 3.6)
    with report.figure("equal-time", 1, len(tables), size=size, squeeze=False) as axes:
        for axis, (group, table) in zip(axes[0], tables.items(), strict=True):
            found = {m: each for m in sizes if (each := sized(table, m))}
            names = [
                name for name in shared(next(iter(found.values()))) if all(name in shared(f) for f in found.values())
            ]
            for basis in next(iter(found.values())) if names else ():
                line = [means_of(each[basis], names) for each in found.values() if basis in each]
                x, y = [mean["seconds"] for mean in line], [100 * mean["ridge"] for mean in line]
                axis.plot(x, y, "o-", ms=4, color=shades[basis], label=basis)
            axis.set(xscale="log", xlabel="processor seconds, fit and training features")
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.xaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_minor_formatter("")
            axis.set_title(f"{group}: test rows of {count(names)}")
        axes[0][0].set_ylabel("ridge on the features, points")
        heading = f"m = {', '.join(map(str, sizes))}"
        axes[0][-1].legend(title=heading, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))


def draw(table: Table, report: Report) -> None:
    """Draw one row a method: the default filled, alternatives open, and what does better by more than is allowed."""
    methods = table.methods[::-1]
    if not methods:
        return
    sets = {name for method in methods for name in table.scored(method, "default")}
    size = (10.5, 0.27 * len(methods) + 1.5)
    with report.figure(table.name, 1, 2, size=size, sharey=True) as axes:
        for axis, (measure, words) in zip(axes, MEASURES.items(), strict=True):
            lowest = []
            for at, method in enumerate(methods):
                own = 100 * table.mean(method, "default", measure)
                # Placed by the paired difference, so that settings that lack a set stand where they belong.
                others = [own - d.mean for t in table.titles(method)[1:] if (d := table.against(method, t, measure))]
                axis.plot([min([own, *others]), max([own, *others])], [at, at], color="#cccccc", lw=1, zorder=1)
                axis.plot(others, [at] * len(others), "o", ms=4.5, mfc="white", color="#777777", zorder=2)
                axis.plot(own, at, "o", ms=7, color=COLOUR[measure], zorder=3)
                lowest += [own, *others]
                if not table.good(method, measure):
                    best = table.best(method, measure)
                    told = {"xytext": (0, 5), "textcoords": "offset points", "fontsize": 6.5, "color": "#444444"}
                    axis.annotate(best[0], (own - best[1].mean, at), ha="right", **told)
            axis.set(title=f"{words} on the features", xlabel=SCORE.get(table.name, "accuracy, %"))
            axis.set_xlim(max(min(lowest) - 3, -5), max(lowest) + 3)
            axis.set_ylim(-0.8, len(methods) - 0.2)
        axes[0].set_yticks(range(len(methods)), methods)
        axes[0].plot([], [], "o", ms=7, color="#333333", label="default")
        axes[0].plot([], [], "o", ms=4.5, mfc="white", color="#777777", label="alternative")
        axes[0].figure.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=2,
            title=f"test rows, mean over {count(sets)} of the group {table.name}; named where it is more than "
            f"{table.points:g} points better than the default",
            title_fontsize=8,
        )


def not_available(results: Results, report: Report) -> None:
    """List settings that this version does not know, and those that were refused somewhere."""
    unknown, refused = {}, {}
    for record in results.find("cell"):
        s, told = record.settings, record.result
        if "unavailable" in told:
            unknown[s["method"], title(s["setting"])] = told["unavailable"]
        if "refused" in told and "rows" not in told["refused"]:
            refused.setdefault((s["method"], title(s["setting"]), told["refused"]), []).append(s["name"])
    without = {method for method, each in unknown if each == "default"}
    rows = [[method, "not available", "no such method in this version"] for method in sorted(without)]
    # The order of words in such a message is not fixed.
    rows += [
        [f"{method}, {each}", "not available", why.split(" must be ")[0]]
        for (method, each), why in unknown.items()
        if method not in without
    ]
    rows += [[f"{m}, {t}", f"refused on {', '.join(names)}", why] for (m, t, why), names in refused.items()]
    report.table("not-available", ["setting", "what", "message"], rows, "" if rows else "Everything was available.")


def claims(tables: dict[str, Table], report: Report) -> None:
    """Judge every default: within the allowed points of its best alternative, on average over sets, or not."""
    methods = dict.fromkeys(method for table in tables.values() for method in table.methods)
    for method in methods:
        held, lost = 0, []
        for name, table in tables.items():
            if method not in table.methods:
                continue
            for measure, words in MEASURES.items():
                if table.good(method, measure):
                    held += 1
                else:
                    best = table.best(method, measure)
                    lost.append(f"{name}, {words}: {difference(best[1])} against {best[0]}")
        verdict = fact(held, held + len(lost))
        points = next(iter(tables.values())).points
        text = f"{method}: on average the default is within {points:g} points of its best alternative"
        report.claim(text, "beyond", verdict, "; ".join(lost) or f"in all {held} comparisons")
