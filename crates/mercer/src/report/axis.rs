//! Positions of values along an axis, for any finite values: the whole range of float64, constants, zeros on a log axis.

use super::text::minus;

/// Margin beyond the outermost values, as a share of their range.
const MARGIN: f64 = 0.04;
/// From this ratio on, values that are all ≥ 0 are shown on a log axis: on a linear one most of them would lie at 0.
const LOG_MIN_RATIO: f64 = 300.0;
/// Labels closer than this share of the axis would touch.
const MIN_LABEL_DISTANCE: f64 = 0.08;

/// The scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    /// Linear.
    Even,
    /// Linear, with integers as labels.
    Whole,
    /// Logarithmic.
    Decades,
    /// Logarithmic if the values differ by a large ratio, else linear from 0, so that rounding does not look like change.
    Fitting,
}

/// An axis from 0 to 1.
pub(super) struct Axis {
    /// Positions and labels of the ticks.
    pub(super) ticks: Vec<(f64, String)>,
    by_decades: bool,
    // Values are divided by it first, so that spans cannot overflow.
    unit: f64,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis that holds all values that are finite.
    pub(super) fn over(values: impl IntoIterator<Item = f64>, spacing: Spacing) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        let positive = || values.iter().copied().filter(|v| *v > 0.0);
        let most = positive().fold(0.0, f64::max);
        let least = positive().fold(f64::INFINITY, f64::min);
        let wide = values.iter().all(|v| *v >= 0.0) && most / least >= LOG_MIN_RATIO;
        if most > 0.0 && (spacing == Spacing::Decades || spacing == Spacing::Fitting && wide) {
            let zeros = values.iter().any(|v| *v <= 0.0);
            Self::decades(least, most, zeros)
        } else {
            let mut values = values;
            if spacing == Spacing::Fitting && !values.is_empty() {
                values.push(0.0);
            }
            Self::even(&values, spacing == Spacing::Whole)
        }
    }

    /// An axis with labels at the given values, where there is room.
    pub(super) fn labelled(values: &[f64], spacing: Spacing, labels: &[(f64, String)]) -> Self {
        let mut axis = Self::over(values.iter().copied(), spacing);
        axis.ticks.clear();
        for (value, label) in labels {
            let Some(place) = axis.place(*value) else { continue };
            if axis.ticks.last().is_none_or(|(last, _)| place - last >= MIN_LABEL_DISTANCE) {
                axis.ticks.push((place, label.clone()));
            }
        }
        axis
    }

    /// The position of a value, clamped to the axis; None if it is not finite.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let at = match self.by_decades {
            true if value <= 0.0 => return Some(0.0),
            true => value.log10(),
            false => value / self.unit,
        };
        Some(((at - self.low) / (self.high - self.low)).clamp(0.0, 1.0))
    }

    fn decades(least: f64, most: f64, zeros: bool) -> Self {
        let (mut low, mut high) = (least.log10(), most.log10());
        let margin = ((high - low) * MARGIN).max(0.05);
        // Zeros have no logarithm; they are placed at the lower end, with a gap.
        low -= margin + if zeros { 0.5 } else { 0.0 };
        high += margin;
        let mut axis = Self { ticks: Vec::new(), by_decades: true, unit: 1.0, low, high };
        let step = ((high - low) / 6.0).ceil().max(1.0) as usize;
        let powers = (low.ceil() as i32..=high.floor() as i32).step_by(step);
        let few = powers.clone().count() < 3;
        let mut values: Vec<f64> = powers.map(|power| 10f64.powi(power)).collect();
        if few {
            let between = (low.floor() as i32..=high.floor() as i32)
                .flat_map(|power| [2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
            values.extend(between.filter(|value| (low..=high).contains(&value.log10())));
            values.sort_by(f64::total_cmp);
        }
        axis.ticks = values.iter().filter_map(|v| Some((axis.place(*v)?, tick(*v, *v)))).collect();
        axis
    }

    fn even(values: &[f64], whole: bool) -> Self {
        let largest = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let unit = if largest > 0.0 { 10f64.powi(largest.log10().floor().max(-300.0) as i32) } else { 1.0 };
        let scaled = || values.iter().map(|v| v / unit);
        let mut low = scaled().fold(f64::INFINITY, f64::min);
        let mut high = scaled().fold(f64::NEG_INFINITY, f64::max);
        if values.is_empty() {
            (low, high) = (0.0, 1.0);
        }
        // A constant is placed in the middle of the axis; a smaller range could not be labelled.
        if high - low <= 1e-9 * high.abs().max(low.abs()) {
            let half = (0.1 * high.abs()).max(0.5 * f64::from(u8::from(whole || largest == 0.0)));
            (low, high) = (low - half, high + half);
        }
        // The axis starts at zero if that is near.
        let margin = MARGIN * (high - low);
        let from_zero = !whole && low >= 0.0 && low < 0.3 * high;
        low = if from_zero { 0.0 } else { low - margin };
        high += margin;
        let mut axis = Self { ticks: Vec::new(), by_decades: false, unit, low, high };
        let least = if whole { 1.0 / unit } else { 0.0 };
        let step = nice((high - low) / 5.0).max(least);
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        axis.ticks = (first..=last)
            .filter_map(|k| {
                let value = k as f64 * step * unit;
                // No label below the first value.
                if whole && values.iter().all(|v| *v > value) {
                    return None;
                }
                Some((axis.place(value)?, tick(value, step * unit)))
            })
            .collect();
        axis
    }
}

// 1, 2 or 5 times a power of ten, not below the given step.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|d| d * power >= step * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

/// A label with as many decimals as the step needs.
fn tick(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let size = value.abs().log10().floor() as i32;
    let fine = (step.abs().log10() + 1e-9).floor() as i32;
    if !(-3..5).contains(&size) || fine < -5 {
        let digits = usize::try_from(size - fine).unwrap_or(0).min(6);
        return minus(&format!("{value:.digits$e}"));
    }
    let decimals = usize::try_from(-fine).unwrap_or(0);
    minus(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn a_linear_axis_has_round_labels_and_starts_at_zero_if_that_is_near() {
        assert_eq!(labels(&Axis::over([0.1, 1.0], Spacing::Even)), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn a_log_axis_is_used_where_a_linear_one_would_hide_the_small_values() {
        let axis = Axis::over([1.0, 0.1, 1e-3, 0.0], Spacing::Fitting);
        assert_eq!(labels(&axis), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(axis.place(0.0), Some(0.0));
    }

    #[test]
    fn sizes_that_differ_by_rounding_look_equal() {
        let axis = Axis::over([1.0, 1.0 - 1e-6], Spacing::Fitting);
        assert_eq!(labels(&axis), ["0", "0.5", "1.0"]);
        assert!(axis.place(1.0).expect("a place") - axis.place(1.0 - 1e-6).expect("a place") < 1e-5);
    }

    #[test]
    fn every_range_of_float64_has_an_axis() {
        let extremes = [f64::MIN, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1e-300, 1.0, 1e300, f64::MAX];
        for spacing in [Spacing::Even, Spacing::Whole, Spacing::Decades, Spacing::Fitting] {
            for low in extremes {
                for high in extremes {
                    let axis = Axis::over([low, high, f64::NAN, f64::INFINITY], spacing);
                    assert!(axis.ticks.len() < 40, "{low} {high} has {} labels", axis.ticks.len());
                    for value in [low, high] {
                        let place = axis.place(value).expect("a place");
                        assert!((0.0..=1.0).contains(&place), "{value} of {low}..{high} is at {place}");
                    }
                    assert!(axis.ticks.iter().all(|(place, _)| (0.0..=1.0).contains(place)));
                }
            }
        }
        assert!(Axis::over([], Spacing::Fitting).place(f64::NAN).is_none());
    }
}
