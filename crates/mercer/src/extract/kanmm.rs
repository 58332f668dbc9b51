//! KANMM: the average miss far away, the average hit near.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// KANMM: the average miss far away, the average hit near.
#[derive(Clone, Debug)]
pub struct Kanmm {
    /// Number of features; None: all with a positive eigenvalue.
    pub n_components: Option<usize>,
    /// Hits and misses that each row is compared with.
    pub n_neighbors: usize,
}

impl Default for Kanmm {
    fn default() -> Self {
        Self { n_components: None, n_neighbors: 5 }
    }
}

impl Kanmm {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.labels("kanmm")?;
        Err(Error::argument("not there yet"))
    }
}
