//! ReliefF: k hits and k misses of each other class.

use super::{Columns, Scores};
use crate::error::{Error, Result};
use crate::evidence::neighbours::Metric;

/// ReliefF: k hits and k misses of each other class.
#[derive(Clone, Debug)]
pub struct ReliefF {
    /// Hits, and misses of each other class, that a row is compared with.
    pub n_neighbors: usize,
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

impl Default for ReliefF {
    fn default() -> Self {
        Self { n_neighbors: 10, metric: None, n_queries: None, seed: 0 }
    }
}

impl ReliefF {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("relieff", false)?;
        Err(Error::argument("not there yet"))
    }
}
