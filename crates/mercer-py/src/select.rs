//! Stage 5a for Python: score columns and keep the best.

use mercer::methods;
use mercer::select::Columns;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{PyExpansion, PyRows, Target, whole};
use crate::gate::{exception, run};

/// Score columns and keep the best. Settings are texts, by the names of the catalogue. `space`: a fitted basis and
/// the rows it was fitted on; neighbours are then sought in its kernel's space.
#[pyfunction]
#[pyo3(signature = (X, y, selector, settings, *, categorical=None, space=None, task="auto", verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_selector<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Option<Target<'py>>,
    selector: &str,
    settings: Vec<(String, String)>,
    categorical: Option<Vec<usize>>,
    space: Option<(PyExpansion<'py>, PyRows<'py>)>,
    task: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = X.rows()?;
    let labels = y.map(|y| y.labels(task)).transpose()?;
    let (selector, keep) = methods::selector(selector, &settings).map_err(exception)?;
    let categorical = categorical.unwrap_or_default();
    let space = match &space {
        Some((expansion, rows)) => Some((expansion.kernel()?, rows.rows()?)),
        None => None,
    };
    let (scores, kept) = run(py, verbose, |monitor| {
        let scores = selector.score(&Columns {
            rows: &rows,
            labels: labels.as_ref(),
            space: space.as_ref().map(|(kernel, rows)| (*kernel, rows)),
            categorical: &categorical,
            monitor,
        })?;
        let kept = scores.keep(keep);
        Ok((scores, kept))
    })?;
    let mut support = vec![false; scores.scores.len()];
    kept.columns.iter().for_each(|&j| support[j] = true);
    let numbers = |values: Vec<f64>| PyArray1::from_vec(py, values);
    let out = PyDict::new(py);
    out.set_item("scores", numbers(scores.scores))?;
    out.set_item("support", PyArray1::from_vec(py, support))?;
    out.set_item("ranking", whole(py, kept.ranking))?;
    out.set_item("pvalues", scores.pvalues.map(numbers))?;
    out.set_item("order", scores.order.map(|order| whole(py, order)))?;
    out.set_item("error_path", numbers(scores.error_path))?;
    out.set_item("weights", scores.weights.map(numbers))?;
    out.set_item("penalty", scores.penalty)?;
    out.set_item("chosen", scores.chosen.map(|chosen| PyArray1::from_vec(py, chosen)))?;
    out.set_item("warnings", [scores.warnings, kept.warnings].concat())?;
    Ok(out)
}
