//! Fits for Python: [`Pipeline::fit`], with a basis that comes apart from the method.
//!
//! Settings are texts, by the names of the catalogue. Those of the basis come apart from the method's own, because a
//! `KernelBasis` has its own seed and its own number of components.

use mercer::basis::{Method, Precision, UNCAPPED_ROWS};
use mercer::data::TargetSummary;
use mercer::extract::Directions;
use mercer::methods::{self, Stage};
use mercer::partitions::Parted;
use mercer::pipeline::{Found, Head};
use mercer::{Basis, Error, FeatureMap, FittedPipeline, Labels, Options, Pipeline, Result, Rows};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{PyRows, Target, frozen, matrix_array, python_rows, weights_of};
use crate::device::device_named;
use crate::evidence::PyMoments;
use crate::gate::{exception, memory, run};
use crate::model::Model;
use crate::select::{class_names, selection};

/// Settings as texts.
pub(crate) type Settings = Vec<(String, String)>;

/// The basis to fit: its name, or None for the one that the method comes with; its settings; and rows to choose landmarks
/// among, where they are not the training rows.
pub(crate) type PyBasis<'py> = (Option<String>, Settings, Option<PyRows<'py>>);

/// [`PyBasis`] with rows of Rust.
pub(crate) type BasisChoice<'a> = (Option<&'a str>, &'a [(String, String)], Option<Rows<'static>>);

/// What a fit found.
#[pyclass(frozen, get_all, module = "mercer._core")]
pub(crate) struct Fitted {
    /// The model.
    model: Py<Model>,
    /// The basis below it, as a model of its own; the model itself where there is no method.
    basis: Py<Model>,
    /// The rows that landmarks were chosen among, where the method made them.
    landmarks: Option<Py<PyAny>>,
    /// Coordinates of the training rows in the basis, if they were asked for, in the basis' precision.
    coordinates: Option<Py<PyAny>>,
    /// What an extractor found.
    directions: Option<Py<PyDict>>,
    /// What a selector found.
    selection: Option<Py<PyDict>>,
    /// What the user should know of the labels and the basis.
    basis_warnings: Vec<String>,
    /// And of what was made of its coordinates.
    warnings: Vec<String>,
}

/// Fit a basis, and what a method makes of its coordinates. Without a method they are the features, and so they are with
/// `basis_only`, for the basis that the method comes with.
#[pyfunction]
#[pyo3(signature = (
    X, y, method, settings, *, basis, basis_only=false, input_names=None, task="auto", want_coordinates=false,
    weights=None, device="cpu", verbose=0
))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Option<Target<'py>>,
    method: Option<&str>,
    settings: Settings,
    basis: PyBasis<'py>,
    basis_only: bool,
    input_names: Option<Vec<String>>,
    task: &str,
    want_coordinates: bool,
    weights: Option<Vec<f64>>,
    device: &str,
    verbose: u32,
) -> PyResult<Fitted> {
    let mut label_warnings = Vec::new();
    let labels = y.map(|y| y.labels(task, &mut label_warnings)).transpose()?;
    let labels = labels.as_ref();
    let rows = X.rows()?;
    let (name, of_basis, landmarks) = basis;
    let landmarks = landmarks.map(|l| l.to_owned()).transpose()?;
    let weights = weights_of(weights)?;
    let options = Options { coordinates: want_coordinates, weights, ..options(py, device)? };
    let (fitted, made_landmarks, chosen) = run(py, verbose, |monitor| {
        let mut warnings = Vec::new();
        let choice = (name.as_deref(), &of_basis[..], landmarks);
        let head = method.map(|method| head(method, &settings)).transpose()?;
        let pipeline = pipeline(head, basis_only, choice, rows.n(), labels, &mut warnings)?;
        let made_landmarks = match &pipeline.head {
            Head::Extract(extractor) if !extractor.spec().has("basis") => {
                pipeline.basis_by(&rows, labels, options.weights.as_ref(), &mut Vec::new())?.landmarks
            }
            _ => None,
        };
        let options = Options { monitor: monitor.clone(), ..options };
        Ok((pipeline.fit(&rows, labels, &options)?, made_landmarks, warnings))
    })?;
    label_warnings.extend(chosen);
    assemble(py, fitted, made_landmarks, class_names(labels), input_names, label_warnings)
}

/// What a fit found as Python has it.
pub(crate) fn assemble(
    py: Python<'_>,
    fitted: FittedPipeline,
    made_landmarks: Option<Rows<'static>>,
    classes: Option<&[String]>,
    input_names: Option<Vec<String>>,
    first_warnings: Vec<String>,
) -> PyResult<Fitted> {
    let FittedPipeline { map, mut basis, coordinates, found, mut warnings, .. } = fitted;
    // What is to be known of the basis comes first.
    let own_warnings = warnings.split_off(basis.warnings.len());
    let basis_warnings = [first_warnings, std::mem::take(&mut basis.warnings)].concat();
    let basis = Py::new(py, Model::of_basis(basis, map.scaling.clone(), input_names.clone()))?;
    let model = || Py::new(py, Model::new(FeatureMap { input_names, ..map }));
    let (model, directions, selection) = match found {
        Found::Coordinates => (basis.clone_ref(py), None, None),
        Found::Selected(scores, kept) => {
            (model()?, None, Some(selection(py, scores, kept, classes)?.unbind()))
        }
        Found::Directions(found) => (model()?, Some(as_dictionary(py, found)?.unbind()), None),
    };
    Ok(Fitted {
        model,
        basis,
        landmarks: made_landmarks.map(|rows| python_rows(py, &rows).map(Bound::unbind)).transpose()?,
        coordinates: coordinates.map(|z| coordinate_array(py, &z)).transpose()?,
        directions,
        selection,
        basis_warnings,
        warnings: own_warnings,
    })
}

/// A method, if there is one, for rows in partitions.
pub(crate) fn parted_pipeline(
    method: Option<&str>,
    settings: &[(String, String)],
    basis_only: bool,
    basis: BasisChoice,
    rows: &Parted,
) -> Result<Pipeline> {
    let head = method.map(|method| head(method, settings)).transpose()?;
    let labels = rows.target().map(TargetSummary::sample);
    // The basis that a method comes with is the one for many rows: those of few look at all of them at once.
    let n = rows.n().max(UNCAPPED_ROWS + 1);
    pipeline(head, basis_only, basis, n, labels.as_ref(), &mut Vec::new())
}

/// What an extractor makes of sums over the coordinates of batches in a fitted basis. The target is the names and sizes of
/// classes, or the mean and range of numbers, or None.
#[pyfunction]
#[pyo3(signature = (sums, classes, numbers, method, settings, basis, *, verbose=0))]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_sums<'py>(
    py: Python<'py>,
    sums: PyMoments<'py>,
    classes: Option<(Vec<String>, Vec<usize>)>,
    numbers: Option<(f64, (f64, f64))>,
    method: &str,
    settings: Settings,
    basis: PyRef<'py, Model>,
    verbose: u32,
) -> PyResult<(Model, Bound<'py, PyDict>, Vec<String>)> {
    let (moments, basis) = (sums.moments()?, basis.basis().map_err(exception)?);
    let n = moments.parts().1 as usize;
    let target = match (classes, numbers) {
        (Some((names, sizes)), _) => Some(TargetSummary::Classes { names, sizes }),
        (None, Some((mean, range))) => Some(TargetSummary::Numbers { n, mean, range }),
        (None, None) => None,
    };
    let (map, mut directions) = run(py, verbose, |monitor| {
        let extractor = methods::extractor(method, &settings)?;
        let directions = extractor.from_sums(&moments, target, &basis, monitor)?;
        let map =
            FeatureMap::from_directions(extractor.name(), FeatureMap::from(basis.clone()), &directions)?;
        Ok((map, directions))
    })?;
    let warnings = std::mem::take(&mut directions.warnings);
    Ok((Model::new(map), as_dictionary(py, directions)?, warnings))
}

/// The basis `sparse` after one more batch; `so_far` is that of the batches before.
#[pyfunction]
#[pyo3(signature = (X, settings, so_far=None, *, input_names=None, device="cpu", verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn grow<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    settings: Settings,
    so_far: Option<PyRef<'py, Model>>,
    input_names: Option<Vec<String>>,
    device: &str,
    verbose: u32,
) -> PyResult<(Model, Vec<String>)> {
    let (basis, options) = (basis_of("sparse", &settings).map_err(exception)?, options(py, device)?);
    let so_far = so_far.map(|model| model.basis()).transpose().map_err(exception)?;
    let rows = X.rows()?;
    let mut grown = run(py, verbose, |monitor| {
        let options = Options { monitor: monitor.clone(), ..options };
        basis.grow(so_far.as_ref(), &rows, &options)
    })?;
    let warnings = std::mem::take(&mut grown.warnings);
    Ok((Model::of_basis(grown, None, input_names), warnings))
}

fn options(py: Python<'_>, device: &str) -> PyResult<Options> {
    Ok(Options::default().memory(memory(py, None)?).device(device_named(device)?))
}

/// A method by name, on the basis that it comes with.
fn head(method: &str, settings: &[(String, String)]) -> Result<Pipeline> {
    Ok(match methods::method(method)?.stage {
        Stage::System => Pipeline::new(method, settings)?,
        // `kpca` is the name of a basis, too.
        _ => Pipeline::extract(methods::extractor(method, settings)?),
    })
}

/// A method, if there is one, on its basis for n rows; with `basis_only` the basis alone. What the user should know of a
/// basis that the method comes with is added to the warnings.
fn pipeline(
    method: Option<Pipeline>,
    basis_only: bool,
    (name, settings, landmarks): BasisChoice,
    n: usize,
    labels: Option<&Labels>,
    warnings: &mut Vec<String>,
) -> Result<Pipeline> {
    if let Some(method) = method.as_ref().filter(|_| !basis_only) {
        method.check(labels)?;
    }
    let head = method.as_ref().map(|method| &method.head);
    let basis = match (name, head) {
        // The one for a given size.
        (Some("default"), _) => basis_of(Method::of_rows(n).name(), settings)?,
        (Some(name), _) => basis_of(name, settings)?,
        (None, Some(head)) => {
            let own = head.default_basis(n, warnings).map_or("kobl", Method::name);
            head.default_settings(basis_of(own, settings)?)
        }
        _ => return Err(Error::Argument("neither a method nor a basis is given".into())),
    };
    let basis = Basis { landmarks, ..basis };
    Ok(match method {
        Some(method) if !basis_only => method.on(basis),
        _ => Pipeline::of_basis(basis),
    })
}

/// A basis from its name and settings. `center` and `precision` are not read by the catalogue, which knows them for some
/// bases alone; the basis itself says better why it has no use for them.
fn basis_of(name: &str, settings: &[(String, String)]) -> Result<Basis> {
    let value = |name: &str| settings.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let catalogued = |(name, _): &&(String, String)| name != "center" && name != "precision";
    let others: Settings = settings.iter().filter(catalogued).cloned().collect();
    let mut basis = methods::basis(name, &others)?;
    basis.center = value("center") == Some("true");
    basis.precision = value("precision").map(Precision::named).transpose()?;
    Ok(basis)
}

/// Coordinates as Python has them.
fn coordinate_array(py: Python<'_>, rows: &Rows) -> PyResult<Py<PyAny>> {
    let shape = [rows.n(), rows.p()];
    Ok(match rows {
        Rows::DenseF32(z) => PyArray1::from_slice(py, z.values()).reshape(shape)?.into_any().unbind(),
        z => PyArray1::from_vec(py, z.to_dense()).reshape(shape)?.into_any().unbind(),
    })
}

/// What an extractor found, as a dictionary; an offset is there always.
fn as_dictionary(py: Python<'_>, found: Directions) -> PyResult<Bound<'_, PyDict>> {
    let numbers = |values: Vec<f64>| frozen(PyArray1::from_vec(py, values));
    let q = found.matrix.nrows();
    let out = PyDict::new(py);
    out.set_item("components", frozen(matrix_array(py, &found.matrix)?))?;
    out.set_item("offset", numbers(if found.offset.is_empty() { vec![0.0; q] } else { found.offset }))?;
    out.set_item("eigenvalues", numbers(found.eigenvalues))?;
    out.set_item("explained", numbers(found.explained))?;
    out.set_item("alignment_path", numbers(found.alignment_path))?;
    Ok(out)
}
