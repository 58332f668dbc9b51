//! How many components: more, while the error of rows left out falls, and in the end all rows where these are few enough.
//!
//!   300 → 1000 → all rows as landmarks (kernel ridge, cheaper than so many coordinates)
//!   300 → 1000 → 2000 → 4000, where there are more rows than components may be, or than memory has room for

use crate::basis::kernel_ridge::bytes_for;
use crate::basis::loo::Tried;
use crate::basis::predict::missed;
use crate::error::{Error, Result};
use crate::random;
use crate::select::input_weights::{FoundWeights, halfway};

use super::{COMPARABLE, Sample, Trial, WIDTH_ROWS, others, squared_error, weigh};

/// The size with which all kernels go on that may be members; the best one may grow further.
const SECOND_SIZE: usize = 1_000;

/// Beyond it, where not all rows can be landmarks.
const THIRD_SIZE: usize = 2_000;

/// The size that is taken where the error still fell at the third. It is not tried: its left-out predictions would cost more
/// than all the others together.
const LARGEST: usize = 4_000;

/// A larger basis must leave at most this share of the error.
const LARGER: f64 = 0.98;

/// A kernel that errs by more than this factor of the best is no member.
const WORSE: f64 = 1.3;

/// By this factor more a kernel's error may fall with a larger basis than the best one's.
const CATCH_UP: f64 = 1.05;

/// A finer width that errs by less than this factor of the best may be the better one with a larger basis.
const NEAR: f64 = 1.1;

impl Sample<'_> {
    /// Larger bases, while the best kernel's error falls; then the other kernels at the second size, where theirs may, and beyond
    /// it one that has overtaken the best. There are `n_all` rows, of which these are a sample.
    pub(super) fn grow(
        &self,
        trials: &mut Vec<Trial>,
        weights: Option<&mut FoundWeights>,
        n_all: usize,
    ) -> Result<()> {
        self.learner.options.monitor.begin("looking at sizes", 0);
        let least = trials.iter().map(|t| t.tried.error).fold(f64::INFINITY, f64::min);
        trials.retain(|trial| trial.tried.error <= WORSE * least);
        self.try_weights_again(trials, weights)?;
        let best = least_error(trials, |_| true)
            .ok_or_else(|| Error::Numerical("no kernel could be tried on these rows".into()))?;
        let first = trials[best].tried;
        let Some(size) = self.next_size(&trials[best], self.first_size(), SECOND_SIZE) else {
            return Ok(());
        };
        let (found, finer) = self.larger(&trials[best], size, true)?;
        let falls = found.tried.error < LARGER * first.error;
        let mut most = CATCH_UP * COMPARABLE * first.error;
        if falls {
            trials[best] = found;
            let second = trials[best].tried;
            self.grow_further(&mut trials[best], size, finer, n_all)?;
            most *= trials[best].tried.error / second.error;
        }
        // A kernel whose error falls as the best one's did, and is still too large for a member then, stays as it is.
        let is_first = trials.iter().all(|trial| trial.weights.is_none()) || trials[best].weights.is_some();
        for at in (0..trials.len()).filter(|&at| at != best) {
            let tried = trials[at].tried;
            // A basis that ended by itself does not grow.
            if tried.size == self.first_size() && !(is_first && tried.error > most) {
                let found = self.with_size(&trials[at], size)?;
                if falls || found.tried.error < LARGER * tried.error {
                    trials[at] = found;
                }
            }
        }
        let overtook = least_error(trials, |trial| trial.tried.size >= size).filter(|&at| at != best);
        if let Some(at) = overtook.filter(|&at| trials[at].tried.error < trials[best].tried.error) {
            self.grow_further(&mut trials[at], size, finer, n_all)?;
        }
        Ok(())
    }

    /// The next size, if a basis has reached this one and there is room.
    fn next_size(&self, trial: &Trial, size: usize, next: usize) -> Option<usize> {
        let next = next.min(self.learner.max_components).min(self.rows.n());
        (trial.tried.size >= size && next > size + size / 5 && self.learner.fits(self.rows.n(), next))
            .then_some(next)
    }

    /// The same kernel and width with another number of components.
    fn with_size(&self, trial: &Trial, size: usize) -> Result<Trial> {
        let Trial { shape, gamma, tried, .. } = *trial;
        self.attempt(shape, trial.weights.clone(), gamma, size, Some(tried.absolute))
    }

    /// Weights are learned from a part of many rows and tried with few components. With more of both, smaller differences between
    /// the columns may predict better, or none.
    fn try_weights_again(&self, trials: &mut Vec<Trial>, weights: Option<&mut FoundWeights>) -> Result<()> {
        let weighted = trials.iter().position(|trial| trial.weights.is_some());
        let plain = least_error(trials, |trial| trial.weights.is_none());
        let (Some(weighted), Some(plain), Some(found)) = (weighted, plain, weights) else { return Ok(()) };
        let looked_at: usize = found.held_out.iter().map(|part| part.rows.len()).sum();
        if looked_at == self.rows.n() || bytes_for(WIDTH_ROWS) > self.learner.options.memory {
            return Ok(());
        }
        let part = &found.held_out[0];
        let without = self.error_on_all(&trials[plain], None, &part.rows)?;
        let with = self.error_on_all(&trials[weighted], Some(&part.weights), &part.rows)?;
        let halfway = self.error_on_all(&trials[weighted], Some(&halfway(&part.weights)), &part.rows)?;
        if without <= with.min(halfway) {
            trials.remove(weighted);
            found.leave_out();
        } else if halfway < with {
            found.go_halfway();
            let Trial { shape, gamma, tried, .. } = trials[weighted];
            let weights = Some(found.weights.clone());
            trials[weighted] =
                self.attempt(shape, weights, gamma, self.first_size(), Some(tried.absolute))?;
        }
        Ok(())
    }

    /// Squared error of these rows with some of the others, all of which are landmarks, for a trial's kernel and width.
    fn error_on_all(&self, trial: &Trial, weights: Option<&[f64]>, rows: &[usize]) -> Result<f64> {
        let mut others = others(rows, random::permutation(self.rows.n(), self.learner.seed));
        others.truncate(WIDTH_ROWS);
        let weighted = weigh(&self.rows, weights)?;
        let of = |rows: &[usize]| {
            let counts = self.counts.as_ref().map(|counts| counts.select(rows));
            (weighted.select(rows), self.labels.select(rows), counts)
        };
        let (seen, labels, counts) = of(&others);
        let ridge = self.learner.kernel_ridge(trial, &seen, &labels, counts.as_ref());
        let Some(expansion) = ridge.fit_near(trial.tried.absolute)? else { return Ok(f64::INFINITY) };
        let (unseen, labels, counts) = of(rows);
        Ok(squared_error(&expansion.transform(&unseen)?, &labels, counts.as_ref()))
    }

    /// All rows as landmarks, or else more components while the error falls.
    fn grow_further(&self, trial: &mut Trial, size: usize, finer: bool, n_all: usize) -> Result<()> {
        let most = self.learner.max_components;
        let may_all_be_landmarks = |n: usize| n <= most && bytes_for(n) <= self.learner.options.memory;
        if may_all_be_landmarks(self.rows.n()) {
            let has_reached_size = trial.tried.size >= size;
            if has_reached_size
                && self.rows.n() > size + size / 5
                && let Some(mut found) = self.on_all(trial)?
                && found.tried.error < LARGER * trial.tried.error
            {
                found.size = if may_all_be_landmarks(n_all) { n_all } else { LARGEST.min(most) };
                *trial = found;
            }
            return Ok(());
        }
        let Some(next) = self.next_size(trial, size, THIRD_SIZE) else { return Ok(()) };
        let (found, _) = self.larger(trial, next, finer)?;
        if found.tried.error < LARGER * trial.tried.error {
            *trial = found;
            trial.size = self.next_size(trial, next, LARGEST).unwrap_or(next);
        }
        Ok(())
    }

    /// A trial with all rows as landmarks; None where that cannot be solved.
    fn on_all(&self, trial: &Trial) -> Result<Option<Trial>> {
        let rows = weigh(&self.rows, trial.weights.as_deref())?;
        let counts = self.counts.as_ref();
        let ridge = self.learner.kernel_ridge(trial, &rows, &self.labels, counts);
        let Some(found) = ridge.near(trial.tried.absolute, &self.asked.rows)? else { return Ok(None) };
        let missed = missed(&found.left_out, &self.asked.labels, self.asked.counts.as_ref());
        let size = self.rows.n();
        Ok(Some(Trial {
            shape: trial.shape,
            weights: trial.weights.clone(),
            gamma: trial.gamma,
            tried: Tried { error: found.error, missed, absolute: found.penalty, size, ..trial.tried },
            size,
            basis: trial.basis.clone(),
            basis_penalty: trial.basis_penalty,
            expansion: found.expansion,
            left_out: found.left_out,
        }))
    }

    /// A trial with a larger basis, which resolves finer structure: the best of its width and, where asked for, finer ones. Then
    /// whether the next finer one is near enough to be tried with a still larger basis.
    fn larger(&self, trial: &Trial, size: usize, finer: bool) -> Result<(Trial, bool)> {
        let attempt = |gamma: f64, penalty: f64| {
            self.attempt(trial.shape, trial.weights.clone(), gamma, size, Some(penalty))
        };
        let mut best = attempt(trial.gamma, trial.tried.absolute)?;
        if !finer {
            return Ok((best, false));
        }
        loop {
            let next = attempt(best.gamma * 10f64.sqrt(), best.tried.absolute)?;
            if next.tried.error >= best.tried.error {
                let is_near = next.tried.error < NEAR * best.tried.error;
                return Ok((best, is_near));
            }
            best = next;
        }
    }
}

/// The place of the trial with the least error, of those that are asked for.
fn least_error(trials: &[Trial], of: impl Fn(&Trial) -> bool) -> Option<usize> {
    (0..trials.len())
        .filter(|&at| of(&trials[at]))
        .min_by(|&a, &b| trials[a].tried.error.total_cmp(&trials[b].tried.error))
}
