"""Selectors as model files: what `save` writes, `load` reads and the command line shares."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import select

SELECTORS = [getattr(mercer, name) for name in select.__all__]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    return X, X[:, 3] + 0.3 * X[:, 1] > 0


def fitted(kind, X, y):
    target = X[:, 3] if kind is mercer.RReliefF else y
    return kind(2).fit(X, target)


@pytest.mark.parametrize("kind", SELECTORS, ids=lambda kind: kind.__name__)
def test_every_selector_comes_back_with_the_same_columns(kind, data, tmp_path):
    X, y = data
    selector = fitted(kind, X, y)
    selector.save(tmp_path / "own.mercer")
    mercer.save(selector, tmp_path / "by_function.mercer")
    assert (tmp_path / "own.mercer").read_bytes() == (tmp_path / "by_function.mercer").read_bytes()
    again = mercer.load(tmp_path / "own.mercer")
    assert isinstance(again, mercer.SelectedColumns)
    assert again.method == selector._called()
    np.testing.assert_array_equal(again.get_support(), selector.get_support())
    np.testing.assert_array_equal(again.get_support(indices=True), selector.get_support(indices=True))
    np.testing.assert_array_equal(again.scores, selector.scores_)
    np.testing.assert_array_equal(again.ranking, selector.ranking_)
    np.testing.assert_array_equal(again.get_feature_names_out(), selector.get_feature_names_out())
    assert (again.pvalues is None) == (not hasattr(selector, "pvalues_"))
    assert again.stability is None
    assert again.weights is None
    assert again.n_features_in_ == 6
    assert again.facts["settings"]["n_features"] == "2"

    kept = selector.get_support()
    for rows in (
        X,
        X.astype(np.float32),
        np.where(X > 1, np.nan, X),
        np.asfortranarray(X),
        np.arange(12).reshape(2, 6),
    ):
        got = again.transform(rows)
        assert got.dtype == rows.dtype
        assert got.tobytes() == np.ascontiguousarray(rows[:, kept]).tobytes()
    for form in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        for dtype in (np.float64, np.float32):
            rows = form(np.where(X > 0, X, 0).astype(dtype))
            got = again.transform(rows)
            assert sparse.issparse(got)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got.toarray(), rows.toarray()[:, kept])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector)).transform(X), selector.transform(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_are_matched_by_name(frame, data, tmp_path):
    X, y = data
    names = list("abcdef")
    mercer.ReliefF(2).fit(pd.DataFrame(X, columns=names), y).save(tmp_path / "kept.mercer")
    selected = mercer.load(tmp_path / "kept.mercer")
    kept = selected.get_feature_names_out().tolist()
    assert selected.feature_names_in_.tolist() == names
    assert len(kept) == 2
    assert "d" in kept
    wanted = X[:, selected.get_support()]
    there = dict(zip(names, X.T, strict=True))
    turned = frame({"id": np.arange(80), **{name: there[name] for name in reversed(names)}})
    np.testing.assert_array_equal(selected.transform(turned), wanted)
    # Others need not be there: that is what a selection is for.
    np.testing.assert_array_equal(selected.transform(frame({name: there[name] for name in kept})), wanted)
    np.testing.assert_array_equal(selected.transform(X), wanted)
    with pytest.raises(ValueError, match=r"1 of the model's 2 kept columns are missing: `d`\nhint"):
        selected.transform(frame({name: there[name] for name in kept if name != "d"}))
    with pytest.raises(ValueError, match="X has 5 features, but the columns were selected among 6\nhint"):
        selected.transform(X[:, :5])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_input_weights_are_multiplied_as_before(dtype, data, tmp_path):
    X, y = data
    rows = X.astype(dtype)
    weights = mercer.InputWeights(2).fit(rows, y)
    weights.save(tmp_path / "weights.mercer")
    again = mercer.load(tmp_path / "weights.mercer")
    assert again.method == "input-weights"
    assert repr(again).endswith("2 of 6 columns, weighted)")
    np.testing.assert_array_equal(again.scores, weights.weights_)
    np.testing.assert_array_equal(again.get_support(), weights.get_support())
    assert again.transform(rows).tobytes() == weights.transform(rows).tobytes()
    assert again.transform(rows).dtype == dtype
    csr = sparse.csr_array(np.where(rows > 0, rows, 0))
    np.testing.assert_array_equal(again.transform(csr).toarray(), weights.transform(csr).toarray())


def test_no_column_at_all_is_kept_as_such(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    mercer.FScore(mode="fwe", alpha=1e-9).fit(X, y).save(tmp_path / "none.mercer")
    none = mercer.load(tmp_path / "none.mercer")
    assert none.transform(X).shape == (40, 0)
    assert none.pvalues.shape == (3,)
    assert none.get_feature_names_out().tolist() == []
    assert not none.get_support().any()


def test_what_is_loaded_is_read_only_and_can_be_pickled_and_saved_again(data, tmp_path):
    X, y = data
    mercer.FScore(1).fit(X, y).save(tmp_path / "a.mercer")
    selected = mercer.load(tmp_path / "a.mercer")
    mercer.save(selected, tmp_path / "b.mercer")
    assert (tmp_path / "a.mercer").read_bytes() == (tmp_path / "b.mercer").read_bytes()
    for again in (pickle.loads(pickle.dumps(selected)), mercer.load(tmp_path / "b.mercer")):
        np.testing.assert_array_equal(again.transform(X), X[:, [3]])
        assert again.facts == selected.facts
    with pytest.raises(AttributeError, match="read-only"):
        selected.scores = None
    with pytest.raises(AttributeError, match="read-only"):
        del selected.scores
    with pytest.raises(AttributeError, match="without names"):
        _ = selected.feature_names_in_
    assert not hasattr(selected, "feature_names_in_")


def test_pipelines_and_what_is_not_fitted(data, tmp_path):
    X, y = data
    path = tmp_path / "kept.mercer"
    mercer.save(make_pipeline(mercer.FScore(1)).fit(X, y), path)
    np.testing.assert_array_equal(mercer.load(path).get_support(indices=True), [3])
    with pytest.raises(TypeError, match=r"StandardScaler → FScore cannot be saved.*\n.*a selector is saved alone"):
        mercer.save(make_pipeline(StandardScaler(), mercer.FScore(1)).fit(X, y), path)
    for estimator in (mercer.FScore(1), mercer.InputWeights(1)):
        with pytest.raises(ValueError, match="not fitted"):
            estimator.save(tmp_path / "nothing.mercer")
    assert not (tmp_path / "nothing.mercer").exists()
