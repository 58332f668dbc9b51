//! Sequential minimal optimisation: support vector problems solved by pairs of variables, for classes and for numbers.
//!
//!   min ½ Σ a_t a_u K_tu − Σ a_t o_t    over Σ a_t = 0, a_t in [0, c] or in [−c, 0]
//!
//! `a_t` is the coefficient with its sign. Classes: one variable per row, `o = y = ±1`. Numbers: two per row, in [0, c] with
//! `o = y − ε` and in [−c, 0] with `o = y + ε`. With `f = Ka`, a pair (i, j) of variables, one that may increase and one that
//! may decrease, improves the objective while `o_i − f_i > o_j − f_j`; i has the largest `o − f`, j the largest second-order
//! gain with i.
//!
//! cost    two passes over n numbers and at most two kernel rows per step; the number of steps grows with c and the number
//!         of support vectors. Kernel rows are cached in float32, the least recently used are evicted; f is in float64
//! stops   when no pair violates the optimality conditions by more than 1e−3, libsvm's default
//! source  Platt 1998; Fan, Chen & Lin 2005 (second-order choice)
//! differs no shrinking: passes over all rows are vectorised, and the stopping criterion always sees all variables

use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::{Kernel, Panel};
use crate::monitor::Monitor;

/// Violation of the optimality conditions at which it stops.
const TOLERANCE: f64 = 1e-3;

/// Curvature that is used for a pair of equal rows, whose own is 0.
const MIN_CURVATURE: f64 = 1e-12;

/// Numbers that are compared side by side.
const LANES: usize = 16;

/// Cache of kernel rows: values of one row against all rows, computed on demand.
pub(super) struct KernelRows<'a> {
    rows: &'a Rows<'a>,
    panel: Panel,
    /// Rows that are computed together: matrix products pay off where rows are long.
    block: usize,
    /// Which slot holds the block.
    slot: Vec<Option<usize>>,
    slots: Vec<Slot>,
    most: usize,
    clock: u64,
    scratch: Vec<f64>,
}

struct Slot {
    block: usize,
    used: u64,
    values: Vec<f32>,
}

impl<'a> KernelRows<'a> {
    /// With room for this many bytes of kernel values, and at least for two rows.
    pub(super) fn new(kernel: Kernel, rows: &'a Rows<'a>, bytes: usize) -> Self {
        let n = rows.n();
        // Depends on the shape of the rows alone, so that the bits do not depend on the size of the cache.
        let block = if rows.is_sparse() || rows.p() < 64 || n > 20_000 { 1 } else { 32.min(n) };
        Self {
            rows,
            panel: Panel::new(kernel, rows),
            block,
            slot: vec![None; n.div_ceil(block)],
            slots: Vec::new(),
            most: (bytes / (4 * n * block).max(1)).max(2),
            clock: 0,
            scratch: Vec::new(),
        }
    }

    /// Computes the row unless it is cached; its position in the cache.
    fn fetch(&mut self, i: usize) -> (usize, usize) {
        let (n, block) = (self.rows.n(), i / self.block);
        self.clock += 1;
        let at = if let Some(at) = self.slot[block] {
            at
        } else {
            let at = self.free_slot(block);
            let range = block * self.block..n.min((block + 1) * self.block);
            self.scratch.resize(range.len() * n, 0.0);
            self.panel.fill(&self.rows.slice(range), &mut self.scratch);
            let values = &mut self.slots[at].values;
            values.clear();
            values.extend(self.scratch.iter().map(|v| *v as f32));
            at
        };
        self.slots[at].used = self.clock;
        (at, (i % self.block) * n)
    }

    fn free_slot(&mut self, block: usize) -> usize {
        let at = if self.slots.len() < self.most {
            self.slots.push(Slot { block, used: 0, values: Vec::new() });
            self.slots.len() - 1
        } else {
            let oldest = (0..self.slots.len()).min_by_key(|&at| self.slots[at].used).unwrap_or(0);
            self.slot[self.slots[oldest].block] = None;
            self.slots[oldest].block = block;
            oldest
        };
        self.slot[block] = Some(at);
        at
    }

    fn at(&self, (slot, start): (usize, usize)) -> &[f32] {
        &self.slots[slot].values[start..start + self.rows.n()]
    }
}

/// A problem and its current solution.
pub(super) struct Smo<'a, 'l> {
    kernel_rows: &'l mut KernelRows<'a>,
    /// Whether the variable's range is [0, c]; else [−c, 0].
    positive: Vec<bool>,
    offset: Vec<f64>,
    c: f64,
    /// The variables. Variable t belongs to row t mod n.
    a: Vec<f64>,
    /// Ka.
    f: Vec<f64>,
    /// The offset where the variable may increase, else −∞.
    up: Vec<f64>,
    /// The offset where the variable may decrease, else ∞.
    down: Vec<f64>,
}

/// Coefficients of the rows, and the bias of the decision function Σ coefficient·k + bias.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Solution {
    pub(super) coefficients: Vec<f64>,
    pub(super) bias: f64,
    pub(super) converged: bool,
}

impl<'a, 'l> Smo<'a, 'l> {
    /// Rows of two classes.
    pub(super) fn classes(kernel_rows: &'l mut KernelRows<'a>, positive: Vec<bool>) -> Self {
        let offset = positive.iter().map(|&p| if p { 1.0 } else { -1.0 }).collect();
        Self::new(kernel_rows, positive, offset)
    }

    /// Regression with an ε-insensitive loss.
    pub(super) fn numbers(kernel_rows: &'l mut KernelRows<'a>, y: &[f64], epsilon: f64) -> Self {
        let positive = (0..2 * y.len()).map(|t| t < y.len()).collect();
        let offset = y.iter().map(|y| y - epsilon).chain(y.iter().map(|y| y + epsilon)).collect();
        Self::new(kernel_rows, positive, offset)
    }

    fn new(kernel_rows: &'l mut KernelRows<'a>, positive: Vec<bool>, offset: Vec<f64>) -> Self {
        let (n, variables) = (kernel_rows.rows.n(), offset.len());
        Self {
            kernel_rows,
            positive,
            offset,
            c: 1.0,
            a: vec![0.0; variables],
            f: vec![0.0; n],
            up: vec![0.0; variables],
            down: vec![0.0; variables],
        }
    }

    /// Solves for this C, warm-started from the solution for the previous C, if any: multiplied by the ratio of the two it
    /// is feasible, and variables at their bounds stay there.
    pub(super) fn solve(&mut self, c: f64, monitor: &Monitor) -> Result<Solution> {
        let ratio = c / self.c;
        self.c = c;
        for t in 0..self.a.len() {
            let (low, high) = self.bounds(t);
            // Snapped to the bound, which rounding of the ratio could miss.
            let moved = (self.a[t] * ratio).clamp(low, high);
            self.a[t] = if (moved - high).abs() <= 1e-12 * c {
                high
            } else if (moved - low).abs() <= 1e-12 * c {
                low
            } else {
                moved
            };
            self.place(t);
        }
        self.f.iter_mut().for_each(|f| *f *= ratio);
        let most = (100 * self.a.len()).max(10_000_000);
        let mut converged = false;
        for step in 0..most {
            if step % 256 == 0 {
                monitor.check()?;
            }
            if !self.step() {
                converged = true;
                break;
            }
        }
        Ok(self.solution(converged))
    }

    fn bounds(&self, t: usize) -> (f64, f64) {
        if self.positive[t] { (0.0, self.c) } else { (-self.c, 0.0) }
    }

    fn place(&mut self, t: usize) {
        let (low, high) = self.bounds(t);
        self.up[t] = if self.a[t] < high { self.offset[t] } else { f64::NEG_INFINITY };
        self.down[t] = if self.a[t] > low { self.offset[t] } else { f64::INFINITY };
    }

    /// Optimises one pair; false if no pair violates the conditions by more than the tolerance.
    fn step(&mut self) -> bool {
        let n = self.f.len();
        let (top, i) = highest(&self.up, &self.f);
        if top == f64::NEG_INFINITY {
            return false;
        }
        let line_i = self.kernel_rows.fetch(i % n);
        let (gap, j) = best_partner(top, &self.down, &self.f, self.kernel_rows.at(line_i));
        if gap < TOLERANCE {
            return false;
        }
        let line_j = self.kernel_rows.fetch(j % n);
        // The first row is still cached: it was the last one used, and there is room for two.
        let (k_i, k_j) = (self.kernel_rows.at(line_i), self.kernel_rows.at(line_j));
        let curvature = (2.0 - 2.0 * f64::from(k_i[j % n])).max(MIN_CURVATURE);
        let slope = top - (self.offset[j] - self.f[j % n]);
        let (high, low) = (self.bounds(i).1, self.bounds(j).0);
        let (room_i, room_j) = (high - self.a[i], self.a[j] - low);
        let by = (slope / curvature).min(room_i).min(room_j);
        // Set exactly to the bound, or rounding would keep the variable free.
        self.a[i] = if by >= room_i { high } else { self.a[i] + by };
        self.a[j] = if by >= room_j { low } else { self.a[j] - by };
        pulp::Arch::new().dispatch(Shift { f: &mut self.f, by, k_i, k_j });
        self.place(i);
        self.place(j);
        true
    }

    fn solution(&self, converged: bool) -> Solution {
        let n = self.f.len();
        let slope = |t: usize| self.offset[t] - self.f[t % n];
        let (mut free, mut sum) = (0usize, 0.0);
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for t in 0..self.a.len() {
            if self.up[t] > f64::NEG_INFINITY && self.down[t] < f64::INFINITY {
                free += 1;
                sum += slope(t);
            } else if self.up[t] > f64::NEG_INFINITY {
                top = top.max(slope(t));
            } else {
                bottom = bottom.min(slope(t));
            }
        }
        let bias = match (free, top.is_finite(), bottom.is_finite()) {
            (0, true, true) => f64::midpoint(top, bottom),
            (0, true, false) => top,
            (0, ..) => bottom,
            _ => sum / free as f64,
        };
        let mut coefficients = self.a[..n].to_vec();
        for part in self.a[n..].chunks_exact(n) {
            coefficients.iter_mut().zip(part).for_each(|(c, a)| *c += a);
        }
        Solution { coefficients, bias, converged }
    }
}

/// The largest offset − f and its variable, of equal ones the first. Offsets are as long as f, or a multiple.
fn highest(up: &[f64], f: &[f64]) -> (f64, usize) {
    let mut best = (f64::NEG_INFINITY, 0);
    for (part, up) in up.chunks_exact(f.len()).enumerate() {
        let found = pulp::Arch::new().dispatch(Highest { up, f });
        if found.0 > best.0 {
            best = (found.0, part * f.len() + found.1);
        }
    }
    best
}

/// How far the lowest slope is below the top, and the variable with the largest second-order gain.
fn best_partner(top: f64, down: &[f64], f: &[f64], line: &[f32]) -> (f64, usize) {
    let (mut gap, mut best) = (f64::NEG_INFINITY, (f64::NEG_INFINITY, 0));
    for (part, down) in down.chunks_exact(f.len()).enumerate() {
        let (lowest, gain, at) = pulp::Arch::new().dispatch(Partner { top, down, f, line });
        gap = gap.max(lowest);
        if gain > best.0 {
            best = (gain, part * f.len() + at);
        }
    }
    (gap, best.1)
}

// Types of their own, because closures of this size would not be inlined into the dispatch, and so not be vectorised.
struct Highest<'a> {
    up: &'a [f64],
    f: &'a [f64],
}

impl pulp::NullaryFnOnce for Highest<'_> {
    type Output = (f64, usize);

    #[inline(always)]
    fn call(self) -> (f64, usize) {
        let mut best = Lanes::new();
        let (up, up_rest) = self.up.as_chunks::<LANES>();
        let (f, f_rest) = self.f.as_chunks::<LANES>();
        for (at, (up, f)) in up.iter().zip(f).enumerate() {
            let mut values = [0.0; LANES];
            for l in 0..LANES {
                values[l] = up[l] - f[l];
            }
            best.see(at, &values);
        }
        best.finish(up.len(), up_rest.iter().zip(f_rest).map(|(up, f)| up - f))
    }
}

struct Partner<'a> {
    top: f64,
    down: &'a [f64],
    f: &'a [f64],
    line: &'a [f32],
}

impl Partner<'_> {
    /// Slope and gain of the pair. A variable that cannot decrease has slope −∞, and so no gain.
    #[inline(always)]
    fn pair(top: f64, down: f64, f: f64, k: f32) -> (f64, f64) {
        let slope = top - (down - f);
        let curvature = (2.0 - 2.0 * f64::from(k)).max(MIN_CURVATURE);
        (slope, if slope > 0.0 { slope * slope / curvature } else { f64::NEG_INFINITY })
    }
}

impl pulp::NullaryFnOnce for Partner<'_> {
    type Output = (f64, f64, usize);

    #[inline(always)]
    fn call(self) -> (f64, f64, usize) {
        let mut best = Lanes::new();
        let mut gaps = [f64::NEG_INFINITY; LANES];
        let (down, down_rest) = self.down.as_chunks::<LANES>();
        let (f, f_rest) = self.f.as_chunks::<LANES>();
        let (line, line_rest) = self.line.as_chunks::<LANES>();
        for (at, ((down, f), line)) in down.iter().zip(f).zip(line).enumerate() {
            let mut gains = [0.0; LANES];
            for l in 0..LANES {
                let (slope, gain) = Self::pair(self.top, down[l], f[l], line[l]);
                gaps[l] = if slope > gaps[l] { slope } else { gaps[l] };
                gains[l] = gain;
            }
            best.see(at, &gains);
        }
        let mut gap = gaps.iter().fold(f64::NEG_INFINITY, |m, g| m.max(*g));
        let mut rest = [f64::NEG_INFINITY; LANES];
        for (o, ((down, f), k)) in rest.iter_mut().zip(down_rest.iter().zip(f_rest).zip(line_rest)) {
            let (slope, gain) = Self::pair(self.top, *down, *f, *k);
            gap = gap.max(slope);
            *o = gain;
        }
        let (gain, at) = best.finish(down.len(), rest.into_iter().take(down_rest.len()));
        (gap, gain, at)
    }
}

/// The largest of numbers that come in chunks, and where it was first.
struct Lanes {
    best: [f64; LANES],
    chunk: [u64; LANES],
}

impl Lanes {
    #[inline(always)]
    fn new() -> Self {
        Self { best: [f64::NEG_INFINITY; LANES], chunk: [0; LANES] }
    }

    #[inline(always)]
    fn see(&mut self, at: usize, values: &[f64; LANES]) {
        for ((&value, best), chunk) in values.iter().zip(&mut self.best).zip(&mut self.chunk) {
            let better = value > *best;
            *best = if better { value } else { *best };
            *chunk = if better { at as u64 } else { *chunk };
        }
    }

    #[inline(always)]
    fn finish(self, chunks: usize, rest: impl Iterator<Item = f64>) -> (f64, usize) {
        let mut found = (f64::NEG_INFINITY, 0);
        for l in 0..LANES {
            let (value, at) = (self.best[l], self.chunk[l] as usize * LANES + l);
            if value > found.0 || (value == found.0 && at < found.1) {
                found = (value, at);
            }
        }
        for (at, value) in (chunks * LANES..).zip(rest) {
            if value > found.0 {
                found = (value, at);
            }
        }
        found
    }
}

/// f += by·(K_i − K_j).
struct Shift<'a> {
    f: &'a mut [f64],
    by: f64,
    k_i: &'a [f32],
    k_j: &'a [f32],
}

impl pulp::NullaryFnOnce for Shift<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for ((f, k_i), k_j) in self.f.iter_mut().zip(self.k_i).zip(self.k_j) {
            *f += self.by * (f64::from(*k_i) - f64::from(*k_j));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn room_for_two_kernel_rows_gives_the_bits_that_room_for_all_gives() {
        // 80 columns are computed in blocks of rows, 20 one by one.
        for (data, p) in [("blobs?n=150&p=80&seed=2", 80), ("ringnorm?n=150&seed=2", 20)] {
            let rows = synth::generate(data).expect("rows").rows;
            assert_eq!(rows.p(), p);
            let solved = |bytes: usize| {
                let mut kernel_rows = KernelRows::new(Kernel::rbf(1.0 / p as f64), &rows, bytes);
                let mut problem = Smo::classes(&mut kernel_rows, (0..150).map(|i| i % 3 == 0).collect());
                let path = [1.0, 10.0].map(|c| problem.solve(c, &Monitor::default()).expect("solved"));
                (path, kernel_rows.slots.len())
            };
            let ((all, _), (two, slots)) = (solved(1 << 30), solved(0));
            assert_eq!((slots, all[1].converged), (2, true));
            assert_eq!(all, two);
        }
    }

    #[test]
    fn a_weight_reached_from_a_smaller_one_has_the_same_solution() {
        let rows = synth::generate("ringnorm?n=200&seed=3").expect("rows").rows;
        let mut kernel_rows = KernelRows::new(Kernel::rbf(0.05), &rows, 1 << 30);
        let positive: Vec<bool> = (0..200).map(|i| rows.to_dense()[20 * i].abs() > 1.0).collect();
        let monitor = Monitor::default();
        let cold = Smo::classes(&mut kernel_rows, positive.clone()).solve(10.0, &monitor).expect("solved");
        let mut problem = Smo::classes(&mut kernel_rows, positive);
        problem.solve(1.0, &monitor).expect("solved");
        let warm = problem.solve(10.0, &monitor).expect("solved");
        let apart = cold.coefficients.iter().zip(&warm.coefficients).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 0.05, "coefficients up to 10");
        assert!((cold.bias - warm.bias).abs() < 2e-3);
    }

    #[test]
    fn of_equal_numbers_the_first_is_found_wherever_it_lies() {
        for n in [1, 15, 16, 17, 40, 100] {
            for first in 0..n {
                let f: Vec<f64> =
                    (0..n).map(|i| if i >= first && i % 3 == first % 3 { 0.0 } else { 1.0 }).collect();
                assert_eq!(highest(&vec![1.0; n], &f), (1.0, first), "{first} of {n}");
            }
        }
    }
}
