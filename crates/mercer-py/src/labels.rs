//! Stage 1 for Python: what a target is, by the one rule.

use mercer::Labels;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::convert::{Target, whole};

/// Class codes and the classes' names, or the numbers and no names; and warnings.
type Decided<'py> = (Bound<'py, PyAny>, Option<Vec<String>>, Vec<String>);

/// Classes or numbers.
#[pyfunction]
#[pyo3(signature = (y, *, task="auto"))]
pub(crate) fn decide<'py>(py: Python<'py>, y: Target<'py>, task: &str) -> PyResult<Decided<'py>> {
    let mut warnings = Vec::new();
    let (values, names) = match y.labels(task, &mut warnings)? {
        Labels::Classes { codes, names } => (whole(py, codes).into_bound_py_any(py)?, Some(names)),
        Labels::Numbers(values) => (PyArray1::from_vec(py, values).into_bound_py_any(py)?, None),
        Labels::Several { values, count } => {
            let n = values.len() / count;
            (PyArray1::from_vec(py, values).reshape([n, count])?.into_bound_py_any(py)?, None)
        }
    };
    Ok((values, names, warnings))
}
