//! Stage 3 for Python: fit a basis, and measure one.

use mercer::basis::{Features, Precision};
use mercer::evaluate::portrait;
use mercer::{FeatureMap, FittedBasis, methods};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{EitherRows, PyExpansion, PyRows, Target, dictionary, feature_map};
use crate::extract::as_fitted;
use crate::gate::{exception, memory, run};

/// Fit a basis. Settings are texts, by the names of the catalogue. Features come in the basis' precision.
#[pyfunction]
#[pyo3(signature = (X, y, method, settings, *, landmarks=None, center=false, precision=None, want_features=false, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_basis<'py>(
    py: Python<'py>,
    X: EitherRows<'py>,
    y: Option<Target<'py>>,
    method: &str,
    settings: Vec<(String, String)>,
    landmarks: Option<PyRows<'py>>,
    center: bool,
    precision: Option<&str>,
    want_features: bool,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let labels = y.map(|y| y.labels("auto")).transpose()?;
    let mut basis = methods::basis(method, &settings).map_err(exception)?;
    basis.landmarks = landmarks.map(|l| l.to_owned()).transpose()?;
    // Not among the settings, because the catalogue knows them for some bases alone; the basis itself has the better words.
    basis.center = center;
    basis.precision = precision.map(Precision::named).transpose().map_err(exception)?;
    basis.memory = memory()?;
    let labels = labels.as_ref();
    let rows = X.rows()?;
    let rows = rows.view();
    let fit = |monitor: &_| basis.monitor(monitor).fit_either(rows, labels, want_features);
    let (fitted, features) = run(py, verbose, fit)?;
    let features = match features {
        Some(Features::Double(z)) => Some(matrix(py, z, rows.n())?),
        Some(Features::Single(z)) => Some(matrix(py, z, rows.n())?),
        None => None,
    };
    let out = found(py, fitted)?;
    out.set_item("features", features)?;
    Ok(out)
}

/// The basis `sparse` after one more batch. `so_far` is the model of the batches before, and `trace` their sum of k(x,x).
#[pyfunction]
#[pyo3(signature = (X, settings, so_far=None, trace=0.0, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn grow_basis<'py>(
    py: Python<'py>,
    X: EitherRows<'py>,
    settings: Vec<(String, String)>,
    so_far: Option<&Bound<'py, PyAny>>,
    trace: f64,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let mut basis = methods::basis("sparse", &settings).map_err(exception)?;
    basis.memory = memory()?;
    let so_far = match so_far {
        Some(model) => {
            let before = as_fitted(&mut feature_map(model)?).map_err(exception)?;
            Some(FittedBasis { trace, ..before })
        }
        None => None,
    };
    let so_far = so_far.as_ref();
    let rows = X.rows()?;
    let rows = rows.view();
    let grown = run(py, verbose, |monitor| basis.monitor(monitor).grow(so_far, rows))?;
    let out = found(py, grown)?;
    out.set_item("features", py.None())?;
    Ok(out)
}

/// A fitted basis as a dictionary, without features.
fn found(py: Python<'_>, fitted: FittedBasis) -> PyResult<Bound<'_, PyDict>> {
    let (residual, trace, evaluations) = (fitted.residual, fitted.trace, fitted.n_kernel_evaluations);
    let (precision, rounding_error) = (fitted.precision.name(), fitted.rounding_error);
    let warnings = fitted.warnings.clone();
    let out = dictionary(py, FeatureMap::from(fitted))?;
    out.set_item("residual", residual)?;
    out.set_item("trace", trace)?;
    out.set_item("precision", precision)?;
    out.set_item("rounding_error", rounding_error)?;
    out.set_item("n_kernel_evaluations", evaluations)?;
    out.set_item("warnings", warnings)?;
    Ok(out)
}

/// Features of n rows as Python has them.
fn matrix<T: Element>(py: Python<'_>, values: Vec<T>, n: usize) -> PyResult<Bound<'_, PyAny>> {
    let m = values.len() / n.max(1);
    Ok(PyArray1::from_vec(py, values).reshape([n, m])?.into_any())
}

/// E(M): the mean distance of the rows' images from the span.
#[pyfunction]
#[pyo3(signature = (expansion, X, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn reconstruction_cost<'py>(
    py: Python<'py>,
    expansion: PyExpansion<'py>,
    X: PyRows<'py>,
    verbose: u32,
) -> PyResult<f64> {
    let (expansion, rows) = (expansion.expansion()?, X.rows()?);
    run(py, verbose, |monitor| expansion.reconstruction_cost(&rows, monitor))
}

/// Share of mean k(x,x) that is left after 0, 1, …, m coordinates; `left` is what all of them leave.
#[pyfunction]
#[pyo3(signature = (expansion, X, left, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn residuals<'py>(
    py: Python<'py>,
    expansion: PyExpansion<'py>,
    X: PyRows<'py>,
    left: f64,
    verbose: u32,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (expansion, rows) = (expansion.expansion()?, X.rows()?);
    let shares = run(py, verbose, |monitor| portrait::residuals(&expansion, left, &rows, monitor))?;
    Ok(PyArray1::from_vec(py, shares))
}

/// ‖A K Aᵀ − I‖ over the landmarks. X, the training matrix, is needed for a precomputed kernel alone.
#[pyfunction]
#[pyo3(signature = (expansion, X=None, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn orthogonality_loss<'py>(
    py: Python<'py>,
    expansion: PyExpansion<'py>,
    X: Option<PyRows<'py>>,
    verbose: u32,
) -> PyResult<f64> {
    let expansion = expansion.expansion()?;
    let rows = X.as_ref().map(PyRows::rows).transpose()?;
    run(py, verbose, |_| expansion.orthogonality_loss(rows.as_ref()))
}
