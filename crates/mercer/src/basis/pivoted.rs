//! The partial Cholesky factor that `kobl`, `rpcholesky`, `kfa`, `sparse`, `nystrom` and `csi` grow, in blocks of pivots.
//!
//!   K ≈ G Gᵀ,   G[:, new] = (K(:, P) − G G_Pᵀ) L⁻ᵀ,   L Lᵀ = the residual Gram matrix of the new pivots P
//!
//! Where G does not fit into memory it is not kept: the earlier pivots' kernel values are recomputed on every pass,
//!
//!   G G_Pᵀ = K(:, earlier) W,   W = Aᵀ G_Pᵀ
//!
//! Rows of G at the pivots are the Cholesky factor of `K_PP`, so A = (`G_PP`)⁻¹ gives z(x) = A·k(x, P).
//!
//! cost    n·m² flops by matrix products on panels of rows, n·(m+1) kernel values; candidates add theirs, and without G every
//!         pass over the rows those of the pivots so far: about n·m²/192 in all. Memory 8·n·m bytes with G (4·n·m in single
//!         precision), 17·n without
//! differs A grows by one row a pivot, so that its size is known: an order that is not greedy (`sparse`, `nystrom`,
//!         `rpcholesky`, `kfa`, `csi`) leaves out rows whose coefficients a have eps·max k·‖a‖₁² > 1e−6, as `gram-schmidt` does;
//!         residuals are clipped at 0 (rounding); below −1e−8·max k(x,x) the kernel is not positive semi-definite.
//!         In float32, G and what is made of it for all rows take half the memory. Whatever decides on a pivot or enters
//!         A is float64: rows of G at the candidates are recomputed, |candidates|·j kernel values a pass

use std::borrow::Cow;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::candidates::Candidates;
use super::checkpoint::BasisCheckpoint;
use super::columns::{Columns, New, next, panel_products, subtract, take};
use super::expansion::Blocks;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::{Gram, Kernel, Precision, Shape};
use crate::linalg::product;
use crate::monitor::Monitor;

/// Squared residuals this close to the largest, relative to max k(x,x), are tied with it.
pub(crate) const TIE: f64 = 1e-12;

/// Squared residuals up to this, relative to max k(x,x), are rounding: beyond it no double-precision A is orthonormal.
pub(crate) const RANK: f64 = 1e-10;

/// A squared residual below minus this, relative to max k(x,x), is no rounding.
pub(super) const NOT_PSD: f64 = 1e-8;

/// The largest loss of orthogonality that rounding in one coefficient row may cause.
pub(super) const LOSS: f64 = 1e-6;

/// The largest error, in units of √max k(x,x), that float32 may cause in a coordinate: ‖a‖₁ times that of a value.
pub(crate) const ERROR: f64 = 1e-4;

/// Rows whose coordinates in float32 are compared with float64 in the end.
const COMPARED: usize = 256;

/// Pivots that wait for one pass over the rows.
pub(crate) const PENDING: usize = 96;

/// What becomes of G.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactorStorage {
    /// It is kept from pass to pass, and then handed back as the rows' coordinates.
    Returned,
    /// It is kept from pass to pass.
    Cached,
    /// It is not kept: every pass recomputes it from kernel values.
    Recomputed,
}

/// G, or nothing of it.
enum Factor {
    F64(Columns<f64>),
    F32(Columns<f32>),
    Recomputed,
}

/// What rounding to float32 did.
pub(crate) struct RoundingReport {
    /// The largest error of a coordinate or a squared residual, relative to √max k(x,x) or max k(x,x).
    pub(crate) error: f64,
    /// More is left than float64 would leave.
    pub(crate) ends_early: bool,
}

/// A growing factor G of K with what is left of the diagonal.
pub(crate) struct Pivoted<'a> {
    pub(super) gram: &'a Gram<'a>,
    pub(super) monitor: &'a Monitor,
    cap: usize,
    g: Factor,
    pub(crate) diagonal: Vec<f64>,
    /// Squared residual of each row; 0 for pivots.
    pub(crate) residual: Vec<f64>,
    pub(crate) pivots: Vec<usize>,
    pub(crate) norms: Vec<f64>,
    /// A, row by row: row j has j+1 numbers.
    pub(super) coefficients: Vec<Vec<f64>>,
    pub(crate) is_pivot: Vec<bool>,
    /// max k(x,x)
    pub(crate) largest: f64,
    /// Where its state is saved after a pass.
    pub(super) checkpoint: Option<BasisCheckpoint>,
    /// What the method's loop goes on with, where an earlier run has begun; else empty.
    pub(super) place: Vec<u64>,
}

impl<'a> Pivoted<'a> {
    /// Nothing chosen yet; at most `cap` pivots will be.
    pub(crate) fn new(
        gram: &'a Gram<'a>,
        cap: usize,
        storage: FactorStorage,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        let n = gram.n();
        let diagonal = gram.diagonal();
        let magnitude = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if let Some(i) = diagonal.iter().position(|v| *v < -not_psd_limit(gram) * magnitude) {
            return Err(not_psd(gram.kernel(), i, diagonal[i]));
        }
        let cap = cap.min(n);
        // Where the rule and not the cap is expected to stop it, memory grows with the basis.
        let width = if n <= super::UNCAPPED_ROWS { cap.min(PENDING) } else { cap };
        let last = storage == FactorStorage::Returned;
        let g = match (storage, gram.precision()) {
            (FactorStorage::Recomputed, _) => Factor::Recomputed,
            (_, Precision::Double) => Factor::F64(Columns::new(n, width, last)),
            (_, Precision::Single) => Factor::F32(Columns::new(n, width, last)),
        };
        Ok(Self {
            gram,
            monitor,
            cap,
            g,
            residual: diagonal.iter().map(|v| v.max(0.0)).collect(),
            diagonal,
            pivots: Vec::new(),
            norms: Vec::new(),
            coefficients: Vec::new(),
            is_pivot: vec![false; n],
            largest: magnitude,
            checkpoint: None,
            place: Vec::new(),
        })
    }

    pub(crate) fn n(&self) -> usize {
        self.residual.len()
    }

    /// Squared residuals at or below this are nothing but rounding.
    pub(crate) fn floor(&self) -> f64 {
        RANK.max(10.0 * self.gram.panel_rounding()) * self.largest
    }

    /// How many pivots may still be chosen.
    pub(crate) fn room(&self) -> usize {
        self.cap - self.pivots.len()
    }

    /// The row with the largest residual; the lowest index among those tied with it.
    pub(crate) fn farthest(&self) -> Option<usize> {
        first_of_largest(&self.residual, &self.is_pivot, TIE * self.largest)
    }

    /// Row i of G, as far as it is filled, in float64.
    fn row(&self, i: usize) -> Cow<'_, [f64]> {
        match &self.g {
            Factor::F64(columns) => Cow::Borrowed(columns.row(i, self.pivots.len())),
            Factor::F32(_) | Factor::Recomputed => {
                Cow::Owned(self.recomputed_rows(&self.gram.select(&[i])).row(0).iter().copied().collect())
            }
        }
    }

    /// Rows of G, as far as they are filled, in float64.
    pub(super) fn rows(&self, rows: &[usize], selected: &Rows) -> Mat<f64> {
        match &self.g {
            Factor::F64(columns) => {
                Mat::from_fn(rows.len(), self.pivots.len(), |a, c| columns.row(rows[a], c + 1)[c])
            }
            Factor::F32(_) | Factor::Recomputed => self.recomputed_rows(selected),
        }
    }

    /// Squared residuals of some rows, whose rows of G these are.
    pub(super) fn residuals(&self, rows: &[usize], g: &Mat<f64>) -> Vec<f64> {
        match &self.g {
            Factor::F32(_) => {
                let left = |(a, &i): (usize, &usize)| self.diagonal[i] - g.row(a).squared_norm_l2();
                rows.iter().enumerate().map(|at| left(at).max(0.0)).collect()
            }
            _ => rows.iter().map(|&i| self.residual[i]).collect(),
        }
    }

    /// Rows of G from their kernel values.
    fn recomputed_rows(&self, selected: &Rows) -> Mat<f64> {
        let (h, j) = (selected.n(), self.pivots.len());
        let mut k = vec![0.0; h * j];
        if j > 0 {
            self.gram.against(&self.gram.panel(&self.pivots), selected, &mut k);
        }
        let a = self.coefficients();
        let blocks = Blocks::of(a.as_ref());
        let mut g = Mat::zeros(h, j);
        g.par_row_chunks_mut(PANEL).zip(k.par_chunks((PANEL * j).max(1))).for_each(|(g, k)| {
            blocks.multiply(a.as_ref(), MatRef::from_row_major_slice(k, g.nrows(), j), g);
        });
        g
    }

    /// Adds the pivots that `candidates` has eliminated: one pass over all rows.
    pub(crate) fn flush(&mut self, candidates: &mut Candidates) -> Result<()> {
        let new: Vec<usize> = candidates.eliminated.iter().map(|&local| candidates.rows[local]).collect();
        if new.is_empty() {
            self.correct(candidates);
            return Ok(());
        }
        self.grow(new.len());
        let (j, b) = (self.pivots.len(), new.len());
        let factor = candidates.factor();
        let next_rows = candidates.coefficients(self).to_vec();
        // Rows of G at the new pivots, and what takes the earlier pivots' part out of their columns.
        let earlier = Mat::from_fn(b, j, |c, k| candidates.g[(candidates.eliminated[c], k)]);
        let (gram, monitor, residual) = (self.gram, self.monitor, &mut self.residual);
        let block = New { pivots: &new, earlier: earlier.as_ref(), factor: &factor };
        match &mut self.g {
            Factor::F64(columns) => {
                let panel = gram.panel(&new);
                columns.add(&block, residual, |rows, out| gram.fill(&panel, rows, out), monitor)?;
            }
            Factor::F32(columns) => {
                let panel = gram.f32_panel(&new);
                columns.add(&block, residual, |rows, out| gram.fill_f32(&panel, rows, out), monitor)?;
            }
            Factor::Recomputed => {
                let panel = gram.panel(&new);
                let l = MatRef::from_row_major_slice(&factor, b, b);
                let a = triangular(&self.coefficients);
                let part = product(a.transpose(), earlier.transpose());
                let before = gram.panel(&self.pivots);
                residual.par_chunks_mut(PANEL).enumerate().try_for_each(|(at, residual)| {
                    monitor.check()?;
                    let rows = at * PANEL..at * PANEL + residual.len();
                    let mut k = vec![0.0; rows.len() * j];
                    if j > 0 {
                        gram.fill(&before, rows.clone(), &mut k);
                    }
                    let done = MatRef::from_row_major_slice(&k, rows.len(), j);
                    let mut t = vec![0.0; rows.len() * b];
                    gram.fill(&panel, rows, &mut t);
                    next(&mut t, done, part.as_ref(), l);
                    t.chunks_exact(b).zip(residual).for_each(|(t, residual)| take(residual, t));
                    Ok::<_, Error>(())
                })?;
            }
        }
        for (c, &i) in new.iter().enumerate() {
            self.norms.push(factor[c * b + c]);
            self.residual[i] = 0.0;
            self.is_pivot[i] = true;
        }
        self.pivots.extend(&new);
        self.coefficients.extend(next_rows);
        self.correct(candidates);
        self.clip_residuals()?;
        self.monitor.advance(b);
        Ok(())
    }

    /// Where residuals are rounded to float32 the candidates' are known better: a row that nothing is left of must
    /// not look as if it were.
    fn correct(&mut self, candidates: &Candidates) {
        if self.is_f32() {
            for (&i, &left) in candidates.rows.iter().zip(&candidates.residual) {
                self.residual[i] = left;
            }
        }
    }

    /// Whether the coefficients that this row would add to A are small enough for the precision.
    pub(crate) fn is_sound(&self, i: usize) -> bool {
        let part = self.earlier_part(self.row(i).iter().copied());
        self.is_small(&next_coefficients(part, std::iter::empty(), self.residual[i].sqrt()))
    }

    /// ℓA for a row ℓ of G.
    pub(super) fn earlier_part(&self, row: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut part = vec![0.0; self.coefficients.len()];
        for (a, l) in self.coefficients.iter().zip(row) {
            part.iter_mut().zip(a).for_each(|(p, a)| *p += l * a);
        }
        part
    }

    pub(super) fn is_small(&self, coefficients: &[f64]) -> bool {
        let size: f64 = coefficients.iter().map(|a| a.abs()).sum();
        let error = f64::from(f32::EPSILON) * self.largest.sqrt() * size;
        (!self.is_f32() || error <= ERROR)
            && self.gram.rounding() * self.largest * size * size <= loss_limit(self.gram)
    }

    pub(super) fn is_f32(&self) -> bool {
        matches!(self.g, Factor::F32(_))
    }

    /// RᵀR for the candidates' residual columns R = (K − G Gᵀ)[:, candidates]: one pass over all rows. No candidate may be
    /// eliminated yet.
    pub(super) fn residual_products(&self, candidates: &Candidates) -> Result<Mat<f64>> {
        let (gram, monitor, n) = (self.gram, self.monitor, self.n());
        let own = candidates.g.as_ref();
        match &self.g {
            Factor::F64(columns) => {
                let panel = gram.panel(&candidates.rows);
                columns.products(n, own, |rows, out| gram.fill(&panel, rows, out), monitor)
            }
            Factor::F32(columns) => {
                let panel = gram.f32_panel(&candidates.rows);
                columns.products(n, own, |rows, out| gram.fill_f32(&panel, rows, out), monitor)
            }
            Factor::Recomputed => {
                let (panel, before) = (gram.panel(&candidates.rows), gram.panel(&self.pivots));
                let j = self.pivots.len();
                let part = product(self.coefficients().transpose(), own.transpose());
                panel_products(n, candidates.rows.len(), monitor, |rows, t| {
                    let mut k = vec![0.0; rows.len() * j];
                    if j > 0 {
                        gram.fill(&before, rows.clone(), &mut k);
                    }
                    let done = MatRef::from_row_major_slice(&k, rows.len(), j);
                    gram.fill(&panel, rows, t);
                    subtract(t, done, part.as_ref());
                })
            }
        }
    }

    /// (K − G Gᵀ)[:, i], at n kernel values. G must be kept.
    pub(crate) fn residual_column(&self, i: usize) -> Vec<f64> {
        let Factor::F64(Columns { g, width, .. }) = &self.g else {
            unreachable!("`csi` keeps its factor in float64")
        };
        let panel = self.gram.panel(&[i]);
        let own = self.row(i);
        let mut column = vec![0.0; self.n()];
        column.par_chunks_mut(PANEL).zip(g.par_chunks(PANEL * width)).enumerate().for_each(
            |(at, (column, g))| {
                self.gram.fill(&panel, at * PANEL..at * PANEL + column.len(), column);
                for (c, row) in column.iter_mut().zip(g.chunks_exact(*width)) {
                    *c -= row.iter().zip(&*own).map(|(a, b)| a * b).sum::<f64>();
                }
            },
        );
        column
    }

    /// Adds one pivot whose residual column is known; returns the new column of G, which must be kept.
    pub(crate) fn push(&mut self, pivot: usize, residual_column: &[f64]) -> Result<Vec<f64>> {
        self.grow(1);
        let j = self.pivots.len();
        let norm = residual_column[pivot].sqrt();
        let part = self.earlier_part(self.row(pivot).iter().copied());
        let next = next_coefficients(part, std::iter::empty(), norm);
        self.coefficients.push(next);
        let mut column: Vec<f64> = residual_column.iter().map(|c| c / norm).collect();
        column[pivot] = norm;
        for &earlier in &self.pivots {
            column[earlier] = 0.0;
        }
        let Factor::F64(Columns { g, width, .. }) = &mut self.g else {
            unreachable!("`csi` keeps its factor in float64")
        };
        for (i, c) in column.iter().enumerate() {
            g[i * *width + j] = *c;
            self.residual[i] -= c * c;
        }
        self.residual[pivot] = 0.0;
        self.pivots.push(pivot);
        self.norms.push(norm);
        self.is_pivot[pivot] = true;
        self.clip_residuals()?;
        self.monitor.advance(1);
        Ok(column)
    }

    /// Rounding below 0 becomes 0; more than rounding is an error.
    fn clip_residuals(&mut self) -> Result<()> {
        let limit = -not_psd_limit(self.gram) * self.largest;
        if let Some(i) = self.residual.iter().position(|r| *r < limit || r.is_nan()) {
            return Err(not_psd(self.gram.kernel(), i, self.residual[i]));
        }
        self.residual.iter_mut().for_each(|r| *r = r.max(0.0));
        Ok(())
    }

    /// Makes room for b more columns.
    fn grow(&mut self, b: usize) {
        let (n, needed) = (self.n(), self.pivots.len() + b);
        match &mut self.g {
            Factor::F64(columns) => columns.grow(n, needed, self.cap),
            Factor::F32(columns) => columns.grow(n, needed, self.cap),
            Factor::Recomputed => {}
        }
    }

    /// A = (`G_PP`)⁻¹, m×m lower triangular.
    pub(crate) fn coefficients(&self) -> Mat<f64> {
        triangular(&self.coefficients)
    }

    /// Mean squared residual.
    pub(crate) fn mean_residual(&self) -> f64 {
        self.residual.iter().sum::<f64>() / self.n() as f64
    }

    /// Mean squared residual over mean k(x,x).
    pub(crate) fn relative_residual(&self) -> f64 {
        self.residual.iter().sum::<f64>() / self.diagonal.iter().sum::<f64>()
    }

    /// What float32 did to some rows, which are recomputed in float64; None if everything was in float64.
    pub(crate) fn rounding_report(&self) -> Option<RoundingReport> {
        let Factor::F32(columns) = &self.g else { return None };
        let (n, m) = (self.n(), self.pivots.len());
        let rows: Vec<usize> = (0..COMPARED.min(n)).map(|at| at * n / COMPARED.min(n)).collect();
        let right = self.recomputed_rows(&self.gram.select(&rows));
        let (mut error, mut most) = (0.0f64, 0.0f64);
        for ((a, &i), left) in rows.iter().enumerate().zip(self.residuals(&rows, &right)) {
            let pairs = columns.row(i, m).iter().zip(right.row(a).iter());
            let coordinate = pairs.map(|(g, z)| (f64::from(*g) - z).abs()).fold(0.0, f64::max);
            let residual = (self.residual[i] - left).abs();
            error = error.max(coordinate / self.largest.sqrt()).max(residual / self.largest);
            most = most.max(left);
        }
        Some(RoundingReport { error, ends_early: most > RANK * self.largest })
    }

    /// Z, n×m, in the precision that it was kept in; None where it was not kept.
    pub(crate) fn into_features(self) -> Option<Rows<'static>> {
        let (n, m) = (self.n(), self.pivots.len());
        let rows = match self.g {
            Factor::F64(columns) => Rows::dense(columns.into_vec(n, m), n, m),
            Factor::F32(columns) => Rows::dense_f32(columns.into_vec(n, m), n, m),
            Factor::Recomputed => return None,
        };
        Some(rows.unwrap_or_else(|e| unreachable!("{e}")))
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.monitor.check()
    }
}

/// The rows of A as a matrix.
pub(super) fn triangular(rows: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows.len(), |i, j| rows[i].get(j).copied().unwrap_or(0.0))
}

/// The row that a pivot adds to A: (e − ℓA)/r, from ℓA of the pivots of earlier passes and the rows and ℓ since.
pub(super) fn next_coefficients<'r>(
    part: Vec<f64>,
    pending: impl Iterator<Item = (&'r Vec<f64>, f64)>,
    norm: f64,
) -> Vec<f64> {
    let mut next = part;
    for (row, l) in pending {
        next.resize(row.len(), 0.0);
        next.iter_mut().zip(row).for_each(|(n, a)| *n += l * a);
    }
    next.iter_mut().for_each(|n| *n /= -norm);
    next.push(1.0 / norm);
    next
}

/// The first index whose value is within `tie` of the largest, leaving out those marked.
pub(crate) fn first_of_largest(values: &[f64], left_out: &[bool], tie: f64) -> Option<usize> {
    let open = || values.iter().zip(left_out).enumerate().filter(|(_, (_, out))| !**out);
    let largest = open().map(|(_, (v, _))| *v).fold(f64::NEG_INFINITY, f64::max);
    open().find(|(_, (v, _))| **v >= largest - tie).map(|(i, _)| i)
}

/// `LOSS`; more for kernel values that were rounded to float32, of which less can be asked.
pub(crate) fn loss_limit(gram: &Gram) -> f64 {
    LOSS.max(1e4 * gram.rounding())
}

/// `NOT_PSD`; likewise.
fn not_psd_limit(gram: &Gram) -> f64 {
    NOT_PSD.max(1e4 * gram.panel_rounding())
}

pub(crate) fn not_psd(kernel: Kernel, row: usize, value: f64) -> Error {
    let name = kernel.shape.name();
    let hint = match kernel.shape {
        Shape::Precomputed => {
            "give a matrix of inner products; adding to its diagonal makes one of any symmetric matrix"
        }
        _ => {
            "use a kernel that is (`rbf`, `laplacian`, `linear`, `poly` with coef0 ≥ 0), or change gamma and coef0"
        }
    };
    Error::Numerical(format!(
        "the kernel `{name}` is not positive semi-definite on these rows: row {} has the squared residual {value:.3e}\n\
         hint: {hint}",
        row + 1
    ))
}
