"""The paper's sentences and what became of them; every verdict follows from the results by the rule beside it."""

from __future__ import annotations

import numpy as np
from klfe_view import FOUR, View
from lab import paired

SINE = [("twin-sine-0", "zscore"), ("twin-sine-5", "zscore")]
SWISS, PIMA, RING = ("swiss-roll", "zscore"), ("pima", "zscore"), ("ringnorm", "zscore")
USPS = [("usps", "zscore"), ("usps", "unit")]
# Six sets. At σ = 1 USPS has unit rows: with columns of variance one its kernel matrix is the identity.
SIX = {"one": [*SINE, SWISS, PIMA, RING, USPS[1]], "loo": [*SINE, SWISS, PIMA, RING, USPS[0]]}


SIGMA = {"one": "σ = 1", "loo": "σ by LOO"}


class MissingError(Exception):
    """A set that the claim needs was skipped."""


def verdict(all_of_it, part_of_it):
    """Return the verdict."""
    return "holds" if all_of_it else "holds partly" if part_of_it else "does not hold"


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


def lowest_points(view, case, width, points):
    """Count the I' at which KLFE's mean error is below that of all four others, and where that is clear."""
    below = clear = 0
    for q in points:
        tests = [need(view.versus(case, width, m, q)) for m in FOUR]
        below += all(t.difference < 0 for t in tests)
        clear += all(t.difference < 0 and t.clear for t in tests)
    return below, clear


def twin_minimum(view):
    """Hold if lowest at all 10 ≤ I' ≤ 100 of both sets; partly: at half of them."""
    points = [q for q in view.grid if 10 <= q <= 100]
    told = {w: [lowest_points(view, c, w, points) for c in SINE] for w in view.widths}
    n = len(points)
    text = "; ".join(
        f"{SIGMA[w]}: lowest at {a[0]} of {n} I' (0 dB), {b[0]} of {n} (−5 dB), clear at {a[1]} and {b[1]}"
        for w, (a, b) in told.items()
    )
    won = [x[0] for x in told["one"]]
    return verdict(min(won) == n, sum(won) >= n), text


def twin_tenth(view):
    """Hold if the mean error for 10 ≤ I' ≤ 100 is over 10 % below each of the four on both sets; partly: half."""
    keep = [i for i, q in enumerate(view.grid) if 10 <= q <= 100]
    gains = {}
    for case in SINE:
        errors = {m: need(view.curve(case, "one", m))[:, keep].mean() for m in ("KLFE", *FOUR)}
        gains[case] = [1 - errors["KLFE"] / errors[m] for m in FOUR]
    every = [g for gain in gains.values() for g in gain]
    most = max(view.favoured(found)[2] for found in view.choices().values())
    told = "; ".join(
        f"{db}: " + ", ".join(f"{m} {100 * g:+.0f} %" for m, g in zip(FOUR, gains[case], strict=True))
        for db, case in zip(("0 dB", "−5 dB"), SINE, strict=True)
    )
    return (
        verdict(min(every) > 0.1, sum(g > 0.1 for g in every) >= 4),
        f"reduction against {told}; under the kindest of {len(view.choices())} settings and choices of L and I' "
        f"{100 * most:+.0f} % against the best of the four",
    )


def swiss_similar(view):
    """Hold if within one point of LFE at I' = 2 and 3, all that LFE has beyond one; partly: at one of them."""
    gaps = [need(view.versus(SWISS, "one", "LFE", q)).difference for q in (2, 3)]
    close = [abs(g) <= 0.01 for g in gaps]
    return verdict(all(close), any(close)), f"KLFE − LFE at I' = 2, 3: {_points(gaps)} points"


def swiss_pca(view):
    """Hold if KLFE and LFE below PCA at I' = 1, 2, 3; partly: in at least three of the six."""
    told = {
        m: [mean(view, SWISS, "one", m, q) - mean(view, SWISS, "one", "PCA", q) for q in (1, 2, 3)]
        for m in ("KLFE", "LFE")
    }
    won = sum(g < 0 for gaps in told.values() for g in gaps)
    text = "; ".join(f"{m} − PCA at I' = 1, 2, 3: {_points(gaps)}" for m, gaps in told.items())
    return verdict(won == 6, won >= 3), f"{text} points (PCA keeps all three dimensions at I' = 3)"


def swiss_one(view):
    """Hold if at I' = 1 KLFE has at most half the error of LFE and of PCA, both clear; partly: of one."""
    errors = {m: mean(view, SWISS, "one", m, 1) for m in ("KLFE", "LFE", "PCA")}
    good = [errors["KLFE"] <= errors[m] / 2 and view.versus(SWISS, "one", m, 1).clear for m in ("LFE", "PCA")]
    return verdict(all(good), any(good)), "at I' = 1: " + ", ".join(f"{m} {100 * e:.1f} %" for m, e in errors.items())


def robust(view):
    """Hold if KLFE's mean error varies by at most 5 points over I' ≤ 100 on the three simulated sets; partly: one."""
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
        verdict(all(small), any(small)),
        f"range over I' = 1 to 100 in points (0 dB, −5 dB, roll): {text}; KLFE for I' ≥ 10: "
        f"{_plain([x.max() - x.min() for x in late])}",
    )


def pima_minimum(view):
    """Hold if lowest of the five at all 30 ≤ I' ≤ 200; partly: at half of them."""
    points = [q for q in view.grid if 30 <= q <= 200]
    below, clear = lowest_points(view, PIMA, "one", points)
    loo = lowest_points(view, PIMA, "loo", points)
    at = {m: mean(view, PIMA, "one", m, 30) for m in ("KLFE", *FOUR, "LFE")}
    return (
        verdict(below == len(points), below >= len(points) / 2),
        f"lowest at {below} of {len(points)} I', clear at {clear} (σ by LOO: {loo[0]}, {loo[1]}); at I' = 30: "
        + ", ".join(f"{m} {100 * e:.1f}" for m, e in at.items()),
    )


def ring_half(view):
    """Hold if below half of KKNN's error at the chosen I' and at half of all I' ≤ 200; partly: at any of these."""
    knn = mean(view, RING, "one", "KKNN")
    curve = need(view.curve(RING, "one", "KLFE")).mean(axis=0)[[i for i, q in enumerate(view.grid) if q <= 200]]
    chosen, loo = mean(view, RING, "one", "KLFE"), mean(view, RING, "loo", "KLFE")
    halved = curve < knn / 2
    last = max((q for q, h in zip(view.grid, halved, strict=False) if h), default=0)
    return (
        verdict(chosen < knn / 2 and halved.mean() >= 0.5, chosen < knn / 2 or halved.any()),
        f"KKNN {100 * knn:.1f} %, KLFE {100 * chosen:.1f} % (σ by LOO {100 * loo:.1f} %); at σ = 1 halved at "
        f"{halved.sum()} of {len(halved)} I', up to I' = {last}",
    )


def ring_gda(view):
    """Hold if GDA's error is below KKNN's by Student's test; partly: in the mean."""
    a, b = (need(view.chosen(RING, "one", m)) for m in ("GDA", "KKNN"))
    test = paired(a, b, view.ratio(RING))
    good = test.difference < 0 and test.p < 0.05
    loo = mean(view, RING, "loo", "GDA")
    return (
        verdict(good, test.difference < 0),
        f"GDA {100 * a.mean():.1f} %, KKNN {100 * b.mean():.1f} %, p {test.p:.2g}, corrected {test.p_corrected:.2g}; "
        f"σ by LOO {100 * loo:.1f} %",
    )


def ring_poor(view):
    """Hold if FSKPCA and KPCA above KKNN at all I' ≤ 300; partly: at half of them taken together."""
    knn = mean(view, RING, "one", "KKNN")
    worse = {m: need(view.curve(RING, "one", m)).mean(axis=0) > knn for m in ("FSKPCA", "KPCA")}
    share = np.mean([*worse.values()])
    chosen = {m: mean(view, RING, "one", m) for m in worse}
    loo = {m: mean(view, RING, "loo", m) for m in worse}
    return (
        verdict(share == 1, share >= 0.5),
        "; ".join(
            f"{m} worse at {w.sum()} of {len(w)} I'; with I' by CV {100 * chosen[m]:.1f} % (σ by LOO "
            f"{100 * loo[m]:.1f} %)"
            for m, w in worse.items()
        ),
    )


def usps(view, other, rule):
    """Judge KLFE against another under both normalisations at σ = 1."""
    tests = [need(view.versus(case, "one", other)) for case in USPS]
    loo = need(view.versus(USPS[0], "loo", other))
    text = ", ".join(f"{how} {_tested(d)}" for how, d in zip(("z-score", "unit rows"), tests, strict=True))
    good = [rule(d) for d in tests]
    return (
        verdict(all(good), any(good)),
        f"KLFE − {other} in points (p / corrected), σ = 1: {text}; σ by LOO, z-score: {_tested(loo)}",
    )


def _tested(d):
    return f"{100 * d.difference:+.1f} ({d.p:.1g} / {d.p_corrected:.1g})"


def usps_pca(view):
    """Hold if below PCA by Student's test under both normalisations; partly: under one."""
    return usps(view, "PCA", lambda d: d.difference < 0 and d.p < 0.05)


def usps_lfe(view):
    """Hold if within one point of LFE under both normalisations; partly: under one."""
    return usps(view, "LFE", lambda d: abs(d.difference) <= 0.01)


def tally(view, width, others):
    """Count KLFE's wins over the six sets, those by Student's test and clear ones, then losses and clear losses."""
    tests = [need(view.versus(c, width, m)) for c in SIX[width] for m in others]
    wins = [t for t in tests if t.difference < 0]
    losses = [t for t in tests if t.difference > 0]
    student = sum(t.p < 0.05 for t in wins)
    return len(wins), student, sum(t.clear for t in wins), len(losses), sum(t.clear for t in losses), len(tests)


def _tally(view, others):
    text = []
    for width in view.widths:
        won, student, clear, lost, clear_lost, n = tally(view, width, others)
        text.append(
            f"{SIGMA[width]}: better in {won} of {n} ({student} by Student's test, {clear} clear), worse in {lost} "
            f"({clear_lost} clear)"
        )
    return "; ".join(text)


def most_cases(view):
    """Hold if more than half of sets × methods are wins by Student's test at σ = 1; partly: wins in the mean."""
    won, student, _, _, _, n = tally(view, "one", ("LFE", *FOUR))
    return verdict(student > n / 2, won > n / 2), _tally(view, ("LFE", *FOUR))


def over(other):
    """Hold if better on five of six sets, half by Student's test, nowhere clearly worse, at both widths.

    Partly: better on more than half at one of them.
    """

    def judge(view):
        good, part = [], []
        for width in view.widths:
            won, student, _, _, clear_lost, n = tally(view, width, (other,))
            good.append(won >= n - 1 and student >= n / 2 and clear_lost == 0)
            part.append(won > n / 2)
        return verdict(all(good), any(part)), _tally(view, (other,))

    return judge


def tuning(view):
    """Hold if the tuned width is better than σ = 1 on five of six sets; partly: on more than half."""
    cases = SIX["loo"]
    gaps = [mean(view, c, "loo", "KLFE") - mean(view, c, "one", "KLFE") for c in cases]
    won = sum(g < 0 for g in gaps)
    return verdict(won >= len(cases) - 1, won > len(cases) / 2), f"σ by LOO − σ = 1, six sets: {_points(gaps)} points"


# ---- theory ------------------------------------------------------------------------------------------------------


def invariances(view):
    """Return what the theory jobs gave."""
    found = list(view.results.find("invariance"))
    if not found:
        raise MissingError
    return found


def proposition_1(view):
    """Hold if features' inner products agree to 1e-5 of the largest and labels on 99.9 % of test rows; partly: half."""
    found = invariances(view)
    gaps = [max(r.result["gap"].values()) for r in found]
    same = [min(r.result["same"].values()) for r in found]
    good = [g < 1e-5 and s >= 0.999 for g, s in zip(gaps, same, strict=True)]
    return (
        verdict(all(good), np.mean(good) >= 0.5),
        f"KPCA, Gram–Schmidt, KOBL: largest difference {max(gaps):.0e}, same labels on at least "
        f"{100 * min(same):.1f} % of test rows",
    )


def lemma(p):
    """Hold if after a random rotation LFE's matrix is the rotated one to 1e-8."""

    def judge(view):
        found = [r.result["rotation"][f"p{p}"] for r in invariances(view)]
        gap, moved = max(f["gap"] for f in found), np.mean([f["moved"] for f in found])
        return verdict(gap < 1e-8, False), f"largest difference {gap:.0e}; {100 * moved:.0f} % of neighbours change"

    return judge


def proposition_2(view):
    """Hold if a larger space's basis leaves the training rows' features as they are, to 1e-6, and adds none."""
    found = invariances(view)
    gap = max(r.result["gap_larger"] for r in found)
    counts = [
        (r.result["features"]["kpca"], r.result["features"]["larger"]) for r in found if r.settings["width"] == "one"
    ]
    sizes = ", ".join(f"{r.result['rank']} → {r.result['larger']}" for r in found if r.settings["width"] == "one")
    same = all(a == b for a, b in counts)
    return verdict(
        gap < 1e-6 and same, gap < 1e-6
    ), f"basis {sizes}: features change by at most {gap:.0e}, their number {'stays' if same else 'changes'}"


def theorem_1(view):
    """Hold if no random matrix of norm one has a larger margin."""
    found = [r.result["optimum"] for r in invariances(view)]
    good = all(f["others"] <= f["theorem"] * (1 + 1e-12) for f in found)
    near = max(f["others"] / f["theorem"] for f in found)
    return verdict(
        good, False
    ), f"best of 2000 random and nearby matrices reaches {near:.7f} of the closed form's margin"


def negligible(view):
    """Hold if less than 5 % of test rows' squared length is outside on every set at σ = 1; partly: on some."""
    found = {n: r for (n, how), r in view.normalisations().items() if how == "zscore"}
    share = {n: np.mean([x["outside"] for x in r]) for n, r in found.items()}
    if not share:
        raise MissingError
    small = [s < 0.05 for s in share.values()]
    text = ", ".join(f"{n} {100 * s:.0f} %" for n, s in share.items())
    return verdict(all(small), any(small)), f"outside at σ = 1: {text}"


def slope(found, name):
    """Return the exponent of N between the two largest."""
    (n1, t1), (n2, t2) = list(found.items())[-2:]
    return float(np.log(t2[name] / t1[name]) / np.log(n2 / n1))


def complexity(view):
    """Hold if KLFE takes at most 5 times LFE's time at the largest N; partly: of LFE through the N × N matrix."""
    found = view.times()
    if len(found) < 2:
        raise MissingError
    n, last = max(found.items())
    direct, dual = last["KLFE kpca"] / last["LFE"], last["KLFE kpca"] / last["LFE kpca"]
    return (
        verdict(direct <= 5, dual <= 5),
        f"N = {n}: KLFE {direct:.0f} × LFE, {dual:.1f} × LFE through the N × N matrix; exponents of N: KLFE "
        f"{slope(found, 'KLFE kpca'):.1f}, LFE {slope(found, 'LFE'):.1f}",
    )


def cheaper(view):
    """Hold if Gram–Schmidt on all rows takes at most 80 % of KPCA's time at the two largest N; partly: at one."""
    found = view.times()
    if len(found) < 2:
        raise MissingError
    last = list(found.items())[-2:]
    ratio = [t["KLFE gram-schmidt"] / t["KLFE kpca"] for _, t in last]
    kobl = [t["KLFE kobl"] / t["KLFE kpca"] for _, t in last]
    good = [r <= 0.8 for r in ratio]
    return (
        verdict(all(good), any(good)),
        f"time relative to KPCA at N = {last[0][0]}, {last[1][0]}: Gram–Schmidt {_ratios(ratio)}; KOBL of "
        f"{view.settings['kobl']} {_ratios(kobl)}",
    )


def _points(gaps):
    return ", ".join(f"{100 * g:+.1f}" for g in gaps)


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
    ("KLFE is superior to the existing algorithms in most cases", "5.3, abstract", most_cases),
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
