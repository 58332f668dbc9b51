"""Mercer's classes under the names, parameters and attributes of scikit-learn's. Nothing is computed here."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import mercer

# What scikit-learn calls kernels that have another name here.
KERNELS = {"polynomial": "poly"}


class StandIn(TransformerMixin, BaseEstimator):
    """An estimator of scikit-learn whose work one of mercer does."""

    names: dict[str, str] = {}  # noqa: RUF012  # attributes that are called otherwise here

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit it."""
        self.fitted_ = self.mercer().fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Return what it makes of rows."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Return rows for features."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.inverse_transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return its names of features."""
        return self.fitted_.get_feature_names_out(input_features)

    def __getattr__(self, name: str) -> Any:
        fitted = self.__dict__.get("fitted_")
        if fitted is None or name.startswith("_"):
            raise AttributeError(name)
        return getattr(fitted, self.names.get(name, name))

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.mercer())


class KernelPCA(StandIn):
    """`KPCA`; solver, tolerances and threads have no counterpart."""

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        gamma = "auto" if self.gamma is None else self.gamma
        kernel = {"kernel": self.kernel, "gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        return mercer.KPCA(self.n_components, **kernel)

    def inverse_transform(self, X: Any) -> Any:
        """Return rows for features; there are none unless they were asked for, though mercer needs no fit for them."""
        if not self.fit_inverse_transform:
            raise NotFittedError("fit_inverse_transform=False")
        return super().inverse_transform(X)


class Nystroem(StandIn):
    """`KernelBasis("nystrom")`."""

    names = {"component_indices_": "pivots_", "components_": "landmarks_", "normalization_": "coefficients_"}  # noqa: RUF012

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        gamma = self.gamma if self.gamma is not None else 1.0 if self.kernel == "chi2" else "auto"
        given = {"coef0": self.coef0, "degree": self.degree, "random_state": self.random_state}
        return mercer.KernelBasis(
            "nystrom",
            kernel=KERNELS.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel,
            gamma=gamma,
            n_components=self.n_components,
            **{name: value for name, value in given.items() if value is not None},
        )


def f_classif(X, y):
    """`FScore` of classes."""
    test = mercer.FScore(task="classes").fit(X, y)
    return test.scores_, test.pvalues_


def f_regression(X, y, *, center=True, force_finite=True):
    """`FScore` of numbers."""
    if not center or not force_finite:
        raise NotImplementedError("FScore has no center and no force_finite")
    test = mercer.FScore(task="numbers").fit(X, y)
    return test.scores_, test.pvalues_


def mutual_info_classif(X, y, *, discrete_features="auto", n_neighbors=3, copy=True, random_state=None, n_jobs=None):
    """`MutualInfo` of classes."""
    return mutual_info(X, y, discrete_features, n_neighbors, "classes")


def mutual_info_regression(X, y, *, discrete_features="auto", n_neighbors=3, copy=True, random_state=None, n_jobs=None):
    """`MutualInfo` of numbers."""
    return mutual_info(X, y, discrete_features, n_neighbors, "numbers")


def mutual_info(X, y, discrete, n_neighbors, task):
    """Return the scores; "auto" is for sparse columns, which scikit-learn takes for discrete."""
    if isinstance(discrete, bool) or (isinstance(discrete, str) and discrete == "auto"):
        discrete = [discrete is True or (discrete == "auto" and sparse.issparse(X))] * np.shape(X)[1]
    return mercer.MutualInfo(n_neighbors=n_neighbors, categorical_features=discrete, task=task).fit(X, y).scores_


# The selector whose scores a function of scikit-learn's computes.
SELECTORS = {
    f_classif: lambda *args, **kwargs: mercer.FScore(*args, task="classes", **kwargs),
    f_regression: lambda *args, **kwargs: mercer.FScore(*args, task="numbers", **kwargs),
    mutual_info_classif: lambda *args: mercer.MutualInfo(*args, task="classes"),
    mutual_info_regression: lambda *args: mercer.MutualInfo(*args, task="numbers"),
}


class Univariate(StandIn):
    """`FScore` or `MutualInfo`, which keeps a number, a share or what a test keeps."""

    def get_support(self, indices=False):
        """Return what is kept."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.get_support(indices)


class SelectKBest(Univariate):
    """The best `k`."""

    def __init__(self, score_func=f_classif, *, k=10):
        self.score_func = score_func
        self.k = k

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        return SELECTORS[self.score_func](None if self.k == "all" else self.k)


class SelectPercentile(Univariate):
    """The best share."""

    def __init__(self, score_func=f_classif, *, percentile=10):
        self.score_func = score_func
        self.percentile = percentile

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        return SELECTORS[self.score_func](self.percentile / 100)


class _ByTest(Univariate):
    mode = ""

    def __init__(self, score_func=f_classif, *, alpha=5e-2):
        self.score_func = score_func
        self.alpha = alpha

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        return SELECTORS[self.score_func](mode=self.mode, alpha=self.alpha)


class SelectFpr(_ByTest):
    """What a test keeps."""

    mode = "fpr"


class SelectFdr(_ByTest):
    """What a test keeps by the rate of false discoveries."""

    mode = "fdr"


class SelectFwe(_ByTest):
    """What a test keeps by the chance of any false positive."""

    mode = "fwe"


class GenericUnivariateSelect(Univariate):
    """Any of these, by name."""

    def __init__(self, score_func=f_classif, *, mode="percentile", param=1e-5):
        self.score_func = score_func
        self.mode = mode
        self.param = param

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        match self.mode:
            case "k_best":
                return SelectKBest(self.score_func, k=self.param).mercer()
            case "percentile":
                return SelectPercentile(self.score_func, percentile=self.param).mercer()
            case mode:
                return SELECTORS[self.score_func](mode=mode, alpha=self.param)


UNIVARIATE = {
    f"sklearn.feature_selection.{stand_in.__name__}": stand_in
    for stand_in in (
        *(f_classif, f_regression, mutual_info_classif, mutual_info_regression),
        *(SelectKBest, SelectPercentile, SelectFpr, SelectFdr, SelectFwe, GenericUnivariateSelect),
    )
}


class Forest(mercer.ReliefF):
    """`ReliefF` where a test takes a forest for its `feature_importances_` alone."""

    def __init__(self, n_estimators=100, *, max_depth=None, random_state=None, n_neighbors=10):
        super().__init__(n_neighbors=n_neighbors, random_state=random_state)
        self.n_estimators = n_estimators
        self.max_depth = max_depth


def linear_basis():
    """Return the basis that spans all columns."""
    return mercer.KernelBasis("kobl", kernel="linear", threshold=0.0)


class PLSRegression(StandIn):
    """`KPLS` with the linear kernel on scaled columns."""

    names = {"x_scores_": "scores_"}  # noqa: RUF012

    def __init__(self, n_components=2, *, scale=True, max_iter=500, tol=1e-06, copy=True):
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        model = mercer.KPLS(self.n_components, basis=linear_basis(), task="numbers")
        return make_pipeline(StandardScaler(), model) if self.scale else model


class LinearDiscriminantAnalysis(StandIn):
    """`GDA` with the linear kernel. It makes features, and does not predict."""

    names = {"explained_variance_ratio_": "explained_ratio_"}  # noqa: RUF012

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def mercer(self) -> Any:
        """Return mercer's estimator, not fitted."""
        return mercer.GDA(self.n_components, reg=0.0, basis=linear_basis(), task="classes")
