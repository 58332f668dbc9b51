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

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::candidates::Candidates;
use super::checkpoint::BasisCheckpoint;
use super::expansion::Blocks;
use super::factor_rows::{FactorRows, LocalRows, NewPivots, RoundingReport};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::{Gram, Kernel, Shape};
use crate::monitor::Monitor;

/// Squared residuals this close to the largest, relative to max k(x,x), are tied with it.
pub(crate) const TIE: f64 = 1e-12;

/// Squared residuals up to this, relative to max k(x,x), are rounding: beyond it no double-precision A is orthonormal.
pub(crate) const RANK: f64 = 1e-10;

/// A squared residual below minus this, relative to max k(x,x), is no rounding.
pub(crate) const NOT_PSD: f64 = 1e-8;

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

/// A growing factor G of K: its pivots and A. What there is for every row is on the rows' side, in this process or in
/// partitions.
pub(crate) struct Pivoted<'a, R = LocalRows<'a>> {
    pub(crate) rows: R,
    pub(super) monitor: &'a Monitor,
    cap: usize,
    pub(crate) pivots: Vec<usize>,
    pub(crate) norms: Vec<f64>,
    /// A, row by row: row j has j+1 numbers.
    pub(super) coefficients: Vec<Vec<f64>>,
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
        let cap = cap.min(gram.n());
        Ok(Self::over(LocalRows::new(gram, cap, storage, monitor)?, cap, monitor))
    }

    /// Row i of G, as far as it is filled, in float64.
    fn row(&self, i: usize) -> Vec<f64> {
        let selected = self.rows.selected(&[i]);
        self.factor_rows(&[i], &selected.rows).row(0).iter().copied().collect()
    }

    /// Whether the coefficients that this row would add to A are small enough for the precision.
    pub(crate) fn is_sound(&self, i: usize) -> bool {
        let part = self.earlier_part(self.row(i).into_iter());
        self.is_small(&next_coefficients(part, std::iter::empty(), self.rows.residual[i].sqrt()))
    }

    /// (K − G Gᵀ)[:, i], at n kernel values. G must be kept.
    pub(crate) fn residual_column(&self, i: usize) -> Vec<f64> {
        self.rows.residual_column(i, &self.row(i))
    }

    /// Adds one pivot whose residual column is known; returns the new column of G, which must be kept.
    pub(crate) fn push(&mut self, pivot: usize, residual_column: &[f64]) -> Result<Vec<f64>> {
        let norm = residual_column[pivot].sqrt();
        let part = self.earlier_part(self.row(pivot).into_iter());
        let next = next_coefficients(part, std::iter::empty(), norm);
        self.coefficients.push(next);
        let mut column: Vec<f64> = residual_column.iter().map(|c| c / norm).collect();
        column[pivot] = norm;
        for &earlier in &self.pivots {
            column[earlier] = 0.0;
        }
        self.rows.push(pivot, self.pivots.len(), &column)?;
        self.pivots.push(pivot);
        self.norms.push(norm);
        self.monitor.advance(1);
        Ok(column)
    }

    /// Mean squared residual.
    pub(crate) fn mean_residual(&self) -> f64 {
        self.rows.residual.iter().sum::<f64>() / self.n() as f64
    }

    /// What float32 did to some rows, which are recomputed in float64; None if everything was in float64.
    pub(crate) fn rounding_report(&self) -> Option<RoundingReport> {
        if !self.rows.is_f32() {
            return None;
        }
        let n = self.n();
        let compared: Vec<usize> = (0..COMPARED.min(n)).map(|at| at * n / COMPARED.min(n)).collect();
        let right = self.factor_rows(&compared, &self.rows.selected(&compared).rows);
        Some(self.rows.rounding_report(&compared, &right, self.largest))
    }

    /// Z, n×m, in the precision that it was kept in; None where it was not kept.
    pub(crate) fn into_features(self) -> Option<Rows<'static>> {
        self.rows.into_features(self.pivots.len())
    }
}

impl<'a, R: FactorRows> Pivoted<'a, R> {
    /// Nothing chosen yet among these rows; at most `cap` pivots will be.
    pub(crate) fn over(rows: R, cap: usize, monitor: &'a Monitor) -> Self {
        let largest = rows.largest();
        Self {
            rows,
            monitor,
            cap,
            pivots: Vec::new(),
            norms: Vec::new(),
            coefficients: Vec::new(),
            largest,
            checkpoint: None,
            place: Vec::new(),
        }
    }

    pub(crate) fn n(&self) -> usize {
        self.rows.n()
    }

    /// Squared residuals at or below this are nothing but rounding.
    pub(crate) fn floor(&self) -> f64 {
        RANK.max(10.0 * self.rows.panel_rounding()) * self.largest
    }

    /// How many pivots may still be chosen.
    pub(crate) fn room(&self) -> usize {
        self.cap - self.pivots.len()
    }

    /// Rows of G, as far as they are filled, in float64: those that are kept, or recomputed from kernel values.
    pub(super) fn factor_rows(&self, places: &[usize], selected: &Rows) -> Mat<f64> {
        if let Some(kept) = self.rows.kept_factor_rows(places, self.pivots.len()) {
            return kept;
        }
        let (h, j) = (selected.n(), self.pivots.len());
        let mut k = vec![0.0; h * j];
        if j > 0 {
            self.rows.against_pivots(&self.pivots, selected, &mut k);
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
        let eliminated = &candidates.eliminated;
        let new: Vec<usize> = eliminated.iter().map(|&local| candidates.rows[local]).collect();
        if new.is_empty() {
            self.rows.correct(&candidates.rows, &candidates.residual);
            return Ok(());
        }
        let b = new.len();
        // Rows of G at the new pivots, and what takes the earlier pivots' part out of their columns.
        let block = NewPivots {
            rows: candidates.selected.select(eliminated),
            // None where the rows' side has them.
            earlier: Mat::from_fn(b, candidates.g.ncols(), |c, k| candidates.g[(eliminated[c], k)]),
            factor: candidates.factor(),
            places: new,
        };
        let next_rows =
            if self.rows.keeps_coefficients() { Vec::new() } else { candidates.coefficients(self).to_vec() };
        self.rows.advance(&block, &self.pivots, &self.coefficients)?;
        self.norms.extend((0..b).map(|c| block.factor[c * b + c]));
        self.pivots.extend(block.places);
        self.coefficients.extend(next_rows);
        self.rows.correct(&candidates.rows, &candidates.residual);
        self.monitor.advance(b);
        Ok(())
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
        self.is_small_size(coefficients.iter().map(|a| a.abs()).sum())
    }

    /// [`is_small`](Self::is_small) of coefficients with this Σ|a|.
    pub(super) fn is_small_size(&self, size: f64) -> bool {
        let error = f64::from(f32::EPSILON) * self.largest.sqrt() * size;
        let rounding = self.rows.rounding();
        (!self.rows.is_f32() || error <= ERROR)
            && rounding * self.largest * size * size <= loss_limit(rounding)
    }

    /// RᵀR for the candidates' residual columns R = (K − G Gᵀ)[:, candidates]: one pass over all rows. No candidate may be
    /// eliminated yet.
    pub(super) fn residual_products(&mut self, candidates: &Candidates) -> Result<Mat<f64>> {
        let Candidates { rows, selected, g, .. } = candidates;
        self.rows.products(rows, selected, g.as_ref(), &self.pivots, &self.coefficients)
    }

    /// A, wherever it has grown.
    pub(crate) fn matrix(&self) -> Result<Mat<f64>> {
        Ok(self.rows.coefficients()?.unwrap_or_else(|| self.coefficients()))
    }

    /// A = (`G_PP`)⁻¹, m×m lower triangular, as far as it has grown here.
    pub(crate) fn coefficients(&self) -> Mat<f64> {
        triangular(&self.coefficients)
    }

    /// Mean squared residual over mean k(x,x).
    pub(crate) fn relative_residual(&mut self) -> Result<f64> {
        Ok(self.rows.residual_sum()? / self.rows.trace())
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.monitor.check()
    }
}

/// The rows of A as a matrix.
pub(crate) fn triangular(rows: &[Vec<f64>]) -> Mat<f64> {
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
pub(crate) fn loss_limit(rounding: f64) -> f64 {
    LOSS.max(1e4 * rounding)
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
