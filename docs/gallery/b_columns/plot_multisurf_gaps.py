"""
Gaps and categories: MultiSURF takes them as they are
=====================================================

A table of patients has numbers, categories and gaps. Distances of the Relief family skip what is missing in either of
two rows and compare categories as equal or not, so nothing has to be filled in or coded first.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import MultiSURF

rng = np.random.default_rng(0)
n = 500
names = ["age", "dose", "blood type", "ward", *(f"lab {j}" for j in range(1, 9))]
X = rng.normal(size=(n, len(names)))
X[:, 2] = rng.integers(4, size=n)  # blood type: four values without an order
X[:, 3] = rng.integers(6, size=n)  # ward: six values, which do not matter
y = (X[:, 1] > 0) ^ np.isin(X[:, 2], [1, 2])  # the dose helps in two blood types and harms in the others

# %%
# The rule is an interaction of a number with a category. Now take a growing share of all cells away, at random:

shares, others, dose, blood = [0, 0.1, 0.2, 0.3, 0.4, 0.5], [], [], []
for share in shares:
    gaps = X.copy()
    gaps[rng.random(X.shape) < share] = np.nan
    selector = MultiSURF(n_features=2, categorical_features=[2, 3]).fit(gaps, y)
    chosen = [names[j] for j in selector.get_support(indices=True)]
    dose.append(selector.scores_[1])
    blood.append(selector.scores_[2])
    others.append(np.delete(selector.scores_, [1, 2]).max())
    print(f"{share:4.0%} missing: the best two are {' and '.join(chosen)}")

# %%
# Scores of the two columns of the rule, and the best of the ten others:

figure, axes = plt.subplots(figsize=(6.4, 3.6))
axes.plot([100 * s for s in shares], dose, "o-", label="dose")
axes.plot([100 * s for s in shares], blood, "s-", label="blood type")
axes.plot([100 * s for s in shares], others, "x--", color="0.4", label="best of the others")
axes.set(xlabel="missing cells in %", ylabel="MultiSURF's score")
axes.legend()
plt.show()
