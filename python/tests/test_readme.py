"""What the README and the page on performance show works."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
PERFORMANCE = README.parent / "docs" / "performance.md"


def python_in(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_in_the_readme_runs(tmp_path, monkeypatch, capsys):
    if not README.exists():
        pytest.skip("there is no README beside an installed package")
    blocks = python_in(README)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.splitlines()[0]) > 0.95
    assert (tmp_path / "model.mercer").exists()


def test_the_grid_on_the_page_about_performance_runs():
    if not PERFORMANCE.exists():
        pytest.skip("there are no docs beside an installed package")
    (block,) = python_in(PERFORMANCE)
    found = {}
    exec(compile(block, "performance.md", "exec"), found)
    grid = found["frame"].query("method == 'klfe'")
    assert len(grid) == 16
    assert grid["mean"].is_monotonic_decreasing
    assert found["features"].transform(found["X"]).shape == (300, found["best"]["asked"])
