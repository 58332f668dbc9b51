//! Predictions without choices: ridge on kernel coordinates, with kernel, width, size, input weights and penalty found by
//! the rows left out.
//!
//!   a sample → rbf and laplacian, each at its best width → input weights → larger bases while the error falls
//!            → the mean of those members that predict left-out rows best together → all rows
//!
//! Members are maps whose features are scores, so that the whole is a [`Predictor`] in a [`FeatureMap`]; the map's own features
//! are the coordinates of the best member.
//!
//! cost    2 kernels × about 5 widths × n·300² on at most 2000 rows, 4 searches of about 3 widths × n·200² for input weights on 2000,
//!         n³ on 2000 for two or three widths, then n³ on at most 5000 where all rows are landmarks, or 4·n·m² for larger bases; in
//!         the end n³/3 on all rows, or 2·n·m² where they are too many; memory 3·n² numbers for the rows looked at
//! source  Allen 1974 (PRESS); Radhakrishnan et al. 2024 (input weights); for probabilities see `learn/calibrate.rs`
//! differs the penalty of more rows than were looked at is the sample's own: it is that of the noise, which does not grow
//!         with the rows. Of more rows than may all be landmarks, the largest size is taken without being tried

mod calibrate;
mod sizes;

use std::borrow::Cow;

use faer::Mat;

use crate::basis::kernel_ridge::KernelRidge;
use crate::basis::loo::{Looked, Tried};
use crate::basis::predict::{missed, ridge_leaving_out};
use crate::basis::{Basis, Expansion, FittedBasis, Method, Threshold};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::{Scale, Scaling};
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};
use crate::extract::{Coordinates, Targets};
use crate::kernel::gamma::grid;
use crate::kernel::{Kernel, Shape};
use crate::linalg::Cholesky;
use crate::map::{Facts, FeatureMap, Predictor};
use crate::options::Options;
use crate::random;
use crate::select::input_weights::{FoundWeights, HeldOut, InputWeights};

use super::copies::copied_rows;
use super::held_out::Score;
use super::measures::{Measure, Predictions};
use calibrate::Calibration;

/// Rows that are looked at, those of them with which widths and weights are compared, and components of the first bases.
const FIRST_ROWS: usize = 5_000;
const WIDTH_ROWS: usize = 2_000;
const FIRST_SIZE: usize = 300;

/// The most components that are tried unless told otherwise: up to so many rows can all be landmarks.
const MAX_COMPONENTS: usize = 8_000;

/// So many rows that weights of the columns are not learned from are enough to compare by.
const ENOUGH_UNSEEN: usize = 1_000;

/// One more member must leave at most this share of the error.
const ONE_MORE: f64 = 0.995;

/// A member's left-out error is at most this factor of the best kernel's: rows that were held out for weights are predicted
/// from fewer rows than those left out, which would speak for weaker members.
const COMPARABLE: f64 = 1.1;

/// On noise the best of the kernels, widths and weights that are tried predicts left-out numbers as well as so many free coefficients
/// fit them: with 40, 100 and 200 rows R² is above 0.22, 0.09 and 0.05 once in twenty times.
const SEARCHED: f64 = 4.0;

/// Larger targets are refused: errors are squared and added up.
const LARGEST_TARGET: f64 = 1e150;

/// Predicts labels without choices.
///
/// ```
/// use mercer::{data::{Labels, Task, synth}, evaluate::learn::Learner};
///
/// let train = synth::generate("ringnorm?n=400&seed=1")?;
/// let test = synth::generate("ringnorm?n=400&seed=2")?;
/// let labels = |table: &mercer::data::Table| Labels::decide(table.target.clone().unwrap(), Task::Auto);
/// let learned = Learner::default().fit(&train.rows, &labels(&train)?)?;
/// let predicted = learned.map.predictor.as_ref().unwrap().predict(&test.rows)?;
/// let (Labels::Classes { codes: found, .. }, Labels::Classes { codes: truth, .. }) = (predicted, labels(&test)?) else {
///     panic!("classes")
/// };
/// assert!(found.iter().zip(&truth).filter(|(a, b)| a == b).count() > 380);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Learner {
    /// How columns are scaled before anything else.
    pub scale: Scale,
    /// The most components that are tried.
    pub max_components: usize,
    /// Whether weights of the input columns are tried.
    pub input_weights: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Memory, threads and monitor of all that is fitted.
    pub options: Options,
}

impl Default for Learner {
    fn default() -> Self {
        Self {
            scale: Scale::Standard,
            max_components: MAX_COMPONENTS,
            input_weights: true,
            seed: 0,
            options: Options::default(),
        }
    }
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The coordinates of the best member, with the predictor.
    pub map: FeatureMap,
    /// The best member's basis.
    pub basis: FittedBasis,
    /// What was tried, best first, and whether it is a member.
    pub tried: Vec<Attempt>,
    /// Squared error of rows that were left out, or held out where columns are weighted, of the members together; classes: over
    /// the one-hot columns.
    pub error: f64,
    /// Share of left-out rows whose class is missed; None for numbers.
    pub missed: Option<f64>,
    /// Mean −ln p of the true class over left-out rows, as calibrated by the other half of them; None for numbers.
    pub log_loss: Option<f64>,
    /// Weights of the input columns; None: they were not tried.
    pub weights: Option<FoundWeights>,
    /// What is predicted for rows that were left out.
    pub left_out: LeftOut,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Predictions of rows that were left out, or held out where columns are weighted. Those of classes have the shifts that the
/// other half of these rows asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The labels of these rows.
    pub labels: Labels,
    /// What is predicted.
    pub predictions: Predictions,
    /// How good the predictions are, beside shuffled labels.
    pub score: Score,
}

/// One kernel, and how a basis of it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Whether the input columns are weighted.
    pub weighted: bool,
    /// Its width.
    pub gamma: f64,
    /// Components of its basis.
    pub size: usize,
    /// Components with which its error was measured: as many, or fewer.
    pub tried_size: usize,
    /// Squared error of rows that were left out, or held out where columns are weighted.
    pub error: f64,
    /// Whether it is a member of the predictor.
    pub is_member: bool,
}

/// A kernel on weighted columns, at one width and size, and what it predicts.
struct Trial {
    shape: Shape,
    weights: Option<Vec<f64>>,
    gamma: f64,
    tried: Tried,
    /// Components that it is fitted with in the end: those tried, or more.
    size: usize,
    basis: FittedBasis,
    /// Whether all rows are landmarks, in place of the basis.
    is_on_all: bool,
    /// Coordinates that are features.
    coordinates: usize,
    expansion: Expansion,
    /// Of the rows asked for, k×c.
    left_out: Mat<f64>,
}

/// The rows by whose left-out errors trials are compared.
struct Asked {
    rows: Vec<usize>,
    labels: Labels,
    counts: Option<Weights>,
    /// Whether weights of the columns are learned from others.
    are_unseen: bool,
}

/// What the trials predict for rows that they have not seen.
struct Seen {
    labels: Labels,
    counts: Option<Weights>,
    predictions: Vec<Mat<f64>>,
    /// Those whose left-out errors are near the first one's.
    comparable: Vec<usize>,
}

/// The rows that are looked at.
struct Sample<'a> {
    rows: Rows<'static>,
    labels: Labels,
    /// What each row counts.
    counts: Option<Weights>,
    asked: Asked,
    /// Of the bases, by the number of all rows.
    method: Method,
    learner: &'a Learner,
}

impl Learner {
    /// Learns to predict the labels of rows, which are not scaled yet.
    pub fn fit(&self, rows: &Rows, labels: &Labels) -> Result<Learned> {
        let rows = &*rows.to_f64();
        self.check(rows, labels)?;
        if let Some(weights) = &self.options.weights {
            weights.check(rows.n())?;
            if let Some(present) = weights.present() {
                let weights = Some(weights.select(&present));
                let present_only =
                    Self { options: Options { weights, ..self.options.clone() }, ..self.clone() };
                let mut learned = present_only.fit(&rows.select(&present), &labels.select(&present))?;
                learned.basis.renumber(&present, rows.n());
                learned.map.renumber(&present, rows.n());
                return Ok(learned);
            }
        }
        self.options.run(|| {
            Scaling::check_width(rows)?;
            let scaling = Scaling::fit(self.scale, rows).0;
            let scaled = scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose()?;
            // Several targets are learned in their standard deviations, so that all count the same.
            let (labels, means, units) = labels.standardised(self.options.weights.as_ref());
            let mut learned = self.fit_scaled(scaled.as_ref().unwrap_or(rows), &labels, scaling.as_ref())?;
            if let Some(predictor) = learned.map.predictor.as_mut().filter(|_| !units.is_empty()) {
                predictor.members.iter_mut().for_each(|member| member.expansion.rescale(&units, &means));
            }
            Ok(learned)
        })
    }

    fn fit_scaled(&self, rows: &Rows, labels: &Labels, scaling: Option<&Scaling>) -> Result<Learned> {
        let chosen = random::sample(rows.n(), FIRST_ROWS, self.seed);
        let counts = self.options.weights.as_ref().map(|counts| counts.select(&chosen));
        let sample = Sample {
            rows: rows.select(&chosen),
            asked: Asked::of(&labels.select(&chosen), counts.as_ref(), self.seed),
            labels: labels.select(&chosen),
            counts,
            method: Method::of_rows(rows.n()),
            learner: self,
        };
        sample.labels.require_two("fit")?;
        let copies = copied_rows(&sample.rows, &sample.labels);
        let (mut trials, mut weights) = sample.kernels()?;
        sample.grow(&mut trials, weights.as_mut(), rows.n())?;
        // Where weights were tried by rows held out, these count for more than left-out errors given the weights.
        let is_known = |trial: &Trial| trial.weights.is_some() && !sample.asked.are_unseen;
        trials.sort_by(|a, b| is_known(b).cmp(&is_known(a)).then(a.tried.error.total_cmp(&b.tried.error)));
        let seen = sample.seen(&trials, weights.as_ref())?;
        let members = seen.members();
        let left_out = mean(members.iter().map(|&at| &seen.predictions[at]));
        let counts = seen.counts.as_ref();
        let error = squared_error(&left_out, &seen.labels, counts);
        let Calibration { sharpness, shifts } = Calibration::fit(&left_out, &seen.labels, counts);
        let (left_out, log_loss) = Calibration::by_halves(&left_out, &seen.labels, counts, self.seed);
        let tried = attempts(&trials, &members, &seen);
        let all_rows = chosen.len() == rows.n();
        let mut maps = Vec::with_capacity(members.len());
        let mut first = None;
        for (at, trial) in trials.into_iter().enumerate() {
            if !members.contains(&at) && at > 0 {
                continue;
            }
            let is_final = all_rows && trial.size <= trial.tried.size;
            let trial = if is_final { trial } else { self.on_all_rows(trial, rows, labels)? };
            if members.contains(&at) {
                maps.push(trial.member(labels, scaling)?);
            }
            if at == 0 {
                first = Some(self.with_coordinates(trial, rows, labels)?);
            }
        }
        let first = first.ok_or_else(|| Error::Numerical("no kernel could be tried on these rows".into()))?;
        let classes = match labels {
            Labels::Classes { names, .. } => Some(names.clone()),
            Labels::Numbers(_) | Labels::Several { .. } => None,
        };
        let missed = classes.as_ref().map(|_| missed(&left_out, &seen.labels, seen.counts.as_ref()));
        let left_out = LeftOut::of(&left_out, seen.labels, seen.counts.as_ref(), self.seed)?;
        let basis = first.basis.clone();
        let mut map = first.features(scaling)?;
        maps.iter_mut().for_each(|member| member.expansion.shift(&shifts));
        map.predictor = Some(Predictor { members: maps, classes, sharpness });
        let warnings = map.warnings.iter().cloned().chain(copies).collect();
        Ok(Learned { map, basis, tried, error, missed, log_loss, weights, left_out, warnings })
    }

    fn check(&self, rows: &Rows, labels: &Labels) -> Result<()> {
        let n = rows.n();
        if n != labels.len() {
            return Err(Error::data(format!("{n} rows, but {} labels", labels.len())));
        }
        if n < 6 || rows.p() == 0 {
            return Err(Error::data(format!(
                "the data has {n} rows and {} columns; at least 6 rows and 1 column are needed",
                rows.p()
            )));
        }
        if self.max_components == 0 {
            return Err(Error::argument("max_components = 0, but at least 1 is needed"));
        }
        rows.check_finite(None)?;
        if let Some(row) = labels.first_not_finite() {
            return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
        }
        if let Labels::Numbers(values) = labels
            && let Some(row) = values.iter().position(|v| v.abs() > LARGEST_TARGET)
        {
            return Err(Error::data(format!(
                "the target is {:e} at row {}, but its square must be a number: at most {LARGEST_TARGET:e} is allowed\n\
                 hint: divide the target",
                values[row],
                row + 1
            )));
        }
        labels.refuse_identifier("auto")?;
        labels.require_two("fit")
    }

    /// The basis of a trial on n rows: all of them, or so many landmarks by the method that suits all rows in the end.
    fn basis(&self, kernel: Kernel, size: usize, n: usize, method: Method) -> Basis {
        if size >= n {
            return Basis::kobl(kernel).threshold(Threshold::Constant(0.0)).seed(self.seed);
        }
        // Of many landmarks it matters less which, and these are found in half the time.
        let method = if size > FIRST_SIZE { Method::Rpcholesky } else { method };
        Basis::new(method, kernel).n_components(size).seed(self.seed)
    }

    /// Whether a basis of m components, the coordinates of n rows and their copies fit into memory.
    fn fits(&self, n: usize, m: usize) -> bool {
        let (n, m) = (n as u64, m as u64);
        8 * (4 * n * m + 6 * m * m) <= self.options.memory
    }

    /// The options of fits on the way.
    fn inner_options(&self) -> Options {
        Options { memory: self.options.memory, ..Options::watched(&self.options.monitor) }
    }

    /// The options of fits on all rows.
    fn outer_options(&self) -> Options {
        let options = self.inner_options().device(self.options.device.where_it_can());
        Options { weights: self.options.weights.clone(), ..options }
    }

    /// A trial's kernel, size and penalty on all rows.
    fn on_all_rows(&self, trial: Trial, rows: &Rows, labels: &Labels) -> Result<Trial> {
        let weighted = weigh(rows, trial.weights.as_deref())?;
        if trial.size < rows.n() {
            let size = (trial.size, Method::of_rows(rows.n()));
            let (basis, expansion) =
                self.regression(&trial, size, &weighted, labels, self.outer_options())?;
            let coordinates = basis.n_components();
            return Ok(Trial { basis, expansion, is_on_all: false, coordinates, ..trial });
        }
        let counts = self.options.weights.as_ref();
        let expansion = self.regression_on_all(&trial, &weighted, labels, counts)?;
        Ok(Trial { expansion, is_on_all: true, ..trial })
    }

    /// A trial with a basis of these rows that has the coordinates it should have.
    fn with_coordinates(&self, trial: Trial, rows: &Rows, labels: &Labels) -> Result<Trial> {
        let FittedBasis { n_rows, ref expansion, .. } = trial.basis;
        let is_its_own = expansion.kernel == trial.kernel() && n_rows == rows.n();
        if is_its_own && expansion.n_features() >= trial.coordinates {
            return Ok(trial);
        }
        let weighted = weigh(rows, trial.weights.as_deref())?;
        let method = Method::of_rows(rows.n());
        let settings = self.basis(trial.kernel(), trial.coordinates, rows.n(), method);
        let basis = settings.fit_with(&weighted, Some(labels), &self.outer_options())?.0;
        Ok(Trial { basis, ..trial })
    }

    /// A kernel on all of these rows, whose columns are weighted, as landmarks.
    fn kernel_ridge<'a>(
        &'a self,
        kernel: Kernel,
        weighted: &'a Rows<'a>,
        labels: &'a Labels,
        counts: Option<&'a Weights>,
    ) -> KernelRidge<'a> {
        KernelRidge { kernel, rows: weighted, labels, weights: counts, monitor: &self.options.monitor }
    }

    /// Ridge with a trial's kernel and penalty, and all of these rows, whose columns are weighted, as landmarks.
    fn regression_on_all(
        &self,
        trial: &Trial,
        weighted: &Rows,
        labels: &Labels,
        counts: Option<&Weights>,
    ) -> Result<Expansion> {
        self.kernel_ridge(trial.kernel(), weighted, labels, counts).at(trial.tried.absolute)?.ok_or_else(
            || {
                Error::Numerical(
                    "the rows are too nearly dependent for their kernel ridge to be solved".into(),
                )
            },
        )
    }

    /// Ridge with a trial's kernel and penalty on a basis of these rows, whose columns are weighted.
    fn regression(
        &self,
        trial: &Trial,
        (size, method): (usize, Method),
        weighted: &Rows,
        labels: &Labels,
        mut options: Options,
    ) -> Result<(FittedBasis, Expansion)> {
        let settings = self.basis(trial.kernel(), size, weighted.n(), method);
        let placed = settings.placed(weighted, &options)?;
        let weighted = placed.as_ref().unwrap_or(weighted);
        if self.fits(weighted.n(), size) {
            options = options.with_coordinates();
        }
        let (basis, z) = settings.fit_with(weighted, Some(labels), &options)?;
        let summary = Coordinates::new(weighted, Some(labels), &basis, z.as_ref(), &options)?
            .moments(Targets::Labels)?;
        let m = summary.mean.len();
        let penalised = Mat::from_fn(m, m, |i, j| {
            summary.total[(i, j)] + if i == j { trial.tried.absolute } else { 0.0 }
        });
        let mut solution = summary.cross.clone();
        let factor = Cholesky::watched(penalised, &options.monitor)?.ok_or_else(|| {
            Error::Numerical("the coordinates are too nearly dependent for their ridge to be solved".into())
        })?;
        factor.solve(&mut solution);
        let expansion = basis.expansion.regression(solution.transpose(), &summary.mean, &summary.target_mean);
        Ok((basis, expansion))
    }
}

impl Sample<'_> {
    /// The kernels at their best widths, with input weights where these help.
    fn kernels(&self) -> Result<(Vec<Trial>, Option<FoundWeights>)> {
        let monitor = &self.learner.options.monitor;
        monitor.begin("looking at kernels", 0);
        let shapes: &[Shape] =
            if self.rows.is_sparse() { &[Shape::Rbf] } else { &[Shape::Rbf, Shape::Laplacian] };
        let mut found: Vec<Trial> = Vec::new();
        for &shape in shapes {
            found.push(self.best_width(shape)?);
        }
        let better = |a: &Trial, b: &Trial| a.tried.error.total_cmp(&b.tried.error);
        let shape = found.iter().min_by(|a, b| better(a, b)).map_or(Shape::Rbf, |best| best.shape);
        if !self.learner.input_weights || self.rows.p() < 2 {
            return Ok((found, None));
        }
        monitor.begin("looking at the columns", 0);
        let settings = InputWeights { shape, seed: self.learner.seed, ..InputWeights::default() };
        let weights = settings.find_by(&self.rows, &self.labels, self.counts.as_ref(), monitor)?;
        if weights.rounds > 0 {
            found.push(self.weighted_width(shape, &weights)?);
        }
        Ok((found, Some(weights)))
    }

    fn first_size(&self) -> usize {
        FIRST_SIZE.min(self.learner.max_components).min(self.rows.n())
    }

    /// Widths are compared on few of the rows: every third, and then those about the best.
    fn best_width(&self, shape: Shape) -> Result<Trial> {
        let (widths, few) = (grid(shape, &self.rows)?, self.few());
        let starts: Vec<usize> = (1..widths.len()).step_by(3).collect();
        let monitor = &self.learner.options.monitor;
        let (_, best) =
            few.looked(&few.rows).best_from(&starts, shape, &widths, few.first_size(), monitor)?;
        self.attempt(shape, None, best.gamma, self.first_size(), None)
    }

    /// A kernel on weighted columns, at the best width near the one that was found with the weights.
    fn weighted_width(&self, shape: Shape, found: &FoundWeights) -> Result<Trial> {
        let few = self.few();
        let rows = weigh(&few.rows, Some(&found.weights))?;
        let widths = grid(shape, &rows)?;
        let apart = |at: &usize| (widths[*at] / found.gamma).ln().abs();
        let near = (0..widths.len()).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(0);
        let monitor = &self.learner.options.monitor;
        let (_, best) = few.looked(&rows).best_near(near, shape, &widths, few.first_size(), monitor)?;
        self.attempt(shape, Some(found.weights.clone()), best.gamma, self.first_size(), None)
    }

    /// The rows with which widths are compared, all of which are asked for.
    fn few(&self) -> Sample<'_> {
        let few = random::sample(self.rows.n(), WIDTH_ROWS, self.learner.seed);
        let counts = self.counts.as_ref().map(|counts| counts.select(&few));
        let labels = self.labels.select(&few);
        let asked = Asked {
            rows: (0..few.len()).collect(),
            labels: labels.clone(),
            counts: counts.clone(),
            are_unseen: false,
        };
        let Self { method, learner, .. } = *self;
        Sample { rows: self.rows.select(&few), labels, counts, asked, method, learner }
    }

    /// These rows, whose columns may be weighted.
    fn looked<'r>(&'r self, rows: &'r Rows<'r>) -> Looked<'r> {
        Looked { rows, labels: &self.labels, weights: self.counts.as_ref() }
    }

    /// One kernel at one width and size; the penalty is sought near this one.
    fn attempt(
        &self,
        shape: Shape,
        weights: Option<Vec<f64>>,
        gamma: f64,
        size: usize,
        penalty: Option<f64>,
    ) -> Result<Trial> {
        let rows = weigh(&self.rows, weights.as_deref())?;
        let mut options = self.learner.inner_options().with_coordinates();
        options.weights.clone_from(&self.counts);
        let settings = self.learner.basis(Kernel { shape, gamma }, size, rows.n(), self.method);
        let (basis, z) = settings.fit_with(&rows, Some(&self.labels), &options)?;
        let z = z.ok_or_else(|| Error::Numerical("a basis gave no coordinates".into()))?;
        let (expansion, counts, monitor) = (&basis.expansion, self.counts.as_ref(), &options.monitor);
        let asked = &self.asked.rows;
        let found = ridge_leaving_out(expansion, &z, &self.labels, counts, penalty, asked, monitor)?;
        let tried = Tried { gamma, ..found.tried };
        Ok(Trial {
            shape,
            weights,
            gamma,
            tried,
            size: tried.size,
            is_on_all: false,
            coordinates: basis.n_components(),
            basis,
            expansion: found.expansion,
            left_out: found.left_out,
        })
    }

    /// What trials predict for rows that they have not seen: those left out or, where weights were learned from these, those that
    /// were held out when weights were tried.
    fn seen(&self, trials: &[Trial], weights: Option<&FoundWeights>) -> Result<Seen> {
        let near = |at: &usize| trials[*at].tried.error <= COMPARABLE * trials[0].tried.error;
        let comparable = (1..trials.len()).filter(near).collect();
        let Some(found) = weights.filter(|found| found.rounds > 0 && !self.asked.are_unseen) else {
            let predictions = trials.iter().map(|trial| trial.left_out.clone()).collect();
            let (labels, counts) = (self.asked.labels.clone(), self.asked.counts.clone());
            return Ok(Seen { labels, counts, predictions, comparable });
        };
        let all: usize = found.held_out.iter().map(|part| part.rows.len()).sum();
        // Where there are more rows than were looked at for weights, a part of those has enough of them.
        let parts = if all < self.rows.n() { &found.held_out[..1] } else { &found.held_out };
        let rows: Vec<usize> = parts.iter().flat_map(|part| part.rows.iter().copied()).collect();
        self.learner.options.monitor.begin("looking at rows held out", 0);
        let of_rows = |trial: &Trial| match &trial.weights {
            Some(_) => self.held_out(trial, parts),
            None => Ok(select_rows(&trial.left_out, &rows)),
        };
        Ok(Seen {
            predictions: trials.iter().map(of_rows).collect::<Result<_>>()?,
            labels: self.labels.select(&rows),
            counts: self.counts.as_ref().map(|counts| counts.select(&rows)),
            comparable,
        })
    }

    /// What a trial predicts for the rows of each part, by weights and ridge that have not seen them.
    fn held_out(&self, trial: &Trial, parts: &[HeldOut]) -> Result<Mat<f64>> {
        let n = self.rows.n();
        let mut predictions =
            Mat::zeros(parts.iter().map(|part| part.rows.len()).sum(), trial.left_out.ncols());
        let mut at = 0;
        for HeldOut { rows, weights } in parts {
            let others = others(rows, (0..n).collect());
            let weighted = weigh(&self.rows, Some(weights))?;
            let counts = self.counts.as_ref().map(|counts| counts.select(&others));
            let (seen, labels) = (weighted.select(&others), self.labels.select(&others));
            let expansion = if trial.tried.size >= n {
                self.learner.regression_on_all(trial, &seen, &labels, counts.as_ref())?
            } else {
                let options = Options { weights: counts, ..self.learner.inner_options() };
                self.learner.regression(trial, (trial.tried.size, self.method), &seen, &labels, options)?.1
            };
            let predicted = expansion.transform(&weighted.select(rows))?;
            predictions.subrows_mut(at, rows.len()).copy_from(&predicted);
            at += rows.len();
        }
        Ok(predictions)
    }
}

impl Asked {
    /// Of rows with these labels, by what each counts.
    fn of(labels: &Labels, counts: Option<&Weights>, seed: u64) -> Self {
        let n = labels.len();
        let others = others(&InputWeights { seed, ..InputWeights::default() }.places(n), (0..n).collect());
        let are_unseen = others.len() >= ENOUGH_UNSEEN;
        let rows = if are_unseen { others } else { (0..n).collect() };
        let counts = counts.map(|counts| counts.select(&rows));
        Self { labels: labels.select(&rows), counts, rows, are_unseen }
    }
}

impl LeftOut {
    fn of(scores: &Mat<f64>, labels: Labels, counts: Option<&Weights>, seed: u64) -> Result<Self> {
        let largest = |i: usize| {
            (0..scores.ncols())
                .reduce(|a, b| if scores[(i, b)] > scores[(i, a)] { b } else { a })
                .unwrap_or(0)
        };
        // As many rows that all count the same tell as much.
        let n = counts.map_or(labels.len() as f64, Weights::effective_rows);
        let predictions = match labels {
            Labels::Classes { .. } => Predictions::Classes((0..scores.nrows()).map(largest).collect()),
            Labels::Numbers(_) => Predictions::Numbers((0..scores.nrows()).map(|i| scores[(i, 0)]).collect()),
            Labels::Several { .. } => {
                // All targets in their standard deviations, one after the other: their R² is the mean of all.
                let (truth, c, units) = labels.centered();
                let means = labels.target_means(None);
                let places: Vec<usize> = (0..scores.nrows() * c).map(|at| at / c).collect();
                let counts = counts.map(|counts| counts.select(&places));
                let scaled = |i: usize, j: usize| (scores[(i, j)] - means[j]) / units[j];
                let predicted = (0..scores.nrows()).flat_map(|i| (0..c).map(move |j| (i, j)));
                let predictions = Predictions::Numbers(predicted.map(|(i, j)| scaled(i, j)).collect());
                let labels = Labels::Numbers(truth);
                let score = Score::of_by(Measure::R2, &labels, &predictions, counts.as_ref(), seed)?;
                let score = score.after_search(SEARCHED, n);
                return Ok(Self { labels, predictions, score });
            }
        };
        let score = Score::of_by(Measure::usual_by(&labels, counts), &labels, &predictions, counts, seed)?;
        let score = score.after_search(SEARCHED, n);
        Ok(Self { labels, predictions, score })
    }
}

impl Seen {
    /// The trials whose mean predicts best, the first one among them; another member must make a difference.
    fn members(&self) -> Vec<usize> {
        let together = |members: &[usize]| {
            let predicted = mean(members.iter().map(|&at| &self.predictions[at]));
            squared_error(&predicted, &self.labels, self.counts.as_ref())
        };
        let mut members = vec![0];
        let mut error = together(&members);
        loop {
            let others = self.comparable.iter().copied().filter(|at| !members.contains(at));
            let with = |at: usize| [&members[..], &[at]].concat();
            let next = others.map(|at| (together(&with(at)), at)).min_by(|a, b| a.0.total_cmp(&b.0));
            match next {
                Some((less, at)) if less < ONE_MORE * error => {
                    members.push(at);
                    error = less;
                }
                _ => return members,
            }
        }
    }
}

impl Trial {
    fn kernel(&self) -> Kernel {
        Kernel { shape: self.shape, gamma: self.gamma }
    }

    /// The map whose features are its predictions.
    fn member(&self, labels: &Labels, scaling: Option<&Scaling>) -> Result<FeatureMap> {
        let names = match labels {
            Labels::Classes { names, .. } => names.clone(),
            Labels::Numbers(_) => vec!["prediction".into()],
            Labels::Several { count, .. } => (0..*count).map(|j| format!("prediction{j}")).collect(),
        };
        let mut map = FeatureMap::from(self.basis.clone());
        map.facts.basis = Some(std::mem::replace(&mut map.method, "ridge".into()));
        map.facts.coordinates = Some(self.basis.n_components());
        if self.is_on_all {
            // All rows, in their order, and no basis.
            (map.pivots, map.pivot_norms) = (Vec::new(), Vec::new());
            map.facts = Facts { rows: Some(self.expansion.landmarks.len()), ..Facts::default() };
        }
        map.feature_names = names;
        map.expansion = self.expansion.clone();
        map.scaling = self.weights.clone().map(Scaling::of_factors);
        map.warnings.clear();
        map.after(scaling)
    }

    /// The map whose features are its coordinates, divided by the root of the penalty: ridge's usual penalty of 1 is right
    /// for them.
    fn features(self, scaling: Option<&Scaling>) -> Result<FeatureMap> {
        let mut map = FeatureMap::from(self.basis);
        map.multiply(1.0 / self.tried.absolute.sqrt());
        map.scaling = self.weights.map(Scaling::of_factors);
        map.after(scaling)
    }
}

/// Those rows that are not held out.
fn others(held_out: &[usize], mut rows: Vec<usize>) -> Vec<usize> {
    let mut is_held_out = vec![false; rows.len()];
    held_out.iter().for_each(|&row| is_held_out[row] = true);
    rows.retain(|&row| !is_held_out[row]);
    rows
}

/// The rows of a matrix at these places.
fn select_rows(all: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), all.ncols(), |i, j| all[(rows[i], j)])
}

/// Rows with weighted columns.
fn weigh<'r>(rows: &'r Rows<'r>, weights: Option<&[f64]>) -> Result<Cow<'r, Rows<'r>>> {
    match weights {
        Some(weights) => Ok(Cow::Owned(Scaling::of_factors(weights.to_vec()).apply(rows)?)),
        None => Ok(Cow::Borrowed(rows)),
    }
}

fn mean<'m>(all: impl Iterator<Item = &'m Mat<f64>>) -> Mat<f64> {
    let mut sum: Option<Mat<f64>> = None;
    let mut count = 0.0;
    for one in all {
        count += 1.0;
        sum = Some(sum.map_or_else(|| one.clone(), |sum| sum + one));
    }
    let mut sum = sum.unwrap_or_else(Mat::new);
    sum.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v /= count));
    sum
}

/// The mean squared difference from the labels.
fn squared_error(predicted: &Mat<f64>, labels: &Labels, counts: Option<&Weights>) -> f64 {
    let (n, c) = (predicted.nrows(), predicted.ncols());
    let off = |i: usize, j: usize| (labels.target(i, j) - predicted[(i, j)]).powi(2);
    let of_row = |i: usize| weight(counts, i) * (0..c).map(|j| off(i, j)).sum::<f64>();
    (0..n).map(of_row).sum::<f64>() / (total(counts, n) * c as f64)
}

fn attempts(trials: &[Trial], members: &[usize], seen: &Seen) -> Vec<Attempt> {
    let attempt = |(at, trial): (usize, &Trial)| Attempt {
        kernel: trial.shape.name(),
        weighted: trial.weights.is_some(),
        gamma: trial.gamma,
        size: trial.size,
        tried_size: trial.tried.size,
        error: squared_error(&seen.predictions[at], &seen.labels, seen.counts.as_ref()),
        is_member: members.contains(&at),
    };
    trials.iter().enumerate().map(attempt).collect()
}
