//! Newton steps on the columns with a nonzero coefficient, where coordinate descent is slow.
//!
//!   HΔ = r_A − λu,    H = G_AA ⊗ I + λ blockdiag((I − u_j u_jᵀ)/‖B_j‖),    u_j = B_j/‖B_j‖
//!
//! For one target u_j is a sign, H is G_AA, and the step is exact unless a sign changes. For several, H is M ⊗ I less one
//! rank-one matrix a column, with M = G_AA + λ diag(1/‖B_j‖), so by Woodbury's formula two a×a matrices are factored:
//! M, and I − (M⁻¹)_jk·λ⟨u_j, u_k⟩/√(‖B_j‖‖B_k‖).
//!
//! cost    a³/3 flops a step for a columns; several targets: 3·a³, however many
//! source  one target: Lee et al. 2007 (feature-sign search)
//! differs G_jj is raised by 1e−12 of itself, and by more while steps fail (Levenberg & Marquardt), so that dependent columns
//!         can be factored; columns whose coefficient would change sign are set to 0; every step lowers the objective

use faer::Mat;

use super::coordinate_descent::{Working, length, subtract};
use crate::error::Result;
use crate::linalg::{Cholesky, product};
use crate::monitor::Monitor;

/// The most columns; a request to stop has to wait for the factorisation.
const MAX_COLUMNS: usize = 1_500;

/// The most steps.
const MAX_STEPS: usize = 30;

/// Relative increase of the diagonal: the smallest, and the largest before it gives up.
const RIDGE: (f64, f64) = (1e-12, 1.0);

/// Columns of M⁻¹ that are computed between two checks for a stop.
const INVERSE_COLUMNS_AT_ONCE: usize = 128;

/// Cost of a step in flops of a sweep; flops of a factorisation are eight times as fast.
pub(super) fn cost(a: usize, t: usize) -> usize {
    (if t == 1 { a.pow(3) / 3 } else { 3 * a.pow(3) }) / 8
}

/// Improves the nonzero coefficients by Newton steps, while that works.
pub(super) fn improve(working: &mut Working, lambda: f64, tolerance: f64, monitor: &Monitor) -> Result<()> {
    let mut ridge = RIDGE.0;
    for _ in 0..MAX_STEPS {
        monitor.check()?;
        let active = working.active();
        let broken = working.violation_of(&active, lambda);
        if active.len() > MAX_COLUMNS || broken <= tolerance || ridge > RIDGE.1 {
            return Ok(());
        }
        let step = step(working, &active, lambda, ridge, monitor)?;
        let mut shares = vec![1.0, 0.5, 0.1];
        if let (1, Some(step)) = (working.b.len(), &step) {
            shares.push(first_turn(working, &active, step));
        }
        let walk =
            |step: Mat<f64>| shares.iter().position(|&share| walk(working, &active, &step, share, lambda));
        match step.and_then(walk) {
            Some(0) => ridge = (ridge / 30.0).max(RIDGE.0),
            Some(_) => {}
            None => ridge = (ridge * 100.0).max(1e-8),
        }
    }
    Ok(())
}

/// Δ, a×t; None if the arithmetic breaks down.
fn step(
    working: &Working,
    active: &[usize],
    lambda: f64,
    ridge: f64,
    monitor: &Monitor,
) -> Result<Option<Mat<f64>>> {
    let (a, t) = (active.len(), working.b.len());
    let mut direction = Mat::from_fn(a, t, |i, s| working.b[s][active[i]]);
    let norms: Vec<f64> = direction.row_iter().map(|b| b.norm_l2()).collect();
    direction.row_iter_mut().zip(&norms).for_each(|(mut u, norm)| u /= faer::Scale(*norm));
    let mut side = Mat::from_fn(a, t, |i, s| working.r[s][active[i]] - lambda * direction[(i, s)]);
    let curved = |i: usize| if t == 1 { 0.0 } else { lambda / norms[i] };
    let raised = Mat::from_fn(a, a, |i, k| {
        let entry = working.gram[active[k]][active[i]];
        if i == k { entry * (1.0 + ridge) + curved(i) } else { entry }
    });
    let Some(factor) = Cholesky::new(raised) else { return Ok(None) };
    factor.solve(&mut side);
    if t > 1 {
        // V, whose column j is √(λ/‖B_j‖)·u_j in the rows of column j: H = M ⊗ I − V Vᵀ.
        (direction.row_iter_mut().enumerate()).for_each(|(i, mut u)| u *= faer::Scale(curved(i).sqrt()));
        let mut small = product(direction.as_ref(), direction.transpose());
        for start in (0..a).step_by(INVERSE_COLUMNS_AT_ONCE) {
            monitor.check()?;
            let columns = start..a.min(start + INVERSE_COLUMNS_AT_ONCE);
            let mut inverse = Mat::from_fn(a, columns.len(), |i, k| f64::from(u8::from(i == start + k)));
            factor.solve(&mut inverse);
            for (k, inverse) in columns.zip(inverse.col_iter()) {
                small.col_mut(k).iter_mut().zip(inverse.iter()).for_each(|(v, inverse)| *v *= -inverse);
                small[(k, k)] += 1.0;
            }
        }
        let Some(small) = Cholesky::new(small) else { return Ok(None) };
        let along = |i: usize| direction.row(i).iter().zip(side.row(i).iter()).map(|(v, y)| v * y).sum();
        let mut weights = Mat::from_fn(a, 1, |i, _| along(i));
        small.solve(&mut weights);
        let mut back = Mat::from_fn(a, t, |i, s| direction[(i, s)] * weights[(i, 0)]);
        factor.solve(&mut back);
        side += back;
    }
    Ok(side.is_all_finite().then_some(side))
}

/// The share of the step after which the first sign changes.
fn first_turn(working: &Working, active: &[usize], step: &Mat<f64>) -> f64 {
    let shares = active.iter().enumerate().map(|(i, &at)| -working.b[0][at] / step[(i, 0)]);
    shares.filter(|share| *share > 0.0).fold(1.0, f64::min)
}

/// Goes a share of the step; columns that would turn round are put out. False, and nothing is changed, if the objective
/// does not fall.
fn walk(working: &mut Working, active: &[usize], step: &Mat<f64>, share: f64, lambda: f64) -> bool {
    let t = working.b.len();
    let (b, r) = (working.b.clone(), working.r.clone());
    let mut norms = 0.0;
    for (i, &at) in active.iter().enumerate() {
        let from: Vec<f64> = b.iter().map(|b| b[at]).collect();
        let mut to: Vec<f64> = (0..t).map(|s| from[s] + share * step[(i, s)]).collect();
        if to.iter().zip(&from).map(|(to, from)| to * from).sum::<f64>() <= 0.0 {
            to.fill(0.0);
        }
        norms += length(&to) - length(&from);
        for s in 0..t {
            working.b[s][at] = to[s];
            subtract(&mut working.r[s], &working.gram[at], to[s] - from[s]);
        }
    }
    // F(B + D) − F(B) = −⟨D, (r + r_after)/2⟩ + λ·Σ(‖B_j + D_j‖ − ‖B_j‖).
    let mut fall = -lambda * norms;
    for s in 0..t {
        let along = |at: &usize| (working.b[s][*at] - b[s][*at]) * 0.5 * (working.r[s][*at] + r[s][*at]);
        fall += active.iter().map(along).sum::<f64>();
    }
    if fall <= 0.0 {
        (working.b, working.r) = (b, r);
    }
    fall > 0.0
}
