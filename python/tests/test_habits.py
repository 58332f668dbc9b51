"""What users of scikit-learn try: importances, shares of neighbours, discrete columns, frames, tags."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel, mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from mercer import (
    EKS,
    KFFS,
    FScore,
    InputWeights,
    IRelief,
    LaplacianScore,
    LassoSelector,
    MultiSURF,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
)

SELECTORS = [
    *(Relief(), ReliefF(), RReliefF(task="numbers"), IRelief(), MultiSURF(), KFFS(), FScore(), MutualInfo()),
    *(LaplacianScore(), LassoSelector(), InputWeights()),
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
    # Three are left when the last of them is judged by the others.
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
