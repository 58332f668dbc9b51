//! Progress and interruption of running work, shared with a caller on another thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::allocator;
use crate::error::{Error, Result};

/// A handle on running work: the caller reads its progress and may stop it. Clones share one state.
///
/// ```
/// use mercer::{Basis, Error, Kernel, Monitor, Options, data::synth};
///
/// let monitor = Monitor::default();
/// monitor.stop(); // as a Ctrl-C handler would, from another thread
/// let table = synth::generate("ringnorm?n=50")?;
/// let stopped = Basis::kobl(Kernel::rbf(0.05)).fit_with(&table.rows, None, &Options::watched(&monitor));
/// assert!(matches!(stopped, Err(Error::Interrupted)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Monitor(Arc<State>);

#[derive(Debug, Default)]
struct State {
    stop: Arc<AtomicBool>,
    stage: Mutex<Stage>,
    done: AtomicUsize,
}

/// The current stage of the work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    /// Total number of steps, 0 if unknown.
    pub(crate) total: usize,
    /// Steps done by an earlier run.
    pub(crate) done: usize,
    pub(crate) growth: Growth,
    /// Whether it may end before all steps are done.
    pub(crate) open: bool,
}

/// How the cost of step j grows with j.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Growth {
    /// Constant.
    #[default]
    None,
    /// Proportional to j plus this.
    Linear(usize),
    /// Proportional to j².
    Square,
}

/// Progress of the work: `done` of `total` steps of `stage` (`total` 0: unknown).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub stage: &'static str,
    /// Steps finished.
    pub done: usize,
    /// Total number of steps, 0 if unknown.
    pub total: usize,
    /// Share of the work that is done; it differs from the share of steps, because later steps may cost more.
    pub share: f64,
    /// Whether a rule may end the stage before all steps are done.
    pub open: bool,
}

impl Monitor {
    /// Requests the work to stop; it returns [`Error::Interrupted`] at its next check.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// A handle for a part of the work, with its own progress; it is stopped together with the whole.
    ///
    /// ```
    /// let whole = mercer::Monitor::default();
    /// let part = whole.part();
    /// whole.stop();
    /// assert!(part.is_stopped());
    /// ```
    pub fn part(&self) -> Self {
        Self(Arc::new(State { stop: self.0.stop.clone(), ..State::default() }))
    }

    /// Whether the work was requested to stop, or memory has run out (see [`allocator`]).
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed) || allocator::is_exhausted()
    }

    /// The current progress.
    pub fn progress(&self) -> Progress {
        let stage = *self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.0.done.load(Ordering::Relaxed);
        Progress {
            stage: stage.name,
            done,
            total: stage.total,
            share: (stage.cost(done) / stage.cost(stage.total).max(1.0)).min(1.0),
            open: stage.open,
        }
    }

    pub(crate) fn begin(&self, stage: &'static str, total: usize) {
        self.enter(Stage { name: stage, total, ..Stage::default() });
    }

    pub(crate) fn enter(&self, stage: Stage) {
        let mut now = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.done.store(stage.done, Ordering::Relaxed);
        *now = stage;
    }

    pub(crate) fn advance(&self, steps: usize) {
        self.0.done.fetch_add(steps, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() {
            Err(allocator::refusal().map_or(Error::Interrupted, Error::Memory))
        } else {
            Ok(())
        }
    }
}

impl Stage {
    /// Cost of the first steps.
    fn cost(&self, steps: usize) -> f64 {
        let steps = steps as f64;
        match self.growth {
            Growth::None => steps,
            Growth::Linear(head) => steps * (head as f64 + steps / 2.0),
            Growth::Square => steps.powi(3) / 3.0,
        }
    }
}

/// The remaining time of the current stage, estimated from the work done so far.
///
/// ```
/// use mercer::{Progress, monitor::TimeLeft};
/// use std::time::{Duration, Instant};
///
/// let (start, mut left) = (Instant::now(), TimeLeft::default());
/// let after = |seconds| start + Duration::from_secs(seconds);
/// let at = |share| Progress { stage: "counting", total: 100, share, ..Progress::default() };
/// assert_eq!(left.look(at(0.0), start), None);
/// assert_eq!(left.look(at(0.1), after(9)), None); // a first step may have more to do than others
/// assert_eq!(left.look(at(0.3), after(19)), Some("about 35 s left".into()));
/// assert_eq!(left.look(at(0.3), after(24)), Some("about 30 s left".into())); // until there is news
/// assert_eq!(left.look(at(0.5), after(209)), Some("about 4 min left".into()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TimeLeft {
    /// Time and progress when the stage was first seen, then when its first step was done: the first step may be slower.
    first: Option<(Instant, Progress)>,
    moved: bool,
    /// When the share last grew, the share then, and the estimate then.
    last: Option<(Instant, f64, Duration)>,
}

impl TimeLeft {
    /// No estimate is given from less time or work than this.
    const MIN_TIME: Duration = Duration::from_secs(2);
    const MIN_SHARE: f64 = 0.02;

    /// The remaining time in words; None if it cannot be estimated yet.
    pub fn look(&mut self, now: Progress, at: Instant) -> Option<String> {
        let (began, first) = match self.first {
            Some((began, first)) if first.stage == now.stage && first.share <= now.share => {
                if self.moved || first.share == now.share {
                    (began, first)
                } else {
                    (self.first, self.moved) = (Some((at, now)), true);
                    (at, now)
                }
            }
            _ => {
                *self = Self { first: Some((at, now)), ..Self::default() };
                (at, now)
            }
        };
        let (gone, share) = (at.saturating_duration_since(began), now.share - first.share);
        if now.total == 0 || gone < Self::MIN_TIME || share < Self::MIN_SHARE {
            return None;
        }
        let (when, left) = match self.last {
            Some((when, share, left)) if share >= now.share => (when, left),
            _ => {
                let left = gone.mul_f64((1.0 - now.share) / share);
                self.last = Some((at, now.share, left));
                (at, left)
            }
        };
        let left = left.saturating_sub(at.saturating_duration_since(when));
        Some(format!("{} {} left", if now.open { "at most" } else { "about" }, in_words(left)))
    }
}

/// A rough time: in seconds below a minute and a half, then in minutes, then in hours.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil().max(1.0) as u64;
    let minutes = (seconds + 30) / 60;
    match seconds {
        0..20 => format!("{seconds} s"),
        20..90 => format!("{} s", seconds.div_ceil(5) * 5),
        90..5_400 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60 / 10 * 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_the_cost_of_steps() {
        let monitor = Monitor::default();
        let stage = Stage { name: "growing", total: 100, ..Stage::default() };
        monitor.enter(Stage { growth: Growth::Linear(50), ..stage });
        monitor.advance(50);
        assert!((monitor.progress().share - 50.0 * 75.0 / (100.0 * 100.0)).abs() < 1e-15);
        monitor.advance(50);
        assert!((monitor.progress().share - 1.0).abs() < 1e-15);
        monitor.enter(Stage { growth: Growth::Square, done: 50, ..stage });
        assert!((monitor.progress().share - 0.125).abs() < 1e-15);
        monitor.begin("unknown", 0);
        monitor.advance(3);
        assert!(monitor.progress().share <= 1.0);
    }

    #[test]
    fn work_of_an_earlier_run_does_not_enter_the_estimate() {
        let (start, mut left) = (Instant::now(), TimeLeft::default());
        let at = |share| Progress { stage: "growing", total: 10, share, open: true, ..Progress::default() };
        assert_eq!(left.look(at(0.7), start), None);
        assert_eq!(left.look(at(0.8), start), None);
        assert_eq!(left.look(at(0.9), start + Duration::from_secs(10)), Some("at most 10 s left".into()));
        // The next stage starts a new estimate.
        let next = Progress { stage: "next", total: 10, ..Progress::default() };
        assert_eq!(left.look(next, start + Duration::from_secs(20)), None);
    }

    #[test]
    fn times_are_rounded_to_what_is_known() {
        let words = [0, 7, 61, 100, 3_000, 4_000, 8_000].map(|s| in_words(Duration::from_secs(s)));
        assert_eq!(words, ["1 s", "7 s", "65 s", "2 min", "50 min", "67 min", "2 h 10 min"]);
    }
}
