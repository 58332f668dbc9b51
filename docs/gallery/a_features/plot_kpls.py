"""
A number to predict: straight lines on curved features
======================================================

KPLS finds the directions of the kernel's space with the largest covariance with the target, so it works for numbers
as well as for classes. The target here is the impedance of a circuit, a curved function of four columns (Friedman's
second). Linear regression on the columns cannot follow it. On a few features of KPLS it can.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman2
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KPLS

X, y = make_friedman2(600, noise=20, random_state=0)
train, test = slice(0, 300), slice(300, None)

linear = make_pipeline(StandardScaler(), LinearRegression()).fit(X[train], y[train])
print(f"on the four columns:     R² = {linear.score(X[test], y[test]):.3f}")

models = {q: make_pipeline(StandardScaler(), KPLS(q), LinearRegression()).fit(X[train], y[train]) for q in range(1, 9)}
scores = {q: model.score(X[test], y[test]) for q, model in models.items()}
for q, score in scores.items():
    print(f"on {q} features of KPLS: R² = {score:.3f}")

# %%
# The first features repeat what a line can do; from the fourth on the curve is caught. Left: 300 test rows by linear
# regression on the columns. Right: the same rows from six features.

figure, panels = plt.subplots(1, 2, figsize=(8, 3.8), sharex=True, sharey=True)
for panel, (name, model) in zip(
    panels, {"four columns": linear, "six features of KPLS": models[6]}.items(), strict=True
):
    panel.plot(y[test], model.predict(X[test]), "o", ms=3, alpha=0.6)
    panel.plot([0, 1700], [0, 1700], color="0.4", lw=1)
    panel.set(title=f"{name}: R² = {model.score(X[test], y[test]):.3f}", xlabel="true impedance")
panels[0].set_ylabel("predicted impedance")
plt.show()
