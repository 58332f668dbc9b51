//! KANMM: kernel average neighbourhood margin maximisation, the average miss far away and the average hit near.
//!
//!   Σ_i (mean_{j ∈ misses} ΔΔᵀ − mean_{j ∈ hits} ΔΔᵀ) v = λ v,  Δ = z_i − z_j;   ‖v‖ = 1, λ > 0, features vᵀz
//!
//! cost    neighbours, then 2·n·k·m² flops and one m×m eigenproblem; the features of all rows are kept, n·m numbers
//! source  Wang & Zhang 2007
//! differs the k nearest misses and the k nearest hits, not all rows within a radius; neighbours are those of the kernel's
//!         space. A row without a hit counts with its misses only

use super::{Coordinates, Directions, margin};
use crate::error::Result;

/// Kernel average neighbourhood margin maximisation.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::Kanmm};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Kanmm { n_neighbors: 2, n_components: None }.fit(&rows, &labels, basis)?;
/// // Misses: (16 + 25)/2, (9 + 16)/2, and the same again; hits: 1 for each row.
/// assert!((map.eigenvalues[0] - (41.0 + 25.0 - 4.0)).abs() < 1e-12);
/// assert!((map.transform(&rows)?[(3, 0)] - 5.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kanmm {
    /// Number of features; None: all with a positive eigenvalue.
    pub n_components: Option<usize>,
    /// Hits and misses that each row is compared with; where there are fewer, those.
    pub n_neighbors: usize,
}

impl Default for Kanmm {
    fn default() -> Self {
        Self { n_components: None, n_neighbors: 5 }
    }
}

impl Kanmm {
    pub(super) fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        margin::solve(coordinates, "kanmm", self.n_neighbors, true)?.directions(self.n_components, |_| 1.0)
    }
}
