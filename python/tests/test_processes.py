"""Forked, spawned and worker processes, threads that share an estimator, Ctrl-C in all of them."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

import mercer
from mercer import GDA, KernelBasis, ReliefF, _core

ROWS = np.random.default_rng(0).normal(size=(1_000, 5))
LABELS = (ROWS[:, 0] ** 2 + ROWS[:, 1] > 0.5).astype(int)

fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
signals = pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def fitted():
    return GDA(gamma=0.1, basis=KernelBasis("kobl", gamma=0.1, n_components=40)).fit(ROWS, LABELS)


def work(model):
    """Use a model that was made elsewhere, and make one."""
    return model.transform(ROWS), fitted().transform(ROWS), ReliefF().fit(ROWS, LABELS).scores_


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_of_every_kind_give_the_same_bits(method):
    model = fitted()
    expected = work(model)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for found in pool.map(work, [model] * 3, timeout=120):
            assert_same(found, expected)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_of_joblib_give_the_same_bits(backend):
    model = fitted()
    expected = work(model)
    for found in joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(work)(model) for _ in range(3)):
        assert_same(found, expected)


def in_a_fork(call):
    """Return what a call gives in a forked process, which has a minute."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: writer.send(call()))
    child.start()
    try:
        assert reader.poll(60), "the forked process hangs"
        return reader.recv()
    finally:
        child.kill()
        child.join()


@fork
def test_a_fork_while_other_threads_compute():
    model = fitted()
    expected = work(model)
    stop = threading.Event()

    def compute():
        while not stop.is_set():
            KernelBasis("kobl", gamma=1.0, n_components=300, threshold=0.0).fit(ROWS)
            model.transform(ROWS)

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert_same(in_a_fork(lambda: work(model)), expected)
            time.sleep(0.02)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@fork
def test_a_fork_of_a_fork_has_the_number_of_threads_that_was_set():
    before = _core.n_threads()
    assert in_a_fork(lambda: (in_a_fork(_core.n_threads), _core.n_threads())) == (before, before)
    try:
        _core.set_threads(3)
        assert in_a_fork(lambda: (in_a_fork(_core.n_threads), _core.n_threads())) == (3, 3)
    finally:
        _core.set_threads(before)


def test_threads_that_share_an_estimator_while_others_fit():
    model, fresh = fitted(), pickle.loads(pickle.dumps(fitted()))
    expected = work(model)
    single = model.transform(ROWS[:7].astype(np.float32))

    def use(at):
        if at % 3 == 0:
            assert_same(work(model), expected)
        # A model that nobody has used yet computes what it keeps between calls, here in several threads at once.
        np.testing.assert_array_equal(fresh.transform(ROWS), expected[0])
        np.testing.assert_array_equal(fresh.transform(ROWS[:7].astype(np.float32)), single)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(use, at) for at in range(40)]:
            done.result(timeout=120)


# A long call, stopped by Ctrl-C soon after it began.
LONG = """
import os, signal, sys, tempfile, threading, time
import numpy as np
import mercer
from mercer import *

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, {p}))
y = (X[:, 0] > 0).astype(int)
few = KernelBasis(n_components=5).fit(X[:50])
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

{before}
threading.Timer(0.2, interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print("stopped", time.monotonic() - sent[0])
else:
    print("ended by itself")
"""

MANY = "KernelBasis('kobl', gamma=1.0, n_components=3_000, threshold=0.0)"
CALLS = {
    "fit": (8_000, 10, "", f"{MANY}.fit(X)"),
    "an extractor": (20_000, 20, "", "KLFE(2).fit(X, y)"),
    "an iteration": (6_000, 10, "", "SKFE(2, basis=KernelBasis('nystrom', n_components=1_500)).fit(X, y)"),
    "a selector": (20_000, 50, "", "ReliefF().fit(X, y)"),
    "the lasso": (20_000, 300, "", "LassoSelector(randomized=True).fit(X, y)"),
    "weights": (5_000, 40, "", "InputWeights().fit(X, y)"),
    "a predictor": (6_000, 20, "", "AutoClassifier().fit(X, y)"),
    "neighbours": (60_000, 10, "model = KernelNeighborsClassifier(5).fit(X, y)", "model.predict(X)"),
    "transform": (
        300_000,
        10,
        "model = KernelBasis('nystrom', n_components=1_000, gamma=0.1).fit(X[:2_000])",
        "model.transform(X)",
    ),
    "pre-images": (
        20_000,
        10,
        "model = KernelBasis('nystrom', n_components=500, gamma=0.1).fit(X[:2_000]); Z = model.transform(X)",
        "model.inverse_transform(Z)",
    ),
    "importance": (
        100_000,
        20,
        "model = KernelBasis('nystrom', n_components=1_000, gamma=0.1).fit(X[:2_000])",
        "model.input_importance(X)",
    ),
    "a comparison": (6_000, 20, "", "compare(X, y)"),
    "advice": (20_000, 20, "", "advise(X, y)"),
}


@signals
@pytest.mark.parametrize(
    "what",
    [name if name in ("transform", "a comparison") else pytest.param(name, marks=pytest.mark.slow) for name in CALLS],
)
def test_ctrl_c_stops_every_long_call_within_a_second(what):
    n, p, before, call = CALLS[what]
    code = LONG.format(n=n, p=p, before=before, call=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    words = run.stdout.split()
    if what == "a comparison" and words[:3] == ["ended", "by", "itself"]:
        return  # It gives what it has.
    assert words[0] == "stopped", run.stdout
    # Machines that run tests are busy.
    assert float(words[1]) < 3


# Ctrl-C while the main thread waits for calls in other threads: they stop, too.
IN_THREADS = """
import os, signal, threading, time
from concurrent.futures import ThreadPoolExecutor as Pool
import numpy as np
from mercer import KernelBasis

signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).normal(size=(8_000, 10))
long = KernelBasis("kobl", gamma=1.0, n_components=3_000, threshold=0.0)
sent, ended, over = [], [], threading.Event()

def fit():
    try:
        KernelBasis(**long.get_params()).fit(X)
    except BaseException as error:
        ended.append(type(error).__name__)
        raise
    finally:
        over.set()

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.excepthook = lambda _: None
threading.Timer(0.5, interrupt).start()
try:
    {wait}
except KeyboardInterrupt:
    main = "KeyboardInterrupt"
{after}
print(main, *ended, time.monotonic() - sent[0])
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""
WAITING = {
    "join": ("thread = threading.Thread(target=fit); thread.start(); thread.join()", "over.wait()"),
    "an executor": ("with Pool(2) as pool: [f.result() for f in [pool.submit(fit), pool.submit(fit)]]", ""),
    "a call": ("thread = threading.Thread(target=fit); thread.start(); long.fit(X)", "over.wait()"),
}


@signals
@pytest.mark.parametrize("what", WAITING)
def test_ctrl_c_stops_calls_that_the_main_thread_waits_for(what):
    wait, after = WAITING[what]
    code = IN_THREADS.replace("{wait}", wait).replace("{after}", after)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    main, *ended, seconds = run.stdout.split()
    assert main == "KeyboardInterrupt"
    assert ended == ["KeyboardInterrupt"] * (2 if what == "an executor" else 1)
    # Machines that run tests are busy.
    assert float(seconds) < 3


OWN_HANDLER = """
import os, signal, threading
import numpy as np
from mercer import KernelBasis

seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
X = np.random.default_rng(0).normal(size=(3_000, 10))
def fit():
    print(KernelBasis("kobl", gamma=1.0, n_components=900, threshold=0.0).fit_transform(X).shape)
thread = threading.Thread(target=fit)
timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
thread.start()
thread.join()
timer.join()
print(len(seen))
"""


@signals
def test_a_handler_of_ones_own_decides_what_ctrl_c_stops():
    run = subprocess.run([sys.executable, "-c", OWN_HANDLER], capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout == "(3000, 900)\n1\n"


AFTER_THE_MAIN_THREAD = """
import threading, numpy as np
from mercer import KernelBasis

X = np.random.default_rng(0).normal(size=(3_000, 10))
def fit():
    print(KernelBasis("kobl", gamma=1.0, n_components=900, threshold=0.0).fit_transform(X).shape)
threading.Thread(target=fit).start()
"""


def test_a_thread_may_work_on_after_the_main_thread_has_ended():
    code = AFTER_THE_MAIN_THREAD
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout == "(3000, 900)\n"


FREE_THREADED = """
import sys, sysconfig
sys.modules["mercer._core"] = None  # as where the file's name says that it is for another Python
known = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else known(name)
import mercer
"""


def test_a_python_without_a_gil_is_refused_in_words():
    folder = str(Path(mercer.__file__).parents[1])
    env = os.environ | {"PYTHONPATH": folder}
    run = subprocess.run([sys.executable, "-c", FREE_THREADED], capture_output=True, text=True, env=env, check=False)
    assert run.returncode == 1
    assert "ImportError: mercer has no build for a free-threaded Python" in run.stderr
    assert "hint: use a Python with the global interpreter lock" in run.stderr


@signals
def test_a_killed_worker_is_an_error_and_no_hang():
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        (process,) = [pool.submit(os.getpid).result(timeout=60)]
        running = pool.submit(work, fitted())
        os.kill(process, signal.SIGKILL)
        with pytest.raises(concurrent.futures.process.BrokenProcessPool):
            running.result(timeout=60)
