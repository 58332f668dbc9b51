//! KPLS: directions of largest covariance with the targets, one after the other.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// KPLS: directions of largest covariance with the targets, one after the other.
#[derive(Clone, Debug)]
pub struct Kpls {
    /// Number of features.
    pub n_components: usize,
}

impl Default for Kpls {
    fn default() -> Self {
        Self { n_components: 2 }
    }
}

impl Kpls {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.labels("kpls")?;
        Err(Error::argument("not there yet"))
    }
}
