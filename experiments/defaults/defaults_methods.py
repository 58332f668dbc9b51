"""Every method with the settings that its default is compared with, and how an estimator is made from them.

A setting is JSON: keywords of the class, with three extensions. "c" and "2c" are the number of classes (1 where the
target is a number) and twice that. `basis` may be a dict of keywords of `KernelBasis`. `gamma` of a
method that has a basis is that of its default basis, whatever that is.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

import mercer
from mercer import KernelBasis, extract, select, systems
from mercer._catalogue import EXTRACTORS, PARAMETERS, SPECS, stage

Setting = dict[str, Any]

# Principal components are a basis and, centred, an extractor: the extractor has a name of its own here.
CENTRED = "kpca-centred"
AUTO = "auto"
TESTS = ("fpr", "fdr", "fwe")

CLASSES = {kind._method: kind for kind in (getattr(select, name) for name in select.__all__)}
for _module in (extract, systems):
    CLASSES |= {getattr(_module, name)._method: getattr(_module, name) for name in _module.__all__}
CLASSES[CENTRED] = CLASSES.pop("kpca")
CLASSES[AUTO] = mercer.AutoFeatures

GAMMAS: list[Setting] = [{"gamma": rule} for rule in ("scale", "median", "loo")]

EXTRACTED: dict[str, list[Setting]] = {
    "klfe": [
        *({"n_neighbors": k} for k in (1, 3, 5, 10)),
        *({"n_components": q} for q in ("c", 10, 20)),
        {"basis": "kobl"},
    ],
    "skfe": [
        *({"max_iter": steps} for steps in (20, 50, 200)),
        {"basis": "gram-schmidt"},
        {"basis": {"method": "kobl", "threshold": "linear"}},
        {"basis": {"method": "kobl", "threshold": "linear"}, "max_iter": 50},
        {"n_components": "2c"},
        {"init": "gda"},
        {"init": "kpls"},
        {"center": True},
    ],
    "gda": [
        *({"reg": reg} for reg in (1e-3, 1e-2, 0.1, 1.0)),
        *({"basis": name} for name in ("gram-schmidt", "kobl")),
        {"basis": {"method": "rpcholesky", "n_components": 1000}},
    ],
    "koc": [{"basis": "kobl"}, {"basis": {"method": "kpca", "center": True}}],
    "akda-qr": [{"reg": reg} for reg in (1e-3, 1e-2, 0.1, 1.0)],
    "kpls": [*({"n_components": q} for q in (2, "c", "2c", 10, 20)), {"basis": "kobl"}],
    "kmfa": [
        *({"reg": reg} for reg in (1e-3, 1e-2, 0.1, 1.0)),
        *({"n_components": q} for q in (5, 10)),
        {"k_within": 1},
        {"k_between": 100},
    ],
    "kanmm": [*({"n_neighbors": k} for k in (1, 5, 10, 20)), *({"n_components": q} for q in ("c", 10, 20))],
    CENTRED: [*({"n_components": q} for q in (10, 20, 50)), {"center": False}],
}
SYSTEMS: dict[str, list[Setting]] = {
    "takes": [
        {"weighted": False},
        {"n_features": None},
        {"n_features": None, "weighted": False},
        *({"n_features": q} for q in (20, "cv")),
        {"reweight": True},
        {"basis": "kpca"},
        {"basis": "gram-schmidt"},
    ],
    "k-relief": [
        *({"basis": name} for name in ("gram-schmidt", "kpca", "kobl")),
        *({"n_features": q} for q in (10, 20, 50, 100, 200, "positive", "cv")),
        *({"basis": "kpca", "n_features": q} for q in (10, 50)),
        {"n_neighbors": 5},
        {"weighted": True},
    ],
    "sk-relief": [
        *({"nu": nu} for nu in (0.1, 0.03, 0.01)),
        *({"n_features": q} for q in (10, 20, 50, 100, 200, "positive", "cv")),
        {"n_neighbors": 5},
        {"weighted": True},
    ],
    "eks": [
        *({"selector": name} for name in ("f", "relief", "relieff", "kffs", "mi", "lasso")),
        *({"n_features": q} for q in (0.33, 2 / 3, 20, None)),
        *({"basis": name} for name in ("kpca", "kobl")),
    ],
    AUTO: [*({"max_components": m} for m in (100, 300)), {"input_weights": False}],
}
SELECTED: dict[str, list[Setting]] = {
    "relief": [*({"n_neighbors": k} for k in (1, 5, 10)), {"power": 2}],
    "relieff": [{"n_neighbors": k} for k in (5, 10, 20)],
    "rrelieff": [{"n_neighbors": k} for k in (10, 70)],
    "irelief": [{"width": 1.0}],
    **{surf: [{"metric": "euclidean"}] for surf in ("surf", "surf-star", "multisurf", "multisurf-star")},
    "kffs": [{"reweight": True}],
    "f": [],
    **{test: [{"alpha": level} for level in (0.01, 0.05, 0.1)] for test in TESTS},
    "mi": [{"n_neighbors": k} for k in (3, 10)],
    "laplacian": [{"n_neighbors": k} for k in (5, 10)],
    "lasso": [{"randomized": True}],
}
BASES: dict[str, list[Setting]] = {
    "gram-schmidt": [{"tol": 1e-3}],
    "kobl": [*({"threshold": f} for f in ("linear", 0.0)), *({"tol": tol} for tol in (0.1, 0.01))],
    "sparse": [*({"nu": nu} for nu in (0.1, 0.01)), *({"tol": tol} for tol in (0.1, 0.01))],
    "kpca": [{"center": True}, {"tol": 0.95}],
    "nystrom": [],
    "rpcholesky": [],
    "csi": [{"tol": tol} for tol in (0.01, 1e-4)],
    "kfa": [],
    "kmeans": [],
}
# What makes the size alone end a basis.
SIZED: dict[str, Setting] = {"kobl": {"threshold": 0.0}, "sparse": {"nu": 1e-6}, "csi": {"tol": 1e-9}}

# Methods that can be given numbers to predict.
FOR_NUMBERS = (CENTRED, "kpls", "eks", AUTO, "rrelieff", "f", *TESTS, "mi", "laplacian", "lasso")


def kind_of(method: str) -> str:
    """Say what a method is: basis, extract, system or select."""
    if method in SELECTED:
        return "select"
    return "extract" if method in EXTRACTED else "system" if method in SYSTEMS else "basis"


def registered() -> list[str]:
    """List all methods that make features: the registry's and `AutoFeatures`."""
    bases = stage("basis")
    extractors = [CENTRED if name == "kpca" else name for name in EXTRACTORS]
    return [*bases, *extractors, *stage("system"), AUTO, *stage("select")]


def methods_of(group: str) -> list[str]:
    """List the methods of a group of sets. Selectors of columns have tables only: genes have too many columns."""
    if group == "numbers":
        return [method for method in registered() if kind_of(method) == "basis" or method in FOR_NUMBERS]
    usual = [method for method in registered() if method != "rrelieff"]
    return usual if group == "tables" else [method for method in usual if kind_of(method) != "select"]


def alternatives(method: str, group: str, sizes: list[int]) -> list[Setting]:
    """Return settings; the first is the bare class. A method that has none here is an error."""
    known = EXTRACTED | SYSTEMS | SELECTED | BASES
    if method not in known:
        raise KeyError(f"{method!r} has no alternatives; name some in {__name__}.py")
    settings = [{}, *known[method]]
    if kind_of(method) != "select" and method != AUTO:
        settings += GAMMAS
    if kind_of(method) == "basis" and group != "genes":
        settings += [{"n_components": m, **SIZED.get(method, {})} for m in sizes]
    return [each for each in settings if fits(each, group)]


def fits(setting: Setting, group: str) -> bool:
    """Whether a setting means something for a group: kffs and relieff need classes."""
    return group != "numbers" or setting.get("selector") not in ("relief", "relieff", "kffs")


def title(setting: Setting) -> str:
    """Write a setting in one line."""
    if not setting:
        return "default"
    return ", ".join(f"{name} = {_word(value)}" for name, value in setting.items())


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join([value["method"], *(f"{k}={_word(v)}" for k, v in value.items() if k != "method")])
    return f"{value:g}" if isinstance(value, float) else str(value)


def make(method: str, setting: Setting, n_classes: int, selected: float | None = None) -> Any:
    """Return the unfitted estimator; a version that lacks the setting raises TypeError or InvalidParameterError."""
    told = {k: n_classes * {"c": 1, "2c": 2}[v] if v in ("c", "2c") else v for k, v in setting.items()}
    if kind_of(method) == "basis":
        return KernelBasis(method, **told)
    if method in TESTS:
        return CLASSES["f"](mode=method, **told)
    if kind_of(method) == "select":
        return CLASSES[method](n_features=selected, **told)
    if "gamma" in told:
        told["basis"] = {**default_basis(method), "gamma": told.pop("gamma")}
    if isinstance(told.get("basis"), dict):
        told["basis"] = KernelBasis(**told["basis"])
    return CLASSES[method](**told)


@lru_cache
def default_basis(method: str) -> Setting:
    """Ask a fitted method which basis it made for itself: the settings that say which rows span the space."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = CLASSES[method]().fit(rows, rows[:, 0] > 0).basis_.get_params()
    return {k: own[k] for k in ("method", "threshold", "nu", "tol", "center")}


@lru_cache
def fingerprint(method: str) -> str:
    """Shorten the defaults that a method depends on, so that a changed default is computed anew and not read back.

    A method with a basis depends on the defaults of all bases. What may be asked for counts too: a setting that was
    not available is tried again when there is more to choose from.
    """
    own = EXTRACTORS["kpca"] if method == CENTRED else SPECS.get(method, {})
    specs = [own] if kind_of(method) in ("basis", "select") else [own, *(SPECS[name] for name in stage("basis"))]
    told = [[spec.get(part) for part in ("parameters", "defaults", "none")] for spec in specs]
    told.append([PARAMETERS[name].get("words") for name in own.get("parameters", [])])
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:8]
