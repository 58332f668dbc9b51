"""Arrays that travelled between processes may start at any byte: results are those of the same values elsewhere."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.feature_selection import SelectKBest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

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
    TableEncoder,
    metrics,
)
from mercer._input import as_array, as_given, as_rows
from mercer.evidence import Margins, Moments

METHODS = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]

EXTRACTORS = [
    *[KernelBasis(method, gamma=0.5, n_components=5) for method in METHODS],
    KernelBasis("kobl", input_weights=True, n_components=5),
    KLFE(2),
    SKFE(2, tol=1e-2),
    GDA(),
    KOC(),
    AKDAQR(),
    KPLS(2),
    KMFA(2),
    KANMM(2),
    KPCA(2),
    TAKES(2),
    KRelief(2),
    SKRelief(2),
    EKS(n_features=2),
    EKS(SelectKBest(k=2)),
    AutoFeatures(max_components=20),
]
SELECTORS = [
    Relief(1),
    ReliefF(1),
    RReliefF(1, task="numbers"),
    MultiSURF(1),
    IRelief(1),
    LaplacianScore(1),
    FScore(1),
    MutualInfo(1),
    LassoSelector(1),
    KFFS(1),
    InputWeights(),
]
CLASSIFIERS = [AutoClassifier(max_components=20), KernelNeighborsClassifier(3)]
REGRESSORS = [AutoRegressor(max_components=20), KernelNeighborsRegressor(3)]


def named(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'method', '')}".rstrip("-")


def every(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=named)


def shifted(array):
    """Return a copy of an array that starts one byte after an aligned address; of CSR, one with three such parts."""
    if sparse.issparse(array):
        moved = array.copy()
        moved.data, moved.indices, moved.indptr = map(shifted, (array.data, array.indices, array.indptr))
        return moved
    array = np.ascontiguousarray(array)
    raw = bytearray(1 + array.nbytes)
    raw[1:] = array.tobytes()
    moved = np.frombuffer(raw, dtype=array.dtype, offset=1).reshape(array.shape)
    assert moved.flags.c_contiguous
    assert not moved.flags.aligned
    return moved


def travelled(model, protocol=5):
    """Return a model whose arrays were sent beside the pickle, and arrived at odd addresses."""
    buffers = []
    data = pickle.dumps(model, protocol=protocol, buffer_callback=buffers.append)
    arrived = []
    for buffer in buffers:
        raw = buffer.raw()
        moved = bytearray(1 + raw.nbytes)
        moved[1:] = raw
        arrived.append(memoryview(moved)[1:])
    return pickle.loads(data, buffers=arrived)


X, Y = make_moons(60, noise=0.1, random_state=0)
CODES = Y.astype(np.int64)
NUMBERS = X[:, 0] * X[:, 1]
SPARSE = sparse.csr_array(np.where(np.abs(X) < 0.3, 0.0, X))

# Rows in every form that reaches Rust.
FORMS = {"float64": X, "float32": X.astype(np.float32), "csr_array": SPARSE, "csr_matrix": sparse.csr_matrix(SPARSE)}
forms = pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS.keys())

# That float32 rounds, and how much, is no concern here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:float32 cannot distinguish"),
    pytest.mark.filterwarnings("ignore:float32 left an error"),
]


def same(found, expected):
    """Check that results are equal to the last bit."""
    if sparse.issparse(expected):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_array_equal(found, expected)


@every([*EXTRACTORS, *SELECTORS])
@forms
def test_a_fit_and_its_features_do_not_depend_on_where_rows_and_labels_lie(estimator, rows):
    here = clone(estimator).fit(rows, CODES)
    there = clone(estimator).fit(shifted(rows), shifted(CODES))
    same(there.transform(shifted(rows)), here.transform(rows))
    fitted_at_once = clone(estimator).fit_transform(shifted(rows), shifted(CODES))
    same(fitted_at_once, clone(estimator).fit_transform(rows, CODES))
    if hasattr(here, "scores_"):
        same(there.scores_, here.scores_)


@every(EXTRACTORS)
@forms
def test_slopes_and_pre_images_do_not_depend_on_where_rows_lie(estimator, rows):
    fitted = clone(estimator).fit(rows, CODES)
    same(fitted.input_importance(shifted(rows)), fitted.input_importance(rows))
    features = fitted.transform(rows)
    same(fitted.inverse_transform(shifted(features)), fitted.inverse_transform(features))


@every([e for e in SELECTORS if hasattr(e, "inverse_transform")])
def test_columns_put_back_do_not_depend_on_where_rows_lie(estimator):
    fitted = clone(estimator).fit(X, CODES)
    kept = fitted.transform(X)
    same(fitted.inverse_transform(shifted(kept)), fitted.inverse_transform(kept))


@every(CLASSIFIERS)
@forms
def test_predicted_classes_do_not_depend_on_where_rows_lie(estimator, rows):
    here, there = clone(estimator).fit(rows, CODES), clone(estimator).fit(shifted(rows), shifted(CODES))
    same(there.predict(shifted(rows)), here.predict(rows))
    same(there.predict_proba(shifted(rows)), here.predict_proba(rows))


@every(REGRESSORS)
@forms
def test_predicted_numbers_do_not_depend_on_where_rows_lie(estimator, rows):
    here, there = clone(estimator).fit(rows, NUMBERS), clone(estimator).fit(shifted(rows), shifted(NUMBERS))
    same(there.predict(shifted(rows)), here.predict(rows))


@pytest.mark.parametrize("labels", [CODES, CODES.astype(np.int32), CODES.astype(np.uint64), NUMBERS], ids=str)
def test_labels_of_any_type_may_lie_anywhere(labels):
    same(FScore().fit(X, shifted(labels)).scores_, FScore().fit(X, labels).scores_)
    same(KPLS(1).fit(X, shifted(labels)).transform(X), KPLS(1).fit(X, labels).transform(X))


@forms
def test_neighbours_do_not_depend_on_where_rows_lie(rows):
    here = KernelNeighborsClassifier(2).fit(rows, CODES)
    there = KernelNeighborsClassifier(2).fit(shifted(rows), CODES)
    for queries in (None, rows):
        expected = here.kneighbors(queries)
        found = there.kneighbors(None if queries is None else shifted(queries))
        for part, other in zip(found, expected, strict=True):
            same(part, other)


@forms
def test_batches_may_lie_anywhere(rows):
    def grown(place):
        basis = KernelBasis("sparse", gamma=0.5, nu=0.2)
        test = FScore()
        for start in (0, 20, 40):
            part = slice(start, start + 20)
            basis.partial_fit(place(rows[part]))
            test.partial_fit(place(rows[part]), place(CODES[part]))
        return basis.transform(rows), test.scores_

    for found, expected in zip(grown(shifted), grown(lambda part: part), strict=True):
        same(found, expected)


def test_landmarks_and_kernel_matrices_may_lie_anywhere():
    given = KernelBasis("nystrom", gamma=0.5, landmarks=shifted(X[:7])).fit(X)
    same(given.transform(X), KernelBasis("nystrom", gamma=0.5, landmarks=X[:7]).fit(X).transform(X))
    K = rbf_kernel(X)
    basis = KernelBasis("kobl", kernel="precomputed", n_components=5)
    same(clone(basis).fit(shifted(K)).transform(shifted(K)), clone(basis).fit(K).transform(K))


def test_measures_do_not_depend_on_where_rows_lie():
    K = rbf_kernel(X)
    basis = KernelBasis("kobl", gamma=0.5, n_components=5).fit(X)
    assert metrics.reconstruction_cost(basis, shifted(X)) == metrics.reconstruction_cost(basis, X)
    by_matrix = KernelBasis("kobl", kernel="precomputed", n_components=5).fit(K)
    assert metrics.orthogonality_loss(by_matrix, shifted(K)) == metrics.orthogonality_loss(by_matrix, K)
    assert metrics.kernel_alignment(shifted(K), shifted(CODES)) == metrics.kernel_alignment(K, CODES)
    assert metrics.relevant_dimension(shifted(K), shifted(CODES)) == metrics.relevant_dimension(K, CODES)


def same_sums(found, expected):
    assert found.finish().keys() == expected.finish().keys()
    for name, value in expected.finish().items():
        same(found.finish()[name], value)


def test_moments_do_not_depend_on_where_rows_and_earlier_sums_lie():
    here, there = Moments(2, 1), Moments(2, 1)
    for part in (slice(0, 30), slice(30, 60)):
        here.accumulate(X[part], NUMBERS[part])
        there = travelled(there).accumulate(shifted(X[part]), shifted(NUMBERS[part]))
    same_sums(travelled(there), here)
    same_sums(travelled(there).merge(travelled(there)), here.merge(here))


def test_margins_do_not_depend_on_where_rows_and_earlier_sums_lie():
    weights = np.linspace(0.5, 1.0, 30)
    here = Margins(2).accumulate("hit", X[:30], X[30:], weights).accumulate("miss", X[:30], X[30:])
    there = travelled(Margins(2)).accumulate("hit", shifted(X[:30]), shifted(X[30:]), shifted(weights))
    there = travelled(there).accumulate("miss", shifted(X[:30]), shifted(X[30:]))
    same_sums(travelled(there), here)
    same_sums(travelled(there).merge(travelled(there)), here.merge(here))


@forms
def test_comparisons_and_advice_do_not_depend_on_where_rows_lie(rows):
    how = {"methods": ["gda"], "evaluators": "ridge", "folds": 2}
    found = mercer.compare(shifted(rows), shifted(CODES), **how)
    expected = mercer.compare(rows, CODES, **how)
    pd.testing.assert_frame_equal(found.drop(columns="fit_seconds"), expected.drop(columns="fit_seconds"))
    assert str(mercer.advise(shifted(rows), shifted(CODES))) == str(mercer.advise(rows, CODES))


@pytest.mark.filterwarnings("ignore:labels differ within groups")
def test_groups_and_splits_of_ones_own_may_lie_anywhere():
    groups = np.arange(60) % 6
    splits = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    moved = [tuple(map(shifted, pair)) for pair in splits]
    for found, expected in (({"groups": shifted(groups)}, {"groups": groups}), ({"cv": moved}, {"cv": splits})):
        ours, theirs = (mercer.compare(X, CODES, methods="gda", folds=2, **how) for how in (found, expected))
        pd.testing.assert_frame_equal(ours.drop(columns="fit_seconds"), theirs.drop(columns="fit_seconds"))


@pytest.mark.parametrize("width", [1, 2])
def test_tables_may_lie_anywhere(width):
    # The one column of a narrow matrix is contiguous where it lies; those of a wider one are copied.
    rows = X[:, :width]
    encoder = TableEncoder().fit(rows)
    same(TableEncoder().fit_transform(shifted(rows)), rows)
    same(encoder.transform(shifted(rows)), rows)
    names = [f"c{j}" for j in range(width)]
    frame = pd.DataFrame(shifted(rows), columns=names, copy=False)
    same(TableEncoder().fit_transform(frame), rows)
    same(GDA().fit(frame, shifted(CODES)).transform(frame), GDA().fit(rows, CODES).transform(rows))
    dates = np.datetime64("2024-01-01", "ns") + np.arange(60).astype("timedelta64[D]")
    by_date = [TableEncoder().fit_transform(pd.DataFrame({"day": day}, copy=False)) for day in (shifted(dates), dates)]
    same(*by_date)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_batches_of_a_long_source_may_lie_anywhere(dtype):
    rows, labels = mercer.read_rows(
        [(shifted(X[:40]), shifted(CODES[:40])), (shifted(X[40:]), CODES[40:])], dtype=dtype
    )
    same(rows, X.astype(dtype))
    same(labels, CODES)
    # The second batch has a missing value, so that the columns are encoded from there on.
    frames = [pd.DataFrame({"a": shifted(X[:40, 0])}), pd.DataFrame({"a": shifted(np.append(X[40:, 0], np.nan))})]
    with pytest.warns(UserWarning, match="missing"):
        encoded, _ = mercer.read_rows(frames)
    same(encoded[:60, 0], X[:, 0])


@every([*EXTRACTORS, *SELECTORS, *CLASSIFIERS, *REGRESSORS])
@forms
def test_a_model_whose_arrays_travelled_is_the_same_model(estimator, rows):
    y = NUMBERS if estimator in REGRESSORS else CODES
    fitted = clone(estimator).fit(rows, y)
    call = "predict" if hasattr(fitted, "predict") else "transform"
    for arrived in (travelled(fitted), pickle.loads(pickle.dumps(fitted, protocol=2))):
        same(getattr(arrived, call)(rows), getattr(fitted, call)(rows))
        if hasattr(arrived, "partial_fit"):
            again, direct = (model.partial_fit(rows, y) for model in (arrived, clone(estimator).fit(rows, y)))
            same(again.transform(rows), direct.transform(rows))


def test_arrays_of_a_model_do_arrive_at_odd_addresses():
    fitted = KernelNeighborsClassifier(3).fit(X, CODES)
    assert not travelled(fitted)._rows.flags.aligned
    assert not travelled(FScore().fit(X, CODES)).pvalues_.flags.aligned


@every([*SELECTORS, KernelBasis("kobl", n_components=5), GDA(), AutoClassifier(max_components=20)])
def test_a_model_whose_arrays_travelled_can_be_saved(estimator, tmp_path):
    fitted = clone(estimator).fit(X, CODES)
    for name, model in (("here", fitted), ("there", travelled(fitted))):
        mercer.save(model, tmp_path / name)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    loaded = mercer.load(tmp_path / "there")
    same(loaded.transform(shifted(X)), loaded.transform(X))
    same(travelled(loaded).transform(X), loaded.transform(X))
    if isinstance(loaded, mercer.FeatureMap):
        same(loaded.input_importance(shifted(X)), loaded.input_importance(X))
        Z = loaded.transform(X)
        same(loaded.inverse_transform(shifted(Z)), loaded.inverse_transform(Z))
    if hasattr(estimator, "predict"):
        same(loaded.predict(shifted(X)), loaded.predict(X))
        same(loaded.predict_proba(shifted(X)), loaded.predict_proba(X))


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=named)
def test_a_pipeline_whose_arrays_travelled_can_be_saved(scaler, tmp_path):
    model = travelled(make_pipeline(clone(scaler), GDA()).fit(X, CODES))
    mercer.save(model, tmp_path / "model")
    np.testing.assert_allclose(mercer.load(tmp_path / "model").transform(X), model.transform(X), atol=1e-12)


def test_aligned_arrays_are_not_copied():
    for rows in (X, X.astype(np.float32)):
        assert as_given(rows) is rows
    assert as_array(CODES, np.int64) is CODES
    assert as_rows(SPARSE).data is SPARSE.data
