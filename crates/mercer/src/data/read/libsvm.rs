//! LIBSVM text: each line has a label and index:value pairs, with indices from 1. The rows are sparse.
//!
//! cost    one pass over the text
//! differs pairs need not ascend; a `qid:` is skipped; text after `#` is a comment

use std::io::{BufRead, BufReader, Read};

use super::budget::Budget;
use super::columns::{MOST_COLUMNS, Source};
use super::{ReadOptions, unreadable};
use crate::data::{Column, Rows};
use crate::error::{Error, Result};

pub(super) fn read<'a>(path: &'a str, input: Box<dyn Read>, options: &ReadOptions) -> Result<Source<'a>> {
    let mut reader = BufReader::new(input);
    let mut budget = Budget::new(path, options);
    let longest = budget.longest_line();
    let (mut indptr, mut indices, mut values) = (vec![0], options.growing(), options.growing());
    let mut p = 0;
    let (mut labels, mut row) = (Vec::new(), Vec::new());
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let line = reader.by_ref().take(longest).read_until(b'\n', &mut bytes);
        match line.map_err(|e| unreadable(path, &e))? {
            0 => break,
            length if length as u64 == longest => return Err(budget.line_too_long(number)),
            _ => {}
        }
        let wrong = |what: &str| Error::file(path, format!("line {number}: {what}"));
        let text =
            std::str::from_utf8(&bytes).map_err(|_| wrong("not UTF-8 text; is this a LIBSVM file?"))?;
        let text = text.split_once('#').map_or(text, |(text, _)| text);
        let mut fields = text.trim_start_matches('\u{feff}').split_ascii_whitespace();
        let Some(label) = fields.next() else { continue };
        if label.contains(':') {
            return Err(wrong(&format!("it must start with a label, but starts with `{label}`")));
        }
        budget.take(size_of::<(String, usize)>() + label.len(), "labels")?;
        labels.push(label.to_string());
        pairs(fields, &mut row).map_err(|what| wrong(&what))?;
        for &(j, v) in &row {
            indices.push(j)?;
            values.push(v)?;
            p = p.max(j as usize + 1);
        }
        indptr.push(indices.len());
    }
    let rows = Rows::from_sparse_store(indptr.into(), indices.finish()?, values.finish()?, p)
        .map_err(|e| Error::file(path, e.to_string()))?;
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    let target = numbers.map_or(Column::Text(labels), Column::Numbers);
    Ok(Source { target: Some(target), ..Source::new(path, rows) })
}

/// The pairs of a line, ascending, their indices counted from 0.
fn pairs<'a>(
    fields: impl Iterator<Item = &'a str>,
    row: &mut Vec<(u32, f64)>,
) -> std::result::Result<(), String> {
    row.clear();
    for field in fields {
        let Some((index, value)) = field.split_once(':') else {
            return Err(format!("`{field}` is not a pair such as `3:0.5`"));
        };
        if index == "qid" {
            continue;
        }
        let Some(j) = index.parse().ok().filter(|j| (1..=MOST_COLUMNS).contains(j)) else {
            let hint = match index {
                "0" => {
                    "\nhint: scikit-learn's `dump_svmlight_file` writes them from 1 with `zero_based=False`"
                }
                _ => "",
            };
            return Err(format!("`{index}` is not an index; indices count from 1 to {MOST_COLUMNS}{hint}"));
        };
        let Some(v) = value.parse().ok().filter(|v: &f64| v.is_finite()) else {
            return Err(format!("column {j} holds `{value}`; only finite numbers are allowed"));
        };
        row.push(((j - 1) as u32, v));
    }
    row.sort_by_key(|(j, _)| *j);
    match row.windows(2).find(|w| w[0].0 == w[1].0) {
        Some(w) => Err(format!("index {} is given twice", w[0].0 + 1)),
        None => Ok(()),
    }
}
