"""The same numbers as scikit-learn, where it computes the same thing."""

import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn import datasets
from sklearn.decomposition import KernelPCA
from sklearn.feature_selection import (
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Lasso, MultiTaskLasso
from sklearn.metrics import pairwise
from sklearn.preprocessing import StandardScaler

from mercer import EKS, FScore, KernelBasis, LassoSelector, MutualInfo

EPS = np.finfo(float).eps
RANK = 1e-10  # share of the largest k(x,x) that counts as rounding
GAMMA = 0.3
LENGTH = 1 / np.sqrt(2 * GAMMA)  # the papers' σ

# name: settings of ours, scikit-learn's matrix of two sets of rows
KERNELS = {
    "rbf": ({}, lambda X, Y: pairwise.rbf_kernel(X, Y, gamma=GAMMA)),
    "laplacian": ({}, lambda X, Y: pairwise.laplacian_kernel(X, Y, gamma=GAMMA)),
    "linear": ({}, pairwise.linear_kernel),
    "poly": (
        {"degree": 4, "coef0": 0.7},
        lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=4, gamma=GAMMA, coef0=0.7),
    ),
    "sigmoid": ({"coef0": 0.2}, lambda X, Y: pairwise.sigmoid_kernel(X, Y, gamma=GAMMA, coef0=0.2)),
    "cosine": ({}, pairwise.cosine_similarity),
    "matern12": ({}, Matern(LENGTH, nu=0.5)),
    "matern32": ({}, Matern(LENGTH, nu=1.5)),
    "matern52": ({}, Matern(LENGTH, nu=2.5)),
    "rq": ({"alpha": 0.4}, RationalQuadratic(LENGTH, 0.4)),
    "chi2": ({}, lambda X, Y: pairwise.chi2_kernel(X, Y, gamma=GAMMA)),
}


def rows(n, p, seed=0):
    return np.random.default_rng(seed).uniform(0, 2, size=(n, p))


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_landmark_gives_the_kernel_itself(kernel):
    settings, matrix = KERNELS[kernel]
    X, new = rows(30, 4), rows(20, 4, seed=1)
    landmark = X[:1]
    basis = KernelBasis("kobl", kernel=kernel, gamma=GAMMA, landmarks=landmark, **settings).fit(X)
    expected = matrix(new, landmark) / np.sqrt(matrix(landmark, landmark))
    # The statistic of a pair is a sum over columns; 100 covers the slope of the steepest kernel here.
    np.testing.assert_allclose(basis.transform(new), expected, rtol=100 * 4 * EPS, atol=100 * 4 * EPS)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "sigmoid"])
def test_inner_products_of_features_are_kernel_values_at_full_rank(kernel):
    settings, matrix = KERNELS[kernel]
    X = rows(60, 4)
    Z = KernelBasis("kobl", kernel=kernel, gamma=GAMMA, threshold=0.0, **settings).fit_transform(X)
    K = matrix(X, X)
    # A row is given up when what is left of it is below RANK of the largest k(x,x), which bounds the error of K.
    np.testing.assert_allclose(Z @ Z.T, K, rtol=0, atol=RANK * K.diagonal().max())


def same_up_to_sign(ours, theirs, tolerance):
    signs = np.sign(np.sum(ours * theirs, axis=0))
    np.testing.assert_allclose(ours * signs, theirs, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("n", "m"), [(200, 200), (200, 12), (1500, 12)])
def test_centred_kpca_is_kernel_pca(n, m):
    """The last case is large enough for block Lanczos."""
    X, new = rows(n, 3), rows(50, 3, seed=1)
    theirs = KernelPCA(m, kernel="rbf", gamma=GAMMA, eigen_solver="dense").fit(X)
    ours = KernelBasis("kpca", gamma=GAMMA, center=True, n_components=m).fit(X)
    first = min(m, 12)
    values = theirs.eigenvalues_
    np.testing.assert_allclose(ours.eigenvalues_[:first], values[:first], rtol=0, atol=n * EPS * values[0])
    # Eigenvectors turn by the error over the gap, and features are divided by √λ.
    gap = np.min(-np.diff(values[: first + 1])) if len(values) > first else np.min(-np.diff(values))
    tolerance = n * EPS * values[0] ** 2 / gap / np.sqrt(values[first - 1])
    same_up_to_sign(ours.transform(X)[:, :first], theirs.transform(X)[:, :first], tolerance)
    same_up_to_sign(ours.transform(new)[:, :first], theirs.transform(new)[:, :first], tolerance)


@pytest.mark.parametrize("gamma", [0.4, 1e-4, 1e-6])
def test_small_centred_components_vary_as_their_eigenvalues_say(gamma):
    X = datasets.load_diabetes().data
    basis = KernelBasis("kpca", center=True, gamma=gamma).fit(X)
    # Rounding of kernel values near 1, over 442 rows, makes eigenvalues of some 1e-13.
    clear = basis.eigenvalues_ > 1e-11
    squares = np.square(basis.transform(X)).sum(axis=0)
    np.testing.assert_allclose(squares[clear], basis.eigenvalues_[clear], rtol=1e-2)


def test_uncentred_kpca_diagonalises_the_kernel_matrix():
    X = rows(100, 3)
    basis = KernelBasis("kpca", gamma=GAMMA, tol=0.99).fit(X)
    K = pairwise.rbf_kernel(X, gamma=GAMMA)
    values = np.linalg.eigvalsh(K)[::-1]
    m = np.searchsorted(np.cumsum(values), 0.99 * np.trace(K)) + 1
    assert basis.n_components_ == m
    np.testing.assert_allclose(basis.eigenvalues_, values[:m], rtol=0, atol=100 * EPS * values[0])
    Z = basis.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.diag(values[:m]), rtol=0, atol=100 * EPS * values[0] ** 1.5)


def test_nystrom_on_the_same_landmarks_is_nystroem():
    X = rows(150, 6)
    theirs = Nystroem(gamma=2.0, n_components=25, random_state=0).fit(X)
    landmarks = X[theirs.component_indices_]
    ours = KernelBasis("nystrom", gamma=2.0, landmarks=landmarks).fit(X)
    assert ours.n_components_ == 25
    assert sorted(ours.pivots_) == list(range(25))
    A, B = ours.transform(X), theirs.transform(X)
    condition = np.linalg.cond(pairwise.rbf_kernel(landmarks, gamma=2.0))
    np.testing.assert_allclose(A @ A.T, B @ B.T, rtol=0, atol=25 * EPS * condition)


@pytest.mark.parametrize("center", [False, True])
def test_pre_images_of_principal_components_remove_noise(center):
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]]).repeat(60, axis=0)
    noisy = centres + np.random.default_rng(0).normal(scale=0.3, size=centres.shape)
    basis = KernelBasis("kpca", gamma=0.5, center=center, n_components=4).fit(noisy)
    back = basis.inverse_transform(basis.transform(noisy))
    assert np.mean((back - centres) ** 2) < 0.5 * np.mean((noisy - centres) ** 2)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "matern32", "matern52", "rq"])
def test_training_rows_are_their_own_pre_images_at_full_rank(kernel):
    X = rows(25, 3)
    basis = KernelBasis("kobl", kernel=kernel, gamma=0.5, threshold=0.0).fit(X)
    # A squared distance in the kernel's space of RANK allows a distance of its root.
    np.testing.assert_allclose(basis.inverse_transform(basis.transform(X)), X, rtol=0, atol=np.sqrt(RANK))


# Selectors

CLASSES = {
    "iris": datasets.load_iris(return_X_y=True),
    "wine": datasets.load_wine(return_X_y=True),
    "cancer": datasets.load_breast_cancer(return_X_y=True),
    "blobs": datasets.make_classification(400, 25, n_informative=5, n_classes=4, random_state=0),
}
NUMBERS = {
    "diabetes": datasets.load_diabetes(return_X_y=True),
    "friedman": datasets.make_friedman1(400, 15, noise=1.0, random_state=0),
    "linear": datasets.make_regression(300, 30, n_informative=6, noise=5.0, random_state=0),
}


@pytest.mark.parametrize("name", [*CLASSES, *NUMBERS])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_f_and_its_pvalues_are_the_same(name, container):
    X, y = (CLASSES | NUMBERS)[name]
    F, p = f_classif(X, y) if name in CLASSES else f_regression(X, y)
    test = FScore().fit(container(X), y)
    np.testing.assert_allclose(test.scores_, F, rtol=1e-10)
    np.testing.assert_allclose(test.pvalues_, p, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("name", [*CLASSES, *NUMBERS])
@pytest.mark.parametrize(("mode", "theirs"), [("fpr", SelectFpr), ("fdr", SelectFdr), ("fwe", SelectFwe)])
@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.3])
def test_the_tests_keep_the_same_columns(name, mode, theirs, alpha):
    X, y = (CLASSES | NUMBERS)[name]
    function = f_classif if name in CLASSES else f_regression
    noise = np.random.default_rng(0).normal(size=(len(X), 20))
    X = np.c_[X, noise]
    expected = theirs(function, alpha=alpha).fit(X, y).get_support()
    np.testing.assert_array_equal(FScore(mode=mode, alpha=alpha).fit(X, y).get_support(), expected)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("k", [1, 3])
def test_the_best_columns_are_the_same(name, k):
    X, y = CLASSES[name]
    ours, theirs = FScore(k).fit(X, y), SelectKBest(k=k).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(
        ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X))
    )


@pytest.mark.filterwarnings("ignore:[0-9]+ columns? (is|are) constant")
def test_f_of_odd_columns_is_what_theirs_is_in_the_limit():
    X = np.c_[np.full(6, 3.0), [0.0, 0, 0, 1, 1, 1], np.arange(6.0)]
    y = [0, 0, 0, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        F, p = f_classif(X, y)
    test = FScore().fit(X, y)
    assert np.isnan(F[0])
    assert (test.scores_[0], test.pvalues_[0]) == (0, 1)
    assert np.isinf(F[1])
    assert (test.scores_[1], test.pvalues_[1]) == (np.finfo(float).max, 0)
    assert test.scores_[2] == pytest.approx(F[2], rel=1e-12)
    assert test.pvalues_[2] == pytest.approx(p[2], rel=1e-12)


@pytest.mark.parametrize("name", [*CLASSES, *NUMBERS])
def test_mutual_information_ranks_columns_as_theirs_does(name):
    X, y = (CLASSES | NUMBERS)[name]
    function = mutual_info_classif if name in CLASSES else mutual_info_regression
    theirs = function(X, y, random_state=0)
    ours = MutualInfo().fit(X, y).scores_
    np.testing.assert_allclose(ours, theirs, atol=0.05)
    if name not in ("iris", "diabetes"):  # Few columns and many ties: theirs ranks some of these by its seed.
        assert stats.spearmanr(ours, theirs).statistic > 0.97


@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_mutual_information_of_columns_without_ties_is_the_same(n_neighbors):
    X = np.random.default_rng(0).normal(size=(300, 6))
    y = X[:, 0] ** 2 + 0.1 * X[:, 1]
    theirs = mutual_info_regression(X, y, n_neighbors=n_neighbors, random_state=0)
    np.testing.assert_allclose(MutualInfo(n_neighbors=n_neighbors).fit(X, y).scores_, theirs, atol=1e-6)
    classes = (y > 1).astype(int)
    theirs = mutual_info_classif(X, classes, n_neighbors=n_neighbors, random_state=0)
    np.testing.assert_allclose(MutualInfo(n_neighbors=n_neighbors).fit(X, classes).scores_, theirs, atol=1e-6)


@pytest.mark.parametrize("name", [*CLASSES, *NUMBERS])
def test_coefficients_are_those_of_lasso_at_the_same_penalty(name):
    X, y = (CLASSES | NUMBERS)[name]
    X = StandardScaler().fit_transform(X)
    ours = LassoSelector().fit(X, y)
    classes = len(set(y)) if name in CLASSES else 0
    if classes > 2:
        Y = np.eye(classes)[y]
        theirs = np.linalg.norm(MultiTaskLasso(ours.penalty_, tol=1e-10, max_iter=100_000).fit(X, Y).coef_, axis=0)
    else:
        target = 2 * y - 1 if classes else y
        theirs = np.abs(Lasso(ours.penalty_, tol=1e-10, max_iter=100_000).fit(X, target).coef_)
    np.testing.assert_allclose(ours.scores_, theirs, atol=1e-4 * theirs.max())
    clear = (theirs == 0) | (theirs > 1e-3 * theirs.max())
    np.testing.assert_array_equal(ours.get_support()[clear], theirs[clear] > 0)


def test_eks_is_a_pipeline_of_a_basis_and_their_selector():
    X, y = CLASSES["wine"]
    X = StandardScaler().fit_transform(X)
    basis = KernelBasis("kpca", n_components=30)
    ours = EKS("f", n_features=5, basis=basis).fit(X, y)
    Z = basis.fit_transform(X)
    np.testing.assert_allclose(ours.transform(X), SelectKBest(k=5).fit_transform(Z, y), rtol=0, atol=1e-10)
