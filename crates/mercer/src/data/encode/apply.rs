//! Rows encoded as their training rows were.

use std::collections::BTreeMap;

use super::date;
use super::raw::{Cell, RawColumn, RawRows};
use super::{DatePart, Encoded, EncodedColumn, Encoder, Encoding, boolean, shortened, truth};
use crate::data::Rows;
use crate::data::store::Growing;
use crate::error::{Error, Result};

impl Encoder {
    /// Encodes rows and fills what is missing. Columns are found by name, or by place where they have no names; what the
    /// training rows did not have is ignored.
    pub fn apply(&self, raw: &RawRows) -> Result<Encoded> {
        if self.medians.is_none() {
            raw.check_nothing_missing(self)?;
        }
        let (mut rows, counts) = self.encode(raw)?;
        if let Some(medians) = self.medians.as_ref().filter(|_| counts.any_missing()) {
            rows = medians.apply(&rows)?;
        }
        let notes = counts.missing_note(self).into_iter().chain(counts.unseen_notes(self)).collect();
        Ok(Encoded { rows, notes, warnings: Vec::new() })
    }

    /// The encoded rows, NaN where a number is missing.
    pub(super) fn encode(&self, raw: &RawRows) -> Result<(Rows<'static>, Counts)> {
        let mut steps = Vec::new();
        let mut width = 0;
        for (at, column) in self.columns.iter().enumerate().filter(|(_, column)| !column.is_dropped()) {
            let from = self.find(raw, at)?;
            steps.push(Step { at, from, to: width, what: What::new(column, &raw.columns[from]) });
            width += column.outputs().len();
        }
        let mut counts = Counts { missing: vec![0; self.columns.len()], unseen: BTreeMap::new() };
        let mut values = Growing::like(&raw.cells);
        let mut row = vec![0.0; width];
        for (i, cells) in raw.cells.chunks_exact(raw.columns.len()).enumerate() {
            row.fill(0.0);
            for step in &mut steps {
                let (column, source) = (&self.columns[step.at], &raw.columns[step.from]);
                let cell = Cell::of(cells[step.from]);
                if cell == Cell::Missing {
                    counts.missing[step.at] += 1;
                }
                let refused = || refuse(column, source, cell, i);
                step.encode(column, source, cell, &mut row, &mut counts).ok_or_else(refused)?;
            }
            values.extend(&row)?;
        }
        Ok((Rows::from_store(values.finish()?, raw.n(), width)?, counts))
    }

    /// The source's column for one of the encoder's.
    fn find(&self, raw: &RawRows, at: usize) -> Result<usize> {
        let name = &self.columns[at].name;
        if self.by_place {
            return (at < raw.columns.len()).then_some(at).ok_or_else(|| {
                Error::data(format!(
                    "the rows have {} columns, but {} are needed, and no names to go by",
                    raw.columns.len(),
                    self.columns.len()
                ))
            });
        }
        raw.columns.iter().position(|column| column.name == *name).ok_or_else(|| {
            let names: Vec<&str> = raw.columns.iter().map(|column| column.name.as_str()).collect();
            Error::data(format!("column `{name}` is missing; the columns are {}", shortened(&names)))
        })
    }
}

#[cfg(feature = "formats")]
impl RawRows {
    /// The cells as they are, NaN where one is missing; true and false, or yes and no, are 1 and 0.
    pub(crate) fn keep(&self) -> Result<Encoded> {
        let column = |column: &RawColumn| {
            let booleans = column.holds_booleans(self.n());
            let indicator = false;
            let encoding =
                if booleans { Encoding::Boolean { indicator } } else { Encoding::Number { indicator } };
            match &column.unusable {
                None => Ok(EncodedColumn { name: column.name.clone(), encoding }),
                Some(kind) => Err(Error::data(format!(
                    "column `{}` holds values of the type {kind}, but it must hold numbers",
                    column.name
                ))),
            }
        };
        let columns = self.columns.iter().map(column).collect::<Result<_>>()?;
        let encoder = Encoder { columns, by_place: true, medians: None };
        let (rows, counts) = encoder.encode(self)?;
        let notes = counts.missing(&encoder).map(|missing| format!("{missing}; they stay missing"));
        Ok(Encoded { rows, notes: notes.into_iter().collect(), warnings: Vec::new() })
    }
}

/// The error for a value that the column's encoding has no number for.
fn refuse(column: &EncodedColumn, source: &RawColumn, cell: Cell, row: usize) -> Error {
    let was = match column.encoding {
        Encoding::Boolean { .. } => "it held true and false, or yes and no,",
        Encoding::Date { .. } => "it held dates",
        _ => "it held numbers",
    };
    Error::data(format!(
        "column `{}` holds `{}` at row {}, but {was} when the encoding was learned\n\
         hint: mend the value, or leave it empty if it is missing",
        column.name,
        source.text_of(cell).unwrap_or_default(),
        row + 1
    ))
}

/// One column of the source on its way to its columns of the result.
struct Step {
    /// Its place in the encoder.
    at: usize,
    /// Its place in the source.
    from: usize,
    /// Where its columns start.
    to: usize,
    what: What,
}

enum What {
    Number,
    Boolean,
    Date(Vec<DatePart>),
    Category {
        /// The column of each of the source's texts.
        places: Vec<Option<usize>>,
        values: BTreeMap<String, usize>,
        /// The column of each number met.
        numbers: BTreeMap<u64, Option<usize>>,
    },
}

impl What {
    fn new(column: &EncodedColumn, source: &RawColumn) -> Self {
        match &column.encoding {
            Encoding::Boolean { .. } => Self::Boolean,
            Encoding::Date { parts, .. } => Self::Date(parts.clone()),
            Encoding::Category { values, .. } => {
                let values: BTreeMap<String, usize> =
                    values.iter().enumerate().map(|(at, value)| (value.clone(), at)).collect();
                let places = source.distinct.iter().map(|text| values.get(text).copied()).collect();
                Self::Category { places, values, numbers: BTreeMap::new() }
            }
            Encoding::Number { .. } | Encoding::Dropped { .. } => Self::Number,
        }
    }
}

impl Step {
    /// Writes the columns of one cell; None if it has no place in them.
    fn encode(
        &mut self,
        column: &EncodedColumn,
        source: &RawColumn,
        cell: Cell,
        row: &mut [f64],
        counts: &mut Counts,
    ) -> Option<()> {
        let out = &mut row[self.to..];
        let missing = cell == Cell::Missing;
        let width = match (&mut self.what, cell) {
            (What::Number | What::Boolean, Cell::Missing) => {
                out[0] = f64::NAN;
                1
            }
            (What::Number, Cell::Value(value)) if !source.dates => {
                out[0] = value;
                1
            }
            // A column of numbers may come as text, and one of booleans or dates too.
            (What::Number, Cell::Text(place)) => {
                let text = source.distinct.get(place)?;
                let number = text.parse().ok().filter(|value: &f64| value.is_finite());
                out[0] = number.or_else(|| truth(text))?;
                1
            }
            (What::Boolean, Cell::Value(value)) if !source.dates && (value == 0.0 || value == 1.0) => {
                out[0] = value;
                1
            }
            (What::Boolean, Cell::Text(place)) => {
                out[0] = boolean(source.distinct.get(place)?)?;
                1
            }
            (What::Date(parts), Cell::Missing) => {
                out[..parts.len()].fill(f64::NAN);
                parts.len()
            }
            (What::Date(parts), Cell::Value(days)) if source.dates => {
                out.iter_mut().zip(parts.iter()).for_each(|(out, part)| *out = part.of(days));
                parts.len()
            }
            (What::Date(parts), Cell::Text(place)) => {
                let days = date::parse(source.distinct.get(place)?)?;
                out.iter_mut().zip(parts.iter()).for_each(|(out, part)| *out = part.of(days));
                parts.len()
            }
            (What::Category { places, values, numbers }, cell) => {
                let at = match cell {
                    Cell::Missing => None,
                    Cell::Text(place) => places.get(place).copied().flatten(),
                    Cell::Value(value) => *numbers
                        .entry(value.to_bits())
                        .or_insert_with(|| values.get(&source.text_of(cell)?).copied()),
                };
                match at {
                    Some(at) => out[at] = 1.0,
                    None if missing => {}
                    None => counts.unseen(self.at, source.text_of(cell)),
                }
                values.len()
            }
            (What::Number | What::Boolean | What::Date(_), _) => return None,
        };
        if column.indicator() {
            out[width] = f64::from(u8::from(missing));
        }
        Some(())
    }
}

/// The most distinct values without a column that are remembered.
const MOST_UNSEEN: usize = 1_000;

/// What was met on the way.
pub(super) struct Counts {
    /// Missing values of each of the encoder's columns.
    missing: Vec<usize>,
    /// Values that no training row had, by column: how many, and the distinct ones.
    unseen: BTreeMap<usize, (usize, Vec<String>)>,
}

impl Counts {
    pub(super) fn any_missing(&self) -> bool {
        self.missing.iter().any(|count| *count > 0)
    }

    fn unseen(&mut self, at: usize, text: Option<String>) {
        let (count, values) = self.unseen.entry(at).or_default();
        *count += 1;
        if let Some(text) = text
            && values.len() < MOST_UNSEEN
            && !values.contains(&text)
        {
            values.push(text);
        }
    }

    /// How many values are missing, and where.
    fn missing(&self, encoder: &Encoder) -> Option<String> {
        let columns: Vec<String> = (self.missing.iter().zip(&encoder.columns))
            .filter(|(count, _)| **count > 0)
            .map(|(count, column)| format!("`{}` {count}", column.name))
            .collect();
        let total: usize = self.missing.iter().sum();
        let (values, are) = if total == 1 { ("value", "is") } else { ("values", "are") };
        (total > 0).then(|| format!("{total} {values} {are} missing ({})", shortened(&columns)))
    }

    /// What became of missing values.
    pub(super) fn missing_note(&self, encoder: &Encoder) -> Option<String> {
        let missing = self.missing(encoder)?;
        Some(format!("{missing}; numbers are filled by the medians of the training rows"))
    }

    /// Which values no training row had.
    fn unseen_notes(&self, encoder: &Encoder) -> Vec<String> {
        let note = |(at, (count, values)): (&usize, &(usize, Vec<String>))| {
            let quoted: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            let (values, are) = if *count == 1 { ("value", "is") } else { ("values", "are") };
            format!(
                "{count} {values} of column `{}` {are} new ({}): 0 in all of its columns",
                encoder.columns[*at].name,
                shortened(&quoted)
            )
        };
        self.unseen.iter().map(note).collect()
    }
}
