"""`device`: where passes over rows are computed, and arrays that lie on a GPU.

There need not be a GPU: arrays that say they lie on one are made up, and go as far as the library's error.
"""

import inspect
import pickle
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer import _core, _device
from mercer._device import GpuRows, columns_on_gpu, device_for, is_on_gpu, to_host
from mercer._fit import features

EXTRACTORS = ["AKDAQR", "GDA", "KANMM", "KLFE", "KMFA", "KOC", "KPCA", "KPLS", "SKFE"]
SYSTEMS = ["EKS", "TAKES", "KRelief", "SKRelief"]
SELECTORS = ["RReliefF", "Relief", "ReliefF"]
AUTOMATIC = ["AutoFeatures", "AutoClassifier", "AutoRegressor"]
ALL = [getattr(mercer, name) for name in ["KernelBasis", *EXTRACTORS, *SYSTEMS, *SELECTORS, *AUTOMATIC]]
each = pytest.mark.parametrize("kind", ALL, ids=[kind.__name__ for kind in ALL])

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] * X[:, 1] > 0, "a", "b")
NO_DRIVER = "there is no NVIDIA driver on this machine"


def labels_of(kind):
    return X[:, 0] if kind in (mercer.AutoRegressor, mercer.RReliefF) else Y


def has_gpu():
    try:
        _core.open_device("cuda")
    except mercer.DeviceError:
        return False
    return True


without_gpu = pytest.mark.skipif(has_gpu(), reason="there is a GPU")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nothing was warned of yet."""
    monkeypatch.setattr(_device, "_done", set())


@pytest.fixture
def any_gpu(monkeypatch):
    """Every GPU is believed to be there, until the library opens it."""
    monkeypatch.setattr(_device, "_open", lambda device: None)


class Somewhere:
    """An array that says it lies on a GPU; nobody can look at its numbers."""

    def __init__(self, shape=(60, 3), typestr="<f8", strides=None):
        self.shape = shape
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "strides": strides,
            "data": (4096, False),
            "version": 3,
        }


class ByDlpack:
    """An array that has DLPack alone."""

    shape = (60, 3)

    def __init__(self, kind=2, gpu=1):
        self.where = kind, gpu

    def __dlpack_device__(self):
        return self.where


class Tensor:
    """What is used of a tensor of PyTorch, around an array of NumPy."""

    def __init__(self, values, *, gpu=0, cuda=True, grad=False):
        self.values, self.is_cuda, self.grad = values, cuda, grad
        self.device = SimpleNamespace(index=gpu)
        self.layout = "strided"

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    @property
    def __cuda_array_interface__(self):
        if self.grad:
            raise RuntimeError("it requires grad")
        assert self.values.flags.c_contiguous
        return {**self.values.__array_interface__, "strides": None}

    def _like(self, values):
        return Tensor(values, gpu=self.device.index, grad=False)

    def is_complex(self):
        return self.values.dtype.kind == "c"

    def detach(self):
        return self._like(self.values)

    def to(self, dtype):
        return self._like(self.values.astype(dtype))

    def double(self):
        return self.to(np.dtype(np.float64))

    def contiguous(self):
        return self._like(np.ascontiguousarray(self.values))

    def cpu(self):
        assert not self.grad
        return SimpleNamespace(numpy=lambda: self.values)

    def __getitem__(self, places):
        assert isinstance(places[1], list)
        return self._like(self.values[places])


class Array:
    """What is used of an array of CuPy, around an array of NumPy."""

    class Device:
        def __init__(self, gpu):
            self.id = gpu

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    def __init__(self, values, gpu=0):
        self.values, self.device = values, self.Device(gpu)

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)

    @property
    def __cuda_array_interface__(self):
        assert self.values.flags.c_contiguous
        return {**self.values.__array_interface__, "strides": None}

    def astype(self, dtype):
        return Array(self.values.astype(dtype), self.device.id)

    def get(self):
        return self.values


@pytest.fixture
def torch(monkeypatch):
    def empty(shape, dtype, device):
        return Tensor(np.empty(shape, dtype), gpu=device.index)

    module = SimpleNamespace(
        Tensor=Tensor,
        float32=np.dtype(np.float32),
        float64=np.dtype(np.float64),
        strided="strided",
        empty=empty,
        from_dlpack=lambda values: Tensor(X, gpu=values.where[1]),
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.fixture
def cupy(monkeypatch):
    module = SimpleNamespace(
        ndarray=Array,
        ascontiguousarray=lambda array: Array(np.ascontiguousarray(array.values), array.device.id),
        asarray=lambda array: Array(np.zeros(array.shape)),
        empty=lambda shape, dtype: Array(np.empty(shape, dtype)),
        from_dlpack=lambda values: Array(X, values.where[1]),
        cuda=SimpleNamespace(Device=Array.Device),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.fixture
def no_libraries(monkeypatch):
    """Neither CuPy nor PyTorch can be imported."""
    for name in ("cupy", "torch"):
        monkeypatch.setitem(sys.modules, name, None)


def fitted_attributes(estimator):
    return [name for name in vars(estimator) if name.endswith("_") or name in ("_model", "_sums")]


# The parameter.


@each
def test_device_is_a_parameter_that_no_position_reaches(kind):
    parameter = inspect.signature(kind).parameters["device"]
    assert parameter.default == "cpu"
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    estimator = kind(device="cuda:1")
    assert estimator.get_params()["device"] == "cuda:1"
    assert clone(estimator).device == "cuda:1"
    assert estimator.set_params(device="auto").device == "auto"
    assert "Where passes over the rows are computed:" in kind.__doc__


@each
def test_names_of_no_device_are_refused_before_the_rows_are_looked_at(kind):
    for device in ("gpu", "cuda:", "cuda:x", "CUDA", ""):
        estimator = kind(device=device)
        with pytest.raises(
            ValueError, match=rf"^device = `{device}`, but it must be `cpu`, `cuda`, `cuda:1` .* or `auto`"
        ):
            estimator.fit("no rows", None)
        assert fitted_attributes(estimator) == []
    with pytest.raises(ValueError, match="The 'device' parameter of"):
        kind(device=0).fit(X, labels_of(kind))


@without_gpu
@each
def test_a_gpu_that_is_not_there_is_an_error_with_a_hint_and_nothing_is_fitted(kind):
    estimator = kind(device="cuda")
    with pytest.raises(mercer.DeviceError, match=rf"(?s){NO_DRIVER}.*\nhint: ") as raised:
        estimator.fit(X, labels_of(kind))
    assert isinstance(raised.value, RuntimeError)
    assert fitted_attributes(estimator) == []


@without_gpu
@each
def test_auto_is_the_processor_with_one_warning_and_the_same_bits(kind):
    y = labels_of(kind)
    here, estimator = kind().fit(X, y), kind(device="auto")
    with pytest.warns(UserWarning, match="^device = `auto`: computed on the CPU, as there is no") as warned:
        estimator.fit(X, y)
    assert [warning.filename for warning in warned] == [__file__]
    if hasattr(here, "predict"):
        np.testing.assert_array_equal(estimator.predict(X), here.predict(X))
    else:
        np.testing.assert_array_equal(estimator.transform(X), here.transform(X))
        np.testing.assert_array_equal(kind(device="auto").fit_transform(X, y), kind().fit_transform(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(clone(estimator).fit(X, y)))


@without_gpu
def test_sparse_rows_are_computed_with_as_elsewhere():
    rows = sparse.csr_array(X)
    with pytest.warns(UserWarning, match="computed on the CPU"):
        found = mercer.GDA(device="auto").fit(rows, Y)
    np.testing.assert_array_equal(found.transform(rows), mercer.GDA().fit(rows, Y).transform(rows))
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        mercer.GDA(device="cuda").fit(rows, Y)


@without_gpu
def test_a_fitted_estimator_transforms_where_its_parameter_says():
    for estimator in (mercer.GDA(), mercer.KernelBasis(), mercer.TAKES(), mercer.AutoFeatures()):
        estimator.fit(X, Y).set_params(device="cuda")
        with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
            estimator.transform(X)
    predictor = mercer.AutoClassifier().fit(X, Y).set_params(device="cuda")
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        predictor.predict(X)


@without_gpu
def test_a_model_transforms_where_its_argument_says(tmp_path):
    mercer.save(mercer.GDA().fit(X, Y), tmp_path / "gda.mercer")
    model = mercer.load(tmp_path / "gda.mercer")
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        model.transform(X, device="cuda")
    with pytest.raises(ValueError, match="device = `gpu`"):
        model.transform(X, device="gpu")
    with pytest.warns(UserWarning, match="computed on the CPU"):
        features = model.transform(X, device="auto")
    np.testing.assert_array_equal(features, model.transform(X))


@without_gpu
def test_comparisons_and_advice_take_a_device():
    for call in (mercer.compare, mercer.advise):
        with pytest.raises(ValueError, match="device = `gpu`"):
            call(X, Y, device="gpu")
        with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
            call(X, Y, device="cuda")


@without_gpu
def test_the_device_of_a_basis_counts_where_the_estimator_has_none():
    basis = mercer.KernelBasis(device="cuda")
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        mercer.GDA(basis=basis).fit(X, Y)
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        mercer.TAKES().set_params(basis__device="cuda").fit(X, Y)
    with pytest.warns(UserWarning, match="computed on the CPU"):
        found = mercer.GDA(basis=basis, device="auto").fit(X, Y)
    assert found.basis_.device == "auto"
    assert basis.device == "cuda"
    with pytest.raises(ValueError, match="device = `gpu`"):
        mercer.GDA(basis=mercer.KernelBasis(device="gpu"), device="auto").fit(X, Y)
    assert mercer.KLFE(basis="kobl").fit(X, Y).basis_.device == "cpu"


@pytest.mark.parametrize("kind", [mercer.GDA, mercer.AutoFeatures, mercer.Relief])
def test_rows_in_partitions_stay_on_their_machines(kind, any_gpu):
    partitions = type("Partitions", (), {"is_partitioned": True, "n_features": 3, "names": None})()
    with pytest.raises(ValueError, match="device = `cuda:1`, but rows in partitions are computed with on the proc"):
        kind(device="cuda:1").fit(partitions)


# Where CUDA's libraries are.


def test_libraries_are_looked_for_once_in_the_packages_of_nvidia_and_of_pytorch(tmp_path, monkeypatch, torch):
    (tmp_path / "nvidia" / "cublas" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    torch.__file__ = str(tmp_path / "torch" / "__init__.py")
    monkeypatch.syspath_prepend(tmp_path)
    looked = []
    monkeypatch.setattr(_core, "look_into", looked.append)
    monkeypatch.setattr(_core, "open_device", lambda device: None)
    for device in ("cpu", "cuda", "auto"):
        device_for(X, device)
    assert len(looked) == 1
    assert {str(tmp_path / "nvidia" / "cublas" / "lib"), str(tmp_path / "torch" / "lib")} <= set(looked[0])


# Arrays that lie on a GPU.


def test_what_lies_on_a_gpu(torch, cupy):
    for there in (Somewhere(), ByDlpack(), Tensor(X), Tensor(X, grad=True), Array(X)):
        assert is_on_gpu(there)
    for here in (X, X.tolist(), None, "text", sparse.csr_array(X), Tensor(X, cuda=False), ByDlpack(1, 0), Somewhere):
        assert not is_on_gpu(here)
        assert to_host(here) is here
    assert [_device.gpu_of(there) for there in (Tensor(X, gpu=2), Array(X, 3), ByDlpack(), Somewhere())] == [
        2,
        3,
        1,
        0,
    ]
    for there in (Tensor(X, grad=True), Array(X), ByDlpack()):
        np.testing.assert_array_equal(to_host(there), X)


@without_gpu
@each
def test_arrays_on_a_gpu_go_to_the_library_as_they_are(kind, any_gpu):
    estimator = kind()
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        estimator.fit(Somewhere(), labels_of(kind))
    assert not estimator.__sklearn_is_fitted__()
    assert estimator.n_features_in_ == 3


@without_gpu
def test_a_gpu_is_opened_where_only_the_rows_ask_for_one():
    for call in (mercer.GDA().fit, mercer.KernelBasis().fit_transform, mercer.ReliefF().fit, mercer.AutoFeatures().fit):
        with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
            call(Somewhere(), Y)
    for estimator in (mercer.GDA(), mercer.KernelBasis(), mercer.AutoFeatures()):
        with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
            estimator.fit(X, Y).transform(Somewhere())


def test_rows_on_one_gpu_are_not_computed_with_on_another(any_gpu, cupy):
    assert device_for(Array(X, 1), "cpu") == "cuda:1"
    assert device_for(Array(X, 1), "auto") == "cuda:1"
    assert device_for(Array(X, 1), "cpu", "cuda:1") == "cuda:1"
    assert device_for(Array(X), "cuda") == "cuda:0"
    with pytest.raises(ValueError, match="device = `cuda`, but X lies on the GPU `cuda:1`\nhint: "):
        mercer.GDA(device="cuda").fit(Array(X, 1), Y)


@pytest.mark.parametrize("kind", [mercer.GDA, mercer.KernelBasis, mercer.Relief, mercer.AutoClassifier])
def test_arrays_on_a_gpu_are_checked_as_others_are(kind, any_gpu):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        kind().fit(Somewhere((60,)), Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kind().fit(Somewhere((50, 3)), Y)
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        kind().fit(Somewhere((60, 0)), Y)
    with pytest.raises(ValueError, match="a minimum of"):
        kind().fit(Somewhere((0, 3)), Y[:0])
    fitted = kind().fit(X, Y)
    call = fitted.predict if kind is mercer.AutoClassifier else fitted.transform
    with pytest.raises(ValueError, match=f"X has 4 features, but {kind.__name__} is expecting 3 features as input"):
        call(Somewhere((60, 4)))


def test_names_of_columns_are_forgotten_with_rows_that_have_none(any_gpu, torch):
    pd = pytest.importorskip("pandas")
    basis = mercer.KernelBasis().fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    with pytest.warns(UserWarning, match="X does not have valid feature names"), pytest.raises(mercer.DeviceError):
        basis.transform(Tensor(X))
    with pytest.raises(mercer.DeviceError):
        basis.fit(Tensor(X))
    assert not hasattr(basis, "feature_names_in_")


def test_matrices_that_cannot_be_read_as_they_are(any_gpu, no_libraries):
    for there in (Somewhere(typestr="<i8"), Somewhere(typestr=">f8"), Somewhere(strides=(8, 480))):
        with pytest.raises(TypeError, match=r"a Somewhere on a GPU as .f8|i8.*\nhint: give float32 or float64"):
            mercer.GDA().fit(there, Y)
    with pytest.raises(TypeError, match="a ByDlpack on a GPU cannot be read as it is\nhint: "):
        mercer.GDA().fit(ByDlpack(), Y)
    for strides in (None, (24, 8)):
        assert GpuRows.of(Somewhere(strides=strides)).shape == (60, 3)
    assert GpuRows.of(Somewhere((1, 3), strides=(8, 8))).shape == (1, 3)


def test_libraries_make_their_arrays_readable(torch, cupy):
    for make in (Tensor, Array):
        for given, dtype in (
            (X, "f8"),
            (X.astype("f4"), "f4"),
            (X.astype(int), "f8"),
            (X.T.copy().T, "f8"),
            (X > 0, "f8"),
        ):
            rows = GpuRows.of(make(given, gpu=1))
            assert isinstance(rows.array, make)
            assert (rows.shape, rows.gpu, rows.dtype) == ((60, 3), 1, np.dtype(dtype))
            np.testing.assert_array_equal(rows.array.values, given.astype(dtype))
            assert rows.as_float64().dtype == np.float64
        with pytest.raises(TypeError, match="real numbers are needed"):
            GpuRows.of(make(X.astype(complex)))
    assert isinstance(GpuRows.of(Tensor(X, grad=True)).array, Tensor)
    assert isinstance(GpuRows.of(ByDlpack()).array, Array)
    assert isinstance(GpuRows.of(Somewhere(typestr="<i4")).array, Array)


def test_dlpack_is_read_by_the_library_that_is_imported_already(torch, monkeypatch):
    assert isinstance(GpuRows.of(ByDlpack()).array, Tensor)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_of_the_kind_of_the_rows(dtype, torch, cupy, monkeypatch):
    written = []
    model = SimpleNamespace(n_features=2, transform_to=lambda rows, out, verbose: written.append((rows, out)))
    for make in (Tensor, Array):
        found = features(model, GpuRows.of(make(X.astype(dtype), gpu=1)), device="cuda:1")
        assert isinstance(found, make)
        assert (found.shape, found.dtype) == ((60, 2), np.dtype(dtype))
        rows, out = written.pop()
        assert rows.gpu == 1
        assert out.array.values is found.values
    assert features(model, GpuRows.of(Tensor(X, gpu=1)), device="cuda:1").device.index == 1
    assert isinstance(features(model, GpuRows.of(Somewhere()), device="cuda"), Array)
    monkeypatch.setitem(sys.modules, "cupy", None)
    model.transform = lambda rows, device, verbose: np.zeros((60, 2))
    assert isinstance(features(model, GpuRows.of(Somewhere()), device="cuda"), np.ndarray)


def test_columns_are_chosen_by_the_library_of_the_rows(torch, any_gpu, tmp_path):
    relief = mercer.Relief(2).fit(X, Y)
    kept = relief.transform(Tensor(X))
    assert isinstance(kept, Tensor)
    np.testing.assert_array_equal(kept.values, relief.transform(X))
    with pytest.raises(ValueError, match="X has 2 features, but Relief is expecting 3"):
        relief.transform(Tensor(X[:, :2]))
    relief.save(tmp_path / "kept.mercer")
    columns = mercer.load(tmp_path / "kept.mercer")
    np.testing.assert_array_equal(columns.transform(Tensor(X)).values, relief.transform(X))
    with pytest.raises(ValueError, match="X has 2 features"):
        columns.transform(Tensor(X[:, :2]))
    assert columns_on_gpu(ByDlpack(), np.array([0])).shape == (60, 1)


def test_what_is_computed_on_the_processor_takes_arrays_of_a_gpu(torch, any_gpu):
    there, basis = Tensor(X), mercer.KernelBasis(n_components=5).fit(X, Tensor(X[:, 0]))
    np.testing.assert_array_equal(basis.pivots_, mercer.KernelBasis(n_components=5).fit(X, X[:, 0]).pivots_)
    np.testing.assert_array_equal(basis.input_importance(there), basis.input_importance(X))
    assert basis.reconstruction_cost(there) == basis.reconstruction_cost(X)
    Z = basis.transform(X)
    np.testing.assert_array_equal(basis.inverse_transform(Tensor(Z)), basis.inverse_transform(Z))
    np.testing.assert_array_equal(mercer.FScore().fit(there, Y).scores_, mercer.FScore().fit(X, Y).scores_)


@without_gpu
def test_the_library_refuses_what_is_no_matrix_on_a_gpu():
    rows = GpuRows.of(Somewhere())
    model = mercer.KernelBasis(n_components=2).fit(X)._model
    with pytest.raises(mercer.DeviceError, match=NO_DRIVER):
        model.transform(rows)
    for shape, typestr, strides in (((60,), "<f8", None), ((60, 3), "<i8", None), ((60, 3), "<f8", (8, 480))):
        interface = Somewhere(shape, typestr, strides).__cuda_array_interface__
        with pytest.raises(ValueError, match="a matrix of float64 or float32 in C order is needed on a GPU"):
            model.transform(SimpleNamespace(__cuda_array_interface__=interface, gpu=0))


def test_every_class_with_a_device_is_here():
    estimators = [kind for kind in map(vars(mercer).get, mercer.__all__) if hasattr(kind, "get_params")]
    assert {kind for kind in estimators if "device" in inspect.signature(kind).parameters} == set(ALL)
