"""Workers that die, come and go in the middle of a fit cost time, and change no bit of what is found."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

from mercer import GDA, KLFE, TAKES, KernelBasis, _core

dask = pytest.importorskip("dask", reason="the collections are Dask's: pip install mercer[dask]")
da = pytest.importorskip("dask.array", reason="the collections are Dask's: pip install mercer[dask]")
distributed = pytest.importorskip("distributed", reason="the cluster is Dask's: pip install mercer[dask]")

from mercer.dask import _Collection, fit, transform  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by signals")

QUIET = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
PARTS, ROWS, P = 6, 1_000, 4


def cluster_of(**settings):
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": "2GB", **settings}
    return distributed.LocalCluster(**QUIET, **settings)


@pytest.fixture(scope="module")
def cluster():
    with cluster_of() as cluster, distributed.Client(cluster):
        yield cluster


@pytest.fixture
def client(cluster):
    client = distributed.default_client()
    cluster.scale(2)
    client.wait_for_workers(2, timeout=30)
    return client


def collections():
    """Return rows that can be made again, as those of a file can."""

    def block(seed):
        return np.random.default_rng(seed).normal(size=(ROWS, P))

    def label(X):
        return np.where(X[:, 0] * X[:, 1] > 0, "same", "other")

    X = da.concatenate([da.from_delayed(dask.delayed(block)(i), (ROWS, P), float) for i in range(PARTS)])
    return X, X.map_blocks(label, dtype="U5", drop_axis=1)


def gda():
    return GDA(basis=KernelBasis("kobl", gamma=0.1, n_components=120, threshold=0.0))


def disturbed(client, monkeypatch, *disturbances, estimator=None):
    """Return a fit, of GDA if no other is given, in which something happens at the third pass, the sixth, and so on."""
    start, rounds = _Collection.start, []

    def counted(self, question, first, merged):
        start(self, question, first, merged)
        rounds.append(question.name)
        at, rest = divmod(len(rounds), 3)
        if rest == 0 and at <= len(disturbances):
            disturbances[at - 1]()

    with monkeypatch.context() as patch:
        patch.setattr(_Collection, "start", counted)
        fitted = fit(gda() if estimator is None else estimator, *collections(), client=client)
    assert len(rounds) >= 3 * len(disturbances)
    return fitted


@pytest.fixture(scope="module")
def undisturbed(cluster):
    return fit(gda(), *collections())


def same_bits(one, other):
    pairs = [(one.basis_.coefficients_, other.basis_.coefficients_), (one.components_, other.components_)]
    return all(np.array_equal(*pair) for pair in pairs)


def kill(client, which):
    """Kill one of the workers, the first or the last."""
    os.kill(sorted(client.run(os.getpid).values())[which], signal.SIGKILL)


def test_one_worker_dies(client, monkeypatch, undisturbed):
    fitted = disturbed(client, monkeypatch, lambda: kill(client, 0))
    assert same_bits(fitted, undisturbed)


def test_all_workers_die_one_after_the_other(client, monkeypatch, undisturbed):
    fitted = disturbed(client, monkeypatch, lambda: kill(client, 0), lambda: kill(client, -1))
    assert same_bits(fitted, undisturbed)


def test_the_cluster_shrinks_and_grows(client, cluster, monkeypatch, undisturbed):
    fitted = disturbed(client, monkeypatch, lambda: cluster.scale(1), lambda: cluster.scale(3))
    assert same_bits(fitted, undisturbed)


MANY_PASSES = [
    GDA(basis=KernelBasis("rpcholesky", gamma=0.1, n_components=120, random_state=0)),
    KLFE(3, n_queries=100, random_state=0, basis=KernelBasis("kfa", gamma=0.1, n_components=20, random_state=0)),
    TAKES(4, basis=KernelBasis("kobl", gamma=0.1, n_components=60)),
]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", MANY_PASSES)
def test_a_worker_dies_every_third_pass(client, monkeypatch, estimator):
    want = fit(clone(estimator), *collections())
    strikes = [lambda: kill(client, 0), lambda: kill(client, -1)] * 2
    fitted = disturbed(client, monkeypatch, *strikes, estimator=clone(estimator))
    X = np.random.default_rng(0).normal(size=(500, P))
    assert np.array_equal(fitted.transform(X), want.transform(X))


def test_what_partitions_may_keep_does_not_depend_on_what_the_client_has_just_refreshed(client, monkeypatch):
    """The client asks for the scheduler's totals every other second, and then knows no worker."""
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": {}})
    rows = _Collection(*collections(), client)
    assert rows.kept >= 1_000_000_000  # a quarter of what two workers have; a third may be about to leave
    rows.close()


def test_two_fits_at_once(client, undisturbed):
    found = []
    threads = [threading.Thread(target=lambda: found.append(fit(gda(), *collections()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2
    assert all(same_bits(fitted, undisturbed) for fitted in found)


def test_rows_that_were_scattered_are_lost_with_their_worker(client, monkeypatch):
    blocks = client.scatter([np.random.default_rng(i).normal(size=(ROWS, P)) for i in range(PARTS)])
    X = da.concatenate([da.from_delayed(dask.delayed(block), (ROWS, P), float) for block in blocks])
    start, rounds = _Collection.start, []

    def counted(self, question, first, merged):
        rounds.append(question.name)
        if len(rounds) == 4:
            kill(client, 0)
        start(self, question, first, merged)

    monkeypatch.setattr(_Collection, "start", counted)
    with pytest.raises(RuntimeError, match="rows or what was made of them are lost") as raised:
        fit(gda().basis, X)
    assert "they were scattered" in str(raised.value)
    assert "\nhint: make the collection from files or functions" in str(raised.value)
    with pytest.raises(RuntimeError, match="rows or what was made of them are lost"):
        fit(gda().basis, X)


def test_a_task_that_kills_every_worker_ends_in_an_error():
    def deadly(block):
        os.kill(os.getpid(), signal.SIGKILL)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        cluster_of(n_workers=1) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        X = da.zeros((20, 2), chunks=(10, 2)).map_blocks(deadly, meta=np.empty((0, 0)))
        with pytest.raises(
            RuntimeError, match="a task killed the worker that ran it, 2 times: most often the mem"
        ) as e:
            fit(gda().basis, X, client=client)
        assert "\nhint: repartition into smaller partitions" in str(e.value)


@pytest.mark.parametrize("set_to", [None, "1"])
def test_tasks_use_the_threads_of_their_worker(set_to, monkeypatch):
    def with_threads(block):
        return np.full((len(block), 1), _core.n_threads())

    monkeypatch.delenv("MERCER_NUM_THREADS", raising=False)
    monkeypatch.delenv("RAYON_NUM_THREADS", raising=False)
    if set_to is not None:  # by the user, who knows better
        monkeypatch.setenv("MERCER_NUM_THREADS", set_to)
    with (
        cluster_of(n_workers=1, threads_per_worker=2) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        assert set(client.run(os.environ.get, "OMP_NUM_THREADS").values()) == {"1"}
        assert set(client.run(_core.n_threads).values()) == {1}
        X = da.random.default_rng(0).normal(size=(400, 2), chunks=(100, 2))
        fitted = fit(KernelBasis("kobl", gamma=0.1, n_components=5), X, client=client)
        assert set(client.run(_core.n_threads).values()) == {1 if set_to else 2}
        client.compute(transform(fitted, X)).result()
        found = client.compute(X.map_blocks(with_threads, chunks=(100, 1), meta=np.empty((0, 0)))).result()
        assert set(found.ravel()) == {1 if set_to else 2}


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import dask.array as da
from distributed import Client
from mercer import KernelBasis
from mercer.dask import fit

def tasks_of(client):
    tasks = lambda dask_scheduler: [str(key) for key, task in dask_scheduler.tasks.items() if task.state != "forgotten"]
    return [key for key in client.run_on_scheduler(tasks) if "mercer" in key]

def main():
    with Client(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as client:
        X = da.random.default_rng(0).normal(size=(40_000, 5), chunks=(5_000, 5))
        basis = KernelBasis("kobl", gamma=1.0, n_components=3_000, threshold=0.0)
        sent = []

        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(3.0, interrupt).start()
        try:
            fit(basis, X)
        except KeyboardInterrupt:
            print("stopped", time.monotonic() - sent[0] < 5, hasattr(basis, "pivots_"))
        until = time.monotonic() + 10
        while tasks_of(client) and time.monotonic() < until:
            time.sleep(0.1)
        print("left", tasks_of(client))
        print(fit(KernelBasis("kobl", gamma=1.0, n_components=5), X).pivots_.shape)

if __name__ == "__main__":
    main()
"""


def test_ctrl_c_cancels_what_was_submitted(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["stopped True False", "left []", "(5,)"], run.stderr


def test_the_cluster_of_a_killed_fit_still_works(client):
    """Nothing of the fits above is left, and the next one is an ordinary one."""
    X, y = collections()
    assert fit(gda(), X, y).basis_.n_components_ == 120
    for _ in range(50):
        keys = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        if not any("mercer" in key for key in keys):
            break
        time.sleep(0.1)
    assert [key for key in keys if "mercer" in key] == []
