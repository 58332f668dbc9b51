//! KOC: kernel orthogonal centroids, an orthonormal basis of the class centroids.
//!
//!   (z̄_1, …, z̄_c) = Q R;   features Qᵀz
//!
//! cost    two passes over the rows (moments, signs), 4·m·c² flops
//! source  Park, Jeon & Rosen 2003 (orthogonal centroids); Kim, Howland & Park 2005 (with kernels)
//! differs centroids are taken in class order and orthogonalised twice; one that the earlier ones nearly span (a residual
//!         of at most 1e−8 of its own norm) is left out, with a warning

use faer::{Mat, MatRef};

use super::{BASIS, BASIS_COMPONENTS, Sizes};
use super::{Coordinates, Directions, Extract, as_rows, fit_methods};
use crate::data::labels::Labels;
use crate::error::{Error, Result};
use crate::evidence::moments::Summary;
use crate::real::Precision;
use crate::spec::{FromValues, MethodSpec, Stage, Values};

/// What is left of a centroid, relative to its norm, up to which it depends on the earlier ones.
const DEPENDENT: f64 = 1e-8;

/// Kernel orthogonal centroids.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::Koc};
///
/// let rows = Rows::dense(vec![1.0, 1.0, 3.0, -1.0, 4.0, 5.0], 3, 2)?;
/// let labels = Labels::classes(&["a", "a", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let z = Koc.fit(&rows, &labels, basis)?.transform(&rows)?; // centroids (2, 0) and (4, 5): the axes
/// assert!((z[(1, 0)] - 3.0).abs() < 1e-12 && (z[(1, 1)] + 1.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Koc;

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "koc",
    stage: Stage::Extract,
    file: "extract/koc.rs",
    source: "Kim, Howland & Park 2005",
    cost: "n·m² flops, m·c²",
    parameters: &[
        BASIS.none("kfa, as large as the labels ask for; beyond 5000 rows rpcholesky"),
        BASIS_COMPONENTS,
    ],
    help: "kernel orthogonal centroids: an orthonormal basis of the class centroids",
};

impl FromValues for Koc {
    fn from_values(_: &Values) -> Self {
        Self
    }
}

impl Default for Koc {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Koc {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn sizes(&self) -> Sizes {
        Sizes::One
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        let (labels, _, _) = coordinates.classes("koc")?;
        let summary = coordinates.moments(Some(labels))?;
        let (vectors, left_out) = centroids(&summary, coordinates.precision());
        if vectors.ncols() == 0 {
            return Err(Error::data("`koc`: every class has its centroid at 0 in the basis' coordinates"));
        }
        let mut directions = coordinates.oriented(as_rows(vectors.as_ref(), vectors.ncols()), Vec::new())?;
        directions.warnings = warning(labels, &left_out, vectors.ncols());
        Ok(directions)
    }
}

fit_methods!(Koc);

/// An orthonormal basis (columns) of the centroids of the classes that have rows, and those whose centroid adds nothing.
pub(super) fn centroids(summary: &Summary, precision: Precision) -> (Mat<f64>, Vec<usize>) {
    let (sums, sizes) = (summary.sums(), summary.sizes());
    let classes: Vec<usize> = (0..sizes.len()).filter(|&j| sizes[j] > 0.0).collect();
    let means =
        Mat::from_fn(sums.nrows(), classes.len(), |i, at| sums[(i, classes[at])] / sizes[classes[at]]);
    let (vectors, kept) = orthonormal(means.as_ref(), precision);
    let left_out = (0..classes.len()).filter(|at| !kept.contains(at)).map(|at| classes[at]).collect();
    (vectors, left_out)
}

/// The columns, made of features of this precision, orthogonalised twice in their order, and which of them were kept.
pub(super) fn orthonormal(columns: MatRef<'_, f64>, precision: Precision) -> (Mat<f64>, Vec<usize>) {
    let dependent = precision.tolerance(DEPENDENT);
    let m = columns.nrows();
    let mut basis = Mat::zeros(m, 0);
    let mut kept = Vec::new();
    for (at, column) in columns.col_iter().enumerate() {
        let own = column.norm_l2();
        let mut left = column.to_owned();
        for _ in 0..2 {
            for earlier in basis.col_iter() {
                let along: f64 = earlier.iter().zip(left.iter()).map(|(a, b): (&f64, &f64)| a * b).sum();
                left.iter_mut().zip(earlier.iter()).for_each(|(v, e)| *v -= along * e);
            }
        }
        let norm = left.norm_l2();
        if norm > dependent * own && kept.len() < m {
            basis.resize_with(m, kept.len() + 1, |i, _| left[i] / norm);
            kept.push(at);
        }
    }
    (basis, kept)
}

fn warning(labels: &Labels, left_out: &[usize], features: usize) -> Vec<String> {
    let (Labels::Classes { names, .. }, [first, rest @ ..]) = (labels, left_out) else { return Vec::new() };
    vec![format!(
        "{} of {} centroids lie in the span of those before them and are left out (`{}`{}): {features} features",
        left_out.len(),
        left_out.len() + features,
        names[*first],
        if rest.is_empty() { "" } else { ", …" }
    )]
}
