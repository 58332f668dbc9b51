"""One rule for the verdicts of all pages; it is stated in words in the README of this folder's parent.

A comparison of two methods on one data set is a win, a tie or a loss by the mean difference over the same splits. It is
clear where the corrected paired test rejects at 5 %. A verdict follows from the counts over the sets alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

HOLDS, PARTLY, FAILS, UNTESTED = "holds", "holds partly", "does not hold", "cannot be tested"

# A mean difference of at most this much (one point of accuracy) counts as none in claims of "as good as".
MARGIN = 0.01
# The same for squared errors, traces and other positive measures: five percent.
RELATIVE = 0.05
# The test's own level lets through one wrong "clear" loss in twenty sets.
SETS_PER_LOSS = 20
# Wins that are not clear count as a direction only over so many sets.
FEWEST = 3
# A measured exponent fits a claimed one if it rounds to it.
EXPONENT = 0.5


class Difference(Protocol):
    """A paired difference: its mean, and whether the corrected test calls it clear."""

    @property
    def difference(self) -> float:
        """Mean of a − b."""

    @property
    def clear(self) -> bool:
        """Whether the corrected test rejects."""


@dataclass(frozen=True)
class Counts:
    """Wins and losses of one method against another over data sets, those that are clear, and the mean gain."""

    sets: int
    wins: int
    clear_wins: int
    losses: int
    clear_losses: int
    gain: float = 0.0

    @property
    def ties(self) -> int:
        """Sets on which the means are equal."""
        return self.sets - self.wins - self.losses

    @property
    def other_way(self) -> Counts:
        """The same counts seen from the other method."""
        return Counts(self.sets, self.losses, self.clear_losses, self.wins, self.clear_wins, -self.gain)

    def text(self) -> str:
        """Write wins and losses, the clear ones in brackets."""
        if self.sets == 0:
            return "no runs"
        return (
            f"{self.wins} of {self.sets} won ({self.clear_wins} clear), {self.losses} lost ({self.clear_losses} clear)"
        )


def count(differences: Iterable[Difference], *, low: bool = False) -> Counts:
    """Count wins and losses of a over b; `low` says that the lower value is the better one, as for errors."""
    found = list(differences)
    gains = [-d.difference if low else d.difference for d in found]
    pairs = list(zip(gains, found, strict=True))
    return Counts(
        len(found),
        sum(g > 0 for g in gains),
        sum(g > 0 and d.clear for g, d in pairs),
        sum(g < 0 for g in gains),
        sum(g < 0 and d.clear for g, d in pairs),
        sum(gains) / len(gains) if gains else 0.0,
    )


def total(counts: Iterable[Counts]) -> Counts:
    """Add counts of several comparisons up; the gain is the mean over all."""
    found = list(counts)
    sets = sum(c.sets for c in found)
    return Counts(
        sets,
        sum(c.wins for c in found),
        sum(c.clear_wins for c in found),
        sum(c.losses for c in found),
        sum(c.clear_losses for c in found),
        sum(c.gain * c.sets for c in found) / sets if sets else 0.0,
    )


def needed(sets: int, on: str | int) -> int:
    """Return how many sets a claim is about: "all", "almost all" (all but one), "most" (over half), or a number."""
    if isinstance(on, int):
        return min(on, sets)
    return {"all": sets, "almost all": max(sets - 1, 1), "most": sets // 2 + 1}[on]


def better(counts: Counts, on: str | int = "most") -> str:
    """Judge "A is better than B" on so many sets.

    Holds: A wins on as many sets as the claim says, clearly on at least one, and loses clearly on none (from 20 sets
    on: on no more than one in twenty). Partly: A wins on three quarters of at least three sets and does not lose
    clearly on more than it clearly wins; or A has more wins than losses and more clear wins than clear losses. Else it
    does not hold: on one or two sets a win that is not clear shows nothing.
    """
    if counts.sets == 0:
        return UNTESTED
    allowed = counts.sets // SETS_PER_LOSS
    if counts.wins >= needed(counts.sets, on) and counts.clear_wins and counts.clear_losses <= allowed:
        return HOLDS
    many = counts.sets >= FEWEST and 4 * counts.wins >= 3 * counts.sets
    direction = many and counts.clear_wins >= counts.clear_losses
    evidence = counts.wins > counts.losses and counts.clear_wins > counts.clear_losses
    return PARTLY if direction or evidence else FAILS


def as_good(counts: Counts, margin: float = MARGIN) -> str:
    """Judge "A is as good as B" (or competitive with it).

    Holds: A loses clearly on no set (from 20 sets on: on no more than one in twenty), and its mean over the sets is at
    most a point worse. Partly: one of the two, with clear losses on at most a third of the sets. Else it does not hold.
    """
    if counts.sets == 0:
        return UNTESTED
    spotless, near = counts.clear_losses <= counts.sets // SETS_PER_LOSS, counts.gain >= -margin
    if spotless and near:
        return HOLDS
    return PARTLY if (spotless or near) and 3 * counts.clear_losses <= counts.sets else FAILS


def similar(counts: Counts, margin: float = MARGIN) -> str:
    """Judge "A and B do not differ": each is as good as the other; the worse of the two verdicts."""
    return worst([as_good(counts, margin), as_good(counts.other_way, margin)])


def joined(verdicts: Sequence[str]) -> str:
    """Judge a claim that can be read in several ways (scalings, widths, measures), from the verdict of each reading.

    Holds if it holds in every reading; partly if it holds, or holds partly, in at least half of them; else not.
    """
    told = [v for v in verdicts if v != UNTESTED]
    if not told:
        return UNTESTED
    if all(v == HOLDS for v in told):
        return HOLDS
    return PARTLY if 2 * sum(v != FAILS for v in told) >= len(told) else FAILS


def worst(verdicts: Sequence[str]) -> str:
    """Judge a sentence that claims several things at once: the least favourable verdict."""
    return max(verdicts, key=(HOLDS, PARTLY, FAILS, UNTESTED).index)


def most(verdicts: Sequence[str]) -> str:
    """Judge "on one of the sets": the most favourable verdict."""
    return min(verdicts, key=(HOLDS, PARTLY, FAILS, UNTESTED).index, default=UNTESTED)


def fact(good: int, of: int, on: str | int = "all") -> str:
    """Judge what is counted without noise (theorems, sizes, times): so many of so many cases are as claimed.

    Holds: as many as the claim says; partly: at least half of those; else it does not hold.
    """
    if of == 0:
        return UNTESTED
    wanted = needed(of, on)
    return HOLDS if good >= wanted else PARTLY if good and 2 * good >= wanted else FAILS


def identity(deviation: float, tolerance: float) -> str:
    """Judge an equation: it holds if it is met to rounding, and there is nothing in between."""
    return HOLDS if deviation <= tolerance else FAILS


def grows(exponents: Iterable[float], claimed: float, *, at_most: bool = False, at_least: bool = False) -> str:
    """Judge "the cost grows as N^claimed": each exponent rounds to the claimed one, or to no larger or smaller one."""
    found = list(exponents)
    good = [(at_least or e <= claimed + EXPONENT) and (at_most or e >= claimed - EXPONENT) for e in found]
    return fact(sum(good), len(good))


def trend(correlation: float, p: float) -> str:
    """Judge "the one grows with the other" over sets: a positive correlation with p < 5 %, and nothing in between."""
    if p != p:
        return UNTESTED
    return HOLDS if correlation > 0 and p < 0.05 else FAILS


def cheaper(ratios: Iterable[float], factor: float = 1.0) -> str:
    """Judge "A is (so many times) cheaper than the others": each of their costs over A's is above the factor."""
    found = list(ratios)
    return fact(sum(r > factor for r in found), len(found))
