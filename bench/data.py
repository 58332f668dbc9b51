"""The labelled data sets of ../shared/data (see MANIFEST.csv there), and how the benchmarks split them."""

import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"

# The six of TAKES' Table 2.
TAKES = ["australian", "pima", "heart_statlog", "ionosphere", "sonar", "new_thyroid"]

# Classes, dense columns, at most 20 000 rows.
DENSE = [
    *TAKES,
    "ringnorm",
    "usps",
    "letter",
    "magic",
    "brain_tumor1",
    "brain_tumor2",
    "9_tumors",
    "leukemia1",
    "leukemia2",
    "prostate_tumor",
    "dlbcl",
]

# From here on one split has test rows enough.
MANY = 5_000


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes of a set."""
    import pandas as pd

    files = [FOLDER / f"{name}.csv", FOLDER / f"{name}.csv.gz"]
    found = next((file for file in files if file.exists()), None)
    if found is None:
        sys.exit(f"{files[0]} is not there; this benchmark needs the papers' data sets beside the project")
    frame = pd.read_csv(found)
    y = frame.pop("target").to_numpy()
    return frame.to_numpy(np.float64), y.astype(str)


def splits(y: np.ndarray) -> list:
    """Five stratified folds, or one split with a quarter for testing where there are many rows."""
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

    rows = np.zeros((len(y), 1))
    if len(y) > MANY:
        return list(StratifiedShuffleSplit(1, test_size=0.25, random_state=0).split(rows, y))
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(rows, y))
