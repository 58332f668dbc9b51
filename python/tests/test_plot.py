"""Pictures show the numbers that are there."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_circles, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import mercer
from mercer import EKS, GDA, KLFE, KOC, KPCA, KPLS, TAKES, AutoClassifier, FScore, KernelBasis, plot


def points_in(ax):
    """Return all points of an axes' scatters, in rows, and the name of the class of each."""
    parts = [(dots.get_offsets().data, dots.get_label()) for dots in ax.collections]
    return np.concatenate([part for part, _ in parts]), np.concatenate([[name] * len(part) for part, name in parts])


def same_points(a, b):
    np.testing.assert_allclose(a[np.lexsort(a.T)], b[np.lexsort(b.T)], rtol=0, atol=1e-12)


@pytest.fixture
def circles():
    return make_circles(120, factor=0.5, noise=0.1, random_state=0)


def test_importing_mercer_imports_nothing_that_is_slow_and_seldom_needed():
    code = """
import sys
import sklearn.base  # which imports pandas itself in some versions
before = set(sys.modules)
import mercer
slow = ("matplotlib", "pandas", "polars", "sklearn.datasets")
print([name for name in slow if name in set(sys.modules) - before])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_mercer_works_where_neither_is_installed():
    code = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"matplotlib", "pandas", "polars"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import mercer
print(mercer.GDA().fit([[0.0], [0.5], [4.0], [4.5]], ["a", "a", "b", "b"]).n_components_)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch, circles):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install mercer\[plot\]"):
        plot.features(circles[0], y=circles[1])


def test_nothing_is_shown(monkeypatch, circles):
    monkeypatch.setattr(pyplot, "show", lambda *_: pytest.fail("shown"))
    X, y = circles
    system = TAKES().fit(X, y)
    for ax in plot.features(system, X, y), plot.spectrum(system), plot.residual(system), plot.importance(system, X):
        assert isinstance(ax, Axes)


def test_a_picture_is_drawn_where_it_is_wanted(circles):
    X, y = circles
    _, axes = pyplot.subplots(2, 3)
    extractor = KLFE(n_components=3).fit(X, y)
    assert plot.features(extractor, X, y, ax=axes[0, 0]) is axes[0, 0]
    assert plot.spectrum(extractor, ax=axes[0, 1]) is axes[0, 1]
    assert plot.residual(extractor, ax=axes[0, 2]) is axes[0, 2]
    assert list(plot.features(extractor, X, y, which=[0, 1, 2], ax=axes[1])) == list(axes[1])
    assert pyplot.get_fignums() == [1]
    with pytest.raises(ValueError, match="3 features make 3 panels, but `ax` holds 1"):
        plot.features(extractor, X, y, which=[0, 1, 2], ax=axes[0, 0])


def test_the_points_are_the_features_and_the_colours_the_classes():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    extractor = GDA().fit(X, names)
    ax = plot.features(extractor, X, names)
    points, classes = points_in(ax)
    Z = extractor.transform(X)
    for name in np.unique(names):
        same_points(points[classes == name], Z[names == name])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert len({tuple(dots.get_facecolor()[0]) for dots in ax.collections}) == 3
    assert len({dots.get_paths()[0].vertices.tobytes() for dots in ax.collections}) == 3  # markers


def test_numbers_have_a_colour_bar_with_their_name():
    X, y = make_friedman1(80, random_state=0)
    ax = plot.features(KPLS().fit(X, y), X, pd.Series(y, name="litres"))
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["litres"]
    np.testing.assert_array_equal(ax.collections[0].get_array(), y)
    by_one = plot.features(KPLS().fit(X, y), X, y, which="kpls1")
    np.testing.assert_array_equal(points_in(by_one)[0][:, 1], y)


def test_one_feature_makes_a_histogram_for_each_class(circles):
    X, y = circles
    extractor = GDA().fit(X, y)
    ax = plot.features(extractor, X, y)
    assert ax.get_xlabel() == "gda0 (100 %)"
    assert sum(patch.get_height() for patch in ax.patches if hasattr(patch, "get_height")) == len(X)
    assert plot.features(extractor, X).get_legend() is None


def test_three_features_make_three_pairs(circles):
    X, y = circles
    panels = plot.features(KPCA(n_components=4).fit(X), X, y, which=["kpca3", 0, -2])
    pairs = [(panel.get_xlabel().split()[0], panel.get_ylabel().split()[0]) for panel in panels]
    assert pairs == [("kpca3", "kpca0"), ("kpca3", "kpca2"), ("kpca0", "kpca2")]


def test_the_best_two_are_drawn(circles):
    X, y = circles
    system = EKS(n_features=0.5).fit(X, y)
    kept = system.scores_[system.get_support()]
    names = system.get_feature_names_out()[np.sort(np.argsort(-kept)[:2])]
    ax = plot.features(system, X, y)
    assert [ax.get_xlabel(), ax.get_ylabel()] == list(names)
    # A bare basis has no scores, and its first coordinates are of rows far off: those that matter for the labels.
    basis = KernelBasis(gamma=1.0).fit(X)
    best = np.sort(np.argsort(-FScore().fit(basis.transform(X), y).scores_)[:2])
    ax = plot.features(basis, X, y)
    assert [ax.get_xlabel(), ax.get_ylabel()] == [f"kobl{j}" for j in best]
    assert plot.features(basis, X).get_xlabel() == "kobl0"
    assert plot.features(basis, X, np.zeros(len(X), dtype=int)).get_xlabel() == "kobl0"
    assert plot.features(basis, X, np.arange(len(X)).astype(str)).get_xlabel() == "kobl0"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_matrix_may_be_given(frame, circles):
    X, y = circles
    Z = KernelBasis(n_components=2).fit_transform(X)
    same_points(points_in(plot.features(Z, y=y))[0], Z)
    ax = plot.features(frame({"left": Z[:, 0], "right": Z[:, 1]}), y=y)
    same_points(points_in(ax)[0], Z)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("left", "right")
    with pytest.raises(ValueError, match="leave X out"):
        plot.features(Z, X, y)


def test_of_many_rows_some_are_drawn_always_the_same():
    X = np.random.default_rng(0).normal(size=(6000, 2))
    y = np.repeat(["a", "b"], 3000)
    basis = KernelBasis("nystrom", n_components=2).fit(X)
    first, again = (points_in(plot.features(basis, X, y))[0] for _ in range(2))
    assert first.shape == (5000, 2)
    np.testing.assert_array_equal(first, again)
    few, classes = points_in(plot.features(basis, X, y, max_points=30))
    Z = basis.transform(X)
    assert all(y[np.abs(Z - point).sum(axis=1).argmin()] == name for point, name in zip(few, classes, strict=True))
    with pytest.raises(ValueError, match="max_points = 0"):
        plot.features(basis, X, max_points=0)


def test_of_a_pipeline_the_step_is_drawn_with_rows_taken_through_those_before():
    wine = load_wine(as_frame=True)
    model = make_pipeline(StandardScaler(), KLFE(n_components=2), RidgeClassifier()).fit(wine.data, wine.target)
    expected = model[:2].transform(wine.data)
    same_points(points_in(plot.features(model, wine.data, wine.target))[0], expected)
    nested = Pipeline([("inner", model[:2]), ("ridge", RidgeClassifier())]).fit(wine.data, wine.target)
    same_points(points_in(plot.features(nested, wine.data, wine.target))[0], expected)
    search = GridSearchCV(model, {"klfe__n_neighbors": [5]}, cv=2).fit(wine.data, wine.target)
    same_points(points_in(plot.features(search, wine.data, wine.target))[0], expected)
    names = [text.get_text() for text in plot.importance(model, wine.data).get_yticklabels()]
    assert sorted(names) == sorted(wine.feature_names)


def test_a_file_is_drawn_as_its_estimator(tmp_path):
    iris = load_iris(as_frame=True)
    X, y = iris.data, iris.target
    for estimator in KLFE(n_components=3), TAKES(), KernelBasis(n_components=9):
        model = make_pipeline(StandardScaler(), estimator).fit(X, y)
        mercer.save(model, tmp_path / "model.mercer")
        loaded = mercer.load(tmp_path / "model.mercer")
        a, b = plot.features(model, X, y), plot.features(loaded, X, y)
        assert (a.get_xlabel(), a.get_ylabel()) == (b.get_xlabel(), b.get_ylabel())
        a, b = plot.importance(model, X), plot.importance(loaded, X[X.columns[::-1]])
        np.testing.assert_allclose([p.get_width() for p in a.patches], [p.get_width() for p in b.patches], atol=1e-9)
        assert [t.get_text() for t in a.get_yticklabels()] == [t.get_text() for t in b.get_yticklabels()]
    np.testing.assert_array_equal(plot.residual(loaded).lines[0].get_ydata(), model[-1].pivot_norms_)


def test_the_spectrum_is_that_of_the_method_or_of_its_basis(circles):
    X, y = circles
    extractor = KLFE().fit(X, y)
    ax = plot.spectrum(extractor)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), extractor.eigenvalues_)
    system = EKS(n_features=3, basis="kpca").fit(X, y)
    ax = plot.spectrum(system)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), system.basis_.eigenvalues_)
    filled = ax.collections[0].get_facecolor()[:, :3].min(axis=1) < 0.9
    np.testing.assert_array_equal(filled, system.get_support())
    assert "3 of" in ax.get_xlabel()
    system = EKS(n_features=3).fit(X, y)
    np.testing.assert_array_equal(plot.spectrum(system).lines[0].get_ydata(), np.sort(system.scores_)[::-1])
    with pytest.raises(ValueError, match="`koc` has neither eigenvalues nor scores"):
        plot.spectrum(KOC().fit(X, y))


def test_residuals_are_pivot_norms_or_what_components_leave_out(circles):
    X, y = circles
    basis = KernelBasis("kobl", gamma=1.0, n_components=12).fit(X)
    ax = plot.residual(basis)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), basis.pivot_norms_)
    assert f"{basis.residual_:.2g} of mean" in ax.get_title()
    kpca = KernelBasis("kpca", gamma=1.0, n_components=12).fit(X)
    left = plot.residual(kpca).lines[0].get_ydata()
    trace = len(X)  # of an rbf kernel
    np.testing.assert_allclose(left, 1 - np.append(0, np.cumsum(kpca.eigenvalues_)) / trace, atol=1e-12)
    assert left[-1] == pytest.approx(kpca.residual_)
    np.testing.assert_array_equal(
        plot.residual(KLFE(basis=kpca).fit(X, y)).lines[0].get_ydata(), left
    )  # of the basis, not of the extractor


@pytest.mark.parametrize("method", ["kobl", "kpca", "nystrom"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_with_rows_it_is_drawn_what_is_left_of_them(method, kernel):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), GDA(basis=KernelBasis(method, kernel=kernel, n_components=9))).fit(X, y)
    rows, basis = model[0].transform(X), model[1].basis_
    Z = basis.transform(rows)
    diagonal = np.ones(len(X)) if kernel == "rbf" else (rows**2).sum(axis=1)
    expected = 1 - np.append(0, (Z**2).sum(axis=0).cumsum()) / diagonal.sum()
    line = plot.residual(model, X=X).lines[-1]
    np.testing.assert_allclose(line.get_ydata(), expected[: len(line.get_ydata())], atol=1e-9)
    assert len(plot.residual(model, X=X).lines) == (1 if method == "kpca" else 2)


def test_residuals_that_a_file_does_not_have_are_asked_for_elsewhere(tmp_path, circles):
    mercer.save(KLFE().fit(*circles), tmp_path / "model.mercer")
    with pytest.raises(ValueError, match="plot the estimator that was fitted in place of its file"):
        plot.residual(mercer.load(tmp_path / "model.mercer"))
    with pytest.raises(ValueError, match="a file does not know its basis"):
        plot.residual(mercer.load(tmp_path / "model.mercer"), X=circles[0])


def test_importance_is_shares_of_all_largest_first():
    X, y = make_friedman1(200, random_state=0)  # of ten columns five matter
    extractor = KPLS().fit(X, y)
    ax = plot.importance(extractor, X, top=4)
    shares = extractor.input_importance(X).sum(axis=0)
    shares /= shares.sum()
    order = np.argsort(-shares)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, [*shares[order[:4]], shares[order[4:]].sum()])
    assert [text.get_text() for text in ax.get_yticklabels()] == [*[f"x{j}" for j in order[:4]], "6 others"]
    named = plot.importance(extractor, X, names=list("abcdefghij"))
    assert named.get_yticklabels()[0].get_text() == "abcdefghij"[order[0]]
    assert ax.patches[0].get_facecolor() != ax.patches[-1].get_facecolor() == to_rgba("#767676")
    with pytest.raises(ValueError, match="2 names were given for 10 columns"):
        plot.importance(extractor, X, names=["a", "b"])
    with pytest.raises(ValueError, match="top = 0"):
        plot.importance(extractor, X, top=0)


def test_sparse_rows_and_precomputed_kernels_are_drawn(circles):
    X, y = circles
    dense = KLFE(n_components=2, basis=KernelBasis(gamma=1.0)).fit(X, y)
    expected = points_in(plot.features(dense, X, y))[0]
    rows = sparse.csr_array(X)
    same_points(
        points_in(plot.features(KLFE(n_components=2, basis=KernelBasis(gamma=1.0)).fit(rows, y), rows, y))[0], expected
    )
    K = rbf_kernel(X, gamma=1.0)
    by_kernel = KLFE(n_components=2, basis=KernelBasis(kernel="precomputed")).fit(K, y)
    assert points_in(plot.features(by_kernel, K, y))[0].shape == expected.shape
    with pytest.raises(ValueError, match="precomputed"):
        plot.importance(by_kernel, K)


def test_names_from_before_the_step_are_used_where_there_are_any(circles):
    X, y = circles
    model = make_pipeline(FunctionTransformer(), GDA()).fit(X, y)
    assert {text.get_text() for text in plot.importance(model, X).get_yticklabels()} == {"x0", "x1"}


def test_errors_say_what_to_do(circles):
    X, y = circles
    with pytest.raises(NotFittedError):
        plot.spectrum(GDA())
    with pytest.raises(NotFittedError):
        plot.features(make_pipeline(StandardScaler(), GDA()), X, y)
    with pytest.raises(TypeError, match=r"nothing to plot in a Pipeline of StandardScaler\n?.*\nhint: pass a fitted"):
        plot.spectrum(make_pipeline(StandardScaler()).fit(X))
    with pytest.raises(TypeError, match="nothing to plot in a RidgeClassifier"):
        plot.features(RidgeClassifier().fit(X, y), X, y)
    extractor = GDA().fit(X, y)
    with pytest.raises(ValueError, match="X is missing"):
        plot.features(extractor, y=y)
    with pytest.raises(ValueError, match="X is missing"):
        plot.importance(extractor, None)
    with pytest.raises(ValueError, match="120 rows, but 3 labels"):
        plot.features(extractor, X, y[:3])
    with pytest.raises(ValueError, match="'nine' is not one of the 1 features"):
        plot.features(extractor, X, y, which=["nine"])
    with pytest.raises(ValueError, match="one, two or three can be drawn"):
        plot.features(X, y=y, which=[0, 1, 0, 1])


@pytest.fixture
def frame():
    rows = [
        *[("klfe", "knn", "scale", q, q, 0.7 + q / 100, 0.01) for q in (1, 10, 100)],
        *[("klfe", "knn", "loo", q, q, 0.6 + q / 50, 0.02) for q in (1, 10)],
        ("gda", "knn", "scale", None, 2.0, 0.75, None),
        ("skfe", "knn", "scale", None, None, None, None),
        ("raw", "knn", None, None, 20.0, 0.65, 0.01),
        ("rbf-svm", "rbf-svm", None, None, 20.0, 0.95, 0.01),
    ]
    columns = ["method", "evaluator", "gamma_rule", "asked", "n_features", "mean", "standard_error"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["second"] = 1 - frame["mean"]
    frame.attrs = {"measure": "accuracy", "second": "balanced_accuracy"}
    return frame


def test_the_path_has_a_line_a_method_and_the_best_width_at_each_point(frame):
    ax = plot.path(frame)
    klfe, gda = ax.containers  # error bars
    np.testing.assert_allclose(klfe.lines[0].get_xydata(), [[1, 0.71], [10, 0.8], [100, 1.7]])
    np.testing.assert_allclose(gda.lines[0].get_xydata(), [[2, 0.75]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["klfe", "gda", "rbf-svm", "raw"]
    assert (ax.get_ylabel(), ax.get_xscale()) == ("accuracy", "log")
    second = plot.path(frame[frame.method == "gda"], measure="balanced_accuracy")
    np.testing.assert_allclose(second.containers[0].lines[0].get_xydata(), [[2, 0.25]])
    assert second.get_ylabel() == "balanced_accuracy"


def test_of_many_methods_the_best_are_drawn(frame):
    ax = plot.path(frame, top=1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["klfe", "rbf-svm", "raw"]
    assert ax.get_title() == "the best 1 of 2 methods"
    assert len(plot.path(frame, top=None).containers) == 2


def test_evaluators_differ_by_their_lines(frame):
    both = pd.concat([frame, frame[frame.method == "gda"].assign(evaluator="ridge", mean=0.8)])
    both.attrs = frame.attrs
    ax = plot.path(both)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["klfe", "gda", "evaluator: knn", "evaluator: ridge", "rbf-svm", "raw, knn"]


def test_the_legend_names_evaluators_of_methods_and_not_those_of_baselines_alone(frame):
    more = pd.concat([frame, frame[frame.method == "raw"].assign(evaluator="linear-svm")])
    more.attrs = frame.attrs
    ax = plot.path(more)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["klfe", "gda", "rbf-svm", "raw, knn", "raw, linear-svm"]
    assert ax.get_xticks().tolist() == [1, 2, 10, 100]  # the sizes, and not powers of ten


def test_a_small_mean_squared_error_is_the_best(frame):
    frame.attrs = {"measure": "r2", "second": "mse"}
    klfe = plot.path(frame, measure="mse").containers[0]
    np.testing.assert_allclose(klfe.lines[0].get_xydata()[:2], [[1, 0.29], [10, 0.2]])


def test_frames_that_are_no_comparison_are_refused(frame):
    with pytest.raises(ValueError, match=r"no column `evaluator`.*\n?.*mercer.compare"):
        plot.path(frame.drop(columns="evaluator"))
    with pytest.raises(ValueError, match=r"is not one of this comparison's: accuracy, balanced_accuracy"):
        plot.path(frame, measure="f1")
    with pytest.raises(ValueError, match="no candidate of the frame has scores"):
        plot.path(frame[frame.method == "skfe"])


def test_rows_that_features_were_learned_from_are_called_so():
    X, y = load_iris(return_X_y=True)
    model = GDA().fit(X[::2], y[::2])
    assert plot.features(model, X[::2], y[::2]).get_title() == "rows that the features were learned from"
    assert plot.features(model, X[1::2], y[1::2]).get_title() == ""
    assert plot.features(KernelBasis("kobl").fit(X), X, y).get_title() == ""  # it has not looked at y


def test_the_importance_of_an_automatic_model_is_that_of_its_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    model = AutoClassifier().fit(X, X[:, 3] * X[:, 4] > 0)
    ax = plot.importance(model.features_, X)
    assert ax.get_xlabel() == "share of the predictions' dependence on the inputs"
    assert {text.get_text() for text in ax.get_yticklabels()[:2]} == {"x3", "x4"}
    assert sum(bar.get_width() for bar in ax.patches[:2]) > 0.8
