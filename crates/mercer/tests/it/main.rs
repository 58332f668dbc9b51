//! Tests of the library from outside, one file a stage.

mod naive;
#[cfg(feature = "formats")]
mod data;
mod kernel;
mod basis;
