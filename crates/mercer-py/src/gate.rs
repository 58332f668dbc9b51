//! The one gate that every call goes through: no GIL, our threads, progress out, Ctrl-C in, errors as exceptions.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use mercer::allocator::refusal;
use mercer::kernel::own::failure;
use mercer::monitor::TimeLeft;
use mercer::options::{allowed_memory, size_in_bytes};
use mercer::{Error, Monitor, Progress, Result};
use pyo3::exceptions::{
    PyArithmeticError, PyException, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError,
    PyValueError,
};
use pyo3::prelude::*;

use crate::interrupts::Interrupts;
use crate::own::{self, Raised};
use crate::pool;
use crate::reserve::{UnderWay, out_of_memory};

/// How often signals are looked at.
const POLL: Duration = Duration::from_millis(50);

/// The shortest time between two lines about progress.
const TALK: Duration = Duration::from_secs(1);

pyo3::create_exception!(
    mercer,
    NumericalError,
    PyArithmeticError,
    "Arithmetic that broke down on data that looked fine, such as a kernel that is not positive semi-definite."
);

pyo3::create_exception!(
    mercer,
    DeviceError,
    PyRuntimeError,
    "A GPU that is not there, lacks a library, or failed."
);

/// Bytes that a fit may take: what was asked for, else what the environment says, else the default, as far as limits of the
/// system allow. A warning says once that these allow less than was asked for.
pub(crate) fn memory(py: Python<'_>, asked: Option<u64>) -> PyResult<u64> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    let asked = match (asked, std::env::var("MERCER_MEMORY")) {
        (None, Ok(text)) if !text.trim().is_empty() => Some(
            size_in_bytes(&text)
                .map_err(|error| PyValueError::new_err(format!("MERCER_MEMORY = {text}, but {error}")))?,
        ),
        _ => asked,
    };
    let (memory, warning) = allowed_memory(asked);
    pool::tell(py, warning.filter(|_| !WARNED.swap(true, Ordering::Relaxed)))?;
    Ok(memory)
}

/// Runs the work on the pool without the GIL. A signal whose handler raises stops the work; its exception is raised
/// once the work has ended, so nothing runs on in the background.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    verbose: u32,
    work: impl FnOnce(&Monitor) -> Result<T> + Send,
) -> PyResult<T> {
    match run_to_the_end(py, verbose, work)? {
        (_, Some(exception)) => Err(exception),
        (result, None) => result.map_err(exception),
    }
}

/// As [`run`], for work that has something to give when it is stopped by Ctrl-C; other exceptions are raised.
pub(crate) fn run_or_part<T: Send>(
    py: Python<'_>,
    verbose: u32,
    work: impl FnOnce(&Monitor) -> Result<T> + Send,
) -> PyResult<T> {
    match run_to_the_end(py, verbose, work)? {
        (Ok(value), Some(raised)) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(value),
        (_, Some(exception)) => Err(exception),
        (result, None) => result.map_err(exception),
    }
}

/// What the work came to, and the exception that stopped it, if any.
fn run_to_the_end<T: Send>(
    py: Python<'_>,
    verbose: u32,
    work: impl FnOnce(&Monitor) -> Result<T> + Send,
) -> PyResult<(Result<T>, Option<PyErr>)> {
    let monitor = Monitor::default();
    if own::is_called() {
        // A function that the pool waits for: it cannot wait for the pool.
        return Ok(ended(py.detach(|| attempted(&monitor, work))));
    }
    let pool = pool::current(py)?;
    let _reserve = UnderWay::begin(py, &pool)?;
    let interrupts = Interrupts::watch(py)?;
    let mut talk = Talk::new(verbose > 0);
    let (result, raised) = py.detach(|| {
        pool.in_place_scope(|scope| {
            let (sender, receiver) = channel();
            let watched = monitor.clone();
            scope.spawn(move |_| {
                // The receiver only goes away when this scope unwinds, and then nobody wants the result.
                let _ = sender.send(attempted(&watched, work));
            });
            wait(&receiver, &monitor, &mut talk, &interrupts)
        })
    });
    match result {
        Some(result) => {
            let (result, own) = ended(result);
            if result.is_ok() {
                talk.end(py)?;
            }
            Ok((result, raised.or(own)))
        }
        None => Err(NumericalError::new_err("the work ended without a result")),
    }
}

/// Waits for what the work came to, says how far it is, and stops it where a signal's handler raises; that exception comes
/// with the result. No result: the work panicked, which the scope that it runs in passes on.
pub(crate) fn wait<T>(
    receiver: &Receiver<T>,
    monitor: &Monitor,
    talk: &mut Talk,
    interrupts: &Interrupts,
) -> (Option<T>, Option<PyErr>) {
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(result) => return (Some(result), None),
            Err(RecvTimeoutError::Disconnected) => return (None, None),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let raised = Python::attach(|py| {
            talk.say(py, monitor.progress())?;
            interrupts.check(py)
        });
        if let Err(exception) = raised {
            monitor.stop();
            return (receiver.recv().ok(), Some(exception));
        }
    }
}

/// What the work came to, unless a function of the user's has raised an exception in it.
type Attempted<T> = std::result::Result<Result<T>, PyErr>;

fn attempted<T>(monitor: &Monitor, work: impl FnOnce(&Monitor) -> Result<T>) -> Attempted<T> {
    let unwound = match catch_unwind(AssertUnwindSafe(|| work(monitor))) {
        Ok(result) => return Ok(result),
        Err(unwound) => unwound,
    };
    match unwound.downcast::<Raised>() {
        Ok(raised) => Err(raised.0),
        Err(other) => match failure(other).or_else(out_of_memory) {
            Ok(error) => Ok(Err(error)),
            Err(other) => resume_unwind(other),
        },
    }
}

/// What the work came to, and the exception that a function has raised.
fn ended<T>(attempted: Attempted<T>) -> (Result<T>, Option<PyErr>) {
    match attempted {
        // Some work does not tell what has stopped it.
        Ok(Err(Error::Interrupted)) => (Err(refusal().map_or(Error::Interrupted, Error::Memory)), None),
        Ok(result) => (result, None),
        Err(raised) => (Err(Error::Interrupted), Some(raised)),
    }
}

/// Lines on `sys.stderr`, where a user asked for them.
pub(crate) struct Talk {
    wanted: bool,
    began: Instant,
    last: Option<(Instant, Progress)>,
    left: TimeLeft,
}

impl Talk {
    pub(crate) fn new(wanted: bool) -> Self {
        Self { wanted, began: Instant::now(), last: None, left: TimeLeft::default() }
    }

    fn say(&mut self, py: Python<'_>, now: Progress) -> PyResult<()> {
        let left = self.left.look(now, Instant::now());
        let news = self.last.is_none_or(|(at, last)| {
            now.stage != last.stage || (now.done != last.done && at.elapsed() >= TALK)
        });
        if !self.wanted || !news || now.stage.is_empty() {
            return Ok(());
        }
        self.last = Some((Instant::now(), now));
        match now.total {
            0 => write(py, now.stage),
            total => {
                let left = left.map_or_else(String::new, |left| format!(", {left}"));
                write(py, &format!("{}: {} of {total}{left}", now.stage, now.done))
            }
        }
    }

    pub(crate) fn end(&self, py: Python<'_>) -> PyResult<()> {
        if self.wanted {
            write(py, &format!("done in {:.2} s", self.began.elapsed().as_secs_f64()))?;
        }
        Ok(())
    }
}

/// A line on `sys.stderr`, which may be closed or missing: progress is not worth an exception. But Ctrl-C is one that may
/// well be raised in there.
fn write(py: Python<'_>, text: &str) -> PyResult<()> {
    let written = py
        .import("sys")
        .and_then(|sys| sys.getattr("stderr"))
        .and_then(|stderr| stderr.call_method1("write", (format!("mercer: {text}\n"),)));
    match written {
        Err(raised) if !raised.is_instance_of::<PyException>(py) => Err(raised),
        _ => Ok(()),
    }
}

/// The exception that an error is in Python.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        // The command line and Rust fill gaps in other ways.
        Error::Data(text) if text.starts_with("Input contains NaN") => PyValueError::new_err(text.replace(
            "hint: fill or drop such rows first",
            "hint: fill them (mercer.TableEncoder does, with medians), or drop such rows",
        )),
        Error::Argument(text) | Error::Data(text) => PyValueError::new_err(text),
        Error::Numerical(text) => NumericalError::new_err(text),
        // Estimators have no such parameter.
        Error::Memory(text) => {
            PyMemoryError::new_err(text.replace("`memory`, MERCER", "the environment variable MERCER"))
        }
        Error::Device(text) => DeviceError::new_err(text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Io { path, source } => os_error(path, &source),
        // Files, and whatever is added later.
        error => PyValueError::new_err(error.to_string()),
    }
}

/// With a number and a file name, Python picks the subclass: `FileNotFoundError`, `PermissionError`, …
fn os_error(path: String, source: &io::Error) -> PyErr {
    let number = source.raw_os_error().or(match source.kind() {
        // What wraps an error for a temporary file keeps its kind and loses its number.
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::NotADirectory => Some(20),
        io::ErrorKind::StorageFull => Some(28),
        io::ErrorKind::ReadOnlyFilesystem => Some(30),
        _ => None,
    });
    let text = source.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_string();
    match number {
        Some(number) => PyOSError::new_err((number, text, path)),
        None => PyOSError::new_err(format!("{path}: {text}")),
    }
}
