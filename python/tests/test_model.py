"""Model files: what is written is read, and what was not written by us is refused."""

import json
import pickle
import struct

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import mercer
from mercer import EKS, TAKES, KernelBasis, KRelief, Relief, SKRelief

METHODS = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]
EPS = np.finfo(float).eps
IRIS = load_iris(as_frame=True)
X, Y = IRIS.data.to_numpy(), IRIS.target.to_numpy()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.mercer"


def round_trip(estimator, path):
    mercer.save(estimator, path)
    return mercer.load(path)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["rbf", "poly", "rq", "precomputed"])
def test_a_loaded_map_gives_the_same_bits(method, kernel, path):
    if method == "kmeans" and kernel == "precomputed":
        pytest.skip("refused: centres are means of rows")
    given = rbf_kernel(X, gamma=0.3) if kernel == "precomputed" else X
    settings = {"degree": 2, "coef0": 0.5, "alpha": 0.7, "n_components": 8}
    basis = KernelBasis(method, kernel=kernel, **settings).fit(given, Y)
    loaded = round_trip(basis, path)
    np.testing.assert_array_equal(loaded.transform(given), basis.transform(given))
    assert (loaded.method, loaded.kernel, loaded.gamma) == (method, kernel, basis.gamma_)
    assert loaded.n_features_in_ == basis.n_features_in_
    assert list(loaded.get_feature_names_out()) == list(basis.get_feature_names_out())
    assert loaded.facts["rows"] == 150
    assert loaded.facts["residual"] == pytest.approx(basis.residual_)
    assert loaded.scores is None
    assert not hasattr(loaded, "feature_names_in_")


def test_centred_components_keep_their_origin(path):
    basis = KernelBasis("kpca", center=True, n_components=3).fit(X)
    loaded = round_trip(basis, path)
    Z = basis.transform(X)
    np.testing.assert_array_equal(loaded.inverse_transform(Z), basis.inverse_transform(Z))


def test_sparse_landmarks_are_read_back(path):
    rows = sparse.csr_matrix(np.where(X > 3, X, 0.0))
    basis = KernelBasis(n_components=5).fit(rows)
    loaded = round_trip(basis, path)
    np.testing.assert_array_equal(loaded.transform(rows), basis.transform(rows))
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.transform(rows), basis.transform(rows))


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler(),
        MinMaxScaler(feature_range=(-2, 5)),
    ],
)
def test_the_scaler_of_a_pipeline_becomes_part_of_the_file(scaler, path):
    pipeline = make_pipeline(scaler, KernelBasis(n_components=8)).fit(IRIS.data)
    loaded = round_trip(pipeline, path)
    assert list(loaded.feature_names_in_) == list(IRIS.data.columns)
    basis = pipeline[-1]
    # Scaled numbers differ by rounding, and A enlarges that.
    tolerance = 100 * EPS * np.abs(basis.coefficients_).sum()
    np.testing.assert_allclose(loaded.transform(X), pipeline.transform(IRIS.data), rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        loaded.inverse_transform(pipeline.transform(IRIS.data)),
        pipeline.inverse_transform(pipeline.transform(IRIS.data)),
        rtol=0,
        atol=1e-6,
    )
    assert "scaled" in repr(loaded)
    again = round_trip(loaded, path)
    np.testing.assert_array_equal(again.transform(X), loaded.transform(X))


SYSTEMS = {
    "takes": TAKES(5),
    "k-relief": KRelief(3, weighted=True, n_neighbors=3),
    "sk-relief": SKRelief(3),
    "eks": EKS("mi", n_features=3, basis=KernelBasis("kpca", center=True)),
}


@pytest.mark.parametrize("method", SYSTEMS)
def test_a_system_is_read_back_to_the_last_bit(method, path):
    system = clone(SYSTEMS[method]).fit(IRIS.data, Y)
    loaded = round_trip(system, path)
    np.testing.assert_array_equal(loaded.transform(X), system.transform(IRIS.data))
    Z = system.transform(IRIS.data)
    np.testing.assert_array_equal(loaded.inverse_transform(Z), system.inverse_transform(Z))
    assert loaded.method == method
    assert loaded.gamma == system.basis_.gamma_
    assert list(loaded.feature_names_in_) == list(IRIS.data.columns)
    assert list(loaded.get_feature_names_out()) == list(system.get_feature_names_out())
    np.testing.assert_array_equal(loaded.scores, system.scores_[system.get_support()])
    facts = loaded.facts
    assert facts["rows"] == 150
    assert facts["basis"] == system.basis_.method
    assert facts["coordinates"] == system.basis_.n_components_
    assert facts["selector"] == {"takes": "kffs", "eks": "mi"}.get(method, "relief")
    assert facts["weighted"] == (method in ("takes", "k-relief"))
    if method == "takes":
        assert facts["error_path"] == list(system.error_path_)
    np.testing.assert_array_equal(loaded.input_importance(X), system.input_importance(IRIS.data).to_numpy())


@pytest.mark.parametrize("method", SYSTEMS)
def test_a_scaler_and_a_system_are_one_file(method, path):
    pipeline = make_pipeline(StandardScaler(), clone(SYSTEMS[method])).fit(IRIS.data, Y)
    loaded = round_trip(pipeline, path)
    largest = np.abs(pipeline[-1].basis_.coefficients_).sum() * np.abs(pipeline[-1].components_).max()
    np.testing.assert_allclose(loaded.transform(X), pipeline.transform(IRIS.data), rtol=0, atol=100 * EPS * largest)
    assert list(loaded.feature_names_in_) == list(IRIS.data.columns)
    assert "scaled" in repr(loaded)


def test_a_systems_file_has_no_landmarks_that_nothing_needs(path):
    system = KRelief(1, basis="kobl").fit(X, Y)
    loaded = round_trip(system, path)
    # A coordinate of kobl needs the pivots up to its own.
    assert f"{system.get_support(indices=True)[0] + 1} landmarks" in repr(loaded)


def test_systems_on_sparse_rows_and_given_kernels_are_read_back(path):
    rows = sparse.csr_matrix(np.where(X > 3, X, 0.0))
    system = KRelief(3, basis="kobl").fit(rows, Y)
    np.testing.assert_array_equal(round_trip(system, path).transform(rows), system.transform(rows))
    K = rbf_kernel(X, gamma=0.3)
    for method in ("kobl", "kpca"):
        system = EKS("relief", n_features=3, basis=KernelBasis(method, kernel="precomputed")).fit(K, Y)
        np.testing.assert_array_equal(round_trip(system, path).transform(K), system.transform(K))


def test_scaled_sparse_rows_keep_their_zeros(path):
    rows = sparse.csr_matrix(np.where(X > 3, X, 0.0))
    pipeline = make_pipeline(StandardScaler(with_mean=False), KernelBasis(n_components=5)).fit(rows)
    loaded = round_trip(pipeline, path)
    np.testing.assert_allclose(loaded.transform(rows), pipeline.transform(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (PCA(), "PCA cannot be saved"),
        (make_pipeline(PCA(), KernelBasis()), "a pipeline of PCA → KernelBasis cannot be saved"),
        (make_pipeline(KernelBasis(), StandardScaler()), "a pipeline of KernelBasis → StandardScaler"),
        (make_pipeline(PCA(), TAKES(5)), "a pipeline of PCA → TAKES"),
        (make_pipeline(StandardScaler(), Relief()), "a pipeline of StandardScaler → Relief"),
        (make_pipeline(MinMaxScaler(clip=True), KernelBasis()), "clip=True"),
    ],
)
def test_other_estimators_are_refused(estimator, words, path):
    with pytest.raises(TypeError, match=r"hint: ") as refused:
        mercer.save(estimator.fit(X, Y), path)
    assert words in str(refused.value)
    assert not path.exists()


def test_steps_that_do_nothing_are_passed_over(path):
    pipeline = Pipeline([("nothing", "passthrough"), ("basis", KernelBasis(n_components=3))]).fit(X)
    np.testing.assert_array_equal(round_trip(pipeline, path).transform(X), pipeline.transform(X))


def test_what_is_not_fitted_is_not_saved(path):
    with pytest.raises(NotFittedError):
        mercer.save(KernelBasis(), path)
    with pytest.raises(NotFittedError):
        mercer.save(make_pipeline(StandardScaler(), KernelBasis()), path)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_are_matched_by_name(frame, path):
    names = ["a", "b", "c", "d"]
    basis = KernelBasis(n_components=4).fit(frame(dict(zip(names, X.T, strict=True))))
    loaded = round_trip(basis, path)
    assert list(loaded.feature_names_in_) == names
    shuffled = frame({"target": ["x"] * len(X), **{name: X[:, names.index(name)] for name in ["d", "b", "a", "c"]}})
    np.testing.assert_array_equal(loaded.transform(shuffled), loaded.transform(X))
    with pytest.raises(ValueError, match="2 of the model's 4 input columns are missing: `b`, `d`\nhint: "):
        loaded.transform(frame({"a": X[:, 0], "c": X[:, 2], "e": X[:, 1], "f": X[:, 1]}))


def test_a_model_without_names_takes_frames_by_position(path):
    loaded = round_trip(KernelBasis(n_components=4).fit(X), path)
    np.testing.assert_array_equal(loaded.transform(IRIS.data), loaded.transform(X))
    with pytest.raises(ValueError, match="X has 3 features, but the map was fitted on 4"):
        loaded.transform(IRIS.data.iloc[:, :3])


def test_a_loaded_map_cannot_be_changed_and_can_be_pickled(path):
    loaded = round_trip(KernelBasis("nystrom", n_components=4).fit(X), path)
    for name in ("gamma", "method", "anything", "n_features_in_"):
        with pytest.raises(AttributeError, match="read-only"):
            setattr(loaded, name, 1)
    with pytest.raises(AttributeError, match="read-only"):
        del loaded.gamma
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.transform(X), loaded.transform(X))
    assert repr(again) == repr(loaded)
    assert repr(loaded).startswith("FeatureMap(method='nystrom', kernel='rbf', gamma=")
    assert "4 inputs -> 4 features, 4 landmarks)" in repr(loaded)
    assert loaded.transform(X.astype(np.float32)).dtype == np.float32


def test_a_bad_number_is_named_by_row_and_column(path):
    loaded = round_trip(make_pipeline(StandardScaler(), KernelBasis(n_components=2)).fit(IRIS.data), path)
    bad = X.copy()
    bad[6, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN at row 7, column 2 \(`sepal width \(cm\)`\)"):
        loaded.transform(bad)


def header_of(data):
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length]), 8 + length


def test_the_file_is_the_documented_one(path):
    """The command line reads the same tensors and header; see the top of `map.rs`."""
    basis = KernelBasis("gram-schmidt", n_components=3).fit(IRIS.data)
    mercer.save(basis, path)
    header, _ = header_of(path.read_bytes())
    about = json.loads(header.pop("__metadata__")["mercer"])
    assert {"matrix", "offset", "landmarks", "pivots", "pivot_norms"} <= set(header)
    assert header["matrix"]["shape"] == [3, 3]
    assert header["landmarks"] == {**header["landmarks"], "dtype": "F64", "shape": [3, 4]}
    assert about["format"] == 1
    assert about["method"] == "gram-schmidt"
    assert about["kernel"]["name"] == "rbf"
    assert about["input_names"] == list(IRIS.data.columns)
    assert about["feature_names"] == ["gramschmidt0", "gramschmidt1", "gramschmidt2"]


@pytest.fixture
def data(path):
    mercer.save(KernelBasis(n_components=3).fit(X), path)
    return path.read_bytes()


def test_a_truncated_file_is_refused_wherever_it_ends(data, path):
    for length in sorted({0, 1, 7, 8, 9, 100, header_of(data)[1], *range(0, len(data), 97), len(data) - 1}):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"truncated|not a mercer model") as refused:
            mercer.load(path)
        assert str(path) in str(refused.value)


def test_a_foreign_file_is_refused(path):
    path.write_text("a,b\n1,2\n" * 100)
    with pytest.raises(ValueError, match=r"(?s)not a mercer model.*hint: models are written by"):
        mercer.load(path)
    head = json.dumps({"__metadata__": {"format": "pt"}}).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head)
    with pytest.raises(ValueError, match="without mercer's header"):
        mercer.load(path)


def test_a_newer_file_is_refused(data, path):
    newer = data.replace(rb"\"format\":1", rb"\"format\":9")
    assert newer != data
    path.write_bytes(newer)
    with pytest.raises(ValueError, match="format 9, newer than this program's 3\nhint: update mercer"):
        mercer.load(path)


def test_a_tampered_file_is_refused(data, path):
    header, start = header_of(data)
    first, _ = header["matrix"]["data_offsets"]
    path.write_bytes(data[: start + first] + struct.pack("<d", np.nan) + data[start + first + 8 :])
    with pytest.raises(ValueError, match="`matrix` holds NaN at position 0"):
        mercer.load(path)
    for old, new in [
        (rb"\"name\":\"rbf\"", rb"\"name\":\"rbg\""),
        (rb"\"n_inputs\":4", rb"\"n_inputs\":5"),
        (rb"\"kfa2\"]", rb"\"kfa2\" "),
        (b'"shape":[3,3]', b'"shape":[3,9]'),
    ]:
        changed = data.replace(old, new)
        assert changed != data, old
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"model\.mercer"):
            mercer.load(path)


def test_the_operating_system_speaks_for_itself(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        mercer.load(tmp_path / "none.mercer")
    assert missing.value.errno == 2
    assert missing.value.filename == str(tmp_path / "none.mercer")
    with pytest.raises(IsADirectoryError):
        mercer.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        mercer.save(KernelBasis(n_components=1).fit(X), tmp_path / "no folder" / "model.mercer")


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=lambda scaler: type(scaler).__name__)
def test_a_scaler_of_float32_rows_is_saved(scaler, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    pipeline = make_pipeline(scaler, KernelBasis("kobl", n_components=5, gamma=0.3)).fit(X)
    mercer.save(pipeline, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_allclose(loaded.transform(X.astype(np.float64)), pipeline.transform(X), atol=1e-5)
