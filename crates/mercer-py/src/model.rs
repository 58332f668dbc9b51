//! The fitted model in Python: an immutable handle that threads share. What users look at is made into arrays on demand,
//! and a pickle of it holds the bytes of a model file.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use faer::MatMut;
use mercer::basis::{Expansion, Landmarks, Method, Precision, Stop};
use mercer::data::Scaling;
use mercer::evaluate::diagnostics;
use mercer::kernel::own::with_functions;
use mercer::map::{Predictor, PreparedMap, Weighting};
use mercer::options::check_available;
use mercer::{Error, FeatureMap, FittedBasis, Monitor, Result, Rows, Shape};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::convert::{GpuMatrix, Matrix, PyRows, frozen, matrix_array, python_rows, whole};
use crate::device::device_named;
use crate::gate::{exception, run};
use crate::onnx;
use crate::own::{self, Functions};

/// A fitted map from rows to features. It cannot be changed.
#[pyclass(frozen, module = "mercer._core")]
pub(crate) struct Model {
    /// What applying it needs is computed with the first rows and kept.
    prepared: Arc<PreparedMap>,
    /// Of a basis alone.
    fit: Option<BasisFit>,
    /// The functions in its kernel, which live as long as it.
    functions: Functions,
}

/// How the fit of a basis went: what a [`FittedBasis`] has beyond its map, and another batch goes on from.
#[derive(Clone, Copy)]
struct BasisFit {
    residual: f64,
    trace: f64,
    precision: Precision,
    rounding_error: Option<f64>,
    n_kernel_evaluations: u64,
    n_rows: usize,
    stop: Stop,
}

/// A [`BasisFit`] as a pickle holds it.
type PickledFit = (f64, f64, String, Option<f64>, u64, usize, String);

/// What a pickle holds: the class, and what [`Model::from_bytes`] takes.
type Reduced<'py> = (Bound<'py, PyType>, (Bound<'py, PyBytes>, Option<PickledFit>, Option<Functions>));

/// Arrays that describe a model; to write into them would change nothing, so they are read-only.
pub(crate) type Numbers<'py> = Bound<'py, PyArray1<f64>>;

impl BasisFit {
    fn of(basis: &FittedBasis) -> Self {
        Self {
            residual: basis.residual,
            trace: basis.trace,
            precision: basis.precision,
            rounding_error: basis.rounding_error,
            n_kernel_evaluations: basis.n_kernel_evaluations,
            n_rows: basis.n_rows,
            stop: basis.stop,
        }
    }

    fn pickled(&self) -> PickledFit {
        let Self { residual, trace, precision, rounding_error, n_kernel_evaluations, n_rows, stop } = *self;
        let precision = precision.name().to_string();
        (residual, trace, precision, rounding_error, n_kernel_evaluations, n_rows, stop.name().into())
    }

    fn unpickled(
        (residual, trace, precision, rounding_error, n_kernel_evaluations, n_rows, stop): PickledFit,
    ) -> PyResult<Self> {
        let precision = Precision::named(&precision).map_err(exception)?;
        let stop = Stop::named(&stop)
            .ok_or_else(|| PyValueError::new_err(format!("`{stop}` is nothing that ends a fit")))?;
        Ok(Self { residual, trace, precision, rounding_error, n_kernel_evaluations, n_rows, stop })
    }
}

impl Model {
    pub(crate) fn new(map: FeatureMap) -> Self {
        let functions = own::functions_of(map.expansion.kernel.shape);
        Self { prepared: Arc::new(PreparedMap::new(map)), fit: None, functions }
    }

    /// A basis: the model whose features are its coordinates.
    pub(crate) fn of_basis(
        basis: FittedBasis,
        scaling: Option<Scaling>,
        input_names: Option<Vec<String>>,
    ) -> Self {
        let fit = BasisFit::of(&basis);
        Self { fit: Some(fit), ..Self::new(FeatureMap { scaling, input_names, ..basis.into() }) }
    }

    /// Rows as the kernel sees them: input weights are in the map's scaling.
    fn scaled<'r>(&self, rows: &'r Rows<'r>) -> Result<Cow<'r, Rows<'r>>> {
        match &self.map().scaling {
            Some(scaling) => Ok(Cow::Owned(scaling.apply(rows)?)),
            None => Ok(Cow::Borrowed(rows)),
        }
    }

    /// The basis again, to let it grow.
    pub(crate) fn basis(&self) -> Result<FittedBasis> {
        let Some(fit) = self.fit else {
            return Err(Error::Argument(format!("`{}` is not a fitted basis", self.map().method)));
        };
        let map = self.map();
        Ok(FittedBasis {
            method: Method::named(&map.method)?,
            expansion: map.expansion.clone(),
            pivots: map.pivots.clone(),
            landmarks_given: map.facts.landmarks_given == Some(true),
            pivot_norms: map.pivot_norms.clone(),
            eigenvalues: (!map.eigenvalues.is_empty()).then(|| map.eigenvalues.clone()),
            residual: fit.residual,
            trace: fit.trace,
            precision: fit.precision,
            rounding_error: fit.rounding_error,
            n_kernel_evaluations: fit.n_kernel_evaluations,
            n_rows: fit.n_rows,
            stop: fit.stop,
            warnings: Vec::new(),
        })
    }

    /// This model with some of its map changed.
    fn with(&self, change: impl FnOnce(&mut FeatureMap)) -> Self {
        let mut map = self.map().clone();
        change(&mut map);
        Self { fit: self.fit, ..Self::new(map) }
    }

    fn map(&self) -> &FeatureMap {
        self.prepared.map()
    }

    fn fit(&self) -> PyResult<BasisFit> {
        self.fit.ok_or_else(|| {
            PyAttributeError::new_err(format!("the model of `{}` is not that of a basis", self.map().method))
        })
    }

    fn expansion(&self) -> &Expansion {
        &self.map().expansion
    }
}

#[pymethods]
impl Model {
    /// The model in the bytes of a model file; `fit` is what a pickled basis has beside them, and `functions` are those of its
    /// kernel.
    #[new]
    #[pyo3(signature = (data, fit=None, functions=None))]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        fit: Option<PickledFit>,
        functions: Option<Functions>,
    ) -> PyResult<Self> {
        let mut known = Vec::new();
        for (name, function) in functions.iter().flatten() {
            known.push((name.clone(), own::kernel_of(function.bind(py))?));
        }
        let read = || FeatureMap::read_from(data, "the model");
        let map = with_functions(known, read).map_err(exception)?;
        Ok(Self { fit: fit.map(BasisFit::unpickled).transpose()?, ..Self::new(map) })
    }

    /// Read a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::new(run(py, 0, |_| FeatureMap::load(path))?))
    }

    /// Write a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, 0, |_| self.map().save(path))
    }

    /// The model as an ONNX file: its bytes, or None if they are written to a path, whole or not at all.
    #[pyo3(signature = (path=None, *, dtype="float64", features=false, encoded=false, opset=17, classes=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
    fn to_onnx<'py>(
        &self,
        py: Python<'py>,
        path: Option<PathBuf>,
        dtype: &str,
        features: bool,
        encoded: bool,
        opset: u32,
        classes: Option<Vec<(String, Option<i64>)>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let export = onnx::export(dtype, features, encoded, opset, classes).map_err(exception)?;
        onnx::exported(py, path, || export.map(self.map()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let mut bytes = Vec::new();
        self.map().write_with_functions(&mut bytes, "the model").map_err(exception)?;
        let functions: Functions =
            self.functions.iter().map(|(name, function)| (name.clone(), function.clone_ref(py))).collect();
        let functions = (!functions.is_empty()).then_some(functions);
        let fit = self.fit.as_ref().map(BasisFit::pickled);
        Ok((py.get_type::<Self>(), (PyBytes::new(py, &bytes), fit, functions)))
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    /// Features of rows, in their precision, written where Python will read them.
    #[pyo3(signature = (X, *, device="cpu", verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        X: PyRows<'py>,
        device: &str,
        verbose: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (map, rows, device) = (&*self.prepared, X.rows()?, device_named(device)?);
        let shape = (rows.n(), self.n_features());
        match rows.precision() {
            Precision::Double => written(py, verbose, shape, |out: MatMut<'_, f64>, monitor| {
                map.transform_into(&map.map().rows_on(rows, device)?, out, monitor)
            }),
            Precision::Single => written(py, verbose, shape, |out: MatMut<'_, f32>, monitor| {
                map.transform_f32_into(&map.map().rows_on(rows, device)?, out, monitor).map(drop)
            }),
        }
    }

    /// Features of rows that lie on a GPU, written into a matrix on the same GPU.
    #[pyo3(signature = (X, out, *, verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn transform_to<'py>(
        &self,
        py: Python<'py>,
        X: PyRows<'py>,
        out: GpuMatrix,
        verbose: u32,
    ) -> PyResult<()> {
        let rows = X.rows()?;
        let shape = (rows.n(), self.n_features());
        if out.shape() != shape || X.gpu() != Some(out.gpu()) {
            let text = format!("the features are a matrix of {} × {} on the rows' GPU", shape.0, shape.1);
            return Err(PyValueError::new_err(text));
        }
        run(py, verbose, |monitor| out.write(self.map(), &rows, monitor))
    }

    /// Scores, one a class, or numbers, as the model's predictor has them; with `probabilities` those of the classes.
    #[pyo3(signature = (X, *, probabilities=false, device="cpu", verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        X: PyRows<'py>,
        probabilities: bool,
        device: &str,
        verbose: u32,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, device) = (X.rows()?, device_named(device)?);
        let scores = run(py, verbose, |_| {
            let rows = rows.on(device)?;
            let predictor = self.map().predictor.as_ref().ok_or_else(|| {
                Error::Argument(
                    "the model makes features and predicts nothing\n\
                     hint: AutoClassifier, AutoRegressor and `mercer fit --method auto` make models that predict"
                        .into(),
                )
            })?;
            if probabilities { predictor.probabilities(&rows) } else { predictor.scores(&rows) }
        })?;
        let (n, c) = (scores.nrows(), scores.ncols());
        let values: Vec<f64> =
            (0..n).flat_map(|i| (0..c).map(move |j| (i, j))).map(|at| scores[at]).collect();
        PyArray1::from_vec(py, values).reshape([n, c])
    }

    /// The classes that the model predicts; None: numbers, or nothing.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        self.map().predictor.as_ref().and_then(|predictor| predictor.classes.clone())
    }

    /// Whether the model predicts.
    #[getter]
    fn predicts(&self) -> bool {
        self.map().predictor.is_some()
    }

    /// Rows whose features come closest to these.
    #[pyo3(signature = (features, *, verbose=0))]
    fn inverse_transform<'py>(
        &self,
        py: Python<'py>,
        features: Matrix<'py>,
        verbose: u32,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let features = features.view()?;
        let rows = run(py, verbose, |monitor| self.map().inverse_transform(features, monitor))?;
        PyArray1::from_vec(py, rows).reshape([features.nrows(), self.n_inputs()])
    }

    /// How much each feature depends on each input: q×p.
    #[pyo3(signature = (X, *, verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn input_importance<'py>(
        &self,
        py: Python<'py>,
        X: PyRows<'py>,
        verbose: u32,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = X.rows()?;
        let importance = run(py, verbose, |monitor| self.map().input_importance(&rows, monitor))?;
        matrix_array(py, &importance)
    }

    /// How much each score of a model that predicts depends on each input: c×p; None: it does not predict.
    #[pyo3(signature = (X, *, verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn prediction_importance<'py>(
        &self,
        py: Python<'py>,
        X: PyRows<'py>,
        verbose: u32,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(predictor) = &self.map().predictor else { return Ok(None) };
        let rows = X.rows()?;
        let importance = run(py, verbose, |monitor| predictor.input_importance(Some(&rows), monitor))?;
        matrix_array(py, &importance).map(Some)
    }

    /// E(M) of a basis: the mean distance of the rows' images from its span.
    #[pyo3(signature = (X, *, verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn reconstruction_cost<'py>(&self, py: Python<'py>, X: PyRows<'py>, verbose: u32) -> PyResult<f64> {
        let rows = X.rows()?;
        run(py, verbose, |monitor| self.expansion().reconstruction_cost(&*self.scaled(&rows)?, monitor))
    }

    /// Share of mean k(x,x) of the rows that is left after 0, 1, …, m coordinates of a basis.
    #[pyo3(signature = (X, *, verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn residuals<'py>(&self, py: Python<'py>, X: PyRows<'py>, verbose: u32) -> PyResult<Numbers<'py>> {
        let (rows, left) = (X.rows()?, self.fit()?.residual);
        let shares = run(py, verbose, |monitor| {
            diagnostics::residuals(self.expansion(), left, &*self.scaled(&rows)?, monitor)
        })?;
        Ok(PyArray1::from_vec(py, shares))
    }

    /// ‖A K Aᵀ − I‖ over the landmarks of a basis. X, the training matrix, is needed for a precomputed kernel alone.
    #[pyo3(signature = (X=None, *, verbose=0))]
    #[expect(non_snake_case, reason = "scikit-learn's name")]
    fn orthogonality_loss<'py>(
        &self,
        py: Python<'py>,
        X: Option<PyRows<'py>>,
        verbose: u32,
    ) -> PyResult<f64> {
        let rows = X.as_ref().map(PyRows::rows).transpose()?;
        run(py, verbose, |_| self.expansion().orthogonality_loss(rows.as_ref()))
    }

    /// The model that takes rows which are not scaled yet: x' = (x − center)·factor.
    fn with_scaling(
        &self,
        center: PyReadonlyArray1<'_, f64>,
        factor: PyReadonlyArray1<'_, f64>,
        input_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let (center, factor) = (center.as_slice()?.to_vec(), factor.as_slice()?.to_vec());
        let p = self.n_inputs();
        if center.len() != p || factor.len() != p {
            let text = format!(
                "{} centers and {} factors, but the model has {p} inputs",
                center.len(),
                factor.len()
            );
            return Err(PyValueError::new_err(text));
        }
        check_names(input_names.as_deref(), p)?;
        let map =
            self.map().clone().after(Some(&Scaling { unit: false, center, factor })).map_err(exception)?;
        Ok(Self { fit: self.fit, ..Self::new(FeatureMap { input_names, ..map }) })
    }

    /// The model that takes rows which are not of unit length yet.
    fn with_unit_length(&self, input_names: Option<Vec<String>>) -> PyResult<Self> {
        let p = self.n_inputs();
        check_names(input_names.as_deref(), p)?;
        let map = self.map().clone().after(Some(&Scaling::unit(p))).map_err(exception)?;
        Ok(Self { fit: self.fit, ..Self::new(FeatureMap { input_names, ..map }) })
    }

    /// The model with other names of its input columns.
    fn with_input_names(&self, names: Option<Vec<String>>) -> PyResult<Self> {
        check_names(names.as_deref(), self.n_inputs())?;
        Ok(self.with(|map| map.input_names = names))
    }

    /// The model whose features are the columns of a basis that a selector, which is not mercer's, has kept.
    fn compose(
        &self,
        columns: Vec<usize>,
        scores: Vec<f64>,
        method: &str,
        selector: String,
    ) -> PyResult<Self> {
        let map = FeatureMap::from_columns(method, self.map().clone(), &columns, None, scores);
        let mut map = map.map_err(exception)?;
        map.facts.selector = Some(selector);
        map.facts.weighted = Some(Weighting::None);
        Ok(Self::new(map))
    }

    #[getter]
    fn method(&self) -> &str {
        &self.map().method
    }

    #[getter]
    fn kernel(&self) -> &'static str {
        self.expansion().kernel.shape.name()
    }

    /// The kernel with all its numbers, as text.
    #[getter]
    fn kernel_text(&self) -> String {
        self.expansion().kernel.to_string()
    }

    #[getter]
    fn gamma(&self) -> f64 {
        self.expansion().kernel.gamma
    }

    #[getter]
    fn degree(&self) -> Option<u32> {
        match self.expansion().kernel.shape {
            Shape::Poly { degree, .. } => Some(degree),
            _ => None,
        }
    }

    #[getter]
    fn coef0(&self) -> Option<f64> {
        match self.expansion().kernel.shape {
            Shape::Poly { coef0, .. } | Shape::Sigmoid { coef0 } => Some(coef0),
            _ => None,
        }
    }

    #[getter]
    fn alpha(&self) -> Option<f64> {
        match self.expansion().kernel.shape {
            Shape::Rq { alpha } => Some(alpha),
            _ => None,
        }
    }

    #[getter]
    fn n_inputs(&self) -> usize {
        self.expansion().landmarks.p()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.map().n_features()
    }

    /// How many training rows a prediction needs or, of a model that predicts nothing, features of a row.
    #[getter]
    fn n_support(&self) -> usize {
        self.map().predictor.as_ref().map_or_else(|| self.map().n_support(), Predictor::n_support)
    }

    /// Training rows that carry the features, the most important first, and their shares.
    fn important_points<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<isize>>, Numbers<'py>)> {
        let found = run(py, 0, |_| self.map().important_points())?;
        Ok((frozen(whole(py, found.rows)), numbers(py, &found.shares)))
    }

    #[getter]
    fn n_landmarks(&self) -> usize {
        self.expansion().landmarks.len()
    }

    /// A matrix, or the parts of CSR; None: the landmarks are columns of a precomputed kernel.
    #[getter]
    fn landmarks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.expansion().landmarks {
            Landmarks::Rows(rows) => python_rows(py, rows).map(Some),
            Landmarks::Columns { .. } => Ok(None),
        }
    }

    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix_array(py, &self.expansion().matrix).map(frozen)
    }

    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, &self.expansion().offset)
    }

    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> Option<Numbers<'py>> {
        self.expansion().origin.as_ref().map(|origin| numbers(py, origin))
    }

    /// Training rows that are the landmarks; empty where all of them are.
    #[getter]
    fn pivots<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<isize>> {
        let pivots = match &self.expansion().landmarks {
            // Exact `kpca` has every training row as a landmark and no pivots.
            Landmarks::Columns { indices, n } if indices.len() != *n || !self.map().pivots.is_empty() => {
                indices
            }
            _ => &self.map().pivots,
        };
        frozen(whole(py, pivots.clone()))
    }

    #[getter]
    fn pivot_norms<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, &self.map().pivot_norms)
    }

    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, &self.map().eigenvalues)
    }

    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Numbers<'py> {
        numbers(py, &self.map().scores)
    }

    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.map().feature_names.clone()
    }

    #[getter]
    fn input_names(&self) -> Option<Vec<String>> {
        self.map().input_names.clone()
    }

    /// center and factor of x' = (x − center)·factor.
    #[getter]
    fn scaling<'py>(&self, py: Python<'py>) -> Option<(Numbers<'py>, Numbers<'py>)> {
        self.map().scaling.as_ref().map(|s| (numbers(py, &s.center), numbers(py, &s.factor)))
    }

    /// Whether rows are divided by their length before that.
    #[getter]
    fn unit_length(&self) -> bool {
        self.map().scaling.as_ref().is_some_and(|scaling| scaling.unit)
    }

    /// How a table's columns become the inputs, as JSON; None if they are numbers as they are.
    #[getter]
    fn encoder(&self) -> Option<String> {
        self.map().encoder.as_ref().map(mercer::data::Encoder::to_json)
    }

    /// The same model for tables that this encoder (JSON) makes the inputs of.
    fn with_encoder(&self, encoder: &str) -> PyResult<Self> {
        let encoder = mercer::data::Encoder::from_json(encoder).map_err(exception)?;
        let (made, needed) = (encoder.names(), self.expansion().landmarks.p());
        if made.len() != needed {
            return Err(PyValueError::new_err(format!(
                "the encoder makes {} columns, but the model has {needed} inputs",
                made.len()
            )));
        }
        Ok(self.with(|map| {
            map.input_names = Some(made);
            map.encoder = Some(encoder);
        }))
    }

    /// What else a model file tells about the fit, as JSON.
    #[getter]
    fn facts(&self) -> String {
        self.map().facts.to_json()
    }

    #[getter]
    fn residual(&self) -> PyResult<f64> {
        Ok(self.fit()?.residual)
    }

    #[getter]
    fn trace(&self) -> PyResult<f64> {
        Ok(self.fit()?.trace)
    }

    #[getter]
    fn precision(&self) -> PyResult<&'static str> {
        Ok(self.fit()?.precision.name())
    }

    #[getter]
    fn rounding_error(&self) -> PyResult<Option<f64>> {
        Ok(self.fit()?.rounding_error)
    }

    #[getter]
    fn n_kernel_evaluations(&self) -> PyResult<u64> {
        Ok(self.fit()?.n_kernel_evaluations)
    }

    #[getter]
    fn n_rows(&self) -> PyResult<usize> {
        Ok(self.fit()?.n_rows)
    }

    fn __repr__(&self) -> String {
        let (method, kernel) = (self.method(), self.kernel());
        let (p, q, l) = (self.n_inputs(), self.n_features(), self.n_landmarks());
        format!("<Model of {method}, {kernel}: {p} inputs, {q} features, {l} landmarks>")
    }
}

/// An error unless there is a name for each of p columns, or none at all.
fn check_names(names: Option<&[String]>, p: usize) -> PyResult<()> {
    match names {
        Some(names) if names.len() != p => {
            let text = format!("{} names, but the model has {p} inputs", names.len());
            Err(PyValueError::new_err(text))
        }
        _ => Ok(()),
    }
}

fn numbers<'py>(py: Python<'py>, values: &[f64]) -> Numbers<'py> {
    frozen(PyArray1::from_slice(py, values))
}

/// A matrix that work has written.
fn written<T: Element + Send + Sync>(
    py: Python<'_>,
    verbose: u32,
    (n, q): (usize, usize),
    work: impl FnOnce(MatMut<'_, T>, &Monitor) -> Result<()> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    let needed = (n as u64).saturating_mul((size_of::<T>() * q) as u64);
    check_available(needed, || format!("{q} features of {n} rows")).map_err(exception)?;
    let features = PyArray2::zeros(py, [n, q], false);
    let mut memory = features.readwrite();
    let out = MatMut::from_row_major_slice_mut(memory.as_slice_mut()?, n, q);
    run(py, verbose, |monitor| work(out, monitor))?;
    drop(memory);
    Ok(features.into_any())
}
