//! Ctrl-C in every thread. Python delivers signals to the main thread alone, which may be waiting for another thread: so calls
//! in other threads see by themselves that the signal has come.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// What a call looks at for signals.
pub(crate) enum Interrupts {
    /// In the main thread Python looks.
    Main,
    /// In another thread, Ctrl-C stops the call if it is to stop the program; holds how often it had come before.
    Other(Option<watch::Watch>),
}

impl Interrupts {
    pub(crate) fn watch(py: Python<'_>) -> PyResult<Self> {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        if threading.call_method0("get_ident")?.eq(main)? {
            return Ok(Self::Main);
        }
        let signal = py.import("signal")?;
        let handler = signal.call_method1("getsignal", (signal.getattr("SIGINT")?,))?;
        // Programs with a handler of their own decide by themselves what Ctrl-C stops.
        let usual = handler.is(&signal.getattr("default_int_handler")?);
        Ok(Self::Other(usual.then(watch::Watch::begin)))
    }

    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        match self {
            Self::Other(Some(watch)) if watch.has_come() => Err(PyKeyboardInterrupt::new_err(())),
            _ => Ok(()),
        }
    }
}

#[cfg(not(unix))]
#[path = "interrupts/none.rs"]
mod watch;
#[cfg(unix)]
#[path = "interrupts/chained.rs"]
mod watch;
