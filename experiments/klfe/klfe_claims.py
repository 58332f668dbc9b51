"""The paper's sentences and what became of them; every verdict comes from the shared rule in lab/verdicts.py.

The paper has σ = 1 in 5.1 and a width by cross-validation in 4.4: these are two readings of its claims about errors.
"""

from __future__ import annotations

import numpy as np
from klfe_view import FOUR, View
from lab import verdicts as rule

SINE = [("twin-sine-0", "zscore"), ("twin-sine-5", "zscore")]
SWISS, PIMA, RING = ("swiss-roll", "zscore"), ("pima", "zscore"), ("ringnorm", "zscore")
USPS = [("usps", "zscore"), ("usps", "unit")]
# Six sets. At σ = 1 USPS has unit rows: with columns of variance one its kernel matrix is the identity.
SIX = {"one": [*SINE, SWISS, PIMA, RING, USPS[1]], "cv": [*SINE, SWISS, PIMA, RING, USPS[0]]}


SIGMA = {"one": "σ = 1", "cv": "σ by CV"}


class MissingError(Exception):
    """A set that the claim needs was skipped."""


def need(value):
    """Return the value, or say that it is not there."""
    if value is None:
        raise MissingError
    return value


def mean(view, case, width, method, features=None):
    """Return the mean error at a number of features, or at the chosen ones."""
    if features is None:
        return float(need(view.chosen(case, width, method)).mean())
    return float(need(view.curve(case, width, method))[:, view.grid.index(features)].mean())


def write(view: View, report) -> None:
    """Judge all claims."""
    for text, where, judge in CLAIMS:
        try:
            outcome, figure = judge(view)
        except MissingError:
            outcome, figure = "cannot be tested", "the data were not there"
        report.claim(text, where, outcome, figure)


# ---- errors ------------------------------------------------------------------------------------------------------


def counted(tests):
    """Count wins and losses of the first method by errors; a set that is missing ends the claim."""
    return rule.count([need(t) for t in tests], low=True)


def readings(view, count, on="most", judge=rule.better):
    """Judge a claim at both widths, and put the counts into words."""
    told = {w: count(w) for w in view.widths}
    verdicts = [judge(c, on) if judge is rule.better else judge(c) for c in told.values()]
    return rule.joined(verdicts), "; ".join(f"{SIGMA[w]}: {c.text()}" for w, c in told.items())


def against_best(view, case, width, points):
    """Compare KLFE at each I' with the best of the four others there, by the mean error."""
    out = []
    for q in points:
        best = min(FOUR, key=lambda m, q=q: mean(view, case, width, m, q))
        out.append(need(view.against(case, width, "KLFE", best, features=q)))
    return out


def twin_minimum(view):
    """KLFE has a lower error than the best of the four at every 10 ≤ I' ≤ 100 of both sets."""
    points = [q for q in view.grid if 10 <= q <= 100]

    def count(width):
        return counted(t for case in SINE for t in against_best(view, case, width, points))

    verdict, text = readings(view, count, "all")
    return verdict, f"two sets and {len(points)} I', against the best of the four: {text}"


def twin_tenth(view):
    """KLFE's error is below 90 % of each of the four, with I' by cross-validation."""
    cases = [(case, m) for case in SINE for m in FOUR]
    verdict, text = readings(view, lambda w: counted(view.against(c, w, "KLFE", m, share=0.9) for c, m in cases), "all")
    gains = [1 - mean(view, c, "one", "KLFE") / mean(view, c, "one", m) for c, m in cases]
    most = max(view.favoured(found)[2] for found in view.choices().values())
    return verdict, (
        f"below 90 % of the other: {text}; reductions at σ = 1 {_percents(gains)} %; under the kindest of "
        f"{len(view.choices())} settings and choices of L and I' {100 * most:+.0f} % against the best of the four"
    )


def swiss_similar(view):
    """KLFE and LFE do not differ at I' = 2 and 3, all that LFE has beyond one."""
    verdict, text = readings(
        view,
        lambda w: counted(view.against(SWISS, w, "KLFE", "LFE", features=q) for q in (2, 3)),
        judge=rule.similar,
    )
    gaps = [need(view.versus(SWISS, "one", "LFE", q)).difference for q in (2, 3)]
    return verdict, f"at I' = 2 and 3: {text}; KLFE − LFE at σ = 1 {_points(gaps)} points"


def swiss_pca(view):
    """KLFE and LFE have lower errors than PCA at I' = 1, 2 and 3."""
    cells = [(m, q) for m in ("KLFE", "LFE") for q in (1, 2, 3)]
    verdict, text = readings(
        view, lambda w: counted(view.against(SWISS, w, m, "PCA", features=q) for m, q in cells), "all"
    )
    return verdict, f"KLFE and LFE at I' = 1, 2, 3 against PCA: {text} (PCA keeps all three dimensions at I' = 3)"


def swiss_one(view):
    """At I' = 1 KLFE has less than half the error of LFE and of PCA."""
    verdict, text = readings(
        view,
        lambda w: counted(view.against(SWISS, w, "KLFE", m, share=0.5, features=1) for m in ("LFE", "PCA")),
        "all",
    )
    errors = {m: mean(view, SWISS, "one", m, 1) for m in ("KLFE", "LFE", "PCA")}
    shown = ", ".join(f"{m} {100 * e:.1f} %" for m, e in errors.items())
    return verdict, f"below half of LFE's and PCA's error: {text}; at σ = 1 {shown}"


def robust(view):
    """KLFE's mean error varies by at most 5 points over I' ≤ 100 on the three simulated sets."""
    keep = [i for i, q in enumerate(view.grid) if q <= 100]
    spread = {}
    for m in ("KLFE", "KPCA", "FSKPCA"):
        curves = [need(view.curve(c, "one", m)).mean(axis=0)[keep] for c in (*SINE, SWISS)]
        spread[m] = [c.max() - c.min() for c in curves]
    small = [s <= 0.05 for s in spread["KLFE"]]
    late = [
        need(view.curve(c, "one", "KLFE")).mean(axis=0)[[i for i in keep if view.grid[i] >= 10]] for c in (*SINE, SWISS)
    ]
    text = "; ".join(f"{m} {_plain(s)}" for m, s in spread.items())
    return (
        rule.fact(sum(small), len(small)),
        f"range over I' = 1 to 100 in points (0 dB, −5 dB, roll), σ = 1: {text}; KLFE for I' ≥ 10: "
        f"{_plain([x.max() - x.min() for x in late])}",
    )


def pima_minimum(view):
    """KLFE has a lower error than the best of the four at every 30 ≤ I' ≤ 200."""
    points = [q for q in view.grid if 30 <= q <= 200]
    verdict, text = readings(view, lambda w: counted(against_best(view, PIMA, w, points)), "all")
    at = {m: mean(view, PIMA, "one", m, 30) for m in ("KLFE", *FOUR, "LFE")}
    shown = ", ".join(f"{m} {100 * e:.1f}" for m, e in at.items())
    return verdict, f"{len(points)} I', against the best of the four: {text}; at σ = 1 and I' = 30: {shown}"


def ring_half(view):
    """KLFE's error is below half of KKNN's, with I' by cross-validation."""
    verdict, text = readings(view, lambda w: counted([view.against(RING, w, "KLFE", "KKNN", share=0.5)]), "all")
    knn = mean(view, RING, "one", "KKNN")
    curve = need(view.curve(RING, "one", "KLFE")).mean(axis=0)[[i for i, q in enumerate(view.grid) if q <= 200]]
    halved = curve < knn / 2
    errors = ", ".join(f"{SIGMA[w]} {100 * mean(view, RING, w, 'KLFE'):.1f} %" for w in view.widths)
    return verdict, (
        f"below half of KKNN's {100 * knn:.1f} %: {text}; KLFE {errors}; at σ = 1 halved at {halved.sum()} of "
        f"{len(halved)} I'"
    )


def ring_gda(view):
    """GDA's error is below KKNN's."""
    verdict, text = readings(view, lambda w: counted([view.against(RING, w, "GDA", "KKNN")]), "all")
    errors = ", ".join(f"{SIGMA[w]} {100 * mean(view, RING, w, 'GDA'):.1f} %" for w in view.widths)
    return verdict, f"GDA {errors}, KKNN {100 * mean(view, RING, 'one', 'KKNN'):.1f} %: {text}"


def ring_poor(view):
    """KKNN's error is below those of FSKPCA and KPCA at every I' ≤ 300."""
    cells = [(m, q) for m in ("FSKPCA", "KPCA") for q in view.grid]
    verdict, text = readings(
        view, lambda w: counted(view.against(RING, w, "KKNN", m, features=q) for m, q in cells), "all"
    )
    chosen = {(m, w): mean(view, RING, w, m) for w in view.widths for m in ("FSKPCA", "KPCA")}
    shown = ", ".join(f"{m} {SIGMA[w]} {100 * e:.1f} %" for (m, w), e in chosen.items())
    return verdict, f"KKNN against both at {len(view.grid)} I': {text}; with I' by CV: {shown}"


def usps(view, other, judge):
    """Judge KLFE against another: three readings, two normalisations at σ = 1 and the tuned width."""
    cases = {"z-score, σ = 1": (USPS[0], "one"), "unit rows, σ = 1": (USPS[1], "one"), "σ by CV": (USPS[0], "cv")}
    tests = {name: need(view.versus(*at, other)) for name, at in cases.items()}
    verdicts = [judge(counted([t])) for t in tests.values()]
    text = ", ".join(f"{name} {_tested(d)}" for name, d in tests.items())
    return rule.joined(verdicts), f"KLFE − {other} in points (p / corrected): {text}"


def _tested(d):
    return f"{100 * d.difference:+.1f} ({d.p:.1g} / {d.p_corrected:.1g})"


def usps_pca(view):
    """KLFE is better than PCA."""
    return usps(view, "PCA", rule.better)


def usps_lfe(view):
    """KLFE and LFE do not differ."""
    return usps(view, "LFE", rule.similar)


def over(*others):
    """KLFE is better than the others on most of the six sets (times methods)."""

    def judge(view):
        return readings(view, lambda w: counted(view.versus(c, w, m) for c in SIX[w] for m in others))

    return judge


def tuning(view):
    """KLFE with the width by its own cross-validation is better than with σ = 1."""
    tests = [view.widths_apart(case) for case in SIX["cv"]]
    counts = counted(tests)
    gaps = [t.difference for t in tests]
    return rule.better(counts), f"{counts.text()}; σ by CV − σ = 1, six sets: {_points(gaps)} points"


# ---- theory ------------------------------------------------------------------------------------------------------


def invariances(view):
    """Return what the theory jobs gave."""
    found = list(view.results.find("invariance"))
    if not found:
        raise MissingError
    return found


def proposition_1(view):
    """Features' inner products agree to 1e-5 of the largest, and labels on 99.9 % of the test rows."""
    found = invariances(view)
    gaps = [max(r.result["gap"].values()) for r in found]
    same = [min(r.result["same"].values()) for r in found]
    good = [g < 1e-5 and s >= 0.999 for g, s in zip(gaps, same, strict=True)]
    return (
        rule.fact(sum(good), len(good)),
        f"KPCA, Gram–Schmidt, KOBL: largest difference {max(gaps):.0e}, same labels on at least "
        f"{100 * min(same):.1f} % of test rows",
    )


def lemma(p):
    """After a random rotation LFE's matrix is the rotated one to 1e-8."""

    def judge(view):
        found = [r.result["rotation"][f"p{p}"] for r in invariances(view)]
        gap, moved = max(f["gap"] for f in found), np.mean([f["moved"] for f in found])
        return rule.identity(gap, 1e-8), f"largest difference {gap:.0e}; {100 * moved:.0f} % of neighbours change"

    return judge


def proposition_2(view):
    """Check that a larger space's basis leaves the training rows' features as they are, to 1e-6, and adds none."""
    found = invariances(view)
    gap = max(r.result["gap_larger"] for r in found)
    counts = [
        (r.result["features"]["kpca"], r.result["features"]["larger"]) for r in found if r.settings["width"] == "one"
    ]
    sizes = ", ".join(f"{r.result['rank']} → {r.result['larger']}" for r in found if r.settings["width"] == "one")
    same = all(a == b for a, b in counts)
    return rule.worst(
        [rule.identity(gap, 1e-6), rule.identity(float(not same), 0)]
    ), f"basis {sizes}: features change by at most {gap:.0e}, their number {'stays' if same else 'changes'}"


def theorem_1(view):
    """No random matrix of norm one has a larger margin."""
    found = [r.result["optimum"] for r in invariances(view)]
    near = max(f["others"] / f["theorem"] for f in found)
    return rule.identity(
        near, 1 + 1e-12
    ), f"best of 2000 random and nearby matrices reaches {near:.7f} of the closed form's margin"


def negligible(view):
    """Less than 5 % of test rows' squared length is outside on every set at σ = 1."""
    found = {n: r for (n, how), r in view.normalisations().items() if how == "zscore"}
    share = {n: np.mean([x["outside"] for x in r]) for n, r in found.items()}
    if not share:
        raise MissingError
    small = [s < 0.05 for s in share.values()]
    text = ", ".join(f"{n} {100 * s:.0f} %" for n, s in share.items())
    return rule.fact(sum(small), len(small)), f"outside at σ = 1: {text}"


def slope(found, name):
    """Return the exponent of N between the two largest."""
    (n1, t1), (n2, t2) = list(found.items())[-2:]
    return float(np.log(t2[name] / t1[name]) / np.log(n2 / n1))


def complexity(view):
    """KLFE takes at most 5 times LFE's time at the largest N; readings: LFE direct, and through the N × N matrix."""
    found = view.times()
    if len(found) < 2:
        raise MissingError
    n, last = max(found.items())
    direct, dual = last["KLFE kpca"] / last["LFE"], last["KLFE kpca"] / last["LFE kpca"]
    return (
        rule.joined([rule.fact(int(r <= 5), 1) for r in (direct, dual)]),
        f"N = {n}: KLFE {direct:.0f} × LFE, {dual:.1f} × LFE through the N × N matrix; exponents of N: KLFE "
        f"{slope(found, 'KLFE kpca'):.1f}, LFE {slope(found, 'LFE'):.1f}",
    )


def cheaper(view):
    """KPCA takes longer than Gram–Schmidt on all rows at the two largest N."""
    found = view.times()
    if len(found) < 2:
        raise MissingError
    last = list(found.items())[-2:]
    ratio = [t["KLFE gram-schmidt"] / t["KLFE kpca"] for _, t in last]
    kobl = [t["KLFE kobl"] / t["KLFE kpca"] for _, t in last]
    return (
        rule.cheaper(1 / r for r in ratio),
        f"time relative to KPCA at N = {last[0][0]}, {last[1][0]}: Gram–Schmidt {_ratios(ratio)}; KOBL of "
        f"{view.settings['kobl']} {_ratios(kobl)}",
    )


def _points(gaps):
    return ", ".join(f"{100 * g:+.1f}" for g in gaps)


def _percents(values):
    return ", ".join(f"{100 * v:+.0f}" for v in values)


def _plain(values):
    return ", ".join(f"{100 * v:.1f}" for v in values)


def _ratios(values):
    return ", ".join(f"{v:.2f}" for v in values)


CLAIMS = [
    ("Twin sine: KLFE has the lowest error of all schemes for I' ≥ 10", "5.2, Fig. 5", twin_minimum),
    ("Twin sine: KLFE reduces the error by more than 10 % against the other four", "5.2, Fig. 5", twin_tenth),
    ("Swiss roll: KLFE is similar to LFE", "5.2, Fig. 6", swiss_similar),
    ("Swiss roll: KLFE and LFE are better than PCA", "5.2, Fig. 6", swiss_pca),
    ("Swiss roll: with one dimension KLFE is good and the other two much worse", "5.2, Fig. 6", swiss_one),
    ("Simulated sets: KLFE is robust against the number of features", "5.2", robust),
    ("Diabetes: KLFE has the lowest error of all schemes for I' ≥ 30", "5.3, Fig. 7a", pima_minimum),
    ("Ringnorm: KLFE cuts KKNN's error by more than 50 %", "5.3, Fig. 7b", ring_half),
    ("Ringnorm: GDA is good too", "5.3, Fig. 7b", ring_gda),
    ("Ringnorm: FSKPCA and KPCA are worse than KKNN", "5.3, Fig. 7b", ring_poor),
    ("USPS: KLFE is better than PCA", "5.3, Fig. 8", usps_pca),
    ("USPS: KLFE is similar to LFE", "5.3, Fig. 8", usps_lfe),
    ("KLFE is superior to the existing algorithms in most cases", "5.3, abstract", over("LFE", *FOUR)),
    ("KLFE performs better than LFE", "2, 4.3", over("LFE")),
    ("KLFE is superior over KPCA, since it uses the labels", "4.3", over("KPCA")),
    ("KLFE outperforms kernel Relief (FSKPCA)", "2, 4.3", over("FSKPCA")),
    ("Better tuning would improve KLFE (here: the width)", "4.4", tuning),
    ("Theorem 1: the eigenvectors with σ > 0 give the largest margin", "3.3", theorem_1),
    ("Lemma 1: LFE does not depend on the basis (neighbours by L2, as its proof has them)", "4.2", lemma(2)),
    ("Lemma 1 with neighbours by L1, as the definition (5) has them", "3.1, 4.2", lemma(1)),
    ("Proposition 1: KLFE does not depend on the basis", "4.2", proposition_1),
    ("Proposition 2: the training rows' span is enough", "4.2", proposition_2),
    ("What a test row has outside that span is negligible", "4.2", negligible),
    ("KLFE's complexity is comparable to LFE's", "4.4, eq. 68", complexity),
    ("Gram–Schmidt instead of KPCA reduces it", "4.4", cheaper),
]
