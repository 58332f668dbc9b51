//! What a fitted method looks like: the numbers that a page or a plot shows.
//!
//! cost    the fit; one pass over the coordinates; slopes of the features at up to 1500 rows

use std::borrow::Cow;

use crate::basis::{Expansion, FittedBasis};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::linalg::in_order;
use crate::map::FeatureMap;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::pipeline::{FittedPipeline, Head, Pipeline};
use crate::random;

/// Rows that are drawn as points, and whose slopes are looked at.
pub const POINTS: usize = 1_500;

/// Rows whose squared coordinates are added up together.
const SUM_ROWS: usize = 1_024;

/// Numbers about one fitted method on the rows that it was fitted on.
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
    /// These features of a seeded sample of rows: `points[i]` has one number a name.
    pub points: Vec<Vec<f64>>,
    /// The labels of the sampled rows.
    pub point_labels: Option<Labels>,
    /// Each input and its share of the features' dependence on the inputs, in the inputs' order; empty where the kernel
    /// has no slopes.
    pub importance: Vec<(String, f64)>,
    /// Number of features.
    pub n_features: usize,
    /// Kernel values that a row costs.
    pub kernel_values: usize,
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
    /// assert_eq!((found.points.len(), fitted.map.n_features()), (200, 1));
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
        let fitted = pipeline.fit(rows, labels, options)?;
        let monitor = &options.monitor;
        let FittedBasis { expansion, residual, pivot_norms, eigenvalues, method, .. } = &fitted.basis;
        let residuals = residuals(expansion, *residual, rows, monitor)?;
        let map = &fitted.map;
        let mut chosen = random::sample(rows.n(), POINTS, seed);
        chosen.sort_unstable();
        let sample = rows.select(&chosen);
        let shown: Vec<usize> = fitted.best().into_iter().take(3).collect();
        let features = map.transform(&sample)?;
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
            point_names: shown.iter().map(|&j| map.feature_names[j].clone()).collect(),
            points: (0..sample.n()).map(|i| shown.iter().map(|&j| features[(i, j)]).collect()).collect(),
            point_labels: labels.map(|labels| labels.select(&chosen)),
            importance: importance(map, &sample, input_names, monitor)?,
            n_features: map.n_features(),
            kernel_values: map.expansion.landmarks.len(),
        };
        Ok((diagnostics, fitted))
    }
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

/// Each input's share of the features' squared slopes; none for kernels without slopes.
fn importance(
    map: &FeatureMap,
    rows: &Rows,
    names: &[String],
    monitor: &Monitor,
) -> Result<Vec<(String, f64)>> {
    let slopes = match map.input_importance(rows, monitor) {
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
    let name = |j: usize| {
        names.get(j).map_or_else(|| Cow::Owned(format!("x{}", j + 1)), |n| Cow::Borrowed(n.as_str()))
    };
    Ok(sums.iter().enumerate().map(|(j, sum)| (name(j).into_owned(), sum / all)).collect())
}
