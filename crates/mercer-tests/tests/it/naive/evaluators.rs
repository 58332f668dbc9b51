//! Naive evaluators.

use super::{
    Matrix, center_columns, dot, jacobi_eigen, matmul, one_hot, ridge, ridge_loo_error, transpose, width,
};

/// For each row of distances (test × train) the indices of the k nearest, ties to the lower index.
pub fn nearest(distances: &Matrix, k: usize) -> Vec<Vec<usize>> {
    distances
        .iter()
        .map(|line| {
            let mut order: Vec<usize> = (0..line.len()).collect();
            order.sort_by(|&a, &b| line[a].total_cmp(&line[b]).then(a.cmp(&b)));
            order.truncate(k);
            order
        })
        .collect()
}

/// The class most of these rows have; of several the one whose row comes first.
pub fn majority(near: &[usize], codes: &[usize]) -> usize {
    let votes = |code: usize| near.iter().filter(|&&j| codes[j] == code).count();
    let most = near.iter().map(|&j| votes(codes[j])).max().expect("a neighbour");
    near.iter().map(|&j| codes[j]).find(|&code| votes(code) == most).expect("a class")
}

/// Fits of new rows by ridge whose penalty, of 10^{−8, …, 4} × the mean eigenvalue of the centred scatter (of the smaller
/// side), has the smallest leave-one-out error.
pub fn ridge_fits(train: &Matrix, y: &Matrix, test: &Matrix) -> Matrix {
    let z = center_columns(train);
    let side = train.len().min(width(train));
    let mean = z.iter().map(|row| dot(row, row)).sum::<f64>() / side as f64;
    let mut best = (f64::INFINITY, 0.0);
    for step in -16..=8 {
        let penalty = mean * 10f64.powf(f64::from(step) / 2.0);
        let error = ridge_loo_error(train, y, penalty);
        if error < best.0 {
            best = (error, penalty);
        }
    }
    let (weights, intercept) = ridge(train, y, best.1);
    add_rows(&matmul(test, &weights), &intercept)
}

/// Fits of new rows by least squares with an intercept, weights of the smallest norm: those of the pseudo-inverse, from
/// the eigenvectors of the centred scatter.
pub fn least_squares_fits(train: &Matrix, y: &Matrix, test: &Matrix) -> Matrix {
    let z = center_columns(train);
    let (values, vectors) = jacobi_eigen(&matmul(&transpose(&z), &z));
    let along = matmul(&transpose(&vectors), &matmul(&transpose(&z), &center_columns(y)));
    let shrunk: Matrix = along
        .iter()
        .zip(&values)
        .map(|(row, &v)| row.iter().map(|a| if v > 1e-12 * values[0] { a / v } else { 0.0 }).collect())
        .collect();
    let weights = matmul(&vectors, &shrunk);
    let (x_mean, y_mean) = (means(train), means(y));
    let centred: Matrix =
        test.iter().map(|row| row.iter().zip(&x_mean).map(|(v, m)| v - m).collect()).collect();
    add_rows(&matmul(&centred, &weights), &y_mean)
}

/// One-hot columns of 0..c.
pub fn one_hot_all(codes: &[usize]) -> Matrix {
    one_hot(codes, codes.iter().max().expect("a row") + 1)
}

/// The column with the largest fit.
pub fn largest(fits: &Matrix) -> Vec<usize> {
    fits.iter()
        .map(|row| (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("a column"))
        .collect()
}

/// ½‖w‖² + c Σ max(0, 1 − y⟨w,x⟩)² with a column of ones, by gradient steps until they are tiny.
pub fn linear_machine(x: &Matrix, y: &[f64], c: f64) -> Vec<f64> {
    let rows: Matrix = x.iter().map(|row| row.iter().copied().chain([1.0]).collect()).collect();
    let size = width(&rows);
    let objective = |w: &[f64]| {
        let losses = rows.iter().zip(y).map(|(x, y)| (1.0 - y * dot(w, x)).max(0.0).powi(2));
        0.5 * dot(w, w) + c * losses.sum::<f64>()
    };
    let mut w = vec![0.0; size];
    let mut step = 1.0;
    for _ in 0..200_000 {
        let mut gradient = w.clone();
        for (x, y) in rows.iter().zip(y) {
            let missed = (1.0 - y * dot(&w, x)).max(0.0);
            for j in 0..size {
                gradient[j] -= 2.0 * c * missed * y * x[j];
            }
        }
        let square = dot(&gradient, &gradient);
        if square < 1e-18 {
            break;
        }
        let before = objective(&w);
        step *= 2.0;
        loop {
            let tried: Vec<f64> = (0..size).map(|j| w[j] - step * gradient[j]).collect();
            if objective(&tried) <= before - 0.25 * step * square || step < 1e-14 {
                w = tried;
                break;
            }
            step /= 2.0;
        }
    }
    w
}

fn means(a: &Matrix) -> Vec<f64> {
    transpose(a).iter().map(|column| column.iter().sum::<f64>() / column.len() as f64).collect()
}

fn add_rows(a: &Matrix, row: &[f64]) -> Matrix {
    a.iter().map(|line| line.iter().zip(row).map(|(v, r)| v + r).collect()).collect()
}
