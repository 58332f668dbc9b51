"""The labelled data sets that the benchmarks run on, and how they are split."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from datasets import DENSE, TAKES, load

__all__ = ["DENSE", "TAKES", "load", "splits"]

# From here on one split has test rows enough.
MANY = 5_000


def splits(y: np.ndarray) -> list:
    """Five stratified folds, or one split with a quarter for testing where there are many rows."""
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

    rows = np.zeros((len(y), 1))
    if len(y) > MANY:
        return list(StratifiedShuffleSplit(1, test_size=0.25, random_state=0).split(rows, y))
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(rows, y))
