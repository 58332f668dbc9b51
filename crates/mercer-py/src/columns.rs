//! Selected columns in Python: an immutable handle, and the reader of any model file.

use std::path::PathBuf;
use std::sync::Arc;

use mercer::map::{Facts, Model as Stored, SelectedColumns};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::convert::{frozen, whole};
use crate::gate::{exception, run};
use crate::model::{Model, Numbers};
use crate::onnx;

/// Columns that a selector has kept, and the scores of all. It cannot be changed.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Columns {
    selected: Arc<SelectedColumns>,
}

/// Read a model file of either kind.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    match run(py, 0, |_| Stored::load(path))? {
        Stored::Features(map) => Ok(Bound::new(py, Model::new(map))?.into_any()),
        Stored::Columns(selected) => Ok(Bound::new(py, Columns { selected: Arc::new(selected) })?.into_any()),
    }
}

#[pymethods]
impl Columns {
    /// The model in the bytes of a model file.
    #[new]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        match Stored::read_from(data, "the model").map_err(exception)? {
            Stored::Columns(selected) => Ok(Self { selected: Arc::new(selected) }),
            Stored::Features(_) => Err(PyValueError::new_err("the model holds no selected columns")),
        }
    }

    /// What a selector has found: scores and places of all columns, and which are kept, ascending.
    #[staticmethod]
    #[pyo3(signature = (method, scores, ranking, columns, *, weights=None, pvalues=None, input_names=None, settings=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
    fn of(
        method: String,
        scores: PyReadonlyArray1<'_, f64>,
        ranking: Vec<usize>,
        columns: Vec<usize>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        pvalues: Option<PyReadonlyArray1<'_, f64>>,
        input_names: Option<Vec<String>>,
        settings: Option<Vec<(String, String)>>,
    ) -> PyResult<Self> {
        let list = |values: Option<PyReadonlyArray1<'_, f64>>| {
            values.map(|values| values.as_slice().map(<[f64]>::to_vec)).transpose()
        };
        let scores = scores.as_slice()?.to_vec();
        let settings = settings.unwrap_or_default().into_iter().collect();
        Ok(Self {
            selected: Arc::new(SelectedColumns {
                method,
                n_inputs: scores.len(),
                input_names,
                columns,
                weights: list(weights)?,
                scores,
                ranking,
                pvalues: list(pvalues)?,
                stability: None,
                facts: Facts { settings, ..Facts::default() },
            }),
        })
    }

    /// Write a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, 0, |_| self.selected.save(path))
    }

    /// The columns as an ONNX file: its bytes, or None if they are written to a path, whole or not at all.
    #[pyo3(signature = (path=None, *, dtype="float64", opset=17))]
    fn to_onnx<'py>(
        &self,
        py: Python<'py>,
        path: Option<PathBuf>,
        dtype: &str,
        opset: u32,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let export = onnx::export(dtype, false, false, opset, None).map_err(exception)?;
        onnx::exported(py, path, || export.columns(&self.selected))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        let mut bytes = Vec::new();
        self.selected.write_to(&mut bytes, "the model").map_err(exception)?;
        Ok((py.get_type::<Self>(), (PyBytes::new(py, &bytes),)))
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    #[getter]
    fn method(&self) -> &str {
        &self.selected.method
    }

    #[getter]
    fn n_inputs(&self) -> usize {
        self.selected.n_inputs
    }

    #[getter]
    fn input_names(&self) -> Option<Vec<String>> {
        self.selected.input_names.clone()
    }

    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<isize>> {
        frozen(whole(py, self.selected.columns.clone()))
    }

    #[getter]
    fn ranking<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<isize>> {
        frozen(whole(py, self.selected.ranking.clone()))
    }

    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, &self.selected.scores)
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Option<Numbers<'py>> {
        self.selected.weights.as_ref().map(|values| numbers(py, values))
    }

    #[getter]
    fn pvalues<'py>(&self, py: Python<'py>) -> Option<Numbers<'py>> {
        self.selected.pvalues.as_ref().map(|values| numbers(py, values))
    }

    #[getter]
    fn stability<'py>(&self, py: Python<'py>) -> Option<Numbers<'py>> {
        self.selected.stability.as_ref().map(|values| numbers(py, values))
    }

    /// What else a model file tells about the fit, as JSON.
    #[getter]
    fn facts(&self) -> String {
        self.selected.facts.to_json()
    }
}

fn numbers<'py>(py: Python<'py>, values: &[f64]) -> Numbers<'py> {
    frozen(PyArray1::from_slice(py, values))
}
