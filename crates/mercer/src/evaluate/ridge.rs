//! Ridge regression and least squares on the labels.
//!
//! Classes are one-hot columns, and the class with the largest fitted value wins. Ridge: one decomposition gives every
//! penalty and every leave-one-out prediction ([`Ridge`]); of the penalties 10^{−8, −7.5, …, 4} × the mean eigenvalue the one
//! with the smallest error is taken. Least squares: a triangular factor of the centred rows, panel by panel, and its
//! singular values; those below eps·max(n, p) of the largest count as 0.
//!
//! cost    n·p² flops where n ≥ p, else n²·p; memory min(n, p)² besides the rows
//! source  Allen 1974 (leave-one-out)
//! differs where n < p everything is computed from products of rows; sparse rows beyond 1 GB when dense stay sparse, and
//!         least squares then counts eigenvalues below 1e−12 of the largest as 0

use faer::{Mat, MatRef};

use super::evaluator::Evaluation;
use super::measures::Predictions;
use super::rescale::rescaled;
use crate::basis::ridge::{Ridge, means};
use crate::data::labels::Labels;
use crate::data::rows::{F64Rows, Rows};
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};
use crate::kernel::block::PANEL;
use crate::kernel::gamma::center_weighted_gram;
use crate::kernel::{Kernel, Panel};
use crate::linalg::{eigen, gram, in_order, left_singular, product, triangular_factor};
use crate::monitor::Monitor;
use crate::options::{DEFAULT_MEMORY, bytes};

/// Sparse rows that take no more than this are converted to dense ones.
const DENSIFY_MAX_BYTES: u64 = 1 << 30;

pub(super) fn predict(
    train: &Rows,
    labels: &Labels,
    row_weights: Option<&Weights>,
    test: &Rows,
    penalised: bool,
    monitor: &Monitor,
) -> Result<Evaluation> {
    let scaled = rescaled(train, test);
    let (train, test) = scaled.as_ref().map_or((train, test), |(train, test)| (train, test));
    check_memory(train, penalised)?;
    let (y, c, units) = labels.centered_by(row_weights);
    let y = MatRef::from_row_major_slice(&y, train.n(), c);
    let (means, weights) = match (train.p() > train.n(), penalised) {
        (true, _) => wide(train, y, row_weights, penalised, monitor)?,
        (false, true) => {
            let ridge = Ridge::new(train, y, row_weights, monitor)?;
            let penalty = best_penalty(&ridge, train, y, monitor)?;
            let weights = ridge.weights(penalty);
            (ridge.means, weights)
        }
        (false, false) => least_squares(train, y, monitor)?,
    };
    let fits = fits(&means, weights.as_ref(), test, monitor)?;
    let predictions = match labels {
        Labels::Classes { codes, .. } => Predictions::Classes(largest(&fits, &shares(codes, c, row_weights))),
        Labels::Numbers(_) => {
            let mean = labels.target_means(row_weights)[0];
            Predictions::Numbers(fits.iter().map(|fit| fit * units[0] + mean).collect())
        }
        Labels::Several { .. } => unreachable!("several targets are refused by `check_rows`"),
    };
    let scores = match labels {
        Labels::Classes { codes, .. } => {
            let shares = shares(codes, c, row_weights);
            Some(Mat::from_fn(test.n(), c, |i, j| fits[i * c + j] + shares[j]))
        }
        Labels::Numbers(_) | Labels::Several { .. } => None,
    };
    let probabilities = scores.as_ref().map(|scores| probabilities(scores, train.n()));
    Ok(Evaluation { scores, probabilities, ..Evaluation::of(predictions) })
}

fn check_memory(rows: &Rows, penalised: bool) -> Result<()> {
    let side = rows.n().min(rows.p()) as u64;
    // A square matrix, its eigenvectors, and the decomposition's workspace.
    let needed = 4 * 8 * side * side;
    if needed <= DEFAULT_MEMORY {
        return Ok(());
    }
    Err(Error::Memory(format!(
        "`{}` on {} rows of {} columns needs {}, but the budget is {}\n\
         hint: keep fewer columns or take a sample of the rows; for classes `linear-svm` needs no such matrix",
        if penalised { "ridge" } else { "linear" },
        rows.n(),
        rows.p(),
        bytes(needed),
        bytes(DEFAULT_MEMORY)
    )))
}

fn best_penalty(ridge: &Ridge, rows: &Rows, y: MatRef<'_, f64>, monitor: &Monitor) -> Result<f64> {
    let penalties = ridge.penalties();
    let errors = ridge.errors(rows, y, &penalties, monitor)?;
    let best = (0..errors.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
    Ok(penalties[best])
}

/// Means and weights where there are more columns than rows, from K = ZZᵀ = U Λ Uᵀ: the rows U√Λ have the same products.
/// With weights the rows and labels are multiplied by their roots.
fn wide(
    rows: &Rows,
    y: MatRef<'_, f64>,
    weights: Option<&Weights>,
    penalised: bool,
    monitor: &Monitor,
) -> Result<(Vec<f64>, Mat<f64>)> {
    let (n, p) = (rows.n(), rows.p());
    let means = means(rows, weights);
    let root = |i: usize| weight(weights, i).sqrt();
    let y = Mat::from_fn(n, y.ncols(), |i, j| root(i) * y[(i, j)]);
    let y = y.as_ref();
    let dense = !rows.is_sparse() || 8 * n as u64 * p as u64 <= DENSIFY_MAX_BYTES;
    if !dense {
        let mut products = vec![0.0; n * n];
        Panel::new(Kernel::linear(), rows).fill_all(rows, &mut products);
        let mut k = MatRef::from_row_major_slice(&products, n, n).to_owned();
        drop(products);
        center_weighted_gram(&mut k, weights);
        let (values, vectors) = eigen(k, monitor)?;
        let zero = if penalised { None } else { Some(1e-12) };
        let mut coefficients = coefficients(&values, &vectors, y, weights, zero, monitor)?;
        for column in coefficients.col_iter_mut() {
            column.iter_mut().enumerate().for_each(|(i, v)| *v *= root(i));
        }
        return Ok((means, combined(rows, &coefficients)));
    }
    let values = rows.to_dense();
    let z = Mat::from_fn(n, p, |i, j| root(i) * (values[i * p + j] - means[j]));
    drop(values);
    let (values, vectors) = if penalised {
        eigen(gram(z.transpose(), monitor)?, monitor)?
    } else {
        let (lengths, vectors) = left_singular(z.clone(), monitor)?;
        (lengths.into_iter().map(|s| s * s).collect(), vectors)
    };
    let zero = (f64::EPSILON * p as f64).powi(2);
    let zero = if penalised { None } else { Some(zero) };
    let coefficients = coefficients(&values, &vectors, y, weights, zero, monitor)?;
    Ok((means, product(z.transpose(), coefficients.as_ref())))
}

/// Coefficients of the rows, U·(Λ + λ)⁻¹·Uᵀy. With `zero` there is no penalty, and eigenvalues up to this share of the
/// largest count as 0.
fn coefficients(
    values: &[f64],
    vectors: &Mat<f64>,
    y: MatRef<'_, f64>,
    weights: Option<&Weights>,
    zero: Option<f64>,
    monitor: &Monitor,
) -> Result<Mat<f64>> {
    let (r, c) = (values.len(), y.ncols());
    let along = product(vectors.transpose(), y);
    let factors: Vec<f64> = if let Some(zero) = zero {
        let floor = zero * values.first().copied().unwrap_or(0.0);
        values.iter().map(|&v| if v > floor { 1.0 / v } else { 0.0 }).collect()
    } else {
        let values: Vec<f64> = values.iter().map(|v| v.max(0.0)).collect();
        // The errors are of the rows themselves.
        let root = |i: usize| weight(weights, i).sqrt();
        let rotated = Mat::from_fn(vectors.nrows(), r, |i, d| vectors[(i, d)] * values[d].sqrt() / root(i));
        let y = Mat::from_fn(y.nrows(), c, |i, j| y[(i, j)] / root(i));
        let toward = Mat::from_fn(r, c, |d, j| values[d].sqrt() * along[(d, j)]);
        let ridge = Ridge::rotated_by(values, toward, weights);
        let penalty = best_penalty(&ridge, &Rows::from_mat(rotated.as_ref()), y.as_ref(), monitor)?;
        ridge.values.iter().map(|v| 1.0 / (v + penalty)).collect()
    };
    let shrunk = Mat::from_fn(r, c, |d, j| along[(d, j)] * factors[d]);
    Ok(product(vectors.as_ref(), shrunk.as_ref()))
}

/// Xᵀa for sparse rows. The coefficients of centred rows sum to 0, so the means drop out.
fn combined(rows: &Rows, coefficients: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(rows.p(), coefficients.ncols());
    let Rows::Sparse(csr) = rows else { unreachable!("dense rows are multiplied") };
    for i in 0..rows.n() {
        let (columns, values) = csr.row(i);
        for s in 0..coefficients.ncols() {
            let a = coefficients[(i, s)];
            columns.iter().zip(values).for_each(|(&j, v)| out[(j as usize, s)] += a * v);
        }
    }
    out
}

/// Means and minimum-norm weights, where there are no more columns than rows.
fn least_squares(rows: &Rows, y: MatRef<'_, f64>, monitor: &Monitor) -> Result<(Vec<f64>, Mat<f64>)> {
    let (n, p, c) = (rows.n(), rows.p(), y.ncols());
    let means = means(rows, None);
    let width = p + c;
    // Tall panels, so that merging their factors is a small part of the work.
    let height = (4 * width).max(PANEL);
    let part = |at: usize| {
        let start = at * height;
        let panel = rows.slice(start..n.min(start + height));
        let values = panel.to_dense();
        triangular_factor(Mat::from_fn(panel.n(), width, |i, j| {
            if j < p { values[i * p + j] - means[j] } else { y[(start + i, j - p)] }
        }))
    };
    let mut factor: Option<Mat<f64>> = None;
    in_order(n.div_ceil(height), 8 * height * width, monitor, part, |part| {
        factor = Some(match factor.take() {
            None => part,
            Some(above) => {
                let rows = above.nrows();
                triangular_factor(Mat::from_fn(rows + part.nrows(), width, |i, j| {
                    if i < rows { above[(i, j)] } else { part[(i - rows, j)] }
                }))
            }
        });
        Ok(())
    })?;
    let Some(factor) = factor else { unreachable!("there are rows") };
    let height = factor.nrows().min(p);
    let (r, side) = (factor.submatrix(0, 0, height, p), factor.submatrix(0, p, height, c));
    // R = U S Vᵀ: weights V S⁻¹ Uᵀ side, with U S = R V.
    let (lengths, v) = left_singular(r.transpose().to_owned(), monitor)?;
    let floor = f64::EPSILON * n as f64 * lengths.first().copied().unwrap_or(0.0);
    let along = product(product(r, v.as_ref()).transpose(), side);
    let shrunk = Mat::from_fn(lengths.len(), c, |d, j| {
        if lengths[d] > floor { along[(d, j)] / lengths[d] / lengths[d] } else { 0.0 }
    });
    Ok((means, product(v.as_ref(), shrunk.as_ref())))
}

/// (x − means)·weights for all rows, row-major.
fn fits(means: &[f64], weights: MatRef<'_, f64>, rows: &Rows, monitor: &Monitor) -> Result<Vec<f64>> {
    let c = weights.ncols();
    let offset: Vec<f64> =
        (0..c).map(|s| means.iter().zip(weights.col(s).iter()).map(|(m, w)| m * w).sum()).collect();
    let part = |at: usize| {
        let rows = rows.slice(at * PANEL..rows.n().min((at + 1) * PANEL));
        let mut out = Vec::with_capacity(rows.n() * c);
        match rows.as_f64() {
            F64Rows::Dense(d) => {
                let z = Mat::from_fn(rows.n(), rows.p(), |i, j| d.row(i)[j] - means[j]);
                let fitted = product(z.as_ref(), weights);
                (0..rows.n()).for_each(|i| out.extend(fitted.row(i).iter()));
            }
            F64Rows::Sparse(s) => {
                for i in 0..rows.n() {
                    let (columns, values) = s.row(i);
                    for (j, offset) in offset.iter().enumerate() {
                        let terms = columns.iter().zip(values).map(|(&at, v)| v * weights[(at as usize, j)]);
                        out.push(terms.sum::<f64>() - offset);
                    }
                }
            }
        }
        out
    };
    let mut all = Vec::with_capacity(rows.n() * c);
    in_order(rows.n().div_ceil(PANEL), 8 * PANEL * c, monitor, part, |part| {
        all.extend(part);
        Ok(())
    })?;
    Ok(all)
}

/// The share of the rows that each class has.
fn shares(codes: &[usize], c: usize, weights: Option<&Weights>) -> Vec<f64> {
    let (mut shares, all) = (vec![0.0; c], total(weights, codes.len()));
    codes.iter().enumerate().for_each(|(i, &code)| shares[code] += weight(weights, i) / all);
    shares
}

/// Fitted values of one-hot columns are least-squares estimates of probabilities: cut off at 1/n and made to add up to 1.
fn probabilities(scores: &Mat<f64>, n: usize) -> Mat<f64> {
    let mut p = scores.clone();
    for i in 0..p.nrows() {
        let row = |j: usize| scores[(i, j)].max(1.0 / n as f64);
        let sum: f64 = (0..p.ncols()).map(row).sum();
        (0..p.ncols()).for_each(|j| p[(i, j)] = row(j) / sum);
    }
    p
}

/// The class with the largest fitted value, after its share of the training rows is added back. Only classes with
/// training rows count; the first of equal ones wins.
fn largest(fits: &[f64], shares: &[f64]) -> Vec<usize> {
    let c = shares.len();
    let present: Vec<usize> = (0..c).filter(|&j| shares[j] > 0.0).collect();
    let best = |fits: &[f64]| {
        let mut best = (f64::NEG_INFINITY, present[0]);
        for &j in &present {
            if fits[j] + shares[j] > best.0 {
                best = (fits[j] + shares[j], j);
            }
        }
        best.1
    };
    fits.chunks_exact(c).map(best).collect()
}
