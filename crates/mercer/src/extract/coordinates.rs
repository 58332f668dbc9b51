//! Labelled rows seen through a basis: their features, in the basis' precision, and what these add up to.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

use super::akda_qr::class_means;
use super::gpu_source::GpuSource;
use super::{Directions, turn};
use crate::basis::FittedBasis;
use crate::basis::expansion::{Expansion, FeaturePanels};
use crate::cuda::Gpu;
use crate::data::labels::Labels;
use crate::data::needs::{Needs, missing_labels};
use crate::data::rows::Rows;
use crate::data::target::TargetSummary;
use crate::data::weights::{Weights, weight};
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::evidence::margins::{self, Pairs};
use crate::evidence::moments::{Moments, Summary};
use crate::evidence::neighbours::Neighbours;
use crate::kernel::block::PANEL;
use crate::kernel::{Kernel, Shape};
use crate::linalg::{Deciding, deciding, in_order, positive_signs, product, sum_in_order, tall_product};
use crate::monitor::Monitor;
use crate::options::Options;
use crate::real::{Precision, Real};

/// Rows whose features are added up together.
pub(crate) const SUM_ROWS: usize = 1_024;

/// Labelled rows seen through a basis that was fitted on them.
///
/// What is computed from them is computed in the basis' precision: with a basis that was fitted in float32, features of rows
/// and products of panels of them are float32, and results are added up in float64.
///
/// ```
/// use mercer::extract::{Coordinates, Gda};
/// use mercer::{Basis, Kernel, Labels, Options, Rows};
///
/// let rows = Rows::dense_f32(vec![0.0f32, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let options = Options::default();
/// let coordinates = Coordinates::new(&rows, Some(&labels), &basis, None, &options)?;
/// let found = Gda { reg: 0.0, n_components: None }.directions(&coordinates)?;
/// assert!((found.eigenvalues[0] - 16.0 / 17.0).abs() < 1e-6);
/// # Ok::<(), mercer::Error>(())
/// ```
pub struct Coordinates<'a> {
    /// Number of training rows.
    pub n: usize,
    /// What all their labels together are; `kpca` does without.
    pub target: Option<TargetSummary>,
    /// The basis.
    pub basis: &'a FittedBasis,
    /// Which rows are compared with their neighbours, and how these are found.
    pub queries: Queries,
    /// Progress out, stop in.
    pub monitor: &'a Monitor,
    /// The rows and their labels, where they are in this process.
    held: Option<(&'a Rows<'a>, Option<&'a Labels>)>,
    /// What each row counts; None: all the same.
    pub(super) weights: Option<&'a Weights>,
    /// The rows' features, in the one precision that they are in.
    features: Box<dyn FeatureSums + 'a>,
}

/// What is added up beside the features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Targets {
    /// Nothing.
    None,
    /// One-hot classes, or the numbers.
    Labels,
    /// (number − mean)/unit.
    Scaled {
        /// Subtracted first.
        mean: f64,
        /// What is divided by then.
        unit: f64,
    },
}

impl Targets {
    /// Number of columns.
    pub(crate) fn count(self, labels: Option<&Labels>) -> usize {
        if self == Self::None { 0 } else { labels.map_or(0, Labels::n_targets) }
    }

    /// The number of row i in column j.
    pub(super) fn value(self, labels: Option<&Labels>, i: usize, j: usize) -> f64 {
        let own = labels.map_or(0.0, |labels| labels.target(i, j));
        match self {
            Self::Scaled { mean, unit } => (own - mean) / unit,
            _ => own,
        }
    }
}

/// Rows that are compared with their nearest of the same class and of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'q> {
    /// The method that asks, for messages.
    pub(crate) method: &'q str,
    /// Whether all rows are compared because no number of them was given.
    pub(crate) every: bool,
    /// The rows compared, which stand for all.
    pub(crate) queries: &'q [usize],
    /// The space in which the nearest are sought.
    pub(crate) kernel: Kernel,
    /// So many of each.
    pub(crate) k: usize,
    /// How they are found.
    pub(crate) search: Search,
    /// Whether each row counts once, however many neighbours it has.
    pub(crate) mean: bool,
    /// Number of all rows.
    pub(crate) n: usize,
    /// What each row counts; None: all the same.
    pub(crate) weights: Option<&'q Weights>,
}

impl Comparison<'_> {
    /// What a pair counts, of so many of its row.
    pub(crate) fn weight(&self, neighbours: usize) -> f64 {
        let stand_for = self.n as f64 / self.queries.len() as f64;
        if self.mean { stand_for / neighbours as f64 } else { stand_for }
    }

    /// Hits and misses of the queries among all rows, and what to know of a search that was approximate.
    pub(super) fn found(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        monitor: &Monitor,
    ) -> Result<(Neighbours, Option<String>)> {
        let codes = labels.map_or(Ok(&[][..]), |labels| labels.require_classes("margin").map(|(c, _)| c))?;
        Neighbours::find_for(self.queries, self.kernel, rows, codes, self.k, self.search, monitor)
    }

    /// Σ ω ΔΔᵀ over misses less that over hits.
    pub(crate) fn sum(
        &self,
        features: &impl FeatureSums,
        hits: &[Vec<usize>],
        misses: &[Vec<usize>],
    ) -> Result<Mat<f64>> {
        let of = |i: usize, near: &[usize]| weight(self.weights, i) * self.weight(near.len());
        features.scatter(&[(misses, &|i| of(i, &misses[i])), (hits, &|i| -of(i, &hits[i]))])
    }
}

/// Which rows an extractor compares with their neighbours, and how these are found. For `klfe` and `kanmm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queries {
    /// Rows, drawn at random, that are compared with their neighbours; None: all.
    pub n_queries: Option<usize>,
    /// How neighbours are found.
    pub neighbors: Search,
    /// Seed of that draw.
    pub seed: u64,
}

/// Whether coordinates of n rows in a basis of m are kept where pairs of rows are looked at: twice, as they are and about
/// their mean. Where they would take more than the budget they are recomputed.
pub(crate) fn keeps_features(n: usize, m: usize, precision: Precision, memory: u64) -> bool {
    2 * precision.bytes() * (n as u64) * (m as u64) <= memory
}

impl<'a> Coordinates<'a> {
    /// Checks that these belong together. `features` are the rows' coordinates in the basis, n×m, where the caller has them
    /// already; else they are computed where needed.
    pub fn new(
        rows: &'a Rows<'a>,
        labels: Option<&'a Labels>,
        basis: &'a FittedBasis,
        features: Option<&'a Rows<'a>>,
        options: &'a Options,
    ) -> Result<Self> {
        check(rows, labels, basis, features)?;
        options.weights.as_ref().map_or(Ok(()), |weights| weights.check(rows.n()))?;
        let precision = features.map_or(basis.precision, Rows::precision);
        let (monitor, expansion) = (&options.monitor, &basis.expansion);
        let features: Box<dyn FeatureSums> = match precision {
            _ if rows.gpu_rows().is_some() => {
                Box::new(GpuSource::new(rows, labels, expansion, features, options))
            }
            Precision::Double => Box::new(Source::<f64>::new(rows, labels, expansion, features, options)),
            Precision::Single => Box::new(Source::<f32>::new(rows, labels, expansion, features, options)),
        };
        let (n, target) = (rows.n(), labels.map(TargetSummary::of));
        let held = Some((rows, labels));
        let weights = options.weights.as_ref();
        Ok(Self { n, target, basis, queries: Queries::default(), monitor, held, weights, features })
    }

    /// n rows that lie elsewhere.
    pub(crate) fn elsewhere(
        n: usize,
        target: Option<TargetSummary>,
        basis: &'a FittedBasis,
        features: Box<dyn FeatureSums + 'a>,
        monitor: &'a Monitor,
    ) -> Self {
        Self { n, target, basis, queries: Queries::default(), monitor, held: None, weights: None, features }
    }

    /// These coordinates with another choice of the rows that are compared with their neighbours.
    pub fn queries(mut self, queries: Queries) -> Self {
        self.queries = queries;
        self
    }

    /// The rows, for a method that looks at all of them at once.
    pub(super) fn held(&self, method: &str) -> Result<&'a Rows<'a>> {
        self.held.map(|(rows, _)| rows).ok_or_else(|| at_once(method))
    }

    /// The rows with their labels, their codes and the number of classes, for a method that looks at all of them at once.
    pub(super) fn held_classes(
        &self,
        method: &str,
    ) -> Result<(&'a Rows<'a>, &'a Labels, &'a [usize], usize)> {
        self.classes(method)?;
        let (rows, labels) = self.held.ok_or_else(|| at_once(method))?;
        let labels = labels.ok_or_else(|| missing_labels(method))?;
        let (codes, c) = labels.require_classes(method)?;
        Ok((rows, labels, codes, c))
    }

    /// The GPU that the rows lie on.
    pub(super) fn gpu(&self) -> Option<&'a Arc<Gpu>> {
        self.held.and_then(|(rows, _)| rows.gpu())
    }

    /// An error that names the method unless such labels will do.
    pub(super) fn check_target(&self, needs: Needs, method: &str) -> Result<()> {
        match &self.target {
            Some(target) => target.check(needs, method),
            None => needs.check(method, None),
        }
    }

    /// What all labels are, for a method that needs them.
    pub(super) fn target(&self, method: &str) -> Result<&TargetSummary> {
        self.target.as_ref().ok_or_else(|| missing_labels(method))
    }

    /// The names and sizes of the classes, for a method that needs rows of two at least.
    pub(super) fn classes(&self, method: &str) -> Result<(&[String], &[usize])> {
        self.target(method)?.require_classes(method)
    }

    /// Some of the rows and their labels.
    pub(super) fn some(&self, rows: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        self.features.some(rows)
    }

    /// The means of the classes' rows.
    pub(super) fn class_means(&self) -> Result<Rows<'static>> {
        self.features.class_means()
    }

    /// Σ ω ΔΔᵀ over misses less that over hits.
    pub(super) fn margin(&self, comparison: &Comparison) -> Result<(Mat<f64>, Option<String>)> {
        self.features.margin(comparison)
    }

    /// What the rows' features are in: that of the basis, or of those that the caller has.
    pub(super) fn precision(&self) -> Precision {
        self.features.precision()
    }

    /// Means and scatters of features and targets (one-hot classes, the numbers, or none), panel by panel; the features
    /// are not kept.
    pub(crate) fn moments(&self, targets: Targets) -> Result<Summary> {
        self.features.moments(targets)
    }

    /// Σ ω ΔΔᵀ over the pairs in these lists.
    pub(super) fn scatter(&self, lists: &[Pairs]) -> Result<Mat<f64>> {
        self.features.scatter(lists)
    }

    /// Differences of pairs of rows, a column a pair.
    pub(super) fn differences(&self, pairs: &[(usize, usize)]) -> Result<Mat<f64>> {
        self.features.differences(pairs)
    }

    /// Directions (q×m) with their signs: the training row with the largest |feature| (lowest index on ties) is positive,
    /// so that they do not depend on the basis. The features of `origin` are 0; empty: those of the coordinates' zero.
    pub(super) fn oriented(&self, mut matrix: Mat<f64>, origin: Vec<f64>) -> Result<Directions> {
        let q = matrix.nrows();
        let along = |i: usize| matrix.row(i).iter().zip(&origin).map(|(v, o)| v * o).sum();
        let mut offset: Vec<f64> = if origin.is_empty() { Vec::new() } else { (0..q).map(along).collect() };
        let signs = self.features.signs(matrix.as_ref(), &offset)?;
        turn(&mut matrix, &signs);
        offset.iter_mut().zip(&signs).for_each(|(b, sign)| *b *= sign);
        Ok(Directions { matrix, offset, origin, ..Directions::default() })
    }
}

/// An error unless rows, labels, basis and features belong together.
fn check(rows: &Rows, labels: Option<&Labels>, basis: &FittedBasis, features: Option<&Rows>) -> Result<()> {
    let n = rows.n();
    if let Some(labels) = labels
        && labels.len() != n
    {
        return Err(Error::data(format!("{n} rows, but {} labels", labels.len())));
    }
    if let Some(row) = labels.and_then(Labels::first_not_finite) {
        return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
    }
    if n == 0 {
        return Err(Error::data("no rows were given"));
    }
    if basis.expansion.kernel.shape == Shape::Precomputed && n != rows.p() {
        return Err(Error::data(
            "a precomputed kernel must be the square matrix that the basis was fitted on",
        ));
    }
    if let Some((h, width)) = features.map(|given| (given.n(), given.p()))
        && (h, width) != (n, basis.n_components())
    {
        return Err(Error::argument(format!(
            "coordinates {h} × {width} were given for {n} rows in a basis of {}",
            basis.n_components()
        )));
    }
    basis.expansion.check(rows, None, 0)
}

/// Sums over the features of all rows, whatever their precision and wherever they lie.
pub(crate) trait FeatureSums: Sync {
    fn precision(&self) -> Precision;

    /// Means and scatters of features and targets.
    fn moments(&self, targets: Targets) -> Result<Summary>;

    /// Σ ω ΔΔᵀ over misses less that over hits, and what to know of a search that was approximate.
    fn margin(&self, comparison: &Comparison) -> Result<(Mat<f64>, Option<String>)>;

    /// Signs that make the largest |feature| of each direction positive.
    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>>;

    /// Some of the rows and their labels.
    fn some(&self, rows: &[usize]) -> Result<(Rows<'static>, Option<Labels>)>;

    /// The means of the classes' rows.
    fn class_means(&self) -> Result<Rows<'static>>;

    /// Σ ω ΔΔᵀ over the pairs in these lists.
    fn scatter(&self, _: &[Pairs]) -> Result<Mat<f64>> {
        Err(at_once("scatter"))
    }

    /// Differences of pairs of rows, a column a pair.
    fn differences(&self, _: &[(usize, usize)]) -> Result<Mat<f64>> {
        Err(at_once("differences"))
    }
}

/// Rows lie in partitions.
pub(crate) fn at_once(method: &str) -> Error {
    Error::argument(format!(
        "`{method}` looks at all rows at once, but they lie in partitions\n\
         hint: fit on a sample of the rows in one place, or use another method"
    ))
}

/// Features of rows in the precision T: given by the caller, or computed from the basis.
pub(crate) struct Source<'a, T: Real> {
    rows: &'a Rows<'a>,
    labels: Option<&'a Labels>,
    expansion: &'a Expansion,
    given: Given<'a, T>,
    panels: Box<dyn FeaturePanels<T> + 'a>,
    /// Features of all rows, once pairs of rows were looked at, if they are kept.
    all: OnceLock<Mat<T>>,
    options: &'a Options,
}

/// Features that are there already.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a, T> {
    /// None are.
    Nothing,
    /// Row by row.
    Rows(MatRef<'a, T>),
    /// In blocks of columns, each of them row by row.
    Blocks(&'a [Arc<Vec<T>>]),
}

/// The precisions that features come in.
pub(crate) trait FeaturePrecision: Real {
    /// An expansion that is prepared to give features to panels of n rows.
    fn panels(expansion: &Expansion, n: usize) -> Box<dyn FeaturePanels<Self> + '_>;
    /// Features that are stored in this precision.
    fn view<'r>(features: &'r Rows<'r>) -> Option<MatRef<'r, Self>>;
}

impl FeaturePrecision for f64 {
    fn panels(expansion: &Expansion, _: usize) -> Box<dyn FeaturePanels<Self> + '_> {
        Box::new(expansion.prepared())
    }

    fn view<'r>(features: &'r Rows<'r>) -> Option<MatRef<'r, Self>> {
        if let Rows::Dense(d) = features { Some(d.view()) } else { None }
    }
}

impl FeaturePrecision for f32 {
    fn panels(expansion: &Expansion, n: usize) -> Box<dyn FeaturePanels<Self> + '_> {
        Box::new(expansion.prepared_f32(n))
    }

    fn view<'r>(features: &'r Rows<'r>) -> Option<MatRef<'r, Self>> {
        if let Rows::DenseF32(d) = features { Some(d.view()) } else { None }
    }
}

impl<'a, T: FeaturePrecision> Source<'a, T> {
    fn new(
        rows: &'a Rows<'a>,
        labels: Option<&'a Labels>,
        expansion: &'a Expansion,
        features: Option<&'a Rows<'a>>,
        options: &'a Options,
    ) -> Self {
        let given = features.and_then(T::view).map_or(Given::Nothing, Given::Rows);
        Self::with(rows, labels, expansion, given, options)
    }

    /// Features of rows, some of which may be there already.
    pub(crate) fn with(
        rows: &'a Rows<'a>,
        labels: Option<&'a Labels>,
        expansion: &'a Expansion,
        given: Given<'a, T>,
        options: &'a Options,
    ) -> Self {
        let panels = T::panels(expansion, rows.n());
        Self { rows, labels, expansion, given, panels, all: OnceLock::new(), options }
    }

    fn monitor(&self) -> &'a Monitor {
        &self.options.monitor
    }

    /// What each row counts.
    fn weights(&self) -> Option<&'a Weights> {
        self.options.weights.as_ref()
    }

    /// Number of features.
    fn m(&self) -> usize {
        self.expansion.n_features()
    }

    /// Of the rows of a range, by this thread alone.
    pub(crate) fn of(&self, rows: Range<usize>) -> Mat<T> {
        let mut z = Mat::zeros(rows.len(), self.m());
        self.fill(rows, z.as_mut());
        z
    }

    /// Of the rows of a range into `z`, by this thread alone.
    fn fill(&self, rows: Range<usize>, mut z: MatMut<'_, T>) {
        match self.given {
            Given::Nothing => {
                for start in rows.clone().step_by(PANEL) {
                    let here = start..rows.end.min(start + PANEL);
                    let own = z.as_mut().subrows_mut(start - rows.start, here.len());
                    self.panels.fill(self.rows, here, own);
                }
            }
            Given::Rows(given) => copy_by_tiles(given.subrows(rows.start, rows.len()), z),
            Given::Blocks(blocks) => {
                let mut start = 0;
                for block in blocks {
                    let width = block.len() / self.rows.n();
                    let own = &block[rows.start * width..rows.end * width];
                    let own = MatRef::from_row_major_slice(own, rows.len(), width);
                    copy_by_tiles(own, z.as_mut().subcols_mut(start, width));
                    start += width;
                }
            }
        }
    }

    /// Sums of features and targets of all rows, to be merged with those of others.
    pub(crate) fn sums(&self, targets: Targets) -> Result<Moments> {
        let (n, monitor, labels) = (self.rows.n(), self.monitor(), self.labels);
        let weights = self.weights();
        let (m, c) = (self.m(), targets.count(labels));
        monitor.begin("adding up features", n);
        let mut sums = Moments::new(m, c);
        // Panels of features and targets, whose memory is used again.
        let free: Mutex<Vec<Mat<T>>> = Mutex::new(Vec::new());
        let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let part = |at: usize| {
            let rows = panel(at, SUM_ROWS, n);
            let kept = lock().pop().filter(|w| w.nrows() == rows.len());
            let mut w = kept.unwrap_or_else(|| Mat::zeros(rows.len(), m + c));
            self.fill(rows.clone(), w.as_mut().subcols_mut(0, m));
            for j in 0..c {
                let column = w.col_mut(m + j).iter_mut().enumerate();
                column.for_each(|(i, w)| *w = T::of(targets.value(labels, rows.start + i, j)));
            }
            let part = Moments::of_panel(w.as_mut(), m, weights.map(|weights| &weights[rows.clone()]));
            lock().push(w);
            monitor.advance(rows.len());
            part
        };
        in_order(n.div_ceil(SUM_ROWS), 8 * (m + c) * (m + c), monitor, part, |part| sums.merge(&part))?;
        Ok(sums)
    }

    /// Of the rows with these indices, by this thread alone.
    fn at(&self, rows: &[usize]) -> Mat<T> {
        let pick = |from: MatRef<'_, T>| Mat::from_fn(rows.len(), from.ncols(), |i, j| from[(rows[i], j)]);
        match (self.all.get(), self.given) {
            (Some(all), _) => pick(all.as_ref()),
            (None, Given::Rows(given)) => pick(given),
            (None, _) => self.panels.of(&self.rows.select(rows), 0..rows.len()),
        }
    }

    /// Of all rows, n×m, column after column.
    fn all(&self) -> Result<Mat<T>> {
        if let Given::Rows(given) = self.given {
            return Ok(given.to_owned());
        }
        let mut z = Mat::zeros(self.rows.n(), self.panels.n_features());
        self.panels.all(self.rows, z.as_mut(), self.monitor())?;
        Ok(z)
    }

    /// The values that decide on the signs of `features` of panels of rows.
    pub(crate) fn deciding_of(
        &self,
        features: impl Fn(Range<usize>) -> Mat<T> + Sync,
    ) -> Result<Vec<Deciding>> {
        let (n, monitor) = (self.rows.n(), self.monitor());
        monitor.begin("choosing signs", n);
        let mut found: Vec<Deciding> = Vec::new();
        let part = |at: usize| {
            let rows = panel(at, PANEL, n);
            let features = features(rows.clone());
            monitor.advance(rows.len());
            deciding(features.as_ref())
        };
        in_order(n.div_ceil(PANEL), 64 * self.m(), monitor, part, |part| {
            if found.is_empty() {
                found = vec![Deciding::new(T::PRECISION); part.len()];
            }
            found.iter_mut().zip(&part).for_each(|(found, part)| found.then(part));
            Ok(())
        })?;
        Ok(found)
    }

    /// The values that decide on the signs of the features themselves.
    pub(crate) fn deciding(&self) -> Result<Vec<Deciding>> {
        self.deciding_of(|rows| self.of(rows))
    }
}

impl<T: FeaturePrecision> FeatureSums for Source<'_, T> {
    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn moments(&self, targets: Targets) -> Result<Summary> {
        self.sums(targets)?.finish()
    }

    fn margin(&self, comparison: &Comparison) -> Result<(Mat<f64>, Option<String>)> {
        let (found, note) = comparison.found(&self.rows.to_f64(), self.labels, self.monitor())?;
        Ok((comparison.sum(self, &found.hits, &found.misses)?, note))
    }

    fn some(&self, rows: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        Ok((self.rows.select(rows), self.labels.map(|labels| labels.select(rows))))
    }

    fn class_means(&self) -> Result<Rows<'static>> {
        let labels = self.labels.ok_or_else(|| missing_labels("class means"))?;
        let (codes, c) = labels.require_classes("class means")?;
        class_means(&self.rows.to_f64(), codes, c, self.weights())
    }

    fn scatter(&self, lists: &[Pairs]) -> Result<Mat<f64>> {
        let (n, m, monitor) = (self.rows.n(), self.m(), self.monitor());
        let busy: Vec<usize> =
            (0..n).filter(|&i| lists.iter().any(|(near, _)| !near[i].is_empty())).collect();
        if keeps_features(n, m, T::PRECISION, self.options.memory) && !are_few(busy.len(), n) {
            let z = self.all()?;
            let sum = margins::scatter_in(z.as_ref(), lists, monitor)?;
            // Of equal features computed twice the first are kept.
            let _ = self.all.set(z);
            return Ok(sum);
        }
        monitor.begin("adding up differences", busy.len());
        sum_in_order(busy.len().div_ceil(SUM_ROWS), m, m, monitor, |at| {
            let rows = &busy[panel(at, SUM_ROWS, busy.len())];
            let near = |&i: &usize| lists.iter().flat_map(move |(near, _)| near[i].iter().copied());
            let mut involved: Vec<usize> =
                rows.iter().flat_map(|i| std::iter::once(*i).chain(near(i))).collect();
            involved.sort_unstable();
            involved.dedup();
            let z = self.at(&involved);
            monitor.advance(rows.len());
            margins::scatter_of_few(z.as_ref(), &involved, rows, lists)
        })
    }

    fn differences(&self, pairs: &[(usize, usize)]) -> Result<Mat<f64>> {
        let ours = T::widened(self.at(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()));
        let theirs = T::widened(self.at(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>()));
        Ok((ours - theirs).transpose().to_owned())
    }

    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        if let Some(all) = self.all.get().filter(|_| offset.is_empty()) {
            let matrix = rounded::<T>(matrix);
            return Ok(positive_signs(tall_product(all.as_ref(), matrix.transpose()).as_ref()));
        }
        let signs = |found: Vec<Deciding>| found.iter().map(Deciding::sign).collect();
        if let Given::Rows(given) = self.given {
            let matrix = rounded::<T>(matrix);
            let found = self.deciding_of(|rows| {
                let mut features = product(given.subrows(rows.start, rows.len()), matrix.transpose());
                for (column, b) in features.col_iter_mut().zip(offset) {
                    column.iter_mut().for_each(|v| *v = T::of(v.double() - b));
                }
                features
            });
            return found.map(signs);
        }
        // The map itself: it needs no coordinates.
        let map = self.expansion.composed(matrix, offset, &[]);
        let panels = T::panels(&map, self.rows.n());
        self.deciding_of(|rows| panels.of(self.rows, rows)).map(signs)
    }
}

/// Whether so many rows and their neighbours are fewer than all n rows.
pub(crate) fn are_few(queries: usize, n: usize) -> bool {
    4 * queries < n
}

/// Copies rows into columns, a tile at a time: one column of many rows would touch as many lines of memory as there are rows.
fn copy_by_tiles<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    const TILE: usize = 16;
    let (h, width) = from.shape();
    for top in (0..h).step_by(TILE) {
        let rows = TILE.min(h - top);
        for left in (0..width).step_by(TILE) {
            let columns = TILE.min(width - left);
            to.as_mut()
                .submatrix_mut(top, left, rows, columns)
                .copy_from(from.submatrix(top, left, rows, columns));
        }
    }
}

/// A matrix in the precision T.
fn rounded<T: Real>(matrix: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| T::of(matrix[(i, j)]))
}

/// The rows of the `at`-th panel.
fn panel(at: usize, height: usize, n: usize) -> Range<usize> {
    at * height..n.min((at + 1) * height)
}
