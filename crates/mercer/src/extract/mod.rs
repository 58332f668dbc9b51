//! Stage 5b: make columns. Directions in the basis' coordinates that serve the labels.

pub mod klfe;

use faer::Mat;

pub use klfe::Klfe;

/// What an extractor finds: q directions in m coordinates, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions {
    /// q×m.
    pub matrix: Mat<f64>,
    /// One a direction, descending.
    pub eigenvalues: Vec<f64>,
}
