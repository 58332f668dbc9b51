//! Named rows with a target: what a file or a generator yields.

use super::labels::Column;
use super::rows::Rows;

/// Rows, what their columns are called, and the target column if one was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The input columns.
    pub rows: Rows<'static>,
    /// Names of the input columns, as many as there are; `x1`, `x2`, … where the source has none.
    pub names: Vec<String>,
    /// Whether the names come from the source (a header) and may be matched by name.
    pub named: bool,
    /// The target as it came; [`Labels::decide`](super::Labels::decide) says what it is.
    pub target: Option<Column>,
    /// Columns set aside with `keep`, as text, for writing beside the features.
    pub kept: Vec<(String, Vec<String>)>,
}

/// The names given to p columns that have none.
pub fn plain_names(p: usize) -> Vec<String> {
    (1..=p).map(|j| format!("x{j}")).collect()
}
