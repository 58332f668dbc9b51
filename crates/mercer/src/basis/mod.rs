//! Stage 3: coordinates. A basis of the span of the rows' images, orthonormal in the kernel's space.
//!
//!   z(x) = A·k(x, landmarks),   A K_ll Aᵀ = I
//!
//! [`Basis`] holds the settings, [`FittedBasis`] the result. One file an algorithm.

pub mod expansion;
pub mod single;
pub(crate) mod zeros;
mod columns;
mod check;
mod memory;
pub(crate) mod pivoted;
pub(crate) mod kept;
pub(crate) mod kobl;
pub(crate) mod gram_schmidt;
pub(crate) mod sparse;
mod growing;
pub(crate) mod kpca;
pub(crate) mod nystrom;
pub(crate) mod rpcholesky;
pub(crate) mod csi;
pub(crate) mod loo;
pub(crate) mod ridge;
pub(crate) mod preimage;
pub(crate) mod gradient;

use faer::{Mat, MatMut};

pub use expansion::{Expansion, Landmarks};
pub use kobl::Threshold;
pub use memory::{DEFAULT_MEMORY, bytes, size_in_bytes};
pub use pivoted::{Features, Stop};

use crate::checkpoint::Checkpoint;
use crate::data::either::Either;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::single::Single;
use crate::error::{Error, Result};
pub use crate::kernel::Precision;
use crate::kernel::gamma;
use crate::kernel::gram::{check_parts, diagonal_of};
use crate::kernel::{Gamma, Gram, Kernel, Shape};
use crate::monitor::{Growth, Monitor, Stage};
use expansion::Panels;
use kept::Kept;
use memory::Room;
use pivoted::{Hold, PENDING, Pivoted, Rounded};

/// Up to this many rows a basis without `n_components` is as large as its rule wants.
pub const UNCAPPED_ROWS: usize = 5_000;

/// Beyond [`UNCAPPED_ROWS`], and for `nystrom` and `rpcholesky` always, this is the size without `n_components`.
pub const DEFAULT_COMPONENTS: usize = 1_000;

/// Residual norms up to this share of √k(x,x) make `gram-schmidt` skip a row.
pub const GRAM_SCHMIDT_TOL: f64 = 1e-6;

/// The seven ways to choose a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Rows in their order, orthogonalised twice.
    GramSchmidt,
    /// The row farthest from the span so far.
    Kobl,
    /// Rows in random order that the ones before do not nearly span.
    Sparse,
    /// Principal components.
    Kpca,
    /// Rows drawn uniformly.
    Nystrom,
    /// Rows drawn in proportion to their squared distance from the span so far.
    Rpcholesky,
    /// Rows that explain the kernel and the labels.
    Csi,
}

impl Method {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::GramSchmidt, Self::Kobl, Self::Sparse, Self::Kpca, Self::Nystrom, Self::Rpcholesky, Self::Csi];

    /// The method's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::GramSchmidt => "gram-schmidt",
            Self::Kobl => "kobl",
            Self::Sparse => "sparse",
            Self::Kpca => "kpca",
            Self::Nystrom => "nystrom",
            Self::Rpcholesky => "rpcholesky",
            Self::Csi => "csi",
        }
    }

    /// This basis of n rows, or `kobl` beyond [`UNCAPPED_ROWS`] with a warning: for those that would span all of them.
    pub(crate) fn or_kobl(self, n: usize, user: &str, warnings: &mut Vec<String>) -> Self {
        if n <= UNCAPPED_ROWS {
            return self;
        }
        warnings.push(format!(
            "{n} rows are more than {UNCAPPED_ROWS}: `{user}` uses the basis `kobl` in place of `{}`; set basis to choose",
            self.name()
        ));
        Self::Kobl
    }

    /// The method with this name.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|m| m.name()).collect();
            Error::argument(format!("method = `{name}` is not a basis; use one of {}", names.join(", ")))
        })
    }
}

/// Settings of a basis; [`fit`](Self::fit) finds it.
///
/// ```
/// use mercer::{Basis, Kernel, data::synth};
///
/// let table = synth::generate("ringnorm?n=300&seed=1")?;
/// let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(40).fit(&table.rows)?;
/// assert_eq!(basis.n_components(), 40);
/// assert!(basis.pivot_norms.windows(2).all(|r| r[0] >= r[1] - 1e-12)); // Theorem 2 of the paper
/// let z = basis.expansion.transform(&table.rows)?;
/// assert_eq!((z.nrows(), z.ncols()), (300, 40));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Basis {
    /// How landmarks are chosen.
    pub method: Method,
    /// The kernel's formula.
    pub shape: Shape,
    /// Its width, or the rule for it.
    pub gamma: Gamma,
    /// The most components; None: see [`UNCAPPED_ROWS`] and [`DEFAULT_COMPONENTS`].
    pub n_components: Option<usize>,
    /// When `kobl` stops.
    pub threshold: Threshold,
    /// `gram-schmidt`: residual norm to skip at; `kpca`: share of the trace to keep; `csi`: residual to stop at.
    pub tol: Option<f64>,
    /// `sparse`: how much of k(x,x) must be new, in [0, 1).
    pub nu: f64,
    /// Choose among these rows instead of the training rows.
    pub landmarks: Option<Rows<'static>>,
    /// `kpca`: centre in the kernel's space.
    pub center: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// What `kobl`, `sparse`, `nystrom` and `rpcholesky` compute all rows' coordinates in; None: that of the rows.
    pub precision: Option<Precision>,
    /// Relative rounding error of the kernel values: that of double precision, unless they were precomputed in less.
    pub rounding: f64,
    /// Most bytes that a fit may take.
    pub memory: u64,
    /// Progress out, stop in.
    pub monitor: Monitor,
    /// Where a fit is kept that may be interrupted; see [`checkpoint`](Self::checkpoint).
    pub checkpoint: Option<Checkpoint>,
}

/// A fitted basis: z(x) = A·k(x, landmarks) and how it came about.
#[derive(Clone, Debug)]
pub struct FittedBasis {
    /// How landmarks were chosen.
    pub method: Method,
    /// Kernel, landmarks, A and (centred `kpca` only) an offset.
    pub expansion: Expansion,
    /// Rows chosen, in order; indices into the rows they were chosen from. Empty for exact `kpca`.
    pub pivots: Vec<usize>,
    /// Norm of each pivot's residual when it was chosen. Empty for `kpca`.
    pub pivot_norms: Vec<f64>,
    /// `kpca`: eigenvalues of the (centred) kernel matrix, descending.
    pub eigenvalues: Option<Vec<f64>>,
    /// Mean squared residual over mean k(x,x), on the training rows; centred `kpca`: share of the centred trace of the
    /// rows it was chosen from.
    pub residual: f64,
    /// Sum of k(x,x) over the training rows.
    pub trace: f64,
    /// What the rows' coordinates were computed in.
    pub precision: Precision,
    /// Single precision: the largest error of a coordinate or a squared residual, relative to √max k(x,x) or max k(x,x),
    /// among up to 256 training rows that were computed again in double; None: all was in double.
    pub rounding_error: Option<f64>,
    /// Kernel values that the fit computed, without those that a rule for γ looked at.
    pub n_kernel_evaluations: u64,
    /// Number of training rows.
    pub n_rows: usize,
    /// What ended it.
    pub stop: Stop,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Basis {
    /// A basis with all other settings at their defaults.
    pub fn new(method: Method, kernel: Kernel) -> Self {
        Self {
            method,
            shape: kernel.shape,
            gamma: Gamma::Value(kernel.gamma),
            n_components: None,
            threshold: Threshold::Linear,
            tol: None,
            nu: 0.1,
            landmarks: None,
            center: false,
            seed: 0,
            precision: None,
            rounding: f64::EPSILON,
            memory: DEFAULT_MEMORY,
            monitor: Monitor::default(),
            checkpoint: None,
        }
    }

    /// Pivots by largest residual, the paper's stop rule.
    pub fn kobl(kernel: Kernel) -> Self {
        Self::new(Method::Kobl, kernel)
    }

    /// Caps the number of components.
    pub fn n_components(mut self, n_components: usize) -> Self {
        self.n_components = Some(n_components);
        self
    }

    /// Sets the width by rule.
    pub fn gamma(mut self, gamma: Gamma) -> Self {
        self.gamma = gamma;
        self
    }

    /// Sets `kobl`'s stop rule.
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.threshold = threshold;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets what the rows' coordinates are computed in, whatever the rows are.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = Some(precision);
        self
    }

    /// Lets a caller watch and stop the fit.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = monitor.clone();
        self
    }

    /// Keeps what a fit has found so far in a folder, from which the same fit goes on, to the same bits. `kobl`,
    /// `sparse`, `nystrom` and `rpcholesky` are kept after every pass over the rows, and compute kernel values again in place of
    /// keeping coordinates in memory, so that their last digits may differ from those of a fit without a checkpoint; the others
    /// are kept when they are done. The files stay until [`Checkpoint::clear`].
    pub fn checkpoint(mut self, checkpoint: &Checkpoint) -> Self {
        self.checkpoint = Some(checkpoint.clone());
        self
    }

    /// Fits without labels.
    pub fn fit(&self, rows: &Rows) -> Result<FittedBasis> {
        Ok(self.fit_with(rows, None, false)?.0)
    }

    /// Fits with labels, which `csi` and the rules `align` and `loo` for γ look at.
    pub fn fit_supervised(&self, rows: &Rows, labels: &Labels) -> Result<FittedBasis> {
        Ok(self.fit_with(rows, Some(labels), false)?.0)
    }

    /// Fits and returns the features of the training rows (row-major n×m) beside the basis, if they are wanted.
    pub fn fit_with(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        want_features: bool,
    ) -> Result<(FittedBasis, Option<Vec<f64>>)> {
        let (fitted, features) = self.fit_in(rows.into(), labels, Want::of(want_features, true))?;
        Ok((fitted, features.map(Features::double)))
    }

    /// The same on rows in either precision, with features in that of the basis. `gram-schmidt`, `kpca` and `csi` take a copy
    /// in double precision of rows in single.
    ///
    /// ```
    /// use mercer::basis::{Features, Precision};
    /// use mercer::{Basis, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 5.0], 3, 1)?;
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).precision(Precision::Single);
    /// let (basis, z) = basis.fit_either(&rows, None, true)?;
    /// assert_eq!(basis.precision, Precision::Single);
    /// assert!(matches!(z, Some(Features::Single(z)) if z[..3] == [1.0, 0.0, 0.0]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit_either<'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
        want_features: bool,
    ) -> Result<(FittedBasis, Option<Features>)> {
        let (rows, want) = (rows.into(), Want::of(want_features, false));
        if matches!(rows, Either::Double(_)) || self.is_pivoted() {
            return self.fit_in(rows, labels, want);
        }
        rows.check_finite(None)?;
        let rounding = self.rounding_of(rows);
        Self { rounding, ..self.clone() }.fit_in((&*rows.whole()).into(), labels, want)
    }

    /// The same on rows in single precision, read where they lie, and with features in it. `gram-schmidt`, `kpca` and `csi`
    /// take a copy in double precision.
    ///
    /// ```
    /// use mercer::basis::Precision;
    /// use mercer::{Basis, Kernel, data::Single};
    ///
    /// let rows = Single::new(vec![0.0f32, 1.0, 5.0], 3, 1)?;
    /// let (basis, z) = Basis::kobl(Kernel::rbf(1.0)).fit_single(&rows, None, true)?;
    /// assert_eq!((basis.precision, basis.pivots), (Precision::Single, vec![0, 2, 1]));
    /// assert!(basis.rounding_error.unwrap() < 1e-6);
    /// assert_eq!(z.unwrap()[..3], [1.0, 0.0, 0.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit_single(
        &self,
        rows: &Single,
        labels: Option<&Labels>,
        want_features: bool,
    ) -> Result<(FittedBasis, Option<Vec<f32>>)> {
        let (fitted, features) = self.fit_either(rows, labels, want_features)?;
        Ok((fitted, features.map(Features::single)))
    }

    fn fit_in(
        &self,
        rows: Either,
        labels: Option<&Labels>,
        want: Want,
    ) -> Result<(FittedBasis, Option<Features>)> {
        self.check(rows, labels)?;
        let mut kept = Kept::open(self, rows, labels)?;
        let (fitted, features) = match kept.as_mut().and_then(|kept| kept.finished(self, rows)) {
            Some(fitted) => (fitted, None),
            None => self.fit_now(rows, labels, want, &mut kept)?,
        };
        let features = match features {
            None if want != Want::Nothing => Some(self.features(rows, &fitted, want)?),
            features => features,
        };
        Ok((fitted, features))
    }

    /// The basis, and its features of the rows where they were wanted and came with it.
    fn fit_now(
        &self,
        rows: Either,
        labels: Option<&Labels>,
        want: Want,
        kept: &mut Option<Kept>,
    ) -> Result<(FittedBasis, Option<Features>)> {
        let mut warnings = Vec::new();
        let kernel = match kept.as_ref().and_then(|kept| kept.kernel(self)) {
            Some(kernel) => kernel,
            None => self.resolve_kernel(rows, labels)?,
        };
        kept.iter_mut().for_each(|kept| kept.set_kernel(kernel));
        let given = self.landmarks.as_ref().map_or(rows, Either::from);
        let cap = self.cap(given.n(), &mut warnings);
        let wanted = match rows {
            Either::Single(_) => self.precision.unwrap_or(Precision::Single),
            Either::Double(_) => self.precision.unwrap_or(Precision::Double),
        };
        let want_features = want != Want::Nothing;
        let room = Room { precision: wanted, want_features, widen: want == Want::Double };
        self.check_room(given.n(), room)?;
        let sample = self.sample(given.n(), cap, &mut warnings);
        let selected = sample.as_ref().map(|places| (given.select(places), labels.map(|y| y.select(places))));
        let (chosen_from, their_labels) = match &selected {
            Some((rows, labels)) => (rows.into(), labels.as_ref()),
            None => (given, labels),
        };
        let own = self.landmarks.is_none() && sample.is_none();
        if !own {
            check_parts(kernel, rows)?;
        }
        let mut gram = Gram::with_rounding(kernel, chosen_from, self.rounding_of(rows))?;
        let hold = self.hold(given.n(), cap, Room { want_features: want_features && own, ..room });
        if hold == Hold::Never && self.is_pivoted() && self.checkpoint.is_some() {
            if wanted == Precision::Single {
                warnings.push("with a checkpoint a basis is fitted in double precision".into());
            }
        } else if hold == Hold::Never && self.is_pivoted() {
            warnings.push(format!(
                "coordinates of {} rows, {}, are more than the memory of {}: they are not kept, and kernel values are \
                 computed again instead{}",
                given.n(),
                bytes(room.bytes() * (given.n() * cap) as u64),
                bytes(self.memory),
                if wanted == Precision::Single { ", in double precision" } else { "" }
            ));
        } else if wanted == Precision::Single && gram.fits_single() {
            gram = gram.in_single();
        } else if wanted == Precision::Single {
            warnings.push(format!(
                "values of the kernel `{}` on these rows leave the range of single precision: fitted in double\n\
                 hint: scale the columns",
                self.shape.name()
            ));
        }
        let (mut fitted, features) = self.find(&gram, chosen_from, cap, their_labels, hold, kept)?;
        if let Some(places) = sample {
            fitted.pivots.iter_mut().for_each(|pivot| *pivot = places[*pivot]);
        }
        fitted.n_rows = rows.n();
        fitted.warnings.splice(0..0, warnings);
        if fitted.stop == Stop::Cap && fitted.n_components() == chosen_from.n() {
            fitted.stop = Stop::Rank;
        }
        if !own && fitted.expansion.origin.is_none() {
            fitted.n_kernel_evaluations += (rows.n() * (1 + fitted.expansion.landmarks.len())) as u64;
            fitted.residual = fitted.relative_residual(rows, &self.monitor)?;
        }
        if !own {
            fitted.trace = diagonal_of(kernel, rows).iter().sum();
        }
        kept.iter_mut().try_for_each(|kept| kept.finish(&fitted))?;
        Ok((fitted, features))
    }

    /// Coordinates of all rows from their kernel values.
    fn features(&self, rows: Either, basis: &FittedBasis, want: Want) -> Result<Features> {
        let (n, m) = (rows.n(), basis.n_components());
        if want == Want::Double || basis.precision == Precision::Double {
            let mut z = vec![0.0; n * m];
            let out = MatMut::from_row_major_slice_mut(&mut z, n, m);
            basis.expansion.ready().all(rows, out, &self.monitor)?;
            return Ok(Features::Double(z));
        }
        let mut z = vec![0.0; n * m];
        let out = MatMut::from_row_major_slice_mut(&mut z, n, m);
        basis.expansion.narrow(n).all(rows, out, &self.monitor)?;
        Ok(Features::Single(z))
    }

    /// The relative rounding error of kernel values of these rows, before anything is computed in single precision.
    fn rounding_of(&self, rows: Either) -> f64 {
        match (rows, self.shape) {
            // Such values are positive semi-definite only as far as single precision goes.
            (Either::Single(_), Shape::Precomputed) => self.rounding.max(f64::from(f32::EPSILON)),
            _ => self.rounding,
        }
    }

    fn find(
        &self,
        gram: &Gram,
        rows: Either,
        cap: usize,
        labels: Option<&Labels>,
        hold: Hold,
        kept: &mut Option<Kept>,
    ) -> Result<(FittedBasis, Option<Features>)> {
        match self.method {
            Method::GramSchmidt => {
                let tol = self.tol.unwrap_or(GRAM_SCHMIDT_TOL);
                let found = gram_schmidt::run(gram, cap, tol, &self.monitor)?;
                let m = found.pivots.len();
                let mut fitted = self.assemble(
                    gram,
                    rows,
                    Some(found.pivots),
                    found.coefficients,
                    vec![0.0; m],
                    found.stop,
                );
                fitted.pivot_norms = found.norms;
                fitted.residual = fitted.relative_residual(rows, &self.monitor)?;
                fitted.n_kernel_evaluations += (rows.n() * m) as u64;
                Ok((fitted, None))
            }
            Method::Kpca => Ok((self.find_components(gram, rows)?, None)),
            _ => {
                let mut factor = Pivoted::new(gram, cap, hold, &self.monitor)?;
                factor.keep_in(kept.take())?;
                let stage = self.stage(rows, cap, hold);
                self.monitor.enter(Stage { done: factor.pivots.len(), ..stage });
                let stop = match (self.method, labels) {
                    (Method::Sparse, _) => sparse::grow(&mut factor, self.nu, self.seed)?,
                    (Method::Nystrom, _) => nystrom::grow(&mut factor, self.seed)?,
                    (Method::Rpcholesky, _) => rpcholesky::grow(&mut factor, self.seed)?,
                    (Method::Csi, Some(labels)) => {
                        csi::grow(&mut factor, labels, self.tol.unwrap_or(csi::TOL))?
                    }
                    _ => kobl::grow(&mut factor, self.threshold)?,
                };
                *kept = factor.kept.take();
                let (coefficients, residual) = (factor.coefficients(), factor.relative_residual());
                let (pivots, norms) = (factor.pivots.clone(), factor.norms.clone());
                let offset = vec![0.0; pivots.len()];
                let mut fitted = self.assemble(gram, rows, Some(pivots), coefficients, offset, stop);
                fitted.pivot_norms = norms;
                fitted.residual = residual;
                fitted.precision = gram.precision();
                if let Some(rounded) = factor.rounded() {
                    fitted.warnings.extend(about_rounding(&rounded, &fitted));
                    fitted.rounding_error = Some(rounded.error);
                }
                fitted.n_kernel_evaluations = gram.evaluations();
                Ok((fitted, if hold == Hold::ForGood { factor.into_kept() } else { None }))
            }
        }
    }

    /// What choosing pivots among these rows will be like. A pivot costs a kernel value a row, and a product with those before
    /// it, whose values are computed again where the factor is not kept.
    fn stage(&self, rows: Either, cap: usize, hold: Hold) -> Stage {
        /// Flops of what is done with a row's products to make a kernel value of them, about.
        const FORMULA: usize = 30;
        let stored = match rows {
            Either::Double(rows) => rows.stored().len(),
            Either::Single(rows) => rows.n() * rows.p(),
        };
        let value = FORMULA + 2 * stored / rows.n();
        let head = match hold {
            Hold::Never => value * PENDING / (value + 2 * PENDING),
            _ => value / 2,
        };
        let open = matches!(self.method, Method::Kobl | Method::Sparse | Method::Csi);
        Stage { name: "choosing pivots", total: cap, done: 0, growth: Growth::Linear(head), open }
    }

    fn find_components(&self, gram: &Gram, rows: Either) -> Result<FittedBasis> {
        let n = gram.n();
        let keep = kpca::Keep { cap: self.n_components.map(|m| m.min(n)), share: self.tol };
        let mut warnings = Vec::new();
        let found = if Self::exact_kpca(n as u64) <= self.memory {
            kpca::exact(gram, keep, self.center, &self.monitor)?
        } else {
            let l = self.factor_columns(n);
            warnings.push(format!(
                "the kernel matrix of {n} rows does not fit into {}; its components come from an `rpcholesky` factor of \
                 at most {l} columns, and `residual` says what is left out",
                bytes(self.memory)
            ));
            kpca::from_factor(gram, keep, self.center, l, self.seed, &self.monitor)?
        };
        let mut fitted =
            self.assemble(gram, rows, found.pivots, found.coefficients, found.offset, found.stop);
        fitted.expansion.origin = found.origin;
        fitted.eigenvalues = Some(found.eigenvalues);
        fitted.residual = found.residual;
        fitted.warnings = warnings;
        Ok(fitted)
    }

    /// Puts a result together; `pivots` None means that every row is a landmark.
    fn assemble(
        &self,
        gram: &Gram,
        rows: Either,
        pivots: Option<Vec<usize>>,
        matrix: Mat<f64>,
        offset: Vec<f64>,
        stop: Stop,
    ) -> FittedBasis {
        let every: Vec<usize>;
        let indices = if let Some(pivots) = &pivots {
            pivots
        } else {
            every = (0..rows.n()).collect();
            &every
        };
        let landmarks = self.landmarks_at(rows, indices.clone());
        FittedBasis {
            method: self.method,
            expansion: Expansion { kernel: gram.kernel(), landmarks, matrix, offset, origin: None },
            pivots: pivots.unwrap_or_default(),
            pivot_norms: Vec::new(),
            eigenvalues: None,
            residual: 0.0,
            trace: diagonal_of(gram.kernel(), rows).iter().sum(),
            precision: Precision::Double,
            rounding_error: None,
            n_kernel_evaluations: gram.evaluations(),
            n_rows: rows.n(),
            stop,
            warnings: Vec::new(),
        }
    }

    /// The rows with these indices, as landmarks.
    fn landmarks_at(&self, rows: Either, indices: Vec<usize>) -> Landmarks {
        match self.shape {
            Shape::Precomputed => Landmarks::Columns { indices, n: rows.n() },
            _ => Landmarks::Rows(rows.select(&indices)),
        }
    }

    /// The kernel with its width as a number.
    pub(crate) fn resolve_kernel<'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
    ) -> Result<Kernel> {
        let rows = rows.into();
        let gamma = if self.gamma == Gamma::Loo && self.shape.uses_gamma() {
            loo::resolve(
                self.shape,
                rows,
                gamma::require_labels(self.gamma, labels)?,
                self.seed,
                &self.monitor,
            )?
        } else {
            gamma::resolve(self.gamma, self.shape, rows, labels, self.seed)?
        };
        let kernel = Kernel { shape: self.shape, gamma };
        kernel.check()?;
        Ok(kernel)
    }

    /// The most components among n rows.
    fn cap(&self, n: usize, warnings: &mut Vec<String>) -> usize {
        if let Some(m) = self.n_components {
            if m > n {
                warnings.push(format!(
                    "n_components = {m}, but there are only {n} rows to choose from; using {n}"
                ));
            }
            return m.min(n);
        }
        match self.method {
            Method::Nystrom | Method::Rpcholesky => n.min(DEFAULT_COMPONENTS),
            Method::GramSchmidt | Method::Kpca => n,
            _ if n <= UNCAPPED_ROWS => n,
            _ => {
                warnings.push(format!(
                    "{n} rows are more than {UNCAPPED_ROWS}: the basis is capped at {DEFAULT_COMPONENTS} components; \
                     set n_components to choose another size"
                ));
                DEFAULT_COMPONENTS
            }
        }
    }

    /// Whether its pivots come from passes over all rows, for which a factor need not be kept.
    fn is_pivoted(&self) -> bool {
        matches!(self.method, Method::Kobl | Method::Sparse | Method::Nystrom | Method::Rpcholesky)
    }

    /// The most components that a fit on n rows can have.
    pub(crate) fn most_components(&self, n: usize) -> usize {
        self.cap(n, &mut Vec::new())
    }

    /// What coordinates of rows in double precision will be in, unless the kernel's values leave the range of single.
    pub(crate) fn wanted(&self) -> Precision {
        self.precision.unwrap_or(Precision::Double)
    }
}

/// What the user should know of a fit in single precision.
fn about_rounding(rounded: &Rounded, fitted: &FittedBasis) -> Option<String> {
    const HINT: &str = "hint: use precision = `double`";
    if rounded.error > pivoted::ERROR {
        let error = rounded.error;
        return Some(format!("single precision left an error of {error:.1e} in the coordinates\n{HINT}"));
    }
    let (m, residual) = (fitted.n_components(), fitted.residual);
    (fitted.stop == Stop::Rank && rounded.ends_early).then(|| {
        format!(
            "single precision tells no more than {m} components apart, which leave {residual:.1e}\n{HINT}"
        )
    })
}

/// What a fit hands over beside the basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Nothing,
    /// Features in the basis' precision.
    Own,
    /// Features in double precision.
    Double,
}

impl Want {
    fn of(features: bool, double: bool) -> Self {
        match (features, double) {
            (false, _) => Self::Nothing,
            (true, false) => Self::Own,
            (true, true) => Self::Double,
        }
    }
}

impl FittedBasis {
    /// Number of components m.
    pub fn n_components(&self) -> usize {
        self.expansion.n_features()
    }

    /// E(M), eq. 19 of takes.txt: the mean distance of the rows' images from the span.
    pub fn reconstruction_cost(&self, rows: &Rows) -> Result<f64> {
        self.expansion.reconstruction_cost(rows, &Monitor::default())
    }

    /// ‖A K_ll Aᵀ − I‖, Frobenius. For a precomputed kernel, `rows` must be the training matrix; else it is not used.
    pub fn orthogonality_loss(&self, rows: Option<&Rows>) -> Result<f64> {
        self.expansion.orthogonality_loss(rows)
    }

    fn relative_residual(&self, rows: Either, monitor: &Monitor) -> Result<f64> {
        if self.expansion.origin.is_some() {
            return Ok(self.residual);
        }
        let diagonal = diagonal_of(self.expansion.kernel, rows);
        let residuals = self.expansion.residuals(rows, &diagonal, monitor)?;
        let trace: f64 = diagonal.iter().sum();
        Ok(if trace > 0.0 { residuals.iter().sum::<f64>() / trace } else { 0.0 })
    }
}
