//! Landmarks that are moved until the subspace they span serves the labels.
//!
//!   F = K_nq L⁻ᵀ,  L Lᵀ = K_qq: the rows in the span of φ(ẑ_1), …, φ(ẑ_q);   the criterion of F is climbed along ẑ
//!   with Γ the criterion's slope along F:  ∂/∂K_nq = Γ L⁻¹,   ∂/∂K_qq = −½ L⁻ᵀ FᵀΓ L⁻¹
//!   and, for kernels of s = γ‖x−ẑ‖²,  ∂k/∂ẑ = 2γ k′(s)(ẑ − x);  of s = ⟨x,ẑ⟩,  k′(s) x
//!
//! cost    4·n·q·p + 4·n·q² flops an evaluation, two or three of them a step, on at most 5 000 rows
//! source  SKFE, sec. 3.2 (a subspace spanned by points of the input space); with the margin as criterion it is the sparse large
//!         margin classifier of Wu, Schölkopf & Bakir 2005
//! differs squared hinges; 1e−10 of the largest k(ẑ,ẑ) is added to the diagonal of K_qq, so that points may meet

use faer::{Mat, MatRef, Scale};

use super::ascent::{Objective, maximise};
use super::criterion::{Criterion, LabelledCriterion};
use super::gradient::treated;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::gram::diagonal;
use crate::kernel::kernel::Statistic;
use crate::kernel::{Kernel, Panel, Shape};
use crate::linalg::{Cholesky, product, sum_in_order};
use crate::monitor::Monitor;
use crate::random;

/// Rows looked at.
const ROWS: usize = 5_000;

/// What is added to the diagonal of K_qq, relative to its largest entry.
const LIFT: f64 = 1e-10;

/// How landmarks are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// What is maximised.
    pub criterion: Criterion,
    /// Whether alignment is that of centred kernels.
    pub center: bool,
    /// Softness of the margin, relative to the mean k(x,x).
    pub reg: f64,
    /// The most steps.
    pub max_iter: usize,
    /// The slope, relative to the first, at which the search ends.
    pub tol: f64,
}

/// An error unless the kernel has a slope everywhere.
pub(crate) fn check_kernel(shape: Shape) -> Result<()> {
    match shape {
        Shape::Laplacian
        | Shape::Matern12
        | Shape::Chi2
        | Shape::AdditiveChi2
        | Shape::Match
        | Shape::Composite(_)
        | Shape::Own(_)
        | Shape::Precomputed => Err(Error::argument(format!(
            "points are moved along the slope of the kernel, which `{}` does not have, or not everywhere\n\
             hint: use `rbf`, `matern32`, `matern52`, `rq`, `linear`, `poly`, `sigmoid` or `cosine`, or leave points out",
            shape.name()
        ))),
        _ => Ok(()),
    }
}

/// The points, moved to where the criterion is largest nearby, and what the user should know.
pub(super) fn moved(
    settings: Move,
    kernel: Kernel,
    points: &Rows,
    rows: &Rows,
    labels: &Labels,
    seed: u64,
    monitor: &Monitor,
) -> Result<(Rows<'static>, Vec<String>)> {
    check_kernel(kernel.shape)?;
    let chosen = random::sample(rows.n(), ROWS, seed);
    let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
    let unit = diagonal(kernel, &rows).iter().sum::<f64>() / rows.n() as f64;
    let labelled = LabelledCriterion::new(settings.criterion, &labels, settings.center, settings.reg, unit);
    let objective = Points { kernel, rows, labelled, monitor };
    let (q, p) = (points.n(), points.p());
    let values = points.to_dense();
    let start = MatRef::from_row_major_slice(&values, q, p).to_owned();
    let found = maximise(&objective, start, settings.max_iter, settings.tol, monitor, |_| ())?;
    let mut warnings = Vec::new();
    if let [.., before, last] = found.path[..]
        && found.is_cut
        && last - before > 1e-2 * last.abs()
    {
        warnings.push(format!(
            "the points still moved after max_iter = {} steps: the criterion rose by {:.1e} in the last\n\
             hint: raise max_iter",
            settings.max_iter,
            last - before
        ));
    }
    let at = &found.at;
    let moved: Vec<f64> = (0..q).flat_map(|i| (0..p).map(move |j| at[(i, j)])).collect();
    Ok((Rows::dense(moved, q, p)?, warnings))
}

struct Points<'a> {
    kernel: Kernel,
    rows: Rows<'static>,
    labelled: LabelledCriterion,
    monitor: &'a Monitor,
}

/// Kernel values of rows against points, and their derivatives by the statistic.
struct Values {
    k: Mat<f64>,
    slope: Mat<f64>,
}

impl Points<'_> {
    fn values(&self, points: &Rows, rows: &Rows) -> Values {
        let panel = Panel::new(self.kernel, points);
        let (n, q) = (rows.n(), points.n());
        let mut statistics = vec![0.0; n * q];
        panel.statistics(rows, &mut statistics);
        let mut k = statistics.clone();
        self.kernel.finish(&mut k);
        self.kernel.differentiate(&mut statistics);
        let matrix = |values: &[f64]| MatRef::from_row_major_slice(values, n, q).to_owned();
        Values { k: matrix(&k), slope: matrix(&statistics) }
    }

    /// Σ_i weight_ij ∂k(x_i, ẑ_j)/∂ẑ_j, q×p.
    fn pull(&self, points: &Mat<f64>, rows: &Rows, values: &Values, weights: &Mat<f64>) -> Result<Mat<f64>> {
        let (n, q, p) = (rows.n(), points.nrows(), points.ncols());
        let weights = Mat::from_fn(n, q, |i, j| weights[(i, j)] * values.slope[(i, j)]);
        let sum = sum_in_order(n.div_ceil(PANEL), q, p, self.monitor, |at| {
            let here = rows.slice(at * PANEL..n.min((at + 1) * PANEL));
            let x = treated(self.kernel, &here);
            let x = MatRef::from_row_major_slice(&x, here.n(), p);
            product(weights.subrows(at * PANEL, here.n()).transpose(), x)
        })?;
        Ok(match self.kernel.shape.statistic() {
            Statistic::SquaredDistance => {
                let total: Vec<f64> = (0..q).map(|j| weights.col(j).sum()).collect();
                Mat::from_fn(q, p, |j, d| 2.0 * self.kernel.gamma * (total[j] * points[(j, d)] - sum[(j, d)]))
            }
            Statistic::Cosine => {
                let along: Vec<f64> =
                    (0..q).map(|j| (0..n).map(|i| weights[(i, j)] * values.k[(i, j)]).sum()).collect();
                let length: Vec<f64> = (0..q).map(|j| points.row(j).norm_l2()).collect();
                let slope =
                    |j: usize, d: usize| (sum[(j, d)] - along[j] * points[(j, d)] / length[j]) / length[j];
                Mat::from_fn(q, p, |j, d| if length[j] > 0.0 { slope(j, d) } else { 0.0 })
            }
            _ => sum,
        })
    }
}

impl Objective for Points<'_> {
    fn value_and_gradient(&self, at: &Mat<f64>) -> (f64, Mat<f64>) {
        let nowhere = || (f64::NEG_INFINITY, Mat::zeros(at.nrows(), at.ncols()));
        let (q, p) = (at.nrows(), at.ncols());
        let dense: Vec<f64> = (0..q).flat_map(|i| (0..p).map(move |j| at[(i, j)])).collect();
        let Ok(points) = Rows::dense(dense, q, p) else { return nowhere() };
        let (among, against) = (self.values(&points, &points), self.values(&points, &self.rows));
        let largest = (0..q).map(|i| among.k[(i, i)]).fold(0.0, f64::max);
        let lifted = Mat::from_fn(q, q, |i, j| among.k[(i, j)] + if i == j { LIFT * largest } else { 0.0 });
        let Some(factor) = Cholesky::new(lifted) else { return nowhere() };
        let mut features = against.k.clone();
        factor.forward(features.as_mut().transpose_mut());
        let (value, slope) = self.labelled.value_and_gradient(features.as_ref());
        // Γ L⁻¹: each row solved by Lᵀ.
        let mut of_values = slope.clone();
        factor.backward(of_values.as_mut().transpose_mut());
        let mut of_points = product(features.transpose(), slope.as_ref()) * Scale(-0.5);
        factor.backward(of_points.as_mut());
        factor.backward(of_points.as_mut().transpose_mut());
        // Every pair of points is there twice.
        let both = &of_points + of_points.transpose();
        let pulls = [self.pull(at, &self.rows, &against, &of_values), self.pull(at, &points, &among, &both)];
        match pulls {
            [Ok(rows), Ok(points)] => (value, rows + points),
            // A stop is answered by the ascent.
            _ => nowhere(),
        }
    }

    fn project(&self, _: &Mat<f64>, slope: Mat<f64>) -> Mat<f64> {
        slope
    }

    fn retract(&self, at: &Mat<f64>, direction: &Mat<f64>, t: f64) -> Option<Mat<f64>> {
        Some(at + direction * Scale(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::ascent::inner;
    use crate::data::labels::Task;
    use crate::data::synth;

    #[test]
    fn the_slope_along_the_points_is_that_of_differences() {
        let shapes = [
            Shape::Rbf,
            Shape::Matern32,
            Shape::Matern52,
            Shape::Rq { alpha: 1.0 },
            Shape::Linear,
            Shape::Poly { degree: 3, coef0: 1.0 },
            Shape::Cosine,
        ];
        let table = synth::generate("waveform?n=60&seed=1").expect("rows");
        let labels = Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels");
        for rows in [table.rows.clone(), table.rows.to_sparse()] {
            for shape in shapes {
                for criterion in [Criterion::Alignment, Criterion::Margin, Criterion::RadiusMargin] {
                    let kernel = Kernel { shape, gamma: 0.02 };
                    let labelled = LabelledCriterion::new(criterion, &labels, false, 0.1, 1.0);
                    let objective = Points {
                        kernel,
                        rows: rows.select(&(0..60).collect::<Vec<_>>()),
                        labelled,
                        monitor: &Monitor::default(),
                    };
                    let values = rows.to_dense();
                    let p = rows.p();
                    let at = Mat::from_fn(4, p, |i, j| 0.8 * values[i * p + j] + 0.1 * (i + j) as f64);
                    let direction = Mat::from_fn(4, p, |i, j| ((3 * i + 5 * j) as f64).sin());
                    let (_, slope) = objective.value_and_gradient(&at);
                    let there = |t: f64| objective.value_and_gradient(&(&at + &direction * Scale(t))).0;
                    let step = 1e-5;
                    let difference = (there(step) - there(-step)) / (2.0 * step);
                    let along = inner(&slope, &direction);
                    let scale = slope.norm_l2() * direction.norm_l2();
                    assert!(
                        (difference - along).abs() < 1e-5 * scale,
                        "{shape:?}, {criterion:?}: {difference} {along}"
                    );
                }
            }
        }
    }
}
