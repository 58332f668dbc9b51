"""What the README shows works."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_python_in_the_readme_runs(tmp_path, monkeypatch, capsys):
    if not README.exists():
        pytest.skip("there is no README beside an installed package")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.splitlines()[0]) > 0.95
    assert (tmp_path / "model.mercer").exists()
