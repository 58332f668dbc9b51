//! γ by leave-one-out: the width whose basis predicts each label best from all the others.
//!
//! The prediction is ridge with an intercept ([`ridge`](super::ridge)), its penalty the best for that width.
//!
//! cost    n·m² flops a width, m ≤ 300, on at most 20 000 rows; 8 widths × 13 penalties
//! source  METHODS §2; Allen 1974 (PRESS)
//! differs classes are one-hot columns and the error is squared; all n left-out predictions are exact given the basis,
//!         whose pivots were chosen without the labels

use faer::MatRef;

use super::kobl::{self, Threshold};
use super::pivoted::Pivoted;
use super::ridge::Ridge;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::gamma::grid;
use crate::kernel::{Gram, Kernel, Shape};
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
    let z = Rows::dense(factor.into_features(), rows.n(), m)?;
    let (y, c, _) = labels.centered();
    let y = MatRef::from_row_major_slice(&y, rows.n(), c);
    let ridge = Ridge::new(&z, y, monitor)?;
    let errors = ridge.errors(&z, y, &ridge.penalties(), monitor)?;
    Ok(errors.into_iter().fold(f64::INFINITY, f64::min))
}
