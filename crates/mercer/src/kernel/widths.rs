//! One kernel at many widths on the same rows: what does not depend on γ is computed once.
//!
//!   k_γ(x, x') = f(γ·d(x, x'))      d for all pairs once, f for every γ; poly and sigmoid: the same with ⟨x,x'⟩
//!
//! cost    n²·p flops once, n² values of f a width; n² numbers of memory, and n² for the values of a width

use rayon::prelude::*;

use super::block::{PANEL, Panel};
use super::gram::check_rows;
use super::kernel::{Kernel, Shape, Statistic};
use super::own::caught;
use crate::data::rows::Rows;
use crate::error::Result;

/// What the kernels of one formula have in common on some rows.
#[derive(Debug)]
pub(crate) struct Widths<'a> {
    shape: Shape,
    rows: &'a Rows<'a>,
    /// n×n, symmetric: products, or distances times `unit`.
    statistics: Vec<f64>,
    unit: f64,
}

impl<'a> Widths<'a> {
    /// Looks at all pairs of rows. Numbers stay in range if `unit` is about the widths that will be asked for.
    pub(crate) fn new(shape: Shape, unit: f64, rows: &'a Rows) -> Result<Self> {
        let kernel = Kernel { shape, gamma: unit };
        let statistic = kernel.shape.statistic();
        if statistic == Statistic::ChiSquared {
            check_rows(kernel, rows, 0)?;
        }
        let n = rows.n();
        if statistic == Statistic::Value {
            // Nothing is common to the widths of a sum.
            return Ok(Self { shape, rows, statistics: Vec::new(), unit });
        }
        let panel = Panel::new(kernel, rows);
        let mut statistics = vec![0.0; n * n];
        statistics.par_chunks_mut((PANEL * n).max(1)).enumerate().for_each(|(at, out)| {
            let first = at * PANEL;
            panel.statistics(&rows.slice(first..first + out.len() / n), out);
        });
        // From products, d(x, x') and d(x', x) may differ in the last digit.
        for i in 0..n {
            if kernel.shape.is_stationary() {
                statistics[i * n + i] = 0.0;
            }
            for j in 0..i {
                statistics[j * n + i] = statistics[i * n + j];
            }
        }
        Ok(Self { shape, rows, statistics, unit })
    }

    /// The n×n kernel values of one width; an error where they are beyond a number.
    pub(crate) fn values(&self, gamma: f64) -> Result<Vec<f64>> {
        let kernel = Kernel { shape: self.shape, gamma };
        check_rows(kernel, self.rows, 0)?;
        if self.shape.statistic() == Statistic::Value {
            return self.anew(kernel);
        }
        let factor = match self.shape.statistic() {
            Statistic::Product
            | Statistic::Cosine
            | Statistic::Additive
            | Statistic::Equal
            | Statistic::Value
            | Statistic::Given => 1.0,
            _ => gamma / self.unit,
        };
        let mut values = vec![0.0; self.statistics.len()];
        let panel = (PANEL * self.rows.n()).max(1);
        values.par_chunks_mut(panel).zip(self.statistics.par_chunks(panel)).for_each(|(out, statistics)| {
            out.iter_mut().zip(statistics).for_each(|(v, s)| *v = s * factor);
            kernel.finish(out);
        });
        Ok(values)
    }

    /// The n×n values, of which nothing was computed before.
    fn anew(&self, kernel: Kernel) -> Result<Vec<f64>> {
        let n = self.rows.n();
        let panel = Panel::new(kernel, self.rows);
        let mut values = vec![0.0; n * n];
        caught(|| {
            panel.fill_all(self.rows, &mut values);
            Ok(())
        })?;
        for i in 0..n {
            for j in 0..i {
                values[j * n + i] = values[i * n + j];
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn values_are_those_of_a_kernel_of_that_width_alone() {
        let dense = synth::generate("ringnorm?n=300&seed=1").expect("rows").rows;
        let positive = Rows::dense(dense.to_dense().iter().map(|v| v.abs()).collect::<Vec<_>>(), 300, 20);
        let positive = positive.expect("rows");
        let shapes = [
            Shape::Rbf,
            Shape::Laplacian,
            Shape::Matern12,
            Shape::Matern32,
            Shape::Matern52,
            Shape::Rq { alpha: 0.7 },
            Shape::Chi2,
            Shape::Poly { degree: 3, coef0: 1.0 },
            Shape::Sigmoid { coef0: 1.0 },
        ];
        for rows in [&positive, &positive.to_sparse()] {
            for shape in shapes {
                let widths = Widths::new(shape, 0.01, rows).expect("distances");
                for gamma in [0.001, 0.01, 0.5] {
                    let values = widths.values(gamma).expect("values");
                    let alone = Kernel { shape, gamma }.matrix(rows, rows).expect("values");
                    let largest = alone.norm_max();
                    for (at, v) in values.iter().enumerate() {
                        let difference = (v - alone[(at / 300, at % 300)]).abs();
                        // d itself is right to a few units of its last place for every one of the p = 20 columns; near
                        // d = 0 `matern12` takes the root of what rounding leaves.
                        let rounding = if shape == Shape::Matern12 { 1e-7 } else { 1e3 * f64::EPSILON };
                        assert!(difference <= rounding * largest, "{shape:?} at {gamma}: {difference:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_width_that_overflows_is_an_error_and_spares_the_others() {
        let rows = Rows::dense(vec![1e100, 2e100], 2, 1).expect("rows");
        let widths = Widths::new(Shape::Poly { degree: 3, coef0: 0.0 }, 1.0, &rows).expect("products");
        assert!(widths.values(1.0).is_err());
        assert!(widths.values(1e-200).expect("values").iter().all(|v| v.is_finite()));
    }
}
