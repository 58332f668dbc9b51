//! Numbers, lists and tables as text.

use std::ops::RangeBounds;

use mercer::data::table::shown;

/// A number to about four digits, for people.
pub(crate) fn short(v: f64) -> String {
    match v.abs() {
        size if v == 0.0 || !size.is_finite() => v.to_string(),
        1e-3..1e6 => {
            let digits = (3 - v.abs().log10().floor() as i32).max(0) as usize;
            let text = format!("{v:.digits$}");
            let trimmed = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            trimmed.to_string()
        }
        _ => format!("{v:.2e}"),
    }
}

/// A share, as `12.5 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `1 step`, `2 steps`.
pub(crate) fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first few items, in one line.
pub(crate) fn first<T: ToString>(items: &[T], most: usize) -> String {
    let shown = |item: &T| shown(&item.to_string()).into_owned();
    let mut text = items.iter().take(most).map(shown).collect::<Vec<_>>().join(", ");
    if items.len() > most {
        text.push_str(", …");
    }
    text
}

/// The most characters of a cell; more are cut.
const CELL_CHARACTERS: usize = 2_000;

/// A table with aligned columns; those in `right` are numbers and right-aligned.
pub(crate) fn table(lines: &[Vec<String>], right: impl RangeBounds<usize>) -> String {
    let cut = |cell: &String| match cell.char_indices().nth(CELL_CHARACTERS) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.clone(),
    };
    let lines: Vec<Vec<String>> = lines.iter().map(|line| line.iter().map(cut).collect()).collect();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |j: usize| lines.iter().filter_map(|line| line.get(j)).map(|s| s.chars().count()).max();
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(j, (cell, &width))| {
            if right.contains(&j) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_about_four_digits() {
        let texts: Vec<String> = [0.0, 1.0, 0.05, 0.123_456, 12_345.6, 1e-9, -2.5, 1e7].map(short).to_vec();
        assert_eq!(texts, ["0", "1", "0.05", "0.1235", "12346", "1.00e-9", "-2.5", "1.00e7"]);
        assert_eq!(short(100.0), "100");
    }

    #[test]
    fn columns_are_aligned() {
        let lines = [["é", "1"], ["name", "20"]].map(|line| line.map(String::from).to_vec());
        assert_eq!(table(&lines, 1..), "é      1\nname  20\n");
    }
}
