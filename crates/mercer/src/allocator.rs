//! An allocator for programs that must not end by an abort where memory runs out.
//!
//! Rust ends the process (SIGABRT) where an allocation fails that nobody expects to fail. A program that has
//! [`Guarded`] as its global allocator ends with a message instead, or gives up a reserve, with which work that is
//! watched by a [`Monitor`](crate::Monitor) comes to its next check and returns [`Error::Memory`](crate::Error::Memory).
//!
//! differs an allocation that is expected to fail (`fallible`) is not guarded

#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::time::Duration;

thread_local! {
    /// Whether this thread expects that an allocation may fail. It needs no memory of its own.
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// How often an allocation is tried, and the time between: a second in all.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// The reserve of this process.
static RESERVE: Reserve = Reserve::new();

/// Memory that is given up where an allocation fails.
struct Reserve {
    /// Where it is; its first bytes are its size.
    memory: AtomicPtr<u8>,
    /// Whether an allocation has failed since, and of how many bytes.
    exhausted: AtomicBool,
    refused: AtomicUsize,
}

/// The system's allocator, with something to do before an allocation fails.
///
/// ```no_run
/// use mercer::allocator::Guarded;
///
/// #[global_allocator]
/// static ALLOCATOR: Guarded = Guarded::ending("hint: use fewer rows");
/// ```
#[derive(Debug)]
pub struct Guarded {
    /// The second line of the message that a program ends with; None: the reserve is given up.
    hint: Option<&'static str>,
}

impl Guarded {
    /// Where an allocation fails, two lines on standard error and the exit code 1.
    pub const fn ending(hint: &'static str) -> Self {
        Self { hint: Some(hint) }
    }

    /// Where an allocation fails, the reserve of [`keep_reserve`] is given up and work is stopped.
    pub const fn reserving() -> Self {
        Self { hint: None }
    }

    /// Tries an allocation that has failed again, if that may help: other threads may free memory in a moment.
    #[cold]
    fn again(&self, bytes: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
        if FALLIBLE.get() {
            return ptr::null_mut();
        }
        if let Some(hint) = self.hint {
            end(bytes, hint);
        }
        RESERVE.give_up(bytes);
        for _ in 0..ATTEMPTS {
            let given = allocate();
            if !given.is_null() {
                return given;
            }
            std::thread::sleep(PAUSE);
        }
        ptr::null_mut()
    }
}

// SAFETY: every call is passed to the system's allocator with the same arguments, until one succeeds; `again` does not unwind and
// does not allocate.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let allocate = || unsafe { System.alloc(layout) };
        let given = allocate();
        if given.is_null() { self.again(layout.size(), allocate) } else { given }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let allocate = || unsafe { System.alloc_zeroed(layout) };
        let given = allocate();
        if given.is_null() { self.again(layout.size(), allocate) } else { given }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; a call that failed has left the memory as it was.
        let allocate = || unsafe { System.realloc(memory, layout, new_size) };
        let given = allocate();
        if given.is_null() { self.again(new_size, allocate) } else { given }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Does what allocates and reports by itself that memory is missing.
pub(crate) fn fallible<T>(allocate: impl FnOnce() -> T) -> T {
    let before = FALLIBLE.replace(true);
    let given = allocate();
    FALLIBLE.set(before);
    given
}

/// Whether the reserve was given up since it was last kept, so that work shall end.
pub(crate) fn is_exhausted() -> bool {
    RESERVE.exhausted.load(Ordering::Relaxed)
}

/// What to tell of work that ended because the reserve was given up; None where that is not so.
pub fn refusal() -> Option<String> {
    is_exhausted().then(|| RESERVE.refusal())
}

/// Keeps at least so many bytes to be given up when memory runs out, and takes back that it has run out; false where the
/// system does not give them.
pub fn keep_reserve(bytes: usize) -> bool {
    RESERVE.keep(bytes)
}

/// Frees the reserve for what needs its memory now.
pub fn drop_reserve() {
    free(RESERVE.memory.swap(ptr::null_mut(), Ordering::AcqRel));
}

impl Reserve {
    const fn new() -> Self {
        Self {
            memory: AtomicPtr::new(ptr::null_mut()),
            exhausted: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
        }
    }

    fn keep(&self, bytes: usize) -> bool {
        self.exhausted.store(false, Ordering::Relaxed);
        if !self.memory.load(Ordering::Acquire).is_null() {
            return true;
        }
        let Ok(layout) = layout(bytes.max(size_of::<usize>())) else { return false };
        // SAFETY: the layout has a size above 0.
        let given = unsafe { System.alloc(layout) };
        if given.is_null() {
            return false;
        }
        // SAFETY: there is room for one number, at its alignment.
        unsafe { given.cast::<usize>().write_unaligned(layout.size()) };
        free(self.memory.swap(given, Ordering::AcqRel));
        true
    }

    /// Frees the memory and notes that an allocation has failed.
    fn give_up(&self, bytes: usize) {
        if !self.exhausted.swap(true, Ordering::Relaxed) {
            self.refused.store(bytes, Ordering::Relaxed);
        }
        free(self.memory.swap(ptr::null_mut(), Ordering::AcqRel));
    }

    fn refusal(&self) -> String {
        format!(
            "the system refused {} kB of memory: a limit (`ulimit`, RLIMIT_AS, RLIMIT_DATA) or other programs leave less\n\
             hint: raise the limit, use fewer threads, or fewer rows, columns or components",
            self.refused.load(Ordering::Relaxed).div_ceil(1_000)
        )
    }
}

/// Frees a reserve that a swap has handed out, which only one thread gets.
fn free(kept: *mut u8) {
    if kept.is_null() {
        return;
    }
    // SAFETY: `Reserve::keep` allocated it with the system's allocator and wrote its size there.
    unsafe {
        let size = kept.cast::<usize>().read_unaligned();
        if let Ok(layout) = layout(size) {
            System.dealloc(kept, layout);
        }
    }
}

fn layout(bytes: usize) -> Result<Layout, std::alloc::LayoutError> {
    Layout::from_size_align(bytes, align_of::<usize>())
}

/// Ends the process with a message, without memory.
fn end(bytes: usize, hint: &str) -> ! {
    let mut text = Text { bytes: [0; 512], used: 0 };
    let kilobytes = bytes.div_ceil(1_000);
    let _ = writeln!(
        text,
        "error: the system refused {kilobytes} kB of memory: a limit (`ulimit`, a container) or other programs leave less\n{hint}"
    );
    leave(&text.bytes[..text.used])
}

/// Threads that hold locks, or that fail too, must not keep the process: nothing of the program runs any more.
#[cfg(target_os = "linux")]
fn leave(text: &[u8]) -> ! {
    // SAFETY: so many bytes are there; both calls may be made at any time.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(1)
    }
}

#[cfg(not(target_os = "linux"))]
fn leave(text: &[u8]) -> ! {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text);
    std::process::exit(1)
}

/// Text of a limited length.
struct Text {
    bytes: [u8; 512],
    used: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.used..];
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.used += taken;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_is_given_up_once_and_kept_again() {
        let reserve = Reserve::new();
        for _ in 0..2 {
            assert!(reserve.keep(1 << 20) && reserve.keep(1 << 20));
            assert!(!reserve.exhausted.load(Ordering::Relaxed));
            reserve.give_up(12_345);
            reserve.give_up(1);
            assert!(
                reserve.exhausted.load(Ordering::Relaxed) && reserve.memory.load(Ordering::Relaxed).is_null()
            );
            assert!(reserve.refusal().starts_with("the system refused 13 kB of memory"));
        }
        assert!(!reserve.keep(usize::MAX) && !reserve.keep(isize::MAX as usize - 64));
    }

    #[test]
    fn an_allocation_that_may_fail_is_not_guarded() {
        let guarded = Guarded::reserving();
        let given = fallible(|| guarded.again(1, || unreachable!("it is not tried again")));
        assert!(given.is_null());
        assert!(!FALLIBLE.get());
    }

    #[test]
    fn text_is_cut_where_there_is_no_room() {
        let mut text = Text { bytes: [0; 512], used: 0 };
        for _ in 0..300 {
            let _ = write!(text, "four");
        }
        assert_eq!(text.used, 512);
    }
}
