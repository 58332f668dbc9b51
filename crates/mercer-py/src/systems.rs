//! Systems for Python: the basis that a method comes with, and the map of the coordinates that its selector kept.

use mercer::{FeatureMap, methods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{dictionary, feature_map};
use crate::gate::exception;

/// The basis that a system or an extractor comes with for n rows, and what the user should know about it.
#[pyfunction]
pub(crate) fn default_basis(method: &str, n: usize) -> PyResult<(&'static str, Vec<String>)> {
    let mut warnings = Vec::new();
    let basis = match methods::extractor::<&str>(method, &[]) {
        Ok(extractor) => extractor.default_basis(n, &mut warnings),
        Err(_) => methods::system::<&str>(method, &[]).map_err(exception)?.default_basis(n, &mut warnings),
    };
    Ok((basis.name(), warnings))
}

/// The map whose features are some of a basis', each multiplied by its weight if there are weights.
#[pyfunction]
pub(crate) fn compose<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyAny>,
    columns: Vec<usize>,
    weights: Option<Vec<f64>>,
    scores: Vec<f64>,
    method: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let map = FeatureMap::from_columns(method, feature_map(model)?, &columns, weights.as_deref(), scores);
    dictionary(py, map.map_err(exception)?)
}
