"""Data that arrives in batches: `partial_fit` where it is exact."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError

import mercer
from mercer import GDA, FScore, KernelBasis, Relief

X = np.random.default_rng(3).normal(size=(700, 3))
BATCHES = {"one": [700], "rows": [1] * 700, "uneven": [2, 1, 300, 1, 396]}


def cut(*arrays, sizes):
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        yield tuple(array[start:end] for array in arrays)


def grown(basis, rows, sizes):
    for (batch,) in cut(rows, sizes=sizes):
        basis.partial_fit(batch)
    return basis


def kept_one_by_one(K, nu):
    """Return the rows that are kept in their order: by a solve for each."""
    kept = []
    for i in range(len(K)):
        left = K[i, i]
        if kept:
            k = K[kept, i]
            left -= k @ np.linalg.solve(K[np.ix_(kept, kept)], k)
        if left > nu * K[i, i]:
            kept.append(i)
    return kept


@pytest.mark.parametrize("sizes", BATCHES.values(), ids=BATCHES)
def test_a_basis_grows_as_if_rows_came_one_by_one(sizes):
    basis = grown(KernelBasis("sparse", gamma=0.4, nu=0.05), X, np.array(sizes))
    K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    expected = kept_one_by_one(K, 0.05)
    assert basis.pivots_.tolist() == expected
    np.testing.assert_array_equal(basis.landmarks_, X[expected])
    gram = basis.coefficients_ @ K[np.ix_(expected, expected)] @ basis.coefficients_.T
    np.testing.assert_allclose(gram, np.eye(len(expected)), atol=1e-9)
    left = 1 - (basis.transform(X) ** 2).sum(axis=1)
    assert left.max() <= 0.05 + 1e-12
    assert left.mean() <= basis.residual_ <= 0.05
    assert basis.n_samples_seen_ == 700
    one = KernelBasis("sparse", gamma=0.4, nu=0.05).partial_fit(X)
    np.testing.assert_allclose(basis.coefficients_, one.coefficients_, rtol=0, atol=1e-9)
    assert basis.residual_ == pytest.approx(one.residual_, rel=1e-9)


def test_what_works_after_fit_works_after_a_batch(tmp_path):
    basis = grown(KernelBasis("sparse", gamma=0.4), X, np.array([100, 600]))
    Z = basis.transform(X[:9])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(basis)).transform(X[:9]), Z)
    mercer.save(basis, tmp_path / "basis.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "basis.mercer").transform(X[:9]), Z)
    assert list(basis.get_feature_names_out())[:2] == ["sparse0", "sparse1"]
    assert basis.inverse_transform(Z).shape == (9, 3)
    assert basis.input_importance(X).shape == (basis.n_components_, 3)
    assert basis.reconstruction_cost(X) ** 2 <= basis.residual_
    more = pickle.loads(pickle.dumps(basis)).partial_fit(X + 4.0)
    assert more.n_samples_seen_ == 1400
    assert more.pivots_[: basis.n_components_].tolist() == basis.pivots_.tolist()
    assert not hasattr(clone(basis), "coefficients_")
    fresh, again = KernelBasis("sparse", gamma=0.4).fit(X), basis.fit(X)
    np.testing.assert_array_equal(again.pivots_, fresh.pivots_)
    assert again.n_samples_seen_ == 700


def test_a_basis_grows_on_from_a_fit():
    basis = KernelBasis("sparse", nu=0.1).fit(X[:200])
    pivots, gamma = basis.pivots_, basis.gamma_
    basis.set_params(gamma=gamma).partial_fit(X[200:])
    assert basis.pivots_[: len(pivots)].tolist() == pivots.tolist()
    assert basis.pivots_[len(pivots) :].min() >= 200
    assert (1 - (basis.transform(X) ** 2).sum(axis=1)).max() <= 0.1 + 1e-12
    with pytest.raises(ValueError, match="not that of the batches before"):
        basis.set_params(gamma=2 * gamma).partial_fit(X)


def test_batches_of_all_kinds_grow_one_basis():
    rows = X.astype(np.float32)
    expected = KernelBasis("sparse", gamma=0.4).partial_fit(rows.astype(np.float64))
    basis = KernelBasis("sparse", gamma=0.4).partial_fit(rows[:100])
    assert basis.precision_ == "double"
    basis.partial_fit(sparse.csr_matrix(rows[100:300])).partial_fit(rows[300:].astype(np.float64))
    np.testing.assert_array_equal(basis.pivots_, expected.pivots_)
    assert isinstance(basis.landmarks_, np.ndarray)
    thin = KernelBasis("sparse", gamma=0.4).partial_fit(sparse.csr_matrix(rows[:100])).partial_fit(rows[100:])
    assert isinstance(thin.landmarks_, sparse.csr_matrix)
    np.testing.assert_array_equal(thin.pivots_, expected.pivots_)
    np.testing.assert_allclose(thin.transform(X), expected.transform(X), atol=1e-10)


def test_duplicates_and_constant_columns_add_nothing():
    rows = np.column_stack([X, np.ones(700)])
    basis = KernelBasis("sparse", gamma=0.4, nu=0.0, n_components=50).partial_fit(rows[:20])
    m = basis.n_components_
    basis.partial_fit(rows[:20]).partial_fit(np.repeat(rows[:1], 30, axis=0))
    assert (basis.n_components_, basis.n_samples_seen_) == (m, 70)
    basis.partial_fit(rows)
    assert basis.n_components_ == 50
    linear = grown(KernelBasis("sparse", kernel="linear", nu=0.0), rows, np.array([1] * 700))
    assert linear.n_components_ == 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "kobl", "gamma": 1.0}, "read_rows"),
        ({"gamma": "median"}, "rule that would have to see all rows"),
        ({}, "give a number"),
        ({"kernel": "precomputed"}, "rows that arrive"),
        ({"gamma": 1.0, "landmarks": X[:5]}, "rows that arrive"),
    ],
)
def test_what_cannot_grow_has_no_partial_fit(settings, words):
    basis = KernelBasis(**{"method": "sparse", **settings})
    assert not hasattr(basis, "partial_fit")
    with pytest.raises(AttributeError) as refused:
        basis.partial_fit(X)
    assert words in str(refused.value.__cause__)
    assert not hasattr(GDA(), "partial_fit")
    assert not hasattr(Relief(), "partial_fit")


@pytest.mark.parametrize("gamma", ["auto", 1, np.float32(0.5)])
def test_a_width_that_needs_no_rows_will_do(gamma):
    basis = KernelBasis("sparse", gamma=gamma).partial_fit(X)
    assert basis.gamma_ == pytest.approx(1 / 3 if gamma == "auto" else float(gamma))
    assert hasattr(KernelBasis("sparse", kernel="cosine"), "partial_fit")


def test_bad_batches_are_refused_and_leave_the_basis_as_it_was():
    basis = KernelBasis("sparse", gamma=0.4).partial_fit(X)
    before = basis._model
    for batch, words in [
        (X[:0], "0 sample"),
        (X[:, :2], "X has 2 features, but KernelBasis is expecting 3 features"),
        (np.full((2, 3), np.nan), "row 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            basis.partial_fit(batch)
    assert basis._model is before
    with pytest.raises(ValueError, match="leave precision out"):
        basis.set_params(precision="single").partial_fit(X)


def test_a_basis_without_a_size_says_when_it_is_full():
    rows = np.arange(1200.0)[:, None] * 10
    basis = KernelBasis("sparse", gamma=1.0).partial_fit(rows[:900])
    with pytest.warns(UserWarning, match="set n_components"):
        basis.partial_fit(rows[900:1100])
    basis.partial_fit(rows[1100:])
    assert basis.n_components_ == 1000
    assert basis.residual_ == pytest.approx(200 / 1200)


def columns():
    """Return columns as they are, offset, small, constant, constant by class, and mostly zero; and a target."""
    y = X[:, 0] + X[:, 1] ** 2
    classes = (y > 0.5).astype(int) + (y > 2)
    zeros = np.where(np.arange(700) % 9 == 0, X[:, 2], 0.0)
    return np.column_stack([X, X[:, 0] + 1e4, 1e-150 * X[:, 1], np.full(700, 0.1), classes * 0.7, zeros]), y, classes


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("sizes", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("mode", [None, "fdr"])
def test_scores_of_batches_are_those_of_one_fit(sizes, kind, mode):
    rows, y, classes = columns()
    for target in (y, classes, np.array(["a", "b", "c"])[classes]):
        whole = FScore(3, mode=mode).fit(kind(rows), target)
        parts = FScore(3, mode=mode)
        for batch, labels in cut(rows, target, sizes=np.array(sizes)):
            task = {} if target is y else {"classes": np.unique(target)}
            parts.set_params(task="numbers" if target is y else "auto").partial_fit(kind(batch), labels, **task)
        np.testing.assert_allclose(parts.scores_, whole.scores_, rtol=1e-10)
        np.testing.assert_allclose(parts.pvalues_, whole.pvalues_, rtol=1e-8)
        np.testing.assert_array_equal(parts.get_support(), whole.get_support())
        np.testing.assert_array_equal(parts.transform(rows), whole.transform(rows))


def test_a_selector_goes_on_from_a_fit_and_a_copy_from_a_batch():
    rows, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    rows, y = rows[order], y[order]
    whole = FScore(2).fit(rows, y)
    parts = FScore(2).fit(rows[:70], y[:70])
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(rows[70:90].astype(np.float32).astype(float), y[70:90])
    np.testing.assert_allclose(parts.partial_fit(rows[90:], y[90:]).scores_, whole.scores_, rtol=1e-5)
    np.testing.assert_array_equal(parts.fit(rows, y).scores_, whole.scores_)
    assert not hasattr(clone(parts), "scores_")


def test_too_few_rows_are_not_a_fit_yet():
    test = FScore(1).partial_fit([[1.0, 0.0]], ["a"], classes=["a", "b"])
    with pytest.raises(NotFittedError):
        test.get_support()
    test.partial_fit([[2.0, 5.0], [1.0, 0.5]], ["b", "a"])
    assert test.get_support().tolist() == [False, True] or test.get_support().tolist() == [True, False]
    numbers = FScore(task="numbers").partial_fit([[1.0], [2.0]], [1.5, 1.5])
    assert not hasattr(numbers, "support_")
    assert numbers.partial_fit([[3.0]], [2.0]).scores_.shape == (1,)


def test_labels_that_do_not_fit_the_first_batch_are_refused():
    rows, y = make_moons(60, random_state=0)
    test = FScore().partial_fit(rows, y)
    scores = test.scores_
    with pytest.raises(ValueError, match="class `2` is not among those of the first batch: 0, 1"):
        test.partial_fit(rows, y + 1)
    with pytest.raises(ValueError, match=r"but with the first batch they were \['0', '1'\]"):
        test.partial_fit(rows, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="X has 1 features, but FScore is expecting 2 features"):
        test.partial_fit(rows[:, :1], y)
    with pytest.raises(ValueError, match="0 sample"):
        test.partial_fit(rows[:0], y[:0])
    with pytest.raises(ValueError, match="row 1"):
        test.partial_fit([[np.nan, 0.0]], [0])
    with pytest.raises(ValueError, match="task = 'numbers'"):
        FScore(task="numbers").partial_fit(rows, y, classes=[0, 1])
    assert test.scores_ is scores
    with pytest.raises(ValueError, match="task = regression, but the target holds the text `a`"):
        FScore().partial_fit(rows, rows[:, 0]).partial_fit(rows[:1], ["a"])
