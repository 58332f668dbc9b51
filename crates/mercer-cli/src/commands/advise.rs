//! `mercer advise`: whether a kernel helps on these rows, and which method to start with.

use std::time::Instant;

use clap::ArgMatches;
use mercer::data::{Scaling, Table};
use mercer::evaluate::advice::Advice;
use mercer::evaluate::advise::Adviser;
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::{Error, Labels, Options, Pipeline, Result, Rows, report};
use serde_json::json;

use super::output_target::OutputTarget;
use super::page::{about, write_page};
use super::source;
use crate::args;
use crate::context::Context;
use crate::quote::{self, flag};
use crate::stderr::warn;
use crate::stdout::print;
use crate::text::table;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let data = args::required(args, "data")?;
    if let Some(column) = args::text(args, "groups") {
        return Err(Error::Argument(format!(
            "groups = {column} is given, but `advise` keeps no rows together\nhint: `mercer compare` does (groups = {column})"
        )));
    }
    source::check_target(args)?;
    let scale = source::scale(args)?;
    let options = args::options(args, context)?;
    let report = args::text(args, "report").map(|path| OutputTarget::checked(path, &[data])).transpose()?;

    let (Table { rows, names, .. }, labels, warnings) = source::read_unfilled(args, context)?;
    source::warn_of_constants(&names, &Scaling::fit(scale, &rows).1);
    let fill_missing = rows.check_finite(None).is_err();
    let seed = args.get_one("seed").copied().unwrap_or_default();
    let adviser = Adviser { seed, scale, options, fill_missing, ..Adviser::default() };
    context.announce_resume(adviser.options.checkpoint.as_ref());
    context.info("trying kernel widths, basis sizes and a few methods");
    let mut advice = context.work(|_| adviser.advise(&rows, &labels))?;
    advice.warnings.iter().for_each(|warning| warn(warning));
    advice.warnings.splice(0..0, warnings);
    let command = command(args, &advice);
    // A report on standard output replaces the text.
    if report != Some(OutputTarget::Stdout) {
        print(&if args::is_json(args) {
            let mut all = advice.to_json();
            all["command"] = json!(command);
            format!("{all:#}\n")
        } else {
            format!("{}\n{command}\n", text(&advice))
        })?;
    }
    context.info(&format!("{} rows used, {:.2} s", advice.rows, started.elapsed().as_secs_f64()));
    if let Some(target) = report {
        let settings = vec![("scale".to_string(), source::scale_name(scale).to_string())];
        let about = about(args, Some(&labels), seed, settings);
        let diagnostics = diagnostics(&adviser, &advice, (&rows, &labels, &names), context)?;
        write_page(target, &report::advice(&advice, diagnostics.as_ref(), &about), context)?;
    }
    Context::clear_checkpoint(adviser.options.checkpoint.as_ref());
    Ok(())
}

/// The command that follows the advice.
fn command(args: &ArgMatches, advice: &Advice) -> String {
    let mut words = vec!["mercer fit".to_string(), quote::file(args::text(args, "data").unwrap_or_default())];
    for name in ["target", "scale"] {
        words.extend(args::text(args, name).map(|value| flag(name, value)));
    }
    words.extend(args::text(args, "task").filter(|task| *task != "auto").map(|task| flag("task", task)));
    for name in ["inputs", "drop", "categorical"] {
        let columns = args::names(args, name);
        if !columns.is_empty() {
            words.push(flag(name, &columns.join(",")));
        }
    }
    words.extend(args::text(args, "missing").filter(|how| *how != "fill").map(|how| flag("missing", how)));
    for name in ["sep", "decimal"] {
        let word = |byte| if byte == b'\t' { "tab".to_string() } else { char::from(byte).to_string() };
        words.extend(args::byte(args, name).map(|byte| flag(name, &word(byte))));
    }
    words.extend(
        args::header_option(args).map(|yes| if yes { "--header" } else { "--no-header" }.to_string()),
    );
    words.push(flag("method", &advice.method));
    words.extend(advice.settings.iter().map(|(name, value)| flag(&args::flag_name(name), value)));
    words.extend(args::text(args, "device").filter(|name| *name != "cpu").map(|name| flag("device", name)));
    words.push("-o model.mercer".into());
    words.join(" ")
}

fn text(advice: &Advice) -> String {
    let reasons: Vec<String> = advice.reasons.iter().map(|reason| format!("  {reason}")).collect();
    let findings: Vec<Vec<String>> = advice
        .findings
        .iter()
        .map(|f| vec![format!("  {}", f.name), f.value.clone(), f.meaning.clone()])
        .collect();
    format!(
        "{}\n  task: {}\n{}\n\n{}",
        advice.headline(),
        advice.task(),
        reasons.join("\n"),
        table(&findings, ..0)
    )
}

/// Diagnostics of the recommended method, fitted on all rows; None, with a warning, if that fails.
fn diagnostics(
    adviser: &Adviser,
    advice: &Advice,
    (rows, labels, names): (&Rows, &Labels, &[String]),
    context: &Context,
) -> Result<Option<FitDiagnostics>> {
    let filled = source::filled(rows, adviser.fill_missing)?;
    let rows = filled.as_ref().unwrap_or(rows);
    let scaling = Scaling::fit(adviser.scale, rows).0;
    let found = Pipeline::new(&advice.method, &advice.settings).and_then(|pipeline| {
        let scaled = scaling.as_ref().map(|scaling| scaling.apply(rows)).transpose()?;
        let (rows, seed) = (scaled.as_ref().unwrap_or(rows), adviser.seed);
        // The adviser's checkpoint is not that of a fit.
        let options = Options { checkpoint: None, ..adviser.options.clone() };
        context.work(|_| FitDiagnostics::of(&pipeline, rows, Some(labels), names, seed, &options))
    });
    match found {
        Ok((diagnostics, _)) => Ok(Some(diagnostics)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            warn(&format!("`{}` could not be fitted on all rows for the report: {error}", advice.method));
            Ok(None)
        }
    }
}
