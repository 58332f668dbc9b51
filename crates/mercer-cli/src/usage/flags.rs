//! Flags that several commands have, and how their values are read.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ValueHint};
use mercer::basis::size_in_bytes;
use mercer::data::{Scale, synth};
use mercer::methods::{Kind, Parameter};

use super::TASKS;
use crate::args::flag_name;

pub(super) fn data() -> Arg {
    let generators: Vec<&str> = synth::GENERATORS.iter().map(|g| g.name).collect();
    Arg::new("data")
        .value_name("DATA")
        .required(true)
        .value_hint(ValueHint::FilePath)
        .help("Rows: a file, - for CSV from standard input, or a generator")
        .long_help(format!(
            "Rows: CSV, TSV or LIBSVM (each also .gz), Parquet, Arrow IPC, NPY or NPZ, told by the end of the name; - for \
             CSV from standard input; or a generator such as `synth:ringnorm?n=2000&seed=1`: {}",
            generators.join(", ")
        ))
}

pub(super) fn target() -> Arg {
    Arg::new("target")
        .long("target")
        .value_name("COL")
        .allow_negative_numbers(true)
        .help("Column to be learned: a name, or a place from the end such as -1; it is not an input")
}

/// How a file of rows and a target is read and made ready.
pub(super) fn reading() -> Vec<Arg> {
    let scales = Scale::NAMES.map(|(name, _)| name);
    let scale = Arg::new("scale")
        .long("scale")
        .value_name("HOW")
        .value_parser(PossibleValuesParser::new(scales))
        .help("How the inputs are scaled; stored in a model [default: standard; none if the kernel is precomputed]");
    let task = Arg::new("task")
        .long("task")
        .value_name("WHAT")
        .default_value("auto")
        .value_parser(PossibleValuesParser::new(TASKS.map(|(name, _)| name)))
        .help(
            "What the target holds; auto: numbers if any is not whole or more than 50 differ, else classes",
        );
    let mut all = vec![scale, task, list("drop", "Columns that are not used").allow_negative_numbers(true)];
    all.extend(header());
    all
}

pub(super) fn memory(what: &'static str) -> Arg {
    Arg::new("memory").long("memory").value_name("SIZE").value_parser(size_in_bytes).env("MERCER_MEMORY").help(format!(
        "Most memory that {what} may take, such as 500MB or 4GB; rows beyond half of it are kept in a file (TMPDIR) \
         meanwhile [default: 8GiB]"
    ))
}

pub(super) fn checkpoint(what: &'static str) -> Arg {
    Arg::new("checkpoint").long("checkpoint").value_name("DIR").value_hint(ValueHint::DirPath).help(format!(
        "Keep {what} in this folder meanwhile: the same command, run again after Ctrl-C or a crash, goes on from there, to the \
         same result; it is emptied when all is done"
    ))
}

pub(super) fn report(what: &'static str) -> Arg {
    Arg::new("report")
        .long("report")
        .value_name("FILE.html")
        .value_hint(ValueHint::FilePath)
        .help(format!("Write a page that shows {what}; - for standard output"))
}

pub(super) fn seed(default: &'static str) -> Arg {
    Arg::new("seed")
        .long("seed")
        .value_name("N")
        .default_value(default)
        .allow_negative_numbers(true)
        .value_parser(ValueParser::new(whole))
        .help("Seed of every random choice")
}

/// A list of words behind one flag.
pub(super) fn words(id: &'static str, flag: &'static str, value: &'static str) -> Arg {
    Arg::new(id)
        .long(flag)
        .value_name(value)
        .value_delimiter(',')
        .action(ArgAction::Append)
        .allow_negative_numbers(true)
}

pub(super) fn model() -> Arg {
    Arg::new("model")
        .value_name("MODEL")
        .required(true)
        .value_hint(ValueHint::FilePath)
        .help("A model that `mercer fit` or `mercer.save` wrote; - for standard input")
}

pub(super) fn output(name: &'static str, help: &'static str) -> Arg {
    Arg::new("output").long("output").short('o').value_name(name).value_hint(ValueHint::FilePath).help(help)
}

pub(super) fn list(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("COL,…").value_delimiter(',').action(ArgAction::Append).help(help)
}

pub(super) fn header() -> [Arg; 2] {
    let flag = |name: &'static str, other: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).overrides_with(other).help(help)
    };
    [
        flag("header", "no-header", "The first line of a text file holds the names [default: look at it]"),
        flag("no-header", "header", "The first line of a text file is a row"),
    ]
}

pub(super) fn format() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("HOW")
        .default_value("text")
        .value_parser(PossibleValuesParser::new(["text", "json"]))
        .help("For people or for programs")
}

/// The flag of a method's parameter. Its value is checked by the library.
pub(super) fn parameter(parameter: &Parameter) -> Arg {
    let value = match parameter.kind {
        Kind::Whole { .. } => "N",
        Kind::Number { .. } => "X",
        Kind::Choice(_) => "NAME",
        Kind::NumberOr(_) => "X|RULE",
        Kind::Threshold => "F",
        Kind::Keep => "N|SHARE|RULE",
        Kind::Flag => "true|false",
    };
    let flag = Arg::new(parameter.name)
        .long(flag_name(parameter.name))
        .value_name(value)
        .allow_negative_numbers(true)
        .help_heading("Parameters of the methods")
        .help(sentence(parameter));
    match parameter.kind {
        Kind::Flag => flag.num_args(0..=1).require_equals(true).default_missing_value("true"),
        _ => flag,
    }
}

fn sentence(parameter: &Parameter) -> String {
    let default = parameter.default.map_or_else(String::new, |value| format!("; default: {value}"));
    let none = parameter.none.map_or_else(String::new, |none| format!("; if left out: {none}"));
    format!("{} [{}{default}{none}]", parameter.help, parameter.allowed())
}

fn whole(text: &str) -> std::result::Result<u64, String> {
    text.parse().map_err(|_| "it must be a whole number of at least 0".into())
}

pub(super) fn share(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("it must be a number above 0 and below 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(size_in_bytes("4GB").ok(), Some(4_000_000_000));
        assert_eq!(size_in_bytes("1.5 GiB").ok(), Some(3 << 29));
        assert_eq!(size_in_bytes("1e6").ok(), Some(1_000_000));
        assert!(
            size_in_bytes("-1GB").is_err() && size_in_bytes("many").is_err() && size_in_bytes("").is_err()
        );
    }
}
