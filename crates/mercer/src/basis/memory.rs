//! What a fit will take of memory, and what is done where that is more than the budget.

use super::pivoted::FactorStorage;
use super::{Basis, DEFAULT_COMPONENTS, Method, csi, kfa};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::options::{Options, bytes, raise_budget};
use crate::random;
use crate::real::Precision;

/// What decides on the memory of a fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryPlan {
    pub(super) budget: u64,
    /// What coordinates are computed and kept in.
    pub(super) precision: Precision,
    /// Whether the fit hands back the rows' coordinates.
    pub(super) coordinates: bool,
    /// Whether what was found so far is kept in a file, which shall be small.
    pub(super) checkpoint: bool,
    /// Whether coordinates lie on a GPU, whose memory is another.
    pub(super) on_gpu: bool,
}

impl MemoryPlan {
    pub(super) fn new(options: &Options, precision: Precision) -> Self {
        Self {
            budget: options.memory,
            precision,
            coordinates: options.coordinates,
            checkpoint: options.checkpoint.is_some(),
            on_gpu: matches!(options.device, Device::Cuda(_)),
        }
    }

    /// Bytes that the factor of n rows takes where it is kept.
    pub(super) fn factor(self, n: usize, cap: usize) -> u64 {
        if self.on_gpu {
            return 0;
        }
        self.precision.bytes() * (n * cap) as u64
    }
}

/// Bytes that pivots need without the factor: three numbers a row, and A as it grows and in the end.
pub(super) fn without_factor(n: usize, cap: usize) -> u64 {
    24 * (n + cap * cap) as u64
}

/// Bytes a row that `csi` needs.
fn csi_bytes(cap: usize) -> u64 {
    8 * (2 * cap + 4 * csi::DELTA) as u64
}

impl Basis {
    /// What becomes of the factor of n rows.
    pub(super) fn factor_storage(&self, n: usize, cap: usize, plan: MemoryPlan) -> FactorStorage {
        match plan.coordinates {
            _ if plan.checkpoint && self.method.is_resumed() => FactorStorage::Recomputed,
            true => FactorStorage::Returned,
            false if plan.factor(n, cap) <= plan.budget.max(without_factor(n, cap)) => FactorStorage::Cached,
            false => FactorStorage::Recomputed,
        }
    }

    /// The rows that `csi` chooses among, where all would not fit into memory.
    pub(super) fn sample(
        &self,
        n: usize,
        cap: usize,
        budget: u64,
        warnings: &mut Vec<String>,
    ) -> Option<Vec<usize>> {
        let most = usize::try_from(budget / csi_bytes(cap)).unwrap_or(usize::MAX);
        if self.method != Method::Csi || n <= most {
            return None;
        }
        warnings.push(format!(
            "the basis `csi` of {n} rows needs {}, but the budget is {}: it is chosen among {most} of them, drawn with the seed {}",
            bytes(n as u64 * csi_bytes(cap)),
            bytes(budget),
            self.seed
        ));
        Some(random::sample(n, most, self.seed))
    }

    /// Bytes that a fit on n rows will need beside them.
    pub fn estimated_memory(&self, n: usize, options: &Options) -> u64 {
        self.memory_for(n, self.most_components(n), MemoryPlan::new(options, self.usual_precision()))
    }

    fn memory_for(&self, n: usize, cap: usize, plan: MemoryPlan) -> u64 {
        let storage = self.factor_storage(n, cap, plan);
        let all = match (self.method, self.candidates) {
            (Method::Kfa, None) => kfa::bytes_of_all(n, cap),
            _ => 0,
        };
        match self.method {
            Method::GramSchmidt => 3 * 8 * (cap * cap) as u64,
            // Exact when it fits; from a factor when not.
            Method::Kpca if exact_kpca(n) <= plan.budget || self.n_components.is_none() => exact_kpca(n),
            Method::Kpca => 8 * (n * self.factor_columns(n)) as u64,
            Method::Csi => (n as u64 * csi_bytes(cap)).min(plan.budget.max(2 * cap as u64 * csi_bytes(cap))),
            // Of n rows k-means keeps a few numbers each.
            Method::Kmeans => without_factor(n, cap),
            _ if storage == FactorStorage::Recomputed && !plan.coordinates => all + without_factor(n, cap),
            _ => all + plan.factor(n, cap),
        }
    }

    /// Columns of the factor that stands in for a kernel matrix that does not fit.
    pub(super) fn factor_columns(&self, n: usize) -> usize {
        self.n_components.map_or(DEFAULT_COMPONENTS, |m| DEFAULT_COMPONENTS.max(2 * m.min(n))).min(n)
    }

    /// An error with the estimate unless a fit on n rows keeps to the budget.
    pub(crate) fn check_memory(&self, n: usize, options: &Options) -> Result<()> {
        self.check_plan(n, MemoryPlan::new(options, self.usual_precision()))
    }

    pub(super) fn check_plan(&self, n: usize, plan: MemoryPlan) -> Result<()> {
        let cap = self.most_components(n);
        let needed = self.memory_for(n, cap, plan);
        if needed <= plan.budget {
            return Ok(());
        }
        let hint = match self.method {
            Method::GramSchmidt => {
                "use method = `kobl`, whose memory is n × n_components, or set n_components".into()
            }
            Method::Kpca => {
                "set n_components, for which an `rpcholesky` factor will do, or use method = `kobl`".into()
            }
            Method::Kfa if self.candidates.is_none() => {
                format!(
                    "set candidates to a number, with which no n × n matrix is kept, or {}",
                    raise_budget(plan.budget)
                )
            }
            _ => format!("lower n_components, or {}", raise_budget(plan.budget)),
        };
        Err(Error::Memory(format!(
            "the basis `{}` of {n} rows with up to {cap} components needs {}, but the budget is {}\nhint: {hint}",
            self.method.name(),
            bytes(needed),
            bytes(plan.budget)
        )))
    }
}

/// Bytes of exact `kpca`: the kernel matrix, the solver's copy and work space, the eigenvectors and the coefficients.
pub(super) fn exact_kpca(n: usize) -> u64 {
    5 * 8 * (n as u64) * (n as u64)
}
