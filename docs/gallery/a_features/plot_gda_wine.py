"""
Three wines in two features
===========================

GDA is linear discriminant analysis in a kernel's space: class means far apart, compared with how much the rows
scatter. Of the 13 measurements of three wines it makes two features, one less than there are classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import GDA, plot

X, y = load_wine(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.5, random_state=0)

model = make_pipeline(StandardScaler(), GDA()).fit(X_train, y_train)
print("features:", model.transform(X_test).shape)

# %%
# Nothing was chosen by hand: the width γ and the size of the basis come from left-out training rows.

gda = model[-1]
print(f"γ = {gda.basis_.gamma_:.4f}, {gda.basis_.n_components_} components, {gda.n_support_} kernel values per row")

# %%
# A nearest neighbour on the two features, and on the 13 scaled columns:

for name, features in [("GDA, 2 features", model), ("13 columns", make_pipeline(StandardScaler()).fit(X_train))]:
    knn = KNeighborsClassifier(1).fit(features.transform(X_train), y_train)
    print(f"{name:16} {knn.score(features.transform(X_test), y_test):.1%} of {len(y_test)} test wines are right")

# %%
# The test wines by the two features:

plot.features(model, X_test, y_test)
plt.show()

# %%
# Which measurements do the features depend on? Shares of the mean squared slopes along each input, over the test wines:

plot.importance(model, X_test, top=8)
plt.show()
