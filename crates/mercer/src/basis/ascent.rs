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

/// What is climbed.
pub(crate) trait Hill {
    /// The height, and the slope along every number.
    fn height(&self, at: &Mat<f64>) -> (f64, Mat<f64>);
    /// What of a slope or a direction is along the space here.
    fn along(&self, at: &Mat<f64>, slope: Mat<f64>) -> Mat<f64>;
    /// So far along a direction; None: nowhere.
    fn step(&self, at: &Mat<f64>, direction: &Mat<f64>, t: f64) -> Option<Mat<f64>>;
}

/// The end of an ascent.
pub(crate) struct Ascended {
    pub(crate) at: Mat<f64>,
    /// The places on the way, the start first, and the heights.
    pub(crate) path: Vec<f64>,
    /// Whether `max_iter` ended it.
    pub(crate) is_cut: bool,
}

/// Climbs until the slope is `tol` of the first, after `max_iter` steps, or where no step gains; `seen` sees every place.
pub(crate) fn ascend(
    hill: &impl Hill,
    start: Mat<f64>,
    max_iter: usize,
    tol: f64,
    monitor: &Monitor,
    mut seen: impl FnMut(&Mat<f64>),
) -> Result<Ascended> {
    let mut at = start;
    let (mut height, slope) = hill.height(&at);
    let mut slope = hill.along(&at, slope);
    let mut path = vec![height];
    seen(&at);
    let first = slope.norm_l2();
    let mut direction = slope.clone();
    let mut guess = 0.1 * at.norm_l2().max(1e-3) / first.max(f64::MIN_POSITIVE);
    monitor.enter(Stage { name: "serving the labels", total: max_iter, open: true, ..Stage::default() });
    for _ in 0..max_iter {
        monitor.check()?;
        if slope.norm_l2() <= (tol * first).max(FLAT * height.abs()) {
            return Ok(Ascended { at, path, is_cut: false });
        }
        let mut found = climb(hill, &at, height, &slope, &direction, guess);
        if found.is_none() {
            direction.clone_from(&slope);
            found = climb(hill, &at, height, &slope, &direction, guess);
        }
        let Some((t, there)) = found else { return Ok(Ascended { at, path, is_cut: false }) };
        guess = t;
        at = there;
        let (now, next) = hill.height(&at);
        let next = hill.along(&at, next);
        let before = hill.along(&at, slope.clone());
        let turn = inner(&next, &(&next - before)) / slope.squared_norm_l2();
        direction = &next + hill.along(&at, direction) * Scale(turn.max(0.0));
        (height, slope) = (now, next);
        path.push(height);
        seen(&at);
        monitor.advance(1);
    }
    Ok(Ascended { at, path, is_cut: true })
}

/// A step that gains enough: halved until it does, then doubled while that gains.
fn climb(
    hill: &impl Hill,
    at: &Mat<f64>,
    height: f64,
    slope: &Mat<f64>,
    direction: &Mat<f64>,
    guess: f64,
) -> Option<(f64, Mat<f64>)> {
    let rise = inner(slope, direction);
    if rise.is_nan() || rise <= 0.0 {
        return None;
    }
    let enough = |t: f64| {
        let there = hill.step(at, direction, t)?;
        let found = hill.height(&there).0;
        (found.is_finite() && found >= height + ARMIJO * t * rise && found > height)
            .then_some((t, there, found))
    };
    let (mut t, mut there, mut best) = (0..40).find_map(|halves| enough(guess * 0.5f64.powi(halves)))?;
    for _ in 0..20 {
        let Some((further, place, found)) = enough(2.0 * t).filter(|(_, _, found)| *found > best) else {
            break;
        };
        (t, there, best) = (further, place, found);
    }
    Some((t, there))
}

pub(crate) fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()).sum()
}
