//! Rows whose squares are numbers: what every judge that squares must be given.

use crate::data::rows::Rows;

/// Magnitudes whose squares, and sums of many of them, are in range.
const SQUARABLE: std::ops::Range<f64> = 1e-100..1e100;

/// Both multiplied by the same power of two, which costs no digits; None if they are fine as they are.
pub(super) fn squarable(train: &Rows, test: &Rows) -> Option<(Rows<'static>, Rows<'static>)> {
    let largest = |rows: &Rows| rows.stored().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    // By the training rows: what is learnt is learnt from them. Test rows must not overflow all the same.
    let (of_train, of_test) = (largest(train), largest(test));
    let largest = if of_test > SQUARABLE.end { of_train.max(of_test) } else { of_train };
    if largest == 0.0 || SQUARABLE.contains(&largest) {
        return None;
    }
    let factor = 2.0f64.powi(-(largest.log2().clamp(-1_000.0, 1_000.0) as i32));
    Some((train.multiplied(factor), test.multiplied(factor)))
}
