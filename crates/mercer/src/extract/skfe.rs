//! SKFE: the subspace whose kernel is best aligned with the labels.

use super::{Coordinates, Directions};
use crate::error::{Error, Result};

/// Where SKFE's search starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the class centroids.
    #[default]
    Koc,
    /// At the discriminant directions.
    Gda,
    /// At the directions of largest covariance.
    Kpls,
    /// Anywhere.
    Random,
}

/// SKFE: the subspace whose kernel is best aligned with the labels.
#[derive(Clone, Debug)]
pub struct Skfe {
    /// Number of features; None: one a class.
    pub n_components: Option<usize>,
    /// Where the search starts.
    pub init: Start,
    /// The most steps.
    pub max_iter: usize,
    /// The gradient, relative to the first, at which the search ends.
    pub tol: f64,
    /// Whether alignment is that of centred kernels.
    pub center: bool,
    /// Seed of a random start.
    pub seed: u64,
}

impl Default for Skfe {
    fn default() -> Self {
        Self { n_components: None, init: Start::Koc, max_iter: 200, tol: 1e-6, center: false, seed: 0 }
    }
}

impl Skfe {
    pub(super) fn check(&self) -> Result<()> {
        Ok(())
    }

    pub(super) fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.classes("skfe")?;
        Err(Error::argument("not there yet"))
    }
}
