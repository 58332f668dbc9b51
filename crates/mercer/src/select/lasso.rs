//! LASSO: columns with a coefficient in L1-penalised least squares.

use super::{Columns, Scores};
use crate::error::{Error, Result};

/// LASSO: columns with a coefficient in L1-penalised least squares.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// Folds that choose the penalty.
    pub cv: usize,
    /// Whether columns are chosen by how often they are, over random halves of the rows (stability selection).
    pub randomized: bool,
    /// Random halves.
    pub n_resamples: usize,
    /// Share of them that must choose a column for it to be kept.
    pub threshold: f64,
    /// Seed of folds, halves and scales.
    pub seed: u64,
}

impl Default for Lasso {
    fn default() -> Self {
        Self { cv: 5, randomized: false, n_resamples: 100, threshold: 0.6, seed: 0 }
    }
}

impl Lasso {
    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("lasso", false)?;
        Err(Error::argument("not there yet"))
    }
}
