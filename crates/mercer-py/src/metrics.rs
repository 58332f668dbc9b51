//! Stage 7 for Python: measures of a kernel against labels, and neighbours in its space.

use mercer::evaluate::{knn, metrics};
use mercer::{Shape, methods};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::convert::{Matrix, PyRows, Target};
use crate::gate::{exception, run};

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

/// The width of a kernel on these rows, as a basis with these settings would have it; a sum of kernels has its widths in its text.
#[pyfunction]
#[pyo3(signature = (X, y, settings, *, task="auto"))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn kernel_width<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Target<'py>,
    settings: Vec<(String, String)>,
    task: &str,
) -> PyResult<(f64, Option<&'static str>)> {
    let (rows, labels) = (X.rows()?, y.labels(task, &mut Vec::new())?);
    let basis = methods::basis("kobl", &settings).map_err(exception)?;
    let kernel = run(py, 0, |monitor| basis.resolve_kernel(&rows.to_f64(), Some(&labels), monitor))?;
    let text = matches!(kernel.shape, Shape::Composite(_)).then(|| kernel.shape.name());
    Ok((kernel.gamma, text))
}

/// Distances, and the rows that they are of.
type Neighbours<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<isize>>);

/// Distances of the nearest training rows of every row in the kernel's space, and which they are.
#[pyfunction]
#[pyo3(signature = (train, test, settings, n_neighbors, *, verbose=0))]
pub(crate) fn nearest_in_kernel<'py>(
    py: Python<'py>,
    train: PyRows<'py>,
    test: PyRows<'py>,
    settings: Vec<(String, String)>,
    n_neighbors: usize,
    verbose: u32,
) -> PyResult<Neighbours<'py>> {
    let basis = methods::basis("kobl", &settings).map_err(exception)?;
    let (train, test) = (train.rows()?, test.rows()?);
    let (distances, near) = run(py, verbose, |monitor| {
        let kernel = basis.resolve_kernel(&train.to_f64(), None, monitor)?;
        knn::nearest_in_kernel(kernel, &train, &test, n_neighbors, monitor)
    })?;
    let indices: Vec<Vec<isize>> =
        near.into_iter().map(|row| row.into_iter().map(usize::cast_signed).collect()).collect();
    Ok((PyArray2::from_vec2(py, &distances)?, PyArray2::from_vec2(py, &indices)?))
}
