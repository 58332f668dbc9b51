"""mercer without settings beside tuned and untuned peers, on every dense set of ../shared/data.

    python bench/automatic.py                                all sets, all models; prints tables for docs/choosing.md
    python bench/automatic.py sonar pima --peers svm,forest  these sets; mercer's models and these peers
    python bench/automatic.py --splits 3 --rows 2000         fewer splits, fewer training rows
    python bench/automatic.py --json out.json                keep every result in this file, and go on from there

Classes are scored by accuracy, numbers by R². A quarter of the rows is for testing. All models see standardised
columns (and numbers to predict) and the same seeded splits, choose inside the training part and use one thread: those
of BLAS count as busy while they wait. Seconds are the processor's, of fit and prediction. The SVM's grid is C in 0.1,
1, 10, 100 times gamma in 0.1, 1, 10 over the number of columns, three folds; Nystroem's is gamma in 0.01, 0.1, 1, 10
over that, three folds, ridge's penalty by leave-one-out. Gradient boosting and the forest have scikit-learn's
defaults.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

# Before NumPy and mercer are imported.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MERCER_NUM_THREADS"), "1")

import numpy as np
from data import DENSE, NUMBERS, load, repeated_splits
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import mercer

WIDTHS = (0.01, 0.1, 1, 10)  # gamma times the number of columns
PENALTIES = np.logspace(-6, 2, 9)
LANDMARKS = 1000
LOST = 1.5  # points by which a set counts as lost

# A model is made from: is the target a number, columns, training rows.
Maker = Callable[[bool, int, int], object]


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def auto_features(numbers: bool, p: int, n: int):
    return make_pipeline(StandardScaler(), mercer.AutoFeatures(), Ridge() if numbers else RidgeClassifier())


def auto_predictor(numbers: bool, p: int, n: int):
    return scaled(mercer.AutoRegressor() if numbers else mercer.AutoClassifier())


def svm(numbers: bool, p: int, n: int):
    name = "svr" if numbers else "svc"
    grid = {f"{name}__C": [0.1, 1, 10, 100], f"{name}__gamma": [width / p for width in WIDTHS[1:]]}
    return GridSearchCV(scaled(SVR() if numbers else SVC()), grid, cv=3)


def boosting(numbers: bool, p: int, n: int):
    kind = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    return scaled(kind(random_state=0))


def forest(numbers: bool, p: int, n: int):
    return scaled((RandomForestRegressor if numbers else RandomForestClassifier)(random_state=0))


def nystroem(numbers: bool, p: int, n: int):
    ridge = RidgeCV(PENALTIES) if numbers else RidgeClassifierCV(PENALTIES)
    model = make_pipeline(StandardScaler(), Nystroem(n_components=min(LANDMARKS, n), random_state=0), ridge)
    return GridSearchCV(model, {"nystroem__gamma": [width / p for width in WIDTHS]}, cv=3)


OWN: dict[str, Maker] = {"AutoFeatures + ridge": auto_features}
if hasattr(mercer, "AutoClassifier") and hasattr(mercer, "AutoRegressor"):
    OWN["AutoClassifier / AutoRegressor"] = auto_predictor
PEERS: dict[str, Maker] = {"svm": svm, "boosting": boosting, "forest": forest, "nystroem": nystroem}


def processor_seconds() -> float:
    """Return the processor time of this process and of children that have ended."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system


def measure(make: Maker, X, y, train, test) -> dict:
    """Fit and score one model on one split."""
    numbers = y.dtype.kind == "f"
    model = make(numbers, X.shape[1], len(train))
    if numbers:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    start = processor_seconds()
    score = model.fit(X[train], y[train]).score(X[test], y[test])
    out = {"score": score, "seconds": processor_seconds() - start, "train": len(train), "test": len(test)}
    if not numbers and hasattr(model, "predict_proba") and set(y[test]) <= set(model.classes_):
        out["log_loss"] = float(log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_))
    return out


def run(names: list[str], models: dict[str, Maker], args: argparse.Namespace) -> dict:
    """Measure what the file does not have, and write it after every result; return set → model → results by split."""
    kept = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    found: dict[str, dict[str, list]] = {}
    for name in names:
        X, y = load(name)
        shape = {"columns": X.shape[1], "classes": 0 if name in NUMBERS else len(set(y))}
        for split, (train, test) in enumerate(repeated_splits(y, args.splits, args.rows)):
            for model, make in models.items():
                key = f"{name}, {model}, split {split}, at most {args.rows} rows"
                if key not in kept or model in args.again:
                    kept[key] = measure(make, X, y, train, test) | shape
                    if args.json:
                        part = args.json.with_suffix(".part")
                        part.write_text(json.dumps(kept, indent=0))
                        part.replace(args.json)
                found.setdefault(name, {}).setdefault(model, []).append(kept[key])
    return found


def text(values: list[float], digits: int = 1) -> str:
    """Write mean and standard error."""
    se = f" ± {np.std(values, ddof=1) / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{se}"


def print_table(found: dict, models: list[str], numbers: bool) -> None:
    """Print one task: scores and seconds of every set, then means, losses, times and log losses."""
    points = {m: [100 * np.mean([r["score"] for r in found[s][m]]) for s in found] for m in models}
    seconds = {m: [np.mean([r["seconds"] for r in found[s][m]]) for s in found] for m in models}
    loss = {
        m: [np.mean([r["log_loss"] for r in found[s][m] if "log_loss" in r] or [np.nan]) for s in found] for m in models
    }
    print(f"\n## {'Numbers: R², points of a hundred' if numbers else 'Classes: accuracy, %'}\n")
    print("| set | training rows | columns | classes | splits |" + "".join(f" {m} | s |" for m in models))
    print("|---|" + "---:|" * (4 + 2 * len(models)))
    for at, name in enumerate(found):
        first = found[name][models[0]]
        cells = [name, first[0]["train"], first[0]["columns"], first[0]["classes"] or "–", len(first)]
        for m in models:
            cells += [text([100 * r["score"] for r in found[name][m]]), f"{seconds[m][at]:.3g}"]
        print("| " + " | ".join(map(str, cells)) + " |")

    def line(words: str, cells: list[str]) -> None:
        print(f"| {words} | | | | | " + " | | ".join(cells) + " | |")

    line(f"**mean, {len(found)} set{'s' * (len(found) > 1)}**", [f"**{np.mean(points[m]):.2f}**" for m in models])
    best = np.max([points[m] for m in models], axis=0)
    line(f"sets lost by more than {LOST} points to the best", [str(sum(best - points[m] > LOST)) for m in models])
    if "svm" in models:
        apart = {m: np.subtract(points[m], points["svm"]) for m in models}
        line(
            "less the SVM, mean ± standard error over sets", ["–" if m == "svm" else text(apart[m], 2) for m in models]
        )
        line(f"sets lost by more than {LOST} points to the SVM", [str(sum(apart[m] < -LOST)) for m in models])
        ratio = {m: np.divide(seconds[m], np.maximum(seconds["svm"], 1e-9)) for m in models}
        line("processor time over the SVM's: in all", [f"{sum(seconds[m]) / sum(seconds['svm']):.2f}" for m in models])
        line("processor time over the SVM's: median set", [f"{np.median(ratio[m]):.2f}" for m in models])
    if not numbers:
        line("log loss, mean", ["–" if np.isnan(loss[m]).any() else f"{np.mean(loss[m]):.3f}" for m in models])


def main() -> None:
    words = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=words)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join([*DENSE, *NUMBERS])}; all if none is named"
    )
    parser.add_argument("--splits", type=int, default=5, help="splits; sets of more than 5 000 rows have at most 2")
    parser.add_argument("--rows", type=int, default=5_000, help="the most training rows")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}; none: ''")
    parser.add_argument("--json", type=Path, help="file of results, added to and read back")
    parser.add_argument("--again", default="", help="models to measure again, such as mercer's after a change")
    args = parser.parse_args()
    peers = [word for word in args.peers.split(",") if word]
    args.again = [word for word in args.again.split(",") if word]
    for given, known in ((args.sets, [*DENSE, *NUMBERS]), (peers, PEERS), (args.again, [*OWN, *PEERS])):
        for word in given:
            if word not in known:
                parser.error(f"{word!r} is none of {', '.join(known)}")
    models = OWN | {name: PEERS[name] for name in peers}
    warnings.filterwarnings("ignore")
    found = run(args.sets or [*DENSE, *NUMBERS], models, args)
    print(f"mercer {mercer.__version__}; at most {args.rows} training rows; mean ± standard error over splits.")
    for numbers in (False, True):
        part = {name: each for name, each in found.items() if (name in NUMBERS) == numbers}
        if part:
            print_table(part, list(models), numbers)


if __name__ == "__main__":
    main()
