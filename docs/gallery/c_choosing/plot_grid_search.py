"""
Pipelines and grid search
=========================

mercer's estimators are scikit-learn's: they clone, pickle, stand in pipelines, and their settings are searched by
`GridSearchCV`. Settings of the kernel can be set on the extractor itself, others of its basis as `basis__NAME`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mercer import GDA

X, y = load_digits(n_class=5, return_X_y=True)
X_train, y_train, X_test, y_test = X[:300], y[:300], X[300:], y[300:]

pipeline = Pipeline([("scale", StandardScaler()), ("gda", GDA()), ("ridge", RidgeClassifier())])
grid = {"gda__gamma": [0.0003, 0.001, 0.003, 0.01, 0.03], "gda__basis__n_components": [10, 30, 100]}
search = GridSearchCV(pipeline, grid, cv=5).fit(X_train, y_train)
print("best settings:", search.best_params_)
print(f"accuracy of the folds {search.best_score_:.1%}, of {len(y_test)} test rows {search.score(X_test, y_test):.1%}")

# %%
# The grid, as means over five folds of the training rows:

means = search.cv_results_["mean_test_score"].reshape(3, 5)
figure, axes = plt.subplots(figsize=(6, 3))
picture = axes.imshow(100 * means, cmap="Blues")
for (line, column), value in np.ndenumerate(means):
    axes.text(
        column, line, f"{value:.1%}", ha="center", va="center", color="white" if value > np.median(means) else "black"
    )
axes.set(xticks=range(5), xticklabels=grid["gda__gamma"], xlabel="γ")
axes.set(yticks=range(3), yticklabels=grid["gda__basis__n_components"], ylabel="landmarks")
plt.show()

# %%
# Without a search, γ and the number of landmarks are chosen by left-out rows inside `fit`. On these test rows that does
# as well as the search:

default = Pipeline([("scale", StandardScaler()), ("gda", GDA()), ("ridge", RidgeClassifier())]).fit(X_train, y_train)
print(f"defaults: {default.score(X_test, y_test):.1%} of the test rows, γ = {default['gda'].basis_.gamma_:.4f}")
