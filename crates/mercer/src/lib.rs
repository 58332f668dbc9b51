//! mercer: feature selection and feature extraction in kernel space.

#![forbid(unsafe_code)]

pub mod error;
pub mod monitor;
mod linalg;
mod random;
mod whole_file;
pub mod data;
pub mod kernel;
pub mod basis;
pub mod map;
pub mod evaluate;
pub mod methods;

pub use basis::{Basis, FittedBasis};
pub use data::{Labels, Rows};
pub use error::{Error, Result};
pub use kernel::{Gamma, Kernel, Shape};
pub use map::FeatureMap;
pub use monitor::{Monitor, Progress};
