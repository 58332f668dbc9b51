"""Every method of the registry is a class whose signature and docstring say what the registry says."""

import inspect
import json
import re

import pytest

import mercer
from mercer import KernelBasis, _core, extract, select, systems
from mercer._catalogue import EXTRACTORS, SPECS, as_text, stage

# What a class has beyond its method's own parameters.
MORE = {
    "basis",
    "kernel",
    "gamma",
    "degree",
    "coef0",
    "device",
    "verbose",
    "precision",
    "task",
    "categorical_features",
    "class_weight",
    "mode",
}
# What the basis of an extractor or a system has.
OF_BASIS = {"basis_components", "kernel", "gamma", "degree", "coef0", "alpha", "input_weights"}


def classes_of(module):
    return [getattr(module, name) for name in module.__all__]


SELECTORS = {kind._method: kind for kind in classes_of(select)}
METHODS = [
    *[(kind, SPECS["fdr" if name == "f" else name]) for name, kind in SELECTORS.items()],
    *[(kind, EXTRACTORS[kind._method]) for kind in classes_of(extract)],
    *[(kind, SPECS[kind._method]) for kind in classes_of(systems)],
    *[(KernelBasis, SPECS[name]) for name in stage("basis")],
]
each_method = pytest.mark.parametrize(("kind", "spec"), METHODS, ids=[spec["name"] for _, spec in METHODS])


def defaults_of(kind):
    parameters = inspect.signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


def name_of(kind, name):
    """Return what a parameter of the registry is called in Python."""
    return {"seed": "random_state", **getattr(kind, "_names", {})}.get(name, name)


def test_every_method_is_a_class_that_users_can_import():
    assert {*SELECTORS, "fpr", "fdr", "fwe"} == set(stage("select"))
    assert {kind._method for kind in classes_of(extract)} == set(EXTRACTORS)
    assert {kind._method for kind in classes_of(systems)} == set(stage("system"))
    for kind, _ in METHODS:
        assert getattr(mercer, kind.__name__) is kind
        assert kind.__name__ in mercer.__all__
    names = {spec["name"] for spec in json.loads(_core.catalogue())["methods"]}
    assert names == {spec["name"] for _, spec in METHODS} | {"f", "fpr", "fwe"}


@each_method
def test_signatures_have_the_parameters_and_defaults_of_the_registry(kind, spec):
    defaults = defaults_of(kind)
    own = {name: name_of(kind, name) for name in spec["parameters"]}
    if kind is not KernelBasis:
        own = {name: python for name, python in own.items() if name not in OF_BASIS}
    for name, python in own.items():
        if python == "random_state" and python not in defaults:
            assert kind is mercer.AKDAQR  # whose basis has it
            continue
        value, registered = defaults[python], spec["defaults"].get(name)
        if name == "seed" or (kind is KernelBasis and name == "tol"):
            assert value is None  # 0, or what the method has
        elif value is None:
            assert name in spec["none"], name
        else:
            assert registered is not None, name
            text = as_text(value)
            assert text == registered or float(text) == float(registered), name
    if kind is not KernelBasis:
        assert set(defaults) - set(own.values()) <= MORE


@each_method
def test_docstrings_have_the_parameters_and_defaults_of_the_signature(kind, spec):
    section = inspect.cleandoc(kind.__doc__).split("Parameters\n----------\n")[1].split("\n\n")[0]
    written = {}
    for line in section.splitlines():
        if found := re.fullmatch(r"(\w+) : .*, default=(.*)", line):
            written[found[1]] = found[2]
    assert list(written) == list(defaults_of(kind))
    for name, value in defaults_of(kind).items():
        assert eval(written[name]) == value, name


@each_method
def test_what_is_checked_is_what_there_is(kind, spec):
    assert set(kind._parameter_constraints) == set(defaults_of(kind))
