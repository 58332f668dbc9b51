"""Advice is about the data, and can be followed."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_circles, make_friedman1
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

import mercer
from mercer import GDA, KLFE, KPLS, KernelBasis, advise
from mercer._catalogue import PARAMETERS, SPECS, as_text, stage
from mercer._named import estimator_of, value_of


@pytest.fixture
def circles():
    return make_circles(200, factor=0.6, noise=0.12, random_state=0)


def lines(n=200):
    """Return rows and numbers that are linear in them but for noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(scale=0.5, size=n)


def test_a_kernel_helps_on_circles_and_not_on_lines(circles):
    assert advise(*circles).verdict == "helps"
    X, y = lines()
    for labels in y, (y > 0).astype(int):
        advice = advise(X, labels)
        assert advice.verdict in ("makes no difference", "hurts")
        assert advice.settings["kernel"] == "linear"
        assert "gamma" not in advice.settings
        assert str(advice).startswith("A kernel ")


@pytest.mark.filterwarnings("ignore:n_components = .*, but there are only 160 rows")  # the folds have fewer
def test_advice_followed_is_better_than_the_columns(circles):
    X, y = circles
    advice = advise(X, y)
    raw = cross_val_score(make_pipeline(StandardScaler(), RidgeClassifier()), X, y).mean()
    model = make_pipeline(advice.pipeline(), RidgeClassifier(alpha=1e-3))
    assert cross_val_score(model, X, y).mean() > raw + 0.25


@pytest.mark.parametrize("method", [*stage("system"), *stage("extract")])
def test_an_estimator_takes_the_settings_that_advice_reads(method, circles):
    defaults = {name: text for name, text in SPECS[method]["defaults"].items() if text}
    estimator = estimator_of(method, {name: value_of(name, text) for name, text in defaults.items()})
    assert estimator.fit(*circles).transform(circles[0]).shape[0] == 200


def test_what_was_seen_is_there(circles):
    advice = advise(*circles)
    assert advice.loo_by_gamma.shape == (8, 2)
    assert advice.alignments.shape == (8, 2)
    assert advice.loo_by_size.shape[1] == 2
    assert (np.diff(advice.loo_by_gamma[:, 0]) > 0).all()
    assert [mean for _, mean, _ in advice.inner] == sorted((mean for _, mean, _ in advice.inner), reverse=True)
    assert {"raw", advice.method} <= {name for name, _, _ in advice.inner}
    assert advice.rows == 200
    assert advice.scale == "standard"
    assert all(finding.name and finding.value and finding.meaning for finding in advice.findings)


def test_the_estimator_is_that_of_the_settings_and_new_at_every_call(circles):
    advice = advise(*circles)
    estimator = advice.estimator()
    assert type(estimator) in (GDA, KLFE, KernelBasis)
    basis = estimator if isinstance(estimator, KernelBasis) else estimator.basis
    assert basis.gamma == advice.settings["gamma"]
    assert basis.method == "kfa"
    assert basis.n_components == advice.settings.get("basis_components", advice.settings.get("n_components"))
    assert advice.estimator() is not estimator
    with pytest.raises(Exception, match="not fitted"):
        check_is_fitted(estimator)


def test_the_code_that_is_printed_makes_the_pipeline(circles):
    advice = advise(*circles)
    names = {"make_pipeline": make_pipeline, "StandardScaler": StandardScaler, **vars(mercer)}
    made = eval(advice.code(), names)
    assert repr(clone(made)) == repr(advice.pipeline())
    assert advice.code() in str(advice)
    assert advice.code() in repr(advice)
    assert all(" ".join(reason.split()) in " ".join(str(advice).split()) for reason in advice.reasons)
    html = advice._repr_html_()
    assert html.startswith("<div>")
    assert "<td>ridge</td>" in html
    assert "'laplacian'" not in html  # quotes are escaped


@pytest.mark.parametrize("scale", ["standard", "min-max", "none"])
def test_the_pipeline_scales_as_the_advice_did(scale, circles):
    X, y = circles
    kinds = {"standard": [StandardScaler], "min-max": [MinMaxScaler], "none": []}[scale]
    pipeline = advise(X * [1.0, 3.0], y, scale=scale).pipeline()
    assert [type(step) for step in pipeline[:-1]] == kinds
    assert len(pipeline.fit(X, y).transform(X)) == len(X)
    kinds = {"standard": [StandardScaler], "min-max": [MaxAbsScaler], "none": []}[scale]
    rows = sparse.csr_array(X)
    pipeline = advise(rows, y, scale=scale).pipeline()
    assert [type(step) for step in pipeline[:-1]] == kinds
    assert len(pipeline.fit(rows, y).transform(rows)) == len(X)


def test_numbers_have_advice_too():
    X, y = make_friedman1(150, random_state=0)
    advice = advise(X, y)
    assert advice.verdict == "helps"
    assert isinstance(advice.estimator(), KPLS | KernelBasis)
    X, y = make_circles(100, random_state=0)
    assert {name for name, _, _ in advise(X, y, task="numbers").inner} == {"kfa", "kpls", "raw"}


def test_the_same_data_has_the_same_advice_in_any_form(circles):
    X, y = circles
    plain = str(advise(X, y))
    assert str(advise(pd.DataFrame(X), pd.Series(y))) == plain
    assert str(advise(pl.DataFrame(X), pl.Series(y))) == plain
    assert str(advise(X.tolist(), np.array(["in", "out"])[y])) == plain
    assert str(pickle.loads(pickle.dumps(advise(X, y)))) == plain


def test_data_that_cannot_be_advised_on_is_refused(circles):
    X, y = circles
    with pytest.raises(ValueError, match="at least 6 rows"):
        advise(X[:4], y[:4])
    with pytest.raises(ValueError, match="only one class"):
        advise(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="scale = `log`"):
        advise(X, y, scale="log")
    with pytest.raises(ValueError, match="y is missing"):
        advise(X, None)
    bad = X.copy()
    bad[0, 0] = np.inf
    with pytest.raises(ValueError, match="row 1, column 1"):
        advise(bad, y)


@pytest.mark.parametrize("method", [name for name, spec in SPECS.items() if spec["stage"] != "select"])
def test_every_method_is_an_estimator_by_its_name(method):
    X, y = load_iris(return_X_y=True)
    estimator = estimator_of(method, {"gamma": 0.1, "seed": 3} if "seed" in SPECS[method]["parameters"] else {})
    few = {"skfe": {"max_iter": 5, "tol": 1.0}, "k-relief": {"n_features": 10}}.get(method, {})
    estimator.set_params(**few).fit(X, y)
    basis = getattr(estimator, "basis_", estimator)
    assert estimator.transform(X).shape == (150, estimator.n_components_)
    if "seed" in SPECS[method]["parameters"]:
        assert basis.gamma_ == 0.1
        assert basis.random_state == 3


def test_settings_go_to_the_method_or_to_its_basis():
    settings = {
        "basis": "sparse",
        "basis_components": 7,
        "n_components": 2,
        "n_neighbors": 3,
        "kernel": "rq",
        "nu": 0.2,
    }
    klfe = estimator_of("klfe", settings)
    assert (klfe.n_components, klfe.n_neighbors) == (2, 3)
    assert (klfe.basis.method, klfe.basis.n_components, klfe.basis.kernel, klfe.basis.nu) == ("sparse", 7, "rq", 0.2)
    takes = estimator_of("takes", {"n_features": 0.5, "n_components": 9})
    assert (takes.n_features, takes.basis.n_components) == (0.5, 9)
    assert estimator_of("gda", {"reg": 0.1}).basis is None


@pytest.mark.parametrize("name", [name for name in PARAMETERS if PARAMETERS[name]["default"] is not None])
def test_texts_of_parameters_are_read_as_the_catalogue_reads_them(name):
    text = PARAMETERS[name]["default"]
    value = value_of(name, text)
    assert type(value) in (int, float, str, bool)
    again = value_of(name, as_text(value))
    assert again == value


def test_values_of_parameters_have_their_types():
    assert value_of("threshold", "power:0.5") == ("power", 0.5)
    assert value_of("gamma", "loo") == "loo"
    assert isinstance(value_of("n_features", "3"), int)
    assert isinstance(value_of("n_neighbors", "3"), int)
    assert isinstance(value_of("n_neighbors", "0.1"), float)
    assert value_of("n_features", "0.25") == 0.25
    assert value_of("weighted", "true") is True
    assert value_of("power", "2") == 2


@pytest.mark.parametrize("seed", [-1, 2**64])
@pytest.mark.parametrize("function", [mercer.advise, mercer.compare])
def test_a_seed_out_of_range_is_refused_in_words(function, seed):
    with pytest.raises(ValueError, match="a seed lies between 0 and"):
        function(np.eye(8), [0, 1] * 4, random_state=seed)


def test_what_chance_predicts_makes_no_difference():
    rng = np.random.default_rng(5002)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    advice = mercer.advise(X, y)
    assert advice.headline == "Nothing here predicts the labels better than chance."
    assert advice.verdict == "makes no difference"
    assert "is chance" in advice.reasons[-1]
    assert not any("carry the labels" in finding.meaning for finding in advice.findings)
