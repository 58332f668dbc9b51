//! Margins: what the differences to neighbours add up to.
//!
//!   Σ_i Σ_{j ∈ N(i)} (z_i − z_j)(z_i − z_j)ᵀ         m×m
//!
//! cost    2·n·k·m² flops by matrix products on panels of pairs, summed in the order of the panels

use faer::{Mat, MatRef};

use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::linalg::{product, sum_in_order};
use crate::monitor::Monitor;

/// Σ ΔΔᵀ over every row and its neighbours; `z` is n×m.
///
/// ```
/// use faer::mat;
/// use mercer::{Monitor, evidence::margins::scatter};
///
/// let z = mat![[0.0], [2.0], [5.0]];
/// let sum = scatter(z.as_ref(), &[vec![1], vec![0, 2], vec![]], &Monitor::default())?;
/// assert_eq!(sum[(0, 0)], 4.0 + 4.0 + 9.0);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Panics
/// If a neighbour's index is not below n.
pub fn scatter(z: MatRef<'_, f64>, neighbours: &[Vec<usize>], monitor: &Monitor) -> Result<Mat<f64>> {
    let m = z.ncols();
    sum_in_order(neighbours.len().div_ceil(PANEL), m, m, monitor, |at| {
        let rows = at * PANEL..neighbours.len().min((at + 1) * PANEL);
        let pairs: Vec<(usize, usize)> =
            rows.flat_map(|i| neighbours[i].iter().map(move |&j| (i, j))).collect();
        let differences = Mat::from_fn(pairs.len(), m, |a, c| z[(pairs[a].0, c)] - z[(pairs[a].1, c)]);
        product(differences.transpose(), differences.as_ref())
    })
}
