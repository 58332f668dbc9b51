//! Labelled rows seen through a basis: their features, in the basis' precision, and what these add up to.

use std::ops::Range;
use std::sync::OnceLock;

use faer::{Mat, MatRef};

use super::{Directions, turn};
use crate::basis::FittedBasis;
use crate::basis::expansion::{Expansion, FeaturePanels};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::evidence::margins::{self, Pairs};
use crate::evidence::moments::{Moments, Summary};
use crate::kernel::Shape;
use crate::kernel::block::PANEL;
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
    /// n training rows.
    pub rows: &'a Rows<'a>,
    /// Their labels; `kpca` does without.
    pub labels: Option<&'a Labels>,
    /// The basis.
    pub basis: &'a FittedBasis,
    /// Which rows are compared with their neighbours, and how these are found.
    pub queries: Queries,
    /// Progress out, stop in.
    pub monitor: &'a Monitor,
    /// The rows' features, in the one precision that they are in.
    features: Box<dyn FeatureSums + 'a>,
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
        let precision = features.map_or(basis.precision, Rows::precision);
        let monitor = &options.monitor;
        let features: Box<dyn FeatureSums> = match precision {
            Precision::Double => Box::new(Source::<f64>::new(rows, basis, features, options)),
            Precision::Single => Box::new(Source::<f32>::new(rows, basis, features, options)),
        };
        Ok(Self { rows, labels, basis, queries: Queries::default(), monitor, features })
    }

    /// These coordinates with another choice of the rows that are compared with their neighbours.
    pub fn queries(mut self, queries: Queries) -> Self {
        self.queries = queries;
        self
    }

    /// The labels, their codes and the number of classes, of a method that needs them.
    pub(super) fn classes(&self, method: &str) -> Result<(&'a Labels, &'a [usize], usize)> {
        let labels = self.labels.ok_or_else(|| Error::argument(format!("`{method}` looks at the labels")))?;
        let (codes, c) = labels.require_classes(method)?;
        if codes.iter().all(|code| *code == codes[0]) {
            return Err(Error::data(format!(
                "`{method}` needs rows of at least 2 classes, but all are of one"
            )));
        }
        Ok((labels, codes, c))
    }

    /// What the rows' features are in: that of the basis, or of those that the caller has.
    pub(super) fn precision(&self) -> Precision {
        self.features.precision()
    }

    /// Means and scatters of features and targets (one-hot classes, the numbers, or none), panel by panel; the features
    /// are not kept.
    pub(crate) fn moments(&self, labels: Option<&Labels>) -> Result<Summary> {
        self.features.moments(labels)
    }

    /// Σ ω ΔΔᵀ over the pairs in these lists.
    pub(super) fn scatter(&self, lists: &[Pairs]) -> Result<Mat<f64>> {
        self.features.scatter(lists)
    }

    /// Differences of pairs of rows, a column a pair.
    pub(super) fn differences(&self, pairs: &[(usize, usize)]) -> Mat<f64> {
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
    if let Some(Labels::Numbers(values)) = labels
        && let Some(row) = values.iter().position(|v| !v.is_finite())
    {
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

/// Sums over the features of all rows, whatever their precision.
trait FeatureSums: Sync {
    fn precision(&self) -> Precision;
    fn moments(&self, labels: Option<&Labels>) -> Result<Summary>;
    fn scatter(&self, lists: &[Pairs]) -> Result<Mat<f64>>;
    fn differences(&self, pairs: &[(usize, usize)]) -> Mat<f64>;
    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>>;
}

/// Features of rows in the precision T: given by the caller, or computed from the basis.
struct Source<'a, T: Real> {
    rows: &'a Rows<'a>,
    basis: &'a FittedBasis,
    given: Option<MatRef<'a, T>>,
    panels: Box<dyn FeaturePanels<T> + 'a>,
    /// Features of all rows, once pairs of rows were looked at, if they are kept.
    all: OnceLock<Mat<T>>,
    options: &'a Options,
}

/// The precisions that features come in.
trait FeaturePrecision: Real {
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
        basis: &'a FittedBasis,
        features: Option<&'a Rows<'a>>,
        options: &'a Options,
    ) -> Self {
        let panels = T::panels(&basis.expansion, rows.n());
        Self { rows, basis, given: features.and_then(T::view), panels, all: OnceLock::new(), options }
    }

    fn monitor(&self) -> &'a Monitor {
        &self.options.monitor
    }

    /// Of the rows of a range, by this thread alone.
    fn of(&self, rows: Range<usize>) -> Mat<T> {
        match self.given {
            Some(given) => given.subrows(rows.start, rows.len()).to_owned(),
            None => self.panels.of(self.rows, rows),
        }
    }

    /// Of the rows with these indices, by this thread alone.
    fn at(&self, rows: &[usize]) -> Mat<T> {
        let pick = |from: MatRef<'_, T>| Mat::from_fn(rows.len(), from.ncols(), |i, j| from[(rows[i], j)]);
        match (self.all.get(), self.given) {
            (Some(all), _) => pick(all.as_ref()),
            (None, Some(given)) => pick(given),
            (None, None) => self.panels.of(&self.rows.select(rows), 0..rows.len()),
        }
    }

    /// Of all rows, n×m, column after column.
    fn all(&self) -> Result<Mat<T>> {
        if let Some(given) = self.given {
            return Ok(given.to_owned());
        }
        let mut z = Mat::zeros(self.rows.n(), self.panels.n_features());
        self.panels.all(self.rows, z.as_mut(), self.monitor())?;
        Ok(z)
    }

    /// Signs that `features` of panels of rows ask for.
    fn signs_of_panels(&self, features: impl Fn(Range<usize>) -> Mat<T> + Sync) -> Result<Vec<f64>> {
        let (n, monitor) = (self.rows.n(), self.monitor());
        monitor.begin("choosing signs", n);
        let mut found: Vec<Deciding> = Vec::new();
        let part = |at: usize| {
            let rows = panel(at, PANEL, n);
            let features = features(rows.clone());
            monitor.advance(rows.len());
            deciding(features.as_ref())
        };
        in_order(n.div_ceil(PANEL), 64 * self.basis.n_components(), monitor, part, |part| {
            if found.is_empty() {
                found = vec![Deciding::new(T::PRECISION); part.len()];
            }
            found.iter_mut().zip(&part).for_each(|(found, part)| found.then(part));
            Ok(())
        })?;
        Ok(found.iter().map(Deciding::sign).collect())
    }
}

impl<T: FeaturePrecision> FeatureSums for Source<'_, T> {
    fn precision(&self) -> Precision {
        T::PRECISION
    }

    fn moments(&self, labels: Option<&Labels>) -> Result<Summary> {
        let (n, monitor) = (self.rows.n(), self.monitor());
        let (m, c) = (self.basis.n_components(), labels.map_or(0, Labels::n_targets));
        monitor.begin("adding up features", n);
        let mut sums = Moments::new(m, c);
        let part = |at: usize| {
            let rows = panel(at, SUM_ROWS, n);
            let z = self.of(rows.clone());
            let target = |i: usize, j: usize| labels.map_or(0.0, |labels| labels.target(rows.start + i, j));
            let y = Mat::from_fn(rows.len(), c, target);
            let mut part = Moments::new(m, c);
            let added = part.accumulate_in(z.as_ref(), y.as_ref());
            monitor.advance(rows.len());
            added.map(|()| part)
        };
        in_order(n.div_ceil(SUM_ROWS), 8 * (m + c) * (m + c), monitor, part, |part| sums.merge(&part?))?;
        sums.finish()
    }

    fn scatter(&self, lists: &[Pairs]) -> Result<Mat<f64>> {
        let (n, m, monitor) = (self.rows.n(), self.basis.n_components(), self.monitor());
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

    fn differences(&self, pairs: &[(usize, usize)]) -> Mat<f64> {
        let ours = T::widened(self.at(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()));
        let theirs = T::widened(self.at(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>()));
        (ours - theirs).transpose().to_owned()
    }

    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        if let Some(all) = self.all.get().filter(|_| offset.is_empty()) {
            let matrix = rounded::<T>(matrix);
            return Ok(positive_signs(tall_product(all.as_ref(), matrix.transpose()).as_ref()));
        }
        if let Some(given) = self.given {
            let matrix = rounded::<T>(matrix);
            return self.signs_of_panels(|rows| {
                let mut features = product(given.subrows(rows.start, rows.len()), matrix.transpose());
                for (column, b) in features.col_iter_mut().zip(offset) {
                    column.iter_mut().for_each(|v| *v = T::of(v.double() - b));
                }
                features
            });
        }
        // The map itself: it needs no coordinates.
        let map = self.basis.expansion.composed(matrix, offset, &[]);
        let panels = T::panels(&map, self.rows.n());
        self.signs_of_panels(|rows| panels.of(self.rows, rows))
    }
}

/// Whether so many rows and their neighbours are fewer than all n rows.
pub(crate) fn are_few(queries: usize, n: usize) -> bool {
    4 * queries < n
}

/// A matrix in the precision T.
fn rounded<T: Real>(matrix: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| T::of(matrix[(i, j)]))
}

/// The rows of the `at`-th panel.
fn panel(at: usize, height: usize, n: usize) -> Range<usize> {
    at * height..n.min((at + 1) * height)
}
