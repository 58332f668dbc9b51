"""What an editor sees of every estimator: each documented attribute has a type, and wrong words are noticed.

A file that touches every attribute of the docstrings' "Attributes" sections, and gives every parameter that takes one
of a few words a wrong one, is made and checked with basedpyright: `make lint`.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "mercer"
WRONG = "no such word"

# What the type of an attribute holds, by the first word of its description.
TYPES = {
    **{word: word for word in ("int", "float", "ndarray", "bool", "list", "dict")},
    "str": "str|Literal",
}

# Parameters that take a few words, which their descriptions list in sentences.
WORDS = {"method", "gamma", "basis", "n_features"}  # a kernel may be any text of a sum

# What is as the user gives it.
ANY = {"EKS.selector_"}


def section(doc: str, name: str) -> dict[str, str]:
    """Return the entries of a numpydoc section: names and what their first line says of them."""
    _, _, rest = doc.partition(f"\n{name}\n{'-' * len(name)}\n")
    rest = re.split(r"\n\w[\w ]*\n-+\n", rest)[0]
    return dict(re.findall(r"^(\w+) : (.*)$", rest, flags=re.MULTILINE))


def docstrings() -> dict[str, str]:
    """Return those of the public classes that have documented attributes, read without building the package."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob("*.py"))}
    assigned = (node for node in trees["__init__"].body if isinstance(node, ast.Assign))
    public = ast.literal_eval(next(node.value for node in assigned if node.targets[0].id == "__all__"))
    classes = (node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    found = {node.name: ast.get_docstring(node) or "" for node in classes if node.name in public}
    return {name: doc for name, doc in found.items() if section(doc, "Attributes")}


def takes_words(parameter: str, text: str) -> bool:
    """Return whether a parameter's description says that it takes one of a few words and no other text."""
    return parameter in WORDS or re.search(r'^\{"|, \{"', text) is not None


def written() -> tuple[str, dict[int, str], dict[int, tuple[str, str]]]:
    """Return the file, which lines are to be refused, and which reveal an attribute that is said to be what."""
    lines, refused, revealed = ["import mercer", "from typing_extensions import reveal_type", ""], {}, {}
    for name, doc in docstrings().items():
        lines.append(f"def look_at_{name}(it: mercer.{name}) -> None:")
        for attribute, text in section(doc, "Attributes").items():
            lines.append(f"    reveal_type(it.{attribute})")
            revealed[len(lines)] = (f"{name}.{attribute}", text)
        for parameter, text in section(doc, "Parameters").items():
            if takes_words(parameter, text):
                lines.append(f'    mercer.{name}({parameter}="{WRONG}")')
                refused[len(lines)] = f"{name}({parameter}=...)"
    return "\n".join(lines) + "\n", refused, revealed


def checked(text: str, folder: Path) -> list[dict]:
    """Return what basedpyright says of a file."""
    (folder / "use.py").write_text(text, encoding="utf-8")
    settings = {
        "include": ["use.py"],
        "extraPaths": [str(PACKAGE.parent)],
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
            if re.search(r"\bUnknown\b", kind) or (kind == "Any" and name not in ANY):
                found.append(f"{name} has the type {kind}")
            elif wanted is not None and re.search(wanted, kind) is None:
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
