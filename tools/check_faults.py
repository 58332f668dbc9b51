"""Breaks the program's surroundings: kills it, fills the disk, closes its pipes, changes its input, sets clocks back.

    python tools/check_faults.py --program target/debug/mercer --seconds 120
    python tools/check_faults.py --program target/debug/mercer --kills 500

What must hold: an output file has its old content or its new content, never another; the next run leaves no temporary
file behind; a checkpoint resumes to the same bits; a second process is refused a checkpoint folder that is in use;
every failure is an error in words, not an abort. Exits 1 with the case where that is not so. Standard library, Linux.
"""

import argparse
import contextlib
import gzip
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

OLD = b"what was there before\n"
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
# Reports and tables have times in them.
TIMES = re.compile(rb"\d[\d.]*(e-\d+)?(</?[a-z]+>|&nbsp;|\s)*(ms|s|min)\b|\d{4}-\d\d-\d\d|(?<=fit_seconds)\D*[\d.e-]+")
# How long a command may take after Ctrl-C.
PATIENCE = 60


class BrokenError(Exception):
    """A promise that was not kept."""


@dataclass
class Case:
    """A command that writes files into its folder."""

    name: str
    words: list[str]
    outputs: list[str]
    checkpoint: bool = False
    # Whether Ctrl-C makes it write what it has so far, as a whole file.
    gives_what_it_has: bool = False
    took: float = 0.0
    new: dict[str, bytes] = field(default_factory=dict)


RINGNORM = "synth:ringnorm?n=300&seed=1"
MANY_ROWS = "synth:ringnorm?n=20000&seed=2"
# A basis of many components, so that there are many saves.
MANY_COMPONENTS = ["--basis", "kobl", "--basis-components", "400", "--threshold=0"]
LONG_FIT = ["synth:ringnorm?n=1500&seed=1", "--method", "gda", *MANY_COMPONENTS]


def cases() -> list[Case]:
    fit = ["fit", RINGNORM, "--method", "gda"]
    transform = [
        Case(
            f"transform to {end}", ["transform", "gda.mercer", MANY_ROWS, "-o", f"features.{end}"], [f"features.{end}"]
        )
        for end in ("csv", "csv.gz", "parquet", "arrow", "npy", "npz", "libsvm")
    ]
    kept = ["--checkpoint", "kept"]
    compare = [
        "compare",
        "synth:waveform?n=120&seed=1",
        "--methods",
        "gda,kpca",
        "-o",
        "table.json",
        "--format",
        "json",
    ]
    return [
        Case("fit", [*fit, "-o", "m.mercer"], ["m.mercer"]),
        Case("fit with a report", [*fit, "-o", "m.mercer", "--report", "page.html"], ["m.mercer", "page.html"]),
        Case("fit with a checkpoint", ["fit", *LONG_FIT, "-o", "m.mercer", *kept], ["m.mercer"], checkpoint=True),
        Case(
            "select",
            ["select", RINGNORM, "--method", "relieff", "-o", "scores.csv", "-m", "chosen.mercer"],
            ["scores.csv", "chosen.mercer"],
        ),
        *transform,
        Case("predict", ["predict", "auto.mercer", RINGNORM, "-o", "predicted.csv"], ["predicted.csv"]),
        Case("export", ["export", "gda.mercer", "-o", "m.onnx"], ["m.onnx"]),
        Case("compare", [*compare, "--report", "page.html"], ["table.json", "page.html"], gives_what_it_has=True),
        Case("compare with a checkpoint", [*compare, *kept], ["table.json"], checkpoint=True, gives_what_it_has=True),
        Case("advise", ["advise", RINGNORM, "--report", "page.html"], ["page.html"]),
        Case(
            "advise with a checkpoint",
            ["advise", RINGNORM, "--report", "page.html", *kept],
            ["page.html"],
            checkpoint=True,
        ),
    ]


class Harness:
    """The program, a folder for it and a clock."""

    def __init__(self, program: Path, folder: Path, seed: int) -> None:
        self.program, self.folder = program, folder
        self.random = random.Random(seed)
        self.counts: dict[str, int] = {}

    def count(self, what: str, n: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + n

    def killed(self) -> int:
        """Return how often a command was killed before it had ended."""
        return sum(self.counts.get(f"killed by {chosen.name}", 0) for chosen in SIGNALS)

    def start(self, words: list[str], folder: Path | None = None, **more: object) -> "subprocess.Popen[bytes]":
        def usual_signals() -> None:
            # Processes that were started in the background ignore Ctrl-C.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        settings = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "preexec_fn": usual_signals} | more
        environment = os.environ | {"MERCER_CHECKPOINT_SECONDS": "0", "MERCER_NUM_THREADS": "2"}
        environment |= settings.pop("env", {})
        words = [str(self.program), *words]
        return subprocess.Popen(words, cwd=folder or self.folder, env=environment, **settings)

    def run(self, words: list[str], folder: Path | None = None, **more: object) -> tuple[int, str]:
        process = self.start(words, folder, **more)
        _, error = process.communicate(timeout=600)
        said = error.decode()
        if process.returncode < 0 or "panicked" in said or "bug" in said:
            raise BrokenError(f"mercer {' '.join(words)}\nended with {process.returncode}\n{said}")
        return process.returncode, said

    def done(self, words: list[str], folder: Path | None = None, **more: object) -> str:
        code, said = self.run(words, folder, **more)
        if code != 0:
            raise BrokenError(f"mercer {' '.join(words)}\nended with {code}\n{said}")
        return said

    def refused(self, words: list[str], *parts: str, folder: Path | None = None, **more: object) -> None:
        """Run a command that must fail and say why."""
        code, said = self.run(words, folder, **more)
        if code not in (1, 2) or not said.strip():
            raise BrokenError(f"mercer {' '.join(words)}\nended with {code} where an error was due\n{said}")
        for part in parts:
            if part not in said:
                raise BrokenError(f"mercer {' '.join(words)}\ndoes not say {part!r}:\n{said}")


def content(path: Path) -> bytes:
    """Return the content of a file as far as two runs have it in common."""
    data = path.read_bytes()
    if path.suffix in {".html", ".json"}:
        return TIMES.sub(b"TIME", data)
    return gzip.decompress(data) if path.suffix == ".gz" and data != OLD else data


def listing(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def check_complete(harness: Harness, case: Case) -> None:
    """Check a run that was not disturbed: the new content, and nothing else in the folder."""
    for name in case.outputs:
        found = content(harness.folder / name)
        if found != case.new[name] and not similar(name, found, case.new[name]):
            raise BrokenError(f"{case.name}: {name} differs from that of a run that was not disturbed")
    left = listing(harness.folder) - set(case.outputs) - {"gda.mercer", "auto.mercer"}
    if left:
        raise BrokenError(f"{case.name}: left behind after the next run: {', '.join(sorted(left))}")


def similar(name: str, found: bytes, new: bytes) -> bool:
    """Whether a page is whole; widths of drawn times make pages differ by more than their text."""
    return (
        name.endswith(".html") and found.rstrip().endswith(b"</html>") and abs(len(found) - len(new)) < 0.05 * len(new)
    )


def is_whole(name: str, found: bytes) -> bool:
    """Whether a page or a table is complete, whatever it says."""
    return found.rstrip().endswith(b"</html>" if name.endswith(".html") else b"}")


def prepare(harness: Harness, all_cases: list[Case]) -> None:
    """Make the models that commands read, and what each command writes if nothing happens to it."""
    harness.done(["fit", RINGNORM, "--method", "gda", "-o", "gda.mercer"])
    harness.done(["fit", RINGNORM, "--method", "auto", "-o", "auto.mercer"])
    for case in all_cases:
        for again in (False, True):
            began = time.monotonic()
            harness.done(case.words)
            case.took = time.monotonic() - began
            if not again:
                case.new = {name: content(harness.folder / name) for name in case.outputs}
        check_complete(harness, case)
        remove_outputs(harness, case)


def remove_outputs(harness: Harness, case: Case) -> None:
    for name in case.outputs:
        (harness.folder / name).unlink(missing_ok=True)


def wait_for_the_moment(harness: Harness, case: Case, process: "subprocess.Popen[bytes]") -> None:
    """Wait for any moment, one near the end, or one just after a temporary file has appeared."""
    began, draw = time.monotonic(), harness.random.random()
    if draw < 1 / 3:
        time.sleep(harness.random.uniform(0, 1.1 * case.took))
    elif draw < 2 / 3:
        time.sleep(harness.random.uniform(0.7, 1.1) * case.took)
    else:
        skip = harness.random.choice([0.0, 0.0, 0.5, 0.9]) * case.took
        known = set(case.outputs) | {"gda.mercer", "auto.mercer", "kept"}
        while process.poll() is None and time.monotonic() - began < 3 * case.took + 1:
            if time.monotonic() - began >= skip and listing(harness.folder) - known:
                break
        time.sleep(harness.random.choice([0.0, 1e-4, 1e-3]))


def kill_once(harness: Harness, case: Case) -> None:
    before = {}
    for name in case.outputs:
        path = harness.folder / name
        if harness.random.random() < 0.5:
            path.write_bytes(OLD)
        else:
            path.unlink(missing_ok=True)
        before[name] = content(path) if path.exists() else None
    process = harness.start(case.words)
    wait_for_the_moment(harness, case, process)
    chosen = harness.random.choice(SIGNALS)
    in_time = process.poll() is None
    process.send_signal(chosen)
    try:
        _, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise BrokenError(f"{case.name}: does not end within {PATIENCE} s of {chosen.name}") from None
    said = error.decode()
    if "panicked" in said or "bug" in said:
        raise BrokenError(f"{case.name}: {chosen.name}\n{said}")
    for name, was in before.items():
        path = harness.folder / name
        now = content(path) if path.exists() else None
        if now == was or now == case.new[name]:
            continue
        partial = case.gives_what_it_has and chosen == signal.SIGINT
        if now is None or not (is_whole(name, now) if partial else similar(name, now, case.new[name])):
            raise BrokenError(f"{case.name}: after {chosen.name} {name} is neither old nor new")
    harness.count(f"killed by {chosen.name}" if in_time else "killed too late")


def kills(harness: Harness, all_cases: list[Case], seconds: float, least: int) -> None:
    """Kill every command again and again, for so long and so often; every few times let it run."""
    rounds, until = 0, time.monotonic() + seconds

    def is_over() -> bool:
        return time.monotonic() > until and harness.killed() >= least

    while rounds == 0 or not is_over():
        for case in all_cases:
            for _ in range(harness.random.randint(2, 5)):
                kill_once(harness, case)
            began = time.monotonic()
            said = harness.done(case.words)
            # On a machine that others use, a run may take much less time than the first one did.
            case.took = min(case.took, time.monotonic() - began) if "resuming" not in said else case.took
            harness.count("runs that followed")
            harness.count("runs resumed from a checkpoint", "resuming" in said)
            check_complete(harness, case)
            remove_outputs(harness, case)
            if rounds > 0 and is_over():
                break
        rounds += 1
        print(f"  after round {rounds}: {harness.killed()} kills", flush=True)


def two_processes(harness: Harness, all_cases: list[Case]) -> None:
    """Start a second process on a checkpoint folder that is in use: it is refused, and the first does not notice."""
    for case in (case for case in all_cases if case.checkpoint):
        first = harness.start(case.words)
        kept = harness.folder / "kept"
        while first.poll() is None and not (kept.is_dir() and any(kept.iterdir())):
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)
        try:
            harness.refused(case.words, "another process")
        finally:
            first.send_signal(signal.SIGCONT)
        _, error = first.communicate(timeout=PATIENCE)
        if first.returncode != 0:
            raise BrokenError(f"{case.name}: the first of two processes fails\n{error.decode()}")
        check_complete(harness, case)
        remove_outputs(harness, case)
        harness.count("second processes refused")


@contextlib.contextmanager
def small_disk(size: int) -> Iterator[Path | None]:
    """Give a disk of so many bytes, where the system lets us have one."""
    place = Path(tempfile.mkdtemp(prefix="mercer-disk-"))
    mounted = (
        os.geteuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, check=False
        ).returncode
        == 0
    )
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", place], check=True)
        shutil.rmtree(place, ignore_errors=True)


def into(folder: Path, harness: Harness, case: Case) -> list[str]:
    """Return the command with its models read here and its outputs written there."""
    there = {name: str(folder / name) for name in [*case.outputs, "kept"]}
    here = {name: str(harness.folder / name) for name in ("gda.mercer", "auto.mercer")}
    return [(there | here).get(word, word) for word in case.words]


def disk_full(harness: Harness, all_cases: list[Case]) -> None:
    """Fill the disk, with room for one page or none: an error in words, and what was there before stays."""
    pages = os.sysconf("SC_PAGESIZE")
    with small_disk(64 * pages) as disk:
        if disk is None:
            print("  not root, or no tmpfs: disks that are full were not tried")
            return
        for case in all_cases:
            for room in (0, 1):
                for entry in disk.iterdir():
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
                names = case.outputs
                for name in names:
                    (disk / name).write_bytes(OLD)
                filling = disk / "filling"
                with contextlib.suppress(OSError), filling.open("wb", buffering=0) as file:
                    while True:
                        file.write(bytes(pages))
                if room:
                    os.truncate(filling, filling.stat().st_size - room * pages)
                code, said = harness.run(into(disk, harness, case))
                whole = {name: content(disk / name) for name in names}
                for name, now in whole.items():
                    if now not in (OLD, case.new[name]) and not similar(name, now, case.new[name]):
                        raise BrokenError(f"{case.name} on a full disk: {name} is neither old nor new\n{said}")
                complete = all(now != OLD for now in whole.values())
                if (code == 0) != complete and not (case.checkpoint and code == 1):
                    raise BrokenError(f"{case.name} on a full disk ends with {code}\n{said}")
                if code != 0 and "space" not in said:
                    raise BrokenError(f"{case.name} on a full disk does not say so\n{said}")
                left = {name for name in listing(disk) if name.startswith(".")}
                if left:
                    raise BrokenError(f"{case.name} on a full disk leaves {left} behind")
                harness.count("runs on a full disk")


def temporary_disk_full(harness: Harness) -> None:
    """Fill TMPDIR, where rows beyond the memory budget go: an error and no crash."""
    with small_disk(1 << 20) as disk:
        if disk is None:
            return
        rows = "".join(f"{i % 7},{i * i % 11},{i % 5},{i % 3}\n" for i in range(100_000))
        (harness.folder / "many.csv").write_text("a,b,c,kind\n" + rows)
        small = ["--memory", "1MB"]
        fit = ["fit", "many.csv", "--target", "kind", "--method", "nystrom", "--n-components", "3", *small]
        harness.refused([*fit, "-o", "m.mercer"], "TMPDIR", env={"TMPDIR": str(disk)})
        (harness.folder / "many.csv").unlink()
        transform = ["transform", "gda.mercer", "synth:ringnorm?n=200000&seed=1", *small]
        harness.refused([*transform, "-o", "features.csv"], "TMPDIR", env={"TMPDIR": str(disk)})
        for name in ("m.mercer", "features.csv"):
            if (harness.folder / name).exists():
                raise BrokenError(f"{name} was written although the temporary disk was full")
        harness.count("runs on a full disk", 2)


def quota(harness: Harness, all_cases: list[Case]) -> None:
    """Limit the size of files, as a quota does: an error in words, and what was there before stays."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    for case in all_cases:
        for name in case.outputs:
            (harness.folder / name).write_bytes(OLD)
        code, said = harness.run(case.words, preexec_fn=limited)
        if code != 1 or "error" not in said:
            raise BrokenError(f"{case.name} with a limit on file sizes ends with {code}\n{said}")
        for name in case.outputs:
            if (harness.folder / name).read_bytes() != OLD:
                raise BrokenError(f"{case.name} with a limit on file sizes: {name} is not the old one")
        shutil.rmtree(harness.folder / "kept", ignore_errors=True)
        left = listing(harness.folder) - set(case.outputs) - {"gda.mercer", "auto.mercer"}
        if left:
            raise BrokenError(f"{case.name} with a limit on file sizes leaves {left} behind")
        remove_outputs(harness, case)
        harness.count("runs with a limit on file sizes")


def read_only(harness: Harness, all_cases: list[Case]) -> None:
    """Write into a folder that is read-only, which is refused before the work begins."""
    with small_disk(1 << 20) as disk:
        if disk is None:
            return
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for case in all_cases:
            began = time.monotonic()
            harness.refused(into(disk, harness, case), "ead-only")
            if time.monotonic() - began > max(1.0, case.took):
                raise BrokenError(f"{case.name}: a folder that is read-only is refused after the work")
            harness.count("runs in a read-only folder")


def broken_pipe(harness: Harness) -> None:
    """Close pipes early, as `mercer … | head -1` does: it ends quietly."""
    commands = [
        ["transform", "gda.mercer", MANY_ROWS],
        ["predict", "auto.mercer", MANY_ROWS],
        ["select", RINGNORM, "--method", "relieff"],
        ["compare", "synth:waveform?n=120&seed=1", "--methods", "gda"],
        ["fit", RINGNORM, "--method", "gda", "-o", "-"],
        ["export", "gda.mercer", "-o", "-"],
        ["inspect", "gda.mercer"],
        ["advise", RINGNORM],
        ["methods"],
        ["methods", "--format", "markdown"],
        ["completions", "bash"],
        ["man"],
        ["--help"],
    ]
    for words in commands:
        for taken in (0, 1, 100):
            process = harness.start([*words], stdout=subprocess.PIPE)
            assert process.stdout is not None
            assert process.stderr is not None
            if taken:
                process.stdout.read(taken)
            process.stdout.close()
            said = process.stderr.read().decode()
            code = process.wait(timeout=PATIENCE)
            if code != 0 or "error" in said or "panicked" in said:
                raise BrokenError(f"mercer {' '.join(words)} | head -c {taken}\nended with {code}\n{said}")
            harness.count("pipes that were closed")


def changing_input(harness: Harness) -> None:
    """Cut, empty or replace a file while it is read: a result or an error in words."""
    rows = "".join(f"{i % 7},{i * i % 11},{i % 5},{'yes' if i % 3 else 'no'}\n" for i in range(60_000))
    whole = ("a,b,c,kind\n" + rows).encode()
    path = harness.folder / "changing.csv"
    path.write_bytes(whole)
    made = ["parquet", "arrow", "npy", "npz", "csv.gz"]
    harness.done(
        ["fit", "changing.csv", "--drop", "kind", "--method", "nystrom", "--n-components", "3", "-o", "t.mercer"]
    )
    for end in made:
        harness.done(["transform", "t.mercer", "changing.csv", "-o", f"changing.{end}"])
    for end in ["csv", *made]:
        path = harness.folder / f"changing.{end}"
        whole = path.read_bytes()
        more = ["--drop", "kind"] if end == "csv" else []
        words = ["fit", path.name, *more, "--method", "nystrom", "--n-components", "3", "-o", "m.mercer"]
        began = time.monotonic()
        harness.done(words)
        took = time.monotonic() - began
        for _ in range(6):
            path.write_bytes(whole)
            process = harness.start(words)
            time.sleep(harness.random.uniform(0, 0.6 * took))
            change = harness.random.choice(["cut", "emptied", "replaced", "removed"])
            if change == "cut":
                os.truncate(path, harness.random.randrange(len(whole)))
            elif change == "emptied":
                os.truncate(path, 0)
            elif change == "replaced":
                path.write_bytes(os.urandom(len(whole) // 2))
            else:
                path.unlink()
            _, error = process.communicate(timeout=PATIENCE)
            said = error.decode()
            if process.returncode not in (0, 1, 2) or "panicked" in said or "bug" in said:
                raise BrokenError(f"{end} {change} while it is read: ended with {process.returncode}\n{said}")
            harness.count("inputs changed while read")
        path.unlink(missing_ok=True)
    for name in ("t.mercer", "m.mercer"):
        (harness.folder / name).unlink(missing_ok=True)


def clock_set_back(harness: Harness, all_cases: list[Case]) -> None:
    """Make files that are from the future, as after a clock was set back: nothing depends on the time of a file."""
    ahead = time.time() + 400 * 24 * 3600
    for case in (case for case in all_cases if case.checkpoint):
        process = harness.start(case.words)
        time.sleep(0.5 * case.took)
        process.kill()
        process.communicate()
        for path in [*harness.folder.rglob("*"), harness.folder]:
            os.utime(path, (ahead, ahead))
        harness.done(case.words)
        check_complete(harness, case)
        remove_outputs(harness, case)
        harness.count("runs with files from the future")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120, help="time for the kills; the rest takes half a minute")
    parser.add_argument("--kills", type=int, default=0, help="so many kills at least, however long they take")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which the program is killed")
    asked = parser.parse_args()
    all_cases = cases()
    with tempfile.TemporaryDirectory(prefix="mercer-faults-") as folder:
        harness = Harness(asked.program.resolve(), Path(folder), asked.seed)
        parts: list[tuple[str, Callable[[], None]]] = [
            ("what the commands write undisturbed", lambda: prepare(harness, all_cases)),
            ("pipes closed early", lambda: broken_pipe(harness)),
            ("folders that are read-only", lambda: read_only(harness, all_cases)),
            ("disks that are full", lambda: disk_full(harness, all_cases)),
            ("a temporary folder that is full", lambda: temporary_disk_full(harness)),
            ("limits on file sizes", lambda: quota(harness, all_cases)),
            ("input that changes", lambda: changing_input(harness)),
            ("a clock set back", lambda: clock_set_back(harness, all_cases)),
            ("two processes, one checkpoint", lambda: two_processes(harness, all_cases)),
            ("kills", lambda: kills(harness, all_cases, asked.seconds, asked.kills)),
        ]
        for name, part in parts:
            began = time.monotonic()
            try:
                part()
            except BrokenError as broken:
                print(f"BROKEN: {name} (seed {asked.seed})\n{broken}", file=sys.stderr)
                sys.exit(1)
            print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    for what, count in sorted(harness.counts.items()):
        print(f"{count:6} {what}")


if __name__ == "__main__":
    main()
