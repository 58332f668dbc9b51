//! The columns of rows, one after the other, shared out to the threads of the current pool.
//!
//! Dense rows are transposed, and those in float32 widened, a few columns at a time; sparse rows are indexed by
//! column once. Every column is seen whole and by one thread, so what is computed from it does not depend on their number.
//!
//! cost    each number read once; memory: a few columns a thread, and for sparse rows a second copy of what they store

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::pairs::Inverted;
use crate::monitor::Monitor;
use crate::real::Real;

/// Numbers that a thread transposes at once, unless a single column has more.
const BUFFER: usize = 1 << 21;

/// One column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column<'a> {
    /// A number for every row.
    Dense(&'a [f64]),
    /// Rows, ascending, and their numbers; in the other rows the column is 0.
    Sparse(&'a [u32], &'a [f64]),
}

impl Column<'_> {
    /// The numbers that are stored.
    pub(super) fn values(&self) -> &[f64] {
        match self {
            Self::Dense(values) | Self::Sparse(_, values) => values,
        }
    }

    /// A number for every one of n rows.
    pub(super) fn whole(&self, n: usize) -> Cow<'_, [f64]> {
        match self {
            Self::Dense(values) => Cow::Borrowed(values),
            Self::Sparse(..) => {
                let mut out = vec![0.0; n];
                self.visit(|i, v| out[i] = v);
                Cow::Owned(out)
            }
        }
    }

    /// Calls `f` with row and value for every number that is stored.
    #[inline(always)]
    pub(super) fn visit(&self, mut f: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(values) => values.iter().enumerate().for_each(|(i, &v)| f(i, v)),
            Self::Sparse(rows, values) => rows.iter().zip(*values).for_each(|(&i, &v)| f(i as usize, v)),
        }
    }

    /// A power of two that keeps squares of the differences of `low..=high` from overflow and underflow; 1 for all but
    /// outlandish columns. Multiplying by it is exact.
    pub(super) fn unit(low: f64, high: f64) -> f64 {
        let largest = low.abs().max(high.abs());
        match (largest, high - low) {
            (largest, _) if largest > 1e140 => 2f64.powi(-600),
            (_, range) if range < 1e-140 => 2f64.powi(600),
            _ => 1.0,
        }
    }
}

/// The least and the largest of the values.
pub(super) fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// f(j, column j) for every column, in their order. `most`: columns that a thread takes at a time.
pub(super) fn each_column<T: Send>(
    rows: &Rows,
    most: usize,
    monitor: &Monitor,
    f: impl Fn(usize, Column) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (n, p) = (rows.n(), rows.p());
    let width = most.min(BUFFER / n.max(1)).max(1);
    let starts: Vec<usize> = (0..p).step_by(width).collect();
    let index = match rows {
        Rows::Sparse(csr) => Some(Inverted::new(csr, n, 1.0)),
        Rows::Dense(_) | Rows::DenseF32(_) => None,
    };
    let blocks: Result<Vec<Vec<T>>> = starts
        .par_iter()
        .map_init(Vec::new, |values, &start| {
            monitor.check()?;
            let block = start..p.min(start + width);
            let columns = block.len();
            let found: Result<Vec<T>> = match (rows, &index) {
                (Rows::Dense(dense), _) => {
                    transpose(dense.values(), p, block.clone(), values);
                    values.chunks_exact(n).zip(block).map(|(v, j)| f(j, Column::Dense(v))).collect()
                }
                (Rows::DenseF32(dense), _) => {
                    transpose(dense.values(), p, block.clone(), values);
                    values.chunks_exact(n).zip(block).map(|(v, j)| f(j, Column::Dense(v))).collect()
                }
                (_, Some(index)) => block
                    .map(|j| {
                        let range = index.range(j);
                        f(j, Column::Sparse(&index.landmark[range.clone()], &index.value[range]))
                    })
                    .collect(),
                (Rows::Sparse(_), None) => unreachable!("sparse rows were indexed"),
            };
            monitor.advance(columns);
            found
        })
        .collect();
    Ok(blocks?.into_iter().flatten().collect())
}

/// Some columns of row-major rows, one after the other, in float64.
fn transpose<T: Real>(rows: &[T], p: usize, columns: Range<usize>, values: &mut Vec<f64>) {
    let n = rows.len() / p;
    values.resize(n * columns.len(), 0.0);
    for (i, row) in rows.chunks_exact(p).enumerate() {
        row[columns.clone()].iter().enumerate().for_each(|(at, v)| values[at * n + i] = v.double());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_sparse_and_float32_rows_have_the_same_columns() {
        let values: Vec<f64> = (0..70 * 37).map(|i| if i % 3 == 0 { f64::from(i) } else { 0.0 }).collect();
        let dense = Rows::dense(values, 70, 37).expect("rows");
        let sparse = dense.to_sparse();
        let narrow = dense.to_dense().iter().map(|v| *v as f32).collect::<Vec<_>>();
        let narrow = Rows::dense_f32(narrow, 70, 37).expect("rows");
        let monitor = Monitor::default();
        let whole = |j: usize, column: Column| Ok((j, column.whole(70).into_owned()));
        let expected: Vec<_> =
            (0..37).map(|j| (j, (0..70).map(|i| dense.to_dense()[i * 37 + j]).collect())).collect();
        for most in [1, 5, 64] {
            assert_eq!(each_column(&narrow, most, &monitor, whole).expect("columns"), expected);
            assert_eq!(each_column(&dense, most, &monitor, whole).expect("columns"), expected);
            assert_eq!(each_column(&sparse, most, &monitor, whole).expect("columns"), expected);
        }
    }
}
