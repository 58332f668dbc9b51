"""`KPLS` with the linear kernel in the place of `PLSRegression`."""

from sklearn.cross_decomposition import CCA, PLSSVD, PLSCanonical

from peers import adapters
from peers.borrowed import besides, borrowed
from peers.differences import ABSENT

globals().update(
    borrowed(
        "sklearn.cross_decomposition.tests.test_pls",
        {"sklearn.cross_decomposition.PLSRegression": adapters.PLSRegression},
        tests=besides(ABSENT["test_pls"]),
        without=[CCA, PLSSVD, PLSCanonical],
    )
)
