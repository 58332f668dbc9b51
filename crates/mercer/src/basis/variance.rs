//! What varies in the kernel's space: half the mean squared distance between the images of two rows.
//!
//!   v = ½·mean ‖φ(x) − φ(x')‖²        over disjoint pairs of rows, drawn by a seed
//!
//! It estimates the trace of the centred kernel matrix over n. With a wide kernel all values are near k(x,x), and what is left
//! of a row looks small beside k(x,x) although nothing that tells rows apart was captured; beside v it does not.
//!
//! cost    min(n/2, 1 000) kernel values

use crate::error::Result;
use crate::kernel::gamma::RowSample;
use crate::kernel::gram::{column_of, diagonal};
use crate::kernel::{Gram, Kernel};
use crate::random;

/// The most pairs that are looked at.
const PAIRS: usize = 1_000;

/// v of these rows, whose k(x,x) are the diagonal; 0 for fewer than two.
pub(super) fn variance(gram: &Gram, diagonal: &[f64], seed: u64) -> f64 {
    let value = |&(i, j): &(usize, usize)| {
        let mut value = [0.0];
        gram.column(&gram.select(&[i]), j, &mut value);
        (f64::midpoint(diagonal[i], diagonal[j]) - value[0]).max(0.0)
    };
    mean(&pairs(gram.n(), seed).iter().map(value).collect::<Vec<f64>>())
}

/// v of rows wherever they lie.
pub(crate) fn variance_of(rows: &dyn RowSample, kernel: Kernel, seed: u64) -> Result<f64> {
    let places: Vec<usize> = pairs(rows.n(), seed).iter().flat_map(|&(i, j)| [i, j]).collect();
    if places.is_empty() {
        return Ok(0.0);
    }
    let (rows, _) = rows.some(&places)?;
    let own = diagonal(kernel, &rows);
    let value = |i: usize| {
        let mut value = [0.0];
        column_of(kernel, &rows.select(&[i]), &rows, i + 1, &mut value);
        (f64::midpoint(own[i], own[i + 1]) - value[0]).max(0.0)
    };
    Ok(mean(&(0..rows.n()).step_by(2).map(value).collect::<Vec<f64>>()))
}

/// Rows beyond which the order of all of them is not made: it would take 8 bytes a row.
const MANY: usize = 1 << 20;

fn pairs(n: usize, seed: u64) -> Vec<(usize, usize)> {
    let order = if n > MANY { random::sample(n, 2 * PAIRS, seed) } else { random::permutation(n, seed) };
    order.chunks_exact(2).take(PAIRS).map(|pair| (pair[0], pair[1])).collect()
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
