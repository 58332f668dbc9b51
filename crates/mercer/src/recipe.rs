//! A method by its name, with its settings as text: from rows to a map. What every face runs.
//!
//!   rows → basis() → Basis::fit → finish() → [`Made`]: the map, and which of its features are best
//!
//! Two steps, because methods that share a basis need to fit it once only.

use faer::MatRef;

use crate::basis::{Basis, FittedBasis, Method, Precision, bytes};
use crate::checkpoint::Checkpoint;
use crate::data::either::Either;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::extract::{self, Coordinates, Extractor, Limits};
use crate::linalg::waiting;
use crate::map::FeatureMap;
use crate::methods::{self, Card, Stage};
use crate::monitor::Monitor;
use crate::systems::System;

/// A method with its settings, checked.
///
/// ```
/// use mercer::{Monitor, data::{Labels, Task, synth}, recipe::Recipe};
///
/// let table = synth::generate("ringnorm?n=200&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let recipe = Recipe::new("gda", &[("basis", "kobl"), ("gamma", "0.05")])?;
/// let basis = recipe.basis(&table.rows, Some(&labels), &mut Vec::new())?.fit(&table.rows)?;
/// let made = recipe.finish(&table.rows, Some(&labels), basis, None, &Monitor::default())?;
/// assert_eq!(made.map.feature_names, ["gda0"]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recipe {
    /// What the catalogue says about the method.
    pub card: &'static Card,
    /// The settings that differ from the defaults.
    pub settings: Vec<(String, String)>,
    /// What comes on top of the basis.
    pub top: Top,
    /// What an extractor may look at and keep.
    pub limits: Limits,
    /// Where the fit of the basis is kept meanwhile; what comes on top of it is not.
    pub checkpoint: Option<Checkpoint>,
}

/// What a method does with the coordinates of its basis.
#[derive(Clone, Debug)]
pub enum Top {
    /// Nothing: they are its features.
    Nothing,
    /// It keeps some.
    System(System),
    /// It mixes them.
    Extractor(Extractor),
}

/// What a recipe made.
#[derive(Clone, Debug)]
pub struct Made {
    /// The map.
    pub map: FeatureMap,
    /// Its features, best first.
    pub best: Vec<usize>,
    /// What the user should know, about the basis too.
    pub warnings: Vec<String>,
}

impl Recipe {
    /// Checks the settings; no data is needed for that.
    pub fn new<S: AsRef<str>>(method: &str, settings: &[(S, S)]) -> Result<Self> {
        let card = methods::method(method)?;
        let top = match card.stage {
            Stage::Basis => methods::basis(method, settings).map(|_| Top::Nothing)?,
            Stage::Select | Stage::System => Top::System(methods::system(method, settings)?),
            Stage::Extract => Top::Extractor(methods::extractor(method, settings)?),
        };
        let text = |(name, value): &(S, S)| (name.as_ref().to_string(), value.as_ref().to_string());
        let settings: Vec<_> = settings.iter().map(text).collect();
        Ok(Self { card, limits: methods::limits(&settings), settings, top, checkpoint: None })
    }

    /// An error unless such labels will do.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        match &self.top {
            Top::Nothing => Ok(()),
            Top::System(system) => system.check(labels),
            Top::Extractor(extractor) => extractor.check(labels),
        }
    }

    /// The basis to fit, with the default limit on memory and a monitor of its own.
    pub fn basis<'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
        warnings: &mut Vec<String>,
    ) -> Result<Basis> {
        let rows = rows.into();
        let (name, settings) = (self.card.name, &self.settings);
        let basis = match &self.top {
            Top::Nothing => methods::basis(name, settings)?,
            Top::System(_) => methods::system_basis(name, settings, rows.n(), warnings)?,
            Top::Extractor(extractor) => {
                let basis = methods::extractor_basis(name, settings, rows.n(), warnings)?;
                extractor.basis(basis, rows, labels)?
            }
        };
        Ok(Basis { checkpoint: self.checkpoint.clone(), ..basis })
    }

    /// The method and what it stands on, in words.
    pub fn title(&self, basis: &Basis) -> String {
        let (method, name) = (self.card.name, basis.method.name());
        match &self.top {
            Top::Nothing => format!("`{name}`"),
            Top::System(system) => format!("`{method}` (`{name}`, then `{}`)", system.selector.name()),
            Top::Extractor(Extractor::AkdaQr(_)) => {
                format!("`{method}` in the coordinates of the class means")
            }
            Top::Extractor(_) => format!("`{method}` in the coordinates of `{name}`"),
        }
    }

    /// Bytes that the whole fit on n rows may need beside them: the basis', then those of what comes on top, which keeps the
    /// rows' coordinates where it looks at pairs of rows or at columns. With `precision` = single a coordinate takes 4
    /// bytes in place of 8.
    ///
    /// ```
    /// use mercer::{data::synth, recipe::Recipe};
    ///
    /// let rows = synth::generate("ringnorm?n=1000")?.rows;
    /// let settings = [("basis", "kobl"), ("basis_components", "100")];
    /// let needed = |method: &str| {
    ///     let recipe = Recipe::new(method, &settings)?;
    ///     let basis = recipe.basis(&rows, None, &mut Vec::new())?;
    ///     Ok::<u64, mercer::Error>(recipe.estimated_memory(&basis, rows.n()))
    /// };
    /// assert!(needed("gda")? < needed("klfe")?); // which keeps 1000 × 100 coordinates
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn estimated_memory(&self, basis: &Basis, n: usize) -> u64 {
        let chosen_from = basis.landmarks.as_ref().map_or(n, Rows::n);
        let m = basis.most_components(chosen_from) as u64;
        let landmarks = if basis.method == Method::Kpca { chosen_from as u64 } else { m };
        let precision = basis.wanted();
        let (basis_itself, coordinates) = (8 * m * landmarks, precision.bytes() * n as u64 * m);
        let on_top = match &self.top {
            Top::Nothing => 0,
            Top::System(system) if precision == Precision::Single && system.selector.widens() => {
                basis_itself + coordinates + 8 * n as u64 * m
            }
            Top::System(_) => basis_itself + coordinates,
            Top::Extractor(extractor) => {
                // Sums over the rows, those that wait for their turn, and the solver's copies, as measured.
                let parts = waiting(n.div_ceil(extract::ROWS), 8 * (m * m) as usize) as u64;
                let again = 8 * m * m * (14 + 2 * parts);
                let kept = 2 * coordinates + 8 * m * m * (10 + parts);
                let keeps = Limits { memory: basis.memory, ..self.limits }.keep(n, m as usize, precision);
                basis_itself
                    + match extractor.keeps_coordinates() {
                        true if keeps => kept,
                        true => kept.min(again),
                        false => again,
                    }
            }
        };
        basis.estimated_memory(chosen_from).max(on_top)
    }

    /// An error with the estimate unless a fit on n rows keeps to the basis' limit on memory.
    pub fn check_memory(&self, basis: &Basis, n: usize) -> Result<()> {
        let chosen_from = basis.landmarks.as_ref().map_or(n, Rows::n);
        basis.check_memory(chosen_from, false)?;
        let needed = self.estimated_memory(basis, n);
        if needed <= basis.memory {
            return Ok(());
        }
        let size = if matches!(self.top, Top::Extractor(_)) { "basis_components" } else { "n_components" };
        Err(Error::Memory(format!(
            "{} with up to {} coordinates of {n} rows needs {}, but the budget is {}\n\
             hint: lower {size}, or raise the budget (`memory`)",
            self.title(basis),
            basis.most_components(chosen_from),
            bytes(needed),
            bytes(basis.memory)
        )))
    }

    /// The map from a basis that was fitted on these rows; `features` are their coordinates in it, row-major n×m, where
    /// the caller has them already.
    pub fn finish<'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
        basis: FittedBasis,
        features: Option<&[f64]>,
        monitor: &Monitor,
    ) -> Result<Made> {
        let rows = rows.into();
        let m = basis.n_components();
        if let Some(given) = features
            && given.len() != rows.n() * m
        {
            return Err(Error::argument(format!(
                "{} coordinates were given for {} rows in a basis of {m}",
                given.len(),
                rows.n()
            )));
        }
        let mut warnings = basis.warnings.clone();
        let map = match &self.top {
            Top::Nothing => FeatureMap::from(basis),
            Top::System(system) => {
                let found = system.clone().monitor(monitor).fit_in(rows, labels, basis, features)?;
                warnings = found.warnings;
                found.map
            }
            Top::Extractor(extractor) => {
                let features = features.map(|z| MatRef::from_row_major_slice(z, rows.n(), m).into());
                let seen =
                    Coordinates { rows, labels, basis: &basis, features, limits: self.limits, monitor };
                let found = extractor.directions(&seen)?;
                let map = FeatureMap::from_directions(extractor.name(), FeatureMap::from(basis), &found)?;
                warnings.extend(found.warnings);
                map
            }
        };
        let mut best: Vec<usize> = (0..map.n_features()).collect();
        if map.scores.len() == best.len() {
            best.sort_by(|&a, &b| map.scores[b].total_cmp(&map.scores[a]));
        }
        Ok(Made { map, best, warnings })
    }
}
