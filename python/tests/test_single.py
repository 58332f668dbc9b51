"""Single precision from rows to features: downstream methods compute in the precision of their basis."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest

from mercer import AKDAQR, EKS, GDA, KANMM, KLFE, KMFA, KOC, KPCA, KPLS, SKFE, TAKES, KernelBasis, KRelief, SKRelief

# A search may end before it has converged.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

EXTRACTORS = [
    KLFE(2, n_neighbors=3, basis="kobl"),
    SKFE(2, max_iter=2000, basis="kobl"),
    GDA(basis="kobl"),
    KOC(basis="kobl"),
    KPLS(2, basis="kobl"),
    KMFA(2, basis="kobl"),
    KANMM(2, basis="kobl"),
    KPCA(2, basis="kobl"),
]
SYSTEMS = [TAKES(), KRelief(5, basis="kobl"), SKRelief(5), EKS("f", 5, basis="kobl"), EKS("lasso", 5, basis="kobl")]


def names_of(estimators):
    return [type(estimator).__name__ for estimator in estimators]


each = pytest.mark.parametrize("estimator", EXTRACTORS + SYSTEMS, ids=names_of(EXTRACTORS + SYSTEMS))


def rows(n=400, seed=0):
    X, y = make_classification(n, 6, n_informative=4, n_classes=3, random_state=seed)
    return X.astype(np.float32), y


@each
def test_float32_is_fitted_in_single_precision_and_comes_back_as_float32(estimator):
    X, y = rows()
    model = clone(estimator).fit(X, y)
    assert model.precision_ == model.basis_.precision_ == "single"
    assert model.rounding_error_ == model.basis_.rounding_error_ < 1e-4
    assert model.transform(X).dtype == clone(estimator).fit_transform(X, y).dtype == np.float32
    again = pickle.loads(pickle.dumps(model))
    assert (again.precision_, again.rounding_error_) == (model.precision_, model.rounding_error_)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


@each
def test_precision_goes_before_the_type_of_the_rows(estimator):
    X, y = rows()
    X = X.astype(np.float64)
    single = clone(estimator).set_params(precision="single").fit(X, y)
    double = clone(estimator).set_params(precision="double").fit(X.astype(np.float32), y)
    assert (single.precision_, double.precision_) == ("single", "double")
    assert single.rounding_error_ > 0
    assert double.rounding_error_ is None
    assert single.transform(X).dtype == np.float64
    assert double.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("extractor", EXTRACTORS, ids=names_of(EXTRACTORS))
def test_extractors_find_in_single_precision_what_they_find_in_double(extractor):
    X, y = rows(1500)
    single, double = (clone(extractor).set_params(precision=p).fit(X, y) for p in ("single", "double"))
    ours, theirs = single.transform(X.astype(float)), double.transform(X.astype(float))
    assert np.any(ours != theirs)
    # SKFE on all rows climbs a flat hill.
    off = 0.05 if isinstance(extractor, SKFE) else 1e-3
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=off * np.abs(theirs).max())


@pytest.mark.parametrize("system", SYSTEMS, ids=names_of(SYSTEMS))
def test_systems_score_in_single_precision_as_they_do_in_double(system):
    X, y = rows(700)
    single, double = (clone(system).set_params(precision=p).fit(X, y) for p in ("single", "double"))
    assert np.corrcoef(single.scores_, double.scores_)[0, 1] > 0.999


def test_a_basis_has_its_own_precision():
    X, y = rows()
    model = GDA(basis=KernelBasis("kobl", precision="double")).fit(X, y)
    assert (model.precision_, model.rounding_error_) == ("double", None)
    model = TAKES(basis=KernelBasis("nystrom", n_components=20, precision="single")).fit(X.astype(float), y)
    assert model.precision_ == "single"
    with pytest.raises(ValueError, match=r"(?s)the basis is a KernelBasis, which has its own.*hint"):
        GDA(basis=KernelBasis("kobl"), precision="single").fit(X, y)
    assert GDA(basis=KernelBasis("kobl", precision="single"), precision="single").fit(X, y).precision_ == "single"


def test_what_cannot_be_in_single_precision_is_refused_if_asked_for():
    X, y = rows()
    for model in (
        GDA(basis="gram-schmidt", precision="single"),
        KPCA(2, precision="single"),
        KRelief(precision="single"),
    ):
        with pytest.raises(ValueError, match=r"precision = `single` is for the bases `kobl`"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="precision"):
        GDA(precision="half").fit(X, y)


@pytest.mark.parametrize(
    "estimator", [GDA(basis="gram-schmidt"), KPCA(2), AKDAQR(), KRelief(5), KLFE(2)], ids=lambda e: type(e).__name__
)
def test_bases_that_are_always_in_double_precision_take_float32(estimator):
    X, y = rows(200)
    model = clone(estimator).fit(X, y)
    wide = clone(estimator).fit(X.astype(float), y)
    assert (model.precision_, model.rounding_error_) == ("double", None)
    assert model.transform(X).dtype == np.float32
    Z = wide.transform(X.astype(float))
    np.testing.assert_allclose(model.transform(X.astype(float)), Z, rtol=0, atol=1e-6 * np.abs(Z).max())


def test_akda_qr_takes_a_basis_whose_precision_it_has_no_use_for():
    X, y = rows()
    assert AKDAQR(basis=KernelBasis("kobl", precision="single")).fit(X, y).precision_ == "double"


@pytest.mark.parametrize(
    "estimator", [GDA(basis="kobl"), TAKES(), EKS("f", basis="kobl")], ids=lambda e: type(e).__name__
)
def test_no_copy_of_the_rows_in_double_precision_is_made(estimator):
    X = np.random.default_rng(0).standard_normal((20_000, 40)).astype(np.float32)
    estimator = clone(estimator).set_params(basis=KernelBasis("nystrom", n_components=5))
    tracemalloc.start()
    estimator.fit(X, X[:, 0] > 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The coordinates of a system, 5 of 40 columns, and the labels as text.
    assert peak < X.nbytes


def test_a_selector_of_scikit_learn_sees_single_precision():
    X, y = rows()
    model = EKS(SelectKBest(k=3), basis="kobl").fit(X, y)
    assert (model.precision_, model.n_components_) == ("single", 3)


@pytest.mark.parametrize("scale", [1e18, 1e-20])
def test_rows_beyond_single_precision_are_fitted_in_double(scale):
    X, y = rows()
    X = (X * scale).astype(np.float32)
    with pytest.warns(UserWarning, match="leave the range of float32"):
        model = GDA(basis=KernelBasis("kobl", kernel="linear")).fit(X, y)
    assert (model.precision_, model.rounding_error_) == ("double", None)
    assert np.isfinite(model.transform(X)).all()
