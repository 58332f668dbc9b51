"""Numbers of every size: a finite result or an error in words, and never a NaN in silence.

`MERCER_TEST_CASES=20000` tries more than the few that every run does.
"""

import inspect
import os

import numpy as np
import pytest

from mercer import (
    AKDAQR,
    EKS,
    GDA,
    KANMM,
    KFFS,
    KLFE,
    KMFA,
    KOC,
    KPCA,
    KPLS,
    SKFE,
    TAKES,
    AutoClassifier,
    AutoFeatures,
    AutoRegressor,
    FScore,
    InputWeights,
    IRelief,
    KernelBasis,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KRelief,
    LaplacianScore,
    LassoSelector,
    MultiSURF,
    MutualInfo,
    NumericalError,
    Relief,
    ReliefF,
    RReliefF,
    SKRelief,
)

METHODS = ["gram-schmidt", "kobl", "sparse", "kpca", "nystrom", "rpcholesky", "kfa", "kmeans", "csi"]
ON_A_BASIS = [AKDAQR, GDA, KANMM, KLFE, KMFA, KOC, KPCA, KPLS, SKFE, TAKES, KRelief, SKRelief, EKS]
SELECTORS = [
    Relief,
    ReliefF,
    RReliefF,
    IRelief,
    MultiSURF,
    KFFS,
    FScore,
    MutualInfo,
    LaplacianScore,
    LassoSelector,
    InputWeights,
]
OTHERS = [AutoFeatures, AutoClassifier, AutoRegressor, KernelNeighborsClassifier, KernelNeighborsRegressor]
OF_NUMBERS = (AutoRegressor, KernelNeighborsRegressor, RReliefF)

# What is done to normal rows, a few in turn.
CHANGES = {
    "scale": lambda rng, X: X * 10.0 ** rng.uniform(-300, 300),
    "scale columns": lambda rng, X: X * 10.0 ** rng.uniform(-300, 300, size=X.shape[1]),
    "scale rows": lambda rng, X: X * 10.0 ** rng.uniform(-150, 150, size=(len(X), 1)),
    "offset": lambda rng, X: X + 10.0 ** rng.uniform(0, 300),
    "duplicates": lambda rng, X: X[rng.integers(0, max(1, len(X) // 3), size=len(X))],
    "constant": lambda rng, X: np.where(np.arange(X.shape[1]) == 0, rng.choice([0.0, 1.0, 1e300, -1e-300]), X),
    "dependent": lambda rng, X: np.column_stack([X[:, 1:], X[:, 0], X[:, 0] * (1 + 1e-13 * rng.normal(size=len(X)))]),
    "a row of zeros": lambda rng, X: np.where(np.arange(len(X))[:, None] == 0, 0.0, X),
    "an outlier": lambda rng, X: np.where(
        np.arange(X.size).reshape(X.shape) == 0, rng.choice([1e308, 1e154, 5e-324]), X
    ),
    "whole": lambda _, X: np.round(X),
    "largest": lambda _, X: np.sign(X) * 1.7e308,
    "smallest": lambda _, X: np.sign(X) * 5e-324,
}


def rows(rng):
    X = rng.normal(size=(rng.choice([1, 2, 3, 4, 5, 8, 13, 30, 60]), rng.choice([1, 2, 3, 6, 12])))
    done = [str(name) for name in rng.choice(list(CHANGES), size=rng.integers(0, 4))]
    with np.errstate(all="ignore"):
        for name in done:
            X = np.nan_to_num(CHANGES[name](rng, X), nan=0.0, posinf=1.7e308, neginf=-1.7e308)
    if rng.random() < 0.15:
        X = np.clip(X, -3e38, 3e38).astype(np.float32)
    return X, done


def numbers(rng, n):
    y = rng.normal(size=n)
    with np.errstate(all="ignore"):
        y = [y, y * 10.0 ** rng.uniform(-300, 300), np.full(n, 1.5), np.sign(y) * 1.7e308, y + 1e15][rng.integers(5)]
    return np.nan_to_num(y, posinf=1.7e308, neginf=-1.7e308)


def classes(rng, n):
    rare = (np.arange(n) == rng.integers(n)).astype(int)
    kinds = [rng.integers(0, 2, n), rng.integers(0, 3, n), rare, np.zeros(n, int), np.arange(n), np.arange(n) // 2]
    return kinds[rng.integers(6)]


def kernel(rng):
    poly = {"degree": int(rng.choice([1, 2, 3, 20])), "coef0": float(rng.choice([0, 1, 1e150]))}
    kinds = [
        {},
        {"gamma": float(10.0 ** rng.uniform(-308, 308))},
        {"gamma": str(rng.choice(["scale", "median", "loo"]))},
        {"kernel": "poly", "gamma": float(10.0 ** rng.uniform(-20, 20)), **poly},
        *({"kernel": name} for name in ("linear", "sigmoid", "laplacian", "cosine")),
    ]
    return kinds[rng.integers(len(kinds))]


def basis(rng):
    own = {"random_state": 0, "n_components": [None, 1, 3, 10][rng.integers(4)], "center": bool(rng.random() < 0.3)}
    return KernelBasis(str(rng.choice(METHODS)), **own, **kernel(rng))


def estimator(rng):
    draw = rng.random()
    if draw < 0.25:
        return basis(rng)
    if draw < 0.75:
        made = ON_A_BASIS[rng.integers(len(ON_A_BASIS))]()
        own = {"basis": basis(rng)} if rng.random() < 0.5 else kernel(rng)
        if rng.random() < 0.3:
            own["reg"] = float(rng.choice([0, 1e-300, 1e300, 1e-16]))
        return made.set_params(**{name: value for name, value in own.items() if name in made.get_params(deep=False)})
    kinds = SELECTORS if draw < 0.9 else OTHERS
    return kinds[rng.integers(len(kinds))]()


def results(made, X):
    """Everything that leaves a fitted estimator, by name."""
    if hasattr(made, "transform"):
        yield "features", made.transform(X)
        yield "features of other rows", made.transform(X[::-1] * X.dtype.type(0.5))
    if hasattr(made, "predict"):
        yield "predictions", made.predict(X)
    if hasattr(made, "predict_proba"):
        yield "probabilities", made.predict_proba(X)
    for name, value in vars(made).items():
        if name.endswith("_") and isinstance(value, (np.ndarray, float)):
            yield name, value


def one(seed):
    """Return whether there was a result; an error in words is none. Raises whatever else comes."""
    rng = np.random.default_rng(seed)
    X, done = rows(rng)
    made = estimator(rng)
    y = numbers(rng, len(X)) if isinstance(made, OF_NUMBERS) or rng.random() < 0.2 else classes(rng, len(X))
    weights = {}
    if rng.random() < 0.15 and "sample_weight" in inspect.signature(made.fit).parameters:
        size = 10.0 ** rng.uniform(-300, 300, size=len(X))
        weights = {"sample_weight": [size, (rng.random(len(X)) < 0.5).astype(float)][rng.integers(2)]}
    said = f"seed {seed}: {made!r} on {X.shape} {X.dtype}, {done}, {len(weights)} weights"
    try:
        found = list(results(made.fit(X, y, **weights), X))
    except BaseException as error:
        if isinstance(error, (ValueError, NumericalError, MemoryError)) and str(error).strip():
            return False
        raise AssertionError(said) from error
    for name, value in found:
        value = np.asarray(value)
        assert value.dtype.kind != "f" or np.isfinite(value).all(), f"{name} of {said}"
    return True


@pytest.mark.filterwarnings("ignore")
def test_every_result_is_finite_or_an_error_in_words():
    count = int(os.environ.get("MERCER_TEST_CASES", "250"))
    fitted = sum(one(seed) for seed in range(count))
    assert fitted > 0.3 * count


# Seeds and cases that once failed, each by what broke.


def test_kfa_draws_on_after_it_has_drawn_more_rows_than_it_expected():
    # It panicked: "attempt to subtract with overflow".
    X = np.random.default_rng(0).normal(size=(30, 1))
    X[3, 0] = 1e20
    for seed in range(10):
        made = KernelBasis("kfa", kernel="linear", random_state=seed).fit(X)
        assert np.isfinite(made.transform(X)).all()


@pytest.mark.parametrize("method", ["rpcholesky", "kfa"])
def test_kernel_values_that_cannot_be_added_up_are_refused(method):
    # It panicked: "range end index 6 out of range for slice of length 3".
    with pytest.raises(ValueError, match="cannot be added up\nhint: divide the matrix by its largest value"):
        KernelBasis(method, kernel="precomputed", random_state=0).fit(np.diag([1.5e308] * 3))


def test_clusters_of_rows_that_are_too_far_apart_are_refused():
    # It panicked: "chunk size must be non-zero".
    X = np.array([[1.7e308], [-1.7e308], [1.6e308], [1.5e308], [1.0]])
    with pytest.raises(NumericalError, match="so far apart"):
        KernelBasis("kmeans", gamma=1e-300, n_components=2, random_state=0).fit(X)


def test_features_beyond_float32_are_refused():
    # They were infinite.
    X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    made = KernelBasis("kobl", kernel="poly", gamma=1.0, n_components=2).fit(X)
    with pytest.raises(NumericalError, match="row 2 is too large for a number of 32 bits\nhint: give float64 rows"):
        made.transform(np.array([[1, 1], [3e30, 3e30]], np.float32))


def test_targets_whose_squares_overflow_are_refused():
    # Predictions and errors were infinite.
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=r"at row 1, but its square must be a number: at most 1e150"):
        AutoRegressor().fit(X, 1e200 * X[:, 0])


def test_neighbours_whose_numbers_cannot_be_added_up_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    made = KernelNeighborsRegressor(5, gamma=1.0).fit(X, np.full(30, 1.7e308))
    with pytest.raises(NumericalError, match="too large to be added up"):
        made.predict(X)


def test_coefficients_of_the_lasso_that_overflow_are_refused():
    rng = np.random.default_rng(0)
    X = np.sign(rng.normal(size=(60, 1))) * 5e-324
    with pytest.raises(NumericalError, match="the score of column 1 by `lasso`"):
        LassoSelector().fit(X, np.sign(X[:, 0]) + 0.01 * rng.normal(size=60))


UNITLESS = [KernelBasis(method, n_components=6, random_state=0) for method in METHODS]
UNITLESS += [made() for made in (AKDAQR, GDA, KANMM, KLFE, KMFA, KOC, KPCA, KPLS, TAKES, KRelief, SKRelief, EKS)]
UNITLESS += [made() for made in (ReliefF, MultiSURF, KFFS, FScore, MutualInfo)]


@pytest.mark.parametrize(
    "made", UNITLESS, ids=lambda made: f"{type(made).__name__} {getattr(made, 'method', '')}".strip()
)
def test_results_do_not_depend_on_the_unit_of_the_rows(made):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 4))
    y = (X[:, 0] ** 2 + X[:, 1] > 0.6).astype(int)

    def found(X):
        made.fit(X, y)
        return made.scores_ if isinstance(made, tuple(SELECTORS)) else np.abs(made.transform(X))

    plain = found(X)
    refused = 0
    for power in (-1000, -500, -100, -30, 30, 100, 500, 1000):
        try:
            scaled = found(X * 2.0**power)
        except (ValueError, NumericalError):
            refused += 1
            continue
        np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-6 * np.abs(plain).max(), err_msg=f"2^{power}")
    # Only the outermost sizes.
    assert refused <= 4
