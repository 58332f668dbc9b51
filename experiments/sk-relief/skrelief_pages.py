"""Tables and figures of sk-relief, made from its results; the claims are in skrelief_claims.py."""

import numpy as np
import skrelief_claims
from lab import Report, Results, paired, summary
from lab.report import best, colour
from lab.verdicts import count

RIVALS = ("KPCA", "GDA", "KANMM", "KMFA")
SHOWN = ("K-Relief", "SK-Relief", *RIVALS)
REFERENCE = ("kNN", "Relief", "first rows")
LOOK = {"kNN": ("#8a8a8a", ":"), "Relief": ("#b08900", "--"), "first rows": ("#222222", "--")}
SET_COLOURS = ("#c1272d", "#1f6fb4", "#3f7d20", "#e07b39", "#7b3fa0", "#222222")


class Found:
    """The results of `compare` and `bases`, asked by set and method."""

    def __init__(self, results: Results) -> None:
        self.results, self.settings = results, results.settings
        self.sets = results.values("compare", "name")
        self.dims = results.settings["dims"]
        # Rows for testing over rows for training, which the corrected test needs.
        self.ratio = 1 / results.settings["train"] - 1

    def runs(self, name: str) -> list[dict]:
        """Return what `compare` found on a set, one a run."""
        return [r.result for r in self.results.find("compare", name=name)]

    def honest(self, name: str, method: str, what: str = "error") -> list[float]:
        """Return the test error (or another figure) where cross-validation chose the number of features too."""
        return [run["methods"][method]["best"][what] for run in self.runs(name)]

    def curve(self, name: str, method: str, what: str = "error") -> np.ndarray:
        """Return runs by numbers of features."""
        return np.array([run["methods"][method][what] for run in self.runs(name)], dtype=float)

    def based(self, name: str, basis: str, order: str = "relief") -> list[float]:
        """Return the honest test errors on a basis of fixed size."""
        key = f"{basis} {order}"
        found = {
            r.settings["run"]: r.result[key]["error"] for r in self.results.find("bases", name=name) if key in r.result
        }
        return [found[run] for run in sorted(found)]

    def bases(self) -> list[str]:
        """Return the bases that were run, Gram–Schmidt first; where one was run twice, the later settings count."""
        return list(dict.fromkeys(b for r in self.results.find("bases") for b in r.settings["bases"]))

    def test(self, name: str, one: str, other: str):
        """Compare the honest errors of two methods."""
        return paired(self.honest(name, one), self.honest(name, other), self.ratio)


def points(difference, clear: bool) -> str:
    """Write a difference in points, in bold where the corrected test calls it clear."""
    text = f"{100 * difference:+.1f}"
    return f"**{text}**" if clear else text


def write(results: Results, report: Report) -> None:
    """Make everything."""
    found = Found(results)
    sets_table(found, report)
    best_table(found, report)
    honest_table(found, report)
    paired_table(found, report)
    wins_table(found, report)
    support_table(found, report)
    orders_table(found, report)
    nu_table(found, report)
    widths_table(found, report)
    if list(results.find("bases")):
        bases_table(found, report)
        bases_figure(found, report)
    times_tables(results, report)
    curves_figure(found, report)
    nu_figure(found, report)
    orders_figure(found, report)
    growth_figure(results, report)
    report.resolution({name: [found.test(name, "K-Relief", m) for m in RIVALS] for name in found.sets})
    skrelief_claims.write(found, report)


def sets_table(found: Found, report: Report) -> None:
    """Write the table that stands for the lost Table 1."""
    sizes = {
        "heart_statlog": (13, 2),
        "ionosphere": (34, 2),
        "sonar": (60, 2),
        "new_thyroid": (5, 3),
        "pima": (8, 2),
        "letter": (16, 26),
    }
    rows = [(name, found.runs(name)[0]["train"], *sizes.get(name, ("–", "–"))) for name in found.sets]
    report.table("sets", ("set", "training rows", "columns", "classes"), rows)


def best_table(found: Found, report: Report) -> None:
    """Write the paper's Table 2: the best number of features by the test error, with the landmarks."""
    rows = []
    for name in found.sets:
        means, texts = [], []
        for method in SHOWN:
            curve = found.curve(name, method)
            at = int(curve.mean(0).argmin())
            text = f"{summary(curve[:, at]).text()} ({found.dims[at]})"
            if method in ("K-Relief", "SK-Relief"):
                text += f" [{found.curve(name, method, 'landmarks')[:, at].mean():.0f}]"
            means.append(curve[:, at].mean())
            texts.append(text)
        rows.append((name, *best(means, texts)))
    note = (
        "Test error in percent ± standard error, the number of features (in brackets) and the landmarks that they need "
        "[in square brackets]. The number of features is chosen by the **test** error, as in the paper: too good for "
        "all methods."
    )
    report.table("best", ("set", *SHOWN), rows, note)


def honest_table(found: Found, report: Report) -> None:
    """Write the same with the number of features chosen by cross-validation."""
    rows, methods = [], (*SHOWN, *REFERENCE)
    for name in found.sets:
        errors = [found.honest(name, m) for m in methods]
        dims = [np.median(found.honest(name, m, "dim")) for m in methods]
        texts = [f"{summary(e).text()} ({d:.0f})" for e, d in zip(errors, dims, strict=True)]
        rows.append((name, *best([np.mean(e) for e in errors], texts)))
    means = [np.mean([np.mean(found.honest(name, m)) for name in found.sets]) for m in methods]
    rows.append(("mean", *best(means, [f"{100 * m:.1f}" for m in means])))
    note = (
        "Test error in percent ± standard error (median number of features); width, k and the number of features by "
        "five-fold cross-validation inside the training rows. The last three are references: all columns as they are, "
        "Relief on the columns, and the first coordinates of the Gram–Schmidt basis without Relief."
    )
    report.table("honest", ("set", *methods), rows, note)


def paired_table(found: Found, report: Report) -> None:
    """Write K-Relief's honest error less that of the others, with both tests."""
    others = ("SK-Relief", *RIVALS, *REFERENCE)
    rows = []
    for name in found.sets:
        tests = [found.test(name, "K-Relief", other) for other in others]
        rows.append((name, *(f"{points(t.difference, t.clear)} ({t.p:.2g}; {t.p_corrected:.2g})" for t in tests)))
    note = (
        "Points of test error, K-Relief less the other: negative is better for K-Relief. In brackets the p of "
        "Student's paired test and the corrected p; bold where the corrected one is below 0.05."
    )
    report.table("paired", ("set", *others), rows, note)


def wins_table(found: Found, report: Report) -> None:
    """Count the sets that K-Relief and SK-Relief win and lose, by the mean and by both tests."""
    rows = []
    for one, others in (("K-Relief", ("SK-Relief", *RIVALS, *REFERENCE)), ("SK-Relief", (*RIVALS, *REFERENCE))):
        for other in others:
            tests = [found.test(name, one, other) for name in found.sets]
            counts = []
            for sign in (-1, 1):
                mine = [t for t in tests if sign * t.difference > 0]
                counts += [len(mine), sum(t.p < 0.05 for t in mine), sum(t.clear for t in mine)]
            mean = np.mean([t.difference for t in tests])
            rows.append((f"{one} against {other}", *counts, f"{100 * mean:+.1f}"))
    head = ("", "wins", "by Student's test", "corrected", "losses", "by Student's test", "corrected", "mean, points")
    note = (
        "Sets with the lower (wins) or higher (losses) mean honest error; of these, p < 0.05 by each test. With half "
        "of the rows for testing, the corrected test asks for a mean of about two standard deviations of the runs."
    )
    report.table("wins", head, rows, note)


def support_table(found: Found, report: Report) -> None:
    """Write how many kernel values one prediction needs."""
    rows = []
    for name in found.sets:
        runs = found.runs(name)
        rows.append(
            (
                name,
                runs[0]["train"],
                summary(found.honest(name, "K-Relief", "landmarks")).text(0, 1),
                summary([r["dictionary"] for r in runs]).text(0, 1),
                summary(found.honest(name, "SK-Relief", "landmarks")).text(0, 1),
                summary(found.honest(name, "first rows", "landmarks")).text(0, 1),
                summary([r["places"]["last"] for r in runs]).text(0, 1),
            )
        )
    head = ("set", "training rows", "K-Relief", "dictionary", "SK-Relief", "first rows", "K-Relief, ten features")
    note = (
        "Landmarks that the features need at the honest choice of width and number, mean ± standard error. "
        '"dictionary" is all that SK-Relief keeps; up to the last coordinate chosen it needs the column after.'
    )
    report.table("support", head, rows, note)


def spread(values: list[list[float]]) -> float:
    """Pool the standard deviations within runs."""
    return float(np.sqrt(np.mean([np.var(v, ddof=1) for v in values])))


def orders_table(found: Found, report: Report) -> None:
    """Write how much the order of the rows decides."""
    rows = []
    for name in found.sets:
        runs = found.runs(name)
        by_class = paired([r["by class"] for r in runs], [np.mean(r["orders"]) for r in runs], found.ratio)
        rows.append(
            (
                name,
                f"{100 * spread([r['orders'] for r in runs]):.1f}",
                f"{100 * spread([r['seeds'] for r in runs]):.1f}",
                f"{100 * np.std(found.honest(name, 'K-Relief'), ddof=1):.1f}",
                f"{100 * np.mean([np.ptp(r['orders']) for r in runs]):.1f}",
                f"{100 * np.mean([np.ptp(r['seeds']) for r in runs]):.1f}",
                points(by_class.difference, by_class.clear),
                f"{np.mean([r['places']['mean'] for r in runs]):.2f}",
            )
        )
    head = (
        "set",
        "sd over orders, K-Relief",
        "sd over seeds, SK-Relief",
        "sd over splits, K-Relief",
        "range over orders",
        "range over seeds",
        "sorted by class",
        "place of the ten best",
    )
    note = (
        f"Points of test error, same split, same tuned settings, {found.settings['orders']} orders of the rows a "
        "split. Ranges are means of the largest less the smallest. Sorted by class: error less the mean over random "
        "orders, bold where clear. Place: mean position of the ten best coordinates, from 0 (first row) to 1 (last); "
        "0.5 would be chance."
    )
    report.table("orders", head, rows, note)


def nu_table(found: Found, report: Report) -> None:
    """Write the size of the dictionary and the error against nu, at K-Relief's width."""
    rows = []
    nus = found.settings["nus"]
    for name in found.sets:
        runs = found.runs(name)
        sizes = [np.mean([r["nus"][i]["dictionary"] / r["train"] for r in runs]) for i in range(len(nus))]
        errors = [np.mean([r["nus"][i]["error"] for r in runs]) for i in range(len(nus))]
        cells = [f"{100 * e:.1f} ({100 * s:.0f} %)" for e, s in zip(errors, sizes, strict=True)]
        rows.append((name, summary(found.honest(name, "K-Relief")).text(), *best(errors, cells)))
    note = (
        "Test error in percent, and the dictionary's share of the training rows. The width is K-Relief's of the same "
        "run; k and the number of features are tuned again for every ν by cross-validation."
    )
    report.table("nu", ("set", "K-Relief", *(f"ν = {nu:g}" for nu in nus)), rows, note)


def widths_table(found: Found, report: Report) -> None:
    """Count how often tuning took an end of the grid of widths."""
    methods, rows = (*SHOWN, "first rows"), []
    low, high = min(found.settings["widths"]), max(found.settings["widths"])
    for name in found.sets:
        chosen = [found.honest(name, m, "width") for m in methods]
        rows.append((name, *(f"{w.count(low)} / {w.count(high)}" for w in chosen)))
    note = f"Runs in which tuning took the widest ({low:g}) / the narrowest ({high:g}) kernel of the grid."
    report.table("widths", ("set", *methods), rows, note)


def bases_table(found: Found, report: Report) -> None:
    """Write Relief on bases of the same size, and what the first coordinates of the basis do without it."""
    bases, rows = found.bases(), []
    for name in found.sets:
        errors = [found.based(name, b) for b in bases]
        rows.append((name, *best([np.mean(e) for e in errors], [summary(e).text() for e in errors])))
    for label, order in (("mean", "relief"), ("mean, own order", "own")):
        means = [np.mean([np.mean(found.based(name, b, order)) for name in found.sets]) for b in bases]
        rows.append((label, *best(means, [f"{100 * m:.1f}" for m in means])))
    gains = []
    for basis in bases:
        told = count(
            (paired(found.based(n, basis), found.based(n, basis, "own"), found.ratio) for n in found.sets), low=True
        )
        gains.append(f"{told.wins} of {told.sets} ({told.clear_wins}; {told.clear_losses})")
    rows.append(("Relief better than own order", *gains))
    note = (
        f"Test error in percent ± standard error of the features that Relief puts first, on bases of "
        f"{found.settings['size']} coordinates; number of features, width and k by cross-validation. Own order: the "
        "first coordinates of the basis without Relief. Last row: sets where Relief has the lower mean (clearly so; "
        "clearly worse)."
    )
    report.table("bases", ("set", *bases), rows, note)


def times_tables(results: Results, report: Report) -> None:
    """Write times of fit and transform beside K-Relief's, and the identities of the derivation."""
    fits, moves, checks = [], [], []
    first, second = (
        ("SK-Relief", *RIVALS[:1], "KPCA all", "K-Relief on kpca", *RIVALS[1:]),
        ("GDA on kobl", "KANMM on kobl", "KMFA on kobl"),
    )
    for record in results.find("times"):
        name, told = record.settings["name"], record.result
        fit, move, cheap = told["fit"], told["transform"], "K-Relief on kobl"
        ratios = [f"{fit[m] / fit['K-Relief']:.2f}" if m in fit else "–" for m in first]
        on_kobl = [f"{fit[m] / fit[cheap]:.2f}" for m in second]
        fits.append((name, f"{1e3 * fit['K-Relief']:.1f}", *ratios, f"{1e3 * fit[cheap]:.1f}", *on_kobl))
        ratios = [f"{move[m] / move['K-Relief']:.2f}" if m in move else "–" for m in first]
        moves.append((name, f"{1e3 * move['K-Relief']:.2f}", *ratios))
        checks.append((name, *(f"{value:.1e}" for value in told["identities"].values())))
    if fits:
        head = ("set", "K-Relief, ms", *first)
        note = (
            "Processor time of all threads, median of interleaved repeats, at the width 1/(p var X), ten features; the "
            "others as multiples of K-Relief."
        )
        report.table("fit", (*head, "K-Relief on kobl, ms", *second), fits, f"{note[:-1]} on the same basis.")
        report.table("transform", head, moves, f"{note} All test rows at once.")
        head = ("set", "‖AKAᵀ − I‖", "max ‖ZZᵀ − K‖", "scores", "weights", "unexplained by the dictionary")
        note = (
            "Largest deviations from a few lines of NumPy. Weights: the objective of the best of 1000 random weight "
            "vectors less that of the closed form; negative means that none is better."
        )
        report.table("identities", head, checks, note)
    for record in results.find("growth"):
        rows = [
            (
                step["rows"],
                *(f"{step['values'][m]:,}".replace(",", " ") for m in step["values"]),
                *(f"{step['basis'][m]} [{step['last'][m]}]" for m in step["basis"]),
                *(f"{1e3 * step['fit'][m]:.1f}" for m in step["fit"]),
                *(f"{1e3 * step['transform'][m]:.2f}" for m in step["transform"] if m != "KPCA all"),
                *(f"{1e3 * step['all'][m]:.1f}" for m in step["all"]),
            )
            for step in record.result
        ]
        head = (
            "rows",
            "kernel values, K-Relief",
            "SK-Relief",
            "basis [needed], K-Relief",
            "SK-Relief",
            "fit ms, K-Relief",
            "SK-Relief",
            "KPCA",
            *(["KPCA, all components"] if "KPCA all" in record.result[0]["fit"] else []),
            "transform ms, K-Relief",
            "SK-Relief",
            "KPCA",
            "all coordinates ms, K-Relief",
            "SK-Relief",
        )
        note = (
            f"{record.settings['name']}, ten features, ν = {record.settings['nu']:g}; {record.settings['test']} new "
            "rows are transformed; processor time. Kernel values are those of the basis' fit. [needed]: landmarks up "
            "to the last coordinate kept."
        )
        report.table("growth", head, rows, note)


def curves_figure(found: Found, report: Report) -> None:
    """Draw the lost Figure 1: test error against the number of features."""
    columns = min(3, len(found.sets))
    rows = -(-len(found.sets) // columns)
    with report.figure(
        "error-against-features", rows, columns, size=(3.0 * columns, 2.15 * rows + 0.3), squeeze=False
    ) as axes:
        for axis, name in zip(axes.flat, found.sets, strict=False):
            for method in (*SHOWN, "first rows"):
                curve = 100 * found.curve(name, method)
                count = len(found.dims)
                if method == "GDA":  # it has no more than classes less one
                    most = max(found.honest(name, "GDA", "dim"))
                    count = max(1, sum(d <= most for d in found.dims))
                mean, se = curve.mean(0), curve.std(0, ddof=1) / len(curve) ** 0.5
                shade, line = LOOK.get(method, (colour(method), "-"))
                x = found.dims[:count]
                axis.plot(x, mean[:count], line, color=shade, label=method, marker="o" if count == 1 else None, ms=4)
                axis.fill_between(x, (mean - se)[:count], (mean + se)[:count], color=shade, alpha=0.12, lw=0)
            shade, line = LOOK["kNN"]
            axis.axhline(100 * np.mean(found.honest(name, "kNN")), color=shade, ls=line, label="all columns")
            axis.set_xscale("log")
            axis.set_xticks([1, 2, 5, 10, 20, 40], labels=["1", "2", "5", "10", "20", "40"])
            axis.minorticks_off()
            axis.set(title=name, xlabel="features", ylabel="test error, %")
        for axis in list(axes.flat)[len(found.sets) :]:
            axis.axis("off")
        axes.flat[0].figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=8)


def nu_figure(found: Found, report: Report) -> None:
    """Draw the dictionary's size and the loss of accuracy against nu."""
    nus = found.settings["nus"]
    with report.figure("nu", 1, 2, size=(8.2, 3.4)) as (left, right):
        for name, shade in zip(found.sets, SET_COLOURS, strict=False):
            runs = found.runs(name)
            size = np.array([[step["dictionary"] / r["train"] for step in r["nus"]] for r in runs])
            dense = np.array(found.honest(name, "K-Relief"))
            loss = 100 * (np.array([[step["error"] for step in r["nus"]] for r in runs]) - dense[:, None])
            for axis, values in ((left, 100 * size), (right, loss)):
                mean, se = values.mean(0), values.std(0, ddof=1) / len(runs) ** 0.5
                axis.plot(nus, mean, color=shade, label=name, marker=".")
                axis.fill_between(nus, mean - se, mean + se, color=shade, alpha=0.15, lw=0)
        left.set(xscale="log", xlabel="ν", ylabel="dictionary, % of training rows", title="sparsity")
        right.set(xscale="log", xlabel="ν", ylabel="points of error above K-Relief", title="what it costs")
        right.set_yscale("symlog", linthresh=5)
        right.set_yticks([-5, 0, 5, 10, 20, 50], labels=["-5", "0", "5", "10", "20", "50"])
        right.axhline(0, color="#222222", lw=0.8)
        left.figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=6)


def orders_figure(found: Found, report: Report) -> None:
    """Draw what the order of the rows alone does to the error."""
    with report.figure("orders", 1, 1, size=(8.2, 3.2)) as axis:
        for shift, what, method in ((-0.18, "orders", "K-Relief"), (0.18, "seeds", "SK-Relief")):
            values = [
                100 * np.concatenate([np.array(r[what]) - np.mean(r[what]) for r in found.runs(name)])
                for name in found.sets
            ]
            boxes = axis.boxplot(
                values,
                positions=np.arange(len(values)) + shift,
                widths=0.3,
                whis=(2.5, 97.5),
                showfliers=False,
                patch_artist=True,
                medianprops={"color": "white"},
            )
            for box in boxes["boxes"]:
                box.set(facecolor=colour(method), edgecolor=colour(method))
            axis.plot([], [], "s", color=colour(method), label=f"{method}, {what}")
        axis.set_xticks(range(len(found.sets)), labels=found.sets)
        axis.set(ylabel="points of error about the split's mean", title="same rows, same settings, another order")
        axis.figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2)


def bases_figure(found: Found, report: Report) -> None:
    """Draw Relief's error on each basis, and that of the basis' own first coordinates."""
    bases = found.bases()
    columns = min(3, len(found.sets))
    rows = -(-len(found.sets) // columns)
    with report.figure("bases", rows, columns, squeeze=False) as axes:
        for axis, name in zip(axes.flat, found.sets, strict=False):
            for shift, order, shade, label in (
                (-0.12, "relief", "#c1272d", "ranked by Relief"),
                (0.12, "own", "#555555", "in the basis' own order"),
            ):
                told = [summary([100 * e for e in found.based(name, b, order)]) for b in bases]
                at = np.arange(len(bases)) + shift
                axis.errorbar(at, [t.mean for t in told], [t.se for t in told], fmt="o", ms=4, color=shade, label=label)
            axis.set_xticks(range(len(bases)), labels=bases, rotation=40, ha="right")
            axis.set(title=name, ylabel="test error, %")
        for axis in list(axes.flat)[len(found.sets) :]:
            axis.axis("off")
        axes.flat[0].figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def growth_figure(results: Results, report: Report) -> None:
    """Draw kernel values and times against the number of training rows."""
    for record in results.find("growth"):
        steps = record.result
        rows = [s["rows"] for s in steps]
        with report.figure("growth", 1, 3, size=(10, 3.2)) as axes:
            for axis, what, title in zip(
                axes,
                ("values", "fit", "transform"),
                ("kernel values in fit", "fit, seconds", "ten features of new rows, seconds"),
                strict=True,
            ):
                for method in steps[0][what]:
                    axis.plot(rows, [s[what][method] for s in steps], "o-", ms=4, color=colour(method), label=method)
                if what == "transform":
                    for method in steps[0]["all"]:
                        values = [s["all"][method] for s in steps]
                        axis.plot(rows, values, "o:", ms=3, color=colour(method), label=f"{method}, all coordinates")
                axis.set(xscale="log", yscale="log", xlabel="training rows", title=title)
                axis.set_xticks(rows, labels=[str(r) for r in rows])
                axis.minorticks_off()
            axes[0].figure.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=5)
