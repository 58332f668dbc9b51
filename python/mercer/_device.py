"""Where passes over rows are computed, and arrays that lie on a GPU: those of CuPy, PyTorch and others."""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import _core
from mercer._warn import users_level

# What scikit-learn checks of a parameter `device`; the library checks the name.
DEVICE = [str]

# The kind of memory that DLPack calls CUDA's.
_DLPACK_CUDA = 2

# What was done once in this process.
_done: set[str] = set()


def device_for(X: Any, *devices: str) -> str:
    """Return where to compute with rows: on the GPU that they lie on, else on the first device that is not "cpu".

    A name that no device has is refused, and so is a device that this machine does not have.
    """
    for device in devices:
        _core.check_device(device)
    device = asked_device(*devices)
    if is_on_gpu(X):
        gpu = f"cuda:{gpu_of(X)}"
        if device not in ("cpu", "auto", gpu) and not (device == "cuda" and gpu == "cuda:0"):
            raise ValueError(
                f"device = `{device}`, but X lies on the GPU `{gpu}`\n"
                "hint: leave `device` out, or move X to the other GPU"
            )
        device = gpu
    if device != "cpu":
        _open(device)
    return device


def asked_device(*devices: str) -> str:
    """Return the first device that is not "cpu", else that."""
    return next((device for device in devices if device != "cpu"), "cpu")


def _open(device: str) -> None:
    """Raise unless this machine has the device; warn once where "auto" is the processor."""
    if "libraries" not in _done:
        _done.add("libraries")
        _core.look_into(_library_folders())
    why = _core.open_device(device)
    if why is not None and "fallback" not in _done:
        _done.add("fallback")
        warnings.warn(why, UserWarning, stacklevel=users_level())


def _library_folders() -> list[str]:
    """Return folders that may hold CUDA's libraries: those of pip's NVIDIA packages, and PyTorch's own."""
    found = [folder for path in sys.path for folder in sorted(Path(path or ".").glob("nvidia/*/lib"))]
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    if torch is not None:
        found.append(Path(torch).parent / "lib")
    return [str(folder) for folder in found if folder.is_dir()]


def is_on_gpu(values: Any) -> bool:
    """Return whether this is an array in the memory of an NVIDIA GPU."""
    return _library_of(values) is not None


def _types(library: str, name: str) -> Any:
    """Return a type of a library, for `isinstance`; of one that is not imported nothing is an instance."""
    return getattr(sys.modules.get(library), name, ())


def _library_of(values: Any) -> str | None:
    """Return "torch" or "cupy", for other arrays on a GPU what they have in its place; None: it is not on a GPU.

    Whoever has an array of a library has imported it, so nothing is imported here.
    """
    if values is None or isinstance(values, np.ndarray | list | tuple | str):
        return None
    if isinstance(values, _types("torch", "Tensor")):
        return "torch" if values.is_cuda else None
    if isinstance(values, _types("cupy", "ndarray")):
        return "cupy"
    if getattr(values, "__cuda_array_interface__", None) is not None:
        return "interface"
    return None if _dlpack_gpu(values) is None else "dlpack"


def _dlpack_gpu(values: Any) -> int | None:
    """Return the GPU that DLPack says an array lies on."""
    try:
        kind, gpu = values.__dlpack_device__()
    except (AttributeError, TypeError, ValueError, RuntimeError, BufferError):
        return None
    return int(gpu) if int(kind) == _DLPACK_CUDA else None


def gpu_of(values: Any) -> int:
    """Return the number of the GPU that an array lies on."""
    match _library_of(values):
        case "torch":
            return int(values.device.index or 0)
        case "cupy":
            return int(values.device.id)
        case _:
            return _dlpack_gpu(values) or 0


def to_host(values: Any) -> Any:
    """Return an array that lies on a GPU as one of NumPy, and anything else as it is."""
    match _library_of(values):
        case None:
            return values
        case "torch":
            return values.detach().cpu().numpy()
        case "cupy":
            return values.get()
        case "interface" if not hasattr(values, "__array__"):
            return to_host(_imported(values, "cupy").asarray(values))
        case "interface":
            return np.asarray(values)
        case _:
            return to_host(_from_dlpack(values))


def columns_on_gpu(X: Any, columns: NDArray[np.intp]) -> Any:
    """Return some columns of an array that lies on a GPU, as an array of its own library."""
    library = _library_of(X)
    if library == "dlpack":
        return columns_on_gpu(_from_dlpack(X), columns)
    if library == "interface" and not hasattr(X, "__getitem__"):
        return columns_on_gpu(_imported(X, "cupy").asarray(X), columns)
    return X[:, columns if library == "interface" else columns.tolist()]


@dataclass(frozen=True)
class GpuRows:
    """Rows that lie on a GPU, float64 or float32 and in C order: what `_core` takes."""

    array: Any  # the user's, or a copy by its own library
    gpu: int
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, X: Any) -> GpuRows:
        """Return a user's array as rows; a copy is made on the GPU where its type or order asks for one."""
        if _library_of(X) == "dlpack":
            X = _from_dlpack(X)
        if len(X.shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead\nhint: X is a row for every sample")
        gpu = gpu_of(X)
        match _library_of(X):
            case "torch":
                array = _torch_floats(X)
            case "cupy":
                array = _cupy_floats(X)
            case _ if _is_plain(X.__cuda_array_interface__):
                array = X
            case _:
                array = _cupy_floats(_imported(X, "cupy").asarray(X))
        typestr = array.__cuda_array_interface__["typestr"]
        return cls(array, gpu, (int(X.shape[0]), int(X.shape[1])), np.dtype(typestr))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface: dict[str, Any] = self.array.__cuda_array_interface__
        return interface

    def as_float64(self) -> GpuRows:
        """Return these rows in float64: themselves, or a copy on the GPU."""
        if self.dtype == np.float64:
            return self
        match _library_of(self.array):
            case "torch":
                return GpuRows.of(self.array.double())
            case "cupy":
                array = self.array
            case _:
                array = _imported(self.array, "cupy").asarray(self.array)
        with array.device:
            return GpuRows.of(array.astype(np.float64))

    def empty(self, n_columns: int) -> GpuRows | None:
        """Return room for features of these rows on their GPU, of their library's kind; None: no library makes it.

        Arrays that are neither of PyTorch nor of CuPy have features of CuPy.
        """
        shape = (self.shape[0], n_columns)
        if _library_of(self.array) == "torch":
            torch = sys.modules["torch"]
            return GpuRows.of(torch.empty(shape, dtype=self.array.dtype, device=self.array.device))
        try:
            cupy = importlib.import_module("cupy")
        except ImportError:
            return None
        with cupy.cuda.Device(self.gpu):
            return GpuRows.of(cupy.empty(shape, dtype=self.dtype))


def _is_plain(interface: dict[str, Any]) -> bool:
    """Return whether an array on a GPU is a matrix of floats in C order."""
    (n, p), strides = interface["shape"], interface.get("strides")
    size = {"<f8": 8, "<f4": 4}.get(interface["typestr"])
    if size is None or interface.get("mask") is not None:
        return False
    return strides is None or ((n <= 1 or strides[0] == p * size) and (p <= 1 or strides[1] == size))


def _torch_floats(X: Any) -> Any:
    torch = sys.modules["torch"]
    if X.layout != torch.strided or X.is_complex():
        raise TypeError(f"X is a tensor of {X.dtype} in the layout {X.layout}, but dense real numbers are needed")
    X = X.detach()
    return (X if X.dtype in (torch.float32, torch.float64) else X.to(torch.float64)).contiguous()


def _cupy_floats(X: Any) -> Any:
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X holds {X.dtype}, but real numbers are needed")
    with X.device:
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        return sys.modules["cupy"].ascontiguousarray(X)


def _from_dlpack(values: Any) -> Any:
    """Return an array that has DLPack alone as one of CuPy or PyTorch, whichever is imported already, else there."""
    libraries = ("cupy", "torch")
    first = next((name for name in libraries if name in sys.modules), "cupy")
    return _imported(values, first, *libraries).from_dlpack(values)


def _imported(values: Any, *libraries: str) -> Any:
    """Return the first of the libraries that can be imported, which is needed for these values."""
    for library in libraries:
        try:
            return importlib.import_module(library)
        except ImportError:
            continue
    interface = getattr(values, "__cuda_array_interface__", None) or {}
    form = f" as {interface['typestr']} with the strides {interface.get('strides')}" if interface else ""
    raise TypeError(
        f"a {type(values).__name__} on a GPU{form} cannot be read as it is\n"
        "hint: give float32 or float64 in C order with `__cuda_array_interface__`, or install CuPy, which converts it"
    )
