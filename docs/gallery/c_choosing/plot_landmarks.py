"""
Landmarks: chosen rows beside random ones
=========================================

A basis represents the kernel by a few landmarks. scikit-learn's `Nystroem` draws them at random. `kobl` takes the row
farthest from the span so far, `rpcholesky` draws rows by their distance from it, `kfa` takes the best of a few,
`kmeans` uses centres of clusters. How much of the kernel is left, on rows that were not seen?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.kernel_approximation import Nystroem

from mercer import KernelBasis

# Clusters of very different sizes: random landmarks miss the small ones.
sizes = [3000, 1000, 300, 100, 30, 30, 30, 30]
X, _ = make_blobs(sizes, n_features=5, center_box=(-10, 10), cluster_std=1.0, random_state=0)
rng = np.random.default_rng(0)
X = X[rng.permutation(len(X))]
train, test = X[: len(X) // 2], X[len(X) // 2 :]
gamma = 0.005


def left(features):
    """Return the mean and the largest share of k(x, x) = 1 that the features of the test rows leave out."""
    rest = 1 - (features**2).sum(axis=1)
    return rest.mean(), rest.max()


counts = [10, 20, 40, 80, 160]
curves = {"Nystroem (scikit-learn)": []}
for m in counts:
    draws = [
        left(Nystroem(gamma=gamma, n_components=m, random_state=seed).fit(train).transform(test)) for seed in range(5)
    ]
    curves["Nystroem (scikit-learn)"].append(np.mean(draws, axis=0))
for method in ("kobl", "rpcholesky", "kfa", "kmeans"):
    rule = {"tol": 0} if method == "kobl" else {}  # `kobl` would stop by itself once little is left
    bases = [KernelBasis(method, gamma=gamma, n_components=m, random_state=0, **rule) for m in counts]
    curves[method] = [left(basis.fit(train).transform(test)) for basis in bases]
print(f"with {counts[2]} landmarks      mean left   largest left")
for name, values in curves.items():
    print(f"{name:24} {values[2][0]:8.4f} {values[2][1]:12.4f}")

# %%
# Left: the mean over test rows. Right: the row that is represented worst. Random landmarks are the mean of five draws.
# `kobl` looks after the worst row from the first landmark on, at the price of a higher mean; `rpcholesky` and `kfa`
# have both once there are enough landmarks. Whether that makes a prediction better is another question, which the page
# :doc:`landmarks </papers/landmarks>` answers on 27 data sets.

figure, panels = plt.subplots(1, 2, figsize=(9, 3.8))
for (name, values), marker in zip(curves.items(), "xosD^", strict=True):
    for panel, series in zip(panels, np.transpose(values), strict=True):
        panel.loglog(counts, np.maximum(series, 1e-6), marker + "-", label=name)
panels[0].set(title="mean of the test rows", xlabel="landmarks", ylabel="share of k(x, x) left out")
panels[1].set(title="worst test row", xlabel="landmarks")
for panel in panels:
    panel.set_xticks(counts, counts)
    panel.minorticks_off()
panels[0].legend(fontsize=8)
plt.show()
