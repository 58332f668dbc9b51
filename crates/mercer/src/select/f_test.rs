//! F-test: does a column's mean differ between classes, or does it go with the numbers?

use super::{Columns, Scores};
use crate::error::{Error, Result};

/// Which columns the test itself keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Level {
    /// It only scores.
    #[default]
    None,
    /// Those with a p-value below this: the rate of false positives.
    Fpr(f64),
    /// By Benjamini and Hochberg: the rate of false discoveries.
    Fdr(f64),
    /// By Bonferroni: the chance of any false positive.
    Fwe(f64),
}

/// F-test.
#[derive(Clone, Debug, Default)]
pub struct FTest {
    /// Which columns it keeps.
    pub level: Level,
}

impl FTest {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("f", false)?;
        Err(Error::argument("not there yet"))
    }
}
