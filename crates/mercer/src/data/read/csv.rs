//! Text tables: CSV, TSV and their relatives, streamed line by line into the matrix.
//!
//! cost    one pass; 8 bytes per number, text only for the target, kept columns and the distinct values of text columns; too
//!         many numbers go to a file
//! differs the type of a kept or target column is known only at the end, so these are collected as text

use std::cell::Cell;
use std::io::{Cursor, ErrorKind, Read};
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::budget::{Budget, Metered};
use super::columns::{Choice, MOST_COLUMNS};
use super::header::{FirstLine, stray_line};
use super::{MissingTargets, ReadOptions, gap, not_finite, text_inputs, unreadable};
use crate::data::encode::{RawColumn, is_missing, truth};
use crate::data::sniff::{SAMPLE_BYTES, Style};
use crate::data::store::{Growing, Store};
use crate::data::{Column, Rows, Table};
use crate::error::{Error, Result};

/// What texts are called where they take too much memory.
const TEXTS: &str = "columns of text";

/// One field of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Number(f64),
    Missing(&'a str),
    Text(&'a str),
}

impl<'a> Field<'a> {
    fn of(text: &'a str, style: Style) -> Self {
        let text = text.trim();
        match style.number(text) {
            Some(value) if value.is_finite() => Self::Number(value),
            _ if ["", "na", "nan", "null", "?"].iter().any(|name| text.eq_ignore_ascii_case(name)) => {
                Self::Missing(text)
            }
            other => other.map_or(Self::Text(text), Self::Number),
        }
    }

    pub(super) fn of_bytes(bytes: &'a [u8], style: Style) -> Self {
        std::str::from_utf8(bytes).map_or(Self::Text("(not UTF-8)"), |text| Self::of(text, style))
    }
}

pub(super) fn read(path: &str, mut input: Box<dyn Read>, usual: u8, options: &ReadOptions) -> Result<Table> {
    let mut sample = Vec::new();
    input.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(|e| unreadable(path, &e))?;
    let style = Style::of(&sample, usual, options.separator, options.decimal);
    let budget = Budget::new(path, options);
    let (input, read_ahead) = Metered::new(Cursor::new(sample).chain(input), budget.longest_line());
    let mut format = ReaderBuilder::new();
    format.has_headers(false).flexible(true).delimiter(style.separator);
    let input: Box<dyn Read> = Box::new(input);
    let records =
        Records { path, reader: format.from_reader(input), carriage_return: None, budget, read_ahead };
    let mut table = read_records(records, style, options)?;
    table.notes.splice(0..0, note(style, usual, options));
    Ok(table)
}

/// How the file is written, where that is unusual and was detected.
fn note(style: Style, usual: u8, options: &ReadOptions) -> Option<String> {
    let separator = match style.separator {
        b'\t' => "tabs",
        b';' => "`;`",
        b'|' => "`|`",
        _ => "`,`",
    };
    let mut parts = Vec::new();
    if options.separator.is_none() && style.separator != usual {
        parts.push(format!("fields are separated by {separator}"));
    }
    if options.decimal.is_none() && style.decimal == b',' {
        parts.push("decimals follow a comma".to_string());
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn read_records(mut records: Records<'_>, style: Style, options: &ReadOptions) -> Result<Table> {
    let path = records.path;
    let (mut first, mut second) = (ByteRecord::new(), ByteRecord::new());
    if !records.next(&mut first)? {
        return Err(Error::file(path, "the file is empty; it must hold rows of numbers"));
    }
    let two = records.next(&mut second)?;
    if first.len() > MOST_COLUMNS {
        return Err(Error::file(
            path,
            format!("{} columns; at most {MOST_COLUMNS} can be read", first.len()),
        ));
    }
    let first_line = FirstLine::of(&first, two.then_some(&second), style, options);
    let names = if first_line.holds_names() { Ok(header_names(path, &first)?) } else { Err(first.len()) };
    let stray_line = stray_line(&first).unwrap_or_default();
    let choice = Choice::of_columns(path, names, options).map_err(|e| with_hint(e, stray_line))?;
    let mut table = Lines::new(path, &choice, style, options, records.budget.clone());
    (table.stray_line, table.doubt) = (stray_line, first_line.doubt(&first));
    let note = first_line.note(&first);
    if first_line.holds_names() {
        table.note_columns_without_name(&first);
    } else {
        table.push(&first)?;
    }
    if two {
        table.push(&second)?;
        while records.next(&mut first)? {
            table.push(&first)?;
        }
    }
    let mut table = table.finish(options)?;
    table.notes.splice(0..0, note);
    Ok(table)
}

/// An error in the file, with a hint if it has none.
fn with_hint(error: Error, hint: &str) -> Error {
    match error {
        Error::File { path, reason } if !reason.contains("\nhint: ") => Error::file(path, reason + hint),
        error => error,
    }
}

/// The records of a file, each with the line it starts at.
struct Records<'a> {
    path: &'a str,
    reader: Reader<Box<dyn Read>>,
    /// Whether lines end in CR LF: the reader stops between the two and counts a line at LF.
    carriage_return: Option<bool>,
    budget: Budget<'a>,
    /// Bytes that were read since the last record.
    read_ahead: Rc<Cell<u64>>,
}

impl Records<'_> {
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        self.read_ahead.set(0);
        let begins = self.reader.position().line();
        let more = self.reader.read_byte_record(record).map_err(|e| match e.into_kind() {
            csv::ErrorKind::Io(e) if e.kind() == ErrorKind::FileTooLarge => self.budget.line_too_long(begins),
            csv::ErrorKind::Io(e) => unreadable(self.path, &e),
            e => Error::file(self.path, format!("{e:?}")),
        })?;
        // The reader's own position of a record is before the blank lines and the LF that it skips.
        let inside = record.as_slice().iter().map(|b| u64::from(*b == b'\n')).sum();
        let (start, end) = (line(record), self.reader.position().line().saturating_sub(inside));
        let carriage_return = *self.carriage_return.get_or_insert(end == 1);
        let line = if carriage_return { end } else { start.max(end.saturating_sub(1)) };
        if let Some(mut position) = record.position().cloned() {
            record.set_position(Some(position.set_line(line.max(1)).clone()));
        }
        Ok(more)
    }
}

fn header_names(path: &str, record: &ByteRecord) -> Result<Vec<String>> {
    let name = |(j, field)| match std::str::from_utf8(field).map(str::trim) {
        // An index column written without a name.
        Ok("") => Ok(format!("x{}", j + 1)),
        Ok(name) => Ok(name.to_string()),
        Err(_) => Err(not_utf8(path, record)),
    };
    record.iter().enumerate().map(name).collect()
}

fn not_utf8(path: &str, record: &ByteRecord) -> Error {
    Error::file(path, format!("line {} is not UTF-8 text; convert the file first", line(record)))
}

fn line(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// A column of texts in one allocation.
#[derive(Debug, Default)]
struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// A kept column that is an input only if all its values are numbers.
#[derive(Debug)]
struct Doubtful {
    /// Its index among the inputs.
    at: usize,
    text: bool,
    /// The first row where it is missing.
    missing: Option<usize>,
}

/// The table read so far.
struct Lines<'a> {
    path: &'a str,
    choice: &'a Choice,
    style: Style,
    /// What is known of the inputs, where they are encoded.
    raw: Option<Vec<RawColumn>>,
    refuses_missing: bool,
    /// Whether the inputs are those of a model, whose columns of booleans are numbers.
    for_model: bool,
    n: usize,
    values: Growing<f64>,
    target: Texts,
    missing_targets: MissingTargets,
    kept: Vec<Texts>,
    doubtful: Vec<Doubtful>,
    budget: Budget<'a>,
    /// The hint where the first line may be no part of the table.
    stray_line: &'static str,
    /// The warning if the first row may be names.
    doubt: Option<String>,
}

impl<'a> Lines<'a> {
    fn new(
        path: &'a str,
        choice: &'a Choice,
        style: Style,
        options: &ReadOptions,
        budget: Budget<'a>,
    ) -> Self {
        let raw = options.raw_columns(choice.input_names());
        let may_leave = |j: &usize| raw.is_none() && choice.text_may_leave && choice.kept.contains(j);
        let doubtful = (0..choice.inputs.len())
            .filter(|&at| may_leave(&choice.inputs[at]))
            .map(|at| Doubtful { at, text: false, missing: None })
            .collect();
        let kept = choice.kept.iter().map(|_| Texts::default()).collect();
        let (values, refuses_missing) = (options.growing(), options.refuses_missing());
        Self {
            path,
            choice,
            style,
            raw,
            refuses_missing,
            for_model: options.columns.is_some(),
            n: 0,
            values,
            target: Texts::default(),
            missing_targets: MissingTargets::default(),
            kept,
            doubtful,
            budget,
            stray_line: "",
            doubt: None,
        }
    }

    fn note_columns_without_name(&mut self, header: &ByteRecord) {
        for (&j, column) in self.choice.inputs.iter().zip(self.raw.iter_mut().flatten()) {
            if header[j].trim_ascii().is_empty() {
                *column = std::mem::take(column).without_name();
            }
        }
    }

    fn push(&mut self, record: &ByteRecord) -> Result<()> {
        let width = self.choice.names.len();
        if record.len() != width {
            let reason = format!(
                "line {} has {} fields, but the first line has {width}; every line needs as many{}",
                line(record),
                record.len(),
                self.stray_line
            );
            return Err(Error::file(self.path, reason));
        }
        self.n += 1;
        if self.raw.is_some() {
            self.push_cells(record)?;
        } else {
            self.push_numbers(record)?;
        }
        let choice = self.choice;
        let text = |j: usize| std::str::from_utf8(&record[j]).map_err(|_| not_utf8(self.path, record));
        for (kept, &j) in self.kept.iter_mut().zip(&choice.kept) {
            let text = text(j)?;
            self.budget.take(size_of::<usize>() + text.len(), TEXTS)?;
            kept.push(text);
        }
        if let Some(j) = choice.target {
            let text = text(j)?.trim();
            if let Field::Missing(_) = Field::of(text, self.style) {
                self.missing_targets.add(self.n);
                return Ok(());
            }
            self.budget.take(size_of::<usize>() + text.len(), TEXTS)?;
            self.target.push(text);
        }
        Ok(())
    }

    /// Inputs of any kind.
    fn push_cells(&mut self, record: &ByteRecord) -> Result<()> {
        for (&j, column) in self.choice.inputs.iter().zip(self.raw.iter_mut().flatten()) {
            let name = || self.choice.names[j].as_str();
            let field = std::str::from_utf8(&record[j]).map_err(|_| not_utf8(self.path, record))?;
            let cell = match Field::of(field, self.style) {
                Field::Number(v) if v.is_finite() && column.takes_numbers() => v,
                Field::Number(v) if v.is_finite() => column.number(v),
                Field::Number(v) if v.is_infinite() => {
                    return Err(not_finite(self.path, self.n, name(), &v.to_string()));
                }
                Field::Text(text) if !is_missing(text) => {
                    let before = column.text_bytes();
                    let cell = column.text(text, self.n - 1);
                    self.budget.take(column.text_bytes() - before, TEXTS)?;
                    cell
                }
                Field::Number(_) | Field::Missing(_) | Field::Text(_) if self.refuses_missing => {
                    return Err(missing(self.path, self.n, name(), field.trim(), self.for_model));
                }
                _ => column.missing(),
            };
            self.values.push(cell)?;
        }
        Ok(())
    }

    /// Inputs that must be numbers.
    fn push_numbers(&mut self, record: &ByteRecord) -> Result<()> {
        let mut doubtful = self.doubtful.iter_mut().peekable();
        for (at, &j) in self.choice.inputs.iter().enumerate() {
            let doubt = doubtful.next_if(|d| d.at == at);
            match (Field::of_bytes(&record[j], self.style), doubt) {
                (Field::Number(v), _) if v.is_finite() => self.values.push(v)?,
                (Field::Text(text), _) if self.for_model && truth(text).is_some() => {
                    self.values.push(truth(text).unwrap_or_default())?;
                }
                (Field::Text(_), Some(doubt)) => {
                    doubt.text = true;
                    self.values.push(0.0)?;
                }
                (Field::Missing(_), Some(doubt)) => {
                    doubt.missing.get_or_insert(self.n);
                    self.values.push(0.0)?;
                }
                (field, _) => return Err(self.refuse(record, field, j)),
            }
        }
        Ok(())
    }

    /// The error for a field that is not a finite number. Text is reported for all inputs of the line at once.
    fn refuse(&self, record: &ByteRecord, field: Field, j: usize) -> Error {
        let name = &self.choice.names[j];
        match field {
            Field::Missing(found) => missing(self.path, self.n, name, found, self.for_model),
            Field::Number(v) => not_finite(self.path, self.n, name, &v.to_string()),
            Field::Text(found) => {
                let sure = |j: &&usize| !(self.choice.text_may_leave && self.choice.kept.contains(*j));
                let text = |j: &&usize| matches!(Field::of_bytes(&record[**j], self.style), Field::Text(_));
                let columns: Vec<&str> = (self.choice.inputs.iter().filter(sure).filter(text))
                    .map(|&j| self.choice.names[j].as_str())
                    .collect();
                let example = format!("text (`{found}` at row {})", self.n);
                text_inputs(self.path, &columns, &example, self.choice.text_may_leave)
            }
        }
    }

    fn finish(mut self, options: &ReadOptions) -> Result<Table> {
        if self.n == 0 {
            return Err(Error::file(self.path, "there are no rows below the header"));
        }
        if let Some(j) = self.choice.target {
            self.missing_targets.check(self.path, &self.choice.names[j], self.n)?;
        }
        let target =
            self.choice.target.map(|j| target(self.path, &self.choice.names[j], &self.target, self.style));
        let target = target.transpose()?;
        let kept = self.choice.kept.iter().zip(&self.kept);
        let kept = kept
            .map(|(&j, texts)| (self.choice.names[j].clone(), texts.iter().map(String::from).collect()))
            .collect();
        let (n, named) = (self.n, self.choice.named);
        let values = std::mem::replace(&mut self.values, Growing::new(0)).finish()?;
        let doubt = self.doubt.take().filter(|_| mostly_fractions(&values, self.choice.inputs.len()));
        let mut table = match self.raw.take() {
            Some(raw) => options.encoded(self.path, raw, values, n, named)?,
            None => self.finish_numbers(values)?,
        };
        table.warnings.splice(0..0, doubt);
        Ok(Table { named, target, kept, ..table })
    }

    fn finish_numbers(self, mut values: Store<'static, f64>) -> Result<Table> {
        let mut names = self.choice.input_names();
        let stays = self.columns_that_stay(&mut names)?;
        if !stays.iter().all(|s| *s) {
            let mut left = Growing::like(&values);
            for (v, stays) in values.iter().zip(stays.iter().cycle()) {
                if *stays {
                    left.push(*v)?;
                }
            }
            values = left.finish()?;
        }
        Ok(Table::of_rows(Rows::from_store(values, self.n, names.len())?, names))
    }

    /// Which inputs remain: kept columns that turned out to be text are removed, with their names.
    fn columns_that_stay(&self, names: &mut Vec<String>) -> Result<Vec<bool>> {
        if let Some((at, row)) =
            self.doubtful.iter().find_map(|d| Some((d.at, d.missing.filter(|_| !d.text)?)))
        {
            return Err(missing(self.path, row, &names[at], "", self.for_model));
        }
        let p = names.len();
        let mut stays = vec![true; p];
        for doubt in self.doubtful.iter().filter(|d| d.text) {
            stays[doubt.at] = false;
        }
        let mut flags = stays.iter();
        names.retain(|_| flags.next().is_some_and(|s| *s));
        if names.is_empty() {
            return Err(Error::file(self.path, "no input columns are left: the others hold text"));
        }
        Ok(stays)
    }
}

/// Whether most columns hold numbers that are not whole below the first row.
fn mostly_fractions(cells: &[f64], p: usize) -> bool {
    let mut fractions = vec![false; p];
    for row in cells.chunks_exact(p).skip(1) {
        fractions
            .iter_mut()
            .zip(row)
            .for_each(|(found, cell)| *found |= !cell.is_nan() && cell.fract() != 0.0);
        if 2 * fractions.iter().filter(|found| **found).count() > p {
            return true;
        }
    }
    false
}

fn missing(path: &str, row: usize, column: &str, found: &str, for_model: bool) -> Error {
    let what = if found.is_empty() {
        "a value is missing".into()
    } else {
        format!("a value is missing (`{found}`)")
    };
    gap(path, row, column, &what, for_model)
}

/// Numbers if all are numbers, else text.
fn target(path: &str, name: &str, texts: &Texts, style: Style) -> Result<Column> {
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| style.number(text)).collect();
    let Some(numbers) = numbers else {
        return Ok(Column::Text(texts.iter().map(String::from).collect()));
    };
    match numbers.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(not_finite(path, i + 1, name, &numbers[i].to_string())),
        None => Ok(Column::Numbers(numbers)),
    }
}
