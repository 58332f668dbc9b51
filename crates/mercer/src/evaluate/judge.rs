//! Judges: simple models that say what features are worth.
//!
//! Each learns from the training rows alone, choices such as its penalty included, and predicts the test rows.
//!
//! source  METHODS §7

use super::measures::Predictions;
use super::{knn, linear_svm, ridge, svm};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// A model that features are judged by.
#[derive(Clone, Debug, PartialEq)]
pub enum Judge {
    /// Majority (numbers: mean) of the nearest rows, L2; ties of votes go to the class of the nearest among the tied.
    Knn {
        /// How many rows have a vote.
        n_neighbors: usize,
    },
    /// Ridge on the labels (one-hot; the largest fit wins) with an intercept that is not penalised; the penalty by
    /// exact leave-one-out.
    Ridge,
    /// Least squares with an intercept; of the smallest norm where the columns are dependent.
    Linear,
    /// Linear support vector machine: squared hinge, one class against the rest.
    LinearSvm {
        /// Weight of the errors; None: among 0.01, 0.1, 1, 10, 100 by 3 folds of the training rows.
        c: Option<f64>,
    },
    /// Support vector machine with the rbf kernel: class against class; numbers: ε-insensitive regression on the
    /// standardised target, ε = 0.1.
    RbfSvm {
        /// Weight of the errors; None: among 1, 10, 100 by 3 folds of the training rows.
        c: Option<f64>,
        /// Width of the kernel; None: by the rule `scale`.
        gamma: Option<f64>,
    },
}

/// What a judge said.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// One a test row.
    pub predictions: Predictions,
    /// Kernel values that one prediction costs: `rbf-svm`: the number of distinct support vectors; else 0.
    pub support: usize,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl Judge {
    /// Every judge's name.
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

    /// The judge with this name and its defaults: one neighbour, everything else chosen from the training rows.
    ///
    /// ```
    /// use mercer::evaluate::judge::Judge;
    ///
    /// assert_eq!(Judge::named("knn")?, Judge::Knn { n_neighbors: 1 });
    /// assert!(Judge::named("forest").unwrap_err().to_string().contains("linear-svm"));
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
                    "judge = `{name}` is not known; use one of {}",
                    Self::NAMES.join(", ")
                )));
            }
        })
    }

    /// An error if its settings make no sense or it does not serve labels of this kind: `linear-svm` needs classes.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::judge::Judge};
    ///
    /// let numbers = Labels::Numbers(vec![0.5, 1.5]);
    /// assert!(Judge::Ridge.check(&numbers).is_ok());
    /// assert!(Judge::LinearSvm { c: None }.check(&numbers).is_err());
    /// ```
    pub fn check(&self, labels: &Labels) -> Result<()> {
        match self {
            Self::Knn { n_neighbors: 0 } => Err(Error::argument("n_neighbors = 0, but at least 1 is needed")),
            Self::LinearSvm { c } => {
                positive("c", *c)?;
                match labels {
                    Labels::Numbers(_) => labels.require_classes(self.name()).map(|_| ()),
                    Labels::Classes { .. } => Ok(()),
                }
            }
            Self::RbfSvm { c, gamma } => positive("c", *c).and_then(|()| positive("gamma", *gamma)),
            _ => Ok(()),
        }
    }

    /// Learns from the training rows and predicts the test rows. Rows may be dense or sparse; the seed is for inner
    /// folds.
    ///
    /// ```
    /// use mercer::{Labels, Monitor, Rows, evaluate::{judge::Judge, measures::Predictions}};
    ///
    /// let train = Rows::dense(vec![0.0, 1.0, 8.0, 9.0], 4, 1)?;
    /// let labels = Labels::classes(&["a", "a", "b", "b"]);
    /// let test = Rows::dense(vec![2.0, 7.0], 2, 1)?;
    /// for name in Judge::NAMES {
    ///     let judged = Judge::named(name)?.predict(&train, &labels, &test, 0, &Monitor::default())?;
    ///     assert_eq!(judged.predictions, Predictions::Classes(vec![0, 1]), "{name}");
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
    ) -> Result<Judged> {
        self.check(labels)?;
        check_rows(train, labels, test)?;
        if let Some(judged) = one_class(labels, test.n()) {
            return Ok(judged);
        }
        match *self {
            Self::Knn { n_neighbors } => {
                let predictions = knn::predict(train, labels, test, n_neighbors, monitor)?;
                let few = n_neighbors > train.n();
                let warning = || {
                    format!(
                        "n_neighbors = {n_neighbors}, but there are {} rows to learn from; all of them vote",
                        train.n()
                    )
                };
                Ok(Judged { predictions, support: 0, warnings: few.then(warning).into_iter().collect() })
            }
            Self::Ridge => ridge::predict(train, labels, test, true, monitor),
            Self::Linear => ridge::predict(train, labels, test, false, monitor),
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

/// What every judge needs of rows and labels.
pub(super) fn check_rows(train: &Rows, labels: &Labels, test: &Rows) -> Result<()> {
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
            "{} rows to learn from and {} to be asked about; at least one of each is needed",
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

/// The answer where the training rows have one class only.
fn one_class(labels: &Labels, n: usize) -> Option<Judged> {
    let Labels::Classes { codes, names } = labels else { return None };
    let only = *codes.first()?;
    codes.iter().all(|&code| code == only).then(|| Judged {
        predictions: Predictions::Classes(vec![only; n]),
        support: 0,
        warnings: vec![format!(
            "the rows to learn from have one class only, `{}`, which is predicted everywhere",
            names[only]
        )],
    })
}
