"""What `mercer.plot` draws: the part of an estimator that is one of mercer's, its features and other numbers."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples, check_is_fitted

from mercer import _core
from mercer._input import Task, as_rows, as_target, is_frame, refuse_collections
from mercer._mapped import Mapped
from mercer.basis import KernelBasis
from mercer.model import FeatureMap, _model_of
from mercer.select import FScore

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Found(NamedTuple):
    """The part of an estimator that is one of mercer's, the rows as it takes them, and the names of their columns."""

    part: KernelBasis | Mapped | FeatureMap
    rows: Any
    names: list[str] | None

    def checked(self) -> Any:
        """Return the rows as numbers."""
        if self.rows is None:
            raise ValueError("X is missing: the rows to look at\nhint: pass the training rows")
        if isinstance(self.part, FeatureMap):
            return self.part._check(self.part._choose_columns(self.rows))
        return self.part._check_new(self.rows)


def find(estimator: Any, X: Any = None) -> Found:
    """Return the last part of an estimator that is one of mercer's, with the rows taken through the parts before it."""
    refuse_collections("mercer.plot", X=X)  # before the steps of a pipeline, which would gather it
    if hasattr(estimator, "best_estimator_"):  # a search
        return find(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        for at in reversed(range(len(estimator.steps))):
            if _holds_ours(estimator.steps[at][1]):
                return _inside(estimator, at, X)
    if not isinstance(estimator, KernelBasis | Mapped | FeatureMap):
        kind = type(estimator).__name__
        steps = f" of {', '.join(type(step).__name__ for _, step in estimator.steps)}" if kind == "Pipeline" else ""
        raise TypeError(
            f"there is nothing to plot in a {kind}{steps}\n"
            "hint: pass a fitted KernelBasis, system (TAKES, EKS, …), extractor (KLFE, GDA, …), AutoFeatures or "
            "FeatureMap, or a Pipeline with one of these among its steps; `features` takes a matrix as well"
        )
    if not isinstance(estimator, FeatureMap):
        check_is_fitted(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    return Found(estimator, X, None if names is None else [str(name) for name in names])


def _holds_ours(step: Any) -> bool:
    if isinstance(step, Pipeline):
        return any(_holds_ours(inner) for _, inner in step.steps)
    return isinstance(step, KernelBasis | Mapped | FeatureMap)


def _inside(pipeline: Pipeline, at: int, X: Any) -> Found:
    """Return what is found in one of a pipeline's steps."""
    before = pipeline[:at]
    if at and X is not None:
        X = before.transform(X)
    found = find(pipeline.steps[at][1], X)
    if found.names is not None or not at:
        return found
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except (AttributeError, ValueError):  # not every step has names to give
        return found
    return found._replace(names=names)


class Drawn(NamedTuple):
    """Features to draw."""

    Z: NDArray[np.float64]
    names: list[str]
    labels: Labels | None
    part: Any  # None where the features were given
    learned_from: bool  # whether features that look at labels were learned from these rows


class Labels(NamedTuple):
    """Class codes and the classes' names; or numbers, and no names. And what to call them all."""

    values: NDArray[Any]
    classes: list[str] | None
    title: str


def _learned_from(part: Any, rows: Any) -> bool:
    """Say whether features that look at labels were learned from these rows, of which landmarks are some."""
    if not isinstance(part, Mapped) or not part._needs_y():
        return False
    landmarks = part.basis_.landmarks_
    if landmarks is None or sparse.issparse(rows) or sparse.issparse(landmarks):
        return False
    return any(bool((rows == landmark).all(axis=1).any()) for landmark in landmarks[:5])


def features_of(estimator: Any, X: Any, y: Any, max_points: int) -> Drawn:
    """Return the features of at most so many rows."""
    refuse_collections("plot.features", X=X, y=y, estimator=estimator)
    # A frame of pandas has a `transform` of its own.
    is_matrix = is_frame(estimator) or not (hasattr(estimator, "transform") or hasattr(estimator, "fit"))
    if is_matrix and X is not None:
        raise ValueError("X is given beside a matrix of features\nhint: leave X out, or pass the estimator")
    if not is_matrix and X is None:
        raise ValueError("X is missing: the rows whose features are to be drawn\nhint: plot.features(estimator, X, y)")
    if y is not None and _num_samples(y) != _num_samples(estimator if is_matrix else X):
        n = _num_samples(estimator if is_matrix else X)
        raise ValueError(f"there are {n} rows, but {_num_samples(y)} labels\nhint: give one label per row")
    if is_matrix:
        part = None
        names = [str(name) for name in estimator.columns] if is_frame(estimator) else None
        rows = check_array(estimator, dtype=np.float64)
    else:
        part, names = (found := find(estimator, X)).part, None
        rows = found.checked()
    learned_from = y is not None and _learned_from(part, rows)
    sample = _sample(rows.shape[0], max_points)
    labels = None if y is None else Labels(*_core.decide(as_target(y))[:2], str(getattr(y, "name", None) or "y"))
    if sample is not None:
        rows = rows[sample]
        labels = None if labels is None else labels._replace(values=labels.values[sample])
    Z = rows if part is None else _model_of(part).transform(as_rows(rows))
    if names is None:
        names = [f"feature {j}" for j in range(Z.shape[1])] if part is None else list(part.get_feature_names_out())
    return Drawn(Z, names, labels, part, learned_from)


def _sample(n: int, most: int) -> NDArray[np.intp] | None:
    """Return which rows to draw, ascending; None: all."""
    if most < 1:
        raise ValueError(f"max_points = {most}, but at least one row must be drawn")
    return None if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def chosen_of(which: Any, drawn: Drawn) -> list[int]:
    """Return the indices of the features asked for."""
    names = drawn.names
    if which is None:
        return _best(drawn)
    wanted = [which] if isinstance(which, str | int | np.integer) else list(which)
    if not 1 <= len(wanted) <= 3:
        raise ValueError(f"which names {len(wanted)} features, but one, two or three can be drawn")
    chosen = []
    for item in wanted:
        if isinstance(item, str) and item in names:
            chosen.append(names.index(item))
        elif isinstance(item, int | np.integer) and -len(names) <= item < len(names):
            chosen.append(int(item) % len(names))
        else:
            few = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
            raise ValueError(
                f"which = {item!r} is not one of the {len(names)} features\n"
                f"hint: use an index from 0 to {len(names) - 1}, or one of the names {few}"
            )
    return chosen


def _best(drawn: Drawn) -> list[int]:
    """Return the best two features, or the only one."""
    Z, labels, part = drawn.Z, drawn.labels, drawn.part
    scores = np.empty(0) if part is None else _model_of(part).scores
    # Systems and extractors name their basis, and their features have scores, or an order.
    unordered = part is None or "basis" not in json.loads(_model_of(part).facts)
    if not len(scores) and unordered and labels is not None:
        task: Task = "numbers" if labels.classes is None else "classes"
        # Labels that F has no use for, such as those of one class, leave the features in their order.
        with suppress(ValueError):
            scores = FScore(task=task).fit(Z, labels.values).scores_
    order = np.argsort(-scores, kind="stable") if len(scores) else np.arange(Z.shape[1])
    return sorted(int(j) for j in order[:2])


def titles_of(part: Any, names: list[str]) -> list[str]:
    """Return the features' names, with their shares where the method knows such."""
    shares = [] if part is None else json.loads(_model_of(part).facts).get("explained", [])
    if len(shares) != len(names):
        return names
    return [f"{name} ({100 * share:.0f} %)" for name, share in zip(names, shares, strict=True)]


def spectrum_of(part: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_], str]:
    """Return eigenvalues or scores, which of them were kept, and what they are."""
    model = _model_of(part)
    if hasattr(part, "get_support"):  # a system, which still knows all coordinates
        values = getattr(part.basis_, "eigenvalues_", None)
        label = "score" if values is None else "eigenvalue"
        return (part.scores_ if values is None else values), part.get_support(), label
    for label, values in (("eigenvalue", model.eigenvalues), ("score", model.scores)):
        if len(values):
            return values, np.ones(len(values), dtype=bool), label
    raise ValueError(
        f"`{model.method}` has neither eigenvalues nor scores\n"
        "hint: `kpca` and the extractors but `koc` have eigenvalues, systems have scores; `mercer.plot.residual` shows "
        "a basis"
    )


# Labels of both axes, places and values.
Curve = tuple[str, str, "NDArray[Any]", "NDArray[np.float64]"]


def residuals_of(found: Found) -> tuple[list[Curve], str]:
    """Return what a basis leaves out as it grows, and all together."""
    basis = found.part.basis_ if isinstance(found.part, Mapped) else found.part
    model = _model_of(basis)
    facts = json.loads(model.facts)
    left, norms, eigenvalues = facts.get("residual", 0.0), model.pivot_norms, model.eigenvalues
    curves: list[Curve] = []
    if len(norms):
        label = "landmark, in the order chosen"
        if len(norms) < facts.get("coordinates", 0):
            label = "landmark that the features need, in the order chosen"
        curves.append(
            (label, "distance of a landmark from the span of those before", np.arange(1, len(norms) + 1), norms)
        )
    elif model.method == "kpca" and "basis" not in facts and found.rows is None:
        trace = eigenvalues.sum() / (1 - left)
        shares = np.clip(1 - np.append(0.0, np.cumsum(eigenvalues)) / trace, 0, None)
        curves.append(("components", "share of the trace left out", np.arange(len(shares)), shares))
    if found.rows is not None:
        if not isinstance(basis, KernelBasis):
            raise ValueError("X is given, but a file does not know its basis\nhint: plot the estimator, or leave X out")
        shares = model.residuals(as_rows(found.checked()))
        curves.append(("components", "share of mean k(x, x) of the rows left out", np.arange(len(shares)), shares))
    if not curves:
        raise ValueError(
            f"the residuals of this `{model.method}` model's basis are not known: it keeps neither pivots nor the "
            "eigenvalues of the basis\nhint: plot the estimator that was fitted in place of its file, or a basis that "
            "chooses rows, such as `kobl`"
        )
    return curves, f"{facts.get('basis', model.method)}: {max(left, 0.0):.2g} of mean k(x, x) is left"


class Point(NamedTuple):
    """A candidate of a comparison."""

    method: str
    evaluator: str
    features: float
    score: float
    error: float


def measure_of(frame: Any, measure: str | None) -> tuple[str, str]:
    """Return the column of a measure and the measure's name."""
    attrs = getattr(frame, "attrs", {})
    first, second = attrs.get("measure", "mean"), attrs.get("second", "second")
    if measure in (None, "mean", first):
        return "mean", first if first != "mean" else "mean score"
    if measure in ("second", second):
        return "second", second
    raise ValueError(f"measure = {measure!r} is not one of this comparison's: {first}, {second}")


def points_of(frame: Any, column: str) -> list[Point]:
    """Return the candidates that have scores, of those that differ by γ alone the best, best first."""
    needed = ["method", "evaluator", "n_features", "standard_error", "asked", column]
    missing = [name for name in needed if name not in getattr(frame, "columns", [])]
    if missing:
        raise ValueError(
            f"the frame has no column {', '.join(f'`{name}`' for name in missing)}\n"
            "hint: pass what `mercer.compare` returned, or some of its rows"
        )
    best: dict[tuple[str, str, Any], Point] = {}
    falling = column == "second" and getattr(frame, "attrs", {}).get("second") == "mse"
    for method, evaluator, count, error, asked, score in zip(*(frame[name] for name in needed), strict=True):
        if _missing(score):  # it failed
            continue
        error, count = (0.0 if _missing(value) else float(value) for value in (error, count))
        point = Point(str(method), str(evaluator), count, float(score), error)
        before = best.get(key := (point.method, point.evaluator, None if _missing(asked) else int(asked)))
        if before is None or (point.score < before.score if falling else point.score > before.score):
            best[key] = point
    if not best:
        raise ValueError("no candidate of the frame has scores\nhint: its column `failed` says why")
    return sorted(best.values(), key=lambda point: point.score if falling else -point.score)


def _missing(value: Any) -> bool:
    """Return whether this is None, NaN or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
