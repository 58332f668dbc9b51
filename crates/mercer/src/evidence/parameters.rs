//! Parameters of methods that look at neighbours.

use std::str::FromStr;

use super::approximate::Search;
use super::neighbours::Metric;
use crate::error::{Error, Result};
use crate::spec::{Kind, Parameter, Values};

/// How many neighbours a row is compared with.
///
/// ```
/// use mercer::select::NeighborCount;
///
/// assert_eq!(NeighborCount::from(7).of(200, 2), 7);
/// assert_eq!(NeighborCount::Share(0.1).of(200, 2), 10); // 10 hits and 10 misses are 0.1 of 200 rows
/// assert_eq!("0.1".parse::<NeighborCount>()?, NeighborCount::Share(0.1));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NeighborCount {
    /// This many of every kind.
    Count(usize),
    /// A share of the rows, above 0 and below 1, that all kinds are together.
    Share(f64),
}

impl NeighborCount {
    /// The number of each kind of neighbours, such as hits and misses, among n rows: a share is rounded down, at least to one.
    pub fn of(self, n: usize, kinds: usize) -> usize {
        match self {
            Self::Count(count) => count,
            // A share such as 0.29 of 100 must not lose a row to rounding.
            Self::Share(share) => ((share * n as f64 / kinds as f64 + 1e-9) as usize).max(1),
        }
    }

    /// The number, where rows are not counted before they are compared.
    pub(crate) fn counted(self) -> Result<usize> {
        match self {
            Self::Count(count) => Ok(count),
            Self::Share(share) => Err(Error::argument(format!(
                "n_neighbors = {share} is a share, but rows in partitions are not counted before the fit\n\
                 hint: give a whole number"
            ))),
        }
    }

    /// The setting `n_neighbors`, which was checked.
    pub(crate) fn from_values(values: &Values) -> Self {
        values.text("n_neighbors").and_then(|text| text.parse().ok()).unwrap_or(Self::Count(1))
    }
}

impl From<usize> for NeighborCount {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl FromStr for NeighborCount {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match (text.parse::<usize>(), text.parse::<f64>()) {
            (Ok(count), _) if count > 0 => Ok(Self::Count(count)),
            (Err(_), Ok(share)) if share > 0.0 && share < 1.0 => Ok(Self::Share(share)),
            _ => Err(Error::argument(format!(
                "n_neighbors = {text}, but it must be a whole number of at least 1, or a share of the rows above 0 and below 1"
            ))),
        }
    }
}

/// Neighbours that a row is compared with, or their share of the rows; each method has a default of its own.
pub(crate) const NEIGHBOR_COUNT: Parameter = Parameter::new(
    "n_neighbors",
    Kind::Text {
        name: "neighbors",
        allowed: "a number ≥ 1 | a share of the rows in (0, 1)",
        check: |text| text.parse::<NeighborCount>().map(drop),
    },
    "neighbours that a row is compared with; a share (0.1) is that of all rows which hits and misses are together",
);

/// How neighbours are found.
pub(crate) const NEIGHBORS: Parameter = Parameter::new(
    "neighbors",
    Kind::Choice(&Search::NAMES),
    "how neighbours are found: all that are nearest, or most of them, by an index; the share found is reported",
)
.default("exact");

/// Rows that are compared with their neighbours.
pub(crate) const N_QUERIES: Parameter =
    Parameter::whole("n_queries", 1, "rows, drawn at random, that are compared with their neighbours")
        .none("all rows");

/// Distance between rows of a plain matrix.
pub(crate) const METRIC: Parameter = Parameter::new(
    "metric",
    Kind::Choice(&Metric::NAMES),
    "distance between rows of a plain matrix; relieff, rrelieff and the SURF family divide columns by their range first",
);

/// What `metric` means where it is not given, for methods that use manhattan distance.
pub(crate) const MANHATTAN: &str = "manhattan; in a kernel's space its own distance";

impl Search {
    /// The setting `neighbors`, which was checked.
    pub(crate) fn from_values(values: &Values) -> Self {
        values.text("neighbors").and_then(|name| Self::named(name).ok()).unwrap_or_default()
    }
}

impl Metric {
    /// The setting `metric`, which was checked.
    pub(crate) fn from_values(values: &Values) -> Option<Self> {
        values.text("metric").and_then(|name| Self::named(name).ok())
    }
}
