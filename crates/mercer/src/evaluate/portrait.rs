//! What a fitted method looks like: the numbers that a page or a plot shows.

use crate::data::labels::Labels;

/// Numbers about one fitted method on the rows that it was fitted on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portrait {
    /// The method.
    pub method: String,
    /// The basis below it.
    pub basis: String,
    /// The width; None: a kernel without γ.
    pub gamma: Option<f64>,
    /// Share of mean k(x,x) that is left after 0, 1, …, m coordinates of the basis.
    pub residuals: Vec<f64>,
    /// Norms of the pivots' residuals; empty if the basis has none.
    pub pivot_norms: Vec<f64>,
    /// Eigenvalues of the method, else of the basis, descending; empty if neither has any.
    pub spectrum: Vec<f64>,
    /// Scores of the features in the map's order, high is good; empty if the method has none.
    pub scores: Vec<f64>,
    /// Names of the best two or three features (one, if there is one only), best first.
    pub point_names: Vec<String>,
    /// These features of a seeded sample of rows: `points[i]` has one number a name.
    pub points: Vec<Vec<f64>>,
    /// The labels of the sampled rows.
    pub point_labels: Option<Labels>,
    /// Each input and its share of the features' dependence on the inputs, in the inputs' order; empty where the kernel
    /// has no slopes.
    pub importance: Vec<(String, f64)>,
    /// Number of features.
    pub n_features: usize,
    /// Kernel values that a row costs.
    pub kernel_values: usize,
}
