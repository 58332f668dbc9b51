"""Reads the records as tables, figures and claims need them."""

from __future__ import annotations

import numpy as np
from lab import Paired, Results, paired
from lab.verdicts import Counts, count

CLASSES = ["Relief", "ReliefF", "RReliefF", "F-score", "MI", "Laplacian"]
NUMBER_WAYS = ["RReliefF", "LASSO", "plain LASSO", "F-score", "FWE", "FPR", "FDR", "MI"]
THESIS_NUMBERS = [w for w in NUMBER_WAYS if w != "plain LASSO"]
PROTOCOLS = ["honest", "basis", "all"]
POOR = 10.0  # a very poor model has this many times the baseline's error on the same fold


def title(name: str, size: int | None) -> str:
    """Name a set and its rows."""
    return f"{name}, {size} rows" if size else name


class View:
    """The records of a run, by what they are about."""

    def __init__(self, results: Results) -> None:
        self.results, self.settings = results, results.settings
        self.ratio = 1 / (self.settings["folds"] - 1)

    def numbers(self, name: str) -> bool:
        """Return whether a set's target is a number."""
        return name in ("diabetes", "eunite2001")

    def tests(self, numbers: bool) -> list[tuple[str, int]]:
        """Return the thesis' tests that were run."""
        there = {(r.settings["name"], r.settings["size"]) for r in self.results.find("table")}
        told = [(name, size) for name, size, _ in self.settings["tests"]]
        return [test for test in told if test in there and self.numbers(test[0]) == numbers]

    def whole(self) -> list[str]:
        """Return the sets that were run whole."""
        there = {r.settings["name"] for r in self.results.find("table", size=None)}
        return [name for name in self.settings["whole"] if name in there]

    def cell(self, name: str, size: int | None, columns: str, protocol: str) -> dict | None:
        """Return one table of the thesis' own basis."""
        reading = {"size": size, "columns": columns, "protocol": protocol}
        return self.results.one("table", name=name, basis="gram-schmidt", n_components=None, **reading)

    def scores(self, name: str, size: int | None, columns: str, protocol: str, who: str, model: str) -> list[float]:
        """Return one score a fold; nothing where it was not run."""
        if protocol == "tuned":
            cell = self.results.one("tuned", name=name, size=size)
        else:
            cell = self.cell(name, size, columns, protocol)
        if cell is None:
            return []
        return cell["scores"].get(who, {}).get("own" if who == "baseline" else model, [])

    def mean(self, *what) -> float:
        """Return the mean of `scores`."""
        values = self.scores(*what)
        return float(np.mean(values)) if values else float("nan")

    def poor(self, name: str, size: int | None, columns: str, protocol: str, who: str, model: str) -> float | None:
        """Return the share of folds with a very poor model."""
        values = self.scores(name, size, columns, protocol, who, model)
        base = self.scores(name, size, columns, protocol, "baseline", model)
        return float(np.mean([v > POOR * b for v, b in zip(values, base, strict=True)])) if values else None

    def compare(self, a: tuple, b: tuple) -> Paired | None:
        """Return the paired difference of two `scores`."""
        left, right = self.scores(*a), self.scores(*b)
        return paired(left, right, self.ratio) if left and right else None

    def capped(self, name: str, basis: str, who: str) -> list[float]:
        """Return the scores with another basis of a fixed number of vectors."""
        told = {"basis": basis, "n_components": self.settings["bases_components"]}
        cell = self.results.one("table", name=name, **told)
        return cell["scores"][who]["ridge" if self.numbers(name) else "linear"] if cell else []

    def at(self, name: str, m: int, basis: str) -> list[float]:
        """Return the scores of m vectors without a selection."""
        cell = self.results.one("points", name=name)
        return cell["scores"][str(m)][basis]["ridge" if self.numbers(name) else "linear"] if cell else []

    def chosen(self, name: str, m: int, basis: str, than: str = "gram-schmidt") -> Paired:
        """Return the difference of chosen rows from rows in order, or from those of another basis."""
        return paired(self.at(name, m, basis), self.at(name, m, than), self.ratio)

    def against(self, tests: list, reading: tuple, pairs: list, low: bool = False) -> Counts:
        """Count wins and losses of the first of each pair of algorithms over tests and pairs."""
        columns, protocol, model = reading
        found = [
            self.compare((*test, columns, protocol, a, model), (*test, columns, protocol, b, model))
            for test in tests
            for a, b in pairs
        ]
        return count([d for d in found if d is not None], low=low)

    def first(self, tests: list, reading: tuple, who: str, ways: list[str], low: bool = False) -> Counts:
        """Count wins and losses of an algorithm against the best of the others on each test, by the mean."""
        others = [w for w in ways if w != who]
        columns, protocol, model = reading
        found = []
        for test in tests:
            means = {w: self.mean(*test, columns, protocol, w, model) for w in others}
            best = (min if low else max)(means, key=means.__getitem__)
            found.append(self.compare((*test, columns, protocol, who, model), (*test, columns, protocol, best, model)))
        return count([d for d in found if d is not None], low=low)
