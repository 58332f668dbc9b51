//! `mercer fit`: rows in, a model out.

use std::time::Instant;

use clap::ArgMatches;
use mercer::basis::Stop;
use mercer::data::Table;
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::map::Facts;
use mercer::options::bytes;
use mercer::pipeline::Head;
use mercer::{FeatureMap, Pipeline, Result};

use super::learn;
use super::output_target::OutputTarget;
use super::page::{about, write_page};
use super::source;
use crate::args;
use crate::context::Context;
use crate::stderr::warn;
use crate::text::{first, percent, plural, short};

/// The most features that the summary lists.
const FEATURES_SHOWN: usize = 3;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    if args::required(args, "method")? == learn::NAME {
        return learn::run(args, context);
    }
    let started = Instant::now();
    let source = args::required(args, "data")?;
    let mut pipeline = read_pipeline(args, &[])?;
    let mut options = args::options(args, context)?;
    args::check_kernel(args)?;
    let scale = source::scale(args)?;
    let output = OutputTarget::checked(args::required(args, "output")?, &[source])?;
    output.check_not_a_terminal()?;
    let report = args::text(args, "report").map(|path| OutputTarget::checked(path, &[source])).transpose()?;
    output.check_distinct("the model", report, "the report")?;

    let (table, labels, _) = source::read(args, context)?;
    options.weights = source::weights(args, &table, labels.as_ref())?;
    let Table { rows, names, named, encoder, .. } = table;
    if args::text(args, "kernel").is_some_and(|kernel| kernel.contains("columns")) {
        pipeline = read_pipeline(args, &names)?;
    }
    let (scaling, rows) = source::scaled(scale, &names, rows)?;
    let labels = labels.as_ref();
    pipeline.check(labels)?;
    let mut warnings = Vec::new();
    let basis = pipeline.basis(&rows, labels, &mut warnings)?;
    warnings.iter().for_each(|warning| warn(warning));
    pipeline.check_memory(&basis, rows.n(), &options)?;
    let memory = bytes(pipeline.estimated_memory(&basis, rows.n(), &options));
    context.announce_resume(options.checkpoint.as_ref());
    context.info(&format!("fitting {}, which needs up to {memory} besides the data", pipeline.title(&basis)));
    let (diagnostics, fitted) = if report.is_some() {
        let found = |_: &_| FitDiagnostics::of(&pipeline, &rows, labels, &names, basis.seed, &options);
        context.work(found).map(|(diagnostics, fitted)| (Some(diagnostics), fitted))?
    } else {
        (None, context.work(|_| pipeline.fit(&rows, labels, &options))?)
    };
    fitted.warnings.iter().filter(|text| !warnings.contains(text)).for_each(|warning| warn(warning));
    let mut map = fitted.map;
    let weights = fitted.weights.map(|found| format!("\n{}", learn::heaviest(&found, &names)));
    let summary = match &pipeline.head {
        Head::Coordinates => about_basis(&map),
        Head::Select(_) => format!("{}\n{}", about_basis(&map), about_selection(&map)),
        Head::Extract(_) => format!("{}\n{}", about_basis(&map), about_extraction(&map)),
    };

    let mut settings = pipeline.settings.clone();
    settings.push(("scale".into(), source::scale_name(scale).into()));
    map = map.after(scaling.as_ref())?;
    map.input_names = (named || encoder.is_some()).then_some(names);
    map.encoder = encoder;
    map.facts = Facts {
        source: Some(super::file_name(source).into()),
        scale: Some(source::scale_name(scale).into()),
        seed: Some(basis.seed),
        settings: pipeline.settings.into_iter().collect(),
        target: labels.map(|_| args::text(args, "target").unwrap_or("target").into()),
        task: labels.map(|labels| source::task_name(labels).into()),
        ..map.facts
    };
    output.write_model(context, &map)?;
    context.info(&format!(
        "{summary}{}\nwrote {}, {:.2} s",
        weights.unwrap_or_default(),
        output.name(),
        started.elapsed().as_secs_f64()
    ));
    if let (Some(target), Some(diagnostics)) = (report, diagnostics) {
        let about = about(args, labels, basis.seed, settings);
        write_page(target, &mercer::report::model(&diagnostics, &about), context)?;
    }
    Context::clear_checkpoint(options.checkpoint.as_ref());
    Ok(())
}

/// What is checked without rows.
pub(crate) fn check(args: &ArgMatches, context: &Context) -> Result<()> {
    source::scale(args)?;
    if args::required(args, "method")? == learn::NAME {
        return learn::learner(args, context).map(drop);
    }
    read_pipeline(args, &[])?.check(None)
}

/// The pipeline that `--method` and the parameters' flags describe, with the kernel's columns looked up where names are known.
fn read_pipeline(args: &ArgMatches, names: &[String]) -> Result<Pipeline> {
    let method = args::required(args, "method")?;
    super::check_makes_features(method, "--method", learn::NAME)?;
    let mut settings: Vec<(String, String)> =
        args::settings(args).into_iter().map(|(name, text)| (name.into(), text.into())).collect();
    if !names.is_empty() {
        args::with_names(&mut settings, names)?;
    }
    Pipeline::new(method, &settings)
}

fn about_basis(map: &FeatureMap) -> String {
    let facts = &map.facts;
    let stop = match facts.stopped_by {
        Some(Stop::Cap) => "the limit on components",
        Some(Stop::Rank) => "full rank",
        _ => "its own rule",
    };
    let rounding = facts.rounding_error.map(|error| format!(", rounding error {} in float32", short(error)));
    format!(
        "{}, residual {}{}, {} kernel values, stopped by {stop}",
        plural(facts.coordinates.unwrap_or(map.n_features()), "component"),
        facts.residual.map_or_else(|| "unknown".into(), short),
        rounding.unwrap_or_default(),
        facts.kernel_evaluations.unwrap_or_default(),
    )
}

fn about_selection(map: &FeatureMap) -> String {
    format!(
        "selected {} of {} coordinates, which need {}; best scores: {}",
        map.n_features(),
        map.facts.coordinates.unwrap_or_default(),
        plural(map.expansion.landmarks.len(), "landmark"),
        best_scores(map, FEATURES_SHOWN)
    )
}

fn about_extraction(map: &FeatureMap) -> String {
    let mut parts = vec![format!(
        "extracted {} from {} coordinates",
        plural(map.n_features(), "feature"),
        map.facts.coordinates.unwrap_or_default()
    )];
    if !map.eigenvalues.is_empty() {
        let values: Vec<String> = map.eigenvalues.iter().copied().map(short).collect();
        let word = if values.len() == 1 { "eigenvalue" } else { "eigenvalues" };
        parts.push(format!("{word} {}", first(&values, FEATURES_SHOWN)));
    }
    parts.extend(shares(map, FEATURES_SHOWN).map(|shares| format!("explained share {shares}")));
    parts.extend(alignment(map).map(|path| format!("alignment with the labels {path}")));
    parts.join("; ")
}

/// Each feature's share of the quantity that its method maximises, and their sum.
pub(super) fn shares(map: &FeatureMap, most: usize) -> Option<String> {
    let shares = Some(&map.facts.explained).filter(|shares| !shares.is_empty())?;
    let each: Vec<String> = shares.iter().map(|share| percent(*share)).collect();
    let all = if shares.len() == 1 {
        String::new()
    } else {
        format!("; {} in total", percent(shares.iter().sum()))
    };
    Some(format!("{}{all}", first(&each, most)))
}

/// First and last value of the alignment with the labels; the value alone where it was not climbed, as points were moved.
pub(super) fn alignment(map: &FeatureMap) -> Option<String> {
    let path = &map.facts.alignment_path;
    let (from, to) = (path.first()?, path.last()?);
    if path.len() == 1 {
        return Some(short(*to));
    }
    Some(format!("from {} to {} in {}", short(*from), short(*to), plural(path.len() - 1, "step")))
}

/// The features with the best scores, best first.
pub(super) fn best_scores(map: &FeatureMap, most: usize) -> String {
    let mut order: Vec<usize> = (0..map.scores.len()).collect();
    order.sort_by(|&a, &b| map.scores[b].total_cmp(&map.scores[a]));
    let named = |&j: &usize| format!("{} {}", map.feature_names[j], short(map.scores[j]));
    first(&order.iter().map(named).collect::<Vec<_>>(), most)
}
