//! Stage 4 for Python: sums over rows and over pairs of rows. The sums so far are a dictionary of arrays, so that they
//! can be stored, sent and merged.

use faer::Mat;
use mercer::evidence::margins::{Margins, Side};
use mercer::evidence::moments::Moments;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Matrix, matrix_array, weights_of};
use crate::gate::{exception, run};

/// Sums of moments as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PyMoments<'py> {
    n_features: usize,
    n: f64,
    shift: PyReadonlyArray1<'py, f64>,
    mean: PyReadonlyArray1<'py, f64>,
    scatter: Matrix<'py>,
}

impl PyMoments<'_> {
    pub(crate) fn moments(&self) -> PyResult<Moments> {
        let (shift, mean) = (self.shift.as_slice()?.to_vec(), self.mean.as_slice()?.to_vec());
        Moments::from_parts(self.n_features, self.n, shift, mean, self.scatter.view()?.to_owned())
            .map_err(exception)
    }
}

fn as_moments<'py>(py: Python<'py>, moments: &Moments) -> PyResult<Bound<'py, PyDict>> {
    let (n_features, n, shift, mean, scatter) = moments.parts();
    let out = PyDict::new(py);
    out.set_item("n_features", n_features)?;
    out.set_item("n", n)?;
    out.set_item("shift", PyArray1::from_slice(py, shift))?;
    out.set_item("mean", PyArray1::from_slice(py, mean))?;
    out.set_item("scatter", matrix_array(py, scatter)?)?;
    Ok(out)
}

/// Moments of no rows yet.
#[pyfunction]
pub(crate) fn moments_of_nothing(
    py: Python<'_>,
    n_features: usize,
    n_targets: usize,
) -> PyResult<Bound<'_, PyDict>> {
    as_moments(py, &Moments::new(n_features, n_targets))
}

/// Adds rows of features and of targets.
#[pyfunction]
#[pyo3(signature = (state, Z, Y, weights=None))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn moments_accumulate<'py>(
    py: Python<'py>,
    state: PyMoments<'py>,
    Z: Matrix<'py>,
    Y: Matrix<'py>,
    weights: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (mut moments, z, y) = (state.moments()?, Z.view()?, Y.view()?);
    let weights = weights_of(weights)?;
    let moments = run(py, 0, move |_| {
        match &weights {
            None => moments.accumulate(z, y)?,
            Some(weights) => moments.accumulate_by(z, y, weights)?,
        }
        Ok(moments)
    })?;
    as_moments(py, &moments)
}

/// Adds what was added up elsewhere.
#[pyfunction]
pub(crate) fn moments_merge<'py>(
    py: Python<'py>,
    state: PyMoments<'py>,
    other: PyMoments<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut moments = state.moments()?;
    moments.merge(&other.moments()?).map_err(exception)?;
    as_moments(py, &moments)
}

/// Means and scatters of all rows added.
#[pyfunction]
pub(crate) fn moments_finish<'py>(py: Python<'py>, state: PyMoments<'py>) -> PyResult<Bound<'py, PyDict>> {
    let found = state.moments()?.finish().map_err(exception)?;
    let out = PyDict::new(py);
    out.set_item("n", found.n)?;
    out.set_item("gram", matrix_array(py, &found.gram())?)?;
    out.set_item("sums", matrix_array(py, &found.sums())?)?;
    out.set_item("between", matrix_array(py, &found.between())?)?;
    out.set_item("mean", PyArray1::from_vec(py, found.mean))?;
    out.set_item("target_mean", PyArray1::from_vec(py, found.target_mean))?;
    out.set_item("total", matrix_array(py, &found.total)?)?;
    out.set_item("cross", matrix_array(py, &found.cross)?)?;
    out.set_item("target_total", matrix_array(py, &found.target_total)?)?;
    Ok(out)
}

/// Sums of margins as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PyMargins<'py> {
    hits: Matrix<'py>,
    misses: Matrix<'py>,
}

impl PyMargins<'_> {
    fn margins(&self) -> PyResult<Margins> {
        let margins = Margins { hits: self.hits.view()?.to_owned(), misses: self.misses.view()?.to_owned() };
        let m = margins.hits.ncols();
        let square = |sums: &Mat<f64>| sums.nrows() == m && sums.ncols() == m;
        if square(&margins.hits) && square(&margins.misses) {
            return Ok(margins);
        }
        Err(PyValueError::new_err("sums of hits and of misses must be square, and of one size"))
    }
}

fn as_margins<'py>(py: Python<'py>, margins: &Margins) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("hits", matrix_array(py, &margins.hits)?)?;
    out.set_item("misses", matrix_array(py, &margins.misses)?)?;
    Ok(out)
}

/// Margins of no pairs yet.
#[pyfunction]
pub(crate) fn margins_of_nothing(py: Python<'_>, n_features: usize) -> PyResult<Bound<'_, PyDict>> {
    as_margins(py, &Margins::new(n_features))
}

/// Adds pairs of rows: the i-th of A with the i-th of B.
#[pyfunction]
#[pyo3(signature = (state, side, A, B, weights=None))]
#[expect(non_snake_case, reason = "matrices")]
pub(crate) fn margins_accumulate<'py>(
    py: Python<'py>,
    state: PyMargins<'py>,
    side: &str,
    A: Matrix<'py>,
    B: Matrix<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyDict>> {
    let side = match side {
        "hit" => Side::Hit,
        "miss" => Side::Miss,
        _ => {
            let text = format!("side = `{side}` is not known; use one of hit, miss");
            return Err(PyValueError::new_err(text));
        }
    };
    let (mut margins, a, b) = (state.margins()?, A.view()?, B.view()?);
    let weights = weights.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let margins = run(py, 0, move |_| margins.accumulate(side, a, b, weights).map(|()| margins))?;
    as_margins(py, &margins)
}

/// Adds what was added up elsewhere.
#[pyfunction]
pub(crate) fn margins_merge<'py>(
    py: Python<'py>,
    state: PyMargins<'py>,
    other: PyMargins<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut margins = state.margins()?;
    margins.merge(&other.margins()?).map_err(exception)?;
    as_margins(py, &margins)
}
