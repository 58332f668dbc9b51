//! Directions with the largest ratio of two scatters: the problem of `gda`, `akda-qr` and `kmfa`.
//!
//!   F Fᵀ v = λ T v,   T = S + reg·tr(S)/m·I,   vᵀTv = 1
//!
//! T = L Lᵀ, and the singular values and left vectors of L⁻¹F are √λ and Lᵀv: F has a column a class or a pair, so the
//! m×m scatter F Fᵀ is never made, and no digits are lost to squaring.
//!
//! cost    m³/3 flops and 2·m²·c for c columns of F; without reg one m×m eigenproblem
//! differs where reg leaves T close to singular (or rounding, not positive), the problem is solved on the range of T: its eigenvalues above 1e−12 of
//!         the largest. A Cholesky factor would be noise there

use faer::{Col, Mat, MatRef, Scale};

use std::sync::Arc;

use super::RANK;
use crate::basis::on_gpu::cholesky_there;
use crate::cuda::Gpu;
use crate::error::{Error, Result};
use crate::linalg::large::copied;
use crate::linalg::{Cholesky, eigen, left_singular, product};
use crate::monitor::Monitor;
use crate::real::Precision;
use crate::spec::Parameter;

/// From this ratio of T's smallest eigenvalue to its largest on a Cholesky factor is used.
const SOUND: f64 = 1e-10;

/// A largest λ below this is what rounding leaves of 0: without reg it is the square of a ratio of two numbers.
const NOTHING: f64 = 1e-20;

/// λ, descending, those that are rounding left out, and the directions (columns).
pub(super) struct Ratio {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
}

/// What is added to the diagonal of the scatter that is divided by.
pub(super) const REG: Parameter =
    Parameter::not_negative("reg", "share of the mean scatter that is added to the diagonal");

/// Who factors matrices.
pub(super) struct Solver<'a> {
    /// Progress out, stop in.
    pub(super) monitor: &'a Monitor,
    /// The GPU that the rows lie on; large matrices are factored there.
    pub(super) gpu: Option<&'a Arc<Gpu>>,
}

impl<'a> From<&'a Monitor> for Solver<'a> {
    fn from(monitor: &'a Monitor) -> Self {
        Self { monitor, gpu: None }
    }
}

impl Solver<'_> {
    fn cholesky(&self, matrix: &Mat<f64>) -> Result<Option<Cholesky>> {
        match self.gpu.filter(|_| matrix.nrows() >= FACTORED_THERE) {
            Some(gpu) => Ok(cholesky_there(gpu, matrix.as_ref(), self.monitor)?.map(Cholesky::of_factor)),
            None => Cholesky::watched(copied(matrix.as_ref()), self.monitor),
        }
    }
}

/// Rows from which on a GPU factors a matrix faster than the processor.
const FACTORED_THERE: usize = 1_000;

/// An error unless it can be a share of the mean scatter.
pub(super) fn check(reg: f64) -> Result<()> {
    if reg.is_finite() && reg >= 0.0 {
        return Ok(());
    }
    Err(Error::argument(format!("reg = {reg}, but it must be a finite number of at least 0")))
}

/// Solves for a scatter S (m×m) and a factor F (m×c), both from features of this precision; None if S is 0.
pub(super) fn solve<'s>(
    scatter: Mat<f64>,
    reg: f64,
    factor: MatRef<'_, f64>,
    precision: Precision,
    solver: impl Into<Solver<'s>>,
) -> Result<Option<Ratio>> {
    let solver = solver.into();
    let monitor = solver.monitor;
    let [rank_of, nothing] = [RANK, NOTHING].map(|share| precision.tolerance(share));
    let sound = match precision {
        Precision::Double => SOUND,
        // Sums of such features are not known better, and an eigenproblem would find no more in them.
        Precision::Single => f64::from(f32::EPSILON),
    };
    let m = scatter.nrows();
    let unit = (0..m).map(|i| scatter[(i, i)]).sum::<f64>() / m as f64;
    if unit < f64::MIN_POSITIVE {
        return Ok(None);
    }
    monitor.begin("solving for directions", 0);
    // In units of the mean scatter, so that nothing overflows or vanishes.
    let mut t = scatter;
    t *= Scale(1.0 / unit);
    let mut whitened = factor * Scale(1.0 / unit.sqrt());
    let factored = if reg >= sound * m as f64 {
        let own: Vec<f64> = (0..m).map(|i| t[(i, i)]).collect();
        (0..m).for_each(|i| t[(i, i)] += reg);
        let factored = solver.cholesky(&t)?;
        own.iter().enumerate().for_each(|(i, own)| t[(i, i)] = *own);
        factored
    } else {
        None
    };
    let (values, mut vectors) = if let Some(l) = factored {
        l.forward(whitened.as_mut());
        let (values, mut vectors) = left_singular(whitened, monitor)?;
        l.backward(vectors.as_mut());
        (values, vectors)
    } else {
        let (within, axes) = eigen(t, monitor)?;
        let rank = within.iter().take_while(|v| **v + reg > rank_of * (within[0] + reg)).count();
        let axes = Mat::from_fn(m, rank, |i, j| axes[(i, j)] / (within[j] + reg).sqrt());
        let (values, vectors) = left_singular(product(axes.transpose(), whitened.as_ref()), monitor)?;
        (values, product(axes.as_ref(), vectors.as_ref()))
    };
    let values: Vec<f64> = values.iter().map(|s| s * s).collect();
    let largest = values.first().copied().unwrap_or(0.0);
    let rank =
        values.iter().take_while(|v| **v > rank_of * largest && largest * (1.0 + reg) > nothing).count();
    vectors.resize_with(m, rank, |_, _| 0.0);
    vectors *= Scale(1.0 / unit.sqrt());
    Ok(Some(Ratio { values: values[..rank].to_vec(), vectors }))
}

/// Where directions V leave one dimension: w with VᵀTw = 0 and wᵀTw = 1. None if more is left, or T has nothing there.
pub(super) fn remaining(scatter: &Mat<f64>, reg: f64, directions: MatRef<'_, f64>) -> Option<Vec<f64>> {
    let m = scatter.nrows();
    if directions.ncols() + 1 != m {
        return None;
    }
    let unit = (0..m).map(|i| scatter[(i, i)]).sum::<f64>() / m as f64;
    let t = Mat::from_fn(m, m, |i, j| scatter[(i, j)] / unit + if i == j { reg } else { 0.0 });
    let v = directions * Scale(unit.sqrt());
    let tv = &t * &v;
    let less = |w: Col<f64>| &w - &v * (tv.transpose() * &w);
    let left = (0..m).map(|i| {
        let axis = Col::from_fn(m, |j| f64::from(u8::from(i == j)));
        // Twice, because of the axis that is nearly in the span of the others little but rounding is left.
        let w = less(less(axis));
        (w.transpose() * (&t * &w), w)
    });
    let (size, w) = left.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (size > RANK).then(|| w.iter().map(|v| v / (size * unit).sqrt()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ‖F Fᵀ V − T V Λ‖ and ‖VᵀTV − I‖, relative.
    fn losses(s: &Mat<f64>, reg: f64, f: &Mat<f64>, found: &Ratio) -> (f64, f64) {
        let m = s.nrows();
        let unit = (0..m).map(|i| s[(i, i)]).sum::<f64>() / m as f64;
        let t = Mat::from_fn(m, m, |i, j| s[(i, j)] + if i == j { reg * unit } else { 0.0 });
        let (v, r) = (&found.vectors, found.values.len());
        let left = f * (f.transpose() * v);
        let tv = &t * v;
        let right = Mat::from_fn(m, r, |i, j| tv[(i, j)] * found.values[j]);
        let one = Mat::from_fn(r, r, |i, j| f64::from(u8::from(i == j)));
        ((&left - &right).norm_l2() / left.norm_l2(), (v.transpose() * &tv - one).norm_l2())
    }

    fn problem(m: usize, rank: usize, c: usize, unit: f64) -> (Mat<f64>, Mat<f64>) {
        let wave = |i: usize, j: usize| ((i * i * 37 + j * j * 91 + i * j * 53) as f64 * 0.7).sin();
        let w = Mat::from_fn(rank, m, |i, j| unit * wave(i, j));
        // F inside the range of S, as class means are.
        (w.transpose() * &w, w.transpose() * Mat::from_fn(rank, c, |i, j| wave(j + 3, i) / 2.0))
    }

    #[test]
    fn directions_solve_the_problem_they_are_of() {
        for unit in [1.0, 1e-120, 1e120] {
            for (m, rank, c, reg) in [
                (1, 3, 2, 0.0),
                (6, 20, 3, 1e-3),
                (6, 20, 9, 0.0),
                (8, 4, 3, 1e-3),
                (8, 4, 2, 0.0),
                (7, 30, 2, 1e-13),
            ] {
                let (s, f) = problem(m, rank, c, unit);
                let found = solve(s.clone(), reg, f.as_ref(), Precision::Double, &Monitor::default())
                    .expect("solved")
                    .expect("some");
                let (problem, norm) = losses(&s, reg, &f, &found);
                assert!(problem < 1e-9 && norm < 1e-9, "{m} {rank} {c} {reg} {unit}: {problem} {norm}");
                assert_eq!(found.values.len(), m.min(rank).min(c));
            }
        }
    }

    #[test]
    fn nothing_to_set_in_relation_is_none_and_no_direction() {
        let zero = Mat::zeros(3, 3);
        assert!(
            solve(zero, 1e-3, Mat::zeros(3, 2).as_ref(), Precision::Double, &Monitor::default())
                .expect("ran")
                .is_none()
        );
        let (s, _) = problem(3, 9, 2, 1.0);
        let found = solve(s, 1e-3, Mat::zeros(3, 2).as_ref(), Precision::Double, &Monitor::default())
            .expect("ran")
            .expect("some");
        assert_eq!((found.values.len(), found.vectors.ncols()), (0, 0));
    }
}
