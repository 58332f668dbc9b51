//! Sample weights: what each row counts.
//!
//! A row with the weight 2 counts as if it were there twice, one with the weight 0 as if it were not there.

use std::ops::Deref;
use std::sync::Arc;

use super::labels::Labels;
use crate::error::{Error, Result};

/// One weight a row, at least 0.
///
/// ```
/// use mercer::{Labels, data::Weights};
///
/// let weights = Weights::new(vec![1.0, 0.5, 2.0])?;
/// assert_eq!((weights.total(), weights.select(&[2]).total()), (3.5, 2.0));
/// assert!(Weights::new(vec![1.0, -1.0]).unwrap_err().to_string().contains("row 2"));
///
/// // Every class counts the same.
/// let balanced = Weights::balanced(&Labels::classes(&["a", "b", "b", "b"]))?;
/// assert_eq!(balanced[..2], [2.0, 2.0 / 3.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Weights(Arc<[f64]>);

impl Deref for Weights {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl Weights {
    /// Weights of rows, in their order. An error unless they are finite, none is negative and one is above 0.
    pub fn new(weights: Vec<f64>) -> Result<Self> {
        if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::data(format!(
                "the weight of row {} is {}, but weights must be finite numbers of at least 0",
                row + 1,
                weights[row]
            )));
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Err(Error::data("all weights are 0, so no row counts"));
        }
        Ok(Self(weights.into()))
    }

    /// n/(c·n_g) for a row of class g: every class counts the same, and all rows together n. For c classes that have rows.
    pub fn balanced(labels: &Labels) -> Result<Self> {
        let (codes, c) = labels.require_classes("class_weight = balanced")?;
        let mut sizes = vec![0.0; c];
        codes.iter().for_each(|&g| sizes[g] += 1.0);
        let classes = sizes.iter().filter(|size| **size > 0.0).count() as f64;
        Self::new(codes.iter().map(|&g| codes.len() as f64 / (classes * sizes[g])).collect())
    }

    /// What all rows count together.
    pub fn total(&self) -> f64 {
        self.iter().sum()
    }

    /// So many rows that all count the same tell as much: (Σw)²/Σw².
    pub(crate) fn effective_rows(&self) -> f64 {
        self.total().powi(2) / self.0.iter().map(|w| w * w).sum::<f64>()
    }

    /// The weights of the rows with these indices.
    pub fn select(&self, indices: &[usize]) -> Self {
        Self(indices.iter().map(|&i| self[i]).collect())
    }

    /// These weights times others.
    pub fn times(&self, others: &Self) -> Result<Self> {
        Self::new(self.iter().zip(&**others).map(|(a, b)| a * b).collect())
    }

    /// The rows that count; None if all do.
    pub fn present(&self) -> Option<Vec<usize>> {
        self.contains(&0.0).then(|| (0..self.len()).filter(|&i| self[i] > 0.0).collect())
    }

    /// An error unless there is a weight for each of n rows.
    pub(crate) fn check(&self, n: usize) -> Result<()> {
        if self.len() == n {
            return Ok(());
        }
        Err(Error::data(format!("{n} rows, but {} weights", self.len())))
    }
}

/// What a row counts: its weight, or 1 where there are no weights.
pub(crate) fn weight(weights: Option<&Weights>, i: usize) -> f64 {
    weights.map_or(1.0, |weights| weights[i])
}

/// What n rows count together.
pub(crate) fn total(weights: Option<&Weights>, n: usize) -> f64 {
    weights.map_or(n as f64, Weights::total)
}

/// An error, naming the method, where weights were given for a method that has no use for them.
pub(crate) fn refuse(weights: Option<&Weights>, method: &str, instead: &str) -> Result<()> {
    match weights {
        None => Ok(()),
        Some(_) => Err(Error::argument(format!("`{method}` takes no sample weights\nhint: {instead}"))),
    }
}
