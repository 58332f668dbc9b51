//! RPCholesky: random pivots, in proportion to the squared residuals.
//!
//!   P(i) = d_i / Σd,   d the squared residuals, times what each row counts
//!
//! cost    n·m² flops by matrix products, at most 1.5·n·(m+1) + m² kernel values
//! stops   at the cap, or where only rounding is left
//! source  Chen, Epperly, Tropp & Webber 2022; in blocks with rejection: Epperly, Tropp & Webber 2024
//! differs a block is proposed from the residuals as of the last flush and thinned: a proposal is accepted with
//!         probability (its residual now) / (its residual then), which gives the law of one pivot at a time

use std::collections::BTreeSet;

use super::candidates::Candidates;
use super::factor_rows::{FactorRows, Steps};
use super::fitted::Stop;
use super::pivoted::Pivoted;
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

/// From one retired row in so many pivots on, rows are asked whether they are sound before they are taken.
const MANY_RETIRED: usize = 8;

/// Grows the factor to its end.
pub(crate) fn grow<R: FactorRows>(factor: &mut Pivoted<R>, seed: u64) -> Result<Stop> {
    let mut generator = random::generator(seed);
    let floor = factor.floor();
    let mut retired: BTreeSet<usize> = BTreeSet::new();
    // A block's extra kernel values, |block| for each pivot it yields, stay within the budget.
    let pending = factor.rows.pending_in_order();
    let block = (2 * pending).min(2 * factor.n() / 5).max(1);
    if let [position, rows @ ..] = &factor.place[..] {
        generator = random::generator_at(seed, *position);
        retired.extend(rows.iter().map(|&row| row as usize));
    }
    let mut again = false;
    while factor.room() > 0 {
        factor.check()?;
        // Whether rows are sound is asked of those taken, when all are, and of one after the other only where one was not, or where
        // many were not before.
        let one_by_one = std::mem::take(&mut again)
            || retired.len() > factor.pivots.len() / MANY_RETIRED
            || factor.rows.is_f32()
            || factor.rows.keeps_coefficients();
        let start = random::position(&generator);
        let uniform: Vec<f64> = (0..block).map(|_| random::uniform(&mut generator)).collect();
        let proposals = factor.rows.draw(&uniform, floor, &retired)?;
        if proposals.is_empty() {
            return Ok(Stop::Rank);
        }
        let mut rows = proposals.clone();
        rows.sort_unstable();
        rows.dedup();
        let mut candidates = Candidates::new(factor, rows)?;
        let before = candidates.residual.clone();
        let most = factor.room().min(pending);
        let places: Vec<usize> = proposals
            .iter()
            .map(|row| {
                candidates.rows.binary_search(row).unwrap_or_else(|_| unreachable!("every proposal is there"))
            })
            .collect();
        // What must be left of a proposal when its turn comes; a plan must know it before.
        let mut least = |position: usize| random::uniform(&mut generator) * before[position];
        let mut tries: Vec<(usize, f64)> = Vec::new();
        if factor.rows.keeps_coefficients() {
            let is_open = |position: usize| !retired.contains(&candidates.rows[position]);
            let of = |&place: &usize| {
                (place, if is_open(place) { least(place).max(floor) } else { f64::INFINITY })
            };
            tries = places.iter().map(of).collect();
            candidates.plan(factor, Steps::Ordered { tries: tries.clone(), most })?;
        }
        for (at, position) in places.into_iter().enumerate() {
            if candidates.eliminated.len() == most {
                break;
            }
            let now = candidates.residual[position];
            let is_accepted = if let Some((_, least)) = tries.get(at) {
                candidates.has_left(position, *least)
            } else {
                !retired.contains(&candidates.rows[position]) && now > floor && least(position) < now
            };
            if !is_accepted {
                continue;
            }
            if !one_by_one || candidates.is_sound(factor, position)? {
                candidates.eliminate(factor, position)?;
            } else {
                retired.insert(candidates.rows[position]);
            }
        }
        if !one_by_one && !candidates.are_sound(factor) {
            generator = random::generator_at(seed, start);
            again = true;
            continue;
        }
        factor.flush(&mut candidates)?;
        factor.save(|| {
            let rows = retired.iter().map(|&row| row as u64);
            std::iter::once(random::position(&generator)).chain(rows).collect()
        })?;
    }
    Ok(Stop::Cap)
}
