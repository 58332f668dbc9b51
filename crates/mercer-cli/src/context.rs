//! State that every command shares: verbosity, progress and Ctrl-C.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use mercer::monitor::TimeLeft;
use mercer::{Checkpoint, Error, Monitor, Progress, Result};

use crate::stderr;

/// Exit code after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Update interval of the progress bar.
const TICK: Duration = Duration::from_millis(100);

/// State that every command shares.
pub(crate) struct Context {
    quiet: bool,
    pub(crate) monitor: Monitor,
    /// Whether work is running that must be stopped cleanly.
    busy: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

impl Context {
    /// Installs the Ctrl-C handler: while work is running the first Ctrl-C stops it cleanly; otherwise, and the second time,
    /// the program ends at once.
    pub(crate) fn new(quiet: bool) -> Self {
        let context = Self::without_handler(quiet);
        let (monitor, busy, stopped) =
            (context.monitor.clone(), context.busy.clone(), context.stopped.clone());
        let handler = move || {
            if stopped.swap(true, Ordering::SeqCst) || !busy.load(Ordering::SeqCst) {
                stderr::report(&Error::Interrupted);
                process::exit(INTERRUPTED.into());
            }
            monitor.stop();
        };
        if let Err(e) = ctrlc::set_handler(handler) {
            stderr::warn(&format!("Ctrl-C cannot be handled, so it will end the program at once: {e}"));
        }
        context
    }

    /// The state of a command that runs nothing.
    pub(crate) fn without_handler(quiet: bool) -> Self {
        Self { quiet, monitor: Monitor::default(), busy: Arc::default(), stopped: Arc::default() }
    }

    /// Runs long work under a progress bar (on a terminal). If it was stopped, the result is [`Error::Interrupted`], even if
    /// the work came to its end.
    pub(crate) fn work<T>(&self, work: impl FnOnce(&Monitor) -> Result<T>) -> Result<T> {
        let result = self.work_until_stopped(work);
        if self.stopped.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { result }
    }

    /// Runs long work under a progress bar and returns its result even if it was stopped.
    pub(crate) fn work_until_stopped<T>(&self, work: impl FnOnce(&Monitor) -> Result<T>) -> Result<T> {
        self.busy.store(true, Ordering::SeqCst);
        let bar = Bar::start(self.quiet, &self.monitor);
        let result = work(&self.monitor);
        drop(bar);
        self.busy.store(false, Ordering::SeqCst);
        result
    }

    /// Writes a file and finishes it even if Ctrl-C is pressed once, so that no partial file is left.
    pub(crate) fn write<T>(&self, write: impl FnOnce() -> Result<T>) -> Result<T> {
        self.busy.store(true, Ordering::SeqCst);
        let result = write();
        self.busy.store(false, Ordering::SeqCst);
        result
    }

    /// Notes that an earlier run left a checkpoint.
    pub(crate) fn announce_resume(&self, checkpoint: Option<&Checkpoint>) {
        if let Some(found) = checkpoint.filter(|found| found.holds_something()) {
            self.info(&format!("resuming from {}", found.folder().display()));
        }
    }

    /// Removes the checkpoint of work that is done.
    pub(crate) fn clear_checkpoint(checkpoint: Option<&Checkpoint>) {
        if let Some(Err(error)) = checkpoint.map(Checkpoint::clear) {
            stderr::warn(&format!("the work is done, but the checkpoint could not be removed: {error}"));
        }
    }

    /// A note on standard error, unless `--quiet` was given.
    pub(crate) fn info(&self, text: &str) {
        if !self.quiet {
            stderr::line("", text);
        }
    }
}

/// A progress bar on standard error, if that is a terminal. It is removed on drop.
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
        let shown = move || {
            let mut left = TimeLeft::default();
            while !seen.load(Ordering::Relaxed) {
                let progress = monitor.progress();
                show(&bar, progress, left.look(progress, Instant::now()));
                thread::park_timeout(TICK);
            }
            bar.finish_and_clear();
        };
        // Work goes on without a bar.
        Self { done, thread: thread::Builder::new().spawn(shown).ok() }
    }
}

/// Every call below may draw, so they are ordered such that no intermediate state is wrong.
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
            // A failed progress bar must not lose the work.
            let _ = thread.join();
        }
    }
}
