"""The labelled data sets that the benchmarks run on, and how they are split."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import datasets
from datasets import DENSE, TAKES

__all__ = ["DENSE", "NUMBERS", "TAKES", "load", "repeated_splits", "splits"]

# Numbers to predict; eunite2001 is its two files together.
NUMBERS = ["eunite2001", "california_housing"]

# From here on one split has test rows enough.
MANY = 5_000


def load(name: str):
    """Return rows and targets."""
    if name != "eunite2001":
        return datasets.load(name)
    parts = [datasets.load(f"eunite2001_{part}") for part in ("train", "test")]
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def splits(y: np.ndarray) -> list:
    """Five stratified folds, or one split with a quarter for testing where there are many rows."""
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

    rows = np.zeros((len(y), 1))
    if len(y) > MANY:
        return list(StratifiedShuffleSplit(1, test_size=0.25, random_state=0).split(rows, y))
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(rows, y))


def repeated_splits(y: np.ndarray, count: int, most: int) -> list:
    """Seeded splits with a quarter for testing, classes in proportion, at most two where there are many rows.

    Training parts are cut to `most` rows.
    """
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    kind = ShuffleSplit if y.dtype.kind == "f" else StratifiedShuffleSplit
    found = kind(min(count, 2) if len(y) > MANY else count, test_size=0.25, random_state=0)
    return [(train[:most], test) for train, test in found.split(np.zeros((len(y), 1)), y)]
