//! Kernels of one's own: a function of two blocks of rows.
//!
//! A function may fail in the middle of a pass over the rows, in whose loops nothing else can. It then unwinds to `caught`, and
//! the job ends with its error.
//!
//! cost    that of the function; k(x,x) costs 32 values a row unless the function knows better

use std::any::Any;
use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use super::kernel::{Kernel, Shape};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// Rows that k(x,x) is computed of together: every value of such a block is computed for it.
const BLOCK: usize = 32;

/// Rows whose values are looked at for symmetry.
const SAMPLE: usize = 32;

/// A kernel between blocks of rows. It must be symmetric and positive semi-definite, and gives the same values to any thread.
pub trait OwnKernel: Send + Sync + 'static {
    /// k(x, z) of all rows x and z, each p numbers, row-major; row-major into `out`.
    fn values(&self, rows: &[f64], others: &[f64], p: usize, out: &mut [f64]) -> Result<()>;

    /// k(x, x) of all rows.
    fn diagonal(&self, rows: &[f64], p: usize, out: &mut [f64]) -> Result<()> {
        for (rows, out) in rows.chunks(BLOCK * p).zip(out.chunks_mut(BLOCK)) {
            let h = out.len();
            let mut values = vec![0.0; h * h];
            self.values(rows, rows, p, &mut values)?;
            out.iter_mut().enumerate().for_each(|(i, o)| *o = values[i * h + i]);
        }
        Ok(())
    }
}

/// A function of a pair of rows.
struct OfPairs<F>(F);

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static> OwnKernel for OfPairs<F> {
    fn values(&self, rows: &[f64], others: &[f64], p: usize, out: &mut [f64]) -> Result<()> {
        let pairs = rows.chunks_exact(p).flat_map(|x| others.chunks_exact(p).map(move |z| (x, z)));
        out.iter_mut().zip(pairs).for_each(|(o, (x, z))| *o = (self.0)(x, z));
        Ok(())
    }

    fn diagonal(&self, rows: &[f64], p: usize, out: &mut [f64]) -> Result<()> {
        out.iter_mut().zip(rows.chunks_exact(p)).for_each(|(o, x)| *o = (self.0)(x, x));
        Ok(())
    }
}

/// A function with its name. There is one for each call of [`Kernel::own`], and it is never freed.
pub struct Own {
    text: String,
    function: Box<dyn OwnKernel>,
}

impl Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

static ALL: Mutex<Vec<&'static Own>> = Mutex::new(Vec::new());

thread_local! {
    /// Names that stand for other functions while a file is read.
    static ALIASES: RefCell<Vec<(String, Kernel)>> = const { RefCell::new(Vec::new()) };

    /// Who may stop the fit that this thread is at.
    static WATCHING: RefCell<Option<Monitor>> = const { RefCell::new(None) };
}

/// The function with this text, `name#3`.
pub(super) fn known(text: &str) -> Option<Kernel> {
    let alias =
        ALIASES.with_borrow(|all| all.iter().find(|(name, _)| name == text).map(|(_, kernel)| *kernel));
    alias.or_else(|| {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter().find(|own| own.text == text)?;
        Some(Kernel { shape: Shape::Own(own), gamma: 1.0 })
    })
}

/// Reads texts that other functions' names stand in: for models that come with their functions.
pub fn with_functions<T>(functions: Vec<(String, Kernel)>, work: impl FnOnce() -> T) -> T {
    let before = ALIASES.replace(functions);
    let result = work();
    ALIASES.set(before);
    result
}

impl Kernel {
    /// A kernel of one's own, from a function of two rows that is symmetric and positive semi-definite. Models with it cannot be
    /// saved: a file holds no code.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Rows};
    ///
    /// let overlap = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| x.min(*z)).sum();
    /// let kernel = Kernel::own("overlap", overlap);
    /// let rows = Rows::dense(vec![1.0, 3.0, 2.0, 1.0, 4.0, 4.0], 3, 2)?;
    /// assert_eq!(kernel.matrix(&rows, &rows)?[(0, 1)], 2.0); // min(1, 2) + min(3, 1)
    ///
    /// let basis = Basis::kobl(kernel + 0.1 * Kernel::linear()).fit(&rows)?;
    /// let refused = FeatureMap::from(basis).save("model.mercer").unwrap_err();
    /// assert!(refused.to_string().contains("cannot be saved"));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn own(name: &str, function: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Self::own_of_blocks(name, OfPairs(function))
    }

    /// [`own`](Self::own) for a function of two blocks of rows.
    pub fn own_of_blocks(name: &str, function: impl OwnKernel) -> Self {
        let keep = |c: char| if c.is_alphanumeric() || "_.<>".contains(c) { c } else { '_' };
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text: String = name.chars().map(keep).collect();
        if !text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '<') {
            text.insert(0, '_');
        }
        let text = format!("{text}#{}", all.len());
        let own: &'static Own = Box::leak(Box::new(Own { text, function: Box::new(function) }));
        all.push(own);
        Self { shape: Shape::Own(own), gamma: 1.0 }
    }
}

impl Own {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Values of rows against others; a failure unwinds to [`caught`].
    pub(super) fn fill(&self, rows: &[f64], others: &[f64], p: usize, out: &mut [f64]) {
        unwinding(self.function.values(rows, others, p, out).and_then(|()| self.check(out)));
    }

    /// k(x,x) of every row; a failure unwinds to [`caught`].
    pub(super) fn diagonal(&self, rows: &[f64], p: usize) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() / p.max(1)];
        // Passes over all rows for k(x,x) have no other place to be stopped at.
        let stop = WATCHING.with_borrow(|monitor| monitor.as_ref().map_or(Ok(()), Monitor::check));
        unwinding(
            stop.and_then(|()| self.function.diagonal(rows, p, &mut out)).and_then(|()| self.check(&out)),
        );
        out
    }

    fn check(&self, values: &[f64]) -> Result<()> {
        match values.iter().find(|v| !v.is_finite()) {
            None => Ok(()),
            Some(v) => Err(Error::data(format!(
                "the kernel `{}` gave {v} for a pair of rows, but its values must be finite",
                self.text
            ))),
        }
    }
}

/// An error unless values among a few of the rows are symmetric.
pub(super) fn check_symmetric(kernel: Kernel, rows: &Rows) -> Result<()> {
    let n = rows.n();
    let places: Vec<usize> = (0..n).step_by(n.div_ceil(SAMPLE).max(1)).collect();
    let (few, l) = (rows.select(&places), places.len());
    let k = kernel.matrix(&few, &few)?;
    let largest = k.norm_max();
    for i in 0..l {
        for j in 0..i {
            if (k[(i, j)] - k[(j, i)]).abs() > 1e-8 * largest {
                return Err(Error::data(format!(
                    "the kernel `{}` is not symmetric: it gave {} for rows {} and {}, and {} for rows {} and {}",
                    kernel.shape.name(),
                    k[(i, j)],
                    places[i] + 1,
                    places[j] + 1,
                    k[(j, i)],
                    places[j] + 1,
                    places[i] + 1
                )));
            }
        }
    }
    Ok(())
}

/// What unwinds where a function failed.
struct Failure(Error);

fn unwinding(result: Result<()>) {
    if let Err(error) = result {
        // Not a panic: nobody is told but who catches it.
        resume_unwind(Box::new(Failure(error)));
    }
}

/// The error of a kernel of one's own that failed; else what has unwound.
pub fn failure(unwound: Box<dyn Any + Send>) -> std::result::Result<Error, Box<dyn Any + Send>> {
    unwound.downcast::<Failure>().map(|failure| failure.0)
}

/// Work that is stopped by this monitor, also inside the passes of kernels of one's own.
pub(crate) fn watched<T>(monitor: &Monitor, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = WATCHING.replace(Some(monitor.clone()));
    let result = catch_unwind(AssertUnwindSafe(work));
    WATCHING.set(before);
    result.unwrap_or_else(|unwound| resume_unwind(unwound))
}

/// The work, and the error of a kernel of one's own that failed in it.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|unwound| match failure(unwound) {
        Ok(error) => Err(error),
        Err(other) => resume_unwind(other),
    })
}
