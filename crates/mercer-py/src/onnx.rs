//! Models as ONNX files, for Python.

use std::path::PathBuf;

use mercer::basis::Precision;
use mercer::onnx::{Class, Export, save};
use mercer::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::gate::run;

/// The settings of an export. `classes` are names and what the graph gives for them.
pub(crate) fn export(
    dtype: &str,
    features: bool,
    encoded: bool,
    opset: u32,
    classes: Option<Vec<(String, Option<i64>)>>,
) -> Result<Export> {
    let precision = match dtype {
        "float64" => Precision::Double,
        "float32" => Precision::Single,
        _ => {
            let text = format!("dtype = `{dtype}` is not known; use one of float64, float32");
            return Err(Error::Argument(text));
        }
    };
    let class = |(name, integer): (String, Option<i64>)| Class { name, integer };
    let classes = classes.map(|classes| classes.into_iter().map(class).collect());
    Ok(Export { precision, features, encoded, opset, classes })
}

/// The bytes of an exported model; None if they were written to a file.
pub(crate) fn exported(
    py: Python<'_>,
    path: Option<PathBuf>,
    make: impl FnOnce() -> Result<Vec<u8>> + Send,
) -> PyResult<Option<Bound<'_, PyBytes>>> {
    let bytes = run(py, 0, |_| {
        let bytes = make()?;
        match &path {
            Some(path) => save(&bytes, path).map(|()| None),
            None => Ok(Some(bytes)),
        }
    })?;
    Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
}
