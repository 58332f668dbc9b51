//! KFFS: kernel forward feature selection.

use super::{Columns, Scores};
use crate::error::{Error, Result};

/// KFFS: kernel forward feature selection.
#[derive(Clone, Debug)]
pub struct Kffs {
    /// Whether rows that the ensemble gets right lose weight (lines 7 and 14 of Algorithm 2).
    pub reweight: bool,
}

impl Default for Kffs {
    fn default() -> Self {
        Self { reweight: false }
    }
}

impl Kffs {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("kffs", false)?;
        Err(Error::argument("not there yet"))
    }
}
