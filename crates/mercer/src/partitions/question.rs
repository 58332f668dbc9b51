//! What the coordinator asks of every partition.

use serde::{Deserialize, Serialize};

use super::wire::Matrix;
use crate::basis::Expansion;
use crate::basis::factor_rows::NewPivots;
use crate::basis::sparse::Novelty;
use crate::data::rows::Rows;
use crate::evidence::partition::{GroupKind, Queries, SearchSpace};
use crate::extract::Targets;
use crate::kernel::Kernel;
use crate::select::kffs::lines::Lines;

/// A question to every partition: what to compute, and all that it depends on beside the partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question(pub(super) Ask);

impl Question {
    /// What it is about, in one word, to name tasks.
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Ask::Look => "look",
            Ask::Label { .. } => "label",
            Ask::Weigh { .. } => "weigh",
            Ask::Check { .. } => "check",
            Ask::Take { .. } => "take",
            Ask::Begin { .. } => "begin",
            Ask::Factor(factor) => factor.ask.name(),
            Ask::Moments { .. } => "moments",
            Ask::Signs { .. } => "signs",
            Ask::ClassSums => "class-sums",
            Ask::Residual { .. } => "residual",
            Ask::Nearest { .. } => "nearest",
            Ask::Ranges { .. } => "ranges",
            Ask::FSums { .. } => "f-sums",
            Ask::Votes { .. } => "votes",
            Ask::Errors { .. } => "errors",
        }
    }

    /// Whether partitions have a new state afterwards.
    pub fn makes_state(&self) -> bool {
        match &self.0 {
            Ask::Label { .. } | Ask::Weigh { .. } | Ask::Begin { .. } | Ask::Votes { .. } => true,
            Ask::Errors { taken, .. } => taken.is_some(),
            Ask::Factor(factor) => !factor.new.is_empty(),
            _ => false,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    /// What are the rows and the targets?
    Look,
    /// Read the targets as these classes, or as numbers.
    Label { names: Option<Vec<String>> },
    /// Multiply the columns by these numbers.
    Weigh { factors: Vec<f64> },
    /// Are the rows fit for this kernel?
    Check { kernel: Kernel },
    /// The rows with these indices that lie here.
    Take { places: Vec<usize> },
    /// Begin a factor: k(x,x).
    Begin {
        kernel: Kernel,
        /// Whether columns of G are kept.
        keep: bool,
    },
    /// Something about what is left of the rows.
    Factor(FactorQuestion),
    /// Sums of features and targets.
    Moments {
        expansion: Expansion,
        targets: Targets,
        /// Whether the features are the columns of G.
        of_factor: bool,
    },
    /// The values that decide on the features' signs.
    Signs {
        expansion: Expansion,
        /// The directions in the basis' coordinates and their offset, where the columns of G may be these.
        along: Option<(Matrix, Vec<f64>)>,
    },
    /// Sums of the rows of each class.
    ClassSums,
    /// What an orthonormal basis leaves of the rows, and Σ k(x,x).
    Residual { expansion: Expansion },
    /// The nearest rows of each query.
    Nearest { queries: Queries, k: usize, groups: GroupKind, space: SearchSpace },
    /// The smallest and largest numbers of the columns, or of features.
    Ranges { features: Option<Expansion> },
    /// Sums for F of the columns, or of features.
    FSums { features: Option<Expansion> },
    /// Let the features, or the columns, vote on the rows' classes.
    Votes { features: Option<Expansion>, of_factor: bool, lines: Lines, theta: usize },
    /// After a feature was taken: how many rows are wrong if each of these is the next.
    Errors { taken: Option<usize>, left: Vec<usize> },
}

/// New pivots to be taken out of what is left of the rows, and then a question about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FactorQuestion {
    pub(super) kernel: Kernel,
    /// max |k(x,x)| over all rows.
    pub(super) largest: f64,
    pub(super) new: Vec<NewBlock>,
    /// The pivots before them, where G is not kept or columns are asked for.
    pub(super) pivots: Rows<'static>,
    pub(super) ask: FactorAsk,
}

/// Pivots that are added together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NewBlock {
    pub(super) pivots: NewPivots,
    /// What takes the earlier pivots' part out, where G is not kept.
    pub(super) part: Matrix,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum FactorAsk {
    /// Nothing but the sum of the residuals.
    Sum,
    /// The rows with the largest residuals.
    Farthest { count: usize, tie: f64, floor: f64 },
    /// The first row with at least this residual.
    FirstAbove { least: f64 },
    /// The sum of the residuals above the floor.
    OpenSum { floor: f64, retired: Vec<usize> },
    /// The rows at which running sums pass these numbers, a list for each partition.
    RowsAt { targets: Vec<Vec<f64>>, floor: f64, retired: Vec<usize> },
    /// The next rows of a random order of all n rows.
    InOrder { n: usize, seed: u64, start: usize, count: usize, novelty: Novelty, floor: f64 },
    /// RᵀR for the residual columns of these rows, whose rows of G are given.
    Products { selected: Rows<'static>, g: Matrix, part: Matrix },
}

impl FactorAsk {
    fn name(&self) -> &'static str {
        match self {
            Self::Sum => "advance",
            Self::Farthest { .. } | Self::FirstAbove { .. } => "offer",
            Self::OpenSum { .. } => "open-sum",
            Self::RowsAt { .. } => "draw",
            Self::InOrder { .. } => "in-order",
            Self::Products { .. } => "products",
        }
    }
}
