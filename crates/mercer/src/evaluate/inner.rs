//! The weight of the errors, chosen by folds of the training rows.

use rayon::prelude::*;

use super::folds::folds;
use super::measures::{Measure, Predictions};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;

/// Folds of the training rows.
pub(super) const FOLDS: usize = 3;

/// Where there are too few rows to choose by.
const USUAL: f64 = 1.0;

/// A weight, and what a user should know about how it was chosen.
pub(super) struct Chosen {
    pub(super) c: f64,
    pub(super) warnings: Vec<String>,
}

/// Of the weights, ascending, the one whose predictions of held-out rows are best; of equal ones the smallest.
/// `predictions` learns from the first rows and predicts the last, once for each weight.
pub(super) fn choose(
    rows: &Rows,
    labels: &Labels,
    weights: &[f64],
    seed: u64,
    predictions: impl Fn(&Rows, &Labels, &Rows) -> Result<Vec<Predictions>> + Sync,
) -> Result<Chosen> {
    let measure = match labels {
        Labels::Classes { .. } => Measure::Accuracy,
        Labels::Numbers(_) => Measure::Mse,
    };
    let too_few = || Chosen {
        c: USUAL,
        warnings: vec![format!("{} rows are too few to choose c by {FOLDS} folds; c = {USUAL}", rows.n())],
    };
    if rows.n() < 2 * FOLDS {
        return Ok(too_few());
    }
    let (splits, _) = folds(labels, FOLDS, 1, seed)?;
    let scores: Result<Vec<Option<Vec<f64>>>> = splits
        .par_iter()
        .map(|split| {
            let inner = labels.select(&split.train);
            // A fold that would have to be predicted from one class says nothing about the weights.
            if matches!(&inner, Labels::Classes { codes, .. } if codes.iter().all(|code| *code == codes[0])) {
                return Ok(None);
            }
            let truth = labels.select(&split.test);
            let found = predictions(&rows.select(&split.train), &inner, &rows.select(&split.test))?;
            let scores: Result<Vec<f64>> = found.iter().map(|p| measure.of(&truth, p)).collect();
            scores.map(Some)
        })
        .collect();
    let scores: Vec<Vec<f64>> = scores?.into_iter().flatten().collect();
    if scores.is_empty() {
        return Ok(too_few());
    }
    let sign = if measure.higher_is_better() { 1.0 } else { -1.0 };
    let total = |at: usize| sign * scores.iter().map(|fold| fold[at]).sum::<f64>();
    let mut best = (f64::NEG_INFINITY, USUAL);
    for (at, &c) in weights.iter().enumerate() {
        // Sums over the folds that differ by rounding alone are equal.
        if total(at) > best.0 + 1e-12 * best.0.abs() || best.0 == f64::NEG_INFINITY {
            best = (total(at), c);
        }
    }
    Ok(Chosen { c: best.1, warnings: Vec::new() })
}
