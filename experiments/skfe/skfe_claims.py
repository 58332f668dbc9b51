"""Verdicts of the SKFE experiment; the rule of each is the comment beside it."""

from __future__ import annotations

import numpy as np
from lab import Report, Results
from skfe_errors import KPLS, OTHERS, SAID, TITLES, compare, slope, spread, tally, with_stops


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
    # weighting and form of KPLS, joined.
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
    if chosen:  # tried after the verdict on the others was known, so it is told and not counted
        wins = {
            m: sum(all(row["SKFE steps"].mean < row[r].mean for r in (m, *OTHERS)) for row in chosen.values())
            for m in KPLS
        }
        t = tally(chosen, "SKFE steps", "KPLS")
        told.append(
            "not counted, tried afterwards: unit with steps by inner folds "
            f"{wins['KPLS']} of {len(chosen)}, {wins['KPLS scaled']} with KPLS scaled; "
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
