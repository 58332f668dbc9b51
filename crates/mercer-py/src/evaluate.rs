//! Stage 7 for Python: folds and judges. What is predicted is a class's code, in the order of the classes, or a number.

use mercer::evaluate::{Judge, Predictions, Split, folds as parts, svm};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{PyRows, Target, whole};
use crate::gate::{exception, run};

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
    let (splits, warnings) = parts::folds(&y.labels(task)?, k, repeats, seed).map_err(exception)?;
    Ok((sides(py, splits), warnings))
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
    let (splits, warnings) = parts::splits(&y.labels(task)?, test_share, repeats, seed).map_err(exception)?;
    Ok((sides(py, splits), warnings))
}

/// Learn from X and y, predict T.
#[pyfunction]
#[pyo3(signature = (X, y, T, name, *, n_neighbors=1, c=None, gamma=None, seed=0, task="auto", verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn judge<'py>(
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
    let (train, labels, test) = (X.rows()?, y.labels(task)?, T.rows()?);
    let judge = match Judge::named(name).map_err(exception)? {
        Judge::Knn { .. } => Judge::Knn { n_neighbors },
        Judge::LinearSvm { .. } => Judge::LinearSvm { c },
        Judge::RbfSvm { .. } => Judge::RbfSvm { c, gamma },
        judge => judge,
    };
    let judged = run(py, verbose, |monitor| judge.predict(&train, &labels, &test, seed, monitor))?;
    let out = PyDict::new(py);
    match judged.predictions {
        Predictions::Classes(codes) => out.set_item("predictions", whole(py, codes))?,
        Predictions::Numbers(values) => out.set_item("predictions", PyArray1::from_vec(py, values))?,
    }
    out.set_item("support", judged.support)?;
    out.set_item("warnings", judged.warnings)?;
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
    let (rows, labels) = (X.rows()?, y.labels(task)?);
    let (coefficients, bias) = run(py, 0, |monitor| svm::dual(&rows, &labels, c, gamma, monitor))?;
    Ok((PyArray1::from_vec(py, coefficients), bias))
}
