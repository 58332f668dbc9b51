//! Coordinate descent for L1-penalised least squares, along a path of penalties.
//!
//!   minimise ½·tr BᵀGB − tr Bᵀq + λ Σ_j ‖B_j‖₂,      B p×t, row B_j the coefficients of column j
//!
//!   one step: B_j ← (1 − λ/‖z‖)₊ z/G_jj,   z = r_j + G_jj B_j,   r = q − GB
//!
//! r is updated for the working set only: the columns that ever violated ‖r_j‖ ≤ λ. They are swept until the optimality
//! conditions hold among them; then r is computed for all columns, and new violators join the working set.
//!
//! cost    a sweep: (columns in)·(working columns)·t flops
//! stops   when no column violates the optimality conditions by more than the tolerance, at the limit of sweeps, or when
//!         sweeps bring no more progress
//! source  Friedman, Hastie & Tibshirani 2010 (covariance updates, warm starts); groups: Simon, Friedman & Hastie 2013
//! differs where sweeps converge slowly, as for nearly dependent columns, Newton steps (newton.rs) replace them

use faer::Mat;

use super::newton;
use super::quadratic::Quadratic;
use crate::error::Result;
use crate::monitor::Monitor;

/// Sweeps before a Newton step is tried, in addition to as many as cost the same as the step.
const SWEEPS_BEFORE_NEWTON: usize = 20;

/// Attempts in a row that do not halve the violation, after which it is assumed to be rounding.
const MAX_IDLE_ATTEMPTS: usize = 6;

/// The coefficients, and the state for a warm start at a smaller penalty.
pub(super) struct Descent<'a> {
    quadratic: Quadratic<'a>,
    monitor: &'a Monitor,
    /// r of all columns, p×t, for the current B.
    r: Mat<f64>,
    pub(super) working: Working,
    /// Whether each column is in the working set.
    is_working: Vec<bool>,
}

/// The working set: the columns that are swept.
pub(super) struct Working {
    pub(super) columns: Vec<usize>,
    /// G among them, one vector a column.
    pub(super) gram: Vec<Vec<f64>>,
    /// B and r, one vector a target.
    pub(super) b: Vec<Vec<f64>>,
    pub(super) r: Vec<Vec<f64>>,
}

/// Tolerance and limit of a solve.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Allowed violation of the optimality conditions.
    pub(super) tolerance: f64,
    /// The most sweeps.
    pub(super) sweeps: usize,
}

impl<'a> Descent<'a> {
    /// All coefficients 0.
    pub(super) fn new(quadratic: Quadratic<'a>, monitor: &'a Monitor) -> Self {
        let (p, t) = (quadratic.toward.nrows(), quadratic.toward.ncols());
        let r = quadratic.toward.clone();
        let none = || vec![Vec::new(); t];
        let working = Working { columns: Vec::new(), gram: Vec::new(), b: none(), r: none() };
        Self { quadratic, monitor, r, working, is_working: vec![false; p] }
    }

    /// The smallest penalty at which all coefficients are 0.
    pub(super) fn largest_penalty(&self) -> f64 {
        self.quadratic.toward.row_iter().map(|row| row.norm_l2()).fold(0.0, f64::max)
    }

    /// Solves for this penalty, warm-started; returns the remaining violation of the optimality conditions.
    pub(super) fn solve(&mut self, lambda: f64, effort: Effort) -> Result<f64> {
        let mut sweeps = effort.sweeps;
        loop {
            self.join(lambda, effort.tolerance)?;
            self.descend(lambda, effort.tolerance, &mut sweeps)?;
            self.r = self.quadratic.gradient(&self.working.columns, &self.working.b, self.monitor)?;
            // Recomputed for the working set too, because many updates accumulate rounding errors.
            for (s, kept) in self.working.r.iter_mut().enumerate() {
                kept.iter_mut().zip(&self.working.columns).for_each(|(v, &j)| *v = self.r[(j, s)]);
            }
            let outside = (0..self.is_working.len()).filter(|&j| !self.is_working[j]);
            let outside = outside.fold(0.0, |worst: f64, j| worst.max(self.r.row(j).norm_l2() - lambda));
            let worst = outside.max(self.working.violation(lambda));
            if worst <= effort.tolerance || sweeps == 0 {
                return Ok(worst);
            }
        }
    }

    /// Adds the columns that violate ‖r_j‖ ≤ λ to the working set.
    fn join(&mut self, lambda: f64, tolerance: f64) -> Result<()> {
        let breaks = |j: &usize| !self.is_working[*j] && self.r.row(*j).norm_l2() > lambda + tolerance;
        let new: Vec<usize> = (0..self.is_working.len()).filter(breaks).collect();
        if new.is_empty() {
            return Ok(());
        }
        new.iter().for_each(|&j| self.is_working[j] = true);
        self.working.columns.extend(&new);
        let entries = self.quadratic.gram(&self.working.columns, new.len(), self.monitor)?;
        for (i, column) in self.working.gram.iter_mut().enumerate() {
            column.extend(entries.row(i).iter());
        }
        self.working
            .gram
            .extend(entries.col_iter().map(|column| column.iter().copied().collect::<Vec<f64>>()));
        for (s, (b, r)) in self.working.b.iter_mut().zip(&mut self.working.r).enumerate() {
            b.resize(self.working.columns.len(), 0.0);
            r.extend(new.iter().map(|&j| self.r[(j, s)]));
        }
        Ok(())
    }

    /// Sweeps over the working set until the optimality conditions hold in it.
    fn descend(&mut self, lambda: f64, tolerance: f64, sweeps: &mut usize) -> Result<()> {
        let all: Vec<usize> = (0..self.working.columns.len()).collect();
        let t = self.working.b.len();
        let (mut more, mut idle, mut least) = (1, 0, f64::INFINITY);
        while *sweeps > 0 {
            self.monitor.check()?;
            *sweeps -= 1;
            self.working.sweep(&all, lambda);
            let broken = self.working.violation(lambda);
            if broken <= tolerance {
                return Ok(());
            }
            idle = if broken < 0.5 * least { 0 } else { idle + 1 };
            least = least.min(broken);
            if idle > MAX_IDLE_ATTEMPTS {
                *sweeps = 0;
                return Ok(());
            }
            let active = self.working.active();
            let newton = newton::cost(active.len(), t) / (active.len() * all.len() * t).max(1);
            for _ in 0..more * (SWEEPS_BEFORE_NEWTON + newton) {
                self.monitor.check()?;
                *sweeps = sweeps.saturating_sub(1);
                self.working.sweep(&active, lambda);
                if *sweeps == 0 || self.working.violation_of(&active, lambda) <= 0.3 * tolerance {
                    break;
                }
            }
            if self.working.violation_of(&self.working.active(), lambda) > 0.3 * tolerance {
                newton::improve(&mut self.working, lambda, 0.1 * tolerance, self.monitor)?;
                more = (2 * more).min(16);
            }
        }
        Ok(())
    }

    /// The nonzero coefficients: each column and its t numbers.
    pub(super) fn coefficients(&self) -> impl Iterator<Item = (usize, Vec<f64>)> {
        let row = |at: usize| self.working.b.iter().map(|b| b[at]).collect();
        self.working.active().into_iter().map(move |at| (self.working.columns[at], row(at)))
    }
}

impl Working {
    /// Positions of the columns with a nonzero coefficient.
    pub(super) fn active(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| self.b.iter().any(|b| b[at] != 0.0)).collect()
    }

    fn sweep(&mut self, places: &[usize], lambda: f64) {
        let t = self.b.len();
        let mut z = vec![0.0; t];
        for &at in places {
            let own = self.gram[at][at];
            if own <= 0.0 {
                continue;
            }
            for (z, (r, b)) in z.iter_mut().zip(self.r.iter().zip(&self.b)) {
                *z = r[at] + own * b[at];
            }
            let norm = length(&z);
            let shrink = if norm > lambda { (1.0 - lambda / norm) / own } else { 0.0 };
            for (s, z) in z.iter().enumerate() {
                let change = z * shrink - self.b[s][at];
                if change != 0.0 {
                    self.b[s][at] = z * shrink;
                    subtract(&mut self.r[s], &self.gram[at], change);
                }
            }
        }
    }

    /// Violation of the optimality conditions in the working set.
    pub(super) fn violation(&self, lambda: f64) -> f64 {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        self.violation_of(&all, lambda)
    }

    pub(super) fn violation_of(&self, places: &[usize], lambda: f64) -> f64 {
        let t = self.b.len();
        let (mut r, mut b) = (vec![0.0; t], vec![0.0; t]);
        let mut worst = 0.0f64;
        for &at in places {
            (0..t).for_each(|s| (r[s], b[s]) = (self.r[s][at], self.b[s][at]));
            let norm = length(&b);
            let broken = if norm > 0.0 {
                r.iter_mut().zip(&b).for_each(|(r, b)| *r -= lambda * (b / norm));
                length(&r)
            } else {
                length(&r) - lambda
            };
            worst = worst.max(broken);
        }
        worst
    }
}

/// ‖v‖₂.
pub(super) fn length(v: &[f64]) -> f64 {
    match v {
        [one] => one.abs(),
        _ => v.iter().map(|v| v * v).sum::<f64>().sqrt(),
    }
}

/// r −= change·column.
pub(super) fn subtract(r: &mut [f64], column: &[f64], change: f64) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || r.iter_mut().zip(column).for_each(|(r, g)| *r -= change * g),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::linalg::{center_columns, product};

    const TIGHT: Effort = Effort { tolerance: 1e-13, sweeps: 20_000 };

    fn columns(n: usize, p: usize) -> Mat<f64> {
        let values = synth::generate(&format!("friedman?n={}&seed=2", n * p)).expect("rows").rows.to_dense();
        let mut x = Mat::from_fn(n, p, |i, j| values[(i * p + j) * 10]);
        center_columns(&mut x);
        x
    }

    fn whole(x: &Mat<f64>, y: &Mat<f64>) -> Quadratic<'static> {
        let n = faer::Scale(1.0 / x.nrows() as f64);
        Quadratic::whole(product(x.transpose(), x.as_ref()) * n, product(x.transpose(), y.as_ref()) * n)
    }

    /// Violation of the conditions, from the rows: ‖Xᵀ(Y − XB)/n‖ ≤ λ, and = λB_j/‖B_j‖ where B_j ≠ 0.
    fn broken(x: &Mat<f64>, y: &Mat<f64>, fit: &Descent, lambda: f64) -> f64 {
        let mut b = Mat::zeros(x.ncols(), y.ncols());
        fit.coefficients().for_each(|(j, row)| (0..y.ncols()).for_each(|s| b[(j, s)] = row[s]));
        let left = y - product(x.as_ref(), b.as_ref());
        let r = product(x.transpose(), left.as_ref()) * faer::Scale(1.0 / x.nrows() as f64);
        let one = |j: usize| {
            let norm = b.row(j).norm_l2();
            if norm == 0.0 {
                return r.row(j).norm_l2() - lambda;
            }
            (r.row(j) - b.row(j) * faer::Scale(lambda / norm)).norm_l2()
        };
        (0..x.ncols()).map(one).fold(0.0, f64::max)
    }

    #[test]
    fn the_conditions_hold_from_the_rows_for_one_and_several_targets() {
        let monitor = Monitor::default();
        // More rows than columns, and fewer.
        for (n, p) in [(60, 25), (25, 60)] {
            let x = columns(n, p);
            for t in [1, 3] {
                let mut y =
                    Mat::from_fn(n, t, |i, s| x[(i, s)] - 2.0 * x[(i, s + 5)] + 0.3 * x[(i, 9)].powi(2));
                center_columns(&mut y);
                let rows = Quadratic::of_rows(x.as_ref(), y.as_ref(), (0..n).collect(), None, &monitor);
                let mut fits =
                    [Descent::new(whole(&x, &y), &monitor), Descent::new(rows.expect("q"), &monitor)];
                let largest = fits[0].largest_penalty();
                for share in [1.0, 0.5, 0.1, 0.01, 0.001] {
                    for fit in &mut fits {
                        let claimed = fit.solve(share * largest, TIGHT).expect("fit");
                        let found = broken(&x, &y, fit, share * largest);
                        assert!(claimed < 1e-12 && found < 1e-12, "{n} {t} {share}: {claimed} {found}");
                        assert_eq!(fit.coefficients().count() == 0, share == 1.0);
                    }
                }
            }
        }
    }

    #[test]
    fn orthonormal_columns_are_shrunk_each_by_itself() {
        let (p, t) = (5, 2);
        let toward = Mat::from_fn(p, t, |j, s| (j as f64 - 2.0) * (1.0 + s as f64));
        let monitor = Monitor::default();
        let mut fit = Descent::new(Quadratic::whole(Mat::identity(p, p), toward.clone()), &monitor);
        fit.solve(3.0, TIGHT).expect("fit");
        let found: Vec<(usize, Vec<f64>)> = fit.coefficients().collect();
        assert_eq!(found.iter().map(|(j, _)| *j).collect::<Vec<_>>(), [0, 4]);
        for (j, b) in found {
            let norm = toward.row(j).norm_l2();
            (0..t).for_each(|s| assert!((b[s] - toward[(j, s)] * (1.0 - 3.0 / norm)).abs() < 1e-14));
        }
    }

    #[test]
    fn nearly_dependent_columns_settle() {
        // Bumps so wide that a few of them span all the others to ten digits.
        let u = columns(80, 1);
        let mut x = Mat::from_fn(80, 40, |i, j| (-(u[(i, 0)] - u[(j, 0)]).powi(2)).exp());
        center_columns(&mut x);
        let monitor = Monitor::default();
        for t in [1, 3] {
            let mut y = Mat::from_fn(80, t, |i, s| (u[(i, 0)] * (8.0 + s as f64)).sin());
            center_columns(&mut y);
            let mut fit = Descent::new(whole(&x, &y), &monitor);
            let largest = fit.largest_penalty();
            let mut lambda = largest;
            while lambda > 1e-3 * largest {
                lambda *= 0.7;
                let effort = Effort { tolerance: 1e-8 * largest, sweeps: 2_000 };
                let claimed = fit.solve(lambda, effort).expect("fit");
                assert!(claimed <= 1e-8 * largest, "{t} {}: {}", lambda / largest, claimed / largest);
            }
        }
    }
}
