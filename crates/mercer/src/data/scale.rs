//! Scaling, learned on training rows and stored in the model: of columns, x' = (x − center) · factor, or of rows, x' = x/‖x‖.
//!
//! cost    two passes over the rows
//! differs sparse rows are scaled but not centred, so that zeros stay zeros; a constant column gets factor 1, and a row of
//!         zeros stays zeros

use super::rows::{F64Rows, Rows};
use super::store::Growing;
use crate::error::{Error, Result};
use crate::size::{check_available, matrix_bytes};

/// The kind of scaling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Mean 0 and standard deviation 1 (sparse rows: standard deviation 1).
    #[default]
    Standard,
    /// Into [0, 1] (sparse rows: largest magnitude 1).
    MinMax,
    /// Each row divided by its length ‖x‖₂.
    Unit,
    /// No scaling.
    None,
}

impl Scale {
    /// All choices by name.
    pub const NAMES: [(&'static str, Self); 4] =
        [("standard", Self::Standard), ("min-max", Self::MinMax), ("unit", Self::Unit), ("none", Self::None)];
}

impl std::str::FromStr for Scale {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, scale)| *scale).ok_or_else(|| {
            Error::argument(format!(
                "scale = `{name}` is not known; use one of standard, min-max, unit, none"
            ))
        })
    }
}

/// A fitted scaling: rows to unit length, if at all, and then the columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scaling {
    /// Whether each row is first divided by its length.
    pub unit: bool,
    /// Subtracted from each column.
    pub center: Vec<f64>,
    /// Multiplied into each column after that.
    pub factor: Vec<f64>,
}

impl Scaling {
    /// Learns the scaling of these rows; `None` for [`Scale::None`]. The second part lists the constant columns.
    ///
    /// ```
    /// use mercer::{Rows, data::{Scale, Scaling}};
    ///
    /// let rows = Rows::dense(vec![0.0, 7.0, 4.0, 7.0], 2, 2)?;
    /// let (scaling, constant) = Scaling::fit(Scale::MinMax, &rows);
    /// let scaling = scaling.expect("min-max scales");
    /// assert_eq!(scaling.apply(&rows)?.to_dense(), [0.0, 0.0, 1.0, 0.0]);
    /// assert_eq!(constant, [1]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(scale: Scale, rows: &Rows) -> (Option<Self>, Vec<usize>) {
        let rows = &*rows.to_f64();
        let (n, p) = (rows.n(), rows.p());
        let mut low = vec![f64::INFINITY; p];
        let mut high = vec![f64::NEG_INFINITY; p];
        let mut seen = vec![0usize; p];
        let mut mean = vec![0.0; p];
        each_value(rows, |j, v| {
            low[j] = low[j].min(v);
            high[j] = high[j].max(v);
            seen[j] += 1;
            mean[j] += (v - mean[j]) / seen[j] as f64;
        });
        for j in (0..p).filter(|&j| seen[j] < n) {
            // The zeros that sparse rows do not store.
            low[j] = low[j].min(0.0);
            high[j] = high[j].max(0.0);
            mean[j] *= seen[j] as f64 / n as f64;
        }
        let constant: Vec<usize> = (0..p).filter(|&j| n > 0 && low[j] >= high[j]).collect();
        let scaling = match scale {
            Scale::None => return (None, constant),
            Scale::Unit => return (Some(Self::unit(p)), constant),
            Scale::Standard => {
                // Deviations are divided by the column's spread before they are squared, so that nothing overflows.
                let spread: Vec<f64> = low.iter().zip(&high).map(|(l, h)| h / 2.0 - l / 2.0).collect();
                let mut sum: Vec<f64> =
                    (0..p).map(|j| (n - seen[j]) as f64 * (mean[j] / spread[j]).powi(2)).collect();
                each_value(rows, |j, v| sum[j] += ((v - mean[j]) / spread[j]).powi(2));
                let factor = (0..p).map(|j| 1.0 / (spread[j] * (sum[j] / n as f64).sqrt())).collect();
                let center = if rows.is_sparse() { vec![0.0; p] } else { mean };
                Self { unit: false, center, factor }
            }
            Scale::MinMax if rows.is_sparse() => {
                let factor = (0..p).map(|j| 1.0 / low[j].abs().max(high[j].abs())).collect();
                Self::of_factors(factor)
            }
            Scale::MinMax => {
                let factor = (0..p).map(|j| 1.0 / (high[j] - low[j])).collect();
                Self { unit: false, center: low, factor }
            }
        };
        (Some(scaling.with_plain_factors(&constant)), constant)
    }

    /// An error with the estimate unless the system has memory for [`fit`](Self::fit) of so many columns.
    pub(crate) fn check_width(rows: &Rows) -> Result<()> {
        let p = rows.p();
        check_available(matrix_bytes(6, p), || format!("ranges, means and deviations of {p} columns"))
    }

    /// Constant columns, and ranges too small or too large for a reciprocal, are not multiplied.
    fn with_plain_factors(mut self, constant: &[usize]) -> Self {
        for &j in constant {
            self.factor[j] = 1.0;
        }
        for f in self.factor.iter_mut().filter(|f| !f.is_finite() || **f == 0.0) {
            *f = 1.0;
        }
        self
    }

    /// Every column multiplied by a number of its own.
    pub fn of_factors(factor: Vec<f64>) -> Self {
        Self { unit: false, center: vec![0.0; factor.len()], factor }
    }

    /// Rows of p columns divided by their length.
    ///
    /// ```
    /// use mercer::{Rows, data::Scaling};
    ///
    /// let rows = Rows::dense(vec![3.0, 4.0, 0.0, 0.0], 2, 2)?;
    /// assert_eq!(Scaling::unit(2).apply(&rows)?.to_dense(), [0.6, 0.8, 0.0, 0.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn unit(p: usize) -> Self {
        Self { unit: true, ..Self::of_factors(vec![1.0; p]) }
    }

    /// Whether columns stay as they are.
    fn leaves_columns(&self) -> bool {
        self.center.iter().all(|c| *c == 0.0) && self.factor.iter().all(|f| *f == 1.0)
    }

    /// This scaling, and then another. An error if columns would be scaled before rows, which one scaling cannot do.
    ///
    /// ```
    /// use mercer::{Rows, data::{Scale, Scaling}};
    ///
    /// let rows = Rows::dense(vec![0.0, 7.0, 4.0, 9.0], 2, 2)?;
    /// let scaling = Scaling::fit(Scale::MinMax, &rows).0.expect("min-max scales");
    /// let other = Scaling { center: vec![0.5, 0.0], factor: vec![2.0, 0.5], ..Scaling::default() };
    /// let both = scaling.then(&other)?;
    /// assert_eq!(both.apply(&rows)?.to_dense(), [-1.0, 0.0, 1.0, 0.5]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn then(&self, other: &Self) -> Result<Self> {
        if other.unit && !self.leaves_columns() {
            return Err(Error::argument(
                "the model divides rows by their length, so their columns cannot be scaled before\n\
                 hint: leave one of the two scalings out",
            ));
        }
        let center = self.center.iter().zip(&self.factor).zip(&other.center);
        let factor = self.factor.iter().zip(&other.factor);
        Ok(Self {
            unit: self.unit || other.unit,
            center: center.map(|((c, f), then)| if *then == 0.0 { *c } else { c + then / f }).collect(),
            factor: factor.map(|(f, then)| f * then).collect(),
        })
    }

    /// The rows, scaled, in float64.
    pub fn apply(&self, rows: &Rows) -> Result<Rows<'static>> {
        if rows.p() != self.factor.len() {
            return Err(Error::data(format!(
                "the rows have {} columns, but the scaling was learned on {}",
                rows.p(),
                self.factor.len()
            )));
        }
        let rows = &*rows.to_f64();
        match rows.as_f64() {
            F64Rows::Dense(d) => {
                let mut values = Growing::like(d.store());
                let mut scaled = vec![0.0; rows.p()];
                for i in 0..rows.n() {
                    let length = self.length(d.row(i));
                    for (((s, v), c), f) in
                        scaled.iter_mut().zip(d.row(i)).zip(&self.center).zip(&self.factor)
                    {
                        *s = (v / length - c) * f;
                    }
                    values.extend(&scaled)?;
                }
                Rows::from_store(values.finish()?, rows.n(), rows.p())
            }
            F64Rows::Sparse(s) => {
                if self.center.iter().any(|&c| c != 0.0) {
                    return Err(Error::data(
                        "the model was fitted on dense rows and centres its columns, which is not possible for sparse rows\n\
                         hint: convert the rows to dense ones, or fit with scale = none",
                    ));
                }
                let (mut indptr, mut indices, mut values) =
                    (vec![0], s.growing_indices(), Growing::like(s.store()));
                for i in 0..rows.n() {
                    let (columns, stored) = s.row(i);
                    indices.extend(columns)?;
                    let length = self.length(stored);
                    let mut scaled =
                        columns.iter().zip(stored).map(|(&j, v)| v / length * self.factor[j as usize]);
                    scaled.try_for_each(|v| values.push(v))?;
                    indptr.push(indices.len());
                }
                Rows::from_sparse_store(indptr.into(), indices.finish()?, values.finish()?, rows.p())
            }
        }
    }

    /// What a row's values are divided by: its length, or 1 if that is 0 or rows keep their length.
    fn length(&self, row: &[f64]) -> f64 {
        if !self.unit {
            return 1.0;
        }
        // Divided by the largest before they are squared, so that nothing overflows.
        let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest == 0.0 {
            return 1.0;
        }
        largest * row.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
    }

    /// Inverts the scaling of dense row-major values, in place. Lengths of rows are not known any more: where rows were divided
    /// by them, they stay of unit length.
    pub(crate) fn undo(&self, values: &mut [f64]) {
        for row in values.chunks_exact_mut(self.factor.len().max(1)) {
            for ((v, c), f) in row.iter_mut().zip(&self.center).zip(&self.factor) {
                *v = *v / f + c;
            }
        }
    }
}

fn each_value(rows: &Rows, mut f: impl FnMut(usize, f64)) {
    match rows.as_f64() {
        F64Rows::Dense(d) => {
            for i in 0..rows.n() {
                d.row(i).iter().enumerate().for_each(|(j, &v)| f(j, v));
            }
        }
        F64Rows::Sparse(s) => {
            for i in 0..rows.n() {
                let (columns, values) = s.row(i);
                columns.iter().zip(values).for_each(|(&j, &v)| f(j as usize, v));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_columns_have_mean_zero_and_deviation_one_at_any_scale() {
        for unit in [1e-150, 1.0, 1e150] {
            let values: Vec<f64> = [1.0, 5.0, 2.0, -3.0, 4.0, 11.0].iter().map(|v| v * unit).collect();
            let rows = Rows::dense(values, 3, 2).expect("rows");
            let (scaling, constant) = Scaling::fit(Scale::Standard, &rows);
            let z = scaling.expect("scaled").apply(&rows).expect("applied").to_dense();
            for j in 0..2 {
                let column: Vec<f64> = (0..3).map(|i| z[i * 2 + j]).collect();
                assert!(column.iter().sum::<f64>().abs() < 1e-14);
                assert!((column.iter().map(|v| v * v).sum::<f64>() / 3.0 - 1.0).abs() < 1e-14);
            }
            assert!(constant.is_empty());
        }
    }

    #[test]
    fn rows_of_unit_length_have_it_at_any_scale_and_rows_of_zeros_stay_zeros() {
        for unit in [1e-200, 1.0, 1e200] {
            let values: Vec<f64> =
                [1.0, -2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0].iter().map(|v| v * unit).collect();
            let dense = Rows::dense(values, 3, 3).expect("rows");
            let (scaling, constant) = Scaling::fit(Scale::Unit, &dense);
            let scaling = scaling.expect("scaled");
            assert_eq!((constant.as_slice(), &scaling), ([].as_slice(), &Scaling::unit(3)));
            let expected = [1.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
            let sparse = dense.to_sparse();
            for rows in [&dense, &sparse] {
                let scaled = scaling.apply(rows).expect("applied");
                assert_eq!(scaled.is_sparse(), rows.is_sparse());
                assert_eq!(scaled.stored().len(), rows.stored().len());
                for (a, b) in scaled.to_dense().iter().zip(expected) {
                    assert!((a - b).abs() < 1e-15, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn rows_are_divided_before_columns_and_never_after() {
        let rows = Rows::dense(vec![3.0, 4.0], 1, 2).expect("rows");
        let weights = Scaling::of_factors(vec![10.0, 5.0]);
        let both = Scaling::unit(2).then(&weights).expect("rows, then columns");
        assert_eq!(both.apply(&rows).expect("applied").to_dense(), [6.0, 4.0]);
        assert_eq!(Scaling::unit(2).then(&Scaling::unit(2)).expect("twice"), Scaling::unit(2));
        let error = weights.then(&Scaling::unit(2)).expect_err("columns, then rows").to_string();
        assert!(error.contains("divides rows by their length") && error.contains("\nhint: "), "{error}");
    }

    #[test]
    fn sparse_rows_are_divided_like_dense_ones_and_keep_their_zeros() {
        let dense = Rows::dense(vec![0.0, 3.0, 2.0, 0.0, 0.0, -1.0, 5.0, 0.0], 4, 2).expect("rows");
        let sparse = dense.to_sparse();
        for scale in [Scale::Standard, Scale::MinMax] {
            let (scaling, _) = Scaling::fit(scale, &sparse);
            let scaling = scaling.expect("scaled");
            assert_eq!(scaling.center, [0.0, 0.0]);
            let scaled = scaling.apply(&sparse).expect("applied");
            assert_eq!(scaled.stored().len(), sparse.stored().len());
            if scale == Scale::Standard {
                let full = Scaling::fit(scale, &dense).0.expect("scaled");
                for (a, b) in scaling.factor.iter().zip(&full.factor) {
                    assert!((a - b).abs() < 1e-14 * b);
                }
            }
        }
    }
}
