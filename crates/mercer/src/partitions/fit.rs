//! From settings and rows in partitions to a fitted basis, and to what is made of its coordinates.
//!
//!   check → γ on a sample of rows → the method's own search, one question a pass → moments, signs → a map
//!
//! What an ordinary fit does with all rows at once (`csi`, `gram-schmidt`, exact `kpca`, a precomputed kernel) is refused by name.

use super::answer::Reply;
use super::factor::PartedFactor;
use super::features::PartedFeatures;
use super::parted::{Parted, unexpected};
use super::question::Ask;
use super::select::Scored;
use crate::basis::expansion::{Expansion, Landmarks};
use crate::basis::factor_rows::FactorRows;
use crate::basis::kobl::{self, StopRule};
use crate::basis::loo::penalty_alone;
use crate::basis::pivoted::Pivoted;
use crate::basis::sparse::{self, Novelty};
use crate::basis::variance::variance_of;
use crate::basis::{Basis, FittedBasis, Method, Precision, Stop, kfa, kmeans, nystrom, rpcholesky};
use crate::data::labels::Labels;
use crate::data::needs::missing_labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::target::TargetSummary;
use crate::error::{Error, Result};
use crate::extract::{AkdaQr, Coordinates, at_once};
use crate::kernel::{Kernel, Shape};
use crate::map::FeatureMap;
use crate::monitor::{Growth, Stage};
use crate::options::Options;
use crate::pipeline::{FittedPipeline, Found, Head, Pipeline};
use crate::random;
use crate::select::{Columns, Keep, how_many, input_weights};

/// What a fit on partitions may take.
#[derive(Clone, Debug, Default)]
pub struct PartedOptions {
    /// Memory and monitor of the coordinator.
    pub options: Options,
    /// Bytes that all partitions together may keep from pass to pass; 0: as little as possible, and what is needed is computed
    /// again.
    pub kept: u64,
    /// Landmarks are chosen among so many rows, drawn at random; None: among all.
    pub basis_rows: Option<usize>,
    /// What the columns are multiplied by before anything else, which becomes part of the map; None: nothing.
    pub weights: Option<Vec<f64>>,
    /// Features are multiplied by one number, so that ridge with a penalty of 1 is right for them: it is found on so many rows.
    pub ridge_rows: Option<usize>,
}

impl Parted<'_> {
    /// Fits a basis on rows in partitions.
    pub fn fit_basis(&self, settings: &Basis, options: &Options) -> Result<FittedBasis> {
        let options = PartedOptions { options: options.clone(), ..PartedOptions::default() };
        Ok(self.find_basis(settings, &options)?.0)
    }

    /// The basis, and whether the partitions keep the rows' coordinates in it.
    fn find_basis(&self, settings: &Basis, options: &PartedOptions) -> Result<(FittedBasis, bool)> {
        settings.check_settings(self.target().map(TargetSummary::sample).as_ref())?;
        if settings.shape == Shape::Precomputed {
            return Err(at_once("a precomputed kernel"));
        }
        if settings.shape.is_own() {
            return Err(own_function(settings.shape));
        }
        if settings.relevant {
            return Err(at_once("n_components = relevant"));
        }
        if settings.moves.is_some() {
            return Err(at_once("skfe with points"));
        }
        let monitor = &options.options.monitor;
        let kernel = settings.resolve_kernel_of(self, monitor)?;
        self.check(kernel)?;
        let mut warnings = Vec::new();
        if let Some(landmarks) = &settings.landmarks {
            return Ok((self.basis_of(settings, kernel, (landmarks, None), options)?, false));
        }
        if let Some(rows) = options.basis_rows.filter(|rows| *rows < self.n()) {
            let places = random::sample(self.n(), rows, settings.seed);
            let (rows, labels) = self.take(&places)?;
            let mut fitted = self.basis_of(settings, kernel, (&rows, labels.as_ref()), options)?;
            fitted.pivots.iter_mut().for_each(|pivot| *pivot = places[*pivot]);
            fitted.landmarks_given = false;
            return Ok((fitted, false));
        }
        if settings.method == Method::Kmeans {
            let sample = kmeans::sample(self.n(), settings.most_components(self.n()), settings.seed);
            let (rows, _) = self.take(&sample)?;
            let mut fitted = self.basis_of(settings, kernel, (&rows, None), options)?;
            fitted.landmarks_given = false;
            fitted.pivots.clear();
            return Ok((fitted, false));
        }
        if !settings.method.is_pivoted() {
            return Err(basis_at_once(settings.method));
        }
        let cap = settings.cap(self.n(), &mut warnings);
        let keep = 8 * (self.n() as u64) * (cap as u64) <= options.kept;
        let rows = PartedFactor::begin(self, kernel, keep)?;
        let mut factor = Pivoted::over(rows, cap, monitor);
        monitor.enter(Stage {
            name: "choosing pivots",
            total: cap,
            done: 0,
            growth: Growth::Linear(10),
            open: matches!(settings.method, Method::Kobl | Method::Sparse),
        });
        let least = |tol: Option<f64>| -> Result<f64> {
            Ok(tol.unwrap_or_else(kobl::default_tol) * variance_of(self, kernel, settings.seed)?)
        };
        let stop = match settings.method {
            Method::Sparse => {
                let novelty = match settings.nu {
                    Some(nu) => Novelty::Share(nu),
                    None => Novelty::Least(least(settings.tol)?),
                };
                sparse::grow(&mut factor, novelty, settings.seed)?
            }
            Method::Nystrom => nystrom::grow(&mut factor, None, settings.seed)?,
            Method::Rpcholesky => rpcholesky::grow(&mut factor, settings.seed)?,
            Method::Kfa if settings.candidates.is_none() => return Err(at_once("kfa with candidates = all")),
            Method::Kfa => kfa::grow(&mut factor, settings.candidates, settings.seed)?,
            Method::Kobl => {
                let rule = match settings.threshold.clone() {
                    Some(threshold) => StopRule::Threshold(threshold),
                    None => StopRule::Least(least(settings.tol)?),
                };
                kobl::grow(&mut factor, &rule)?
            }
            method => return Err(basis_at_once(method)),
        };
        let residual = factor.relative_residual()?;
        let m = factor.pivots.len();
        let stop = if stop == Stop::Cap && m == self.n() { Stop::Rank } else { stop };
        let fitted = FittedBasis {
            method: settings.method,
            expansion: Expansion {
                kernel,
                landmarks: Landmarks::Rows(factor.rows.all_pivots()?),
                matrix: factor.coefficients(),
                offset: vec![0.0; m],
                origin: None,
            },
            landmarks_given: false,
            pivot_norms: std::mem::take(&mut factor.norms),
            pivots: std::mem::take(&mut factor.pivots),
            eigenvalues: None,
            residual,
            trace: factor.rows.trace(),
            precision: Precision::Double,
            rounding_error: None,
            n_kernel_evaluations: (self.n() * (m + 1)) as u64,
            n_rows: self.n(),
            stop,
            warnings,
        };
        Ok((fitted, keep))
    }

    /// A basis that is chosen among rows that are here, with what it leaves of all rows.
    fn basis_of(
        &self,
        settings: &Basis,
        kernel: Kernel,
        (rows, labels): (&Rows<'static>, Option<&Labels>),
        options: &PartedOptions,
    ) -> Result<FittedBasis> {
        let mut own = settings.clone().gamma(crate::kernel::Gamma::Value(kernel.gamma));
        own.shape = kernel.shape;
        (own.landmarks, own.shrink, own.precision) = (None, None, Some(Precision::Double));
        if !own.method.is_pivoted() {
            own.precision = None;
        }
        let (mut fitted, _) = own.fit_with(&rows.to_f64(), labels, &options.options)?;
        (fitted.residual, fitted.trace) = self.residual(&fitted.expansion)?;
        fitted.n_rows = self.n();
        fitted.landmarks_given = true;
        Ok(fitted)
    }

    /// The means of the classes' rows.
    pub(super) fn class_means(&self) -> Result<Rows<'static>> {
        let Reply::ClassSums { sums, sizes } = self.ask_merged(Ask::ClassSums)? else {
            return Err(unexpected());
        };
        let classes: Vec<usize> = (0..sizes.len()).filter(|&c| sizes[c] > 0).collect();
        let means: Vec<Rows<'static>> =
            classes.iter().map(|&c| sums.select(&[c]).map(|v| v / sizes[c] as f64)).collect();
        Rows::concatenated(&means.iter().collect::<Vec<_>>())
    }

    /// Fits a pipeline on rows in partitions.
    pub fn fit(&mut self, pipeline: &Pipeline, options: &PartedOptions) -> Result<FittedPipeline> {
        let target = self.target().map(TargetSummary::sample);
        pipeline.check(target.as_ref())?;
        let mut warnings = Vec::new();
        let settings = pipeline.basis_for(self.n(), &mut warnings)?;
        let given = options.weights.clone();
        if let Some(weights) = &given {
            self.weigh(weights.clone())?;
        }
        let weights = self.input_weights(&settings, options)?;
        let settings = match &pipeline.head {
            Head::Coordinates | Head::Select(_) => settings,
            Head::Extract(extractor) if extractor.name() == "akda-qr" => {
                AkdaQr::basis_on_means(&settings, self.class_means()?)?
            }
            Head::Extract(extractor) => extractor.basis_settings(settings)?,
        };
        let (basis, of_factor) = self.find_basis(&settings, options)?;
        let monitor = &options.options.monitor;
        let (mut map, found) = match &pipeline.head {
            Head::Coordinates => (FeatureMap::from(basis.clone()), Found::Coordinates),
            Head::Extract(extractor) => {
                let features = PartedFeatures { parted: self, expansion: &basis.expansion, of_factor };
                let target = self.target().cloned();
                let seen = Coordinates::elsewhere(self.n(), target, &basis, Box::new(features), monitor);
                let directions = extractor.directions(seen)?;
                let map = FeatureMap::from_directions(
                    extractor.name(),
                    FeatureMap::from(basis.clone()),
                    &directions,
                )?;
                (map, Found::Directions(directions))
            }
            Head::Select(system) => {
                let scored = Scored { features: Some(&basis.expansion), of_factor };
                let mut scores = self.scores_of(&system.selector, scored, monitor)?;
                if system.keep == Keep::CrossValidated {
                    let (rows, labels) = self.sample(how_many::MOST_ROWS, settings.seed)?;
                    scores.best_count = system.selector.best_count(&Columns {
                        rows: &basis.coordinates(&rows, monitor)?,
                        labels: labels.as_ref(),
                        space: Some((basis.expansion.kernel, &rows)),
                        categorical: &[],
                        weights: None,
                        monitor,
                    })?;
                }
                let found = system.finish(basis.clone(), scores)?;
                (found.map, Found::Selected(found.scores, found.selection))
            }
        };
        warnings.extend(map.warnings.iter().cloned());
        if let Some(rows) = options.ridge_rows {
            let (rows, labels) = self.sample(rows, settings.seed)?;
            let labels = labels.ok_or_else(|| missing_labels("ridge"))?;
            let features = Rows::from_mat(map.transform(&rows)?.as_ref());
            map.multiply(1.0 / penalty_alone(&features, &labels, None, monitor)?.sqrt());
        }
        map.scaling = weights.as_ref().map(|found| found.weights.clone()).or(given).map(Scaling::of_factors);
        map.warnings.clone_from(&warnings);
        Ok(FittedPipeline { map, basis, coordinates: None, found, weights, warnings })
    }

    /// Weights of the input columns, where the basis asks for them; later questions are about weighted rows.
    fn input_weights(
        &mut self,
        basis: &Basis,
        options: &PartedOptions,
    ) -> Result<Option<input_weights::FoundWeights>> {
        if !basis.input_weights {
            return Ok(None);
        }
        let settings =
            input_weights::InputWeights { shape: basis.shape, seed: basis.seed, ..Default::default() };
        let (rows, labels) = self.take(&settings.places(self.n()))?;
        let labels = labels.ok_or_else(|| missing_labels("input_weights"))?;
        let found = settings.find(&rows, &labels, &options.options.monitor)?;
        self.weigh(found.weights.clone())?;
        Ok(Some(found))
    }
}

/// Partitions may be on other machines, to which no code is sent.
fn own_function(shape: Shape) -> Error {
    Error::argument(format!(
        "the kernel `{}` is a function, and rows in partitions may be on machines that do not have it\n\
         hint: bring the rows to one place, or use a kernel by name, or sums and products of these",
        shape.name()
    ))
}

fn basis_at_once(method: Method) -> Error {
    Error::argument(format!(
        "the basis `{}` looks at all rows at once, but they lie in partitions\n\
         hint: choose it among some rows, drawn at random (basis_rows), or use `kobl`, `rpcholesky`, `nystrom`, `sparse`, \
         `kfa` or `kmeans`",
        method.name()
    ))
}
