//! Approximate neighbours by inverted lists (IVF): rows are grouped around k-means centroids, and a query searches only the
//! lists whose centroids are nearest to it.
//!
//! A list is scanned once for all queries of a panel that probe it, through the float32 prefilter. The number of lists to
//! probe is calibrated first: on a sample of queries with known neighbours, until `TARGET_RECALL` of these are found.
//!
//! cost    n·√n·p for centroids and lists; then the probed share of an exact search
//! differs the k-means is that of `ann-search-rs`, on a sample of the rows, single-threaded and in euclidean distance; lists
//!         and queries use the requested metric. The search is exact for few queries, for classes of few rows, and for a
//!         class of which more than half of the lists would be probed. The recall is measured on another sample of queries
//!         and reported
//! source  the inverted file of Jégou, Douze & Schmid 2011, without product quantisation

use std::ops::Range;

use ann_search_rs::prelude::{Dist, KMeansTrainingParams, Verbosity};
use ann_search_rs::utils::k_means_utils::train_centroids;
use rayon::prelude::*;

use super::neighbours::{Found, Groups, Space};
use super::prefilter::{Block, Candidates, Frame, Tiles};
use super::search::{Base, Index, QUERY_ROWS, Strategy};
use crate::data::rows::{Dense, Rows};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::random;

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// All nearest neighbours.
    #[default]
    Exact,
    /// Most of them, by inverted lists (IVF).
    Approximate {
        /// With fewer rows of a class, or fewer queries, the search is exact.
        min_rows: usize,
    },
}

impl Search {
    /// An approximate search where it pays: below 20 000 rows an exact one is faster than building the lists.
    pub const APPROXIMATE: Self = Self::Approximate { min_rows: 20_000 };

    /// Every search's name.
    pub const NAMES: [&'static str; 2] = ["exact", "approx"];

    /// The search with this name.
    ///
    /// ```
    /// use mercer::evidence::approximate::Search;
    ///
    /// assert_eq!(Search::named("approx")?, Search::APPROXIMATE);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "exact" => Ok(Self::Exact),
            "approx" => Ok(Self::APPROXIMATE),
            _ => Err(Error::argument(format!(
                "neighbors = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

/// The share of the true neighbours that should be found.
const TARGET_RECALL: f64 = 0.95;

/// Queries that calibrate the number of probed lists, and queries on which the recall is then measured.
const CALIBRATION_QUERIES: usize = 256;
const RECALL_QUERIES: usize = 100;

/// Size and length of the k-means. Measured at p = 20: larger values cost more than better lists save.
const KMEANS_ROWS_PER_CENTROID: usize = 32;
const KMEANS_ITERATIONS: usize = 5;

impl Space<'_> {
    /// [`nearest`](Self::nearest) by an exact or an approximate search; and a note on the recall, unless the search was exact.
    ///
    /// ```
    /// use mercer::evidence::{approximate::Search, differences::Differences, neighbours::{Groups, Metric, Space}};
    /// use mercer::{Monitor, data::synth};
    ///
    /// let table = synth::generate("ringnorm?n=4000")?;
    /// let every: Vec<usize> = (0..4_000).collect();
    /// let space = Space::Plain(Differences::new(&table.rows, &[], false)?, Metric::Euclidean);
    /// let monitor = Monitor::default();
    /// let search = Search::Approximate { min_rows: 2_000 };
    /// let (_, note) = space.nearest_by(search, Groups::All, 5, &every, &monitor, |f| f.to_vec())?;
    /// assert!(note.is_some_and(|note| note.contains("% of the true ones were found")));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`nearest`](Self::nearest).
    pub fn nearest_by<T: Send>(
        &self,
        search: Search,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[Found]) -> T + Sync,
    ) -> Result<(Vec<T>, Option<String>)> {
        let exact = || Ok((self.nearest(groups, k, queries, monitor, &hand_on)?, None));
        let Search::Approximate { min_rows } = search else { return exact() };
        let strategy = self.ivf_strategy(min_rows)?;
        if queries.len() < min_rows || !groups.any_of(self.n(), min_rows) {
            return exact();
        }
        let mut base = self.base(self.n(), groups.classes(), strategy)?;
        // A random sample: rows at equal steps may have something in common.
        let drawn = random::sample(queries.len(), CALIBRATION_QUERIES + RECALL_QUERIES, 0);
        let drawn: Vec<usize> = drawn.into_iter().map(|at| queries[at]).collect();
        let (calibration, held_out) = drawn.split_at(CALIBRATION_QUERIES);
        // All lists are probed until their number is calibrated.
        let truth = |rows: &[usize]| -> Result<Vec<Found>> {
            Ok(self.among(&base, groups, k, rows, monitor, <[Found]>::to_vec)?.concat())
        };
        let (of_calibration, all) = (truth(calibration)?, truth(held_out)?);
        self.calibrate(&mut base, &of_calibration, k);
        let found = self.among(&base, groups, k, queries, monitor, &hand_on)?;
        if base.parts.iter().all(|part| !matches!(&part.index, Index::Ivf(lists) if lists.is_approximate())) {
            return Ok((found, None));
        }
        let most = self.among(&base, groups, k, held_out, monitor, <[Found]>::to_vec)?.concat();
        let pairs = || all.iter().zip(&most).flat_map(|(all, most)| all.groups.iter().zip(&most.groups));
        let right: usize = pairs().map(|(all, most)| all.iter().filter(|i| most.contains(i)).count()).sum();
        let whole: usize = pairs().map(|(all, _)| all.len()).sum();
        let share = if whole > 0 { 100.0 * right as f64 / whole as f64 } else { 100.0 };
        let note = format!(
            "neighbours are approximate: {share:.1} % of the true ones were found (measured on {} rows)",
            held_out.len()
        );
        Ok((found, Some(note)))
    }

    /// The strategy with inverted lists; an error where the rows or the distance do not allow it.
    fn ivf_strategy(&self, min_rows: usize) -> Result<Strategy> {
        match self {
            Self::Plain(differences, metric) if differences.is_plain() && differences.p() > 0 => {
                if let Rows::Dense(rows) = differences.prepared() {
                    let frame = Frame::new(rows, self.n(), differences.p(), *metric);
                    return Ok(Strategy::Ivf { frame, min_rows });
                }
                Err(Error::argument(
                    "neighbors = `approx` needs dense rows, but these are sparse\nhint: use `exact`, with n_queries",
                ))
            }
            Self::Plain(..) => Err(Error::argument(
                "neighbors = `approx` needs rows without missing values and categories; use `exact`, with n_queries",
            )),
            Self::Kernel(kernel, ..) => Err(Error::argument(format!(
                "neighbors = `approx` needs a kernel of a distance (`rbf`, `laplacian`, `matern32`, …) or `linear`, but it is \
                 `{}`; use `exact`, with n_queries",
                kernel.shape.name()
            ))),
        }
    }

    /// Sets the number of probed lists of each class such that they hold most neighbours of these queries.
    fn calibrate(&self, base: &mut Base, found: &[Found], k: usize) {
        let mut places = vec![0; base.order.len()];
        base.order.iter().enumerate().for_each(|(place, &i)| places[i] = place);
        let queries: Vec<usize> = found.iter().map(|found| found.query).collect();
        let Some(block) = self.block(base, &queries) else { return };
        for part in &mut base.parts {
            let Index::Ivf(lists) = &mut part.index else { continue };
            let mut needed = Vec::new();
            // All lists are still probed here, nearest first.
            for (found, order) in found.iter().zip(lists.probed(&block)) {
                let mut ranks = vec![0; lists.count()];
                order.iter().enumerate().for_each(|(rank, &list)| ranks[list] = rank + 1);
                let of_part = found.groups.iter().flatten().map(|&i| places[i]);
                let of_part = of_part.filter(|place| part.places.contains(place));
                needed.extend(of_part.map(|place| ranks[lists.list_of(place - part.places.start)]));
            }
            lists.n_probe = lists.lists_needed(needed, k);
        }
    }
}

/// Inverted lists of the rows of a class.
pub(crate) struct IvfLists {
    centroids: Tiles,
    /// The rows of each list.
    tiles: Vec<Tiles>,
    /// The position of each list's first row, and the total number of rows.
    starts: Vec<usize>,
    /// Number of lists that a query probes.
    n_probe: usize,
}

impl IvfLists {
    /// Builds the lists and reorders the rows list by list, within a list in ascending order.
    pub(crate) fn new(frame: &Frame, rows: &Dense, indices: &mut [usize]) -> Result<Self> {
        let centroids = centroids(frame, rows, indices)?;
        let all = Tiles::new(frame, centroids.iter().map(|row| &row[..]));
        let lists: Vec<Vec<usize>> = indices
            .par_chunks(QUERY_ROWS)
            .map(|indices| {
                let Some(block) = Block::new(frame, indices.iter().map(|&i| rows.row(i))) else {
                    unreachable!("the frame was made for these rows")
                };
                block.nearest(&all, centroids.len(), 1).concat()
            })
            .collect();
        let mut members = vec![Vec::new(); centroids.len()];
        for (&i, list) in indices.iter().zip(lists.into_iter().flatten()) {
            members[list].push(i);
        }
        let kept = || members.iter().zip(&centroids).filter(|(members, _)| !members.is_empty());
        let mut starts = vec![0];
        for (members, _) in kept() {
            let start = starts[starts.len() - 1];
            indices[start..start + members.len()].copy_from_slice(members);
            starts.push(start + members.len());
        }
        let centroids: Vec<&[f64]> = kept().map(|(_, centroid)| &centroid[..]).collect();
        let tiles =
            |list: &[usize]| Tiles::new(frame, indices[list[0]..list[1]].iter().map(|&i| rows.row(i)));
        Ok(Self {
            n_probe: centroids.len(),
            centroids: Tiles::new(frame, centroids.into_iter()),
            tiles: starts.par_windows(2).map(tiles).collect(),
            starts,
        })
    }

    /// Number of lists, none of them empty.
    fn count(&self) -> usize {
        self.tiles.len()
    }

    fn is_approximate(&self) -> bool {
        self.n_probe < self.count()
    }

    /// The list of the row at a position.
    fn list_of(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start <= place) - 1
    }

    /// The number of lists that hold [`TARGET_RECALL`] of the neighbours, given the rank of each neighbour's list; all lists
    /// where it is more than half of them.
    fn lists_needed(&self, mut needed: Vec<usize>, k: usize) -> usize {
        needed.sort_unstable();
        let most = (needed.len() as f64 * TARGET_RECALL).ceil() as usize;
        let few = needed.len() < RECALL_QUERIES;
        let lists_needed = if few { self.count().div_ceil(8) } else { needed[most.max(1) - 1] };
        // Even the smallest lists must hold k rows besides the query.
        let mut sizes: Vec<usize> = self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        sizes.sort_unstable();
        let (mut least, mut held) = (0, 0);
        while held <= k && least < sizes.len() {
            held += sizes[least];
            least += 1;
        }
        let lists_needed = lists_needed.max(least);
        if 2 * lists_needed > self.count() { self.count() } else { lists_needed }
    }

    /// The lists that each query probes, nearest first.
    fn probed(&self, block: &Block) -> Vec<Vec<usize>> {
        block.nearest(&self.centroids, self.count(), self.n_probe)
    }

    /// The positions of the rows in the lists that a query probes; all rows if the query does not fit into float32.
    pub(crate) fn positions(&self, block: Option<&Block>, query: usize) -> Vec<Range<usize>> {
        let all = (0..self.count()).collect();
        let chosen = block.map_or(all, |block| self.probed(&block.pick(&[query])).concat());
        chosen.iter().map(|&list| self.starts[list]..self.starts[list + 1]).collect()
    }

    /// Compares each query with the rows of the lists that it probes, as [`Block::scan`] does; it ends early once too many
    /// candidates are left.
    pub(crate) fn scan(&self, block: &Block, first: usize, candidates: &mut [Candidates], of: &[usize]) {
        // The nearest list of each query comes first: its rows tighten the limit for the others.
        let mut rounds = [vec![Vec::new(); self.count()], vec![Vec::new(); self.count()]];
        let every: Vec<usize> = (0..block.n()).collect();
        for some in every.chunks(QUERY_ROWS) {
            for (&query, lists) in some.iter().zip(self.probed(&block.pick(some))) {
                for (rank, list) in lists.into_iter().enumerate() {
                    rounds[rank.min(1)][list].push(query);
                }
            }
        }
        for (at, queries) in rounds.iter().flatten().enumerate() {
            let list = at % self.count();
            if list.is_multiple_of(16) && Candidates::are_too_many(candidates) {
                return;
            }
            for some in queries.chunks(QUERY_ROWS) {
                let of: Vec<usize> = some.iter().map(|&query| of[query]).collect();
                block.pick(some).scan(&self.tiles[list], first + self.starts[list], candidates, &of);
            }
        }
    }
}

/// Centroids of 2√n lists. Measured at p = 20: 3√n take as long in all, 4√n longer.
fn centroids(frame: &Frame, rows: &Dense, indices: &[usize]) -> Result<Vec<Vec<f64>>> {
    let count = 2 * (indices.len() as f64).sqrt() as usize;
    let sample = random::sample(indices.len(), KMEANS_ROWS_PER_CENTROID * count, 0);
    let points: Vec<f32> =
        sample.iter().flat_map(|&at| frame.normalized(rows.row(indices[at]), 1.0)).collect();
    let p = points.len() / sample.len();
    let failed = |e: &dyn std::fmt::Display| {
        Error::Numerical(format!("the k-means of the inverted lists failed: {e}"))
    };
    // One thread, because the centroids depend on the number of threads.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| failed(&e))?;
    let passes = Some(KMeansTrainingParams::new(KMEANS_ITERATIONS, None, None));
    let (euclidean, quiet) = (Dist::SquaredEuclidean, Verbosity::Quiet);
    let found = alone
        .install(|| train_centroids(&points, p, sample.len(), count, &euclidean, passes, 0, quiet))
        .map_err(|e| failed(&e))?;
    Ok(found.chunks_exact(p).map(|centroid| frame.row(centroid)).collect())
}
