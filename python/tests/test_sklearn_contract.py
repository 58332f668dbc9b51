"""Every estimator is one of scikit-learn in the strict sense."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    AKDAQR,
    EKS,
    GDA,
    KANMM,
    KFFS,
    KLFE,
    KMFA,
    KOC,
    KPCA,
    KPLS,
    SKFE,
    SURF,
    TAKES,
    AutoClassifier,
    AutoFeatures,
    AutoRegressor,
    FScore,
    InputWeights,
    IRelief,
    KernelBasis,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KRelief,
    LaplacianScore,
    LassoSelector,
    MultiSURF,
    MultiSURFStar,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
    SKRelief,
    SURFStar,
)

METHODS = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]

# Checks that make an arbitrary matrix, or a kernel matrix rounded to integers, and call it positive semi-definite.
NOT_A_KERNEL = {
    "check_positive_only_tag_during_fit": "the matrix is not positive semi-definite",
    "check_estimators_dtypes": "a kernel matrix rounded to integers is not positive semi-definite",
}

# Predictions are compared with the first of the largest probabilities.
TIES = {"check_classifiers_train": "of classes with as many votes that of the nearest row is predicted"}


# Rows are repeated in another order, in place of weights. What is chosen row by row depends on their order, a copy is
# its own nearest neighbour, and folds do not keep copies together.
OF_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
NO_COPIES = {
    **dict.fromkeys(("KLFE", "KANMM", "Relief", "ReliefF", "IRelief"), "a copy is its own neighbour"),
    **dict.fromkeys(("SURF", "SURFStar", "MultiSURF", "MultiSURFStar"), "a copy is its own neighbour"),
    **dict.fromkeys(("TAKES", "EKS", "KRelief", "SKRelief"), "the coordinates chosen depend on the order of the rows"),
    **dict.fromkeys(("LassoSelector", "AutoFeatures"), "folds do not keep copies together"),
}


def is_precomputed(estimator):
    places = (estimator, getattr(estimator, "basis", None))
    return any(getattr(place, "kernel", None) == "precomputed" for place in places)


# Some checks give noise for columns, of which a test rightly keeps nothing.
# And some give labels that nothing explains, or more classes than their few columns can tell apart.
EXPECTED_WARNINGS = [
    pytest.mark.filterwarnings("ignore:No features were selected"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:the means of .* classes span"),
    pytest.mark.filterwarnings("ignore:no coordinate separates the labels"),
    pytest.mark.filterwarnings("ignore:left-out rows are predicted no better"),
    # SKFE wants all rows that are independent, of which float32 sees fewer.
    pytest.mark.filterwarnings("ignore:float32 cannot distinguish"),
]


def known_to_fail(estimator):
    if isinstance(estimator, KernelNeighborsClassifier):
        return TIES
    reason = NO_COPIES.get(type(estimator).__name__)
    of_weights = {} if reason is None else dict.fromkeys(OF_WEIGHTS, reason)
    return {**of_weights, **(NOT_A_KERNEL if is_precomputed(estimator) else {})}


def contract(estimators):
    """Parametrize a test with every check of scikit-learn for each of the estimators."""
    checks = parametrize_with_checks(
        estimators,
        expected_failed_checks=known_to_fail,
    )

    def decorate(test):
        for mark in EXPECTED_WARNINGS:
            test = mark(test)
        return checks(test)

    return decorate


# Each class once, and a kernel matrix in place of rows, which scikit-learn checks in another way.
@contract(
    [
        KernelBasis(n_components=5),
        KernelBasis(kernel="precomputed"),
        Relief(),
        ReliefF(),
        RReliefF(),
        IRelief(),
        SURF(),
        SURFStar(),
        MultiSURF(),
        MultiSURFStar(),
        KFFS(),
        FScore(),
        MutualInfo(),
        LaplacianScore(),
        LassoSelector(),
        TAKES(),
        KRelief(0.5),
        SKRelief(0.5),
        EKS(),
        KLFE(),
        SKFE(),
        GDA(),
        KOC(),
        AKDAQR(),
        KPLS(),
        KMFA(),
        KANMM(),
        KPCA(),
        AutoFeatures(max_components=5, random_state=3),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.mark.slow
@contract(
    [
        *[KernelBasis(method, n_components=5) for method in METHODS if method != "kobl"],
        KernelBasis("sparse", gamma=0.5),
        KernelBasis("kpca", center=True),
        KernelBasis("kobl", kernel="chi2", gamma="median"),
        KernelBasis("kobl", gamma="align", threshold=("power", 0.5)),
        Relief(0.5, n_neighbors=2, power=2, metric="manhattan", n_queries=10),
        ReliefF(n_neighbors=0.2),
        MutualInfo(categorical_features=[0]),
        KFFS(1, reweight=True),
        FScore(mode="fdr"),
        LassoSelector(randomized=True, n_resamples=10),
        EKS(SelectKBest(k=1), basis="kpca"),
        EKS("laplacian", basis=KernelBasis("kobl", kernel="precomputed")),
        SKFE(init="random", center=True),
        KPLS(1, task="classes"),
        KPCA(1, basis=KernelBasis("kobl", gamma="median")),
        GDA(basis=KernelBasis("kobl", kernel="precomputed")),
        GDA(kernel="precomputed"),
        KPCA(2, kernel="poly", gamma="scale", degree=2),
        KOC().set_params(basis__gamma=0.1),
        AutoFeatures(),
        AutoClassifier(),
        AutoRegressor(),
        KernelNeighborsClassifier(),
        KernelNeighborsRegressor(),
        KOC(2),
        SKFE(points=2, max_iter=5),
        SKFE(criterion="radius-margin", max_iter=5),
        InputWeights(),
    ]
)
def test_every_check_of_scikit_learn_passes_with_other_settings(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_a_pickled_copy_gives_the_same_bits(method):
    X, y = make_moons(60, noise=0.1, random_state=0)
    basis = KernelBasis(method, n_components=7, center=method == "kpca").fit(X, y)
    copy = pickle.loads(pickle.dumps(basis))
    np.testing.assert_array_equal(copy.transform(X), basis.transform(X))
    Z = basis.transform(X)
    np.testing.assert_array_equal(copy.inverse_transform(Z), basis.inverse_transform(Z))


def test_a_clone_is_not_fitted_and_fits_to_the_same_basis():
    X, _ = make_moons(60, noise=0.1, random_state=0)
    basis = KernelBasis("rpcholesky", n_components=7, random_state=3, landmarks=X[:40]).fit(X)
    again = clone(basis)
    assert not hasattr(again, "pivots_")
    np.testing.assert_array_equal(again.fit(X).pivots_, basis.pivots_)


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_go_in_and_come_out(library, frame):
    X = load_iris().data
    data = frame({f"column {j}": X[:, j] for j in range(4)})
    basis = KernelBasis("gram-schmidt", n_components=3).set_output(transform=library)
    out = basis.fit_transform(data)
    assert isinstance(out, frame)
    assert list(out.columns) == ["gramschmidt0", "gramschmidt1", "gramschmidt2"]
    assert list(basis.feature_names_in_) == list(data.columns)
    plain = KernelBasis("gram-schmidt", n_components=3).fit(X)
    np.testing.assert_array_equal(basis.transform(data).to_numpy(), plain.transform(X))
    with pytest.raises(ValueError, match="feature names"):
        basis.transform(data[list(data.columns)[::-1]])


@pytest.mark.parametrize("method", METHODS)
def test_feature_names_are_the_method_and_a_number(method):
    X, y = make_moons(30, noise=0.1, random_state=0)
    basis = KernelBasis(method, n_components=2).fit(X, y)
    names = basis.get_feature_names_out()
    assert list(names) == [method.replace("-", "") + str(i) for i in range(basis.n_components_)]
    assert names.dtype == object
    with pytest.raises(ValueError, match="input_features should have length equal"):
        basis.get_feature_names_out(["only one"])


def test_grid_search_reaches_the_width_inside_a_pipeline():
    X, y = make_moons(150, noise=0.1, random_state=0)
    pipeline = Pipeline([("scale", StandardScaler()), ("basis", KernelBasis(n_components=20)), ("svm", LinearSVC())])
    grid = {"basis__gamma": [1e-4, 1.0, "loo"], "basis__threshold": ["linear", 0.0, ("power", 0.5)]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_params_["basis__gamma"] != 1e-4


def test_grid_search_slices_a_precomputed_kernel_both_ways():
    X, y = make_moons(120, noise=0.1, random_state=0)
    K = rbf_kernel(X, gamma=2.0)
    model = make_pipeline(KernelBasis(kernel="precomputed"), LogisticRegression(C=100))
    search = GridSearchCV(model, {"kernelbasis__n_components": [1, 30]}, cv=3).fit(K, y)
    assert search.best_params_ == {"kernelbasis__n_components": 30}
    by_hand = cross_val_score(
        make_pipeline(KernelBasis(gamma=2.0, n_components=30), LogisticRegression(C=100)), X, y, cv=3
    )
    assert search.best_score_ == pytest.approx(by_hand.mean())


def test_two_bases_stand_side_by_side_in_a_union():
    X, y = make_moons(60, noise=0.1, random_state=0)
    union = FeatureUnion(
        [("wide", KernelBasis(gamma=0.1, n_components=3)), ("narrow", KernelBasis("csi", n_components=4))]
    )
    assert union.fit_transform(X, y).shape == (60, 7)
    assert list(union.get_feature_names_out())[2:4] == ["wide__kfa2", "narrow__csi0"]


@pytest.mark.parametrize(
    "selector",
    [Relief(), ReliefF(), RReliefF(), IRelief(), MultiSURF(), KFFS(), FScore(), MutualInfo(), LassoSelector()],
    ids=lambda selector: type(selector).__name__,
)
def test_a_selector_works_in_pipelines_searches_copies_and_files(selector):
    X, y = load_iris(return_X_y=True)
    pipeline = Pipeline([("scale", StandardScaler()), ("select", selector), ("svm", LinearSVC())])
    search = GridSearchCV(pipeline, {"select__n_features": [1, 0.5, None]}, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    fitted = search.best_estimator_["select"]
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    again = clone(fitted)
    assert not hasattr(again, "scores_")
    assert again.get_params() == fitted.get_params()


def test_a_basis_and_a_selector_in_a_pipeline_are_a_system():
    X, y = make_moons(100, noise=0.1, random_state=0)
    pair = make_pipeline(KernelBasis("kpca", n_components=12), FScore(4)).fit(X, y)
    system = EKS(n_features=4, basis=KernelBasis("kpca", n_components=12)).fit(X, y)
    np.testing.assert_allclose(system.transform(X), pair.transform(X), rtol=0, atol=1e-12)
    assert list(system.get_feature_names_out()) == list(pair.get_feature_names_out())
