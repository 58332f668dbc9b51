//! Tests of the library from outside, one file a stage.

mod naive;
mod architecture;
#[cfg(feature = "formats")]
mod data;
mod kernel;
mod basis;
mod growing;
mod checkpoint;
mod select;
mod extract;
mod map;
mod single;
mod single_fit;
mod importance;
mod systems;
mod single_top;
mod evaluate;
mod report;
mod methods;
