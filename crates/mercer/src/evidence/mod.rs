//! Stage 4: sums over rows. Who is near whom, and what their differences add up to.

pub mod differences;
pub(crate) mod tree;
pub(crate) mod sieve;
pub mod approximate;
pub mod neighbours;
pub mod moments;
pub mod margins;
