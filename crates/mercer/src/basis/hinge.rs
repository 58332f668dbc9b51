//! Quadratic functions with squared hinges, minimised by Newton steps on the set of active hinges.
//!
//!   Q(x) = ½ Σ_d D_d x_d² + gᵀx + (κ/2) Σ_i max(0, t_i − a_iᵀx)²
//!
//! The support vector machine with squared hinge loss is one (x = weights and bias), and so is the smallest ball around points with
//! squared slack (x = its centre and its squared radius less the centre's squared length).
//!
//! cost    n·d² flops a step, rarely more than ten of them
//! source  Keerthi & DeCoste 2005 (finite Newton)

use faer::{Mat, MatRef};

use crate::linalg::{Cholesky, product};

/// The most steps; each ends at the minimum along its line.
const STEPS: usize = 60;

/// A slope along the line, relative to the first, that is 0.
const FLAT: f64 = 1e-12;

/// What is minimised.
pub(super) struct Hinges<'a> {
    /// a, n×d.
    pub(super) rows: MatRef<'a, f64>,
    /// t.
    pub(super) targets: &'a [f64],
    /// D.
    pub(super) diagonal: &'a [f64],
    /// g.
    pub(super) linear: &'a [f64],
    /// κ.
    pub(super) weight: f64,
}

/// The minimum: x, Q(x), and what is left of every hinge, max(0, t − aᵀx).
pub(super) struct Minimum {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    pub(super) left: Vec<f64>,
}

impl Hinges<'_> {
    /// From a start.
    pub(super) fn minimise(&self, start: Vec<f64>) -> Minimum {
        let d = start.len();
        let mut x = start;
        let mut left = self.left(&x);
        for _ in 0..STEPS {
            let active: Vec<usize> = (0..left.len()).filter(|&i| left[i] > 0.0).collect();
            let a = Mat::from_fn(active.len(), d, |i, j| self.rows[(active[i], j)]);
            let mut curvature = product(a.transpose(), a.as_ref());
            let trace = (0..d).map(|j| self.weight * curvature[(j, j)] + self.diagonal[j]).sum::<f64>();
            for j in 0..d {
                for i in 0..d {
                    curvature[(i, j)] *= self.weight;
                }
                // A bias without active hinges is free.
                curvature[(j, j)] += self.diagonal[j] + 1e-14 * trace.max(f64::MIN_POSITIVE);
            }
            let slope = self.slope(&x, &left);
            let mut step = Mat::from_fn(d, 1, |j, _| -slope[j]);
            let Some(factor) = Cholesky::new(curvature) else { break };
            factor.solve(&mut step);
            let step: Vec<f64> = (0..d).map(|j| step[(j, 0)]).collect();
            let Some(t) = self.along(&x, &step) else { break };
            let before = x.clone();
            x.iter_mut().zip(&step).for_each(|(x, s)| *x += t * s);
            left = self.left(&x);
            let same = |i: &usize| left[*i] > 0.0;
            let unchanged =
                active.iter().all(same) && left.iter().filter(|l| **l > 0.0).count() == active.len();
            if before == x || (unchanged && (t - 1.0).abs() < 1e-9) {
                break;
            }
        }
        Minimum { value: self.value(&x, &left), x, left }
    }

    fn left(&self, x: &[f64]) -> Vec<f64> {
        let x = Mat::from_fn(x.len(), 1, |j, _| x[j]);
        let along = product(self.rows, x.as_ref());
        self.targets.iter().enumerate().map(|(i, t)| (t - along[(i, 0)]).max(0.0)).collect()
    }

    fn value(&self, x: &[f64], left: &[f64]) -> f64 {
        let quadratic: f64 = x.iter().zip(self.diagonal).map(|(x, d)| 0.5 * d * x * x).sum();
        let linear: f64 = x.iter().zip(self.linear).map(|(x, g)| x * g).sum();
        quadratic + linear + 0.5 * self.weight * left.iter().map(|l| l * l).sum::<f64>()
    }

    fn slope(&self, x: &[f64], left: &[f64]) -> Vec<f64> {
        let left = Mat::from_fn(left.len(), 1, |i, _| left[i]);
        let pull = product(self.rows.transpose(), left.as_ref());
        (0..x.len()).map(|j| self.diagonal[j] * x[j] + self.linear[j] - self.weight * pull[(j, 0)]).collect()
    }

    /// How far to go from x along a direction to the minimum on that line: where its slope, which rises, is 0.
    fn along(&self, x: &[f64], step: &[f64]) -> Option<f64> {
        let at = Mat::from_fn(x.len(), 2, |j, k| if k == 0 { x[j] } else { step[j] });
        let both = product(self.rows, at.as_ref());
        let quadratic: f64 = step.iter().zip(self.diagonal).map(|(s, d)| d * s * s).sum();
        let first: f64 = (0..x.len()).map(|j| step[j] * (self.diagonal[j] * x[j] + self.linear[j])).sum();
        let slope = |t: f64| {
            let hinge = |(i, target): (usize, &f64)| {
                both[(i, 1)] * (target - both[(i, 0)] - t * both[(i, 1)]).max(0.0)
            };
            first + t * quadratic - self.weight * self.targets.iter().enumerate().map(hinge).sum::<f64>()
        };
        let start = slope(0.0);
        if start.is_nan() || start >= 0.0 {
            return None;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while slope(high) < FLAT * start {
            (low, high) = (high, 2.0 * high);
            if high > 1e12 {
                return None;
            }
        }
        if slope(1.0).abs() <= FLAT * start.abs() {
            return Some(1.0);
        }
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        Some(f64::midpoint(low, high))
    }
}
