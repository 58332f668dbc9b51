"""Features without choices are those that the advice recommends, and serve a plain model."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_circles, make_friedman1, make_moons
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import mercer
from mercer import AutoFeatures, KernelBasis, advise, plot


@pytest.fixture
def circles():
    return make_circles(200, factor=0.6, noise=0.12, random_state=0)


SETS = {
    "circles": lambda: make_circles(300, factor=0.6, noise=0.12, random_state=0),
    "moons": lambda: make_moons(300, noise=0.2, random_state=1),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: tuple(part[:400] for part in load_digits(return_X_y=True)),
}


@pytest.mark.parametrize("name", SETS)
def test_ridge_on_them_is_as_good_as_a_searched_support_vector_machine(name):
    X, y = SETS[name]()
    ours = cross_val_score(make_pipeline(StandardScaler(), AutoFeatures(), RidgeClassifier()), X, y, cv=3)
    grid = {"svc__C": [1, 10, 100], "svc__gamma": ["scale", 0.01, 0.1, 1.0]}
    theirs = cross_val_score(GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3), X, y, cv=3)
    assert ours.mean() > theirs.mean() - 0.04


def test_numbers_are_served_too():
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    ours = cross_val_score(make_pipeline(StandardScaler(), AutoFeatures(), Ridge()), X, y, cv=3)
    theirs = cross_val_score(make_pipeline(StandardScaler(), SVR(C=10)), X, y, cv=3)
    assert ours.mean() > theirs.mean() - 0.02


def test_they_are_the_features_of_the_advice_times_one_number(circles):
    X, y = circles
    # Advice alone does not weight columns.
    auto = AutoFeatures(input_weights=False).fit(X, y)
    advice = advise(X, y, scale="none")
    # Rows are held out for advice alone.
    assert (auto.advice_.headline, advice.headline) == (
        "By leave-one-out errors a kernel helps here; no rows were held out to confirm it.",
        "A kernel helps here.",
    )
    advice.headline = auto.advice_.headline
    advice.findings = [finding for finding in advice.findings if finding.name != "rows held out"]
    assert str(auto.advice_) == str(advice)
    estimator = advice.estimator().fit(X, y)
    Z, expected = auto.transform(X), estimator.transform(X)
    factor = np.linalg.norm(Z) / np.linalg.norm(expected)
    np.testing.assert_allclose(Z, factor * expected, atol=1e-9 * factor)
    basis = getattr(estimator, "basis_", estimator)
    np.testing.assert_allclose(auto.basis_.transform(X), basis.transform(X), atol=1e-12)
    np.testing.assert_array_equal(auto.basis_.pivots_, basis.pivots_)
    assert auto.basis_.residual_ == pytest.approx(basis.residual_)
    assert auto.basis_.reconstruction_cost(X) == pytest.approx(basis.reconstruction_cost(X))
    assert (auto.method_, auto.gamma_, auto.kernel_) == (advice.method, basis.gamma_, basis.kernel)
    assert auto.inner_scores_ == advice.inner
    assert auto.n_components_ == Z.shape[1]
    assert list(auto.get_feature_names_out()) == list(estimator.get_feature_names_out())


@pytest.mark.parametrize("name", ["circles", "wine"])
def test_a_penalty_of_one_is_right_for_ridge(name):
    X, y = SETS[name]()
    Z = AutoFeatures().fit(StandardScaler().fit_transform(X), y).transform(StandardScaler().fit_transform(X))
    one_hot = (y[:, None] == np.unique(y)).astype(float)
    search = RidgeCV(alphas=np.logspace(-4, 4, 33)).fit(Z, one_hot)
    at_one = RidgeCV(alphas=[1.0]).fit(Z, one_hot)
    assert at_one.best_score_ > search.best_score_ - 0.05 * abs(search.best_score_)
    assert RidgeClassifierCV(alphas=[1.0]).fit(Z, y).score(Z, y) > 0.9


def test_rows_are_never_scaled(circles):
    X, y = circles
    auto = AutoFeatures(input_weights=False).fit(X, y)
    assert auto._model.scaling is None
    assert auto.advice_.scale == "none"
    wide = AutoFeatures(input_weights=False).fit(1000 * X, y)
    if auto.kernel_ == wide.kernel_ == "rbf":
        assert wide.gamma_ == pytest.approx(1e-6 * auto.gamma_, rel=1e-3)


def test_a_file_keeps_them(tmp_path):
    wine = load_wine(as_frame=True)
    model = make_pipeline(StandardScaler(), AutoFeatures()).fit(wine.data, wine.target)
    mercer.save(model, tmp_path / "auto.mercer")
    loaded = mercer.load(tmp_path / "auto.mercer")
    np.testing.assert_allclose(loaded.transform(wine.data), model.transform(wine.data), atol=1e-9)
    assert list(loaded.feature_names_in_) == wine.feature_names
    assert loaded.method == model[-1].method_
    mercer.save(model[-1], tmp_path / "bare.mercer")
    scaled = model[0].transform(wine.data)
    np.testing.assert_allclose(
        mercer.load(tmp_path / "bare.mercer").transform(scaled), model[-1].transform(scaled), atol=1e-12
    )


def test_importance_inverse_copies_and_frames(circles):
    X, y = circles
    auto = AutoFeatures(random_state=0).fit(X, y)
    importance = auto.input_importance(pd.DataFrame(X, columns=["a", "b"]).to_numpy())
    assert importance.shape == (auto.n_components_, 2)
    copy = pickle.loads(pickle.dumps(auto))
    np.testing.assert_array_equal(copy.transform(X), auto.transform(X))
    again = clone(auto)
    assert not hasattr(again, "advice_")
    np.testing.assert_array_equal(again.fit(X, y).transform(X), auto.transform(X))
    for frame in pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"]):
        named = AutoFeatures().fit(frame, y)
        assert list(named.feature_names_in_) == ["a", "b"]
        np.testing.assert_array_equal(named.transform(frame), auto.transform(X))
        assert list(named.input_importance(frame).columns)[-2:] == ["a", "b"]
    assert auto.transform(X.astype(np.float32)).dtype == np.float32


def test_sparse_rows_are_taken():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    rows = sparse.csr_array(X)
    auto = AutoFeatures().fit(rows, y)
    assert sparse.issparse(auto.basis_.landmarks_)
    np.testing.assert_allclose(auto.transform(rows), auto.transform(rows.tocsr()), atol=0)
    dense = auto.transform(sparse.csr_array(X[:5]))
    np.testing.assert_allclose(dense, auto.transform(rows)[:5], atol=1e-12)


def test_a_cap_on_the_components_is_kept(circles):
    X, y = circles
    auto = AutoFeatures(max_components=7).fit(X, y)
    assert auto.basis_.n_components_ <= 7
    assert isinstance(auto.basis_, KernelBasis)


def test_classes_may_be_said_to_be_numbers(circles):
    X, y = circles
    auto = AutoFeatures(task="numbers").fit(X, y)
    assert auto.method_ in ("kobl", "kpls")


def test_pictures_are_drawn_of_them(circles):
    X, y = circles
    model = make_pipeline(StandardScaler(), AutoFeatures(), RidgeClassifier()).fit(X, y)
    ax = plot.features(model, X, y)
    assert ax.get_xlabel().startswith(model[1].method_)
    assert len(plot.residual(model).lines) == 1
    assert len(plot.importance(model, X).patches) == 2


INTERRUPTED = """
import os, signal, sys, time
import numpy as np
from mercer import AutoFeatures

X = np.random.default_rng(0).normal(size=(20_000, 20))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
sent = []

class Watch:
    def write(self, text):
        if "sizes" in text:
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
    def flush(self):
        pass

sys.stderr = Watch()
auto = AutoFeatures(verbose=1)
try:
    auto.fit(X, y)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - sent[0], hasattr(auto, "advice_"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_ctrl_c_stops_a_fit_within_seconds():
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=100, check=True)
    word, seconds, fitted = run.stdout.split()
    assert (word, fitted) == ("stopped", "False")
    assert float(seconds) < 3


def test_bad_arguments_are_refused(circles):
    X, y = circles
    with pytest.raises(ValueError, match="max_components"):
        AutoFeatures(max_components=0).fit(X, y)
    with pytest.raises(ValueError, match="minimum of 6 is required"):
        AutoFeatures().fit(X[:5], y[:5])
    with pytest.raises(ValueError, match="only one class"):
        AutoFeatures().fit(X, np.zeros(len(X), dtype=int))
    bad = X.copy()
    bad[2, 0] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        AutoFeatures().fit(bad, y)


def test_weights_do_not_make_noise_look_right_on_inner_folds():
    # By chance weights seem to help here. Each inner fold learns its own, without the rows that are tested.
    X, y = np.random.default_rng(3).normal(size=(60, 400)), np.arange(60) % 2
    features = AutoFeatures(random_state=3).fit(X, y)
    assert features.input_weights_.std() > 0.1
    assert max(score for _, score, _ in features.inner_scores_) < 0.75
    assert "columns are weighted" in features.advice_.reasons[0]


def test_columns_that_say_nothing_are_warned_of():
    with pytest.warns(UserWarning, match="features will hardly help: all columns are constant"):
        AutoFeatures().fit(np.ones((20, 3)), np.arange(20) % 2)
    X = np.repeat(np.random.default_rng(0).normal(size=(15, 3)), 2, axis=0)  # every row with both labels
    with pytest.warns(UserWarning, match="no better than by the mean .*: the columns may not say anything"):
        AutoFeatures(input_weights=False).fit(X, np.arange(30) % 2)
