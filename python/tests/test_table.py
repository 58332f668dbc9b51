"""Tables as people have them: booleans, dates, categories, missing values and row numbers."""

import pickle
import subprocess
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import mercer

FRAME = pd.DataFrame(
    {
        "size": [1.0, None, 3.0, 8.0] * 5,
        "kind": pd.Categorical(["u", "v", None, "u"] * 5),
        "word": ["red", "blue"] * 10,
        "ok": [True, False] * 10,
        "day": pd.date_range("2024-01-30", periods=20),
    }
)
NAMES = [
    *("size", "size missing", "kind=u", "kind=v", "kind missing", "word=blue", "word=red", "ok"),
    *("day month", "day weekday", "day days"),
]
y = np.arange(20) % 2


def test_every_kind_of_column_becomes_numbers():
    encoder = mercer.TableEncoder()
    rows = encoder.fit_transform(FRAME)
    assert encoder.get_feature_names_out().tolist() == NAMES
    assert rows[0].tolist() == [1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 19752]
    assert rows[2].tolist() == [3, 0, 0, 0, 1, 0, 1, 1, 2, 3, 19754]
    assert rows[1, :2].tolist() == [3, 1]  # the median of 1, 3 and 8
    assert encoder.encoding_["size"] == "a number; missing is 3, the median"


def test_polars_arrays_and_pickles_agree_with_pandas():
    rows = mercer.TableEncoder().fit_transform(FRAME)
    columns = {name: FRAME[name].tolist() for name in ("word", "ok")}
    frame = pl.DataFrame(
        {
            "size": [None if np.isnan(v) else v for v in FRAME["size"]],
            "kind": pl.Series([None if v is np.nan else v for v in FRAME["kind"].astype(object)], dtype=pl.Categorical),
            **columns,
            "day": [day.to_pydatetime() for day in FRAME["day"]],
        }
    )
    np.testing.assert_array_equal(mercer.TableEncoder().fit_transform(frame), rows)
    np.testing.assert_array_equal(mercer.TableEncoder().fit_transform(FRAME.astype(object).to_numpy()), rows)
    encoder = mercer.TableEncoder().fit(FRAME)
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(FRAME), rows)
    assert clone(encoder).get_params() == encoder.get_params()


def test_new_values_are_zero_and_named():
    encoder = mercer.TableEncoder().fit(FRAME)
    new = FRAME.iloc[:2].assign(word=["green", "blue"], size=[np.nan, 2.0])
    with pytest.warns(UserWarning, match="1 value of column `word` is new \\(`green`\\)"):
        rows = encoder.transform(new)
    assert rows[0, 5:7].tolist() == [0, 0]
    assert rows[0, :2].tolist() == [3, 1]


def test_categories_are_those_of_the_type_or_those_named():
    frame = pd.DataFrame({"zip": [8001, 3000, 8001], "code": pd.Categorical([1, 2, 1])})
    names = mercer.TableEncoder().fit(frame).get_feature_names_out
    assert names().tolist() == ["zip", "code=1", "code=2"]
    assert mercer.TableEncoder(None).fit(frame).get_feature_names_out().tolist() == ["zip", "code"]
    named = mercer.TableEncoder(["zip"]).fit(frame)
    assert named.get_feature_names_out().tolist() == ["zip=3000", "zip=8001", "code=1", "code=2"]
    assert named.transform(frame)[1].tolist() == [1, 0, 0, 1]
    with pytest.raises(ValueError, match="categorical = town, but no input column has this name"):
        mercer.TableEncoder(["town"]).fit(frame)


def test_decimals_of_sql_are_numbers():
    values = [Decimal("0.5"), None, Decimal("2.25"), Decimal("NaN")]
    frame = pd.DataFrame({"price": values, "other": [1.0, 2.0, 4.0, 3.0]})
    assert frame["price"].dtype == object
    rows = mercer.TableEncoder().fit_transform(frame)
    assert rows[:, 0].tolist() == [0.5, 1.375, 2.25, 1.375]
    np.testing.assert_array_equal(mercer.TableEncoder().fit_transform(frame.to_numpy()), rows)


def test_text_of_plain_numbers_is_to_be_converted():
    frame = pd.DataFrame({"amount": [f"{i}.637" for i in range(30)], "a": np.arange(30.0) ** 2})
    with pytest.warns(UserWarning, match="these are numbers as text: convert the column to numbers"):
        mercer.TableEncoder().fit(frame)
    with pytest.warns(UserWarning, match="these look like numbers: write them without sign, unit"):
        mercer.TableEncoder().fit(frame.assign(amount="$" + frame["amount"]))


def test_missing_values_may_be_refused():
    with pytest.raises(ValueError, match="a value is missing at row 2, column `size`"):
        mercer.TableEncoder(missing="refuse").fit(FRAME)


def test_row_numbers_and_ids_are_dropped_unless_they_are_named():
    frame = pd.DataFrame({"id": range(100, 120), "who": [f"n{i}" for i in range(20)], "a": np.arange(20.0) ** 2})
    with pytest.warns(UserWarning, match="no inputs: `id` .*, `who` holds text"):
        encoder = mercer.TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = mercer.TableEncoder(inputs=["id", "a"]).fit(frame)
    assert kept.get_feature_names_out().tolist() == ["id", "a"]
    assert kept.transform(frame).shape == (20, 2)


def test_the_contract_of_scikit_learn():
    check_estimator(mercer.TableEncoder())


def test_a_pipeline_becomes_a_model_that_takes_the_frame(tmp_path):
    pipeline = make_pipeline(mercer.TableEncoder(), StandardScaler(), mercer.GDA()).fit(FRAME, y)
    mercer.save(pipeline, tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert model.encoding["word"] == "a category of 2 values (blue, red)"
    with pytest.warns(UserWarning, match="10 values are missing"):
        features = model.transform(FRAME[FRAME.columns[::-1]])
    np.testing.assert_allclose(features, pipeline.transform(FRAME), atol=1e-12)
    # An array, and a frame with these names, hold the encoded columns.
    rows = pipeline[0].transform(FRAME)
    np.testing.assert_array_equal(model.transform(rows), features)
    np.testing.assert_array_equal(model.transform(pd.DataFrame(rows, columns=NAMES)), features)
    assert list(model.input_importance(FRAME.fillna({"size": 0.0, "kind": "u"})).columns) == NAMES
    with pytest.raises(ValueError, match="1 of the model's 5 input columns are missing: `day`"):
        model.transform(FRAME.drop(columns="day"))


def test_rows_of_files_are_encoded(tmp_path):
    people = FRAME.assign(kind=FRAME["kind"].astype(object), y=y)
    people.to_csv(tmp_path / "t.csv", sep=";", decimal=",")
    people.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="are missing|dropped column") as told:
        rows, labels = mercer.read_rows(tmp_path / "t.csv", target="y")
    np.testing.assert_array_equal(rows, mercer.TableEncoder().fit_transform(FRAME))
    assert labels.tolist() == y.tolist()
    said = [str(warning.message) for warning in told]
    assert said[0].startswith("dropped column `Unnamed: 0`: it counts the rows")
    assert said[1].startswith("10 values are missing (`size` 5, `kind` 5)")
    with pytest.warns(UserWarning, match="are missing"):
        again, _ = mercer.read_rows(tmp_path / "t.parquet", target="y", dtype=np.float32)
    np.testing.assert_array_equal(again, rows.astype(np.float32))
    with pytest.raises(ValueError, match="a value is missing at row 2, column `size`"):
        mercer.read_rows(tmp_path / "t.csv", target="y", missing="refuse")
    with pytest.warns(UserWarning, match="are missing"):
        few, _ = mercer.read_rows(tmp_path / "t.csv", target="y", inputs=["word", "size"], sep=";", decimal=",")
    assert few.shape == (20, 4)
    with pytest.raises(ValueError, match="sep = `ab`"):
        mercer.read_rows(tmp_path / "t.csv", sep="ab")


def test_batches_become_mixed_on_the_way():
    frame = pd.DataFrame({"a": np.arange(30.0) % 7, "b": [1.5] * 20 + [None] * 10})
    with pytest.warns(UserWarning, match="10 values are missing"):
        rows, _ = mercer.read_rows(frame.iloc[i : i + 10] for i in range(0, 30, 10))
    np.testing.assert_array_equal(rows[:, 0], frame["a"])
    assert rows[:, 2].tolist() == [0] * 20 + [1] * 10
    assert rows[25, 1] == 1.5


def test_the_command_line_and_python_encode_alike(tmp_path):
    program = Path(__file__).parents[2] / "target" / "debug" / "mercer"
    if not program.exists():
        pytest.skip("the command line is not built here")
    FRAME.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.mercer"
    command = [
        program,
        "fit",
        tmp_path / "t.csv",
        "--target",
        "y",
        "--method",
        "kobl",
        "--n-components",
        "3",
        "-o",
        model,
    ]
    subprocess.run(command, check=True, capture_output=True)
    written = subprocess.run(
        [program, "transform", model, tmp_path / "t.csv"], check=True, capture_output=True, text=True
    )
    with pytest.warns(UserWarning, match="are missing"):
        features = mercer.load(model).transform(FRAME)
    lines = [line.split(",") for line in written.stdout.splitlines()[1:]]
    np.testing.assert_allclose(features, np.asarray(lines, dtype=float), rtol=1e-12, atol=1e-12)
