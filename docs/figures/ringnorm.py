"""Draw docs/figures/ringnorm.svg, the picture of the README: `python docs/figures/ringnorm.py`."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mercer import KPLS


def ringnorm(n, seed):
    """Draw two normal classes in 20 columns: deviation 2 at 0, and deviation 1 at 2/√20 (Breiman)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 20)) * np.where(y, 1, 2)[:, None] + y[:, None] * 2 / np.sqrt(20), y


X, y = ringnorm(500, seed=0)
X_new, y_new = ringnorm(1000, seed=1)
kpls = KPLS(2).fit(X, y)

plt.rcParams.update(
    {
        "font.size": 9,
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "svg.hashsalt": "mercer",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)
figure, panels = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
views = [("20 columns, two of them shown", X, X_new), ("2 features of KPLS", kpls.transform(X), kpls.transform(X_new))]
for panel, (name, train, test) in zip(panels, views, strict=True):
    score = KNeighborsClassifier(1).fit(train, y).score(test, y_new)
    for c, marker, colour in ((0, "o", "#0072B2"), (1, "^", "#E69F00")):
        panel.plot(*test[:200][y_new[:200] == c, :2].T, marker, ms=3, color=colour)
    panel.set(title=f"{name}\nnearest neighbour: {score:.0%} of 1 000 new rows right", xticks=[], yticks=[])
    panel.title.set_fontsize(9)
plt.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
