//! KOC: an orthonormal basis of the class centroids.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// KOC: kernel orthogonal centroids.
#[derive(Clone, Debug, Default)]
pub struct Koc;

impl Koc {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.labels("koc")?;
        Err(Error::argument("not there yet"))
    }
}
