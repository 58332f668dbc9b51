"""Which training rows a fitted estimator uses."""

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
