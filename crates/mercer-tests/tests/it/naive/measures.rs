//! Naive measures of matrices, and the relevant dimension.

use super::{
    Matrix, center_columns, center_gram, dot, frobenius, identity, jacobi_eigen, matmul, subtract, transpose,
};

/// E(M): mean over the rows of the residual norm √(k(x,x) − ‖z‖²) (TAKES, eq. 19).
pub fn reconstruction_cost(k_diag: &[f64], z: &Matrix) -> f64 {
    let mut sum = 0.0;
    for i in 0..k_diag.len() {
        sum += (k_diag[i] - dot(&z[i], &z[i])).max(0.0).sqrt();
    }
    sum / k_diag.len() as f64
}

/// ‖A K_ll Aᵀ − I‖, Frobenius norm.
pub fn orthogonality_loss(a: &Matrix, k_ll: &Matrix) -> f64 {
    let product = matmul(&matmul(a, k_ll), &transpose(a));
    frobenius(&subtract(&product, &identity(a.len())))
}

/// ⟨K₁, K₂⟩/(‖K₁‖·‖K₂‖), both centred first if asked; 0 when either is zero.
pub fn alignment(k1: &Matrix, k2: &Matrix, center: bool) -> f64 {
    if center {
        return alignment(&center_gram(k1), &center_gram(k2), false);
    }
    let norms = frobenius(k1) * frobenius(k2);
    let inner: f64 = k1.iter().zip(k2).map(|(row, other)| dot(row, other)).sum();
    if norms > 0.0 { inner / norms } else { 0.0 }
}

/// Relevant dimension d and the noise variance Σ_{i>d}s_i²/(n−d) (Braun et al. 2008): centred K and Y,
/// every d from 1 to n−1.
pub fn relevant_dimension(k: &Matrix, y: &Matrix) -> (usize, f64) {
    relevant_dimension_up_to(&label_energies(k, y), k.len() - 1)
}

/// Relevant dimension and noise variance from given s_i², over every d from 1 to `last`; the smallest d on equal values.
pub fn relevant_dimension_up_to(energies: &[f64], last: usize) -> (usize, f64) {
    let n = energies.len();
    let mut best = (f64::INFINITY, 0, 0.0);
    for d in 1..=last {
        let signal = energies[..d].iter().sum::<f64>() / d as f64;
        let noise = energies[d..].iter().sum::<f64>() / (n - d) as f64;
        let share = d as f64 / n as f64;
        let value = share * signal.max(1e-300).ln() + (1.0 - share) * noise.max(1e-300).ln();
        if value < best.0 {
            best = (value, d, noise);
        }
    }
    (best.1, best.2)
}

/// s_i² = Σ over label columns of (u_iᵀy)², u_i the eigenvectors of the centred K, y centred.
pub fn label_energies(k: &Matrix, y: &Matrix) -> Vec<f64> {
    let (_, vectors) = jacobi_eigen(&center_gram(k));
    let products = matmul(&transpose(&vectors), &center_columns(y));
    products.iter().map(|row| dot(row, row)).collect()
}
