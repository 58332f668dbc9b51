//! γ by leave-one-out: the width whose basis predicts each label best from all the others.
//!
//!   ŷ_i − y_i left out = (ŷ_i − y_i)/(1 − h_ii),   h the hat matrix of ridge with an intercept
//!
//! With S = ZᵀZ (centred) = V Λ Vᵀ the rotated features ZV give h and ŷ for every penalty λ at once: the weight of
//! direction d is 1/(Λ_d + λ).
//!
//! cost    n·m² flops a width, m ≤ 300, on at most 20 000 rows; 8 widths × 13 penalties
//! source  METHODS §2; Allen 1974 (PRESS)
//! differs classes are one-hot columns and the error is squared; all n left-out predictions are exact given the basis,
//!         whose pivots were chosen without the labels

use faer::{Mat, MatRef};

use super::kobl::{self, Threshold};
use super::pivoted::Pivoted;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::gamma::grid;
use crate::kernel::{Gram, Kernel, Shape};
use crate::linalg::{center_columns, eigen, product, tall_product};
use crate::monitor::Monitor;
use crate::random;

/// The largest basis that is tried.
const COMPONENTS: usize = 300;

/// Rows looked at.
const ROWS: usize = 20_000;

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
    let mut best = (f64::INFINITY, widths[0]);
    let mut failed = None;
    for gamma in widths {
        match error_at(Kernel { shape, gamma }, &rows, &labels, monitor) {
            Ok(error) if error < best.0 => best = (error, gamma),
            Ok(_) => {}
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // A width at which the kernel overflows or is not positive semi-definite is no candidate.
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) if best.0 == f64::INFINITY => Err(error),
        _ => Ok(best.1),
    }
}

fn error_at(kernel: Kernel, rows: &Rows, labels: &Labels, monitor: &Monitor) -> Result<f64> {
    let gram = Gram::new(kernel, rows)?;
    let mut factor = Pivoted::new(&gram, COMPONENTS, true, monitor)?;
    kobl::grow(&mut factor, Threshold::Constant(0.0))?;
    let m = factor.pivots.len();
    let z = factor.into_features();
    smallest_error(MatRef::from_row_major_slice(&z, rows.n(), m), labels, monitor)
}

/// The smallest leave-one-out error over the penalties 10^{−8, …, 4} × the mean eigenvalue.
fn smallest_error(z: MatRef<'_, f64>, labels: &Labels, monitor: &Monitor) -> Result<f64> {
    let (y, c, _) = labels.centered();
    let y = MatRef::from_row_major_slice(&y, z.nrows(), c);
    let ridge = Ridge::new(z, y, monitor)?;
    let mean = ridge.values.iter().sum::<f64>() / ridge.values.len() as f64;
    let penalties = (-8..=4).map(|e| mean.max(f64::MIN_POSITIVE) * 10f64.powi(e));
    Ok(penalties.map(|penalty| ridge.error(penalty)).fold(f64::INFINITY, f64::min))
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

    /// Mean squared leave-one-out error.
    pub(crate) fn error(&self, penalty: f64) -> f64 {
        let (n, m, c) = (self.rotated.nrows(), self.values.len(), self.y.ncols());
        let shrunk = Mat::from_fn(m, c, |d, j| self.toward[(d, j)] / (self.values[d] + penalty));
        let fitted = tall_product(self.rotated.as_ref(), shrunk.as_ref());
        let mut sum = 0.0;
        for i in 0..n {
            let own: f64 =
                self.rotated.row(i).iter().zip(&self.values).map(|(z, v)| z * z / (v + penalty)).sum();
            // 1/n is the intercept's part; a row that determines its own fit says nothing about itself.
            let left = (1.0 - own - 1.0 / n as f64).max(1e-10);
            sum += (0..c).map(|j| ((self.y[(i, j)] - fitted[(i, j)]) / left).powi(2)).sum::<f64>();
        }
        sum / (n * c) as f64
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
            assert!((ridge.error(penalty) - refits).abs() < 1e-10 * refits, "{penalty}");
        }
    }
}
