"""What users of scikit-learn try: importances, shares of neighbours, discrete columns, frames, tags."""

import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import mercer
from mercer import (
    AKDAQR,
    EKS,
    GDA,
    KANMM,
    KFFS,
    KLFE,
    KMFA,
    KOC,
    KPCA,
    KPLS,
    SKFE,
    SURF,
    TAKES,
    AutoClassifier,
    AutoFeatures,
    AutoRegressor,
    FScore,
    InputWeights,
    IRelief,
    KernelBasis,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KRelief,
    LaplacianScore,
    LassoSelector,
    MultiSURF,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
    SKRelief,
)

SELECTORS = [
    *(Relief(), ReliefF(), RReliefF(task="numbers"), IRelief(), MultiSURF(), KFFS(), FScore(), MutualInfo()),
    *(SURF(), LaplacianScore(), LassoSelector(), InputWeights()),
]
each = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)

X = np.random.default_rng(0).normal(size=(150, 6))
X[:, 1] += 3 * (X[:, 0] > 0)
Y = (X[:, 1] + X[:, 4] > 1.5).astype(int)


@each
def test_importances_have_the_order_of_the_ranking_and_none_is_negative(selector):
    selector = clone(selector)
    assert not hasattr(selector, "feature_importances_")
    selector.fit(X, Y)
    importances = selector.feature_importances_
    assert importances.min() >= 0
    assert np.isfinite(importances**2).all()
    best_first = importances[np.argsort(selector.ranking_)]
    assert (np.diff(best_first) <= 0).all()


@each
def test_features_are_eliminated_and_selected_by_importances(selector):
    left = RFE(clone(selector), n_features_to_select=3, step=1).fit(X, Y)
    assert left.get_support().sum() == 3
    best = clone(selector).fit(X, Y).ranking_.argmin()
    # Three are left when the last of them is predicted from the others.
    assert left.get_support()[best] or isinstance(selector, LaplacianScore | RReliefF)
    kept = SelectFromModel(clone(selector)).fit(X, Y)
    expected = kept.estimator_.feature_importances_
    np.testing.assert_array_equal(kept.get_support(), expected >= expected.mean())


def test_worse_than_chance_is_not_taken_for_important():
    labels = X[:, 2] * X[:, 3] > 0
    scores = ReliefF().fit(X, labels).scores_
    assert scores.min() < 0
    kept = SelectFromModel(ReliefF(), threshold="mean").fit(X, labels).get_support()
    np.testing.assert_array_equal(kept, scores >= scores.mean())


def test_importances_of_perfect_columns_are_finite():
    rows = np.column_stack([Y, Y, X[:, 0]]).astype(float)
    importances = FScore().fit(rows, Y).feature_importances_
    np.testing.assert_array_equal(importances[:2], 1e150)
    assert SelectFromModel(FScore()).fit(rows, Y).get_support().tolist() == [True, True, False]


@pytest.mark.parametrize(("kind", "share", "count"), [(Relief, 0.1, 7), (ReliefF, 0.2, 15), (RReliefF, 0.2, 30)])
def test_a_share_of_rows_is_a_number_of_neighbours(kind, share, count):
    by_share = kind(n_neighbors=share, task="classes").fit(X, Y)
    by_count = kind(n_neighbors=count, task="classes").fit(X, Y)
    assert by_share.n_neighbors_ == by_count.n_neighbors_ == count
    assert by_share.n_neighbors == share
    np.testing.assert_array_equal(by_share.scores_, by_count.scores_)


def test_a_share_is_at_least_one_neighbour_and_below_all_rows():
    assert ReliefF(n_neighbors=1e-6).fit(X, Y).n_neighbors_ == 1
    for wrong in (0, 0.0, 1.0, 1.5, -0.1):
        with pytest.raises(ValueError, match="n_neighbors"):
            ReliefF(n_neighbors=wrong).fit(X, Y)


def test_neighbours_are_no_more_than_a_row_can_have():
    labels = np.repeat([0, 1, 2], [60, 50, 40])
    # Of the largest class, a row has 59 hits, and rows of others have 60 misses.
    assert ReliefF(n_neighbors=100).fit(X, labels).n_neighbors_ == 60
    # The misses of a row of the smallest class are all rows of the others.
    assert Relief(n_neighbors=200).fit(X, labels).n_neighbors_ == 110
    selector = RReliefF(n_neighbors=5000).fit(X, X[:, 0])
    assert selector.n_neighbors_ == 149
    np.testing.assert_array_equal(selector.scores_, RReliefF(n_neighbors=149).fit(X, X[:, 0]).scores_)


def test_a_share_counts_in_a_system():
    by_share, by_count = (EKS(ReliefF(3, n_neighbors=k)).fit(X, Y) for k in (0.2, 15))
    np.testing.assert_array_equal(by_share.scores_, by_count.scores_)
    assert by_share.selector_.n_neighbors_ == 15


def test_a_fit_on_fewer_rows_counts_anew(tmp_path):
    selector = ReliefF(n_neighbors=0.2).fit(X, Y)
    assert selector.fit(X[:50], Y[:50]).n_neighbors_ == 5
    selector.save(tmp_path / "kept.mercer")


CODES = np.column_stack([Y, np.arange(150) % 3, np.random.default_rng(1).integers(0, 2, 150)]).astype(float)


def test_mutual_information_of_categories_and_classes_is_counted():
    found = MutualInfo(categorical_features=[0, 1, 2]).fit(CODES, Y)
    expected = [mutual_info_score(column, Y) for column in CODES.T]
    np.testing.assert_allclose(found.scores_, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.scores_, mutual_info_classif(CODES, Y, discrete_features=True), atol=1e-14)
    in_csr = MutualInfo(categorical_features=[0, 1, 2]).fit(sparse.csr_array(CODES), Y)
    np.testing.assert_array_equal(in_csr.scores_, found.scores_)


def test_mutual_information_of_categories_and_numbers_is_as_theirs():
    y = X[:, 2] + CODES[:, 0]
    found = MutualInfo(categorical_features=[True] * 3).fit(CODES, y)
    expected = mutual_info_regression(CODES, y, discrete_features=True, random_state=0)
    np.testing.assert_allclose(found.scores_, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_features", [None, 1, 2, 0.5, 1.0, "positive"])
def test_columns_of_both_kinds_are_ranked_together(n_features):
    rows = np.column_stack([X, CODES, np.ones(150)])
    plain = MutualInfo().fit(rows, Y).scores_
    found = MutualInfo(n_features, categorical_features=range(6, 10)).fit(rows, Y)
    np.testing.assert_array_equal(found.scores_[:6], plain[:6])
    assert found.scores_[9] == 0
    order = np.argsort(-found.scores_, kind="stable")
    np.testing.assert_array_equal(found.ranking_[order], np.arange(1, 11))
    count = {None: 10, "positive": (found.scores_ > 0).sum()}.get(n_features)
    if count is None:
        count = n_features if isinstance(n_features, int) else int(n_features * 10)
    assert set(found.get_support(indices=True)) == set(order[:count])
    # Without categories the library ranks.
    same = MutualInfo(n_features, categorical_features=[9]).fit(rows, Y)
    library = MutualInfo(n_features).fit(rows, Y)
    np.testing.assert_array_equal(same.ranking_, library.ranking_)
    np.testing.assert_array_equal(same.support_, library.support_)


def test_text_of_a_frame_is_told_by_auto():
    frame = pd.DataFrame({"number": X[:, 0], "word": pd.Categorical(np.where(Y, "yes", "no"))})
    found = MutualInfo(1, categorical_features="auto").fit(frame, Y)
    assert list(found.get_feature_names_out()) == ["word"]


FRAME = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
NUMBERS = X[:, 0] * 2.5
ESTIMATORS = [
    *(KernelBasis(n_components=3), KPCA(2), GDA(), KPLS(1), KLFE(1), SKFE(1), KOC(), AKDAQR(), KMFA(1), KANMM(1)),
    *(TAKES(1), KRelief(1), SKRelief(1), EKS(n_features=1), AutoFeatures(max_components=5)),
    *(AutoClassifier(max_components=5), AutoRegressor(max_components=5)),
    *(KernelNeighborsClassifier(), KernelNeighborsRegressor(), *SELECTORS),
]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def fitted(estimator, rows=FRAME):
    return clone(estimator).fit(rows, NUMBERS if "Regressor" in type(estimator).__name__ else Y)


def applied(estimator, rows):
    return (estimator.transform if hasattr(estimator, "transform") else estimator.predict)(rows)


@every
def test_missing_values_are_told_with_row_and_column(estimator):
    holes = FRAME.copy()
    holes.loc[3, "b"] = np.nan
    if get_tags(estimator).input_tags.allow_nan:
        applied(fitted(estimator, holes), holes)
        return
    with pytest.raises(ValueError, match=r"Input contains NaN at row 4, column 2 \(`b`\)"):
        fitted(estimator, holes)
    with pytest.raises(ValueError, match=r"Input contains NaN at row 4, column 2 \(`b`\)"):
        applied(fitted(estimator), holes)
    if get_tags(estimator).input_tags.sparse:
        with pytest.raises(ValueError, match="Input contains NaN at row 4, column 2"):
            fitted(estimator, sparse.csr_array(holes.to_numpy()))


@every
def test_infinity_is_told_with_row_and_column(estimator):
    holes = FRAME.copy()
    holes.loc[3, "b"] = np.inf
    for given in holes, pl.DataFrame(holes):
        with pytest.raises(ValueError, match=r"Input contains infinity at row 4, column 2 \(`b`\)"):
            fitted(estimator, given)
    if get_tags(estimator).input_tags.allow_nan:
        holes.loc[2, "a"] = np.nan  # a missing value, and no reason to refuse
        with pytest.raises(ValueError, match=r"infinity at row 4, column 2 \(`b`\); numbers, and NaN for missing"):
            fitted(estimator, holes)


@pytest.mark.parametrize("call", [mercer.compare, mercer.advise])
def test_comparisons_tell_missing_values_with_row_and_column(call):
    holes = pd.DataFrame(X.copy(), columns=list("abcdef"))  # pandas before 3 would write into X
    holes.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match=r"Input contains NaN at row 4, column 2 \(`b`\)"):
        call(holes, Y)


def test_constant_columns_of_an_f_test_are_named_in_a_warning():
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(c=1.0, e=-2.0)
    with pytest.warns(UserWarning, match="2 columns are constant, with a score of 0: `c`, `e`"):
        FScore(3).fit(frame, Y)
    for given in frame.to_numpy(), sparse.csr_array(frame.to_numpy()):
        with pytest.warns(UserWarning, match="2 columns are constant, with a score of 0: `2`, `4`"):
            FScore(3).fit(given, Y)
    with pytest.warns(UserWarning, match="1 column is constant, with a score of 0: `c`"):
        FScore(3).fit(frame[["a", "b", "c"]], Y)
    with pytest.warns(UserWarning, match="8 columns .*: `0`, `1`, `2`, `3`, `4`, …"):
        FScore(1).fit(np.column_stack([np.ones((150, 8)), X]), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        balanced = np.column_stack([X[:148], np.tile([1.0, -1.0], 74)])  # no mean differs, but it varies
        assert FScore(3).fit(balanced, np.repeat([0, 1], 74)).scores_[6] == 0.0


@pytest.mark.parametrize("selector", [FScore(0), FScore(0, mode="fdr"), MutualInfo(0), ReliefF(0)])
def test_no_features_are_refused_in_words(selector):
    with pytest.raises(ValueError, match=r"'n_features' parameter of .* must be an int in the range \[1, inf\)"):
        selector.fit(X, Y)


@every
@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_text_is_told_with_row_and_column(estimator, kind):
    words = FRAME.astype({"b": object})
    words.loc[0, "b"] = "1.5"  # which is a number
    words.loc[6, "b"] = "blue"
    if kind == "array":
        words, place = words.to_numpy(), "column 2 has 'blue' at row 7"
    else:
        words, place = words.astype({"b": str}), "`b` has 'blue' at row 7"
        words = words if kind == "pandas" else pl.DataFrame(words.to_dict("list"))
    with pytest.raises(ValueError, match=f"cannot be compared as numbers: {place}\nhint: .*TableEncoder"):
        fitted(estimator, words)


TIMES = {
    "datetime": (pd.Timestamp("2020-01-01"), "dates"),
    "zone": (pd.Timestamp("2020-01-01", tz="UTC"), "dates"),
    "period": (pd.Period("2020-01", "M"), "dates"),
    "timedelta": (pd.Timedelta(days=1), "durations"),
}
REMEDY = {"dates": "encode them .mercer.TableEncoder.", "durations": "make seconds of them"}


@every
@pytest.mark.parametrize("kind", TIMES)
def test_dates_are_refused_by_the_columns_name(estimator, kind):
    value, words = TIMES[kind]
    match = f"columns of {words} cannot be compared as numbers: `c`\nhint: {REMEDY[words]}"
    for given in FRAME.assign(c=value), pd.DataFrame({"c": [value] * len(FRAME)}):
        with pytest.raises(ValueError, match=match):
            fitted(estimator, given)


@pytest.mark.parametrize("call", [mercer.compare, mercer.advise, AutoClassifier().fit, Relief().fit])
def test_dates_are_refused_however_they_are_kept(call):
    date = pd.Timestamp("2020-01-01")
    words = "columns of dates cannot be compared as numbers: "
    labels = Y[: len(FRAME)]
    frame = FRAME.assign(c=date)
    for given, place in (
        (frame, "`c`"),
        (pl.DataFrame({"b": FRAME["b"].to_numpy(), "c": frame["c"].to_numpy()}), "`c`"),
        (frame[["c"]].to_numpy(), "X has the type datetime64"),
        (frame.to_numpy(dtype=object), "column 3 has `2020-01-01 00:00:00` at row 1"),
        (FRAME.assign(c=pd.Series([date.date()] * len(FRAME), dtype=object)), "`c` has `2020-01-01` at row 1"),
    ):
        with pytest.raises(ValueError, match=f"{words}{place}.*\nhint: encode them .mercer.TableEncoder."):
            call(given, labels)


def test_dates_are_not_categories_of_the_relief_family():
    frame = FRAME.assign(c=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match=r"columns of dates cannot be compared as numbers: `c`\nhint: .*TableEncoder"):
        ReliefF(categorical_features="auto").fit(frame, Y[: len(frame)])


@pytest.mark.parametrize("estimator", [mercer.KernelBasis(), mercer.KPCA(), mercer.AutoClassifier(), mercer.FScore(2)])
def test_estimators_name_what_fills_gaps(estimator):
    gaps = X.copy()
    gaps[3, 1] = np.nan
    for given in gaps, pd.DataFrame(gaps):
        with pytest.raises(ValueError, match=r"NaN at row 4, column 2.*\nhint: fill them \(mercer.TableEncoder does"):
            estimator.fit(given, Y)
    gaps[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity at row 4, column 2.*\nhint: fill or drop such rows first"):
        estimator.fit(gaps, Y)


def test_missing_values_of_pandas_among_objects_are_named():
    gaps = X.astype(object)
    gaps[3, 1] = pd.NA
    for estimator in mercer.GDA(), mercer.AutoClassifier(), mercer.FScore(2):
        with pytest.raises(ValueError, match=r"<NA> at row 4, column 2; only finite.*\nhint: fill them \(mercer.Table"):
            estimator.fit(gaps, Y)
    with pytest.raises(ValueError, match=r"<NA> at row 4, column 2 \(`b`\); numbers, and NaN .*\nhint: write NaN"):
        ReliefF().fit(pd.DataFrame(gaps, columns=list("abcdef")), Y)
    with pytest.raises(ValueError, match="<NA> at row 4, column 2"):
        mercer.GDA().fit(X, Y).transform(gaps)
    words = gaps.copy()
    words[:, 0] = np.where(Y == 0, "u", "v")
    names = mercer.TableEncoder().fit(words).get_feature_names_out()
    assert names.tolist()[:4] == ["x0=u", "x0=v", "x1", "x1 missing"]


@pytest.mark.parametrize("call", [mercer.compare, mercer.advise])
def test_comparisons_name_what_encodes_text_and_fills_gaps(call):
    frame = pd.DataFrame(X.copy(), columns=list("abcdef"))
    with pytest.raises(ValueError, match=r"`b` has 'blue' at row 1\nhint: encode them \(mercer.TableEncoder\)"):
        call(frame.assign(b="blue"), Y)
    frame.loc[3, "b"] = np.nan
    for given in frame, frame.to_numpy():
        with pytest.raises(ValueError, match=r"NaN at row 4, column 2.*\nhint: fill them \(mercer.TableEncoder does"):
            call(given, Y)


MISSING = {
    "NaN": lambda y: y.astype(float).where(y.index != 3),
    "NaN in an array": lambda y: y.astype(float).where(y.index != 3).to_numpy(),
    "NaN among text": lambda y: y.astype(str).astype(object).where(y.index != 3, np.nan),
    "NaN in a list": lambda y: [float("nan") if at == 3 else f"class {label}" for at, label in enumerate(y)],
    "None": lambda y: y.astype(str).astype(object).where(y.index != 3, None).to_numpy(),
    "None in polars": lambda y: pl.Series(y.astype(str).astype(object).where(y.index != 3, None).tolist()),
    "NA": lambda y: y.astype("Int64").where(y.index != 3).astype(str).astype("string").where(y.index != 3),
    "category": lambda y: y.astype("category").where(y.index != 3),
}


@pytest.mark.parametrize("call", [mercer.compare, mercer.advise, AutoClassifier().fit, FScore().fit, GDA().fit])
@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_told_with_its_row(call, kind):
    y = MISSING[kind](pd.Series(Y))
    what = "None" if "None" in kind else "<NA>" if kind == "NA" else "NaN"
    words = f"Input y contains {what} at row 4; 1 of {len(X)} labels is missing\nhint: drop such rows: keep = ~"
    with pytest.raises(ValueError, match=words):
        call(X, y)


@pytest.mark.parametrize("y", [np.where(Y == 0, np.nan, Y), pd.Series(Y).astype(float).where(Y != 0)])
def test_the_hint_for_missing_labels_drops_them(y):
    import numpy
    import pandas

    with pytest.raises(ValueError, match="labels are missing") as told:
        FScore(2).fit(X, y)
    mask, kept = str(told.value).split("keep = ")[1].split(", then ")
    keep = eval(mask, {"pandas": pandas, "y": y})
    rows, labels = (eval(part, {"numpy": numpy, "X": X, "y": y, "keep": keep}) for part in kept.split(" and "))
    assert len(rows) == len(labels) == (Y != 0).sum()


@every
def test_a_lazy_frame_is_refused_in_words(estimator):
    lazy = pl.DataFrame(FRAME.to_dict("list")).lazy()
    for call in (lambda: fitted(estimator, lazy), lambda: applied(fitted(estimator), lazy)):
        with pytest.raises(TypeError, match=r"LazyFrame as X, which is a plan.*\nhint: X.collect\(\) runs it"):
            call()
    if get_tags(estimator).target_tags.required:
        with pytest.raises(TypeError, match="LazyFrame as y"):
            clone(estimator).fit(FRAME, lazy)


@pytest.mark.parametrize("call", [mercer.compare, mercer.advise, KernelBasis().fit, KPCA().fit])
def test_lazy_labels_are_refused_in_words(call):
    with pytest.raises(TypeError, match="LazyFrame as y"):
        call(FRAME, pl.DataFrame({"y": Y}).lazy())


def test_lazy_categories_are_refused_in_words():
    lazy = pl.DataFrame(FRAME.to_dict("list")).lazy()
    with pytest.raises(TypeError, match="LazyFrame"):
        ReliefF(categorical_features="auto").fit(lazy, Y)
    with pytest.raises(TypeError, match="LazyFrame"):
        mercer.TableEncoder().fit(lazy)


def test_text_is_explained_by_what_a_selector_can_do():
    words = FRAME.assign(b="blue")
    with pytest.raises(ValueError, match='hint: categorical_features="auto" compares them as names; else encode'):
        ReliefF().fit(words, Y)
    with pytest.raises(ValueError, match="hint: encode them"):
        FScore().fit(words, Y)


@pytest.mark.parametrize(
    ("estimator", "pairwise", "accepts_sparse", "positive", "nan", "categorical", "needs_y"),
    [
        (KernelBasis(), False, True, False, False, False, False),
        (KernelBasis("csi"), False, True, False, False, False, True),
        (KernelBasis(kernel="precomputed"), True, False, False, False, False, False),
        (KPCA(kernel="chi2"), False, True, True, False, False, False),
        (KPCA(gamma="loo"), False, True, False, False, False, True),
        (GDA(kernel="precomputed"), True, False, False, False, False, True),
        (EKS("laplacian"), False, True, False, False, False, False),
        (ReliefF(), False, True, False, True, False, True),
        (ReliefF(categorical_features="auto"), False, True, False, True, True, True),
        (MutualInfo(categorical_features=[0]), False, True, False, False, True, True),
        (LaplacianScore(), False, True, False, False, False, False),
        (mercer.TableEncoder(), False, False, False, True, True, False),
    ],
)
def test_tags_say_what_is_taken(estimator, pairwise, accepts_sparse, positive, nan, categorical, needs_y):
    tags = get_tags(estimator)
    of_X = tags.input_tags
    assert (of_X.pairwise, of_X.sparse, of_X.positive_only) == (pairwise, accepts_sparse, positive)
    assert (of_X.allow_nan, of_X.categorical) == (nan, categorical)
    assert tags.target_tags.required == needs_y
    assert not tags.array_api_support


@pytest.mark.parametrize("estimator", [ReliefF(1), KernelBasis(n_components=2), GDA(), KernelNeighborsClassifier()])
def test_arrays_of_other_libraries_become_numpys_whatever_is_dispatched(estimator):
    other = pytest.importorskip("array_api_strict")
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("scikit-learn dispatches with SCIPY_ARRAY_API=1")
    expected = applied(fitted(estimator, X), X)
    with sklearn.config_context(array_api_dispatch=True):
        model = clone(estimator).fit(other.asarray(X), other.asarray(Y))
        found = applied(model, other.asarray(X))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, expected)


def loaded(estimator, tmp_path):
    mercer.save(estimator, tmp_path / "model.mercer")
    return mercer.load(tmp_path / "model.mercer")


@pytest.mark.parametrize("estimator", [KernelBasis(n_components=5), GDA(), ReliefF(2), InputWeights()])
def test_what_is_loaded_is_a_step_of_a_pipeline(estimator, tmp_path):
    step = loaded(estimator.fit(FRAME, Y), tmp_path)
    expected = np.asarray(step.transform(FRAME))
    model = make_pipeline(step, LogisticRegression()).fit(FRAME, Y)
    assert model[0] is step
    copy = clone(model)[0]
    assert copy is not step
    np.testing.assert_array_equal(np.asarray(copy.transform(FRAME)), expected)
    assert step.fit(FRAME[:5], Y[:5]) is step
    np.testing.assert_array_equal(np.asarray(step.fit_transform(FRAME, Y)), expected)
    np.testing.assert_array_equal(model.predict(FRAME), LogisticRegression().fit(expected, Y).predict(expected))
    check_is_fitted(step)
    assert not get_tags(step).requires_fit
    search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(FRAME, Y)
    np.testing.assert_array_equal(np.asarray(search.best_estimator_[0].transform(FRAME)), expected)
    for name in ("method", "_model", "_columns"):
        with pytest.raises(AttributeError, match=r"read-only|no attribute"):
            delattr(step, name)
    assert "FeatureMap" in repr(model) or "SelectedColumns" in repr(model)
    assert type(step).__name__ in model._repr_html_()


def test_what_is_loaded_predicts_at_the_end_of_a_pipeline(tmp_path):
    last = loaded(AutoClassifier(max_components=5).fit(FRAME, np.where(Y, "yes", "no")), tmp_path)
    model = make_pipeline(FunctionTransformer(), last).fit(FRAME, None)
    np.testing.assert_array_equal(model.predict(FRAME), last.predict(FRAME))


def test_the_width_is_an_attribute_of_every_extractor():
    for estimator in ESTIMATORS[1:14]:
        model = fitted(estimator)
        assert model.gamma_ == model.basis_.gamma_
