//! Linear support vector machine: squared hinge loss, one-vs-rest.
//!
//!   min ½‖w‖² + c Σ max(0, 1 − y_i ⟨w, x_i⟩)²,   x with a column of ones, so that the intercept is penalised too
//!
//! The objective is a quadratic in the rows inside the margin (`y⟨w,x⟩ < 1`): Newton steps `(I + 2c X_AᵀX_A) d = −g` with an
//! exact line search reach the minimum when the set of rows inside no longer changes.
//!
//! cost    n·p² flops once for X_AᵀX_A, which is then updated by the rows that entered or left the margin, and p³ per step.
//!         Beyond 1 500 columns, such as word counts: [`dual_descent`](super::dual_descent), one pass over the data per round
//! stops   when the predicted decrease of a step is less than 1e−10 of the objective
//! source  Keerthi & DeCoste 2005; scikit-learn's `LinearSVC` solves the same problem
//! differs solved in the primal up to 1 500 columns, which is deterministic; each C is warm-started from the one before; rows
//!         whose squares would overflow or underflow are multiplied by a power of two

use faer::Mat;
use rayon::prelude::*;

use super::dual_descent::DualDescent;
use super::evaluator::Evaluation;
use super::inner_folds::{self, Chosen};
use super::measures::Predictions;
use super::rescale::rescaled;
use crate::data::labels::Labels;
use crate::data::rows::{F64Rows, Rows};
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::linalg::{Cholesky, self_product, sum_in_order};
use crate::monitor::Monitor;

/// Values of C that are tried.
const C_GRID: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// The most columns for which the problem is solved in the primal, with XᵀX in memory.
const PRIMAL_MAX_COLUMNS: usize = 1_500;

/// The most Newton steps; about a dozen are usual.
const MAX_NEWTON_STEPS: usize = 200;

pub(super) fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    c: Option<f64>,
    seed: u64,
    monitor: &Monitor,
) -> Result<Evaluation> {
    let scaled = rescaled(train, test);
    let (train, test) = scaled.as_ref().map_or((train, test), |(train, test)| (train, test));
    let Chosen { c, mut warnings } = match c {
        Some(c) => Chosen { c, warnings: Vec::new() },
        None => inner_folds::choose(train, labels, &C_GRID, seed, |train, labels, test| {
            let machines = fit(train, labels, &C_GRID, seed, monitor)?;
            Ok(machines.iter().map(|machine| machine.predict(test)).collect())
        })?,
    };
    let Some(machine) = fit(train, labels, &[c], seed, monitor)?.pop() else {
        unreachable!("one value of C has one machine")
    };
    if !machine.converged {
        warnings.push(format!(
            "`linear-svm` with c = {c} stopped before it converged; scale the columns, or lower c"
        ));
    }
    let classes = labels.n_classes().unwrap_or(0);
    Ok(Evaluation {
        warnings,
        scores: Some(machine.decisions(test, classes)),
        ..Evaluation::of(machine.predict(test))
    })
}

/// Weights, and whether the solver converged.
type Solved = (Vec<f64>, bool);

/// Weights of each class, or of the second of two.
struct Machine {
    classes: Vec<usize>,
    weights: Vec<Vec<f64>>,
    converged: bool,
}

/// One machine per value of C.
fn fit(rows: &Rows, labels: &Labels, grid: &[f64], seed: u64, monitor: &Monitor) -> Result<Vec<Machine>> {
    let (codes, c) = labels.require_classes("linear-svm")?;
    let mut present = vec![false; c];
    codes.iter().for_each(|&code| present[code] = true);
    let classes: Vec<usize> = (0..c).filter(|&code| present[code]).collect();
    let asked = if classes.len() == 2 { &classes[1..] } else { &classes };
    monitor.begin("fitting linear support vectors", asked.len());
    // At w = 0 every row is inside the margin, whatever the class.
    let all = match rows.p() {
        ..=PRIMAL_MAX_COLUMNS => Some(scatter(rows, &(0..rows.n()).collect::<Vec<_>>(), monitor)?),
        _ => None,
    };
    let solved: Result<Vec<Vec<Solved>>> = asked
        .par_iter()
        .map(|&class| {
            let y = codes.iter().map(|&code| if code == class { 1.0 } else { -1.0 }).collect();
            let found = if let Some(all) = &all {
                let mut newton = Newton::new(rows, y, all.clone());
                grid.iter().map(|&c| newton.solve(c, monitor)).collect()
            } else {
                let mut descent = DualDescent::new(rows, y, seed);
                grid.iter().map(|&c| descent.solve(c, monitor)).collect()
            };
            monitor.advance(1);
            found
        })
        .collect();
    let solved = solved?;
    let machine = |at: usize| Machine {
        classes: classes.clone(),
        weights: solved.iter().map(|path| path[at].0.clone()).collect(),
        converged: solved.iter().all(|path| path[at].1),
    };
    Ok((0..grid.len()).map(machine).collect())
}

impl Machine {
    /// ⟨w, x⟩ of every class, the intercept included; −∞ for a class without rows.
    fn decisions(&self, rows: &Rows, c: usize) -> Mat<f64> {
        let mut out = Mat::from_fn(rows.n(), c, |_, _| f64::NEG_INFINITY);
        let mut set = |class: usize, sign: f64, values: &[f64]| {
            values.iter().enumerate().for_each(|(i, v)| out[(i, class)] = sign * v);
        };
        for (at, w) in self.weights.iter().enumerate() {
            let values = scores(rows, w);
            if self.weights.len() == 1 {
                set(self.classes[0], -1.0, &values);
                set(self.classes[1], 1.0, &values);
            } else {
                set(self.classes[at], 1.0, &values);
            }
        }
        out
    }

    fn predict(&self, rows: &Rows) -> Predictions {
        let scores: Vec<Vec<f64>> = self.weights.iter().map(|w| scores(rows, w)).collect();
        let class = |i: usize| {
            if let [only] = scores.as_slice() {
                return self.classes[usize::from(only[i] > 0.0)];
            }
            let mut best = (f64::NEG_INFINITY, 0);
            for (at, scores) in scores.iter().enumerate() {
                if scores[i] > best.0 {
                    best = (scores[i], at);
                }
            }
            self.classes[best.1]
        };
        Predictions::Classes((0..rows.n()).map(class).collect())
    }
}

/// A one-vs-rest problem and its current solution.
struct Newton<'a> {
    rows: &'a Rows<'a>,
    y: Vec<f64>,
    /// p weights and the intercept.
    w: Vec<f64>,
    /// ⟨w, x⟩ of every row.
    scores: Vec<f64>,
    /// The rows that the scatter is summed over.
    inside: Vec<bool>,
    scatter: Mat<f64>,
}

impl<'a> Newton<'a> {
    fn new(rows: &'a Rows<'a>, y: Vec<f64>, all: Mat<f64>) -> Self {
        let (w, scores) = (vec![0.0; rows.p() + 1], vec![0.0; rows.n()]);
        Self { rows, y, w, scores, inside: vec![true; rows.n()], scatter: all }
    }

    /// Weights for this C, warm-started from those found before.
    fn solve(&mut self, c: f64, monitor: &Monitor) -> Result<Solved> {
        /// Predicted decrease, as a share of the objective, at which it stops.
        const STOP_DECREASE: f64 = 1e-10;
        for _ in 0..MAX_NEWTON_STEPS {
            monitor.check()?;
            let now: Vec<bool> = self.scores.iter().zip(&self.y).map(|(s, y)| s * y < 1.0).collect();
            let missed = |i: usize| if now[i] { self.scores[i] - self.y[i] } else { 0.0 };
            let missed: Vec<f64> = (0..now.len()).map(missed).collect();
            let objective = 0.5 * dot(&self.w, &self.w) + c * missed.iter().map(|m| m * m).sum::<f64>();
            let mut gradient = transposed(self.rows, &missed);
            gradient.iter_mut().zip(&self.w).for_each(|(g, w)| *g = 2.0 * c * *g + w);
            self.update(now, monitor)?;
            let direction = self.direction(c, &gradient)?;
            let decrease = -dot(&gradient, &direction);
            // Rows of very different sizes may give NaN, which also stops it.
            if decrease.is_nan() || decrease <= STOP_DECREASE * objective {
                return Ok((self.w.clone(), decrease.is_finite()));
            }
            let along = scores(self.rows, &direction);
            let step = self.search(c, &direction, &along);
            self.w.iter_mut().zip(&direction).for_each(|(w, d)| *w += step * d);
            self.scores.iter_mut().zip(&along).for_each(|(s, q)| *s += step * q);
        }
        Ok((self.w.clone(), false))
    }

    fn direction(&self, c: f64, gradient: &[f64]) -> Result<Vec<f64>> {
        let size = gradient.len();
        // Where columns are of very different sizes, rounding may absorb the identity; a slightly larger diagonal still
        // gives a descent direction.
        for more in [0.0, 1e-12, 1e-9, 1e-6] {
            let hessian = Mat::from_fn(size, size, |i, j| {
                let value = 2.0 * c * self.scatter[(i, j)];
                if i == j { (value.max(0.0) + 1.0) * (1.0 + more) } else { value }
            });
            if let Some(factor) = Cholesky::new(hessian) {
                let mut direction = Mat::from_fn(size, 1, |i, _| -gradient[i]);
                factor.solve(&mut direction);
                return Ok(direction.col(0).iter().copied().collect());
            }
        }
        Err(Error::Numerical(
            "`linear-svm` could not solve for a step: the columns are of too different sizes\nhint: scale them first"
                .into(),
        ))
    }

    /// Updates the scatter to the rows that are inside now: rows that entered are added and rows that left subtracted,
    /// unless that would be as much work as a new sum. That also keeps the rounding errors of subtraction small.
    fn update(&mut self, now: Vec<bool>, monitor: &Monitor) -> Result<()> {
        let of =
            |keep: &dyn Fn(usize) -> bool| -> Vec<usize> { (0..now.len()).filter(|&i| keep(i)).collect() };
        let came = of(&|i| now[i] && !self.inside[i]);
        let went = of(&|i| !now[i] && self.inside[i]);
        let inside = of(&|i| now[i]);
        if came.len() + went.len() >= inside.len() {
            self.scatter = scatter(self.rows, &inside, monitor)?;
        } else {
            if !came.is_empty() {
                self.scatter += scatter(self.rows, &came, monitor)?;
            }
            if !went.is_empty() {
                self.scatter -= scatter(self.rows, &went, monitor)?;
            }
        }
        self.inside = now;
        Ok(())
    }

    /// Exact line search: the root of the derivative along the direction, which is piecewise linear and increasing.
    fn search(&self, c: f64, direction: &[f64], along: &[f64]) -> f64 {
        let (start, square) = (dot(&self.w, direction), dot(direction, direction));
        let slope = |t: f64| {
            let (mut value, mut rise) = (0.0, 0.0);
            for ((s, y), q) in self.scores.iter().zip(&self.y).zip(along) {
                let score = s + t * q;
                if score * y < 1.0 {
                    value += (score - y) * q;
                    rise += q * q;
                }
            }
            (start + t * square + 2.0 * c * value, square + 2.0 * c * rise)
        };
        // Newton's method on the derivative, safeguarded by a bracket.
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut t = 1.0;
        for _ in 0..100 {
            let (value, rise) = slope(t);
            if value < 0.0 {
                low = t;
            } else {
                high = t;
            }
            let next = t - value / rise;
            let inside = next > low && next < high;
            let next = if inside || next == t {
                next
            } else if high.is_finite() {
                f64::midpoint(low, high)
            } else {
                2.0 * t
            };
            if (next - t).abs() <= 1e-12 * t {
                return next;
            }
            t = next;
        }
        t
    }
}

/// Σ x xᵀ over these rows, with the column of ones.
fn scatter(rows: &Rows, chosen: &[usize], monitor: &Monitor) -> Result<Mat<f64>> {
    let p = rows.p();
    let panels: Vec<&[usize]> = chosen.chunks(PANEL).collect();
    sum_in_order(panels.len(), p + 1, p + 1, monitor, |at| {
        let values = rows.select(panels[at]).to_dense();
        let part = Mat::from_fn(panels[at].len(), p + 1, |i, j| if j < p { values[i * p + j] } else { 1.0 });
        self_product(part.as_ref())
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ⟨w, x⟩ + intercept of every row.
fn scores(rows: &Rows, w: &[f64]) -> Vec<f64> {
    (0..rows.n()).into_par_iter().with_min_len(PANEL).map(|i| score(rows, i, w)).collect()
}

/// Σ v_i x_i over the rows, and Σ v_i: in a fixed number of parts that threads share, summed in order.
fn transposed(rows: &Rows, v: &[f64]) -> Vec<f64> {
    const PARTS: usize = 16;
    let n = rows.n();
    let height = n.div_ceil(PARTS).max(PANEL);
    let starts: Vec<usize> = (0..n).step_by(height).collect();
    let parts: Vec<Vec<f64>> = starts
        .into_par_iter()
        .map(|start| {
            let mut sums = vec![0.0; rows.p() + 1];
            let range = start..n.min(start + height);
            range.filter(|&i| v[i] != 0.0).for_each(|i| add(rows, i, v[i], &mut sums));
            sums
        })
        .collect();
    let mut total = vec![0.0; rows.p() + 1];
    for part in parts {
        total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
    }
    total
}

/// ⟨w, x⟩ + intercept of row i.
pub(super) fn score(rows: &Rows, i: usize, w: &[f64]) -> f64 {
    /// Sums side by side, so that the loop is vectorised.
    const LANES: usize = 8;
    let (weights, intercept) = w.split_at(rows.p());
    let product: f64 = match rows.as_f64() {
        F64Rows::Dense(d) => {
            let (x, x_rest) = d.row(i).as_chunks::<LANES>();
            let (w, w_rest) = weights.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (x, w) in x.iter().zip(w) {
                sums.iter_mut().zip(x.iter().zip(w)).for_each(|(sum, (x, w))| *sum += x * w);
            }
            sums.iter().sum::<f64>() + dot(x_rest, w_rest)
        }
        F64Rows::Sparse(s) => {
            let (columns, values) = s.row(i);
            columns.iter().zip(values).map(|(&j, v)| v * weights[j as usize]).sum()
        }
    };
    product + intercept[0]
}

/// Adds a multiple of row i, and of its 1, to p + 1 numbers.
pub(super) fn add(rows: &Rows, i: usize, by: f64, to: &mut [f64]) {
    match rows.as_f64() {
        F64Rows::Dense(d) => to.iter_mut().zip(d.row(i)).for_each(|(t, x)| *t += by * x),
        F64Rows::Sparse(s) => {
            let (columns, values) = s.row(i);
            columns.iter().zip(values).for_each(|(&j, x)| to[j as usize] += by * x);
        }
    }
    to[rows.p()] += by;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn newton_steps_and_dual_descent_meet_where_the_gradient_is_zero() {
        let rows = synth::generate("ringnorm?n=300&seed=2").expect("rows").rows;
        let y: Vec<f64> = (0..300).map(|i| if rows.to_dense()[20 * i] > 0.3 { 1.0 } else { -1.0 }).collect();
        let monitor = Monitor::default();
        let all = scatter(&rows, &(0..300).collect::<Vec<_>>(), &monitor).expect("scatter");
        let mut newton = Newton::new(&rows, y.clone(), all);
        let mut descent = DualDescent::new(&rows, y.clone(), 0);
        let missed_by = |w: &[f64]| -> Vec<f64> {
            scores(&rows, w).iter().zip(&y).map(|(s, y)| if s * y < 1.0 { s - y } else { 0.0 }).collect()
        };
        for c in [0.01, 1.0, 100.0] {
            let objective = |w: &[f64]| 0.5 * dot(w, w) + c * dot(&missed_by(w), &missed_by(w));
            let (w, converged) = newton.solve(c, &monitor).expect("solved");
            let sums = transposed(&rows, &missed_by(&w));
            let gradient: f64 = sums.iter().zip(&w).map(|(g, w)| (2.0 * c * g + w).powi(2)).sum();
            // gᵀH⁻¹g is below 1e−10 of the objective, and no eigenvalue of H is above its trace.
            let trace = 21.0 + 2.0 * c * (dot(rows.stored(), rows.stored()) + 300.0);
            assert!(converged && gradient <= 1e-10 * objective(&w) * trace, "c = {c}: {gradient}");
            // The dual stops at violations of 1e−3, to which weights are more sensitive than the objective. It is slow on many
            // rows of few columns with a large C, and must then report that it has not converged.
            let (other, converged) = descent.solve(c, &monitor).expect("solved");
            let (least, found) = (objective(&w), objective(&other));
            assert!(!converged || found <= least * (1.0 + 1e-3), "c = {c}: {found} for {least}");
            assert_eq!(converged, c <= 1.0, "c = {c}");
        }
    }
}
