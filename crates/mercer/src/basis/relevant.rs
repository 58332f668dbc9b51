//! The relevant dimension of the labels: how many components, in their order, carry what can be learned of them.
//!
//!   d minimises (d/n)·log(Σ_{i≤d} s_i²/d) + ((n−d)/n)·log(Σ_{i>d} s_i²/(n−d)),   s_i = u_iᵀy
//!
//! u_i are orthonormal directions among the rows: the centred kernel matrix' eigenvectors in RDE, and for any basis its centred
//! coordinates orthogonalised in order, Z = U Lᵀ with L Lᵀ = ZᵀZ, so that s = L⁻¹Zᵀy needs sums over the rows alone.
//!
//! cost    n·m² + m³/3 flops
//! source  Braun, Buhmann & Müller 2008 (RDE)
//! differs d stays below the numerical rank: beyond it directions are arbitrary, and with nothing left the second term would always
//!         win. Classes: s_i² is summed over the one-hot columns

use faer::{Mat, MatRef};

use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, refuse};
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, center_columns, product, self_product};
use crate::monitor::Monitor;

/// Squared lengths up to this share of the largest are rounding.
const RANK: f64 = 1e-10;

/// d and the variance beyond it, from s_i² in order, their sum with those beyond, and the rank; None if that is below 2.
pub(crate) fn dimension(energy: &[f64], total: f64, n: usize, rank: usize) -> Option<(usize, f64)> {
    let mut sum = 0.0;
    let mut best: Option<(f64, usize, f64)> = None;
    for d in 1..rank {
        sum += energy[d - 1];
        let (signal, noise) = (sum / d as f64, (total - sum).max(0.0) / (n - d) as f64);
        let share = d as f64 / n as f64;
        let value = share * signal.max(1e-300).ln() + (1.0 - share) * noise.max(1e-300).ln();
        if best.is_none_or(|(least, ..)| value < least) {
            best = Some((value, d, noise));
        }
    }
    best.map(|(_, d, noise)| (d, noise))
}

/// How many of the coordinates z, in their order, are relevant for the labels.
pub(super) fn of_coordinates(
    z: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    monitor: &Monitor,
) -> Result<usize> {
    refuse(weights, "n_components = relevant", "give the size of the basis as a number")?;
    labels.require_two("relevant")?;
    let (n, m) = (z.n(), z.p());
    let (y, c, _) = labels.centered();
    let y = MatRef::from_row_major_slice(&y, n, c);
    let values = z.to_dense();
    let mut z = MatRef::from_row_major_slice(&values, n, m).to_owned();
    center_columns(&mut z);
    let mut s = product(z.transpose(), y);
    let scatter = self_product(z.as_ref());
    let floor = RANK * (0..m).map(|i| scatter[(i, i)]).fold(0.0, f64::max);
    // A coordinate that depends on those before it would have the length 0.
    let lifted = Mat::from_fn(m, m, |i, j| scatter[(i, j)] + if i == j { floor } else { 0.0 });
    let factor = if floor > 0.0 { Cholesky::watched(lifted, monitor)? } else { None };
    let Some(factor) = factor else {
        return Err(Error::data("n_components = relevant, but the coordinates of all rows are the same"));
    };
    factor.forward(s.as_mut());
    let energy: Vec<f64> = (0..m).map(|i| s.row(i).squared_norm_l2()).collect();
    let rank = (0..m).filter(|&i| factor.diagonal(i).powi(2) > 3.0 * floor).count().min(n - 1);
    Ok(dimension(&energy, y.squared_norm_l2(), n, rank).map_or(1, |(d, _)| d))
}
