//! Rows rescaled so that squares neither overflow nor underflow.

use crate::data::rows::Rows;

/// Magnitudes whose squares, and sums of many of them, are finite and not denormal.
const SAFE_MAGNITUDES: std::ops::Range<f64> = 1e-100..1e100;

/// Both multiplied by the same power of two, which is exact; None if no rescaling is needed.
pub(super) fn rescaled(train: &Rows, test: &Rows) -> Option<(Rows<'static>, Rows<'static>)> {
    let largest = |rows: &Rows| rows.stored().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    // The factor comes from the training rows, unless the test rows would overflow.
    let (of_train, of_test) = (largest(train), largest(test));
    let largest = if of_test > SAFE_MAGNITUDES.end { of_train.max(of_test) } else { of_train };
    if largest == 0.0 || SAFE_MAGNITUDES.contains(&largest) {
        return None;
    }
    let factor = 2.0f64.powi(-(largest.log2().clamp(-1_000.0, 1_000.0) as i32));
    Some((train.multiplied(factor), test.multiplied(factor)))
}
