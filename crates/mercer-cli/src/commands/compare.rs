//! `mercer compare`: many methods on the same splits of the rows, evaluated by the predictions from their features.

use std::time::Instant;

use clap::ArgMatches;
use mercer::data::{Scaling, Table};
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::evaluate::folds::ordered_folds;
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::evaluate::{Comparison, Evaluator, Measure};
use mercer::methods;
use mercer::report;
use mercer::{Error, Labels, Options, Pipeline, Result, Rows};

use super::output_target::OutputTarget;
use super::page::{about, write_page};
use super::{ranking, source};
use crate::args;
use crate::context::Context;
use crate::stderr::warn;
use crate::text::plural;

/// Numbers of features for the chart of a report; the table does not show them.
pub(super) const CHART_SIZES: [usize; 9] = [1, 2, 3, 5, 8, 13, 21, 34, 55];

/// What is said where candidates are compared by log-loss.
const WITHOUT_PROBABILITIES: &str = "the baselines `rbf-svm`, `linear-svm` and `kknn` are left out: log-loss needs \
                                     probabilities, which they do not have";

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let data = args::required(args, "data")?;
    source::check_target(args)?;
    args::check_kernel(args)?;
    let mut comparison = from_args(args, context)?;
    let report = args::text(args, "report").map(|path| OutputTarget::checked(path, &[data])).transpose()?;
    let output = args::text(args, "output").map(|path| OutputTarget::checked(path, &[data])).transpose()?;
    if let Some(report) = report {
        report.check_distinct("the report", output, "the table")?;
    }
    let form = ranking::Form::of(args::text(args, "format"), output)?;
    // A report on standard output replaces the table.
    let output = output.or((report != Some(OutputTarget::Stdout)).then_some(OutputTarget::Stdout));
    let for_chart = report.is_some() && args::names(args, "sizes").is_empty();
    if for_chart {
        comparison.sizes.extend(CHART_SIZES.map(Some));
    }

    let (Table { rows, names, kept, .. }, labels, warnings) = source::read_unfilled(args, context)?;
    args::with_names(&mut comparison.settings, &names)?;
    comparison.fill_missing = rows.check_finite(None).is_err();
    source::warn_of_constants(&names, &Scaling::fit(comparison.scale, &rows).1);
    if args.get_flag("ordered") {
        comparison.splits = Some(ordered_folds(rows.n(), comparison.folds)?);
    } else if let Some((_, groups)) = kept.first() {
        comparison.groups = Some(numbered(groups));
    }
    comparison.check(&rows, &labels)?;
    context.announce_resume(comparison.options.checkpoint.as_ref());
    context.info(&announcement(&comparison, &labels));
    let mut outcome = run_comparison(&comparison, &rows, &labels, context)?;
    outcome.warnings.splice(0..0, warnings);
    if comparison.score == Some(Measure::LogLoss) {
        warn(WITHOUT_PROBABILITIES);
        outcome.warnings.push(WITHOUT_PROBABILITIES.into());
    }
    let is_shown = |e: &&Entry| !for_chart || e.asked.is_none() || outcome.is_named(e);
    let shown: Vec<&Entry> = outcome.entries.iter().filter(is_shown).collect();
    for text in ranking::failures(&shown) {
        warn(&text);
    }
    if !for_chart {
        skipped_sizes(&comparison, &labels, &outcome).iter().for_each(|text| warn(text));
    }
    if let Some(output) = output {
        output.write_text(context, &ranking::formatted(&outcome, &shown, form)?)?;
    }
    context.info(&format!("{}\n{:.2} s", ranking::best(&outcome), started.elapsed().as_secs_f64()));
    if let Some(OutputTarget::File(file)) = output {
        context.info(&format!("wrote {file}"));
    }
    if let Some(target) = report {
        let about = about(args, Some(&labels), comparison.seed, settings(&comparison));
        let diagnostics = if outcome.interrupted {
            None
        } else {
            diagnostics(&comparison, &outcome, (&rows, &labels, &names), context)?
        };
        write_page(target, &report::comparison(&outcome, diagnostics.as_ref(), &about), context)?;
    }
    if outcome.interrupted {
        return Err(Error::Interrupted);
    }
    Context::clear_checkpoint(comparison.options.checkpoint.as_ref());
    Ok(())
}

/// What is checked without rows.
pub(crate) fn check(args: &ArgMatches, context: &Context) -> Result<()> {
    source::check_target(args)?;
    ranking::Form::of(args::text(args, "format"), None)?;
    from_args(args, context).map(drop)
}

/// Groups as numbers, in the order of their names.
fn numbered(groups: &[String]) -> Vec<usize> {
    let mut names: Vec<&String> = groups.iter().collect();
    names.sort_unstable();
    names.dedup();
    groups.iter().filter_map(|group| names.binary_search(&group).ok()).collect()
}

/// Warnings about requested numbers of features that a method cannot provide.
fn skipped_sizes(comparison: &Comparison, labels: &Labels, outcome: &Outcome) -> Vec<String> {
    let all = Comparison::all(labels);
    let methods = if comparison.methods.is_empty() { &all } else { &comparison.methods };
    let missing = |size: usize| {
        let there = |method: &&String| {
            outcome.entries.iter().any(|entry| entry.method == **method && entry.asked == Some(size))
        };
        let names: Vec<String> =
            methods.iter().filter(|method| !there(method)).map(|method| format!("`{method}`")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "n_features = {size} is skipped for {}: fewer features than requested are possible here",
                names.join(", ")
            )
        })
    };
    comparison.sizes.iter().flatten().filter_map(|&size| missing(size)).collect()
}

/// The comparison that the arguments describe, checked as far as possible without rows.
fn from_args(args: &ArgMatches, context: &Context) -> Result<Comparison> {
    let settings = args::settings(args);
    for (name, value) in &settings {
        methods::parameter(name)?.parameter.check(value)?;
    }
    let gammas = args::names(args, "gammas");
    let gamma = methods::parameter("gamma")?;
    gammas.iter().try_for_each(|text| gamma.parameter.check(text))?;
    let knn = args::count(args, "knn");
    let evaluator = |name: &String| {
        Evaluator::named(name).map(|evaluator| match evaluator {
            Evaluator::Knn { .. } => Evaluator::Knn { n_neighbors: knn },
            other => other,
        })
    };
    let evaluators =
        distinct(args::names(args, "evaluators")).iter().map(evaluator).collect::<Result<_>>()?;
    let sizes = distinct(args::names(args, "sizes"));
    let default = Comparison::default();
    Ok(Comparison {
        methods: parse_methods(distinct(args::names(args, "methods")))?,
        settings: settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        gammas: if gammas.is_empty() { default.gammas } else { distinct(gammas) },
        sizes: if sizes.is_empty() {
            default.sizes
        } else {
            sizes.iter().map(size).collect::<Result<_>>()?
        },
        evaluators,
        scale: source::scale(args)?,
        fill_missing: false,
        folds: args::count(args, "folds"),
        repeats: args::count(args, "repeats"),
        test_share: args.get_one("test-share").copied(),
        splits: None,
        groups: None,
        keep_predictions: false,
        score: args::text(args, "score").map(Measure::named).transpose()?,
        seed: args.get_one("seed").copied().unwrap_or_default(),
        options: args::options(args, context)?,
    })
}

/// The requested methods; an empty list: all that can handle the target.
fn parse_methods(names: Vec<String>) -> Result<Vec<String>> {
    if names.iter().any(|name| name == "all") {
        return match &names[..] {
            [_] => Ok(Vec::new()),
            _ => Err(Error::Argument(
                "methods = all cannot be combined with names\nhint: give `all`, or the names".into(),
            )),
        };
    }
    for name in &names {
        super::check_makes_features(name, "--methods", "all")?;
    }
    Ok(names)
}

fn size(text: &String) -> Result<Option<usize>> {
    match text.parse() {
        _ if text == "own" => Ok(None),
        Ok(size) if size > 0 => Ok(Some(size)),
        _ => Err(Error::Argument(format!(
            "n_features = {text}, but it must be `own` or a whole number of at least 1"
        ))),
    }
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn announcement(comparison: &Comparison, labels: &Labels) -> String {
    let methods =
        if comparison.methods.is_empty() { Comparison::all(labels).len() } else { comparison.methods.len() };
    let evaluators: Vec<&str> = comparison.evaluators.iter().map(Evaluator::name).collect();
    let splits = match comparison.test_share {
        Some(share) => format!("{}, {share} of the rows for testing", plural(comparison.repeats, "split")),
        None if comparison.repeats == 1 => format!("{} folds", comparison.folds),
        None => format!("{} times {} folds", comparison.repeats, comparison.folds),
    };
    format!(
        "comparing {}, evaluated with {}, on {splits}",
        plural(methods, "method"),
        evaluators.join(" and ")
    )
}

/// Runs a comparison; after Ctrl-C the finished splits are its result.
pub(super) fn run_comparison(
    comparison: &Comparison,
    rows: &Rows,
    labels: &Labels,
    context: &Context,
) -> Result<Outcome> {
    let outcome = context.work_until_stopped(|_| comparison.run(rows, labels))?;
    outcome.warnings.iter().for_each(|warning| warn(warning));
    Ok(outcome)
}

/// Diagnostics of the recommended candidate, fitted on all rows; None, with a warning, if that fails.
pub(super) fn diagnostics(
    comparison: &Comparison,
    outcome: &Outcome,
    (rows, labels, names): (&Rows, &Labels, &[String]),
    context: &Context,
) -> Result<Option<FitDiagnostics>> {
    let Some((entry, pipeline)) = best_pipeline(comparison, outcome, labels, rows.n())? else {
        return Ok(None);
    };
    let filled = source::filled(rows, comparison.fill_missing)?;
    let rows = filled.as_ref().unwrap_or(rows);
    let scaled = Scaling::fit(comparison.scale, rows).0.map(|scaling| scaling.apply(rows)).transpose()?;
    let (rows, seed) = (scaled.as_ref().unwrap_or(rows), comparison.seed);
    // The comparison's checkpoint is not that of a fit.
    let options = Options { checkpoint: None, ..comparison.options.clone() };
    let found = context.work(|_| FitDiagnostics::of(&pipeline, rows, Some(labels), names, seed, &options));
    match found {
        Ok((diagnostics, _)) => Ok(Some(diagnostics)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            warn(&format!("`{}` could not be fitted on all rows for the report: {error}", entry.method));
            Ok(None)
        }
    }
}

/// The recommended entry, and how to fit it again; else the best one that is not a baseline.
fn best_pipeline<'a>(
    comparison: &Comparison,
    outcome: &'a Outcome,
    labels: &Labels,
    n: usize,
) -> Result<Option<(&'a Entry, Pipeline)>> {
    let first = outcome.recommended();
    for entry in first.into_iter().chain(&outcome.entries).filter(|entry| entry.mean().is_some()) {
        if let Some(pipeline) = comparison.pipeline(entry, labels, n)? {
            return Ok(Some((entry, pipeline)));
        }
    }
    Ok(None)
}

/// The settings that a report lists.
pub(super) fn settings(comparison: &Comparison) -> Vec<(String, String)> {
    let evaluators: Vec<&str> = comparison.evaluators.iter().map(Evaluator::name).collect();
    let mut all = vec![
        ("gamma".to_string(), comparison.gammas.join(", ")),
        ("evaluators".to_string(), evaluators.join(", ")),
        ("scale".to_string(), source::scale_name(comparison.scale).to_string()),
    ];
    all.extend(comparison.score.map(|score| ("score".to_string(), score.name().to_string())));
    match comparison.test_share {
        Some(share) => all.push(("test_share".into(), share.to_string())),
        None => all.push(("folds".into(), comparison.folds.to_string())),
    }
    all.push(("repeats".into(), comparison.repeats.to_string()));
    all.extend(comparison.settings.iter().cloned());
    all
}
