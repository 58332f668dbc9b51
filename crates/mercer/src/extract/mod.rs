//! Stage 5b: make columns. Directions in the basis' coordinates that serve the labels.
//!
//! Each extractor is a plain struct whose `directions` takes [`Coordinates`] and gives [`Directions`]: the rows' features
//! are seen through moments or margins, and what is left is a problem of the size of the basis. `fit` puts it together
//! with a basis and is in map/extracted.rs, where every method becomes a `FeatureMap`. [`Extractor`] is one of them,
//! chosen by name.

pub mod klfe;
pub mod skfe;
pub mod gda;
pub mod koc;
pub mod akda_qr;
pub mod kpls;
pub mod kmfa;
pub mod kanmm;
pub mod kpca;
mod coordinates;
mod ratio;
mod margin;

use faer::{Mat, MatRef};

pub use akda_qr::AkdaQr;
pub(crate) use coordinates::ROWS;
pub use coordinates::{Coordinates, Known, Limits};
pub use gda::Gda;
pub use kanmm::Kanmm;
pub use klfe::Klfe;
pub use kmfa::Kmfa;
pub use koc::Koc;
pub use kpca::Kpca;
pub use kpls::Kpls;
pub use skfe::{Skfe, Start};

use crate::basis::{Basis, Method};
use crate::data::either::Either;
use crate::data::labels::Labels;
use crate::error::{Error, Result};

/// Eigenvalues up to this share of the largest magnitude are rounding.
const RANK: f64 = 1e-12;

/// What an extractor finds: q directions in m coordinates, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Directions {
    /// q×m.
    pub matrix: Mat<f64>,
    /// Subtracted from the features, q numbers; empty: nothing.
    pub offset: Vec<f64>,
    /// The point, m numbers, whose features are 0; empty: the coordinates' own zero. Pre-images need it where there is an
    /// offset, which is what the directions make of it.
    pub origin: Vec<f64>,
    /// One a direction, descending (`kpls`: in the order found); empty if the method has none.
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
            origin: Vec::new(),
            eigenvalues: Vec::new(),
            explained: Vec::new(),
            alignment_path: Vec::new(),
            warnings: Vec::new(),
        }
    }
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

    /// An error unless the settings are allowed and such labels will do; [`directions`](Self::directions) asks too, but
    /// after a basis was fitted.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        match self {
            Self::Klfe(e) => {
                at_least_one(&[("n_components", e.n_components), ("n_neighbors", Some(e.n_neighbors))])
            }
            Self::Skfe(e) => e.check(),
            Self::Gda(e) => at_least_one(&[("n_components", e.n_components)]).and(ratio::check(e.reg)),
            Self::Koc(_) => Ok(()),
            Self::AkdaQr(e) => ratio::check(e.reg),
            Self::Kpls(e) => at_least_one(&[("n_components", Some(e.n_components))]),
            Self::Kmfa(e) => at_least_one(&[
                ("n_components", e.n_components),
                ("k_within", Some(e.k_within)),
                ("k_between", Some(e.k_between)),
            ])
            .and(ratio::check(e.reg)),
            Self::Kanmm(e) => {
                at_least_one(&[("n_components", e.n_components), ("n_neighbors", Some(e.n_neighbors))])
            }
            Self::Kpca(e) => at_least_one(&[("n_components", e.n_components)]),
        }?;
        match (self, labels) {
            (Self::Kpca(_), _) => Ok(()),
            (_, None) => Err(Error::argument(format!(
                "`{}` looks at the labels, but none were given\nhint: give them (y, `--target COL`)",
                self.name()
            ))),
            (Self::Kpls(_), Some(labels)) => labels.require_two("kpls"),
            (_, Some(labels)) => labels.require_classes(self.name()).map(|_| ()),
        }
    }

    /// The basis that the extractor comes with, for n rows.
    ///
    /// ```
    /// use mercer::{basis::Method, extract::{Extractor, Gda, Skfe}};
    ///
    /// let mut warnings = Vec::new();
    /// let (gda, skfe) = (Extractor::Gda(Gda::default()), Extractor::Skfe(Skfe::default()));
    /// assert_eq!(gda.default_basis(100, &mut warnings), Method::GramSchmidt);
    /// assert_eq!(skfe.default_basis(9_000, &mut warnings), Method::Kobl);
    /// assert!(warnings.is_empty());
    /// assert_eq!(gda.default_basis(9_000, &mut warnings), Method::Kobl);
    /// assert!(warnings[0].starts_with("9000 rows are more than 5000"));
    /// ```
    pub fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Method {
        match self {
            Self::Skfe(_) => Method::Kobl,
            Self::Kpca(_) => Method::Kpca,
            // Of the class means, which are few.
            Self::AkdaQr(_) => Method::GramSchmidt,
            Self::Klfe(_) => Method::Kpca.or_kobl(n, self.name(), warnings),
            _ => Method::GramSchmidt.or_kobl(n, self.name(), warnings),
        }
    }

    /// The basis to fit on these rows, from its settings: the settings as they are, except for `akda-qr`, whose landmarks
    /// are the class means.
    pub fn basis<'r>(
        &self,
        settings: Basis,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
    ) -> Result<Basis> {
        match (self, labels) {
            (Self::AkdaQr(_), Some(labels)) => AkdaQr::basis(&settings, rows, labels),
            (Self::AkdaQr(_), None) => self.check(None).map(|()| settings),
            _ => Ok(settings),
        }
    }

    /// Whether it looks at pairs of rows, for which it keeps their coordinates.
    pub(crate) fn keeps_coordinates(&self) -> bool {
        matches!(self, Self::Klfe(_) | Self::Kanmm(_) | Self::Kmfa(_))
    }

    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
        self.check(coordinates.labels)?;
        coordinates.check()?;
        match self {
            Self::Klfe(e) => e.find(coordinates),
            Self::Skfe(e) => e.find(coordinates),
            Self::Gda(e) => e.find(coordinates),
            Self::Koc(_) => Koc::find(coordinates),
            Self::AkdaQr(e) => e.find(coordinates),
            Self::Kpls(e) => e.find(coordinates),
            Self::Kmfa(e) => e.find(coordinates),
            Self::Kanmm(e) => e.find(coordinates),
            Self::Kpca(e) => e.find(coordinates),
        }
    }
}

macro_rules! directions {
    ($($extractor:ident),*) => {$(
        impl $extractor {
            /// The directions in the basis' coordinates.
            pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
                Extractor::$extractor(self.clone()).directions(coordinates)
            }
        }
    )*};
}

directions!(Klfe, Skfe, Gda, Koc, AkdaQr, Kpls, Kmfa, Kanmm, Kpca);

/// Multiplies each row by its sign.
fn turn(matrix: &mut Mat<f64>, signs: &[f64]) {
    for column in matrix.col_iter_mut() {
        column.iter_mut().zip(signs).for_each(|(v, sign)| *v *= sign);
    }
}

/// The first q columns as rows.
fn as_rows(vectors: MatRef<'_, f64>, q: usize) -> Mat<f64> {
    vectors.subcols(0, q).transpose().to_owned()
}

fn at_least_one(counts: &[(&str, Option<usize>)]) -> Result<()> {
    match counts.iter().find(|(_, count)| *count == Some(0)) {
        Some(("n_neighbors", _)) => {
            Err(Error::argument("n_neighbors = 0, but at least 1 neighbour is needed"))
        }
        Some((name, _)) => Err(Error::argument(format!("{name} = 0, but at least 1 is needed"))),
        None => Ok(()),
    }
}

/// How many directions to keep: as many as wanted, or else `usual`. At most `most` are there; `why` says what limits
/// them.
fn count(wanted: Option<usize>, usual: usize, most: usize, why: &str) -> Result<usize> {
    match wanted {
        Some(q) if q > most => Err(Error::argument(format!(
            "n_components = {q}, but only {most} can be had: {why}\nhint: lower it, or leave it out"
        ))),
        Some(q) => Ok(q),
        None => Ok(usual.min(most)),
    }
}

/// The share that each of the first q values has of the sum of all.
fn shares(values: &[f64], q: usize) -> Vec<f64> {
    let all: f64 = values.iter().sum();
    values[..q].iter().map(|v| v / all).collect()
}

#[cfg(test)]
mod tests;
