//! Newton steps on the columns that have a coefficient, where coordinate descent is slow.
//!
//!   HΔ = r_A − λu,    H = G_AA ⊗ I + λ blockdiag((I − u_j u_jᵀ)/‖B_j‖),    u_j = B_j/‖B_j‖
//!
//! For one target u_j is a sign, H is G_AA, and the step is exact unless a sign changes. For several, conjugate gradients
//! solve it, with (G_AA + λ diag(1/‖B_j‖)) ⊗ I, which lacks the rank-one parts only, factored in their stead.
//!
//! cost    a³/3 flops a step for a columns; several targets t: and 4·a²·t flops an iteration
//! source  one target: Lee et al. 2007 (feature-sign search)
//! differs G_jj is raised by 1e−12 of itself, and by more while steps fail (Levenberg & Marquardt), so dependent columns do
//!         not break the factor off; columns that would turn round are put out; the objective falls with every step

use faer::Mat;

use super::coordinate_descent::{Working, length, subtract};
use crate::error::Result;
use crate::linalg::{Cholesky, product};
use crate::monitor::Monitor;

/// Columns at most: a stop has to wait for the factor.
const COLUMNS: usize = 1_500;

/// Steps at most.
const STEPS: usize = 30;

/// By how much the diagonal is raised: at least, and where even that much is of no use.
const RIDGE: (f64, f64) = (1e-12, 1.0);

/// Conjugate gradients end after this many iterations.
const ITERATIONS: usize = 100;

/// Brings the columns with a coefficient closer to their optimum, if it can.
pub(super) fn improve(working: &mut Working, lambda: f64, tolerance: f64, monitor: &Monitor) -> Result<()> {
    let mut ridge = RIDGE.0;
    for _ in 0..STEPS {
        monitor.check()?;
        let active = working.active();
        let broken = working.violation_of(&active, lambda);
        if active.len() > COLUMNS || broken <= tolerance || ridge > RIDGE.1 {
            return Ok(());
        }
        let step = step(working, &active, lambda, ridge, (broken / lambda).sqrt().min(0.1), monitor)?;
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
    closely: f64,
    monitor: &Monitor,
) -> Result<Option<Mat<f64>>> {
    let (a, t) = (active.len(), working.b.len());
    let mut direction = Mat::from_fn(a, t, |i, s| working.b[s][active[i]]);
    let norms: Vec<f64> = direction.row_iter().map(|b| b.norm_l2()).collect();
    direction.row_iter_mut().zip(&norms).for_each(|(mut u, norm)| u /= faer::Scale(*norm));
    let mut side = Mat::from_fn(a, t, |i, s| working.r[s][active[i]] - lambda * direction[(i, s)]);
    let curved = |i: usize| if t == 1 { 0.0 } else { lambda / norms[i] };
    let gram = Mat::from_fn(a, a, |i, k| {
        let entry = working.gram[active[k]][active[i]];
        if i == k { entry * (1.0 + ridge) } else { entry }
    });
    let raised = Mat::from_fn(a, a, |i, k| if i == k { gram[(i, k)] + curved(i) } else { gram[(i, k)] });
    let Some(factor) = Cholesky::new(raised) else { return Ok(None) };
    if t == 1 {
        factor.solve(&mut side);
    } else {
        let hessian = |v: &Mat<f64>| {
            let mut out = product(gram.as_ref(), v.as_ref());
            for i in 0..a {
                let along: f64 = (0..t).map(|s| v[(i, s)] * direction[(i, s)]).sum();
                (0..t).for_each(|s| out[(i, s)] += curved(i) * (v[(i, s)] - along * direction[(i, s)]));
            }
            out
        };
        side = conjugate_gradients(hessian, &factor, side, closely, monitor)?;
    }
    Ok(side.is_all_finite().then_some(side))
}

/// H⁻¹·side, but for a share of the side.
fn conjugate_gradients(
    hessian: impl Fn(&Mat<f64>) -> Mat<f64>,
    factor: &Cholesky,
    side: Mat<f64>,
    closely: f64,
    monitor: &Monitor,
) -> Result<Mat<f64>> {
    let inner = |a: &Mat<f64>, b: &Mat<f64>| -> f64 {
        a.col_iter().zip(b.col_iter()).map(|(a, b)| a.transpose() * b).sum()
    };
    let mut solution = Mat::zeros(side.nrows(), side.ncols());
    let enough = closely * side.norm_l2();
    let mut left = side;
    let mut direction = left.clone();
    factor.solve(&mut direction);
    let mut size = inner(&left, &direction);
    for _ in 0..ITERATIONS {
        monitor.check()?;
        let image = hessian(&direction);
        let share = size / inner(&direction, &image);
        solution += faer::Scale(share) * &direction;
        left -= faer::Scale(share) * &image;
        if !share.is_finite() || left.norm_l2() <= enough {
            break;
        }
        let mut next = left.clone();
        factor.solve(&mut next);
        let before = std::mem::replace(&mut size, inner(&left, &next));
        direction = next + faer::Scale(size / before) * direction;
    }
    Ok(solution)
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
