//! z(x) = A·k(x, landmarks) − b in float32: panels of kernel values and features are float32 where that is precise enough.
//!
//! cost    half the memory and about half the time of float64; to decide, q·l kernel values, once
//! stops   at no error: a map that asks for more digits is applied in float64, panel by panel, and only its features are
//!         rounded
//! differs rounding of the kernel values comes back ‖a‖₁ times larger in a feature with the coefficients a. Float32 is used
//!         only where eps·√max k·‖a‖₁ is at most 1e−5, in units of √k(x,x), and 1e−4 of what the feature
//!         itself reaches on the landmarks: features of a large scale may be off by more, and those of a small one must not

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use faer::{ColRef, Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::expansion::{Blocks, Expansion, FeaturePanels, Landmarks, PreparedExpansion, PreparedParts};
use crate::data::rows::Rows;
use crate::kernel::block::PANEL;
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::panel_f32::{RANGE, is_in_range};
use crate::kernel::products::Products;
use crate::real::Precision;
use crate::real::Real;

/// The largest rounding error of a feature, in units of √k(x,x).
const ERROR: f64 = 1e-5;

/// The largest rounding error of a feature as a share of what it reaches.
const SHARE: f64 = 1e-4;

/// Fewer rows than this are done in float64 before it would be known whether float32 is enough.
pub(crate) const FEW_ROWS: usize = 64;

impl Expansion {
    /// What features of float32 rows are computed in. Rows whose products are too large for float32, and fewer than 64 rows,
    /// are computed in float64, whatever this says.
    ///
    /// ```
    /// use mercer::basis::{Precision, Threshold};
    /// use mercer::{Basis, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0], 3, 1)?;
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).fit(&rows)?;
    /// assert_eq!(basis.expansion.precision(), Precision::Single);
    /// let close = Rows::dense(vec![0.0, 1e-3, 2e-3], 3, 1)?; // A has to distinguish them
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).threshold(Threshold::Constant(0.0)).fit(&close)?;
    /// assert_eq!(basis.expansion.precision(), Precision::Double);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn precision(&self) -> Precision {
        if self.parts_f32().is_some() { Precision::Single } else { Precision::Double }
    }

    /// What float32 features need, if float32 is precise enough.
    pub(crate) fn parts_f32(&self) -> Option<Arc<F32Parts>> {
        let Landmarks::Rows(rows @ Rows::Dense(landmarks)) = &self.landmarks else { return None };
        let products = Products::new(self.kernel, landmarks, rows.n(), rows.p()).filter(|_| rows.n() > 0)?;
        let largest = diagonal(self.kernel, rows).into_iter().fold(0.0, f64::max);
        let in_range = largest >= 1.0 / RANGE && is_in_range(self.kernel, rows);
        if !in_range || !self.is_precise(rows, largest.sqrt()) {
            return None;
        }
        let (q, l) = (self.n_features(), rows.n());
        Some(Arc::new(F32Parts {
            products,
            matrix: Mat::from_fn(q, l, |i, j| self.matrix[(i, j)] as f32),
            blocks: Blocks::of(self.matrix.as_ref()),
            offset: self.offset.iter().map(|b| *b as f32).collect(),
        }))
    }

    /// Whether rounding the kernel values costs little of any feature; `unit` is the largest √k(x,x).
    fn is_precise(&self, landmarks: &Rows, unit: f64) -> bool {
        let panel = self.panel();
        // One column a feature: its coefficients lie side by side.
        let coefficients = self.matrix.transpose().to_owned();
        let (q, l) = (self.n_features(), landmarks.n());
        let features: Vec<usize> = (0..q).collect();
        features.par_chunks(PANEL).all(|features| {
            // |z| of each feature at the landmark that has the largest part in it.
            let at: Vec<usize> = features.iter().map(|&i| largest(coefficients.col(i))).collect();
            let mut k = vec![0.0; at.len() * l];
            panel.fill(&landmarks.select(&at), &mut k);
            features.iter().zip(k.chunks_exact(l)).all(|(&i, k)| {
                let a = coefficients.col(i);
                let z = a.iter().zip(k).map(|(a, k)| a * k).sum::<f64>() - self.offset[i];
                let size: f64 = a.iter().map(|a| a.abs()).sum();
                let (error, reach) = (f64::from(f32::EPSILON) * unit * size, z.abs() / unit);
                size <= RANGE && error <= (ERROR * reach.max(1.0)).min(SHARE * reach)
            })
        })
    }

    /// This expansion, prepared to give float32 features to panels of n rows.
    pub(crate) fn prepared_f32(&self, n: usize) -> F32Map<'_> {
        let parts = if n < FEW_ROWS { None } else { self.parts_f32() };
        self.prepared_f32_with(parts, None)
    }

    /// This expansion with parts that were prepared before. Without those for float32 all is computed in float64; without
    /// those for float64 they are prepared when needed.
    pub(crate) fn prepared_f32_with(
        &self,
        parts: Option<Arc<F32Parts>>,
        f64_parts: Option<Arc<PreparedParts>>,
    ) -> F32Map<'_> {
        let f64 = f64_parts.map_or_else(OnceLock::new, |parts| self.prepared_with(parts).into());
        F32Map { expansion: self, parts, f64 }
    }
}

/// An expansion that gives float32 features: computed in float32 where that is precise enough, else in float64 and rounded.
pub(crate) struct F32Map<'a> {
    expansion: &'a Expansion,
    parts: Option<Arc<F32Parts>>,
    f64: OnceLock<PreparedExpansion<'a>>,
}

impl F32Map<'_> {
    /// What features are computed in.
    pub(crate) fn precision(&self) -> Precision {
        if self.parts.is_some() { Precision::Single } else { Precision::Double }
    }

    /// What float32 features need, where float32 is precise enough and no product of these rows is too large for it.
    fn parts_for(&self, rows: &Rows, here: &Range<usize>) -> Option<&F32Parts> {
        let kernel = self.expansion.kernel;
        let fits = || {
            kernel.shape.statistic() != Statistic::Product || is_in_range(kernel, &rows.slice(here.clone()))
        };
        self.parts.as_deref().filter(|_| fits())
    }

    /// z in float64, rounded.
    fn round(&self, rows: &Rows, mut out: MatMut<'_, f32>) {
        let z = self.f64.get_or_init(|| self.expansion.prepared()).of_rows(rows);
        for (j, z) in z.col_iter().enumerate() {
            out.as_mut().col_mut(j).iter_mut().zip(z.iter()).for_each(|(o, z)| *o = *z as f32);
        }
    }
}

impl FeaturePanels<f32> for F32Map<'_> {
    fn n_features(&self) -> usize {
        self.expansion.n_features()
    }

    fn fill(&self, rows: &Rows, here: Range<usize>, out: MatMut<'_, f32>) {
        match (self.parts_for(rows, &here), rows) {
            (Some(parts), Rows::DenseF32(rows)) => parts.apply(self.expansion, rows.panel(here), out),
            (Some(parts), Rows::Dense(rows)) => parts.apply(self.expansion, rows.panel(here), out),
            _ => self.round(&rows.slice_f64(here), out),
        }
    }
}

/// Where the largest magnitude stands.
fn largest(values: ColRef<'_, f64>) -> usize {
    let larger = |best: (usize, f64), (at, v): (usize, &f64)| {
        if v.abs() > best.1 { (at, v.abs()) } else { best }
    };
    values.iter().enumerate().fold((0, 0.0), larger).0
}

/// What applying an expansion in float32 needs beside it.
#[derive(Debug)]
pub(crate) struct F32Parts {
    products: Products<f32>,
    matrix: Mat<f32>,
    blocks: Blocks,
    offset: Vec<f32>,
}

impl F32Parts {
    /// z of a few rows into `out`, by this thread alone.
    fn apply<S: Real>(&self, expansion: &Expansion, rows: &[S], mut out: MatMut<'_, f32>) {
        let (h, l) = (out.nrows(), self.matrix.ncols());
        let mut k = vec![0.0; h * l];
        self.products.statistics(rows, &mut k);
        expansion.kernel.finish(&mut k);
        let k = MatRef::from_row_major_slice(&k, h, l);
        self.blocks.multiply(self.matrix.as_ref(), k, out.as_mut());
        for (j, &b) in self.offset.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            out.as_mut().col_mut(j).iter_mut().for_each(|v| *v -= b);
        }
    }
}
