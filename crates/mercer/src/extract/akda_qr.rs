//! AKDA/QR: discriminant analysis among the images of the class means.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// AKDA/QR: discriminant analysis among the images of the class means.
#[derive(Clone, Debug)]
pub struct AkdaQr {
    /// Share of the mean scatter that is added to the diagonal.
    pub reg: f64,
}

impl Default for AkdaQr {
    fn default() -> Self {
        Self { reg: 1e-3 }
    }
}

impl AkdaQr {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.labels("akda-qr")?;
        Err(Error::argument("not there yet"))
    }
}
