//! Candidates: a few rows whose residuals are exact between two passes over all rows.
//!
//! A's next rows are (e − ℓA)/r, ℓ a pivot's row of G and r its residual norm. The part of ℓA that belongs to pivots of earlier
//! passes is one matrix product for many rows: one vector at a time would read all of A for every pivot.
//!
//! cost    |rows| kernel values and |rows|·(j + pending) flops a pivot, and no pass over the data; |pivots|·j² flops a pass for A,
//!         |rows|·j² where rows are asked whether they are sound before they are taken

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::factor_rows::{FactorRows, Plan, Selected, Steps};
use super::pivoted::{PENDING, Pivoted, next_coefficients};
use crate::data::rows::Rows;
use crate::error::Result;

/// Up to so many rows, ℓA is computed for all of them as soon as one is asked whether it is sound.
const AT_ONCE: usize = 4 * PENDING;

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
    /// The rows themselves.
    pub(super) selected: Rows<'static>,
    /// k(x,x), in the order of `rows`.
    pub(super) diagonal: Vec<f64>,
    /// Rows of G (|rows|×j).
    pub(super) g: Mat<f64>,
    /// The factor's next columns on these rows, one a pivot.
    columns: Vec<Vec<f64>>,
    /// ℓA for the pivots of earlier passes (|rows|×j), once a row was asked whether it is sound.
    earlier_parts: Option<Mat<f64>>,
    /// A's next rows, as far as they are known: they are needed for `is_sound` and in the end.
    coefficients: Vec<Vec<f64>>,
    /// What was found of them at once, where that could be: the steps asked for, the residuals then, and the plan.
    plan: Option<(Steps, Vec<f64>, Plan)>,
}

impl Candidates {
    /// The rows with these indices.
    pub(crate) fn new<R: FactorRows>(factor: &mut Pivoted<R>, rows: Vec<usize>) -> Result<Self> {
        let selected = factor.rows.select(&rows)?;
        Ok(Self::of(factor, rows, selected))
    }

    /// Rows that were selected already.
    pub(crate) fn of<R: FactorRows>(factor: &Pivoted<R>, rows: Vec<usize>, selected: Selected) -> Self {
        let g = factor.factor_rows(&rows, &selected.rows);
        let left = |(row, own): (usize, &f64)| (own - g.row(row).squared_norm_l2()).max(0.0);
        let known = selected.residual;
        let residual = known.unwrap_or_else(|| selected.diagonal.iter().enumerate().map(left).collect());
        Self {
            residual,
            eliminated: Vec::new(),
            taken: vec![false; rows.len()],
            g,
            selected: selected.rows,
            diagonal: selected.diagonal,
            columns: Vec::new(),
            earlier_parts: None,
            coefficients: Vec::new(),
            plan: None,
            rows,
        }
    }

    /// Finds out at once which of them become pivots, where the rows' side can.
    pub(crate) fn plan<R: FactorRows>(&mut self, factor: &Pivoted<R>, steps: Steps) -> Result<()> {
        let Some(plan) = factor.rows.plan(&self.rows, &self.residual, &steps)? else { return Ok(()) };
        if let Some((_, parts)) = &plan.gram {
            self.earlier_parts = Some(parts.clone());
        }
        self.plan = Some((steps, self.residual.clone(), plan));
        Ok(())
    }

    /// Whether a candidate whose turn it is in a plan is sound. If not, the others are planned again without it.
    fn is_sound_as_planned<R: FactorRows>(
        &mut self,
        factor: &Pivoted<R>,
        position: usize,
    ) -> Result<Option<bool>> {
        let Some((Steps::Ordered { tries, most }, at_first, plan)) = &mut self.plan else { return Ok(None) };
        let Some(size) = plan.sizes.get(self.eliminated.len()) else {
            unreachable!("it is the turn of a candidate that was planned")
        };
        if factor.is_small_size(*size) {
            return Ok(Some(true));
        }
        tries
            .iter_mut()
            .filter(|(place, _)| *place == position)
            .for_each(|(_, least)| *least = f64::INFINITY);
        let steps = Steps::Ordered { tries: tries.clone(), most: *most };
        let at_first = at_first.clone();
        if let Some(plan) = factor.rows.plan(&self.rows, &at_first, &steps)? {
            self.plan = Some((steps, at_first, plan));
        }
        Ok(Some(false))
    }

    /// The candidate with the largest residual, the lowest *row* among those tied.
    fn farthest(&self, tie: f64) -> Option<usize> {
        let largest = self.largest_open();
        let open = (0..self.rows.len()).filter(|&a| !self.taken[a]);
        open.filter(|&a| self.residual[a] >= largest - tie).min_by_key(|&a| self.rows[a])
    }

    /// The largest residual of a candidate that is no pivot yet.
    fn largest_open(&self) -> f64 {
        let open = self.residual.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        open.map(|(r, _)| *r).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether something is left of the candidate, and its coefficients are small enough for the precision.
    pub(crate) fn is_sound<R: FactorRows>(&mut self, factor: &Pivoted<R>, position: usize) -> Result<bool> {
        if !self.has_left(position, factor.floor()) {
            return Ok(false);
        }
        if let Some(sound) = self.is_sound_as_planned(factor, position)? {
            return Ok(sound);
        }
        if self.rows.len() <= AT_ONCE && self.earlier_parts.is_none() {
            self.earlier_parts = Some(times(self.g.as_ref(), &factor.coefficients));
        }
        self.coefficients(factor);
        let known = self.earlier_parts.as_ref().map(|parts| parts.row(position).iter().copied().collect());
        let part = known.unwrap_or_else(|| factor.earlier_part(self.g.row(position).iter().copied()));
        Ok(factor.is_small(&self.next_coefficients(part, position, self.residual[position].sqrt())))
    }

    /// Whether the coefficients of all that were eliminated are small enough for the precision.
    pub(super) fn are_sound<R: FactorRows>(&mut self, factor: &Pivoted<R>) -> bool {
        self.coefficients(factor).iter().all(|next| factor.is_small(next))
    }

    /// The row that a candidate adds to A, from its part of earlier passes.
    fn next_coefficients(&self, part: Vec<f64>, position: usize, norm: f64) -> Vec<f64> {
        let pending = self.coefficients.iter().zip(self.columns.iter().map(|c| c[position]));
        next_coefficients(part, pending, norm)
    }

    /// A's next rows, one a pivot.
    pub(super) fn coefficients<R: FactorRows>(&mut self, factor: &Pivoted<R>) -> &[Vec<f64>] {
        let open = self.eliminated[self.coefficients.len()..].to_vec();
        if open.is_empty() {
            return &self.coefficients;
        }
        let rows_of = |all: MatRef<f64>| Mat::from_fn(open.len(), all.ncols(), |a, k| all[(open[a], k)]);
        let parts = match &self.earlier_parts {
            Some(parts) => rows_of(parts.as_ref()),
            None if open.len() == 1 => {
                let part = factor.earlier_part(self.g.row(open[0]).iter().copied());
                Mat::from_fn(1, part.len(), |_, k| part[k])
            }
            None => times(rows_of(self.g.as_ref()).as_ref(), &factor.coefficients),
        };
        for (part, position) in open.into_iter().enumerate() {
            let norm = self.columns[self.coefficients.len()][position];
            let part = parts.row(part).iter().copied().collect();
            // Later pivots' columns are not looked at: there are as many rows as come before this one.
            let next = self.next_coefficients(part, position, norm);
            self.coefficients.push(next);
        }
        &self.coefficients
    }

    /// Makes the candidate at this position a pivot; false if its coefficients are too large for float32.
    pub(crate) fn eliminate<R: FactorRows>(&mut self, factor: &Pivoted<R>, position: usize) -> Result<bool> {
        let norm = self.residual[position].sqrt();
        if factor.rows.is_f32() && !self.is_sound(factor, position)? {
            return Ok(false);
        }
        if self.is_next(position) == Some(true) {
            // What is left of the others is known to the plan.
            self.residual[position] = 0.0;
            self.taken[position] = true;
            self.eliminated.push(position);
            return Ok(true);
        }
        let mut column = self.residual_column(factor, position);
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
        Ok(true)
    }

    /// Whether it is this candidate's turn in a plan; None without one.
    fn is_next(&self, position: usize) -> Option<bool> {
        match &self.plan {
            Some((Steps::Any, ..)) | None => None,
            Some((_, _, plan)) => Some(plan.chosen.get(self.eliminated.len()) == Some(&position)),
        }
    }

    /// Whether more than this is left of a candidate.
    pub(crate) fn has_left(&self, position: usize, least: f64) -> bool {
        self.is_next(position).unwrap_or_else(|| self.residual[position] > least)
    }

    /// The candidate with the largest residual, the lowest *row* among those tied; what is left of it, and the most that is
    /// left of any.
    pub(crate) fn best(&self, tie: f64) -> Option<(usize, f64, f64)> {
        if let Some((Steps::Greedy { .. }, _, plan)) = &self.plan {
            // Where nothing is left of any, it is nobody's turn.
            let at = self.eliminated.len();
            let best = plan.chosen.get(at).copied().unwrap_or(0);
            return plan.squares.get(at).map(|&square| (best, square, plan.largest[at]));
        }
        let best = self.farthest(tie)?;
        Some((best, self.residual[best], self.largest_open()))
    }

    /// What the pivots of earlier passes leave of a candidate's kernel values.
    fn residual_column<R: FactorRows>(&self, factor: &Pivoted<R>, position: usize) -> Vec<f64> {
        if let Some((_, _, Plan { gram: Some((gram, _)), .. })) = &self.plan {
            return gram.col(position).iter().copied().collect();
        }
        let mut column = vec![0.0; self.rows.len()];
        factor.rows.column(&self.rows, &self.selected, position, &mut column);
        if self.g.ncols() > 0 {
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
        column
    }

    /// The last eliminated row's new column of G on these rows.
    pub(super) fn last_column(&self) -> &[f64] {
        self.columns.last().map_or(&[], |column| column)
    }

    /// The Cholesky factor of the eliminated rows' residual Gram matrix, row-major and lower triangular.
    pub(super) fn factor(&self) -> Vec<f64> {
        let b = self.eliminated.len();
        if let Some((_, _, plan)) = self.plan.as_ref().filter(|(_, _, plan)| plan.gram.is_none()) {
            // That of the first b of those that were planned.
            let planned = plan.chosen.len();
            return (0..b).flat_map(|i| plan.factor[i * planned..i * planned + b].iter().copied()).collect();
        }
        let mut l = vec![0.0; b * b];
        for (i, &position) in self.eliminated.iter().enumerate() {
            for j in 0..=i {
                l[i * b + j] = self.columns[j][position];
            }
        }
        l
    }
}

/// ℓA for many rows ℓ, in fixed groups of rows, so that the bits do not depend on the number of threads. A is triangular: a
/// block of its rows ends with the last of their numbers.
fn times(rows: MatRef<'_, f64>, a: &[Vec<f64>]) -> Mat<f64> {
    const GROUP: usize = 64;
    const BLOCK: usize = 256;
    let mut out = Mat::zeros(rows.nrows(), a.len());
    let mut numbers = Vec::new();
    for (at, block) in a.chunks(BLOCK).enumerate() {
        let (start, width) = (at * BLOCK, at * BLOCK + block.len());
        numbers.clear();
        for row in block {
            numbers.extend_from_slice(row);
            numbers.resize(numbers.len() + width - row.len(), 0.0);
        }
        let own = MatRef::from_row_major_slice(&numbers, block.len(), width);
        out.par_row_chunks_mut(GROUP).zip(rows.par_row_chunks(GROUP)).for_each(|(out, rows)| {
            let (out, rows) = (out.subcols_mut(0, width), rows.subcols(start, block.len()));
            matmul(out, Accum::Add, rows, own, 1.0, Par::Seq);
        });
    }
    out
}
