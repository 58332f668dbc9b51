"""The tables of differences name tests that there are."""

import importlib

import pytest

from peers.differences import ABSENT, DIFFERENT

# Where the tests of a file come from.
MODULES = {
    "test_nystroem": "sklearn.tests.test_kernel_approximation",
    "test_feature_select": "sklearn.feature_selection.tests.test_feature_select",
    "test_mutual_info": "sklearn.feature_selection.tests.test_mutual_info",
    "test_pls": "sklearn.cross_decomposition.tests.test_pls",
    "test_discriminant_analysis": "sklearn.tests.test_discriminant_analysis",
}


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_what_differs_is_a_test(name):
    file, _, test = name.partition("::")
    assert hasattr(importlib.import_module(f"peers.{file}"), test.partition("[")[0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", sorted(ABSENT))
def test_what_is_absent_is_a_test(file):
    there = importlib.import_module(MODULES[file])
    assert [name for name in ABSENT[file] if not hasattr(there, name)] == []


@pytest.mark.parametrize("reason", sorted({*DIFFERENT.values(), *(why for t in ABSENT.values() for why in t.values())}))
def test_reasons_are_sentences(reason):
    assert len(reason.split()) >= 5
