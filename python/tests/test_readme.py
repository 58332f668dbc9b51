"""What the README and the pages of the documentation show works."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/start.md", "docs/python.md", "docs/tables.md", "docs/deploy.md"]

STORIES = ["docs/start.md", "docs/deploy.md"]


def python_in(name):
    page = ROOT / name
    if not page.exists():
        pytest.skip("there are no pages beside an installed package")
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("name", PAGES)
def test_the_python_on_a_page_runs(name, tmp_path, monkeypatch, capsys):
    blocks = python_in(name)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        # Blocks stand alone, except on pages that tell one story.
        names = names if name in STORIES else {}
        exec(compile(block, name, "exec"), names)
    assert capsys.readouterr().out
    assert list(tmp_path.glob("*.mercer")), "every page saves a model"


def test_the_scores_that_pages_print_are_good(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ["README.md", "docs/python.md"]:
        exec(compile(python_in(name)[0], name, "exec"), {})
        assert float(capsys.readouterr().out.splitlines()[0]) > 0.95, name


def test_the_grid_on_the_page_about_performance_runs():
    (block,) = python_in("docs/performance.md")
    found = {}
    exec(compile(block, "performance.md", "exec"), found)
    grid = found["frame"].query("method == 'klfe'")
    assert len(grid) == 16
    assert grid["mean"].is_monotonic_decreasing
    assert found["features"].transform(found["X"]).shape == (300, found["best"]["asked"])
