//! KFA, Kernel Feature Analysis: the best of a few random rows, by how much of the residual kernel matrix it takes away.
//!
//!   pivot = argmax ‖R_{:,i}‖² / R_ii over the candidates i,   R = K − G Gᵀ,   P(i is a candidate) ∝ R_ii
//!
//! Where rows count differently, ‖R_{:,i}‖² is weighted and candidates are drawn in proportion to weight times R_ii.
//!
//! Candidates are drawn in blocks. With c = `candidates`, a block of c to 4c rows is drawn in proportion to R_ii; its residual
//! columns are one matrix product, and only C = R_{:,block}ᵀ R_{:,block} is kept. Eliminating the pivot p,
//!
//!   C ← C − u gᵀ − g uᵀ + ‖R_{:,p}‖²/R_pp · g gᵀ,   g = R_{block,p}/√R_pp,   u = C_{:,p}/√R_pp,
//!
//! gives the scores of the rest of the block for its next pivot.
//!
//! cost    at most 1.5·c·(m+1) residual columns for the scores and m for the factor: n kernel values and n·2j flops each after
//!         j pivots; usually 2 to 6 columns a pivot in all. `all`: 8·n² bytes, n² kernel values every 96 pivots, 4·n² flops a
//!         pivot
//! stops   at the cap, or where only rounding is left
//! source  Smola & Schölkopf 2000 (sparse greedy matrix approximation); Smola, Mangasarian & Schölkopf 1999 (KFA)
//! differs they draw anew, and uniformly, for every pivot. Here a candidate that was not taken stays one with probability
//!         (its R_ii after the elimination) / (before), so that those left are still drawn in proportion to R_ii, and a new
//!         block is drawn when fewer than half of the block, or fewer than c, are left. So every pivot is the best of at
//!         least c rows (of fewer only where the same row was drawn twice), and a column serves several pivots.
//!         Scores within 1e−10 of the largest are tied, and the lowest index wins. Rows whose coefficients float64
//!         cannot hold are left out, as in `rpcholesky`. In float32 scores are made of float32 columns

use std::collections::BTreeSet;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, Par};
use rayon::prelude::*;

use super::candidates::Candidates;
use super::factor_rows::{FactorRows, Steps};
use super::fitted::Stop;
use super::pivoted::{PENDING, Pivoted};
use super::settings::{N_COMPONENTS, PRECISION};
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::parameters::with_kernel;
use crate::random;
use crate::spec::{Kind, MethodSpec, Parameter, SEED, Stage, Values};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kfa",
    stage: Stage::Basis,
    file: "basis/kfa.rs",
    source: "Smola & Schölkopf 2000",
    cost: "4·n·m² flops, 4·n·m kernel values",
    parameters: &with_kernel::<4, 10>([N_COMPONENTS.none("min(n, 1000)"), CANDIDATES, PRECISION, SEED]),
    help: "kernel feature analysis: of a few rows drawn far from the span, the one that explains most of the kernel",
};

const CANDIDATES: Parameter = Parameter::new(
    "candidates",
    Kind::Text {
        name: "candidates",
        allowed: "a whole number ≥ 1 | all",
        check: |text| read(text).map(drop),
    },
    "rows drawn, of which the best becomes the next landmark; `all` compares all rows and needs 8·n² bytes",
)
.default("10");

/// The number of candidates unless told otherwise.
pub(super) fn default_candidates() -> Option<usize> {
    Values::defaults(&SPEC).count("candidates")
}

/// The number of candidates, None for `all`.
pub(super) fn read(text: &str) -> Result<Option<usize>> {
    match text.parse() {
        _ if text == "all" => Ok(None),
        Ok(count) if count > 0 => Ok(Some(count)),
        _ => Err(Error::argument(format!(
            "candidates = {text}, but it must be a whole number of at least 1, or `all`"
        ))),
    }
}

/// Scores this close, relative to the largest, are tied.
const SCORE_TIE: f64 = 1e-10;

/// A candidate whose residual has fallen to this share of what it was when it was drawn is given up: rounding in what is left
/// of its score would be more than a tie allows.
const STALE: f64 = 1e-4;

/// Bytes that `all` takes beside the factor.
pub(super) fn bytes_of_all(n: usize, cap: usize) -> u64 {
    8 * (n as u64) * (n + cap.min(n)) as u64
}

/// Grows the factor to its end.
pub(crate) fn grow<R: FactorRows>(
    factor: &mut Pivoted<R>,
    candidates: Option<usize>,
    seed: u64,
) -> Result<Stop> {
    let (n, floor) = (factor.n(), factor.floor());
    let mut generator = random::generator(seed);
    let mut retired: BTreeSet<usize> = BTreeSet::new();
    let mut drawn = 0;
    while factor.room() > 0 {
        factor.check()?;
        let (rows, least) = match candidates.map(|count| count.min(n)) {
            None => ((0..n).collect(), 1),
            Some(count) => {
                let expected = 3 * count * factor.pivots.len() / 2 + count;
                // Most of those drawn may have been retired.
                let size = expected.saturating_sub(drawn).clamp(count, 4 * count);
                let uniform: Vec<f64> = (0..size).map(|_| random::uniform(&mut generator)).collect();
                let mut rows = factor.rows.draw(&uniform, floor, &retired)?;
                rows.sort_unstable();
                rows.dedup();
                (rows, count.max(size / 2))
            }
        };
        let mut block = Candidates::new(factor, rows)?;
        let is_open = |&at: &usize| block.residual[at] > floor && !retired.contains(&block.rows[at]);
        let mut live: Vec<usize> = (0..block.rows.len()).filter(is_open).collect();
        if live.is_empty() {
            return Ok(Stop::Rank);
        }
        if candidates.is_some() {
            block.plan(factor, Steps::Any)?;
            let mut sound = Vec::new();
            for at in live {
                if block.is_sound(factor, at)? {
                    sound.push(at);
                } else {
                    retired.insert(block.rows[at]);
                }
            }
            live = sound;
            if live.is_empty() {
                continue;
            }
        }
        drawn += block.rows.len();
        let at_first = block.residual.clone();
        let mut scores = match candidates {
            None => Scores::of_all(factor, &block)?,
            Some(_) => Scores::Products(factor.residual_products(&block)?),
        };
        while block.eliminated.len() < factor.room().min(PENDING)
            && (block.eliminated.is_empty() || live.len() >= least)
        {
            let best = match scores.best(&block, &live) {
                Some(best) => best,
                None if live.is_empty() => break,
                None => {
                    return Err(Error::Numerical(
                        "`kfa`: squares of the kernel's values are too large to be added up\n\
                         hint: scale the columns, divide a precomputed matrix by its largest value, or use method = `kobl`"
                            .into(),
                    ));
                }
            };
            live.retain(|&at| at != best);
            if !block.is_sound(factor, best)? {
                retired.insert(block.rows[best]);
                continue;
            }
            let before = block.residual.clone();
            block.eliminate(factor, best)?;
            scores.eliminate(best, block.last_column());
            live.retain(|&at| {
                let now = block.residual[at];
                let stays = candidates.is_none()
                    || (random::uniform(&mut generator) * before[at] < now && now > STALE * at_first[at]);
                stays && now > floor
            });
        }
        factor.flush(&mut block)?;
    }
    Ok(Stop::Cap)
}

/// What the scores of a block are read from.
enum Scores {
    /// Inner products of the block's residual columns.
    Products(Mat<f64>),
    /// The residual kernel matrix of all rows, n×n, and its columns' squared norms.
    All { residual: Vec<f64>, squares: Vec<f64> },
}

impl Scores {
    /// Those of a block that holds all rows.
    fn of_all<R: FactorRows>(factor: &Pivoted<R>, block: &Candidates) -> Result<Self> {
        let n = factor.n();
        let mut residual = factor.rows.whole(factor.monitor)?;
        residual.par_chunks_mut(PANEL * n).enumerate().for_each(|(at, panel)| {
            let h = panel.len() / n;
            if block.g.ncols() > 0 {
                let panel = MatMut::from_row_major_slice_mut(panel, h, n);
                matmul(
                    panel,
                    Accum::Add,
                    block.g.subrows(at * PANEL, h),
                    block.g.transpose(),
                    -1.0,
                    Par::Seq,
                );
            }
        });
        let squares = residual.par_chunks(n).map(|row| row.iter().map(|v| v * v).sum()).collect();
        Ok(Self::All { residual, squares })
    }

    /// ‖R_{:,i}‖² of the row at this position.
    fn square(&self, position: usize) -> f64 {
        match self {
            Self::Products(c) => c[(position, position)],
            Self::All { squares, .. } => squares[position],
        }
    }

    /// The position with the largest score, the first of those tied with it.
    fn best(&self, block: &Candidates, live: &[usize]) -> Option<usize> {
        let score = |at: usize| self.square(at) / block.residual[at];
        let largest = live.iter().map(|&at| score(at)).fold(f64::NEG_INFINITY, f64::max);
        live.iter().copied().find(|&at| score(at) >= largest - SCORE_TIE * largest.abs())
    }

    /// Takes a pivot out of the residual; `g` is its new column of G on the block's rows.
    fn eliminate(&mut self, pivot: usize, g: &[f64]) {
        match self {
            Self::Products(c) => {
                let norm = g[pivot];
                let u: Vec<f64> = c.col(pivot).iter().map(|v| v / norm).collect();
                let square = u[pivot] / norm;
                for (b, column) in c.col_iter_mut().enumerate() {
                    for (a, v) in column.iter_mut().enumerate() {
                        *v += (square * g[a] - u[a]) * g[b] - g[a] * u[b];
                    }
                }
            }
            Self::All { residual, squares } => {
                let rows = residual.par_chunks_mut(g.len()).zip(squares).zip(g);
                rows.for_each(|((row, square), at)| {
                    *square = subtract(row, *at, g);
                });
            }
        }
    }
}

/// v − factor·g in the place of v; returns its squared norm, in eight sums that the processor adds side by side.
fn subtract(v: &mut [f64], factor: f64, g: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (v, g) in v.chunks_mut(8).zip(g.chunks(8)) {
        for ((v, g), sum) in v.iter_mut().zip(g).zip(&mut sums) {
            *v -= factor * g;
            *sum += *v * *v;
        }
    }
    sums.iter().sum()
}
