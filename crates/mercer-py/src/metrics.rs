//! Stage 7 for Python: measures of a kernel against labels.

use mercer::evaluate::metrics;
use pyo3::prelude::*;

use crate::convert::{Matrix, Target};
use crate::gate::run;

/// Kernel–target alignment; and warnings.
#[pyfunction]
#[pyo3(signature = (K, y, *, center=false, task="auto"))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn kernel_alignment<'py>(
    py: Python<'py>,
    K: Matrix<'py>,
    y: Target<'py>,
    center: bool,
    task: &str,
) -> PyResult<(f64, Vec<String>)> {
    let mut warnings = Vec::new();
    let (k, labels) = (K.view()?, y.labels(task, &mut warnings)?);
    Ok((run(py, 0, |_| metrics::kernel_alignment(k, &labels, center))?, warnings))
}

/// The dimension in which the labels live, and the noise beyond it; and warnings.
#[pyfunction]
#[pyo3(signature = (K, y, *, task="auto"))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn relevant_dimension<'py>(
    py: Python<'py>,
    K: Matrix<'py>,
    y: Target<'py>,
    task: &str,
) -> PyResult<(usize, f64, Vec<String>)> {
    let mut warnings = Vec::new();
    let (k, labels) = (K.view()?, y.labels(task, &mut warnings)?);
    let (dimension, noise) = run(py, 0, |monitor| metrics::relevant_dimension(k, &labels, monitor))?;
    Ok((dimension, noise, warnings))
}
