//! Householder tridiagonalisation of a symmetric matrix, the first step of a full eigendecomposition.
//!
//!   A = Q T Qᵀ,   Q = H₀ H₁ …,   H = I − v vᵀ/τ;   a reflection subtracts v wᵀ + w vᵀ from A,  w = (I − v vᵀ/2τ) A v/τ
//!
//! cost    4n³/3 flops, half of them products of A's lower half with one vector: n²/2 numbers are read per column, from memory
//!         where they do not fit into the cache, so that memory bandwidth limits the speed
//! source  Dongarra, Sorensen & Hammarling 1989 (blocked updates: reflections of several columns are applied together)
//! differs faer's own applies each reflection at once, which reads and writes A for every column and takes twice as long

use std::cmp::Ordering;
use std::ops::Range;

use faer::linalg::householder::make_householder_in_place;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, ColMut, ColRef, Mat, MatMut, MatRef, Par};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::{product, self_product};

/// Reflections of a blocked update.
const BLOCK_REFLECTIONS: usize = 32;

/// Parts of A's lower half in products, and columns of the strips in updates; fixed, so that the bits do not depend on the
/// number of threads.
const PRODUCT_PARTS: usize = 4;
const STRIP_COLUMNS: usize = 256;

/// Columns that are read at once; the fastest of 2, 4, 8 and 16.
const COLUMNS_AT_ONCE: usize = 8;

/// With fewer rows than this a product is sequential.
const PRODUCT_PARALLEL_MIN_ROWS: usize = 256;

/// Overwrites the lower half of A: T on the diagonal and the subdiagonal, and below them the reflections' vectors without
/// their first element, which is 1. `factors`, b×(n − 1): the block factors of b reflections at a time.
pub(super) fn tridiagonalise(mut a: MatMut<'_, f64>, factors: MatMut<'_, f64>) {
    let n = a.nrows();
    // v and w of each reflection that is not applied to A yet, side by side.
    let mut pairs = Mat::<f64>::zeros(n, 2 * BLOCK_REFLECTIONS);
    let mut taus = Vec::with_capacity(n);
    for start in (0..n).step_by(BLOCK_REFLECTIONS) {
        let end = n.min(start + BLOCK_REFLECTIONS);
        for k in start..end {
            let known = 2 * (k - start);
            let waiting = pairs.get(k.., ..known);
            subtract(a.as_mut().get_mut(k.., k), waiting, &swapped(waiting.row(0).transpose()));
            if k + 1 == n {
                break;
            }
            let (mut head, mut tail) = a.as_mut().get_mut(k + 1.., k).split_at_row_mut(1);
            let tau = make_householder_in_place(&mut head[0], tail.as_mut()).tau;
            let v: Vec<f64> = std::iter::once(1.0).chain(tail.iter().copied()).collect();
            let w = partner(a.as_ref().get(k + 1.., k + 1..), &v, tau, pairs.get(k + 1.., ..known));
            let mut own = pairs.get_mut(k + 1.., known..known + 2);
            own.as_mut().col_mut(0).iter_mut().zip(v).for_each(|(own, v)| *own = v);
            own.col_mut(1).iter_mut().zip(w).for_each(|(own, w)| *own = w);
            taus.push(tau);
        }
        if end < n {
            update(a.as_mut().get_mut(end.., end..), pairs.get(end.., ..2 * (end - start)));
        }
    }
    block_factors(a.as_ref(), &taus, factors);
}

/// Block factors: for each block of reflections the upper half of VᵀV with τ on its diagonal, T; their product is
/// I − V·T⁻¹·Vᵀ.
fn block_factors(a: MatRef<'_, f64>, taus: &[f64], mut factors: MatMut<'_, f64>) {
    let starts = (0..taus.len()).step_by(factors.nrows());
    for (start, taus) in starts.zip(taus.chunks(factors.nrows())) {
        let width = taus.len();
        let below = a.get(start + 1.., start..start + width);
        let v = Mat::from_fn(below.nrows(), width, |i, j| match i.cmp(&j) {
            Ordering::Less => 0.0,
            Ordering::Equal => 1.0,
            Ordering::Greater => below[(i, j)],
        });
        let mut factor = factors.as_mut().get_mut(..width, start..start + width);
        factor.copy_from(self_product(v.as_ref()));
        factor.diagonal_mut().column_vector_mut().iter_mut().zip(taus).for_each(|(own, tau)| *own = *tau);
    }
}

/// Swaps v and w: the factors of each v and w in v wᵀ + w vᵀ.
fn swapped(pairs: ColRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(pairs.nrows(), 1, |i, _| pairs[i ^ 1])
}

/// Applies the pending reflections to a column.
fn subtract(column: ColMut<'_, f64>, pairs: MatRef<'_, f64>, by: &Mat<f64>) {
    if pairs.ncols() > 0 {
        matmul(column.as_mat_mut(), Accum::Add, pairs, by.as_ref(), -1.0, Par::Seq);
    }
}

/// w of the reflection with v, for A after the pending reflections.
fn partner(a: MatRef<'_, f64>, v: &[f64], tau: f64, pairs: MatRef<'_, f64>) -> Vec<f64> {
    let mut w = times(a, v);
    let v = ColRef::from_slice(v);
    if pairs.ncols() > 0 {
        let by = product(pairs.transpose(), v.as_mat());
        subtract(ColMut::from_slice_mut(&mut w), pairs, &swapped(by.col(0)));
    }
    let half = v.transpose() * ColRef::from_slice(&w) / (2.0 * tau);
    w.iter_mut().zip(v.iter()).for_each(|(w, v)| *w = (*w - half * v) / tau);
    w
}

/// A·v from the lower half of A.
fn times(a: MatRef<'_, f64>, v: &[f64]) -> Vec<f64> {
    let n = a.nrows();
    // Equal shares of the triangle, in whole blocks of columns except for the last.
    let bound = |part: usize| {
        let share = 1.0 - (1.0 - part as f64 / PRODUCT_PARTS as f64).sqrt();
        (n as f64 * share) as usize / COLUMNS_AT_ONCE * COLUMNS_AT_ONCE
    };
    let part = |part: usize| {
        let columns = bound(part)..if part + 1 < PRODUCT_PARTS { bound(part + 1) } else { n };
        let mut out = vec![0.0; n - columns.start];
        pulp::Arch::new().dispatch(Times { a, v, columns, out: &mut out });
        out
    };
    let parts: Vec<Vec<f64>> = if n < PRODUCT_PARALLEL_MIN_ROWS {
        (0..PRODUCT_PARTS).map(part).collect()
    } else {
        (0..PRODUCT_PARTS).into_par_iter().map(part).collect()
    };
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_default();
    for part in parts {
        let start = n - part.len();
        sum[start..].iter_mut().zip(part).for_each(|(sum, v)| *sum += v);
    }
    sum
}

/// The contribution of some columns of the lower half, and of the rows that mirror them, to A·v; `out` starts at the first of
/// them. They are whole blocks of [`COLUMNS_AT_ONCE`], or end with A.
struct Times<'a> {
    a: MatRef<'a, f64>,
    v: &'a [f64],
    columns: Range<usize>,
    out: &'a mut [f64],
}

impl WithSimd for Times<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { a, v, columns, out } = self;
        let first = columns.start;
        for start in columns.clone().step_by(COLUMNS_AT_ONCE) {
            let end = columns.end.min(start + COLUMNS_AT_ONCE);
            for j in start..end {
                out[j - first] += a[(j, j)] * v[j];
                for i in j + 1..end {
                    out[i - first] += a[(i, j)] * v[j];
                    out[j - first] += a[(i, j)] * v[i];
                }
            }
            if end < a.nrows() {
                let below = |j: usize| &a.col(j).try_as_col_major().expect("columns").as_slice()[end..];
                let columns: [&[f64]; COLUMNS_AT_ONCE] = std::array::from_fn(|place| below(start + place));
                let by: [f64; COLUMNS_AT_ONCE] = std::array::from_fn(|place| v[start + place]);
                let sums = columns_times(simd, columns, by, &v[end..], &mut out[end - first..]);
                out[start - first..][..COLUMNS_AT_ONCE]
                    .iter_mut()
                    .zip(sums)
                    .for_each(|(out, sum)| *out += sum);
            }
        }
    }
}

/// out += Σ column·by; the columns' products with v.
#[inline(always)]
fn columns_times<S: Simd>(
    simd: S,
    columns: [&[f64]; COLUMNS_AT_ONCE],
    by: [f64; COLUMNS_AT_ONCE],
    v: &[f64],
    out: &mut [f64],
) -> [f64; COLUMNS_AT_ONCE] {
    let (v, v_rest) = S::as_simd_f64s(v);
    let (out, out_rest) = S::as_mut_simd_f64s(out);
    let parts = columns.map(|column| S::as_simd_f64s(column));
    let wholes = parts.map(|(whole, _)| &whole[..v.len()]);
    let all = by.map(|by| simd.splat_f64s(by));
    let mut sums = [simd.splat_f64s(0.0); COLUMNS_AT_ONCE];
    for (at, (v, out)) in v.iter().zip(out).enumerate() {
        let mut sum = *out;
        for place in 0..COLUMNS_AT_ONCE {
            let column = wholes[place][at];
            sum = simd.mul_add_f64s(column, all[place], sum);
            sums[place] = simd.mul_add_f64s(column, *v, sums[place]);
        }
        *out = sum;
    }
    let mut totals = sums.map(|sum| simd.reduce_sum_f64s(sum));
    for (i, (v, out)) in v_rest.iter().zip(out_rest).enumerate() {
        for (place, (_, rest)) in parts.iter().enumerate() {
            *out += rest[i] * by[place];
            totals[place] += rest[i] * v;
        }
    }
    totals
}

/// Applies reflections to the lower half of A, in strips of columns.
fn update(a: MatMut<'_, f64>, pairs: MatRef<'_, f64>) {
    let (n, count) = (a.nrows(), pairs.ncols());
    let others = Mat::from_fn(count, n, |j, i| pairs[(i, j ^ 1)]);
    let strip = |(at, strip): (usize, MatMut<'_, f64>)| {
        let (start, end) = (at * STRIP_COLUMNS, at * STRIP_COLUMNS + strip.ncols());
        let (_, strip) = strip.split_at_row_mut(start);
        let (top, below) = strip.split_at_row_mut(end - start);
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let others = others.get(.., start..end);
        triangular_matmul(
            top,
            lower,
            Accum::Add,
            pairs.get(start..end, ..),
            whole,
            others,
            whole,
            -1.0,
            Par::Seq,
        );
        if end < n {
            matmul(below, Accum::Add, pairs.get(end.., ..), others, -1.0, Par::Seq);
        }
    };
    a.par_col_chunks_mut(STRIP_COLUMNS).enumerate().for_each(strip);
}
