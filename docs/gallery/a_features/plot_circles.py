"""
Two rings: what a kernel changes
================================

No straight line separates two rings. PCA only turns the picture, so a line on its components does no better. Kernel
PCA looks at the rows in the space of an rbf kernel, where the rings lie one above the other.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer import KPCA

X, y = make_circles(400, factor=0.3, noise=0.08, random_state=0)
train, test = slice(0, 200), slice(200, None)

# %%
# The same linear model on two features each, scored on the 200 rows that neither has seen:

figure, panels = plt.subplots(1, 3, figsize=(9, 3.2))
for c, marker in enumerate("o^"):
    panels[0].plot(*X[test][y[test] == c].T, marker, ms=4, label=f"class {c}")
panels[0].set(title="the rows", xlabel="column 0", ylabel="column 1")
figure.legend(loc="outside lower center", ncols=2)

for panel, extractor in zip(panels[1:], [PCA(2), KPCA(2, gamma=3.0)], strict=True):
    model = make_pipeline(extractor, LogisticRegression()).fit(X[train], y[train])
    score = model.score(X[test], y[test])
    name = type(extractor).__name__
    print(f"{name:4}  {score:.1%} of the test rows are right")
    features = extractor.transform(X[test])
    for c, marker in enumerate("o^"):
        panel.plot(*features[y[test] == c].T, marker, ms=4)
    panel.set(title=f"{name}: {score:.0%}", xlabel="feature 0", ylabel="feature 1")

# %%
# All three panels show the test rows. PCA leaves the line no better than a guess. In the right panel a straight cut
# separates the rings.
