//! Kernels that are functions in Python: called once a panel of rows, with the GIL. What they raise reaches the caller as it is.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use mercer::kernel::OwnKernel;
use mercer::{Kernel, Result, Shape};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyReferenceError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyWeakrefMethods, PyWeakrefReference};

use crate::convert::{PyRows, matrix_array};
use crate::gate::{exception, run};

/// Functions by the names that kernels have them under.
pub(crate) type Functions = Vec<(String, Py<PyAny>)>;

/// What unwinds from a panel of rows when a function raises an exception.
pub(crate) struct Raised(pub(crate) PyErr);

thread_local! {
    static CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a function of the user's.
pub(crate) fn is_called() -> bool {
    CALLED.get()
}

/// A function. Its owner, an estimator or a model, keeps it alive; what cannot be looked at from afar lives for ever.
enum Held {
    Weak(Py<PyWeakrefReference>),
    Strong(Py<PyAny>),
}

impl Held {
    fn new(function: &Bound<'_, PyAny>) -> Self {
        // Every look at a method makes a new object, which would be gone at once.
        let is_method = function.hasattr("__self__").unwrap_or(true);
        match PyWeakrefReference::new(function) {
            Ok(weak) if !is_method => Self::Weak(weak.unbind()),
            _ => Self::Strong(function.clone().unbind()),
        }
    }

    fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Weak(weak) => weak.bind(py).upgrade(),
            Self::Strong(function) => Some(function.bind(py).clone()),
        }
    }

    fn copied(&self, py: Python<'_>) -> Self {
        match self {
            Self::Weak(weak) => Self::Weak(weak.clone_ref(py)),
            Self::Strong(function) => Self::Strong(function.clone_ref(py)),
        }
    }
}

/// All functions that were ever given, with their names.
static ALL: Mutex<Vec<(&'static str, Held)>> = Mutex::new(Vec::new());

struct Callable(Held);

impl Callable {
    /// Calls the function with the GIL; an exception unwinds to the gate.
    fn with(&self, work: impl FnOnce(Python<'_>, Bound<'_, PyAny>) -> PyResult<()>) {
        let before = CALLED.replace(true);
        let done = Python::attach(|py| {
            let gone = || {
                PyReferenceError::new_err(
                    "the function of this kernel is gone\nhint: keep the estimator that has it",
                )
            };
            work(py, self.0.get(py).ok_or_else(gone)?)
        });
        CALLED.set(before);
        done.unwrap_or_else(|raised| resume_unwind(Box::new(Raised(raised))));
    }
}

fn array<'py>(py: Python<'py>, values: &[f64], p: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, values).reshape([values.len() / p.max(1), p])
}

/// What a function returned as an array of float64.
fn as_float64<'py>(
    py: Python<'py>,
    returned: Bound<'py, PyAny>,
    wanted: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = PyDict::new(py);
    settings.set_item("dtype", "float64")?;
    settings.set_item("order", "C")?;
    let kind = returned.get_type().name()?.to_string();
    py.import("numpy")?.call_method("asarray", (returned,), Some(&settings)).map_err(|cause| {
        let error = PyTypeError::new_err(format!(
            "the kernel's function returned an object of type {kind}, but {wanted} is needed"
        ));
        error.set_cause(py, Some(cause));
        error
    })
}

impl OwnKernel for Callable {
    fn values(&self, rows: &[f64], others: &[f64], p: usize, out: &mut [f64]) -> Result<()> {
        self.with(|py, function| {
            let (x, z) = (array(py, rows, p)?, array(py, others, p)?);
            let (n, l) = (x.shape()[0], z.shape()[0]);
            let wanted = format!("a matrix of {n} × {l} numbers, for {n} rows and {l} others,");
            let values = as_float64(py, function.call1((x, z))?, &wanted)?;
            let shape: Vec<usize> = values.getattr("shape")?.extract()?;
            if shape != [n, l] {
                return Err(PyValueError::new_err(format!(
                    "the kernel's function returned an array of shape {shape:?}, but {wanted} is needed\n\
                     hint: it is called with blocks of rows, not with pairs: f(X, Z)[i, j] = k(X[i], Z[j])"
                )));
            }
            let values: PyReadonlyArray2<'_, f64> = values.extract()?;
            out.copy_from_slice(values.as_slice()?);
            Ok(())
        });
        Ok(())
    }

    fn diagonal(&self, rows: &[f64], p: usize, out: &mut [f64]) -> Result<()> {
        /// Rows whose values are all computed for the diagonal among them.
        const BLOCK: usize = 32;
        let mut knows = false;
        self.with(|py, function| {
            // As the kernels of Gaussian processes in scikit-learn have it.
            if !function.hasattr("diag")? {
                return Ok(());
            }
            knows = true;
            let values = as_float64(py, function.call_method1("diag", (array(py, rows, p)?,))?, "a vector")?;
            let values: PyReadonlyArray1<'_, f64> = values.extract()?;
            if values.len() != out.len() {
                return Err(PyValueError::new_err(format!(
                    "the kernel's `diag` returned {} numbers for {} rows",
                    values.len(),
                    out.len()
                )));
            }
            out.copy_from_slice(values.as_slice()?);
            Ok(())
        });
        if knows {
            return Ok(());
        }
        for (rows, out) in rows.chunks(BLOCK * p).zip(out.chunks_mut(BLOCK)) {
            let h = out.len();
            let mut values = vec![0.0; h * h];
            self.values(rows, rows, p, &mut values)?;
            out.iter_mut().enumerate().for_each(|(i, o)| *o = values[i * h + i]);
        }
        Ok(())
    }
}

/// The kernel of a function: the same for the same function.
pub(crate) fn kernel_of(function: &Bound<'_, PyAny>) -> PyResult<Kernel> {
    let py = function.py();
    // Before the lock: whoever waits for that has the GIL, and attributes may give it up.
    let name = match function.getattr("__name__").and_then(|name| name.extract::<String>()) {
        Ok(name) => name,
        Err(_) => function.get_type().name()?.to_string(),
    };
    let held = Held::new(function);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let known = all.iter().find(|(_, held)| held.get(py).is_some_and(|other| other.is(function)));
    if let Some((name, _)) = known {
        return name.parse().map_err(exception);
    }
    let kernel = Kernel::own_of_blocks(&name, Callable(held.copied(py)));
    all.push((kernel.shape.name(), held));
    Ok(kernel)
}

/// The functions in a kernel that are still there.
pub(crate) fn functions_of(shape: Shape) -> Functions {
    let names = shape.functions();
    if names.is_empty() {
        return Vec::new();
    }
    Python::attach(|py| {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let found = |(name, held): &(&'static str, Held)| {
            if names.contains(name) { held.get(py).map(|f| (name.to_string(), f.unbind())) } else { None }
        };
        all.iter().filter_map(found).collect()
    })
}

/// The text that stands for a function in a kernel.
#[pyfunction]
pub(crate) fn own_kernel(function: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(kernel_of(function)?.shape.name())
}

/// A kernel's text as it is written here, with its columns looked up where names are given. Parts have these settings where they
/// have none of their own.
#[pyfunction]
#[pyo3(signature = (text, input_names=None, *, degree=3, coef0=1.0, alpha=1.0))]
pub(crate) fn kernel_text(
    text: &str,
    input_names: Option<Vec<String>>,
    degree: u32,
    coef0: f64,
    alpha: f64,
) -> PyResult<&'static str> {
    let shape = Shape::named(text, degree, coef0, alpha).map_err(exception)?;
    let shape = input_names.map_or(Ok(shape), |names| shape.with_names(&names)).map_err(exception)?;
    Ok(shape.name())
}

/// Whether a kernel has a part whose width is not given.
#[pyfunction]
pub(crate) fn kernel_uses_gamma(text: &str) -> PyResult<bool> {
    text.parse::<Shape>().map(Shape::uses_gamma).map_err(exception)
}

/// Values of a kernel, all of whose widths are given, between rows.
#[pyfunction]
#[pyo3(signature = (text, X, Y, *, verbose=0))]
#[expect(non_snake_case, reason = "scikit-learn's name")]
pub(crate) fn kernel_matrix<'py>(
    py: Python<'py>,
    text: &str,
    X: PyRows<'py>,
    Y: PyRows<'py>,
    verbose: u32,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel: Kernel = text.parse().map_err(exception)?;
    let (rows, others) = (X.rows()?, Y.rows()?);
    let values = run(py, verbose, |_| {
        rows.check_finite(None)?;
        others.check_finite(None)?;
        kernel.matrix(&rows, &others)
    })?;
    matrix_array(py, &values)
}
