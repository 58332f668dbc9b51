"""The thesis' sentences; every verdict comes from the shared rule in lab/verdicts.py.

"Honest" is: standardised columns, basis and selection on training rows; for numbers also raw columns. "All rows" is the
reading that the thesis' Table 4.1 suggests: raw columns, basis and selection on all rows.
"""

from __future__ import annotations

import numpy as np
from eks_view import CLASSES, POOR, PROTOCOLS, THESIS_NUMBERS, View
from lab import Report, paired, summary
from lab import verdicts as rule

HONEST = ("standard", "honest", "linear")
LEAKY = ("raw", "all", "rbf")
HONEST_NUMBERS = (("standard", "honest", "ols"), ("raw", "honest", "ols"))
TUNED_NUMBERS = ("standard", "tuned", "ols")
LEAKY_NUMBERS = ("raw", "all", "ols")


def judge(view: View, report: Report) -> None:
    """Judge every sentence that can be measured."""
    theorem(view, report)
    classes(view, report)
    numbers(view, report)
    sensitivity(view, report)
    reasons(view, report)
    future(view, report)


def theorem(view: View, report: Report) -> None:
    """Theorem 1, Step 3 and equation 3.3."""
    told = [(r.settings["columns"], r.result) for r in view.results.find("theorem")]
    if told:
        worst = max(max(max(r["training error"]), max(r["cross error"])) for _, r in told)
        svm = max(max(r["SVM difference"]) for c, r in told if "SVM difference" in r and c == "standard")
        lost = {
            c: 100 * np.mean([np.mean(r["lost on new rows"]) for k, r in told if k == c]) for c in ("standard", "raw")
        }
        # Holds: inner products of training rows, and of new rows with them, are kernel values to 1e-5.
        report.claim(
            "Inner products in EKS are kernel values",
            "Theorem 1",
            rule.identity(worst, 1e-5),
            f"largest error {worst:.0e}; linear SVM in EKS = kernel SVM to {svm:.0e}; but new rows lie partly outside: "
            f"{lost['standard']:.0f} % of their squared length is lost (standardised), {lost['raw']:.0f} % (raw)",
        )
        same = {
            c: [np.mean(r["same kept"]) for k, r in told if k == c and "same kept" in r] for c in ("standard", "raw")
        }
        # Holds: Relief keeps the same coordinates either way on every set and in both scalings; partly: in one of them.
        full = {c: min(v) > 0.99 for c, v in same.items()}
        report.claim(
            "The kernel in place of inner products does not change what is selected",
            "3.2, Step 3",
            rule.fact(sum(full.values()), len(full)),
            f"Relief keeps {100 * min(same['standard']):.0f} % the same on standardised columns, "
            f"{100 * min(same['raw']):.0f} % at worst on raw ones, where all kernel distances round to one number",
        )
    cells = [c for r in view.results.find("passes", protocol="honest") for c in r.result.values()]
    if cells:
        loss = {who: np.median([np.median(c[who]["loss"]) for c in cells]) for who in ("eq. 3.3", "one pass")}
        # Holds: the loss is below 1e-6 in the median over sets and widths.
        report.claim(
            "Equation 3.3 gives the coefficients of the orthogonal basis",
            "eq. 3.3",
            rule.identity(loss["eq. 3.3"], 1e-6),
            f"median loss {loss['eq. 3.3']:.0e} as printed, {loss['one pass']:.0e} by Algorithm 1: K(x⁽ᵏ⁾, x⁽ʲ⁾) must "
            "be K(x⁽ⁱ⁾, x⁽ʲ⁾)",
        )


def classes(view: View, report: Report) -> None:
    """Figures 4.1–4.3."""
    tests = view.tests(numbers=False)
    if not tests:
        return
    every = [(who, "baseline") for who in CLASSES]
    honest, leaky = view.against(tests, HONEST, every), view.against(tests, LEAKY, every)

    # What comes out only with all rows seen does not count: it is the leak's doing.
    report.claim(
        "Most transformed algorithms are more accurate than the baseline",
        "4.2.1, Figs 4.1–4.3",
        rule.better(honest),
        f"honest {honest.text()}; all rows, raw {leaky.text()}",
    )
    gains = {}
    for key, reading, base in (
        ("own", HONEST, HONEST),
        ("untuned", HONEST, LEAKY),
        ("leaky", LEAKY, LEAKY),
    ):
        gains[key] = max(
            view.mean(*t, *reading[:2], "F-score", reading[2]) / view.mean(*t, *base[:2], "baseline", "") - 1
            for t in tests
        )
    # Readings: over the SVM on the same columns, honestly, and over one on raw columns.
    report.claim(
        "F-score improves the baseline by up to 50–60 %",
        "4.2.1",
        rule.joined([rule.fact(int(gains[k] >= 0.5), 1) for k in ("own", "untuned")]),
        f"largest gain {round(100 * gains['own'], 1) + 0.0:+.1f} % over the same SVM on standardised columns; "
        f"{100 * gains['untuned']:+.0f} % over one on raw columns; {100 * gains['leaky']:+.0f} % with all rows, raw",
    )
    honest, leaky = (view.first(tests, r, "F-score", CLASSES) for r in (HONEST, LEAKY))
    report.claim(
        "F-score is the best of the six",
        "4.2.1",
        rule.better(honest, "all"),
        f"against the best other: honest {honest.text()}; all rows, raw {leaky.text()}",
    )
    weak = [("F-score", "MI"), ("F-score", "Laplacian")]
    honest, leaky = view.against(tests, HONEST, weak), view.against(tests, LEAKY, weak)
    report.claim(
        "Mutual information and Laplacian score do not suit EKS",
        "4.2.1",
        rule.better(honest),
        f"F-score against them: honest {honest.text()}; all rows, raw {leaky.text()}",
    )
    relief = [("RReliefF", "Relief"), ("RReliefF", "ReliefF")]
    honest, leaky = view.against(tests, HONEST, relief), view.against(tests, LEAKY, relief)
    report.claim(
        "RReliefF on class codes is better than Relief and ReliefF",
        "4.2.1",
        rule.better(honest, "all"),
        f"honest {honest.text()}; all rows, raw {leaky.text()}",
    )


def numbers(view: View, report: Report) -> None:
    """Figures 4.4–4.6."""
    tests = view.tests(numbers=True)
    if not tests:
        return
    readings = {"standardised": HONEST_NUMBERS[0], "raw": HONEST_NUMBERS[1]}
    if view.scores(*tests[0], *TUNED_NUMBERS[:2], "LASSO", TUNED_NUMBERS[2]):
        readings["width tuned"] = TUNED_NUMBERS

    def told(counts) -> str:
        words = {name: counts(reading).text() for name, reading in readings.items()}
        words["not counted, all rows, raw"] = counts(LEAKY_NUMBERS).text()
        return "; ".join(f"{name}: {text}" for name, text in words.items())

    def basic(reading):
        return view.against(tests, reading, [(w, "baseline") for w in ("F-score", "FPR", "FDR", "FWE")], low=True)

    report.claim(
        "Basic algorithms perform well in regression",
        "4.2.1, Figs 4.4–4.6",
        rule.joined([rule.better(basic(r)) for r in readings.values()]),
        f"F-score and its three tests against linear regression: {told(basic)}",
    )

    def lasso(reading):
        return view.first(tests, reading, "LASSO", THESIS_NUMBERS, low=True)

    def plain(reading):
        return view.against(tests, reading, [("LASSO", "baseline")], low=True)

    report.claim(
        "LASSO is always the best in regression",
        "4.2.1",
        rule.joined([rule.better(lasso(r), "all") for r in readings.values()]),
        f"against the best of the other six: {told(lasso)}; against linear regression: {told(plain)}",
    )
    poor = {p: _poor(view, "RReliefF", p) for p in PROTOCOLS}
    # Readings: honest folds, and folds where basis or selection saw the test rows.
    report.claim(
        "RReliefF gives very poor models on some folds",
        "4.2.1",
        rule.joined([rule.fact(int(p > 0), 1) for p in (poor["honest"], max(poor.values()))]),
        f"MSE over {POOR:.0f} times the baseline's on {100 * poor['honest']:.0f} % of honest folds, "
        f"{100 * poor['basis']:.0f} % with the basis of all rows, {100 * poor['all']:.0f} % with the selection too",
    )
    plain = {p: _poor(view, "plain LASSO", p) for p in PROTOCOLS}
    random = {p: _poor(view, "LASSO", p) for p in PROTOCOLS}
    worse, better = max(plain.values()), max(random.values())
    blown = _blown(view)
    # Three things are said: plain LASSO has very poor models, randomised LASSO has none in the readings, and none at
    # any other width.
    report.claim(
        "Plain LASSO has RReliefF's problem, randomised LASSO removes it",
        "4.2.2",
        rule.fact((worse > 0) + (better == 0) + (not blown), 3),
        f"very poor models, all rows seen: plain {100 * plain['all']:.0f} %, randomised {100 * random['all']:.0f} %; "
        f"honest: {100 * plain['honest']:.0f} % and {100 * random['honest']:.0f} %"
        + (
            "; but with all rows and a narrower kernel randomised LASSO has it too: " + ", ".join(blown)
            if blown
            else ""
        ),
    )
    differences = []
    for name in view.whole():
        a, b = (view.capped(name, basis, "LASSO") if view.numbers(name) else [] for basis in ("gram-schmidt", "kpca"))
        if a and b:
            level = np.mean(b)
            differences.append(paired(np.array(a) / level, np.array(b) / level, view.ratio))
    if differences:
        counts = rule.count(differences, low=True)
        shown = ", ".join(f"{100 * d.difference:+.0f} %" for d in differences)
        report.claim(
            "That L1 is not invariant to rotation is no major problem for LASSO",
            "3.2",
            rule.as_good(counts, rule.RELATIVE),
            f"MSE after Gram–Schmidt against KPCA at equal vectors: {shown}; {counts.text()}",
        )


def _blown(view: View) -> list[str]:
    """Name the widths at which randomised LASSO's mean error, with all rows seen, is very poor."""
    out = []
    for record in view.results.find("passes", protocol="all"):
        name, size = record.settings["name"], record.settings["size"]
        base = view.mean(name, size, "raw", "honest", "baseline", "")
        for width, cell in record.result.items():
            if "LASSO, ols" in cell["mercer"] and (error := np.mean(cell["mercer"]["LASSO, ols"])) > POOR * base:
                out.append(f"{name} MSE {error:.0e} at γ = {float(width):g}/p")
    return out


def _poor(view: View, who: str, protocol: str, model: str = "ols") -> float:
    """Return the share of very poor models over the tests and both scalings."""
    shares = [view.poor(*t, c, protocol, who, model) for t in view.tests(numbers=True) for c in ("raw", "standard")]
    told = [s for s in shares if s is not None]
    return float(np.mean(told)) if told else float("nan")


def _spread(cells: list) -> tuple[float, float]:
    """Return the range of the means over their mean, and its standard error."""
    told = sorted((summary(values) for values in cells), key=lambda s: s.mean)
    level = np.mean([s.mean for s in told])
    return (told[-1].mean - told[0].mean) / level, np.nan_to_num(np.hypot(told[-1].se, told[0].se)) / level


def _wider(spreads: dict) -> tuple[rule.Counts, str]:
    """Count sets where the first range is wider, clear where by more than two standard errors; and put it in words."""
    gaps = {n: (a[0] - b[0], 2 * np.hypot(a[1], b[1])) for n, (a, b) in spreads.items()}
    wider, narrower = ([n for n, (g, _) in gaps.items() if s * g > 0] for s in (1, -1))
    clear = {n for n, (g, wide) in gaps.items() if abs(g) > wide}
    counts = rule.Counts(len(gaps), len(wider), len(clear & {*wider}), len(narrower), len(clear & {*narrower}))
    each = ", ".join(f"{n} {100 * a[0]:.0f} against {100 * b[0]:.0f} %" for n, (a, b) in spreads.items())
    return counts, f"wider range: {counts.text()}: {each}"


def sensitivity(view: View, report: Report) -> None:
    """How much depends on rows and on the number of features."""
    told = {r.settings["name"]: r.result for r in view.results.find("sizes")}
    if not told:
        return
    by = {n: {w: _spread([c[w] for c in r["size"].values()]) for w in ("F-score", "baseline")} for n, r in told.items()}
    counts, words = _wider({n: (s["F-score"], s["baseline"]) for n, s in by.items()})
    report.claim(
        "EKS is more sensitive to the size of the set than the baseline",
        "4.2.1",
        rule.better(counts),
        words,
    )
    group = {k: [by[n]["F-score"][0] for n in told if view.numbers(n) == k] for k in (False, True)}
    if group[True] and group[False]:
        # Two things: the smallest range of a set of numbers is above the largest of one of classes, and so the means.
        full, part = min(group[True]) > max(group[False]), np.mean(group[True]) > np.mean(group[False])
        report.claim(
            "More so in regression than in classification",
            "4.2.1",
            rule.fact(int(full) + int(part), 2),
            f"mean range {100 * np.mean(group[True]):.0f} % of MSE, {100 * np.mean(group[False]):.0f} % of accuracy",
        )
    shares = {n: tuple(_spread(list(r["share"][w].values())) for w in ("EKS", "columns")) for n, r in told.items()}
    counts, words = _wider(shares)
    report.claim(
        "EKS is more sensitive to the number of selected features",
        "4.2.2",
        rule.better(counts),
        f"over shares kept, coordinates against columns: {words}",
    )
    enough = {}
    for name, r in told.items():
        cells = r["share"]["EKS"]
        whole = cells[max(cells, key=float)]
        for share in sorted(cells, key=float):
            d = paired(cells[share], whole, view.ratio)
            worse = d.difference > 0 if view.numbers(name) else d.difference < 0
            if not (d.clear and worse):
                enough[name] = float(share)
                break
    # Holds: on every set, half of the coordinates or fewer are not clearly worse than all of them.
    small = [n for n, s in enough.items() if s <= 0.5]
    report.claim(
        "N features are more than enough",
        "4.2.2",
        rule.fact(len(small), len(told)),
        "not clearly worse than all: " + ", ".join(f"{n} {100 * s:.0f} %" for n, s in enough.items()),
    )
    useful = {name: list(r["useful"].values()) for name, r in told.items()}
    fell = [name for name, u in useful.items() if u[-1] < u[0]]
    # The share of coordinates with p < 0.05 falls from the smallest to the whole set.
    report.claim(
        "With more rows the share of useless features may grow",
        "5",
        rule.fact(len(fell), len(told)),
        "useful share, 100 rows to all: "
        + ", ".join(f"{n} {100 * u[0]:.0f} to {100 * u[-1]:.0f} %" for n, u in useful.items()),
    )


def reasons(view: View, report: Report) -> None:
    """Judge the explanations of 4.2.2."""
    lossy, largest = [], 0.0
    for record in view.results.find("passes", protocol="honest"):
        number = view.numbers(record.settings["name"])
        label = "LASSO, ols" if number else "F-score, linear"
        for cell in record.result.values():
            loss = float(np.median(cell["one pass"]["loss"]))
            largest = max(largest, loss)
            if loss > 1e-6:
                d = paired(cell["mercer"][label], cell["one pass"][label], view.ratio)
                lossy.append(rule.count([d], low=number))
    if lossy:
        counts = rule.total(lossy)
        report.claim(
            "Loss of orthogonality makes features useless",
            "4.2.2",
            rule.better(counts),
            f"{counts.sets} cases with a loss from 1e-6 to {largest:.1g}: mercer's basis against one pass "
            f"{counts.text()}",
        )
    ways = ("RReliefF", "plain LASSO")
    if view.tests(numbers=True) and view.cell(*view.tests(numbers=True)[0], "raw", "all"):
        seen = [(w, p) for w in ways for p in ("basis", "all")]
        with_them = np.nanmean([_poor(view, *s) for s in seen])
        without = np.nanmean([_poor(view, *s, "ols, training rows") for s in seen])
        # Two things: there are very poor models, and at least half remain without the coordinates of held-out rows, so
        # that noisy rows may be the cause.
        report.claim(
            "Noisy rows leave bad features, which spoil models",
            "4.2.2",
            rule.fact(int(with_them > 0) + int(without > with_them / 2), 2),
            f"basis of all rows: very poor models on {100 * with_them:.0f} % of folds (RReliefF, plain LASSO), on "
            f"{100 * without:.0f} % without the coordinates of rows held out",
        )
    pairs = [("F-score", w) for w in CLASSES if w != "F-score"]
    a = view.against(view.tests(numbers=False), HONEST, pairs)
    pairs = [("F-score", w) for w in ("MI", "RReliefF", "LASSO")]
    b = [view.against(view.tests(numbers=True), r, pairs, low=True) for r in HONEST_NUMBERS]
    counts = rule.total([a, *b])
    if counts.sets:
        report.claim(
            "The simpler the algorithm, the better",
            "4.2.2",
            rule.better(counts),
            f"F-score against the others: classes {a.text()}; numbers, standardised {b[0].text()}, raw {b[1].text()}",
        )


def future(view: View, report: Report) -> None:
    """Judge what the thesis expects of larger sets."""
    for record in view.results.find("cost"):
        sizes = record.settings["sizes"]
        times = [record.result["gram-schmidt"][str(n)] for n in sizes]
        slope = np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2])
        kobl = record.result["kobl"][str(sizes[-1])]
        # At least quadratic.
        report.claim(
            "The time to generate EKS becomes very large",
            "5",
            rule.grows([slope], 2, at_least=True),
            f"grows as rows^{slope:.1f}; at {sizes[-1]} rows {times[-1] / kobl:.0f} times kobl's with "
            f"{record.settings['capped']} vectors",
        )
    ways = [b for b in ("kobl", "rpcholesky", "csi") if b in view.settings["bases"]]
    ordered = {b: _chosen(view, b, "gram-schmidt") for b in ways}
    if not sum(c.sets for c in ordered.values()):
        return
    uniform = {b: _chosen(view, b, "nystrom") for b in ways} if "nystrom" in view.settings["bases"] else {}
    readings = [rule.total(told.values()) for told in (ordered, uniform) if told]
    report.claim(
        "Important data points would give a better EKS",
        "5",
        rule.joined([rule.better(c) for c in readings]),
        "against rows in order at equal numbers: "
        + "; ".join(f"{b} {c.text()}" for b, c in ordered.items())
        + (". Against rows at random: " + "; ".join(f"{b} {c.text()}" for b, c in uniform.items()) if uniform else ""),
    )


def _chosen(view: View, basis: str, than: str) -> rule.Counts:
    """Count over sets and numbers of vectors as `View.against` does."""
    return rule.total(
        rule.count([view.chosen(name, m, basis, than)], low=view.numbers(name))
        for name in view.whole()
        for m in view.settings["points_components"]
        if view.at(name, m, than)
    )
