//! KLFE: kernel local feature extraction, the directions in which misses are farther away than hits.
//!
//!   Σ = Σ_i (Σ_{j ∈ misses} ΔΔᵀ − Σ_{j ∈ hits} ΔΔᵀ),  Δ = z_i − z_j;  rows √σ_i a_iᵀ for the largest σ_i > 0
//!
//! cost    neighbours, then n·m² flops and one m×m eigenproblem; the features of all rows are kept, n·m numbers, unless
//!         they do not fit into memory or few rows stand for all (`Queries`): then those of neighbours are recomputed
//! source  KLFE; in 2.3 of its listing D means D^{−1/2} (eq. 58 is right)
//! differs more than two classes: misses come from all other classes. Neighbours are those of the kernel's space. The
//!         features do not depend on which orthonormal basis of the span is used (Prop. 1)

use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, Sizes, at_least_one};
use super::{Coordinates, Directions, Extract, fit_methods, margin};
use crate::basis::{Basis, Method};
use crate::error::Result;
use crate::evidence::parameters::{N_QUERIES, NEIGHBORS};
use crate::spec::{FromValues, MethodSpec, N_NEIGHBORS, SEED, Stage, Values};

/// Kernel local feature extraction.
///
/// ```
/// use mercer::{Basis, Kernel, Klfe, Labels, Rows};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Klfe { n_components: None, n_neighbors: 1 }.fit(&rows, &labels, basis)?;
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

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "klfe",
    stage: Stage::Extract,
    file: "extract/klfe.rs",
    source: "KLFE",
    cost: "n² distances, n·m² flops, m³",
    parameters: &[
        BASIS.none("kpca; beyond 5000 rows rpcholesky"),
        N_COMPONENTS.none("all with a positive eigenvalue"),
        BASIS_COMPONENTS,
        N_NEIGHBORS.default("5"),
        NEIGHBORS,
        N_QUERIES,
        SEED,
    ],
    help: "kernel local feature extraction: the nearest rows of other classes farther away than those of the own",
};

impl FromValues for Klfe {
    fn from_values(values: &Values) -> Self {
        Self {
            n_components: values.count("n_components"),
            n_neighbors: values.count("n_neighbors").unwrap_or(1),
        }
    }
}

impl Default for Klfe {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Klfe {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_components", self.n_components), ("n_neighbors", Some(self.n_neighbors))])
    }

    fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Method {
        Method::Kpca.up_to_many_rows(n, SPEC.name, warnings)
    }

    fn default_settings(&self, basis: Basis) -> Basis {
        basis
    }

    fn keeps_coordinates(&self) -> bool {
        true
    }

    fn sizes(&self) -> Sizes {
        Sizes::AllAtOnce
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        Some(Self { n_components: Some(q), ..self.clone() }.into())
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        margin::solve(coordinates, "klfe", self.n_neighbors, false)?.directions(self.n_components, f64::sqrt)
    }
}

fit_methods!(Klfe);
