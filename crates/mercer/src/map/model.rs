//! What a model file holds: a map from rows to features, or selected columns.

use std::io::Read;
use std::path::Path;

use super::{FeatureMap, SelectedColumns};
use crate::error::{Error, Result};

/// What a model file holds.
///
/// ```
/// use mercer::map::{Model, SelectedColumns};
///
/// let selected = SelectedColumns {
///     method: "f".into(),
///     n_inputs: 2,
///     columns: vec![1],
///     scores: vec![0.5, 2.0],
///     ranking: vec![2, 1],
///     ..SelectedColumns::default()
/// };
/// let mut bytes = Vec::new();
/// selected.write_to(&mut bytes, "memory")?;
/// let Model::Columns(again) = Model::read_from(&bytes[..], "memory")? else { panic!("it holds columns") };
/// assert_eq!(again, selected);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a file holds one, and nobody holds many")]
pub enum Model {
    /// A map from rows to features in kernel space.
    Features(FeatureMap),
    /// Some of the input columns.
    Columns(SelectedColumns),
}

impl Model {
    /// Reads a model, checking all of it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(&bytes).map_err(|reason| Error::file(path, reason))
    }

    /// Reads a model from anything that gives bytes, checking all of it; `name` is what errors call it.
    pub fn read_from(mut input: impl Read, name: &str) -> Result<Self> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|e| Error::io(name, e))?;
        Self::from_bytes(&bytes).map_err(|reason| Error::file(name, reason))
    }

    /// The method that made it.
    pub fn method(&self) -> &str {
        match self {
            Self::Features(map) => &map.method,
            Self::Columns(selected) => &selected.method,
        }
    }
}
