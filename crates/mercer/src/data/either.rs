//! Rows in double or single precision, read where they lie.

use std::borrow::Cow;
use std::ops::Range;

use super::rows::Rows;
use super::single::Single;
use crate::error::Result;

/// Rows in either precision, borrowed.
///
/// ```
/// use mercer::data::{Either, Single};
///
/// let rows = Single::new(vec![1.0f32, 2.0, 3.0, 4.0], 2, 2)?;
/// let rows = Either::from(&rows);
/// assert_eq!((rows.n(), rows.p()), (2, 2));
/// assert_eq!(rows.select(&[1]).to_dense(), [3.0, 4.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Either<'a> {
    /// Dense or sparse rows in double precision.
    Double(&'a Rows<'a>),
    /// Dense rows in single precision.
    Single(&'a Single<'a>),
}

impl<'a> From<&'a Rows<'a>> for Either<'a> {
    fn from(rows: &'a Rows<'a>) -> Self {
        Self::Double(rows)
    }
}

impl<'a> From<&'a Single<'a>> for Either<'a> {
    fn from(rows: &'a Single<'a>) -> Self {
        Self::Single(rows)
    }
}

impl<'a> Either<'a> {
    /// Number of rows.
    pub fn n(self) -> usize {
        match self {
            Self::Double(rows) => rows.n(),
            Self::Single(rows) => rows.n(),
        }
    }

    /// Number of columns.
    pub fn p(self) -> usize {
        match self {
            Self::Double(rows) => rows.p(),
            Self::Single(rows) => rows.p(),
        }
    }

    /// Whether only non-zero numbers are stored.
    pub fn is_sparse(self) -> bool {
        matches!(self, Self::Double(rows) if rows.is_sparse())
    }

    /// Copies of the rows with these indices, in double precision.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(self, indices: &[usize]) -> Rows<'static> {
        match self {
            Self::Double(rows) => rows.select(indices),
            Self::Single(rows) => rows.select(indices),
        }
    }

    /// The rows of a range in double precision, without copying those that are.
    ///
    /// # Panics
    /// If the range reaches past n.
    pub fn part(self, range: Range<usize>) -> Rows<'a> {
        match self {
            Self::Double(rows) => rows.slice(range),
            Self::Single(rows) => rows.double(range),
        }
    }

    /// All rows in double precision: themselves, or a copy of those in single.
    pub fn whole(self) -> Cow<'a, Rows<'a>> {
        match self {
            Self::Double(rows) => Cow::Borrowed(rows),
            Self::Single(rows) => Cow::Owned(rows.double(0..rows.n())),
        }
    }

    /// Whether these are the same rows, of the same kind and with the same numbers.
    pub(crate) fn equals(self, other: &Rows) -> bool {
        match self {
            Self::Double(rows) => rows == other,
            Self::Single(rows) => {
                (rows.n(), rows.p(), false) == (other.n(), other.p(), other.is_sparse())
                    && rows.slice(0..rows.n()).iter().zip(other.stored()).all(|(a, b)| f64::from(*a) == *b)
            }
        }
    }

    /// An error that names the first infinity, as [`check_finite`](Self::check_finite); NaN is allowed.
    pub(crate) fn check_no_infinity(self, names: Option<&[String]>) -> Result<()> {
        match self {
            Self::Double(rows) => rows.check_no_infinity(names),
            Self::Single(rows) if rows.slice(0..rows.n()).iter().any(|v| v.is_infinite()) => {
                rows.double(0..rows.n()).check_no_infinity(names)
            }
            Self::Single(_) => Ok(()),
        }
    }

    /// An error that names the first NaN or infinity, as [`Rows::check_finite`].
    pub fn check_finite(self, names: Option<&[String]>) -> Result<()> {
        match self {
            Self::Double(rows) => rows.check_finite(names),
            Self::Single(rows) => rows.check_finite(names),
        }
    }
}
