"""Tables, figures and verdicts, made from results alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lab.stats import Paired
from lab.verdicts import FAILS, HOLDS, PARTLY, UNTESTED

VERDICTS = (HOLDS, PARTLY, FAILS, UNTESTED)

# A method has the same colour in every figure.
COLOURS = {
    "TAKES": "#c1272d",
    "KLFE": "#c1272d",
    "SKFE": "#c1272d",
    "K-Relief": "#c1272d",
    "SK-Relief": "#e07b39",
    "FSKGS": "#7b3fa0",
    "FSKPCA": "#2a9d8f",
    "KGS+KFFS": "#e07b39",
    "KDA": "#1f6fb4",
    "GDA": "#1f6fb4",
    "KPCA": "#3f7d20",
    "PCA": "#8a8a8a",
    "LFE": "#b08900",
    "KNNC": "#222222",
    "KKNN": "#222222",
    "NN": "#222222",
    "KANMM": "#7b3fa0",
    "KMFA": "#2a9d8f",
    "KOC": "#1f6fb4",
    "KPLS": "#3f7d20",
    "AKDA/QR": "#7b3fa0",
    "uniform": "#222222",
    "kobl": "#c1272d",
    "rpcholesky": "#1f6fb4",
    "csi": "#3f7d20",
    "gram-schmidt": "#7b3fa0",
    "kpca": "#2a9d8f",
    "sparse": "#e07b39",
    "nystrom": "#222222",
}


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, where it stands, and what became of it."""

    text: str
    where: str
    verdict: str
    figure: str


class Report:
    """Collects what an experiment shows and writes it into a folder: figures, `tables.md`, the blocks of its README."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[str, str] = {}
        self.claims: list[Claim] = []

    def table(self, name: str, head: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
        """Add a table; the first column is words, the others are numbers."""
        lines = [_line(head), "|---|" + "---:|" * (len(head) - 1), *map(_line, rows)]
        self.tables[name] = "\n".join(lines) + (f"\n\n{note}" if note else "")

    def claim(self, text: str, where: str, verdict: str, figure: str) -> None:
        """Judge a sentence of the paper; the verdict must follow from the results by a rule."""
        if verdict not in VERDICTS:
            raise ValueError(f"{verdict!r} is no verdict; one of {', '.join(VERDICTS)}")
        self.claims.append(Claim(text, where, verdict, figure))

    def resolution(self, found: dict[str, list[Paired]]) -> None:
        """Add the table of the smallest difference that would be clear on each set, the median over comparisons."""
        rows = [(name, d[0].n, f"{100 * median(t.needed for t in d):.1f}") for name, d in found.items() if d]
        note = (
            "Points of accuracy or error; the median over the comparisons of this page. It follows from how the "
            "differences vary from split to split, from the number of splits, and from the shares of the rows."
        )
        self.table("resolution", ("set", "splits", "smallest difference that would be clear"), rows, note)

    def outcome(self) -> str:
        """Write in one sentence how many of the claims hold."""
        counts = [sum(c.verdict == verdict for c in self.claims) for verdict in VERDICTS]
        words = [f"{n} {w}" for n, w in zip(counts, ("hold", "hold partly", "do not hold"), strict=False)]
        untested = f", {counts[3]} could not be tested" if counts[3] else ""
        total = len(self.claims)
        rule = "[one rule for all pages](../README.md#one-rule-for-all-verdicts)"
        return f"Of {total} claims {words[0]}, {words[1]} and {words[2]}{untested}, by {rule}."

    @contextmanager
    def figure(self, name: str, rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **subplots):
        """Yield axes to draw on; save `figures/NAME.png` and `.svg`, the same bytes for the same results."""
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        style = {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "legend.frameon": False,
            "lines.linewidth": 1.4,
            "svg.fonttype": "none",
            "svg.hashsalt": "mercer",
        }
        with pyplot.rc_context(style):
            size = size or (3.4 * columns, 2.7 * rows)
            figure, axes = pyplot.subplots(rows, columns, figsize=size, layout="constrained", **subplots)
            try:
                yield axes
                folder = self.folder / "figures"
                folder.mkdir(parents=True, exist_ok=True)
                figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
            finally:
                pyplot.close(figure)

    def write(self) -> None:
        """Write `tables.md`, and put the tables into the README where `<!-- table NAME -->` asks for them."""
        if self.claims:
            self.tables["outcome"] = self.outcome()
            rows = [(c.text, c.where, c.verdict, c.figure) for c in self.claims]
            self.tables["claims"] = "\n".join(
                [_line(("claim", "where", "verdict", "our figure")), "|---|---|---|---|", *map(_line, rows)]
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        text = "\n\n".join(f"## {name}\n\n{table}" for name, table in self.tables.items())
        (self.folder / "tables.md").write_text(text + "\n")
        readme = self.folder / "README.md"
        if readme.exists():
            readme.write_text(fill(readme.read_text(), self.tables))


def fill(page: str, tables: dict[str, str]) -> str:
    """Replace what stands between `<!-- table NAME -->` and `<!-- end -->`."""

    def put(found: re.Match) -> str:
        name = found[1]
        if name not in tables:
            raise KeyError(f"the page asks for the table {name!r}; there are {', '.join(tables)}")
        return f"<!-- table {name} -->\n\n{tables[name]}\n\n<!-- end -->"

    return re.sub(r"<!-- table (\S+) -->.*?<!-- end -->", put, page, flags=re.DOTALL)


def colour(method: str) -> str:
    """Return the method's colour."""
    return COLOURS.get(method, "#555555")


def best(cells: Sequence[float], texts: Sequence[str], *, low: bool = True) -> list[str]:
    """Print the best of a row in bold; equal texts are equally good."""
    wanted = (min if low else max)(c for c in cells if c == c)
    winner = texts[list(cells).index(wanted)]
    return [f"**{t}**" if t == winner else t for t in texts]


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
