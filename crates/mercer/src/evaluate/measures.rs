//! Measures of predictions: accuracy, balanced accuracy, mean squared error, R², confusion.
//!
//! differs a class that no row has does not count in the balanced accuracy; R² of a constant target is 1 if every
//!         prediction is right, else 0

use crate::data::labels::Labels;
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
    /// Mean squared error.
    Mse,
    /// 1 − squared error over squared deviation from the mean.
    R2,
}

impl Measure {
    /// Every measure's name.
    pub const NAMES: [&'static str; 4] = ["accuracy", "balanced-accuracy", "mse", "r2"];

    /// The measure with this name.
    ///
    /// ```
    /// use mercer::evaluate::measures::Measure;
    ///
    /// assert_eq!(Measure::named("mse")?.name(), "mse");
    /// assert!(!Measure::Mse.higher_is_better());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "accuracy" => Self::Accuracy,
            "balanced-accuracy" => Self::BalancedAccuracy,
            "mse" => Self::Mse,
            "r2" => Self::R2,
            _ => {
                return Err(Error::argument(format!(
                    "measure = `{name}` is not known; use one of {}",
                    Self::NAMES.join(", ")
                )));
            }
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => Self::NAMES[0],
            Self::BalancedAccuracy => Self::NAMES[1],
            Self::Mse => Self::NAMES[2],
            Self::R2 => Self::NAMES[3],
        }
    }

    /// Whether higher is better.
    pub fn higher_is_better(self) -> bool {
        self != Self::Mse
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
        if truth.len() != predicted.len() || truth.is_empty() {
            return Err(Error::data(format!(
                "{} predictions for {} labels; as many are needed, and at least one",
                predicted.len(),
                truth.len()
            )));
        }
        match (self, truth, predicted) {
            (Self::Accuracy, Labels::Classes { codes, .. }, Predictions::Classes(predicted)) => {
                let right = codes.iter().zip(predicted).filter(|(a, b)| a == b).count();
                Ok(right as f64 / codes.len() as f64)
            }
            (Self::BalancedAccuracy, Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
                Ok(balanced_accuracy(codes, predicted, names.len()))
            }
            (Self::Mse, Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
                Ok(truth.iter().zip(predicted).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
                    / truth.len() as f64)
            }
            (Self::R2, Labels::Numbers(truth), Predictions::Numbers(predicted)) => Ok(r2(truth, predicted)),
            _ => {
                let needs = if matches!(self, Self::Mse | Self::R2) { "numbers" } else { "classes" };
                Err(Error::argument(format!(
                    "`{}` is for {needs}, and so must be the labels and the predictions\n\
                     hint: for classes use accuracy or balanced-accuracy, for numbers mse or r2",
                    self.name()
                )))
            }
        }
    }
}

fn balanced_accuracy(truth: &[usize], predicted: &[usize], c: usize) -> f64 {
    let (mut rows, mut right) = (vec![0usize; c], vec![0usize; c]);
    for (&a, &b) in truth.iter().zip(predicted) {
        rows[a] += 1;
        right[a] += usize::from(a == b);
    }
    let shares: Vec<f64> =
        (0..c).filter(|&a| rows[a] > 0).map(|a| right[a] as f64 / rows[a] as f64).collect();
    shares.iter().sum::<f64>() / shares.len() as f64
}

fn r2(truth: &[f64], predicted: &[f64]) -> f64 {
    let mean = truth.iter().map(|v| v / truth.len() as f64).sum::<f64>();
    // In units of the largest deviation, so that no square overflows or vanishes.
    let unit = truth.iter().fold(0.0f64, |m, v| m.max((v - mean).abs()));
    if unit == 0.0 {
        return f64::from(u8::from(truth == predicted));
    }
    let deviation: f64 = truth.iter().map(|v| ((v - mean) / unit).powi(2)).sum();
    let error: f64 = truth.iter().zip(predicted).map(|(a, b)| ((a - b) / unit).powi(2)).sum();
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
