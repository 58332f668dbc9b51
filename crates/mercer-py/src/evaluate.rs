//! Stage 7 for Python: folds, evaluators, comparisons and advice. Predictions are codes of classes, in the order of the
//! classes, or numbers.

use mercer::data::Scale;
use mercer::evaluate::advise::Adviser;
use mercer::evaluate::{Comparison, Evaluator, Measure, Predictions, Split, folds as parts, svm};
use mercer::{FeatureMap, Options};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{PyRows, Target, weights_of, whole};
use crate::device::device_named;
use crate::gate::{self, exception, run, run_or_part};
use crate::model::Model;
use crate::pool;

/// Indices of the rows to learn from and of those to be asked about.
type Sides<'py> = (Bound<'py, PyArray1<isize>>, Bound<'py, PyArray1<isize>>);

fn sides(py: Python<'_>, splits: Vec<Split>) -> Vec<Sides<'_>> {
    splits.into_iter().map(|split| (whole(py, split.train), whole(py, split.test))).collect()
}

/// k folds, stratified where the target holds classes; and warnings.
#[pyfunction]
#[pyo3(signature = (y, k, *, repeats=1, seed=0, task="auto"))]
pub(crate) fn folds<'py>(
    py: Python<'py>,
    y: Target<'py>,
    k: usize,
    repeats: usize,
    seed: u64,
    task: &str,
) -> PyResult<(Vec<Sides<'py>>, Vec<String>)> {
    let mut warnings = Vec::new();
    let labels = y.labels(task, &mut warnings)?;
    let (splits, more) = parts::folds(&labels, k, repeats, seed).map_err(exception)?;
    warnings.extend(more);
    Ok((sides(py, splits), warnings))
}

/// k folds that keep the rows of a group together.
#[pyfunction]
#[pyo3(signature = (groups, k, *, repeats=1, seed=0))]
pub(crate) fn group_folds(
    py: Python<'_>,
    groups: Vec<i64>,
    k: usize,
    repeats: usize,
    seed: u64,
) -> PyResult<Vec<Sides<'_>>> {
    Ok(sides(py, parts::group_folds(&groups, k, repeats, seed).map_err(exception)?))
}

/// Splits by chance with this share of every class for testing; and warnings.
#[pyfunction]
#[pyo3(signature = (y, test_share, *, repeats=1, seed=0, task="auto"))]
pub(crate) fn splits<'py>(
    py: Python<'py>,
    y: Target<'py>,
    test_share: f64,
    repeats: usize,
    seed: u64,
    task: &str,
) -> PyResult<(Vec<Sides<'py>>, Vec<String>)> {
    let mut warnings = Vec::new();
    let labels = y.labels(task, &mut warnings)?;
    let (splits, more) = parts::splits(&labels, test_share, repeats, seed).map_err(exception)?;
    warnings.extend(more);
    Ok((sides(py, splits), warnings))
}

/// Fit an evaluator on X and y, and predict T.
#[pyfunction]
#[pyo3(signature = (X, y, T, name, *, n_neighbors=1, c=None, gamma=None, seed=0, task="auto", verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    T: PyRows<'py>,
    name: &str,
    n_neighbors: usize,
    c: Option<f64>,
    gamma: Option<f64>,
    seed: u64,
    task: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let mut warnings = Vec::new();
    let (train, labels, test) = (X.rows()?, y.labels(task, &mut warnings)?, T.rows()?);
    let evaluator = match Evaluator::named(name).map_err(exception)? {
        Evaluator::Knn { .. } => Evaluator::Knn { n_neighbors },
        Evaluator::LinearSvm { .. } => Evaluator::LinearSvm { c },
        Evaluator::RbfSvm { .. } => Evaluator::RbfSvm { c, gamma },
        evaluator => evaluator,
    };
    let found = run(py, verbose, |monitor| evaluator.predict(&train, &labels, &test, seed, monitor))?;
    let out = PyDict::new(py);
    match found.predictions {
        Predictions::Classes(codes) => out.set_item("predictions", whole(py, codes))?,
        Predictions::Numbers(values) => out.set_item("predictions", PyArray1::from_vec(py, values))?,
    }
    out.set_item("support", found.support)?;
    warnings.extend(found.warnings);
    out.set_item("warnings", warnings)?;
    Ok(out)
}

/// Coefficients and bias of an rbf support vector machine of two classes or of numbers.
#[pyfunction]
#[pyo3(signature = (X, y, c, gamma, *, task="auto"))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn svm_dual<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    c: f64,
    gamma: f64,
    task: &str,
) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
    let (rows, labels) = (X.rows()?, y.labels(task, &mut Vec::new())?);
    let (coefficients, bias) = run(py, 0, |monitor| svm::dual(&rows, &labels, c, gamma, monitor))?;
    Ok((PyArray1::from_vec(py, coefficients), bias))
}

/// Methods side by side: the outcome as JSON. Ctrl-C gives what is finished, if anything is.
#[pyfunction]
#[pyo3(signature = (
    X, y, methods, settings, *, gammas, sizes, evaluators, knn=1, scale="standard", folds=5, repeats=1, test_share=None,
    splits=None, groups=None, score=None, keep_predictions=false, seed=0, memory=None, n_threads=None, task="auto", split=None, found=None,
    device="cpu", verbose=0
))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    methods: Vec<String>,
    settings: Vec<(String, String)>,
    gammas: Vec<String>,
    sizes: Vec<Option<usize>>,
    evaluators: Vec<String>,
    knn: usize,
    scale: &str,
    folds: usize,
    repeats: usize,
    test_share: Option<f64>,
    splits: Option<Vec<(Vec<usize>, Vec<usize>)>>,
    groups: Option<Vec<usize>>,
    score: Option<&str>,
    keep_predictions: bool,
    seed: u64,
    memory: Option<u64>,
    n_threads: Option<usize>,
    task: &str,
    split: Option<usize>,
    found: Option<Vec<String>>,
    device: &str,
    verbose: u32,
) -> PyResult<String> {
    let mut warnings = Vec::new();
    let (rows, labels) = (X.rows()?, y.labels(task, &mut warnings)?);
    let evaluator = |name: &String| match Evaluator::named(name)? {
        Evaluator::Knn { .. } => Ok(Evaluator::Knn { n_neighbors: knn }),
        evaluator => Ok(evaluator),
    };
    let evaluators = evaluators.iter().map(evaluator).collect::<mercer::Result<_>>().map_err(exception)?;
    let scale = scale.parse().map_err(exception)?;
    let mut comparison = Comparison {
        methods,
        settings,
        gammas,
        sizes,
        evaluators,
        scale,
        fill_missing: false,
        folds,
        repeats,
        test_share,
        splits: splits.map(|all| all.into_iter().map(|(train, test)| Split { train, test }).collect()),
        groups,
        score: score.map(Measure::named).transpose().map_err(exception)?,
        keep_predictions,
        seed,
        options: Options {
            threads: n_threads.map(|threads| pool::allowed(py, threads)).transpose()?,
            ..options(py, memory, device)?
        },
    };
    if let Some(split) = split {
        return run(py, verbose, move |monitor| {
            comparison.options.monitor = monitor.clone();
            comparison.run_split(&rows, &labels, split)
        });
    }
    let mut outcome = run_or_part(py, verbose, move |monitor| {
        comparison.options.monitor = monitor.clone();
        match found {
            Some(found) => comparison.join(&rows, &labels, &found),
            None => comparison.run(&rows, &labels),
        }
    })?;
    outcome.warnings.splice(0..0, warnings);
    Ok(outcome.to_json().to_string())
}

/// What to use on such rows, as JSON.
#[pyfunction]
#[pyo3(signature = (
    X, y, *, scale="standard", seed=0, memory=None, task="auto", weights=None, device="cpu", verbose=0
))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn advise<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    scale: &str,
    seed: u64,
    memory: Option<u64>,
    task: &str,
    weights: Option<Vec<f64>>,
    device: &str,
    verbose: u32,
) -> PyResult<String> {
    let mut warnings = Vec::new();
    let (rows, labels) = (X.rows()?, y.labels(task, &mut warnings)?);
    let (scale, mut options) = (scale.parse().map_err(exception)?, options(py, memory, device)?);
    options.weights = weights_of(weights)?;
    let mut adviser = Adviser { scale, seed, options, ..Adviser::default() };
    let mut advice = run(py, verbose, move |monitor| {
        adviser.options.monitor = monitor.clone();
        adviser.advise(&rows, &labels)
    })?;
    advice.warnings.splice(0..0, warnings);
    Ok(advice.to_json().to_string())
}

/// Features by such advice, for rows as they are: the map, the basis below it, and the advice as JSON.
#[pyfunction]
#[pyo3(signature = (
    X, y, *, max_components, input_weights, input_names=None, seed=0, task="auto", weights=None, device="cpu",
    verbose=0
))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_auto<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    max_components: usize,
    input_weights: bool,
    input_names: Option<Vec<String>>,
    seed: u64,
    task: &str,
    weights: Option<Vec<f64>>,
    device: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let mut warnings = Vec::new();
    let (rows, labels) = (X.rows()?, y.labels(task, &mut warnings)?);
    let (scale, mut options) = (Scale::None, options(py, None, device)?);
    options.weights = weights_of(weights)?;
    let mut adviser = Adviser { scale, max_components, input_weights, seed, options, ..Adviser::default() };
    let mut found = run(py, verbose, move |monitor| {
        adviser.options.monitor = monitor.clone();
        adviser.fit(&rows, &labels)
    })?;
    // The advice is kept, and what is warned of are the fit's warnings.
    found.advice.warnings.splice(0..0, warnings.iter().cloned());
    warnings.extend(found.fitted.warnings);
    let out = PyDict::new(py);
    out.set_item("weights", found.weights.map(|found| PyArray1::from_vec(py, found.weights)))?;
    let map = FeatureMap { input_names: input_names.clone(), ..found.fitted.map };
    out.set_item("basis", Model::of_basis(found.fitted.basis, map.scaling.clone(), input_names))?;
    out.set_item("model", Model::new(map))?;
    out.set_item("advice", found.advice.to_json().to_string())?;
    out.set_item("warnings", warnings)?;
    Ok(out)
}

/// Options with a device and a budget: what is given, else what the environment says, else the default.
fn options(py: Python<'_>, memory: Option<u64>, device: &str) -> PyResult<Options> {
    Ok(Options::default().memory(gate::memory(py, memory)?).device(device_named(device)?))
}
