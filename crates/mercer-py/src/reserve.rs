//! Memory that is kept in reserve while calls are under way, where a limit of the system may refuse some: Rust would end the
//! interpreter where an allocation fails. With the reserve the call comes to its next check, and raises `MemoryError`.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};
use mercer::Error;
use mercer::allocator::{Guarded, drop_reserve, keep_reserve, refusal};
use mercer::options::{bytes, is_limited};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rayon::ThreadPool;

#[global_allocator]
static ALLOCATOR: Guarded = Guarded::reserving();

/// What small allocations may take until a call has noticed that memory has run out.
const SMALL: usize = 64 << 20;

/// The address space that the system's allocator reserves for a moment where a thread first allocates.
const HEAP: usize = 128 << 20;

/// The most that is kept for products of matrices.
const MOST: usize = 1 << 30;

/// The cache that products of matrices are packed for, where the system does not tell its size.
const USUAL_CACHE: usize = 32 << 20;

/// The process, and how many of its calls are under way.
static CALLS: Mutex<(u32, usize)> = Mutex::new((0, 0));

/// The pool whose threads have the memory that they pack products of matrices into.
static PREPARED: Mutex<Weak<ThreadPool>> = Mutex::new(Weak::new());

/// Rows and columns of a product that is packed.
const PACKED_SIZE: usize = 128;

/// A call that is under way.
pub(crate) struct UnderWay(u32);

impl UnderWay {
    /// The first of several calls sees to the reserve. Asking for `py` keeps the lock inside the GIL, so no fork can happen
    /// while it is held.
    pub(crate) fn begin(_: Python<'_>, pool: &Arc<ThreadPool>) -> PyResult<Self> {
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if calls.0 != process {
            *calls = (process, 0);
        }
        if calls.1 == 0 && (is_limited() || refusal().is_some()) {
            prepare(pool)?;
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

/// Keeps the reserve. Before, every thread of the pool gets the memory into which it packs both factors of a product, as large as
/// the last cache each: it keeps that for good, and could not go on without it.
fn prepare(pool: &Arc<ThreadPool>) -> PyResult<()> {
    let threads = pool.current_num_threads();
    let packed = threads.saturating_mul(2 * last_cache());
    let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if !prepared.upgrade().is_some_and(|prepared| Arc::ptr_eq(&prepared, pool)) {
        keep(SMALL + packed + threads.saturating_mul(HEAP), threads)?;
        drop_reserve();
        // No call is under way, so that the threads are free.
        pool.broadcast(|_| pack());
        *prepared = Arc::downgrade(pool);
    }
    keep(SMALL + packed.min(MOST) / 2, threads)
}

/// Computes products, whole and of one half, which are packed into different memory.
fn pack() {
    let some = Mat::<f64>::zeros(PACKED_SIZE, PACKED_SIZE);
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    let mut out = some.clone();
    matmul(&mut out, Accum::Replace, &some, &some, 1.0, Par::Seq);
    triangular::matmul(&mut out, lower, Accum::Replace, &some, whole, &some, whole, 1.0, Par::Seq);
}

/// Keeps so many bytes in reserve, or tells why that is not possible.
fn keep(reserve: usize, threads: usize) -> PyResult<()> {
    if keep_reserve(reserve) {
        return Ok(());
    }
    Err(PyMemoryError::new_err(format!(
        "a limit of the system leaves less than the {} that computing with {threads} threads may need\n\
         hint: raise the limit (`ulimit -v`, RLIMIT_AS), or use fewer threads (MERCER_NUM_THREADS)",
        bytes(reserve as u64)
    )))
}

/// Bytes of the last cache of the processor.
fn last_cache() -> usize {
    static CACHE: OnceLock<usize> = OnceLock::new();
    *CACHE.get_or_init(|| {
        let told = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
        let kilobytes = told.and_then(|text| text.trim().strip_suffix('K')?.parse::<usize>().ok());
        kilobytes.map_or(USUAL_CACHE, |kilobytes| kilobytes << 10)
    })
}

/// The error of a matrix for which there was no memory: faer panics.
pub(crate) fn out_of_memory(unwound: Box<dyn Any + Send>) -> Result<Error, Box<dyn Any + Send>> {
    let is_allocation = unwound.downcast_ref::<String>().is_some_and(|text| text.contains("AllocError"));
    match refusal() {
        Some(text) if is_allocation => Ok(Error::Memory(text)),
        _ => Err(unwound),
    }
}
