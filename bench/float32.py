"""Fits and transforms of float32 rows: beside float64, transforms beside `Nystroem`, and what they lose."""

import numpy as np
from basis import GAMMA, basis, ringnorm, ringnorm_classes
from measure import alone, arguments, keep, report, side_by_side
from sklearn.kernel_approximation import Nystroem

import mercer


def extra_memory(n: int, m: int, dtype: str) -> float:
    """Megabytes that a transform takes, its result included."""
    prepare = f"from basis import *; x = ringnorm({n}, dtype=np.{dtype}); b = basis({m}).fit(x[:2000])"
    return alone(prepare, "z = b.transform(x)")[1]


def fit_memory(n: int, m: int, dtype: str) -> float:
    """Megabytes that a fit takes beside the rows."""
    prepare = f"from basis import *; x = ringnorm({n}, dtype=np.{dtype})"
    return alone(prepare, f"b = basis({m}).fit(x)")[1]


def fits(rows: int, m: int, repeats: int, figures: list) -> None:
    double = ringnorm(rows)
    single = double.astype(np.float32)
    for method in ("kobl", "rpcholesky"):
        own = {name: basis(m, method) for name in ("single", "double")}
        jobs = {
            "single": lambda own=own: own["single"].fit(single),
            "double": lambda own=own: own["double"].fit(double),
        }
        times = side_by_side(jobs, repeats)
        report(f"{method}, float32, {rows} rows, m = {m}, against float64", times["single"], times["double"], figures)
        left = {name: basis.residual_ for name, basis in own.items()}
        same = int((own["single"].pivots_ == own["double"].pivots_).sum())
        print(f"  the same {same} pivots of {m}; residual {left['single']:.6g} and {left['double']:.6g}; ", end="")
        print(f"largest error of a feature or a residual: {own['single'].rounding_error_:.1e}")
    megabytes = {dtype: fit_memory(rows, m, dtype) for dtype in ("float32", "float64")}
    print("  megabytes that the fit takes: " + ", ".join(f"{k} {v:.0f}" for k, v in megabytes.items()))
    figures.append({"job": "memory of the fit", **megabytes})


def on_top(rows: int, m: int, repeats: int, figures: list) -> None:
    """Fit extractors and systems, which compute in the precision of their basis."""
    double, y = ringnorm_classes(rows)
    single = double.astype(np.float32)
    methods = {
        "GDA": lambda: mercer.GDA(basis=basis(m)),
        "KPLS": lambda: mercer.KPLS(5, basis=basis(m)),
        "KLFE, 2 000 queries": lambda: mercer.KLFE(10, n_queries=2_000, basis=basis(m)),
        "TAKES": lambda: mercer.TAKES(basis=basis(m)),
    }
    for name, new in methods.items():
        own = {"single": new(), "double": new()}
        jobs = {
            "single": lambda own=own: own["single"].fit(single, y),
            "double": lambda own=own: own["double"].fit(double, y),
        }
        times = side_by_side(jobs, repeats)
        report(f"{name}, float32, {rows} rows, m = {m}, against float64", times["single"], times["double"], figures)
        z = {kind: model.transform(double[:1_000]) for kind, model in own.items()}
        if z["single"].shape == z["double"].shape:
            error = np.abs(z["single"] - z["double"]).max() / np.abs(z["double"]).max()
            print(f"  largest difference of a feature, relative to the largest: {error:.1e}")


def main() -> None:
    given = arguments(__doc__)
    scale, repeats = (20, 1) if given.quick else (1, 7)
    n, rows = 10_000 // scale, 100_000 // scale
    figures: list = []
    x, new = ringnorm(n), ringnorm(rows, seed=1)
    single = new.astype(np.float32)
    for m in (100 // scale, 500 // scale):
        own = basis(m).fit(x)
        peer = Nystroem(gamma=GAMMA, n_components=m, random_state=0).fit(x.astype(np.float32))
        jobs = {
            "single": lambda own=own: own.transform(single),
            "double": lambda own=own: own.transform(new),
            "peer": lambda peer=peer: peer.transform(single),
        }
        times = side_by_side(jobs, repeats)
        report(f"float32, {rows} rows, m = {m}, against float64", times["single"], times["double"], figures)
        report(f"float32, {rows} rows, m = {m}, against Nystroem", times["single"], times["peer"], figures)
        difference = np.abs(own.transform(single) - own.transform(single.astype(np.float64))).max()
        print(f"  largest difference to double precision, in units of sqrt(k(x, x)): {difference:.1e}")
    fits(rows, 1_000 // scale, repeats, figures)
    on_top(rows, 500 // scale, min(repeats, 3), figures)
    megabytes = {dtype: extra_memory(rows, 500 // scale, dtype) for dtype in ("float32", "float64")}
    print("  megabytes that the transform takes: " + ", ".join(f"{k} {v:.0f}" for k, v in megabytes.items()))
    keep([*figures, {"job": "memory", **megabytes}], given.json)


if __name__ == "__main__":
    main()
