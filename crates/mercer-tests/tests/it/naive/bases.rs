//! Naive bases, from the whole kernel matrix.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    Matrix, center_columns, center_gram, cholesky, columns, diagonal, dot, frobenius, identity, invert_lower,
    jacobi_eigen, matmul, matvec, solve, solve_lower, submatrix, trace, transpose, zeros,
};

/// Squared residuals within this share of max k(x,x) of the largest are tied.
pub const TIE: f64 = 1e-12;
/// Squared residuals below minus this share of max k(x,x) mean that the kernel is not PSD.
pub const NOT_PSD: f64 = 1e-8;
/// Numerical rank: squared residuals up to this share of max k(x,x), eigenvalues up to this share of the largest.
pub const RANK_FLOOR: f64 = 1e-10;
/// A coefficient row a with eps·max k·‖a‖₁² above this cannot be orthonormal in float64.
pub const COEFFICIENT_LIMIT: f64 = 1e-6;

/// Gains of `csi` within this share of the largest are tied, and the lowest index wins.
const CSI_TIE: f64 = 1e-12;

/// A basis whose landmarks are its pivots: z(x) = A·k(x, pivots).
pub struct Pivoted {
    /// Rows taken, in order.
    pub pivots: Vec<usize>,
    /// Residual norm of each pivot when it was taken.
    pub norms: Vec<f64>,
    /// A, m×m over the pivots, lower triangular.
    pub coefficients: Matrix,
    /// Z, n×m.
    pub features: Matrix,
    /// k(x,x) − ‖z‖² of every row: squared, not clipped.
    pub residuals: Vec<f64>,
}

/// `gram-schmidt`: samples in order, each orthogonalised twice against the vectors kept so far, with both skip
/// rules (EKS, Alg. 1). Vectors are coefficients over all n samples, ⟨u,v⟩ = uᵀKv.
pub fn gram_schmidt(k: &Matrix, tol: f64, cap: Option<usize>) -> Pivoted {
    let n = k.len();
    let largest = max_diagonal(k);
    let mut pivots = Vec::new();
    let mut norms = Vec::new();
    let mut vectors: Matrix = Vec::new();
    let mut images: Matrix = Vec::new(); // K·vector
    for i in 0..n {
        if pivots.len() == cap.unwrap_or(n) {
            break;
        }
        let mut v = vec![0.0; n];
        v[i] = 1.0;
        for _ in 0..2 {
            for j in 0..vectors.len() {
                let overlap = dot(&v, &images[j]);
                for t in 0..n {
                    v[t] -= overlap * vectors[j][t];
                }
            }
        }
        let norm = dot(&v, &matvec(k, &v)).max(0.0).sqrt();
        if norm <= tol * k[i][i].max(0.0).sqrt() {
            continue;
        }
        for value in &mut v {
            *value /= norm;
        }
        let length: f64 = v.iter().map(|value| value.abs()).sum();
        if f64::EPSILON * largest * length * length > COEFFICIENT_LIMIT {
            continue;
        }
        images.push(matvec(k, &v));
        vectors.push(v);
        pivots.push(i);
        norms.push(norm);
    }
    let coefficients = columns(&vectors, &pivots);
    // rows accepted up to the coefficient limit lose that much orthogonality, so no smaller residual is a sign
    let limit = COEFFICIENT_LIMIT * (1 + pivots.len()) as f64;
    from_coefficients(k, pivots, norms, coefficients, limit)
}

/// `kobl`: the row with the largest residual norm is accepted as the (j+1)-th while r_{j+1}/r_1 ≥ f(j/n); stops
/// also at the numerical rank (TAKES, Alg. 1). Panics where a residual shows a kernel that is not PSD.
pub fn kobl(k: &Matrix, f: &dyn Fn(f64) -> f64, cap: Option<usize>) -> Pivoted {
    let n = k.len();
    let largest = max_diagonal(k);
    let mut residual = k.clone();
    let mut expansions = identity(n); // row i: the residual of sample i as a combination of samples, eq. 13
    let mut pivots: Vec<usize> = Vec::new();
    let mut norms: Vec<f64> = Vec::new();
    let mut coefficients: Matrix = Vec::new();
    let mut features = zeros(n, 0);
    check_psd(&diagonal(&residual), NOT_PSD * largest);
    while pivots.len() < cap.unwrap_or(n) {
        let Some(pivot) = largest_residual(&diagonal(&residual), &pivots, largest) else {
            break;
        };
        if residual[pivot][pivot] <= RANK_FLOOR * largest {
            break;
        }
        let norm = residual[pivot][pivot].sqrt();
        let first = norms.first().copied().unwrap_or(norm);
        if norm / first < f(pivots.len() as f64 / n as f64) {
            break;
        }
        let row: Vec<f64> = expansions[pivot].iter().map(|value| value / norm).collect();
        let column = eliminate(&mut residual, pivot);
        for i in 0..n {
            for t in 0..n {
                expansions[i][t] -= column[i] * row[t];
            }
            features[i].push(column[i]);
        }
        pivots.push(pivot);
        norms.push(norm);
        coefficients.push(row);
        check_psd(&diagonal(&residual), NOT_PSD * largest);
    }
    let coefficients = columns(&coefficients, &pivots);
    Pivoted { pivots, norms, coefficients, features, residuals: diagonal(&residual) }
}

/// `sparse`: in the given order, accept a row when k(x,x) − k_dᵀK_dd⁻¹k_d > ν·k(x,x), the system solved afresh
/// each time (SK-Relief, sec. 4).
pub fn sparse(k: &Matrix, order: &[usize], nu: f64, cap: Option<usize>) -> Pivoted {
    let largest = max_diagonal(k);
    let mut pivots: Vec<usize> = Vec::new();
    let mut norms = Vec::new();
    for &i in order {
        if pivots.len() == cap.unwrap_or(order.len()) {
            break;
        }
        let to_dictionary = submatrix(k, &pivots, &[i]);
        let weights = solve(&submatrix(k, &pivots, &pivots), &to_dictionary);
        let mut rest = k[i][i];
        for t in 0..pivots.len() {
            rest -= to_dictionary[t][0] * weights[t][0];
        }
        check_psd(&[rest], NOT_PSD * largest);
        if rest > nu * k[i][i] {
            pivots.push(i);
            norms.push(rest.sqrt());
        }
    }
    let coefficients = invert_lower(&cholesky(&submatrix(k, &pivots, &pivots)));
    from_coefficients(k, pivots, norms, coefficients, NOT_PSD)
}

/// `kfa`: the best of the candidates by ‖R_{:,i}‖²/R_ii, from the explicit residual matrix R. None: all rows are candidates.
///
/// It follows the draw in the header of `basis/kfa.rs`: a block of c to 4c rows (so that no more than 1.5·c a pivot are drawn
/// in all) in proportion to R_ii; one uniform number for each of them that is left after an elimination, by which it stays or
/// goes; a new block when fewer than half, or fewer than c, are left.
pub fn kfa(k: &Matrix, candidates: Option<usize>, seed: u64, cap: usize) -> Vec<usize> {
    let n = k.len();
    let floor = RANK_FLOOR * max_diagonal(k);
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut r = k.clone();
    let mut pivots: Vec<usize> = Vec::new();
    let mut drawn = 0;
    let mut block: Vec<usize> = Vec::new();
    let mut then: Vec<f64> = Vec::new(); // R_ii when the block was drawn
    let mut least = usize::MAX;
    while pivots.len() < cap {
        if block.len() < least {
            let open: Vec<f64> = diagonal(&r).iter().map(|d| if *d > floor { *d } else { 0.0 }).collect();
            let total: f64 = open.iter().sum();
            if total == 0.0 {
                break;
            }
            let Some(c) = candidates else {
                block = (0..n).filter(|i| open[*i] > 0.0).collect();
                least = 1;
                then = diagonal(&r);
                continue;
            };
            let c = c.min(n);
            let size = (c + 3 * c * pivots.len() / 2 - drawn).clamp(c, 4 * c);
            let mut chosen = BTreeSet::new();
            for _ in 0..size {
                let mut target = generator.random::<f64>() * total;
                let row = (0..n).find(|i| {
                    target -= open[*i];
                    target < 0.0
                });
                chosen.insert(row.expect("the total is above the target"));
            }
            block = chosen.into_iter().collect();
            drawn += block.len();
            then = diagonal(&r);
            least = c.max(size / 2).min(block.len());
        }
        let score = |i: usize| -> f64 { (0..n).map(|j| r[j][i] * r[j][i]).sum::<f64>() / r[i][i] };
        let best = block.iter().map(|i| score(*i)).fold(f64::NEG_INFINITY, f64::max);
        let pivot = block.iter().copied().find(|i| score(*i) >= best * (1.0 - 1e-10)).expect("a candidate");
        let before = diagonal(&r);
        eliminate(&mut r, pivot);
        pivots.push(pivot);
        let mut left = Vec::new();
        for i in block {
            if i == pivot {
                continue;
            }
            let stays = candidates.is_none()
                || (generator.random::<f64>() * before[i] < r[i][i] && r[i][i] > 1e-4 * then[i]);
            if stays && r[i][i] > floor {
                left.push(i);
            }
        }
        block = left;
    }
    pivots
}

/// `nystrom`: K_nl K_ll⁺ K_ln, the eigenvalues of K_ll up to 1e−10 of the largest left out.
pub fn nystrom_gram(k: &Matrix, landmarks: &[usize]) -> Matrix {
    let (values, vectors) = jacobi_eigen(&submatrix(k, landmarks, landmarks));
    let rotated = matmul(&columns(k, landmarks), &vectors);
    let mut product = zeros(k.len(), k.len());
    for j in 0..values.len() {
        if values[j] <= RANK_FLOOR * values[0] {
            continue;
        }
        for a in 0..k.len() {
            for b in 0..k.len() {
                product[a][b] += rotated[a][j] * rotated[b][j] / values[j];
            }
        }
    }
    product
}

/// `kpca`: eigenvalues kept and features √λ·u of the training rows, n×m (signs by [`sign_of`]).
/// m: at most that many; share: the fewest that hold this share of the trace; never beyond the numerical rank.
pub fn kpca(k: &Matrix, m: Option<usize>, share: Option<f64>, center: bool) -> (Vec<f64>, Matrix) {
    let max_k = max_diagonal(k); // before centring: rounding is a share of this
    let k = if center { center_gram(k) } else { k.clone() };
    let (values, vectors) = jacobi_eigen(&k);
    let kept = components_kept(&values, trace(&k), m, share);
    let mut features = zeros(k.len(), kept);
    for j in 0..kept {
        let column: Vec<f64> = vectors.iter().map(|row| row[j] * values[j].sqrt()).collect();
        let sign = sign_of(&column);
        for i in 0..k.len() {
            features[i][j] = sign * column[i];
        }
    }
    let residuals: Vec<f64> = (0..k.len()).map(|i| k[i][i] - dot(&features[i], &features[i])).collect();
    check_psd(&residuals, NOT_PSD * max_k);
    (values[..kept].to_vec(), features)
}

/// `kpca` features of new rows from `k_new` = k(new, training), one new row a row. Centring uses the
/// training means alone.
pub fn kpca_project(
    k: &Matrix,
    k_new: &Matrix,
    m: Option<usize>,
    share: Option<f64>,
    center: bool,
) -> Matrix {
    let n = k.len();
    let (values, features) = kpca(k, m, share, center);
    let training_means: Vec<f64> = k.iter().map(|row| row.iter().sum::<f64>() / n as f64).collect();
    let grand_mean = training_means.iter().sum::<f64>() / n as f64;
    let mut projected = zeros(k_new.len(), values.len());
    for i in 0..k_new.len() {
        let mean = k_new[i].iter().sum::<f64>() / n as f64;
        for j in 0..values.len() {
            for t in 0..n {
                let similarity =
                    if center { k_new[i][t] - mean - training_means[t] + grand_mean } else { k_new[i][t] };
                // features = √λ·u, so u/√λ is features/λ
                projected[i][j] += similarity * features[t][j] / values[j];
            }
        }
    }
    projected
}

/// `csi`: the accepted rows in order (Bach & Jordan 2005); y is n×c and centred here, δ = `delta` ≥ 1.
/// With R the residual matrix of the accepted rows and L Lᵀ ≈ R from its columns at the look-ahead rows, the gain of
/// row i is κ·‖L a‖²/R_ii/tr K + (1−κ)·‖Y_resᵀ M a‖²/‖M a‖²/‖Y‖², a = row i of L, M and Y_res = L and Y freed of Z.
pub fn csi(k: &Matrix, y: &Matrix, kappa: f64, delta: usize, m: usize) -> Vec<usize> {
    assert!(delta >= 1, "a look-ahead of one row at least");
    let max_k = max_diagonal(k);
    let label_total = frobenius(&center_columns(y)).powi(2);
    let mut residual = k.clone();
    let mut directions: Matrix = Vec::new(); // orthonormal, of the centred accepted features
    let mut pivots: Vec<usize> = Vec::new();
    let mut ahead = look_ahead(&residual, &[], &pivots, delta, max_k);
    while pivots.len() < m {
        let factor = look_ahead_factor(&residual, &ahead);
        let freed_factor = freed(&factor, &directions);
        let freed_labels = freed(y, &directions);
        let mut gains = vec![None; k.len()];
        for i in 0..k.len() {
            if pivots.contains(&i) || residual[i][i] <= RANK_FLOOR * max_k {
                continue;
            }
            let column = matvec(&factor, &factor[i]);
            let kernel_gain = dot(&column, &column) / residual[i][i];
            let label_gain = label_gain(&freed_factor, &factor[i], &freed_labels, max_k);
            let label_share = if label_total > 0.0 { label_gain / label_total } else { 0.0 };
            gains[i] = Some(kappa * kernel_gain / trace(k) + (1.0 - kappa) * label_share);
        }
        let Some(pivot) = largest_gain(&gains) else { break };
        let column = eliminate(&mut residual, pivot);
        add_direction(&mut directions, &column);
        pivots.push(pivot);
        ahead.retain(|&row| row != pivot);
        ahead = look_ahead(&residual, &ahead, &pivots, delta, max_k);
    }
    pivots
}

/// Rows of `before` that still add something after the accepted rows and each other, in order; then greedy rows
/// (tie rule and rank floor as in `kobl`) until there are δ.
fn look_ahead(
    residual: &Matrix,
    before: &[usize],
    accepted: &[usize],
    delta: usize,
    max_k: f64,
) -> Vec<usize> {
    let mut rest = residual.clone(); // R − L Lᵀ of the rows kept so far
    let mut ahead: Vec<usize> = Vec::new();
    for &row in before {
        if rest[row][row] > RANK_FLOOR * max_k {
            eliminate(&mut rest, row);
            ahead.push(row);
        }
    }
    while ahead.len() < delta {
        let taken = [accepted, &ahead[..]].concat();
        let Some(row) = largest_residual(&diagonal(&rest), &taken, max_k) else {
            break;
        };
        if rest[row][row] <= RANK_FLOOR * max_k {
            break;
        }
        eliminate(&mut rest, row);
        ahead.push(row);
    }
    ahead
}

/// L = R[:,A]·C⁻ᵀ with C Cᵀ = R[A,A], n×|A|.
fn look_ahead_factor(residual: &Matrix, ahead: &[usize]) -> Matrix {
    let c = cholesky(&submatrix(residual, ahead, ahead));
    columns(residual, ahead).iter().map(|row| solve_lower(&c, row)).collect()
}

/// Columns centred, then projected orthogonal to the directions, twice against rounding.
fn freed(a: &Matrix, directions: &Matrix) -> Matrix {
    let mut columns = transpose(&center_columns(a));
    for column in &mut columns {
        project_out(column, directions);
        project_out(column, directions);
    }
    if columns.is_empty() { a.clone() } else { transpose(&columns) }
}

fn project_out(column: &mut [f64], directions: &Matrix) {
    for direction in directions {
        let overlap = dot(column, direction);
        for i in 0..column.len() {
            column[i] -= overlap * direction[i];
        }
    }
}

/// ‖Y_resᵀ M a‖²/‖M a‖²; 0 where M a is nothing but rounding.
fn label_gain(freed_factor: &Matrix, a: &[f64], freed_labels: &Matrix, max_k: f64) -> f64 {
    let column = matvec(freed_factor, a);
    let size = dot(&column, &column);
    if size <= 1e-12 * column.len() as f64 * max_k {
        return 0.0;
    }
    let products = matvec(&transpose(freed_labels), &column);
    dot(&products, &products) / size
}

fn largest_gain(gains: &[Option<f64>]) -> Option<usize> {
    let largest = gains.iter().flatten().fold(f64::NEG_INFINITY, |top: f64, gain| top.max(*gain));
    gains.iter().position(|gain| gain.is_some_and(|gain| gain >= largest - CSI_TIE * largest.abs()))
}

/// Add what a new feature, centred, has beyond the directions so far; nothing if that is rounding.
fn add_direction(directions: &mut Matrix, feature: &[f64]) {
    let mean = feature.iter().sum::<f64>() / feature.len() as f64;
    let mut column: Vec<f64> = feature.iter().map(|value| value - mean).collect();
    project_out(&mut column, directions);
    project_out(&mut column, directions);
    let size = dot(&column, &column);
    if size > 1e-12 * dot(feature, feature) {
        directions.push(column.iter().map(|value| value / size.sqrt()).collect());
    }
}

/// Largest k(x,x).
pub fn max_diagonal(k: &Matrix) -> f64 {
    diagonal(k).iter().fold(0.0, |largest: f64, value| largest.max(*value))
}

/// The row not yet taken with the largest squared residual; the lowest index among the tied.
pub fn largest_residual(residuals: &[f64], taken: &[usize], max_k: f64) -> Option<usize> {
    let free: Vec<usize> = (0..residuals.len()).filter(|i| !taken.contains(i)).collect();
    let largest = free.iter().fold(f64::NEG_INFINITY, |top, &i| top.max(residuals[i]));
    free.into_iter().find(|&i| residuals[i] >= largest - TIE * max_k)
}

/// Take one pivot out of a residual matrix, R ← R − zzᵀ; returns z, the new feature of every row (TAKES, eq. 8).
pub fn eliminate(residual: &mut Matrix, pivot: usize) -> Vec<f64> {
    let norm = residual[pivot][pivot].sqrt();
    let column: Vec<f64> = residual.iter().map(|row| row[pivot] / norm).collect();
    for i in 0..column.len() {
        for j in 0..column.len() {
            residual[i][j] -= column[i] * column[j];
        }
    }
    column
}

/// +1 or −1, so that the entry with the largest size (lowest index within 1e−9 of it) becomes positive.
pub fn sign_of(column: &[f64]) -> f64 {
    let largest = column.iter().fold(0.0, |top: f64, value| top.max(value.abs()));
    let leader = column.iter().find(|value| value.abs() >= largest * (1.0 - 1e-9));
    if leader.is_some_and(|value| *value < 0.0) { -1.0 } else { 1.0 }
}

/// Features and residuals from A; residuals below −limit·max k(x,x) are an error.
fn from_coefficients(
    k: &Matrix,
    pivots: Vec<usize>,
    norms: Vec<f64>,
    coefficients: Matrix,
    limit: f64,
) -> Pivoted {
    let features: Matrix = columns(k, &pivots).iter().map(|row| matvec(&coefficients, row)).collect();
    let residuals: Vec<f64> = (0..k.len()).map(|i| k[i][i] - dot(&features[i], &features[i])).collect();
    check_psd(&residuals, limit * max_diagonal(k));
    Pivoted { pivots, norms, coefficients, features, residuals }
}

fn check_psd(residuals: &[f64], limit: f64) {
    for (i, residual) in residuals.iter().enumerate() {
        assert!(*residual >= -limit, "residual {residual} of row {i}: the kernel is not PSD");
    }
}

fn components_kept(values: &[f64], trace: f64, m: Option<usize>, share: Option<f64>) -> usize {
    let rank = values.iter().filter(|&&value| value > RANK_FLOOR * values[0]).count();
    match (m, share) {
        (Some(m), _) => m.min(rank),
        (None, Some(share)) => {
            let mut kept = 0;
            let mut sum = 0.0;
            // the slack keeps rounding from asking for one component more than the share needs
            while kept < rank && sum < share * trace * (1.0 - 1e-12) {
                sum += values[kept];
                kept += 1;
            }
            kept
        }
        (None, None) => rank,
    }
}
