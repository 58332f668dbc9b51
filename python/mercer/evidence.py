"""Evidence about features as sums over rows: accumulate parts, merge them, finish.

The sums serve rows that are too many for memory, threads and machines alike: each adds up its own rows, the parts are
merged in any order, and what comes out is as if all rows had been in one place. They can be pickled.

>>> import numpy as np
>>> from mercer.evidence import Moments
>>> rng = np.random.default_rng(0)
>>> all_rows = Moments(3)
>>> for _ in range(10):  # parts of a file, say
...     all_rows = all_rows.accumulate(rng.normal(size=(1000, 3)))
>>> all_rows.finish()["total"].shape
(3, 3)

Whole fits see rows in the same way: `fit_partitions` asks every partition a question and merges the answers, pass after
pass. `InProcess` is the plainest engine that brings them there; `mercer.dask` has one for Dask, and one of your own
needs the methods of `Partitions` and `answer`, a pure function of a partition's rows, its state and a question. What is
asked:

- ``look``, ``label``, ``check``, ``take``, ``class-sums``: what rows and labels are, some of the rows, sums by class;
- ``begin``, ``advance``, ``offer``, ``open-sum``, ``draw``, ``in-order``, ``products``, ``residual``: what is left of
  the rows beside the pivots so far, for the bases;
- ``moments``, ``signs``: sums of a map's features, and the rows that decide on their signs, for the extractors;
- ``nearest``, ``ranges``, ``f-sums``, ``votes``, ``errors``: neighbours, sums and votes, for the selectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from mercer import _core
from mercer._core import answer
from mercer._input import as_array, as_sums, checked_array, refuse_collections
from mercer._partitions import InProcess, Partitions, fit_partitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["InProcess", "Margins", "Moments", "Partitions", "answer", "fit_partitions"]


def _matrix(caller: str, values: Any, name: str) -> NDArray[np.float64]:
    checks = {"dtype": np.float64, "order": "C", "ensure_min_samples": 0, "ensure_min_features": 0}
    return as_array(checked_array(caller, values, "sums", input_name=name, **checks))


class Moments:
    """Means and scatters of features and targets, in one pass.

    Every part is added up about its own mean, so that neither an offset of the features nor the order of the rows costs
    digits.

    Parameters
    ----------
    n_features : int
        Number of features m.
    n_targets : int, default=0
        Number of targets c: 1 for numbers, the number of classes where classes are one-hot.

    Examples
    --------
    >>> from mercer.evidence import Moments
    >>> here, there = Moments(1, 2), Moments(1, 2)
    >>> here.accumulate([[1.0], [3.0]], [[1, 0], [1, 0]]).accumulate([[8.0]], [[0, 1]])
    Moments(n_features=1, n_targets=2): 3 rows
    >>> summary = here.merge(there.accumulate([[4.0]], [[0, 1]])).finish()
    >>> summary["mean"], summary["total"]
    (array([4.]), array([[26.]]))
    >>> summary["between"]  # the means of the classes are 2 and 6
    array([[16.]])
    """

    def __init__(self, n_features: int, n_targets: int = 0) -> None:
        self.n_features = n_features
        self.n_targets = n_targets
        self._sums = _core.moments_of_nothing(n_features, n_targets)

    def accumulate(self, Z: Any, y: Any = None) -> Self:
        """Add rows.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_targets) or (n_samples,)
            Targets; left out where there are none.

        Returns
        -------
        self : Moments
            The sums, with these rows.

        Examples
        --------
        >>> from mercer.evidence import Moments
        >>> Moments(2, 1).accumulate([[0.0, 1.0], [2.0, 3.0]], [0.5, 1.5])
        Moments(n_features=2, n_targets=1): 2 rows
        """
        refuse_collections("Moments", "sums", Z=Z, y=y)
        Z = _matrix("Moments", Z, "Z")
        y = np.empty((len(Z), 0)) if y is None else np.asarray(y)
        y = _matrix("Moments", y[:, None] if y.ndim == 1 else y, "y")
        self._sums = _core.moments_accumulate(as_sums(self._sums), Z, y)
        return self

    def merge(self, other: Moments) -> Self:
        """Add what was added up elsewhere.

        Parameters
        ----------
        other : Moments
            Sums of as many features and targets; they stay as they are.

        Returns
        -------
        self : Moments
            The sums of both.

        Examples
        --------
        >>> from mercer.evidence import Moments
        >>> Moments(1).accumulate([[0.0]]).merge(Moments(1).accumulate([[2.0]])).finish()["mean"]
        array([1.])
        """
        self._sums = _core.moments_merge(as_sums(self._sums), as_sums(other._sums))
        return self

    def finish(self) -> _core.Summary:
        """Return means and scatters of all rows added; more may be added afterwards.

        Returns
        -------
        summary : dict
            n, the number of rows; mean (m,) and target_mean (c,); total (m, m), cross (m, c) and target_total
            (c, c), the sums of (z − z̄)(z − z̄)ᵀ, (z − z̄)(y − ȳ)ᵀ and (y − ȳ)(y − ȳ)ᵀ; gram (m, m) and sums
            (m, c), those of zzᵀ and zyᵀ; and between (m, m), which for one-hot classes is the scatter of the
            class means.

        Examples
        --------
        >>> from mercer.evidence import Moments
        >>> summary = Moments(1).accumulate([[1.0], [3.0]]).finish()
        >>> summary["n"], summary["total"], summary["gram"]
        (2.0, array([[2.]]), array([[10.]]))
        """
        return _core.moments_finish(as_sums(self._sums))

    def __repr__(self) -> str:
        return f"Moments(n_features={self.n_features}, n_targets={self.n_targets}): {self._sums['n']:.0f} rows"


class Margins:
    """Scatters of the differences between rows and their neighbours, of the same class and of others.

    Parameters
    ----------
    n_features : int
        Number of features m.

    Examples
    --------
    >>> from mercer.evidence import Margins
    >>> margins = Margins(1).accumulate("miss", [[0.0], [2.0]], [[3.0], [3.0]])
    >>> sums = margins.accumulate("hit", [[0.0]], [[2.0]], weights=[0.5]).finish()
    >>> sums["misses"] - sums["hits"]
    array([[8.]])
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self._sums = _core.margins_of_nothing(n_features)

    def accumulate(self, side: Literal["hit", "miss"], A: Any, B: Any, weights: Any = None) -> Self:
        """Add pairs of rows.

        Parameters
        ----------
        side : {"hit", "miss"}
            Whether the pairs are of the same class or of different ones.
        A, B : array-like of shape (n_pairs, n_features)
            Features of both rows of every pair.
        weights : array-like of shape (n_pairs,), default=None
            How much each pair counts; None: 1.

        Returns
        -------
        self : Margins
            The sums, with these pairs.

        Examples
        --------
        >>> from mercer.evidence import Margins
        >>> Margins(2).accumulate("hit", [[0.0, 1.0]], [[2.0, 1.0]]).finish()["hits"]
        array([[4., 0.],
               [0., 0.]])
        """
        refuse_collections("Margins", "sums", weights=weights)
        given = None if weights is None else as_array(weights, np.float64)
        A, B = _matrix("Margins", A, "A"), _matrix("Margins", B, "B")
        self._sums = _core.margins_accumulate(as_sums(self._sums), side, A, B, given)
        return self

    def merge(self, other: Margins) -> Self:
        """Add what was added up elsewhere.

        Parameters
        ----------
        other : Margins
            Sums of as many features; they stay as they are.

        Returns
        -------
        self : Margins
            The sums of both.

        Examples
        --------
        >>> from mercer.evidence import Margins
        >>> here = Margins(1).accumulate("hit", [[0.0]], [[2.0]])
        >>> here.merge(Margins(1).accumulate("hit", [[0.0]], [[1.0]])).finish()["hits"]
        array([[5.]])
        """
        self._sums = _core.margins_merge(as_sums(self._sums), as_sums(other._sums))
        return self

    def finish(self) -> _core.Margins:
        """Return the scatters of all pairs added; more may be added afterwards.

        Returns
        -------
        sums : dict
            hits and misses, each (m, m): the sums of w(a − b)(a − b)ᵀ over pairs of that side.

        Examples
        --------
        >>> from mercer.evidence import Margins
        >>> Margins(1).accumulate("miss", [[0.0]], [[2.0]]).finish()["misses"]
        array([[4.]])
        """
        return {"hits": self._sums["hits"].copy(), "misses": self._sums["misses"].copy()}

    def __repr__(self) -> str:
        return f"Margins(n_features={self.n_features})"
