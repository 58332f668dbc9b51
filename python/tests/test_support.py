"""Which training rows a fitted estimator uses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import mercer
from mercer import (
    AKDAQR,
    EKS,
    GDA,
    KLFE,
    KPCA,
    TAKES,
    AutoClassifier,
    AutoFeatures,
    AutoRegressor,
    KernelBasis,
    KRelief,
    SKRelief,
)

X, Y = load_iris(return_X_y=True)
ESTIMATORS = {
    "basis": KernelBasis("kobl", n_components=9),
    "kpca": KernelBasis("kpca", n_components=3, center=True),
    "TAKES": TAKES(4),
    "KRelief": KRelief(3, basis="gram-schmidt"),
    "SKRelief": SKRelief(3, nu=0.3, weighted="sqrt"),
    "EKS": EKS("mi", 5, basis="kobl"),
    "GDA": GDA(basis=KernelBasis("nystrom", n_components=20)),
    "KLFE": KLFE(2),
    "KPCA": KPCA(3),
    "AKDAQR": AKDAQR(),
    "AutoFeatures": AutoFeatures(max_components=50),
}
MAPPED = {name: one for name, one in ESTIMATORS.items() if not isinstance(one, KernelBasis)}
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


@each_estimator
def test_features_need_the_landmarks_with_a_coefficient(estimator, tmp_path):
    fitted = clone(estimator)
    with pytest.raises(NotFittedError):
        _ = fitted.n_support_
    fitted.fit(X, Y)
    matrix = fitted._model.matrix
    needed = sum(1 for column in matrix.T if any(value != 0 for value in column))
    assert fitted.n_support_ == needed > 0
    mercer.save(fitted, tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").n_support == needed


def test_few_coordinates_of_few_landmarks_need_few_rows():
    dense = KRelief(3, basis="kpca").fit(X, Y)
    sparse = SKRelief(3, nu=0.3).fit(X, Y)
    assert dense.n_support_ == len(X)
    assert sparse.n_support_ <= len(sparse.basis_.pivots_) < len(X) / 2


@pytest.mark.parametrize("model", [AutoClassifier(max_components=40), AutoRegressor(max_components=40)])
def test_a_prediction_needs_at_most_the_training_rows(model, tmp_path):
    model = clone(model).fit(X, Y)
    assert model.features_.n_support <= model.n_support_ <= len(X)
    mercer.save(model, tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").n_support == model.n_support_


def shares_by_definition(fitted):
    """Return each landmark's share in squared coefficients, averaged over features by variance over the landmarks."""
    matrix = fitted._model.matrix
    landmarks = fitted._model.landmarks
    features = fitted.transform(np.asarray(landmarks))
    shares = np.zeros(matrix.shape[1])
    for coefficients, values in zip(matrix, features.T, strict=True):
        shares += values.var() * coefficients**2 / (coefficients**2).sum()
    return shares / shares.sum()


@pytest.mark.parametrize("estimator", MAPPED.values(), ids=MAPPED)
def test_important_points_are_training_rows_in_the_order_of_their_shares(estimator, tmp_path):
    fitted = clone(estimator).fit(X, Y)
    if isinstance(fitted, AKDAQR):
        with pytest.raises(AttributeError, match="are class means, not training rows: no important points"):
            _ = fitted.important_points_
        assert not hasattr(fitted, "important_points_share_")
        return
    rows, shares = fitted.important_points_, fitted.important_points_share_
    assert len(rows) == len(shares) == fitted.n_support_ == len(set(rows))
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(shares) <= 0).all()
    assert not rows.flags.writeable
    mercer.save(fitted, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").important_points, rows)
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").important_points_share, shares)
    if fitted._model.scaling is None:
        expected = np.sort(shares_by_definition(fitted))[::-1]
        np.testing.assert_allclose(shares, expected[: len(shares)], rtol=0, atol=1e-9)


def test_landmarks_that_are_no_training_rows_are_no_important_points():
    with pytest.raises(
        AttributeError, match="centres of k-means clusters, or points moved from there, not training rows"
    ):
        _ = EKS(basis="kmeans").fit(X, Y).important_points_
    with pytest.raises(AttributeError, match="rows that were given as landmarks, not training rows"):
        _ = EKS(basis=KernelBasis("kobl", landmarks=X[::10] + 0.1)).fit(X, Y).important_points_


def test_features_of_the_important_points_alone_are_nearly_as_good():
    """A basis of the first few important points explains most of what all of them do."""
    gda = GDA(basis="gram-schmidt", gamma=0.1).fit(X, Y)
    few = gda.important_points_[:20]
    again = GDA(basis=KernelBasis("kobl", gamma=0.1, landmarks=X[few])).fit(X, Y)
    assert abs(np.corrcoef(gda.transform(X)[:, 0], again.transform(X)[:, 0])[0, 1]) > 0.95
