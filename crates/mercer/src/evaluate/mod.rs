//! Stage 7: is it good? Measures of kernels and of features.

pub mod metrics;
pub mod measures;
pub mod folds;
mod tame;
pub mod knn;
pub(crate) mod ridge;
pub(crate) mod linear_svm;
mod inner;
mod dual_descent;
mod smo;
pub mod svm;
pub mod judge;
pub mod outcome;
pub mod portrait;
pub mod advice;
pub mod compare;
pub mod advise;
pub mod auto;

pub use advise::Adviser;
pub use auto::Automatic;
pub use compare::Comparison;
pub use folds::Split;
pub use judge::{Judge, Judged};
pub use measures::{Measure, Predictions};
