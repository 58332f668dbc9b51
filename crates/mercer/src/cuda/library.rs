//! CUDA's libraries: where they are looked for, and their functions.
//!
//! They are loaded when a GPU is asked for, so that one program runs with and without them. The driver comes with the GPU;
//! the compiler (NVRTC) and cuBLAS come with CUDA, PyTorch, CuPy or `pip install nvidia-cublas nvidia-cuda-nvrtc`.

use std::ffi::{OsStr, OsString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;

use crate::error::{Error, Result};

/// An address on the GPU.
pub(super) type Address = u64;
pub(super) type Handle = *mut c_void;

/// What a matrix product does with an operand.
pub(super) const AS_IT_IS: c_int = 0;
pub(super) const TRANSPOSED: c_int = 1;

/// cuBLAS: the left side, the lower half, a diagonal that is given.
pub(super) const LEFT: c_int = 0;
pub(super) const LOWER: c_int = 0;
pub(super) const NON_UNIT: c_int = 0;

/// Attributes of a GPU.
pub(super) const MULTIPROCESSORS: c_int = 16;
pub(super) const CAPABILITY_MAJOR: c_int = 75;
pub(super) const CAPABILITY_MINOR: c_int = 76;

/// Declares a library's functions; all return a code, 0 for success.
macro_rules! functions {
    ($(#[$about:meta])* $name:ident { $($function:ident = $symbol:literal ($($argument:ty),*);)* }) => {
        $(#[$about])*
        pub(super) struct $name {
            $(pub(super) $function: unsafe extern "system" fn($($argument),*) -> c_int,)*
        }

        impl $name {
            fn of(library: &Library, file: &str) -> Result<Self> {
                // SAFETY: the signatures are those of the vendor's headers.
                unsafe {
                    Ok(Self {
                        $($function: *library
                            .get(concat!($symbol, "\0").as_bytes())
                            .map_err(|_| too_old(file, $symbol))?,)*
                    })
                }
            }
        }
    };
}

functions! {
    /// The driver.
    Driver {
        init = "cuInit"(c_uint);
        device_count = "cuDeviceGetCount"(*mut c_int);
        device = "cuDeviceGet"(*mut c_int, c_int);
        device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
        attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
        retain_context = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
        set_context = "cuCtxSetCurrent"(Handle);
        memory = "cuMemGetInfo_v2"(*mut usize, *mut usize);
        allocate = "cuMemAlloc_v2"(*mut Address, usize);
        free = "cuMemFree_v2"(Address);
        to_gpu = "cuMemcpyHtoDAsync_v2"(Address, *const c_void, usize, Handle);
        from_gpu = "cuMemcpyDtoHAsync_v2"(*mut c_void, Address, usize, Handle);
        fill = "cuMemsetD8Async"(Address, u8, usize, Handle);
        allocate_here = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
        free_here = "cuMemFreeHost"(*mut c_void);
        create_stream = "cuStreamCreate"(*mut Handle, c_uint);
        wait_for_stream = "cuStreamSynchronize"(Handle);
        wait_for_all = "cuCtxSynchronize"();
        create_event = "cuEventCreate"(*mut Handle, c_uint);
        destroy_event = "cuEventDestroy_v2"(Handle);
        record = "cuEventRecord"(Handle, Handle);
        wait_for_event = "cuEventSynchronize"(Handle);
        follow = "cuStreamWaitEvent"(Handle, Handle, c_uint);
        load_module = "cuModuleLoadData"(*mut Handle, *const c_void);
        function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
        launch = "cuLaunchKernel"(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
        );
        error_name = "cuGetErrorName"(c_int, *mut *const c_char);
        error_text = "cuGetErrorString"(c_int, *mut *const c_char);
    }
}

functions! {
    /// The compiler.
    Compiler {
        create = "nvrtcCreateProgram"(
            *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
        );
        compile = "nvrtcCompileProgram"(Handle, c_int, *const *const c_char);
        log_size = "nvrtcGetProgramLogSize"(Handle, *mut usize);
        log = "nvrtcGetProgramLog"(Handle, *mut c_char);
        cubin_size = "nvrtcGetCUBINSize"(Handle, *mut usize);
        cubin = "nvrtcGetCUBIN"(Handle, *mut c_char);
        destroy = "nvrtcDestroyProgram"(*mut Handle);
    }
}

functions! {
    /// Matrix products.
    Blas {
        create = "cublasCreate_v2"(*mut Handle);
        set_stream = "cublasSetStream_v2"(Handle, Handle);
        multiply = "cublasDgemm_v2"(
            Handle, c_int, c_int, c_int, c_int, c_int, *const f64, *const f64, c_int, *const f64, c_int, *const f64,
            *mut f64, c_int
        );
        multiply_f32 = "cublasSgemm_v2"(
            Handle, c_int, c_int, c_int, c_int, c_int, *const f32, *const f32, c_int, *const f32, c_int, *const f32,
            *mut f32, c_int
        );
        self_multiply = "cublasDsyrk_v2"(
            Handle, c_int, c_int, c_int, c_int, *const f64, *const f64, c_int, *const f64, *mut f64, c_int
        );
        solve = "cublasDtrsm_v2"(
            Handle, c_int, c_int, c_int, c_int, c_int, c_int, *const f64, *const f64, c_int, *mut f64, c_int
        );
    }
}

/// All of them.
pub(super) struct Libraries {
    pub(super) driver: Driver,
    pub(super) compiler: Compiler,
    pub(super) blas: Blas,
    /// They stay loaded.
    _files: Vec<Library>,
}

/// Folders that are looked into before all others, such as those of Python's packages.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Adds folders to look into.
pub(super) fn look_into(folders: Vec<PathBuf>) {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).extend(folders);
}

/// The libraries, loaded once. What is missing may be installed while a program runs: then they are looked for again.
pub(super) fn libraries() -> Result<&'static Libraries> {
    static LOADED: OnceLock<Libraries> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let _one = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = LOADED.get() {
        return Ok(loaded);
    }
    let loaded = Libraries::load()?;
    Ok(LOADED.get_or_init(|| loaded))
}

const INSTALL: &str = "install CUDA 12 or 13, or `pip install nvidia-cublas nvidia-cuda-nvrtc`; MERCER_CUDA_LIB names a \
                       folder to look into";

impl Libraries {
    fn load() -> Result<Self> {
        let mut files = Vec::new();
        let (driver, name) = open("cuda", &names("cuda", &["1"], "nvcuda.dll")).map_err(|why| {
            Error::device(format!(
                "there is no NVIDIA driver on this machine: {why}\n\
                 hint: compute on the CPU (device = cpu), or install the driver of the GPU"
            ))
        })?;
        let driver_functions = Driver::of(&driver, &name)?;
        files.push(driver);
        // What the others load by name in turn, where the system would not find it.
        files.extend(companions());
        let missing =
            |what: &str, why: &str| Error::device(format!("{what} is missing: {why}\nhint: {INSTALL}"));
        let (compiler, name) = open("nvrtc", &names("nvrtc", &["13", "12"], "nvrtc64_130_0.dll"))
            .or_else(|why| open("nvrtc", &["nvrtc64_120_0.dll".into()]).map_err(|_| why))
            .map_err(|why| missing("CUDA's compiler (NVRTC)", &why))?;
        let compiler_functions = Compiler::of(&compiler, &name)?;
        let (blas, name) = open("cublas", &names("cublas", &["13", "12"], "cublas64_13.dll"))
            .or_else(|why| open("cublas", &["cublas64_12.dll".into()]).map_err(|_| why))
            .map_err(|why| missing("cuBLAS", &why))?;
        let blas_functions = Blas::of(&blas, &name)?;
        files.extend([compiler, blas]);
        Ok(Self {
            driver: driver_functions,
            compiler: compiler_functions,
            blas: blas_functions,
            _files: files,
        })
    }
}

/// The files that a library may be in.
fn names(library: &str, versions: &[&str], on_windows: &str) -> Vec<String> {
    if cfg!(windows) {
        return vec![on_windows.to_owned()];
    }
    let numbered = versions.iter().map(|version| format!("lib{library}.so.{version}"));
    numbered.chain([format!("lib{library}.so")]).collect()
}

/// The first of these files that can be loaded, and its name; else why the last could not.
fn open(library: &str, names: &[String]) -> std::result::Result<(Library, String), String> {
    let mut why = format!("no file named {}", names.join(" or "));
    // Those that are loaded already, or where the system looks; then our folders.
    let by_name = names.iter().map(OsString::from);
    let in_folders = folders().into_iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    for place in by_name.chain(in_folders.filter(|path| path.exists()).map(OsString::from)) {
        // SAFETY: what these files do when they are loaded is what every program that uses CUDA has done.
        match unsafe { load(&place) } {
            Ok(file) => return Ok((file, place.to_string_lossy().into_owned())),
            Err(error) if PathBuf::from(&place).is_absolute() => why = error.to_string(),
            Err(_) => {}
        }
    }
    Err(format!("lib{library}: {why}"))
}

/// Libraries that lie in our folders beside those that need them.
fn companions() -> Vec<Library> {
    let mut found = Vec::new();
    for library in ["libnvrtc-builtins.so.", "libcublasLt.so."] {
        let mut places: Vec<PathBuf> = folders()
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok())
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(library)))
            .collect();
        places.sort();
        // SAFETY: as in `open`.
        found.extend(places.iter().filter_map(|place| unsafe { load(place.as_os_str()) }.ok()));
    }
    found
}

/// Loads a file so that others find its functions, too.
#[cfg(unix)]
unsafe fn load(place: &OsStr) -> std::result::Result<Library, libloading::Error> {
    use libloading::os::unix;
    // SAFETY: as the caller says.
    unsafe { unix::Library::open(Some(place), unix::RTLD_NOW | unix::RTLD_GLOBAL) }.map(Library::from)
}

#[cfg(not(unix))]
unsafe fn load(place: &OsStr) -> std::result::Result<Library, libloading::Error> {
    // SAFETY: as the caller says.
    unsafe { Library::new(place) }
}

fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for name in ["MERCER_CUDA_LIB", "CUDA_HOME", "CUDA_PATH"] {
        let Some(folder) = std::env::var_os(name).map(PathBuf::from) else { continue };
        folders.extend([folder.join("lib64"), folder.join("lib"), folder.join("bin"), folder]);
    }
    folders.extend(FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
    if cfg!(unix) {
        let usual =
            ["/usr/local/nvidia/lib64", "/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"];
        folders.extend(usual.map(PathBuf::from));
        let inside =
            std::fs::read_dir("/usr/local").map_or_else(|_| Vec::new(), |all| all.flatten().collect());
        let mut versions: Vec<PathBuf> = inside
            .iter()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("cuda-"))
            .map(|entry| entry.path().join("lib64"))
            .collect();
        versions.sort();
        folders.extend(versions.into_iter().rev());
    }
    folders
}

fn too_old(file: &str, symbol: &str) -> Error {
    Error::device(format!(
        "{file} has no function `{symbol}`: it is too old\nhint: CUDA 12 or newer is needed, with a driver from 2023 or later"
    ))
}
