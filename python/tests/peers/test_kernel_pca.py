"""`KPCA` in the place of `KernelPCA`."""

from peers import adapters
from peers.borrowed import borrowed

globals().update(
    borrowed("sklearn.decomposition.tests.test_kernel_pca", {"sklearn.decomposition.KernelPCA": adapters.KernelPCA})
)
