//! Cross-validation folds of the rows: centred columns and targets, fold by fold, with XᵀX and XᵀY of each fold.
//!
//! XᵀX of the rows outside a fold is the sum over the other folds, so all folds together cost one XᵀX, and nothing cancels.
//!
//! cost    n·p² flops and (folds)·p² numbers if p ≤ 2 000; beyond that only the rows are stored

use std::ops::Range;

use faer::{ColRef, Mat, MatRef};
use rayon::prelude::*;

use super::Columns;
use super::quadratic::{Quadratic, products};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, refuse};
use crate::error::{Error, Result};
use crate::linalg::{center_columns, gram};
use crate::monitor::Monitor;
use crate::options::{DEFAULT_MEMORY, bytes};
use crate::random;

/// The most columns for which XᵀX is computed.
const GRAM_MAX_COLUMNS: usize = 2_000;

/// The most numbers in the XᵀX of all folds.
const FOLD_SUMS_MAX_NUMBERS: usize = 1 << 27;

/// A column whose variance outside a fold is at most this share of its mean square there counts as constant.
const CONSTANT_TOLERANCE: f64 = 1e-12;

pub(super) struct Folded {
    /// Columns with mean 0, multiplied by `x_unit`, n×p.
    pub(super) x: Mat<f64>,
    /// Targets with mean 0, divided by `y_unit`, n×t.
    pub(super) y: Mat<f64>,
    pub(super) x_unit: f64,
    pub(super) y_unit: f64,
    /// The rows of each fold.
    pub(super) folds: Vec<Range<usize>>,
    /// What each row counts, in the order of the folds.
    weights: Option<Vec<f64>>,
    /// XᵀX and XᵀY of each fold.
    sums: Option<Vec<(Mat<f64>, Mat<f64>)>>,
}

impl Folded {
    pub(super) fn new(columns: &Columns, labels: &Labels, cv: usize, seed: u64) -> Result<Self> {
        let (n, p) = (columns.rows.n(), columns.rows.p());
        let needed = n as u64 * p as u64 * 8;
        if needed > DEFAULT_MEMORY {
            return Err(Error::Memory(format!(
                "`lasso` on {n} rows of {p} columns needs {}, but the budget is {}\n\
                 hint: keep fewer columns first, by `f` for example, or take a sample of the rows",
                bytes(needed),
                bytes(DEFAULT_MEMORY)
            )));
        }
        let groups = groups(labels, cv, seed);
        let order: Vec<usize> = groups.iter().flatten().copied().collect();
        let mut end = 0;
        let folds: Vec<Range<usize>> = groups
            .iter()
            .map(|group| {
                end += group.len();
                end - group.len()..end
            })
            .collect();
        let weights: Option<Vec<f64>> =
            columns.weights.map(|weights| order.iter().map(|&i| weights[i]).collect());
        let (x, x_unit) = centred(&columns.rows.to_f64(), &order, weights.as_deref(), columns.monitor)?;
        let (y, y_unit) = targets(labels, &order, columns.weights)?;
        let mut folded = Self { x, y, x_unit, y_unit, folds, weights, sums: None };
        let sums_fit = p <= GRAM_MAX_COLUMNS && cv * p * p <= FOLD_SUMS_MAX_NUMBERS;
        if !sums_fit {
            let instead = "keep fewer columns first, by `f` for example, or leave the weights out";
            refuse(columns.weights, &format!("lasso of {p} columns"), instead)?;
        }
        if sums_fit {
            let sum = |rows: &Range<usize>| {
                let (x, y) = (folded.x.get(rows.clone(), ..), folded.y.get(rows.clone(), ..));
                let weighted = folded.weights.as_ref().map(|weights| {
                    let root = |i: usize| weights[rows.start + i].sqrt();
                    let scaled =
                        |a: MatRef<'_, f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| root(i) * a[(i, j)]);
                    (scaled(x), scaled(y))
                });
                let (x, y) = weighted.as_ref().map_or((x, y), |(x, y)| (x.as_ref(), y.as_ref()));
                let sums = (gram(x, columns.monitor)?, products(x, y, columns.monitor)?);
                columns.monitor.advance(1);
                Ok(sums)
            };
            let sums: Result<_> = folded.folds.iter().map(sum).collect();
            folded.sums = Some(sums?);
        }
        Ok(folded)
    }

    /// Least squares on all rows but one fold's, or on all.
    pub(super) fn quadratic<'a>(
        &'a self,
        left_out: Option<usize>,
        monitor: &Monitor,
    ) -> Result<Quadratic<'a>> {
        let kept = |fold: &usize| Some(*fold) != left_out;
        let folds: Vec<usize> = (0..self.folds.len()).filter(kept).collect();
        let Some(sums) = &self.sums else {
            let rows = folds.iter().flat_map(|&fold| self.folds[fold].clone()).collect();
            return Quadratic::of_rows(self.x.as_ref(), self.y.as_ref(), rows, None, monitor);
        };
        let n: f64 = folds.iter().map(|&fold| self.size(fold)).sum();
        let (p, t) = (self.x.ncols(), self.y.ncols());
        let (mut xx, mut xy) = (Mat::zeros(p, p), Mat::zeros(p, t));
        for fold in folds {
            xx += &sums[fold].0;
            xy += &sums[fold].1;
        }
        xx /= faer::Scale(n);
        xy /= faer::Scale(n);
        if let Some(fold) = left_out {
            let (x_mean, y_mean) = self.means_without(fold);
            for k in 0..p {
                let raw = xx[(k, k)];
                xx.col_mut(k).iter_mut().zip(&x_mean).for_each(|(v, mean)| *v -= mean * x_mean[k]);
                if xx[(k, k)] <= CONSTANT_TOLERANCE * raw {
                    xx[(k, k)] = 0.0;
                }
                (0..t).for_each(|s| xy[(k, s)] -= x_mean[k] * y_mean[s]);
            }
        }
        Ok(Quadratic::whole(xx, xy))
    }

    /// Means of columns and targets over the rows outside a fold.
    pub(super) fn means_without(&self, fold: usize) -> (Vec<f64>, Vec<f64>) {
        let rows = self.folds[fold].clone();
        // Over all rows they sum to 0.
        let others = match &self.weights {
            None => (self.x.nrows() - rows.len()) as f64,
            Some(_) => {
                (0..self.folds.len()).filter(|&other| other != fold).map(|other| self.size(other)).sum()
            }
        };
        let mean = |a: &Mat<f64>| {
            let sum = |v: ColRef<'_, f64>| match self.weights_of(fold) {
                None => v.sum(),
                Some(weights) => v.iter().zip(weights).map(|(v, w)| v * w).sum(),
            };
            a.get(rows.clone(), ..).col_iter().map(|v| -sum(v) / others).collect()
        };
        (mean(&self.x), mean(&self.y))
    }

    /// What the rows of a fold count.
    pub(super) fn weights_of(&self, fold: usize) -> Option<&[f64]> {
        self.weights.as_ref().map(|weights| &weights[self.folds[fold].clone()])
    }

    /// What the rows of a fold count together.
    fn size(&self, fold: usize) -> f64 {
        self.weights_of(fold).map_or(self.folds[fold].len() as f64, |weights| weights.iter().sum())
    }
}

/// The rows of each fold, in random order; stratified for classes.
pub(super) fn groups(labels: &Labels, cv: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut order = random::permutation(labels.len(), seed);
    if let Labels::Classes { codes, .. } = labels {
        // Dealt out class by class, so that a class with fewer rows than folds goes to as many folds as it has rows.
        order.sort_by_key(|&i| codes[i]);
    }
    let mut groups = vec![Vec::new(); cv];
    order.into_iter().enumerate().for_each(|(at, i)| groups[at % cv].push(i));
    groups
}

/// Rows in this order with centred columns, and the power of two by which they were scaled to size 1.
fn centred(
    rows: &Rows,
    order: &[usize],
    weights: Option<&[f64]>,
    monitor: &Monitor,
) -> Result<(Mat<f64>, f64)> {
    const AT_ONCE: usize = 16;
    let (n, p) = (rows.n(), rows.p());
    let largest = rows.stored().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let exponent = if largest > 0.0 { largest.log2().round().clamp(-1000.0, 1000.0) } else { 0.0 };
    let unit = 2f64.powi(-exponent as i32);
    let mut x = Mat::zeros(n, p);
    if let Rows::Sparse(csr) = rows {
        for (at, &i) in order.iter().enumerate() {
            monitor.check()?;
            let (columns, values) = csr.row(i);
            columns.iter().zip(values).for_each(|(&j, v)| x[(at, j as usize)] = unit * v);
        }
    }
    x.par_col_chunks_mut(AT_ONCE).enumerate().try_for_each(|(chunk, mut x)| {
        monitor.check()?;
        if let Rows::Dense(dense) = rows {
            for (at, &i) in order.iter().enumerate() {
                let row = &dense.row(i)[chunk * AT_ONCE..];
                x.as_mut().row_mut(at).iter_mut().zip(row).for_each(|(x, v)| *x = unit * v);
            }
        }
        for mut column in x.col_iter_mut() {
            // Shifted by one of its values first, so that a constant column is exactly 0 and an offset costs no digits.
            let base = column[0];
            let mean = match weights {
                None => column.as_ref().iter().map(|v| v - base).sum::<f64>() / n as f64,
                Some(weights) => {
                    let sum: f64 = column.as_ref().iter().zip(weights).map(|(v, w)| w * (v - base)).sum();
                    sum / weights.iter().sum::<f64>()
                }
            };
            column.as_mut().iter_mut().for_each(|v| *v = *v - base - mean);
        }
        Ok(())
    })?;
    Ok((x, unit))
}

/// Centred target columns in this order, and the divisor of numbers.
fn targets(labels: &Labels, order: &[usize], weights: Option<&Weights>) -> Result<(Mat<f64>, f64)> {
    let n = order.len();
    match labels {
        Labels::Numbers(_) | Labels::Several { .. } => {
            let (y, t, units) = labels.centered_by(weights);
            let unit = if t == 1 { units[0] } else { 1.0 };
            Ok((Mat::from_fn(n, t, |i, j| y[order[i] * t + j]), unit))
        }
        Labels::Classes { codes, names } => {
            let mut sizes = vec![0; names.len()];
            codes.iter().for_each(|&g| sizes[g] += 1);
            let classes: Vec<usize> = (0..names.len()).filter(|&g| sizes[g] > 0).collect();
            if classes.len() < 2 {
                return Err(Error::data("`lasso` needs at least 2 classes, but all rows are of one"));
            }
            let mut y = match classes[..] {
                [_, second] => Mat::from_fn(n, 1, |i, _| if codes[order[i]] == second { 1.0 } else { -1.0 }),
                _ => {
                    Mat::from_fn(n, classes.len(), |i, s| f64::from(u8::from(codes[order[i]] == classes[s])))
                }
            };
            let Some(weights) = weights else {
                center_columns(&mut y);
                return Ok((y, 1.0));
            };
            let all = weights.total();
            for column in y.col_iter_mut() {
                let mean = column.as_ref().iter().zip(order).map(|(v, &i)| v * weights[i]).sum::<f64>() / all;
                column.iter_mut().for_each(|v| *v -= mean);
            }
            Ok((y, 1.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    fn folded(rows: &Rows, labels: &Labels, cv: usize) -> Folded {
        Folded::new(&Columns::new(rows, labels, &Monitor::default()), labels, cv, 7).expect("folds")
    }

    #[test]
    fn sums_over_the_other_folds_are_those_of_their_rows() {
        let table = synth::generate("friedman?n=53&seed=4").expect("rows");
        let mut x = table.rows.to_dense();
        // A number so large that without its fold's rows the column is another one, and a column that is constant then.
        x[3] = 1e4;
        (0..53).for_each(|i| x[i * 10 + 5] = f64::from(u8::from(i == 20)));
        let rows = Rows::dense(x, 53, 10).expect("rows");
        let labels = Labels::Numbers((0..53).map(|i| table.rows.to_dense()[i * 10]).collect());
        let folded = folded(&rows, &labels, 4);
        let monitor = Monitor::default();
        for fold in 0..4 {
            let mut whole = folded.quadratic(Some(fold), &monitor).expect("sums");
            let kept = (0..53).filter(|i| !folded.folds[fold].contains(i)).collect();
            let (x, y) = (folded.x.as_ref(), folded.y.as_ref());
            let mut direct = Quadratic::of_rows(x, y, kept, None, &monitor).expect("rows");
            let all: Vec<usize> = (0..10).collect();
            let grams = [&mut whole, &mut direct].map(|q| q.gram(&all, 10, &monitor).expect("gram"));
            for j in 0..10 {
                let size = grams[1][(j, j)].sqrt();
                for k in 0..10 {
                    let scale = 1e-9 * size * grams[1][(k, k)].sqrt() + 1e-18;
                    assert!((grams[0][(j, k)] - grams[1][(j, k)]).abs() <= scale, "{fold} {j} {k}");
                }
                assert!((whole.toward[(j, 0)] - direct.toward[(j, 0)]).abs() <= 1e-9 * size + 1e-18);
            }
        }
    }

    #[test]
    fn every_fold_has_its_share_of_each_class() {
        let names: Vec<&str> = "aaaaaaaaaabbbbbbbccd".split("").filter(|s| !s.is_empty()).collect();
        let labels = Labels::classes(&names);
        let groups = groups(&labels, 5, 3);
        let Labels::Classes { codes, .. } = &labels else { unreachable!("classes") };
        for group in &groups {
            let of = |class: usize| group.iter().filter(|&&i| codes[i] == class).count();
            assert_eq!((group.len(), of(0)), (4, 2));
            assert!((1..=2).contains(&of(1)) && of(2) <= 1 && of(3) <= 1);
        }
        let mut all: Vec<usize> = groups.into_iter().flatten().collect();
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn offsets_and_constant_columns_cause_no_rounding() {
        let x: Vec<f64> = (0..30).flat_map(|i| [0.1, 1e9 + f64::from(i % 3)]).collect();
        let rows = Rows::dense(x, 30, 2).expect("rows");
        let labels = Labels::Numbers((0..30).map(f64::from).collect());
        let folded = folded(&rows, &labels, 3);
        assert!(folded.x.col(0).iter().all(|v| *v == 0.0));
        let mut found: Vec<f64> = folded.x.col(1).iter().map(|v| v / folded.x_unit).collect();
        found.sort_by(f64::total_cmp);
        found.dedup();
        assert_eq!(found, [-1.0, 0.0, 1.0]);
    }
}
