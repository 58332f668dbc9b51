//! Stage 5b: make columns. Directions in the basis' coordinates that serve the labels.
//!
//! Each extractor is a plain struct whose `directions` takes [`Coordinates`] and gives [`Directions`]: the rows' features
//! are seen through moments or margins, and what is left is a problem of the size of the basis. `fit` puts it together
//! with a basis and is in map/extracted.rs, where every method becomes a `FeatureMap`. [`Extractor`] is one of them,
//! chosen by name.

pub mod klfe;
pub mod skfe;
pub mod gda;
pub mod koc;
pub mod akda_qr;
pub mod kpls;
pub mod kmfa;
pub mod kanmm;
pub mod kpca;
mod ratio;
mod margin;

use std::ops::Range;

use faer::{Mat, MatRef};

pub use akda_qr::AkdaQr;
pub use gda::Gda;
pub use kanmm::Kanmm;
pub use klfe::Klfe;
pub use kmfa::Kmfa;
pub use koc::Koc;
pub use kpca::Kpca;
pub use kpls::Kpls;
pub use skfe::{Skfe, Start};

use crate::basis::expansion::Panels;
use crate::basis::{Basis, DEFAULT_MEMORY, FittedBasis, Method};
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

/// Eigenvalues up to this share of the largest magnitude are rounding.
const RANK: f64 = 1e-12;

/// What an extractor finds: q directions in m coordinates, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions {
    /// q×m.
    pub matrix: Mat<f64>,
    /// Subtracted from the features, q numbers; empty: nothing.
    pub offset: Vec<f64>,
    /// The point, m numbers, whose features are 0; empty: the coordinates' own zero. Pre-images need it where there is an
    /// offset, which is what the directions make of it.
    pub origin: Vec<f64>,
    /// One a direction, descending (`kpls`: in the order found); empty if the method has none.
    pub eigenvalues: Vec<f64>,
    /// Share of what the method maximises that each direction holds; empty if that makes no sense.
    pub explained: Vec<f64>,
    /// `skfe`: the alignment after each step, the start first.
    pub alignment_path: Vec<f64>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Default for Directions {
    fn default() -> Self {
        Self {
            matrix: Mat::new(),
            offset: Vec::new(),
            origin: Vec::new(),
            eigenvalues: Vec::new(),
            explained: Vec::new(),
            alignment_path: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

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

/// Any of the extractors.
#[derive(Clone, Debug)]
pub enum Extractor {
    /// Kernel local feature extraction.
    Klfe(Klfe),
    /// Subspace kernel by alignment.
    Skfe(Skfe),
    /// Generalised discriminant analysis.
    Gda(Gda),
    /// Kernel orthogonal centroids.
    Koc(Koc),
    /// Discriminant analysis of the class means' images.
    AkdaQr(AkdaQr),
    /// Kernel partial least squares.
    Kpls(Kpls),
    /// Kernel marginal Fisher analysis.
    Kmfa(Kmfa),
    /// Kernel average neighbourhood margin maximisation.
    Kanmm(Kanmm),
    /// Kernel principal components.
    Kpca(Kpca),
}

impl Extractor {
    /// The extractor's name in every face.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Klfe(_) => "klfe",
            Self::Skfe(_) => "skfe",
            Self::Gda(_) => "gda",
            Self::Koc(_) => "koc",
            Self::AkdaQr(_) => "akda-qr",
            Self::Kpls(_) => "kpls",
            Self::Kmfa(_) => "kmfa",
            Self::Kanmm(_) => "kanmm",
            Self::Kpca(_) => "kpca",
        }
    }

    /// An error unless the settings are allowed and such labels will do; [`directions`](Self::directions) asks too, but
    /// after a basis was fitted.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        match self {
            Self::Klfe(e) => {
                at_least_one(&[("n_components", e.n_components), ("n_neighbors", Some(e.n_neighbors))])
            }
            Self::Skfe(e) => e.check(),
            Self::Gda(e) => at_least_one(&[("n_components", e.n_components)]).and(ratio::check(e.reg)),
            Self::Koc(_) => Ok(()),
            Self::AkdaQr(e) => ratio::check(e.reg),
            Self::Kpls(e) => at_least_one(&[("n_components", Some(e.n_components))]),
            Self::Kmfa(e) => at_least_one(&[
                ("n_components", e.n_components),
                ("k_within", Some(e.k_within)),
                ("k_between", Some(e.k_between)),
            ])
            .and(ratio::check(e.reg)),
            Self::Kanmm(e) => {
                at_least_one(&[("n_components", e.n_components), ("n_neighbors", Some(e.n_neighbors))])
            }
            Self::Kpca(e) => at_least_one(&[("n_components", e.n_components)]),
        }?;
        match (self, labels) {
            (Self::Kpca(_), _) => Ok(()),
            (_, None) => Err(Error::argument(format!(
                "`{}` looks at the labels, but none were given\nhint: give them (y, `--target COL`)",
                self.name()
            ))),
            (Self::Kpls(_), Some(labels)) => labels.require_two("kpls"),
            (_, Some(labels)) => labels.require_classes(self.name()).map(|_| ()),
        }
    }

    /// The basis that the extractor comes with, for n rows.
    ///
    /// ```
    /// use mercer::{basis::Method, extract::{Extractor, Gda, Skfe}};
    ///
    /// let mut warnings = Vec::new();
    /// let (gda, skfe) = (Extractor::Gda(Gda::default()), Extractor::Skfe(Skfe::default()));
    /// assert_eq!(gda.default_basis(100, &mut warnings), Method::GramSchmidt);
    /// assert_eq!(skfe.default_basis(9_000, &mut warnings), Method::Kobl);
    /// assert!(warnings.is_empty());
    /// assert_eq!(gda.default_basis(9_000, &mut warnings), Method::Kobl);
    /// assert!(warnings[0].starts_with("9000 rows are more than 5000"));
    /// ```
    pub fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Method {
        match self {
            Self::Skfe(_) => Method::Kobl,
            Self::Kpca(_) => Method::Kpca,
            // Of the class means, which are few.
            Self::AkdaQr(_) => Method::GramSchmidt,
            Self::Klfe(_) => Method::Kpca.or_kobl(n, self.name(), warnings),
            _ => Method::GramSchmidt.or_kobl(n, self.name(), warnings),
        }
    }

    /// The basis to fit on these rows, from its settings: the settings as they are, except for `akda-qr`, whose landmarks
    /// are the class means.
    pub fn basis<'r>(
        &self,
        settings: Basis,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
    ) -> Result<Basis> {
        match (self, labels) {
            (Self::AkdaQr(_), Some(labels)) => AkdaQr::basis(&settings, rows, labels),
            (Self::AkdaQr(_), None) => self.check(None).map(|()| settings),
            _ => Ok(settings),
        }
    }

    /// Whether it looks at pairs of rows, for which it keeps their coordinates.
    pub(crate) fn keeps_coordinates(&self) -> bool {
        matches!(self, Self::Klfe(_) | Self::Kanmm(_) | Self::Kmfa(_))
    }

    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        self.check(coordinates.labels)?;
        coordinates.check()?;
        match self {
            Self::Klfe(e) => e.find(coordinates),
            Self::Skfe(e) => e.find(coordinates),
            Self::Gda(e) => e.find(coordinates),
            Self::Koc(_) => Koc::find(coordinates),
            Self::AkdaQr(e) => e.find(coordinates),
            Self::Kpls(e) => e.find(coordinates),
            Self::Kmfa(e) => e.find(coordinates),
            Self::Kanmm(e) => e.find(coordinates),
            Self::Kpca(e) => e.find(coordinates),
        }
    }
}

macro_rules! directions {
    ($($extractor:ident),*) => {$(
        impl $extractor {
            /// The directions in the basis' coordinates.
            pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
                Extractor::$extractor(self.clone()).directions(coordinates)
            }
        }
    )*};
}

directions!(Klfe, Skfe, Gda, Koc, AkdaQr, Kpls, Kmfa, Kanmm, Kpca);

impl<'a> Coordinates<'a> {
    fn check(&self) -> Result<()> {
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
    fn classes(&self, method: &str) -> Result<(&'a Labels, &'a [usize], usize)> {
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
    pub(crate) fn precision(&self) -> Precision {
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
    fn scatter(&self, lists: &[Pairs]) -> Result<(Mat<f64>, Option<Kept>)> {
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
    fn differences(&self, pairs: &[(usize, usize)], features: Option<&Kept>) -> Mat<f64> {
        match (features, self.source()) {
            (Some(Kept::Double(z)), _) => apart(pairs, &Source::Given(z.as_ref())),
            (Some(Kept::Single(z)), _) => apart(pairs, &Source::Given(z.as_ref())),
            (None, In::Double(source)) => apart(pairs, &source),
            (None, In::Single(source)) => apart(pairs, &source),
        }
    }

    /// Signs of directions (q×m) from the features of all rows, if there are any, or else from features made again.
    fn signs_of(&self, matrix: MatRef<'_, f64>, features: Option<&Kept>) -> Result<Vec<f64>> {
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
    fn moments(&self, labels: Option<&Labels>) -> Result<Summary> {
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
    fn oriented(&self, mut matrix: Mat<f64>, origin: Vec<f64>) -> Result<Directions> {
        let q = matrix.nrows();
        let along = |i: usize| matrix.row(i).iter().zip(&origin).map(|(v, o)| v * o).sum();
        let mut offset: Vec<f64> = if origin.is_empty() { Vec::new() } else { (0..q).map(along).collect() };
        let signs = self.signs(matrix.as_ref(), &offset)?;
        turn(&mut matrix, &signs);
        offset.iter_mut().zip(&signs).for_each(|(b, sign)| *b *= sign);
        Ok(Directions { matrix, offset, origin, ..Directions::default() })
    }

    fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
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
enum Kept {
    Double(Mat<f64>),
    Single(Mat<f32>),
}

/// One thing in double or another in single precision.
enum In<D, S> {
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

/// Multiplies each row by its sign.
fn turn(matrix: &mut Mat<f64>, signs: &[f64]) {
    for column in matrix.col_iter_mut() {
        column.iter_mut().zip(signs).for_each(|(v, sign)| *v *= sign);
    }
}

/// The first q columns as rows.
fn as_rows(vectors: MatRef<'_, f64>, q: usize) -> Mat<f64> {
    vectors.subcols(0, q).transpose().to_owned()
}

fn at_least_one(counts: &[(&str, Option<usize>)]) -> Result<()> {
    match counts.iter().find(|(_, count)| *count == Some(0)) {
        Some(("n_neighbors", _)) => {
            Err(Error::argument("n_neighbors = 0, but at least 1 neighbour is needed"))
        }
        Some((name, _)) => Err(Error::argument(format!("{name} = 0, but at least 1 is needed"))),
        None => Ok(()),
    }
}

/// How many directions to keep: as many as wanted, or else `usual`. At most `most` are there; `why` says what limits
/// them.
fn count(wanted: Option<usize>, usual: usize, most: usize, why: &str) -> Result<usize> {
    match wanted {
        Some(q) if q > most => Err(Error::argument(format!(
            "n_components = {q}, but only {most} can be had: {why}\nhint: lower it, or leave it out"
        ))),
        Some(q) => Ok(q),
        None => Ok(usual.min(most)),
    }
}

/// The share that each of the first q values has of the sum of all.
fn shares(values: &[f64], q: usize) -> Vec<f64> {
    let all: f64 = values.iter().sum();
    values[..q].iter().map(|v| v / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Threshold;
    use crate::data::labels::Task;
    use crate::data::rows::Rows;
    use crate::data::synth;
    use crate::kernel::{Gamma, Kernel};
    use crate::linalg::positive_signs;
    use crate::map::FeatureMap;

    fn all() -> Vec<Extractor> {
        vec![
            Extractor::Klfe(Klfe::default()),
            Extractor::Skfe(Skfe::default()),
            Extractor::Gda(Gda::default()),
            Extractor::Koc(Koc),
            Extractor::AkdaQr(AkdaQr::default()),
            Extractor::Kpls(Kpls { n_components: 1 }),
            Extractor::Kmfa(Kmfa::default()),
            Extractor::Kanmm(Kanmm::default()),
            Extractor::Kpca(Kpca::default()),
        ]
    }

    fn table(spec: &str) -> (Rows<'static>, Labels) {
        let table = synth::generate(spec).expect("rows");
        (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
    }

    /// n rows of p numbers in c classes that overlap.
    fn blobs(n: usize, p: usize, c: usize) -> (Rows<'static>, Labels) {
        let value = |i: usize, j: usize| ((i * i * 31 + j * j * 17 + i * j * 7) as f64 * 0.37).sin();
        let values = (0..n * p)
            .map(|at| value(at / p, at % p) + ((at / p) % c * (at % p % 5 + 1)) as f64 * 0.9)
            .collect::<Vec<_>>();
        let names: Vec<String> = (0..n).map(|i| (i % c).to_string()).collect();
        (Rows::dense(values, n, p).expect("rows"), Labels::classes(&names))
    }

    fn fit(
        extractor: &Extractor,
        settings: &Basis,
        rows: &Rows,
        labels: &Labels,
    ) -> Result<(FeatureMap, Directions)> {
        let basis = extractor.basis(settings.clone(), rows, Some(labels))?;
        extractor.fit(rows, labels, basis.fit_supervised(rows, labels)?, &settings.monitor)
    }

    /// All of the span.
    fn full(kernel: Kernel) -> Basis {
        Basis::kobl(kernel).threshold(Threshold::Constant(0.0))
    }

    fn check_features(what: &str, map: &FeatureMap, rows: &Rows) {
        let z = map.transform(rows).expect("features");
        assert!(z.ncols() > 0, "{what}");
        for j in 0..z.ncols() {
            assert!(z.col(j).iter().all(|v| v.is_finite()), "{what}: feature {j}");
            assert!(z.col(j).norm_max() > 0.0, "{what}: feature {j} is 0");
        }
        assert!(positive_signs(z.as_ref()).iter().all(|s| *s > 0.0), "{what}: a sign");
    }

    #[test]
    fn features_of_gda_have_scatter_one_and_classes_apart_by_the_eigenvalues() {
        let (rows, labels) = blobs(90, 4, 4);
        let (codes, _) = labels.require_classes("test").expect("classes");
        let gda = Extractor::Gda(Gda { reg: 0.0, n_components: None });
        let (map, found) =
            fit(&gda, &full(Kernel::rbf(0.02)).n_components(20), &rows, &labels).expect("fits");
        let z = map.transform(&rows).expect("features");
        let scatter = z.transpose() * &z;
        let mut means = Mat::<f64>::zeros(4, 3);
        for (i, &code) in codes.iter().enumerate() {
            let size = codes.iter().filter(|c| **c == code).count() as f64;
            (0..3).for_each(|j| means[(code, j)] += z[(i, j)] / size.sqrt());
        }
        let between = means.transpose() * &means;
        for i in 0..3 {
            for j in 0..3 {
                let one = f64::from(u8::from(i == j));
                assert!((scatter[(i, j)] - one).abs() < 1e-8, "{}", scatter[(i, j)]);
                assert!((between[(i, j)] - one * found.eigenvalues[i]).abs() < 1e-8, "{}", between[(i, j)]);
            }
        }
        assert!((found.explained.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b) && found.eigenvalues[0] < 1.0);
    }

    #[test]
    fn scores_of_kpls_are_orthogonal_over_many_components() {
        let (rows, _) = blobs(80, 3, 2);
        let y = Labels::Numbers((0..80).map(|i| 1e5 + f64::from(i * i % 37)).collect());
        let kpls = Extractor::Kpls(Kpls { n_components: 25 });
        let (map, found) = fit(&kpls, &full(Kernel::rbf(0.5)), &rows, &y).expect("fits");
        let z = map.transform(&rows).expect("features");
        let scores = z.transpose() * &z;
        for i in 0..25 {
            for j in 0..i {
                let size = (scores[(i, i)] * scores[(j, j)]).sqrt();
                assert!(scores[(i, j)].abs() < 1e-9 * size, "{i} {j}: {}", scores[(i, j)] / size);
            }
        }
        assert_eq!(found.eigenvalues.len(), 25);
        let many = fit(&Extractor::Kpls(Kpls { n_components: 500 }), &full(Kernel::linear()), &rows, &y);
        assert!(many.expect_err("refused").to_string().contains("n_components = 500, but only 3 can be had"));
    }

    #[test]
    fn kpca_in_any_basis_of_the_span_is_the_kpca_basis() {
        let (rows, labels) = blobs(40, 3, 2);
        for center in [true, false] {
            let kpca = Extractor::Kpca(Kpca { n_components: Some(6), center });
            let own = Basis { center, ..Basis::new(Method::Kpca, Kernel::rbf(0.3)) };
            let (direct, quick) = fit(&kpca, &own, &rows, &labels).expect("fits");
            let (through, found) = fit(&kpca, &full(Kernel::rbf(0.3)), &rows, &labels).expect("fits");
            let [a, b] = [&direct, &through].map(|map| map.transform(&rows).expect("features"));
            assert!((&a - &b).norm_max() < 1e-7 * a.norm_max(), "{}", (&a - &b).norm_max());
            for j in 0..6 {
                assert!((quick.eigenvalues[j] - found.eigenvalues[j]).abs() < 1e-9 * found.eigenvalues[0]);
                assert!((quick.explained[j] - found.explained[j]).abs() < 1e-9);
            }
            let monitor = Monitor::default();
            let [x, y] =
                [&direct, &through].map(|map| map.inverse_transform(a.as_ref(), &monitor).expect("back"));
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-4), "pre-images about the same origin");
        }
    }

    #[test]
    fn koc_spans_the_centroids_and_says_what_it_leaves_out() {
        let (rows, labels) = blobs(60, 3, 5);
        let (map, found) = fit(&Extractor::Koc(Koc), &full(Kernel::linear()), &rows, &labels).expect("fits");
        assert_eq!(map.n_features(), 3);
        assert!(found.warnings[0].starts_with("2 of 5 centroids lie in the span"), "{:?}", found.warnings);
        let gram = &found.matrix * found.matrix.transpose();
        assert!((gram - Mat::<f64>::identity(3, 3)).norm_max() < 1e-14);
    }

    #[test]
    fn a_class_that_lost_its_rows_changes_nothing() {
        let (rows, labels) = blobs(60, 3, 3);
        let Labels::Classes { codes, .. } = &labels else { unreachable!("classes") };
        let names = ["0", "1", "gone", "2"].map(String::from).to_vec();
        let codes = codes.iter().map(|&code| code + usize::from(code == 2)).collect();
        let with_a_gap = Labels::Classes { codes, names };
        for extractor in all() {
            let settings = Basis::kobl(Kernel::rbf(0.2)).n_components(12);
            let [a, b] = [&labels, &with_a_gap]
                .map(|labels| fit(&extractor, &settings, &rows, labels).expect("fits").1);
            let tolerance = if matches!(extractor, Extractor::Skfe(_)) { 1e-4 } else { 1e-9 };
            let difference = (&a.matrix - &b.matrix).norm_max();
            assert!(difference < tolerance * a.matrix.norm_max(), "{}: {difference}", extractor.name());
        }
    }

    #[test]
    fn sparse_rows_and_precomputed_kernels_give_the_same_features() {
        let (dense, labels) = blobs(50, 4, 3);
        let kernel = Kernel::rbf(0.2);
        let k = kernel.matrix(&dense, &dense).expect("values");
        let given = Rows::from_mat(k.as_ref());
        for extractor in all() {
            // A search ends where rounding leads it.
            let tolerance = if matches!(extractor, Extractor::Skfe(_)) { 1e-4 } else { 1e-8 };
            let (map, _) =
                fit(&extractor, &Basis::kobl(kernel).n_components(12), &dense, &labels).expect("fits");
            let z = map.transform(&dense).expect("features");
            let settings = Basis::kobl(kernel).n_components(12);
            let sparse = dense.to_sparse();
            let (again, _) = fit(&extractor, &settings, &sparse, &labels).expect("fits");
            let difference = (&z - again.transform(&sparse).expect("features")).norm_max();
            assert!(difference < tolerance * z.norm_max(), "{}: {difference}", extractor.name());
            let settings = Basis::kobl(Kernel::precomputed()).n_components(12);
            match fit(&extractor, &settings, &given, &labels) {
                Ok((again, _)) => {
                    let difference = (&z - again.transform(&given).expect("features")).norm_max();
                    assert!(difference < tolerance * z.norm_max(), "{}: {difference}", extractor.name());
                }
                Err(error) => {
                    assert!(error.to_string().contains("a precomputed kernel does not know"), "{error}");
                }
            }
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_number_of_threads() {
        let (rows, labels) = table("ringnorm?n=3000&seed=1");
        for extractor in all() {
            let of = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                let settings = Basis::kobl(Kernel::rbf(0.05)).n_components(30);
                pool.install(|| fit(&extractor, &settings, &rows, &labels)).expect("fits").1
            };
            let one = of(1);
            assert!(one == of(2) && one == of(5), "{}", extractor.name());
        }
    }

    #[test]
    fn a_stop_is_honoured() {
        let (rows, labels) = blobs(40, 2, 2);
        let monitor = Monitor::default();
        let basis = Basis::kobl(Kernel::rbf(1.0)).fit(&rows).expect("fits");
        let means = AkdaQr::basis(&Basis::kobl(Kernel::rbf(1.0)), &rows, &labels).expect("means");
        let means = means.fit(&rows).expect("fits");
        monitor.stop();
        for extractor in all() {
            let basis = if matches!(extractor, Extractor::AkdaQr(_)) { &means } else { &basis };
            let stopped = extractor.directions(&Coordinates {
                features: None,
                rows: (&rows).into(),
                labels: Some(&labels),
                basis,
                limits: Limits::default(),
                monitor: &monitor,
            });
            assert!(matches!(stopped, Err(Error::Interrupted)), "{}", extractor.name());
        }
    }

    #[test]
    fn nasty_rows_have_features_all_the_same() {
        let (few, genes) = blobs(50, 10_000, 3);
        let (one_column, _) = blobs(30, 1, 2);
        let (plain, halves) = blobs(40, 3, 2);
        let (crowded, ten) = blobs(40, 3, 10);
        let lonely = Labels::classes(
            &(0..40).map(|i| if i == 7 { "z" } else { ["a", "b"][i % 2] }).collect::<Vec<_>>(),
        );
        // Columns 1 and 2 are multiples of column 0; column 3 is constant.
        let collinear: Vec<f64> = (0..40)
            .flat_map(|i| {
                let x = f64::from(i * i % 17 + i % 2 * 20);
                [x, 2.0 * x, -x, 1e6]
            })
            .collect();
        let collinear = Rows::dense(collinear, 40, 4).expect("rows");
        let scaled = |by: f64| {
            Rows::dense(plain.to_dense().iter().map(|v| v * by).collect::<Vec<_>>(), 40, 3).expect("rows")
        };
        let (huge, tiny, far) = (scaled(1e150), scaled(1e-150), scaled(1.0));
        let far: Vec<f64> = far.to_dense().iter().map(|v| v + 1e7).collect();
        let far = Rows::dense(far, 40, 3).expect("rows");
        let thirty = Labels::classes(&(0..30).map(|i| (i % 2).to_string()).collect::<Vec<_>>());
        let cases: [(&str, &Rows, &Labels, Kernel); 10] = [
            ("genes", &few, &genes, Kernel::rbf(1.0)),
            ("genes, linear", &few, &genes, Kernel::linear()),
            ("one coordinate", &one_column, &thirty, Kernel::linear()),
            ("more classes than coordinates", &crowded, &ten, Kernel::linear()),
            ("a class of one", &plain, &lonely, Kernel::rbf(1.0)),
            ("collinear and constant", &collinear, &halves, Kernel::linear()),
            ("huge", &huge, &halves, Kernel::linear()),
            ("tiny", &tiny, &halves, Kernel::linear()),
            ("far from 0", &far, &halves, Kernel::rbf(1.0)),
            ("more coordinates than rows would fill", &plain, &halves, Kernel::rbf(50.0)),
        ];
        for (what, rows, labels, kernel) in cases {
            for extractor in all() {
                let mut settings = full(kernel);
                if kernel.shape == Shape::Rbf && kernel.gamma == 1.0 {
                    settings = settings.gamma(Gamma::Scale);
                }
                let what = format!("{}: {what}", extractor.name());
                let (map, found) = fit(&extractor, &settings, rows, labels).expect(&what);
                check_features(&what, &map, rows);
                assert!(found.eigenvalues.iter().all(|v| v.is_finite() && *v > 0.0), "{what}");
                assert!(found.explained.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)), "{what}");
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused_in_words() {
        let (rows, labels) = blobs(30, 3, 3);
        let text = |extractor: Extractor, labels: &Labels| {
            fit(&extractor, &Basis::kobl(Kernel::rbf(0.5)), &rows, labels).expect_err("refused").to_string()
        };
        let gda = |n_components, reg| Extractor::Gda(Gda { n_components, reg });
        assert!(
            text(gda(Some(3), 1e-3), &labels)
                .contains("n_components = 3, but only 2 can be had: the means of 3 classes")
        );
        assert!(text(gda(Some(0), 1e-3), &labels).contains("n_components = 0, but at least 1"));
        assert!(text(gda(None, -1.0), &labels).contains("reg = -1, but it must be"));
        let numbers = Labels::Numbers((0..30).map(f64::from).collect());
        assert!(text(Extractor::Koc(Koc), &numbers).contains("--task classes"));
        let same = Labels::Numbers(vec![2.0; 30]);
        assert!(text(Extractor::Kpls(Kpls::default()), &same).contains("the same number in every row"));
        let kpca = Extractor::Kpca(Kpca { n_components: Some(31), center: true });
        assert!(text(kpca, &labels).contains("n_components = 31, but only"));
        let equal = Rows::dense(vec![1.0; 30], 30, 1).expect("rows");
        // One centroid, with which all rows are aligned, is there even so.
        for extractor in all().iter().filter(|e| !matches!(e, Extractor::Koc(_) | Extractor::Skfe(_))) {
            let refused = fit(extractor, &Basis::kobl(Kernel::rbf(0.5)), &equal, &labels);
            assert!(matches!(refused, Err(Error::Data(_))), "{}: {refused:?}", extractor.name());
        }
        let one_left = Labels::Classes { codes: vec![1; 30], names: vec!["a".into(), "b".into()] };
        assert!(text(Extractor::Koc(Koc), &one_left).contains("at least 2 classes, but all are of one"));
        let basis = Basis::kobl(Kernel::rbf(0.5)).fit(&rows).expect("fits");
        let wrong = AkdaQr::default().fit(&rows, &labels, basis.clone()).expect_err("refused").to_string();
        assert!(wrong.contains("make the basis with `AkdaQr::basis`"), "{wrong}");
        let none = Koc.fit(&rows, None, basis).expect_err("refused").to_string();
        assert!(none.contains("`koc` looks at the labels, but none were given"), "{none}");
    }
}
