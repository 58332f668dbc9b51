"""Fits where the rows of a Dask collection lie are those of the rows in one place."""

import logging
import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

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
    FScore,
    KernelBasis,
    LaplacianScore,
    MutualInfo,
    Relief,
    ReliefF,
    RReliefF,
    SKRelief,
    _core,
)
from mercer.evidence import InProcess, fit_partitions

dask = pytest.importorskip("dask", reason="the collections are Dask's: pip install mercer[dask]")
da = pytest.importorskip("dask.array", reason="the collections are Dask's: pip install mercer[dask]")
dd = pytest.importorskip("dask.dataframe", reason="the collections are Dask's: pip install mercer[dask]")
distributed = pytest.importorskip("distributed", reason="the cluster is Dask's: pip install mercer[dask]")

from distributed.utils import key_split  # noqa: E402

from mercer.dask import _Collection, fit, transform  # noqa: E402

N, P = 6_000, 5
CUTS = (1_500, 1, 0, 2_499, 2_000)


@pytest.fixture(scope="module")
def client():
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def normal():
    return np.random.default_rng(0).normal(size=(N, P))


def sorted_by_class():
    X = normal()
    return X[np.argsort(X[:, 0] * X[:, 1] > 0, kind="stable")]


def integer_grid():
    return np.random.default_rng(1).integers(0, 6, size=(N, P)).astype(float)


def clusters():
    rng = np.random.default_rng(2)
    return rng.normal(scale=3.0, size=(20, P))[rng.integers(0, 20, N)] + rng.normal(scale=0.2, size=(N, P))


DATA = [normal, sorted_by_class, integer_grid, clusters]


def classes_of(X):
    return np.where(X[:, 0] * X[:, 1] > X[:, 2], "yes", "no")


def numbers_of(X):
    return X[:, 0] * X[:, 1] + np.sin(X[:, 2])


def cut(values, cuts=CUTS):
    return da.from_array(values, chunks=(cuts, *((size,) for size in values.shape[1:])))


def basis(method="kobl", **settings):
    return KernelBasis(method, **{"gamma": 0.1, "n_components": 25, "random_state": 0, **settings})


def gda(**settings):
    return GDA(basis=basis(**settings))


def difference(one, other, X):
    Z, W = one.transform(X), other.transform(X)
    return np.abs(Z - W).max() / np.abs(W).max()


def same_bits(one, other):
    """Return whether two fitted extractors are the same to the last bit."""
    attributes = [(model, name) for model in ("basis", "own") for name in ("coefficients_", "offset_", "components_")]
    found = []
    for model, name in attributes:
        pair = [(fitted.basis_ if model == "basis" else fitted) for fitted in (one, other)]
        if hasattr(pair[0], name):
            found.append(np.array_equal(getattr(pair[0], name), getattr(pair[1], name)))
    return len(found) >= 3 and all(found)


def keys_left(client):
    """Return the keys of fits that the scheduler still knows of, once it has had time to forget them."""
    for _ in range(50):
        keys = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        keys = [key for key in keys if "mercer" in key]
        if not keys:
            break
        time.sleep(0.1)
    return keys


# The same as the rows in one place.


@pytest.mark.parametrize("method", ["kobl", "rpcholesky", "nystrom"])
@pytest.mark.parametrize("data", DATA)
def test_pivots_are_those_of_the_local_fit(client, data, method):
    X = data()
    local, fitted = basis(method).fit(X), fit(basis(method), cut(X))
    assert np.array_equal(fitted.pivots_, local.pivots_)
    assert difference(fitted, local, X) < 1e-9
    assert fitted.n_samples_seen_ == N
    np.testing.assert_allclose(fitted.residual_, local.residual_, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("method", ["sparse", "kfa", "kmeans"])
@pytest.mark.parametrize("data", [integer_grid, clusters])
def test_other_bases_are_those_of_the_local_fit(client, data, method):
    X = data()
    settings = {"n_components": 20} if method == "kfa" else {}
    local, fitted = basis(method, **settings).fit(X), fit(basis(method, **settings), cut(X))
    if method != "kmeans":
        assert np.array_equal(fitted.pivots_, local.pivots_)
    assert difference(fitted, local, X) < 1e-9


EXTRACTORS = {
    "gda": (GDA(basis=basis()), classes_of),
    "koc": (KOC(basis=basis()), classes_of),
    "kpls of classes": (KPLS(basis=basis()), classes_of),
    "kpls of numbers": (KPLS(3, basis=basis()), numbers_of),
    "kpca": (KPCA(3, basis=basis()), None),
    "klfe": (KLFE(3, basis=basis(), n_queries=200, random_state=0), classes_of),
    "kanmm": (KANMM(3, basis=basis(), n_queries=200, random_state=0), classes_of),
    "akda-qr": (AKDAQR(gamma=0.1), classes_of),
    "takes": (TAKES(5, basis=basis()), classes_of),
    "sk-relief": (SKRelief(5, basis=basis(), n_queries=200, random_state=0), classes_of),
    "eks": (EKS("f", 5, basis=basis()), classes_of),
}


@pytest.mark.parametrize("name", EXTRACTORS)
def test_extractors_are_those_of_the_local_fit(client, name):
    estimator, labels = EXTRACTORS[name]
    X = normal()
    y, dy = (None, None) if labels is None else (labels(X), cut(labels(X)))
    local, fitted = clone(estimator).fit(X, y), fit(clone(estimator), cut(X), dy)
    assert difference(fitted, local, X) < 1e-9
    assert fitted.n_components_ == local.n_components_
    if hasattr(local, "scores_"):
        np.testing.assert_allclose(fitted.scores_, local.scores_, rtol=1e-9, atol=1e-12)


def test_skfe_is_as_well_aligned_as_the_local_fit(client):
    X = normal()
    y = classes_of(X)
    local, fitted = SKFE(2, basis=basis()).fit(X, y), fit(SKFE(2, basis=basis()), cut(X), cut(y))
    assert fitted.alignment_ == pytest.approx(local.alignment_, rel=1e-6)  # SKFE's own tolerance


SELECTORS = {
    "relief": (Relief(2, n_queries=200, random_state=0), classes_of),
    "relieff": (ReliefF(2, n_queries=200, random_state=0), classes_of),
    "rrelieff": (RReliefF(2, n_queries=200, random_state=0), numbers_of),
    "f of classes": (FScore(2), classes_of),
    "f of numbers": (FScore(2), numbers_of),
    "kffs": (KFFS(2), classes_of),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_are_those_of_the_local_fit(client, name):
    estimator, labels = SELECTORS[name]
    X = normal()
    local, fitted = clone(estimator).fit(X, labels(X)), fit(clone(estimator), cut(X), cut(labels(X)))
    np.testing.assert_allclose(fitted.scores_, local.scores_, rtol=1e-9, atol=1e-12)
    assert np.array_equal(fitted.get_support(), local.get_support())


def test_automatic_features_serve_the_labels(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    train = fit(
        AutoFeatures(max_components=60, random_state=0), cut(X[:400], (150, 0, 250)), cut(y[:400], (150, 0, 250))
    )
    Z = train.transform(X)
    assert LinearSVC().fit(Z[:400], y[:400]).score(Z[400:], y[400:]) > 0.9
    assert LinearSVC().fit(X[:400], y[:400]).score(X[400:], y[400:]) < 0.7


def test_the_same_partitions_give_the_same_bits(client):
    X = normal()
    dX, dy = cut(X), cut(classes_of(X))
    first = fit(gda(), dX, dy)
    assert all(same_bits(fit(gda(), dX, dy), first) for _ in range(2))


def test_long_trees_of_sums_are_those_of_pairs(client):
    X = normal()[:3_000]
    y = classes_of(X)
    cuts = (100,) * 30  # more than 8, which a task merges
    fitted = fit(gda(), cut(X, cuts), cut(y, cuts))
    assert same_bits(fitted, fit_partitions(gda(), kept_as(client, InProcess(np.split(X, 30), np.split(y, 30)))))


def kept_as(client, parts):
    parts.kept = _Collection(cut(normal()), None, client).kept
    return parts


# What may be given.


def test_partitions_may_be_tiny_or_lack_a_class(client):
    X = normal()
    y = np.where(np.arange(N) < 10, "rare", classes_of(X))
    cuts = (1, 9, 2_990, 3_000)
    fitted = fit(gda(), cut(X, cuts), cut(y, cuts))
    assert difference(fitted, gda().fit(X, y), X) < 1e-9


def test_rows_may_be_float32(client):
    X = normal().astype(np.float32)
    y = classes_of(X)
    fitted = fit(gda(), cut(X), cut(y))
    assert difference(fitted, gda(precision="double").fit(X.astype(float), y), X.astype(float)) < 1e-9
    assert transform(fitted, cut(X)).dtype == np.float32


def test_rows_may_be_whole_numbers(client):
    X = integer_grid()
    y = classes_of(X)
    assert difference(fit(gda(), cut(X.astype(int)), cut(y)), gda().fit(X, y), X) < 1e-9


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_blocks_may_be_sparse(client, kind):
    rng = np.random.default_rng(0)
    X = normal() * (rng.random((N, P)) < 0.3)
    y = classes_of(normal())
    dX = cut(X).map_blocks(kind)
    fitted = fit(gda(), dX, cut(y))
    assert difference(fitted, gda().fit(sparse.csr_array(X), y), X) < 1e-9
    Z = transform(fitted, dX)
    assert np.abs(Z.compute() - fitted.transform(X)).max() < 1e-9
    selected = transform(fit(FScore(2), dX, cut(y)), dX).compute()
    assert sparse.issparse(selected)
    assert np.array_equal(selected.toarray(), FScore(2).fit(X, y).transform(X))


def test_numbers_of_rows_may_be_unknown(client):
    X = normal()
    kept = X[:, 0] > -0.5
    dX, dy = cut(X), cut(classes_of(X))
    mask = dX[:, 0] > -0.5
    fitted = fit(gda(), dX[mask], dy[mask])
    assert difference(fitted, gda().fit(X[kept], classes_of(X)[kept]), X) < 1e-9
    Z = transform(fitted, dX[mask])
    assert np.isnan(Z.shape[0])
    assert Z.compute().shape == (kept.sum(), 1)


def test_labels_may_be_a_column(client):
    X = normal()
    y = classes_of(X)
    fitted = fit(gda(), cut(X), cut(y[:, None]))
    assert same_bits(fitted, fit(gda(), cut(X), cut(y)))


@pytest.mark.parametrize("labels", [("10", "2"), (0, 1), (2.0, 10.0), (False, True)])
def test_labels_are_read_as_locally(client, labels):
    X = normal()
    y = np.where(X[:, 0] * X[:, 1] > 0, *labels)
    fitted, local = fit(KOC(basis=basis()), cut(X), cut(y)), KOC(basis=basis()).fit(X, y)
    assert difference(fitted, local, X) < 1e-9


def test_labels_are_decided_from_all_partitions(client):
    X = normal()
    y = np.round(10 * numbers_of(X)).astype(int)  # few distinct values a partition, many in all
    with pytest.warns(UserWarning, match="the target was read as numbers"):
        local = FScore(2).fit(X, y)
    for cuts in ((N,), (15,) * 10 + (N - 150,)):
        with pytest.warns(UserWarning, match="the target was read as numbers"):
            fitted = fit(FScore(2), cut(X, cuts), cut(y, cuts))
        np.testing.assert_allclose(fitted.scores_, local.scores_, rtol=1e-9)


NAMES = [f"c{j}" for j in range(P)]


def frame_of(X, kind="float64"):
    return pd.DataFrame(X, columns=NAMES).astype(kind)


@pytest.mark.parametrize(
    ("kind", "text"), [("float64", "object"), ("Float64", "category"), ("float64[pyarrow]", "string[pyarrow]")]
)
def test_dataframes_of_pandas_types(client, kind, text):
    X = normal()
    frame = frame_of(X, kind).assign(label=pd.Series(np.where(X[:, 0] > 0, "10", "2")).astype(text))
    data = dd.from_pandas(frame, npartitions=3)
    fitted = fit(gda(n_components=20), data[NAMES], data["label"])
    assert list(fitted.feature_names_in_) == NAMES
    assert list(fitted.basis_.feature_names_in_) == NAMES
    local = gda(n_components=20).fit(frame_of(X), frame["label"].to_numpy(str))
    assert difference(fitted, local, frame_of(X)) < 1e-9


def test_dataframes_of_float32_and_whole_numbers(client):
    X = integer_grid()
    y = pd.Series(classes_of(X))
    for kind in ("float32", "int32"):
        frame = frame_of(X, kind)
        fitted = fit(gda(), dd.from_pandas(frame, npartitions=2), dd.from_pandas(y, npartitions=2))
        assert difference(fitted, gda(precision="double").fit(frame.astype(float), y), frame.astype(float)) < 1e-9


def test_columns_of_a_partition_may_have_another_order(client):
    X = normal()
    frame, y = frame_of(X), classes_of(X)
    parts = [dask.delayed(frame.iloc[:2_000]), dask.delayed(frame.iloc[2_000:][NAMES[::-1]])]
    data = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    fitted = fit(gda(), data, cut(y, (2_000, 4_000)))
    assert difference(fitted, gda().fit(frame, y), frame) < 1e-9


def test_partitions_of_a_dataframe_may_be_empty(client):
    X = normal()
    frame = frame_of(X).assign(row=np.arange(N), label=classes_of(X))
    data = dd.from_pandas(frame, npartitions=4)
    data = data[data.row >= 4_000]
    fitted = fit(gda(), data[NAMES], data["label"])
    assert difference(fitted, gda().fit(frame_of(X)[4_000:], classes_of(X)[4_000:]), frame_of(X)) < 1e-9


def test_estimators_come_back_ordinary(client, tmp_path):
    X = normal()
    estimator = gda()
    fitted = fit(estimator, cut(X), cut(classes_of(X)))
    assert fitted is estimator
    mercer.save(fitted, tmp_path / "model.json")
    Z = fitted.transform(X[:50])
    for again in (pickle.loads(pickle.dumps(fitted)), mercer.load(tmp_path / "model.json")):
        assert np.array_equal(again.transform(X[:50]), Z)
    assert difference(clone(fitted).fit(X, classes_of(X)), fitted, X) < 1e-9
    assert "dask" not in str(fitted.__dict__)


# Landmarks among some of the rows.


@pytest.mark.parametrize("method", ["kobl", "csi", "gram-schmidt", "kpca"])
def test_every_basis_may_be_chosen_among_some_rows(client, method):
    X = normal()
    y = classes_of(X)
    fitted = fit(gda(method=method, n_components=15), cut(X), cut(y), basis_rows=500)
    assert fitted.basis_.n_components_ == 15
    assert fitted.basis_.n_samples_seen_ == N
    assert fitted.basis_.landmarks_.shape[1] == P
    if method == "kobl":
        assert np.array_equal(fitted.basis_.landmarks_, X[fitted.basis_.pivots_])
    Z = fitted.transform(X)
    assert LinearSVC().fit(Z[:3_000], y[:3_000]).score(Z[3_000:], y[3_000:]) > 0.75


def test_some_rows_are_at_least_one(client):
    with pytest.raises(ValueError, match="basis_rows = 0, but at least 1 is needed"):
        fit(basis(), cut(normal()), basis_rows=0)


# Features.


def test_arrays_of_features_are_lazy_and_keep_chunks(client):
    X = normal()
    fitted = basis().fit(X)

    def breaks(block):
        raise AssertionError("computed before it was asked for")

    Z = transform(fitted, cut(X).map_blocks(breaks, meta=np.empty((0, 0))))
    assert isinstance(Z, da.Array)
    Z = transform(fitted, cut(X))
    assert Z.chunks == (CUTS, (25,))
    assert Z.dtype == np.float64
    assert Z._meta.dtype == np.float64
    np.testing.assert_allclose(Z.compute(), fitted.transform(X), atol=1e-12)
    np.testing.assert_allclose(Z.compute(scheduler="synchronous"), fitted.transform(X), atol=1e-12)
    assert {key_split(name) for name in Z.dask if "mercer" in str(name)} == {"mercer-transform"}


def test_dataframes_of_features_keep_divisions_index_and_types(client):
    X = normal()
    frame = frame_of(X).set_index(pd.Index(np.arange(N) * 2, name="day"))
    data = dd.from_pandas(frame.assign(label=classes_of(X)), npartitions=4)
    fitted = fit(gda(), data[NAMES], data["label"])
    Z = transform(fitted, data)  # with a column more, in another order
    assert Z.divisions == data.divisions
    assert list(Z.columns) == list(fitted.get_feature_names_out())
    found = Z.compute()
    assert found.index.equals(frame.index)
    assert found.index.name == "day"
    assert Z._meta.dtypes.equals(found.dtypes)
    assert Z._meta.index.name == "day"
    np.testing.assert_allclose(found.to_numpy(), fitted.transform(frame), atol=1e-12)
    nothing = transform(fitted, data[data.c0 > 99]).compute()
    assert nothing.shape == (0, 1)
    assert nothing.dtypes.equals(found.dtypes)
    single = transform(fitted, data[NAMES].astype("float32"))
    assert set(single._meta.dtypes) == set(single.compute().dtypes) == {np.dtype(np.float32)}


def test_features_of_other_columns_are_refused_at_once(client):
    X = normal()
    named, plain = basis().fit(frame_of(X)), basis().fit(X)
    with pytest.raises(ValueError, match="KernelBasis was fitted with columns that X does not have: `c3`, `c4`"):
        transform(named, dd.from_pandas(frame_of(X)[NAMES[:3]], npartitions=2))
    with pytest.raises(ValueError, match="X has 3 columns, but KernelBasis was fitted with 5"):
        transform(plain, cut(X[:, :3]))
    with pytest.raises(TypeError, match="X is a ndarray, but it must be an array or a dataframe of Dask\nhint: "):
        transform(plain, X)


# Errors, each with what to do.


def refused(kind, text, *arguments, **settings):
    """Assert that a fit is refused with this text, of which `…` may be anything, and the hint in it."""
    with pytest.raises(kind) as raised:
        fit(*arguments, **settings)
    message = str(raised.value)
    position = 0
    for part in text.split("…"):
        assert part in message[position:], message
        position = message.index(part, position) + len(part)


def test_without_a_client():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "default_client", no_client)
        refused(ValueError, "there is no Dask client\nhint: client = distributed.Client()", gda(), cut(normal()))


def no_client():
    raise ValueError("No clients found")


def test_with_an_asynchronous_client(client):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(client), "asynchronous", True)
        refused(TypeError, "client is asynchronous…\nhint: distributed.Client(", gda(), cut(normal()))


def test_estimators_that_are_none(client):
    X = cut(normal())
    y = cut(classes_of(normal()))
    refused(TypeError, "the class GDA, but it must be an estimator\nhint: mercer.dask.fit(GDA(...), X, y)", GDA, X, y)
    refused(TypeError, "the first argument is a Array, but it must be an estimator\nhint: ", X, y)
    refused(TypeError, "PCA is not fitted on collections of Dask\nhint: fit it on a sample", PCA(), X)
    refused(TypeError, "AutoClassifier is not fitted on collections of Dask\nhint: ", AutoClassifier(), X, y)
    refused(TypeError, "Pipeline is not fitted on coll…\nhint: ", make_pipeline(StandardScaler(), gda()), X, y)
    foreign = EKS(SelectKBest(k=2), basis=basis())
    refused(TypeError, "selector SelectKBest looks at all rows…\nhint: use a selector of mercer", foreign, X, y)


def test_rows_that_are_none(client):
    X = normal()
    y = cut(classes_of(X))
    refused(TypeError, "X is a ndarray, but it must be an array or a dataframe of Dask\nhint: ", gda(), X, y)
    refused(TypeError, "X is a Delayed…, but it must be", gda(), dask.delayed(X), y)
    refused(TypeError, "X is a Series, but it must be", gda(), dd.from_pandas(pd.Series(X[:, 0]), npartitions=2), y)
    refused(ValueError, "X has 1 dimensions, but rows have 2\nhint: X.reshape", gda(), cut(X[:, 0]), y)
    by_columns = da.from_array(X, chunks=(2_000, 3))
    refused(ValueError, "X is cut between columns\nhint: X.rechunk({1: -1})", gda(), by_columns, y)
    unknown = da.from_delayed(dask.delayed(X), (np.nan, np.nan), float)
    refused(ValueError, "number of columns of X is not known\nhint: X.compute_chunk_sizes()", gda(), unknown, y)


def test_labels_that_are_none(client):
    X = normal()
    y, dX = classes_of(X), cut(X)
    refused(TypeError, "X is a collection of Dask, but y is a ndarray\nhint: …da.from_array(y, chunks=", gda(), dX, y)
    refused(TypeError, "y is a Delayed…, but it must be an array or a series", gda(), dX, dask.delayed(y))
    refused(ValueError, "y has 2 columns, but labels have 1\nhint: ", gda(), dX, cut(np.stack([y, y], axis=1)))
    refused(ValueError, "gda…labels…\nhint: ", gda(), dX)
    refused(ValueError, "AutoFeatures looks at the labels, but none were given\nhint: ", AutoFeatures(), dX)


def test_partitions_that_differ(client):
    X = normal()
    y = classes_of(X)
    other = cut(y, (3_000, 3_000))
    refused(ValueError, "X has 5 partitions, but y has 2\nhint: …rechunk", gda(), cut(X), other)
    other = cut(y[1:], (1_499, *CUTS[1:]))
    refused(ValueError, "partition 1: 1500 rows, but 1499 labels\nhint: cut X and y", gda(), cut(X), other)
    frame = frame_of(X)
    parts = [dask.delayed(frame[:10]), dask.delayed(frame[10:].rename(columns={"c1": "d"}))]
    data = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    text = "partition 2: its columns differ…by name: `c1` missing; `d` not expected\nhint: "
    refused(ValueError, text, gda(), data, cut(y, (10, N - 10)))
    widths = [dask.delayed(X[:10]), dask.delayed(X[10:, :3])]
    data = da.concatenate([da.from_delayed(part, (np.nan, P), float) for part in widths])
    refused(ValueError, "partition 2: the shape is (5990, 3), but X has 5 columns", basis(), data)


def test_the_first_partition_that_fails_is_reported(client):
    X = normal()
    y = classes_of(X)
    text = "partition 1: 1500 rows, but 1499 labels"
    for _ in range(3):
        refused(ValueError, text, gda(), cut(X), cut(y, (1_499, 2, 1, 2_498, 2_000)))


def test_numbers_that_are_not_finite(client):
    X = normal()
    y, t = classes_of(X), numbers_of(X)
    X[4_321, 2] = np.nan
    refused(ValueError, "row 4322, column 3", gda(), cut(X), cut(y))
    refused(ValueError, "row 4322, column 3", FScore(2), cut(X), cut(y))
    frame = frame_of(X, "Float64")
    frame.loc[4_321, "c2"] = pd.NA
    refused(ValueError, "row 4322…`c2`", gda(), dd.from_pandas(frame, npartitions=3), cut(y, (2_000,) * 3))
    X[4_321, 2] = np.inf
    refused(ValueError, "row 4322, column 3", basis(), cut(X))
    t[1_500] = np.nan
    refused(ValueError, "row 1501", KPLS(basis=basis()), cut(normal()), cut(t))
    labels = dd.from_pandas(pd.Series(y, dtype="string[pyarrow]").where(X[:, 0] > -3), npartitions=3)
    missing = "y has the type object…\nhint: fill or drop missing labels"
    refused(ValueError, missing, gda(), cut(normal(), (2_000,) * 3), labels)


def test_columns_of_text(client):
    frame = frame_of(normal()).assign(town="here")
    text = "columns of text cannot be compared as numbers: `town`\nhint: "
    refused(ValueError, text, basis(), dd.from_pandas(frame, npartitions=2))


def test_no_rows_at_all(client):
    X = cut(normal())
    nothing = X[X[:, 0] > 99]
    refused(ValueError, "all 5 partitions are empty; at least one row is needed", basis(), nothing)


AT_ONCE = {
    "a precomputed kernel": KernelBasis("kobl", kernel="precomputed"),
    "the basis `csi` looks at all rows at once…\nhint: …basis_rows": GDA(basis=KernelBasis("csi", n_components=9)),
    "the basis `gram-schmidt` looks at all rows at once…\nhint: …basis_rows": KernelBasis("gram-schmidt"),
    "the basis `kpca` looks at all rows at once…\nhint: …basis_rows": KernelBasis("kpca", n_components=3),
    "`kmfa` looks at all rows at once…\nhint: fit on a sample": KMFA(basis=basis()),
    "`klfe` compares every row…\nhint: set n_queries": KLFE(basis=basis()),
    "`kanmm` compares every row…\nhint: set n_queries": KANMM(basis=basis()),
    "`relief` compares every row with all others…\nhint: set n_queries": Relief(2),
    "`relieff` compares every row with all others…\nhint: set n_queries": ReliefF(2),
    "`mi` looks at all rows at once…\nhint: fit on a sample": MutualInfo(2),
    "`laplacian` looks at all rows at once…\nhint: fit on a sample": LaplacianScore(2),
    "categorical_features are not compared…\nhint: ": Relief(2, n_queries=9, categorical_features=[0]),
}


@pytest.mark.parametrize("text", AT_ONCE)
def test_methods_that_look_at_all_rows_at_once_are_refused_by_name(client, text):
    X = normal()
    refused(ValueError, text, clone(AT_ONCE[text]), cut(X), cut(classes_of(X)))


# What runs on the cluster.


def test_nothing_is_left_on_the_cluster(client):
    X = normal()
    fit(gda(), cut(X), cut(classes_of(X)))
    X[0, 0] = np.nan
    refused(ValueError, "row 1, column 1", gda(), cut(X), cut(classes_of(X)))
    assert keys_left(client) == []


def test_tasks_are_named_after_what_they_do(client):
    X = normal()
    groups = set()
    start = _Collection.start

    def watched(self, *arguments):
        start(self, *arguments)
        keys = [future.key for future in [*self.parts, *self.pending, *self.states] if future is not None]
        groups.update(key_split(key) for key in keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Collection, "start", watched)
        fit(gda(), cut(X), cut(classes_of(X)))
        fit(basis("rpcholesky"), cut(X))
        fit(FScore(2), cut(X), cut(classes_of(X)))
    names = "open look label begin take offer draw open-sum advance answer merge"
    assert groups >= {f"mercer-{name}" for name in names.split()}
    assert all(name.startswith("mercer-") and "-" not in name[-1] for name in groups)


def test_a_question_travels_once_and_in_messages_of_a_moderate_size(client, monkeypatch):
    X = normal()
    want = fit(gda(), cut(X), cut(classes_of(X)))
    monkeypatch.setattr("mercer.dask._MESSAGE_BYTES", 1_000)
    assert same_bits(fit(gda(), cut(X), cut(classes_of(X))), want)


def test_progress_goes_to_stderr(client, capfd):
    X = normal()
    fit(basis(n_components=400, threshold=0.0, verbose=1), cut(X))
    said = capfd.readouterr()
    assert said.out == ""
    assert "choosing pivots" in said.err
    fit(basis(), cut(X))
    assert capfd.readouterr().err == ""


def test_a_cluster_of_threads_in_this_process():
    X = normal()
    y = classes_of(X)
    own = _core.n_threads()
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=own + 1, processes=False, **quiet) as cluster,
        distributed.Client(cluster, set_as_default=False) as threads,
    ):
        fitted = fit(gda(), cut(X), cut(y), client=threads)
        Z = threads.compute(transform(fitted, cut(X))).result()
    assert difference(fitted, gda().fit(X, y), X) < 1e-9
    np.testing.assert_allclose(Z, fitted.transform(X), atol=1e-12)
    assert _core.n_threads() == own


# Partitions in this process.


def test_partitions_in_this_process_are_those_of_a_cluster(client):
    X = normal()
    y = classes_of(X)
    ends = np.cumsum(CUTS)[:-1]
    parts = kept_as(client, InProcess(np.split(X, ends), np.split(y, ends)))
    assert same_bits(fit_partitions(gda(), parts), fit(gda(), cut(X), cut(y)))


def test_partitions_in_this_process_are_checked():
    with pytest.raises(ValueError, match="X has 2 partitions, but y has 1"):
        InProcess([[[0.0]], [[1.0]]], [["a"]])
    with pytest.raises(ValueError, match="1 rows, but 2 labels\nhint: "):
        InProcess([[[0.0]]], [["a", "b"]])
    with pytest.raises(ValueError, match="1 dimensions, but rows have 2"):
        InProcess([[0.0, 1.0]])
    with pytest.raises(ValueError, match="partition 2 has 1 columns, but those before it have 2"):
        fit_partitions(basis(), InProcess([[[0.0, 1.0]], [[1.0]]]))
    with pytest.raises(ValueError, match="the target is text in some partitions and numbers in others\nhint: "):
        fit_partitions(FScore(1), InProcess([[[0.0]], [[1.0]]], [["a"], [1]]))
    assert fit_partitions(basis(n_components=1), InProcess([np.empty((0, 0)), [[0.0, 1.0]]])).n_features_in_ == 2


def test_partitions_forget_an_earlier_fit():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 1.0, 9.0]
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    parts, fresh = (InProcess(np.split(X, 2), np.split(y, 2)) for _ in range(2))
    fit_partitions(KOC(basis=basis(input_weights=True)), parts)
    parts.weights, parts.ridge_rows = [1.0, 2.0, 3.0], 50  # as AutoFeatures leaves them
    assert same_bits(fit_partitions(gda(), parts), fit_partitions(gda(), fresh))


def test_a_comparison_runs_its_splits_as_tasks(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "b", "a")
    settings = {"methods": ["gda", "klfe"], "folds": 3, "evaluators": "ridge"}
    found = mercer.dask.compare(da.from_array(X, chunks=(90, 3)), da.from_array(y, chunks=90), **settings)
    here = mercer.compare(X, y, **settings)
    pd.testing.assert_frame_equal(found.drop(columns="fit_seconds"), here.drop(columns="fit_seconds"))
    assert found.attrs["rows_in_all"] == 300
    some = mercer.dask.compare(da.from_array(X, chunks=(90, 3)), da.from_array(y, chunks=90), n_rows=120, **settings)
    assert (some.attrs["rows"], some.attrs["rows_in_all"], some.attrs["splits"]) == (120, 300, 3)


@pytest.mark.parametrize("name", ["cv", "groups", "estimators", "score"])
def test_what_a_comparison_cannot_do_in_partitions_is_refused_by_name(client, name):
    X, y = da.ones((20, 2), chunks=(10, 2)), da.ones(20, chunks=10)
    with pytest.raises(ValueError, match=rf"{name}: not for rows in partitions[\s\S]*hint"):
        mercer.dask.compare(X, y, **{name: len})
