"""Predictors without choices, and the weights of input columns that they use."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1, make_moons
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import AutoClassifier, AutoRegressor, InputWeights, KernelBasis


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def classifier(iris):
    X, _, y, _ = iris
    return AutoClassifier().fit(X, y)


def test_classes_are_predicted_with_their_probabilities(iris, classifier):
    _, X, _, y = iris
    p = classifier.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p > 0).all()
    np.testing.assert_array_equal(classifier.classes_[p.argmax(axis=1)], classifier.predict(X))
    assert classifier.score(X, y) > 0.9
    assert log_loss(y, p) < 0.35
    assert 0.9 < classifier.left_out_score_ < 1.0
    assert 0.0 < classifier.log_loss_ < 0.35


def test_what_was_tried_is_there_best_first(classifier):
    assert {attempt["kernel"] for attempt in classifier.tried_} <= {"rbf", "laplacian"}
    assert any(attempt["is_member"] for attempt in classifier.tried_)
    assert all(attempt["error"] > 0 and attempt["n_components"] > 0 for attempt in classifier.tried_)


@pytest.mark.parametrize("kind", ["text", "booleans", "numbers as text"])
def test_classes_keep_their_type_and_order(kind):
    X, y = make_moons(120, noise=0.2, random_state=0)
    y = {"text": np.where(y, "yes", "no"), "booleans": y == 1, "numbers as text": np.where(y, "10", "9")}[kind]
    model = AutoClassifier(input_weights=False).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.predict(X).dtype == y.dtype
    assert (model.predict(X) == y).mean() > 0.9


@pytest.mark.filterwarnings("ignore:left-out rows are predicted no better")
def test_probabilities_of_noise_are_those_of_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    model = AutoClassifier().fit(X, y)
    assert model.log_loss_ > 0.66  # ln 2 is 0.693
    assert model.left_out_score_ < 0.62
    fresh = model.predict_proba(rng.normal(size=(500, 6)))
    assert fresh.max() < 0.8


@pytest.mark.filterwarnings("ignore:left-out rows are predicted no better")
def test_weights_do_not_make_left_out_rows_look_right():
    # Far more columns than rows: weights that were learned from a row would predict it whatever it is.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 400)), np.arange(60) % 2
    model = AutoClassifier().fit(X, y)
    assert model.left_out_score_ < 0.75
    assert model.log_loss_ > 0.5


def chessboard(n, seed):
    """Return rows in squares of 0.5, and their colour: more structure than a few hundred landmarks resolve."""
    X = np.random.default_rng(seed).uniform(0, 10, size=(n, 2))
    return X, np.where(np.floor(2 * X).sum(axis=1) % 2 == 0, "black", "white")


@pytest.fixture(scope="module")
def on_chessboard():
    return AutoClassifier().fit(*chessboard(1400, 0))


def test_all_rows_are_landmarks_where_that_predicts_better(on_chessboard):
    model = on_chessboard
    assert model.tried_[0]["n_components"] == model.tried_[0]["n_components_tried"] == 1400
    assert model.n_support_ == 1400
    X, y = chessboard(2000, 1)
    assert model.score(X, y) == pytest.approx(model.left_out_score_, abs=0.04)
    fewer = AutoClassifier(max_components=1200).fit(*chessboard(1400, 0))
    assert fewer.n_support_ <= 1200
    assert model.score(X, y) > fewer.score(X, y)


def test_scores_are_those_of_kernel_ridge_on_all_rows(on_chessboard):
    from sklearn.kernel_ridge import KernelRidge

    model, (X, y) = on_chessboard, chessboard(1400, 0)
    best = model.tried_[0]
    scaler = StandardScaler().fit(X)
    weights = model.input_weights_ if best["weighted"] else np.ones(2)
    fresh = chessboard(300, 2)[0]
    Z, fresh_z = scaler.transform(X) * weights, scaler.transform(fresh) * weights
    signs, agree = np.where(y == "white", 1.0, 0.0), []
    for penalty in 10.0 ** np.arange(-9, 3):
        ridge = KernelRidge(kernel=best["kernel"], gamma=best["gamma"], alpha=penalty).fit(Z, signs - signs.mean())
        agree.append(np.mean((ridge.predict(fresh_z) + signs.mean() > 0.5) == (model.predict(fresh) == "white")))
    assert max(agree) > 0.97


def test_a_predictor_on_all_rows_is_stored_and_read(on_chessboard, tmp_path):
    X = chessboard(50, 3)[0]
    mercer.save(on_chessboard, tmp_path / "board.mercer")
    loaded = mercer.load(tmp_path / "board.mercer")
    np.testing.assert_array_equal(loaded.predict(X), on_chessboard.predict(X))
    again = pickle.loads(pickle.dumps(on_chessboard))
    np.testing.assert_array_equal(again.predict_proba(X), on_chessboard.predict_proba(X))
    assert on_chessboard.features_.transform(X).shape == (50, 1000)


def test_rows_that_count_differently_can_all_be_landmarks():
    X, y = chessboard(1250, 4)
    counts = np.where(np.arange(1250) < 100, 2.0, 1.0)
    settings = {"input_weights": False, "scale": "none"}
    weighted = AutoClassifier(**settings).fit(X, y, sample_weight=counts)
    assert weighted.n_support_ == 1250
    assert weighted.score(*chessboard(1000, 5)) > 0.6


@pytest.mark.slow
def test_more_rows_than_are_looked_at_are_all_landmarks():
    X, y = chessboard(5300, 0)
    model = AutoClassifier().fit(X, y)
    assert model.tried_[0]["n_components"] == model.n_support_ == 5300
    assert model.tried_[0]["n_components_tried"] == 5000
    fresh = chessboard(3000, 1)
    assert model.score(*fresh) > 0.8
    few = AutoClassifier(max_components=5100).fit(X, y)
    assert few.n_support_ == 4000
    assert few.score(*fresh) > 0.8


@pytest.mark.parametrize("model", [AutoClassifier(), AutoRegressor()])
def test_noise_is_warned_of(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), np.arange(100) % 2
    with pytest.warns(UserWarning, match=r"rows are predicted no better than by .* with shuffled labels \(p = "):
        model.fit(X, y)
    assert model.left_out_["value"] < 0.65


def test_noise_seldom_seems_to_be_predicted():
    # The rows left out have chosen kernel and width: by shuffled numbers alone it was every fifth time.
    seem = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seem.append(AutoRegressor().fit(rng.normal(size=(40, 2)), rng.normal(size=40)).left_out_)
    assert sum(found["p_value"] <= 0.05 for found in seem) <= 3
    assert all(found["chance"] >= 0 for found in seem)


def test_a_clear_relation_is_seen_in_few_rows(recwarn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    assert AutoRegressor().fit(X, X[:, 0] + 0.7 * rng.normal(size=40)).left_out_["p_value"] <= 0.05
    assert not recwarn


def test_what_is_no_noise_is_not_warned_of(iris, recwarn):
    X, _, y, _ = iris
    model = AutoClassifier().fit(X, y)
    assert not recwarn
    assert model.left_out_["measure"] == "accuracy"
    assert model.left_out_["value"] == pytest.approx(model.left_out_score_)
    assert model.left_out_["chance"] < 0.5
    assert model.left_out_["p_value"] < 0.01


def test_probabilities_are_not_certain_because_few_left_out_rows_are_all_right():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(2030, 5)), np.arange(2030) % 2
    X[:, 0] += 4 * y
    model = AutoClassifier().fit(X[:30], y[:30])
    assert log_loss(y[30:], model.predict_proba(X[30:])) < 0.2
    assert model.log_loss_ > 0.02


def test_rows_that_are_there_twice_are_warned_of():
    rng = np.random.default_rng(0)
    X, y = np.tile(rng.normal(size=(100, 5)), (2, 1)), np.tile(rng.integers(2, size=100), 2)
    with pytest.warns(UserWarning, match="100 of 200 rows are copies of others with the same label"):
        AutoClassifier().fit(X, y)


def test_left_out_rows_are_predicted_as_well_as_new_ones():
    # Columns are weighted here, and a basis of 200 components, with which weights are found, is too small.
    rng = np.random.default_rng(0)

    def cells(n):
        X = rng.uniform(size=(n, 3))
        return X, (np.floor(8 * X[:, 0]) * 8 + np.floor(8 * X[:, 1])).astype(int)

    model = AutoClassifier().fit(*cells(1200))
    assert model.tried_[0]["weighted"]
    # Rows held out are predicted from two thirds of them: from 13 rows a class in place of 19.
    assert abs(model.left_out_score_ - model.score(*cells(2000))) < 0.07


def test_numbers_are_predicted_in_their_own_unit():
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    unit = AutoRegressor().fit(X[:300], y[:300])
    assert unit.score(X[300:], y[300:]) > 0.93
    other = AutoRegressor().fit(X[:300], 1e6 + 1e3 * y[:300])
    np.testing.assert_allclose(other.predict(X[300:]), 1e6 + 1e3 * unit.predict(X[300:]), rtol=1e-8)
    assert np.sqrt(unit.error_) == pytest.approx(np.sqrt(np.mean((unit.predict(X[300:]) - y[300:]) ** 2)), rel=0.3)


def test_the_scaling_is_part_of_the_model():
    X, y = load_breast_cancer(return_X_y=True)
    scores = cross_val_score(AutoClassifier(input_weights=False), X, y, cv=3)
    assert scores.mean() > 0.95
    before = make_pipeline(StandardScaler(), AutoClassifier(input_weights=False)).fit(X, y)
    alone = AutoClassifier(input_weights=False).fit(X, y)
    np.testing.assert_allclose(alone.predict_proba(X), before.predict_proba(X), atol=1e-9)


def test_the_features_are_the_coordinates_that_ridge_predicts_from():
    X, y = load_diabetes(return_X_y=True)
    model = AutoRegressor(input_weights=False, random_state=1).fit(X[:300], y[:300])
    Z = model.features_.transform(X)
    ridge = Ridge().fit(Z[:300], y[:300])
    assert abs(ridge.score(Z[300:], y[300:]) - model.score(X[300:], y[300:])) < 0.05


@pytest.mark.parametrize("before", [[], [StandardScaler()]])
def test_files_predict_as_the_estimator_does(iris, tmp_path, before):
    X, fresh, y, _ = iris
    model = make_pipeline(*before, AutoClassifier()).fit(X, y)
    mercer.save(model, tmp_path / "iris.mercer")
    again = mercer.load(tmp_path / "iris.mercer")
    np.testing.assert_allclose(again.predict_proba(fresh), model.predict_proba(fresh), atol=1e-12)
    np.testing.assert_array_equal(again.predict(fresh), model.predict(fresh))
    shuffled = fresh[fresh.columns[::-1]].assign(other=1.0)
    np.testing.assert_array_equal(again.predict(shuffled), again.predict(fresh))


LABELS = {
    "integers": ([-1, 9, 10], np.int64),
    "booleans": ([False, True], np.bool_),
    "floats": ([-2.0, 0.0, 1e17], np.float64),
    "text": (["b", "10", "9"], object),
    "text of integers that begin with 0": (["01", "02", "3"], object),
    "text that is no finite number": (["1.0", "nan", "inf"], object),
}


@pytest.mark.parametrize("kind", LABELS)
def test_files_give_labels_back_as_what_they_were(kind, tmp_path):
    names, dtype = LABELS[kind]
    X, _ = make_moons(150, noise=0.1, random_state=0)
    y = np.array(names)[np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6])[: len(names) - 1])]
    model = AutoClassifier(input_weights=False).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert again.predict(X).dtype == again.classes_.dtype == dtype
    np.testing.assert_array_equal(again.classes_, model.classes_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)
    assert again.score(X, y) == (again.predict(X) == y).mean() == model.score(X, y) > 0.9


def test_text_of_integers_comes_back_from_a_file_as_integers(tmp_path):
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = AutoClassifier(input_weights=False).fit(X, y.astype(str))
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert again.predict(X).dtype == np.int64
    np.testing.assert_array_equal(again.predict(X).astype(str), model.predict(X))
    assert again.score(X, y) == again.score(X, y.astype(str)) == model.score(X, y.astype(str))


def test_numbers_from_a_file_are_scored_as_the_estimator_scores_them(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = AutoRegressor(input_weights=False).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").score(X, y) == pytest.approx(model.score(X, y))


def test_a_model_without_a_predictor_says_so(iris, tmp_path):
    X, _, y, _ = iris
    mercer.save(KernelBasis(n_components=5).fit(X, y), tmp_path / "basis.mercer")
    with pytest.raises(ValueError, match="makes features and predicts nothing"):
        mercer.load(tmp_path / "basis.mercer").predict(X)
    with pytest.raises(AttributeError, match="predicts no classes"):
        _ = mercer.load(tmp_path / "basis.mercer").classes_


def test_predictors_are_pickled_cloned_and_repeat_themselves(iris, classifier):
    X, fresh, y, _ = iris
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(fresh), classifier.predict_proba(fresh))
    np.testing.assert_array_equal(clone(classifier).fit(X, y).predict_proba(fresh), classifier.predict_proba(fresh))


def test_sparse_rows_are_predicted():
    X, y = make_moons(150, noise=0.2, random_state=0)
    X = sparse.csr_matrix(np.where(np.abs(X) < 0.2, 0.0, X))
    model = AutoClassifier().fit(X, y)
    assert model.score(X, y) > 0.85
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(X.toarray()), atol=1e-9)


def test_more_rows_than_are_looked_at_are_all_fitted():
    X, y = make_moons(7000, noise=0.25, random_state=0)
    model = AutoClassifier(input_weights=False, max_components=100).fit(X[:6000], y[:6000])
    assert model.score(X[6000:], y[6000:]) > 0.92
    assert model.features_.facts["rows"] == 6000


# Input weights


def test_weights_find_the_columns_that_matter():
    X, y = make_friedman1(500, n_features=20, noise=0.5, random_state=0)
    weights = InputWeights(5).fit(X, y)
    np.testing.assert_array_equal(weights.get_support(indices=True), np.arange(5))
    assert weights.n_rounds_ > 0
    assert np.mean(weights.weights_**2) == pytest.approx(1.0)
    assert weights.errors_[weights.n_rounds_] < 0.2 * weights.errors_[0]
    np.testing.assert_allclose(weights.transform(X), X[:, :5] * weights.weights_[:5])
    np.testing.assert_array_equal(weights.ranking_[:5] <= 5, np.ones(5, dtype=bool))


def test_weights_find_what_takes_two_columns_together():
    # Neither column tells anything alone, and most columns are noise.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 12))
    y = (X[:, 3] * X[:, 8] > 0).astype(int)
    weights = InputWeights(2, rounds=4).fit(X, y)
    np.testing.assert_array_equal(weights.get_support(indices=True), [3, 8])


def test_weights_of_noise_are_one():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(150, 8)), rng.normal(size=150)
    weights = InputWeights().fit(X, y)
    assert weights.n_rounds_ == 0
    np.testing.assert_array_equal(weights.weights_, np.ones(8))


def test_keeping_some_of_equal_weights_is_warned_of():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(150, 8)), rng.normal(size=150)
    words = "no column ranks above another: the first 3 of 8 are kept\nhint: leave n_features out"
    with pytest.warns(UserWarning, match=f"do not help to predict left-out rows, so all are 1 and {words}"):
        weights = InputWeights(3).fit(X, y)
    np.testing.assert_array_equal(weights.get_support(indices=True), [0, 1, 2])
    with pytest.warns(UserWarning, match=rf"were not learned \(rounds = 0\), so all are 1 and {words}"):
        InputWeights(3, rounds=0).fit(X, y)
    with pytest.warns(UserWarning, match="n_features = 9, but there are only 8 columns; keeping all of them"):
        InputWeights(9, rounds=0).fit(X, y)
    with pytest.raises(ValueError, match="n_features = True, but it must be a whole number"):
        InputWeights(True).fit(X, y)
    InputWeights(8).fit(X, y)  # without a warning, which would be an error here


def test_weights_do_not_depend_on_a_columns_unit():
    # Weights make up for units: the weighted columns are the same, whatever the columns were measured in.
    X, y = make_friedman1(300, n_features=8, noise=0.1, random_state=1)
    plain = InputWeights().fit(X, y)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    named = InputWeights(3).fit(frame, y)
    assert list(named.get_feature_names_out()) == [f"c{j}" for j in np.flatnonzero(plain.ranking_ <= 3)]
    assert named.set_output(transform="pandas").transform(frame).shape == (300, 3)


def test_a_basis_with_input_weights_is_one_on_weighted_columns():
    X, y = make_friedman1(300, n_features=15, noise=0.5, random_state=0)
    X = StandardScaler().fit_transform(X)
    basis = KernelBasis("rpcholesky", n_components=50, input_weights=True).fit(X, y)
    weights = InputWeights().fit(X, y)
    np.testing.assert_allclose(basis.input_weights_, weights.weights_)
    weighted = KernelBasis("rpcholesky", n_components=50, gamma=basis.gamma_).fit(weights.transform(X))
    np.testing.assert_allclose(basis.transform(X), weighted.transform(weights.transform(X)), atol=1e-8)
    assert basis.reconstruction_cost(X) == pytest.approx(weighted.reconstruction_cost(weights.transform(X)), rel=1e-8)
    np.testing.assert_array_equal(KernelBasis(n_components=5).fit(X).input_weights_, np.ones(15))


def test_input_weights_need_labels():
    with pytest.raises(ValueError, match="y"):
        KernelBasis(input_weights=True).fit(np.eye(8))
