"""The shared parts of experiments/: jobs are kept and resumed, statistics are honest, pages follow from results."""

from argparse import Namespace
from pathlib import Path

import datasets
import numpy as np
import pytest
import scipy
from lab import Results, paired, summary, verdicts
from lab.jobs import Job, adopt, run_jobs
from lab.main import PAPERS, compute, in_part, write_report
from lab.report import Report, best, fill
from lab.results import Record
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from lab import Job
VERSION = 1
def square(data, *, x, method=None):
    with open(data / "calls", "a") as calls:
        calls.write(f"{x} ")
    if x == 13:
        raise ValueError("unlucky")
    return {"y": x * x, "third": 1 / 3}
"""


@pytest.fixture
def script(tmp_path):
    folder = tmp_path / f"toy{tmp_path.name}"
    folder.mkdir()
    (folder / "run.py").write_text(SCRIPT)
    return folder / "run.py"


def run(script, jobs, **options):
    data = script.parent
    return run_jobs(script, jobs, data, data / "cache", **{"version": 1, "workers": 1} | options)


def calls(script):
    return (script.parent / "calls").read_text().split()


def test_a_finished_job_is_not_run_again_and_another_setting_is(script):
    jobs = [Job("square", {"x": x}) for x in (2, 3)]
    records, skipped = run(script, jobs)
    assert [r.result["y"] for r in records] == [4, 9]
    assert skipped == []
    again, _ = run(script, [*jobs, Job("square", {"x": 4})])
    assert [r.result["y"] for r in again] == [4, 9, 16]
    assert sorted(calls(script)) == ["2", "3", "4"]
    assert again[:2] == records
    run(script, jobs, version=2)
    assert len(calls(script)) == 5


def test_a_part_adds_to_what_was_computed(script):
    jobs = [Job("square", {"x": x, "method": m}) for x, m in ((2, "a"), (3, "b"), (4, "b"))]
    run(script, jobs, wanted=lambda job: in_part(job, ["a"], None))
    records, _ = run(script, jobs, wanted=lambda job: in_part(job, ["b"], None) and job.settings["x"] == 3)
    assert [r.settings["x"] for r in records] == [2, 3]
    assert calls(script) == ["2", "3"]


def test_a_part_keeps_other_results_where_the_cache_is_not_there(script):
    """A part that was run on another machine had once replaced the results of all other methods."""
    jobs = [{"x": x, "method": method} for x, method in ((2, "a"), (3, "b"))]
    with script.open("a") as more:
        more.write(f"\ndef jobs(settings):\n    return [Job('square', each) for each in {jobs}]\n")
    (script.parent / "settings.toml").write_text("[full]\n[quick]\n")
    file = script.parent / "results.json"
    told = [Record("square", each, {"y": -1}, 0.1) for each in jobs]
    Results(script.parent.name, {}, {}, told, []).save(file)
    args = Namespace(quick=False, keep=False, again=False, only=["b"], sets=None, jobs=1, data=script.parent)
    compute(script, args, file, script.parent / "cache")
    assert [(r.settings["method"], r.result["y"]) for r in Results.read(file).records] == [("a", -1), ("b", 9)]


def test_results_are_taken_over_for_jobs_with_the_same_settings(script):
    jobs = [Job("square", {"x": x, "method": "a"}) for x in (2, 3)]
    told = [Record("square", {"method": "a", "x": 2}, {"y": 40}, 0.1), Record("square", {"x": 3}, {"y": 90}, 0.1)]
    cache = script.parent / "cache"
    assert adopt(script, jobs, told, cache, version=1) == 1
    records, _ = run(script, jobs)
    assert [r.result["y"] for r in records] == [40, 9]
    assert adopt(script, jobs, told, cache, version=1) == 0


def test_a_part_is_named_by_methods_and_by_sets_or_groups():
    job = Job("cell", {"method": "gda", "group": "genes", "name": "dlbcl"}, needs=("dlbcl",))
    assert in_part(job, None, None)
    assert in_part(job, ["kpls", "gda"], ["genes"])
    assert in_part(job, None, ["dlbcl"])
    assert not in_part(job, ["kpls"], None)
    assert not in_part(job, ["gda"], ["texts"])


def test_a_job_that_fails_says_which_and_keeps_what_was_done(script):
    jobs = [Job("square", {"x": x}) for x in (2, 13)]
    with pytest.raises(ValueError, match="unlucky") as caught:
        run(script, jobs)
    assert any("square x=13" in note for note in caught.value.__notes__)
    run(script, jobs[:1])
    assert calls(script) == ["2", "13"]


def test_a_missing_set_is_skipped_by_name(script):
    jobs = [Job("square", {"x": 2}), Job("square", {"x": 3}, needs=("nowhere",))]
    records, skipped = run(script, jobs)
    assert [r.result["y"] for r in records] == [4]
    assert len(skipped) == 1
    assert "nowhere" in skipped[0]
    assert "download_data" in skipped[0]


def test_results_are_written_and_read_without_loss(tmp_path):
    records = [Record("a", {"x": 1, "s": "t"}, {"y": [1.5, 2]}, 0.1), Record("a", {"x": 2, "s": "t"}, None, 0.2)]
    results = Results("toy", {"k": [1]}, {"cores": 2}, records, ["none"])
    results.save(tmp_path / "results.json")
    read = Results.read(tmp_path / "results.json")
    assert read == results
    assert read.one("a", x=1) == {"y": [1.5, 2]}
    assert read.one("a", x=3) is None
    assert read.values("a", "x") == [1, 2]
    with pytest.raises(ValueError, match="2 records"):
        read.one("a", s="t")


def test_summary_and_paired_agree_with_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=20), rng.normal(size=20)
    s = summary(a)
    assert s.se == pytest.approx(stats.sem(a))
    assert s.interval() == pytest.approx(stats.t.interval(0.95, 19, a.mean(), stats.sem(a)))
    d = paired(a, b, 1.0)
    assert d.p == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert d.p_corrected > d.p
    assert paired(a, a, 1.0).p == 1.0


def test_runs_that_share_rows_need_the_correction():
    """Two methods that are equally good differ 'significantly' far too often by Student's test on repeated splits."""
    rng = np.random.default_rng(1)
    plain = corrected = 0
    for _ in range(300):
        right = rng.random((2, 100)) < 0.7
        splits = [rng.permutation(100)[:50] for _ in range(20)]
        a, b = ([row[s].mean() for s in splits] for row in right)
        test = paired(a, b, 1.0)
        plain += test.p < 0.05
        corrected += test.clear
    assert plain > 120
    assert corrected < 30


def test_a_page_is_filled_where_it_asks():
    page = "before\n<!-- table one -->\nold\n<!-- end -->\nafter"
    filled = fill(page, {"one": "| new |"})
    assert "| new |" in filled
    assert "old" not in filled
    assert fill(filled, {"one": "| new |"}) == filled
    with pytest.raises(KeyError, match="one"):
        fill(page, {"two": ""})


def test_the_best_of_a_row_is_bold_and_verdicts_are_four(tmp_path):
    assert best([0.2, 0.1, float("nan")], ["20", "10", "–"]) == ["20", "**10**", "–"]
    assert best([0.2, 0.1], ["20", "10"], low=False) == ["**20**", "10"]
    with pytest.raises(ValueError, match="no verdict"):
        Report(tmp_path).claim("x", "y", "maybe", "z")


def test_sets_are_found_by_name(tmp_path):
    (tmp_path / "toy.csv").write_text("f1,target\n1.5,b\n2,a\n")
    rows, target = datasets.load("toy", tmp_path)
    assert rows.tolist() == [[1.5], [2.0]]
    assert target.tolist() == ["b", "a"]
    with pytest.raises(datasets.MissingSetError, match=r"other\.csv"):
        datasets.load("other", tmp_path)


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_and_claims_follow_from_the_results(paper, tmp_path, monkeypatch):
    """What is committed is what the results say: nobody has written a number by hand into a table."""
    folder = ROOT / "experiments" / paper
    if not (folder / "results.json").exists():
        pytest.skip("this experiment has not been run")
    if paper == "landmarks" and tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 13):
        pytest.skip("scipy before 1.13 warns of differences that are zero")
    # Names of figures are compared, not what they show: nothing needs to be rendered.
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda self, path, **_: path.touch())
    (tmp_path / "README.md").write_text((folder / "README.md").read_text())
    write_report(folder / "run.py", Results.read(folder / "results.json"), tmp_path)
    for page in ("tables.md", "README.md"):
        assert (tmp_path / page).read_text() == (folder / page).read_text()
    drawn = {f.name for f in (tmp_path / "figures").iterdir()}
    assert drawn == {f.name for f in (folder / "figures").iterdir()}


def test_the_page_of_claims_has_all_of_them():
    page = ROOT / "experiments" / "README.md"
    if not page.exists():
        pytest.skip("there is no page yet")
    for paper in PAPERS:
        tables = ROOT / "experiments" / paper / "tables.md"
        if tables.exists():
            for line in tables.read_text().split("## claims\n")[1].strip().splitlines()[2:]:
                assert line in page.read_text()


def counts(wins, losses, clear_wins=0, clear_losses=0, sets=None, gain=0.0):
    return verdicts.Counts(sets or wins + losses, wins, clear_wins, losses, clear_losses, gain)


@pytest.mark.parametrize(
    ("told", "on", "verdict"),
    [
        # Five of six won, none clearly: the direction is right and nothing is shown, whatever number is claimed.
        (counts(5, 1), "all", "holds partly"),
        (counts(5, 1), "most", "holds partly"),
        (counts(5, 1, 1), "most", "holds"),
        (counts(5, 1, 1), "almost all", "holds"),
        (counts(5, 1, 1), "all", "holds partly"),
        (counts(6, 0, 1), "all", "holds"),
        # A clear loss spoils it, unless there are so many sets that the test lets one through.
        (counts(5, 1, 3, 1), "most", "holds partly"),
        (counts(5, 1, 0, 1), "most", "does not hold"),
        (counts(20, 8, 8, 1), "most", "holds"),
        (counts(20, 8, 8, 2), "most", "holds partly"),
        # Four of six without a clear one is what chance gives.
        (counts(3, 3), "most", "does not hold"),
        (counts(4, 2), "most", "does not hold"),
        (counts(4, 3), "most", "does not hold"),
        (counts(4, 3, 1), "most", "holds"),
        (counts(3, 3, 1), "most", "does not hold"),
        (counts(4, 2, 2, 1), "all", "holds partly"),
        # So is an unclear win on one or two sets.
        (counts(1, 0), "all", "does not hold"),
        (counts(2, 0), "most", "does not hold"),
        (counts(3, 0), "most", "holds partly"),
        (counts(0, 0), "all", "cannot be tested"),
        (counts(1, 0, 1), 1, "holds"),
        (counts(0, 3, sets=6), "most", "does not hold"),
    ],
)
def test_better_is_judged_by_wins_and_clear_wins(told, on, verdict):
    assert verdicts.better(told, on) == verdict


def test_as_good_needs_no_clear_loss_and_a_mean_within_a_point():
    assert verdicts.as_good(counts(2, 4, gain=-0.005)) == "holds"
    assert verdicts.as_good(counts(2, 4, gain=-0.02)) == "holds partly"
    assert verdicts.as_good(counts(3, 3, 0, 2, gain=0.001)) == "holds partly"
    assert verdicts.as_good(counts(3, 3, 0, 1, gain=-0.02)) == "does not hold"
    assert verdicts.as_good(counts(3, 3, 0, 3, gain=0.001)) == "does not hold"
    assert verdicts.as_good(counts(6, 0, 6, 0, gain=0.1)) == "holds"
    assert verdicts.similar(counts(6, 0, 6, 0, gain=0.1)) == "does not hold"
    assert verdicts.similar(counts(3, 3, gain=0.005)) == "holds"
    assert verdicts.similar(counts(0, 0)) == "cannot be tested"


def test_differences_are_counted_in_the_right_direction():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(3, 10)) * 1e-3
    runs = [paired(noise[0] + 1, noise[1], 0.5), paired(noise[0], noise[1] + 1, 0.5), paired(noise[2], noise[2], 0.5)]
    told = verdicts.count(runs)
    assert (told.sets, told.wins, told.clear_wins, told.losses, told.clear_losses, told.ties) == (3, 1, 1, 1, 1, 1)
    errors = verdicts.count(runs[:1], low=True)
    assert (errors.wins, errors.clear_losses) == (0, 1)
    assert errors.gain == pytest.approx(-1, abs=1e-2)
    assert errors.other_way.clear_wins == 1
    both = verdicts.total([told, errors])
    assert (both.sets, both.losses) == (4, 2)


def test_several_readings_and_facts():
    assert verdicts.joined(["holds", "holds"]) == "holds"
    assert verdicts.joined(["holds", "does not hold"]) == "holds partly"
    assert verdicts.joined(["holds partly", "does not hold", "does not hold"]) == "does not hold"
    assert verdicts.joined(["cannot be tested", "holds"]) == "holds"
    assert verdicts.joined([]) == "cannot be tested"
    assert verdicts.worst(["holds", "holds partly"]) == "holds partly"
    assert [verdicts.fact(k, 6) for k in (6, 3, 2, 0)] == ["holds", "holds partly", "does not hold", "does not hold"]
    assert verdicts.fact(4, 6, "most") == "holds"
    assert verdicts.fact(0, 0) == "cannot be tested"
    assert verdicts.identity(1e-9, 1e-8) == "holds"
    assert verdicts.grows([2.4, 3.4], 3) == "holds partly"
    assert verdicts.grows([1.0, 2.4], 2, at_most=True) == "holds"
    assert verdicts.grows([3.0], 2, at_least=True) == "holds"
    assert verdicts.trend(0.5, 0.01) == "holds"
    assert verdicts.trend(-0.5, 0.01) == verdicts.trend(0.5, 0.2) == "does not hold"
    assert verdicts.most(["does not hold", "holds partly"]) == "holds partly"
    assert verdicts.cheaper([2.5, 3.0], 2) == "holds"


def test_the_smallest_clear_difference_is_what_the_test_says():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=20), rng.normal(size=20)
    d = paired(a, b, 0.5)
    assert paired(a - d.difference + 1.001 * d.needed, b, 0.5).clear
    assert not paired(a - d.difference + 0.999 * d.needed, b, 0.5).clear


def test_every_page_judges_by_the_shared_rule():
    """No page has thresholds of its own for wins and losses: verdicts come from lab.verdicts."""
    for paper in ("takes", "skfe", "eks", "klfe", "sk-relief", "landmarks", "defaults"):
        for file in (ROOT / "experiments" / paper).glob("*.py"):
            text = file.read_text()
            assert '"holds' not in text, f"{file.name} writes a verdict itself"
            assert '"does not hold"' not in text, f"{file.name} writes a verdict itself"
