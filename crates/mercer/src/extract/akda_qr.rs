//! AKDA/QR: discriminant analysis among the images of the class means.
//!
//!   landmarks x̄_1, …, x̄_c (means of the classes' rows as they are, before the kernel), z = Qᵀφ(x) with
//!   (φ(x̄_1), …, φ(x̄_c)) = Q R, then `gda` in these c coordinates; with n_components = c the last feature is the direction
//!   that remains: w with vᵀTw = 0 for all others v, T the scatter of `gda`'s denominator, and wᵀTw = 1
//!
//! cost    three passes of n·c kernel values, each n·p·c flops; n·c² flops for the moments
//! source  Xiong, Ye, Li, Cherkassky & Janardan 2005
//! differs the discriminant problem is that of `gda`, with the total scatter and reg. The basis is `gram-schmidt` with the
//!         means as landmarks, so that a mean whose image the earlier ones span is left out

use super::ratio::{self, REG};
use super::{Coordinates, Directions, Extract, fit_methods, gda};
use super::{N_COMPONENTS, Sizes, at_least_one};
use crate::basis::{Basis, Method, Threshold};
use crate::data::labels::Labels;
use crate::data::needs::missing_labels;
use crate::data::rows::Rows;
use crate::data::weights::{Weights, weight};
use crate::error::{Error, Result};
use crate::kernel::Shape;
use crate::kernel::parameters::with_kernel;
use crate::real::Real;
use crate::spec::{FromValues, MethodSpec, SEED, Stage, Values};

/// Discriminant analysis among the images of the class means.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::AkdaQr};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = AkdaQr::basis(&Basis::kobl(Kernel::linear()), &rows, &labels)?;
/// assert_eq!(basis.landmarks.as_ref().unwrap().to_dense(), [0.5, 4.5]);
/// let map = AkdaQr { reg: 0.0, ..AkdaQr::default() }.fit(&rows, &labels, basis.fit(&rows)?)?;
/// assert!((map.eigenvalues[0] - 16.0 / 17.0).abs() < 1e-12); // one column: all of it is between the means
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AkdaQr {
    /// Number of features, at most one a class; None: one less than there are classes.
    pub n_components: Option<usize>,
    /// Share of the mean scatter that is added to the diagonal.
    pub reg: f64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "akda-qr",
    stage: Stage::Extract,
    file: "extract/akda_qr.rs",
    source: "Xiong et al. 2005",
    cost: "n·c kernel values, n·c² flops",
    parameters: &with_kernel::<3, 9>([
        N_COMPONENTS.none("one less than there are classes; at most one per class"),
        REG.default("1e-3"),
        SEED,
    ]),
    help: "approximate kernel discriminant analysis by QR: the discriminant among the images of the class means",
};

impl FromValues for AkdaQr {
    fn from_values(values: &Values) -> Self {
        Self { n_components: values.count("n_components"), reg: values.number("reg").unwrap_or_default() }
    }
}

impl Default for AkdaQr {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for AkdaQr {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_components", self.n_components)]).and(ratio::check(self.reg))
    }

    fn wanted(&self) -> usize {
        self.n_components.unwrap_or(0)
    }

    fn default_basis(&self, _: usize, _: &mut Vec<String>) -> Method {
        // Of the class means, which are few.
        Method::GramSchmidt
    }

    fn default_settings(&self, basis: Basis) -> Basis {
        basis
    }

    fn basis(&self, settings: Basis, rows: &Rows, labels: Option<&Labels>) -> Result<Basis> {
        self.basis_by(settings, rows, labels, None)
    }

    fn basis_by(
        &self,
        settings: Basis,
        rows: &Rows,
        labels: Option<&Labels>,
        weights: Option<&Weights>,
    ) -> Result<Basis> {
        match labels {
            Some(labels) => Self::basis_of(&settings, rows, labels, weights),
            None => Err(missing_labels(SPEC.name)),
        }
    }

    fn sizes(&self) -> Sizes {
        Sizes::One
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        let c = coordinates.classes("akda-qr")?.0.len();
        let m = coordinates.basis.n_components();
        if m > c {
            return Err(Error::argument(format!(
                "`akda-qr` works in the coordinates of the {c} class means, but the basis has {m}\n\
                 hint: make the basis with `AkdaQr::basis`, or use `gda`"
            )));
        }
        gda::discriminate(coordinates, "akda-qr", self.reg, self.n_components, true)
    }
}

fit_methods!(AkdaQr);

impl AkdaQr {
    /// The basis on the class means, to be fitted on the same rows: kernel, γ, seed, memory and monitor are those of the
    /// settings, and a rule for γ looks at the rows, not at the means. Sparse rows have sparse means. It is few coordinates,
    /// always in float64.
    pub fn basis(settings: &Basis, rows: &Rows, labels: &Labels) -> Result<Basis> {
        Self::basis_of(settings, rows, labels, None)
    }

    /// [`basis`](Self::basis) on the means of weighted rows.
    fn basis_of(settings: &Basis, rows: &Rows, labels: &Labels, weights: Option<&Weights>) -> Result<Basis> {
        let (codes, c) = labels.require_classes("akda-qr")?;
        Self::check_kernel(settings)?;
        if codes.len() != rows.n() {
            return Err(Error::data(format!("{} rows, but {} labels", rows.n(), codes.len())));
        }
        rows.check_finite(None)?;
        Self::basis_on_means(settings, class_means(rows, codes, c, weights)?)
    }

    fn check_kernel(settings: &Basis) -> Result<()> {
        if settings.shape == Shape::Precomputed {
            return Err(Error::argument(
                "`akda-qr` takes the means of the classes' rows, which a precomputed kernel does not know\n\
                 hint: use `gda`, or give rows and a kernel",
            ));
        }
        Ok(())
    }

    /// The basis on class means that are known.
    pub(crate) fn basis_on_means(settings: &Basis, means: Rows<'static>) -> Result<Basis> {
        Self::check_kernel(settings)?;
        Ok(Basis {
            method: Method::GramSchmidt,
            landmarks: Some(means),
            n_components: None,
            threshold: Some(Threshold::Linear),
            tol: None,
            center: false,
            precision: None,
            ..settings.clone()
        })
    }
}

/// The means of the classes that have rows, in class order.
pub(crate) fn class_means(
    rows: &Rows,
    codes: &[usize],
    c: usize,
    weights: Option<&Weights>,
) -> Result<Rows<'static>> {
    let count = |i: usize| weight(weights, i);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); c];
    codes.iter().enumerate().for_each(|(i, &code)| members[code].push(i));
    members.retain(|members| !members.is_empty());
    let p = rows.p();
    match rows {
        Rows::Sparse(rows) => {
            let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for members in &members {
                let pairs = |&i: &usize| {
                    let (columns, stored) = rows.row(i);
                    columns.iter().zip(stored).map(move |(&j, v)| (j, count(i) * v))
                };
                let mut pairs: Vec<(u32, f64)> = members.iter().flat_map(pairs).collect();
                // Stable: the rows of a column are added up in their order.
                pairs.sort_by_key(|(j, _)| *j);
                let size: f64 = members.iter().map(|&i| count(i)).sum();
                for column in pairs.chunk_by(|a, b| a.0 == b.0) {
                    let mean = column.iter().fold(0.0, |sum, (_, v)| sum + v) / size;
                    if mean != 0.0 {
                        indices.push(column[0].0);
                        values.push(mean);
                    }
                }
                indptr.push(indices.len());
            }
            Rows::sparse(indptr, indices, values, p)
        }
        Rows::Dense(_) | Rows::DenseF32(_) => {
            let mut sums = vec![0.0; p];
            let mut means = Vec::with_capacity(members.len() * p);
            for members in &members {
                sums.fill(0.0);
                for &i in members {
                    match rows {
                        Rows::DenseF32(rows) => add(&mut sums, rows.row(i), count(i)),
                        Rows::Dense(rows) => add(&mut sums, rows.row(i), count(i)),
                        Rows::Sparse(_) => unreachable!("these are dense"),
                    }
                }
                let size: f64 = members.iter().map(|&i| count(i)).sum();
                means.extend(sums.iter().map(|sum| sum / size));
            }
            Rows::dense(means, members.len(), p)
        }
    }
}

fn add<T: Real>(sums: &mut [f64], row: &[T], count: f64) {
    sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += count * v.double());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Gamma, Kernel};

    #[test]
    fn sparse_rows_have_the_means_of_dense_ones() {
        let values = vec![0.0, 2.0, 0.0, 1.0, -2.0, 0.0, 0.0, 0.0, 6.0, 3.0, 0.0, 0.0];
        let dense = Rows::dense(values, 4, 3).expect("rows");
        let sparse = dense.to_sparse();
        let (codes, expected) = ([0, 0, 2, 2], [0.5, 0.0, 0.0, 1.5, 0.0, 3.0]);
        let [from_dense, from_sparse] =
            [&dense, &sparse].map(|rows| class_means(rows, &codes, 3, None).expect("means"));
        assert_eq!(from_dense.to_dense(), expected);
        assert!(from_sparse.is_sparse() && from_sparse.stored().len() == 3);
        assert_eq!(from_sparse.to_dense(), expected);
    }

    #[test]
    fn a_rule_for_the_width_looks_at_the_rows() {
        let rows = Rows::dense(vec![0.0, 4.0, 1.0, 5.0], 4, 1).expect("rows");
        let labels = Labels::classes(&["a", "a", "b", "b"]);
        let settings = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Scale).n_components(1);
        let basis = AkdaQr::basis(&settings, &rows, &labels).expect("basis").fit(&rows).expect("fits");
        let own = settings.fit(&rows).expect("fits");
        assert_eq!(basis.expansion.kernel.gamma, own.expansion.kernel.gamma);
        assert_eq!((basis.method, basis.n_components()), (Method::GramSchmidt, 2));
    }
}
