//! Sparse dictionary: one pass in random order, keeping a row that the kept ones do not nearly span.
//!
//!   accept x when k(x,x) − k_dᵀ K_dd⁻¹ k_d > tol·v         d the rows kept so far, v what varies ([`variance`](super::variance))
//!   with `nu`, the paper's rule: when it is > ν·k(x,x)
//!
//! cost    n·m² flops by matrix products, at most 1.4·n·(m+1) kernel values
//! stops   at the end of the pass, or at the cap; rows that are numerically dependent on earlier ones are left out
//! source  SK-Relief, sec. 4 (approximate linear dependence; Engel, Mannor & Meir 2004)
//! differs beside k(x,x) all rows are nearly spanned where the kernel is wide, so that ν is no default. A row that fails the test once always will, so rows are decided in blocks with the same outcome

use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::factor_rows::{FactorRows, InOrder, Steps};
use super::fitted::Stop;
use super::kobl::TOL;
use super::pivoted::Pivoted;
use super::settings::{N_COMPONENTS, PRECISION};
use crate::error::Result;
use crate::kernel::parameters::with_kernel;
use crate::spec::{MethodSpec, Parameter, SEED, Stage};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "sparse",
    stage: Stage::Basis,
    file: "basis/sparse.rs",
    source: "SK-Relief, sec. 4",
    cost: "n·m² flops, n·m kernel values",
    parameters: &with_kernel::<5, 11>([
        N_COMPONENTS.none("as many as nu or tol keeps, at most 1000 beyond 5000 rows"),
        NU,
        TOL,
        PRECISION,
        SEED,
    ]),
    help: "sparse Gram-Schmidt: rows in random order that the ones kept before do not nearly span",
};

/// Share of k(x,x) that must be new.
pub(crate) const NU: Parameter =
    Parameter::share("nu", false, true, "share of k(x,x) that must be new for a row to be kept")
        .none("tol decides");

/// How much of a row must be new.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Novelty {
    /// This share of k(x,x).
    Share(f64),
    /// This squared distance from the span.
    Least(f64),
}

impl Novelty {
    /// How much of a row with this k(x,x) must be new.
    pub(crate) fn of(self, diagonal: f64) -> f64 {
        match self {
            Self::Share(nu) => nu * diagonal,
            Self::Least(least) => least,
        }
    }

    /// Whether enough is left of a row, and more than the floor.
    pub(crate) fn is_left(self, residual: f64, diagonal: f64, floor: f64) -> bool {
        residual > self.of(diagonal).max(floor)
    }
}

/// Grows the factor to its end.
pub(crate) fn grow<R: FactorRows>(factor: &mut Pivoted<R>, novelty: Novelty, seed: u64) -> Result<Stop> {
    let n = factor.n();
    let pending = factor.rows.pending_in_order();
    // Rows of the order that are looked at between two passes over the data.
    let block = (4 * pending).min(2 * n / 5).max(1);
    let floor = factor.floor();
    let mut next = factor.place.first().map_or(0, |&next| next as usize);
    let mut stop = if factor.place.get(1) == Some(&1) { Stop::Rank } else { Stop::Rule };
    while next < n {
        factor.check()?;
        let InOrder { rows, ranks, mut end } = factor.rows.in_order(seed, next, block, novelty, floor)?;
        let mut candidates = Candidates::new(factor, rows)?;
        let least = |diagonal: &f64| novelty.of(*diagonal).max(floor);
        let tries = candidates.diagonal.iter().map(least).enumerate().collect();
        candidates.plan(factor, Steps::Ordered { tries, most: factor.room().min(pending) + 1 })?;
        for (position, &rank) in ranks.iter().enumerate() {
            let least = novelty.of(candidates.diagonal[position]).max(floor);
            if !candidates.has_left(position, least) {
                continue;
            }
            if !candidates.is_sound(factor, position)? {
                stop = Stop::Rank;
                continue;
            }
            if candidates.eliminated.len() == factor.room() {
                factor.flush(&mut candidates)?;
                return Ok(Stop::Cap);
            }
            if candidates.eliminated.len() == pending {
                // This row and those after it are looked at again after the pass.
                end = rank;
                break;
            }
            candidates.eliminate(factor, position)?;
        }
        factor.flush(&mut candidates)?;
        next = end;
        factor.save(|| vec![next as u64, u64::from(stop == Stop::Rank)])?;
    }
    Ok(stop)
}
