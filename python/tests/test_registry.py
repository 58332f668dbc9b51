"""Every estimator's signature and docstring follow the registry of methods, which holds the defaults."""

from __future__ import annotations

import ast
import inspect
import json
import re

import pytest

import mercer
from mercer import _core
from mercer._named import value_of

REGISTRY = json.loads(_core.catalogue())
METHODS = {spec["name"]: spec for spec in [*REGISTRY["methods"], *REGISTRY["extractors"]]}

# What a class is called in the registry, for all that are not a basis alone. `FScore` is four methods, by its mode.
KINDS = {
    kind: getattr(kind, "_method", None)
    for name in mercer.__all__
    if inspect.isclass(kind := getattr(mercer, name)) and getattr(kind, "_method", None) in METHODS
}
# The registry's names that Python has others for, or keeps in the basis.
RENAMED = {"seed": "random_state", "level": "alpha", "stability": "threshold"}


def signature(kind):
    return {name: p.default for name, p in inspect.signature(kind.__init__).parameters.items() if name != "self"}


def expected(spec, name):
    """What the registry says a parameter is when not given."""
    text = spec["defaults"].get(name)
    if name == "seed" or text is None:
        return None
    return value_of(name, text)


def documented(kind, name):
    """The default in the docstring's line of a parameter."""
    line = re.search(rf"^    {name} : .*?default=(.+)$", inspect.getdoc(kind).replace("\n", "\n    "), re.MULTILINE)
    assert line, f"{kind.__name__} does not document {name} with its default"
    try:
        return ast.literal_eval(line[1])
    except ValueError:
        return eval(line[1], {"__builtins__": {}})  # a fraction such as 2/3


def test_every_method_but_a_basis_has_a_class():
    names = {spec["name"] for spec in REGISTRY["methods"] if spec["stage"] != "basis"}
    assert names <= {*KINDS.values(), "fpr", "fdr", "fwe"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_signature_and_docstring_follow_the_registry(kind):
    method = "kpca-extractor" if kind is mercer.KPCA else KINDS[kind]
    spec = REGISTRY["extractors"][-1] if method == "kpca-extractor" else METHODS[KINDS[kind]]
    own = signature(kind)
    kernel = {"kernel", "gamma", "degree", "coef0", "alpha"} if kind is mercer.AKDAQR else set()
    for name in spec["parameters"]:
        if name == "basis_components" or name in kernel or (kind is mercer.AKDAQR and name == "seed"):
            continue  # said of the basis: basis=KernelBasis(n_components=...)
        python = RENAMED.get(name, name) if RENAMED.get(name) in own else name
        assert python in own, f"{kind.__name__} has no {python}"
        assert own[python] == pytest.approx(expected(spec, name)) if isinstance(own[python], float) else (
            own[python] == expected(spec, name)
        ), (name, own[python])
        said = documented(kind, python)
        assert said == pytest.approx(own[python]) if isinstance(own[python], float) else said == own[python], python


def test_bases_have_the_defaults_of_the_registry():
    own = signature(mercer.KernelBasis)
    for spec in (spec for spec in REGISTRY["methods"] if spec["stage"] == "basis"):
        for name in spec["parameters"]:
            python = RENAMED.get(name, name) if name == "seed" else name
            default = expected(spec, name)
            # `tol` has another default for every basis that has one: None stands for it.
            assert own[python] in (default, None), (spec["name"], name)
            assert documented(mercer.KernelBasis, python) == own[python]
