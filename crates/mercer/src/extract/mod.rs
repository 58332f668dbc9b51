//! Stage 5b: make columns. Directions in the basis' coordinates that serve the labels.
//!
//! Each extractor is a plain struct that implements [`Extract`]: its `find` takes [`Coordinates`] and gives [`Directions`].
//! The rows' features are seen through moments or margins, and what is left is a problem of the size of the basis. `fit`
//! puts it together with a basis and is in map/extracted.rs, where every method becomes a `FeatureMap`. [`Extractor`] is
//! any of them.

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
mod gpu_source;
mod from_sums;
mod ratio;
mod margin;

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use faer::{Mat, MatRef};

pub use akda_qr::AkdaQr;
pub(crate) use akda_qr::class_means;
pub(crate) use coordinates::{
    Comparison, FeatureSums, Given, SUM_ROWS, Source, Targets, are_few, at_once, keeps_features,
};
pub use coordinates::{Coordinates, Queries};
pub use gda::Gda;
pub use kanmm::Kanmm;
pub use klfe::{Klfe, KlfeMetric};
pub use kmfa::Kmfa;
pub use koc::Koc;
pub use kpca::Kpca;
pub use kpls::Kpls;
pub use skfe::{Skfe, Start};

use crate::basis::{Basis, Method, RELEVANT};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::data::rows::Rows;
use crate::data::weights::Weights;
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, Registered, Values};

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

/// A way to find directions. Each is a plain struct in a file of its own, with its [`MethodSpec`] beside it.
pub trait Extract: Debug + Send + Sync + 'static {
    /// What a user should know about it.
    fn spec(&self) -> &'static MethodSpec;

    /// An error unless the settings are allowed.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// What it needs to know of the labels.
    fn needs(&self) -> Needs {
        Needs::Classes
    }

    /// The basis that it comes with, for n rows.
    fn default_basis(&self, n: usize, _: &mut Vec<String>) -> Method {
        Method::of_rows(n)
    }

    /// The number of features that was asked for; 0: none was.
    fn wanted(&self) -> usize {
        0
    }

    /// The settings of the basis that it comes with: as large as the labels ask for.
    fn default_settings(&self, basis: Basis) -> Basis {
        basis.shrink(self.wanted())
    }

    /// The settings of the basis to fit, from those that were given.
    fn basis_settings(&self, settings: Basis) -> Result<Basis> {
        Ok(settings)
    }

    /// The basis to fit on these rows; `akda-qr` alone looks at them, as its landmarks are the class means.
    fn basis(&self, settings: Basis, _: &Rows, _: Option<&Labels>) -> Result<Basis> {
        self.basis_settings(settings)
    }

    /// The basis to fit on these rows, by what each row counts.
    fn basis_by(
        &self,
        settings: Basis,
        rows: &Rows,
        labels: Option<&Labels>,
        _: Option<&Weights>,
    ) -> Result<Basis> {
        self.basis(settings, rows, labels)
    }

    /// Whether it looks at pairs of rows, for which it keeps their coordinates.
    fn keeps_coordinates(&self) -> bool {
        false
    }

    /// Whether rows may count differently.
    fn takes_weights(&self) -> bool {
        true
    }

    /// How the directions of different numbers of features are related.
    fn sizes(&self) -> Sizes {
        Sizes::Nested
    }

    /// This extractor with another number of features; None where there is no choice.
    fn sized(&self, _: usize) -> Option<Extractor> {
        None
    }

    /// The directions in the basis' coordinates.
    fn find(&self, coordinates: &Coordinates) -> Result<Directions>;
}

/// How the directions of an extractor for different numbers of features are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// There is one number of features.
    One,
    /// The first directions are those of the smaller problem; asked for no number, it finds all there are.
    AllAtOnce,
    /// The first directions are those of the smaller problem.
    Nested,
    /// Every number is a problem of its own.
    Separate,
}

/// Any of the extractors, and which rows it compares with their neighbours.
///
/// ```
/// use mercer::{basis::Method, extract::{Extractor, Gda, Klfe}};
///
/// let mut warnings = Vec::new();
/// let (gda, klfe) = (Extractor::from(Gda::default()), Extractor::from(Klfe::default()));
/// assert_eq!(klfe.default_basis(100, &mut warnings), Method::Kpca);
/// let usual = gda.default_basis(9_000, &mut warnings);
/// assert!(warnings.is_empty());
/// assert_eq!(klfe.default_basis(9_000, &mut warnings), usual);
/// assert!(warnings[0].starts_with("9000 rows are more than 5000"));
/// ```
#[derive(Clone, Debug)]
pub struct Extractor {
    method: Arc<dyn Extract>,
    /// Which rows it compares with their neighbours. For `klfe` and `kanmm`.
    pub queries: Queries,
}

impl<E: Extract> From<E> for Extractor {
    fn from(extractor: E) -> Self {
        Self { method: Arc::new(extractor), queries: Queries::default() }
    }
}

impl Deref for Extractor {
    type Target = dyn Extract;

    fn deref(&self) -> &dyn Extract {
        &*self.method
    }
}

impl Extractor {
    /// Its name in Rust, Python and the command line.
    pub fn name(&self) -> &'static str {
        self.spec().name
    }

    /// An error unless the settings are allowed and such labels will do; [`directions`](Self::directions) asks too, but
    /// after a basis was fitted.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        self.method.check()?;
        self.needs().check(self.name(), labels)
    }

    /// Sets which rows it compares with their neighbours.
    pub fn with_queries(mut self, queries: Queries) -> Self {
        self.queries = queries;
        self
    }

    /// This extractor with another number of features; None where there is no choice.
    pub fn sized(&self, q: usize) -> Option<Self> {
        Some(Self { queries: self.queries, ..self.method.sized(q)? })
    }

    /// The directions in the basis' coordinates.
    pub fn directions(&self, coordinates: Coordinates) -> Result<Directions> {
        self.method.check()?;
        coordinates.check_target(self.needs(), self.name())?;
        self.find(&coordinates.queries(self.queries))
    }
}

/// `directions` of an extractor by its own name.
macro_rules! fit_methods {
    ($extractor:ident) => {
        impl $extractor {
            /// The directions in the basis' coordinates.
            pub fn directions(&self, coordinates: &Coordinates) -> Result<Directions> {
                Extract::check(self)?;
                coordinates.check_target(Extract::needs(self), SPEC.name)?;
                Extract::find(self, coordinates)
            }
        }
    };
}
use fit_methods;

/// Every extractor, and how it is made from its settings. A new one is added here.
pub(crate) const ALL: [Registered<Extractor>; 9] = [
    (&klfe::SPEC, |values| Klfe::from_values(values).into()),
    (&skfe::SPEC, |values| Skfe::from_values(values).into()),
    (&gda::SPEC, |values| Gda::from_values(values).into()),
    (&koc::SPEC, |values| Koc::from_values(values).into()),
    (&akda_qr::SPEC, |values| AkdaQr::from_values(values).into()),
    (&kpls::SPEC, |values| Kpls::from_values(values).into()),
    (&kmfa::SPEC, |values| Kmfa::from_values(values).into()),
    (&kanmm::SPEC, |values| Kanmm::from_values(values).into()),
    (&kpca::SPEC, |values| Kpca::from_values(values).into()),
];

impl Queries {
    /// The settings `n_queries`, `neighbors` and `seed`, which were checked.
    pub(crate) fn from_values(values: &Values) -> Self {
        Self {
            n_queries: values.count("n_queries"),
            neighbors: Search::from_values(values),
            seed: values.seed(),
        }
    }
}

/// The basis in whose coordinates directions are found.
pub(crate) const BASIS: Parameter = Parameter::new(
    "basis",
    Kind::Choice(&Method::NAMES),
    "the basis in whose coordinates features are chosen or made",
);

const N_COMPONENTS: Parameter = Parameter::whole("n_components", 1, "the number of features");

const BASIS_COMPONENTS: Parameter = Parameter::new(
    "basis_components",
    Kind::WholeOr { least: 1, words: &[RELEVANT] },
    "the basis' most components; `relevant` keeps as many of the first as are relevant for the labels",
)
.none("what the basis has without n_components");

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
