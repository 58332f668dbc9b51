//! Ridge in the kernel's own space, with all rows as landmarks: what ridge on as many coordinates as rows predicts, in a fraction of
//! the flops, because no coordinates are computed.
//!
//!   M α + b = y,  Σ α_i = 0,  M = K + λW⁻¹        f(x) = Σ α_i k(x, x_i) + b
//!   left out: y_i − α_i/G_ii,  G = M⁻¹ − M⁻¹11ᵀM⁻¹/(1ᵀM⁻¹1)
//!
//! W holds what each row counts. The penalty λ is followed downhill by half decades, as in `ridge_near`, on at most 1000 rows:
//! it is that of the noise, which does not grow with the rows.
//!
//! cost    n²/2 kernel values and n³/3 flops, k³/3 more for k rows left out, which come last in the factor; memory n² numbers
//! source  Saunders, Gammerman & Vovk 1998 (kernel ridge); Cawley 2006 (rows left out, with an intercept)
//! differs of several minima of the error it may not be the lowest

use faer::Mat;

use super::expansion::{Expansion, Landmarks};
use super::ridge::{LOWEST, downhill, half_decades};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, weight};
use crate::error::Result;
use crate::kernel::{Gram, Kernel};
use crate::linalg::Cholesky;
use crate::linalg::large::copied;
use crate::monitor::Monitor;
use crate::random;

/// Rows by which penalties are compared.
const COMPARED: usize = 1_000;

/// Half decades about the first penalty within which the best one is sought.
const STEPS: i32 = 12;

/// Rows, their labels and what each counts, for one kernel.
#[derive(Clone, Copy)]
pub(crate) struct KernelRidge<'a> {
    pub(crate) kernel: Kernel,
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) labels: &'a Labels,
    pub(crate) weights: Option<&'a Weights>,
    pub(crate) monitor: &'a Monitor,
}

/// What is predicted with one penalty.
pub(crate) struct Solution {
    /// Rows to outputs, in the unit of the labels.
    pub(crate) expansion: Expansion,
    /// What is predicted for the rows asked for from all others, in the unit of the labels.
    pub(crate) left_out: Mat<f64>,
    /// Their mean squared error, in the unit that all ridge here has: `Labels::centered_by`.
    pub(crate) error: f64,
    pub(crate) penalty: f64,
}

/// α, b and what belongs to them, for labels about their mean.
struct Solved {
    factor: Cholesky,
    /// n×c.
    alpha: Mat<f64>,
    /// c numbers.
    intercept: Vec<f64>,
    /// M⁻¹1.
    ones: Vec<f64>,
}

/// Bytes that are needed for n rows: the values, and as much again for what is computed from them.
pub(crate) fn bytes_for(n: usize) -> u64 {
    16 * (n as u64).saturating_mul(n as u64)
}

impl KernelRidge<'_> {
    /// Ridge with the best penalty near this one, and what is predicted for these rows from all others; None where it cannot be
    /// solved.
    pub(crate) fn near(&self, penalty: f64, asked: &[usize]) -> Result<Option<Solution>> {
        self.leaving_out(self.best_penalty(penalty)?, asked)
    }

    /// Ridge with this penalty, and what is predicted for these rows from all others; None where it cannot be solved.
    pub(crate) fn leaving_out(&self, penalty: f64, asked: &[usize]) -> Result<Option<Solution>> {
        // Those rows last, for which the inverse is needed.
        let mut is_asked = vec![false; self.rows.n()];
        asked.iter().for_each(|&i| is_asked[i] = true);
        let order: Vec<usize> =
            (0..is_asked.len()).filter(|&i| !is_asked[i]).chain(asked.iter().copied()).collect();
        let weights = self.weights.map(|weights| weights.select(&order));
        let (rows, labels) = (self.rows.select(&order), self.labels.select(&order));
        let ordered = KernelRidge { rows: &rows, labels: &labels, weights: weights.as_ref(), ..*self };
        let Some(solved) = ordered.solved(ordered.values()?, penalty)? else { return Ok(None) };
        let mut found = ordered.solution(&solved, asked.len(), penalty)?;
        let mut alpha = Mat::zeros(order.len(), solved.alpha.ncols());
        order.iter().enumerate().for_each(|(at, &i)| alpha.row_mut(i).copy_from(solved.alpha.row(at)));
        found.expansion = self.expansion(&Solved { alpha, ..solved });
        Ok(Some(found))
    }

    /// Ridge with the best penalty near this one; None where it cannot be solved.
    pub(crate) fn fit_near(&self, penalty: f64) -> Result<Option<Expansion>> {
        self.at(self.best_penalty(penalty)?)
    }

    /// Ridge with this penalty; None where it cannot be solved.
    pub(crate) fn at(&self, penalty: f64) -> Result<Option<Expansion>> {
        Ok(self.solved(self.values()?, penalty)?.map(|solved| self.expansion(&solved)))
    }

    /// The best penalty near this one, by some of many rows; this one where none can be solved.
    pub(crate) fn best_penalty(&self, penalty: f64) -> Result<f64> {
        let n = self.rows.n();
        if n <= COMPARED {
            return Ok(self.best_near(penalty)?.map_or(penalty, |found| found.penalty));
        }
        let chosen = random::sample(n, COMPARED, 0);
        let weights = self.weights.map(|weights| weights.select(&chosen));
        let (rows, labels) = (self.rows.select(&chosen), self.labels.select(&chosen));
        let few = KernelRidge { rows: &rows, labels: &labels, weights: weights.as_ref(), ..*self };
        Ok(few.best_near(penalty)?.map_or(penalty, |found| found.penalty))
    }

    /// Downhill from this penalty by the left-out error of all rows, as far as the least penalty that `ridge` tries with as many
    /// features as rows: below it rows determine their own fits, and the error says nothing.
    fn best_near(&self, penalty: f64) -> Result<Option<Solution>> {
        let values = self.values()?;
        let n = values.nrows();
        let least = half_decades(LOWEST) * (0..n).map(|i| values[(i, i)]).sum::<f64>() / n as f64;
        let penalty = penalty.max(least);
        let lowest = (2.0 * (least / penalty).log10()).ceil() as i32;
        let attempt = |step: i32| -> Result<Option<Solution>> {
            let penalty = penalty * half_decades(step);
            let solved = self.solved(copied(values.as_ref()), penalty)?;
            solved.map(|solved| self.solution(&solved, self.rows.n(), penalty)).transpose()
        };
        downhill(0, lowest.max(-STEPS)..=STEPS, |found| found.error, attempt)
    }

    /// K, of which the lower half is there.
    fn values(&self) -> Result<Mat<f64>> {
        Gram::new(self.kernel, self.rows)?.lower_half(self.monitor)
    }

    /// The values become the factor.
    fn solved(&self, mut values: Mat<f64>, penalty: f64) -> Result<Option<Solved>> {
        let n = values.nrows();
        (0..n).for_each(|i| values[(i, i)] += penalty / weight(self.weights, i));
        let Some(factor) = Cholesky::watched(values, self.monitor)? else { return Ok(None) };
        let (y, c, _) = self.labels.centered_by(self.weights);
        let mut solution = Mat::from_fn(n, c + 1, |i, j| if j < c { y[i * c + j] } else { 1.0 });
        factor.solve(&mut solution);
        let ones: Vec<f64> = solution.col(c).iter().copied().collect();
        let all: f64 = ones.iter().sum();
        let intercept: Vec<f64> = (0..c).map(|j| solution.col(j).sum() / all).collect();
        let alpha = Mat::from_fn(n, c, |i, j| solution[(i, j)] - ones[i] * intercept[j]);
        let is_solved = all > 0.0 && alpha.norm_max().is_finite();
        Ok(is_solved.then_some(Solved { factor, alpha, intercept, ones }))
    }

    fn expansion(&self, solved: &Solved) -> Expansion {
        let (units, means) =
            (self.labels.centered_by(self.weights).2, self.labels.target_means(self.weights));
        let all: Vec<usize> = (0..self.rows.n()).collect();
        Expansion {
            kernel: self.kernel,
            landmarks: Landmarks::Rows(self.rows.select(&all)),
            matrix: Mat::from_fn(units.len(), all.len(), |j, i| units[j] * solved.alpha[(i, j)]),
            offset: (0..units.len()).map(|j| -(units[j] * solved.intercept[j] + means[j])).collect(),
            origin: None,
        }
    }

    /// With the last `count` rows left out.
    fn solution(&self, solved: &Solved, count: usize, penalty: f64) -> Result<Solution> {
        let c = solved.alpha.ncols();
        let first = self.rows.n() - count;
        let inverse = solved.factor.inverse_diagonal(count, self.monitor)?;
        let all: f64 = solved.ones.iter().sum();
        let own = |at: usize| {
            // A row that determines its own fit counts as if 1e−10 of it were left, as in `ridge`.
            let least = 1e-10 * weight(self.weights, first + at) / penalty;
            (inverse[at] - solved.ones[first + at].powi(2) / all).max(least)
        };
        let off = Mat::from_fn(count, c, |at, j| solved.alpha[(first + at, j)] / own(at));
        let of_row =
            |at: usize| weight(self.weights, first + at) * (0..c).map(|j| off[(at, j)].powi(2)).sum::<f64>();
        let counted: f64 = (first..first + count).map(|i| weight(self.weights, i)).sum();
        let error = (0..count).map(of_row).sum::<f64>() / (counted * c as f64);
        let units = self.labels.centered_by(self.weights).2;
        let left_out =
            Mat::from_fn(count, c, |at, j| self.labels.target(first + at, j) - units[j] * off[(at, j)]);
        Ok(Solution { expansion: self.expansion(solved), left_out, error, penalty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::predict::ridge_on;
    use crate::basis::{Basis, Threshold};
    use crate::data::labels::Task;
    use crate::data::synth;
    use crate::options::Options;

    /// Ridge on the coordinates of all rows, whose penalty is the best of all decades.
    #[test]
    fn it_predicts_what_ridge_on_all_coordinates_predicts() {
        for (source, gamma, weighted) in [
            ("friedman?n=90&seed=5", 0.3, false),
            ("waveform?n=120&seed=2", 0.01, false),
            ("moons?n=70&noise=0.3&seed=1", 0.3, true),
        ] {
            let table = synth::generate(source).expect("rows");
            let labels = Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels");
            let (rows, n) = (table.rows, labels.len());
            let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
            let weights = weighted.then(|| Weights::new(weights).expect("weights"));
            let (kernel, monitor) = (Kernel::rbf(gamma), Monitor::default());
            let options = Options::default().with_coordinates();
            let settings = Basis::kobl(kernel).threshold(Threshold::Constant(0.0));
            let (basis, z) = settings.fit_with(&rows, None, &options).expect("a basis");
            let z = z.expect("coordinates");
            let expected =
                ridge_on(&basis.expansion, &z, &labels, weights.as_ref(), None, &monitor).expect("ridge");
            let ridge = KernelRidge {
                kernel,
                rows: &rows,
                labels: &labels,
                weights: weights.as_ref(),
                monitor: &monitor,
            };
            // From farther away it may end in another minimum.
            for factor in [0.1, 1.0, 10.0] {
                let all: Vec<usize> = (0..n).collect();
                let found =
                    ridge.near(factor * expected.tried.absolute, &all).expect("ridge").expect("a solution");
                assert!(
                    (found.penalty / expected.tried.absolute - 1.0).abs() < 1e-9,
                    "{source} from {factor}"
                );
                assert!((found.error / expected.tried.error - 1.0).abs() < 1e-5, "{source} from {factor}");
                assert!((&found.left_out - &expected.left_out).norm_max() < 1e-4, "{source} from {factor}");
                let of = |expansion: &Expansion| expansion.transform(&rows).expect("predictions");
                assert!((of(&found.expansion) - of(&expected.expansion)).norm_max() < 1e-5, "{source}");
                let again = ridge.at(found.penalty).expect("ridge").expect("a solution");
                assert_eq!(of(&again), of(&found.expansion));
                let some: Vec<usize> = (0..n).filter(|i| i % 3 == 1).collect();
                let part = ridge.near(found.penalty, &some).expect("ridge").expect("a solution");
                assert!((of(&part.expansion) - of(&again)).norm_max() < 1e-9, "{source}");
                for (at, &i) in some.iter().enumerate() {
                    let apart = part.left_out.row(at) - found.left_out.row(i);
                    assert!(apart.norm_max() < 1e-7, "{source}, row {i}");
                }
                let fitted = ridge.fit_near(found.penalty).expect("ridge").expect("a solution");
                assert_eq!(of(&fitted), of(&again));
            }
        }
    }

    #[test]
    fn what_is_left_out_is_predicted_by_the_other_rows() {
        let table = synth::generate("friedman?n=40&seed=3").expect("rows");
        let labels = Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels");
        let weights = Weights::new((0..40).map(|i| 1.0 + f64::from(i % 4)).collect()).expect("weights");
        let (kernel, monitor, penalty) = (Kernel::rbf(0.5), Monitor::default(), 0.1);
        let fit = |rows: &Rows, labels: &Labels, weights: &Weights| {
            KernelRidge { kernel, rows, labels, weights: Some(weights), monitor: &monitor }.at(penalty)
        };
        let ridge = KernelRidge {
            kernel,
            rows: &table.rows,
            labels: &labels,
            weights: Some(&weights),
            monitor: &monitor,
        };
        let solved =
            ridge.solved(ridge.values().expect("values"), penalty).expect("ridge").expect("a solution");
        let found = ridge.solution(&solved, 40, penalty).expect("a solution").left_out;
        for i in 0..40 {
            let others: Vec<usize> = (0..40).filter(|&j| j != i).collect();
            let of_others = (table.rows.select(&others), labels.select(&others), weights.select(&others));
            let expansion =
                fit(&of_others.0, &of_others.1, &of_others.2).expect("ridge").expect("a solution");
            let expected = expansion.transform(&table.rows.select(&[i])).expect("a prediction");
            assert!(
                (found[(i, 0)] - expected[(0, 0)]).abs() < 1e-9 * expected[(0, 0)].abs().max(1.0),
                "row {i}"
            );
        }
    }

    /// Where all rows are far from each other nothing is known of a row that is left out, whatever the penalty to begin with.
    #[test]
    fn rows_that_determine_their_own_fits_are_not_said_to_be_predicted() {
        let table = synth::generate("friedman?n=60&seed=2").expect("rows");
        let labels = Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels");
        let monitor = Monitor::default();
        let kernel = Kernel::rbf(1e6);
        let ridge =
            KernelRidge { kernel, rows: &table.rows, labels: &labels, weights: None, monitor: &monitor };
        let all: Vec<usize> = (0..60).collect();
        // Of the mean of the others.
        let y = labels.centered_by(None).0;
        let of_means = (60.0f64 / 59.0).powi(2) * y.iter().map(|y| y * y).sum::<f64>() / 60.0;
        for penalty in [1e-30, 1e-12, 1e-6, 1.0] {
            let found = ridge.near(penalty, &all).expect("ridge").expect("a solution");
            assert!((found.error / of_means - 1.0).abs() < 1e-6, "{} from {penalty}", found.error);
        }
    }
}
