//! Readers: a file or a generator becomes a [`Table`]. The file extension chooses the format.
//!
//! All readers share the choice of columns (`columns.rs`) and the form of their errors: what is wrong, at which row and column,
//! and what to do. No file, however damaged, makes a reader panic.

mod budget;
mod columns;
mod encoded;
mod csv;
mod header;
mod libsvm;
mod arrow_size;
mod parquet_delta;
mod parquet_size;
mod columnar;
mod npy;
mod npz;

use std::fs::File;
use std::io::{BufReader, Read};
use std::panic::AssertUnwindSafe;

use bytemuck::Pod;
use flate2::bufread::MultiGzDecoder;

pub use self::columns::MOST_COLUMNS;
use self::columns::Source;
use super::encode::{EncodeSettings, Encoder};
use super::format::Format;
use super::store::Growing;
use super::table::shown;
use super::{Table, synth};
use crate::error::{Error, Result};

/// Options of [`read`]. By default every column is an input and there is no target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The target: a column's name, or its position from the end, such as `-1` for the last. Columns without names are
    /// called x1, x2, …, and may be counted from 1. NPZ, LIBSVM and generators store their target separately: it is called
    /// `target`, and any name that is not one of their columns means it; a generator's target is always returned.
    pub target: Option<String>,
    /// Columns to ignore.
    pub drop: Vec<String>,
    /// Columns to return as text in [`Table::kept`]. They remain inputs unless they hold text, are the target or are dropped.
    pub keep: Vec<String>,
    /// Whether the first line of a text file holds column names; None: detected from its kind, and from names that are known:
    /// those of a model's inputs, of the target and of other columns that are named here.
    pub header: Option<bool>,
    /// The inputs by name, in this order; other columns are ignored. A source without names must have as many columns,
    /// or one more at the end, a target.
    pub columns: Option<Vec<String>>,
    /// Bytes of rows that may be in memory; more rows go to a memory-mapped temporary file (in `TMPDIR`). None: all in memory.
    pub memory: Option<u64>,
    /// Whether only the number of `columns` counts: the first columns are taken, whatever their names.
    pub by_place: bool,
    /// The inputs, each a name or a position as for `target`; empty: all columns that are left. Unlike `columns`, they are
    /// chosen where a model is fitted.
    pub inputs: Vec<String>,
    /// What separates the fields of a text file; None: detected (`,`, `;`, tab or `|`).
    pub separator: Option<u8>,
    /// The decimal sign of a text file, `.` or `,`; None: detected.
    pub decimal: Option<u8>,
    /// Whether columns of text and missing values are encoded as numbers. Arrays (NPY, NPZ) have numbers and missing values
    /// only; sparse rows have none.
    pub encode: EncodeMode,
}

/// What is done with columns that are not just numbers.
///
/// ```
/// use mercer::data::read::{EncodeMode, ReadOptions, read};
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("rows.csv").display().to_string();
/// std::fs::write(&path, "size;kind\n1,5;red\n;blue\n2,5;red\n").expect("written");
/// let options = ReadOptions { encode: EncodeMode::Learn(Default::default()), ..ReadOptions::default() };
/// let table = read(&path, &options)?;
/// assert_eq!(table.names, ["size", "size missing", "kind=blue", "kind=red"]);
/// assert_eq!(table.rows.to_dense()[4..8], [2.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EncodeMode {
    /// They are refused.
    #[default]
    Off,
    /// They are encoded, as these rows suggest; see [`Encoder::learn`].
    Learn(EncodeSettings),
    /// They stay as they are: missing values are NaN, and a column of true and false, or yes and no, is 1 and 0. Other text is
    /// refused.
    Keep,
    /// They are encoded as training rows were. `columns` are the encoder's [`inputs`](Encoder::inputs).
    Apply(Encoder),
}

/// Reads a file, CSV from standard input (`-`), or a generator (`synth:…`).
///
/// ```
/// use mercer::data::{Column, read::{ReadOptions, read}};
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("rows.csv").display().to_string();
/// std::fs::write(&path, "a,b,kind\n1,2,yes\n3,4,no\n").expect("written");
/// let table = read(&path, &ReadOptions { target: Some("kind".into()), ..ReadOptions::default() })?;
/// assert_eq!(table.names, ["a", "b"]);
/// assert_eq!(table.rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(table.target, Some(Column::Text(vec!["yes".into(), "no".into()])));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn read(source: &str, options: &ReadOptions) -> Result<Table> {
    if let Some(spec) = source.strip_prefix("synth:") {
        let table = synth::generate(spec)?;
        let source = Source { names: Some(table.names), ..Source::new(source, table.rows) };
        return Source { target: table.target, target_always: true, ..source }.arrange(options);
    }
    if source == "-" {
        return csv::read("standard input", Box::new(std::io::stdin()), b',', options);
    }
    match Format::of(source)? {
        Format::Text { separator, gzip } => csv::read(source, bytes(source, gzip)?, separator, options),
        Format::Libsvm { gzip } => {
            libsvm::read(source, bytes(source, gzip)?, options)?.arrange_padded(options)
        }
        Format::Parquet => columnar::read_parquet(source, open(source)?, options),
        Format::Arrow => columnar::read_arrow(source, open(source)?, options),
        Format::Npy => npy::read(source, open(source)?, options)?.arrange(options),
        Format::Npz => npz::read(source, open(source)?, options)?.arrange(options),
    }
}

impl ReadOptions {
    /// Where rows are collected.
    fn growing<T: Pod>(&self) -> Growing<T> {
        Growing::new(self.memory.unwrap_or(u64::MAX))
    }
}

fn open(path: &str) -> Result<File> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let folder = file.metadata().map_err(|e| Error::io(path, e))?.is_dir();
    if folder { Err(Error::file(path, "this is a folder; name a file in it")) } else { Ok(file) }
}

fn bytes(path: &str, gzip: bool) -> Result<Box<dyn Read>> {
    let file = open(path)?;
    Ok(if gzip { Box::new(MultiGzDecoder::new(BufReader::new(file))) } else { Box::new(file) })
}

/// The result of a decoder; None if it panicked, as decoders do on some damaged files.
fn caught<T>(decode: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(AssertUnwindSafe(decode)).ok()
}

/// The error for bytes that could not be read or decompressed.
fn unreadable(path: &str, error: &std::io::Error) -> Error {
    Error::file(path, format!("it cannot be read to its end: {error}\nhint: is the file whole?"))
}

/// The error for a number that is missing or infinite.
fn not_finite(path: &str, row: usize, column: &str, what: &str) -> Error {
    Error::file(
        path,
        format!(
            "{what} at row {row}, column `{column}`; only finite numbers are allowed\n\
             hint: fill or drop such rows first"
        ),
    )
}

/// The error for a missing value where none may be. `for_model`: the inputs are those of a model that has no medians.
fn gap(path: &str, row: usize, column: &str, what: &str, for_model: bool) -> Error {
    if !for_model {
        return not_finite(path, row, column, what);
    }
    Error::file(
        path,
        format!(
            "{what} at row {row}, column `{column}`, and the model has no medians to fill it with\n\
             hint: fit it again so that it keeps them (missing = fill), or fill or drop such rows"
        ),
    )
}

/// Rows whose target is missing.
#[derive(Clone, Copy, Debug, Default)]
struct MissingTargets {
    count: usize,
    /// The first of them, counted from 1.
    first: usize,
}

impl MissingTargets {
    /// One more, at this row, counted from 1.
    fn add(&mut self, row: usize) {
        self.count += 1;
        if self.count == 1 {
            self.first = row;
        }
    }

    /// An error if there are any among n rows.
    fn check(self, path: &str, column: &str, n: usize) -> Result<()> {
        let Self { count, first } = self;
        if count == 0 {
            return Ok(());
        }
        let at = if count == 1 { "at" } else { "first at" };
        Err(Error::file(
            path,
            format!(
                "the target `{}` is missing in {count} of {n} rows, {at} row {first}; every row needs one\n\
                 hint: fill in these cells, or take these rows out of the file",
                shown(column)
            ),
        ))
    }
}

/// The error for inputs that hold text; `example` is the content of the first of them. `free`: whether the user may still
/// choose the inputs.
fn text_inputs(path: &str, columns: &[&str], example: &str, free: bool) -> Error {
    let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    let (column, holds) = if columns.len() == 1 { ("column", "holds") } else { ("columns", "hold") };
    let hint = match columns {
        _ if !free => "encode it as the numbers that it was when the model was fitted".to_string(),
        [name] => format!(
            "ignore the column (drop = {name}), make it the target (target = {name}), or encode it as numbers"
        ),
        _ => format!("ignore these columns (drop = {}), or encode them as numbers", columns.join(",")),
    };
    let names = names.join(", ");
    Error::file(
        path,
        format!("{column} {names} {holds} {example}, but an input must be a number\nhint: {hint}"),
    )
}
