"""Habits of scikit-learn's users: kernel settings given directly or searched by name, and columns as they are."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA, KernelPCA
from sklearn.feature_selection import SelectKBest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import mercer
from mercer import (
    AKDAQR,
    EKS,
    GDA,
    KANMM,
    KLFE,
    KMFA,
    KOC,
    KPCA,
    KPLS,
    SKFE,
    TAKES,
    AutoClassifier,
    AutoFeatures,
    InputWeights,
    KernelBasis,
    KRelief,
    SKRelief,
)

# With settings that make no warnings on the rows below.
ESTIMATORS = [
    KLFE(2),
    SKFE(2, tol=1e-2),
    GDA(),
    KOC(),
    AKDAQR(),
    KPLS(2),
    KMFA(2),
    KANMM(2),
    KPCA(2),
    TAKES(2),
    KRelief(2),
    SKRelief(2),
    EKS(n_features=2),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)

X, Y = make_moons(80, noise=0.1, random_state=0)

# The basis that these come with. That of the others has as many components as the labels ask for.
OWN = [
    (KLFE(2), {"method": "kpca"}),
    (SKFE(2, tol=1e-2), {"method": "kobl", "threshold": 0.0}),
    (AKDAQR(), {}),
    (KPCA(2), {"method": "kpca", "center": True, "n_components": 2}),
    (TAKES(2), {"method": "kobl", "threshold": "linear"}),
    (KRelief(2), {"method": "kpca"}),
    (SKRelief(2), {"method": "sparse", "nu": 0.01}),
    (EKS(n_features=2), {"method": "gram-schmidt"}),
    (EKS(SelectKBest(k=2)), {"method": "gram-schmidt"}),
]


def features(estimator, **params):
    return clone(estimator).set_params(**params).fit(X, Y).transform(X)


@each
@pytest.mark.parametrize(
    "settings",
    [
        {"gamma": 0.3},
        {"gamma": "median"},
        {"kernel": "laplacian"},
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 0.5},
    ],
    ids=str,
)
def test_settings_given_directly_are_those_of_a_kernel_basis(estimator, settings):
    basis = KernelBasis("kobl", **settings)
    np.testing.assert_array_equal(features(estimator, basis="kobl", **settings), features(estimator, basis=basis))
    # Both may be given, if they are the same.
    np.testing.assert_array_equal(features(estimator, basis=basis, **settings), features(estimator, basis=basis))


@pytest.mark.parametrize(("estimator", "own"), OWN, ids=lambda part: type(part).__name__)
def test_settings_given_directly_go_to_the_basis_that_a_method_comes_with(estimator, own):
    settings = {"kernel": "rbf", "gamma": 0.7}
    expected = features(estimator, basis=KernelBasis(**own, **settings))
    np.testing.assert_allclose(features(estimator, **settings), expected, rtol=0, atol=1e-10)


@each
def test_the_width_that_a_rule_finds_gives_the_same_features_as_a_number(estimator):
    plain = clone(estimator).fit(X, Y)
    again = clone(estimator).set_params(gamma=plain.basis_.gamma_).fit(X, Y)
    np.testing.assert_array_equal(again.transform(X), plain.transform(X))
    assert again.basis_.method == plain.basis_.method
    assert again.basis_.gamma == plain.basis_.gamma_
    by_rule = clone(estimator).set_params(gamma="loo").fit(X, Y)
    np.testing.assert_array_equal(by_rule.transform(X), plain.transform(X))


def test_kernel_pca_of_scikit_learn_is_replaced_by_name_alone():
    ours = KPCA(n_components=2, kernel="rbf", gamma=0.1).fit(X)
    theirs = KernelPCA(n_components=2, kernel="rbf", gamma=0.1).fit(X)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-8)
    poly = {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 2}
    np.testing.assert_allclose(KPCA(2, **poly).fit(X).eigenvalues_, KernelPCA(2, **poly).fit(X).eigenvalues_)


@each
def test_a_setting_of_the_basis_is_set_without_a_kernel_basis(estimator):
    changed = clone(estimator).set_params(basis__gamma=0.3)
    assert isinstance(changed.basis, KernelBasis)
    assert changed.get_params()["basis__gamma"] == 0.3
    np.testing.assert_array_equal(changed.fit(X, Y).transform(X), features(estimator, gamma=0.3))
    by_name = clone(estimator).set_params(basis="kobl").set_params(basis__gamma=0.3)
    expected = features(estimator, basis=KernelBasis("kobl", gamma=0.3))
    np.testing.assert_array_equal(by_name.fit(X, Y).transform(X), expected)
    at_once = clone(estimator).set_params(basis__gamma=0.3, basis="kobl")
    np.testing.assert_array_equal(at_once.fit(X, Y).transform(X), expected)
    named_below = clone(estimator).set_params(basis__method="kobl", basis__gamma=0.3)
    np.testing.assert_array_equal(named_below.fit(X, Y).transform(X), expected)
    # Nothing changed, nothing differs.
    np.testing.assert_array_equal(features(estimator, basis__gamma=None), features(estimator))


def test_other_settings_of_the_estimator_count_whatever_the_order():
    changed = KPCA(2).set_params(basis__gamma=0.3).set_params(n_components=4, center=False)
    expected = KPCA(4, center=False, gamma=0.3).fit(X)
    np.testing.assert_array_equal(changed.fit(X).transform(X), expected.transform(X))
    seeded = KLFE(2, basis="rpcholesky", gamma=0.3, random_state=5).fit(X, Y)
    changed = KLFE(2, basis="rpcholesky").set_params(basis__gamma=0.3).set_params(random_state=5).fit(X, Y)
    np.testing.assert_array_equal(changed.basis_.pivots_, seeded.basis_.pivots_)
    single = GDA(precision="single", basis="kobl").set_params(basis__gamma=0.3).fit(X, Y)
    assert single.precision_ == "single"
    few = KLFE(2, kernel="laplacian").set_params(basis__n_components=7).fit(X, Y)
    assert (few.basis_.method, few.basis_.kernel, few.basis_.n_components_) == ("kpca", "laplacian", 7)


def test_landmarks_are_set_like_any_setting():
    changed = GDA(basis="kobl", gamma=0.3).set_params(basis__landmarks=X[:9]).fit(X, Y)
    expected = GDA(basis=KernelBasis("kobl", gamma=0.3, landmarks=X[:9])).fit(X, Y)
    np.testing.assert_array_equal(changed.transform(X), expected.transform(X))


@each
@pytest.mark.parametrize("params", [{"gamma": 0.3, "kernel": "laplacian"}, {"basis__gamma": 0.3}], ids=str)
def test_clones_and_files_keep_the_settings(estimator, params):
    fitted = clone(estimator).set_params(**params).fit(X, Y)
    again = clone(fitted).fit(X, Y)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(copy.fit(X, Y).transform(X), fitted.transform(X))


@pytest.mark.parametrize(
    "grid",
    [
        {"map__basis__gamma": [1e-5, 1.0]},
        {"map__gamma": [1e-5, 1.0]},
        {"map__kernel": ["linear", "rbf"]},
        {"map__basis__kernel": ["linear", "rbf"], "map__basis__gamma": [1e-5, "loo"]},
        {"map__gamma": [1e-5, "median", "loo"], "map__basis": [None, "kobl"]},
    ],
    ids=str,
)
def test_grid_search_finds_a_kernel_that_fits(grid):
    model = Pipeline([("map", GDA()), ("knn", KNeighborsClassifier())])
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, Y)
    best = search.best_params_
    assert search.best_score_ > 0.9
    assert best.get("map__gamma", best.get("map__basis__gamma")) != 1e-5
    assert best.get("map__kernel", best.get("map__basis__kernel")) != "linear"


@each
def test_a_search_scores_a_width_alike_however_it_is_named(estimator):
    model = Pipeline([("map", estimator), ("knn", KNeighborsClassifier())])
    scores = [
        GridSearchCV(model, {name: [0.3, 3.0]}, cv=3, error_score="raise").fit(X, Y).cv_results_["mean_test_score"]
        for name in ("map__gamma", "map__basis__gamma")
    ]
    np.testing.assert_array_equal(*scores)
    by_hand = [cross_val_score(clone(model).set_params(map__gamma=gamma), X, Y, cv=3).mean() for gamma in (0.3, 3.0)]
    np.testing.assert_array_equal(scores[0], by_hand)


def test_a_search_without_a_pipeline():
    class Scored(GDA):
        def score(self, X, y):
            return KNeighborsClassifier().fit(self.transform(X), y).score(self.transform(X), y)

    search = GridSearchCV(Scored(), {"basis__gamma": [1e-6, 1.0]}, error_score="raise").fit(X, Y)
    assert set(search.cv_results_["param_basis__gamma"]) == {1e-6, 1.0}


@each
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"gamma": 0.1}, r"gamma = 0.1, but the basis is a KernelBasis, which has its own: gamma = 0.2"),
        ({"kernel": "linear"}, r"kernel = 'linear', but .* kernel = 'rbf'"),
        ({"degree": 2}, r"degree = 2, but .* degree = 3"),
        ({"coef0": 0.0}, r"coef0 = 0.0, but .* coef0 = 1.0"),
    ],
    ids=str,
)
def test_settings_that_contradict_the_basis_are_refused_in_words(estimator, settings, words):
    name, value = next(iter(settings.items()))
    hint = rf"\nhint: leave {name} out, or say it there: KernelBasis\({name}={value!r}\)"
    model = clone(estimator).set_params(basis=KernelBasis("kobl", gamma=0.2), **settings)
    with pytest.raises(ValueError, match=words + hint):
        model.fit(X, Y)


def test_settings_given_twice_are_refused_in_words_and_others_are_joined():
    with pytest.raises(ValueError, match=r"gamma = 0.1, but .* gamma = 0.2\nhint: leave gamma out"):
        GDA(gamma=0.1).set_params(basis__gamma=0.2).fit(X, Y)
    joined = GDA(gamma=0.1).set_params(basis__kernel="laplacian").fit(X, Y)
    assert (joined.basis_.kernel, joined.basis_.gamma_) == ("laplacian", 0.1)


@each
def test_bad_settings_are_refused_by_name(estimator):
    with pytest.raises(ValueError, match=rf"'kernel' parameter of {type(estimator).__name__} must be a str among"):
        clone(estimator).set_params(kernel="banana").fit(X, Y)
    with pytest.raises(ValueError, match=r"'gamma' parameter of KernelBasis must be"):
        clone(estimator).set_params(basis__gamma=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match="Invalid parameter 'banana' for estimator"):
        clone(estimator).set_params(basis__banana=1)


def test_a_basis_that_is_found_has_no_settings():
    with pytest.raises(ValueError, match="Invalid parameter 'basis' for estimator AutoFeatures"):
        AutoFeatures().set_params(basis__gamma=0.1)


@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if not isinstance(e, AKDAQR)], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("params", [{"kernel": "precomputed"}, {"basis__kernel": "precomputed"}], ids=str)
def test_a_precomputed_kernel_is_known_to_scikit_learn(estimator, params):
    K = rbf_kernel(X, gamma=2.0)
    model = clone(estimator).set_params(**params)
    tags = get_tags(model).input_tags
    assert tags.pairwise
    assert not tags.sparse
    assert not get_tags(estimator).input_tags.pairwise
    # The same basis of both, because one that the method comes with may choose landmarks by the last digits.
    model.set_params(basis="kobl", kernel="precomputed")
    expected = features(estimator, basis="kobl", gamma=2.0)
    np.testing.assert_allclose(np.abs(model.fit(K, Y).transform(K)), np.abs(expected), atol=1e-6)


def test_a_search_slices_a_kernel_matrix_both_ways():
    K = rbf_kernel(X, gamma=2.0)
    grid = {"gda__reg": [0.01, 0.1]}
    ours = GridSearchCV(make_pipeline(GDA(kernel="precomputed"), KNeighborsClassifier()), grid, cv=3).fit(K, Y)
    rows = GridSearchCV(make_pipeline(GDA(gamma=2.0), KNeighborsClassifier()), grid, cv=3).fit(X, Y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], rows.cv_results_["mean_test_score"])


def test_tags_follow_the_kernel_and_the_rule():
    assert get_tags(KPCA(gamma="loo")).target_tags.required
    assert not get_tags(KPCA(gamma="scale")).target_tags.required
    assert get_tags(EKS("laplacian", gamma="align")).target_tags.required
    assert get_tags(GDA(kernel="chi2")).input_tags.positive_only
    with pytest.raises(ValueError, match="requires y to be passed"):
        KPCA(gamma="loo").fit(X)


# Columns of different scales.

WIDE = X * [1.0, 5000.0]


def scale_warnings(estimator, rows, y=Y, method="fit"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(clone(estimator), method)(rows, y)
    return [warning for warning in caught if "differ in scale" in str(warning.message)]


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
@pytest.mark.parametrize(
    "estimator",
    [*ESTIMATORS, EKS(SelectKBest(k=1)), KernelBasis("kobl"), InputWeights()],
    ids=lambda e: type(e).__name__,
)
def test_one_warning_at_the_users_line_says_to_scale(estimator, method):
    (warning,) = scale_warnings(estimator, WIDE, method=method)
    assert warning.category is UserWarning
    assert warning.filename == __file__
    text = str(warning.message)
    assert "the standard deviation of column `1` is" in text
    assert "that of column `0`" in text
    assert text.endswith(f"make_pipeline(StandardScaler(), {type(estimator).__name__}(...))")
    assert scale_warnings(estimator, StandardScaler().fit_transform(WIDE), method=method) == []


def test_means_far_apart_make_widths_by_a_rule_too_wide():
    rows = np.add(X, [0.0, 1000.0])
    for estimator in (GDA(), GDA(basis=KernelBasis("kobl")), KernelBasis("kobl"), InputWeights()):
        with pytest.warns(UserWarning, match="columns differ in their means by far more than they vary"):
            clone(estimator).fit(rows, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GDA(gamma=0.1).fit(rows, Y)
        GDA(kernel="linear").fit(rows, Y)
        GDA().fit(rows - rows.mean(axis=0), Y)


def test_columns_are_called_by_name():
    (warning,) = scale_warnings(GDA(gamma=0.1), pd.DataFrame(WIDE, columns=["age", "income"]))
    assert "`income` is" in str(warning.message)
    assert "`age`" in str(warning.message)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_kernels_without_a_width_draw_no_warning(kernel):
    assert scale_warnings(GDA(kernel=kernel), WIDE) == []
    assert scale_warnings(KernelBasis(kernel=kernel), WIDE) == []


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (WIDE[:, 1:], "one column"),
        (X * [1.0, 30.0], "a ratio below a hundred"),
        (np.c_[X, np.full(80, 1e7 / 3)], "a constant"),
        (np.c_[X, 1e-17 * X + 1e3], "a constant but for rounding"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_columns_of_like_scales_draw_no_warning(rows, why):
    assert scale_warnings(GDA(), rows) == []
    assert scale_warnings(KernelBasis("kobl"), rows) == []


def test_columns_that_were_weighted_or_rotated_after_scaling_draw_no_warning():
    rng = np.random.default_rng(0)
    rows = StandardScaler().fit_transform(np.c_[X, X @ [1.0, 2.0] + 1e-3 * rng.normal(size=80), rng.normal(size=80)])
    weighted = rows * [1.0, 0.5, 0.2, 1e-3]
    for data in PCA().fit_transform(rows), weighted, weighted.astype(np.float32):
        assert data.std(axis=0).max() > 100 * data.std(axis=0).min()
        assert scale_warnings(GDA(), data) == []
    assert len(scale_warnings(GDA(), rng.normal(size=(80, 2)) * [1.0, 1000.0])) == 1


def test_a_kernel_matrix_and_sparse_rows_draw_no_warning():
    K = rbf_kernel(X, gamma=2.0) * np.outer(np.r_[1000.0, np.ones(79)], np.r_[1000.0, np.ones(79)])
    assert scale_warnings(GDA(kernel="precomputed"), K) == []
    assert scale_warnings(GDA(gamma=0.1), sparse.csr_array(WIDE)) == []


def test_what_scales_or_searches_by_itself_draws_no_warning():
    assert scale_warnings(AutoFeatures(), WIDE) == []
    assert scale_warnings(AutoClassifier(max_components=20), WIDE) == []
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*differ in scale")
        mercer.compare(WIDE, Y, methods=["gda"], evaluators="ridge", folds=2)
        mercer.advise(WIDE, Y)


def test_a_sample_of_many_rows_is_taken_from_all_of_them():
    rows = np.c_[np.arange(30_000) % 7, np.arange(30_000) > 15_000].astype(np.float32)
    rows[20_000:, 1] *= 1e4
    assert len(scale_warnings(KernelBasis("nystrom", gamma=0.1, n_components=3), rows, None)) == 1
