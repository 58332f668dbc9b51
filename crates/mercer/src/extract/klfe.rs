//! KLFE: kernel local feature extraction, the directions in which misses are farther away than hits.
//!
//!   Σ = Σ_i (Σ_{j ∈ misses} ΔΔᵀ − Σ_{j ∈ hits} ΔΔᵀ),  Δ = z_i − z_j;  rows √σ_i a_iᵀ for the largest σ_i > 0
//!
//! cost    neighbours, then n·m² flops and one m×m eigenproblem; the features of all rows are kept, n·m numbers, unless
//!         they do not fit into memory or few rows stand for all (`Queries`): then those of neighbours are recomputed
//! source  KLFE; in 2.3 of its listing D means D^{−1/2} (eq. 58 is right)
//! differs more than two classes: misses come from all other classes. Neighbours are those of the kernel's space; `metric`
//!         finds them in the input space, by the L1 distance of eq. 5 or by the L2 distance. The features do not depend on
//!         which orthonormal basis of the span is used (Prop. 1)

use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, Sizes, at_least_one};
use super::{Coordinates, Directions, Extract, fit_methods, margin};
use crate::basis::{Basis, Method};
use crate::error::{Error, Result};
use crate::evidence::parameters::{N_QUERIES, NEIGHBORS};
use crate::kernel::{Kernel, Shape};
use crate::spec::{FromValues, Kind, MethodSpec, N_NEIGHBORS, Parameter, SEED, Stage, Values};

/// The distance by which neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KlfeMetric {
    /// That of the kernel's space.
    #[default]
    Kernel,
    /// Σ|x_j − x'_j| of the rows.
    L1,
    /// ‖x − x'‖₂ of the rows.
    L2,
}

impl KlfeMetric {
    /// All choices by name.
    pub const NAMES: [&'static str; 3] = ["kernel", "l1", "l2"];

    /// The choice with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Kernel, Self::L1, Self::L2].into_iter().find(|metric| metric.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::L1 => "l1",
            Self::L2 => "l2",
        }
    }

    /// A kernel in whose space neighbours are those of this distance.
    fn space(self, kernel: Kernel) -> Kernel {
        match self {
            Self::Kernel => kernel,
            Self::L1 => Kernel { shape: Shape::Laplacian, gamma: 1.0 },
            Self::L2 => Kernel::linear(),
        }
    }
}

/// Kernel local feature extraction.
///
/// ```
/// use mercer::{Basis, Kernel, Klfe, Labels, Rows};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Klfe { n_neighbors: 1, ..Klfe::default() }.fit(&rows, &labels, basis)?;
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
    /// The distance by which these are the nearest.
    pub metric: KlfeMetric,
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
        Parameter::new(
            "metric",
            Kind::Choice(&KlfeMetric::NAMES),
            "distance by which neighbours are found: the kernel's, or the L1 or L2 distance of the rows",
        )
        .default("kernel"),
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
            metric: values.text("metric").and_then(KlfeMetric::named).unwrap_or_default(),
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

    fn basis_settings(&self, settings: Basis) -> Result<Basis> {
        self.check_kernel(settings.shape).map(|()| settings)
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
        let kernel = coordinates.basis.expansion.kernel;
        self.check_kernel(kernel.shape)?;
        let space = self.metric.space(kernel);
        margin::solve(coordinates, "klfe", space, self.n_neighbors, false)?
            .directions(self.n_components, f64::sqrt)
    }
}

impl Klfe {
    /// An error if neighbours are sought among rows that a precomputed kernel does not know.
    fn check_kernel(&self, shape: Shape) -> Result<()> {
        if self.metric == KlfeMetric::Kernel || shape != Shape::Precomputed {
            return Ok(());
        }
        Err(Error::argument(format!(
            "metric = {} is a distance of rows, which a precomputed kernel does not know\n\
             hint: use metric = kernel, or give rows and a kernel",
            self.metric.name()
        )))
    }
}

fit_methods!(Klfe);
