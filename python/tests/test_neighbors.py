"""Nearest neighbours in a kernel's space."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_regression
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from mercer import KernelNeighborsClassifier, KernelNeighborsRegressor

# Without ties, which rounding would break.
X = 2 + np.random.default_rng(0).normal(size=(150, 4))
y = (X[:, 0] > 2).astype(int) + (X[:, 1] > 2.5)
train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)


def slow(K, own, others, k):
    """Return the k nearest by sorting all distances, and the distances."""
    squares = own[None, :] + others[:, None] - 2 * K
    order = np.argsort(squares.round(12), axis=1, kind="stable")[:, :k]
    return np.sqrt(np.maximum(np.take_along_axis(squares, order, axis=1), 0)), order


@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ({"kernel": "rbf", "gamma": 0.3}, lambda a, b: rbf_kernel(a, b, gamma=0.3)),
        ({"kernel": "linear"}, lambda a, b: a @ b.T),
        ({"kernel": "cosine"}, cosine_similarity),
        ({"kernel": "poly", "gamma": 0.2, "degree": 2}, lambda a, b: polynomial_kernel(a, b, 2, 0.2, 1)),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_neighbours_are_those_of_all_distances_sorted(settings, kernel, form):
    model = KernelNeighborsClassifier(4, **settings).fit(form(X[train]), y[train])
    distances, indices = model.kneighbors(form(X[test]))
    own = np.array([kernel(row[None], row[None])[0, 0] for row in X])
    right, order = slow(kernel(X[test], X[train]), own[train], own[test], 4)
    np.testing.assert_allclose(distances, right, atol=1e-6)
    np.testing.assert_array_equal(indices, order)


def test_euclidean_neighbours_are_scikit_learns():
    ours = KernelNeighborsClassifier(7, weights="uniform").fit(X[train], y[train])
    theirs = KNeighborsClassifier(7).fit(X[train], y[train])
    np.testing.assert_allclose(ours.predict_proba(X[test]), theirs.predict_proba(X[test]))
    numbers, target = make_regression(120, 4, random_state=0)
    ours = KernelNeighborsRegressor(3).fit(numbers[:80], target[:80])
    theirs = KNeighborsRegressor(3).fit(numbers[:80], target[:80])
    np.testing.assert_allclose(ours.predict(numbers[80:]), theirs.predict(numbers[80:]))


def test_a_precomputed_kernel_gives_the_same_neighbours():
    plain = KernelNeighborsClassifier(3, gamma=0.5).fit(X[train], y[train])
    K = rbf_kernel(X[train], gamma=0.5)
    given = KernelNeighborsClassifier(3, kernel="precomputed").fit(K, y[train])
    new = rbf_kernel(X[test], X[train], gamma=0.5)
    near = given.kneighbors(new, return_distance=False)
    np.testing.assert_array_equal(near, plain.kneighbors(X[test], return_distance=False))
    assert (given.predict(new) == plain.predict(X[test])).all()


def test_votes_and_ties():
    model = KernelNeighborsClassifier(2).fit([[0.0], [1.0], [10.0]], ["a", "a", "b"])
    assert model.n_support_ == 3
    assert model.predict([[7.0]]) == ["b"]  # a tie: the nearest
    np.testing.assert_allclose(model.predict_proba([[7.0]]), [[0.5, 0.5]])
    near = KernelNeighborsClassifier(3, gamma=1e-3, weights="distance").fit([[0.0], [1.0], [10.0]], ["a", "a", "b"])
    assert near.predict([[9.9]]) == ["b"]
    assert (near.predict_proba([[10.0]]) == [[0.0, 1.0]]).all()


def test_training_rows_are_compared_without_themselves():
    model = KernelNeighborsClassifier(1).fit([[0.0], [0.0], [5.0]], [0, 0, 1])
    assert model.kneighbors(return_distance=False).ravel().tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelNeighborsClassifier(200), "n_neighbors = 200, but there are only 150 samples"),
        (KernelNeighborsClassifier(kernel="precomputed"), "needs the square kernel matrix"),
        (KernelNeighborsClassifier(n_neighbors=0), "'n_neighbors' parameter"),
        (KernelNeighborsClassifier(kernel="cubic"), "'kernel' parameter"),
    ],
)
def test_refusals(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
