//! GDA: directions in which the class means are far apart for how much the rows scatter.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// GDA: directions in which the class means are far apart for how much the rows scatter.
#[derive(Clone, Debug)]
pub struct Gda {
    /// Number of features; None: one less than there are classes.
    pub n_components: Option<usize>,
    /// Share of the mean scatter that is added to the diagonal.
    pub reg: f64,
}

impl Default for Gda {
    fn default() -> Self {
        Self { n_components: None, reg: 1e-3 }
    }
}

impl Gda {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.labels("gda")?;
        Err(Error::argument("not there yet"))
    }
}
