//! A smaller basis that predicts the labels as well: the first components that the left-out error asks for.
//!
//!   sizes m, m/√2, m/2, …, 10        the smallest whose left-out error is within 0.1 % of the least
//!
//! cost    twice that of leave-one-out with all m components, about 6·n·m² flops
//! differs of sizes that miss about as many rows (half a standard error) the smallest squared error decides

use super::UNCAPPED_ROWS;
use super::expansion::Landmarks;
use super::fitted::{FittedBasis, Stop};
use super::loo::{best_penalty, enough};
use super::relevant;
use super::settings::Basis;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::Weights;
use crate::error::Result;
use crate::monitor::Monitor;
use faer::Mat;

/// A size whose error is within this factor of the smallest is as good.
const AS_GOOD: f64 = 1.001;

/// The smallest size that is tried.
const LEAST: usize = 10;

impl Basis {
    /// Whether a basis of n rows with such labels is to be made smaller.
    pub(super) fn shrinks(&self, n: usize, labels: Option<&Labels>) -> bool {
        self.shrink.is_some()
            && self.n_components.is_none()
            && self.landmarks.is_none()
            && self.method.is_pivoted()
            && self.method.is_nested()
            && n <= UNCAPPED_ROWS
            && labels.is_some_and(|labels| labels.require_two("loo").is_ok())
    }
}

/// The first components that are enough for the labels, with the rows' coordinates in them.
pub(super) fn shrink(
    basis: FittedBasis,
    coordinates: &Rows,
    fewest: usize,
    labels: &Labels,
    weights: Option<&Weights>,
    monitor: &Monitor,
) -> Result<(FittedBasis, Rows<'static>)> {
    let (n, m) = (coordinates.n(), basis.n_components());
    let z = coordinates.to_dense();
    let first = |size: usize| Rows::dense(first_columns(&z, m, size), n, size);
    let halves = (0..).map(|half| (m as f64 / 2f64.powf(f64::from(half) / 2.0)).round() as usize);
    let mut sizes: Vec<usize> =
        halves.take_while(|size| *size >= fewest.max(LEAST).min(m)).take(40).collect();
    sizes.dedup();
    let mut tried = Vec::with_capacity(sizes.len());
    for &size in sizes.iter().rev() {
        monitor.check()?;
        tried.push(best_penalty(&first(size)?, labels, weights, monitor)?);
    }
    let Some(size) = enough(&tried, AS_GOOD, n).map(|tried| tried.size).filter(|size| *size < m) else {
        return Ok((basis, in_precision_of(coordinates, z, m)?));
    };
    Ok((first_components(basis, &z, size), in_precision_of(coordinates, first_columns(&z, m, size), size)?))
}

/// The first components that are relevant for the labels, with the rows' coordinates in them.
pub(super) fn keep_relevant(
    basis: FittedBasis,
    coordinates: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    monitor: &Monitor,
) -> Result<(FittedBasis, Rows<'static>)> {
    let (m, z) = (basis.n_components(), coordinates.to_dense());
    let size = relevant::of_coordinates(coordinates, labels, weights, monitor)?;
    let first = in_precision_of(coordinates, first_columns(&z, m, size), size)?;
    Ok((first_components(basis, &z, size), first))
}

/// The first columns of a row-major matrix of m.
fn first_columns(z: &[f64], m: usize, size: usize) -> Vec<f64> {
    z.chunks_exact(m).flat_map(|row| row[..size].iter().copied()).collect()
}

/// Coordinates in the precision that the basis' own are in.
fn in_precision_of(coordinates: &Rows, z: Vec<f64>, size: usize) -> Result<Rows<'static>> {
    let n = coordinates.n();
    match coordinates {
        Rows::DenseF32(_) => Rows::dense_f32(z.into_iter().map(|v| v as f32).collect::<Vec<_>>(), n, size),
        _ => Rows::dense(z, n, size),
    }
}

/// The basis of the first components alone; z are the rows' coordinates in all of them, row by row.
fn first_components(mut basis: FittedBasis, z: &[f64], size: usize) -> FittedBasis {
    let m = basis.n_components();
    let left_out: f64 = z.chunks_exact(m).flat_map(|row| &row[size..]).map(|v| v * v).sum();
    basis.residual += if basis.trace > 0.0 { left_out / basis.trace } else { 0.0 };
    let expansion = &mut basis.expansion;
    let matrix = &expansion.matrix;
    // Row j of A is about the first j landmarks alone, but for components, which are about all.
    let landmarks = if basis.eigenvalues.is_some() { matrix.ncols() } else { size };
    expansion.matrix = Mat::from_fn(size, landmarks, |i, j| matrix[(i, j)]);
    expansion.offset.truncate(size);
    if basis.eigenvalues.is_none() {
        match &mut expansion.landmarks {
            Landmarks::Rows(rows) => *rows = rows.select(&(0..size).collect::<Vec<_>>()),
            Landmarks::Columns { indices, .. } => indices.truncate(size),
        }
        basis.pivots.truncate(size);
        basis.pivot_norms.truncate(size);
    }
    basis.eigenvalues.iter_mut().for_each(|values| values.truncate(size));
    basis.stop = Stop::Rule;
    basis
}
