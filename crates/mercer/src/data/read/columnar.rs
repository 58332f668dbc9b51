//! Parquet and Arrow IPC: typed columns, read batch by batch.
//!
//! cost    one pass; memory for one batch, text and the matrix, which goes to a file if it is too large. Unused columns are not decoded
//! differs booleans are 0 and 1 as inputs and text as a target; dictionaries are text, or categories where columns are encoded

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, Schema, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow_size::ArrowSize;
use super::budget::Budget;
use super::columns::Choice;
use super::{MissingTargets, ReadOptions, caught, gap, not_finite, parquet_size, text_inputs};
use crate::data::encode::{RawColumn, is_missing};
use crate::data::store::Growing;
use crate::data::{Column, Rows, Table};
use crate::error::{Error, Result};

/// Values of a batch that are converted at a time, about.
const PIECE_VALUES: usize = 1 << 18;

/// What texts are called where they take too much memory.
const TEXTS: &str = "columns of text";

/// The first bytes of an Arrow file; a stream has none.
const ARROW_FILE_MAGIC: &[u8] = b"ARROW1";

pub(super) fn read_parquet(path: &str, file: File, options: &ReadOptions) -> Result<Table> {
    whole(path, || {
        let broken = |e: &dyn std::fmt::Display| {
            Error::file(path, format!("it cannot be read as Parquet: {e}\nhint: is the file whole?"))
        };
        parquet_size::check_metadata(path, &file, &Budget::new(path, options))?;
        let pages = file.try_clone().map_err(|e| broken(&e))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| broken(&e))?;
        let mut batches = Batches::new(path, builder.schema(), options)?;
        parquet_size::check(path, pages, builder.metadata(), &batches.wanted, &batches.budget)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), batches.wanted.iter().copied());
        let reader = builder.with_projection(mask).build().map_err(|e| broken(&e))?;
        batches.extend(reader, &broken)?;
        batches.finish(options)
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
        let size = ArrowSize::new(path, &file, Budget::new(path, options))?;
        if start == ARROW_FILE_MAGIC { size.check_file() } else { size.check_stream() }?;
        file.rewind().map_err(|e| broken(&e))?;
        let input = BufReader::new(&file);
        if start == ARROW_FILE_MAGIC {
            let schema = FileReader::try_new(input, None).map_err(|e| broken(&e))?.schema();
            let mut batches = Batches::new(path, &schema, options)?;
            file.rewind().map_err(|e| broken(&e))?;
            let reader = FileReader::try_new(BufReader::new(&file), Some(batches.wanted.clone()));
            batches.extend(reader.map_err(|e| broken(&e))?, &broken)?;
            batches.finish(options)
        } else {
            let reader = StreamReader::try_new(input, None).map_err(|e| broken(&e))?;
            let mut batches = Batches::new(path, &reader.schema(), options)?;
            batches.wanted = (0..reader.schema().fields().len()).collect();
            batches.extend(reader, &broken)?;
            batches.finish(options)
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
    missing_targets: MissingTargets,
    /// Whether the target is of the type UInt64.
    is_u64: bool,
    kept: Vec<Vec<String>>,
    /// What is known of the inputs, where they are encoded.
    raw: Option<Vec<RawColumn>>,
    refuses_missing: bool,
    /// Whether the inputs are those of a model.
    for_model: bool,
    budget: Budget<'a>,
}

impl<'a> Batches<'a> {
    fn new(path: &'a str, schema: &Schema, options: &ReadOptions) -> Result<Self> {
        let names = schema.fields().iter().map(|f| f.name().clone()).collect();
        let mut choice = Choice::of_columns(path, Ok(names), options)?;
        let kind = |j: usize| schema.field(j).data_type();
        let raw = options.raw_columns(choice.input_names());
        if raw.is_none() && choice.text_may_leave {
            let kept = choice.kept.clone();
            choice.inputs.retain(|j| is_number(kind(*j)) || !kept.contains(j));
        }
        let raw = raw.map(|raw| {
            let typed = |(column, &j): (RawColumn, &usize)| of_type(column, kind(j));
            raw.into_iter().zip(&choice.inputs).map(typed).collect::<Vec<_>>()
        });
        let text: Vec<usize> = choice.inputs.iter().copied().filter(|&j| !is_number(kind(j))).collect();
        if let Some(&first) = text.first().filter(|_| raw.is_none()) {
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
        let (values, refuses_missing) = (options.growing(), options.refuses_missing());
        let budget = Budget::new(path, options);
        Ok(Self {
            path,
            choice,
            wanted,
            n: 0,
            values,
            target,
            missing_targets: MissingTargets::default(),
            is_u64,
            kept,
            raw,
            refuses_missing,
            for_model: options.columns.is_some(),
            budget,
        })
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
            // A batch may have any number of rows, and what is made of them is larger.
            let most = (PIECE_VALUES / self.wanted.len().max(1)).max(1);
            for start in (0..batch.num_rows()).step_by(most) {
                self.push(&batch.slice(start, most.min(batch.num_rows() - start)), broken)?;
            }
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
                for_model: self.for_model,
                broken,
            })
        };
        let raw_bytes = self.raw.iter().flatten().map(RawColumn::text_bytes).sum::<usize>();
        let p = self.choice.inputs.len();
        let mut rows = vec![0.0; batch.num_rows() * p];
        let (mut raw, mut budget) = (self.raw.take(), self.budget.clone());
        let mut missing = self.missing_targets;
        let mut take = |text: &str| budget.take(size_of::<String>() + text.len(), TEXTS);
        for (at, &j) in self.choice.inputs.iter().enumerate().filter(|_| batch.num_rows() > 0) {
            let places = rows[at..].iter_mut().step_by(p);
            match &mut raw {
                None => column(j)?.numbers(places)?,
                Some(raw) => column(j)?.cells(&mut raw[at], places, self.refuses_missing)?,
            }
        }
        match (self.choice.target, &mut self.target) {
            (Some(j), Some(Column::Integers(values))) => column(j)?.integers(values, &mut missing)?,
            (Some(j), Some(Column::Numbers(values))) => column(j)?.target_numbers(values, &mut missing)?,
            (Some(j), Some(Column::Text(values))) => {
                column(j)?.each_text(|i, text| {
                    match text {
                        Some(text) => {
                            take(&text)?;
                            values.push(text);
                        }
                        None => missing.add(self.n + i + 1),
                    }
                    Ok(())
                })?;
            }
            _ => {}
        }
        for (all, &j) in self.kept.iter_mut().zip(&self.choice.kept) {
            column(j)?.each_text(|_, text| {
                let text = text.unwrap_or_default();
                take(&text)?;
                all.push(text);
                Ok(())
            })?;
        }
        if let Some(raw) = &mut raw {
            let now = raw.iter().map(RawColumn::text_bytes).sum::<usize>();
            budget.take(now - raw_bytes, TEXTS)?;
        }
        (self.raw, self.budget, self.missing_targets) = (raw, budget, missing);
        self.n += batch.num_rows();
        self.values.extend(&rows)
    }

    fn finish(self, options: &ReadOptions) -> Result<Table> {
        if self.n == 0 {
            return Err(Error::file(self.path, "there are no rows"));
        }
        if let Some(j) = self.choice.target {
            self.missing_targets.check(self.path, &self.choice.names[j], self.n)?;
        }
        let kept = self.choice.kept.iter().map(|&j| self.choice.names[j].clone());
        let kept = kept.zip(self.kept).collect();
        let target =
            self.target.map(|target| if self.is_u64 { integers_if_they_fit(target) } else { target });
        let values = self.values.finish()?;
        let table = if let Some(raw) = self.raw {
            options.encoded(self.path, raw, values, self.n, true)?
        } else {
            let names = self.choice.input_names();
            Table::of_rows(Rows::from_store(values, self.n, names.len())?, names)
        };
        Ok(Table { target, kept, ..table })
    }
}

/// The values of one column in one batch.
struct BatchColumn<'a> {
    array: &'a ArrayRef,
    path: &'a str,
    name: &'a str,
    /// Rows in the batches before.
    before: usize,
    for_model: bool,
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

    /// Values of any kind, one cell for each place.
    fn cells<'p>(
        &self,
        column: &mut RawColumn,
        places: impl Iterator<Item = &'p mut f64>,
        refuses_missing: bool,
    ) -> Result<()> {
        let kind = self.array.data_type();
        let mut place_with = places.enumerate();
        let mut put = |cell: Option<f64>, column: &mut RawColumn| {
            let Some((i, place)) = place_with.next() else { return Ok(()) };
            *place = match cell {
                Some(cell) => cell,
                None if refuses_missing => return Err(self.missing(i)),
                None => column.missing(),
            };
            Ok(())
        };
        if is_number(kind) {
            let numbers = cast(self.array, &DataType::Float64).map_err(|e| (self.broken)(&e))?;
            for (i, v) in numbers.as_primitive::<Float64Type>().iter().enumerate() {
                if v.is_some_and(f64::is_infinite) {
                    let text = v.unwrap_or_default().to_string();
                    return Err(not_finite(self.path, self.before + i + 1, self.name, &text));
                }
                put(v.filter(|v| !v.is_nan()), column)?;
            }
        } else if let Some(in_a_day) = units_in_a_day(kind) {
            let ticks = if *kind == DataType::Date32 {
                cast(self.array, &DataType::Int32).and_then(|days| cast(&days, &DataType::Int64))
            } else {
                cast(self.array, &DataType::Int64)
            };
            for v in ticks.map_err(|e| (self.broken)(&e))?.as_primitive::<Int64Type>() {
                put(v.map(|v| v as f64 / in_a_day), column)?;
            }
        } else if is_text(kind) {
            let categories = matches!(kind, DataType::Dictionary(..));
            self.each_text(|i, text| {
                let row = self.before + i;
                let cell = text.filter(|text| categories || !is_missing(text.trim())).map(|text| {
                    if categories { column.text(&text, row) } else { column.word(Some(&text), row) }
                });
                put(cell, column)
            })?;
        } else {
            (0..self.array.len()).try_for_each(|_| put(Some(f64::NAN), column))?;
        }
        Ok(())
    }

    /// The integers of a target, without those that are missing.
    fn integers(&self, values: &mut Vec<i64>, missing: &mut MissingTargets) -> Result<()> {
        let integers = cast(self.array, &DataType::Int64).map_err(|e| (self.broken)(&e))?;
        for (i, v) in integers.as_primitive::<Int64Type>().iter().enumerate() {
            match v {
                Some(v) => values.push(v),
                None => missing.add(self.before + i + 1),
            }
        }
        Ok(())
    }

    /// The finite numbers of a target, without those that are missing.
    fn target_numbers(&self, values: &mut Vec<f64>, missing: &mut MissingTargets) -> Result<()> {
        let numbers = cast(self.array, &DataType::Float64).map_err(|e| (self.broken)(&e))?;
        for (i, v) in numbers.as_primitive::<Float64Type>().iter().enumerate() {
            match v.filter(|v| !v.is_nan()) {
                Some(v) if v.is_finite() => values.push(v),
                Some(v) => return Err(not_finite(self.path, self.before + i + 1, self.name, &v.to_string())),
                None => missing.add(self.before + i + 1),
            }
        }
        Ok(())
    }

    /// Calls `hand` with each value as text, None where it is null, and its place in the batch.
    fn each_text(&self, mut hand: impl FnMut(usize, Option<String>) -> Result<()>) -> Result<()> {
        let options = FormatOptions::default();
        let format = ArrayFormatter::try_new(self.array, &options).map_err(|e| (self.broken)(&e))?;
        (0..self.array.len()).try_for_each(|i| {
            let text = (!self.array.is_null(i)).then(|| format.value(i).try_to_string());
            hand(i, text.transpose().map_err(|e| (self.broken)(&e))?)
        })
    }

    fn missing(&self, i: usize) -> Error {
        gap(self.path, self.before + i + 1, self.name, "a value is missing", self.for_model)
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

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// How many of its units a date's type has in a day; None for other types.
fn units_in_a_day(kind: &DataType) -> Option<f64> {
    Some(match kind {
        DataType::Date32 => 1.0,
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => 86_400e3,
        DataType::Timestamp(TimeUnit::Second, _) => 86_400.0,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 86_400e6,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 86_400e9,
        _ => return None,
    })
}

/// What a column's type says of its values.
fn of_type(column: RawColumn, kind: &DataType) -> RawColumn {
    match kind {
        _ if units_in_a_day(kind).is_some() => column.of_dates(),
        DataType::Dictionary(..) if is_text(kind) => column.of_categories(),
        _ if is_number(kind) || is_text(kind) => column,
        _ => column.of_unusable(&kind.to_string()),
    }
}
