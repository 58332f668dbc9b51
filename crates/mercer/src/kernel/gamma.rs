//! γ by rule. The papers' σ is γ = 1/(2σ²).
//!
//!   scale   1/(p·var X), laplacian 1/(p·sd X)             1 where all numbers are equal
//!   auto    1/p
//!   median  1/(2·median‖x−x'‖²), laplacian 1/median‖x−x'‖₁, over all pairs of a sample of at most 1 000 rows
//!   align   of scale × 10^{−2, −1.5, …, 1.5} the one with the largest centred alignment of K and YYᵀ on that sample
//!   loo     the same grid by leave-one-out error; needs a basis, so it lives in `basis/loo.rs`
//!   none    loo where there are labels, else median where columns outnumber rows, else scale
//!
//! Sums and products: `scale`, `auto` and `median` for every part without a γ of its own, on its own columns; `align` and `loo` try one
//! number, 10^{−2, −1.5, …, 1.5}, that multiplies the `scale` of all of these parts.
//!
//! cost    scale: one pass; median, align: 10⁶ distances, and align 10⁶ kernel values for each of 8 widths
//! source  Cortes, Mohri & Rostamizadeh 2012 for centred alignment
//! differs the median is over pairs of distinct rows; where it is 0 (many duplicates) the mean stands in

use std::str::FromStr;

use faer::{Mat, MatRef};

use super::block::{PANEL, Panel};
use super::composite::{Columns, Factor, Width};
use super::kernel::{Kernel, Shape};
use super::widths::Widths;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::target::TargetSummary;
use crate::data::weights::{Weights, weight};
use crate::error::{Error, Result};
use crate::linalg::{center_gram, product};
use crate::random;
use crate::real::Real;

/// Rows that `median` and `align` look at.
pub(crate) const SAMPLE_ROWS: usize = 1_000;

/// A width, or the rule that finds one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gamma {
    /// None was given: `loo` where there are labels to look at, else `median` where columns outnumber rows, else `scale`.
    #[default]
    Unset,
    /// This number.
    Value(f64),
    /// 1/(p·var X); for `laplacian` 1/(p·sd X).
    Scale,
    /// 1/p.
    Auto,
    /// 1/(2·median‖x−x'‖²) on a seeded sample.
    Median,
    /// Largest centred kernel–target alignment on a seeded sample. Needs labels.
    Align,
    /// Smallest leave-one-out error of ridge on the labels. Needs labels.
    Loo,
}

impl Gamma {
    /// The rules by name.
    pub const RULES: [&'static str; 5] = ["scale", "auto", "median", "align", "loo"];

    /// Whether the rule cannot do without labels.
    pub fn needs_labels(self) -> bool {
        matches!(self, Self::Align | Self::Loo)
    }

    /// The rule that stands in where none was given.
    ///
    /// ```
    /// use mercer::{Labels, Rows, kernel::Gamma};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
    /// let labels = Labels::classes(&["a", "a", "b", "b"]);
    /// assert_eq!(Gamma::Unset.or_usual(&rows, Some(&labels)), Gamma::Loo);
    /// assert_eq!(Gamma::Unset.or_usual(&rows, None), Gamma::Scale);
    /// assert_eq!(Gamma::Auto.or_usual(&rows, None), Gamma::Auto);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn or_usual(self, rows: &Rows, labels: Option<&Labels>) -> Self {
        self.or_usual_of(&Here { rows, labels, weights: None })
    }

    pub(crate) fn or_usual_of(self, rows: &dyn RowSample) -> Self {
        let of_use = |target: TargetSummary| target.sample().require_two("loo").is_ok();
        match self {
            Self::Unset if rows.target().is_some_and(of_use) => Self::Loo,
            Self::Unset if rows.p() > rows.n() => Self::Median,
            Self::Unset => Self::Scale,
            given => given,
        }
    }
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "scale" => Self::Scale,
            "auto" => Self::Auto,
            "median" => Self::Median,
            "align" => Self::Align,
            "loo" => Self::Loo,
            _ => match text.parse() {
                Ok(value) if value > 0.0 && f64::is_finite(value) => Self::Value(value),
                _ => {
                    return Err(Error::argument(format!(
                        "gamma = `{text}`, but it must be a number above 0 or one of {}",
                        Self::RULES.join(", ")
                    )));
                }
            },
        })
    }
}

/// γ = 1/(2σ²), the papers' bandwidth.
///
/// ```
/// assert_eq!(mercer::kernel::gamma::gamma_from_sigma(0.5), 2.0);
/// ```
pub fn gamma_from_sigma(sigma: f64) -> f64 {
    1.0 / (2.0 * sigma * sigma)
}

/// Rows of which a few can be looked at, wherever they lie.
pub(crate) trait RowSample {
    /// Number of rows.
    fn n(&self) -> usize;

    /// Number of columns.
    fn p(&self) -> usize;

    /// Standard deviation of all their numbers.
    fn deviation(&self) -> f64;

    /// Standard deviation of the numbers in some columns: of a sample of the rows, where they are not here.
    fn deviation_in(&self, columns: &[usize]) -> Result<f64> {
        let (some, _) = self.some(&random::sample(self.n(), SAMPLE_ROWS, 0))?;
        deviation_in(&some, columns)
    }

    /// What their labels are together.
    fn target(&self) -> Option<TargetSummary>;

    /// Some rows, in this order, with their labels.
    fn some(&self, places: &[usize]) -> Result<(Rows<'static>, Option<Labels>)>;

    /// What these rows count; None: all the same.
    fn weights(&self, _: &[usize]) -> Option<Weights> {
        None
    }
}

/// Rows and labels that are all here.
pub(crate) struct Here<'r> {
    pub(crate) rows: &'r Rows<'r>,
    pub(crate) labels: Option<&'r Labels>,
    pub(crate) weights: Option<&'r Weights>,
}

impl RowSample for Here<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }

    fn p(&self) -> usize {
        self.rows.p()
    }

    fn deviation(&self) -> f64 {
        match self.weights {
            None => deviation_of(self.rows),
            Some(weights) => weighted_deviation(self.rows, weights),
        }
    }

    fn deviation_in(&self, columns: &[usize]) -> Result<f64> {
        deviation_in(self.rows, columns)
    }

    fn target(&self) -> Option<TargetSummary> {
        self.labels.map(TargetSummary::of)
    }

    fn some(&self, places: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        Ok((self.rows.select(places), self.labels.map(|labels| labels.select(places))))
    }

    fn weights(&self, places: &[usize]) -> Option<Weights> {
        self.weights.map(|weights| weights.select(places))
    }
}

/// The widths that `align` and `loo` try.
pub(crate) fn grid(shape: Shape, rows: &Rows) -> Result<Vec<f64>> {
    grid_of(shape, rows.p(), deviation_of(rows))
}

/// The widths for p columns whose numbers deviate so much.
pub(crate) fn grid_of(shape: Shape, p: usize, deviation: f64) -> Result<Vec<f64>> {
    // A sum's parts have the scales of their own.
    let scale = if matches!(shape, Shape::Composite(_)) { 1.0 } else { scale_of(shape, p, deviation)? };
    Ok((-4..=3).map(|half| scale * 10f64.powf(f64::from(half) / 2.0)).collect())
}

/// 1/(p·var X), or 1/(p·sd X) for `laplacian`.
pub(crate) fn scale(shape: Shape, rows: &Rows) -> Result<f64> {
    scale_of(shape, rows.p(), deviation_of(rows))
}

/// Standard deviation of all numbers.
fn deviation_of(rows: &Rows) -> f64 {
    let count = rows.n() as f64 * rows.p() as f64;
    match rows {
        Rows::DenseF32(d) => deviation(d.values(), count),
        Rows::Dense(_) | Rows::Sparse(_) => deviation(rows.stored(), count),
    }
}

/// Standard deviation of all numbers, by what their rows count.
fn weighted_deviation(rows: &Rows, weights: &Weights) -> f64 {
    let largest = deviation_of(rows).max(f64::MIN_POSITIVE);
    let all = weights.total() * rows.p() as f64;
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        let of_row = |i: usize| {
            let row = rows.slice_f64(i..i + 1);
            let stored = row.stored();
            let zeros = (rows.p() - stored.len()) as f64;
            weights[i] * (stored.iter().map(|v| f(v / largest)).sum::<f64>() + zeros * f(0.0))
        };
        (0..rows.n()).map(of_row).sum()
    };
    let mean = sum(&|v| v) / all;
    (sum(&|v| (v - mean).powi(2)) / all).sqrt() * largest
}

/// Standard deviation of the numbers in some columns, panel by panel.
fn deviation_in(rows: &Rows, columns: &[usize]) -> Result<f64> {
    let columns = Columns::at(columns.to_vec())?;
    let (n, p) = (rows.n(), columns.places().map_or(0, <[usize]>::len));
    let each = |look: &mut dyn FnMut(f64)| {
        for start in (0..n).step_by(PANEL) {
            let part = rows.slice_f64(start..n.min(start + PANEL));
            columns.of(&part).stored().iter().for_each(|v| look(*v));
        }
    };
    let count = n as f64 * p as f64;
    let (mut largest, mut stored) = (0.0f64, 0.0);
    each(&mut |v| (largest, stored) = (largest.max(v.abs()), stored + 1.0));
    if largest == 0.0 {
        return Ok(0.0);
    }
    let (mut sum, mut square) = (0.0, 0.0);
    each(&mut |v| sum += v / largest);
    let mean = sum / count;
    each(&mut |v| square += (v / largest - mean).powi(2));
    Ok(((square + (count - stored) * mean * mean) / count).sqrt() * largest)
}

/// A formula whose widths are to be found, and the rule that finds γ: the parts of a sum get their own widths by the rule, or their
/// `scale` where one number for all of them is searched.
pub(crate) fn in_units(rule: Gamma, shape: Shape, rows: &dyn RowSample, seed: u64) -> Result<(Shape, Gamma)> {
    let Shape::Composite(composite) = shape else { return Ok((shape, rule)) };
    if matches!(rule, Gamma::Value(_)) || !shape.uses_gamma() {
        return Ok((shape, rule));
    }
    Kernel { shape, gamma: 1.0 }.check()?;
    composite.check_columns(rows.p())?;
    let width = |factor: &Factor| {
        let places = factor.columns.places();
        let p = places.map_or(rows.p(), <[usize]>::len);
        Ok(Width::Free(match rule {
            Gamma::Auto => 1.0 / p as f64,
            Gamma::Median => {
                let (sample, _) = rows.some(&random::sample(rows.n(), SAMPLE_ROWS, seed))?;
                median(factor.shape, &factor.columns.of(&sample))?
            }
            _ => {
                let deviation =
                    places.map_or_else(|| Ok(rows.deviation()), |places| rows.deviation_in(places))?;
                scale_of(factor.shape, p, deviation)?
            }
        }))
    };
    let shape = composite.with_widths(width)?;
    Ok((shape, if rule.needs_labels() { rule } else { Gamma::Value(1.0) }))
}

fn scale_of(shape: Shape, p: usize, sd: f64) -> Result<f64> {
    let p = p as f64;
    let gamma = if shape == Shape::Laplacian { 1.0 / (p * sd) } else { 1.0 / p / sd / sd };
    if sd == 0.0 {
        Ok(1.0)
    } else if gamma.is_finite() && gamma > 0.0 {
        Ok(gamma)
    } else {
        Err(Error::data(format!(
            "the numbers in the data deviate by {sd:.1e} from their mean, for which no gamma can be written\n\
             hint: scale the columns first"
        )))
    }
}

/// Standard deviation of so many numbers, of which those not given are 0.
fn deviation<T: Real>(values: &[T], count: f64) -> f64 {
    let zeros = count - values.len() as f64;
    // Divided by the largest magnitude first, so that squares neither overflow nor vanish.
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.double().abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let mean = values.iter().map(|v| v.double() / largest).sum::<f64>() / count;
    let square =
        values.iter().map(|v| (v.double() / largest - mean).powi(2)).sum::<f64>() + zeros * mean * mean;
    (square / count).sqrt() * largest
}

/// Every rule but `loo`.
pub(crate) fn resolve(rule: Gamma, shape: Shape, rows: &dyn RowSample, seed: u64) -> Result<f64> {
    if !shape.uses_gamma() {
        return Ok(1.0);
    }
    let places = || random::sample(rows.n(), SAMPLE_ROWS, seed);
    match rule {
        Gamma::Value(value) => Ok(value),
        Gamma::Unset | Gamma::Scale => scale_of(shape, rows.p(), rows.deviation()),
        Gamma::Auto => Ok(1.0 / rows.p() as f64),
        Gamma::Median => median(shape, &rows.some(&places())?.0),
        Gamma::Loo => Err(Error::argument("gamma = `loo` needs a basis and is found by one")),
        Gamma::Align => {
            require_target(rule, rows)?;
            let weights = rows.weights(&places());
            let (chosen, labels) = rows.some(&places())?;
            let labels = require_labels(rule, labels.as_ref())?;
            align(shape, &chosen, labels, weights.as_ref(), &grid_of(shape, rows.p(), rows.deviation())?)
        }
    }
}

/// An error that names the rule unless there are labels of two kinds.
pub(crate) fn require_target(rule: Gamma, rows: &dyn RowSample) -> Result<()> {
    let labels = rows.target().map(|target| target.sample());
    let name = if rule == Gamma::Loo { "loo" } else { "align" };
    require_labels(rule, labels.as_ref())?.require_two(name)
}

/// The labels, or an error that names the rule.
pub(crate) fn require_labels(rule: Gamma, labels: Option<&Labels>) -> Result<&Labels> {
    labels.ok_or_else(|| {
        let name = if rule == Gamma::Loo { "loo" } else { "align" };
        Error::argument(format!(
            "gamma = `{name}` looks at the labels, but none were given\n\
             hint: give them (y), or use gamma = `scale` or `median`"
        ))
    })
}

fn median(shape: Shape, rows: &Rows) -> Result<f64> {
    // Distances in units of the `scale` rule, so that their squares stay in range.
    let unit = scale(shape, rows)?;
    let distance = if shape == Shape::Laplacian { Shape::Laplacian } else { Shape::Rbf };
    let panel = Panel::new(Kernel { shape: distance, gamma: unit }, rows);
    let n = rows.n();
    let mut pairs = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    let mut line = vec![0.0; n];
    for i in 1..n {
        panel.statistics(&rows.slice(i..i + 1), &mut line);
        pairs.extend_from_slice(&line[..i]);
    }
    pairs.sort_unstable_by(f64::total_cmp);
    let Some(last) = pairs.len().checked_sub(1) else { return Ok(1.0) };
    let mut middle = f64::midpoint(pairs[last / 2], pairs[pairs.len() / 2]);
    if middle == 0.0 {
        middle = pairs.iter().sum::<f64>() / pairs.len() as f64;
    }
    let gamma = if shape == Shape::Laplacian { unit / middle } else { unit / (2.0 * middle) };
    // All rows equal: any width will do.
    Ok(if gamma.is_finite() && gamma > 0.0 { gamma } else { 1.0 })
}

fn align(shape: Shape, rows: &Rows, labels: &Labels, weights: Option<&Weights>, grid: &[f64]) -> Result<f64> {
    let found = alignments(shape, rows, labels, weights, grid)?;
    let best = found.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
    Ok(best.map_or(grid[0], |(gamma, _)| gamma))
}

/// (γ, centred alignment with the labels) of every width that makes a kernel; an error if none does.
pub(crate) fn alignments(
    shape: Shape,
    rows: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    grid: &[f64],
) -> Result<Vec<(f64, f64)>> {
    let (y, c, _) = labels.centered_by(weights);
    let root = |i: usize| weight(weights, i).sqrt();
    let y = Mat::from_fn(rows.n(), c, |i, j| root(i) * y[i * c + j]);
    let y = y.as_ref();
    let own = product(y.transpose(), y).norm_l2();
    let mut found = Vec::with_capacity(grid.len());
    let mut failed = None;
    let n = rows.n();
    let widths = Widths::new(shape, grid[grid.len() / 2], rows)?;
    for &gamma in grid {
        match widths.values(gamma) {
            Ok(values) => {
                let mut k = MatRef::from_column_major_slice(&values, n, n).to_owned();
                center_weighted_gram(&mut k, weights);
                let across = product(y.transpose(), product(k.as_ref(), y).as_ref());
                let alignment = across.diagonal().column_vector().sum() / (k.norm_l2() * own);
                found.push((gamma, if alignment.is_finite() { alignment } else { 0.0 }));
            }
            // A width at which the kernel overflows is no candidate.
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// Centres a kernel matrix about the mean of the rows; with weights, about their weighted mean, and every row and column is
/// then multiplied by the root of its weight.
pub(crate) fn center_weighted_gram(k: &mut Mat<f64>, weights: Option<&Weights>) {
    let Some(weights) = weights else { return center_gram(k) };
    let (n, all) = (k.nrows(), weights.total());
    let means: Vec<f64> =
        (0..n).map(|j| k.col(j).iter().zip(&**weights).map(|(v, w)| v * w).sum::<f64>() / all).collect();
    let mean = means.iter().zip(&**weights).map(|(m, w)| m * w).sum::<f64>() / all;
    for j in 0..n {
        for i in 0..n {
            k[(i, j)] = (k[(i, j)] - means[i] - means[j] + mean) * (weights[i] * weights[j]).sqrt();
        }
    }
}
