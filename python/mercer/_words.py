"""Words that parameters take, as types. A test compares them with the catalogue, which checks them."""

from __future__ import annotations

from typing import Literal

# How landmarks are chosen.
Method = Literal["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]

KernelName = Literal[
    "rbf",
    "laplacian",
    "linear",
    "poly",
    "sigmoid",
    "cosine",
    "matern12",
    "matern32",
    "matern52",
    "rq",
    "chi2",
    "additive_chi2",
    "match",
    "precomputed",
]
# Kernels of differences, whose columns can be weighted.
WeightedKernel = Literal["rbf", "laplacian", "matern12", "matern32", "matern52", "rq"]
GammaRule = Literal["scale", "auto", "median", "align", "loo"]
Gamma = float | GammaRule

Precision = Literal["single", "double"]
Power = Literal[1, 2]
Metric = Literal["euclidean", "manhattan"]
LocalMetric = Literal["kernel", "l1", "l2"]  # of KLFE
Neighbors = Literal["exact", "approx"]
Criterion = Literal["alignment", "margin", "radius-margin"]
Init = Literal["koc", "gda", "kpls", "kpca", "akda-qr", "random"]
Weighted = bool | Literal["sqrt"]
Votes = Literal["uniform", "distance"]
Scale = Literal["standard", "min-max", "unit", "none"]
Missing = Literal["fill", "refuse"]
