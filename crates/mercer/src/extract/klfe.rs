//! KLFE: kernel local feature extraction, the directions in which misses are farther away than hits.
//!
//!   Σ = Σ_i (Σ_{j ∈ misses} ΔΔᵀ − Σ_{j ∈ hits} ΔΔᵀ),  Δ = z_i − z_j;  rows √σ_i a_iᵀ for the largest σ_i > 0
//!
//! cost    neighbours, then 4·n·k·m² flops and one m×m eigenproblem
//! source  klfe.txt; in 2.3 of its listing D means D^{−1/2} (eq. 58 is right)
//! differs more than two classes: misses come from all other classes. The features do not depend on which orthonormal
//!         basis of the span is used (Prop. 1)

use faer::Mat;

use super::{Coordinates, Directions};
use crate::error::{Error, Result};
use crate::evidence::margins::scatter;
use crate::evidence::neighbours::Neighbours;
use crate::linalg::{eigen, positive_signs, product};

/// Eigenvalues up to this share of the largest magnitude are rounding.
const RANK: f64 = 1e-12;

/// Kernel local feature extraction.
///
/// ```
/// use mercer::{Basis, Kernel, Klfe, data::{Labels, Task, synth}};
///
/// let table = synth::generate("ringnorm?n=200&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&table.rows)?;
/// let map = Klfe { n_components: Some(3), n_neighbors: 5 }.fit(&table.rows, &labels, basis)?;
/// assert_eq!(map.feature_names, ["klfe0", "klfe1", "klfe2"]);
/// assert!(map.eigenvalues[0] >= map.eigenvalues[1]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Klfe {
    /// Number of features; None: all with a positive eigenvalue.
    pub n_components: Option<usize>,
    /// Hits and misses that each row is compared with.
    pub n_neighbors: usize,
}

impl Default for Klfe {
    fn default() -> Self {
        Self { n_components: None, n_neighbors: 1 }
    }
}

impl Klfe {
    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        let labels = coordinates.labels("klfe")?;
        let (codes, _) = labels.require_classes("klfe")?;
        if self.n_neighbors == 0 {
            return Err(Error::argument("n_neighbors = 0, but at least 1 is needed"));
        }
        let monitor = coordinates.monitor;
        let kernel = coordinates.basis.expansion.kernel;
        let neighbours = Neighbours::find(kernel, coordinates.rows, codes, self.n_neighbors, monitor)?;
        let z = coordinates.features()?;
        let z = z.as_ref();
        let misses = scatter(z, &neighbours.misses, |_| 1.0, monitor)?;
        let sum = misses - scatter(z, &neighbours.hits, |_| 1.0, monitor)?;
        let (values, vectors) = eigen(sum, monitor)?;
        let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let positive = values.iter().take_while(|v| **v > RANK * largest).count();
        let q = self.n_components.unwrap_or(positive);
        if q > positive || q == 0 {
            return Err(Error::argument(format!(
                "n_components = {q}, but only {positive} directions separate the classes (positive eigenvalues); \
                 lower it or leave it out"
            )));
        }
        let directions = Mat::from_fn(vectors.nrows(), q, |i, j| vectors[(i, j)] * values[j].sqrt());
        let signs = positive_signs(product(z, directions.as_ref()).as_ref());
        let matrix = Mat::from_fn(q, z.ncols(), |i, j| directions[(j, i)] * signs[i]);
        let all: f64 = values[..positive].iter().sum();
        Ok(Directions {
            matrix,
            explained: values[..q].iter().map(|v| v / all).collect(),
            eigenvalues: values[..q].to_vec(),
            warnings: labels.lonely_warning(),
            ..Directions::default()
        })
    }
}
