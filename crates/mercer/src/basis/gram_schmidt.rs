//! Gram–Schmidt on the images of the rows, in the order given.
//!
//!   w_j = (φ(x_j) − Σ_{i<j} ⟨φ(x_j), w_i⟩ w_i) / ‖…‖,   w_j = Σ a_ji φ(x_i)
//!
//! cost    5 to 14·n·m² flops by matrix products, n·m kernel values and another n·m for the residual; 2·m² numbers of memory
//! stops   at the end of the rows, or at the cap
//! source  EKS, Alg. 1 and sec. 4.2.2; SK-Relief, sec. 3
//! differs a squared residual below −1e−6·(m+1)·max k means that the kernel is not positive semi-definite (the bound of
//!         the pivoted bases, 1e−8, is inside the rounding that the rule below allows);
//!         every vector is orthogonalised twice (the papers' loss of orthogonality is what one pass leaves); skipped is
//!         a row whose residual norm is at most tol·√k(x,x), or whose coefficients have eps·max k·‖a‖₁² > 1e−6, beyond
//!         which no double-precision A can be orthonormal; so rows that are clearly new can be skipped once nearly
//!         dependent ones are in, and "at full rank Z Zᵀ = K" is `kobl`'s law and not this one's. Rows are taken in blocks, so that the flops are products.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::fitted::Stop;
use super::pivoted::{loss_limit, not_psd};
use crate::error::Result;
use crate::kernel::Gram;
use crate::kernel::parameters::with_kernel;
use crate::monitor::{Growth, Monitor, Stage};
use crate::spec::{MethodSpec, Parameter, SEED, Stage as SpecStage, Values};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "gram-schmidt",
    stage: SpecStage::Basis,
    file: "basis/gram_schmidt.rs",
    source: "EKS, Alg. 1; K-Relief, 3",
    cost: "n·m² flops, m² memory",
    parameters: &with_kernel::<3, 9>([super::N_COMPONENTS.none("all rows that are independent"), TOL, SEED]),
    help: "rows in their own order, orthogonalised twice",
};

const TOL: Parameter = Parameter::share(
    "tol",
    false,
    false,
    "residual norm, relative to sqrt k(x,x), at which a row is skipped",
)
.default("1e-6");

/// Residual norms up to this share of √k(x,x) make it skip a row.
pub(crate) fn default_tol() -> f64 {
    Values::defaults(&SPEC).number("tol").unwrap_or_default()
}

/// Rows that are orthogonalised together.
const BLOCK: usize = 64;

/// Accepted rows in order, their residual norms, and the coefficients over them.
pub(crate) struct Orthogonal {
    pub(crate) pivots: Vec<usize>,
    pub(crate) norms: Vec<f64>,
    pub(crate) coefficients: Mat<f64>,
    pub(crate) stop: Stop,
}

/// Orthogonalises the rows in their order.
pub(crate) fn run(gram: &Gram, cap: usize, tol: f64, monitor: &Monitor) -> Result<Orthogonal> {
    let n = gram.n();
    let diagonal = gram.diagonal();
    let largest = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut basis =
        Orthogonal { pivots: Vec::new(), norms: Vec::new(), coefficients: Mat::new(), stop: Stop::Rule };
    let mut among: Mat<f64> = Mat::new(); // K over the accepted rows, m×m
    // Rows that are skipped leave those after them cheaper, and the cap may end it.
    monitor.enter(Stage {
        name: "orthogonalising rows",
        total: n,
        done: 0,
        growth: Growth::Square,
        open: true,
    });
    for start in (0..n).step_by(BLOCK) {
        monitor.check()?;
        let rows: Vec<usize> = (start..n.min(start + BLOCK)).collect();
        let b = rows.len();
        let m = basis.pivots.len();
        let cross = gram.block(&rows, &basis.pivots);
        let cross = MatRef::from_row_major_slice(&cross, b, m);
        let within = gram.block(&rows, &rows);
        let within = MatRef::from_row_major_slice(&within, b, b);

        // Coefficients over the accepted rows of what is left of each row, after two passes.
        let a = basis.coefficients.as_ref();
        let mut left = Mat::zeros(b, m);
        for _ in 0..2 {
            let mut inner = cross.to_owned();
            add_product(&mut inner, left.as_ref(), among.as_ref(), 1.0);
            let mut products = Mat::zeros(b, m);
            add_product(&mut products, inner.as_ref(), a.transpose(), 1.0);
            add_product(&mut left, products.as_ref(), a, -1.0);
        }
        // Inner products of what is left, among the block.
        let mut half = cross.to_owned();
        add_product(&mut half, left.as_ref(), among.as_ref(), 1.0);
        let mut remaining = within.to_owned();
        add_product(&mut remaining, half.as_ref(), left.transpose(), 1.0);
        add_product(&mut remaining, left.as_ref(), cross.transpose(), 1.0);

        let mut accepted: Vec<(usize, Vec<f64>)> = Vec::new(); // position in the block, combination of the block's rows
        for i in 0..b {
            if m + accepted.len() == cap {
                basis.stop = Stop::Cap;
                break;
            }
            let mut t = vec![0.0; b];
            t[i] = 1.0;
            for _ in 0..2 {
                for (_, earlier) in &accepted {
                    let product = bilinear(earlier, &remaining, &t);
                    t.iter_mut().zip(earlier).for_each(|(t, e)| *t -= product * e);
                }
            }
            let square = bilinear(&t, &remaining, &t);
            if square < -loss_limit(gram) * (m + 1) as f64 * largest {
                return Err(not_psd(gram.kernel(), rows[i], square));
            }
            let norm = square.max(0.0).sqrt();
            let own = diagonal[rows[i]].max(0.0).sqrt();
            if norm <= tol.max((10.0 * gram.rounding()).sqrt()) * own || norm == 0.0 {
                continue;
            }
            t.iter_mut().for_each(|t| *t /= norm);
            let over_earlier = combine(&t, left.as_ref());
            let size: f64 = t.iter().chain(&over_earlier).map(|v| v.abs()).sum();
            if gram.rounding() * largest * size * size > loss_limit(gram) {
                continue;
            }
            basis.norms.push(norm);
            accepted.push((i, t));
        }

        let total = m + accepted.len();
        let positions: Vec<usize> = accepted.iter().map(|(i, _)| *i).collect();
        among.resize_with(total, total, |_, _| 0.0);
        basis.coefficients.resize_with(total, total, |_, _| 0.0);
        for (at, (i, t)) in accepted.iter().enumerate() {
            let row = m + at;
            for (j, v) in combine(t, left.as_ref()).into_iter().enumerate() {
                basis.coefficients[(row, j)] = v;
                among[(row, j)] = cross[(*i, j)];
                among[(j, row)] = cross[(*i, j)];
            }
            for (other, &j) in positions.iter().enumerate() {
                basis.coefficients[(row, m + other)] = t[j];
                among[(row, m + other)] = within[(*i, j)];
            }
        }
        basis.pivots.extend(positions.iter().map(|&i| rows[i]));
        monitor.advance(b);
        if basis.stop == Stop::Cap {
            break;
        }
    }
    Ok(basis)
}

fn add_product(out: &mut Mat<f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, factor: f64) {
    /// Columns a thread computes at a time: fixed, so that the bits do not depend on the number of threads.
    const COLUMNS: usize = 256;
    if a.ncols() > 0 && b.ncols() > 0 {
        out.as_mut()
            .par_col_chunks_mut(COLUMNS)
            .zip(b.par_col_chunks(COLUMNS))
            .for_each(|(out, b)| matmul(out, Accum::Add, a, b, factor, Par::Seq));
    }
}

fn bilinear(a: &[f64], matrix: &Mat<f64>, b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (j, &b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
        sum += b * a.iter().zip(matrix.col(j).iter()).map(|(a, v)| a * v).sum::<f64>();
    }
    sum
}

/// tᵀM as a vector.
fn combine(t: &[f64], matrix: MatRef<'_, f64>) -> Vec<f64> {
    (0..matrix.ncols()).map(|j| t.iter().zip(matrix.col(j).iter()).map(|(t, v)| t * v).sum()).collect()
}
