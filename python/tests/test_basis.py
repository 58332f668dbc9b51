"""KernelBasis: what it takes, what it gives, what it refuses."""

import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances, rbf_kernel

import mercer
from mercer import KernelBasis, metrics

METHODS = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]
EPS = np.finfo(float).eps


def rows(n=120, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def labels(X):
    return (X[:, 0] * X[:, 1] > 0).astype(int)


# What goes in


def test_frames_and_arrays_of_any_layout_give_the_same_bits():
    X = rows()
    expected = KernelBasis(n_components=9).fit_transform(X)
    names = [f"c{j}" for j in range(X.shape[1])]
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    for given in [np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=0)[::2], *frames]:
        np.testing.assert_array_equal(KernelBasis(n_components=9).fit_transform(given), expected)


PIVOTED = ["kobl", "sparse", "nystrom", "rpcholesky", "kfa"]


@pytest.mark.parametrize("method", [method for method in METHODS if method != "csi"])
def test_float32_comes_back_as_float32(method):
    X = rows().astype(np.float32)
    basis = KernelBasis(method, n_components=9)
    Z = basis.fit_transform(X)
    assert Z.dtype == np.float32
    assert basis.transform(X).dtype == np.float32
    assert basis.inverse_transform(Z).dtype == np.float32
    assert basis.precision_ == ("single" if method in PIVOTED else "double")
    double = KernelBasis(method, n_components=9).fit_transform(X.astype(np.float64))
    np.testing.assert_allclose(Z, double, rtol=0, atol=1e-5)
    np.testing.assert_allclose(basis.transform(X), double, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", PIVOTED)
def test_precision_goes_before_the_type_of_the_rows(method):
    X = rows()
    double, single = (KernelBasis(method, n_components=9, precision=p).fit(X) for p in ("double", "single"))
    wide = KernelBasis(method, n_components=9, precision="double").fit(X.astype(np.float32))
    assert (double.precision_, single.precision_, wide.precision_) == ("double", "single", "double")
    assert double.rounding_error_ is None
    assert wide.rounding_error_ is None
    assert 0 < single.rounding_error_ < 1e-5
    np.testing.assert_array_equal(single.pivots_, double.pivots_)
    np.testing.assert_allclose(single.coefficients_, double.coefficients_, rtol=1e-9)
    assert single.residual_ == pytest.approx(double.residual_, rel=1e-5)
    assert single.fit_transform(X).dtype == np.float64
    np.testing.assert_allclose(single.fit_transform(X), double.transform(X), rtol=0, atol=1e-5)
    again = pickle.loads(pickle.dumps(single))
    assert (again.precision_, again.rounding_error_) == (single.precision_, single.rounding_error_)
    assert clone(single).get_params()["precision"] == "single"


def test_precision_that_a_method_has_not_is_refused():
    for method in ("kpca", "gram-schmidt"):
        with pytest.raises(ValueError, match="precision = `single` is for the bases `kobl`"):
            KernelBasis(method, precision="single").fit(rows())
        assert KernelBasis(method, precision="double").fit(rows()).precision_ == "double"
    with pytest.raises(ValueError, match="precision"):
        KernelBasis(precision="half").fit(rows())


def test_single_precision_says_where_it_ends():
    X = rows()[:, :1].astype(np.float32)
    with pytest.warns(UserWarning, match="float32 cannot distinguish more than"):
        basis = KernelBasis("kobl", threshold=0.0).fit(X)
    assert basis.rounding_error_ < 1e-4


def test_float32_is_fitted_without_a_copy_in_double_precision():
    X = np.random.default_rng(0).standard_normal((20_000, 40)).astype(np.float32)
    for kernel, given in [("rbf", X), ("precomputed", np.eye(900, dtype=np.float32))]:
        tracemalloc.start()
        KernelBasis("nystrom", kernel=kernel, n_components=5).fit(given)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < given.nbytes / 2


@pytest.mark.parametrize(
    "kernel", ["rbf", "laplacian", "linear", "poly", "cosine", "matern12", "matern52", "rq", "chi2"]
)
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_features_of_float32_are_those_of_float64_but_for_rounding(kernel, container):
    X = np.abs(rows()).astype(np.float32)
    basis = KernelBasis("nystrom", kernel=kernel, n_components=9).fit(X)
    Z = basis.transform(container(X))
    double = basis.transform(X.astype(np.float64))
    assert Z.dtype == np.float32
    unit = np.sqrt((double**2).sum(axis=1).max())
    np.testing.assert_allclose(Z, double, rtol=0, atol=1e-5 * unit)


def test_float32_is_transformed_without_a_copy_in_double_precision():
    X = np.random.default_rng(0).standard_normal((20_000, 40)).astype(np.float32)
    basis = KernelBasis("nystrom", n_components=50).fit(X[:500])
    basis.transform(X[:10])
    tracemalloc.start()
    Z = basis.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < Z.nbytes + X.nbytes / 2


def test_bad_float32_rows_are_refused_by_row_and_column():
    X = rows().astype(np.float32)
    basis = KernelBasis(n_components=9).fit(X)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN at row 4, column 2"):
        basis.transform(X)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("container", ["array", "matrix"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_sparse_rows_are_the_same_rows(kind, container, kernel):
    X = np.where(rows() > 0.8, rows(seed=1), 0.0)
    given = getattr(sparse, f"{kind}_{container}")(X)
    settings = {"kernel": kernel, "gamma": 0.5, "n_components": 20}
    dense = KernelBasis(**settings).fit(X)
    basis = KernelBasis(**settings).fit(given)
    assert type(basis.landmarks_).__name__ == f"csr_{container}"
    np.testing.assert_array_equal(basis.landmarks_.toarray(), X[basis.pivots_])
    scale = np.abs(dense.coefficients_).sum() * np.abs(dense.transform(X)).max()
    # Sparse and dense may meet each other's rows.
    for fitted, new in [(basis, given), (basis, X), (dense, given)]:
        np.testing.assert_allclose(fitted.transform(new), dense.transform(X), rtol=0, atol=100 * EPS * scale)


def test_unsorted_and_doubled_entries_are_put_in_order_without_touching_the_users_matrix():
    parts = (np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2, 0, 1, 1, 0]), np.array([0, 2, 4, 5]))
    X = sparse.csr_matrix(parts, shape=(3, 3))
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    Z = KernelBasis("kobl", kernel="linear", threshold=0.0).fit_transform(X)
    for part, copy in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, copy)
    full = np.array([[2.0, 0, 1], [0, 7, 0], [5, 0, 0]])
    np.testing.assert_allclose(Z @ Z.T, full @ full.T, rtol=0, atol=100 * EPS * 50)


def test_long_indices_of_a_sparse_matrix_are_read():
    X = sparse.csr_matrix(np.where(rows() > 0.5, 1.0, 0.0))
    long = X.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    a, b = (KernelBasis(n_components=5).fit(given) for given in (X, long))
    np.testing.assert_array_equal(a.coefficients_, b.coefficients_)


def test_landmarks_of_the_users_own_are_chosen_from():
    X, own = rows(), rows(30, seed=1)
    basis = KernelBasis(gamma=0.3, landmarks=own, n_components=10).fit(X)
    np.testing.assert_array_equal(basis.landmarks_, own[basis.pivots_])
    Z = basis.fit_transform(X)
    np.testing.assert_array_equal(Z, basis.transform(X))
    assert basis.residual_ == pytest.approx(np.mean(1 - np.sum(Z**2, axis=1)), abs=100 * EPS)
    pandas = KernelBasis(gamma=0.3, landmarks=pd.DataFrame(own), n_components=10).fit(X)
    np.testing.assert_array_equal(pandas.coefficients_, basis.coefficients_)
    scattered = KernelBasis(gamma=0.3, landmarks=sparse.csr_matrix(own), n_components=10).fit(X)
    np.testing.assert_allclose(scattered.transform(X), basis.transform(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "kmeans"])
def test_a_precomputed_kernel_gives_the_same_basis(method):
    X, new = rows(), rows(15, seed=1)
    y = labels(X)
    K = rbf_kernel(X, gamma=0.3)
    direct = KernelBasis(method, gamma=0.3, n_components=10).fit(X, y)
    given = KernelBasis(method, kernel="precomputed", n_components=10).fit(K, y)
    assert given.landmarks_ is None
    np.testing.assert_array_equal(given.pivots_, direct.pivots_)
    # scikit-learn's kernel values differ from ours by rounding, which A enlarges.
    scale = 100 * EPS * np.abs(direct.coefficients_).sum()
    np.testing.assert_allclose(
        given.transform(rbf_kernel(new, X, gamma=0.3)), direct.transform(new), rtol=0, atol=scale
    )
    np.testing.assert_allclose(given.fit_transform(K, y), given.transform(K), rtol=0, atol=scale)
    assert metrics.orthogonality_loss(given, K) < 1e-9
    with pytest.raises(ValueError, match="training matrix"):
        metrics.orthogonality_loss(given)


@pytest.mark.parametrize(
    "as_classes",
    [
        lambda y: y,
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: np.array(["no", "yes"])[y],
        lambda y: np.array(["no", "yes"], dtype=object)[y],
        lambda y: pd.Series(y).map({0: "no", 1: "yes"}).astype("category"),
        lambda y: pl.Series(["no", "yes"]).gather(y),
        lambda y: y.astype(np.uint8),
        lambda y: list(y),
        lambda y: y[:, None].ravel().astype(object),
    ],
)
def test_classes_may_come_as_anything(as_classes):
    X = rows()
    y = labels(X)
    expected = KernelBasis("csi", n_components=10, gamma="align").fit(X, y)
    basis = KernelBasis("csi", n_components=10, gamma="align").fit(X, as_classes(y))
    np.testing.assert_array_equal(basis.coefficients_, expected.coefficients_)


def test_numbers_are_classes_only_if_whole_and_few():
    K = rbf_kernel(rows(), gamma=0.3)

    def alignment(y, task="auto"):
        return metrics.kernel_alignment(K, y, task=task)

    few, many = np.arange(120) % 3, np.arange(120) % 110
    assert alignment(few, "classes") != alignment(few, "numbers")
    assert alignment(few) == alignment(few.astype(float)) == alignment(few, "classes")
    assert alignment(few / 2) == alignment(few / 2, "numbers")
    assert alignment(many) == alignment(many.astype(float)) == alignment(many, "numbers")
    assert alignment(many) != alignment(many, "classes")


def test_labels_are_not_looked_at_where_they_are_not_needed():
    X = rows()
    settings = {"n_components": 5, "gamma": "scale"}
    with_y = KernelBasis(**settings).fit(X, [None] * len(X))
    np.testing.assert_array_equal(with_y.pivots_, KernelBasis(**settings).fit(X).pivots_)
    several = KernelBasis(n_components=5).fit(X, np.ones((len(X), 2)))
    np.testing.assert_array_equal(several.pivots_, with_y.pivots_)


# What comes out


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_the_laws_of_a_basis_hold(method, kernel):
    X, new = rows(), rows(200, seed=1)
    basis = KernelBasis(method, kernel=kernel, gamma=0.2, n_components=25, threshold=0.0)
    Z = basis.fit_transform(X, labels(X))
    A = basis.coefficients_
    m, n_landmarks = A.shape
    assert basis.n_components_ == m == 25
    assert basis.landmarks_.shape == (n_landmarks, 4)
    # A K Aᵀ = I as far as A's size lets rounding through.
    largest = ((0.2 * np.sum(X**2, axis=1) + 1) ** 3).max() if kernel == "poly" else 1.0
    loss = m * EPS * largest * np.linalg.norm(A, 2) ** 2 * 10
    assert metrics.orthogonality_loss(basis) < loss
    np.testing.assert_allclose(basis.transform(X), Z, rtol=0, atol=loss * np.sqrt(largest))
    own = (0.2 * np.sum(new**2, axis=1) + 1) ** 3 if kernel == "poly" else np.ones(len(new))
    assert (np.sum(basis.transform(new) ** 2, axis=1) <= own * (1 + loss)).all()
    own = (0.2 * np.sum(X**2, axis=1) + 1) ** 3 if kernel == "poly" else np.ones(len(X))
    residuals = own - np.sum(Z**2, axis=1)
    assert basis.residual_ == pytest.approx(residuals.mean() / own.mean(), abs=loss)
    cost = np.mean(np.sqrt(np.maximum(residuals, 0)))
    assert basis.reconstruction_cost(X) == pytest.approx(cost, abs=np.sqrt(loss * largest))
    assert metrics.reconstruction_cost(basis, X) == basis.reconstruction_cost(X)


def test_attributes_have_their_types_and_shapes():
    basis = KernelBasis("kobl", n_components=6).fit(rows())
    assert basis.pivots_.dtype == np.intp
    assert basis.pivots_.shape == basis.pivot_norms_.shape == basis.offset_.shape == (6,)
    assert (np.diff(basis.pivot_norms_) <= 1e-12).all()
    assert basis.origin_ is None
    assert isinstance(basis.gamma_, float)
    assert isinstance(basis.n_kernel_evaluations_, int)
    assert not hasattr(basis, "eigenvalues_")
    kpca = basis.set_params(method="kpca", center=True).fit(rows())
    assert kpca.eigenvalues_.shape == (6,)
    assert kpca.pivots_.shape == (0,)
    assert kpca.origin_.shape == (120,)
    assert not hasattr(kpca.set_params(method="kobl", center=False).fit(rows()), "eigenvalues_")


def test_setting_parameters_after_the_fit_does_not_change_the_features():
    X = rows()
    basis = KernelBasis(n_components=6).fit(X)
    Z = basis.transform(X)
    basis.set_params(kernel="linear", method="gram-schmidt", degree=7)
    np.testing.assert_array_equal(basis.transform(X), Z)
    assert basis.get_feature_names_out()[0] == "kfa0"
    assert basis.method_ == "kfa"


def test_widths_by_rule_are_what_they_say():
    X = rows()
    p = X.shape[1]

    def width(kernel="rbf", **settings):
        return KernelBasis(kernel=kernel, n_components=1, **settings).fit(X, labels(X)).gamma_

    above = np.triu_indices(len(X), 1)
    assert width(gamma="scale") == pytest.approx(1 / (p * X.var()), rel=100 * EPS)
    assert width() == width(gamma="loo")  # with labels
    assert KernelBasis(n_components=1).fit(X).gamma_ == width(gamma="scale")
    assert KernelBasis(n_components=1).fit(X[:3]).gamma_ == KernelBasis(gamma="median").fit(X[:3]).gamma_
    assert width(gamma="auto") == 1 / p
    median = np.median(euclidean_distances(X)[above] ** 2)
    assert width(gamma="median") == pytest.approx(1 / (2 * median), rel=1000 * EPS)
    assert width("laplacian") == pytest.approx(1 / (p * X.std()), rel=100 * EPS)
    median = np.median(manhattan_distances(X)[above])
    assert width("laplacian", gamma="median") == pytest.approx(1 / median, rel=1000 * EPS)
    assert width(gamma=0.1 + 0.2) == 0.1 + 0.2
    assert width("linear") == 1.0
    grid = 1 / (p * X.var()) * 10.0 ** np.arange(-2, 2, 0.5)
    alignments = [metrics.kernel_alignment(rbf_kernel(X, gamma=gamma), labels(X), center=True) for gamma in grid]
    assert width(gamma="align") == pytest.approx(grid[np.argmax(alignments)])
    assert np.isclose(width(gamma="loo"), grid).any()


def test_random_state_is_a_seed_with_a_default():
    X = rows()

    def pivots(random_state):
        return list(KernelBasis("nystrom", n_components=8, random_state=random_state).fit(X).pivots_)

    assert pivots(None) == pivots(0) == pivots(None)
    assert pivots(1) != pivots(0)
    generator = np.random.RandomState(5)
    first, second = pivots(generator), pivots(generator)
    assert first != second
    assert first == pivots(np.random.RandomState(5))


def test_only_what_the_method_uses_is_passed_on():
    """nu is no parameter of kobl; a grid search over methods may set it all the same."""
    X = rows()
    a = KernelBasis("kobl", n_components=5, nu=0.5, tol=0.3).fit(X)
    np.testing.assert_array_equal(a.pivots_, KernelBasis("kobl", n_components=5).fit(X).pivots_)


@pytest.mark.parametrize("method", ["kobl", "sparse", "rpcholesky", "kfa", "csi"])
@pytest.mark.parametrize(("n", "cap"), [(250, None), (6_000, 100)])
def test_kernel_values_stay_within_their_budget(method, n, cap):
    X = rows(n, 2)
    basis = KernelBasis(method, gamma=1.0, n_components=cap).fit(X, labels(X))
    m = basis.n_components_
    budgets = {"csi": n * (m + 40 + 1), "kfa": n * (15 * (m + 1) + m + 1) + 40 * m}
    budget = budgets.get(method, 1.5 * n * (m + 1) + m * m)
    assert 0 < basis.n_kernel_evaluations_ <= budget


def test_candidates_of_kfa():
    X = rows(300)
    bases = {c: KernelBasis("kfa", n_components=20, candidates=c).fit(X) for c in (1, 10, "all")}
    assert bases["all"].residual_ < bases[10].residual_ < bases[1].residual_
    np.testing.assert_array_equal(bases[10].pivots_, KernelBasis("kfa", n_components=20).fit(X).pivots_)
    for wrong in (0, "some", None):
        with pytest.raises(ValueError, match="'candidates' parameter"):
            KernelBasis("kfa", candidates=wrong).fit(X)


def test_landmarks_of_kmeans_are_centres():
    X = np.concatenate([rows(50, 2), rows(30, 2) + 100])
    basis = KernelBasis("kmeans", n_components=2, gamma=0.001).fit(X)
    assert basis.pivots_.shape == (0,)
    np.testing.assert_allclose(basis.landmarks_, [X[:50].mean(axis=0), X[50:].mean(axis=0)])
    as_sparse = KernelBasis("kmeans", n_components=2, gamma=0.001).fit(sparse.csr_array(X))
    assert sparse.issparse(as_sparse.landmarks_)
    np.testing.assert_allclose(as_sparse.landmarks_.toarray(), basis.landmarks_)
    assert KernelBasis("kmeans", n_components=9).fit(np.ones((20, 3))).n_components_ == 1
    with pytest.raises(ValueError, match="`kmeans` averages rows, which a precomputed kernel does not have"):
        KernelBasis("kmeans", kernel="precomputed").fit(np.eye(3))


def test_many_rows_cap_the_basis_with_a_warning():
    X = rows(5_001, 1)
    with pytest.warns(UserWarning, match="5001 rows are more than 5000: the basis is capped") as caught:
        KernelBasis(gamma=0.01).fit(X)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="n_components = 9, but there are only 3 rows") as caught:
        KernelBasis(n_components=9).fit_transform(X[:3])


THREADED = """
import hashlib
import numpy as np
from mercer import KernelBasis

X = np.random.default_rng(0).normal(size=(3_000, 6))
y = (X[:, 0] > 0).astype(int)
for method in ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]:
    basis = KernelBasis(method, gamma="loo" if method == "kobl" else 0.1, n_components=60).fit(X[:1500], y[:1500])
    parts = [basis.pivots_, basis.coefficients_, basis.transform(X), basis.inverse_transform(basis.transform(X[:9]))]
    print(method, *(hashlib.sha256(part.tobytes()).hexdigest() for part in parts))
"""


def test_one_and_two_threads_give_the_same_bits():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", THREADED],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MERCER_NUM_THREADS": threads},
        ).stdout
        for threads in "12"
    ]
    assert len(outputs[0].splitlines()) == len(METHODS)
    assert outputs[0] == outputs[1]


MEMORY = """
import resource
import numpy as np
from mercer import KernelBasis

X = np.random.default_rng(0).normal(size=(400_000, 2))
basis = KernelBasis(gamma=1.0, n_components=50, threshold=0.0).fit(X[:2_000])
basis.transform(X[:2_000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Z = basis.transform(X)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / Z.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss differs")
def test_a_transform_takes_no_memory_beyond_its_result():
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 1.1


# What is refused, and how


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "pca"}, "'method' parameter"),
        ({"kernel": "gauss"}, "'kernel' parameter"),
        ({"gamma": -1.0}, "'gamma' parameter"),
        ({"gamma": np.inf}, "'gamma' parameter"),
        ({"gamma": True}, "gamma = true, but it must be a number above 0 or one of scale"),
        ({"gamma": "wide"}, "'gamma' parameter"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"n_components": 2.0}, "'n_components' parameter"),
        ({"n_components": True}, "n_components = true, but it must be a whole number"),
        ({"threshold": 1.5}, "'threshold' parameter"),
        ({"threshold": "square"}, "'threshold' parameter"),
        ({"threshold": True}, "threshold = true, but it must be `linear`"),
        ({"threshold": ("power", -1)}, "threshold = power:-1, but it must be"),
        ({"threshold": ("power", None)}, "threshold = power:None, but it must be"),
        ({"threshold": ("root", 2)}, "but it must be `linear`, a number between 0 and 1, `power:A`"),
        ({"threshold": lambda t: 2 * t}, "has the value 1.0002, but all must lie between 0 and 1"),
        ({"threshold": lambda t: 1 - t}, "but it must never fall"),
        ({"n_components": "some"}, "'n_components' parameter"),
        ({"tol": 2.0, "method": "csi"}, "'tol' parameter"),
        ({"nu": 1.0}, "'nu' parameter"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 = -1, but the kernel `poly` needs"),
        ({"kernel": "poly", "degree": 0}, "'degree' parameter"),
        ({"alpha": 0.0}, "'alpha' parameter"),
        ({"center": True}, "center = true is for the basis `kpca` alone, not for `kobl`\nhint: "),
        ({"landmarks": [[0.0]]}, "landmarks are 1 rows of 1 columns, but at least one row of 4 columns"),
        ({"landmarks": [[np.nan] * 4]}, "landmarks contains NaN"),
        ({"method": "csi", "landmarks": [[0.0] * 4]}, "leave landmarks out"),
        ({"random_state": -1}, "'random_state' parameter"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, words):
    X = rows()
    with pytest.raises(ValueError) as refused:  # noqa: PT011 — the words are checked below
        KernelBasis(**settings).fit(X, labels(X))
    assert words in str(refused.value)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_pre_images_of_polynomials_are_the_rows_where_no_component_is_left_out(degree):
    X = np.random.default_rng(0).normal(size=(120, 2))
    basis = KernelBasis("kobl", kernel="poly", degree=degree, coef0=1.0, gamma=0.3, threshold=0.0).fit(X)
    np.testing.assert_allclose(basis.inverse_transform(basis.transform(X)), X, rtol=0, atol=1e-6)


def test_pre_images_of_polynomials_denoise_no_worse_than_the_noise():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 300)
    clean = np.column_stack([t, t**2])
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    basis = KernelBasis("kpca", kernel="poly", degree=3, coef0=1.0, gamma=0.5, center=True, n_components=3).fit(noisy)
    back = basis.inverse_transform(basis.transform(noisy))
    assert np.square(back - clean).mean() < np.square(noisy - clean).mean()


def test_pre_images_of_cosines_are_directions_of_the_landmarks_mean_length():
    X = rows()[:, :3]
    basis = KernelBasis("kobl", kernel="cosine", threshold=0.0).fit(X)
    back = basis.inverse_transform(basis.transform(X))
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    mean = np.linalg.norm(X[basis.pivots_], axis=1).mean()
    np.testing.assert_allclose(back, mean * X / lengths, rtol=0, atol=1e-9)
    np.testing.assert_allclose(basis.transform(back), basis.transform(X), rtol=0, atol=1e-9)


def test_a_polynomial_of_even_degree_without_coef0_has_no_one_pre_image():
    basis = KernelBasis("kobl", kernel="poly", degree=2, coef0=0.0, n_components=2).fit(rows())
    with pytest.raises(ValueError, match="degree 2 with coef0 = 0 has the same features for x and −x"):
        basis.inverse_transform([[0.0, 0.0]])


def test_bad_rows_are_refused_in_words():
    X = rows()
    basis = KernelBasis(n_components=3).fit(X)
    with pytest.raises(ValueError, match="contains NaN at row"):
        basis.fit(np.where(X > 2, np.nan, X))
    with pytest.raises(ValueError, match="X has 3 features, but KernelBasis is expecting 4"):
        basis.transform(X[:, :3])
    with pytest.raises(ValueError, match="Reshape your data"):
        basis.transform(X[0])
    with pytest.raises(ValueError, match="5 features given, but the map has 3"):
        basis.inverse_transform(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="Negative values in data"):
        KernelBasis(kernel="chi2").fit(X)
    with pytest.raises(ValueError, match=r"120 × 4|square"):
        KernelBasis(kernel="precomputed").fit(X)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        KernelBasis(kernel="precomputed").fit(sparse.csr_matrix(X @ X.T))
    with pytest.raises(ValueError, match=r"k\(x,x\) of row 1 is too large for a number: the kernel `linear` overflows"):
        KernelBasis(kernel="linear").fit(1e200 * X)
    with pytest.raises(ValueError, match="the kernel `laplacian` has no pre-image"):
        KernelBasis(kernel="laplacian", n_components=2).fit(X).inverse_transform([[0.0, 0.0]])
    with pytest.raises(ValueError, match="center = false"):
        KernelBasis("kpca", center=True, n_components=2).fit(X).reconstruction_cost(X)


def test_bad_labels_are_refused_in_words():
    X = rows()
    with pytest.raises(ValueError, match="requires y to be passed"):
        KernelBasis("csi").fit(X)
    with pytest.raises(ValueError, match="requires y to be passed"):
        KernelBasis(gamma="loo").fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KernelBasis("csi").fit(X, [0, 1])
    with pytest.raises(ValueError, match="y contains NaN"):
        KernelBasis("csi").fit(X, np.full(len(X), np.nan))
    with pytest.raises(ValueError, match="Input y contains None at row 1"):
        KernelBasis("csi").fit(X, np.array([None, "a"] * (len(X) // 2), dtype=object))
    with pytest.raises(ValueError, match="must be numbers"):
        KernelBasis("csi").fit(X, np.full((len(X), 2), "a"))


def test_a_kernel_that_is_none_raises_a_numerical_error():
    with pytest.raises(mercer.NumericalError, match="not positive semi-definite") as raised:
        KernelBasis(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(rows())
    assert isinstance(raised.value, ArithmeticError)
    assert type(raised.value).__module__ == "mercer"


def test_more_memory_than_there_is_budget_for_is_refused_before_any_work():
    X = rows(30_000, 1)
    with pytest.raises(MemoryError, match=r"(?s)needs .* but the budget is .*hint: "):
        KernelBasis("gram-schmidt").fit(X)


@pytest.mark.parametrize("name", ["landmarks_", "coefficients_", "offset_", "pivots_", "pivot_norms_", "gamma_"])
def test_what_was_found_is_read_only(name):
    X = rows()
    basis = KernelBasis(n_components=4).fit(X)
    value = getattr(basis, name)
    with pytest.raises(AttributeError):
        setattr(basis, name, value)
    if isinstance(value, np.ndarray):
        with pytest.raises(ValueError, match="read-only"):
            value[0] = 1
    assert not hasattr(KernelBasis(), name)


# Metrics


def test_alignment_is_what_it_says():
    X = rows(50)
    y = labels(X)
    K = rbf_kernel(X, gamma=0.3)
    Y = np.eye(2)[y] @ np.eye(2)[y].T
    expected = np.sum(K * Y) / np.linalg.norm(K) / np.linalg.norm(Y)
    assert metrics.kernel_alignment(K, y) == pytest.approx(expected, rel=100 * EPS)
    H = np.eye(50) - 1 / 50
    K, Y = H @ K @ H, H @ Y @ H
    centred = np.sum(K * Y) / np.linalg.norm(K) / np.linalg.norm(Y)
    assert metrics.kernel_alignment(rbf_kernel(X, gamma=0.3), y, center=True) == pytest.approx(centred, rel=1e-12)
    as_numbers = metrics.kernel_alignment(K, 2 * y - 1, task="numbers")
    t = 2 * y - 1
    assert as_numbers == pytest.approx(t @ K @ t / np.linalg.norm(K) / 50, rel=1e-12)
    assert metrics.kernel_alignment(K, 2 * y - 1, task="regression") == as_numbers
    with pytest.raises(ValueError, match="task = `ranks` is not known"):
        metrics.kernel_alignment(K, y, task="ranks")
    with pytest.raises(ValueError, match="there are 49 labels"):
        metrics.kernel_alignment(K, y[:49])
    with pytest.raises(ValueError, match="NaN"):
        metrics.kernel_alignment(np.full((2, 2), np.nan), [0, 1])


def test_relevant_dimension_finds_the_components_that_matter():
    generator = np.random.default_rng(0)
    U = np.linalg.qr(np.c_[np.ones(300), generator.normal(size=(300, 299))])[0][:, 1:]
    K = (U * 0.9 ** np.arange(299)) @ U.T
    y = 10 * U[:, :5].sum(axis=1) + generator.normal(scale=0.1, size=300)
    dimension, noise = metrics.relevant_dimension(K, y, return_noise=True)
    assert dimension == metrics.relevant_dimension(K, y) == 5
    assert noise == pytest.approx(0.01, rel=5 / np.sqrt(300))


def test_nan_and_infinity_are_refused_by_row_and_column():
    X = np.random.default_rng(0).normal(size=(20, 4))
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[3, 2] = value
        with pytest.raises(ValueError, match=f"{word} at row 4, column 3"):
            KernelBasis().fit(bad)
        with pytest.raises(ValueError, match=f"{word} at row 4, column 3"):
            KernelBasis().fit(X).transform(bad)


def test_a_function_is_the_stop_rule():
    X = np.random.default_rng(0).normal(size=(200, 3))
    by_power = KernelBasis("kobl", threshold=("power", 0.5)).fit(X)
    by_function = KernelBasis("kobl", threshold=lambda t: t**0.5).fit(X)
    np.testing.assert_array_equal(by_function.pivots_, by_power.pivots_)
    assert clone(by_function).get_params()["threshold"] is by_function.threshold


def test_relevant_components_are_the_first_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = X[:, 0] ** 2 + X[:, 1] > 1
    for method in ("kobl", "kpca", "kfa"):
        every = KernelBasis(method, gamma=0.1).fit(X, y)
        relevant = KernelBasis(method, gamma=0.1, n_components="relevant").fit(X, y)
        m = relevant.n_components_
        assert 1 <= m < every.n_components_
        np.testing.assert_allclose(relevant.transform(X), every.transform(X)[:, :m], atol=1e-9)
    K = KernelBasis("kpca", gamma=0.1, center=True, n_components="relevant").fit(X, y)
    assert K.n_components_ == metrics.relevant_dimension(rbf_kernel(X, gamma=0.1), y)
    with pytest.raises(ValueError, match="requires y"):
        KernelBasis("kobl", n_components="relevant").fit(X)
