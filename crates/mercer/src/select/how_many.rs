//! How many of the best columns to keep: the fewest with which ridge predicts rows that are held out as well as it can.
//!
//! The selector scores the columns again without each fifth of the rows, so that a row has no say in the order of the columns with
//! which it is predicted. With columns in that order the factor of each leading part of S + λ = L Lᵀ is a leading part of L, and one
//! factor predicts with all numbers of columns:
//!
//!   W = L⁻¹zᵀ, V = L⁻¹Zᵀy:  ŷ of k columns = Σ_{j ≤ k} W_j V_j
//!
//! The penalty λ is followed downhill by the smallest error of any number. The fewest columns are kept whose error is within a standard
//! error, over the folds, of that; nearly all are all.
//!
//! cost    five times the selector's on at most 1600 rows, and five times n·m² + m³/3 flops a penalty, usually four, for at most 1000 columns
//! source  Breiman et al. 1984 (the rule of one standard error)

use faer::{Mat, MatRef};

use super::folded::groups;
use super::{Columns, Scores, Selector};
use crate::basis::loo::label_columns;
use crate::basis::ridge::{HIGHEST, LOWEST, Sums, USUAL, centered, downhill, half_decades};
use crate::data::rows::Rows;
use crate::data::weights::{Weights, total, weight};
use crate::error::Result;
use crate::kernel::Shape;
use crate::kernel::block::PANEL;
use crate::linalg::Cholesky;
use crate::random;

/// Rows that are looked at, and columns that are counted one by one.
pub(crate) const MOST_ROWS: usize = 2_000;
const MOST_COLUMNS: usize = 1_000;

const FOLDS: usize = 5;

/// Leaving out a smaller share buys nothing, and where rows are nearly orthogonal it harms: a row without the coordinate that is its
/// own is short, and so everybody's nearest.
const WORTH_LEAVING_OUT: f64 = 0.05;

/// A part of the rows, predicted by the others.
struct Fold {
    /// Of the others, with their columns in the order of their places there.
    sums: Sums,
    /// The part's rows and labels, less the others' means.
    rows: Mat<f64>,
    y: Mat<f64>,
    weights: Option<Weights>,
}

impl Selector {
    /// How many of the best of these columns to keep: all where nearly all are needed, or more than were tried, and where no fold can
    /// be predicted. None without labels.
    pub(crate) fn best_count(&self, columns: &Columns) -> Result<Option<usize>> {
        columns.rows.fetch()?;
        let Some(labels) = columns.labels else { return Ok(None) };
        let chosen = random::sample(columns.rows.n(), MOST_ROWS, 0);
        let labels = labels.select(&chosen);
        let y = label_columns(&labels, None);
        let y = MatRef::from_row_major_slice(&y, chosen.len(), y.len() / chosen.len().max(1));
        let folds = groups(&labels, FOLDS, 0);
        let mut found = Vec::with_capacity(FOLDS);
        for at in 0..FOLDS {
            columns.monitor.check()?;
            let others: Vec<usize> = (0..FOLDS)
                .filter(|&other| other != at)
                .flat_map(|other| folds[other].iter().copied())
                .collect();
            found.extend(self.fold(columns, &chosen, y, &others, &folds[at])?);
        }
        let tried = found.iter().map(Fold::columns).max().unwrap_or(0);
        let attempt = |step: i32| {
            let errors: Result<Vec<_>> = found.iter().map(|fold| fold.errors(step, columns)).collect();
            Ok(errors?.into_iter().collect::<Option<Vec<Vec<f64>>>>())
        };
        let least = |errors: &Vec<Vec<f64>>| means(errors, tried).into_iter().fold(f64::INFINITY, f64::min);
        let errors = downhill(USUAL, LOWEST..=HIGHEST, least, attempt)?;
        let count = errors.and_then(|errors| fewest(&errors, tried));
        let most = (1.0 - WORTH_LEAVING_OUT) * tried as f64;
        Ok(Some(count.filter(|&count| count as f64 <= most).unwrap_or(columns.rows.p())))
    }

    /// One fold, by what the selector says of the others; None where they have nothing to say.
    fn fold(
        &self,
        columns: &Columns,
        chosen: &[usize],
        y: MatRef<'_, f64>,
        others: &[usize],
        part: &[usize],
    ) -> Result<Option<Fold>> {
        let places = |some: &[usize]| -> Vec<usize> { some.iter().map(|&at| chosen[at]).collect() };
        let (seen, unseen) = (places(others), places(part));
        let labels = columns.labels.map(|labels| labels.select(&seen));
        if part.is_empty() || labels.as_ref().is_none_or(|labels| labels.require_two(self.name()).is_err()) {
            return Ok(None);
        }
        let weights = |some: &[usize]| columns.weights.map(|weights| weights.select(some));
        let (rows, seen_weights) = (columns.rows.select(&seen), weights(&seen));
        let space = columns.space.map(|(kernel, rows)| match kernel.shape {
            Shape::Precomputed => (kernel, in_order_of(&rows.select(&seen), &seen)),
            _ => (kernel, rows.select(&seen)),
        });
        let scores = self.score(&Columns {
            rows: &rows,
            labels: labels.as_ref(),
            space: space.as_ref().map(|(kernel, rows)| (*kernel, rows)),
            weights: seen_weights.as_ref(),
            ..*columns
        })?;
        let mut order = scores.chosen_best();
        order.truncate(MOST_COLUMNS);
        let (rows, test) = (in_order_of(&rows, &order), in_order_of(&columns.rows.select(&unseen), &order));
        let all = total(seen_weights.as_ref(), others.len());
        let mean = |j: usize| {
            let of = |(at, &i): (usize, &usize)| weight(seen_weights.as_ref(), at) * y[(i, j)];
            others.iter().enumerate().map(of).sum::<f64>() / all
        };
        let means: Vec<f64> = (0..y.ncols()).map(mean).collect();
        let less =
            |part: &[usize]| Mat::from_fn(part.len(), means.len(), |at, j| y[(part[at], j)] - means[j]);
        let sums = Sums::new(&rows, less(others).as_ref(), seen_weights.as_ref(), columns.monitor)?;
        let rows = centered(&test, 0, test.n(), &sums.means);
        Ok(Some(Fold { sums, rows, y: less(part), weights: weights(&unseen) }))
    }
}

impl Scores {
    /// The columns that the selector keeps, or all where it does not decide, the best first.
    fn chosen_best(&self) -> Vec<usize> {
        let mut best = self.best();
        best.retain(|&j| self.is_chosen(j));
        best
    }
}

impl Fold {
    fn columns(&self) -> usize {
        self.rows.ncols()
    }

    /// Squared error with no column, with the first, the first two, …, at one penalty, over that of the mean; None where that cannot
    /// be solved for.
    fn errors(&self, step: i32, columns: &Columns) -> Result<Option<Vec<f64>>> {
        let (n, m, c) = (self.rows.nrows(), self.columns(), self.y.ncols());
        let mut off = self.y.clone();
        let of_row = |off: &Mat<f64>, i: usize| {
            weight(self.weights.as_ref(), i) * (0..c).map(|j| off[(i, j)].powi(2)).sum::<f64>()
        };
        let spread: f64 = (0..n).map(|i| of_row(&off, i)).sum();
        let mut found = vec![0.0; m + 1];
        found[0] = spread;
        if m > 0 {
            let penalty =
                (0..m).map(|d| self.sums.scatter[(d, d)]).sum::<f64>() / m as f64 * half_decades(step);
            // Inverses of the penalty must be numbers.
            if !(penalty > 1e-290 && penalty.is_finite()) {
                return Ok(None);
            }
            let mut penalised = self.sums.scatter.clone();
            (0..m).for_each(|d| penalised[(d, d)] += penalty);
            let Some(factor) = Cholesky::watched(penalised, columns.monitor)? else { return Ok(None) };
            let mut toward = self.sums.across.clone();
            factor.forward(toward.as_mut());
            for start in (0..n).step_by(PANEL) {
                columns.monitor.check()?;
                let height = PANEL.min(n - start);
                let mut z = self.rows.subrows(start, height).to_owned();
                factor.forward(z.transpose_mut());
                for i in 0..height {
                    for k in 0..m {
                        let along = z[(i, k)];
                        (0..c).for_each(|j| off[(start + i, j)] -= along * toward[(k, j)]);
                        found[k + 1] += of_row(&off, start + i);
                    }
                }
            }
        }
        found.iter_mut().for_each(|error| *error /= if spread > 0.0 { spread } else { 1.0 });
        Ok(Some(found))
    }
}

/// The error of a fold with k columns, or with all of its own where it has fewer.
fn with(fold: &[f64], k: usize) -> f64 {
    fold[k.min(fold.len() - 1)]
}

/// The mean over folds with 0, 1, … columns.
fn means(errors: &[Vec<f64>], tried: usize) -> Vec<f64> {
    (0..=tried).map(|k| errors.iter().map(|fold| with(fold, k)).sum::<f64>() / errors.len() as f64).collect()
}

/// The smallest number of columns whose error is not larger than the least by more than a standard error of the difference; one
/// where none would do.
fn fewest(errors: &[Vec<f64>], tried: usize) -> Option<usize> {
    let means = means(errors, tried);
    let best = (0..=tried).reduce(|a, b| if means[b] < means[a] { b } else { a })?;
    let folds = errors.len() as f64;
    let is_near = |&k: &usize| {
        let apart: Vec<f64> = errors.iter().map(|fold| with(fold, k) - with(fold, best)).collect();
        let mean = apart.iter().sum::<f64>() / folds;
        let variance = apart.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (folds - 1.0);
        k >= best || mean <= (variance / folds).sqrt()
    };
    (0..=tried).find(is_near).map(|count| count.max(1))
}

/// Some columns in this order.
fn in_order_of(rows: &Rows, order: &[usize]) -> Rows<'static> {
    let rows = rows.to_f64();
    let whole = centered(&rows, 0, rows.n(), &vec![0.0; rows.p()]);
    Rows::from_mat(Mat::from_fn(rows.n(), order.len(), |i, at| whole[(i, order[at])]).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::{Labels, Task};
    use crate::data::synth;
    use crate::monitor::Monitor;
    use crate::select::FTest;

    /// Ridge on the first k columns, solved anew for every k, with the penalty that all columns have.
    #[test]
    fn one_factor_predicts_as_ridge_on_each_number_of_columns_does() {
        for (source, counts) in [("waveform?n=90&seed=1", false), ("friedman?n=70&seed=2", true)] {
            let table = synth::generate(source).expect("rows");
            let labels = Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels");
            let (rows, n, monitor) = (table.rows, labels.len(), Monitor::default());
            let each: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
            let weights = counts.then(|| Weights::new(each).expect("weights"));
            let columns = Columns {
                rows: &rows,
                labels: Some(&labels),
                space: None,
                categorical: &[],
                weights: weights.as_ref(),
                monitor: &monitor,
            };
            let (others, part): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| i % 4 > 0);
            let y = label_columns(&labels, None);
            let y = MatRef::from_row_major_slice(&y, n, y.len() / n);
            let selector = Selector::from(FTest::default());
            let all: Vec<usize> = (0..n).collect();
            let fold = selector.fold(&columns, &all, y, &others, &part).expect("scores").expect("a fold");
            let step = 1;
            let found = fold.errors(step, &columns).expect("errors").expect("solved");

            let scored = selector.score(&Columns {
                rows: &rows.select(&others),
                labels: Some(&labels.select(&others)),
                weights: weights.as_ref().map(|w| w.select(&others)).as_ref(),
                ..columns
            });
            let order = scored.expect("scores").best();
            let count = |i: usize| weight(weights.as_ref(), i);
            let total: f64 = others.iter().map(|&i| count(i)).sum();
            let value = |i: usize, j: usize| rows.stored()[i * rows.p() + order[j]];
            let mean =
                |of: &dyn Fn(usize) -> f64| others.iter().map(|&i| count(i) * of(i)).sum::<f64>() / total;
            let p = order.len();
            let x_means: Vec<f64> = (0..p).map(|j| mean(&|i| value(i, j))).collect();
            let y_means: Vec<f64> = (0..y.ncols()).map(|c| mean(&|i| y[(i, c)])).collect();
            let scatter = |j: usize, k: usize| {
                others
                    .iter()
                    .map(|&i| count(i) * (value(i, j) - x_means[j]) * (value(i, k) - x_means[k]))
                    .sum::<f64>()
            };
            let penalty = (0..p).map(|j| scatter(j, j)).sum::<f64>() / p as f64 * half_decades(step);
            let error = |k: usize| -> f64 {
                let system = Mat::from_fn(k, k, |a, b| scatter(a, b) + if a == b { penalty } else { 0.0 });
                let mut slopes = Mat::from_fn(k, y.ncols(), |a, c| {
                    others
                        .iter()
                        .map(|&i| count(i) * (value(i, a) - x_means[a]) * (y[(i, c)] - y_means[c]))
                        .sum::<f64>()
                });
                if k > 0 {
                    Cholesky::new(system).expect("solved").solve(&mut slopes);
                }
                let of = |i: usize, c: usize| -> f64 {
                    (0..k).map(|a| slopes[(a, c)] * (value(i, a) - x_means[a])).sum::<f64>() + y_means[c]
                };
                let row = |i: usize| (0..y.ncols()).map(|c| (of(i, c) - y[(i, c)]).powi(2)).sum::<f64>();
                part.iter().map(|&i| count(i) * row(i)).sum()
            };
            assert_eq!(found.len(), p + 1);
            for (k, found) in found.into_iter().enumerate() {
                let expected = error(k) / error(0);
                assert!((found - expected).abs() < 1e-10, "{source}, {k} columns: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_fewest_columns_within_a_standard_error_are_kept() {
        // The second column helps in all folds, the third in one alone.
        let helps = |third: f64| vec![1.0, 0.8, 0.5, third];
        assert_eq!(fewest(&[helps(0.4), helps(0.5), helps(0.5), helps(0.5)], 3), Some(2));
        assert_eq!(fewest(&[helps(0.4), helps(0.41), helps(0.4), helps(0.39)], 3), Some(3));
        // Without any column it would be best, or as good.
        assert_eq!(fewest(&[vec![1.0, 1.1, 1.2], vec![1.0, 1.2, 1.1]], 2), Some(1));
        assert_eq!(fewest(&[vec![1.0, 1.2, 1.1], vec![1.0, 1.1, 0.8]], 2), Some(1));
        // A fold of which the selector keeps fewer columns counts with all of these.
        assert_eq!(fewest(&[vec![1.0, 0.5], vec![1.0, 0.5, 0.5]], 2), Some(1));
    }
}
