//! Dual coordinate descent: the linear support vector machine for many columns.
//!
//!   min ½‖w‖² + Σ α_i²/(4c) − Σ α_i  over α ≥ 0,   w = Σ α_i y_i x_i,  x with a column of ones
//!
//! The dual of the squared hinge loss. A step minimises over one α given the others and updates w by that row.
//!
//! cost    one pass over the active rows per round; rows at α = 0 that are far from changing are shrunk away
//! stops   when the range of projected gradients over a round of all rows is at most 1e−3
//! limits  slow with many rows, few columns and a large c: 300 × 20 separable rows with c = 100 have not converged after
//!         2 000 rounds, which is reported; such problems are solved in the primal instead
//! source  Hsieh et al. 2008
//! differs the order of a round is shuffled by the seed

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::linear_svm::{add, score};
use crate::data::rows::{F64Rows, Rows};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::random;

/// Range of projected gradients at which it stops; margins are of size 1.
const TOLERANCE: f64 = 1e-3;

/// The most rounds; a few dozen are usual.
const MAX_ROUNDS: usize = 2_000;

/// A problem and its current solution.
pub(super) struct DualDescent<'a> {
    rows: &'a Rows<'a>,
    y: Vec<f64>,
    /// ‖x‖² + 1.
    squares: Vec<f64>,
    alpha: Vec<f64>,
    /// p weights and the intercept.
    w: Vec<f64>,
    generator: ChaCha8Rng,
}

impl<'a> DualDescent<'a> {
    pub(super) fn new(rows: &'a Rows<'a>, y: Vec<f64>, seed: u64) -> Self {
        let square = |i: usize| match rows.as_f64() {
            F64Rows::Dense(d) => d.row(i).iter().map(|v| v * v).sum::<f64>() + 1.0,
            F64Rows::Sparse(s) => s.row(i).1.iter().map(|v| v * v).sum::<f64>() + 1.0,
        };
        Self {
            rows,
            y,
            squares: (0..rows.n()).map(square).collect(),
            alpha: vec![0.0; rows.n()],
            w: vec![0.0; rows.p() + 1],
            generator: random::generator(seed),
        }
    }

    /// Weights for this C, warm-started from those found before; and whether the solver converged.
    pub(super) fn solve(&mut self, c: f64, monitor: &Monitor) -> Result<(Vec<f64>, bool)> {
        let n = self.alpha.len();
        let mut order: Vec<usize> = (0..n).collect();
        let mut active = n;
        // A row at α = 0 whose gradient exceeds the largest of the round before is shrunk away.
        let mut shrink_above = f64::INFINITY;
        for _ in 0..MAX_ROUNDS {
            monitor.check()?;
            order[..active].shuffle(&mut self.generator);
            let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut at = 0;
            while at < active {
                let i = order[at];
                let slope = self.y[i] * score(self.rows, i, &self.w) - 1.0 + self.alpha[i] / (2.0 * c);
                if self.alpha[i] == 0.0 && slope > shrink_above {
                    active -= 1;
                    order.swap(at, active);
                    continue;
                }
                let projected = if self.alpha[i] == 0.0 { slope.min(0.0) } else { slope };
                (highest, lowest) = (highest.max(projected), lowest.min(projected));
                if projected != 0.0 {
                    let before = self.alpha[i];
                    self.alpha[i] = (before - slope / (self.squares[i] + 0.5 / c)).max(0.0);
                    add(self.rows, i, (self.alpha[i] - before) * self.y[i], &mut self.w);
                }
                at += 1;
            }
            if highest - lowest <= TOLERANCE {
                if active == n {
                    return Ok((self.w.clone(), true));
                }
                // The last check is over all rows.
                (active, shrink_above) = (n, f64::INFINITY);
            } else {
                shrink_above = if highest > 0.0 { highest } else { f64::INFINITY };
            }
        }
        Ok((self.w.clone(), false))
    }
}
