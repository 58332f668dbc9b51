//! One NVIDIA GPU: its memory, matrix products, and the kernels of `kernels.cu`.
//!
//! Most of the unsafe code is here, and what is offered is safe: every address that is handed to the GPU
//! lies inside a [`Buffer`], and sizes are checked before each call. Work goes to one stream, in the order of the calls, so
//! that results do not depend on time; [`Gpu::wait`] and everything that brings numbers back wait for it. Only copies of pieces
//! of rows and features go beside it, to a second stream, and marks ([`Event`]) say what waits for what.
//!
//! source  CUDA driver API, NVRTC and cuBLAS; loaded at run time by `library.rs`

#![expect(unsafe_code, reason = "libraries of another language are called")]

mod buffer;
mod event;
mod launch;
mod library;
mod pinned;
mod view;

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::size::{bytes as bytes_for_people, size_in_bytes};
use buffer::size_in_memory;
use library::{
    AS_IT_IS, Address, CAPABILITY_MAJOR, CAPABILITY_MINOR, Handle, LEFT, LOWER, Libraries, MULTIPROCESSORS,
    NON_UNIT, TRANSPOSED, libraries,
};
use pinned::Pinned;

pub(crate) use buffer::{Buffer, rows_in_one_piece};
pub(crate) use event::Event;
pub(crate) use launch::{Closed, GpuShape, Listed, MOST_LISTED, MOST_PIVOTS};
pub(crate) use view::{Operand, View};

/// The source that is compiled for the GPU.
pub(crate) const SOURCE: &str = include_str!("cuda/kernels.cu");

/// The share of the GPU's free memory that a job may take unless `MERCER_DEVICE_MEMORY` says otherwise.
const FREE_SHARE: f64 = 0.9;

/// Memory of up to so many bytes is kept when it is given back, up to so many bytes in all.
const KEPT_BYTES: usize = 1 << 28;
const KEPT_BYTES_IN_ALL: usize = 1 << 30;

/// Codes of the driver.
const OUT_OF_MEMORY: c_int = 2;
const NO_GPU: c_int = 100;

/// An opened GPU.
pub(crate) struct Gpu {
    libraries: &'static Libraries,
    pub(crate) ordinal: usize,
    name: String,
    context: Handle,
    stream: Handle,
    /// For copies beside the work of the other.
    copies: Handle,
    /// Locked memory for copies, by lane.
    pinned: [Mutex<Vec<Pinned>>; 2],
    /// Calls with one handle must not overlap.
    blas: Mutex<Handle>,
    functions: Vec<(&'static str, Handle)>,
    multiprocessors: u32,
    /// Bytes of all buffers.
    used: AtomicU64,
    /// Memory that was given back and is kept for the next buffer: their bytes and addresses. Taking it anew costs as much as
    /// a small kernel.
    kept: Mutex<Vec<(usize, Address)>>,
}

// SAFETY: handles of the driver may be used by any thread that has made the context current, as every call here does; that of
// cuBLAS is behind a lock.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GPU({}, {})", self.ordinal, self.name)
    }
}

/// Adds folders in which libraries are looked for.
pub(crate) fn look_into(folders: Vec<PathBuf>) {
    library::look_into(folders);
}

impl Gpu {
    /// The GPU with this number, opened at its first use.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>> {
        static OPENED: Mutex<Vec<(usize, Arc<Gpu>)>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, gpu)) = opened.iter().find(|(number, _)| *number == ordinal) {
            return Ok(Arc::clone(gpu));
        }
        let gpu = Arc::new(Self::first(ordinal)?);
        opened.push((ordinal, Arc::clone(&gpu)));
        Ok(gpu)
    }

    fn first(ordinal: usize) -> Result<Self> {
        let libraries = libraries()?;
        let driver = &libraries.driver;
        let failed = |code: c_int, doing: &str| check(libraries, code, doing);
        // SAFETY: the driver's functions with places for what they return; names are read up to their end.
        unsafe {
            let code = (driver.init)(0);
            if code == NO_GPU {
                return Err(no_gpu(0, ordinal));
            }
            failed(code, "starting the driver")?;
            let mut count = 0;
            failed((driver.device_count)(&raw mut count), "counting GPUs")?;
            if ordinal >= count.try_into().unwrap_or(0) {
                return Err(no_gpu(count, ordinal));
            }
            let (mut device, mut context) = (0, std::ptr::null_mut());
            failed((driver.device)(&raw mut device, int(ordinal)), "opening the GPU")?;
            failed((driver.retain_context)(&raw mut context, device), "opening the GPU")?;
            failed((driver.set_context)(context), "opening the GPU")?;
            let mut text = [0 as c_char; 256];
            failed((driver.device_name)(text.as_mut_ptr(), 255, device), "opening the GPU")?;
            let attribute = |which: c_int| {
                let mut value = 0;
                failed((driver.attribute)(&raw mut value, which, device), "opening the GPU").map(|()| value)
            };
            let capability = 10 * attribute(CAPABILITY_MAJOR)? + attribute(CAPABILITY_MINOR)?;
            let multiprocessors = attribute(MULTIPROCESSORS)?.unsigned_abs();
            let (mut stream, mut copies) = (std::ptr::null_mut(), std::ptr::null_mut());
            failed((driver.create_stream)(&raw mut stream, 1), "opening the GPU")?;
            failed((driver.create_stream)(&raw mut copies, 1), "opening the GPU")?;
            let mut blas = std::ptr::null_mut();
            blas_check((libraries.blas.create)(&raw mut blas), "starting cuBLAS")?;
            blas_check((libraries.blas.set_stream)(blas, stream), "starting cuBLAS")?;
            let functions = compiled(libraries, capability)?;
            Ok(Self {
                libraries,
                ordinal,
                name: CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned(),
                context,
                stream,
                copies,
                pinned: [Mutex::new(Vec::new()), Mutex::new(Vec::new())],
                blas: Mutex::new(blas),
                functions,
                multiprocessors,
                used: AtomicU64::new(0),
                kept: Mutex::new(Vec::new()),
            })
        }
    }

    /// The GPU's name, such as `NVIDIA H200`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes that may still be taken: what `MERCER_DEVICE_MEMORY` leaves, or a share of what is free.
    pub(crate) fn available(&self) -> Result<u64> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: places for two numbers.
        self.check(
            unsafe { (self.libraries.driver.memory)(&raw mut free, &raw mut total) },
            "asking for memory",
        )?;
        if let Ok(text) = std::env::var("MERCER_DEVICE_MEMORY") {
            let budget = size_in_bytes(&text).map_err(|_| {
                Error::argument(format!(
                    "MERCER_DEVICE_MEMORY = {text}, but it must be a number above 0 with a unit, such as 500MB or 4GB"
                ))
            })?;
            return Ok(budget.saturating_sub(self.used.load(Ordering::Relaxed)));
        }
        let kept: usize =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(own, _)| own).sum();
        Ok((FREE_SHARE * (free + kept) as f64) as u64)
    }

    /// Memory for so many numbers, whatever they are.
    pub(crate) fn room<T: Pod>(self: &Arc<Self>, len: usize) -> Result<Buffer<T>> {
        self.enter()?;
        let bytes = size_in_memory::<T>(len);
        let buffer = |address| Buffer::new(self, address, len, None);
        self.used.fetch_add(bytes as u64, Ordering::Relaxed);
        if let Some(address) = self.take_kept(bytes) {
            return Ok(buffer(address));
        }
        let mut address = 0;
        // SAFETY: a place for the address.
        let mut allocate = || unsafe { (self.libraries.driver.allocate)(&raw mut address, bytes) };
        let mut code = allocate();
        if code == OUT_OF_MEMORY {
            self.free_kept();
            code = allocate();
        }
        if code != 0 {
            self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
        if code == OUT_OF_MEMORY {
            return Err(Error::Memory(format!(
                "the GPU {} has no {} left\n\
                 hint: close what else uses it, or set MERCER_DEVICE_MEMORY lower, so that less is kept there at a time",
                self.name,
                bytes_for_people(bytes as u64)
            )));
        }
        self.check(code, "taking memory")?;
        Ok(buffer(address))
    }

    /// Memory of just so many bytes that was given back. What was begun with it comes before what will be, in the one stream,
    /// which waits for copies beside it; they begin after a mark that is set there once they have the memory.
    fn take_kept(&self, bytes: usize) -> Option<Address> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(own, _)| *own == bytes)?;
        Some(kept.swap_remove(at).1)
    }

    /// Keeps memory for the next buffer; false if it is too much.
    fn keep(&self, bytes: usize, address: Address) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = kept.iter().map(|(own, _)| own).sum();
        let keeps = bytes <= KEPT_BYTES && all + bytes <= KEPT_BYTES_IN_ALL;
        if keeps {
            kept.push((bytes, address));
        }
        keeps
    }

    /// Gives the kept memory back to the GPU.
    fn free_kept(&self) {
        for (_, address) in self.kept.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: it belongs to no buffer.
            unsafe { (self.libraries.driver.free)(address) };
        }
    }

    /// Memory whose bytes are all 0.
    pub(crate) fn zeros<T: Pod>(self: &Arc<Self>, len: usize) -> Result<Buffer<T>> {
        let buffer = self.room(len)?;
        buffer.clear()?;
        Ok(buffer)
    }

    /// Copies of numbers.
    pub(crate) fn upload<T: Pod>(self: &Arc<Self>, numbers: &[T]) -> Result<Buffer<T>> {
        let buffer = self.room(numbers.len())?;
        buffer.write(0, numbers)?;
        Ok(buffer)
    }

    /// Memory of others on this GPU.
    ///
    /// # Safety
    /// There must be so many numbers at the address as long as `owner` lives, and nobody may write to them meanwhile; if they
    /// are to be written to, nobody may read them.
    pub(crate) unsafe fn borrow<T: Pod>(
        self: &Arc<Self>,
        address: u64,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Buffer<T>> {
        self.enter()?;
        // What others have begun on other streams is waited for.
        // SAFETY: it takes nothing.
        self.check(unsafe { (self.libraries.driver.wait_for_all)() }, "waiting for the GPU")?;
        Ok(Buffer::new(self, address, len, Some(owner)))
    }

    /// Waits until all is done that was begun.
    pub(crate) fn wait(&self) -> Result<()> {
        self.enter()?;
        // SAFETY: the stream is the GPU's own.
        self.check(unsafe { (self.libraries.driver.wait_for_stream)(self.stream) }, "computing")
    }

    /// C ← α·op(A)·op(B) + β·C.
    pub(crate) fn multiply(&self, alpha: f64, a: Operand, b: Operand, beta: f64, c: View) -> Result<()> {
        let ((m, k), (k_of_b, n)) = (a.shape(), b.shape());
        assert!(
            k == k_of_b && (m, n) == (c.rows, c.columns),
            "{m}×{k} times {k_of_b}×{n} into {}×{}",
            c.rows,
            c.columns
        );
        if m == 0 || n == 0 {
            return Ok(());
        }
        self.enter()?;
        let blas = self.blas.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: views lie inside their buffers; shapes were compared.
        let code = unsafe {
            (self.libraries.blas.multiply)(
                *blas,
                a.code(),
                b.code(),
                int(m),
                int(n),
                int(k),
                &raw const alpha,
                a.view.address() as *const f64,
                int(a.view.stride),
                b.view.address() as *const f64,
                int(b.view.stride),
                &raw const beta,
                c.address() as *mut f64,
                int(c.stride),
            )
        };
        blas_check(code, "multiplying matrices")
    }

    /// C ← −2·AᵀB in float32; A is p×l, B p×n, C l×n with this stride.
    pub(crate) fn products_f32(
        &self,
        p: usize,
        (a, from_a, l): (&Buffer<f32>, usize, usize),
        (b, from_b, n): (&Buffer<f32>, usize, usize),
        c: &Buffer<f32>,
        stride: usize,
    ) -> Result<()> {
        assert!((from_a + l) * p <= a.len && (from_b + n) * p <= b.len && n * stride <= c.len && l <= stride);
        self.enter()?;
        let blas = self.blas.lock().unwrap_or_else(PoisonError::into_inner);
        let (alpha, beta) = (-2.0f32, 0.0f32);
        // SAFETY: the matrices lie inside their buffers, as asserted.
        let code = unsafe {
            (self.libraries.blas.multiply_f32)(
                *blas,
                TRANSPOSED,
                AS_IT_IS,
                int(l),
                int(n),
                int(p),
                &raw const alpha,
                (a.address + 4 * (from_a * p) as u64) as *const f32,
                int(p),
                (b.address + 4 * (from_b * p) as u64) as *const f32,
                int(p),
                &raw const beta,
                c.address as *mut f32,
                int(stride),
            )
        };
        blas_check(code, "multiplying matrices")
    }

    /// The lower half of C ← A·Aᵀ + β·C.
    pub(crate) fn self_multiply(&self, a: View, beta: f64, c: View) -> Result<()> {
        self.symmetric(1.0, a, beta, c)
    }

    /// The lower half of C ← C − A·Aᵀ.
    pub(crate) fn self_subtract(&self, a: View, c: View) -> Result<()> {
        self.symmetric(-1.0, a, 1.0, c)
    }

    fn symmetric(&self, alpha: f64, a: View, beta: f64, c: View) -> Result<()> {
        assert!(
            c.rows == c.columns && a.rows == c.rows,
            "{}×{} into {}×{}",
            a.rows,
            a.columns,
            c.rows,
            c.columns
        );
        self.enter()?;
        let blas = self.blas.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: views lie inside their buffers; shapes were compared.
        let code = unsafe {
            (self.libraries.blas.self_multiply)(
                *blas,
                LOWER,
                AS_IT_IS,
                int(a.rows),
                int(a.columns),
                &raw const alpha,
                a.address() as *const f64,
                int(a.stride),
                &raw const beta,
                c.address() as *mut f64,
                int(c.stride),
            )
        };
        blas_check(code, "multiplying a matrix with itself")
    }

    /// B ← L⁻¹·B, L lower triangular.
    pub(crate) fn solve(&self, l: View, b: View) -> Result<()> {
        assert!(
            l.rows == l.columns && l.rows == b.rows,
            "{}×{} for {}×{}",
            l.rows,
            l.columns,
            b.rows,
            b.columns
        );
        self.enter()?;
        let blas = self.blas.lock().unwrap_or_else(PoisonError::into_inner);
        let alpha = 1.0f64;
        // SAFETY: views lie inside their buffers; shapes were compared.
        let code = unsafe {
            (self.libraries.blas.solve)(
                *blas,
                LEFT,
                LOWER,
                AS_IT_IS,
                NON_UNIT,
                int(b.rows),
                int(b.columns),
                &raw const alpha,
                l.address() as *const f64,
                int(l.stride),
                b.address() as *mut f64,
                int(b.stride),
            )
        };
        blas_check(code, "solving")
    }

    /// Makes the GPU that of this thread.
    fn enter(&self) -> Result<()> {
        // SAFETY: the context lives as long as the process.
        self.check(unsafe { (self.libraries.driver.set_context)(self.context) }, "turning to the GPU")
    }

    fn check(&self, code: c_int, doing: &str) -> Result<()> {
        check(self.libraries, code, doing)
    }
}

/// Sizes of matrices that cuBLAS takes.
fn int(size: usize) -> c_int {
    c_int::try_from(size).unwrap_or_else(|_| unreachable!("pieces are smaller"))
}

/// The kernels, compiled for a GPU of this capability.
fn compiled(libraries: &'static Libraries, capability: c_int) -> Result<Vec<(&'static str, Handle)>> {
    let (compiler, driver) = (&libraries.compiler, &libraries.driver);
    let source = CString::new(SOURCE).unwrap_or_else(|_| unreachable!("the source has no zero byte"));
    let options = [format!("--gpu-architecture=sm_{capability}"), "--std=c++17".into()];
    let options = options.map(|option| CString::new(option).unwrap_or_else(|_| unreachable!("no zero byte")));
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = std::ptr::null_mut();
    // SAFETY: the compiler's functions with places for what they return; texts end with a zero byte.
    unsafe {
        let name = c"kernels.cu".as_ptr();
        let none = std::ptr::null();
        let code = (compiler.create)(&raw mut program, source.as_ptr(), name, 0, none, none);
        compiler_check(code, "")?;
        let code = (compiler.compile)(program, int(options.len()), options.as_ptr());
        if code != 0 {
            let mut size = 0;
            (compiler.log_size)(program, &raw mut size);
            let mut log = vec![0u8; size.max(1)];
            (compiler.log)(program, log.as_mut_ptr().cast());
            compiler_check(code, &String::from_utf8_lossy(&log))?;
        }
        let mut size = 0;
        compiler_check((compiler.cubin_size)(program, &raw mut size), "")?;
        let mut code_of_gpu = vec![0u8; size.max(1)];
        compiler_check((compiler.cubin)(program, code_of_gpu.as_mut_ptr().cast()), "")?;
        (compiler.destroy)(&raw mut program);
        let mut module = std::ptr::null_mut();
        check(
            libraries,
            (driver.load_module)(&raw mut module, code_of_gpu.as_ptr().cast()),
            "loading kernels",
        )?;
        let function = |name: &'static str| {
            let text = CString::new(name).unwrap_or_else(|_| unreachable!("no zero byte"));
            let mut handle = std::ptr::null_mut();
            let code = (driver.function)(&raw mut handle, module, text.as_ptr());
            check(libraries, code, "loading kernels").map(|()| (name, handle))
        };
        launch::NAMES.iter().map(|name| function(name)).collect()
    }
}

fn compiler_check(code: c_int, log: &str) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    Err(Error::device(format!(
        "CUDA's compiler (NVRTC) failed with code {code}\n{log}hint: CUDA 12 or newer is needed, and a GPU that it knows"
    )))
}

fn blas_check(code: c_int, doing: &str) -> Result<()> {
    match code {
        0 => Ok(()),
        3 => Err(Error::Memory(format!(
            "the GPU has no memory left for {doing}\n\
             hint: close what else uses it, or set MERCER_DEVICE_MEMORY lower, so that less is kept there at a time"
        ))),
        _ => Err(Error::device(format!(
            "cuBLAS failed with code {code} at {doing}\nhint: try again, or compute on the CPU (device = cpu)"
        ))),
    }
}

fn check(libraries: &Libraries, code: c_int, doing: &str) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let text = |function: unsafe extern "system" fn(c_int, *mut *const c_char) -> c_int| {
        let mut text = std::ptr::null();
        // SAFETY: the driver returns texts that it keeps.
        unsafe {
            if function(code, &raw mut text) == 0 && !text.is_null() {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            } else {
                format!("code {code}")
            }
        }
    };
    let (name, why) = (text(libraries.driver.error_name), text(libraries.driver.error_text));
    Err(Error::device(format!(
        "the GPU failed at {doing}: {name}, {why}\n\
         hint: start the program again, as a GPU that has failed does no more work for it, or compute on the CPU (device = cpu)"
    )))
}

fn no_gpu(count: c_int, ordinal: usize) -> Error {
    let what = if count == 0 {
        "the NVIDIA driver finds no GPU".to_owned()
    } else {
        format!("device = `cuda:{ordinal}`, but the NVIDIA driver finds {count} GPU(s), counted from 0")
    };
    Error::device(format!("{what}\nhint: compute on the CPU (device = cpu), or look at CUDA_VISIBLE_DEVICES"))
}
