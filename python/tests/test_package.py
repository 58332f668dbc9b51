"""What is published: declared dependencies, one version, one address, a changelog that belongs to it."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import release

import mercer

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
# What packages are called where they are installed from, if not as they are imported.
INSTALLED_AS = {"sklearn": "scikit-learn"}
# Modules that are an extra as a whole; they say so when they are imported without it.
WHOLE_MODULES = {"dask.py": "dask", "onnx.py": "onnx"}


def names(requirements):
    return {re.match(r"[\w-]+", line)[0] for line in requirements}


def imports(tree):
    """The packages that are imported in a piece of code, and whether that happens when the module is imported."""
    inside = {
        id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            found = [node.module]
        for name in {name.partition(".")[0] for name in found} - set(sys.stdlib_module_names) - {"mercer"}:
            yield INSTALLED_AS.get(name, name), id(node) not in inside


def test_every_import_is_declared():
    needed = names(PROJECT["dependencies"])
    extras = {extra: names(lines) for extra, lines in PROJECT["optional-dependencies"].items()}
    optional = extras["plot"] | extras["compare"] | extras["files"]
    seen = set()
    for path in sorted((ROOT / "python" / "mercer").glob("*.py")):
        extra = extras[WHOLE_MODULES[path.name]] if path.name in WHOLE_MODULES else set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        # Types are looked at by type checkers alone.
        for block in [node for node in ast.walk(tree) if isinstance(node, ast.If)]:
            if "TYPE_CHECKING" in ast.unparse(block.test):
                block.body = [ast.Pass()]
        for name, at_once in imports(tree):
            seen.add(name)
            # Pandas and polars are also imported where a frame of theirs was given.
            allowed = needed | extra | (set() if at_once else optional | {"polars"}) | ({"pandas"} if extra else set())
            assert name in allowed, f"{path.name} imports {name}"
    assert needed <= seen, "nothing is needed that is not imported"


def test_the_oldest_packages_of_the_tests_are_those_that_are_allowed():
    pins = dict(
        line.split("==")
        for line in (ROOT / "python/tests/oldest.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    )
    extras = PROJECT["optional-dependencies"]
    optional = [line for extra in ("plot", "compare", "files", "onnx", "dask") for line in extras[extra]]
    for line in PROJECT["dependencies"] + optional:
        name, bound = line.split(">=")
        assert pins[name].startswith(bound), line


def test_the_conda_recipe_has_the_same_bounds():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = re.search(r"  run:\n(.*?)\n\n", recipe, flags=re.DOTALL)[1]
    found = {line.strip(" -").replace(" ", "") for line in run.splitlines()} - {"python"}
    assert found == set(PROJECT["dependencies"])


def test_the_sdist_has_every_crate_that_cargo_lock_lists():
    # maturin adds the crate of the module and those that it depends on by itself.
    there = {"mercer-py"}
    manifest = tomllib.loads((ROOT / "crates" / "mercer-py" / "Cargo.toml").read_text(encoding="utf-8"))
    crates = {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")}
    there |= set(manifest["dependencies"]) & crates
    for crate in crates - there:
        paths = {rule["path"] for rule in SETTINGS["tool"]["maturin"]["include"] if rule["format"] == "sdist"}
        # A package of tests alone: a manifest must have a target.
        sources = "src/**/*" if (ROOT / "crates" / crate / "src").is_dir() else "tests/it/main.rs"
        assert {f"crates/{crate}/Cargo.toml", f"crates/{crate}/{sources}"} <= paths, crate


def allowed(expression, licences):
    """Whether a crate with these licences (SPDX, or the older form with a slash) may be used."""
    words = re.findall(r"[()]|[\w.+-]+(?: WITH [\w.+-]+)?", expression.replace("/", " OR "))
    known = {"(": "(", ")": ")", "OR": "or", "AND": "and"}
    return eval(" ".join(known.get(word, str(word in licences)) for word in words))


def test_a_choice_of_licences_needs_one_and_a_sum_all_of_them():
    assert allowed("GPL-3.0/MIT", {"MIT"})
    assert allowed("(MIT OR GPL-3.0) AND Unicode-3.0", {"MIT", "Unicode-3.0"})
    assert not allowed("(MIT OR GPL-3.0) AND Unicode-3.0", {"MIT"})
    assert not allowed("Apache-2.0 WITH LLVM-exception", {"Apache-2.0"})


def test_every_crate_is_from_the_registry_and_has_a_licence_that_is_allowed():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version=1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "offline mode" in done.stderr or "--offline was specified" in done.stderr:
        pytest.skip("crates are not downloaded")
    assert done.returncode == 0, done.stderr
    licences = set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])
    crates = [crate for crate in json.loads(done.stdout)["packages"] if crate["source"] is not None]
    assert len(crates) > 100
    for crate in crates:
        assert allowed(crate["license"], licences), f"{crate['name']}: {crate['license']}"
        assert crate["source"] == "registry+https://github.com/rust-lang/crates.io-index", crate["name"]


def test_the_version_is_that_of_the_workspace_and_has_a_changelog():
    assert mercer.__version__ == release.package()["version"]
    assert release.notes(mercer.__version__).startswith("The first version")
    # The address is the publisher's to set.
    assert [problem for problem in release.problems(f"v{mercer.__version__}") if "placeholder" not in problem] == []
    assert any("the tag is v9.9.9" in problem for problem in release.problems("v9.9.9"))


@pytest.fixture
def checkout(tmp_path):
    for name in ["Cargo.toml", "CHANGELOG.md", "README.md"]:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_version_is_set_everywhere_and_heads_the_changelog(checkout):
    changelog = checkout / "CHANGELOG.md"
    before = release.notes("Unreleased", checkout)
    changelog.write_text(
        changelog.read_text(encoding="utf-8").replace("## Unreleased\n", "## Unreleased\n\n- One.\n", 1),
        encoding="utf-8",
    )
    release.set_version("7.8.9", checkout)
    release.set_address("https://example.org/mercer", checkout)
    assert release.problems("v7.8.9", checkout) == []
    assert release.notes("7.8.9", checkout) == f"- One.\n\n{before}".strip()
    assert release.notes("Unreleased", checkout) == ""


def test_a_readme_for_elsewhere_has_whole_links(checkout):
    release.set_address("https://example.org/mercer", checkout)
    release.set_readme(checkout)
    text = (checkout / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^()\s]+)\)", text)
    assert len(targets) > 10
    assert all(target.startswith("https://") for target in targets)
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert f"https://example.org/mercer/raw/v{mercer.__version__}/docs/figures/ringnorm.svg" in pictures
    assert all(target.startswith("https://") for target in pictures)


@pytest.mark.parametrize("wrong", ["http://example.org", "example.org/mercer", "https://example.org/"])
def test_an_address_that_is_none_is_refused(checkout, wrong):
    with pytest.raises(SystemExit, match="is no address"):
        release.set_address(wrong, checkout)


def test_a_version_that_is_none_is_refused(checkout):
    with pytest.raises(SystemExit, match="three numbers"):
        release.set_version("v1.0", checkout)


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ImportError, match=r"\.csv files are read with pandas\nhint: pip install 'mercer\[files\]'"):
        mercer.read_rows(tmp_path / "rows.csv")
