//! CSI: pivots that help to approximate the kernel and to predict the labels.
//!
//!   gain(i) = κ·(trace of K explained)/tr K + (1−κ)·(squared label error removed)/‖Y‖²,   Y centred
//!
//! The gain of a row needs its whole residual column, so it is estimated from a look-ahead of δ further pivots:
//! K − G Gᵀ ≈ L Lᵀ, L n×δ, in which column i is L·L_iᵀ/√d_i.
//!
//! cost    n·δ·(δ+4j) flops for the j-th pivot, n·(m+δ+1) kernel values in all
//! stops   at the cap; without one when the mean squared residual falls to tol (0.001) of what varies (measured by the
//!         look-ahead's first rows); or
//!         where only rounding is left
//! source  Bach & Jordan 2005 (κ = 0.99, δ = 40); asked for by SK-Relief, sec. 6 and EKS, sec. 5
//! differs where not all rows fit into memory, it sees a sample of them (basis/memory.rs). Residual columns of the look-ahead
//!         are kept unfactored and factored afresh a step, instead of updating a QR;
//!         a look-ahead row that only rounding is left of is dropped and not replaced, to keep the number of values

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatRef, Par};

use super::fitted::Stop;
use super::pivoted::{Pivoted, TIE, first_of_largest};
use crate::data::labels::Labels;
use crate::error::Result;
use crate::kernel::parameters::with_kernel;
use crate::linalg::{center_columns, product, tall_product};
use crate::spec::{MethodSpec, Parameter, SEED, Stage, Values};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "csi",
    stage: Stage::Basis,
    file: "basis/csi.rs",
    source: "Bach & Jordan 2005",
    cost: "80·n·m² flops, n·m kernel values",
    parameters: &with_kernel::<3, 9>([
        super::N_COMPONENTS.none("as many as tol keeps, at most 1000 beyond 5000 rows"),
        TOL,
        SEED,
    ]),
    help: "Cholesky with side information: rows that explain the kernel and the labels; needs labels",
};

const TOL: Parameter = Parameter::share(
    "tol",
    false,
    false,
    "mean squared residual, relative to the variance in the kernel's space, at which it stops",
)
.default("0.001");

/// The mean squared residual, relative to what varies, at which it stops unless told otherwise.
pub(crate) fn default_tol() -> f64 {
    Values::defaults(&SPEC).number("tol").unwrap_or_default()
}

/// Weight of the kernel's approximation.
pub(crate) const KAPPA: f64 = 0.99;

/// Columns computed ahead.
pub(crate) const DELTA: usize = 40;

/// Gains this close, relative to the largest, are tied: on the last dimension of a kernel of finite rank all of them are.
const GAIN_TIE: f64 = 1e-10;

/// Grows the factor until the mean squared residual falls to the share `tol` of what varies.
pub(crate) fn grow(factor: &mut Pivoted, labels: &Labels, tol: f64) -> Result<Stop> {
    let n = factor.n();
    let mut side = Side::new(labels);
    let mut ahead = LookAhead::default();
    for _ in 0..DELTA.min(n) {
        factor.check()?;
        ahead.extend(factor);
    }
    let least = tol * ahead.variance(factor);
    // Rows that float64 cannot orthonormalise any more.
    let mut unsound = vec![false; n];
    while factor.room() > 0 {
        factor.check()?;
        if factor.mean_residual() <= least {
            return Ok(Stop::Rule);
        }
        let mut gains = gains(factor, &side, &ahead.factor(factor));
        for (gain, &out) in gains.iter_mut().zip(&unsound) {
            if out {
                *gain = f64::NEG_INFINITY;
            }
        }
        let largest = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let best = first_of_largest(&gains, &factor.rows.is_pivot, GAIN_TIE * largest.abs());
        let Some(best) = best.filter(|_| largest > f64::NEG_INFINITY) else { return Ok(Stop::Rank) };
        if !factor.is_sound(best) {
            unsound[best] = true;
            continue;
        }
        let taken = ahead.rows.iter().position(|&i| i == best);
        let column = match taken {
            Some(at) => {
                ahead.rows.remove(at);
                ahead.columns.remove(at)
            }
            None => factor.residual_column(best),
        };
        let feature = factor.push(best, &column)?;
        ahead.eliminate(factor, &feature);
        if taken.is_some() {
            ahead.extend(factor);
        }
        side.regress(&feature);
    }
    Ok(Stop::Cap)
}

/// Estimated gain of every row; −∞ for pivots and for rows with nothing left.
fn gains(factor: &Pivoted, side: &Side, l: &Mat<f64>) -> Vec<f64> {
    let n = factor.n();
    let trace: f64 = factor.rows.diagonal.iter().sum();
    // M: the look-ahead's columns with what the accepted features explain taken out.
    let mut m = l.clone();
    center_columns(&mut m);
    let inside = product(side.explained.transpose(), m.as_ref());
    m -= tall_product(side.explained.as_ref(), inside.as_ref());
    let spread = tall_product(l.as_ref(), product(l.transpose(), l.as_ref()).as_ref());
    let lengths = tall_product(l.as_ref(), product(m.transpose(), m.as_ref()).as_ref());
    let toward = tall_product(l.as_ref(), product(m.transpose(), side.left.as_ref()).as_ref());
    let small = 1e-12 * n as f64 * factor.largest * factor.largest;
    let along =
        |a: &Mat<f64>, i: usize| -> f64 { a.row(i).iter().zip(l.row(i).iter()).map(|(a, l)| a * l).sum() };
    (0..n)
        .map(|i| {
            if factor.rows.is_pivot[i] || factor.rows.residual[i] <= factor.floor() {
                return f64::NEG_INFINITY;
            }
            let kernel = along(&spread, i) / factor.rows.residual[i];
            let length = along(&lengths, i);
            let label = if length > small { toward.row(i).squared_norm_l2() / length } else { 0.0 };
            KAPPA * kernel / trace + (1.0 - KAPPA) * label / side.total
        })
        .collect()
}

/// The labels, and what the accepted features leave of them.
struct Side {
    /// Centred labels less their regression on the accepted features, n×c.
    left: Mat<f64>,
    /// ‖Y‖² of the centred labels.
    total: f64,
    /// The accepted features, centred and made orthonormal.
    explained: Mat<f64>,
}

impl Side {
    fn new(labels: &Labels) -> Self {
        let (y, c, _) = labels.centered();
        let left = MatRef::from_row_major_slice(&y, labels.len(), c).to_owned();
        let total = left.squared_norm_l2().max(f64::MIN_POSITIVE);
        Self { explained: Mat::zeros(left.nrows(), 0), left, total }
    }

    fn regress(&mut self, feature: &[f64]) {
        let n = feature.len();
        let before = feature.iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut direction = Mat::from_fn(n, 1, |i, _| feature[i]);
        center_columns(&mut direction);
        for _ in 0..2 {
            let inside = product(self.explained.transpose(), direction.as_ref());
            direction -= product(self.explained.as_ref(), inside.as_ref());
        }
        let norm = direction.norm_l2();
        if norm <= 1e-10 * before {
            return;
        }
        direction /= faer::Scale(norm);
        let toward = product(direction.transpose(), self.left.as_ref());
        self.left -= product(direction.as_ref(), toward.as_ref());
        let j = self.explained.ncols();
        self.explained.resize_with(n, j + 1, |i, _| direction[(i, 0)]);
    }
}

/// Rows looked ahead at, with their residual columns (K − G Gᵀ)[:, rows].
#[derive(Default)]
struct LookAhead {
    rows: Vec<usize>,
    columns: Vec<Vec<f64>>,
}

impl LookAhead {
    /// Half the mean squared distance between the images of its rows and of all rows (basis/variance.rs), of values that are
    /// there already.
    fn variance(&self, factor: &Pivoted) -> f64 {
        let half_distance = |(&j, column): (&usize, &Vec<f64>)| -> f64 {
            let own = factor.rows.residual[j];
            column.iter().zip(&factor.rows.residual).map(|(v, d)| (f64::midpoint(own, *d) - v).max(0.0)).sum()
        };
        let sum: f64 = self.rows.iter().zip(&self.columns).map(half_distance).sum();
        sum / (self.rows.len() * factor.n()).max(1) as f64
    }

    /// L with L Lᵀ the part of K − G Gᵀ that these rows explain, n×|rows|.
    fn factor(&self, factor: &Pivoted) -> Mat<f64> {
        let n = factor.n();
        let d = self.rows.len();
        // Cholesky of the rows' own block, leaving out what the rows before already explain.
        let mut chol = Mat::<f64>::zeros(d, d);
        let mut kept: Vec<usize> = Vec::new();
        for i in 0..d {
            let at = kept.len();
            for (a, &j) in kept.iter().enumerate() {
                let known: f64 = (0..a).map(|c| chol[(at, c)] * chol[(a, c)]).sum();
                chol[(at, a)] = (self.columns[j][self.rows[i]] - known) / chol[(a, a)];
            }
            let known: f64 = (0..at).map(|c| chol[(at, c)] * chol[(at, c)]).sum();
            let square = self.columns[i][self.rows[i]] - known;
            if square > factor.floor() {
                chol[(at, at)] = square.sqrt();
                kept.push(i);
            }
        }
        let d = kept.len();
        let mut l = Mat::from_fn(n, d, |i, a| self.columns[kept[a]][i]);
        solve_lower_triangular_in_place(chol.submatrix(0, 0, d, d), l.as_mut().transpose_mut(), Par::Seq);
        l
    }

    /// Adds the row that these leave most of, if anything is left of it.
    fn extend(&mut self, factor: &Pivoted) {
        let l = self.factor(factor);
        let left: Vec<f64> =
            (0..factor.n()).map(|i| factor.rows.residual[i] - l.row(i).squared_norm_l2()).collect();
        let mut out = factor.rows.is_pivot.clone();
        self.rows.iter().for_each(|&i| out[i] = true);
        let next = first_of_largest(&left, &out, TIE * factor.largest);
        if let Some(next) = next.filter(|&i| left[i] > factor.floor()) {
            self.columns.push(factor.residual_column(next));
            self.rows.push(next);
        }
    }

    /// Takes an accepted feature out of the residual columns.
    fn eliminate(&mut self, factor: &Pivoted, feature: &[f64]) {
        for (column, &row) in self.columns.iter_mut().zip(&self.rows) {
            let at = feature[row];
            column.iter_mut().zip(feature).for_each(|(c, f)| *c -= at * f);
        }
        let floor = factor.floor();
        let stay: Vec<bool> = self.rows.iter().map(|&i| factor.rows.residual[i] > floor).collect();
        let mut flags = stay.iter();
        self.rows.retain(|_| *flags.next().unwrap_or(&true));
        let mut flags = stay.iter();
        self.columns.retain(|_| *flags.next().unwrap_or(&true));
    }
}
