//! Approximate neighbours, when asked for: rows in cells around centres, of which only the cells nearest to a query are
//! searched.
//!
//! cost    n·√n·p to find the centres and the cells; a query n/8·p instead of n·p, in memory that is read in order
//! differs the index is that of `ann-search-rs`, in single precision, by euclidean distance; what it finds is then ranked by
//!         the distance computed from the rows' own numbers. Classes of few rows are searched as always. How many of the
//!         true neighbours are found is measured on some rows and said
//! source  the inverted file of Jégou, Douze & Schmid 2011, without its codes

use ann_search_rs::cpu::ivf::IvfIndex;
use ann_search_rs::prelude::{Dist, Verbosity};

use super::neighbours::Metric;
use super::sieve::Frame;
use crate::error::{Error, Result};

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// All that are nearest.
    #[default]
    Exact,
    /// Most of them, among the cells of an index.
    Approximate,
}

impl Search {
    /// Every search's name.
    pub const NAMES: [&'static str; 2] = ["exact", "approx"];

    /// The search with this name.
    ///
    /// ```
    /// use mercer::evidence::approximate::Search;
    ///
    /// assert_eq!(Search::named("approx")?, Search::Approximate);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "exact" => Ok(Self::Exact),
            "approx" => Ok(Self::Approximate),
            _ => Err(Error::argument(format!(
                "neighbors = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

/// Fewer rows than this are compared one by one: an index would take longer, and find less.
pub(crate) const WORTHWHILE: usize = 20_000;

/// One cell in so many is searched.
const SEARCHED: usize = 8;

/// Rows of a class in cells.
pub(crate) struct Index {
    cells: IvfIndex<f32>,
    searched: usize,
    /// Whether the rows are ranked by the distance that the cells are made of.
    same: bool,
}

impl Index {
    pub(crate) fn new<'r>(
        frame: &Frame,
        rows: impl ExactSizeIterator<Item = &'r [f64]>,
        metric: Metric,
    ) -> Result<Self> {
        let n = rows.len();
        let points: Vec<f32> = rows.flat_map(|row| frame.ready(row, 1.0)).collect();
        let count = (n as f64).sqrt() as usize;
        let rows = (&points[..], n, points.len() / n.max(1));
        let no_index =
            |e: &dyn std::fmt::Display| Error::Numerical(format!("no index of the rows could be built: {e}"));
        // By one thread: on several its centres would depend on their number.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| no_index(&e))?;
        let euclidean = Dist::SquaredEuclidean;
        let cells = alone
            .install(|| IvfIndex::build(rows, euclidean, Some(count), None, 0, Verbosity::Quiet))
            .map_err(|e| no_index(&e))?;
        Ok(Self { cells, searched: count.div_ceil(SEARCHED), same: metric == Metric::Euclidean })
    }

    /// The places of rows that may be among the k nearest of a query.
    pub(crate) fn near(&self, frame: &Frame, query: &[f64], k: usize) -> Result<Vec<usize>> {
        let query: Vec<f32> = frame.ready(query, 1.0).collect();
        // One more, as a row finds itself; and more to choose from by another distance.
        let wanted = if self.same { k + 1 } else { 4 * k + 32 };
        let found = self.cells.query(&query, wanted, Some(self.searched));
        found.map(|(places, _)| places).map_err(|e| Error::Numerical(format!("the index of the rows: {e}")))
    }
}
