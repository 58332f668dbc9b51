//! Reads rows and their target, for `fit`, `compare` and `advise`.

use clap::ArgMatches;
use mercer::data::encode::Medians;
use mercer::data::{Encoder, Scale, Scaling, Table, Task, Weights, read};
use mercer::{Error, Labels, Result, Rows};

use crate::args;
use crate::context::Context;
use crate::stderr::{warn, with_flags};
use crate::text::first;

/// Usual names of a target column, in lower case.
const TARGET_NAMES: [&str; 4] = ["target", "class", "label", "y"];

/// The most classes, and constant columns, that a message names.
const NAMES_SHOWN: usize = 5;

/// Reads the rows that the arguments name, and the labels if there is a target. Warns if it is not obvious whether they are
/// classes or numbers; the warning is returned, too, for lists of warnings.
pub(super) fn read(args: &ArgMatches, context: &Context) -> Result<(Table, Option<Labels>, Vec<String>)> {
    read_with(args, context, true)
}

/// `filled`: whether missing values are filled at once; else they stay NaN, and the medians are learned in each training part.
fn read_with(
    args: &ArgMatches,
    context: &Context,
    filled: bool,
) -> Result<(Table, Option<Labels>, Vec<String>)> {
    let mut table = read::read(args::required(args, "data")?, &args::read_options(args, filled))?;
    tell(&table, context);
    let mut warnings = table.warnings.clone();
    let told = warnings.len();
    let labels = match (table.target.take(), args::task(args)) {
        (Some(column), task) => Some(Labels::decide_with(column, task, &mut warnings)?),
        (None, Task::Auto) => None,
        (None, _) => {
            return Err(Error::Argument(
                "a task was given, but there is no target\nhint: name it: `--target COL`".into(),
            ));
        }
    };
    describe(args, &table, labels.as_ref(), context);
    warnings[told..].iter().for_each(|warning| warn(warning));
    Ok((table, labels, warnings))
}

/// What each row counts, by its own weight and that of its class; None: all the same.
pub(super) fn weights(args: &ArgMatches, table: &Table, labels: Option<&Labels>) -> Result<Option<Weights>> {
    let own = args::text(args, "weights").map(|name| {
        let texts = table.kept.iter().find(|(kept, _)| kept == name).map(|(_, texts)| &texts[..]).unwrap_or_default();
        let number = |(row, text): (usize, &String)| {
            text.trim().parse().map_err(|_| {
                Error::Data(format!(
                    "the weight in column `{name}` of row {} is `{text}`, but it must be a number of at least 0",
                    row + 1
                ))
            })
        };
        Weights::new(texts.iter().enumerate().map(number).collect::<Result<_>>()?)
    });
    let by_class = args::text(args, "class-weight").map(|_| {
        let labels = labels.ok_or_else(no_target)?;
        Weights::balanced(labels)
    });
    match (own.transpose()?, by_class.transpose()?) {
        (Some(own), Some(by_class)) => own.times(&by_class).map(Some),
        (own, by_class) => Ok(own.or(by_class)),
    }
}

/// What the user should know of how the rows were read.
pub(super) fn tell(table: &Table, context: &Context) {
    table.notes.iter().for_each(|note| context.info(&with_flags(note)));
    table.warnings.iter().for_each(|warning| warn(warning));
}

/// Reads rows and labels, for a command that needs a target. Generators always have one.
pub(super) fn read_labelled(args: &ArgMatches, context: &Context) -> Result<(Table, Labels, Vec<String>)> {
    labelled(read_with(args, context, true)?)
}

/// As [`read_labelled`], for a command that splits the rows: missing numbers are NaN, to be filled in each training part.
pub(super) fn read_unfilled(args: &ArgMatches, context: &Context) -> Result<(Table, Labels, Vec<String>)> {
    labelled(read_with(args, context, false)?)
}

fn labelled(
    (table, labels, warnings): (Table, Option<Labels>, Vec<String>),
) -> Result<(Table, Labels, Vec<String>)> {
    labels.map(|labels| (table, labels, warnings)).ok_or_else(no_target)
}

/// An error if no target was named and the data is not generated. Checked before anything is read.
pub(super) fn check_target(args: &ArgMatches) -> Result<()> {
    let generated = args::required(args, "data")?.starts_with("synth:");
    if generated || args::text(args, "target").is_some() { Ok(()) } else { Err(no_target()) }
}

fn no_target() -> Error {
    Error::Argument("this command needs a target\nhint: name it: `--target COL`".into())
}

/// The requested scaling; a precomputed kernel matrix is never scaled.
pub(super) fn scale(args: &ArgMatches) -> Result<Scale> {
    let precomputed = args::text(args, "kernel") == Some("precomputed");
    match args::text(args, "scale") {
        None | Some("none") if precomputed => Ok(Scale::None),
        Some(name) if precomputed => Err(Error::Argument(format!(
            "scale = {name}, but a precomputed kernel cannot be scaled\nhint: leave `--scale` out"
        ))),
        None => Ok(Scale::default()),
        Some(name) => name.parse(),
    }
}

pub(super) fn scale_name(scale: Scale) -> &'static str {
    Scale::NAMES.iter().find(|(_, s)| *s == scale).map_or("", |(name, _)| name)
}

/// The scaled rows and the scaling, with a warning about constant columns.
pub(super) fn scaled(
    scale: Scale,
    names: &[String],
    rows: Rows<'static>,
) -> Result<(Option<Scaling>, Rows<'static>)> {
    let (scaling, constant) = Scaling::fit(scale, &rows);
    warn_of_constants(names, &constant);
    let rows = match &scaling {
        Some(scaling) => scaling.apply(&rows)?,
        None => rows,
    };
    Ok((scaling, rows))
}

/// The rows with missing values filled by the medians of all of them; None if nothing is missing.
pub(super) fn filled(rows: &Rows, missing: bool) -> Result<Option<Rows<'static>>> {
    missing.then(|| Medians::fit(rows).apply(rows)).transpose()
}

/// Warns about constant columns.
pub(super) fn warn_of_constant_columns(names: &[String], rows: &Rows) {
    warn_of_constants(names, &Scaling::fit(Scale::None, rows).1);
}

pub(super) fn task_name(labels: &Labels) -> &'static str {
    match labels {
        Labels::Classes { .. } => "classification",
        Labels::Numbers(_) | Labels::Several { .. } => "regression",
    }
}

fn describe(args: &ArgMatches, table: &Table, labels: Option<&Labels>, context: &Context) {
    let (n, p) = (table.rows.n(), table.rows.p());
    let target = match labels {
        None => "no target".into(),
        Some(Labels::Classes { names, .. }) => {
            format!("a target of {} classes ({})", names.len(), first(names, NAMES_SHOWN))
        }
        Some(Labels::Numbers(_)) => "a target of numbers".into(),
        Some(Labels::Several { count, .. }) => format!("{count} targets"),
    };
    context.info(&format!("read {n} rows of {p} inputs and {target}"));
    let names = table.encoder.as_ref().map(Encoder::inputs);
    let names = names.as_ref().unwrap_or(&table.names);
    let suspect = names.iter().find(|name| TARGET_NAMES.contains(&name.to_lowercase().as_str()));
    if args::text(args, "target").is_none()
        && let Some(name) = suspect
    {
        warn(&format!(
            "column `{name}` is used as an input\nhint: if it is the target, add `--target {name}`; to leave it out, add \
             `--drop {name}`"
        ));
    }
}

pub(super) fn warn_of_constants(names: &[String], constant: &[usize]) {
    if constant.is_empty() {
        return;
    }
    let quoted: Vec<String> = constant.iter().map(|&j| format!("`{}`", names[j])).collect();
    let (column, are, have) =
        if constant.len() == 1 { ("column", "is", "has") } else { ("columns", "are", "have") };
    warn(&format!(
        "{} {column} {are} constant and {have} no effect: {}",
        constant.len(),
        first(&quoted, NAMES_SHOWN)
    ));
}
