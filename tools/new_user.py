"""Plays a new user: messy files, noise, row numbers, rare classes, wide data, many rows; reads what is said about them.

    python tools/new_user.py --program target/debug/mercer            small files, a minute
    python tools/new_user.py --program target/release/mercer --large  a million rows, too

Every case is a file as people have it, a command as they would type it, and what must, or must not, be said. Exits 1
with the case, the command and its output where that is not so. Standard library alone.
"""

import argparse
import csv
import io
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


class SaysOtherwiseError(Exception):
    """What is said is not so."""


class User:
    """Someone with a folder and a shell."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program, folder

    def write(self, name: str, rows: list[list[object]], *, sep: str = ",") -> None:
        out = io.StringIO()
        csv.writer(out, delimiter=sep, lineterminator="\n").writerows(rows)
        (self.folder / name).write_text(out.getvalue(), encoding="utf-8")

    def run(self, *words: str, code: int = 0) -> str:
        """Run the program and return all that it says, in lower case as it stands."""
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode != code:
            raise SaysOtherwiseError(f"mercer {' '.join(words)}\nexit status {done.returncode}, not {code}\n{said}")
        self.last = f"mercer {' '.join(words)}\n{said}"
        return said

    def says(self, said: str, *parts: str) -> None:
        for part in parts:
            if part not in said:
                raise SaysOtherwiseError(f"{self.last}\ndoes not say {part!r}")

    def says_not(self, said: str, *parts: str) -> None:
        for part in parts:
            if part in said:
                raise SaysOtherwiseError(f"{self.last}\nsays {part!r}")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def noise(user: User) -> None:
    """Labels drawn by chance are called so by every command, and on every page."""
    chance = random.Random(1)
    rows = [[*(round(chance.gauss(0, 1), 3) for _ in range(8)), chance.choice("ab")] for _ in range(300)]
    user.write("noise.csv", [[*(f"c{j}" for j in range(8)), "y"], *rows])
    user.says(user.run("advise", "noise.csv", "--target", "y"), "Nothing here predicts the labels better than chance")
    said = user.run("compare", "noise.csv", "--target", "y", "--methods", "gda,klfe,kobl", "--report", "page.html")
    user.says(said, "no better than chance")
    page = user.read("page.html")
    user.says(page, "No candidate is better than chance", "of rows held out")
    user.run("fit", "noise.csv", "--target", "y", "--method", "gda", "--report", "gda.html", "-o", "gda.mercer")
    user.says(user.read("gda.html"), "No better than chance", "What the features show of these labels is noise")
    user.says(
        user.run("fit", "noise.csv", "--target", "y", "--method", "auto", "-o", "a.mercer"), "no better than chance"
    )
    said = user.run("select", "noise.csv", "--target", "y", "--method", "relieff", "--n-features", "2")
    user.says(said, "may be noise")


def linear(user: User) -> None:
    """See that a target which a plane tells apart needs no kernel."""
    chance = random.Random(2)
    rows = []
    for _ in range(300):
        x = [chance.gauss(0, 1) for _ in range(5)]
        rows.append([*(round(v, 4) for v in x), "up" if x[0] + 0.5 * x[1] > 0.2 * chance.gauss(0, 1) else "down"])
    user.write("plane.csv", [["a", "b", "c", "d", "e", "side"], *rows])
    said = user.run("advise", "plane.csv", "--target", "side")
    user.says_not(said, "A kernel helps here")
    user.says(said, "classification, 2 classes", "linear support vector machine")


def rings(user: User) -> None:
    """See that a ring inside a ring needs one, and that the command which is advised runs."""
    chance = random.Random(3)
    rows = []
    for i in range(240):
        angle, radius = chance.uniform(0, 2 * math.pi), (1.0 if i % 2 else 2.0) + chance.gauss(0, 0.15)
        rows.append([radius * math.cos(angle), radius * math.sin(angle), "in" if i % 2 else "out"])
    user.write("rings.csv", [["x", "y", "where"], *rows])
    said = user.run("advise", "rings.csv", "--target", "where")
    user.says(said, "A kernel helps here")
    command = next(line for line in said.splitlines() if line.startswith("mercer fit "))
    user.says_not(command, "e-", "0000000")
    user.run(*command.split()[1:])
    user.says(user.run("inspect", "model.mercer"), "inputs")


def semicolons(user: User) -> None:
    """Read a file from a spreadsheet in a country with decimal commas."""
    chance = random.Random(4)
    number = lambda v: f"{v:.2f}".replace(".", ",")  # noqa: E731
    rows = [
        [number(chance.gauss(i % 2, 0.3)), number(chance.uniform(0, 9)), "ja" if i % 2 else "nein"] for i in range(60)
    ]
    user.write("export.csv", [["größe", "breite", "krank"], *rows], sep=";")
    said = user.run("fit", "export.csv", "--target", "krank", "--method", "gda", "-o", "m.mercer")
    user.says(said, "60 rows of 2 inputs")


def mixed(user: User) -> None:
    """Categories, dates, booleans, missing values and an id, and new rows with a category never seen."""
    chance = random.Random(5)
    rows = []
    for i in range(120):
        ill = i % 2
        age = "" if i % 10 == 3 else str(30 + 20 * ill + chance.randint(-9, 9))
        city = chance.choice(["Rom", "Oslo", "Bonn"])
        rows.append(
            [1000 + i, age, city, f"2024-{1 + i % 12:02d}-11", "true" if chance.random() < 0.5 else "false", ill]
        )
    user.write("people.csv", [["patient_id", "age", "city", "visit", "smoker", "ill"], *rows[:100]])
    user.write(
        "new.csv",
        [["patient_id", "age", "city", "visit", "smoker"], *[[*row[:2], "Lima", *row[3:5]] for row in rows[100:]]],
    )
    said = user.run("fit", "people.csv", "--target", "ill", "--method", "auto", "-o", "m.mercer")
    user.says(said, "patient_id")
    user.says(user.run("inspect", "m.mercer"), "city", "age")
    said = user.run("predict", "m.mercer", "new.csv")
    user.says(said, "city")
    refused = user.run(
        "fit", "people.csv", "--target", "ill", "--method", "gda", "--missing", "refuse", "-o", "n", code=1
    )
    user.says(refused, "age")
    user.run("compare", "people.csv", "--target", "ill", "--methods", "gda", "--folds", "3")


def row_numbers(user: User) -> None:
    """See that what pandas writes before the first column is no feature."""
    chance = random.Random(60)
    rows = [[i, round(chance.gauss(0, 1), 3), round(chance.gauss(0, 1), 3), "a" if i < 40 else "b"] for i in range(80)]
    user.write("frame.csv", [["", "u", "v", "kind"], *rows])  # sorted by class: the row number would tell all
    said = user.run("compare", "frame.csv", "--target", "kind", "--methods", "gda", "--folds", "3")
    user.says(said, "80 rows of 2 inputs", "no better than chance")


def rare(user: User) -> None:
    """With three in a hundred positive, the majority class is not the best feature."""
    chance = random.Random(7)
    rows = [[round(chance.gauss(0, 1), 3), round(chance.gauss(0, 1), 3), int(i % 33 == 0)] for i in range(400)]
    user.write("rare.csv", [["u", "v", "fraud"], *rows])
    said = user.run("compare", "rare.csv", "--target", "fraud", "--methods", "gda,kobl")
    user.says(said, "balanced accuracy", "no better than chance")
    user.run("compare", "rare.csv", "--target", "fraud", "--methods", "kobl", "--score", "roc-auc", "--format", "json")


def wide(user: User) -> None:
    """More columns than rows."""
    chance = random.Random(8)
    rows = [[*(round(chance.gauss(0, 1) + (i % 2) * (j < 3), 2) for j in range(300)), "ab"[i % 2]] for i in range(40)]
    user.write("genes.csv", [[*(f"g{j}" for j in range(300)), "tumour"], *rows])
    said = user.run("fit", "genes.csv", "--target", "tumour", "--method", "gda", "--report", "p.html", "-o", "m.mercer")
    user.says(said, "40 rows of 300 inputs")
    said = user.run(
        "select", "genes.csv", "--target", "tumour", "--method", "f", "--n-features", "3", "-o", "chosen.csv"
    )
    user.says(user.read("chosen.csv").splitlines()[0], "score", "p_value")


def numbers(user: User) -> None:
    """Whole numbers in a range are numbers, said so, and scores are in a unit that people know."""
    chance = random.Random(9)
    rows = [
        [a := round(chance.uniform(0, 9), 2), round(chance.uniform(0, 9), 2), int(700 + 20 * a + chance.gauss(0, 3))]
        for _ in range(200)
    ]
    user.write("load.csv", [["u", "v", "megawatt"], *rows])
    user.says(user.run("advise", "load.csv", "--target", "megawatt"), "task: regression", "R²")
    said = user.run("compare", "load.csv", "--target", "megawatt", "--methods", "kpls", "--score", "mae")
    user.says(said, " mae ")


def tab_names(user: User) -> None:
    """Tabs, quotes, a name with a space, a byte order mark; a target that is not there."""
    text = '\ufeff"my size"\tkind\n' + "".join(f"{i % 7}.5\t{'ab'[i % 2]}\n" for i in range(30))
    (user.folder / "tabs.tsv").write_text(text, encoding="utf-8")
    user.says(
        user.run("fit", "tabs.tsv", "--target", "kind", "--method", "gda", "-o", "m.mercer"), "30 rows of 1 input"
    )
    refused = user.run("fit", "tabs.tsv", "--target", "kinds", "--method", "gda", "-o", "m.mercer", code=1)
    user.says(refused, "kinds", "kind")


def many_rows(user: User) -> None:
    """Fit a million rows."""
    source = "synth:ringnorm?n=1000000&seed=1"
    start = time.monotonic()
    said = user.run("fit", source, "--method", "gda", "--n-components", "1", "-o", "m.mercer")
    user.says(said, "1000000 rows of 20 inputs")
    print(f"  {time.monotonic() - start:.0f} s", file=sys.stderr)


SMALL: list[Callable[[User], None]] = [
    noise, linear, rings, semicolons, mixed, row_numbers, rare, wide, numbers, tab_names,
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="the command line, built")
    parser.add_argument("--large", action="store_true", help="a million rows, too")
    args = parser.parse_args()
    failed = []
    for case in [*SMALL, *([many_rows] if args.large else [])]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(User(args.program.resolve(), Path(folder)))
            except SaysOtherwiseError as failure:
                failed.append(case.__name__)
                print(f"{case.__name__}: {case.__doc__}\n{failure}\n", file=sys.stderr)
    print(json.dumps({"cases": len(SMALL) + args.large, "failed": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
