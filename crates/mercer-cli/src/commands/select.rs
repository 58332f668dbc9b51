//! `mercer select`: rows in, the best columns out, as a table and as a model.

use std::time::Instant;

use clap::ArgMatches;
use mercer::data::{Encoder, Table};
use mercer::map::{Facts, SelectedColumns};
use mercer::methods;
use mercer::pipeline::ColumnSelection;
use mercer::{Error, Result};

use super::output_target::OutputTarget;
use super::ranking::Form;
use super::{column_table, source};
use crate::args;
use crate::context::Context;
use crate::stderr::warn;
use crate::text::first;

/// The most columns that the summary names.
const COLUMNS_SHOWN: usize = 5;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let data = args::required(args, "data")?;
    let mut selection = selection(args)?;
    let scale = source::scale(args)?;
    let mut options = args::options(args, context)?;
    let target =
        |name: &str| args::text(args, name).map(|path| OutputTarget::checked(path, &[data])).transpose();
    let (table, output) = (target("output")?, target("model")?);
    let form = Form::of(args::text(args, "format"), table)?;
    if let Some(output) = output {
        output.check_not_a_terminal()?;
        output.check_distinct("the model", Some(table.unwrap_or(OutputTarget::Stdout)), "the table")?;
    }

    let (table_read, labels, _) = source::read(args, context)?;
    let labels = labels.as_ref();
    options.weights = source::weights(args, &table_read, labels)?;
    let Table { rows, names, named, encoder, .. } = table_read;
    selection.check(labels)?;
    let chosen = args::names(args, "categorical-features");
    selection.categorical = categorical(&chosen, &names)?;
    let (_, rows) = source::scaled(scale, &names, rows)?;
    let mut found = context.work(|_| selection.fit(&rows.on(options.device)?, labels, &options))?;
    found.warnings.iter().for_each(|warning| warn(warning));
    found.model.facts = Facts {
        source: Some(super::file_name(data).into()),
        scale: Some(source::scale_name(scale).into()),
        target: labels.map(|_| args::text(args, "target").unwrap_or("target").into()),
        task: labels.map(|labels| source::task_name(labels).into()),
        ..found.model.facts
    };
    if !chosen.is_empty() {
        found.model.facts.settings.insert("categorical_features".into(), chosen.join(","));
    }
    found.model.input_names = Some(names);
    if found.model.columns.is_empty() {
        let text = "no column is kept: no score is good enough";
        if output.is_some() {
            return Err(Error::Data(format!(
                "{text}, so there is no model to write\n\
                 hint: leave `--model` out, raise `--level` of fpr, fdr and fwe, or keep a number of columns by another method"
            )));
        }
        warn(text);
    }

    let encoder = encoder.filter(|_| output.is_some());
    if let Some(encoder) = &encoder {
        check_not_made(&found.model, encoder)?;
    }

    let text = column_table::formatted(&found, selection.resamples, form)?;
    table.unwrap_or(OutputTarget::Stdout).write_text(context, &text)?;
    if matches!(form, Form::Json | Form::Csv) || table.is_some() {
        column_table::about_noise(&found).iter().for_each(|noise| warn(noise));
    }
    let mut summary = summary(&found.model, selection.resamples);
    if let Some(OutputTarget::File(file)) = table {
        summary += &["\nwrote ", file].concat();
    }
    if let Some(output) = output {
        // Columns without names of their own are matched by place.
        found.model.input_names = found.model.input_names.filter(|_| named);
        output.write_columns(context, &found.model)?;
        summary += &["\nwrote ", output.name()].concat();
        if encoder.is_some_and(|encoder| has_gaps(&found.model, &encoder)) {
            summary += ", which keeps columns as they are: missing values were filled to score them, but stay missing";
        }
    }
    context.info(&format!("{summary}\n{:.2} s", started.elapsed().as_secs_f64()));
    Ok(())
}

/// An error if a column is kept that is not in the file.
fn check_not_made(model: &SelectedColumns, encoder: &Encoder) -> Result<()> {
    let raw = encoder.inputs();
    match model.feature_names().into_iter().find(|name| !raw.contains(name)) {
        Some(name) => Err(Error::Data(format!(
            "`{name}` is made of a column that holds text, dates or gaps, and a model keeps columns as they are\n\
             hint: leave `--model` out, or choose among other columns (`--drop`, `--inputs`)"
        ))),
        None => Ok(()),
    }
}

/// Whether values of the columns kept are missing.
fn has_gaps(model: &SelectedColumns, encoder: &Encoder) -> bool {
    let made = encoder.names();
    model.feature_names().iter().any(|name| made.contains(&format!("{name} missing")))
}

/// What is checked without rows.
pub(crate) fn check(args: &ArgMatches) -> Result<()> {
    source::scale(args)?;
    Form::of(args::text(args, "format"), None)?;
    selection(args)?.check(None)
}

/// Places of columns of numbers that hold names of categories.
fn categorical(chosen: &[String], names: &[String]) -> Result<Vec<usize>> {
    let place = |name: &String| {
        if let Some(at) = names.iter().position(|other| other == name) {
            return Ok(at);
        }
        let encoded = format!("{name}=");
        Err(Error::Argument(if names.iter().any(|other| other.starts_with(&encoded)) {
            format!(
                "categorical-features = {name}, but this column is encoded as one column a value\n\
                 hint: leave it out: every value is scored by itself; or give a column of numbers"
            )
        } else {
            format!(
                "categorical-features = {name}, but no input column has this name; they are {}",
                first(names, COLUMNS_SHOWN)
            )
        }))
    };
    chosen.iter().map(place).collect()
}

/// What is kept, and why there is no stability if there is none.
fn summary(model: &SelectedColumns, resamples: usize) -> String {
    let (kept, p) = (model.feature_names(), model.n_inputs);
    let named = if kept.is_empty() { String::new() } else { format!(": {}", first(&kept, COLUMNS_SHOWN)) };
    let summary = format!("{} keeps {} of {p} columns{named}", model.method, kept.len());
    if kept.len() == p && model.stability.is_none() && resamples > 0 {
        return format!(
            "{summary}\nevery column is kept, so there is no stability to show\n\
             hint: keep fewer, such as `--n-features 5`"
        );
    }
    summary
}

/// The selection that `--method` and the flags describe.
fn selection(args: &ArgMatches) -> Result<ColumnSelection> {
    let method = args::required(args, "method")?;
    let seed: u64 = args.get_one("seed").copied().unwrap_or_default();
    let has_seed = methods::column_selector_specs().any(|spec| spec.name == method && spec.has("seed"));
    let parameters = methods::column_selector_parameters();
    let mut settings: Vec<(&str, String)> = parameters
        .iter()
        .filter(|parameter| parameter.name != "seed")
        .filter_map(|parameter| Some((parameter.name, args::text(args, parameter.name)?.to_string())))
        .collect();
    // Zero is the default, which is not worth a line among the settings of a model.
    settings.extend((has_seed && seed > 0).then(|| ("seed", seed.to_string())));
    let settings: Vec<(String, String)> =
        settings.into_iter().map(|(name, value)| (name.into(), value)).collect();
    Ok(ColumnSelection {
        resamples: args::count(args, "resamples"),
        permutations: args::count(args, "permutations"),
        seed,
        ..ColumnSelection::new(method, &settings)?
    })
}
