"""Tables, figures and verdicts of the SKFE experiment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import skfe_figures as figures
from lab import Report, Results, paired, summary
from lab.report import best
from skfe_methods import METHODS

TITLES = {"paper": "the paper's measure", "nested": "nested cross-validation"}

KPLS = ["KPLS", "KPLS scaled"]
OTHERS = ["KOC", "AKDA/QR", "AKDA/QR c"]

# What the paper says of SKFE against KPLS; which Brain Tumor is which is lost with the digits.
SAID = {
    "brain_tumor1": "one better each way",
    "brain_tumor2": "one better each way",
    "leukemia1": "no difference",
    "leukemia2": "no difference",
    "prostate_tumor": "SKFE better",
    "dlbcl": "no difference",
    "9_tumors": "no difference",
}


@dataclass(frozen=True)
class Errors:
    """A method on a set: one error a run, and the shares that the corrected test compares (folds, or the runs)."""

    runs: list[float]
    parts: list[float]
    ratio: float  # rows for testing over rows for training

    @property
    def mean(self) -> float:
        """Return the mean over the runs."""
        return float(np.mean(self.runs))

    def text(self) -> str:
        """Write mean ± sd (se), in percent."""
        s = summary(self.runs)
        return f"{100 * s.mean:.1f} ± {100 * s.sd:.1f} ({100 * s.se:.1f})" if s.n > 1 else f"{100 * s.mean:.1f}"


@dataclass(frozen=True)
class Difference:
    """Method a minus method b: mean, Student's p over the runs as in the paper, and the corrected p."""

    mean: float
    p: float
    p_corrected: float

    @property
    def clear(self) -> bool:
        """Whether the corrected test rejects at 5 %."""
        return self.p_corrected < 0.05

    def text(self) -> str:
        """Write points of percent and both p."""
        return f"{100 * self.mean:+.1f} ({_p(self.p)} / {_p(self.p_corrected)})"


def _p(value: float) -> str:
    if value != value:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def compare(a: Errors, b: Errors) -> Difference:
    """Compare on the same splits."""
    return Difference(a.mean - b.mean, paired(a.runs, b.runs, a.ratio).p, paired(a.parts, b.parts, a.ratio).p_corrected)


def gene_errors(results: Results, measure: str) -> dict[str, dict[str, Errors]]:
    """Return errors by set and method.

    `paper`: in every repeat the candidate (γ, for KPLS also n_f) with the fewest errors, and those errors. `nested`: of
    the candidate that the inner folds chose.
    """
    out: dict[str, dict[str, Errors]] = {}
    for name in results.values("genes", "name"):
        found = [r.result for r in results.find("genes", name=name)]
        k = len(found[0]["sizes"])
        for method in METHODS:
            runs, parts = [], []
            for record in found:
                table = record["wrong"][method]
                row = record["nested"].get(method) if measure == "nested" else None
                row = min(table, key=sum) if row is None else row
                runs.append(sum(row) / sum(record["sizes"]))
                parts += [w / n for w, n in zip(row, record["sizes"], strict=True)]
            out.setdefault(name, {})[method] = Errors(runs, parts, 1 / (k - 1))
    return out


def text_errors(results: Results, weighting: str) -> dict[str, dict[str, Errors]]:
    """Return errors by set and method; KPLS with the n_f whose mean test error is lowest, as the paper has it."""
    out: dict[str, dict[str, Errors]] = {}
    for name in results.values("texts", "name"):
        found = [r.result["error"] for r in results.find("texts", name=name, weighting=weighting)]
        if not found:
            continue
        for method in [*METHODS, "KPLS inner", "KPLS scaled inner"]:
            table = np.array([f[method] for f in found])
            runs = table[:, table.mean(axis=0).argmin()].tolist()
            out.setdefault(name, {})[method] = Errors(runs, runs, 1.0)
    return out


def with_stops(results: Results, errors: dict[str, dict[str, Errors]]) -> dict[str, dict[str, Errors]]:
    """Return the errors on texts with SKFE whose steps inner folds chose, all on the splits where that was run."""
    out = {}
    for name, row in errors.items():
        runs = [r.result["inner"] for r in results.find("early", name=name)]
        if runs:
            cut = {m: Errors(e.runs[: len(runs)], e.parts[: len(runs)], e.ratio) for m, e in row.items()}
            out[name] = cut | {"SKFE steps": Errors(runs, runs, 1.0)}
    return out


@dataclass(frozen=True)
class Tally:
    """On how many sets one method is lower than another, and on how many clearly so, and clearly not."""

    lower: int
    clear: int
    clear_loss: int
    sets: int

    def text(self) -> str:
        """Write it in words."""
        return f"lower on {self.lower} of {self.sets} (clear {self.clear}, clearly higher {self.clear_loss})"


def tally(errors: dict[str, dict[str, Errors]], a: str, b: str, sets: Iterable[str] | None = None) -> Tally:
    """Count sets; a tie is no win."""
    found = [compare(errors[n][a], errors[n][b]) for n in (sets or errors) if n in errors]
    return Tally(
        sum(d.mean < 0 for d in found),
        sum(d.mean < 0 and d.clear for d in found),
        sum(d.mean > 0 and d.clear for d in found),
        len(found),
    )


def write(results: Results, report: Report) -> None:
    """Write everything that the results allow."""
    genes = {m: gene_errors(results, m) for m in TITLES}
    main = results.settings["weighting"]
    texts = {w: text_errors(results, w) for w in [main, *results.settings["other_weightings"]]}
    texts = {w: t for w, t in texts.items() if t}
    sets_table(results, report)
    for measure, errors in genes.items():
        if errors:
            error_table(report, f"genes-{measure}", errors, METHODS)
            difference_table(report, f"differences-{measure}", errors, METHODS)
    if texts:
        columns = [*METHODS[:2], "KPLS inner", *METHODS[2:]]
        error_table(report, "texts", texts[main], columns)
        difference_table(report, "differences-texts", texts[main], columns)
        steps_table(results, report, with_stops(results, texts[main]))
        others_table(report, texts, columns)
    kpls_table(report, genes)
    optimism_table(results, report, genes)
    changes = alignment_table(results, report)
    path_table(results, report)
    starts_table(results, report)
    noise_table(results, report)
    cost_table(results, report)
    growth_table(results, report)
    figures.draw(results, report, genes, texts, changes)
    paper_claims(results, report, genes, texts)
    search_claims(results, report, changes)
    cost_claims(results, report)


def sets_table(results: Results, report: Report) -> None:
    """Write the paper's Table 1, whose numbers are lost, from the files."""
    rows = []
    for kind in ("genes", "texts"):
        for name in results.values(kind, "name"):
            s = next(results.find(kind, name=name)).result["shape"]
            rows.append([name, s["n"], s["p"], s["c"], s["largest"], s["smallest"]])
    report.table("sets", ["set", "rows", "columns", "classes", "largest class", "smallest"], rows)


def error_table(report: Report, name: str, errors: dict[str, dict[str, Errors]], columns: list[str]) -> None:
    """Write mean ± sd (se) of each method; the lowest is bold."""
    rows = [[n, *best([row[m].mean for m in columns], [row[m].text() for m in columns])] for n, row in errors.items()]
    report.table(name, ["set", *columns], rows, "Error in percent: mean ± sd over the runs (standard error).")


def difference_table(report: Report, name: str, errors: dict[str, dict[str, Errors]], columns: list[str]) -> None:
    """Write SKFE less each other method."""
    others = [m for m in columns if m != "SKFE"]
    rows = [[n, *(compare(row["SKFE"], row[m]).text() for m in others)] for n, row in errors.items()]
    note = "SKFE less the method, in points (p of Student's paired test over the runs / of the corrected test)."
    report.table(name, ["set", *others], rows, note)


def others_table(report: Report, texts: dict, columns: list[str]) -> None:
    """Write the texts with their counts weighted otherwise."""
    rows = []
    for weighting, errors in list(texts.items())[1:]:
        for n, row in errors.items():
            cells = best([row[m].mean for m in columns], [row[m].text() for m in columns])
            rows.append([f"{n}, {weighting}", *cells])
    if rows:
        report.table("texts-weighted", ["set", *columns], rows, "Error in percent: mean ± sd (standard error).")


def steps_table(results: Results, report: Report, errors: dict[str, dict[str, Errors]]) -> None:
    """Write SKFE with its number of steps chosen inside beside KPLS with its number of features chosen inside."""
    rows = []
    for name, row in errors.items():
        found = [r.result for r in results.find("early", name=name)]
        mean = np.mean([f["error"] for f in found], axis=0)
        cells = best(mean.tolist(), [f"{100 * e:.1f}" for e in mean])
        chosen = ", ".join(f"{f['chosen']}" for f in found)
        difference = compare(row["SKFE steps"], row["KPLS inner"]).text()
        rows.append([name, *cells, row["SKFE steps"].text(), row["KPLS inner"].text(), difference, chosen])
    if rows:
        steps = next(results.find("early")).settings["steps"]
        head = ["set", *(f"{s} steps" for s in steps), "steps chosen", "KPLS inner", "difference", "choices by split"]
        note = "Error in percent; the difference with p of Student's test / of the corrected test."
        report.table("steps", head, rows, note)


def kpls_table(report: Report, genes: dict) -> None:
    """Write SKFE against both forms of KPLS beside what the paper says."""
    rows = []
    for name in genes["paper"]:
        cells = [compare(e[name]["SKFE"], e[name][m]).text() for m in KPLS for e in genes.values()]
        rows.append([name, SAID.get(name, "–"), *cells])
    if rows:
        head = ["set", "the paper", *(f"{m}, {word}" for m in KPLS for word in ("its measure", "nested"))]
        report.table("kpls", head, rows, "SKFE less KPLS in points of percent (Student's p / corrected p).")


def optimism_table(results: Results, report: Report, genes: dict) -> None:
    """Write what the paper's measure hides, and which widths the inner folds chose."""
    gammas, factors = results.settings["gammas"], results.settings["factors"]
    rows = []
    for method in METHODS[1:] if genes["paper"] else []:
        gaps = [genes["nested"][n][method].mean - genes["paper"][n][method].mean for n in genes["paper"]]
        each = len(factors) if method in KPLS else 1
        chosen = [c // each for r in results.find("genes") for c in r.result["chosen"][method]]
        cells = [f"{100 * chosen.count(g) / len(chosen):.0f} %" for g in range(len(gammas))]
        rows.append([method, each * len(gammas), summary(gaps).text(), *cells])
    if rows:
        note = (
            "Nested error less the paper's measure, points, mean over the sets ± standard error; widths chosen inside."
        )
        report.table("optimism", ["method", "candidates", "hidden", *(f"γp = {g:g}" for g in gammas)], rows, note)


def watched(results: Results, name: str, method: str) -> list[dict]:
    """Return what the search did in each run: at the common width for genes, on unit rows for texts."""
    at = results.settings["gammas"]
    number = at.index(results.settings["gamma"])
    found = [r.result["watched"][method][number] for r in results.find("genes", name=name)]
    main = results.settings["weighting"]
    return found or [r.result["watched"][method] for r in results.find("texts", name=name, weighting=main)]


def error_at_width(results: Results, name: str, method: str) -> float:
    """Return the mean error of a method without n_f at the common width, or on unit rows."""
    number = results.settings["gammas"].index(results.settings["gamma"])
    found = [sum(r.result["wrong"][method][number]) / sum(r.result["sizes"]) for r in results.find("genes", name=name)]
    main = results.settings["weighting"]
    found = found or [r.result["error"][method][0] for r in results.find("texts", name=name, weighting=main)]
    return float(np.mean(found))


def alignment_table(results: Results, report: Report) -> list[dict]:
    """Write alignment and error at the start (KOC) and at the end of the search."""
    rows, changes = [], []
    for name in [*results.values("genes", "name"), *results.values("texts", "name")]:
        for method in ("SKFE", "SKFE kobl"):
            told = watched(results, name, method)
            mean = {k: float(np.mean([t[k] for t in told])) for k in told[0]}
            koc, end = error_at_width(results, name, "KOC"), error_at_width(results, name, method)
            cells = [f"{mean[k]:.2f}" for k in ("train_koc", "train", "test_koc", "test")]
            rows.append([f"{name}, {method}", f"{mean['size']:.0f}", *cells, f"{100 * koc:.1f}", f"{100 * end:.1f}"])
            rows[-1].append(f"{100 * mean['ended']:.0f} %")
            changes.append({"name": name, "method": method, "koc": koc, "end": end} | mean)
    head = ["set", "basis", "train KOC", "train SKFE", "test KOC", "test SKFE", "error KOC", "error SKFE", "ended"]
    note = "Alignments; errors in percent; ended: fits whose search ended by itself within 200 steps."
    report.table("alignment", head, rows, note)
    return changes


def path_table(results: Results, report: Report) -> None:
    """Write the error after so many steps."""
    found = list(results.find("path"))
    if not found:
        return
    steps = [0, *found[0].settings["steps"]]
    rows = []
    for record in found:
        for basis in ("span", "kobl"):
            error = np.mean(record.result[basis]["error"], axis=0)
            cells = best(error.tolist(), [f"{100 * e:.1f}" for e in error])
            rows.append([f"{record.settings['name']}, {basis}", *cells])
    report.table("path", ["set, basis", *steps], rows, "Error in percent after so many steps; step 0 is KOC.")


def starts_table(results: Results, report: Report) -> None:
    """Write where long searches end, by their start."""
    rows = []
    for record in results.find("starts"):
        found = record.result
        cells = []
        for rows_of in found.values():
            a = np.array(rows_of)
            cells += [f"{a[:, 2].mean():.4f}", f"{100 * a[:, 5].mean():.1f}"]
        ended = np.mean([row[4] for rows_of in found.values() for row in rows_of])
        rows.append([record.settings["name"], *cells, f"{100 * ended:.0f} %", f"{spread(found):.1e}"])
    if rows:
        names = list(next(results.find("starts")).result)
        head = ["set", *(t for n in names for t in (n, "error")), "ended", "range"]
        note = "Alignment reached and error in percent by start; range: on one split, of searches that ended."
        report.table("starts", head, rows, note)


def spread(found: dict) -> float:
    """Return the largest range, on one split, of the alignments reached by searches that ended by themselves."""
    by_split: dict[int, list[float]] = {}
    for rows in found.values():
        for row in rows:
            if row[4]:
                by_split.setdefault(int(row[0]), []).append(row[2])
    return max((max(v) - min(v) for v in by_split.values() if len(v) > 1), default=float("nan"))


def noise_table(results: Results, report: Report) -> None:
    """Write alignment with true and with shuffled labels."""
    rows = []
    for record in results.find("noise"):
        for label in [k.split(" ")[1] for k in record.result if k.startswith("true ")]:
            size = np.mean([r[0] for r in record.result[f"true {label}"]])
            cells = []
            for labels in ("true", "shuffled"):
                a = np.array(record.result[f"{labels} {label}"])
                cells += [summary(a[:, 1]).text(2, 1), summary(a[:, 2]).text(2, 1), summary(a[:, 3]).text()]
            word = {"span": "all rows", "kobl": "kobl, its own rule"}.get(label, f"kobl, {label} rows")
            rows.append([f"{record.settings['name']}, {word}", f"{size:.0f}", *cells])
    if rows:
        head = ["set, basis", "size", "train", "test", "error", "train, shuffled", "test, shuffled", "error, shuffled"]
        report.table("noise", head, rows, "Alignment, and error in percent, ± standard error over splits.")


def cost_table(results: Results, report: Report) -> None:
    """Write median times of the fits."""
    rows = []
    for record in results.find("cost"):
        seconds = {m: float(np.median(v)) for m, v in record.result["seconds"].items()}
        cells = [f"{1000 * s:.0f}" for s in seconds.values()]
        ratio = seconds["SKFE"] / seconds["KOC"]
        rows.append([record.settings["name"], record.result["rows"], *cells, f"{ratio:.2f}"])
    if rows:
        head = ["set", "rows", *next(results.find("cost")).result["seconds"], "SKFE / KOC"]
        report.table(
            "cost", head, rows, "Milliseconds of processor time of one fit from the rows, median of interleaved runs."
        )


def slope(x: list[float], seconds: list[float]) -> float:
    """Return the exponent of growth by least squares on logarithms."""
    return float(np.polyfit(np.log(x), np.log(seconds), 1)[0])


def growth_table(results: Results, report: Report) -> None:
    """Write times as sizes grow, with the exponents."""
    for record in results.find("growth"):
        s, found = record.settings, record.result
        rows = [
            [f"AKDA/QR, {k}", ", ".join(map(str, s[k])), _ms(found[k]), f"{slope(s[k], found[k]):.2f}"]
            for k in ("rows", "columns", "classes")
        ]
        sizes = s["rows"][: len(found["alignment"])]
        for at, word in enumerate(("by factors", "by n × n matrices")):
            t = [row[at] for row in found["alignment"]]
            rows.append([f"alignment {word}, rows", ", ".join(map(str, sizes)), _ms(t), f"{slope(sizes, t):.2f}"])
        report.table("growth", ["what grows", "sizes", "milliseconds", "exponent"], rows)


def _ms(seconds: list[float]) -> str:
    return ", ".join(f"{1000 * t:.3g}" for t in seconds)


def share(won: int, of: int) -> str:
    """Rule for claims over sets: all holds, more than half holds partly."""
    return (
        "cannot be tested" if of == 0 else "holds" if won == of else "holds partly" if 2 * won > of else "does not hold"
    )


def worse(a: str, b: str) -> str:
    """Return the less favourable of two verdicts."""
    order = ["holds", "holds partly", "does not hold", "cannot be tested"]
    return max(a, b, key=order.index)


def joined(verdicts: list[str]) -> str:
    """Rule for a claim that can be read in several ways: the verdict if all agree, else partly."""
    return verdicts[0] if len(set(verdicts)) == 1 else "holds partly"


def paper_claims(results: Results, report: Report, genes: dict, texts: dict) -> None:
    """Judge the sentences about the paper's two tables of errors."""
    if genes["paper"]:
        _gene_claims(report, genes)
    if texts:
        _text_claims(results, report, genes, texts)


def _gene_claims(report: Report, genes: dict) -> None:
    # Rule: SKFE and both forms of KPLS below KOC and both forms of AKDA/QR: nine comparisons a set; all lower holds,
    # more than half partly; the worse of the two measures.
    found = {m: [tally(e, a, b) for a in ("SKFE", *KPLS) for b in OTHERS] for m, e in genes.items()}
    verdict = worse(*(share(sum(t.lower for t in ts), sum(t.sets for t in ts)) for ts in found.values()))
    text = "; ".join(
        f"{TITLES[m]}: {sum(t.lower for t in ts)} of {sum(t.sets for t in ts)} comparisons lower "
        f"(clear {sum(t.clear for t in ts)}, clearly higher {sum(t.clear_loss for t in ts)})"
        for m, ts in found.items()
    )
    report.claim("SKFE and KPLS do better than KOC and AKDA/QR on microarrays", "§5.2", verdict, text)
    # Rule: lower mean error on every set holds, on more than half partly; the worse of the two measures.
    found = {m: tally(e, "SKFE", "KOC") for m, e in genes.items()}
    verdict = worse(*(share(t.lower, t.sets) for t in found.values()))
    text = "; ".join(f"{TITLES[m]}: {t.text()}" for m, t in found.items())
    report.claim("SKFE improves on KOC, its start, on every microarray", "§5.2", verdict, text)
    # Rule: Student's p > 0.05 by the paper's measure on all the sets that it names holds, on more than half partly;
    # for each form of KPLS, joined.
    equal = [n for n, said in SAID.items() if said == "no difference" and n in genes["paper"]]
    found = {m: [compare(genes["paper"][n]["SKFE"], genes["paper"][n][m]) for n in equal] for m in KPLS}
    verdict = joined([share(sum(not d.p < 0.05 for d in ds), len(equal)) for ds in found.values()])
    text = "; ".join(
        f"{m}: p > 0.05 on {sum(not d.p < 0.05 for d in ds)} of {len(equal)} by Student, "
        f"{sum(not d.clear for d in ds)} corrected"
        for m, ds in found.items()
    )
    where = "§5.2, t-test"
    report.claim("SKFE and KPLS do not differ on Leukemia1, Leukemia2, DLBCL and 9 Tumors", where, verdict, text)
    brains = [n for n in ("brain_tumor1", "brain_tumor2") if n in genes["paper"]]
    _one_side(report, genes["paper"], "KPLS is better than SKFE on one Brain Tumor set", brains, 1)
    _one_side(report, genes["paper"], "SKFE is better than KPLS on the other Brain Tumor set", brains, -1)
    prostate = [n for n in ("prostate_tumor",) if n in genes["paper"]]
    _one_side(report, genes["paper"], "SKFE is better than KPLS on Prostate Tumor", prostate, -1)


def _one_side(report: Report, errors: dict, text: str, sets: list[str], sign: int) -> None:
    """Rule: on one of the sets the sign with Student's p < 0.05 by the paper's measure holds, the sign alone partly.

    For each form of KPLS, joined.
    """
    verdicts, told = [], []
    for method in KPLS:
        found = {n: compare(errors[n]["SKFE"], errors[n][method]) for n in sets}
        right = [d for d in found.values() if d.mean * sign > 0]
        told.append(f"SKFE − {method}: " + ", ".join(f"{n} {d.text()}" for n, d in found.items()))
        verdicts.append("does not hold")
        if right:
            verdicts[-1] = "holds" if any(d.p < 0.05 for d in right) else "holds partly"
    if not sets:
        report.claim(text, "§5.2, t-test", "cannot be tested", "the set was not run")
        return
    report.claim(text, "§5.2, t-test", joined(verdicts), "; ".join(told))


def _text_claims(results: Results, report: Report, genes: dict, texts: dict) -> None:
    # Rule: SKFE lowest of KPLS, KOC and both forms of AKDA/QR on all sets holds, on more than half partly; for each
    # weighting and form of KPLS, and for SKFE with steps by inner folds, joined.
    verdicts, told = [], []
    for weighting, errors in texts.items():
        wins = {
            m: sum(all(row["SKFE"].mean < row[r].mean for r in (m, *OTHERS)) for row in errors.values()) for m in KPLS
        }
        verdicts += [share(w, len(errors)) for w in wins.values()]
        t = tally(errors, "SKFE", "KPLS")
        told.append(
            f"{weighting}: lowest on {wins['KPLS']} of {len(errors)}, {wins['KPLS scaled']} with KPLS scaled; "
            f"against KPLS clearly lower on {t.clear}, higher on {t.clear_loss}"
        )
    chosen = with_stops(results, texts[results.settings["weighting"]])
    if chosen:  # the paper does not say when its search stops
        wins = {
            m: sum(all(row["SKFE steps"].mean < row[r].mean for r in (m, *OTHERS)) for row in chosen.values())
            for m in KPLS
        }
        verdicts += [share(w, len(chosen)) for w in wins.values()]
        t = tally(chosen, "SKFE steps", "KPLS")
        told.append(
            f"unit, steps by inner folds: {wins['KPLS']} of {len(chosen)}, {wins['KPLS scaled']} with KPLS scaled; "
            f"clearly lower on {t.clear}, higher on {t.clear_loss}"
        )
    report.claim("SKFE outperforms the other extractors on all texts", "§5.3", joined(verdicts), "; ".join(told))
    main = texts[results.settings["weighting"]]
    t = tally(main, "SKFE", "KOC")
    # Rule: as for microarrays; the paper says it of those, and its table of texts must imply it.
    report.claim("SKFE improves on KOC, its start, on every text", "§5.3", share(t.lower, t.sets), t.text())
    # Rule: more than half of method and set below NN holds, by the paper's measure and by the honest one; else partly.
    counts = {}
    for measure, e in genes.items():
        ours = {"paper": KPLS, "nested": [f"{m} inner" for m in KPLS]}[measure]
        cells = [row[m].mean < row["NN"].mean for row in e.values() for m in [*KPLS, *OTHERS, "SKFE"]]
        cells += [row[m].mean < row["NN"].mean for row in main.values() for m in [*ours, *OTHERS, "SKFE"]]
        counts[measure] = (sum(cells), len(cells))
    verdict = joined(["holds" if 2 * won > of else "does not hold" for won, of in counts.values()])
    words = {"paper": "the paper's measure", "nested": "choices inside the training part"}
    text = "; ".join(f"{words[m]}: {won} of {of} cells of method and set" for m, (won, of) in counts.items())
    report.claim("In most cases the extractors beat NN on the raw rows", "§5.3", verdict, text)
    # Rule: largest class at least ten times the smallest on all texts holds, on some partly.
    shapes = [next(results.find("texts", name=n)).result["shape"] for n in main]
    ratios = [s["largest"] / s["smallest"] for s in shapes]
    many = sum(r >= 10 for r in ratios)
    verdict = "holds" if many == len(ratios) else "holds partly" if many else "does not hold"
    text = f"largest over smallest class {min(ratios):.1f} to {max(ratios):.1f}; at least 10 on {many} of {len(ratios)}"
    report.claim("The texts are highly unbalanced", "§5.3", verdict, text)


def search_claims(results: Results, report: Report, changes: list[dict]) -> None:
    """Judge what the paper derives, and what it expects of the alignment."""
    law = next((r.result for r in results.find("law")), None)
    if law:
        # Rule: rounding, 1e-8 for values and 1e-6 for a slope by differences.
        verdict = "holds" if max(law["kernel"], law["alignment"]) < 1e-8 else "does not hold"
        text = f"largest difference {law['kernel']:.0e}, of the alignment {law['alignment']:.0e}"
        report.claim("The projected rows' kernel is KW(WᵀKW)⁻¹WᵀK", "Lemma 1", verdict, text)
        verdict = "holds" if law["gradient"] < 1e-6 else "does not hold"
        text = f"relative difference from a central difference {law['gradient']:.0e}"
        report.claim("The gradient of αᵀK_wα is 2 t βᵀ", "§4", verdict, text)
    span = [c for c in changes if c["method"] == "SKFE"]
    if span:
        # Rule: alignment of the test rows up and error down on all sets holds, on more than half partly.
        good = sum(c["test"] > c["test_koc"] and c["end"] < c["koc"] for c in span)
        up = sum(c["test"] > c["test_koc"] for c in span)
        down = sum(c["end"] < c["koc"] for c in span)
        text = (
            f"from KOC to SKFE test alignment rises on {up} of {len(span)} sets, error falls on {down}, both on {good}"
        )
        report.claim("Maximal alignment lets one expect good classification", "§4", share(good, len(span)), text)
    found = {r.settings["name"]: r.result for r in results.find("starts")}
    if found:
        # Rule: alignments reached on one split differ by over 0.001 on more than half of the sets holds, on any partly.
        # Only searches that ended by themselves count.
        wide = sum(spread(f) > 1e-3 for f in found.values())
        errors = {s: np.mean([row[5] for f in found.values() for row in f[s]]) for s in ("koc", "random")}
        verdict = "holds" if 2 * wide > len(found) else "holds partly" if wide else "does not hold"
        text = (
            f"alignments reached differ by over 0.001 on {wide} of {len(found)} sets, at most by "
            f"{np.nanmax([spread(f) for f in found.values()]):.4f}; error {100 * errors['koc']:.1f} % from KOC, "
            f"{100 * errors['random']:.1f} % from random starts"
        )
        report.claim("The result depends on the start; A(W) has no convexity", "§5.1", verdict, text)


def cost_claims(results: Results, report: Report) -> None:
    """Judge what the paper says of time."""
    found = [r.result["seconds"] for r in results.find("cost")]
    if found:
        # Rule: SKFE has the largest median on all sets holds, on more than half partly.
        median = [{m: float(np.median(v)) for m, v in f.items() if m != "SKFE kobl"} for f in found]
        most = sum(max(m, key=m.get) == "SKFE" for m in median)
        ratio = [m["SKFE"] / max(v for k, v in m.items() if k != "SKFE") for m in median]
        text = f"slowest on {most} of {len(found)} sets; {min(ratio):.2f} to {max(ratio):.2f} times the next"
        report.claim("SKFE costs more than KPLS, AKDA/QR and KOC", "§5.3, run times", share(most, len(found)), text)
    record = next(iter(results.find("growth")), None)
    if record is None:
        return
    s, told = record.settings, record.result
    # Rule: no exponent above 1.2 holds; else does not.
    exponents = {k: slope(s[k], told[k]) for k in ("rows", "columns", "classes")}
    verdict = "holds" if max(exponents.values()) <= 1.2 else "does not hold"
    text = "exponents " + ", ".join(f"{k} {e:.2f}" for k, e in exponents.items())
    report.claim("AKDA/QR scales as O(n·d·c)", "§1", verdict, text)
    # Rule: exponent by factors at most 1.2 and the direct one at least 1.6 holds; only faster at the end, partly.
    sizes = s["rows"][: len(told["alignment"])]
    quick, direct = ([row[i] for row in told["alignment"]] for i in (0, 1))
    a, b = slope(sizes, quick), slope(sizes, direct)
    verdict = "holds" if a <= 1.2 and b >= 1.6 else "holds partly" if quick[-1] < direct[-1] else "does not hold"
    text = f"exponents in n {a:.2f} against {b:.2f}; at {sizes[-1]} rows {direct[-1] / quick[-1]:.0f} times faster"
    report.claim("Factors give A(W) in O(n·n_f·(c + n_f)), not O(n²)", "§4", verdict, text)
