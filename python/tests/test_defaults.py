"""experiments/defaults: every method of the registry has alternatives, and what is written follows from results."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from lab import Results
from lab.jobs import load_script
from lab.main import write_report
from lab.results import Record

from mercer._catalogue import EXTRACTORS, stage

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "defaults"
SCRIPT = load_script(FOLDER / "run.py")

import defaults_methods as methods  # noqa: E402
import defaults_pages as pages  # noqa: E402
import defaults_report as reports  # noqa: E402
import defaults_sets as sets  # noqa: E402

SETTINGS = tomllib.loads((FOLDER / "settings.toml").read_text())
FULL = SETTINGS["full"]
QUICK = FULL | SETTINGS["quick"]


def test_every_method_of_the_registry_has_alternatives():
    """A new method is noticed here: name its alternatives in experiments/defaults/defaults_methods.py."""
    known = {*methods.EXTRACTED, *methods.SYSTEMS, *methods.SELECTED, *methods.BASES}
    here = {*stage("basis"), *stage("select"), *stage("system"), *EXTRACTORS, methods.CENTRED, methods.AUTO}
    assert here - known == set()
    assert known == here
    with pytest.raises(KeyError, match="has no alternatives"):
        methods.alternatives("nothing", "tables", [])


@pytest.mark.parametrize("settings", [FULL, QUICK], ids=["full", "quick"])
def test_jobs_are_well_formed(settings):
    jobs = SCRIPT.jobs(settings)
    keys = [job.key("defaults", 1) for job in jobs]
    assert len(set(keys)) == len(keys)
    told = {(job.settings["method"], job.settings["group"]) for job in jobs if job.settings["setting"] == {}}
    for job in jobs:
        assert json.loads(json.dumps(job.settings)) == job.settings
        assert (job.settings["method"], job.settings["group"]) in told, "it has a default to be compared with"
        assert job.needs
    assert {method for method, _ in told} == set(methods.registered())


def test_sets_are_all_of_the_manifest():
    manifest = Path(__file__).resolve().parents[3] / "shared" / "data" / "MANIFEST.csv"
    if not manifest.exists():
        pytest.skip("the data sets are not here")
    files = {line.split(",")[0].split(".")[0] for line in manifest.read_text().splitlines()[1:]}
    assert files == {file for group in sets.GROUPS for name in FULL[group] for file in sets.needs(name)}


@pytest.mark.parametrize("method", methods.registered())
def test_settings_make_estimators(method):
    """What the installed version lacks is an error of these kinds, and nothing else is."""
    for setting in methods.alternatives(method, "tables", [5]):
        try:
            methods.make(method, setting, 3, 0.5)
        except TypeError:
            assert setting, "the bare class can be made"


@pytest.fixture
def toy(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(90, 3))
    target = np.where(rows[:, 0] + 0.3 * rng.normal(size=90) > 0, "b", "a")
    lines = [",".join([*map(str, row), label]) for row, label in zip(rows, target, strict=True)]
    (tmp_path / "toy.csv").write_text("\n".join(["f1,f2,f3,target", *lines]))
    return tmp_path


def cell(folder, method, setting):
    told = {"method": method, "setting": setting, "defaults": "", "group": "tables", "name": "toy"}
    told |= {"splits": 2, "most": [60, 60]}
    return told, SCRIPT.cell(folder, **told)


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_a_cell_has_scores_or_says_why_not(toy):
    _, good = cell(toy, "gda", {"reg": 0.1})
    assert len(good["nn"]) == len(good["ridge"]) == len(good["seconds"]) == 2
    assert min(good["ridge"]) > 0.7
    assert good["features"] == [1, 1]
    assert "banana" in cell(toy, "gda", {"banana": 1})[1]["unavailable"]
    assert "only 1 can be had" in cell(toy, "gda", {"n_components": 7})[1]["refused"]
    assert cell(toy, "kobl", {"n_components": 70})[1] == {"refused": "n_components = 70 of 60 rows"}
    _, none = cell(toy, "fwe", {"alpha": 1e-300})
    assert none["none"] == 2
    assert none["features"] == [0, 0]
    with pytest.raises(TypeError):
        SCRIPT.make("gda", {"banana": 1}, 2, 0.5)


def test_a_constant_prediction_is_counted():
    y, flat = np.array(["a", "b", "b"]), np.ones((3, 2))
    found = SCRIPT.evaluate(flat, flat, y, y)
    assert found["constant_ridge"] == 1
    assert found["ridge"] == pytest.approx(2 / 3)
    numbers = np.array([1.0, 2.0, 4.0])
    assert SCRIPT.evaluate(flat[:, :0], flat[:, :0], numbers, numbers)["ridge"] == 0.0


def test_the_report_finds_a_default_that_is_too_bad(toy, tmp_path, monkeypatch):
    """Two alternatives, one better by 10 points: the default is named, the best alternative too."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda self, path, **_: path.touch())
    records = []
    for setting, gain in (({}, 0.0), ({"reg": 0.1}, 0.1), ({"reg": 1.0}, -0.1), ({"reg": 0.01}, 0.0)):
        told, result = cell(toy, "gda", setting)
        result |= {"nn": [0.7 + gain, 0.8 + gain], "ridge": [0.8, 0.8]}
        records.append(Record("cell", told, result, 0.1))
    told, result = cell(toy, "gda", {"banana": 1})
    records.append(Record("cell", told, result, 0.1))
    report = write_report(FOLDER / "run.py", Results("defaults", FULL, {}, records, []), tmp_path / "out")
    for summary in (report.tables["summary-tables"], report.tables["summary-classes"]):
        assert "| gda | 75.0 | reg = 0.1 | -10.0 | 80.0 |" in summary
        assert "**no**" in summary
    assert "| gda, reg = 0.01 | 75.0 | same |" in report.tables["alternatives-tables"]
    assert "gda, banana = 1 | not available" in report.tables["not-available"]
    assert [claim.verdict for claim in report.claims] == ["holds partly"]
    asked = [line.split()[2] for line in (FOLDER / "README.md").read_text().splitlines() if "<!-- table" in line]
    assert set(asked) <= set(report.tables)


def test_the_methods_pages_say_what_the_results_say():
    """After a change of results: python experiments/run.py defaults --draw."""
    tables = reports.tables_of(Results.read(FOLDER / "results.json"))
    told = {page.stem: page.read_text() for page in pages.PAGES.glob("*.md")}
    told = {method: text for method, text in told.items() if pages.PARAGRAPH.search(text)}
    assert len(told) > 15
    for method, text in told.items():
        assert pages.paragraph(tables, method) in text
