//! Named rows with a target: the result of a reader or a generator.

use super::labels::Column;
use super::rows::Rows;

/// Rows, the names of their columns, and the target column if one was requested.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The input columns.
    pub rows: Rows<'static>,
    /// Names of the input columns; `x1`, `x2`, … if the source has none.
    pub names: Vec<String>,
    /// Whether the names come from the source (a header), so that columns may be matched by name.
    pub named: bool,
    /// The target as it was read; [`Labels::decide`](super::Labels::decide) turns it into classes or numbers.
    pub target: Option<Column>,
    /// Columns requested with `keep`, as text, to be written next to the features.
    pub kept: Vec<(String, Vec<String>)>,
}

/// The names of p columns without names.
pub fn plain_names(p: usize) -> Vec<String> {
    (1..=p).map(|j| format!("x{j}")).collect()
}
