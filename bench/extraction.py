"""GDA and KPLS beside discriminant analysis and PLS on Nystroem's features, in one run: `make bench`.

The same number of landmarks, drawn uniformly by both, and the same number of features. Both sides learn and transform
the training rows. Every job and its peers are timed in turn, several times; the ratio of the medians is what counts.
"""

import numpy as np
from basis import GAMMA, ringnorm_classes
from measure import arguments, keep, report, side_by_side
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

import mercer


def on_nystroem(model, m: int):
    return make_pipeline(Nystroem(gamma=GAMMA, n_components=m, random_state=0), model)


def explained(z: np.ndarray, y: np.ndarray) -> float:
    """Share of the labels' variance that the features explain on rows that were not seen."""
    half = len(z) // 2
    one = np.column_stack([z, np.ones(len(z))])
    fit = np.linalg.lstsq(one[:half], y[:half])[0]
    return float(1 - np.var(y[half:] - one[half:] @ fit) / np.var(y[half:]))


def beside(name: str, own: dict, peers: dict, n: int, m: int, repeats: int, figures: list) -> None:
    x, y = ringnorm_classes(n)
    new, truth = ringnorm_classes(10_000, seed=1)
    models = {**own, **peers}
    times = side_by_side(
        {key: lambda model=model: model.fit(x, y).transform(x) for key, model in models.items()}, repeats
    )
    for key in own:
        for peer in peers:
            report(f"{name} on {key}, n = {n}, m = {m}, against {peer}", times[key], times[peer], figures)
    shares = {key: explained(model.transform(new), truth) for key, model in models.items()}
    print(f"  share of the labels' variance explained on new rows: {shares}", flush=True)
    figures.append({"job": f"{name}, explained", **shares})


def main() -> None:
    given = arguments(__doc__)
    n, m, repeats = (2_000, 100, 1) if given.quick else (20_000, 1_000, 3)
    figures: list = []
    nystrom = mercer.KernelBasis("nystrom", gamma=GAMMA, n_components=m)
    kobl = mercer.KernelBasis("kobl", gamma=GAMMA, n_components=m, threshold=0.0)
    peers = {
        "LDA, svd": on_nystroem(LinearDiscriminantAnalysis(n_components=1), m),
        "LDA, eigen": on_nystroem(LinearDiscriminantAnalysis("eigen", shrinkage=1e-3, n_components=1), m),
    }
    own = {"nystrom": mercer.GDA(basis=nystrom), "kobl": mercer.GDA(basis=kobl)}
    beside("GDA", own, peers, n, m, repeats, figures)
    own = {"nystrom": mercer.KPLS(5, basis=nystrom), "kobl": mercer.KPLS(5, basis=kobl)}
    peers = {"PLSRegression": on_nystroem(PLSRegression(5, scale=False), m)}
    beside("KPLS", own, peers, n, m, repeats, figures)
    keep(figures, given.json)


if __name__ == "__main__":
    main()
