"""Ridge on `AutoFeatures` beside a grid-searched rbf SVC: accuracy and seconds on every dense set of ../shared/data.

    python bench/automatic.py                  all sets; prints the table of docs/advice.md
    python bench/automatic.py sonar pima       these

Both see standardised columns and the same splits; every choice is made inside the training part. The SVC's grid is
C in 0.1, 1, 10, 100 times gamma in 0.1, 1, 10 over the number of columns, three folds. Each runs alone, in turn.
"""

import sys
import time
import warnings

import numpy as np
from data import DENSE, load, splits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer import AutoFeatures


def automatic(p: int):
    return make_pipeline(StandardScaler(), AutoFeatures(), RidgeClassifier())


def grid_searched(p: int):
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.1 / p, 1 / p, 10 / p]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3, n_jobs=-1)


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    print("| set | rows | columns | classes | ridge on AutoFeatures | s | features | rbf SVC, grid of 12 | s |")
    print("|---|---:|---:|---:|---:|---:|---|---:|---:|")
    rows = []
    for name in names:
        X, y = load(name)
        score = {"own": [], "peer": []}
        seconds = {"own": 0.0, "peer": 0.0}
        chosen = []
        for train, test in splits(y):
            for side, make in (("own", automatic), ("peer", grid_searched)):
                start = time.perf_counter()
                model = make(X.shape[1]).fit(X[train], y[train])
                score[side].append(model.score(X[test], y[test]))
                seconds[side] += time.perf_counter() - start
                if side == "own":
                    auto = model[1]
                    chosen.append(f"{auto.method_}, {auto.kernel_}")
        most = max(set(chosen), key=chosen.count)
        own, peer = 100 * np.mean(score["own"]), 100 * np.mean(score["peer"])
        rows.append((own, peer, seconds["own"], seconds["peer"]))
        print(
            f"| {name} | {X.shape[0]} | {X.shape[1]} | {len(set(y))} | {own:.1f} % | {seconds['own']:.1f} | {most} "
            f"| {peer:.1f} % | {seconds['peer']:.1f} |",
            flush=True,
        )
    table = np.array(rows)
    (own, peer), took = table[:, :2].mean(0), table[:, 2:].sum(0)
    print(f"| **mean, sum** | | | | **{own:.2f} %** | **{took[0]:.0f}** | | **{peer:.2f} %** | **{took[1]:.0f}** |")


if __name__ == "__main__":
    main(sys.argv[1:] or DENSE)
