"""Rows in partitions: who brings the coordinator's questions to them.

A fit asks the same question of every partition, and what it asks next depends on the answers. `_core.answer` is a pure
function of a partition's rows, its state and a question, so an engine may call it anywhere, and again. An engine has
`n_partitions` and four methods, which `_core.fit_partitions` calls in this order, `cancel` only after Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer import _core
from mercer._input import as_array, as_given, as_rows, as_target

if TYPE_CHECKING:
    from mercer._core import Answer, Question, Rows, State, Target

# A partition as `_core` takes it.
Part = tuple["Rows | NDArray[np.float32]", "Target | None"]


# What a fit asks first; what partitions keep from an earlier one must be gone by then.
FIRST_QUESTION = "look"


class Partitions:
    """What is known of rows in partitions, and an engine that asks them; an estimator's `fit` takes it for rows."""

    is_partitioned = True
    n_partitions: int
    names: list[Any] | None  # of the columns, if they have names
    n_features: int
    has_target: bool
    kept: int = 0  # bytes that all partitions together may keep from pass to pass
    basis_rows: int | None = None
    weights: list[float] | None = None  # of the columns
    ridge_rows: int | None = None  # rows that decide on the one number that features are multiplied by

    @property
    def shape(self) -> tuple[int | None, int]:
        """Rows, whose number is not known yet, and columns."""
        return None, self.n_features

    def start(self, question: Question, first: Sequence[int], merged: bool) -> None:
        """Begin to ask every partition; `first` has the index of each one's first row, or is empty at first.

        A partition's state is what the last question that made one has left, and nothing when a fit begins.
        With `merged` the answers become one: neighbours are merged in pairs, then the results in pairs, and so on.
        """
        raise NotImplementedError

    def wait(self, seconds: float) -> bool:
        """Return whether all have answered; wait so long at most."""
        raise NotImplementedError

    def answers(self) -> list[Answer]:
        """Return the answers in the order of the partitions, or the merged one."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Stop what was begun."""
        raise NotImplementedError


class InProcess(Partitions):
    """Partitions in this process, one after the other: the plainest engine.

    Parameters
    ----------
    X : sequence of {array-like, sparse matrix} of shape (n_samples_i, n_features)
        The rows of each partition; a partition may be empty.
    y : sequence of array-like of shape (n_samples_i,), default=None
        Their labels.

    Examples
    --------
    >>> from mercer import GDA
    >>> from mercer.evidence import InProcess, fit_partitions
    >>> parts = InProcess([[[0.0], [0.5]], [[4.0], [4.5]]], [["a", "a"], ["b", "b"]])
    >>> fit_partitions(GDA(basis="kobl", gamma=1.0), parts).n_components_
    1
    """

    def __init__(self, X: Sequence[Any], y: Sequence[Any] | None = None) -> None:
        targets = [None] * len(X) if y is None else list(y)
        if len(targets) != len(X):
            raise ValueError(f"X has {len(X)} partitions, but y has {len(targets)}")
        self.parts = [opened(rows, target) for rows, target in zip(X, targets, strict=True)]
        self.states: list[State | None] = [None] * len(X)
        self.n_partitions, self.names, self.has_target = len(X), None, y is not None
        # Empty partitions may have no columns.
        self.n_features = next((rows.shape[1] for rows, _ in self.parts if rows.shape[0] > 0), 0)
        self._answers: list[Answer] = []

    def start(self, question: Question, first: Sequence[int], merged: bool) -> None:
        """Ask one partition after the other."""
        self._answers = []
        if question.name == FIRST_QUESTION:
            self.states = [None] * self.n_partitions
        for number, (rows, target) in enumerate(self.parts):
            start = first[number] if first else None
            state, answer = _core.answer(rows, target, question, self.states[number], number=number, first=start)
            self.states[number] = state if state is not None else self.states[number]
            self._answers.append(answer)
        while merged and len(self._answers) > 1:
            pairs = [self._answers[at : at + 2] for at in range(0, len(self._answers), 2)]
            self._answers = [pair[0].merged(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]

    def wait(self, seconds: float) -> bool:
        """Return that all have answered."""
        return True

    def answers(self) -> list[Answer]:
        """Return the answers."""
        return self._answers

    def cancel(self) -> None:
        """Do nothing: there is nothing to stop."""


def opened(X: Any, y: Any = None) -> Part:
    """Return the rows and labels of one partition as `_core` takes them."""
    rows = X if hasattr(X, "dtype") else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"{rows.ndim} dimensions, but rows have 2")
    if rows.dtype.kind not in "fiub":
        rows = rows.astype(np.float64)
    target = None if y is None else as_target(y) if len(y) else np.empty(0)
    if target is not None and len(target) != rows.shape[0]:
        raise ValueError(
            f"{rows.shape[0]} rows, but {len(target)} labels\nhint: cut X and y into partitions at the same rows"
        )
    return as_given(rows), target


def labelled(part: Part) -> tuple[Rows, Target]:
    """Return a partition's rows in float64 and its labels, which it must have, wherever they have travelled."""
    rows, target = part
    if target is None:
        raise ValueError("the labels are missing\nhint: give them (y)")
    return as_rows(rows), target if isinstance(target, list) else as_array(target)


def fit_partitions(estimator: Any, partitions: Partitions) -> Any:
    """Fit an estimator on rows in partitions.

    Parameters
    ----------
    estimator : estimator
        A `KernelBasis`, an extractor, a system or a selector of this package; it is fitted in place.
    partitions : Partitions
        The rows, with their labels: an `InProcess`, or an engine of your own with the same methods.

    Returns
    -------
    estimator : estimator
        The same, fitted as by `fit` on all rows in one place: the same landmarks, and features that agree to rounding.

    Examples
    --------
    >>> from mercer import KernelBasis
    >>> from mercer.evidence import InProcess, fit_partitions
    >>> fit_partitions(KernelBasis("kobl", gamma=1.0), InProcess([[[0.0], [1.0]], [[5.0]]])).pivots_
    array([0, 2, 1])
    """
    partitions.weights = partitions.ridge_rows = None  # of an earlier fit
    return estimator.fit(partitions)
