//! Linear support vector machine: squared hinge, each class against the rest.
//!
//!   min ½‖w‖² + c Σ max(0, 1 − y_i ⟨w, x_i⟩)²,   x with a column of ones, so that the intercept is penalised too
//!
//! A quadratic of the rows inside the margin (`y⟨w,x⟩ < 1`): Newton steps `(I + 2c X_AᵀX_A) d = −g` with an exact search
//! along d end at the minimum when the rows inside no longer change.
//!
//! cost    up to 300 columns: X_AᵀX_A, of which a step adds and takes away only the rows that changed sides, n·p² once;
//!         beyond, and for sparse rows: conjugate gradients, two passes over the rows a step
//! stops   when a step promises less than 1e−10 of the objective (conjugate gradients: 1e−8)
//! source  METHODS §7; Keerthi & DeCoste 2005; the same problem as scikit-learn's `LinearSVC`
//! differs solved in the primal, so nothing is random; a weight starts from the solution for the one before; rows too
//!         large or small for their squares are multiplied by a power of two

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::inner::{self, Chosen};
use super::judge::Judged;
use super::measures::Predictions;
use super::tame::squarable;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::block::PANEL;
use crate::linalg::{Cholesky, self_product, sum_in_order};
use crate::monitor::Monitor;

/// Weights of the errors that are tried.
const WEIGHTS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// The most columns whose products are kept as a matrix.
const FEW_COLUMNS: usize = 300;

/// Newton steps; a dozen is usual.
const STEPS: usize = 200;

pub(super) fn predict(
    train: &Rows,
    labels: &Labels,
    test: &Rows,
    c: Option<f64>,
    seed: u64,
    monitor: &Monitor,
) -> Result<Judged> {
    let tamed = squarable(train, test);
    let (train, test) = tamed.as_ref().map_or((train, test), |(train, test)| (train, test));
    let Chosen { c, mut warnings } = match c {
        Some(c) => Chosen { c, warnings: Vec::new() },
        None => inner::choose(train, labels, &WEIGHTS, seed, |train, labels, test| {
            let machines = fit(train, labels, &WEIGHTS, monitor)?;
            Ok(machines.iter().map(|machine| machine.predict(test)).collect())
        })?,
    };
    let Some(machine) = fit(train, labels, &[c], monitor)?.pop() else {
        unreachable!("one weight has one machine")
    };
    if !machine.converged {
        warnings.push(format!(
            "`linear-svm` with c = {c} stopped before it converged; scale the columns, or lower c"
        ));
    }
    Ok(Judged { predictions: machine.predict(test), support: 0, warnings })
}

/// Weights, and whether they are the best.
type Found = (Vec<f64>, bool);

/// Weights for each class, or for the second of two.
struct Machine {
    classes: Vec<usize>,
    weights: Vec<Vec<f64>>,
    converged: bool,
}

/// One machine a weight of the errors.
fn fit(rows: &Rows, labels: &Labels, weights: &[f64], monitor: &Monitor) -> Result<Vec<Machine>> {
    let (codes, c) = labels.require_classes("linear-svm")?;
    let mut present = vec![false; c];
    codes.iter().for_each(|&code| present[code] = true);
    let classes: Vec<usize> = (0..c).filter(|&code| present[code]).collect();
    let asked = if classes.len() == 2 { &classes[1..] } else { &classes };
    monitor.begin("fitting linear support vectors", asked.len());
    let all =
        if small(rows) { Some(scatter(rows, &(0..rows.n()).collect::<Vec<_>>(), monitor)?) } else { None };
    let solved: Result<Vec<Vec<Found>>> = asked
        .par_iter()
        .map(|&class| {
            let y = codes.iter().map(|&code| if code == class { 1.0 } else { -1.0 }).collect();
            let mut newton = Newton::new(rows, y, all.as_ref());
            let found = weights.iter().map(|&c| newton.solve(c, monitor)).collect();
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
    Ok((0..weights.len()).map(machine).collect())
}

impl Machine {
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

/// One class against the rest, and how far it is solved.
struct Newton<'a> {
    rows: &'a Rows<'a>,
    y: Vec<f64>,
    /// p weights and the intercept.
    w: Vec<f64>,
    /// ⟨w, x⟩ of every row.
    scores: Vec<f64>,
    /// Which rows the scatter is of, and the scatter; None: too many columns for one.
    inside: Vec<bool>,
    scatter: Option<Mat<f64>>,
}

impl<'a> Newton<'a> {
    fn new(rows: &'a Rows<'a>, y: Vec<f64>, all: Option<&Mat<f64>>) -> Self {
        // At w = 0 every row is inside.
        let (w, scores) = (vec![0.0; rows.p() + 1], vec![0.0; rows.n()]);
        Self { rows, y, w, scores, inside: vec![true; rows.n()], scatter: all.cloned() }
    }

    /// Weights for errors of this weight, from those found before.
    fn solve(&mut self, c: f64, monitor: &Monitor) -> Result<Found> {
        let enough = if self.scatter.is_some() { 1e-10 } else { 1e-8 };
        for _ in 0..STEPS {
            monitor.check()?;
            let now: Vec<bool> = self.scores.iter().zip(&self.y).map(|(s, y)| s * y < 1.0).collect();
            let missed = |i: usize| if now[i] { self.scores[i] - self.y[i] } else { 0.0 };
            let missed: Vec<f64> = (0..now.len()).map(missed).collect();
            let objective = 0.5 * dot(&self.w, &self.w) + c * missed.iter().map(|m| m * m).sum::<f64>();
            let mut gradient = transposed(self.rows, &missed);
            gradient.iter_mut().zip(&self.w).for_each(|(g, w)| *g = 2.0 * c * *g + w);
            let direction = self.direction(c, &gradient, now, monitor)?;
            let promise = -dot(&gradient, &direction);
            // NaN, which rows of very different sizes may end in, is no promise either.
            if promise.is_nan() || promise <= enough * objective {
                return Ok((self.w.clone(), promise.is_finite()));
            }
            let along = scores(self.rows, &direction);
            let step = self.search(c, &direction, &along);
            self.w.iter_mut().zip(&direction).for_each(|(w, d)| *w += step * d);
            self.scores.iter_mut().zip(&along).for_each(|(s, q)| *s += step * q);
        }
        Ok((self.w.clone(), false))
    }

    fn direction(&mut self, c: f64, gradient: &[f64], now: Vec<bool>, monitor: &Monitor) -> Result<Vec<f64>> {
        if self.scatter.is_none() {
            return conjugate_gradients(self.rows, &now, c, gradient, monitor);
        }
        self.update(now, monitor)?;
        let Some(scatter) = &self.scatter else { unreachable!("looked at above") };
        let size = gradient.len();
        let hessian = |scatter: &Mat<f64>| {
            Mat::from_fn(size, size, |i, j| 2.0 * c * scatter[(i, j)] + f64::from(u8::from(i == j)))
        };
        let mut direction = Mat::from_fn(size, 1, |i, _| -gradient[i]);
        match Cholesky::new(hessian(scatter)) {
            Some(factor) => factor.solve(&mut direction),
            // Rounding has eaten the identity: columns of very different sizes. Descend by what is left of it.
            None => return conjugate_gradients(self.rows, &self.inside, c, gradient, monitor),
        }
        Ok(direction.col(0).iter().copied().collect())
    }

    /// The scatter of the rows that are inside now: rows that changed sides are added or taken away, unless that would be
    /// as much work as adding all. So what taking away leaves behind stays small beside what is there.
    fn update(&mut self, now: Vec<bool>, monitor: &Monitor) -> Result<()> {
        let of =
            |keep: &dyn Fn(usize) -> bool| -> Vec<usize> { (0..now.len()).filter(|&i| keep(i)).collect() };
        let came = of(&|i| now[i] && !self.inside[i]);
        let went = of(&|i| !now[i] && self.inside[i]);
        let inside = of(&|i| now[i]);
        if came.len() + went.len() >= inside.len() {
            self.scatter = Some(scatter(self.rows, &inside, monitor)?);
        } else if let Some(sum) = &mut self.scatter {
            if !came.is_empty() {
                *sum += scatter(self.rows, &came, monitor)?;
            }
            if !went.is_empty() {
                *sum -= scatter(self.rows, &went, monitor)?;
            }
        }
        self.inside = now;
        Ok(())
    }

    /// How far to go: where the slope along the direction, which rises piece by piece, is 0.
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
        // Newton's method on the slope, between a point before and one beyond.
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

fn small(rows: &Rows) -> bool {
    !rows.is_sparse() && rows.p() <= FEW_COLUMNS
}

/// Σ x xᵀ over these rows, with the column of ones.
fn scatter(rows: &Rows, chosen: &[usize], monitor: &Monitor) -> Result<Mat<f64>> {
    let Rows::Dense(dense) = rows else { unreachable!("sparse rows have no scatter") };
    let p = rows.p();
    let panels: Vec<&[usize]> = chosen.chunks(PANEL).collect();
    sum_in_order(panels.len(), p + 1, p + 1, monitor, |at| {
        let of = panels[at];
        let part = Mat::from_fn(of.len(), p + 1, |i, j| if j < p { dense.row(of[i])[j] } else { 1.0 });
        self_product(part.as_ref())
    })
}

/// The direction −(I + 2c X_AᵀX_A)⁻¹g to two digits of the gradient, preconditioned by the diagonal.
fn conjugate_gradients(
    rows: &Rows,
    inside: &[bool],
    c: f64,
    gradient: &[f64],
    monitor: &Monitor,
) -> Result<Vec<f64>> {
    const MOST: usize = 500;
    let diagonal: Vec<f64> = squares(rows, inside).iter().map(|s| 1.0 + 2.0 * c * s).collect();
    let apply = |v: &[f64]| -> Vec<f64> {
        let mut products = scores(rows, v);
        products.iter_mut().zip(inside).for_each(|(s, inside)| *s *= f64::from(u8::from(*inside)));
        transposed(rows, &products).iter().zip(v).map(|(s, v)| v + 2.0 * c * s).collect()
    };
    let precondition = |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
    let mut direction = vec![0.0; gradient.len()];
    let mut rest: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut z = precondition(&rest);
    let mut search = z.clone();
    let mut size = dot(&rest, &z);
    let first = size;
    for _ in 0..MOST {
        monitor.check()?;
        if size <= 1e-4 * first {
            break;
        }
        let applied = apply(&search);
        let step = size / dot(&search, &applied);
        direction.iter_mut().zip(&search).for_each(|(d, s)| *d += step * s);
        rest.iter_mut().zip(&applied).for_each(|(r, a)| *r -= step * a);
        z = precondition(&rest);
        let next = dot(&rest, &z);
        search.iter_mut().zip(&z).for_each(|(s, z)| *s = z + next / size * *s);
        size = next;
    }
    Ok(direction)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ⟨w, x⟩ + intercept of every row.
fn scores(rows: &Rows, w: &[f64]) -> Vec<f64> {
    let (weights, intercept) = w.split_at(rows.p());
    let score = |i: usize| {
        let product = match rows {
            Rows::Dense(d) => dot_wide(d.row(i), weights),
            Rows::Sparse(s) => {
                let (columns, values) = s.row(i);
                columns.iter().zip(values).map(|(&j, v)| v * weights[j as usize]).sum()
            }
        };
        product + intercept[0]
    };
    (0..rows.n()).into_par_iter().with_min_len(PANEL).map(score).collect()
}

/// A sum in lanes, which is vectorised.
fn dot_wide(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    sums.iter().sum::<f64>() + dot(a_rest, b_rest)
}

/// Σ v_i x_i over the rows, and Σ v_i.
fn transposed(rows: &Rows, v: &[f64]) -> Vec<f64> {
    in_parts(rows, |i, sums| {
        if v[i] != 0.0 {
            for_each_value(rows, i, |j, x| sums[j] += v[i] * x);
            sums[rows.p()] += v[i];
        }
    })
}

/// Σ x² of every column over the rows inside, and their number.
fn squares(rows: &Rows, inside: &[bool]) -> Vec<f64> {
    in_parts(rows, |i, sums| {
        if inside[i] {
            for_each_value(rows, i, |j, x| sums[j] += x * x);
            sums[rows.p()] += 1.0;
        }
    })
}

#[inline(always)]
fn for_each_value(rows: &Rows, i: usize, mut f: impl FnMut(usize, f64)) {
    match rows {
        Rows::Dense(d) => d.row(i).iter().enumerate().for_each(|(j, &x)| f(j, x)),
        Rows::Sparse(s) => {
            let (columns, values) = s.row(i);
            columns.iter().zip(values).for_each(|(&j, &x)| f(j as usize, x));
        }
    }
}

/// Sums over the rows of p + 1 numbers, in a fixed number of parts that threads share, added in their order.
fn in_parts(rows: &Rows, add: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    const PARTS: usize = 16;
    let n = rows.n();
    let height = n.div_ceil(PARTS).max(PANEL);
    let ranges: Vec<Range<usize>> =
        (0..n).step_by(height).map(|start| start..n.min(start + height)).collect();
    let parts: Vec<Vec<f64>> = ranges
        .into_par_iter()
        .map(|range| {
            let mut sums = vec![0.0; rows.p() + 1];
            range.for_each(|i| add(i, &mut sums));
            sums
        })
        .collect();
    let mut total = vec![0.0; rows.p() + 1];
    for part in parts {
        total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
    }
    total
}
