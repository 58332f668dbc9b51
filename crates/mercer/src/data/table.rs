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

/// The name that may have been meant by one that is not there: another by a letter or two.
///
/// ```
/// use mercer::data::table::nearest_name;
///
/// assert_eq!(nearest_name(["gda", "klfe"], "dga"), Some("gda"));
/// assert_eq!(nearest_name(["gda", "klfe"], "ridge"), None);
/// ```
pub fn nearest_name<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    let most = 1 + name.chars().count() / 5;
    let (distance, nearest) =
        names.into_iter().map(|n| (edits(n, name), n)).min_by_key(|(edits, _)| *edits)?;
    (distance <= most).then_some(nearest)
}

/// How many letters of the first 64 differ, are missing, too many or swapped with the next, ignoring case.
pub(crate) fn edits(a: &str, b: &str) -> usize {
    let letters = |s: &str| s.chars().take(64).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let (mut above, mut last) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(above[j - 2] + 1);
            }
            row.push(least);
        }
        above = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
