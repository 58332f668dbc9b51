"""Tables as people have them: booleans, dates, categories and missing values, as columns of numbers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer import _core
from mercer._input import is_frame, validated
from mercer._raw import encoded, raw_table
from mercer._words import Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a frame into numbers, as `mercer fit` does with those of a file.

    Numbers stay as they are. Booleans, and text that is true and false or yes and no, become 0 and 1. Dates become
    year, month, weekday (Monday is 0), hour and days since 1970, those that differ between rows. Categories, and text
    of at most max(20, √n) values, become one column per value, called ``name=value``. A missing number is the median of
    the training rows; a missing category is 0 in all its columns; in both cases a column called ``name missing`` says
    where, if training rows had missing values. Values that no training row had are 0 in all columns of their category.

    Text of more values, and columns that number the rows, are dropped with a warning.

    Parameters
    ----------
    categorical : "from_dtype", None or list of str, default="from_dtype"
        "from_dtype": columns of the type category (pandas), Categorical or Enum (polars) are categories, whatever they
        hold, and text columns of few values are, too. A list names columns that are categories besides these, such as
        numbers. None: as for a text file, by the values alone.
    missing : {"fill", "refuse"}, default="fill"
        Whether missing values are filled or refused.
    inputs : list of str, default=None
        The columns to use, such as one that numbers the rows and would be dropped. None: all.

    Attributes
    ----------
    encoder_ : str
        What was learned, as the JSON that a model file holds.
    encoding_ : dict
        What became of every column that is not just a number, in words.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str objects
        Names of the columns of a frame.

    Examples
    --------
    >>> import mercer, pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, None, 5.0], "kind": ["red", "blue", "red"]})
    >>> encoder = mercer.TableEncoder().fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'size missing', 'kind=blue', 'kind=red']
    >>> encoder.transform(X)[1].tolist()
    [3.0, 1.0, 1.0, 0.0]
    >>> encoder.encoding_["size"]
    'a number; missing is 3, the median'
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    encoder_: str

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical": [StrOptions({"from_dtype"}), "array-like", None],
        "missing": [StrOptions({"fill", "refuse"})],
        "inputs": ["array-like", None],
    }

    def __init__(
        self,
        categorical: str | list[str] | None = "from_dtype",
        *,
        missing: Missing = "fill",
        inputs: list[str] | None = None,
    ) -> None:
        self.categorical = categorical
        self.missing = missing
        self.inputs = inputs

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn what the columns become.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_samples, n_features)
            The training rows; an array may hold objects.
        y : None
            Ignored.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> NDArray[np.float64]:
        """Learn what the columns become, and return the encoded rows.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_samples, n_features)
            The training rows; an array may hold objects.
        y : None
            Ignored.
        **params : dict
            Ignored.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
            The encoded rows.
        """
        self._validate_params()
        X = self._checked(X, reset=True)
        named = self.categorical
        named = [] if named is None or isinstance(named, str) else [str(name) for name in named]
        table = raw_table(self._chosen(X), self._names(), categories=self.categorical is not None)
        rows, (self.encoder_, *_) = encoded(
            lambda sink: table.learn(named, self.missing, self.inputs is not None, sink)
        )
        self.encoding_ = dict(_core.encoder_words(self.encoder_))
        dropped = [
            f"`{name}` {words.removeprefix('dropped: ').removeprefix('it ')}"
            for name, words in self.encoding_.items()
            if words.startswith("dropped: ")
        ]
        if dropped:
            more = ", …" if len(dropped) > 5 else ""
            warnings.warn(f"columns that are no inputs: {', '.join(dropped[:5])}{more}", UserWarning, stacklevel=3)
        return rows

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return rows, encoded as the training rows were.

        Parameters
        ----------
        X : dataframe or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
            The encoded rows.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        table = raw_table(self._chosen(X), self._names(), categories=self.categorical is not None)
        rows, notes = encoded(lambda sink: table.apply(self.encoder_, sink))
        for note in notes:
            if "are missing" not in note and "is missing" not in note:
                warnings.warn(note, UserWarning, stacklevel=2)
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the encoded columns.

        Parameters
        ----------
        input_features : None
            Ignored; here because scikit-learn passes it.

        Returns
        -------
        names : ndarray of str objects
            The names.
        """
        check_is_fitted(self)
        return np.asarray(_core.encoder_columns(self.encoder_)[2], dtype=object)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return the table, once its shape and its names are right."""
        if is_frame(X):
            validated(self, X, reset=reset, skip_check_array=True)
            return X
        return validated(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def _names(self) -> list[str] | None:
        if self.inputs is not None:
            return [str(name) for name in self.inputs]
        return None

    def _chosen(self, X: Any) -> Any:
        """Return the columns to use."""
        if self.inputs is None:
            return X
        if is_frame(X):
            there = {str(name): name for name in X.columns}
            gone = [str(name) for name in self.inputs if str(name) not in there]
            if gone:
                raise ValueError(f"inputs has {gone[0]!r}, but the columns are {', '.join(list(there)[:8])}")
            return X[[there[str(name)] for name in self.inputs]]
        return X[:, [int(str(name).removeprefix("x")) for name in self.inputs]]

    def __sklearn_tags__(self) -> Any:
        """Say that text and missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
