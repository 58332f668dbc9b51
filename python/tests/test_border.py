"""Arrays cross the border to Rust with their numbers, however they lie in memory."""

import numpy as np
import pytest
from scipy import sparse

from mercer import GDA, KPCA, FScore, KernelBasis, KernelNeighborsClassifier, ReliefF, metrics

# Whole numbers, so that every type can hold them.
WHOLE = np.random.default_rng(0).integers(0, 9, size=(24, 4)).astype(float)
LABELS = np.arange(24) % 2

# Of these float32 in the byte order of the machine stays what it is; all others become float64.
TYPES = ["?", "i1", "u1", "<i2", ">i2", "u4", ">i8", "u8", "f2", "<f4", ">f4", "<f8", ">f8", "g", "O"]


def shifted(values, by=1):
    """Return the same numbers at an address that is no multiple of their size."""
    memory = np.empty(values.nbytes + by, np.uint8)
    array = memory[by:].view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def in_a_record(values):
    """Return the columns of records, which lie between other numbers."""
    records = np.zeros(values.shape, [("before", "u1"), ("value", values.dtype), ("after", "u2")])
    records["value"] = values
    return records["value"]


def spread(values):
    """Return every third row and second column of a larger array."""
    larger = np.full((3 * values.shape[0], 2 * values.shape[1]), 77, values.dtype)
    larger[::3, ::2] = values
    return larger[::3, ::2]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "transposed": lambda values: np.ascontiguousarray(values.T).T,
    "reversed rows": lambda values: values[::-1].copy()[::-1],
    "reversed columns": lambda values: values[:, ::-1].copy()[:, ::-1],
    "spread": spread,
    "read-only": read_only,
    "unaligned": shifted,
    "records": in_a_record,
    "nothing masked": np.ma.array,
}


def results(X, y):
    """Everything that comes back from a few calls of every kind."""
    basis = KernelBasis("kobl", gamma=0.1, n_components=5).fit(X)
    gda = GDA(gamma=0.1).fit(X, y)
    yield basis.transform(X)
    yield gda.transform(X)
    yield KPCA(2, gamma=0.1).fit(X).transform(X)
    yield ReliefF(n_neighbors=3).fit(X, y).scores_
    yield FScore().fit(X, y).scores_
    yield KernelNeighborsClassifier(3, gamma=0.1).fit(X, y).predict_proba(X)
    yield metrics.reconstruction_cost(basis, X)


@pytest.fixture(scope="module")
def expected():
    """Return what plain float64 and float32 arrays give, of all numbers and of those above 4."""
    return {
        (single, truth): list(results((WHOLE > 4 if truth else WHOLE).astype(np.float32 if single else float), LABELS))
        for single in (False, True)
        for truth in (False, True)
    }


# Every type in two layouts, and every layout with the types that are read where they lie.
CASES = [(dtype, layout) for dtype in TYPES for layout in ("C", "spread")]
CASES += [(dtype, layout) for dtype in ("<f4", "<f8", ">f8") for layout in LAYOUTS if layout not in ("C", "spread")]


@pytest.mark.parametrize(("dtype", "layout"), CASES)
def test_types_and_layouts_do_not_change_a_bit(dtype, layout, expected):
    truth = np.dtype(dtype).kind == "b"
    X = LAYOUTS[layout]((WHOLE > 4 if truth else WHOLE).astype(dtype))
    before = np.array(X)
    for at, (found, plain) in enumerate(zip(results(X, LABELS), expected[dtype == "<f4", truth], strict=True)):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(plain), err_msg=f"result {at}")
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", ["<i4", ">i4", "<i8", ">f8", "u1", "O", "<U3", "S3"])
def test_labels_in_every_layout_are_the_same_classes(dtype):
    plain = GDA(gamma=0.1).fit(WHOLE, LABELS).transform(WHOLE)
    for layout in set(LAYOUTS) - ({"unaligned"} if dtype == "O" else set()):
        y = LAYOUTS[layout](LABELS.astype(dtype).reshape(-1, 1))[:, 0]
        np.testing.assert_array_equal(GDA(gamma=0.1).fit(WHOLE, y).transform(WHOLE), plain, err_msg=layout)


def test_broadcast_rows_are_read_once_each():
    one = np.broadcast_to(WHOLE[0], WHOLE.shape)
    np.testing.assert_array_equal(
        KernelBasis(gamma=0.1).fit(one).transform(one), KernelBasis(gamma=0.1).fit(one.copy()).transform(one.copy())
    )


def test_masked_numbers_are_not_taken_for_numbers():
    X = np.ma.array(WHOLE, mask=np.zeros(WHOLE.shape, bool))
    X[3, 2] = np.ma.masked
    with pytest.raises(ValueError, match="mask"):
        KernelBasis(gamma=0.1).fit(X)
    with pytest.raises(ValueError, match="mask"):
        ReliefF().fit(X, LABELS)
    with pytest.raises(ValueError, match="mask"):
        KernelBasis(gamma=0.1).fit(WHOLE).transform(X)
    with pytest.raises(ValueError, match="1 masked entries"):
        FScore().fit(WHOLE, np.ma.masked_equal(np.arange(24), 5))


@pytest.mark.parametrize("shape", [(0, 4), (24, 0), (0, 0), (0,), (), (2, 2, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, int])
def test_arrays_of_no_rows_or_columns_are_refused(shape, dtype):
    X = np.zeros(shape, dtype)
    for estimator in (KernelBasis(), GDA(), ReliefF(), FScore(), KernelNeighborsClassifier()):
        with pytest.raises(ValueError, match=r"sample|feature|dim|array"):
            estimator.fit(X, np.zeros(shape[:1]))
    with pytest.raises(ValueError, match=r"sample|feature|dim|array"):
        KernelBasis(gamma=0.1).fit(WHOLE).transform(X)


@pytest.mark.parametrize("dtype", [np.complex128, "V8", "U3"])
def test_types_that_are_no_numbers_are_refused(dtype):
    X = np.zeros((6, 2), dtype)
    with pytest.raises((ValueError, TypeError)):
        KernelBasis(gamma=0.1).fit(X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", ["<f4", "<f8", "i4", "?"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array])
def test_sparse_rows_of_every_kind_are_the_same_rows(kind, dtype, index):
    dense = np.where(WHOLE > 5, WHOLE, 0).astype(dtype)
    X = kind(dense)
    if kind in (sparse.csr_array, sparse.csc_array):
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    plain = KernelBasis("kobl", gamma=0.1, n_components=5).fit(sparse.csr_array(dense.astype(float)))
    found = KernelBasis("kobl", gamma=0.1, n_components=5).fit(X)
    single = np.dtype(dtype).itemsize == 4 and np.dtype(dtype).kind == "f"
    tolerance = 1e-5 if single else 0
    np.testing.assert_allclose(
        found.transform(X), plain.transform(sparse.csr_array(dense.astype(float))), rtol=0, atol=tolerance
    )


def test_sparse_rows_with_repeated_unsorted_or_foreign_indices():
    repeated = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    plain = np.array([[0.0, 3.0], [3.0, 0.0]])
    np.testing.assert_array_equal(
        KernelBasis(gamma=0.1).fit(plain).transform(repeated), KernelBasis(gamma=0.1).fit(plain).transform(plain)
    )
    foreign = sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    foreign.indices[1] = 7
    with pytest.raises((ValueError, IndexError)):
        KernelBasis(gamma=0.1).fit(plain).transform(foreign)
    foreign.indices[1] = -1
    with pytest.raises((ValueError, IndexError)):
        KernelBasis(gamma=0.1).fit(plain).transform(foreign)
