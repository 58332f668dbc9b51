//! KPCA: directions in which the rows vary most.
//!
//!   centred: S_t v = λ v, features vᵀ(z − z̄);   else Σ z zᵀ v = λ v, features vᵀz;   ‖v‖ = 1, λ > 1e−10 of the largest
//!
//! cost    two passes over the rows (moments, signs) and one m×m eigenproblem; in the coordinates of a `kpca` basis of the
//!         same rows nothing, because they are the components
//! source  Schölkopf, Smola & Müller 1998
//! differs exact where the basis spans the rows' images, which its own, `kpca`, does; in a smaller one the components are
//!         those of the rows' projections

use faer::Mat;

use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, at_least_one};
use super::{Coordinates, Directions, Extract, Targets, as_rows, count, fit_methods};
use crate::basis::Landmarks;
use crate::basis::kpca::CENTER;
use crate::basis::{Basis, Method};
use crate::data::needs::Needs;
use crate::error::{Error, Result};
use crate::linalg::eigen;
use crate::spec::{FromValues, MethodSpec, Stage, Values};

/// Eigenvalues up to this share of the largest are rounding.
const RANK: f64 = 1e-10;

/// Eigenvalues up to this share of Σ‖z‖² are what rounding leaves of features that do not vary.
const NOTHING: f64 = 1e-24;

/// Kernel principal components.
///
/// ```
/// use mercer::{Basis, Kernel, Monitor, Rows, extract::Kpca};
///
/// let rows = Rows::dense(vec![0.0, 0.0, 3.0, 4.0], 2, 2)?;
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Kpca::default().fit(&rows, None, basis)?;
/// assert!((map.eigenvalues[0] - 12.5).abs() < 1e-12); // twice 2.5²
/// let z = map.transform(&rows)?; // 2.5 and −2.5, from the mean (1.5, 2)
/// let back = map.inverse_transform(z.as_ref(), &Monitor::default())?;
/// assert!((z[(0, 0)] - 2.5).abs() < 1e-12 && (back[3] - 4.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kpca {
    /// Number of features; None: all.
    pub n_components: Option<usize>,
    /// Whether the mean is subtracted first.
    pub center: bool,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kpca",
    stage: Stage::Extract,
    file: "extract/kpca.rs",
    source: "Schölkopf, Smola & Müller 1998",
    cost: "n·m² flops, m³",
    parameters: &[BASIS.none("kpca"), N_COMPONENTS.none("all"), BASIS_COMPONENTS, CENTER.default("true")],
    help: "principal components in a basis' coordinates",
};

impl FromValues for Kpca {
    fn from_values(values: &Values) -> Self {
        Self { n_components: values.count("n_components"), center: values.flag("center") }
    }
}

impl Default for Kpca {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Kpca {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_components", self.n_components)])
    }

    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    fn default_basis(&self, _: usize, _: &mut Vec<String>) -> Method {
        Method::Kpca
    }

    fn default_settings(&self, basis: Basis) -> Basis {
        basis
    }

    fn basis_settings(&self, settings: Basis) -> Result<Basis> {
        if settings.method != Method::Kpca {
            return Ok(settings);
        }
        let n_components = settings.n_components.or(self.n_components);
        Ok(Basis { center: self.center, n_components, ..settings })
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        Some(Self { n_components: Some(q), ..self.clone() }.into())
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        if let Some(directions) = self.components_themselves(coordinates)? {
            return Ok(directions);
        }
        let summary = coordinates.moments(Targets::None)?;
        let size: f64 = summary.gram().diagonal().column_vector().sum();
        let (scatter, origin) =
            if self.center { (summary.total, summary.mean) } else { (summary.gram(), Vec::new()) };
        let trace: f64 = (0..scatter.nrows()).map(|i| scatter[(i, i)]).sum();
        let (values, vectors) = eigen(scatter, coordinates.monitor)?;
        let [rank_of, nothing] = [RANK, NOTHING].map(|share| coordinates.precision().tolerance(share));
        let rank = values.iter().take_while(|v| **v > (rank_of * values[0]).max(nothing * size)).count();
        let q = self.count(rank)?;
        let mut directions = coordinates.oriented(as_rows(vectors.as_ref(), q), origin)?;
        directions.explained = values[..q].iter().map(|v| v / trace).collect();
        directions.eigenvalues = values[..q].to_vec();
        Ok(directions)
    }
}

fit_methods!(Kpca);

impl Kpca {
    fn count(&self, rank: usize) -> Result<usize> {
        if rank == 0 {
            return Err(Error::data("`kpca`: all rows are equal in the basis' coordinates, so none varies"));
        }
        count(
            self.n_components,
            rank,
            rank,
            "in more directions the rows do not vary in the basis' coordinates",
        )
    }

    /// In the coordinates of a `kpca` basis of these very rows, centred or not as here, there is nothing left to find.
    fn components_themselves(&self, coordinates: &Coordinates) -> Result<Option<Directions>> {
        let basis = coordinates.basis;
        if coordinates.weights.is_some() {
            return Ok(None);
        }
        let Some(rows) = coordinates.held("kpca").ok().filter(|_| basis.eigenvalues.is_some()) else {
            return Ok(None);
        };
        let all_rows = match &basis.expansion.landmarks {
            Landmarks::Rows(landmarks) => *rows.to_f64() == *landmarks,
            Landmarks::Columns { indices, .. } => indices.iter().copied().eq(0..rows.n()),
        };
        let Some(values) = basis.eigenvalues.as_ref().filter(|_| all_rows) else { return Ok(None) };
        if basis.expansion.origin.is_some() != self.center {
            return Ok(None);
        }
        let q = self.count(values.len())?;
        let trace = values.iter().sum::<f64>() / (1.0 - basis.residual);
        Ok(Some(Directions {
            matrix: Mat::from_fn(q, values.len(), |i, j| f64::from(u8::from(i == j))),
            explained: values[..q].iter().map(|v| v / trace).collect(),
            eigenvalues: values[..q].to_vec(),
            ..Directions::default()
        }))
    }
}
