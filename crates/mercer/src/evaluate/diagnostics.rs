//! What a fitted method looks like: the numbers that a page or a plot shows.
//!
//! Points and importance are of rows that were held out, where there are labels (`held_out.rs`).
//!
//! cost    the fit, and three on a part of the rows; one pass over the coordinates; slopes at up to 1500 rows

use crate::basis::{Expansion, FittedBasis};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::linalg::in_order;
use crate::map::{FeatureMap, ImportantPoints};
use crate::monitor::Monitor;
use crate::options::Options;
use crate::pipeline::{FittedPipeline, Head, Pipeline};
use crate::random;

use super::held_out::{HeldOut, Trial};

/// Rows that are drawn as points, and whose slopes are looked at.
pub const POINTS: usize = 1_500;

/// Rows whose squared coordinates are added up together.
const SUM_ROWS: usize = 1_024;

/// Numbers about one fitted method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitDiagnostics {
    /// The method.
    pub method: String,
    /// The basis below it.
    pub basis: String,
    /// The width; None: a kernel without γ.
    pub gamma: Option<f64>,
    /// Share of mean k(x,x) that is left after 0, 1, …, m coordinates of the basis.
    pub residuals: Vec<f64>,
    /// Norms of the pivots' residuals; empty if the basis has none.
    pub pivot_norms: Vec<f64>,
    /// Eigenvalues of the method, else of the basis, descending; empty if neither has any.
    pub spectrum: Vec<f64>,
    /// Scores of the features in the map's order, high is good; empty if the method has none.
    pub scores: Vec<f64>,
    /// Names of the best two or three features (one, if there is one only), best first.
    pub point_names: Vec<String>,
    /// These features of rows that were held out, where `held_out` is there, else of a seeded sample of the rows that the
    /// method was fitted on: `points[i]` has one number a name.
    pub points: Vec<Vec<f64>>,
    /// The labels of these rows.
    pub point_labels: Option<Labels>,
    /// The rows held out, and how well they are predicted; None without labels, or where too few rows are there.
    pub held_out: Option<HeldOut>,
    /// Each input and its share, in the inputs' order: of the squared slopes of ridge on the features where `held_out` is
    /// there, else of the features themselves. Empty where the kernel has no slopes.
    pub importance: Vec<(String, f64)>,
    /// Each input and its weight before the kernel; empty where inputs are not weighted.
    pub weights: Vec<(String, f64)>,
    /// Number of features.
    pub n_features: usize,
    /// Kernel values that a row costs.
    pub kernel_values: usize,
    /// Training rows that carry the features, the most important first; empty where landmarks are no training rows.
    pub important: ImportantPoints,
    /// How many training rows, or other landmarks, the features of a row need.
    pub n_support: usize,
}

impl FitDiagnostics {
    /// Fits the pipeline on rows, which are as the kernel shall see them (scaled), and looks at what came of it; with the
    /// map, which has no scaling yet.
    ///
    /// ```
    /// use mercer::{Options, Pipeline, data::{Labels, Task, synth}, evaluate::diagnostics::FitDiagnostics};
    ///
    /// let table = synth::generate("ringnorm?n=200&seed=1")?;
    /// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
    /// let names: Vec<String> = (0..table.rows.p()).map(|j| format!("x{j}")).collect();
    /// let pipeline = Pipeline::new("gda", &[("basis", "kobl"), ("gamma", "0.05")])?;
    /// let (found, fitted) =
    ///     FitDiagnostics::of(&pipeline, &table.rows, Some(&labels), &names, 0, &Options::default())?;
    /// assert_eq!((found.basis.as_str(), found.point_names.as_slice()), ("kobl", ["gda0".to_string()].as_slice()));
    /// assert_eq!((found.points.len(), fitted.map.n_features()), (67, 1));
    /// let shares: f64 = found.importance.iter().map(|(_, share)| share).sum();
    /// assert!((shares - 1.0).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of(
        pipeline: &Pipeline,
        rows: &Rows,
        labels: Option<&Labels>,
        input_names: &[String],
        seed: u64,
        options: &Options,
    ) -> Result<(Self, FittedPipeline)> {
        if !input_names.is_empty() && input_names.len() != rows.p() {
            return Err(Error::argument(format!(
                "{} names were given for {} inputs; one for each is needed, or none",
                input_names.len(),
                rows.p()
            )));
        }
        let fitted = pipeline.fit(rows, labels, &options.where_it_can())?;
        let monitor = &options.monitor;
        let FittedBasis { expansion, residual, pivot_norms, eigenvalues, method, .. } = &fitted.basis;
        monitor.begin("looking at what the basis leaves", 0);
        let residuals = residuals(expansion, *residual, rows, monitor)?;
        let map = &fitted.map;
        monitor.begin("trying the method on rows held out", 0);
        let trial =
            labels.map(|labels| Trial::of(pipeline, rows, labels, seed, options)).transpose()?.flatten();
        let seen = match trial {
            Some(trial) => Seen::held_out(trial, labels)?,
            None => Seen::fitted(&fitted, rows, labels, seed, monitor)?,
        };
        let named = |values: Vec<f64>| -> Vec<(String, f64)> {
            values.into_iter().enumerate().map(|(j, value)| (input_name(input_names, j), value)).collect()
        };
        let own_values = matches!(pipeline.head, Head::Extract(_));
        let kernel = map.expansion.kernel;
        let diagnostics = Self {
            method: pipeline.spec.name.into(),
            basis: method.name().into(),
            gamma: kernel.shape.uses_gamma().then_some(kernel.gamma),
            residuals,
            pivot_norms: pivot_norms.clone(),
            spectrum: if own_values && !map.eigenvalues.is_empty() {
                descending(map.eigenvalues.clone())
            } else {
                descending(eigenvalues.clone().unwrap_or_default())
            },
            scores: map.scores.clone(),
            point_names: seen.names,
            points: seen.points,
            point_labels: seen.labels,
            held_out: seen.held_out,
            importance: named(seen.importance),
            weights: named(fitted.weights.as_ref().map(|found| found.weights.clone()).unwrap_or_default()),
            n_features: map.n_features(),
            kernel_values: map.expansion.landmarks.len(),
            // A picture less where landmarks are no training rows.
            important: map.important_points().unwrap_or_default(),
            n_support: map.n_support(),
        };
        Ok((diagnostics, fitted))
    }
}

/// The best features of some rows, and what they depend on.
struct Seen {
    names: Vec<String>,
    points: Vec<Vec<f64>>,
    labels: Option<Labels>,
    held_out: Option<HeldOut>,
    importance: Vec<f64>,
}

impl Seen {
    /// Of rows that were held out.
    fn held_out(trial: Trial, labels: Option<&Labels>) -> Result<Self> {
        let (names, points) = best_features(&trial.fitted, &trial.test)?;
        let labels = labels.map(|labels| labels.select(&trial.held_out.rows));
        Ok(Self { names, points, labels, held_out: Some(trial.held_out), importance: trial.importance })
    }

    /// Of rows that the method was fitted on.
    fn fitted(
        fitted: &FittedPipeline,
        rows: &Rows,
        labels: Option<&Labels>,
        seed: u64,
        monitor: &Monitor,
    ) -> Result<Self> {
        let mut chosen = random::sample(rows.n(), POINTS, seed);
        chosen.sort_unstable();
        let sample = rows.select(&chosen);
        let (names, points) = best_features(fitted, &sample)?;
        let labels = labels.map(|labels| labels.select(&chosen));
        let importance = importance(&fitted.map, &sample, monitor)?;
        Ok(Self { names, points, labels, held_out: None, importance })
    }
}

/// The names of the best three features, and their values.
fn best_features(fitted: &FittedPipeline, rows: &Rows) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
    let shown: Vec<usize> = fitted.best().into_iter().take(3).collect();
    let features = fitted.map.transform(rows)?;
    let names = shown.iter().map(|&j| fitted.map.feature_names[j].clone()).collect();
    Ok((names, (0..rows.n()).map(|i| shown.iter().map(|&j| features[(i, j)]).collect()).collect()))
}

fn input_name(names: &[String], j: usize) -> String {
    names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1))
}

fn descending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Share of mean k(x,x) that is left after 0, 1, …, m coordinates of a basis; where it is centred, of the centred trace,
/// of which all of them leave the share `left`.
///
/// ```
/// use mercer::{Basis, Kernel, Monitor, Rows, evaluate::diagnostics::residuals};
///
/// let rows = Rows::dense(vec![2.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let shares = residuals(&basis.expansion, basis.residual, &rows, &Monitor::default())?;
/// assert!((shares[1] - 0.2).abs() < 1e-15 && shares[2] < 1e-15); // 1 of 4 + 1, then nothing
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn residuals(expansion: &Expansion, left: f64, rows: &Rows, monitor: &Monitor) -> Result<Vec<f64>> {
    expansion.check(rows, None, 0)?;
    let (n, m) = (rows.n(), expansion.n_features());
    let mut squares = vec![0.0; m];
    let prepared = expansion.prepared();
    let part = |at: usize| {
        let rows = rows.slice_f64(at * SUM_ROWS..n.min((at + 1) * SUM_ROWS));
        let mut z = faer::Mat::zeros(rows.n(), m);
        prepared.apply(&rows, z.as_mut());
        z.col_iter().map(|column| column.iter().map(|v| v * v).sum::<f64>()).collect::<Vec<f64>>()
    };
    in_order(n.div_ceil(SUM_ROWS), 8 * m, monitor, part, |part| {
        squares.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
        Ok(())
    })?;
    let trace = if expansion.origin.is_some() {
        squares.iter().sum::<f64>() / (1.0 - left).max(f64::MIN_POSITIVE)
    } else {
        expansion.diagonal(rows)?.iter().sum()
    };
    let mut left = 1.0;
    let mut shares = vec![left];
    for square in squares {
        if trace > 0.0 {
            left -= square / trace;
        }
        shares.push(left.max(0.0));
    }
    Ok(shares)
}

/// Each input's share of the squared slopes of the features or, of a map that predicts, its predictions; none for kernels without
/// slopes.
fn importance(map: &FeatureMap, rows: &Rows, monitor: &Monitor) -> Result<Vec<f64>> {
    let slopes = match &map.predictor {
        Some(predictor) => predictor.input_importance(Some(rows), monitor),
        None => map.input_importance(rows, monitor),
    };
    let slopes = match slopes {
        Ok(slopes) => slopes,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        // A picture less: inputs that are not known, or more of them than memory has room for.
        Err(_) => return Ok(Vec::new()),
    };
    let sums: Vec<f64> = slopes.col_iter().map(|column| column.iter().sum()).collect();
    let all: f64 = sums.iter().sum();
    if !(all > 0.0 && all.is_finite()) {
        return Ok(Vec::new());
    }
    Ok(sums.into_iter().map(|sum| sum / all).collect())
}
