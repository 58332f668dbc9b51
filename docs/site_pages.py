"""Pages that lie outside docs, copied into it, and links that lead out of docs, mended.

Files of the repository link to each other by relative paths, as a reader of the repository needs it. On the site a link
to a file that is a page there leads to that page, and a link to any other file becomes its text.
"""

import os
import re
import shutil
from pathlib import Path

import method_pictures

DOCS = Path(__file__).parent
ROOT = DOCS.parent

EXPERIMENTS = sorted(page.parent.name for page in ROOT.glob("experiments/*/README.md"))

# Files outside docs, and the pages that they become.
COPIES = {
    "experiments/README.md": "papers/index.md",
    "bench/README.md": "more/benchmarks.md",
    "CONTRIBUTING.md": "more/contributing.md",
    "CHANGELOG.md": "more/changelog.md",
    "tools/README.md": "more/tools.md",
} | {f"experiments/{name}/README.md": f"papers/{name}.md" for name in EXPERIMENTS}
PAGES = {ROOT / source: DOCS / page for source, page in COPIES.items()} | {ROOT / "README.md": DOCS / "index.md"}

# Lists of pages below a page that is made or copied.
CONTENTS = {
    "papers/index": EXPERIMENTS,
    "methods/README": sorted(page.stem for page in (DOCS / "methods").glob("*.md") if page.stem != "README"),
}

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
SHAPE = re.compile(r"\bshape \([^()]*\)")
FENCE = re.compile(r"(^ *```.*?^ *```[^\n]*$)", flags=re.DOTALL | re.MULTILINE)


def write(folder):
    """Copy the pages that lie elsewhere, with their figures, into the folder of the site's sources."""
    for source, page in COPIES.items():
        source, page = ROOT / source, folder / page
        text = relinked(source.read_text(encoding="utf-8"), source, page)
        page.parent.mkdir(parents=True, exist_ok=True)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
        if (source.parent / "figures").is_dir():
            shutil.copytree(source.parent / "figures", page.parent / page.stem, dirs_exist_ok=True)


def relinked(text, source, page):
    """Return the text of a file with its links as they must be on the page that it becomes."""

    def mended(match):
        picture, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return match[0]
        found = Path(os.path.normpath(source.parent / path))
        if picture and found.parent == source.parent / "figures" and source.parent != DOCS:
            return f"![{words}]({page.stem}/{found.name})"
        found = PAGES.get(found, found)
        if DOCS not in found.parents or not (found.exists() or found in PAGES.values()):
            return words
        path = os.path.relpath(found, page.parent)
        return f"{picture}[{words}]({path}{'#' * bool(anchor)}{anchor})"

    parts = FENCE.split(text)
    return "".join(part if number % 2 else LINK.sub(mended, part) for number, part in enumerate(parts))


def mend(app, name, source):
    """Mend the links of a page that lies in docs, and add the picture of a method and lists of pages."""
    page = DOCS / f"{name}.md"
    if not page.exists():
        return
    text = source[0]
    if page not in PAGES.values():
        text = relinked(text, page, page)
    if page.parent.name == "methods" and (DOCS / "pictures" / f"{page.stem}-light.svg").exists():
        title, rest = text.split("\n", 1)
        caption = (DOCS / "pictures" / f"{page.stem}.txt").read_text(encoding="utf-8").strip()
        text = title + "\n\n" + shown(page.stem, caption) + rest
        called = method_pictures.classes()[page.stem]
        text += f"\n\n## Reference and examples\n\n{{py:class}}`mercer.{called}`\n"
        text += f"\n```{{eval-rst}}\n.. minigallery:: mercer.{called}\n```\n"
    if not (DOCS / "onnx.md").exists():  # a page that joins the guide when it is there
        text = text.replace("../onnx\n", "")
    if name in CONTENTS:
        text += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(CONTENTS[name]) + "\n```\n"
    source[0] = text


def shown(name, caption):
    """Return the figure of a method, one for light and one for dark pages."""
    figure = (
        "```{{figure}} ../pictures/{0}-{1}.svg\n:class: dark-light\n:figclass: only-{1} method-picture\n"
        ":alt: {2}\n\n{2}\n```\n\n"
    )
    return "".join(figure.format(name, theme, caption) for theme in ("light", "dark"))


def escape_shapes(app, what, name, thing, options, lines):
    """Keep names that end in _, as in shape (n_features_in_,), from being read as links."""
    for number, line in enumerate(lines):
        lines[number] = SHAPE.sub(lambda match: re.sub(r"_(?=[,) ])", r"\\_", match[0]), line)


def reset_pictures(conf, file):
    """Give every example the same settings of matplotlib, and numbers that are easily read."""
    import matplotlib.pyplot as plt
    import numpy as np

    from mercer.plot import _COLOURS

    plt.rcParams.update(
        {
            "figure.figsize": (6.4, 4.0),
            "figure.dpi": 100,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=_COLOURS),
            "font.size": 10,
            "legend.frameon": False,
        }
    )
    np.set_printoptions(precision=3, suppress=True)
