"""
Ringnorm: twenty coordinates instead of five hundred
====================================================

Two classes around almost the same centre, one wider than the other: in the columns a row of the wide class often has
its nearest neighbour in the narrow one. K-Relief computes kernel principal components and keeps the twenty in which
near rows of different classes differ most.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mercer import GDA, KernelBasis, KRelief


def ringnorm(n, seed):
    """Draw two normal classes in 20 columns: deviation 2 at 0, and deviation 1 at 2/√20 (Breiman)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 20)) * np.where(y, 1, 2)[:, None] + y[:, None] * 2 / np.sqrt(20), y


X, y = ringnorm(500, seed=0)
X_test, y_test = ringnorm(1000, seed=1)

table = [("the columns", None), ("KPCA basis", KernelBasis("kpca")), ("K-Relief", KRelief(20)), ("GDA", GDA())]
scores = []
for name, features in table:
    if features is None:
        Z, Z_test = X, X_test
    else:
        Z, Z_test = features.fit(X, y).transform(X), features.transform(X_test)
    scores.append(KNeighborsClassifier(1).fit(Z, y).score(Z_test, y_test))
    print(f"{name:12} {Z.shape[1]:3} features  1-NN {scores[-1]:.1%}")

# %%
# Left: accuracy of the nearest neighbour on 1 000 new rows. Right: Relief's score of every component; those in colour
# are kept.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1, 1.3))
left.barh([name for name, _ in table][::-1], [100 * s for s in scores][::-1], color=["C2", "C0", "0.6", "0.6"])
left.set(xlabel="accuracy in %", xlim=(0, 100))

krelief = table[2][1]
kept = krelief.get_support()
order = np.arange(len(kept))
right.vlines(order[~kept], 0, krelief.scores_[~kept], color="0.7", lw=1)
right.vlines(order[kept], 0, krelief.scores_[kept], color="C0", lw=2)
right.set(xlabel="kernel principal component", ylabel="Relief's score")
plt.show()
