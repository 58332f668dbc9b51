//! γ by leave-one-out: the width whose basis predicts each label best from all the others.
//!
//!   ŷ_i − y_i left out = (ŷ_i − y_i)/(1 − h_ii),   h the hat matrix of ridge with an intercept
//!
//! With S = ZᵀZ (centred) = V Λ Vᵀ the rotated features ZV give h and ŷ for every penalty λ at once: the weight of
//! direction d is 1/(Λ_d + λ).
//!
//! cost    n·m² flops a width, m ≤ 300, on at most 20 000 rows; 8 widths × 13 penalties. Distances between few long rows
//!         are computed once for all widths (n² numbers)
//! source  METHODS §2; Allen 1974 (PRESS)
//! differs classes are one-hot columns and the error is squared; all n left-out predictions are exact given the basis,
//!         whose pivots were chosen without the labels

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::kobl::{self, Threshold};
use super::pivoted::Pivoted;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::gamma::grid;
use crate::kernel::gram::check_rows;
use crate::kernel::{Gram, Kernel, Panel, Shape};
use crate::linalg::{center_columns, eigen, product, tall_product};
use crate::monitor::Monitor;
use crate::random;

/// The largest basis that is tried.
const COMPONENTS: usize = 300;

/// Rows looked at.
const ROWS: usize = 20_000;

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
    /// Components of the basis.
    pub(crate) size: usize,
}

/// The width with the smallest leave-one-out error.
pub(crate) fn resolve(
    shape: Shape,
    rows: &Rows,
    labels: &Labels,
    seed: u64,
    monitor: &Monitor,
) -> Result<f64> {
    labels.require_two("loo")?;
    let widths = grid(shape, rows)?;
    let chosen = random::sample(rows.n(), ROWS, seed);
    let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
    let tried = widths_tried(shape, &widths, COMPONENTS, &rows, &labels, monitor)?;
    Ok(best(&tried).map_or(widths[0], |best| best.gamma))
}

/// The one with the smallest error, the first of equals.
pub(crate) fn best(tried: &[Tried]) -> Option<Tried> {
    tried.iter().copied().filter(|t| t.error.is_finite()).reduce(|a, b| if b.error < a.error { b } else { a })
}

/// Every width in a `kobl` basis of at most `size` components. An error only if no width makes a kernel.
pub(crate) fn widths_tried(
    shape: Shape,
    widths: &[f64],
    size: usize,
    rows: &Rows,
    labels: &Labels,
    monitor: &Monitor,
) -> Result<Vec<Tried>> {
    let shared = Shared::of(shape, widths, rows, monitor)?;
    let mut tried = Vec::with_capacity(widths.len());
    let mut failed = None;
    for &gamma in widths {
        match shared.try_width(Kernel { shape, gamma }, size, rows, labels, monitor) {
            Ok(one) => tried.push(one),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // A width at which the kernel overflows or is not positive semi-definite is no candidate.
            Err(error) => {
                failed = Some(error);
                tried.push(Tried { gamma, error: f64::INFINITY, missed: 1.0, penalty: 1.0, size: 0 });
            }
        }
    }
    match failed {
        Some(error) if best(&tried).is_none() => Err(error),
        _ => Ok(tried),
    }
}

/// What the widths have in common: all distances between the rows, where they are few and long. Then a width costs n²
/// exponentials, and not n·m products of p numbers.
struct Shared {
    /// n×n distances times the first width; None: every width computes its own.
    statistics: Option<(Vec<f64>, f64)>,
}

impl Shared {
    fn of(shape: Shape, widths: &[f64], rows: &Rows, monitor: &Monitor) -> Result<Self> {
        let n = rows.n();
        if !shape.is_stationary() || widths.len() < 2 || n > SHARED_ROWS || rows.p() < SHARED_COLUMNS {
            return Ok(Self { statistics: None });
        }
        monitor.check()?;
        let kernel = Kernel { shape, gamma: widths[0] };
        check_rows(kernel, rows, 0)?;
        let panel = Panel::new(kernel, rows);
        let mut out = vec![0.0; n * n];
        out.par_chunks_mut(PANEL * n).enumerate().for_each(|(at, out)| {
            let first = at * PANEL;
            panel.statistics(&rows.slice(first..first + out.len() / n), out);
        });
        // From products, d(x, x') and d(x', x) may differ in the last digit.
        for i in 0..n {
            out[i * n + i] = 0.0;
            for j in 0..i {
                out[j * n + i] = out[i * n + j];
            }
        }
        Ok(Self { statistics: Some((out, widths[0])) })
    }

    fn try_width(
        &self,
        kernel: Kernel,
        size: usize,
        rows: &Rows,
        labels: &Labels,
        monitor: &Monitor,
    ) -> Result<Tried> {
        monitor.check()?;
        let Some((statistics, unit)) = &self.statistics else {
            return try_kernel(&Gram::new(kernel, rows)?, kernel.gamma, size, labels, monitor);
        };
        let n = rows.n();
        let mut values: Vec<f64> = statistics.iter().map(|v| v * (kernel.gamma / unit)).collect();
        values.par_chunks_mut(PANEL * n).for_each(|part| kernel.finish(part));
        let values = Rows::dense(values, n, n)?;
        try_kernel(&Gram::new(Kernel::precomputed(), &values)?, kernel.gamma, size, labels, monitor)
    }
}

fn try_kernel(gram: &Gram, gamma: f64, size: usize, labels: &Labels, monitor: &Monitor) -> Result<Tried> {
    let mut factor = Pivoted::new(gram, size.min(gram.n()), true, monitor)?;
    kobl::grow(&mut factor, Threshold::Constant(0.0))?;
    let size = factor.pivots.len();
    let z = factor.into_features();
    let found = best_penalty(MatRef::from_row_major_slice(&z, gram.n(), size), labels, monitor)?;
    Ok(Tried { gamma, size, ..found })
}

/// The penalty among 10^{−8, …, 4} × the mean eigenvalue with the smallest leave-one-out error.
pub(crate) fn best_penalty(z: MatRef<'_, f64>, labels: &Labels, monitor: &Monitor) -> Result<Tried> {
    let (y, c, _) = labels.centered();
    let ridge = Ridge::new(z, MatRef::from_row_major_slice(&y, z.nrows(), c), monitor)?;
    let mean = ridge.mean_value();
    let mut best = Tried { gamma: 1.0, error: f64::INFINITY, missed: 1.0, penalty: 1.0, size: z.ncols() };
    for penalty in (-8..=4).map(|e| 10f64.powi(e)) {
        let left_out = ridge.left_out(mean * penalty);
        let error = ridge.error(&left_out);
        if error < best.error {
            best = Tried { error, missed: missed(&left_out, labels), penalty, ..best };
        }
    }
    Ok(best)
}

/// Share of the rows whose largest prediction is for another class.
fn missed(left_out: &Mat<f64>, labels: &Labels) -> f64 {
    let Labels::Classes { codes, names } = labels else { return 0.0 };
    let n = codes.len() as f64;
    let mut mean = vec![0.0; names.len()];
    codes.iter().for_each(|&code| mean[code] += 1.0 / n);
    let wrong = codes.iter().enumerate().filter(|&(i, &code)| {
        let fit = |j: usize| left_out[(i, j)] + mean[j];
        (0..names.len()).any(|j| fit(j) > fit(code) || (fit(j) == fit(code) && j < code))
    });
    wrong.count() as f64 / n
}

/// Features and labels rotated so that every penalty is one division a direction.
pub(crate) struct Ridge {
    /// Centred features in the eigenvectors' directions, n×m.
    rotated: Mat<f64>,
    /// Their squared lengths.
    values: Vec<f64>,
    /// Centred labels, n×c.
    y: Mat<f64>,
    /// rotatedᵀ·y
    toward: Mat<f64>,
}

impl Ridge {
    pub(crate) fn new(z: MatRef<'_, f64>, y: MatRef<'_, f64>, monitor: &Monitor) -> Result<Self> {
        let mut z = z.to_owned();
        let mut y = y.to_owned();
        center_columns(&mut z);
        center_columns(&mut y);
        let (values, vectors) = eigen(product(z.transpose(), z.as_ref()), monitor)?;
        let rotated = tall_product(z.as_ref(), vectors.as_ref());
        let toward = product(rotated.transpose(), y.as_ref());
        Ok(Self { rotated, values: values.into_iter().map(|v| v.max(0.0)).collect(), y, toward })
    }

    /// The mean of the squared lengths, above 0.
    pub(crate) fn mean_value(&self) -> f64 {
        (self.values.iter().sum::<f64>() / self.values.len().max(1) as f64).max(f64::MIN_POSITIVE)
    }

    /// What is predicted for each row from all the others, n×c, centred as the labels are.
    pub(crate) fn left_out(&self, penalty: f64) -> Mat<f64> {
        let (n, m, c) = (self.rotated.nrows(), self.values.len(), self.y.ncols());
        let shrunk = Mat::from_fn(m, c, |d, j| self.toward[(d, j)] / (self.values[d] + penalty));
        let mut fitted = tall_product(self.rotated.as_ref(), shrunk.as_ref());
        // 1/n is the intercept's part.
        let mut own = vec![1.0 / n as f64; n];
        for (column, value) in self.rotated.col_iter().zip(&self.values) {
            own.iter_mut().zip(column.iter()).for_each(|(own, z)| *own += z * z / (value + penalty));
        }
        for (j, column) in fitted.col_iter_mut().enumerate() {
            for (i, fit) in column.iter_mut().enumerate() {
                // A row that determines its own fit says nothing about itself.
                let left = (1.0 - own[i]).max(1e-10);
                *fit = self.y[(i, j)] - (self.y[(i, j)] - *fit) / left;
            }
        }
        fitted
    }

    /// Mean squared error of such predictions.
    pub(crate) fn error(&self, left_out: &Mat<f64>) -> f64 {
        let columns = left_out.col_iter().zip(self.y.col_iter());
        let squares =
            columns.map(|(fit, y)| fit.iter().zip(y.iter()).map(|(fit, y)| (y - fit).powi(2)).sum::<f64>());
        squares.sum::<f64>() / (self.y.nrows() * self.y.ncols()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn the_closed_form_is_the_error_of_n_refits() {
        let table = synth::generate("friedman?n=25&seed=3").expect("rows");
        let z = Mat::from_fn(25, 4, |i, j| table.rows.to_dense()[i * 10 + j]);
        let y = Mat::from_fn(25, 2, |i, j| table.rows.to_dense()[i * 10 + 5 + j]);
        let monitor = Monitor::default();
        let ridge = Ridge::new(z.as_ref(), y.as_ref(), &monitor).expect("ridge");
        for penalty in [0.01, 1.0, 30.0] {
            let mut sum = 0.0;
            for out in 0..25 {
                let kept: Vec<usize> = (0..25).filter(|i| *i != out).collect();
                let inner = Ridge::new(
                    Mat::from_fn(24, 4, |i, j| z[(kept[i], j)]).as_ref(),
                    Mat::from_fn(24, 2, |i, j| y[(kept[i], j)]).as_ref(),
                    &monitor,
                )
                .expect("ridge");
                // Weights in the rotated directions, applied to the row left out: rotate it by the same eigenvectors,
                // which are recovered from the centred features.
                let mean = |a: &Mat<f64>, j: usize| kept.iter().map(|&i| a[(i, j)]).sum::<f64>() / 24.0;
                let centered = Mat::from_fn(24, 4, |i, j| z[(kept[i], j)] - mean(&z, j));
                let (_, vectors) =
                    eigen(product(centered.transpose(), centered.as_ref()), &monitor).expect("eigen");
                let row = Mat::from_fn(1, 4, |_, j| z[(out, j)] - mean(&z, j));
                let rotated = product(row.as_ref(), vectors.as_ref());
                for j in 0..2 {
                    let fitted: f64 = (0..4)
                        .map(|d| rotated[(0, d)] * inner.toward[(d, j)] / (inner.values[d] + penalty))
                        .sum::<f64>()
                        + mean(&y, j);
                    sum += (fitted - y[(out, j)]).powi(2);
                }
            }
            let refits = sum / 50.0;
            let closed = ridge.error(&ridge.left_out(penalty));
            assert!((closed - refits).abs() < 1e-10 * refits, "{penalty}");
        }
    }
}
