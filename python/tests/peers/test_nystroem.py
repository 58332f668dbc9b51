"""`KernelBasis("nystrom")` in the place of `Nystroem`."""

from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler, SkewedChi2Sampler

from peers import adapters
from peers.borrowed import besides, borrowed
from peers.differences import ABSENT

globals().update(
    borrowed(
        "sklearn.tests.test_kernel_approximation",
        {"sklearn.kernel_approximation.Nystroem": adapters.Nystroem},
        tests=besides(ABSENT["test_nystroem"]),
        without=[PolynomialCountSketch, RBFSampler, SkewedChi2Sampler],
    )
)
