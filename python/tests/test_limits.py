"""Input of absurd sizes: it works, or an error says what was given and what it would take."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

import mercer

LIMITED = """
import resource
import numpy as np
import mercer

X = np.random.default_rng(0).normal(size=(1_500, 20))
pages = resource.getpagesize()
_, hard = resource.getrlimit(resource.RLIMIT_{kind})

def fit():
    return mercer.KernelBasis("kpca", gamma=0.05).fit(X).transform(X).shape

def limited(megabytes):
    with open("/proc/self/statm") as file:
        numbers = file.read().split()
    used = int(numbers[0 if "{kind}" == "AS" else 5]) * pages
    resource.setrlimit(resource.RLIMIT_{kind}, (used + (megabytes << 20), hard))
    try:
        return fit()
    except MemoryError as error:
        assert str(error), "no words"
        return "refused"
    finally:
        resource.setrlimit(resource.RLIMIT_{kind}, (hard, hard))

for megabytes in {limits}:
    print(limited(megabytes))
print(fit())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no such limits here")
@pytest.mark.parametrize("kind", ["AS", "DATA"])
@pytest.mark.parametrize(
    "limits", [(1, 4_000), pytest.param((1, 100, 250, 300, 350, 400, 500, 700, 4_000), marks=pytest.mark.slow)]
)
def test_memory_that_the_system_refuses_is_an_error_and_no_abort(limits, kind):
    env = os.environ | {"MERCER_NUM_THREADS": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", LIMITED.format(kind=kind, limits=limits)], capture_output=True, text=True, env=env
    )
    assert run.returncode == 0, run.stderr[-2000:]
    said = run.stdout.splitlines()
    assert len(said) == len(limits) + 1
    assert said[0] == "refused"
    # A call that was refused leaves nothing behind that stops the next.
    assert said[-1].startswith("(1500, ")
    assert set(said) == {"refused", said[-1]}


ABOVE_THE_LIMIT = """
import resource, warnings
import numpy as np
import mercer

X = np.random.default_rng(0).normal(size=(20_000, 3))
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), resource.RLIM_INFINITY))
warnings.simplefilter("always")
for _ in range(2):
    try:
        mercer.KernelBasis("kobl", gamma=0.05, n_components=20_000).fit(X)
    except MemoryError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no such limits here")
def test_a_budget_above_the_limit_of_the_system_warns_and_no_error_asks_for_more():
    env = os.environ | {"MERCER_NUM_THREADS": "2", "OMP_NUM_THREADS": "1", "MERCER_MEMORY": "50GB"}
    run = subprocess.run([sys.executable, "-c", ABOVE_THE_LIMIT], capture_output=True, text=True, env=env, check=True)
    assert run.stderr.count("UserWarning: 50.0 GB of memory were asked for, but a limit of the system leaves") == 1
    assert run.stdout.count("hint: lower n_components, or raise the system's limit on memory") == 2


THREADS = ["MERCER_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"]


def wide(p):
    """60 sparse rows of p columns, most of which are empty."""
    rng = np.random.default_rng(0)
    columns = np.sort(np.column_stack([rng.choice(50, (60, 1)), 50 + rng.choice(50, (60, 1)), np.full((60, 1), p - 1)]))
    indptr = np.arange(0, 181, 3, dtype=np.int64)
    return sparse.csr_matrix((rng.random(180) + 0.1, columns.ravel().astype(np.int64), indptr), shape=(60, p))


@pytest.mark.parametrize("p", [2**31 + 5, 2**32])
@pytest.mark.parametrize("name", ["AKDAQR", "KMFA", "KANMM", "KPCA", "GDA", "TAKES"])
def test_sparse_rows_of_billions_of_columns_are_fitted(name, p):
    X, y = wide(p), np.arange(60) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = getattr(mercer, name)(gamma=0.5).fit(X, y).transform(X)
    assert Z.shape[0] == 60
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("name", ["RReliefF", "ReliefF", "FScore", "KFFS", "InputWeights"])
def test_scores_of_billions_of_columns_are_refused_with_the_estimate(name):
    y = np.linspace(0, 1, 60) if name == "RReliefF" else np.arange(60) % 3
    with pytest.raises(MemoryError, match=r"2147483653 columns.* GB"):
        getattr(mercer, name)().fit(wide(2**31 + 5), y)


def test_sparse_rows_of_more_than_2_to_the_32_columns_are_refused():
    with pytest.raises(ValueError, match="at most 4294967296"):
        mercer.KernelBasis(gamma=0.5).fit(wide(2**32 + 1))


@pytest.mark.parametrize("method", ["rpcholesky", "kfa", "kobl", "kpca"])
def test_a_precomputed_kernel_of_1e308_is_refused_in_words(method):
    with pytest.raises(ValueError, match=r"cannot be added up\nhint: divide the matrix"):
        mercer.KernelBasis(method, kernel="precomputed").fit(np.full((40, 40), 1e308))


def test_an_identifier_as_target_is_refused():
    X, y = np.random.default_rng(0).random((2000, 3)), [f"id{i % 1000}" for i in range(2000)]
    for estimator in [mercer.TAKES(), mercer.GDA(), mercer.KFFS()]:
        with pytest.raises(ValueError, match="identifier of the rows"):
            estimator.fit(X, y)


def threads_of(variable, value):
    env = {name: text for name, text in os.environ.items() if name not in THREADS} | {variable: value}
    code = "import mercer; from mercer import _core; print(_core.n_threads())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    return int(run.stdout), run.stderr


@pytest.mark.parametrize("variable", THREADS)
def test_thousands_of_threads_are_not_started(variable):
    most = max(16, 4 * len(os.sched_getaffinity(0)))
    threads, warning = threads_of(variable, "99999")
    assert threads <= most
    assert "UserWarning: 99999 threads were asked for" in warning
    threads, warning = threads_of(variable, "3")
    assert (threads, warning) == (3, "")


def test_a_comparison_with_thousands_of_jobs_warns():
    X = np.random.default_rng(0).random((40, 3))
    with pytest.warns(UserWarning, match="99999 threads were asked for"):
        mercer.compare(X, X[:, 0] > 0.5, methods=["kobl"], evaluators=["knn"], folds=2, n_jobs=99999)
