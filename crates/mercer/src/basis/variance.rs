//! What varies in the kernel's space: half the mean squared distance between the images of two rows.
//!
//!   v = ½·mean ‖φ(x) − φ(x')‖²        over disjoint pairs of rows, drawn by a seed
//!
//! It estimates the trace of the centred kernel matrix over n. With a wide kernel all values are near k(x,x), and what is left
//! of a row looks small beside k(x,x) although nothing that tells rows apart was captured; beside v it does not.
//!
//! cost    min(n/2, 1 000) kernel values

use crate::kernel::Gram;
use crate::random;

/// The most pairs that are looked at.
const PAIRS: usize = 1_000;

/// v of these rows, whose k(x,x) are the diagonal; 0 for fewer than two.
pub(super) fn variance(gram: &Gram, diagonal: &[f64], seed: u64) -> f64 {
    let order = random::permutation(gram.n(), seed);
    let pairs: Vec<(usize, usize)> =
        order.chunks_exact(2).take(PAIRS).map(|pair| (pair[0], pair[1])).collect();
    if pairs.is_empty() {
        return 0.0;
    }
    let half_distance = |&(i, j): &(usize, usize)| {
        let mut value = [0.0];
        gram.column(&gram.select(&[i]), j, &mut value);
        (f64::midpoint(diagonal[i], diagonal[j]) - value[0]).max(0.0)
    };
    pairs.iter().map(half_distance).sum::<f64>() / pairs.len() as f64
}
