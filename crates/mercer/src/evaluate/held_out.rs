//! What a method makes of rows that it has not seen.
//!
//!   two thirds of the rows → the method → ridge on its features → the other third
//!
//! Pictures and scores of the rows that features were learned from show what can be learned by heart: discriminants of 500
//! rows separate labels that were drawn by chance without an error.
//!
//! cost    three fits on at most 3 000 rows: of all inputs, of those that matter most, of the others

use crate::basis::predict::ridge_on;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::weights::{Weights, weight};
use crate::error::{Error, Result};
use crate::map::FeatureMap;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::pipeline::{FittedPipeline, Pipeline};
use crate::random;
use crate::select::tails::f_upper;

use super::evaluator::Evaluator;
use super::folds::splits;
use super::measures::{Measure, Predictions};

/// The most rows that the method is fitted on, and that are held out.
const TRAIN: usize = 3_000;
const TEST: usize = 1_500;

/// The share of the rows that are held out.
const SHARE: f64 = 1.0 / 3.0;

/// With fewer rows than this there is nothing to hold out.
const LEAST_ROWS: usize = 12;

/// How often labels are shuffled.
const SHUFFLES: usize = 199;

/// The most inputs that are kept alone, and left out.
const INPUTS: usize = 10;

/// A score of predictions, and what shuffled labels would give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// What is measured.
    pub measure: Measure,
    /// Its value for the labels.
    pub value: f64,
    /// Its mean for shuffled labels; of R² no less than 0, which the mean of the target has.
    pub chance: f64,
    /// The share of shuffles that do as well, the labels themselves counted as one.
    pub p_value: f64,
}

/// A method on rows that it was not fitted on.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// Rows that it was fitted on.
    pub n_train: usize,
    /// The rows that were held out.
    pub rows: Vec<usize>,
    /// What ridge on the features predicts for them.
    pub predictions: Predictions,
    /// How well it predicts them.
    pub score: Score,
    /// Inputs that matter most, kept alone and left out; None: a single input, or none has slopes.
    pub inputs: Option<InputsScore>,
}

/// What the inputs that matter most do alone, and what is left without them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputsScore {
    /// How many there are.
    pub count: usize,
    /// The score of a fit on them alone.
    pub alone: f64,
    /// The score of a fit on all others.
    pub without: f64,
}

/// A method fitted on one part of the rows.
pub(super) struct Trial {
    pub(super) held_out: HeldOut,
    pub(super) fitted: FittedPipeline,
    /// The rows held out.
    pub(super) test: Rows<'static>,
    /// Each input's share of the squared slopes of what is predicted; empty where the kernel has no slopes.
    pub(super) importance: Vec<f64>,
}

/// Rows and labels of both parts.
struct Parts {
    train: (Rows<'static>, Labels),
    test: (Rows<'static>, Labels),
    /// What the rows of each part count.
    weights: Option<[Weights; 2]>,
}

impl Score {
    /// Scores predictions, and the same predictions of shuffled labels: where the rows were not seen, these are as good as
    /// predictions of nothing.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::{Predictions, held_out::Score, measures::Measure}};
    ///
    /// let truth = Labels::classes(&["a", "b"].repeat(20));
    /// let right = Predictions::Classes([0, 1].repeat(20));
    /// let score = Score::of(Measure::Accuracy, &truth, &right, 0)?;
    /// assert_eq!(score.value, 1.0);
    /// assert!((score.chance - 0.5).abs() < 0.05 && score.is_above_chance());
    /// let constant = Score::of(Measure::Accuracy, &truth, &Predictions::Classes(vec![0; 40]), 0)?;
    /// assert!(!constant.is_above_chance());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of(measure: Measure, truth: &Labels, predicted: &Predictions, seed: u64) -> Result<Self> {
        Self::of_by(measure, truth, predicted, None, seed)
    }

    /// [`of`](Self::of) by what each row counts: a shuffle moves a label with its weight.
    pub(super) fn of_by(
        measure: Measure,
        truth: &Labels,
        predicted: &Predictions,
        weights: Option<&Weights>,
        seed: u64,
    ) -> Result<Self> {
        let value = measure.of_by(truth, predicted, weights)?;
        let (mut sum, mut as_good) = (0.0, 0usize);
        for shuffle in 0..SHUFFLES {
            let order = random::permutation(truth.len(), seed.wrapping_add(shuffle as u64));
            let moved = weights.map(|weights| weights.select(&order));
            let by_chance = measure.of_by(&truth.select(&order), predicted, moved.as_ref())?;
            sum += by_chance;
            let better = if measure.higher_is_better() { by_chance >= value } else { by_chance <= value };
            as_good += usize::from(better);
        }
        let p_value = (as_good + 1) as f64 / (SHUFFLES + 1) as f64;
        let chance = sum / SHUFFLES as f64;
        // Predictions that vary with nothing lose to the mean.
        let chance = if measure == Measure::R2 { chance.max(0.0) } else { chance };
        Ok(Self { measure, value, chance, p_value })
    }

    /// With the p-value that the F-test of so many free coefficients gives R² of n rows, where it is more: that of rows by which the
    /// model was chosen.
    pub(super) fn after_search(self, coefficients: f64, n: f64) -> Self {
        let left = n - 1.0 - coefficients;
        if self.measure != Measure::R2 || self.value >= 1.0 {
            return self;
        }
        let f = self.value / coefficients * left / (1.0 - self.value);
        let searched = if left > 0.0 { f_upper(f, coefficients, left) } else { 1.0 };
        Self { p_value: self.p_value.max(searched), ..self }
    }

    /// Whether the p-value is at most 0.05, and R² is above 0: below, the mean predicts better.
    pub fn is_above_chance(&self) -> bool {
        self.p_value <= 0.05 && (self.measure != Measure::R2 || self.value > 0.0)
    }
}

/// How well ridge on a method's features predicts rows that were held out; None where no rows can be.
pub(super) fn score(
    pipeline: &Pipeline,
    rows: &Rows,
    labels: &Labels,
    seed: u64,
    options: &Options,
) -> Result<Option<Score>> {
    if rows.n() < LEAST_ROWS {
        return Ok(None);
    }
    let weights = options.weights.as_ref();
    let found = Parts::new(rows, labels, weights, seed).and_then(|(parts, _)| {
        let (_, predicted) = parts.predict(pipeline, None, seed, options)?;
        let measure = Measure::usual_by(labels, weights);
        Score::of_by(measure, &parts.test.1, &predicted, parts.weights.as_ref().map(|[_, test]| test), seed)
    });
    match found {
        Ok(score) => Ok(Some(score)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        // Too few rows of a class, or another reason that all rows together may not have.
        Err(_) => Ok(None),
    }
}

impl Trial {
    /// Fits the pipeline on a part of the rows; None where they cannot be divided, or the method cannot be fitted on a part.
    pub(super) fn of(
        pipeline: &Pipeline,
        rows: &Rows,
        labels: &Labels,
        seed: u64,
        options: &Options,
    ) -> Result<Option<Self>> {
        if rows.n() < LEAST_ROWS {
            return Ok(None);
        }
        let weights = options.weights.clone();
        let options = Options { memory: options.memory, weights, ..Options::watched(&options.monitor) };
        match Self::attempt(pipeline, rows, labels, seed, &options) {
            Ok(trial) => Ok(Some(trial)),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // Too few rows of a class, or another reason that all rows together may not have.
            Err(_) => Ok(None),
        }
    }

    fn attempt(
        pipeline: &Pipeline,
        rows: &Rows,
        labels: &Labels,
        seed: u64,
        options: &Options,
    ) -> Result<Self> {
        let weights = options.weights.as_ref();
        let (parts, test) = Parts::new(rows, labels, weights, seed)?;
        let measure = Measure::usual_by(labels, weights);
        let (fitted, predicted) = parts.predict(pipeline, None, seed, options)?;
        let tested = parts.weights.as_ref().map(|[_, test]| test);
        let score = Score::of_by(measure, &parts.test.1, &predicted, tested, seed)?;
        let importance = parts.importance(&fitted.map, &options.monitor)?;
        let inputs = parts.inputs(pipeline, &importance, measure, seed, options)?;
        let held_out =
            HeldOut { n_train: parts.train.1.len(), rows: test, predictions: predicted, score, inputs };
        Ok(Self { held_out, fitted, test: parts.test.0, importance })
    }
}

impl Parts {
    /// Two parts by chance, and which rows are in the second.
    fn new(rows: &Rows, labels: &Labels, weights: Option<&Weights>, seed: u64) -> Result<(Self, Vec<usize>)> {
        let (mut found, _) = splits(labels, SHARE, 1, seed)?;
        let split = found.pop().ok_or_else(|| Error::data("no rows can be held out"))?;
        let few = |part: &[usize], most: usize| -> Vec<usize> {
            let part: Vec<usize> = part.iter().copied().filter(|&i| weight(weights, i) > 0.0).collect();
            let mut few: Vec<usize> =
                random::sample(part.len(), most, seed).into_iter().map(|at| part[at]).collect();
            few.sort_unstable();
            few
        };
        let (train, test) = (few(&split.train, TRAIN), few(&split.test, TEST));
        let [train_part, test_part] = [&train, &test].map(|part| (rows.select(part), labels.select(part)));
        let weights = weights.map(|weights| [weights.select(&train), weights.select(&test)]);
        Ok((Self { train: train_part, test: test_part, weights }, test))
    }

    /// The pipeline fitted on the training part, and what ridge on its features predicts for the other; with `factors`, each
    /// input times its own.
    fn predict(
        &self,
        pipeline: &Pipeline,
        factors: Option<Vec<f64>>,
        seed: u64,
        options: &Options,
    ) -> Result<(FittedPipeline, Predictions)> {
        let scaling = factors.map(Scaling::of_factors);
        let weighed = |rows: &Rows| scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose();
        let (train, test) = (weighed(&self.train.0)?, weighed(&self.test.0)?);
        let (train, test) = (train.as_ref().unwrap_or(&self.train.0), test.as_ref().unwrap_or(&self.test.0));
        let weights = self.weights.as_ref().map(|[train, _]| train);
        let options = Options { weights: weights.cloned(), ..options.where_it_can() };
        let fitted = pipeline.fit(train, Some(&self.train.1), &options)?;
        let [from, to] = [train, test].map(|rows| fitted.map.transform(rows));
        let [from, to] = [Rows::from_mat(from?.as_ref()), Rows::from_mat(to?.as_ref())];
        let (labels, monitor) = (&self.train.1, &options.monitor);
        let found = Evaluator::Ridge.predict_by(&from, labels, weights, &to, seed, monitor)?;
        Ok((fitted, found.predictions))
    }

    /// Each input's share of the squared slopes of ridge on the features, at the rows held out.
    fn importance(&self, map: &FeatureMap, monitor: &Monitor) -> Result<Vec<f64>> {
        let z = Rows::from_mat(map.transform(&self.train.0)?.as_ref());
        let weights = self.weights.as_ref().map(|[train, _]| train);
        let predictor = ridge_on(&map.expansion, &z, &self.train.1, weights, None, monitor)?.expansion;
        let predictor = FeatureMap { expansion: predictor, ..map.clone() };
        let slopes = match predictor.input_importance(&self.test.0, monitor) {
            Ok(slopes) => slopes,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // A picture less: a kernel without slopes, or more inputs than memory has room for.
            Err(_) => return Ok(Vec::new()),
        };
        // Slopes are along the inputs as the kernel sees them.
        let factor = |j: usize| map.scaling.as_ref().map_or(1.0, |scaling| scaling.factor[j]);
        let sums: Vec<f64> = slopes
            .col_iter()
            .enumerate()
            .map(|(j, column)| factor(j).powi(2) * column.iter().sum::<f64>())
            .collect();
        let all: f64 = sums.iter().sum();
        if !(all > 0.0 && all.is_finite()) {
            return Ok(Vec::new());
        }
        Ok(sums.into_iter().map(|sum| sum / all).collect())
    }

    /// The scores of the inputs that matter most, and of all others.
    fn inputs(
        &self,
        pipeline: &Pipeline,
        importance: &[f64],
        measure: Measure,
        seed: u64,
        options: &Options,
    ) -> Result<Option<InputsScore>> {
        let p = importance.len();
        if p < 2 {
            return Ok(None);
        }
        let count = INPUTS.min(p / 2);
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| importance[b].total_cmp(&importance[a]).then(a.cmp(&b)));
        let mut first = vec![false; p];
        order[..count].iter().for_each(|&j| first[j] = true);
        // An input that is 0 everywhere is none.
        let score = |kept: bool| -> Result<f64> {
            let factors = first.iter().map(|is_first| f64::from(u8::from(*is_first == kept))).collect();
            let (_, predicted) = self.predict(pipeline, Some(factors), seed, options)?;
            measure.of_by(&self.test.1, &predicted, self.weights.as_ref().map(|[_, test]| test))
        };
        match score(true).and_then(|alone| Ok((alone, score(false)?))) {
            Ok((alone, without)) => Ok(Some(InputsScore { count, alone, without })),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // Inputs that do not vary cannot be fitted.
            Err(_) => Ok(None),
        }
    }
}
