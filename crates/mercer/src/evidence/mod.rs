//! Stage 4: sums over rows. Who is near whom, and what their differences add up to.

pub mod differences;
pub(crate) mod tree;
pub(crate) mod sieve;
pub(crate) mod nearest;
pub mod approximate;
pub(crate) mod parameters;
pub(crate) mod search;
pub mod neighbours;
pub mod moments;
pub mod margins;
