//! What each column becomes, learned from training rows.

use std::collections::{BTreeMap, BTreeSet};

use super::raw::{Cell, RawColumn, RawRows};
use super::{
    DatePart, EncodeSettings, Encoded, EncodedColumn, Encoder, Encoding, Medians, Missing, shortened,
};
use crate::data::table::shown;
use crate::error::{Error, Result};

/// Text with no more distinct values than this is a category in a table of any size; in a long table up to √n of them are.
const FEW_VALUES: usize = 20;

/// The most values of a column that was named as a category.
const MOST_CATEGORIES: usize = 1_000;

/// In fewer rows, a column may count from 0 or 1, or have a value of its own in each row, by chance.
const ROWS_TO_TELL: usize = 10;

/// A column is meant to hold numbers if at most one in so many of its values is text.
const VALUES_PER_TEXT: usize = 5;

/// Names of columns that number the rows, in lower case.
const INDEX_NAMES: [&str; 10] =
    ["id", "index", "idx", "row", "rowid", "row_id", "row_number", "rownames", "unnamed: 0", "#"];

impl Encoder {
    /// Learns what the columns become, and encodes these rows.
    pub fn learn(raw: &RawRows, settings: &EncodeSettings) -> Result<(Self, Encoded)> {
        check_categorical(raw, settings)?;
        let mut learned = Learned::default();
        let mut columns = Vec::with_capacity(raw.columns.len());
        for (j, column) in raw.columns.iter().enumerate() {
            let encoding = learned.encoding(raw, j, settings)?;
            columns.push(EncodedColumn { name: column.name.clone(), encoding });
        }
        if columns.iter().all(EncodedColumn::is_dropped) {
            let why: Vec<String> = columns.iter().filter_map(dropped).collect();
            return Err(Error::data(format!(
                "no input columns are left: {}\n\
                 hint: name columns that are categories (categorical = {}), or list the columns to use (inputs)",
                shortened(&why),
                columns[0].name
            )));
        }
        let mut encoder = Self { columns, by_place: settings.by_place, medians: None };
        encoder.check_names()?;
        if settings.missing == Missing::Refuse {
            raw.check_nothing_missing(&encoder)?;
        }
        let (rows, counts) = encoder.encode(raw)?;
        let medians = Medians::fit(&rows);
        let rows = if settings.missing == Missing::Fill && counts.any_missing() {
            medians.apply(&rows)?
        } else {
            rows
        };
        encoder.medians = (settings.missing != Missing::Refuse).then_some(medians);
        let mut notes = learned.notes();
        notes.extend(encoder.kinds_note());
        notes.extend(counts.missing_note(&encoder));
        Ok((encoder, Encoded { rows, notes, warnings: learned.warnings() }))
    }

    /// Which columns are categories, dates, or yes and no.
    fn kinds_note(&self) -> Option<String> {
        let (mut categories, mut dates, mut booleans) = (Vec::new(), Vec::new(), Vec::new());
        for EncodedColumn { name, encoding } in &self.columns {
            match encoding {
                Encoding::Category { values, .. } => categories.push(format!("`{name}` ({})", values.len())),
                Encoding::Date { .. } => dates.push(format!("`{name}`")),
                Encoding::Boolean { .. } => booleans.push(format!("`{name}`")),
                Encoding::Number { .. } | Encoding::Dropped { .. } => {}
            }
        }
        let kinds = [("categories", categories), ("dates", dates), ("yes or no", booleans)];
        let kinds = kinds.iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> =
            kinds.map(|(kind, names)| format!("as {kind}: {}", shortened(names))).collect();
        (!parts.is_empty()).then(|| format!("read {}", parts.join("; ")))
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        match self.names().into_iter().find(|name| !seen.insert(name.clone())) {
            Some(name) => Err(Error::data(format!(
                "two encoded columns would be called `{name}`\nhint: rename one of the columns that they come from"
            ))),
            None => Ok(()),
        }
    }
}

fn dropped(column: &EncodedColumn) -> Option<String> {
    match &column.encoding {
        Encoding::Dropped { why } => Some(format!("`{}` {why}", column.name)),
        _ => None,
    }
}

fn check_categorical(raw: &RawRows, settings: &EncodeSettings) -> Result<()> {
    let there = |name: &&String| raw.columns.iter().any(|column| column.name == **name);
    match settings.categorical.iter().find(|name| !there(name)) {
        Some(name) => {
            let names: Vec<&str> = raw.columns.iter().map(|column| column.name.as_str()).collect();
            Err(Error::argument(format!(
                "categorical = {name}, but no input column has this name; they are {}",
                shortened(&names)
            )))
        }
        None => Ok(()),
    }
}

/// Columns that the user should know of, by why.
#[derive(Default)]
struct Learned {
    row_numbers: Vec<String>,
    too_many: Vec<String>,
    nearly_numbers: Vec<String>,
    other: Vec<String>,
    /// Columns that were not dropped: categories that are nearly all numbers.
    categories: Vec<String>,
}

impl Learned {
    fn encoding(&mut self, raw: &RawRows, j: usize, settings: &EncodeSettings) -> Result<Encoding> {
        let column = &raw.columns[j];
        let (n, indicator) = (raw.n(), column.missing > 0);
        if let Some(kind) = &column.unusable {
            return Ok(leave_out(&mut self.other, column, format!("holds values of the type {kind}")));
        }
        if settings.categorical.contains(&column.name) {
            let values = raw.values_of(j, MOST_CATEGORIES).ok_or_else(|| {
                Error::argument(format!(
                    "categorical = {}, but the column has more than {MOST_CATEGORIES} values\n\
                     hint: leave it out, or group its values first",
                    column.name
                ))
            })?;
            return Ok(Encoding::Category { values, indicator });
        }
        if column.missing == n {
            return Ok(leave_out(&mut self.other, column, "has no values".into()));
        }
        if !settings.keep_row_numbers
            && let Some(why) = raw.row_numbers(j, settings.by_place)
        {
            return Ok(leave_out(&mut self.row_numbers, column, why.into()));
        }
        if column.texts == 0 {
            return Ok(if column.dates {
                Encoding::Date { parts: raw.varying_parts(j), indicator }
            } else {
                Encoding::Number { indicator }
            });
        }
        let words_only = column.texts + column.missing == n;
        if column.holds_booleans(n) {
            return Ok(Encoding::Boolean { indicator });
        }
        let is_number = |text: &String| text.parse().is_ok_and(f64::is_finite);
        if !words_only && !column.dates && !column.categories && column.distinct.iter().all(is_number) {
            // Some parts of the source have it as numbers, some as text.
            return Ok(Encoding::Number { indicator });
        }
        let limit = FEW_VALUES.max(n.isqrt());
        let values = raw.values_of(j, limit);
        let ids = values.as_ref().is_some_and(|v| v.len() == n - column.missing && n >= ROWS_TO_TELL);
        let stray = raw.stray_cells(j);
        if let Some(values) = values.filter(|_| !ids) {
            self.categories.extend(stray.map(|why| entry(column, &why)));
            return Ok(Encoding::Category { values, indicator });
        }
        if let Some(why) = stray {
            return Ok(leave_out(&mut self.nearly_numbers, column, why));
        }
        let example = column.distinct.first().map_or("", String::as_str);
        let many =
            if ids { "another one in every row".to_string() } else { format!("more than {limit} values") };
        let advice =
            looks_like(&column.distinct).filter(|_| words_only && !column.categories).unwrap_or_default();
        Ok(leave_out(&mut self.too_many, column, format!("holds text (`{example}`), {many}{advice}")))
    }

    fn notes(&self) -> Vec<String> {
        match &self.row_numbers[..] {
            [] => Vec::new(),
            [one] => vec![format!(
                "dropped {one}\nhint: to keep it, list the columns to use, with this one (inputs)"
            )],
            more => vec![format!(
                "dropped {}\nhint: to keep them, list the columns to use, with these (inputs)",
                shortened(more)
            )],
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let name = |first: &String| first.split('`').nth(1).unwrap_or_default().to_string();
        if let Some(first) = self.nearly_numbers.first() {
            warnings.push(format!(
                "dropped {}\nhint: mend such cells, empty them (an empty cell is a gap), or take such lines out; or leave the column out without \
                 this warning (drop = {})",
                shortened(&self.nearly_numbers),
                name(first)
            ));
        }
        if let Some(first) = self.categories.first() {
            warnings.push(format!(
                "read as categories: {}\nhint: mend such cells, empty them (an empty cell is a gap), or take such lines out; if they are \
                 categories, say so (categorical = {})",
                shortened(&self.categories),
                name(first)
            ));
        }
        if let Some(first) = self.too_many.first() {
            let name = name(first);
            let them = if self.too_many.len() == 1 { "it" } else { "them" };
            warnings.push(format!(
                "dropped {}\nhint: leave {them} out without this warning (drop = {name}), or use {them} as categories \
                 (categorical = {name})",
                shortened(&self.too_many)
            ));
        }
        if !self.other.is_empty() {
            warnings.push(format!("dropped {}", shortened(&self.other)));
        }
        warnings
    }
}

fn leave_out(list: &mut Vec<String>, column: &RawColumn, why: String) -> Encoding {
    list.push(entry(column, &why));
    Encoding::Dropped { why }
}

fn entry(column: &RawColumn, why: &str) -> String {
    format!("column `{}`: it {why}", column.name)
}

/// What texts seem to be that are no words.
fn looks_like(texts: &[String]) -> Option<&'static str> {
    let is_date = |text: &String| {
        let digits = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        text.split(['.', '/', '-']).count() == 3 && text.split(['.', '/', '-']).all(digits)
    };
    if texts.iter().all(is_date) {
        return Some("; these look like dates: write them as 2024-02-29");
    }
    if texts.iter().all(|text| text.trim().parse().is_ok_and(f64::is_finite)) {
        return Some(
            "; these are numbers as text: convert the column to numbers (`pandas.to_numeric`, `cast` of polars)",
        );
    }
    // The sign before and the unit behind are those of the first text.
    let first = texts.first()?;
    let is_digit = |c: char| c.is_ascii_digit();
    let (before, after) = (&first[..first.find(is_digit)?], &first[first.rfind(is_digit)? + 1..]);
    let before = before.trim_end_matches(['-', '+', '.', ',']);
    let is_number = |text: &String| {
        let number = text.strip_prefix(before).and_then(|text| text.strip_suffix(after));
        number.is_some_and(|number| number.replace([',', '\'', ' '], "").parse().is_ok_and(f64::is_finite))
    };
    let plain = !before.contains(char::is_alphanumeric) && texts.iter().all(is_number);
    plain.then_some("; these look like numbers: write them without sign, unit and thousands separator")
}

impl RawRows {
    /// The distinct values of a column, ascending; None if there are more than this many.
    fn values_of(&self, j: usize, most: usize) -> Option<Vec<String>> {
        let column = &self.columns[j];
        let mut values: BTreeMap<u64, String> = BTreeMap::new();
        for value in self.column(j) {
            let cell = Cell::of(value);
            if cell == Cell::Missing || values.contains_key(&value.to_bits()) {
                continue;
            }
            values.insert(value.to_bits(), column.text_of(cell)?);
            if values.len() > most {
                return None;
            }
        }
        let mut values: Vec<String> = values.into_values().collect();
        let numbers: Option<Vec<f64>> = values.iter().map(|text| text.parse().ok()).collect();
        if numbers.is_some() {
            values.sort_by(|a, b| {
                let number = |text: &str| text.parse().unwrap_or(f64::NAN);
                number(a).total_cmp(&number(b)).then_with(|| a.cmp(b))
            });
        } else {
            values.sort();
        }
        // Zero and minus zero are called the same.
        values.dedup();
        Some(values)
    }

    /// How few cells of a column of numbers are text, and the first of them; None where it is no such column.
    fn stray_cells(&self, j: usize) -> Option<String> {
        let column = &self.columns[j];
        let (texts, values) = (column.texts, self.n() - column.missing);
        if column.dates || column.categories || texts.saturating_mul(VALUES_PER_TEXT) > values {
            return None;
        }
        let is_text = |(_, cell): &(usize, Cell)| matches!(cell, Cell::Text(_));
        let (row, cell) = self.column(j).map(Cell::of).enumerate().find(is_text)?;
        let text = column.text_of(cell).unwrap_or_default();
        let (are, first) = if texts == 1 { ("is not one", "") } else { ("are not", "the first is ") };
        Some(format!(
            "holds numbers, but {texts} of its {values} values {are} ({first}`{}` at row {})",
            shown(&text),
            row + 1
        ))
    }

    /// The parts of a date that differ between rows; the days where none do.
    fn varying_parts(&self, j: usize) -> Vec<DatePart> {
        let varies = |part: &DatePart| {
            let mut values = self.column(j).filter(|v| !v.is_nan()).map(|days| part.of(days));
            values.next().is_some_and(|first| values.any(|value| value != first))
        };
        let parts: Vec<DatePart> = DatePart::ALL.into_iter().filter(varies).collect();
        if parts.is_empty() { vec![DatePart::Days] } else { parts }
    }

    /// Whether anything but numbers is there, or a column that is not to be used.
    #[cfg(feature = "formats")]
    pub(crate) fn needs_encoding(&self, settings: &EncodeSettings) -> bool {
        let numbers_rows = |j| !settings.keep_row_numbers && self.row_numbers(j, settings.by_place).is_some();
        let asked = settings.keep_medians || !settings.categorical.is_empty();
        asked || !self.is_plain() || (0..self.columns.len()).any(numbers_rows)
    }

    /// Why a column is no input but the number of the row; None if it is an input.
    fn row_numbers(&self, j: usize, by_place: bool) -> Option<&'static str> {
        let column = &self.columns[j];
        if column.name.starts_with("__index_level_") {
            return Some("is an index that pandas wrote");
        }
        if column.texts + column.missing > 0 || column.dates {
            return None;
        }
        let counts = |from: f64| self.column(j).enumerate().all(|(i, v)| v == from + i as f64);
        let lower = column.name.to_lowercase();
        let like_an_index = column.unnamed
            || (!by_place && (INDEX_NAMES.contains(&lower.as_str()) || lower.ends_with("_id")));
        if (like_an_index || self.n() >= ROWS_TO_TELL) && (counts(0.0) || counts(1.0)) {
            return Some("counts the rows");
        }
        (like_an_index && self.n() > 1 && self.unique_whole_numbers(j))
            .then_some("holds another whole number in every row")
    }

    fn unique_whole_numbers(&self, j: usize) -> bool {
        if self.column(j).any(|v| v.fract() != 0.0) {
            return false;
        }
        let mut values: Vec<f64> = self.column(j).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// An error that says where the first value is missing, in the columns that are used.
    pub(super) fn check_nothing_missing(&self, encoder: &Encoder) -> Result<()> {
        for (j, column) in self.columns.iter().enumerate().filter(|(_, column)| column.missing > 0) {
            let used = encoder.columns.iter().any(|used| used.name == column.name && !used.is_dropped());
            if let Some(row) = self.column(j).position(|v| Cell::of(v) == Cell::Missing).filter(|_| used) {
                return Err(Error::data(format!(
                    "a value is missing at row {}, column `{}`, and missing = refuse\n\
                     hint: fill or drop such rows first, or let the medians fill them (missing = fill)",
                    row + 1,
                    column.name
                )));
            }
        }
        Ok(())
    }
}
