//! Encoding: columns of numbers, booleans, dates, text and missing values become columns of numbers.
//!
//!   number, boolean   x                                   missing: NaN until it is filled, and 1 in `x missing`
//!   date              year, month, weekday, hour, days    those that differ between the rows; missing likewise
//!   text, category    one column a value, `x=value`       missing: 0 in all of them, and 1 in `x missing`
//!
//! What a column becomes is learned from training rows and kept with the model; new rows are encoded in the same way. A value
//! that no training row had is 0 in all columns of its category. NaN is filled by the column's median of the training rows
//! ([`Medians`]), which an evaluation learns anew in each training part.
//!
//! cost    two passes over the cells; text is stored once a distinct value

mod date;
mod raw;
mod learn;
mod apply;
mod json;
mod medians;

pub use date::DatePart;
pub use medians::Medians;
#[cfg(feature = "formats")]
pub(crate) use raw::{RawColumn, is_missing};
pub use raw::{RawRows, RawTable, RawValues};

use crate::error::{Error, Result};

/// What becomes of missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Filled by the median of the training rows; a further column says where.
    #[default]
    Fill,
    /// An error says where the first one is.
    Refuse,
    /// Left as NaN, for an evaluation that fills them by the medians of each training part.
    Keep,
}

impl Missing {
    /// The choices that users have, by name.
    pub const NAMES: [(&'static str, Self); 2] = [("fill", Self::Fill), ("refuse", Self::Refuse)];
}

impl std::str::FromStr for Missing {
    type Err = Error;

    /// The choice of this name.
    ///
    /// ```
    /// use mercer::data::encode::Missing;
    ///
    /// assert_eq!("refuse".parse::<Missing>()?, Missing::Refuse);
    /// assert!("mean".parse::<Missing>().is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    fn from_str(name: &str) -> Result<Self> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, missing)| *missing).ok_or_else(|| {
            Error::argument(format!("missing = `{name}` is not known; use one of fill, refuse"))
        })
    }
}

/// Settings of [`Encoder::learn`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodeSettings {
    /// Columns whose values are categories, whatever they are and however many.
    pub categorical: Vec<String>,
    /// What becomes of missing values.
    pub missing: Missing,
    /// Whether plain numbers get an encoder, too: its medians fill what is missing in other rows.
    pub keep_medians: bool,
    /// Whether columns that number the rows are inputs like any other.
    pub keep_row_numbers: bool,
    /// Whether columns are known by their place, because they have no names.
    pub by_place: bool,
}

/// What one column becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// One column of the numbers; `true` is 1 and `false` is 0, as in columns of booleans that are stored as text.
    /// `indicator`: and one that says where they are missing.
    Number {
        /// Whether training rows had missing values.
        indicator: bool,
    },
    /// One column: `true` and `yes` are 1, `false` and `no` are 0.
    Boolean {
        /// Whether training rows had missing values.
        indicator: bool,
    },
    /// One column a part.
    Date {
        /// The parts, those that differ between the training rows.
        parts: Vec<DatePart>,
        /// Whether training rows had missing values.
        indicator: bool,
    },
    /// One column a value: 1 where the row has it.
    Category {
        /// The values of the training rows, ascending (as numbers if all of them are numbers).
        values: Vec<String>,
        /// Whether training rows had missing values.
        indicator: bool,
    },
    /// No column.
    Dropped {
        /// Why.
        why: String,
    },
}

/// A column of the source and what it becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedColumn {
    /// Its name in the source.
    pub name: String,
    /// What it becomes.
    pub encoding: Encoding,
}

impl EncodedColumn {
    fn indicator(&self) -> bool {
        match self.encoding {
            Encoding::Number { indicator }
            | Encoding::Boolean { indicator }
            | Encoding::Date { indicator, .. }
            | Encoding::Category { indicator, .. } => indicator,
            Encoding::Dropped { .. } => false,
        }
    }

    fn is_dropped(&self) -> bool {
        matches!(self.encoding, Encoding::Dropped { .. })
    }

    /// Names of the columns that it becomes.
    fn outputs(&self) -> Vec<String> {
        let name = &self.name;
        let mut names: Vec<String> = match &self.encoding {
            Encoding::Number { .. } | Encoding::Boolean { .. } => vec![name.clone()],
            Encoding::Date { parts, .. } => {
                parts.iter().map(|part| format!("{name} {}", part.name())).collect()
            }
            Encoding::Category { values, .. } => {
                values.iter().map(|value| format!("{name}={value}")).collect()
            }
            Encoding::Dropped { .. } => Vec::new(),
        };
        if self.indicator() {
            names.push(format!("{name} missing"));
        }
        names
    }
}

/// How the columns of a table become numbers, learned from training rows.
///
/// ```
/// use mercer::data::encode::{EncodeSettings, Encoder, RawTable, RawValues};
///
/// let kinds = |kinds: &[&str]| RawValues::Texts(kinds.iter().map(|k| Some(k.to_string())).collect());
/// let mut train = RawTable::new(&["size", "kind"], None);
/// train.push(vec![RawValues::Numbers(vec![1.0, f64::NAN, 5.0]), kinds(&["red", "blue", "red"])])?;
/// let (encoder, encoded) = Encoder::learn(&train.finish()?, &EncodeSettings::default())?;
/// assert_eq!(encoder.names(), ["size", "size missing", "kind=blue", "kind=red"]);
/// assert_eq!(encoded.rows.to_dense()[4..8], [3.0, 1.0, 1.0, 0.0]); // the median of 1 and 5
///
/// let mut new = RawTable::new(&["kind", "size"], None);
/// new.push(vec![kinds(&["green"]), RawValues::Numbers(vec![2.0])])?;
/// let encoded = encoder.apply(&new.finish()?)?;
/// assert_eq!(encoded.rows.to_dense(), [2.0, 0.0, 0.0, 0.0]);
/// assert!(encoded.notes[0].contains("`green`"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// The columns of the source, in its order.
    pub columns: Vec<EncodedColumn>,
    /// Whether columns are known by their place, because they have no names.
    pub by_place: bool,
    /// What fills missing values, one number for each of [`names`](Self::names); None: they are refused.
    pub medians: Option<Medians>,
}

/// Encoded rows, and what the user should know of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The rows.
    pub rows: crate::data::Rows<'static>,
    /// What happened that is usual, such as filled values.
    pub notes: Vec<String>,
    /// What happened that may be wrong, such as dropped columns.
    pub warnings: Vec<String>,
}

impl Encoder {
    /// Names of the columns that the table becomes.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().flat_map(EncodedColumn::outputs).collect()
    }

    /// Names of the source's columns that new rows must have; all of them where columns are known by their place.
    pub fn inputs(&self) -> Vec<String> {
        let needed = self.columns.iter().filter(|column| self.by_place || !column.is_dropped());
        needed.map(|column| column.name.clone()).collect()
    }

    /// What became of the columns, in words: one line for each that is not just a number.
    ///
    /// ```
    /// use mercer::data::encode::{EncodeSettings, Encoder, RawTable, RawValues};
    ///
    /// let mut train = RawTable::new(&["done"], None);
    /// train.push(vec![RawValues::Texts(vec![Some("yes".into()), Some("no".into())])])?;
    /// let (encoder, _) = Encoder::learn(&train.finish()?, &EncodeSettings::default())?;
    /// assert_eq!(encoder.describe(), [("done".to_string(), "yes or no, as 1 or 0".to_string())]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn describe(&self) -> Vec<(String, String)> {
        let mut at = 0;
        let mut lines = Vec::new();
        for column in &self.columns {
            let first = at;
            at += column.outputs().len();
            let median = self.medians.as_ref().and_then(|medians| medians.values.get(first));
            let mut text = match &column.encoding {
                Encoding::Number { indicator: false } => continue,
                Encoding::Number { .. } => "a number".to_string(),
                Encoding::Boolean { .. } => "yes or no, as 1 or 0".to_string(),
                Encoding::Date { parts, .. } => {
                    format!(
                        "a date, as {}",
                        parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(", ")
                    )
                }
                Encoding::Category { values, .. } => {
                    let count =
                        if values.len() == 1 { "1 value".into() } else { format!("{} values", values.len()) };
                    format!("a category of {count} ({})", shortened(values))
                }
                Encoding::Dropped { why } => format!("dropped: it {why}"),
            };
            if column.indicator() {
                let missing = match (&column.encoding, median) {
                    (Encoding::Category { .. }, _) => "; missing is a column of its own".to_string(),
                    (Encoding::Date { .. }, _) => "; missing parts are their medians".to_string(),
                    (_, Some(median)) => format!("; missing is {median}, the median"),
                    _ => String::new(),
                };
                text.push_str(&missing);
            }
            lines.push((column.name.clone(), text));
        }
        lines
    }
}

/// The most values or columns that a message names.
const NAMES_SHOWN: usize = 5;

/// The first few of a list.
fn shortened<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(AsRef::as_ref).collect();
    format!("{}{}", shown.join(", "), if names.len() > NAMES_SHOWN { ", …" } else { "" })
}

/// `true` is 1 and `false` is 0, whatever their case.
pub(crate) fn truth(text: &str) -> Option<f64> {
    [("true", 1.0), ("false", 0.0)].iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, v)| *v)
}

/// As [`truth`], and `yes` is 1 and `no` is 0.
fn boolean(text: &str) -> Option<f64> {
    let words = [("yes", 1.0), ("no", 0.0)];
    truth(text).or_else(|| words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, v)| *v))
}
