"""Model files: `save`, `load`, and the read-only `FeatureMap` or `SelectedColumns` that `load` returns."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags, check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer import _core, extract, select, systems
from mercer._device import GpuRows, columns_on_gpu, device_for, is_on_gpu, to_host
from mercer._fit import features, input_names
from mercer._input import (
    FLOATS,
    as_given,
    as_rows,
    checked_array,
    in_frame,
    is_frame,
    refusal_explained,
    refuse_collections,
    refuse_dates,
)
from mercer._kept import Kept, weighted
from mercer._mapped import Mapped, important_points
from mercer._raw import encoded, raw_table
from mercer.basis import KernelBasis
from mercer.table import TableEncoder


class _Loaded:
    """What was read from a file is a step of a `Pipeline` like any other, that is fitted already."""

    __slots__ = ("__dict__",)  # for what scikit-learn notes at a step while it fits a pipeline

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing: what a file holds is fitted, and stays as it is.

        Parameters
        ----------
        X : object, default=None
            Ignored; here because a `Pipeline` passes it.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : object
            The same.
        """
        return self

    def transform(self, X: Any) -> Any:
        """Return what it makes of rows."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return what `transform` does.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows.
        y : object, default=None
            Ignored.

        Returns
        -------
        Z : {array, sparse matrix} of shape (n_samples, n_components)
            What `transform` returns.
        """
        return self.transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        make, parts = cast("tuple[Callable[..., Self], tuple[Any]]", self.__reduce__())
        return make(*parts)  # The model, which cannot be changed, is not copied.

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") or name in type(self).__slots__:
            raise AttributeError(f"{type(self).__name__} is read-only: {name} cannot be set")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is read-only: {name} cannot be deleted")
        object.__delattr__(self, name)

    def __sklearn_tags__(self) -> Tags:
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=["float64", "float32"]),
            input_tags=InputTags(sparse=True),
            requires_fit=False,
        )


class FeatureMap(_Loaded):
    """A fitted map from rows to features, read from a model file. It cannot be changed or fitted again.

    `load` makes it; the file may come from `save` or from the command line. Scaling stored in the file is applied. It
    can be a step of a `Pipeline`, whose `fit` leaves it as it is.

    Examples
    --------
    >>> import mercer, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> basis = mercer.KernelBasis("kobl", n_components=5).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(basis, os.path.join(folder, "iris.mercer"))
    ...     feature_map = mercer.load(os.path.join(folder, "iris.mercer"))
    >>> feature_map
    FeatureMap(method='kobl', kernel='rbf', gamma=0.064..., 4 inputs -> 5 features, 5 landmarks)
    >>> feature_map.transform(X).shape
    (150, 5)
    """

    __slots__ = ("_model",)
    _model: _core.Model

    def __init__(self, model: _core.Model) -> None:
        object.__setattr__(self, "_model", model)

    @property
    def method(self) -> str:
        """The method that made it."""
        return self._model.method

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self._model.kernel

    @property
    def gamma(self) -> float:
        """The kernel's width; 1.0 for kernels without one."""
        return self._model.gamma

    @property
    def scores(self) -> NDArray[np.float64] | None:
        """One score a feature, high is good; None if the method has none."""
        scores = self._model.scores
        return scores if len(scores) else None

    @property
    def n_support(self) -> int:
        """Number of training rows that a prediction or, where the model predicts nothing, features of a row need."""
        return self._model.n_support

    @property
    def important_points(self) -> NDArray[np.intp]:
        """Indices of the training rows that carry the features, the most important first.

        A row's share, `important_points_share`, is that in the squared coefficients of each feature, averaged over the
        features by their variance over the landmarks. There is no such attribute where landmarks are no training rows.
        """
        return important_points(self._model)[0]

    @property
    def important_points_share(self) -> NDArray[np.float64]:
        """The shares of the `important_points`, which sum to 1."""
        return important_points(self._model)[1]

    @property
    def facts(self) -> dict[str, Any]:
        """Other facts about the fit in the file, such as the number of rows and the residual."""
        return cast("dict[str, Any]", json.loads(self._model.facts))

    @property
    def n_features_in_(self) -> int:
        """Number of input columns."""
        return self._model.n_inputs

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the input columns; there is no such attribute where the training data had none."""
        names = self._model.input_names
        if names is None:
            raise AttributeError("the model was fitted on columns without names: no feature_names_in_")
        return np.asarray(names, dtype=object)

    @property
    def encoding(self) -> dict[str, str]:
        """What becomes of the columns of a table that are not just numbers, in words; empty where all are.

        A frame with the columns of the training table is encoded as that was; an array holds the encoded columns,
        `feature_names_in_`.
        """
        encoder = self._model.encoder
        return {} if encoder is None else dict(_core.encoder_words(encoder))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored; here because scikit-learn passes it.

        Returns
        -------
        names : ndarray of str objects
            The names in the file.
        """
        return np.asarray(self._model.feature_names, dtype=object)

    def transform(self, X: Any, *, device: str = "cpu") -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Columns of a dataframe are matched by name, and those that the model does not know are ignored.
        device : str, default="cpu"
            Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
            number) or "auto" (a GPU if there is one that supports the method). Rows that lie on a GPU are computed
            with there.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Features: float32 where X is, else float64. Those of dense float32 rows are computed in float32
            where rounding stays within 1e-5 of sqrt(k(x, x)), or of a feature's own range if that is larger,
            else in float64. Where X is an array of CuPy or PyTorch on a GPU, so is Z.
        """
        device = device_for(X, device)
        return features(self._model, self._rows(X, "transform"), device=device)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes that it predicts, as `predict` returns them; there is no such attribute where it predicts none.

        A file holds their names. Where all are integers (int64), True and False, or floats as Python writes them
        ("1.0"), they are that, else text. So labels that were text such as "0" and "1" come back as integers.
        """
        if self._model.classes is None:
            raise AttributeError("the model predicts no classes: no classes_")
        return labels_named(self._model.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class or the number of every row; for models that predict.

        Classes are what the labels were, as far as their names tell: integers, booleans, floats or text. Labels that
        were text such as "0" and "1" come back as integers.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Columns of a dataframe are matched by name, and those that the model does not know are ignored.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.

        Examples
        --------
        >>> import mercer, os, tempfile
        >>> X = [[0.0], [0.2], [0.5], [0.8], [1.0], [4.0], [4.2], [4.5], [4.8], [5.0]]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mercer.save(mercer.AutoClassifier().fit(X, 5 * [1] + 5 * [2]), os.path.join(folder, "two.mercer"))
        ...     model = mercer.load(os.path.join(folder, "two.mercer"))
        >>> model.predict([[0.2], [4.8]])
        array([1, 2])
        """
        device = device_for(X)
        scores = self._model.predict(as_given(self._rows(X, "each block")), device=device)
        if self._model.classes is None:
            return scores[:, 0] if scores.shape[1] == 1 else scores
        predicted: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class; for models that predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Columns of a dataframe are matched by name, and those that the model does not know are ignored.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        device = device_for(X)
        return self._model.predict(as_given(self._rows(X, "each block")), probabilities=True, device=device)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right, or R² of predicted numbers; for models that predict.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Columns of a dataframe are matched by name, and those that the model does not know are ignored.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their labels. Where either these or the classes are text, names are compared.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts. None: all the same.

        Returns
        -------
        score : float
            At best 1.
        """
        predicted = self.predict(X)
        if self._model.classes is None:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        truth: NDArray[Any] = column_or_1d(y)
        if predicted.dtype == object or truth.dtype.kind not in "biuf":
            truth, predicted = truth.astype(str), predicted.astype(str)
        return float(accuracy_score(truth, predicted, sample_weight=sample_weight))

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return rows whose features come closest to the given ones, in the units of the training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Features.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features_in_)
            Pre-images.
        """
        given = checked_array("FeatureMap", X, "each block", dtype=FLOATS, order="C")
        return self._model.inverse_transform(as_rows(given)).astype(given.dtype, copy=False)

    def input_importance(self, X: Any) -> Any:
        """Return how much each feature depends on each input column, near the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Columns of a dataframe are matched by name, and those that the model does not know are ignored.

        Returns
        -------
        importance : ndarray of shape (n_components, n_features_in_), or a dataframe
            The mean over the rows of the squared slope of the feature along the column, after the model's scaling. A
            pandas frame in, a pandas frame out, with the columns' names above and the features' at the side; a polars
            frame in, a polars frame out, with the features' names in its first column, "feature".

        Examples
        --------
        >>> import mercer, os, tempfile
        >>> X = [[0.0, 0.0], [3.0, 4.0]]
        >>> basis = mercer.KernelBasis("kobl", kernel="linear").fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mercer.save(basis, os.path.join(folder, "line.mercer"))
        ...     feature_map = mercer.load(os.path.join(folder, "line.mercer"))
        >>> feature_map.input_importance(X).round(12)
        array([[0.36, 0.64]])
        """
        X = self._choose_columns(to_host(X))  # computed on the processor
        importance = self._model.input_importance(as_rows(self._check(X)))
        return in_frame(importance, X, self.get_feature_names_out())

    def _rows(self, X: Any, call: str) -> Any:
        """Return checked rows; those on a GPU have no names, and the library looks at their number of columns."""
        return GpuRows.of(X) if is_on_gpu(X) else self._check(self._choose_columns(X, call))

    def _check(self, X: Any) -> Any:
        refuse_dates(X)
        with refusal_explained(X):
            return check_array(X, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False)

    def _encoded(self, table: Any) -> Any:
        """Return a table, encoded; None where it must be encoded already."""
        encoder = self._model.encoder
        if encoder is None:
            return None
        inputs, by_place, names = _core.encoder_columns(encoder)
        if is_frame(table) and not by_place:
            there = {str(name): name for name in table.columns}
            if all(name in there for name in names) or not any(name in there for name in inputs):
                return None
            table = table[[there[name] for name in present(inputs, table.columns, "input columns")]]
        elif is_frame(table):
            table = table.iloc[:, : len(inputs)] if hasattr(table, "iloc") else table[:, : len(inputs)]
        elif getattr(table, "dtype", None) != np.dtype(object) and not (
            by_place and np.shape(table)[1:] == (len(inputs),)
        ):
            return None
        raw = raw_table(table, inputs)
        rows, notes = encoded(lambda sink: raw.apply(encoder, sink))
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=4)
        if hasattr(table, "iloc"):
            return type(table)(rows, columns=names, index=table.index)
        return type(table)(dict(zip(names, rows.T, strict=True))) if is_frame(table) else rows

    def _choose_columns(self, frame: Any, call: str = "transform") -> Any:
        refuse_collections("FeatureMap", call, X=frame)
        table = self._encoded(frame)
        if table is not None:
            return table
        names = self._model.input_names
        if names is None or not hasattr(frame, "columns"):
            return frame  # Without names: by position.
        return frame[present(names, frame.columns, "input columns")]

    def __repr__(self) -> str:
        features, landmarks = self._model.n_features, self._model.n_landmarks
        scaled = ", scaled" if self._model.scaling else ""
        return (
            f"FeatureMap(method={self.method!r}, kernel={self.kernel!r}, gamma={self.gamma!r}, "
            f"{self.n_features_in_} inputs -> {features} features, {landmarks} landmarks{scaled})"
        )

    def __reduce__(self) -> tuple[type[FeatureMap], tuple[_core.Model]]:
        return FeatureMap, (self._model,)


class SelectedColumns(_Loaded):
    """Columns that a selector has kept, read from a model file. It cannot be changed or fitted again.

    `load` makes it; the file may come from `save`, from a selector's own `save`, or from `mercer select`. It can be a
    step of a `Pipeline`, whose `fit` leaves it as it is.

    Examples
    --------
    >>> import mercer, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.ReliefF(2).fit(X, y).save(os.path.join(folder, "iris.mercer"))
    ...     selected = mercer.load(os.path.join(folder, "iris.mercer"))
    >>> selected
    SelectedColumns(method='relieff', 2 of 4 columns)
    >>> selected.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selected.transform(X).shape
    (150, 2)
    """

    __slots__ = ("_columns",)
    _columns: _core.Columns

    def __init__(self, columns: _core.Columns) -> None:
        object.__setattr__(self, "_columns", columns)

    @property
    def method(self) -> str:
        """The selector's name."""
        return self._columns.method

    @property
    def scores(self) -> NDArray[np.float64]:
        """One score an input column, high is good."""
        return self._columns.scores

    @property
    def ranking(self) -> NDArray[np.intp]:
        """The place of every input column; 1 is the best."""
        return self._columns.ranking

    @property
    def pvalues(self) -> NDArray[np.float64] | None:
        """Probability of scores as good by chance, one an input column; None if the selector has none."""
        return self._columns.pvalues

    @property
    def stability(self) -> NDArray[np.float64] | None:
        """Share of halves of the rows in which an input column is kept, as `mercer select` finds it, or None."""
        return self._columns.stability

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """What each kept column is multiplied by; None: they stay as they are."""
        return self._columns.weights

    @property
    def facts(self) -> dict[str, Any]:
        """Other facts about the fit in the file, such as the settings."""
        return cast("dict[str, Any]", json.loads(self._columns.facts))

    @property
    def n_features_in_(self) -> int:
        """Number of input columns."""
        return self._columns.n_inputs

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the input columns; there is no such attribute where the training data had none."""
        names = self._columns.input_names
        if names is None:
            raise AttributeError("the selector was fitted on columns without names: no feature_names_in_")
        return np.asarray(names, dtype=object)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their places instead of one boolean per column.

        Returns
        -------
        support : ndarray
            One boolean an input column, or the places of those kept.
        """
        columns = self._columns.columns
        return columns if indices else np.isin(np.arange(self.n_features_in_), columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that are kept.

        Parameters
        ----------
        input_features : None
            Ignored; here because scikit-learn passes it.

        Returns
        -------
        names : ndarray of str objects
            Names; "x2" is the third of columns without names.
        """
        names = self._columns.input_names or [f"x{at}" for at in range(self.n_features_in_)]
        return np.asarray(names, dtype=object)[self._columns.columns]

    def transform(self, X: Any) -> Any:
        """Return the kept columns.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows. Columns of a dataframe are matched by name, and those that are not kept need not be there.

        Returns
        -------
        kept : {array, sparse matrix} of shape (n_samples, n_kept)
            The kept columns as they are, or multiplied by their weights where `InputWeights` was saved, in the order of
            the training data.
        """
        if is_on_gpu(X) and self.weights is None:
            self._check_width(int(X.shape[-1]))
            return columns_on_gpu(X, self._columns.columns)
        X, columns = self._choose_columns(to_host(X))
        kept: Any = check_array(
            X, accept_sparse="csr", dtype=None, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0
        )
        if columns is not None:
            self._check_width(kept.shape[1])
            kept = kept[:, columns]
        if self.weights is None:
            return kept
        floats: Any = kept if kept.dtype in FLOATS else kept.astype(np.float64)
        return weighted(floats, self.weights)

    def _check_width(self, width: int) -> None:
        if width != self.n_features_in_:
            raise ValueError(
                f"X has {width} features, but the columns were selected among {self.n_features_in_}\n"
                "hint: pass all columns in their order, or a dataframe with their names"
            )

    def _choose_columns(self, X: Any) -> tuple[Any, NDArray[np.intp] | None]:
        """Return the rows, and the places of the kept columns among theirs; None: they have no others."""
        refuse_collections("SelectedColumns", "transform", X=X)
        if self._columns.input_names is None or not hasattr(X, "columns"):
            return X, self._columns.columns  # Without names: by position.
        names = self.get_feature_names_out().tolist()
        return X[present(names, X.columns, "kept columns")], None

    def __repr__(self) -> str:
        kept = len(self._columns.columns)
        weighted = ", weighted" if self.weights is not None else ""
        return f"SelectedColumns(method={self.method!r}, {kept} of {self.n_features_in_} columns{weighted})"

    def __reduce__(self) -> tuple[type[SelectedColumns], tuple[_core.Columns]]:
        return SelectedColumns, (self._columns,)


def labels_named(names: list[str]) -> NDArray[Any]:
    """Return classes by their names in a file: integers, booleans or floats where all names are those of such."""
    if set(names) <= {"False", "True"}:
        return np.asarray([name == "True" for name in names])
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            values = np.asarray([kind(name) for name in names], dtype=dtype)
        except (ValueError, OverflowError):
            continue
        if np.isfinite(values).all() and [str(value) for value in values.tolist()] == names:
            return values
    return np.asarray(names, dtype=object)


def present(names: list[str], columns: Any, what: str) -> list[str]:
    """Return names of columns, or refuse a frame that lacks some of them."""
    there = {str(column) for column in columns}
    missing = [name for name in names if name not in there]
    if not missing:
        return names
    shown = ", ".join(f"`{name}`" for name in missing[:5]) + (", …" if len(missing) > 5 else "")
    raise ValueError(
        f"{len(missing)} of the model's {len(names)} {what} are missing: {shown}\n"
        "hint: rename the columns, or pass an array with the columns in the model's order"
    )


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator as a model file, which `load` and the command line read.

    Parameters
    ----------
    estimator : KernelBasis, system, extractor, selector, InputWeights, AutoFeatures, AutoClassifier, AutoRegressor, \
            FeatureMap, SelectedColumns or Pipeline
        Systems are `TAKES`, `KRelief`, `SKRelief` and `EKS`; extractors `KLFE`, `SKFE`, `GDA`, `KOC`, `AKDAQR`, `KPLS`,
        `KMFA`, `KANMM` and `KPCA`. A pipeline may be a `TableEncoder`, a `StandardScaler`, `MinMaxScaler` or
        `Normalizer`, or both, followed by one of the others; encoding and scaling become part of the file.
    path : str or path-like
        The file. It is written whole or not at all; an existing one is replaced.

    Examples
    --------
    >>> import mercer, os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = load_iris().data
    >>> model = make_pipeline(StandardScaler(), mercer.KernelBasis("nystrom", n_components=5)).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(model, os.path.join(folder, "iris.mercer"))
    ...     again = mercer.load(os.path.join(folder, "iris.mercer"))
    >>> bool(abs(again.transform(X) - model.transform(X)).max() < 1e-12)
    True
    """
    _stored(estimator).save(os.fspath(path))


def load(path: str | os.PathLike[str]) -> FeatureMap | SelectedColumns:
    """Read a model file, checking all of it. There is no code in such a file.

    Parameters
    ----------
    path : str or path-like
        A file written by `save` or by the command line.

    Returns
    -------
    model : FeatureMap or SelectedColumns
        The fitted map, or the columns that a selector has kept.

    Examples
    --------
    >>> import mercer
    >>> mercer.load("no-such-file.mercer")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.mercer'
    """
    model = _core.load(os.fspath(path))
    return SelectedColumns(model) if isinstance(model, _core.Columns) else FeatureMap(model)


def _is_ours(estimator: Any) -> bool:
    """Return whether an estimator is one that a model file can hold."""
    return isinstance(estimator, KernelBasis | Mapped) or hasattr(type(estimator), "features_")


def _stored(estimator: Any) -> _core.Model | _core.Columns:
    """Return what a model file holds of an estimator."""
    if isinstance(estimator, SelectedColumns):
        return estimator._columns
    if isinstance(estimator, Kept):
        return estimator._stored()
    if isinstance(estimator, Pipeline):
        match _steps(estimator):
            case [Kept() as selector]:
                return selector._stored()
    return _model_of(estimator)


def _steps(pipeline: Pipeline) -> list[Any]:
    return [step for _, step in pipeline.steps if step is not None and step != "passthrough"]


def _model_of(estimator: Any) -> _core.Model:
    if isinstance(estimator, FeatureMap):
        return estimator._model
    if _is_ours(estimator):
        check_is_fitted(estimator)
        return cast("_core.Model", estimator._model)
    if not isinstance(estimator, Pipeline):
        raise TypeError(
            f"{type(estimator).__name__} cannot be saved as a model file\n"
            f"hint: save a KernelBasis, a system ({', '.join(systems.__all__)}), an extractor "
            f"({', '.join(extract.__all__)}), AutoFeatures, AutoClassifier, AutoRegressor, a Pipeline of a "
            "StandardScaler, MinMaxScaler or Normalizer and one of these, a selector "
            f"({', '.join(select.__all__)}) or InputWeights"
        )
    match _steps(estimator):
        case [TableEncoder() as table, *rest] if rest:
            check_is_fitted(table)
            return _model_of(Pipeline([(str(at), step) for at, step in enumerate(rest)])).with_encoder(table.encoder_)
        case [last] if _is_ours(last):
            return _model_of(last)
        case [(StandardScaler() | MinMaxScaler()) as scaler, last] if _is_ours(last):
            model = _model_of(last)
            return model.with_scaling(*_scaling(scaler), input_names(scaler) or model.input_names)
        case [Normalizer(norm="l2") as scaler, last] if _is_ours(last):
            model = _model_of(last)
            return model.with_unit_length(input_names(scaler) or model.input_names)
        case steps:
            names = " → ".join(type(step).__name__ for step in steps)
            raise TypeError(
                f"a pipeline of {names} cannot be saved as a model file\n"
                "hint: its steps must be a TableEncoder, if any, a StandardScaler, MinMaxScaler or Normalizer (norm l2)"
                ", if any, and a KernelBasis, a system or an extractor; a selector is saved alone; pickle keeps any "
                "pipeline"
            )


def _scaling(scaler: StandardScaler | MinMaxScaler) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return center and factor of x' = (x − center)·factor."""
    p = scaler.n_features_in_
    if isinstance(scaler, MinMaxScaler):
        if scaler.clip:
            raise TypeError("MinMaxScaler(clip=True) cannot be saved as a model file\nhint: use clip=False")
        scale = np.array(scaler.scale_, dtype=np.float64)  # It has the precision of the rows.
        return -scaler.min_ / scale, scale
    center = np.zeros(p) if scaler.mean_ is None or not scaler.with_mean else scaler.mean_
    factor = np.ones(p) if scaler.scale_ is None else 1.0 / scaler.scale_
    return np.array(center, dtype=np.float64), np.array(factor, dtype=np.float64)
