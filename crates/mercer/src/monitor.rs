//! Progress out, stop in: the one thing a caller on another thread shares with running work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// A handle on running work: the caller reads how far it is and may stop it. Clones share one state.
///
/// ```
/// use mercer::{Basis, Error, Kernel, Monitor, data::synth};
///
/// let monitor = Monitor::default();
/// monitor.stop(); // as a Ctrl-C handler would, from another thread
/// let table = synth::generate("ringnorm?n=50")?;
/// let stopped = Basis::kobl(Kernel::rbf(0.05)).monitor(&monitor).fit(&table.rows);
/// assert!(matches!(stopped, Err(Error::Interrupted)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Monitor(Arc<State>);

#[derive(Debug, Default)]
struct State {
    stop: Arc<AtomicBool>,
    stage: Mutex<&'static str>,
    done: AtomicUsize,
    total: AtomicUsize,
}

/// How far the work is: `done` of `total` steps of `stage` (`total` 0: not known).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: &'static str,
    /// Steps finished.
    pub done: usize,
    /// Steps in all, 0 when that is not known beforehand.
    pub total: usize,
}

impl Monitor {
    /// Asks the work to end; it returns [`Error::Interrupted`] at its next panel.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// A handle for a part of the work: stopped with the whole, its progress is its own.
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

    /// Whether someone asked the work to end.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Where the work stands.
    pub fn progress(&self) -> Progress {
        Progress {
            stage: *self.0.stage.lock().unwrap_or_else(PoisonError::into_inner),
            done: self.0.done.load(Ordering::Relaxed),
            total: self.0.total.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn begin(&self, stage: &'static str, total: usize) {
        *self.0.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, steps: usize) {
        self.0.done.fetch_add(steps, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
