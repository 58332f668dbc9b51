"""Several targets: numbers, and labels of which a row has any number."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_linnerud, make_multilabel_classification, make_regression
from sklearn.feature_selection import f_regression
from sklearn.linear_model import MultiTaskLasso
from sklearn.preprocessing import StandardScaler

from mercer import (
    EKS,
    GDA,
    KPLS,
    SKFE,
    AutoClassifier,
    AutoFeatures,
    AutoRegressor,
    FScore,
    KernelBasis,
    LassoSelector,
    MutualInfo,
    ReliefF,
    compare,
    load,
    save,
    to_onnx,
)


@pytest.fixture(scope="module")
def numbers():
    X, Y = make_regression(120, 6, n_informative=4, n_targets=3, noise=5.0, random_state=0)
    return StandardScaler().fit_transform(X), Y * [1.0, 50.0, 0.01]


def test_kpls_with_a_linear_kernel_is_pls2(numbers):
    X, Y = numbers
    # scikit-learn's own scaling divides by n - 1.
    right = PLSRegression(4, scale=False, tol=1e-15, max_iter=10_000).fit(X, Y / Y.std(axis=0)).transform(X)
    found = KPLS(4, kernel="linear").fit(X, Y).transform(X)
    np.testing.assert_allclose(np.abs(found), np.abs(right), atol=1e-5)  # its iterations end early


def test_the_unit_of_a_target_does_not_matter(numbers):
    X, Y = numbers
    for estimator in (KPLS(2, gamma=0.1), SKFE(2, gamma=0.1), AutoRegressor(max_components=50)):
        one = estimator.fit(X, Y)
        a = one.predict(X) if hasattr(one, "predict") else one.transform(X)
        other = estimator.fit(X, Y * [7.0, 0.001, 1.0])
        b = other.predict(X) / [7.0, 0.001, 1.0] if hasattr(other, "predict") else other.transform(X)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6 * np.abs(a).max())


def test_one_column_is_one_target(numbers):
    X, Y = numbers
    one = KPLS(2, gamma=0.1).fit(X, Y[:, 0]).transform(X)
    twice = KPLS(2, gamma=0.1).fit(X, np.c_[Y[:, 0], Y[:, 0]]).transform(X)
    np.testing.assert_allclose(one, twice, atol=1e-9)


def test_f_is_the_best_of_all_targets_with_bonferronis_p_value(numbers):
    X, Y = numbers
    F, p = zip(*(f_regression(X, y) for y in Y.T), strict=True)
    found = FScore().fit(X, Y)
    np.testing.assert_allclose(found.scores_, np.max(F, axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.pvalues_, np.minimum(3 * np.min(p, axis=0), 1.0), rtol=1e-7)


def test_mi_is_the_mean_over_targets(numbers):
    X, Y = numbers
    right = np.mean([MutualInfo().fit(X, y).scores_ for y in Y.T], axis=0)
    np.testing.assert_allclose(MutualInfo().fit(X, Y).scores_, right)


def test_lasso_is_the_multi_task_lasso(numbers):
    X, Y = numbers
    Z = (Y - Y.mean(0)) / Y.std(0)
    right = np.linalg.norm(MultiTaskLasso(alpha=0.3, tol=1e-10, max_iter=10_000).fit(X, Z).coef_, axis=0)
    found = LassoSelector(penalty=0.3).fit(X, Y)
    np.testing.assert_allclose(found.scores_, right, atol=1e-7)


def test_a_regressor_predicts_all_targets(numbers):
    X, Y = numbers
    model = AutoRegressor(max_components=100).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.9


def test_a_regressor_of_several_targets_is_saved_and_exported(numbers, tmp_path):
    X, Y = numbers
    model = AutoRegressor(max_components=50).fit(X, Y)
    save(model, tmp_path / "several.mercer")
    np.testing.assert_allclose(load(tmp_path / "several.mercer").predict(X), model.predict(X), rtol=1e-12)
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model))
    (found,) = session.run(None, {"X": X})
    assert session.get_outputs()[0].shape[1] == 3
    np.testing.assert_allclose(found, model.predict(X), atol=1e-9 * np.abs(Y).max())


def test_skfe_and_gamma_look_at_several_targets(numbers):
    X, Y = numbers
    skfe = SKFE(gamma=0.1).fit(X, Y)
    assert skfe.n_components_ == 3
    assert skfe.alignment_path_[-1] > skfe.alignment_path_[0]
    with pytest.raises(ValueError, match="3 targets, for which a margin has no meaning"):
        SKFE(criterion="margin").fit(X, Y)
    assert KernelBasis(gamma="loo", n_components=20).fit(X, Y).gamma_ > 0
    assert KernelBasis("csi", gamma=0.1, n_components=10).fit(X, Y).n_components_ == 10
    assert EKS(FScore(3), gamma=0.1).fit(X, Y).n_components_ == 3


def test_labels_of_which_a_row_has_several():
    X, Y = make_multilabel_classification(150, 8, n_classes=4, random_state=0)
    assert KPLS(3).fit(X, Y).transform(X).shape == (150, 3)
    assert FScore(2).fit(X, Y).get_support().sum() == 2


def test_real_targets():
    X, Y = load_linnerud(return_X_y=True)
    with pytest.warns(UserWarning, match="no better than by chance"):
        model = AutoRegressor().fit(X, Y)
    assert model.predict(X).shape == (20, 3)


@pytest.mark.parametrize("estimator", [GDA(), ReliefF(), AutoClassifier(), AutoFeatures()])
def test_others_refuse_several_by_name(estimator, numbers):
    X, Y = numbers
    with pytest.raises(ValueError, match=f"{type(estimator).__name__} takes one target, but y should be a 1d array"):
        estimator.fit(X, Y)


def test_text_in_several_columns_is_refused(numbers):
    X, _ = numbers
    with pytest.raises(ValueError, match="must be numbers"):
        KPLS().fit(X, np.full((120, 2), "a"))


def test_a_comparison_takes_one_target(numbers):
    X, Y = numbers
    with pytest.raises(ValueError, match=r"1d array|one target"):
        compare(X, Y)


@pytest.mark.parametrize("constant", [0.1, 7.0, 1e6])
def test_a_constant_target_is_none(constant):
    # With 442 rows the mean of equal numbers is not that number, but for rounding.
    X, y = load_diabetes(return_X_y=True)
    with_zeros, with_constant = (np.column_stack([y, np.full(len(y), v)]) for v in (0.0, constant))
    found, wanted = (AutoRegressor(input_weights=False).fit(X, Y) for Y in (with_constant, with_zeros))
    assert found.left_out_score_ == pytest.approx(wanted.left_out_score_, rel=1e-9)
    assert found.predict(X)[:, 1] == pytest.approx(constant)
    for estimator in (KPLS(2), KernelBasis("kobl", n_components=20)):
        found, wanted = (clone(estimator).fit(X, Y) for Y in (with_constant, with_zeros))
        np.testing.assert_allclose(found.transform(X), wanted.transform(X), atol=1e-6)
