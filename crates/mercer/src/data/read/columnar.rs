//! Parquet and Arrow IPC: typed columns, read batch by batch.
//!
//! cost    one pass; memory for one batch and the matrix, which goes to a file if it is too large. Unused columns are not decoded
//! differs booleans are 0 and 1 as inputs and text as a target; dictionaries are text

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, Schema};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columns::Choice;
use super::{ReadOptions, caught, not_finite, text_inputs};
use crate::data::store::Growing;
use crate::data::{Column, Rows, Table};
use crate::error::{Error, Result};

/// The first bytes of an Arrow file; a stream has none.
const ARROW_FILE_MAGIC: &[u8] = b"ARROW1";

pub(super) fn read_parquet(path: &str, file: File, options: &ReadOptions) -> Result<Table> {
    whole(path, || {
        let broken = |e: &dyn std::fmt::Display| {
            Error::file(path, format!("it cannot be read as Parquet: {e}\nhint: is the file whole?"))
        };
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| broken(&e))?;
        let mut batches = Batches::new(path, builder.schema(), options)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), batches.wanted.iter().copied());
        let reader = builder.with_projection(mask).build().map_err(|e| broken(&e))?;
        batches.extend(reader, &broken)?;
        batches.finish()
    })
}

pub(super) fn read_arrow(path: &str, mut file: File, options: &ReadOptions) -> Result<Table> {
    whole(path, || {
        let broken = |e: &dyn std::fmt::Display| {
            Error::file(path, format!("it cannot be read as Arrow IPC: {e}\nhint: is the file whole?"))
        };
        let mut start = Vec::new();
        file.by_ref().take(ARROW_FILE_MAGIC.len() as u64).read_to_end(&mut start).map_err(|e| broken(&e))?;
        file.rewind().map_err(|e| broken(&e))?;
        if start.starts_with(b"FEA1") {
            return Err(Error::file(path, "Feather version 1; write it again as version 2 (Arrow IPC)"));
        }
        let input = BufReader::new(&file);
        if start == ARROW_FILE_MAGIC {
            let schema = FileReader::try_new(input, None).map_err(|e| broken(&e))?.schema();
            let mut batches = Batches::new(path, &schema, options)?;
            file.rewind().map_err(|e| broken(&e))?;
            let reader = FileReader::try_new(BufReader::new(&file), Some(batches.wanted.clone()));
            batches.extend(reader.map_err(|e| broken(&e))?, &broken)?;
            batches.finish()
        } else {
            let reader = StreamReader::try_new(input, None).map_err(|e| broken(&e))?;
            let mut batches = Batches::new(path, &reader.schema(), options)?;
            batches.wanted = (0..reader.schema().fields().len()).collect();
            batches.extend(reader, &broken)?;
            batches.finish()
        }
    })
}

fn whole(path: &str, read: impl FnOnce() -> Result<Table>) -> Result<Table> {
    caught(read).unwrap_or_else(|| Err(Error::file(path, "the file is damaged: its decoder gave up")))
}

/// Creates the error for a file that its decoder rejects.
type Broken<'a> = dyn Fn(&dyn std::fmt::Display) -> Error + 'a;

/// The table read so far.
struct Batches<'a> {
    path: &'a str,
    choice: Choice,
    /// The columns that the reader returns, ascending.
    wanted: Vec<usize>,
    n: usize,
    values: Growing<f64>,
    target: Option<Column>,
    /// Whether the target is of the type UInt64.
    is_u64: bool,
    kept: Vec<Vec<String>>,
}

impl<'a> Batches<'a> {
    fn new(path: &'a str, schema: &Schema, options: &ReadOptions) -> Result<Self> {
        let names = schema.fields().iter().map(|f| f.name().clone()).collect();
        let mut choice = Choice::of_columns(path, Ok(names), options)?;
        let kind = |j: usize| schema.field(j).data_type();
        if choice.text_may_leave {
            let kept = choice.kept.clone();
            choice.inputs.retain(|j| is_number(kind(*j)) || !kept.contains(j));
        }
        let text: Vec<usize> = choice.inputs.iter().copied().filter(|&j| !is_number(kind(j))).collect();
        if let Some(&first) = text.first() {
            let columns: Vec<&str> = text.iter().map(|&j| choice.names[j].as_str()).collect();
            return Err(text_inputs(
                path,
                &columns,
                &format!("values of the type {}", kind(first)),
                choice.text_may_leave,
            ));
        }
        if choice.inputs.is_empty() {
            return Err(Error::file(path, "no input columns are left: the others hold text"));
        }
        let target = match choice.target.map(kind) {
            None => None,
            // 64-bit unsigned integers may not fit, which is known at the end.
            Some(t) if t.is_integer() && *t != DataType::UInt64 => Some(Column::Integers(Vec::new())),
            Some(t) if t.is_floating() || t.is_decimal() => Some(Column::Numbers(Vec::new())),
            Some(_) => Some(Column::Text(Vec::new())),
        };
        let is_u64 = choice.target.map(kind) == Some(&DataType::UInt64);
        let mut wanted: Vec<usize> =
            choice.inputs.iter().chain(&choice.kept).copied().chain(choice.target).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let kept = vec![Vec::new(); choice.kept.len()];
        Ok(Self { path, choice, wanted, n: 0, values: options.growing(), target, is_u64, kept })
    }

    fn extend(
        &mut self,
        batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
        broken: &Broken,
    ) -> Result<()> {
        for batch in batches {
            let batch = batch.map_err(|e| broken(&e))?;
            if batch.num_columns() != self.wanted.len() {
                return Err(broken(&format!("{} columns in a batch of rows", batch.num_columns())));
            }
            self.push(&batch, broken)?;
        }
        Ok(())
    }

    fn push(&mut self, batch: &RecordBatch, broken: &Broken) -> Result<()> {
        let column = |j: usize| {
            let at = self.wanted.binary_search(&j).map_err(|_| broken(&"a column is missing"))?;
            Ok(BatchColumn {
                array: batch.column(at),
                path: self.path,
                name: &self.choice.names[j],
                before: self.n,
                broken,
            })
        };
        let p = self.choice.inputs.len();
        let mut rows = vec![0.0; batch.num_rows() * p];
        for (at, &j) in self.choice.inputs.iter().enumerate().filter(|_| batch.num_rows() > 0) {
            column(j)?.numbers(rows[at..].iter_mut().step_by(p))?;
        }
        match (self.choice.target, &mut self.target) {
            (Some(j), Some(Column::Integers(values))) => column(j)?.integers(values)?,
            (Some(j), Some(Column::Numbers(values))) => {
                let mut new = vec![0.0; batch.num_rows()];
                column(j)?.numbers(new.iter_mut())?;
                values.append(&mut new);
            }
            (Some(j), Some(Column::Text(values))) => {
                let texts = column(j)?;
                for (i, text) in texts.texts()?.into_iter().enumerate() {
                    values.push(text.ok_or_else(|| texts.missing(i))?);
                }
            }
            _ => {}
        }
        for (all, &j) in self.kept.iter_mut().zip(&self.choice.kept) {
            all.extend(column(j)?.texts()?.into_iter().map(Option::unwrap_or_default));
        }
        self.n += batch.num_rows();
        self.values.extend(&rows)
    }

    fn finish(self) -> Result<Table> {
        if self.n == 0 {
            return Err(Error::file(self.path, "there are no rows"));
        }
        let names = self.choice.input_names();
        let kept = self.choice.kept.iter().map(|&j| self.choice.names[j].clone());
        Ok(Table {
            kept: kept.zip(self.kept).collect(),
            rows: Rows::from_store(self.values.finish()?, self.n, names.len())?,
            names,
            named: true,
            target: self.target.map(|target| if self.is_u64 { integers_if_they_fit(target) } else { target }),
        })
    }
}

/// The values of one column in one batch.
struct BatchColumn<'a> {
    array: &'a ArrayRef,
    path: &'a str,
    name: &'a str,
    /// Rows in the batches before.
    before: usize,
    broken: &'a Broken<'a>,
}

impl BatchColumn<'_> {
    /// Finite numbers, one for each place.
    fn numbers<'p>(&self, places: impl Iterator<Item = &'p mut f64>) -> Result<()> {
        let numbers = cast(self.array, &DataType::Float64).map_err(|e| (self.broken)(&e))?;
        let numbers = numbers.as_primitive::<Float64Type>();
        for (i, (place, v)) in places.zip(numbers.iter()).enumerate() {
            *place = v.ok_or_else(|| self.missing(i))?;
            if !place.is_finite() {
                return Err(not_finite(self.path, self.before + i + 1, self.name, &place.to_string()));
            }
        }
        Ok(())
    }

    fn integers(&self, values: &mut Vec<i64>) -> Result<()> {
        let integers = cast(self.array, &DataType::Int64).map_err(|e| (self.broken)(&e))?;
        for (i, v) in integers.as_primitive::<Int64Type>().iter().enumerate() {
            values.push(v.ok_or_else(|| self.missing(i))?);
        }
        Ok(())
    }

    /// Each value as text; None where it is null.
    fn texts(&self) -> Result<Vec<Option<String>>> {
        let options = FormatOptions::default();
        let format = ArrayFormatter::try_new(self.array, &options).map_err(|e| (self.broken)(&e))?;
        let text = |i: usize| {
            let text = (!self.array.is_null(i)).then(|| format.value(i).try_to_string());
            text.transpose().map_err(|e| (self.broken)(&e))
        };
        (0..self.array.len()).map(text).collect()
    }

    fn missing(&self, i: usize) -> Error {
        not_finite(self.path, self.before + i + 1, self.name, "a value is missing")
    }
}

/// Texts of unsigned integers as integers, if all of them fit.
fn integers_if_they_fit(target: Column) -> Column {
    let Column::Text(texts) = target else { return target };
    match texts.iter().map(|text| text.parse()).collect() {
        Ok(integers) => Column::Integers(integers),
        Err(std::num::ParseIntError { .. }) => Column::Text(texts),
    }
}

fn is_number(kind: &DataType) -> bool {
    kind.is_numeric() || *kind == DataType::Boolean
}
