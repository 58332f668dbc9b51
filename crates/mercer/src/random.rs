//! Seeded random numbers: one generator (ChaCha8) for everything, so that a seed gives the same numbers everywhere.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator of a seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The position of a generator in its stream, for [`generator_at`].
pub(crate) fn position(generator: &ChaCha8Rng) -> u64 {
    // 2⁶⁴ draws are never reached.
    generator.get_word_pos() as u64
}

/// The generator of a seed at a position in its stream.
pub(crate) fn generator_at(seed: u64, position: u64) -> ChaCha8Rng {
    let mut generator = generator(seed);
    generator.set_word_pos(position.into());
    generator
}

/// 0..n in random order.
pub(crate) fn permutation(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut generator(seed));
    order
}

/// `size` of 0..n without replacement, in random order; 0..n itself if `size` is at least n.
pub(crate) fn sample(n: usize, size: usize, seed: u64) -> Vec<usize> {
    if size >= n {
        return (0..n).collect();
    }
    rand::seq::index::sample(&mut generator(seed), n, size).into_vec()
}

/// `size` of the rows with these weights, one after the other, each in proportion to the weights of those that are left. The
/// largest of u^(1/w) are drawn (Efraimidis & Spirakis 2006).
pub(crate) fn weighted_sample(weights: &[f64], size: usize, seed: u64) -> Vec<usize> {
    let mut generator = generator(seed);
    let keys: Vec<f64> = weights.iter().map(|w| uniform(&mut generator).ln() / w).collect();
    let mut order: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    order.sort_by(|&a, &b| keys[b].total_cmp(&keys[a]).then(a.cmp(&b)));
    order.truncate(size);
    order
}

/// A number in [0, 1).
pub(crate) fn uniform(generator: &mut ChaCha8Rng) -> f64 {
    generator.random::<f64>()
}
