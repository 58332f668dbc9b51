"""Means with their standard errors, and differences between two methods on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Summary:
    """A mean over runs, the runs' standard deviation, and the mean's standard error."""

    mean: float
    sd: float
    se: float
    n: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return Student's confidence interval of the mean."""
        if self.n < 2:
            return (float("nan"), float("nan"))
        half = stats.t.ppf((1 + level) / 2, self.n - 1) * self.se
        return (self.mean - half, self.mean + half)

    def text(self, digits: int = 1, scale: float = 100, spread: str = "se") -> str:
        """Write `12.3 ± 0.4`, by default in percent and with the standard error."""
        value = f"{scale * self.mean:.{digits}f}"
        return value if self.n < 2 else f"{value} ± {scale * getattr(self, spread):.{digits}f}"


def summary(values: Sequence[float]) -> Summary:
    """Summarise one number a run."""
    x = np.asarray(values, dtype=float)
    sd = float(x.std(ddof=1)) if len(x) > 1 else float("nan")
    return Summary(float(x.mean()), sd, sd / len(x) ** 0.5, len(x))


@dataclass(frozen=True)
class Paired:
    """The mean of a − b over the same runs, with two tests of it being zero.

    `p` is Student's paired test, which the papers use and which takes the runs for independent. They share training
    rows, so it finds differences where there are none; `p_corrected` widens the variance by the share of test to
    training rows (Nadeau & Bengio 2003). `needed` is the smallest difference that this test would call clear, with
    differences that vary from run to run as these do.
    """

    difference: float
    se: float
    p: float
    p_corrected: float
    n: int
    needed: float = float("nan")

    @property
    def clear(self) -> bool:
        """Whether the corrected test rejects at 5 %."""
        return self.p_corrected < 0.05


def paired(a: Sequence[float], b: Sequence[float], test_to_train: float) -> Paired:
    """Compare two methods run by run; `test_to_train` is rows for testing over rows for training."""
    d = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    n, mean = len(d), float(d.mean())
    if n < 2:
        return Paired(mean, float("nan"), float("nan"), float("nan"), n)
    variance = float(d.var(ddof=1))

    def p_value(spread: float) -> float:
        if spread == 0:
            return 1.0 if mean == 0 else 0.0
        return float(2 * stats.t.sf(abs(mean) / spread**0.5, n - 1))

    return Paired(
        difference=mean,
        se=(variance / n) ** 0.5,
        p=p_value(variance / n),
        p_corrected=p_value(variance * (1 / n + test_to_train)),
        n=n,
        needed=float(stats.t.ppf(0.975, n - 1) * (variance * (1 / n + test_to_train)) ** 0.5),
    )
