"""The sets of this experiment: files, those that scikit-learn brings along, and three made to show an effect."""

from __future__ import annotations

from pathlib import Path

import datasets
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

BUNDLED = ("wine", "breast_cancer", "digits", "diabetes")
MADE = ("made_even", "made_rare", "made_outliers")
NUMBERS = ("california_housing", "eunite2001_train", "diabetes")
TEXTS = tuple(datasets.TEXTS)
GENES = tuple(datasets.GENES)


def needs(name: str) -> tuple[str, ...]:
    """Name the file that a set is read from, if it is one."""
    return () if name in BUNDLED + MADE else (name,)


def group(name: str) -> str:
    """Say what kind of set it is, for tables by kind."""
    kinds = {"made": MADE, "text": TEXTS, "genes": GENES, "numbers": NUMBERS}
    return next((kind for kind, names in kinds.items() if name in names), "classes")


def split(name: str, data: Path, seed: int, max_train: int, max_test: int):
    """Return training and test rows and targets: a third for testing, stratified, scaled by the training part."""
    if name in MADE:
        return made(name, seed, max_train, max_test)
    rows, target = _bundled(name) if name in BUNDLED else datasets.load(name, data)
    parts = np.arange(len(target))
    train, test = train_test_split(
        parts, test_size=1 / 3, random_state=seed, stratify=None if name in NUMBERS else target
    )
    train, test = train[:max_train], test[:max_test]
    return (*_scaled(name, rows[train], rows[test]), target[train], target[test])


def _scaled(name: str, train, test):
    if name in TEXTS:
        scale = TfidfTransformer(sublinear_tf=True).fit(train)
        return scale.transform(train), scale.transform(test)
    scale = StandardScaler().fit(train)
    return scale.transform(train), scale.transform(test)


def _bundled(name: str):
    from sklearn import datasets as bundled

    rows, target = getattr(bundled, f"load_{name}")(return_X_y=True)
    return rows, target.astype(float) if name in NUMBERS else target.astype(str)


def made(name: str, seed: int, n_train: int, n_test: int):
    """Draw from four Gaussian clusters, each halved into two classes by a wavy border of its own.

    `made_even`: clusters of equal size. `made_rare`: the fourth has 1 % of the rows, and is a class pair of its own,
    so that balanced accuracy sees it. `made_outliers`: equal clusters, and 1 % of the rows replaced by noise far
    away, each row on its own, with a class at random.
    """
    rng = np.random.default_rng([seed, MADE.index(name)])
    share = [0.33, 0.33, 0.33, 0.01] if name == "made_rare" else [0.25] * 4
    n_train, n_test = min(n_train, 1500), min(n_test, 2000)
    n = n_train + n_test
    centres = 5.0 * np.eye(5)[:4]
    cluster = rng.choice(4, n, p=share)
    offset = rng.normal(size=(n, 5))
    side = offset[:, 4] > np.sin(2 * offset[:, 0] + cluster)
    target = np.where(cluster == 3, 2, 0) + side
    rows = centres[cluster] + offset
    if name == "made_outliers":
        far = rng.random(n) < 0.01
        rows[far] = rng.normal(size=(int(far.sum()), 5)) * 15
        target[far] = rng.integers(0, 4, int(far.sum()))
    scale = StandardScaler().fit(rows[:n_train])
    rows, target = scale.transform(rows), target.astype(str)
    return rows[:n_train], rows[n_train:], target[:n_train], target[n_train:]
