//! Ridge with an intercept that is not penalised: all penalties, and all rows left out, from one decomposition.
//!
//!   ŷ_i − y_i left out = (ŷ_i − y_i)/(1 − h_ii),   h the hat matrix
//!
//! With S = ZᵀZ (centred) = V Λ Vᵀ the rotated features ZV give h and ŷ for every penalty λ at once: the weight of
//! direction d is 1/(Λ_d + λ). With weights w all sums are weighted, and a row is left out with its whole weight:
//! h_ii = w_i·(z_iᵀ(S + λ)⁻¹z_i + 1/Σw).
//!
//! cost    2·n·m² flops in two passes over panels of rows; nothing of size n·m is kept
//! source  Allen 1974 (PRESS)
//! differs a row that determines its own fit (h_ii = 1) counts as if 1e−10 of it were left

use std::ops::RangeInclusive;

use faer::{Mat, MatRef};

use crate::data::labels::Labels;
use crate::data::rows::{F64Rows, Rows};
use crate::data::weights::{Weights, total, weight};
use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::linalg::{eigen, in_order, product, self_product};
use crate::monitor::Monitor;

/// The penalties that are tried, as half decades of the features' mean eigenvalue. In whole decades the left-out error is up to 3 %
/// larger.
pub(crate) const LOWEST: i32 = -16;
pub(crate) const HIGHEST: i32 = 8;

/// Where the best penalty usually is.
pub(crate) const USUAL: i32 = -4;

/// 10^{step/2}.
pub(crate) fn half_decades(step: i32) -> f64 {
    10f64.powf(f64::from(step) / 2.0)
}

/// Downhill by the error from the first step, as long as the next has a smaller one: to smaller penalties first, because where there
/// is more to fit it is more often these that are better. None where the first step cannot be tried, or has no finite error.
pub(crate) fn downhill<T>(
    first: i32,
    steps: RangeInclusive<i32>,
    error: impl Fn(&T) -> f64,
    mut attempt: impl FnMut(i32) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let Some(mut best) = attempt(first)?.filter(|found| error(found).is_finite()) else { return Ok(None) };
    for direction in [-1, 1] {
        let mut next = first + direction;
        while steps.contains(&next)
            && let Some(found) = attempt(next)?.filter(|found| error(found) < error(&best))
        {
            best = found;
            next += direction;
        }
        if next != first + direction {
            break;
        }
    }
    Ok(Some(best))
}

/// Sums over the rows, rotated so that every penalty is one division a direction.
pub(crate) struct Ridge {
    /// Of the features; what is subtracted before anything else.
    pub(crate) means: Vec<f64>,
    /// Eigenvalues of the scatter, descending.
    pub(crate) values: Vec<f64>,
    /// Its eigenvectors; None: the features lie along them already.
    vectors: Option<Mat<f64>>,
    /// Rotated features against labels, m×c.
    toward: Mat<f64>,
    /// What each row counts.
    row_weights: Option<Weights>,
}

/// Sums over rows (n×m) and labels (n×c) with mean 0.
pub(crate) struct Sums {
    /// Of the features; what is subtracted before anything else.
    pub(crate) means: Vec<f64>,
    /// Σ (z − z̄)(z − z̄)ᵀ, m×m.
    pub(crate) scatter: Mat<f64>,
    /// Σ (z − z̄)yᵀ, m×c.
    pub(crate) across: Mat<f64>,
}

impl Sums {
    /// By what each row counts.
    pub(crate) fn new(
        rows: &Rows,
        y: MatRef<'_, f64>,
        weights: Option<&Weights>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let (m, c) = (rows.p(), y.ncols());
        let means = means(rows, weights);
        let (mut scatter, mut across) = (Mat::zeros(m, m), Mat::zeros(m, c));
        // A panel's scatter takes as long to add up as 200 rows of it to compute: panels are higher where it is large.
        let height = PANEL * (m / PANEL).clamp(1, 4);
        let part = |at: usize| {
            let mut z = centered(rows, at * height, height, &means);
            let y = y.subrows(at * height, z.nrows());
            let Some(weights) = weights else {
                return (self_product(z.as_ref()), product(z.transpose(), y));
            };
            let root = |i: usize| weights[at * height + i].sqrt();
            for column in z.col_iter_mut() {
                column.iter_mut().enumerate().for_each(|(i, v)| *v *= root(i));
            }
            let y = Mat::from_fn(z.nrows(), c, |i, j| root(i) * y[(i, j)]);
            (self_product(z.as_ref()), product(z.transpose(), y.as_ref()))
        };
        in_order(rows.n().div_ceil(height), 8 * m * (m + c), monitor, part, |(s, a)| {
            scatter += s;
            across += a;
            Ok(())
        })?;
        Ok(Self { means, scatter, across })
    }
}

impl Ridge {
    /// From rows (n×m) and labels (n×c) with mean 0, by what each row counts.
    pub(crate) fn new(
        rows: &Rows,
        y: MatRef<'_, f64>,
        weights: Option<&Weights>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let Sums { means, scatter, across } = Sums::new(rows, y, weights, monitor)?;
        let (values, vectors) = eigen(scatter, monitor)?;
        let toward = product(vectors.transpose(), across.as_ref());
        let values = values.into_iter().map(|v| v.max(0.0)).collect();
        Ok(Self { means, values, vectors: Some(vectors), toward, row_weights: weights.cloned() })
    }

    /// From features that have mean 0 and are orthogonal to each other, with these squared lengths.
    pub(crate) fn rotated_by(values: Vec<f64>, toward: Mat<f64>, weights: Option<&Weights>) -> Self {
        let row_weights = weights.cloned();
        Self { means: vec![0.0; values.len()], values, vectors: None, toward, row_weights }
    }

    /// The same for rows turned along the eigenvectors, and these rows: a second look at them then costs no product.
    pub(crate) fn turned(&self, rows: &Rows, monitor: &Monitor) -> Result<(Self, Rows<'static>)> {
        let (n, m) = (rows.n(), self.values.len());
        let part = |at: usize| self.along(centered(rows, at * PANEL, PANEL, &self.means));
        let mut turned = Vec::with_capacity(n * m);
        in_order(n.div_ceil(PANEL), 8 * PANEL * m, monitor, part, |z| {
            turned.extend((0..z.nrows()).flat_map(|i| z.row(i).iter().copied()));
            Ok(())
        })?;
        let weights = self.row_weights.as_ref();
        let ridge = Self::rotated_by(self.values.clone(), self.toward.clone(), weights);
        Ok((ridge, Rows::dense(turned, n, m)?))
    }

    /// Centred features along the eigenvectors.
    fn along(&self, z: Mat<f64>) -> Mat<f64> {
        match &self.vectors {
            Some(vectors) => product(z.as_ref(), vectors.as_ref()),
            None => z,
        }
    }

    /// The penalties that are tried: 10^{−8, −7.5, …, 4} × the mean eigenvalue.
    pub(crate) fn penalties(&self) -> Vec<f64> {
        (LOWEST..=HIGHEST).map(|step| self.mean_value() * half_decades(step)).collect()
    }

    /// The mean eigenvalue, above 0.
    pub(crate) fn mean_value(&self) -> f64 {
        /// Where all rows are equal; inverses of its smallest multiple are still numbers.
        const LEAST: f64 = 1e-280;
        (self.values.iter().sum::<f64>() / self.values.len().max(1) as f64).max(LEAST)
    }

    /// Mean squared leave-one-out error for each penalty; rows and labels are those it was made from.
    pub(crate) fn errors(
        &self,
        rows: &Rows,
        y: MatRef<'_, f64>,
        penalties: &[f64],
        monitor: &Monitor,
    ) -> Result<Vec<f64>> {
        let found = self.scan(rows, y, &[], penalties, monitor)?;
        Ok(found.into_iter().map(|(squared, _)| squared).collect())
    }

    /// The left-out error of every penalty, and the share of the rows whose largest left-out fit is for another class (0 for numbers).
    pub(crate) fn left_out(
        &self,
        rows: &Rows,
        y: MatRef<'_, f64>,
        labels: &Labels,
        penalties: &[f64],
        monitor: &Monitor,
    ) -> Result<Vec<(f64, f64)>> {
        let codes: &[usize] = if let Labels::Classes { codes, .. } = labels { codes } else { &[] };
        self.scan(rows, y, codes, penalties, monitor)
    }

    /// Mean squared error and share of missed classes for each penalty; no codes: nothing is missed.
    fn scan(
        &self,
        rows: &Rows,
        y: MatRef<'_, f64>,
        codes: &[usize],
        penalties: &[f64],
        monitor: &Monitor,
    ) -> Result<Vec<(f64, f64)>> {
        let (n, m, c) = (rows.n(), self.values.len(), y.ncols());
        let shares = Mat::from_fn(m, penalties.len(), |d, at| 1.0 / (self.values[d] + penalties[at]));
        let mut shares_of_classes = vec![0.0; c];
        let (weights, all) = (self.row_weights.as_ref(), total(self.row_weights.as_ref(), n));
        for (i, &code) in codes.iter().enumerate() {
            shares_of_classes[code] += weight(weights, i) / all;
        }
        // The columns of a penalty side by side.
        let shrunk =
            Mat::from_fn(m, c * penalties.len(), |d, at| self.toward[(d, at % c)] * shares[(d, at / c)]);
        let part = |at: usize| {
            let mut z = self.along(centered(rows, at * PANEL, PANEL, &self.means));
            let fitted = product(z.as_ref(), shrunk.as_ref());
            z.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= *v));
            let own = product(z.as_ref(), shares.as_ref());
            let mut sums = vec![(0.0, 0.0); penalties.len()];
            let mut fits = vec![0.0; c];
            for i in 0..z.nrows() {
                let row = at * PANEL + i;
                let count = weight(weights, row);
                for (penalty, sum) in sums.iter_mut().enumerate() {
                    // 1/n is the intercept's part.
                    let left = (1.0 - count * own[(i, penalty)] - count / all).max(1e-10);
                    let mut squares = 0.0;
                    for j in 0..c {
                        let off = (y[(row, j)] - fitted[(i, penalty * c + j)]) / left;
                        squares += off * off;
                        fits[j] = y[(row, j)] - off + shares_of_classes[j];
                    }
                    sum.0 += count * squares;
                    if let Some(&code) = codes.get(row) {
                        let own = fits[code];
                        let is_missed = fits.iter().enumerate().any(|(j, fit)| j != code && *fit >= own);
                        sum.1 += count * f64::from(u8::from(is_missed));
                    }
                }
            }
            sums
        };
        let mut sums = vec![(0.0, 0.0); penalties.len()];
        in_order(n.div_ceil(PANEL), 16 * penalties.len(), monitor, part, |part| {
            for (sum, part) in sums.iter_mut().zip(&part) {
                *sum = (sum.0 + part.0, sum.1 + part.1);
            }
            Ok(())
        })?;
        Ok(sums.into_iter().map(|(squared, missed)| (squared / (all * c as f64), missed / all)).collect())
    }

    /// What is predicted for every row from all others, n×c, at one penalty; rows and labels are those it was made from.
    pub(crate) fn left_out_predictions(
        &self,
        rows: &Rows,
        y: MatRef<'_, f64>,
        penalty: f64,
        monitor: &Monitor,
    ) -> Result<Mat<f64>> {
        let (n, m, c) = (rows.n(), self.values.len(), y.ncols());
        let (weights, all) = (self.row_weights.as_ref(), total(self.row_weights.as_ref(), n));
        let shares = Mat::from_fn(m, 1, |d, _| 1.0 / (self.values[d] + penalty));
        let shrunk = Mat::from_fn(m, c, |d, j| self.toward[(d, j)] * shares[(d, 0)]);
        let part = |at: usize| {
            let mut z = self.along(centered(rows, at * PANEL, PANEL, &self.means));
            let fitted = product(z.as_ref(), shrunk.as_ref());
            z.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= *v));
            let own = product(z.as_ref(), shares.as_ref());
            let left = |i: usize| {
                let count = weight(weights, at * PANEL + i);
                (1.0 - count * own[(i, 0)] - count / all).max(1e-10)
            };
            let out = Mat::from_fn(z.nrows(), c, |i, j| {
                let target = y[(at * PANEL + i, j)];
                target - (target - fitted[(i, j)]) / left(i)
            });
            (at, out)
        };
        let mut all = Mat::zeros(n, c);
        in_order(n.div_ceil(PANEL), 8 * PANEL * c, monitor, part, |(at, part)| {
            all.as_mut().subrows_mut(at * PANEL, part.nrows()).copy_from(&part);
            Ok(())
        })?;
        Ok(all)
    }

    /// Weights of the features, m×c.
    pub(crate) fn weights(&self, penalty: f64) -> Mat<f64> {
        let shrunk = Mat::from_fn(self.values.len(), self.toward.ncols(), |d, j| {
            self.toward[(d, j)] / (self.values[d] + penalty)
        });
        match &self.vectors {
            Some(vectors) => product(vectors.as_ref(), shrunk.as_ref()),
            None => shrunk,
        }
    }
}

/// The means of the columns, by what each row counts.
pub(crate) fn means(rows: &Rows, weights: Option<&Weights>) -> Vec<f64> {
    let mut sums = vec![0.0; rows.p()];
    for i in 0..rows.n() {
        let count = weight(weights, i);
        match rows.as_f64() {
            F64Rows::Dense(d) => sums.iter_mut().zip(d.row(i)).for_each(|(sum, v)| *sum += count * v),
            F64Rows::Sparse(s) => {
                let (columns, values) = s.row(i);
                columns.iter().zip(values).for_each(|(&j, v)| sums[j as usize] += count * v);
            }
        }
    }
    let all = total(weights, rows.n());
    sums.iter().map(|sum| sum / all).collect()
}

/// At most so many rows from one on, less their means.
pub(crate) fn centered(rows: &Rows, start: usize, height: usize, means: &[f64]) -> Mat<f64> {
    let rows = rows.slice(start..rows.n().min(start + height));
    let p = rows.p();
    match rows.as_f64() {
        F64Rows::Dense(d) => Mat::from_fn(rows.n(), p, |i, j| d.row(i)[j] - means[j]),
        F64Rows::Sparse(_) => {
            let values = rows.to_dense();
            Mat::from_fn(rows.n(), p, |i, j| values[i * p + j] - means[j])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn the_closed_form_is_the_error_of_n_refits() {
        let table = synth::generate("friedman?n=25&seed=3").expect("rows");
        let values = table.rows.to_dense();
        let monitor = Monitor::default();
        let part = |kept: &[usize]| {
            let z: Vec<f64> = kept.iter().flat_map(|&i| values[i * 10..i * 10 + 4].to_vec()).collect();
            let mut y = Mat::from_fn(kept.len(), 2, |i, j| values[kept[i] * 10 + 5 + j]);
            let means: Vec<f64> = (0..2).map(|j| y.col(j).sum() / kept.len() as f64).collect();
            crate::linalg::center_columns(&mut y);
            (Rows::dense(z, kept.len(), 4).expect("rows"), y, means)
        };
        let (z, y, means) = part(&(0..25).collect::<Vec<_>>());
        let ridge = Ridge::new(&z, y.as_ref(), None, &monitor).expect("ridge");
        let penalties = [0.01, 1.0, 30.0];
        let errors = ridge.errors(&z, y.as_ref(), &penalties, &monitor).expect("errors");
        for (penalty, error) in penalties.into_iter().zip(errors) {
            let mut sum = 0.0;
            for out in 0..25 {
                let kept: Vec<usize> = (0..25).filter(|i| *i != out).collect();
                let (z, inner_y, inner_means) = part(&kept);
                let inner = Ridge::new(&z, inner_y.as_ref(), None, &monitor).expect("ridge");
                let weights = inner.weights(penalty);
                for j in 0..2 {
                    let fitted: f64 = (0..4)
                        .map(|d| (values[out * 10 + d] - inner.means[d]) * weights[(d, j)])
                        .sum::<f64>()
                        + inner_means[j];
                    sum += (fitted - y[(out, j)] - means[j]).powi(2);
                }
            }
            let refits = sum / 50.0;
            assert!((error - refits).abs() < 1e-10 * refits, "{penalty}: {error} for {refits}");
        }
    }

    #[test]
    fn left_out_predictions_have_the_left_out_errors() {
        let table = synth::generate("friedman?n=60&seed=5").expect("rows");
        let labels = Labels::decide(table.target.expect("numbers"), crate::data::labels::Task::Auto);
        let (y, c, _) = labels.expect("labels").centered();
        let (y, monitor) = (MatRef::from_row_major_slice(&y, 60, c), Monitor::default());
        let ridge = Ridge::new(&table.rows, y, None, &monitor).expect("ridge");
        for penalty in [0.1, 10.0] {
            let error = ridge.errors(&table.rows, y, &[penalty], &monitor).expect("errors")[0];
            let left_out =
                ridge.left_out_predictions(&table.rows, y, penalty, &monitor).expect("predictions");
            let mean = (0..60).map(|i| (left_out[(i, 0)] - y[(i, 0)]).powi(2)).sum::<f64>() / 60.0;
            assert!((error - mean).abs() < 1e-12 * error, "{error} for {mean}");
        }
    }

    #[test]
    fn the_rows_missed_are_those_that_refits_without_them_miss() {
        let table = synth::generate("waveform?n=40&seed=2").expect("rows");
        let labels = Labels::decide(table.target.expect("classes"), crate::data::labels::Task::Auto);
        let (labels, rows, monitor) = (labels.expect("labels"), table.rows, Monitor::default());
        let Labels::Classes { codes, names } = &labels else { panic!("classes") };
        let targets = |labels: &Labels| {
            let (y, c, _) = labels.centered();
            MatRef::from_row_major_slice(&y, labels.len(), c).to_owned()
        };
        let y = targets(&labels);
        let ridge = Ridge::new(&rows, y.as_ref(), None, &monitor).expect("ridge");
        let found = ridge.left_out(&rows, y.as_ref(), &labels, &[3.0], &monitor).expect("errors");
        let missed = (0..40).filter(|&out| {
            let kept: Vec<usize> = (0..40).filter(|i| *i != out).collect();
            let (inner_rows, inner_labels) = (rows.select(&kept), labels.select(&kept));
            let inner =
                Ridge::new(&inner_rows, targets(&inner_labels).as_ref(), None, &monitor).expect("ridge");
            let (weights, x) = (inner.weights(3.0), rows.select(&[out]).to_dense());
            let share = |j: usize| kept.iter().filter(|&&i| codes[i] == j).count() as f64 / 39.0;
            let fit = |j: usize| {
                share(j) + (0..x.len()).map(|d| (x[d] - inner.means[d]) * weights[(d, j)]).sum::<f64>()
            };
            (0..names.len()).any(|j| j != codes[out] && fit(j) >= fit(codes[out]))
        });
        let missed = missed.count();
        assert!(missed > 0 && missed < 40);
        assert!((found[0].1 - missed as f64 / 40.0).abs() < 1e-12, "{} for {missed}", found[0].1);
    }
}
