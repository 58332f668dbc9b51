"""Feature selection and feature extraction in kernel space, for scikit-learn.

>>> import mercer
>>> from sklearn.datasets import make_moons
>>> X, y = make_moons(200, noise=0.1, random_state=0)
>>> basis = mercer.KernelBasis(n_components=20).fit(X, y)
>>> basis.transform(X).shape
(200, 20)

Every call uses all cores. The environment variables ``MERCER_NUM_THREADS``, ``RAYON_NUM_THREADS`` and
``OMP_NUM_THREADS``, in this order, say how many threads to use instead; they are read once, at the first call.
More than four threads a core (16 where cores are few) are not started.
A fit takes at most 8 GiB beside the rows, and half of what a limit of the system leaves (``ulimit``, a container);
``MERCER_MEMORY``, such as ``2GB``, sets another budget.
"""

import sysconfig as _sysconfig

# First from here: inside of one of the modules below it takes a tenth longer, with many more page faults.
import sklearn as _sklearn  # noqa: F401

try:
    from mercer import _core as _core
except ImportError as error:
    if _sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ImportError(
            "mercer has no build for a free-threaded Python, whose compiled modules are others\n"
            "hint: use a Python with the global interpreter lock; mercer releases it, so threads run side by side"
        ) from error
    raise

from mercer import evidence, metrics, plot
from mercer._core import DeviceError, NumericalError, __version__
from mercer._onnx import to_onnx
from mercer.advice import Advice, advise
from mercer.auto import AutoFeatures
from mercer.basis import KernelBasis
from mercer.comparison import compare
from mercer.extract import AKDAQR, GDA, KANMM, KLFE, KMFA, KOC, KPCA, KPLS, SKFE
from mercer.kernel import Kernel
from mercer.model import FeatureMap, SelectedColumns, load, save
from mercer.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.predict import AutoClassifier, AutoRegressor
from mercer.rows import read_rows
from mercer.select import (
    KFFS,
    SURF,
    FScore,
    IRelief,
    LaplacianScore,
    LassoSelector,
    MultiSURF,
    MultiSURFStar,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
    SURFStar,
)
from mercer.systems import EKS, TAKES, KRelief, SKRelief
from mercer.table import TableEncoder
from mercer.weights import InputWeights

__all__ = [
    "AKDAQR",
    "EKS",
    "GDA",
    "KANMM",
    "KFFS",
    "KLFE",
    "KMFA",
    "KOC",
    "KPCA",
    "KPLS",
    "SKFE",
    "SURF",
    "TAKES",
    "Advice",
    "AutoClassifier",
    "AutoFeatures",
    "AutoRegressor",
    "DeviceError",
    "FScore",
    "FeatureMap",
    "IRelief",
    "InputWeights",
    "KRelief",
    "Kernel",
    "KernelBasis",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "LaplacianScore",
    "LassoSelector",
    "MultiSURF",
    "MultiSURFStar",
    "MutualInfo",
    "NumericalError",
    "RReliefF",
    "Relief",
    "ReliefF",
    "SKRelief",
    "SURFStar",
    "SelectedColumns",
    "TableEncoder",
    "__version__",
    "advise",
    "compare",
    "evidence",
    "load",
    "metrics",
    "plot",
    "read_rows",
    "save",
    "to_onnx",
]
