"""The papers' data sets: where they lie and how to read them.

A set is a file of a folder (by default `../shared/data` beside the project, or the one that `tools/download_data.py`
wrote): `NAME.csv` or `NAME.csv.gz` with the target in the last column, or `NAME.npz` with the parts of a CSR matrix.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"

# The six of TAKES' Table 2.
TAKES = ["australian", "pima", "heart_statlog", "ionosphere", "sonar", "new_thyroid"]

# Microarrays and texts of SKFE's tables.
GENES = ["brain_tumor1", "brain_tumor2", "leukemia1", "leukemia2", "prostate_tumor", "dlbcl", "9_tumors"]
TEXTS = ["tr11", "tr23", "tr41", "tr45", "la1", "la2", "hitech"]

# Classes, dense columns, at most 20 000 rows.
DENSE = [*TAKES, "ringnorm", "usps", "letter", "magic", *GENES]


class MissingSetError(FileNotFoundError):
    """A data set that is not in the folder."""


def find(name: str, folder: Path | str = FOLDER) -> Path:
    """Return the file of a set."""
    files = [Path(folder) / f"{name}{ending}" for ending in (".csv", ".csv.gz", ".npz")]
    for file in files:
        if file.exists():
            return file
    raise MissingSetError(
        f"{files[0]} is not there, nor is {files[1].name} or {files[2].name}; "
        f"tools/download_data.py fetches the papers' data sets, --data names the folder that has them"
    )


def load(name: str, folder: Path | str = FOLDER):
    """Return rows (dense, or CSR for texts) and targets: strings for classes, float64 for numbers."""
    return _load(find(name, folder))


def read(file: Path):
    """Return rows and targets of a file, read anew."""
    if file.suffix == ".npz":
        from scipy.sparse import csr_matrix

        parts = np.load(file)
        rows = csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        return rows.astype(np.float64), parts["target"].astype(str)
    import pandas as pd

    frame = pd.read_csv(file)
    target = frame.pop("target")
    numbers = file.name.startswith(("eunite", "california"))
    return frame.to_numpy(np.float64), target.to_numpy(np.float64) if numbers else target.to_numpy().astype(str)


_load = lru_cache(maxsize=4)(read)
