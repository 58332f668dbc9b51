"""What the documentation site lists is all that there is, and its helpers mend what they should."""

import importlib
import re
import sys
from pathlib import Path

import pytest

import mercer

DOCS = Path(__file__).parents[2] / "docs"

if not DOCS.exists():
    pytest.skip("there are no docs beside an installed package", allow_module_level=True)
sys.path.insert(0, str(DOCS))

MODULES = ["mercer", "mercer.plot", "mercer.metrics", "mercer.evidence", "mercer.dask"]


def listed():
    """Return the names that the reference lists, by module."""
    found, module = {}, None
    for line in (DOCS / "api" / "index.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.match(r"   (\w+)$", line):
            found.setdefault(module, set()).add(match[1])
    return found


@pytest.mark.parametrize("name", MODULES)
def test_the_reference_lists_every_public_name(name):
    if name in ("mercer.dask", "mercer.onnx"):
        pytest.importorskip(name, reason="an extra that is not installed", exc_type=ImportError)
    module = importlib.import_module(name)
    public = {each for each in module.__all__ if not each.startswith("__")}
    modules = {each for each in public if f"{name}.{each}" in MODULES}
    assert listed()[name] == public - modules


def test_every_method_has_a_picture():
    import method_pictures

    pages = {page.stem for page in (DOCS / "methods").glob("*.md")} - {"README"}
    assert set(method_pictures.pictures()) == pages
    assert all(hasattr(mercer, name) for name in method_pictures.classes().values())


def test_the_figure_of_methods_leads_to_names_that_exist():
    names = re.findall(r"generated/mercer\.(\w+)\.html", (DOCS / "guide" / "decision.html").read_text(encoding="utf-8"))
    assert len(names) > 15
    assert all(hasattr(mercer, name) for name in names)


def test_links_out_of_the_docs_become_pages_or_text():
    import site_pages

    page = DOCS / "methods" / "gda.md"
    text = "[a](../../experiments/takes/README.md#claims) [b](kobl.md) [`c`](../../Makefile) [d](https://d.org)"
    mended = "[a](../papers/takes.md#claims) [b](kobl.md) `c` [d](https://d.org)"
    assert site_pages.relinked(text, page, page) == mended
    source = DOCS.parent / "experiments" / "takes" / "README.md"
    copy = DOCS / "papers" / "takes.md"
    assert (
        site_pages.relinked("![f](figures/a.png) [g](../README.md)", source, copy) == "![f](takes/a.png) [g](index.md)"
    )
    assert site_pages.relinked("```\n[h](../../x)\n```", page, page) == "```\n[h](../../x)\n```"


def test_every_example_tells_what_it_is():
    examples = sorted((DOCS / "gallery").glob("*/plot_*.py"))
    assert len(examples) >= 15
    for example in examples:
        title, line, gap, text = example.read_text(encoding="utf-8").splitlines()[1:5]
        assert len(title) == len(line), example.name
        assert set(line) == {"="}, example.name
        assert not gap, example.name
        assert text, example.name
