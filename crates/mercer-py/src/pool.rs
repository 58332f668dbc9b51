//! One pool of threads a process.

use std::ffi::CString;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use mercer::options::allowed_threads;
use pyo3::exceptions::{PyMemoryError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Where the number of threads is looked for, in this order. joblib gives its workers their share of the cores in the
/// last one.
const VARIABLES: [&str; 3] = ["MERCER_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS"];

/// The pool and the process that made it.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process. Asking for `py` keeps the lock inside the GIL, so no fork can happen while it is held.
pub(crate) fn current(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*pool
        && *owner == process
    {
        return Ok(pool.clone());
    }
    // A fork computes with as many as the process that it comes from.
    let inherited = pool.as_ref().map(|(_, pool)| pool.current_num_threads());
    let (threads, warning) = allowed_threads(inherited.unwrap_or_else(wanted));
    let fresh = started(threads)?;
    // After a fork the old pool has no threads left, and locks that may never open: it must not be dropped.
    mem::forget(pool.replace((process, fresh.clone())));
    // What a warning calls may ask for the pool.
    drop(pool);
    tell(py, warning)?;
    Ok(fresh)
}

/// The threads to start where so many were asked for; a warning says if these are fewer.
pub(crate) fn allowed(py: Python<'_>, asked: usize) -> PyResult<usize> {
    let (threads, warning) = allowed_threads(asked);
    tell(py, warning).map(|()| threads)
}

pub(crate) fn tell(py: Python<'_>, warning: Option<String>) -> PyResult<()> {
    let Some(text) = warning else { return Ok(()) };
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)
}

/// A pool of so many threads, or of as many as the system gives memory for.
fn started(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut threads = threads;
    loop {
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("mercer-{i}")).build();
        match pool {
            Ok(pool) => return Ok(Arc::new(pool)),
            Err(_) if threads > 1 => threads /= 2,
            Err(e) => return Err(PyMemoryError::new_err(format!("no thread could be started: {e}"))),
        }
    }
}

/// The first variable that holds a number above 0, else the cores that this process may use.
fn wanted() -> usize {
    let number = |name: &&str| {
        let text = std::env::var(name).ok()?;
        // OpenMP allows a list, one number a level of nesting.
        text.split(',').next()?.trim().parse::<usize>().ok().filter(|n| *n > 0)
    };
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    VARIABLES.iter().find_map(number).unwrap_or_else(cores)
}

/// Compute with so many threads from here on. Work that runs already ends with those that it has.
#[pyfunction]
pub(crate) fn set_threads(py: Python<'_>, n_threads: usize) -> PyResult<()> {
    if n_threads == 0 {
        return Err(PyValueError::new_err("n_threads = 0, but at least 1 is needed"));
    }
    let n_threads = allowed(py, n_threads)?;
    if current(py)?.current_num_threads() == n_threads {
        return Ok(());
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    *pool = Some((std::process::id(), started(n_threads)?));
    Ok(())
}

/// Number of threads that this process computes with.
#[pyfunction]
pub(crate) fn n_threads(py: Python<'_>) -> PyResult<usize> {
    Ok(current(py)?.current_num_threads())
}
