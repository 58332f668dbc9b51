//! KANMM: kernel average neighbourhood margin maximisation, the average miss far away and the average hit near.
//!
//!   Σ_i (mean_{j ∈ misses} ΔΔᵀ − mean_{j ∈ hits} ΔΔᵀ) v = λ v,  Δ = z_i − z_j;   ‖v‖ = 1, λ > 0, features vᵀz
//!
//! cost    neighbours, then n·m² flops and one m×m eigenproblem; the features of all rows are kept, n·m numbers
//! source  Wang & Zhang 2007
//! differs the k nearest misses and the k nearest hits, not all rows within a radius; neighbours are those of the kernel's
//!         space. A row without a hit counts with its misses only

use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, Sizes, at_least_one};
use super::{Coordinates, Directions, Extract, fit_methods, margin};
use crate::error::Result;
use crate::evidence::parameters::{N_QUERIES, NEIGHBORS};
use crate::spec::{FromValues, MethodSpec, N_NEIGHBORS, SEED, Stage, Values};

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

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kanmm",
    stage: Stage::Extract,
    file: "extract/kanmm.rs",
    source: "Wang & Zhang 2007",
    cost: "n² distances, n·m² flops, m³",
    parameters: &[
        BASIS.none("kfa, sized by the leave-one-out error; beyond 5000 rows rpcholesky"),
        N_COMPONENTS.none("all with a positive eigenvalue"),
        BASIS_COMPONENTS,
        N_NEIGHBORS.default("10"),
        NEIGHBORS,
        N_QUERIES,
        SEED,
    ],
    help: "kernel average neighbourhood margin maximisation: near rows of other classes far, those of the own near",
};

impl FromValues for Kanmm {
    fn from_values(values: &Values) -> Self {
        Self {
            n_components: values.count("n_components"),
            n_neighbors: values.count("n_neighbors").unwrap_or(1),
        }
    }
}

impl Default for Kanmm {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Kanmm {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_components", self.n_components), ("n_neighbors", Some(self.n_neighbors))])
    }

    fn keeps_coordinates(&self) -> bool {
        true
    }

    fn sizes(&self) -> Sizes {
        Sizes::AllAtOnce
    }

    fn wanted(&self) -> usize {
        self.n_components.unwrap_or(0)
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        Some(Self { n_components: Some(q), ..self.clone() }.into())
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        margin::solve(coordinates, "kanmm", coordinates.basis.expansion.kernel, self.n_neighbors, true)?
            .directions(self.n_components, |_| 1.0)
    }
}

fit_methods!(Kanmm);
