"""What an editor sees of every estimator: each documented attribute has a type, and wrong words are noticed.

A file that touches every attribute of the docstrings' "Attributes" sections, and gives every parameter that takes one
of a few words a wrong one, is made and checked with basedpyright: `make lint`.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mercer

ROOT = Path(__file__).parents[1]
WRONG = "no such word"

# What the type of an attribute holds, by the first word of its description.
TYPES = {"int": "int", "float": "float", "str": "str", "ndarray": "ndarray", "bool": "bool", "list": "list", "dict": "dict"}


def section(kind: type, name: str) -> dict[str, str]:
    """Return the entries of a numpydoc section: names and what their first line says of them."""
    _, _, rest = inspect.getdoc(kind).partition(f"\n{name}\n{'-' * len(name)}\n")
    rest = re.split(r"\n\w[\w ]*\n-+\n", rest)[0]
    return dict(re.findall(r"^(\w+) : (.*)$", rest, flags=re.MULTILINE))


def estimators() -> list[type]:
    """Return the classes with documented attributes."""
    public = (getattr(mercer, name) for name in mercer.__all__)
    return [kind for kind in public if inspect.isclass(kind) and inspect.getdoc(kind) and section(kind, "Attributes")]


def takes_words(text: str) -> bool:
    """Return whether a parameter's description says that it takes one of a few words and no other text."""
    return re.match(r'\{"', text) is not None or re.search(r', \{"', text) is not None


def written() -> tuple[str, dict[int, str], dict[int, tuple[str, str]]]:
    """Return the file, which lines are to be refused, and which reveal an attribute that is said to be what."""
    lines, refused, revealed = ["import mercer", "from typing_extensions import reveal_type", ""], {}, {}
    for kind in estimators():
        name = kind.__name__
        lines.append(f"def look_at_{name}(it: mercer.{name}) -> None:")
        for attribute, text in section(kind, "Attributes").items():
            lines.append(f"    reveal_type(it.{attribute})")
            revealed[len(lines)] = (f"{name}.{attribute}", text)
        known = inspect.signature(kind).parameters
        for parameter, text in section(kind, "Parameters").items():
            if parameter in known and takes_words(text):
                lines.append(f'    mercer.{name}({parameter}="{WRONG}")')
                refused[len(lines)] = f"{name}({parameter}=...)"
    return "\n".join(lines) + "\n", refused, revealed


def checked(text: str, folder: Path) -> list[dict]:
    """Return what basedpyright says of a file."""
    (folder / "use.py").write_text(text, encoding="utf-8")
    settings = {
        "include": ["use.py"],
        "extraPaths": [str(ROOT / "python")],
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    call = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["generalDiagnostics"]


def problems() -> list[str]:
    """Return what is wrong, in words."""
    text, refused, revealed = written()
    with tempfile.TemporaryDirectory() as folder:
        said = checked(text, Path(folder))
    found, seen, errors = [], set(), set()
    for one in said:
        line, message = one["range"]["start"]["line"] + 1, one["message"]
        if line in revealed and one["severity"] == "information":
            name, described = revealed[line]
            seen.add(line)
            kind = re.search(r' is "(.*)"$', message, flags=re.DOTALL)[1]
            wanted = TYPES.get(re.split(r"\W", described)[0])
            if re.search(r"\b(Unknown|Any \| Any)\b", kind) or kind in ("Any", "None"):
                found.append(f"{name} has the type {kind}")
            elif wanted is not None and wanted not in kind:
                found.append(f"{name} is described as {described!r}, but has the type {kind}")
        elif one["severity"] == "error":
            errors.add(line)
            if line not in refused:
                found.append(f"{revealed.get(line, ('line ' + str(line),))[0]}: {message}")
    found += [f"{name} reveals nothing" for line, (name, _) in revealed.items() if line not in seen | errors]
    found += [f"{call} takes any text" for line, call in refused.items() if line not in errors]
    return found


if __name__ == "__main__":
    wrong = problems()
    print("\n".join(wrong))
    sys.exit(bool(wrong))
