//! Methods side by side: every candidate on the same splits, everything learned inside the training part.
//!
//!   a split: scaling → γ (once a rule) → every distinct basis (once) → the methods on it → the evaluators
//!
//! Splits are shared out to threads, each with a pool of its own: the seconds of a candidate are its own.
//!
//! cost    a split: one fit a distinct basis, the methods' own arithmetic, the evaluators', and at most 99 shuffles of the test
//!         labels against predictions that are there
//! differs with more than 1000 training rows bases have at most 500 components, and `kobl` stands in for bases that would
//!         span all rows, unless the settings say otherwise

mod plan;
mod split;
mod shuffles;
mod results;
mod features;
mod checkpoint;
mod again;
mod apart;

use std::sync::{Mutex, PoisonError};

use super::evaluator::Evaluator;
use super::folds::{Split, folds, group_folds, splits, with_every_class};
use super::measures::Measure;
use super::outcome::{Entry, Outcome};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scale;
use crate::data::weights::refuse;
use crate::error::{Error, Result};
use crate::methods;
use crate::monitor::Stage;
use crate::options::{Options, bytes, raise_budget};
use crate::pipeline::Pipeline;
use plan::Plan;
use results::SplitResults;
use split::Work;

/// Up to this many training rows every method has the basis that it comes with.
pub const MANY_ROWS: usize = 1_000;

/// Beyond [`MANY_ROWS`] a basis has at most so many components.
pub const MANY_ROWS_COMPONENTS: usize = 500;

/// Warnings that are kept.
const WARNINGS: usize = 10;

/// What is compared, and how; [`run`](Self::run) does it.
///
/// ```
/// use mercer::{data::{Labels, Task, synth}, evaluate::Comparison};
///
/// let table = synth::generate("ringnorm?n=120&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let methods = vec!["gda".to_string(), "kobl".to_string()];
/// let comparison = Comparison { methods, folds: 3, ..Comparison::default() };
/// let outcome = comparison.run(&table.rows, &labels)?;
/// assert_eq!((outcome.measure.as_str(), outcome.n_splits), ("accuracy", 3));
/// assert!(outcome.entries.iter().any(|entry| entry.method == "raw")); // baselines are always there
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the catalogue; empty: [`all`](Self::all). The baselines `raw`, `rbf-svm`, `kknn` and `dummy`
    /// are always there.
    pub methods: Vec<String>,
    /// Parameters, as text, for every method that has them.
    pub settings: Vec<(String, String)>,
    /// Rules or numbers for γ.
    pub gammas: Vec<String>,
    /// Numbers of features; None: the method's own.
    pub sizes: Vec<Option<usize>>,
    /// The models that evaluate the features.
    pub evaluators: Vec<Evaluator>,
    /// Learned inside each training part.
    pub scale: Scale,
    /// Whether NaN is a missing value, filled by its column's median over each training part; else it is refused.
    pub fill_missing: bool,
    /// Folds.
    pub folds: usize,
    /// How often the folds are dealt out anew, or the number of splits by chance.
    pub repeats: usize,
    /// Some: splits by chance, with this share for testing, in place of folds.
    pub test_share: Option<f64>,
    /// Some: these splits, in place of folds.
    pub splits: Option<Vec<Split>>,
    /// Some: the group of each row, such as its patient. Folds keep groups together, and where each group has one label, scores by
    /// chance are of labels that change places with those of whole groups.
    pub groups: Option<Vec<usize>>,
    /// What candidates are sorted by; None: [`Measure::usual`].
    pub score: Option<Measure>,
    /// Whether predictions of the test rows are kept ([`Entry::predictions`]), for scores of the caller's own.
    pub keep_predictions: bool,
    /// Seed of the folds, the methods and the evaluators.
    pub seed: u64,
    /// Memory, threads, monitor and checkpoint of all that is fitted.
    pub options: Options,
}

/// The result of a candidate on a split.
#[derive(Clone, Debug)]
enum CandidateResult {
    Scored(Scored),
    /// It has fewer features than requested.
    Skipped,
    Failed(String),
}

#[derive(Clone, Debug)]
struct Scored {
    score: f64,
    second: f64,
    gamma: Option<f64>,
    n_features: usize,
    kernel_values: usize,
    seconds: f64,
    confusion: Vec<Vec<usize>>,
    /// One a test row; empty for a measure that is no mean over rows.
    losses: Vec<f32>,
    /// The score of the same predictions with shuffled labels, one a shuffle.
    by_chance: Vec<f64>,
    /// Codes of classes, or numbers, where they are kept.
    predictions: Option<Vec<f64>>,
}

impl Default for Comparison {
    fn default() -> Self {
        Self {
            methods: Vec::new(),
            settings: Vec::new(),
            gammas: vec!["loo".into()],
            sizes: vec![None],
            evaluators: vec![Evaluator::Knn { n_neighbors: 1 }, Evaluator::Ridge],
            scale: Scale::Standard,
            fill_missing: false,
            folds: 5,
            repeats: 1,
            test_share: None,
            splits: None,
            groups: None,
            score: None,
            keep_predictions: false,
            seed: 0,
            options: Options::default(),
        }
    }
}

impl Comparison {
    /// All methods of the catalogue that can serve such labels.
    ///
    /// ```
    /// use mercer::{Labels, evaluate::Comparison};
    ///
    /// let classes = Labels::classes(&["a", "b"]);
    /// assert_eq!(Comparison::all(&classes).len(), 21);
    /// let numbers = Labels::Numbers(vec![0.5, 1.5]);
    /// assert_eq!(Comparison::all(&numbers)[..3], ["eks", "kpls", "gram-schmidt"]); // the others need classes
    /// ```
    pub fn all(labels: &Labels) -> Vec<String> {
        let all =
            [methods::Stage::System, methods::Stage::Extract, methods::Stage::Basis].map(methods::names);
        let serves = |name: &&str| {
            let checked = Pipeline::new::<&str>(name, &[]).and_then(|pipeline| pipeline.check(Some(labels)));
            // What is wrong with the labels for every method is reported by `check`.
            checked.is_ok() || matches!(labels, Labels::Classes { .. })
        };
        all.concat().into_iter().filter(serves).map(String::from).collect()
    }

    /// An error unless the comparison can be made; nothing is fitted.
    ///
    /// ```
    /// use mercer::{Labels, Rows, evaluate::Comparison};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0, 3.0], 4, 1)?;
    /// let labels = Labels::classes(&["a", "b", "a", "b"]);
    /// let comparison = Comparison { folds: 9, ..Comparison::default() };
    /// assert!(comparison.check(&rows, &labels).unwrap_err().to_string().starts_with("9 folds of 4 rows"));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn check(&self, rows: &Rows, labels: &Labels) -> Result<()> {
        self.plan(rows, labels).map(|_| ())
    }

    /// Compares. A candidate that fails says why and stops no other; after [`Monitor::stop`](crate::Monitor::stop) the splits that were
    /// finished are there.
    pub fn run(&self, rows: &Rows, labels: &Labels) -> Result<Outcome> {
        let rows = &*rows.to_f64();
        let results = self.options.run(|| self.work(self.plan(rows, labels)?, rows, labels))?;
        if results.interrupted && results.done.is_empty() {
            return Err(Error::Interrupted);
        }
        Ok(results.outcome(rows, labels).0)
    }

    fn plan(&self, rows: &Rows, labels: &Labels) -> Result<Planned> {
        labels.require_one("compare")?;
        refuse(self.options.weights.as_ref(), "compare", "leave them out")?;
        if rows.n() != labels.len() || rows.p() == 0 {
            return Err(Error::data(format!(
                "{} rows of {} columns and {} labels were given; as many labels as rows and at least one column are \
                 needed",
                rows.n(),
                rows.p(),
                labels.len()
            )));
        }
        labels.require_two("compare")?;
        labels.refuse_identifier("compare")?;
        if let Labels::Numbers(values) = labels
            && let Some(row) = values.iter().position(|v| !v.is_finite())
        {
            return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
        }
        if self.evaluators.is_empty() {
            return Err(Error::argument(format!(
                "no evaluator was given; use one or more of {}",
                Evaluator::NAMES.join(", ")
            )));
        }
        self.evaluators.iter().try_for_each(|evaluator| evaluator.check(labels))?;
        self.score.map_or(Ok(()), |score| score.check(labels, &self.evaluators))?;
        if self.sizes.is_empty() || self.sizes.contains(&Some(0)) {
            return Err(Error::argument(
                "numbers of features must be at least 1, and at least one of them, or the method's own number, must be given",
            ));
        }
        if let Some(groups) = self.groups.as_ref().filter(|groups| groups.len() != rows.n()) {
            return Err(Error::argument(format!(
                "{} groups were given for {} rows, but one a row is needed",
                groups.len(),
                rows.n()
            )));
        }
        let (splits, mut warnings) = match (&self.splits, self.test_share) {
            (Some(given), _) => (checked(given, rows.n())?, Vec::new()),
            (None, Some(_)) if self.groups.is_some() => {
                return Err(Error::argument(
                    "test_share splits groups\nhint: leave test_share out for folds that keep groups together, or give splits",
                ));
            }
            (None, Some(share)) => splits(labels, share, self.repeats, self.seed)?,
            (None, None) => match &self.groups {
                Some(groups) => (group_folds(groups, self.folds, self.repeats, self.seed)?, Vec::new()),
                None => folds(labels, self.folds, self.repeats, self.seed)?,
            },
        };
        let (measures, kept, warning) = self.measures_on(&splits, labels);
        warnings.extend(warning);
        let dealt = splits.len();
        let splits: Vec<Split> = kept.iter().map(|&at| splits[at].clone()).collect();
        let most = splits.iter().map(|split| split.train.len()).max().unwrap_or(0);
        let plan = Plan::new(self, measures, rows, labels, most)?;
        if self.fill_missing {
            rows.check_no_infinity(None)?;
        } else {
            rows.check_finite(None)?;
        }
        if plan.memory > self.options.memory {
            return Err(Error::Memory(format!(
                "comparing {} methods on {most} training rows needs {}, but the budget is {}\n\
                 hint: set n_components and basis_components lower, leave out gram-schmidt and kpca, or {}",
                plan.methods.len(),
                bytes(plan.memory),
                bytes(self.options.memory),
                raise_budget(self.options.memory)
            )));
        }
        warnings.extend(plan.warnings.iter().cloned());
        Ok(Planned { plan, splits, kept, dealt, warnings })
    }

    /// Works on the splits, as many at a time as there are threads and memory.
    fn work(&self, planned: Planned, rows: &Rows, labels: &Labels) -> Result<Results> {
        let Planned { plan, splits, kept, warnings, .. } = planned;
        let threads = rayon::current_num_threads();
        let fitting = usize::try_from(self.options.memory / plan.memory.max(1)).unwrap_or(usize::MAX);
        let workers = threads.min(splits.len()).min(fitting).max(1);
        // What another job has kept is told before any work.
        let journals = checkpoint::journals(self, plan.measures[0], rows, labels, splits.len())?;
        self.options.monitor.enter(Stage {
            name: "comparing",
            total: splits.len() * plan.entries.len(),
            done: checkpoint::settled(&journals),
            ..Stage::default()
        });
        let jobs = Mutex::new(splits.iter().zip(journals).enumerate());
        let results = Mutex::new(Vec::new());
        let pools = (0..workers)
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads((threads / workers).max(1)).build())
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|error| Error::Memory(format!("no threads could be started: {error}")))?;
        std::thread::scope(|scope| {
            for pool in &pools {
                scope.spawn(|| {
                    loop {
                        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((at, (split, mut journal))) = job else { break };
                        let done =
                            pool.install(|| split::run(self, &plan, rows, labels, split, &mut journal));
                        if !matches!(done, Ok(_) | Err(Error::Interrupted)) {
                            // Nothing more can be kept.
                            self.options.monitor.stop();
                        }
                        results.lock().unwrap_or_else(PoisonError::into_inner).push((at, done));
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(at, _)| *at);
        let mut done = Vec::new();
        for (at, result) in results {
            match result {
                Ok(split) => done.push((kept[at], split)),
                Err(Error::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
        let interrupted = done.len() < splits.len();
        Ok(Results { plan, n_splits: splits.len(), done, interrupted, warnings })
    }

    /// The measure that candidates are sorted by, and the second one: chosen once, from the labels of all rows, so that every
    /// split has the same. Which of the splits it can be had on, and a warning if that is not all of them.
    fn measures_on(&self, splits: &[Split], labels: &Labels) -> ([Measure; 2], Vec<usize>, Option<String>) {
        let all = || (0..splits.len()).collect();
        let first = self.score.unwrap_or_else(|| Measure::usual(labels));
        if !first.is_mean_over_classes() {
            return (with_second(first, labels), all(), None);
        }
        let whole = with_every_class(splits, labels);
        let words = first.words();
        if whole.len() == splits.len() {
            return (with_second(first, labels), whole, None);
        }
        if !whole.is_empty() {
            let warning = format!(
                "{} of {} splits lack a class on one side and are left out: {words} is a mean over the classes",
                splits.len() - whole.len(),
                splits.len()
            );
            return (with_second(first, labels), whole, Some(warning));
        }
        let lacking = "every split lacks a class on one side";
        if self.score.is_some() {
            let warning = format!(
                "{lacking}: {words} is a mean over the classes that a test part has, which may be one"
            );
            return (with_second(first, labels), all(), Some(warning));
        }
        let warning = format!("{lacking}: candidates are compared by accuracy, as {words} needs all classes");
        (with_second(Measure::Accuracy, labels), all(), Some(warning))
    }
}

/// A measure, and what is shown beside it.
fn with_second(first: Measure, labels: &Labels) -> [Measure; 2] {
    let second = match (labels, first) {
        (Labels::Classes { .. }, Measure::Accuracy) => Measure::BalancedAccuracy,
        (Labels::Classes { .. }, _) => Measure::Accuracy,
        (_, Measure::R2) => Measure::Rmse,
        (..) => Measure::R2,
    };
    [first, second]
}

/// Splits that were given, if each has rows on both sides and all of them exist.
fn checked(splits: &[Split], n: usize) -> Result<Vec<Split>> {
    if splits.is_empty() {
        return Err(Error::argument("no splits were given; at least one is needed"));
    }
    for (at, split) in splits.iter().enumerate() {
        if split.train.is_empty() || split.test.is_empty() {
            return Err(Error::argument(format!(
                "split {} has {} training rows and {} test rows, but at least one of each is needed",
                at + 1,
                split.train.len(),
                split.test.len()
            )));
        }
        if let Some(row) = split.train.iter().chain(&split.test).find(|&&row| row >= n) {
            return Err(Error::argument(format!("split {} has row {row}, but there are {n} rows", at + 1)));
        }
    }
    Ok(splits.to_vec())
}

/// What is to be done.
struct Planned {
    plan: Plan,
    splits: Vec<Split>,
    /// Their places among all splits that were dealt out or given.
    kept: Vec<usize>,
    /// How many these were.
    dealt: usize,
    warnings: Vec<String>,
}

/// What was done: the splits that were finished, in order.
struct Results {
    plan: Plan,
    n_splits: usize,
    /// Each with its place among all splits that were dealt out or given.
    done: Vec<(usize, SplitResults)>,
    interrupted: bool,
    warnings: Vec<String>,
}

impl Results {
    fn outcome(self, rows: &Rows, labels: &Labels) -> (Outcome, Work) {
        let [measure, second] = self.plan.measures.map(|m| m.name().replace('-', "_"));
        let count = self.done.len();
        let mut sums: Vec<Sum> = self.plan.entries.into_iter().map(Sum::new).collect();
        let mut work = Work::default();
        let mut all = Warnings::default();
        all.extend(self.warnings);
        let finished_splits = self.done.iter().map(|(at, _)| *at).collect();
        for (_, done) in self.done {
            sums.iter_mut().zip(done.results).for_each(|(sum, result)| sum.add(result));
            all.extend(done.warnings);
            work.basis_fits += done.work.basis_fits;
            work.kernel_values += done.work.kernel_values;
            work.gammas += done.work.gammas;
        }
        let mut outcome = Outcome {
            measure,
            second,
            entries: sums.into_iter().filter_map(|sum| sum.finish(count)).collect(),
            rows: rows.n(),
            inputs: rows.p(),
            classes: match labels {
                Labels::Classes { names, .. } => names.clone(),
                Labels::Numbers(_) | Labels::Several { .. } => Vec::new(),
            },
            n_splits: self.n_splits,
            finished_splits,
            interrupted: self.interrupted,
            warnings: all.finish(),
            ..Outcome::default()
        };
        outcome.entries.iter_mut().for_each(|entry| entry.rows = rows.n());
        outcome.sort();
        outcome.hold_against_chance();
        (outcome, work)
    }
}

/// An entry that is being added up.
struct Sum {
    entry: Entry,
    failures: Vec<String>,
    skipped: usize,
}

impl Sum {
    fn new(entry: Entry) -> Self {
        Self { entry, failures: Vec::new(), skipped: 0 }
    }

    fn add(&mut self, result: CandidateResult) {
        let entry = &mut self.entry;
        match result {
            CandidateResult::Skipped => self.skipped += 1,
            CandidateResult::Failed(text) => self.failures.push(text),
            CandidateResult::Scored(scored) => {
                entry.scores.push(scored.score);
                entry.second.push(scored.second);
                entry.gammas.extend(scored.gamma);
                entry.n_features.push(scored.n_features);
                entry.kernel_values.push(scored.kernel_values);
                entry.seconds.push(scored.seconds);
                entry.losses.extend(scored.losses);
                entry.by_chance.push(scored.by_chance);
                entry.predictions.extend(scored.predictions);
                if entry.confusion.is_empty() {
                    entry.confusion = scored.confusion;
                } else {
                    let counts = entry.confusion.iter_mut().flatten();
                    counts.zip(scored.confusion.iter().flatten()).for_each(|(sum, count)| *sum += count);
                }
            }
        }
    }

    /// None: the method has fewer features than requested on every split.
    fn finish(mut self, splits: usize) -> Option<Entry> {
        if self.skipped == splits {
            return None;
        }
        let on = |count: usize| {
            if count == splits { String::new() } else { format!("on {count} of {splits} splits: ") }
        };
        self.entry.failed = match self.failures.first() {
            Some(text) => Some(format!("{}{text}", on(self.failures.len()))),
            None if self.skipped > 0 => {
                Some(format!("{}it has fewer features than requested", on(self.skipped)))
            }
            None => None,
        };
        Some(self.entry)
    }
}

/// Warnings of many splits, each once.
#[derive(Default)]
struct Warnings {
    /// Without their digits: the same is said of every split, with other numbers.
    seen: Vec<String>,
    kept: Vec<String>,
}

impl Warnings {
    fn extend(&mut self, warnings: Vec<String>) {
        for text in warnings {
            let bare: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
            if !self.seen.contains(&bare) {
                self.seen.push(bare);
                self.kept.push(text);
            }
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.kept.len() > WARNINGS {
            let more = self.kept.len() - WARNINGS;
            self.kept.truncate(WARNINGS);
            self.kept.push(format!("{more} more warnings are left out"));
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::Task;
    use crate::data::synth;

    fn work(methods: &[&str], gammas: &[&str], sizes: &[Option<usize>], basis: Option<&str>) -> Work {
        let table = synth::generate("ringnorm?n=90&seed=1").expect("rows");
        let labels = Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels");
        let comparison = Comparison {
            methods: methods.iter().map(ToString::to_string).collect(),
            gammas: gammas.iter().map(ToString::to_string).collect(),
            settings: basis.map(|name| ("basis".into(), name.into())).into_iter().collect(),
            sizes: sizes.to_vec(),
            evaluators: vec![Evaluator::Knn { n_neighbors: 1 }],
            folds: 3,
            ..Comparison::default()
        };
        let planned = comparison.plan(&table.rows, &labels).expect("a plan");
        comparison.work(planned, &table.rows, &labels).expect("done").outcome(&table.rows, &labels).1
    }

    #[test]
    fn methods_on_one_basis_cost_the_kernel_values_of_one() {
        let one = work(&["gda"], &["scale"], &[None], Some("kobl"));
        assert_eq!((one.basis_fits, one.gammas), (3, 3), "one a fold");
        // kobl looks at 1.4·n·(m+1) values of the 60 training rows, and 30 test rows are compared with its landmarks.
        assert!(one.kernel_values > 0 && one.kernel_values < 3 * (84 * 61 + 30 * 60));
        let five = work(&["gda", "klfe", "kpls", "koc", "kmfa"], &["scale"], &[None], Some("kobl"));
        assert_eq!(five, one);
        let sizes = [None, Some(1), Some(2), Some(5), Some(9)];
        assert_eq!(
            work(&["gda", "klfe", "kpls", "koc", "kmfa", "skfe"], &["scale"], &sizes, Some("kobl")),
            one
        );
        // The basis as a method of its own is the one below the others, at every size.
        assert_eq!(work(&["kobl"], &["scale"], &sizes, None), one);
        let rules = work(&["gda", "koc"], &["scale", "loo"], &[None], Some("kobl"));
        assert_eq!((rules.basis_fits, rules.gammas), (6, 6), "one a fold and rule");
    }

    #[test]
    fn a_basis_that_is_not_nested_is_fitted_for_every_size() {
        let sizes = [None, Some(2), Some(5)];
        for basis in ["nystrom", "kmeans"] {
            assert_eq!(work(&[basis], &["scale"], &sizes, None).basis_fits, 9, "{basis}");
        }
        for basis in ["gram-schmidt", "kobl", "sparse", "kpca", "rpcholesky", "kfa", "csi"] {
            assert_eq!(work(&[basis], &["scale"], &sizes, None).basis_fits, 3, "{basis}");
        }
    }

    #[test]
    fn warnings_that_differ_in_numbers_alone_are_one() {
        let mut all = Warnings::default();
        all.extend(vec!["2 of 5".into(), "3 of 5".into(), "other".into()]);
        all.extend((0..20u8).map(|i| char::from(b'a' + i).to_string()).collect());
        let kept = all.finish();
        assert_eq!((kept.len(), kept[0].as_str(), kept[1].as_str()), (11, "2 of 5", "other"));
        assert_eq!(kept[10], "12 more warnings are left out");
    }
}
