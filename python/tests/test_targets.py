"""Classes or numbers: the table that Rust, Python and the command line must read alike, in all types of Python."""

import csv
import inspect
import warnings
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import EKS, KPCA, KPLS, TAKES, AutoFeatures, FScore, KernelBasis, MutualInfo, RReliefF, _core, metrics
from mercer._input import as_target

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "crates" / "mercer-tests" / "tests" / "targets.csv"
EUNITE = ROOT.parent / "shared" / "data" / "eunite2001_train.csv"

# Each is for one kind of labels.
PREDICTORS = (
    mercer.AutoClassifier,
    mercer.AutoRegressor,
    mercer.KernelNeighborsClassifier,
    mercer.KernelNeighborsRegressor,
)

ESTIMATORS = [
    kind
    for kind in map(vars(mercer).__getitem__, mercer.__all__)
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
    # These two do not look at labels.
    if kind not in (mercer.LaplacianScore, mercer.TableEncoder, *PREDICTORS)
]


def values_of(text):
    """Return the values of a line of the table: `700..900*1` is every whole number from 700 to 900 once."""
    found = []
    for part in text.split(" "):
        values, times = part.split("*")
        first, _, last = values.partition("..")
        found += ([str(v) for v in range(int(first), int(last) + 1)] if last else [values]) * int(times)
    return found


def cases():
    if not TABLE.exists():
        pytest.skip("there is no table beside an installed package", allow_module_level=True)
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [pytest.param(line, id=line["name"]) for line in csv.DictReader(file)]


def forms(kind, texts):
    """Return the values in every type that holds them, by its name."""
    match kind:
        case "whole":
            whole = [int(text) for text in texts]
            floats = np.array([float(text) for text in texts])
            yield "a list", whole
            yield "int64", np.array(whole)
            yield "float64", floats
            yield "object", np.array(whole, dtype=object)
            yield "objects that are floats", floats.astype(object)
            yield "pandas int64", pd.Series(whole)
            yield "pandas Int64", pd.Series(whole, dtype="Int64")
            yield "pandas float64", pd.Series(floats)
            yield "pandas object", pd.Series(whole, dtype=object)
            yield "polars", pl.Series("y", whole)
            yield "polars float64", pl.Series("y", floats)
            if max(whole) < 2**31:
                yield "int32", np.array(whole, dtype=np.int32)
                yield "float32", floats.astype(np.float32) if max(whole) < 2**24 else floats
                yield "polars int32", pl.Series("y", whole, dtype=pl.Int32)
            if min(whole) >= 0:
                yield "uint64", np.array(whole, dtype=np.uint64)
                yield "polars uint64", pl.Series("y", whole, dtype=pl.UInt64)
        case "fraction":
            floats = [float(text) for text in texts]
            yield "a list", floats
            yield "float64", np.array(floats)
            yield "object", np.array(floats, dtype=object)
            yield "pandas Float64", pd.Series(floats, dtype="Float64")
            yield "polars", pl.Series("y", floats)
        case "bool":
            truths = [text == "True" for text in texts]
            yield "a list", truths
            yield "bool", np.array(truths)
            yield "object", np.array(truths, dtype=object)
            yield "pandas bool", pd.Series(truths)
            yield "pandas boolean", pd.Series(truths, dtype="boolean")
            yield "polars", pl.Series("y", truths)
        case "text":
            yield "a list", texts
            yield "str", np.array(texts)
            yield "object", np.array(texts, dtype=object)
            yield "pandas object", pd.Series(texts, dtype=object)
            yield "pandas string", pd.Series(texts, dtype="string")
            yield "pandas category", pd.Series(texts, dtype="category")
            yield "a categorical", pd.Categorical(texts)
            yield "polars", pl.Series("y", texts)
            yield "polars categorical", pl.Series("y", texts, dtype=pl.Categorical)
            if all(text.isdigit() for text in texts):
                whole = pd.Series([int(text) for text in texts])
                yield "pandas categories that are integers", whole.astype("category")


@pytest.mark.parametrize("case", cases())
def test_targets_are_read_as_the_table_says(case):
    texts = values_of(case["values"])
    for name, y in forms(case["type"], texts):
        if case["read as"] == "error":
            with pytest.raises(ValueError, match="task = regression, but the target holds the text"):
                _core.decide(as_target(y), task=case["task"])
            continue
        _, classes, doubts = _core.decide(as_target(y), task=case["task"])
        read_as = "numbers" if classes is None else f"{len(classes)} classes"
        assert read_as == case["read as"], name
        assert len(doubts) == (case["warns"] == "yes"), name
        for text in doubts:
            assert text.startswith(f"the target was read as {read_as}: "), name
            assert text.endswith(f"(task = {'regression' if classes else 'classification'})"), name


@pytest.mark.parametrize("case", [case for case in cases() if case.values[0]["read as"] != "error"])
def test_a_selector_warns_once_where_the_table_says_so(case):
    """What scikit-learn's checks make of a target changes nothing."""
    texts = values_of(case["values"])
    if case["read as"] == f"{len(texts)} classes":
        pytest.skip("the F-test needs more rows than classes")
    X = np.random.default_rng(0).normal(size=(len(texts), 2))
    for name, y in forms(case["type"], texts):
        selector = FScore(task=case["task"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector.fit(X, y)
        texts_caught = [str(warning.message) for warning in caught]
        assert len(texts_caught) == (case["warns"] == "yes"), (name, texts_caught)
        read_as = "numbers" if selector._classes is None else f"{len(selector._classes)} classes"
        assert read_as == case["read as"], name


def test_unsigned_integers_that_do_not_fit_are_names():
    y = np.iinfo(np.uint64).max - np.arange(40, dtype=np.uint64)
    _, classes, doubts = _core.decide(as_target(y))
    assert classes is not None
    assert len(classes) == 40
    assert str(np.iinfo(np.uint64).max) in classes
    assert len(doubts) == 1


def test_categories_with_missing_labels_are_refused():
    y = pd.Series([1, 2, None, 1], dtype="category")
    with pytest.raises(ValueError, match="NaN"):
        FScore().fit(np.eye(4), y)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_estimator_that_looks_at_labels_has_a_task(kind):
    assert inspect.signature(kind).parameters["task"].default == "auto"
    with pytest.raises(ValueError, match="'task' parameter"):
        kind(task="ranks").fit(np.eye(6), [0, 0, 0, 1, 1, 1])


# 24 whole numbers, 5 times each: 24 classes, with a warning.
N = 120
DOUBTFUL = np.arange(N) % 24


def rows():
    return 0.02 * np.random.default_rng(0).normal(size=(N, 3)) + DOUBTFUL[:, None] / 5


def looks_at_labels(kind):
    """Return an estimator of a small basis whose fit looks at labels."""
    if kind is KernelBasis:
        return KernelBasis("kobl", gamma="align", n_components=3)
    if kind is KPCA:
        return KPCA(2, basis=KernelBasis("kobl", gamma="align", n_components=3))
    if kind is TAKES:  # which finds no weights among so many classes
        return TAKES(2, weighted=False, basis=KernelBasis("kobl", n_components=3))
    if "basis" in inspect.signature(kind).parameters and kind is not mercer.AKDAQR:
        return kind(basis=KernelBasis("kobl", n_components=3))
    return kind()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_doubtful_target_is_warned_of_once_and_not_if_the_task_is_given(kind):
    def about_the_target(task):
        estimator = looks_at_labels(kind).set_params(task=task)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # What needs classes refuses numbers.
            with suppress(ValueError) if task in ("numbers", "regression") else nullcontext():
                estimator.fit(rows(), DOUBTFUL)
        found = [warning for warning in caught if "was read as" in str(warning.message)]
        assert all(warning.filename == __file__ and warning.category is UserWarning for warning in found)
        return found

    assert len(about_the_target("auto")) == 1
    for task in ("classes", "classification", "numbers", "regression"):
        assert about_the_target(task) == []


def test_functions_that_look_at_labels_warn_once_and_take_a_task():
    X = rows()
    K = X @ X.T
    calls = [
        lambda **given: mercer.advise(X, DOUBTFUL, **given),
        lambda **given: mercer.compare(X, DOUBTFUL, methods="kobl", n_components=3, folds=2, **given),
        lambda **given: metrics.kernel_alignment(K, DOUBTFUL, **given),
        lambda **given: metrics.relevant_dimension(K, DOUBTFUL, **given),
        lambda **given: FScore(**given).partial_fit(X, DOUBTFUL).partial_fit(X, DOUBTFUL),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="was read as 24 classes") as caught:
            call()
        assert len([warning for warning in caught if "was read as" in str(warning.message)]) == 1
        for task in ("classes", "classification", "numbers", "regression"):
            with warnings.catch_warnings():
                warnings.filterwarnings("error", message="the target was read as")
                call(task=task)
        with pytest.raises(ValueError, match="task"):
            call(task="ranks")


def test_the_task_of_the_outer_estimator_counts():
    X, y = rows(), np.arange(N) % 3
    basis = KernelBasis("csi", n_components=5, task="classes")
    numbers, classes = (KPLS(2, basis=basis, task=task).fit(X, y) for task in ("numbers", "classes"))
    alone = KernelBasis("csi", n_components=5, task="numbers").fit(X, y)
    np.testing.assert_array_equal(numbers.basis_.pivots_, alone.pivots_)
    np.testing.assert_array_equal(classes.basis_.pivots_, basis.fit(X, y).pivots_)
    named = KPLS(2, basis="kobl", task="numbers").fit(X, y)
    assert named.basis_.task == "numbers"
    foreign = EKS(SelectKBest(k=2), basis=basis, task="numbers").fit(X, y)
    np.testing.assert_array_equal(foreign.basis_.pivots_, alone.pivots_)


def test_a_selector_may_say_the_task_if_its_system_does_not():
    X, y = rows(), np.arange(N) % 3
    basis = KernelBasis("kobl", n_components=5)
    scores = {task: EKS("f", basis=basis, task=task).fit(X, y).scores_ for task in ("classes", "numbers")}
    inner = EKS(FScore(task="numbers"), basis=basis).fit(X, y)
    np.testing.assert_array_equal(inner.scores_, scores["numbers"])
    both = EKS(FScore(task="regression"), basis=basis, task="numbers").fit(X, y)
    np.testing.assert_array_equal(both.scores_, scores["numbers"])
    assert both.selector_.task == "numbers"
    assert not np.array_equal(scores["classes"], scores["numbers"])
    with pytest.raises(ValueError, match="task = 'classes', but the selector has task = 'numbers'"):
        EKS(FScore(task="numbers"), basis=basis, task="classes").fit(X, y)


@pytest.mark.parametrize("kind", [FScore, MutualInfo, RReliefF])
def test_synonyms_are_the_same_task(kind):
    X, y = rows(), np.arange(N) % 3
    for name, synonym in (("classes", "classification"), ("numbers", "regression")):
        np.testing.assert_array_equal(kind(task=name).fit(X, y).scores_, kind(task=synonym).fit(X, y).scores_)


def test_advice_keeps_the_task():
    X, y = rows(), np.arange(N) % 3
    advice = mercer.advise(X, y, task="numbers")
    assert advice.estimator().task == "numbers"
    assert "task='numbers'" in advice.code()
    assert "task" not in mercer.advise(X, y).code()


def test_read_rows_keeps_categories(tmp_path):
    frame = pd.DataFrame({"x": np.arange(30.0) / 2, "y": pd.Series(range(30), dtype="category")})
    _, y = mercer.read_rows([frame], target="y")
    assert _core.decide(as_target(y))[1] is not None


@pytest.mark.filterwarnings("ignore:the target was read as numbers")
def test_integers_are_read_as_floats_of_the_same_values():
    """A load in megawatts is no class, whether it was read as 818 or as 818.0."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    y = np.round(800 + 40 * np.sin(X[:, 0]) + 20 * X[:, 1]).astype(int)
    whole, floats = (AutoFeatures().fit(X, target) for target in (y, y.astype(float)))
    np.testing.assert_array_equal(whole.transform(X), floats.transform(X))


@pytest.mark.skipif(not EUNITE.exists(), reason=f"{EUNITE} does not exist: the data sets lie outside the repository")
def test_electric_loads_as_integers_are_predicted_as_well_as_in_floats():
    frame = pd.read_csv(EUNITE)
    X, y = frame.drop(columns="target").to_numpy(), frame["target"].to_numpy()
    assert (y == y.astype(int)).all()
    model = make_pipeline(StandardScaler(), AutoFeatures(), Ridge())
    train, test = train_test_split(np.arange(len(y)), random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="the target was read as")
        whole, floats = (
            model.fit(X[train], target[train]).score(X[test], target[test])
            for target in (y.astype(int), y.astype(float))
        )
    assert whole == floats
    assert whole > 0.6
