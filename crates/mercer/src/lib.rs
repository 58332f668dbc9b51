//! mercer: feature selection and feature extraction in kernel space.

#![forbid(unsafe_code)]

pub mod error;
pub mod monitor;
pub mod data;

pub use data::{Labels, Rows};
pub use error::{Error, Result};
pub use monitor::{Monitor, Progress};
