//! The rows' side of a growing factor on a GPU: residuals, columns of G and A stay there.
//!
//!   G[:, new] = L⁻¹ K(P, :) − W G,   W = L⁻¹ G_P
//!
//! Between two passes a few hundred pivots are planned among candidates, whose residual Gram matrix S = K_cc − G_c G_cᵀ is one
//! product: each step takes a column out of it. What decides is decided in float64, by the rules of the methods' loops, so
//! that `kobl` chooses the pivots that it chooses on the processor.
//!
//! cost    as `pivoted.rs`; h² kernel values and 2·h²·j flops a pass for h candidates. Memory 8·n·m bytes on the GPU; where G
//!         does not fit there, it is recomputed from kernel values in pieces of rows, and rows that do not fit are copied there
//!         piece by piece
//! differs L⁻¹ is multiplied in place of a solve, which would take a fifth of a pass

use std::collections::BTreeSet;
use std::sync::Arc;

use faer::{Mat, MatRef};

use super::factor_rows::{FactorRows, Farthest, InOrder, NewPivots, Plan, Selected, Steps};
use super::pivoted::{FactorStorage, not_psd};
use super::sparse::Novelty;
use crate::cuda::{Buffer, Closed, Gpu, MOST_PIVOTS, View};
use crate::data::gpu_view::GpuView;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::on_gpu::{GpuPanel, GpuScratch};
use crate::kernel::{Gram, Kernel};
use crate::monitor::Monitor;
use crate::random;

/// Pivots that wait for one pass: matrix products are faster the more there are.
const PENDING_THERE: usize = 384;

/// Rows of a pass that are computed at a time.
const PIECE_ROWS: usize = 65_536;

/// Rows that are tried before it is asked whether there are enough pivots.
const ASKED_AFTER: usize = 64;

/// Why a row is left out.
const IS_PIVOT: u32 = 1;
const IS_COPY: u32 = 2;
const IS_RETIRED: u32 = 4;
const IS_CANDIDATE: u32 = 8;

/// Rows on a GPU.
pub(crate) struct GpuRows<'a> {
    gram: &'a Gram<'a>,
    rows: &'a Rows<'a>,
    monitor: &'a Monitor,
    gpu: Arc<Gpu>,
    n: usize,
    p: usize,
    cap: usize,
    /// G, cap×n: the numbers of a row lie together. None: recomputed.
    g: Option<Buffer<f64>>,
    /// A, cap×cap and lower triangular, column after column.
    a: Buffer<f64>,
    /// Pivots so far, as rows.
    pivots: Vec<usize>,
    residual: Buffer<f64>,
    flags: Buffer<u8>,
    diagonal: Vec<f64>,
    largest: f64,
    trace: f64,
    knows_copies: bool,
    retired: usize,
    order: Vec<usize>,
    /// Rows that are computed at a time.
    piece: usize,
    limit: f64,
}

impl<'a> GpuRows<'a> {
    /// No pivots yet. Where the rows are on a GPU.
    pub(super) fn new(
        gram: &'a Gram<'a>,
        rows: &'a Rows<'a>,
        cap: usize,
        storage: FactorStorage,
        limit: f64,
        monitor: &'a Monitor,
    ) -> Result<Self> {
        let Some(view) = rows.gpu_rows() else { unreachable!("the rows are on a GPU") };
        let gpu = Arc::clone(view.gpu());
        let (n, p) = (rows.n(), rows.p());
        let diagonal = gram.diagonal();
        let largest = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if let Some(i) = diagonal.iter().position(|v| *v < limit * largest) {
            return Err(not_psd(gram.kernel(), i, diagonal[i]));
        }
        let clipped: Vec<f64> = diagonal.iter().map(|v| v.max(0.0)).collect();
        let residual = gpu.upload(&clipped)?;
        let (flags, a) = (gpu.zeros(n)?, gpu.zeros(cap * cap)?);
        let available = gpu.available()?;
        // Values of new pivots, rows about their mean, candidates.
        let piece = PIECE_ROWS
            .min(n)
            .min(usize::try_from(available / 4 / (8 * (PENDING_THERE + 3 * p + 2)) as u64).unwrap_or(0));
        let piece = piece.max(256.min(n));
        let scratch = 8 * ((PENDING_THERE + 3 * p + 2) * piece + 3 * cap.min(4_096) * cap.min(4_096)) as u64;
        let factor = 8 * n as u64 * cap as u64;
        let keeps = storage != FactorStorage::Recomputed && factor + scratch <= available;
        let g = if keeps { Some(gpu.room(n * cap)?) } else { None };
        Ok(Self {
            gram,
            rows,
            monitor,
            n,
            p,
            cap,
            g,
            a,
            pivots: Vec::new(),
            residual,
            flags,
            trace: diagonal.iter().sum(),
            diagonal,
            largest,
            knows_copies: false,
            retired: 0,
            order: Vec::new(),
            piece,
            limit: limit * largest,
            gpu,
        })
    }

    fn kernel(&self) -> Kernel {
        self.gram.kernel()
    }

    /// The rows there.
    fn there(&self) -> GpuView<'_> {
        self.rows.gpu_rows().unwrap_or_else(|| unreachable!("the rows are on a GPU"))
    }

    /// Rows of G at some rows, j×h.
    fn g_at(&self, rows: &[usize]) -> Result<Buffer<f64>> {
        let (j, h) = (self.pivots.len(), rows.len());
        let out = self.gpu.room(j * h)?;
        if j == 0 || h == 0 {
            return Ok(out);
        }
        if let Some(g) = &self.g {
            self.gpu.gather(g.view(0, j, self.n, self.cap), rows, out.matrix(j, h))?;
            return Ok(out);
        }
        // A·k(P, rows)
        let (points, scratch) = (self.points(rows)?, GpuScratch::new(&self.gpu, h, self.p)?);
        let k = self.gpu.room(j * h)?;
        self.pivot_panel()?.fill(points.matrix(self.p, h), &scratch, k.matrix(j, h))?;
        let a = self.a.view(0, j, j, self.cap);
        self.gpu.multiply(1.0, a.plain(), k.matrix(j, h).plain(), 0.0, out.matrix(j, h))?;
        Ok(out)
    }

    /// Rows, p×h.
    fn points(&self, rows: &[usize]) -> Result<Buffer<f64>> {
        self.there().select(rows)
    }

    /// The pivots so far as landmarks.
    fn pivot_panel(&self) -> Result<GpuPanel> {
        GpuPanel::new(&self.gpu, self.kernel(), &self.rows.select(&self.pivots))
    }

    /// Marks copies of earlier rows.
    fn find_copies(&mut self) -> Result<()> {
        if self.knows_copies {
            return Ok(());
        }
        self.knows_copies = true;
        let copies = if let Some(whole) = self.there().whole() {
            let hashes = self.gpu.room::<u64>(self.n)?;
            self.gpu.hashes(whole, &hashes)?;
            copies_among(&hashes.to_vec()?, self.rows)
        } else {
            self.gram.copies().iter().enumerate().filter(|(_, copy)| **copy).map(|(i, _)| i).collect()
        };
        self.gpu.set_flag(&self.flags, &copies, IS_COPY, true)
    }

    fn closed(&self, mask: u32, floor: f64) -> Closed<'_> {
        Closed { flags: &self.flags, mask, floor }
    }

    /// The residual that `count` open rows reach, and how many have more: digit by digit.
    fn threshold(&self, count: usize, closed: Closed) -> Result<f64> {
        const DIGITS: [(u32, u32); 6] = [(53, 11), (42, 11), (31, 11), (20, 11), (9, 11), (0, 9)];
        let counts = self.gpu.room::<u32>(2_048)?;
        let (mut earlier, mut left) = (0u64, count);
        for (shift, bits) in DIGITS {
            counts.clear()?;
            self.gpu.digits(&self.residual, closed, earlier, (shift, bits), &counts)?;
            let found = counts.first(1 << bits)?;
            let mut digit = found.len();
            while digit > 0 {
                digit -= 1;
                if found[digit] as usize >= left {
                    break;
                }
                if digit == 0 {
                    // Fewer are open than asked for: all of them.
                    return Ok(closed.floor);
                }
                left -= found[digit] as usize;
            }
            earlier = (earlier << bits) | digit as u64;
        }
        Ok(f64::from_bits(earlier))
    }

    /// What is left of kernel values of new rows after the pivots so far, h×piece, in the place of the values: T − G_c G.
    /// `weights` is G_c for kept columns of G (h×j), else G_c A.
    fn subtract_earlier(
        &self,
        t: View,
        weights: &Buffer<f64>,
        (rows, start): (View, usize),
        earlier: &Earlier,
    ) -> Result<()> {
        let (j, count) = (self.pivots.len(), t.columns);
        if j == 0 {
            return Ok(());
        }
        let weights = weights.matrix(j, t.rows).transposed();
        match (&self.g, earlier) {
            (Some(g), _) => {
                let g = g.view(0, j, self.n, self.cap).columns(start, count);
                self.gpu.multiply(-1.0, weights, g.plain(), 1.0, t)
            }
            (None, Some((panel, k, scratch))) => {
                let k = k.view(0, j, count, j);
                panel.fill(rows, scratch, k)?;
                self.gpu.multiply(-1.0, weights, k.plain(), 1.0, t)
            }
            (None, None) => unreachable!("what G is recomputed from was prepared"),
        }
    }

    /// What G is recomputed from, where it is not kept, and in how large pieces.
    fn earlier(&self) -> Result<(Earlier, usize)> {
        let j = self.pivots.len();
        if self.g.is_some() || j == 0 {
            return Ok((None, self.piece));
        }
        let most = self.gpu.available()? / 2 / (8 * (j + self.p + 1)) as u64;
        let piece = self.piece.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
        let scratch = GpuScratch::new(&self.gpu, piece, self.p)?;
        Ok((Some((self.pivot_panel()?, self.gpu.room(j * piece)?, scratch)), piece))
    }

    /// W = G_c or, where G is recomputed, Aᵀ G_c: what the earlier pivots' part is found with; j×h.
    fn weights(&self, g: Buffer<f64>, h: usize) -> Result<Buffer<f64>> {
        let j = self.pivots.len();
        if self.g.is_some() || j == 0 {
            return Ok(g);
        }
        let out = self.gpu.room(j * h)?;
        let a = self.a.view(0, j, j, self.cap);
        self.gpu.multiply(1.0, a.transposed(), g.matrix(j, h).plain(), 0.0, out.matrix(j, h))?;
        Ok(out)
    }

    /// Rows of A that pivots with these rows of G (j×b) and this factor (b×b) add, b×(j+b): L⁻¹[−G_P A, I]. Also L⁻¹.
    fn next_coefficients(
        &self,
        g: &Buffer<f64>,
        l: &Buffer<f64>,
        b: usize,
    ) -> Result<(Buffer<f64>, Buffer<f64>)> {
        let (gpu, j) = (&self.gpu, self.pivots.len());
        let inverse = gpu.room(b * b)?;
        gpu.identity(&inverse, b)?;
        gpu.solve(l.matrix(b, b), inverse.matrix(b, b))?;
        let next = gpu.zeros::<f64>(b * (j + b))?;
        if j > 0 {
            let part = gpu.room(b * j)?;
            let a = self.a.view(0, j, j, self.cap);
            gpu.multiply(-1.0, g.matrix(j, b).transposed(), a.plain(), 0.0, part.matrix(b, j))?;
            let earlier = next.view(0, b, j, b);
            gpu.multiply(1.0, inverse.matrix(b, b).plain(), part.matrix(b, j).plain(), 0.0, earlier)?;
        }
        gpu.copy(inverse.matrix(b, b), next.view(b * j, b, b, b), 1.0)?;
        Ok((next, inverse))
    }
}

/// Values of the pivots so far, and room for them.
type Earlier = Option<(GpuPanel, Buffer<f64>, GpuScratch)>;

/// Rows that are bit by bit equal to an earlier one, given numbers in which different rows most likely differ.
fn copies_among(hashes: &[u64], rows: &Rows) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> = hashes.iter().copied().zip(0..).collect();
    rayon::slice::ParallelSliceMut::par_sort_unstable(&mut order[..]);
    let mut copies = Vec::new();
    for group in order.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        let places: Vec<usize> = group.iter().map(|(_, i)| *i).collect();
        let selected = rows.select(&places).to_dense();
        let row = |at: usize| &selected[at * rows.p()..(at + 1) * rows.p()];
        let equal = |a: usize, b: usize| row(a).iter().zip(row(b)).all(|(x, y)| x.to_bits() == y.to_bits());
        let mut firsts: Vec<usize> = Vec::new();
        for (at, &place) in places.iter().enumerate() {
            if firsts.iter().any(|&first| equal(first, at)) {
                copies.push(place);
            } else {
                firsts.push(at);
            }
        }
    }
    copies
}

impl FactorRows for GpuRows<'_> {
    fn n(&self) -> usize {
        self.n
    }

    fn largest(&self) -> f64 {
        self.largest
    }

    fn trace(&self) -> f64 {
        self.trace
    }

    fn rounding(&self) -> f64 {
        self.gram.rounding()
    }

    fn panel_rounding(&self) -> f64 {
        self.gram.panel_rounding()
    }

    fn is_f32(&self) -> bool {
        false
    }

    fn pending(&self) -> usize {
        PENDING_THERE
    }

    fn pending_in_order(&self) -> usize {
        PENDING_THERE
    }

    fn keeps_coefficients(&self) -> bool {
        true
    }

    fn coefficients(&self) -> Result<Option<Mat<f64>>> {
        let m = self.pivots.len();
        if m == self.cap {
            return Ok(Some(self.a.read_matrix(m, m)?));
        }
        let packed = self.gpu.room(m * m)?;
        self.gpu.copy(self.a.view(0, m, m, self.cap), packed.matrix(m, m), 1.0)?;
        Ok(Some(packed.read_matrix(m, m)?))
    }

    fn select(&mut self, rows: &[usize]) -> Result<Selected> {
        let residual = self.gpu.room(rows.len())?;
        self.gpu.gather(self.residual.view(0, 1, self.n, 1), rows, residual.matrix(1, rows.len()))?;
        Ok(Selected {
            rows: self.rows.select(rows),
            diagonal: rows.iter().map(|&i| self.diagonal[i]).collect(),
            residual: Some(residual.to_vec()?),
        })
    }

    fn kept_factor_rows(&self, rows: &[usize], _: usize) -> Option<Mat<f64>> {
        // Plans need none.
        Some(Mat::zeros(rows.len(), 0))
    }

    fn against_pivots(&self, pivots: &[usize], selected: &Rows, out: &mut [f64]) {
        self.gram.against(&self.gram.panel(pivots), selected, out);
    }

    fn column(&self, rows: &[usize], selected: &Rows, position: usize, out: &mut [f64]) {
        self.gram.column(selected, rows[position], out);
    }

    fn plan(&self, rows: &[usize], residual: &[f64], steps: &Steps) -> Result<Option<Plan>> {
        let (gpu, h, j) = (&self.gpu, rows.len(), self.pivots.len());
        if h == 0 {
            return Ok(Some(Plan::default()));
        }
        // S = K_cc − G_c G_cᵀ.
        let points = self.points(rows)?;
        let (s, scratch) = (gpu.room(h * h)?, GpuScratch::new(gpu, h, self.p)?);
        let selected = self.rows.select(rows);
        GpuPanel::new(gpu, self.kernel(), &selected)?.fill(
            points.matrix(self.p, h),
            &scratch,
            s.matrix(h, h),
        )?;
        let g = self.g_at(rows)?;
        if j > 0 {
            let g = g.matrix(j, h);
            gpu.multiply(-1.0, g.transposed(), g.plain(), 1.0, s.matrix(h, h))?;
        }
        if let Steps::Any = steps {
            let parts = gpu.room(j * h)?;
            if j > 0 {
                let a = self.a.view(0, j, j, self.cap);
                gpu.multiply(1.0, a.transposed(), g.matrix(j, h).plain(), 0.0, parts.matrix(j, h))?;
            }
            let (s, parts) = (s.to_vec()?, parts.to_vec()?);
            let gram = Mat::from_fn(h, h, |a, b| s[b * h + a]);
            let earlier_parts = Mat::from_fn(h, j, |a, k| parts[a * j + k]);
            return Ok(Some(Plan { gram: Some((gram, earlier_parts)), ..Plan::default() }));
        }
        let (before, after) = (gpu.upload(residual)?, gpu.room(h)?);
        let buffers = [before, after];
        let most = steps.most().min(MOST_PIVOTS).min(h);
        let c = gpu.room(h * most.max(1))?;
        let chosen_there = gpu.zeros::<u32>(most.max(1))?;
        let mut plan = Plan::default();
        match steps {
            Steps::Greedy { tie, .. } => {
                let numbers: Vec<u32> = rows.iter().map(|&i| i as u32).collect();
                let (numbers, squares) = (gpu.upload(&numbers)?, gpu.zeros(2 * most.max(1))?);
                for k in 0..most {
                    let (before, after) = (&buffers[k % 2], &buffers[(k + 1) % 2]);
                    gpu.greedy(
                        s.matrix(h, h),
                        &c,
                        k,
                        (&numbers, *tie),
                        (before, after),
                        (&chosen_there, &squares),
                    )?;
                }
                let (found, squares) = (chosen_there.first(most)?, squares.first(2 * most)?);
                plan.chosen = found.iter().take_while(|&&at| at != u32::MAX).map(|&at| at as usize).collect();
                (plan.squares, plan.largest) = squares.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
            }
            Steps::Ordered { tries, .. } => {
                let counts = gpu.zeros::<u32>(tries.len() + 1)?;
                let mut count = 0;
                for (at, &(place, least)) in tries.iter().enumerate() {
                    let (before, after) = (&buffers[at % 2], &buffers[(at + 1) % 2]);
                    let step = (place, least, most);
                    gpu.one_by_one(s.matrix(h, h), &c, step, (&counts, at), (before, after), &chosen_there)?;
                    // Now and then it is asked whether there are enough.
                    if at + 1 == tries.len() || (at + 1 >= most && (at + 1) % ASKED_AFTER == 0) {
                        let mut now = [0];
                        counts.read(at + 1, &mut now)?;
                        count = now[0] as usize;
                        if count == most {
                            break;
                        }
                    }
                }
                plan.chosen = chosen_there.first(count)?.into_iter().map(|at| at as usize).collect();
            }
            Steps::Any => unreachable!("returned above"),
        }
        let b = plan.chosen.len();
        let l = gpu.room(b * b)?;
        gpu.pivots_factor(&c, h, &plan.chosen, &l)?;
        let columns = l.to_vec()?;
        plan.factor = (0..b * b).map(|at| columns[(at % b) * b + at / b]).collect();
        if matches!(steps, Steps::Ordered { .. }) && b > 0 {
            let own: Vec<usize> = plan.chosen.iter().map(|&at| rows[at]).collect();
            let (next, _) = self.next_coefficients(&self.g_at(&own)?, &l, b)?;
            plan.sizes = gpu.row_sizes(next.matrix(b, j + b))?;
        }
        Ok(Some(plan))
    }

    fn farthest(&mut self, count: usize, tie: f64, floor: f64) -> Result<Farthest> {
        self.find_copies()?;
        let closed = self.closed(IS_PIVOT | IS_COPY, floor);
        let least = self.threshold(count, closed)?;
        let (above, equal) = self.gpu.rows_above(&self.residual, closed, least, count)?;
        let equal = &equal[..equal.len().min(count.saturating_sub(above.len()))];
        let mut rows: Vec<usize> = above.iter().chain(equal).map(|&i| i as usize).collect();
        let largest = self.gpu.largest(&self.residual, &self.flags, IS_PIVOT)?;
        let first = self.gpu.first_at_least(&self.residual, &self.flags, IS_PIVOT, largest - tie)?;
        rows.extend(first.filter(|first| !rows.contains(first)));
        self.gpu.set_flag(&self.flags, &rows, IS_CANDIDATE, true)?;
        let beaten = self.gpu.largest(&self.residual, &self.flags, IS_PIVOT | IS_COPY | IS_CANDIDATE)?;
        self.gpu.set_flag(&self.flags, &rows, IS_CANDIDATE, false)?;
        let beaten = if beaten < 0.0 { f64::NEG_INFINITY } else { beaten };
        Ok(Farthest { selected: self.select(&rows)?, rows, beaten })
    }

    fn draw(&mut self, uniform: &[f64], floor: f64, retired: &BTreeSet<usize>) -> Result<Vec<usize>> {
        if retired.len() > self.retired {
            let all: Vec<usize> = retired.iter().copied().collect();
            self.gpu.set_flag(&self.flags, &all, IS_RETIRED, true)?;
            self.retired = retired.len();
        }
        let closed = self.closed(IS_RETIRED, floor);
        let mut sum = 0.0;
        let mut cumulated = self.gpu.sums(&self.residual, closed)?;
        cumulated.iter_mut().for_each(|piece| {
            sum += *piece;
            *piece = sum;
        });
        if sum <= 0.0 {
            return Ok(Vec::new());
        }
        let of = |u: &f64| {
            let target = u * sum;
            // A piece of which nothing is open has the sum of the one before.
            let piece = cumulated.partition_point(|&c| c <= target);
            let piece = piece.min(cumulated.partition_point(|&c| c < sum));
            let before = if piece == 0 { 0.0 } else { cumulated[piece - 1] };
            (piece as u32, target - before)
        };
        let (pieces, targets): (Vec<u32>, Vec<f64>) = uniform.iter().map(of).unzip();
        let found = self.gpu.passes(&self.residual, closed, &pieces, &targets)?;
        Ok(found.into_iter().map(|i| i as usize).collect())
    }

    fn in_order(
        &mut self,
        seed: u64,
        start: usize,
        count: usize,
        novelty: Novelty,
        floor: f64,
    ) -> Result<InOrder> {
        if self.order.is_empty() {
            self.order = random::permutation(self.n, seed);
        }
        let residual = self.residual.to_vec()?;
        let is_new = |i: usize| novelty.is_left(residual[i], self.diagonal[i], floor);
        Ok(InOrder::among(&self.order, start, count, is_new))
    }

    fn advance(&mut self, new: &NewPivots, _: &[usize], _: &[Vec<f64>]) -> Result<()> {
        let (gpu, b, j) = (Arc::clone(&self.gpu), new.places.len(), self.pivots.len());
        let l: Vec<f64> = (0..b * b).map(|at| new.factor[(at % b) * b + at / b]).collect();
        let (l, g) = (gpu.upload(&l)?, self.g_at(&new.places)?);
        let (next, inverse) = self.next_coefficients(&g, &l, b)?;
        // W Lᵀ⁻¹: the earlier pivots' part of columns that are divided by L already.
        let weights = self.weights(g, b)?;
        let divided = gpu.room(j * b)?;
        if j > 0 {
            let inverse = inverse.matrix(b, b);
            gpu.multiply(1.0, weights.matrix(j, b).plain(), inverse.transposed(), 0.0, divided.matrix(j, b))?;
        }
        let panel = GpuPanel::new(&gpu, self.kernel(), &new.rows)?;
        let (earlier, piece) = self.earlier()?;
        let scratch = GpuScratch::new(&gpu, piece, self.p)?;
        let (k, own) =
            (gpu.room(b * piece)?, if self.g.is_none() { Some(gpu.room(b * piece)?) } else { None });
        let (bad, staging) = (gpu.upload(&[u64::MAX])?, self.there().staging(piece)?);
        for start in (0..self.n).step_by(piece) {
            self.monitor.check()?;
            let count = piece.min(self.n - start);
            let (k, rows) = (k.view(0, b, count, b), self.there().piece(start, count, &staging)?);
            panel.fill(rows, &scratch, k)?;
            let added = match (&self.g, &own) {
                (Some(g), _) => g.view(0, self.cap, self.n, self.cap).columns(start, count).rows(j, b),
                (None, Some(own)) => own.view(0, b, count, b),
                (None, None) => unreachable!("there is room for new columns"),
            };
            // L⁻¹ is triangular: of its upper half's rows only the left half is not 0.
            for (first, last) in [(0, b / 2), (b / 2, b)] {
                let part = inverse.matrix(b, b).rows(first, last - first).columns(0, last);
                gpu.multiply(
                    1.0,
                    part.plain(),
                    k.rows(0, last).plain(),
                    0.0,
                    added.rows(first, last - first),
                )?;
            }
            self.subtract_earlier(added, &divided, (rows, start), &earlier)?;
            gpu.take(added, &self.residual, start, self.limit, &bad)?;
        }
        self.gram.count(self.n * b);
        let first_bad = bad.first(1)?[0] as usize;
        // Rows of G at the pivots are known exactly.
        if let Some(kept) = &self.g {
            let kept = kept.view(0, self.cap, self.n, self.cap).rows(j, b);
            gpu.spread(&gpu.upload(&new.factor)?, &new.places, kept)?;
        }
        gpu.put(&self.residual, &new.places, 0.0)?;
        gpu.set_flag(&self.flags, &new.places, IS_PIVOT, true)?;
        let a = self.a.view(0, self.cap, self.cap, self.cap);
        gpu.copy(next.matrix(b, j + b), a.rows(j, b).columns(0, j + b), 1.0)?;
        self.pivots.extend(&new.places);
        if first_bad < self.n && !new.places.contains(&first_bad) {
            let g = self.g_at(&[first_bad])?.to_vec()?;
            let left = self.diagonal[first_bad] - g.iter().map(|v| v * v).sum::<f64>();
            return Err(not_psd(self.kernel(), first_bad, left));
        }
        gpu.wait()
    }

    fn products(
        &mut self,
        rows: &[usize],
        selected: &Rows,
        _: MatRef<'_, f64>,
        _: &[usize],
        _: &[Vec<f64>],
    ) -> Result<Mat<f64>> {
        let (gpu, h) = (Arc::clone(&self.gpu), rows.len());
        let weights = self.weights(self.g_at(rows)?, h)?;
        let panel = GpuPanel::new(&gpu, self.kernel(), selected)?;
        let (earlier, piece) = self.earlier()?;
        let (scratch, t) = (GpuScratch::new(&gpu, piece, self.p)?, gpu.room(h * piece)?);
        let (sum, staging) = (gpu.zeros(h * h)?, self.there().staging(piece)?);
        for start in (0..self.n).step_by(piece) {
            self.monitor.check()?;
            let count = piece.min(self.n - start);
            let t = t.view(0, h, count, h);
            let rows = self.there().piece(start, count, &staging)?;
            panel.fill(rows, &scratch, t)?;
            self.subtract_earlier(t, &weights, (rows, start), &earlier)?;
            gpu.self_multiply(t, 1.0, sum.matrix(h, h))?;
        }
        self.gram.count(self.n * h);
        let sum = sum.to_vec()?;
        Ok(Mat::from_fn(h, h, |a, b| sum[a.min(b) * h + a.max(b)]))
    }

    fn residual_sum(&mut self) -> Result<f64> {
        let all = Closed { flags: &self.flags, mask: 0, floor: -1.0 };
        Ok(self.gpu.sums(&self.residual, all)?.iter().sum())
    }

    fn residuals(&self) -> (&[f64], u64) {
        (&[], self.gram.evaluations())
    }

    fn whole(&self, monitor: &Monitor) -> Result<Vec<f64>> {
        self.gram.whole(monitor)
    }

    fn correct(&mut self, _: &[usize], _: &[f64]) {}
}

impl GpuRows<'_> {
    /// Z, n×m, left on the GPU; None where G was not kept.
    pub(super) fn into_features(self) -> Result<Option<Rows<'static>>> {
        let m = self.pivots.len();
        let Some(g) = self.g else { return Ok(None) };
        if m == self.cap {
            return Ok(Some(Rows::computed(g, self.n, m)));
        }
        if 8 * (self.n * m) as u64 > self.gpu.available()? {
            return Ok(None);
        }
        let packed = self.gpu.room(self.n * m)?;
        self.gpu.copy(g.view(0, m, self.n, self.cap), packed.matrix(m, self.n), 1.0)?;
        self.gpu.wait()?;
        Ok(Some(Rows::computed(packed, self.n, m)))
    }
}
