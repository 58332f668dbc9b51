//! Kernel values in float32: by products where the kernel allows, else in float64 and rounded.
//!
//! differs where products or kernel values would leave the range of float32 there is no panel of it

use std::ops::Range;

use super::block::Panel;
use super::gram::{diagonal, squared_norm};
use super::kernel::{Kernel, Statistic};
use super::products::Products;
use crate::data::rows::Rows;

/// Squares and kernel values up to this, and the largest down to its reciprocal, are far from overflow and underflow.
pub(crate) const RANGE: f64 = 1e25;

/// Landmark rows, prepared for kernel values in float32.
pub(crate) struct F32Panel {
    kernel: Kernel,
    products: Option<Products<f32>>,
    double: Panel,
}

impl F32Panel {
    /// `double` is the panel of the same landmarks; none are given for a precomputed kernel.
    pub(crate) fn new(kernel: Kernel, landmarks: Option<&Rows>, double: Panel) -> Self {
        let products = match landmarks {
            Some(rows @ Rows::Dense(d)) => Products::new(kernel, d, rows.n(), rows.p()),
            _ => None,
        };
        Self { kernel, products, double }
    }

    /// Values of the rows in a range, row-major into `out`. Sequential, as [`Panel::fill`].
    pub(crate) fn fill(&self, rows: &Rows, range: Range<usize>, out: &mut [f32]) {
        match (&self.products, rows) {
            (Some(products), Rows::DenseF32(rows)) => products.statistics(rows.panel(range), out),
            (Some(products), Rows::Dense(rows)) => products.statistics(rows.panel(range), out),
            _ => {
                let mut values = vec![0.0; out.len()];
                self.double.fill(&rows.slice_f64(range), &mut values);
                out.iter_mut().zip(values).for_each(|(o, v)| *o = v as f32);
                return;
            }
        }
        self.kernel.finish(out);
    }
}

/// Whether no product of these rows, and no kernel value that is made of it, is too large for float32.
pub(crate) fn is_in_range(kernel: Kernel, rows: &Rows) -> bool {
    squares_fit(kernel, rows) && diagonal(kernel, rows).iter().all(|k| *k <= RANGE)
}

/// Whether no product of these rows is too large; only dense rows have products in float32.
pub(crate) fn squares_fit(kernel: Kernel, rows: &Rows) -> bool {
    let products = kernel.shape.statistic() == Statistic::Product && !rows.is_sparse();
    !products || (0..rows.n()).all(|i| squared_norm(rows, i) <= RANGE)
}
