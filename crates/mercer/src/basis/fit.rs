//! From settings and rows to a fitted basis.
//!
//!   check → γ → memory → the method's own search (one file each) → coordinates, where they are asked for
//!
//! With a checkpoint the passes so far, or the finished basis, are read from it.

use faer::{Mat, MatMut};

use super::checkpoint::BasisCheckpoint;
use super::expansion::{Expansion, FeaturePanels, Landmarks};
use super::factor_rows::{FactorRows, RoundingReport, not_psd_limit};
use super::fitted::{FittedBasis, Stop};
use super::gpu_rows::GpuRows;
use super::kobl::StopRule;
use super::memory::{MemoryPlan, exact_kpca};
use super::method::Method;
use super::on_gpu::Applied;
use super::pivoted::{self, FactorStorage, PENDING, Pivoted};
use super::settings::Basis;
use super::shrink::{keep_relevant, shrink};
use super::sparse::Novelty;
use super::variance::{variance, variance_of};
use super::{csi, gram_schmidt, kfa, kmeans, kobl, kpca, nystrom, points, rpcholesky, sparse};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::weights::Weights;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::gamma::Here;
use crate::kernel::gram::{check_rows, diagonal};
use crate::kernel::own::{caught, watched};
use crate::kernel::{Gram, Precision, Shape};
use crate::monitor::{Growth, Monitor, Stage};
use crate::options::{Options, bytes};

impl Basis {
    /// Fits without labels.
    pub fn fit(&self, rows: &Rows) -> Result<FittedBasis> {
        Ok(self.fit_with(rows, None, &Options::default())?.0)
    }

    /// Fits with labels, which `csi` and the rules `align` and `loo` for γ look at.
    pub fn fit_supervised(&self, rows: &Rows, labels: &Labels) -> Result<FittedBasis> {
        Ok(self.fit_with(rows, Some(labels), &Options::default())?.0)
    }

    /// Fits, and hands back the rows' coordinates in the basis' precision where the options ask for them. Float32 rows are
    /// read where they lie; `gram-schmidt`, `kpca`, `kmeans` and `csi` take a copy of them in float64.
    ///
    /// ```
    /// use mercer::basis::Precision;
    /// use mercer::{Basis, Kernel, Options, Rows};
    ///
    /// let rows = Rows::dense_f32(vec![0.0f32, 1.0, 5.0], 3, 1)?;
    /// let options = Options::default().with_coordinates();
    /// let (basis, z) = Basis::kobl(Kernel::rbf(1.0)).fit_with(&rows, None, &options)?;
    /// assert_eq!((basis.precision, basis.pivots), (Precision::Single, vec![0, 2, 1]));
    /// assert!(basis.rounding_error.unwrap() < 1e-6);
    /// assert_eq!(z.unwrap().to_dense()[..3], [1.0, 0.0, 0.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit_with(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        options: &Options,
    ) -> Result<(FittedBasis, Option<Rows<'static>>)> {
        caught(|| options.run(|| watched(&options.monitor, || self.fit_here(rows, labels, options))))
    }

    /// [`fit_with`](Self::fit_with) on the threads of the current pool.
    fn fit_here(&self, rows: &Rows, labels: Option<&Labels>, options: &Options) -> Result<Found> {
        let rounding = self.rounding_of(rows);
        let placed = self.placed(rows, options)?;
        let rows = placed.as_ref().unwrap_or(rows);
        let options = &Options { device: rows.device(), ..options.clone() };
        if rows.precision() == Precision::Single && !self.method.is_pivoted() {
            rows.check_finite(None)?;
            return Fit { settings: self, rows: &rows.to_f64(), labels, options, rounding }.run();
        }
        Fit { settings: self, rows, labels, options, rounding }.run()
    }

    /// The rows on the device that the options ask for; None: where they are.
    pub(crate) fn placed<'r>(&self, rows: &'r Rows<'r>, options: &Options) -> Result<Option<Rows<'r>>> {
        let there = rows.gpu_rows().is_some();
        if !there && options.device == Device::Cpu {
            return Ok(None);
        }
        match self.not_on_gpus(options) {
            None if there => Ok(None),
            None => rows.slice(0..rows.n()).on(options.device).map(Some),
            // Rows that lie on a GPU were put there to be used there.
            Some(_) if !there && options.device.falls_back() => Ok(None),
            Some(why) => Err(Error::argument(why)),
        }
    }

    /// Why a GPU cannot fit this basis; None if it can.
    fn not_on_gpus(&self, options: &Options) -> Option<String> {
        let use_cpu = "hint: compute on the CPU (device = cpu), or let mercer choose (device = auto)";
        let by_kernel = !self.shape.is_on_gpus();
        let by_method =
            !self.method.is_on_gpus() || (self.method == Method::Kfa && self.candidates.is_none());
        if by_kernel {
            return Some(format!("the kernel `{}` is not computed on a GPU\n{use_cpu}", self.shape.name()));
        }
        if by_method {
            let all = if self.method == Method::Kfa { " with candidates = all" } else { "" };
            return Some(format!(
                "the basis `{}`{all} is not fitted on a GPU; `kobl`, `rpcholesky`, `nystrom`, `sparse` and `kfa` are\n{use_cpu}",
                self.method.name()
            ));
        }
        if options.weights.is_some() {
            return Some(format!("sample weights are not taken by a GPU\n{use_cpu}"));
        }
        options.checkpoint.as_ref().map(|_| {
            "a fit on a GPU keeps no checkpoint: it takes seconds\nhint: leave the checkpoint out, or compute on the CPU (device = cpu)".into()
        })
    }

    /// Grows a factor to its end. `varies` is asked for what varies where a rule holds it against what is left of a row; pivots are
    /// drawn by what the rows count, where they are drawn uniformly.
    pub(super) fn grow_factor<R: FactorRows>(
        &self,
        factor: &mut Pivoted<R>,
        draw_weights: Option<&Weights>,
        varies: impl Fn() -> Result<f64>,
    ) -> Result<Stop> {
        let least = || Ok::<_, Error>(self.tol.unwrap_or_else(kobl::default_tol) * varies()?);
        match self.method {
            Method::Sparse => {
                let novelty = match self.nu {
                    Some(nu) => Novelty::Share(nu),
                    None => Novelty::Least(least()?),
                };
                sparse::grow(factor, novelty, self.seed)
            }
            Method::Nystrom | Method::Kmeans => nystrom::grow(factor, draw_weights, self.seed),
            Method::Rpcholesky => rpcholesky::grow(factor, self.seed),
            Method::Kfa => kfa::grow(factor, self.candidates, self.seed),
            _ => {
                let rule = match self.threshold.clone() {
                    Some(threshold) => StopRule::Threshold(threshold),
                    None => StopRule::Least(least()?),
                };
                kobl::grow(factor, &rule)
            }
        }
    }

    /// The rows with these indices, as landmarks.
    pub(super) fn landmarks_at(&self, rows: &Rows, indices: Vec<usize>) -> Landmarks {
        match self.shape {
            Shape::Precomputed => Landmarks::Columns { indices, n: rows.n() },
            _ => Landmarks::Rows(rows.select(&indices)),
        }
    }
}

/// One fit of a basis.
struct Fit<'a> {
    settings: &'a Basis,
    rows: &'a Rows<'a>,
    labels: Option<&'a Labels>,
    options: &'a Options,
    /// Relative rounding error of the kernel values.
    rounding: f64,
}

/// A basis, and the rows' coordinates where they came with it.
type Found = (FittedBasis, Option<Rows<'static>>);

impl<'a> Fit<'a> {
    fn monitor(&self) -> &'a Monitor {
        &self.options.monitor
    }

    /// What the rows count that pivots are drawn from; landmarks that are given count the same.
    fn draw_weights(&self) -> Option<&'a Weights> {
        self.options.weights.as_ref().filter(|_| self.settings.landmarks.is_none())
    }

    fn run(&self) -> Result<Found> {
        self.settings.check(self.rows, self.labels)?;
        if let Some(weights) = &self.options.weights {
            self.settings.check_weights(weights, self.rows.n())?;
        }
        let mut checkpoint = BasisCheckpoint::open(self.settings, self.options, self.rows, self.labels)?;
        let finished = checkpoint.as_mut().map(|c| c.finished(self.settings, self.rows)).transpose()?;
        let (fitted, coordinates) = match finished.flatten() {
            Some(fitted) => (fitted, None),
            None => self.search(&mut checkpoint)?,
        };
        let shrinks = self.settings.shrinks(self.rows.n(), self.labels);
        if let Some(labels) = self.labels.filter(|_| shrinks || self.settings.relevant) {
            let all = match coordinates {
                Some(all) => all,
                None => fitted.coordinates(self.rows, self.monitor())?,
            };
            let weights = self.options.weights.as_ref();
            let (fitted, coordinates) = if self.settings.relevant {
                keep_relevant(fitted, &all, labels, weights, self.monitor())?
            } else {
                let fewest = self.settings.shrink.unwrap_or(0);
                shrink(fitted, &all, fewest, labels, weights, self.monitor())?
            };
            return Ok((fitted, self.options.coordinates.then_some(coordinates)));
        }
        let coordinates = match coordinates {
            None if self.options.coordinates => Some(fitted.coordinates(self.rows, self.monitor())?),
            coordinates => coordinates,
        };
        Ok((fitted, coordinates))
    }

    fn search(&self, checkpoint: &mut Option<BasisCheckpoint>) -> Result<Found> {
        let Self { settings, rows, labels, .. } = *self;
        let mut warnings = Vec::new();
        let here = Here { rows, labels, weights: self.options.weights.as_ref() };
        let kernel = match checkpoint.as_ref().and_then(|checkpoint| checkpoint.kernel(settings)) {
            Some(kernel) => kernel,
            None => settings.resolve_kernel_of(&here, self.monitor())?,
        };
        checkpoint.iter_mut().for_each(|checkpoint| checkpoint.set_kernel(kernel));
        let given = settings.landmarks.as_ref().unwrap_or(rows);
        let cap = settings.cap(given.n(), &mut warnings);
        let mut precision = settings.precision.unwrap_or(rows.precision());
        if precision == Precision::Single
            && self.options.checkpoint.is_some()
            && !settings.method.is_resumed()
        {
            precision = Precision::Double;
            warnings.push(WITH_CHECKPOINT.into());
        }
        let plan = MemoryPlan::new(self.options, precision);
        settings.check_plan(given.n(), plan)?;
        let sample = settings.sample(given.n(), cap, plan.budget, &mut warnings);
        let selected = if settings.method == Method::Kmeans {
            check_rows(kernel, given, 0)?;
            let mut centres = kmeans::centres(kernel, given, cap, settings.seed, self.options)?;
            if let (Some(moves), Some(labels)) = (settings.moves, labels) {
                let monitor = self.monitor();
                let (moved, more) =
                    points::moved(moves, kernel, &centres, &rows.to_f64(), labels, settings.seed, monitor)?;
                warnings.extend(more);
                centres = moved;
            }
            Some((centres, None))
        } else {
            sample.as_ref().map(|places| (given.select(places), labels.map(|y| y.select(places))))
        };
        let (chosen_from, their_labels) = match &selected {
            Some((rows, labels)) => (rows, labels.as_ref()),
            None => (given, labels),
        };
        let own = settings.landmarks.is_none() && selected.is_none();
        if !own {
            check_rows(kernel, rows, 0)?;
        }
        let mut gram = Gram::with_rounding(kernel, chosen_from, self.rounding)?;
        // What is read from a checkpoint is recomputed in other bits than those of the factor.
        let plan = MemoryPlan { coordinates: plan.coordinates && own && !plan.checkpoint, ..plan };
        let storage = settings.factor_storage(chosen_from.n(), cap.min(chosen_from.n()), plan);
        if storage == FactorStorage::Recomputed && settings.method.is_pivoted() {
            let resumed = plan.checkpoint && settings.method.is_resumed();
            warnings.extend(about_storage(plan, resumed, given.n(), cap));
        } else if chosen_from.gpu_rows().is_some() {
            // GPUs compute in float64, which costs them no more.
        } else if precision == Precision::Single && gram.fits_f32() {
            gram = gram.in_f32();
        } else if precision == Precision::Single {
            warnings.push(format!(
                "values of the kernel `{}` on these rows leave the range of float32: fitted in float64\n\
                 hint: scale the columns",
                settings.shape.name()
            ));
        }
        let (mut fitted, coordinates) =
            self.search_in(&gram, chosen_from, cap, their_labels, storage, checkpoint)?;
        if let Some(places) = sample {
            fitted.pivots.iter_mut().for_each(|pivot| *pivot = places[*pivot]);
        }
        fitted.n_rows = rows.n();
        fitted.warnings.splice(0..0, warnings);
        if settings.method == Method::Kmeans {
            // The centres are no rows, and fewer than asked for where fewer rows are distinct.
            fitted.pivots.clear();
            fitted.stop =
                if fitted.n_components() == cap && cap < given.n() { Stop::Cap } else { Stop::Rank };
        } else if fitted.stop == Stop::Cap && fitted.n_components() == chosen_from.n() {
            fitted.stop = Stop::Rank;
        }
        if !own && fitted.expansion.origin.is_none() {
            fitted.n_kernel_evaluations += (rows.n() * (1 + fitted.expansion.landmarks.len())) as u64;
            fitted.residual = fitted.relative_residual(rows, self.monitor())?;
        }
        if !own {
            fitted.trace = diagonal(kernel, rows).iter().sum();
        }
        checkpoint.iter_mut().try_for_each(|checkpoint| checkpoint.finish(&fitted))?;
        Ok((fitted, coordinates))
    }

    fn search_in(
        &self,
        gram: &Gram,
        rows: &Rows,
        cap: usize,
        labels: Option<&Labels>,
        storage: FactorStorage,
        checkpoint: &mut Option<BasisCheckpoint>,
    ) -> Result<Found> {
        match self.settings.method {
            Method::GramSchmidt => Ok((self.orthogonalise(gram, rows, cap)?, None)),
            Method::Kpca => Ok((self.find_components(gram, rows)?, None)),
            _ => self.choose_pivots(gram, rows, cap, labels, storage, checkpoint),
        }
    }

    fn orthogonalise(&self, gram: &Gram, rows: &Rows, cap: usize) -> Result<FittedBasis> {
        let tol = self.settings.tol.unwrap_or_else(gram_schmidt::default_tol);
        let found = gram_schmidt::run(gram, cap, tol, self.monitor())?;
        let m = found.pivots.len();
        let (pivots, offset) = (Some(found.pivots), vec![0.0; m]);
        let mut fitted = self.assemble(gram, rows, pivots, found.coefficients, offset, found.stop);
        fitted.pivot_norms = found.norms;
        // Of accepted rows nothing is left.
        let mut accepted = vec![false; rows.n()];
        fitted.pivots.iter().for_each(|&i| accepted[i] = true);
        let others: Vec<usize> = (0..rows.n()).filter(|&i| !accepted[i]).collect();
        let own = diagonal(gram.kernel(), rows);
        let of_others: Vec<f64> = others.iter().map(|&i| own[i]).collect();
        let left = fitted.expansion.residuals(&rows.select(&others), &of_others, self.monitor())?;
        let (left, trace) = (left.iter().sum::<f64>(), own.iter().sum::<f64>());
        fitted.residual = if trace > 0.0 { left / trace } else { 0.0 };
        fitted.n_kernel_evaluations += (others.len() * m) as u64;
        Ok(fitted)
    }

    fn choose_pivots(
        &self,
        gram: &Gram,
        rows: &Rows,
        cap: usize,
        labels: Option<&Labels>,
        storage: FactorStorage,
        checkpoint: &mut Option<BasisCheckpoint>,
    ) -> Result<Found> {
        let settings = self.settings;
        if rows.gpu_rows().is_some() {
            return self.choose_on_gpu(gram, rows, cap, storage);
        }
        let mut factor = Pivoted::new(gram, cap, storage, self.monitor())?;
        factor.rows.weights = self.draw_weights().cloned();
        factor.resume(checkpoint.take())?;
        let stage = self.stage(rows, cap, storage);
        self.monitor().enter(Stage { done: factor.pivots.len(), ..stage });
        let stop = if let (Method::Csi, Some(labels)) = (settings.method, labels) {
            // A size that is asked for ends it, unless a tolerance is asked for, too.
            let by_size =
                settings.n_components.is_some() && settings.tol.is_none_or(|tol| tol == csi::default_tol());
            let tol = if by_size { 0.0 } else { settings.tol.unwrap_or_else(csi::default_tol) };
            csi::grow(&mut factor, labels, tol)?
        } else {
            let varies = || Ok(variance(gram, &diagonal(gram.kernel(), rows), settings.seed));
            settings.grow_factor(&mut factor, self.draw_weights(), varies)?
        };
        *checkpoint = factor.checkpoint.take();
        let (coefficients, residual) = (factor.coefficients(), factor.relative_residual()?);
        let (pivots, norms) = (factor.pivots.clone(), factor.norms.clone());
        let offset = vec![0.0; pivots.len()];
        let mut fitted = self.assemble(gram, rows, Some(pivots), coefficients, offset, stop);
        fitted.pivot_norms = norms;
        fitted.residual = residual;
        fitted.precision = gram.precision();
        if let Some(report) = factor.rounding_report() {
            // Where it is made smaller afterwards it does not matter that it ended early.
            let smaller = self.settings.shrinks(self.rows.n(), self.labels) && report.error <= pivoted::ERROR;
            fitted.warnings.extend(about_rounding(&report, &fitted).filter(|_| !smaller));
            fitted.rounding_error = Some(report.error);
        }
        fitted.n_kernel_evaluations = gram.evaluations();
        Ok((fitted, if storage == FactorStorage::Returned { factor.into_features() } else { None }))
    }

    /// [`choose_pivots`](Self::choose_pivots) among rows that lie on a GPU.
    fn choose_on_gpu(&self, gram: &Gram, rows: &Rows, cap: usize, storage: FactorStorage) -> Result<Found> {
        let limit = -not_psd_limit(gram);
        let cap = cap.min(rows.n());
        let there = GpuRows::new(gram, rows, cap, storage, limit, self.monitor())?;
        let mut factor = Pivoted::over(there, cap, self.monitor());
        self.monitor().enter(self.stage(rows, cap, storage));
        let here = Here { rows, labels: None, weights: None };
        let settings = self.settings;
        let varies = || variance_of(&here, gram.kernel(), settings.seed);
        let stop = settings.grow_factor(&mut factor, self.draw_weights(), varies)?;
        let (coefficients, residual) = (factor.matrix()?, factor.relative_residual()?);
        let (pivots, norms) = (factor.pivots.clone(), factor.norms.clone());
        let offset = vec![0.0; pivots.len()];
        let mut fitted = self.assemble(gram, rows, Some(pivots), coefficients, offset, stop);
        fitted.pivot_norms = norms;
        fitted.residual = residual;
        let features = if storage == FactorStorage::Returned { factor.rows.into_features()? } else { None };
        Ok((fitted, features))
    }

    /// What choosing pivots among these rows will be like. A pivot costs a kernel value a row, and a product with those before
    /// it, whose values are recomputed where the factor is not kept.
    fn stage(&self, rows: &Rows, cap: usize, storage: FactorStorage) -> Stage {
        /// Flops of what is done with a row's products to make a kernel value of them, about.
        const FORMULA: usize = 30;
        let value = FORMULA + 2 * rows.n_stored() / rows.n();
        let head = match storage {
            FactorStorage::Recomputed => value * PENDING / (value + 2 * PENDING),
            _ => value / 2,
        };
        let open = matches!(self.settings.method, Method::Kobl | Method::Sparse | Method::Csi);
        Stage { name: "choosing pivots", total: cap, done: 0, growth: Growth::Linear(head), open }
    }

    fn find_components(&self, gram: &Gram, rows: &Rows) -> Result<FittedBasis> {
        let Self { settings, options, .. } = *self;
        let n = gram.n();
        let keep = kpca::Keep { cap: settings.n_components.map(|m| m.min(n)), share: settings.tol };
        let mut warnings = Vec::new();
        let found = if exact_kpca(n) <= options.memory {
            kpca::exact(gram, keep, settings.center, self.monitor())?
        } else {
            let l = settings.factor_columns(n);
            warnings.push(format!(
                "the kernel matrix of {n} rows does not fit into {}; its components come from an `rpcholesky` factor of \
                 at most {l} columns, and `residual` says what is left out",
                bytes(options.memory)
            ));
            kpca::from_factor(gram, keep, settings.center, l, settings.seed, self.monitor())?
        };
        if let Some(below) = found.negative {
            warnings.push(format!(
                "the kernel `{}` is not positive semi-definite on these rows: eigenvalues down to {below:.3} are left out, and \
                 distances between features are not those of the kernel",
                gram.kernel().shape.name()
            ));
        }
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
        rows: &Rows,
        pivots: Option<Vec<usize>>,
        matrix: Mat<f64>,
        offset: Vec<f64>,
        stop: Stop,
    ) -> FittedBasis {
        let indices = pivots.clone().unwrap_or_else(|| (0..rows.n()).collect());
        let landmarks = self.settings.landmarks_at(rows, indices);
        FittedBasis {
            method: self.settings.method,
            expansion: Expansion { kernel: gram.kernel(), landmarks, matrix, offset, origin: None },
            pivots: pivots.unwrap_or_default(),
            landmarks_given: self.settings.landmarks.is_some(),
            pivot_norms: Vec::new(),
            eigenvalues: None,
            residual: 0.0,
            trace: diagonal(gram.kernel(), rows).iter().sum(),
            precision: Precision::Double,
            rounding_error: None,
            n_kernel_evaluations: gram.evaluations(),
            n_rows: rows.n(),
            stop,
            warnings: Vec::new(),
        }
    }
}

impl FittedBasis {
    /// Coordinates of rows in the basis' precision, computed from their kernel values.
    pub(crate) fn coordinates(&self, rows: &Rows, monitor: &Monitor) -> Result<Rows<'static>> {
        if rows.gpu_rows().is_some() {
            return Applied::new(&self.expansion, rows)?.all_there(monitor);
        }
        let (n, m) = (rows.n(), self.n_components());
        match self.precision {
            Precision::Double => {
                let mut z = vec![0.0; n * m];
                let out = MatMut::from_row_major_slice_mut(&mut z, n, m);
                self.expansion.prepared().all(rows, out, monitor)?;
                Rows::dense(z, n, m)
            }
            Precision::Single => {
                let mut z = vec![0.0; n * m];
                let out = MatMut::from_row_major_slice_mut(&mut z, n, m);
                self.expansion.prepared_f32(n).all(rows, out, monitor)?;
                Rows::dense_f32(z, n, m)
            }
        }
    }
}

/// What the user should know of float32 with a checkpoint.
const WITH_CHECKPOINT: &str = "with a checkpoint a basis is fitted in float64";

/// What the user should know of a factor that is not kept.
fn about_storage(plan: MemoryPlan, resumed: bool, n: usize, cap: usize) -> Option<String> {
    let single = plan.precision == Precision::Single;
    if resumed {
        return single.then(|| WITH_CHECKPOINT.into());
    }
    Some(format!(
        "coordinates of {n} rows, {}, are more than the memory of {}: they are not kept, and kernel values are recomputed \
         instead{}",
        bytes(plan.factor(n, cap)),
        bytes(plan.budget),
        if single { ", in float64" } else { "" }
    ))
}

/// What the user should know of a fit in float32.
fn about_rounding(report: &RoundingReport, fitted: &FittedBasis) -> Option<String> {
    const HINT: &str = "hint: use precision = `double`";
    if report.error > pivoted::ERROR {
        let error = report.error;
        return Some(format!("float32 left an error of {error:.1e} in the coordinates\n{HINT}"));
    }
    let (m, residual) = (fitted.n_components(), fitted.residual);
    (fitted.stop == Stop::Rank && report.ends_early).then(|| {
        format!("float32 cannot distinguish more than {m} components, which leave {residual:.1e}\n{HINT}")
    })
}
