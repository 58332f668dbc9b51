//! The libFuzzer binary: the environment variable `TARGET` names the target.

#![no_main]

mod targets;

// Brings libFuzzer and its `main`.
use libfuzzer_sys as _;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// The most bytes that an input may have allocated at a time: a multiple of the readers' budget and of the inputs' size.
const MOST_BYTES: usize = 256 << 20;

/// The last panic, which a reader may have caught.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// The body of the target that was named.
static BODY: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    let Some((_, body)) = targets::TARGETS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("TARGET = `{name}`, but it must be one of {}", names.join(", "));
        std::process::exit(2);
    };
    // Decoders of damaged files may panic: the readers catch that. A panic in our own files is a defect even if it is caught.
    std::panic::set_hook(Box::new(|panic| {
        if panic.location().is_none_or(|place| {
            place.file().contains("crates/mercer") || place.file().contains("src/targets.rs")
        }) {
            eprintln!("{panic}");
            std::process::abort();
        }
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = panic.to_string();
        }
    }));
    // Advice on a few rows, with products of matrices.
    targets::TARGETS.iter().filter(|(name, _)| *name == "advice").for_each(|(_, advise)| advise(b"{}"));
    RESERVED.store(LARGEST.load(Ordering::Relaxed), Ordering::Relaxed);
    *body
});

#[unsafe(no_mangle)]
#[expect(improper_ctypes_definitions, reason = "libfuzzer-sys, which calls it, is Rust as well")]
pub extern "C" fn rust_fuzzer_test_input(input: &[u8]) -> i32 {
    let body = *BODY;
    BEFORE.store(ALLOCATED.load(Ordering::Relaxed), Ordering::Relaxed);
    if std::panic::catch_unwind(|| body(input)).is_err() {
        eprintln!("{}", LAST_PANIC.lock().map_or_else(|_| String::new(), |last| last.clone()));
        std::process::abort();
    }
    0
}

/// libFuzzer limits single allocations only together with an address sanitizer, and looks at all of them once a second. Here
/// memory ends at the allocation that is too much: who can live without it must do so, all others end the process.
struct Limited;

/// Bytes that are allocated now, and that were when the input began: kernels that are sums stay for good.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);

/// What the matrix products reserve for each thread, by the size of the processor's cache (half a gigabyte where that is large)
/// and most of it never touched: no input asks for it, so it does not count. It is the largest allocation of a first product.
static RESERVED: AtomicUsize = AtomicUsize::new(usize::MAX);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Limited = Limited;

impl Limited {
    /// Counts memory that is given back.
    fn given_back(bytes: usize) {
        if bytes != RESERVED.load(Ordering::Relaxed) {
            // What came before the first input was not counted.
            let _ = ALLOCATED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| Some(all.saturating_sub(bytes)));
        }
    }

    /// The memory that `allocate` finds, unless it is too much.
    fn within_limit(bytes: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
        if RESERVED.load(Ordering::Relaxed) == usize::MAX {
            LARGEST.fetch_max(bytes, Ordering::Relaxed);
            return allocate();
        }
        if bytes == RESERVED.load(Ordering::Relaxed) {
            return allocate();
        }
        let all = ALLOCATED.load(Ordering::Relaxed).saturating_add(bytes);
        if all.saturating_sub(BEFORE.load(Ordering::Relaxed)) > MOST_BYTES {
            return std::ptr::null_mut();
        }
        let place = allocate();
        if !place.is_null() {
            ALLOCATED.fetch_add(bytes, Ordering::Relaxed);
        }
        place
    }
}

// SAFETY: calls are passed on to the system's allocator as they are, or fail.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::within_limit(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::within_limit(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        Self::given_back(layout.size());
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let larger = Self::within_limit(size, || unsafe { System.realloc(place, layout, size) });
        if !larger.is_null() {
            Self::given_back(layout.size());
        }
        larger
    }
}
