//! z(x) = A·k(x, landmarks) − b for rows in single precision: panels of kernel values and features are in single precision,
//! too, where that is precise enough.
//!
//! cost    half the memory and about half the time of double precision; to decide, q·l kernel values, once
//! stops   at no error: a map that asks for more digits is applied in double precision, panel by panel, and only its
//!         features are rounded
//! differs rounding of the kernel values comes back ‖a‖₁ times larger in a feature with the coefficients a. Single
//!         precision is kept to where eps·√max k·‖a‖₁ is at most 1e−5, in units of √k(x,x), and 1e−4 of what the feature
//!         itself reaches on the landmarks: features of a large scale may be off by more, and those of a small one must not

use std::ops::Range;
use std::sync::OnceLock;

use faer::{ColRef, Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::expansion::{Blocks, Expansion, Landmarks, Panels, Ready};
use crate::data::either::Either;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::single::Single;
use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::products::Products;
use crate::kernel::single::{RANGE, is_in_range};
use crate::monitor::Monitor;
use crate::real::Precision;
use crate::real::Real;

/// The largest rounding error of a feature, in units of √k(x,x).
const ERROR: f64 = 1e-5;

/// The same, as a share of what the feature reaches.
const SHARE: f64 = 1e-4;

/// Fewer rows than this are done in double precision before it would be known whether single is enough.
const FEW: usize = 64;

impl Expansion {
    /// What features of rows in single precision are computed in. Rows whose products are too large for single precision,
    /// and fewer than 64 rows, are not, whatever this says.
    ///
    /// ```
    /// use mercer::basis::{Precision, Threshold};
    /// use mercer::{Basis, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0], 3, 1)?;
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).fit(&rows)?;
    /// assert_eq!(basis.expansion.precision(), Precision::Single);
    /// let close = Rows::dense(vec![0.0, 1e-3, 2e-3], 3, 1)?; // A has to tell them apart
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).threshold(Threshold::Constant(0.0)).fit(&close)?;
    /// assert_eq!(basis.expansion.precision(), Precision::Double);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn precision(&self) -> Precision {
        if self.single().is_some() { Precision::Single } else { Precision::Double }
    }

    /// The map in single precision, if that is precise enough.
    fn single(&self) -> Option<ReadySingle<'_>> {
        let Landmarks::Rows(rows @ Rows::Dense(landmarks)) = &self.landmarks else { return None };
        let products = Products::new(self.kernel, landmarks, rows.n(), rows.p()).filter(|_| rows.n() > 0)?;
        let largest = diagonal(self.kernel, rows).into_iter().fold(0.0, f64::max);
        let in_range = largest >= 1.0 / RANGE && is_in_range(self.kernel, rows);
        if !in_range || !self.is_precise(rows, largest.sqrt()) {
            return None;
        }
        let (q, l) = (self.n_features(), rows.n());
        Some(ReadySingle {
            expansion: self,
            products,
            matrix: Mat::from_fn(q, l, |i, j| self.matrix[(i, j)] as f32),
            blocks: Blocks::of(self.matrix.as_ref()),
            offset: self.offset.iter().map(|b| *b as f32).collect(),
        })
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

    /// z of every row, scaled first, into `out` (n×q); what it was computed in.
    pub(crate) fn apply_single(
        &self,
        rows: &Single,
        scaling: Option<&Scaling>,
        names: Option<&[String]>,
        out: MatMut<'_, f32>,
        monitor: &Monitor,
    ) -> Result<Precision> {
        let q = self.n_features();
        self.check_shape((out.nrows(), out.ncols()), rows.n())?;
        // Refuses another number of columns.
        self.check(&rows.double(0..0), names, 0)?;
        rows.check_finite(names)?;
        let narrow = self.narrow(rows.n());
        let (precision, stage) = match narrow.single {
            Some(_) => (Precision::Single, "transforming rows in single precision"),
            None => (Precision::Double, "transforming rows in double precision"),
        };
        if rows.n() == 0 || q == 0 {
            return Ok(precision);
        }
        monitor.begin(stage, rows.n());
        out.par_row_chunks_mut(PANEL).enumerate().try_for_each(|(at, out)| {
            monitor.check()?;
            let here = at * PANEL..at * PANEL + out.nrows();
            let h = here.len();
            let scaled = scaling.map(|scaling| scaling.apply(&rows.double(here.clone()))).transpose()?;
            match (narrow.single_for(rows.into(), here.clone(), scaled.as_ref()), scaled) {
                (Some(single), None) => single.apply(rows.slice(here), out),
                (Some(single), Some(scaled)) => {
                    let values: Vec<f32> = scaled.stored().iter().map(|v| *v as f32).collect();
                    single.apply(&values, out);
                }
                (None, scaled) => {
                    let part = scaled.unwrap_or_else(|| rows.double(here.clone()));
                    self.check(&part, names, here.start)?;
                    narrow.round(&part, out);
                }
            }
            monitor.advance(h);
            Ok(())
        })?;
        Ok(precision)
    }

    /// Made ready to give features in single precision to panels of n rows.
    pub(crate) fn narrow(&self, n: usize) -> Narrow<'_> {
        Narrow {
            expansion: self,
            single: if n < FEW { None } else { self.single() },
            double: OnceLock::new(),
        }
    }
}

/// An expansion that gives features in single precision: computed in it where that is precise enough, else in double
/// precision and rounded.
pub(crate) struct Narrow<'a> {
    expansion: &'a Expansion,
    single: Option<ReadySingle<'a>>,
    double: OnceLock<Ready<'a>>,
}

impl Narrow<'_> {
    /// The map in single precision, where that is precise enough and no product of these rows is too large for it.
    fn single_for(
        &self,
        rows: Either,
        here: Range<usize>,
        scaled: Option<&Rows>,
    ) -> Option<&ReadySingle<'_>> {
        let kernel = self.expansion.kernel;
        let fits = || match scaled {
            _ if kernel.shape.statistic() != Statistic::Product => true,
            Some(scaled) => is_in_range(kernel, scaled),
            None => is_in_range(kernel, &rows.part(here)),
        };
        self.single.as_ref().filter(|_| fits())
    }

    /// z in double precision, rounded.
    fn round(&self, rows: &Rows, mut out: MatMut<'_, f32>) {
        let z = self.double.get_or_init(|| self.expansion.ready()).of(rows);
        for (j, z) in z.col_iter().enumerate() {
            out.as_mut().col_mut(j).iter_mut().zip(z.iter()).for_each(|(o, z)| *o = *z as f32);
        }
    }
}

impl Panels<f32> for Narrow<'_> {
    fn n_features(&self) -> usize {
        self.expansion.n_features()
    }

    fn fill(&self, rows: Either, here: Range<usize>, out: MatMut<'_, f32>) {
        match (self.single_for(rows, here.clone(), None), rows) {
            (Some(single), Either::Single(rows)) => single.apply(rows.slice(here), out),
            (Some(single), Either::Double(Rows::Dense(dense))) => {
                let p = rows.p();
                single.apply(&dense.values()[here.start * p..here.end * p], out);
            }
            _ => self.round(&rows.part(here), out),
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

/// An expansion in single precision.
struct ReadySingle<'a> {
    expansion: &'a Expansion,
    products: Products<f32>,
    matrix: Mat<f32>,
    blocks: Blocks,
    offset: Vec<f32>,
}

impl ReadySingle<'_> {
    /// z of a few rows into `out`, by this thread alone.
    fn apply<S: Real>(&self, rows: &[S], mut out: MatMut<'_, f32>) {
        let (h, l) = (out.nrows(), self.matrix.ncols());
        let mut k = vec![0.0; h * l];
        self.products.statistics(rows, &mut k);
        self.expansion.kernel.finish(&mut k);
        let k = MatRef::from_row_major_slice(&k, h, l);
        self.blocks.multiply(self.matrix.as_ref(), k, out.as_mut());
        for (j, &b) in self.offset.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            out.as_mut().col_mut(j).iter_mut().for_each(|v| *v -= b);
        }
    }
}
