//! What a basis is to be: [`Basis`], its builders, and its settings read from text.

use super::kobl::Threshold;
use super::method::{DefaultSize, Method};
use super::points::Move;
use super::{DEFAULT_COMPONENTS, UNCAPPED_ROWS, kfa, loo};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::gamma::{Here, RowSample};
use crate::kernel::own::caught;
use crate::kernel::{Gamma, Kernel, Precision, Shape, gamma};
use crate::monitor::Monitor;
use crate::spec::{Kind, Parameter, Values};

/// The most components of a basis.
pub(crate) const N_COMPONENTS: Parameter = Parameter::new(
    "n_components",
    Kind::WholeOr { least: 1, words: &[RELEVANT] },
    "the most components; `relevant` keeps as many of the first as are relevant for the labels",
);

/// The size that the labels decide.
pub(crate) const RELEVANT: &str = "relevant";

/// What coordinates are computed in.
pub(crate) const PRECISION: Parameter = Parameter::new(
    "precision",
    crate::spec::Kind::Choice(&Precision::NAMES),
    "what the coordinates of all rows, and sums over them, are computed in; single (float32) takes half the memory and \
     less time",
)
.none("that of the rows: single for float32, else double");

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
    /// Whether a weight for every input column is learned first. A [`Pipeline`](crate::Pipeline) does it; a basis by itself
    /// takes the rows as they are.
    pub input_weights: bool,
    /// The most components; None: see [`UNCAPPED_ROWS`] and [`DEFAULT_COMPONENTS`].
    pub n_components: Option<usize>,
    /// `kobl`: the paper's stop rule. None: `tol` decides.
    pub threshold: Option<Threshold>,
    /// `kobl`, `sparse`: what is left of a row, relative to what varies, to stop at; `gram-schmidt`: residual norm to skip at;
    /// `kpca`: share of the trace to keep; `csi`: residual to stop at.
    pub tol: Option<f64>,
    /// `sparse`: how much of k(x,x) must be new, in [0, 1). None: `tol` decides.
    pub nu: Option<f64>,
    /// Keep only so many of the components, the first ones, as the left-out error of ridge on the labels asks for: where
    /// there are labels, at most [`UNCAPPED_ROWS`] rows and no `n_components`, and where the first components are the
    /// smaller basis. The number is the fewest that are kept.
    pub shrink: Option<usize>,
    /// Keep only the first components, as many as are relevant for the labels: `n_components` = `relevant`.
    pub relevant: bool,
    /// `kfa`: rows drawn for a pivot; None: all of them.
    pub candidates: Option<usize>,
    /// `kmeans`: move the centres so that their span serves the labels.
    pub moves: Option<Move>,
    /// Choose among these rows instead of the training rows.
    pub landmarks: Option<Rows<'static>>,
    /// `kpca`: centre in the kernel's space.
    pub center: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// What `kobl`, `sparse`, `nystrom`, `rpcholesky` and `kfa` compute all rows' coordinates in; None: that of the rows.
    pub precision: Option<Precision>,
    /// Relative rounding error of the kernel values: that of float64, unless they were precomputed in less.
    pub rounding: f64,
}

impl Basis {
    /// A basis with all other settings at their defaults.
    pub fn new(method: Method, kernel: Kernel) -> Self {
        let values = Values::defaults(method.spec());
        Self { gamma: Gamma::Value(kernel.gamma), ..Self::with_shape(method, kernel.shape, &values) }
    }

    /// A basis from its method's settings, which were checked.
    pub(crate) fn from_values(method: Method, values: &Values) -> Result<Self> {
        let shape = Shape::from_values(values)?;
        if let Some(Kernel { shape, gamma }) = shape.single() {
            return Ok(Self { gamma: Gamma::Value(gamma), ..Self::with_shape(method, shape, values) });
        }
        let basis = Self::with_shape(method, shape, values);
        Ok(Self { gamma: values.text("gamma").map_or(Ok(basis.gamma), str::parse)?, ..basis })
    }

    fn with_shape(method: Method, shape: Shape, values: &Values) -> Self {
        let words = |name: &str| values.text(name);
        Self {
            method,
            shape,
            gamma: Gamma::Unset,
            input_weights: values.flag("input_weights"),
            // Whatever is no number is `relevant`.
            n_components: words("n_components").and_then(|text| text.parse().ok()),
            // Texts were checked; where the method has no such parameter it does not look at it.
            threshold: words("threshold").and_then(|text| text.parse().ok()),
            tol: values.number("tol"),
            nu: values.number("nu"),
            shrink: None,
            relevant: words("n_components") == Some(RELEVANT),
            candidates: words("candidates")
                .and_then(|text| kfa::read(text).ok())
                .unwrap_or_else(kfa::default_candidates),
            moves: None,
            landmarks: None,
            center: values.flag("center"),
            seed: values.seed(),
            precision: words("precision").and_then(|name| Precision::named(name).ok()),
            rounding: f64::EPSILON,
        }
    }

    /// Rows in their order, orthogonalised twice.
    pub fn gram_schmidt(kernel: Kernel) -> Self {
        Self::new(Method::GramSchmidt, kernel)
    }

    /// Pivots by largest residual.
    pub fn kobl(kernel: Kernel) -> Self {
        Self::new(Method::Kobl, kernel)
    }

    /// Rows in random order that the ones before do not nearly span.
    pub fn sparse(kernel: Kernel) -> Self {
        Self::new(Method::Sparse, kernel)
    }

    /// Principal components.
    pub fn kpca(kernel: Kernel) -> Self {
        Self::new(Method::Kpca, kernel)
    }

    /// Rows drawn uniformly.
    pub fn nystrom(kernel: Kernel) -> Self {
        Self::new(Method::Nystrom, kernel)
    }

    /// Rows drawn in proportion to their squared distance from the span so far.
    pub fn rpcholesky(kernel: Kernel) -> Self {
        Self::new(Method::Rpcholesky, kernel)
    }

    /// Of a few rows drawn in proportion to their squared distance from the span, the one that explains most of the kernel.
    ///
    /// ```
    /// use mercer::{Basis, Kernel, data::synth};
    ///
    /// let table = synth::generate("ringnorm?n=300&seed=1")?;
    /// let residual = |basis: Basis| basis.n_components(40).fit(&table.rows).map(|fitted| fitted.residual);
    /// let kernel = Kernel::rbf(0.05);
    /// let best_of_ten = residual(Basis::kfa(kernel))?;
    /// let best_of_all = residual(Basis::kfa(kernel).candidates(None))?;
    /// assert!(best_of_all < best_of_ten && best_of_ten < residual(Basis::rpcholesky(kernel))?);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn kfa(kernel: Kernel) -> Self {
        Self::new(Method::Kfa, kernel)
    }

    /// Centres of k-means clusters.
    ///
    /// ```
    /// use mercer::basis::Landmarks;
    /// use mercer::{Basis, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 10.0, 12.0], 4, 1)?;
    /// let basis = Basis::kmeans(Kernel::rbf(0.1)).n_components(2).fit(&rows)?;
    /// let Landmarks::Rows(centres) = &basis.expansion.landmarks else { unreachable!() };
    /// let mut centres = centres.to_dense();
    /// centres.sort_by(f64::total_cmp);
    /// assert_eq!(centres, [0.5, 11.0]);
    /// assert!(basis.pivots.is_empty()); // The centres are no rows.
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn kmeans(kernel: Kernel) -> Self {
        Self::new(Method::Kmeans, kernel)
    }

    /// Rows that explain the kernel and the labels.
    pub fn csi(kernel: Kernel) -> Self {
        Self::new(Method::Csi, kernel)
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

    /// Sets whether a pipeline learns a weight for every input column first.
    pub fn input_weights(mut self, input_weights: bool) -> Self {
        self.input_weights = input_weights;
        self
    }

    /// Sets the paper's stop rule for `kobl`.
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the tolerance of `kobl`, `sparse`, `gram-schmidt`, `kpca` or `csi`.
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = Some(tol);
        self
    }

    /// Sets how much of k(x,x) must be new for `sparse` to keep a row.
    pub fn nu(mut self, nu: f64) -> Self {
        self.nu = Some(nu);
        self
    }

    /// Keeps only so many components as the left-out error asks for, at least these.
    pub fn shrink(mut self, fewest: usize) -> Self {
        self.shrink = Some(fewest);
        self
    }

    /// Keeps only the first components, as many as are relevant for the labels.
    ///
    /// ```
    /// use mercer::{Basis, Kernel, data::{Labels, Task, synth}};
    ///
    /// let table = synth::generate("ringnorm?n=200&seed=1")?;
    /// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
    /// let basis = Basis::kpca(Kernel::rbf(0.01));
    /// let all = basis.clone().fit_supervised(&table.rows, &labels)?;
    /// let relevant = basis.relevant().fit_supervised(&table.rows, &labels)?;
    /// assert!(relevant.n_components() < all.n_components() / 2);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn relevant(mut self) -> Self {
        self.relevant = true;
        self
    }

    /// Sets how many rows `kfa` draws for a pivot; None: it compares all rows.
    pub fn candidates(mut self, candidates: Option<usize>) -> Self {
        self.candidates = candidates;
        self
    }

    /// Moves the centres of `kmeans` so that their span serves the labels.
    ///
    /// ```
    /// use mercer::{Basis, Kernel, basis::{criterion::Criterion, points::Move}, data::{Labels, Task, synth}};
    ///
    /// let table = synth::generate("ringnorm?n=200&seed=1")?;
    /// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
    /// let moves = Move { criterion: Criterion::Alignment, center: false, reg: 0.1, max_iter: 20, tol: 1e-6 };
    /// let basis = Basis::kmeans(Kernel::rbf(0.05)).n_components(3).moves(moves);
    /// assert_eq!(basis.fit_supervised(&table.rows, &labels)?.n_components(), 3);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn moves(mut self, moves: Move) -> Self {
        self.moves = Some(moves);
        self
    }

    /// Chooses among these rows instead of the training rows.
    pub fn landmarks(mut self, landmarks: Rows<'static>) -> Self {
        self.landmarks = Some(landmarks);
        self
    }

    /// Sets whether `kpca` centres in the kernel's space.
    pub fn center(mut self, center: bool) -> Self {
        self.center = center;
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

    /// Sets the relative rounding error of precomputed kernel values.
    pub fn rounding(mut self, rounding: f64) -> Self {
        self.rounding = rounding;
        self
    }

    /// Whether nothing was said about where `kobl` ends.
    pub(crate) fn ends_by_default(&self) -> bool {
        self.threshold.is_none() && self.tol.is_none_or(|tol| tol == super::kobl::default_tol())
    }

    /// Whether its stop rule holds what is left of a row against k(x,x), and so ends it early where the kernel is wide.
    pub(crate) fn ends_early_where_wide(&self) -> bool {
        match self.method {
            Method::Kobl => self.threshold.as_ref().is_some_and(|threshold| threshold.at(1.0) > 0.0),
            Method::Sparse => self.nu.is_some(),
            _ => false,
        }
    }

    /// The kernel with its width as a number, as a fit on these rows would have it.
    ///
    /// ```
    /// use mercer::{Basis, Gamma, Kernel, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 2.0], 2, 1)?; // variance 1
    /// let basis = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Scale);
    /// assert_eq!(basis.resolve_kernel(&rows, None, &Monitor::default())?.gamma, 1.0);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn resolve_kernel(&self, rows: &Rows, labels: Option<&Labels>, monitor: &Monitor) -> Result<Kernel> {
        caught(|| self.resolve_kernel_of(&Here { rows, labels, weights: None }, monitor))
    }

    /// [`resolve_kernel`](Self::resolve_kernel) for rows wherever they lie.
    pub(crate) fn resolve_kernel_of(&self, rows: &dyn RowSample, monitor: &Monitor) -> Result<Kernel> {
        let rule = self.gamma.or_usual_of(rows);
        let (shape, rule) = gamma::in_units(rule, self.shape, rows, self.seed)?;
        let gamma = if rule == Gamma::Loo && shape.uses_gamma() {
            loo::resolve(shape, self, rows, monitor)?
        } else {
            gamma::resolve(rule, shape, rows, self.seed)?
        };
        let kernel = Kernel { shape, gamma }.settled();
        kernel.check()?;
        Ok(kernel)
    }

    /// The most components among n rows.
    pub(crate) fn cap(&self, n: usize, warnings: &mut Vec<String>) -> usize {
        if let Some(m) = self.n_components {
            if m > n {
                warnings.push(format!(
                    "n_components = {m}, but there are only {n} rows to choose from; using {n}"
                ));
            }
            return m.min(n);
        }
        match self.method.default_size() {
            DefaultSize::Fixed => n.min(DEFAULT_COMPONENTS),
            DefaultSize::All => n,
            DefaultSize::Rule if n <= UNCAPPED_ROWS => n,
            DefaultSize::Rule => {
                warnings.push(format!(
                    "{n} rows are more than {UNCAPPED_ROWS}: the basis is capped at {DEFAULT_COMPONENTS} components; \
                     set n_components to choose another size"
                ));
                DEFAULT_COMPONENTS
            }
        }
    }

    /// The most components that a fit on n rows can have.
    pub(crate) fn most_components(&self, n: usize) -> usize {
        self.cap(n, &mut Vec::new())
    }

    /// What coordinates of float64 rows will be in, unless the kernel's values leave the range of float32.
    pub(crate) fn usual_precision(&self) -> Precision {
        self.precision.unwrap_or(Precision::Double)
    }

    /// The relative rounding error of kernel values of these rows, before anything is computed in float32.
    pub(super) fn rounding_of(&self, rows: &Rows) -> f64 {
        match (rows.precision(), self.shape) {
            // Such values are positive semi-definite only as far as float32 goes.
            (Precision::Single, Shape::Precomputed) => self.rounding.max(f64::from(f32::EPSILON)),
            _ => self.rounding,
        }
    }
}
