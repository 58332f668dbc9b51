"""Count the instructions of small jobs under callgrind, and hold them against those of bench/instructions.json.

    python tools/instructions.py                compare; exit 1 if a job needs far more than it did
    python tools/instructions.py kobl gda       these jobs alone
    python tools/instructions.py --update       write the counts that are met now

Unlike seconds, instructions do not depend on what else the machine does. They do depend on the compiler and a little
on the processor, so the bounds are generous: they catch a loop that has lost its vector instructions or a sum that is
taken twice, no more. valgrind has no AVX-512: what is counted are the paths for AVX2. Where valgrind is missing, or on
another architecture than that of the counts, nothing is compared. The jobs are in
crates/mercer/examples/instructions.rs, built in the profile of the tests, which have built it already.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "bench" / "instructions.json"

# A job may need this many times its instructions; with less than the second, the counts are worth writing anew.
MOST, LEAST = 1.5, 0.67

# The same packages, targets and features as `make build`, so that nothing is built for this alone.
FEATURES = "mercer/formats,mercer/report,mercer-py/extension-module"
BUILD = ["cargo", "build", "--workspace", "--features", FEATURES, "--lib", "--bins", "--tests", "--examples"]
EXAMPLE = "instructions"


def built() -> str:
    """Build the jobs and return the path of the program."""
    command = [*BUILD, "--message-format", "json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    messages = map(json.loads, done.stdout.splitlines())
    found = (m for m in messages if m.get("target", {}).get("name") == EXAMPLE and m.get("executable"))
    return next(m["executable"] for m in found)


def count(program: str, job: str) -> int:
    """Return the instructions of one job, inside the program's function `counted`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        options = ["--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=*instructions*counted*"]
        done = subprocess.run(["valgrind", *options, program, job], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"`{job}` failed under valgrind:\n{done.stderr}")
        found = re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.MULTILINE)
    if not found or found[1] == "0":
        sys.exit(f"nothing was counted for `{job}`: callgrind met no function called `counted`")
    return int(found[1])


def compiler() -> str:
    """Return the version of rustc."""
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def table(counts: dict[str, int], known: dict[str, int]) -> list[str]:
    """Print counts beside those that are known; return the jobs that need too many."""
    worse, better = [], []
    print(f"{'job':<18} {'instructions':>14} {'before':>14} {'ratio':>6}")
    for job, found in counts.items():
        before = known.get(job)
        ratio = found / before if before else None
        before_text, ratio_text = (f"{before:,}", f"{ratio:.2f}") if ratio else ("", "new")
        print(f"{job:<18} {found:>14,} {before_text:>14} {ratio_text:>6}")
        if ratio and ratio > MOST:
            worse.append(job)
        if not ratio or ratio < LEAST:
            better.append(job)
    if better:
        print(f"new or faster: {', '.join(better)}\nhint: `{sys.argv[0]} --update` keeps the counts")
    return worse


def main() -> None:
    """Compare, or write the counts."""
    parser = argparse.ArgumentParser(description="Instructions of small jobs under callgrind.")
    parser.add_argument("jobs", nargs="*", help="names of jobs; none: all")
    parser.add_argument("--update", action="store_true", help="write the counts in place of comparing them")
    parser.add_argument("--program", help="the jobs, built already; without it they are built first")
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions are not counted: valgrind is missing (Debian: apt-get install valgrind)")
        return
    program = asked.program or built()
    all_jobs = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    unknown = set(asked.jobs) - set(all_jobs)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))} unknown; use some of {', '.join(all_jobs)}")
    jobs = asked.jobs or all_jobs
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"jobs": {}}
    where = baseline.get("machine", platform.machine())
    if not asked.update and where != platform.machine():
        print(f"instructions are not compared: they were counted on {where}, and this is {platform.machine()}")
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(jobs, pool.map(lambda job: count(program, job), jobs), strict=True))
    worse = table(counts, baseline["jobs"])
    if asked.update:
        all_counts = baseline["jobs"] | counts
        kept = {job: all_counts[job] for job in all_jobs if job in all_counts}
        known = {"machine": platform.machine(), "rustc": compiler(), "jobs": kept}
        BASELINE.write_text(json.dumps(known, indent=2) + "\n")
    elif worse:
        here = compiler()
        other = "" if here == baseline["rustc"] else f" (counted with {baseline['rustc']}, here {here})"
        sys.exit(
            f"error: more than {MOST} times as many instructions as before{other}: {', '.join(worse)}\n"
            f"hint: find out why; if it is meant, `python {sys.argv[0]} --update {' '.join(worse)}`"
        )


if __name__ == "__main__":
    main()
