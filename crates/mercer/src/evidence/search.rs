//! Nearest-neighbour search: an index of the base rows, and queries that are compared with it panel by panel.
//!
//!   base      rows class by class: in float32 tiles, in inverted lists of such tiles, in float64 panels, or in k-d trees
//!   queries   through the float32 prefilter where the base has tiles; otherwise, or where the prefilter leaves too many
//!             candidates, by matrix products, sums or tree search
//!
//! differs candidates are ranked by the distance computed from the rows' own numbers, so all strategies find the same

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::approximate::IvfLists;
use super::differences::Differences;
use super::nearest::Nearest;
use super::neighbours::{Found, Groups, Metric, Space};
use super::on_gpu::{can_search, spread};
use super::prefilter::{Block, Candidates, Frame, Tiles};
use super::tree::Tree;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::kernel::Statistic;
use crate::kernel::{Kernel, Panel, Shape};
use crate::monitor::Monitor;

/// Sizes of a panel of distances, which stays in the cache: queries, and the base rows they are compared with.
pub(crate) const QUERY_ROWS: usize = 64;
pub(crate) const BASE_ROWS: usize = 1_024;

/// Queries of a panel with inverted lists, so that each list is scanned for many of them at once.
const IVF_QUERY_ROWS: usize = 2_048;

/// A k-d tree is used from this many rows on, four times as many for each column. Measured against the prefilter on noise,
/// k = 10: it takes 0.9 of the time at 8 000 rows of 5 columns, 0.7 at 128 000 of 6, 0.2 at 128 000 of 3, 1.7 at 128 000 of 8.
const TREE_MIN_ROWS: usize = 8;

/// What a kernel value from a matrix product may lose to rounding, relative to k(x,x) + k(y,y): the products of 10 000 columns
/// to a power of 4.
const PRODUCT_ROUNDING: f64 = 1e-11;

/// Whether a k-d tree of n rows of p columns is faster than brute force.
pub(crate) fn tree_pays(n: usize, p: usize) -> bool {
    p < 20 && n >= TREE_MIN_ROWS << (2 * p)
}

/// How neighbours are found.
pub(super) enum Strategy {
    /// Every row compared with every query.
    Panels,
    /// k-d trees, for few columns.
    Trees,
    /// Every row compared in float32, and few candidates in float64.
    Prefilter(Frame),
    /// Inverted lists through the prefilter, for classes of at least so many rows.
    Ivf { frame: Frame, min_rows: usize },
    /// Every row compared in float32 on a GPU, and few candidates in float64.
    Gpu(Frame),
}

/// The rows that are searched.
pub(super) struct Base {
    pub(super) strategy: Strategy,
    /// The rows that are searched, class by class; within a class in ascending order, list by list or spread.
    pub(super) order: Vec<usize>,
    pub(super) parts: Vec<Part>,
}

/// Rows of one class and their index.
pub(super) struct Part {
    /// Their positions in the order.
    pub(super) places: Range<usize>,
    class: usize,
    pub(super) index: Index,
}

impl Part {
    pub(super) fn class(&self) -> usize {
        self.class
    }
}

pub(super) enum Index {
    Panel(Panel),
    /// In float32, and in float64 for queries that need it.
    Prefiltered {
        tiles: Tiles,
        panel: OnceLock<Panel>,
    },
    /// In float32, in inverted lists.
    Ivf(IvfLists),
    /// A k-d tree, for few columns.
    Tree(Tree),
    /// Rows with missing values or categories, column-major.
    Mixed(Vec<f64>),
    /// On a GPU, with those of all parts.
    There,
}

impl Base {
    /// The rows of a part.
    fn rows(&self, part: &Part) -> &[usize] {
        &self.order[part.places.clone()]
    }

    /// How many of this many queries make a panel.
    fn panel(&self, queries: usize) -> usize {
        let most = if matches!(self.strategy, Strategy::Ivf { .. }) { IVF_QUERY_ROWS } else { QUERY_ROWS };
        (queries / QUERY_ROWS).next_multiple_of(QUERY_ROWS).clamp(QUERY_ROWS, most)
    }
}

impl Space<'_> {
    /// The fastest exact strategy to search n rows.
    pub(super) fn strategy(&self, n: usize, k: usize) -> Strategy {
        match self {
            Self::Plain(differences, metric) if can_search(self, k) => {
                Strategy::Gpu(Frame::new(differences.dense(), self.n(), differences.p(), *metric))
            }
            Self::Plain(differences, metric) if differences.is_plain() => match differences.prepared() {
                Rows::Dense(_) if tree_pays(n, differences.p()) => Strategy::Trees,
                Rows::Dense(rows) if differences.p() > 0 => {
                    Strategy::Prefilter(Frame::new(rows, self.n(), differences.p(), *metric))
                }
                _ => Strategy::Panels,
            },
            _ => Strategy::Panels,
        }
    }

    /// The first n rows in panels, each of one class, in ascending order; or one tree or one set of inverted lists per class.
    /// Rows after them are only asked about, and nobody's neighbours.
    pub(super) fn base(&self, n: usize, classes: Option<&[usize]>, strategy: Strategy) -> Result<Base> {
        let mut order: Vec<usize> = (0..n).collect();
        let class = |i: usize| classes.map_or(0, |codes| codes[i]);
        order.sort_by_key(|&i| class(i));
        let most = |rows: &[usize]| match strategy {
            Strategy::Trees | Strategy::Gpu(_) => usize::MAX,
            Strategy::Ivf { min_rows, .. } if rows.len() >= min_rows => usize::MAX,
            _ => BASE_ROWS,
        };
        let same_class = order.chunk_by_mut(|&a, &b| class(a) == class(b));
        let mut start = 0;
        let chunks: Vec<(Range<usize>, &mut [usize])> = same_class
            .flat_map(|rows| rows.chunks_mut(most(rows)))
            .map(|rows| {
                start += rows.len();
                (start - rows.len()..start, rows)
            })
            .collect();
        let part = |(places, rows): (Range<usize>, &mut [usize])| {
            Ok(Part { places, class: class(rows[0]), index: self.index(rows, &strategy)? })
        };
        let parts: Result<Vec<Part>> = chunks.into_par_iter().map(part).collect();
        Ok(Base { parts: parts?, strategy, order })
    }

    /// The index of some rows; with inverted lists the rows are reordered list by list, for a GPU share by share.
    fn index(&self, indices: &mut [usize], strategy: &Strategy) -> Result<Index> {
        Ok(match (self, strategy) {
            (_, Strategy::Gpu(_)) => {
                spread(indices);
                Index::There
            }
            (Self::Plain(differences, metric), Strategy::Trees) => {
                Index::Tree(Tree::new(differences.dense(), indices, differences.p(), *metric))
            }
            (Self::Plain(differences, _), Strategy::Ivf { frame, min_rows })
                if indices.len() >= *min_rows =>
            {
                Index::Ivf(IvfLists::new(frame, differences.dense(), indices)?)
            }
            (Self::Plain(differences, _), Strategy::Prefilter(frame) | Strategy::Ivf { frame, .. }) => {
                let rows = differences.dense();
                let tiles = Tiles::new(frame, indices.iter().map(|&i| rows.row(i)));
                Index::Prefiltered { tiles, panel: OnceLock::new() }
            }
            (Self::Plain(differences, _), Strategy::Panels) if !differences.is_plain() => {
                Index::Mixed(transposed(differences, indices))
            }
            _ => Index::Panel(self.panel(indices)),
        })
    }

    /// The nearest rows of a base for each of the queries; `hand_on` is called with panels of results.
    pub(super) fn among<T: Send>(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[Found]) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.lists_among(base, groups, k, queries, monitor, |queries, nearest| {
            let found = |(&query, groups): (&usize, &Vec<Nearest>)| Found {
                query,
                groups: groups.iter().map(Nearest::indices).collect(),
            };
            let found: Vec<Found> = queries.iter().zip(nearest).map(found).collect();
            hand_on(&found)
        })
    }

    /// The nearest rows of a base for each of the queries, with their distances; `hand_on` is called with panels of queries
    /// and their lists by group.
    pub(super) fn lists_among<T: Send>(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[usize], &[Vec<Nearest>]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let k = k.min(base.order.len());
        monitor.begin("finding neighbours", queries.len());
        if matches!(base.strategy, Strategy::Gpu(_)) {
            return self.lists_on_gpu(base, groups, k, queries, monitor, hand_on);
        }
        let panels: Result<Vec<Vec<T>>> = queries
            .par_chunks(base.panel(queries.len()))
            .map(|queries| {
                let prefiltered = self.block(base, queries);
                let prefiltered = prefiltered
                    .map(|block| self.prefilter(&block, base, groups, k, queries, monitor))
                    .transpose()?;
                let nearest = match prefiltered.flatten() {
                    Some(nearest) => nearest,
                    None => self.compare(base, groups, k, queries, monitor)?,
                };
                monitor.advance(queries.len());
                let panels = queries.chunks(QUERY_ROWS).zip(nearest.chunks(QUERY_ROWS));
                Ok(panels.map(|(queries, nearest)| hand_on(queries, nearest)).collect())
            })
            .collect();
        Ok(panels?.into_iter().flatten().collect())
    }

    /// The queries in float32, where the base uses it and all of them fit.
    pub(super) fn block(&self, base: &Base, queries: &[usize]) -> Option<Block> {
        let (Self::Plain(differences, _), Strategy::Prefilter(frame) | Strategy::Ivf { frame, .. }) =
            (self, &base.strategy)
        else {
            return None;
        };
        let rows = differences.dense();
        Block::new(frame, queries.iter().map(|&query| rows.row(query)))
    }

    /// The nearest of each query, by group, through the prefilter; None where it leaves too many candidates.
    fn prefilter(
        &self,
        block: &Block,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
    ) -> Result<Option<Vec<Vec<Nearest>>>> {
        let count = groups.count();
        // One more, because the query itself is among the rows.
        let mut candidates: Vec<Candidates> =
            (0..queries.len() * count).map(|_| Candidates::new(k + 1)).collect();
        for part in &base.parts {
            monitor.check()?;
            let group = |(at, &query): (usize, &usize)| at * count + groups.of(query, part.class);
            let of: Vec<usize> = queries.iter().enumerate().map(group).collect();
            let first = part.places.start;
            match &part.index {
                Index::Prefiltered { tiles, .. } => block.scan(tiles, first, &mut candidates, &of),
                Index::Ivf(lists) => lists.scan(block, first, &mut candidates, &of),
                _ => unreachable!("only bases with tiles are prefiltered"),
            }
            if Candidates::are_too_many(&candidates) {
                return Ok(None);
            }
        }
        let of_query = candidates.chunks_exact_mut(count).zip(queries).map(|(candidates, &query)| {
            let exact = |candidates: &mut Candidates| {
                let mut nearest = Nearest::new(k);
                candidates.rows().for_each(|place| self.offer(query, base.order[place], 0.0, &mut nearest));
                nearest
            };
            candidates.iter_mut().map(exact).collect()
        });
        Ok(Some(of_query.collect()))
    }

    /// The nearest of each query, by group, with every row compared in float64, or by tree search.
    pub(super) fn compare(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
    ) -> Result<Vec<Vec<Nearest>>> {
        let mut all: Vec<Vec<Nearest>> =
            queries.iter().map(|_| (0..groups.count()).map(|_| Nearest::new(k)).collect()).collect();
        let mut distances = Vec::new();
        for (queries, all) in queries.chunks(QUERY_ROWS).zip(all.chunks_mut(QUERY_ROWS)) {
            let rows = self.select(queries);
            for part in &base.parts {
                monitor.check()?;
                let nearest = queries.iter().zip(&mut *all);
                let nearest =
                    nearest.map(|(&query, nearest)| (query, &mut nearest[groups.of(query, part.class)]));
                match (&part.index, &rows) {
                    (Index::Tree(tree), Rows::Dense(rows)) => {
                        for (at, (query, nearest)) in nearest.enumerate() {
                            tree.visit(rows.row(at), nearest.bound(), |j, d| {
                                self.offer(query, j, d, nearest);
                                nearest.bound()
                            });
                        }
                    }
                    (Index::Ivf(lists), _) => {
                        let block = self.block(base, queries);
                        for (at, (query, nearest)) in nearest.enumerate() {
                            let of_part = base.rows(part);
                            for places in lists.positions(block.as_ref(), at) {
                                of_part[places].iter().for_each(|&j| self.offer(query, j, 0.0, nearest));
                            }
                        }
                    }
                    _ => {
                        let indices = base.rows(part);
                        self.distances(part, indices, queries, &rows, &mut distances);
                        self.allow_for_rounding(indices, queries, &mut distances);
                        for ((query, nearest), line) in nearest.zip(distances.chunks_exact(indices.len())) {
                            nearest.scan(line, |nearest, at, d| self.offer(query, indices[at], d, nearest));
                        }
                    }
                }
            }
        }
        Ok(all)
    }

    /// Distances (euclidean: not squared) of each query to every row, in the rows' order; `hand_on` is called with panels of
    /// queries, and its results come back in the order of the queries.
    pub(crate) fn for_all_distances<T: Send>(
        &self,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&mut dyn Iterator<Item = (usize, &[f64])>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let n = self.n();
        let base = self.base(n, None, Strategy::Panels)?;
        // A panel of distances to all rows should stay in the cache, down to a single query.
        let height = (64_000 / n.max(1)).clamp(1, QUERY_ROWS);
        let root = !matches!(self, Self::Plain(_, Metric::Manhattan));
        monitor.begin("comparing rows", queries.len());
        queries
            .par_chunks(height)
            .map(|queries| {
                let rows = self.select(queries);
                let mut all = vec![0.0; queries.len() * n];
                let mut distances = Vec::new();
                for part in &base.parts {
                    monitor.check()?;
                    self.distances(part, base.rows(part), queries, &rows, &mut distances);
                    for (line, out) in distances.chunks_exact(part.places.len()).zip(all.chunks_exact_mut(n))
                    {
                        let out = &mut out[part.places.clone()];
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

    /// A float64 panel of rows, for distances by products or by sums of differences.
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

    /// The queries' rows, in the form that panels need.
    fn select(&self, queries: &[usize]) -> Rows<'static> {
        match self {
            Self::Plain(differences, _) => differences.prepared().select(queries),
            Self::Kernel(_, rows, _) => rows.select(queries),
        }
    }

    /// Distances of the queries to a panel; euclidean and kernel: squared.
    fn distances(&self, part: &Part, indices: &[usize], queries: &[usize], rows: &Rows, out: &mut Vec<f64>) {
        let l = indices.len();
        out.clear();
        out.resize(queries.len() * l, 0.0);
        match (self, &part.index) {
            (Self::Plain(..), Index::Panel(panel)) => panel.statistics(rows, out),
            (Self::Plain(..), Index::Prefiltered { panel, .. }) => {
                panel.get_or_init(|| self.panel(indices)).statistics(rows, out);
            }
            (Self::Plain(differences, metric), Index::Mixed(columns)) => {
                let Rows::Dense(rows) = rows else { unreachable!("gaps and categories are dense") };
                for (i, out) in out.chunks_exact_mut(l).enumerate() {
                    let (row, nominal) = (rows.row(i), differences.nominal());
                    pulp::Arch::new().dispatch(Mixed { nominal, metric: *metric, row, columns, out });
                }
            }
            (Self::Kernel(kernel, _, own), Index::Panel(panel)) => {
                // χ² kernels are monotone in their statistic, which does not saturate; for others the distance is computed
                // from k(x,x), k(y,y) and k(x,y).
                if kernel.shape.statistic() == Statistic::ChiSquared {
                    panel.statistics(rows, out);
                    return;
                }
                panel.fill(rows, out);
                for (&query, out) in queries.iter().zip(out.chunks_exact_mut(l)) {
                    for (o, &j) in out.iter_mut().zip(indices) {
                        *o = own[query] + own[j] - 2.0 * *o;
                    }
                }
            }
            (_, Index::Tree(_) | Index::Ivf(_) | Index::There) | (Self::Kernel(..), _) => {
                unreachable!("kernels have panels, trees and lists are visited")
            }
        }
    }

    /// Lowers distances that are sums of a kernel's values by what these may have lost to rounding: of rows close together
    /// they cancel, and the row itself must still be compared.
    fn allow_for_rounding(&self, indices: &[usize], queries: &[usize], distances: &mut [f64]) {
        let Self::Kernel(kernel, _, own) = self else { return };
        let smallest = match (kernel.shape, kernel.shape.statistic()) {
            (Shape::Sigmoid { coef0 }, _) => coef0.abs(),
            (shape, Statistic::Value) if shape.is_own() => return,
            (_, Statistic::Product | Statistic::Cosine | Statistic::Additive | Statistic::Value) => 0.0,
            _ => return,
        };
        for (&query, distances) in queries.iter().zip(distances.chunks_exact_mut(indices.len())) {
            for (d, &j) in distances.iter_mut().zip(indices) {
                *d -= PRODUCT_ROUNDING * (own[query].abs() + own[j].abs() + smallest);
            }
        }
    }

    /// Offers a row by its exact distance.
    pub(super) fn offer(&self, query: usize, j: usize, distance: f64, nearest: &mut Nearest) {
        if j != query {
            let exact = match self {
                // Values that were given are exact as they are, and functions are asked once.
                Self::Kernel(kernel, ..) if kernel.shape == Shape::Precomputed || kernel.shape.is_own() => {
                    distance
                }
                _ => self.distance(query, j),
            };
            nearest.offer(exact, j);
        }
    }
}

fn transposed(differences: &Differences, indices: &[usize]) -> Vec<f64> {
    let rows = differences.dense();
    let mut out = Vec::with_capacity(indices.len() * differences.p());
    for j in 0..differences.p() {
        out.extend(indices.iter().map(|&i| rows.row(i)[j]));
    }
    out
}

/// Distances of a row to column-major rows with missing values and categories.
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
                let base = space.base(20, None, Strategy::Panels).expect("base");
                let all: Vec<usize> = (0..20).collect();
                let mut panel = Vec::new();
                space.distances(&base.parts[0], &all, &all, &space.select(&all), &mut panel);
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
