//! Ridge on a basis' coordinates as one expansion: predictions are features like any other.
//!
//!   f(x) = ȳ + Wᵀ(z(x) − z̄),   W the weights at the penalty with the smallest left-out error
//!
//! One output a class (of one-hot labels) or one for numbers, in their own unit.

use faer::{Mat, MatRef};

use super::expansion::Expansion;
use super::loo::{Tried, best_of};
use super::ridge::Ridge;
use super::ridge_near::{COMPARED, DECOMPOSED, RidgeNear};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, total, weight};
use crate::error::Result;
use crate::linalg::product;
use crate::monitor::Monitor;

/// Ridge on coordinates, as an expansion.
pub(crate) struct Predictions {
    /// Rows to outputs.
    pub(crate) expansion: Expansion,
    /// How left-out rows fared.
    pub(crate) tried: Tried,
    /// What is predicted for every row from all others, or for those asked for, in the unit of the labels.
    pub(crate) left_out: Mat<f64>,
}

/// Ridge on the coordinates z, which an expansion gives its rows. Where they are many the penalty is sought near this one, such as
/// that of fewer.
pub(crate) fn ridge_on(
    coordinates: &Expansion,
    z: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    near: Option<f64>,
    monitor: &Monitor,
) -> Result<Predictions> {
    let all: Vec<usize> = (0..z.n()).collect();
    ridge_leaving_out(coordinates, z, labels, weights, near, &all, monitor)
}

/// [`ridge_on`] that leaves out these rows alone, and has their error.
pub(crate) fn ridge_leaving_out(
    coordinates: &Expansion,
    z: &Rows,
    labels: &Labels,
    weights: Option<&Weights>,
    near: Option<f64>,
    asked: &[usize],
    monitor: &Monitor,
) -> Result<Predictions> {
    let (y, c, units) = labels.centered_by(weights);
    let y = MatRef::from_row_major_slice(&y, z.n(), c);
    let target = (&units[..], &labels.target_means(weights)[..]);
    if z.p() > DECOMPOSED
        && let Some(ridge) = RidgeNear::new(z, y, weights, near, COMPARED, monitor)?
    {
        let predicted = ridge.left_out(z, y, weights, asked, monitor)?;
        let (line, tried) = ((&ridge.means[..], ridge.slopes()), ridge.tried(predicted.error, 0.0));
        let mut found = Predictions::new(coordinates, line, target, tried, predicted.left_out);
        let weights = weights.map(|weights| weights.select(asked));
        found.tried.missed = missed(&found.left_out, &labels.select(asked), weights.as_ref());
        return Ok(found);
    }
    let ridge = Ridge::new(z, y, weights, monitor)?;
    let penalties = ridge.penalties();
    let (turned, z) = ridge.turned(z, monitor)?;
    let found = turned.left_out(&z, y, labels, &penalties, monitor)?;
    let mut tried = best_of(&ridge, &penalties, &found);
    let slopes = ridge.weights(tried.absolute);
    let all = turned.left_out_predictions(&z, y, tried.absolute, monitor)?;
    let left_out = Mat::from_fn(asked.len(), c, |at, j| all[(asked[at], j)]);
    if asked.len() < z.n() {
        let off = |at: usize, j: usize| (y[(asked[at], j)] - left_out[(at, j)]).powi(2);
        let count = |at: usize| weight(weights, asked[at]);
        let sum: f64 = (0..asked.len()).map(|at| count(at) * (0..c).map(|j| off(at, j)).sum::<f64>()).sum();
        tried.error = sum / ((0..asked.len()).map(count).sum::<f64>() * c as f64);
    }
    Ok(Predictions::new(coordinates, (&ridge.means, &slopes), target, tried, left_out))
}

/// The share of rows whose largest score is not that of their class; 0 for numbers.
pub(crate) fn missed(scores: &Mat<f64>, labels: &Labels, weights: Option<&Weights>) -> f64 {
    let Labels::Classes { codes, .. } = labels else { return 0.0 };
    let wrong = |&(i, &code): &(usize, &usize)| {
        (0..scores.ncols()).any(|j| j != code && scores[(i, j)] >= scores[(i, code)])
    };
    let sum: f64 = codes.iter().enumerate().filter(wrong).map(|(i, _)| weight(weights, i)).sum();
    sum / total(weights, codes.len())
}

impl Predictions {
    /// From the features' means and weights, the labels' units and means, and what is predicted, in these units, about the mean.
    fn new(
        coordinates: &Expansion,
        (means, slopes): (&[f64], &Mat<f64>),
        (units, y_means): (&[f64], &[f64]),
        tried: Tried,
        mut left_out: Mat<f64>,
    ) -> Self {
        let directions = Mat::from_fn(units.len(), slopes.nrows(), |j, d| units[j] * slopes[(d, j)]);
        for (j, column) in left_out.col_iter_mut().enumerate() {
            column.iter_mut().for_each(|v| *v = units[j] * *v + y_means[j]);
        }
        Self { expansion: coordinates.regression(directions.as_ref(), means, y_means), tried, left_out }
    }
}

impl Expansion {
    /// Makes unit·f + mean of every feature f.
    pub(crate) fn rescale(&mut self, units: &[f64], means: &[f64]) {
        for (i, (unit, mean)) in units.iter().zip(means).enumerate() {
            self.matrix.row_mut(i).iter_mut().for_each(|v| *v *= unit);
            self.offset[i] = self.offset[i] * unit - mean;
        }
    }

    /// Adds to every feature what belongs to it.
    pub(crate) fn shift(&mut self, by: &[f64]) {
        self.offset.iter_mut().zip(by).for_each(|(offset, by)| *offset -= by);
    }

    /// ȳ + W(z − z̄) of its coordinates z, for c×m weights W.
    pub(crate) fn regression(&self, weights: MatRef<f64>, z_mean: &[f64], y_mean: &[f64]) -> Self {
        let z_mean = Mat::from_fn(z_mean.len(), 1, |d, _| z_mean[d]);
        let at_mean = product(weights, z_mean.as_ref());
        let offset: Vec<f64> = y_mean.iter().enumerate().map(|(j, y)| at_mean[(j, 0)] - y).collect();
        self.composed(weights, &offset, &[])
    }
}
