"""What is said about data is so: noise is called noise, linear targets linear, and scores are scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_circles, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import advise, compare


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 8)), rng.choice(["a", "b"], 300)


def test_noise_is_called_noise(noise):
    advice = advise(*noise)
    assert advice.headline == "Nothing here predicts the labels better than chance."
    assert str(advice).startswith(advice.headline)
    assert advice.score["p_value"] > 0.05
    with pytest.warns(UserWarning, match="no features are recommended: they are no better than chance"):
        frame = compare(*noise, methods=["gda", "kobl", "klfe"], folds=3)
    assert frame.attrs["chance"]["p_value"] > 0.05
    assert frame.attrs["recommended"] is None


def test_breast_cancer_is_not_said_to_need_a_kernel():
    X, y = load_breast_cancer(return_X_y=True)
    assert advise(X, y).verdict != "helps"
    frame = compare(X, y, methods=["gda", "sparse"], evaluators="ridge")
    linear = frame[(frame["method"] == "raw") & (frame["evaluator"] == "linear-svm")]
    assert linear["mean"].item() > 0.97
    recommended = frame.iloc[frame.attrs["recommended"]]
    assert recommended["method"] == "gda"  # as good as many more coordinates
    assert recommended["n_features"] == 1


def test_models_of_ones_own_are_scored_on_the_same_splits(noise):
    X, y = make_circles(150, factor=0.5, noise=0.1, random_state=0)
    forest = RandomForestClassifier(20, random_state=0)
    frame = compare(X, y, methods="gda", folds=3, estimators={"forest": forest, "broken": Ridge(alpha="much")})
    own = frame[frame["method"] == "forest"].iloc[0]
    assert own["evaluator"] == "own"
    assert len(own["scores"]) == 3
    scored = frame[frame["failed"].isna()]
    assert scored["mean"].is_monotonic_decreasing
    assert "alpha" in frame[frame["method"] == "broken"]["failed"].item()
    assert not frame["baseline"].iloc[frame.attrs["recommended"]]


@pytest.mark.parametrize("score", ["accuracy", "balanced_accuracy", "roc_auc", "f1", "log_loss"])
def test_scores_are_those_of_scikit_learn(score):
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    knn = 5 if score == "roc_auc" else 1  # tied votes are not broken alike
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(knn))
    frame = compare(X, y, methods="kobl", evaluators="knn", knn=knn, score=score, estimators={"same": model}, folds=4)
    raw = frame[(frame["method"] == "raw") & (frame["evaluator"] == "knn")].iloc[0]
    same = frame[frame["method"] == "same"].iloc[0]
    if score == "log_loss":  # the classes' shares count as one more vote here, so that no probability is 0
        assert raw["mean"] < same["mean"]
    else:
        np.testing.assert_allclose(raw["scores"], same["scores"], atol=1e-12)


def test_f1_of_two_classes_is_the_mean_over_both():
    X, y = make_classification(200, 6, weights=[0.8], random_state=0)
    frame, same = (
        compare(X, y, methods="kobl", evaluators="knn", folds=3, score=score)
        for score in ("f1", lambda truth, predicted: f1_score(truth, predicted, average="macro"))
    )
    for method in ("kobl", "raw"):
        of = [f[(f["method"] == method) & (f["evaluator"] == "knn")].iloc[0]["scores"] for f in (frame, same)]
        np.testing.assert_allclose(*of, atol=1e-12)


@pytest.mark.parametrize("score", ["r2", "rmse", "mae", "mse"])
def test_scores_of_numbers_are_those_of_scikit_learn(score):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=120)
    from sklearn.neighbors import KNeighborsRegressor

    model = make_pipeline(StandardScaler(), KNeighborsRegressor(3))
    frame = compare(X, y, methods="kobl", evaluators="knn", knn=3, score=score, estimators={"same": model}, folds=4)
    raw = frame[(frame["method"] == "raw") & (frame["evaluator"] == "knn")].iloc[0]
    np.testing.assert_allclose(raw["scores"], frame[frame["method"] == "same"].iloc[0]["scores"], rtol=1e-9)
    means = frame["mean"].dropna()
    assert means.is_monotonic_decreasing if score == "r2" else means.is_monotonic_increasing


def test_splits_may_be_those_of_scikit_learn():
    X, y = make_circles(120, factor=0.5, noise=0.1, random_state=0)
    groups = np.arange(120) // 10
    label = (groups + groups // 4) % 2  # of a group
    order = np.argsort(y, kind="stable")[np.argsort(np.argsort(label, kind="stable"))]
    X, y = X[order], y[order]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    for cv, given in ((TimeSeriesSplit(4), None), (GroupKFold(4), groups)):
        frame = compare(X, y, methods="kobl", cv=cv, groups=given, estimators={"logistic": model})
        assert frame.attrs["splits"] == 4
        right = cross_val_score(model, X, y, cv=cv, groups=given)
        np.testing.assert_allclose(frame[frame["method"] == "logistic"]["scores"].item(), right)
    assert compare(X, y, methods="kobl", groups=groups, folds=3).attrs["splits"] == 3
    with pytest.raises(ValueError, match="a number of folds is `folds`"):
        compare(X, y, methods="kobl", cv=5)
    with pytest.raises(ValueError, match="13 folds of 12 groups"):
        compare(X, y, methods="kobl", groups=groups, folds=13)


def test_a_rare_class_is_not_left_to_the_majority():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (np.arange(400) % 33 == 0).astype(int)
    with pytest.warns(UserWarning, match="no features are recommended"):
        frame = compare(X, y, methods="kobl")
    assert frame.attrs["measure"] == "balanced_accuracy"
    assert frame[frame["method"] == "dummy"]["mean"].item() == pytest.approx(0.5)


def test_splits_without_a_class_are_left_out_for_every_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    groups = np.arange(200) // 10
    y = np.where(np.isin(np.arange(200), [0, 150]), "rare", "common")
    dummy = DummyClassifier()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = compare(X, y, methods="kobl", groups=groups, estimators={"own dummy": dummy})
    assert any("3 of 5 splits lack a class on one side" in str(warning.message) for warning in caught)
    assert (frame.attrs["measure"], frame.attrs["splits"]) == ("balanced_accuracy", 2)
    for name in ("dummy", "own dummy"):
        assert frame[frame["method"] == name]["scores"].item() == [0.5, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = compare(X, y, methods="kobl", groups=groups, score=lambda truth, said: float(np.mean(truth == said)))
    np.testing.assert_allclose(own[own["method"] == "dummy"]["scores"].item(), 1 - 1 / 40)


def test_groups_change_labels_as_wholes():
    # 20 patients with labels by chance, and 8 near-copies of each.
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(20), 8)
    X = rng.normal(size=(20, 5))[groups] + 0.05 * rng.normal(size=(160, 5))
    y = rng.permutation(np.arange(20) % 2)[groups]
    cv = list(GroupKFold(5).split(X, y, groups))
    given = {"methods": "kobl", "n_components": 10, "evaluators": "knn", "cv": cv}
    with pytest.warns(UserWarning, match="no features are recommended"):
        of_groups = compare(X, y, **given, groups=groups).attrs["chance"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_rows = compare(X, y, **given).attrs["chance"]
    assert of_groups["p_value"] > 0.1
    assert of_rows["p_value"] <= 0.05
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare(X, rng.permutation(y), methods="kobl", groups=groups, folds=3)
    assert any("labels differ within groups" in str(warning.message) for warning in caught)


def test_a_score_of_ones_own():
    X, y = make_circles(120, factor=0.5, noise=0.1, random_state=0)

    def cost(truth, predicted):
        return -float(np.mean(5.0 * ((truth == 1) & (predicted == 0)) + ((truth == 0) & (predicted == 1))))

    knn = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    frame = compare(X, y, methods=["gda", "kobl"], evaluators="knn", folds=3, score=cost, estimators={"same": knn})
    assert frame.attrs["measure"] == "cost"
    assert frame.attrs["second"] == "accuracy"
    assert frame["mean"].is_monotonic_decreasing
    raw = frame[(frame["method"] == "raw") & (frame["evaluator"] == "knn")].iloc[0]
    np.testing.assert_allclose(raw["scores"], frame[frame["method"] == "same"].iloc[0]["scores"])
    assert frame.iloc[frame.attrs["recommended"]]["method"] in ("gda", "kobl")
