"""A small picture for the page of every method, drawn when the site is built: `python docs/method_pictures.py FOLDER`.

Methods of one kind are drawn on the same rows in the same way, so that their pictures can be compared: bases by their
landmarks, selectors by the scores of twelve columns, extractors by their first features, systems by what they keep.
Each picture is drawn twice, for light and for dark pages, with a text beside it for its caption.
"""

import sys
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

import mercer

THEMES = {
    "light": {"ink": "#22272e", "faint": "#8a929c", "classes": ("#0072B2", "#D55E00", "#009E73")},
    "dark": {"ink": "#d7dce2", "faint": "#89929d", "classes": ("#56B4E9", "#E69F00", "#3fc79a")},
}
SIZE = (7.0, 2.9)


def blobs(n=300, seed=0):
    """Return rows of two columns: a large dense group, a small one and a few rows far away."""
    rng = np.random.default_rng(seed)
    parts = [(0.7, [0, 0], 0.45), (0.25, [2.2, 0.6], 0.3), (0.05, [0.8, 2.6], 0.35)]
    rows = [rng.normal(center, scale, size=(round(n * share), 2)) for share, center, scale in parts]
    return rng.permutation(np.vstack(rows))


def arms(n=450, seed=0):
    """Return rows of two columns in three bent arms, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    along = rng.uniform(0.25, 1.0, size=n)
    angle = 2 * np.pi * y / 3 + 1.6 * along
    X = np.column_stack([along * np.cos(angle), along * np.sin(angle)]) + rng.normal(scale=0.07, size=(n, 2))
    return X, y


COLUMNS = ["line", "line, weak", "copy of line", "square", "xor 1", "xor 2", *("noise",) * 6]


def columns(n=500, seed=1, numbers=False):
    """Return twelve columns of which six matter in different ways, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    X[:, 2] = X[:, 0] + 0.5 * rng.normal(size=n)
    y = X[:, 0] + 0.5 * X[:, 1] + 0.8 * (X[:, 3] ** 2 - 1) + 1.6 * np.sign(X[:, 4] * X[:, 5]) + 0.3 * rng.normal(size=n)
    return X, y if numbers else (y > 0).astype(int)


def basis(name, theme):
    """Draw the first landmarks of a basis, and what is left of the kernel by their number."""
    X, new = blobs(), blobs(seed=1)
    y = (X[:, 0] > 1.2).astype(int)
    rule = {"tol": 0} if name in ("kobl", "csi") else {"nu": 1e-3} if name == "sparse" else {}
    settings = {"gamma": 1.0, "random_state": 0, **rule}
    sizes = [1, 2, 3, 5, 8, 12, 16, 20, 30]

    def left(method, m, **extra):
        Z = mercer.KernelBasis(method, n_components=m, **{**settings, **extra}).fit(X, y).transform(new)
        return 1 - (Z**2).sum(axis=1).mean()

    _, (plane, curve) = plt.subplots(1, 2, figsize=SIZE)
    plane.plot(*X.T, ".", ms=3, color=theme["faint"])
    if name == "kpca":
        fitted = mercer.KernelBasis("kpca", gamma=1.0, n_components=2).fit(X)
        contours(plane, X, fitted, theme, [1])
        shown = "lines of equal second component"
    else:
        fitted = mercer.KernelBasis(name, n_components=12, **settings).fit(X, y)
        for number, place in enumerate(fitted.landmarks_[:12], start=1):
            plane.annotate(
                str(number), place, color=theme["ink"], fontsize=8, xytext=(3, 2), textcoords="offset points"
            )
            plane.plot(*place, "o", ms=5, color=theme["classes"][1])
        shown = "the first twelve landmarks" if name != "kmeans" else "twelve landmarks"
    plane.set(xticks=[], yticks=[], title="300 rows")
    curve.semilogy(sizes, [left(name, m) for m in sizes], "o-", ms=4, color=theme["classes"][1], label=name)
    if name != "nystrom":
        draws = [[left("nystrom", m, random_state=s, tol=None, nu=None) for m in sizes] for s in range(5)]
        curve.semilogy(sizes, np.mean(draws, axis=0), "--", color=theme["faint"], label="random rows (mean of 5)")
    curve.set(xlabel="components", title="mean residual of 300 new rows")
    curve.legend(fontsize=8)
    labelled = " Labels say whether a row lies in the group on the right." if name == "csi" else ""
    rest = " Random rows are the mean of five draws." if name != "nystrom" else ""
    return f"Left: 300 rows and {shown}. Right: what is left of the kernel at 300 new rows, by size.{rest}{labelled}"


SELECTORS = {
    "relief": (mercer.Relief, {}),
    "relieff": (mercer.ReliefF, {}),
    "rrelieff": (mercer.RReliefF, {}),
    "irelief": (mercer.IRelief, {}),
    "multisurf": (mercer.MultiSURF, {}),
    "surf": (mercer.SURF, {}),
    "kffs": (mercer.KFFS, {}),
    "f": (mercer.FScore, {}),
    "mi": (mercer.MutualInfo, {}),
    "laplacian": (mercer.LaplacianScore, {}),
    "lasso": (mercer.LassoSelector, {"random_state": 0}),
}


def selector(name, theme):
    """Draw the scores of twelve columns."""
    make, settings = SELECTORS[name]
    X, y = columns(numbers=name == "rrelieff")
    if name == "laplacian":  # it sees no labels: give it groups to find
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 12))
        X[:, :3] += 5 * rng.integers(2, size=500)[:, None]
        names, helpful = [*("group",) * 3, *("noise",) * 9], 3
    else:
        names, helpful = COLUMNS, 6
    fitted = make(**settings).fit(X, y)
    scores = fitted.scores_ if name != "kffs" else 13 - fitted.ranking_
    _, axes = plt.subplots(figsize=(SIZE[0], 2.7))
    axes.bar(range(12), scores, color=[theme["classes"][0]] * helpful + [theme["faint"]] * (12 - helpful))
    axes.axhline(0, color=theme["faint"], lw=0.8)
    axes.set_xticks(range(12), names, rotation=35, ha="right")
    axes.set(ylabel="score" if name != "kffs" else "12: joined first")
    if name == "laplacian":
        return "Scores of twelve columns of 500 rows without labels: three hold the same two groups, nine are noise."
    target = "a number" if name == "rrelieff" else "a class"
    what = "Scores" if name != "kffs" else "Rounds in which the ensemble took each"
    return (
        f"{what} of twelve columns of 500 rows for {target} that depends on one column as a line, weakly on a second, "
        "on the square of one, and on whether two (xor) have the same sign. Grey columns are noise."
    )


EXTRACTORS = {
    "klfe": mercer.KLFE,
    "skfe": mercer.SKFE,
    "gda": mercer.GDA,
    "koc": mercer.KOC,
    "akda-qr": mercer.AKDAQR,
    "kpls": mercer.KPLS,
    "kmfa": mercer.KMFA,
    "kanmm": mercer.KANMM,
}


def contours(axes, X, fitted, theme, which):
    """Draw lines along which a feature has the same value."""
    low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    across, up = np.meshgrid(np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80))
    values = fitted.transform(np.column_stack([across.ravel(), up.ravel()]))
    for feature in which:
        axes.contour(
            across, up, values[:, feature].reshape(across.shape), 8, colors=theme["ink"], linewidths=0.8, alpha=0.7
        )


def extractor(name, theme):
    """Draw lines of equal first feature between the rows, and new rows by two features."""
    X, y = arms()
    new, classes = arms(seed=1)
    settings = {"n_components": 2} if name not in ("koc",) else {}
    fitted = EXTRACTORS[name](**settings).fit(X, y)
    _, (plane, features) = plt.subplots(1, 2, figsize=SIZE)
    contours(plane, X, fitted, theme, [0])
    Z = fitted.transform(new)
    for c, marker in enumerate("os^"):
        plane.plot(*X[y == c].T, marker, ms=2.5, color=theme["classes"][c])
        features.plot(Z[classes == c, 0], Z[classes == c, 1], marker, ms=2.5, color=theme["classes"][c])
    plane.set(xticks=[], yticks=[], title="lines of equal first feature")
    features.set(xticks=[], yticks=[], title="new rows by two features", xlabel="feature 0", ylabel="feature 1")
    return (
        "Left: 450 rows of three classes, and lines along which the first feature is the same. "
        "Right: 450 new rows by the first two features."
    )


SYSTEMS = {
    "takes": lambda: mercer.TAKES(n_features=10, gamma=1.0),
    "k-relief": lambda: mercer.KRelief(n_features=10, gamma=1.0),
    "sk-relief": lambda: mercer.SKRelief(n_features=10, gamma=1.0),
    "eks": lambda: mercer.EKS("relieff", n_features=10, gamma=1.0),
}


def system(name, theme):
    """Draw the scores of a basis' coordinates, and new rows by the best two."""
    X, y = make_circles(300, factor=0.55, noise=0.1, random_state=0)
    new, classes = make_circles(300, factor=0.55, noise=0.1, random_state=1)
    fitted = SYSTEMS[name]().fit(X, y)
    kept = fitted.get_support()
    _, (bars, features) = plt.subplots(1, 2, figsize=SIZE)
    bars.bar(np.flatnonzero(~kept), fitted.scores_[~kept], color=theme["faint"])
    bars.bar(np.flatnonzero(kept), fitted.scores_[kept], color=theme["classes"][0])
    bars.axhline(0, color=theme["faint"], lw=0.8)
    bars.set(xlabel="coordinate of the basis", title="scores; ten in colour are kept")
    Z = fitted.transform(new)
    best = np.argsort(fitted.ranking_[kept])[:2]
    for c, marker in enumerate("os"):
        features.plot(*Z[classes == c][:, best].T, marker, ms=3, color=theme["classes"][c])
    features.set(xticks=[], yticks=[], title="new rows by the best two")
    rule = " TAKES keeps those that joined its ensemble first, whatever their weight." if name == "takes" else ""
    return f"Two rings of 300 rows, γ = 1. Left: scores of the coordinates. Right: 300 new rows by the best two.{rule}"


def pictures():
    """Return the function that draws the picture of each page."""
    bases = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]
    return (
        dict.fromkeys(bases, basis)
        | dict.fromkeys(SELECTORS, selector)
        | dict.fromkeys(EXTRACTORS, extractor)
        | dict.fromkeys(SYSTEMS, system)
    )


def classes():
    """Return the class of each page, by name."""
    made = {name: make for name, (make, _) in SELECTORS.items()} | EXTRACTORS
    made |= {"takes": mercer.TAKES, "k-relief": mercer.KRelief, "sk-relief": mercer.SKRelief, "eks": mercer.EKS}
    return {name: made.get(name, mercer.KernelBasis).__name__ for name in pictures()} | {"kpca": "KPCA"}


def write(folder):
    """Draw every picture that is missing or older than this file."""
    folder.mkdir(parents=True, exist_ok=True)
    matplotlib.use("agg")
    for name, draw in pictures().items():
        caption = folder / f"{name}.txt"
        if caption.exists() and caption.stat().st_mtime > Path(__file__).stat().st_mtime:
            continue
        for theme, colours in THEMES.items():
            with plt.rc_context(look(colours)), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # settings are chosen for the picture
                text = draw(name, colours)
                plt.savefig(folder / f"{name}-{theme}.svg", transparent=True, metadata={"Date": None})
                plt.close("all")
        caption.write_text(text, encoding="utf-8")


def look(colours):
    """Return matplotlib's settings for one theme."""
    ink = ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color")
    return dict.fromkeys(ink, colours["ink"]) | {
        "figure.constrained_layout.use": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "font.size": 9,
        "legend.frameon": False,
        "svg.hashsalt": "mercer",
    }


if __name__ == "__main__":
    write(Path(sys.argv[1]))
