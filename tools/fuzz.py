"""Run every fuzz target for some time, several at once, and print what was covered and found as Markdown and JSON.

The program is built by `make fuzz`; it needs nothing but itself, the corpus and this script, so it can be carried to
another machine. What is new goes to the folder `--found`: inputs that reach new code in FOUND/TARGET/corpus, and those
that break something in FOUND/TARGET, named crash-…, timeout-… or oom-…. The exit code is 1 if there are any of these.

    python tools/fuzz.py --program fuzz/target/release/targets --seconds 60 --jobs 2
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"

# An input may take 10 seconds, the process 2 GiB; the program itself allows an input 256 MiB.
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=512")

# Kernels that are sums are never freed, so a process ends after a number of runs and another goes on.
RUNS_A_PROCESS = 1_000_000

# Breaks after which a target is given up.
MOST_BREAKS = 20

# Inputs of these reach so much code that libFuzzer's count of how rare each feature is ("entropic") takes half of the
# time: without it `advice` runs 2.3 times as often and reaches more edges. The others reach fewer edges without it.
WITHOUT_ENTROPIC = ("advice",)

# Targets that come first where there are more jobs than targets.
SLOW = ("checkpoint", "npz", "parquet", "model", "arrow")


def numbers(log: str) -> dict[str, int]:
    """Find what one process says at its end."""

    def largest(pattern: str) -> int:
        return max((int(v) for v in re.findall(rf"{pattern}: +(\d+)", log)), default=0)

    return {
        "executions": largest("stat::number_of_executed_units"),
        "edges": largest(r"\bcov"),
        "features": largest(r"\bft"),
        "slowest_seconds": largest("stat::slowest_unit_time_sec"),
        "peak_megabytes": largest("stat::peak_rss_mb"),
    }


def run(args: argparse.Namespace, target: str, worker: int) -> dict[str, int]:
    """Fuzz one target until the time is over, or until it has run often enough."""
    folder = args.found.resolve() / target
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + args.seconds
    total = dict.fromkeys(("executions", "edges", "features", "slowest_seconds", "peak_megabytes"), 0)
    breaks = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as files:
        environment = os.environ | {"TARGET": target, "TMPDIR": files, "RAYON_NUM_THREADS": "1"}
        for part in range(1_000_000):
            left = round(end - time.monotonic())
            more = (args.executions or sys.maxsize) - total["executions"]
            if left < 1 or more < 1 or breaks == MOST_BREAKS:
                break
            command = [args.program, folder / "corpus", args.corpus / target, *LIMITS, f"-max_total_time={left}"]
            command += [f"-runs={min(more, RUNS_A_PROCESS)}"]
            command += [f"-artifact_prefix={folder}/", "-print_final_stats=1", "-reload=1"]
            command += [f"-entropic={int(target not in WITHOUT_ENTROPIC)}"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
            if done.returncode != 0 or part == 0:
                (folder / f"log-{worker}-{part}.txt").write_text(done.stderr[-100_000:])
            breaks += done.returncode != 0
            found = numbers(done.stderr)
            total["executions"] += found.pop("executions")
            total |= {name: max(total[name], value) for name, value in found.items()}
            (folder / f"so-far-{worker}.json").write_text(json.dumps(total) + "\n")
    return total


def markdown(results: dict[str, dict[str, int]]) -> str:
    lines = [
        "| target | executions | edges | features | breaks | slowest input (s) | peak memory (MB) |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for target, found in results.items():
        keys = ("executions", "edges", "features", "breaks", "slowest_seconds", "peak_megabytes")
        cells = [f"{found[key]:,}".replace(",", "\u202f") for key in keys]
        lines.append(f"| `{target}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="the fuzz binary")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="a folder of inputs for each target")
    parser.add_argument("--found", type=Path, default=CORPUS.parent / "found", help="the folder for what is found")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--executions", type=int, help="for each target, after which its time is over as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--targets", help="some targets, with commas between; all are run otherwise")
    parser.add_argument("--json", type=Path, help="file for the results as JSON")
    args = parser.parse_args()
    args.program, args.corpus = args.program.resolve(), args.corpus.resolve()
    targets = args.targets.split(",") if args.targets else sorted(folder.name for folder in args.corpus.iterdir())

    extra = [target for target in SLOW if target in targets] or targets
    spare = max(0, args.jobs - len(targets))
    work = targets + [extra[at % len(extra)] for at in range(spare)]
    with ThreadPoolExecutor(args.jobs) as pool:
        runs = list(zip(work, pool.map(lambda at: run(args, work[at], at), range(len(work))), strict=True))

    results: dict[str, dict[str, int]] = {}
    for target in targets:
        own = [found for name, found in runs if name == target]
        breaks = [
            path.name
            for path in (args.found / target).iterdir()
            if re.match("(crash|timeout|oom|slow-unit)-", path.name)
        ]
        results[target] = {
            "executions": sum(found["executions"] for found in own),
            "breaks": sum(not name.startswith("slow-unit") for name in breaks),
        } | {
            key: max(found[key] for found in own) for key in ("edges", "features", "slowest_seconds", "peak_megabytes")
        }
    print(markdown(results))
    text = json.dumps({"seconds": args.seconds, "jobs": args.jobs, "targets": results}, indent=1)
    if args.json:
        args.json.write_text(text + "\n")
    else:
        print(text)
    return int(any(found["breaks"] for found in results.values()))


if __name__ == "__main__":
    sys.exit(main())
