"""`MutualInfo` in the place of scikit-learn's functions."""

from peers import adapters
from peers.borrowed import besides, borrowed
from peers.differences import ABSENT

globals().update(
    borrowed(
        "sklearn.feature_selection.tests.test_mutual_info",
        adapters.UNIVARIATE,
        tests=besides(ABSENT["test_mutual_info"]),
    )
)
