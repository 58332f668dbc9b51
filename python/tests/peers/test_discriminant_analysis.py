"""`GDA` with the linear kernel in the place of `LinearDiscriminantAnalysis`."""

from peers import adapters
from peers.borrowed import besides, borrowed
from peers.differences import ABSENT

globals().update(
    borrowed(
        "sklearn.tests.test_discriminant_analysis",
        {"sklearn.discriminant_analysis.LinearDiscriminantAnalysis": adapters.LinearDiscriminantAnalysis},
        tests=besides(ABSENT["test_discriminant_analysis"]),
    )
)
