//! Weak classifiers: the least-squares line of each class' labels on one column.
//!
//!   fit of class g at z_j: share_g + slope_gj·(z_j − z̄_j),   slope_gj = Σ (z_j − z̄_j)(y_g − ȳ_g) / Σ (z_j − z̄_j)²
//!
//! differs from a column at hand the sums are in units of its largest number; from moments they are as they were added up, so
//!         columns whose squares vanish or overflow have no slope there. The two agree to rounding

use serde::{Deserialize, Serialize};

use super::EQUAL;
use crate::data::weights::{Weights, total, weight};
use crate::evidence::moments::Summary;

/// A column whose deviations are within so many roundings of its mean is constant.
const CONSTANT_ROUNDINGS: f64 = 8.0;

/// Fits that are compared at a time.
const SIDE_BY_SIDE: usize = 8;

/// The lines of every column, of all rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lines {
    /// The share of each class.
    pub(crate) share: Vec<f64>,
    /// One line a column.
    pub(crate) columns: Vec<Line>,
}

/// The line of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// What the column is divided by.
    pub(crate) unit: f64,
    /// The mean of the column so divided.
    pub(crate) mean: f64,
    /// The slope of each class; all 0 for a constant column, which votes for the mean.
    pub(crate) slope: Vec<f64>,
}

impl Lines {
    /// From the moments of the columns with one-hot classes as targets.
    pub(crate) fn of(moments: &Summary) -> Self {
        let (n, m, c) = (moments.n, moments.mean.len(), moments.target_mean.len());
        let column = |j: usize| {
            let (mean, square) = (moments.mean[j], moments.total[(j, j)]);
            let rounding = CONSTANT_ROUNDINGS * f64::EPSILON * mean.abs();
            let constant = square <= n * rounding * rounding;
            let slope = |class: usize| if constant { 0.0 } else { moments.cross[(j, class)] / square };
            Line { unit: 1.0, mean, slope: (0..c).map(slope).collect() }
        };
        Self {
            share: moments.sizes().iter().map(|size| size / n).collect(),
            columns: (0..m).map(column).collect(),
        }
    }
}

impl Line {
    /// From a column at hand and its rows' classes, of which there are c; and the column's deviations from its mean, divided
    /// by its unit.
    pub(super) fn fit(z: &[f64], codes: &[usize], c: usize, weights: Option<&Weights>) -> (Self, Vec<f64>) {
        let largest = z.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let counted = |(i, v): (usize, &f64)| weight(weights, i) * (v / unit);
        let mean = z.iter().enumerate().map(counted).sum::<f64>() / total(weights, z.len());
        let centred: Vec<f64> = z.iter().map(|v| v / unit - mean).collect();
        let square: f64 = centred.iter().enumerate().map(|(i, v)| weight(weights, i) * (v * v)).sum();
        let constant = z.iter().all(|v| *v == z[0]);
        let mut slope = vec![0.0; c];
        if !constant && square > 0.0 {
            for (i, (v, &class)) in centred.iter().zip(codes).enumerate() {
                slope[class] += weight(weights, i) * v / square;
            }
            // Σ v = 0 up to rounding, so Σ v(y − share) is Σ v·y.
        }
        (Self { unit, mean, slope }, centred)
    }

    /// The deviation of a number from the mean, divided by the unit.
    pub(super) fn centred(&self, z: f64) -> f64 {
        z / self.unit - self.mean
    }

    /// The class with the largest fit at this deviation. Of equal fits the lower class wins, of two classes the higher.
    pub(super) fn vote(&self, share: &[f64], v: f64) -> u16 {
        let (c, slope) = (share.len(), &self.slope);
        if c == 2 {
            // Labels ±1: the fit is the difference of the two, and 0 votes for the higher class.
            return u16::from(share[1] - share[0] + (slope[1] - slope[0]) * v >= -EQUAL);
        }
        let least = largest_fit(share, slope, v) - EQUAL;
        (0..c).position(|class| share[class] + slope[class] * v >= least).unwrap_or(0) as u16
    }
}

/// The largest share + slope·v, of several classes side by side.
fn largest_fit(share: &[f64], slope: &[f64], v: f64) -> f64 {
    let mut largest = [f64::NEG_INFINITY; SIDE_BY_SIDE];
    let (shares, last_shares) = share.as_chunks::<SIDE_BY_SIDE>();
    let (slopes, last_slopes) = slope.as_chunks::<SIDE_BY_SIDE>();
    for (share, slope) in shares.iter().zip(slopes) {
        for k in 0..SIDE_BY_SIDE {
            let fit = share[k] + slope[k] * v;
            largest[k] = if fit > largest[k] { fit } else { largest[k] };
        }
    }
    let last = last_shares.iter().zip(last_slopes).map(|(share, slope)| share + slope * v);
    last.chain(largest).fold(f64::NEG_INFINITY, f64::max)
}
