"""What a GPU computes is what the processor computes, and arrays of PyTorch and CuPy go in and come out.

`make test-gpu` runs these on a GPU, `make test-stand-in` on a slow imitation of one; without MERCER_TEST_DEVICE they
are skipped.
"""

import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import mercer

DEVICE = os.environ.get("MERCER_TEST_DEVICE")
IS_STAND_IN = (Path(os.environ.get("MERCER_CUDA_LIB", "nowhere")) / "stand_in.so").exists()
if DEVICE is None:
    pytest.skip("MERCER_TEST_DEVICE names no GPU: see `make test-gpu`", allow_module_level=True)

GAMMA = 0.2
RANDOM = np.random.default_rng(0)
CLASS = RANDOM.integers(0, 3, 300)
X = RANDOM.normal(size=(300, 4)) + np.eye(3, 4)[CLASS]
Y = np.array(["a", "b", "c"])[CLASS]
NEW = RANDOM.normal(size=(77, 4))


def kernel_basis(method="kobl", m=40, **settings):
    more = {"threshold": 0.0} if method == "kobl" else {}
    return mercer.KernelBasis(method, n_components=m, gamma=GAMMA, **more, **settings)


def close(found, expected, tolerance=1e-8):
    """Two matrices differ by no more than a share of the largest number."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def both(estimator, rows=X, labels=Y):
    """Return a fit on the processor and one on the GPU."""
    return clone(estimator).fit(rows, labels), clone(estimator).set_params(device=DEVICE).fit(rows, labels)


# Rows of NumPy.


@pytest.mark.parametrize("method", ["kobl", "nystrom", "sparse", "kfa"])
def test_a_basis_has_the_landmarks_and_the_features_of_the_processor(method):
    here, there = both(kernel_basis(method))
    np.testing.assert_array_equal(there.pivots_, here.pivots_)
    close(there.pivot_norms_, here.pivot_norms_)
    assert there.residual_ == pytest.approx(here.residual_, abs=1e-10)
    close(there.transform(NEW), here.transform(NEW))
    close(there.fit_transform(X), here.fit_transform(X))


def test_random_landmarks_are_distinct_rows_and_their_features_orthonormal():
    there = kernel_basis("rpcholesky", random_state=1, device=DEVICE).fit(X)
    assert len(np.unique(there.pivots_)) == there.n_components_ == 40
    np.testing.assert_array_equal(there.landmarks_, X[there.pivots_])
    A = there.coefficients_
    close(A @ rbf_kernel(there.landmarks_, gamma=GAMMA) @ A.T, np.eye(40))
    Z = there.transform(X)
    assert Z.shape == (300, 40)
    close((1 - (Z**2).sum(axis=1)).mean(), there.residual_)
    again = kernel_basis("rpcholesky", random_state=1, device=DEVICE).fit(X)
    np.testing.assert_array_equal(again.coefficients_, A)
    np.testing.assert_array_equal(again.transform(X), Z)


@pytest.mark.parametrize("kernel", ["laplacian", "linear", "poly", "cosine", "matern12", "matern32", "matern52", "rq"])
def test_features_of_other_kernels(kernel):
    here, there = both(mercer.KernelBasis("kobl", kernel=kernel, gamma=GAMMA, n_components=4))
    np.testing.assert_array_equal(there.pivots_, here.pivots_)
    close(there.transform(NEW), here.transform(NEW))


ESTIMATORS = {
    "GDA": mercer.GDA(basis=kernel_basis()),
    "GDA on its own basis": mercer.GDA(),
    "KPLS": mercer.KPLS(3, basis=kernel_basis()),
    "KOC": mercer.KOC(basis=kernel_basis()),
    "KPCA": mercer.KPCA(5, basis=kernel_basis()),
    "KLFE": mercer.KLFE(3, basis=kernel_basis()),
    "KLFE, some rows": mercer.KLFE(3, n_queries=50, metric="l2", basis=kernel_basis()),
    "KANMM": mercer.KANMM(3, basis=kernel_basis()),
    "TAKES": mercer.TAKES(10, basis=kernel_basis()),
    "SKRelief": mercer.SKRelief(10, basis=kernel_basis("sparse")),
    "AutoFeatures": mercer.AutoFeatures(),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_features_are_those_of_the_processor(name):
    here, there = both(ESTIMATORS[name])
    close(there.transform(NEW), here.transform(NEW))
    close(clone(there).fit_transform(X, Y), here.transform(X))


@pytest.mark.parametrize("name", ["Relief", "ReliefF"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("queries", [None, 60])
def test_scores_of_columns_are_those_of_the_processor(name, metric, queries):
    here, there = both(getattr(mercer, name)(n_neighbors=5, metric=metric, n_queries=queries))
    close(there.scores_, here.scores_, 1e-12)
    np.testing.assert_array_equal(there.ranking_, here.ranking_)


def test_automatic_predictions_are_those_of_the_processor():
    here, there = both(mercer.AutoClassifier())
    np.testing.assert_array_equal(there.predict(NEW), here.predict(NEW))
    close(there.predict_proba(NEW), here.predict_proba(NEW), 1e-6)


@pytest.mark.parametrize("make", [kernel_basis, lambda **s: mercer.GDA(basis=kernel_basis(), **s)])
def test_float32_in_float32_out(make):
    rows, new = X.astype(np.float32), NEW.astype(np.float32)
    here, there = both(make(), rows)
    found = there.transform(new)
    assert found.dtype == np.float32
    close(found, here.transform(new), 1e-4)
    assert clone(there).fit_transform(rows, Y).dtype == np.float32


def test_fitted_there_saved_and_used_here(tmp_path):
    there = mercer.GDA(basis=kernel_basis(), device=DEVICE).fit(X, Y)
    expected = there.transform(NEW)
    mercer.save(there, tmp_path / "gda.mercer")
    model = mercer.load(tmp_path / "gda.mercer")
    close(model.transform(NEW), expected)
    np.testing.assert_array_equal(model.transform(NEW, device=DEVICE), expected)


def test_pickled_and_cloned():
    there = mercer.GDA(basis=kernel_basis(), device=DEVICE).fit(X, Y)
    copy = pickle.loads(pickle.dumps(there))
    assert copy.device == clone(there).device == DEVICE
    np.testing.assert_array_equal(copy.transform(NEW), there.transform(NEW))
    np.testing.assert_array_equal(clone(there).fit(X, Y).transform(NEW), there.transform(NEW))
    close(copy.set_params(device="cpu").transform(NEW), there.transform(NEW))


def test_auto_finds_the_gpu_and_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = kernel_basis(device="auto").fit(X)
    np.testing.assert_array_equal(there.pivots_, kernel_basis().fit(X).pivots_)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (mercer.KernelBasis("gram-schmidt", gamma=GAMMA), "the basis `gram-schmidt` is not fitted on a GPU"),
        (mercer.KernelBasis("kobl", kernel="chi2", gamma=GAMMA), "the kernel `chi2` is not computed on a GPU"),
    ],
)
def test_what_a_gpu_cannot_do_is_refused_by_name_and_done_here_by_auto(estimator, words):
    rows = np.abs(X)
    with pytest.raises((ValueError, mercer.DeviceError), match=f"(?s){words}.*\nhint: "):
        clone(estimator).set_params(device=DEVICE).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = clone(estimator).set_params(device="auto").fit(rows)
    here = estimator.fit(rows)
    np.testing.assert_array_equal(found.coefficients_, here.coefficients_)
    close(found.set_params(device="cpu").transform(rows), here.transform(rows))


def test_auto_transforms_here_where_a_gpu_has_no_formula():
    rows = np.abs(X)
    basis = mercer.KernelBasis("kobl", kernel="chi2", gamma=GAMMA, n_components=5).fit(rows)
    expected = basis.transform(rows)
    close(basis.set_params(device="auto").transform(rows), expected)


def test_little_memory_changes_no_landmark(monkeypatch):
    expected = kernel_basis(m=100).fit(X)
    monkeypatch.setenv("MERCER_DEVICE_MEMORY", "300kB")
    found = kernel_basis(m=100, device=DEVICE).fit(X)
    np.testing.assert_array_equal(found.pivots_, expected.pivots_)
    close(found.coefficients_ @ found.coefficients_.T, expected.coefficients_ @ expected.coefficients_.T)


# Arrays that lie on the GPU.


def torch_array(values):
    import torch

    return torch.from_numpy(np.ascontiguousarray(values)).to(DEVICE)


def cupy_array(values):
    import cupy

    number = int(DEVICE.partition(":")[2] or 0)
    with cupy.cuda.Device(number):
        return cupy.asarray(values)


MAKE = {"torch": torch_array, "cupy": cupy_array}


@pytest.fixture(params=MAKE)
def on_gpu(request):
    """Make an array of a library on the GPU."""
    if IS_STAND_IN:
        pytest.skip("a stand-in has no memory that PyTorch and CuPy know of")
    library = pytest.importorskip(request.param)
    if request.param == "torch" and not library.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    return MAKE[request.param]


def as_numpy(values):
    return values.get() if hasattr(values, "get") else values.cpu().numpy()


def is_beside(found, rows):
    """Return whether two arrays are of the same kind, in the same place."""
    return type(found) is type(rows) and found.device == rows.device and found.dtype == rows.dtype


def test_fits_on_arrays_there_are_those_of_the_processor(on_gpu):
    rows, new = on_gpu(X), on_gpu(NEW)
    for estimator in (kernel_basis(), mercer.GDA(basis=kernel_basis()), mercer.KLFE(3, basis=kernel_basis())):
        here, there = clone(estimator).fit(X, Y), clone(estimator).fit(rows, Y)
        found = there.transform(new)
        assert is_beside(found, new)
        close(as_numpy(found), here.transform(NEW), 1e-10)
        close(there.transform(NEW), here.transform(NEW), 1e-10)
        kept = clone(estimator).fit_transform(rows, Y)
        assert is_beside(kept, rows)
        close(as_numpy(kept), here.transform(X), 1e-10)


def test_the_same_bits_from_numpy_and_from_arrays_there(on_gpu):
    there, uploaded = kernel_basis().fit(on_gpu(X)), kernel_basis(device=DEVICE).fit(X)
    np.testing.assert_array_equal(there.coefficients_, uploaded.coefficients_)
    np.testing.assert_array_equal(as_numpy(there.transform(on_gpu(NEW))), uploaded.transform(NEW))


def test_columns_are_scored_and_kept_there(on_gpu):
    rows = on_gpu(X)
    here, there = mercer.ReliefF(2).fit(X, Y), mercer.ReliefF(2).fit(rows, Y)
    close(there.scores_, here.scores_, 1e-12)
    kept = there.transform(rows)
    assert is_beside(kept, rows)
    np.testing.assert_array_equal(as_numpy(kept), here.transform(X))


def test_labels_may_lie_there_too(on_gpu):
    here, there = mercer.GDA(basis=kernel_basis()).fit(X, CLASS), mercer.GDA(basis=kernel_basis())
    there.fit(on_gpu(X), on_gpu(CLASS))
    close(there.transform(NEW), here.transform(NEW), 1e-10)


def test_float32_arrays_there_have_float32_features_there(on_gpu):
    rows = on_gpu(X.astype(np.float32))
    there = kernel_basis().fit(rows)
    found = there.transform(rows)
    assert is_beside(found, rows)
    close(as_numpy(found), kernel_basis().fit(X).transform(X), 1e-4)


def test_arrays_there_that_are_not_in_c_order_or_whole_numbers(on_gpu):
    expected = kernel_basis().fit(X)
    wide = on_gpu(np.repeat(X, 2, axis=1))[:, ::2]
    turned = on_gpu(X.T.copy()).T
    for rows in (wide, turned):
        there = kernel_basis().fit(rows)
        np.testing.assert_array_equal(there.pivots_, expected.pivots_)
        close(as_numpy(there.transform(rows)), expected.transform(X), 1e-10)
    whole = np.round(10 * X).astype(np.int64)
    here, there = kernel_basis().fit(whole), kernel_basis().fit(on_gpu(whole))
    close(as_numpy(there.transform(on_gpu(whole))), here.transform(whole), 1e-10)


def test_gradients_are_left_behind(on_gpu):
    rows = on_gpu(X)
    if not hasattr(rows, "requires_grad_"):
        pytest.skip("CuPy has none")
    found = kernel_basis().fit(rows.requires_grad_()).transform(rows)
    assert not found.requires_grad
    close(as_numpy(found), kernel_basis().fit(X).transform(X), 1e-10)


def test_a_loaded_model_takes_arrays_there(on_gpu, tmp_path):
    mercer.save(mercer.GDA(basis=kernel_basis()).fit(X, Y), tmp_path / "gda.mercer")
    model, new = mercer.load(tmp_path / "gda.mercer"), on_gpu(NEW)
    found = model.transform(new)
    assert is_beside(found, new)
    close(as_numpy(found), model.transform(NEW), 1e-10)
