//! I-Relief: Relief with neighbours as hidden variables.

use super::{Columns, Scores};
use crate::error::{Error, Result};

/// I-Relief: Relief with neighbours as hidden variables.
#[derive(Clone, Debug)]
pub struct IRelief {
    /// Width of the kernel exp(−d/width); None: the median distance.
    pub width: Option<f64>,
    /// Rows that are compared with all others, drawn at random; None: all.
    pub n_queries: Option<usize>,
    /// Seed of that draw.
    pub seed: u64,
}

impl Default for IRelief {
    fn default() -> Self {
        Self { width: None, n_queries: None, seed: 0 }
    }
}

impl IRelief {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("irelief", false)?;
        Err(Error::argument("not there yet"))
    }
}
