//! KOC: kernel orthogonal centroids, an orthonormal basis of the class centroids.
//!
//!   (z̄_1, …, z̄_c) = Q R;   features Qᵀz
//!
//! With `n_clusters` = k the centroids are those of k clusters of every class, found by k-means in the coordinates: c·k
//! features at most.
//!
//! cost    two passes over the rows (moments, signs), 4·m·c² flops; clusters n·m·k flops a round
//! source  Park, Jeon & Rosen 2003 (orthogonal centroids); Kim, Howland & Park 2005 (with kernels)
//! differs centroids are taken in class order and orthogonalised twice; one that the earlier ones nearly span (a residual
//!         of at most 1e−8 of its own norm) is left out, with a warning

use faer::{Mat, MatRef};

use super::{BASIS, BASIS_COMPONENTS, Sizes};
use super::{Coordinates, Directions, Extract, Targets, as_rows, at_least_one, fit_methods};
use crate::basis::clusters::Clusters;
use crate::error::{Error, Result};
use crate::evidence::moments::Summary;
use crate::real::Precision;
use crate::spec::{FromValues, MethodSpec, Parameter, SEED, Stage, Values};

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
/// let z = Koc::default().fit(&rows, &labels, basis)?.transform(&rows)?; // centroids (2, 0) and (4, 5): the axes
/// assert!((z[(1, 0)] - 3.0).abs() < 1e-12 && (z[(1, 1)] + 1.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Koc {
    /// Clusters of every class.
    pub n_clusters: usize,
    /// Seed of the clusters.
    pub seed: u64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "koc",
    stage: Stage::Extract,
    file: "extract/koc.rs",
    source: "Kim, Howland & Park 2005",
    cost: "n·m² flops, m·c²",
    parameters: &[
        BASIS.none("kfa, sized by the leave-one-out error; beyond 5000 rows rpcholesky"),
        BASIS_COMPONENTS,
        Parameter::whole("n_clusters", 1, "clusters of every class whose centroids are taken").default("1"),
        SEED,
    ],
    help: "kernel orthogonal centroids: an orthonormal basis of the class centroids",
};

impl FromValues for Koc {
    fn from_values(values: &Values) -> Self {
        Self { n_clusters: values.count("n_clusters").unwrap_or(1), seed: values.seed() }
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

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_clusters", Some(self.n_clusters))])
    }

    fn sizes(&self) -> Sizes {
        Sizes::One
    }

    fn takes_weights(&self) -> bool {
        self.n_clusters == 1
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        let (names, _) = coordinates.classes("koc")?;
        let (vectors, left_out) = match self.n_clusters {
            1 => centroids(&coordinates.moments(Targets::Labels)?, coordinates.precision()),
            _ => (self.of_clusters(coordinates)?, Vec::new()),
        };
        if vectors.ncols() == 0 {
            return Err(Error::data("`koc`: every class has its centroid at 0 in the basis' coordinates"));
        }
        let mut directions = coordinates.oriented(as_rows(vectors.as_ref(), vectors.ncols()), Vec::new())?;
        directions.warnings = warning(names, &left_out, vectors.ncols());
        Ok(directions)
    }
}

fit_methods!(Koc);

impl Koc {
    /// An orthonormal basis of the centroids of the clusters of all classes, the largest cluster of a class first.
    fn of_clusters(&self, coordinates: &Coordinates) -> Result<Mat<f64>> {
        let (rows, _, codes, c) = coordinates.held_classes("koc with n_clusters above 1")?;
        let z = coordinates.basis.coordinates(rows, coordinates.monitor)?;
        let z = z.to_f64();
        let m = z.p();
        let mut centres: Vec<f64> = Vec::new();
        for class in 0..c {
            let members: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == class).collect();
            if members.is_empty() {
                continue;
            }
            let own = z.select(&members);
            let found =
                Clusters::of(&own, self.n_clusters.min(members.len()), self.seed, coordinates.monitor)?;
            let sizes = found.sizes();
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            order.sort_by_key(|&cluster| std::cmp::Reverse(sizes[cluster]));
            order.iter().for_each(|&at| centres.extend(&found.centres[at * m..(at + 1) * m]));
        }
        let columns = MatRef::from_column_major_slice(&centres, m, centres.len() / m);
        Ok(orthonormal(columns, coordinates.precision()).0)
    }
}

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

fn warning(names: &[String], left_out: &[usize], features: usize) -> Vec<String> {
    let [first, rest @ ..] = left_out else { return Vec::new() };
    vec![format!(
        "{} of {} centroids lie in the span of those before them and are left out (`{}`{}): {features} features",
        left_out.len(),
        left_out.len() + features,
        names[*first],
        if rest.is_empty() { "" } else { ", …" }
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, Threshold};
    use crate::data::labels::Labels;
    use crate::data::rows::Rows;
    use crate::kernel::Kernel;
    use crate::linalg::product;

    /// Two classes of two groups each: the span is that of the groups' means.
    #[test]
    fn clusters_of_a_class_have_centroids_of_their_own() {
        let corners = [[0.0, 0.0], [5.0, 5.0], [0.0, 5.0], [5.0, 0.0]];
        let x: Vec<f64> = (0..40)
            .flat_map(|i| corners[i % 4].map(|v| v + 0.3 * ((i * 7 + v as usize) as f64).sin()))
            .collect();
        let rows = Rows::dense(x, 40, 2).expect("rows");
        let labels = Labels::classes(&(0..40).map(|i| if i % 4 < 2 { "a" } else { "b" }).collect::<Vec<_>>());
        let basis = Basis::kobl(Kernel::rbf(0.1)).threshold(Threshold::Constant(0.0)).n_components(15);
        let basis = basis.fit(&rows).expect("fits");
        let z = basis.expansion.transform(&rows).expect("features");
        let means = Mat::from_fn(z.ncols(), 4, |j, group| {
            (0..40).filter(|i| i % 4 == group).map(|i| z[(i, j)] / 10.0).sum()
        });
        let (span, _) = orthonormal(means.as_ref(), Precision::Double);
        let expected = product(z.as_ref(), product(span.as_ref(), span.transpose()).as_ref());
        let koc = Koc { n_clusters: 2, ..Koc::default() };
        let f = koc.fit(&rows, &labels, basis.clone()).expect("fits").transform(&rows).expect("features");
        assert_eq!(f.ncols(), 4);
        let (own, wanted) = (&f * f.transpose(), &expected * expected.transpose());
        assert!((own - wanted).norm_max() < 1e-10);
        let plain = Koc::default().fit(&rows, &labels, basis).expect("fits");
        assert_eq!(plain.n_features(), 2);
    }
}
