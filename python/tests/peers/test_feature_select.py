"""`FScore` and `MutualInfo` in the place of scikit-learn's univariate selection."""

from peers import adapters
from peers.borrowed import besides, borrowed
from peers.differences import ABSENT

globals().update(
    borrowed(
        "sklearn.feature_selection.tests.test_feature_select",
        adapters.UNIVARIATE,
        tests=besides(ABSENT["test_feature_select"]),
    )
)
