"""The paragraph about its defaults on a method's page in docs/methods."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from defaults_report import MEASURES, Table, difference_apart

PAGES = Path(__file__).resolve().parents[2] / "docs" / "methods"
WORDS = {"tables": "tables", "genes": "gene sets", "texts": "texts", "numbers": "numbers to predict"}
PARAGRAPH = re.compile(r"^\*\*How good are the defaults\?\*\*.*?(?=\n\n|\n*\Z)", re.MULTILINE | re.DOTALL)


def write_pages(tables: dict[str, Table], folder: Path = PAGES) -> None:
    """Bring the paragraph of every page that has one up to date."""
    for page in sorted(folder.glob("*.md")):
        text = page.read_text()
        if page.stem in tables["classes"].methods and PARAGRAPH.search(text):
            page.write_text(PARAGRAPH.sub(lambda _, method=page.stem: paragraph(tables, method), text))


def paragraph(tables: dict[str, Table], method: str) -> str:
    """Say how good a method's defaults are, on each group of sets and beside their alternatives."""
    groups = [name for name in ("tables", "genes", "texts") if method in tables[name].methods]

    def scores(measure: str) -> str:
        return " / ".join(f"{100 * tables[name].mean(method, 'default', measure):.1f}" for name in groups) + " %"

    def better(names: list[str]) -> list[str]:
        lost = [(name, measure) for name in names if method in tables[name].methods for measure in MEASURES]
        lost = [
            (name, measure, tables[name].best(method, measure)) for name, measure in lost if not good(name, measure)
        ]
        return [
            f"{difference_apart(best[1])} points{' of R²' if name == 'numbers' else ''} by {MEASURES[measure]}"
            f"{f' on {WORDS[name]}' if name in WORDS else ''} (`{best[0]}`)"
            for name, measure, best in lost
        ]

    def good(name: str, measure: str) -> bool:
        return tables[name].good(method, measure)

    sets = [f"{len(tables[name].scored(method, 'default'))} {WORDS[name]}" for name in groups]
    told = [
        f"**How good are the defaults?** On {' / '.join(sets)} the nearest neighbour has {scores('nn')}, ridge "
        f"{scores('ridge')}."
    ]
    on_average, on_some = better(["classes", "numbers"]), better(groups)
    if on_average:
        told.append(f"More than two points better on average: {'; '.join(on_average)}.")
    else:
        told.append("No alternative that was tried is more than two points better on average.")
    if on_some:
        told.append(f"More than two points better on one kind of data: {'; '.join(on_some)}.")
    told.append("See [experiments/defaults](../../experiments/defaults/README.md).")
    return textwrap.fill(" ".join(told), 150, break_long_words=False, break_on_hyphens=False)
