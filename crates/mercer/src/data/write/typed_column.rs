//! Columns that are copied to the output next to the features, typed where that loses nothing of their text.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow::datatypes::DataType;
use npyz::{AutoSerialize, DType, WriteOptions, WriterBuilder};

/// A copied column with the type of its texts, if that type reproduces each text exactly.
pub(super) enum TypedColumn<'a> {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Text(&'a [String]),
}

impl<'a> TypedColumn<'a> {
    pub(super) fn of(column: &'a [String]) -> Self {
        let integer = |text: &String| text.parse().ok().filter(|v: &i64| v.to_string() == *text);
        let number = |text: &String| {
            let same = |v: &f64| v.is_finite() && (v.to_string() == *text || format!("{v:?}") == *text);
            text.parse().ok().filter(same)
        };
        if let Some(values) = column.iter().map(integer).collect() {
            Self::Integers(values)
        } else if let Some(values) = column.iter().map(number).collect() {
            Self::Numbers(values)
        } else {
            Self::Text(column)
        }
    }

    pub(super) fn kind(&self) -> DataType {
        match self {
            Self::Integers(_) => DataType::Int64,
            Self::Numbers(_) => DataType::Float64,
            Self::Text(_) => DataType::Utf8,
        }
    }

    pub(super) fn array(&self, start: usize, count: usize) -> ArrayRef {
        let range = start..start + count;
        match self {
            Self::Integers(v) => Arc::new(Int64Array::from_iter_values(v[range].iter().copied())),
            Self::Numbers(v) => Arc::new(Float64Array::from_iter_values(v[range].iter().copied())),
            Self::Text(v) => Arc::new(StringArray::from_iter_values(&v[range])),
        }
    }

    pub(super) fn write_npy(&self, out: &mut dyn Write) -> std::io::Result<()> {
        match self {
            Self::Integers(v) => write_array(out, &[v.len() as u64], v.iter().copied()),
            Self::Numbers(v) => write_array(out, &[v.len() as u64], v.iter().copied()),
            Self::Text(v) => {
                let length = v.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
                let kind = format!("<U{length}").parse().map_err(std::io::Error::other)?;
                let options = WriteOptions::<str>::new().dtype(DType::Plain(kind)).shape(&[v.len() as u64]);
                let mut array = options.writer(out).begin_nd()?;
                v.iter().try_for_each(|text| array.push(text))?;
                array.finish()
            }
        }
    }
}

/// An array of numbers, as NPY.
pub(super) fn write_array<T: AutoSerialize>(
    out: &mut dyn Write,
    shape: &[u64],
    values: impl Iterator<Item = T>,
) -> std::io::Result<()> {
    let mut array = WriteOptions::new().default_dtype().shape(shape).writer(out).begin_nd()?;
    array.extend(values)?;
    array.finish()
}
