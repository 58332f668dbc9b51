"""The thesis' sentences, and a rule for each that says what became of it.

"Honest" is: standardised columns, basis and selection on training rows; for numbers also raw columns. "All rows" is the
reading that the thesis' Table 4.1 suggests: raw columns, basis and selection on all rows.
"""

from __future__ import annotations

import numpy as np
from eks_view import CLASSES, POOR, PROTOCOLS, THESIS_NUMBERS, View
from lab import Report, paired, summary

HONEST = ("standard", "honest", "linear")
LEAKY = ("raw", "all", "rbf")
HONEST_NUMBERS = (("standard", "honest", "ols"), ("raw", "honest", "ols"))
LEAKY_NUMBERS = ("raw", "all", "ols")
UNTESTED = "cannot be tested"


def verdict(full: bool, part: bool) -> str:
    """Return the words for a rule's two answers."""
    return "holds" if full else "holds partly" if part else "does not hold"


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
            verdict(worst < 1e-5, False),
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
            verdict(all(full.values()), any(full.values())),
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
            verdict(loss["eq. 3.3"] < 1e-6, False),
            f"median loss {loss['eq. 3.3']:.0e} as printed, {loss['one pass']:.0e} by Algorithm 1: K(x⁽ᵏ⁾, x⁽ʲ⁾) must "
            "be K(x⁽ⁱ⁾, x⁽ʲ⁾)",
        )


def _words(counts: tuple[int, int, int, int]) -> str:
    n, wins, clear, lost = counts
    return f"{wins} of {n} ({clear} clear, {lost} clearly worse)"


def classes(view: View, report: Report) -> None:
    """Figures 4.1–4.3."""
    tests = view.tests(numbers=False)
    if not tests:
        return
    every = [(who, "baseline") for who in CLASSES]
    honest, leaky = view.against(tests, HONEST, every), view.against(tests, LEAKY, every)

    # Holds: honestly, more than half beat the SVM on the same columns, and clear wins outnumber clear losses; partly:
    # more than half by the mean. What comes out only with all rows seen does not hold: it is the leak's doing.
    report.claim(
        "Most transformed algorithms are more accurate than the baseline",
        "4.2.1, Figs 4.1–4.3",
        verdict(honest[1] > honest[0] / 2 and honest[2] > honest[3], honest[1] > honest[0] / 2),
        f"honest {_words(honest)}; all rows, raw {_words(leaky)}",
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
    # Holds: F-score gains half of the accuracy of the SVM on the same columns, honestly; partly: of one on raw columns.
    report.claim(
        "F-score improves the baseline by up to 50–60 %",
        "4.2.1",
        verdict(gains["own"] >= 0.5, gains["untuned"] >= 0.5),
        f"largest gain {round(100 * gains['own'], 1) + 0.0:+.1f} % over the same SVM on standardised columns; "
        f"{100 * gains['untuned']:+.0f} % over one on raw columns; {100 * gains['leaky']:+.0f} % with all rows, raw",
    )
    others = [("F-score", w) for w in CLASSES if w != "F-score"]
    firsts = {}
    for key, reading in (("honest", HONEST), ("leaky", LEAKY)):
        tops = [max(CLASSES, key=lambda w: view.mean(*t, *reading[:2], w, reading[2])) for t in tests]
        firsts[key] = tops.count("F-score")
    # Holds: F-score has the best mean on every test, honestly; partly: on most.
    report.claim(
        "F-score is the best of the six",
        "4.2.1",
        verdict(firsts["honest"] == len(tests), firsts["honest"] > len(tests) / 2),
        f"best on {firsts['honest']} of {len(tests)} honestly, on {firsts['leaky']} with all rows, raw; honestly above "
        f"another one {_words(view.against(tests, HONEST, others))}",
    )
    weak = [("F-score", "MI"), ("F-score", "Laplacian")]
    honest, leaky = view.against(tests, HONEST, weak), view.against(tests, LEAKY, weak)
    # Holds: F-score is clearly better than the two in most comparisons, honestly; partly: in one.
    report.claim(
        "Mutual information and Laplacian score do not suit EKS",
        "4.2.1",
        verdict(honest[2] > honest[0] / 2, honest[2] > 0),
        f"F-score is better: honest {_words(honest)}; all rows, raw {_words(leaky)}",
    )
    relief = [("RReliefF", "Relief"), ("RReliefF", "ReliefF")]
    honest, leaky = view.against(tests, HONEST, relief), view.against(tests, LEAKY, relief)
    # Holds: RReliefF wins all honest comparisons and one of them clearly; partly: most, and one of them clearly.
    report.claim(
        "RReliefF on class codes is better than Relief and ReliefF",
        "4.2.1",
        verdict(honest[1] == honest[0] and honest[2] > 0, honest[1] > honest[0] / 2 and honest[2] > 0),
        f"honest {_words(honest)}; all rows, raw {_words(leaky)}",
    )


def numbers(view: View, report: Report) -> None:
    """Figures 4.4–4.6."""
    tests = view.tests(numbers=True)
    if not tests:
        return
    basic = [(who, "baseline") for who in ("F-score", "FPR", "FDR", "FWE")]
    told = [view.against(tests, r, basic, low=True) for r in (*HONEST_NUMBERS, LEAKY_NUMBERS)]
    most = [c[1] > c[0] / 2 for c in told]
    # Holds: F-score and its three tests beat linear regression in most cases in both honest readings; partly: in any.
    report.claim(
        "Basic algorithms perform well in regression",
        "4.2.1, Figs 4.4–4.6",
        verdict(all(most[:2]), any(most)),
        f"better than linear regression: standardised {_words(told[0])}; raw {_words(told[1])}; all rows, raw "
        f"{_words(told[2])}",
    )
    firsts = []
    for reading in (*HONEST_NUMBERS, LEAKY_NUMBERS):
        tops = [min(THESIS_NUMBERS, key=lambda w: view.mean(*t, *reading[:2], w, reading[2])) for t in tests]
        firsts.append(tops.count("LASSO"))
    told = [view.against(tests, r, [("LASSO", "baseline")], low=True) for r in (*HONEST_NUMBERS, LEAKY_NUMBERS)]
    # Holds: randomised LASSO has the smallest error of the seven on every test in both honest readings; partly: in most
    # of all cases.
    report.claim(
        "LASSO is always the best in regression",
        "4.2.1",
        verdict(firsts[0] == firsts[1] == len(tests), sum(firsts) > 1.5 * len(tests)),
        f"best on {firsts[0]} of {len(tests)} standardised, {firsts[1]} raw, {firsts[2]} with all rows, raw; better "
        f"than linear regression: {_words(told[0])}, {_words(told[1])}, {_words(told[2])}",
    )
    poor = {p: _poor(view, "RReliefF", p) for p in PROTOCOLS}
    # Holds: honest folds have very poor models too; partly: only where basis or selection saw the test rows.
    report.claim(
        "RReliefF gives very poor models on some folds",
        "4.2.1",
        verdict(poor["honest"] > 0, max(poor.values()) > 0),
        f"MSE over {POOR:.0f} times the baseline's on {100 * poor['honest']:.0f} % of honest folds, "
        f"{100 * poor['basis']:.0f} % with the basis of all rows, {100 * poor['all']:.0f} % with the selection too",
    )
    plain = {p: _poor(view, "plain LASSO", p) for p in PROTOCOLS}
    random = {p: _poor(view, "LASSO", p) for p in PROTOCOLS}
    worse, better = max(plain.values()), max(random.values())
    blown = _blown(view)
    # Holds: plain LASSO has very poor models in some reading, and randomised LASSO in none and at no width; partly:
    # fewer than plain LASSO in the readings.
    report.claim(
        "Plain LASSO has RReliefF's problem, randomised LASSO removes it",
        "4.2.2",
        verdict(worse > 0 and better == 0 and not blown, better < worse),
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
            differences.append((paired(a, b, view.ratio), np.mean(b)))
    if differences:
        # Holds: LASSO after Gram–Schmidt is not clearly worse than after KPCA, another rotation, on any set.
        bad = sum(d.clear and d.difference > 0 for d, _ in differences)
        shown = ", ".join(f"{100 * d.difference / m:+.0f} %" for d, m in differences)
        report.claim(
            "That L1 is not invariant to rotation is no major problem for LASSO",
            "3.2",
            verdict(bad == 0, bad < len(differences)),
            f"MSE after Gram–Schmidt against KPCA at equal vectors: {shown}; {bad} of {len(differences)} clearly worse",
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


def _wider(spreads: dict) -> tuple[int, int, str]:
    """Count sets where the first range is wider, and wider by more than two standard errors; and put them in words."""
    wider = [n for n, (a, b) in spreads.items() if a[0] > b[0]]
    clearly = [n for n, (a, b) in spreads.items() if a[0] - b[0] > 2 * np.hypot(a[1], b[1])]
    each = ", ".join(f"{n} {100 * a[0]:.0f} against {100 * b[0]:.0f} %" for n, (a, b) in spreads.items())
    return len(wider), len(clearly), f"wider range on {len(wider)} of {len(spreads)} ({len(clearly)} clearly): {each}"


def sensitivity(view: View, report: Report) -> None:
    """How much depends on rows and on the number of features."""
    told = {r.settings["name"]: r.result for r in view.results.find("sizes")}
    if not told:
        return
    by = {n: {w: _spread([c[w] for c in r["size"].values()]) for w in ("F-score", "baseline")} for n, r in told.items()}
    wider, clearly, words = _wider({n: (s["F-score"], s["baseline"]) for n, s in by.items()})
    # Holds: F-score's range over sizes is wider than the baseline's on every set, and clearly so on half of them;
    # partly: on every set.
    report.claim(
        "EKS is more sensitive to the size of the set than the baseline",
        "4.2.1",
        verdict(wider == len(told) and clearly >= len(told) / 2, wider == len(told)),
        words,
    )
    group = {k: [by[n]["F-score"][0] for n in told if view.numbers(n) == k] for k in (False, True)}
    if group[True] and group[False]:
        # Holds: the smallest range of a set of numbers is above the largest of one of classes; partly: the mean is.
        full, part = min(group[True]) > max(group[False]), np.mean(group[True]) > np.mean(group[False])
        report.claim(
            "More so in regression than in classification",
            "4.2.1",
            verdict(full, part),
            f"mean range {100 * np.mean(group[True]):.0f} % of MSE, {100 * np.mean(group[False]):.0f} % of accuracy",
        )
    shares = {n: tuple(_spread(list(r["share"][w].values())) for w in ("EKS", "columns")) for n, r in told.items()}
    wider, clearly, words = _wider(shares)
    # Holds: the range over shares kept is wider than for the plain columns on every set, clearly on half of them;
    # partly: clearly on one.
    report.claim(
        "EKS is more sensitive to the number of selected features",
        "4.2.2",
        verdict(wider == len(told) and clearly >= len(told) / 2, clearly > 0),
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
        verdict(len(small) == len(told), len(small) > 0),
        "not clearly worse than all: " + ", ".join(f"{n} {100 * s:.0f} %" for n, s in enough.items()),
    )
    useful = {name: list(r["useful"].values()) for name, r in told.items()}
    fell = [name for name, u in useful.items() if u[-1] < u[0]]
    # Holds: the share of coordinates with p < 0.05 falls from the smallest to the whole set everywhere; partly: on one.
    report.claim(
        "With more rows the share of useless features may grow",
        "5",
        verdict(len(fell) == len(told), len(fell) > 0),
        "useful share, 100 rows to all: "
        + ", ".join(f"{n} {100 * u[0]:.0f} to {100 * u[-1]:.0f} %" for n, u in useful.items()),
    )


def reasons(view: View, report: Report) -> None:
    """Judge the explanations of 4.2.2."""
    lossy, clear, largest = 0, 0, 0.0
    for record in view.results.find("passes", protocol="honest"):
        number = view.numbers(record.settings["name"])
        label = "LASSO, ols" if number else "F-score, linear"
        for cell in record.result.values():
            loss = float(np.median(cell["one pass"]["loss"]))
            largest = max(largest, loss)
            if loss > 1e-6:
                d = paired(cell["one pass"][label], cell["mercer"][label], view.ratio)
                lossy, clear = lossy + 1, clear + (d.clear and (d.difference > 0) == number)
    if lossy:
        # Holds: where one pass loses more than 1e-6, its models are clearly worse than mercer's in most cases.
        report.claim(
            "Loss of orthogonality makes features useless",
            "4.2.2",
            verdict(clear > lossy / 2, clear > 0),
            f"{lossy} cases with a loss from 1e-6 to {largest:.1g}: one pass clearly worse than mercer's in {clear}",
        )
    ways = ("RReliefF", "plain LASSO")
    if view.tests(numbers=True) and view.cell(*view.tests(numbers=True)[0], "raw", "all"):
        seen = [(w, p) for w in ways for p in ("basis", "all")]
        with_them = np.nanmean([_poor(view, *s) for s in seen])
        without = np.nanmean([_poor(view, *s, "ols, training rows") for s in seen])
        # Holds: very poor models remain without the coordinates of held-out rows, so that noisy rows may be the cause;
        # partly: there are bad features, but at least half of the poor models go with those coordinates.
        report.claim(
            "Noisy rows leave bad features, which spoil models",
            "4.2.2",
            verdict(with_them > 0 and without > with_them / 2, with_them > 0),
            f"basis of all rows: very poor models on {100 * with_them:.0f} % of folds (RReliefF, plain LASSO), on "
            f"{100 * without:.0f} % without the coordinates of rows held out",
        )
    pairs = [("F-score", w) for w in CLASSES if w != "F-score"]
    a = view.against(view.tests(numbers=False), HONEST, pairs)
    pairs = [("F-score", w) for w in ("MI", "RReliefF", "LASSO")]
    b = [view.against(view.tests(numbers=True), r, pairs, low=True) for r in HONEST_NUMBERS]
    n, wins, clear, lost = np.sum([a, *b], axis=0)
    if n:
        # Holds: F-score, the simplest, wins three quarters of all honest comparisons, and more clearly than it loses
        # clearly; partly: more than half, and so.
        report.claim(
            "The simpler the algorithm, the better",
            "4.2.2",
            verdict(wins > 0.75 * n and clear > lost, wins > n / 2 and clear > lost),
            f"F-score is better: classes {_words(a)}; numbers, standardised {_words(b[0])}, raw {_words(b[1])}",
        )


def future(view: View, report: Report) -> None:
    """Judge what the thesis expects of larger sets."""
    for record in view.results.find("cost"):
        sizes = record.settings["sizes"]
        times = [record.result["gram-schmidt"][str(n)] for n in sizes]
        slope = np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2])
        kobl = record.result["kobl"][str(sizes[-1])]
        # Holds: time grows faster than the square of the rows.
        report.claim(
            "The time to generate EKS becomes very large",
            "5",
            verdict(slope > 2, slope > 1.5),
            f"grows as rows^{slope:.1f}; at {sizes[-1]} rows {times[-1] / kobl:.0f} times kobl's with "
            f"{record.settings['capped']} vectors",
        )
    ways = [b for b in ("kobl", "rpcholesky", "csi") if b in view.settings["bases"]]
    ordered = {b: _chosen(view, b, "gram-schmidt") for b in ways}
    total = np.sum(list(ordered.values()), axis=0) if ordered else [0]
    if not total[0]:
        return
    uniform = {b: _chosen(view, b, "nystrom") for b in ways} if "nystrom" in view.settings["bases"] else {}
    drawn = np.sum(list(uniform.values()), axis=0) if uniform else total
    # Holds: chosen rows are clearly better than rows in order, and than rows at random, in a quarter of the cases, and
    # clearly worse in fewer than a tenth; partly: more clear wins than clear losses against rows in order.
    full = all(t[2] >= t[0] / 4 and t[3] < t[0] / 10 for t in (total, drawn))
    report.claim(
        "Important data points would give a better EKS",
        "5",
        verdict(full, total[2] > total[3]),
        "better than rows in order at equal numbers: "
        + "; ".join(f"{b} {_words(c)}" for b, c in ordered.items())
        + (". Than rows at random: " + "; ".join(f"{b} {_words(c)}" for b, c in uniform.items()) if uniform else ""),
    )


def _chosen(view: View, basis: str, than: str) -> tuple[int, int, int, int]:
    """Count over sets and numbers of vectors as `View.against` does."""
    n = wins = clear = lost = 0
    for name in view.whole():
        for m in view.settings["points_components"]:
            if view.at(name, m, than):
                d = view.chosen(name, m, basis, than)
                better = d.difference < 0 if view.numbers(name) else d.difference > 0
                n, wins = n + 1, wins + better
                clear, lost = clear + (d.clear and better), lost + (d.clear and not better)
    return n, wins, clear, lost
