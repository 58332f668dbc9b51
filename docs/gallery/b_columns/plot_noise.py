"""
Noise: what a careful search says about nothing
===============================================

Fifty rows, two hundred columns, and labels by coin toss. Somebody who tries many columns and keeps the best will find
"good" ones. How do the numbers that mercer reports look then, and how do they look where there is something to find?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import mercer
from mercer import FScore

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 200))
coin = rng.integers(2, size=50)
real = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=50) > 0).astype(int)

# %%
# The wrong way first: choose ten columns with all rows, then cross-validate. The right way chooses inside each fold.

for name, y in {"coin": coin, "real": real}.items():
    chosen = FScore(10).fit_transform(X, y)
    wrong = cross_val_score(KNeighborsClassifier(5), chosen, y, cv=5).mean()
    right = cross_val_score(make_pipeline(FScore(10), KNeighborsClassifier(5)), X, y, cv=5).mean()
    print(f"{name}: {wrong:.0%} if the columns were chosen with all rows, {right:.0%} if inside the folds")

# %%
# Chosen with all rows, even coin tosses seem predictable. Inside the folds they are not, and the real rule loses a part
# of what it seemed to be worth.
#
# A false discovery rate keeps a column only if its p-value survives that there were 200 of them:

for name, y in {"coin": coin, "real": real}.items():
    print(name, "FDR of 5 % keeps columns", FScore(mode="fdr", alpha=0.05).fit(X, y).get_support(indices=True))

# %%
# `compare` also says how the best of its candidates does against shuffled labels. Of a coin toss nothing is left; the
# real columns are found. Each mark is a candidate, a method with a number of features or a baseline.

figure, axes = plt.subplots(figsize=(6.4, 2.6))
for place, (name, y) in enumerate({"coin": coin, "real": real}.items()):
    frame = mercer.compare(X, y, methods=["gda", "kpls"], n_features=[None, 2], evaluators="ridge")
    chance = frame.attrs["chance"]
    best = frame["mean"].max()
    print(f"{name}: the best of all reaches {best:.0%}; p-value against shuffled labels {chance['p_value']:.3f}")
    axes.plot(100 * frame["mean"], [place] * len(frame), "o", color="0.6", ms=5)
    axes.plot(100 * best, place, "D", color="C5", label="the best" if place == 0 else None)
axes.axvline(50, color="0.4", ls="--", lw=1)
axes.set(
    yticks=[0, 1],
    yticklabels=["coin toss", "two real columns"],
    ylim=(-0.5, 1.5),
    xlabel="accuracy by cross-validation in %",
)
axes.legend(loc="upper left")
plt.show()
