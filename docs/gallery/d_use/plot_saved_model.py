"""
A model for the shell
=====================

A fitted pipeline is saved as one file, with scaling, landmarks and the names of the columns. The command line program
reads it without Python. The features are the same.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

X, y = load_iris(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), mercer.GDA()).fit(X[::2], y[::2])

folder = Path(tempfile.mkdtemp())
mercer.save(model, folder / "iris.mercer")
X[1::2].to_csv(folder / "new.csv", index=False)
print(f"{(folder / 'iris.mercer').stat().st_size / 1000:.1f} kB")

# %%
# In the shell, ``mercer inspect`` shows what is in the file, and ``mercer transform`` applies it to a table:


def shell(command):
    """Run a command as a shell does, and show both."""
    print("$ " + command)
    print(subprocess.run(command.split(), cwd=folder, check=True, capture_output=True, text=True).stdout)


if shutil.which("mercer"):
    shell("mercer inspect iris.mercer")
    shell("mercer transform iris.mercer new.csv -o features.csv")
    features = pd.read_csv(folder / "features.csv")
    print("largest difference from Python:", np.abs(features - model.transform(X[1::2])).to_numpy().max())
else:
    print("the program `mercer` is not on the path: cargo install --path crates/mercer-cli")
    features = pd.DataFrame(model.transform(X[1::2]))

# %%
# The 75 flowers that were not learned from, by the features:

figure, axes = plt.subplots(figsize=(5.4, 3.8))
for c, marker in enumerate("os^"):
    axes.plot(*features[(y[1::2] == c).to_numpy()].to_numpy().T, marker, ms=5, label=load_iris().target_names[c])
axes.set(xlabel=features.columns[0], ylabel=features.columns[1])
axes.legend()
plt.show()
shutil.rmtree(folder)
