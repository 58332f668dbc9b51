"""
One table of all methods: `mercer.compare`
==========================================

Every method on the same folds, with baselines, best first. Scaling, width, basis and features are learned inside the
training part of each fold.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import mercer

digits = load_digits()
X, y = digits.data[:500], digits.target[:500]
frame = mercer.compare(X, y, methods=["klfe", "gda", "kpls", "takes"], n_features=[None, 2, 5, 9, 20])
columns = ["method", "evaluator", "n_features", "mean", "standard_error", "kernel_values"]
print(frame[columns].drop_duplicates().head(12).round(3).to_string(index=False))

# %%
# The best of many candidates looks better than it is. What it recommends is the fewest features within a standard error
# of the best, and it says what the best would reach with shuffled labels.

row = frame.loc[frame.attrs["recommended"]]
print(f"recommended: {row['method']} with {row['n_features']:.0f} features by {row['evaluator']}, {row['mean']:.1%}")
print(
    f"best with shuffled labels: {frame.attrs['chance']['score']:.1%}, p-value {frame.attrs['chance']['p_value']:.3f}"
)

# %%
# The same frame as a picture: accuracy of test rows by the number of features.

mercer.plot.path(frame[frame["evaluator"] == "ridge"])
plt.show()
