//! The linear machine for many columns: one row's coefficient at a time.
//!
//!   min ½‖w‖² + Σ α_i²/(4c) − Σ α_i  over α ≥ 0,   w = Σ α_i y_i x_i,  x with a column of ones
//!
//! The dual of the squared hinge. A step makes one α exact given the others and moves w by that row.
//!
//! cost    the numbers of the rows that are still in play, a round; rows at 0 that are far from moving are left out
//! stops   when no slope over a round is further than 1e−3 from what it should be, all rows looked at
//! limits  slow where rows are many, columns few and c is large: 300 × 20 separable rows with c = 100 are not done after
//!         2 000 rounds, which is reported; such rows go to Newton steps
//! source  Hsieh et al. 2008
//! differs the order of a round is shuffled by the seed

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::linear_svm::{add, score};
use crate::data::rows::Rows;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::random;

/// Slopes of margins, which are of size 1.
const TOLERANCE: f64 = 1e-3;

/// Rounds; a few dozen are usual.
const ROUNDS: usize = 2_000;

/// A problem and how far it is solved.
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
        let square = |i: usize| match rows {
            Rows::Dense(d) => d.row(i).iter().map(|v| v * v).sum::<f64>() + 1.0,
            Rows::Sparse(s) => s.row(i).1.iter().map(|v| v * v).sum::<f64>() + 1.0,
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

    /// Weights for errors of this weight, from those found before; and whether they are the best.
    pub(super) fn solve(&mut self, c: f64, monitor: &Monitor) -> Result<(Vec<f64>, bool)> {
        let n = self.alpha.len();
        let mut order: Vec<usize> = (0..n).collect();
        let mut in_play = n;
        // A row at 0 whose slope is above the largest of the round before is left out.
        let mut beyond = f64::INFINITY;
        for _ in 0..ROUNDS {
            monitor.check()?;
            order[..in_play].shuffle(&mut self.generator);
            let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut at = 0;
            while at < in_play {
                let i = order[at];
                let slope = self.y[i] * score(self.rows, i, &self.w) - 1.0 + self.alpha[i] / (2.0 * c);
                if self.alpha[i] == 0.0 && slope > beyond {
                    in_play -= 1;
                    order.swap(at, in_play);
                    continue;
                }
                let felt = if self.alpha[i] == 0.0 { slope.min(0.0) } else { slope };
                (highest, lowest) = (highest.max(felt), lowest.min(felt));
                if felt != 0.0 {
                    let before = self.alpha[i];
                    self.alpha[i] = (before - slope / (self.squares[i] + 0.5 / c)).max(0.0);
                    add(self.rows, i, (self.alpha[i] - before) * self.y[i], &mut self.w);
                }
                at += 1;
            }
            if highest - lowest <= TOLERANCE {
                if in_play == n {
                    return Ok((self.w.clone(), true));
                }
                // Once more with all rows.
                (in_play, beyond) = (n, f64::INFINITY);
            } else {
                beyond = if highest > 0.0 { highest } else { f64::INFINITY };
            }
        }
        Ok((self.w.clone(), false))
    }
}
