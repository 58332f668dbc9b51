//! Stage 1: rows in. Dense or sparse rows, labels, scaling, readers and generators.

pub(crate) mod store;
pub mod rows;
pub mod single;
pub mod either;
pub mod labels;
pub mod scale;
pub mod table;
pub mod synth;
#[cfg(feature = "formats")]
mod format;
#[cfg(feature = "formats")]
pub mod read;
#[cfg(feature = "formats")]
pub mod write;

pub use either::Either;
pub use labels::{Column, Labels, Task};
pub use rows::{Csr, Dense, Rows};
pub use scale::{Scale, Scaling};
pub use single::Single;
pub use table::Table;
