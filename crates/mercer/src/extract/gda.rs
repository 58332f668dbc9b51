//! GDA (KDA; with two classes KFDA): directions in which the class means are far apart for how much the rows scatter.
//!
//!   S_b v = λ (S_t + reg·tr(S_t)/m·I) v,   S_b = Σ_c n_c (z̄_c − z̄)(z̄_c − z̄)ᵀ,   S_t = Σ (z − z̄)(z − z̄)ᵀ
//!
//! with vᵀ(S_t + …)v = 1; a feature is vᵀ(z − z̄), and λ the share of its scatter that lies between the classes.
//!
//! cost    two passes over the rows (moments, signs), m³/3 flops and 2·m²·c; reg = 0: an m×m eigenproblem
//! source  Baudat & Anouar 2000; Mika et al. 1999 (two classes)
//! differs S_t in place of the scatter within classes: the directions are the same, and λ/(1 − λ) is the usual ratio.
//!         reg = 0 with a singular S_t: on its range

use faer::Mat;

use super::ratio::REG;
use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, Sizes, at_least_one};
use super::{Coordinates, Directions, Extract, Targets, as_rows, count, fit_methods, ratio, shares};
use crate::error::{Error, Result};
use crate::spec::{FromValues, MethodSpec, Stage, Values};

/// Generalised discriminant analysis.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::Gda};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Gda { reg: 0.0, n_components: None }.fit(&rows, &labels, basis)?;
/// assert!((map.eigenvalues[0] - 16.0 / 17.0).abs() < 1e-12); // 2² for each row between, 17 in all
/// let z = map.transform(&rows)?; // (2.5 − x)/√17
/// assert!((z[(0, 0)] - 2.5 / 17f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gda {
    /// Number of features; None: one less than there are classes.
    pub n_components: Option<usize>,
    /// Share of the mean scatter that is added to the diagonal.
    pub reg: f64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "gda",
    stage: Stage::Extract,
    file: "extract/gda.rs",
    source: "Baudat & Anouar 2000; Mika et al. 1999",
    cost: "n·m² flops, m³/3",
    parameters: &[
        BASIS.none("kfa, sized by the leave-one-out error; beyond 5000 rows rpcholesky"),
        N_COMPONENTS.none("one less than there are classes"),
        BASIS_COMPONENTS,
        REG.default("0.1"),
    ],
    help: "generalised (kernel Fisher) discriminant analysis: class means far apart for how much the rows scatter",
};

impl FromValues for Gda {
    fn from_values(values: &Values) -> Self {
        Self { n_components: values.count("n_components"), reg: values.number("reg").unwrap_or_default() }
    }
}

impl Default for Gda {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Gda {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[("n_components", self.n_components)]).and(ratio::check(self.reg))
    }

    fn sizes(&self) -> Sizes {
        Sizes::AllAtOnce
    }

    fn wanted(&self) -> usize {
        self.n_components.unwrap_or(0)
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        Some(Self { n_components: Some(q), ..self.clone() }.into())
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        discriminate(coordinates, "gda", self.reg, self.n_components, false)
    }
}

fit_methods!(Gda);

/// The directions of `gda` and, in the coordinates of the class means, of `akda-qr`. `completed`: where one dimension of the
/// coordinates is left, it is the last direction, if it is wanted.
pub(super) fn discriminate(
    coordinates: &Coordinates,
    method: &str,
    reg: f64,
    wanted: Option<usize>,
    completed: bool,
) -> Result<Directions> {
    coordinates.classes(method)?;
    let summary = coordinates.moments(Targets::Labels)?;
    let factor = summary.between_factor();
    let classes = factor.ncols();
    let mean = summary.mean;
    let total = completed.then(|| summary.total.clone());
    let solver = ratio::Solver { monitor: coordinates.monitor, gpu: coordinates.gpu() };
    let Some(mut found) = ratio::solve(summary.total, reg, factor.as_ref(), coordinates.precision(), solver)?
    else {
        return Err(Error::data(format!(
            "`{method}`: all rows are equal in the basis' coordinates, so there is nothing to separate"
        )));
    };
    let usual = classes.saturating_sub(1);
    let most = usual.min(found.values.len());
    if most == 0 {
        return Err(Error::data(format!(
            "`{method}`: the classes have the same mean in the basis' coordinates, so no direction separates them\n\
             hint: try another kernel or a larger basis"
        )));
    }
    let last = total
        .filter(|_| wanted.is_some_and(|q| q > most))
        .and_then(|total| ratio::remaining(&total, reg, found.vectors.subcols(0, most)));
    let spanned = most + usize::from(last.is_some());
    let why = format!("the means of {classes} classes span {spanned} dimensions of the basis");
    let q = count(wanted, usual, spanned, &why)?;
    if let Some(last) = last {
        found.vectors =
            Mat::from_fn(last.len(), spanned, |i, j| if j < most { found.vectors[(i, j)] } else { last[i] });
        found.values.truncate(most);
        found.values.push(0.0);
    }
    let mut directions = coordinates.oriented(as_rows(found.vectors.as_ref(), q), mean)?;
    directions.explained = shares(&found.values[..most.max(q)], q);
    directions.eigenvalues = found.values[..q].to_vec();
    if wanted.is_none() && most < usual {
        directions.warnings.push(format!("{why}: {most} in place of {usual} features"));
    }
    Ok(directions)
}
