//! Candidates: a few rows whose residuals are exact between two passes over all rows.
//!
//! cost    |rows| kernel values and |rows|·(j + pending) flops a pivot, and no pass over the data

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, Par};

use super::pivoted::{Pivoted, next_coefficients};
use crate::data::rows::Rows;

/// A few rows whose residuals are kept exact while pivots wait for the next flush.
///
/// Eliminating one of them costs |rows| kernel values and no pass over the data.
pub(crate) struct Candidates {
    /// Indices into the training rows.
    pub(crate) rows: Vec<usize>,
    /// Exact squared residuals, in the order of `rows`; 0 once eliminated.
    pub(crate) residual: Vec<f64>,
    /// Positions in `rows` of the pivots chosen since the last flush.
    pub(crate) eliminated: Vec<usize>,
    taken: Vec<bool>,
    selected: Rows<'static>,
    /// Rows of G (|rows|×j).
    pub(super) g: Mat<f64>,
    /// The factor's next columns on these rows, one a pivot.
    columns: Vec<Vec<f64>>,
    /// A's next rows, one a pivot.
    pub(super) coefficients: Vec<Vec<f64>>,
}

impl Candidates {
    pub(crate) fn new(factor: &Pivoted, rows: Vec<usize>) -> Self {
        let selected = factor.gram.select(&rows);
        let g = factor.rows(&rows, &selected);
        Self {
            residual: factor.residuals(&rows, &g),
            eliminated: Vec::new(),
            taken: vec![false; rows.len()],
            g,
            selected,
            columns: Vec::new(),
            coefficients: Vec::new(),
            rows,
        }
    }

    /// The candidate with the largest residual, the lowest *row* among those tied.
    pub(crate) fn farthest(&self, tie: f64) -> Option<usize> {
        let largest = self.largest_open();
        let open = (0..self.rows.len()).filter(|&a| !self.taken[a]);
        open.filter(|&a| self.residual[a] >= largest - tie).min_by_key(|&a| self.rows[a])
    }

    /// The largest residual of a candidate that is no pivot yet.
    pub(crate) fn largest_open(&self) -> f64 {
        let open = self.residual.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        open.map(|(r, _)| *r).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The row that this candidate would add to A.
    fn next_coefficients(&self, factor: &Pivoted, position: usize) -> Vec<f64> {
        let flushed = factor.coefficients.iter().zip(self.g.row(position).iter().copied());
        let pending = self.coefficients.iter().zip(self.columns.iter().map(|c| c[position]));
        next_coefficients(flushed.chain(pending), self.residual[position].sqrt())
    }

    /// Whether something is left of the candidate, and its coefficients are small enough for the precision.
    pub(crate) fn is_sound(&self, factor: &Pivoted, position: usize) -> bool {
        if self.residual[position] <= factor.floor() {
            return false;
        }
        factor.is_small(&self.next_coefficients(factor, position))
    }

    /// Makes the candidate at this position a pivot; false if its coefficients are too large for float32.
    pub(crate) fn eliminate(&mut self, factor: &Pivoted, position: usize) -> bool {
        let norm = self.residual[position].sqrt();
        let next = self.next_coefficients(factor, position);
        if factor.is_f32() && !factor.is_small(&next) {
            return false;
        }
        self.coefficients.push(next);
        let mut column = vec![0.0; self.rows.len()];
        factor.gram.column(&self.selected, self.rows[position], &mut column);
        let j = self.g.ncols();
        if j > 0 {
            let n = column.len();
            matmul(
                MatMut::from_column_major_slice_mut(&mut column, n, 1),
                Accum::Add,
                self.g.as_ref(),
                self.g.row(position).transpose().as_mat(),
                -1.0,
                Par::Seq,
            );
        }
        for earlier in &self.columns {
            let at = earlier[position];
            column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= at * e);
        }
        for (c, r) in column.iter_mut().zip(&mut self.residual) {
            *c /= norm;
            *r = (*r - *c * *c).max(0.0);
        }
        column[position] = norm;
        self.residual[position] = 0.0;
        self.taken[position] = true;
        self.columns.push(column);
        self.eliminated.push(position);
        true
    }

    /// The last eliminated row's new column of G on these rows.
    pub(super) fn last_column(&self) -> &[f64] {
        self.columns.last().map_or(&[], |column| column)
    }

    /// The Cholesky factor of the eliminated rows' residual Gram matrix, row-major and lower triangular.
    pub(super) fn factor(&self) -> Vec<f64> {
        let b = self.eliminated.len();
        let mut l = vec![0.0; b * b];
        for (i, &position) in self.eliminated.iter().enumerate() {
            for j in 0..=i {
                l[i * b + j] = self.columns[j][position];
            }
        }
        l
    }
}
