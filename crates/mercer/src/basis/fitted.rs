//! A fitted basis: what it maps rows to, and how it came about.

use super::expansion::Expansion;
use super::method::Method;
use crate::data::rows::Rows;
use crate::error::Result;
use crate::kernel::Precision;
use crate::kernel::gram::diagonal;
use crate::monitor::Monitor;

/// Why a basis has the size it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The method's own rule.
    Rule,
    /// The cap on the number of components.
    Cap,
    /// Nothing was left but rounding.
    Rank,
}

impl Stop {
    /// Its name in model files and checkpoints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Cap => "cap",
            Self::Rank => "rank",
        }
    }

    /// The reason with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Rule, Self::Cap, Self::Rank].into_iter().find(|stop| stop.name() == name)
    }
}

/// A fitted basis: z(x) = A·k(x, landmarks) and how it came about.
#[derive(Clone, Debug)]
pub struct FittedBasis {
    /// How landmarks were chosen.
    pub method: Method,
    /// Kernel, landmarks, A and (centred `kpca` only) an offset.
    pub expansion: Expansion,
    /// Rows chosen, in order; indices into the rows they were chosen from. Empty for exact `kpca`,
    /// and for `kmeans`, whose landmarks are no rows.
    pub pivots: Vec<usize>,
    /// Whether the rows that landmarks were chosen from were given, so that landmarks are no training rows.
    pub landmarks_given: bool,
    /// Norm of each pivot's residual when it was chosen. Empty for `kpca`.
    pub pivot_norms: Vec<f64>,
    /// `kpca`: eigenvalues of the (centred) kernel matrix, descending.
    pub eigenvalues: Option<Vec<f64>>,
    /// Mean squared residual over mean k(x,x), on the training rows; centred `kpca`: share of the centred trace of the
    /// rows it was chosen from.
    pub residual: f64,
    /// Sum of k(x,x) over the training rows.
    pub trace: f64,
    /// What the rows' coordinates were computed in.
    pub precision: Precision,
    /// Float32: the largest error of a coordinate or a squared residual, relative to √max k(x,x) or max k(x,x),
    /// among up to 256 training rows that were recomputed in float64; None: all was in float64.
    pub rounding_error: Option<f64>,
    /// Kernel values that the fit computed, without those that a rule for γ looked at.
    pub n_kernel_evaluations: u64,
    /// Number of training rows.
    pub n_rows: usize,
    /// What ended it.
    pub stop: Stop,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl FittedBasis {
    /// Numbers pivots as rows of a table of n rows, of which those at these places were fitted on.
    pub(crate) fn renumber(&mut self, places: &[usize], n: usize) {
        self.pivots.iter_mut().for_each(|pivot| *pivot = places[*pivot]);
        self.n_rows = n;
    }

    /// Number of components m.
    pub fn n_components(&self) -> usize {
        self.expansion.n_features()
    }

    /// E(M), eq. 19 of TAKES: the mean distance of the rows' images from the span.
    pub fn reconstruction_cost(&self, rows: &Rows) -> Result<f64> {
        self.expansion.reconstruction_cost(rows, &Monitor::default())
    }

    /// ‖A K_ll Aᵀ − I‖, Frobenius. For a precomputed kernel, `rows` must be the training matrix; else it is not used.
    pub fn orthogonality_loss(&self, rows: Option<&Rows>) -> Result<f64> {
        self.expansion.orthogonality_loss(rows)
    }

    pub(super) fn relative_residual(&self, rows: &Rows, monitor: &Monitor) -> Result<f64> {
        if self.expansion.origin.is_some() {
            return Ok(self.residual);
        }
        let diagonal = diagonal(self.expansion.kernel, rows);
        let residuals = self.expansion.residuals(rows, &diagonal, monitor)?;
        let trace: f64 = diagonal.iter().sum();
        Ok(if trace > 0.0 { residuals.iter().sum::<f64>() / trace } else { 0.0 })
    }
}
