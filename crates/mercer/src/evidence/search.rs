//! The search behind neighbours: rows made ready to be compared with, and queries that pass over them panel by panel.
//!
//!   base      rows class by class: in tiles of single precision, in cells of such tiles, in panels of double, or in trees
//!   queries   through the sieve where the base has tiles; by matrix products, sums or visits where not, or where the sieve
//!             leaves too many
//!
//! differs whoever is left is ranked by the distance computed from the rows' own numbers, so all ways find the same

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::approximate::{Cells, WORTHWHILE};
use super::differences::Differences;
use super::nearest::Nearest;
use super::neighbours::{Found, Groups, Metric, Space};
use super::sieve::{Block, Frame, Near, Tiles};
use super::tree::Tree;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::kernel::Statistic;
use crate::kernel::{Kernel, Panel, Shape};
use crate::monitor::Monitor;

/// Rows that are compared at a time: queries, and the rows they are compared with. Their distances stay in the cache.
pub(crate) const QUERIES: usize = 64;
pub(crate) const BASE: usize = 1_024;

/// Queries that share out the cells among themselves, so that each cell meets many of them at once.
const SHARING: usize = 2_048;

/// A tree is used from this many rows on, four times as many for each column. Measured beside the sieve on noise, k = 10: it
/// takes 0.9 of the time at 8 000 rows of 5 columns, 0.7 at 128 000 of 6, 0.2 at 128 000 of 3, and 1.7 at 128 000 of 8.
const TREE_ROWS: usize = 8;

/// Whether a tree of n rows of p columns finds neighbours faster than comparing with all.
pub(crate) fn tree_pays(n: usize, p: usize) -> bool {
    p < 20 && n >= TREE_ROWS << (2 * p)
}

/// How neighbours are found.
pub(super) enum Way {
    /// Every row compared with every query.
    Panels,
    /// Few columns: most rows are not looked at.
    Trees,
    /// Most rows passed over by what single precision says of them.
    Sieve(Frame),
    /// The same, in the cells nearest to the query where a class has many rows.
    Cells(Frame),
}

/// Rows to find neighbours among.
pub(super) struct Base {
    pub(super) way: Way,
    /// All rows: class after class, in a class in their order or cell after cell.
    pub(super) order: Vec<usize>,
    pub(super) parts: Vec<Part>,
}

/// Rows of one class, made ready to be compared with.
pub(super) struct Part {
    /// Their places in the order.
    pub(super) places: Range<usize>,
    class: usize,
    pub(super) side: Side,
}

pub(super) enum Side {
    Panel(Panel),
    /// In single precision, and in double for queries that need it.
    Sieved {
        tiles: Tiles,
        panel: OnceLock<Panel>,
    },
    /// In single precision, around centres.
    Cells(Cells),
    /// Few columns.
    Tree(Tree),
    /// Column after column.
    Mixed(Vec<f64>),
}

impl Base {
    /// The rows of a part.
    fn rows(&self, part: &Part) -> &[usize] {
        &self.order[part.places.clone()]
    }

    /// How many of so many queries are looked at together.
    fn panel(&self, queries: usize) -> usize {
        let most = if matches!(self.way, Way::Cells(_)) { SHARING } else { QUERIES };
        (queries / QUERIES).next_multiple_of(QUERIES).clamp(QUERIES, most)
    }
}

impl Space<'_> {
    /// The fastest way to find all neighbours.
    pub(super) fn way(&self) -> Way {
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

    /// The rows in panels, each of one class, within a class in their order; or one tree or all cells a class.
    pub(super) fn base(&self, classes: Option<&[usize]>, way: Way) -> Result<Base> {
        let mut order: Vec<usize> = (0..self.n()).collect();
        let class = |i: usize| classes.map_or(0, |codes| codes[i]);
        order.sort_by_key(|&i| class(i));
        let most = |rows: &[usize]| match way {
            Way::Trees => usize::MAX,
            Way::Cells(_) if rows.len() >= WORTHWHILE => usize::MAX,
            _ => BASE,
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
            Ok(Part { places, class: class(rows[0]), side: self.side(rows, &way)? })
        };
        let parts: Result<Vec<Part>> = chunks.into_par_iter().map(part).collect();
        Ok(Base { parts: parts?, way, order })
    }

    /// Some rows made ready, and brought into the order of their cells.
    fn side(&self, indices: &mut [usize], way: &Way) -> Result<Side> {
        Ok(match (self, way) {
            (Self::Plain(differences, metric), Way::Trees) => {
                Side::Tree(Tree::new(differences.dense(), indices, differences.p(), *metric))
            }
            (Self::Plain(differences, _), Way::Cells(frame)) if indices.len() >= WORTHWHILE => {
                Side::Cells(Cells::new(frame, differences.dense(), indices)?)
            }
            (Self::Plain(differences, _), Way::Sieve(frame) | Way::Cells(frame)) => {
                let rows = differences.dense();
                let tiles = Tiles::new(frame, indices.iter().map(|&i| rows.row(i)));
                Side::Sieved { tiles, panel: OnceLock::new() }
            }
            (Self::Plain(differences, _), Way::Panels) if !differences.is_plain() => {
                Side::Mixed(transposed(differences, indices))
            }
            _ => Side::Panel(self.panel(indices)),
        })
    }

    /// The nearest rows of a base for each of the queries, handed on in panels.
    pub(super) fn among<T: Send>(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[Found]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let k = k.min(self.n());
        monitor.begin("finding neighbours", queries.len());
        let panels: Result<Vec<Vec<T>>> = queries
            .par_chunks(base.panel(queries.len()))
            .map(|queries| {
                let sieved = self.block(base, queries);
                let sieved =
                    sieved.map(|block| self.sieve(&block, base, groups, k, queries, monitor)).transpose()?;
                let nearest = match sieved.flatten() {
                    Some(nearest) => nearest,
                    None => self.compare(base, groups, k, queries, monitor)?,
                };
                monitor.advance(queries.len());
                let found = |(&query, groups): (&usize, &Vec<Nearest>)| Found {
                    query,
                    groups: groups.iter().map(Nearest::indices).collect(),
                };
                let found: Vec<Found> = queries.iter().zip(&nearest).map(found).collect();
                Ok(found.chunks(QUERIES).map(&hand_on).collect())
            })
            .collect();
        Ok(panels?.into_iter().flatten().collect())
    }

    /// The queries in single precision, where that is the base's way and holds them.
    pub(super) fn block(&self, base: &Base, queries: &[usize]) -> Option<Block> {
        let (Self::Plain(differences, _), Way::Sieve(frame) | Way::Cells(frame)) = (self, &base.way) else {
            return None;
        };
        let rows = differences.dense();
        Block::new(frame, queries.iter().map(|&query| rows.row(query)))
    }

    /// The nearest of each query, by groups, with only those compared that single precision leaves; None where that is
    /// too many.
    fn sieve(
        &self,
        block: &Block,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
    ) -> Result<Option<Vec<Vec<Nearest>>>> {
        let count = groups.count();
        // One more, because a row is always near itself.
        let mut near: Vec<Near> = (0..queries.len() * count).map(|_| Near::new(k + 1)).collect();
        for part in &base.parts {
            monitor.check()?;
            let group = |(at, &query): (usize, &usize)| at * count + groups.of(query, part.class);
            let of: Vec<usize> = queries.iter().enumerate().map(group).collect();
            let first = part.places.start;
            match &part.side {
                Side::Sieved { tiles, .. } => block.scan(tiles, first, &mut near, &of),
                Side::Cells(cells) => cells.scan(block, first, &mut near, &of),
                _ => unreachable!("this is the way of the sieve"),
            }
            if Near::are_too_many(&near) {
                return Ok(None);
            }
        }
        let of_query = near.chunks_exact_mut(count).zip(queries).map(|(near, &query)| {
            let exact = |near: &mut Near| {
                let mut nearest = Nearest::new(k);
                near.rows().for_each(|place| self.offer(query, base.order[place], 0.0, &mut nearest));
                nearest
            };
            near.iter_mut().map(exact).collect()
        });
        Ok(Some(of_query.collect()))
    }

    /// The same, with every row compared in double precision or visited in a tree.
    fn compare(
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
        for (queries, all) in queries.chunks(QUERIES).zip(all.chunks_mut(QUERIES)) {
            let rows = self.select(queries);
            for part in &base.parts {
                monitor.check()?;
                let nearest = queries.iter().zip(&mut *all);
                let nearest =
                    nearest.map(|(&query, nearest)| (query, &mut nearest[groups.of(query, part.class)]));
                match (&part.side, &rows) {
                    (Side::Tree(tree), Rows::Dense(rows)) => {
                        for (at, (query, nearest)) in nearest.enumerate() {
                            tree.visit(rows.row(at), nearest.bound(), |j, d| {
                                self.offer(query, j, d, nearest);
                                nearest.bound()
                            });
                        }
                    }
                    (Side::Cells(cells), _) => {
                        let block = self.block(base, queries);
                        for (at, (query, nearest)) in nearest.enumerate() {
                            let of_part = base.rows(part);
                            for places in cells.near(block.as_ref(), at) {
                                of_part[places].iter().for_each(|&j| self.offer(query, j, 0.0, nearest));
                            }
                        }
                    }
                    _ => {
                        let indices = base.rows(part);
                        self.distances(part, indices, queries, &rows, &mut distances);
                        for ((query, nearest), line) in nearest.zip(distances.chunks_exact(indices.len())) {
                            nearest.scan(line, |nearest, at, d| self.offer(query, indices[at], d, nearest));
                        }
                    }
                }
            }
        }
        Ok(all)
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
        let base = self.base(None, Way::Panels)?;
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
    fn distances(&self, part: &Part, indices: &[usize], queries: &[usize], rows: &Rows, out: &mut Vec<f64>) {
        let l = indices.len();
        out.clear();
        out.resize(queries.len() * l, 0.0);
        match (self, &part.side) {
            (Self::Plain(..), Side::Panel(panel)) => panel.statistics(rows, out),
            (Self::Plain(..), Side::Sieved { panel, .. }) => {
                panel.get_or_init(|| self.panel(indices)).statistics(rows, out);
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
                    for (o, &j) in out.iter_mut().zip(indices) {
                        *o = own[query] + own[j] - 2.0 * *o;
                    }
                }
            }
            (_, Side::Tree(_) | Side::Cells(_)) | (Self::Kernel(..), _) => {
                unreachable!("kernels have panels, trees and cells are visited")
            }
        }
    }

    /// Offers a row by its exact distance.
    fn offer(&self, query: usize, j: usize, distance: f64, nearest: &mut Nearest) {
        if j != query {
            let exact = match self {
                Self::Plain(differences, metric) => differences.distance(*metric, query, j),
                Self::Kernel(..) => distance,
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
                let base = space.base(None, Way::Panels).expect("base");
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
