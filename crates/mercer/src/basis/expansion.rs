//! z(x) = A·k(x, landmarks) − b: the arithmetic of every fitted map, applied to panels of rows.
//!
//! cost    l kernel values and 2·q·l flops a row, half of that where A is triangular; memory beyond the result: a panel of 256 rows a thread

use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::on_gpu::Applied;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::gram::{check_rows, diagonal};
use crate::kernel::own::caught;
use crate::kernel::{Kernel, Panel, Shape};
use crate::linalg::large::copied;
use crate::linalg::{product, tall_product, with_scratch};
use crate::monitor::Monitor;
use crate::real::Real;

/// The rows that a map compares new rows with.
#[derive(Clone, Debug, PartialEq)]
pub enum Landmarks {
    /// Rows in the input space.
    Rows(Rows<'static>),
    /// Columns of a precomputed kernel, by training row.
    Columns {
        /// Which training rows.
        indices: Vec<usize>,
        /// How many training rows there were, so how many columns new rows must have.
        n: usize,
    },
}

impl Landmarks {
    /// Number of landmarks.
    pub fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.n(),
            Self::Columns { indices, .. } => indices.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns that new rows must have.
    pub fn p(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.p(),
            Self::Columns { n, .. } => *n,
        }
    }
}

/// Kernel, landmarks, one matrix, one offset.
#[derive(Debug, PartialEq)]
pub struct Expansion {
    /// The kernel.
    pub kernel: Kernel,
    /// l landmarks.
    pub landmarks: Landmarks,
    /// A, q×l.
    pub matrix: Mat<f64>,
    /// b, q numbers.
    pub offset: Vec<f64>,
    /// The point that z = 0 stands for, as weights of the landmarks; None: the kernel space's own zero.
    pub origin: Option<Vec<f64>>,
}

impl Clone for Expansion {
    fn clone(&self) -> Self {
        Self {
            kernel: self.kernel,
            landmarks: self.landmarks.clone(),
            matrix: copied(self.matrix.as_ref()),
            offset: self.offset.clone(),
            origin: self.origin.clone(),
        }
    }
}

impl Expansion {
    /// Number of features q.
    pub fn n_features(&self) -> usize {
        self.matrix.nrows()
    }

    /// The map whose features are p columns as they are: the linear kernel with the unit vectors.
    pub(crate) fn of_columns(p: usize) -> Self {
        let unit = Mat::identity(p, p);
        Self {
            kernel: Kernel::linear(),
            landmarks: Landmarks::Rows(Rows::from_mat(unit.as_ref())),
            matrix: unit,
            offset: vec![0.0; p],
            origin: None,
        }
    }

    /// The landmarks as a panel.
    pub(crate) fn panel(&self) -> Panel {
        match &self.landmarks {
            Landmarks::Rows(rows) => Panel::new(self.kernel, rows),
            Landmarks::Columns { indices, n } => Panel::given(indices, *n),
        }
    }

    /// An error unless the rows have the right number of columns and numbers that the kernel can use.
    /// `first` is the place of the first of these rows among all, for the message.
    pub(crate) fn check(&self, rows: &Rows, names: Option<&[String]>, first: usize) -> Result<()> {
        if rows.p() != self.landmarks.p() {
            let hint = if self.kernel.shape == Shape::Precomputed {
                "\nhint: a precomputed kernel needs the values of each new row against all training rows"
            } else {
                ""
            };
            return Err(Error::data(format!(
                "X has {} features, but the map was fitted on {}{hint}",
                rows.p(),
                self.landmarks.p()
            )));
        }
        rows.check_finite(names)?;
        check_rows(self.kernel, rows, first)
    }

    /// An error unless the memory given is for the features of n rows.
    pub(crate) fn check_shape(&self, given: (usize, usize), n: usize) -> Result<()> {
        let q = self.n_features();
        if given == (n, q) {
            return Ok(());
        }
        let (rows, columns) = given;
        Err(Error::argument(format!(
            "memory for {rows} × {columns} features was given, but {n} × {q} are needed"
        )))
    }

    /// What applying it needs beside it.
    pub(crate) fn parts(&self) -> Arc<PreparedParts> {
        Arc::new(PreparedParts { panel: self.panel(), blocks: Blocks::of(self.matrix.as_ref()) })
    }

    /// This expansion, prepared to be applied to one panel of rows after the other.
    pub(crate) fn prepared(&self) -> PreparedExpansion<'_> {
        self.prepared_with(self.parts())
    }

    /// This expansion with parts that were prepared before.
    pub(crate) fn prepared_with(&self, parts: Arc<PreparedParts>) -> PreparedExpansion<'_> {
        PreparedExpansion { expansion: self, parts }
    }

    /// x ↦ M·z(x) − b: directions (q×m) in these coordinates; no offset means 0. The features of `origin`, a point in
    /// these coordinates, are 0; none: those of their own zero are.
    pub(crate) fn composed(&self, directions: MatRef<'_, f64>, offset: &[f64], origin: &[f64]) -> Self {
        let column = |values: &[f64]| Mat::from_fn(values.len(), 1, |i, _| values[i]);
        let own = product(directions, column(&self.offset).as_ref());
        let origin = match &self.origin {
            before if origin.is_empty() => before.clone(),
            before => {
                let moved = product(self.matrix.transpose(), column(origin).as_ref());
                let weight = |l: usize| moved[(l, 0)] + before.as_ref().map_or(0.0, |before| before[l]);
                Some((0..self.landmarks.len()).map(weight).collect())
            }
        };
        Self {
            kernel: self.kernel,
            landmarks: self.landmarks.clone(),
            matrix: tall_product(directions, self.matrix.as_ref()),
            offset: (0..directions.nrows())
                .map(|i| own[(i, 0)] + offset.get(i).copied().unwrap_or(0.0))
                .collect(),
            origin,
        }
    }

    /// z of every row, n×q.
    pub fn transform(&self, rows: &Rows) -> Result<Mat<f64>> {
        self.check(rows, None, 0)?;
        let mut out = Mat::zeros(rows.n(), self.n_features());
        if rows.gpu_rows().is_some() {
            Applied::new(self, rows)?.all(out.as_mut(), &Monitor::default())?;
            return Ok(out);
        }
        caught(|| self.prepared().all(rows, out.as_mut(), &Monitor::default()))?;
        Ok(out)
    }

    /// E(M), eq. 19 of TAKES: the mean distance of the rows' images from the span. For an orthonormal basis.
    pub fn reconstruction_cost(&self, rows: &Rows, monitor: &Monitor) -> Result<f64> {
        self.check(rows, None, 0)?;
        if self.origin.is_some() {
            return Err(Error::argument(
                "a centred basis spans differences from the mean, so the residual of a row is not defined\n\
                 hint: use center = false",
            ));
        }
        if rows.n() == 0 {
            return Err(Error::data("no rows were given, so there is no mean residual"));
        }
        let residuals = caught(|| self.residuals(rows, &self.diagonal(rows)?, monitor))?;
        Ok(residuals.iter().map(|r| r.sqrt()).sum::<f64>() / rows.n() as f64)
    }

    /// ‖A K_ll Aᵀ − I‖, Frobenius. For a precomputed kernel, `rows` must be the training matrix; else it is not used.
    ///
    /// ```
    /// use mercer::{Basis, Kernel, data::synth};
    ///
    /// let table = synth::generate("moons?n=50")?;
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).fit(&table.rows)?;
    /// assert!(basis.expansion.orthogonality_loss(None)? < 1e-8);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn orthogonality_loss(&self, rows: Option<&Rows>) -> Result<f64> {
        let k = match (&self.landmarks, rows) {
            (Landmarks::Rows(rows), _) => self.kernel.matrix(rows, rows)?,
            (Landmarks::Columns { indices, n }, Some(rows)) if !rows.is_sparse() && rows.n() == *n => {
                let chosen = rows.select(indices).to_dense();
                Mat::from_fn(indices.len(), indices.len(), |i, j| chosen[i * rows.p() + indices[j]])
            }
            _ => {
                return Err(Error::argument(
                    "the basis was fitted on a precomputed kernel: give the training matrix again",
                ));
            }
        };
        let mut gram = product(product(self.matrix.as_ref(), k.as_ref()).as_ref(), self.matrix.transpose());
        for i in 0..gram.nrows() {
            gram[(i, i)] -= 1.0;
        }
        Ok(gram.norm_l2())
    }

    /// Squared distance of each row's image from the span: k(x,x) − ‖z(x)‖². Needs A `K_ll` Aᵀ = I and no offset.
    pub(crate) fn residuals(&self, rows: &Rows, diagonal: &[f64], monitor: &Monitor) -> Result<Vec<f64>> {
        if rows.gpu_rows().is_some() {
            return Applied::new(self, rows)?.residuals(diagonal, monitor);
        }
        let q = self.n_features();
        let panel = self.panel();
        let l = self.landmarks.len();
        let blocks = Blocks::of(self.matrix.as_ref());
        let mut residuals = diagonal.to_vec();
        residuals.par_chunks_mut(PANEL).enumerate().try_for_each(|(at, residuals)| {
            monitor.check()?;
            let h = residuals.len();
            let mut k = vec![0.0; h * l];
            panel.fill(&rows.slice_f64(at * PANEL..at * PANEL + h), &mut k);
            let mut z = vec![0.0; h * q];
            let out = MatMut::from_row_major_slice_mut(&mut z, h, q);
            blocks.multiply(self.matrix.as_ref(), MatRef::from_row_major_slice(&k, h, l), out);
            for (r, z) in residuals.iter_mut().zip(z.chunks_exact(q.max(1))) {
                *r = (*r - z.iter().map(|v| v * v).sum::<f64>()).max(0.0);
            }
            Ok(())
        })?;
        Ok(residuals)
    }

    /// k(x,x) of rows; for a precomputed kernel they must be the training rows themselves.
    pub(crate) fn diagonal(&self, rows: &Rows) -> Result<Vec<f64>> {
        if self.kernel.shape == Shape::Precomputed && rows.n() != rows.p() {
            return Err(Error::data(
                "k(x,x) of new rows is not known to a precomputed kernel; give the square training matrix",
            ));
        }
        Ok(diagonal(self.kernel, rows))
    }
}

/// An expansion that is prepared to give features in the precision T.
pub(crate) trait FeaturePanels<T: Real>: Sync {
    /// Number of features q.
    fn n_features(&self) -> usize;

    /// z of the rows of a range, at most a panel of them, into `out`, by this thread alone.
    fn fill(&self, rows: &Rows, here: Range<usize>, out: MatMut<'_, T>);

    /// z of the rows of a range, by this thread alone.
    fn of(&self, rows: &Rows, range: Range<usize>) -> Mat<T> {
        let mut z = Mat::zeros(range.len(), self.n_features());
        for start in range.clone().step_by(PANEL) {
            let here = start..range.end.min(start + PANEL);
            self.fill(rows, here.clone(), z.as_mut().subrows_mut(start - range.start, here.len()));
        }
        z
    }

    /// z of every row into `out`, n×q, by all threads.
    fn all(&self, rows: &Rows, out: MatMut<'_, T>, monitor: &Monitor) -> Result<()> {
        each_panel("transforming rows", out, monitor, |here, out| {
            self.fill(rows, here, out);
            Ok(())
        })
    }
}

/// Fills panels of rows, shared out to all threads; `fill` is given the rows of a panel and where their features go.
pub(crate) fn each_panel<T: Real>(
    stage: &'static str,
    out: MatMut<'_, T>,
    monitor: &Monitor,
    fill: impl Fn(Range<usize>, MatMut<'_, T>) -> Result<()> + Sync,
) -> Result<()> {
    if out.nrows() == 0 || out.ncols() == 0 {
        return Ok(());
    }
    monitor.begin(stage, out.nrows());
    out.par_row_chunks_mut(PANEL).enumerate().try_for_each(|(at, out)| {
        monitor.check()?;
        let h = out.nrows();
        fill(at * PANEL..at * PANEL + h, out)?;
        monitor.advance(h);
        Ok(())
    })
}

impl FeaturePanels<f64> for PreparedExpansion<'_> {
    fn n_features(&self) -> usize {
        self.expansion.n_features()
    }

    fn fill(&self, rows: &Rows, here: Range<usize>, out: MatMut<'_, f64>) {
        self.apply(&rows.slice_f64(here), out);
    }
}

/// What applying an expansion needs beside it, computed once.
#[derive(Debug)]
pub(crate) struct PreparedParts {
    panel: Panel,
    blocks: Blocks,
}

/// An expansion that can be applied to one panel of rows after the other.
pub(crate) struct PreparedExpansion<'a> {
    expansion: &'a Expansion,
    parts: Arc<PreparedParts>,
}

impl PreparedExpansion<'_> {
    /// z of more rows than fit into the cache, by this thread alone.
    pub(crate) fn of_rows(&self, rows: &Rows) -> Mat<f64> {
        let mut z = Mat::zeros(rows.n(), self.expansion.n_features());
        for start in (0..rows.n()).step_by(PANEL) {
            let here = start..rows.n().min(start + PANEL);
            self.apply(&rows.slice(here.clone()), z.as_mut().subrows_mut(start, here.len()));
        }
        z
    }

    /// z of a few rows into `out`, by this thread alone.
    pub(crate) fn apply(&self, rows: &Rows, mut out: MatMut<'_, f64>) {
        let PreparedParts { panel, blocks } = &*self.parts;
        let (h, l) = (rows.n(), panel.n_landmarks());
        with_scratch(h * l, |k| {
            panel.fill(rows, k);
            let k = MatRef::from_row_major_slice(k, h, l);
            blocks.multiply(self.expansion.matrix.as_ref(), k, out.as_mut());
        });
        for (j, &b) in self.expansion.offset.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            out.as_mut().col_mut(j).iter_mut().for_each(|v| *v -= b);
        }
    }
}

/// The rows of A in blocks, with the columns that each block has: a triangular A costs half the flops of a full one.
#[derive(Debug)]
pub(super) struct Blocks(Vec<(usize, usize, usize)>);

impl Blocks {
    pub(super) fn of(matrix: MatRef<'_, f64>) -> Self {
        Self::in_blocks_of(matrix, 96)
    }

    /// Each block's first row, its rows and its columns.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, (usize, usize, usize)> {
        self.0.iter()
    }

    pub(super) fn in_blocks_of(matrix: MatRef<'_, f64>, most: usize) -> Self {
        let block = |start: usize| {
            let rows = most.min(matrix.nrows() - start);
            let own = matrix.subrows(start, rows);
            let last = (0..matrix.ncols()).rev().find(|&j| own.col(j).iter().any(|v| *v != 0.0));
            (start, rows, last.map_or(0, |j| j + 1))
        };
        Self((0..matrix.nrows()).step_by(most).map(block).collect())
    }

    /// out = k·Aᵀ.
    pub(super) fn multiply<T: Real>(&self, matrix: MatRef<'_, T>, k: MatRef<'_, T>, mut out: MatMut<'_, T>) {
        for &(start, rows, columns) in &self.0 {
            matmul(
                out.as_mut().subcols_mut(start, rows),
                Accum::Replace,
                k.subcols(0, columns),
                matrix.submatrix(start, 0, rows, columns).transpose(),
                T::ONE,
                Par::Seq,
            );
        }
    }
}
