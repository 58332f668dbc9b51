//! Conjugate gradients upwards, in a space that says how to go along a direction.
//!
//! source  Polak & Ribière 1969, begun anew where a direction does not climb; Armijo 1966 (steps)

use faer::{Mat, Scale};

use crate::error::Result;
use crate::monitor::{Monitor, Stage};

/// The least gain of a step, relative to what the slope promises.
const ARMIJO: f64 = 1e-4;

/// A slope below this share of the value is rounding.
const FLAT: f64 = 1e-12;

/// What is maximised.
pub(crate) trait Objective {
    /// The value, and the gradient: the slope along every number.
    fn value_and_gradient(&self, at: &Mat<f64>) -> (f64, Mat<f64>);
    /// The part of a gradient or a direction that lies in the space here.
    fn project(&self, at: &Mat<f64>, slope: Mat<f64>) -> Mat<f64>;
    /// The point of the space that lies so far along a direction; None: there is none.
    fn retract(&self, at: &Mat<f64>, direction: &Mat<f64>, t: f64) -> Option<Mat<f64>>;
}

/// Where it ended.
pub(crate) struct Ascent {
    pub(crate) at: Mat<f64>,
    /// The values on the way, that of the start first.
    pub(crate) path: Vec<f64>,
    /// Whether `max_iter` ended it.
    pub(crate) is_cut: bool,
}

/// Conjugate gradients until the slope is `tol` of the first, for at most `max_iter` steps, or until no step gains; `seen` sees
/// every place.
pub(crate) fn maximise(
    objective: &impl Objective,
    start: Mat<f64>,
    max_iter: usize,
    tol: f64,
    monitor: &Monitor,
    mut seen: impl FnMut(&Mat<f64>),
) -> Result<Ascent> {
    let mut at = start;
    let (mut value, slope) = objective.value_and_gradient(&at);
    let mut slope = objective.project(&at, slope);
    let mut path = vec![value];
    seen(&at);
    let first = slope.norm_l2();
    let mut direction = slope.clone();
    let mut guess = 0.1 * at.norm_l2().max(1e-3) / first.max(f64::MIN_POSITIVE);
    monitor.enter(Stage { name: "serving the labels", total: max_iter, open: true, ..Stage::default() });
    for _ in 0..max_iter {
        monitor.check()?;
        if slope.norm_l2() <= (tol * first).max(FLAT * value.abs()) {
            return Ok(Ascent { at, path, is_cut: false });
        }
        let mut found = climb(objective, &at, value, &slope, &direction, guess);
        if found.is_none() {
            direction.clone_from(&slope);
            found = climb(objective, &at, value, &slope, &direction, guess);
        }
        let Some(step) = found else { return Ok(Ascent { at, path, is_cut: false }) };
        guess = step.length;
        at = step.there;
        let next = objective.project(&at, step.gradient);
        let before = objective.project(&at, slope.clone());
        let turn = inner(&next, &(&next - before)) / slope.squared_norm_l2();
        direction = &next + objective.project(&at, direction) * Scale(turn.max(0.0));
        (value, slope) = (step.value, next);
        path.push(value);
        seen(&at);
        monitor.advance(1);
    }
    Ok(Ascent { at, path, is_cut: true })
}

/// A step, and what was found at its end.
struct Step {
    length: f64,
    there: Mat<f64>,
    value: f64,
    gradient: Mat<f64>,
}

/// A step that gains enough: halved until it does, then doubled while that gains.
fn climb(
    objective: &impl Objective,
    at: &Mat<f64>,
    value: f64,
    slope: &Mat<f64>,
    direction: &Mat<f64>,
    guess: f64,
) -> Option<Step> {
    let rise = inner(slope, direction);
    if rise.is_nan() || rise <= 0.0 {
        return None;
    }
    let enough = |length: f64| {
        let there = objective.retract(at, direction, length)?;
        let (found, gradient) = objective.value_and_gradient(&there);
        (found.is_finite() && found >= value + ARMIJO * length * rise && found > value).then_some(Step {
            length,
            there,
            value: found,
            gradient,
        })
    };
    let mut best = (0..40).find_map(|halves| enough(guess * 0.5f64.powi(halves)))?;
    for _ in 0..20 {
        let Some(further) = enough(2.0 * best.length).filter(|step| step.value > best.value) else { break };
        best = further;
    }
    Some(best)
}

pub(crate) fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()).sum()
}
