//! `mercer select`: rows in, the best columns out, as a table and as a model.

use std::time::Instant;

use clap::ArgMatches;
use mercer::data::Table;
use mercer::map::Facts;
use mercer::methods;
use mercer::pipeline::{ColumnSelection, FittedColumns};
use mercer::select::Overlap;
use mercer::{Error, Result};
use serde_json::json;

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
    let selection = selection(args)?;
    let scale = source::scale(args)?;
    let options = args::options(args, &context.monitor)?;
    let target =
        |name: &str| args::text(args, name).map(|path| OutputTarget::checked(path, &[data])).transpose();
    let (table, output) = (target("output")?, target("model")?);
    let form = Form::of(args::text(args, "format"), table)?;
    if let Some(output) = output {
        output.check_not_a_terminal()?;
        output.check_distinct("the model", Some(table.unwrap_or(OutputTarget::Stdout)), "the table")?;
    }

    let (Table { rows, names, named, .. }, labels, _) = source::read(args, context)?;
    let labels = labels.as_ref();
    selection.check(labels)?;
    let (_, rows) = source::scaled(scale, &names, rows)?;
    let FittedColumns { mut model, overlap, warnings } =
        context.work(|_| selection.fit(&rows, labels, &options))?;
    warnings.iter().for_each(|warning| warn(warning));
    model.facts = Facts {
        source: Some(super::file_name(data).into()),
        scale: Some(source::scale_name(scale).into()),
        target: labels.map(|_| args::text(args, "target").unwrap_or("target").into()),
        task: labels.map(|labels| source::task_name(labels).into()),
        ..model.facts
    };
    model.input_names = Some(names);
    if model.columns.is_empty() {
        let text = "no column is kept: no score is good enough";
        if output.is_some() {
            return Err(Error::Data(format!(
                "{text}, so there is no model to write\n\
                 hint: leave `--model` out, raise `--level` of fpr, fdr and fwe, or keep a number of columns by another method"
            )));
        }
        warn(text);
    }

    let noise = overlap.filter(|overlap| overlap.may_be_chance).map(about_noise);
    let text = match (form, &noise) {
        (Form::Json, _) => {
            let resamples = overlap.map(|Overlap { mean, by_chance, may_be_chance }| {
                json!({ "count": selection.resamples, "overlap": mean, "by_chance": by_chance, "may_be_noise": may_be_chance })
            });
            let all = json!({ "method": model.method, "rows": rows.n(), "inputs": rows.p(), "kept": model.feature_names(),
                              "resamples": resamples, "columns": column_table::entries(&model) });
            format!("{all:#}\n")
        }
        (Form::Text | Form::Markdown, Some(noise)) => {
            format!("{}\n{noise}\n", column_table::formatted(&model, form)?)
        }
        _ => column_table::formatted(&model, form)?,
    };
    table.unwrap_or(OutputTarget::Stdout).write_text(context, &text)?;
    if matches!(form, Form::Json | Form::Csv) || table.is_some() {
        noise.iter().for_each(|noise| warn(noise));
    }
    let kept = model.feature_names();
    if kept.len() == rows.p() && model.stability.is_none() && selection.resamples > 0 {
        context.info("every column is kept, so there is no stability to show\nhint: keep fewer, such as `--n-features 5`");
    }
    context.info(&format!(
        "{} keeps {} of {} columns{}{} ({:.2} s)",
        model.method,
        kept.len(),
        rows.p(),
        if kept.is_empty() { "" } else { ": " },
        first(&kept, COLUMNS_SHOWN),
        started.elapsed().as_secs_f64()
    ));
    if let Some(OutputTarget::File(file)) = table {
        context.info(&format!("wrote {file}"));
    }
    if let Some(output) = output {
        // Columns without names of their own are matched by place.
        model.input_names = model.input_names.filter(|_| named);
        output.write_columns(context, &model)?;
        context.info(&format!("wrote {}", output.name()));
    }
    Ok(())
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

fn about_noise(Overlap { mean, by_chance, .. }: Overlap) -> String {
    format!(
        "The columns kept change from one half of the rows to the other (overlap {mean:.2}, by chance {by_chance:.2}): these \
         scores may be noise, or many columns equally good."
    )
}
