"""The paper's sentences; every verdict comes from the shared rule in lab/verdicts.py."""

from __future__ import annotations

import numpy as np
from lab import Report, Results, paired
from lab import verdicts as rule
from skfe_errors import KPLS, OTHERS, SAID, TITLES, against_best, compare, fresh_errors, slope, spread, tally


def paper_claims(results: Results, report: Report, genes: dict, texts: dict) -> None:
    """Judge the sentences about the paper's two tables of errors."""
    if genes["paper"]:
        _gene_claims(report, genes)
    if texts:
        _text_claims(results, report, genes, texts)


def _gene_claims(report: Report, genes: dict) -> None:
    # Nine comparisons a set, SKFE and both forms of KPLS with KOC and both forms of AKDA/QR; readings: two measures.
    found = {m: rule.total(tally(e, a, b) for a in ("SKFE", *KPLS) for b in OTHERS) for m, e in genes.items()}
    text = "; ".join(f"{TITLES[m]}: {c.text()}" for m, c in found.items())
    verdict = rule.joined([rule.better(c, "all") for c in found.values()])
    report.claim("SKFE and KPLS do better than KOC and AKDA/QR on microarrays", "§5.2", verdict, text)
    found = {m: tally(e, "SKFE", "KOC") for m, e in genes.items()}
    text = "; ".join(f"{TITLES[m]}: {c.text()}" for m, c in found.items())
    verdict = rule.joined([rule.better(c, "all") for c in found.values()])
    report.claim("SKFE improves on KOC, its start, on every microarray", "§5.2", verdict, text)
    # Readings: each form of KPLS, by the paper's measure. Student's test, which the paper used, is shown beside it.
    equal = [n for n, said in SAID.items() if said == "no difference" and n in genes["paper"]]
    tests = {m: [compare(genes["paper"][n]["SKFE"], genes["paper"][n][m]) for n in equal] for m in KPLS}
    found = {m: rule.count(ds, low=True) for m, ds in tests.items()}
    text = "; ".join(
        f"{m}: {c.text()}, mean {100 * c.gain:+.1f} points, p > 0.05 by Student on "
        f"{sum(not d.p < 0.05 for d in tests[m])}"
        for m, c in found.items()
    )
    where = "§5.2, t-test"
    verdict = rule.joined([rule.similar(c) for c in found.values()])
    report.claim("SKFE and KPLS do not differ on Leukemia1, Leukemia2, DLBCL and 9 Tumors", where, verdict, text)
    brains = [n for n in ("brain_tumor1", "brain_tumor2") if n in genes["paper"]]
    _one_side(report, genes["paper"], "KPLS is better than SKFE on one Brain Tumor set", brains, 1)
    _one_side(report, genes["paper"], "SKFE is better than KPLS on the other Brain Tumor set", brains, -1)
    prostate = [n for n in ("prostate_tumor",) if n in genes["paper"]]
    _one_side(report, genes["paper"], "SKFE is better than KPLS on Prostate Tumor", prostate, -1)


def _one_side(report: Report, errors: dict, text: str, sets: list[str], sign: int) -> None:
    """Judge "better on one of the sets" by the set that favours the claim most; readings: each form of KPLS."""
    verdicts, told = [], []
    for method in KPLS:
        found = {n: compare(errors[n]["SKFE"], errors[n][method]) for n in sets}
        verdicts.append(rule.most([rule.better(rule.count([d], low=sign < 0)) for d in found.values()]))
        told.append(f"SKFE − {method}: " + ", ".join(f"{n} {d.text()}" for n, d in found.items()))
    if not sets:
        report.claim(text, "§5.2, t-test", rule.UNTESTED, "the set was not run")
        return
    report.claim(text, "§5.2, t-test", rule.joined(verdicts), "; ".join(told))


def _text_claims(results: Results, report: Report, genes: dict, texts: dict) -> None:
    # Readings: SKFE against the best of KPLS, KOC and both forms of AKDA/QR on each set, for each weighting and form of
    # KPLS.
    verdicts, told = [], []
    for weighting, errors in texts.items():
        found = {m: against_best(errors, "SKFE", [m, *OTHERS]) for m in KPLS}
        verdicts += [rule.better(c, "all") for c in found.values()]
        told.append(f"{weighting}: " + ", ".join(f"with {m} {c.text()}" for m, c in found.items()))
    figure = "200 steps, against the best other: " + "; ".join(told)
    report.claim("SKFE outperforms the other extractors on all texts", "§5.3", rule.joined(verdicts), figure)
    fresh = fresh_errors(results)
    if fresh:
        # Readings: KPLS with c features, KPLS with as many as inner folds choose, each as it is and scaled.
        rivals = ("KPLS c", "KPLS scaled c", "KPLS inner", "KPLS scaled inner")
        found = {m: against_best(fresh, "SKFE inner", [m, *OTHERS]) for m in rivals}
        figure = "against the best of KOC, AKDA/QR and " + "; ".join(f"{m}: {c.text()}" for m, c in found.items())
        figure += "; against KPLS alone " + ", ".join(
            f"{m} {tally(fresh, 'SKFE inner', m).text()}" for m in ("KPLS c", "KPLS inner")
        )
        text = "The same with the number of steps by inner folds, on new splits"
        report.claim(text, "§5.3", rule.joined([rule.better(c, "all") for c in found.values()]), figure)
        counts = tally(fresh, "SKFE inner", "KOC")
        report.claim("SKFE with steps by inner folds improves on KOC, new splits", "§5.3", rule.better(counts, "all"),
                     counts.text())  # fmt: skip
    main = texts[results.settings["weighting"]]
    # The paper says it of microarrays, and its table of texts must imply it.
    counts = tally(main, "SKFE", "KOC")
    report.claim("SKFE improves on KOC, its start, on every text", "§5.3", rule.better(counts, "all"), counts.text())
    # Every cell of method and set against NN; readings: the paper's measure and the honest one.
    found = {}
    for measure, e in genes.items():
        ours = {"paper": KPLS, "nested": [f"{m} inner" for m in KPLS]}[measure]
        cells = [tally(e, m, "NN") for m in [*KPLS, *OTHERS, "SKFE"]]
        found[measure] = rule.total(cells + [tally(main, m, "NN") for m in [*ours, *OTHERS, "SKFE"]])
    words = {"paper": "the paper's measure", "nested": "choices inside the training part"}
    text = "; ".join(f"{words[m]}: {c.text()}" for m, c in found.items())
    verdict = rule.joined([rule.better(c) for c in found.values()])
    report.claim("In most cases the extractors beat NN on the raw rows", "§5.3", verdict, text)
    # Largest class at least ten times the smallest.
    shapes = [next(results.find("texts", name=n)).result["shape"] for n in main]
    ratios = [s["largest"] / s["smallest"] for s in shapes]
    many = sum(r >= 10 for r in ratios)
    text = f"largest over smallest class {min(ratios):.1f} to {max(ratios):.1f}; at least 10 on {many} of {len(ratios)}"
    report.claim("The texts are highly unbalanced", "§5.3", rule.fact(many, len(ratios)), text)


def search_claims(results: Results, report: Report, changes: list[dict]) -> None:
    """Judge what the paper derives, and what it expects of the alignment."""
    law = next((r.result for r in results.find("law")), None)
    if law:
        # Rounding: 1e-8 for values and 1e-6 for a slope by differences.
        verdict = rule.identity(max(law["kernel"], law["alignment"]), 1e-8)
        text = f"largest difference {law['kernel']:.0e}, of the alignment {law['alignment']:.0e}"
        report.claim("The projected rows' kernel is KW(WᵀKW)⁻¹WᵀK", "Lemma 1", verdict, text)
        verdict = rule.identity(law["gradient"], 1e-6)
        text = f"relative difference from a central difference {law['gradient']:.0e}"
        report.claim("The gradient of αᵀK_wα is 2 t βᵀ", "§4", verdict, text)
    span = [c for c in changes if c["method"] == "SKFE"]
    if span:
        # Alignment of the test rows up and error down.
        good = sum(c["test"] > c["test_koc"] and c["end"] < c["koc"] for c in span)
        up = sum(c["test"] > c["test_koc"] for c in span)
        down = sum(c["end"] < c["koc"] for c in span)
        text = (
            f"from KOC to SKFE test alignment rises on {up} of {len(span)} sets, error falls on {down}, both on {good}"
        )
        report.claim("Maximal alignment lets one expect good classification", "§4", rule.fact(good, len(span)), text)
    found = {r.settings["name"]: r.result for r in results.find("starts")}
    if found:
        # Alignments reached on one split differ by over 0.001 on most sets; only searches that ended count.
        wide = sum(spread(f) > 1e-3 for f in found.values())
        errors = {s: np.mean([row[5] for f in found.values() for row in f[s]]) for s in ("koc", "random")}
        verdict = rule.fact(wide, len(found), "most")
        text = (
            f"alignments reached differ by over 0.001 on {wide} of {len(found)} sets, at most by "
            f"{np.nanmax([spread(f) for f in found.values()]):.4f}; error {100 * errors['koc']:.1f} % from KOC, "
            f"{100 * errors['random']:.1f} % from random starts"
        )
        report.claim("The result depends on the start; A(W) has no convexity", "§5.1", verdict, text)


def criteria_claims(results: Results, report: Report) -> None:
    """Judge what the paper leaves to others: any way to choose a kernel's parameters will do."""
    found = [r.result for r in results.find("criteria")]
    for label, told in (
        (
            "radius-margin",
            "Other criteria, such as the radius-margin bound, serve as well as alignment (not tried there)",
        ),
        (
            "points, margin",
            "A subspace spanned by points of the input space serves as well (the sparse large margin case)",
        ),
    ):
        if found:
            pairs = [paired(f["error"][label], f["error"]["alignment"], float(np.mean(f["shares"]))) for f in found]
            counts = rule.count(pairs, low=True)
            means = [np.mean([np.mean(f["error"][m]) for f in found]) for m in (label, "alignment")]
            text = f"{counts.text()}; mean error {100 * means[0]:.1f} % against {100 * means[1]:.1f} %"
            report.claim(told, "§3.2, §4", rule.as_good(counts), text)


def cost_claims(results: Results, report: Report) -> None:
    """Judge what the paper says of time."""
    found = [r.result["seconds"] for r in results.find("cost")]
    if found:
        # SKFE has the largest median.
        median = [{m: float(np.median(v)) for m, v in f.items() if m != "SKFE kobl"} for f in found]
        most = sum(max(m, key=m.get) == "SKFE" for m in median)
        ratio = [m["SKFE"] / max(v for k, v in m.items() if k != "SKFE") for m in median]
        text = f"slowest on {most} of {len(found)} sets; {min(ratio):.2f} to {max(ratio):.2f} times the next"
        report.claim("SKFE costs more than KPLS, AKDA/QR and KOC", "§5.3, run times", rule.fact(most, len(found)), text)
    record = next(iter(results.find("growth")), None)
    if record is None:
        return
    s, told = record.settings, record.result
    exponents = {k: slope(s[k], told[k]) for k in ("rows", "columns", "classes")}
    verdict = rule.grows(exponents.values(), 1, at_most=True)
    text = "exponents " + ", ".join(f"{k} {e:.2f}" for k, e in exponents.items())
    report.claim("AKDA/QR scales as O(n·d·c)", "§1", verdict, text)
    sizes = s["rows"][: len(told["alignment"])]
    quick, direct = ([row[i] for row in told["alignment"]] for i in (0, 1))
    a, b = slope(sizes, quick), slope(sizes, direct)
    verdict = rule.worst([rule.grows([a], 1, at_most=True), rule.grows([b], 2)])
    text = f"exponents in n {a:.2f} against {b:.2f}; at {sizes[-1]} rows {direct[-1] / quick[-1]:.0f} times faster"
    report.claim("Factors give A(W) in O(n·n_f·(c + n_f)), not O(n²)", "§4", verdict, text)
