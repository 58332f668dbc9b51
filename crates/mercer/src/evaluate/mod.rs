//! Stage 7: is it good? Measures of kernels and of features.

pub mod metrics;
pub mod knn;
pub mod outcome;
pub mod portrait;
pub mod advice;
