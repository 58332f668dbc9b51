"""What scikit-rebate's tests look at, on mercer's classes. Its tests and their data are not in its wheel.

They fit every selector on genotypes with an interaction of two columns (classes, three classes, a number, missing
values, columns of numbers among them), look at `feature_importances_` and `top_features_`, and cross-validate a
pipeline.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from mercer import SURF, MultiSURF, MultiSURFStar, ReliefF, RReliefF, SURFStar

# The columns that decide together.
PAIR = {4, 7}


def genotypes(kind):
    """Return rows of 0, 1 and 2, of which two columns decide together and none alone."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(300, 10)).astype(float)
    y = (X[:, 4] + X[:, 7]) % 2
    y = np.where(rng.random(300) < 0.05, 1 - y, y)
    match kind:
        case "multiclass":
            y = (X[:, 4] + X[:, 7]) % 3
        case "numbers":
            y = y + rng.normal(scale=0.1, size=300)
        case "missing":
            X[rng.random(X.shape) < 0.1] = np.nan
        case "mixed":
            X[:, :3] = rng.normal(size=(300, 3))
    return X, y if kind == "numbers" else y.astype(int)


KINDS = ["binary", "multiclass", "numbers", "missing", "mixed"]
SURFS = [SURF, SURFStar, MultiSURF, MultiSURFStar]
SELECTORS = [ReliefF(n_neighbors=1), ReliefF(n_neighbors=10), *(kind() for kind in SURFS)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: f"{type(s).__name__}-{getattr(s, 'n_neighbors', '')}")
def test_importances_are_finite_and_the_pair_is_on_top(selector, kind):
    X, y = genotypes(kind)
    names = [j for j in range(10) if kind != "mixed" or j > 2]
    if kind == "numbers" and isinstance(selector, ReliefF):
        selector = RReliefF(n_neighbors=20)
    selector = clone(selector).set_params(categorical_features=names).fit(X, y)
    importances = selector.feature_importances_
    assert importances.shape == (10,)
    assert np.isfinite(importances).all()
    assert importances.min() >= 0
    top = np.argsort(selector.ranking_)
    np.testing.assert_array_equal(importances[top], np.sort(importances)[::-1])
    assert set(top[:2]) == PAIR


@pytest.mark.parametrize("selector", [ReliefF(2), ReliefF(2, n_neighbors=0.1), *(kind(2) for kind in SURFS)])
def test_a_pipeline_with_it_predicts(selector):
    X, y = genotypes("binary")
    model = make_pipeline(selector.set_params(categorical_features=range(10)), RandomForestClassifier(random_state=0))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.85


@pytest.mark.parametrize("k", [1, 10, 0.1, 0.25])
def test_scores_of_numbers_are_theirs(k):
    skrebate = pytest.importorskip("skrebate")
    X = np.random.default_rng(0).normal(size=(120, 6))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    theirs = skrebate.ReliefF(n_features_to_select=2, n_neighbors=k).fit(X, y)
    ours = ReliefF(2, n_neighbors=k).fit(X, y)
    assert ours.n_neighbors == k
    assert ours.n_neighbors_ == theirs.n_neighbors
    np.testing.assert_allclose(ours.scores_, theirs.feature_importances_, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(np.argsort(ours.ranking_), theirs.top_features_)
    np.testing.assert_array_equal(np.sort(theirs.transform(X)), np.sort(ours.transform(X)))


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("kind", [MultiSURF, MultiSURFStar])
def test_scores_of_rows_within_a_radius_of_their_own_are_theirs(kind, numbers):
    skrebate = pytest.importorskip("skrebate")
    X = np.random.default_rng(1).normal(size=(120, 6))
    y = X[:, 1] + X[:, 3] if numbers else (X[:, 1] + X[:, 3] > 0).astype(int)
    theirs = getattr(skrebate, kind.__name__.replace("Star", "star"))(n_features_to_select=2).fit(X, y)
    apart = kind().fit(X, y).scores_ - theirs.feature_importances_
    if kind is MultiSURFStar and numbers:
        apart -= apart[0]  # Rows without a far hit add 1/n to all of theirs.
    np.testing.assert_allclose(apart, 0, atol=1e-14)


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("kind", [SURF, SURFStar])
def test_scores_of_rows_within_the_mean_distance_are_theirs(kind, numbers):
    # Distances are whole numbers, none of them between the mean of all pairs and theirs, which counts a row's distance
    # to itself.
    skrebate = pytest.importorskip("skrebate")
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(120, 9)).astype(float)
    mean = np.abs(X[:, None] - X).sum(axis=2).mean()
    assert np.floor(mean) == np.floor(mean * 120 / 119)
    y = rng.normal(size=120) + X[:, 1] if numbers else (X[:, 1] != X[:, 3]).astype(int)
    theirs = getattr(skrebate, kind.__name__.replace("Star", "star"))(n_features_to_select=2).fit(X, y)
    np.testing.assert_allclose(kind().fit(X, y).scores_, theirs.feature_importances_, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_categories_are_ranked_much_as_theirs(kind):
    skrebate = pytest.importorskip("skrebate")
    X, y = genotypes(kind)
    theirs = skrebate.ReliefF(n_features_to_select=2, n_neighbors=20).fit(X, y).feature_importances_
    ours = ReliefF(n_neighbors=20, categorical_features=range(10)).fit(X, y).scores_
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99  # Rows at the same distance are taken in another order.
