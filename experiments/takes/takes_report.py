"""The tables and claims of TAKES."""

import numpy as np
import takes_draw
from lab import Report, Results, paired, summary
from lab.report import best
from lab.verdicts import better, cheaper, count, fact, grows, identity, joined
from takes_common import NAMES, PAPER
from takes_gather import CURVES, MAIN, METHODS, MODES, costs, largest, runs, tally

FACTOR = 1.5  # a cost is that of the paper when it is within this factor
SCALINGS = {"standard": "standardised", "unit": "[0, 1]", "raw": "not scaled"}


def write(results: Results, report: Report) -> None:
    """Make everything from the results alone."""
    found = {scaling: costs(results, scaling) for scaling in SCALINGS}
    accuracies = {mode: runs(results, mode) for mode in MODES}
    clock = {r.settings["n"]: r.result for r in results.find("times")}
    table_2(report, found)
    accuracy_tables(report, accuracies)
    slopes = time_tables(report, clock)
    hilbert = results.one("hilbert")
    report.table(
        "hilbert",
        ("way of counting the vectors of H(100)", "vectors"),
        [
            ("the paper", "about 18"),
            ("singular values above n·eps of the largest", hilbert["singular"]),
            ("QR with column pivots, diagonal above n·eps of the first", hilbert["pivoted_qr"]),
            ("`kobl`, H as the kernel matrix, threshold 0", hilbert["kobl_zero"]),
            ("`gram-schmidt`, H as the kernel matrix", hilbert["gram_schmidt"]),
            ("`kobl`, H as the kernel matrix, f(t) = t", hilbert["kobl_rule"]),
            ("`kobl`, HᵀH as the kernel matrix (columns as images), f(t) = t", hilbert["kobl_rule_columns"]),
            ("plain Gram–Schmidt on the columns, no threshold", hilbert["plain_dim"]),
        ],
        f"The last basis' loss of orthogonality ‖WᵀW − I‖ is {hilbert['plain_loss']:.0f}.",
    )
    cost_claims(report, results, found, hilbert)
    accuracy_claims(report, accuracies)
    time_claims(report, clock, slopes)
    thyroid_table(report, results)
    theta_table(report, results)
    rivals = [m for m in METHODS if m != "TAKES"]
    report.resolution({NAMES[n]: [r.compare("TAKES", m) for m in rivals] for n, r in accuracies[MAIN].items()})
    takes_draw.costs(report, found)
    takes_draw.figure_2(report, accuracies[MAIN])
    takes_draw.figure_3(report, accuracies[MAIN])
    takes_draw.times(report, clock)


def table_2(report: Report, found: dict) -> None:
    """Put the paper's costs beside ours, then what else was measured of the bases."""
    main = found["standard"]
    rows = []
    for name, c in main.items():
        n, m, kobl, kgs, kpca, kda = PAPER[name]
        pairs = ((kobl, "kobl"), (kgs, "plain"), (kpca, "kpca"), (kda, "kda"))
        cells = [cell for paper, key in pairs for cell in (f"{paper:.3f}", cost_text(c[key]))]
        rows.append((NAMES[name], n, m, *cells))
    methods = ("KOBL", "KGS, all rows", "KPCA, all rows", "KDA")
    report.table(
        "table2",
        ("set", "rows", "KOBL's dimension", *(f"{m}, {who}" for m in methods for who in ("paper", "ours"))),
        rows,
        "E(M), mean over splits ± standard error; 0 is below 0.0005. KGS: plain, one pass, nothing left out, equation "
        "(19)'s second line. KDA, ours: the c − 1 directions that there are; the paper's has KOBL's dimension.",
    )
    rows = [
        (NAMES[name], PAPER[name][1], *(c[key].text(3, 1) for key in ("kobl", "kgs_at_m", "kpca_at_m")))
        for name, c in main.items()
    ]
    report.table("equal", ("set", "dimension", "KOBL", "KGS", "KPCA"), rows, "E(M) at KOBL's dimension for all three.")
    rows = []
    for name in main:
        cells = [NAMES[name], f"{PAPER[name][2]:.3f}"]
        for c in found.values():
            if name in c:
                cells += [f"{c[name]['gamma'].mean:.2g}", c[name]["kobl"].text(3, 1)]
                cells.append(f"{c[name]['kobl'].mean / PAPER[name][2]:.2f}")
            else:
                cells += ["–", "–", "–"]
        rows.append(cells)
    head = ["set", "E(M), paper"]
    for words in SCALINGS.values():
        head += [f"γ, {words}", "E(M)", "ours/paper"]
    report.table("scalings", head, rows, "γ: mean over splits of the width at which KOBL keeps the paper's dimension.")
    candidates(report, found)
    rows = [
        (
            NAMES[name],
            f"{c['m'].mean:.0f}",
            f"{c['rde'].mean:.0f}",
            f"{c['m_at_scale'].mean:.0f} of {PAPER[name][0]}",
            f"{c['kobl_test'].mean:.3f}",
            f"{c['bound'].mean:.2f}",
            f"{c['kobl_loss'].mean:.0e}",
            f"{c['kgs_dim'].mean:.0f}",
            f"{c['kgs_loss'].mean:.0e}",
            f"{c['plain_dim'].mean:.0f}",
            f"{c['plain_loss'].mean:.0e}",
            f"{c['plain_span'].mean:.1g}",
        )
        for name, c in main.items()
    ]
    report.table(
        "bases",
        ("set", "KOBL's dimension", "relevant dimension (RDE)", "KOBL's at γ = `scale`", "E(M) on test rows",
         "E(M) / Theorem 1's bound", "loss, KOBL", "KGS keeps", "loss, KGS", "plain KGS keeps", "loss, plain KGS",
         "its distance to the span"),
        rows,
        "Standardised, means over splits. Loss: ‖WᵀW − I‖ (Frobenius).",
    )  # fmt: skip


def candidates(report: Report, found: dict) -> None:
    """Show what comes near the paper's KGS and KPCA columns."""
    rows = []
    for name in found["standard"]:
        cells = [NAMES[name]]
        for column, key in ((3, "kgs_at_m"), (4, "kpca_centred")):
            cells.append(f"{PAPER[name][column]:.3f}")
            cells += [f"{c[name][key].mean:.3f}" if name in c else "–" for c in found.values()]
        rows.append(cells)
    words = list(SCALINGS.values())
    factors = []
    for column, key in ((3, "kgs_at_m"), (4, "kpca_centred"), (3, "kobl")):
        ratios = [c[key].mean / PAPER[name][column] for name, c in found["standard"].items()]
        factors.append(max((max(r, 1 / r) for r in ratios), default=float("nan")))
    report.table(
        "candidates",
        ("set", "KGS, paper", *(f"KGS at KOBL's dimension, {w}" for w in words), "KPCA, paper",
         *(f"centred KPCA, mean forgotten, {w}" for w in words)),
        rows,
        f"Standardised, the farthest is off by a factor {factors[0]:.2f} (KGS) and {factors[1]:.2f} (KPCA). For scale: "
        f"KOBL's own cost is off the paper's KGS column by {factors[2]:.2f} at most.",
    )  # fmt: skip


def accuracy_tables(report: Report, accuracies: dict) -> None:
    """Figures 2 and 3 as numbers, in every setting, and who wins."""
    rows = []
    for name, r in accuracies[MAIN].items():
        test, (top, at) = r.compare("TAKES", "KGS+KFFS"), r.best("KGS+KFFS")
        rows.append(
            (
                NAMES[name],
                summary(r.accuracy("TAKES")).text(),
                f"{np.mean(r.readings['features']):.0f}",
                summary(r.accuracy("KGS+KFFS")).text(),
                f"{r.features('KGS+KFFS'):.0f}",
                f"{summary(top).text()} at {at}",
                f"{100 * test.difference:+.1f} ± {100 * test.se:.1f}",
                f"{test.p:.3f}",
                f"{test.p_corrected:.3f}",
            )
        )
    report.table(
        "figure2",
        ("set", "TAKES", "features", "KGS+KFFS, inner folds choose", "features (median)", "KGS+KFFS, best on test",
         "TAKES − KGS+KFFS (inner folds)", "p, Student", "p, corrected"),
        rows,
        "Accuracy of 1-NN in percent ± standard error, standardised columns, the width of Table 2.",
    )  # fmt: skip
    for mode, name in zip(MODES, ("figure3", "figure3_raw", "figure3_tuned"), strict=True):
        accuracy_table(report, name, accuracies[mode])
    against = [("TAKES", rival) for rival in METHODS if rival != "TAKES"] + [("KGS+KFFS", "FSKGS")]
    rows = []
    for method, rival in against:
        cells = [tally(accuracies[mode], method, rival).text() for mode in MODES]
        top = tally(accuracies[MAIN], method, rival, best_on_test=True).text() if rival in CURVES else "–"
        rows.append((f"{method} against {rival}", *cells, top))
    head = ("comparison", *MODES, "standardised, the rival's best on test")
    report.table("wins", head, rows, "In brackets: how many are clear by the corrected test at 5 %.")
    reading_table(report, accuracies[MAIN])


def accuracy_table(report: Report, name: str, found: dict) -> None:
    """Show all methods of one setting: what inner folds chose, then the best on the test rows."""
    rows = []
    for key, r in found.items():
        honest = [summary(r.accuracy(m)) for m in METHODS]
        cells = best([s.mean for s in honest], [s.text() for s in honest], low=False)
        rows.append((NAMES[key], *cells, *(f"{summary(t).text()} at {at}" for t, at in map(r.best, CURVES))))
    if found:
        means = [np.mean([r.accuracy(m).mean() for r in found.values()]) for m in METHODS]
        tops = [np.mean([r.best(m)[0].mean() for r in found.values()]) for m in CURVES]
        cells = best(means, [f"{100 * m:.1f}" for m in means], low=False)
        rows.append(("mean", *cells, *(f"{100 * t:.1f}" for t in tops)))
    report.table(
        name,
        ("set", "KNNC (no features)", "KOBL (no selection)", *METHODS[2:], *(f"{m}, best on test" for m in CURVES)),
        rows,
    )


def reading_table(report: Report, found: dict) -> None:
    """Show TAKES and KGS+KFFS under every reading of KFFS."""
    keys = [k for k in next(iter(found.values())).readings if not k.startswith("features")] if found else []
    rows = []
    for key in keys:
        cells = [r.curve(key).mean(0).max() if r.curve(key).ndim > 1 else r.curve(key).mean() for r in found.values()]
        rows.append((key, *(f"{100 * c:.1f}" for c in cells), f"{100 * np.mean(cells):.1f}"))
    report.table(
        "readings",
        ("reading", *(NAMES[name] for name in found), "mean"),
        rows,
        "KGS+KFFS: at the number of features that is best on the test rows.",
    )


def thyroid_table(report: Report, results: Results) -> None:
    """Show Thyroid with three classes beside normal against the rest, in every setting."""
    rows = []
    for mode in MODES:
        for classes in (3, 2):
            found = runs(results, mode, classes).get("new_thyroid")
            if found is not None:
                honest = [summary(found.accuracy(m)) for m in METHODS]
                cells = best([s.mean for s in honest], [s.text() for s in honest], low=False)
                rows.append((f"{mode}, {classes} classes", *cells))
    report.table("thyroid", ("setting", "KNNC (no features)", "KOBL (no selection)", *METHODS[2:]), rows)
    against = [("TAKES", rival) for rival in METHODS if rival != "TAKES"] + [("KGS+KFFS", "FSKGS")]
    rows = [
        (f"{method} against {rival}", *(tally(runs(results, mode, 2), method, rival).text() for mode in MODES))
        for method, rival in against
    ]
    report.table("wins_two", ("comparison, Thyroid with two classes", *MODES), rows)


def theta_table(report: Report, results: Results) -> None:
    """Show TAKES with each theta and with the one that inner folds choose; say so where it was not run."""
    found = {r.settings["name"]: (r.settings["thetas"], r.result) for r in results.find("theta")}
    if not found:
        note = "Not run yet: it needs a build of the library with `TAKES(theta=…)`."
        report.table("theta", ("set", "theta"), [], note)
        return
    thetas = next(iter(found.values()))[0]
    rows, tests = [], {t: [] for t in [*thetas[1:], "inner folds"]}
    for name, (_, r) in found.items():
        alone = np.array(r["alone"]) / r["test"]
        columns = [*alone.T, np.array(r["honest"]) / r["test"]]
        shown = [summary(c) for c in columns]
        cells = best([s.mean for s in shown], [s.text() for s in shown], low=False)
        rows.append((NAMES[name], *cells, f"{np.median(r['chosen']):g}"))
        for t, column in zip(tests, columns[1:], strict=True):
            tests[t].append(paired(column, columns[0], r["test"] / r["train"]))
    words = [f"{t}: {count(told).text()}, {better(count(told))}" for t, told in tests.items()]
    head = ("set", *(f"theta = {t}" for t in thetas), "by inner folds", "chosen (median)")
    note = f"Accuracy of 1-NN on TAKES' features in percent ± standard error. Against theta = 1: {'; '.join(words)}."
    report.table("theta", head, rows, note)


def time_tables(report: Report, clock: dict) -> dict[str, float]:
    """Show seconds against rows, and the exponents."""
    methods = [m for m in next(iter(clock.values()), {}) if m != "m"]
    rows = []
    for n, result in clock.items():
        cells = [f"{result[m]['cpu']:.3g} ({result[m]['wall']:.3g})" if m in result else "–" for m in methods]
        rows.append((n, result["m"], *cells))
    report.table(
        "times",
        ("rows", "dimension by the rule", *methods),
        rows,
        "Processor seconds of all threads (in brackets: seconds on the clock), median of the repeats, one machine that "
        "was shared with other work; compare within a row. TAKES has 200 base vectors.",
    )
    slopes = {m: slope([(n, r[m]["cpu"]) for n, r in clock.items() if m in r]) for m in methods}
    claimed = {"TAKES": "N²d", "TAKES, by the rule": "N²d", "FSKGS": "N³", "FSKPCA": "N³ + N²d", "KDA": "N³"}
    rows = [(m, f"O({claimed[m]})" if m in claimed else "–", f"{s:.1f}") for m, s in slopes.items()]
    note = "Exponent of the rows: the slope between logarithms over the last three sizes."
    report.table("exponents", ("method", "paper", "measured exponent"), rows, note)
    return slopes


def slope(points: list[tuple[int, float]]) -> float:
    """Fit log time against log rows over the three largest sizes; small ones are all overhead."""
    n, t = np.log(sorted(points)[-3:]).T
    return float(np.polyfit(n, t, 1)[0])


def cost_text(s) -> str:
    """Write a cost; what is only rounding is 0."""
    return "0" if s.mean < 5e-4 else s.text(3, 1)


def cost_claims(report: Report, results: Results, found: dict, hilbert: dict) -> None:
    """Judge section 3 and Table 2, in the standardised setting unless said otherwise."""
    main = found["standard"]
    sets = len(main)
    if not main:
        return
    fits = sum(c["kobl"].n for by_set in found.values() for c in by_set.values())
    ratios = [c["kobl"].mean / PAPER[name][2] for name, c in main.items()]
    near = sum(1 / FACTOR <= r <= FACTOR for r in ratios)
    figure = f"ours/paper {min(ratios):.2f} to {max(ratios):.2f}; within a factor {FACTOR} on {near} of {sets}"
    report.claim("KOBL's E(M) is 0.043 to 0.145 at its dimensions", "Table 2", fact(near, sets), figure)

    def lower(*rivals: str) -> int:
        return sum(all(c["kobl"].mean < c[r].mean for r in rivals) for c in main.values())

    wins, equal = lower("plain", "kpca", "kda"), lower("kgs_at_m", "kpca_at_m")
    readings = [fact(wins, sets, "almost all"), fact(equal, sets, "almost all")]
    figure = (
        f"smallest on {wins} of {sets} at the paper's dimensions, where E of KGS and KPCA is rounding; "
        f"at equal dimension below KGS on {lower('kgs_at_m')}, below KPCA on {lower('kpca_at_m')}"
    )
    text = "KOBL has the smallest E(M) under most conditions (5 of 6 sets)"
    report.claim(text, "4.1, Table 2", joined(readings), figure)
    wins = lower("kpca")
    figure = f"on {wins} of {sets} with all dimensions, on {lower('kpca_at_m')} at KOBL's dimension"
    report.claim("KPCA's E(M) is higher than KOBL's on all sets", "4.1", fact(wins, sets), figure)
    wins, values = lower("kda"), [c["kda"].mean for c in main.values()]
    figure = f"{min(values):.2f} to {max(values):.2f} with the c − 1 directions there are (paper: 0.50 to 0.95)"
    report.claim("KDA's E(M) is poor", "4.1, Table 2", fact(wins, sets), figure)
    counts = {w: sum(c["plain_loss"].mean > 1e-3 for c in found[s].values()) for s, w in SCALINGS.items()}
    lost, again = counts["standardised"], sum(c["kgs_loss"].mean > 1e-3 for c in main.values())
    figure = "one pass loses more than 1e-3: " + ", ".join(f"{w} {k} of {sets}" for w, k in counts.items())
    figure += f"; two passes and leaving out what rounding cannot hold: {again}"
    text = "With all rows as dimensions KGS loses orthogonality"
    report.claim(text, "3, 4.1", fact(lost, sets, "most"), figure)
    theorems(report, results, fits)
    rank = hilbert["singular"]
    figure = f"numerical rank {rank}, by pivoted QR {hilbert['pivoted_qr']}; KOBL's rule keeps {hilbert['kobl_rule']}"
    text = "H(100) has about 18 independent vectors"
    report.claim(text, "3", identity(abs(rank - 18), 1), figure)
    shares = [PAPER[name][1] / PAPER[name][0] for name in main]
    scale = [c["m_at_scale"].mean / PAPER[name][0] for name, c in main.items()]
    verdict = fact(sum(share <= 0.1 for share in shares), sets)
    figure = (
        f"d/N is {min(shares):.2f} to {max(shares):.2f} in Table 2, {min(scale):.2f} to {max(scale):.2f} at γ = scale"
    )
    report.claim("d ≪ N (read as d ≤ N/10)", "3.1.2, 3.1.3", verdict, figure)


def theorems(report: Report, results: Results, fits: int) -> None:
    """Judge what must hold on every fit, in every scaling: orthogonality and the two theorems."""
    loss, bound, rise = (largest(results, key) for key in ("kobl_loss", "bound", "largest_rise"))
    figure = f"loss at most {loss:.0e} over {fits} fits"
    report.claim("KOBL's basis is orthogonal", "3.1", identity(loss, 1e-8), figure)
    figure = f"E(M) at most {bound:.2f} of the bound over {fits} fits"
    report.claim("Theorem 1: E(M) < r₁₁ f(d/N)", "3.1.2", identity(bound, 1.0), figure)
    figure = f"no rise in {fits} fits" if rise <= 1e-12 else f"largest rise {rise:.1e}"
    report.claim("Theorem 2: pivot norms never rise", "3.1.3", identity(rise, 1e-12), figure)


def accuracy_claims(report: Report, accuracies: dict) -> None:
    """Judge Figures 2 and 3; the paper gives neither scaling nor width, so the settings are readings of it."""

    def judge(text: str, where: str, method: str, rival: str, on: str, but: str = "") -> None:
        counted = {
            mode: tally({k: r for k, r in found.items() if k != but}, method, rival)
            for mode, found in accuracies.items()
        }
        words = [f"{mode}: {counts.text()}" for mode, counts in counted.items()]
        report.claim(text, where, joined([better(c, on) for c in counted.values()]), "; ".join(words))

    judge("TAKES is more accurate than KGS+KFFS on most sets", "4.2.1, Figure 2", "TAKES", "KGS+KFFS", "most")
    judge("TAKES is more accurate than KNNC on all sets", "4.2.2, Figure 3", "TAKES", "KNNC", "all")
    judge("TAKES is more accurate than FSKGS on almost all sets", "4.2.2, Figure 3", "TAKES", "FSKGS", "almost all")
    judge("TAKES is more accurate than FSKPCA on almost all sets", "4.2.2, Figure 3", "TAKES", "FSKPCA", "almost all")
    judge("TAKES is more accurate than KDA on all sets", "4.2.2, Figure 3", "TAKES", "KDA", "all")
    text = "KGS+KFFS is more accurate than FSKGS on five sets (all but Australian)"
    judge(text, "4.2.2", "KGS+KFFS", "FSKGS", "all", but="australian")
    text = "KFFS finds the discriminative features (TAKES against KOBL's coordinates as they are)"
    judge(text, "4.2.2", "TAKES", "KOBL", "most")


def time_claims(report: Report, clock: dict, slopes: dict[str, float]) -> None:
    """Judge Table 1 by exponents and ratios of processor time."""
    if not slopes:
        return
    figure = f"exponent {slopes['TAKES']:.1f} with 200 base vectors, {slopes['TAKES, by the rule']:.1f} by the rule"
    verdict = grows([slopes["TAKES"], slopes["TAKES, by the rule"]], 2, at_most=True)
    report.claim("TAKES needs O(N²d): quadratic in the rows", "3.3, Table 1", verdict, figure)
    cubic = {m: slopes[m] for m in ("FSKGS", "FSKPCA", "KDA")}
    figure = "exponents " + ", ".join(f"{m} {s:.1f}" for m, s in cubic.items())
    report.claim("FSKGS, FSKPCA and KDA need O(N³)", "3.3, Table 1", grows(cubic.values(), 3), figure)
    n = max(n for n, r in clock.items() if "KDA" in r)
    faster = {m: clock[n][m]["cpu"] / clock[n]["TAKES, by the rule"]["cpu"] for m in cubic}
    figure = f"{n} rows, by its rule: " + ", ".join(f"{r:.1f} times faster than {m}" for m, r in faster.items())
    few = clock[n].get("FSKPCA, 10 components")
    if few:
        figure += f"; FSKPCA with ten components alone takes {few['cpu'] / clock[n]['TAKES, by the rule']['cpu']:.1f}"
        figure += " times TAKES' time"
    report.claim("TAKES is faster than FSKPCA, FSKGS, KDA and GDA", "3.3", cheaper(faster.values()), figure)
    gram = {k: clock[n].get(f"basis: {k}") for k in ("Gram–Schmidt", "KPCA, all components", "KPCA, 10 components")}
    if all(gram.values()):
        ratios = {k: v["cpu"] / gram["Gram–Schmidt"]["cpu"] for k, v in gram.items() if k != "Gram–Schmidt"}
        words = ", ".join(f"{k} {r:.1f}" for k, r in ratios.items())
        text = "KGS, O(N³), costs less than KPCA, O(N³ + N²d)"
        report.claim(text, "3.1.3, Table 1", cheaper([ratios["KPCA, all components"]]), f"{n} rows, over KGS: {words}")
