"""The same numbers as scikit-learn, where it computes the same thing."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process.kernels import Matern, RationalQuadratic
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import pairwise

from mercer import KernelBasis

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
