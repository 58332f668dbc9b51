//! Columns as they were read: numbers, dates, text and missing values, before they are encoded.
//!
//! A cell is a float64. What is no number is a NaN whose low bits say what it is: 0 for a missing value, else one more than the
//! place of a text in its column's list. So numbers, which are most of what there is, are stored as they are.

use std::collections::BTreeMap;

use super::{boolean, date};
use crate::data::store::{Growing, Store};
use crate::error::{Error, Result};

/// The bits of a NaN without a payload.
const MISSING: u64 = 0x7ff8_0000_0000_0000;

/// The most distinct texts that a column remembers; what has more is no category.
const MOST_TEXTS: usize = 100_000;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A number, or a date in days since 1970-01-01.
    Value(f64),
    Missing,
    /// The place of a text in its column's list; [`MOST_TEXTS`] for one that is not in it.
    Text(usize),
}

impl Cell {
    pub(super) fn of(value: f64) -> Self {
        match value.to_bits() ^ MISSING {
            _ if !value.is_nan() => Self::Value(value),
            0 => Self::Missing,
            place => Self::Text(place as usize - 1),
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Value(value) => value,
            Self::Missing => f64::from_bits(MISSING),
            Self::Text(place) => f64::from_bits(MISSING | (place as u64 + 1)),
        }
    }
}

/// Whether a text stands for a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    let words = ["", "na", "nan", "null", "?", "none", "n/a", "#n/a", "<na>", "nat"];
    text.len() <= 4 && words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// What is known of one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawColumn {
    pub(super) name: String,
    /// Whether the header has no name for it.
    pub(super) unnamed: bool,
    /// Whether its values that are not text are dates.
    pub(super) dates: bool,
    /// Whether its type says that its values are categories.
    pub(super) categories: bool,
    /// Missing values.
    pub(super) missing: usize,
    /// Texts.
    pub(super) texts: usize,
    /// The distinct texts by their place.
    pub(super) distinct: Vec<String>,
    places: BTreeMap<String, usize>,
    /// Bytes that the distinct texts take, about.
    text_bytes: usize,
    /// What a column that cannot be read holds.
    pub(super) unusable: Option<String>,
}

impl RawColumn {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    #[cfg(feature = "formats")]
    pub(crate) fn without_name(self) -> Self {
        Self { unnamed: true, ..self }
    }

    #[cfg(feature = "formats")]
    pub(crate) fn of_dates(self) -> Self {
        Self { dates: true, ..self }
    }

    #[cfg(feature = "formats")]
    pub(crate) fn of_categories(self) -> Self {
        Self { categories: true, ..self }
    }

    #[cfg(feature = "formats")]
    pub(crate) fn of_unusable(self, kind: &str) -> Self {
        Self { unusable: Some(kind.into()), ..self }
    }

    /// Whether numbers may be stored as they are.
    #[cfg(feature = "formats")]
    pub(crate) fn takes_numbers(&self) -> bool {
        !self.dates
    }

    /// Bytes that the distinct texts take, about.
    #[cfg(feature = "formats")]
    pub(crate) fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The cell for a missing value.
    pub(crate) fn missing(&mut self) -> f64 {
        self.missing += 1;
        Cell::Missing.to_f64()
    }

    /// The cell for a number in a column of any kind, below so many rows.
    pub(crate) fn number(&mut self, value: f64) -> f64 {
        if value.is_nan() {
            return self.missing();
        }
        if self.dates { self.intern(&number_text(value)) } else { value }
    }

    /// The cell for text that is no number, below so many rows: a date, if the column holds nothing else, or a word.
    pub(crate) fn text(&mut self, text: &str, rows: usize) -> f64 {
        let only_missing = self.missing == rows;
        if (self.dates || only_missing)
            && !self.categories
            && let Some(days) = date::parse(text)
        {
            self.dates = true;
            return days;
        }
        self.intern(text)
    }

    fn intern(&mut self, text: &str) -> f64 {
        self.texts += 1;
        let place = match self.places.get(text) {
            Some(place) => *place,
            None if self.distinct.len() == MOST_TEXTS => MOST_TEXTS,
            None => {
                self.places.insert(text.into(), self.distinct.len());
                self.distinct.push(text.into());
                self.text_bytes += 2 * (size_of::<String>() + text.len());
                self.distinct.len() - 1
            }
        };
        Cell::Text(place).to_f64()
    }

    /// Whether all of its values, in n rows, are true and false, or yes and no.
    pub(super) fn holds_booleans(&self, n: usize) -> bool {
        let words_only = self.texts > 0 && self.texts + self.missing == n;
        words_only && self.distinct.iter().all(|text| boolean(text).is_some())
    }

    /// A cell as text; None for a missing value and for one of too many texts.
    pub(super) fn text_of(&self, cell: Cell) -> Option<String> {
        match cell {
            Cell::Missing => None,
            Cell::Text(place) => self.distinct.get(place).cloned(),
            Cell::Value(days) if self.dates => Some(date::text(days)),
            Cell::Value(value) => Some(number_text(value)),
        }
    }
}

/// A number as a category is called: 3, not 3.0; zero has no sign.
fn number_text(value: f64) -> String {
    (value + 0.0).to_string()
}

/// The value of a column given to [`RawTable::push`].
#[derive(Clone, Debug)]
pub enum RawValues {
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// Days since 1970-01-01; NaN is missing.
    Dates(Vec<f64>),
    /// Text, which may turn out to be numbers, booleans or dates; None is missing, and so are `NA`, `null` and the like.
    Texts(Vec<Option<String>>),
    /// Text of a column whose type is text: as [`Texts`](Self::Texts), but `007` is no number.
    Words(Vec<Option<String>>),
    /// Categories: text that stays text.
    Categories(Vec<Option<String>>),
}

impl RawValues {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Dates(values) => values.len(),
            Self::Texts(values) | Self::Words(values) | Self::Categories(values) => values.len(),
        }
    }
}

/// Rows whose columns are numbers, dates, booleans, text or partly missing.
///
/// ```
/// use mercer::data::encode::{RawTable, RawValues};
///
/// let mut table = RawTable::new(&["size", "kind"], None);
/// let kinds = ["red", "blue"].map(|kind| Some(kind.to_string())).to_vec();
/// table.push(vec![RawValues::Numbers(vec![1.5, f64::NAN]), RawValues::Texts(kinds)])?;
/// assert_eq!(table.n(), 2);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug)]
pub struct RawTable {
    pub(super) columns: Vec<RawColumn>,
    cells: Growing<f64>,
    n: usize,
}

impl RawTable {
    /// No rows yet. Of the cells, so many bytes may be in memory (None: all); more go to a temporary file.
    pub fn new(names: &[&str], memory: Option<u64>) -> Self {
        Self {
            columns: names.iter().map(|name| RawColumn::new(name)).collect(),
            cells: Growing::new(memory.unwrap_or(u64::MAX)),
            n: 0,
        }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Adds rows: as many values for every column. A column's kind may differ between calls, as it does between parts of a file.
    pub fn push(&mut self, values: Vec<RawValues>) -> Result<()> {
        let rows = values.first().map_or(0, RawValues::len);
        if values.len() != self.columns.len() || values.iter().any(|column| column.len() != rows) {
            return Err(Error::data(format!(
                "{} columns of {:?} values were given; {} columns of as many values each are needed",
                values.len(),
                values.iter().map(RawValues::len).collect::<Vec<_>>(),
                self.columns.len()
            )));
        }
        let p = values.len();
        let mut cells = vec![0.0; rows * p];
        for (j, (column, values)) in self.columns.iter_mut().zip(values).enumerate() {
            let mut places = cells[j.min(rows * p)..].iter_mut().step_by(p);
            let mut put = |cell: f64| places.next().into_iter().for_each(|place| *place = cell);
            match values {
                RawValues::Numbers(values) => {
                    for value in values {
                        if value.is_infinite() {
                            return Err(Error::data(format!(
                                "column `{}` holds infinity; only finite numbers and missing values are allowed",
                                column.name
                            )));
                        }
                        put(column.number(value));
                    }
                }
                RawValues::Dates(values) => {
                    let empty = column.missing == self.n;
                    column.dates |= empty;
                    for days in values {
                        put(match (days.is_finite(), column.dates) {
                            (false, _) => column.missing(),
                            (true, true) => days,
                            (true, false) => column.intern(&date::text(days)),
                        });
                    }
                }
                RawValues::Texts(values) => {
                    for (i, value) in values.iter().enumerate() {
                        put(column.any_text(value.as_deref(), self.n + i));
                    }
                }
                RawValues::Words(values) => {
                    for (i, value) in values.iter().enumerate() {
                        put(column.word(value.as_deref(), self.n + i));
                    }
                }
                RawValues::Categories(values) => {
                    column.categories = true;
                    for (i, value) in values.iter().enumerate() {
                        put(match value {
                            Some(text) => column.text(text, self.n + i),
                            None => column.missing(),
                        });
                    }
                }
            }
        }
        self.n += rows;
        self.cells.extend(&cells)
    }

    /// All rows are there.
    pub fn finish(self) -> Result<RawRows> {
        RawRows::new(self.columns, self.cells.finish()?, self.n)
    }
}

impl RawColumn {
    /// The cell for a text that is no number, whatever it looks like.
    pub(crate) fn word(&mut self, text: Option<&str>, rows: usize) -> f64 {
        let text = text.unwrap_or_default().trim();
        if is_missing(text) { self.missing() } else { self.text(text, rows) }
    }

    /// The cell for a text that may be a number.
    pub(crate) fn any_text(&mut self, text: Option<&str>, rows: usize) -> f64 {
        let text = text.unwrap_or_default().trim();
        if is_missing(text) {
            return self.missing();
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => self.number(value),
            _ => self.text(text, rows),
        }
    }
}

/// All rows of a table, ready to be encoded.
#[derive(Debug)]
pub struct RawRows {
    pub(super) columns: Vec<RawColumn>,
    pub(super) cells: Store<'static, f64>,
    n: usize,
}

impl RawRows {
    pub(crate) fn new(columns: Vec<RawColumn>, cells: Store<'static, f64>, n: usize) -> Result<Self> {
        if columns.is_empty() || n == 0 {
            return Err(Error::data(format!(
                "the table has {n} rows of {} columns; at least one of each is needed",
                columns.len()
            )));
        }
        Ok(Self { columns, cells, n })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The cells of one column.
    pub(super) fn column(&self, j: usize) -> impl Iterator<Item = f64> {
        self.cells.iter().skip(j).step_by(self.columns.len()).copied()
    }

    /// The names of the columns.
    #[cfg(feature = "formats")]
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Whether every cell is a number.
    #[cfg(feature = "formats")]
    pub(super) fn is_plain(&self) -> bool {
        self.columns.iter().all(|column| {
            column.missing == 0 && column.texts == 0 && !column.dates && column.unusable.is_none()
        })
    }

    #[cfg(feature = "formats")]
    pub(crate) fn into_store(self) -> Store<'static, f64> {
        self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_what_it_was_made_from() {
        for cell in [Cell::Value(-0.5), Cell::Missing, Cell::Text(0), Cell::Text(MOST_TEXTS)] {
            assert_eq!(Cell::of(cell.to_f64()), cell);
        }
    }

    #[test]
    fn numbers_in_a_column_of_dates_are_text_and_dates_in_a_column_of_numbers_too() {
        let mut column = RawColumn::new("a");
        assert_eq!(Cell::of(column.any_text(Some("2024-01-01"), 0)), Cell::Value(19_723.0));
        assert_eq!(Cell::of(column.any_text(Some("7.0"), 1)), Cell::Text(0));
        assert_eq!(column.distinct, ["7"]);
        let mut column = RawColumn::new("a");
        assert_eq!(Cell::of(column.any_text(Some("7"), 0)), Cell::Value(7.0));
        assert_eq!(Cell::of(column.any_text(Some("2024-01-01"), 1)), Cell::Text(0));
        assert!(!column.dates);
    }
}
