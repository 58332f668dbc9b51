//! Stage 6 for Python: apply a fitted map, write it, read it.

use std::path::PathBuf;

use faer::MatMut;
use mercer::{FeatureMap, Monitor, Result};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{EitherRows, Matrix, PyExpansion, PyRows, dictionary, feature_map, matrix_array};
use crate::gate::run;

/// Features of rows, in their precision, written where Python will read them.
#[pyfunction]
#[pyo3(signature = (expansion, X, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn transform<'py>(
    py: Python<'py>,
    expansion: PyExpansion<'py>,
    X: EitherRows<'py>,
    verbose: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let map = expansion.map()?;
    match X {
        EitherRows::Double(rows) => {
            let rows = rows.rows()?;
            let work = |out: MatMut<'_, f64>, monitor: &Monitor| map.transform_into(&rows, out, monitor);
            written(py, verbose, (rows.n(), map.n_features()), work)
        }
        EitherRows::Single(rows) => {
            let rows = rows.rows()?;
            let work = |out: MatMut<'_, f32>, monitor: &Monitor| {
                map.transform_single_into(&rows, out, monitor).map(|_| ())
            };
            written(py, verbose, (rows.n(), map.n_features()), work)
        }
    }
}

/// A matrix that work has written.
fn written<T: Element + Send + Sync>(
    py: Python<'_>,
    verbose: u32,
    (n, q): (usize, usize),
    work: impl FnOnce(MatMut<'_, T>, &Monitor) -> Result<()> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    let features = PyArray2::zeros(py, [n, q], false);
    let mut memory = features.readwrite();
    let out = MatMut::from_row_major_slice_mut(memory.as_slice_mut()?, n, q);
    run(py, verbose, |monitor| work(out, monitor))?;
    drop(memory);
    Ok(features.into_any())
}

/// Rows whose features come closest to these.
#[pyfunction]
#[pyo3(signature = (expansion, features, *, verbose=0))]
pub(crate) fn inverse_transform<'py>(
    py: Python<'py>,
    expansion: PyExpansion<'py>,
    features: Matrix<'py>,
    verbose: u32,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (map, features) = (expansion.map()?, features.view()?);
    let rows = run(py, verbose, |monitor| map.inverse_transform(features, monitor))?;
    PyArray1::from_vec(py, rows).reshape([features.nrows(), map.expansion.landmarks.p()])
}

/// How much each feature depends on each input: q×p.
#[pyfunction]
#[pyo3(signature = (expansion, X, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn input_importance<'py>(
    py: Python<'py>,
    expansion: PyExpansion<'py>,
    X: PyRows<'py>,
    verbose: u32,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (map, rows) = (expansion.map()?, X.rows()?);
    let importance = run(py, verbose, |monitor| map.input_importance(&rows, monitor))?;
    matrix_array(py, &importance)
}

/// Write a model file, whole or not at all.
#[pyfunction]
pub(crate) fn save<'py>(py: Python<'py>, model: &Bound<'py, PyAny>, path: PathBuf) -> PyResult<()> {
    let map = feature_map(model)?;
    run(py, 0, |_| map.save(path))
}

/// Read a model file.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let map = run(py, 0, |_| FeatureMap::load(path))?;
    dictionary(py, map)
}
