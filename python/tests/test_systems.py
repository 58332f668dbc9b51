"""Systems: a basis, a selector on its coordinates, and the map of what it kept."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_circles, make_friedman1, make_moons
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    f_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mercer
from mercer import EKS, KFFS, TAKES, FScore, KernelBasis, KRelief, LaplacianScore, Relief, ReliefF, SKRelief
from mercer._catalogue import stage

EPS = np.finfo(float).eps
SYSTEMS = [TAKES(), KRelief(), SKRelief(), EKS("relieff")]


def names_of(systems):
    return [type(system).__name__ for system in systems]


each_system = pytest.mark.parametrize("system", SYSTEMS, ids=names_of(SYSTEMS))


def rings(n=150, seed=0):
    X, y = make_circles(n, factor=0.5, noise=0.08, random_state=seed)
    return np.c_[X, np.random.default_rng(seed).normal(scale=0.3, size=(n, 2))], y


# What they find


@each_system
def test_what_is_found_fits_together(system):
    X, y = rings()
    new, _ = rings(seed=1)
    system = clone(system).fit(X, y)
    m, q = system.basis_.n_components_, system.n_components_
    assert isinstance(system.basis_, KernelBasis)
    assert system.scores_.shape == system.ranking_.shape == (m,)
    assert sorted(system.ranking_) == list(range(1, m + 1))
    assert system.components_.shape == (q, m)
    kept = system.get_support(indices=True)
    assert len(kept) == system.get_support().sum() == q > 0
    assert (np.diff(kept) > 0).all()
    # Features are the basis' coordinates times what is in the components, and nothing else.
    tolerance = 1000 * EPS * np.abs(system.basis_.coefficients_).sum() * np.abs(system.components_).max()
    expected = system.basis_.transform(new) @ system.components_.T
    np.testing.assert_allclose(system.transform(new), expected, rtol=0, atol=tolerance)
    off = np.delete(system.components_, kept, axis=1)
    assert (off == 0).all()
    names = [f"{system.basis_.method.replace('-', '')}{j}" for j in kept]
    assert list(system.get_feature_names_out()) == names
    assert system.n_features_in_ == 4


@each_system
def test_the_features_tell_the_rings_apart(system):
    X, y = rings(300)
    new, truth = rings(200, seed=1)
    model = make_pipeline(clone(system), KNeighborsClassifier(5)).fit(X, y)
    assert model.score(new, truth) > 0.9


def test_takes_is_kobl_and_kffs():
    X, y = rings()
    takes = TAKES().fit(X, y)
    assert takes.basis_.method == "kobl"
    Z = KernelBasis("kobl", threshold="linear").fit_transform(X, y)
    kffs = KFFS("positive").fit(Z, y)
    np.testing.assert_array_equal(takes.scores_, kffs.scores_)
    np.testing.assert_array_equal(takes.error_path_, kffs.error_path_)
    np.testing.assert_array_equal(takes.ranking_, kffs.ranking_)
    np.testing.assert_array_equal(takes.get_support(), kffs.scores_ > 0)
    np.testing.assert_array_equal(takes.components_, np.diag(kffs.scores_)[kffs.scores_ > 0])
    plain = TAKES(weighted=False).fit(X, y)
    np.testing.assert_array_equal(plain.components_, np.eye(len(kffs.scores_))[kffs.scores_ > 0])
    other = TAKES(reweight=True).fit(X, y)
    np.testing.assert_array_equal(other.scores_, KFFS(reweight=True).fit(Z, y).scores_)
    slow = TAKES(theta=4).fit(X, y)
    np.testing.assert_array_equal(slow.scores_, KFFS(theta=4).fit(Z, y).scores_)
    assert (slow.scores_ != takes.scores_).any()
    # No ensemble ever decides: every column is as good as its own classifier.
    alone = KFFS(theta=10**6).fit(Z, y)
    assert (np.diff(alone.error_path_) >= 0).all()


def relief_in_the_kernels_space(X, y, Z, k, power):
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    scores = np.zeros(Z.shape[1])
    for i, near in enumerate(np.argsort(distances, axis=1, kind="stable")):
        others = near[near != i]
        hits, misses = others[y[others] == y[i]][:k], others[y[others] != y[i]][:k]
        scores += (np.abs(Z[misses] - Z[i]) ** power).sum(axis=0) - (np.abs(Z[hits] - Z[i]) ** power).sum(axis=0)
    return scores / len(X)


@pytest.mark.parametrize(("kind", "method"), [(KRelief, "kpca"), (SKRelief, "sparse")])
@pytest.mark.parametrize(("k", "power"), [(1, 1), (3, 2)])
def test_relief_looks_for_neighbours_in_the_kernels_space(kind, method, k, power):
    X, y = rings()
    system = kind(10, n_neighbors=k, power=power).fit(X, y)
    assert system.basis_.method == method
    assert system.n_components_ == 10
    Z = KernelBasis(method, nu=0.01).fit_transform(X, y)
    # Stationary kernels have the neighbours of the rows.
    np.testing.assert_allclose(system.scores_, relief_in_the_kernels_space(X, y, Z, k, power), rtol=1e-9, atol=1e-12)
    assert set(system.get_support(indices=True)) == set(np.argsort(-system.scores_, kind="stable")[:10])
    weighted = kind(10, n_neighbors=k, power=power, weighted=True).fit(X, y)
    positive = np.maximum(system.scores_, 0)
    positive /= np.linalg.norm(positive)
    np.testing.assert_allclose(weighted.components_.sum(axis=1), positive[system.get_support()], rtol=1e-9)


@pytest.mark.parametrize(
    ("system", "weights"),
    [
        (TAKES(7), lambda Z, y: KFFS(7).fit(Z, y).scores_),
        (KRelief(7), lambda Z, y: KRelief(7).fit(*rings()).selector_.weights_),
        (SKRelief(7), lambda Z, y: SKRelief(7).fit(*rings()).selector_.weights_),
        (EKS("kffs", 7), lambda Z, y: KFFS(7).fit(Z, y).scores_),
        (EKS(KFFS(7)), lambda Z, y: KFFS(7).fit(Z, y).scores_),
    ],
    ids=["TAKES", "KRelief", "SKRelief", "EKS by name", "EKS by object"],
)
def test_the_linear_kernel_of_features_weighted_by_roots_is_the_weighted_kernel(system, weights):
    X, y = rings()
    new, _ = rings(seed=1)
    plain = clone(system).set_params(weighted=False).fit(X, y)
    w = weights(plain.basis_.transform(X), y)
    rooted = clone(system).set_params(weighted="sqrt").fit(X, y)
    phi, phi_new = plain.basis_.transform(X), plain.basis_.transform(new)
    kernel = sum(w[j] * np.outer(phi_new[:, j], phi[:, j]) for j in rooted.get_support(indices=True))
    scale = np.abs(kernel).max()
    np.testing.assert_allclose(rooted.transform(new) @ rooted.transform(X).T, kernel, rtol=0, atol=1e-9 * scale)
    # φ·w is something else, and the components say by what a coordinate is multiplied.
    whole = clone(system).set_params(weighted=True).fit(X, y)
    np.testing.assert_allclose(rooted.components_**2, whole.components_, rtol=1e-12)
    np.testing.assert_array_equal(rooted.get_support(), whole.get_support())
    again = pickle.loads(pickle.dumps(rooted))
    np.testing.assert_array_equal(again.transform(new), rooted.transform(new))


@pytest.mark.parametrize("system", [TAKES(9), KRelief(9), SKRelief(9), EKS("relief", 9)], ids=names_of(SYSTEMS))
def test_a_linear_machine_on_features_weighted_by_roots_is_the_kernel_machine_on_the_weighted_kernel(system):
    X, y = rings()
    new, _ = rings(seed=1)
    plain = clone(system).set_params(weighted=False).fit(X, y)
    rooted = clone(system).set_params(weighted="sqrt").fit(X, y)
    selector = plain.selector_
    w = getattr(selector, "weights_", selector.scores_)[plain.get_support()]
    phi, phi_new = plain.transform(X), plain.transform(new)
    kernel, new_kernel = (sum(w[j] * np.outer(rows[:, j], phi[:, j]) for j in range(9)) for rows in (phi, phi_new))
    linear = SVC(kernel="linear", C=10.0, tol=1e-10).fit(rooted.transform(X), y)
    machine = SVC(kernel="precomputed", C=10.0, tol=1e-10).fit(kernel, y)
    decided = machine.decision_function(new_kernel)
    assert np.abs(decided).max() > 0.1
    np.testing.assert_allclose(linear.decision_function(rooted.transform(new)), decided, rtol=0, atol=1e-6)


def test_weights_of_a_selector_without_weights_are_refused():
    X, y = rings(60)
    with pytest.raises(ValueError, match=r"weighted = sqrt, but `f` gives scores and no weights.*\nhint: "):
        EKS("f", weighted="sqrt").fit(X, y)
    with pytest.raises(ValueError, match=r"weighted = 'sqrt', but SelectKBest gives scores.*\nhint: "):
        EKS(SelectKBest(k=3), weighted="sqrt").fit(X, y)


def test_relief_in_the_space_of_a_kernel_that_is_not_stationary():
    X, y = rings()
    basis = KernelBasis("kobl", kernel="poly", gamma=1.0, degree=2, n_components=8)
    system = KRelief(3, n_neighbors=2, basis=basis).fit(X, y)
    K = (X @ X.T + 1.0) ** 2
    distances = np.diag(K)[:, None] + np.diag(K) - 2 * K
    np.fill_diagonal(distances, np.inf)
    Z = system.basis_.transform(X)
    scores = np.zeros(8)
    for i, near in enumerate(np.argsort(distances, axis=1, kind="stable")):
        others = near[near != i]
        hits, misses = others[y[others] == y[i]][:2], others[y[others] != y[i]][:2]
        scores += np.abs(Z[misses] - Z[i]).sum(axis=0) - np.abs(Z[hits] - Z[i]).sum(axis=0)
    np.testing.assert_allclose(system.scores_, scores / len(X), rtol=1e-6, atol=1e-9)


def test_sk_reliefs_nu_is_for_its_own_basis_alone():
    X, y = rings()
    sizes = [SKRelief(3, nu=nu).fit(X, y).basis_.n_components_ for nu in (0.01, 0.3)]
    assert sizes[0] > sizes[1]
    given = [SKRelief(3, nu=nu, basis=KernelBasis("sparse", nu=0.1)).fit(X, y) for nu in (0.01, 0.3)]
    np.testing.assert_array_equal(given[0].transform(X), given[1].transform(X))


@pytest.mark.parametrize("name", stage("select"))
def test_eks_takes_every_selector_by_name(name):
    X, y = rings()
    basis = KernelBasis("kpca", n_components=12)
    system = EKS(name, n_features=4, basis=basis).fit(X, y)
    assert 1 <= system.n_components_ <= 4
    assert system.selector_._called() == name
    if name in ("relief", "relieff", "rrelieff", "surf", "surf-star", "multisurf", "multisurf-star"):
        return  # with neighbours in the kernel's space
    by_hand = mercer.select.named(name, 4, 0).fit(basis.fit_transform(X, y), y)
    np.testing.assert_array_equal(system.get_support(), by_hand.get_support())
    np.testing.assert_array_equal(system.scores_, by_hand.scores_)


def test_eks_keeps_as_many_as_it_is_told_to():
    X, y = rings()
    basis = KernelBasis("kpca", n_components=12)
    assert EKS("laplacian", basis=basis).fit(X).n_components_ == 8  # two thirds, where there is nothing to predict
    assert EKS(n_features=2 / 3, basis=basis).fit(X, y).n_components_ == 8
    assert EKS(n_features=None, basis=basis).fit(X, y).n_components_ == 12
    with pytest.warns(UserWarning, match="n_features = 13, but there are only 12 columns") as caught:
        assert EKS(n_features=13, basis=basis).fit(X, y).n_components_ == 12
    assert caught[0].filename == __file__


def test_eks_with_a_selector_of_ours_takes_its_settings():
    X, y = rings()
    basis = KernelBasis("kpca", n_components=12)
    selector = ReliefF(3, n_neighbors=4)
    system = EKS(selector, basis=basis).fit(X, y)
    assert system.n_components_ == 3
    assert system.selector_ is not selector
    assert not hasattr(selector, "scores_")
    assert system.selector_.n_neighbors == 4
    assert system.selector_.pvalues_.shape == (12,)
    named = EKS("relieff", n_features=3, basis=basis).fit(X, y)
    assert (named.scores_ != system.scores_).any()
    # In the kernel's space, not among the coordinates: that of rbf has the rows' own neighbours.
    own = ReliefF(3, n_neighbors=4).fit(basis.fit_transform(X), y)
    assert (own.scores_ != system.scores_).any()
    with pytest.raises(ValueError, match=r"metric is given for `relief`, but in `eks` .*\n?.*hint: "):
        EKS(Relief(metric="manhattan"), basis=basis).fit(X, y)
    with pytest.raises(ValueError, match="'n_neighbors' parameter of ReliefF"):
        EKS(ReliefF(n_neighbors=0), basis=basis).fit(X, y)
    numbers = EKS(FScore(2, task="numbers"), basis=basis).fit(X, y)
    assert numbers.n_components_ == 2


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(f_classif, k=3),
        SelectFromModel(LogisticRegression(), threshold="median"),
        RFE(LogisticRegression(), n_features_to_select=3),
        VarianceThreshold(1e-3),
    ],
)
def test_eks_takes_any_selector_of_scikit_learn(selector):
    X, y = rings()
    basis = KernelBasis("kpca", n_components=12)
    system = EKS(selector, basis=basis).fit(X, y)
    Z = basis.fit_transform(X, y)
    by_hand = clone(selector).fit(Z, y)
    np.testing.assert_array_equal(system.get_support(), by_hand.get_support())
    np.testing.assert_array_equal(system.transform(X), system.basis_.transform(X)[:, by_hand.get_support()])
    assert type(system.selector_) is type(selector)
    assert EKS(selector).fit(X, y).basis_.method == EKS().fit(X, y).basis_.method == "gram-schmidt"
    assert np.isfinite(system.scores_).all()
    best = system.scores_[np.argsort(system.ranking_)]
    assert (np.diff(best) <= 0).all()


def test_eks_needs_labels_only_where_the_selector_does():
    X, y = rings()
    basis = KernelBasis("kpca", n_components=12)
    for selector in ("laplacian", LaplacianScore(5), VarianceThreshold(1e-3)):
        EKS(selector, basis=basis).fit(X)
        assert not EKS(selector).__sklearn_tags__().target_tags.required
    for system in (EKS(basis=basis), EKS("laplacian", basis="csi"), EKS(SelectKBest()), EKS("laplacian", basis=csi())):
        with pytest.raises(ValueError, match="requires y to be passed"):
            system.fit(X)
    assert EKS("laplacian", basis="csi").fit(X, y).basis_.method == "csi"


def csi():
    return KernelBasis("csi", n_components=5)


def test_labels_may_be_numbers_where_the_selector_takes_them():
    X, y = make_friedman1(200, noise=0.1, random_state=0)
    basis = KernelBasis("kobl", n_components=40)
    for name in ("f", "mi", "lasso", "rrelieff"):
        assert EKS(name, n_features=5, basis=basis).fit(X, y).n_components_ <= 5
    for system in (TAKES(), KRelief(), SKRelief(), EKS("relieff")):
        with pytest.raises(ValueError, match=r"needs classes, but the target was read as numbers\nhint: "):
            system.fit(X, y)


# Bases


@each_system
@pytest.mark.parametrize("method", stage("basis"))
def test_a_basis_may_be_given_by_name(system, method):
    X, y = rings(60)
    system = clone(system).set_params(basis=method, n_features=3).fit(X, y)
    assert system.basis_.method == method
    assert system.basis == method  # the parameter stays what it was
    assert system.n_components_ == 3


@each_system
def test_a_basis_given_as_an_object_is_copied_and_searched_by_its_parameters(system):
    X, y = rings(120)
    basis = KernelBasis("kobl", n_components=20, threshold=0.0)
    system = clone(system).set_params(basis=basis, n_features=3).fit(X, y)
    assert system.basis is basis
    assert not hasattr(basis, "pivots_")
    assert system.basis_.n_components_ == 20
    pipeline = Pipeline([("system", clone(system)), ("nearest", KNeighborsClassifier(3))])
    grid = {"system__basis__gamma": [0.1, 1.0], "system__n_features": [2, 0.2]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    chosen = search.best_estimator_["system"]
    assert chosen.basis_.gamma_ == search.best_params_["system__basis__gamma"]
    assert chosen.n_components_ == {2: 2, 0.2: 4}[search.best_params_["system__n_features"]]


def test_many_rows_have_rpcholesky_in_place_of_all_rows_with_a_warning():
    X = np.random.default_rng(0).normal(size=(5_001, 1))
    y = (np.sin(3 * X[:, 0]) > 0).astype(int)
    with pytest.warns(UserWarning, match="5001 rows are more than 5000") as caught:
        system = KRelief(3, n_queries=100).fit(X, y)
    assert system.basis_.method == "rpcholesky"
    texts = [str(warning.message) for warning in caught]
    assert texts[0].startswith("5001 rows are more than 5000: `k-relief` uses the basis `rpcholesky` in place of")
    assert caught[0].filename == __file__
    EKS(basis=KernelBasis("nystrom", n_components=20)).fit(X, y)  # silent


def test_random_states_reach_a_basis_that_has_none_of_its_own():
    X, y = rings()

    def pivots(random_state, basis=None):
        return list(SKRelief(3, random_state=random_state, basis=basis).fit(X, y).basis_.pivots_)

    assert pivots(None) == pivots(0) == pivots(0)
    assert pivots(1) != pivots(0)
    assert pivots(1, "rpcholesky") != pivots(0, "rpcholesky")
    own = KernelBasis("sparse", random_state=5)
    assert pivots(0, own) == pivots(1, own)
    generator = np.random.RandomState(3)
    assert pivots(generator) != pivots(generator)
    some = KRelief(5, n_queries=30).fit(X, y)
    assert (some.scores_ != KRelief(5, n_queries=30, random_state=1).fit(X, y).scores_).any()


@each_system
def test_a_precomputed_kernel_gives_the_same_features(system):
    X, y = rings(100)
    new, _ = rings(20, seed=1)
    K = rbf_kernel(X, gamma=0.7)
    direct = clone(system).set_params(basis=KernelBasis("kobl", gamma=0.7, n_components=15), n_features=4).fit(X, y)
    basis = KernelBasis("kobl", kernel="precomputed", n_components=15)
    given = clone(system).set_params(basis=basis, n_features=4).fit(K, y)
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not direct.__sklearn_tags__().input_tags.pairwise
    np.testing.assert_array_equal(given.get_support(), direct.get_support())
    np.testing.assert_allclose(given.transform(rbf_kernel(new, X, gamma=0.7)), direct.transform(new), atol=1e-9)
    # A fold's matrix is sliced both ways. Rounding may decide between equal votes of KFFS.
    scores = [
        cross_val_score(make_pipeline(s, KNeighborsClassifier(3)), r, y, cv=3) for s, r in ((given, K), (direct, X))
    ]
    np.testing.assert_allclose(*scores, atol=0.05)
    again = pickle.loads(pickle.dumps(given))
    np.testing.assert_array_equal(again.transform(K), given.transform(K))


# What goes in and comes out


@each_system
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_the_same_rows(system, container):
    X, y = rings()
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    settings = {"basis": KernelBasis("kobl", n_components=15), "n_features": 5}
    dense = clone(system).set_params(**settings).fit(X, y)
    scattered = clone(system).set_params(**settings).fit(container(X), y)
    np.testing.assert_array_equal(scattered.get_support(), dense.get_support())
    np.testing.assert_allclose(scattered.transform(container(X)), dense.transform(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(scattered.transform(X), dense.transform(X), rtol=0, atol=1e-9)
    again = pickle.loads(pickle.dumps(scattered))
    np.testing.assert_array_equal(again.transform(X), scattered.transform(X))


@each_system
def test_float32_comes_back_as_float32(system):
    X, y = rings()
    X = X.astype(np.float32)
    single, double = (clone(system).fit(given, y) for given in (X, X.astype(np.float64)))
    np.testing.assert_allclose(single.scores_, double.scores_, rtol=1e-4, atol=1e-5)
    assert single.transform(X).dtype == np.float32
    assert clone(system).fit_transform(X, y).dtype == np.float32
    Z = double.transform(X.astype(np.float64))
    np.testing.assert_allclose(single.transform(X), Z, rtol=0, atol=1e-5 * max(1.0, abs(Z).max()))
    assert single.inverse_transform(single.transform(X)).dtype == np.float32


@each_system
@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_go_in_and_come_out(system, library, frame):
    X, y = rings()
    data = frame({f"column {j}": X[:, j] for j in range(4)})
    system = clone(system).set_output(transform=library).fit(data, y)
    out = system.transform(data)
    assert isinstance(out, frame)
    assert list(out.columns) == list(system.get_feature_names_out())
    assert list(system.feature_names_in_) == list(system.basis_.feature_names_in_) == list(data.columns)
    np.testing.assert_array_equal(out.to_numpy(), clone(system).set_output().fit(X, y).transform(X))
    with pytest.raises(ValueError, match="feature names"):
        system.transform(data[list(data.columns)[::-1]])
    with pytest.raises(ValueError, match="input_features should have length equal"):
        clone(system).fit(X, y).get_feature_names_out(["only one"])


@each_system
def test_a_pickled_copy_gives_the_same_bits_and_a_clone_the_same_fit(system):
    X, y = rings()
    system = clone(system).fit(X, y)
    copy = pickle.loads(pickle.dumps(system))
    np.testing.assert_array_equal(copy.transform(X), system.transform(X))
    again = clone(system)
    assert not hasattr(again, "basis_")
    np.testing.assert_array_equal(again.fit(X, y).transform(X), system.transform(X))


@each_system
def test_setting_parameters_after_the_fit_does_not_change_the_features(system):
    X, y = rings()
    system = clone(system).set_params(basis=KernelBasis("kobl", n_components=10), n_features=5).fit(X, y)
    Z = system.transform(X)
    system.set_params(basis=KernelBasis("kpca", kernel="precomputed"), n_features=1)
    np.testing.assert_array_equal(system.transform(X), Z)
    assert system.get_feature_names_out()[0].startswith("kobl")


def test_pre_images_come_back_where_all_coordinates_are_kept():
    X, y = rings(40)
    system = TAKES(n_features=None, weighted=False, basis=KernelBasis("kobl", gamma=0.5, threshold=0.0)).fit(X, y)
    np.testing.assert_allclose(system.inverse_transform(system.transform(X)), X, atol=1e-4)
    few = KRelief(2, basis="kobl").fit(X, y)
    assert few.inverse_transform(few.transform(X)).shape == X.shape


# Which inputs matter


def numeric_importance(estimator, X, step=1e-6):
    slopes = []
    for j in range(X.shape[1]):
        shift = np.zeros(X.shape[1])
        shift[j] = step
        slopes.append((estimator.transform(X + shift) - estimator.transform(X - shift)) / (2 * step))
    return np.mean(np.square(slopes), axis=1).T


@each_system
def test_input_importance_is_the_mean_squared_slope(system):
    X, y = rings(80)
    system = clone(system).set_params(basis=KernelBasis("kobl", gamma=0.5, n_components=10), n_features=4).fit(X, y)
    importance = system.input_importance(X)
    assert importance.shape == (4, 4)
    np.testing.assert_allclose(importance, numeric_importance(system, X), rtol=1e-4, atol=1e-8)
    basis = system.basis_.input_importance(X)
    assert basis.shape == (10, 4)
    weights = system.components_.sum(axis=1) ** 2
    np.testing.assert_allclose(importance, basis[system.get_support()] * weights[:, None], rtol=1e-9)
    np.testing.assert_allclose(system.input_importance(sparse.csr_array(X)), importance, rtol=1e-9)


def test_columns_that_the_kernel_hardly_sees_hardly_matter():
    X, y = rings(300)
    X[:, 2:] *= 0.1
    importance = (
        EKS("mi", n_features=3, basis=KernelBasis("kpca", gamma="scale", n_components=20)).fit(X, y).input_importance(X)
    )
    shares = (importance / importance.sum(axis=1, keepdims=True)).mean(axis=0)
    assert shares[:2].min() > 10 * shares[2:].max()


def test_importances_of_frames_are_frames(tmp_path):
    X, y = rings(60)
    names = ["one", "two", "three", "four"]
    fitted = [
        KernelBasis("kobl", n_components=5).fit(pd.DataFrame(X, columns=names)),
        KRelief(3, basis="kobl").fit(pd.DataFrame(X, columns=names), y),
    ]
    mercer.save(fitted[1], tmp_path / "model.mercer")
    fitted.append(mercer.load(tmp_path / "model.mercer"))
    for estimator in fitted:
        values = estimator.input_importance(pd.DataFrame(X, columns=names)).to_numpy()
        assert np.isfinite(values).all()
        pandas = estimator.input_importance(pd.DataFrame(X, columns=names))
        assert list(pandas.columns) == names
        assert list(pandas.index) == list(estimator.get_feature_names_out())
        polars = estimator.input_importance(pl.DataFrame(X, schema=names))
        assert polars.columns == ["feature", *names]
        assert polars["feature"].to_list() == list(estimator.get_feature_names_out())
        np.testing.assert_array_equal(polars.drop("feature").to_numpy(), values)
    np.testing.assert_array_equal(
        fitted[2].input_importance(X), fitted[1].input_importance(pd.DataFrame(X, columns=names))
    )
    # By name, wherever the columns stand.
    turned = pd.DataFrame(X, columns=names)[["four", "two", "one", "three"]].assign(more=1)
    pd.testing.assert_frame_equal(fitted[2].input_importance(turned), pandas)


def test_a_precomputed_kernel_has_no_inputs_to_be_important():
    X, y = rings(60)
    K = rbf_kernel(X)
    system = KRelief(3, basis=KernelBasis("kobl", kernel="precomputed")).fit(K, y)
    with pytest.raises(ValueError, match="precomputed"):
        system.input_importance(K)


# What is refused, and how


def test_nothing_kept_is_refused_in_words_and_leaves_no_half_fitted_system():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.random.default_rng(1).integers(2, size=60)
    system = EKS(FScore(mode="fwe", alpha=1e-12), basis=KernelBasis("kpca", n_components=5))
    with pytest.raises(ValueError, match=r"none of the 5 coordinates was kept.*\nhint: "):
        system.fit(X, y)
    assert not hasattr(system, "basis_")


def test_weights_of_nothing_are_warned_about():
    X, y = rings()
    with pytest.warns(UserWarning, match=r"\d+ of the \d+ features kept have the weight 0") as caught:
        KRelief("all", weighted=True).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (TAKES(0), "'n_features' parameter of TAKES"),
        (TAKES(weighted=None), "'weighted' parameter"),
        (TAKES(weighted="root"), "'weighted' parameter"),
        (TAKES(reweight="no"), "'reweight' parameter"),
        (TAKES(basis="kffs"), "'basis' parameter"),
        (TAKES(basis=StandardScaler()), "'basis' parameter"),
        (TAKES(basis=KernelBasis("pca")), "'method' parameter of KernelBasis"),
        (KRelief(power=3), "'power' parameter"),
        (KRelief(n_queries=0), "'n_queries' parameter"),
        (SKRelief(nu=1.0), "'nu' parameter of SKRelief"),
        (EKS("kobl"), "'selector' parameter"),
        (EKS(StandardScaler()), "'selector' parameter"),
        (EKS(n_features=2.0), "'n_features' parameter"),
    ],
)
def test_bad_settings_are_refused_in_words(system, words):
    X, y = rings(40)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 — the words are checked below
        system.fit(X, y)
    assert words in str(refused.value)


@each_system
def test_bad_rows_and_labels_are_refused_in_words(system):
    X, y = rings(40)
    system = clone(system)
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN at row 4, column 3"):
        system.fit(bad, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        system.fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        system.fit(X, y[:-1])
    with pytest.raises(ValueError, match="needs at least 2 classes"):
        system.fit(X, np.zeros(40))
    system.fit(X, y)
    with pytest.raises(ValueError, match=f"X has 3 features, but {type(system).__name__} is expecting 4"):
        system.transform(X[:, :3])
    with pytest.raises(ValueError, match="NaN at row 4, column 3"):
        system.transform(bad)


def test_every_system_of_the_catalogue_is_a_class():
    assert {system._method for system in SYSTEMS} == set(stage("system"))


def test_moons_are_told_apart_with_five_features_of_a_pipeline():
    X, y = make_moons(300, noise=0.15, random_state=0)
    for system in (TAKES(5), KRelief(5), SKRelief(5), EKS("mi", n_features=5)):
        model = make_pipeline(StandardScaler(), system, KNeighborsClassifier(5))
        assert cross_val_score(model, X, y, cv=3).mean() > 0.9, system
