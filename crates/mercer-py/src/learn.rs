//! Predictions and input weights for Python.

use mercer::data::Scale;
use mercer::evaluate::held_out::Score;
use mercer::evaluate::learn::{Learned, Learner};
use mercer::kernel::Shape;
use mercer::select::input_weights::{FoundWeights, InputWeights};
use mercer::{FeatureMap, Options};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{PyRows, Target, weights_of};
use crate::device::device_named;
use crate::gate::{exception, memory, run};
use crate::model::Model;

/// A predictor for rows as they are: the map with it, the basis below it, and what was tried.
#[pyfunction]
#[pyo3(signature = (
    X, y, *, scale, max_components, input_weights, input_names=None, seed=0, task="auto", weights=None,
    device="cpu", verbose=0
))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_predictor<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    scale: &str,
    max_components: usize,
    input_weights: bool,
    input_names: Option<Vec<String>>,
    seed: u64,
    task: &str,
    weights: Option<Vec<f64>>,
    device: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let mut label_warnings = Vec::new();
    let (rows, labels) = (X.rows()?, y.labels(task, &mut label_warnings)?);
    let scale: Scale = scale.parse().map_err(exception)?;
    let options = Options::default().memory(memory(py, None)?).device(device_named(device)?);
    let options = Options { weights: weights_of(weights)?, ..options };
    let mut learner = Learner { scale, max_components, input_weights, seed, options };
    let learned = run(py, verbose, move |monitor| {
        learner.options.monitor = monitor.clone();
        learner.fit(&rows, &labels)
    })?;
    let Learned { map, basis, tried, error, missed, log_loss, weights, left_out, warnings } = learned;
    let attempts = tried.iter().map(|attempt| {
        let out = PyDict::new(py);
        out.set_item("kernel", attempt.kernel)?;
        out.set_item("weighted", attempt.weighted)?;
        out.set_item("gamma", attempt.gamma)?;
        out.set_item("n_components", attempt.size)?;
        out.set_item("n_components_tried", attempt.tried_size)?;
        out.set_item("error", attempt.error)?;
        out.set_item("is_member", attempt.is_member)?;
        Ok(out)
    });
    let out = PyDict::new(py);
    out.set_item("tried", attempts.collect::<PyResult<Vec<_>>>()?)?;
    out.set_item("error", error)?;
    out.set_item("missed", missed)?;
    out.set_item("log_loss", log_loss)?;
    out.set_item("left_out", score(py, left_out.score)?)?;
    out.set_item("is_above_chance", left_out.score.is_above_chance())?;
    out.set_item("weights", weights.map(|found| PyArray1::from_vec(py, found.weights)))?;
    out.set_item("warnings", [label_warnings, warnings].concat())?;
    out.set_item("basis", Model::of_basis(basis, map.scaling.clone(), input_names.clone()))?;
    out.set_item("model", Model::new(FeatureMap { input_names, ..map }))?;
    Ok(out)
}

/// A score of rows that were left out, beside shuffled labels.
fn score(py: Python<'_>, found: Score) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("measure", found.measure.name().replace('-', "_"))?;
    out.set_item("value", found.value)?;
    out.set_item("chance", found.chance)?;
    out.set_item("p_value", found.p_value)?;
    Ok(out)
}

/// A weight for every input column: the weights, the rounds used, the errors of left-out rows and the width.
#[pyfunction]
#[pyo3(signature = (X, y, *, kernel="rbf", rounds=3, seed=0, task="auto", weights=None, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn input_weights<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    kernel: &str,
    rounds: usize,
    seed: u64,
    task: &str,
    weights: Option<Vec<f64>>,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let mut label_warnings = Vec::new();
    let (rows, labels) = (X.rows()?, y.labels(task, &mut label_warnings)?);
    let shape = Shape::named(kernel, 3, 1.0, 1.0).map_err(exception)?;
    let settings = InputWeights { shape, rounds, seed };
    let counts = weights_of(weights)?;
    let FoundWeights { weights, rounds, errors, gamma, .. } =
        run(py, verbose, move |monitor| settings.find_by(&rows, &labels, counts.as_ref(), monitor))?;
    let out = PyDict::new(py);
    out.set_item("weights", PyArray1::from_vec(py, weights))?;
    out.set_item("rounds", rounds)?;
    out.set_item("errors", PyArray1::from_vec(py, errors))?;
    out.set_item("gamma", gamma)?;
    out.set_item("warnings", label_warnings)?;
    Ok(out)
}
