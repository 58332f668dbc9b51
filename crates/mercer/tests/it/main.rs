//! Tests of the library from outside, one file a stage.

mod naive;
mod architecture;
#[cfg(feature = "formats")]
mod data;
#[cfg(feature = "formats")]
mod hostile;
mod encode;
#[cfg(feature = "formats")]
mod targets;
mod weights;
mod kernel;
mod composite;
mod basis;
mod growing;
mod checkpoint;
mod select;
mod columns;
mod extract;
mod map;
mod transform_f32;
mod fit_f32;
mod importance;
mod support;
mod onnx;
mod systems;
mod heads_f32;
mod evaluate;
mod examples;
mod report;
mod methods;
mod pipeline;
mod partitions;
mod device;
mod rows_f32;
mod limits;
