"""What the report reads from the records: accuracies of a method on the same splits, and comparisons of two."""

from dataclasses import dataclass

import numpy as np
from lab import Paired, Results, Summary, paired, summary
from lab.verdicts import Counts, count
from takes_common import CLASSES, NAMES

# The first is the main one; the paper says neither how it scaled nor how wide its kernel was.
MODES = {
    "standardised": ("standard", "table2"),
    "not scaled": ("raw", "table2"),
    "width tuned": ("standard", "tuned"),
}
MAIN = "standardised"
METHODS = ("KNNC", "KOBL", "TAKES", "KGS+KFFS", "FSKGS", "FSKPCA", "KDA")
CURVES = ("KGS+KFFS", "FSKGS", "FSKPCA")


@dataclass
class Runs:
    """All splits of one set in one setting."""

    train: int
    test: int
    grid: list[int]
    methods: dict[str, dict[str, list]]
    readings: dict[str, list]

    def accuracy(self, method: str) -> np.ndarray:
        """Return one accuracy a split, with everything chosen on inner folds."""
        return np.array(self.methods[method]["honest"]) / self.test

    def curve(self, method: str) -> np.ndarray:
        """Return accuracies, one row a split, one column a number of features."""
        found = self.methods.get(method, {}).get("right") or self.readings[method]
        return np.array(found) / self.test

    def best(self, method: str) -> tuple[np.ndarray, int]:
        """Return the accuracies at the number of features that is best on the test rows, and that number."""
        curve = self.curve(method)
        at = int(curve.mean(0).argmax())
        return curve[:, at], self.grid[at]

    def features(self, method: str) -> float:
        """Return the median number of features that the inner folds chose."""
        return float(np.median([self.grid[i] for i in self.methods[method]["at"]]))

    def compare(self, method: str, rival: str, best_on_test: bool = False) -> Paired:
        """Compare two methods split by split; the rival may have the number of features that is best for it."""
        other = self.best(rival)[0] if best_on_test else self.accuracy(rival)
        return paired(self.accuracy(method), other, self.test / self.train)


def runs(results: Results, mode: str, classes: int = 3) -> dict[str, Runs]:
    """Return the runs of a setting by set; Thyroid with three classes, or with two."""
    scaling, width = MODES[mode]
    out = {}
    for name in NAMES:
        reading = {"classes": classes} if name in CLASSES else {}
        found = [r.result for r in results.find("classify", name=name, scaling=scaling, width=width, **reading)]
        if found:
            methods = {k: joined([f["methods"][k] for f in found]) for k in found[0]["methods"]}
            readings = joined([f["readings"] for f in found])
            out[name] = Runs(found[0]["train"], found[0]["test"], found[0]["grid"], methods, readings)
    return out


def joined(found: list[dict[str, list]]) -> dict[str, list]:
    """Put the lists of several records one after the other."""
    return {key: [value for f in found for value in f[key]] for key in found[0]}


def tally(found: dict[str, Runs], method: str, rival: str, best_on_test: bool = False) -> Counts:
    """Count wins and losses over the sets; clear is what the corrected test calls clear."""
    return count(r.compare(method, rival, best_on_test) for r in found.values())


def costs(results: Results, scaling: str) -> dict[str, dict[str, Summary]]:
    """Return Table 2's numbers by set."""
    out = {}
    for name in NAMES:
        found = results.one("costs", name=name, scaling=scaling)
        if found is not None:
            out[name] = {key: summary(values) for key, values in found.items()}
    return out


def largest(results: Results, key: str) -> float:
    """Return the largest value of one of Table 2's numbers over all sets, scalings and splits."""
    return max((max(r.result[key]) for r in results.find("costs")), default=float("nan"))
