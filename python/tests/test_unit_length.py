"""Rows scaled to unit length: what scikit-learn's `Normalizer` does, inside a model."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler, normalize

import mercer
from mercer import GDA, AutoClassifier, AutoRegressor, KernelBasis

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
X[5] = 0.0  # a row of zeros stays zeros
UNIT = normalize(X)


@pytest.mark.parametrize("model", [AutoClassifier, AutoRegressor])
def test_predictions_are_those_of_rows_that_were_divided_before(model, tmp_path):
    settings = {"max_components": 40, "input_weights": True}
    inside = model(scale="unit", **settings).fit(X, Y)
    before = model(scale="none", **settings).fit(UNIT, Y)
    np.testing.assert_allclose(inside.predict(X), before.predict(UNIT), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(inside.predict(sparse.csr_array(X)), inside.predict(X), rtol=1e-9, atol=1e-9)
    mercer.save(inside, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_allclose(again.transform(X), inside.features_.transform(X), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_normalizer_becomes_part_of_a_model_file(dtype, tmp_path):
    rows = X.astype(dtype)
    pipeline = make_pipeline(Normalizer(), GDA(basis=KernelBasis("kobl", n_components=30))).fit(rows, Y)
    mercer.save(pipeline, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    expected = pipeline.transform(rows)
    assert again.transform(rows).dtype == dtype
    np.testing.assert_allclose(again.transform(rows), expected, rtol=0, atol=tolerance * np.abs(expected).max())
    thin = sparse.csr_array(rows)
    np.testing.assert_allclose(again.transform(thin), expected, rtol=0, atol=tolerance * np.abs(expected).max())


def test_advice_and_comparisons_take_it():
    advice = mercer.advise(X, Y, scale="unit")
    assert isinstance(advice.pipeline().steps[0][1], Normalizer)
    assert advice.code().startswith("make_pipeline(Normalizer(), ")
    settings = {"methods": ["gda", "kobl"], "evaluators": ["knn"], "gamma": 1.0, "folds": 3}
    inside = mercer.compare(X, Y, scale="unit", **settings)
    before = mercer.compare(UNIT, Y, scale="none", **settings)
    assert list(inside["method"]) == list(before["method"])
    assert list(inside["mean"]) == pytest.approx(list(before["mean"]))


def test_what_one_scaling_cannot_do_is_refused(tmp_path):
    model = make_pipeline(StandardScaler(), AutoClassifier(scale="unit", max_components=20)).fit(X, Y)
    with pytest.raises(ValueError, match=r"divides rows by their length.*\nhint: "):
        mercer.save(model, tmp_path / "model.mercer")
    other = make_pipeline(Normalizer("l1"), KernelBasis(n_components=5)).fit(X)
    with pytest.raises(TypeError, match="Normalizer → KernelBasis cannot be saved"):
        mercer.save(other, tmp_path / "model.mercer")
    with pytest.raises(ValueError, match="'scale' parameter of AutoClassifier"):
        AutoClassifier(scale="length").fit(X, Y)
    with pytest.raises(ValueError, match="use one of standard, min-max, unit, none"):
        mercer.advise(X, Y, scale="length")


def test_min_max_is_called_as_everywhere():
    """`minmax`, which was allowed before, was refused inside."""
    assert AutoClassifier(scale="min-max", max_components=20).fit(X, Y).score(X, Y) > 0.8
