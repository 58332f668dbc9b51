//! A method from rows to a map: what the command line, Python, comparisons and advice all run.
//!
//!   rows → [`Pipeline::basis`] → [`Basis::fit_with`] → `Head::find` → [`FittedPipeline`]
//!
//! [`Pipeline::fit`] does all of it. A comparison fits the basis once for all methods that share it, and calls the same
//! steps one by one.

mod columns;

pub use columns::{ColumnSelection, FittedColumns};

use crate::basis::{Basis, FittedBasis, Method, Precision};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::weights::{Weights, refuse};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::extract::{Coordinates, Directions, Extractor, Queries, SUM_ROWS, are_few, keeps_features};
use crate::kernel::Shape;
use crate::linalg::waiting;
use crate::map::FeatureMap;
use crate::methods::{self, MethodSpec, Stage};
use crate::options::{Options, bytes, raise_budget};
use crate::select::input_weights::{FoundWeights, InputWeights};
use crate::select::kffs::votes::table_bytes;
use crate::select::{Keep, Scores, Selection};
use crate::spec::{Parameter, Values, parameters_of};
use crate::systems::{System, weighting};

/// A method with its settings, checked: a basis, and what is made of its coordinates.
///
/// ```
/// use mercer::{Options, Pipeline, data::{Labels, Task, synth}};
///
/// let table = synth::generate("ringnorm?n=200&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let pipeline = Pipeline::new("gda", &[("basis", "kobl"), ("gamma", "0.05")])?;
/// let fitted = pipeline.fit(&table.rows, Some(&labels), &Options::default())?;
/// assert_eq!(fitted.map.feature_names, ["gda0"]);
/// assert_eq!(fitted.basis.method.name(), "kobl");
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// Without names and text, from typed settings:
///
/// ```
/// use mercer::{Basis, Kernel, Klfe, Options, Pipeline, Rows, Labels};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let klfe = Klfe { n_neighbors: 1, ..Klfe::default() };
/// let pipeline = Pipeline::extract(klfe).on(Basis::kobl(Kernel::linear()));
/// let fitted = pipeline.fit(&rows, Some(&labels), &Options::default())?;
/// assert!((fitted.map.eigenvalues[0] - 46.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// What a user should know about the method.
    pub spec: &'static MethodSpec,
    /// What is made of the basis' coordinates.
    pub head: Head,
    /// The settings that were given as text, for the record.
    pub settings: Vec<(String, String)>,
    basis: BasisChoice,
}

/// What a method does with the coordinates of its basis.
#[derive(Clone, Debug)]
pub enum Head {
    /// Nothing: they are its features.
    Coordinates,
    /// It keeps some.
    Select(System),
    /// It mixes them.
    Extract(Extractor),
}

/// The basis of a pipeline.
#[derive(Clone, Debug)]
enum BasisChoice {
    /// This one.
    Given(Box<Basis>),
    /// The one that the method comes with; how many rows there are may decide between two.
    OfMethod(Vec<PossibleBasis>),
}

/// A basis that may be chosen, and why its settings are refused, if they are.
#[derive(Clone, Debug)]
struct PossibleBasis {
    basis: Basis,
    refused: Option<String>,
}

/// What a pipeline found.
#[derive(Clone, Debug)]
pub struct FittedPipeline {
    /// The map from rows to features.
    pub map: FeatureMap,
    /// The basis that the features are made from.
    pub basis: FittedBasis,
    /// The training rows' coordinates in the basis, where the options ask for them.
    pub coordinates: Option<Rows<'static>>,
    /// What was made of the coordinates.
    pub found: Found,
    /// Weights of the input columns, where they were learned. They are in the map's scaling; the basis and the landmarks are
    /// those of weighted rows.
    pub weights: Option<FoundWeights>,
    /// What the user should know, about the basis too.
    pub warnings: Vec<String>,
}

/// What a head found in a basis' coordinates.
#[derive(Clone, Debug)]
pub enum Found {
    /// The coordinates are the features.
    Coordinates,
    /// Scores of all coordinates, and which were selected.
    Selected(Scores, Selection),
    /// Directions.
    Directions(Directions),
}

impl FittedPipeline {
    /// The features, best first: by their ranking where some were selected.
    pub fn best(&self) -> Vec<usize> {
        let mut best: Vec<usize> = (0..self.map.n_features()).collect();
        if let Found::Selected(_, selection) = &self.found {
            best.sort_by_key(|&at| selection.ranking[selection.columns[at]]);
        }
        best
    }
}

impl Pipeline {
    /// A method by its name, with its settings as text: its own, its basis' and, with `eks`, its selector's together. All are
    /// checked and read here, and nowhere else.
    ///
    /// `n_components` of an extractor is the number of features, and the size of its basis is `basis_components`. Of other
    /// parameters that both have the extractor's counts, and the seed is for both.
    pub fn new<S: AsRef<str>>(method: &str, settings: &[(S, S)]) -> Result<Self> {
        let spec = methods::method(method)?;
        methods::check_names(settings)?;
        let given = |name: &str| settings.iter().find(|(n, _)| n.as_ref() == name).map(|(_, v)| v.as_ref());
        let pipeline = match spec.stage {
            Stage::Basis => {
                let basis = methods::basis(method, settings)?;
                Self::of_basis(basis)
            }
            Stage::Select => return Err(not_a_pipeline(spec)),
            Stage::System => {
                let (selector, build) = methods::selector_entry(selector_name(spec, given("selector")))?;
                let own: Vec<&'static MethodSpec> =
                    if spec.has("selector") { vec![spec, selector] } else { vec![spec] };
                let default = |n: usize| plain_system(spec).default_basis(n, &mut Vec::new());
                let (values, basis) = read(&own, settings, given("basis"), default)?;
                if let (Some(nu), Some(basis)) = (given("nu"), given("basis"))
                    && basis != Method::Sparse.name()
                {
                    return Err(Error::argument(format!(
                        "nu = {nu} is for the basis `sparse`, but basis = {basis}\nhint: leave one of them out"
                    )));
                }
                let mut system =
                    plain_system(spec).keep(Keep::from_values(&values)).weighted(weighting(&values));
                system.selector = build(&values);
                system.check_settings()?;
                Self { spec, head: Head::Select(system), settings: Vec::new(), basis }
            }
            Stage::Extract => {
                let (_, build) = methods::extractor_entry(method)?;
                // The basis that it comes with may depend on its own settings, as that of `skfe` does on points.
                let own: Vec<(&str, &str)> = settings
                    .iter()
                    .map(|(name, value)| (name.as_ref(), value.as_ref()))
                    .filter(|(name, _)| spec.has(name))
                    .collect();
                let plain = build(&Values::new(&[spec], &own)?);
                let default = |n: usize| plain.default_basis(n, &mut Vec::new());
                let (values, basis) = read(&[spec], settings, given("basis"), default)?;
                let extractor = build(&values).with_queries(Queries::from_values(&values));
                Self { spec, head: Head::Extract(extractor), settings: Vec::new(), basis }
            }
        };
        let text = |(name, value): &(S, S)| (name.as_ref().to_string(), value.as_ref().to_string());
        Ok(Self { settings: settings.iter().map(text).collect(), ..pipeline })
    }

    /// The bare coordinates of a basis.
    pub fn of_basis(basis: Basis) -> Self {
        Self {
            spec: basis.method.spec(),
            head: Head::Coordinates,
            settings: Vec::new(),
            basis: BasisChoice::Given(Box::new(basis)),
        }
    }

    /// An extractor on the basis that it comes with, with default settings.
    pub fn extract(extractor: impl Into<Extractor>) -> Self {
        let extractor = extractor.into();
        let basis = BasisChoice::defaults(|n| extractor.default_basis(n, &mut Vec::new()));
        Self { spec: extractor.spec(), head: Head::Extract(extractor), settings: Vec::new(), basis }
    }

    /// A system on the basis that it comes with, with default settings.
    pub fn select(system: System) -> Self {
        let basis = BasisChoice::defaults(|n| system.default_basis(n, &mut Vec::new()));
        Self { spec: system.spec(), head: Head::Select(system), settings: Vec::new(), basis }
    }

    /// This pipeline on another basis.
    pub fn on(mut self, basis: Basis) -> Self {
        self.basis = BasisChoice::Given(Box::new(basis));
        self
    }

    /// Changes the settings of the basis, whichever it will be.
    pub(crate) fn change_basis(mut self, change: impl Fn(&mut Basis)) -> Self {
        match &mut self.basis {
            BasisChoice::Given(basis) => change(basis),
            BasisChoice::OfMethod(possible) => possible.iter_mut().for_each(|p| change(&mut p.basis)),
        }
        self
    }

    /// This pipeline with another number of features; None where there is no choice.
    pub(crate) fn sized(&self, q: usize) -> Option<Self> {
        let head = match &self.head {
            Head::Coordinates => {
                return Some(self.clone().change_basis(|basis| basis.n_components = Some(q)));
            }
            Head::Select(system) => Head::Select(system.clone().keep(Keep::Count(q))),
            Head::Extract(extractor) => Head::Extract(extractor.sized(q)?),
        };
        Some(Self { head, ..self.clone() })
    }

    /// What it needs to know of the labels; its basis may need more ([`check`](Self::check) asks the method alone).
    pub fn needs(&self) -> Needs {
        match &self.head {
            Head::Coordinates => Needs::Nothing,
            Head::Select(system) => system.selector.needs(),
            Head::Extract(extractor) => extractor.needs(),
        }
    }

    /// An error unless such labels will do.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        match &self.head {
            Head::Coordinates => Ok(()),
            Head::Select(system) => system.check(labels),
            Head::Extract(extractor) => extractor.check(labels),
        }
    }

    /// The basis to fit on these rows.
    pub fn basis(&self, rows: &Rows, labels: Option<&Labels>, warnings: &mut Vec<String>) -> Result<Basis> {
        self.basis_by(rows, labels, None, warnings)
    }

    /// [`basis`](Self::basis) by what each row counts.
    pub fn basis_by(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        weights: Option<&Weights>,
        warnings: &mut Vec<String>,
    ) -> Result<Basis> {
        let settings = self.basis_for(rows.n(), warnings)?;
        match &self.head {
            Head::Coordinates | Head::Select(_) => Ok(settings),
            Head::Extract(extractor) => {
                let mut basis = extractor.basis_by(settings, rows, labels, weights)?;
                // Weighted components are found among all coordinates, which a `kpca` basis has of all rows.
                if weights.is_some() && basis.method == Method::Kpca {
                    basis.n_components = None;
                }
                Ok(basis)
            }
        }
    }

    /// An error, naming the method, where rows cannot count differently.
    fn check_weights(&self, weights: &Weights, n: usize, basis: &Basis) -> Result<()> {
        let instead =
            "leave them out, or use a method that takes them: `gda`, `kpls`, `koc`, `kpca`, `skfe`, `takes`";
        match &self.head {
            Head::Extract(extractor) if !extractor.takes_weights() => {
                return refuse(Some(weights), extractor.name(), instead);
            }
            Head::Select(system) if !system.selector.takes_weights() => {
                return refuse(Some(weights), system.selector.name(), instead);
            }
            Head::Coordinates if basis.method == Method::Kpca => {
                return refuse(Some(weights), "kpca", "use the extractor `kpca`, which takes them");
            }
            _ => {}
        }
        basis.check_weights(weights, n)
    }

    /// The basis for n rows, before it has seen any of them.
    pub(crate) fn basis_for(&self, n: usize, warnings: &mut Vec<String>) -> Result<Basis> {
        let basis = match &self.basis {
            BasisChoice::Given(basis) => Basis::clone(basis),
            BasisChoice::OfMethod(possible) => {
                let method = self.head.default_basis(n, warnings).unwrap_or(possible[0].basis.method);
                let chosen = possible.iter().find(|p| p.basis.method == method).unwrap_or(&possible[0]);
                if let Some(why) = &chosen.refused {
                    return Err(Error::argument(why.clone()));
                }
                self.head.default_settings(chosen.basis.clone())
            }
        };
        Ok(match &self.head {
            Head::Select(system) => system.basis_settings(basis),
            Head::Coordinates | Head::Extract(_) => basis,
        })
    }

    /// Parameters that the method has with these settings: its own, its selector's and its basis'.
    ///
    /// ```
    /// use mercer::Pipeline;
    ///
    /// let names: Vec<&str> = Pipeline::parameters("gda", Some("sparse"), None)?.iter().map(|p| p.name).collect();
    /// assert!(names.contains(&"reg") && names.contains(&"nu") && !names.contains(&"threshold"));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn parameters(
        method: &str,
        basis: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<&'static Parameter>> {
        let spec = methods::method(method)?;
        let mut specs = vec![spec];
        let default: Box<dyn Fn(usize) -> Method> = match spec.stage {
            Stage::Basis => return Ok(parameters_of(&specs)),
            Stage::Select => return Err(not_a_pipeline(spec)),
            Stage::System => {
                if spec.has("selector") {
                    specs.push(methods::selector_entry(selector_name(spec, selector))?.0);
                }
                Box::new(|n| plain_system(spec).default_basis(n, &mut Vec::new()))
            }
            Stage::Extract if !spec.has("basis") => return Ok(parameters_of(&specs)),
            Stage::Extract => {
                let plain = methods::extractor_entry(method)?.1(&Values::defaults(spec));
                Box::new(move |n| plain.default_basis(n, &mut Vec::new()))
            }
        };
        specs.extend(possible_methods(basis, default)?.into_iter().map(Method::spec));
        Ok(parameters_of(&specs))
    }

    /// The method and its basis, in words.
    pub fn title(&self, basis: &Basis) -> String {
        let (method, name) = (self.spec.name, basis.method.name());
        match &self.head {
            Head::Coordinates => format!("`{name}`"),
            Head::Select(system) => format!("`{method}` (`{name}`, then `{}`)", system.selector.name()),
            Head::Extract(_) if !self.spec.has("basis") => {
                format!("`{method}` in the coordinates of the class means")
            }
            Head::Extract(_) => format!("`{method}` in the coordinates of `{name}`"),
        }
    }

    /// Fits: the basis, then what is made of its coordinates, which are handed on where memory allows.
    pub fn fit(&self, rows: &Rows, labels: Option<&Labels>, options: &Options) -> Result<FittedPipeline> {
        if let Some(weights) = &options.weights {
            self.check(labels)?;
            self.check_weights(weights, rows.n(), &self.basis_for(rows.n(), &mut Vec::new())?)?;
            if let Some(present) = weights.present() {
                return self.fit_present(rows, labels, &present, options);
            }
        }
        options.run(|| {
            self.check(labels)?;
            let mut warnings = Vec::new();
            let settings = self.basis_for(rows.n(), &mut Vec::new())?;
            let weights = input_weights(&settings, rows, labels, options)?;
            let scaling = weights.as_ref().map(|found| Scaling::of_factors(found.weights.clone()));
            let weighted = scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose()?;
            let rows = weighted.as_ref().unwrap_or(rows);
            let basis = self.basis_by(rows, labels, options.weights.as_ref(), &mut warnings)?;
            let placed = basis.placed(rows, options)?;
            let rows = placed.as_ref().unwrap_or(rows);
            let options = &Options { device: rows.device(), ..options.clone() };
            self.check_memory(&basis, rows.n(), options)?;
            self.check_class_memory(&basis, rows.n(), labels, options)?;
            let keep = options.coordinates || self.hands_on_coordinates(&basis, rows.n(), options);
            let own = Options { coordinates: keep, threads: None, ..options.clone() };
            let (fitted, coordinates) = basis.fit_with(rows, labels, &own)?;
            let mut fitted = self.finish(rows, labels, fitted, coordinates, &own)?;
            if !options.coordinates {
                fitted.coordinates = None;
            }
            (fitted.map.scaling, fitted.weights) = (scaling, weights);
            fitted.warnings.splice(0..0, warnings);
            fitted.map.warnings.clone_from(&fitted.warnings);
            Ok(fitted)
        })
    }

    /// Fits on the rows whose weight is above 0.
    fn fit_present(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        present: &[usize],
        options: &Options,
    ) -> Result<FittedPipeline> {
        if self.basis_for(rows.n(), &mut Vec::new())?.shape == Shape::Precomputed {
            return Err(Error::data(
                "some weights are 0, but the columns of a precomputed kernel are all training rows\n\
                 hint: leave these rows and their columns out of the matrix",
            ));
        }
        let labels = labels.map(|labels| labels.select(present));
        let weights = options.weights.as_ref().map(|weights| weights.select(present));
        let options = Options { weights, ..options.clone() };
        let mut fitted = self.fit(&rows.select(present), labels.as_ref(), &options)?;
        fitted.basis.renumber(present, rows.n());
        fitted.map.renumber(present, rows.n());
        Ok(fitted)
    }

    /// The map from a basis that was fitted on these rows; `coordinates` are theirs in it, where the caller has them already.
    pub fn finish(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        basis: FittedBasis,
        coordinates: Option<Rows<'static>>,
        options: &Options,
    ) -> Result<FittedPipeline> {
        let (map, found) = match &self.head {
            Head::Coordinates => (FeatureMap::from(basis.clone()), Found::Coordinates),
            Head::Select(system) => {
                let found = system.fit_with(rows, labels, basis.clone(), coordinates.as_ref(), options)?;
                (found.map, Found::Selected(found.scores, found.selection))
            }
            Head::Extract(extractor) => {
                let (map, directions) =
                    extractor.fit(rows, labels, basis.clone(), coordinates.as_ref(), options)?;
                (map, Found::Directions(directions))
            }
        };
        let warnings = map.warnings.clone();
        Ok(FittedPipeline { map, basis, coordinates, found, weights: None, warnings })
    }

    /// Whether the rows' coordinates are handed on from the basis to its head, where they would be recomputed otherwise.
    fn hands_on_coordinates(&self, basis: &Basis, n: usize, options: &Options) -> bool {
        let m = basis.most_components(n) as u64;
        // Those on a GPU take none of this memory.
        let there = options.device != Device::Cpu;
        let coordinates = if there { 0 } else { basis.usual_precision().bytes() * n as u64 * m };
        match &self.head {
            Head::Coordinates => false,
            // A system keeps them in any case.
            Head::Select(_) => true,
            Head::Extract(_) if options.checkpoint.is_some() => false,
            // Those of a few rows and their neighbours are found faster than all are kept.
            Head::Extract(extractor) if extractor.queries.n_queries.is_some_and(|q| are_few(q, n)) => false,
            Head::Extract(_) => self.head_memory(basis, n, options) + coordinates <= options.memory,
        }
    }

    /// Bytes that the whole fit on n rows may need beside them: the basis', then those of what is made of its coordinates,
    /// which are kept where pairs of rows or columns are looked at. With `precision` = single a coordinate takes 4 bytes in
    /// place of 8.
    ///
    /// ```
    /// use mercer::{Options, Pipeline, data::synth};
    ///
    /// let rows = synth::generate("ringnorm?n=1000")?.rows;
    /// let settings = [("basis", "kobl"), ("basis_components", "100")];
    /// let options = Options::default();
    /// let needed = |method: &str| {
    ///     let pipeline = Pipeline::new(method, &settings)?;
    ///     let basis = pipeline.basis(&rows, None, &mut Vec::new())?;
    ///     Ok::<u64, mercer::Error>(pipeline.estimated_memory(&basis, rows.n(), &options))
    /// };
    /// assert!(needed("gda")? < needed("klfe")?); // which keeps 1000 × 100 coordinates
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn estimated_memory(&self, basis: &Basis, n: usize, options: &Options) -> u64 {
        let chosen_from = basis.landmarks.as_ref().map_or(n, Rows::n);
        basis.estimated_memory(chosen_from, options).max(self.head_memory(basis, n, options))
    }

    /// Bytes that what is made of the coordinates needs, the fitted basis included.
    fn head_memory(&self, basis: &Basis, n: usize, options: &Options) -> u64 {
        let chosen_from = basis.landmarks.as_ref().map_or(n, Rows::n);
        let m = basis.most_components(chosen_from) as u64;
        let landmarks = if basis.method == Method::Kpca { chosen_from as u64 } else { m };
        let precision = basis.usual_precision();
        let (basis_itself, coordinates) = (8 * m * landmarks, precision.bytes() * n as u64 * m);
        // Extractors look at coordinates on a GPU where they lie.
        let extracts_there = options.device != Device::Cpu && matches!(self.head, Head::Extract(_));
        let coordinates = if extracts_there { 0 } else { coordinates };
        match &self.head {
            Head::Coordinates => 0,
            Head::Select(system) if precision == Precision::Single && system.selector.widens() => {
                basis_itself + coordinates + 8 * n as u64 * m
            }
            Head::Select(_) => basis_itself + coordinates,
            Head::Extract(extractor) => {
                // Sums over the rows, those that wait for their turn, and the solver's copies, as measured.
                let parts = waiting(n.div_ceil(SUM_ROWS), 8 * (m * m) as usize) as u64;
                let recomputed = 8 * m * m * (14 + 2 * parts);
                let kept = 2 * coordinates + 8 * m * m * (10 + parts);
                let keeps = keeps_features(n, m as usize, precision, options.memory);
                basis_itself
                    + match extractor.keeps_coordinates() {
                        true if keeps => kept,
                        true => kept.min(recomputed),
                        false => recomputed,
                    }
            }
        }
    }

    /// An error with the estimate unless what is kept of every class keeps to the budget.
    fn check_class_memory(
        &self,
        basis: &Basis,
        n: usize,
        labels: Option<&Labels>,
        options: &Options,
    ) -> Result<()> {
        let Some(c) = labels.and_then(Labels::n_classes) else { return Ok(()) };
        let m = basis.most_components(basis.landmarks.as_ref().map_or(n, Rows::n));
        let needed = match &self.head {
            Head::Select(system) if system.selector.name() == "kffs" => table_bytes(n, c),
            // Sums over rows of their coordinates and classes, and as many that wait for their turn; those that look at pairs of
            // rows have none of the classes.
            Head::Extract(extractor)
                if extractor.needs() != Needs::Nothing && !extractor.keeps_coordinates() =>
            {
                let sums = 8 * (c as u64).saturating_mul((2 * m + c) as u64);
                sums.saturating_mul(1 + waiting(n.div_ceil(SUM_ROWS), 8 * (m + c) * (m + c)) as u64)
            }
            _ => 0,
        };
        if needed <= options.memory {
            return Ok(());
        }
        Err(Error::Memory(format!(
            "{} with {c} classes of {n} rows needs {}, but the budget is {}\n\
             hint: merge classes or leave out those with few rows, or {}",
            self.title(basis),
            bytes(needed),
            bytes(options.memory),
            raise_budget(options.memory)
        )))
    }

    /// An error with the estimate unless a fit on n rows keeps to the budget.
    pub fn check_memory(&self, basis: &Basis, n: usize, options: &Options) -> Result<()> {
        let chosen_from = basis.landmarks.as_ref().map_or(n, Rows::n);
        let own = Options { coordinates: false, ..options.clone() };
        basis.check_memory(chosen_from, &own)?;
        let needed = self.estimated_memory(basis, n, &own);
        if needed <= options.memory {
            return Ok(());
        }
        let size = if matches!(self.head, Head::Extract(_)) { "basis_components" } else { "n_components" };
        Err(Error::Memory(format!(
            "{} with up to {} coordinates of {n} rows needs {}, but the budget is {}\n\
             hint: lower {size}, or {}",
            self.title(basis),
            basis.most_components(chosen_from),
            bytes(needed),
            bytes(options.memory),
            raise_budget(options.memory)
        )))
    }
}

impl Head {
    /// The basis that it comes with, for n rows; None where it is the basis itself.
    pub fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Option<Method> {
        match self {
            Self::Coordinates => None,
            Self::Select(system) => Some(system.default_basis(n, warnings)),
            Self::Extract(extractor) => Some(extractor.default_basis(n, warnings)),
        }
    }

    /// The settings of the basis that it comes with.
    pub fn default_settings(&self, basis: Basis) -> Basis {
        match self {
            Self::Extract(extractor) => extractor.default_settings(basis),
            Self::Coordinates | Self::Select(_) => basis,
        }
    }

    /// Scores or directions, from a basis that was fitted on these rows; `coordinates` are theirs in it.
    pub(crate) fn find(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        basis: &FittedBasis,
        coordinates: &Rows,
        options: &Options,
    ) -> Result<Found> {
        Ok(match self {
            Self::Coordinates => Found::Coordinates,
            Self::Select(system) => {
                let scores = system.scores(rows, labels, basis, Some(coordinates), options)?;
                let (selection, _) = system.select(&scores, system.keep);
                Found::Selected(scores, selection)
            }
            Self::Extract(extractor) => {
                let seen = Coordinates::new(rows, labels, basis, Some(coordinates), options)?;
                Found::Directions(extractor.directions(seen)?)
            }
        })
    }
}

impl BasisChoice {
    /// The bases that a method comes with, with default settings.
    fn defaults(default: impl Fn(usize) -> Method) -> Self {
        let settings: [(&str, &str); 0] = [];
        let possible = [1, usize::MAX].map(|n| {
            let method = default(n);
            let basis = methods::basis(method.name(), &settings).unwrap_or_else(|e| unreachable!("{e}"));
            PossibleBasis { basis, refused: None }
        });
        Self::OfMethod(possible.into())
    }
}

/// The settings of a method and its parts, and the basis that they ask for.
fn read<'a, S: AsRef<str>>(
    own: &[&'static MethodSpec],
    settings: &'a [(S, S)],
    basis: Option<&str>,
    default: impl Fn(usize) -> Method,
) -> Result<(Values<'a>, BasisChoice)> {
    let spec = own[0];
    if !spec.has("basis") {
        // The kernel's parameters are the method's own.
        let values = Values::new(own, settings)?;
        let basis = Basis::from_values(default(1), &values)?;
        return Ok((values, BasisChoice::Given(Box::new(basis))));
    }
    if let (Some(name), Some(parameter)) = (basis, spec.parameter("basis")) {
        parameter.check(name)?;
    }
    let possible = possible_methods(basis, default)?;
    let specs = [own, &possible.iter().map(|method| method.spec()).collect::<Vec<_>>()].concat();
    let values = Values::new(&specs, settings)?;
    let choices = possible.into_iter().map(|method| possible_basis(own, method, settings));
    let mut choices: Vec<PossibleBasis> = choices.collect::<Result<_>>()?;
    let choice = match (basis, choices.len()) {
        (Some(_), 1) => BasisChoice::Given(Box::new(choices.remove(0).basis)),
        _ => BasisChoice::OfMethod(choices),
    };
    Ok((values, choice))
}

/// The bases that may be meant: how many rows there are, which may decide between two, is not known yet.
fn possible_methods(basis: Option<&str>, default: impl Fn(usize) -> Method) -> Result<Vec<Method>> {
    if let Some(name) = basis {
        return Ok(vec![Method::named(name)?]);
    }
    let mut methods = vec![default(1), default(usize::MAX)];
    methods.dedup();
    Ok(methods)
}

/// A basis with those of the settings that are for it.
fn possible_basis<S: AsRef<str>>(
    own: &[&'static MethodSpec],
    method: Method,
    settings: &[(S, S)],
) -> Result<PossibleBasis> {
    let (spec, extracts) = (own[0], own[0].stage == Stage::Extract);
    let texts = settings.iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
    let for_basis: Vec<(&str, &str)> = texts
        .filter_map(|(name, value)| match name {
            "basis_components" => Some(("n_components", value)),
            _ if !method.spec().has(name) => None,
            "n_components" if extracts => None,
            // What an extractor and its basis both have is the extractor's; a seed is for both.
            _ if extracts && name != "seed" && spec.has(name) => None,
            _ => Some((name, value)),
        })
        .collect();
    let refused = Values::new(&[own, &[method.spec()]].concat(), settings).err().map(|e| e.to_string());
    Ok(PossibleBasis { basis: methods::basis(method.name(), &for_basis)?, refused })
}

/// The weights of the input columns that a basis is to have.
fn input_weights(
    basis: &Basis,
    rows: &Rows,
    labels: Option<&Labels>,
    options: &Options,
) -> Result<Option<FoundWeights>> {
    if !basis.input_weights {
        return Ok(None);
    }
    let labels = labels.ok_or_else(|| {
        Error::argument(
            "input_weights = true looks at the labels, but none were given\nhint: give them (y), or leave it out",
        )
    })?;
    if basis.landmarks.is_some() {
        return Err(Error::argument(
            "input_weights = true and landmarks are both given, but landmarks would have to be weighted too\n\
             hint: leave one of them out",
        ));
    }
    let settings = InputWeights { shape: basis.shape, seed: basis.seed, ..InputWeights::default() };
    settings.find_by(rows, labels, options.weights.as_ref(), &options.monitor).map(Some)
}

/// The selector inside a system.
fn selector_name<'a>(spec: &MethodSpec, given: Option<&'a str>) -> &'a str {
    let own = || plain_system(spec).selector.name();
    given.filter(|_| spec.has("selector")).unwrap_or_else(own)
}

fn plain_system(spec: &MethodSpec) -> System {
    match spec.name {
        "takes" => System::takes(),
        "k-relief" => System::k_relief(),
        "sk-relief" => System::sk_relief(),
        _ => System::eks(crate::select::FTest::default()),
    }
}

fn not_a_pipeline(spec: &MethodSpec) -> Error {
    Error::argument(format!(
        "`{0}` scores columns; in a kernel's space it needs a basis beside it\n\
         hint: use the method `eks` with selector = `{0}`",
        spec.name
    ))
}
