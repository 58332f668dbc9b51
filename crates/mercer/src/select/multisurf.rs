//! MultiSURF: every row within reach is a neighbour.

use super::{Columns, Scores};
use crate::error::{Error, Result};
use crate::evidence::neighbours::Metric;

/// MultiSURF: every row within reach is a neighbour.
#[derive(Clone, Debug)]
pub struct MultiSurf {
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

impl Default for MultiSurf {
    fn default() -> Self {
        Self { metric: None, n_queries: None, seed: 0 }
    }
}

impl MultiSurf {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("multisurf", false)?;
        Err(Error::argument("not there yet"))
    }
}
