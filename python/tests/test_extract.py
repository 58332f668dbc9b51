"""Extractors: a basis, directions in its coordinates, and the map that they make."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_iris, load_wine, make_circles, make_friedman1
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mercer
from mercer import AKDAQR, GDA, KANMM, KLFE, KMFA, KOC, KPCA, KPLS, SKFE, KernelBasis
from mercer._catalogue import stage
from mercer.evidence import Margins, Moments
from mercer.metrics import kernel_alignment

# A search may end before it has converged.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

EXTRACTORS = [
    KLFE(3, n_neighbors=3),
    SKFE(3, tol=1e-3),
    GDA(),
    KOC(),
    AKDAQR(),
    KPLS(3),
    KMFA(3),
    KANMM(3),
    KPCA(3),
]
each_extractor = pytest.mark.parametrize("extractor", EXTRACTORS, ids=lambda extractor: type(extractor).__name__)


def rings(n=150, seed=0):
    X, y = make_circles(n, factor=0.5, noise=0.08, random_state=seed)
    return np.c_[X, np.random.default_rng(seed).normal(scale=0.3, size=(n, 2))], y


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def linear(method="kobl"):
    return KernelBasis(method, kernel="linear", **({"threshold": 0.0} if method == "kobl" else {}))


def same_but_for_signs(ours, theirs, **tolerance):
    signs = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours, theirs * signs, **tolerance)


# What they find


@each_extractor
def test_what_is_found_fits_together(extractor):
    X, y = iris()
    extractor = clone(extractor).fit(X, y)
    m, q = extractor.basis_.n_components_, extractor.n_components_
    assert isinstance(extractor.basis_, KernelBasis)
    assert extractor.components_.shape == (q, m)
    assert extractor.offset_.shape == (q,)
    # Features are the directions in the basis' coordinates, less the offset.
    Z = extractor.basis_.transform(X)
    rounding = 1e-10 * np.abs(extractor.basis_.coefficients_).max() * np.abs(extractor.components_).max()
    expected = Z @ extractor.components_.T - extractor.offset_
    features = extractor.transform(X)
    np.testing.assert_allclose(features, expected, rtol=0, atol=max(1e-10, rounding))
    # The row with the largest |feature| is positive.
    largest = np.abs(features).argmax(axis=0)
    assert (features[largest, np.arange(q)] > 0).all()
    prefix = type(extractor).__name__.lower()
    assert list(extractor.get_feature_names_out()) == [f"{prefix}{i}" for i in range(q)]
    assert extractor.n_features_in_ == 4
    if not isinstance(extractor, KOC):
        assert extractor.eigenvalues_.shape == (q,)
        if not isinstance(extractor, KPLS):
            assert (np.diff(extractor.eigenvalues_) <= 0).all()
    if isinstance(extractor, KLFE | GDA | AKDAQR | KMFA | KANMM | KPCA):
        assert extractor.explained_ratio_.shape == (q,)
        assert 0 < extractor.explained_ratio_.sum() <= 1 + 1e-12
    else:
        assert not hasattr(extractor, "explained_ratio_")


@pytest.mark.parametrize(
    ("extractor", "number"),
    [(SKFE(tol=1e-2), 3), (GDA(), 2), (KOC(), 3), (AKDAQR(), 2), (KPLS(), 6), (KMFA(), 10)],
    ids=lambda value: type(value).__name__,
)
def test_the_usual_number_of_features(extractor, number):
    assert clone(extractor).fit(*iris()).n_components_ == number


@each_extractor
def test_the_features_tell_rings_or_blobs_apart(extractor):
    # The class means of rings are one point.
    X, y = iris() if isinstance(extractor, AKDAQR) else rings(300)
    model = make_pipeline(clone(extractor), KNeighborsClassifier(5))
    least = 0.85 if isinstance(extractor, KPCA | AKDAQR) else 0.9
    assert cross_val_score(model, X, y, cv=3).mean() > least


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "rbf", "gamma": 0.2},
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
        {"kernel": "linear"},
    ],
    ids=lambda settings: settings["kernel"],
)
@pytest.mark.parametrize("method", ["kpca", "kobl"])
def test_kpca_is_that_of_scikit_learn(settings, method):
    X, _ = iris()
    rng = np.random.default_rng(0)
    new = rng.normal(size=(20, 4))
    theirs = KernelPCA(4, **settings).fit(X)
    more = {"center": True, "n_components": 4} if method == "kpca" else {"threshold": 0.0}
    ours = KPCA(4, basis=KernelBasis(method, **settings, **more)).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-7)
    same_but_for_signs(ours.transform(X), theirs.transform(X), rtol=0, atol=1e-6)
    same_but_for_signs(ours.transform(new), theirs.transform(new), rtol=0, atol=1e-6)
    trace = np.trace(theirs._centerer.transform(theirs._get_kernel(X)))
    np.testing.assert_allclose(ours.explained_ratio_, theirs.eigenvalues_ / trace, rtol=1e-7)


def test_kpca_of_a_linear_kernel_is_pca_and_goes_back():
    X, _ = iris()
    pca = PCA(2).fit(X)
    kpca = KPCA(2, basis=linear()).fit(X)
    same_but_for_signs(kpca.transform(X), pca.transform(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        kpca.inverse_transform(kpca.transform(X)), pca.inverse_transform(pca.transform(X)), atol=1e-9
    )


def test_kpca_has_its_own_basis_and_looks_at_labels_for_the_width_alone():
    X, y = rings()
    kpca = KPCA(4).fit(X)
    assert (kpca.basis_.method, kpca.basis_.center, kpca.basis_.n_components_) == ("kpca", True, 4)
    np.testing.assert_array_equal(kpca.components_, np.eye(4))
    np.testing.assert_array_equal(kpca.eigenvalues_, kpca.basis_.eigenvalues_)
    with_y = KPCA(4).fit(X, y)
    same_width = KPCA(4, basis=KernelBasis("kpca", gamma=with_y.basis_.gamma_)).fit(X)
    np.testing.assert_array_equal(with_y.transform(X), same_width.transform(X))
    assert not KPCA().__sklearn_tags__().target_tags.required
    raw = KPCA(4, center=False).fit(X)
    np.testing.assert_allclose(raw.transform(X), KernelBasis("kpca", n_components=4).fit_transform(X), atol=1e-9)
    by_labels = KPCA(4, basis=KernelBasis("kobl", gamma="loo"))
    assert by_labels.__sklearn_tags__().target_tags.required
    assert by_labels.fit(X, y).n_components_ == 4


@pytest.mark.parametrize("data", [load_iris, load_wine], ids=["iris", "wine"])
def test_gda_of_a_linear_kernel_is_lda(data):
    X, y = data(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    gda = GDA(reg=0.0, basis=linear()).fit(X, y)
    assert gda.n_components_ == 2
    theirs = lda.transform(X)
    ours = gda.transform(X)
    # Ours have a total scatter of 1.
    theirs = (theirs - theirs.mean(axis=0)) / np.linalg.norm(theirs - theirs.mean(axis=0), axis=0)
    same_but_for_signs(ours, theirs, rtol=0, atol=1e-8)
    ratio = gda.eigenvalues_ / (1 - gda.eigenvalues_)
    np.testing.assert_allclose(ratio / ratio.sum(), lda.explained_variance_ratio_, rtol=1e-8)


def test_kpls_of_a_linear_kernel_is_pls_for_numbers_and_for_classes():
    X, y = make_friedman1(120, noise=0.3, random_state=0)
    pls = PLSRegression(5, scale=False).fit(X, y)
    kpls = KPLS(5, basis=linear()).fit(X, y)
    same_but_for_signs(kpls.transform(X), pls.x_scores_, rtol=0, atol=1e-8)
    X, y = iris()
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(y[:, None])
    pls = PLSRegression(3, scale=False, tol=1e-14, max_iter=10_000).fit(X, one_hot)
    kpls = KPLS(3, basis=linear()).fit(X, y)
    same_but_for_signs(kpls.transform(X), pls.x_scores_, rtol=0, atol=1e-6)
    as_numbers = KPLS(3, task="numbers", basis=linear()).fit(X, y)
    pls = PLSRegression(3, scale=False).fit(X, y.astype(float))
    same_but_for_signs(as_numbers.transform(X), pls.x_scores_, rtol=0, atol=1e-8)


def test_koc_spans_the_centroids():
    X, y = load_iris(return_X_y=True)
    koc = KOC(basis=linear()).fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    directions = np.linalg.lstsq(X, koc.transform(X), rcond=None)[0]
    np.testing.assert_allclose(directions.T @ directions, np.eye(koc.n_components_), atol=1e-9)
    np.testing.assert_allclose(directions @ directions.T @ means.T, means.T, atol=1e-9)


@pytest.mark.parametrize("reg", [1e-3, 0.3])
def test_akda_qr_has_one_feature_a_class_if_asked(reg):
    X, y = iris()
    usual, all_three = AKDAQR(reg, gamma=0.3).fit(X, y), AKDAQR(reg, gamma=0.3, n_components=3).fit(X, y)
    assert (usual.n_components_, all_three.n_components_) == (2, 3)
    np.testing.assert_allclose(all_three.transform(X)[:, :2], usual.transform(X), atol=1e-9)
    assert all_three.eigenvalues_[2] == all_three.explained_ratio_[2] == 0
    # The last direction w: the scatter T of the denominator has vTw = 0 for the others and wTw = 1, and no class mean
    # differs along it.
    Z = all_three.basis_.transform(X)
    total = (Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0))
    total += reg * np.trace(total) / 3 * np.eye(3)
    np.testing.assert_allclose(all_three.components_ @ total @ all_three.components_.T, np.eye(3), atol=1e-8)
    means = [all_three.transform(X)[y == c, 2].mean() for c in range(3)]
    np.testing.assert_allclose(means, 0, atol=1e-8)
    assert AKDAQR(reg, gamma=0.3, n_components=1).fit(X, y).n_components_ == 1
    with pytest.raises(ValueError, match=r"n_components = 4, but only 3 can be had.*\nhint: "):
        AKDAQR(reg, gamma=0.3, n_components=4).fit(X, y)


def test_akda_qr_builds_on_the_class_means():
    X, y = iris()
    akda = AKDAQR(basis=KernelBasis("kpca", kernel="matern32", gamma=0.3, n_components=2, center=True)).fit(X, y)
    assert (akda.basis_.method, akda.basis_.kernel, akda.basis_.gamma_) == ("gram-schmidt", "matern32", 0.3)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(akda.basis_.landmarks_, means, atol=1e-12)
    # A rule for the width looks at the rows.
    assert AKDAQR().fit(X, y).basis_.gamma_ == KernelBasis().fit(X).gamma_
    scattered = AKDAQR().fit(sparse.csr_array(X), y)
    assert sparse.issparse(scattered.basis_.landmarks_)
    np.testing.assert_allclose(scattered.transform(X), AKDAQR().fit(X, y).transform(X), atol=1e-9)
    with pytest.raises(ValueError, match="a precomputed kernel does not know\nhint: use `gda`"):
        AKDAQR(basis=KernelBasis(kernel="precomputed")).fit(rbf_kernel(X), y)


def test_skfe_climbs_to_an_alignment_that_is_that_of_its_features():
    X, y = iris()
    for center in (False, True):
        skfe = SKFE(2, center=center, tol=1e-3, basis=KernelBasis("kobl", n_components=15)).fit(X, y)
        assert (np.diff(skfe.alignment_path_) >= 0).all()
        assert skfe.alignment_ == skfe.alignment_path_[-1]
        Z = skfe.transform(X)
        np.testing.assert_allclose(skfe.alignment_, kernel_alignment(Z @ Z.T, y, center=center), rtol=1e-8)
        np.testing.assert_allclose(skfe.eigenvalues_, (Z**2).sum(axis=0), rtol=1e-8)
        better = SKFE(2, center=center, init="random", tol=1e-3, basis=KernelBasis("kobl", n_components=15))
        assert better.fit(X, y).alignment_ > skfe.alignment_path_[0]
    with pytest.warns(ConvergenceWarning, match="ended after max_iter = 1 steps") as caught:
        assert SKFE(max_iter=1).fit(X, y).n_iter_ == 1
    assert caught[0].filename == __file__


def test_skfe_starts_anywhere_from_a_seed():
    X, y = iris()

    def first(random_state):
        basis = KernelBasis("kobl", n_components=10)
        return SKFE(init="random", tol=0.5, random_state=random_state, basis=basis).fit(X, y).alignment_path_[0]

    assert first(None) == first(0) != first(1)


def klfe_by_definition(Z, distances, y, k):
    """Return the eigenvalues of the sum over misses less that over hits, and its eigenvectors times their roots."""
    sigma = np.zeros((Z.shape[1], Z.shape[1]))
    for i, row in enumerate(distances):
        near = [j for j in np.argsort(row, kind="stable") if j != i]
        for same, sign in ((False, 1.0), (True, -1.0)):
            for j in [j for j in near if (y[j] == y[i]) == same][:k]:
                sigma += sign * np.outer(Z[i] - Z[j], Z[i] - Z[j])
    values, vectors = np.linalg.eigh(sigma)
    return values[::-1], (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1].T


@pytest.mark.parametrize(("metric", "named"), [("l1", "cityblock"), ("l2", "euclidean")])
def test_klfe_finds_neighbours_by_the_distance_of_the_rows(metric, named):
    X, y = rings(90)
    klfe = KLFE(2, n_neighbors=3, metric=metric, basis=KernelBasis("kobl", kernel="poly", gamma=0.2)).fit(X, y)
    Z = klfe.basis_.transform(X)
    values, rows = klfe_by_definition(Z, cdist(X, X, named), y, 3)
    np.testing.assert_allclose(klfe.eigenvalues_, values[:2], rtol=1e-6)
    features = Z @ rows[:2].T
    np.testing.assert_allclose(np.abs(klfe.transform(X)), np.abs(features), rtol=0, atol=1e-6 * np.abs(features).max())
    own = KLFE(2, n_neighbors=3, basis=KernelBasis("kobl", kernel="poly", gamma=0.2)).fit(X, y)
    assert not np.allclose(own.eigenvalues_, klfe.eigenvalues_)
    with pytest.raises(ValueError, match=rf"metric = {metric} is a distance of rows.*\nhint: "):
        KLFE(metric=metric, kernel="precomputed").fit(X @ X.T, y)


def test_klfe_does_not_depend_on_the_basis_of_the_span():
    X, y = rings(60)
    kinds = [KernelBasis("gram-schmidt", gamma=0.5), KernelBasis("kpca", gamma=0.5)]
    one, other = (KLFE(3, n_neighbors=2, basis=basis).fit(X, y) for basis in kinds)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-4)
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-3)


# Bases


@pytest.mark.parametrize(
    ("extractor", "method"),
    [
        (KLFE(), "kpca"),
        (SKFE(tol=0.1), "kobl"),
        *((e, "kfa") for e in (GDA(), KOC(), KPLS(), KMFA(), KANMM())),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_comes_with_a_basis(extractor, method):
    X, y = rings(80)
    assert clone(extractor).fit(X, y).basis_.method == method
    assert clone(extractor).set_params(basis="nystrom").fit(X, y).basis_.method == "nystrom"


def test_many_rows_have_rpcholesky_with_a_warning_where_all_rows_were_meant():
    X = np.random.default_rng(0).normal(size=(5_001, 1))
    y = (np.sin(3 * X[:, 0]) > 0).astype(int)
    assert GDA().fit(X, y).basis_.method == "rpcholesky"  # silent
    words = "5001 rows are more than 5000: `klfe` uses the basis `rpcholesky` in place of `kpca`"
    with pytest.warns(UserWarning, match=words) as caught:
        assert KLFE(n_queries=100).fit(X, y).basis_.method == "rpcholesky"
    assert {warning.filename for warning in caught} == {__file__}
    assert AKDAQR().fit(X, y).basis_.n_components_ == 2  # silent


@each_extractor
def test_a_basis_given_as_an_object_is_copied_and_searched_by_its_parameters(extractor):
    X, y = iris()
    basis = KernelBasis("kobl", n_components=12)
    pipeline = Pipeline([("extract", clone(extractor).set_params(basis=basis)), ("nearest", KNeighborsClassifier(3))])
    grid = {"extract__basis__gamma": [0.05, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.85
    assert not hasattr(basis, "pivots_")
    assert basis.landmarks is None
    chosen = search.best_estimator_["extract"]
    assert chosen.basis_.gamma_ == search.best_params_["extract__basis__gamma"]


@pytest.mark.parametrize("extractor", [e for e in EXTRACTORS if not isinstance(e, AKDAQR)], ids=repr)
def test_a_precomputed_kernel_gives_the_same_features(extractor):
    X, y = rings(100)  # without ties among distances, which rounding would decide
    K = rbf_kernel(X, gamma=0.2)
    settings = {"n_components": 12}
    direct = clone(extractor).set_params(basis=KernelBasis("kobl", gamma=0.2, **settings)).fit(X, y)
    given = clone(extractor).set_params(basis=KernelBasis("kobl", kernel="precomputed", **settings)).fit(K, y)
    assert given.__sklearn_tags__().input_tags.pairwise
    if isinstance(extractor, SKFE):  # a search ends where rounding leads it
        assert given.alignment_ == pytest.approx(direct.alignment_, rel=1e-3)
    else:
        np.testing.assert_allclose(given.transform(K[:9]), direct.transform(X[:9]), atol=1e-7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(given)).transform(K), given.transform(K))


# What goes in and comes out


@each_extractor
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_the_same_rows(extractor, container):
    X, y = iris()
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    settings = {"basis": KernelBasis("kobl", n_components=12)}
    dense = clone(extractor).set_params(**settings).fit(X, y)
    scattered = clone(extractor).set_params(**settings).fit(container(X), y)
    tolerance = 1e-3 if isinstance(extractor, SKFE) else 1e-7
    np.testing.assert_allclose(scattered.transform(container(X)), dense.transform(X), rtol=0, atol=tolerance)
    again = pickle.loads(pickle.dumps(scattered))
    np.testing.assert_array_equal(again.transform(X), scattered.transform(X))


@pytest.mark.filterwarnings("ignore:float32 cannot distinguish")  # by SKFE, which wants all rows
@each_extractor
def test_float32_comes_back_as_float32(extractor):
    X, y = iris()
    X = X.astype(np.float32)
    if isinstance(extractor, SKFE):  # a search ends where rounding leads it, unless it has converged
        basis = KernelBasis("kobl", gamma="scale", threshold="linear")
        extractor = clone(extractor).set_params(tol=1e-6, max_iter=2000, basis=basis)
    elif not isinstance(extractor, AKDAQR | KLFE | KPCA):  # of rows that are about as good, "kfa" may take another
        extractor = clone(extractor).set_params(basis="kobl")
    single, double = (clone(extractor).fit(given, y) for given in (X, X.astype(np.float64)))
    assert single.transform(X).dtype == np.float32
    assert clone(extractor).fit_transform(X, y).dtype == np.float32
    Z = double.transform(X.astype(np.float64))
    tolerance = 1e-4 if isinstance(extractor, SKFE) else 1e-5
    np.testing.assert_allclose(single.transform(X), Z, rtol=0, atol=tolerance * max(1.0, abs(Z).max()))
    assert single.inverse_transform(single.transform(X)).dtype == np.float32


@each_extractor
@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_go_in_and_come_out(extractor, library, frame):
    X, y = iris()
    data = frame({f"column {j}": X[:, j] for j in range(4)})
    extractor = clone(extractor).set_output(transform=library).fit(data, y)
    out = extractor.transform(data)
    assert isinstance(out, frame)
    assert list(out.columns) == list(extractor.get_feature_names_out())
    assert list(extractor.feature_names_in_) == list(extractor.basis_.feature_names_in_) == list(data.columns)
    with pytest.raises(ValueError, match="feature names"):
        extractor.transform(data[list(data.columns)[::-1]])
    assert extractor.input_importance(data).shape[0] == extractor.n_components_


@each_extractor
def test_copies_clones_and_files_give_the_same_features(extractor, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    extractor = clone(extractor).fit(X, y)
    copy = pickle.loads(pickle.dumps(extractor))
    np.testing.assert_array_equal(copy.transform(X), extractor.transform(X))
    again = clone(extractor)
    assert not hasattr(again, "basis_")
    np.testing.assert_array_equal(again.fit(X, y).transform(X), extractor.transform(X))
    mercer.save(extractor, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_allclose(loaded.transform(X), extractor.transform(X), rtol=0, atol=1e-12)
    assert list(loaded.get_feature_names_out()) == list(extractor.get_feature_names_out())
    assert loaded.method == extractor._method
    assert loaded.facts["basis"] == extractor.basis_.method
    assert loaded.facts["coordinates"] == extractor.basis_.n_components_
    pipeline = make_pipeline(StandardScaler(), clone(extractor)).fit(X, y)
    mercer.save(pipeline, tmp_path / "scaled.mercer")
    scaled = mercer.load(tmp_path / "scaled.mercer")
    np.testing.assert_allclose(scaled.transform(X), pipeline.transform(X), rtol=1e-7, atol=1e-7)


@each_extractor
def test_setting_parameters_after_the_fit_does_not_change_the_features(extractor):
    X, y = iris()
    extractor = clone(extractor).fit(X, y)
    Z = extractor.transform(X)
    extractor.set_params(basis=KernelBasis("kpca", kernel="precomputed"))
    np.testing.assert_array_equal(extractor.transform(X), Z)


def test_pre_images_come_back_where_nothing_was_lost():
    X, y = rings(40)
    kpca = KPCA(basis=KernelBasis("kpca", gamma=0.5, center=True)).fit(X)
    np.testing.assert_allclose(kpca.inverse_transform(kpca.transform(X)), X, atol=1e-3)
    gda = GDA().fit(X, y)
    assert gda.inverse_transform(gda.transform(X)).shape == X.shape


@each_extractor
def test_input_importance_is_the_mean_squared_slope(extractor):
    X, y = iris()
    extractor = clone(extractor).set_params(basis=KernelBasis("kobl", gamma=0.1, n_components=10)).fit(X, y)
    slopes = []
    for j in range(4):
        shift = 1e-5 * np.eye(4)[j]
        slopes.append((extractor.transform(X + shift) - extractor.transform(X - shift)) / 2e-5)
    np.testing.assert_allclose(
        extractor.input_importance(X), np.mean(np.square(slopes), axis=1).T, rtol=1e-4, atol=1e-8
    )


# What is refused, and how


@pytest.mark.parametrize(
    ("extractor", "words"),
    [
        (KLFE(1000), "n_components = 1000, but only"),
        (SKFE(1000), "the basis has"),
        (GDA(3), "n_components = 3, but only 2 can be had: the means of 3 classes"),
        (KPLS(1000), "n_components = 1000, but only"),
        (KMFA(1000), "n_components = 1000, but only"),
        (KANMM(1000), "n_components = 1000, but only"),
        (KPCA(1000), "n_components = 1000, but only"),
        (KLFE(0), "'n_components' parameter of KLFE"),
        (KLFE(n_neighbors=0), "'n_neighbors' parameter"),
        (KLFE(metric="euclidean"), "'metric' parameter of KLFE"),
        (SKFE(init="pca"), "'init' parameter"),
        (SKFE(tol=-1), "'tol' parameter"),
        (SKFE(max_iter=0), "'max_iter' parameter"),
        (GDA(reg=-1), "'reg' parameter"),
        (KMFA(k_within=0), "'k_within' parameter"),
        (KPLS(0), "'n_components' parameter"),
        (KPLS(task="both"), "'task' parameter"),
        (KPCA(center=None), "'center' parameter"),
        (KOC(basis="gda"), "'basis' parameter"),
        (KOC(basis=KernelBasis("pca")), "'method' parameter of KernelBasis"),
    ],
    ids=repr,
)
def test_bad_settings_are_refused_in_words(extractor, words):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 — the words are checked below
        extractor.fit(*iris())
    assert words in str(refused.value)
    assert not hasattr(extractor, "basis_")


@each_extractor
def test_bad_rows_and_labels_are_refused_in_words(extractor):
    X, y = iris()
    extractor = clone(extractor)
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN at row 4, column 3"):
        extractor.fit(bad, y)
    numbers = np.random.default_rng(0).normal(size=150)
    if not isinstance(extractor, KPCA):
        with pytest.raises(ValueError, match="requires y to be passed"):
            extractor.fit(X)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            extractor.fit(X, y[:-1])
        with pytest.raises(ValueError, match="needs at least 2 classes"):
            extractor.fit(X, np.zeros(150, dtype=int))
    if isinstance(extractor, KPCA | KPLS):
        extractor.fit(X, numbers)
    else:
        with pytest.raises(ValueError, match=r"needs classes, but the target was read as numbers\nhint: "):
            extractor.fit(X, numbers)
    extractor.fit(X, y)
    with pytest.raises(ValueError, match=f"X has 3 features, but {type(extractor).__name__} is expecting 4"):
        extractor.transform(X[:, :3])
    with pytest.raises(ValueError, match="NaN at row 4, column 3"):
        extractor.transform(bad)


def test_labels_are_looked_at_before_a_basis_is_fitted():
    X, y = make_friedman1(60, random_state=0)
    # No basis can be fitted with such a kernel, which is found out on the way.
    basis = KernelBasis(kernel="sigmoid", gamma=1.0, coef0=-1.0)
    with pytest.raises(ValueError, match="needs classes"):
        GDA(basis=basis).fit(X, y)
    with pytest.raises(mercer.NumericalError, match="not positive semi-definite"):
        GDA(basis=basis).fit(X, y > y.mean())


# Evidence


def test_moments_of_parts_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(100, 4)) + 1e6, np.eye(3)[rng.integers(3, size=100)]
    whole = Moments(4, 3).accumulate(Z, Y).finish()
    parts = [Moments(4, 3).accumulate(Z[i::3], Y[i::3]) for i in range(3)]
    parts[1] = pickle.loads(pickle.dumps(parts[1]))
    merged = parts[2].merge(parts[0]).merge(parts[1]).finish()
    for name, value in whole.items():
        np.testing.assert_allclose(merged[name], value, rtol=1e-9, atol=1e-8, err_msg=name)
    centred = Z - Z.mean(axis=0)
    np.testing.assert_allclose(whole["total"], centred.T @ centred, rtol=0, atol=1e-6)
    np.testing.assert_allclose(whole["cross"], centred.T @ (Y - Y.mean(axis=0)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(whole["gram"], Z.T @ Z, rtol=1e-12)
    np.testing.assert_allclose(whole["sums"], Z.T @ Y, rtol=1e-12)
    means = np.array([centred[Y[:, c] == 1].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(whole["between"], (means.T * Y.sum(axis=0)) @ means, rtol=0, atol=1e-6)
    assert (whole["n"], len(whole["target_mean"])) == (100, 3)


def test_the_moments_of_a_basis_coordinates_are_what_gda_sees():
    X, y = iris()
    gda = GDA().fit(X, y)
    Z = gda.basis_.transform(X)
    found = Moments(Z.shape[1], 3).accumulate(Z, np.eye(3)[y]).finish()
    np.testing.assert_allclose(gda.offset_, gda.components_ @ found["mean"], atol=1e-9)
    ridge = 0.1 * np.trace(found["total"]) / Z.shape[1]
    V = gda.components_
    np.testing.assert_allclose(
        V @ (found["total"] + ridge * np.eye(len(ridge * found["total"]))) @ V.T, np.eye(2), atol=1e-7
    )
    np.testing.assert_allclose(np.diag(V @ found["between"] @ V.T), gda.eigenvalues_, atol=1e-7)


def test_margins_of_parts_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    A, B, w = rng.normal(size=(60, 3)), rng.normal(size=(60, 3)), rng.random(60)
    whole = Margins(3).accumulate("miss", A, B, w).accumulate("hit", B, A).finish()
    half = Margins(3).accumulate("miss", A[:20], B[:20], w[:20])
    other = pickle.loads(pickle.dumps(Margins(3).accumulate("miss", A[20:], B[20:], w[20:]).accumulate("hit", A, B)))
    merged = half.merge(other).finish()
    np.testing.assert_allclose(merged["misses"], whole["misses"], rtol=1e-12)
    np.testing.assert_allclose(merged["hits"], whole["hits"], rtol=1e-12)
    np.testing.assert_allclose(whole["misses"], (A - B).T @ ((A - B) * w[:, None]), rtol=1e-12)


def test_sums_that_do_not_fit_are_refused_in_words():
    with pytest.raises(ValueError, match="2 features and 1 targets are added up"):
        Moments(2, 1).accumulate([[1.0, 2.0]])
    with pytest.raises(ValueError, match="cannot be merged"):
        Moments(2).merge(Moments(3))
    with pytest.raises(ValueError, match="no rows were added up"):
        Moments(2).finish()
    with pytest.raises(ValueError, match="NaN"):
        Moments(1).accumulate([[np.nan]])
    with pytest.raises(ValueError, match="side = `hits` is not known"):
        Margins(1).accumulate("hits", [[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="a weight a pair"):
        Margins(1).accumulate("hit", [[0.0]], [[1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="cannot be merged"):
        Margins(2).merge(Margins(3))


def test_every_extractor_of_the_catalogue_is_a_class():
    assert {extractor._method for extractor in EXTRACTORS} == {*stage("extract"), "kpca"}


@pytest.mark.parametrize("kind", [KLFE, KANMM])
def test_some_rows_stand_for_all(kind):
    """Features from a sample of the queries are near those of all, and the same for the same seed."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] ** 2 + X[:, 1] > 0.8).astype(int)
    basis = KernelBasis("kobl", gamma=0.3, n_components=25)
    every = kind(2, basis=basis).fit(X, y)
    some = kind(2, n_queries=1000, basis=basis, random_state=1).fit(X, y)
    again = kind(2, n_queries=1000, basis=basis, random_state=1).fit(X, y)
    np.testing.assert_array_equal(some.components_, again.components_)
    assert not np.array_equal(some.components_, kind(2, n_queries=1000, basis=basis).fit(X, y).components_)
    np.testing.assert_allclose(some.eigenvalues_[0], every.eigenvalues_[0], rtol=0.3)
    ours, theirs = some.transform(X)[:, 0], every.transform(X)[:, 0]
    assert abs(np.corrcoef(ours, theirs)[0, 1]) > 0.9
    plain = kind(2, n_queries=3000, basis=basis).fit(X, y)
    np.testing.assert_allclose(plain.components_, every.components_, rtol=1e-9, atol=1e-12)


def test_points_are_moved_to_where_the_labels_are_served():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    centres = KernelBasis("kmeans", gamma=0.05, n_components=3).fit_transform(X, y)
    for criterion in ("alignment", "margin", "radius-margin"):
        skfe = SKFE(points=3, gamma=0.05, criterion=criterion).fit(X, y)
        assert skfe.basis_.method_ == "kmeans"
        assert skfe.basis_.landmarks_.shape == (3, 13)
        Z = skfe.transform(X)
        assert Z.shape == (178, 3)
        if criterion == "alignment":
            assert kernel_alignment(Z @ Z.T, y) > kernel_alignment(centres @ centres.T, y) + 0.05
            assert skfe.alignment_ == pytest.approx(kernel_alignment(Z @ Z.T, y))
    with pytest.raises(ValueError, match="points = 3 are a basis of their own"):
        SKFE(points=3, basis="kobl").fit(X, y)
    with pytest.raises(ValueError, match="`laplacian` does not have, or not everywhere"):
        SKFE(points=3, kernel="laplacian").fit(X, y)


def test_margins_separate_classes():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for criterion in ("margin", "radius-margin"):
        skfe = SKFE(criterion=criterion).fit(X[::2], y[::2])
        score = KNeighborsClassifier(1).fit(skfe.transform(X[::2]), y[::2]).score(skfe.transform(X[1::2]), y[1::2])
        assert score > 0.9


def test_clusters_of_a_class_are_features_of_their_own():
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [6, 6], [0, 6], [6, 0]])
    which = np.arange(80) % 4
    X = corners[which] + 0.3 * rng.normal(size=(80, 2))
    y = which // 2
    koc = KOC(2, gamma=0.1, basis="kobl").fit(X, y)
    assert koc.n_components_ == 4
    means = np.array([koc.basis_.transform(X)[which == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(means @ koc.components_.T @ koc.components_, means, atol=1e-9)


def test_positive_components_of_an_indefinite_kernel_are_found_with_a_warning():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    values = np.r_[9.0, 5.0, 3.0, np.full(26, 1.0), -2.0]
    K = vectors * values @ vectors.T
    K = (K + K.T) / 2
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        found = KPCA(2, kernel="precomputed", center=False).fit(K)
    np.testing.assert_allclose(found.eigenvalues_, [9.0, 5.0], rtol=1e-9)
    with pytest.raises(mercer.NumericalError, match="not positive semi-definite"):
        KPCA(kernel="precomputed", center=False).fit(K)
