"""Runs every command and every estimator under limits on memory, from just enough to start upwards.

    python tools/check_memory.py --program target/debug/mercer
    python tools/check_memory.py --estimators            # needs the package `mercer`

Each case runs once without a limit, which gives the most address space that it takes, and then under limits
(RLIMIT_AS) from what the program needs to start to 1.3 times that. In Python, where a reserve is kept under a limit,
they begin with half of what a small call needs. A case must work, or refuse in words: an abort, a panic, a
message about a bug and a case that does not end count as broken. Prints a table, and exits 1 if something broke. Linux.
"""

import argparse
import concurrent.futures
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# Where the limits lie between starting (0) and the most that a case took (1).
STEPS = [0.0, 0.04, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.3]
# Seconds that a case may take under a limit.
PATIENCE = 300
THREADS = "2"
WORKED, REFUSED, BROKEN = "worked", "refused", "broken"

CLASSES = "synth:ringnorm?n={n}&seed=1"
NUMBERS = "synth:friedman?n={n}&seed=1"


@dataclass
class Outcome:
    """What became of one run."""

    kind: str
    text: str = ""


@dataclass
class Tally:
    """What became of all runs of a case."""

    name: str
    peak: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def add(self, limit: int, outcome: Outcome) -> None:
        self.counts[outcome.kind] += 1
        if outcome.kind == BROKEN:
            self.broken.append(f"{self.name}, limit {limit / 1e6:.0f} MB: {outcome.text}")


def limits(base: int, peak: int) -> list[int]:
    """Return the limits that a case runs under."""
    return [base + int(step * max(0, peak - base)) for step in STEPS]


def in_kilobytes(pid: int, key: str) -> int:
    """Return a number of a process from /proc, in kB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{key}:")), 0)


# The command line


class Program:
    """The program, in a folder of its own."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder

    def run(self, words: list[str], limit: int | None = None) -> tuple[Outcome, int]:
        """Run a command; return what became of it, and its largest address space in bytes."""

        def limited() -> None:
            # A process that aborts need not leave its memory in a file.
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        environment = os.environ | {"MERCER_NUM_THREADS": THREADS}
        environment.pop("MERCER_MEMORY", None)
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [self.path, *words],
                cwd=self.folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=said,
                preexec_fn=limited,
            )
            began, peak = time.monotonic(), 0
            while process.poll() is None:
                peak = max(peak, in_kilobytes(process.pid, "VmPeak"))
                if time.monotonic() - began > PATIENCE:
                    process.kill()
                    process.wait()
                    return Outcome(BROKEN, f"did not end within {PATIENCE} s"), peak
                time.sleep(0.005)
            said.seek(0)
            text = said.read().decode(errors="replace")
        return outcome(process.returncode, text), 1000 * peak


def outcome(code: int, text: str) -> Outcome:
    """Return what an exit code and the messages of a command mean."""
    last = " | ".join(text.strip().splitlines()[-2:])
    if code == 0:
        return Outcome(WORKED)
    if code < 0:
        return Outcome(BROKEN, f"{signal.Signals(-code).name}: {last}")
    if "bug in mercer" in text or "panicked" in text:
        return Outcome(BROKEN, last)
    if code == 1 and "error:" in text:
        return Outcome(REFUSED, text)
    return Outcome(BROKEN, f"exit code {code}: {last}")


def methods(program: Path, heading: str) -> list[str]:
    """Return the methods under a heading of `mercer methods`."""
    told = subprocess.run([program, "methods"], capture_output=True, text=True, check=True).stdout
    (part,) = [part for part in told.split("\n\n") if part.startswith(heading)]
    return [line.split()[0] for line in part.splitlines()[1:]]


def prepare(program: Program, n: int) -> None:
    """Write the models and the files that commands read."""
    classes, numbers = CLASSES.format(n=300), CLASSES.format(n=20 * n)
    for words in [
        ["fit", classes, "--method", "gda", "-o", "gda.mercer"],
        ["fit", classes, "--method", "kobl", "--n-components", "40", "-o", "kobl.mercer"],
        ["fit", classes, "--method", "auto", "-o", "auto.mercer"],
        *(["transform", "kobl.mercer", numbers, "-o", f"rows.{end}"] for end in FORMATS),
    ]:
        done, _ = program.run(words)
        if done.kind != WORKED:
            raise SystemExit(f"mercer {' '.join(words)}\n{done.text}")


FORMATS = ["csv", "csv.gz", "parquet", "arrow", "npy", "npz", "libsvm"]


def commands(program: Path, n: int) -> dict[str, list[str]]:
    """Return every command under a name."""
    classes, numbers, many = CLASSES.format(n=n), NUMBERS.format(n=n), CLASSES.format(n=40 * n)
    found = {}
    for heading in ("Bases", "Extractors", "Systems"):
        for method in methods(program, heading):
            found[f"fit {method}"] = ["fit", classes, "--method", method, "-o", f"{method}.m"]
    found["fit auto"] = ["fit", CLASSES.format(n=n // 4), "--method", "auto", "-o", "auto.m"]
    found["fit with a report"] = ["fit", classes, "--method", "gda", "-o", "page.m", "--report", "fit.html"]
    for method in methods(program, "Selectors"):
        source = numbers if method == "rrelieff" else classes
        found[f"select {method}"] = ["select", source, "--method", method, "-o", f"{method}.csv"]
    for end in FORMATS:
        found[f"transform to {end}"] = ["transform", "gda.mercer", many, "-o", f"out.{end}"]
        found[f"read {end}"] = ["fit", f"rows.{end}", "--method", "nystrom", "--n-components", "5", "-o", f"{end}.m"]
    found["predict"] = ["predict", "auto.mercer", many, "-o", "predicted.csv"]
    found["export"] = ["export", "gda.mercer", "-o", "out.onnx"]
    found["inspect"] = ["inspect", "gda.mercer", "--importance", many]
    few = CLASSES.format(n=max(120, n // 8))
    found["compare"] = ["compare", few, "--methods", "gda,kpca,takes", "--report", "compare.html"]
    found["advise"] = ["advise", few, "--report", "advise.html"]
    found["methods"] = ["methods"]
    found["man"] = ["man"]
    found["completions"] = ["completions", "bash"]
    return found


def smallest_start(program: Program) -> int:
    """Return the address space with which the program starts, to within a MB."""
    low, high = 1 << 20, 1 << 30
    while high - low > 1 << 20:
        middle = (low + high) // 2
        if program.run(["--version"], middle)[0].kind == WORKED:
            high = middle
        else:
            low = middle
    return high


def check_commands(path: Path, n: int, only: str, jobs: int) -> list[Tally]:
    with tempfile.TemporaryDirectory(prefix="mercer-memory-") as folder:
        program = Program(path.resolve(), Path(folder))
        prepare(program, n)
        base = smallest_start(program)
        print(f"the program starts with {base / 1e6:.0f} MB of address space", flush=True)

        def check(name: str, words: list[str]) -> Tally:
            undisturbed, peak = program.run(words)
            tally = Tally(name, peak)
            if undisturbed.kind != WORKED:
                tally.add(0, Outcome(BROKEN, f"without a limit: {undisturbed.text}"))
                return tally
            for limit in limits(base, peak):
                tally.add(limit, program.run(words, limit)[0])
            return tally

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            todo = [pool.submit(check, *case) for case in commands(path, n).items() if only in case[0]]
            return [shown(done.result()) for done in todo]


# Python


def estimators(n: int) -> dict[str, object]:
    """Return calls of every estimator and function under a name."""
    import numpy as np
    from sklearn.base import is_regressor

    import mercer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    classes, numbers = (X[:, 0] * X[:, 1] > 0).astype(int), X[:, 0] + X[:, 1] ** 2

    calls: dict[str, object] = {"a small call": lambda: mercer.FScore().fit(X[:20], classes[:20])}
    for name in mercer.__all__:
        kind = getattr(mercer, name)
        if (
            isinstance(kind, type)
            and hasattr(kind, "fit")
            and name not in {"FeatureMap", "SelectedColumns", "TableEncoder"}
        ):
            small = n // 4 if name.startswith("Auto") else n

            def call(kind: type = kind, small: int = small) -> object:
                estimator = kind()
                y = numbers if is_regressor(estimator) or kind.__name__ == "RReliefF" else classes
                fitted = estimator.fit(X[:small], y[:small])
                return fitted.predict(X) if hasattr(fitted, "predict") else fitted.transform(X)

            calls[name] = call
    for method in ("gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"):
        calls[f"KernelBasis({method})"] = lambda method=method: mercer.KernelBasis(method).fit(X, classes).transform(X)
    model = mercer.KernelBasis("nystrom", n_components=300, gamma=0.05)
    many = np.tile(X, (20, 1))
    calls["transform of many rows"] = lambda: model.fit(X).transform(many)
    calls["inverse_transform"] = lambda: model.fit(X).inverse_transform(model.transform(many[: 4 * n]))
    calls["input_importance"] = lambda: model.fit(X).input_importance(many)
    calls["to_onnx"] = lambda: mercer.to_onnx(model.fit(X))
    few = max(120, n // 8)
    calls["compare"] = lambda: mercer.compare(X[:few], classes[:few], methods=["gda", "kpca", "takes"])
    calls["advise"] = lambda: mercer.advise(X[:few], classes[:few])
    return calls


def in_a_fork(call: object, beyond: int | None) -> tuple[Outcome, int]:
    """Run a call in a forked process whose address space may grow by so many bytes; return how much it grew."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        began = 1000 * in_kilobytes(os.getpid(), "VmSize")
        if beyond is not None:
            resource.setrlimit(resource.RLIMIT_AS, (began + beyond, began + beyond))
        kind, text = WORKED, ""
        try:
            call()
        except MemoryError as error:
            kind, text = REFUSED, str(error)
        except BaseException as error:
            # A library that cannot get a thread or a buffer says so as an OSError.
            refused = isinstance(error, OSError)
            kind, text = (REFUSED if refused else BROKEN), "".join(traceback.format_exception_only(error))
        grown = 1000 * in_kilobytes(os.getpid(), "VmPeak") - began
        os.write(writer, f"{kind}\n{grown}\n{text}".encode())
        os._exit(0)
    os.close(writer)
    began, status = time.monotonic(), None
    while status is None:
        ended, found = os.waitpid(child, os.WNOHANG)
        if ended:
            status = found
        elif time.monotonic() - began > PATIENCE:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            return Outcome(BROKEN, f"did not end within {PATIENCE} s"), 0
        else:
            time.sleep(0.005)
    with os.fdopen(reader) as told:
        said = told.read()
    if os.WIFSIGNALED(status):
        return Outcome(BROKEN, signal.Signals(os.WTERMSIG(status)).name), 0
    kind, grown, text = said.split("\n", 2) if said else (BROKEN, "0", "nothing was said")
    return Outcome(kind, text), int(grown)


def smallest_call(call: object) -> int:
    """Return the address space that a small call needs under a limit, to within a MB."""
    low, high = 0, 1 << 32
    while high - low > 1 << 20:
        middle = (low + high) // 2
        if in_a_fork(call, middle)[0].kind == WORKED:
            high = middle
        else:
            low = middle
    return high


def check_estimators(n: int, only: str) -> list[Tally]:
    os.environ["MERCER_NUM_THREADS"] = THREADS
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.pop("MERCER_MEMORY", None)
    calls, found = estimators(n), []
    start = smallest_call(calls["a small call"])
    print(f"a small call needs {start / 1e6:.0f} MB of address space", flush=True)
    for name, call in calls.items():
        if only not in name:
            continue
        undisturbed, peak = in_a_fork(call, None)
        tally = Tally(name, peak)
        if undisturbed.kind != WORKED:
            tally.add(0, Outcome(BROKEN, f"without a limit: {undisturbed.text}"))
        else:
            for beyond in [start // 2, *limits(start, start + peak)]:
                tally.add(beyond, in_a_fork(call, beyond)[0])
        found.append(shown(tally))
    return found


def shown(tally: Tally) -> Tally:
    numbers = "".join(f"{tally.counts[kind]:9}" for kind in (WORKED, REFUSED, BROKEN))
    print(f"{tally.name:28}{tally.peak / 1e6:9.0f}{numbers}", flush=True)
    for line in tally.broken:
        print(f"    {line}", flush=True)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, help="the command line")
    parser.add_argument("--estimators", action="store_true", help="the Python package")
    parser.add_argument("--rows", type=int, default=1_200, help="rows that are fitted")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="commands at a time")
    asked = parser.parse_args()
    found = []
    print(f"{'':28}{'peak MB':>9}{WORKED:>9}{REFUSED:>9}{BROKEN:>9}")
    if asked.program:
        found += check_commands(asked.program, asked.rows, asked.only, asked.jobs)
    if asked.estimators:
        found += check_estimators(asked.rows, asked.only)
    total = sum((tally.counts for tally in found), Counter())
    print(f"{len(found)} cases, {total[WORKED]} runs worked, {total[REFUSED]} refused, {total[BROKEN]} broke")
    sys.exit(1 if total[BROKEN] else 0)


if __name__ == "__main__":
    main()
