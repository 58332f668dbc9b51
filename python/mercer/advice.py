"""What to use on a data set, before anything is fitted: `advise`."""

from __future__ import annotations

import json
import textwrap
import warnings
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from mercer import _core
from mercer._catalogue import as_seed
from mercer._device import device_for, to_host
from mercer._input import Task, refuse_collections, row_weights
from mercer._named import estimator_of, value_of
from mercer._words import Scale
from mercer.comparison import rows_and_target
from mercer.select import RandomState

__all__ = ["Advice", "Finding", "advise"]


class Finding(NamedTuple):
    """One cheap look at the data: what was looked at, what was seen and what it means here."""

    name: str
    value: str
    meaning: str


class Advice:
    """What `advise` found out about a data set, and what it recommends. Printed, it explains itself.

    Attributes
    ----------
    verdict : {"helps", "makes no difference", "hurts"}
        Whether kernel features suit the data; where they do not, the recommended kernel is "linear". Where rows held
        out are predicted no better than by chance, a kernel makes no difference.
    method : str
        The method to use: a name of the catalogue.
    settings : dict
        Its settings that differ from the defaults, by their names in the catalogue.
    reasons : list of str
        Why, one sentence each.
    findings : list of Finding
        What was looked at.
    alignments : ndarray of shape (n_widths, 2)
        Widths, and the centred alignment of the kernel with the labels at each.
    loo_by_gamma : ndarray of shape (n_widths, 2)
        Widths, and the leave-one-out error of ridge at each.
    loo_by_size : ndarray of shape (n_sizes, 2)
        Sizes of the basis, and the leave-one-out error of ridge with each, at the width chosen.
    inner : list of (str, float, float)
        Candidates with mean score and standard error on inner folds, best first; "raw" is the columns.
    headline : str
        The answer in a sentence.
    score : dict or None
        How well ridge on the recommended features predicts rows that were held out: `measure`, `value`, `chance` (the
        mean with shuffled labels) and `p_value`. None where too few rows are there.
    rows : int
        Rows looked at.
    scale : {"standard", "min-max", "unit", "none"}
        How the columns, or with "unit" the rows, were scaled: what the settings are right for.
    task : {"auto", "classes", "numbers"}
        What the labels were said to be.
    warnings : list of str
        What else to know.
    """

    def __init__(
        self, found: dict[str, Any], *, scale: Scale = "none", sparse_rows: bool = False, task: Task = "auto"
    ) -> None:
        pairs = {name: np.array(found[name]).reshape(-1, 2) for name in ("alignments", "loo_by_gamma", "loo_by_size")}
        self.verdict: str = found["verdict"]
        self.method: str = found["method"]
        self.settings: dict[str, Any] = {name: value_of(name, text) for name, text in found["settings"].items()}
        self.reasons: list[str] = found["reasons"]
        self.findings: list[Finding] = [Finding(**finding) for finding in found["findings"]]
        self.alignments: NDArray[np.float64] = pairs["alignments"]
        self.loo_by_gamma: NDArray[np.float64] = pairs["loo_by_gamma"]
        self.loo_by_size: NDArray[np.float64] = pairs["loo_by_size"]
        self.inner: list[tuple[str, float, float]] = [(name, mean, error) for name, mean, error in found["inner"]]
        self.rows: int = found["rows"]
        self.headline: str = found["headline"]
        self.score: dict[str, Any] | None = found["score"]
        self.scale = scale
        self.task = task
        self.warnings: list[str] = found["warnings"]
        self._sparse_rows = sparse_rows

    def estimator(self) -> Any:
        """Return the recommended estimator, unfitted, for rows that are scaled as `scale` says.

        Returns
        -------
        estimator : KernelBasis, system or extractor
            A new one at every call.

        Examples
        --------
        >>> import mercer
        >>> from sklearn.datasets import make_circles
        >>> X, y = make_circles(200, factor=0.5, noise=0.1, random_state=0)
        >>> type(mercer.advise(X, y).estimator()).__name__ in ("GDA", "KLFE", "KernelBasis")
        True
        """
        return estimator_of(self.method, self.settings).set_params(task=self.task)

    def pipeline(self) -> Pipeline:
        """Return the recommended estimator behind the scaler that it needs, unfitted.

        Returns
        -------
        pipeline : Pipeline
            A new one at every call; `mercer.save` takes it once it is fitted. Put a model of your own behind it.

        Examples
        --------
        >>> import mercer
        >>> from sklearn.datasets import make_circles
        >>> from sklearn.linear_model import RidgeClassifier
        >>> from sklearn.pipeline import make_pipeline
        >>> X, y = make_circles(300, factor=0.5, noise=0.1, random_state=0)
        >>> advice = mercer.advise(X[:200], y[:200])
        >>> model = make_pipeline(advice.pipeline(), RidgeClassifier(alpha=1e-3))
        >>> model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
        True
        """
        scalers = {
            ("standard", False): StandardScaler(),
            ("standard", True): StandardScaler(with_mean=False),
            ("min-max", False): MinMaxScaler(),
            ("min-max", True): MaxAbsScaler(),
            ("unit", False): Normalizer(),
            ("unit", True): Normalizer(),
        }
        scaler = scalers.get((self.scale, self._sparse_rows))
        return make_pipeline(*([] if scaler is None else [scaler]), self.estimator())

    def code(self) -> str:
        """Return a line of Python that makes the recommended pipeline.

        Returns
        -------
        code : str
            For example "make_pipeline(StandardScaler(), KernelBasis(gamma=0.05, n_components=300))".
        """
        with config_context(print_changed_only=True):
            steps = [step.__repr__(N_CHAR_MAX=10_000) for _, step in self.pipeline().steps]
        return f"make_pipeline({', '.join(' '.join(step.split()) for step in steps)})"

    def __repr__(self) -> str:
        return f"<Advice: a kernel {self.verdict}; use {self.code()}>"

    def __str__(self) -> str:
        def indented(text: str, mark: str = "  ") -> str:
            return textwrap.fill(text, 100, initial_indent=mark, subsequent_indent=" " * len(mark))

        lines = [self.headline, "", "Use", f"  {self.code()}", "", "Why"]
        lines += [indented(reason, "  - ") for reason in self.reasons]
        lines += ["", f"What was seen, on {self.rows} rows"]
        for finding in self.findings:
            lines += [f"  {finding.name}: {finding.value}", indented(finding.meaning, "    ")]
        lines += ["", "Inner folds (the mean of ridge and the nearest neighbour)"]
        width = max((len(name) for name, _, _ in self.inner), default=0)
        lines += [f"  {name:<{width}}  {mean:.4f} ± {error:.4f}" for name, mean, error in self.inner]
        if self.warnings:
            lines += ["", "Beware", *[indented(text, "  - ") for text in self.warnings]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def table(head: list[str], rows: list[list[str]]) -> str:
            cells = "".join(f"<th>{escape(text)}</th>" for text in head)
            body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
            return f"<table><tr>{cells}</tr>{body}</table>"

        items = "".join(f"<li>{escape(text)}</li>" for text in [*self.reasons, *self.warnings])
        inner = [[name, f"{mean:.4f} ± {error:.4f}"] for name, mean, error in self.inner]
        return (
            f"<div><p><b>{escape(self.headline)}</b></p><pre>{escape(self.code())}</pre><ul>{items}</ul>"
            f"{table(['looked at', 'seen', 'meaning'], [list(finding) for finding in self.findings])}"
            f"{table(['on inner folds', 'score'], inner)}</div>"
        )


def advise(
    X: Any,
    y: Any,
    *,
    scale: Scale = "standard",
    task: Task = "auto",
    random_state: RandomState = 0,
    memory: int | None = None,
    sample_weight: Any = None,
    device: str = "cpu",
    verbose: int = 0,
) -> Advice:
    """Say whether a kernel helps on these data, which one, how wide, how many coordinates, and what to make of them.

    A few cheap looks at no more than 5000 rows: kernels and widths by the exact leave-one-out error of ridge, the size
    of the basis by the same, and methods by inner folds.

    Like `compare`, and unlike the estimators, it scales; `Advice.pipeline` has the same scaling in it.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Rows, at least 6.
    y : array-like of shape (n_samples,)
        Labels. Text, booleans, categories and whole numbers are classes; fractions are numbers. Whole numbers are
        numbers, too, if more than 20 and more than sqrt(n_samples) of them are distinct and the rarest occurs fewer
        than 5 times; where that is not obvious, a warning says what they were read as. `task` overrides.
    scale : {"standard", "min-max", "unit", "none"}, default="standard"
        How columns are scaled first; "unit" divides every row by its length instead.
    task : {"auto", "classes", "numbers"}, default="auto"
        What the labels are ("classification" and "regression" mean the same); "auto" decides by values, see `y`.
    random_state : int, RandomState instance or None, default=0
        Seed of every random choice. None means 0.
    memory : int, default=None
        Bytes that a basis may take. None: what the environment variable ``MERCER_MEMORY`` says, else 8 GiB.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts: a row of weight 2 counts as two, one of weight 0 as none. None: all the same. With weights
        the columns are tried with ridge alone, because the linear support vector machine takes none.
    device : str, default="cpu"
        Where passes over the rows are computed: "cpu", "cuda" (the first NVIDIA GPU), "cuda:1" (the one with that
        number) or "auto" (a GPU if there is one that supports the method).
    verbose : int, default=0
        Above 0, progress is written to `sys.stderr`.

    Returns
    -------
    advice : Advice
        Print it; or take `advice.pipeline()` or `advice.estimator()`.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(200, factor=0.5, noise=0.1, random_state=0)
    >>> advice = mercer.advise(X, y)
    >>> advice.verdict
    'helps'
    >>> print(advice)
    A kernel helps here.
    ...
    """
    refuse_collections("advise", X=X, y=y)
    device, X, y = device_for(X, device), to_host(X), to_host(y)  # of which a sample is looked at
    rows, target = rows_and_target(X, y)
    found = _core.advise(
        rows,
        target,
        scale=scale,
        seed=as_seed(random_state),
        memory=None if memory is None else int(memory),
        task=task,
        weights=row_weights(None, rows, y, sample_weight),
        device=device,
        verbose=int(verbose),
    )
    advice = Advice(json.loads(found), scale=scale, sparse_rows=sparse.issparse(rows), task=task)
    for text in advice.warnings:
        warnings.warn(text, UserWarning, stacklevel=2)
    return advice
