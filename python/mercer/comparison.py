"""Methods side by side on one data set: `compare`."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import check_consistent_length

from mercer import _core
from mercer._catalogue import PARAMETERS, as_seed, as_text
from mercer._device import device_for, to_host
from mercer._fit import named_columns
from mercer._input import (
    FLOATS,
    Task,
    as_rows,
    as_target,
    is_frame,
    refusal_explained,
    refuse_collections,
    refuse_dates,
    refuse_missing_labels,
    refuse_not_finite,
)
from mercer._words import Scale
from mercer.kernel import AnyKernel, functions, kernel_text
from mercer.select import RandomState

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare"]

_COLUMNS = (
    *("method", "basis", "gamma_rule", "gamma", "evaluator", "asked", "mean", "standard_error", "second"),
    *("n_features", "kernel_values", "fit_seconds", "scores", "baseline", "failed"),
)


def compare(
    X: Any,
    y: Any,
    *,
    methods: str | Iterable[str] = "all",
    gamma: float | str | Sequence[float | str] = "loo",
    n_features: int | Sequence[int | None] | None = None,
    evaluators: str | Iterable[str] = ("knn", "ridge"),
    knn: int = 1,
    folds: int = 5,
    repeats: int = 1,
    test_share: float | None = None,
    cv: Any = None,
    groups: Any = None,
    score: str | Callable[[Any, Any], float] | None = None,
    estimators: Mapping[str, Any] | None = None,
    scale: Scale = "standard",
    kernel: AnyKernel = "rbf",
    task: Task = "auto",
    random_state: RandomState = 0,
    memory: int | None = None,
    device: str = "cpu",
    verbose: int = 0,
    n_jobs: int | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Compare methods by what simple models make of their features, every choice made inside the training part.

    Unlike the estimators of this package it scales, as the command line does: scaling is learned from rows, so it
    belongs inside the training part of every split. The same is true of gamma, the basis, the features and the
    evaluator's own penalty. Candidates that share a basis share its fit.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
        numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
        than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides.
    methods : "all", a name or a sequence of names, default="all"
        Methods of the catalogue, as the command line calls them: "takes", "k-relief", "sk-relief", "eks", "klfe",
        "skfe", "gda", "koc", "akda-qr", "kpls", "kmfa", "kanmm", "kpca", and the other bases for their bare
        coordinates. "all": those that can use such labels. Always there are "raw" (the columns as they are, by every
        evaluator and by a linear model), "rbf-svm" (a support vector machine on them), "kknn" (the nearest neighbour in
        the kernel's space) and "dummy" (the largest class, or the mean).
    gamma : float, rule or a sequence of them, default="loo"
        Width of the kernel, or the rule that finds it in every training part: "scale", "auto", "median", "align" or
        "loo".
    n_features : int, None or a sequence of them, default=None
        Numbers of features that are asked for; None is each method's own. A method that cannot have so many is left out
        at that number.
    evaluators : name or sequence of names, default=("knn", "ridge")
        Models that the features are evaluated with: "knn", "ridge", "linear", "linear-svm" (classes only), "rbf-svm".
    knn : int, default=1
        Neighbours that the evaluator "knn" looks at.
    folds : int, default=5
        Folds, stratified where the labels are classes.
    repeats : int, default=1
        How many times the folds are drawn; with `test_share` the number of splits.
    test_share : float, default=None
        Splits by chance, with this share of the rows for testing, in place of folds.
    cv : splitter or iterable, default=None
        Splits of your own in place of folds: anything with `split(X, y, groups)`, such as
        `sklearn.model_selection.TimeSeriesSplit`, or pairs of training and test rows.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group, such as those of one patient, are never on both sides of a split. Without `cv` they make
        `folds` folds. Where every group has one label, `chance` is of labels that change places with those of whole
        groups; else rows are shuffled one by one, with a warning.
    score : str or callable, default=None
        What candidates are compared by: "accuracy", "balanced_accuracy", "roc_auc", "f1", "log_loss" (evaluators "knn"
        and "ridge"; baselines without probabilities, "rbf-svm", "linear-svm" and "kknn", are left out), "r2", "rmse",
        "mae" or "mse". "f1" is macro-averaged: the mean over the classes, also where there are two. None: accuracy,
        balanced accuracy where the smallest class has less than half of an even share, or R². Splits that lack a class
        are left out, with a warning, where the measure is a mean over the classes. A function of your own gets the
        labels and the predictions of a split's test rows, and higher is better; there is no score by chance then.
    estimators : dict, default=None
        Models of your own, by name, fitted and scored on the same splits; they see the columns as they are given, so
        put a scaler before a model that needs one. Their `method` is the name, and "own" is their evaluator.
    scale : {"standard", "min-max", "unit", "none"}, default="standard"
        How columns are scaled; "unit" divides every row by its length instead.
    kernel : str or Kernel, default="rbf"
        As in `KernelBasis`, but for "precomputed", which has no rows to scale, and functions.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `y`.
    random_state : int, RandomState instance or None, default=0
        Seed of the splits and of every random choice in them. None means 0.
    memory : int, default=None
        Bytes that the work may take beside the rows; where its estimate is larger, it is refused before it begins.
        None: what the environment variable ``MERCER_MEMORY`` says, else 8 GiB.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method).
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.
    n_jobs : int, default=None
        Threads. None or -1: all, or as many as the environment says (see `mercer`). Scores do not depend on it.
    **settings : object
        Other parameters of the catalogue (`mercer methods`), given to every method that has them: `basis="kobl"`,
        `basis_components=200`, `n_neighbors=5`, `selector="relieff"`. One that no method has is refused.

    Returns
    -------
    frame : pandas.DataFrame
        A row a candidate, best first: `method`, `basis`, `gamma_rule`, `gamma` (median over the splits), `evaluator`,
        `asked` (number of features asked for, if any), `mean` and `standard_error` of the measure over the splits,
        `second` (mean of the second measure), `baseline` (whether it has no kernel features), and means of
        `n_features`, `kernel_values` (kernel values that a prediction costs) and `fit_seconds` (as if the candidate
        were alone); `scores`, one per split; `failed`, why a candidate has no scores or too few. `frame.attrs` has
        `measure` and `second` (what was measured), `recommended` (the index of the smallest features that are within
        a standard error of the best; None, with a warning, where none are better than chance), `chance` (the `score`
        that the best candidate has with shuffled labels, the `p_value` of the best one, baselines included, and
        `p_value_of_features`, that of the best features), `classes`, `splits`, `rows`, `inputs`, `interrupted` and
        `warnings`. After Ctrl-C it holds the splits that were finished, with a warning.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(200, factor=0.6, noise=0.15, random_state=0)
    >>> frame = mercer.compare(X, y, methods=["klfe", "gda"], evaluators="ridge", n_neighbors=5)
    >>> sorted(frame["method"])
    ['dummy', 'gda', 'kknn', 'klfe', 'raw', 'raw', 'rbf-svm']
    >>> scores = frame.groupby("method")["mean"].max()
    >>> bool(scores["gda"] > scores["raw"] + 0.2)
    True
    >>> frame.attrs["measure"], frame.attrs["splits"]
    ('accuracy', 5)
    """
    _pandas()
    refuse_collections("compare", "compare", X=X, y=y, groups=groups)
    device, X, y = device_for(X, device), to_host(X), to_host(y)  # which are split here
    rows, target = rows_and_target(X, y)
    seed = as_seed(random_state)
    folds, repeats = _whole("folds", folds, least=2), _whole("repeats", repeats)
    codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].tolist()
    if codes is not None:
        check_consistent_length(X, codes)
    splits = _given_splits(X, y, cv, groups, codes, folds=folds, repeats=repeats, seed=seed)
    own_score = score if callable(score) else None
    if splits is None and (estimators or own_score):
        how: dict[str, Any] = {"repeats": repeats, "seed": seed, "task": task}
        dealt = _core.folds(target, folds, **how) if test_share is None else _core.splits(target, test_share, **how)
        splits = [(train.tolist(), test.tolist()) for train, test in dealt[0]]
    arguments = arguments_of(
        methods=methods,
        gamma=gamma,
        n_features=n_features,
        evaluators=evaluators,
        knn=knn,
        folds=folds,
        repeats=repeats,
        test_share=test_share,
        score=score,
        scale=scale,
        kernel=kernel,
        task=task,
        random_state=random_state,
        memory=memory,
        device=device,
        verbose=verbose,
        n_jobs=n_jobs,
        **settings,
    )
    names = [str(name) for name in X.columns] if is_frame(X) else None
    arguments["settings"] = named_columns(arguments["settings"], names)
    keep = own_score is not None
    found = _core.compare(rows, target, **arguments, splits=splits, groups=codes, keep_predictions=keep)
    outcome = json.loads(found)
    if splits is not None:
        splits = [splits[at] for at in outcome["finished_splits"]]  # others may be left out, or were not reached
    if estimators and splits is not None:
        _add_estimators(outcome, estimators, X, y, splits)
    if own_score is not None and splits is not None:
        _score_again(outcome, own_score, np.asarray(y), splits)
    return frame_of(outcome)


def arguments_of(
    *,
    methods: str | Iterable[str] = "all",
    gamma: float | str | Sequence[float | str] = "loo",
    n_features: int | Sequence[int | None] | None = None,
    evaluators: str | Iterable[str] = ("knn", "ridge"),
    knn: int = 1,
    folds: int = 5,
    repeats: int = 1,
    test_share: float | None = None,
    score: Any = None,
    scale: Scale = "standard",
    kernel: AnyKernel = "rbf",
    task: Task = "auto",
    random_state: RandomState = 0,
    memory: int | None = None,
    device: str = "cpu",
    verbose: int = 0,
    n_jobs: int | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Return what `_core.compare` takes beside rows, labels and splits, from the arguments of `compare`."""
    evaluators = settings.pop("judges", evaluators)  # as it was called once
    if isinstance(methods, str) and methods == "all":
        methods = []
    return {
        "methods": _names("methods", methods),
        "settings": [("kernel", _kernel(kernel)), *_texts(settings)],
        "gammas": [as_text(rule) for rule in _several(gamma)],
        "sizes": [None if size is None else _whole("n_features", size) for size in _several(n_features)],
        "evaluators": _names("evaluators", evaluators),
        "knn": _whole("knn", knn),
        "scale": scale,
        "folds": _whole("folds", folds, least=2),
        "repeats": _whole("repeats", repeats),
        "test_share": test_share,
        "score": score if isinstance(score, str) else None,
        "seed": as_seed(random_state),
        "memory": None if memory is None else _whole("memory", memory),
        "n_threads": _threads(n_jobs),
        "task": task,
        "device": device,
        "verbose": int(verbose),
    }


def _given_splits(
    X: Any, y: Any, cv: Any, groups: Any, codes: list[int] | None, *, folds: int, repeats: int, seed: int
) -> list[tuple[list[int], list[int]]] | None:
    """Return the splits that `cv` and `groups` ask for; None: they ask for none."""
    if cv is None:
        if codes is None:
            return None
        pairs: Any = _core.group_folds(codes, folds, repeats=repeats, seed=seed)
    elif hasattr(cv, "split"):
        pairs = cv.split(X, y, groups)
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        pairs = cv
    else:
        raise ValueError(
            f"cv = {cv!r}, but a splitter such as TimeSeriesSplit(), or pairs of training and test rows are needed\n"
            "hint: a number of folds is `folds`"
        )
    return [(np.asarray(train).tolist(), np.asarray(test).tolist()) for train, test in pairs]


# Names of scikit-learn's scorers, and by what a scorer's value is multiplied: errors are negative there.
_SCORERS = {
    "accuracy": ("accuracy", 1.0),
    "balanced_accuracy": ("balanced_accuracy", 1.0),
    "roc_auc": ("roc_auc_ovr", 1.0),
    "f1": ("f1_macro", 1.0),
    "log_loss": ("neg_log_loss", -1.0),
    "r2": ("r2", 1.0),
    "rmse": ("neg_root_mean_squared_error", -1.0),
    "mae": ("neg_mean_absolute_error", -1.0),
    "mse": ("neg_mean_squared_error", -1.0),
}


def _add_estimators(
    outcome: dict[str, Any],
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    splits: list[tuple[list[int], list[int]]],
) -> None:
    """Fit and score models of the user's on the splits, and put them among the entries."""
    y = np.asarray(y)
    empty: dict[str, Any] = dict.fromkeys(_COLUMNS) | {"scores": [], "baseline": True, "evaluator": "own"}
    scorers = [(get_scorer(name), sign) for name, sign in (_SCORERS[outcome[key]] for key in ("measure", "second"))]
    for name, estimator in estimators.items():
        scores: list[list[float]] = [[], []]
        predictions: list[Any] = []
        start, failed = time.process_time(), None
        try:
            for train, test in splits:
                fitted = clone(estimator).fit(_safe_indexing(X, train), y[train])
                predictions.append(fitted.predict(_safe_indexing(X, test)))
                for kept, (scorer, sign) in zip(scores, scorers, strict=True):
                    kept.append(sign * scorer(fitted, _safe_indexing(X, test), y[test]))
        except Exception as error:
            failed = str(error)
        seconds = (time.process_time() - start) / max(len(scores[0]), 1)
        first, second = scores
        entry = empty | {"method": name, "failed": failed, "fit_seconds": seconds, "predictions": predictions}
        outcome["entries"].append(entry | _summary(first) | {"second": float(np.mean(second)) if second else None})
    recommended = outcome["recommended"]
    chosen = None if recommended is None else outcome["entries"][recommended]
    _sort(outcome, _SCORERS[outcome["measure"]][1])
    places = (at for at, entry in enumerate(outcome["entries"]) if entry is chosen)
    outcome["recommended"] = next(places, None)


def _summary(scores: list[float]) -> dict[str, Any]:
    """Return scores with their mean and standard error."""
    error = float(np.std(scores, ddof=1) / len(scores) ** 0.5) if len(scores) > 1 else None
    return {"scores": scores, "mean": float(np.mean(scores)) if scores else None, "standard_error": error}


def _sort(outcome: dict[str, Any], sign: float) -> None:
    """Put the best candidate first and those that failed last."""
    outcome["entries"].sort(
        key=lambda entry: (entry["failed"] is not None, entry["mean"] is None, -sign * (entry["mean"] or 0.0))
    )


def _score_again(
    outcome: dict[str, Any],
    score: Callable[[Any, Any], float],
    y: NDArray[Any],
    splits: list[tuple[list[int], list[int]]],
) -> None:
    """Score the predictions by a function of the user's, and sort and recommend by that."""
    names = {str(value): value for value in np.unique(y).tolist()} if outcome["classes"] else {}
    classes = np.array([names.get(name, name) for name in outcome["classes"]])
    outcome["second"] = outcome["measure"]
    outcome["measure"] = getattr(score, "__name__", "score")
    for entry in outcome["entries"]:
        scores = []
        for (_, test), predicted in zip(splits, entry["predictions"], strict=False):
            coded = entry["evaluator"] != "own" and bool(outcome["classes"])
            labels = classes[np.asarray(predicted, dtype=int)] if coded else np.asarray(predicted)
            scores.append(float(score(y[test], labels)))
        entry |= {"second": entry["mean"]} | _summary(scores)
    _sort(outcome, 1.0)
    outcome["chance"] = None
    found = [entry for entry in outcome["entries"] if not entry["baseline"] and entry["failed"] is None]
    best = next((entry for entry in found if entry["mean"] is not None), None)
    if best is None:
        outcome["recommended"] = None
        return
    enough = best["mean"] - (best["standard_error"] or 0.0)
    near = [entry for entry in found if entry["mean"] is not None and entry["mean"] >= enough]
    chosen = min(near, key=lambda entry: (entry["n_features"], entry["kernel_values"]))
    outcome["recommended"] = next(at for at, entry in enumerate(outcome["entries"]) if entry is chosen)


def rows_and_target(X: Any, y: Any) -> tuple[_core.Rows, _core.Target]:
    """Return rows and labels as `_core` takes them; what is missing is refused with its row and column."""
    refuse_dates(X)
    with refusal_explained(X):
        rows = check_array(X, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False)
    if y is None:
        raise ValueError("y is missing: the labels\nhint: pass one label per row")
    check_consistent_length(rows, y)
    refuse_not_finite(rows, X.columns if is_frame(X) else None)
    refuse_missing_labels(y)
    return as_rows(rows), as_target(y)


def frame_of(outcome: dict[str, Any]) -> pd.DataFrame:
    """Return the outcome as a frame."""
    pandas = _pandas()
    entries = outcome.pop("entries")
    outcome.pop("finished_splits", None)
    numbers = {"gamma", "mean", "standard_error", "second", "n_features", "kernel_values", "fit_seconds"}
    # Among numbers None is NaN, among texts it is None, and numbers asked for stay whole.
    kinds = {name: "float64" if name in numbers else "Int64" if name == "asked" else object for name in _COLUMNS}
    columns = {name: [entry[name] for entry in entries] for name in _COLUMNS}
    frame = pandas.DataFrame({name: pandas.Series(columns[name], dtype=kinds[name]) for name in _COLUMNS})
    frame.attrs.update(outcome)
    if outcome["interrupted"]:
        finished = max((len(entry["scores"]) for entry in entries), default=0)
        text = f"the comparison was stopped: {finished} of {outcome['splits']} splits were finished"
        warnings.warn(text, UserWarning, stacklevel=3)
    for text in outcome["warnings"]:
        warnings.warn(text, UserWarning, stacklevel=3)
    why_not = _why_not_recommended(outcome, entries)
    if why_not is not None:
        warnings.warn(f"no features are recommended: {why_not}", UserWarning, stacklevel=3)
    return frame  # type: ignore[no-any-return]


def _why_not_recommended(outcome: dict[str, Any], entries: list[dict[str, Any]]) -> str | None:
    """Return why no features are recommended; None: some are, or none have a score on every split."""
    scored = (entry["failed"] is None and entry["mean"] is not None for entry in entries if not entry["baseline"])
    if outcome["recommended"] is not None or not any(scored):
        return None
    chance = outcome["chance"]
    if chance is None or chance["p_value_of_features"] <= 0.05:
        return "they predict no better than the mean of the target, R² is not above 0"
    return (
        f"they are no better than chance, with shuffled labels the best candidate has {chance['score']:.3g} "
        f"(p = {chance['p_value_of_features']:.2f})"
    )


def _pandas() -> Any:
    """Return pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("mercer.compare returns a pandas frame\nhint: pip install mercer[compare]") from error
    return pandas


def _kernel(kernel: Any) -> str:
    if functions(kernel):
        raise TypeError(
            "the kernel of a comparison is a name, a text or a Kernel of these: functions are for estimators"
        )
    return kernel_text(kernel)


def _names(what: str, names: str | Iterable[str]) -> list[str]:
    """Return names, of which there may be one."""
    names = _several(names)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"{what} has {name!r} in it, but names are needed\nhint: `mercer methods` lists the methods"
            )
    return names


def _texts(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Return settings as the catalogue reads them."""
    for name, value in settings.items():
        if name not in PARAMETERS:
            raise TypeError(
                f"compare() got an unexpected keyword argument {name!r}\n"
                f"hint: beside its own arguments it takes the catalogue's parameters: {', '.join(sorted(PARAMETERS))}"
            )
        if not isinstance(value, str | Real | bool | np.bool_ | tuple | None):
            raise ValueError(
                f"{name} = {value!r}, but names and numbers are needed here\n"
                'hint: settings go to every method that has them: basis="kobl", basis_components=200'
            )
    return [(name, as_text(value)) for name, value in settings.items() if value is not None]


def _several(value: Any) -> list[Any]:
    """Return what is given, which may be one or several."""
    return [value] if value is None or isinstance(value, Real | str) else list(value)


def _whole(name: str, value: Any, *, least: int = 1) -> int:
    """Return a whole number."""
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if not whole or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} = {value!r}, but it must be a whole number of at least {least}")
    return int(value)


def _threads(n_jobs: int | None) -> int | None:
    """Return the number of threads; None: all that there are."""
    if n_jobs is None or n_jobs == -1:
        return None
    return _whole("n_jobs", n_jobs)
