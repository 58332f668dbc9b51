//! One split of a comparison: everything is learned from its training part, and what is shared is computed once.
//!
//!   scaling → γ a rule (`loo`: and a stop rule that it depends on) → a basis and its coordinates → the methods on it → the evaluators
//!
//! What is found is written into a journal (`results.rs`). A part of the split that an earlier run has finished is read from
//! there; a basis is fitted again if only some of its methods are.
//!
//! cost    one fit a distinct basis; a method on it costs its own arithmetic and no kernel value

use std::time::Instant;

use faer::Mat;
use serde_json::{Value, json};

use super::features::{Request, features};
use super::plan::{MethodPlan, Plan};
use super::results::{CostSoFar, Recorder, SplitResults};
use super::shuffles::shuffled;
use super::{CandidateResult, Comparison};
use crate::basis::{Basis, FittedBasis};
use crate::checkpoint::Journal;
use crate::data::encode::Medians;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluation, Evaluator};
use crate::evaluate::folds::Split;
use crate::evaluate::knn;
use crate::evaluate::measures::Predictions;
use crate::kernel::gamma::scale;
use crate::kernel::{Gamma, Kernel, Shape};
use crate::options::Options;
use crate::pipeline::{Found, Head, Pipeline};

/// What was computed, so that tests can see that nothing is computed twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) basis_fits: usize,
    pub(super) kernel_values: u64,
    pub(super) gammas: usize,
}

/// The two parts, scaled.
pub(super) struct Data {
    pub(super) train: Rows<'static>,
    pub(super) train_labels: Labels,
    pub(super) test: Rows<'static>,
    pub(super) test_labels: Labels,
    /// The test labels in other orders, for scores by chance.
    pub(super) shuffled: Vec<Labels>,
    /// Seconds for the scaling.
    scaling_seconds: f64,
    /// Those of the comparison, with a monitor of the split's own and without a checkpoint, as the journal is one.
    pub(super) options: Options,
}

/// A split that is being worked on.
struct Part<'a> {
    plan: &'a Plan,
    data: &'a Data,
    log: Recorder<'a>,
}

/// A method and those of its sizes that one fit of a basis serves.
struct Task<'a> {
    plan: &'a MethodPlan,
    first: usize,
    pipeline: Pipeline,
    basis: Basis,
    /// The width that a rule found; None: the kernel has none.
    gamma: Option<f64>,
    /// Of scaling and of looking for the width.
    seconds: f64,
    sizes: Vec<usize>,
}

/// A kernel whose width was looked for, or why there is none, and the seconds that took.
type Width = (std::result::Result<Kernel, String>, f64);

/// A basis that was fitted on the training part, with the coordinates of all rows.
pub(super) struct FittedSplit<'a> {
    pub(super) basis: FittedBasis,
    pub(super) train: Rows<'static>,
    pub(super) test: Rows<'static>,
    data: &'a Data,
}

impl FittedSplit<'_> {
    /// What a head finds in the training rows' coordinates.
    pub(super) fn find(&self, head: &Head) -> Result<Found> {
        let Data { train, train_labels, options, .. } = self.data;
        head.find(train, Some(train_labels), &self.basis, &self.train, options)
    }
}

/// Works on one split; the only errors are [`Error::Interrupted`] and those of the journal.
pub(super) fn run(
    comparison: &Comparison,
    plan: &Plan,
    rows: &Rows,
    labels: &Labels,
    split: &Split,
    journal: &mut Journal,
) -> Result<SplitResults> {
    comparison.options.monitor.check()?;
    let start = Instant::now();
    let (mut train, mut test) = (rows.select(&split.train), rows.select(&split.test));
    if comparison.fill_missing {
        let medians = Medians::fit(&train);
        (train, test) = (medians.apply(&train)?, medians.apply(&test)?);
    }
    let scaling = Scaling::fit(comparison.scale, &train).0;
    let scaled = match &scaling {
        None => Ok((train, test)),
        Some(scaling) => scaling.apply(&train).and_then(|train| Ok((train, scaling.apply(&test)?))),
    };
    let found = SplitResults {
        results: (0..plan.entries.len()).map(|_| CandidateResult::Skipped).collect(),
        warnings: Vec::new(),
        work: Work::default(),
    };
    let (train, test) = match attempt(scaled)? {
        Ok(rows) => rows,
        Err(text) => {
            let results = plan.entries.iter().map(|_| CandidateResult::Failed(text.clone())).collect();
            return Ok(SplitResults { results, ..found });
        }
    };
    let (blocks, needs_classes) = (plan.blocks.as_ref(), plan.measures[0].is_mean_over_classes());
    let data = Data {
        train,
        train_labels: labels.select(&split.train),
        test,
        test_labels: labels.select(&split.test),
        shuffled: shuffled(labels, &split.test, blocks, comparison.seed, needs_classes),
        scaling_seconds: start.elapsed().as_secs_f64(),
        options: Options {
            memory: comparison.options.memory,
            ..Options::watched(&comparison.options.monitor.part())
        },
    };
    let mut part =
        Part { plan, data: &data, log: Recorder::new(comparison, plan.measures, &data, found, journal) };
    let ended = part.all();
    let found = part.log.found;
    // What was finished before a stop is not lost.
    journal.save()?;
    ended.map(|()| found)
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
        let data = self.data;
        let linear = self.plan.linear.iter();
        let evaluators: Vec<Evaluator> =
            self.log.comparison.evaluators.iter().chain(linear).cloned().collect();
        let plain = CostSoFar {
            seconds: data.scaling_seconds,
            gamma: None,
            n_features: data.train.p(),
            kernel_values: 0,
        };
        for (at, evaluator) in evaluators.iter().enumerate() {
            if self.log.recall(&baseline(at)) {
                continue;
            }
            self.log.evaluate(at, evaluator, plain, None)?;
            self.log.record(&baseline(at))?;
        }
        let mut at = evaluators.len();
        if !self.log.recall(&baseline(at)) {
            let svm = Evaluator::RbfSvm { c: None, gamma: None };
            let cost = CostSoFar { gamma: scale(Shape::Rbf, &data.train).ok(), n_features: 0, ..plain };
            self.log.evaluate(at, &svm, cost, None)?;
            self.log.record(&baseline(at))?;
        }
        at += 1;
        if !self.log.recall(&baseline(at)) {
            let evaluation = dummy(&data.train_labels, data.test.n());
            self.log.score(at, CostSoFar { n_features: 0, ..plain }, &evaluation)?;
            self.log.record(&baseline(at))?;
        }
        for rule in self.plan.kknn_rules() {
            at += 1;
            if !self.log.recall(&baseline(at)) {
                self.kernel_neighbours(at, rule)?;
                self.log.record(&baseline(at))?;
            }
        }
        Ok(())
    }

    /// The nearest neighbour in the kernel's space.
    fn kernel_neighbours(&mut self, at: usize, rule: Option<usize>) -> Result<()> {
        let data = self.data;
        let start = Instant::now();
        let kernel = match rule {
            Some(rule) => self.kernel(rule),
            // Who is near does not depend on γ; the `scale` rule keeps values apart where they are looked at.
            None => scale(self.plan.shape, &data.train).map(|gamma| Kernel { shape: self.plan.shape, gamma }),
        };
        let predicted = kernel.and_then(|kernel| {
            let (train, labels, monitor) = (&data.train, &data.train_labels, &data.options.monitor);
            Ok((kernel, knn::predict_in_kernel(kernel, train, labels, &data.test, 1, monitor)?))
        });
        match attempt(predicted)? {
            Err(text) => {
                self.log.settle(at, CandidateResult::Failed(text));
                Ok(())
            }
            Ok((kernel, predictions)) => {
                let cost = CostSoFar {
                    seconds: data.scaling_seconds + start.elapsed().as_secs_f64(),
                    gamma: rule.map(|_| kernel.gamma),
                    n_features: 0,
                    kernel_values: data.train.n(),
                };
                self.log.score(at, cost, &Evaluation::of(predictions))
            }
        }
    }

    /// The kernel with the width that a rule finds on the training part, for bases that it does not depend on.
    fn kernel(&mut self, rule: usize) -> Result<Kernel> {
        let plain = Kernel { shape: self.plan.shape, gamma: 1.0 };
        let Some(gamma) = self.plan.rules[rule] else { return Ok(plain) };
        self.resolve(&Basis::kobl(plain).gamma(gamma).seed(self.log.comparison.seed))
    }

    fn resolve(&mut self, basis: &Basis) -> Result<Kernel> {
        self.log.found.work.gammas += 1;
        basis.resolve_kernel(&self.data.train, Some(&self.data.train_labels), &self.data.options.monitor)
    }

    /// A kernel that `find` makes, and the seconds it took, unless an earlier run has found it under this name.
    fn timed(&mut self, name: &str, find: impl FnOnce(&mut Self) -> Result<Kernel>) -> Result<Width> {
        // The widths of a sum are more than a number: they are found again.
        let is_number = !matches!(self.plan.shape, Shape::Composite(_));
        let kept = self.log.journal.recall(name).filter(|_| is_number);
        if let Some([gamma, seconds]) = kept.and_then(bits) {
            let kernel = Kernel { shape: self.plan.shape, gamma };
            if kernel.check().is_ok() {
                return Ok((Ok(kernel), seconds));
            }
        }
        let start = Instant::now();
        let kernel = find(self);
        let seconds = start.elapsed().as_secs_f64();
        let kept = kernel.and_then(|kernel| {
            self.log.journal.record(name, || json!([kernel.gamma.to_bits(), seconds.to_bits()]))?;
            Ok(kernel)
        });
        Ok((attempt(kept)?, seconds))
    }

    /// All methods with the width of one rule.
    fn rule(&mut self, rule: usize) -> Result<()> {
        let plan = self.plan;
        if plan.methods.is_empty() {
            return Ok(());
        }
        let (common, mut own) =
            (self.timed(&format!("width {rule}"), |split| split.kernel(rule))?, Vec::new());
        let mut groups: Vec<(String, Vec<Task>)> = Vec::new();
        for method in &plan.methods {
            let every: Vec<usize> = (0..method.sizes.len()).collect();
            let (kernel, seconds) = match (&common.0, self.basis_with_a_width(method, rule)) {
                (Ok(_), Some(basis)) => {
                    let name = format!("width {rule} of {}", method.method.name);
                    self.own_width(&name, &basis, &mut own)?
                }
                _ => common.clone(),
            };
            let kernel = match kernel {
                Ok(kernel) => plan.rules[rule].map(|_| kernel),
                Err(text) => {
                    self.log.fail(method.first[rule], &every, &text);
                    continue;
                }
            };
            for (cap, sizes) in method.fits() {
                match attempt(self.task(method, method.first[rule], (kernel, seconds), cap, sizes.clone()))? {
                    Err(text) => self.log.fail(method.first[rule], &sizes, &text),
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
        groups.into_iter().try_for_each(|(_, tasks)| self.group(&tasks))
    }

    /// The basis of a method if the width that this rule finds depends on it.
    fn basis_with_a_width(&self, method: &MethodPlan, rule: usize) -> Option<Basis> {
        let gamma = self.plan.rules[rule].filter(|gamma| *gamma == Gamma::Loo)?;
        let basis = method.largest_basis(self.data.train.n()).ok().flatten()?;
        let basis = Basis { shape: self.plan.shape, n_components: None, ..basis.gamma(gamma) };
        basis.ends_early_where_wide().then_some(basis)
    }

    /// The width for this basis, which several methods may have.
    fn own_width(&mut self, name: &str, basis: &Basis, found: &mut Vec<(String, Width)>) -> Result<Width> {
        let key = key(basis);
        if let Some((_, width)) = found.iter().find(|(other, _)| *other == key) {
            return Ok(width.clone());
        }
        let width = self.timed(name, |split| split.resolve(basis))?;
        found.push((key, width.clone()));
        Ok(width)
    }

    fn task<'p>(
        &mut self,
        plan: &'p MethodPlan,
        first: usize,
        (kernel, seconds): (Option<Kernel>, f64),
        cap: Option<usize>,
        sizes: Vec<usize>,
    ) -> Result<Task<'p>> {
        let Data { train, train_labels, .. } = self.data;
        let pipeline = plan.with(kernel, cap.map(|m| m.min(train.n())));
        let basis = pipeline.basis(train, Some(train_labels), &mut self.log.found.warnings)?;
        let seconds = self.data.scaling_seconds + seconds;
        Ok(Task { plan, first, pipeline, basis, gamma: kernel.map(|kernel| kernel.gamma), seconds, sizes })
    }

    /// All methods on one basis.
    fn group(&mut self, tasks: &[Task]) -> Result<()> {
        let mut open: Vec<&Task> = Vec::new();
        for task in tasks {
            if !self.log.recall(&task.name()) {
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
                    self.log.fail(task.first, &task.sizes, &text);
                    self.log.record(&task.name())
                });
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        for task in open {
            let sizes = task.sizes.iter().map(|&at| task.plan.sizes[at]).collect();
            let request = Request { plan: task.plan, pipeline: &task.pipeline, sizes };
            let mut warnings = Vec::new();
            features(&fitted, &request, &mut warnings, |at, found| {
                let size = task.sizes[at];
                match found {
                    Ok(Some(features)) => {
                        self.log.evaluate_all(
                            task.first,
                            size,
                            task.seconds + seconds,
                            task.gamma,
                            &features,
                        )?;
                    }
                    Ok(None) => self.log.skip(task.first, size),
                    Err(text) => self.log.fail(task.first, &[size], &text),
                }
                Ok(())
            })?;
            self.log.found.warnings.extend(warnings);
            self.log.record(&task.name())?;
        }
        Ok(())
    }

    fn fit(&mut self, basis: &Basis) -> Result<FittedSplit<'a>> {
        let data = self.data;
        let options = data.options.where_it_can().with_coordinates();
        let (basis, train) = basis.fit_with(&data.train, Some(&data.train_labels), &options)?;
        let train = train.ok_or_else(|| Error::Numerical("a basis gave no coordinates".into()))?;
        basis.expansion.check(&data.test, None, 0)?;
        let test = basis.coordinates(&data.test, &options.monitor)?;
        let landmarks = basis.expansion.landmarks.len();
        let found = &mut self.log.found;
        found.work.basis_fits += 1;
        found.work.kernel_values += basis.n_kernel_evaluations + (data.test.n() * landmarks) as u64;
        found.warnings.extend(basis.warnings.iter().cloned());
        // Evaluators and sizes work in float64, whatever the basis was asked for.
        Ok(FittedSplit { basis, train: train.into_f64(), test: test.into_f64(), data })
    }
}

/// The largest class of the training part, or its mean, for every row; the probabilities are the classes' shares.
fn dummy(labels: &Labels, n: usize) -> Evaluation {
    match labels {
        Labels::Classes { codes, names } => {
            let size = |class: usize| codes.iter().filter(|&&code| code == class).count();
            let sizes: Vec<usize> = (0..names.len()).map(size).collect();
            let largest =
                (0..sizes.len()).reduce(|a, b| if sizes[b] > sizes[a] { b } else { a }).unwrap_or(0);
            let shares = Mat::from_fn(n, names.len(), |_, j| sizes[j] as f64 / codes.len() as f64);
            Evaluation {
                probabilities: Some(shares),
                ..Evaluation::of(Predictions::Classes(vec![largest; n]))
            }
        }
        Labels::Numbers(values) => {
            let mean = values.iter().map(|v| v / values.len() as f64).sum();
            Evaluation::of(Predictions::Numbers(vec![mean; n]))
        }
        Labels::Several { .. } => unreachable!("several targets are refused by `check_rows`"),
    }
}

/// How a baseline is called in the journal.
fn baseline(at: usize) -> String {
    format!("baseline {at}")
}

/// Two numbers that were recorded bit by bit.
fn bits(value: &Value) -> Option<[f64; 2]> {
    Some([f64::from_bits(value[0].as_u64()?), f64::from_bits(value[1].as_u64()?)])
}

impl Task<'_> {
    /// How it is called in the journal.
    fn name(&self) -> String {
        format!("{} {} {:?}", self.plan.method.name, self.first, self.sizes)
    }
}

/// What distinguishes two bases.
fn key(basis: &Basis) -> String {
    let Basis { landmarks, .. } = basis;
    // Landmarks are given by `akda-qr` alone, of which there is one.
    let given = landmarks.is_some();
    format!("{:?} {given}", Basis { landmarks: None, ..basis.clone() })
}
