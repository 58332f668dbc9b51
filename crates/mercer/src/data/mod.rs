//! Stage 1: rows in. Dense or sparse rows, labels, scaling, readers and generators.

pub(crate) mod store;
pub(crate) mod gpu_view;
pub mod rows;
mod copies;
pub mod labels;
pub mod needs;
pub mod target;
pub mod weights;
pub mod scale;
pub mod sniff;
pub mod encode;
pub mod table;
pub mod synth;
#[cfg(feature = "formats")]
mod format;
#[cfg(feature = "formats")]
pub mod read;
#[cfg(feature = "formats")]
pub mod write;

pub use encode::Encoder;
pub use labels::{Column, Labels, Task};
pub use needs::Needs;
pub use rows::{Csr, Dense, Rows};
pub use scale::{Scale, Scaling};
pub use table::Table;
pub use target::{TargetSummary, TargetValues};
pub use weights::Weights;
