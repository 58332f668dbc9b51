//! k-means landmarks: the centres of clusters, orthonormalised as in `nystrom`, the largest cluster first.
//!
//!   A = L⁻¹,  L Lᵀ = K_ll,   l the centres
//!
//! cost    k-means on at most max(20 000, 20·m) rows (basis/clusters.rs), then m² kernel values for A and n·(m+1) for the residual;
//!         24·m² bytes, 24 a row, and 24·m·p for the centres
//! stops   at the cap; where fewer rows are distinct, or centres are numerically dependent, there are fewer components
//! source  Zhang, Tsang & Kwok 2008
//! differs they do not orthonormalise. Clusters are those of the rows themselves, whatever the kernel; so a precomputed kernel
//!         is refused. Sparse rows are clustered without a dense copy of all of them, but centres are dense while they are
//!         averaged: they are refused where those do not fit into memory. In float64 throughout

use super::clusters::Clusters;
use super::settings::N_COMPONENTS;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{all_zero, diagonal};
use crate::kernel::parameters::with_kernel;
use crate::options::{Options, bytes};
use crate::random;
use crate::spec::{MethodSpec, SEED, Stage};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kmeans",
    stage: Stage::Basis,
    file: "basis/kmeans.rs",
    source: "Zhang, Tsang & Kwok 2008",
    cost: "20·n·m·p flops (n ≤ 20·m or 20000), n·m kernel values",
    parameters: &with_kernel::<2, 8>([N_COMPONENTS.none("min(n, 1000)"), SEED]),
    help: "Nyström with centres of k-means clusters, which are no rows, as landmarks",
};

/// Rows that are clustered: at least so many, where there are.
const SAMPLE: usize = 20_000;

/// Rows that are clustered for each centre, where there are.
const SAMPLE_PER_CENTRE: usize = 20;

/// At most `count` centres, as many as clusters, the largest cluster first.
pub(crate) fn centres(
    kernel: Kernel,
    rows: &Rows,
    count: usize,
    seed: u64,
    options: &Options,
) -> Result<Rows<'static>> {
    let p = rows.p();
    // The centres, shifted and scaled, and averaged again.
    let needed = 24 * (count * p) as u64;
    if needed > options.memory {
        return Err(Error::Memory(format!(
            "{count} centres of {p} columns need {}, but the budget is {}\n\
             hint: lower n_components, or use method = `kfa`, whose landmarks are rows{}",
            bytes(needed),
            bytes(options.memory),
            if rows.is_sparse() { " and stay sparse" } else { "" }
        )));
    }
    let places = sample(rows.n(), count, seed);
    let sample = (places.len() < rows.n()).then(|| rows.select(&places));
    let found = Clusters::of(sample.as_ref().unwrap_or(rows), count, seed, &options.monitor)?;
    let sizes = found.sizes();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&cluster| std::cmp::Reverse(sizes[cluster]));
    let centres = Rows::dense(found.centres, sizes.len(), p)?.select(&order);
    if diagonal(kernel, &centres).iter().all(|v| *v == 0.0) {
        return Err(if diagonal(kernel, rows).iter().all(|v| *v == 0.0) {
            all_zero()
        } else {
            Error::data(
                "k(c,c) = 0 for every k-means centre c: the rows cancel in their means, so there is no basis of them\n\
                 hint: raise n_components, or use method = `kfa`",
            )
        });
    }
    like(rows, centres.to_dense())
}

/// The rows of n that are clustered for so many centres, ascending.
pub(crate) fn sample(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut drawn = random::sample(n, SAMPLE.max(SAMPLE_PER_CENTRE.saturating_mul(count)), seed);
    drawn.sort_unstable();
    drawn
}

/// Centres from their k·p numbers, stored as these rows are.
pub(super) fn like(rows: &Rows, centres: Vec<f64>) -> Result<Rows<'static>> {
    let k = centres.len() / rows.p();
    let centres = Rows::dense(centres, k, rows.p())?;
    if !rows.is_sparse() {
        return Ok(centres);
    }
    Ok(centres.to_sparse().select(&(0..k).collect::<Vec<_>>()))
}
