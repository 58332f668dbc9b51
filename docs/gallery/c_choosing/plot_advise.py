"""
Does a kernel help at all?
==========================

Often it does not, and a linear model on the columns is the better choice. `advise` finds out by left-out rows, and
gives its reasons.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

import mercer

# %%
# Rings first. The advice is a text for people; `advice.pipeline()` is the pipeline that it recommends.

X, y = make_circles(500, factor=0.6, noise=0.12, random_state=0)
rings = mercer.advise(X, y)
print(rings)

# %%
# Now a label that a plane decides:

rng = np.random.default_rng(0)
A = rng.normal(size=(500, 5))
b = (A @ [1, -1, 0.5, 0, 0] + 0.3 * rng.normal(size=500) > 0).astype(int)
plane = mercer.advise(A, b)
print(plane)

# %%
# Left-out error by γ, for both:

figure, axes = plt.subplots(figsize=(6.4, 3.4))
for (name, advice), marker in zip({"rings": rings, "plane": plane}.items(), "os", strict=True):
    errors = advice.loo_by_gamma
    axes.semilogx(*np.transpose(errors), marker + "-", label=name)
axes.set(xlabel="γ", ylabel="squared error of left-out rows")
axes.legend()
plt.show()
