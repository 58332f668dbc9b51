//! Dense rows in single precision, read where they lie: a copy in double precision would be twice as large as they are.

use std::borrow::Cow;
use std::ops::Range;

use super::rows::Rows;
use crate::error::{Error, Result};

/// n rows of p numbers in single precision, row after row.
///
/// ```
/// use mercer::data::Single;
///
/// let rows = Single::new(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)?;
/// assert_eq!((rows.n(), rows.p()), (2, 3));
/// assert_eq!(rows.double(1..2).to_dense(), [4.0, 5.0, 6.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Single<'a> {
    values: Cow<'a, [f32]>,
    n: usize,
    p: usize,
}

impl<'a> Single<'a> {
    /// Rows from a row-major slice or vector of n·p numbers.
    pub fn new(values: impl Into<Cow<'a, [f32]>>, n: usize, p: usize) -> Result<Self> {
        let values = values.into();
        if n.checked_mul(p) != Some(values.len()) {
            return Err(Error::data(format!("{} numbers given for {n} rows of {p} columns", values.len())));
        }
        Ok(Self { values, n, p })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn p(&self) -> usize {
        self.p
    }

    /// The numbers of the rows in a range.
    ///
    /// # Panics
    /// If the range reaches past n.
    pub fn slice(&self, range: Range<usize>) -> &[f32] {
        &self.values[range.start * self.p..range.end * self.p]
    }

    /// The rows of a range in double precision.
    ///
    /// # Panics
    /// If the range reaches past n.
    pub fn double(&self, range: Range<usize>) -> Rows<'static> {
        let values: Vec<f64> = self.slice(range.clone()).iter().map(|v| f64::from(*v)).collect();
        Rows::dense(values, range.len(), self.p).unwrap_or_else(|e| unreachable!("{e}"))
    }

    /// Copies of the rows with these indices, in double precision.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(&self, indices: &[usize]) -> Rows<'static> {
        let row = |&i: &usize| self.slice(i..i + 1).iter().map(|v| f64::from(*v));
        let values: Vec<f64> = indices.iter().flat_map(row).collect();
        Rows::dense(values, indices.len(), self.p).unwrap_or_else(|e| unreachable!("{e}"))
    }

    /// Whether any value is missing.
    pub(crate) fn any_nan(&self) -> bool {
        self.values.iter().any(|v| v.is_nan())
    }

    /// An error that names the first NaN or infinity, as [`Rows::check_finite`].
    pub fn check_finite(&self, names: Option<&[String]>) -> Result<()> {
        if self.values.iter().all(|v| v.is_finite()) {
            return Ok(());
        }
        self.double(0..self.n).check_finite(names)
    }
}
