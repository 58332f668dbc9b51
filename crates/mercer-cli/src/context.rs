//! What every command shares: whether to talk, how far the work is, and Ctrl-C.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use mercer::monitor::TimeLeft;
use mercer::{Checkpoint, Error, Monitor, Progress, Result};

use crate::talk;

/// The exit code of a program that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// How often the progress bar looks.
const TICK: Duration = Duration::from_millis(100);

/// What every command shares.
pub(crate) struct Context {
    quiet: bool,
    pub(crate) monitor: Monitor,
    /// Whether there is work that must be asked to end, rather than ended.
    busy: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

impl Context {
    /// From here on, Ctrl-C ends the program at once while it only reads or prints, and cleanly while it works; a second
    /// one always ends it at once.
    pub(crate) fn new(quiet: bool) -> Self {
        let context =
            Self { quiet, monitor: Monitor::default(), busy: Arc::default(), stopped: Arc::default() };
        let (monitor, busy, stopped) =
            (context.monitor.clone(), context.busy.clone(), context.stopped.clone());
        let handler = move || {
            if stopped.swap(true, Ordering::SeqCst) || !busy.load(Ordering::SeqCst) {
                talk::report(&Error::Interrupted);
                process::exit(INTERRUPTED.into());
            }
            monitor.stop();
        };
        if let Err(e) = ctrlc::set_handler(handler) {
            talk::warn(&format!("Ctrl-C cannot be handled, so it will end the program at once: {e}"));
        }
        context
    }

    /// Does long work under a progress bar, on a terminal. What was stopped is not a result, even if it came to its end.
    pub(crate) fn work<T>(&self, work: impl FnOnce(&Monitor) -> Result<T>) -> Result<T> {
        let result = self.work_until_stopped(work);
        if self.stopped.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { result }
    }

    /// The same for work that has something to show even if it was stopped.
    pub(crate) fn work_until_stopped<T>(&self, work: impl FnOnce(&Monitor) -> Result<T>) -> Result<T> {
        self.busy.store(true, Ordering::SeqCst);
        let bar = Bar::start(self.quiet, &self.monitor);
        let result = work(&self.monitor);
        drop(bar);
        self.busy.store(false, Ordering::SeqCst);
        result
    }

    /// Writes a file, which comes to its end even if Ctrl-C is pressed once: half of it would stay behind.
    pub(crate) fn write<T>(&self, write: impl FnOnce() -> Result<T>) -> Result<T> {
        self.busy.store(true, Ordering::SeqCst);
        let result = write();
        self.busy.store(false, Ordering::SeqCst);
        result
    }

    /// Says that an earlier run has left something.
    pub(crate) fn greet(&self, checkpoint: Option<&Checkpoint>) {
        if let Some(kept) = checkpoint.filter(|kept| kept.holds_something()) {
            self.say(&format!("going on from what is in {}", kept.folder().display()));
        }
    }

    /// Removes what was kept of work that is done.
    pub(crate) fn forget(checkpoint: Option<&Checkpoint>) {
        if let Some(Err(error)) = checkpoint.map(Checkpoint::clear) {
            talk::warn(&format!("all is done, but the checkpoint could not be removed: {error}"));
        }
    }

    /// A line about what is going on, unless the user wants quiet.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            talk::line("", text);
        }
    }
}

/// A bar on standard error, where that is a terminal. It vanishes when it is dropped.
struct Bar {
    done: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Bar {
    fn start(quiet: bool, monitor: &Monitor) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let bar = ProgressBar::new_spinner();
        if quiet || bar.is_hidden() {
            return Self { done, thread: None };
        }
        let (monitor, seen) = (monitor.clone(), done.clone());
        let thread = thread::spawn(move || {
            let mut left = TimeLeft::default();
            while !seen.load(Ordering::Relaxed) {
                let progress = monitor.progress();
                show(&bar, progress, left.look(progress, Instant::now()));
                thread::park_timeout(TICK);
            }
            bar.finish_and_clear();
        });
        Self { done, thread: Some(thread) }
    }
}

/// Every call may draw: in the order in which nothing is shown that is not so.
fn show(bar: &ProgressBar, Progress { stage, done, total, .. }: Progress, left: Option<String>) {
    bar.set_length(total as u64);
    bar.set_prefix(left.map_or_else(String::new, |left| format!(", {left}")));
    let template = if total == 0 { "{spinner} {msg}" } else { "{msg} {wide_bar} {pos}/{len}{prefix}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(stage);
    bar.set_position(done as u64);
    bar.tick();
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A bar that broke is no reason to lose the work.
            let _ = thread.join();
        }
    }
}
