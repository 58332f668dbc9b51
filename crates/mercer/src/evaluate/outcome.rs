//! The results of a comparison: one [`Entry`] per candidate, with one score per split.

use serde_json::{Value, json};

/// A difference of more than this many standard errors is called clear. Splits share rows, which makes the standard error
/// about a third too small, and the best of many candidates is partly lucky: with a lower limit clear differences were
/// often found on labels that are pure noise.
pub const CLEAR: f64 = 3.0;

/// A candidate and its results on every finished split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The method: a name of the catalogue, or a baseline: `raw` (the columns as they are), `kknn` (nearest neighbour by
    /// the kernel's distance), `rbf-svm`.
    pub method: String,
    /// The basis below it; None: baselines.
    pub basis: Option<String>,
    /// The rule for γ that was requested; None: no kernel, or one without γ.
    pub gamma_rule: Option<String>,
    /// The evaluator of the features; the baselines `kknn` and `rbf-svm` are their own.
    pub evaluator: String,
    /// The requested number of features; None: the method's own.
    pub asked: Option<usize>,
    /// The comparison's measure, one value per split.
    pub scores: Vec<f64>,
    /// Its second measure, one value per split.
    pub second: Vec<f64>,
    /// γ, one value per split; empty for a kernel without γ.
    pub gammas: Vec<f64>,
    /// Number of features, one per split.
    pub n_features: Vec<usize>,
    /// Kernel values that one prediction costs, one number per split.
    pub kernel_values: Vec<usize>,
    /// Seconds to learn the features and to evaluate them, as if this candidate were alone, one number per split.
    pub seconds: Vec<f64>,
    /// Confusion matrix, true class first, over all splits; empty for numbers.
    pub confusion: Vec<Vec<usize>>,
    /// Why it has no scores, or too few.
    pub failed: Option<String>,
}

/// All candidates of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// `accuracy` or `r2`: what the candidates are sorted by; high is good.
    pub measure: String,
    /// `balanced_accuracy` or `mse`.
    pub second: String,
    /// Best first; those that failed last.
    pub entries: Vec<Entry>,
    /// Rows and inputs of the data.
    pub rows: usize,
    /// See `rows`.
    pub inputs: usize,
    /// The classes; empty for numbers.
    pub classes: Vec<String>,
    /// Requested number of splits.
    pub n_splits: usize,
    /// Whether it was stopped early; the entries then hold the finished splits.
    pub interrupted: bool,
    /// Warnings, each once.
    pub warnings: Vec<String>,
}

impl Entry {
    /// Mean score; None without scores.
    ///
    /// ```
    /// use mercer::evaluate::outcome::Entry;
    ///
    /// let entry = Entry { scores: vec![0.5, 0.7], ..Entry::default() };
    /// assert!((entry.mean().unwrap() - 0.6).abs() < 1e-15);
    /// assert!((entry.standard_error().unwrap() - 0.1).abs() < 1e-15);
    /// ```
    pub fn mean(&self) -> Option<f64> {
        average(&self.scores)
    }

    /// Standard deviation of the scores over the root of their number; None with fewer than two. It is somewhat too small,
    /// because splits share rows.
    pub fn standard_error(&self) -> Option<f64> {
        standard_error(&self.scores)
    }

    /// The difference of the means, this one less the other, and its standard error. The error is that of paired differences
    /// where both have all splits, because a hard split is hard for both. None without scores.
    ///
    /// ```
    /// use mercer::evaluate::outcome::Entry;
    ///
    /// let of = |scores: &[f64]| Entry { scores: scores.to_vec(), ..Entry::default() };
    /// let (lead, error) = of(&[0.5, 0.7]).lead_over(&of(&[0.25, 0.45])).unwrap();
    /// assert!((lead - 0.25).abs() < 1e-15 && error.unwrap() < 1e-15); // the same on every split
    /// ```
    pub fn lead_over(&self, other: &Self) -> Option<(f64, Option<f64>)> {
        let lead = self.mean()? - other.mean()?;
        let error = if self.scores.len() == other.scores.len() {
            let scores = self.scores.iter().zip(&other.scores).map(|(a, b)| a - b).collect();
            Self { scores, ..Self::default() }.standard_error()
        } else {
            self.standard_error().zip(other.standard_error()).map(|(a, b)| a.hypot(b))
        };
        Some((lead, error))
    }

    /// Whether it is clearly better (true) or clearly worse (false) than another on the same splits: by more than
    /// [`CLEAR`] standard errors of the difference; None: neither.
    ///
    /// ```
    /// use mercer::evaluate::outcome::Entry;
    ///
    /// let of = |scores: &[f64]| Entry { scores: scores.to_vec(), ..Entry::default() };
    /// let (high, low) = (of(&[0.9, 0.8, 0.9]), of(&[0.5, 0.5, 0.6]));
    /// assert_eq!((high.clearly_better(&low), low.clearly_better(&high)), (Some(true), Some(false)));
    /// assert_eq!(of(&[0.9, 0.5, 0.7]).clearly_better(&low), None);
    /// ```
    pub fn clearly_better(&self, other: &Self) -> Option<bool> {
        let (lead, error) = self.lead_over(other)?;
        (lead.abs() > CLEAR * error?).then_some(lead > 0.0)
    }

    /// Mean of the second measure.
    pub fn second_mean(&self) -> Option<f64> {
        average(&self.second)
    }

    /// Mean number of features.
    pub fn features(&self) -> Option<f64> {
        average(&self.n_features.iter().map(|&q| q as f64).collect::<Vec<_>>())
    }

    /// Mean number of kernel values that a prediction costs.
    pub fn kernel_values(&self) -> Option<f64> {
        average(&self.kernel_values.iter().map(|&l| l as f64).collect::<Vec<_>>())
    }

    /// Mean seconds.
    pub fn fit_seconds(&self) -> Option<f64> {
        average(&self.seconds)
    }

    /// The median of the widths.
    pub fn gamma(&self) -> Option<f64> {
        let mut sorted = self.gammas.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    fn to_json(&self) -> Value {
        json!({
            "method": self.method, "basis": self.basis, "gamma_rule": self.gamma_rule, "gamma": self.gamma(),
            "evaluator": self.evaluator, "asked": self.asked, "mean": self.mean(),
            "standard_error": self.standard_error(), "second": self.second_mean(), "n_features": self.features(),
            "kernel_values": self.kernel_values(), "fit_seconds": self.fit_seconds(), "scores": self.scores,
            "second_scores": self.second, "gammas": self.gammas, "confusion": self.confusion, "failed": self.failed,
        })
    }
}

impl Outcome {
    /// Splits that were finished.
    pub fn n_finished(&self) -> usize {
        self.entries.iter().map(|entry| entry.scores.len()).max().unwrap_or(0)
    }

    /// Sorts the entries, best first: highest mean, then fewest kernel values, then by name. Candidates that failed on any
    /// split come last, because their means are over other rows.
    pub fn sort(&mut self) {
        let key =
            |e: &Entry| (e.mean().unwrap_or(f64::NEG_INFINITY), e.kernel_values().unwrap_or(f64::INFINITY));
        self.entries.sort_by(|a, b| {
            let ((mean_a, cost_a), (mean_b, cost_b)) = (key(a), key(b));
            let names = || (&a.method, &a.evaluator, a.asked).cmp(&(&b.method, &b.evaluator, b.asked));
            (a.failed.is_some().cmp(&b.failed.is_some()))
                .then(mean_b.total_cmp(&mean_a))
                .then(cost_a.total_cmp(&cost_b))
                .then_with(names)
        });
    }

    /// All results as JSON, for other programs.
    pub fn to_json(&self) -> Value {
        json!({
            "measure": self.measure, "second": self.second, "rows": self.rows, "inputs": self.inputs,
            "classes": self.classes, "splits": self.n_splits, "finished": self.n_finished(), "interrupted": self.interrupted,
            "warnings": self.warnings, "entries": self.entries.iter().map(Entry::to_json).collect::<Vec<_>>(),
        })
    }
}

pub(super) fn average(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation over the root of the number; None with fewer than two.
pub(super) fn standard_error(values: &[f64]) -> Option<f64> {
    let (mean, n) = (average(values)?, values.len());
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (n > 1).then(|| (squares / (n - 1) as f64 / n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_that_failed_on_some_splits_come_last() {
        let entry = |method: &str, scores: &[f64], failed: bool| Entry {
            method: method.into(),
            scores: scores.to_vec(),
            failed: failed.then(|| "on 4 of 5 splits: no".into()),
            ..Entry::default()
        };
        let entries =
            vec![entry("lucky", &[1.0], true), entry("none", &[], true), entry("whole", &[0.5; 5], false)];
        let mut outcome = Outcome { entries, ..Outcome::default() };
        outcome.sort();
        let names: Vec<&str> = outcome.entries.iter().map(|entry| entry.method.as_str()).collect();
        assert_eq!((names.as_slice(), outcome.n_finished()), (["whole", "lucky", "none"].as_slice(), 5));
    }
}
