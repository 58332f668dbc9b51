//! A sparse dictionary that grows batch by batch, of rows in the order in which they arrive.
//!
//!   accept x when k(x,x) − ‖A k_d‖² > ν·k(x,x)         d the rows kept so far, A those of the basis so far; ν = 0.1 unless given,
//!                                                      as what varies is known only when all rows are
//!
//! The basis is all that is known of earlier batches. How rows are cut into batches does not matter, but for rounding.
//!
//! cost    n·m² flops by matrix products, n·(m+1) kernel values and up to 1 024 a pivot; memory 24·m² bytes and a block of rows
//! stops   never by itself: at the cap no more rows are taken; those numerically dependent on earlier ones are left out
//! source  Engel, Mannor & Meir 2004
//! differs what is rounding is told by k(x,x) of the kept rows and of the row itself, as a later row can be larger than any
//!         before. What is left of a row is taken when it arrives, so that `residual` is a bound: later pivots only lower it

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::expansion::{Expansion, Landmarks};
use super::fitted::Stop;
use super::memory::without_factor;
use super::pivoted::{LOSS, NOT_PSD, RANK, next_coefficients, not_psd, triangular};
use super::{Basis, DEFAULT_COMPONENTS, FittedBasis, Method, Precision};
use crate::data::rows::Rows;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::gram::{all_zero, check_rows, column_of, diagonal};
use crate::kernel::{Gamma, Kernel, Shape};
use crate::options::{Options, bytes, raise_budget};

/// Rows that are compared with the basis before any of them is decided on.
const BLOCK: usize = 1_024;

/// Share of k(x,x) that must be new unless told otherwise.
const NU: f64 = 0.1;

/// Rows of a block that a thread takes.
const PART: usize = 64;

impl Basis {
    /// The basis that `sparse` has after more rows, with those of earlier batches in `so_far`; None: these are the first.
    /// Pivots count rows in the order of arrival. Without `n_components` there are at most [`DEFAULT_COMPONENTS`].
    ///
    /// ```
    /// use mercer::basis::Basis;
    /// use mercer::{Kernel, Options, Rows};
    ///
    /// let (settings, options) = (Basis::sparse(Kernel::rbf(1.0)), Options::default());
    /// let first = settings.grow(None, &Rows::dense(vec![0.0, 0.1], 2, 1)?, &options)?;
    /// assert_eq!(first.pivots, [0]);
    /// let both = settings.grow(Some(&first), &Rows::dense(vec![0.2, 5.0], 2, 1)?, &options)?;
    /// assert_eq!((both.pivots.as_slice(), both.n_rows), ([0, 3].as_slice(), 4));
    /// // Left of 0.1 and 0.2: 1 − k², k = exp(−0.01) and exp(−0.04).
    /// let left = 2.0 - (-0.02f64).exp() - (-0.08f64).exp();
    /// assert!((both.residual - left / 4.0).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn grow(&self, so_far: Option<&FittedBasis>, rows: &Rows, options: &Options) -> Result<FittedBasis> {
        let kernel = self.check_growth(so_far, rows, options)?;
        let mut grown = Grown::new(self, options.memory, so_far, kernel, rows);
        let (n, monitor) = (rows.n(), &options.monitor);
        monitor.begin("choosing pivots", n);
        for start in (0..n).step_by(BLOCK) {
            monitor.check()?;
            let block = rows.slice_f64(start..n.min(start + BLOCK));
            grown.take(&block, start)?;
            monitor.advance(block.n());
        }
        grown.finish(n)
    }

    /// The kernel, or an error if a basis cannot grow like this.
    fn check_growth(&self, so_far: Option<&FittedBasis>, rows: &Rows, options: &Options) -> Result<Kernel> {
        self.check(rows, None)?;
        let refused = |text: &str| Err(Error::argument(text));
        if self.method != Method::Sparse || so_far.is_some_and(|basis| basis.method != Method::Sparse) {
            return refused(
                "only the basis `sparse` grows batch by batch; the others look at all rows at once",
            );
        }
        if self.shape == Shape::Precomputed {
            return refused(
                "with a precomputed kernel a basis cannot grow: its landmarks are columns, not rows",
            );
        }
        if rows.device() != Device::Cpu || matches!(options.device, Device::Cuda(_)) {
            return refused(
                "a basis that grows batch by batch is not fitted on a GPU\n\
                 hint: compute on the CPU (device = cpu), or fit on all rows at once",
            );
        }
        if self.landmarks.is_some() {
            return refused(
                "a basis that grows chooses among the rows that arrive\nhint: leave landmarks out, or fit",
            );
        }
        if self.precision == Some(Precision::Single) {
            return refused(
                "a basis that grows keeps no coordinates, so float32 would save nothing\n\
                 hint: leave precision out",
            );
        }
        if options.checkpoint.is_some() {
            return refused("a basis that grows needs no checkpoint: keep what it is after each batch");
        }
        let looks = !matches!(self.gamma, Gamma::Value(_) | Gamma::Auto) && self.shape.uses_gamma();
        let kernel = match so_far {
            // The widths of a sum are in its formula.
            Some(basis) if looks && matches!(self.shape, Shape::Composite(_)) => basis.expansion.kernel,
            Some(basis) if looks => Kernel { shape: self.shape, gamma: basis.expansion.kernel.gamma },
            None if looks => {
                return refused(
                    "the rule for gamma looks at all rows, of which a batch is a part\n\
                     hint: give gamma as a number, such as the gamma_ of a fit on the first rows, or `auto`",
                );
            }
            _ => self.resolve_kernel(rows, None, &options.monitor)?,
        };
        check_rows(kernel, rows, 0)?;
        if let Some(basis) = so_far {
            if basis.expansion.kernel != kernel {
                return refused("the kernel or its gamma is not that of the batches before\nhint: fit again");
            }
            if basis.expansion.landmarks.p() != rows.p() {
                return Err(Error::data(format!(
                    "the batch has {} columns, but those before had {}",
                    rows.p(),
                    basis.expansion.landmarks.p()
                )));
            }
        }
        Ok(kernel)
    }
}

/// A basis on its way through a batch.
struct Grown<'a> {
    settings: &'a Basis,
    /// The budget, in bytes.
    memory: u64,
    cap: usize,
    landmarks: Rows<'static>,
    /// A, row by row: row j has j+1 numbers.
    coefficients: Vec<Vec<f64>>,
    /// max k(x,x) of the landmarks.
    largest: f64,
    /// Sum of what was left of the rows as they came.
    left: f64,
    basis: FittedBasis,
}

impl<'a> Grown<'a> {
    fn new(
        settings: &'a Basis,
        memory: u64,
        so_far: Option<&FittedBasis>,
        kernel: Kernel,
        rows: &Rows,
    ) -> Self {
        let basis = so_far.cloned().unwrap_or_else(|| FittedBasis {
            method: Method::Sparse,
            expansion: Expansion {
                kernel,
                landmarks: Landmarks::Rows(rows.select(&[])),
                matrix: Mat::new(),
                offset: Vec::new(),
                origin: None,
            },
            pivots: Vec::new(),
            landmarks_given: false,
            pivot_norms: Vec::new(),
            eigenvalues: None,
            residual: 0.0,
            trace: 0.0,
            precision: Precision::Double,
            rounding_error: None,
            n_kernel_evaluations: 0,
            n_rows: 0,
            stop: Stop::Rule,
            warnings: Vec::new(),
        });
        let landmarks = match &basis.expansion.landmarks {
            Landmarks::Rows(rows) => rows.clone(),
            Landmarks::Columns { .. } => unreachable!("the kernel is not precomputed"),
        };
        let a = &basis.expansion.matrix;
        Self {
            settings,
            memory,
            cap: settings.n_components.unwrap_or(DEFAULT_COMPONENTS),
            coefficients: (0..a.nrows()).map(|i| (0..=i).map(|j| a[(i, j)]).collect()).collect(),
            largest: diagonal(kernel, &landmarks).into_iter().fold(0.0, f64::max),
            landmarks,
            left: basis.residual * basis.trace,
            basis: FittedBasis { warnings: Vec::new(), rounding_error: None, ..basis },
        }
    }

    /// Decides on the rows of a block, one after the other; `first` is the place of the first in its batch.
    fn take(&mut self, rows: &Rows, first: usize) -> Result<()> {
        let (h, m) = (rows.n(), self.coefficients.len());
        self.check_memory()?;
        let kernel = self.basis.expansion.kernel;
        let diagonal = diagonal(kernel, rows);
        let z = self.coordinates(rows);
        let norm2 = |i: usize| z[i * m..(i + 1) * m].iter().map(|v| v * v).sum::<f64>();
        let mut residual: Vec<f64> = (0..h).map(|i| diagonal[i] - norm2(i)).collect();
        self.basis.n_kernel_evaluations += (h * (m + 1)) as u64;
        let mut new: Vec<usize> = Vec::new();
        // New columns of the factor: the block's coordinates along the new pivots.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for i in 0..h {
            let largest = self.largest.max(diagonal[i]);
            if residual[i] < -NOT_PSD * largest || residual[i].is_nan() {
                return Err(not_psd(kernel, first + i, residual[i]));
            }
            let left = residual[i].max(0.0);
            self.basis.trace += diagonal[i].max(0.0);
            if left <= (self.settings.nu.unwrap_or(NU) * diagonal[i]).max(RANK * largest) {
                self.left += left;
                continue;
            }
            if self.coefficients.len() == self.cap {
                self.full();
                self.left += left;
                continue;
            }
            let own = &z[i * m..(i + 1) * m];
            let along = own.iter().copied().chain(columns.iter().map(|column| column[i]));
            let next = next_coefficients(Vec::new(), self.coefficients.iter().zip(along), left.sqrt());
            let size: f64 = next.iter().map(|a| a.abs()).sum();
            if f64::EPSILON * largest * size * size > LOSS {
                self.basis.stop = if self.basis.stop == Stop::Cap { Stop::Cap } else { Stop::Rank };
                self.left += left;
                continue;
            }
            let mut column = vec![0.0; h];
            let later = &mut column[i + 1..];
            column_of(kernel, &rows.slice(i + 1..h), rows, i, later);
            subtract(later, &z[(i + 1) * m..], own);
            for earlier in &columns {
                let at = earlier[i];
                later.iter_mut().zip(&earlier[i + 1..]).for_each(|(c, e)| *c -= at * e);
            }
            for (c, r) in later.iter_mut().zip(&mut residual[i + 1..]) {
                *c /= left.sqrt();
                *r -= *c * *c;
            }
            self.basis.n_kernel_evaluations += later.len() as u64;
            columns.push(column);
            new.push(i);
            self.coefficients.push(next);
            self.largest = largest;
            self.basis.pivots.push(self.basis.n_rows + first + i);
            self.basis.pivot_norms.push(left.sqrt());
        }
        if !new.is_empty() {
            self.landmarks = self.landmarks.joined(&rows.select(&new));
            self.basis.expansion.matrix = triangular(&self.coefficients);
            self.basis.expansion.offset = vec![0.0; self.coefficients.len()];
            self.basis.expansion.landmarks = Landmarks::Rows(self.landmarks.clone());
        }
        Ok(())
    }

    /// z of a block's rows, row-major h×m. The parts are fixed, so that the bits do not depend on the number of threads.
    fn coordinates(&self, rows: &Rows) -> Vec<f64> {
        let (h, m) = (rows.n(), self.coefficients.len());
        let mut z = vec![0.0; h * m];
        if m > 0 {
            let ready = self.basis.expansion.prepared();
            z.par_chunks_mut(PART * m).enumerate().for_each(|(at, z)| {
                let here = z.len() / m;
                let out = MatMut::from_row_major_slice_mut(z, here, m);
                ready.apply(&rows.slice(at * PART..at * PART + here), out);
            });
        }
        z
    }

    /// A row is not taken because of the cap.
    fn full(&mut self) {
        if self.basis.stop != Stop::Cap && self.settings.n_components.is_none() {
            self.basis.warnings.push(format!(
                "the basis has grown to {} components and takes no more; set n_components to choose another size, or \
                 raise nu",
                self.cap
            ));
        }
        self.basis.stop = Stop::Cap;
    }

    fn check_memory(&self) -> Result<()> {
        let (m, budget) = (self.coefficients.len(), self.memory);
        let needed = without_factor(BLOCK, m);
        if needed <= budget {
            return Ok(());
        }
        Err(Error::Memory(format!(
            "the basis has grown to {m} components and needs {}, but the budget is {}\n\
             hint: lower n_components, raise nu, or {}",
            bytes(needed),
            bytes(budget),
            raise_budget(budget)
        )))
    }

    fn finish(mut self, n: usize) -> Result<FittedBasis> {
        if self.coefficients.is_empty() {
            return Err(all_zero());
        }
        self.basis.n_rows += n;
        self.basis.residual = self.left / self.basis.trace;
        self.basis.precision = Precision::Double;
        Ok(self.basis)
    }
}

/// column −= Z·own, Z with a row for every number of the column.
fn subtract(column: &mut [f64], z: &[f64], own: &[f64]) {
    let (h, m) = (column.len(), own.len());
    if h > 0 && m > 0 {
        matmul(
            MatMut::from_column_major_slice_mut(column, h, 1),
            Accum::Add,
            MatRef::from_row_major_slice(z, h, m),
            MatRef::from_column_major_slice(own, m, 1),
            -1.0,
            Par::Seq,
        );
    }
}
