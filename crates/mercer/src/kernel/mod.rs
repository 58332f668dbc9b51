//! Stage 2: similarities. Kernels, their values as panels, and the rules that choose γ.

pub mod kernel;
pub mod composite;
pub mod own;
mod text;
pub(crate) mod pairs;
pub(crate) mod products;
pub mod block;
pub(crate) mod panel_f32;
pub mod gram;
pub(crate) mod on_gpu;
pub(crate) mod widths;
pub mod gamma;
pub(crate) mod parameters;

pub use crate::real::Precision;
pub use block::Panel;
pub use gamma::Gamma;
pub use gram::Gram;
pub use kernel::{Kernel, Shape};
pub use own::OwnKernel;
