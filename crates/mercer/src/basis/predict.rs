//! Ridge on a basis' coordinates as one expansion: predictions are features like any other.
//!
//!   f(x) = ȳ + Wᵀ(z(x) − z̄),   W the weights at the penalty with the smallest left-out error
//!
//! One output a class (of one-hot labels) or one for numbers, in their own unit.

use faer::{Mat, MatRef};

use super::expansion::Expansion;
use super::fitted::FittedBasis;
use super::loo::{Tried, best_of};
use super::ridge::Ridge;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::linalg::product;
use crate::monitor::Monitor;

/// Ridge on coordinates, as an expansion.
pub(crate) struct Predictions {
    /// Rows to outputs.
    pub(crate) expansion: Expansion,
    /// How left-out rows fared.
    pub(crate) tried: Tried,
    /// What is predicted for every row from all others, n×c, in the unit of the labels.
    pub(crate) left_out: Mat<f64>,
}

/// Ridge on the coordinates z, which a basis gives its rows.
pub(crate) fn ridge_on(
    basis: &FittedBasis,
    z: &Rows,
    labels: &Labels,
    monitor: &Monitor,
) -> Result<Predictions> {
    let (y, c, unit) = labels.centered();
    let y = MatRef::from_row_major_slice(&y, z.n(), c);
    let ridge = Ridge::new(z, y, monitor)?;
    let penalties = ridge.penalties();
    let found = ridge.left_out(z, y, labels, &penalties, monitor)?;
    let tried = best_of(&ridge, &penalties, &found);
    let weights = ridge.weights(tried.absolute);
    let means = target_means(labels, c);
    let directions = Mat::from_fn(c, weights.nrows(), |j, d| unit * weights[(d, j)]);
    let about = Mat::from_fn(ridge.means.len(), 1, |d, _| ridge.means[d]);
    let own = product(directions.as_ref(), about.as_ref());
    let offset: Vec<f64> = (0..c).map(|j| own[(j, 0)] - means[j]).collect();
    let mut left_out = ridge.left_out_predictions(z, y, tried.absolute, monitor)?;
    for (j, column) in left_out.col_iter_mut().enumerate() {
        column.iter_mut().for_each(|v| *v = unit * *v + means[j]);
    }
    Ok(Predictions {
        expansion: basis.expansion.composed(directions.as_ref(), &offset, &[]),
        tried,
        left_out,
    })
}

/// The mean of every target column.
fn target_means(labels: &Labels, c: usize) -> Vec<f64> {
    let n = labels.len();
    (0..c).map(|j| (0..n).map(|i| labels.target(i, j) / n as f64).sum()).collect()
}
