//! Float32 prefilter for exact nearest neighbours: float32 distances with error bounds rule out most rows.
//!
//!   |s − d| ≤ c·(|x| + |y|);   s: the distance in float32, |x|: the squared norm (manhattan: the sum of magnitudes)
//!
//! A row is dropped only if it is farther away than k others whatever the rounding. The remaining candidates are compared in
//! float64 by the caller, so the result is exact.
//!
//! cost    p multiplications per pair (manhattan: 2p), sixteen at a time with AVX-512, a tile of rows against a few queries:
//!         the sums stay in registers and no distance is written to memory
//! differs clusters that are narrow compared with the spread of all rows cannot be resolved in float32: too many candidates
//!         remain, and the caller falls back to float64 ([`Candidates::are_too_many`])

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::neighbours::Metric;
use crate::data::rows::Dense;

/// SIMD registers that hold a column of a tile.
const REGISTERS_PER_COLUMN: usize = 2;

/// Queries that are compared with a tile at once: their sums, a column of the tile and their own values fill the registers.
const QUERIES_PER_TILE: usize = 4;

/// Columns of a partial sum: adding partial sums keeps the rounding errors of long sums small.
const PARTIAL_SUM_COLUMNS: usize = 256;

/// Origin, scale and metric of the float32 rows.
#[derive(Debug)]
pub(crate) struct Frame {
    metric: Metric,
    shift: Vec<f64>,
    /// A power of two that brings the largest number to about 1.
    unit: f64,
    /// c of the error bound.
    share: f64,
}

impl Frame {
    /// For these rows and others like them.
    pub(crate) fn new(rows: &Dense, n: usize, p: usize, metric: Metric) -> Self {
        // Fixed parts, so that the bits do not depend on the number of threads.
        const PART_ROWS: usize = 4_096;
        let starts: Vec<usize> = (0..n).step_by(PART_ROWS).collect();
        let part = |&start: &usize| {
            let (mut sum, mut largest) = (vec![0.0; p], 0.0f64);
            for i in start..n.min(start + PART_ROWS) {
                for (s, v) in sum.iter_mut().zip(rows.row(i)) {
                    *s += v / n as f64;
                    largest = largest.max(v.abs());
                }
            }
            (sum, largest)
        };
        let parts: Vec<(Vec<f64>, f64)> = starts.par_iter().map(part).collect();
        let mut shift = vec![0.0; p];
        parts.iter().for_each(|(sum, _)| shift.iter_mut().zip(sum).for_each(|(s, v)| *s += v));
        let largest = parts.iter().fold(0.0f64, |most, (_, largest)| most.max(*largest));
        let unit = if largest > 0.0 { (-largest.log2().ceil()).clamp(-1_000.0, 1_000.0).exp2() } else { 1.0 };
        let terms = p.min(PARTIAL_SUM_COLUMNS) + p.div_ceil(PARTIAL_SUM_COLUMNS) + 8;
        Self { metric, shift, unit, share: terms as f64 * f64::from(f32::EPSILON) }
    }

    /// The origin, and the scale.
    pub(crate) fn origin(&self) -> (&[f64], f64) {
        (&self.shift, self.unit)
    }

    /// A row relative to this origin and scale, times a factor.
    pub(crate) fn normalized(&self, row: &[f64], factor: f64) -> impl Iterator<Item = f32> {
        let moved = row.iter().zip(&self.shift).map(move |(v, s)| (v * self.unit - s * self.unit) * factor);
        moved.map(|v| v as f32)
    }

    /// The row of a point that is given relative to this origin and scale.
    pub(crate) fn row(&self, point: &[f32]) -> Vec<f64> {
        point.iter().zip(&self.shift).map(|(&v, s)| f64::from(v) / self.unit + s).collect()
    }

    /// |x|, with an allowance for underflow.
    fn size(&self, row: &[f64]) -> f64 {
        let moved = row.iter().zip(&self.shift).map(|(v, s)| v * self.unit - s * self.unit);
        let size: f64 = match self.metric {
            Metric::Euclidean => moved.map(|v| v * v).sum(),
            Metric::Manhattan => moved.map(f64::abs).sum(),
        };
        size + 1e-30
    }

    /// A row's contribution to the lower bound of its distances: its size (euclidean distances are sums of sizes and a
    /// product), less the error bound.
    fn part(&self, size: f64) -> f32 {
        let whole = if self.metric == Metric::Euclidean { 1.0 } else { 0.0 };
        ((whole - self.share) * size) as f32
    }
}

/// Base rows in tiles, for the distances to queries.
#[derive(Debug)]
pub(crate) struct Tiles {
    /// Column after column, tile after tile.
    points: Vec<f32>,
    /// Contribution of each row to lower bounds; ∞ for the padding of the last tile.
    parts: Vec<f32>,
    sizes: Vec<f32>,
}

impl Tiles {
    pub(crate) fn new<'r>(frame: &Frame, rows: impl ExactSizeIterator<Item = &'r [f64]>) -> Self {
        let (n, p, height) = (rows.len(), frame.shift.len(), pulp::Arch::new().dispatch(Height));
        let places = n.next_multiple_of(height);
        let mut points = vec![0.0; places * p];
        let mut parts = vec![f32::INFINITY; places];
        let mut sizes = vec![0.0; places];
        for (i, row) in rows.enumerate() {
            let tile = &mut points[i / height * height * p..];
            for (j, v) in frame.normalized(row, 1.0).enumerate() {
                tile[j * height + i % height] = v;
            }
            let size = frame.size(row);
            parts[i] = frame.part(size);
            sizes[i] = size as f32;
        }
        Self { points, parts, sizes }
    }
}

/// Number of rows of a tile.
struct Height;

impl WithSimd for Height {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        REGISTERS_PER_COLUMN * S::F32_LANES
    }
}

/// A block of queries.
pub(crate) struct Block {
    metric: Metric,
    p: usize,
    /// Row-major, padded to a multiple of [`QUERIES_PER_TILE`]; euclidean: times −2.
    points: Vec<f32>,
    parts: Vec<f32>,
    sizes: Vec<f32>,
    share: f32,
}

impl Block {
    /// None if a query is too far from the origin for float32.
    pub(crate) fn new<'r>(frame: &Frame, rows: impl ExactSizeIterator<Item = &'r [f64]>) -> Option<Self> {
        /// Sizes up to this leave room for sums of many in float32.
        const MAX_SIZE: f64 = 1e30;
        let (n, p) = (rows.len(), frame.shift.len());
        let factor = if frame.metric == Metric::Euclidean { -2.0 } else { 1.0 };
        let mut points = Vec::with_capacity(n.next_multiple_of(QUERIES_PER_TILE) * p);
        let (mut parts, mut sizes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for row in rows {
            points.extend(frame.normalized(row, factor));
            let size = frame.size(row);
            if size.is_nan() || size >= MAX_SIZE {
                return None;
            }
            parts.push(frame.part(size));
            sizes.push(size as f32);
        }
        points.resize(n.next_multiple_of(QUERIES_PER_TILE) * p, 0.0);
        Some(Self { metric: frame.metric, p, points, parts, sizes, share: frame.share as f32 })
    }

    /// Some of the queries.
    pub(crate) fn pick(&self, queries: &[usize]) -> Self {
        let mut points = Vec::with_capacity(queries.len().next_multiple_of(QUERIES_PER_TILE) * self.p);
        queries.iter().for_each(|q| points.extend_from_slice(&self.points[q * self.p..(q + 1) * self.p]));
        points.resize(queries.len().next_multiple_of(QUERIES_PER_TILE) * self.p, 0.0);
        let of = |numbers: &[f32]| queries.iter().map(|&q| numbers[q]).collect();
        Self { points, parts: of(&self.parts), sizes: of(&self.sizes), ..*self }
    }

    /// Number of queries.
    pub(crate) fn n(&self) -> usize {
        self.parts.len()
    }

    /// Compares every query with the rows of the tiles, which are numbered from `first` on; candidates of query i are added
    /// to `candidates[of[i]]`.
    pub(crate) fn scan(&self, tiles: &Tiles, first: usize, candidates: &mut [Candidates], of: &[usize]) {
        match self.metric {
            Metric::Euclidean => {
                pulp::Arch::new().dispatch(Scan::<true> { block: self, tiles, first, candidates, of });
            }
            Metric::Manhattan => {
                pulp::Arch::new().dispatch(Scan::<false> { block: self, tiles, first, candidates, of });
            }
        }
    }

    /// The k nearest of n rows in tiles for each query, nearest first, by float32 distances alone.
    pub(crate) fn nearest(&self, tiles: &Tiles, n: usize, k: usize) -> Vec<Vec<usize>> {
        let places = tiles.parts.len();
        let mut least = vec![0.0; self.n() * places];
        match self.metric {
            Metric::Euclidean => {
                pulp::Arch::new().dispatch(Lines::<true> { block: self, tiles, least: &mut least });
            }
            Metric::Manhattan => {
                pulp::Arch::new().dispatch(Lines::<false> { block: self, tiles, least: &mut least });
            }
        }
        // Distance and row in one integer key, so that they are compared at once.
        let keyed = |(row, least): (usize, &f32)| {
            let bits = least.to_bits();
            let ordered = if least.is_sign_negative() { !bits } else { bits | 1 << 31 };
            u64::from(ordered) << 32 | row as u64
        };
        let mut keys = Vec::with_capacity(n);
        let of_query = |least: &[f32]| {
            keys.clear();
            keys.extend(least[..n].iter().enumerate().map(keyed));
            if k < n {
                keys.select_nth_unstable(k);
                keys.truncate(k);
            }
            keys.sort_unstable();
            keys.iter().map(|key| (key & u64::from(u32::MAX)) as usize).collect()
        };
        least.chunks_exact(places).map(of_query).collect()
    }

    /// Adds rows of a tile to a query's candidates, given the lower bounds of their distances.
    #[cold]
    #[inline(never)]
    fn offer(&self, query: usize, least: &[f32], sizes: &[f32], first: usize, candidates: &mut Candidates) {
        let mut within = [0u8; 256];
        let mut count = 0;
        let limit = candidates.limit - self.parts[query];
        for (lane, &least) in least.iter().enumerate() {
            // Branch-free, because the branch would be unpredictable.
            within[count] = lane as u8;
            count += usize::from(least <= limit);
        }
        for lane in within[..count].iter().map(|&lane| usize::from(lane)) {
            let least = least[lane] + self.parts[query];
            candidates.insert(
                least,
                least + 2.0 * self.share * (self.sizes[query] + sizes[lane]),
                first + lane,
            );
        }
    }
}

/// One pass of the queries over the tiles; `PRODUCT`: euclidean, else manhattan.
struct Scan<'a, const PRODUCT: bool> {
    block: &'a Block,
    tiles: &'a Tiles,
    first: usize,
    candidates: &'a mut [Candidates],
    of: &'a [usize],
}

impl<const PRODUCT: bool> WithSimd for Scan<'_, PRODUCT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (block, p, height) = (self.block, self.block.p, REGISTERS_PER_COLUMN * S::F32_LANES);
        let tiles = self.tiles.points.chunks_exact((height * p).max(1));
        for (at, (tile, parts)) in tiles.zip(self.tiles.parts.chunks_exact(height)).enumerate() {
            for (quad, points) in block.points.chunks_exact((QUERIES_PER_TILE * p).max(1)).enumerate() {
                let least = tile_least::<S, PRODUCT>(simd, p, tile, parts, points);
                for (query, least) in (quad * QUERIES_PER_TILE..).zip(&least) {
                    let Some(&of) = self.of.get(query) else { break };
                    let candidates = &mut self.candidates[of];
                    let limit = simd.splat_f32s(candidates.limit - block.parts[query]);
                    let within = least.map(|l| simd.less_than_or_equal_f32s(l, limit));
                    if simd.first_true_m32s(simd.or_m32s(within[0], within[1])) < S::F32_LANES {
                        let sizes = &self.tiles.sizes[at * height..];
                        let least: &[f32] = bytemuck::cast_slice(least);
                        block.offer(query, least, sizes, self.first + at * height, candidates);
                    }
                }
            }
        }
    }
}

/// Lower bounds of the distances between the queries and the rows of tiles, less the query's own contribution; row-major.
struct Lines<'a, const PRODUCT: bool> {
    block: &'a Block,
    tiles: &'a Tiles,
    least: &'a mut [f32],
}

impl<const PRODUCT: bool> WithSimd for Lines<'_, PRODUCT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (p, height, places) = (self.block.p, REGISTERS_PER_COLUMN * S::F32_LANES, self.tiles.parts.len());
        let tiles = self.tiles.points.chunks_exact((height * p).max(1));
        for (at, (tile, parts)) in tiles.zip(self.tiles.parts.chunks_exact(height)).enumerate() {
            let quads = self.block.points.chunks_exact((QUERIES_PER_TILE * p).max(1));
            for (points, lines) in quads.zip(self.least.chunks_mut(QUERIES_PER_TILE * places)) {
                let least = tile_least::<S, PRODUCT>(simd, p, tile, parts, points);
                for (line, least) in lines.chunks_exact_mut(places).zip(&least) {
                    line[at * height..(at + 1) * height].copy_from_slice(bytemuck::cast_slice(least));
                }
            }
        }
    }
}

/// Lower bounds of the distances between a few queries and the rows of one tile, less the query's own contribution.
#[inline(always)]
fn tile_least<S: Simd, const PRODUCT: bool>(
    simd: S,
    p: usize,
    tile: &[f32],
    parts: &[f32],
    points: &[f32],
) -> [[S::f32s; REGISTERS_PER_COLUMN]; QUERIES_PER_TILE] {
    let height = REGISTERS_PER_COLUMN * S::F32_LANES;
    let mut least = [load(simd, parts); QUERIES_PER_TILE];
    for start in (0..p).step_by(PARTIAL_SUM_COLUMNS) {
        let end = p.min(start + PARTIAL_SUM_COLUMNS);
        let rows = std::array::from_fn(|q| &points[q * p + start..q * p + end]);
        let sums = tile_sums::<S, PRODUCT>(simd, &tile[start * height..end * height], rows);
        for (least, sums) in least.iter_mut().zip(sums) {
            *least = std::array::from_fn(|v| simd.add_f32s(least[v], sums[v]));
        }
    }
    least
}

/// Loads one number for each row of a tile.
#[inline(always)]
fn load<S: Simd>(simd: S, numbers: &[f32]) -> [S::f32s; REGISTERS_PER_COLUMN] {
    std::array::from_fn(|v| simd.partial_load_f32s(&numbers[v * S::F32_LANES..(v + 1) * S::F32_LANES]))
}

/// Sums over some columns for each row of a tile and each query.
#[inline(always)]
fn tile_sums<S: Simd, const PRODUCT: bool>(
    simd: S,
    tile: &[f32],
    [a, b, c, d]: [&[f32]; QUERIES_PER_TILE],
) -> [[S::f32s; REGISTERS_PER_COLUMN]; QUERIES_PER_TILE] {
    let mut sums = [[simd.splat_f32s(0.0); REGISTERS_PER_COLUMN]; QUERIES_PER_TILE];
    let columns = S::as_simd_f32s(tile).0.as_chunks::<REGISTERS_PER_COLUMN>().0;
    for ((((column, &a), &b), &c), &d) in columns.iter().zip(a).zip(b).zip(c).zip(d) {
        for (q, x) in [a, b, c, d].into_iter().enumerate() {
            let x = simd.splat_f32s(x);
            for v in 0..REGISTERS_PER_COLUMN {
                sums[q][v] = if PRODUCT {
                    simd.mul_add_e_f32s(x, column[v], sums[q][v])
                } else {
                    simd.add_f32s(simd.abs_f32s(simd.sub_f32s(x, column[v])), sums[q][v])
                };
            }
        }
    }
    sums
}

/// The rows that may still be among the k nearest of a query.
pub(crate) struct Candidates {
    k: usize,
    /// Rows whose lower bound exceeds this are not among them.
    limit: f32,
    list: Vec<Candidate>,
    /// Length of the list at which rows beyond the limit are removed.
    full: usize,
}

#[derive(Clone, Copy)]
struct Candidate {
    least: f32,
    most: f32,
    row: usize,
}

impl Candidates {
    pub(crate) fn new(k: usize) -> Self {
        // Below ∞, the bound of padding rows.
        let limit = if k == 0 { f32::NEG_INFINITY } else { f32::MAX };
        Self { k, limit, list: Vec::new(), full: 2 * k + 16 }
    }

    fn insert(&mut self, least: f32, most: f32, row: usize) {
        if least <= self.limit {
            self.list.push(Candidate { least, most, row });
            if self.list.len() >= self.full {
                self.drop_far();
                self.full = (2 * self.list.len()).max(2 * self.k + 16);
            }
        }
    }

    fn drop_far(&mut self) {
        if self.k > 0 && self.list.len() >= self.k {
            let (_, kth, _) = self.list.select_nth_unstable_by(self.k - 1, |a, b| a.most.total_cmp(&b.most));
            self.limit = self.limit.min(kth.most);
            self.list.retain(|candidate| candidate.least <= self.limit);
        }
    }

    /// Whether so many candidates are left that comparing all rows in float64 would be faster.
    pub(crate) fn are_too_many(candidates: &[Self]) -> bool {
        candidates.iter().map(|of_query| of_query.list.len()).sum::<usize>()
            > candidates.iter().map(|of_query| 256 + 8 * of_query.k).sum()
    }

    /// The remaining rows, unordered.
    pub(crate) fn rows(&mut self) -> impl Iterator<Item = usize> {
        self.drop_far();
        self.list.iter().map(|candidate| candidate.row)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::data::rows::Rows;
    use crate::random;

    /// Rows that are hard for a prefilter.
    fn rows(kind: &str, n: usize, p: usize) -> Vec<f64> {
        let mut generator = random::generator(7);
        let mut number = || generator.random_range(-1.0..1.0);
        let mut values: Vec<f64> = (0..n * p).map(|_| number()).collect();
        match kind {
            "far from the origin" => values.iter_mut().for_each(|v| *v = *v * 1e-3 + 1e6),
            "with one far off" => values[0] = 1e9,
            "of any scale" => {
                let scales = (-30..30).map(|e| 10f64.powi(e)).cycle();
                values.iter_mut().zip(scales).for_each(|(v, scale)| *v *= scale);
            }
            "huge" => values.iter_mut().for_each(|v| *v *= 1e90),
            "tiny" => values.iter_mut().for_each(|v| *v *= 1e-90),
            "with ties" => values.iter_mut().for_each(|v| *v = (*v * 2.0).round()),
            "twice" => (n / 2 * p..n * p).for_each(|at| values[at] = values[at - n / 2 * p]),
            "in two clusters" => values.chunks_exact_mut(p).step_by(2).for_each(|row| row[0] += 1e4),
            _ => {}
        }
        values
    }

    #[test]
    fn dropped_rows_are_farther_than_k_others() {
        let kinds =
            ["plain", "far from the origin", "with one far off", "of any scale", "huge", "tiny", "with ties"];
        for kind in kinds.into_iter().chain(["twice", "in two clusters"]) {
            for (n, p, k) in [(90, 3, 5), (200, 1, 1), (70, 600, 4), (5, 2, 9), (1, 1, 1)] {
                let rows = Rows::dense(rows(kind, n, p), n, p).expect("rows");
                let Rows::Dense(dense) = &rows else { unreachable!("made so") };
                for metric in [Metric::Euclidean, Metric::Manhattan] {
                    let frame = Frame::new(dense, n, p, metric);
                    let tiles = Tiles::new(&frame, (0..n).map(|i| dense.row(i)));
                    let block = Block::new(&frame, (0..n).map(|i| dense.row(i))).expect("within range");
                    let mut candidates: Vec<Candidates> = (0..n).map(|_| Candidates::new(k)).collect();
                    block.scan(&tiles, 0, &mut candidates, &(0..n).collect::<Vec<_>>());
                    for (i, of_query) in candidates.iter_mut().enumerate() {
                        let distance = |j: usize| -> f64 {
                            let pairs = dense.row(i).iter().zip(dense.row(j)).map(|(a, b)| (a - b).abs());
                            if metric == Metric::Euclidean { pairs.map(|d| d * d).sum() } else { pairs.sum() }
                        };
                        let mut all: Vec<f64> = (0..n).map(distance).collect();
                        all.sort_by(f64::total_cmp);
                        let limit = all[k.min(n) - 1];
                        let left: Vec<usize> = of_query.rows().collect();
                        assert!(left.iter().all(|&j| j < n), "padding is never a candidate");
                        for j in (0..n).filter(|&j| distance(j) <= limit) {
                            assert!(left.contains(&j), "{kind} n={n} p={p} {metric:?}: {i} misses {j}");
                        }
                        if kind == "plain" && n > 50 {
                            assert!(left.len() <= k + 2, "{} candidates for {k} at p={p}", left.len());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_nearest_by_float32_alone_are_near() {
        let (n, p) = (150, 7);
        let rows = Rows::dense(rows("plain", n, p), n, p).expect("rows");
        let Rows::Dense(dense) = &rows else { unreachable!("made so") };
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let frame = Frame::new(dense, n, p, metric);
            let tiles = Tiles::new(&frame, (0..n).map(|i| dense.row(i)));
            let block = Block::new(&frame, (3..20).map(|i| dense.row(i))).expect("within range");
            for (i, nearest) in (3..).zip(block.nearest(&tiles, n, 9)) {
                let distance = |j: usize| -> f64 {
                    let pairs = dense.row(i).iter().zip(dense.row(j)).map(|(a, b)| (a - b).abs());
                    if metric == Metric::Euclidean { pairs.map(|d| d * d).sum() } else { pairs.sum() }
                };
                let mut all: Vec<usize> = (0..n).collect();
                all.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                assert_eq!(nearest, all[..9], "{metric:?}");
            }
            assert!(block.nearest(&tiles, n, n).iter().all(|nearest| nearest.len() == n));
            let some = block.pick(&[5, 2]);
            assert_eq!(some.n(), 2);
            assert_eq!(some.nearest(&tiles, n, 1), [[8], [5]]);
        }
    }

    #[test]
    fn a_query_too_far_off_for_float32_is_refused() {
        let rows = Rows::dense(vec![1.0, 2.0], 2, 1).expect("rows");
        let Rows::Dense(dense) = &rows else { unreachable!("made so") };
        let frame = Frame::new(dense, 2, 1, Metric::Euclidean);
        assert!(Block::new(&frame, [[1e16].as_slice()].into_iter()).is_none());
        assert!(Block::new(&frame, [[1e14].as_slice()].into_iter()).is_some());
    }
}
