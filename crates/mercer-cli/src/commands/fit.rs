//! `mercer fit`: rows in, a model out.

use std::path::Path;
use std::time::Instant;

use clap::ArgMatches;
use mercer::basis::{Stop, bytes};
use mercer::data::write::check_place;
use mercer::data::{Scale, Scaling, Table, Task, read};
use mercer::{Basis, Error, FeatureMap, FittedBasis, Labels, Result, Shape, methods};
use serde_json::json;

use crate::args;
use crate::context::Context;
use crate::talk::{first, short, warn};

/// Names that a target is often given, in lower case.
const TARGET_NAMES: [&str; 4] = ["target", "class", "label", "y"];

/// Constant columns that a warning names.
const NAMED: usize = 5;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let (source, output) = (args::required(args, "data")?, args::required(args, "output")?);
    let mut basis = methods::basis(args::required(args, "method")?, &args::settings(args))?;
    basis.memory = args.get_one("memory").copied().unwrap_or(basis.memory);
    basis.monitor = context.monitor.clone();
    let scale = scale(args, &basis)?;
    check_place(output)?;
    super::not_itself(output, &[source])?;

    let mut table = read::read(source, &args::read_options(args))?;
    let labels = labels(args, &mut table)?;
    describe(args, &table, labels.as_ref(), context);
    let (scaling, constant) = Scaling::fit(scale, &table.rows);
    warn_of_constants(&table.names, &constant);
    let rows = match &scaling {
        Some(scaling) => scaling.apply(&table.rows)?,
        None => table.rows,
    };
    let memory = bytes(basis.estimated_memory(rows.n()));
    context.say(&format!("fitting `{}`, which takes up to {memory} beside the data", basis.method.name()));
    let fitted = context.work(|_| basis.fit_with(&rows, labels.as_ref(), false))?.0;
    fitted.warnings.iter().for_each(|warning| warn(warning));

    let summary = summary(&fitted, started);
    let mut map = FeatureMap::from(fitted);
    map.scaling = scaling;
    map.input_names = table.named.then_some(table.names);
    let facts = [
        ("source", json!(file_name(source))),
        ("scale", json!(scale_name(scale))),
        ("seed", json!(basis.seed)),
        ("settings", args::settings(args).into_iter().collect()),
        ("target", labels.as_ref().map(|_| args::text(args, "target").unwrap_or("target")).into()),
        ("task", labels.as_ref().map(task_name).into()),
    ];
    map.facts.extend(facts.map(|(name, value)| (name.to_string(), value)));
    context.write(|| map.save(output))?;
    context.say(&format!("{summary}\nwrote {output}"));
    Ok(())
}

/// A kernel matrix is not scaled: its columns are rows.
fn scale(args: &ArgMatches, basis: &Basis) -> Result<Scale> {
    match (args::text(args, "scale"), basis.shape) {
        (None | Some("none"), Shape::Precomputed) => Ok(Scale::None),
        (Some(name), Shape::Precomputed) => Err(Error::Argument(format!(
            "scale = {name}, but a precomputed kernel cannot be scaled\nhint: leave `--scale` out"
        ))),
        (None, _) => Ok(Scale::default()),
        (Some(name), _) => name.parse(),
    }
}

fn scale_name(scale: Scale) -> &'static str {
    Scale::NAMES.iter().find(|(_, s)| *s == scale).map_or("", |(name, _)| name)
}

fn labels(args: &ArgMatches, table: &mut Table) -> Result<Option<Labels>> {
    match (table.target.take(), args::task(args)) {
        (Some(column), task) => Labels::decide(column, task).map(Some),
        (None, Task::Auto) => Ok(None),
        (None, _) => Err(Error::Argument(
            "the task says what the target holds, but there is no target\nhint: name it: `--target COL`"
                .into(),
        )),
    }
}

fn task_name(labels: &Labels) -> &'static str {
    match labels {
        Labels::Classes { .. } => "classes",
        Labels::Numbers(_) => "numbers",
    }
}

fn describe(args: &ArgMatches, table: &Table, labels: Option<&Labels>, context: &Context) {
    let (n, p) = (table.rows.n(), table.rows.p());
    let target = match labels {
        None => "no target".into(),
        Some(Labels::Classes { names, .. }) => {
            format!("a target of {} classes ({})", names.len(), first(names, NAMED))
        }
        Some(Labels::Numbers(_)) => "a target of numbers".into(),
    };
    context.say(&format!("read {n} rows of {p} inputs and {target}"));
    let suspect = table.names.iter().find(|name| TARGET_NAMES.contains(&name.to_lowercase().as_str()));
    if args::text(args, "target").is_none()
        && let Some(name) = suspect
    {
        warn(&format!(
            "column `{name}` is used as an input\nhint: if it is what to learn, say so: `--target {name}`; to leave it \
             out: `--drop {name}`"
        ));
    }
}

fn warn_of_constants(names: &[String], constant: &[usize]) {
    if constant.is_empty() {
        return;
    }
    let quoted: Vec<String> = constant.iter().map(|&j| format!("`{}`", names[j])).collect();
    let (column, are) = if constant.len() == 1 { ("column", "is") } else { ("columns", "are") };
    warn(&format!(
        "{} {column} {are} constant, which does no harm and no good: {}",
        constant.len(),
        first(&quoted, NAMED)
    ));
}

fn summary(fitted: &FittedBasis, started: Instant) -> String {
    let stop = match fitted.stop {
        Stop::Rule => "its own rule",
        Stop::Cap => "the largest number of components",
        Stop::Rank => "having spanned all rows",
    };
    let m = fitted.n_components();
    format!(
        "{m} component{}, residual {}, {} kernel values, stopped by {stop}, {:.2} s",
        if m == 1 { "" } else { "s" },
        short(fitted.residual),
        fitted.n_kernel_evaluations,
        started.elapsed().as_secs_f64()
    )
}

/// The name without its folder: a model is no place for the layout of a disk.
fn file_name(source: &str) -> &str {
    match source {
        "-" => "standard input",
        _ if source.starts_with("synth:") => source,
        _ => Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or(source),
    }
}
