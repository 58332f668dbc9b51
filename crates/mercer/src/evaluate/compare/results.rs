//! What a split has found so far: results of candidates, warnings, and the journal that keeps them.

use std::time::Instant;

use super::checkpoint::Outcomes;
use super::features::Features;
use super::split::{Data, Work, attempt};
use super::{CandidateResult, Comparison, Scored};
use crate::checkpoint::Journal;
use crate::data::labels::Labels;
use crate::error::Result;
use crate::evaluate::evaluator::{Evaluation, Evaluator};
use crate::evaluate::measures::{Measure, Predictions, confusion};

/// Beyond so many rows splits are compared instead of rows, which saves memory; differences are clear then either way.
const PAIRED_ROWS: usize = 200_000;

/// What a split found.
pub(super) struct SplitResults {
    /// One a candidate.
    pub(super) results: Vec<CandidateResult>,
    pub(super) warnings: Vec<String>,
    pub(super) work: Work,
}

/// The results of a split as they are found.
pub(super) struct Recorder<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) data: &'a Data,
    pub(super) found: SplitResults,
    pub(super) journal: &'a mut Journal,
    /// What candidates are sorted by, and the second measure.
    measures: [Measure; 2],
    /// Candidates that were settled since the last piece was recorded.
    settled: Vec<usize>,
    /// Warnings that were recorded.
    n_recorded: usize,
}

/// What a candidate has cost before an evaluator saw it.
#[derive(Clone, Copy)]
pub(super) struct CostSoFar {
    pub(super) seconds: f64,
    pub(super) gamma: Option<f64>,
    pub(super) n_features: usize,
    pub(super) kernel_values: usize,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        comparison: &'a Comparison,
        measures: [Measure; 2],
        data: &'a Data,
        found: SplitResults,
        journal: &'a mut Journal,
    ) -> Self {
        Self { comparison, data, found, journal, measures, settled: Vec::new(), n_recorded: 0 }
    }

    /// Every evaluator on one set of features.
    pub(super) fn evaluate_all(
        &mut self,
        first: usize,
        size: usize,
        seconds: f64,
        gamma: Option<f64>,
        features: &Features,
    ) -> Result<()> {
        let evaluators = &self.comparison.evaluators;
        for (at, evaluator) in evaluators.iter().enumerate() {
            let cost = CostSoFar {
                seconds: seconds + features.seconds,
                gamma,
                n_features: features.train.p(),
                kernel_values: features.kernel_values,
            };
            self.evaluate(first + size * evaluators.len() + at, evaluator, cost, Some(features))?;
        }
        Ok(())
    }

    /// One evaluator on features, or on the rows as they are.
    pub(super) fn evaluate(
        &mut self,
        at: usize,
        evaluator: &Evaluator,
        cost: CostSoFar,
        features: Option<&Features>,
    ) -> Result<()> {
        let start = Instant::now();
        let (train, test) = features.map_or((&self.data.train, &self.data.test), |f| (&f.train, &f.test));
        let (labels, seed) = (&self.data.train_labels, self.comparison.seed);
        match attempt(evaluator.predict(train, labels, test, seed, &self.data.options.monitor))? {
            Err(text) => self.settle(at, CandidateResult::Failed(text)),
            Ok(evaluation) => {
                // Kernel values that an evaluator wants of features are not those of the rows' kernel.
                let support = if features.is_none() { evaluation.support } else { 0 };
                let cost = CostSoFar {
                    seconds: cost.seconds + start.elapsed().as_secs_f64(),
                    kernel_values: cost.kernel_values + support,
                    ..cost
                };
                self.found.warnings.extend(evaluation.warnings.iter().cloned());
                self.score(at, cost, &evaluation)?;
            }
        }
        Ok(())
    }

    pub(super) fn score(&mut self, at: usize, cost: CostSoFar, evaluation: &Evaluation) -> Result<()> {
        let truth = &self.data.test_labels;
        let [measure, other] = self.measures;
        if measure == Measure::LogLoss && evaluation.probabilities.is_none() {
            self.settle(at, CandidateResult::Skipped);
            return Ok(());
        }
        let [first, second] = [measure, other].map(|measure| measure.of_evaluation(truth, evaluation));
        let result = match attempt(first.and_then(|score| Ok((score, second?))))? {
            Err(text) => CandidateResult::Failed(text),
            Ok((score, _)) if !score.is_finite() => {
                CandidateResult::Failed("its predictions are not finite numbers".into())
            }
            Ok((score, second)) => CandidateResult::Scored(Scored {
                score,
                second,
                gamma: cost.gamma,
                n_features: cost.n_features,
                kernel_values: cost.kernel_values,
                seconds: cost.seconds,
                losses: if self.data.train.n() + truth.len() <= PAIRED_ROWS {
                    measure.losses(truth, evaluation).unwrap_or_default()
                } else {
                    Vec::new()
                },
                predictions: self.comparison.keep_predictions.then(|| match &evaluation.predictions {
                    Predictions::Classes(codes) => codes.iter().map(|&code| code as f64).collect(),
                    Predictions::Numbers(values) => values.clone(),
                }),
                by_chance: self
                    .data
                    .shuffled
                    .iter()
                    .filter_map(|labels| measure.of_evaluation(labels, evaluation).ok())
                    .collect(),
                confusion: match (truth, &evaluation.predictions) {
                    (Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
                        confusion(codes, predicted, names.len())
                    }
                    _ => Vec::new(),
                },
            }),
        };
        self.settle(at, result);
        Ok(())
    }

    pub(super) fn settle(&mut self, at: usize, result: CandidateResult) {
        self.found.results[at] = result;
        self.settled.push(at);
        self.comparison.options.monitor.advance(1);
    }

    pub(super) fn fail(&mut self, first: usize, sizes: &[usize], text: &str) {
        let evaluators = self.comparison.evaluators.len();
        for at in sizes.iter().flat_map(|size| first + size * evaluators..first + (size + 1) * evaluators) {
            self.settle(at, CandidateResult::Failed(text.into()));
        }
    }

    pub(super) fn skip(&mut self, first: usize, size: usize) {
        let evaluators = self.comparison.evaluators.len();
        (0..evaluators).for_each(|at| self.settle(first + size * evaluators + at, CandidateResult::Skipped));
    }

    /// Takes over what an earlier run has found for a piece of the split; false: nothing yet, or nothing of this split.
    pub(super) fn recall(&mut self, name: &str) -> bool {
        self.settled.clear();
        let Some(known) = self.journal.recall(name).and_then(Outcomes::from_json) else { return false };
        let n_results = self.found.results.len();
        if !known.results.iter().all(|(at, result)| *at < n_results && self.could_be(result)) {
            return false;
        }
        for (at, result) in known.results {
            self.found.results[at] = result;
        }
        self.found.warnings.extend(known.warnings);
        self.n_recorded = self.found.warnings.len();
        true
    }

    /// Whether a result that was recorded has as many predictions, losses and classes as this split.
    fn could_be(&self, result: &CandidateResult) -> bool {
        let CandidateResult::Scored(scored) = result else { return true };
        let truth = &self.data.test_labels;
        let (n, c) = (truth.len(), truth.n_classes().unwrap_or(0));
        let counts = scored.confusion.iter().flatten().try_fold(0usize, |sum, count| sum.checked_add(*count));
        scored.score.is_finite()
            && [0, n].contains(&scored.losses.len())
            && scored.predictions.as_ref().map(Vec::len) == self.comparison.keep_predictions.then_some(n)
            && scored.confusion.len() == c
            && scored.confusion.iter().all(|row| row.len() == c)
            && counts == Some(if c == 0 { 0 } else { n })
    }

    /// Records what was found since the last piece.
    pub(super) fn record(&mut self, name: &str) -> Result<()> {
        let (found, recorded) = (&self.found, self.n_recorded);
        let settled = std::mem::take(&mut self.settled);
        self.n_recorded = found.warnings.len();
        self.journal.record(name, || {
            let results = settled.into_iter().map(|at| (at, found.results[at].clone())).collect();
            Outcomes { results, warnings: found.warnings[recorded..].to_vec() }.to_json()
        })
    }
}
