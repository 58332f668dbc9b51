//! Stage 3: coordinates. A basis of the span of the rows' images, orthonormal in the kernel's space.
//!
//!   z(x) = A·k(x, landmarks),   A K_ll Aᵀ = I
//!
//! [`Basis`] holds the settings (`settings.rs`), `fit.rs` finds the basis, [`FittedBasis`] is the result (`fitted.rs`). One
//! file an algorithm; six of them grow the factor in `pivoted.rs`.

mod settings;
mod method;
mod check;
mod memory;
mod fit;
mod fitted;
mod checkpoint;
pub mod expansion;
pub mod expansion_f32;
pub(crate) mod on_gpu;
pub(crate) mod zeros;
mod columns;
pub(crate) mod relevant;
pub(crate) mod ascent;
pub mod criterion;
mod hinge;
pub mod points;
mod shrink;
pub(crate) mod variance;
mod candidates;
pub(crate) mod factor_rows;
pub(crate) mod gpu_rows;
pub(crate) mod pivoted;
pub(crate) mod kobl;
pub(crate) mod gram_schmidt;
pub(crate) mod sparse;
mod growing;
pub(crate) mod kpca;
pub(crate) mod nystrom;
pub(crate) mod rpcholesky;
pub(crate) mod kfa;
pub(crate) mod clusters;
pub(crate) mod kmeans;
pub(crate) mod csi;
pub(crate) mod loo;
pub(crate) mod ridge;
pub(crate) mod ridge_near;
pub(crate) mod kernel_ridge;
pub(crate) mod predict;
pub(crate) mod preimage;
pub(crate) mod gradient;

pub use expansion::{Expansion, Landmarks};
pub use fitted::{FittedBasis, Stop};
pub use kobl::Threshold;
pub use method::Method;
pub use settings::Basis;
pub(crate) use settings::{N_COMPONENTS, RELEVANT};

pub use crate::kernel::Precision;

/// Up to this many rows a basis without `n_components` is as large as its rule wants.
pub const UNCAPPED_ROWS: usize = 5_000;

/// Beyond [`UNCAPPED_ROWS`], and for `nystrom`, `rpcholesky`, `kfa` and `kmeans` always, this is the size without `n_components`.
pub const DEFAULT_COMPONENTS: usize = 1_000;
