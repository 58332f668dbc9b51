"""Pictures of what was fitted and compared, with matplotlib, which is imported by the first picture and not before.

Every function draws on the `ax` it is given, else on a new figure, and returns the axes. None of them calls `show`.
Colours can be distinguished by people with colour blindness; classes and methods differ by marker, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._input import as_rows
from mercer._plotted import (
    Labels,
    Point,
    chosen_of,
    features_of,
    find,
    measure_of,
    points_of,
    residuals_of,
    spectrum_of,
    titles_of,
)
from mercer.model import _model_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["features", "importance", "path", "residual", "spectrum"]

# Those of Okabe and Ito but for yellow, which white hides, then four of Tol's muted ones.
_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000"),
    *("#882255", "#44AA99", "#999933", "#332288"),
)
_MARKERS = "os^Dv<>pdh"  # not as many as colours, so that pairs repeat late
_DASHES = ("-", "--", ":", "-.")
_ACROSS = ((1, 2), (6, 2), (6, 2, 1, 2), (1, 5), (12, 3), (12, 3, 1, 3, 1, 3))
_GREY = "#767676"
_LEARNED_FROM = "rows that the features were learned from"
_BASELINES = ("raw", "kknn", "rbf-svm", "dummy")


def features(
    estimator: Any, X: Any = None, y: Any = None, *, which: Any = None, max_points: int = 5000, ax: Any = None
) -> Any:
    """Draw rows by two of their features, coloured by their labels.

    Parameters
    ----------
    estimator : KernelBasis, system, extractor, AutoFeatures, FeatureMap, Pipeline or array of shape (n, q)
        Fitted; of a pipeline the last step that is one of mercer's, with `X` taken through the steps before it. Or the
        features themselves; leave out `X` then.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), default=None
        Rows; best those that were not fitted on. Where features that look at labels were learned from these rows, the
        title notes it: new rows lie less far apart.
    y : array-like of shape (n_samples,), default=None
        Labels: classes have a colour and a marker each, numbers a colour bar. Which of both they are is decided as in
        `fit`.
    which : sequence of one to three names or indices of features, default=None
        Two make a picture. Three make three panels, a pair each. One makes a histogram for each class or, where `y` is
        numbers, a picture of `y` by the feature. None: the best two by the model's own scores or in its own order;
        where the features are a basis' or a matrix, which have neither, those with the largest F for `y`.
    max_points : int, default=5000
        Where there are more rows, this many of them are drawn, chosen by a fixed seed.
    ax : matplotlib Axes, or three of them for three features, default=None
        Where to draw; None: on a new figure.

    Returns
    -------
    ax : matplotlib Axes, or an array of three of them
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KLFE, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KLFE().fit(X[::2], y[::2])
    >>> ax = plot.features(model, X[1::2], y[1::2])
    >>> ax.get_xlabel()[:5], ax.get_title()
    ('klfe0', '')
    >>> plot.features(model, X[::2], y[::2]).get_title()
    'rows that the features were learned from'
    """
    pyplot = _pyplot()
    drawn = features_of(estimator, X, y, max_points)
    Z, labels = drawn.Z, drawn.labels
    chosen = chosen_of(which, drawn)
    titles = titles_of(drawn.part, drawn.names)
    if len(chosen) == 1:
        ax = _new(pyplot) if ax is None else ax
        _one(ax, Z[:, chosen[0]], labels)
        ax.set_xlabel(titles[chosen[0]])
        if drawn.learned_from:
            ax.set_title(_LEARNED_FROM)
        return ax
    pairs = [(0, 1)] if len(chosen) == 2 else [(0, 1), (0, 2), (1, 2)]
    if ax is None:
        panels = pyplot.subplots(1, len(pairs), figsize=(4.8 * len(pairs), 4.4), squeeze=False, layout="constrained")[1]
        panels = panels[0]
    else:
        panels = np.ravel(np.asarray(ax, dtype=object))
    if len(panels) != len(pairs):
        raise ValueError(
            f"{len(chosen)} features make {len(pairs)} panels, but `ax` holds {len(panels)}\n"
            "hint: pass as many axes as panels, or leave `ax` out"
        )
    for panel, (a, b) in zip(panels, pairs, strict=True):
        _pair(panel, Z[:, chosen[a]], Z[:, chosen[b]], labels, last=panel is panels[-1])
        panel.set_xlabel(titles[chosen[a]])
        panel.set_ylabel(titles[chosen[b]])
    if drawn.learned_from:
        panels[0].set_title(_LEARNED_FROM)
    return panels if len(pairs) > 1 else panels[0]


def spectrum(estimator: Any, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues of a method, largest first; of one that selects, the scores of all coordinates.

    Parameters
    ----------
    estimator : KernelBasis, system, extractor, AutoFeatures, FeatureMap or Pipeline
        Fitted.
    ax : matplotlib Axes, default=None
        Where to draw; None: on a new figure.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn. Coordinates that a system kept are filled, the others hollow. The scale is logarithmic where
        the values are positive and span more than a factor of 100.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KPCA, plot
    >>> plot.spectrum(KPCA(n_components=10).fit(load_iris().data)).get_ylabel()
    'eigenvalue'
    """
    pyplot = _pyplot()
    part = find(estimator).part
    values, kept, label = spectrum_of(part)
    ax = _new(pyplot) if ax is None else ax
    order = np.argsort(-values, kind="stable") if label == "score" else np.arange(len(values))
    values, kept = values[order], kept[order]
    places = np.arange(1, len(values) + 1)
    ax.plot(places, values, color=_GREY, linewidth=1, zorder=1)
    size = 28 if len(values) <= 60 else 10
    colours = np.where(kept, _COLOURS[0], "white")
    ax.scatter(places, values, s=size, c=colours.tolist(), edgecolors=_COLOURS[0], zorder=2)
    if values.min() > 0 and values.max() > 100 * values.min():
        ax.set_yscale("log")
    elif values.min() >= 0:
        ax.set_ylim(bottom=0)
    what = "feature" if label == "eigenvalue" else "coordinate, best first"
    ax.set_xlabel(what if kept.all() else f"{what} (filled: kept, {int(kept.sum())} of {len(kept)})")
    ax.set_ylabel(label)
    _whole_numbers(ax)
    return ax


def residual(estimator: Any, ax: Axes | None = None, *, X: Any = None) -> Axes:
    """Draw how far a basis still is from the rows as it grows.

    Parameters
    ----------
    estimator : KernelBasis, system, extractor, AutoFeatures, FeatureMap or Pipeline
        Fitted. What is drawn is the basis that its features are made from.
    ax : matplotlib Axes, default=None
        Where to draw; None: on a new figure.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features), default=None
        Rows, of which is drawn how much the coordinates leave out: the training rows, or others. Not for a
        `FeatureMap`.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn. Of a basis that chooses rows: the distance of each from the span of those before it. Of
        "kpca": the share of the trace that is left out after each component. With `X`: the share of mean k(x, x) that
        is left out of these rows. What the whole basis leaves out of the training rows is in the title.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelBasis, plot
    >>> X = load_iris().data
    >>> ax = plot.residual(KernelBasis("kobl", n_components=10).fit(X), X=X)
    >>> ax.get_title()
    'kobl: 0.0076 of mean k(x, x) is left'
    >>> float(ax.lines[1].get_ydata()[-1].round(4))
    0.0076
    """
    pyplot = _pyplot()
    curves, title = residuals_of(find(estimator, X))
    ax = _new(pyplot) if ax is None else ax
    logarithmic = False
    for i, (xlabel, ylabel, places, values) in enumerate(curves):
        # Rounding makes zeros of what a basis that spans the rows leaves; they have no place on a logarithmic axis.
        seen = values > 1e-14 * values.max()
        marker = "os"[i] if seen.sum() <= 60 else None
        ax.plot(places[seen], values[seen], _DASHES[i], color=_COLOURS[i], marker=marker, markersize=4, label=ylabel)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        logarithmic |= bool(values[seen].max() > 10 * values[seen].min())
    if len(curves) > 1:
        ax.set_xlabel("components")
        ax.set_ylabel("left out")
        ax.legend(fontsize=8)
    if logarithmic:
        ax.set_yscale("log")
    ax.set_title(title, fontsize=10)
    _whole_numbers(ax)
    return ax


def importance(
    estimator: Any, X: Any, *, names: Sequence[str] | None = None, top: int = 20, ax: Axes | None = None
) -> Axes:
    """Draw which input columns the features, or the predictions of an automatic model, depend on.

    Parameters
    ----------
    estimator : KernelBasis, system, extractor, AutoFeatures, FeatureMap or Pipeline
        Fitted; of a pipeline the last step that is one of mercer's, and the columns are those that this step sees. The
        `features_` of `AutoClassifier` and `AutoRegressor`, and their files, show what the predictions depend on.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Rows near which slopes are taken. Those of predictions are in units of the columns' standard deviations here.
    names : sequence of str, default=None
        What to call the columns. None: their names in the fit, else "x0", "x1", ….
    top : int, default=20
        The most columns to show; one more bar stands for all others.
    ax : matplotlib Axes, default=None
        Where to draw; None: on a new figure.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn: each column's share of the mean squared slopes, summed over the features or scores, largest
        on top.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import GDA, plot
    >>> iris = load_iris()
    >>> ax = plot.importance(GDA().fit(iris.data, iris.target), iris.data, names=iris.feature_names, top=3)
    >>> [text.get_text() for text in ax.get_yticklabels()][-1]
    '1 other'
    """
    pyplot = _pyplot()
    if top < 1:
        raise ValueError(f"top = {top}, but at least one column must be shown")
    found = find(estimator, X)
    rows = as_rows(found.checked())
    model = _model_of(found.part)
    slopes = model.prediction_importance(rows)
    users = "features" if slopes is None else "predictions"
    slopes = (model.input_importance(rows) if slopes is None else slopes).sum(axis=0)
    total = slopes.sum()
    if total == 0:
        raise ValueError(f"the {users} do not depend on any column near these rows\nhint: give other rows")
    p = len(slopes)
    titles = [f"x{j}" for j in range(p)] if found.names is None else found.names
    if names is not None:
        titles = [str(name) for name in names]
    if len(titles) != p:
        raise ValueError(
            f"{len(titles)} names were given for {p} columns\nhint: give one name per column, in their order"
        )
    order = np.argsort(-slopes, kind="stable")
    shown, others = order[:top], order[top:]
    shares = slopes[shown] / total
    colours, labels = [_COLOURS[0]] * len(shown), [titles[j] for j in shown]
    if len(others):
        shares = np.append(shares, slopes[others].sum() / total)
        colours.append(_GREY)
        labels.append(f"{len(others)} other{'s' if len(others) > 1 else ''}")
    if ax is None:
        ax = _new(pyplot, height=max(2.4, 0.9 + 0.26 * len(labels)))
    ax.barh(np.arange(len(labels)), shares, color=colours)
    ax.set_yticks(np.arange(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlabel(f"share of the {users}' dependence on the inputs")
    ax.set_xlim(left=0)
    return ax


def path(frame: Any, *, measure: str | None = None, top: int | None = 8, ax: Axes | None = None) -> Axes:
    """Draw the scores of a comparison by the number of features.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `mercer.compare` returned, or some of its rows.
    measure : str, default=None
        One of the two measures of the comparison (`frame.attrs["measure"]`, `frame.attrs["second"]`) or "mean" or
        "second". None: the first, which has error bars.
    top : int, default=8
        The most methods to draw, those with the best scores; None: all. Baselines are drawn always.
    ax : matplotlib Axes, default=None
        Where to draw; None: on a new figure.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn: one colour and marker per method, one line style per evaluator, bars of one standard error.
        Where several rules for gamma were compared, the best of them at each point. Baselines, which have no number of
        features to choose, are thin lines across.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import plot
    >>> frame = pd.DataFrame({
    ...     "method": ["gda", "klfe", "klfe"], "evaluator": "knn", "asked": [None, 2, 4], "n_features": [1.0, 2.0, 4.0],
    ...     "mean": [0.8, 0.7, 0.9], "standard_error": [0.01, 0.02, 0.02], "second": [0.8, 0.7, 0.9], "failed": None,
    ... })
    >>> [text.get_text() for text in plot.path(frame).get_legend().get_texts()]
    ['klfe', 'gda']
    """
    pyplot = _pyplot()
    column, label = measure_of(frame, measure)
    points = points_of(frame, column)
    ax = _new(pyplot, width=7.6, height=4.8) if ax is None else ax
    lines: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        lines.setdefault((point.method, point.evaluator), []).append(point)
    every = list(dict.fromkeys(method for method, _ in lines if method not in _BASELINES))
    methods = every[:top]
    evaluators = list(dict.fromkeys(evaluator for method, evaluator in lines if method in methods))
    if len(methods) < len(every):
        ax.set_title(f"the best {len(methods)} of {len(every)} methods", fontsize=10)
    for method, evaluator in lines:
        if method in methods:
            _line(
                ax, lines[method, evaluator], methods.index(method), evaluators.index(evaluator), bars=column == "mean"
            )
    for i, method in enumerate(methods):
        ax.plot([], [], label=method, **_style(i, 0))
    for i, evaluator in enumerate(evaluators if len(evaluators) > 1 else []):
        ax.plot([], [], color=_GREY, linestyle=_DASHES[i % len(_DASHES)], label=f"evaluator: {evaluator}")
    baselines = [key for key in lines if key[0] in _BASELINES]
    for i, (method, evaluator) in enumerate(baselines):
        several = len(evaluators) > 1 or sum(key[0] == method for key in baselines) > 1
        title = f"{method}, {evaluator}" if method != evaluator and several else method
        dashes = (0, _ACROSS[i % len(_ACROSS)])
        ax.axhline(
            lines[method, evaluator][0].score, color="black", linewidth=1, linestyle=dashes, label=title, zorder=1
        )
    counts = [point.features for point in points if point.method in methods]
    if counts and max(counts) > 20 * min(counts):
        ax.set_xscale("log")
        ax.set_xticks(_apart(counts))
        ax.set_xticks([], minor=True)
        ax.xaxis.set_major_formatter("{x:.0f}")
    ax.set_xlabel("features")
    ax.set_ylabel(label)
    # Long enough for a whole period of every pattern of dashes.
    ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize=8, frameon=False, handlelength=4
    )
    return ax


def _apart(counts: Sequence[float]) -> list[float]:
    """Return the numbers of features that a logarithmic axis has room to name."""
    shown: list[float] = []
    for count in sorted(set(counts)):
        if not shown or count >= 1.4 * shown[-1]:
            shown.append(count)
    return shown


def _style(method: int, evaluator: int) -> dict[str, Any]:
    """Return how the line of a method under an evaluator looks."""
    return {
        "color": _COLOURS[method % len(_COLOURS)],
        "marker": _MARKERS[method % len(_MARKERS)],
        "linestyle": _DASHES[evaluator % len(_DASHES)],
        "linewidth": 1.2,
        "markersize": 5,
    }


def _line(ax: Axes, points: list[Point], method: int, evaluator: int, *, bars: bool) -> None:
    """Draw a method under an evaluator."""
    points = sorted(points, key=lambda point: point.features)
    counts, scores = [point.features for point in points], [point.score for point in points]
    errors = [point.error for point in points] if bars else None
    ax.errorbar(counts, scores, errors, capsize=2, **_style(method, evaluator))


def _pair(ax: Axes, a: NDArray[np.float64], b: NDArray[np.float64], labels: Labels | None, *, last: bool) -> None:
    """Draw rows by two features."""
    size = 20 if len(a) <= 500 else 10
    if labels is None:
        ax.scatter(a, b, s=size, color=_COLOURS[0], alpha=0.8, linewidths=0)
    elif labels.classes is None:
        dots = ax.scatter(a, b, s=size, c=labels.values, cmap="cividis", linewidths=0)
        if last:
            ax.figure.colorbar(dots, ax=ax, label=labels.title)
    else:
        for code, name in enumerate(labels.classes):
            mine = labels.values == code
            colour, marker = _COLOURS[code % len(_COLOURS)], _MARKERS[code % len(_MARKERS)]
            ax.scatter(a[mine], b[mine], s=size, color=colour, marker=marker, alpha=0.8, linewidths=0, label=name)
        if last:
            _legend(ax, len(labels.classes))


def _one(ax: Axes, z: NDArray[np.float64], labels: Labels | None) -> None:
    """Draw rows by a single feature."""
    if labels is not None and labels.classes is None:
        ax.scatter(z, labels.values, s=20 if len(z) <= 500 else 10, color=_COLOURS[0], alpha=0.8, linewidths=0)
        ax.set_ylabel(labels.title)
        return
    edges = np.histogram_bin_edges(z, bins=min(40, max(5, int(np.sqrt(len(z)))))).tolist()
    if labels is None:
        ax.hist(z, edges, color=_COLOURS[0])
    else:
        for code, name in enumerate(labels.classes or []):
            colour, dashes = _COLOURS[code % len(_COLOURS)], _DASHES[code // len(_COLOURS) % len(_DASHES)]
            of_class = z[labels.values == code]
            ax.hist(of_class, edges, color=colour, alpha=0.35)
            ax.hist(of_class, edges, color=colour, histtype="step", linestyle=dashes, linewidth=1.5, label=name)
        _legend(ax, len(labels.classes or []))
    ax.set_ylabel("rows")


def _legend(ax: Axes, entries: int) -> None:
    """Name the classes: inside, or beside the picture where they are many."""
    if entries <= 5:
        ax.legend(loc="best", fontsize=8)
    else:
        columns = 1 + (entries - 1) // 20
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize=8, ncols=columns)


def _pyplot() -> Any:
    """Return matplotlib's pyplot."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("mercer.plot needs matplotlib\nhint: pip install mercer[plot]") from error
    return pyplot


def _new(pyplot: Any, *, width: float = 6.0, height: float = 4.4) -> Axes:
    """Return the axes of a new figure."""
    ax: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def _whole_numbers(ax: Axes) -> None:
    """Let the horizontal axis have ticks at whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
