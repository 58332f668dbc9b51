//! Systems: a basis and a selector under one name, which is all they are.
//!
//!   takes      kobl with the paper's stop rule + kffs, the features multiplied by their weights
//!   k-relief   kpca (beyond 5000 rows rpcholesky) + relief; the paper's basis is gram-schmidt
//!   sk-relief  sparse + relief
//!   eks        any basis + any selector
//!
//! Neighbours are sought in the kernel's space, differences are those of the basis' coordinates, and what is kept stays in
//! the basis' order.
//!
//! cost    n·l kernel values and 2·n·m·l flops for the coordinates, then the selector's; memory n·m numbers, in single
//!         precision where the basis was fitted in it
//! source  TAKES; SK-Relief; EKS
//! differs float32 coordinates are widened a few columns or rows at a time where they are scored; `irelief`, `laplacian` and
//!         `lasso` take a float64 copy. Neighbours of float32 rows are sought in a float64 copy of the rows, n·p numbers

use crate::basis::sparse::NU;
use crate::basis::{Basis, FittedBasis, Method, Threshold};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evidence::parameters::{N_QUERIES, NEIGHBOR_COUNT, NEIGHBORS};
use crate::extract::BASIS;
use crate::kernel::Shape;
use crate::map::{FeatureMap, Weighting};
use crate::options::Options;
use crate::select;
use crate::select::kffs::{REWEIGHT, THETA};
use crate::select::relief::POWER;
use crate::select::{Columns, Keep, Kffs, N_FEATURES, Relief, Scores, Selection, Selector};
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, SEED, Stage, Values};

const WEIGHTED: Parameter = Parameter::new(
    "weighted",
    Kind::FlagOr(&["sqrt"]),
    "whether features are multiplied by their weights, or their roots",
);

pub(crate) const TAKES: MethodSpec = MethodSpec {
    name: "takes",
    stage: Stage::System,
    file: "systems.rs",
    source: "TAKES",
    cost: "kobl, then n·m² votes",
    parameters: &[
        BASIS.none("kobl, with threshold = linear"),
        N_FEATURES.default("positive"),
        WEIGHTED.default("true"),
        REWEIGHT,
        THETA,
    ],
    help: "two-stage fast kernel feature selection: kobl and kffs, features multiplied by their weights",
};

pub(crate) const K_RELIEF: MethodSpec = MethodSpec {
    name: "k-relief",
    stage: Stage::System,
    file: "systems.rs",
    source: "K-Relief",
    cost: "kpca, then n² distances",
    parameters: &[
        BASIS.none("kpca; beyond 5000 rows rpcholesky"),
        N_FEATURES.default("cv"),
        NEIGHBOR_COUNT.default("1"),
        POWER,
        NEIGHBORS,
        N_QUERIES,
        WEIGHTED.default("false"),
        SEED,
    ],
    help: "kernel Relief: kpca and relief, the best coordinates as they are",
};

pub(crate) const SK_RELIEF: MethodSpec = MethodSpec {
    name: "sk-relief",
    stage: Stage::System,
    file: "systems.rs",
    source: "SK-Relief",
    cost: "sparse, then n² distances",
    parameters: &[
        BASIS.none("sparse"),
        N_FEATURES.default("cv"),
        NEIGHBOR_COUNT.default("1"),
        POWER,
        NEIGHBORS,
        N_QUERIES,
        WEIGHTED.default("false"),
        NU.default("0.01"),
        SEED,
    ],
    help: "sparse kernel Relief: sparse and relief, so few kernel values per prediction",
};

pub(crate) const EKS: MethodSpec = MethodSpec {
    name: "eks",
    stage: Stage::System,
    file: "systems.rs",
    source: "EKS, sec. 4",
    cost: "basis, then selector",
    parameters: &[
        BASIS.none("gram-schmidt; beyond 5000 rows rpcholesky"),
        Parameter::new("selector", Kind::Choice(&select::NAMES), "what scores the coordinates").default("f"),
        N_FEATURES.default("cv"),
        WEIGHTED.default("false"),
    ],
    help: "explicit kernel space: any basis and any selector",
};

/// Every system.
pub(crate) const ALL: [&MethodSpec; 4] = [&TAKES, &K_RELIEF, &SK_RELIEF, &EKS];

/// A selector and what becomes of its scores, for the coordinates of a basis.
///
/// ```
/// use mercer::{Basis, Kernel, System, data::{Labels, Task, synth}, select::Keep};
///
/// let table = synth::generate("ringnorm?n=200&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&table.rows)?;
/// let fitted = System::k_relief().keep(Keep::Count(5)).fit(&table.rows, &labels, basis)?;
/// assert_eq!(fitted.map.n_features(), 5);
/// assert!(fitted.map.feature_names[0].starts_with("kobl"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct System {
    /// Which of the four it is.
    spec: &'static MethodSpec,
    /// What scores the coordinates.
    pub selector: Selector,
    /// How many are kept.
    pub keep: Keep,
    /// Whether they are multiplied by their weights or the roots of them: `kffs`' scores, or what `relief` and `irelief` call
    /// weights. Other selectors have none.
    pub weighted: Weighting,
}

/// What a system found.
#[derive(Clone, Debug)]
pub struct FittedSystem {
    /// The map whose features are the coordinates kept.
    pub map: FeatureMap,
    /// Scores of all coordinates.
    pub scores: Scores,
    /// Which were selected, and the place of each.
    pub selection: Selection,
    /// What the user should know, about the basis too.
    pub warnings: Vec<String>,
}

impl System {
    /// `kffs`, all coordinates with a positive weight, multiplied by it.
    pub fn takes() -> Self {
        Self::new(&TAKES, |values| Kffs::from_values(values).into())
    }

    /// `relief` with the nearest hit and miss, as many of the best coordinates as cross-validated ridge asks for.
    pub fn k_relief() -> Self {
        Self::new(&K_RELIEF, |values| Relief::from_values(values).into())
    }

    /// `relief` on a basis of few landmarks, as many of the best coordinates as cross-validated ridge asks for.
    pub fn sk_relief() -> Self {
        Self::new(&SK_RELIEF, |values| Relief::from_values(values).into())
    }

    /// Any selector, as many of the best coordinates as cross-validated ridge asks for.
    pub fn eks(selector: impl Into<Selector>) -> Self {
        let selector = selector.into();
        Self::new(&EKS, |_| selector)
    }

    /// A system with the defaults of its spec.
    fn new(spec: &'static MethodSpec, selector: impl FnOnce(&Values) -> Selector) -> Self {
        let values = Values::defaults(spec);
        let (keep, weighted) = (Keep::from_values(&values), weighting(&values));
        Self { spec, selector: selector(&values), keep, weighted }
    }

    /// What a user should know about it.
    pub fn spec(&self) -> &'static MethodSpec {
        self.spec
    }

    /// `takes`, `k-relief`, `sk-relief` or `eks`.
    pub fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Sets how many coordinates are kept.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Sets whether features are multiplied by their weights: `true`, `false` or a [`Weighting`].
    ///
    /// ```
    /// use mercer::{Basis, Kernel, System, data::{Labels, Task, synth}, map::Weighting, select::Keep};
    ///
    /// let table = synth::generate("ringnorm?n=100&seed=1")?;
    /// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
    /// let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(9).fit(&table.rows)?;
    /// let plain = System::k_relief().keep(Keep::All).fit(&table.rows, &labels, basis.clone())?;
    /// let rooted = System::k_relief().keep(Keep::All).weighted(Weighting::SquareRoot).fit(&table.rows, &labels, basis)?;
    /// let (z, w) = (plain.map.transform(&table.rows)?, plain.scores.weights.unwrap());
    /// let features = rooted.map.transform(&table.rows)?;
    /// let product: f64 = (0..9).map(|j| features[(0, j)] * features[(1, j)]).sum();
    /// let weighted_kernel: f64 = (0..9).map(|j| w[j] * z[(0, j)] * z[(1, j)]).sum();
    /// assert!((product - weighted_kernel).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn weighted(mut self, weighted: impl Into<Weighting>) -> Self {
        self.weighted = weighted.into();
        self
    }

    /// The basis that the system comes with, for n rows.
    ///
    /// ```
    /// use mercer::{System, basis::Method};
    ///
    /// let mut warnings = Vec::new();
    /// assert_eq!(System::k_relief().default_basis(100, &mut warnings), Method::Kpca);
    /// assert!(warnings.is_empty());
    /// assert_eq!(System::k_relief().default_basis(9_000, &mut warnings), Method::Rpcholesky);
    /// assert!(warnings[0].starts_with("9000 rows are more than 5000"));
    /// ```
    pub fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Method {
        match self.name() {
            "takes" => Method::Kobl,
            "sk-relief" => Method::Sparse,
            "k-relief" => Method::Kpca.up_to_many_rows(n, self.name(), warnings),
            name => Method::GramSchmidt.up_to_many_rows(n, name, warnings),
        }
    }

    /// The settings of its basis: `takes` has the paper's stop rule, unless something else is said about where it ends.
    pub(crate) fn basis_settings(&self, basis: Basis) -> Basis {
        let open = basis.method == Method::Kobl && basis.ends_by_default();
        if self.name() == TAKES.name && open { basis.threshold(Threshold::Linear) } else { basis }
    }

    /// Scores the coordinates that a basis, fitted on these rows, gives them, and keeps the best. Only the selector
    /// `laplacian` does without labels.
    pub fn fit<'l>(
        &self,
        rows: &Rows,
        labels: impl Into<Option<&'l Labels>>,
        basis: FittedBasis,
    ) -> Result<FittedSystem> {
        self.fit_with(rows, labels.into(), basis, None, &Options::default())
    }

    /// [`fit`](Self::fit) with options, and with the rows' coordinates in the basis where the caller has them already.
    pub fn fit_with(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        basis: FittedBasis,
        coordinates: Option<&Rows>,
        options: &Options,
    ) -> Result<FittedSystem> {
        let scores = self.scores(rows, labels, &basis, coordinates, options)?;
        self.finish(basis, scores)
    }

    /// Scores of all coordinates.
    pub(crate) fn scores(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        basis: &FittedBasis,
        coordinates: Option<&Rows>,
        options: &Options,
    ) -> Result<Scores> {
        self.check(labels)?;
        let kernel = basis.expansion.kernel;
        if kernel.shape == Shape::Precomputed && rows.n() != rows.p() {
            return Err(Error::data(
                "a precomputed kernel must be the square matrix that the basis was fitted on",
            ));
        }
        basis.expansion.check(rows, None, 0)?;
        if let Some(given) = coordinates.filter(|z| (z.n(), z.p()) != (rows.n(), basis.n_components())) {
            return Err(Error::argument(format!(
                "coordinates {} × {} were given for {} rows in a basis of {}",
                given.n(),
                given.p(),
                rows.n(),
                basis.n_components()
            )));
        }
        let computed;
        let coordinates = if let Some(given) = coordinates {
            given
        } else {
            computed = basis.coordinates(rows, &options.monitor)?;
            &computed
        };
        let wide = self.selector.seeks_neighbours().then(|| rows.to_f64());
        let columns = Columns {
            rows: coordinates,
            labels,
            space: wide.as_deref().map(|rows| (kernel, rows)),
            categorical: &[],
            weights: options.weights.as_ref(),
            monitor: &options.monitor,
        };
        let mut scores = self.selector.score(&columns)?;
        if self.keep == Keep::CrossValidated {
            scores.best_count = self.selector.best_count(&columns)?;
        }
        Ok(scores)
    }

    /// An error unless the system can be fitted on such labels; `fit` asks too, but after the basis was fitted.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        self.check_settings()?;
        let name = if self.spec.has("selector") { self.selector.name() } else { self.name() };
        self.selector.needs().check(name, labels)
    }

    /// An error unless the settings make sense together.
    pub(crate) fn check_settings(&self) -> Result<()> {
        let name = self.selector.name();
        if self.weighted != Weighting::None && !self.selector.has_weights() {
            return Err(Error::argument(format!(
                "weighted = {}, but `{name}` gives scores and no weights; kffs, relief and irelief have weights\n\
                 hint: use weighted = false",
                self.weighted.name()
            )));
        }
        if self.selector.metric().is_some() {
            return Err(Error::argument(format!(
                "metric is given for `{name}`, but in `{}` neighbours are those of the kernel's space\n\
                 hint: leave it out; the kernel is the choice of a metric",
                self.name()
            )));
        }
        Ok(())
    }

    /// What every coordinate is multiplied by, if by anything.
    pub(crate) fn weights(&self, scores: &Scores) -> Option<Vec<f64>> {
        let weights = scores.weights.as_deref().unwrap_or(&scores.scores);
        let factor = |w: &f64| self.weighted.factor(*w);
        (self.weighted != Weighting::None).then(|| weights.iter().map(factor).collect())
    }

    /// The coordinates that are kept, and their weights. Where no coordinate is better than chance none has a weight, and they
    /// are kept as they are, with a warning: features that are 0 on every row serve nobody.
    pub(crate) fn select(&self, scores: &Scores, keep: Keep) -> (Selection, Option<Vec<f64>>) {
        let mut selection = scores.keep(keep);
        // That there are fewer than the default is no news.
        if keep == Keep::from_values(&Values::defaults(self.spec)) {
            selection.warnings.clear();
        }
        let helpless = keep == Keep::Positive && selection.columns.is_empty() && scores.chosen.is_none();
        if helpless {
            selection = scores.keep(Keep::All);
        }
        let of = |values: Vec<f64>| -> Vec<f64> { selection.columns.iter().map(|&j| values[j]).collect() };
        let mut weights = self.weights(scores).map(of);
        let idle = weights.iter().flatten().filter(|w| **w == 0.0).count();
        if helpless || (idle > 0 && idle == selection.columns.len()) {
            weights = None;
            selection.warnings.push(format!(
                "no coordinate separates the labels better than chance, by `{}`: {} are kept as they are, without weights",
                self.selector.name(),
                selection.columns.len()
            ));
        } else if idle > 0 {
            selection.warnings.push(format!(
                "{idle} of the {} features kept have the weight 0, so they are 0 on every row; \
                 weighted = false keeps them as they are",
                selection.columns.len()
            ));
        }
        (selection, weights)
    }

    /// The map of the coordinates kept, from the scores of all.
    pub(crate) fn finish(&self, basis: FittedBasis, scores: Scores) -> Result<FittedSystem> {
        let (selection, weights) = self.select(&scores, self.keep);
        let warnings = [&basis.warnings[..], &scores.warnings, &selection.warnings].concat();
        let basis = FeatureMap::from(basis);
        let kept = selection.columns.iter().map(|&j| scores.scores[j]).collect();
        let mut map =
            FeatureMap::from_columns(self.name(), basis, &selection.columns, weights.as_deref(), kept)?;
        map.facts.selector = Some(self.selector.name().into());
        map.facts.weighted = Some(if weights.is_some() { self.weighted } else { Weighting::None });
        map.facts.penalty = scores.penalty;
        map.facts.error_path.clone_from(&scores.error_path);
        map.warnings.clone_from(&warnings);
        Ok(FittedSystem { map, scores, selection, warnings })
    }
}

/// What the parameter `weighted` says.
pub(crate) fn weighting(values: &Values) -> Weighting {
    values.text("weighted").and_then(Weighting::named).unwrap_or_default()
}
