//! Ridge at the penalties near one to begin with, such as that of a smaller basis, for features so many that a decomposition for
//! all penalties ([`ridge`](super::ridge)) costs more than they do.
//!
//!   L Lᵀ = S + λ,   h_ii = ‖L⁻¹z_i‖²
//!
//! From there the left-out error of some rows is followed downhill, by the same half decades as in `ridge`; at its least, all rows can
//! be left out.
//!
//! cost    m³/3 + k·m² flops a penalty, usually three, for the k rows that are compared, and 2·n·m² in all
//! source  Allen 1974 (PRESS)
//! differs of several minima of the error it may not be the lowest

use faer::{Mat, MatRef};

use super::loo::Tried;
use super::ridge::{HIGHEST, LOWEST, Sums, USUAL, centered, downhill, half_decades};
use crate::data::rows::Rows;
use crate::data::weights::{Weights, total, weight};
use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::linalg::{Cholesky, in_order, product};
use crate::monitor::Monitor;
use crate::random;

/// Up to so many features a decomposition of their scatter for all penalties is as fast.
pub(super) const DECOMPOSED: usize = 500;

/// Rows by whose left-out errors penalties are compared where they are compared for one set of features. Rows that count
/// differently are all compared: a few may count for most.
pub(crate) const COMPARED: usize = 1_000;

/// Ridge at one penalty.
pub(super) struct RidgeNear {
    /// Of the features.
    pub(super) means: Vec<f64>,
    /// The penalty itself, and as a multiple of the features' mean eigenvalue.
    pub(super) absolute: f64,
    pub(super) penalty: f64,
    best: Attempt,
    /// Whether all rows were left out.
    is_complete: bool,
    /// What all rows count.
    total: f64,
}

/// What is predicted for rows that were left out.
#[derive(Clone)]
pub(super) struct Predicted {
    /// n×c, less the labels' mean.
    pub(super) left_out: Mat<f64>,
    /// Their mean squared error.
    pub(super) error: f64,
}

impl RidgeNear {
    /// From rows (n×m) and labels (n×c) with mean 0, by what each row counts, a penalty to begin with, and the number of rows that
    /// decide; None where it cannot be solved for there.
    pub(super) fn new(
        rows: &Rows,
        y: MatRef<'_, f64>,
        weights: Option<&Weights>,
        near: Option<f64>,
        compared: usize,
        monitor: &Monitor,
    ) -> Result<Option<Self>> {
        let (n, m) = (rows.n(), rows.p());
        let sums = Sums::new(rows, y, weights, monitor)?;
        let mean_value = (0..m).map(|d| sums.scatter[(d, d)]).sum::<f64>() / m.max(1) as f64;
        // Inverses of the smallest penalty must be numbers.
        if !(mean_value > 1e-280 && mean_value.is_finite() && near.is_none_or(|near| near > 0.0)) {
            return Ok(None);
        }
        let start = near.map_or(USUAL, |near| (2.0 * (near / mean_value).log10()).round() as i32);
        let chosen = random::sample(n, if weights.is_some() { n } else { compared }, 0);
        let few = rows.select(&chosen);
        let few_y = Mat::from_fn(chosen.len(), y.ncols(), |i, j| y[(chosen[i], j)]);
        let few_weights = weights.map(|weights| weights.select(&chosen));
        let total = total(weights, n);
        let some =
            LeftOut { y: few_y.as_ref(), weights: few_weights.as_ref(), total, means: &sums.means, monitor };
        let attempt = |step: i32| -> Result<Option<Attempt>> {
            let penalty = mean_value * half_decades(step);
            let Some(solved) = Solved::new(&sums, penalty, monitor)? else { return Ok(None) };
            let predicted = some.of(&few, &solved)?;
            Ok(Some(Attempt { step, solved, predicted }))
        };
        let error = |attempt: &Attempt| attempt.predicted.error;
        let best = downhill(start.clamp(LOWEST, HIGHEST), LOWEST..=HIGHEST, error, attempt)?;
        let Some(best) = best else { return Ok(None) };
        let penalty = half_decades(best.step);
        let (absolute, is_complete) = (mean_value * penalty, chosen.len() == n);
        Ok(Some(Self { means: sums.means, absolute, penalty, best, is_complete, total }))
    }

    /// Weights of the features, m×c.
    pub(super) fn slopes(&self) -> &Mat<f64> {
        &self.best.solved.slopes
    }

    /// The penalty, and how rows fared that were left out.
    pub(super) fn tried(&self, error: f64, missed: f64) -> Tried {
        let Self { penalty, absolute, .. } = *self;
        Tried { gamma: 1.0, error, missed, penalty, absolute, size: self.means.len() }
    }

    /// What is predicted for these rows from all others; rows and labels are those it was made from.
    pub(super) fn left_out(
        &self,
        rows: &Rows,
        y: MatRef<'_, f64>,
        weights: Option<&Weights>,
        asked: &[usize],
        monitor: &Monitor,
    ) -> Result<Predicted> {
        if self.is_complete && asked.len() == rows.n() {
            return Ok(self.best.predicted.clone());
        }
        let y = Mat::from_fn(asked.len(), y.ncols(), |at, j| y[(asked[at], j)]);
        let weights = weights.map(|weights| weights.select(asked));
        let (y, weights) = (y.as_ref(), weights.as_ref());
        LeftOut { y, weights, total: self.total, means: &self.means, monitor }
            .of(&rows.select(asked), &self.best.solved)
    }
}

/// One penalty, and how some rows fared.
struct Attempt {
    /// In half decades of the features' mean eigenvalue.
    step: i32,
    solved: Solved,
    predicted: Predicted,
}

/// The solution at one penalty.
struct Solved {
    /// L.
    factor: Cholesky,
    /// m×c.
    slopes: Mat<f64>,
}

impl Solved {
    /// None where the penalty is too small for the precision.
    fn new(sums: &Sums, penalty: f64, monitor: &Monitor) -> Result<Option<Self>> {
        let mut penalised = sums.scatter.clone();
        (0..penalised.nrows()).for_each(|d| penalised[(d, d)] += penalty);
        let Some(factor) = Cholesky::watched(penalised, monitor)? else { return Ok(None) };
        let mut slopes = sums.across.clone();
        factor.solve(&mut slopes);
        Ok(Some(Self { factor, slopes }))
    }
}

/// Rows that are left out, one at a time, of those that were added up.
#[derive(Clone, Copy)]
struct LeftOut<'a> {
    /// Their labels.
    y: MatRef<'a, f64>,
    /// What each counts.
    weights: Option<&'a Weights>,
    /// What all rows that were added up count.
    total: f64,
    means: &'a [f64],
    monitor: &'a Monitor,
}

impl LeftOut<'_> {
    /// What is predicted for each from all others.
    fn of(&self, rows: &Rows, solved: &Solved) -> Result<Predicted> {
        const HEIGHT: usize = 2 * PANEL;
        let (n, c) = self.y.shape();
        let part = |at: usize| {
            let start = at * HEIGHT;
            let mut z = centered(rows, start, HEIGHT, self.means);
            let fitted = product(z.as_ref(), solved.slopes.as_ref());
            solved.factor.forward(z.transpose_mut());
            let mut own = vec![0.0; z.nrows()];
            for column in z.col_iter() {
                own.iter_mut().zip(column.iter()).for_each(|(own, v)| *own += v * v);
            }
            let left = |i: usize| {
                let count = weight(self.weights, start + i);
                // 1/n is the intercept's part.
                (1.0 - count * own[i] - count / self.total).max(1e-10)
            };
            let out = Mat::from_fn(z.nrows(), c, |i, j| {
                let target = self.y[(start + i, j)];
                target - (target - fitted[(i, j)]) / left(i)
            });
            (start, out)
        };
        let mut all = Mat::zeros(n, c);
        in_order(n.div_ceil(HEIGHT), 8 * HEIGHT * c, self.monitor, part, |(start, part)| {
            all.as_mut().subrows_mut(start, part.nrows()).copy_from(&part);
            Ok(())
        })?;
        let error = self.error(&all);
        Ok(Predicted { left_out: all, error })
    }

    /// Mean squared error of such predictions.
    fn error(&self, left_out: &Mat<f64>) -> f64 {
        let (n, c) = self.y.shape();
        let off = |i: usize, j: usize| (self.y[(i, j)] - left_out[(i, j)]).powi(2);
        let of_row = |i: usize| weight(self.weights, i) * (0..c).map(|j| off(i, j)).sum::<f64>();
        (0..n).map(of_row).sum::<f64>() / (total(self.weights, n) * c as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::loo::best_of;
    use crate::basis::ridge::Ridge;
    use crate::data::labels::{Labels, Task};
    use crate::data::synth;

    #[test]
    fn from_any_penalty_it_finds_what_a_decomposition_finds() {
        for (source, weighted) in [
            ("friedman?n=60&seed=5", false),
            ("waveform?n=80&seed=2", false),
            ("friedman?n=1300&seed=1", true),
        ] {
            let table = synth::generate(source).expect("rows");
            let labels = Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels");
            let n = table.rows.n();
            let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
            let weights = weighted.then(|| Weights::new(weights).expect("weights"));
            let (y, c, _) = labels.centered_by(weights.as_ref());
            let (y, monitor) = (MatRef::from_row_major_slice(&y, n, c), Monitor::default());
            let ridge = Ridge::new(&table.rows, y, weights.as_ref(), &monitor).expect("ridge");
            let penalties = ridge.penalties();
            let errors = ridge.left_out(&table.rows, y, &labels, &penalties, &monitor).expect("errors");
            let expected = best_of(&ridge, &penalties, &errors);
            for near in [Some(1e-3), Some(1.0), Some(1e3), None] {
                let near = near.map(|factor| factor * expected.absolute);
                let found = RidgeNear::new(&table.rows, y, weights.as_ref(), near, COMPARED, &monitor);
                let found = found.expect("ridge").expect("a solution");
                let penalty = found.absolute;
                if n <= COMPARED || weighted {
                    assert!((penalty / expected.absolute - 1.0).abs() < 1e-9, "{source} from {near:?}");
                }
                let slopes = ridge.weights(penalty);
                assert!((found.slopes() - slopes).norm_max() < 1e-9, "{source} from {near:?}");
                let all: Vec<usize> = (0..n).collect();
                let predicted =
                    found.left_out(&table.rows, y, weights.as_ref(), &all, &monitor).expect("predictions");
                let some = found.left_out(&table.rows, y, weights.as_ref(), &[3, 7], &monitor);
                let some = some.expect("predictions").left_out;
                for (at, i) in [3, 7].into_iter().enumerate() {
                    assert!((some.row(at) - predicted.left_out.row(i)).norm_max() < 1e-12);
                }
                // Where some rows decide, it may be a penalty that is as good.
                assert!(predicted.error < (1.0 + 1e-3) * expected.error, "{source} from {near:?}");
                let left_out =
                    ridge.left_out_predictions(&table.rows, y, penalty, &monitor).expect("predictions");
                assert!((&predicted.left_out - &left_out).norm_max() < 1e-9, "{source} from {near:?}");
            }
        }
    }

    #[test]
    fn rows_that_are_all_alike_have_no_solution() {
        let rows = Rows::dense(vec![2.0; 30], 10, 3).expect("rows");
        let y = Mat::from_fn(10, 1, |i, _| i as f64 - 4.5);
        let found =
            RidgeNear::new(&rows, y.as_ref(), None, None, COMPARED, &Monitor::default()).expect("ridge");
        assert!(found.is_none());
    }
}
