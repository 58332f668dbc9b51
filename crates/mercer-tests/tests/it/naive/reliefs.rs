//! Naive neighbours and the Relief family: neighbours by sorting all distances, scores pair by pair.

use super::{Matrix, dot, kernel, manhattan_distance, squared_distance, upper_tail_of_t, zeros};

/// The distance that the differences of single columns make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// √Σ d².
    Euclidean,
    /// Σ d.
    Manhattan,
}

/// `[i][k][j]`: how much rows i and k differ in column j, NaN where either value is missing.
pub type Differences = Vec<Matrix>;

/// |a − b|, divided by the column's range if `scaled` (a constant column differs by 0); categories 0 or 1.
pub fn differences(x: &Matrix, categorical: &[usize], scaled: bool) -> Differences {
    let (n, p) = (x.len(), x[0].len());
    let mut d = vec![zeros(n, p); n];
    for j in 0..p {
        let present = || x.iter().map(|row| row[j]).filter(|v| !v.is_nan());
        let range = present().fold(f64::MIN, f64::max) - present().fold(f64::MAX, f64::min);
        for i in 0..n {
            for k in 0..n {
                let (a, b) = (x[i][j], x[k][j]);
                d[i][k][j] = if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else if categorical.contains(&j) {
                    f64::from(u8::from(a != b))
                } else if !scaled {
                    (a - b).abs()
                } else if range > 0.0 {
                    (a - b).abs() / range
                } else {
                    0.0
                };
            }
        }
    }
    d
}

/// Norms of the differences. With missing values: the sum over the columns present × p/(how many), infinite if none.
pub fn own_distances(d: &Differences, norm: Norm) -> Matrix {
    let n = d.len();
    let mut distance = zeros(n, n);
    for i in 0..n {
        for k in 0..n {
            let p = d[i][k].len();
            let present: Vec<f64> = d[i][k].iter().copied().filter(|v| !v.is_nan()).collect();
            let power = |v: &f64| if norm == Norm::Euclidean { v * v } else { *v };
            let sum = present.iter().map(power).sum::<f64>() * p as f64 / present.len() as f64;
            distance[i][k] = match norm {
                _ if present.is_empty() => f64::INFINITY,
                Norm::Euclidean => sum.sqrt(),
                Norm::Manhattan => sum,
            };
        }
    }
    distance
}

/// Distances in a kernel's space: of the input for stationary kernels (L1 for laplacian, else L2), else
/// √(k(x,x) + k(x',x') − 2k(x,x')), clipped at 0.
pub fn kernel_distances(name: &str, gamma: f64, degree: u32, coef0: f64, x: &Matrix) -> Matrix {
    let n = x.len();
    let k = |a: &[f64], b: &[f64]| kernel(name, gamma, degree, coef0, 1.0, a, b);
    let mut distance = zeros(n, n);
    for a in 0..n {
        for b in 0..n {
            distance[a][b] = match name {
                "laplacian" => manhattan_distance(&x[a], &x[b]),
                "rbf" | "matern12" | "matern32" | "matern52" | "rq" => squared_distance(&x[a], &x[b]).sqrt(),
                _ => (k(&x[a], &x[a]) + k(&x[b], &x[b]) - 2.0 * k(&x[a], &x[b])).max(0.0).sqrt(),
            };
        }
    }
    distance
}

/// What the Relief family compares.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Of the columns that are scored.
    pub differences: Differences,
    /// In the space where neighbours are sought.
    pub distances: Matrix,
    /// Class of every row.
    pub codes: Vec<usize>,
    /// The rows whose neighbours count.
    pub queries: Vec<usize>,
}

/// Scores, and weights max(z, 0)/‖max(z, 0)‖₂, all 0 where no z is positive.
#[derive(Clone, Debug)]
pub struct Weighed {
    pub scores: Vec<f64>,
    pub weights: Vec<f64>,
    /// `irelief`: rounds made, and whether the last one moved the weights by less than 1e-3.
    pub rounds: usize,
    pub settled: bool,
}

impl Pairs {
    /// All rows query; neighbours are those of the columns themselves.
    pub fn own(x: &Matrix, categorical: &[usize], scaled: bool, norm: Norm, codes: &[usize]) -> Self {
        let differences = differences(x, categorical, scaled);
        let distances = own_distances(&differences, norm);
        Self { differences, distances, codes: codes.to_vec(), queries: (0..x.len()).collect() }
    }

    fn p(&self) -> usize {
        self.differences[0][0].len()
    }

    fn classes(&self) -> usize {
        self.codes.iter().max().expect("rows") + 1
    }

    fn prior(&self, class: usize) -> f64 {
        self.codes.iter().filter(|c| **c == class).count() as f64 / self.codes.len() as f64
    }

    /// The k nearest of those wanted, never the row itself, nearest first, the lower index first where tied.
    pub fn nearest(&self, i: usize, wanted: impl Fn(usize) -> bool, k: usize) -> Vec<usize> {
        let mut others: Vec<usize> = (0..self.codes.len()).filter(|&o| o != i && wanted(o)).collect();
        others.sort_by(|&a, &b| self.distances[i][a].total_cmp(&self.distances[i][b]).then(a.cmp(&b)));
        others.truncate(k);
        others
    }

    fn hits(&self, i: usize, k: usize) -> Vec<usize> {
        self.nearest(i, |o| self.codes[o] == self.codes[i], k)
    }

    /// Of all other classes together.
    fn pooled_misses(&self, i: usize, k: usize) -> Vec<usize> {
        self.nearest(i, |o| self.codes[o] != self.codes[i], k)
    }

    fn of_class(&self, i: usize, class: usize, k: usize) -> Vec<usize> {
        self.nearest(i, |o| self.codes[o] == class, k)
    }

    /// The differences between i and these others in column j that are not missing.
    fn present(&self, i: usize, others: &[usize], j: usize) -> Vec<f64> {
        others.iter().map(|&o| self.differences[i][o][j]).filter(|d| !d.is_nan()).collect()
    }

    /// z_j = Σ_i (Σ misses d_j^power − Σ hits d_j^power), scores z/(number of queries).
    pub fn relief(&self, k: usize, power: i32) -> Weighed {
        let mut z = vec![0.0; self.p()];
        for &i in &self.queries {
            for j in 0..self.p() {
                for d in self.present(i, &self.pooled_misses(i, k), j) {
                    z[j] += d.powi(power);
                }
                for d in self.present(i, &self.hits(i, k), j) {
                    z[j] -= d.powi(power);
                }
            }
        }
        let scores = z.iter().map(|z| z / self.queries.len() as f64).collect();
        Weighed { scores, weights: positive_part(&z), rounds: 1, settled: true }
    }

    /// For each query the mean difference to its misses of each class, weighted by prior/(1 − own prior),
    /// less the mean difference to its hits; the mean over the queries that have a value in the column.
    pub fn relieff(&self, k: usize) -> Vec<f64> {
        self.averaged(|i, class| self.of_class(i, class, k))
    }

    /// ReliefF's scores with the rows within a radius as neighbours, with a star less those of the rows outside. The radius
    /// is the mean distance of all pairs (`multi`: mean − sd/2 of the query's distances, and rows outside are beyond mean +
    /// sd/2). A row that shares no column with the query is at no distance from it: it is not in the mean either. Numbers: a
    /// hit is a row whose number differs by less than their standard deviation.
    pub fn surf(&self, multi: bool, star: bool, numbers: Option<&[f64]>) -> Vec<f64> {
        let all = 0..self.codes.len();
        let distances = |i: usize| -> Vec<f64> {
            let others = all.clone().filter(|&o| o != i && self.distances[i][o].is_finite());
            others.map(|o| self.distances[i][o]).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let everything: Vec<f64> = self.queries.iter().flat_map(|&i| distances(i)).collect();
        let alike = numbers.map(|y| {
            let about = mean(y);
            (y.iter().map(|v| (v - about) * (v - about)).sum::<f64>() / (y.len() as f64 - 1.0)).sqrt()
        });
        let overall = mean(&everything);
        let limits = all.clone().map(|i| {
            if !multi {
                return (overall, overall);
            }
            let own = distances(i);
            let about = mean(&own);
            let sd = mean(&own.iter().map(|d| (d - about) * (d - about)).collect::<Vec<f64>>()).sqrt();
            (about - sd / 2.0, about + sd / 2.0)
        });
        let limits: Vec<(f64, f64)> = limits.collect();
        let near = |i: usize, o: usize| o != i && self.distances[i][o] < limits[i].0;
        let far = |i: usize, o: usize| {
            o != i && self.distances[i][o].is_finite() && self.distances[i][o] > limits[i].1
        };
        let averaged = |among: &dyn Fn(usize, usize) -> bool| match (numbers, alike) {
            (Some(y), Some(alike)) => {
                // Hits are one class, misses the other, seen from every query.
                let mut scores = vec![0.0; self.p()];
                for j in 0..self.p() {
                    let mut queries = 0.0;
                    for &i in &self.queries {
                        if self.differences[i][i][j].is_nan() {
                            continue;
                        }
                        queries += 1.0;
                        for hit in [true, false] {
                            let others: Vec<usize> = all
                                .clone()
                                .filter(|&o| among(i, o) && ((y[i] - y[o]).abs() < alike) == hit)
                                .collect();
                            let d = self.present(i, &others, j);
                            if !d.is_empty() {
                                scores[j] += mean(&d) * if hit { -1.0 } else { 1.0 };
                            }
                        }
                    }
                    if queries > 0.0 {
                        scores[j] /= queries;
                    }
                }
                scores
            }
            _ => self.averaged(|i, class| {
                all.clone().filter(|&o| among(i, o) && self.codes[o] == class).collect()
            }),
        };
        let mut scores = averaged(&near);
        if star {
            scores.iter_mut().zip(averaged(&far)).for_each(|(score, far)| *score -= far);
        }
        scores
    }

    pub fn multisurf(&self) -> Vec<f64> {
        self.surf(true, false, None)
    }

    fn averaged(&self, neighbours: impl Fn(usize, usize) -> Vec<usize>) -> Vec<f64> {
        let mut scores = vec![0.0; self.p()];
        for j in 0..self.p() {
            let mut queries = 0.0;
            for &i in &self.queries {
                if self.differences[i][i][j].is_nan() {
                    continue;
                }
                queries += 1.0;
                let own = self.codes[i];
                for class in 0..self.classes() {
                    let d = self.present(i, &neighbours(i, class), j);
                    if !d.is_empty() {
                        let mean = d.iter().sum::<f64>() / d.len() as f64;
                        let share =
                            if class == own { -1.0 } else { self.prior(class) / (1.0 - self.prior(own)) };
                        scores[j] += share * mean;
                    }
                }
            }
            if queries > 0.0 {
                scores[j] /= queries;
            }
        }
        scores
    }

    /// STIR (Le et al. 2019): Student's t of all miss pairs against all hit pairs, upper tail.
    pub fn stir_pvalues(&self, k: usize) -> Vec<f64> {
        let pvalue = |j: usize| {
            let (mut hits, mut misses) = (Vec::new(), Vec::new());
            for &i in &self.queries {
                for class in 0..self.classes() {
                    let d = self.present(i, &self.of_class(i, class, k), j);
                    if class == self.codes[i] { hits.extend(d) } else { misses.extend(d) }
                }
            }
            let (n_m, n_h) = (misses.len() as f64, hits.len() as f64);
            if misses.is_empty() || hits.is_empty() || n_m + n_h < 3.0 {
                return 1.0;
            }
            let mean = |d: &[f64]| d.iter().sum::<f64>() / d.len() as f64;
            let (m, h) = (mean(&misses), mean(&hits));
            let squares = |d: &[f64], mean: f64| d.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
            let dof = n_m + n_h - 2.0;
            // (n_M − 1)·s_M² is the sum of squares itself.
            let s_p = ((squares(&misses, m) + squares(&hits, h)) / dof).sqrt();
            if s_p == 0.0 {
                return if m > h { 0.0 } else { 1.0 };
            }
            upper_tail_of_t((m - h) / (s_p * (1.0 / n_m + 1.0 / n_h).sqrt()), dof)
        };
        (0..self.p()).map(pvalue).collect()
    }

    /// N_dCdA/N_dC − (N_dA − N_dCdA)/(N − N_dC), sums over the pairs present in the column; a term whose
    /// denominator is not positive counts 0.
    pub fn rrelieff(&self, y: &[f64], k: usize, sigma: f64) -> Vec<f64> {
        let range = y.iter().copied().fold(f64::MIN, f64::max) - y.iter().copied().fold(f64::MAX, f64::min);
        let mut scores = vec![0.0; self.p()];
        for j in 0..self.p() {
            let (mut n, mut n_dc, mut n_da, mut n_dcda) = (0.0, 0.0, 0.0, 0.0);
            for &i in &self.queries {
                let others = self.nearest(i, |_| true, k);
                let weight = |at: usize| (-((at + 1) as f64 / sigma) * ((at + 1) as f64 / sigma)).exp();
                let total: f64 = (0..others.len()).map(weight).sum();
                for (at, &o) in others.iter().enumerate() {
                    let d_a = self.differences[i][o][j];
                    let d_c = if range > 0.0 { (y[i] - y[o]).abs() / range } else { 0.0 };
                    if !d_a.is_nan() {
                        let w = weight(at) / total;
                        n += w;
                        n_dc += w * d_c;
                        n_da += w * d_a;
                        n_dcda += w * d_c * d_a;
                    }
                }
            }
            if n_dc > 0.0 {
                scores[j] += n_dcda / n_dc;
            }
            if n - n_dc > 0.0 {
                scores[j] -= (n_da - n_dcda) / (n - n_dc);
            }
        }
        scores
    }

    /// Σ w_j d_j, × Σw/Σ_present w where values are missing.
    fn weighted_distance(&self, w: &[f64], i: usize, k: usize) -> f64 {
        let d = &self.differences[i][k];
        let (mut sum, mut present) = (0.0, 0.0);
        for j in 0..self.p() {
            if !d[j].is_nan() {
                sum += w[j] * d[j];
                present += w[j];
            }
        }
        if d.iter().any(|d| d.is_nan()) { sum * w.iter().sum::<f64>() / present } else { sum }
    }

    /// Sun 2007. `width` None: the median of the first distances over the pairs i < k, 1 if that is 0.
    pub fn irelief(&self, width: Option<f64>) -> Weighed {
        let (n, p) = (self.codes.len(), self.p());
        let mut w = vec![1.0 / (p as f64).sqrt(); p];
        let width = width.unwrap_or_else(|| {
            let mut all = Vec::new();
            for i in 0..n {
                for k in i + 1..n {
                    all.push(self.weighted_distance(&w, i, k));
                }
            }
            all.sort_by(f64::total_cmp);
            let half = all.len() / 2;
            let median = if all.len() % 2 == 1 { all[half] } else { f64::midpoint(all[half - 1], all[half]) };
            if median > 0.0 { median } else { 1.0 }
        });
        let (mut rounds, mut settled, mut scores) = (0, false, vec![0.0; p]);
        while rounds < 100 && !settled {
            rounds += 1;
            scores = self.irelief_round(&w, width);
            let next = positive_part(&scores);
            let moved: Vec<f64> = next.iter().zip(&w).map(|(a, b)| a - b).collect();
            // With no positive score there is no distance left to look for neighbours in.
            settled = dot(&moved, &moved).sqrt() < 1e-3 || next.iter().all(|w| *w == 0.0);
            w = next;
        }
        Weighed { scores, weights: w, rounds, settled }
    }

    /// ν_j = mean over the queries of γ_i (Σ_misses α_k d_j − Σ_hits β_k d_j).
    fn irelief_round(&self, w: &[f64], width: f64) -> Vec<f64> {
        let mut nu = vec![0.0; self.p()];
        for &i in &self.queries {
            let f: Vec<f64> =
                (0..self.codes.len()).map(|k| (-self.weighted_distance(w, i, k) / width).exp()).collect();
            let (hits, misses): (Vec<usize>, Vec<usize>) =
                (0..self.codes.len()).filter(|&k| k != i).partition(|&k| self.codes[k] == self.codes[i]);
            let total = |others: &[usize]| others.iter().map(|&k| f[k]).sum::<f64>();
            let gamma = 1.0 - total(&misses) / (total(&misses) + total(&hits));
            for (sign, others) in [(1.0, &misses), (-1.0, &hits)] {
                for j in 0..self.p() {
                    let (mut sum, mut present) = (0.0, 0.0);
                    for &k in others {
                        if !self.differences[i][k][j].is_nan() {
                            sum += f[k] * self.differences[i][k][j];
                            present += f[k];
                        }
                    }
                    if present > 0.0 {
                        nu[j] += sign * gamma * sum / present;
                    }
                }
            }
        }
        nu.iter().map(|v| v / self.queries.len() as f64).collect()
    }
}

/// max(z, 0)/‖max(z, 0)‖₂, all 0 if no z is positive.
pub fn positive_part(z: &[f64]) -> Vec<f64> {
    let positive: Vec<f64> = z.iter().map(|z| z.max(0.0)).collect();
    // Divided by the largest first: squares of tiny or huge numbers leave the range of a double.
    let largest = positive.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return positive;
    }
    let positive: Vec<f64> = positive.iter().map(|z| z / largest).collect();
    let norm = dot(&positive, &positive).sqrt();
    positive.iter().map(|z| z / norm).collect()
}
