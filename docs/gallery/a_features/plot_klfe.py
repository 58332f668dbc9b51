"""
Local margins: two moons behind eight columns of noise
======================================================

KLFE compares each row with its nearest rows of the own class and of the others, and keeps directions in which the
others are farther away. It needs no class means, so classes may be bent or in pieces.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mercer import KLFE, plot

rng = np.random.default_rng(0)
moons, y = make_moons(600, noise=0.15, random_state=0)
X = np.column_stack([moons, rng.normal(scale=0.5, size=(600, 8))])
train, test = slice(0, 300), slice(300, None)

knn = KNeighborsClassifier(5).fit(X[train], y[train])
print(f"nearest neighbours on the ten columns: {knn.score(X[test], y[test]):.1%}")

for q in (1, 2, 3, 5, 10, 20):
    model = make_pipeline(KLFE(q), KNeighborsClassifier(5)).fit(X[train], y[train])
    print(f"on {q:2} feature{'s' * (q > 1)} of KLFE: {model.score(X[test], y[test]):.1%}")

# %%
# One or two features are too few, three are enough, and with more of them noise comes back in. How many to keep is a
# setting like any other: choose it by folds of the training rows, not by test rows as this list does.
#
# The 300 test rows by each pair of the first three features:

klfe = KLFE(3).fit(X[train], y[train])
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2))
plot.features(klfe, X[test], y[test], which=[0, 1, 2], ax=panels)
plt.show()
