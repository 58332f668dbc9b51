//! Fits for Python: a basis and what is made of its coordinates, in one call.
//!
//! Settings are texts, by the names of the catalogue. Those of the basis come apart from the method's own, because a
//! `KernelBasis` has its own seed and its own number of components.

use mercer::basis::{Features, Precision};
use mercer::extract::{Coordinates, Directions, Limits};
use mercer::select::{Kept, Scores};
use mercer::{Basis, Extractor, FeatureMap, FittedBasis, Labels, Monitor, Result, System, methods};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{EitherRows, OfEither, PyRows, Target, frozen, matrix_array, python_rows};
use crate::gate::{exception, memory, run};
use crate::model::Model;
use crate::select::selection;

/// Settings as texts.
type Settings = Vec<(String, String)>;

/// The basis to fit: its name, or None for the one that the method comes with; its settings; and rows to choose landmarks
/// among, where they are not the training rows.
type PyBasis<'py> = (Option<String>, Settings, Option<PyRows<'py>>);

/// What a fit found.
#[pyclass(frozen, get_all, module = "mercer._core")]
pub(crate) struct Fitted {
    /// The model.
    model: Py<Model>,
    /// The basis below it, as a model of its own; the model itself where the method is a basis.
    basis: Py<Model>,
    /// The rows that the landmarks were chosen among, where the method made them.
    landmarks: Option<Py<PyAny>>,
    /// Coordinates of the training rows in the basis, if they were asked for, in the basis' precision.
    coordinates: Option<Py<PyAny>>,
    /// What an extractor found.
    directions: Option<Py<PyDict>>,
    /// What a selector found.
    selection: Option<Py<PyDict>>,
    /// What the user should know of the basis.
    basis_warnings: Vec<String>,
    /// And of what was made of its coordinates.
    warnings: Vec<String>,
}

/// What becomes of the basis' coordinates.
enum Head {
    /// They are the features.
    Nothing,
    /// Some are kept.
    System(System),
    /// They are mixed.
    Extractor(Extractor, Limits),
}

/// What [`Head::finish`] made.
enum Made {
    Nothing,
    System { map: FeatureMap, scores: Scores, kept: Kept, warnings: Vec<String> },
    Extractor { map: FeatureMap, found: Directions },
}

/// Fit a basis, and what a method makes of its coordinates. Without a method they are the features.
#[pyfunction]
#[pyo3(signature = (
    X, y, method, settings, *, basis, input_names=None, task="auto", want_coordinates=false, verbose=0
))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    X: EitherRows<'py>,
    y: Option<Target<'py>>,
    method: Option<&str>,
    settings: Settings,
    basis: PyBasis<'py>,
    input_names: Option<Vec<String>>,
    task: &str,
    want_coordinates: bool,
    verbose: u32,
) -> PyResult<Fitted> {
    let labels = y.map(|y| y.labels(task)).transpose()?;
    let labels = labels.as_ref();
    let rows = X.rows()?;
    let head = Head::new(method, &settings, memory()?).map_err(exception)?;
    let mut warnings = Vec::new();
    let basis = head.basis(basis, &rows, labels, &mut warnings)?;
    let landmarks = match (&head, &basis.landmarks) {
        (Head::Extractor(Extractor::AkdaQr(_), _), Some(means)) => Some(python_rows(py, means)?.unbind()),
        _ => None,
    };
    let (fitted, features, made) = run(py, verbose, |monitor| {
        let wanted = want_coordinates || matches!(head, Head::System(_));
        let basis = Basis { monitor: monitor.clone(), ..basis };
        let (mut fitted, features) = basis.fit_either(rows.view(), labels, wanted)?;
        fitted.warnings.splice(0..0, warnings);
        let made = head.finish(&rows, labels, &fitted, features.as_ref(), monitor)?;
        Ok((fitted, features, made))
    })?;
    let coordinates = match features {
        Some(Features::Double(z)) if want_coordinates => Some(coordinates(py, z, rows.view().n())?),
        Some(Features::Single(z)) if want_coordinates => Some(coordinates(py, z, rows.view().n())?),
        _ => None,
    };
    Ok(Fitted { landmarks, coordinates, ..Fitted::new(py, fitted, made, labels, input_names.as_ref())? })
}

/// The basis `sparse` after one more batch; `so_far` is that of the batches before.
#[pyfunction]
#[pyo3(signature = (X, settings, so_far=None, *, input_names=None, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn grow<'py>(
    py: Python<'py>,
    X: EitherRows<'py>,
    settings: Settings,
    so_far: Option<PyRef<'py, Model>>,
    input_names: Option<Vec<String>>,
    verbose: u32,
) -> PyResult<Fitted> {
    let basis = basis_of("sparse", &settings)?;
    let so_far = so_far.map(|model| model.basis()).transpose().map_err(exception)?;
    let rows = X.rows()?;
    let grown = run(py, verbose, |monitor| basis.monitor(monitor).grow(so_far.as_ref(), rows.view()))?;
    Fitted::new(py, grown, Made::Nothing, None, input_names.as_ref())
}

/// A basis from its name and settings. `center` and `precision` are not read by the catalogue, which knows them for some
/// bases alone; the basis itself says better why it has no use for them.
fn basis_of(name: &str, settings: &[(String, String)]) -> PyResult<Basis> {
    let value = |name: &str| settings.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let catalogued = |(name, _): &&(String, String)| name != "center" && name != "precision";
    let others: Settings = settings.iter().filter(catalogued).cloned().collect();
    let mut basis = methods::basis(name, &others).map_err(exception)?;
    basis.center = value("center") == Some("true");
    basis.precision = value("precision").map(Precision::named).transpose().map_err(exception)?;
    basis.memory = memory()?;
    Ok(basis)
}

impl Head {
    fn new(method: Option<&str>, settings: &[(String, String)], memory: u64) -> Result<Self> {
        let Some(method) = method else { return Ok(Self::Nothing) };
        if methods::method(method).is_ok_and(|card| card.stage == methods::Stage::System) {
            return methods::system(method, settings).map(Self::System);
        }
        let limits = Limits { memory, ..methods::limits(settings) };
        Ok(Self::Extractor(methods::extractor(method, settings)?, limits))
    }

    /// The basis to fit, after the labels were looked at.
    fn basis(
        &self,
        (name, settings, landmarks): PyBasis<'_>,
        rows: &OfEither<'_>,
        labels: Option<&Labels>,
        warnings: &mut Vec<String>,
    ) -> PyResult<Basis> {
        let rows = rows.view();
        let default = match self {
            Self::Nothing => None,
            Self::System(system) => {
                system.check(labels).map_err(exception)?;
                name.is_none().then(|| system.default_basis(rows.n(), warnings))
            }
            Self::Extractor(extractor, _) => {
                extractor.check(labels).map_err(exception)?;
                name.is_none().then(|| extractor.default_basis(rows.n(), warnings))
            }
        };
        let name = name.as_deref().or(default.map(|method| method.name())).unwrap_or("kobl");
        let mut basis = basis_of(name, &settings)?;
        basis.landmarks = landmarks.map(|l| l.to_owned()).transpose()?;
        match self {
            Self::Extractor(extractor, _) => extractor.basis(basis, rows, labels).map_err(exception),
            _ => Ok(basis),
        }
    }

    /// What is made of the coordinates; `features` are those of the rows, where the fit of the basis had them.
    fn finish(
        self,
        rows: &OfEither<'_>,
        labels: Option<&Labels>,
        basis: &FittedBasis,
        features: Option<&Features>,
        monitor: &Monitor,
    ) -> Result<Made> {
        let rows = rows.view();
        Ok(match self {
            Self::Nothing => Made::Nothing,
            Self::System(system) => {
                let basis = FittedBasis { warnings: Vec::new(), ..basis.clone() };
                let features = match features {
                    Some(Features::Double(z)) => Some(&z[..]),
                    _ => None,
                };
                let found = system.monitor(monitor).fit_in(rows, labels, basis, features)?;
                let (map, scores, kept, warnings) = (found.map, found.scores, found.kept, found.warnings);
                Made::System { map, scores, kept, warnings }
            }
            Self::Extractor(extractor, limits) => {
                let found = extractor.directions(&Coordinates {
                    rows,
                    labels,
                    basis,
                    features: None,
                    limits,
                    monitor,
                })?;
                let map =
                    FeatureMap::from_directions(extractor.name(), FeatureMap::from(basis.clone()), &found)?;
                Made::Extractor { map, found }
            }
        })
    }
}

impl Fitted {
    fn new(
        py: Python<'_>,
        mut basis: FittedBasis,
        made: Made,
        labels: Option<&Labels>,
        input_names: Option<&Vec<String>>,
    ) -> PyResult<Self> {
        let named = |map: FeatureMap| Model::new(FeatureMap { input_names: input_names.cloned(), ..map });
        let basis_warnings = std::mem::take(&mut basis.warnings);
        let basis = Py::new(py, Model::of_basis(basis, input_names.cloned()))?;
        let (model, directions, selection, warnings) = match made {
            Made::Nothing => (basis.clone_ref(py), None, None, Vec::new()),
            Made::System { map, scores, kept, warnings } => {
                let found = selection(py, scores, kept, labels)?.unbind();
                (Py::new(py, named(map))?, None, Some(found), warnings)
            }
            Made::Extractor { map, mut found } => {
                let warnings = std::mem::take(&mut found.warnings);
                (Py::new(py, named(map))?, Some(as_dictionary(py, found)?.unbind()), None, warnings)
            }
        };
        let (landmarks, coordinates) = (None, None);
        Ok(Self { model, basis, landmarks, coordinates, directions, selection, basis_warnings, warnings })
    }
}

/// Coordinates of n rows as Python has them.
fn coordinates<T: Element>(py: Python<'_>, values: Vec<T>, n: usize) -> PyResult<Py<PyAny>> {
    let m = values.len() / n.max(1);
    Ok(PyArray1::from_vec(py, values).reshape([n, m])?.into_any().unbind())
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
