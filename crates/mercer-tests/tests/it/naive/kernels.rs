//! Naive kernels, one formula each, from the two rows themselves.

use super::{Matrix, dot, zeros};

/// k(x, y) by name. `cosine` of a zero row is 0; a 0/0 term of `chi2` is 0.
pub fn kernel(name: &str, gamma: f64, degree: u32, coef0: f64, alpha: f64, x: &[f64], y: &[f64]) -> f64 {
    let r = (2.0 * gamma).sqrt() * squared_distance(x, y).sqrt();
    match name {
        "rbf" => (-gamma * squared_distance(x, y)).exp(),
        "laplacian" => (-gamma * manhattan_distance(x, y)).exp(),
        "linear" => dot(x, y),
        "poly" => {
            let mut power = 1.0;
            for _ in 0..degree {
                power *= gamma * dot(x, y) + coef0;
            }
            power
        }
        "sigmoid" => (gamma * dot(x, y) + coef0).tanh(),
        "cosine" => {
            let norms = dot(x, x).sqrt() * dot(y, y).sqrt();
            if norms > 0.0 { dot(x, y) / norms } else { 0.0 }
        }
        "matern12" => (-r).exp(),
        "matern32" => {
            let s = 3.0_f64.sqrt() * r;
            (1.0 + s) * (-s).exp()
        }
        "matern52" => {
            let s = 5.0_f64.sqrt() * r;
            (1.0 + s + 5.0 * r * r / 3.0) * (-s).exp()
        }
        "rq" => (1.0 + gamma * squared_distance(x, y) / alpha).powf(-alpha),
        "chi2" => {
            let mut sum = 0.0;
            for j in 0..x.len() {
                assert!(x[j] >= 0.0 && y[j] >= 0.0, "chi2 wants non-negative rows");
                if x[j] + y[j] > 0.0 {
                    sum += (x[j] - y[j]) * (x[j] - y[j]) / (x[j] + y[j]);
                }
            }
            (-gamma * sum).exp()
        }
        "additive_chi2" => {
            let mut sum = 0.0;
            for j in 0..x.len() {
                assert!(x[j] >= 0.0 && y[j] >= 0.0, "additive_chi2 wants non-negative rows");
                if x[j] + y[j] > 0.0 {
                    sum += 2.0 * x[j] * y[j] / (x[j] + y[j]);
                }
            }
            sum
        }
        "match" => {
            let mut equal = 0.0;
            for j in 0..x.len() {
                if x[j] == y[j] {
                    equal += 1.0;
                }
            }
            equal / x.len() as f64
        }
        _ => panic!("no kernel is called {name}"),
    }
}

/// K of rows x against themselves, n×n.
pub fn gram(name: &str, gamma: f64, degree: u32, coef0: f64, alpha: f64, x: &Matrix) -> Matrix {
    cross_gram(name, gamma, degree, coef0, alpha, x, x)
}

/// k(x_i, y_j), one row of the result for each row of x.
pub fn cross_gram(
    name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
    alpha: f64,
    x: &Matrix,
    y: &Matrix,
) -> Matrix {
    let mut k = zeros(x.len(), y.len());
    for i in 0..x.len() {
        for j in 0..y.len() {
            k[i][j] = kernel(name, gamma, degree, coef0, alpha, &x[i], &y[j]);
        }
    }
    k
}

/// ‖x − y‖².
pub fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for j in 0..x.len() {
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    }
    sum
}

/// ‖x − y‖₁.
pub fn manhattan_distance(x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for j in 0..x.len() {
        sum += (x[j] - y[j]).abs();
    }
    sum
}

/// The n×n matrix 1/(i+j−1), rows counted from one: positive definite, numerically of low rank (TAKES, sec. 3.1).
pub fn hilbert(n: usize) -> Matrix {
    let mut h = zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            h[i][j] = 1.0 / (i + j + 1) as f64;
        }
    }
    h
}
