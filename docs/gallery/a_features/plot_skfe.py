"""
Alignment: turning a subspace towards the labels
================================================

SKFE starts from the class centroids and turns the subspace until its kernel is best aligned with the labels. The
alignment of two kernels is the cosine between them as matrices: 1 means that rows are near exactly if their labels
agree.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mercer import KOC, SKFE

X, y = load_digits(n_class=6, return_X_y=True)
X = StandardScaler().fit_transform(X)
train, test = slice(0, 500), slice(500, None)

# %%
# After 0 to 50 steps; 0 steps are the centroids themselves (KOC). SKFE warns where it is stopped early, which is the
# point here.

warnings.simplefilter("ignore", ConvergenceWarning)
alignments, scores, steps = [], [], [0, 2, 5, 10, 20, 50]
for n in steps:
    skfe = KOC() if n == 0 else SKFE(max_iter=n)
    skfe.fit(X[train], y[train])
    knn = KNeighborsClassifier(1).fit(skfe.transform(X[train]), y[train])
    scores.append(knn.score(skfe.transform(X[test]), y[test]))
    if n:
        alignments.append(skfe.alignment_)
    shown = f"alignment {skfe.alignment_:.3f}, " if n else ""
    print(f"{n:2} steps: {shown}1-NN {scores[-1]:.1%}")

# %%
# Six features for six digits. The alignment of the 500 training rows rises with every step. The accuracy on the other
# rows hardly moves at first, and gains two points in the end.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
left.plot(steps[1:], alignments, "o-")
left.set(xlabel="steps", ylabel="alignment of the training rows")
right.plot(steps, [100 * s for s in scores], "o-", color="C2")
right.set(xlabel="steps", ylabel="1-NN accuracy of the test rows in %")
plt.show()
