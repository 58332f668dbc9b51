//! Approximate neighbours, when asked for: rows in cells around centres, of which only those nearest to a query are searched.
//!
//! The cells of a query are those whose centres are nearest to it, and each cell meets all the queries of a panel that have
//! chosen it at once, in the sieve. How many cells a query chooses is found out beforehand: on some rows whose neighbours are
//! all found, so many that [`GOAL`] of these lie in them.
//!
//! cost    n·√n·p to find the centres and the cells; then the searched share of what an exact search costs
//! differs the centres are those of `ann-search-rs`, of a sample of the rows, by one thread and euclidean distance; cells and
//!         queries go by the metric asked for. Few queries, and classes of few rows, are searched as always, and so is a class
//!         of which more than half would have to be searched. How many of the true neighbours are found is measured on
//!         rows other than those before, and said
//! source  the inverted file of Jégou, Douze & Schmid 2011, without its codes

use std::ops::Range;

use ann_search_rs::prelude::{Dist, KMeansTrainingParams, Verbosity};
use ann_search_rs::utils::k_means_utils::train_centroids;
use rayon::prelude::*;

use super::neighbours::{Found, Groups, Space};
use super::search::{Base, QUERIES, Side, Way};
use super::sieve::{Block, Frame, Near, Tiles};
use crate::data::rows::{Dense, Rows};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::random;

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

/// Fewer rows than this are compared one by one, and so are those that fewer rows ask for: cells would take longer.
pub(crate) const WORTHWHILE: usize = 20_000;

/// The share of the true neighbours that is to be found.
const GOAL: f64 = 0.95;

/// Rows on which it is found out how many cells have to be searched, and rows on which the share is then measured.
const TRIED: usize = 256;
const ASKED: usize = 100;

/// Rows a centre is found from, and passes over these rows. Measured at p = 20: more cost more than better cells save.
const SAMPLE: usize = 32;
const PASSES: usize = 5;

impl Space<'_> {
    /// [`nearest`](Self::nearest) by an exact or an approximate search; and how good it is, in words, unless all were found.
    ///
    /// ```
    /// use mercer::evidence::{approximate::Search, differences::Differences, neighbours::{Groups, Metric, Space}};
    /// use mercer::{Monitor, data::synth};
    ///
    /// let table = synth::generate("ringnorm?n=20000")?;
    /// let every: Vec<usize> = (0..20_000).collect();
    /// let space = Space::Plain(Differences::new(&table.rows, &[], false)?, Metric::Euclidean);
    /// let monitor = Monitor::default();
    /// let (_, note) = space.nearest_by(Search::Approximate, Groups::All, 5, &every, &monitor, |f| f.to_vec())?;
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
        let way = if search == Search::Approximate { Some(self.way_of_cells()?) } else { None };
        let (Some(way), true) = (way, queries.len() >= WORTHWHILE && groups.any_of(self.n(), WORTHWHILE))
        else {
            return Ok((self.nearest(groups, k, queries, monitor, hand_on)?, None));
        };
        let mut base = self.base(groups.classes(), way)?;
        // Drawn, because rows at equal steps may be of a kind.
        let drawn = random::sample(queries.len(), TRIED + ASKED, 0);
        let drawn: Vec<usize> = drawn.into_iter().map(|at| queries[at]).collect();
        let (tried, asked) = drawn.split_at(TRIED);
        // All cells are searched until it is said how many.
        let truth = |rows: &[usize]| -> Result<Vec<Found>> {
            Ok(self.among(&base, groups, k, rows, monitor, <[Found]>::to_vec)?.concat())
        };
        let (of_tried, all) = (truth(tried)?, truth(asked)?);
        self.choose_how_many(&mut base, &of_tried, k);
        let found = self.among(&base, groups, k, queries, monitor, hand_on)?;
        if base.parts.iter().all(|part| !matches!(&part.side, Side::Cells(cells) if cells.leaves_some_out()))
        {
            return Ok((found, None));
        }
        let most = self.among(&base, groups, k, asked, monitor, <[Found]>::to_vec)?.concat();
        let pairs = || all.iter().zip(&most).flat_map(|(all, most)| all.groups.iter().zip(&most.groups));
        let right: usize = pairs().map(|(all, most)| all.iter().filter(|i| most.contains(i)).count()).sum();
        let whole: usize = pairs().map(|(all, _)| all.len()).sum();
        let share = if whole > 0 { 100.0 * right as f64 / whole as f64 } else { 100.0 };
        let note = format!(
            "neighbours are approximate: {share:.1} % of the true ones were found ({} rows asked both ways)",
            asked.len()
        );
        Ok((found, Some(note)))
    }

    /// Cells around centres, where that can be.
    fn way_of_cells(&self) -> Result<Way> {
        match self {
            Self::Plain(differences, metric) if differences.is_plain() && differences.p() > 0 => {
                if let Rows::Dense(rows) = differences.prepared() {
                    return Ok(Way::Cells(Frame::new(rows, self.n(), differences.p(), *metric)));
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

    /// Lets queries choose so many cells of each class that most neighbours lie in them, as far as these rows tell.
    fn choose_how_many(&self, base: &mut Base, found: &[Found], k: usize) {
        let mut places = vec![0; base.order.len()];
        base.order.iter().enumerate().for_each(|(place, &i)| places[i] = place);
        let queries: Vec<usize> = found.iter().map(|found| found.query).collect();
        let Some(block) = self.block(base, &queries) else { return };
        for part in &mut base.parts {
            let Side::Cells(cells) = &mut part.side else { continue };
            let mut needed = Vec::new();
            // All cells so far, nearest first.
            for (found, order) in found.iter().zip(cells.choice(&block)) {
                let mut ranks = vec![0; cells.count()];
                order.iter().enumerate().for_each(|(rank, &cell)| ranks[cell] = rank + 1);
                let of_part = found.groups.iter().flatten().map(|&i| places[i]);
                let of_part = of_part.filter(|place| part.places.contains(place));
                needed.extend(of_part.map(|place| ranks[cells.cell_of(place - part.places.start)]));
            }
            cells.searched = cells.enough(needed, k);
        }
    }
}

/// Rows of a class in cells.
pub(crate) struct Cells {
    centres: Tiles,
    /// The rows of each cell.
    tiles: Vec<Tiles>,
    /// The place of each cell's first row, and that after the last.
    starts: Vec<usize>,
    /// How many cells a query chooses.
    searched: usize,
}

impl Cells {
    /// Puts the rows into the order of their cells, in a cell into their own.
    pub(crate) fn new(frame: &Frame, rows: &Dense, indices: &mut [usize]) -> Result<Self> {
        let centres = centres(frame, rows, indices)?;
        let all = Tiles::new(frame, centres.iter().map(|row| &row[..]));
        let cells: Vec<Vec<usize>> = indices
            .par_chunks(QUERIES)
            .map(|indices| {
                let Some(block) = Block::new(frame, indices.iter().map(|&i| rows.row(i))) else {
                    unreachable!("the frame was made for these rows")
                };
                block.nearest(&all, centres.len(), 1).concat()
            })
            .collect();
        let mut members = vec![Vec::new(); centres.len()];
        for (&i, cell) in indices.iter().zip(cells.into_iter().flatten()) {
            members[cell].push(i);
        }
        let kept = || members.iter().zip(&centres).filter(|(members, _)| !members.is_empty());
        let mut starts = vec![0];
        for (members, _) in kept() {
            let start = starts[starts.len() - 1];
            indices[start..start + members.len()].copy_from_slice(members);
            starts.push(start + members.len());
        }
        let centres: Vec<&[f64]> = kept().map(|(_, centre)| &centre[..]).collect();
        let tiles =
            |cell: &[usize]| Tiles::new(frame, indices[cell[0]..cell[1]].iter().map(|&i| rows.row(i)));
        Ok(Self {
            searched: centres.len(),
            centres: Tiles::new(frame, centres.into_iter()),
            tiles: starts.par_windows(2).map(tiles).collect(),
            starts,
        })
    }

    /// Number of cells, none of them empty.
    fn count(&self) -> usize {
        self.tiles.len()
    }

    fn leaves_some_out(&self) -> bool {
        self.searched < self.count()
    }

    /// The cell of the row at a place.
    fn cell_of(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start <= place) - 1
    }

    /// How many cells hold [`GOAL`] of the neighbours, given for each how many it takes to reach it; all where it is more
    /// than half of them.
    fn enough(&self, mut needed: Vec<usize>, k: usize) -> usize {
        needed.sort_unstable();
        let most = (needed.len() as f64 * GOAL).ceil() as usize;
        let few = needed.len() < ASKED;
        let enough = if few { self.count().div_ceil(8) } else { needed[most.max(1) - 1] };
        // However small the cells are that a query chooses, they hold k rows beside itself.
        let mut sizes: Vec<usize> = self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        sizes.sort_unstable();
        let (mut least, mut held) = (0, 0);
        while held <= k && least < sizes.len() {
            held += sizes[least];
            least += 1;
        }
        let enough = enough.max(least);
        if 2 * enough > self.count() { self.count() } else { enough }
    }

    /// The cells that each query chooses, nearest first.
    fn choice(&self, block: &Block) -> Vec<Vec<usize>> {
        block.nearest(&self.centres, self.count(), self.searched)
    }

    /// The places of the rows in the cells that a query chooses; in all if none could be compared.
    pub(crate) fn near(&self, block: Option<&Block>, query: usize) -> Vec<Range<usize>> {
        let all = (0..self.count()).collect();
        let chosen = block.map_or(all, |block| self.choice(&block.pick(&[query])).concat());
        chosen.iter().map(|&cell| self.starts[cell]..self.starts[cell + 1]).collect()
    }

    /// Offers to each query the rows in the cells that it chooses, as [`Block::scan`] does; not all of them once so many
    /// are held that the sieve has failed.
    pub(crate) fn scan(&self, block: &Block, first: usize, near: &mut [Near], of: &[usize]) {
        // The nearest cells first: from then on few rows are near enough to be held.
        let mut rounds = [vec![Vec::new(); self.count()], vec![Vec::new(); self.count()]];
        let every: Vec<usize> = (0..block.n()).collect();
        for some in every.chunks(QUERIES) {
            for (&query, cells) in some.iter().zip(self.choice(&block.pick(some))) {
                for (rank, cell) in cells.into_iter().enumerate() {
                    rounds[rank.min(1)][cell].push(query);
                }
            }
        }
        for (at, queries) in rounds.iter().flatten().enumerate() {
            let cell = at % self.count();
            if cell.is_multiple_of(16) && Near::are_too_many(near) {
                return;
            }
            for some in queries.chunks(QUERIES) {
                let of: Vec<usize> = some.iter().map(|&query| of[query]).collect();
                block.pick(some).scan(&self.tiles[cell], first + self.starts[cell], near, &of);
            }
        }
    }
}

/// Centres of 2√n cells. Measured at p = 20: with three times √n the whole takes as long, with four longer.
fn centres(frame: &Frame, rows: &Dense, indices: &[usize]) -> Result<Vec<Vec<f64>>> {
    let count = 2 * (indices.len() as f64).sqrt() as usize;
    let sample = random::sample(indices.len(), SAMPLE * count, 0);
    let points: Vec<f32> = sample.iter().flat_map(|&at| frame.ready(rows.row(indices[at]), 1.0)).collect();
    let p = points.len() / sample.len();
    let no_cells =
        |e: &dyn std::fmt::Display| Error::Numerical(format!("the rows could not be put into cells: {e}"));
    // By one thread: on several the centres would depend on their number.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| no_cells(&e))?;
    let passes = Some(KMeansTrainingParams::new(PASSES, None, None));
    let (euclidean, quiet) = (Dist::SquaredEuclidean, Verbosity::Quiet);
    let found = alone
        .install(|| train_centroids(&points, p, sample.len(), count, &euclidean, passes, 0, quiet))
        .map_err(|e| no_cells(&e))?;
    Ok(found.chunks_exact(p).map(|centre| frame.row(centre)).collect())
}
