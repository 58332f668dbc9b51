"""
Exclusive or: columns that matter only together
===============================================

The label says whether two columns have the same sign. Each of the two alone says nothing about it, so a test of one
column at a time, such as F, cannot find them. Relief compares near rows, which agree in all columns at once, and
finds both.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import FScore, MutualInfo, ReliefF

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 30))
y = X[:, 3] * X[:, 7] > 0

selectors = {"F": FScore(2), "mutual information": MutualInfo(2), "ReliefF": ReliefF(2)}
for name, selector in selectors.items():
    chosen = selector.fit(X, y).get_support(indices=True)
    print(f"{name:18} chooses columns {chosen}")

# %%
# ReliefF has p-values, too: how often columns of noise would score as high.

relieff = selectors["ReliefF"]
print("p-values of columns 3 and 7:", relieff.pvalues_[[3, 7]])
print("smallest p-value of the others:", np.delete(relieff.pvalues_, [3, 7]).min().round(3))

# %%
# Scores of all 30 columns; 3 and 7 in colour.

figure, panels = plt.subplots(3, 1, figsize=(6.4, 5), sharex=True)
for panel, (name, selector) in zip(panels, selectors.items(), strict=True):
    colours = ["C5" if j in (3, 7) else "0.7" for j in range(30)]
    panel.bar(range(30), selector.scores_, color=colours)
    panel.set_title(name, loc="left", fontsize=10)
panels[-1].set(xlabel="column", xticks=[0, 3, 7, 15, 29])
plt.show()
