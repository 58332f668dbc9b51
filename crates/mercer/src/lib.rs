//! mercer: feature selection and feature extraction in kernel space.
//!
//! Rows become explicit coordinates of a kernel's feature space ([`Basis`]), the coordinates that matter for the labels
//! are selected or combined, and what comes back is one [`FeatureMap`] that turns any rows into features.
//!
//! ```
//! use mercer::{Basis, Kernel, Klfe, data::{Labels, Task, synth}};
//! # let folder = std::env::temp_dir().join("mercer-tour");
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let file = folder.join("model.mercer");
//! # let path = file.to_str().unwrap();
//! # let table = synth::generate("ringnorm?n=400&seed=1")?;
//! # let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
//! # let (rows, new_rows) = (table.rows, synth::generate("ringnorm?n=100&seed=2")?.rows);
//! let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&rows)?;
//! let map   = Klfe { n_components: Some(10), ..Klfe::default() }.fit(&rows, &labels, basis)?;
//! let z     = map.transform(&new_rows)?;          map.save(path)?;
//! assert_eq!((z.nrows(), z.ncols()), (100, 10));
//! # Ok::<(), mercer::Error>(())
//! ```
//!
//! The modules stand in the order the data flows, and each uses only those above it:
//! [`data`] → [`kernel`] → [`basis`] → [`evidence`] → [`select`] | [`extract`] → [`map`] → [`onnx`] | [`systems`] →
//! [`methods`] (the registry, by name) → [`pipeline`] → [`partitions`] → `evaluate` → `report`.
//!
//! # Features
//!
//! None is on by default. Without them models are fitted, saved, loaded and applied, to matrices and to generated rows.
//!
//! | feature | brings | depends on |
//! |---|---|---|
//! | `evaluate` | folds, evaluators of features, comparisons, advice and automatic features (`mercer::evaluate`) | nothing more |
//! | `report` | HTML pages of models, comparisons and advice (`mercer::report`); turns on `evaluate` | plotters |
//! | `formats` | readers and writers of CSV, Parquet, Arrow, LIBSVM, NPY and NPZ files (`data::read`, `data::write`) | arrow, csv, flate2, npyz, parquet, zip |
//!
//! The folder `examples` has six short programs: `basis_and_map`, `takes`, `comparison`, `streaming`, `own_kernel` and `partitions`.
//!
//! Matrices in the interface are faer's, which is re-exported as [`faer`].

// allocator.rs, limits.rs, cuda.rs, data/store.rs and linalg/large.rs are exceptions and say why.
#![deny(unsafe_code)]
// Some arithmetic below serves the evaluation alone.
#![cfg_attr(not(feature = "evaluate"), allow(dead_code))]

pub use faer;

pub mod error;
pub mod allocator;
mod limits;
pub mod monitor;
pub mod spec;
mod real;
mod linalg;
mod random;
mod whole_file;
mod size;
mod cuda;
pub mod device;
pub mod data;
pub mod checkpoint;
pub mod options;
pub mod kernel;
pub mod basis;
pub mod evidence;
pub mod select;
pub mod extract;
pub mod map;
pub mod onnx;
pub mod systems;
pub mod methods;
pub mod pipeline;
pub mod partitions;
#[cfg(feature = "evaluate")]
pub mod evaluate;
#[cfg(feature = "report")]
pub mod report;

pub use basis::{Basis, FittedBasis};
pub use checkpoint::Checkpoint;
pub use data::{Labels, Rows};
pub use error::{Error, Result};
pub use extract::{Extractor, Klfe};
pub use kernel::{Gamma, Kernel, Shape};
pub use map::FeatureMap;
pub use monitor::{Monitor, Progress};
pub use options::Options;
pub use pipeline::{FittedPipeline, Pipeline};
pub use systems::System;
