//! Naive selectors that use the columns only: kffs, F-test, mutual information, Laplacian score,
//! lasso. And the tails of Student's t and of F, by quadrature.

use super::{Matrix, center_columns, dot, matmul, squared_distance, subtract, transpose, zeros};

/// What KFFS finds.
#[derive(Clone, Debug)]
pub struct Forward {
    /// Columns in the order taken.
    pub order: Vec<usize>,
    /// Of every column.
    pub weights: Vec<f64>,
    /// Unweighted share of errors after each round.
    pub error_path: Vec<f64>,
}

/// KFFS by building every candidate ensemble of every round (TAKES, Alg. 2).
pub fn kffs(x: &Matrix, codes: &[usize], reweight: bool, theta: usize) -> Forward {
    let (n, p) = (x.len(), x[0].len());
    let classes = codes.iter().max().expect("rows") + 1;
    let votes: Vec<Vec<usize>> = (0..p).map(|j| weak_votes(x, codes, classes, j)).collect();
    let mut sample_weights = vec![1.0 / n as f64; n];
    let mut found = Forward { order: Vec::new(), weights: vec![0.0; p], error_path: Vec::new() };
    for _ in 0..p {
        let mut candidates = Vec::new();
        for j in (0..p).filter(|j| !found.order.contains(j)) {
            let mut voters = found.order.clone();
            voters.push(j);
            let wrong: Vec<bool> =
                (0..n).map(|i| ensemble(&votes, &voters, classes, theta, i) != codes[i]).collect();
            let count = wrong.iter().filter(|w| **w).count();
            let weighted: f64 = (0..n).filter(|&i| wrong[i]).map(|i| sample_weights[i]).sum();
            // Without reweighting errors are whole numbers, so that a tie is one.
            let error = if reweight { weighted } else { count as f64 };
            candidates.push((j, error, wrong, count));
        }
        let least = candidates.iter().map(|c| c.1).fold(f64::MAX, f64::min);
        let best = candidates.into_iter().find(|c| c.1 <= least + 1e-12).expect("a column is left");
        let (j, error, wrong, count) = best;
        let share = if reweight { error } else { error / n as f64 };
        let epsilon = share.clamp(1e-10, 1.0 - 1e-10);
        found.order.push(j);
        let others = (classes - 1) as f64;
        found.weights[j] = (((1.0 - epsilon) / epsilon).ln() + others.ln()).max(0.0);
        found.error_path.push(count as f64 / n as f64);
        for i in (0..n).filter(|&i| !wrong[i]) {
            sample_weights[i] *= (epsilon / ((1.0 - epsilon) * others)).min(1.0);
        }
        let total: f64 = sample_weights.iter().sum();
        sample_weights.iter_mut().for_each(|w| *w /= total);
    }
    found
}

/// The class that column j alone gives each row: least squares of the labels on (z_j, 1).
pub fn weak_votes(x: &Matrix, codes: &[usize], classes: usize, j: usize) -> Vec<usize> {
    let z: Vec<f64> = x.iter().map(|row| row[j]).collect();
    let fit = |y: Vec<f64>| -> Vec<f64> {
        let y_mean = mean(&y);
        if z.iter().all(|v| *v == z[0]) {
            return vec![y_mean; z.len()];
        }
        let z_mean = mean(&z);
        let b = z.iter().zip(&y).map(|(z, y)| (z - z_mean) * (y - y_mean)).sum::<f64>()
            / z.iter().map(|z| (z - z_mean) * (z - z_mean)).sum::<f64>();
        z.iter().map(|z| y_mean + b * (z - z_mean)).collect()
    };
    if classes == 2 {
        let fitted = fit(codes.iter().map(|c| if *c == 1 { 1.0 } else { -1.0 }).collect());
        // A fit of 0 up to rounding is 0.
        return fitted.iter().map(|v| usize::from(*v >= -1e-12)).collect();
    }
    let fits: Vec<Vec<f64>> = (0..classes)
        .map(|class| fit(codes.iter().map(|c| f64::from(u8::from(*c == class))).collect()))
        .collect();
    // Fits of labels 0 and 1 that are equal but for rounding are equal: the lower class wins.
    let largest = |i: usize| {
        let most = fits.iter().map(|f| f[i]).fold(f64::MIN, f64::max);
        fits.iter().position(|f| f[i] >= most - 1e-12).expect("classes")
    };
    (0..z.len()).map(largest).collect()
}

/// The class with most votes for row i. A tie follows the newest voter if its vote is among the tied, else the lower
/// class.
fn ensemble(votes: &[Vec<usize>], voters: &[usize], classes: usize, theta: usize, i: usize) -> usize {
    let mut counts = vec![0; classes];
    for &j in voters {
        counts[votes[j][i]] += 1;
    }
    let most = *counts.iter().max().expect("classes");
    let newest = votes[*voters.last().expect("voters")][i];
    // Undecided between classes fewer than theta votes behind the most.
    if most - counts[newest] < theta {
        newest
    } else {
        counts.iter().position(|c| *c == most).expect("there")
    }
}

/// Σ/n, of the differences from the first value: an offset does no harm.
fn mean(v: &[f64]) -> f64 {
    v[0] + v.iter().map(|x| x - v[0]).sum::<f64>() / v.len() as f64
}

/// F and its p-value of every column for classes: ANOVA. A constant column: 0 and 1.
pub fn anova(x: &Matrix, codes: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let score = |j: usize| {
        let all: Vec<f64> = x.iter().map(|row| row[j]).collect();
        if all.iter().all(|v| *v == all[0]) {
            return (0.0, 1.0);
        }
        let (mut between, mut within, mut classes) = (0.0, 0.0, 0.0);
        for class in 0..=*codes.iter().max().expect("rows") {
            let own: Vec<f64> = (0..x.len()).filter(|&i| codes[i] == class).map(|i| x[i][j]).collect();
            if !own.is_empty() {
                classes += 1.0;
                between += own.len() as f64 * (mean(&own) - mean(&all)).powi(2);
                within += own.iter().map(|v| (v - mean(&own)).powi(2)).sum::<f64>();
            }
        }
        let (d1, d2) = (classes - 1.0, x.len() as f64 - classes);
        if within == 0.0 {
            return (f64::MAX, 0.0);
        }
        let f = (between / d1) / (within / d2);
        (f, upper_tail_of_f(f, d1, d2))
    };
    (0..x[0].len()).map(score).unzip()
}

/// F and its p-value of every column for numbers: r²/(1−r²)·(n−2).
pub fn correlation_f(x: &Matrix, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let score = |j: usize| {
        let z: Vec<f64> = x.iter().map(|row| row[j]).collect();
        if z.iter().all(|v| *v == z[0]) {
            return (0.0, 1.0);
        }
        // Divided by the largest, or squares of squares leave the range of a double.
        let deviations = |v: &[f64]| -> Vec<f64> {
            let d: Vec<f64> = v.iter().map(|x| x - mean(v)).collect();
            let largest = d.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            d.iter().map(|v| v / largest).collect()
        };
        let (z, y) = (deviations(&z), deviations(y));
        let r_squared = dot(&z, &y).powi(2) / (dot(&z, &z) * dot(&y, &y));
        if r_squared >= 1.0 {
            return (f64::MAX, 0.0);
        }
        let d2 = x.len() as f64 - 2.0;
        let f = r_squared / (1.0 - r_squared) * d2;
        (f, upper_tail_of_f(f, 1.0, d2))
    };
    (0..x[0].len()).map(score).unzip()
}

/// p < level.
pub fn chosen_fpr(pvalues: &[f64], level: f64) -> Vec<bool> {
    pvalues.iter().map(|p| *p < level).collect()
}

/// Benjamini–Hochberg: up to the largest p-value with p ≤ level·rank/(how many).
pub fn chosen_fdr(pvalues: &[f64], level: f64) -> Vec<bool> {
    let mut sorted = pvalues.to_vec();
    sorted.sort_by(f64::total_cmp);
    let passes = |at: usize| sorted[at] <= level * (at + 1) as f64 / sorted.len() as f64;
    let last = (0..sorted.len()).rev().find(|&at| passes(at));
    pvalues.iter().map(|p| last.is_some_and(|at| *p <= sorted[at])).collect()
}

/// p < level/(how many).
pub fn chosen_fwe(pvalues: &[f64], level: f64) -> Vec<bool> {
    chosen_fpr(pvalues, level / pvalues.len() as f64)
}

/// P(F > f) with d1 and d2 degrees of freedom.
pub fn upper_tail_of_f(f: f64, d1: f64, d2: f64) -> f64 {
    share_below_angle(d2.sqrt().atan2((d1 * f).sqrt()), d1, d2)
}

/// P(T > t) with `dof` degrees of freedom.
pub fn upper_tail_of_t(t: f64, dof: f64) -> f64 {
    let both = share_below_angle(dof.sqrt().atan2(t.abs()), 1.0, dof);
    if t >= 0.0 { both / 2.0 } else { 1.0 - both / 2.0 }
}

/// ∫_0^end sin^(d2−1) φ · cos^(d1−1) φ dφ as a share of the integral up to π/2. With tan² φ = d2/(d1·F) it is the tail
/// of F: no singularity at either end, no Γ, and nothing cancels in a far tail.
fn share_below_angle(end: f64, d1: f64, d2: f64) -> f64 {
    let log = |phi: f64| (d2 - 1.0) * phi.sin().ln() + (d1 - 1.0) * phi.cos().ln();
    // Where the integrand is largest below an angle, so that neither integral under- or overflows.
    let peak = |end: f64| {
        let top = (d2 - 1.0).sqrt().atan2((d1 - 1.0).max(f64::MIN_POSITIVE).sqrt());
        let at = if d2 > 1.0 { top.min(end) } else { 0.0 };
        if at > 0.0 { log(at) } else { 0.0 }
    };
    let half = std::f64::consts::FRAC_PI_2;
    let (low, high) = (peak(end), peak(half));
    let part = gauss_legendre(|phi| (log(phi) - low).exp(), 0.0, end);
    let whole = gauss_legendre(|phi| (log(phi) - high).exp(), 0.0, half);
    (low - high).exp() * part / whole
}

/// Five-point Gauss–Legendre on each of 4000 equal pieces; the ends themselves are never looked at.
fn gauss_legendre(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let root = (10.0f64 / 7.0).sqrt();
    let (near, far) = ((5.0 - 2.0 * root).sqrt() / 3.0, (5.0 + 2.0 * root).sqrt() / 3.0);
    let s = 13.0 * 70.0f64.sqrt();
    let (w_near, w_far) = ((322.0 + s) / 900.0, (322.0 - s) / 900.0);
    let nodes = [(0.0, 128.0 / 225.0), (near, w_near), (-near, w_near), (far, w_far), (-far, w_far)];
    let half = (to - from) / 8_000.0;
    let mut sum = 0.0;
    for piece in 0..4_000 {
        let middle = from + f64::from(2 * piece + 1) * half;
        for (at, weight) in nodes {
            sum += weight * f(middle + half * at);
        }
    }
    sum * half
}

/// ψ of a whole number: −γ + 1 + 1/2 + … + 1/(m−1).
pub fn digamma(m: usize) -> f64 {
    -0.577_215_664_901_532_9 + (1..m).map(|i| 1.0 / i as f64).sum::<f64>()
}

/// Mutual information of every column and classes, Ross 2014; rows of a class of one are left out.
pub fn mutual_information_of_classes(x: &Matrix, codes: &[usize], k: usize) -> Vec<f64> {
    let size = |class: usize| codes.iter().filter(|c| **c == class).count();
    let rows: Vec<usize> = (0..x.len()).filter(|&i| size(codes[i]) > 1).collect();
    let n = rows.len() as f64;
    let score = |j: usize| {
        if rows.is_empty() || rows.iter().all(|&i| x[i][j] == x[rows[0]][j]) {
            return 0.0;
        }
        let mut sum = digamma(rows.len());
        for &i in &rows {
            let mut same: Vec<f64> = rows
                .iter()
                .filter(|&&o| o != i && codes[o] == codes[i])
                .map(|&o| (x[o][j] - x[i][j]).abs())
                .collect();
            same.sort_by(f64::total_cmp);
            let k = k.min(same.len());
            // All rows nearer than the k-th of the own class, the row itself among them.
            let nearer = rows.iter().filter(|&&o| (x[o][j] - x[i][j]).abs() < same[k - 1]).count();
            sum += (digamma(k) - digamma(size(codes[i])) - digamma(nearer)) / n;
        }
        sum.max(0.0)
    };
    (0..x[0].len()).map(score).collect()
}

/// Mutual information of one column of categories and classes, by the frequencies of their pairs.
pub fn mutual_information_of_codes(x: &Matrix, j: usize, codes: &[usize]) -> f64 {
    let share =
        |holds: &dyn Fn(usize) -> bool| (0..x.len()).filter(|&i| holds(i)).count() as f64 / x.len() as f64;
    (0..x.len())
        .map(|i| {
            let own = share(&|o| x[o][j] == x[i][j]);
            let class = share(&|o| codes[o] == codes[i]);
            let both = share(&|o| x[o][j] == x[i][j] && codes[o] == codes[i]);
            (both / (own * class)).ln() / x.len() as f64
        })
        .sum()
}

/// Mutual information of every column and numbers, Kraskov 2004, first estimator, both divided by their sd.
pub fn mutual_information_of_numbers(x: &Matrix, y: &[f64], k: usize) -> Vec<f64> {
    let n = x.len();
    let scaled = |v: &[f64]| -> Vec<f64> {
        let variance = v.iter().map(|x| (x - mean(v)).powi(2)).sum::<f64>() / v.len() as f64;
        v.iter().map(|x| x / variance.sqrt()).collect()
    };
    let y = scaled(y);
    let k = k.min(n - 1);
    let score = |j: usize| {
        let z: Vec<f64> = x.iter().map(|row| row[j]).collect();
        if z.iter().all(|v| *v == z[0]) {
            return 0.0;
        }
        let z = scaled(&z);
        let mut sum = digamma(n) + digamma(k);
        for i in 0..n {
            let mut joint: Vec<f64> =
                (0..n).filter(|&o| o != i).map(|o| (z[o] - z[i]).abs().max((y[o] - y[i]).abs())).collect();
            joint.sort_by(f64::total_cmp);
            let nearer = |v: &[f64]| v.iter().filter(|o| (**o - v[i]).abs() < joint[k - 1]).count();
            sum -= (digamma(nearer(&z)) + digamma(nearer(&y))) / n as f64;
        }
        sum.max(0.0)
    };
    (0..x[0].len()).map(score).collect()
}

/// Minus the Laplacian score of every column, by n×n matrices (He, Cai & Niyogi 2005).
pub fn laplacian_score(x: &Matrix, k: usize) -> Vec<f64> {
    let n = x.len();
    let k = k.min(n - 1);
    let near: Vec<Vec<usize>> = (0..n)
        .map(|i| {
            let mut others: Vec<usize> = (0..n).filter(|o| *o != i).collect();
            let distance = |o: usize| squared_distance(&x[i], &x[o]);
            others.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
            others.truncate(k);
            others
        })
        .collect();
    let mut t = 0.0;
    for i in 0..n {
        for &o in &near[i] {
            t += squared_distance(&x[i], &x[o]) / (n * k) as f64;
        }
    }
    let mut s = zeros(n, n);
    for i in 0..n {
        for o in 0..n {
            if near[i].contains(&o) || near[o].contains(&i) {
                s[i][o] = if t > 0.0 { (-squared_distance(&x[i], &x[o]) / t).exp() } else { 1.0 };
            }
        }
    }
    let mut d = zeros(n, n);
    for i in 0..n {
        d[i][i] = s[i].iter().sum();
    }
    let l = subtract(&d, &s);
    let ones = vec![1.0; n];
    let product = |a: &[f64], m: &Matrix, b: &[f64]| dot(a, &super::matvec(m, b));
    let score = |j: usize| {
        let f: Vec<f64> = x.iter().map(|row| row[j] - x[0][j]).collect();
        if f.iter().all(|v| *v == 0.0) {
            return -2.0;
        }
        let shift = product(&f, &d, &ones) / product(&ones, &d, &ones);
        let f: Vec<f64> = f.iter().map(|v| v - shift).collect();
        -product(&f, &l, &f) / product(&f, &d, &f)
    };
    (0..x[0].len()).map(score).collect()
}

/// What the lasso predicts: ±1 for two classes (+1 the higher), else one column a class.
pub fn class_targets(codes: &[usize]) -> Matrix {
    let classes = codes.iter().max().expect("rows") + 1;
    if classes == 2 {
        return codes.iter().map(|c| vec![if *c == 1 { 1.0 } else { -1.0 }]).collect();
    }
    super::one_hot(codes, classes)
}

/// X_jᵀ R/n of every column j, p×q.
fn correlations(x: &Matrix, r: &Matrix) -> Matrix {
    let n = x.len() as f64;
    matmul(&transpose(x), r).iter().map(|row| row.iter().map(|v| v / n).collect()).collect()
}

/// The least penalty at which no column has a coefficient: max_j ‖X_jᵀY‖₂/n, X and Y centred.
pub fn lasso_largest_penalty(x: &Matrix, y: &Matrix) -> f64 {
    let rows = correlations(&center_columns(x), &center_columns(y));
    rows.iter().map(|row| dot(row, row).sqrt()).fold(0.0, f64::max)
}

/// 100 penalties from the largest down to a thousandth of it, equal steps of the logarithm.
pub fn lasso_path(largest: f64) -> Vec<f64> {
    (0..100).map(|i| largest * 10f64.powf(-3.0 * f64::from(i) / 99.0)).collect()
}

/// B, p×q, that minimises ‖Y − XB‖²_F/(2n) + λ Σ_j ‖B_j‖₂, X and Y centred: one row of B after the other, until
/// none moves. `start` must have the right shape; it changes the time alone.
pub fn lasso(x: &Matrix, y: &Matrix, penalty: f64, start: &Matrix) -> Matrix {
    let (x, y) = (center_columns(x), center_columns(y));
    let (n, p, q) = (x.len() as f64, x[0].len(), y[0].len());
    let size: Vec<f64> = transpose(&x).iter().map(|c| dot(c, c) / n).collect();
    let mut b = start.clone();
    let mut residual = subtract(&y, &matmul(&x, &b));
    // A row moved by this little moves no prediction beyond rounding.
    let enough = 1e-15 * super::max_abs(&y);
    for _ in 0..200_000 {
        let mut moved = 0.0f64;
        for j in (0..p).filter(|&j| size[j] > 0.0) {
            let mut rho: Vec<f64> = b[j].iter().map(|b| b * size[j]).collect();
            for (row, r) in x.iter().zip(&residual) {
                for c in 0..q {
                    rho[c] += row[j] * r[c] / n;
                }
            }
            let norm = dot(&rho, &rho).sqrt();
            let shrunk = if norm > penalty { (1.0 - penalty / norm) / size[j] } else { 0.0 };
            for c in 0..q {
                let step = shrunk * rho[c] - b[j][c];
                b[j][c] += step;
                for (row, r) in x.iter().zip(&mut residual) {
                    r[c] -= step * row[j];
                }
                moved = moved.max(step.abs() * size[j].sqrt());
            }
        }
        if moved <= enough {
            break;
        }
    }
    b
}

/// How far B is from the optimum, relative to the penalty: ‖X_jᵀR/n − λB_j/‖B_j‖‖ where B_j ≠ 0, else what
/// ‖X_jᵀR/n‖ has above λ.
pub fn lasso_optimality_gap(x: &Matrix, y: &Matrix, penalty: f64, b: &Matrix) -> f64 {
    let (x, y) = (center_columns(x), center_columns(y));
    let gradient = correlations(&x, &subtract(&y, &matmul(&x, b)));
    let mut worst = 0.0f64;
    for j in 0..b.len() {
        let norm = dot(&b[j], &b[j]).sqrt();
        let gap = if norm > 0.0 {
            let rest: Vec<f64> = (0..b[j].len()).map(|c| gradient[j][c] - penalty * b[j][c] / norm).collect();
            dot(&rest, &rest).sqrt()
        } else {
            dot(&gradient[j], &gradient[j]).sqrt() - penalty
        };
        worst = worst.max(gap / penalty);
    }
    worst
}

/// Mean squared error of every penalty on the path, each row left out in turn.
pub fn lasso_leave_one_out(x: &Matrix, y: &Matrix, path: &[f64]) -> Vec<f64> {
    let n = x.len();
    let q = y[0].len();
    let mut errors = vec![0.0; path.len()];
    for out in 0..n {
        let without = |a: &Matrix| -> Matrix { (0..n).filter(|i| *i != out).map(|i| a[i].clone()).collect() };
        let (fit_x, fit_y) = (without(x), without(y));
        let column_mean = |a: &Matrix, j: usize| mean(&a.iter().map(|row| row[j]).collect::<Vec<_>>());
        let mut b = zeros(x[0].len(), q);
        for (at, &penalty) in path.iter().enumerate() {
            b = lasso(&fit_x, &fit_y, penalty, &b);
            for c in 0..q {
                let mut prediction = column_mean(&fit_y, c);
                for j in 0..b.len() {
                    prediction += b[j][c] * (x[out][j] - column_mean(&fit_x, j));
                }
                errors[at] += (y[out][c] - prediction).powi(2) / (n * q) as f64;
            }
        }
    }
    errors
}
