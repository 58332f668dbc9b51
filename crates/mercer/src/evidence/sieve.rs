//! A sieve for neighbours: distances in single precision, with what they may be wrong by, pass most rows over.
//!
//!   |s − d| ≤ c·(|x| + |y|);   s: found in single precision, |x|: the squared length (manhattan: the sum of magnitudes)
//!
//! A row is left out only if it is farther than k others whatever the rounding; those that stay are then compared by their
//! own numbers, so what is found is exact.
//!
//! cost    p multiplications a pair (manhattan: 2p), sixteen at a time with AVX-512, a tile of rows against a few queries:
//!         their sums stay in registers and no distance is written down
//! differs rows in clusters that are narrow beside the whole cannot be told apart like this: the sieve says so, and the
//!         caller takes double precision

use pulp::{Simd, WithSimd};

use super::neighbours::Metric;
use crate::data::rows::Dense;

/// Registers that hold a column of a tile.
const VECTORS: usize = 2;

/// Queries that meet a tile together: with its columns and their own numbers, their sums fill the registers.
const TOGETHER: usize = 4;

/// Columns whose terms are added up before they join the sum: the rounding of long sums stays small.
const COLUMNS: usize = 256;

/// The origin, the unit and the metric that rows are made ready in.
#[derive(Debug)]
pub(crate) struct Frame {
    metric: Metric,
    shift: Vec<f64>,
    /// A power of two that brings the largest number to about 1.
    unit: f64,
    /// c.
    share: f64,
}

impl Frame {
    /// For these rows and others like them.
    pub(crate) fn new(rows: &Dense, n: usize, p: usize, metric: Metric) -> Self {
        let mut shift = vec![0.0; p];
        let mut largest = 0.0f64;
        for i in 0..n {
            for (s, v) in shift.iter_mut().zip(rows.row(i)) {
                *s += v / n as f64;
                largest = largest.max(v.abs());
            }
        }
        let unit = if largest > 0.0 { (-largest.log2().ceil()).clamp(-1_000.0, 1_000.0).exp2() } else { 1.0 };
        let terms = p.min(COLUMNS) + p.div_ceil(COLUMNS) + 8;
        Self { metric, shift, unit, share: terms as f64 * f64::from(f32::EPSILON) }
    }

    /// A row in this frame, times a factor.
    pub(crate) fn ready(&self, row: &[f64], factor: f64) -> impl Iterator<Item = f32> {
        let moved = row.iter().zip(&self.shift).map(move |(v, s)| (v * self.unit - s * self.unit) * factor);
        moved.map(|v| v as f32)
    }

    /// The row that is this point in the frame.
    pub(crate) fn row(&self, point: &[f32]) -> Vec<f64> {
        point.iter().zip(&self.shift).map(|(&v, s)| f64::from(v) / self.unit + s).collect()
    }

    /// |x|, and something for what vanishes.
    fn size(&self, row: &[f64]) -> f64 {
        let moved = row.iter().zip(&self.shift).map(|(v, s)| v * self.unit - s * self.unit);
        let size: f64 = match self.metric {
            Metric::Euclidean => moved.map(|v| v * v).sum(),
            Metric::Manhattan => moved.map(f64::abs).sum(),
        };
        size + 1e-30
    }

    /// What a row adds to the least that its distance can be: its size where distances are put together from sizes and
    /// products, less what rounding may have added.
    fn part(&self, size: f64) -> f32 {
        let whole = if self.metric == Metric::Euclidean { 1.0 } else { 0.0 };
        ((whole - self.share) * size) as f32
    }
}

/// Rows to find neighbours among.
#[derive(Debug)]
pub(crate) struct Tiles {
    /// Column after column, tile after tile.
    points: Vec<f32>,
    /// Of each row; ∞ for those that fill up the last tile.
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
            for (j, v) in frame.ready(row, 1.0).enumerate() {
                tile[j * height + i % height] = v;
            }
            let size = frame.size(row);
            parts[i] = frame.part(size);
            sizes[i] = size as f32;
        }
        Self { points, parts, sizes }
    }
}

/// Rows of a tile.
struct Height;

impl WithSimd for Height {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        VECTORS * S::F32_LANES
    }
}

/// Queries.
pub(crate) struct Block {
    metric: Metric,
    p: usize,
    /// Row after row, filled up to a multiple of [`TOGETHER`]; euclidean: times −2.
    points: Vec<f32>,
    parts: Vec<f32>,
    sizes: Vec<f32>,
    share: f32,
}

impl Block {
    /// None if a query is so far off that single precision cannot hold it.
    pub(crate) fn new<'r>(frame: &Frame, rows: impl ExactSizeIterator<Item = &'r [f64]>) -> Option<Self> {
        /// The square of a number this large has room for a sum of many.
        const FAR: f64 = 1e30;
        let (n, p) = (rows.len(), frame.shift.len());
        let factor = if frame.metric == Metric::Euclidean { -2.0 } else { 1.0 };
        let mut points = Vec::with_capacity(n.next_multiple_of(TOGETHER) * p);
        let (mut parts, mut sizes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for row in rows {
            points.extend(frame.ready(row, factor));
            let size = frame.size(row);
            if size.is_nan() || size >= FAR {
                return None;
            }
            parts.push(frame.part(size));
            sizes.push(size as f32);
        }
        points.resize(n.next_multiple_of(TOGETHER) * p, 0.0);
        Some(Self { metric: frame.metric, p, points, parts, sizes, share: frame.share as f32 })
    }

    /// Some of the queries.
    pub(crate) fn pick(&self, queries: &[usize]) -> Self {
        let mut points = Vec::with_capacity(queries.len().next_multiple_of(TOGETHER) * self.p);
        queries.iter().for_each(|q| points.extend_from_slice(&self.points[q * self.p..(q + 1) * self.p]));
        points.resize(queries.len().next_multiple_of(TOGETHER) * self.p, 0.0);
        let of = |numbers: &[f32]| queries.iter().map(|&q| numbers[q]).collect();
        Self { points, parts: of(&self.parts), sizes: of(&self.sizes), ..*self }
    }

    /// Number of queries.
    pub(crate) fn n(&self) -> usize {
        self.parts.len()
    }

    /// Offers the rows of the tiles, of which the first has this number, to each query: what is near query i is kept in
    /// `near[of[i]]`.
    pub(crate) fn scan(&self, tiles: &Tiles, first: usize, near: &mut [Near], of: &[usize]) {
        match self.metric {
            Metric::Euclidean => {
                pulp::Arch::new().dispatch(Scan::<true> { block: self, tiles, first, near, of });
            }
            Metric::Manhattan => {
                pulp::Arch::new().dispatch(Scan::<false> { block: self, tiles, first, near, of });
            }
        }
    }

    /// The k nearest of n rows in tiles for each query, nearest first, by what single precision says.
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
        // Distance and row in one number, which is compared at once.
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

    /// Lets the query hold on to rows of a tile, given the least that their distances can be.
    #[cold]
    #[inline(never)]
    fn offer(&self, query: usize, least: &[f32], sizes: &[f32], first: usize, near: &mut Near) {
        let mut within = [0u8; 256];
        let mut count = 0;
        let limit = near.limit - self.parts[query];
        for (lane, &least) in least.iter().enumerate() {
            // Written always and counted if it is within: which they are cannot be guessed.
            within[count] = lane as u8;
            count += usize::from(least <= limit);
        }
        for lane in within[..count].iter().map(|&lane| usize::from(lane)) {
            let least = least[lane] + self.parts[query];
            near.hold(least, least + 2.0 * self.share * (self.sizes[query] + sizes[lane]), first + lane);
        }
    }
}

/// One pass of the queries over the tiles; `PRODUCT`: euclidean.
struct Scan<'a, const PRODUCT: bool> {
    block: &'a Block,
    tiles: &'a Tiles,
    first: usize,
    near: &'a mut [Near],
    of: &'a [usize],
}

impl<const PRODUCT: bool> WithSimd for Scan<'_, PRODUCT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (block, p, height) = (self.block, self.block.p, VECTORS * S::F32_LANES);
        let tiles = self.tiles.points.chunks_exact((height * p).max(1));
        for (at, (tile, parts)) in tiles.zip(self.tiles.parts.chunks_exact(height)).enumerate() {
            for (quad, points) in block.points.chunks_exact((TOGETHER * p).max(1)).enumerate() {
                let least = tile_least::<S, PRODUCT>(simd, p, tile, parts, points);
                for (query, least) in (quad * TOGETHER..).zip(&least) {
                    let Some(&of) = self.of.get(query) else { break };
                    let near = &mut self.near[of];
                    let limit = simd.splat_f32s(near.limit - block.parts[query]);
                    let within = least.map(|l| simd.less_than_or_equal_f32s(l, limit));
                    if simd.first_true_m32s(simd.or_m32s(within[0], within[1])) < S::F32_LANES {
                        let sizes = &self.tiles.sizes[at * height..];
                        let least: &[f32] = bytemuck::cast_slice(least);
                        block.offer(query, least, sizes, self.first + at * height, near);
                    }
                }
            }
        }
    }
}

/// The least that the distances of the queries to the rows of tiles can be, less what the query adds to it: line by line.
struct Lines<'a, const PRODUCT: bool> {
    block: &'a Block,
    tiles: &'a Tiles,
    least: &'a mut [f32],
}

impl<const PRODUCT: bool> WithSimd for Lines<'_, PRODUCT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (p, height, places) = (self.block.p, VECTORS * S::F32_LANES, self.tiles.parts.len());
        let tiles = self.tiles.points.chunks_exact((height * p).max(1));
        for (at, (tile, parts)) in tiles.zip(self.tiles.parts.chunks_exact(height)).enumerate() {
            let quads = self.block.points.chunks_exact((TOGETHER * p).max(1));
            for (points, lines) in quads.zip(self.least.chunks_mut(TOGETHER * places)) {
                let least = tile_least::<S, PRODUCT>(simd, p, tile, parts, points);
                for (line, least) in lines.chunks_exact_mut(places).zip(&least) {
                    line[at * height..(at + 1) * height].copy_from_slice(bytemuck::cast_slice(least));
                }
            }
        }
    }
}

/// The same of the rows of one tile and a few queries.
#[inline(always)]
fn tile_least<S: Simd, const PRODUCT: bool>(
    simd: S,
    p: usize,
    tile: &[f32],
    parts: &[f32],
    points: &[f32],
) -> [[S::f32s; VECTORS]; TOGETHER] {
    let height = VECTORS * S::F32_LANES;
    let mut least = [load(simd, parts); TOGETHER];
    for start in (0..p).step_by(COLUMNS) {
        let end = p.min(start + COLUMNS);
        let rows = std::array::from_fn(|q| &points[q * p + start..q * p + end]);
        let sums = tile_sums::<S, PRODUCT>(simd, &tile[start * height..end * height], rows);
        for (least, sums) in least.iter_mut().zip(sums) {
            *least = std::array::from_fn(|v| simd.add_f32s(least[v], sums[v]));
        }
    }
    least
}

/// As many numbers as a tile is high.
#[inline(always)]
fn load<S: Simd>(simd: S, numbers: &[f32]) -> [S::f32s; VECTORS] {
    std::array::from_fn(|v| simd.partial_load_f32s(&numbers[v * S::F32_LANES..(v + 1) * S::F32_LANES]))
}

/// Sums over some columns, of each row of a tile with each query.
#[inline(always)]
fn tile_sums<S: Simd, const PRODUCT: bool>(
    simd: S,
    tile: &[f32],
    [a, b, c, d]: [&[f32]; TOGETHER],
) -> [[S::f32s; VECTORS]; TOGETHER] {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; TOGETHER];
    let columns = S::as_simd_f32s(tile).0.as_chunks::<VECTORS>().0;
    for ((((column, &a), &b), &c), &d) in columns.iter().zip(a).zip(b).zip(c).zip(d) {
        for (q, x) in [a, b, c, d].into_iter().enumerate() {
            let x = simd.splat_f32s(x);
            for v in 0..VECTORS {
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

/// The rows that may be among the k nearest of a query.
pub(crate) struct Near {
    k: usize,
    /// A row that must be farther than this is not among them.
    limit: f32,
    held: Vec<Held>,
    /// How many are held before those that are too far are dropped.
    full: usize,
}

#[derive(Clone, Copy)]
struct Held {
    least: f32,
    most: f32,
    row: usize,
}

impl Near {
    pub(crate) fn new(k: usize) -> Self {
        // Below ∞, where the places lie that fill up a tile.
        let limit = if k == 0 { f32::NEG_INFINITY } else { f32::MAX };
        Self { k, limit, held: Vec::new(), full: 2 * k + 16 }
    }

    fn hold(&mut self, least: f32, most: f32, row: usize) {
        if least <= self.limit {
            self.held.push(Held { least, most, row });
            if self.held.len() >= self.full {
                self.drop_far();
                self.full = (2 * self.held.len()).max(2 * self.k + 16);
            }
        }
    }

    fn drop_far(&mut self) {
        if self.k > 0 && self.held.len() >= self.k {
            let (_, kth, _) = self.held.select_nth_unstable_by(self.k - 1, |a, b| a.most.total_cmp(&b.most));
            self.limit = self.limit.min(kth.most);
            self.held.retain(|held| held.least <= self.limit);
        }
    }

    /// Whether so many rows are held that it would have been faster to compare them all in double precision.
    pub(crate) fn are_too_many(near: &[Self]) -> bool {
        near.iter().map(|near| near.held.len()).sum::<usize>()
            > near.iter().map(|near| 256 + 8 * near.k).sum()
    }

    /// The rows that are left, in no order.
    pub(crate) fn rows(&mut self) -> impl Iterator<Item = usize> {
        self.drop_far();
        self.held.iter().map(|held| held.row)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::data::rows::Rows;
    use crate::random;

    /// Rows that a sieve may get wrong.
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
    fn what_is_passed_over_is_farther_than_k_others() {
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
                    let mut near: Vec<Near> = (0..n).map(|_| Near::new(k)).collect();
                    block.scan(&tiles, 0, &mut near, &(0..n).collect::<Vec<_>>());
                    for (i, near) in near.iter_mut().enumerate() {
                        let distance = |j: usize| -> f64 {
                            let pairs = dense.row(i).iter().zip(dense.row(j)).map(|(a, b)| (a - b).abs());
                            if metric == Metric::Euclidean { pairs.map(|d| d * d).sum() } else { pairs.sum() }
                        };
                        let mut all: Vec<f64> = (0..n).map(distance).collect();
                        all.sort_by(f64::total_cmp);
                        let limit = all[k.min(n) - 1];
                        let held: Vec<usize> = near.rows().collect();
                        assert!(held.iter().all(|&j| j < n), "no row but those there are");
                        for j in (0..n).filter(|&j| distance(j) <= limit) {
                            assert!(held.contains(&j), "{kind} n={n} p={p} {metric:?}: {i} misses {j}");
                        }
                        if kind == "plain" && n > 50 {
                            assert!(held.len() <= k + 2, "{} held for {k} at p={p}", held.len());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_nearest_by_single_precision_alone_are_near() {
        let (n, p) = (150, 7);
        let rows = Rows::dense(rows("plain", n, p), n, p).expect("rows");
        let Rows::Dense(dense) = &rows else { unreachable!("made so") };
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            let frame = Frame::new(dense, n, p, metric);
            let tiles = Tiles::new(&frame, (0..n).map(|i| dense.row(i)));
            let block = Block::new(&frame, (3..20).map(|i| dense.row(i))).expect("within range");
            for (i, near) in (3..).zip(block.nearest(&tiles, n, 9)) {
                let distance = |j: usize| -> f64 {
                    let pairs = dense.row(i).iter().zip(dense.row(j)).map(|(a, b)| (a - b).abs());
                    if metric == Metric::Euclidean { pairs.map(|d| d * d).sum() } else { pairs.sum() }
                };
                let mut all: Vec<usize> = (0..n).collect();
                all.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                assert_eq!(near, all[..9], "{metric:?}");
            }
            assert!(block.nearest(&tiles, n, n).iter().all(|near| near.len() == n));
            let some = block.pick(&[5, 2]);
            assert_eq!(some.n(), 2);
            assert_eq!(some.nearest(&tiles, n, 1), [[8], [5]]);
        }
    }

    #[test]
    fn a_query_too_far_off_for_single_precision_is_refused() {
        let rows = Rows::dense(vec![1.0, 2.0], 2, 1).expect("rows");
        let Rows::Dense(dense) = &rows else { unreachable!("made so") };
        let frame = Frame::new(dense, 2, 1, Metric::Euclidean);
        assert!(Block::new(&frame, [[1e16].as_slice()].into_iter()).is_none());
        assert!(Block::new(&frame, [[1e14].as_slice()].into_iter()).is_some());
    }
}
