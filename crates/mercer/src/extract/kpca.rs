//! KPCA: directions in which the rows vary most.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// KPCA: directions in which the rows vary most.
#[derive(Clone, Debug)]
pub struct Kpca {
    /// Number of features; None: all.
    pub n_components: Option<usize>,
    /// Whether the mean is subtracted first.
    pub center: bool,
}

impl Default for Kpca {
    fn default() -> Self {
        Self { n_components: None, center: true }
    }
}

impl Kpca {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.labels("kpca")?;
        Err(Error::argument("not there yet"))
    }
}
