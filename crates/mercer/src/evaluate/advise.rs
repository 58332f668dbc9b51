//! Advice: does a kernel help here, which one, how wide, how many coordinates, and what to make of them?
//!
//!   a seeded sample → kernel and γ by leave-one-out error → size by the same → the method that inner folds prefer
//!
//! Of kernels the linear one is the yardstick: another must err clearly less to be recommended. That a kernel helps is said
//! only where it also misses clearly fewer rows than a tuned linear support vector machine on the columns, which is not tried
//! where rows have weights. Last, what is advised is fitted on a part of the rows and scored on the others, beside shuffled
//! labels (`held_out.rs`).
//!
//! cost    two kernels × 8 widths × n·300² on at most 2500 rows, and n·1000² each where they are near; there n³ a width to see whether
//!         more components help, at most three; then 4·n·m² for the size on at most [`Adviser::rows`], 3 folds of 3000, 5 folds of
//!         2000 for the linear machine, and one fit on at most 3000 rows
//! source  Braun, Buhmann & Müller 2008 (relevant dimension); the guideline that EKS, sec. 5 asks for
//! differs between widths within one standard error of the fewest rows missed the squared error decides: with few rows
//!         counts are coarse, with many they are what matters

mod look;
mod inner;
mod checkpoint;

use super::advice::{Advice, Finding, Verdict};
use super::copies::copied_rows;
use super::evaluator::Evaluator;
use super::folds::folds;
use super::held_out::{self, Score};
use super::measures::Measure;
use crate::basis::kernel_ridge::{self, KernelRidge};
use crate::basis::loo::{Looked, Tried, enough, spread};
use crate::basis::predict::missed as missed_by;
use crate::basis::{Basis, Method};
use crate::checkpoint::Journal;
use crate::data::encode::Medians;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::{Scale, Scaling};
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};
use crate::kernel::gamma::grid;
use crate::kernel::{Kernel, Shape};
use crate::options::Options;
use crate::pipeline::{FittedPipeline, Pipeline};
use crate::random;
use crate::select::input_weights::FoundWeights;
use checkpoint::tried;
use look::{NOTHING_CARRIED, RELEVANT_DIMENSION, residual_finding};
use serde_json::{Value, json};

/// Rows and components with which kernels and widths are compared.
const FIRST_ROWS: usize = 2_500;
const FIRST_SIZE: usize = 300;

/// Rows and folds with which the linear support vector machine is tried.
const LINEAR_ROWS: usize = 2_000;
const LINEAR_FOLDS: usize = 5;

/// Sizes after that, while the error falls.
const LARGER_SIZES: [usize; 2] = [1_000, 3_000];

/// The most finer widths that are tried with more landmarks, each by a factor of √10.
const MOST_FINER: i32 = 2;

/// A kernel must leave at most this share of the linear kernel's error to be recommended: less is no clear difference.
const CLEARLY: f64 = 0.95;

/// Between the laplacian and the rbf kernel, and between a size and the next, this share of the error is a difference.
const SOMEWHAT: f64 = 0.98;

/// A finer width that errs by less than this factor of the best may be the better one with a larger basis.
const NEAR: f64 = 1.1;

/// Scores that differ by less than this look the same, however the errors compare: 0.5 points of accuracy, or 0.005 of R².
const VISIBLE: f64 = 0.005;

/// The smallest size whose error is within this factor of the smallest error will do.
const NEARLY: f64 = 1.01;

/// Looks at data and says which features to use.
///
/// ```
/// use mercer::{data::{Labels, Task, synth}, evaluate::{advise::Adviser, advice::Verdict}};
///
/// let table = synth::generate("ringnorm?n=300&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let advice = Adviser::default().advise(&table.rows, &labels)?;
/// assert_eq!(advice.verdict, Verdict::Helps); // a ball inside a ball is not linear
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adviser {
    /// How columns are scaled before anything else.
    pub scale: Scale,
    /// Whether NaN is a missing value, filled by its column's median, in inner folds over each training part; else it is refused.
    pub fill_missing: bool,
    /// Rows looked at, a seeded sample if there are more.
    pub rows: usize,
    /// The most components that are tried.
    pub max_components: usize,
    /// Whether [`fit`](Self::fit) tries weights of the input columns.
    pub input_weights: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Memory, threads, monitor and checkpoint of all that is fitted.
    pub options: Options,
}

impl Default for Adviser {
    fn default() -> Self {
        Self {
            scale: Scale::Standard,
            fill_missing: false,
            rows: 5_000,
            max_components: 3_000,
            input_weights: true,
            seed: 0,
            options: Options::default(),
        }
    }
}

/// A kernel, and how a basis of it did.
#[derive(Clone, Copy, Debug)]
struct Choice {
    shape: Shape,
    tried: Tried,
    /// The basis of all that is tried.
    method: Method,
}

impl Adviser {
    /// Looks at the rows, which are not scaled yet.
    pub fn advise(&self, rows: &Rows, labels: &Labels) -> Result<Advice> {
        self.check_weights(rows.n())?;
        if let Some((present, adviser)) = self.on_present() {
            return adviser.advise(&rows.select(&present), &labels.select(&present));
        }
        let mut advice = self.advise_and_fit(rows, labels, None)?.0;
        self.options.monitor.begin("trying it on rows held out", 0);
        advice.score = self.options.run(|| self.held_out_score(&rows.to_f64(), labels, &advice))?;
        if let Some(score) = advice.score {
            advice.findings.push(chance_finding(score));
        }
        if advice.is_chance() {
            admit_chance(&mut advice);
        }
        Ok(advice)
    }

    /// How well what is advised predicts rows that were held out.
    fn held_out_score(&self, rows: &Rows, labels: &Labels, advice: &Advice) -> Result<Option<Score>> {
        let chosen = random::sample(rows.n(), self.rows, self.seed);
        let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
        let options = Options { weights: self.weights_of(&chosen), ..self.inner_options() };
        let rows = if self.fill_missing { Medians::fit(&rows).apply(&rows)? } else { rows };
        let scaled = Scaling::fit(self.scale, &rows).0.map(|scaling| scaling.apply(&rows)).transpose()?;
        let rows = scaled.as_ref().unwrap_or(&rows);
        held_out::score(&advice.pipeline()?, rows, &labels, self.seed, &options)
    }

    /// The rows whose weight is above 0, with an adviser that has their weights; None: all rows.
    pub(super) fn on_present(&self) -> Option<(Vec<usize>, Self)> {
        let present = self.options.weights.as_ref()?.present()?;
        let options = Options { weights: self.weights_of(&present), ..self.options.clone() };
        Some((present, Self { options, ..self.clone() }))
    }

    /// What these rows count.
    fn weights_of(&self, rows: &[usize]) -> Option<Weights> {
        self.options.weights.as_ref().map(|weights| weights.select(rows))
    }

    /// The advice, and what came of following it where all rows were looked at. Columns may be weighted already.
    pub(super) fn advise_and_fit(
        &self,
        rows: &Rows,
        labels: &Labels,
        weighted: Option<&FoundWeights>,
    ) -> Result<(Advice, Option<FittedPipeline>)> {
        let rows = &*rows.to_f64();
        self.check(rows, labels)?;
        let mut journal = self.journal(rows, labels)?;
        let advice = self.options.run(|| self.advise_with(rows, labels, weighted, &mut journal));
        // What was found before a stop is not lost.
        journal.save()?;
        advice
    }

    fn advise_with(
        &self,
        rows: &Rows,
        labels: &Labels,
        weighted: Option<&FoundWeights>,
        journal: &mut Journal,
    ) -> Result<(Advice, Option<FittedPipeline>)> {
        labels.refuse_identifier("advise")?;
        let n_all = rows.n();
        let mut chosen = random::sample(n_all, self.rows, self.seed);
        chosen.sort_unstable();
        let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
        // From here on only these rows are looked at.
        let of_these = Options { weights: self.weights_of(&chosen), ..self.options.clone() };
        Self { options: of_these, ..self.clone() }.advise_on(rows, &labels, weighted, n_all, journal)
    }

    /// Advice for rows that are looked at, all of them.
    fn advise_on(
        &self,
        rows: Rows<'static>,
        labels: &Labels,
        weighted: Option<&FoundWeights>,
        n_all: usize,
        journal: &mut Journal,
    ) -> Result<(Advice, Option<FittedPipeline>)> {
        labels.require_two("advise")?;
        let filled = if self.fill_missing { Some(Medians::fit(&rows).apply(&rows)?) } else { None };
        let scaling = Scaling::fit(self.scale, filled.as_ref().unwrap_or(&rows)).0;
        let scaled = |rows: Rows<'static>| match &scaling {
            Some(scaling) => scaling.apply(&rows),
            None => Ok(rows),
        };
        let unfilled = filled.is_some().then(|| scaled(rows.clone())).transpose()?;
        let rows = scaled(filled.unwrap_or(rows))?;
        let mut advice = Advice { rows: rows.n(), classes: labels.n_classes(), ..Advice::default() };
        advice.warnings.extend(copied_rows(&rows, labels));
        self.options.monitor.begin("looking at kernels", 0);
        let few = random::sample(rows.n(), FIRST_ROWS, self.seed);
        let (few_rows, few_labels) = (rows.select(&few), labels.select(&few));
        let few_weights = self.weights_of(&few);
        let first = Looked { rows: &few_rows, labels: &few_labels, weights: few_weights.as_ref() };
        let linear = self.linear(first, n_all, journal)?;
        let kernel = self.best_kernel(first, n_all, &mut advice, journal)?;
        let svm = self.missed_by_svm(first, journal)?;
        let (verdict, choice) = verdict(linear, kernel, svm, first, &mut advice);
        advice.verdict = verdict;
        self.options.monitor.begin("looking at sizes", 0);
        let larger = self.larger(choice, first, rows.n(), n_all, journal)?;
        let choice = self.best_size(choice, larger, &rows, labels, &mut advice, journal)?;
        self.options.monitor.begin("looking into the kernel's space", 0);
        self.look(choice, &rows, labels, &mut advice)?;
        self.options.monitor.begin("trying methods on inner folds", 0);
        let rows = (&rows, unfilled.as_ref());
        let fitted = self.best_method(choice, rows, labels, weighted, &mut advice, journal)?;
        let all_rows = fitted.as_ref().is_some_and(|fitted| fitted.basis.n_rows == n_all);
        Ok((advice, fitted.filter(|_| all_rows)))
    }

    pub(super) fn check_weights(&self, n: usize) -> Result<()> {
        self.options.weights.as_ref().map_or(Ok(()), |weights| weights.check(n))
    }

    pub(super) fn check(&self, rows: &Rows, labels: &Labels) -> Result<()> {
        let n = rows.n();
        labels.require_one("advise")?;
        self.check_weights(n)?;
        if n != labels.len() {
            return Err(Error::data(format!("{n} rows, but {} labels", labels.len())));
        }
        if n < 6 || rows.p() == 0 {
            return Err(Error::data(format!(
                "the data has {n} rows and {} columns; advice needs at least 6 rows and 1 column",
                rows.p()
            )));
        }
        if self.rows < 6 || self.max_components == 0 {
            return Err(Error::argument(format!(
                "rows = {} and max_components = {}, but advice needs at least 6 rows and 1 component",
                self.rows, self.max_components
            )));
        }
        if self.fill_missing {
            rows.check_no_infinity(None)?;
        } else {
            rows.check_finite(None)?;
        }
        labels.require_two("advise")
    }

    /// The yardstick, ridge on the columns; None where the rows are all zero.
    fn linear(&self, seen: Looked, n_all: usize, journal: &mut Journal) -> Result<Option<Choice>> {
        let size = self.first_size(seen.rows);
        let work = || seen.widths_tried(Shape::Linear, &[1.0], size, &self.options.monitor);
        match tried(journal, "linear", work) {
            Ok(tried) => Ok(tried.first().map(|&tried| Choice {
                shape: Shape::Linear,
                tried,
                method: Method::of_rows(n_all),
            })),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(_) => Ok(None),
        }
    }

    /// The share of rows that a linear support vector machine of other folds misses; None for numbers, and where rows have
    /// weights, which it does not take.
    fn missed_by_svm(&self, seen: Looked, journal: &mut Journal) -> Result<Option<f64>> {
        let name = "linear support vector machine";
        let Looked { rows, labels, weights } = seen;
        if matches!(labels, Labels::Numbers(_)) || weights.is_some() {
            return Ok(None);
        }
        let known = journal.recall(name).and_then(Value::as_u64).map(f64::from_bits);
        if let Some(known) = known.filter(|share| (0.0..=1.0).contains(share)) {
            return Ok(Some(known));
        }
        let missed = self.missed_on_folds(rows, labels)?;
        journal.record(name, || json!(missed.to_bits()))?;
        Ok(Some(missed))
    }

    fn missed_on_folds(&self, rows: &Rows, labels: &Labels) -> Result<f64> {
        let chosen = random::sample(rows.n(), LINEAR_ROWS, self.seed);
        let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
        let (splits, _) = folds(&labels, LINEAR_FOLDS.min(rows.n()), 1, self.seed)?;
        let mut missed = 0.0;
        for split in &splits {
            let [train, test] =
                [&split.train, &split.test].map(|part| (rows.select(part), labels.select(part)));
            let monitor = &self.options.monitor;
            let svm = Evaluator::LinearSvm { c: None };
            let found = svm.predict(&train.0, &train.1, &test.0, self.seed, monitor)?;
            let right = Measure::Accuracy.of(&test.1, &found.predictions)?;
            missed += (1.0 - right) * split.test.len() as f64;
        }
        Ok(missed / rows.n() as f64)
    }

    fn first_size(&self, rows: &Rows) -> usize {
        FIRST_SIZE.min(self.max_components).min(rows.n())
    }

    /// The rbf kernel at its best width, or the laplacian at its own where that errs less; sparse rows: rbf alone.
    fn best_kernel(
        &self,
        seen: Looked,
        n_all: usize,
        advice: &mut Advice,
        journal: &mut Journal,
    ) -> Result<Choice> {
        let rows = seen.rows;
        let size = self.first_size(rows);
        let mut try_shape = |shape: Shape| -> Result<(Choice, Vec<Tried>)> {
            let tried = tried(journal, shape.name(), || {
                seen.widths_tried(shape, &grid(shape, rows)?, size, &self.options.monitor)
            })?;
            let best = preferred(&tried, seen.labels).unwrap_or(tried[0]);
            Ok((Choice { shape, tried: best, method: Method::of_rows(n_all) }, tried))
        };
        let (rbf, mut curve) = try_shape(Shape::Rbf)?;
        let mut best = rbf;
        if !rows.is_sparse() {
            let (laplacian, other) = try_shape(Shape::Laplacian)?;
            let [with_rbf, with_laplacian] =
                self.larger_where_near([rbf, laplacian], seen, n_all, journal)?;
            let better = with_laplacian.error < SOMEWHAT * with_rbf.error;
            advice.findings.push(Finding {
                name: "rbf against laplacian".into(),
                value: format!("leave-one-out R² {} against {}", r2(with_rbf, seen), r2(with_laplacian, seen)),
                meaning: if better {
                    "differences in single columns matter more than the Euclidean distance: the laplacian kernel".into()
                } else {
                    "the laplacian kernel is not clearly better, so rbf, which is faster".into()
                },
            });
            if better {
                (best, curve) = (laplacian, other);
            }
        }
        advice.loo_by_gamma =
            curve.iter().filter(|t| t.error.is_finite()).map(|t| (t.gamma, t.error)).collect();
        Ok(best)
    }

    /// How two kernels do with a larger basis, where they do about equally well with the first: one may gain more by it.
    fn larger_where_near(
        &self,
        pair: [Choice; 2],
        seen: Looked,
        n_all: usize,
        journal: &mut Journal,
    ) -> Result<[Tried; 2]> {
        let [one, other] = pair.map(|choice| choice.tried);
        let (first, size) =
            (self.first_size(seen.rows), LARGER_SIZES[0].min(self.max_components).min(seen.rows.n()));
        let is_near = one.error < NEAR * other.error && other.error < NEAR * one.error;
        let may_grow = one.size.min(other.size) >= first && size > first + first / 5;
        if !is_near || !may_grow || !self.fits(size, n_all) {
            return Ok([one, other]);
        }
        let mut larger = |choice: Choice| -> Result<Tried> {
            let all = tried(journal, &format!("{} with {size}", choice.shape.name()), || {
                seen.widths_tried(choice.shape, &[choice.tried.gamma], size, &self.options.monitor)
            })?;
            Ok(all[0])
        };
        Ok([larger(pair[0])?, larger(pair[1])?])
    }

    /// A size and a width beyond the first size, if the first rows say that these would help. Ridge with all of them as landmarks,
    /// which is about the most that a larger basis can reach, is cheaper than a large basis of all n rows.
    fn larger(
        &self,
        start: Choice,
        first: Looked,
        n: usize,
        n_all: usize,
        journal: &mut Journal,
    ) -> Result<Option<(usize, f64)>> {
        let room = |size: usize, next: usize| {
            let next = next.min(self.max_components).min(n);
            (next > size + size / 5 && self.fits(next, n_all)).then_some(next)
        };
        let begun = self.first_size(first.rows);
        // A basis that ended by itself does not grow.
        let second = room(begun, LARGER_SIZES[0]).filter(|_| start.tried.size >= begun);
        let (Some(second), n_first) = (second, first.rows.n()) else { return Ok(None) };
        let limit = self.with_all_rows(start, first, journal)?;
        let Some(limit) = limit.filter(|limit| falls(start.tried, *limit, n_first)) else { return Ok(None) };
        let Some(third) = room(second, LARGER_SIZES[1]) else { return Ok(Some((second, limit.gamma))) };
        let monitor = &self.options.monitor;
        let with_second = tried(journal, "the first rows with more components", || {
            first.widths_tried(start.shape, &[limit.gamma], second.min(n_first), monitor)
        })?[0];
        let size = if falls(with_second, limit, n_first) { third } else { second };
        Ok(Some((size, limit.gamma)))
    }

    /// The smallest size that is nearly as good as the first or, where it may help, a larger one.
    fn best_size(
        &self,
        start: Choice,
        larger: Option<(usize, f64)>,
        rows: &Rows,
        labels: &Labels,
        advice: &mut Advice,
        journal: &mut Journal,
    ) -> Result<Choice> {
        let mut best = start;
        let seen = Looked { rows, labels, weights: self.options.weights.as_ref() };
        let mut known = None;
        match larger {
            // Both widths, if there are two.
            Some((size, gamma)) if size <= LARGER_SIZES[0] => {
                let mut widths = vec![best.tried.gamma, gamma];
                widths.dedup();
                let tried = tried(journal, &format!("size {size}"), || {
                    seen.widths_tried(best.shape, &widths, size, &self.options.monitor)
                })?;
                known = preferred(&tried, labels);
                best.tried = known.unwrap_or(best.tried);
            }
            // What it errs is found below, in the coordinates that are needed anyway.
            Some((size, gamma)) => best.tried = Tried { gamma, size, ..best.tried },
            None => {}
        }
        best.tried.gamma = short(best.tried.gamma);
        if best.tried.size > FIRST_SIZE {
            // Of many landmarks it matters less which, and these are found in half the time.
            best.method = Method::Rpcholesky;
        }
        let (basis, z) = self.coordinates(best, rows, labels, self.options.weights.as_ref())?;
        let z = z.to_dense();
        residual_finding(&basis, &z, rows.n(), advice);
        let known = known.filter(|_| best.method == Method::Rpcholesky);
        let sizes = self.errors_by_size(&z, basis.n_components(), known, labels)?;
        advice.loo_by_size = sizes.iter().map(|t| (t.size, t.error)).collect();
        if let Some(enough) = enough(&sizes, NEARLY, rows.n()) {
            best.tried = Tried { gamma: best.tried.gamma, ..enough };
        }
        let (m, after) = (best.tried.size, error_text(best.tried, seen));
        advice.findings.push(Finding {
            name: "size of the basis".into(),
            value: format!("{m} coordinates, {after}"),
            meaning: "the smallest of those tried that is nearly as good as the best".into(),
        });
        Ok(best)
    }

    /// How ridge does with all of these rows as landmarks, and at which width; None where there is no memory for that.
    fn with_all_rows(&self, start: Choice, seen: Looked, journal: &mut Journal) -> Result<Option<Tried>> {
        let Looked { rows, labels, weights } = seen;
        if kernel_ridge::bytes_for(rows.n()) > self.options.memory {
            return Ok(None);
        }
        let monitor = &self.options.monitor;
        let all: Vec<usize> = (0..rows.n()).collect();
        let try_width = |gamma: f64| {
            let kernel = Kernel { shape: start.shape, gamma };
            let ridge = KernelRidge { kernel, rows, labels, weights, monitor };
            let Some(found) = ridge.near(start.tried.absolute, &all)? else {
                return Ok(Tried { gamma, error: f64::INFINITY, missed: 1.0, ..start.tried });
            };
            let missed = missed_by(&found.left_out, labels, weights);
            let (error, absolute) = (found.error, found.penalty);
            Ok(Tried { gamma, error, missed, absolute, size: rows.n(), ..start.tried })
        };
        let tried = tried(journal, "all of the first rows as landmarks", || while_near(start, try_width))?;
        Ok(preferred(&tried, labels))
    }

    /// Whether a basis of this size on so many rows, and a copy of its coordinates, fit into memory.
    fn fits(&self, size: usize, n: usize) -> bool {
        let basis = Basis::new(Method::Kobl, Kernel::rbf(1.0)).n_components(size);
        basis.estimated_memory(n, &self.options) + 8 * (n * size) as u64 <= self.options.memory
    }

    /// The settings that say which kernel, which width and how large a basis.
    fn settings(choice: Choice, size: &'static str) -> Vec<(String, String)> {
        let mut settings = Vec::new();
        if choice.shape != Shape::Rbf {
            settings.push(("kernel", choice.shape.name().to_string()));
        }
        if choice.shape.uses_gamma() {
            settings.push(("gamma", choice.tried.gamma.to_string()));
        }
        settings.push((size, choice.tried.size.to_string()));
        settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}

impl Advice {
    /// The method with its settings.
    pub fn pipeline(&self) -> Result<Pipeline> {
        Pipeline::new(&self.method, &self.settings)
    }

    /// Recommends the bare coordinates of the basis instead.
    pub(super) fn fall_back(&mut self) {
        let basis = self.settings.iter().find(|(name, _)| name == "basis").map(|(_, basis)| basis.clone());
        self.method = basis.unwrap_or_else(|| self.method.clone());
        self.settings.retain(|(name, _)| ["kernel", "gamma", "basis_components"].contains(&name.as_str()));
        for (name, _) in self.settings.iter_mut().filter(|(name, _)| name == "basis_components") {
            *name = "n_components".into();
        }
    }
}

/// Whether the error of a larger basis is somewhat smaller, or fewer of n rows are missed than a handful could explain. Scores nearer
/// to 0 and 1 are no gain where more rows are missed.
fn falls(best: Tried, larger: Tried, n: usize) -> bool {
    let margin = spread(best.missed, n) / 2.0;
    let misses_no_more = larger.missed <= best.missed + margin;
    larger.error < SOMEWHAT * best.error && misses_no_more || larger.missed < best.missed - margin
}

/// More landmarks resolve finer structure: the width and finer ones, while they come near.
fn while_near(start: Choice, try_width: impl Fn(f64) -> Result<Tried>) -> Result<Vec<Tried>> {
    let mut tried: Vec<Tried> = Vec::new();
    for step in 0..=if start.shape.uses_gamma() { MOST_FINER } else { 0 } {
        let one = try_width(start.tried.gamma * 10f64.powf(f64::from(step) / 2.0))?;
        let is_near = tried.last().is_none_or(|last| one.error < NEAR * last.error);
        tried.push(one);
        if !is_near {
            break;
        }
    }
    Ok(tried)
}

/// Of the widths that miss fewest rows, to within a standard error, the one with the smallest squared error.
fn preferred(tried: &[Tried], labels: &Labels) -> Option<Tried> {
    let finite = || tried.iter().copied().filter(|t| t.error.is_finite());
    let fewest = finite().map(|t| t.missed).fold(f64::INFINITY, f64::min);
    let margin = spread(fewest, labels.len());
    finite().filter(|t| t.missed <= fewest + margin).reduce(|a, b| if b.error < a.error { b } else { a })
}

/// Whether the kernel errs clearly less than the columns, and which to use. For classes the squared error must fall and
/// rows must be missed less by a standard error: a kernel fits the height of a step better without telling more apart.
fn verdict(
    linear: Option<Choice>,
    kernel: Choice,
    svm: Option<f64>,
    seen: Looked,
    advice: &mut Advice,
) -> (Verdict, Choice) {
    let labels = seen.labels;
    let name = kernel.shape.name();
    let nothing = error_of_mean(seen);
    let least = linear.map_or(kernel.tried.error, |linear| linear.tried.error.min(kernel.tried.error));
    if least > SOMEWHAT * nothing {
        advice.no_signal = true;
        advice.reasons.push(format!(
            "leave-one-out predictions from the columns or with the {name} kernel are no better than the mean of the labels \
             (R² {} at best): no features will help much",
            four(1.0 - least / nothing.max(f64::MIN_POSITIVE))
        ));
        return (Verdict::MakesNoDifference, linear.unwrap_or(kernel));
    }
    let Some(linear) = linear else {
        advice.reasons.push(format!("the columns are all zero, so nothing is linear in them: {name} kernel"));
        return (Verdict::Helps, kernel);
    };
    let ratio = kernel.tried.error / linear.tried.error.max(f64::MIN_POSITIVE);
    let [linear_missed, kernel_missed] = [linear, kernel].map(|choice| missed(choice.tried, seen));
    let margin = spread(linear_missed, labels.len());
    let gain = linear_missed - kernel_missed;
    let classes = matches!(labels, Labels::Classes { .. });
    // Where nearly everything is predicted, a clear ratio of errors is no difference that anyone would see.
    let is_visible = classes || kernel.tried.error - linear.tried.error >= VISIBLE * nothing;
    let ridge_gains = ratio <= CLEARLY && (!classes || gain > margin);
    let svm_gain = svm.map(|missed| missed - kernel_missed);
    let (verdict, choice, meaning) = if ridge_gains && svm_gain.is_some_and(|gain| gain < -margin) {
        (Verdict::Hurts, kernel, "a linear support vector machine on the columns does better than the kernel")
    } else if ridge_gains && svm_gain.is_some_and(|gain| gain <= margin) {
        let meaning =
            "ridge gains from the kernel, but a linear support vector machine on the columns does as well";
        (Verdict::MakesNoDifference, kernel, meaning)
    } else if ridge_gains {
        (Verdict::Helps, kernel, "the labels are not linear in the columns, and the kernel helps")
    } else if ratio > 1.0 / CLEARLY && is_visible && (!classes || -gain > margin) {
        (Verdict::Hurts, linear, "the columns themselves do better than the kernel")
    } else {
        (Verdict::MakesNoDifference, linear, "no clear difference, so the simpler linear kernel")
    };
    if let Some(missed) = svm {
        advice.findings.insert(
            0,
            Finding {
                name: "linear support vector machine".into(),
                value: format!(
                    "{:.1} % of rows missed on {LINEAR_FOLDS} folds of the columns",
                    100.0 * missed
                ),
                meaning: "the linear baseline that the kernel must beat".into(),
            },
        );
    }
    advice.findings.insert(
        0,
        Finding {
            name: format!("linear against {name}"),
            value: errors_text(linear.tried, kernel.tried, seen),
            meaning: meaning.into(),
        },
    );
    let missed = match seen.labels {
        Labels::Classes { .. } => format!(" ({})", errors_text(linear.tried, kernel.tried, seen)),
        Labels::Numbers(_) | Labels::Several { .. } => String::new(),
    };
    advice.reasons.push(format!(
        "the leave-one-out R² of ridge is {} in the columns and {} in the space of the {name} kernel{missed}: {meaning}",
        r2(linear.tried, seen),
        r2(kernel.tried, seen),
    ));
    (verdict, choice)
}

/// The mean squared error of predicting the mean, in the unit of [`Tried::error`].
fn error_of_mean(seen: Looked) -> f64 {
    let (y, c, _) = seen.labels.centered_by(seen.weights);
    let square = |(at, v): (usize, &f64)| weight(seen.weights, at / c) * v * v;
    y.iter().enumerate().map(square).sum::<f64>() / (total(seen.weights, seen.labels.len()) * c as f64)
}

/// The share of the labels' variance that is predicted; of classes, of their one-hot columns.
fn r2(tried: Tried, seen: Looked) -> String {
    four(1.0 - tried.error / error_of_mean(seen).max(f64::MIN_POSITIVE))
}

/// What leave-one-out predictions seem to gain, and directions that seem to carry the labels, are chance where rows held out
/// are predicted no better.
fn admit_chance(advice: &mut Advice) {
    if advice.verdict != Verdict::MakesNoDifference {
        advice.reasons.push(
            "rows held out are predicted no better than chance, so what leave-one-out errors seem to tell apart is chance"
                .into(),
        );
    }
    advice.verdict = Verdict::MakesNoDifference;
    for finding in advice.findings.iter_mut().filter(|finding| finding.name == RELEVANT_DIMENSION) {
        finding.meaning = NOTHING_CARRIED.into();
    }
}

fn chance_finding(score: Score) -> Finding {
    let Score { measure, value, chance, p_value } = score;
    let text = |v: f64| if measure.is_share() { format!("{:.1} %", 100.0 * v) } else { format!("{v:.3}") };
    Finding {
        name: "rows held out".into(),
        value: format!(
            "{} {} by ridge on the features, {} with shuffled labels, p = {p_value:.3}",
            measure.words(),
            text(value),
            text(chance)
        ),
        meaning: if score.is_above_chance() {
            "the features predict rows that they were not learned from".into()
        } else if measure == Measure::R2 && p_value <= 0.05 {
            "not above 0: the mean of the target predicts rows held out as well".into()
        } else {
            "no better than chance: the features do not predict rows that they were not learned from".into()
        },
    }
}

/// The share of rows missed, at most that of guessing the largest class. Without skill ridge predicts the mean of the other
/// rows, and of two equally large classes that is nearer to the one that the row is not of: leave-one-out misses them all.
fn missed(tried: Tried, seen: Looked) -> f64 {
    tried.missed.min(missed_by_guessing(seen))
}

fn missed_by_guessing(seen: Looked) -> f64 {
    let Labels::Classes { codes, names } = seen.labels else { return 1.0 };
    let mut sizes = vec![0.0; names.len()];
    codes.iter().enumerate().for_each(|(i, &code)| sizes[code] += weight(seen.weights, i));
    1.0 - sizes.into_iter().fold(0.0, f64::max) / total(seen.weights, codes.len())
}

/// The share of rows missed, as text.
fn missed_text(tried: Tried, seen: Looked) -> String {
    let by_guessing = if tried.missed > missed_by_guessing(seen) { " (as by guessing)" } else { "" };
    format!("{:.1} %{by_guessing}", 100.0 * missed(tried, seen))
}

/// The leave-one-out error as people say it.
fn error_text(tried: Tried, seen: Looked) -> String {
    match seen.labels {
        Labels::Classes { .. } => format!("{} of left-out rows missed", missed_text(tried, seen)),
        Labels::Numbers(_) | Labels::Several { .. } => format!("leave-one-out R² {}", r2(tried, seen)),
    }
}

/// Two leave-one-out errors side by side.
fn errors_text(one: Tried, other: Tried, seen: Looked) -> String {
    match seen.labels {
        Labels::Classes { .. } => {
            format!("{} against {}", missed_text(one, seen), error_text(other, seen))
        }
        Labels::Numbers(_) | Labels::Several { .. } => {
            format!("{} against {}", error_text(one, seen), r2(other, seen))
        }
    }
}

/// What features are measured by.
fn measure(labels: &Labels, weights: Option<&Weights>) -> Measure {
    Measure::usual_by(labels, weights)
}

/// Four digits, as text.
fn four(v: f64) -> String {
    if v == 0.0 || (1e-3..1e4).contains(&v.abs()) { format!("{v:.4}") } else { format!("{v:.2e}") }
}

/// Four digits: nobody types more, and no more are meant.
fn short(v: f64) -> f64 {
    format!("{v:.3e}").parse().unwrap_or(v)
}
