"""
Ten features for a small model
==============================

A model for a small device: ten numbers per row and a linear rule on them. Which ten? Here are ten columns as they are,
ten coordinates of a kernel basis that TAKES selects, and ten features that KLFE and KPLS combine from all
coordinates.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KLFE, KPLS, TAKES, FScore, KernelBasis

X, y = load_breast_cancer(return_X_y=True)

# %%
# Five folds; scaling, kernel width, basis and features are learned from the training part of each. The second scaler is
# for logistic regression, whose penalty depends on the scale of the features.

candidates = {
    "10 columns by F": FScore(10),
    "10 coordinates by TAKES": TAKES(10),
    "10 features by KLFE": KLFE(10),
    "10 features by KPLS": KPLS(10),
    "10 features by KPLS, 50 landmarks": KPLS(10, basis=KernelBasis("kfa", n_components=50)),
}
means, errors, costs = [], [], []
for name, features in candidates.items():
    model = make_pipeline(StandardScaler(), features, StandardScaler(), LogisticRegression())
    scores = cross_val_score(model, X, y, cv=5)
    means.append(100 * scores.mean())
    errors.append(100 * scores.std(ddof=1) / len(scores) ** 0.5)
    costs.append(getattr(model.fit(X, y)[1], "n_support_", 0))
    print(f"{name:34} {means[-1]:.1f} ± {errors[-1]:.1f} %, {costs[-1]:3} kernel values per row")

all_columns = 100 * cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=5).mean()
print(f"{'all 30 columns':34} {all_columns:.1f} %")

# %%
# Mean and standard error of five folds. The dashed line is logistic regression on all 30 columns. KLFE and KPLS, which
# combine all coordinates, come within a point of it; ten columns, and ten coordinates that are kept as they are, are
# three to four points below. A prediction costs one kernel value per landmark: with 50 landmarks KPLS is an eighth as
# expensive and hardly worse.

figure, axes = plt.subplots(figsize=(7, 3))
axes.errorbar(means, range(len(means)), xerr=errors, fmt="o")
axes.axvline(all_columns, color="0.4", ls="--", lw=1)
axes.set(yticks=range(len(means)), yticklabels=candidates, xlabel="accuracy in %")
axes.invert_yaxis()
plt.show()
