//! Some rows and their neighbours, found elsewhere: what the Relief family looks at where the rows lie in several places.
//!
//! Only the rows involved are here, the queries and their neighbours. What depends on all rows is given with them: how
//! frequent each class is, and the ranges of columns and target.
//!
//! differs queries are summed in panels as a local search hands them on, so the sums are the same to rounding

use rayon::prelude::*;

use super::pair_differences;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::target::TargetSummary;
use crate::error::{Error, Result};
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::Found;
use crate::evidence::ranges::Ranges;
use crate::evidence::search::QUERY_ROWS;

/// Rows that are compared with their neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Neighbourhood<'a> {
    /// The columns to choose among, of the rows involved.
    pub(crate) columns: &'a Rows<'a>,
    /// The rows that are compared, as indices of `columns`, in the order of all rows.
    pub(crate) queries: Vec<usize>,
    /// Of each query and group the neighbours, nearest first, as indices of `columns`.
    pub(crate) groups: Vec<Vec<Vec<usize>>>,
    /// The labels of the rows involved.
    pub(crate) labels: Labels,
    /// Rows of each class among all rows; empty for numbers.
    pub(crate) sizes: Vec<usize>,
    /// The number of all rows.
    pub(crate) n: usize,
    /// The smallest and the largest target of all rows, for `rrelieff`; None: those of the classes that have rows.
    pub(crate) target_range: Option<(f64, f64)>,
    /// The columns' ranges over all rows, for `relieff` and `rrelieff`.
    pub(crate) ranges: Option<Ranges>,
}

impl Neighbourhood<'_> {
    /// An error unless everything fits together and there is something to score. `groups`: how many each query must have.
    pub(super) fn check(&self, selector: &str, groups: usize) -> Result<()> {
        let (rows, p) = (self.columns.n(), self.columns.p());
        if self.n < 2 || p == 0 || self.queries.is_empty() {
            return Err(Error::data(format!(
                "the data has {} rows and {p} columns, and {} rows are compared; `{selector}` needs at least 2 rows and 1 \
                 column, and rows to compare",
                self.n,
                self.queries.len()
            )));
        }
        let indices = || self.queries.iter().chain(self.groups.iter().flatten().flatten());
        if self.labels.len() != rows
            || self.groups.len() != self.queries.len()
            || self.groups.iter().any(|of_query| of_query.len() != groups)
            || indices().any(|&i| i >= rows)
            || self.labels.n_classes().is_some_and(|c| c != self.sizes.len())
        {
            return Err(Error::argument(format!(
                "`{selector}`: {rows} rows, {} labels, {} queries and neighbours of {} do not fit together",
                self.labels.len(),
                self.queries.len(),
                self.groups.len()
            )));
        }
        self.columns.check_no_infinity(None)
    }

    /// How the columns of two rows differ. `by_range`: divided by each column's range over all rows.
    pub(super) fn differences(&self, by_range: bool) -> Result<Differences<'_>> {
        if by_range && self.ranges.is_none() {
            return Err(Error::argument(
                "differences are divided by the columns' ranges, which are not given",
            ));
        }
        pair_differences(self.columns, self.ranges.as_ref().filter(|_| by_range))
    }

    /// Calls `sums` with panels of queries; the results come back in the order of the queries.
    pub(super) fn panels<T: Send>(&self, sums: impl Fn(&[Found]) -> T + Sync) -> Vec<T> {
        let panels = self.queries.par_chunks(QUERY_ROWS).zip(self.groups.par_chunks(QUERY_ROWS));
        let found = |(&query, groups): (&usize, &Vec<Vec<usize>>)| Found { query, groups: groups.clone() };
        panels
            .map(|(queries, groups)| sums(&queries.iter().zip(groups).map(found).collect::<Vec<_>>()))
            .collect()
    }

    /// A warning if a class has a single row among all rows.
    pub(super) fn lonely_warning(&self) -> Vec<String> {
        let Labels::Classes { names, .. } = &self.labels else { return Vec::new() };
        TargetSummary::Classes { names: names.clone(), sizes: self.sizes.clone() }.lonely_warning()
    }
}

#[cfg(test)]
mod tests;
