"""Is following `advise` better than the defaults? Every dense set of ../shared/data, the same splits for all.

    python bench/advice.py                     all sets; prints the table of docs/advice.md

The default of a method is that method with nothing said: rbf, gamma = scale, its own basis. Compared are the advice,
the same method with its defaults, and TAKES with its defaults, each evaluated with ridge with its penalty chosen by
leave-one-out and by the nearest neighbour; what counts is the better of the two, for each.
"""

import sys
import warnings

import numpy as np
from data import DENSE, load, splits
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import mercer

PENALTIES = np.logspace(-6, 6, 25)


def evaluated(features, train, test, y) -> float:
    """Return the better of ridge and the nearest neighbour; without features, the share of the largest class."""
    try:
        made = features.fit(*train)
    except ValueError:  # TAKES keeps nothing where its ensemble is wrong on half of the rows
        return float(np.mean(y == max(set(train[1]), key=list(train[1]).count)))
    a, b = made.transform(train[0]), made.transform(test[0])
    models = RidgeClassifierCV(alphas=PENALTIES), KNeighborsClassifier(1)
    return max(model.fit(a, train[1]).score(b, y) for model in models)


def plain(method: str):
    """Return a method with its defaults."""
    if method in mercer.KernelBasis._parameter_constraints["method"][0].options:
        return mercer.KernelBasis(method)
    return {"gda": mercer.GDA, "klfe": mercer.KLFE, "kpls": mercer.KPLS}[method]()


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    print("| set | advice | its accuracy | the same method, defaults | TAKES, defaults |")
    print("|---|---|---:|---:|---:|")
    table = []
    for name in names:
        X, y = load(name)
        scores, said = [], []
        for train, test in splits(y):
            if len(train) > 2_000:  # the defaults span all rows
                train = np.sort(np.random.default_rng(0).permutation(train)[:2_000])
            scaler = StandardScaler().fit(X[train])
            a, b = (scaler.transform(X[train]), y[train]), (scaler.transform(X[test]), y[test])
            advice = mercer.advise(*a, scale="none")
            said.append(f"{advice.method}, {dict(advice.settings).get('kernel', 'rbf')}")
            candidates = advice.estimator(), plain(advice.method), mercer.TAKES()
            scores.append([evaluated(one, a, b, y[test]) for one in candidates])
        mean = 100 * np.mean(scores, axis=0)
        error = (
            100 * np.std(np.subtract(*np.transpose(scores)[:2]), ddof=1) / np.sqrt(len(scores))
            if len(scores) > 1
            else 0
        )
        table.append((*mean, error))
        print(
            f"| {name} | {max(set(said), key=said.count)} | {mean[0]:.1f} % | {mean[1]:.1f} % | {mean[2]:.1f} % |",
            flush=True,
        )
    table = np.array(table)
    mean = table.mean(0)
    print(f"| **mean** | | **{mean[0]:.1f} %** | **{mean[1]:.1f} %** | **{mean[2]:.1f} %** |")
    for at, what in ((1, "the same method's defaults"), (2, "TAKES' defaults")):
        print(f"not worse than {what} on {int(np.sum(table[:, 0] >= table[:, at] - 1e-9))} of {len(table)} sets")


if __name__ == "__main__":
    main(sys.argv[1:] or DENSE)
