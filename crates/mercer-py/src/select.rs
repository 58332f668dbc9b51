//! Stage 5a for Python: score columns and keep the best.

use mercer::select::f_sums::{Along, Spread};
use mercer::select::{Columns, FSums, FTest, Level, Scores, Selection};
use mercer::spec::Values;
use mercer::{Error, Labels, methods};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Matrix, PyRows, Target, weights_of, whole};
use crate::device::device_named;
use crate::gate::{exception, run};

/// Score columns and keep the best. Settings are texts, by the names of the catalogue.
#[pyfunction]
#[pyo3(signature = (X, y, selector, settings, *, categorical=None, weights=None, task="auto", device="cpu", verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
#[expect(clippy::too_many_arguments, reason = "one argument a keyword")]
pub(crate) fn fit_selector<'py>(
    py: Python<'py>,
    X: PyRows<'py>,
    y: Option<Target<'py>>,
    selector: &str,
    settings: Vec<(String, String)>,
    categorical: Option<Vec<usize>>,
    weights: Option<Vec<f64>>,
    task: &str,
    device: &str,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let (rows, device) = (X.rows()?, device_named(device)?);
    let mut warnings = Vec::new();
    let labels = y.map(|y| y.labels(task, &mut warnings)).transpose()?;
    let labels = labels.as_ref();
    let (selector, keep) = methods::selector(selector, &settings).map_err(exception)?;
    let categorical = categorical.unwrap_or_default();
    let weights = weights_of(weights)?;
    let (scores, kept) = run(py, verbose, move |monitor| {
        let rows = rows.on(device)?;
        let scores = selector.score(&Columns {
            rows: &rows,
            labels,
            space: None,
            categorical: &categorical,
            weights: weights.as_ref(),
            monitor,
        })?;
        let kept = scores.keep(keep);
        Ok((scores, kept))
    })?;
    warnings.extend_from_slice(&scores.warnings);
    warnings.extend_from_slice(&kept.warnings);
    let out = selection(py, scores, kept, class_names(labels))?;
    out.set_item("warnings", warnings)?;
    Ok(out)
}

/// How many neighbours of each kind a selector compares a row with where there are n rows; `n_neighbors` may be a share.
#[pyfunction]
pub(crate) fn neighbor_count(selector: &str, n_neighbors: String, n: usize) -> PyResult<usize> {
    let settings = [("n_neighbors".to_string(), n_neighbors)];
    let (selector, _) = methods::selector(selector, &settings).map_err(exception)?;
    let none = || PyValueError::new_err(format!("`{}` looks at no neighbours", selector.name()));
    selector.n_neighbors(n).ok_or_else(none)
}

/// The names of the classes, if labels are classes.
pub(crate) fn class_names(labels: Option<&Labels>) -> Option<&[String]> {
    match labels {
        Some(Labels::Classes { names, .. }) => Some(names),
        _ => None,
    }
}

/// What a selector finds as a dictionary, without warnings.
pub(crate) fn selection<'py>(
    py: Python<'py>,
    scores: Scores,
    kept: Selection,
    classes: Option<&[String]>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut support = vec![false; scores.scores.len()];
    kept.columns.iter().for_each(|&j| support[j] = true);
    let numbers = |values: Vec<f64>| PyArray1::from_vec(py, values);
    let out = PyDict::new(py);
    out.set_item("scores", numbers(scores.scores))?;
    out.set_item("support", PyArray1::from_vec(py, support))?;
    out.set_item("ranking", whole(py, kept.ranking))?;
    out.set_item("pvalues", scores.pvalues.map(numbers))?;
    out.set_item("order", scores.order.map(|order| whole(py, order)))?;
    out.set_item("error_path", numbers(scores.error_path))?;
    out.set_item("weights", scores.weights.map(numbers))?;
    out.set_item("penalty", scores.penalty)?;
    out.set_item("n_neighbors", scores.n_neighbors)?;
    out.set_item("sums", scores.sums.map(|sums| as_sums(py, sums)).transpose()?)?;
    out.set_item("chosen", scores.chosen.map(|chosen| PyArray1::from_vec(py, chosen)))?;
    out.set_item("classes", classes)?;
    Ok(out)
}

/// Sums of the F-test as a dictionary: a row of `columns` is a column's four numbers a class, or its four and two more.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PySums<'py> {
    /// Rows of each class; of numbers, all rows.
    sizes: PyReadonlyArray1<'py, f64>,
    /// Of numbers.
    target: Option<[f64; 4]>,
    columns: Matrix<'py>,
}

impl PySums<'_> {
    fn sums(&self) -> PyResult<FSums> {
        let sizes = self.sizes.as_slice()?.to_vec();
        let (_, width) = self.columns.shape();
        let expected = if self.target.is_some() { 6 } else { 4 * sizes.len() };
        if width != expected || sizes.is_empty() {
            return Err(PyValueError::new_err("the sums do not fit together\nhint: fit again"));
        }
        let spread = |v: &[f64]| Spread { low: v[0], high: v[1], above: v[2], spread: v[3] };
        let rows = self.columns.values()?.chunks_exact(width);
        Ok(match &self.target {
            Some(target) => FSums::Numbers {
                n: sizes[0],
                target: spread(target),
                columns: rows.map(|v| Along { x: spread(v), along: v[4], left: v[5] }).collect(),
            },
            None => FSums::Classes {
                sizes,
                columns: rows.map(|v| v.chunks_exact(4).map(spread).collect()).collect(),
            },
        })
    }
}

fn as_sums(py: Python<'_>, sums: FSums) -> PyResult<Bound<'_, PyDict>> {
    let numbers = |of: &Spread| [of.low, of.high, of.above, of.spread];
    let (sizes, target, p, values) = match sums {
        FSums::Classes { sizes, columns } => {
            let values: Vec<f64> = columns.iter().flatten().flat_map(numbers).collect();
            (sizes, None, columns.len(), values)
        }
        FSums::Numbers { n, target, columns } => {
            let values = columns.iter().flat_map(|c| numbers(&c.x).into_iter().chain([c.along, c.left]));
            (vec![n], Some(numbers(&target)), columns.len(), values.collect())
        }
    };
    let width = values.len() / p.max(1);
    let out = PyDict::new(py);
    out.set_item("sizes", PyArray1::from_vec(py, sizes))?;
    out.set_item("target", target.map(|target| target.to_vec()))?;
    out.set_item("columns", PyArray1::from_vec(py, values).reshape([p, width])?)?;
    Ok(out)
}

/// Adds a batch to the sums of the F-test. `classes` are the names of all classes; None: y are numbers.
#[pyfunction]
#[pyo3(signature = (state, X, y, classes=None, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn f_accumulate<'py>(
    py: Python<'py>,
    state: Option<PySums<'py>>,
    X: PyRows<'py>,
    y: Target<'py>,
    classes: Option<Vec<String>>,
    verbose: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = X.rows()?;
    let labels = match classes {
        None => y.labels("numbers", &mut Vec::new())?,
        Some(names) => y.labels("classes", &mut Vec::new())?.among(names).map_err(exception)?,
    };
    let before = state.map(|state| state.sums()).transpose()?;
    let sums = run(py, verbose, |monitor| {
        let batch = FSums::of(&Columns::new(&rows, &labels, monitor))?;
        match before {
            None => Ok(batch),
            Some(mut sums) => sums.merge(&batch).map(|()| sums),
        }
    })?;
    as_sums(py, sums)
}

/// What the F-test finds in its sums; None while there are too few rows for it.
#[pyfunction]
pub(crate) fn f_finish<'py>(
    py: Python<'py>,
    state: PySums<'py>,
    selector: &str,
    settings: Vec<(String, String)>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let sums = state.sums()?;
    let (test, keep) = methods::selector(selector, &settings).map_err(exception)?;
    let values = Values::new(&[test.spec()], &settings).map_err(exception)?;
    let level = match (selector, values.number("level")) {
        ("f", _) => Level::None,
        ("fpr", Some(level)) => Level::Fpr(level),
        ("fdr", Some(level)) => Level::Fdr(level),
        ("fwe", Some(level)) => Level::Fwe(level),
        _ => return Err(exception(Error::Argument(format!("`{selector}` has no sums")))),
    };
    let test = FTest { level };
    if !sums.is_enough() {
        return Ok(None);
    }
    let scores = test.score_sums(&sums).map_err(exception)?;
    let kept = scores.keep(keep);
    let warnings = [&scores.warnings[..], &kept.warnings].concat();
    let out = selection(py, scores, kept, None)?;
    out.set_item("warnings", warnings)?;
    Ok(Some(out))
}
