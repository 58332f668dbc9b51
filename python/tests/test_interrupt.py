"""Long work lets the rest of Python live: signals, threads, worker processes."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer import KernelBasis, _core

THREADS = ["MERCER_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"]

INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from mercer import KernelBasis

X = np.random.default_rng(0).normal(size=(20_000, 10))
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

KernelBasis(n_components=5).fit(X)
threading.Timer(0.5, interrupt).start()
basis = KernelBasis(gamma=1.0, n_components=6_000, threshold=0.0)
try:
    basis.fit(X)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - sent[0], hasattr(basis, "pivots_"))
    # The pool is free again.
    print(KernelBasis(n_components=5).fit_transform(X).shape)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_ctrl_c_stops_a_fit_within_seconds():
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    (word, seconds, fitted), again = (line.split(maxsplit=2) for line in run.stdout.splitlines())
    assert word == "stopped"
    assert float(seconds) < 3
    assert fitted == "False"
    assert again == ["(20000,", "5)"]


SELECTOR_INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from mercer import {kind}

X = np.random.default_rng(0).normal(size=({n}, {p}))
y = (X[:, 0] > 0).astype(int)
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

{kind}().fit(X[:50], y[:50])
threading.Timer(0.5, interrupt).start()
selector = {kind}()
try:
    selector.fit(X, y)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - sent[0], hasattr(selector, "scores_"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
@pytest.mark.parametrize(
    ("kind", "n", "p"),
    [
        ("IRelief", 20_000, 200),
        ("KRelief", 5_000, 50),
        pytest.param("MultiSURF", 20_000, 200, marks=pytest.mark.slow),
        pytest.param("KFFS", 20_000, 2_000, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_stops_a_selection_within_seconds(kind, n, p):
    code = SELECTOR_INTERRUPTED.format(kind=kind, n=n, p=p)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    word, seconds, fitted = run.stdout.split()
    assert word == "stopped"
    assert float(seconds) < 3
    assert fitted == "False"


def test_other_python_threads_run_during_a_fit():
    X = np.random.default_rng(0).normal(size=(8_000, 10))
    count, done = 0, threading.Event()

    def tick():
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    KernelBasis(gamma=1.0, n_components=1_000, threshold=0.0).fit(X)
    took, counted = time.monotonic() - began, count
    done.set()
    thread.join()
    # A tick takes a millisecond and more; a tenth of them shows that the thread was not waiting for the fit.
    assert counted > 0.1 * took / 0.001


def environment(**variables):
    clean = {name: value for name, value in os.environ.items() if name not in THREADS}
    return clean | variables


# The module alone, without scikit-learn, which takes a second to import.
N_THREADS = f"""
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_core", {_core.__file__!r})
core = module_from_spec(spec)
spec.loader.exec_module(core)
print(core.n_threads())
"""


def threads_with(**variables):
    env = environment(**variables)
    run = subprocess.run([sys.executable, "-c", N_THREADS], capture_output=True, text=True, env=env, check=True)
    return int(run.stdout)


def test_the_environment_says_how_many_threads():
    assert threads_with(MERCER_NUM_THREADS="3", OMP_NUM_THREADS="5") == 3
    assert threads_with(RAYON_NUM_THREADS="4", OMP_NUM_THREADS="5") == 4
    assert threads_with(OMP_NUM_THREADS="5,2") == 5
    assert threads_with(MERCER_NUM_THREADS="0", RAYON_NUM_THREADS="many") == threads_with()


def test_joblib_workers_share_the_cores(monkeypatch):
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    workers = 2
    threads = joblib.Parallel(n_jobs=workers, backend="loky")(joblib.delayed(_core.n_threads)() for _ in range(4))
    assert max(threads) <= max(1, joblib.cpu_count() // workers)


def test_grid_search_gives_the_same_scores_in_worker_processes():
    X, y = make_moons(120, noise=0.2, random_state=0)
    scores = []
    for n_jobs in (1, 2):
        model = make_pipeline(KernelBasis(n_components=15), RidgeClassifier())
        search = GridSearchCV(model, {"kernelbasis__gamma": [0.1, 1.0]}, cv=3, n_jobs=n_jobs).fit(X, y)
        scores.append(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*scores)


def coordinates(X):
    return KernelBasis(gamma=1.0, n_components=20).fit_transform(X)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_makes_threads_of_its_own():
    X = np.random.default_rng(0).normal(size=(2_000, 5))
    here = coordinates(X)  # the pool exists before the fork
    reader, writer = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: writer.send(coordinates(X)))
    child.start()
    try:
        assert reader.poll(60), "the forked process hangs"
        np.testing.assert_array_equal(reader.recv(), here)
    finally:
        child.kill()
        child.join()


def test_progress_goes_to_stderr_when_asked_for(capsys):
    X = np.random.default_rng(0).normal(size=(6_000, 10))
    KernelBasis(gamma=1.0, n_components=1_000, threshold=0.0, verbose=1).fit(X)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "mercer: choosing pivots: " in captured.err
    assert " of 1000" in captured.err
    assert captured.err.splitlines()[-1].startswith("mercer: done in ")
    KernelBasis(n_components=5).fit(X)
    assert capsys.readouterr().err == ""
