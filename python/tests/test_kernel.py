"""Sums and products of kernels, kernels on columns, and functions of one's own."""

import copy
import gc
import pickle
import re
import signal
import threading
import time
import traceback
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    pairwise_kernels,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import mercer
from mercer import EKS, GDA, KPCA, TAKES, Kernel, KernelBasis, KernelNeighborsClassifier

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(80, 6)))
X[:, 4:] = RNG.integers(0, 3, size=(80, 2))
X[:, 3] = 2.0
X[-1] = X[0]
Y = (X[:, 0] + X[:, 4] > 1.5).astype(int)
NEW = np.abs(RNG.normal(size=(15, 6))).round(1)

BASES = ["kobl", "gram-schmidt", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]


def match(A, B):
    return np.mean(A[:, None, :] == B[None, :, :], axis=2)


def reference(A, B):
    """The kernel of TEXT, by scikit-learn."""
    rbf = rbf_kernel(A[:, :2], B[:, :2], gamma=0.3)
    return 0.5 * rbf * match(A[:, 4:], B[:, 4:]) + linear_kernel(A, B) + 2 * laplacian_kernel(A, B, gamma=0.2)


TEXT = "0.5*rbf(gamma=0.3, columns=0:2)*match(columns=4:6)+linear+2*laplacian(gamma=0.2)"


def both_ways():
    parts = Kernel("rbf", gamma=0.3, columns=[0, 1]) * Kernel("match", columns=slice(4, 6))
    return 0.5 * parts + Kernel("linear") + Kernel("laplacian", gamma=0.2) * 2


def spanned(basis, A, B):
    """The kernel values that features stand for."""
    return basis.transform(A) @ basis.transform(B).T


def overlap(A, B):
    return np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2)


class Scaled:
    """A function with a setting, which can be pickled."""

    def __init__(self, gamma):
        self.gamma = gamma

    def __call__(self, A, B):
        return rbf_kernel(A, B, gamma=self.gamma)


@pytest.mark.parametrize("kernel", [TEXT, both_ways()], ids=["text", "Kernel"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_values_are_those_of_scikit_learn(kernel, make):
    if isinstance(kernel, Kernel):
        np.testing.assert_allclose(kernel.matrix(make(X), make(NEW)), reference(X, NEW), rtol=1e-12)
        np.testing.assert_allclose(kernel.matrix(make(X)), reference(X, X), rtol=1e-12)
    basis = KernelBasis("kpca", kernel=kernel).fit(make(X))
    np.testing.assert_allclose(spanned(basis, make(X), make(X)), reference(X, X), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(spanned(basis, make(X), make(NEW)), reference(X, NEW), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("method", BASES)
def test_every_basis_takes_sums(method):
    basis = KernelBasis(method, kernel=TEXT, n_components=12).fit(X, Y)
    assert basis.kernel_ == TEXT
    landmarks = basis.landmarks_
    Z = reference(NEW, landmarks) @ basis.coefficients_.T - basis.offset_
    np.testing.assert_allclose(basis.transform(NEW), Z, atol=1e-8 * np.abs(Z).max())
    fitted = KernelBasis(method, kernel=TEXT, n_components=12).fit_transform(X, Y)
    np.testing.assert_allclose(fitted, basis.transform(X), atol=1e-6 * np.abs(fitted).max())


def test_float32_rows():
    basis = KernelBasis("kobl", kernel=TEXT, n_components=10).fit(X.astype("float32"))
    wide = KernelBasis("kobl", kernel=TEXT, n_components=10).fit(X)
    Z = basis.transform(NEW.astype("float32"))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, wide.transform(NEW), rtol=1e-3, atol=1e-3)


def test_texts_of_kernels():
    assert repr(both_ways()) == TEXT
    assert repr(Kernel("rbf", columns=["age", "a b"])) == 'rbf(columns=age,"a b")'
    assert repr((Kernel("rbf") + Kernel("linear")) * Kernel("match")) == "rbf*match+linear*match"
    assert repr(sum([Kernel("rbf"), Kernel("linear")])) == "rbf+linear"
    assert repr(2 * Kernel("0.5*rbf+linear")) == "2*(0.5*rbf+linear)"
    assert repr(Kernel("poly", degree=2, coef0=0.5)) == "poly(degree=2, coef0=0.5)"
    assert Kernel("rbf", gamma=1) == Kernel("rbf", gamma=1.0) != Kernel("rbf", gamma=2)
    assert hash(Kernel("rbf")) == hash(Kernel("rbf"))
    assert Kernel("rbf") != "rbf"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("0.5*banana", "`banana` is not known"),
        ("rbf-linear", "weights must be at least 0"),
        ("rbf(columns=9)", "on column 9, but the rows have 6 columns"),
        ("rbf(columns=town)", "no names of columns"),
        ("rbf*precomputed", "cannot be a part"),
        ("chi2(columns=0)+linear", "`chi2` needs numbers of at least 0"),
    ],
)
def test_refusals(kernel, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        KernelBasis(kernel=kernel, gamma=0.1).fit(X - 1.0)


def test_refusals_of_kernels():
    with pytest.raises(ValueError, match="weights must be at least 0"):
        -1 * Kernel("rbf")
    with pytest.raises(ValueError, match="is not known"):
        Kernel("banana")
    with pytest.raises(ValueError, match="no such degree"):
        Kernel("rbf", degree=2)
    with pytest.raises(ValueError, match="both its ends"):
        Kernel("rbf", columns=slice(3))
    with pytest.raises(ValueError, match="counted from 0"):
        Kernel("rbf", columns=-1)
    with pytest.raises(TypeError, match="must be a number"):
        Kernel("rbf", gamma="scale")
    with pytest.raises(ValueError, match="which is a text"):
        Kernel("rbf+linear", gamma=0.1)
    with pytest.raises(ValueError, match="part without gamma"):
        Kernel("rbf").matrix(X)
    with pytest.raises(TypeError, match="functions are for estimators"):
        mercer.compare(X, Y, methods="kobl", kernel=overlap)
    with pytest.raises(TypeError):
        Kernel("rbf") + 1
    with pytest.raises(ValueError, match="must be a str among"):
        KernelBasis(kernel="banana").fit(X)


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=["age", "income", "b", "c", "city", "street"])
    kernel = 0.5 * Kernel("rbf", columns=["age", "income"]) * Kernel("match", columns=["city", "street"])
    named = KernelBasis("kobl", kernel=kernel, gamma=0.3, n_components=9).fit(frame)
    placed = KernelBasis("kobl", kernel="0.5*rbf(columns=0:2)*match(columns=4:6)", gamma=0.3, n_components=9).fit(X)
    assert named.kernel_ == placed.kernel_ == "0.5*rbf(gamma=0.3, columns=0:2)*match(columns=4:6)"
    np.testing.assert_array_equal(named.transform(frame), placed.transform(X))
    for estimator in (GDA(kernel=kernel), TAKES(kernel=kernel), EKS(kernel=kernel, n_features=3)):
        assert estimator.fit(frame, Y).basis_.kernel_.endswith("*match(columns=4:6)")
    assert KernelNeighborsClassifier(1, kernel=kernel).fit(frame, Y).score(frame, Y) > 0.9
    np.testing.assert_allclose(Kernel("match", columns="city").matrix(frame), match(X[:, 4:5], X[:, 4:5]))
    with pytest.raises(ValueError, match="`town`, which is not there; columns are `age`"):
        KernelBasis(kernel="match(columns=town)").fit(frame)


def test_settings_of_the_estimator_are_those_of_parts_without():
    basis = KernelBasis(kernel="poly+rq*poly(degree=4, coef0=0)", gamma=0.5, degree=2, coef0=3.0, alpha=0.7).fit(X)
    expected = "poly(gamma=0.5, degree=2, coef0=3)+rq(gamma=0.5, alpha=0.7)*poly(gamma=0.5, degree=4, coef0=0)"
    assert basis.kernel_ == expected
    by_name = KernelBasis(kernel="poly(columns=a)+linear", gamma=0.5, degree=2).fit(
        pd.DataFrame(X[:, :1], columns=["a"])
    )
    assert by_name.kernel_.startswith("poly(gamma=0.5, degree=2")


def test_rules_for_gamma():
    kernel = "rbf(columns=0:3)+rbf(columns=4:6)+linear+rbf(gamma=7)"

    def widths(gamma, y=None):
        basis = KernelBasis("nystrom", kernel=kernel, gamma=gamma, n_components=5).fit(X, y)
        assert basis.gamma_ == 1.0
        return [float(width) for width in re.findall(r"gamma=([^,)]*)", basis.kernel_)]

    scales = [1 / (3 * X[:, :3].var()), 1 / (2 * X[:, 4:].var())]
    np.testing.assert_allclose(widths("scale"), [*scales, 7], rtol=1e-12)
    np.testing.assert_allclose(widths("auto"), [1 / 3, 1 / 2, 7])
    assert widths(0.25) == [0.25, 0.25, 7]
    for rule in ("loo", "align", None):
        found = widths(rule, Y)
        np.testing.assert_allclose(found[0] / scales[0], found[1] / scales[1])
    alone = [KernelBasis(gamma="median").fit(X[:, part]).gamma_ for part in (slice(0, 3), slice(4, 6))]
    np.testing.assert_allclose(widths("median"), [*alone, 7], rtol=1e-12)


def test_additive_chi2_is_the_positive_semi_definite_one():
    K = Kernel("additive_chi2").matrix(X, NEW)
    theirs = additive_chi2_kernel(X, NEW)  # -sum (x - z)^2 / (x + z), which is negative
    np.testing.assert_allclose(K, 0.5 * (theirs + X.sum(axis=1)[:, None] + NEW.sum(axis=1)), rtol=1e-12)
    assert np.linalg.eigvalsh(Kernel("additive_chi2").matrix(X))[0] > -1e-10
    assert np.linalg.eigvalsh(additive_chi2_kernel(X))[0] < -1e-3
    np.testing.assert_allclose(
        Kernel("additive_chi2").matrix(sparse.csr_array(X), sparse.csr_array(NEW)), K, rtol=1e-12
    )
    with pytest.raises(ValueError, match="Negative values"):
        KernelBasis(kernel="additive_chi2").fit(-X)


def test_match_on_codes_is_linear_on_one_hot_columns():
    codes = X[:, 4:]
    one_hot = np.hstack([codes[:, [j]] == np.unique(codes) for j in range(2)]).astype(float)
    np.testing.assert_allclose(Kernel("match").matrix(codes), linear_kernel(one_hot) / 2)


@pytest.mark.parametrize("kernel", [TEXT, both_ways()], ids=["text", "Kernel"])
def test_saved_and_pickled(kernel, tmp_path):
    basis = KernelBasis("kobl", kernel=kernel, n_components=7).fit(X)
    Z = basis.transform(NEW)
    mercer.save(basis, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert loaded.kernel == TEXT
    np.testing.assert_array_equal(loaded.transform(NEW), Z)
    for again in (pickle.loads(pickle.dumps(basis)), copy.deepcopy(basis)):
        np.testing.assert_array_equal(again.transform(NEW), Z)
        assert again.kernel == kernel


def test_clone_and_grid_search():
    kernels = ["rbf", Kernel("rbf") + Kernel("linear"), "rbf(columns=0:4)*match(columns=4:6)", overlap]
    for kernel in kernels:
        basis = KernelBasis(kernel=kernel)
        assert clone(basis).get_params()["kernel"] == kernel
    model = make_pipeline(GDA(), LogisticRegression())
    search = GridSearchCV(model, {"gda__kernel": kernels, "gda__gamma": ["scale", 0.1]}, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    parallel = GridSearchCV(model, {"gda__kernel": kernels}, cv=3, n_jobs=2).fit(X, Y)
    assert np.isfinite(parallel.cv_results_["mean_test_score"]).all()


def test_importance_and_pre_images():
    basis = KernelBasis("kobl", kernel=TEXT, n_components=5).fit(X)
    importance = basis.input_importance(X[:20])
    step = 1e-5
    for j in range(4):
        up, down = X[:20].copy(), X[:20].copy()
        up[:, j] += step
        down[:, j] -= step
        slow = np.mean(((basis.transform(up) - basis.transform(down)) / (2 * step)) ** 2, axis=0)
        # laplacian has no slope where numbers are equal, as in the constant column
        if j != 3:
            np.testing.assert_allclose(importance[:, j], slow, rtol=0.2)
    with pytest.raises(ValueError, match="has no pre-image here"):
        basis.inverse_transform(np.zeros((1, 5)))


def test_batches():
    basis = KernelBasis("sparse", kernel="rbf(columns=0:3)*match(columns=4:6)", gamma=0.5)
    basis.partial_fit(X[:40]).partial_fit(X[40:])
    assert basis.n_samples_seen_ == 80
    with pytest.raises(AttributeError):
        KernelBasis("sparse", kernel="rbf+linear", gamma="scale").partial_fit(X)


@pytest.mark.parametrize("method", BASES)
def test_a_function_is_a_kernel(method):
    basis = KernelBasis(method, kernel=overlap, n_components=12).fit(X, Y)
    assert re.fullmatch(r"overlap#\d+", basis.kernel_)
    Z = overlap(NEW, basis.landmarks_) @ basis.coefficients_.T - basis.offset_
    np.testing.assert_allclose(basis.transform(NEW), Z, atol=1e-8 * np.abs(Z).max())


def test_functions_in_estimators_and_sums():
    kernel = Kernel(overlap, columns=slice(0, 4)) + 0.5 * Kernel("rbf", gamma=0.2)
    basis = KernelBasis("kpca", kernel=kernel).fit(X)
    expected = overlap(X[:, :4], X[:, :4]) + 0.5 * rbf_kernel(X, X, gamma=0.2)
    np.testing.assert_allclose(spanned(basis, X, X), expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(kernel.matrix(X), expected, rtol=1e-12)
    for estimator in (GDA(kernel=overlap), KPCA(2, kernel=overlap), EKS(kernel=overlap, n_features=3)):
        assert estimator.fit(X, Y).transform(NEW).shape[0] == 15
    neighbours = KernelNeighborsClassifier(1, kernel=kernel).fit(X, Y)
    again = pickle.loads(pickle.dumps(neighbours))
    np.testing.assert_array_equal(neighbours.predict(NEW), again.predict(NEW))
    moons, y = make_moons(200, noise=0.1, random_state=0)
    model = make_pipeline(KernelBasis("kobl", kernel=Scaled(2.0), n_components=40), RidgeClassifier())
    assert model.fit(moons, y).score(moons, y) > 0.95


def test_kernels_of_gaussian_processes():
    kernel = ConstantKernel(2.0) * RBF(1.5)
    basis = KernelBasis("kpca", kernel=kernel).fit(X)
    np.testing.assert_allclose(spanned(basis, X, X), kernel(X), rtol=1e-7, atol=1e-7)
    assert isinstance(clone(basis).kernel, type(kernel))


def test_models_with_functions_are_pickled_and_not_saved(tmp_path):
    basis = KernelBasis("kobl", kernel=Scaled(0.3), n_components=6).fit(X)
    with pytest.raises(ValueError, match="cannot be saved: a file holds no code"):
        mercer.save(basis, tmp_path / "model.mercer")
    again = pickle.loads(pickle.dumps(basis))
    np.testing.assert_array_equal(again.transform(NEW), basis.transform(NEW))
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(KernelBasis("kobl", kernel=lambda A, B: A @ B.T).fit(X))


def test_a_model_keeps_its_function():
    class Local(Scaled):
        pass

    function = Local(0.3)
    watched = weakref.ref(function)
    basis = KernelBasis("kobl", kernel=function, n_components=6).fit(X)
    model, Z = basis._model, basis.transform(NEW)
    del basis, function
    gc.collect()
    np.testing.assert_array_equal(model.transform(NEW), Z)
    del model
    gc.collect()
    assert watched() is None


class OwnError(Exception):
    pass


def test_what_a_function_raises_reaches_the_caller():
    raised = OwnError("mine")

    def fails(A, B):
        if len(A) > 50:
            raise raised
        return A @ B.T

    with pytest.raises(OwnError) as caught:
        KernelBasis("kobl", kernel=fails).fit(X)
    assert caught.value is raised
    assert any(frame.name == "fails" for frame in traceback.extract_tb(caught.value.__traceback__))

    later = {"fail": False}

    def turns(A, B):
        if later["fail"]:
            raise KeyError("later")
        return A @ B.T

    basis = KernelBasis("kobl", kernel=turns).fit(X)
    later["fail"] = True
    for call in (basis.transform, basis.reconstruction_cost):
        with pytest.raises(KeyError, match="later"):
            call(NEW)
    later["fail"] = False
    assert basis.transform(NEW).shape[0] == 15


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda A, B: 1.0, ValueError, "of shape []"),
        (lambda A, B: A @ A.T if len(A) == len(B) else np.zeros((2, 3)), ValueError, "of shape [2, 3]"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), ValueError, "must be finite"),
        (lambda A, B: A[:, :1] + 0 * B[:, 0] + 5, ValueError, "is not symmetric"),
        (lambda A, B: "banana", TypeError, "returned an object of type str"),
        (lambda A, B: sparse.csr_array(A @ B.T), TypeError, "of type csr_array"),
        (lambda A, B: -(A @ B.T), mercer.NumericalError, "not positive semi-definite"),
    ],
)
def test_what_functions_must_return(function, error, words):
    with pytest.raises(error, match=re.escape(words)):
        KernelBasis("kobl", kernel=function).fit(X)


def test_functions_see_dense_float64_blocks_and_refuse_sparse_rows():
    seen = []

    def looks(A, B):
        seen.append((A.dtype, B.dtype, A.shape[1], type(A)))
        return A @ B.T

    KernelBasis("kobl", kernel=looks).fit(X.astype("float32"))
    assert set(seen) == {(np.dtype("float64"), np.dtype("float64"), 6, np.ndarray)}
    with pytest.raises(ValueError, match="these are sparse"):
        KernelBasis("kobl", kernel=looks).fit(sparse.csr_array(X))


def test_functions_may_use_mercer_themselves():
    inner = KernelBasis("kobl", gamma=0.5, n_components=5).fit(X)

    def nested(A, B):
        return inner.transform(A) @ inner.transform(B).T

    basis = KernelBasis("kobl", kernel=nested, threshold=0.0).fit(np.vstack([X] * 10))
    np.testing.assert_allclose(spanned(basis, X, X), spanned(inner, X, X), atol=1e-6)


def test_interrupt_while_a_function_runs():
    def slow(A, B):
        time.sleep(0.05)
        return rbf_kernel(A, B, gamma=1.0)

    rows = np.random.default_rng(1).normal(size=(2000, 3))
    main = threading.main_thread().ident
    # A process that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            KernelBasis("kobl", kernel=slow, n_components=2000, threshold=0.0).fit(rows)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_compare_takes_sums():
    iris, y = load_iris(return_X_y=True)
    kernel = Kernel("rbf", columns=slice(0, 2)) + Kernel("rbf", columns=slice(2, 4))
    outcome = mercer.compare(iris, y, methods=["gda"], kernel=kernel, gamma="scale", folds=3, evaluators="knn")
    assert outcome.loc[outcome["method"] == "gda", "mean"].iloc[0] > 0.9


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_compare_takes_columns_by_name(kind):
    iris, y = load_iris(return_X_y=True)
    frame = kind(dict(zip(["sepal length", "b", "c", "d"], iris.T, strict=True)))
    settings = {"methods": ["gda"], "gamma": "scale", "folds": 3, "evaluators": "knn"}
    by_place = mercer.compare(iris, y, kernel="rbf(columns=0,2)+linear(columns=3)", **settings)
    named = Kernel("rbf", columns=["sepal length", "c"]) + Kernel("linear", columns="d")
    for kernel in named, named.text:
        by_name = mercer.compare(frame, y, kernel=kernel, **settings)
        assert by_name["mean"].tolist() == by_place["mean"].tolist()
    with pytest.raises(ValueError, match="on the column `e`, which is not there; columns are `sepal length`, `b`"):
        mercer.compare(frame, y, kernel="rbf(columns=e)", **settings)
    with pytest.raises(ValueError, match="these rows have no names of columns"):
        mercer.compare(iris, y, kernel=named, **settings)
    with pytest.raises(ValueError, match="is on column 7, but the rows have 4 columns"):
        mercer.compare(iris, y, kernel="rbf(columns=7)", **settings)


def test_plain_kernels_by_both_classes_are_the_same():
    for name in ("rbf", "linear", "poly", "cosine", "laplacian"):
        by_name = KernelBasis("kobl", kernel=name, gamma=0.3, n_components=6).fit(X)
        by_class = KernelBasis("kobl", kernel=Kernel(name), gamma=0.3, n_components=6).fit(X)
        np.testing.assert_array_equal(by_name.transform(NEW), by_class.transform(NEW))
        with_width = KernelBasis("kobl", kernel="rbf(gamma=0.3)", n_components=6).fit(X)
        assert (with_width.gamma_, with_width.kernel_) == (0.3, "rbf(gamma=0.3)")
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    np.testing.assert_allclose(Kernel("rbf", gamma=0.3).matrix(X), K, rtol=1e-12)
    P = polynomial_kernel(X, degree=2, gamma=0.5, coef0=3)
    np.testing.assert_allclose(Kernel("poly", gamma=0.5, degree=2, coef0=3).matrix(X), P, rtol=1e-12)
