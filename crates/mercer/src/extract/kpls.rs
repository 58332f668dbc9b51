//! KPLS: kernel partial least squares, directions of largest covariance with the targets, one after the other.
//!
//!   per component: w = left singular vector of the largest singular value of C,  r = w − Σ_j (p_jᵀw) r_j,
//!   p = S r/(rᵀS r),  C ← C − p (wᵀC);   S = Σ(z − z̄)(z − z̄)ᵀ, at first C = Σ(z − z̄)(y − ȳ)ᵀ;   features rᵀ(z − z̄)
//!
//! cost    two passes over the rows (moments, signs), then 2·m² + 10·m·c² flops a component; beyond 64 coordinates and
//!         classes 4·m·c for each step of a Krylov space in place of 10·m·c²
//! stops   where w carries no variance (1e−12 of the first component's) or C is spent (1e−12 of its first singular value)
//! source  Wold 1975 (NIPALS, PLS2); Rosipal & Trejo 2001 (with kernels)
//! differs the recursion runs on S and C and does not see the rows. S itself is not deflated: p comes from S r, and r is
//!         orthogonalised twice, so the scores stay orthogonal over many components. Targets are one-hot classes or
//!         numbers; features do not depend on the unit of numbers. Each of several targets is in its standard deviation

use faer::{Col, Mat, Scale};

use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, at_least_one};
use super::{Coordinates, Directions, Extract, RANK, Targets, as_rows, count, fit_methods};
use crate::data::needs::Needs;
use crate::data::target::TargetSummary;
use crate::error::{Error, Result};
use crate::evidence::moments::Summary;
use crate::linalg::leading_left;
use crate::monitor::Monitor;
use crate::real::Precision;
use crate::spec::{FromValues, MethodSpec, Stage, Values};

/// Covariance up to this share of the deviations' product is rounding.
const NOTHING: f64 = 1e-13;

/// Features of a target of numbers where none are asked for.
const FOR_NUMBERS: usize = 10;

/// The most features where none are asked for.
const MOST: usize = 100;

/// Kernel partial least squares.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::Kpls};
///
/// let rows = Rows::dense(vec![1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0], 4, 2)?;
/// let labels = Labels::Numbers(vec![2.0, -2.0, 1.0, -1.0]); // 2·x + y
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Kpls { n_components: Some(1) }.fit(&rows, &labels, basis)?;
/// assert!((map.eigenvalues[0] - 20.0).abs() < 1e-12); // covariance (4, 2)
/// let z = map.transform(&rows)?;
/// assert!((z[(0, 0)] - 2.0 / 5f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kpls {
    /// Number of features; None: two a class, 10 for numbers, two a target but at least 10 for several; at most 100.
    pub n_components: Option<usize>,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kpls",
    stage: Stage::Extract,
    file: "extract/kpls.rs",
    source: "Rosipal & Trejo 2001",
    cost: "n·m² flops, m²·q",
    parameters: &[
        BASIS.none("kfa, sized by the leave-one-out error; beyond 5000 rows rpcholesky"),
        N_COMPONENTS
            .none("two per class, at most 100; 10 for numbers; two per target, 10 to 100, for several"),
        BASIS_COMPONENTS,
    ],
    help: "kernel partial least squares: directions of largest covariance with the labels, classes or numbers",
};

impl FromValues for Kpls {
    fn from_values(values: &Values) -> Self {
        Self { n_components: values.count("n_components") }
    }
}

impl Default for Kpls {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Kpls {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_components", self.n_components)])
    }

    fn needs(&self) -> Needs {
        Needs::Targets
    }

    fn wanted(&self) -> usize {
        self.n_components.unwrap_or(0)
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        Some(Self { n_components: Some(q) }.into())
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        let target = coordinates.target("kpls")?;
        // Numbers over their largest deviation from the mean, so that their squares can be added up.
        let unit = target.unit();
        let targets = match target {
            TargetSummary::Classes { .. } | TargetSummary::Several { .. } => Targets::Labels,
            TargetSummary::Numbers { mean, .. } => Targets::Scaled { mean: *mean, unit },
        };
        let mut summary = coordinates.moments(targets)?;
        if matches!(target, TargetSummary::Several { .. }) {
            summary.standardise_targets();
        }
        let precision = coordinates.precision();
        let usual = match target {
            TargetSummary::Classes { names, .. } => (2 * names.len()).min(MOST),
            TargetSummary::Numbers { .. } => FOR_NUMBERS,
            TargetSummary::Several { count, .. } => (2 * count).clamp(FOR_NUMBERS, MOST),
        };
        let wanted = self.n_components.unwrap_or(usual);
        let found = components(&summary, wanted, precision, coordinates.monitor)?;
        let most = found.values.len();
        if most == 0 {
            return Err(Error::data(
                "`kpls`: the features have no covariance with the target: they are equal, or unrelated to it",
            ));
        }
        let why = "what is left of the features then has no covariance with the target";
        let q = count(self.n_components, most, most, why)?;
        let mut directions = coordinates.oriented(as_rows(found.rotations.as_ref(), q), summary.mean)?;
        directions.eigenvalues = found.values.iter().map(|v| (v * unit * unit).min(f64::MAX)).collect();
        Ok(directions)
    }
}

fit_methods!(Kpls);

/// What the recursion finds: up to as many components as wanted.
pub(super) struct Components {
    /// r, one a column, m×q.
    pub(super) rotations: Mat<f64>,
    /// Squared singular values.
    pub(super) values: Vec<f64>,
}

/// Up to `wanted` components of sums of features of this precision; fewer where nothing is left.
pub(super) fn components(
    summary: &Summary,
    wanted: usize,
    precision: Precision,
    monitor: &Monitor,
) -> Result<Components> {
    let [nothing, spent] = [NOTHING, RANK].map(|share| precision.tolerance(share));
    let m = summary.mean.len();
    let mut found = Components { rotations: Mat::zeros(m, 0), values: Vec::new() };
    let largest = summary.cross.norm_max();
    let most = |total: &Mat<f64>| (0..total.nrows()).fold(0.0f64, |m, i| m.max(total[(i, i)])).sqrt();
    if largest <= nothing * most(&summary.total) * most(&summary.target_total) {
        return Ok(found);
    }
    let mut cross = &summary.cross * Scale(1.0 / largest);
    let mut loadings: Vec<Col<f64>> = Vec::new();
    let (mut first_value, mut first_scatter) = (0.0, 0.0);
    monitor.begin("finding components", wanted);
    for k in 0..wanted.min(m) {
        monitor.check()?;
        let (value, w) = leading_left(&cross, monitor)?;
        let mut r = w.clone();
        for _ in 0..2 {
            for (p, earlier) in loadings.iter().zip(found.rotations.col_iter()) {
                let along = dot(p, &r);
                r.iter_mut().zip(earlier.iter()).for_each(|(v, e)| *v -= along * e);
            }
        }
        let mut p: Col<f64> = summary.total.col_iter().map(|column| dot(&column.to_owned(), &r)).collect();
        let scatter = dot(&p, &r);
        if k == 0 {
            (first_value, first_scatter) = (value, scatter);
        }
        if value <= spent * first_value || scatter <= spent * first_scatter || scatter <= 0.0 {
            break;
        }
        p.iter_mut().for_each(|v| *v /= scatter);
        for column in cross.col_iter_mut() {
            let along: f64 = w.iter().zip(column.as_ref().iter()).map(|(a, b)| a * b).sum();
            column.iter_mut().zip(p.iter()).for_each(|(v, p)| *v -= p * along);
        }
        found.rotations.resize_with(m, k + 1, |i, _| r[i]);
        found.values.push((value * largest).powi(2));
        loadings.push(p);
        monitor.advance(1);
    }
    Ok(found)
}

fn dot(a: &Col<f64>, b: &Col<f64>) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
}
