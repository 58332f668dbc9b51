"""Table 2: reconstruction costs; and the Hilbert matrix of section 3."""

from pathlib import Path

import numpy as np
from scipy.linalg import qr
from sklearn.metrics.pairwise import rbf_kernel
from takes_common import split, width_for_dimension

import mercer
from mercer import KernelBasis


def costs(data: Path, *, name: str, scaling: str, dimension: int, seeds: list[int]) -> dict:
    """Measure all bases on the training rows of each split, at the width that gives KOBL the paper's dimension."""
    runs = [one_split(data, name, scaling, dimension, seed) for seed in seeds]
    return {key: [run[key] for run in runs] for key in runs[0]}


def one_split(data: Path, name: str, scaling: str, dimension: int, seed: int) -> dict[str, float]:
    """Return every number of one split; a cost is E(M), the mean distance of the training images from the span."""
    rows, test, labels, _ = split(data, name, seed, scaling)
    n, gamma = len(rows), width_for_dimension(rows, dimension)
    kernel = rbf_kernel(rows, gamma=gamma)
    kobl = KernelBasis("kobl", gamma=gamma, threshold="linear").fit(rows)
    m = kobl.n_components_
    ordered = KernelBasis("gram-schmidt", gamma=gamma).fit(rows)
    components = KernelBasis("kpca", gamma=gamma).fit(rows)
    centred = KernelBasis("kpca", gamma=gamma, center=True).fit(rows)
    plain = plain_gram_schmidt(kernel)
    kda = mercer.GDA(reg=1e-3, basis=components).fit(rows, labels)
    cost = kobl.reconstruction_cost(rows)
    return {
        "gamma": gamma,
        "m": m,
        "kobl": cost,
        "kobl_test": kobl.reconstruction_cost(test),
        "kobl_loss": mercer.metrics.orthogonality_loss(kobl),
        # Theorem 1 holds where this is below 1, and in the form of its proof where the next one is.
        "bound": cost / (kobl.pivot_norms_[0] * m / n),
        "bound_proof": cost / (kobl.pivot_norms_[0] * (n - m) / n * m / n),
        "largest_rise": float(np.diff(kobl.pivot_norms_).max()),
        "kgs_dim": ordered.n_components_,
        "kgs": ordered.reconstruction_cost(rows),
        "kgs_loss": mercer.metrics.orthogonality_loss(ordered),
        "kgs_at_m": KernelBasis("gram-schmidt", gamma=gamma, n_components=m).fit(rows).reconstruction_cost(rows),
        "plain_dim": len(plain),
        "plain": literal_cost(plain, kernel),
        "plain_span": span_cost(plain, kernel),
        "plain_loss": float(np.linalg.norm(plain @ kernel @ plain.T - np.eye(len(plain)))),
        "kpca_dim": components.n_components_,
        "kpca": components.reconstruction_cost(rows),
        "kpca_at_m": KernelBasis("kpca", gamma=gamma, n_components=m).fit(rows).reconstruction_cost(rows),
        "kpca_centred": span_cost(centred.coefficients_, kernel),
        "kda": span_cost(directions(kda), kernel),
        "kda_dim": kda.n_components_,
        "rde": mercer.metrics.relevant_dimension(kernel, labels),
        "m_at_scale": KernelBasis("kobl", gamma="scale", threshold="linear").fit(rows).n_components_,
    }


def directions(kda: mercer.GDA) -> np.ndarray:
    """Write discriminant directions as weights of the training images."""
    return kda.components_ @ kda.basis_.coefficients_


def plain_gram_schmidt(kernel: np.ndarray) -> np.ndarray:
    """Orthogonalise all images in their order, once each: equations (6) to (9) without pivots and threshold.

    mercer orthogonalises twice and leaves out what double precision cannot hold, so it has no such basis. Rows are
    weights of the training images. Left out is only what cannot be normalised: a squared norm that rounding made
    negative.
    """
    weights, kept = np.eye(len(kernel)), []
    for i in range(len(kernel)):
        square = weights[i] @ kernel @ weights[i]
        if square <= 0:
            continue
        weights[i] /= square**0.5
        kept.append(i)
        weights[i + 1 :] -= np.outer(weights[i + 1 :] @ (kernel @ weights[i]), weights[i])
    return weights[kept]


def literal_cost(weights: np.ndarray, kernel: np.ndarray) -> float:
    """Apply the second line of equation (19) as it stands: it takes the vectors for orthonormal, be they so or not."""
    features = weights @ kernel
    square = np.diag(kernel) - 2 * (features**2).sum(0) + ((features @ weights.T @ features) * features).sum(0)
    return float(np.sqrt(np.maximum(square, 0)).mean())


def span_cost(weights: np.ndarray, kernel: np.ndarray) -> float:
    """Apply the first line of equation (19): the distance from the span, by least squares."""
    features = weights @ kernel
    values, vectors = np.linalg.eigh(features @ weights.T)
    good = values > 1e-12 * values[-1]
    onto = (vectors[:, good] / np.sqrt(values[good])).T @ features
    return float(np.sqrt(np.maximum(np.diag(kernel) - (onto**2).sum(0), 0)).mean())


def hilbert(data: Path, *, size: int) -> dict[str, float]:
    """Count the independent vectors of the Hilbert matrix in five ways."""
    i = np.arange(size)
    matrix = 1 / (i[:, None] + i + 1.0)
    diagonal = np.abs(np.diag(qr(matrix, mode="r", pivoting=True)[0]))
    plain = plain_gram_schmidt(matrix @ matrix)

    def count(method: str, kernel: np.ndarray, **options) -> int:
        return KernelBasis(method, kernel="precomputed", **options).fit(kernel).n_components_

    return {
        "singular": int(np.linalg.matrix_rank(matrix)),
        "pivoted_qr": int((diagonal > size * np.finfo(float).eps * diagonal[0]).sum()),
        "kobl_zero": count("kobl", matrix, threshold=0.0),
        "kobl_rule": count("kobl", matrix, threshold="linear"),
        "kobl_rule_columns": count("kobl", matrix @ matrix, threshold="linear"),
        "gram_schmidt": count("gram-schmidt", matrix),
        "plain_dim": len(plain),
        "plain_loss": float(np.linalg.norm(plain @ matrix @ matrix @ plain.T - np.eye(len(plain)))),
    }
