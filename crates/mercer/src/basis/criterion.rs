//! How well features serve the labels, and which way every feature should move: what SKFE maximises.
//!
//!   alignment        A = ‖FᵀY‖²/(‖FᵀF‖·‖YᵀY‖),                  F n×q features, Y one-hot
//!   margin           −ln Σ_c ‖w_c‖²                              one machine a class against the others, ‖w_c‖⁻¹ its margin
//!   radius-margin    −ln (R²·Σ_c ‖w_c‖²)                         R the radius of the smallest ball around the rows
//!
//! Margins are soft: kernel values have 1/C added on the diagonal, 1/C = reg × the mean squared length of the first features, so
//! that ‖w_c‖² = 2·min ½‖w‖² + C/2 Σ max(0, 1 − y(wᵀf + b))² and R² is that of a ball with squared slack (`hinge.rs`).
//! Both minima are those of smooth functions, whose slopes along the features are, with the minimisers held fixed,
//!
//!   ∂‖w‖²/∂f_i = −2 α_i y_i w,  α = C·hinge        ∂R²/∂f_i = 2 β_i (f_i − centre),  Σβ = 1
//!
//! cost    alignment 2·n·q·(q + c) flops; margins n·q² a Newton step and class
//! source  SKFE; Cristianini et al. 2002 (alignment); Chapelle, Vapnik, Bousquet & Mukherjee 2002 (radius and margin); Wu, Schölkopf
//!         & Bakir 2005 (the margin with few expansion vectors)
//! differs squared hinges, and one machine a class. Two classes have one machine

use faer::{Mat, MatRef, Scale};

use super::hinge::Hinges;
use crate::data::labels::Labels;
use crate::error::{Error, Result};
use crate::linalg::{center_columns, product};

/// What is maximised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// The alignment of the features' kernel with the labels'.
    #[default]
    Alignment,
    /// The margin of support vector machines in the features.
    Margin,
    /// The margin relative to the radius of the ball that holds the rows.
    RadiusMargin,
}

impl Criterion {
    /// Every criterion's name.
    pub const NAMES: [&'static str; 3] = ["alignment", "margin", "radius-margin"];

    /// The criterion with this name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "alignment" => Ok(Self::Alignment),
            "margin" => Ok(Self::Margin),
            "radius-margin" => Ok(Self::RadiusMargin),
            _ => Err(Error::argument(format!(
                "criterion = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

/// A criterion on the labels of some rows.
pub(crate) struct LabelledCriterion {
    criterion: Criterion,
    /// n×c one-hot, centred with `center`.
    targets: Mat<f64>,
    /// ‖YᵀY‖.
    size: f64,
    center: bool,
    /// C; see [`unit`](Self::unit).
    weight: f64,
}

impl LabelledCriterion {
    pub(crate) fn new(criterion: Criterion, labels: &Labels, center: bool, reg: f64, unit: f64) -> Self {
        let (y, c) = labels.one_hot();
        let mut targets = MatRef::from_row_major_slice(&y, labels.len(), c).to_owned();
        if center && criterion == Criterion::Alignment {
            center_columns(&mut targets);
        }
        let size = product(targets.transpose(), targets.as_ref()).norm_l2();
        Self { criterion, targets, size, center, weight: 1.0 / (reg * unit).max(f64::MIN_POSITIVE) }
    }

    /// The criterion, which is to be large, and its slope along every feature of every row.
    pub(crate) fn value_and_gradient(&self, features: MatRef<'_, f64>) -> (f64, Mat<f64>) {
        match self.criterion {
            Criterion::Alignment => self.alignment(features),
            Criterion::Margin => {
                let (square, slope) = self.margin(features);
                (-square.ln(), slope * Scale(-1.0 / square))
            }
            Criterion::RadiusMargin => {
                let ((square, slope), (radius, along)) = (self.margin(features), self.radius(features));
                (-(square * radius).ln(), slope * Scale(-1.0 / square) - along * Scale(1.0 / radius))
            }
        }
    }

    fn alignment(&self, features: MatRef<'_, f64>) -> (f64, Mat<f64>) {
        let mut f = features.to_owned();
        if self.center {
            center_columns(&mut f);
        }
        let toward = product(self.targets.transpose(), f.as_ref());
        let within = product(f.transpose(), f.as_ref());
        let (up, down) = (toward.squared_norm_l2(), within.norm_l2());
        if down == 0.0 || up == 0.0 {
            return (0.0, Mat::zeros(f.nrows(), f.ncols()));
        }
        let value = up / (down * self.size);
        let rise = product(self.targets.as_ref(), toward.as_ref()) * Scale(2.0 * value / up);
        let fall = product(f.as_ref(), within.as_ref()) * Scale(2.0 * value / down / down);
        let mut slope = rise - fall;
        if self.center {
            center_columns(&mut slope);
        }
        (value, slope)
    }

    /// Σ ‖w_c‖² and its slope.
    fn margin(&self, features: MatRef<'_, f64>) -> (f64, Mat<f64>) {
        let (n, q) = (features.nrows(), features.ncols());
        let (mut sum, mut slope) = (0.0, Mat::zeros(n, q));
        let c = self.targets.ncols();
        // Of two classes the machine of the second is that of the first, turned around.
        for class in 0..if c == 2 { 1 } else { c } {
            let sign = |i: usize| if self.targets[(i, class)] > 0.5 { 1.0 } else { -1.0 };
            let rows = Mat::from_fn(n, q + 1, |i, j| sign(i) * if j < q { features[(i, j)] } else { 1.0 });
            let mut diagonal = vec![1.0; q + 1];
            diagonal[q] = 0.0;
            let found = Hinges {
                rows: rows.as_ref(),
                targets: &vec![1.0; n],
                diagonal: &diagonal,
                linear: &vec![0.0; q + 1],
                weight: self.weight,
            }
            .minimise(vec![0.0; q + 1]);
            sum += 2.0 * found.value;
            for (j, column) in slope.col_iter_mut().enumerate() {
                for (i, v) in column.iter_mut().enumerate() {
                    *v -= 2.0 * self.weight * found.left[i] * sign(i) * found.x[j];
                }
            }
        }
        (sum.max(f64::MIN_POSITIVE), slope)
    }

    /// R² and its slope.
    fn radius(&self, features: MatRef<'_, f64>) -> (f64, Mat<f64>) {
        let (n, q) = (features.nrows(), features.ncols());
        let rows = Mat::from_fn(n, q + 1, |i, j| if j < q { 2.0 * features[(i, j)] } else { 1.0 });
        let targets: Vec<f64> = (0..n).map(|i| features.row(i).squared_norm_l2()).collect();
        let (mut diagonal, mut linear) = (vec![2.0; q + 1], vec![0.0; q + 1]);
        (diagonal[q], linear[q]) = (0.0, 1.0);
        let weight = 0.5 * self.weight;
        let mut start: Vec<f64> = (0..q).map(|j| features.col(j).sum() / n as f64).collect();
        start.push(-start.iter().map(|v| v * v).sum::<f64>());
        let hinges =
            Hinges { rows: rows.as_ref(), targets: &targets, diagonal: &diagonal, linear: &linear, weight };
        let found = hinges.minimise(start);
        let slope = Mat::from_fn(n, q, |i, j| 2.0 * weight * found.left[i] * (features[(i, j)] - found.x[j]));
        ((found.value + 1.0 / self.weight).max(f64::MIN_POSITIVE), slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize, j: usize) -> f64 {
        ((i * i * 37 + j * j * 91 + i * j * 53) as f64 * 0.7).sin()
    }

    fn labelled(criterion: Criterion, classes: usize, center: bool) -> (LabelledCriterion, Mat<f64>) {
        let names: Vec<String> = (0..40).map(|i| format!("{}", (i * 7) % classes)).collect();
        let labels = Labels::classes(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let f = Mat::from_fn(40, 3, |i, j| wave(i, j) + 0.4 * f64::from(u8::from((i * 7) % classes == j)));
        (LabelledCriterion::new(criterion, &labels, center, 0.1, 1.0), f)
    }

    #[test]
    fn slopes_are_those_of_differences() {
        for criterion in [Criterion::Alignment, Criterion::Margin, Criterion::RadiusMargin] {
            for (classes, center) in [(2, false), (3, false), (3, true)] {
                let (labelled, f) = labelled(criterion, classes, center);
                let (_, slope) = labelled.value_and_gradient(f.as_ref());
                let direction = Mat::from_fn(40, 3, |i, j| wave(j + 3, i));
                let at = |t: f64| labelled.value_and_gradient((&f + &direction * Scale(t)).as_ref()).0;
                let step = 1e-5;
                let difference = (at(step) - at(-step)) / (2.0 * step);
                let along: f64 =
                    (0..3).map(|j| (0..40).map(|i| slope[(i, j)] * direction[(i, j)]).sum::<f64>()).sum();
                assert!(
                    (difference - along).abs() < 1e-6 * along.abs().max(0.1),
                    "{criterion:?}: {difference} {along}"
                );
            }
        }
    }

    /// The dual of a ball with squared slack, solved slowly: Frank–Wolfe with exact steps.
    #[test]
    fn the_radius_is_that_of_the_dual() {
        let (labelled, f) = labelled(Criterion::RadiusMargin, 2, false);
        let (radius, slope) = labelled.radius(f.as_ref());
        let n = f.nrows();
        let k = Mat::from_fn(n, n, |i, j| {
            (0..3).map(|d| f[(i, d)] * f[(j, d)]).sum::<f64>()
                + if i == j { 1.0 / labelled.weight } else { 0.0 }
        });
        let mut beta = vec![1.0 / n as f64; n];
        for _ in 0..200_000 {
            let pull: Vec<f64> =
                (0..n).map(|i| k[(i, i)] - 2.0 * (0..n).map(|j| k[(i, j)] * beta[j]).sum::<f64>()).collect();
            let up = (0..n).max_by(|a, b| pull[*a].total_cmp(&pull[*b])).expect("rows");
            let down =
                (0..n).filter(|&i| beta[i] > 0.0).min_by(|a, b| pull[*a].total_cmp(&pull[*b])).expect("rows");
            if pull[up] - pull[down] < 1e-10 {
                break;
            }
            let bend = 2.0 * (k[(up, up)] + k[(down, down)] - 2.0 * k[(up, down)]);
            let step = ((pull[up] - pull[down]) / bend).min(beta[down]);
            beta[up] += step;
            beta[down] -= step;
        }
        let squares: f64 = (0..n).map(|i| (0..n).map(|j| beta[i] * beta[j] * k[(i, j)]).sum::<f64>()).sum();
        let dual = (0..n).map(|i| beta[i] * k[(i, i)]).sum::<f64>() - squares;
        assert!((radius - dual).abs() < 1e-7 * dual, "{radius} {dual}");
        // The weights of the ball's points sum to 1: moving all points moves the ball and not its radius.
        assert!((0..3).all(|j| slope.col(j).sum().abs() < 1e-9));
    }

    /// The dual of the machine, solved slowly by coordinates with an equality constraint, pair by pair.
    #[test]
    fn the_margin_is_that_of_the_dual() {
        let (labelled, f) = labelled(Criterion::Margin, 2, false);
        let (square, _) = labelled.margin(f.as_ref());
        let n = f.nrows();
        let y: Vec<f64> = (0..n).map(|i| if labelled.targets[(i, 0)] > 0.5 { 1.0 } else { -1.0 }).collect();
        let k = Mat::from_fn(n, n, |i, j| {
            y[i] * y[j] * (0..3).map(|d| f[(i, d)] * f[(j, d)]).sum::<f64>()
                + if i == j { 1.0 / labelled.weight } else { 0.0 }
        });
        let mut alpha = vec![0.0; n];
        for _ in 0..500_000 {
            let slope: Vec<f64> =
                (0..n).map(|i| 1.0 - (0..n).map(|j| k[(i, j)] * alpha[j]).sum::<f64>()).collect();
            let up = (0..n)
                .filter(|&i| y[i] > 0.0 || alpha[i] > 0.0)
                .max_by(|a, b| (y[*a] * slope[*a]).total_cmp(&(y[*b] * slope[*b])))
                .expect("rows");
            let down = (0..n)
                .filter(|&i| y[i] < 0.0 || alpha[i] > 0.0)
                .min_by(|a, b| (y[*a] * slope[*a]).total_cmp(&(y[*b] * slope[*b])))
                .expect("rows");
            let gap = y[up] * slope[up] - y[down] * slope[down];
            if gap < 1e-9 {
                break;
            }
            let bend = k[(up, up)] + k[(down, down)] - 2.0 * y[up] * y[down] * k[(up, down)];
            let mut step = gap / bend;
            if y[up] < 0.0 {
                step = step.min(alpha[up]);
            }
            if y[down] > 0.0 {
                step = step.min(alpha[down]);
            }
            alpha[up] += y[up] * step;
            alpha[down] -= y[down] * step;
        }
        let dual = 2.0 * alpha.iter().sum::<f64>()
            - (0..n).map(|i| (0..n).map(|j| alpha[i] * alpha[j] * k[(i, j)]).sum::<f64>()).sum::<f64>();
        assert!((square - dual).abs() < 1e-6 * dual, "{square} {dual}");
    }
}
