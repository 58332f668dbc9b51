//! Words for people: lines on standard error, and numbers and tables as text.

use std::io::{ErrorKind, Write};
use std::ops::RangeBounds;
use std::sync::Mutex;

use clap::builder::styling::{AnsiColor, Style};
use mercer::{Error, Result};

/// The last panic, for the case that nobody caught it.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// One line on standard error. Colours appear on a terminal alone, and not under `NO_COLOR`. A standard error that is
/// closed is nothing to fail for.
pub(crate) fn line(label: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{label}{text}");
}

pub(crate) fn warn(text: &str) {
    labelled("warning", AnsiColor::Yellow.on_default().bold(), text);
}

/// An error and its hint, each on its own line.
pub(crate) fn report(error: &Error) {
    match error {
        Error::Interrupted => line("", "interrupted"),
        error => labelled("error", AnsiColor::Red.on_default().bold(), &error.to_string()),
    }
}

fn labelled(label: &str, style: Style, text: &str) {
    line(&format!("{style}{label}:{style:#} "), text);
}

/// Some decoders panic at damaged files; the library catches that and says so. The panic itself is not to be shown.
pub(crate) fn silence_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = PANIC.lock() {
            *last = panic.to_string().replace('\n', " ");
        }
    }));
}

/// For a panic that the library did not expect.
pub(crate) fn report_bug() {
    let what = PANIC.lock().map_or_else(|_| String::new(), |last| last.clone());
    let text = format!("this is a bug in mercer; please report it with the command that led to it: {what}");
    labelled("error", AnsiColor::Red.on_default().bold(), &text);
}

/// Text on standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Bytes on standard output. A reader that has seen enough, as `| head` has, is no reason to leave the rest undone.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|source| Error::Io { path: "standard output".into(), source }),
    }
}

/// A number to about four digits, for reading.
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

/// The first few of many, in one line.
pub(crate) fn first<T: ToString>(items: &[T], most: usize) -> String {
    let mut text = items.iter().take(most).map(T::to_string).collect::<Vec<_>>().join(", ");
    if items.len() > most {
        text.push_str(", …");
    }
    text
}

/// Lines whose columns stand below each other. Those in `right` are numbers, and end below each other.
pub(crate) fn table(lines: &[Vec<String>], right: impl RangeBounds<usize>) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |j: usize| lines.iter().filter_map(|line| line.get(j)).map(|s| s.chars().count()).max();
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let mut text = String::new();
    for line in lines {
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
    fn numbers_are_short_and_tell_their_size() {
        let texts: Vec<String> = [0.0, 1.0, 0.05, 0.123_456, 12_345.6, 1e-9, -2.5, 1e7].map(short).to_vec();
        assert_eq!(texts, ["0", "1", "0.05", "0.1235", "12346", "1.00e-9", "-2.5", "1.00e7"]);
        assert_eq!(short(100.0), "100");
    }

    #[test]
    fn columns_stand_below_each_other() {
        let lines = [["é", "1"], ["name", "20"]].map(|line| line.map(String::from).to_vec());
        assert_eq!(table(&lines, 1..), "é      1\nname  20\n");
    }
}
