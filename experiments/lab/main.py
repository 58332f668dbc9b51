"""The command line of `experiments/run.py` and of every paper's own script."""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from pathlib import Path

from datasets import FOLDER

from lab.jobs import Job, adopt, load_script, run_jobs
from lab.report import VERDICTS, Report, fill
from lab.results import Results, cores, machine

HERE = Path(__file__).resolve().parents[1]
PAPERS = ("takes", "skfe", "eks", "klfe", "sk-relief", "landmarks", "defaults")


def main(paper: str | None = None) -> None:
    """Run the papers that the command line names; a script that passes its own name runs that one."""
    parser = argparse.ArgumentParser(description="Rebuild the papers' tables and figures.")
    if paper is None:
        parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"of {', '.join(PAPERS)}; all if none is named")
    parser.add_argument("--data", type=Path, default=FOLDER, metavar="DIR", help="folder of the data sets")
    parser.add_argument("--quick", action="store_true", help="small settings, minutes; writes to experiments/.quick")
    parser.add_argument("--draw", action="store_true", help="only redraw tables and figures from results.json")
    parser.add_argument("--again", action="store_true", help="compute also what is kept from an earlier run")
    parser.add_argument("--keep", action="store_true", help="take from results.json what has the same settings")
    parser.add_argument("--only", type=_words, metavar="A,B", help="only jobs of these methods, where jobs have one")
    parser.add_argument("--sets", type=_words, metavar="A,B", help="only jobs of these data sets or groups of them")
    parser.add_argument("--jobs", type=int, default=None, metavar="N", help="processes (default: one a core)")
    args = parser.parse_args()
    papers = [paper] if paper else args.papers or list(PAPERS)
    for name in papers:
        if name not in PAPERS:
            parser.error(f"{name!r} is no experiment; there are {', '.join(PAPERS)}")
    out = HERE / ".quick" if args.quick else HERE
    try:
        for name in papers:
            run_paper(name, args, out)
    except KeyboardInterrupt:
        sys.exit("\nstopped; what was finished is kept, and the same command goes on from there")
    page = HERE / "README.md"
    if not args.quick and page.exists():
        claims = claims_of_all()
        tables = {"verdicts": verdict_table(claims), "claims": claim_table(claims)}
        page.write_text(fill(page.read_text(), tables))


def run_paper(name: str, args: argparse.Namespace, out: Path) -> None:
    """Run one experiment's jobs, then write its results, tables and figures."""
    script, folder = HERE / name / "run.py", out / name
    file = folder / "results.json"
    if not args.draw:
        compute(script, args, file)
    write_report(script, Results.read(file), folder)
    print(f"{name}: {os.path.relpath(folder)}/tables.md", file=sys.stderr)


def compute(script: Path, args: argparse.Namespace, file: Path, cache: Path = HERE / ".cache") -> None:
    """Run the jobs and write `results.json`, in which the other parts' results stay where a part is run."""
    module = load_script(script)
    told = tomllib.loads((script.parent / "settings.toml").read_text())
    settings = told["full"] | (told["quick"] if args.quick else {})
    jobs = list(module.jobs(settings))
    if not any(in_part(job, args.only, args.sets) for job in jobs):
        methods = ", ".join(dict.fromkeys(job.settings["method"] for job in jobs if "method" in job.settings))
        sys.exit(f"{script.parent.name}: --only and --sets leave no job; methods are {methods or 'not named'}")
    adopted = [job for job in jobs if args.keep or not in_part(job, args.only, args.sets)]
    if adopted and file.exists():
        kept = adopt(script, adopted, Results.read(file).records, cache, version=module.VERSION)
        if kept:
            print(f"{script.parent.name}: {kept} results taken from results.json", file=sys.stderr)
    records, skipped = run_jobs(
        script,
        jobs,
        args.data.resolve(),
        cache,
        version=module.VERSION,
        workers=args.jobs or cores(),
        again=args.again,
        wanted=lambda job: in_part(job, args.only, args.sets),
    )
    for line in skipped:
        print(f"skipped {line}", file=sys.stderr)
    if not records:
        sys.exit(f"{script.parent.name}: no data set is there, nothing was computed")
    file.parent.mkdir(parents=True, exist_ok=True)
    Results(script.parent.name, settings, machine(), records, skipped).save(file)


def in_part(job: Job, methods: list[str] | None, sets: list[str] | None) -> bool:
    """Whether a job is of the part of an experiment that `--only` and `--sets` name."""
    of_sets = {*job.needs, job.settings.get("name"), job.settings.get("group")}
    return (not methods or job.settings.get("method") in methods) and (not sets or not of_sets.isdisjoint(sets))


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def write_report(script: Path, results: Results, folder: Path) -> Report:
    """Make tables, figures and claims from results."""
    report = Report(folder)
    load_script(script).report(results, report)
    report.write()
    return report


def claims_of_all() -> dict[str, list[str]]:
    """Return the papers' claims, as lines of their tables."""
    claims = {}
    for name in PAPERS:
        tables = HERE / name / "tables.md"
        if tables.exists() and "## claims\n" in tables.read_text():
            claims[name] = tables.read_text().split("## claims\n")[1].strip().splitlines()[2:]
    return claims


def claim_table(claims: dict[str, list[str]]) -> str:
    """Join the papers' claims into one table, each under its paper's name."""
    lines = ["| paper | claim | where | verdict | our figure |", "|---|---|---|---|---|"]
    return "\n".join(lines + [f"| [{name}]({name}/README.md) {row}" for name, rows in claims.items() for row in rows])


def verdict_table(claims: dict[str, list[str]]) -> str:
    """Count the verdicts."""
    lines = ["| paper | " + " | ".join(VERDICTS) + " |", "|---|" + "---:|" * len(VERDICTS)]
    for name, rows in claims.items():
        counts = [sum(f" | {verdict} | " in row for row in rows) for verdict in VERDICTS]
        lines.append(f"| [{name}]({name}/README.md) | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)
