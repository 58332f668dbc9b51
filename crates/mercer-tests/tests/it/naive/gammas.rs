//! Naive rules for γ, and the leave-one-out error by n refits.

use super::{
    Matrix, alignment, center_columns, dot, gram, matmul, solve, squared_distance, transpose, width,
};

/// `scale`: 1/(p·var X), the variance of all entries about their one mean; laplacian: 1/(p·sd X).
/// Entries without variance give 1, as in scikit-learn.
pub fn gamma_scale(x: &Matrix, laplacian: bool) -> f64 {
    let count = (x.len() * width(x)) as f64;
    let mean = x.iter().flatten().sum::<f64>() / count;
    let variance = x.iter().flatten().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    let spread = if laplacian { variance.sqrt() } else { variance };
    if spread > 0.0 { 1.0 / (width(x) as f64 * spread) } else { 1.0 }
}

/// `auto`: 1/p.
pub fn gamma_auto(x: &Matrix) -> f64 {
    1.0 / width(x) as f64
}

/// `median`: 1/(2·median‖x−x'‖²) over all pairs i < j; infinite when most pairs are equal rows.
pub fn gamma_median(x: &Matrix) -> f64 {
    let mut distances = Vec::new();
    for i in 0..x.len() {
        for j in i + 1..x.len() {
            distances.push(squared_distance(&x[i], &x[j]));
        }
    }
    1.0 / (2.0 * median(&distances))
}

/// The middle value; of an even number, the mean of the two middle ones (numpy's convention).
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// scale × 10^{−2, −1.5, …, 1.5}: the eight widths that `align` and `loo` try.
pub fn grid(scale: f64) -> Vec<f64> {
    (0..8).map(|step| scale * 10.0_f64.powf(-2.0 + 0.5 * f64::from(step))).collect()
}

/// `align`: the γ of the grid whose rbf Gram matrix has the largest centred alignment with Y Yᵀ.
/// Equal alignments go to the smaller γ.
pub fn gamma_align(x: &Matrix, y: &Matrix) -> f64 {
    let target = matmul(y, &transpose(y));
    let mut best = (f64::NEG_INFINITY, 0.0);
    for gamma in grid(gamma_scale(x, false)) {
        let value = alignment(&gram("rbf", gamma, 0, 0.0, 1.0, x), &target, true);
        if value > best.0 {
            best = (value, gamma);
        }
    }
    best.1
}

/// Mean over all rows and label columns of the squared error of ridge fitted without that row; the intercept is
/// not penalised. n refits, no closed form.
pub fn ridge_loo_error(z: &Matrix, y: &Matrix, penalty: f64) -> f64 {
    let n = z.len();
    let mut sum = 0.0;
    for left_out in 0..n {
        let mut features = z.clone();
        let mut targets = y.clone();
        features.remove(left_out);
        targets.remove(left_out);
        let (weights, intercept) = ridge(&features, &targets, penalty);
        for c in 0..width(y) {
            let mut fit = intercept[c];
            for j in 0..width(z) {
                fit += z[left_out][j] * weights[j][c];
            }
            sum += (y[left_out][c] - fit) * (y[left_out][c] - fit);
        }
    }
    sum / (n * width(y)) as f64
}

/// Ridge on centred columns: weights m×c and one intercept a column.
pub fn ridge(z: &Matrix, y: &Matrix, penalty: f64) -> (Matrix, Vec<f64>) {
    let centred = center_columns(z);
    let mut normal = matmul(&transpose(&centred), &centred);
    for j in 0..normal.len() {
        normal[j][j] += penalty;
    }
    let weights = solve(&normal, &matmul(&transpose(&centred), &center_columns(y)));
    let mean = |a: &Matrix| -> Vec<f64> {
        transpose(a).iter().map(|column| column.iter().sum::<f64>() / column.len() as f64).collect()
    };
    let (z_mean, y_mean) = (mean(z), mean(y));
    let columns = transpose(&weights);
    let intercept = (0..width(y))
        .map(|c| y_mean[c] - if z_mean.is_empty() { 0.0 } else { dot(&z_mean, &columns[c]) })
        .collect();
    (weights, intercept)
}
