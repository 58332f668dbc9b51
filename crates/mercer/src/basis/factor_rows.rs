//! The rows' side of a growing factor: what is left of each row, and the columns of G where they are kept.
//!
//! [`LocalRows`] are the rows of this process: all rows of an ordinary fit, or one partition of many
//! ([`partitions`](crate::partitions)). The methods' loops see them through [`FactorRows`] alone, so that a fit on one machine
//! and a fit on many run the same code.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::columns::{Columns, New, next, panel_products, subtract, take};
use super::pivoted::{FactorStorage, NOT_PSD, PENDING, RANK, first_of_largest, not_psd, triangular};
use super::sparse::Novelty;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, weight};
use crate::error::{Error, Result};
use crate::kernel::block::{PANEL, Panel};
use crate::kernel::{Gram, Precision};
use crate::linalg::{product, with_scratch};
use crate::monitor::Monitor;
use crate::random;

/// What the loops of the pivoted methods ask of the rows.
pub(crate) trait FactorRows {
    /// Number of rows.
    fn n(&self) -> usize;

    /// max |k(x,x)|.
    fn largest(&self) -> f64;

    /// Σ k(x,x).
    fn trace(&self) -> f64;

    /// Relative rounding error of kernel values.
    fn rounding(&self) -> f64;

    /// Relative rounding error of panels of kernel values.
    fn panel_rounding(&self) -> f64;

    /// Whether G is kept in float32.
    fn is_f32(&self) -> bool;

    /// Pivots of `kobl` that wait for one pass over the rows: more where a pass costs more than its arithmetic.
    fn pending(&self) -> usize {
        PENDING
    }

    /// The same of methods whose pivots depend on it.
    fn pending_in_order(&self) -> usize {
        PENDING
    }

    /// Rows by their indices.
    fn select(&mut self, rows: &[usize]) -> Result<Selected>;

    /// The first j numbers of rows of G in float64, where these are kept.
    fn kept_factor_rows(&self, rows: &[usize], j: usize) -> Option<Mat<f64>>;

    /// Kernel values of selected rows against the pivots so far, row-major.
    fn against_pivots(&self, pivots: &[usize], selected: &Rows, out: &mut [f64]);

    /// Kernel values of selected rows, whose indices these are, against the one at a position.
    fn column(&self, rows: &[usize], selected: &Rows, position: usize, out: &mut [f64]);

    /// About `count` rows with the largest residuals, the first of those tied with the largest among them.
    fn farthest(&mut self, count: usize, tie: f64, floor: f64) -> Result<Farthest>;

    /// A row for each number in [0, 1), in proportion to residuals above the floor; empty if there are none.
    fn draw(&mut self, uniform: &[f64], floor: f64, retired: &BTreeSet<usize>) -> Result<Vec<usize>>;

    /// The next rows of a random order, from a rank on, of which enough is left.
    fn in_order(
        &mut self,
        seed: u64,
        start: usize,
        count: usize,
        novelty: Novelty,
        floor: f64,
    ) -> Result<InOrder>;

    /// Takes new pivots out of what is left of the rows.
    fn advance(&mut self, new: &NewPivots, pivots: &[usize], coefficients: &[Vec<f64>]) -> Result<()>;

    /// Whether A grows on the rows' side.
    fn keeps_coefficients(&self) -> bool {
        false
    }

    /// A, m×m, where it has grown on the rows' side.
    fn coefficients(&self) -> Result<Option<Mat<f64>>> {
        Ok(None)
    }

    /// Which of these rows, with these residuals, become pivots, where that can be found at once; else None.
    fn plan(&self, _: &[usize], _: &[f64], _: &Steps) -> Result<Option<Plan>> {
        Ok(None)
    }

    /// RᵀR for the residual columns R of selected rows, whose rows of G these are.
    fn products(
        &mut self,
        rows: &[usize],
        selected: &Rows,
        g: MatRef<'_, f64>,
        pivots: &[usize],
        coefficients: &[Vec<f64>],
    ) -> Result<Mat<f64>>;

    /// Sum of the squared residuals.
    fn residual_sum(&mut self) -> Result<f64>;

    /// Squared residuals, where they are in this process, and the kernel values computed so far.
    fn residuals(&self) -> (&[f64], u64);

    /// All n² kernel values.
    fn whole(&self, monitor: &Monitor) -> Result<Vec<f64>>;

    /// Where residuals are rounded to float32 those of the candidates are known better: a row that nothing is left of must
    /// not look as if it were.
    fn correct(&mut self, rows: &[usize], residual: &[f64]);
}

/// In which order candidates become pivots.
#[derive(Clone, Debug)]
pub(crate) enum Steps {
    /// Always the one of which most is left, the lowest row of those within `tie`; so many.
    Greedy { tie: f64, most: usize },
    /// Those at these places, one after the other, if more than so much is left of them; so many.
    Ordered { tries: Vec<(usize, f64)>, most: usize },
    /// In any: what each of them will leave of the others is wanted.
    Any,
}

impl Steps {
    /// The most pivots.
    pub(crate) fn most(&self) -> usize {
        match self {
            Self::Greedy { most, .. } | Self::Ordered { most, .. } => *most,
            Self::Any => 0,
        }
    }
}

/// What was found of candidates at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The places of those that become pivots, in their order.
    pub(crate) chosen: Vec<usize>,
    /// What was left of each before, and the most that was left of any, where the order was greedy.
    pub(crate) squares: Vec<f64>,
    pub(crate) largest: Vec<f64>,
    /// The Cholesky factor of their residual Gram matrix, row-major and lower triangular.
    pub(crate) factor: Vec<f64>,
    /// ‖a‖₁ of the rows that they add to A, where the order is given.
    pub(crate) sizes: Vec<f64>,
    /// Where it is not: the candidates' residual Gram matrix, and ℓA of each.
    pub(crate) gram: Option<(Mat<f64>, Mat<f64>)>,
}

/// Rows by their indices.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    /// The rows themselves.
    pub(crate) rows: Rows<'static>,
    /// k(x,x).
    pub(crate) diagonal: Vec<f64>,
    /// Squared residuals; None: what the rows of G leave.
    pub(crate) residual: Option<Vec<f64>>,
}

/// Rows with the largest residuals.
#[derive(Clone, Debug)]
pub(crate) struct Farthest {
    pub(crate) rows: Vec<usize>,
    pub(crate) selected: Selected,
    /// The largest residual of a row that is not among them.
    pub(crate) beaten: f64,
}

/// Rows of a random order.
#[derive(Clone, Debug, Default)]
pub(crate) struct InOrder {
    pub(crate) rows: Vec<usize>,
    /// Their places in the order.
    pub(crate) ranks: Vec<usize>,
    /// Where to go on.
    pub(crate) end: usize,
}

impl InOrder {
    /// The next rows of an order, from a rank on, that are new.
    pub(crate) fn among(order: &[usize], start: usize, count: usize, is_new: impl Fn(usize) -> bool) -> Self {
        let mut found = Self { end: start, ..Self::default() };
        while found.end < order.len() && found.rows.len() < count {
            let i = order[found.end];
            if is_new(i) {
                found.rows.push(i);
                found.ranks.push(found.end);
            }
            found.end += 1;
        }
        found
    }
}

/// b pivots that a pass adds after j earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct NewPivots {
    /// Their indices.
    pub(crate) places: Vec<usize>,
    /// The rows themselves.
    pub(crate) rows: Rows<'static>,
    /// Rows of G at them, b×j.
    pub(crate) earlier: Mat<f64>,
    /// The Cholesky factor of their residual Gram matrix, b×b, row-major and lower triangular.
    pub(crate) factor: Vec<f64>,
}

/// What rounding to float32 did.
pub(crate) struct RoundingReport {
    /// The largest error of a coordinate or a squared residual, relative to √max k(x,x) or max k(x,x).
    pub(crate) error: f64,
    /// More is left than float64 would leave.
    pub(crate) ends_early: bool,
}

/// G, or nothing of it.
pub(crate) enum Factor {
    F64(Columns<f64>),
    F32(Columns<f32>),
    /// The columns that each pass added, n×b and row-major. A copy shares them.
    Shared(Vec<Arc<Vec<f64>>>),
    Recomputed,
}

/// Rows in this process.
pub(crate) struct LocalRows<'a> {
    pub(super) gram: &'a Gram<'a>,
    monitor: &'a Monitor,
    /// The index of the first of them: rows are counted from there.
    first: usize,
    cap: usize,
    pub(crate) g: Factor,
    pub(crate) diagonal: Vec<f64>,
    /// Squared residual of each row; 0 for pivots.
    pub(crate) residual: Vec<f64>,
    pub(crate) is_pivot: Vec<bool>,
    largest: f64,
    /// Whether each row is a copy of an earlier one, once it was asked.
    copies: OnceLock<Arc<Vec<bool>>>,
    /// The random order of a seed, once it was asked.
    order: OnceLock<Vec<usize>>,
    /// What each row counts; None: all the same.
    pub(super) weights: Option<Weights>,
}

impl<'a> LocalRows<'a> {
    /// No pivots yet.
    pub(super) fn new(
        gram: &'a Gram<'a>,
        cap: usize,
        storage: FactorStorage,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        let n = gram.n();
        // Where the rule and not the cap is expected to stop it, memory grows with the basis.
        let width = if n <= super::UNCAPPED_ROWS { cap.min(PENDING) } else { cap };
        let last = storage == FactorStorage::Returned;
        let g = match (storage, gram.precision()) {
            (FactorStorage::Recomputed, _) => Factor::Recomputed,
            (_, Precision::Double) => Factor::F64(Columns::new(n, width, last)?),
            (_, Precision::Single) => Factor::F32(Columns::new(n, width, last)?),
        };
        Self { cap, ..Self::begin(gram, 0, g, monitor) }.checked()
    }

    /// The rows of a partition whose first has this index, with no pivots yet.
    pub(crate) fn begin(gram: &'a Gram<'a>, first: usize, g: Factor, monitor: &'a Monitor) -> Self {
        let diagonal = gram.diagonal();
        let largest = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        Self {
            gram,
            monitor,
            first,
            cap: 0,
            g,
            residual: diagonal.iter().map(|v| v.max(0.0)).collect(),
            is_pivot: vec![false; diagonal.len()],
            diagonal,
            largest,
            copies: OnceLock::new(),
            order: OnceLock::new(),
            weights: None,
        }
    }

    /// These rows, unless the kernel is not positive semi-definite on their diagonal.
    pub(crate) fn checked(self) -> Result<Self> {
        let limit = -not_psd_limit(self.gram) * self.largest;
        match self.diagonal.iter().position(|v| *v < limit) {
            Some(i) => Err(not_psd(self.gram.kernel(), self.first + i, self.diagonal[i])),
            None => Ok(self),
        }
    }

    /// What is to be kept between two passes over a partition.
    pub(crate) fn into_state(self) -> FactorState {
        let Self { g, diagonal, residual, is_pivot, copies, .. } = self;
        let columns = if let Factor::Shared(columns) = g { Some(columns) } else { None };
        FactorState { columns, diagonal, residual, is_pivot, copies: copies.into_inner() }
    }

    /// A partition as it was kept.
    pub(crate) fn from_state(
        gram: &'a Gram<'a>,
        first: usize,
        largest: f64,
        state: FactorState,
        monitor: &'a Monitor,
    ) -> Self {
        let FactorState { columns, diagonal, residual, is_pivot, copies } = state;
        Self {
            gram,
            monitor,
            first,
            cap: 0,
            g: columns.map_or(Factor::Recomputed, Factor::Shared),
            diagonal,
            residual,
            is_pivot,
            largest,
            copies: copies.map_or_else(OnceLock::new, OnceLock::from),
            order: OnceLock::new(),
            weights: None,
        }
    }

    /// Rows by their indices.
    pub(super) fn selected(&self, rows: &[usize]) -> Selected {
        let own: Vec<usize> = rows.iter().map(|i| i - self.first).collect();
        let exact = !self.is_f32();
        Selected {
            rows: self.gram.select(&own),
            diagonal: own.iter().map(|&i| self.diagonal[i]).collect(),
            residual: exact.then(|| own.iter().map(|&i| self.residual[i]).collect()),
        }
    }

    /// Whether each row is a copy of an earlier one. The first of equal rows wins the tie with the others, of which nothing is
    /// left then.
    fn copies(&self) -> &[bool] {
        self.copies.get_or_init(|| Arc::new(self.gram.copies()))
    }

    /// The `count` rows with the largest residuals, the farthest row of the tie rule among them. Copies of other rows, and rows
    /// of which only rounding is left, would take the place of rows that can become pivots.
    fn largest_rows(&self, count: usize, tie: f64, floor: f64) -> Vec<usize> {
        let copies = self.copies();
        let is_open = |&i: &usize| !self.is_pivot[i] && !copies[i] && self.residual[i] > floor;
        let mut rows: Vec<usize> = (0..self.n()).filter(is_open).collect();
        let by_residual =
            |a: &usize, b: &usize| self.residual[*b].total_cmp(&self.residual[*a]).then_with(|| a.cmp(b));
        if count < rows.len() {
            rows.select_nth_unstable_by(count, by_residual);
            rows.truncate(count);
        }
        if let Some(farthest) = first_of_largest(&self.residual, &self.is_pivot, tie)
            && !rows.contains(&farthest)
        {
            rows.push(farthest);
        }
        rows
    }

    /// The largest residual of all rows but these and copies.
    fn largest_outside(&self, rows: &[usize]) -> f64 {
        let mut out: Vec<bool> =
            self.is_pivot.iter().zip(self.copies()).map(|(pivot, copy)| *pivot || *copy).collect();
        rows.iter().for_each(|&i| out[i] = true);
        (0..self.n()).filter(|&i| !out[i]).map(|i| self.residual[i]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The first row that is no pivot with a residual of at least this.
    pub(crate) fn first_above(&self, least: f64) -> Option<usize> {
        (0..self.n()).find(|&i| !self.is_pivot[i] && self.residual[i] >= least).map(|i| self.first + i)
    }

    /// Running sums of the residuals above the floor.
    fn cumulated(&self, floor: f64, retired: &BTreeSet<usize>) -> Vec<f64> {
        let mut sum = 0.0;
        let add = |(i, &r): (usize, &f64)| {
            let is_open = r > floor && !retired.contains(&(self.first + i));
            sum += if is_open { weight(self.weights.as_ref(), i) * r } else { 0.0 };
            sum
        };
        self.residual.iter().enumerate().map(add).collect()
    }

    /// Their sum.
    pub(crate) fn open_sum(&self, floor: f64, retired: &BTreeSet<usize>) -> f64 {
        self.cumulated(floor, retired).last().copied().unwrap_or(0.0)
    }

    /// The rows at which the running sum of the residuals above the floor passes these numbers.
    pub(crate) fn rows_at(&self, targets: &[f64], floor: f64, retired: &BTreeSet<usize>) -> Vec<usize> {
        let cumulated = self.cumulated(floor, retired);
        // A target may be beyond the last sum by rounding, where sums of other partitions come before it.
        let last = cumulated.partition_point(|c| Some(c) < cumulated.last().as_ref().copied());
        let row = |target: &f64| self.first + cumulated.partition_point(|c| c <= target).min(last);
        targets.iter().map(row).collect()
    }

    /// Adds the columns of new pivots, given as a panel, and takes them out of the residuals. `before`: the earlier pivots, and
    /// what takes their part out, where G is not kept.
    fn add(&mut self, new: &NewPivots, before: Option<(&Panel, MatRef<'_, f64>)>) -> Result<()> {
        let Self { gram, monitor, .. } = *self;
        let (b, n) = (new.places.len(), self.n());
        let here: Vec<(usize, usize)> = new
            .places
            .iter()
            .enumerate()
            .filter_map(|(c, place)| place.checked_sub(self.first).filter(|i| *i < n).map(|i| (c, i)))
            .collect();
        let own: Vec<usize> = here.iter().map(|(_, i)| *i).collect();
        let block = New { pivots: &here, earlier: new.earlier.as_ref(), factor: &new.factor };
        let residual = &mut self.residual;
        match &mut self.g {
            Factor::F64(columns) => {
                let panel = gram.panel(&own);
                columns.add(&block, residual, |rows, out| gram.fill(&panel, rows, out), monitor)?;
            }
            Factor::F32(columns) => {
                let panel = gram.f32_panel(&own);
                columns.add(&block, residual, |rows, out| gram.fill_f32(&panel, rows, out), monitor)?;
            }
            Factor::Shared(earlier) => {
                let panel = Panel::new(gram.kernel(), &new.rows);
                let mut added = vec![0.0; n * b];
                let l = MatRef::from_row_major_slice(&new.factor, b, b);
                let panels = added.par_chunks_mut(PANEL * b).zip(residual.par_chunks_mut(PANEL));
                panels.enumerate().try_for_each(|(at, (t, residual))| {
                    monitor.check()?;
                    let rows = at * PANEL..at * PANEL + residual.len();
                    gram.fill(&panel, rows.clone(), t);
                    subtract_shared(t, earlier, new.earlier.as_ref(), n, rows.clone());
                    next(t, Mat::zeros(rows.len(), 0).as_ref(), Mat::zeros(0, b).as_ref(), l);
                    t.chunks_exact(b).zip(residual).for_each(|(t, residual)| take(residual, t));
                    Ok::<_, Error>(())
                })?;
                for &(c, i) in &here {
                    added[i * b..(i + 1) * b].copy_from_slice(&new.factor[c * b..(c + 1) * b]);
                }
                earlier.push(Arc::new(added));
            }
            Factor::Recomputed => {
                // A pivot of a precomputed kernel is a column of the matrix, of any other a row.
                let panel =
                    if own.len() == b { gram.panel(&own) } else { Panel::new(gram.kernel(), &new.rows) };
                let l = MatRef::from_row_major_slice(&new.factor, b, b);
                let nothing = Mat::zeros(0, b);
                let part = before.map_or(nothing.as_ref(), |(_, part)| part);
                let j = part.nrows();
                residual.par_chunks_mut(PANEL).enumerate().try_for_each(|(at, residual)| {
                    monitor.check()?;
                    let rows = at * PANEL..at * PANEL + residual.len();
                    with_scratch(rows.len() * (j + b), |scratch| {
                        let (k, t) = scratch.split_at_mut(rows.len() * j);
                        if let Some((before, _)) = before.filter(|_| j > 0) {
                            gram.fill(before, rows.clone(), k);
                        }
                        gram.fill(&panel, rows.clone(), t);
                        next(t, MatRef::from_row_major_slice(k, rows.len(), j), part, l);
                        t.chunks_exact(b).zip(residual).for_each(|(t, residual)| take(residual, t));
                    });
                    Ok::<_, Error>(())
                })?;
            }
        }
        for i in own {
            self.residual[i] = 0.0;
            self.is_pivot[i] = true;
        }
        self.clip_residuals()
    }

    /// [`add`](Self::add) of pivots that may lie in other partitions; `before` are the rows of the earlier ones.
    pub(crate) fn add_rows(&mut self, new: &NewPivots, before: &Rows, part: MatRef<'_, f64>) -> Result<()> {
        match self.g {
            Factor::Recomputed if before.n() > 0 => {
                let before = Panel::new(self.gram.kernel(), before);
                self.add(new, Some((&before, part)))
            }
            _ => self.add(new, None),
        }
    }

    /// RᵀR for the residual columns of rows that may lie in other partitions; `before` are the rows of the pivots.
    pub(crate) fn products_of(
        &self,
        selected: &Rows,
        g: MatRef<'_, f64>,
        before: &Rows,
        part: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let panel = Panel::new(self.gram.kernel(), selected);
        let before = (before.n() > 0).then(|| Panel::new(self.gram.kernel(), before));
        self.products_with(&panel, g, before.as_ref(), part)
    }

    fn products_with(
        &self,
        panel: &Panel,
        g: MatRef<'_, f64>,
        before: Option<&Panel>,
        part: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let Self { gram, monitor, .. } = *self;
        let n = self.n();
        panel_products(n, g.nrows(), self.weights.as_ref(), monitor, |rows, t| {
            gram.fill(panel, rows.clone(), t);
            match (&self.g, before) {
                (Factor::Shared(earlier), _) => subtract_shared(t, earlier, g, n, rows),
                (_, Some(before)) => {
                    let mut k = vec![0.0; rows.len() * part.nrows()];
                    gram.fill(before, rows.clone(), &mut k);
                    subtract(t, MatRef::from_row_major_slice(&k, rows.len(), part.nrows()), part);
                }
                (_, None) => {}
            }
        })
    }

    /// Rounding below 0 becomes 0; more than rounding is an error.
    fn clip_residuals(&mut self) -> Result<()> {
        let limit = -not_psd_limit(self.gram) * self.largest;
        if let Some(i) = self.residual.iter().position(|r| *r < limit || r.is_nan()) {
            return Err(not_psd(self.gram.kernel(), self.first + i, self.residual[i]));
        }
        self.residual.iter_mut().for_each(|r| *r = r.max(0.0));
        Ok(())
    }

    /// Makes room for b more columns after j.
    fn grow(&mut self, j: usize, b: usize) -> Result<()> {
        let (n, needed, cap) = (self.n(), j + b, self.cap);
        match &mut self.g {
            Factor::F64(columns) => columns.grow(n, needed, cap),
            Factor::F32(columns) => columns.grow(n, needed, cap),
            Factor::Shared(_) | Factor::Recomputed => Ok(()),
        }
    }

    /// (K − G Gᵀ)[:, i], at n kernel values, from the row of G at i. G must be kept.
    pub(super) fn residual_column(&self, i: usize, own: &[f64]) -> Vec<f64> {
        let Factor::F64(Columns { g, width, .. }) = &self.g else {
            unreachable!("`csi` keeps its factor in float64")
        };
        let panel = self.gram.panel(&[i]);
        let mut column = vec![0.0; self.n()];
        column.par_chunks_mut(PANEL).zip(g.par_chunks(PANEL * width)).enumerate().for_each(
            |(at, (column, g))| {
                self.gram.fill(&panel, at * PANEL..at * PANEL + column.len(), column);
                for (c, row) in column.iter_mut().zip(g.chunks_exact(*width)) {
                    *c -= row.iter().zip(own).map(|(a, b)| a * b).sum::<f64>();
                }
            },
        );
        column
    }

    /// Adds the j-th pivot by its column of G.
    pub(super) fn push(&mut self, pivot: usize, j: usize, column: &[f64]) -> Result<()> {
        self.grow(j, 1)?;
        let Factor::F64(Columns { g, width, .. }) = &mut self.g else {
            unreachable!("`csi` keeps its factor in float64")
        };
        for (i, c) in column.iter().enumerate() {
            g[i * *width + j] = *c;
            self.residual[i] -= c * c;
        }
        self.residual[pivot] = 0.0;
        self.is_pivot[pivot] = true;
        self.clip_residuals()
    }

    /// What float32 did to some rows, whose rows of G these are in float64.
    pub(super) fn rounding_report(&self, rows: &[usize], right: &Mat<f64>, largest: f64) -> RoundingReport {
        let (mut error, mut most) = (0.0f64, 0.0f64);
        if let Factor::F32(columns) = &self.g {
            for (a, &i) in rows.iter().enumerate() {
                let left = (self.diagonal[i] - right.row(a).squared_norm_l2()).max(0.0);
                let pairs = columns.row(i, right.ncols()).iter().zip(right.row(a).iter());
                let coordinate = pairs.map(|(g, z)| (f64::from(*g) - z).abs()).fold(0.0, f64::max);
                let residual = (self.residual[i] - left).abs();
                error = error.max(coordinate / largest.sqrt()).max(residual / largest);
                most = most.max(left);
            }
        }
        RoundingReport { error, ends_early: most > RANK * largest }
    }

    /// Z, n×m, in the precision that it was kept in; None where it was not kept.
    pub(super) fn into_features(self, m: usize) -> Option<Rows<'static>> {
        let n = self.n();
        let rows = match self.g {
            Factor::F64(columns) => Rows::dense(columns.into_vec(n, m), n, m),
            Factor::F32(columns) => Rows::dense_f32(columns.into_vec(n, m), n, m),
            Factor::Shared(_) | Factor::Recomputed => return None,
        };
        Some(rows.unwrap_or_else(|e| unreachable!("{e}")))
    }
}

/// Rows of j numbers as a matrix.
fn gathered<'r>(count: usize, j: usize, row: impl Fn(usize) -> &'r [f64]) -> Mat<f64> {
    // A part of each row at a time: rows lie far apart, and whole columns would touch all of them for every number.
    const PART: usize = 64;
    let mut out = Mat::zeros(count, j);
    for start in (0..j).step_by(PART) {
        let end = j.min(start + PART);
        for a in 0..count {
            row(a)[start..end].iter().enumerate().for_each(|(c, v)| out[(a, start + c)] = *v);
        }
    }
    out
}

/// t − G(rows)·gᵀ in the place of t, where G lies in blocks of columns and g has the rows of G of t's columns.
fn subtract_shared(
    t: &mut [f64],
    blocks: &[Arc<Vec<f64>>],
    g: MatRef<'_, f64>,
    n: usize,
    rows: Range<usize>,
) {
    let mut start = 0;
    for block in blocks {
        let width = block.len() / n;
        let done = &block[rows.start * width..rows.end * width];
        let done = MatRef::from_row_major_slice(done, rows.len(), width);
        subtract(t, done, g.subcols(start, width).transpose());
        start += width;
    }
}

/// What is kept of a partition's rows between two passes over them.
#[derive(Clone, Debug)]
pub(crate) struct FactorState {
    /// Columns of G, where they are kept.
    pub(crate) columns: Option<Vec<Arc<Vec<f64>>>>,
    pub(crate) diagonal: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) is_pivot: Vec<bool>,
    pub(crate) copies: Option<Arc<Vec<bool>>>,
}

impl FactorRows for LocalRows<'_> {
    fn n(&self) -> usize {
        self.residual.len()
    }

    fn largest(&self) -> f64 {
        self.largest
    }

    fn trace(&self) -> f64 {
        self.diagonal.iter().sum()
    }

    fn rounding(&self) -> f64 {
        self.gram.rounding()
    }

    fn panel_rounding(&self) -> f64 {
        self.gram.panel_rounding()
    }

    fn is_f32(&self) -> bool {
        matches!(self.g, Factor::F32(_))
    }

    fn select(&mut self, rows: &[usize]) -> Result<Selected> {
        Ok(self.selected(rows))
    }

    fn kept_factor_rows(&self, rows: &[usize], j: usize) -> Option<Mat<f64>> {
        match &self.g {
            Factor::F64(columns) => {
                let of = |a: usize| columns.row(rows[a] - self.first, j);
                Some(gathered(rows.len(), j, of))
            }
            _ => None,
        }
    }

    fn against_pivots(&self, pivots: &[usize], selected: &Rows, out: &mut [f64]) {
        self.gram.against(&self.gram.panel(pivots), selected, out);
    }

    fn column(&self, rows: &[usize], selected: &Rows, position: usize, out: &mut [f64]) {
        self.gram.column(selected, rows[position], out);
    }

    fn farthest(&mut self, count: usize, tie: f64, floor: f64) -> Result<Farthest> {
        let mut rows = self.largest_rows(count, tie, floor);
        let beaten = self.largest_outside(&rows);
        rows.iter_mut().for_each(|i| *i += self.first);
        Ok(Farthest { selected: self.selected(&rows), rows, beaten })
    }

    fn draw(&mut self, uniform: &[f64], floor: f64, retired: &BTreeSet<usize>) -> Result<Vec<usize>> {
        let cumulated = self.cumulated(floor, retired);
        let sum = cumulated.last().copied().unwrap_or(0.0);
        if sum <= 0.0 {
            return Ok(Vec::new());
        }
        if !sum.is_finite() {
            return Err(Error::Numerical(format!(
                "the kernel values k(x,x) of {} rows are too large to be added up\nhint: scale the columns, or the kernel matrix",
                self.n()
            )));
        }
        Ok(uniform.iter().map(|u| cumulated.partition_point(|&c| c <= u * sum)).collect())
    }

    fn in_order(
        &mut self,
        seed: u64,
        start: usize,
        count: usize,
        novelty: Novelty,
        floor: f64,
    ) -> Result<InOrder> {
        let order = self.order.get_or_init(|| random::permutation(self.residual.len(), seed));
        let is_new = |i: usize| novelty.is_left(self.residual[i], self.diagonal[i], floor);
        Ok(InOrder::among(order, start, count, is_new))
    }

    fn advance(&mut self, new: &NewPivots, pivots: &[usize], coefficients: &[Vec<f64>]) -> Result<()> {
        self.grow(pivots.len(), new.places.len())?;
        if !matches!(self.g, Factor::Recomputed) {
            return self.add(new, None);
        }
        let part = product(triangular(coefficients).transpose(), new.earlier.transpose());
        let before = self.gram.panel(pivots);
        self.add(new, Some((&before, part.as_ref())))
    }

    fn products(
        &mut self,
        rows: &[usize],
        _: &Rows,
        g: MatRef<'_, f64>,
        pivots: &[usize],
        coefficients: &[Vec<f64>],
    ) -> Result<Mat<f64>> {
        let Self { gram, monitor, .. } = *self;
        let (n, weights) = (self.n(), self.weights.as_ref());
        match &self.g {
            Factor::F64(columns) => {
                let panel = gram.panel(rows);
                columns.products(n, g, weights, |rows, out| gram.fill(&panel, rows, out), monitor)
            }
            Factor::F32(columns) => {
                let panel = gram.f32_panel(rows);
                columns.products(n, g, weights, |rows, out| gram.fill_f32(&panel, rows, out), monitor)
            }
            Factor::Shared(_) | Factor::Recomputed => {
                let before = (!pivots.is_empty()).then(|| gram.panel(pivots));
                let part = product(triangular(coefficients).transpose(), g.transpose());
                self.products_with(&gram.panel(rows), g, before.as_ref(), part.as_ref())
            }
        }
    }

    fn residual_sum(&mut self) -> Result<f64> {
        Ok(self.residual.iter().sum())
    }

    fn residuals(&self) -> (&[f64], u64) {
        (&self.residual, self.gram.evaluations())
    }

    fn whole(&self, monitor: &Monitor) -> Result<Vec<f64>> {
        self.gram.whole(monitor)
    }

    fn correct(&mut self, rows: &[usize], residual: &[f64]) {
        if self.is_f32() {
            for (&i, &left) in rows.iter().zip(residual) {
                self.residual[i] = left;
            }
        }
    }
}

/// `NOT_PSD`; more for kernel values that were rounded to float32, of which less can be asked.
pub(super) fn not_psd_limit(gram: &Gram) -> f64 {
    NOT_PSD.max(1e4 * gram.panel_rounding())
}
