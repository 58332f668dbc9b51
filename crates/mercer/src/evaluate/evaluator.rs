//! Evaluators: simple models whose test scores measure how useful features are.
//!
//! Each is fitted on the training rows alone, hyperparameters such as its penalty included, and predicts the test rows.

use faer::Mat;

use super::measures::Predictions;
use super::{knn, linear_svm, ridge, svm};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, refuse};
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// A model that features are evaluated with.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluator {
    /// Majority vote (numbers: mean) of the nearest rows in L2 distance; a tied vote goes to the class of the nearest row
    /// among the tied classes.
    Knn {
        /// Number of neighbours.
        n_neighbors: usize,
    },
    /// Ridge regression on the labels (one-hot; the class with the largest fitted value wins) with an unpenalised
    /// intercept; the penalty is chosen by exact leave-one-out.
    Ridge,
    /// Least squares with an intercept; the minimum-norm solution where the columns are linearly dependent.
    Linear,
    /// Linear support vector machine: squared hinge loss, one-vs-rest.
    LinearSvm {
        /// The parameter C; None: chosen among 0.01, 0.1, 1, 10, 100 by 3 folds of the training rows.
        c: Option<f64>,
    },
    /// Support vector machine with the rbf kernel: one-vs-one for classes; for numbers ε-insensitive regression on the
    /// standardised target, ε = 0.1.
    RbfSvm {
        /// The parameter C; None: chosen among 1, 10, 100 by 3 folds of the training rows.
        c: Option<f64>,
        /// γ of the kernel; None: by the rule `scale`.
        gamma: Option<f64>,
    },
}

/// The predictions of an evaluator.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// One per test row.
    pub predictions: Predictions,
    /// For classes one column each, the higher the likelier; None where there are none.
    pub scores: Option<Mat<f64>>,
    /// For classes one column each; None: the evaluator has no probabilities.
    pub probabilities: Option<Mat<f64>>,
    /// Kernel values that one prediction costs: for `rbf-svm` the number of distinct support vectors, otherwise 0.
    pub support: usize,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Evaluation {
    /// Predictions alone.
    pub fn of(predictions: Predictions) -> Self {
        Self { predictions, scores: None, probabilities: None, support: 0, warnings: Vec::new() }
    }
}

impl Evaluator {
    /// The names of all evaluators.
    pub const NAMES: [&'static str; 5] = ["knn", "ridge", "linear", "linear-svm", "rbf-svm"];

    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Knn { .. } => Self::NAMES[0],
            Self::Ridge => Self::NAMES[1],
            Self::Linear => Self::NAMES[2],
            Self::LinearSvm { .. } => Self::NAMES[3],
            Self::RbfSvm { .. } => Self::NAMES[4],
        }
    }

    /// The evaluator with this name and its defaults: one neighbour, everything else chosen from the training rows.
    ///
    /// ```
    /// use mercer::evaluate::Evaluator;
    ///
    /// assert_eq!(Evaluator::named("knn")?, Evaluator::Knn { n_neighbors: 1 });
    /// assert!(Evaluator::named("forest").unwrap_err().to_string().contains("linear-svm"));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "knn" => Self::Knn { n_neighbors: 1 },
            "ridge" => Self::Ridge,
            "linear" => Self::Linear,
            "linear-svm" => Self::LinearSvm { c: None },
            "rbf-svm" => Self::RbfSvm { c: None, gamma: None },
            _ => {
                return Err(Error::argument(format!(
                    "evaluator = `{name}` is not known; use one of {}",
                    Self::NAMES.join(", ")
                )));
            }
        })
    }

    /// An error if a setting is out of range, or if it cannot handle labels of this kind: `linear-svm` needs classes.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::Evaluator};
    ///
    /// let numbers = Labels::Numbers(vec![0.5, 1.5]);
    /// assert!(Evaluator::Ridge.check(&numbers).is_ok());
    /// assert!(Evaluator::LinearSvm { c: None }.check(&numbers).is_err());
    /// ```
    pub fn check(&self, labels: &Labels) -> Result<()> {
        labels.require_one(self.name())?;
        match self {
            Self::Knn { n_neighbors: 0 } => Err(Error::argument("n_neighbors = 0, but at least 1 is needed")),
            Self::LinearSvm { c } => {
                positive("c", *c)?;
                match labels {
                    Labels::Numbers(_) | Labels::Several { .. } => {
                        labels.require_classes(self.name()).map(|_| ())
                    }
                    Labels::Classes { .. } => Ok(()),
                }
            }
            Self::RbfSvm { c, gamma } => positive("c", *c).and_then(|()| positive("gamma", *gamma)),
            _ => Ok(()),
        }
    }

    /// Fits on the training rows and predicts the test rows. Rows may be dense or sparse; the seed is for the inner
    /// folds.
    ///
    /// ```
    /// use mercer::{Labels, Monitor, Rows, evaluate::{Evaluator, Predictions}};
    ///
    /// let train = Rows::dense(vec![0.0, 1.0, 8.0, 9.0], 4, 1)?;
    /// let labels = Labels::classes(&["a", "a", "b", "b"]);
    /// let test = Rows::dense(vec![2.0, 7.0], 2, 1)?;
    /// for name in Evaluator::NAMES {
    ///     let found = Evaluator::named(name)?.predict(&train, &labels, &test, 0, &Monitor::default())?;
    ///     assert_eq!(found.predictions, Predictions::Classes(vec![0, 1]), "{name}");
    /// }
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn predict(
        &self,
        train: &Rows,
        labels: &Labels,
        test: &Rows,
        seed: u64,
        monitor: &Monitor,
    ) -> Result<Evaluation> {
        self.predict_by(train, labels, None, test, seed, monitor)
    }

    /// [`predict`](Self::predict) by what each training row counts, for ridge; to `knn` all neighbours are alike.
    pub fn predict_by(
        &self,
        train: &Rows,
        labels: &Labels,
        weights: Option<&Weights>,
        test: &Rows,
        seed: u64,
        monitor: &Monitor,
    ) -> Result<Evaluation> {
        let (train, test) = (&*train.to_f64(), &*test.to_f64());
        if !matches!(self, Self::Knn { .. } | Self::Ridge) {
            refuse(weights, self.name(), "evaluate with knn or ridge")?;
        }
        self.check(labels)?;
        check_rows(train, labels, test)?;
        if let Some(constant) = one_class(labels, test.n()) {
            return Ok(constant);
        }
        match *self {
            Self::Knn { n_neighbors } => {
                let found = knn::vote(train, labels, test, n_neighbors, monitor)?;
                let few = n_neighbors > train.n();
                let warning = || {
                    format!(
                        "n_neighbors = {n_neighbors}, but there are {} training rows; all of them vote",
                        train.n()
                    )
                };
                Ok(Evaluation { warnings: few.then(warning).into_iter().collect(), ..found })
            }
            Self::Ridge => ridge::predict(train, labels, weights, test, true, monitor),
            Self::Linear => ridge::predict(train, labels, None, test, false, monitor),
            Self::LinearSvm { c } => linear_svm::predict(train, labels, test, c, seed, monitor),
            Self::RbfSvm { c, gamma } => svm::predict(train, labels, test, c, gamma, seed, monitor),
        }
    }
}

fn positive(name: &str, value: Option<f64>) -> Result<()> {
    match value {
        Some(value) if !(value > 0.0 && value.is_finite()) => {
            Err(Error::argument(format!("{name} = {value}, but it must be a number above 0")))
        }
        _ => Ok(()),
    }
}

/// An error unless rows and labels fit together and hold finite numbers, as every evaluator needs.
pub(super) fn check_rows(train: &Rows, labels: &Labels, test: &Rows) -> Result<()> {
    labels.require_one("evaluate")?;
    if train.p() != test.p() || train.n() != labels.len() {
        return Err(Error::data(format!(
            "training rows, labels and test rows do not fit together: {} rows of {} columns, {} labels, test rows of {} \
             columns",
            train.n(),
            train.p(),
            labels.len(),
            test.p()
        )));
    }
    if train.n() == 0 || test.n() == 0 {
        return Err(Error::data(format!(
            "{} training rows and {} test rows; at least one of each is needed",
            train.n(),
            test.n()
        )));
    }
    if train.p() == 0 {
        return Err(Error::data("the rows have no columns; at least one is needed"));
    }
    if let Labels::Numbers(values) = labels
        && let Some(row) = values.iter().position(|v| !v.is_finite())
    {
        return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
    }
    train.check_finite(None)?;
    test.check_finite(None)
}

/// The prediction where the training rows have one class only.
fn one_class(labels: &Labels, n: usize) -> Option<Evaluation> {
    let Labels::Classes { codes, names } = labels else { return None };
    let only = *codes.first()?;
    codes.iter().all(|&code| code == only).then(|| Evaluation {
        warnings: vec![format!(
            "the training rows have one class only, `{}`, which is predicted for every row",
            names[only]
        )],
        ..Evaluation::of(Predictions::Classes(vec![only; n]))
    })
}
