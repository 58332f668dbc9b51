"""
Pre-images: cleaning noisy digits
=================================

A feature map can be used backwards. `inverse_transform` finds the picture whose image in the kernel's space is
nearest to what the features say. The components keep what digits have in common, so a noisy digit comes back cleaner.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import KPCA

# Pixels have one scale; those at the rim are white.
warnings.filterwarnings("ignore", message="columns differ in scale")

X = load_digits().data / 16
clean, train = X[:200], X[300:1100]
noisy = clean + np.random.default_rng(0).normal(scale=0.3, size=clean.shape)


def cleaned(extractor):
    """Return the noisy digits after a way to the features and back."""
    return extractor.fit(train).inverse_transform(extractor.transform(noisy))


def error(pictures):
    """Return the mean squared difference from the clean digits."""
    return ((pictures - clean) ** 2).mean()


sizes = [5, 10, 20, 40, 60]
curves = {
    "PCA": [error(cleaned(PCA(q))) for q in sizes],
    "kernel PCA": [error(cleaned(KPCA(q, gamma=0.05))) for q in sizes],
}
print(f"noisy: {error(noisy):.4f}")
for name, errors in curves.items():
    best = int(np.argmin(errors))
    print(f"{name}: {errors[best]:.4f} at best, with {sizes[best]} components")

# %%
# The error of 200 digits that were not learned from, each method with the number of components that suits it best. PCA
# has to stop early, because each further component brings noise back.

figure, axes = plt.subplots(figsize=(6, 3.2))
for (name, errors), marker in zip(curves.items(), "so", strict=True):
    axes.plot(sizes, errors, marker + "-", label=name)
axes.axhline(error(noisy), color="0.4", ls="--", label="noisy digits as they are")
axes.set(xlabel="components", ylabel="mean squared error", ylim=(0, None))
axes.legend(loc="center right")
plt.show()

# %%
# The first eight of them, each method at its best:

rows = {"clean": clean, "noisy": noisy, "PCA": cleaned(PCA(10)), "kernel PCA": cleaned(KPCA(40, gamma=0.05))}
figure, panels = plt.subplots(4, 8, figsize=(8, 4.2))
for line, (name, pictures) in zip(panels, rows.items(), strict=True):
    for panel, picture in zip(line, pictures, strict=False):
        panel.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        panel.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
