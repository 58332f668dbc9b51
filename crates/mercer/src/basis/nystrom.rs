//! Nyström: landmarks drawn uniformly, or in proportion to what rows count, orthonormalised in the order drawn.
//!
//!   A = L⁻¹,  L Lᵀ = K_ll                (a root of K_ll⁻¹ on its numerical rank)
//!
//! cost    n·m² flops by matrix products, at most 1.4·n·(m+1) kernel values; the pass over all n is for the residual
//! stops   when the drawn rows are used up; rows that are numerically dependent on earlier ones are left out
//! source  Williams & Seeger 2001; with weights: Efraimidis & Spirakis 2006

use super::candidates::Candidates;
use super::factor_rows::{FactorRows, Steps};
use super::fitted::Stop;
use super::pivoted::Pivoted;
use super::settings::{N_COMPONENTS, PRECISION};
use crate::data::weights::Weights;
use crate::error::Result;
use crate::kernel::parameters::with_kernel;
use crate::random;
use crate::spec::{MethodSpec, SEED, Stage};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "nystrom",
    stage: Stage::Basis,
    file: "basis/nystrom.rs",
    source: "Williams & Seeger 2001",
    cost: "n·m² flops, n·m kernel values",
    parameters: &with_kernel::<3, 9>([N_COMPONENTS.none("min(n, 1000)"), PRECISION, SEED]),
    help: "Nyström: rows drawn uniformly as landmarks",
};

/// Grows the factor to its end.
pub(crate) fn grow<R: FactorRows>(
    factor: &mut Pivoted<R>,
    weights: Option<&Weights>,
    seed: u64,
) -> Result<Stop> {
    let size = factor.pivots.len() + factor.room();
    let drawn = match weights {
        None => random::sample(factor.n(), size, seed),
        Some(weights) => random::weighted_sample(weights, size, seed),
    };
    let (mut done, mut stop) = match factor.place[..] {
        [done, left_out] => {
            ((done as usize).min(drawn.len()), if left_out == 0 { Stop::Cap } else { Stop::Rank })
        }
        _ => (0, Stop::Cap),
    };
    let (pending, floor) = (factor.rows.pending_in_order(), factor.floor());
    for rows in drawn[done..].chunks(pending.min(2 * factor.n() / 5).max(1)) {
        factor.check()?;
        let mut candidates = Candidates::new(factor, rows.to_vec())?;
        let tries = (0..rows.len()).map(|position| (position, floor)).collect();
        candidates.plan(factor, Steps::Ordered { tries, most: rows.len() })?;
        for position in 0..rows.len() {
            if candidates.is_sound(factor, position)? {
                candidates.eliminate(factor, position)?;
            } else {
                stop = Stop::Rank;
            }
        }
        factor.flush(&mut candidates)?;
        done += rows.len();
        factor.save(|| vec![done as u64, u64::from(stop == Stop::Rank)])?;
    }
    Ok(stop)
}
