//! Fitted models as ONNX files, which run without mercer.
//!
//!   X ──► encode ──► scale ──► kernel values ──► A·k − b ──► outputs
//!
//! `proto.rs` writes bytes, `graph.rs` nodes and constants, `kernels.rs` kernel values, and `model.rs` the rest. Only operators
//! of the standard domain are used, those that ONNX Runtime has for float64 on processors. Any number of rows goes in at a time.
//!
//! The input is called `X`. Features, selected columns and predicted numbers are called `variable`, and a predicted class
//! `label` and `probabilities`, as scikit-learn's models are by skl2onnx.

mod proto;
mod graph;
mod kernels;
mod model;

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::map::{FeatureMap, Model, SelectedColumns};
use crate::real::Precision;
use crate::whole_file::{finish, temporary};

/// The versions of ONNX's operators that a graph can be written in.
pub const OPSETS: std::ops::RangeInclusive<u32> = 13..=22;

/// How a model is exported.
///
/// ```
/// use mercer::onnx::Export;
/// use mercer::{Basis, FeatureMap, Kernel, Rows};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
/// let map = FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).fit(&rows)?);
/// let bytes = Export::default().map(&map)?;
/// assert_eq!(bytes[..10], *b"\x08\x08\x12\x06mercer"); // version 8 of the format, written by mercer
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// The type of input and output. Where float32 is not precise enough for a feature, the graph computes it in float64 and rounds.
    pub precision: Precision,
    /// Whether features are wanted of a model that predicts.
    pub features: bool,
    /// Whether the input holds the columns that the model's encoder makes, so that the graph need not encode.
    pub encoded: bool,
    /// The version of the operators, one of [`OPSETS`].
    pub opset: u32,
    /// The classes in another order, or as integers; None: the model's, as text.
    pub classes: Option<Vec<Class>>,
}

/// A class that a graph predicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// What the model calls it.
    pub name: String,
    /// What the graph gives for it, if all classes have such a number; else it gives the name.
    pub integer: Option<i64>,
}

impl Default for Export {
    fn default() -> Self {
        Self { precision: Precision::Double, features: false, encoded: false, opset: 17, classes: None }
    }
}

impl Export {
    /// The ONNX file of what a model file holds.
    pub fn model(&self, model: &Model) -> Result<Vec<u8>> {
        match model {
            Model::Features(map) => self.map(map),
            Model::Columns(selected) => self.columns(selected),
        }
    }

    /// The ONNX file of a map: features, or predictions if it has a predictor.
    pub fn map(&self, map: &FeatureMap) -> Result<Vec<u8>> {
        self.check()?;
        model::map(self, map)
    }

    /// The ONNX file of selected columns.
    ///
    /// ```
    /// use mercer::map::SelectedColumns;
    /// use mercer::onnx::Export;
    ///
    /// let selected = SelectedColumns { n_inputs: 3, columns: vec![0, 2], ..SelectedColumns::default() };
    /// let bytes = Export::default().columns(&selected)?;
    /// assert!(bytes.windows(6).any(|word| word == b"Gather"));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn columns(&self, selected: &SelectedColumns) -> Result<Vec<u8>> {
        self.check()?;
        model::columns(self, selected)
    }

    fn check(&self) -> Result<()> {
        if OPSETS.contains(&self.opset) {
            return Ok(());
        }
        Err(Error::argument(format!(
            "target_opset = {}, but graphs are written in the versions {} to {} of ONNX's operators",
            self.opset,
            OPSETS.start(),
            OPSETS.end()
        )))
    }
}

/// Writes an exported model, whole or not at all.
///
/// ```
/// use mercer::map::SelectedColumns;
/// use mercer::onnx::{Export, save};
///
/// let selected = SelectedColumns { n_inputs: 3, columns: vec![0, 2], ..SelectedColumns::default() };
/// let path = std::env::temp_dir().join("mercer-doc.onnx");
/// let bytes = Export::default().columns(&selected)?;
/// save(&bytes, &path)?;
/// assert_eq!(std::fs::read(&path).unwrap(), bytes);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn save(bytes: &[u8], path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let mut file = temporary(path)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| Error::io(path, e))?;
    finish(file, path)
}
