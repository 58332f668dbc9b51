//! Pre-images: rows whose features are the ones given, as nearly as rows can.
//!
//!   Φ = Σ_i β_i φ(l_i) is the shortest point with features z;   x = arg min ‖φ(x) − Φ‖²
//!   linear: x = Σ β_i l_i.   Kernels of a squared distance: x ← x + Σ β_i s_i (l_i − x)/Σ β_i s_i,  s_i = −k'(x, l_i)
//!   poly:   x ← x + M⁻¹(Σ β_i r_i l_i − x),   r_i = ((γ⟨x,l_i⟩+c)/(γ‖x‖²+c))^{d−1},   M = I + (d−1)γ xxᵀ/(γ‖x‖²+c)
//!   cosine: x = λ w/‖w‖,   w = Σ β_i l_i/‖l_i‖,   λ the mean length of the landmarks: features do not depend on it
//!
//! cost    l² kernel values once, then l·p flops an iteration and row
//! stops   when a step is below 1e−10 of the landmarks' spread, or after 200 iterations
//! source  Mika et al. 1998 (the fixed points); near a true pre-image the steps are Newton's
//! differs steps are halved until they do not lose, the better of two starts is taken (the landmark nearest to Φ, the
//!         weighted mean of all; poly: Σ β_i l_i, which is a true pre-image where c > 0, and where c = 0 eight landmarks'
//!         directions), and denominators near 0 are replaced, so it neither diverges nor divides by 0. `poly` of an even
//!         degree with c = 0 cannot tell x from −x: refused

use faer::MatRef;
use rayon::prelude::*;

use super::expansion::{Expansion, Landmarks};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::gram::diagonal;
use crate::kernel::pairs::length;
use crate::kernel::{Kernel, Panel, Shape};
use crate::linalg::{product, pseudo_inverse};
use crate::monitor::Monitor;
use crate::size::{check_available, matrix_bytes};

const ITERATIONS: usize = 200;

/// Directions of landmarks that a search starts from where a kernel sees no more than directions and lengths.
const DIRECTIONS: usize = 8;

impl Expansion {
    /// Rows (row-major n×p) whose features come closest to these (n×q).
    pub fn inverse_transform(&self, features: MatRef<'_, f64>, monitor: &Monitor) -> Result<Vec<f64>> {
        check(self.kernel)?;
        let Landmarks::Rows(landmarks) = &self.landmarks else { return Err(no_preimage(self.kernel)) };
        if features.ncols() != self.n_features() {
            return Err(Error::data(format!(
                "{} features given, but the map has {}",
                features.ncols(),
                self.n_features()
            )));
        }
        if (0..features.ncols()).any(|j| features.col(j).iter().any(|v| !v.is_finite())) {
            return Err(Error::data("the features hold NaN or infinity; only finite numbers are allowed"));
        }
        let (n, p) = (features.nrows(), landmarks.p());
        if landmarks.n() == 0 || p == 0 || self.n_features() == 0 {
            return Err(Error::data("a map without landmarks, inputs or features has no pre-images"));
        }
        check_available(matrix_bytes(n.saturating_add(landmarks.n()), p), || {
            format!("{n} pre-images of {p} columns, and {} landmarks,", landmarks.n())
        })?;
        monitor.begin("searching pre-images", n);
        let k = self.kernel.matrix(landmarks, landmarks)?;
        let own = product(product(self.matrix.as_ref(), k.as_ref()).as_ref(), self.matrix.transpose());
        // z → β: the weights of the shortest point with features z.
        let spread = product(pseudo_inverse(own, monitor)?.as_ref(), self.matrix.as_ref());
        let search = Search::new(self.kernel, landmarks);
        let own: Vec<f64> = (0..landmarks.n()).map(|i| k[(i, i)]).collect();
        let mut out = vec![0.0; n * p];
        out.par_chunks_mut(PANEL * p).enumerate().try_for_each(|(at, out)| {
            let rows = out.len() / p;
            let mut weights = product(features.subrows(at * PANEL, rows), spread.as_ref());
            if let Some(origin) = &self.origin {
                for (column, b) in weights.col_iter_mut().zip(origin) {
                    column.iter_mut().for_each(|v| *v += b);
                }
            }
            let values = product(weights.as_ref(), k.as_ref());
            for (i, out) in out.chunks_exact_mut(p).enumerate() {
                monitor.check()?;
                let beta: Vec<f64> = weights.row(i).iter().copied().collect();
                let values: Vec<f64> = values.row(i).iter().copied().collect();
                out.copy_from_slice(&search.run(&beta, &values, &own));
                monitor.advance(1);
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// An error, naming the kernel, unless rows can be found from features.
fn check(kernel: Kernel) -> Result<()> {
    match kernel.shape {
        Shape::Poly { degree, coef0: 0.0 } if degree % 2 == 0 => Err(Error::argument(format!(
            "the kernel `poly` of degree {degree} with coef0 = 0 has the same features for x and −x, so there is no one pre-image\n\
             hint: fit with coef0 above 0, or with an odd degree"
        ))),
        Shape::Linear | Shape::Poly { .. } | Shape::Cosine => Ok(()),
        _ if kernel.slope(1.0).is_some() => Ok(()),
        _ => Err(no_preimage(kernel)),
    }
}

fn no_preimage(kernel: Kernel) -> Error {
    Error::argument(format!(
        "the kernel `{}` has no pre-image here; kernels that have one: linear, poly, cosine, rbf, matern12, matern32, \
         matern52, rq",
        kernel.shape.name()
    ))
}

struct Search {
    kernel: Kernel,
    panel: Panel,
    points: Vec<f64>,
    p: usize,
    /// Largest distance of a landmark from the first in any one column.
    spread: f64,
}

impl Search {
    fn new(kernel: Kernel, landmarks: &Rows) -> Self {
        let points = landmarks.to_dense();
        let p = landmarks.p();
        let first = &points[..p];
        let spread = points
            .chunks_exact(p)
            .flat_map(|row| row.iter().zip(first).map(|(a, b)| (a - b).abs()))
            .fold(0.0, f64::max);
        Self { kernel, panel: Panel::new(kernel, landmarks), points, p, spread }
    }

    /// `values`: ⟨φ(l_i), Φ⟩; `own`: k(l_i, l_i).
    fn run(&self, beta: &[f64], values: &[f64], own: &[f64]) -> Vec<f64> {
        let mut starts = vec![self.point(self.nearest(values, own)).to_vec()];
        match self.kernel.shape {
            Shape::Linear => return self.mix(beta),
            Shape::Cosine => return self.direction(beta),
            Shape::Poly { degree, coef0 } => {
                starts.push(self.mix(beta));
                if coef0 == 0.0 {
                    starts.extend(self.scaled(values, own, degree));
                }
            }
            _ => {
                let total: f64 = beta.iter().map(|b| b.abs()).sum();
                let shares = beta.iter().map(|b| b.abs() / total.max(f64::MIN_POSITIVE));
                starts.push(self.mix(&shares.collect::<Vec<_>>()));
            }
        }
        let climbed = starts.into_iter().map(|start| self.climb(beta, start));
        // Of equals the first, and what is not a number loses.
        let better = |best: (f64, Vec<f64>), next: (f64, Vec<f64>)| {
            if next.0 > best.0 || best.0.is_nan() { next } else { best }
        };
        climbed.reduce(better).map(|(_, x)| x).unwrap_or_default()
    }

    /// The landmark whose image is nearest to Φ.
    fn nearest(&self, values: &[f64], own: &[f64]) -> usize {
        let stationary = self.kernel.shape.is_stationary();
        let near = values.iter().zip(own).map(|(v, k)| if stationary { *v } else { v - k / 2.0 });
        near.enumerate()
            .fold((f64::NEG_INFINITY, 0), |best, (at, v)| if v > best.0 { (v, at) } else { best })
            .1
    }

    /// Landmarks whose directions are nearest to Φ, each as long as brings its image nearest. Where c = 0, φ(tx) = t^d φ(x),
    /// and ‖φ(tx) − Φ‖² is smallest at t^d = ⟨φ(x), Φ⟩/k(x,x).
    fn scaled(&self, values: &[f64], own: &[f64], degree: u32) -> Vec<Vec<f64>> {
        let mut places: Vec<usize> = (0..own.len()).filter(|&i| own[i] > 0.0).collect();
        let explained = |i: usize| values[i] * values[i] / own[i];
        places.sort_by(|&a, &b| explained(b).total_cmp(&explained(a)));
        let scaled = |&i: &usize| {
            let power = values[i] / own[i];
            let scale = power.signum() * power.abs().powf(1.0 / f64::from(degree));
            self.point(i).iter().map(|v| scale * v).collect()
        };
        places.iter().take(DIRECTIONS).map(scaled).collect()
    }

    /// Σ β_i l_i/‖l_i‖, as long as landmarks are on average; zeros if it is nothing.
    fn direction(&self, beta: &[f64]) -> Vec<f64> {
        let lengths: Vec<f64> = self.points.chunks_exact(self.p).map(length).collect();
        let weights: Vec<f64> = beta
            .iter()
            .zip(&lengths)
            .map(|(b, length)| if *length > 0.0 { b / length } else { 0.0 })
            .collect();
        let mean: f64 = lengths.iter().map(|length| length / lengths.len() as f64).sum();
        let mut x = self.mix(&weights);
        let own = length(&x);
        if own > 0.0 {
            x.iter_mut().for_each(|v| *v *= mean / own);
        }
        x
    }

    /// Climbs ⟨φ(x), Φ⟩ − ½k(x,x), which lowers ‖φ(x) − Φ‖²; where k(x,x) = 1 the first part alone, however small.
    fn climb(&self, beta: &[f64], mut x: Vec<f64>) -> (f64, Vec<f64>) {
        let mut value = self.value(beta, &x);
        for _ in 0..ITERATIONS {
            let step = match self.kernel.shape {
                Shape::Poly { degree, coef0 } => self.poly_step(beta, &x, degree.cast_signed() - 1, coef0),
                _ => self.step(beta, &x),
            };
            let mut share = 1.0;
            let mut moved = None;
            for _ in 0..30 {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x + share * s).collect();
                let there = self.value(beta, &next);
                if there >= value {
                    moved = Some((there, next));
                    break;
                }
                share /= 2.0;
            }
            let Some((there, next)) = moved else { break };
            let longest = step.iter().fold(0.0f64, |m, s| m.max((share * s).abs()));
            (value, x) = (there, next);
            if longest <= 1e-10 * self.spread {
                break;
            }
        }
        (value, x)
    }

    fn step(&self, beta: &[f64], x: &[f64]) -> Vec<f64> {
        let mut step = vec![0.0; self.p];
        let (mut sum, mut size) = (0.0, 0.0);
        for (point, b) in self.points.chunks_exact(self.p).zip(beta) {
            let distance: f64 = point.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum();
            // `matern12` has a kink at its landmarks; a distance of 1e−10 is as good as none.
            let slope = self.kernel.slope((self.kernel.gamma * distance).max(1e-20)).unwrap_or(0.0);
            let weight = b * slope;
            sum += weight;
            size += weight.abs();
            step.iter_mut().zip(point).zip(x).for_each(|((s, l), x)| *s += weight * (l - x));
        }
        let divisor = if sum > 0.1 * size { sum } else { size.max(f64::MIN_POSITIVE) };
        step.iter_mut().for_each(|s| *s /= divisor);
        step
    }

    /// `power`: the degree less 1.
    fn poly_step(&self, beta: &[f64], x: &[f64], power: i32, coef0: f64) -> Vec<f64> {
        let gamma = self.kernel.gamma;
        let own = gamma * x.iter().map(|v| v * v).sum::<f64>() + coef0;
        if own <= 0.0 {
            return vec![0.0; self.p];
        }
        let ratio = |point: &[f64]| {
            let product: f64 = point.iter().zip(x).map(|(a, b)| a * b).sum();
            ((gamma * product + coef0) / own).powi(power)
        };
        let weights: Vec<f64> =
            self.points.chunks_exact(self.p).zip(beta).map(|(point, b)| b * ratio(point)).collect();
        let mut step = self.mix(&weights);
        step.iter_mut().zip(x).for_each(|(s, x)| *s -= x);
        // M⁻¹ by Sherman and Morrison.
        let share = f64::from(power) * gamma / own;
        let along: f64 = step.iter().zip(x).map(|(s, x)| s * x).sum();
        let part = share * along / (1.0 + share * (own - coef0) / gamma);
        step.iter_mut().zip(x).for_each(|(s, x)| *s -= part * x);
        step
    }

    fn value(&self, beta: &[f64], x: &[f64]) -> f64 {
        let mut k = vec![0.0; beta.len()];
        let mut own = 0.0;
        if let Ok(row) = Rows::dense(x, 1, self.p) {
            self.panel.fill(&row, &mut k);
            if !self.kernel.shape.is_stationary() {
                own = diagonal(self.kernel, &row)[0];
            }
        }
        k.iter().zip(beta).map(|(k, b)| k * b).sum::<f64>() - own / 2.0
    }

    fn point(&self, i: usize) -> &[f64] {
        &self.points[i * self.p..(i + 1) * self.p]
    }

    fn mix(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.p];
        for (point, w) in self.points.chunks_exact(self.p).zip(weights) {
            out.iter_mut().zip(point).for_each(|(o, l)| *o += w * l);
        }
        out
    }
}
