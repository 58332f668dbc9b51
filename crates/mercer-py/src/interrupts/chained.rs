//! While calls are under way, Ctrl-C is counted, and then handled as before.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

type Handler = unsafe extern "C" fn(c_int);

unsafe extern "C" {
    // As in Python's stable interface; None stands for the system's own handling.
    fn PyOS_getsig(signal: c_int) -> Option<Handler>;
    fn PyOS_setsig(signal: c_int, handler: Option<Handler>) -> Option<Handler>;
}

/// Its number is the same on all Unix systems.
const SIGINT: c_int = 2;

/// The address that stands for a signal that is ignored.
const IGNORED: usize = 1;

/// How often Ctrl-C has come.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What handled it before.
static BEFORE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Calls that watch.
static WATCHING: Mutex<usize> = Mutex::new(0);

unsafe extern "C" fn counted(signal: c_int) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let before = BEFORE.load(Ordering::Relaxed);
    if !before.is_null() {
        // SAFETY: `begin` stored the address of a handler, which is called as the system would have called it.
        unsafe { std::mem::transmute::<*mut (), Handler>(before)(signal) };
    }
}

fn is_ours(handler: Option<Handler>) -> bool {
    handler.is_some_and(|handler| handler as usize == counted as *const () as usize)
}

/// A call that looks whether Ctrl-C has come since it began.
pub(crate) struct Watch(usize);

impl Watch {
    pub(crate) fn begin() -> Self {
        let mut watching = WATCHING.lock().unwrap_or_else(PoisonError::into_inner);
        *watching += 1;
        // SAFETY: both functions may be called from any thread; a handler that is put in place stays in memory.
        unsafe {
            let now = PyOS_getsig(SIGINT);
            if let Some(handler) = now.filter(|handler| *handler as usize != IGNORED)
                && !is_ours(now)
            {
                BEFORE.store(handler as *mut (), Ordering::Relaxed);
                PyOS_setsig(SIGINT, Some(counted));
            }
        }
        Self(COUNT.load(Ordering::Relaxed))
    }

    pub(crate) fn has_come(&self) -> bool {
        COUNT.load(Ordering::Relaxed) != self.0
    }
}

impl Drop for Watch {
    /// The last call puts the handler back, unless somebody else has put another in place.
    fn drop(&mut self) {
        let mut watching = WATCHING.lock().unwrap_or_else(PoisonError::into_inner);
        *watching -= 1;
        // SAFETY: as above; `BEFORE` holds a handler, because ours is in place.
        unsafe {
            if *watching == 0 && is_ours(PyOS_getsig(SIGINT)) {
                let before = BEFORE.load(Ordering::Relaxed);
                PyOS_setsig(SIGINT, Some(std::mem::transmute::<*mut (), Handler>(before)));
            }
        }
    }
}
