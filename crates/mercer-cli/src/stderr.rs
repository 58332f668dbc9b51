//! Messages on standard error: notes, warnings, errors and panics.

use std::io::Write;
use std::sync::Mutex;

use clap::builder::styling::{AnsiColor, Style};
use mercer::Error;

use crate::args::flag_name;
use crate::quote::flag;

/// The last panic, for [`report_bug`].
static PANIC: Mutex<String> = Mutex::new(String::new());

/// One line on standard error. Colours appear only on a terminal, and not under `NO_COLOR`. A closed standard error is
/// ignored.
pub(crate) fn line(label: &str, text: &str) {
    let _ = writeln!(anstream::stderr(), "{label}{text}");
}

pub(crate) fn warn(text: &str) {
    labelled("warning", AnsiColor::Yellow.on_default().bold(), &with_flags(text));
}

/// An error and its hint, each on its own line.
pub(crate) fn report(error: &Error) {
    match error {
        Error::Interrupted => line("", "interrupted"),
        error => labelled("error", AnsiColor::Red.on_default().bold(), &with_flags(&error.to_string())),
    }
}

/// The library's hints name parameters, as in `(drop = kind)`; here they are flags, as in `` (`--drop kind`) ``. The labels,
/// `(y)`, are named by `--target`, the columns to use, `(inputs)`, by `--inputs`, and header and memory by flags of their own.
pub(crate) fn with_flags(text: &str) -> String {
    let Some((error, hint)) = text.split_once("\nhint: ") else { return text.to_string() };
    let parameter = |inside: &str| {
        match inside {
            "y" => return Some("`--target COL`".to_string()),
            "inputs" => return Some("`--inputs COL,…`".to_string()),
            "header = true" => return Some("`--header`".to_string()),
            "header = false" => return Some("`--no-header`".to_string()),
            "`memory`, MERCER_MEMORY" => return Some("`--memory`, MERCER_MEMORY".to_string()),
            _ => {}
        }
        let (name, value) = inside.split_once(" = ")?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        is_name.then(|| format!("`{}`", flag(&flag_name(name), value)))
    };
    let mut out = format!("{error}\nhint: ");
    let mut rest = hint;
    while let Some((before, (inside, after))) =
        rest.split_once('(').and_then(|(b, r)| Some((b, r.split_once(')')?)))
    {
        let shown = parameter(inside).unwrap_or_else(|| inside.to_string());
        out.extend([before, "(", &shown, ")"]);
        rest = after;
    }
    out + rest
}

fn labelled(label: &str, style: Style, text: &str) {
    line(&format!("{style}{label}:{style:#} "), text);
}

/// Hides panic messages: some decoders panic at damaged files, which the library catches and reports as an error.
pub(crate) fn silence_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = PANIC.lock() {
            *last = panic.to_string().replace('\n', " ");
        }
    }));
}

/// Reports a panic that the library did not catch.
pub(crate) fn report_bug() {
    let what = PANIC.lock().map_or_else(|_| String::new(), |last| last.clone());
    let text = format!("this is a bug in mercer; please report it with the command that led to it: {what}");
    labelled("error", AnsiColor::Red.on_default().bold(), &text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_hints_are_shown_as_flags() {
        let text =
            "column `a b` holds text\nhint: ignore it (drop = a b), or fit again (n_features, scale = none)";
        let shown = "column `a b` holds text\nhint: ignore it (`--drop 'a b'`), or fit again (n_features, scale = none)";
        assert_eq!(with_flags(text), shown);
        assert_eq!(with_flags("gamma (gamma = 0) is not allowed"), "gamma (gamma = 0) is not allowed");
        assert_eq!(with_flags("no\nhint: give them (y)"), "no\nhint: give them (`--target COL`)");
        assert_eq!(
            with_flags("no\nhint: set (task = classification) or ("),
            "no\nhint: set (`--task classification`) or ("
        );
    }
}
