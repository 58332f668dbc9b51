//! Exact nearest neighbours with a card: it compares every row in float32, and few candidates are compared here in float64.
//!
//!   |s − d| ≤ c·(|x| + |y|);   s: the distance in float32, |x|: the squared norm (manhattan: the sum of magnitudes)
//!
//! Of each query the card keeps the smallest float32 distances, some more than k. Rows that are within the error bound of the
//! k-th are offered by their exact distance, as all strategies do, so that the result is theirs. Where the list ends within that
//! bound, the query is searched for on the processor.
//!
//! cost    p multiplications a pair (manhattan: 2p); 4 bytes of the card's memory a pair of a piece

use rayon::prelude::*;

use super::nearest::Nearest;
use super::neighbours::{Groups, Metric, Space};
use super::prefilter::Frame;
use super::search::{Base, QUERY_ROWS, Strategy};
use crate::cuda::Buffer;
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

/// Whether a card can search for so many neighbours in this space.
pub(super) fn can_search(space: &Space, k: usize) -> bool {
    match space {
        Space::Plain(differences, _) => {
            differences.is_on_card() && differences.is_plain() && differences.p() > 0 && k <= MOST_NEIGHBOURS
        }
        Space::Kernel(..) => false,
    }
}

/// The base on a card.
pub(super) struct There {
    /// n×p in the base's order.
    rows: Buffer<f32>,
    sizes: Buffer<f32>,
    largest: f32,
    /// c of the error bound.
    share: f32,
}

/// What the queries of a panel found; None where the card cannot tell.
type Lists = Vec<Option<Vec<Nearest>>>;

impl Space<'_> {
    /// The nearest rows of a base for each of the queries, with the help of a card; `hand_on` is called with panels of queries
    /// and their lists by group.
    pub(super) fn lists_on_card<T: Send>(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        monitor: &Monitor,
        hand_on: impl Fn(&[usize], &[Vec<Nearest>]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let (Self::Plain(differences, metric), Strategy::Card(frame)) = (self, &base.strategy) else {
            unreachable!("`can_search` was asked")
        };
        let metric = *metric;
        let placed;
        let there = match differences.prepared() {
            rows if rows.card_rows().is_some() => rows,
            rows => {
                placed = rows.slice(0..rows.n()).on(differences.device())?;
                &placed
            }
        };
        let of_base = framed(there, frame, metric, &base.order)?;
        let mut lists: Lists = Vec::new();
        for queries in queries.chunks(QUERIES) {
            monitor.check()?;
            let own = framed(there, frame, metric, queries)?;
            lists.extend(self.candidates(base, groups, k, queries, (&of_base, &own), monitor)?);
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

    /// The lists of a few thousand queries.
    fn candidates(
        &self,
        base: &Base,
        groups: Groups,
        k: usize,
        queries: &[usize],
        (of_base, own): (&There, &There),
        monitor: &Monitor,
    ) -> Result<Lists> {
        let Self::Plain(differences, metric) = self else { unreachable!("`can_search` was asked") };
        let (card, p, count, many) = (of_base.rows.card(), differences.p(), groups.count(), queries.len());
        let room = (k + 1 + MORE).min(base.order.len().max(1));
        let best = card.upload(&vec![u64::MAX; many * count * room])?;
        let widest = base.parts.iter().map(|part| part.places.len()).max().unwrap_or(0).min(BASE_ROWS);
        let s = card.room(many * widest)?;
        let whole = if *metric == Metric::Euclidean { 1.0 } else { 0.0 };
        for part in &base.parts {
            let group = |(at, &query): (usize, &usize)| (at * count + groups.of(query, part.class())) as u32;
            let slots: Vec<u32> = queries.iter().enumerate().map(group).collect();
            for first in part.places.clone().step_by(widest.max(1)) {
                monitor.check()?;
                let l = widest.min(part.places.end - first);
                let (rows, asked) = ((&of_base.rows, first, l), (&own.rows, 0, many));
                if *metric == Metric::Euclidean {
                    card.products_f32(p, rows, asked, &s, widest)?;
                } else {
                    card.differences(p, rows, asked, &s, widest)?;
                }
                card.nearest((&s, widest, many), (first, l, &of_base.sizes), whole, &slots, room, &best)?;
            }
        }
        let (keys, sizes) = (best.to_vec()?, own.sizes.to_vec()?);
        let exact = |(at, &query): (usize, &usize)| {
            let slack = 2.0 * of_base.share * (sizes[at] + of_base.largest);
            let lists = keys[at * count * room..(at + 1) * count * room].chunks_exact(room);
            let list = lists.map(|keys| self.exact(base, k, query, keys, slack)).collect();
            monitor.advance(1);
            list
        };
        Ok(queries.par_iter().enumerate().map(exact).collect())
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
    let Some(view) = there.card_rows() else { unreachable!("the rows are on a card") };
    let (card, p) = (view.card(), there.p());
    let (shift, unit) = frame.origin();
    let shift = card.upload(shift)?;
    let (rows, sizes) = (card.room(order.len() * p)?, card.room(order.len())?);
    let origin = (&shift, unit, metric == Metric::Manhattan);
    if let Some(whole) = view.whole() {
        let order: Vec<u32> = order.iter().map(|&i| i as u32).collect();
        card.frame(whole, origin, &order, (&rows, &sizes, 0))?;
    } else {
        for (at, part) in order.chunks(BASE_ROWS).enumerate() {
            let (some, count) = (view.select(part)?, part.len());
            let all: Vec<u32> = (0..count as u32).collect();
            card.frame(some.matrix(p, count), origin, &all, (&rows, &sizes, at * BASE_ROWS))?;
        }
    }
    let largest = sizes.to_vec()?.into_iter().fold(0.0, f32::max);
    // A product of p terms in float32, whatever the order of its sum.
    let share = (p + 8) as f32 * f32::EPSILON;
    Ok(There { rows, sizes, largest, share })
}
