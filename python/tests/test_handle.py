"""Fitted estimators hold one handle to the model: it is shared, copied and pickled without a change of any bit."""

import copy
import inspect
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import AKDAQR, EKS, GDA, KPCA, SKFE, TAKES, AutoFeatures, KernelBasis, KRelief, SKRelief, _core

DATA, Y = load_iris(return_X_y=True)
GIVEN = {
    "dense": DATA,
    "float32": DATA.astype(np.float32),
    "sparse": sparse.csr_array(np.where(DATA > 2, DATA, 0.0)),
}
ESTIMATORS = {
    "kobl": KernelBasis("kobl", n_components=9),
    "kpca": KernelBasis("kpca", center=True),
    "gram-schmidt": KernelBasis("gram-schmidt"),
    "SKRelief": SKRelief(4, weighted=True),
    "EKS": EKS(SelectKBest(k=3), basis="kobl"),
    "AKDAQR": AKDAQR(),
    "KPCA": KPCA(3, basis=KernelBasis("nystrom", n_components=8)),
}


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_copies_of_every_kind_give_the_same_bits(estimator, kind, tmp_path):
    X = GIVEN[kind]
    fitted = clone(estimator).fit(X, Y)
    Z = fitted.transform(X)
    joblib.dump(fitted, tmp_path / "fitted")
    copies = [
        copy.copy(fitted),
        copy.deepcopy(fitted),
        joblib.load(tmp_path / "fitted"),
        *(pickle.loads(pickle.dumps(fitted, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)),
    ]
    for again in copies:
        np.testing.assert_array_equal(again.transform(X), Z)
        assert again.precision_ == fitted.precision_
        assert list(again.get_feature_names_out()) == list(fitted.get_feature_names_out())


def test_a_copied_model_is_the_model():
    basis = KernelBasis(n_components=5).fit(DATA)
    assert copy.copy(basis)._model is copy.deepcopy(basis)._model is basis._model


def test_a_given_kernel_is_pickled_too():
    K = rbf_kernel(DATA, gamma=0.3)
    for method in ("kpca", "kobl"):
        basis = KernelBasis(method, kernel="precomputed").fit(K)
        again = pickle.loads(pickle.dumps(basis))
        np.testing.assert_array_equal(again.transform(K), basis.transform(K))
        np.testing.assert_array_equal(again.pivots_, basis.pivots_)
        assert again.landmarks_ is basis.landmarks_ is None


def features(estimator, X):
    return estimator.transform(X)


def test_processes_and_threads_give_the_same_bits():
    fitted = GDA(basis="kobl").fit(DATA, Y)
    Z = fitted.transform(DATA)
    for backend in ("loky", "threading"):
        for part in joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(features)(fitted, DATA) for _ in range(4)
        ):
            np.testing.assert_array_equal(part, Z)


def test_one_model_serves_many_threads_at_once():
    fitted = KernelBasis("nystrom", n_components=100).fit(DATA)
    single = DATA.astype(np.float32)
    Z, narrow = fitted.transform(DATA), fitted.transform(single)
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(fitted.transform, single if i % 2 else DATA) for i in range(64)]
        for i, job in enumerate(jobs):
            np.testing.assert_array_equal(job.result(), narrow if i % 2 else Z)


def test_nothing_large_is_kept_twice(tmp_path):
    """Arrays for users are made on demand, so that a pickle is hardly larger than the model file."""
    rows = np.random.default_rng(0).normal(size=(400, 5))
    basis = KernelBasis("nystrom", n_components=300).fit(rows)
    system = EKS(n_features=None, basis=clone(basis)).fit(rows, rows[:, 0] > 0)
    for estimator, models in ((basis, [basis]), (system, [system, system.basis_])):
        size = 0
        for i, model in enumerate(models):
            mercer.save(model, tmp_path / str(i))
            size += (tmp_path / str(i)).stat().st_size
        assert len(pickle.dumps(estimator)) < 1.05 * size + 10_000


def attributes_of(kind):
    """Return what the docstring of a class calls its attributes, but for those that scikit-learn sets."""
    section = inspect.cleandoc(kind.__doc__).split("Attributes\n----------\n")[1].split("\n\n")[0]
    names = [line.split(" : ")[0].strip() for line in section.splitlines() if " : " in line and line[0] != " "]
    return [name for name in names if name not in ("n_features_in_", "feature_names_in_")]


DOCUMENTED = [KernelBasis("kpca"), TAKES(), KRelief(), SKRelief(3), EKS(), GDA(), SKFE(tol=0.9), KPCA(2), AKDAQR()]


@pytest.mark.parametrize("estimator", DOCUMENTED, ids=lambda estimator: type(estimator).__name__)
def test_every_documented_attribute_is_there_after_a_fit_alone(estimator):
    names = attributes_of(type(estimator))
    assert "n_components_" in names
    fitted = clone(estimator).fit(DATA, Y)
    for name in names:
        assert not hasattr(clone(estimator), name), name
        assert hasattr(fitted, name), name
    with pytest.raises(NotFittedError):
        clone(estimator).transform(DATA)


@pytest.mark.parametrize("estimator", [TAKES(), GDA(), KPCA(2), AutoFeatures()], ids=lambda e: type(e).__name__)
def test_what_follows_from_the_model_cannot_be_set(estimator):
    fitted = clone(estimator).fit(DATA, Y)
    for name in ("n_components_", "precision_", "rounding_error_"):
        with pytest.raises(AttributeError):
            setattr(fitted, name, getattr(fitted, name))


def test_a_model_cannot_be_changed():
    model = KernelBasis(n_components=4).fit(DATA)._model
    for name in ("gamma", "matrix", "anything"):
        with pytest.raises(AttributeError):
            setattr(model, name, 1)
    for array in (model.matrix, model.landmarks, model.offset, model.pivots, model.pivot_norms):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    rows = sparse.csr_array(np.where(DATA > 2, DATA, 0.0))
    with pytest.raises(ValueError, match="read-only"):
        KernelBasis(n_components=4).fit(rows).landmarks_.data[0] = 0


def test_landmarks_of_one_basis_are_those_of_another():
    for rows in GIVEN.values():
        first = KernelBasis("kobl", gamma=0.3, n_components=6).fit(rows)
        second = KernelBasis("kobl", gamma=0.3, landmarks=first.landmarks_, threshold=0.0).fit(rows)
        assert second.n_components_ == 6


def test_bytes_that_are_no_model_are_refused():
    for data in (b"", b"nothing of the kind", pickle.dumps(1)):
        with pytest.raises(ValueError, match=r"the model: .*(truncated|not a mercer model)"):
            _core.Model(data)
    _, (data, fit, *_) = KernelBasis("sparse", gamma=0.5).fit(DATA)._model.__reduce__()
    with pytest.raises(ValueError, match="`never` is nothing that ends a fit"):
        _core.Model(data, (*fit[:-1], "never"))


def test_scaling_and_names_must_fit_the_model():
    model = KernelBasis(n_components=4).fit(DATA)._model
    with pytest.raises(ValueError, match="3 centers and 4 factors, but the model has 4 inputs"):
        model.with_scaling(np.zeros(3), np.ones(4), None)
    with pytest.raises(ValueError, match="1 names, but the model has 4 inputs"):
        model.with_input_names(["a"])
    names = ["a", "b", "c", "d"]
    assert model.with_input_names(names).input_names == names
    assert model.input_names is None
    scaled = model.with_scaling(np.ones(4), np.full(4, 2.0), names)
    np.testing.assert_array_equal(scaled.transform(DATA), model.transform(2 * (DATA - 1)))


def test_a_pipeline_is_saved_without_touching_what_it_holds(tmp_path):
    pipeline = make_pipeline(StandardScaler(), KernelBasis(n_components=4)).fit(DATA)
    before = pipeline[-1]._model
    mercer.save(pipeline, tmp_path / "pipeline.mercer")
    assert pipeline[-1]._model is before
    assert before.scaling is None


def stopped_by(basis):
    return json.loads(basis._model.facts)["stopped_by"]


def test_a_basis_that_grows_remembers_what_ended_it_and_how_much_it_has_seen():
    rows = np.linspace(0, 1, 40)[:, None]
    whole = KernelBasis("sparse", gamma=1.0, nu=0.0).partial_fit(rows)
    parts = KernelBasis("sparse", gamma=1.0, nu=0.0).partial_fit(rows[:30])
    assert stopped_by(whole) == stopped_by(parts) == "rank"
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(rows[30:31]).partial_fit(rows[31:])
    assert stopped_by(parts) == "rank"
    assert parts.n_samples_seen_ == 40
    assert parts._model.trace == pytest.approx(40.0)
    assert parts.residual_ == pytest.approx(whole.residual_, rel=1e-9)
    capped = KernelBasis("sparse", gamma=1.0, nu=0.0, n_components=2).partial_fit(rows)
    assert stopped_by(capped) == stopped_by(capped.partial_fit(rows)) == "cap"


def test_a_system_fits_its_basis_once_and_keeps_it(monkeypatch):
    calls = []
    fit = _core.fit
    monkeypatch.setattr(_core, "fit", lambda *given, **more: calls.append(given[2]) or fit(*given, **more))
    KRelief(3).fit(DATA, Y)
    EKS("relieff").fit(DATA, Y)
    SKFE(tol=0.9).fit(DATA, Y)
    KernelBasis().fit(DATA)
    EKS(SelectKBest(k=2)).fit(DATA, Y)
    assert calls == ["k-relief", "eks", "skfe", None, "eks"]


def test_the_memory_of_the_environment_is_kept_to_by_comparisons_and_advice(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] > 0
    monkeypatch.setenv("MERCER_MEMORY", "1KB")
    for work in (
        lambda: mercer.compare(X, y, methods=["gda"], evaluators="ridge"),
        lambda: mercer.advise(X, y),
        lambda: AutoFeatures().fit(X, y),
    ):
        with pytest.raises(MemoryError, match="but the budget is"):
            work()
    with pytest.raises(MemoryError, match=r"or raise the memory budget \(the environment variable MERCER_MEMORY\)"):
        KernelBasis(n_components=20).fit(X)
    # What is given goes before.
    mercer.compare(X, y, methods=["gda"], evaluators="ridge", memory=2**30)
    monkeypatch.setenv("MERCER_MEMORY", "plenty")
    with pytest.raises(ValueError, match="MERCER_MEMORY = plenty, but"):
        mercer.advise(X, y)
