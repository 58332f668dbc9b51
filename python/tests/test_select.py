"""Selectors: what they take, what they find, what they keep, what they refuse."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_iris, load_wine, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    KFFS,
    SURF,
    FScore,
    IRelief,
    LaplacianScore,
    LassoSelector,
    MultiSURF,
    MultiSURFStar,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
    SURFStar,
)

EPS = np.finfo(float).eps
RELIEFS = [Relief, ReliefF, RReliefF, IRelief, SURF, MultiSURF]
# They look for columns that matter together, and place one that matters alone last.
STARS = [SURFStar, MultiSURFStar]
# With classes and with numbers.
SUPERVISED = [*RELIEFS, KFFS, FScore, MutualInfo, LassoSelector]
SELECTORS = [*SUPERVISED, LaplacianScore]
NEED_CLASSES = [Relief, ReliefF, IRelief, KFFS]


def rows(n=120, p=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def labels(X):
    """Two columns that matter, each for itself."""
    return (X[:, 1] + X[:, 3] > 0).astype(int)


# What all of them do


@pytest.mark.parametrize("kind", SELECTORS)
def test_what_is_found_fits_together(kind):
    X = rows()
    selector = kind(2).fit(X, labels(X))
    p = X.shape[1]
    assert selector.scores_.shape == selector.ranking_.shape == selector.support_.shape == (p,)
    assert np.isfinite(selector.scores_).all()
    assert sorted(selector.ranking_) == list(range(1, p + 1))
    assert selector.ranking_.dtype == np.intp
    by_rank = selector.scores_[np.argsort(selector.ranking_)]
    assert kind is KFFS or (np.diff(by_rank) <= 0).all()  # KFFS ranks by the round
    assert selector.n_features_ == 2
    np.testing.assert_array_equal(selector.get_support(), selector.ranking_ <= 2)
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.get_support(indices=True)])
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(back, np.where(selector.get_support(), X, 0.0))


@pytest.mark.parametrize("kind", SUPERVISED)
def test_the_columns_that_matter_are_found(kind):
    X = rows(300)
    selector = kind(2).fit(X, labels(X))
    # KFFS weighs a column by the ensemble that it joined, so columns that came to a good one weigh more.
    found = selector.order_[:1] if kind is KFFS else selector.get_support(indices=True)
    assert set(found) <= {1, 3}


@pytest.mark.parametrize("kind", SELECTORS)
def test_the_number_of_features_is_a_number_a_share_positive_or_all(kind):
    X = rows(p=6)
    y = labels(X)

    def kept(n_features):
        return kind(n_features).fit(X, y).n_features_

    chosen = kept(None)
    assert chosen == 6 or kind is LassoSelector
    assert kept("all") == kept(1.0) == chosen
    assert kept(1) == kept(1e-9) == kept(1 / 6) == 1
    assert kept(0.5) == min(3, chosen)
    assert kept(np.float64(0.5)) == kept(np.int64(3)) == min(3, chosen)
    scores = kind().fit(X, y).scores_
    assert kept("positive") == (scores > 0).sum()
    with pytest.warns(UserWarning, match="n_features = 7, but there are only 6 columns; keeping all of them") as caught:
        selector = kind(7).fit(X, y)
    assert caught[0].filename == __file__
    assert selector.n_features_ == chosen


@pytest.mark.parametrize("kind", SELECTORS)
def test_sparse_rows_and_frames_are_the_same_rows(kind):
    X = np.where(rows() > 0.3, rows(), 0.0)
    y = labels(rows())
    expected = kind().fit(X, y)
    names = [f"c{j}" for j in range(X.shape[1])]
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    for given in [np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=0)[::2], *frames]:
        np.testing.assert_array_equal(kind().fit(given, y).scores_, expected.scores_)
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        selector = kind(2).fit(container(X), y)
        np.testing.assert_allclose(selector.scores_, expected.scores_, rtol=1e-9, atol=1e-12)
        kept = selector.transform(container(X))
        assert sparse.issparse(kept)
        np.testing.assert_array_equal(kept.toarray(), X[:, selector.get_support()])


@pytest.mark.parametrize("kind", SELECTORS)
def test_single_precision_is_computed_in_double_and_kept_as_it_is(kind):
    X = rows().astype(np.float32)
    y = labels(X)
    selector = kind(2).fit(X, y)
    np.testing.assert_array_equal(selector.scores_, kind(2).fit(X.astype(np.float64), y).scores_)
    assert selector.transform(X).dtype == np.float32


@pytest.mark.parametrize("kind", SUPERVISED)
def test_classes_may_come_as_anything(kind):
    X = rows()
    y = labels(X)
    expected = kind().fit(X, y).scores_
    for given in [
        y.astype(bool),
        y.astype(float),
        np.array(["no", "yes"])[y],
        np.array(["no", "yes"], dtype=object)[y],
        pd.Series(y).map({0: "no", 1: "yes"}).astype("category"),
        pl.Series(["no", "yes"]).gather(y),
        y.astype(np.uint8),
        list(y),
        10 * y - 3,
    ]:
        np.testing.assert_array_equal(kind().fit(X, given).scores_, expected)


@pytest.mark.parametrize("kind", SELECTORS)
def test_the_order_of_the_columns_is_the_order_of_the_scores(kind):
    X = rows()
    turned = np.ascontiguousarray(X[:, ::-1])
    expected = kind().fit(X, labels(X)).scores_
    scores = kind().fit(turned, labels(X)).scores_
    np.testing.assert_allclose(scores[::-1], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore:1 column is constant")
@pytest.mark.parametrize("kind", [kind for kind in SUPERVISED if kind is not KFFS])
def test_a_constant_column_is_no_better_than_noise(kind):
    X = rows()
    X[:, 2] = 7.0
    selector = kind(2).fit(X, labels(X))
    assert selector.scores_[2] <= 0
    assert not selector.get_support()[2]


def test_names_of_columns_are_kept():
    iris = load_iris(as_frame=True)
    selector = FScore(2).fit(iris.data, iris.target)
    names = ["petal length (cm)", "petal width (cm)"]
    assert list(selector.get_feature_names_out()) == names
    assert list(selector.set_output(transform="pandas").transform(iris.data).columns) == names
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(iris.data[iris.data.columns[::-1]])


def test_a_random_state_is_a_seed_with_a_default():
    X = rows(400)
    y = labels(X)

    def scores(random_state):
        return list(ReliefF(n_queries=50, random_state=random_state).fit(X, y).scores_)

    assert scores(None) == scores(0) == scores(None)
    assert scores(1) != scores(0)
    generator = np.random.RandomState(5)
    assert scores(generator) != scores(generator)


@pytest.mark.parametrize("kind", RELIEFS)
def test_a_sample_of_queries_comes_close_and_more_than_there_are_means_all(kind):
    X = rows(600)
    y = labels(X)
    everything = kind().fit(X, y)
    np.testing.assert_array_equal(kind(n_queries=600).fit(X, y).scores_, everything.scores_)
    some = kind(2, n_queries=200).fit(X, y)
    assert list(some.get_support(indices=True)) == [1, 3]
    assert (some.scores_ != everything.scores_).any()


@pytest.mark.parametrize("kind", [Relief, ReliefF, pytest.param(RReliefF, marks=pytest.mark.slow)])
def test_approximate_neighbours_say_how_many_they_found(kind):
    X = np.random.default_rng(0).normal(size=(45_000, 6))
    y = X[:, 1] * X[:, 3] > 0
    settings = {"n_neighbors": 10, "n_queries": 20_000}
    with pytest.warns(UserWarning, match=r"neighbours are approximate: \d+\.\d % of the true ones were found"):
        some = kind(2, neighbors="approx", **settings).fit(X, y)
    everything = kind(2, **settings).fit(X, y)
    assert list(some.get_support(indices=True)) == list(everything.get_support(indices=True)) == [1, 3]
    with pytest.raises(ValueError, match="'neighbors' parameter"):
        kind(neighbors="some").fit(X[:10], y[:10])


def test_approximate_neighbours_are_refused_where_there_is_no_index():
    X = rows(60)
    with pytest.raises(ValueError, match="without missing values"):
        ReliefF(neighbors="approx").fit(np.where(X > 2, np.nan, X), labels(X))


THREADED = """
import hashlib
import numpy as np
import mercer
from mercer._catalogue import stage

X = np.random.default_rng(0).normal(size=(700, 12))
X[:, 5] = X[:, 5].round()
y = (X[:, 0] * X[:, 1] > 0) + 2 * (X[:, 2] > 0)
for name in stage("select"):
    selector = mercer.select.named(name, None, 0).fit(X, y)
    print(name, hashlib.sha256(selector.scores_.tobytes() + selector.ranking_.tobytes()).hexdigest())
for system in (mercer.TAKES(20, weighted=False), mercer.KRelief(), mercer.SKRelief(), mercer.EKS("relieff")):
    system.fit(X, y)
    print(system, hashlib.sha256(system.scores_.tobytes() + system.transform(X).tobytes()).hexdigest())
"""


def test_one_and_two_threads_give_the_same_bits():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", THREADED],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MERCER_NUM_THREADS": threads},
        ).stdout
        for threads in "12"
    ]
    assert len(outputs[0].splitlines()) == 16 + 4
    assert outputs[0] == outputs[1]


def test_progress_goes_to_stderr_when_asked_for(capsys):
    X = rows(2_000, 100)
    IRelief(verbose=1).fit(X, labels(X))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("mercer: done in ")
    IRelief(n_queries=10).fit(X, labels(X))
    assert capsys.readouterr().err == ""


# The Relief family: interactions, missing values, categories


@pytest.mark.parametrize("kind", [ReliefF, RReliefF, SURF, MultiSURF, *STARS])
def test_columns_that_matter_together_are_found(kind):
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 6))
    y = (X[:, 0] * X[:, 4] > 0).astype(int)
    assert list(kind(2).fit(X, y).get_support(indices=True)) == [0, 4]
    assert list(FScore(2).fit(X, y).get_support(indices=True)) != [0, 4]
    if kind is not ReliefF:
        numbers = X[:, 0] * X[:, 4]
        assert list(kind(2).fit(X, numbers).get_support(indices=True)) == [0, 4]


@pytest.mark.parametrize("kind", STARS)
def test_far_rows_count_against_a_column_that_matters_alone(kind):
    X = rows(300)
    assert kind().fit(X, X[:, 2] > 0).ranking_[2] == 5
    assert MultiSURF().fit(X, X[:, 2] > 0).ranking_[2] == 1


def test_a_column_counts_the_same_in_any_unit():
    X = rows()
    y = labels(X)
    for kind in (ReliefF, RReliefF, SURF, MultiSURF, *STARS):
        np.testing.assert_allclose(
            kind().fit(X * [1, 1e6, 1e-6, 3, 1] - 5, y).scores_, kind().fit(X, y).scores_, rtol=1e-6, atol=1e-9
        )


def test_relieff_tells_three_classes_apart():
    wine = load_wine()
    relieff = ReliefF(3).fit(wine.data, wine.target)
    # Flavanoids and proline are what these wines are known by.
    assert {wine.feature_names[j] for j in relieff.get_support(indices=True)} >= {"flavanoids", "proline"}
    assert relieff.scores_.min() >= -1
    assert relieff.scores_.max() <= 1
    assert relieff.pvalues_[relieff.get_support()].max() < 1e-6
    # The classes' names do not matter, nor does their order.
    again = ReliefF(3).fit(wine.data, np.array(["c", "a", "b"])[wine.target])
    np.testing.assert_allclose(again.scores_, relieff.scores_, rtol=1e-12, atol=1e-15)


def test_relieff_pvalues_of_noise_are_not_small():
    X = rows(200, 20)
    y = np.random.default_rng(1).integers(2, size=200)
    assert np.median(ReliefF().fit(X, y).pvalues_) > 0.05


@pytest.mark.parametrize("kind", [Relief, IRelief])
def test_weights_are_the_positive_scores_at_length_one(kind):
    X = rows()
    selector = kind().fit(X, labels(X))
    positive = np.maximum(selector.scores_, 0)
    np.testing.assert_allclose(selector.weights_, positive / np.linalg.norm(positive), rtol=1e-9)


def test_relief_by_hand():
    X = np.array([[0.0, 0.0], [1.0, 5.0], [4.0, 1.0], [6.0, 6.0]])
    y = [0, 0, 1, 1]
    # Hits 1, 0, 3, 2; misses by distance: 2, 3 (√26; 2: 5), 0, 1.
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    miss = [2 + np.argmin(distances[0, 2:]), 2 + np.argmin(distances[1, 2:])]
    miss += [np.argmin(distances[2, :2]), np.argmin(distances[3, :2])]
    for power in (1, 2):
        z = np.abs(X - X[miss]) ** power - np.abs(X - X[[1, 0, 3, 2]]) ** power
        np.testing.assert_allclose(Relief(power=power).fit(X, y).scores_, z.mean(axis=0), rtol=4 * EPS)


def test_the_metric_changes_the_neighbours():
    X = rows(200)
    y = labels(X)
    for kind, own in [(Relief, "euclidean"), (ReliefF, "manhattan"), (MultiSURF, "manhattan"), (RReliefF, "manhattan")]:
        scores = {metric: kind(metric=metric).fit(X, y).scores_ for metric in (None, "euclidean", "manhattan")}
        np.testing.assert_array_equal(scores[None], scores[own])
        assert (scores["euclidean"] != scores["manhattan"]).any()


@pytest.mark.parametrize("kind", RELIEFS)
def test_missing_values_are_passed_over(kind):
    X = rows(300)
    y = labels(X)
    gaps = X.copy()
    gaps[np.random.default_rng(1).uniform(size=X.shape) < 0.1] = np.nan
    selector = (Relief(2, n_neighbors=10) if kind is Relief else kind(2)).fit(gaps, y)
    assert np.isfinite(selector.scores_).all()
    assert list(selector.get_support(indices=True)) == [1, 3]
    assert np.isnan(selector.transform(gaps)).any()
    if kind is IRelief:
        return  # Its first weights are shared among all columns, empty ones too.
    # Without gaps, the code for gaps finds the same.
    np.testing.assert_allclose(
        kind().fit(np.c_[X, np.full(300, np.nan)], y).scores_[:5], kind().fit(X, y).scores_, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kind", RELIEFS)
def test_a_column_or_a_row_without_values_does_no_harm(kind):
    X = rows()
    y = labels(X)
    X[:, 4] = np.nan
    X[7] = np.nan
    X[:30, 0] = np.nan
    selector = kind(2).fit(X, y)
    assert np.isfinite(selector.scores_).all()
    assert selector.scores_[4] == 0
    assert list(selector.get_support(indices=True)) == [1, 3]


@pytest.mark.parametrize("kind", RELIEFS)
def test_missing_values_of_sparse_rows_are_passed_over(kind):
    X = np.where(rows() > 0.5, rows(seed=1), 0.0)
    X[::7, 2] = np.nan
    y = labels(rows())
    np.testing.assert_allclose(
        kind().fit(sparse.csr_array(X), y).scores_, kind().fit(X, y).scores_, rtol=1e-9, atol=1e-12
    )


def mixed(seed=0, n=200):
    """Numbers, and a column of categories of which `b` goes with the labels."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 4))
    codes = generator.integers(4, size=n)
    X[:, 2] = codes
    return X, np.where(generator.uniform(size=n) < 0.1, 1 - (codes == 1), codes == 1).astype(int)


@pytest.mark.parametrize("kind", RELIEFS)
def test_other_numbers_for_the_same_categories_give_the_same_scores(kind):
    X, y = mixed()
    expected = kind(categorical_features=[2]).fit(X, y)
    assert expected.ranking_[2] <= 2
    other = X.copy()
    other[:, 2] = np.array([17.0, -3.0, 1e6, 0.5])[X[:, 2].astype(int)]
    np.testing.assert_array_equal(kind(categorical_features=[2]).fit(other, y).scores_, expected.scores_)
    assert (kind().fit(other, y).scores_ != expected.scores_).any()


@pytest.mark.parametrize("kind", RELIEFS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_categories_are_named_by_name_index_mask_or_type(kind, frame):
    X, y = mixed()
    expected = kind(categorical_features=[2]).fit(X, y).scores_
    text = [["x", "b", "y", "z"][int(code)] for code in X[:, 2]]
    data = frame({"a": X[:, 0], "b": X[:, 1], "kind": text, "d": X[:, 3]})
    for chosen in (["kind"], [2], np.array([2]), [False, False, True, False], "auto", np.array(["kind"])):
        selector = kind(categorical_features=chosen).fit(data, y)
        np.testing.assert_array_equal(selector.scores_, expected)
        assert list(selector.feature_names_in_) == ["a", "b", "kind", "d"]
    assert list(data["kind"]) == text  # the user's frame stays as it is
    for chosen in ([2], [False, False, True, False]):
        np.testing.assert_array_equal(kind(categorical_features=chosen).fit(X, y).scores_, expected)
        np.testing.assert_allclose(
            kind(categorical_features=chosen).fit(sparse.csr_array(X), y).scores_, expected, rtol=1e-9, atol=1e-12
        )
    for nothing in (None, []):
        np.testing.assert_array_equal(kind(categorical_features=nothing).fit(X, y).scores_, kind().fit(X, y).scores_)


def test_every_type_of_text_is_seen_as_such():
    X, y = mixed()
    text = np.array(["x", "b", "y", "z"])[X[:, 2].astype(int)]
    expected = ReliefF(categorical_features=[2]).fit(X, y).scores_
    numbers = {"a": X[:, 0], "b": X[:, 1]}
    last = {"d": X[:, 3]}
    for dtype in ("category", "object", "string", "str"):
        data = pd.DataFrame({**numbers, "kind": pd.Series(text).astype(dtype), **last})
        np.testing.assert_array_equal(ReliefF(categorical_features="auto").fit(data, y).scores_, expected)
    for dtype in (pl.String, pl.Categorical, pl.Enum(["x", "b", "y", "z"])):
        data = pl.DataFrame({**numbers, "kind": pl.Series(text.tolist(), dtype=dtype), **last})
        np.testing.assert_array_equal(ReliefF(categorical_features="auto").fit(data, y).scores_, expected)


@pytest.mark.parametrize("kind", RELIEFS)
def test_missing_categories_are_missing_values(kind):
    X, y = mixed()
    X[::9, 2] = np.nan
    expected = kind(categorical_features=[2]).fit(X, y).scores_
    text = [None if np.isnan(code) else "xbyz"[int(code)] for code in X[:, 2]]
    columns = {"a": X[:, 0], "b": X[:, 1], "kind": text, "d": X[:, 3]}
    frames = [pd.DataFrame(columns), pl.DataFrame(columns)]
    frames.append(frames[0].astype({"kind": "string"}))
    frames.append(frames[0].astype({"kind": "category"}))
    for data in frames:
        np.testing.assert_array_equal(kind(categorical_features="auto").fit(data, y).scores_, expected)


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_kept_columns_of_a_frame_keep_their_types(library, frame):
    X, y = mixed()
    text = ["xbyz"[int(code)] for code in X[:, 2]]
    data = frame({"a": X[:, 0], "b": X[:, 1], "kind": text, "d": X[:, 3]})
    selector = MultiSURF(3, categorical_features="auto").set_output(transform=library).fit(data, y)
    kept = selector.transform(data)
    assert isinstance(kept, frame)
    assert "kind" in kept.columns
    for name in kept.columns:
        assert kept[name].dtype == data[name].dtype
    assert list(kept["kind"]) == text


@pytest.mark.parametrize("chosen", [[4], [-1], ["none"], [True], [0.5], [[2]], [None]])
def test_categories_that_are_no_columns_are_refused(chosen):
    X, y = mixed()
    with pytest.raises(ValueError, match=r"categorical_features = .*, but there are 4 columns\nhint: "):
        Relief(categorical_features=chosen).fit(X, y)


@pytest.mark.parametrize("kind", NEED_CLASSES)
def test_a_class_of_one_row_is_warned_about_where_hits_matter(kind):
    X = rows()
    y = labels(X)
    y[5] = 9
    if kind is KFFS:
        assert np.isfinite(kind().fit(X, y).scores_).all()
        return
    with pytest.warns(UserWarning, match="have a single row") as caught:
        selector = kind().fit(X, y)
    assert len(caught) == 1
    assert np.isfinite(selector.scores_).all()


# KFFS


def test_kffs_takes_every_column_once_and_counts_its_errors():
    X = rows(200, 8)
    y = labels(X)
    kffs = KFFS(3).fit(X, y)
    assert sorted(kffs.order_) == list(range(8))
    assert kffs.error_path_.shape == (8,)
    counts = kffs.error_path_ * 200
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    error = np.clip(kffs.error_path_, 1e-10, 1 - 1e-10)
    np.testing.assert_allclose(kffs.scores_[kffs.order_], np.maximum(np.log((1 - error) / error), 0), rtol=1e-12)
    # The first is the best single column: least squares of ±1 on it.
    t = 2 * y - 1
    errors = [np.sum((np.polyval(np.polyfit(X[:, j], t, 1), X[:, j]) >= 0) != (t > 0)) for j in range(8)]
    assert kffs.order_[0] == np.argmin(errors)
    assert counts[0] == pytest.approx(min(errors))
    assert (KFFS(3, reweight=True).fit(X, y).order_ != kffs.order_).any()


def test_kffs_keeps_the_columns_taken_first():
    X = np.array([[0.0, 5.0, 1.0], [1.0, 5.0, 0.0], [0.0, 5.0, 1.0], [1.0, 5.0, 0.0]])
    kffs = KFFS(1).fit(X, [0, 1, 0, 1])
    assert kffs.order_[0] == 0
    assert list(kffs.get_support(indices=True)) == [0]
    np.testing.assert_array_equal(kffs.ranking_[kffs.order_], [1, 2, 3])


def test_kffs_weighs_columns_with_many_classes():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 10
    X = rng.normal(size=(10, 6))[y] + 0.3 * rng.normal(size=(300, 6))
    kffs = KFFS(3).fit(X, y)
    error = np.clip(kffs.error_path_, 1e-10, 1 - 1e-10)
    weight = np.maximum(np.log((1 - error) / error) + np.log(9), 0)
    np.testing.assert_allclose(kffs.scores_[kffs.order_], weight, rtol=1e-12)
    assert kffs.error_path_.min() > 0.5
    assert (kffs.scores_ > 0).all()


# Numbers and classes


def test_numbers_where_classes_are_needed_are_refused_with_a_hint():
    X = rows()
    for kind in NEED_CLASSES:
        with pytest.raises(ValueError, match=r"needs classes, but the target was read as numbers\nhint: "):
            kind().fit(X, X[:, 0])
        with pytest.raises(ValueError, match="needs at least 2 classes, but the target holds only one class: 1"):
            kind().fit(X, np.ones(len(X)))


def test_a_task_says_what_whole_numbers_are():
    X, target = make_friedman1(300, noise=0.5, random_state=0)
    y = (target / 3).round().astype(int) ** 2
    for kind in (FScore, MutualInfo, LassoSelector, RReliefF):
        numbers, classes = (kind(task=task).fit(X, y).scores_ for task in ("numbers", "classes"))
        assert (numbers != classes).any()
        np.testing.assert_array_equal(kind().fit(X, y).scores_, classes)
        np.testing.assert_array_equal(kind(task="numbers").fit(X, y.astype(float)).scores_, numbers)
    with pytest.raises(ValueError, match="'task' parameter"):
        FScore(task="ranks").fit(X, y)


def test_rrelieff_and_the_filters_find_what_a_number_depends_on():
    X, y = make_friedman1(500, n_features=10, noise=0.5, random_state=0)
    for selector in (RReliefF(4), MutualInfo(4), FScore(4), LassoSelector(4)):
        kept = set(selector.fit(X, y).get_support(indices=True))
        assert kept >= {0, 1, 3}
        assert kept <= set(range(5)) or isinstance(selector, FScore | LassoSelector)


# The filters


def test_what_the_test_keeps_is_cut_to_the_number_asked_for():
    X = rows(200, 30)
    y = X[:, 3] + X[:, 7] + X[:, 11] > 0
    chosen = FScore(mode="fdr").fit(X, y)
    assert set(chosen.get_support(indices=True)) >= {3, 7, 11}
    best = FScore(1, mode="fdr").fit(X, y)
    assert list(best.get_support(indices=True)) == [np.argmax(chosen.scores_)]
    strict = FScore(mode="fdr", alpha=1e-12).fit(X, y)
    assert strict.n_features_ <= chosen.n_features_


def test_nothing_kept_is_scikit_learns_warning():
    X = rows()
    y = np.random.default_rng(1).integers(2, size=len(X))
    selector = FScore(mode="fwe", alpha=1e-12).fit(X, y)
    assert selector.n_features_ == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (len(X), 0)
    data = pl.DataFrame(X, schema=list("abcde"))
    selector = selector.fit(data, y).set_output(transform="polars")
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(data).width == 0


def test_the_laplacian_score_needs_no_labels_and_does_not_look_at_them():
    X = rows()
    X[:60, 2] += 8
    score = LaplacianScore(1).fit(X)
    assert list(score.get_support(indices=True)) == [2]
    np.testing.assert_array_equal(LaplacianScore().fit(X, [None] * len(X)).scores_, score.scores_)
    assert (score.scores_ <= 0).all()
    X[:, 0] = 3.0
    assert LaplacianScore().fit(X).scores_[0] == -2


def test_lasso_is_stable_where_it_should_be():
    X = rows(200, 20)
    y = 2 * X[:, 4] - X[:, 11] + rows(200, 1, seed=1)[:, 0]
    lasso = LassoSelector(randomized=True).fit(X, y)
    assert set(lasso.get_support(indices=True)) >= {4, 11}
    assert ((lasso.scores_ >= 0) & (lasso.scores_ <= 1)).all()
    np.testing.assert_allclose(lasso.scores_ * 100, (lasso.scores_ * 100).round(), atol=1e-9)
    np.testing.assert_array_equal(lasso.get_support(), lasso.scores_ >= 0.6)
    strict = LassoSelector(randomized=True, threshold=1.0).fit(X, y)
    np.testing.assert_array_equal(strict.get_support(), strict.scores_ == 1)
    assert lasso.penalty_ == LassoSelector().fit(X, y).penalty_
    again = LassoSelector(randomized=True, random_state=1).fit(X, y)
    assert (again.scores_ != lasso.scores_).any()


def test_mutual_information_of_what_is_independent_is_small():
    X = rows(1_000, 2)
    y = np.sign(X[:, 0]).astype(int)
    scores = MutualInfo().fit(X, y).scores_
    assert scores[0] == pytest.approx(np.log(2), abs=0.05)
    assert 0 <= scores[1] < 0.05


# What is refused, and how


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (Relief(0), "'n_features' parameter"),
        (Relief(1.5), "'n_features' parameter"),
        (Relief(0.0), "'n_features' parameter"),
        (Relief("most"), "'n_features' parameter"),
        (Relief(True), "n_features = true, but it must be a whole number of at least 1, a share"),
        (Relief(n_neighbors=0), "'n_neighbors' parameter"),
        (Relief(power=3), "'power' parameter"),
        (Relief(power="1"), "'power' parameter"),
        (Relief(metric="cosine"), "'metric' parameter"),
        (ReliefF(n_queries=0), "'n_queries' parameter"),
        (RReliefF(sigma=0.0), "'sigma' parameter"),
        (RReliefF(sigma=np.inf), "'sigma' parameter"),
        (IRelief(width=-1.0), "'width' parameter"),
        (MultiSURF(random_state=-1), "'random_state' parameter"),
        (KFFS(reweight="yes"), "'reweight' parameter"),
        (FScore(mode="f"), "'mode' parameter"),
        (FScore(alpha=0.0), "'alpha' parameter"),
        (FScore(alpha=1.0), "'alpha' parameter"),
        (MutualInfo(n_neighbors=2.5), "'n_neighbors' parameter"),
        (LaplacianScore(verbose=-1), "'verbose' parameter"),
        (LassoSelector(cv=1), "'cv' parameter"),
        (LassoSelector(n_resamples=0), "'n_resamples' parameter"),
        (LassoSelector(threshold=1.5), "'threshold' parameter"),
    ],
)
def test_bad_settings_are_refused_in_words(selector, words):
    X = rows()
    with pytest.raises(ValueError) as refused:  # noqa: PT011 — the words are checked below
        selector.fit(X, labels(X))
    assert words in str(refused.value)


@pytest.mark.parametrize("kind", SELECTORS)
def test_bad_rows_and_labels_are_refused_in_words(kind):
    X = rows()
    y = labels(X)
    bad = X.copy()
    bad[3, 2] = np.inf
    with pytest.raises(ValueError, match="Input contains infinity"):
        kind().fit(bad, y)
    bad[3, 2] = np.nan
    if kind not in RELIEFS:
        with pytest.raises(ValueError, match="NaN at row 4, column 3"):
            kind().fit(bad, y)
    with pytest.raises(ValueError, match=r"1 sample\(s\)"):
        kind().fit(X[:1], y[:1])
    if kind is LaplacianScore:
        return
    with pytest.raises(ValueError, match="requires y to be passed"):
        kind().fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kind().fit(X, y[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        kind().fit(X, np.full(len(X), np.nan))
    if not getattr(kind, "_takes_several", False):
        with pytest.raises(ValueError, match="1d"):
            kind().fit(X, X)


def test_text_that_is_not_said_to_be_categories_is_refused():
    data = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "kind": ["x", "y", "x", "y"]})
    with pytest.raises(ValueError, match="columns of text cannot be compared as numbers: `kind`"):
        Relief().fit(data, [0, 1, 0, 1])


# The border


def test_every_selector_of_the_catalogue_is_a_class():
    from mercer._catalogue import SPECS, stage

    for name in stage("select"):
        selector = mercer.select.named(name, None, 0)
        assert selector._called() == name
        assert isinstance(selector, getattr(mercer, type(selector).__name__))
        # The defaults are the catalogue's.
        defaults = dict(selector._settings())
        for parameter in SPECS[name]["parameters"]:
            own = SPECS[name]["defaults"].get(parameter) or mercer._catalogue.PARAMETERS[parameter]["default"]
            given = defaults.get(parameter)
            assert given == own or float(given) == float(own), (name, parameter)


def test_neighbours_of_coordinates_are_sought_in_the_kernels_space():
    X = rows()
    y = labels(X)
    basis = mercer.KernelBasis("kpca", gamma=0.5, n_components=20)
    system = mercer.EKS(Relief(n_neighbors=3), basis=basis).fit(X, y)
    Z = system.basis_.transform(X)
    assert (Relief(n_neighbors=3).fit(Z, y).scores_ != system.scores_).any()
    # Neighbours of rbf are those of the rows themselves.
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")
    expected = np.zeros(20)
    for i, near in enumerate(order):
        hits, misses = near[y[near] == y[i]][:3], near[y[near] != y[i]][:3]
        expected += np.abs(Z[misses] - Z[i]).sum(axis=0) - np.abs(Z[hits[hits != i]] - Z[i]).sum(axis=0)
    np.testing.assert_allclose(system.scores_, expected / len(X), rtol=1e-9, atol=1e-12)


def test_scores_rank_as_the_literature_has_it():
    """Petals tell irises apart better than sepals."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for kind in SUPERVISED:
        if kind is not KFFS:
            assert set(kind(2).fit(X, y).get_support(indices=True)) == {2, 3}, kind
    between = [kind().fit(X, y).scores_ for kind in (FScore, MutualInfo, ReliefF)]
    for a in between:
        for b in between:
            assert stats.spearmanr(a, b).statistic > 0.7


def test_a_fit_that_fails_leaves_nothing_fitted():
    X, y = load_iris(return_X_y=True)
    selector = FScore(2).fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        selector.fit(X[:, :3], np.zeros(len(X), dtype=int))
    with pytest.raises(NotFittedError):
        selector.transform(X)


def test_text_in_a_frame_is_refused_by_name_with_the_way_out():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]})
    y = [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r'(?s)`colour`.*categorical_features="auto"'):
        ReliefF().fit(frame, y)
    assert ReliefF(n_neighbors=1, categorical_features="auto").fit(frame, y).scores_[1] == 1.0


def test_many_whole_numbers_are_numbers():
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = np.arange(120)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = RReliefF().fit(X, y).scores_
        np.testing.assert_array_equal(RReliefF(task="numbers").fit(X, y).scores_, scores)
    with pytest.warns(UserWarning, match="read as numbers: 60 whole numbers differ in 120 rows"):
        RReliefF().fit(X, y // 2)


def test_mutual_information_does_not_see_rounding():
    # Half of the values are zero but for rounding, which differs between two ways to compute the same column.
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    column = np.where(random.random(300) < 0.5, 0.0, random.normal(size=300) + y)
    noisy = np.where(column == 0, 1e-16 * random.normal(size=300), column)
    first, second = (MutualInfo().fit(c[:, None], y).scores_[0] for c in (column, noisy))
    assert first == pytest.approx(second, abs=1e-9)


def test_the_lasso_at_a_given_penalty_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(80, 12))
    y = 3 * X[:, 2] - 2 * X[:, 9] + np.random.default_rng(1).normal(size=80)
    for penalty in (0.05, 0.4):
        ours = LassoSelector(penalty=penalty).fit(X, y)
        theirs = np.abs(Lasso(alpha=penalty, tol=1e-12, max_iter=100_000).fit(X, y).coef_)
        assert ours.penalty_ == penalty
        np.testing.assert_allclose(ours.scores_, theirs, atol=1e-7)
        # On all rows, with columns as they are, every resample is that fit.
        always = LassoSelector(
            randomized=True, penalty=penalty, sample_fraction=1.0, scaling=0.0, n_resamples=5, threshold=1e-5
        ).fit(X, y)
        np.testing.assert_array_equal(always.scores_, theirs > 1e-9)


def test_the_randomized_lasso_of_the_thesis_can_be_asked_for():
    X = np.random.default_rng(0).normal(size=(80, 12))
    y = 3 * X[:, 2] - 2 * X[:, 9] + np.random.default_rng(1).normal(size=80)
    thesis = LassoSelector(
        randomized=True, n_resamples=6, threshold=1e-5, n_penalties=1000, sample_fraction=0.75, scaling=0.5
    ).fit(X, y)
    np.testing.assert_allclose(thesis.scores_ * 6, np.round(thesis.scores_ * 6), atol=1e-9)
    np.testing.assert_array_equal(thesis.support_, thesis.scores_ > 0)
    assert thesis.support_[[2, 9]].all()
    defaults = LassoSelector(randomized=True).fit(X, y)
    same = LassoSelector(randomized=True, sample_fraction=0.5, scaling=0.5, n_penalties=100).fit(X, y)
    np.testing.assert_array_equal(defaults.scores_, same.scores_)
    for bad in ({"sample_fraction": 0.0}, {"scaling": 1.0}, {"penalty": 0.0}, {"n_penalties": 1}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of LassoSelector"):
            LassoSelector(randomized=True, **bad).fit(X, y)
