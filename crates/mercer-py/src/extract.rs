//! Stage 5b for Python: directions in a basis' coordinates, and the map that they make.

use faer::Mat;
use mercer::basis::{Expansion, FittedBasis, Landmarks, Method, Precision, Stop};
use mercer::extract::{AkdaQr, Coordinates, Limits};
use mercer::{Basis, Error, FeatureMap, Kernel, Shape, methods};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{EitherRows, Target, dictionary, feature_map, matrix_array, python_rows};
use crate::gate::{exception, memory, run};

/// Settings as texts, by the names of the catalogue.
type Settings = Vec<(String, String)>;

/// An error unless the settings are allowed and such labels will do: to be asked before a basis is fitted.
#[pyfunction]
#[pyo3(signature = (y, extractor, settings, *, task="auto"))]
pub(crate) fn check_extractor(
    y: Option<Target<'_>>,
    extractor: &str,
    settings: Settings,
    task: &str,
) -> PyResult<()> {
    let labels = y.map(|y| y.labels(task)).transpose()?;
    methods::extractor(extractor, &settings).and_then(|e| e.check(labels.as_ref())).map_err(exception)
}

/// Directions in the coordinates of a basis, `basis_model`, that was fitted on the same rows, and the map that they make.
#[pyfunction]
#[pyo3(signature = (X, y, extractor, settings, basis_model, *, task="auto", verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_extractor<'py>(
    py: Python<'py>,
    X: EitherRows<'py>,
    y: Option<Target<'py>>,
    extractor: &str,
    settings: Settings,
    basis_model: &Bound<'py, PyAny>,
    task: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = X.rows()?;
    let labels = y.map(|y| y.labels(task)).transpose()?;
    let extractor = methods::extractor(extractor, &settings).map_err(exception)?;
    let limits = Limits { memory: memory()?, ..methods::limits(&settings) };
    let mut map = feature_map(basis_model)?;
    let (found, map) = run(py, verbose, move |monitor| {
        let basis = as_fitted(&mut map)?;
        let labels = labels.as_ref();
        let found = extractor.directions(&Coordinates {
            rows: rows.view(),
            labels,
            basis: &basis,
            features: None,
            limits,
            monitor,
        })?;
        map.expansion = basis.expansion;
        let map = FeatureMap::from_directions(extractor.name(), map, &found)?;
        Ok((found, map))
    })?;
    let numbers = |values: Vec<f64>| PyArray1::from_vec(py, values);
    let out = PyDict::new(py);
    out.set_item("components", matrix_array(py, &found.matrix)?)?;
    out.set_item("offset", numbers(found.offset))?;
    out.set_item("eigenvalues", numbers(found.eigenvalues))?;
    out.set_item("explained", numbers(found.explained))?;
    out.set_item("alignment_path", numbers(found.alignment_path))?;
    out.set_item("warnings", found.warnings)?;
    out.set_item("model", dictionary(py, map)?)?;
    Ok(out)
}

/// The means of the classes' rows, on which `akda-qr` builds; refused for a precomputed kernel, which has no rows.
#[pyfunction]
#[pyo3(signature = (X, y, kernel))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn class_means<'py>(
    py: Python<'py>,
    X: EitherRows<'py>,
    y: Target<'py>,
    kernel: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, labels) = (X.rows()?, y.labels("auto")?);
    let shape = Shape::named(kernel, 3, 1.0, 1.0).map_err(exception)?;
    let settings = Basis::new(Method::GramSchmidt, Kernel { shape, gamma: 1.0 });
    let basis = run(py, 0, |_| AkdaQr::basis(&settings, rows.view(), &labels))?;
    let means = basis.landmarks.ok_or_else(|| exception(Error::Data("there are no class means".into())))?;
    python_rows(py, &means)
}

/// The basis that a map was made from, as far as an extractor or another batch looks at it. Its expansion is taken out of
/// the map.
pub(crate) fn as_fitted(map: &mut FeatureMap) -> mercer::Result<FittedBasis> {
    let fact = |name: &str| map.facts.get(name).and_then(serde_json::Value::as_f64);
    let number = |name: &str| fact(name).unwrap_or(0.0);
    let nothing = Expansion {
        kernel: map.expansion.kernel,
        landmarks: Landmarks::Columns { indices: Vec::new(), n: 0 },
        matrix: Mat::new(),
        offset: Vec::new(),
        origin: None,
    };
    Ok(FittedBasis {
        method: Method::named(&map.method)?,
        expansion: std::mem::replace(&mut map.expansion, nothing),
        pivots: map.pivots.clone(),
        pivot_norms: map.pivot_norms.clone(),
        eigenvalues: (!map.eigenvalues.is_empty()).then(|| map.eigenvalues.clone()),
        residual: number("residual"),
        trace: 0.0,
        precision: if fact("rounding_error").is_some() { Precision::Single } else { Precision::Double },
        rounding_error: fact("rounding_error"),
        n_kernel_evaluations: number("kernel_evaluations") as u64,
        n_rows: number("rows") as usize,
        stop: if map.facts.get("stopped_by").is_some_and(|by| by == "cap") { Stop::Cap } else { Stop::Rule },
        warnings: Vec::new(),
    })
}
