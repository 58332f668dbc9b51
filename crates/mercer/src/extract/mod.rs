//! Stage 5b: make columns. Directions in the basis' coordinates that serve the labels.
//!
//! Each extractor is a plain struct whose `directions` takes [`Coordinates`] and gives [`Directions`]: the rows' features
//! are seen through moments or margins, and what is left is a problem of the size of the basis. `fit` puts it together
//! with a basis and is in map/extracted.rs, where every method becomes a `FeatureMap`. [`Extractor`] is one of them,
//! chosen by name.

pub mod klfe;
pub mod gda;
pub mod koc;
pub mod akda_qr;
pub mod kpls;
pub mod kmfa;
pub mod kanmm;
pub mod skfe;
pub mod kpca;

use std::borrow::Cow;

use faer::{Mat, MatMut, MatRef};

pub use akda_qr::AkdaQr;
pub use gda::Gda;
pub use kanmm::Kanmm;
pub use klfe::Klfe;
pub use kmfa::Kmfa;
pub use koc::Koc;
pub use kpca::Kpca;
pub use kpls::Kpls;
pub use skfe::{Skfe, Start};

use crate::basis::FittedBasis;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::evidence::moments::{Moments, Summary};
use crate::kernel::Shape;
use crate::linalg::{positive_signs, sum_in_order};
use crate::monitor::Monitor;

/// Rows whose features are added up together.
const ROWS: usize = 1_024;

/// What an extractor finds: q directions in m coordinates, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions {
    /// q×m.
    pub matrix: Mat<f64>,
    /// Subtracted from the features, q numbers; empty: nothing.
    pub offset: Vec<f64>,
    /// One a direction, descending; empty if the method has none.
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
            eigenvalues: Vec::new(),
            explained: Vec::new(),
            alignment_path: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// Labelled rows seen through a basis that was fitted on them.
#[derive(Clone, Copy, Debug)]
pub struct Coordinates<'a> {
    /// n training rows.
    pub rows: &'a Rows<'a>,
    /// What the rows are to be told apart by; `kpca` does without.
    pub labels: Option<&'a Labels>,
    /// The basis.
    pub basis: &'a FittedBasis,
    /// Progress out, stop in.
    pub monitor: &'a Monitor,
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

    /// The directions.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        coordinates.check()?;
        match self {
            Self::Klfe(e) => e.directions(coordinates),
            Self::Skfe(e) => e.directions(coordinates),
            Self::Gda(e) => e.directions(coordinates),
            Self::Koc(e) => e.directions(coordinates),
            Self::AkdaQr(e) => e.directions(coordinates),
            Self::Kpls(e) => e.directions(coordinates),
            Self::Kmfa(e) => e.directions(coordinates),
            Self::Kanmm(e) => e.directions(coordinates),
            Self::Kpca(e) => e.directions(coordinates),
        }
    }
}

impl<'a> Coordinates<'a> {
    /// The labels, or an error that names the method.
    pub(crate) fn labels(&self, method: &str) -> Result<&'a Labels> {
        self.labels.ok_or_else(|| {
            Error::argument(format!(
                "`{method}` looks at the labels, but none were given\nhint: give them (y, `--target COL`)"
            ))
        })
    }

    fn check(&self) -> Result<()> {
        let n = self.rows.n();
        if let Some(labels) = self.labels
            && labels.len() != n
        {
            return Err(Error::data(format!("{n} rows, but {} labels", labels.len())));
        }
        if self.basis.expansion.kernel.shape == Shape::Precomputed && n != self.rows.p() {
            return Err(Error::data(
                "a precomputed kernel must be the square matrix that the basis was fitted on",
            ));
        }
        self.basis.expansion.check(self.rows, None, 0)
    }

    /// The features of all rows, n×m. Methods that need no pairs of rows take [`moments`](Self::moments) instead.
    pub(crate) fn features(&self) -> Result<Mat<f64>> {
        let mut z = Mat::zeros(self.rows.n(), self.basis.n_components());
        self.basis.expansion.apply(self.rows, |part, _| Ok(Cow::Owned(part)), z.as_mut(), self.monitor)?;
        Ok(z)
    }

    /// Means and scatters of features and targets (one-hot classes, or the numbers), panel by panel; the features are
    /// not kept.
    pub(crate) fn moments(&self, labels: &Labels) -> Result<Summary> {
        let (y, c) = labels.one_hot();
        let (n, m) = (self.rows.n(), self.basis.n_components());
        let y = MatRef::from_row_major_slice(&y, n, c);
        let range = |at: usize| at * ROWS..n.min((at + 1) * ROWS);
        let mut first = Moments::new(m, c);
        first.accumulate(self.panel(range(0)).as_ref(), y.subrows(0, range(0).len()))?;
        let shift = first.shift().map(<[f64]>::to_vec).unwrap_or_default();
        self.monitor.begin("adding up features", n.div_ceil(ROWS));
        let sum = sum_in_order(n.div_ceil(ROWS), m + c + 1, m + c + 1, self.monitor, |at| {
            let rows = range(at);
            let y = y.subrows(rows.start, rows.len());
            let mut part = Moments::about(m, c, shift.clone()).unwrap_or_else(|e| unreachable!("{e}"));
            part.accumulate(self.panel(rows).as_ref(), y).unwrap_or_else(|e| unreachable!("{e}"));
            self.monitor.advance(1);
            part.into_sum()
        })?;
        Moments::from_sum(m, c, shift, sum).finish()
    }

    /// The features of a few rows.
    fn panel(&self, rows: std::ops::Range<usize>) -> Mat<f64> {
        let h = rows.len();
        let part = self.rows.slice(rows);
        let mut z = vec![0.0; h * self.basis.n_components()];
        let out = MatMut::from_row_major_slice_mut(&mut z, h, self.basis.n_components());
        self.basis.expansion.apply_here(&part, out);
        MatRef::from_row_major_slice(&z, h, self.basis.n_components()).to_owned()
    }

    /// Signs of directions (q×m) such that the training row with the largest |feature| (lowest index on ties) is
    /// positive, so that they do not depend on the basis. `offset` is what is subtracted from the features.
    pub(crate) fn signs(&self, matrix: MatRef<'_, f64>, offset: &[f64]) -> Result<Vec<f64>> {
        let composed = self.basis.expansion.composed(matrix, offset);
        let mut features = Mat::zeros(self.rows.n(), matrix.nrows());
        composed.apply(self.rows, |part, _| Ok(Cow::Owned(part)), features.as_mut(), self.monitor)?;
        Ok(positive_signs(features.as_ref()))
    }
}
