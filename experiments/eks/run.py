"""Explicit kernel space (Li 2018): the thesis' tests in several readings, whole sets, bases, lost orthogonality."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tools"), str(HERE)]
from eks_jobs import control, cost, needs, passes, points, sizes, table, theorem, tuned
from eks_pages import report
from lab import Job, main

__all__ = ["VERSION", "control", "cost", "jobs", "passes", "points", "report", "sizes", "table", "theorem", "tuned"]
VERSION = 1


def jobs(settings: dict) -> list[Job]:
    """List what is to be computed."""
    out = []
    folds = settings["folds"]

    def add(kind: str, name: str, alone: bool = False, **more) -> None:
        out.append(Job(kind, {"name": name, **more}, alone, needs(name)))

    own = {"basis": "gram-schmidt", "n_components": None}
    for name, size, kept in settings["tests"]:
        for columns in settings["columns"]:
            add("theorem", name, size=size, columns=columns, folds=folds)
            for protocol in settings["protocols"]:
                reading = {"columns": columns, "protocol": protocol}
                add("table", name, size=size, kept=kept or None, **reading, **own, seeds=settings["seeds"], folds=folds)
        if not kept:
            choice = {"widths": settings["tuned_widths"], "inner": settings["tuned_folds"]}
            add("tuned", name, size=size, kept=None, **choice, seeds=settings["seeds"], folds=folds)
    honest = {"size": None, "columns": "standard", "protocol": "honest", "folds": folds}
    for name in settings["whole"]:
        add("table", name, kept=None, **honest, **own, seeds=settings["whole_seeds"])
        for basis in settings["bases"]:
            spent = {"n_components": settings["bases_components"], "kept": settings["bases_kept"]}
            add("table", name, basis=basis, **spent, **honest, seeds=settings["bases_seeds"])
        chosen = {"components": settings["points_components"], "bases": settings["bases"]}
        add("points", name, **chosen, seeds=settings["points_seeds"], folds=folds)
        swept = {"sizes": settings["sizes"], "shares": settings["shares"]}
        add("sizes", name, **swept, seeds=settings["sizes_seeds"], folds=folds)
    for name, size, kept in settings["passes"]:
        more = {"kept": kept or None, "widths": settings["widths"], "seeds": settings["passes_seeds"]}
        for protocol in settings["passes_protocols"]:
            add("passes", name, size=size, **more, protocol=protocol, folds=folds)
    for name, size, kept in settings["tests"]:
        for columns in settings["columns"] if kept else []:
            for protocol in ("honest", "all"):
                more = {"seeds": settings["control_seeds"], "folds": folds}
                add("control", name, size=size, kept=kept, columns=columns, protocol=protocol, **more)
    timed = {"sizes": settings["cost_sizes"], "capped": settings["cost_capped"], "repeats": settings["cost_repeats"]}
    add("cost", "letter", True, **timed, clock="cpu")
    return out


if __name__ == "__main__":
    main("eks")
