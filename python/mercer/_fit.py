"""The one way from rows to a fitted model, for every estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import _core
from mercer._device import GpuRows
from mercer._input import as_given, is_partitioned
from mercer._warn import users_level

# Names and values as the catalogue reads them.
Settings = Sequence[tuple[str, str]]

# Kernels whose columns keep their scales: those of texts and linear models, that of counts, which a `StandardScaler`
# would make negative, and a matrix of the user's own.
_NO_SCALES = ("linear", "cosine", "precomputed", "chi2", "additive_chi2", "match")

# The ratio of standard deviations beyond which the narrower column is less than 1/10000 of the squared distances.
_SCALE_RATIO = 100.0

# Rules for gamma that go by the variance of all numbers.
_BY_VARIANCE = ("scale", "align", "loo")

# The ratio of variances, of all numbers and within columns, beyond which the widths by a rule are all far too wide.
_OFFSETS_RATIO = 100.0

# Rows and values that standard deviations are computed from, so that it takes no time beside a fit.
_SCALE_ROWS = 10_000
_SCALE_VALUES = 10_000_000
_SCALE_PANEL = 256

# Standard deviations below this share of a column's values are rounding: the mean of equal values is off by some eps.
_ROUNDING = 1e-12

WEIGHTS_OF_PARTITIONS = (
    "sample_weight and class_weight are not used on rows in partitions\n"
    "hint: leave them out, or fit on a sample of the rows"
)

# Means below this share of the standard deviation are 0 but for rounding, of float32 too.
_CENTRED = 1e-4


def fit(
    estimator: Any,
    rows: Any,
    target: _core.Target | None,
    basis: _core.BasisSettings,
    method: str | None = None,
    settings: Settings = (),
    *,
    basis_only: bool = False,
    task: str = "auto",
    want_coordinates: bool = False,
    weights: list[float] | None = None,
    device: str = "cpu",
    verbose: int = 0,
) -> _core.Fitted:
    """Return what is found in checked rows: a basis and, with a `method`, what it makes of the coordinates.

    `basis_only` finds the basis of a method without the method. The estimator has the names of the columns.
    """
    basis = with_columns(basis, input_names(estimator))
    if is_partitioned(rows):
        refuse_device_of_partitions(device)
        if weights is not None:
            raise ValueError(WEIGHTS_OF_PARTITIONS)
        return _core.fit_partitions(
            rows,
            method,
            list(settings),
            basis=basis,
            basis_only=basis_only,
            input_names=input_names(estimator),
            task=task,
            kept=rows.kept,
            basis_rows=rows.basis_rows,
            weights=rows.weights,
            ridge_rows=rows.ridge_rows,
            verbose=int(verbose),
        )
    found = _core.fit(
        as_given(rows),
        target,
        method,
        list(settings),
        basis=basis,
        basis_only=basis_only,
        input_names=input_names(estimator),
        task=task,
        want_coordinates=want_coordinates,
        weights=weights,
        device=device,
        verbose=int(verbose),
    )
    if has_scales(dict(basis[1]).get("kernel")):
        warn_of_scales(estimator, rows)
    return found


def has_scales(kernel: str | None) -> bool:
    """Return whether a kernel sees columns by their scales: sums and functions may do with them what they like."""
    return kernel is None or (kernel not in _NO_SCALES and kernel.isalnum())


def with_columns(basis: _core.BasisSettings, names: Sequence[str] | None) -> _core.BasisSettings:
    """Return the settings of a basis with the columns of its kernel's parts looked up among the names."""
    method, settings, landmarks = basis
    return method, named_columns(settings, names), landmarks


def named_columns(settings: Settings, names: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return settings with the columns of the kernel's parts looked up among the names."""
    given = dict(settings)
    if names is None or "columns" not in given.get("kernel", ""):
        return list(settings)
    given["kernel"] = _core.kernel_text(
        given["kernel"],
        list(names),
        degree=int(given.get("degree", 3)),
        coef0=float(given.get("coef0", 1)),
        alpha=float(given.get("alpha", 1)),
    )
    return list(given.items())


def refuse_device_of_partitions(device: str) -> None:
    """Refuse a GPU for rows in partitions."""
    if device not in ("cpu", "auto"):
        raise ValueError(
            f"device = `{device}`, but rows in partitions are computed with on the processors of their machines\n"
            "hint: leave `device` out"
        )


def features(model: _core.Model, rows: Any, *, device: str, verbose: int = 0) -> Any:
    """Return the features of checked rows in their precision; those of rows on a GPU lie there, too."""
    if isinstance(rows, GpuRows):
        out = rows.empty(model.n_features)
        if out is not None:
            model.transform_to(rows, out, verbose=int(verbose))
            return out.array
    return model.transform(as_given(rows), device=device, verbose=int(verbose)).astype(rows.dtype, copy=False)


def warn_of_scales(estimator: Any, rows: Any) -> None:
    """Warn the user of dense columns whose scales differ so much that a kernel hardly sees the small ones.

    Likewise of means that differ so much that widths by a rule, which go by the variance of all numbers, are too wide.
    """
    if not isinstance(rows, np.ndarray) or rows.shape[1] < 2:
        return
    spread = _standard_deviations(rows)
    varies = np.flatnonzero(spread)
    if len(varies) == 0:
        return
    if _has_offsets(rows, spread) and _width_is_by_variance(estimator):
        warnings.warn(
            "columns differ in their means by far more than they vary: the variance of all numbers, by which widths "
            f"are chosen, is {rows.var(dtype=np.float64):.3g}, that within columns {np.square(spread).mean():.3g}\n"
            f"hint: make_pipeline(StandardScaler(), {type(estimator).__name__}(...))",
            UserWarning,
            stacklevel=users_level(),
        )
        return
    if len(varies) < 2:
        return
    widest, narrowest = (varies[find(spread[varies])] for find in (np.argmax, np.argmin))
    ratio = spread[widest] / spread[narrowest]
    if not ratio > _SCALE_RATIO or _is_centred(rows, spread):
        return
    names = input_names(estimator) or [str(j) for j in range(len(spread))]
    warnings.warn(
        f"columns differ in scale: the standard deviation of column `{names[widest]}` is {spread[widest]:.3g}, that of "
        f"column `{names[narrowest]}` {spread[narrowest]:.3g}, so the kernel hardly sees the latter\n"
        f"hint: unless these scales are meant, make_pipeline(StandardScaler(), {type(estimator).__name__}(...))",
        UserWarning,
        stacklevel=users_level(),
    )


def _standard_deviations(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return those of columns, from some of the rows and without a copy of them; 0 where there is but rounding."""
    n, p = rows.shape
    most = min(_SCALE_ROWS, max(_SCALE_VALUES // p, 100))
    sample = rows[:: -(-n // most)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sample.mean(axis=0, dtype=np.float64)
        squares = np.zeros(p)
        for start in range(0, len(sample), _SCALE_PANEL):
            squares += np.square(sample[start : start + _SCALE_PANEL] - mean).sum(axis=0)
        spread: NDArray[np.float64] = np.sqrt(squares / len(sample))
    spread[spread <= _ROUNDING * np.maximum(sample.max(axis=0), -sample.min(axis=0))] = 0.0
    return spread


def _has_offsets(rows: NDArray[Any], spread: NDArray[np.float64]) -> bool:
    """Return whether the means of columns differ by far more than their numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        of_means = rows.mean(axis=0, dtype=np.float64).var()
        return bool(of_means > _OFFSETS_RATIO * np.square(spread).mean())


def _width_is_by_variance(estimator: Any) -> bool:
    """Return whether the width is found by a rule that goes by the variance of all numbers."""
    settings = getattr(estimator, "basis", estimator)
    gamma = getattr(settings if hasattr(settings, "gamma") else estimator, "gamma", None)
    return gamma is None or (isinstance(gamma, str) and gamma in _BY_VARIANCE)


def _is_centred(rows: NDArray[Any], spread: NDArray[np.float64]) -> bool:
    """Return whether all columns have the mean 0, as those of `InputWeights` after a scaler, and of a PCA.

    Their scales are meant. The means of columns in their own units, even simulated ones, are not that small.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.abs(rows.mean(axis=0, dtype=np.float64)) <= _CENTRED * spread).all())


def input_names(estimator: Any) -> list[str] | None:
    """Return the names of the columns that an estimator was fitted on, if they had names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def warn(texts: Iterable[str], *, stacklevel: int, category: type[Warning] = UserWarning) -> None:
    """Warn the caller who is `stacklevel` calls up, where 1 is the function that calls this."""
    for text in texts:
        warnings.warn(text, category, stacklevel=stacklevel + 1)
