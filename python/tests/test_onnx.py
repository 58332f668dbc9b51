"""ONNX models give what transform and predict give, run by ONNX Runtime."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

import mercer
from mercer import KernelBasis, extract, select, systems
from mercer._catalogue import stage

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")

import mercer.onnx  # noqa: E402

# Relative to the largest output; in float32 to 1, which √k(x,x) is for most kernels, if that is larger: what
# `transform` promises of float32 rows.
CLOSE = {"float64": 1e-10, "float32": 1e-5}

KERNELS = {
    "rbf": {},
    "laplacian": {},
    "linear": {},
    "poly": {"degree": 3, "coef0": 0.7},
    # Not positive semi-definite: few components of nearly linear values.
    "sigmoid": {"gamma": 0.01, "coef0": 0.01},
    "cosine": {},
    "matern12": {},
    "matern32": {},
    "matern52": {},
    "rq": {"alpha": 1.7},
    "chi2": {},
    "additive_chi2": {},
    "match": {},
    "precomputed": {},
    "0.5*rbf(columns=0:2)*match(columns=2:4)+0.1*linear+0.2": {},
    "poly(gamma=0.1,columns=1,3)*laplacian+2*cosine*cosine*matern32(columns=0)": {"degree": 2, "coef0": 0.7},
    "additive_chi2(columns=0:3)*chi2+rq": {"alpha": 1.7},
}
BASES = list(stage("basis"))
EXTRACTORS = [getattr(extract, name) for name in extract.__all__]
SYSTEMS = [getattr(systems, name) for name in systems.__all__]
SELECTORS = [getattr(select, name) for name in select.__all__]


def data(n=48, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.digitize(X[:, 0] * X[:, -1] + 0.5 * X[:, 0], [-0.4, 0.4])


def rows_for(kernel):
    """Return rows to fit on, labels, and other rows: those that a kernel can use."""
    X, y = data()
    new, _ = data(20, seed=1)
    if "chi2" in kernel:
        return np.abs(X), y, np.abs(new)
    if "match" in kernel:
        X[:, 2:], new[:, 2:] = np.round(2 * X[:, 2:]), np.round(2 * new[:, 2:])
    if kernel == "precomputed":
        return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)), y, np.exp(-0.3 * ((new[:, None] - X) ** 2).sum(-1))
    return X, y, new


def run(model, X):
    """Return the outputs of a checked model, by name."""
    proto = onnx.load_from_string(model) if isinstance(model, bytes) else model
    onnx.checker.check_model(proto, full_check=True)
    session = ort.InferenceSession(proto.SerializeToString())
    assert [one.name for one in session.get_inputs()] == ["X"]
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, {"X": X}), strict=True))


def check(estimator, *tables, name="variable", call="transform", **settings):
    """Compare a model with the estimator: all rows at once, one row, and none."""
    for dtype, close in CLOSE.items():
        model = mercer.to_onnx(estimator, dtype=dtype, **settings)
        for X in tables:
            X = np.ascontiguousarray(X, dtype=dtype)
            expected = np.asarray(getattr(estimator, call)(X))
            expected = expected.reshape(len(X), -1)
            got = run(model, X)[name]
            assert got.dtype == dtype
            assert got.shape == expected.shape
            scale = np.abs(expected).max(initial=1.0 if dtype == "float32" else 0.0)
            assert np.abs(got - expected).max(initial=0.0) <= close * scale, dtype
            one = run(model, X[:1])[name]
            assert np.abs(one - expected[:1]).max(initial=0.0) <= close * scale, dtype
            assert run(model, X[:0])[name].shape == (0, expected.shape[1])


def basis_of(method, kernel):
    own = {"n_components": 2 if kernel == "sigmoid" else 8, **KERNELS[kernel]}
    return KernelBasis(method, kernel=kernel, random_state=0, **own)


# What a fit refuses: means of rows that are not there, or that equal no row.
REFUSED = {("kmeans", "precomputed"), ("AKDAQR", "precomputed"), ("AKDAQR", "match")}


def fitted(estimator, X, y, case):
    if case not in REFUSED:
        return estimator.fit(X, y)
    with pytest.raises((ValueError, mercer.NumericalError)):
        estimator.fit(X, y)
    return None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", BASES)
def test_every_basis_with_every_kernel(method, kernel):
    X, y, new = rows_for(kernel)
    basis = fitted(basis_of(method, kernel), X, y, (method, kernel))
    if basis is not None:
        check(basis, X, new)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [*EXTRACTORS, *SYSTEMS], ids=lambda kind: kind.__name__)
def test_every_extractor_and_system_with_every_kernel(kind, kernel):
    X, y, new = rows_for(kernel)
    # With ten neighbours of 16 rows a class, no direction of two has misses farther away than hits.
    few = {"n_neighbors": 5} if kind is mercer.KANMM else {}
    method = kind(basis=basis_of("nystrom" if kernel == "sigmoid" else "kobl", kernel), **few)
    method = fitted(method, X, y, (kind.__name__, kernel))
    if method is not None:
        check(method, X, new)


@pytest.mark.parametrize("kind", SELECTORS, ids=lambda kind: kind.__name__)
def test_every_selector_copies_columns_bit_by_bit(kind):
    X, y = data()
    selector = kind(2).fit(X, X[:, 1] if kind is mercer.RReliefF else y)
    X[0, 0] = np.nan
    for dtype in CLOSE:
        got = run(mercer.to_onnx(selector, dtype=dtype), X.astype(dtype))["variable"]
        assert got.tobytes() == np.ascontiguousarray(X.astype(dtype)[:, selector.get_support()]).tobytes()
    with pytest.raises(TypeError, match=r"StandardScaler → .* cannot be exported"):
        mercer.to_onnx(make_pipeline(StandardScaler(), selector))


def test_columns_are_multiplied_by_their_weights():
    X, y = data()
    check(mercer.InputWeights().fit(X, y), X)


NASTY = {
    "constant column": lambda X: np.column_stack([X[:, :2], np.full(len(X), 7.0)]),
    "one column": lambda X: X[:, :1],
    "duplicate rows": lambda X: np.repeat(X[:8], 6, axis=0),
    "tiny": lambda X: 1e-9 * X,
    "huge": lambda X: 1e9 * X,
    "far from 0": lambda X: X + 1e3,
    "tight clusters": lambda X: np.round(X) * 10 + 1e-2 * X,
    "fewer rows than columns": lambda X: X.reshape(4, -1),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern12", "matern52", "cosine", "poly"])
def test_hard_rows(kernel, nasty):
    X = NASTY[nasty](data()[0])
    if nasty == "huge" and kernel == "poly":
        X = X / 1e6  # cubes of 1e9 are no numbers that a coordinate keeps
    check(KernelBasis("kobl", kernel=kernel, n_components=6).fit(X), X)


def test_many_equal_pairs_are_looked_at_in_pieces():
    X = np.repeat(data(30)[0], 40, axis=0)  # 1 200 rows, of which each equals a landmark: more than a piece a landmark
    basis = KernelBasis("kobl", kernel="matern12", n_components=30).fit(X[::40])
    check(basis, np.repeat(X, 10, axis=0))


def test_a_row_that_is_a_landmark_is_at_distance_0():
    X = data()[0] + 1e4
    basis = KernelBasis("kobl", kernel="matern12", gamma=0.1, n_components=1).fit(X)
    at = basis.pivots_[0]
    got = run(mercer.to_onnx(basis), X[at : at + 1])["variable"]
    assert got.tolist() == [[1.0]]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler((-1, 2)), Normalizer()], ids=lambda s: type(s).__name__
)
def test_a_scaler_is_part_of_the_model(scaler, tmp_path):
    X, y = data()
    X = X * [1.0, 10.0, 100.0, 0.1]
    if not isinstance(scaler, Normalizer):  # else all rows would be nearly the same
        X += [0.0, 5.0, 1000.0, -3.0]
    X[3] = X[4]
    pipeline = make_pipeline(scaler, mercer.GDA(basis=KernelBasis("kobl", n_components=10))).fit(X, y)
    check(pipeline, X)
    mercer.save(pipeline, tmp_path / "scaled.mercer")
    check(mercer.load(tmp_path / "scaled.mercer"), X)


def test_rows_of_zeros_stay_zeros():
    X, y = data()
    X[5] = 0.0
    check(make_pipeline(Normalizer(), KernelBasis("kobl", n_components=6)).fit(X, y), X)
    check(KernelBasis("kobl", kernel="cosine", n_components=3).fit(X, y), X)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "kernel",
    ["rbf", "laplacian", "linear", "cosine", "chi2", "additive_chi2", "match", "rbf(columns=0,2)*match+0.5*linear"],
)
def test_sparse_landmarks_are_written_as_dense_ones(kernel):
    X = np.abs(data()[0])
    X[X < 0.8] = 0.0
    check(KernelBasis("kobl", kernel=kernel, n_components=4).fit(sparse.csr_array(X)), X)


@pytest.mark.parametrize("labels", ["integers", "text", "booleans", "text of numbers"])
def test_classes_are_predicted_with_probabilities(labels):
    X, y = data(80)
    y = {
        "integers": y * 10 - 7,
        "text": np.array(["red", "green", "blue"])[y],
        "booleans": y > 0,
        "text of numbers": np.array(["9", "10", "-3"])[y],
    }[labels]
    model = mercer.AutoClassifier(max_components=30).fit(X, y)
    check(model, X, name="probabilities", call="predict_proba")
    got = run(mercer.to_onnx(model), X)
    assert list(got) == ["label", "probabilities"]
    assert got["label"].dtype == (np.int64 if labels in ("integers", "booleans") else object)
    np.testing.assert_array_equal(got["label"], model.predict(X))
    assert run(mercer.to_onnx(model), X[:0])["label"].shape == (0,)
    check(model.features_, X, features=True)
    # A model without the estimator knows its classes by their names.
    got = run(mercer.to_onnx(model.features_), X)
    assert got["label"].dtype == (object if labels == "text" else np.int64)
    np.testing.assert_array_equal(got["label"], model.features_.predict(X))
    np.testing.assert_allclose(got["probabilities"], model.features_.predict_proba(X), rtol=0, atol=1e-12)


def test_numbers_are_predicted():
    X, _ = data(80)
    y = np.sin(X[:, 0]) + X[:, 1]
    check(mercer.AutoRegressor(max_components=30).fit(X, y), X, call="predict")
    check(make_pipeline(mercer.AutoFeatures(), Ridge())[:1].fit(X, y), X)


def test_missing_numbers_are_filled_as_the_table_encoder_does():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "a"] = np.nan
    frame["e"] = X[:, 0] > 0
    pipeline = make_pipeline(mercer.TableEncoder(), StandardScaler(), mercer.GDA()).fit(frame, y)
    table = frame.to_numpy(dtype=np.float64)
    table[7, 1] = np.nan  # no training row was missing here
    frame.loc[7, "b"] = np.nan
    expected = pipeline.transform(frame)
    model = onnx.load_from_string(mercer.to_onnx(pipeline))
    got = run(model, table)["variable"]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(facts["mercer_input_names"]) == list("abcde")


def test_categories_are_refused_by_name_unless_they_are_encoded():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.array(["red", "blue", "green"])[y])
    pipeline = make_pipeline(mercer.TableEncoder(), mercer.GDA()).fit(frame, y)
    with pytest.raises(ValueError, match=r"column `colour` .* is a category") as error:
        mercer.to_onnx(pipeline)
    assert "encoded=True" in str(error.value)
    encoded = pipeline[0].transform(frame)
    got = run(mercer.to_onnx(pipeline, encoded=True), np.asarray(encoded, dtype=np.float64))["variable"]
    np.testing.assert_allclose(got, pipeline.transform(frame), rtol=0, atol=1e-10)


@pytest.mark.parametrize("opset", [13, 14, 17, 18, 20, 21, 22])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "cosine", "match+additive_chi2*rbf(columns=0:2)"])
def test_every_version_of_the_operators(kernel, opset):
    if opset > onnx.defs.onnx_opset_version():
        pytest.skip("the installed onnx is older")
    X = rows_for(kernel)[0]
    basis = KernelBasis("kobl", kernel=kernel, n_components=5).fit(X)
    assert onnx.load_from_string(mercer.to_onnx(basis, target_opset=opset)).opset_import[0].version == opset
    check(basis, X, target_opset=opset)


def test_parts_on_named_columns_are_those_columns():
    X, y, new = rows_for("match")
    parts = mercer.Kernel("rbf", columns=["a", "b"]), mercer.Kernel("match", columns=["d"]), mercer.Kernel("linear")
    kernel = 0.5 * parts[0] * parts[1] + parts[2]
    frame = pd.DataFrame(X, columns=list("abcd"))
    for estimator in KernelBasis("kobl", kernel=kernel, n_components=12), mercer.GDA(kernel=kernel):
        estimator.fit(frame, y)
        expected = estimator.transform(pd.DataFrame(new, columns=list("abcd")))
        got = run(mercer.to_onnx(estimator), new)["variable"]
        assert np.abs(got - expected).max() <= 1e-10 * np.abs(expected).max()


def test_a_constant_has_the_shape_of_other_kernels():
    X = data()[0]
    check(KernelBasis("kobl", kernel="2.5", n_components=1).fit(X), X)


def test_functions_and_equal_numbers_of_normalized_rows_are_refused():
    X = rows_for("match")[0]

    def overlap(a, b):
        return np.exp(-((a[:, None] - b) ** 2).sum(-1))

    for kernel in overlap, mercer.Kernel(overlap, columns=[0, 1]) + mercer.Kernel("rbf"):
        basis = KernelBasis("kobl", kernel=kernel, n_components=4).fit(X)
        with pytest.raises(ValueError, match=r"`overlap#\d+` is a function of your own"):
            mercer.to_onnx(basis)
    for kernel in "match", "match(columns=0)+linear":
        pipeline = make_pipeline(Normalizer(), KernelBasis("kobl", kernel=kernel, n_components=4)).fit(X)
        with pytest.raises(ValueError, match="rows that are divided by their length"):
            mercer.to_onnx(pipeline)


def test_what_cannot_be_exported_is_refused(tmp_path):
    X, y = data()
    basis = KernelBasis("kobl", n_components=4).fit(X)
    for opset in (12, 23):
        with pytest.raises(ValueError, match="versions 13 to 22"):
            mercer.to_onnx(basis, target_opset=opset)
    with pytest.raises(ValueError, match="float16"):
        mercer.to_onnx(basis, dtype=np.float16)
    with pytest.raises(TypeError, match=r"(?s)KernelNeighborsClassifier cannot be exported.*hint: .*skl2onnx"):
        mercer.to_onnx(mercer.KernelNeighborsClassifier().fit(X, y))
    with pytest.raises(TypeError, match="LogisticRegression cannot be exported"):
        mercer.to_onnx(make_pipeline(basis, LogisticRegression()).fit(X, y))
    with pytest.raises(FileNotFoundError):
        mercer.to_onnx(basis, tmp_path / "none" / "model.onnx")
    assert os.listdir(tmp_path) == []


def test_a_file_holds_the_same_bytes(tmp_path):
    X, _ = data()
    basis = KernelBasis("kobl", n_components=4).fit(pd.DataFrame(X, columns=list("wxyz")))
    assert mercer.to_onnx(basis, tmp_path / "model.onnx") is None
    assert os.listdir(tmp_path) == ["model.onnx"]
    assert (tmp_path / "model.onnx").read_bytes() == mercer.to_onnx(basis)
    model = onnx.load(tmp_path / "model.onnx")
    assert model.producer_name == "mercer"
    assert model.producer_version == mercer.__version__
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(facts["mercer_input_names"]) == list("wxyz")
    assert json.loads(facts["mercer_feature_names"]) == basis.get_feature_names_out().tolist()


def program():
    """Return the command line: that of the path, or one that was built beside the sources."""
    built = Path(__file__).parents[2] / "target" / "debug" / "mercer"
    return str(built) if built.exists() else shutil.which("mercer")


@pytest.mark.skipif(program() is None, reason="the command line is not built")
@pytest.mark.parametrize("kernel", ["rbf", "0.5*rbf(columns=0:2)*laplacian+linear"])
def test_a_saved_model_is_exported_by_the_command_line(kernel, tmp_path):
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), mercer.KPLS(n_components=2, kernel=kernel)).fit(X, y)
    mercer.save(pipeline, tmp_path / "model.mercer")
    for more, dtype in ([], "float64"), (["--float32"], "float32"):
        args = [program(), "export", "model.mercer", "-o", "model.onnx", "-q", *more]
        subprocess.run(args, cwd=tmp_path, check=True)
        model = (tmp_path / "model.onnx").read_bytes()
        assert model == mercer.to_onnx(mercer.load(tmp_path / "model.mercer"), dtype=dtype)
        got, expected = run(model, X.astype(dtype))["variable"], pipeline.transform(X)
        assert np.abs(got - expected).max() <= CLOSE[dtype] * np.abs(expected).max()


STEPS = [
    KernelBasis("kobl", n_components=8),
    KernelBasis("kobl", n_components=8, kernel="laplacian"),
    KernelBasis("kobl", n_components=8, kernel="0.5*rbf(columns=0:2)*laplacian+linear"),
    mercer.GDA(),
    mercer.KPLS(n_components=2),
    mercer.TAKES(n_features=3),
    mercer.FScore(2),
    mercer.InputWeights(),
    mercer.AutoFeatures(),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{type(step).__name__}-{getattr(step, 'kernel', '')}")
def test_skl2onnx_converts_pipelines(step):
    X, y = data(80)
    pipeline = Pipeline([("scale", StandardScaler()), ("step", step), ("last", LogisticRegression())]).fit(X, y)
    options = {id(pipeline): {"zipmap": False}}
    for dtype, close in (("float64", 1e-10), ("float32", 1e-4)):
        model = skl2onnx.to_onnx(pipeline, X[:1].astype(dtype), options=options, target_opset=17)
        got = run(model, X.astype(dtype))
        np.testing.assert_allclose(got["probabilities"], pipeline.predict_proba(X), rtol=0, atol=close)
        if dtype == "float64":
            np.testing.assert_array_equal(got["label"], pipeline.predict(X))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_skl2onnx_converts_every_estimator():
    X, y = data(60)
    every = [*(kind() for kind in (*EXTRACTORS, *SYSTEMS)), *(kind(2) for kind in SELECTORS), KernelBasis()]
    for estimator in every:
        estimator.fit(X, X[:, 1] if isinstance(estimator, mercer.RReliefF) else y)
        got = run(skl2onnx.to_onnx(estimator, X[:1]), X)["variable"]
        expected = estimator.transform(X)
        assert got.shape == expected.shape
        assert np.abs(got - expected).max(initial=0.0) <= 1e-10 * np.abs(expected).max(initial=0.0), estimator


def test_skl2onnx_converts_predictors_and_several_steps_of_mercer():
    X, y = data(80)
    pipeline = make_pipeline(mercer.InputWeights(), mercer.AutoClassifier(max_components=20)).fit(X, y)
    got = run(skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False}), X)
    np.testing.assert_array_equal(got["label"], pipeline.predict(X))
    np.testing.assert_allclose(got["probabilities"], pipeline.predict_proba(X), rtol=0, atol=1e-10)
    # Each step's names are its own.
    pipeline = make_pipeline(*(KernelBasis("kobl", n_components=5) for _ in range(2)), mercer.AutoRegressor())
    pipeline.fit(X, X[:, 0])
    got = run(skl2onnx.to_onnx(pipeline, X[:1]), X)["variable"]
    np.testing.assert_allclose(got[:, 0], pipeline.predict(X), rtol=0, atol=1e-9)
    # Several targets are several columns, and the graph says so.
    pipeline = make_pipeline(StandardScaler(), mercer.AutoRegressor(max_components=20)).fit(X, X[:, :2] ** 2)
    model = skl2onnx.to_onnx(pipeline, X[:1])
    assert model.graph.output[0].type.tensor_type.shape.dim[1].dim_value == 2
    np.testing.assert_allclose(run(model, X)["variable"], pipeline.predict(X), rtol=0, atol=1e-9)


def test_skl2onnx_converts_whole_numbers_and_single_columns():
    X = np.random.default_rng(0).integers(-5, 5, size=(40, 2))
    basis = KernelBasis("kobl", n_components=5).fit(X)
    model = skl2onnx.to_onnx(basis, X[:1])
    np.testing.assert_allclose(run(model, X)["variable"], basis.transform(X), rtol=0, atol=1e-5)
    columns = [(name, skl2onnx.common.data_types.DoubleTensorType([None, 1])) for name in "ab"]
    model = skl2onnx.convert_sklearn(basis, initial_types=columns)
    session = ort.InferenceSession(model.SerializeToString())
    given = {name: X[:, [at]].astype(np.float64) for at, name in enumerate("ab")}
    np.testing.assert_allclose(session.run(None, given)[0], basis.transform(X), rtol=0, atol=1e-10)
