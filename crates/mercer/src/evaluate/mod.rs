//! Stage 7: evaluation. Folds, measures, evaluators of features, comparisons and advice.

pub mod metrics;
pub mod measures;
pub mod folds;
mod rescale;
pub mod knn;
pub(crate) mod ridge;
pub(crate) mod linear_svm;
mod inner_folds;
mod dual_descent;
mod smo;
pub mod svm;
pub mod evaluator;
pub mod outcome;
pub mod held_out;
mod copies;
pub mod diagnostics;
pub mod advice;
pub mod compare;
pub mod advise;
pub mod auto;
pub mod learn;

pub use advise::Adviser;
pub use auto::Automatic;
pub use compare::Comparison;
pub use evaluator::{Evaluation, Evaluator};
pub use folds::Split;
pub use learn::Learner;
pub use measures::{Measure, Predictions};
