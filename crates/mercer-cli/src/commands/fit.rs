//! `mercer fit`: rows in, a model out.

use std::time::Instant;

use clap::ArgMatches;
use mercer::basis::bytes;
use mercer::data::Table;
use mercer::evaluate::portrait::Portrait;
use mercer::recipe::{Recipe, Top};
use mercer::{FeatureMap, Result};
use serde_json::{Value, json};

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
    let started = Instant::now();
    let source = args::required(args, "data")?;
    let mut recipe = Recipe::new(args::required(args, "method")?, &args::settings(args))?;
    recipe.limits.memory = args::memory(args);
    recipe.checkpoint = args::checkpoint(args)?;
    args::check_kernel(args)?;
    let scale = source::scale(args)?;
    let output = OutputTarget::checked(args::required(args, "output")?, &[source])?;
    output.check_not_a_terminal()?;
    let report = args::text(args, "report").map(|path| OutputTarget::checked(path, &[source])).transpose()?;
    output.check_distinct("the model", report, "the report")?;

    let (Table { rows, names, named, .. }, labels) = source::read(args, context)?;
    let (scaling, rows) = source::scaled(scale, &names, rows)?;
    recipe.check(labels.as_ref())?;
    let mut warnings = Vec::new();
    let mut basis = recipe.basis(&rows, labels.as_ref(), &mut warnings)?;
    warnings.iter().for_each(|warning| warn(warning));
    basis.memory = args::memory(args);
    basis.monitor = context.monitor.clone();
    recipe.check_memory(&basis, rows.n())?;
    let memory = bytes(recipe.estimated_memory(&basis, rows.n()));
    context.announce_resume(recipe.checkpoint.as_ref());
    context.info(&format!("fitting {}, which needs up to {memory} besides the data", recipe.title(&basis)));
    let (portrait, made) = if report.is_some() {
        let (labels, memory, seed) = (labels.as_ref(), basis.memory, basis.seed);
        let found = |monitor: &_| Portrait::of(&recipe, &rows, labels, &names, memory, seed, monitor);
        context.work(found).map(|(portrait, made)| (Some(portrait), made))?
    } else {
        let fitted = context.work(|_| basis.fit_with(&rows, labels.as_ref(), false))?.0;
        (None, context.work(|monitor| recipe.finish(&rows, labels.as_ref(), fitted, None, monitor))?)
    };
    made.warnings.iter().filter(|text| !warnings.contains(text)).for_each(|warning| warn(warning));
    let mut map = made.map;
    let summary = match &recipe.top {
        Top::Nothing => about_basis(&map),
        Top::System(_) => format!("{}\n{}", about_basis(&map), about_selection(&map)),
        Top::Extractor(_) => format!("{}\n{}", about_basis(&map), about_extraction(&map)),
    };

    let mut settings = recipe.settings.clone();
    settings.push(("scale".into(), source::scale_name(scale).into()));
    map.scaling = scaling;
    map.input_names = named.then_some(names);
    let facts = [
        ("source", json!(super::file_name(source))),
        ("scale", json!(source::scale_name(scale))),
        ("seed", json!(basis.seed)),
        ("settings", recipe.settings.into_iter().collect()),
        ("target", labels.as_ref().map(|_| args::text(args, "target").unwrap_or("target")).into()),
        ("task", labels.as_ref().map(source::task_name).into()),
    ];
    map.facts.extend(facts.map(|(name, value)| (name.to_string(), value)));
    output.write_model(context, &map)?;
    context.info(&format!("{summary}\nwrote {}, {:.2} s", output.name(), started.elapsed().as_secs_f64()));
    if let (Some(target), Some(portrait)) = (report, portrait) {
        let about = about(args, labels.as_ref(), basis.seed, settings);
        write_page(target, &mercer::report::model(&portrait, &about), context)?;
    }
    Context::clear_checkpoint(recipe.checkpoint.as_ref());
    Ok(())
}

fn about_basis(map: &FeatureMap) -> String {
    let fact = |name: &str| map.facts.get(name);
    let stop = match fact("stopped_by").and_then(Value::as_str) {
        Some("cap") => "the limit on components",
        Some("rank") => "full rank",
        _ => "its own rule",
    };
    let components = fact("coordinates").and_then(Value::as_u64).map_or(map.n_features(), |m| m as usize);
    let rounding = fact("rounding_error").and_then(Value::as_f64);
    let rounding = rounding.map(|error| format!(", rounding error {} in float32", short(error)));
    format!(
        "{}, residual {}{}, {} kernel values, stopped by {stop}",
        plural(components, "component"),
        fact("residual").and_then(Value::as_f64).map_or_else(|| "unknown".into(), short),
        rounding.unwrap_or_default(),
        fact("kernel_evaluations").and_then(Value::as_u64).unwrap_or_default(),
    )
}

fn about_selection(map: &FeatureMap) -> String {
    format!(
        "selected {} of {} coordinates, which need {}; best scores: {}",
        map.n_features(),
        map.facts["coordinates"],
        plural(map.expansion.landmarks.len(), "landmark"),
        best_scores(map, FEATURES_SHOWN)
    )
}

fn about_extraction(map: &FeatureMap) -> String {
    let mut parts = vec![format!(
        "extracted {} from {} coordinates",
        plural(map.n_features(), "feature"),
        map.facts["coordinates"]
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

fn numbers(map: &FeatureMap, fact: &str) -> Option<Vec<f64>> {
    map.facts.get(fact)?.as_array().map(|values| values.iter().filter_map(Value::as_f64).collect())
}

/// Each feature's share of the quantity that its method maximises, and their sum.
pub(super) fn shares(map: &FeatureMap, most: usize) -> Option<String> {
    let shares = numbers(map, "explained").filter(|shares| !shares.is_empty())?;
    let each: Vec<String> = shares.iter().map(|share| percent(*share)).collect();
    let all = if shares.len() == 1 {
        String::new()
    } else {
        format!("; {} in total", percent(shares.iter().sum()))
    };
    Some(format!("{}{all}", first(&each, most)))
}

/// First and last value of the alignment with the labels.
pub(super) fn alignment(map: &FeatureMap) -> Option<String> {
    let path = numbers(map, "alignment_path")?;
    let (from, to) = (path.first()?, path.last()?);
    Some(format!("from {} to {} in {}", short(*from), short(*to), plural(path.len() - 1, "step")))
}

/// The features with the best scores, best first.
pub(super) fn best_scores(map: &FeatureMap, most: usize) -> String {
    let mut order: Vec<usize> = (0..map.scores.len()).collect();
    order.sort_by(|&a, &b| map.scores[b].total_cmp(&map.scores[a]));
    let named = |&j: &usize| format!("{} {}", map.feature_names[j], short(map.scores[j]));
    first(&order.iter().map(named).collect::<Vec<_>>(), most)
}
