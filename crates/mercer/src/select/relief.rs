//! Relief: columns in which misses are farther away than hits.

use super::{Columns, Scores};
use crate::error::{Error, Result};
use crate::evidence::neighbours::Metric;

/// Relief: columns in which misses are farther away than hits.
#[derive(Clone, Debug)]
pub struct Relief {
    /// Hits and misses that each row is compared with.
    pub n_neighbors: usize,
    /// 1: differences; 2: their squares.
    pub power: u32,
    /// The distance in the columns' own space; None: euclidean.
    pub metric: Option<Metric>,
    /// Rows that are compared with their neighbours, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

impl Default for Relief {
    fn default() -> Self {
        Self { n_neighbors: 1, power: 1, metric: None, n_queries: None, seed: 0 }
    }
}

impl Relief {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("relief", false)?;
        Err(Error::argument("not there yet"))
    }
}
