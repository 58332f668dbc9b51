"""The data sets in four groups, and how they are split and scaled."""

from __future__ import annotations

from pathlib import Path

import datasets
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

GROUPS = ("tables", "genes", "texts", "numbers")
TOGETHER = {"eunite2001": ("eunite2001_train", "eunite2001_test")}


def needs(name: str) -> tuple[str, ...]:
    """Name the files of a set."""
    return TOGETHER.get(name, (name,))


def split(name: str, group: str, data: Path, seed: int, max_train: int, max_test: int):
    """Return training and test rows and targets: a third for testing, classes in proportion, scaled by the training."""
    parts = [datasets.load(file, data) for file in needs(name)]
    rows, target = parts[0] if len(parts) == 1 else (np.concatenate(each) for each in zip(*parts, strict=True))
    stratify = None if group == "numbers" else target
    train, test = train_test_split(np.arange(len(target)), test_size=1 / 3, random_state=seed, stratify=stratify)
    train, test = train[:max_train], test[:max_test]
    scale = (TfidfTransformer(sublinear_tf=True) if group == "texts" else StandardScaler()).fit(rows[train])
    return scale.transform(rows[train]), scale.transform(rows[test]), target[train], target[test]
