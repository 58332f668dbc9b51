"""Time and peak memory against the number of rows, each point in a process of its own: `make bench`.

p = 20, m = 500. `--json FILE` keeps the points; `--draw FILE` draws docs/figures/growth-*.{png,svg} from such a file
and measures nothing.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from basis import GAMMA, basis, ringnorm, ringnorm_classes, textbook  # noqa: F401 - used by the jobs
from extraction import on_nystroem  # noqa: F401
from measure import alone, arguments, keep
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: F401
from sklearn.kernel_approximation import Nystroem  # noqa: F401

import mercer  # noqa: F401

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
OKABE_ITO = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]

ROWS = "from growth import *; x, y = ringnorm_classes({n})"
LDA = "LinearDiscriminantAnalysis('eigen', shrinkage=1e-3, n_components=1)"

# name: what is prepared, the job, the most rows; peers come after and have names of their own
JOBS = {
    "kobl": (ROWS, "basis({m}).fit(x)", 10**6),
    "transform": (ROWS + "; b = basis({m}).fit(x[:5000])", "b.transform(x)", 10**6),
    "GDA": (ROWS, "mercer.GDA(basis=basis({m})).fit(x, y)", 10**6),
    "KLFE, 2 000 queries": (ROWS, "mercer.KLFE(10, n_queries=2000, basis=basis({m})).fit(x, y)", 10**6),
    "SKFE": (ROWS, "mercer.SKFE(basis=basis({m})).fit(x, y)", 10**6),
    "TAKES": (ROWS, "mercer.TAKES(basis=basis({m})).fit(x, y)", 10**6),
    "textbook loop (NumPy)": (ROWS, "textbook(x, {m})", 10**5),
    "Nystroem.transform": (
        ROWS + "; b = Nystroem(gamma=GAMMA, n_components={m}, random_state=0).fit(x[:5000])",
        "b.transform(x)",
        3 * 10**5,
    ),
    "LDA on Nystroem": (ROWS, f"on_nystroem({LDA}, {{m}}).fit(x, y)", 10**5),
}
PEERS = {"textbook loop (NumPy)": "kobl", "Nystroem.transform": "transform", "LDA on Nystroem": "GDA"}


def points(sizes: list, m: int, most_repeats: int, figures: list) -> None:
    """Measure every job of a size in turn; jobs of more than 10⁵ rows once."""
    for n in sizes:
        runs = {name: [] for name, (_, _, most) in JOBS.items() if n <= most}
        for _ in range(most_repeats if n <= 10**5 else 1):
            for name, of in runs.items():
                prepare, job, _ = JOBS[name]
                of.append(alone(prepare.format(n=n, m=m), job.format(n=n, m=m)))
        for name, of in runs.items():
            took, megabytes, busy = np.median(of, axis=0)
            times = [run[0] for run in of]
            print(
                f"{name:<24} n = {n:>8} {took:8.2f} s ({min(times):.2f}-{max(times):.2f}), processor {busy:8.2f} s,"
                f" {megabytes:6.0f} MB, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            figures.append({"job": name, "n": n, "seconds": took, "MB": megabytes, "processor": busy, "all": times})


def exponents(figures: list) -> None:
    """Print those of time and of processor time in n, over the last factor of ten."""
    for name in JOBS:
        of = {f["n"]: (f["seconds"], f["processor"]) for f in figures if f["job"] == name}
        last = max(of)
        if last // 10 in of:
            took, busy = np.log10(np.divide(of[last], of[last // 10]))
            print(f"{name:<24} {last // 10} to {last} rows: exponent {took:.2f}, of processor time {busy:.2f}")


def draw(path: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "mercer", "svg.fonttype": "none", "font.size": 9}
    import matplotlib.pyplot as plt

    kept = json.loads(Path(path).read_text())
    colours = dict(zip([name for name in JOBS if name not in PEERS], OKABE_ITO, strict=False))
    for quantity, unit, label in (
        ("seconds", 1, "seconds"),
        ("MB", 1024, "peak memory beyond the rows, GB"),
    ):
        figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for name in JOBS:
            line = sorted((f["n"], f[quantity] / unit) for f in kept["figures"] if f["job"] == name)
            peer = name in PEERS
            colour = colours[PEERS.get(name, name)]
            axes.plot(
                *zip(*line, strict=True),
                "o--" if peer else "o-",
                color=colour,
                mfc="white" if peer else colour,
                label=name,
                ms=4,
                lw=1.4,
            )
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
        axes.grid(alpha=0.3, which="major")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
        for kind in ("png", "svg"):
            stem = "memory" if quantity == "MB" else "time"
            figure.savefig(
                FIGURES / f"growth-{stem}.{kind}", dpi=110, metadata={"Date": None} if kind == "svg" else None
            )


def main() -> None:
    if "--draw" in sys.argv:
        draw(sys.argv[sys.argv.index("--draw") + 1])
        return
    given = arguments(__doc__)
    sizes, m, repeats = ([10_000], 50, 1) if given.quick else ([10_000, 100_000, 1_000_000], 500, 3)
    figures: list = []
    points(sizes, m, repeats, figures)
    exponents(figures)
    keep(figures, given.json)


if __name__ == "__main__":
    main()
