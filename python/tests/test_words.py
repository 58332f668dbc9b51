"""The types of parameters have the words of the catalogue, and `make lint` looks at what an editor sees."""

import inspect
from typing import get_args

import pytest

import mercer
from mercer import _words
from mercer._catalogue import PARAMETERS, SPECS, stage

TYPES = {
    "kernel": _words.KernelName,
    "gamma": _words.GammaRule,
    "precision": _words.Precision,
    "power": _words.Power,
    "metric": _words.Metric,
    "neighbors": _words.Neighbors,
    "basis": _words.Method,
    "criterion": _words.Criterion,
    "init": _words.Init,
}


@pytest.mark.parametrize("name", sorted(TYPES))
def test_words_are_those_of_the_catalogue(name):
    assert {str(word) for word in get_args(TYPES[name])} == set(PARAMETERS[name]["words"])


def test_other_words_are_those_that_are_checked():
    assert set(get_args(_words.Method)) == set(stage("basis"))
    assert set(get_args(_words.LocalMetric)) == set(SPECS["klfe"]["words"]["metric"])
    checked = {
        _words.WeightedKernel: mercer.InputWeights._parameter_constraints["kernel"],
        _words.Votes: mercer.KernelNeighborsClassifier._parameter_constraints["weights"],
        _words.Scale: mercer.AutoClassifier._parameter_constraints["scale"],
        _words.Missing: mercer.TableEncoder._parameter_constraints["missing"],
    }
    for words, constraint in checked.items():
        assert set(get_args(words)) == constraint[0].options


def test_every_attribute_is_documented_where_a_type_checker_is_told_of_it():
    checked = 0
    for name in mercer.__all__:
        kind = getattr(mercer, name)
        if not inspect.isclass(kind) or "\nAttributes\n" not in inspect.cleandoc(kind.__doc__ or ""):
            continue
        public = {at for base in kind.__mro__ for at in vars(base).get("__annotations__", {}) if at.endswith("_")}
        told = {at for at in public if not at.startswith("_")}
        undocumented = {at for at in told if f"\n{at} :" not in inspect.cleandoc(kind.__doc__)}
        assert undocumented <= {"offset_", "components_"}, name
        checked += 1
    assert checked > 20
