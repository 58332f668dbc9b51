//! Memory that is kept in reserve while calls are under way, where a limit of the system may refuse some: Rust would end the
//! interpreter where an allocation fails. With the reserve the call comes to its next check, and raises `MemoryError`.

use std::any::Any;
use std::sync::{Mutex, OnceLock, PoisonError};

use mercer::Error;
use mercer::allocator::{Guarded, keep_reserve, refusal};
use mercer::options::{bytes, is_limited};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: Guarded = Guarded::reserving();

/// What small allocations may take until a call has noticed that memory has run out.
const SMALL: usize = 64 << 20;

/// The most that is kept.
const MOST: usize = 1 << 30;

/// The cache that products of matrices are packed for, where the system does not tell its size.
const USUAL_CACHE: usize = 32 << 20;

/// The process, and how many of its calls are under way.
static CALLS: Mutex<(u32, usize)> = Mutex::new((0, 0));

/// A call that is under way.
pub(crate) struct UnderWay(u32);

impl UnderWay {
    /// The first of several calls sees to the reserve. Asking for `py` keeps the lock inside the GIL, so no fork can happen
    /// while it is held.
    pub(crate) fn begin(_: Python<'_>, threads: usize) -> PyResult<Self> {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if calls.0 != process {
            *calls = (process, 0);
        }
        if calls.1 == 0 && (is_limited() || refusal().is_some()) {
            let reserve = reserve(threads);
            if !keep_reserve(reserve) {
                return Err(PyMemoryError::new_err(format!(
                    "a limit of the system leaves less than the {} that computing with {threads} threads may need\n\
                     hint: raise the limit (`ulimit -v`, RLIMIT_AS), or use fewer threads (MERCER_NUM_THREADS)",
                    bytes(reserve as u64)
                )));
            }
        }
        calls.1 += 1;
        Ok(Self(process))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.0 == self.0 {
            calls.1 = calls.1.saturating_sub(1);
        }
    }
}

/// Every thread packs both factors of a product into memory of the size of the last cache.
fn reserve(threads: usize) -> usize {
    static CACHE: OnceLock<usize> = OnceLock::new();
    let cache = *CACHE.get_or_init(|| {
        let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
        let kilobytes = told.and_then(|text| text.trim().strip_suffix('K')?.parse::<usize>().ok());
        kilobytes.map_or(USUAL_CACHE, |kilobytes| kilobytes << 10)
    });
    (SMALL + threads.saturating_mul(2 * cache)).min(MOST)
}

/// The error of a matrix for which there was no memory: faer panics.
pub(crate) fn out_of_memory(unwound: Box<dyn Any + Send>) -> Result<Error, Box<dyn Any + Send>> {
    let is_allocation = unwound.downcast_ref::<String>().is_some_and(|text| text.contains("AllocError"));
    match refusal() {
        Some(text) if is_allocation => Ok(Error::Memory(text)),
        _ => Err(unwound),
    }
}
