//! The results of a comparison: one [`Entry`] per candidate, with one score per split.

use serde_json::{Value, json};

use super::measures::Measure;

/// A difference of more than this many standard errors is called clear. The error of paired rows leaves out that training
/// parts vary, that of splits is too small because they share rows, and the best of many candidates is partly lucky: with a
/// lower limit clear differences were often found on labels that are pure noise.
pub const CLEAR: f64 = 3.0;

/// What features are compared with: the columns as they are, a support vector machine, the nearest neighbour in the kernel's
/// space, and the largest class or the mean.
pub const BASELINES: [&str; 4] = ["raw", "rbf-svm", "kknn", "dummy"];

/// A candidate and its results on every finished split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The method: a name of the catalogue, or a baseline: `raw` (the columns as they are), `kknn` (nearest neighbour by
    /// the kernel's distance), `rbf-svm`, `dummy` (the largest class or the mean).
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
    /// The loss of every test row, split after split: what the measure is a mean of. Empty where it is none.
    pub losses: Vec<f32>,
    /// The scores of its predictions with shuffled labels, for every split one number a shuffle.
    pub by_chance: Vec<Vec<f64>>,
    /// What is predicted for the test rows of every split, codes of classes or numbers; empty unless they are kept.
    pub predictions: Vec<Vec<f64>>,
    /// Rows of the data.
    pub rows: usize,
    /// Whether a lower score is better.
    pub lower_is_better: bool,
    /// Why it has no scores, or too few.
    pub failed: Option<String>,
}

/// What the best of all candidates would reach with shuffled labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// The mean over shuffles of the best candidate's score.
    pub score: f64,
    /// The share of shuffles whose best does as well as the best with the labels themselves, these counted as one shuffle. The
    /// best may be a baseline; see [`Outcome::p_value`] for a candidate.
    pub p_value: f64,
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
    /// Which splits were finished: places among those that were dealt out or given, of which some may be left out.
    pub finished_splits: Vec<usize>,
    /// Whether it was stopped early; the entries then hold the finished splits.
    pub interrupted: bool,
    /// What shuffled labels would give; None without scores.
    pub chance: Option<Chance>,
    /// The best candidate's score with shuffled labels, one a shuffle.
    pub shuffled: Vec<f64>,
    /// Warnings, each once.
    pub warnings: Vec<String>,
}

impl Entry {
    /// Whether it has no kernel features.
    pub fn is_baseline(&self) -> bool {
        BASELINES.contains(&self.method.as_str())
    }

    /// Whether it is one of those whose best is compared with shuffled labels.
    fn is_rival_of_chance(&self) -> bool {
        self.failed.is_none() && self.mean().is_some() && self.method != "dummy"
    }

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

    /// How much better it is in the mean than another, and the standard error of that. Where the measure is a mean over rows
    /// the error is that of the rows' paired differences, because a hard row is hard for both; else that of the splits'. None
    /// without scores.
    ///
    /// ```
    /// use mercer::evaluate::outcome::Entry;
    ///
    /// let of = |scores: &[f64]| Entry { scores: scores.to_vec(), ..Entry::default() };
    /// let (lead, error) = of(&[0.5, 0.7]).lead_over(&of(&[0.25, 0.45])).unwrap();
    /// assert!((lead - 0.25).abs() < 1e-15 && error.unwrap() < 1e-15); // the same on every split
    /// ```
    pub fn lead_over(&self, other: &Self) -> Option<(f64, Option<f64>)> {
        let sign = if self.lower_is_better { -1.0 } else { 1.0 };
        let lead = sign * (self.mean()? - other.mean()?);
        let error = if self.losses.len() == other.losses.len() && self.losses.len() > 1 {
            let apart: Vec<f64> =
                self.losses.iter().zip(&other.losses).map(|(a, b)| f64::from(b - a)).collect();
            // A row that was tested several times is one row.
            let times = (self.losses.len() as f64 / self.rows.max(1) as f64).max(1.0);
            standard_error(&apart).map(|error| error * times.sqrt())
        } else if self.scores.len() == other.scores.len() {
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
            "baseline": self.is_baseline(), "predictions": self.predictions,
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
        let lower = Measure::named(&self.measure).is_ok_and(|measure| !measure.higher_is_better());
        self.entries.iter_mut().for_each(|entry| entry.lower_is_better = lower);
        let sign = if lower { -1.0 } else { 1.0 };
        let key = |e: &Entry| {
            (e.mean().map_or(f64::NEG_INFINITY, |v| sign * v), e.kernel_values().unwrap_or(f64::INFINITY))
        };
        self.entries.sort_by(|a, b| {
            let ((mean_a, cost_a), (mean_b, cost_b)) = (key(a), key(b));
            let names = || (&a.method, &a.evaluator, a.asked).cmp(&(&b.method, &b.evaluator, b.asked));
            (a.failed.is_some().cmp(&b.failed.is_some()))
                .then(mean_b.total_cmp(&mean_a))
                .then(cost_a.total_cmp(&cost_b))
                .then_with(names)
        });
    }

    /// The best features: those that no other is better than; None if no method has a score on every split.
    pub fn best(&self) -> Option<&Entry> {
        self.entries.iter().find(|e| !e.is_baseline() && e.mean().is_some() && e.failed.is_none())
    }

    /// Of the features that are within a standard error of the best, those that are fewest; then the fewest kernel values. None
    /// where no features are [above chance](Self::is_above_chance); those that are recommended are so themselves.
    ///
    /// ```
    /// use mercer::evaluate::outcome::{Entry, Outcome};
    ///
    /// let of = |method: &str, scores: &[f64], q: usize| Entry {
    ///     method: method.into(), scores: scores.to_vec(), n_features: vec![q; 3], ..Entry::default()
    /// };
    /// let entries = vec![of("sparse", &[0.97, 0.98, 0.99], 232), of("kpls", &[0.98, 0.97, 0.98], 8)];
    /// let outcome = Outcome { entries, ..Outcome::default() };
    /// assert_eq!((outcome.best().unwrap().method.as_str(), outcome.recommended().unwrap().method.as_str()), ("sparse", "kpls"));
    /// ```
    pub fn recommended(&self) -> Option<&Entry> {
        let best = self.best().filter(|best| self.predicts(best))?;
        let own = best.standard_error().unwrap_or(0.0);
        let near = |e: &&Entry| {
            !e.is_baseline()
                && e.failed.is_none()
                && self.predicts(e)
                && best.lead_over(e).is_some_and(|(lead, error)| lead <= error.unwrap_or(0.0).max(own))
        };
        let size =
            |e: &Entry| (e.features().unwrap_or(f64::INFINITY), e.kernel_values().unwrap_or(f64::INFINITY));
        self.entries.iter().filter(near).reduce(|a, b| if size(b) < size(a) { b } else { a })
    }

    /// Whether a summary names this candidate: it is the best of all, the best features, those recommended, or the best baseline.
    pub fn is_named(&self, entry: &Entry) -> bool {
        let is_scored = |e: &&Entry| e.failed.is_none() && e.mean().is_some();
        let first = self.entries.iter().find(is_scored);
        let baseline = self.entries.iter().find(|e| e.is_baseline() && is_scored(e));
        let named = [first, self.best(), self.recommended(), baseline];
        named.into_iter().flatten().any(|other| std::ptr::eq(other, entry))
    }

    /// Whether the best features predict anything: with fewer than one shuffle of the labels in twenty does the best of all
    /// candidates do as well, and R² is above 0.
    ///
    /// ```
    /// use mercer::evaluate::outcome::{Chance, Entry, Outcome};
    ///
    /// let entries = vec![Entry { method: "kpls".into(), scores: vec![-0.1, 0.05], ..Entry::default() }];
    /// let chance = Some(Chance { score: -3.0, p_value: 0.01 });
    /// let outcome = Outcome { measure: "r2".into(), entries, chance, ..Outcome::default() };
    /// assert!(!outcome.is_above_chance());
    /// ```
    pub fn is_above_chance(&self) -> bool {
        self.best().is_some_and(|best| self.predicts(best))
    }

    /// Whether a candidate is above chance, and above the mean of the target.
    fn predicts(&self, entry: &Entry) -> bool {
        let is_above_mean = self.measure != "r2" || entry.mean().is_some_and(|r2| r2 > 0.0);
        is_above_mean && self.p_value(entry).is_none_or(|p| p <= 0.05)
    }

    /// The share of shuffles whose best of all candidates does as well as this one, the labels themselves counted as one: the best
    /// of many looks good by luck too. None without shuffles.
    ///
    /// ```
    /// use mercer::evaluate::outcome::{Entry, Outcome};
    ///
    /// let entry = Entry { method: "kpls".into(), scores: vec![0.7, 0.8], ..Entry::default() };
    /// let outcome = Outcome { shuffled: vec![0.5, 0.6, 0.8], ..Outcome::default() };
    /// assert_eq!(outcome.p_value(&entry), Some(0.5)); // one shuffle of three, and the labels
    /// ```
    pub fn p_value(&self, entry: &Entry) -> Option<f64> {
        if self.shuffled.is_empty() {
            return self.chance.map(|chance| chance.p_value);
        }
        let mean = entry.mean()?;
        let is_as_good = |v: &&f64| if entry.lower_is_better { **v <= mean } else { **v >= mean };
        Some((self.shuffled.iter().filter(is_as_good).count() + 1) as f64 / (self.shuffled.len() + 1) as f64)
    }

    /// Holds the candidates against what the best of them has with shuffled labels.
    pub(super) fn hold_against_chance(&mut self) {
        self.shuffled = self.by_chance().unwrap_or_default();
        let best = self.entries.iter().find(|e| e.is_rival_of_chance());
        let p_value = best.and_then(|best| self.p_value(best));
        self.chance = average(&self.shuffled).zip(p_value).map(|(score, p_value)| Chance { score, p_value });
    }

    /// The best candidate's score for each shuffle.
    fn by_chance(&self) -> Option<Vec<f64>> {
        let lower = self.best()?.lower_is_better;
        let better = |a: f64, b: f64| if lower { a < b } else { a > b };
        let scored: Vec<&Entry> = self.entries.iter().filter(|e| e.is_rival_of_chance()).collect();
        let shuffles =
            scored.iter().flat_map(|e| &e.by_chance).map(Vec::len).min().filter(|count| *count > 0)?;
        let mean = |entry: &Entry, at: usize| {
            entry.by_chance.iter().map(|split| split[at]).sum::<f64>() / entry.by_chance.len() as f64
        };
        let most = |at| scored.iter().map(|e| mean(e, at)).reduce(|a, b| if better(b, a) { b } else { a });
        Some((0..shuffles).filter_map(most).collect())
    }

    /// All results as JSON, for other programs.
    pub fn to_json(&self) -> Value {
        json!({
            "measure": self.measure, "second": self.second, "rows": self.rows, "inputs": self.inputs,
            "classes": self.classes, "splits": self.n_splits, "finished": self.n_finished(),
            "finished_splits": self.finished_splits, "interrupted": self.interrupted,
            "chance": self.chance.map(|chance| json!({
                "score": chance.score, "p_value": chance.p_value,
                "p_value_of_features": self.best().and_then(|best| self.p_value(best)),
            })),
            "recommended": self.recommended().and_then(|e| self.entries.iter().position(|other| std::ptr::eq(e, other))),
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
