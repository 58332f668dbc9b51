//! Stage 5a: keep columns. A score for every column of any matrix, raw or a basis' coordinates, and the best of them.
//!
//! Each selector is a plain struct that implements [`Select`]: its `score` takes [`Columns`] and gives [`Scores`], and
//! [`Scores::keep`] picks the best. [`Selector`] is any of them.

pub mod relief;
pub mod relieff;
pub mod rrelieff;
pub mod irelief;
pub mod multisurf;
pub mod kffs;
pub mod f_sums;
pub mod f_test;
pub mod mutual_info;
pub mod laplacian;
pub mod lasso;
pub mod input_weights;
pub mod stability;
mod by_column;
mod coordinate_descent;
mod folded;
pub(crate) mod how_many;
pub(crate) mod neighbourhood;
mod newton;
mod quadratic;
pub(crate) mod tails;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

pub use f_sums::FSums;
pub use f_test::{FTest, Level};
pub use irelief::IRelief;
pub use kffs::Kffs;
pub use laplacian::Laplacian;
pub use lasso::Lasso;
pub use multisurf::{MultiSurf, Radius};
pub use mutual_info::MutualInfo;
pub use relief::Relief;
pub use relieff::ReliefF;
pub use rrelieff::RReliefF;
pub use stability::{Overlap, Stability};

pub use crate::evidence::parameters::NeighborCount;

use crate::data::labels::Labels;
use crate::data::needs::{Needs, missing_labels};
use crate::data::rows::Rows;
use crate::data::weights::{Weights, refuse};
use crate::error::{Error, Result};
use crate::evidence::differences::Differences;
use crate::evidence::neighbours::{Metric, Space};
use crate::evidence::ranges::Ranges;
use crate::kernel::gram::check_rows;
use crate::kernel::{Kernel, Shape};
use crate::monitor::Monitor;
use crate::options::{DEFAULT_MEMORY, bytes};
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, Registered, Values};

/// What the columns of a selector may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    /// Finite numbers.
    Numbers,
    /// Finite numbers, some of which are names of categories.
    Categories,
    /// Those, and NaN for missing values.
    Missing,
}

/// What a selector looks at.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// n rows of the p columns to choose among. Float32 columns are widened a few columns or rows at a time by all selectors
    /// but `irelief`, `laplacian` and `lasso`, which take a float64 copy, and so does the Relief family where neighbours are
    /// sought among the columns themselves.
    pub rows: &'a Rows<'a>,
    /// The rows' labels; the Laplacian score alone does without.
    pub labels: Option<&'a Labels>,
    /// The kernel's space, in which neighbours are sought: a kernel and the n rows it compares. None: the columns'
    /// own.
    pub space: Option<(Kernel, &'a Rows<'a>)>,
    /// Columns whose values are names of categories: they differ or they do not. For the Relief family and `mi`.
    pub categorical: &'a [usize],
    /// What each row counts; None: all the same.
    pub weights: Option<&'a Weights>,
    /// Progress out, stop in.
    pub monitor: &'a Monitor,
}

/// What a selector finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// One a column, high is good.
    pub scores: Vec<f64>,
    /// Probability of a score as good by chance, where the selector has one.
    pub pvalues: Option<Vec<f64>>,
    /// The columns that the selector itself keeps, where it decides.
    pub chosen: Option<Vec<bool>>,
    /// The columns in the order taken, where the selector takes one after the other: that is their ranking.
    pub order: Option<Vec<usize>>,
    /// KFFS: share of training rows that the ensemble gets wrong after each round.
    pub error_path: Vec<f64>,
    /// `relief`, `irelief`: max(z, 0)/‖max(z, 0)‖₂.
    pub weights: Option<Vec<f64>>,
    /// F-test: what it was made from, to which more batches can be added.
    pub sums: Option<FSums>,
    /// `lasso`: the penalty that cross-validation chose.
    pub penalty: Option<f64>,
    /// How many of the best columns cross-validation asks for, where it was asked ([`Keep::CrossValidated`]).
    pub best_count: Option<usize>,
    /// The most neighbours of each kind that a row was compared with, where the selector counts them and knows all rows.
    pub n_neighbors: Option<usize>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// How many columns to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// All, or all that the selector chose.
    All,
    /// This many.
    Count(usize),
    /// This share of all, rounded down, at least one.
    Share(f64),
    /// Those with a score above 0.
    Positive,
    /// The fewest with which ridge predicts rows that are held out as well as it can, to within a standard error; where there are no
    /// labels to predict, two thirds. Only for systems, whose columns are coordinates of one space; selectors of other columns
    /// refuse it.
    CrossValidated,
}

/// The columns that were selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Their indices, ascending.
    pub columns: Vec<usize>,
    /// The place of every column: 1 is the best.
    pub ranking: Vec<usize>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A way to score columns. Each is a plain struct in a file of its own, with its [`MethodSpec`] beside it.
pub trait Select: Any + Debug + Send + Sync {
    /// What a user should know about it.
    fn spec(&self) -> &'static MethodSpec;

    /// What it needs to know of the labels.
    fn needs(&self) -> Needs {
        Needs::Classes
    }

    /// Whether it looks at neighbours in the kernel's space, where there is one.
    fn seeks_neighbours(&self) -> bool {
        false
    }

    /// How many neighbours of each kind a row is compared with where there are n rows, if that may be a share of them.
    fn n_neighbors(&self, _n: usize) -> Option<usize> {
        None
    }

    /// The distance that was chosen for neighbours in the columns' own space.
    fn metric(&self) -> Option<Metric> {
        None
    }

    /// Whether rows may count differently.
    fn takes_weights(&self) -> bool {
        false
    }

    /// Whether it takes a float64 copy of float32 columns.
    fn widens(&self) -> bool {
        false
    }

    /// Whether its columns have weights to be multiplied by.
    fn has_weights(&self) -> bool {
        false
    }

    /// The score of every column.
    fn score(&self, columns: &Columns) -> Result<Scores>;
}

/// Any of the selectors.
///
/// ```
/// use mercer::select::{Relief, Selector};
///
/// assert_eq!(Selector::from(Relief::default()).name(), "relief");
/// ```
#[derive(Clone, Debug)]
pub struct Selector(Arc<dyn Select>);

impl<S: Select> From<S> for Selector {
    fn from(selector: S) -> Self {
        Self(Arc::new(selector))
    }
}

impl Deref for Selector {
    type Target = dyn Select;

    fn deref(&self) -> &dyn Select {
        &*self.0
    }
}

impl Selector {
    /// The selector itself, if it is of this type.
    pub(crate) fn downcast<S: Select>(&self) -> Option<&S> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }

    /// Its name in Rust, Python and the command line.
    pub fn name(&self) -> &'static str {
        self.spec().name
    }

    /// The score of every column.
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        if let Some(weights) = columns.weights {
            weights.check(columns.rows.n())?;
            if !self.takes_weights() {
                let instead = "leave them out, or use `f`, `kffs`, `lasso`, `mi`, `relief` or `relieff`, which take them";
                return refuse(columns.weights, self.name(), instead).map(|()| Scores::default());
            }
            if let Some(present) = weights.present() {
                let (rows, weights) = (columns.rows.select(&present), weights.select(&present));
                let labels = columns.labels.map(|labels| labels.select(&present));
                let space = columns.space.map(|(kernel, rows)| (kernel, rows.select(&present)));
                return self.score(&Columns {
                    rows: &rows,
                    labels: labels.as_ref(),
                    space: space.as_ref().map(|(kernel, rows)| (*kernel, rows)),
                    weights: Some(&weights),
                    ..*columns
                });
            }
        }
        self.0.score(columns)
    }

    /// An error unless so many of any columns can be kept.
    pub(crate) fn check_keep(&self, keep: Keep) -> Result<()> {
        if keep != Keep::CrossValidated {
            return Ok(());
        }
        Err(Error::argument(format!(
            "n_features = cv, but `{}` selects among columns that may have any unit, and what ridge predicts depends on units; \
             the systems eks, k-relief, sk-relief and takes can do it\n\
             hint: give a number, a share or `positive`, or select in kernel space: method = eks, selector = {0}",
            self.name()
        )))
    }
}

/// Every selector, and how it is made from its settings. A new one is added here.
pub(crate) const ALL: [Registered<Selector>; 16] = [
    (&relief::SPEC, |values| Relief::from_values(values).into()),
    (&relieff::SPEC, |values| ReliefF::from_values(values).into()),
    (&rrelieff::SPEC, |values| RReliefF::from_values(values).into()),
    (&irelief::SPEC, |values| IRelief::from_values(values).into()),
    (&multisurf::SURF, |values| MultiSurf::from_values(&multisurf::SURF, values).into()),
    (&multisurf::SURF_STAR, |values| MultiSurf::from_values(&multisurf::SURF_STAR, values).into()),
    (&multisurf::MULTISURF, |values| MultiSurf::from_values(&multisurf::MULTISURF, values).into()),
    (&multisurf::MULTISURF_STAR, |values| MultiSurf::from_values(&multisurf::MULTISURF_STAR, values).into()),
    (&kffs::SPEC, |values| Kffs::from_values(values).into()),
    (&f_test::F, |values| FTest::from_values(&f_test::F, values).into()),
    (&f_test::FPR, |values| FTest::from_values(&f_test::FPR, values).into()),
    (&f_test::FDR, |values| FTest::from_values(&f_test::FDR, values).into()),
    (&f_test::FWE, |values| FTest::from_values(&f_test::FWE, values).into()),
    (&mutual_info::SPEC, |values| MutualInfo::from_values(values).into()),
    (&laplacian::SPEC, |values| Laplacian::from_values(values).into()),
    (&lasso::SPEC, |values| Lasso::from_values(values).into()),
];

/// The names of the selectors.
pub(crate) const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = ALL[i].0.name;
        i += 1;
    }
    names
};

impl Keep {
    /// The setting `n_features`, which was checked.
    pub(crate) fn from_values(values: &Values) -> Self {
        values.text("n_features").and_then(|text| text.parse().ok()).unwrap_or(Self::All)
    }
}

/// How many columns a selector keeps.
pub(crate) const N_FEATURES: Parameter = Parameter::new(
    "n_features",
    Kind::Text {
        name: "keep",
        allowed: "a number ≥ 1 | a share in (0, 1.0] | positive | all | cv",
        check: |text| text.parse::<Keep>().map(drop),
    },
    "how many of the best to keep: a number, a share with a decimal point (0.5), `positive` for those with a score above 0, \
     `all`, or in systems `cv` for as many as cross-validated ridge asks for",
)
.none("all");

impl<'a> Columns<'a> {
    /// Columns with labels, neighbours in their own space, none of them categorical.
    pub fn new(rows: &'a Rows<'a>, labels: &'a Labels, monitor: &'a Monitor) -> Self {
        Self { rows, labels: Some(labels), space: None, categorical: &[], weights: None, monitor }
    }

    /// The labels, or an error that names the selector.
    pub(crate) fn labels(&self, selector: &str) -> Result<&'a Labels> {
        self.labels.ok_or_else(|| missing_labels(selector))
    }

    /// What these rows count together.
    pub(crate) fn query_total(&self, queries: &[usize]) -> f64 {
        match self.weights {
            None => queries.len() as f64,
            Some(weights) => queries.iter().map(|&i| weights[i]).sum(),
        }
    }

    /// How the columns of two rows differ. `by_range`: divided by each column's range.
    pub(crate) fn differences(&self, by_range: bool) -> Result<Differences<'a>> {
        let ranges = by_range.then(|| Ranges::of(self.rows));
        match self.space {
            Some(_) if self.categorical.is_empty() => pair_differences(self.rows, ranges.as_ref()),
            _ => {
                self.rows.fetch()?;
                let found = Differences::of(self.rows.to_f64(), self.categorical, ranges.as_ref())?;
                Ok(found.on(self.rows.device()))
            }
        }
    }

    /// Where neighbours are sought: in the kernel's space if there is one, else among the columns by this metric.
    pub(crate) fn space(&self, differences: &Differences<'a>, metric: Metric) -> Result<Space<'a>> {
        match self.space {
            Some((kernel, rows)) => {
                rows.check_finite(None)?;
                if kernel.shape == Shape::Precomputed && rows.n() != rows.p() {
                    return Err(Error::data(format!(
                        "a precomputed kernel must be the square matrix of the rows, but it has {} rows and {} columns",
                        rows.n(),
                        rows.p()
                    )));
                }
                check_rows(kernel, rows, 0)?;
                Space::of_kernel(kernel, rows)
            }
            None => Ok(Space::Plain(differences.clone(), metric)),
        }
    }

    /// An error unless there is something to score.
    pub(crate) fn check(&self, selector: &str, accepts: Accepts) -> Result<()> {
        let (n, p) = (self.rows.n(), self.rows.p());
        if n < 2 || p == 0 {
            return Err(Error::data(format!(
                "the data has {n} rows and {p} columns; `{selector}` needs at least 2 rows and 1 column"
            )));
        }
        if let Some(labels) = self.labels {
            if labels.len() != n {
                return Err(Error::data(format!("{n} rows, but {} labels", labels.len())));
            }
            if let Some(row) = labels.first_not_finite() {
                return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
            }
            labels.refuse_identifier(selector)?;
        }
        check_width(self.rows, self.labels, selector)?;
        if let Some((_, rows)) = self.space
            && rows.n() != n
        {
            return Err(Error::data(format!(
                "{n} rows of columns, but {} rows in the kernel's space",
                rows.n()
            )));
        }
        if accepts == Accepts::Numbers && !self.categorical.is_empty() {
            return Err(Error::argument(format!(
                "`{selector}` has no use for categorical columns\n\
                 hint: leave them out, or use `mi` or the Relief family, which compare them as names"
            )));
        }
        if let Some(j) = self.categorical.iter().find(|&&j| j >= p) {
            return Err(Error::argument(format!(
                "categorical column {j} does not exist; columns are numbered from 0 to {}",
                p - 1
            )));
        }
        match accepts {
            Accepts::Missing => self.rows.check_no_infinity(None),
            Accepts::Numbers | Accepts::Categories => self.rows.check_finite(None),
        }
    }
}

/// Bytes that scores, places and sums of a column take, without those of its classes.
const COLUMN_BYTES: u64 = 64;

/// Bytes that the spread of a column in one class takes.
const CLASS_BYTES: u64 = 32;

/// An error with the estimate unless what is known of every column, and of its classes, fits into the usual memory.
pub(super) fn check_width(rows: &Rows, labels: Option<&Labels>, selector: &str) -> Result<()> {
    let c = if selector == "f" { labels.and_then(Labels::n_classes).unwrap_or(0) } else { 0 };
    let needed = (rows.p() as u64).saturating_mul(COLUMN_BYTES + CLASS_BYTES * c as u64);
    if needed <= DEFAULT_MEMORY {
        return Ok(());
    }
    let of_classes = if c > 0 { format!(" in {c} classes") } else { String::new() };
    Err(Error::Memory(format!(
        "`{selector}` scores {} columns{of_classes}, which takes {}, but the budget is {}\n\
         hint: leave out columns that no row has, or hash their names to fewer",
        rows.p(),
        bytes(needed),
        bytes(DEFAULT_MEMORY)
    )))
}

/// How the columns of two rows differ, where neighbours are sought elsewhere and only pairs of rows are looked at. `ranges`:
/// what differences are divided by.
fn pair_differences<'a>(rows: &'a Rows<'a>, ranges: Option<&Ranges>) -> Result<Differences<'a>> {
    match rows {
        Rows::DenseF32(d) if !d.values().iter().any(|v| v.is_nan()) => Differences::of_pairs(rows, ranges),
        _ => Differences::of(rows.to_f64(), &[], ranges),
    }
}

/// The scores, or an error where numbers outgrew what can be added.
fn finite(scores: Vec<f64>, selector: &str) -> Result<Vec<f64>> {
    match scores.iter().position(|v| !v.is_finite()) {
        None => Ok(scores),
        Some(j) => Err(Error::Numerical(format!(
            "the score of column {} by `{selector}` is not a finite number\nhint: scale the columns first",
            j + 1
        ))),
    }
}

impl FromStr for Keep {
    type Err = Error;

    /// `all`, `positive`, a whole number, or a share of at most 1 with a decimal point.
    ///
    /// ```
    /// use mercer::select::Keep;
    ///
    /// assert_eq!("1".parse::<Keep>()?, Keep::Count(1));
    /// assert_eq!("1.0".parse::<Keep>()?, Keep::Share(1.0));
    /// assert!("0".parse::<Keep>().is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        match (text, text.parse::<usize>(), text.parse::<f64>()) {
            ("all", ..) => Ok(Self::All),
            ("positive", ..) => Ok(Self::Positive),
            ("cv", ..) => Ok(Self::CrossValidated),
            (_, Ok(count), _) if count > 0 => Ok(Self::Count(count)),
            (_, Err(_), Ok(share)) if share > 0.0 && share <= 1.0 => Ok(Self::Share(share)),
            _ => Err(Error::argument(format!(
                "n_features = {text}, but it must be a whole number of at least 1, a share above 0 and at most 1, \
                 `positive`, `all` or, in systems, `cv`"
            ))),
        }
    }
}

/// What `Keep::CrossValidated` keeps where there are no labels to predict.
const UNLABELLED: f64 = 2.0 / 3.0;

/// A share of p columns, at least one.
fn share_of(share: f64, p: usize) -> usize {
    // A share such as 2/3 of 120 must not lose a column to rounding.
    ((share * p as f64 + 1e-9) as usize).clamp(1.min(p), p)
}

impl Scores {
    /// The best columns: those taken first where the selector takes one after the other, else those with the highest scores.
    /// Of equal scores the lower index is better.
    ///
    /// ```
    /// use mercer::select::{Keep, Scores};
    ///
    /// let scores = Scores { scores: vec![0.1, -0.2, 0.7], ..Scores::default() };
    /// assert_eq!(scores.keep(Keep::Count(1)).columns, [2]);
    /// assert_eq!(scores.keep(Keep::Positive).columns, [0, 2]);
    /// assert_eq!(scores.keep(Keep::All).ranking, [2, 3, 1]);
    /// ```
    pub fn keep(&self, keep: Keep) -> Selection {
        let p = self.scores.len();
        let best = self.best();
        let mut ranking = vec![0; p];
        best.iter().enumerate().for_each(|(at, &j)| ranking[j] = at + 1);
        let mut warnings = Vec::new();
        let most = match keep {
            Keep::All | Keep::Positive => p,
            Keep::Count(count) => {
                if count > p {
                    warnings.push(format!(
                        "n_features = {count}, but there are only {p} columns; keeping all of them"
                    ));
                }
                count.min(p)
            }
            Keep::Share(share) => share_of(share, p),
            Keep::CrossValidated => self.best_count.unwrap_or_else(|| share_of(UNLABELLED, p)),
        };
        let chosen = |j: &usize| self.is_chosen(*j);
        let positive = |j: &usize| keep != Keep::Positive || self.scores[*j] > 0.0;
        let mut columns: Vec<usize> = best.into_iter().filter(chosen).filter(positive).take(most).collect();
        columns.sort_unstable();
        Selection { columns, ranking, warnings }
    }

    /// All columns, the best first.
    fn best(&self) -> Vec<usize> {
        let p = self.scores.len();
        let mut taken = vec![p; p];
        for (at, &j) in self.order.iter().flatten().enumerate() {
            taken[j] = at;
        }
        let mut best: Vec<usize> = (0..p).collect();
        best.sort_by(|&a, &b| {
            // + 0.0: minus zero is zero.
            let by_score = || (self.scores[b] + 0.0).total_cmp(&(self.scores[a] + 0.0));
            taken[a].cmp(&taken[b]).then_with(by_score).then(a.cmp(&b))
        });
        best
    }

    /// Whether a selector that decides itself lets this column through.
    fn is_chosen(&self, j: usize) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen[j])
    }
}
