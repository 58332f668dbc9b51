//! What the first line of a text table is: names, or a row. This is decided here and nowhere else.
//!
//! What the user said counts. Else the line holds names if it
//!   has text over numbers, or only text;
//!   has the names of all inputs of a model, or a column that the user named;
//!   begins with 0, 1, 2, … and goes on with text, if at all: so pandas calls columns without names.

use std::collections::{BTreeMap, BTreeSet};

use csv::ByteRecord;

use super::columns::place;
use super::csv::Field;
use super::{EncodeMode, ReadOptions};
use crate::data::sniff::Style;
use crate::data::table::shown;

/// Fields of a line that a message shows.
const FIELDS_SHOWN: usize = 3;

/// So many numbered columns over whole numbers have names rather than a first row that counts: alone, and with text after them.
const NAMES_OVER_WHOLE_NUMBERS: [usize; 2] = [5, 3];

/// What the first line of a text table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstLine {
    Names,
    /// The names 0, 1, 2, …, which could also be a row.
    NumberedNames,
    Row,
    /// A row of whole numbers that all differ, such as years, which could also be names.
    RowOfWholeNumbers,
}

impl FirstLine {
    pub(super) fn of(
        first: &ByteRecord,
        second: Option<&ByteRecord>,
        style: Style,
        options: &ReadOptions,
    ) -> Self {
        if let Some(names) = options.header {
            return if names { Self::Names } else { Self::Row };
        }
        let known = || has_inputs_of_model(first, options) || has_named_column(first, options);
        if looks_like_names(first, second, style) || known() {
            Self::Names
        } else if is_numbered(first, second, style) {
            Self::NumberedNames
        } else if has_distinct_whole_numbers(first) {
            Self::RowOfWholeNumbers
        } else {
            Self::Row
        }
    }

    pub(super) fn holds_names(self) -> bool {
        matches!(self, Self::Names | Self::NumberedNames)
    }

    /// What the user should know, if it was not obvious.
    pub(super) fn note(self, first: &ByteRecord) -> Option<String> {
        (self == Self::NumberedNames).then(|| {
            format!(
                "the first line ({}) holds names, as pandas numbers columns\nhint: if it is a row, say so (header = false)",
                beginning(first)
            )
        })
    }

    /// The warning if the numbers below such a row are of another kind.
    pub(super) fn doubt(self, first: &ByteRecord) -> Option<String> {
        (self == Self::RowOfWholeNumbers).then(|| {
            format!(
                "the first line ({}) was taken as a row, but it holds whole numbers, and most columns below it do not\n\
                 hint: if it holds names, say so (header = true)",
                beginning(first)
            )
        })
    }
}

/// What to do about a first line that is no part of the table.
pub(super) fn stray_line(first: &ByteRecord) -> Option<&'static str> {
    let start = first.get(0)?.trim_ascii_start();
    if start.starts_with(b"#") {
        return Some("\nhint: the first line starts with `#`; if it is a comment, delete it");
    }
    let is_sep = start.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"sep="));
    is_sep.then_some("\nhint: the first line starts with `sep=`, which only Excel reads; delete it")
}

fn beginning(first: &ByteRecord) -> String {
    let fields: Vec<String> = texts(first).take(FIELDS_SHOWN).map(|text| shown(text).into_owned()).collect();
    format!("{}{}", fields.join(", "), if first.len() > FIELDS_SHOWN { ", …" } else { "" })
}

/// The fields as they would be names; empty where they are not UTF-8.
fn texts(record: &ByteRecord) -> impl Iterator<Item = &str> {
    record.iter().map(|field| std::str::from_utf8(field).map_or("", str::trim))
}

/// Names are text where the next line has a number, or only text.
fn looks_like_names(first: &ByteRecord, second: Option<&ByteRecord>, style: Style) -> bool {
    let is_text = |field: &[u8]| matches!(Field::of_bytes(field, style), Field::Text(_));
    let is_number = |field: &[u8]| matches!(Field::of_bytes(field, style), Field::Number(_));
    let over_number = |second: &ByteRecord| first.iter().zip(second).any(|(a, b)| is_text(a) && is_number(b));
    second.is_some_and(over_number) || (first.iter().any(is_text) && !first.iter().any(is_number))
}

/// Whether every input of a model is named once.
fn has_inputs_of_model(first: &ByteRecord, options: &ReadOptions) -> bool {
    let Some(wanted) = options.columns.as_ref().filter(|names| !names.is_empty() && !options.by_place) else {
        return false;
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    texts(first).for_each(|text| *counts.entry(text).or_default() += 1);
    wanted.iter().all(|name| counts.get(name.as_str()) == Some(&1))
}

/// Whether a column that the user named is there. A number that may be a place is none.
fn has_named_column(first: &ByteRecord, options: &ReadOptions) -> bool {
    let categorical = match &options.encode {
        EncodeMode::Learn(settings) => &settings.categorical[..],
        _ => &[],
    };
    let lists = [&options.drop[..], &options.keep, &options.inputs, categorical];
    let there: BTreeSet<&str> = texts(first).filter(|text| !text.is_empty()).collect();
    let mut named = options.target.iter().chain(lists.into_iter().flatten());
    named.any(|name| there.contains(name.as_str()) && place(name, first.len(), false).is_none())
}

/// Whether the fields are 0, 1, 2, …, at least two of them, after an index without a name and before text, if at all. Text that
/// the next line has, too, is no name. Over whole numbers a row may begin with 0, 1 by chance: there must be more.
fn is_numbered(first: &ByteRecord, second: Option<&ByteRecord>, style: Style) -> bool {
    let index = usize::from(first.get(0).is_some_and(|field| field.trim_ascii().is_empty()));
    let count = texts(first).skip(index).zip(0u32..).take_while(|(text, j)| *text == j.to_string()).count();
    let is_name = |(j, field): (usize, &[u8])| {
        matches!(Field::of_bytes(field, style), Field::Text(_))
            && second.is_none_or(|second| second.get(j) != Some(field))
    };
    let is_whole = |text: &str| text.parse::<i64>().is_ok();
    let over_whole = second.is_none_or(|second| texts(second).skip(index).take(count).all(is_whole));
    let least = match (over_whole, first.len() > index + count) {
        (false, _) => 2,
        (true, has_text) => NAMES_OVER_WHOLE_NUMBERS[usize::from(has_text)],
    };
    count >= least && first.iter().enumerate().skip(index + count).all(is_name)
}

fn has_distinct_whole_numbers(first: &ByteRecord) -> bool {
    let numbers: Option<Vec<u64>> = texts(first).map(|text| text.parse().ok()).collect();
    numbers.is_some_and(|mut numbers| {
        numbers.sort_unstable();
        numbers.len() >= 2 && numbers.windows(2).all(|pair| pair[0] < pair[1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { separator: b',', decimal: b'.' };

    fn of(first: &[&str], second: &[&str], options: &ReadOptions) -> FirstLine {
        let second = ByteRecord::from(second.to_vec());
        FirstLine::of(&ByteRecord::from(first.to_vec()), Some(&second), STYLE, options)
    }

    fn plain(first: &[&str], second: &[&str]) -> FirstLine {
        of(first, second, &ReadOptions::default())
    }

    #[test]
    fn names_are_detected_from_the_first_two_lines() {
        assert_eq!(plain(&["a", "b", "kind"], &["1", "2", "yes"]), FirstLine::Names);
        assert_eq!(plain(&["", "b"], &["1", "2"]), FirstLine::Names);
        assert_eq!(plain(&["a", "b"], &["x", "y"]), FirstLine::Names);
        assert_eq!(plain(&["1", "2", "yes"], &["3", "4", "no"]), FirstLine::Row);
        assert_eq!(plain(&["NA", "2"], &["3", "4"]), FirstLine::Row);
        assert_eq!(plain(&["0", "b"], &["1", "2"]), FirstLine::Names);
    }

    #[test]
    fn the_names_of_pandas_are_names() {
        for names in [&["0", "1"][..], &["0", "1", "2", "y"], &["", "0", "1", "2"], &["", "0", "1", "y"]] {
            assert_eq!(plain(names, &["5.5", "1.5", "2.5", "n"][..names.len()]), FirstLine::NumberedNames);
        }
        assert_eq!(plain(&["0", "y"], &["0.5", "n"]), FirstLine::Row, "one number is no list of names");
        assert_eq!(plain(&["0", "1", "3"], &["0.5", "1", "2"]), FirstLine::RowOfWholeNumbers);
        assert_eq!(plain(&["0", "1", "NA"], &["0.5", "1", "2"]), FirstLine::Row);
        assert_eq!(plain(&["0", "1", "n"], &["1", "0", "n"]), FirstLine::Row, "a class, not a name");
        assert_eq!(plain(&["0", "1", "yes"], &["1", "0", "no"]), FirstLine::Row, "a row of 0 and 1");
        assert_eq!(plain(&["0", "1", "2", "y"], &["0", "0", "0", "no"]), FirstLine::NumberedNames);
        assert_eq!(plain(&["0", "1", "2"], &["2", "0", "1"]), FirstLine::RowOfWholeNumbers);
        let pixels = ["0", "1", "2", "3", "4", "5"];
        assert_eq!(plain(&pixels, &["0", "0", "16", "9", "0", "0"]), FirstLine::NumberedNames);
    }

    #[test]
    fn names_that_are_known_are_found_unless_they_may_be_places() {
        let target = |name: &str| ReadOptions { target: Some(name.into()), ..ReadOptions::default() };
        let years = |options: &ReadOptions| of(&["2019", "2020", "2"], &["0.5", "1.5", "2.5"], options);
        assert_eq!(years(&target("2020")), FirstLine::Names);
        assert_eq!(years(&target("2")), FirstLine::RowOfWholeNumbers, "the second column");
        assert_eq!(years(&target("-1")), FirstLine::RowOfWholeNumbers);
        let inputs = |names: [&str; 2], by_place| ReadOptions {
            columns: Some(names.map(String::from).to_vec()),
            by_place,
            ..ReadOptions::default()
        };
        assert_eq!(years(&inputs(["2020", "2019"], false)), FirstLine::Names);
        assert_eq!(years(&inputs(["2020", "2019"], true)), FirstLine::RowOfWholeNumbers);
        assert_eq!(years(&inputs(["2020", "a"], false)), FirstLine::RowOfWholeNumbers);
        for (header, line) in [(true, FirstLine::Names), (false, FirstLine::Row)] {
            assert_eq!(years(&ReadOptions { header: Some(header), ..target("2020") }), line);
        }
    }
}
