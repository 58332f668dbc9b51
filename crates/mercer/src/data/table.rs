//! Named rows with a target: the result of a reader or a generator.

use std::borrow::Cow;

use super::encode::Encoder;
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
    /// How the source's columns became the input columns; None: they are numbers as they are.
    pub encoder: Option<Encoder>,
    /// What the user should know of the source, such as filled values or an unusual separator.
    pub notes: Vec<String>,
    /// What may be wrong with the source, such as dropped columns.
    pub warnings: Vec<String>,
}

impl Table {
    /// Rows with names, and nothing else.
    pub(crate) fn of_rows(rows: Rows<'static>, names: Vec<String>) -> Self {
        let (kept, notes, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Self { rows, names, named: true, target: None, kept, encoder: None, notes, warnings }
    }
}

/// The names of p columns without names.
pub fn plain_names(p: usize) -> Vec<String> {
    (1..=p).map(|j| format!("x{j}")).collect()
}

/// The characters of a name that are shown.
const SHOWN_CHARACTERS: usize = 80;

/// A name as it is shown: what is beyond 80 characters is cut.
///
/// ```
/// use mercer::data::table::shown;
///
/// assert_eq!(shown("width"), "width");
/// assert_eq!(shown(&"é".repeat(1_000)).chars().count(), 81);
/// ```
pub fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}
