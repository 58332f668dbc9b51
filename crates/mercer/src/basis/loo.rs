//! γ by leave-one-out: the width whose basis predicts each label best from all the others.
//!
//! The prediction is ridge with an intercept ([`ridge`](super::ridge)), its penalty the best for that width, on an `rpcholesky`
//! basis or, where they are few, on all rows. A stop rule that holds what is left of a row against k(x,x) ends a basis early where
//! the kernel is wide: there it is the basis which that rule leaves.
//!
//! cost    n·m² flops a width, m ≤ 300, on at most 5 000 rows; 8 widths × 25 penalties. Distances between few long rows
//!         are computed once for all widths (n² numbers)
//! source  Allen 1974 (PRESS)
//! differs classes are one-hot columns and the error is squared; all n left-out predictions are exact given the basis,
//!         whose pivots were chosen without the labels; of more than 128 classes the error is that of 128 random signs

use faer::{Mat, MatRef};

use super::kobl::{self, StopRule, Threshold};
use super::pivoted::{FactorStorage, Pivoted};
use super::predict::missed;
use super::ridge::Ridge;
use super::ridge_near::{COMPARED, DECOMPOSED, RidgeNear};
use super::rpcholesky;
use super::settings::Basis;
use super::variance::variance;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};
use crate::kernel::gamma::{RowSample, grid_of, require_labels, require_target};
use crate::kernel::widths::Widths;
use crate::kernel::{Gamma, Gram, Kernel, Shape};
use crate::monitor::Monitor;
use crate::random;

/// The largest basis that is tried.
const LOO_COMPONENTS: usize = 300;

/// Rows looked at.
const LOO_ROWS: usize = 5_000;

/// The most columns of labels that are predicted; more classes are told apart by so many random signs each.
const MOST_TARGETS: usize = 128;

/// Up to so many rows, of at least so many columns, the distances are computed once for all widths.
const SHARED_ROWS: usize = 4_000;
const SHARED_COLUMNS: usize = 64;

/// What one kernel did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tried {
    pub(crate) gamma: f64,
    /// Mean squared leave-one-out error at the best penalty; infinite where the kernel is none.
    pub(crate) error: f64,
    /// Share of the rows whose class the others do not predict, at the same penalty; 0 for numbers.
    pub(crate) missed: f64,
    /// The penalty, as a multiple of the features' mean eigenvalue.
    pub(crate) penalty: f64,
    /// The penalty itself.
    pub(crate) absolute: f64,
    /// Components of the basis.
    pub(crate) size: usize,
}

/// The width of this formula with the smallest leave-one-out error, for a basis with these settings.
pub(crate) fn resolve(
    shape: Shape,
    settings: &Basis,
    rows: &dyn RowSample,
    monitor: &Monitor,
) -> Result<f64> {
    require_target(Gamma::Loo, rows)?;
    let widths = grid_of(shape, rows.p(), rows.deviation())?;
    let places = random::sample(rows.n(), LOO_ROWS, settings.seed);
    let weights = rows.weights(&places);
    let (rows, labels) = rows.some(&places)?;
    let labels = require_labels(Gamma::Loo, labels.as_ref())?;
    let looked = Looked { rows: &rows, labels, weights: weights.as_ref() };
    let ended_by = settings.ends_early_where_wide().then_some(settings);
    let tried = looked.widths_tried_in(Bases { size: LOO_COMPONENTS, ended_by }, shape, &widths, monitor)?;
    Ok(best(&tried).map_or(widths[0], |best| best.gamma))
}

/// The one with the smallest error, the first of equals.
pub(crate) fn best(tried: &[Tried]) -> Option<Tried> {
    best_place(tried).map(|(_, best)| best)
}

/// The same, with its place.
pub(crate) fn best_place(tried: &[Tried]) -> Option<(usize, Tried)> {
    let all = tried.iter().copied().enumerate().filter(|(_, t)| t.error.is_finite());
    all.reduce(|a, b| if b.1.error < a.1.error { b } else { a })
}

/// Of the same rows' bases, smallest first, the first whose squared error is within a factor of the smallest, and which misses
/// about as few rows.
pub(crate) fn enough(tried: &[Tried], factor: f64, n: usize) -> Option<Tried> {
    let least = tried.iter().map(|t| t.error).fold(f64::INFINITY, f64::min);
    let fewest = tried.iter().map(|t| t.missed).fold(f64::INFINITY, f64::min);
    let margin = spread(fewest, n) / 2.0;
    tried.iter().copied().find(|t| t.error <= factor * least && t.missed <= fewest + margin)
}

/// Standard error of a share among n rows.
pub(crate) fn spread(share: f64, n: usize) -> f64 {
    (share * (1.0 - share) / n as f64).max(0.0).sqrt()
}

/// Rows that are looked at, their labels, and what each counts.
#[derive(Clone, Copy)]
pub(crate) struct Looked<'a> {
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) labels: &'a Labels,
    pub(crate) weights: Option<&'a Weights>,
}

/// The bases in which widths are compared.
#[derive(Clone, Copy)]
struct Bases<'a> {
    /// The most components.
    size: usize,
    /// Settings whose stop rule ends them; None: their size alone.
    ended_by: Option<&'a Basis>,
}

impl Looked<'_> {
    /// Every width in an `rpcholesky` basis of at most `size` components, or of all rows. An error only if no width makes a kernel.
    pub(crate) fn widths_tried(
        self,
        shape: Shape,
        widths: &[f64],
        size: usize,
        monitor: &Monitor,
    ) -> Result<Vec<Tried>> {
        self.widths_tried_in(Bases { size, ended_by: None }, shape, widths, monitor)
    }

    fn widths_tried_in(
        self,
        bases: Bases,
        shape: Shape,
        widths: &[f64],
        monitor: &Monitor,
    ) -> Result<Vec<Tried>> {
        let shared = shared(shape, widths, self.rows, monitor)?;
        let mut failed = None;
        let all = widths.iter().map(|&gamma| {
            self.try_one(Kernel { shape, gamma }, shared.as_ref(), bases, &mut failed, monitor)
        });
        let tried: Vec<Tried> = all.collect::<Result<_>>()?;
        match failed {
            Some(error) if best(&tried).is_none() => Err(error),
            _ => Ok(tried),
        }
    }

    /// The place of the best width near one, and how it did. There may be a better one farther away.
    pub(crate) fn best_near(
        self,
        start: usize,
        shape: Shape,
        widths: &[f64],
        size: usize,
        monitor: &Monitor,
    ) -> Result<(usize, Tried)> {
        let start = start.min(widths.len().saturating_sub(1));
        self.best_from(&[start], shape, widths, size, monitor)
    }

    /// The place of the best width, and how it did: widths beside the best of some are tried while the error falls; all of them
    /// where the first make no kernel.
    pub(crate) fn best_from(
        self,
        starts: &[usize],
        shape: Shape,
        widths: &[f64],
        size: usize,
        monitor: &Monitor,
    ) -> Result<(usize, Tried)> {
        let shared = shared(shape, widths, self.rows, monitor)?;
        let bases = Bases { size, ended_by: None };
        let mut tried: Vec<Option<Tried>> = vec![None; widths.len()];
        let mut failed = None;
        let mut next = starts.to_vec();
        loop {
            for &at in &next {
                if tried[at].is_none() {
                    let kernel = Kernel { shape, gamma: widths[at] };
                    tried[at] = Some(self.try_one(kernel, shared.as_ref(), bases, &mut failed, monitor)?);
                }
            }
            let done = tried.iter().enumerate().filter_map(|(at, tried)| tried.map(|tried| (at, tried)));
            match done.reduce(|a, b| if b.1.error < a.1.error { b } else { a }) {
                Some((at, one)) if one.error.is_finite() => {
                    next = (at.saturating_sub(1)..widths.len().min(at + 2)).collect();
                    if next.iter().all(|&at| tried[at].is_some()) {
                        return Ok((at, one));
                    }
                }
                _ => {
                    let all = self.widths_tried(shape, widths, size, monitor)?;
                    return best_place(&all)
                        .ok_or_else(|| Error::Numerical("no width makes a kernel".into()));
                }
            }
        }
    }

    /// A width at which the kernel overflows or is not positive semi-definite is no candidate.
    fn try_one(
        self,
        kernel: Kernel,
        shared: Option<&Widths>,
        bases: Bases,
        failed: &mut Option<Error>,
        monitor: &Monitor,
    ) -> Result<Tried> {
        match self.try_width(kernel, shared, bases, monitor) {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                *failed = Some(error);
                let (error, gamma) = (f64::INFINITY, kernel.gamma);
                Ok(Tried { gamma, error, missed: 1.0, penalty: 1.0, absolute: 1.0, size: 0 })
            }
            tried => tried,
        }
    }

    fn try_width(
        self,
        kernel: Kernel,
        shared: Option<&Widths>,
        bases: Bases,
        monitor: &Monitor,
    ) -> Result<Tried> {
        monitor.check()?;
        let Some(shared) = shared else {
            return self.try_kernel(&Gram::new(kernel, self.rows)?, kernel.gamma, bases, monitor);
        };
        let values = Rows::dense(shared.values(kernel.gamma)?, self.rows.n(), self.rows.n())?;
        self.try_kernel(&Gram::new(Kernel::precomputed(), &values)?, kernel.gamma, bases, monitor)
    }

    fn try_kernel(self, gram: &Gram, gamma: f64, bases: Bases, monitor: &Monitor) -> Result<Tried> {
        // Its pivots are no steps of the work that it is a part of.
        let part = monitor.part();
        let n = gram.n();
        let mut factor = Pivoted::new(gram, bases.size.min(n), FactorStorage::Returned, &part)?;
        if let Some(settings) = bases.ended_by {
            settings
                .grow_factor(&mut factor, None, || Ok(variance(gram, &gram.diagonal(), settings.seed)))?;
        } else if bases.size < n {
            rpcholesky::grow(&mut factor, 0)?;
        } else {
            kobl::grow(&mut factor, &StopRule::Threshold(Threshold::Constant(0.0)))?;
        }
        let size = factor.pivots.len();
        let features = factor.into_features().map_or_else(|| Rows::dense(Vec::new(), n, size), Ok)?;
        best_penalty(&features, self.labels, self.weights, monitor).map(|found| Tried { gamma, ..found })
    }
}

/// All distances, where the rows are few and long: then a width costs n² exponentials, and not n·m products of p numbers.
fn shared<'a>(shape: Shape, widths: &[f64], rows: &'a Rows, monitor: &Monitor) -> Result<Option<Widths<'a>>> {
    if !shape.is_stationary() || widths.len() < 2 || rows.n() > SHARED_ROWS || rows.p() < SHARED_COLUMNS {
        return Ok(None);
    }
    monitor.check()?;
    Widths::new(shape, widths[0], rows).map(Some)
}

/// The penalty among 10^{−8, −7.5, …, 4} × the mean eigenvalue with the smallest leave-one-out error on such features; where they are
/// many, the next such minimum.
pub(crate) fn best_penalty(
    features: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    monitor: &Monitor,
) -> Result<Tried> {
    // All rows decide, so that errors of many features can be held against those of few.
    penalty_near(features, labels, weights, None, features.n(), monitor)
}

/// [`best_penalty`] where, if features are many, so many rows decide, beginning with this penalty; the error is that of all rows.
pub(crate) fn penalty_near(
    features: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    near: Option<f64>,
    compared: usize,
    monitor: &Monitor,
) -> Result<Tried> {
    let sketch = sketched(labels, weights);
    let y = sketch.as_ref().map_or_else(|| labels.centered_by(weights).0, Clone::clone);
    let y = MatRef::from_row_major_slice(&y, features.n(), y.len() / features.n().max(1));
    if features.p() > DECOMPOSED
        && let Some(ridge) = RidgeNear::new(features, y, weights, near, compared, monitor)?
    {
        let all: Vec<usize> = (0..features.n()).collect();
        let predicted = ridge.left_out(features, y, weights, &all, monitor)?;
        let missed =
            if sketch.is_some() { 0.0 } else { missed_about_means(predicted.left_out, labels, weights) };
        return Ok(ridge.tried(predicted.error, missed));
    }
    let ridge = Ridge::new(features, y, weights, monitor)?;
    let penalties = ridge.penalties();
    let found = match sketch {
        None => ridge.left_out(features, y, labels, &penalties, monitor)?,
        Some(_) => ridge.errors(features, y, &penalties, monitor)?.into_iter().map(|e| (e, 0.0)).collect(),
    };
    Ok(best_of(&ridge, &penalties, &found))
}

/// The penalty of [`best_penalty`] alone, where some rows decide if features are many.
pub(crate) fn penalty_alone(
    features: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    monitor: &Monitor,
) -> Result<f64> {
    if features.p() > DECOMPOSED {
        let y = label_columns(labels, weights);
        let y = MatRef::from_row_major_slice(&y, features.n(), y.len() / features.n().max(1));
        if let Some(ridge) = RidgeNear::new(features, y, weights, None, COMPARED, monitor)? {
            return Ok(ridge.absolute);
        }
    }
    best_penalty(features, labels, weights, monitor).map(|found| found.absolute)
}

/// The share of rows that scores about the labels' means miss; 0 for numbers.
fn missed_about_means(mut scores: Mat<f64>, labels: &Labels, weights: Option<&Weights>) -> f64 {
    if !matches!(labels, Labels::Classes { .. }) {
        return 0.0;
    }
    for (column, mean) in scores.col_iter_mut().zip(labels.target_means(weights)) {
        column.iter_mut().for_each(|v| *v += mean);
    }
    missed(&scores, labels, weights)
}

/// What is predicted, row-major and centred: a column a class, or random signs where classes are many.
pub(crate) fn label_columns(labels: &Labels, weights: Option<&Weights>) -> Vec<f64> {
    sketched(labels, weights).unwrap_or_else(|| labels.centered_by(weights).0)
}

/// Where classes are many, random signs of each in place of its column, row-major and centred: squared errors of fits to them
/// are, on average, those of fits to all columns.
fn sketched(labels: &Labels, weights: Option<&Weights>) -> Option<Vec<f64>> {
    let Labels::Classes { codes, names } = labels else { return None };
    let c = names.len();
    if c <= MOST_TARGETS {
        return None;
    }
    let mut generator = random::generator(0);
    let size = 1.0 / (c as f64).sqrt();
    let mut sign = || if random::uniform(&mut generator) < 0.5 { size } else { -size };
    let signs: Vec<f64> = (0..c * MOST_TARGETS).map(|_| sign()).collect();
    let of = |code: usize| &signs[code * MOST_TARGETS..(code + 1) * MOST_TARGETS];
    let (mut means, all) = (vec![0.0; MOST_TARGETS], total(weights, codes.len()));
    for (i, &code) in codes.iter().enumerate() {
        let share = weight(weights, i) / all;
        means.iter_mut().zip(of(code)).for_each(|(mean, v)| *mean += share * v);
    }
    Some(codes.iter().flat_map(|&code| of(code).iter().zip(&means).map(|(v, mean)| v - mean)).collect())
}

/// The penalty with the smallest squared error, of those with their errors and shares of rows missed.
pub(crate) fn best_of(ridge: &Ridge, penalties: &[f64], found: &[(f64, f64)]) -> Tried {
    let mut best = Tried {
        gamma: 1.0,
        error: f64::INFINITY,
        missed: 1.0,
        penalty: 1.0,
        absolute: 1.0,
        size: ridge.values.len(),
    };
    for (&penalty, &(error, missed)) in penalties.iter().zip(found) {
        if error < best.error {
            best = Tried { error, missed, penalty: penalty / ridge.mean_value(), absolute: penalty, ..best };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_signs_of_many_classes_find_the_penalty_of_a_column_each() {
        let (n, c, m) = (900, 150, 20);
        let wave = |at: usize| ((at * at) as f64 * 0.37).sin();
        let values =
            (0..n * m).map(|at| wave(at / m % c * m + at % m) + 0.5 * wave(at + 7)).collect::<Vec<_>>();
        let features = Rows::dense(values, n, m).expect("rows");
        let labels = Labels::classes(&(0..n).map(|i| (i % c).to_string()).collect::<Vec<_>>());
        let monitor = Monitor::default();
        let found = best_penalty(&features, &labels, None, &monitor).expect("found");
        let (y, c, _) = labels.centered();
        let y = MatRef::from_row_major_slice(&y, n, c);
        let ridge = Ridge::new(&features, y, None, &monitor).expect("ridge");
        let penalties = ridge.penalties();
        let errors = ridge.errors(&features, y, &penalties, &monitor).expect("errors");
        let errors: Vec<(f64, f64)> = errors.into_iter().map(|error| (error, 0.0)).collect();
        let expected = best_of(&ridge, &penalties, &errors);
        assert!((found.error / expected.error - 1.0).abs() < 0.1, "{found:?} {expected:?}");
        assert!((found.penalty / expected.penalty).log10().abs() < 1.1, "{found:?} {expected:?}");
    }

    #[test]
    fn from_widths_near_the_best_the_neighbours_lead_to_it() {
        let table = crate::data::synth::generate("ringnorm?n=150&seed=4").expect("rows");
        let labels = Labels::decide(table.target.expect("classes"), crate::data::labels::Task::Auto);
        let labels = labels.expect("labels");
        let looked = Looked { rows: &table.rows, labels: &labels, weights: None };
        let widths = crate::kernel::gamma::grid(Shape::Rbf, &table.rows).expect("widths");
        let monitor = Monitor::default();
        let all = looked.widths_tried(Shape::Rbf, &widths, 100, &monitor).expect("errors");
        let expected = best_place(&all).expect("a best one");
        assert_eq!(expected.0, 4);
        for start in 2..widths.len() + 2 {
            let found = looked.best_near(start, Shape::Rbf, &widths, 100, &monitor).expect("errors");
            assert_eq!(found, expected, "from {start}");
        }
        // The widest have a minimum of their own.
        assert_eq!(looked.best_near(0, Shape::Rbf, &widths, 100, &monitor).expect("errors"), (0, all[0]));
        // Where it begins no width makes a kernel: all are tried.
        let broken = [f64::NAN, f64::NAN, f64::NAN, widths[4]];
        let found = looked.best_near(0, Shape::Rbf, &broken, 100, &monitor).expect("errors");
        assert_eq!(found.0, 3);
        assert!(looked.best_near(0, Shape::Rbf, &broken[..2], 100, &monitor).is_err());
    }
}
