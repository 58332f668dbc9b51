//! Tests of the library from outside, one file a stage.

#[cfg(feature = "formats")]
mod data;
