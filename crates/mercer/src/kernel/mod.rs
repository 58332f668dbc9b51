//! Stage 2: similarities. Kernels, their values as panels, and the rules that choose γ.

pub mod kernel;
pub(crate) mod exp;
pub mod block;
pub mod gamma;

pub use block::{Gram, Panel};
pub use gamma::Gamma;
pub use kernel::{Kernel, Shape};
