"""TAKES (Xu, Shen, Ping & Zhao, CIKM 2011): its basis' reconstruction cost, its accuracy, and its cost in time."""

import inspect
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tools"), str(HERE)]

from lab import Job, Report, Results, main
from takes_classify import classify, theta
from takes_common import CLASSES, PAPER
from takes_costs import costs, hilbert
from takes_report import write
from takes_times import times

import mercer

VERSION = 1

__all__ = ["VERSION", "classify", "costs", "hilbert", "jobs", "report", "theta", "times"]


def jobs(settings: dict) -> list[Job]:
    """Table 2, the Hilbert matrix, Figures 2 and 3 in three settings, Table 1."""
    s = settings
    out = [Job("hilbert", {"size": s["hilbert"]})]
    for name in s["sets"]:
        seeds = list(range(s["first_seed"], s["first_seed"] + s["cost_splits"]))
        for scaling in s["cost_scalings"]:
            told = {"name": name, "scaling": scaling, "dimension": PAPER[name][1], "seeds": seeds}
            out.append(Job("costs", told, needs=(name,)))
    kept = ("counts", "folds", "widths", "regs")
    for scaling, width, splits in (
        ("standard", "table2", s["table2_splits"]),
        ("raw", "table2", s["raw_splits"]),
        ("standard", "tuned", s["tuned_splits"]),
    ):
        for name in s["sets"]:
            for first in range(0, splits, 5):
                seeds = [s["first_seed"] + i for i in range(first, min(first + 5, splits))]
                told = {"name": name, "scaling": scaling, "width": width, "seeds": seeds, "dimension": PAPER[name][1]}
                told |= {k: s[k] for k in kept} | {"read": (scaling, width) == ("standard", "table2")}
                out += [Job("classify", told | reading, needs=(name,)) for reading in CLASSES.get(name, [{}])]
    # KFFS' theta came later than the rest; an older build of the library has none, and the job is left out.
    if "theta" in inspect.signature(mercer.KFFS).parameters:
        for name in s["sets"]:
            seeds = list(range(s["first_seed"], s["first_seed"] + s["theta_splits"]))
            told = {"name": name, "scaling": "standard", "dimension": PAPER[name][1], "seeds": seeds}
            told |= {"thetas": s["thetas"], "folds": s["folds"]}
            out.append(Job("theta", told, needs=(name,)))
    everyone = ["TAKES", "TAKES, by the rule", "FSKGS", "FSKPCA", "FSKPCA, 10 components", "KDA"]
    for n in s["time_all"] + s["time_takes"]:
        told = {"n": n, "methods": everyone if n in s["time_all"] else everyone[:2], "gamma": s["time_gamma"]}
        told |= {"cap": s["time_cap"], "repeats": s["time_repeats"], "seed": s["time_seed"]}
        out.append(Job("times", told | {"bases": n in s["time_all"]}, alone=True))
    return out


def report(results: Results, report: Report) -> None:
    """Make the tables, figures and claims."""
    write(results, report)


if __name__ == "__main__":
    main("takes")
