//! Messages on standard error: notes, warnings, errors and panics.

use std::io::Write;
use std::sync::Mutex;

use clap::builder::styling::{AnsiColor, Style};
use mercer::Error;

/// The last panic, for [`report_bug`].
static PANIC: Mutex<String> = Mutex::new(String::new());

/// One line on standard error. Colours appear only on a terminal, and not under `NO_COLOR`. A closed standard error is
/// ignored.
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
