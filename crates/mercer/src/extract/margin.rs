//! What misses differ by less what hits differ by, added up over the rows: the problem of `klfe` and `kanmm`.
//!
//!   Σ = Σ_i (Σ_{j ∈ misses} ω ΔΔᵀ − Σ_{j ∈ hits} ω ΔΔᵀ),  Δ = z_i − z_j;   ω = 1, or one over the number of neighbours
//!
//! Neighbours are those of a kernel's space, not of the basis' coordinates.
//!
//! differs neighbours of float32 rows are sought in a float64 copy of the rows, n·p numbers

use faer::Mat;

use super::coordinates::Comparison;
use super::{Coordinates, Directions, RANK, as_rows, count, shares, turn};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::eigen;
use crate::random;

/// The positive eigenvalues of Σ, descending, with their vectors (columns).
pub(super) struct Margin<'a> {
    coordinates: &'a Coordinates<'a>,
    values: Vec<f64>,
    vectors: Mat<f64>,
    warnings: Vec<String>,
}

/// Solves for k hits and k misses a row, the nearest in the space of `kernel`; `mean`: each row counts once, however many neighbours it has. Where some rows stand for
/// all, so does their Σ.
pub(super) fn solve<'a>(
    coordinates: &'a Coordinates<'a>,
    method: &str,
    kernel: Kernel,
    k: usize,
    mean: bool,
) -> Result<Margin<'a>> {
    coordinates.classes(method)?;
    let monitor = coordinates.monitor;
    let (n, wanted) = (coordinates.n, coordinates.queries);
    let queries = random::sample(n, wanted.n_queries.unwrap_or(n), wanted.seed);
    let search = wanted.neighbors;
    let every = wanted.n_queries.is_none();
    let weights = coordinates.weights;
    let comparison = Comparison { method, every, queries: &queries, kernel, k, search, mean, n, weights };
    let (margin, note) = coordinates.margin(&comparison)?;
    if (0..margin.ncols()).any(|i| !margin[(i, i)].is_finite()) {
        return Err(Error::Numerical(format!(
            "`{method}`: squares of the features are too large to be added up\nhint: scale the columns first"
        )));
    }
    monitor.begin("solving for directions", 0);
    let (mut values, mut vectors) = eigen(margin, monitor)?;
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let positive =
        values.iter().take_while(|v| **v > coordinates.precision().tolerance(RANK) * largest).count();
    if positive == 0 {
        return Err(Error::data(format!(
            "`{method}`: in no direction are the nearest misses farther away than the nearest hits\n\
             hint: try another kernel width (gamma), fewer neighbours, or another extractor"
        )));
    }
    values.truncate(positive);
    vectors.resize_with(vectors.nrows(), positive, |_, _| 0.0);
    let mut warnings = coordinates.target(method)?.lonely_warning();
    warnings.extend(note);
    Ok(Margin { coordinates, values, vectors, warnings })
}

impl Margin<'_> {
    /// The best directions, as long as `length` makes them of their eigenvalues.
    pub(super) fn directions(self, wanted: Option<usize>, length: fn(f64) -> f64) -> Result<Directions> {
        let most = self.values.len();
        let why = "in other directions misses are not farther away than hits (no positive eigenvalue)";
        let q = count(wanted, most, most, why)?;
        let mut matrix = as_rows(self.vectors.as_ref(), q);
        let lengths: Vec<f64> = self.values[..q].iter().map(|v| length(*v)).collect();
        turn(&mut matrix, &lengths);
        Ok(Directions {
            explained: shares(&self.values, q),
            eigenvalues: self.values[..q].to_vec(),
            warnings: self.warnings,
            ..self.coordinates.oriented(matrix, Vec::new())?
        })
    }
}
