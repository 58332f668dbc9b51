//! Slopes of kernels and of features along the inputs, pair by pair.

use super::{Matrix, dot, kernel, squared_distance, zeros};

/// ∂k(x, y)/∂x_j; 0 where there is none.
#[expect(clippy::too_many_arguments, reason = "the settings of a kernel, a pair and a column")]
pub fn kernel_slope(
    name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
    alpha: f64,
    x: &[f64],
    y: &[f64],
    j: usize,
) -> f64 {
    let k = kernel(name, gamma, degree, coef0, alpha, x, y);
    let (difference, distance) = (x[j] - y[j], squared_distance(x, y).sqrt());
    if distance == 0.0 && name.starts_with("matern") {
        return 0.0;
    }
    match name {
        "rbf" => -2.0 * gamma * difference * k,
        "laplacian" if difference == 0.0 => 0.0,
        "laplacian" => -gamma * difference.signum() * k,
        "linear" => y[j],
        "poly" => {
            let mut slope = f64::from(degree) * gamma * y[j];
            for _ in 1..degree {
                slope *= gamma * dot(x, y) + coef0;
            }
            slope
        }
        "sigmoid" => gamma * y[j] * (1.0 - k * k),
        "cosine" => {
            let (a, b) = (dot(x, x).sqrt(), dot(y, y).sqrt());
            if a * b > 0.0 { (y[j] / b - k * x[j] / a) / a } else { 0.0 }
        }
        "matern12" => -k * (2.0 * gamma).sqrt() * difference / distance,
        "matern32" => -6.0 * gamma * difference * (-(6.0 * gamma).sqrt() * distance).exp(),
        "matern52" => {
            let s = (10.0 * gamma).sqrt() * distance;
            -(s + s * s) / 3.0 * (-s).exp() * (10.0 * gamma).sqrt() * difference / distance
        }
        "rq" => -2.0 * gamma * difference * (1.0 + gamma * distance * distance / alpha).powf(-alpha - 1.0),
        "chi2" | "additive_chi2" if x[j] + y[j] == 0.0 => 0.0,
        "chi2" => -gamma * k * difference * (x[j] + 3.0 * y[j]) / ((x[j] + y[j]) * (x[j] + y[j])),
        "additive_chi2" => 2.0 * y[j] * y[j] / ((x[j] + y[j]) * (x[j] + y[j])),
        "match" => 0.0,
        _ => panic!("no kernel is called {name}"),
    }
}

/// Mean over the rows x of (Σ_l a_ql s(x_i, landmark_l, j))², q×p.
pub fn squared_slopes(
    a: &Matrix,
    x: &Matrix,
    landmarks: &Matrix,
    slope: impl Fn(&[f64], &[f64], usize) -> f64,
) -> Matrix {
    let p = x[0].len();
    let mut sum = zeros(a.len(), p);
    for row in x {
        for j in 0..p {
            let slopes: Vec<f64> = landmarks.iter().map(|y| slope(row, y, j)).collect();
            for q in 0..a.len() {
                sum[q][j] += dot(&a[q], &slopes).powi(2) / x.len() as f64;
            }
        }
    }
    sum
}
