//! Stage 6: the one fitted model. Scale the row, compare it with the landmarks, apply one matrix, subtract one offset.
//!
//!   f(x) = M·k(scale(x), landmarks) − b
//!
//! `columns.rs` has the other model, which keeps input columns as they are. `file.rs` writes and reads both.

mod file;
mod facts;
mod features;
mod extracted;
mod prepared;
mod on_gpu;
mod columns;
mod model;
mod support;
pub(crate) mod predictor;

use std::any::Any;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use faer::{Mat, MatMut, MatRef};

use crate::basis::{Expansion, FittedBasis, Landmarks, Method, Precision};
use crate::data::encode::Encoder;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::extract::Directions;
use crate::kernel::on_gpu::no_formula;
use crate::monitor::Monitor;
use crate::size::{check_available, matrix_bytes};
use crate::whole_file::{finish, temporary};

pub use columns::{COLUMNS_FORMAT_VERSION, SelectedColumns};
pub use facts::{Facts, Weighting};
pub use features::StoredFeatures;
pub use model::Model;
pub use predictor::Predictor;
pub use prepared::PreparedMap;
pub use support::ImportantPoints;

/// The format of files that hold a [`FeatureMap`]; that of [`SelectedColumns`] is newer.
pub const FORMAT_VERSION: u64 = 1;

/// The format of files that hold a [`FeatureMap`] of rows that are divided by their length.
pub const UNIT_FORMAT_VERSION: u64 = 3;

/// A fitted map from rows to features: what every method ends as.
///
/// ```
/// use mercer::{Basis, FeatureMap, Kernel, data::synth};
///
/// let table = synth::generate("ringnorm?n=200&seed=1")?;
/// let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(5).fit(&table.rows)?;
/// let map = FeatureMap::from(basis);
/// let path = std::env::temp_dir().join("mercer-doc.mercer");
/// map.save(&path)?;
/// let again = FeatureMap::load(&path)?;
/// assert_eq!(again.transform(&table.rows)?, map.transform(&table.rows)?);
/// assert_eq!(again.feature_names, ["kobl0", "kobl1", "kobl2", "kobl3", "kobl4"]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    /// The method that made it.
    pub method: String,
    /// How the columns of a table become the inputs, where they are not just numbers. [`transform`](Self::transform) takes rows
    /// that are encoded already.
    pub encoder: Option<Encoder>,
    /// Applied to rows first, if any.
    pub scaling: Option<Scaling>,
    /// Kernel, landmarks, matrix, offset.
    pub expansion: Expansion,
    /// Names of the input columns, by which new rows are matched; None: by place.
    pub input_names: Option<Vec<String>>,
    /// Names of the features.
    pub feature_names: Vec<String>,
    /// One score a feature, high is good; empty if the method has none.
    pub scores: Vec<f64>,
    /// Training rows that are the landmarks, in the order chosen; empty if all are.
    pub pivots: Vec<usize>,
    /// Residual norms of the pivots when they were chosen.
    pub pivot_norms: Vec<f64>,
    /// Eigenvalues, where the method has them.
    pub eigenvalues: Vec<f64>,
    /// How it was made: number of rows, residual, settings, seed.
    pub facts: Facts,
    /// What predicts the labels, where one was fitted.
    pub predictor: Option<Predictor>,
    /// What the user should know of the fit; a file does not hold it.
    pub warnings: Vec<String>,
}

impl From<FittedBasis> for FeatureMap {
    /// The map whose features are the basis' own coordinates.
    fn from(basis: FittedBasis) -> Self {
        let name = basis.method.name();
        let facts = Facts {
            rows: Some(basis.n_rows),
            residual: Some(basis.residual),
            kernel_evaluations: Some(basis.n_kernel_evaluations),
            precision: basis.rounding_error.map(|_| basis.precision),
            rounding_error: basis.rounding_error,
            stopped_by: Some(basis.stop),
            landmarks_given: basis.landmarks_given.then_some(true),
            ..Facts::default()
        };
        Self {
            method: name.into(),
            encoder: None,
            scaling: None,
            input_names: None,
            feature_names: feature_names(name, basis.n_components()),
            scores: Vec::new(),
            pivots: basis.pivots,
            pivot_norms: basis.pivot_norms,
            eigenvalues: basis.eigenvalues.unwrap_or_default(),
            facts,
            predictor: None,
            warnings: basis.warnings,
            expansion: basis.expansion,
        }
    }
}

impl FeatureMap {
    /// Numbers landmarks as rows of a table of n rows, of which those at these places were fitted on.
    pub(crate) fn renumber(&mut self, places: &[usize], n: usize) {
        let all_are_landmarks = self.facts.rows == Some(self.expansion.landmarks.len());
        if self.pivots.is_empty() && all_are_landmarks && self.facts.landmarks_given != Some(true) {
            self.pivots = places.to_vec();
        } else {
            self.pivots.iter_mut().for_each(|pivot| *pivot = places[*pivot]);
        }
        self.facts.rows = Some(n);
    }

    /// The map whose features are directions in a basis' coordinates, M·z − b.
    ///
    /// ```
    /// use faer::mat;
    /// use mercer::{Basis, FeatureMap, Kernel, Rows, extract::Directions};
    ///
    /// let rows = Rows::dense(vec![1.0, 0.0, 0.0, 2.0], 2, 2)?;
    /// let basis = FeatureMap::from(Basis::kobl(Kernel::linear()).fit(&rows)?); // (y, x)
    /// let sum = Directions { matrix: mat![[1.0, 1.0]], ..Directions::default() };
    /// let map = FeatureMap::from_directions("gda", basis, &sum)?;
    /// assert_eq!(map.transform(&rows)?, mat![[1.0], [2.0]]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn from_directions(method: &str, basis: Self, directions: &Directions) -> Result<Self> {
        let mut map = basis;
        let (q, m) = (directions.matrix.nrows(), directions.matrix.ncols());
        let fits = |given: &[f64], wanted: usize| given.is_empty() || given.len() == wanted;
        if m != map.n_features() || !fits(&directions.offset, q) || !fits(&directions.origin, m) {
            return Err(Error::argument(format!(
                "directions {q} × {m} with {} offsets about a point of {} numbers do not fit a basis of {} coordinates",
                directions.offset.len(),
                directions.origin.len(),
                map.n_features()
            )));
        }
        map.facts.basis = Some(std::mem::replace(&mut map.method, method.into()));
        map.facts.coordinates = Some(m);
        map.feature_names = feature_names(method, q);
        map.expansion =
            map.expansion.composed(directions.matrix.as_ref(), &directions.offset, &directions.origin);
        map.eigenvalues.clone_from(&directions.eigenvalues);
        map.facts.explained.clone_from(&directions.explained);
        map.facts.alignment_path.clone_from(&directions.alignment_path);
        map.warnings.extend(directions.warnings.iter().cloned());
        Ok(map)
    }

    /// The map whose features are some of a basis' own, each multiplied by its weight if there are weights. `columns`
    /// ascend; `weights`, and `scores` where there are any, hold one number for each of them. Landmarks that no kept
    /// feature uses are left out, so that fewer kernel values are needed for a row.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0, 7.0], 4, 1)?;
    /// let basis = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(3).fit(&rows)?);
    /// let all = basis.transform(&rows)?;
    /// let map = FeatureMap::from_columns("eks", basis, &[0, 1], Some(&[1.0, 0.5]), vec![9.0, 3.0])?;
    /// assert_eq!(map.feature_names, ["kobl0", "kobl1"]);
    /// assert_eq!(map.expansion.landmarks.len(), 2); // the third coordinate alone needed the third
    /// let z = map.transform(&rows)?;
    /// assert!((0..4).all(|i| (z[(i, 1)] - all[(i, 1)] / 2.0).abs() < 1e-15));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn from_columns(
        method: &str,
        basis: Self,
        columns: &[usize],
        weights: Option<&[f64]>,
        scores: Vec<f64>,
    ) -> Result<Self> {
        let m = basis.n_features();
        check_columns(m, columns, weights, &scores)?;
        let mut map = basis;
        map.facts.basis = Some(std::mem::replace(&mut map.method, method.into()));
        map.facts.coordinates = Some(m);
        map.feature_names = columns.iter().map(|&j| map.feature_names[j].clone()).collect();
        if map.eigenvalues.len() == m {
            map.eigenvalues = columns.iter().map(|&j| map.eigenvalues[j]).collect();
        }
        map.scores = scores;
        let weight = |at: usize| weights.map_or(1.0, |w| w[at]);
        let all = &map.expansion;
        let offset = columns.iter().enumerate().map(|(at, &j)| all.offset[j] * weight(at)).collect();
        let matrix = Mat::from_fn(columns.len(), all.landmarks.len(), |at, l| {
            all.matrix[(columns[at], l)] * weight(at)
        });
        map.expansion.offset = offset;
        map.expansion.matrix = matrix;
        map.drop_unused_landmarks();
        Ok(map)
    }

    /// This map, and its predictor, for rows before a scaling that was applied to them; an error if the two scalings cannot
    /// be one.
    pub fn after(mut self, scaling: Option<&Scaling>) -> Result<Self> {
        let Some(first) = scaling else { return Ok(self) };
        self.scaling = Some(match self.scaling.take() {
            Some(then) => first.then(&then)?,
            None => first.clone(),
        });
        if let Some(predictor) = &mut self.predictor {
            let members = std::mem::take(&mut predictor.members);
            predictor.members =
                members.into_iter().map(|member| member.after(scaling)).collect::<Result<_>>()?;
        }
        Ok(self)
    }

    /// The format of its file: an older program must not read one whose rows it would not scale.
    pub fn format_version(&self) -> u64 {
        let divides = |map: &Self| map.scaling.as_ref().is_some_and(|scaling| scaling.unit);
        let members = self.predictor.iter().flat_map(|predictor| &predictor.members);
        if std::iter::once(self).chain(members).any(divides) { UNIT_FORMAT_VERSION } else { FORMAT_VERSION }
    }

    /// Forgets the landmarks that neither a feature nor the origin uses; at least one stays.
    fn drop_unused_landmarks(&mut self) {
        let Expansion { landmarks, matrix, origin, .. } = &mut self.expansion;
        let l = landmarks.len();
        let used = |at: &usize| {
            matrix.col(*at).iter().any(|v| *v != 0.0) || origin.as_ref().is_some_and(|o| o[*at] != 0.0)
        };
        let mut kept: Vec<usize> = (0..l).filter(used).collect();
        if kept.is_empty() {
            kept.push(0);
        }
        if kept.len() == l {
            return;
        }
        *matrix = Mat::from_fn(matrix.nrows(), kept.len(), |i, at| matrix[(i, kept[at])]);
        if let Some(origin) = origin {
            *origin = kept.iter().map(|&at| origin[at]).collect();
        }
        match landmarks {
            Landmarks::Rows(rows) => *rows = rows.select(&kept),
            Landmarks::Columns { indices, .. } => *indices = kept.iter().map(|&at| indices[at]).collect(),
        }
        if self.pivot_norms.len() == l {
            self.pivot_norms = kept.iter().map(|&at| self.pivot_norms[at]).collect();
        }
        if self.pivots.len() == l {
            self.pivots = kept.iter().map(|&at| self.pivots[at]).collect();
        } else if self.facts.basis.as_deref() != Some(Method::Kmeans.name()) {
            // No pivots means that every row is a landmark, which is no longer so; centres are no rows.
            self.pivots = kept;
        }
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.expansion.n_features()
    }

    /// Features of every row, n×q.
    pub fn transform(&self, rows: &Rows) -> Result<Mat<f64>> {
        let (n, q) = (rows.n(), self.n_features());
        check_available(matrix_bytes(n, q), || format!("{q} features of {n} rows"))?;
        let mut out = Mat::zeros(n, q);
        self.transform_into(rows, out.as_mut(), &Monitor::default())?;
        Ok(out)
    }

    /// Features of every row into memory of the caller's, n×q, in panels of rows shared out to threads.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(2).fit(&rows)?);
    /// let mut features = vec![0.0; 3 * 2]; // row-major
    /// let out = faer::MatMut::from_row_major_slice_mut(&mut features, 3, 2);
    /// map.transform_into(&rows, out, &Monitor::default())?;
    /// assert!((features[0] - 1.0).abs() < 1e-15 && features[1].abs() < 1e-15); // row 0 is the first landmark
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn transform_into(&self, rows: &Rows, out: MatMut<'_, f64>, monitor: &Monitor) -> Result<()> {
        prepared::transform(self, &self.expansion.prepared(), rows, out, monitor)
    }

    /// Float32 features of every row into memory of the caller's; no float64 copy of all rows or features is made. Returns
    /// what they were computed in: see [`Expansion::precision`].
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(2).fit(&rows)?);
    /// let mut features = vec![0.0f32; 3 * 2]; // row-major
    /// let out = faer::MatMut::from_row_major_slice_mut(&mut features, 3, 2);
    /// map.transform_f32_into(&Rows::dense_f32(vec![0.0f32, 1.0, 2.0], 3, 1)?, out, &Monitor::default())?;
    /// assert!((features[0] - 1.0).abs() < 1e-6 && features[1].abs() < 1e-6); // row 0 is the first landmark
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn transform_f32_into(
        &self,
        rows: &Rows,
        out: MatMut<'_, f32>,
        monitor: &Monitor,
    ) -> Result<Precision> {
        let panels = self.expansion.prepared_f32(rows.n());
        prepared::transform(self, &panels, rows, out, monitor).map(|()| panels.precision())
    }

    /// Rows to transform on a device: on a GPU where it has the formulas, and an error where one was asked for that has not.
    pub fn rows_on<'r>(&self, rows: Rows<'r>, device: Device) -> Result<Rows<'r>> {
        let shape = self.expansion.kernel.shape;
        match device {
            Device::Cpu => Ok(rows),
            _ if shape.is_on_gpus() => rows.on(device),
            _ if device.falls_back() => Ok(rows),
            _ => Err(no_formula(shape)),
        }
    }

    /// Features of rows that lie on a GPU, left there: n×q, of which nothing is copied here until it is looked at.
    pub fn transform_there(&self, rows: &Rows, monitor: &Monitor) -> Result<Rows<'static>> {
        on_gpu::transform_there(self, rows, monitor)
    }

    /// Features of rows that lie on a GPU into memory of others there, n×q and row after row.
    ///
    /// # Safety
    /// There must be n·q numbers of the precision at the address as long as `owner` lives, on the rows' GPU, and nobody may
    /// read or write them meanwhile.
    #[expect(unsafe_code, reason = "an address is believed")]
    pub unsafe fn transform_to_address(
        &self,
        rows: &Rows,
        address: u64,
        precision: Precision,
        owner: Arc<dyn Any + Send + Sync>,
        monitor: &Monitor,
    ) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { on_gpu::transform_to_address(self, rows, address, precision, owner, monitor) }
    }

    /// How much each feature depends on each input, q×p: the mean over these rows of the squared slope of the feature
    /// along the input. Slopes are taken as the kernel sees the inputs, after the map's scaling, so the units of the
    /// columns do not matter.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 0.0, 3.0, 4.0], 2, 2)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::linear()).fit(&rows)?); // 0.6·x + 0.8·y
    /// let importance = map.input_importance(&rows, &Monitor::default())?;
    /// assert!((importance[(0, 0)] - 0.36).abs() < 1e-15 && (importance[(0, 1)] - 0.64).abs() < 1e-15);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn input_importance(&self, rows: &Rows, monitor: &Monitor) -> Result<Mat<f64>> {
        rows.check_finite(self.input_names.as_deref())?;
        match &self.scaling {
            Some(scaling) if rows.p() == scaling.factor.len() => {
                self.expansion.input_importance(&scaling.apply(rows)?, monitor)
            }
            _ => self.expansion.input_importance(rows, monitor),
        }
    }

    /// Rows (row-major n×p) whose features come closest to these, for kernels that have a pre-image.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 0.0, 3.0, 4.0], 2, 2)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::linear()).fit(&rows)?);
    /// let z = map.transform(&rows)?; // one coordinate, along (3, 4)
    /// let back = map.inverse_transform(z.as_ref(), &Monitor::default())?;
    /// assert!(back.iter().zip([0.0, 0.0, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-12));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn inverse_transform(&self, features: MatRef<'_, f64>, monitor: &Monitor) -> Result<Vec<f64>> {
        let mut rows = self.expansion.inverse_transform(features, monitor)?;
        if let Some(scaling) = &self.scaling {
            scaling.undo(&mut rows);
        }
        Ok(rows)
    }

    /// Writes the model, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut file = temporary(path)?;
        self.write_to(&mut file, &path.display().to_string())?;
        finish(file, path)
    }

    /// Writes the model to anything that takes bytes; `name` is what errors call it.
    ///
    /// ```
    /// use mercer::{Basis, FeatureMap, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
    /// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).fit(&rows)?);
    /// let mut bytes = Vec::new();
    /// map.write_to(&mut bytes, "memory")?;
    /// assert_eq!(FeatureMap::read_from(&bytes[..], "memory")?.n_features(), map.n_features());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn write_to(&self, out: &mut impl Write, name: &str) -> Result<()> {
        let members = self.predictor.iter().flat_map(|predictor| &predictor.members);
        let own = std::iter::once(self).chain(members).find(|map| map.expansion.kernel.shape.is_own());
        if let Some(map) = own {
            return Err(Error::argument(format!(
                "a model with the kernel `{}` cannot be saved: a file holds no code, so functions of one's own are not in it\n\
                 hint: use a kernel by name, or sums and products of these",
                map.expansion.kernel.shape.name()
            )));
        }
        self.write_with_functions(out, name)
    }

    /// [`write_to`](Self::write_to) for models whose kernels have functions of one's own, which are in it by name alone: who reads
    /// it gives them again, in [`with_functions`](crate::kernel::own::with_functions).
    pub fn write_with_functions(&self, out: &mut impl Write, name: &str) -> Result<()> {
        let bytes = self.to_bytes().map_err(|e| Error::file(name, e.to_string()))?;
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|e| Error::io(name, e))
    }

    /// Reads a model from anything that gives bytes, checking all of it; `name` is what errors call it.
    pub fn read_from(mut input: impl Read, name: &str) -> Result<Self> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|e| Error::io(name, e))?;
        Self::from_bytes(&bytes).map_err(|reason| Error::file(name, reason))
    }

    /// Reads a model, checking all of it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(&bytes).map_err(|reason| Error::file(path, reason))
    }
}

/// An error unless these are columns of m, at least one, each with its numbers.
pub(crate) fn check_columns(
    m: usize,
    columns: &[usize],
    weights: Option<&[f64]>,
    scores: &[f64],
) -> Result<()> {
    if columns.is_empty() {
        return Err(Error::data(format!(
            "none of the {m} coordinates was kept: no score is good enough\n\
             hint: keep a number of them (n_features) with weighted = false, or try another kernel width (gamma), basis or \
             selector"
        )));
    }
    if let Some(j) = columns.iter().find(|j| **j >= m) {
        return Err(Error::argument(format!(
            "column {j} was chosen, but there are only {m}, counted from 0"
        )));
    }
    if !columns.is_sorted_by(|a, b| a < b) {
        return Err(Error::argument("columns must ascend, each once: they stay in the basis' order"));
    }
    for (what, given) in [("weights", weights), ("scores", (!scores.is_empty()).then_some(scores))] {
        let Some(given) = given else { continue };
        if given.len() != columns.len() || given.iter().any(|v| !v.is_finite()) {
            return Err(Error::argument(format!(
                "{} {what} for {} columns; one finite number for each is needed",
                given.len(),
                columns.len()
            )));
        }
    }
    Ok(())
}

/// What a column is: the method that made it and its place, `kobl17`.
fn feature_names(method: &str, count: usize) -> Vec<String> {
    let method = method.replace('-', "");
    (0..count).map(|i| format!("{method}{i}")).collect()
}

impl FeatureMap {
    /// Multiplies every feature by one number.
    pub(crate) fn multiply(&mut self, factor: f64) {
        let expansion = &mut self.expansion;
        for column in expansion.matrix.col_iter_mut() {
            column.iter_mut().for_each(|v| *v *= factor);
        }
        expansion.offset.iter_mut().for_each(|v| *v *= factor);
    }
}
