"""
More rows than memory
=====================

Rows may arrive in batches, from a file or a generator, and need not fit into memory: `read_rows` writes them once to
a temporary file, which is paged in as needed. The example has 100 000 rows so that it runs in seconds; with a million
it is the same code (:doc:`measured </performance>`: 10 s and 3.9 GB for KLFE on 10⁶ rows with 500 landmarks).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier

import mercer
from mercer import GDA, KernelBasis


def batches(n, seed):
    """Yield batches of 10 000 rows; the class says whether two columns of five have the same sign."""
    for k in range(n // 10_000):
        rng = np.random.default_rng([seed, k])
        X = rng.normal(size=(10_000, 5))
        yield X, X[:, 0] * X[:, 1] > 0


X, y = mercer.read_rows(batches(100_000, seed=0))
X_test, y_test = mercer.read_rows(batches(20_000, seed=1))
print(type(X).__name__, X.shape, f"{X.nbytes / 1e6:.1f} MB in a file, not in memory")

# %%
# Landmarks are chosen on all rows; a basis of m landmarks costs n·m² operations and, where memory is short, no n×m
# matrix (`MERCER_MEMORY=2GB` sets the budget). How many landmarks are enough?

sizes, scores = [25, 50, 100, 200], []
for m in sizes:
    features = GDA(basis=KernelBasis("rpcholesky", n_components=m, gamma=0.2, random_state=0)).fit(X, y)
    classifier = RidgeClassifier().fit(features.transform(X), y)
    scores.append(classifier.score(features.transform(X_test), y_test))
    print(f"{m:3} landmarks: {scores[-1]:.1%} of 20 000 test rows are right")
print(f"the larger class has {max(y_test.mean(), 1 - y_test.mean()):.1%} of the rows")

# %%
# One feature of GDA, at every number of landmarks:

figure, axes = plt.subplots(figsize=(6, 3.2))
axes.semilogx(sizes, [100 * s for s in scores], "o-")
axes.set_xticks(sizes, sizes)
axes.minorticks_off()
axes.set(xlabel="landmarks", ylabel="accuracy of the test rows in %")
plt.show()
