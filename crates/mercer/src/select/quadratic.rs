//! The least-squares part of LASSO on a subset of the rows: q = XᵀY/n, and the requested entries of G = XᵀX/n.
//!
//! Columns are centred on those rows. G is either precomputed or computed column by column from the rows.
//!
//! cost    precomputed: p·a·t flops per gradient with a active columns; from rows: n·(p + a)·t, and n·a flops per new column

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::error::Result;
use crate::linalg::{center_columns, product};
use crate::monitor::Monitor;

/// Columns of X in a block of products that one thread computes.
const BLOCK_COLUMNS: usize = 64;

/// ½·tr BᵀGB − tr Bᵀq.
pub(super) struct Quadratic<'a> {
    /// q, p×t.
    pub(super) toward: Mat<f64>,
    source: Source<'a>,
}

enum Source<'a> {
    /// G, p×p.
    Whole(Mat<f64>),
    Rows(OnRows<'a>),
}

struct OnRows<'a> {
    /// All rows, n×p, each column with mean 0 over them.
    x: MatRef<'a, f64>,
    /// The rows of the subset, ascending.
    rows: Vec<usize>,
    /// Factor of each column.
    scale: Option<Vec<f64>>,
    /// The target on the subset, centred there.
    y: Mat<f64>,
    /// The columns requested so far on the subset, centred and scaled, column-major.
    working: Vec<f64>,
}

impl<'a> Quadratic<'a> {
    /// From precomputed G and q.
    pub(super) fn whole(gram: Mat<f64>, toward: Mat<f64>) -> Self {
        Self { toward, source: Source::Whole(gram) }
    }

    /// From the rows with these indices, columns multiplied by `scale`.
    pub(super) fn of_rows(
        x: MatRef<'a, f64>,
        y: MatRef<'_, f64>,
        rows: Vec<usize>,
        scale: Option<Vec<f64>>,
        monitor: &Monitor,
    ) -> Result<Self> {
        let mut target = Mat::from_fn(rows.len(), y.ncols(), |i, s| y[(rows[i], s)]);
        center_columns(&mut target);
        let on_rows = OnRows { x, rows, scale, y: target, working: Vec::new() };
        let toward = on_rows.correlate(&on_rows.y, monitor)?;
        Ok(Self { toward, source: Source::Rows(on_rows) })
    }

    /// Entries of G between the columns `working` and the last `new` of them, which were not requested before: |working|×new.
    pub(super) fn gram(&mut self, working: &[usize], new: usize, monitor: &Monitor) -> Result<Mat<f64>> {
        let old = working.len() - new;
        match &mut self.source {
            Source::Whole(gram) => {
                Ok(Mat::from_fn(working.len(), new, |i, j| gram[(working[i], working[old + j])]))
            }
            Source::Rows(on_rows) => {
                on_rows.extend(&working[old..]);
                let all = on_rows.working();
                let mut products = products(all, all.get(.., old..), monitor)?;
                products /= faer::Scale(on_rows.rows.len() as f64);
                Ok(products)
            }
        }
    }

    /// q − G·B for all columns, p×t; B |working|×t, one vector per target.
    pub(super) fn gradient(&self, working: &[usize], b: &[Vec<f64>], monitor: &Monitor) -> Result<Mat<f64>> {
        match &self.source {
            Source::Whole(gram) => {
                let mut gradient = self.toward.clone();
                for (s, b) in b.iter().enumerate() {
                    for (&j, &b) in working.iter().zip(b).filter(|(_, b)| **b != 0.0) {
                        gradient.col_mut(s).iter_mut().zip(gram.col(j).iter()).for_each(|(r, g)| *r -= g * b);
                    }
                }
                Ok(gradient)
            }
            Source::Rows(on_rows) => {
                let b = Mat::from_fn(working.len(), b.len(), |j, s| b[s][j]);
                let left = &on_rows.y - product(on_rows.working(), b.as_ref());
                on_rows.correlate(&left, monitor)
            }
        }
    }
}

impl OnRows<'_> {
    fn scale(&self, j: usize) -> f64 {
        self.scale.as_ref().map_or(1.0, |scale| scale[j])
    }

    /// n×(columns requested so far).
    fn working(&self) -> MatRef<'_, f64> {
        let n = self.rows.len();
        MatRef::from_column_major_slice(&self.working, n, self.working.len() / n)
    }

    fn extend(&mut self, new: &[usize]) {
        let n = self.rows.len() as f64;
        for &j in new {
            let mean = self.rows.iter().map(|&i| self.x[(i, j)]).sum::<f64>() / n;
            let scale = self.scale(j);
            self.working.extend(self.rows.iter().map(|&i| scale * (self.x[(i, j)] - mean)));
        }
    }

    /// Xᵀ·left/n for all columns. `left` has mean 0 over the subset, so the columns need not be centred.
    fn correlate(&self, left: &Mat<f64>, monitor: &Monitor) -> Result<Mat<f64>> {
        let mut spread = Mat::zeros(self.x.nrows(), left.ncols());
        for (at, &i) in self.rows.iter().enumerate() {
            spread.row_mut(i).copy_from(left.row(at));
        }
        let mut products = products(self.x, spread.as_ref(), monitor)?;
        let n = self.rows.len() as f64;
        for (j, mut row) in products.row_iter_mut().enumerate() {
            row *= faer::Scale(self.scale(j) / n);
        }
        Ok(products)
    }
}

/// Xᵀ·Y in blocks of columns of X that the threads of the current pool share.
pub(super) fn products(x: MatRef<'_, f64>, y: MatRef<'_, f64>, monitor: &Monitor) -> Result<Mat<f64>> {
    let p = x.ncols();
    let starts: Vec<usize> = (0..p).step_by(BLOCK_COLUMNS).collect();
    let parts: Result<Vec<Mat<f64>>> = starts
        .par_iter()
        .map(|&start| {
            monitor.check()?;
            Ok(product(x.get(.., start..p.min(start + BLOCK_COLUMNS)).transpose(), y))
        })
        .collect();
    let mut out = Mat::zeros(p, y.ncols());
    for (start, part) in starts.into_iter().zip(parts?) {
        out.get_mut(start..start + part.nrows(), ..).copy_from(part);
    }
    Ok(out)
}
