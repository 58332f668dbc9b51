"""The paper's claims; every verdict comes from the shared rule in lab/verdicts.py."""

import numpy as np
from lab import Report, paired
from lab import verdicts as rule

RIVALS = ("KPCA", "GDA", "KANMM", "KMFA")


def write(found, report: Report) -> None:
    """Judge every claim for which there are results."""
    for judge in (linear, derivation, weights, competitive, cheaper, similar, fewer):
        judge(found, report)
    for judge in (all_rows, overfitting, proportional, complexity, sparsity, alternatives):
        judge(found, report)


def percent(found, method: str) -> float:
    """Return the mean honest error over the sets, in percent."""
    return 100 * float(np.mean([np.mean(found.honest(name, method)) for name in found.sets]))


def against(found, one: str, other: str) -> rule.Counts:
    """Count wins and losses of the honest errors over the sets."""
    return rule.count((found.test(name, one, other) for name in found.sets), low=True)


def linear(found, report: Report) -> None:
    """K-Relief is better than Relief on the columns."""
    told = against(found, "K-Relief", "Relief")
    report.claim(
        "Relief in the input space misses the nonlinear structure that K-Relief finds",
        "1, 2",
        rule.better(told),
        f"K-Relief against Relief: {told.text()}; mean error {percent(found, 'K-Relief'):.1f} % against "
        f"{percent(found, 'Relief'):.1f} %",
    )


def at_five(found, name: str, method: str) -> np.ndarray:
    """Return the test errors of the runs with five features."""
    return found.curve(name, method)[:, found.dims.index(5)]


def weights(found, report: Report) -> None:
    """K-Relief is better than the first coordinates of its basis; readings: tuned number of features, and five.

    The paper takes it for granted that the weights choose; it does not test it.
    """
    five = [[at_five(found, name, m) for name in found.sets] for m in ("K-Relief", "first rows")]
    told = against(found, "K-Relief", "first rows")
    early = rule.count((paired(a, b, found.ratio) for a, b in zip(*five, strict=True)), low=True)
    ours, plain = (100 * np.mean([e.mean() for e in errors]) for errors in five)
    place = np.mean([np.mean([r["places"]["mean"] for r in found.runs(name)]) for name in found.sets])
    report.claim(
        "Relief's weights find the coordinates that matter (taken for granted, not tested)",
        "2, 3",
        rule.joined([rule.better(told), rule.better(early)]),
        f"against the first coordinates of the same basis: {told.text()}, means {percent(found, 'K-Relief'):.1f} and "
        f"{percent(found, 'first rows'):.1f} %; with five features {early.text()}, means {ours:.1f} and {plain:.1f} %; "
        f"the ten best stand at {place:.2f} of the order, chance would be 0.5",
    )


def derivation(found, report: Report) -> None:
    """Rule: basis orthonormal, kernel reproduced and scores equal to 1e-6, no random weights better."""
    told = [r.result["identities"] for r in found.results.find("times")]
    if not told:
        return
    worst = max(max(t[q] for t in told) for q in ("basis", "kernel", "scores"))
    beaten = max(t["weights"] for t in told) > 0
    report.claim(
        "The corrected derivation gives an orthonormal basis, the design matrix and the best weights in closed form",
        "3",
        rule.worst([rule.identity(worst, 1e-6), rule.identity(float(beaten), 0)]),
        f"largest deviation {worst:.0e}; {'some' if beaten else 'none'} of 1000 random weight vectors is better",
    )


def competitive(found, report: Report) -> None:
    """K-Relief is as good as the best rival of each set.

    The best rival is the one with the lowest mean honest test error on that set, which favours the rivals.
    """
    tests = []
    for name in found.sets:
        rival = min(RIVALS, key=lambda m, name=name: np.mean(found.honest(name, m)))
        tests.append(found.test(name, "K-Relief", rival))
    told, each = rule.count(tests, low=True), {m: against(found, "K-Relief", m) for m in RIVALS}
    readings = [rule.as_good(told), *(rule.as_good(c) for c in each.values())]
    theirs = ", ".join(f"{m} {percent(found, m):.1f} ({c.text()})" for m, c in each.items())
    report.claim(
        "K-Relief is a competitive feature extraction method",
        "5, observation 1",
        rule.joined(readings),
        f"against the best rival of each set: {told.text()}, mean {100 * told.gain:+.1f} points; mean error "
        f"{percent(found, 'K-Relief'):.1f} % against {theirs}; {percent(found, 'kNN'):.1f} without features",
    )


def cheaper(found, report: Report) -> None:
    """Every rival takes at least twice K-Relief's time to fit, by the median over the sets.

    Readings: on Gram–Schmidt, and on the basis `kobl` of the same rows. KPCA with all components is the like of
    K-Relief's basis; with ten it is a different task, which is shown beside it.
    """
    times = [r.result["fit"] for r in found.results.find("times")]
    if not times:
        return

    def ratio(one: str, other: str) -> float:
        return float(np.median([t[one] / t[other] for t in times]))

    whole = "KPCA all" if "KPCA all" in times[0] else "KPCA"
    ratios = {m: ratio(m, "K-Relief") for m in (whole, *RIVALS[1:])}
    cheap = {m: ratio(f"{m} on kobl", "K-Relief on kobl") for m in RIVALS if m != "KPCA"}
    report.claim(
        "It has much lower com[putational …] (the sentence is cut off)",
        "5, observation 1",
        rule.joined([rule.cheaper(ratios.values(), 2), rule.cheaper(cheap.values(), 2)]),
        f"fit time as a multiple of K-Relief's: {', '.join(f'{m} {r:.2f}' for m, r in ratios.items())}, KPCA with ten "
        f"components {ratio('KPCA', 'K-Relief'):.2f}; on kobl K-Relief takes "
        f"{ratio('K-Relief on kobl', 'K-Relief'):.2f} of that, and of this "
        f"{', '.join(f'{m} {r:.2f}' for m, r in cheap.items())}",
    )


def similar(found, report: Report) -> None:
    """SK-Relief and K-Relief do not differ."""
    tests = [found.test(name, "SK-Relief", "K-Relief") for name in found.sets]
    told = rule.count(tests, low=True)
    widest = max(tests, key=lambda t: abs(t.difference))
    report.claim(
        "The performance of SK-Relief is very similar to K-Relief",
        "5, observation 2",
        rule.similar(told),
        f"SK-Relief against K-Relief: {told.text()}; widest difference {100 * widest.difference:+.1f} points; means "
        f"{percent(found, 'SK-Relief'):.1f} and {percent(found, 'K-Relief'):.1f} %",
    )


def fewer(found, report: Report) -> None:
    """Check that the dictionary has at most half of the training rows on every set."""
    shares = [np.mean([r["dictionary"] / r["train"] for r in found.runs(name)]) for name in found.sets]
    small = sum(s <= 0.5 for s in shares)
    needed = [
        np.mean(found.honest(name, "SK-Relief", "landmarks")) / np.mean(found.honest(name, "K-Relief", "landmarks"))
        for name in found.sets
    ]
    report.claim(
        "The num[ber of support patterns is much smaller] in SK-Relief (the sentence is cut off)",
        "5, observation 2",
        rule.fact(small, len(shares)),
        f"dictionary {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the training rows, at most half on "
        f"{small} of {len(shares)} sets; landmarks needed {min(needed):.2f} to {max(needed):.2f} times K-Relief's",
    )


def all_rows(found, report: Report) -> None:
    """K-Relief's kept features need at least 90 % of the rows on every set."""
    shares = [
        np.mean([r["methods"]["K-Relief"]["best"]["landmarks"] / r["train"] for r in found.runs(name)])
        for name in found.sets
    ]
    ten = [np.mean([r["places"]["last"] / r["train"] for r in found.runs(name)]) for name in found.sets]
    full = sum(s >= 0.9 for s in shares)
    report.claim(
        "Every feature of K-Relief is a sum over all training rows",
        "4",
        rule.fact(full, len(shares)),
        f"the j-th coordinate needs j rows: those kept need {100 * min(shares):.0f} to {100 * max(shares):.0f} %, the "
        f"ten best {100 * min(ten):.0f} to {100 * max(ten):.0f} %",
    )


def overfitting(found, report: Report) -> None:
    """SK-Relief is better than K-Relief both by the test error and by the gap.

    The gap is the test error less the leave-one-out error on the rows that the features were fitted to.
    """
    told = against(found, "SK-Relief", "K-Relief")

    def gap(name: str, method: str) -> np.ndarray:
        return np.array(found.honest(name, method)) - np.array(found.honest(name, method, "seen"))

    gaps = {m: [gap(name, m) for name in found.sets] for m in ("K-Relief", "SK-Relief")}
    pairs = zip(gaps["SK-Relief"], gaps["K-Relief"], strict=True)
    wider = rule.count((paired(a, b, found.ratio) for a, b in pairs), low=True)
    means = {m: 100 * np.mean([g.mean() for g in values]) for m, values in gaps.items()}
    report.claim(
        "Features that are not sparse can over-fit severely",
        "4",
        rule.worst([rule.better(told), rule.better(wider)]),
        f"SK-Relief against K-Relief: {told.text()}; test less leave-one-out training error "
        f"{means['K-Relief']:+.1f} points for K-Relief against {means['SK-Relief']:+.1f}: {wider.text()}",
    )


def slope(x, y) -> float:
    """Fit the exponent of a power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def proportional(found, report: Report) -> None:
    """Check that transform time grows as the number of rows for KPCA's sums over all rows."""
    for record in found.results.find("growth"):
        steps = record.result
        rows = [s["rows"] for s in steps]
        power = slope(rows, [s["transform"]["KPCA"] for s in steps])
        flat = slope(rows, [s["transform"]["K-Relief"] for s in steps])
        report.claim(
            "Time for new rows is proportional to the number of support patterns",
            "4",
            rule.grows([power], 1),
            f"ten features that are sums over all N rows (KPCA): time grows as N^{power:.2f}; K-Relief's ten, which "
            f"need the first rows only: N^{flat:.2f}",
        )


def complexity(found, report: Report) -> None:
    """SK-Relief's fit takes at most 2 (N+1)(N_sp+1) + N_sp² kernel values, and less of all than K-Relief."""
    for record in found.results.find("growth"):
        steps, last = record.result, record.result[-1]
        rows = [s["rows"] for s in steps]
        bound = all(
            s["values"]["SK-Relief"]
            <= 2 * (s["rows"] + 1) * (s["basis"]["SK-Relief"] + 1) + s["basis"]["SK-Relief"] ** 2
            for s in steps
        )
        less = all(s[q]["SK-Relief"] < s[q]["K-Relief"] for s in steps for q in ("values", "fit", "all"))
        powers = {m: slope(rows, [s["values"][m] for s in steps]) for m in ("K-Relief", "SK-Relief")}
        report.claim(
            "Sparsification brings the computation from O(N²) down to O(N_sp L)",
            "4",
            rule.fact(bound + less, 2),
            f"kernel values of the fit grow as N^{powers['K-Relief']:.2f} and N^{powers['SK-Relief']:.2f}; at "
            f"N = {last['rows']}: {last['values']['K-Relief'] / last['values']['SK-Relief']:.1f} times fewer, fit "
            f"{last['fit']['K-Relief'] / last['fit']['SK-Relief']:.0f} and all coordinates of new rows "
            f"{last['all']['K-Relief'] / last['all']['SK-Relief']:.0f} times faster "
            f"(N_sp = {last['basis']['SK-Relief']})",
        )


def sparsity(found, report: Report) -> None:
    """Check that the mean size of the dictionary falls with nu, and that no row is left unexplained beyond nu."""
    falls, spans = 0, []
    for name in found.sets:
        shares = np.array([[s["dictionary"] / r["train"] for s in r["nus"]] for r in found.runs(name)]).mean(0)
        falls += bool((np.diff(shares) <= 0).all())
        spans.append((100 * shares[0], 100 * shares[-1]))
    left = [r.result["identities"]["dictionary"] / r.settings["nu"] for r in found.results.find("times")]
    most, least = np.mean([a for a, _ in spans]), np.mean([b for _, b in spans])
    nus = found.settings["nus"]
    report.claim(
        "ν determines how sparse the basis is",
        "4",
        rule.worst([rule.fact(falls, len(found.sets)), rule.identity(max(left, default=0), 1)]),
        f"falls with ν on {falls} of {len(found.sets)} sets, from {most:.0f} % of the rows at ν = {nus[0]:g} to "
        f"{least:.0f} % at ν = {nus[-1]:g}; largest unexplained share {max(left, default=0):.2f} ν",
    )


def alternatives(found, report: Report) -> None:
    """Compare every basis with Gram–Schmidt; each is a reading, and the verdict joins them."""
    if not list(found.results.find("bases")):
        return
    counts = {}
    for basis in found.bases()[1:]:
        tests = [
            paired(found.based(name, basis), found.based(name, "gram-schmidt"), found.ratio) for name in found.sets
        ]
        counts[basis] = rule.count(tests, low=True)
    told = ", ".join(f"{b} {c.text()}, {100 * c.gain:+.1f} points" for b, c in counts.items())
    report.claim(
        "Other bases, KPCA and supervised ones among them, serve Relief better (asked, not claimed)",
        "6 (future work)",
        rule.joined([rule.better(c) for c in counts.values()]),
        f"{found.settings['size']} coordinates, against Gram–Schmidt: {told}",
    )
