//! Flags that several commands have, and the parsers of their values.

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ValueHint};
use mercer::data::encode::Missing;
use mercer::data::sniff::Style;
use mercer::data::{Scale, Task, synth};
use mercer::methods::{Kind, SharedParameter};
use mercer::options::size_in_bytes;

use crate::args::flag_name;

pub(super) fn data() -> Arg {
    let generators: Vec<&str> = synth::GENERATORS.iter().map(|g| g.name).collect();
    Arg::new("data")
        .value_name("DATA")
        .required(true)
        .value_hint(ValueHint::FilePath)
        .help("Rows: a file, - for CSV from standard input, or a generator")
        .long_help(format!(
            "Rows: CSV, TSV or LIBSVM (each also .gz), Parquet, Arrow IPC, NPY or NPZ, by file extension; - for CSV from \
             standard input; or a generator such as `synth:ringnorm?n=2000&seed=1`: {}",
            generators.join(", ")
        ))
}

pub(super) fn target() -> Arg {
    Arg::new("target")
        .long("target")
        .value_name("COL")
        .allow_negative_numbers(true)
        .help("Target column: a name, or a position from the end such as -1; it is not used as an input")
}

/// Flags for reading and scaling rows and a target.
pub(super) fn reading() -> Vec<Arg> {
    let scales = Scale::NAMES.map(|(name, _)| name);
    let scale = Arg::new("scale")
        .long("scale")
        .value_name("HOW")
        .value_parser(PossibleValuesParser::new(scales))
        .help(
            "Scaling of the inputs, stored in the model: columns to mean 0 and deviation 1 (standard) or into [0, 1] (min-max), \
             rows to unit length (unit), or none [default: standard; none if the kernel is precomputed]",
        );
    let tasks = Task::NAMES.map(|(name, task)| {
        let synonyms = Task::SYNONYMS.into_iter().filter(move |(_, same)| *same == task);
        PossibleValue::new(name).aliases(synonyms.map(|(name, _)| name))
    });
    let task = Arg::new("task")
        .long("task")
        .value_name("WHAT")
        .default_value("auto")
        .value_parser(PossibleValuesParser::new(tasks))
        .help(
            "Kind of target; auto: numbers if any is not whole, or if more than 20 and more than √n are distinct and the \
             rarest occurs fewer than 5 times; else classes",
        );
    let missing = Arg::new("missing")
        .long("missing")
        .value_name("HOW")
        .default_value("fill")
        .value_parser(PossibleValuesParser::new(Missing::NAMES.map(|(name, _)| name)))
        .help(
            "Missing values (empty, NA, NaN, null, ?, None): fill: numbers by the median of the training rows, with an indicator column (given, complete training rows have medians for new rows, too); refuse: an error",
        );
    let mut all = vec![
        scale,
        task,
        list("inputs", "Columns to use [default: all others; not those that number the rows]")
            .allow_negative_numbers(true),
        list("drop", "Columns to ignore").allow_negative_numbers(true),
        list(
            "categorical",
            "Columns of numbers, or of text of many values, to use as categories: one column per value",
        ),
        missing,
    ];
    all.extend(text());
    all
}

/// Flags for text files.
pub(super) fn text() -> Vec<Arg> {
    let separator = Arg::new("sep")
        .long("sep")
        .value_name("CHAR")
        .value_parser(ValueParser::new(Style::separator))
        .help("What separates the fields of a text file: , ; | or tab [default: detected]");
    let decimal = Arg::new("decimal")
        .long("decimal")
        .value_name("CHAR")
        .value_parser(ValueParser::new(Style::decimal))
        .help("Decimal sign of a text file: . or , [default: detected]");
    let mut all = vec![separator, decimal];
    all.extend(header());
    all
}

pub(super) fn memory(what: &'static str) -> Arg {
    Arg::new("memory").long("memory").value_name("SIZE").value_parser(size_in_bytes).env("MERCER_MEMORY").help(format!(
        "Memory budget of {what}, such as 500MB or 4GB; rows beyond half of it go to a temporary file (in TMPDIR) \
         [default: 8GiB, or half of what a limit of the system leaves]"
    ))
}

/// What each row counts.
pub(super) fn weights() -> [Arg; 2] {
    let column = Arg::new("weights")
        .long("weights")
        .value_name("COL")
        .allow_negative_numbers(true)
        .help("Column of sample weights: 2 counts as two rows, 0 as none; it is not used as an input");
    let by_class = Arg::new("class-weight")
        .long("class-weight")
        .value_name("HOW")
        .value_parser(PossibleValuesParser::new(["balanced"]))
        .help("Weights of the classes; balanced: every class counts the same");
    [column, by_class]
}

pub(super) fn device() -> Arg {
    Arg::new("device").long("device").value_name("WHERE").env("MERCER_DEVICE").help(
        "Where passes over the rows are computed: cpu, cuda (the first NVIDIA GPU), cuda:1, or auto (a GPU if there is one that supports the method) [default: cpu]",
    )
}

pub(super) fn checkpoint(what: &'static str) -> Arg {
    Arg::new("checkpoint").long("checkpoint").value_name("DIR").value_hint(ValueHint::DirPath).help(format!(
        "Save {what} in this folder: after Ctrl-C or a crash the same command resumes from there and gives the same result; \
         the files are removed at the end"
    ))
}

pub(super) fn report(what: &'static str) -> Arg {
    Arg::new("report")
        .long("report")
        .value_name("FILE.html")
        .value_hint(ValueHint::FilePath)
        .help(format!("Write an HTML report of {what}; - for standard output"))
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

/// A flag with a list of values.
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
        .help("A model that `mercer fit`, `mercer select` or `mercer.save` wrote; - for standard input")
}

pub(super) fn output(name: &'static str, help: &'static str) -> Arg {
    Arg::new("output").long("output").short('o').value_name(name).value_hint(ValueHint::FilePath).help(help)
}

pub(super) fn list(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("COL,…").value_delimiter(',').action(ArgAction::Append).help(help)
}

fn header() -> [Arg; 2] {
    let flag = |name: &'static str, other: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).overrides_with(other).help(help)
    };
    [
        flag("header", "no-header", "The first line of a text file holds column names [default: detected]"),
        flag("no-header", "header", "The first line of a text file is a row"),
    ]
}

pub(super) fn format() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("HOW")
        .default_value("text")
        .value_parser(PossibleValuesParser::new(["text", "json"]))
        .help("Output format")
}

/// The format of a table, which may also follow from the name of its file.
pub(super) fn table_format() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("HOW")
        .value_parser(PossibleValuesParser::new(["text", "json", "csv", "markdown"]))
        .help("Format of the table [default: text, or that of the output's file extension]")
}

/// The flag of a method's parameter; the library checks its value.
pub(super) fn parameter(parameter: &SharedParameter) -> Arg {
    let kind = parameter.parameter.kind;
    let value = match kind {
        Kind::Whole { .. } => "N",
        Kind::Number { .. } => "X",
        Kind::Choice(_) => "NAME",
        Kind::ChoiceOr { .. } => "NAME|SUM",
        Kind::WholeOr { .. } => "N|RULE",
        Kind::NumberOr(_) => "X|RULE",
        Kind::Text { name: "keep", .. } => "N|SHARE|RULE",
        Kind::Text { name: "candidates", .. } => "N|all",
        Kind::Text { name: "neighbors", .. } => "N|SHARE",
        Kind::Text { .. } => "F",
        Kind::Flag => "true|false",
        Kind::FlagOr(_) => "true|false|RULE",
    };
    let flag = Arg::new(parameter.name)
        .long(flag_name(parameter.name))
        .value_name(value)
        .allow_negative_numbers(true)
        .help_heading("Parameters of the methods")
        .help(sentence(parameter));
    match kind {
        Kind::Flag | Kind::FlagOr(_) => {
            flag.num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        _ => flag,
    }
}

fn sentence(parameter: &SharedParameter) -> String {
    let default = parameter.default.map_or_else(String::new, |value| format!("; default: {value}"));
    let none = parameter.none.as_ref().map_or_else(String::new, |none| format!("; without it: {none}"));
    format!("{} [{}{default}{none}]", parameter.help, parameter.allowed)
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
