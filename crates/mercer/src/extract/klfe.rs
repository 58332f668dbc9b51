//! KLFE: kernel local feature extraction, the directions in which misses are farther away than hits.
//!
//!   Σ = Σ_i (Σ_{j ∈ misses} ΔΔᵀ − Σ_{j ∈ hits} ΔΔᵀ),  Δ = z_i − z_j;  rows √σ_i a_iᵀ for the largest σ_i > 0
//!
//! cost    neighbours, then n·m² flops and one m×m eigenproblem; the features of all rows are kept, n·m numbers, unless
//!         they do not fit into memory or few rows stand for all (`Limits`): then those of neighbours are made again
//! source  klfe.txt; in 2.3 of its listing D means D^{−1/2} (eq. 58 is right)
//! differs more than two classes: misses come from all other classes. Neighbours are those of the kernel's space. The
//!         features do not depend on which orthonormal basis of the span is used (Prop. 1)

use super::{Coordinates, Directions, margin};
use crate::error::Result;

/// Kernel local feature extraction.
///
/// ```
/// use mercer::{Basis, Kernel, Klfe, Labels, Rows};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Klfe::default().fit(&rows, &labels, basis)?;
/// assert!((map.eigenvalues[0] - 46.0).abs() < 1e-12); // 16 + 9 + 9 + 16 for misses, 4 less for hits
/// assert!((map.transform(&rows)?[(3, 0)] - 5.0 * 46f64.sqrt()).abs() < 1e-12);
/// assert_eq!(map.feature_names, ["klfe0"]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Klfe {
    /// Number of features; None: all with a positive eigenvalue.
    pub n_components: Option<usize>,
    /// Hits and misses that each row is compared with; where there are fewer, those.
    pub n_neighbors: usize,
}

impl Default for Klfe {
    fn default() -> Self {
        Self { n_components: None, n_neighbors: 1 }
    }
}

impl Klfe {
    pub(super) fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        margin::solve(coordinates, "klfe", self.n_neighbors, false)?.directions(self.n_components, f64::sqrt)
    }
}
