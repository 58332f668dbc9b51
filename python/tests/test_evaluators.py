"""The evaluators beside scikit-learn's models, on the same folds."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from mercer import _core


def standard(X):
    return np.ascontiguousarray(StandardScaler().fit_transform(X))


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return standard(X), y.astype(np.int64)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return standard(X), y.astype(np.int64)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return np.ascontiguousarray(X[:900] / 16), y[:900].astype(np.int64)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return standard(X), y + 0.25  # not whole, so numbers


def folds(y, k=4):
    splits, warnings = _core.folds(y, k)
    assert warnings == []
    return splits


def predicted(X, y, train, test, name, **settings):
    found = _core.evaluate(X[train], y[train], X[test], name, **settings)
    assert found["warnings"] == []
    return found["predictions"]


def one_hot(y):
    return np.eye(y.max() + 1)[y]


def penalties(X):
    """10^{-8, -7.5, …, 4} times the mean eigenvalue of the centred scatter."""
    Z = X - X.mean(axis=0)
    return (Z**2).sum() / min(Z.shape) * 10.0 ** np.arange(-8, 4.1, 0.5)


def test_folds_are_stratified(digits):
    _, y = digits
    for train, test in folds(y):
        assert sorted([*train, *test]) == list(range(len(y)))
        assert np.ptp(np.bincount(y[test]) - np.bincount(y) / 4) < 2
    splits, _ = _core.splits(y, 0.25, repeats=3, seed=5)
    assert [len(test) for _, test in splits] == [len(splits[0][1])] * 3


@pytest.mark.parametrize("k", [1, 5])
def test_neighbours_predict_what_scikit_learn_predicts(cancer, diabetes, k):
    X, y = cancer
    Z, z = diabetes
    for train, test in folds(y):
        theirs = KNeighborsClassifier(k).fit(X[train], y[train]).predict(X[test])
        assert (predicted(X, y, train, test, "knn", n_neighbors=k) == theirs).all()
    for train, test in folds(z):
        theirs = KNeighborsRegressor(k).fit(Z[train], z[train]).predict(Z[test])
        np.testing.assert_allclose(predicted(Z, z, train, test, "knn", n_neighbors=k), theirs, rtol=1e-12)


def test_ridge_is_scikit_learns_with_the_same_penalties(digits, diabetes):
    X, y = digits
    Z, z = diabetes
    for train, test in folds(z):
        theirs = RidgeCV(penalties(Z[train])).fit(Z[train], z[train])
        np.testing.assert_allclose(predicted(Z, z, train, test, "ridge"), theirs.predict(Z[test]), rtol=1e-8)
    for train, test in folds(y):
        theirs = RidgeCV(penalties(X[train])).fit(X[train], one_hot(y[train]))
        assert (predicted(X, y, train, test, "ridge") == theirs.predict(X[test]).argmax(axis=1)).all()


def test_ridge_is_scikit_learns_where_there_are_more_columns_than_rows(diabetes):
    _, z = diabetes
    X = np.random.default_rng(0).normal(size=(len(z), 600))
    for train, test in folds(z, 2):
        theirs = RidgeCV(penalties(X[train])).fit(X[train], z[train])
        np.testing.assert_allclose(predicted(X, z, train, test, "ridge"), theirs.predict(X[test]), rtol=1e-8)


@pytest.mark.parametrize("columns", [10, 600])
def test_least_squares_is_scikit_learns(diabetes, columns):
    Z, z = diabetes
    X = np.hstack([Z, np.random.default_rng(1).normal(size=(len(z), columns - 10))])
    X[:, 3] = 2.0  # constant
    for train, test in folds(z, 2):
        theirs = LinearRegression().fit(X[train], z[train]).predict(X[test])
        np.testing.assert_allclose(predicted(X, z, train, test, "linear"), theirs, rtol=1e-7)


@pytest.mark.parametrize("c", [0.01, 1.0, 100.0])
def test_the_linear_machine_is_linear_svc(cancer, digits, c):
    for X, y in [cancer, digits]:
        for train, test in folds(y, 2):
            theirs = LinearSVC(C=c, dual=False, tol=1e-8, max_iter=10_000).fit(X[train], y[train])
            ours = predicted(X, y, train, test, "linear-svm", c=c)
            # Rows on the border may fall either way.
            assert (ours != theirs.predict(X[test])).mean() <= 0.005


@pytest.mark.parametrize("c", [0.1, 1.0, 100.0])
def test_dual_objectives_are_those_of_svc_and_svr(cancer, diabetes, c):
    X, y = cancer
    gamma = 1 / X.shape[1]

    def objective(X, coefficients, linear):
        squares = (X**2).sum(axis=1)
        K = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))
        return 0.5 * coefficients @ K @ coefficients - linear

    theirs = SVC(C=c, gamma=gamma).fit(X, y)
    their_coefficients = np.zeros(len(y))
    their_coefficients[theirs.support_] = theirs.dual_coef_[0]
    ours, bias = _core.svm_dual(X, y, c, gamma)
    expected = objective(X, their_coefficients, np.abs(their_coefficients).sum())
    assert objective(X, ours, np.abs(ours).sum()) == pytest.approx(expected, rel=1e-4)
    assert -bias == pytest.approx(theirs.intercept_[0], abs=5e-3)

    Z, z = diabetes
    z = (z - z.mean()) / z.std()
    theirs = SVR(C=c, gamma=gamma, epsilon=0.1).fit(Z, z)
    their_coefficients = np.zeros(len(z))
    their_coefficients[theirs.support_] = theirs.dual_coef_[0]
    ours, bias = _core.svm_dual(Z, z, c, gamma)

    def value(a):
        return objective(Z, a, a @ z - 0.1 * np.abs(a).sum())

    assert value(ours) == pytest.approx(value(their_coefficients), rel=1e-4)
    assert bias == pytest.approx(theirs.intercept_[0], abs=5e-3)


def test_the_rbf_machine_is_svc(wine, digits):
    for X, y in [wine, digits]:
        for train, test in folds(y, 2):
            theirs = SVC(C=10).fit(X[train], y[train])
            found = _core.evaluate(X[train], y[train], X[test], "rbf-svm", c=10.0)
            assert (found["predictions"] != theirs.predict(X[test])).mean() <= 0.005
            assert found["support"] == pytest.approx(len(theirs.support_), rel=0.02)


def searched(model, grid):
    return GridSearchCV(model, grid, cv=StratifiedKFold(3, shuffle=True, random_state=0))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("linear-svm", searched(LinearSVC(dual=False, max_iter=10_000), {"C": [0.01, 0.1, 1, 10, 100]})),
        ("rbf-svm", searched(SVC(), {"C": [1, 10, 100]})),
    ],
)
def test_chosen_weights_are_as_good_as_those_of_a_grid_search(wine, cancer, digits, name, model):
    for X, y in [wine, cancer, digits]:
        right, theirs = [], []
        for train, test in folds(y):
            right.append(predicted(X, y, train, test, name) == y[test])
            theirs.append(model.fit(X[train], y[train]).predict(X[test]) == y[test])
        right, theirs = np.concatenate(right), np.concatenate(theirs)
        error = max(theirs.std(), 1 / np.sqrt(len(y))) / np.sqrt(len(y))
        assert right.mean() >= theirs.mean() - error


def test_chosen_weights_of_numbers_are_as_good_as_those_of_a_grid_search(diabetes):
    Z, z = diabetes
    ours, theirs = [], []
    for train, test in folds(z):
        mean, deviation = z[train].mean(), z[train].std()
        model = GridSearchCV(SVR(), {"C": [1, 10, 100]}, cv=3, scoring="neg_mean_squared_error")
        model.fit(Z[train], (z[train] - mean) / deviation)
        ours.append((predicted(Z, z, train, test, "rbf-svm") - z[test]) ** 2)
        theirs.append((model.predict(Z[test]) * deviation + mean - z[test]) ** 2)
    ours, theirs = np.concatenate(ours), np.concatenate(theirs)
    assert ours.mean() <= theirs.mean() + theirs.std() / np.sqrt(len(z))


def test_words_are_classified_as_by_linear_svc():
    rng = np.random.default_rng(3)
    n, p = 600, 5_000
    y = rng.integers(0, 3, n)
    counts = rng.poisson(np.where(np.arange(p) % 50 == y[:, None], 0.1, 0.01)).astype(np.float64)
    X = csr_array(counts)
    train, test = np.arange(400), np.arange(400, n)
    theirs = LinearSVC(C=0.1, tol=1e-6, max_iter=10_000).fit(X[train], y[train]).predict(X[test])
    ours = _core.evaluate(X[train], y[train], X[test], "linear-svm", c=0.1)["predictions"]
    assert (ours != theirs).mean() <= 0.01
    dense = _core.evaluate(counts[train], y[train], counts[test], "linear-svm", c=0.1)["predictions"]
    assert (ours == dense).all()
