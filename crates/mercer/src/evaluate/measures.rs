//! Measures of predictions, and confusion.
//!
//! differs a class that no row has does not count in the balanced accuracy; R² of a constant target is 1 if every
//!         prediction is right, else 0

use faer::{Mat, MatRef};

use super::evaluator::{Evaluation, Evaluator};
use crate::data::labels::Labels;
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};

/// Predicted labels of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Predictions {
    /// The code of a class for each row.
    Classes(Vec<usize>),
    /// A number for each row.
    Numbers(Vec<f64>),
}

impl Predictions {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(codes) => codes.len(),
            Self::Numbers(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A measure of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Share of the rows whose class is right.
    Accuracy,
    /// Mean over the classes of the share that is right.
    BalancedAccuracy,
    /// Area under the ROC curve; with more than two classes the mean over one class against the others.
    RocAuc,
    /// Harmonic mean of precision and recall, mean over the classes.
    F1,
    /// Mean −ln of the probability of the true class.
    LogLoss,
    /// 1 − squared error over squared deviation from the mean.
    R2,
    /// Root of the mean squared error.
    Rmse,
    /// Mean absolute error.
    Mae,
    /// Mean squared error.
    Mse,
}

impl Measure {
    /// Every measure, those of classes first.
    pub const ALL: [Self; 9] = [
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::RocAuc,
        Self::F1,
        Self::LogLoss,
        Self::R2,
        Self::Rmse,
        Self::Mae,
        Self::Mse,
    ];

    /// The measure with this name; `_` is as good as `-`.
    ///
    /// ```
    /// use mercer::evaluate::measures::Measure;
    ///
    /// assert_eq!(Measure::named("roc_auc")?.name(), "roc-auc");
    /// assert!(!Measure::Rmse.higher_is_better());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        let dashed = name.replace('_', "-");
        Self::ALL.into_iter().find(|measure| measure.name() == dashed).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|measure| measure.name()).collect();
            Error::argument(format!("score = `{name}` is not known; use one of {}", names.join(", ")))
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::RocAuc => "roc-auc",
            Self::F1 => "f1",
            Self::LogLoss => "log-loss",
            Self::R2 => "r2",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
            Self::Mse => "mse",
        }
    }

    /// The name in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced accuracy",
            Self::RocAuc => "ROC AUC",
            Self::F1 => "F1",
            Self::LogLoss => "log loss",
            Self::R2 => "R²",
            Self::Rmse => "root mean squared error",
            Self::Mae => "mean absolute error",
            Self::Mse => "mean squared error",
        }
    }

    /// Whether higher is better.
    pub fn higher_is_better(self) -> bool {
        !matches!(self, Self::LogLoss | Self::Rmse | Self::Mae | Self::Mse)
    }

    /// Whether it is a share of the rows, to be shown in percent.
    pub fn is_share(self) -> bool {
        matches!(self, Self::Accuracy | Self::BalancedAccuracy)
    }

    /// Whether it is a mean over the classes, which a part without one of them does not have.
    pub(super) fn is_mean_over_classes(self) -> bool {
        matches!(self, Self::BalancedAccuracy | Self::RocAuc | Self::F1)
    }

    /// Whether it is for classes.
    pub fn is_of_classes(self) -> bool {
        matches!(self, Self::Accuracy | Self::BalancedAccuracy | Self::RocAuc | Self::F1 | Self::LogLoss)
    }

    /// An error unless it can be had for such labels from these evaluators.
    pub(super) fn check(self, labels: &Labels, evaluators: &[Evaluator]) -> Result<()> {
        if self.is_of_classes() != matches!(labels, Labels::Classes { .. }) {
            return Err(self.mismatch());
        }
        let without = |evaluator: &&Evaluator| !matches!(evaluator, Evaluator::Knn { .. } | Evaluator::Ridge);
        match evaluators.iter().find(without) {
            Some(evaluator) if self == Self::LogLoss => Err(Error::argument(format!(
                "score = log-loss needs probabilities, which `{}` has not\nhint: evaluate with knn or ridge",
                evaluator.name()
            ))),
            _ => Ok(()),
        }
    }

    fn mismatch(self) -> Error {
        let needs = if self.is_of_classes() { "classes" } else { "numbers" };
        let names = |classes: bool| -> String {
            let fitting = Self::ALL.into_iter().filter(|measure| measure.is_of_classes() == classes);
            fitting.map(Self::name).collect::<Vec<_>>().join(", ")
        };
        Error::argument(format!(
            "`{}` is for {needs}, and so must be the labels and the predictions\n\
             hint: for classes use {}, for numbers {}",
            self.name(),
            names(true),
            names(false)
        ))
    }

    /// The measure of such labels unless another is asked for: R² of numbers; accuracy of classes, balanced where the
    /// smallest has less than half of an even share, so that predicting the largest class is worth nothing.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::measures::Measure};
    ///
    /// assert_eq!(Measure::usual(&Labels::classes(&["a", "b", "a"])), Measure::Accuracy);
    /// assert_eq!(Measure::usual(&Labels::classes(&["a", "b", "a", "a", "a"])), Measure::BalancedAccuracy);
    /// assert_eq!(Measure::usual(&Labels::Numbers(vec![0.5, 1.5])), Measure::R2);
    /// ```
    pub fn usual(labels: &Labels) -> Self {
        Self::usual_by(labels, None)
    }

    /// [`usual`](Self::usual) by what each row counts.
    pub(super) fn usual_by(labels: &Labels, weights: Option<&Weights>) -> Self {
        let Labels::Classes { codes, names } = labels else { return Self::R2 };
        let mut sizes = vec![0.0; names.len()];
        codes.iter().enumerate().for_each(|(i, &code)| sizes[code] += weight(weights, i));
        sizes.retain(|&size| size > 0.0);
        let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let all = total(weights, codes.len());
        if 2.0 * smallest * (sizes.len() as f64) < all { Self::BalancedAccuracy } else { Self::Accuracy }
    }

    /// The measure of these predictions.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::measures::{Measure, Predictions}};
    ///
    /// let truth = Labels::classes(&["a", "a", "a", "b"]);
    /// let all_a = Predictions::Classes(vec![0, 0, 0, 0]);
    /// assert_eq!(Measure::Accuracy.of(&truth, &all_a)?, 0.75);
    /// assert_eq!(Measure::BalancedAccuracy.of(&truth, &all_a)?, 0.5);
    /// let truth = Labels::Numbers(vec![1.0, 2.0, 3.0]);
    /// let mean = Predictions::Numbers(vec![2.0; 3]);
    /// assert_eq!((Measure::Mse.of(&truth, &mean)?, Measure::R2.of(&truth, &mean)?), (2.0 / 3.0, 0.0));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of(self, truth: &Labels, predicted: &Predictions) -> Result<f64> {
        self.of_by(truth, predicted, None)
    }

    /// [`of`](Self::of) by what each row counts; for [`usual_by`](Self::usual_by) and errors of numbers.
    pub(super) fn of_by(
        self,
        truth: &Labels,
        predicted: &Predictions,
        weights: Option<&Weights>,
    ) -> Result<f64> {
        if truth.len() != predicted.len() || truth.is_empty() {
            return Err(Error::data(format!(
                "{} predictions for {} labels; as many are needed, and at least one",
                predicted.len(),
                truth.len()
            )));
        }
        match (self, truth, predicted) {
            (Self::Accuracy, Labels::Classes { codes, .. }, Predictions::Classes(predicted)) => {
                let count = |i: usize| if codes[i] == predicted[i] { weight(weights, i) } else { 0.0 };
                Ok((0..codes.len()).map(count).sum::<f64>() / total(weights, codes.len()))
            }
            (Self::BalancedAccuracy, Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
                Ok(balanced_accuracy(codes, predicted, names.len(), weights))
            }
            (Self::F1 | Self::RocAuc | Self::LogLoss, ..) if weights.is_some() => {
                Err(Error::argument(format!("`{}` takes no sample weights", self.name())))
            }
            (Self::F1, Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
                Ok(f1(codes, predicted, names.len()))
            }
            (Self::RocAuc, Labels::Classes { names, .. }, Predictions::Classes(predicted)) => {
                self.of_scores(truth, one_hot(predicted, names.len()).as_ref())
            }
            (Self::LogLoss, Labels::Classes { .. }, Predictions::Classes(_)) => {
                Err(Error::argument("score = log-loss needs probabilities, and classes were predicted"))
            }
            (Self::Mse, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                Ok(mean_over(truth, predicted, weights, |a, b| (a - b).powi(2)))
            }
            (Self::Rmse, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                Ok(mean_over(truth, predicted, weights, |a, b| (a - b).powi(2)).sqrt())
            }
            (Self::Mae, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                Ok(mean_over(truth, predicted, weights, |a, b| (a - b).abs()))
            }
            (Self::R2, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                Ok(r2(truth, predicted, weights))
            }
            _ => Err(self.mismatch()),
        }
    }

    /// The measure of what an evaluator predicts, with its scores or probabilities where the measure looks at them.
    pub(super) fn of_evaluation(self, truth: &Labels, found: &Evaluation) -> Result<f64> {
        match (self, &found.scores, &found.probabilities) {
            (Self::RocAuc, Some(scores), _) => self.of_scores(truth, scores.as_ref()),
            (Self::LogLoss, _, Some(p)) => self.of_scores(truth, p.as_ref()),
            _ => self.of(truth, &found.predictions),
        }
    }

    /// ROC AUC of scores, or log loss of probabilities: one column a class.
    ///
    /// ```
    /// use faer::mat;
    /// use mercer::{Labels, evaluate::measures::Measure};
    ///
    /// let truth = Labels::classes(&["a", "b", "a"]);
    /// let p = mat![[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]];
    /// assert_eq!(Measure::RocAuc.of_scores(&truth, p.as_ref())?, 1.0);
    /// let loss = -(0.9f64.ln() + 0.6f64.ln() + 0.5f64.ln()) / 3.0;
    /// assert!((Measure::LogLoss.of_scores(&truth, p.as_ref())? - loss).abs() < 1e-15);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of_scores(self, truth: &Labels, scores: MatRef<'_, f64>) -> Result<f64> {
        let Labels::Classes { codes, names } = truth else { return Err(self.mismatch()) };
        if scores.nrows() != codes.len() || scores.ncols() != names.len() || codes.is_empty() {
            return Err(Error::data(format!(
                "scores of {} rows and {} classes for labels of {} rows and {} classes; as many are needed, and at \
                 least one row",
                scores.nrows(),
                scores.ncols(),
                codes.len(),
                names.len()
            )));
        }
        match self {
            Self::RocAuc => roc_auc(codes, scores),
            Self::LogLoss => {
                let of_row = |(i, &code): (usize, &usize)| -scores[(i, code)].max(LEAST_P).ln();
                Ok(codes.iter().enumerate().map(of_row).sum::<f64>() / codes.len() as f64)
            }
            _ => Err(Error::argument(format!("`{}` looks at predictions, not at scores", self.name()))),
        }
    }

    /// What it is a mean of, one number a row, so that two candidates can be compared row by row; None: it is no mean.
    pub(super) fn losses(self, truth: &Labels, found: &Evaluation) -> Option<Vec<f32>> {
        let wrong = |(a, b): (&usize, &usize)| f64::from(u8::from(a != b));
        let losses: Vec<f64> = match (self, truth, &found.predictions) {
            (Self::Accuracy, Labels::Classes { codes, .. }, Predictions::Classes(predicted)) => {
                codes.iter().zip(predicted).map(wrong).collect()
            }
            (Self::BalancedAccuracy, Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
                let mut sizes = vec![0usize; names.len()];
                codes.iter().for_each(|&code| sizes[code] += 1);
                let present = sizes.iter().filter(|size| **size > 0).count();
                let share = |code: usize| codes.len() as f64 / (present * sizes[code]) as f64;
                codes.iter().zip(predicted).map(|(a, b)| share(*a) * wrong((a, b))).collect()
            }
            (Self::LogLoss, Labels::Classes { codes, .. }, _) => {
                let p = found.probabilities.as_ref()?;
                codes.iter().enumerate().map(|(i, &code)| -p[(i, code)].max(LEAST_P).ln()).collect()
            }
            (Self::Mae, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                truth.iter().zip(predicted).map(|(a, b)| (a - b).abs()).collect()
            }
            (Self::R2 | Self::Mse, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                let mean = truth.iter().map(|v| v / truth.len() as f64).sum::<f64>();
                let spread = mean_over(truth, &vec![mean; truth.len()], None, |a, b| (a - b).powi(2));
                let unit = if self == Self::R2 { spread } else { 1.0 };
                truth.iter().zip(predicted).map(|(a, b)| (a - b).powi(2) / unit).collect()
            }
            _ => return None,
        };
        let losses: Vec<f32> = losses.into_iter().map(|loss| loss as f32).collect();
        losses.iter().all(|loss| loss.is_finite()).then_some(losses)
    }
}

/// Probabilities below this count as this, so that one certain mistake is not infinitely bad.
const LEAST_P: f64 = 1e-15;

fn mean_over(
    truth: &[f64],
    predicted: &[f64],
    weights: Option<&Weights>,
    loss: impl Fn(f64, f64) -> f64,
) -> f64 {
    let of_row = |(i, (a, b)): (usize, (&f64, &f64))| weight(weights, i) * loss(*a, *b);
    truth.iter().zip(predicted).enumerate().map(of_row).sum::<f64>() / total(weights, truth.len())
}

fn one_hot(codes: &[usize], c: usize) -> Mat<f64> {
    Mat::from_fn(codes.len(), c, |i, j| f64::from(u8::from(codes[i] == j)))
}

/// Over classes that have rows or are predicted.
fn f1(truth: &[usize], predicted: &[usize], c: usize) -> f64 {
    let counts = confusion(truth, predicted, c);
    let of_class = |j: usize| -> Option<f64> {
        let (rows, said): (usize, usize) = (counts[j].iter().sum(), counts.iter().map(|row| row[j]).sum());
        (rows + said > 0).then(|| 2.0 * counts[j][j] as f64 / (rows + said) as f64)
    };
    let all: Vec<f64> = (0..c).filter_map(of_class).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// Two classes: the second against the first. More: the mean over classes that some rows have and some have not.
fn roc_auc(codes: &[usize], scores: MatRef<'_, f64>) -> Result<f64> {
    let c = scores.ncols();
    let areas: Vec<f64> = if c == 2 {
        area(codes.iter().map(|&code| code == 1), |i| scores[(i, 1)] - scores[(i, 0)]).into_iter().collect()
    } else {
        (0..c).filter_map(|j| area(codes.iter().map(|&code| code == j), |i| scores[(i, j)])).collect()
    };
    if areas.is_empty() {
        return Err(Error::data("ROC AUC needs rows of two classes, and these have one"));
    }
    Ok(areas.iter().sum::<f64>() / areas.len() as f64)
}

/// The share of pairs of a positive and a negative row in which the positive one has the higher score, ties counted half; None
/// without either.
fn area(positive: impl Iterator<Item = bool>, score: impl Fn(usize) -> f64) -> Option<f64> {
    let mut rows: Vec<(f64, bool)> = positive.enumerate().map(|(i, is)| (score(i), is)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = rows.iter().filter(|row| row.1).count();
    let negatives = rows.len() - positives;
    let (mut below, mut sum) = (0usize, 0.0);
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        let here = tied.iter().filter(|row| row.1).count();
        sum += here as f64 * (below as f64 + (tied.len() - here) as f64 / 2.0);
        below += tied.len() - here;
    }
    (positives > 0 && negatives > 0).then(|| sum / (positives as f64 * negatives as f64))
}

fn balanced_accuracy(truth: &[usize], predicted: &[usize], c: usize, weights: Option<&Weights>) -> f64 {
    let (mut rows, mut right) = (vec![0.0; c], vec![0.0; c]);
    for (i, (&a, &b)) in truth.iter().zip(predicted).enumerate() {
        rows[a] += weight(weights, i);
        right[a] += if a == b { weight(weights, i) } else { 0.0 };
    }
    let shares: Vec<f64> = (0..c).filter(|&a| rows[a] > 0.0).map(|a| right[a] / rows[a]).collect();
    shares.iter().sum::<f64>() / shares.len() as f64
}

fn r2(truth: &[f64], predicted: &[f64], weights: Option<&Weights>) -> f64 {
    let all = total(weights, truth.len());
    let mean = truth.iter().enumerate().map(|(i, v)| weight(weights, i) * v / all).sum::<f64>();
    // In units of the largest deviation, so that no square overflows or vanishes.
    let unit = truth.iter().fold(0.0f64, |m, v| m.max((v - mean).abs()));
    if unit == 0.0 {
        return f64::from(u8::from(truth == predicted));
    }
    let square = |i: usize, off: f64| weight(weights, i) * (off / unit).powi(2);
    let deviation: f64 = truth.iter().enumerate().map(|(i, v)| square(i, v - mean)).sum();
    let error: f64 = truth.iter().zip(predicted).enumerate().map(|(i, (a, b))| square(i, a - b)).sum();
    1.0 - error / deviation
}

/// Confusion matrix: number of rows by `[true][predicted]` class, c×c.
///
/// ```
/// use mercer::evaluate::measures::confusion;
///
/// assert_eq!(confusion(&[0, 0, 1], &[0, 1, 1], 2), [[1, 1], [0, 1]]);
/// ```
///
/// # Panics
/// If a code is not below c.
pub fn confusion(truth: &[usize], predicted: &[usize], c: usize) -> Vec<Vec<usize>> {
    let mut counts = vec![vec![0; c]; c];
    truth.iter().zip(predicted).for_each(|(&a, &b)| counts[a][b] += 1);
    counts
}
