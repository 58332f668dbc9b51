//! What may be typed. The methods' parameters, their ranges and their help come from the library's catalogue, which also
//! checks their values: a wrong one gets the same words here as anywhere.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use mercer::data::read::ReadOptions;
use mercer::data::{Scale, Task, synth};
use mercer::methods::{Kind, METHODS, PARAMETERS, Parameter, Stage};
use mercer::{Error, Result};

const TASKS: [(&str, Task); 3] =
    [("auto", Task::Auto), ("classes", Task::Classes), ("numbers", Task::Numbers)];

const EXAMPLES: &str = "\
Examples:
  mercer demo
  mercer fit train.csv --target class --method takes -o model.mercer
  mercer transform model.mercer new.csv -o features.parquet
  mercer inspect model.mercer --importance train.csv

Standard output is data, standard error is talk.
Exit: 0 done, 1 failed, 2 bad usage, 130 interrupted.";

const FIT_EXAMPLES: &str = "\
Examples:
  mercer fit train.csv --target class --method takes -o model.mercer
  mercer fit train.csv --target class --method eks --basis kobl --selector relieff --n-features 20 -o model.mercer
  mercer fit train.csv --target class --method klfe --basis kobl --n-components 10 -o model.mercer
  mercer fit rows.parquet --method rpcholesky --n-components 200 --gamma median -o model.mercer
  mercer fit 'synth:ringnorm?n=2000&seed=1' --method csi --gamma loo -o model.mercer";

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  mercer transform model.mercer new.csv -o features.parquet
  mercer transform model.mercer new.csv --keep id,class | head";

const INSPECT_EXAMPLES: &str = "\
Examples:
  mercer inspect model.mercer
  mercer inspect model.mercer --importance train.csv
  mercer inspect model.mercer --importance train.csv --format json";

const METHODS_EXAMPLES: &str = "\
Examples:
  mercer methods
  mercer methods takes";

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("mercer")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Feature selection and feature extraction in kernel space")
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("N")
                .env("MERCER_NUM_THREADS")
                .value_parser(value_parser!(u16).range(1..))
                .global(true)
                .help_heading("Options of every command")
                .help("Threads; the results do not depend on it"),
        )
        .arg(
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .action(ArgAction::SetTrue)
                .global(true)
                .help_heading("Options of every command")
                .help("Only warnings and errors on standard error"),
        )
        .subcommands([fit(), transform(), inspect(), methods(), demo()])
}

fn fit() -> Command {
    let fits = METHODS.iter().filter(|card| card.stage != Stage::Select);
    let names: Vec<&str> = fits.map(|card| card.name).collect();
    let scales = Scale::NAMES.map(|(name, _)| name);
    Command::new("fit")
        .about("Learn a map from rows to features, and store it")
        .after_help(FIT_EXAMPLES)
        .arg(data())
        .arg(
            Arg::new("target")
                .long("target")
                .value_name("COL")
                .allow_negative_numbers(true)
                .help("Column to be learned: a name, or a place from the end such as -1; it is not an input"),
        )
        .arg(
            Arg::new("method")
                .long("method")
                .value_name("NAME")
                .required(true)
                .help(format!("One of {}; see `mercer methods`", names.join(", "))),
        )
        .arg(output("model.mercer", "File for the model").required(true))
        .arg(
            Arg::new("scale")
                .long("scale")
                .value_name("HOW")
                .value_parser(PossibleValuesParser::new(scales))
                .help("How the inputs are scaled; stored in the model [default: standard; none if the kernel is precomputed]"),
        )
        .arg(
            Arg::new("task")
                .long("task")
                .value_name("WHAT")
                .default_value("auto")
                .value_parser(PossibleValuesParser::new(TASKS.map(|(name, _)| name)))
                .help("What the target holds; auto: numbers if any is not whole or more than 50 differ, else classes"),
        )
        .arg(
            list("drop", "Columns that are not used").allow_negative_numbers(true),
        )
        .args(header())
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("SIZE")
                .value_parser(bytes)
                .help("Most memory that the fit may take beside the data, such as 500MB or 4GB [default: 8GiB]"),
        )
        .args(PARAMETERS.iter().map(parameter))
}

fn transform() -> Command {
    Command::new("transform")
        .about("Turn rows into features with a stored model")
        .after_help(TRANSFORM_EXAMPLES)
        .arg(model())
        .arg(data())
        .arg(output("FILE", "File for the features; without it, or with -, CSV on standard output"))
        .arg(list("keep", "Columns of DATA to be written beside the features").allow_negative_numbers(true))
        .args(header())
}

fn inspect() -> Command {
    Command::new("inspect")
        .about("Say what is in a model, and which inputs its features use")
        .after_help(INSPECT_EXAMPLES)
        .arg(model())
        .arg(
            Arg::new("importance")
                .long("importance")
                .value_name("DATA")
                .num_args(0..=1)
                .default_missing_value("")
                .help("How much the features depend on each input: mean squared slopes over the rows of DATA, as the kernel sees the inputs; without DATA over the model's own landmarks"),
        )
        .args(header())
        .arg(format())
}

fn methods() -> Command {
    Command::new("methods")
        .about("List the methods, or say all about one")
        .after_help(METHODS_EXAMPLES)
        .arg(Arg::new("name").value_name("NAME").help("The method"))
        .arg(format().value_parser(PossibleValuesParser::new(["text", "json", "markdown"])))
}

fn demo() -> Command {
    Command::new("demo")
        .about("See bases, selection and extraction at work on made-up data")
        .after_help("Example:\n  mercer demo --seed 7")
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .default_value("0")
                .allow_negative_numbers(true)
                .help("Another seed makes other data"),
        )
}

fn data() -> Arg {
    let generators: Vec<&str> = synth::GENERATORS.iter().map(|g| g.name).collect();
    Arg::new("data")
        .value_name("DATA")
        .required(true)
        .help("Rows: a file, - for CSV from standard input, or a generator")
        .long_help(format!(
            "Rows: CSV, TSV or LIBSVM (each also .gz), Parquet, Arrow IPC, NPY or NPZ, told by the end of the name; - for \
             CSV from standard input; or a generator such as `synth:ringnorm?n=2000&seed=1`: {}",
            generators.join(", ")
        ))
}

fn model() -> Arg {
    Arg::new("model")
        .value_name("MODEL")
        .required(true)
        .help("A model that `mercer fit` or `mercer.save` wrote")
}

fn output(name: &'static str, help: &'static str) -> Arg {
    Arg::new("output").long("output").short('o').value_name(name).help(help)
}

fn list(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("COL,…").value_delimiter(',').action(ArgAction::Append).help(help)
}

fn header() -> [Arg; 2] {
    let flag = |name: &'static str, other: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).overrides_with(other).help(help)
    };
    [
        flag("header", "no-header", "The first line of a text file holds the names [default: look at it]"),
        flag("no-header", "header", "The first line of a text file is a row"),
    ]
}

fn format() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("HOW")
        .default_value("text")
        .value_parser(PossibleValuesParser::new(["text", "json"]))
        .help("For people or for programs")
}

/// The flag of a method's parameter. Its value is checked by the library.
fn parameter(parameter: &Parameter) -> Arg {
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

/// `n_components` is `--n-components`.
pub(crate) fn flag_name(parameter: &str) -> String {
    parameter.replace('_', "-")
}

fn sentence(parameter: &Parameter) -> String {
    let default = parameter.default.map_or_else(String::new, |value| format!("; default: {value}"));
    let none = parameter.none.map_or_else(String::new, |none| format!("; if left out: {none}"));
    format!("{} [{}{default}{none}]", parameter.help, parameter.allowed())
}

/// The parameters that the user gave, and no others: a method refuses those that are not its own.
pub(crate) fn settings(args: &ArgMatches) -> Vec<(&str, &str)> {
    PARAMETERS.iter().filter_map(|p| Some((p.name, text(args, p.name)?))).collect()
}

/// An error if a number was given for a kernel that has no use for it: someone meant something else by it.
pub(crate) fn check_kernel(args: &ArgMatches) -> Result<()> {
    let kernel = text(args, "kernel").unwrap_or("rbf");
    let users: [(&str, &[&str], &str); 3] = [
        ("alpha", &["rq"], "; the level of fpr, fdr and fwe is `--level`"),
        ("degree", &["poly"], ""),
        ("coef0", &["poly", "sigmoid"], ""),
    ];
    for (name, kernels, other) in users {
        if let Some(value) = text(args, name).filter(|_| !kernels.contains(&kernel)) {
            return Err(Error::Argument(format!(
                "{name} = {value} is for the kernel `{}`, but kernel = {kernel}\nhint: leave it out{other}",
                kernels.join("` or `")
            )));
        }
    }
    Ok(())
}

/// The value of a flag, if it has one.
pub(crate) fn text<'a>(args: &'a ArgMatches, name: &str) -> Option<&'a str> {
    args.get_one::<String>(name).map(String::as_str)
}

/// The value of an argument that the command line cannot be without.
pub(crate) fn required<'a>(args: &'a ArgMatches, name: &str) -> Result<&'a str> {
    text(args, name).ok_or_else(|| Error::Argument(format!("`{name}` is missing")))
}

pub(crate) fn names(args: &ArgMatches, name: &str) -> Vec<String> {
    args.get_many::<String>(name).map(|names| names.cloned().collect()).unwrap_or_default()
}

/// What `--header` and `--no-header` say.
pub(crate) fn header_option(args: &ArgMatches) -> Option<bool> {
    match (args.get_flag("header"), args.get_flag("no-header")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

pub(crate) fn read_options(args: &ArgMatches) -> ReadOptions {
    ReadOptions {
        target: text(args, "target").map(String::from),
        drop: names(args, "drop"),
        header: header_option(args),
        ..ReadOptions::default()
    }
}

pub(crate) fn task(args: &ArgMatches) -> Task {
    let given = text(args, "task");
    TASKS.iter().find(|(name, _)| Some(*name) == given).map_or(Task::Auto, |(_, task)| *task)
}

pub(crate) fn is_json(args: &ArgMatches) -> bool {
    text(args, "format") == Some("json")
}

/// `4GB`, `512 MiB`, `1e9`.
fn bytes(text: &str) -> std::result::Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let units = [
        ("kib", 1u64 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("t", 1_000_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let (number, unit) =
        units.iter().find_map(|(unit, size)| Some((lower.strip_suffix(unit)?, *size))).unwrap_or((&lower, 1));
    match number.trim().parse::<f64>() {
        Ok(count) if count > 0.0 && count.is_finite() => Ok((count * unit as f64) as u64),
        _ => Err("it must be a number above 0 with a unit, such as 500MB or 4GB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(bytes("1e6"), Ok(1_000_000));
        assert!(bytes("-1GB").is_err() && bytes("many").is_err() && bytes("").is_err());
    }
}
