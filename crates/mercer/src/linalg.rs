//! Dense linear algebra that several stages share. Small problems are sequential, large ones are cut into a fixed number of
//! pieces, so that the bits do not depend on the number of threads.

pub(crate) mod large;
mod tridiagonal;

use std::cell::RefCell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::solve::solve_in_place;
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd,
};
use faer::linalg::householder::apply_block_householder_sequence_on_the_left_in_place_with_conj as apply_reflections;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::perm::swap_cols_idx;
use faer::{Accum, Col, Conj, Mat, MatMut, MatRef, Par};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::real::{Precision, Real};
use tridiagonal::tridiagonalise;

/// A·B.
pub(crate) fn product<T: Real>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    if a.ncols() > 0 {
        matmul(out.as_mut(), Accum::Replace, a, b, T::ONE, Par::Seq);
    }
    out
}

/// A·B for an A with many rows, in panels that the threads of the current pool share.
pub(crate) fn tall_product<T: Real>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    const PANEL_ROWS: usize = 2_048;
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    if a.ncols() > 0 && b.ncols() > 0 {
        // Fixed panels, so that the bits do not depend on the number of threads.
        out.par_row_chunks_mut(PANEL_ROWS)
            .zip(a.par_row_chunks(PANEL_ROWS))
            .for_each(|(out, a)| matmul(out, Accum::Replace, a, b, T::ONE, Par::Seq));
    }
    out
}

/// Aᵀ with row i multiplied by scale(i).
pub(crate) fn scaled_transpose(a: MatRef<'_, f64>, scale: impl Fn(usize) -> f64 + Sync) -> Mat<f64> {
    // Square tiles stay in the cache; whole rows of A would not.
    const TILE: usize = 64;
    let mut out = Mat::zeros(a.ncols(), a.nrows());
    out.par_col_chunks_mut(TILE).enumerate().for_each(|(at, mut out)| {
        for (i, column) in a.get(at * TILE..at * TILE + out.ncols(), ..).col_iter().enumerate() {
            let scale = scale(i);
            column.iter().enumerate().for_each(|(j, v)| out[(i, j)] = v * scale);
        }
    });
    out
}

/// Calls f with so many numbers of this thread's own, whatever they are, and keeps their memory for the next call: a panel that
/// is allocated anew costs a page fault every 512 numbers, as much as a tenth of the arithmetic on it.
pub(crate) fn with_scratch<R>(len: usize, f: impl FnOnce(&mut [f64]) -> R) -> R {
    thread_local!(static FREE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) });
    // Work that a thread takes over while it waits may ask, too: it gets another.
    let mut numbers = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
    if numbers.len() < len {
        numbers.resize(len, 0.0);
    }
    let found = f(&mut numbers[..len]);
    FREE.with_borrow_mut(|free| free.push(numbers));
    found
}

/// AᵀA in float64, exactly symmetric, in half the flops of a product.
pub(crate) fn self_product<T: Real>(a: MatRef<'_, T>) -> Mat<f64> {
    let mut out = lower_product(a.transpose(), a);
    mirror(&mut out);
    out
}

/// The lower half of A·B, a square matrix; the upper half is 0. The product is computed in the inputs' precision and returned
/// in float64, for sums.
pub(crate) fn lower_product<T: Real>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<f64> {
    let mut out = Mat::<T>::zeros(a.nrows(), b.ncols());
    if a.ncols() > 0 && b.ncols() > 0 {
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular_matmul(out.as_mut(), lower, Accum::Replace, a, whole, b, whole, T::ONE, Par::Seq);
    }
    T::widened(out)
}

/// Copies the lower half of a square matrix to the upper one.
pub(crate) fn mirror(a: &mut Mat<f64>) {
    // In square tiles, which stay in the cache; whole rows would not.
    const TILE: usize = 64;
    let n = a.ncols();
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for i in top..n.min(top + TILE) {
                for j in left..i.min(left + TILE) {
                    a[(j, i)] = a[(i, j)];
                }
            }
        }
    }
}

/// Computes f(i) for 0..count on the threads of the current pool and passes the results to `add` in order, so that the bits of
/// a sum do not depend on the number of threads. At most 16 results of `bytes` each are held at a time, fewer if they are large.
pub(crate) fn in_order<T: Send>(
    count: usize,
    bytes: usize,
    monitor: &Monitor,
    f: impl Fn(usize) -> T + Sync,
    mut add: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let all: Vec<usize> = (0..count).collect();
    for slab in all.chunks(waiting(usize::MAX, bytes)) {
        monitor.check()?;
        let parts: Vec<T> = slab.par_iter().map(|&i| f(i)).collect();
        parts.into_iter().try_for_each(&mut add)?;
    }
    Ok(())
}

/// How many of `count` results of `bytes` each are held at a time in [`in_order`].
pub(crate) fn waiting(count: usize, bytes: usize) -> usize {
    const MAX_WAITING_BYTES: usize = 512 << 20;
    (MAX_WAITING_BYTES / bytes.max(1)).clamp(2, 16).min(count)
}

/// Σ f(i) over 0..count, where f returns rows×columns matrices; see [`in_order`].
pub(crate) fn sum_in_order(
    count: usize,
    rows: usize,
    columns: usize,
    monitor: &Monitor,
    f: impl Fn(usize) -> Mat<f64> + Sync,
) -> Result<Mat<f64>> {
    let mut sum = Mat::zeros(rows, columns);
    in_order(count, 8 * rows * columns, monitor, f, |part| {
        sum += part;
        Ok(())
    })?;
    Ok(sum)
}

/// XᵀX in blocks of columns that the threads of the current pool share; each block sums panels of rows in order.
pub(crate) fn gram(x: MatRef<'_, f64>, monitor: &Monitor) -> Result<Mat<f64>> {
    const BLOCK_COLUMNS: usize = 128;
    // Small enough that a request to stop is answered soon.
    const PANEL_ROWS: usize = 8_192;
    let p = x.ncols();
    let starts: Vec<usize> = (0..p).step_by(BLOCK_COLUMNS).collect();
    let pairs: Vec<(usize, usize)> =
        starts.iter().flat_map(|&a| starts.iter().filter(move |&&b| b <= a).map(move |&b| (a, b))).collect();
    let block = |start: usize| start..p.min(start + BLOCK_COLUMNS);
    let blocks: Result<Vec<Mat<f64>>> = pairs
        .par_iter()
        .map(|&(a, b)| {
            let (left, right) = (x.get(.., block(a)), x.get(.., block(b)));
            let mut out = Mat::zeros(left.ncols(), right.ncols());
            for start in (0..x.nrows()).step_by(PANEL_ROWS) {
                monitor.check()?;
                let rows = start..x.nrows().min(start + PANEL_ROWS);
                let left = left.get(rows.clone(), ..).transpose();
                matmul(out.as_mut(), Accum::Add, left, right.get(rows, ..), 1.0, Par::Seq);
            }
            Ok(out)
        })
        .collect();
    let mut out = Mat::zeros(p, p);
    for ((a, b), found) in pairs.into_iter().zip(blocks?) {
        out.get_mut(block(b), block(a)).copy_from(found.transpose());
        out.get_mut(block(a), block(b)).copy_from(found);
    }
    Ok(out)
}

/// Cholesky factor L of a positive definite matrix L Lᵀ.
pub(crate) struct Cholesky(Mat<f64>);

impl Cholesky {
    /// From the lower half of the matrix; None if it is not positive definite.
    pub(crate) fn new(mut a: Mat<f64>) -> Option<Self> {
        let parameters = faer::prelude::default();
        let par = if a.nrows() >= PARALLEL_MIN_ROWS { Par::rayon(EIGEN_PIECES) } else { Par::Seq };
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(a.nrows(), par, parameters));
        let (plain, stack) = (LltRegularization::default(), MemStack::new(&mut memory));
        cholesky_in_place(a.as_mut(), plain, par, stack, parameters).ok().map(|_| Self(a))
    }

    /// A factor that was found elsewhere; its lower half is read.
    pub(crate) fn of_factor(l: Mat<f64>) -> Self {
        Self(l)
    }

    /// L_ij, j ≤ i.
    pub(crate) fn lower(&self, i: usize, j: usize) -> f64 {
        self.0[(i, j)]
    }

    /// Factors the lower half of a matrix that may be large; `monitor` can stop it.
    pub(crate) fn watched(a: Mat<f64>, monitor: &Monitor) -> Result<Option<Self>> {
        interruptible(a.nrows(), monitor, move || Ok(Self::new(a)))
    }

    /// L_ii.
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        self.0[(i, i)]
    }

    /// Overwrites B by L⁻¹B.
    pub(crate) fn forward(&self, b: MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.0.as_ref(), b, Par::Seq);
    }

    /// Overwrites B by L⁻ᵀB.
    pub(crate) fn backward(&self, b: MatMut<'_, f64>) {
        solve_upper_triangular_in_place(self.0.transpose(), b, Par::Seq);
    }

    /// The last `count` numbers of the diagonal of A⁻¹, in count³/3 flops: squared lengths of the columns of L⁻¹, which are 0
    /// above the diagonal.
    pub(crate) fn inverse_diagonal(&self, count: usize, monitor: &Monitor) -> Result<Vec<f64>> {
        const BLOCK_COLUMNS: usize = 128;
        let n = self.0.nrows();
        let part = |at: usize| {
            let start = n - count + at * BLOCK_COLUMNS;
            let below = self.0.as_ref().get(start.., start..);
            let mut columns =
                Mat::from_fn(n - start, BLOCK_COLUMNS.min(n - start), |i, j| f64::from(u8::from(i == j)));
            solve_lower_triangular_in_place(below, columns.as_mut(), Par::Seq);
            columns.col_iter().map(|column| column.squared_norm_l2()).collect::<Vec<f64>>()
        };
        let mut diagonal = Vec::with_capacity(count);
        in_order(count.div_ceil(BLOCK_COLUMNS), 8 * n * BLOCK_COLUMNS, monitor, part, |part| {
            diagonal.extend(part);
            Ok(())
        })?;
        Ok(diagonal)
    }

    /// Overwrites B by A⁻¹B.
    pub(crate) fn solve(&self, b: &mut Mat<f64>) {
        solve_in_place(self.0.as_ref(), b.as_mut(), Par::Seq, MemStack::new(&mut []));
    }
}

/// R of A = QR: upper triangular, with min(m, n) rows.
pub(crate) fn triangular_factor(mut a: Mat<f64>) -> Mat<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    let block = recommended_block_size::<f64>(m, n);
    let mut reflectors = Mat::zeros(block, m.min(n));
    let scratch = qr_in_place_scratch::<f64>(m, n, block, Par::Seq, faer::prelude::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    qr_in_place(a.as_mut(), reflectors.as_mut(), Par::Seq, stack, faer::prelude::default());
    Mat::from_fn(m.min(n), n, |i, j| if i <= j { a[(i, j)] } else { 0.0 })
}

/// Subtracts its mean from each column.
pub(crate) fn center_columns(a: &mut Mat<f64>) {
    let n = a.nrows() as f64;
    for column in a.col_iter_mut() {
        let mean = column.sum() / n;
        column.iter_mut().for_each(|v| *v -= mean);
    }
}

/// HKH: centres rows and columns of a symmetric matrix.
pub(crate) fn center_gram(k: &mut Mat<f64>) {
    let n = k.nrows();
    let means: Vec<f64> = (0..n).map(|j| k.col(j).sum() / n as f64).collect();
    let all = means.iter().sum::<f64>() / n as f64;
    for (j, column) in k.col_iter_mut().enumerate() {
        column.iter_mut().zip(&means).for_each(|(v, mean)| *v += all - mean - means[j]);
    }
}

/// Eigenvalues, descending, and eigenvectors (columns) of a symmetric matrix.
pub(crate) fn eigen(a: Mat<f64>, monitor: &Monitor) -> Result<(Vec<f64>, Mat<f64>)> {
    interruptible(a.nrows(), monitor, move || decompose(a))
}

/// Matrices with at least this many rows are decomposed in parallel.
const PARALLEL_MIN_ROWS: usize = 500;

/// Pieces of a large eigenproblem; fixed, because the bits depend on their number.
const EIGEN_PIECES: usize = 4;

/// Runs work on a matrix with this many rows. A large decomposition takes seconds and cannot be interrupted, so it runs on
/// its own thread while the caller waits for the result or for a request to stop; after a stop its result is discarded.
fn interruptible<T: Send + 'static>(
    rows: usize,
    monitor: &Monitor,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    if rows < PARALLEL_MIN_ROWS {
        return work();
    }
    let (send, receive) = mpsc::channel();
    // A new pool of the caller's size: the caller's own threads are blocked while it waits.
    let threads = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build();
    let refused = |e: &dyn std::fmt::Display| Error::Memory(format!("no threads could be started: {e}"));
    let threads = threads.map_err(|e| refused(&e))?;
    let thread = std::thread::Builder::new().spawn(move || send.send(threads.install(work)));
    thread.map_err(|e| refused(&e))?;
    loop {
        match receive.recv_timeout(Duration::from_millis(20)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => monitor.check()?,
            Err(RecvTimeoutError::Disconnected) => {
                // Memory may have run out.
                monitor.check()?;
                return Err(Error::Numerical("the decomposition of a matrix failed".into()));
            }
        }
    }
}

/// Tridiagonalises, solves the tridiagonal problem, and transforms back. For large matrices the first step is
/// `tridiagonalise`, which is faster than faer's.
fn decompose(mut a: Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    let large = n >= PARALLEL_MIN_ROWS;
    let par = if large { Par::rayon(EIGEN_PIECES) } else { Par::Seq };
    let mut values = Diag::zeros(n);
    let mut vectors = Mat::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, faer::prelude::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (out, settings) = (Some(vectors.as_mut()), faer::prelude::default());
    if large {
        let mut factors = Mat::zeros(recommended_block_size::<f64>(n, n), n - 1);
        tridiagonalise(a.as_mut(), factors.as_mut());
        let (mut diagonal, mut beside) = (Diag::zeros(n), Diag::zeros(n));
        (0..n).for_each(|i| diagonal[i] = a[(i, i)]);
        (1..n).for_each(|i| beside[i - 1] = a[(i, i - 1)]);
        let t = (diagonal.as_ref(), beside.as_ref());
        tridiagonal_self_adjoint_evd(t.0, t.1, values.as_mut(), out, par, stack, settings).map(|()| {
            let (reflections, vectors) = (a.get(1.., ..n - 1), vectors.get_mut(1.., ..));
            apply_reflections(reflections, factors.as_ref(), Conj::No, vectors, par, stack);
        })
    } else {
        self_adjoint_evd(a.as_ref(), values.as_mut(), out, par, stack, settings)
    }
    .map_err(|_| Error::Numerical(format!("the eigenvalues of a {n}×{n} matrix did not converge")))?;
    drop((a, memory));
    let descending = (0..n).rev().map(|i| values.column_vector()[i]).collect();
    (0..n / 2).for_each(|j| swap_cols_idx(vectors.as_mut(), j, n - 1 - j));
    Ok((descending, vectors))
}

/// Rows or columns up to which a decomposition is as fast as a search for one singular vector.
const SMALL_SVD: usize = 64;

/// Singular values, descending, and left singular vectors (columns); min(m, n) of each.
pub(crate) fn left_singular(a: Mat<f64>, monitor: &Monitor) -> Result<(Vec<f64>, Mat<f64>)> {
    let (m, n) = (a.nrows(), a.ncols());
    let size = m.min(n);
    interruptible(size, monitor, move || {
        let (left, right) = (ComputeSvdVectors::Thin, ComputeSvdVectors::No);
        let mut values = Diag::zeros(size);
        let mut vectors = Mat::zeros(m, size);
        let mut memory =
            MemBuffer::new(svd_scratch::<f64>(m, n, left, right, Par::Seq, faer::prelude::default()));
        svd(
            a.as_ref(),
            values.as_mut(),
            Some(vectors.as_mut()),
            None,
            Par::Seq,
            MemStack::new(&mut memory),
            faer::prelude::default(),
        )
        .map_err(|_| Error::Numerical(format!("the singular values of a {m}×{n} matrix did not converge")))?;
        Ok((values.column_vector().iter().copied().collect(), vectors))
    })
}

/// The largest singular value and its left singular vector, of unit length. Beyond [`SMALL_SVD`] rows and columns, Krylov
/// spaces grow until they hold that vector up to rounding (Golub & Kahan 1965, all vectors orthogonalised).
pub(crate) fn leading_left(a: &Mat<f64>, monitor: &Monitor) -> Result<(f64, Col<f64>)> {
    let (m, n) = (a.nrows(), a.ncols());
    if m.min(n) <= SMALL_SVD {
        let (values, vectors) = left_singular(a.clone(), monitor)?;
        return Ok((values[0], vectors.col(0).to_owned()));
    }
    // A V = U H, with α on H's diagonal and β below it.
    let (mut left, mut right) = (Mat::zeros(m, 0), Mat::zeros(n, 0));
    let (mut alphas, mut betas): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    // Any start will do that is not orthogonal to the vector in question.
    let signs = Mat::from_fn(n, 1, |i, _| if (i * 0x9E37_79B9) & 0x10000 == 0 { 1.0 } else { -1.0 });
    let mut next = product(a.as_ref(), signs.as_ref());
    let (mut look_at, mut largest) = (8, 0.0f64);
    loop {
        monitor.check()?;
        let size = next.norm_l2();
        if left.ncols() == m || size <= f64::EPSILON * largest {
            break;
        }
        betas.extend((left.ncols() > 0).then_some(size));
        append(&mut left, &next, size);
        let k = right.ncols();
        next = product(a.transpose(), left.get(.., k..));
        orthogonalise(&mut next, &right);
        let alpha = next.norm_l2();
        if k == look_at {
            let (values, vectors) = left_singular(bidiagonal(&alphas, &betas), monitor)?;
            // What Aᵀ times the vector has beside its own direction.
            if alpha * vectors[(k, 0)].abs() <= 1e-15 * values[0] {
                break;
            }
            look_at = look_at * 3 / 2;
        }
        if k == n || alpha <= f64::EPSILON * largest {
            break;
        }
        largest = largest.max(alpha);
        alphas.push(alpha);
        append(&mut right, &next, alpha);
        next = product(a.as_ref(), right.get(.., k..));
        orthogonalise(&mut next, &left);
    }
    let weights = match alphas.len() {
        0 => Mat::from_fn(left.ncols(), 1, |_, _| 1.0),
        _ => left_singular(bidiagonal(&alphas, &betas), monitor)?.1.subcols(0, 1).to_owned(),
    };
    let found = product(left.as_ref().subcols(0, weights.nrows()), weights.as_ref());
    let size = found.norm_l2();
    if size == 0.0 {
        return Ok((0.0, Col::zeros(m)));
    }
    let found = Mat::from_fn(m, 1, |i, _| found[(i, 0)] / size);
    let value = product(a.transpose(), found.as_ref()).norm_l2();
    Ok((value, found.col(0).to_owned()))
}

/// One row more than columns where the last β is known, else as many.
fn bidiagonal(alphas: &[f64], betas: &[f64]) -> Mat<f64> {
    Mat::from_fn(betas.len() + 1, alphas.len(), |i, j| match i.wrapping_sub(j) {
        0 => alphas[j],
        1 => betas[j],
        _ => 0.0,
    })
}

/// Takes the columns of an orthonormal matrix out of a vector, twice, after which rounding is all that is left of them.
fn orthogonalise(vector: &mut Mat<f64>, columns: &Mat<f64>) {
    for _ in 0..2 {
        let along = product(columns.transpose(), vector.as_ref());
        *vector -= product(columns.as_ref(), along.as_ref());
    }
}

/// Adds a vector of this length as a column of length 1.
fn append(columns: &mut Mat<f64>, vector: &Mat<f64>, length: f64) {
    let k = columns.ncols();
    columns.resize_with(vector.nrows(), k + 1, |i, _| vector[(i, 0)] / length);
}

/// The inverse of a symmetric positive semi-definite matrix on its numerical range (eigenvalues above 1e−12 of the
/// largest).
pub(crate) fn pseudo_inverse(a: Mat<f64>, monitor: &Monitor) -> Result<Mat<f64>> {
    let n = a.nrows();
    let (values, vectors) = eigen(a, monitor)?;
    let rank = values.iter().take_while(|v| **v > 1e-12 * values[0]).count();
    let scaled = Mat::from_fn(n, rank, |i, j| vectors[(i, j)] / values[j]);
    Ok(product(scaled.as_ref(), vectors.subcols(0, rank).transpose()))
}

/// The value that decides a feature's sign: the one of largest magnitude, the first of those that are equal up to rounding.
/// Values are added in row order, possibly in several parts.
#[derive(Clone, Debug)]
pub(crate) struct Deciding {
    /// Magnitudes this close, relative to the largest, are equal.
    equal: f64,
    /// Running maxima of the magnitude that equal the largest up to rounding.
    records: Vec<f64>,
}

impl Deciding {
    /// No values yet, for features that were computed in this precision.
    pub(crate) fn new(precision: Precision) -> Self {
        Self { equal: precision.tolerance(1e-9), records: Vec::new() }
    }

    /// What it is made of, to be sent.
    pub(crate) fn parts(&self) -> (f64, Vec<f64>) {
        (self.equal, self.records.clone())
    }

    /// From its [`parts`](Self::parts).
    pub(crate) fn from_parts((equal, records): (f64, Vec<f64>)) -> Self {
        Self { equal, records }
    }

    pub(crate) fn see(&mut self, value: f64) {
        if self.records.last().is_none_or(|last| value.abs() > last.abs()) {
            let equal = self.equal;
            self.records.retain(|earlier| earlier.abs() >= value.abs() * (1.0 - equal));
            self.records.push(value);
        }
    }

    pub(crate) fn then(&mut self, later: &Self) {
        later.records.iter().for_each(|&value| self.see(value));
    }

    /// The sign that makes that value positive.
    pub(crate) fn sign(&self) -> f64 {
        if self.records.first().is_some_and(|v| *v < 0.0) { -1.0 } else { 1.0 }
    }
}

/// The deciding value of each column.
pub(crate) fn deciding<T: Real>(features: MatRef<'_, T>) -> Vec<Deciding> {
    let of = |j: usize| {
        let mut deciding = Deciding::new(T::PRECISION);
        features.col(j).iter().for_each(|&v| deciding.see(v.double()));
        deciding
    };
    (0..features.ncols()).map(of).collect()
}

/// Signs that make the entry of largest magnitude in each column positive (the first, where several are equal up to
/// rounding).
pub(crate) fn positive_signs<T: Real>(features: MatRef<'_, T>) -> Vec<f64> {
    deciding(features).iter().map(Deciding::sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gram_is_the_product_and_cholesky_solves_with_it() {
        for (n, p) in [(5, 3), (9_000, 7), (400, 300)] {
            let x = Mat::from_fn(n, p, |i, j| ((i * 7 + j * 13) % 31) as f64 - ((i * j) % 17) as f64);
            let mut a = gram(x.as_ref(), &Monitor::default()).expect("gram");
            let expected = product(x.transpose(), x.as_ref());
            assert!((&a - &expected).norm_max() <= 1e-12 * expected.norm_max());
            (0..p).for_each(|j| a[(j, j)] *= 1.5);
            let mut solution = Mat::from_fn(p, 2, |i, s| (i + s) as f64);
            let side = solution.clone();
            let factor = Cholesky::new(a.clone()).expect("positive definite");
            factor.solve(&mut solution);
            assert!((product(a.as_ref(), solution.as_ref()) - &side).norm_max() < 1e-10);
            let mut steps = side;
            factor.forward(steps.as_mut());
            factor.backward(steps.as_mut());
            assert!((steps - solution).norm_max() < 1e-10);
            assert!((self_product(x.as_ref()) - expected).norm_max() <= 1e-12 * a.norm_max());
        }
        assert!(Cholesky::new(Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 })).is_none());
    }

    /// A V = V Λ and VᵀV = I to rounding, Λ descends, and Σλ is the trace of A.
    fn check_eigen(a: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
        let n = a.nrows();
        let (values, vectors) = eigen(a.clone(), &Monitor::default()).expect("eigenvalues");
        assert!(values.is_sorted_by(|a, b| a >= b));
        let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * values[j]);
        let size = a.norm_max().max(f64::MIN_POSITIVE) * n as f64;
        assert!((product(a.as_ref(), vectors.as_ref()) - scaled).norm_max() <= 1e-14 * size);
        let unit = self_product(vectors.as_ref()) - Mat::<f64>::identity(n, n);
        assert!(unit.norm_max() <= 1e-13, "{n}: {:e}", unit.norm_max());
        let trace: f64 = (0..n).map(|i| a[(i, i)]).sum();
        assert!((values.iter().sum::<f64>() - trace).abs() <= 1e-13 * size);
        (values, vectors)
    }

    #[test]
    fn eigenvectors_of_any_size_and_kind() {
        let wild = |i: usize, j: usize| ((i * j + 7 * (i + j)) % 101) as f64 / 50.0 - 1.0;
        // Below and above what is worth threads, and sizes that fill no strip and no block of columns.
        for n in [
            1,
            2,
            3,
            130,
            PARALLEL_MIN_ROWS - 1,
            PARALLEL_MIN_ROWS,
            PARALLEL_MIN_ROWS + 1,
            517,
            2 * PARALLEL_MIN_ROWS + 3,
        ] {
            check_eigen(&Mat::from_fn(n, n, wild));
        }
        let n = PARALLEL_MIN_ROWS + 11;
        for scale in [1e-140, 1e140] {
            check_eigen(&Mat::from_fn(n, n, |i, j| scale * wild(i, j)));
        }
        // Nothing to reflect, nothing at all, one direction, two blocks, and values that are far apart.
        let (values, _) = check_eigen(&Mat::from_fn(n, n, |i, j| if i == j { i as f64 } else { 0.0 }));
        assert!(values.iter().enumerate().all(|(i, v)| (v - (n - 1 - i) as f64).abs() < 1e-10));
        check_eigen(&Mat::zeros(n, n));
        let (values, _) = check_eigen(&Mat::full(n, n, 1.0));
        assert!((values[0] - n as f64).abs() < 1e-10 && values[1..].iter().all(|v| v.abs() < 1e-10));
        check_eigen(&Mat::from_fn(n, n, |i, j| if (i < 200) == (j < 200) { wild(i, j) } else { 0.0 }));
        check_eigen(&Mat::from_fn(n, n, |i, j| wild(i, j) * (-((i + j) as f64) / 20.0).exp()));
    }

    #[test]
    fn the_leading_singular_vector_is_that_of_a_decomposition() {
        let wild = |i: usize, j: usize| ((i * j + 7 * (i + j)) % 101) as f64 / 50.0 - 1.0;
        let (n, monitor) = (SMALL_SVD + 26, Monitor::default());
        let graded = |i: usize, j: usize| wild(i, j) * (-((i + j) as f64) / 9.0).exp();
        let matrices = [
            Mat::from_fn(SMALL_SVD, n, wild),
            Mat::from_fn(n, SMALL_SVD + 1, wild),
            Mat::from_fn(SMALL_SVD + 1, 3 * n, wild),
            Mat::from_fn(n, n, |i, j| 1e-140 * wild(i, j)),
            Mat::from_fn(n, n, graded),
            // One direction, all directions alike, two leading ones alike, none.
            Mat::full(n, 2 * n, 0.5),
            Mat::identity(n, n),
            Mat::from_fn(n, n, |i, j| if i == j { [3.0, 3.0, 1.0][i.min(2)] } else { 0.0 }),
            Mat::zeros(n, n),
        ];
        for (at, a) in matrices.iter().enumerate() {
            let (value, w) = leading_left(a, &monitor).expect("found");
            let expected = left_singular(a.clone(), &monitor).expect("decomposed").0[0];
            assert!((value - expected).abs() <= 1e-13 * expected, "{at}: {value} and not {expected}");
            let again = product(a.as_ref(), product(a.transpose(), w.as_mat()).as_ref());
            let left = again - Mat::from_fn(a.nrows(), 1, |i, _| value * value * w[i]);
            assert!(left.norm_l2() <= 1e-12 * value * value, "{at}: {:e}", left.norm_l2());
        }
    }

    #[test]
    fn large_eigenvectors_do_not_depend_on_the_number_of_threads() {
        let n = PARALLEL_MIN_ROWS + 301;
        let a =
            Mat::from_fn(n, n, |i, j| (-((i as f64 - j as f64) / 9.0).powi(2)).exp() + ((i * j) % 7) as f64);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| eigen(a.clone(), &Monitor::default()).expect("eigenvalues"))
        };
        assert!(on(1) == on(2) && on(1) == on(3));
    }
}
