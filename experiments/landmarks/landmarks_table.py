"""The results as arrays: one value a set, rule, method, size and seed; and the statistics over seeds and over sets."""

from __future__ import annotations

from dataclasses import dataclass

import landmarks_data as sets
import numpy as np
from lab import Paired, Results, Summary, paired, summary
from lab.verdicts import Counts, count
from scipy import stats

METHODS = ("rpcholesky", "kobl", "csi", "k-means")
RULES = ("tuned", "median", "own")
WIDTH = {"tuned": "width tuned, same for all", "median": "width by the median rule", "own": "each its own width"}
MEASURES = {"trace": 0, "score": 1, "balanced": 2}
FLOOR = 1e-6  # trace errors below a millionth are all the same: that is rounding, not choice of landmarks


@dataclass(frozen=True)
class Pooled:
    """A mean over data sets with its interval; `ratio` means that it was taken of logarithms."""

    each: Summary
    ratio: bool
    wilcoxon: float

    @property
    def mean(self) -> float:
        """Mean difference in points, or geometric mean of the ratio."""
        return float(np.exp(self.each.mean)) if self.ratio else self.each.mean

    @property
    def interval(self) -> tuple[float, float]:
        """Student's 95 % interval over the sets."""
        low, high = self.each.interval()
        return (float(np.exp(low)), float(np.exp(high))) if self.ratio else (low, high)

    @property
    def sign(self) -> int:
        """1 where the interval says better, −1 where it says worse, else 0. A trace error is better when lower."""
        low, high = self.each.interval()
        better = (high < 0, low > 0) if self.ratio else (low > 0, high < 0)
        return 1 if better[0] else -1 if better[1] else 0

    def text(self) -> str:
        """Write the mean and the interval."""
        low, high = self.interval
        if self.ratio:
            return f"{self.mean:.3f} [{low:.3f}, {high:.3f}]"
        return f"{self.mean:+.2f} [{low:+.2f}, {high:+.2f}]"


class Table:
    """All cells of the experiment."""

    def __init__(self, results: Results) -> None:
        self.cells: dict[str, list[dict]] = {}
        for record in results.find("cell"):
            self.cells.setdefault(record.settings["name"], []).append(record.result)
        self.names = list(self.cells)
        self.real = [name for name in self.names if name not in sets.MADE]

    def first(self, name: str) -> dict:
        """Return the first seed's record, for what all seeds share."""
        return self.cells[name][0]

    def middle(self, name: str) -> int:
        """Return the size nearest to √n."""
        return self.first(name)["middle"]

    def has(self, name: str, rule: str, method: str, m: int) -> bool:
        """Say whether a method was run at this size."""
        cell = self.first(name)
        if rule == "own" and "own" in cell:
            return m == cell["middle"] and method in cell["own"]
        if method == "nearest":
            return m == cell["middle"]
        rule = rule if rule in cell else "cosine"
        return m in cell["m"] and cell["m"].index(m) < len(cell[rule].get(method, ()))

    def values(self, name: str, rule: str, method: str, measure: str, m: int | None = None) -> np.ndarray:
        """Return one value a seed, at size m or at the middle size. Sets without a width are the same in all rules.

        Uniform at the middle size is the mean of several draws.
        """
        out, at = [], MEASURES[measure]
        for cell in self.cells[name]:
            size = m or cell["middle"]
            key = rule if rule in cell else "cosine"
            found = cell[key][method]
            value = (found if method == "nearest" or key == "own" else found[cell["m"].index(size)])[at]
            if method == "uniform" and size == cell["middle"]:
                draws = cell["draws"]
                value = (value + draws * cell[key]["further"][at]) / (1 + draws)
            out.append(value)
        return np.array(out, dtype=float)

    def shape(self, name: str, rule: str, key: str) -> float:
        """Return the mean over seeds of a property of the kernel matrix."""
        return float(np.mean([c[rule if rule in c else "cosine"][key] for c in self.cells[name]]))

    def against(
        self, name: str, rule: str, method: str, measure: str, m: int | None = None, other: str = "uniform"
    ) -> Paired:
        """Compare two methods on one set: points of score, or the logarithm of the trace errors' ratio.

        Splits of a set share rows, and the test is corrected for it; made sets are drawn anew for every seed.
        """
        a, b = (self.values(name, rule, which, measure, m) for which in (method, other))
        if measure == "trace":
            a, b = np.log(np.maximum(a, FLOOR)), np.log(np.maximum(b, FLOOR))
        else:
            a, b = 100 * a, 100 * b
        cell = self.first(name)
        return paired(a, b, 0.0 if name in sets.MADE else cell["n_test"] / cell["n_train"])

    def interval(self, name: str, rule: str, method: str, measure: str) -> tuple[float, float, float]:
        """Return the difference on one set at the middle size, and the corrected test's 95 % interval."""
        found, cell = self.against(name, rule, method, measure), self.first(name)
        share = 0.0 if name in sets.MADE else cell["n_test"] / cell["n_train"]
        wide = found.se * (1 + found.n * share) ** 0.5 * stats.t.ppf(0.975, found.n - 1)
        return found.difference, found.difference - wide, found.difference + wide

    def pooled(
        self,
        rule: str,
        method: str,
        measure: str,
        m: int | None = None,
        other: str = "uniform",
        names: list[str] | None = None,
    ) -> Pooled | None:
        """Average over data sets, which are the units; None where fewer than two sets have the size."""
        names = self.real if names is None else names
        names = [n for n in names if all(self.has(n, rule, w, m or self.middle(n)) for w in (method, other))]
        if len(names) < 2:
            return None
        each = [self.against(n, rule, method, measure, m, other).difference for n in names]
        p = float(stats.wilcoxon(each).pvalue) if np.any(each) else 1.0
        return Pooled(summary(each), measure == "trace", p)

    def counts(
        self,
        rule: str,
        method: str,
        measure: str,
        other: str = "uniform",
        names: list[str] | None = None,
        m: int | None = None,
    ) -> Counts:
        """Count wins and losses over the sets that have the size; clear is what the corrected test calls clear."""
        names = self.real if names is None else names
        names = [n for n in names if all(self.has(n, rule, w, m or self.middle(n)) for w in (method, other))]
        return count((self.against(n, rule, method, measure, m, other) for n in names), low=measure == "trace")

    def equivalent(self, name: str, rule: str, method: str, measure: str) -> float:
        """Return how many times the method's m uniform landmarks need to do as well as it does at the middle size.

        Interpolated on uniform's mean curve, in log m; 0 or infinity where the curve does not reach.
        """
        sizes = self.first(name)["m"]
        if rule == "own" or not self.has(name, rule, method, self.middle(name)):
            return float("nan")
        curve = np.array([self.values(name, rule, "uniform", measure, m).mean() for m in sizes])
        target = self.values(name, rule, method, measure).mean()
        if measure == "trace":
            curve, target = -np.log(np.maximum(curve, FLOOR)), -np.log(max(target, FLOOR))
        curve = np.maximum.accumulate(curve)
        if target > curve[-1]:
            return float("inf")
        if target < curve[0]:
            return 0.0
        at = int(np.searchsorted(curve, target))
        if at == 0:
            return sizes[0] / self.middle(name)
        low, high = curve[at - 1], curve[at]
        part = (target - low) / (high - low)
        return float(np.exp((1 - part) * np.log(sizes[at - 1]) + part * np.log(sizes[at])) / self.middle(name))

    def correlation(self, rule: str, method: str, measure: str, key: str) -> tuple[float, float]:
        """Return Spearman's correlation over sets of a matrix's property with the gain over uniform, and its p."""
        return _spearman([self.shape(name, rule, key) for name in self.real], self.gains(rule, method, measure))

    def proxy(self, rule: str, method: str) -> tuple[float, float]:
        """Return Spearman's correlation over sets of the gain in trace error with the gain in score, and its p."""
        return _spearman(self.gains(rule, method, "trace"), self.gains(rule, method, "score"))

    def gains(self, rule: str, method: str, measure: str) -> list[float]:
        """Return each real set's gain over uniform at the middle size, positive for better."""
        sign = -1 if measure == "trace" else 1
        return [sign * self.against(name, rule, method, measure).difference for name in self.real]


def _spearman(x: list[float], y: list[float]) -> tuple[float, float]:
    if len(x) < 4:
        return float("nan"), float("nan")
    found = stats.spearmanr(x, y)
    return float(found.statistic), float(found.pvalue)


def sizes_of(table: Table) -> list[int]:
    """Return the sizes that at least two real sets have."""
    every = sorted({m for name in table.real for m in table.first(name)["m"]})
    return [m for m in every if sum(m in table.first(name)["m"] for name in table.real) > 1]
