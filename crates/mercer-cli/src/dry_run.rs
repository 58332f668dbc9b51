//! Command lines and models without files: what the program says of them before it reads or writes anything. Fuzzing calls
//! these; see `fuzz/`.

use std::cell::RefCell;
use std::ffi::OsString;

use clap::{ArgMatches, Command};
use mercer::Result;
use mercer::map::Model;

use crate::context::Context;
use crate::{args, commands, stderr, usage};

thread_local! {
    /// Made once: it has hundreds of flags.
    static COMMAND: RefCell<Command> = RefCell::new(usage::command());
}

/// Reads a command line, the name of the program first, and checks all that can be checked without opening a file. The
/// error is the text that the program would show.
pub fn check_words(words: impl IntoIterator<Item = OsString>) -> std::result::Result<(), String> {
    let words = usage::join_flag_values(words);
    let matches = COMMAND.with_borrow_mut(|command| command.try_get_matches_from_mut(words));
    let matches = matches.map_err(|answer| answer.to_string())?;
    match matches.subcommand() {
        Some((name, args)) => check(name, args).map_err(|e| stderr::with_flags(&e.to_string())),
        None => Err("no command was given".into()),
    }
}

fn check(name: &str, args: &ArgMatches) -> Result<()> {
    let context = Context::without_handler(true);
    match name {
        "fit" => commands::fit::check(args, &context)?,
        "select" => commands::select::check(args)?,
        "compare" => commands::compare::check(args, &context)?,
        _ => {}
    }
    match name {
        "fit" | "select" | "compare" | "advise" => {
            args::check_kernel(args)?;
            args::options(args, &context)?;
            args::read_options(args, true);
        }
        "transform" | "predict" | "inspect" => drop(args::text_options(args)),
        _ => {}
    }
    Ok(())
}

/// What `mercer inspect` shows of a model of a file of so many bytes, as text and as JSON.
pub fn describe(model: &Model, size: u64) -> (String, String) {
    (commands::inspect::as_text(model, size), commands::inspect::as_json(model, size))
}
