//! Exact nearest neighbours with a GPU: it compares every row in float32, and few candidates are compared here in float64.
//!
//!   |s − d| ≤ c·(|x| + |y|);   s: the distance in float32, |x|: the squared norm (manhattan: the sum of magnitudes)
//!
//! Of each query the GPU keeps the smallest float32 distances, some more than k. Rows that are within the error bound of the
//! k-th are offered by their exact distance, as all strategies do, so that the result is theirs. Where the list ends within that
//! bound, the query is searched for on the processor.
//!
//! A share of the base, spread over it, is compared first: products as matrices, of which the smallest are kept. They say how
//! close a row must be to count, and the rest of the base is compared with that, so that its distances pass through no memory.
//! While the GPU compares some thousand queries, the candidates of those before are compared here.
//!
//! cost    p multiplications a pair (manhattan: 2p); 4 bytes of the GPU's memory a pair of a piece of the first share

use std::ops::Range;

use rayon::prelude::*;

use super::nearest::Nearest;
use super::neighbours::{Groups, Metric, Space};
use super::prefilter::Frame;
use super::search::{Base, QUERY_ROWS, Strategy};
use crate::cuda::{Buffer, Listed, MOST_LISTED};
use crate::data::rows::Rows;
use crate::error::Result;
use crate::monitor::Monitor;

/// Rows of the base and queries that are compared at a time.
const BASE_ROWS: usize = 65_536;
const QUERIES: usize = 4_096;

/// Places in a query's list beyond its k neighbours and itself.
const MORE: usize = 15;

/// The most neighbours that lists have room for.
const MOST_NEIGHBOURS: usize = 1_000;

/// Parts into which rows of a class are divided, each of them spread over all.
const SHARES: usize = 16;

/// At least so many rows are compared first.
const LEAST_FIRST: usize = 512;

/// Rows that are expected to be closer than what the first ones leave: a part of those that can be listed.
const EXPECTED: usize = MOST_LISTED / 4;

/// Up to so many columns the rest is compared without distances in memory. Matrix products of cuBLAS are faster than those
/// of the kernel by a share that grows with the columns, while what distances cost in memory does not.
const FEW_COLUMNS: usize = 64;

/// Whether a GPU can search for so many neighbours in this space.
pub(super) fn can_search(space: &Space, k: usize) -> bool {
    match space {
        Space::Plain(differences, _) => {
            differences.is_on_gpu() && differences.is_plain() && differences.p() > 0 && k <= MOST_NEIGHBOURS
        }
        Space::Kernel(..) => false,
    }
}

/// The base on a GPU.
pub(super) struct There {
    /// n×p in the base's order.
    rows: Buffer<f32>,
    sizes: Buffer<f32>,
    largest: f32,
    /// c of the error bound.
    share: f32,
}

/// What the queries of a panel found; None where the GPU cannot tell.
type Lists = Vec<Option<Vec<Nearest>>>;

/// Room on the GPU for comparisons.
struct Compared {
    /// Places of a query's list.
    room: usize,
    /// Distances of a piece of the base, and how many rows it has at most.
    s: Buffer<f32>,
    widest: usize,
    /// Where distances pass through no memory.
    listed: Option<Listed>,
}

/// The smallest distances of some queries.
struct Smallest {
    keys: Vec<u64>,
    sizes: Vec<f32>,
}

/// Brings rows into an order in which every share of them is spread over all.
pub(super) fn spread(rows: &mut [usize]) {
    let all = rows.to_vec();
    let firsts = (0..SHARES).map(|share| share.reverse_bits() >> (usize::BITS - SHARES.ilog2()));
    let spread = firsts.flat_map(|first| all.iter().skip(first).step_by(SHARES));
    rows.iter_mut().zip(spread).for_each(|(to, row)| *to = *row);
}

/// Rows of so many that are compared by way of distances in memory.
fn compared_first(rows: usize, room: usize, p: usize, metric: Metric) -> usize {
    let shares = (SHARES * room).div_ceil(EXPECTED);
    let first = (rows * shares).div_ceil(SHARES).max(LEAST_FIRST);
    let pays = metric == Metric::Manhattan || p <= FEW_COLUMNS;
    if pays && 2 * first <= rows { first } else { rows }
}

impl Space<'_> {
    /// The nearest rows of a base for each of the queries, with the help of a GPU; `hand_on` is called with panels of queries
    /// and their lists by group.
    pub(super) fn lists_on_gpu<T: Send>(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[usize], &[Vec<Nearest>]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let (Self::Plain(differences, metric), Strategy::Gpu(frame)) = (self, &base.strategy) else {
            unreachable!("`can_search` was asked")
        };
        let metric = *metric;
        let placed;
        let there = match differences.prepared() {
            rows if rows.gpu_rows().is_some() => rows,
            rows => {
                placed = rows.slice(0..rows.n()).on(differences.device())?;
                &placed
            }
        };
        let of_base = framed(there, frame, metric, &base.order)?;
        let compared = self.compared(base, k, queries.len().min(QUERIES), &of_base)?;
        let mut lists: Lists = Vec::new();
        let mut before: Option<(&[usize], Smallest)> = None;
        for queries in queries.chunks(QUERIES).map(Some).chain([None]) {
            monitor.check()?;
            let ask = |queries| -> Result<(&[usize], Smallest)> {
                let own = framed(there, frame, metric, queries)?;
                Ok((queries, self.smallest(base, groups, queries, (&of_base, &own), &compared, monitor)?))
            };
            let decide = |(queries, found): &(&[usize], Smallest)| {
                self.decided(base, groups, k, queries, (&of_base, found), monitor)
            };
            let (next, found) = rayon::join(|| queries.map(ask).transpose(), || before.as_ref().map(decide));
            lists.extend(found.into_iter().flatten());
            before = next?;
        }
        let unsure: Vec<usize> =
            queries.iter().zip(&lists).filter(|(_, list)| list.is_none()).map(|(query, _)| *query).collect();
        let mut sure: Vec<Vec<Nearest>> = Vec::new();
        if !unsure.is_empty() {
            let panels = self.base(base.order.len(), groups.classes(), Strategy::Panels)?;
            let again: Result<Vec<Vec<Vec<Nearest>>>> = unsure
                .par_chunks(QUERY_ROWS)
                .map(|queries| self.compare(&panels, groups, k, queries, monitor))
                .collect();
            sure = again?.into_iter().flatten().collect();
        }
        let mut sure = sure.into_iter();
        let lists: Vec<Vec<Nearest>> = lists
            .into_iter()
            .map(|list| list.or_else(|| sure.next()).unwrap_or_else(|| unreachable!("all were searched for")))
            .collect();
        let panels = queries.par_chunks(QUERY_ROWS).zip(lists.par_chunks(QUERY_ROWS));
        Ok(panels.map(|(queries, lists)| hand_on(queries, lists)).collect())
    }

    /// Room to compare so many queries at a time.
    fn compared(&self, base: &Base, k: usize, many: usize, of_base: &There) -> Result<Compared> {
        let Self::Plain(differences, metric) = self else { unreachable!("`can_search` was asked") };
        let (gpu, room) = (of_base.rows.gpu(), (k + 1 + MORE).min(base.order.len().max(1)));
        let first = |rows: usize| compared_first(rows, room, differences.p(), *metric);
        let parts = || base.parts.iter().map(|part| part.places.len());
        let widest = parts().map(first).max().unwrap_or(0).min(BASE_ROWS);
        let listed = if parts().any(|rows| first(rows) < rows) { Some(gpu.listed(many)?) } else { None };
        Ok(Compared { room, s: gpu.room(many * widest)?, widest, listed })
    }

    /// The smallest distances of a few thousand queries.
    fn smallest(
        &self,
        base: &Base,
        groups: Groups,
        queries: &[usize],
        (of_base, own): (&There, &There),
        compared: &Compared,
        monitor: &Monitor,
    ) -> Result<Smallest> {
        let Self::Plain(differences, metric) = self else { unreachable!("`can_search` was asked") };
        let (gpu, p, count, many) = (of_base.rows.gpu(), differences.p(), groups.count(), queries.len());
        let Compared { room, s, widest, listed } = compared;
        let (room, widest) = (*room, (*widest).max(1));
        let best = gpu.upload(&vec![u64::MAX; many * count * room])?;
        let manhattan = *metric == Metric::Manhattan;
        for part in &base.parts {
            let group = |(at, &query): (usize, &usize)| (at * count + groups.of(query, part.class())) as u32;
            let slots = gpu.slots(&queries.iter().enumerate().map(group).collect::<Vec<u32>>())?;
            let in_memory = |places: Range<usize>| -> Result<()> {
                for first in places.clone().step_by(widest) {
                    monitor.check()?;
                    let l = widest.min(places.end - first);
                    let (rows, asked) = ((&of_base.rows, first, l), (&own.rows, 0, many));
                    if manhattan {
                        gpu.differences(p, rows, asked, s, widest)?;
                    } else {
                        gpu.products_f32(p, rows, asked, s, widest)?;
                    }
                    let whole = if manhattan { 0.0 } else { 1.0 };
                    let rows = (first, l, &of_base.sizes);
                    gpu.nearest((s, widest, many), rows, whole, &slots, (room, &best))?;
                }
                Ok(())
            };
            let (first, rows) = (part.places.start, part.places.len());
            let rest = first + compared_first(rows, room, p, *metric);
            in_memory(first..rest)?;
            if let Some(listed) = listed.as_ref().filter(|_| rest < part.places.end) {
                monitor.check()?;
                let rows = (&of_base.rows, &of_base.sizes, rest, part.places.end - rest);
                let asked = (&own.rows, manhattan);
                if !gpu.closer(p, rows, asked, &slots, (room, &best), listed)? {
                    in_memory(rest..part.places.end)?;
                }
            }
        }
        Ok(Smallest { keys: best.to_vec()?, sizes: own.sizes.to_vec()? })
    }

    /// The lists of queries from their smallest distances.
    fn decided(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        (of_base, found): (&There, &Smallest),
        monitor: &Monitor,
    ) -> Lists {
        let of_query = found.keys.len() / queries.len().max(1);
        let exact = |(at, &query): (usize, &usize)| {
            let slack = 2.0 * of_base.share * (found.sizes[at] + of_base.largest);
            let keys = &found.keys[at * of_query..(at + 1) * of_query];
            let lists = keys.chunks_exact(of_query / groups.count());
            let list = lists.map(|keys| self.exact(base, k, query, keys, slack)).collect();
            monitor.advance(1);
            list
        };
        queries.par_iter().enumerate().map(exact).collect()
    }

    /// The nearest of a query in one group, from its smallest float32 distances; None where more rows may be among them.
    fn exact(&self, base: &Base, k: usize, query: usize, keys: &[u64], slack: f32) -> Option<Nearest> {
        let distance = |key: u64| {
            let bits = (key >> 32) as u32;
            f32::from_bits(if bits & 0x8000_0000 == 0 { !bits } else { bits & 0x7FFF_FFFF })
        };
        // The query itself is among the rows.
        let bound =
            keys.get(k).filter(|key| **key != u64::MAX).map_or(f32::INFINITY, |&key| distance(key) + slack);
        let last = keys[keys.len() - 1];
        let ends_beyond = last == u64::MAX || distance(last) > bound;
        if keys.len() < base.order.len() && !ends_beyond {
            return None;
        }
        let mut nearest = Nearest::new(k);
        for &key in keys.iter().take_while(|key| **key != u64::MAX && distance(**key) <= bound) {
            self.offer(query, base.order[(key & 0xFFFF_FFFF) as usize], 0.0, &mut nearest);
        }
        Some(nearest)
    }
}

/// Rows in float32 about the frame's origin, in this order.
fn framed(there: &Rows, frame: &Frame, metric: Metric, order: &[usize]) -> Result<There> {
    let Some(view) = there.gpu_rows() else { unreachable!("the rows are on a GPU") };
    let (gpu, p) = (view.gpu(), there.p());
    let (shift, unit) = frame.origin();
    let shift = gpu.upload(shift)?;
    let (rows, sizes) = (gpu.room(order.len() * p)?, gpu.room(order.len())?);
    let origin = (&shift, unit, metric == Metric::Manhattan);
    if let Some(whole) = view.whole() {
        let order: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        gpu.frame(whole, origin, &order, (&rows, &sizes, 0))?;
    } else {
        for (at, part) in order.chunks(BASE_ROWS).enumerate() {
            let (some, count) = (view.select(part)?, part.len());
            let all: Vec<u32> = (0..count as u32).collect();
            gpu.frame(some.matrix(p, count), origin, &all, (&rows, &sizes, at * BASE_ROWS))?;
        }
    }
    let largest = sizes.to_vec()?.into_iter().fold(0.0, f32::max);
    // A product of p terms in float32, whatever the order of its sum.
    let share = (p + 8) as f32 * f32::EPSILON;
    Ok(There { rows, sizes, largest, share })
}
