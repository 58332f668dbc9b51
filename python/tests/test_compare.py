"""A comparison is what one would do by hand, split by split."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_circles, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score, root_mean_squared_error
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import mercer
from mercer import GDA, KPLS, KernelBasis, _core, compare, plot

COLUMNS = [
    *["method", "basis", "gamma_rule", "gamma", "evaluator", "asked", "mean", "standard_error", "second"],
    *["n_features", "kernel_values", "fit_seconds", "scores", "baseline", "failed"],
]


def folds_of(y, k, **settings):
    return _core.folds(np.asarray(y, dtype=np.int64 if y.dtype.kind == "i" else float), k, **settings)[0]


def row_of(frame, method, evaluator=None):
    """Return the only candidate of a method."""
    rows = frame[(frame["method"] == method) & ((frame["evaluator"] == evaluator) | (evaluator is None))]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.fixture
def circles():
    return make_circles(150, factor=0.6, noise=0.15, random_state=0)


def test_scores_are_those_of_pipelines_on_the_same_folds():
    X, y = load_wine(return_X_y=True)
    frame = compare(X, y, methods="gda", basis="kobl", evaluators="knn", knn=3, random_state=7)
    frame = frame[frame["evaluator"] == "knn"]
    by_hand = {"raw": [], "gda": []}
    second = []
    for train, test in folds_of(y, 5, seed=7):
        raw = make_pipeline(StandardScaler(), KNeighborsClassifier(3)).fit(X[train], y[train])
        by_hand["raw"].append(raw.score(X[test], y[test]))
        model = make_pipeline(StandardScaler(), GDA(basis="kobl"), KNeighborsClassifier(3)).fit(X[train], y[train])
        by_hand["gda"].append(model.score(X[test], y[test]))
        second.append(balanced_accuracy_score(y[test], model.predict(X[test])))
    for method, scores in by_hand.items():
        row = row_of(frame, method)
        np.testing.assert_allclose(row["scores"], scores, rtol=0, atol=1e-12)
        assert row["mean"] == pytest.approx(np.mean(scores))
        assert row["standard_error"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(5))
    assert row_of(frame, "gda")["second"] == pytest.approx(np.mean(second))
    assert row_of(frame, "gda")["basis"] == "kobl"


def test_numbers_are_evaluated_by_r2_and_squared_error():
    X, y = make_friedman1(120, noise=0.5, random_state=0)
    frame = compare(
        X,
        y,
        methods="kpls",
        basis="kobl",
        n_features=3,
        evaluators="linear",
        scale="min-max",
        test_share=0.25,
        repeats=3,
    )
    scores, errors = [], []
    for train, test in _core.splits(y, 0.25, repeats=3)[0]:
        model = make_pipeline(MinMaxScaler(), KPLS(3, basis="kobl"), LinearRegression()).fit(X[train], y[train])
        scores.append(model.score(X[test], y[test]))
        errors.append(root_mean_squared_error(y[test], model.predict(X[test])))
    row = row_of(frame, "kpls")
    np.testing.assert_allclose(row["scores"], scores, atol=1e-7)
    assert row["second"] == pytest.approx(np.mean(errors))
    assert (frame.attrs["measure"], frame.attrs["second"], frame.attrs["classes"]) == ("r2", "rmse", [])
    assert frame.attrs["splits"] == 3


def test_the_frame_has_a_row_a_candidate_best_first(circles):
    frame = compare(*circles, methods=["klfe", "koc", "kobl"], gamma=["scale", 0.5], n_features=[None, 2, 4], folds=3)
    assert list(frame.columns) == COLUMNS
    assert frame["mean"].is_monotonic_decreasing
    assert set(frame["method"]) == {"klfe", "koc", "kobl", "raw", "rbf-svm", "kknn", "dummy"}
    klfe = frame[frame["method"] == "klfe"]
    assert len(klfe) == 2 * 3 * 2
    assert set(klfe["gamma_rule"]) == {"scale", "0.5"}
    assert (klfe.loc[klfe["gamma_rule"] == "0.5", "gamma"] == 0.5).all()
    assert (klfe.loc[klfe["asked"] == 4, "n_features"] == 4).all()
    assert klfe["asked"].isna().sum() == 4
    assert (frame.loc[frame["method"] == "koc", "asked"].isna()).all()  # it has one size
    assert [str(frame[name].dtype) for name in ("asked", "gamma", "mean")] == ["Int64", "float64", "float64"]
    assert all(len(scores) == 3 for scores in frame["scores"])
    assert all(value is None for value in frame["failed"])
    assert row_of(frame, "rbf-svm")["basis"] is None
    attrs = frame.attrs
    assert (attrs["measure"], attrs["second"], attrs["classes"]) == ("accuracy", "balanced_accuracy", ["0", "1"])
    assert (attrs["splits"], attrs["rows"], attrs["inputs"], attrs["interrupted"]) == (3, 150, 2, False)
    assert attrs["warnings"] == []


def test_a_comparison_goes_straight_into_a_picture(circles):
    frame = compare(*circles, methods=["klfe", "gda"], n_features=[None, 1, 3], folds=3)
    ax = plot.path(frame)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"klfe", "gda", "rbf-svm", "raw, knn", "evaluator: ridge"} <= set(texts)
    assert ax.get_ylabel() == "accuracy"


def test_all_methods_serve_classes_and_some_serve_numbers():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows, for whom some methods have more to say
        frame = compare(X[::2], y[::2], folds=2, evaluators="knn")
    names = {spec["name"] for spec in mercer._catalogue.SPECS.values() if spec["stage"] != "select"}
    assert set(frame["method"]) == names | {"raw", "kknn", "rbf-svm", "dummy"}
    X, y = make_friedman1(60, random_state=0)
    assert {"eks", "kpls", "kpca", "kobl"} <= set(compare(X, y, folds=2, evaluators="knn")["method"])


def test_a_candidate_that_fails_says_why_and_stands_last():
    X, y = load_iris(return_X_y=True)
    frame = compare(X, y, methods=["gda", "kobl"], kernel="chi2", folds=3, evaluators="knn")  # scaled rows are below 0
    failed = frame[frame["method"].isin(["gda", "kobl"])]
    assert list(failed.index) == [5, 6]
    assert failed["mean"].isna().all()
    assert all("chi2" in text for text in failed["failed"])
    assert list(failed["scores"]) == [[], []]
    assert compare(X, y, methods=["gda"], kernel="chi2", scale="none", folds=3)["failed"].isna().all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "csr_array", "csr_matrix", "list", "float32"])
def test_any_kind_of_input_gives_the_same_scores(kind, circles):
    X, y = circles
    X = X.round(1)
    settings = {"methods": ["klfe", "sk-relief"], "folds": 3, "evaluators": "knn", "scale": "none", "gamma": 1.0}
    plain = compare(X, y, **settings)
    other = {
        "pandas": lambda: (pd.DataFrame(X, columns=["a", "b"]), pd.Series(y)),
        "polars": lambda: (pl.DataFrame(X, schema=["a", "b"]), pl.Series(y)),
        "csr_array": lambda: (sparse.csr_array(X), y),
        "csr_matrix": lambda: (sparse.csr_matrix(X), list(y)),
        "list": lambda: (X.tolist(), np.array(["no", "yes"])[y]),
        "float32": lambda: (X.astype(np.float32), y),
    }[kind]
    given = compare(*other(), **settings)
    if kind == "float32":
        assert row_of(given, "klfe")["mean"] == pytest.approx(row_of(plain, "klfe")["mean"], abs=0.05)
        return
    for method in ("raw", "klfe", "sk-relief"):
        one, two = (row_of(frame, method, "knn")["scores"] for frame in (given, plain))
        np.testing.assert_allclose(one, two, atol=1e-12)


def test_neither_threads_nor_time_change_scores_and_the_seed_does(circles):
    settings = {"methods": ["nystrom", "klfe"], "n_features": 5, "folds": 3, "evaluators": ["knn", "ridge"]}
    first, second, other = (
        compare(*circles, **settings, n_jobs=jobs, random_state=seed) for jobs, seed in ((1, 0), (3, 0), (-1, 1))
    )
    pd.testing.assert_frame_equal(first.drop(columns="fit_seconds"), second.drop(columns="fit_seconds"))
    assert [*first["scores"]] != [*other["scores"]]


def test_labels_may_be_said_to_be_numbers(circles):
    X, y = circles
    assert compare(X, y, methods="kpls", folds=3, task="numbers").attrs["measure"] == "r2"
    assert compare(X, y.astype(float), methods="kpls", folds=3).attrs["measure"] == "accuracy"


def test_evaluators_may_be_given_by_their_former_name(circles):
    new, old = (compare(*circles, methods="gda", folds=3, **{name: "knn"}) for name in ("evaluators", "judges"))
    assert set(old["evaluator"]) == set(new["evaluator"]) == {"knn", "kknn", "rbf-svm", "linear-svm", "dummy"}


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch, circles):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install mercer\[compare\]"):
        compare(*circles)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"methods": "kdla"}, ValueError, "`kdla` is not known; use one of"),
        ({"methods": [GDA()]}, ValueError, "methods has GDA"),
        ({"evaluators": "forest"}, ValueError, "evaluator = `forest` is not known"),
        ({"evaluators": []}, ValueError, "no evaluator was given"),
        ({"gamma": "wide"}, ValueError, "gamma"),
        ({"gamma": -1.0}, ValueError, "gamma"),
        ({"n_features": 0}, ValueError, "n_features = 0, but it must be a whole number of at least 1"),
        ({"n_features": [None, 2.5]}, ValueError, "n_features = 2.5"),
        ({"folds": 1}, ValueError, "folds = 1, but"),
        ({"folds": 1000}, ValueError, "1000 folds of 150 rows"),
        ({"knn": 0}, ValueError, "knn = 0"),
        ({"n_jobs": 0}, ValueError, "n_jobs = 0"),
        ({"scale": "log"}, ValueError, "scale = `log` is not known"),
        ({"kernel": "precomputed"}, ValueError, "precomputed"),
        ({"task": "ranks"}, ValueError, "task = `ranks` is not known"),
        ({"test_share": 1.5}, ValueError, "1.5"),
        ({"memory": 1000}, MemoryError, "hint"),
        ({"widht": 3}, TypeError, "unexpected keyword argument 'widht'"),
        ({"methods": "gda", "n_neighbors": 3}, ValueError, "`n_neighbors` is not a parameter of any method"),
        ({"basis": KernelBasis()}, ValueError, "names and numbers are needed here"),
    ],
)
def test_bad_arguments_are_refused_with_what_to_do(settings, error, words, circles):
    with pytest.raises(error, match=words):
        compare(*circles, **settings)


def test_bad_data_is_refused_with_the_place(circles):
    X, y = circles
    X = X.copy()
    with pytest.raises(ValueError, match="only one class"):
        compare(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="y is missing"):
        compare(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare(X, y[:-1])
    with pytest.raises(ValueError, match="columns of text cannot be compared as numbers: `b`"):
        compare(pd.DataFrame({"a": X[:, 0], "b": ["x"] * len(X)}), y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 4, column 2"):
        compare(X, y)


INTERRUPTED = """
import os, signal, sys, warnings
import numpy as np
import mercer
from sklearn.datasets import make_circles

X, y = make_circles({n}, factor=0.6, noise=0.15, random_state=0)

class Watch:
    def write(self, text):
        # "mercer: comparing: 12 of 3000"
        words = text.split()
        if "comparing:" in words and int(words[2]) >= {after}:
            os.kill(os.getpid(), signal.SIGINT)
    def flush(self):
        pass

sys.stderr = Watch()
try:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = mercer.compare(X, y, methods=["klfe", "gda"], repeats={repeats}, evaluators="knn", verbose=1)
    print("stopped" if frame.attrs["interrupted"] else "finished", len(frame["scores"][0]), caught[0].message)
except KeyboardInterrupt:
    print("raised")
print(mercer.KernelBasis(n_components=5).fit_transform(X).shape[1])  # the threads are free again
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_ctrl_c_gives_what_is_finished():
    code = INTERRUPTED.format(n=300, after=20, repeats=400)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    stopped, again = run.stdout.splitlines()
    word, count, message = stopped.split(maxsplit=2)
    assert word == "stopped"
    assert 0 < int(count) < 2_000
    assert message == f"the comparison was stopped: {count} of 2000 splits were finished"
    assert again == "5"


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_ctrl_c_before_anything_is_finished_is_raised():
    code = INTERRUPTED.format(n=5000, after=0, repeats=1)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert run.stdout.splitlines() == ["raised", "5"]
