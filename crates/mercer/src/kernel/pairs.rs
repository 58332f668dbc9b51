//! Statistics of pairs of rows, one pair at a time: what sparse rows are compared by, and what distances that cancelled are
//! computed from again.
//!
//! cost    the columns that both rows have, by an index of the landmarks; or both rows walked side by side

use std::ops::Range;

use super::kernel::{Kernel, Shape, Statistic};
use crate::data::rows::{Csr, F64Rows, Rows, index_or_end};
use crate::real::Real;

/// Up to so many columns are all indexed; of more only those that a landmark has, unless most have one.
const MOST_INDEXED: usize = 1 << 20;

/// For each input column the landmarks that have it, with their values.
#[derive(Debug)]
pub(crate) struct Inverted {
    /// The columns that are indexed, ascending; None: all.
    columns: Option<Vec<u32>>,
    /// Where the landmarks of every indexed column start.
    start: Vec<usize>,
    pub(crate) landmark: Vec<u32>,
    pub(crate) value: Vec<f64>,
}

/// How a sparse pair statistic is put together: total(x) + total(y) − Σ shared over the common columns.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) statistic: Statistic,
    /// Multiplied into values before they are squared; for L1 and χ² it is γ itself, as they grow linearly.
    pub(super) root_gamma: f64,
    /// What a column is of all.
    share: f64,
    p: f64,
}

impl Unit {
    pub(super) fn of(kernel: Kernel, p: usize) -> Self {
        let statistic = kernel.shape.statistic();
        let root_gamma = match statistic {
            Statistic::SquaredDistance => kernel.gamma.sqrt(),
            Statistic::Manhattan | Statistic::ChiSquared => kernel.gamma,
            _ => 1.0,
        };
        let p = p as f64;
        Self { statistic, root_gamma, share: 1.0 / p, p }
    }

    pub(super) fn total(self, values: &[f64]) -> f64 {
        match self.statistic {
            Statistic::Manhattan | Statistic::ChiSquared => {
                values.iter().map(|v| (v * self.root_gamma).abs()).sum()
            }
            // Columns in which it differs from a row of zeros.
            Statistic::Equal => values.iter().filter(|v| **v != 0.0).count() as f64,
            _ => values.iter().map(|v| (v * self.root_gamma).powi(2)).sum(),
        }
    }

    #[inline(always)]
    pub(super) fn shared(self, x: f64, y: f64) -> f64 {
        match self.statistic {
            Statistic::SquaredDistance => 2.0 * x * y,
            Statistic::Manhattan => x.abs() + y.abs() - (x - y).abs(),
            Statistic::ChiSquared => x + y - chi2_term(x, y),
            Statistic::Additive => additive_term(x, y),
            Statistic::Equal => {
                f64::from(u8::from(x != 0.0)) + f64::from(u8::from(y != 0.0)) - f64::from(u8::from(x != y))
            }
            _ => x * y,
        }
    }

    /// The statistic, from the number of columns in which two rows differ.
    pub(super) fn equal(self, different: f64) -> f64 {
        (self.p - different) * self.share
    }

    /// The statistic by walking both rows side by side.
    pub(super) fn direct(self, (a, x): (&[u32], &[f64]), (b, y): (&[u32], &[f64])) -> f64 {
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < a.len() || j < b.len() {
            let (left, right) = (index_or_end(a, i), index_or_end(b, j));
            let (u, v) = (if left <= right { x[i] } else { 0.0 }, if right <= left { y[j] } else { 0.0 });
            i += usize::from(left <= right);
            j += usize::from(right <= left);
            sum += self.term(u, v);
        }
        if self.statistic == Statistic::Equal { self.equal(sum) } else { sum }
    }

    /// What one column adds to the statistic.
    fn term(self, u: f64, v: f64) -> f64 {
        match self.statistic {
            Statistic::SquaredDistance => (self.root_gamma * (u - v)).powi(2),
            Statistic::Manhattan => self.root_gamma * (u - v).abs(),
            Statistic::ChiSquared => self.root_gamma * chi2_term(u, v),
            Statistic::Additive => additive_term(u, v),
            // Counted and subtracted at the end, as columns that neither row stores are equal.
            Statistic::Equal => f64::from(u8::from(u != v)),
            _ => u * v,
        }
    }
}

/// What the kernel is a function of, for two of the rows from their own numbers, so that equal pairs have equal ones.
pub(crate) fn pair_statistic(kernel: Kernel, rows: &Rows, i: usize, j: usize) -> f64 {
    if let Shape::Composite(composite) = kernel.shape {
        return composite.pair(kernel.gamma, rows, i, j);
    }
    if let Shape::Own(own) = kernel.shape {
        let mut value = [0.0];
        own.fill(&rows.select(&[i]).to_dense(), &rows.select(&[j]).to_dense(), rows.p(), &mut value);
        return value[0];
    }
    let unit = Unit::of(kernel, rows.p());
    match (rows.as_f64(), unit.statistic) {
        (F64Rows::Dense(d), Statistic::Given) => d.row(i)[j],
        (F64Rows::Dense(d), Statistic::Cosine) => {
            unit_row(d.row(i)).zip(unit_row(d.row(j))).map(|(x, y)| x * y).sum()
        }
        (F64Rows::Dense(d), Statistic::Equal) => {
            unit.equal(d.row(i).iter().zip(d.row(j)).map(|(x, y)| unit.term(*x, *y)).sum())
        }
        (F64Rows::Dense(d), _) => d.row(i).iter().zip(d.row(j)).map(|(x, y)| unit.term(*x, *y)).sum(),
        (F64Rows::Sparse(s), Statistic::Cosine) => {
            let [(a, x), (b, y)] = [i, j].map(|i| (s.row(i).0, unit_row(s.row(i).1).collect::<Vec<_>>()));
            unit.direct((a, &x), (b, &y))
        }
        (F64Rows::Sparse(s), _) => unit.direct(s.row(i), s.row(j)),
    }
}

impl Inverted {
    pub(crate) fn new(csr: &Csr, l: usize, factor: f64) -> Self {
        let stored: usize = (0..l).map(|i| csr.row(i).0.len()).sum();
        let columns = (csr.p() > MOST_INDEXED.max(stored)).then(|| {
            let mut columns: Vec<u32> = (0..l).flat_map(|i| csr.row(i).0).copied().collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        });
        let p = columns.as_ref().map_or(csr.p(), Vec::len);
        let mut index =
            Self { columns, start: vec![0; p + 1], landmark: vec![0; stored], value: vec![0.0; stored] };
        for &j in (0..l).flat_map(|i| csr.row(i).0) {
            if let Some(at) = index.place(j as usize) {
                index.start[at + 1] += 1;
            }
        }
        for at in 0..p {
            index.start[at + 1] += index.start[at];
        }
        let mut next = index.start.clone();
        for i in 0..l {
            let (columns, values) = csr.row(i);
            for (&j, &v) in columns.iter().zip(values) {
                let Some(at) = index.place(j as usize) else { continue };
                index.landmark[next[at]] = i as u32;
                index.value[next[at]] = v * factor;
                next[at] += 1;
            }
        }
        index
    }

    /// Where a column stands among those that are indexed.
    #[inline(always)]
    fn place(&self, column: usize) -> Option<usize> {
        match &self.columns {
            None => Some(column),
            Some(columns) => columns.binary_search(&(column as u32)).ok(),
        }
    }

    /// Where the landmarks that have a column stand, and their values.
    #[inline(always)]
    pub(crate) fn range(&self, column: usize) -> Range<usize> {
        self.place(column).map_or(0..0, |at| self.start[at]..self.start[at + 1])
    }
}

#[inline(always)]
pub(super) fn chi2_term(x: f64, y: f64) -> f64 {
    let (difference, sum) = (x - y, x + y);
    if sum > 0.0 { difference * (difference / sum) } else { 0.0 }
}

/// 2xy/(x+y).
#[inline(always)]
pub(super) fn additive_term(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if sum > 0.0 { 2.0 * x * (y / sum) } else { 0.0 }
}

/// Also true for NaN and infinity, which products of overflowing rows give.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "a branch would keep the loop from being vectorised")]
pub(super) fn is_cancelled<T: Real>(s: T, terms: T) -> bool {
    let right = (s >= T::CANCELLED * terms) & (s < T::INFINITY);
    !right
}

/// A row divided by its length; a zero row stays zero.
pub(crate) fn unit_row<T: Real>(row: &[T]) -> impl Iterator<Item = T> {
    let (unit, norm) = unit_and_norm(row);
    let norm = if norm > 0.0 { norm } else { 1.0 };
    row.iter().map(move |v| T::of(v.double() / unit / norm))
}

/// ‖x‖.
pub(crate) fn length(row: &[f64]) -> f64 {
    let (unit, norm) = unit_and_norm(row);
    unit * norm
}

/// The largest magnitude, 1 for a zero row, and the length in that unit: no square overflows.
fn unit_and_norm<T: Real>(row: &[T]) -> (f64, f64) {
    let largest = row.iter().fold(0.0f64, |m, v| m.max(v.double().abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    (unit, row.iter().map(|v| (v.double() / unit).powi(2)).sum::<f64>().sqrt())
}

/// Sparse rows, each divided by its length; rows of zeros stay.
pub(super) fn unit_length_sparse(csr: &Csr, n: usize) -> Rows<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        let (columns, row) = csr.row(i);
        indices.extend_from_slice(columns);
        values.extend(unit_row(row));
        indptr.push(indices.len());
    }
    Rows::sparse(indptr, indices, values, csr.p()).unwrap_or_else(|e| unreachable!("{e}"))
}
