//! `mercer`: features in kernel space, from a shell. Results go to standard output, messages to standard error.
//!
//! exit    0 done · 1 failed · 2 bad usage · 130 interrupted
//!
//! It is a library only so that fuzzing can call its parsers; there is no interface to rely on but the program.

#![forbid(unsafe_code)]

mod usage;
mod args;
mod context;
mod stderr;
mod stdout;
mod text;
mod quote;
mod commands;
mod dry_run;

use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::ArgMatches;
use mercer::options::{allowed_threads, is_limited};
use mercer::{Error, Result};

use crate::context::Context;

pub use dry_run::{check_words, describe};

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    stderr::silence_panics();
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        stderr::report_bug();
        ExitCode::FAILURE
    })
}

fn run() -> ExitCode {
    let matches = match usage::command().try_get_matches_from(usage::join_flag_values(std::env::args_os())) {
        Ok(matches) => matches,
        Err(answer) => {
            // Help and version arrive here too. A closed standard output is ignored.
            let _ = answer.print();
            return ExitCode::from(if answer.use_stderr() { 2 } else { 0 });
        }
    };
    match start(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has closed the pipe, as `| head` does.
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            stderr::report(&error);
            if matches!(error, Error::Interrupted) {
                hint_to_resume(&matches);
            }
            ExitCode::from(match error {
                Error::Argument(_) => 2,
                Error::Interrupted => context::INTERRUPTED,
                _ => 1,
            })
        }
    }
}

/// After Ctrl-C: how to resume from the checkpoint, if there is one.
fn hint_to_resume(matches: &ArgMatches) {
    let checkpoint = matches.subcommand().and_then(|(_, args)| args::checkpoint(args).ok().flatten());
    if let Some(checkpoint) = checkpoint.filter(mercer::Checkpoint::holds_something) {
        let folder = checkpoint.folder().display();
        stderr::line(
            "hint: ",
            &format!("run the same command again to resume from {folder}; remove that folder to start over"),
        );
    }
}

/// Starts as many threads as were asked for, here or of rayon, but not more than are of use.
fn start_threads(matches: &ArgMatches) -> Result<()> {
    let of_rayon = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|n| *n > 0);
    let asked = matches.get_one::<u16>("threads").map(|&threads| threads.into()).or_else(of_rayon);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let (mut threads, warning) = match asked {
        Some(asked) => allowed_threads(asked),
        // Rayon would start them when they are needed, and panic where it cannot.
        None if is_limited() => (cores(), None),
        None => return Ok(()),
    };
    warning.iter().for_each(|text| stderr::warn(text));
    if is_limited() {
        let possible = possible_threads(threads);
        if possible < threads {
            stderr::warn(&format!(
                "the system gives no memory for {threads} threads: {} are used",
                possible.max(1)
            ));
        }
        threads = possible.max(1);
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(|e| {
        Error::Memory(format!("{threads} threads could not be started: {e}\nhint: raise the limit on memory"))
    })
}

/// How many of so many threads can be started at the same time.
fn possible_threads(wanted: usize) -> usize {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let started: Vec<_> = (0..wanted)
        .map_while(|_| {
            let wait = wait.clone();
            let hold = move || {
                let _ = wait.lock().map(|wait| wait.recv());
            };
            std::thread::Builder::new().spawn(hold).ok()
        })
        .collect();
    drop(go);
    started.into_iter().filter_map(|thread| thread.join().ok()).count()
}

fn start(matches: &ArgMatches) -> Result<()> {
    start_threads(matches)?;
    let context = Context::new(matches.get_flag("quiet"));
    match matches.subcommand() {
        Some(("fit", args)) => commands::fit::run(args, &context),
        Some(("select", args)) => commands::select::run(args, &context),
        Some(("transform", args)) => commands::transform::run(args, &context),
        Some(("predict", args)) => commands::predict::run(args, &context),
        Some(("export", args)) => commands::export::run(args, &context),
        Some(("inspect", args)) => commands::inspect::run(args, &context),
        Some(("compare", args)) => commands::compare::run(args, &context),
        Some(("advise", args)) => commands::advise::run(args, &context),
        Some(("methods", args)) => commands::methods::run(args),
        Some(("demo", args)) => commands::demo::run(args, &context),
        Some(("completions", args)) => commands::completions::run(args),
        Some(("man", args)) => commands::man::run(args, &context),
        _ => Err(Error::Argument("no command was given\nhint: see `mercer --help`".into())),
    }
}
