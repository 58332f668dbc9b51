//! Columns of G that are kept, in float64 or float32, and the pass over all rows that adds some.
//!
//!   G[:, new] = (K(:, P) − G G_Pᵀ) L⁻ᵀ
//!
//! cost    n·b kernel values and 2·n·j·b flops by matrix products on panels of rows, for b new pivots after j earlier ones
//! differs in float32 values, products and the solve are; G_P and L come in double and are rounded

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::zeros::Zeros;
use crate::data::weights::Weights;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::linalg::{lower_product, mirror, sum_in_order};
use crate::monitor::Monitor;
use crate::real::Real;
use crate::size::check_available;

/// n×width, row-major, of which as many columns are filled as there are pivots.
pub(crate) struct Columns<T> {
    pub(super) g: Zeros<T>,
    pub(super) width: usize,
    /// It is the result, too.
    last: bool,
}

/// b pivots that a pass adds after j earlier ones.
pub(super) struct New<'a> {
    /// Which of them lie among these rows, and where.
    pub(super) pivots: &'a [(usize, usize)],
    /// Rows of G at them, b×j.
    pub(super) earlier: MatRef<'a, f64>,
    /// The Cholesky factor of their residual Gram matrix, b×b, row-major.
    pub(super) factor: &'a [f64],
}

impl<T: Real> Columns<T> {
    /// Room for `width` columns of n numbers.
    pub(super) fn new(n: usize, width: usize, last: bool) -> Result<Self> {
        check_available((size_of::<T>() * n) as u64 * width as u64, || {
            format!("{width} coordinates of {n} rows")
        })?;
        let g = if last { Zeros::lasting(n * width) } else { Zeros::passing(n * width) };
        Ok(Self { g, width, last })
    }

    /// The first j numbers of row i.
    pub(super) fn row(&self, i: usize, j: usize) -> &[T] {
        &self.g[i * self.width..i * self.width + j]
    }

    /// Makes room for so many columns, of at most `cap`.
    pub(super) fn grow(&mut self, n: usize, needed: usize, cap: usize) -> Result<()> {
        if needed <= self.width {
            return Ok(());
        }
        let mut wider = Self::new(n, (2 * self.width).max(needed).min(cap.max(needed)), self.last)?;
        for (new, old) in wider.g.chunks_exact_mut(wider.width).zip(self.g.chunks_exact(self.width)) {
            new[..old.len()].copy_from_slice(old);
        }
        *self = wider;
        Ok(())
    }

    /// Adds the columns of new pivots and takes them out of the residuals. `fill` computes kernel values of a range of rows
    /// against the new pivots.
    pub(super) fn add(
        &mut self,
        new: &New,
        residual: &mut [f64],
        fill: impl Fn(Range<usize>, &mut [T]) + Sync,
        monitor: &Monitor,
    ) -> Result<()> {
        let (b, j, width) = (new.earlier.nrows(), new.earlier.ncols(), self.width);
        let earlier = Mat::from_fn(b, j, |c, k| T::of(new.earlier[(c, k)]));
        let l = Mat::from_fn(b, b, |c, k| T::of(new.factor[c * b + k]));
        let panels = self.g.par_chunks_mut(PANEL * width).zip(residual.par_chunks_mut(PANEL));
        panels.enumerate().try_for_each(|(at, (g, residual))| {
            monitor.check()?;
            let rows = at * PANEL..at * PANEL + residual.len();
            let done = MatRef::from_row_major_slice(g, rows.len(), width).subcols(0, j);
            let mut t = vec![T::ZERO; rows.len() * b];
            fill(rows, &mut t);
            next(&mut t, done, earlier.transpose(), l.as_ref());
            for ((t, row), residual) in t.chunks_exact(b).zip(g.chunks_exact_mut(width)).zip(residual) {
                row[j..j + b].copy_from_slice(t);
                take(residual, t);
            }
            Ok::<_, Error>(())
        })?;
        for &(c, i) in new.pivots {
            // Exactly triangular at the pivots, whatever the products rounded to.
            let row = &mut self.g[i * width + j..i * width + j + b];
            row.iter_mut().zip(&new.factor[c * b..(c + 1) * b]).for_each(|(g, l)| *g = T::of(*l));
        }
        Ok(())
    }

    /// RᵀR of residual columns R = K(:, some) − G G_someᵀ, summed over panels in order. `own` has the rows of G at these some;
    /// `fill` computes kernel values of a range of rows against them.
    pub(super) fn products(
        &self,
        n: usize,
        own: MatRef<'_, f64>,
        weights: Option<&Weights>,
        fill: impl Fn(Range<usize>, &mut [T]) + Sync,
        monitor: &Monitor,
    ) -> Result<Mat<f64>> {
        let (b, j, width) = (own.nrows(), own.ncols(), self.width);
        let own = Mat::from_fn(j, b, |k, c| T::of(own[(c, k)]));
        panel_products(n, b, weights, monitor, |rows, t| {
            let done = &self.g[rows.start * width..rows.end * width];
            let done = MatRef::from_row_major_slice(done, rows.len(), width).subcols(0, j);
            fill(rows, t);
            subtract(t, done, own.as_ref());
        })
    }

    /// The first m columns, row-major n×m.
    pub(super) fn into_vec(self, n: usize, m: usize) -> Vec<T> {
        let Self { mut g, width, .. } = self;
        if m < width {
            for i in 1..n {
                g.copy_within(i * width..i * width + m, i * m);
            }
        }
        let mut features = g.into_vec();
        features.truncate(n * m);
        features.shrink_to_fit();
        features
    }
}

/// The next columns of G on a panel of rows, in the place of their kernel values t: (t − done·part) L⁻ᵀ.
pub(super) fn next<T: Real>(t: &mut [T], done: MatRef<'_, T>, part: MatRef<'_, T>, l: MatRef<'_, T>) {
    subtract(t, done, part);
    let new = MatMut::from_row_major_slice_mut(t, done.nrows(), l.nrows());
    solve_lower_triangular_in_place(l, new.transpose_mut(), Par::Seq);
}

/// t − done·part in the place of t.
pub(super) fn subtract<T: Real>(t: &mut [T], done: MatRef<'_, T>, part: MatRef<'_, T>) {
    let t = MatMut::from_row_major_slice_mut(t, done.nrows(), part.ncols());
    matmul(t, Accum::Add, done, part, -T::ONE, Par::Seq);
}

/// RᵀR in float64 for an R of n×b that `fill` computes panel by panel, row-major; the sum is in the panels' order.
pub(super) fn panel_products<T: Real>(
    n: usize,
    b: usize,
    weights: Option<&Weights>,
    monitor: &Monitor,
    fill: impl Fn(Range<usize>, &mut [T]) + Sync,
) -> Result<Mat<f64>> {
    let one = |at: usize| {
        let rows = at * PANEL..n.min((at + 1) * PANEL);
        let mut t = vec![T::ZERO; rows.len() * b];
        fill(rows.clone(), &mut t);
        if let Some(weights) = weights {
            for (row, w) in t.chunks_exact_mut(b).zip(&weights[rows.clone()]) {
                row.iter_mut().for_each(|v| *v = T::of(v.double() * w.sqrt()));
            }
        }
        let t = MatRef::from_row_major_slice(&t, rows.len(), b);
        lower_product(t.transpose(), t)
    };
    let mut sum = sum_in_order(n.div_ceil(PANEL), b, b, monitor, one)?;
    mirror(&mut sum);
    Ok(sum)
}

/// Takes a row's new coordinates out of its squared residual.
pub(super) fn take<T: Real>(residual: &mut f64, t: &[T]) {
    *residual -= t.iter().map(|v| v.double() * v.double()).sum::<f64>();
}
