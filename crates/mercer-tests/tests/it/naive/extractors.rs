//! Naive extractors from Z, one sample per row, by their definitions; `skfe` is in subspaces.rs. Sums are loops over
//! rows and pairs, eigenproblems are Jacobi's.

use super::{
    Matrix, center_columns, dot, frobenius, jacobi_eigen, matmul, matvec, sign_of, solve, trace, transpose,
    width, zeros,
};

/// Eigenvalues up to this share of the largest magnitude are rounding; `kpca` alone has another.
pub const ROUNDING: f64 = 1e-12;
/// Eigenvalues up to this share of the largest are rounding in `kpca`.
pub const KPCA_ROUNDING: f64 = 1e-10;
/// A centroid with no more than this share of its norm beside the earlier ones depends on them.
pub const DEPENDENT: f64 = 1e-8;

/// Directions with fixed signs: feature = direction·z − offset.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// One direction a row, q×m.
    pub directions: Matrix,
    /// Subtracted from the features, q.
    pub offset: Vec<f64>,
    /// One a direction.
    pub eigenvalues: Vec<f64>,
    /// All eigenvalues of the problem, also those that were not kept; empty where there is no such problem.
    pub spectrum: Vec<f64>,
    /// What each direction holds of all; empty where that makes no sense.
    pub explained: Vec<f64>,
}

impl Extracted {
    /// Features of rows with coordinates z.
    pub fn features(&self, z: &Matrix) -> Matrix {
        let feature = |row: &Vec<f64>, j: usize| dot(&self.directions[j], row) - self.offset[j];
        z.iter().map(|row| (0..self.directions.len()).map(|j| feature(row, j)).collect()).collect()
    }

    /// Directions with fixed signs.
    pub fn signed(z: &Matrix, directions: Matrix, offset: Vec<f64>, eigenvalues: Vec<f64>) -> Self {
        let mut found = Self { directions, offset, eigenvalues, spectrum: Vec::new(), explained: Vec::new() };
        let features = transpose(&found.features(z));
        for j in 0..found.directions.len() {
            let sign = sign_of(&features[j]);
            found.offset[j] *= sign;
            found.directions[j].iter_mut().for_each(|v| *v *= sign);
        }
        found
    }

    /// The first `q` columns of vectors, with the shares that their eigenvalues have of `all`.
    fn leading(z: &Matrix, q: usize, problem: (Vec<f64>, Matrix), all: f64, centre: Option<&[f64]>) -> Self {
        let (values, vectors) = problem;
        let q = q.min(values.len()); // none on the range of a matrix of zeros
        let directions: Matrix = transpose(&vectors).into_iter().take(q).collect();
        let offset = directions.iter().map(|v| centre.map_or(0.0, |centre| dot(v, centre))).collect();
        let mut found = Self::signed(z, directions, offset, values[..q].to_vec());
        found.explained = values[..q].iter().map(|v| v / all).collect();
        found.spectrum = values;
        found
    }
}

/// z̄ of the rows that `of` accepts.
pub fn mean_of(z: &Matrix, of: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut mean = vec![0.0; width(z)];
    let count = (0..z.len()).filter(|&i| of(i)).count();
    for i in (0..z.len()).filter(|&i| of(i)) {
        for j in 0..width(z) {
            mean[j] += z[i][j] / count as f64;
        }
    }
    mean
}

/// z̄_c of every class.
pub fn class_means(z: &Matrix, codes: &[usize]) -> Matrix {
    (0..classes_of(codes)).map(|c| mean_of(z, |i| codes[i] == c)).collect()
}

/// Classes are 0, 1, … without a gap.
pub fn classes_of(codes: &[usize]) -> usize {
    codes.iter().max().expect("rows") + 1
}

/// Adds w·a bᵀ.
fn add_outer(sum: &mut Matrix, w: f64, a: &[f64], b: &[f64]) {
    for i in 0..a.len() {
        for j in 0..b.len() {
            sum[i][j] += w * a[i] * b[j];
        }
    }
}

/// Σ a bᵀ over rows of two matrices.
pub fn sum_of_products(a: &Matrix, b: &Matrix) -> Matrix {
    let mut sum = zeros(width(a), width(b));
    for i in 0..a.len() {
        add_outer(&mut sum, 1.0, &a[i], &b[i]);
    }
    sum
}

/// S_t = Σ (z − z̄)(z − z̄)ᵀ.
pub fn total_scatter(z: &Matrix) -> Matrix {
    let centred = center_columns(z);
    sum_of_products(&centred, &centred)
}

/// S_b = Σ_c n_c (z̄_c − z̄)(z̄_c − z̄)ᵀ.
pub fn between_scatter(z: &Matrix, codes: &[usize]) -> Matrix {
    let all = mean_of(z, |_| true);
    let mut sum = zeros(width(z), width(z));
    for (c, mean) in class_means(z, codes).iter().enumerate() {
        let size = codes.iter().filter(|&&code| code == c).count();
        let from_all: Vec<f64> = mean.iter().zip(&all).map(|(a, b)| a - b).collect();
        add_outer(&mut sum, size as f64, &from_all, &from_all);
    }
    sum
}

/// S + reg·tr(S)/m·I.
pub fn regularised(s: &Matrix, reg: f64) -> Matrix {
    let mut sum = s.clone();
    let ridge = reg * trace(s) / s.len() as f64;
    (0..s.len()).for_each(|i| sum[i][i] += ridge);
    sum
}

/// Eigenvalues, descending, and vectors as columns of A v = λ T v with vᵀTv = 1, on the range of T: T^{−1/2} first.
pub fn generalised_eigen(a: &Matrix, t: &Matrix) -> (Vec<f64>, Matrix) {
    let (values, vectors) = jacobi_eigen(t);
    let rank = values.iter().filter(|v| **v > ROUNDING * values[0]).count();
    let mut whitener = zeros(t.len(), rank);
    for i in 0..t.len() {
        for j in 0..rank {
            whitener[i][j] = vectors[i][j] / values[j].sqrt();
        }
    }
    let (values, vectors) = jacobi_eigen(&matmul(&matmul(&transpose(&whitener), a), &whitener));
    (values, matmul(&whitener, &vectors))
}

/// How many eigenvalues are positive beyond rounding.
fn positive(values: &[f64], rounding: f64) -> usize {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    values.iter().filter(|v| **v > rounding * largest).count()
}

fn sum_of_positive(values: &[f64]) -> f64 {
    values.iter().filter(|v| **v > 0.0).sum()
}

/// `gda`: S_b v = λ(S_t + reg·tr(S_t)/m·I)v on centred Z.
pub fn gda(z: &Matrix, codes: &[usize], reg: f64, q: Option<usize>) -> Extracted {
    let problem = generalised_eigen(&between_scatter(z, codes), &regularised(&total_scatter(z), reg));
    let most = positive(&problem.0, ROUNDING).min(classes_of(codes) - 1);
    let all = sum_of_positive(&problem.0);
    Extracted::leading(z, q.unwrap_or(most), problem, all, Some(&mean_of(z, |_| true)))
}

/// `koc`: Gram–Schmidt on the class centroids, in the order of the classes, twice against rounding.
pub fn koc(z: &Matrix, codes: &[usize]) -> Extracted {
    let directions = orthonormal(&class_means(z, codes));
    let q = directions.len();
    Extracted::signed(z, directions, vec![0.0; q], Vec::new())
}

/// Gram–Schmidt on the rows, in order; rows that depend on earlier ones are left out.
pub fn orthonormal(rows: &Matrix) -> Matrix {
    let mut kept: Matrix = Vec::new();
    for row in rows {
        let mut rest = row.clone();
        for _ in 0..2 {
            for direction in &kept {
                let overlap = dot(direction, &rest);
                (0..rest.len()).for_each(|j| rest[j] -= overlap * direction[j]);
            }
        }
        let norm = dot(&rest, &rest).sqrt();
        if norm > DEPENDENT * dot(row, row).sqrt() {
            kept.push(rest.iter().map(|v| v / norm).collect());
        }
    }
    kept
}

/// `akda-qr` from the kernel among the class means of the input rows, c×c, and of the rows with them, n×c: the
/// means' images orthonormalised in order, then `gda` there. The directions are those in these coordinates.
pub fn akda_qr(k_means: &Matrix, k_rows: &Matrix, codes: &[usize], reg: f64) -> (Matrix, Extracted) {
    let basis = super::gram_schmidt(k_means, 1e-6, None);
    let kept = super::columns(k_rows, &basis.pivots);
    let z: Matrix = kept.iter().map(|row| matvec(&basis.coefficients, row)).collect();
    let found = gda(&z, codes, reg, None);
    (z, found)
}

/// `kpls`: PLS2 of Y on Z, both centred, each deflated by every score. At most q components; fewer where nothing is
/// left: a score's square up to 1e-12 of the first, or a covariance up to 1e-12 of what Z and Y allow.
pub fn kpls(z: &Matrix, y: &Matrix, q: usize) -> Extracted {
    let (mut x, mut y) = (center_columns(z), center_columns(y));
    let (mut weights, mut loadings, mut spectra): (Matrix, Matrix, Matrix) = Default::default();
    let mut first = 0.0;
    let size = frobenius(&x) * frobenius(&y);
    while weights.len() < q {
        let cross = sum_of_products(&x, &y);
        // The weights that NIPALS converges to: the leading left singular vector of ZᵀY.
        let (values, vectors) = jacobi_eigen(&matmul(&transpose(&cross), &cross));
        let leading: Vec<f64> = vectors.iter().map(|row| row[0]).collect();
        let mut w = matvec(&cross, &leading);
        let norm = dot(&w, &w).sqrt();
        if norm <= ROUNDING * size {
            break;
        }
        w.iter_mut().for_each(|v| *v /= norm);
        let score = matvec(&x, &w);
        let square = dot(&score, &score);
        if square <= ROUNDING * first {
            break;
        }
        first = if weights.is_empty() { square } else { first };
        let loading: Vec<f64> = matvec(&transpose(&x), &score).iter().map(|v| v / square).collect();
        let fit: Vec<f64> = matvec(&transpose(&y), &score).iter().map(|v| v / square).collect();
        add_outer(&mut x, -1.0, &score, &loading);
        add_outer(&mut y, -1.0, &score, &fit);
        weights.push(w);
        loadings.push(loading);
        spectra.push(values);
    }
    if weights.is_empty() {
        return Extracted::signed(z, Vec::new(), Vec::new(), Vec::new());
    }
    // R = W (PᵀW)⁻¹; its columns are the directions, rows here: Rᵀ = (WᵀP)⁻¹ Wᵀ.
    let inner = matmul(&weights, &transpose(&loadings));
    let directions = solve(&inner, &weights);
    let mean = mean_of(z, |_| true);
    let offset = directions.iter().map(|r| dot(r, &mean)).collect();
    let mut found =
        Extracted::signed(z, directions, offset, spectra.iter().map(|values| values[0]).collect());
    // Equal singular values leave a single component open; of several, the later ones too.
    found.spectrum = if spectra.len() == 1 { spectra.remove(0) } else { Vec::new() };
    found
}

/// The k nearest of the same class and of the others for every row, the lower index on ties.
pub fn hits_and_misses(distance: &Matrix, codes: &[usize], k: usize) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let nearest = |i: usize, same: bool| {
        let mut others: Vec<usize> =
            (0..codes.len()).filter(|&j| j != i && (codes[i] == codes[j]) == same).collect();
        others.sort_by(|&a, &b| distance[i][a].total_cmp(&distance[i][b]).then(a.cmp(&b)));
        others.truncate(k);
        others
    };
    (0..codes.len()).map(|i| (nearest(i, true), nearest(i, false))).unzip()
}

/// Adds Σ w ΔΔᵀ over pairs of rows.
fn add_pairs(sum: &mut Matrix, z: &Matrix, w: f64, pairs: &[(usize, usize)]) {
    for &(i, j) in pairs {
        let d: Vec<f64> = z[i].iter().zip(&z[j]).map(|(a, b)| a - b).collect();
        add_outer(sum, w, &d, &d);
    }
}

/// Σ_i (Σ over misses ΔΔᵀ − Σ over hits ΔΔᵀ), `mean`: each divided by how many there are.
pub fn margin_scatter(z: &Matrix, distance: &Matrix, codes: &[usize], k: usize, mean: bool) -> Matrix {
    let (hits, misses) = hits_and_misses(distance, codes, k);
    let mut sum = zeros(width(z), width(z));
    for i in 0..z.len() {
        for (sign, others) in [(1.0, &misses[i]), (-1.0, &hits[i])] {
            let w = if mean { sign / others.len() as f64 } else { sign };
            add_pairs(&mut sum, z, w, &others.iter().map(|&j| (i, j)).collect::<Vec<_>>());
        }
    }
    sum
}

/// `klfe`: rows √σ_i a_iᵀ of the largest σ_i > 0.
pub fn klfe(z: &Matrix, distance: &Matrix, codes: &[usize], k: usize, q: Option<usize>) -> Extracted {
    let (values, mut vectors) = jacobi_eigen(&margin_scatter(z, distance, codes, k, false));
    for row in &mut vectors {
        for (v, value) in row.iter_mut().zip(&values) {
            *v *= value.max(0.0).sqrt();
        }
    }
    let (q, all) = (q.unwrap_or(positive(&values, ROUNDING)), sum_of_positive(&values));
    Extracted::leading(z, q, (values, vectors), all, None)
}

/// `kanmm`: unit vectors.
pub fn kanmm(z: &Matrix, distance: &Matrix, codes: &[usize], k: usize, q: Option<usize>) -> Extracted {
    let problem = jacobi_eigen(&margin_scatter(z, distance, codes, k, true));
    let (q, all) = (q.unwrap_or(positive(&problem.0, ROUNDING)), sum_of_positive(&problem.0));
    Extracted::leading(z, q, problem, all, None)
}

/// S_w and S_b of `kmfa`.
pub fn marginal_scatters(
    z: &Matrix,
    distance: &Matrix,
    codes: &[usize],
    k_within: usize,
    k_between: usize,
) -> (Matrix, Matrix) {
    let (mut within, mut between) = (zeros(width(z), width(z)), zeros(width(z), width(z)));
    let (hits, _) = hits_and_misses(distance, codes, k_within);
    for i in 0..z.len() {
        add_pairs(&mut within, z, 1.0, &hits[i].iter().map(|&j| (i, j)).collect::<Vec<_>>());
    }
    for class in 0..classes_of(codes) {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for i in (0..z.len()).filter(|&i| codes[i] == class) {
            for j in (0..z.len()).filter(|&j| codes[j] != class) {
                pairs.push((i, j));
            }
        }
        pairs.sort_by(|a, b| distance[a.0][a.1].total_cmp(&distance[b.0][b.1]).then(a.cmp(b)));
        pairs.truncate(k_between);
        add_pairs(&mut between, z, 1.0, &pairs);
    }
    (within, between)
}

/// `kmfa`: S_b v = λ(S_w + reg·tr(S_w)/m·I)v.
pub fn kmfa(
    z: &Matrix,
    distance: &Matrix,
    codes: &[usize],
    (k_within, k_between): (usize, usize),
    reg: f64,
    q: Option<usize>,
) -> Extracted {
    let (within, between) = marginal_scatters(z, distance, codes, k_within, k_between);
    let problem = generalised_eigen(&between, &regularised(&within, reg));
    let q = q.unwrap_or(positive(&problem.0, ROUNDING).min(10));
    let all = sum_of_positive(&problem.0);
    Extracted::leading(z, q, problem, all, None)
}

/// `kpca` in coordinates: eigenvectors of S_t, or of Σ z zᵀ.
pub fn kpca(z: &Matrix, center: bool, q: Option<usize>) -> Extracted {
    let scatter = if center { total_scatter(z) } else { sum_of_products(z, z) };
    let problem = jacobi_eigen(&scatter);
    let q = q.unwrap_or(positive(&problem.0, KPCA_ROUNDING));
    let mean = mean_of(z, |_| true);
    Extracted::leading(z, q, problem, trace(&scatter), center.then_some(&mean))
}

/// Textbook NIPALS for one component of PLS2, both blocks centred already: the weights after iterating to the end.
pub fn nipals_weights(x: &Matrix, y: &Matrix) -> Vec<f64> {
    let mut u: Vec<f64> = y.iter().map(|row| row[0]).collect();
    let mut w = vec![0.0; width(x)];
    for _ in 0..20_000 {
        w = matvec(&transpose(x), &u);
        let norm = dot(&w, &w).sqrt();
        w.iter_mut().for_each(|v| *v /= norm);
        let score = matvec(x, &w);
        let fit = matvec(&transpose(y), &score);
        let size = dot(&fit, &fit);
        u = y.iter().map(|row| dot(row, &fit) / size).collect();
    }
    w
}
