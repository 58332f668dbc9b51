//! RReliefF: ReliefF for numbers.

use super::{Columns, Scores};
use crate::error::{Error, Result};
use crate::evidence::neighbours::Metric;

/// RReliefF: ReliefF for numbers.
#[derive(Clone, Debug)]
pub struct RReliefF {
    /// Neighbours that a row is compared with.
    pub n_neighbors: usize,
    /// How fast a neighbour's weight exp(−(rank/σ)²) falls with its rank.
    pub sigma: f64,
    /// The distance in the columns' own space; None: manhattan.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

impl Default for RReliefF {
    fn default() -> Self {
        Self { n_neighbors: 70, sigma: 20.0, metric: None, n_queries: None, seed: 0 }
    }
}

impl RReliefF {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("rrelieff", false)?;
        Err(Error::argument("not there yet"))
    }
}
