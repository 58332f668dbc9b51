//! KMFA: near rows of one class together, near rows of different classes apart.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// KMFA: near rows of one class together, near rows of different classes apart.
#[derive(Clone, Debug)]
pub struct Kmfa {
    /// Number of features; None: at most 10.
    pub n_components: Option<usize>,
    /// Nearest hits of a row that are kept together.
    pub k_within: usize,
    /// Nearest pairs between a class and the rest that are kept apart.
    pub k_between: usize,
    /// Share of the mean scatter that is added to the diagonal.
    pub reg: f64,
}

impl Default for Kmfa {
    fn default() -> Self {
        Self { n_components: None, k_within: 5, k_between: 20, reg: 1e-3 }
    }
}

impl Kmfa {
    pub(super) fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.classes("kmfa")?;
        Err(Error::argument("not there yet"))
    }
}
