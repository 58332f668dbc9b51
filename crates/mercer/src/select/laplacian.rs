//! Laplacian score: columns that vary little between neighbours.

use super::{Columns, Scores};
use crate::error::{Error, Result};

/// Laplacian score: columns that vary little between neighbours.
#[derive(Clone, Debug)]
pub struct Laplacian {
    /// Neighbours in the graph.
    pub n_neighbors: usize,
}

impl Default for Laplacian {
    fn default() -> Self {
        Self { n_neighbors: 5 }
    }
}

impl Laplacian {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("laplacian", false)?;
        Err(Error::argument("not there yet"))
    }
}
