"""Draw the README's picture, docs/figures/ringnorm.svg and ringnorm-dark.svg: `python docs/figures/ringnorm.py`."""

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
views = [("20 columns, two of them shown", X, X_new), ("2 features of KPLS", kpls.transform(X), kpls.transform(X_new))]
# Each theme: the end of the file's name, the colour of text and lines, and those of the classes.
THEMES = [("", "#1F2328", ("#0072B2", "#CB5500")), ("-dark", "#E4E7EB", ("#56B4E9", "#E69F00"))]
for ending, ink, colours in THEMES:
    plt.rcParams.update(dict.fromkeys(["text.color", "axes.edgecolor", "axes.titlecolor"], ink))
    figure, panels = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    for panel, (name, train, test) in zip(panels, views, strict=True):
        score = KNeighborsClassifier(1).fit(train, y).score(test, y_new)
        for c, marker, colour in zip((0, 1), "o^", colours, strict=True):
            panel.plot(*test[:200][y_new[:200] == c, :2].T, marker, ms=3, color=colour)
        panel.set(title=f"{name}\nnearest neighbour: {score:.0%} of 1 000 new rows right", xticks=[], yticks=[])
        panel.title.set_fontsize(9)
    figure.savefig(Path(__file__).with_name(f"ringnorm{ending}.svg"), transparent=True, metadata={"Date": None})
