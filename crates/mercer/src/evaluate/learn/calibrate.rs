//! Probabilities of classes from scores, by rows that were left out: one sharpness for all classes, and a shift of each.
//!
//!   p_j ∝ exp(s·(f_j + d_j)),   the least  −Σ_i Σ_j t_ij ln p_ij + PRIOR/2·Σ_j (s·d_j)²
//!
//! Ridge draws its scores towards the share of each class, and those of small classes farthest: a shift gives back what new rows
//! of such a class lose. The prior keeps shifts small where few rows ask for them.
//!
//! cost    n·c exponentials a step, some ten steps
//! source  Platt 1999 (targets, and an intercept beside the slope); Guo et al. 2017 (one sharpness for all classes)
//! differs a class of n rows is given (n+1)/(n+2) of a row's probability: where all are right, no probability would be too
//!         large else. What is told of rows left out is by halves, each with what the other half asks for

use faer::Mat;

use crate::data::labels::Labels;
use crate::data::weights::{Weights, total, weight};
use crate::random;

/// The precision of s·d before any row is seen: that of about forty rows whose probability is one half. Less lets few rows that are
/// missed among many shift scores by chance.
const PRIOR: f64 = 10.0;

/// The least and the largest sharpness.
const SHARPNESS: (f64, f64) = (0.01, 1_000.0);

/// The most steps, and the shortest part of one that is tried.
const STEPS: usize = 100;
const SHORTEST: f64 = 1e-3;

/// Where a step gains no more than this a row, it was the last.
const GAIN: f64 = 1e-8;

/// How scores become probabilities.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Calibration {
    /// s.
    pub(super) sharpness: f64,
    /// d, one a class; empty where labels are numbers.
    pub(super) shifts: Vec<f64>,
}

/// Scores of rows that were left out, their classes, and what each counts.
struct Scored<'a> {
    /// n×c, row-major.
    scores: Vec<f64>,
    codes: Vec<usize>,
    /// Parts of 1.
    counts: Vec<f64>,
    /// The share of a row's probability that its class is given, by class.
    shares: &'a [f64],
}

/// What a step takes off.
struct Step {
    sharpness: f64,
    intercepts: Vec<f64>,
}

impl Calibration {
    /// What makes these scores (n×c) the best probabilities of the labels.
    pub(super) fn fit(scores: &Mat<f64>, labels: &Labels, counts: Option<&Weights>) -> Self {
        let Labels::Classes { codes, names } = labels else {
            return Self { sharpness: 1.0, shifts: Vec::new() };
        };
        let all: Vec<usize> = (0..codes.len()).collect();
        Scored::of(scores, codes, counts, &shares(codes, names.len()), &all).calibration()
    }

    /// Scores with the shifts of the half that a row is not of, and the mean −ln p of the true classes; None for numbers.
    pub(super) fn by_halves(
        scores: &Mat<f64>,
        labels: &Labels,
        counts: Option<&Weights>,
        seed: u64,
    ) -> (Mat<f64>, Option<f64>) {
        let Labels::Classes { codes, names } = labels else { return (scores.clone(), None) };
        let shares = shares(codes, names.len());
        let order = random::permutation(codes.len(), seed);
        let halves = order.split_at(order.len() / 2);
        let (mut shifted, mut loss) = (scores.clone(), 0.0);
        for (seen, unseen) in [halves, (halves.1, halves.0)] {
            let found = Scored::of(scores, codes, counts, &shares, seen).calibration();
            let other = Scored::of(scores, codes, counts, &shares, unseen);
            let intercepts: Vec<f64> = found.shifts.iter().map(|d| found.sharpness * d).collect();
            other.each(found.sharpness, &intercepts, |at, _, ln| {
                loss -= weight(counts, unseen[at]) * ln(codes[unseen[at]]);
            });
            for &i in unseen {
                shifted.row_mut(i).iter_mut().zip(&found.shifts).for_each(|(score, shift)| *score += shift);
            }
        }
        (shifted, Some((loss / total(counts, codes.len())).max(0.0)))
    }
}

/// Platt's targets.
fn shares(codes: &[usize], c: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; c];
    codes.iter().for_each(|&code| sizes[code] += 1.0);
    sizes.into_iter().map(|n| (n + 1.0) / (n + 2.0)).collect()
}

impl<'a> Scored<'a> {
    fn of(
        scores: &Mat<f64>,
        codes: &[usize],
        counts: Option<&Weights>,
        shares: &'a [f64],
        rows: &[usize],
    ) -> Self {
        let all: f64 = rows.iter().map(|&i| weight(counts, i)).sum();
        Self {
            scores: rows.iter().flat_map(|&i| scores.row(i).iter().copied()).collect(),
            codes: rows.iter().map(|&i| codes[i]).collect(),
            counts: rows.iter().map(|&i| weight(counts, i) / all).collect(),
            shares,
        }
    }

    fn calibration(&self) -> Calibration {
        let mut intercepts = vec![0.0; self.shares.len()];
        let mut sharpness = self.best_sharpness(&intercepts, SHARPNESS.0.ln(), SHARPNESS.1.ln()).exp();
        let mut loss = self.loss(sharpness, &intercepts);
        for _ in 0..STEPS {
            let step = self.step(sharpness, &intercepts);
            let before = loss;
            let mut part = 1.0;
            while part > SHORTEST && loss >= before {
                let next: Vec<f64> =
                    intercepts.iter().zip(&step.intercepts).map(|(b, step)| b - part * step).collect();
                let sharper = (sharpness - part * step.sharpness).clamp(SHARPNESS.0, SHARPNESS.1);
                let with_next = self.loss(sharper, &next);
                if with_next < loss {
                    (intercepts, sharpness, loss) = (next, sharper, with_next);
                }
                part /= 2.0;
            }
            if before - loss <= GAIN {
                break;
            }
        }
        Calibration { sharpness, shifts: intercepts.into_iter().map(|b| b / sharpness).collect() }
    }

    /// The logarithm of the best sharpness within these limits. The loss has one minimum: golden section.
    fn best_sharpness(&self, intercepts: &[f64], mut low: f64, mut high: f64) -> f64 {
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        while high - low > 1e-3 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if self.loss(a.exp(), intercepts) <= self.loss(b.exp(), intercepts) { high = b } else { low = a }
        }
        f64::midpoint(low, high)
    }

    /// What Newton's method takes off sharpness and intercepts b = s·d, with twice the curvature along each intercept in place of
    /// their curvatures together, which are at most that: the matrix is a diagonal but for the sharpness.
    fn step(&self, sharpness: f64, intercepts: &[f64]) -> Step {
        let c = intercepts.len();
        let prior = PRIOR / self.codes.len() as f64;
        let (mut slope, mut curvature) = (0.0, 0.0);
        let mut slopes: Vec<f64> = intercepts.iter().map(|b| prior * b).collect();
        let (mut curvatures, mut mixed) = (vec![prior; c], vec![0.0; c]);
        self.each(sharpness, intercepts, |i, p, _| {
            let (count, scores) = (self.counts[i], &self.scores[i * c..(i + 1) * c]);
            let (share, rest) = self.target(i);
            let mean: f64 = p.iter().zip(scores).map(|(p, f)| p * f).sum();
            for j in 0..c {
                let off = p[j] - if j == self.codes[i] { share } else { rest };
                slope += count * off * scores[j];
                slopes[j] += count * off;
                curvature += count * p[j] * (scores[j] - mean).powi(2);
                curvatures[j] += 2.0 * count * p[j] * (1.0 - p[j]);
                mixed[j] += count * p[j] * (scores[j] - mean);
            }
        });
        let of = |j: usize| mixed[j] / curvatures[j];
        let left = curvature - (0..c).map(|j| of(j) * mixed[j]).sum::<f64>();
        let along = slope - (0..c).map(|j| of(j) * slopes[j]).sum::<f64>();
        let sharpness = if left > 1e-12 * curvature { along / left } else { 0.0 };
        let intercepts = (0..c).map(|j| (slopes[j] - mixed[j] * sharpness) / curvatures[j]).collect();
        Step { sharpness, intercepts }
    }

    /// The mean loss of a row, with the prior's part.
    fn loss(&self, sharpness: f64, intercepts: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.each(sharpness, intercepts, |i, p, ln| {
            let (share, rest) = self.target(i);
            let all: f64 = if rest > 0.0 { (0..p.len()).map(ln).sum() } else { 0.0 };
            sum -= self.counts[i] * ((share - rest) * ln(self.codes[i]) + rest * all);
        });
        let prior: f64 = intercepts.iter().map(|b| b * b).sum();
        sum + PRIOR * prior / (2 * self.codes.len()) as f64
    }

    /// Shows the probabilities of every row, and their logarithms.
    fn each(
        &self,
        sharpness: f64,
        intercepts: &[f64],
        mut show: impl FnMut(usize, &[f64], &dyn Fn(usize) -> f64),
    ) {
        let c = intercepts.len();
        let (mut exponents, mut p) = (vec![0.0; c], vec![0.0; c]);
        for (i, scores) in self.scores.chunks_exact(c).enumerate() {
            let mut most = f64::NEG_INFINITY;
            for j in 0..c {
                exponents[j] = sharpness * scores[j] + intercepts[j];
                most = most.max(exponents[j]);
            }
            let mut sum = 0.0;
            for j in 0..c {
                p[j] = (exponents[j] - most).exp();
                sum += p[j];
            }
            p.iter_mut().for_each(|p| *p /= sum);
            let offset = most + sum.ln();
            show(i, &p, &|j| (exponents[j] - offset).max(1e-15f64.ln()));
        }
    }

    /// What a row's class is given of its probability, and each of the others.
    fn target(&self, i: usize) -> (f64, f64) {
        let share = self.shares[self.codes[i]];
        (share, (1.0 - share) / self.shares.len().saturating_sub(1).max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of three classes of 60, 20 and 10 rows, those of the small ones drawn towards their share, and labels.
    fn drawn() -> (Mat<f64>, Labels) {
        let codes: Vec<usize> = (0..90).map(|i| usize::from(i >= 60) + usize::from(i >= 80)).collect();
        let wave = |at: usize| ((at * at) as f64 * 0.71).sin();
        let scores = Mat::from_fn(90, 3, |i, j| {
            let share = [0.6, 0.25, 0.15][j];
            share + 0.3 * (f64::from(u8::from(codes[i] == j)) - share) + 0.25 * wave(7 * i + j)
        });
        let labels = Labels::classes(&codes.iter().map(ToString::to_string).collect::<Vec<_>>());
        (scores, labels)
    }

    /// The loss as it is defined, of sharpness and intercepts.
    fn naive(scores: &Mat<f64>, labels: &Labels, sharpness: f64, intercepts: &[f64]) -> f64 {
        let Labels::Classes { codes, names } = labels else { panic!("classes") };
        let c = names.len();
        let mut sum = 0.0;
        for (i, &code) in codes.iter().enumerate() {
            let size = codes.iter().filter(|other| **other == code).count() as f64;
            let e: Vec<f64> = (0..c).map(|j| (sharpness * scores[(i, j)] + intercepts[j]).exp()).collect();
            for j in 0..c {
                let target = if j == code { (size + 1.0) / (size + 2.0) } else { 1.0 / (size + 2.0) / 2.0 };
                sum -= target * (e[j] / e.iter().sum::<f64>()).ln();
            }
        }
        (sum + PRIOR / 2.0 * intercepts.iter().map(|b| b * b).sum::<f64>()) / codes.len() as f64
    }

    #[test]
    fn no_other_sharpness_or_shift_has_a_smaller_loss() {
        let (scores, labels) = drawn();
        let found = Calibration::fit(&scores, &labels, None);
        let intercepts: Vec<f64> = found.shifts.iter().map(|d| d * found.sharpness).collect();
        let least = naive(&scores, &labels, found.sharpness, &intercepts);
        for factor in [0.9, 0.99, 1.01, 1.1] {
            assert!(least <= naive(&scores, &labels, factor * found.sharpness, &intercepts) + 1e-6);
        }
        for j in 0..3 {
            for step in [-0.2, -0.02, 0.02, 0.2] {
                let mut other = intercepts.clone();
                other[j] += step;
                assert!(least <= naive(&scores, &labels, found.sharpness, &other) + 1e-6, "{j} {step}");
            }
        }
        // Without shifts it is clearly larger: the smallest class is given some.
        assert!(least < naive(&scores, &labels, found.sharpness, &[0.0; 3]) - 1e-3);
        assert!(found.shifts[2] > found.shifts[0]);
    }

    #[test]
    fn rows_that_count_twice_are_as_two_of_them_but_for_the_targets() {
        let (scores, labels) = drawn();
        let twice = Weights::new(vec![2.0; 90]).expect("weights");
        assert_eq!(
            Calibration::fit(&scores, &labels, Some(&twice)),
            Calibration::fit(&scores, &labels, None)
        );
        let first = Weights::new((0..90).map(|i| if i < 60 { 3.0 } else { 1.0 }).collect()).expect("weights");
        let found = Calibration::fit(&scores, &labels, Some(&first));
        assert!(found.shifts[0] > Calibration::fit(&scores, &labels, None).shifts[0]);
    }

    #[test]
    fn half_of_the_rows_tell_of_the_other_half() {
        let (scores, labels) = drawn();
        let (shifted, loss) = Calibration::by_halves(&scores, &labels, None, 0);
        let shift = |i: usize, j: usize| (1e9 * (shifted[(i, j)] - scores[(i, j)])).round() as i64;
        let mut kinds: Vec<[i64; 3]> = (0..90).map(|i| [shift(i, 0), shift(i, 1), shift(i, 2)]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 2);
        let all = Calibration::fit(&scores, &labels, None);
        let intercepts: Vec<f64> = all.shifts.iter().map(|d| d * all.sharpness).collect();
        let seen = naive(&scores, &labels, all.sharpness, &intercepts);
        assert!((loss.expect("classes") - seen).abs() < 0.3 * seen);
        let numbers = Labels::Numbers(vec![1.0; 90]);
        assert_eq!(Calibration::by_halves(&scores, &numbers, None, 0), (scores, None));
    }
}
