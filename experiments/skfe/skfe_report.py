"""Tables of the SKFE experiment; figures and verdicts have modules of their own."""

from __future__ import annotations

import numpy as np
import skfe_claims as claims
import skfe_figures as figures
from lab import Report, Results, paired, summary
from lab.report import best
from skfe_errors import (
    KPLS,
    SAID,
    TITLES,
    Errors,
    compare,
    fresh_errors,
    gene_errors,
    slope,
    spread,
    tally,
    text_errors,
    with_stops,
)
from skfe_methods import METHODS


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
        fresh_table(results, report)
        others_table(report, texts, columns)
    kpls_table(report, genes)
    optimism_table(results, report, genes)
    changes = alignment_table(results, report)
    path_table(results, report)
    starts_table(results, report)
    criteria_table(results, report)
    noise_table(results, report)
    cost_table(results, report)
    growth_table(results, report)
    figures.draw(results, report, genes, texts, changes)
    claims.paper_claims(results, report, genes, texts)
    claims.search_claims(results, report, changes)
    claims.criteria_claims(results, report)
    claims.cost_claims(results, report)


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


def fresh_table(results: Results, report: Report) -> None:
    """Write the new splits of the texts: everything chosen inside the training part, and KPLS at c features too."""
    errors = fresh_errors(results)
    columns = ["SKFE inner", "SKFE scaled inner", "KPLS c", "KPLS scaled c", "KPLS inner", "KPLS scaled inner"]
    columns += ["KOC", "AKDA/QR", "AKDA/QR c", "NN"]
    rows, pairs = [], []
    for name, row in errors.items():
        found = [r.result["chosen"] for r in results.find("fresh", name=name)]
        chosen = [float(np.median([f[m] for f in found])) for m in ("SKFE", "KPLS")]
        cells = best([row[m].mean for m in columns], [f"{100 * row[m].mean:.1f}" for m in columns])
        rows.append([name, len(found), *cells, *(f"{c:g}" for c in chosen)])
        pairs.append([name, *(compare(row["SKFE inner"], row[m]).text() for m in columns[2:9])])
    if not rows:
        return
    means = [np.mean([row[m].mean for row in errors.values()]) for m in columns]
    rows.append(["mean", "", *best(means, [f"{100 * m:.1f}" for m in means]), "", ""])
    counts = [tally(errors, "SKFE inner", m) for m in columns[2:9]]
    pairs.append(["SKFE's wins and losses", *(c.text() for c in counts)])
    note = (
        "Error in percent on new splits. SKFE: c features, the number of steps by inner folds. KPLS c: c features; "
        "KPLS inner: the multiple of c by inner folds. Scaled: features of unit length on the training rows. Last two "
        "columns: medians of what was chosen."
    )
    report.table("fresh", ["set", "splits", *columns, "steps, SKFE", "multiple of c, KPLS"], rows, note)
    note = "SKFE with steps by inner folds less the other: points, p of Student's test / of the corrected test."
    report.table("differences-fresh", ["set", *columns[2:9]], pairs, note)


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


def criteria_table(results: Results, report: Report) -> None:
    """Write the error of margins, other starts and moved points beside that of the alignment."""
    rows = []
    for record in results.find("criteria"):
        errors, share = record.result["error"], float(np.mean(record.result["shares"]))
        means = [float(np.mean(e)) for e in errors.values()]
        texts = [summary(e).text() for e in errors.values()]
        clear = [paired(e, errors["alignment"], share) for e in errors.values()]
        marked = [
            t + (" *" if d.clear and m != "alignment" else "") for t, d, m in zip(texts, clear, errors, strict=True)
        ]
        rows.append([record.settings["name"], *best(means, marked)])
    if rows:
        names = list(next(results.find("criteria")).result["error"])
        note = "Error in percent ± standard error over splits; * differs clearly from alignment by the corrected test."
        report.table("criteria", ["set", *names], rows, note)


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
