//! How many components: more, while the error of rows left out falls and no more of them are missed, and in the end all rows where
//! these are few enough.
//!
//!   300 → all rows as landmarks (kernel ridge, cheaper than so many coordinates)
//!   300 → 1000 → 2000 → 4000, where there are more rows than components may be, or than memory has room for
//!
//! A larger basis resolves finer structure: 2000 rows with all of them as landmarks say at which width, and whether more than
//! 300 components can help. What all of 2000 rows gain on 300 components, all of 5000 rows gain on 1000, to within a few percent.

use crate::basis::kernel_ridge::{KernelRidge, bytes_for};
use crate::basis::loo::{Tried, spread};
use crate::basis::predict::missed;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Shape};
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

/// A larger basis must leave at most this share of the error, and miss no more rows than half a standard error explains.
const LARGER: f64 = 0.98;

/// All rows as landmarks cost n³: they must leave at most this share of it, by the rows that are looked at before.
const MUCH_LARGER: f64 = 0.96;

/// A kernel that errs by more than this factor of the best is no member.
const WORSE: f64 = 1.3;

/// By this factor more a kernel's error may fall with a larger basis than the best one's.
const CATCH_UP: f64 = 1.05;

/// About the most that a trial's kernel can reach.
struct Limit {
    gamma: f64,
    penalty: f64,
    /// What is left of the error of a small basis; None: unknown.
    share: Option<f64>,
}

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
        let Some(size) = self.next_size(&trials[best], self.first_size(), SECOND_SIZE) else {
            return Ok(());
        };
        let (shape, error) = (trials[best].shape, trials[best].tried.error);
        let grown = self.grow_one(&mut trials[best], size, n_all)?;
        let most = CATCH_UP * COMPARABLE * error * grown.unwrap_or(1.0);
        // A kernel whose error falls as the best one's did, and is still too large for a member then, stays as it is.
        let is_first = trials.iter().all(|trial| trial.weights.is_none()) || trials[best].weights.is_some();
        for at in (0..trials.len()).filter(|&at| at != best) {
            let tried = trials[at].tried;
            let is_far = is_first && tried.error > most;
            // Nor does one of the best one's shape help where that one does not; a basis that ended by itself does not grow.
            let helps = grown.is_some() || trials[at].shape != shape;
            if tried.size == self.first_size() && helps && !is_far {
                let found = self.with_size(&trials[at], size)?;
                if grown.is_some() || found.tried.error < LARGER * tried.error {
                    trials[at] = found;
                }
            }
        }
        let overtook = least_error(trials, |trial| trial.tried.size >= size).filter(|&at| at != best);
        if let Some(at) = overtook.filter(|&at| trials[at].tried.error < trials[best].tried.error) {
            self.grow_one(&mut trials[at], size, n_all)?;
        }
        Ok(())
    }

    /// A trial with this size and more, where that helps. Returns what share of the error at this size is left by what lies beyond
    /// it; None: nothing helps.
    fn grow_one(&self, trial: &mut Trial, size: usize, n_all: usize) -> Result<Option<f64>> {
        let first = trial.tried;
        let Limit { gamma, penalty, share } = self.limit(trial)?;
        let is_known = first.size >= size && gamma == trial.gamma;
        if share.is_some_and(|share| share >= if is_known { MUCH_LARGER } else { LARGER }) {
            return Ok(None);
        }
        let helps = |found: &Trial| found.tried.error < LARGER * first.error;
        let may_be_all = self.may_all_be_landmarks(self.rows.n());
        if may_be_all
            && share.is_none_or(|share| share < MUCH_LARGER)
            && self.rows.n() > size + size / 5
            && let Some(found) = self.on_all(trial, gamma, penalty)?.filter(helps)
        {
            let most = LARGEST.min(self.learner.max_components);
            let all = if self.may_all_be_landmarks(n_all) { n_all } else { most };
            *trial = Trial { size: all, coordinates: size, ..found };
            return Ok(Some(share.unwrap_or(1.0)));
        }
        let found = self.attempt(trial.shape, trial.weights.clone(), gamma, size, Some(penalty))?;
        let second = found.tried;
        let next = if may_be_all { None } else { self.further(&found, size)? };
        let Some(found) = Some(next.unwrap_or(found)).filter(helps) else { return Ok(None) };
        *trial = found;
        Ok(Some(trial.tried.error / second.error))
    }

    /// A trial's width or a finer one, and a penalty, by few rows with all of them as landmarks.
    fn limit(&self, trial: &Trial) -> Result<Limit> {
        let Trial { mut gamma, shape, tried, .. } = *trial;
        let few = self.few();
        let unknown = Limit { gamma, penalty: tried.absolute, share: None };
        if bytes_for(few.rows.n()) > self.learner.options.memory {
            return Ok(unknown);
        }
        let weights = trial.weights.clone();
        let basis = few.attempt(shape, weights, gamma, few.first_size(), Some(tried.absolute))?;
        let rows = weigh(&few.rows, trial.weights.as_deref())?;
        let mut best: Option<Tried> = None;
        loop {
            let near = best.map_or(basis.tried.absolute, |best| best.absolute);
            let penalty = few.kernel_ridge(shape, gamma, &rows).best_penalty(near)?;
            let found = few.on_all(&basis, gamma, penalty)?.map(|found| found.tried);
            match found.filter(|found| best.is_none_or(|best| found.error < best.error)) {
                Some(found) => best = Some(found),
                None => break,
            }
            gamma *= 10f64.sqrt();
        }
        // Scores nearer to 0 and 1 are no gain where more rows are missed.
        let most_missed = basis.tried.missed + spread(basis.tried.missed, few.rows.n()) / 2.0;
        let share =
            |best: Tried| if best.missed > most_missed { 1.0 } else { best.error / basis.tried.error };
        let of = |best: Tried| Limit { gamma: best.gamma, penalty: best.absolute, share: Some(share(best)) };
        Ok(best.map_or(unknown, of))
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
        let ridge = self.learner.kernel_ridge(trial.kernel(), &seen, &labels, counts.as_ref());
        let Some(expansion) = ridge.fit_near(trial.tried.absolute)? else { return Ok(f64::INFINITY) };
        let (unseen, labels, counts) = of(rows);
        Ok(squared_error(&expansion.transform(&unseen)?, &labels, counts.as_ref()))
    }

    /// Whether n landmarks are allowed, and fit into memory.
    fn may_all_be_landmarks(&self, n: usize) -> bool {
        n <= self.learner.max_components && bytes_for(n) <= self.learner.options.memory
    }

    /// A trial with more components than this size; None where that does not help.
    fn further(&self, trial: &Trial, size: usize) -> Result<Option<Trial>> {
        let Some(next) = self.next_size(trial, size, THIRD_SIZE) else { return Ok(None) };
        let mut found = self.with_size(trial, next)?;
        found.size = self.next_size(&found, next, LARGEST).unwrap_or(next);
        Ok(Some(found).filter(|found| found.tried.error < LARGER * trial.tried.error))
    }

    /// A trial with all rows as landmarks, at this width and penalty; None where that cannot be solved.
    fn on_all(&self, trial: &Trial, gamma: f64, penalty: f64) -> Result<Option<Trial>> {
        let rows = weigh(&self.rows, trial.weights.as_deref())?;
        let ridge = self.kernel_ridge(trial.shape, gamma, &rows);
        let Some(found) = ridge.leaving_out(penalty, &self.asked.rows)? else { return Ok(None) };
        let missed = missed(&found.left_out, &self.asked.labels, self.asked.counts.as_ref());
        let size = self.rows.n();
        Ok(Some(Trial {
            shape: trial.shape,
            weights: trial.weights.clone(),
            gamma,
            tried: Tried { error: found.error, missed, absolute: found.penalty, gamma, size, ..trial.tried },
            size,
            basis: trial.basis.clone(),
            is_on_all: true,
            coordinates: trial.coordinates,
            expansion: found.expansion,
            left_out: found.left_out,
        }))
    }

    /// A kernel on these rows, whose columns may be weighted.
    fn kernel_ridge<'a>(&'a self, shape: Shape, gamma: f64, weighted: &'a Rows<'a>) -> KernelRidge<'a> {
        self.learner.kernel_ridge(Kernel { shape, gamma }, weighted, &self.labels, self.counts.as_ref())
    }
}

/// The place of the trial with the least error, of those that are asked for.
fn least_error(trials: &[Trial], of: impl Fn(&Trial) -> bool) -> Option<usize> {
    (0..trials.len())
        .filter(|&at| of(&trials[at]))
        .min_by(|&a, &b| trials[a].tried.error.total_cmp(&trials[b].tried.error))
}
