"""Dask beside mercer: collections are refused where they would be gathered, and fitted models serve as tasks."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    plot,
)
from mercer._input import is_collection
from mercer.evidence import Margins, Moments

da = pytest.importorskip("dask.array", reason="the collections are Dask's: pip install mercer[dask]")
dd = pytest.importorskip("dask.dataframe", reason="the collections are Dask's: pip install mercer[dask]")
distributed = pytest.importorskip("distributed", reason="the cluster is Dask's: pip install mercer[dask]")

MAPS = [
    KernelBasis("kobl", gamma=0.5, n_components=5),
    KernelBasis(n_components=5),
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
    AutoFeatures(max_components=20),
]
SELECTORS = [
    Relief(1),
    ReliefF(1, categorical_features="auto"),
    ReliefF(1, categorical_features=["a"]),
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
PREDICTORS = [
    AutoClassifier(max_components=20),
    AutoRegressor(max_components=20),
    KernelNeighborsClassifier(3),
    KernelNeighborsRegressor(3),
]
ALL = [*MAPS, *SELECTORS, *PREDICTORS, TableEncoder()]

X, Y = make_moons(60, noise=0.1, random_state=0)
FRAME = pd.DataFrame(X, columns=["a", "b"])


def every(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=lambda e: type(e).__name__)


def gathered(block):
    """Fail: this is what a collection's parts are made with, and nobody may ask for them."""
    raise AssertionError("the collection was gathered")


def never(values):
    """Return a collection like a matrix, a frame, a vector or a series that fails when it is gathered."""
    if isinstance(values, pd.DataFrame | pd.Series):
        return dd.from_pandas(values, npartitions=3).map_partitions(gathered, meta=values.iloc[:0])
    array = da.from_array(values, chunks=(20, *values.shape[1:]))
    return array.map_blocks(gathered, dtype=values.dtype, meta=np.empty((0,) * values.ndim, values.dtype))


# Rows and labels as collections, and what messages call them.
ROWS = {"dask Array": never(X), "dask DataFrame": never(FRAME)}
LABELS = {
    "dask Array": never(Y),
    "dask Series": never(pd.Series(Y)),
    # Categories are looked at before all else.
    "dask Series of categories": never(pd.Series(Y).astype("category")),
}
rows_of_any_kind = pytest.mark.parametrize(("kind", "rows"), ROWS.items(), ids=ROWS.keys())
labels_of_any_kind = pytest.mark.parametrize(("kind", "labels"), LABELS.items(), ids=LABELS.keys())


def refused(call, *arguments, words, **settings):
    """Check that a call refuses a collection in these words, and without gathering it."""
    with pytest.raises(TypeError) as caught:
        call(*arguments, **settings)
    message = str(caught.value)
    assert "\nhint: " in message
    for word in words:
        assert word in message


def test_collections_fail_when_they_are_gathered():
    for collection in (*ROWS.values(), *LABELS.values()):
        with pytest.raises(AssertionError, match="was gathered"):
            collection.compute()


@every(ALL)
@rows_of_any_kind
def test_a_fit_refuses_rows_of_a_collection(estimator, kind, rows):
    name = type(estimator).__name__
    hint = f"hint: mercer.dask.fit({name}(...), X, y) fits on it where it lies; X.compute() gathers it here"
    for labels in (Y, never(Y)):
        for method in ("fit", "fit_transform", "partial_fit"):
            if hasattr(estimator, method):
                call = getattr(clone(estimator), method)
                refused(call, rows, labels, words=[f"{name} was given a {kind} as X", hint])


# The others do not look at labels.
@every([e for e in ALL if not isinstance(e, LaplacianScore | TableEncoder | KPCA) and e is not MAPS[0]])
@labels_of_any_kind
def test_a_fit_refuses_labels_of_a_collection(estimator, kind, labels):
    name = type(estimator).__name__
    hint = f"hint: mercer.dask.fit({name}(...), X, y) fits on it where it lies; y.compute() gathers it here"
    rows = X if getattr(estimator, "categorical_features", None) is None else FRAME
    words = [f"{name} was given a {kind.removesuffix(' of categories')} as y", hint]
    refused(clone(estimator).fit, rows, labels, words=words)


@every([KernelBasis("sparse", gamma=0.5), FScore(1)])
@rows_of_any_kind
def test_a_later_batch_refuses_rows_of_a_collection(estimator, kind, rows):
    fitted = clone(estimator).fit(X, Y)
    refused(fitted.partial_fit, rows, Y, words=[f"a {kind} as X", "mercer.dask.fit("])


@every([*MAPS, *SELECTORS, TableEncoder()])
@rows_of_any_kind
def test_features_of_a_collection_are_refused(estimator, kind, rows):
    fitted = clone(estimator).fit(FRAME, Y)
    hint = "hint: mercer.dask.transform(estimator, X) transforms it where it lies; X.compute() gathers it here"
    refused(fitted.transform, rows, words=[f"{type(estimator).__name__} was given a {kind} as X", hint])


@every(MAPS)
@rows_of_any_kind
def test_slopes_and_pre_images_of_a_collection_are_refused(estimator, kind, rows):
    fitted = clone(estimator).fit(X, Y)
    for call in (fitted.input_importance, fitted.inverse_transform):
        refused(call, rows, words=[f"a {kind} as X", "X.compute() gathers it here"])


@every([e for e in SELECTORS if hasattr(e, "inverse_transform")])
@rows_of_any_kind
def test_columns_of_a_collection_are_not_put_back(estimator, kind, rows):
    fitted = clone(estimator).fit(FRAME, Y)
    refused(fitted.inverse_transform, rows, words=[f"a {kind} as X", "X.compute() gathers it here"])


@every(PREDICTORS)
@rows_of_any_kind
def test_predictions_of_a_collection_are_refused(estimator, kind, rows):
    fitted = clone(estimator).fit(X, Y)
    words = [f"{type(estimator).__name__} was given a {kind} as X", "map_blocks or map_partitions"]
    for method in ("predict", "predict_proba", "kneighbors"):
        if hasattr(fitted, method):
            refused(getattr(fitted, method), rows, words=words)


def test_landmarks_of_a_collection_are_refused():
    basis = KernelBasis("nystrom", landmarks=ROWS["dask Array"])
    refused(basis.fit, X, words=["a dask Array as landmarks", "landmarks.compute() gathers it here"])


@every([GDA(), AutoClassifier(max_components=20), FScore(1), InputWeights()])
@rows_of_any_kind
def test_loaded_models_refuse_collections(estimator, kind, rows, tmp_path):
    mercer.save(clone(estimator).fit(FRAME, Y), tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    said = f"{type(loaded).__name__} was given a {kind} as X"
    refused(loaded.transform, rows, words=[said, "hint: mercer.dask.transform(estimator, X)"])
    for method in ("predict", "predict_proba", "inverse_transform", "input_importance"):
        if hasattr(loaded, method):
            refused(getattr(loaded, method), rows, words=[said, "X.compute() gathers it here"])


@rows_of_any_kind
def test_functions_refuse_rows_of_a_collection(kind, rows):
    hint = "hint: mercer.dask.compare(X, y) compares on it where it lies; X.compute() gathers it here"
    refused(mercer.compare, rows, Y, words=[f"compare was given a {kind} as X", hint])
    refused(mercer.advise, rows, Y, words=[f"advise was given a {kind} as X", "hint: X.compute() gathers it here"])
    refused(mercer.read_rows, rows, words=[f"read_rows was given a {kind} as source", "source.partitions"])


@rows_of_any_kind
def test_measures_refuse_rows_of_a_collection(kind, rows):
    basis = KernelBasis("kobl", n_components=5).fit(X)
    for measure in (metrics.reconstruction_cost, metrics.orthogonality_loss):
        refused(measure, basis, rows, words=[f"KernelBasis was given a {kind} as X"])
    for measure in (metrics.kernel_alignment, metrics.relevant_dimension):
        refused(measure, rows, Y, words=[f"{measure.__name__} was given a {kind} as K"])


@rows_of_any_kind
def test_sums_refuse_rows_of_a_collection(kind, rows):
    refused(Moments(2).accumulate, rows, words=[f"Moments was given a {kind} as Z", "merge the sums"])
    refused(Margins(2).accumulate, "hit", rows, X, words=[f"Margins was given a {kind} as A", "merge the sums"])
    refused(Margins(2).accumulate, "hit", X, rows, words=[f"Margins was given a {kind} as B", "merge the sums"])


@rows_of_any_kind
def test_plots_refuse_rows_of_a_collection(kind, rows):
    model = make_pipeline(StandardScaler(), GDA()).fit(X, Y)
    for draw in (plot.features, plot.importance):
        refused(draw, model, rows, words=[f"a {kind} as X"])
    refused(plot.residual, model, X=rows, words=[f"a {kind} as X"])
    refused(plot.features, rows, words=[f"a {kind} as estimator"])


@labels_of_any_kind
def test_functions_refuse_labels_of_a_collection(kind, labels):
    words = [f"a {kind.removesuffix(' of categories')} as y", "y.compute() gathers it here"]
    for call in (mercer.compare, mercer.advise, Moments(2, 1).accumulate):
        refused(call, X, labels, words=words)
    for measure in (metrics.kernel_alignment, metrics.relevant_dimension):
        refused(measure, rbf_kernel(X), labels, words=words)
    refused(plot.features, GDA().fit(X, Y), X, labels, words=words)
    refused(mercer.compare, X, Y, groups=labels, words=["as groups"])
    refused(Margins(2).accumulate, "hit", X, X, labels, words=["as weights"])


def test_blocks_of_a_collection_can_be_read_one_by_one():
    for collection in (da.from_array(X, chunks=(25, 2)), dd.from_pandas(FRAME, npartitions=3)):
        rows, _ = mercer.read_rows(block.compute() for block in collection.partitions)
        np.testing.assert_array_equal(rows, X)


def test_objects_that_may_hold_a_collection_are_looked_into():
    class Labelled:
        def __init__(self, graph):
            self.graph = graph

        def __dask_graph__(self):
            return self.graph

    assert is_collection(Labelled({}))
    assert not is_collection(Labelled(None))
    assert not is_collection(Labelled)
    assert not any(is_collection(values) for values in (X, FRAME, [[1.0]], None, "no_validation"))


# Models that serve as tasks: what they return must not depend on where they are called.
MODELS = [
    GDA(),
    KernelBasis("kobl", gamma=0.5, n_components=5),
    KRelief(2),
    AutoFeatures(max_components=20),
    FScore(1),
    InputWeights(),
    make_pipeline(StandardScaler(), GDA()),
]


def fitted_and_loaded(estimator, folder):
    """Return a fitted model, and the same one out of a file."""
    fitted = clone(estimator).fit(X, Y)
    mercer.save(fitted, folder / "model")
    return [fitted, mercer.load(folder / "model")]


def check_blocks(models):
    """Check that models do in a collection's parts what they do to the rows in one piece."""
    rows = da.from_array(X, chunks=(25, 2))
    for model in models:
        expected = model.transform(X)
        chunks = (rows.chunks[0], (expected.shape[1],))
        for meta in ({}, {"meta": np.empty((0, 0))}):
            lazy = rows.map_blocks(model.transform, dtype=float, chunks=chunks, **meta)
            assert lazy.shape == expected.shape
            np.testing.assert_allclose(lazy.compute(), expected, rtol=0, atol=1e-12)


@every(MODELS)
def test_blocks_are_transformed_in_threads(estimator, tmp_path):
    import dask

    with dask.config.set(scheduler="threads"):
        check_blocks(fitted_and_loaded(estimator, tmp_path))


def test_blocks_without_a_type_are_refused_as_by_scikit_learn():
    # Dask then asks for the features of a matrix without the right number of columns.
    rows = da.from_array(X, chunks=(25, 2))
    for model in (PCA(2).fit(X), KernelBasis("kobl", n_components=2).fit(X)):
        with pytest.raises(ValueError, match="`dtype` inference failed") as caught:
            rows.map_blocks(model.transform)
        assert f"{type(model).__name__} is expecting 2 features as input" in str(caught.value)


def test_partitions_of_a_frame_are_transformed_with_their_names():
    model = GDA().fit(FRAME, Y).set_output(transform="pandas")
    expected = model.transform(FRAME)
    found = dd.from_pandas(FRAME, npartitions=3).map_partitions(model.transform, meta=expected.iloc[:0]).compute()
    pd.testing.assert_frame_equal(found, expected, atol=1e-12)


@pytest.fixture(scope="module")
def client():
    """Return a client of a cluster of one worker, in a process of its own."""
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster, distributed.Client(cluster) as client:
        yield client


@every(MODELS)
def test_blocks_are_transformed_on_a_cluster(client, estimator, tmp_path):
    check_blocks(fitted_and_loaded(estimator, tmp_path))


def test_rows_that_lie_on_a_cluster_are_transformed_there(client):
    rows = da.from_array(X, chunks=(7, 2)).persist()
    model = GDA().fit(X, Y)
    lazy = rows.map_blocks(model.transform, dtype=float, chunks=(rows.chunks[0], (1,)))
    np.testing.assert_allclose(lazy.compute(), model.transform(X), rtol=0, atol=1e-12)


def test_fits_are_tasks_of_a_cluster(client):
    fits = [client.submit(clone(estimator).fit, X, Y) for estimator in MODELS]
    for arrived, estimator in zip(client.gather(fits), MODELS, strict=True):
        np.testing.assert_array_equal(arrived.transform(X), clone(estimator).fit(X, Y).transform(X))


def test_cross_validation_runs_on_a_cluster(client):
    pipeline = make_pipeline(StandardScaler(), GDA(), KNeighborsClassifier())
    expected = cross_val_score(pipeline, X, Y, cv=3)
    with getattr(joblib, "parallel_config", joblib.parallel_backend)("dask"):  # the second before joblib 1.3
        found = cross_val_score(pipeline, X, Y, cv=3)
    np.testing.assert_array_equal(found, expected)
