//! Parameters of methods that look at neighbours.

use super::approximate::Search;
use super::neighbours::Metric;
use crate::spec::{Kind, Parameter, Values};

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
