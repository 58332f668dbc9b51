"""What the tables, figures and verdicts of KLFE's experiment ask of its results."""

from __future__ import annotations

import numpy as np
from klfe_sets import SIMULATED, TEST, TRAIN
from lab import paired

KNOWN = {
    "twin-sine-0": "twin sine 0 dB",
    "twin-sine-5": "twin sine −5 dB",
    "swiss-roll": "Swiss roll",
    "pima": "diabetes",
    "ringnorm": "ringnorm",
    "usps": "USPS 3–5",
    "usps-exchanged": "USPS 3–5, original split exchanged",
}
WORDS = {"zscore": "", "unit": ", unit rows"}
LABELS = {(name, how): text + word for name, text in KNOWN.items() for how, word in WORDS.items()}
FOUR = ("GDA", "KPCA", "FSKPCA", "KKNN")  # what the paper calls the other four schemes


class View:
    """Curves and errors by case (a set and its normalisation), width and method; None where a job was skipped."""

    def __init__(self, results) -> None:
        self.results, self.settings = results, results.settings
        self.grid, self.widths = self.settings["grid"], self.settings["widths"]

    def cases(self, width):
        """Return the cases that were computed at this width."""
        cases = [tuple(case) for case in self.settings["cases"]]
        return [case for case in cases if self.has(case, width)]

    def has(self, case, width):
        """Whether there are results."""
        return any(True for _ in self._kernel(case, width))

    def _kernel(self, case, width):
        return self.results.find("kernel", name=case[0], normalise=case[1], width=width)

    def _of(self, case, width, method):
        linear = method in ("LFE", "PCA", "KKNN")
        found = self.results.find("linear", name=case[0], normalise=case[1]) if linear else self._kernel(case, width)
        return [r.result for r in found]

    def curve(self, case, width, method):
        """Return errors, runs × numbers of features."""
        found = self._of(case, width, method)
        if not found:
            return None
        if method == "KKNN":
            return np.repeat([[r["KKNN"]] for r in found], len(self.grid), axis=1)
        return np.array([r["methods"][method]["curve"] for r in found])

    def available(self, case, width, method):
        """Return how many features all runs have."""
        return min(r["methods"][method]["available"] for r in self._of(case, width, method))

    def chosen(self, case, width, method):
        """Return errors a run with the number of features by inner cross-validation."""
        found = self._of(case, width, method)
        if not found:
            return None
        return np.array([r["KKNN"] if method == "KKNN" else r["methods"][method]["chosen"] for r in found])

    def lowest(self, case, width, method):
        """Return errors a run at the number of features with the lowest mean test error."""
        curve = self.curve(case, width, method)
        return None if curve is None else curve[:, curve.mean(axis=0).argmin()]

    def ratio(self, case):
        """Return test rows over training rows; 0 for simulated sets, whose runs share no rows."""
        if case[0] in SIMULATED:
            return 0.0
        return self.settings["test_rows"].get(case[0], TEST[case[0]]) / TRAIN[case[0]]

    def versus(self, case, width, other, features=None):
        """Compare KLFE with another method, at chosen numbers of features or at a given one."""
        if features is None:
            a, b = (self.chosen(case, width, m) for m in ("KLFE", other))
        else:
            a, b = (self.curve(case, width, m) for m in ("KLFE", other))
            if a is not None and b is not None:
                a, b = a[:, self.grid.index(features)], b[:, self.grid.index(features)]
        return None if a is None or b is None else paired(a, b, self.ratio(case))

    def against(self, case, width, method, other, share=1.0, features=None):
        """Compare two methods, the other's error times `share`: 0.5 asks whether the first halves it."""
        if features is None:
            a, b = (self.chosen(case, width, m) for m in (method, other))
        else:
            a, b = (self.curve(case, width, m) for m in (method, other))
            if a is not None and b is not None:
                a, b = a[:, self.grid.index(features)], b[:, self.grid.index(features)]
        return None if a is None or b is None else paired(a, share * b, self.ratio(case))

    def widths_apart(self, case):
        """Compare KLFE with its width by cross-validation to KLFE at σ = 1."""
        a, b = (self.chosen(case, width, "KLFE") for width in ("cv", "one"))
        return None if a is None or b is None else paired(a, b, self.ratio(case))

    def normalisations(self):
        """Return the runs of every set and normalisation."""
        out = {}
        for r in self.results.find("normalisation"):
            out.setdefault((r.settings["name"], r.settings["normalise"]), []).append(r.result)
        return out

    def choices(self):
        """Return the runs of every choice for twin sine, named by what differs from ours."""
        base = {k: self.settings[k] for k in ("columns", "distance", "matrix", "train", "test")}
        letters = {"columns": "I", "distance": "D", "matrix": "R", "train": "N"}
        out = {}
        for r in self.results.find("choices"):
            other = {k: v for k, v in r.settings["shape"].items() if v != base[k]}
            text = ", ".join(f"{letters[k]} = {v}" for k, v in other.items()) or "as above"
            out.setdefault((r.settings["name"], text), []).append(r.result)
        return out

    def favoured(self, found):
        """Return KLFE's lowest mean error for I' ≥ 10 over all L, those of the four, and KLFE's relative gain."""
        late = [i for i, q in enumerate(self.grid) if q >= 10]
        klfe = np.mean([r["KLFE"] for r in found], axis=0)[:, late].min()
        others = {m: float(np.mean([np.array(r[m])[late] for r in found], axis=0).min()) for m in FOUR[:3]}
        others["KKNN"] = float(np.mean([r["KKNN"] for r in found]))
        return float(klfe), others, 1 - float(klfe) / min(others.values())

    def times(self):
        """Return seconds by number of rows."""
        return {r.settings["n"]: r.result for r in self.results.find("times")}
