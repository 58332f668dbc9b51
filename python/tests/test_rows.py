"""Rows from sources larger than memory."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.rows import read_rows

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 4))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(y, "yes", "no"))


def files(folder):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.Table.from_pandas(FRAME)
    FRAME.to_csv(folder / "t.csv", index=False)
    FRAME.to_csv(folder / "t.tsv.gz", index=False, sep="\t")
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    with pa.OSFile(str(folder / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=77)
    return [folder / name for name in ("t.csv", "t.tsv.gz", "t.parquet", "t.arrow")]


def test_every_format_gives_the_rows_and_the_target(tmp_path):
    for path in files(tmp_path):
        for target in ("kind", -1):
            rows, labels = read_rows(path, target=target)
            assert isinstance(rows, np.memmap)
            np.testing.assert_allclose(rows, X, rtol=1e-15)
            assert labels.tolist() == FRAME["kind"].tolist()
        rows, _ = read_rows(str(path), target="kind", dtype=np.float32)
        assert rows.dtype == np.float32


def test_arrays_are_mapped_where_they_are_and_their_target_is_a_place(tmp_path):
    np.save(tmp_path / "x.npy", X)
    rows, labels = read_rows(tmp_path / "x.npy")
    assert rows.filename
    assert labels is None
    np.testing.assert_array_equal(rows, X)
    np.save(tmp_path / "xy.npy", np.column_stack([X, y]))
    rows, labels = read_rows(tmp_path / "xy.npy", target=-1)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    np.testing.assert_array_equal(read_rows(tmp_path / "f.npy")[0], X)


def test_batches_of_every_kind(tmp_path):
    import polars as pl
    import pyarrow as pa

    parts = np.array_split(np.arange(len(X)), 7)
    sources = [
        ((X[part], y[part]) for part in parts),
        [np.column_stack([X[part], y[part]]) for part in parts],
        (FRAME.iloc[part] for part in parts),
        (pl.DataFrame(FRAME.iloc[part].to_dict("list")) for part in parts),
        pa.Table.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME).to_batches(max_chunksize=33),
    ]
    for at, source in enumerate(sources):
        rows, labels = read_rows(source, target=None if at == 0 else -1)
        np.testing.assert_array_equal(rows, X)
        assert len(labels) == len(X)


def test_sparse_files_are_read_as_they_are(tmp_path):
    rows = sparse.csr_matrix(np.where(X > 0.5, X, 0.0))
    sparse.save_npz(tmp_path / "rows.npz", rows)
    dump_svmlight_file(rows, y, str(tmp_path / "rows.svm"), zero_based=False)
    there, none = read_rows(tmp_path / "rows.npz", dtype=np.float32)
    assert none is None
    assert (there.format, there.dtype) == ("csr", np.float32)
    there, labels = read_rows(tmp_path / "rows.svm")
    np.testing.assert_allclose(there.toarray(), rows.toarray(), rtol=1e-12)
    assert labels.tolist() == [float(label) for label in y]
    there, labels = read_rows(str(tmp_path / "rows.npz"), target=-2)
    np.testing.assert_array_equal(there.toarray(), rows.toarray()[:, [0, 1, 3]])
    np.testing.assert_array_equal(labels, rows.toarray()[:, 2])
    np.savez(tmp_path / "dense.npz", X)
    for name, options, words in [
        ("dense.npz", {}, "save_npz"),
        ("rows.npz", {"target": "a"}, "count them"),
        ("rows.svm", {"target": 0}, "leave it out"),
    ]:
        with pytest.raises(ValueError, match=words):
            read_rows(tmp_path / name, **options)
    with pytest.raises(FileNotFoundError, match="is not there"):
        read_rows(tmp_path / "none.npz")


def test_estimators_see_no_difference():
    rows, labels = read_rows((X[i : i + 50], y[i : i + 50]) for i in range(0, 500, 50))
    for estimator in (mercer.GDA(), mercer.KLFE(n_components=2), mercer.KernelBasis("kobl", n_components=30)):
        there = estimator.fit(rows, labels).transform(X[:9])
        np.testing.assert_array_equal(there, estimator.fit(X, y).transform(X[:9]))


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ([], {}, "0 rows"),
        ([X, X[:, :2]], {}, "2 columns, but the first has 4"),
        ([X[0]], {}, "1 dimensions"),
        ([(X, y[:3])], {}, r"500 rows and a target of the shape \(3,\)"),
        ([FRAME], {"missing": "mean"}, "must be 'fill' or 'refuse'"),
        ([FRAME], {"categorical": "auto"}, "must be 'from_dtype'"),
        ([FRAME], {"inputs": ["none"]}, "there is no column `none`"),
        ([FRAME], {"target": "none"}, "there is no column `none`"),
        ([X], {"target": "a"}, "no names"),
        ([X], {"dtype": np.int32}, "float64 or float32"),
        ("rows.xlsx", {}, "is not there"),
    ],
)
def test_what_cannot_be_read_is_refused(source, options, words):
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        read_rows(source, **options)


def test_a_matrix_is_no_source():
    with pytest.raises(TypeError, match="as it is"):
        read_rows(X)


def test_the_memory_of_the_environment_is_kept_to():
    """The coordinates would be 8 MB: within 2 MB they are not kept, and the basis is the same."""
    code = (
        "import numpy as np, warnings, mercer\n"
        "X = np.random.default_rng(0).normal(size=(5000, 3))\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    basis = mercer.KernelBasis('kobl', gamma=0.3, n_components=200).fit(X)\n"
        "print(any('recomputed' in str(w.message) for w in told), basis.pivots_[:150].tolist())"
    )

    def run(**more):
        return subprocess.run(
            [sys.executable, "-c", code], env=os.environ | more, capture_output=True, text=True, check=True
        ).stdout

    small, large = run(MERCER_MEMORY="2MB"), run()
    assert small.startswith("True")
    assert large.startswith("False")
    assert small.split(" ", 1)[1] == large.split(" ", 1)[1]
