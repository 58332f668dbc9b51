"""sample_weight and class_weight: a whole weight is as many copies of the row."""

import numpy as np
import pytest
from sklearn import set_config
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

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
    TAKES,
    AutoClassifier,
    AutoFeatures,
    AutoRegressor,
    FScore,
    InputWeights,
    IRelief,
    KernelBasis,
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

BASIS = KernelBasis("kobl", gamma=0.1, threshold=0.0, n_components=20)
EXACT = [
    GDA(basis=BASIS),
    KPLS(3, basis=BASIS),
    KOC(basis=BASIS),
    SKFE(basis=BASIS),
    KPCA(3, basis=BASIS),
    AKDAQR(gamma=0.1),
    TAKES(basis=BASIS),
    EKS("f", n_features=12, basis=BASIS),
    FScore(2),
    KFFS(2),
    KFFS(2, reweight=True),
    LassoSelector(2, penalty=0.02),
]
# Whose neighbours a copy would be, or whose choices are made by rows left out.
OTHERS = [
    KLFE(2, gamma=0.1),
    KANMM(2, gamma=0.1),
    EKS("f", basis=BASIS),
    KRelief(3, gamma=0.1),
    SKRelief(3, gamma=0.1),
    Relief(2),
    ReliefF(2),
    RReliefF(2),
    MultiSURF(2),
    IRelief(2),
    MutualInfo(2),
    InputWeights(),
    AutoClassifier(),
    AutoFeatures(input_weights=False),
    KernelBasis("rpcholesky", n_components=10),
]


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)[::2]
    weights = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    return X, y[::2], weights


def named(estimators):
    ids = [f"{type(estimator).__name__}-{at}" for at, estimator in enumerate(estimators)]
    return pytest.mark.parametrize("estimator", estimators, ids=ids)


def output(estimator, X):
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.transform(X)


@named(EXACT)
def test_a_whole_weight_is_as_many_copies(estimator, data):
    X, y, weights = data
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    weighted = output(clone(estimator).fit(X, y, sample_weight=weights), X)
    copied = output(clone(estimator).fit(X[copies], y[copies]), X)
    np.testing.assert_allclose(weighted, copied, rtol=1e-6, atol=1e-7 * np.abs(copied).max())


@named([*EXACT, *OTHERS])
def test_a_weight_of_0_is_no_row(estimator, data):
    X, y, _ = data
    present = np.arange(len(X)) % 4 != 1
    weighted = output(clone(estimator).fit(X, y, sample_weight=present.astype(float)), X)
    without = output(clone(estimator).fit(X[present], y[present], sample_weight=np.ones(present.sum())), X)
    np.testing.assert_array_equal(weighted, without)


@named([*EXACT, *OTHERS])
def test_equal_weights_are_no_weights(estimator, data):
    X, y, _ = data
    plain = output(clone(estimator).fit(X, y), X)
    weighted = output(clone(estimator).fit(X, y, sample_weight=np.ones(len(X))), X)
    if isinstance(estimator, KernelBasis | InputWeights | AutoClassifier | AutoFeatures):
        assert weighted.shape == plain.shape  # other draws
    else:
        np.testing.assert_allclose(weighted, plain, rtol=1e-6, atol=1e-8 * np.abs(plain).max())


@pytest.mark.parametrize("kind", [GDA, KOC, KPLS, KLFE, TAKES, KFFS, FScore, ReliefF, AutoClassifier, AutoFeatures])
def test_class_weight_multiplies_sample_weight(kind, data):
    X, y, weights = data
    y = np.asarray(["setosa", "versicolor", "virginica"])[y]
    by_class = {"setosa": 3.0, "versicolor": 1.0, "virginica": 0.5}
    settings = {"gamma": 0.1} if "gamma" in kind().get_params() else {}
    for class_weight in (by_class, "balanced"):
        rows = weights * compute_sample_weight(class_weight, y)
        by_row = output(kind(**settings).fit(X, y, sample_weight=rows), X)
        both = output(kind(**settings, class_weight=class_weight).fit(X, y, sample_weight=weights), X)
        np.testing.assert_array_equal(by_row, both)


def test_f_of_copies_is_scikit_learns(data):
    X, y, weights = data
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    F, p = f_classif(X[copies], y[copies])
    found = FScore().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found.scores_, F, rtol=1e-10)
    np.testing.assert_allclose(found.pvalues_, p, rtol=1e-8)


def test_weighted_components_are_those_of_copies(data):
    X, _, weights = data
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    found = KPCA(2, kernel="linear").fit(X, sample_weight=weights)
    right = PCA(2).fit(X[copies]).transform(X)
    np.testing.assert_allclose(np.abs(found.transform(X)), np.abs(right), atol=1e-8)


def test_equal_weights_leave_the_components_of_a_wide_kernel_as_they_are(data):
    X = StandardScaler().fit_transform(data[0])
    plain = KPCA(3, gamma=1e-4).fit(X).eigenvalues_
    np.testing.assert_allclose(KPCA(3, gamma=1e-4).fit(X, sample_weight=np.ones(len(X))).eigenvalues_, plain, rtol=1e-6)


def test_numbers_follow_the_rows_that_count():
    X, y = make_friedman1(200, random_state=0)
    shifted = np.r_[y, y + 100.0]
    rows = np.r_[X, X]
    weights = np.r_[np.ones(200), np.full(200, 1e-6)]
    model = AutoRegressor(max_components=100).fit(rows, shifted, sample_weight=weights)
    assert np.abs(model.predict(X) - y).mean() < 5.0
    kpls = KPLS(2, gamma=0.1).fit(X, y, sample_weight=weights[:200])
    assert kpls.n_components_ == 2


def test_numbers_have_no_class_weights(data):
    X, _, _ = data
    with pytest.raises(ValueError, match="class_weight = 'balanced', but the labels are continuous"):
        KPLS(class_weight="balanced").fit(X, X[:, 0] + 0.5)


def test_where_weights_have_no_meaning_they_are_refused_by_name(data):
    X, y, weights = data
    with pytest.raises(TypeError, match=r"KMFA\.fit\(\) got an unexpected keyword argument 'sample_weight'"):
        KMFA().fit(X, y, sample_weight=weights)
    with pytest.raises(TypeError, match=r"LaplacianScore\.fit"):
        LaplacianScore().fit(X, sample_weight=weights)
    for name in ("csi", "kmeans", "kpca"):
        with pytest.raises(ValueError, match=f"`{name}` takes no sample weights"):
            KernelBasis(name, gamma=0.1, n_components=5).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="`koc` takes no sample weights"):
        KOC(n_clusters=2).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="is not mercer's"):
        EKS(SelectKBest(k=2)).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="weight of row 3 is -1"):
        GDA().fit(X, y, sample_weight=np.where(np.arange(len(X)) == 2, -1.0, 1.0))


def test_metadata_routing_hands_weights_on(data):
    X, y, weights = data
    set_config(enable_metadata_routing=True)
    try:
        gda = GDA(gamma=0.1).set_fit_request(sample_weight=True)
        model = make_pipeline(gda, LogisticRegression().set_fit_request(sample_weight=False))
        model.fit(X, y, sample_weight=weights)
        alone = GDA(gamma=0.1).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(model[0].transform(X), alone.transform(X))
        # Up to scikit-learn 1.7 the score of a pipeline takes no weights in a search; a scorer does.
        accuracy = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"gda__reg": [0.1, 1.0]}, scoring=accuracy, cv=3)
        search.fit(X, y, sample_weight=weights + 0.1)
        assert search.best_params_["gda__reg"] in (0.1, 1.0)
    finally:
        set_config(enable_metadata_routing=False)
