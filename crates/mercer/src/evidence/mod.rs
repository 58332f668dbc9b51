//! Stage 4: sums over rows. Nearest neighbours and sums of their differences, moments and margins.

pub mod ranges;
pub mod differences;
pub(crate) mod tree;
pub(crate) mod prefilter;
pub(crate) mod nearest;
pub mod approximate;
pub(crate) mod parameters;
pub(crate) mod search;
pub(crate) mod on_gpu;
pub mod neighbours;
pub mod partition;
pub mod moments;
pub mod margins;
