//! Stage 1 for Python: what a target is, by the one rule.

use mercer::Labels;
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::convert::{Target, whole};

/// Class codes and the classes' names; or the numbers, and no names.
#[pyfunction]
#[pyo3(signature = (y, *, task="auto"))]
pub(crate) fn decide<'py>(
    py: Python<'py>,
    y: Target<'py>,
    task: &str,
) -> PyResult<(Bound<'py, PyAny>, Option<Vec<String>>)> {
    match y.labels(task)? {
        Labels::Classes { codes, names } => Ok((whole(py, codes).into_bound_py_any(py)?, Some(names))),
        Labels::Numbers(values) => Ok((PyArray1::from_vec(py, values).into_bound_py_any(py)?, None)),
    }
}
