//! Labelled rows seen through a basis: their features, in the basis' precision, and what these add up to.

use std::ops::Range;

use faer::{Mat, MatRef};

use super::{Directions, turn};
use crate::basis::expansion::Panels;
use crate::basis::{DEFAULT_MEMORY, FittedBasis};
use crate::data::either::Either;
use crate::data::labels::Labels;
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::evidence::margins::{self, Pairs};
use crate::evidence::moments::{Moments, Summary};
use crate::kernel::Shape;
use crate::kernel::block::PANEL;
use crate::linalg::{Deciding, deciding, in_order, positive_signs, product, sum_in_order, tall_product};
use crate::monitor::Monitor;
use crate::real::{Precision, Real};

/// Rows whose features are added up together.
pub(crate) const ROWS: usize = 1_024;

/// Labelled rows seen through a basis that was fitted on them.
///
/// What is computed from them is computed in the basis' precision: with a basis that was fitted in single precision
/// features of rows are in single precision, and so are products of panels of them, whose results are added up in double.
///
/// ```
/// use mercer::extract::{Coordinates, Gda, Limits};
/// use mercer::{Basis, Kernel, Labels, Monitor, data::Single};
///
/// let rows = Single::new(vec![0.0f32, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let (basis, _) = Basis::kobl(Kernel::linear()).fit_single(&rows, None, false)?;
/// let seen = Coordinates {
///     rows: (&rows).into(),
///     labels: Some(&labels),
///     basis: &basis,
///     features: None,
///     limits: Limits::default(),
///     monitor: &Monitor::default(),
/// };
/// let found = Gda { reg: 0.0, n_components: None }.directions(&seen)?;
/// assert!((found.eigenvalues[0] - 16.0 / 17.0).abs() < 1e-6);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Coordinates<'a> {
    /// n training rows.
    pub rows: Either<'a>,
    /// What the rows are to be told apart by; `kpca` does without.
    pub labels: Option<&'a Labels>,
    /// The basis.
    pub basis: &'a FittedBasis,
    /// The rows' coordinates in it, n×m, where the caller has them already, and then in their precision; None: they are
    /// computed where needed.
    pub features: Option<Known<'a>>,
    /// How many rows are compared with their neighbours, and what may be kept.
    pub limits: Limits,
    /// Progress out, stop in.
    pub monitor: &'a Monitor,
}

/// Coordinates of all rows that the caller has already, in either precision.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// n×m in double precision.
    Double(MatRef<'a, f64>),
    /// n×m in single precision.
    Single(MatRef<'a, f32>),
}

impl<'a> From<MatRef<'a, f64>> for Known<'a> {
    fn from(features: MatRef<'a, f64>) -> Self {
        Self::Double(features)
    }
}

impl<'a> From<MatRef<'a, f32>> for Known<'a> {
    fn from(features: MatRef<'a, f32>) -> Self {
        Self::Single(features)
    }
}

impl Known<'_> {
    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Double(z) => (z.nrows(), z.ncols()),
            Self::Single(z) => (z.nrows(), z.ncols()),
        }
    }
}

/// What an extractor that compares rows with their neighbours may look at and keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows, drawn at random, that are compared with their neighbours; None: all. For `klfe` and `kanmm`.
    pub n_queries: Option<usize>,
    /// How neighbours are found. For `klfe` and `kanmm`.
    pub neighbors: Search,
    /// Seed of that draw.
    pub seed: u64,
    /// Bytes that the coordinates of all rows may take; where they are more, they are computed again.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { n_queries: None, neighbors: Search::Exact, seed: 0, memory: DEFAULT_MEMORY }
    }
}

impl Limits {
    /// Whether coordinates of n rows in a basis of m are kept: twice, as they are and about their mean.
    pub(crate) fn keep(&self, n: usize, m: usize, precision: Precision) -> bool {
        2 * precision.bytes() * (n as u64) * (m as u64) <= self.memory
    }
}

impl<'a> Coordinates<'a> {
    pub(super) fn check(&self) -> Result<()> {
        let n = self.rows.n();
        if let Some(labels) = self.labels
            && labels.len() != n
        {
            return Err(Error::data(format!("{n} rows, but {} labels", labels.len())));
        }
        if let Some(Labels::Numbers(values)) = self.labels
            && let Some(row) = values.iter().position(|v| !v.is_finite())
        {
            return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
        }
        if n == 0 {
            return Err(Error::data("no rows were given"));
        }
        if self.basis.expansion.kernel.shape == Shape::Precomputed && n != self.rows.p() {
            return Err(Error::data(
                "a precomputed kernel must be the square matrix that the basis was fitted on",
            ));
        }
        if let Some((h, width)) = self.features.map(|given| given.shape())
            && (h, width) != (n, self.basis.n_components())
        {
            return Err(Error::argument(format!(
                "coordinates {h} × {width} were given for {n} rows in a basis of {}",
                self.basis.n_components()
            )));
        }
        self.basis.expansion.check(self.rows, None, 0)
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
        match self.features {
            Some(Known::Double(_)) => Precision::Double,
            Some(Known::Single(_)) => Precision::Single,
            None => self.basis.precision,
        }
    }

    /// Where the rows' features come from, in the precision that they are in.
    fn source(&self) -> In<Source<'a, f64>, Source<'a, f32>> {
        let (rows, expansion) = (self.rows, &self.basis.expansion);
        match (self.features, self.basis.precision) {
            (Some(Known::Double(given)), _) => In::Double(Source::Given(given)),
            (Some(Known::Single(given)), _) => In::Single(Source::Given(given)),
            (None, Precision::Double) => In::Double(Source::Made(rows, Box::new(expansion.ready()))),
            (None, Precision::Single) => In::Single(Source::Made(rows, Box::new(expansion.narrow(rows.n())))),
        }
    }

    /// Σ ω ΔΔᵀ over the pairs in these lists, and the features of all rows, n×m, if they were kept for it.
    pub(super) fn scatter(&self, lists: &[Pairs]) -> Result<(Mat<f64>, Option<Kept>)> {
        Ok(match self.source() {
            In::Double(source) => {
                let (sum, z) = self.scatter_in(&source, lists)?;
                (sum, z.map(Kept::Double))
            }
            In::Single(source) => {
                let (sum, z) = self.scatter_in(&source, lists)?;
                (sum, z.map(Kept::Single))
            }
        })
    }

    fn scatter_in<T: Real>(&self, source: &Source<T>, lists: &[Pairs]) -> Result<(Mat<f64>, Option<Mat<T>>)> {
        let (n, m) = (self.rows.n(), self.basis.n_components());
        let busy: Vec<usize> =
            (0..n).filter(|&i| lists.iter().any(|(near, _)| !near[i].is_empty())).collect();
        // Few rows and their neighbours are fewer than all rows.
        let few = 4 * busy.len() < n && self.features.is_none();
        if self.limits.keep(n, m, T::PRECISION) && !few {
            let z = source.all(self.monitor)?;
            return Ok((margins::scatter_in(z.as_ref(), lists, self.monitor)?, Some(z)));
        }
        self.monitor.begin("adding up differences", busy.len());
        let sum = sum_in_order(busy.len().div_ceil(ROWS), m, m, self.monitor, |at| {
            let rows = &busy[panel(at, ROWS, busy.len())];
            let near = |&i: &usize| lists.iter().flat_map(move |(near, _)| near[i].iter().copied());
            let mut involved: Vec<usize> =
                rows.iter().flat_map(|i| std::iter::once(*i).chain(near(i))).collect();
            involved.sort_unstable();
            involved.dedup();
            let z = source.at(&involved);
            self.monitor.advance(rows.len());
            margins::scatter_of_few(z.as_ref(), &involved, rows, lists)
        })?;
        Ok((sum, None))
    }

    /// Differences of pairs of rows, a column a pair; `features` are those of all rows, if they were kept.
    pub(super) fn differences(&self, pairs: &[(usize, usize)], features: Option<&Kept>) -> Mat<f64> {
        match (features, self.source()) {
            (Some(Kept::Double(z)), _) => apart(pairs, &Source::Given(z.as_ref())),
            (Some(Kept::Single(z)), _) => apart(pairs, &Source::Given(z.as_ref())),
            (None, In::Double(source)) => apart(pairs, &source),
            (None, In::Single(source)) => apart(pairs, &source),
        }
    }

    /// Signs of directions (q×m) from the features of all rows, if there are any, or else from features made again.
    pub(super) fn signs_of(&self, matrix: MatRef<'_, f64>, features: Option<&Kept>) -> Result<Vec<f64>> {
        Ok(match features {
            Some(Kept::Double(z)) => positive_signs(tall_product(z.as_ref(), matrix.transpose()).as_ref()),
            Some(Kept::Single(z)) => {
                let matrix = rounded::<f32>(matrix);
                positive_signs(tall_product(z.as_ref(), matrix.transpose()).as_ref())
            }
            None => self.signs(matrix, &[])?,
        })
    }

    /// Means and scatters of features and targets (one-hot classes, the numbers, or none), panel by panel; the features
    /// are not kept.
    pub(super) fn moments(&self, labels: Option<&Labels>) -> Result<Summary> {
        match self.source() {
            In::Double(source) => self.moments_in(&source, labels),
            In::Single(source) => self.moments_in(&source, labels),
        }
    }

    fn moments_in<T: Real>(&self, source: &Source<T>, labels: Option<&Labels>) -> Result<Summary> {
        let (n, m, c) = (self.rows.n(), self.basis.n_components(), labels.map_or(0, Labels::n_targets));
        self.monitor.begin("adding up features", n);
        let mut sums = Moments::new(m, c);
        let part = |at: usize| {
            let rows = panel(at, ROWS, n);
            let z = source.of(rows.clone());
            let target = |i: usize, j: usize| labels.map_or(0.0, |labels| labels.target(rows.start + i, j));
            let y = Mat::from_fn(rows.len(), c, target);
            let mut part = Moments::new(m, c);
            let added = part.accumulate_in(z.as_ref(), y.as_ref());
            self.monitor.advance(rows.len());
            added.map(|()| part)
        };
        in_order(n.div_ceil(ROWS), 8 * (m + c) * (m + c), self.monitor, part, |part| sums.merge(&part?))?;
        sums.finish()
    }

    /// Directions (q×m) with their signs: the training row with the largest |feature| (lowest index on ties) is positive,
    /// so that they do not depend on the basis. The features of `origin` are 0; empty: those of the coordinates' zero.
    pub(super) fn oriented(&self, mut matrix: Mat<f64>, origin: Vec<f64>) -> Result<Directions> {
        let q = matrix.nrows();
        let along = |i: usize| matrix.row(i).iter().zip(&origin).map(|(v, o)| v * o).sum();
        let mut offset: Vec<f64> = if origin.is_empty() { Vec::new() } else { (0..q).map(along).collect() };
        let signs = self.signs(matrix.as_ref(), &offset)?;
        turn(&mut matrix, &signs);
        offset.iter_mut().zip(&signs).for_each(|(b, sign)| *b *= sign);
        Ok(Directions { matrix, offset, origin, ..Directions::default() })
    }

    pub(super) fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        // The map itself, where the features are made again: it needs no coordinates.
        let composed = self.features.is_none().then(|| self.basis.expansion.composed(matrix, offset, &[]));
        match (self.features, &composed) {
            (Some(Known::Single(given)), _) => self.signs_in(|rows| along(given, rows, matrix, offset)),
            (Some(Known::Double(given)), _) => self.signs_in(|rows| along(given, rows, matrix, offset)),
            (None, Some(map)) if self.basis.precision == Precision::Single => {
                let made = map.narrow(self.rows.n());
                self.signs_in(|rows| made.of(self.rows, rows))
            }
            (None, Some(map)) => {
                let made = map.ready();
                self.signs_in(|rows| Panels::of(&made, self.rows, rows))
            }
            (None, None) => unreachable!("features are given or made"),
        }
    }

    /// Signs that `features` of panels of rows ask for.
    fn signs_in<T: Real>(&self, features: impl Fn(Range<usize>) -> Mat<T> + Sync) -> Result<Vec<f64>> {
        let n = self.rows.n();
        self.monitor.begin("choosing signs", n);
        let mut found: Vec<Deciding> = Vec::new();
        let part = |at: usize| {
            let rows = panel(at, PANEL, n);
            let features = features(rows.clone());
            self.monitor.advance(rows.len());
            deciding(features.as_ref())
        };
        in_order(n.div_ceil(PANEL), 64 * self.basis.n_components(), self.monitor, part, |part| {
            if found.is_empty() {
                found = vec![Deciding::new(T::PRECISION); part.len()];
            }
            found.iter_mut().zip(&part).for_each(|(found, part)| found.then(part));
            Ok(())
        })?;
        Ok(found.iter().map(Deciding::sign).collect())
    }
}

/// Features of rows along directions, from their coordinates.
fn along<T: Real>(
    given: MatRef<'_, T>,
    rows: Range<usize>,
    matrix: MatRef<'_, f64>,
    offset: &[f64],
) -> Mat<T> {
    let matrix = rounded::<T>(matrix);
    let mut features = product(given.subrows(rows.start, rows.len()), matrix.transpose());
    for (column, b) in features.col_iter_mut().zip(offset) {
        column.iter_mut().for_each(|v| *v = T::of(v.double() - b));
    }
    features
}

/// Differences of pairs of rows, a column a pair.
fn apart<T: Real>(pairs: &[(usize, usize)], source: &Source<T>) -> Mat<f64> {
    let ours = T::widened(source.at(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()));
    let theirs = T::widened(source.at(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>()));
    (ours - theirs).transpose().to_owned()
}

/// The same matrix in the precision T.
fn rounded<T: Real>(matrix: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| T::of(matrix[(i, j)]))
}

/// Features of all rows, n×m, that were kept.
pub(super) type Kept = In<Mat<f64>, Mat<f32>>;

/// One thing in double or another in single precision.
pub(super) enum In<D, S> {
    Double(D),
    Single(S),
}

/// Where features of rows come from in the precision T.
enum Source<'a, T: Real> {
    /// From the caller.
    Given(MatRef<'a, T>),
    /// From the basis.
    Made(Either<'a>, Box<dyn Panels<T> + 'a>),
}

impl<T: Real> Source<'_, T> {
    /// Of the rows of a range, by this thread alone.
    fn of(&self, rows: Range<usize>) -> Mat<T> {
        match self {
            Self::Given(given) => given.subrows(rows.start, rows.len()).to_owned(),
            Self::Made(all, made) => made.of(*all, rows),
        }
    }

    /// Of the rows with these indices, by this thread alone.
    fn at(&self, rows: &[usize]) -> Mat<T> {
        match self {
            Self::Given(given) => Mat::from_fn(rows.len(), given.ncols(), |i, j| given[(rows[i], j)]),
            Self::Made(all, made) => made.of((&all.select(rows)).into(), 0..rows.len()),
        }
    }

    /// Of all rows, n×m. Methods that need no pairs of rows take [`Coordinates::moments`] instead.
    fn all(&self, monitor: &Monitor) -> Result<Mat<T>> {
        match self {
            Self::Given(given) => Ok(given.to_owned()),
            Self::Made(rows, made) => {
                let mut z = Mat::zeros(rows.n(), made.n_features());
                made.all(*rows, z.as_mut(), monitor)?;
                Ok(z)
            }
        }
    }
}

/// The rows of the `at`-th panel.
fn panel(at: usize, height: usize, n: usize) -> Range<usize> {
    at * height..n.min((at + 1) * height)
}
