//! One split of a comparison: everything is learned from its training part, and what is shared is computed once.
//!
//!   scaling → γ a rule → a basis and its coordinates → the methods on it → the judges
//!
//! What is found is written into a journal. A part of the split that an earlier run has finished is read from there; a basis is
//! fitted again if only some of its methods are.
//!
//! cost    one fit a distinct basis; a method on it costs its own arithmetic and no kernel value

use std::borrow::Cow;
use std::time::Instant;

use faer::{MatMut, MatRef};
use serde_json::{Value, json};

use super::features::{Asked, Feature, features};
use super::kept::Outcomes;
use super::plan::{Plan, Stem};
use super::{Comparison, Fate, Scored};
use crate::basis::{Basis, FittedBasis};
use crate::checkpoint::Journal;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::error::{Error, Result};
use crate::evaluate::folds::Split;
use crate::evaluate::judge::Judge;
use crate::evaluate::knn;
use crate::evaluate::measures::{Measure, Predictions, confusion};
use crate::kernel::gamma::scale;
use crate::kernel::{Kernel, Shape};
use crate::monitor::Monitor;
use crate::recipe::Recipe;

/// What a split found.
pub(super) struct Done {
    /// One a candidate.
    pub(super) fates: Vec<Fate>,
    pub(super) warnings: Vec<String>,
    pub(super) work: Work,
}

/// What was computed, so that tests can see that nothing is computed twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) basis_fits: usize,
    pub(super) kernel_values: u64,
    pub(super) gammas: usize,
}

/// The two parts, scaled.
struct Data {
    train: Rows<'static>,
    train_labels: Labels,
    test: Rows<'static>,
    test_labels: Labels,
    /// Seconds for the scaling.
    scaled: f64,
    monitor: Monitor,
}

/// A split that is being worked on.
struct Part<'a> {
    comparison: &'a Comparison,
    plan: &'a Plan,
    data: &'a Data,
    done: Done,
    journal: &'a mut Journal,
    /// Candidates that were settled, and how many warnings there were, since the last piece was kept.
    settled: Vec<usize>,
    said: usize,
}

/// A method and those of its sizes that one fit of a basis serves.
struct Task<'a> {
    stem: &'a Stem,
    first: usize,
    recipe: Recipe,
    basis: Basis,
    sizes: Vec<usize>,
}

/// A fitted basis with the coordinates of all rows.
pub(super) struct Fitted<'a> {
    pub(super) basis: FittedBasis,
    /// Row-major.
    pub(super) train: Vec<f64>,
    pub(super) test: Vec<f64>,
    pub(super) rows: &'a Rows<'a>,
    pub(super) labels: &'a Labels,
    pub(super) monitor: &'a Monitor,
}

/// What a candidate has cost and found before a judge saw it.
struct Before {
    seconds: f64,
    gamma: Option<f64>,
    n_features: usize,
    kernel_values: usize,
}

/// Works on one split; the only errors are [`Error::Interrupted`] and those of the journal.
pub(super) fn run(
    comparison: &Comparison,
    plan: &Plan,
    rows: &Rows,
    labels: &Labels,
    split: &Split,
    journal: &mut Journal,
) -> Result<Done> {
    comparison.monitor.check()?;
    let start = Instant::now();
    let (train, test) = (rows.select(&split.train), rows.select(&split.test));
    let scaling = Scaling::fit(comparison.scale, &train).0;
    let scaled = match &scaling {
        None => Ok((train, test)),
        Some(scaling) => scaling.apply(&train).and_then(|train| Ok((train, scaling.apply(&test)?))),
    };
    let done = Done {
        fates: (0..plan.entries.len()).map(|_| Fate::Skipped).collect(),
        warnings: Vec::new(),
        work: Work::default(),
    };
    let (train, test) = match attempt(scaled)? {
        Ok(rows) => rows,
        Err(text) => {
            let fates = plan.entries.iter().map(|_| Fate::Failed(text.clone())).collect();
            return Ok(Done { fates, ..done });
        }
    };
    let data = Data {
        train,
        train_labels: labels.select(&split.train),
        test,
        test_labels: labels.select(&split.test),
        scaled: start.elapsed().as_secs_f64(),
        monitor: comparison.monitor.part(),
    };
    let mut part = Part { comparison, plan, data: &data, done, journal, settled: Vec::new(), said: 0 };
    let found = part.all();
    let done = part.done;
    // What was finished before a stop is not lost.
    journal.save()?;
    found.map(|()| done)
}

/// A failure as text; a stop stays an error.
pub(super) fn attempt<T>(result: Result<T>) -> Result<std::result::Result<T, String>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => Ok(Err(error.to_string())),
    }
}

impl<'a> Part<'a> {
    fn all(&mut self) -> Result<()> {
        self.baselines()?;
        (0..self.plan.rules.len()).try_for_each(|at| self.rule(at))
    }

    fn baselines(&mut self) -> Result<()> {
        let judges = &self.comparison.judges;
        for (at, judge) in judges.iter().enumerate() {
            if self.recall(&baseline(at)) {
                continue;
            }
            let n_features = self.data.train.p();
            let before = Before { seconds: self.data.scaled, gamma: None, n_features, kernel_values: 0 };
            self.judge(at, judge, &before, None)?;
            self.record(&baseline(at))?;
        }
        let mut at = judges.len();
        if !self.recall(&baseline(at)) {
            let svm = Judge::RbfSvm { c: None, gamma: None };
            let gamma = scale(Shape::Rbf, &self.data.train).ok();
            let before = Before { seconds: self.data.scaled, gamma, n_features: 0, kernel_values: 0 };
            self.judge(at, &svm, &before, None)?;
            self.record(&baseline(at))?;
        }
        for rule in self.plan.kknn_rules() {
            at += 1;
            if self.recall(&baseline(at)) {
                continue;
            }
            let start = Instant::now();
            let kernel = match rule {
                Some(rule) => self.kernel(rule),
                // Who is near does not depend on γ; the `scale` rule keeps values apart where they are looked at.
                None => scale(self.plan.shape, &self.data.train)
                    .map(|gamma| Kernel { shape: self.plan.shape, gamma }),
            };
            let predicted = kernel.and_then(|kernel| {
                let (train, labels) = (&self.data.train, &self.data.train_labels);
                Ok((
                    kernel,
                    knn::predict_in_kernel(kernel, train, labels, &self.data.test, 1, &self.data.monitor)?,
                ))
            });
            match attempt(predicted)? {
                Err(text) => self.settle(at, Fate::Failed(text)),
                Ok((kernel, predictions)) => {
                    let before = Before {
                        seconds: self.data.scaled + start.elapsed().as_secs_f64(),
                        gamma: rule.map(|_| kernel.gamma),
                        n_features: 0,
                        kernel_values: self.data.train.n(),
                    };
                    self.score(at, &before, &predictions)?;
                }
            }
            self.record(&baseline(at))?;
        }
        Ok(())
    }

    /// The kernel with the width that a rule finds on the training part.
    fn kernel(&mut self, rule: usize) -> Result<Kernel> {
        let Some(gamma) = self.plan.rules[rule] else {
            return Ok(Kernel { shape: self.plan.shape, gamma: 1.0 });
        };
        self.done.work.gammas += 1;
        let plain = Kernel { shape: self.plan.shape, gamma: 1.0 };
        let basis = Basis::kobl(plain).gamma(gamma).seed(self.comparison.seed).monitor(&self.data.monitor);
        basis.resolve_kernel(&self.data.train, Some(&self.data.train_labels))
    }

    /// The same with the seconds it took, if an earlier run has not found it.
    fn timed_kernel(&mut self, rule: usize) -> (Result<Kernel>, f64) {
        let name = format!("width {rule}");
        if let Some([gamma, seconds]) = self.journal.recall(&name).and_then(bits) {
            return (Ok(Kernel { shape: self.plan.shape, gamma }), seconds);
        }
        let start = Instant::now();
        let kernel = self.kernel(rule);
        let seconds = start.elapsed().as_secs_f64();
        let kept = kernel.and_then(|kernel| {
            self.journal.record(&name, || json!([kernel.gamma.to_bits(), seconds.to_bits()]))?;
            Ok(kernel)
        });
        (kept, seconds)
    }

    /// All methods with the width of one rule.
    fn rule(&mut self, rule: usize) -> Result<()> {
        let plan = self.plan;
        if plan.stems.is_empty() {
            return Ok(());
        }
        let (kernel, seconds) = self.timed_kernel(rule);
        let kernel = match attempt(kernel)? {
            Ok(kernel) => kernel,
            Err(text) => {
                for stem in &plan.stems {
                    let every: Vec<usize> = (0..stem.sizes.len()).collect();
                    self.fail(stem.first[rule], &every, &text);
                }
                return Ok(());
            }
        };
        let gamma = plan.rules[rule].map(|_| kernel.gamma);
        let mut groups: Vec<(String, Vec<Task>)> = Vec::new();
        for stem in &plan.stems {
            for (cap, sizes) in stem.fits() {
                match attempt(self.task(stem, stem.first[rule], gamma, cap, sizes.clone()))? {
                    Err(text) => self.fail(stem.first[rule], &sizes, &text),
                    Ok(task) => {
                        let key = key(&task.basis);
                        match groups.iter_mut().find(|(other, _)| *other == key) {
                            Some((_, tasks)) => tasks.push(task),
                            None => groups.push((key, vec![task])),
                        }
                    }
                }
            }
        }
        // One basis after the other, so that the coordinates of one only are in memory.
        groups.into_iter().try_for_each(|(_, tasks)| self.group(&tasks, self.data.scaled + seconds, gamma))
    }

    fn task<'s>(
        &mut self,
        stem: &'s Stem,
        first: usize,
        gamma: Option<f64>,
        cap: Option<usize>,
        sizes: Vec<usize>,
    ) -> Result<Task<'s>> {
        let cap = cap.map(|m| m.min(self.data.train.n()));
        let instead: Vec<(&str, usize)> = cap.map(|m| ("n_components", m)).into_iter().collect();
        let recipe = stem.recipe(gamma, &instead)?;
        let mut basis =
            recipe.basis(&self.data.train, Some(&self.data.train_labels), &mut self.done.warnings)?;
        basis.memory = self.comparison.memory;
        basis.monitor = self.data.monitor.clone();
        Ok(Task { stem, first, recipe, basis, sizes })
    }

    /// All methods on one basis.
    fn group(&mut self, tasks: &[Task], before: f64, gamma: Option<f64>) -> Result<()> {
        let mut open: Vec<&Task> = Vec::new();
        for task in tasks {
            if !self.recall(&task.name()) {
                open.push(task);
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let fitted = match attempt(self.fit(&tasks[0].basis))? {
            Ok(fitted) => fitted,
            Err(text) => {
                return open.into_iter().try_for_each(|task| {
                    self.fail(task.first, &task.sizes, &text);
                    self.record(&task.name())
                });
            }
        };
        let before = before + start.elapsed().as_secs_f64();
        for task in open {
            let asked = Asked {
                stem: task.stem,
                recipe: &task.recipe,
                gamma,
                sizes: task.sizes.iter().map(|&at| task.stem.sizes[at]).collect(),
            };
            let mut warnings = Vec::new();
            features(&fitted, &asked, &mut warnings, |at, found| {
                let size = task.sizes[at];
                match found {
                    Ok(Some(feature)) => self.judge_all(task.first, size, before, gamma, &feature),
                    Ok(None) => {
                        self.skip(task.first, size);
                        Ok(())
                    }
                    Err(text) => {
                        self.fail(task.first, &[size], &text);
                        Ok(())
                    }
                }
            })?;
            self.done.warnings.extend(warnings);
            self.record(&task.name())?;
        }
        Ok(())
    }

    fn fit(&mut self, basis: &Basis) -> Result<Fitted<'a>> {
        let Data { train: rows, train_labels: labels, monitor, .. } = self.data;
        let (fitted, train) = basis.fit_with(rows, Some(labels), true)?;
        let train = train.ok_or_else(|| Error::Numerical("a basis gave no coordinates".into()))?;
        let (n, m, l) = (self.data.test.n(), fitted.n_components(), fitted.expansion.landmarks.len());
        let mut test = vec![0.0; n * m];
        let out = MatMut::from_row_major_slice_mut(&mut test, n, m);
        fitted.expansion.check(&self.data.test, None, 0)?;
        fitted.expansion.apply(&self.data.test, |part, _| Ok(Cow::Owned(part)), out, monitor)?;
        self.done.work.basis_fits += 1;
        self.done.work.kernel_values += fitted.n_kernel_evaluations + (n * l) as u64;
        self.done.warnings.extend(fitted.warnings.iter().cloned());
        Ok(Fitted { basis: fitted, train, test, rows, labels, monitor })
    }

    /// Every judge on one set of features.
    fn judge_all(
        &mut self,
        first: usize,
        size: usize,
        seconds: f64,
        gamma: Option<f64>,
        feature: &Feature,
    ) -> Result<()> {
        let judges = &self.comparison.judges;
        for (at, judge) in judges.iter().enumerate() {
            let before = Before {
                seconds: seconds + feature.seconds,
                gamma,
                n_features: feature.train.p(),
                kernel_values: feature.kernel_values,
            };
            self.judge(first + size * judges.len() + at, judge, &before, Some(feature))?;
        }
        Ok(())
    }

    /// One judge on features, or on the rows as they are.
    fn judge(&mut self, at: usize, judge: &Judge, before: &Before, feature: Option<&Feature>) -> Result<()> {
        let start = Instant::now();
        let (train, test) = feature.map_or((&self.data.train, &self.data.test), |f| (&f.train, &f.test));
        let (labels, seed) = (&self.data.train_labels, self.comparison.seed);
        match attempt(judge.predict(train, labels, test, seed, &self.data.monitor))? {
            Err(text) => self.settle(at, Fate::Failed(text)),
            Ok(judged) => {
                // Kernel values that a judge wants of features are not those of the rows' kernel.
                let support = if feature.is_none() { judged.support } else { 0 };
                let before = Before {
                    seconds: before.seconds + start.elapsed().as_secs_f64(),
                    kernel_values: before.kernel_values + support,
                    ..*before
                };
                self.done.warnings.extend(judged.warnings);
                self.score(at, &before, &judged.predictions)?;
            }
        }
        Ok(())
    }

    fn score(&mut self, at: usize, before: &Before, predictions: &Predictions) -> Result<()> {
        let [first, second] =
            measures(&self.data.test_labels).map(|m| m.of(&self.data.test_labels, predictions));
        let fate = match attempt(first.and_then(|score| Ok((score, second?))))? {
            Err(text) => Fate::Failed(text),
            Ok((score, _)) if !score.is_finite() => {
                Fate::Failed("its predictions are not finite numbers".into())
            }
            Ok((score, second)) => Fate::Scored(Scored {
                score,
                second,
                gamma: before.gamma,
                n_features: before.n_features,
                kernel_values: before.kernel_values,
                seconds: before.seconds,
                confusion: match (&self.data.test_labels, predictions) {
                    (Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
                        confusion(codes, predicted, names.len())
                    }
                    _ => Vec::new(),
                },
            }),
        };
        self.settle(at, fate);
        Ok(())
    }

    fn settle(&mut self, at: usize, fate: Fate) {
        self.done.fates[at] = fate;
        self.settled.push(at);
        self.comparison.monitor.advance(1);
    }

    /// Takes over what an earlier run has found for a piece of the split; false: nothing yet.
    fn recall(&mut self, name: &str) -> bool {
        self.settled.clear();
        let Some(known) = self.journal.recall(name).and_then(Outcomes::from_json) else { return false };
        for (at, fate) in known.fates {
            if let Some(place) = self.done.fates.get_mut(at) {
                *place = fate;
            }
        }
        self.done.warnings.extend(known.warnings);
        self.said = self.done.warnings.len();
        true
    }

    /// Keeps what was found since the last piece.
    fn record(&mut self, name: &str) -> Result<()> {
        let (done, said) = (&self.done, self.said);
        let settled = std::mem::take(&mut self.settled);
        self.said = done.warnings.len();
        self.journal.record(name, || {
            let fates = settled.into_iter().map(|at| (at, done.fates[at].clone())).collect();
            Outcomes { fates, warnings: done.warnings[said..].to_vec() }.to_json()
        })
    }

    fn fail(&mut self, first: usize, sizes: &[usize], text: &str) {
        let judges = self.comparison.judges.len();
        for at in sizes.iter().flat_map(|size| first + size * judges..first + (size + 1) * judges) {
            self.settle(at, Fate::Failed(text.into()));
        }
    }

    fn skip(&mut self, first: usize, size: usize) {
        let judges = self.comparison.judges.len();
        (0..judges).for_each(|at| self.settle(first + size * judges + at, Fate::Skipped));
    }
}

/// How a baseline is called in the journal.
fn baseline(at: usize) -> String {
    format!("baseline {at}")
}

/// Two numbers that were kept bit by bit.
fn bits(value: &Value) -> Option<[f64; 2]> {
    Some([f64::from_bits(value[0].as_u64()?), f64::from_bits(value[1].as_u64()?)])
}

impl Task<'_> {
    /// How it is called in the journal.
    fn name(&self) -> String {
        format!("{} {} {:?}", self.stem.method, self.first, self.sizes)
    }
}

/// The measure that candidates are sorted by, and the second one.
pub(super) fn measures(labels: &Labels) -> [Measure; 2] {
    match labels {
        Labels::Classes { .. } => [Measure::Accuracy, Measure::BalancedAccuracy],
        Labels::Numbers(_) => [Measure::R2, Measure::Mse],
    }
}

/// What tells two bases apart.
fn key(basis: &Basis) -> String {
    let Basis { method, shape, gamma, n_components, threshold, tol, nu, center, seed, landmarks, .. } = basis;
    // Landmarks are given by `akda-qr` alone, of which there is one.
    let given = landmarks.is_some();
    format!(
        "{method:?} {shape:?} {gamma:?} {n_components:?} {threshold:?} {tol:?} {nu:?} {center} {seed} {given}"
    )
}

impl Fitted<'_> {
    /// Coordinates of the training rows, n×m.
    pub(super) fn coordinates(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.train, self.rows.n(), self.basis.n_components())
    }

    /// Coordinates of the test rows.
    pub(super) fn test_coordinates(&self) -> MatRef<'_, f64> {
        let m = self.basis.n_components();
        MatRef::from_row_major_slice(&self.test, self.test.len() / m.max(1), m)
    }
}
