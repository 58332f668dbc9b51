//! Nearest rows, per class, pooled or all: in the kernel's space or by a plain distance between rows.
//!
//!   d(x, x') = k(x,x) + k(x',x') − 2k(x,x');  kernels of a distance: the input distance it is monotone in, because
//!   2 − 2k saturates in floating point
//!
//! cost    n² distances in single precision where a sieve of them is fine enough, otherwise by matrix products (L1, gaps
//!         and categories: by vectorised loops), in panels; memory O(n·k) and a copy of the rows
//! differs ties go to the lower index; fewer than k available: those there are; never the row itself, but an equal row
//!         elsewhere is a neighbour. Distances from products are right to a few digits less than all: who is in is
//!         decided by the distance computed from the rows' own numbers

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::approximate::{Index, Search, WORTHWHILE};
use super::differences::Differences;
use super::sieve::{Block, Frame, Near, Tiles};
use super::tree::Tree;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::pairs::pair_statistic;
use crate::kernel::{Kernel, Panel, Shape};
use crate::monitor::Monitor;

/// Rows that are compared at a time: queries, and the rows they are compared with. Their distances stay in the cache.
pub(crate) const QUERIES: usize = 64;
pub(crate) const BASE: usize = 1_024;

/// Rows whose neighbours are found both ways, to know how good an approximate search is.
const ASKED: usize = 100;

/// A tree is used from this many rows on, doubled for each column. Measured: with k = 10 it then takes between half and
/// a twentieth of the time, and a quarter as many rows would make it slower.
const TREE_ROWS: usize = 500;

/// A plain distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Root of the sum of squared differences.
    Euclidean,
    /// Sum of differences.
    Manhattan,
}

impl Metric {
    /// Every metric's name.
    pub const NAMES: [&'static str; 2] = ["euclidean", "manhattan"];

    /// The metric with this name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "euclidean" => Ok(Self::Euclidean),
            "manhattan" => Ok(Self::Manhattan),
            _ => Err(Error::argument(format!(
                "metric = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

/// Where rows are near or far.
#[derive(Clone, Debug)]
pub enum Space<'a> {
    /// A plain distance between rows.
    Plain(Differences<'a>, Metric),
    /// Distances in a kernel's space that are no plain ones: kernel, rows, k(x,x).
    Kernel(Kernel, &'a Rows<'a>, Vec<f64>),
}

/// Which rows compete to be the nearest.
#[derive(Clone, Copy, Debug)]
pub enum Groups<'a> {
    /// All other rows.
    All,
    /// Group 0: rows of the same class; group 1: rows of other classes.
    HitsMisses(&'a [usize]),
    /// One group a class, by its code.
    Classes(&'a [usize], usize),
}

/// The nearest rows of one row, by group, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The row.
    pub query: usize,
    /// Indices of up to k rows a group.
    pub groups: Vec<Vec<usize>>,
}

/// For every row its nearest hits and misses, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// Indices of up to k rows of the same class.
    pub hits: Vec<Vec<usize>>,
    /// Indices of up to k rows of other classes.
    pub misses: Vec<Vec<usize>>,
}

impl Neighbours {
    /// Finds up to k hits and k misses of every row; `codes` are the rows' classes.
    ///
    /// ```
    /// use mercer::{Kernel, Monitor, Rows, evidence::neighbours::Neighbours};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0, 6.0], 4, 1)?;
    /// let found = Neighbours::find(Kernel::rbf(1.0), &rows, &[0, 0, 1, 1], 1, &Monitor::default())?;
    /// assert_eq!(found.hits, [[1], [0], [3], [2]]);
    /// assert_eq!(found.misses, [[2], [2], [1], [1]]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there are fewer codes than rows.
    pub fn find(kernel: Kernel, rows: &Rows, codes: &[usize], k: usize, monitor: &Monitor) -> Result<Self> {
        let every: Vec<usize> = (0..rows.n()).collect();
        Ok(Self::find_for(&every, kernel, rows, codes, k, Search::Exact, monitor)?.0)
    }

    /// The same for some rows, the others have no neighbours then; and by any search, with how good it is.
    pub(crate) fn find_for(
        queries: &[usize],
        kernel: Kernel,
        rows: &Rows,
        codes: &[usize],
        k: usize,
        search: Search,
        monitor: &Monitor,
    ) -> Result<(Self, Option<String>)> {
        let space = Space::of_kernel(kernel, rows)?;
        let groups = Groups::HitsMisses(codes);
        let (found, note) = space.nearest_by(search, groups, k, queries, monitor, <[Found]>::to_vec)?;
        let mut near = Self { hits: vec![Vec::new(); rows.n()], misses: vec![Vec::new(); rows.n()] };
        for Found { query, groups } in found.into_iter().flatten() {
            let mut groups = groups.into_iter();
            near.hits[query] = groups.next().unwrap_or_default();
            near.misses[query] = groups.next().unwrap_or_default();
        }
        Ok((near, note))
    }
}

impl<'a> Space<'a> {
    /// The space of a kernel. Precomputed: the rows are the square kernel matrix.
    pub fn of_kernel(kernel: Kernel, rows: &'a Rows<'a>) -> Result<Self> {
        let metric = match (kernel.shape, kernel.shape.statistic()) {
            (Shape::Linear, _) | (_, Statistic::SquaredDistance) => Metric::Euclidean,
            (_, Statistic::Manhattan) => Metric::Manhattan,
            _ => return Ok(Self::Kernel(kernel, rows, diagonal(kernel, rows))),
        };
        Ok(Self::Plain(Differences::new(rows, &[], false)?, metric))
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        match self {
            Self::Plain(differences, _) => differences.n(),
            Self::Kernel(_, rows, _) => rows.n(),
        }
    }

    /// The distance of two rows from their own numbers, by which ties are seen; euclidean and in a kernel's space: squared.
    ///
    /// ```
    /// use mercer::{Kernel, Rows, evidence::neighbours::Space};
    ///
    /// let rows = Rows::dense(vec![0.0, 3.0, 5.0], 3, 1)?;
    /// assert_eq!(Space::of_kernel(Kernel::rbf(0.1), &rows)?.distance(0, 1), 9.0); // that of the rows
    /// let given = Rows::dense(vec![2.0, 0.5, 0.5, 1.0], 2, 2)?;
    /// assert_eq!(Space::of_kernel(Kernel::precomputed(), &given)?.distance(0, 1), 2.0 + 1.0 - 2.0 * 0.5);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Plain(differences, metric) => differences.distance(*metric, i, j),
            Self::Kernel(kernel, rows, own) => {
                let mut value = [pair_statistic(*kernel, rows, i, j)];
                if kernel.shape.statistic() == Statistic::ChiSquared {
                    return value[0];
                }
                kernel.finish(&mut value);
                own[i] + own[j] - 2.0 * value[0]
            }
        }
    }

    /// Finds up to k rows a group for each of the queries, and hands them on in panels of queries: the results come
    /// back in the order of the queries, whatever the number of threads.
    ///
    /// ```
    /// use mercer::{Monitor, Rows, evidence::{differences::Differences, neighbours::{Groups, Metric, Space}}};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0], 3, 1)?;
    /// let space = Space::Plain(Differences::new(&rows, &[], false)?, Metric::Euclidean);
    /// let nearest = space.nearest(Groups::All, 1, &[0, 2], &Monitor::default(), |found| found.to_vec())?;
    /// assert_eq!(nearest.concat()[1].groups, [[1]]); // of row 2
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a query is not below n or there are fewer codes than rows.
    pub fn nearest<T: Send>(
        &self,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[Found]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let way = self.way();
        let base = self.base(groups.classes(), &way)?;
        self.among(&base, &way, groups, k, queries, monitor, hand_on)
    }

    /// The same by an exact or an approximate search; and of an approximate one how good it is, in words.
    ///
    /// ```
    /// use mercer::evidence::{approximate::Search, differences::Differences, neighbours::{Groups, Metric, Space}};
    /// use mercer::{Monitor, data::synth};
    ///
    /// let table = synth::generate("ringnorm?n=20000")?;
    /// let space = Space::Plain(Differences::new(&table.rows, &[], false)?, Metric::Euclidean);
    /// let monitor = Monitor::default();
    /// let (_, note) = space.nearest_by(Search::Approximate, Groups::All, 5, &[0, 7], &monitor, |f| f.to_vec())?;
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
        if search == Search::Exact {
            return Ok((self.nearest(groups, k, queries, monitor, hand_on)?, None));
        }
        let way = self.approximate_way()?;
        let base = self.base(groups.classes(), &way)?;
        let found = self.among(&base, &way, groups, k, queries, monitor, hand_on)?;
        let asked: Vec<usize> =
            queries.iter().copied().step_by(queries.len().div_ceil(ASKED).max(1)).collect();
        let most = self.among(&base, &way, groups, k, &asked, monitor, <[Found]>::to_vec)?.concat();
        let all = self.nearest(groups, k, &asked, monitor, <[Found]>::to_vec)?.concat();
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

    /// The nearest rows of a base, panel by panel of queries.
    #[expect(clippy::too_many_arguments, reason = "what is sought, where, for whom and what for")]
    fn among<T: Send>(
        &self,
        base: &[Part],
        way: &Way,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[Found]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = self.n();
        monitor.begin("finding neighbours", queries.len());
        queries
            .par_chunks(QUERIES)
            .map(|queries| {
                let rows = self.select(queries);
                let k = k.min(n);
                let sieved = match (way, &rows) {
                    (Way::Sieve(frame), Rows::Dense(rows)) => {
                        let ready = Block::new(frame, (0..queries.len()).map(|at| rows.row(at)));
                        ready
                            .map(|block| self.sieve(&block, base, groups, k, queries, monitor))
                            .transpose()?
                    }
                    _ => None,
                };
                let nearest = match sieved.flatten() {
                    Some(nearest) => nearest,
                    None => self.compare(base, groups, k, queries, &rows, monitor)?,
                };
                monitor.advance(queries.len());
                let found: Vec<Found> = queries
                    .iter()
                    .zip(&nearest)
                    .map(|(&query, groups)| Found {
                        query,
                        groups: groups.iter().map(Nearest::indices).collect(),
                    })
                    .collect();
                Ok(hand_on(&found))
            })
            .collect()
    }

    /// The nearest of each query, by groups, with every row compared in double precision or visited in a tree.
    fn compare(
        &self,
        base: &[Part],
        groups: Groups,
        k: usize,
        queries: &[usize],
        rows: &Rows,
        monitor: &Monitor,
    ) -> Result<Vec<Vec<Nearest>>> {
        let mut nearest: Vec<Vec<Nearest>> =
            queries.iter().map(|_| (0..groups.count()).map(|_| Nearest::new(k)).collect()).collect();
        let mut distances = Vec::new();
        for part in base {
            monitor.check()?;
            if let (Side::Tree(tree), Rows::Dense(rows)) = (&part.side, rows) {
                for (at, (&query, nearest)) in queries.iter().zip(&mut nearest).enumerate() {
                    let nearest = &mut nearest[groups.of(query, part.class)];
                    tree.visit(rows.row(at), nearest.bound(), |j, d| self.offer(query, j, d, nearest));
                }
                continue;
            }
            if let (Side::Index(frame, index), Rows::Dense(rows)) = (&part.side, rows) {
                for (at, (&query, nearest)) in queries.iter().zip(&mut nearest).enumerate() {
                    let nearest = &mut nearest[groups.of(query, part.class)];
                    for place in index.near(frame, rows.row(at), k)? {
                        self.offer(query, part.indices[place], 0.0, nearest);
                    }
                }
                continue;
            }
            self.distances(part, queries, rows, &mut distances);
            let lines = distances.chunks_exact(part.indices.len());
            for ((&query, nearest), line) in queries.iter().zip(&mut nearest).zip(lines) {
                let group = groups.of(query, part.class);
                self.scan(query, &part.indices, line, &mut nearest[group]);
            }
        }
        Ok(nearest)
    }

    /// The same, with only those compared that single precision leaves; None where that is too many.
    fn sieve(
        &self,
        block: &Block,
        base: &[Part],
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
    ) -> Result<Option<Vec<Vec<Nearest>>>> {
        let count = groups.count();
        // One more, because a row is always near itself.
        let mut near: Vec<Near> = (0..queries.len() * count).map(|_| Near::new(k + 1)).collect();
        for (at, part) in base.iter().enumerate() {
            let Side::Sieved { tiles, .. } = &part.side else { unreachable!("this is the way of the sieve") };
            monitor.check()?;
            let of_class = near.chunks_exact_mut(count).zip(queries);
            let mut of_class: Vec<&mut Near> =
                of_class.map(|(near, &query)| &mut near[groups.of(query, part.class)]).collect();
            block.scan(tiles, at * BASE, &mut of_class);
            if Near::are_too_many(&near) {
                return Ok(None);
            }
        }
        let of_query = near.chunks_exact_mut(count).zip(queries).map(|(near, &query)| {
            let exact = |near: &mut Near| {
                let mut nearest = Nearest::new(k);
                for place in near.rows() {
                    self.offer(query, base[place / BASE].indices[place % BASE], 0.0, &mut nearest);
                }
                nearest
            };
            near.iter_mut().map(exact).collect()
        });
        Ok(Some(of_query.collect()))
    }

    /// Distances (euclidean: not squared) of each query to every row, in the rows' order, handed on in panels of
    /// queries: the results come back in the order of the queries.
    pub(crate) fn for_all_distances<T: Send>(
        &self,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&mut dyn Iterator<Item = (usize, &[f64])>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = self.n();
        let base = self.base(None, &Way::Panels)?;
        // A panel of distances to all rows should stay in the cache, and one row may have to do.
        let height = (64_000 / n.max(1)).clamp(1, QUERIES);
        let root = !matches!(self, Self::Plain(_, Metric::Manhattan));
        monitor.begin("comparing rows", queries.len());
        queries
            .par_chunks(height)
            .map(|queries| {
                let rows = self.select(queries);
                let mut all = vec![0.0; queries.len() * n];
                let mut distances = Vec::new();
                for part in &base {
                    monitor.check()?;
                    self.distances(part, queries, &rows, &mut distances);
                    for (line, out) in distances.chunks_exact(part.indices.len()).zip(all.chunks_exact_mut(n))
                    {
                        let out = &mut out[part.indices[0]..][..line.len()];
                        if root {
                            out.iter_mut().zip(line).for_each(|(o, d)| *o = d.max(0.0).sqrt());
                        } else {
                            out.copy_from_slice(line);
                        }
                    }
                }
                monitor.advance(queries.len());
                Ok(hand_on(&mut queries.iter().copied().zip(all.chunks_exact(n))))
            })
            .collect()
    }

    /// The fastest way to find neighbours.
    fn way(&self) -> Way {
        match self {
            Self::Plain(differences, metric) if differences.is_plain() => match differences.prepared() {
                Rows::Dense(_) if tree_pays(self.n(), differences.p()) => Way::Trees,
                Rows::Dense(rows) if differences.p() > 0 => {
                    Way::Sieve(Frame::new(rows, self.n(), differences.p(), *metric))
                }
                _ => Way::Panels,
            },
            _ => Way::Panels,
        }
    }

    /// Cells around centres, where that can be.
    fn approximate_way(&self) -> Result<Way> {
        match self {
            Self::Plain(differences, metric) if differences.is_plain() && differences.p() > 0 => {
                if let Rows::Dense(rows) = differences.prepared() {
                    return Ok(Way::Cells(Arc::new(Frame::new(rows, self.n(), differences.p(), *metric))));
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

    /// The rows in panels, each of one class, within a class in their order; or one tree or index a class.
    fn base(&self, classes: Option<&[usize]>, way: &Way) -> Result<Vec<Part>> {
        let mut order: Vec<usize> = (0..self.n()).collect();
        let class = |i: usize| classes.map_or(0, |codes| codes[i]);
        order.sort_by_key(|&i| class(i));
        let same_class = order.chunk_by(|&a, &b| class(a) == class(b));
        let most = |rows: &[usize]| match way {
            Way::Trees => usize::MAX,
            Way::Cells(_) if rows.len() >= WORTHWHILE => usize::MAX,
            _ => BASE,
        };
        let chunks: Vec<&[usize]> = same_class.flat_map(|rows| rows.chunks(most(rows))).collect();
        let part = |rows: &[usize]| {
            Ok(Part { indices: rows.to_vec(), class: class(rows[0]), side: self.side(rows, way)? })
        };
        chunks.into_par_iter().map(part).collect()
    }

    fn side(&self, indices: &[usize], way: &Way) -> Result<Side> {
        Ok(match (self, way) {
            (Self::Plain(differences, metric), Way::Trees) => {
                Side::Tree(Tree::new(differences.dense(), indices, differences.p(), *metric))
            }
            (Self::Plain(differences, _), Way::Sieve(frame)) => {
                let rows = differences.dense();
                let tiles = Tiles::new(frame, indices.iter().map(|&i| rows.row(i)));
                Side::Sieved { tiles, panel: OnceLock::new() }
            }
            (Self::Plain(differences, _), Way::Panels) if !differences.is_plain() => {
                Side::Mixed(transposed(differences, indices))
            }
            (Self::Plain(differences, metric), Way::Cells(frame)) if indices.len() >= WORTHWHILE => {
                let rows = differences.dense();
                let index = Index::new(frame, indices.iter().map(|&i| rows.row(i)), *metric)?;
                Side::Index(Arc::clone(frame), Box::new(index))
            }
            _ => Side::Panel(self.panel(indices)),
        })
    }

    /// Rows to compare with by products, or by sums of differences.
    fn panel(&self, indices: &[usize]) -> Panel {
        match self {
            Self::Plain(differences, metric) => {
                let shape = if *metric == Metric::Euclidean { Shape::Rbf } else { Shape::Laplacian };
                Panel::new(Kernel { shape, gamma: 1.0 }, &differences.prepared().select(indices))
            }
            Self::Kernel(kernel, rows, _) if kernel.shape == Shape::Precomputed => {
                Panel::given(indices, rows.p())
            }
            Self::Kernel(kernel, rows, _) => Panel::new(*kernel, &rows.select(indices)),
        }
    }

    /// The queries' rows, as the panels take them.
    fn select(&self, queries: &[usize]) -> Rows<'static> {
        match self {
            Self::Plain(differences, _) => differences.prepared().select(queries),
            Self::Kernel(_, rows, _) => rows.select(queries),
        }
    }

    /// Distances of the queries to a panel; euclidean and kernel: squared.
    fn distances(&self, part: &Part, queries: &[usize], rows: &Rows, out: &mut Vec<f64>) {
        let l = part.indices.len();
        out.clear();
        out.resize(queries.len() * l, 0.0);
        match (self, &part.side) {
            (Self::Plain(..), Side::Panel(panel)) => panel.statistics(rows, out),
            (Self::Plain(..), Side::Sieved { panel, .. }) => {
                panel.get_or_init(|| self.panel(&part.indices)).statistics(rows, out);
            }
            (Self::Plain(differences, metric), Side::Mixed(columns)) => {
                let Rows::Dense(rows) = rows else { unreachable!("gaps and categories are dense") };
                for (i, out) in out.chunks_exact_mut(l).enumerate() {
                    let (row, nominal) = (rows.row(i), differences.nominal());
                    pulp::Arch::new().dispatch(Mixed { nominal, metric: *metric, row, columns, out });
                }
            }
            (Self::Kernel(kernel, _, own), Side::Panel(panel)) => {
                // χ² kernels are monotone in their statistic, which does not saturate; others have their own k(x,x).
                if kernel.shape.statistic() == Statistic::ChiSquared {
                    panel.statistics(rows, out);
                    return;
                }
                panel.fill(rows, out);
                for (&query, out) in queries.iter().zip(out.chunks_exact_mut(l)) {
                    for (o, &j) in out.iter_mut().zip(&part.indices) {
                        *o = own[query] + own[j] - 2.0 * *o;
                    }
                }
            }
            (_, Side::Tree(_) | Side::Index(..)) | (Self::Kernel(..), _) => {
                unreachable!("kernels have panels, trees and cells are visited")
            }
        }
    }

    fn scan(&self, query: usize, indices: &[usize], line: &[f64], nearest: &mut Nearest) {
        const CHUNK: usize = 16;
        for (at, chunk) in line.chunks(CHUNK).enumerate() {
            let bound = nearest.bound();
            if !any_below(chunk, bound) {
                continue;
            }
            for (&d, &j) in chunk.iter().zip(&indices[at * CHUNK..]) {
                if d <= nearest.bound() {
                    self.offer(query, j, d, nearest);
                }
            }
        }
    }

    /// Offers a row by its exact distance; the bound from then on.
    fn offer(&self, query: usize, j: usize, distance: f64, nearest: &mut Nearest) -> f64 {
        if j != query {
            let exact = match self {
                Self::Plain(differences, metric) => differences.distance(*metric, query, j),
                Self::Kernel(..) => distance,
            };
            nearest.offer(exact, j);
        }
        nearest.bound()
    }
}

impl<'a> Groups<'a> {
    /// The rows' classes, if they matter.
    fn classes(self) -> Option<&'a [usize]> {
        match self {
            Self::All => None,
            Self::HitsMisses(codes) | Self::Classes(codes, _) => Some(codes),
        }
    }

    fn count(self) -> usize {
        match self {
            Self::All => 1,
            Self::HitsMisses(_) => 2,
            Self::Classes(_, c) => c,
        }
    }

    /// The group in which a row of this class competes to be near the query.
    fn of(self, query: usize, class: usize) -> usize {
        match self {
            Self::All => 0,
            Self::HitsMisses(codes) => usize::from(codes[query] != class),
            Self::Classes(..) => class,
        }
    }
}

/// Whether a tree of n rows of p columns finds neighbours faster than comparing with all.
pub(crate) fn tree_pays(n: usize, p: usize) -> bool {
    p < 40 && n >= TREE_ROWS << p
}

/// How neighbours are found.
enum Way {
    /// Every row compared with every query.
    Panels,
    /// Few columns: most rows are not looked at.
    Trees,
    /// Most rows passed over by what single precision says of them.
    Sieve(Frame),
    /// Approximately, in the cells nearest to the query.
    Cells(Arc<Frame>),
}

/// Rows of one class, made ready to be compared with.
struct Part {
    indices: Vec<usize>,
    class: usize,
    side: Side,
}

enum Side {
    Panel(Panel),
    /// In single precision, and in double for queries that need it.
    Sieved {
        tiles: Tiles,
        panel: OnceLock<Panel>,
    },
    /// Few columns.
    Tree(Tree),
    /// Cells around centres.
    Index(Arc<Frame>, Box<Index>),
    /// Column after column.
    Mixed(Vec<f64>),
}

fn transposed(differences: &Differences, indices: &[usize]) -> Vec<f64> {
    let rows = differences.dense();
    let mut out = Vec::with_capacity(indices.len() * differences.p());
    for j in 0..differences.p() {
        out.extend(indices.iter().map(|&i| rows.row(i)[j]));
    }
    out
}

/// Distances of a row to rows given column after column, gaps and categories included.
struct Mixed<'a> {
    /// Which columns hold categories; empty: none.
    nominal: &'a [bool],
    metric: Metric,
    row: &'a [f64],
    columns: &'a [f64],
    out: &'a mut [f64],
}

// A type of its own, because a closure of this size would not be inlined into the dispatch, and so not be vectorised.
impl pulp::NullaryFnOnce for Mixed<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (l, p) = (self.out.len(), self.row.len());
        let squared = self.metric == Metric::Euclidean;
        let mut present = vec![0.0; l];
        for ((j, &x), column) in self.row.iter().enumerate().zip(self.columns.chunks_exact(l)) {
            if x.is_nan() {
                continue;
            }
            let nominal = self.nominal.get(j) == Some(&true);
            for ((o, here), &y) in self.out.iter_mut().zip(&mut present).zip(column) {
                let d = if nominal { f64::from(u8::from(x != y)) } else { (x - y).abs() };
                let d = if squared { d * d } else { d };
                let there = !y.is_nan();
                *o += if there { d } else { 0.0 };
                *here += if there { 1.0 } else { 0.0 };
            }
        }
        for (o, &here) in self.out.iter_mut().zip(&present) {
            *o = if here > 0.0 { *o * (p as f64 / here) } else { f64::INFINITY };
        }
    }
}

/// The k smallest of the distances offered, ascending; of equal ones the lower index is the smaller.
pub(crate) struct Nearest {
    k: usize,
    best: Vec<(f64, usize)>,
}

impl Nearest {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, best: Vec::with_capacity(k + 1) }
    }

    /// A distance above this, right to nine digits, is not among the k smallest.
    pub(crate) fn bound(&self) -> f64 {
        match self.best.last() {
            Some(worst) if self.best.len() == self.k => worst.0 + worst.0.abs() * 1e-9,
            _ if self.k == 0 => f64::NEG_INFINITY,
            _ => f64::INFINITY,
        }
    }

    pub(crate) fn offer(&mut self, distance: f64, index: usize) {
        let at = self.best.partition_point(|b| b.0 < distance || (b.0 == distance && b.1 < index));
        if at < self.k {
            self.best.insert(at, (distance, index));
            self.best.truncate(self.k);
        }
    }

    pub(crate) fn indices(&self) -> Vec<usize> {
        self.best.iter().map(|b| b.1).collect()
    }
}

/// Written so that it is vectorised; most chunks hold nothing.
#[expect(clippy::needless_bitwise_bool, reason = "a branch would keep the loop from being vectorised")]
pub(crate) fn any_below(distances: &[f64], bound: f64) -> bool {
    distances.iter().fold(false, |any, &d| any | (d <= bound))
}

/// All rows, or a seeded sample of them in their order.
pub(crate) fn queries(n: usize, wanted: Option<usize>, seed: u64) -> Vec<usize> {
    let mut chosen = crate::random::sample(n, wanted.unwrap_or(n), seed);
    chosen.sort_unstable();
    chosen
}

/// Sums over panels, column by column, in the order of the panels.
pub(crate) fn add_up(parts: &[Vec<f64>], range: Range<usize>) -> Vec<f64> {
    let mut sum = vec![0.0; range.len()];
    for part in parts {
        sum.iter_mut().zip(&part[range.clone()]).for_each(|(s, v)| *s += v);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_a_pair_is_that_of_a_panel() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i * i % 7) * f64::from(i % 3)).collect();
        let dense = Rows::dense(values, 20, 3).expect("rows");
        let sparse = dense.to_sparse();
        for shape in ["rbf", "laplacian", "linear", "poly", "sigmoid", "cosine", "chi2"] {
            let kernel = Kernel { shape: Shape::named(shape, 2, 0.5, 1.0).expect("known"), gamma: 0.3 };
            for rows in [&dense, &sparse] {
                let space = Space::of_kernel(kernel, rows).expect("space");
                let base = space.base(None, &Way::Panels).expect("base");
                let all: Vec<usize> = (0..20).collect();
                let mut panel = Vec::new();
                space.distances(&base[0], &all, &space.select(&all), &mut panel);
                for (at, d) in panel.iter().enumerate() {
                    let pair = space.distance(at / 20, at % 20);
                    // Panels of plain distances are in units of the rows, as pairs are.
                    assert!((pair - d).abs() <= 1e-12 * (1.0 + d.abs()), "{shape}: {pair} for {d}");
                    assert_eq!(pair, space.distance(at % 20, at / 20), "{shape}");
                }
            }
        }
    }
}
