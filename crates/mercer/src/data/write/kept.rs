//! Kept columns: texts that stand beside the features, typed where a type loses nothing of them.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow::datatypes::DataType;

use super::npy_header;

/// A kept column with the type its texts have, where a type gives each text back exactly.
pub(super) enum Kept<'a> {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Text(&'a [String]),
}

impl<'a> Kept<'a> {
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
            Self::Integers(v) => {
                npy_header(out, "<i8", &format!("({},)", v.len()))?;
                v.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
            }
            Self::Numbers(v) => {
                npy_header(out, "<f8", &format!("({},)", v.len()))?;
                v.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
            }
            Self::Text(v) => {
                let length = v.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
                npy_header(out, &format!("<U{length}"), &format!("({},)", v.len()))?;
                for text in *v {
                    let letters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(length);
                    letters.into_iter().try_for_each(|letter| out.write_all(&letter.to_le_bytes()))?;
                }
                Ok(())
            }
        }
    }
}
