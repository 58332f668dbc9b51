"""partial_fit of extractors whose directions come from sums: batches are one fit."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from mercer import GDA, KLFE, KOC, KPCA, KPLS, KernelBasis


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return StandardScaler().fit_transform(X)[order], np.array(["a", "b", "c"])[y[order]]


def up_to_signs(a, b):
    signs = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a * signs, b, atol=1e-8 * np.abs(b).max())


def in_batches(extractor, X, y=None, weights=None, **first):
    for start in range(0, len(X), 40):
        batch = slice(start, start + 40)
        given = {} if weights is None else {"sample_weight": weights[batch]}
        extractor.partial_fit(X[batch], None if y is None else y[batch], **given, **first)
        first = {}
    return extractor


SETTINGS = {"method": "kobl", "gamma": 0.2, "n_components": 25}


@pytest.mark.parametrize("make", [GDA, KOC, KPLS], ids=lambda kind: kind.__name__)
def test_batches_of_classes_are_one_fit(make, iris):
    X, y = iris
    basis = KernelBasis(**SETTINGS)
    whole = make(basis=basis).fit(X, y)
    parts = in_batches(make(basis=KernelBasis(**SETTINGS).fit(X)), X, y, classes=["a", "b", "c"])
    up_to_signs(parts.transform(X), whole.transform(X))
    assert parts.n_samples_seen_ == len(X)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    whole = make(basis=basis).fit(X, y, sample_weight=weights)
    parts = in_batches(make(basis=KernelBasis(**SETTINGS).fit(X)), X, y, weights, classes=["a", "b", "c"])
    up_to_signs(parts.transform(X), whole.transform(X))


def test_batches_of_numbers_and_of_rows_are_one_fit():
    X, y = make_friedman1(200, random_state=0)
    fitted = KernelBasis(**SETTINGS).fit(X)
    whole = KPLS(3, basis=KernelBasis(**SETTINGS)).fit(X, y)
    up_to_signs(in_batches(KPLS(3, basis=fitted), X, y).transform(X), whole.transform(X))
    whole = KPCA(3, basis=KernelBasis(**SETTINGS)).fit(X)
    up_to_signs(in_batches(KPCA(3, basis=fitted), X).transform(X), whole.transform(X))


def test_it_is_fitted_once_there_are_two_classes(iris):
    X, y = iris
    basis = KernelBasis(**SETTINGS).fit(X)
    extractor = GDA(basis=basis).partial_fit(X[y == "a"], y[y == "a"], classes=["a", "b", "c"])
    with pytest.raises(NotFittedError):
        extractor.transform(X)
    assert extractor.partial_fit(X[y != "a"], y[y != "a"]).transform(X).shape == (150, 2)
    with pytest.raises(ValueError, match="the class 'd' is not among those of the first batch"):
        extractor.partial_fit(X[:2], ["d", "a"])
    assert not hasattr(extractor.fit(X, y), "n_samples_seen_")


def test_without_a_fitted_basis_there_is_none(iris):
    X, y = iris
    for extractor in (GDA(), GDA(basis="kobl"), GDA(basis=KernelBasis())):
        with pytest.raises(AttributeError, match=r"no partial_fit without a fitted basis|has no attribute"):
            extractor.partial_fit(X, y)
    assert not hasattr(KLFE(), "partial_fit")
    with pytest.raises(ValueError, match="columns"):
        GDA(basis=KernelBasis(gamma=1.0).fit(X[:, :2])).partial_fit(X, y)
