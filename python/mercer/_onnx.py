"""Fitted models as ONNX files: `to_onnx`."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any, overload

import numpy as np
from sklearn.pipeline import Pipeline

from mercer import _core
from mercer.model import FeatureMap, _steps, _stored
from mercer.predict import AutoClassifier


@overload
def to_onnx(
    estimator: Any,
    path: None = None,
    *,
    dtype: Any = ...,
    features: bool = ...,
    encoded: bool = ...,
    target_opset: int = ...,
) -> bytes: ...


@overload
def to_onnx(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    dtype: Any = ...,
    features: bool = ...,
    encoded: bool = ...,
    target_opset: int = ...,
) -> None: ...


def to_onnx(
    estimator: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: Any = "float64",
    features: bool = False,
    encoded: bool = False,
    target_opset: int = 17,
) -> bytes | None:
    """Return a fitted estimator as an ONNX model, or write it to a file. Such a model runs without mercer.

    Parameters
    ----------
    estimator : KernelBasis, system, extractor, selector, InputWeights, AutoFeatures, AutoClassifier, AutoRegressor, \
            FeatureMap, SelectedColumns or Pipeline
        Whatever `save` takes. `import mercer.onnx` lets skl2onnx convert all other pipelines that hold these.
    path : str or path-like, default=None
        The file. It is written whole or not at all; an existing one is replaced. None: the bytes are returned.
    dtype : {"float64", "float32"} or dtype, default="float64"
        The type of the numbers that the model takes and gives. Features that float32 is not precise enough for are
        computed in float64 and rounded, as `transform` does.
    features : bool, default=False
        Whether to give features where the estimator also predicts.
    encoded : bool, default=False
        Whether the model takes the columns that a `TableEncoder` makes. It must where some of them come from text or
        dates.
    target_opset : int, default=17
        The version of ONNX's operators, 13 to 22.

    Returns
    -------
    model : bytes or None
        The model; None where it was written to a file. Its input is `X`, of shape (n_samples, n_features_in_); its
        output is `variable`, features, columns or predicted numbers of shape (n_samples, n_outputs), or, for classes,
        `label` of shape (n_samples,) and `probabilities` of shape (n_samples, n_classes).

    Examples
    --------
    >>> import mercer
    >>> X = [[0.0], [0.5], [4.0], [4.5]]
    >>> model = mercer.to_onnx(mercer.KernelBasis("kobl", n_components=2).fit(X))
    >>> type(model), b"Gemm" in model
    (<class 'bytes'>, True)
    """
    model = _model(estimator)
    where = None if path is None else os.fspath(path)
    dtype, opset = np.dtype(dtype).name, int(target_opset)
    if isinstance(model, _core.Columns):
        return model.to_onnx(where, dtype=dtype, opset=opset)
    classes = None if features else _classes(estimator)
    return model.to_onnx(where, dtype=dtype, features=features, encoded=encoded, opset=opset, classes=classes)


def _model(estimator: Any) -> _core.Model | _core.Columns:
    """Return what a model file would hold of an estimator."""
    try:
        return _stored(estimator)
    except TypeError as error:
        what = str(error).split(" cannot be saved as a model file")[0]
        raise TypeError(
            f"{what} cannot be exported as an ONNX model by itself\n"
            "hint: export what `mercer.save` takes; or, after `import mercer.onnx`, let skl2onnx.to_onnx convert a "
            "pipeline of mercer's estimators and scikit-learn's"
        ) from None


def _classes(estimator: Any) -> list[tuple[str, int | None]] | None:
    """Return a classifier's classes in its order, each with the integer that the graph gives; None: the model's."""
    if isinstance(estimator, Pipeline):
        return _classes(_steps(estimator)[-1])
    if not isinstance(estimator, AutoClassifier | FeatureMap) or not hasattr(estimator, "classes_"):
        return None
    classes = estimator.classes_.tolist()
    # Booleans are integers, too: ONNX's labels are integers or text.
    whole = all(isinstance(value, Integral) for value in classes)
    return [(str(value), int(value) if whole else None) for value in classes]
