//! RPCholesky: random pivots, in proportion to the squared residuals.
//!
//!   P(i) = d_i / Σd,   d the squared residuals
//!
//! cost    n·m² flops by matrix products, at most 1.5·n·(m+1) + m² kernel values
//! stops   at the cap, or where only rounding is left
//! source  Chen, Epperly, Tropp & Webber 2022; in blocks with rejection: Epperly, Tropp & Webber 2024
//! differs a block is proposed from the residuals as of the last flush and thinned: a proposal is accepted with
//!         probability (its residual now) / (its residual then), which gives the law of one pivot at a time

use super::candidates::Candidates;
use super::fitted::Stop;
use super::pivoted::{PENDING, Pivoted};
use super::settings::{N_COMPONENTS, PRECISION};
use crate::error::Result;
use crate::kernel::parameters::with_kernel;
use crate::random;
use crate::spec::{MethodSpec, SEED, Stage};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "rpcholesky",
    stage: Stage::Basis,
    file: "basis/rpcholesky.rs",
    source: "Chen, Epperly, Tropp & Webber 2022",
    cost: "n·m² flops, n·m kernel values",
    parameters: &with_kernel::<3, 9>([N_COMPONENTS.none("min(n, 1000)"), PRECISION, SEED]),
    help: "randomly pivoted Cholesky: rows drawn in proportion to their squared distance from the span so far",
};

/// Grows the factor to its end.
pub(crate) fn grow(factor: &mut Pivoted, seed: u64) -> Result<Stop> {
    let mut generator = random::generator(seed);
    let floor = factor.floor();
    let mut retired = vec![false; factor.n()];
    // A block's extra kernel values, |block| for each pivot it yields, stay within the budget.
    let block = (2 * PENDING).min(2 * factor.n() / 5).max(1);
    if let [position, rows @ ..] = &factor.place[..] {
        generator = random::generator_at(seed, *position);
        rows.iter().for_each(|&row| retired[row as usize] = true);
    }
    while factor.room() > 0 {
        factor.check()?;
        let mut sum = 0.0;
        let cumulated: Vec<f64> = factor
            .residual
            .iter()
            .zip(&retired)
            .map(|(&r, &retired)| {
                sum += if r > floor && !retired { r } else { 0.0 };
                sum
            })
            .collect();
        if sum <= 0.0 {
            return Ok(Stop::Rank);
        }
        let proposals: Vec<usize> = (0..block)
            .map(|_| {
                let target = random::uniform(&mut generator) * sum;
                cumulated.partition_point(|&c| c <= target)
            })
            .collect();
        let mut rows = proposals.clone();
        rows.sort_unstable();
        rows.dedup();
        let mut candidates = Candidates::new(factor, rows);
        for row in proposals {
            if candidates.eliminated.len() == factor.room().min(PENDING) {
                break;
            }
            let Ok(position) = candidates.rows.binary_search(&row) else {
                unreachable!("every proposal is there")
            };
            let now = candidates.residual[position];
            if retired[row] || now <= floor || random::uniform(&mut generator) * factor.residual[row] >= now {
                continue;
            }
            if candidates.is_sound(factor, position) {
                candidates.eliminate(factor, position);
            } else {
                retired[row] = true;
            }
        }
        factor.flush(&mut candidates)?;
        factor.save(|| {
            let rows = (0..retired.len()).filter(|&row| retired[row]).map(|row| row as u64);
            std::iter::once(random::position(&generator)).chain(rows).collect()
        })?;
    }
    Ok(Stop::Cap)
}
