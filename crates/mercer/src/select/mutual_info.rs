//! Mutual information of a column and the labels, from nearest neighbours.

use super::{Columns, Scores};
use crate::error::{Error, Result};

/// Mutual information of a column and the labels, from nearest neighbours.
#[derive(Clone, Debug)]
pub struct MutualInfo {
    /// Neighbours that the estimate is made from.
    pub n_neighbors: usize,
}

impl Default for MutualInfo {
    fn default() -> Self {
        Self { n_neighbors: 3 }
    }
}

impl MutualInfo {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("mutual_info", false)?;
        Err(Error::argument("not there yet"))
    }
}
