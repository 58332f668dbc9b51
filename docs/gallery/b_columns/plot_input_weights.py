"""
Input weights: a kernel that learns which columns to look at
============================================================

An rbf kernel treats all columns alike, so columns of noise drown the few that matter. Input weights stretch the
columns along which kernel predictions change and shrink the others. They are kept only if left-out rows are predicted
better.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

import mercer

X, y = make_friedman1(800, n_features=15, noise=0.5, random_state=0)
train, test = slice(0, 400), slice(400, None)

for use in (False, True):
    model = mercer.AutoRegressor(input_weights=use).fit(X[train], y[train])
    print(f"{'with' if use else 'without'} input weights: R² = {model.score(X[test], y[test]):.3f} on test rows")

# %%
# The first five of fifteen columns are in the formula, 10 sin(π x0 x1) + 20 (x2 − ½)² + 10 x3 + 5 x4; the others are
# noise.

weights = mercer.InputWeights(n_features=5).fit(X[train], y[train])
print("the five largest weights:", np.sort(weights.get_support(indices=True)))

figure, axes = plt.subplots(figsize=(6.4, 3.2))
axes.bar(range(15), weights.weights_, color=["C0"] * 5 + ["0.7"] * 10)
axes.set(xlabel="column (0 to 4 are in the formula)", ylabel="weight", xticks=range(15))
plt.show()

# %%
# The same as a selector of raw columns, for any model; and `KernelBasis(input_weights=True)` uses the weights inside
# any extractor or system.

print(weights.transform(X[:1]).shape)
