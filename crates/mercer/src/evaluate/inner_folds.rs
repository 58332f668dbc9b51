//! C of a support vector machine, chosen by inner folds: cross-validation within the training rows.

use rayon::prelude::*;

use super::folds::folds;
use super::measures::{Measure, Predictions};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;

/// Number of inner folds.
pub(super) const INNER_FOLDS: usize = 3;

/// C where there are too few rows to choose it.
const DEFAULT_C: f64 = 1.0;

/// The chosen C, and warnings about the choice.
pub(super) struct Chosen {
    pub(super) c: f64,
    pub(super) warnings: Vec<String>,
}

/// The value of the ascending `grid` that predicts held-out rows best, the smallest of equal ones. `predictions` fits on
/// the first rows and predicts the last, once for each value of the grid.
pub(super) fn choose(
    rows: &Rows,
    labels: &Labels,
    grid: &[f64],
    seed: u64,
    predictions: impl Fn(&Rows, &Labels, &Rows) -> Result<Vec<Predictions>> + Sync,
) -> Result<Chosen> {
    let measure = match labels {
        Labels::Classes { .. } => Measure::Accuracy,
        Labels::Numbers(_) | Labels::Several { .. } => Measure::Mse,
    };
    let too_few = || Chosen {
        c: DEFAULT_C,
        warnings: vec![format!(
            "{} rows are too few to choose c by {INNER_FOLDS} folds; c = {DEFAULT_C}",
            rows.n()
        )],
    };
    if rows.n() < 2 * INNER_FOLDS {
        return Ok(too_few());
    }
    let (splits, _) = folds(labels, INNER_FOLDS, 1, seed)?;
    let scores: Result<Vec<Option<Vec<f64>>>> = splits
        .par_iter()
        .map(|split| {
            let inner = labels.select(&split.train);
            // A fold whose training part has one class only does not depend on C.
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
    let mut best = (f64::NEG_INFINITY, DEFAULT_C);
    for (at, &c) in grid.iter().enumerate() {
        // Totals that differ by rounding alone count as equal.
        if total(at) > best.0 + 1e-12 * best.0.abs() || best.0 == f64::NEG_INFINITY {
            best = (total(at), c);
        }
    }
    Ok(Chosen { c: best.1, warnings: Vec::new() })
}
