//! Naive references: slow, obvious versions of what the library computes, for comparison with the fast ones.
//!
//!   Matrix = rows of numbers; every function is plain loops, for n up to about 300
//!
//! kernels     formulas and the Gram matrix
//! bases       gram-schmidt, kobl, sparse, nystrom, kfa, kpca, csi
//! gammas      the rules for γ, and leave-one-out ridge by refitting
//! reliefs     neighbours and the Relief family
//! selectors   kffs, F-test, mutual information, Laplacian score, lasso; tails of t and F
//! measures    reconstruction cost, loss of orthogonality, alignment, relevant dimension
//! extractors  from coordinates and distances, not re-exported: `naive::extractors::gda`
//! subspaces   skfe
//! evaluators  not re-exported: `naive::evaluators::majority`
//! slopes      derivatives of kernels and features with respect to the inputs
//!
//! This file holds the small dense algebra they share and the data they are tried on.
#![allow(dead_code, unused_imports, reason = "each test file uses a part")]
#![allow(unreachable_pub, reason = "one word for what the test files may call")]
#![allow(clippy::needless_range_loop, reason = "the loops carry the indices of the formulas")]
#![allow(clippy::doc_markdown, reason = "subscripts in formulas are not code")]

mod kernels;
mod bases;
mod gammas;
mod reliefs;
mod selectors;
pub mod extractors;
pub mod subspaces;
mod measures;
pub mod evaluators;
mod slopes;

pub use bases::*;
pub use gammas::*;
pub use kernels::*;
pub use measures::*;
pub use reliefs::*;
pub use selectors::*;
pub use slopes::*;

/// Rows of equal length.
pub type Matrix = Vec<Vec<f64>>;

/// A matrix of zeros.
pub fn zeros(rows: usize, columns: usize) -> Matrix {
    vec![vec![0.0; columns]; rows]
}

/// The identity of order n.
pub fn identity(n: usize) -> Matrix {
    let mut a = zeros(n, n);
    for i in 0..n {
        a[i][i] = 1.0;
    }
    a
}

/// Number of columns; 0 when there are no rows.
pub fn width(a: &Matrix) -> usize {
    a.first().map_or(0, Vec::len)
}

/// Σ x_i y_i.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "two vectors of one length");
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i] * y[i];
    }
    sum
}

/// Aᵀ.
pub fn transpose(a: &Matrix) -> Matrix {
    let mut t = zeros(width(a), a.len());
    for i in 0..a.len() {
        for j in 0..width(a) {
            t[j][i] = a[i][j];
        }
    }
    t
}

/// A·B.
pub fn matmul(a: &Matrix, b: &Matrix) -> Matrix {
    let mut product = zeros(a.len(), width(b));
    for i in 0..a.len() {
        assert_eq!(a[i].len(), b.len(), "the inner sizes agree");
        for t in 0..b.len() {
            for j in 0..width(b) {
                product[i][j] += a[i][t] * b[t][j];
            }
        }
    }
    product
}

/// A·x.
pub fn matvec(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, x)).collect()
}

/// A − B.
pub fn subtract(a: &Matrix, b: &Matrix) -> Matrix {
    assert_eq!((a.len(), width(a)), (b.len(), width(b)), "two matrices of one shape");
    let mut difference = a.clone();
    for i in 0..a.len() {
        for j in 0..a[i].len() {
            difference[i][j] -= b[i][j];
        }
    }
    difference
}

/// Rows `rows` and columns `columns` of A.
pub fn submatrix(a: &Matrix, rows: &[usize], columns: &[usize]) -> Matrix {
    rows.iter().map(|&i| columns.iter().map(|&j| a[i][j]).collect()).collect()
}

/// Columns `columns` of A, all rows.
pub fn columns(a: &Matrix, columns: &[usize]) -> Matrix {
    a.iter().map(|row| columns.iter().map(|&j| row[j]).collect()).collect()
}

/// The diagonal.
pub fn diagonal(a: &Matrix) -> Vec<f64> {
    (0..a.len()).map(|i| a[i][i]).collect()
}

/// Sum of the diagonal.
pub fn trace(a: &Matrix) -> f64 {
    diagonal(a).iter().sum()
}

/// √ΣΣ a_ij².
pub fn frobenius(a: &Matrix) -> f64 {
    a.iter().map(|row| dot(row, row)).sum::<f64>().sqrt()
}

/// Largest |a_ij|; 0 for an empty matrix.
pub fn max_abs(a: &Matrix) -> f64 {
    a.iter().flatten().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// Each column less its mean.
pub fn center_columns(a: &Matrix) -> Matrix {
    let mut centred = a.clone();
    for j in 0..width(a) {
        let mean = a.iter().map(|row| row[j]).sum::<f64>() / a.len() as f64;
        for row in &mut centred {
            row[j] -= mean;
        }
    }
    centred
}

/// H K H with H = I − 11ᵀ/n: columns centred, then rows.
pub fn center_gram(k: &Matrix) -> Matrix {
    transpose(&center_columns(&transpose(&center_columns(k))))
}

/// The lower triangle C with C Cᵀ = A; panics unless A is numerically positive definite.
pub fn cholesky(a: &Matrix) -> Matrix {
    let n = a.len();
    let mut c = zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let mut rest = a[i][j];
            for t in 0..j {
                rest -= c[i][t] * c[j][t];
            }
            if i == j {
                assert!(rest > 0.0, "pivot {i} of a Cholesky factor is {rest}");
                c[i][i] = rest.sqrt();
            } else {
                c[i][j] = rest / c[j][j];
            }
        }
    }
    c
}

/// x with C·x = b, C lower triangular.
pub fn solve_lower(c: &Matrix, b: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    for i in 0..b.len() {
        let mut rest = b[i];
        for j in 0..i {
            rest -= c[i][j] * x[j];
        }
        x[i] = rest / c[i][i];
    }
    x
}

/// The inverse of a lower triangle, column by column.
pub fn invert_lower(c: &Matrix) -> Matrix {
    let columns: Matrix = identity(c.len()).iter().map(|e| solve_lower(c, e)).collect();
    transpose(&columns)
}

/// X with A·X = B, by Gaussian elimination with partial pivoting; panics on a zero pivot.
pub fn solve(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.len();
    assert_eq!(b.len(), n, "as many right-hand rows as equations");
    let mut a = a.clone();
    let mut b = b.clone();
    for step in 0..n {
        let mut pivot = step;
        for i in step + 1..n {
            if a[i][step].abs() > a[pivot][step].abs() {
                pivot = i;
            }
        }
        assert!(a[pivot][step].abs() > 0.0, "column {step} of a linear system has no pivot");
        a.swap(step, pivot);
        b.swap(step, pivot);
        for i in step + 1..n {
            let factor = a[i][step] / a[step][step];
            for j in step..n {
                a[i][j] -= factor * a[step][j];
            }
            for j in 0..width(&b) {
                b[i][j] -= factor * b[step][j];
            }
        }
    }
    for i in (0..n).rev() {
        for j in 0..width(&b) {
            let mut rest = b[i][j];
            for t in i + 1..n {
                rest -= a[i][t] * b[t][j];
            }
            b[i][j] = rest / a[i][i];
        }
    }
    b
}

/// Eigenvalues, descending, and eigenvectors as columns, of a symmetric matrix: cyclic Jacobi.
pub fn jacobi_eigen(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.len();
    let mut a = a.clone();
    let mut vectors = identity(n); // one eigenvector a row
    let enough = f64::EPSILON * frobenius(&a);
    let mut sweeps = 0;
    loop {
        let mut off = 0.0;
        for p in 0..n {
            for q in 0..n {
                if p != q {
                    off += a[p][q] * a[p][q];
                }
            }
        }
        if off.sqrt() <= enough {
            break;
        }
        assert!(sweeps < 60, "Jacobi has not converged: {} is left off the diagonal", off.sqrt());
        sweeps += 1;
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let values = diagonal(&a);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let sorted: Matrix = order.iter().map(|&i| vectors[i].clone()).collect();
    (order.iter().map(|&i| values[i]).collect(), transpose(&sorted))
}

/// One Jacobi rotation that makes a_pq zero.
fn rotate(a: &mut Matrix, vectors: &mut Matrix, p: usize, q: usize) {
    if a[p][q].abs() <= f64::MIN_POSITIVE {
        a[p][q] = 0.0;
        a[q][p] = 0.0;
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let sign = if theta >= 0.0 { 1.0 } else { -1.0 };
    let t = sign / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / t.hypot(1.0);
    let sine = t * cosine;
    let n = a.len();
    for i in 0..n {
        let (x, y) = (a[i][p], a[i][q]);
        a[i][p] = cosine * x - sine * y;
        a[i][q] = sine * x + cosine * y;
    }
    for i in 0..n {
        let (x, y) = (a[p][i], a[q][i]);
        a[p][i] = cosine * x - sine * y;
        a[q][i] = sine * x + cosine * y;
    }
    a[p][q] = 0.0;
    a[q][p] = 0.0;
    for i in 0..n {
        let (x, y) = (vectors[p][i], vectors[q][i]);
        vectors[p][i] = cosine * x - sine * y;
        vectors[q][i] = sine * x + cosine * y;
    }
}

/// Y: one row per label, one column per class, a single 1 in each row.
pub fn one_hot(labels: &[usize], classes: usize) -> Matrix {
    let mut y = zeros(labels.len(), classes);
    for (row, &label) in y.iter_mut().zip(labels) {
        row[label] = 1.0;
    }
    y
}

/// Splitmix64: the next 64 random bits.
pub fn random_bits(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A uniform number in (0, 1): 53 bits, and half a step above zero.
pub fn random_uniform(state: &mut u64) -> f64 {
    ((random_bits(state) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A standard normal number by Box–Muller.
pub fn random_normal(state: &mut u64) -> f64 {
    let radius = (-2.0 * random_uniform(state).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random_uniform(state)).cos()
}

/// n rows of p independent standard normal numbers; equal seeds give equal rows.
pub fn random_rows(n: usize, p: usize, seed: u64) -> Matrix {
    let mut state = seed;
    let mut rows = zeros(n, p);
    for row in &mut rows {
        for value in row {
            *value = random_normal(&mut state);
        }
    }
    rows
}

/// A seeded order of 0..n (Fisher–Yates).
pub fn random_order(n: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let j = (random_uniform(&mut state) * (i + 1) as f64) as usize;
        order.swap(i, j);
    }
    order
}

/// Small row sets that break careless code, each with its name.
pub fn nasty_sets() -> Vec<(&'static str, Matrix)> {
    let mut duplicates = random_rows(30, 4, 1);
    for i in 0..10 {
        let copy = duplicates[i].clone();
        duplicates[20 + i] = copy;
    }
    let copy = duplicates[2].clone();
    duplicates[7] = copy;

    let mut constant_column = random_rows(30, 4, 2);
    for row in &mut constant_column {
        row[1] = 3.0;
    }

    let base = random_rows(15, 5, 5);
    let noise = random_rows(15, 5, 6);
    let mut nearly_dependent = base.clone();
    for i in 0..15 {
        nearly_dependent.push((0..5).map(|j| base[i][j] + 1e-7 * noise[i][j]).collect());
    }

    let mut state = 10;
    let mut mostly_zeros = random_rows(30, 8, 9);
    for row in &mut mostly_zeros {
        for value in row {
            if random_uniform(&mut state) < 0.9 {
                *value = 0.0;
            }
        }
    }

    let shifted = |rows: Matrix, by: f64| -> Matrix {
        rows.into_iter().map(|row| row.into_iter().map(|v| v + by).collect()).collect()
    };
    let scaled = |rows: Matrix, by: f64| -> Matrix {
        rows.into_iter().map(|row| row.into_iter().map(|v| v * by).collect()).collect()
    };
    vec![
        ("duplicate rows", duplicates),
        ("a constant column", constant_column),
        ("fewer rows than columns", random_rows(8, 30, 3)),
        ("one column", random_rows(40, 1, 4)),
        ("nearly dependent rows", nearly_dependent),
        ("far from the origin", shifted(random_rows(30, 4, 7), 1e6)),
        ("tiny scale", scaled(random_rows(30, 4, 8), 1e-8)),
        ("huge scale", scaled(random_rows(30, 4, 8), 1e8)),
        ("mostly zeros", mostly_zeros),
    ]
}
