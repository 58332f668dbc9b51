//! `mercer fit`: rows in, a model out.

use std::time::Instant;

use clap::ArgMatches;
use mercer::basis::{Stop, bytes};
use mercer::data::write::check_place;
use mercer::data::{Scale, Scaling, Table, Task, read};
use mercer::recipe::{Recipe, Top};
use mercer::{Error, FeatureMap, FittedBasis, Labels, Result, Rows};
use serde_json::{Value, json};

use crate::args;
use crate::context::Context;
use crate::talk::{first, percent, plural, short, warn};

/// Names that a target is often given, in lower case.
const TARGET_NAMES: [&str; 4] = ["target", "class", "label", "y"];

/// Constant columns that a warning names.
const NAMED: usize = 5;

/// Features that the summary has numbers of.
const BEST: usize = 3;

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let (source, output) = (args::required(args, "data")?, args::required(args, "output")?);
    let method = args::required(args, "method")?;
    let recipe = Recipe::new(method, &args::settings(args))?;
    args::check_kernel(args)?;
    let scale = scale(args)?;
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
    recipe.check(labels.as_ref())?;
    let mut warnings = Vec::new();
    let mut basis = recipe.basis(&rows, labels.as_ref(), &mut warnings)?;
    warnings.iter().for_each(|warning| warn(warning));
    basis.memory = args.get_one("memory").copied().unwrap_or(basis.memory);
    basis.monitor = context.monitor.clone();
    let memory = bytes(basis.estimated_memory(basis.landmarks.as_ref().map_or(rows.n(), Rows::n)));
    context.say(&format!("fitting {}, which takes up to {memory} beside the data", recipe.title(&basis)));
    let fitted = context.work(|_| basis.fit_with(&rows, labels.as_ref(), false))?.0;
    let about_basis = about_basis(&fitted);
    let made = context.work(|monitor| recipe.finish(&rows, labels.as_ref(), fitted, None, monitor))?;
    made.warnings.iter().for_each(|warning| warn(warning));
    let mut map = made.map;
    let summary = match &recipe.top {
        Top::Nothing => about_basis,
        Top::System(_) => format!("{about_basis}\n{}", about_selection(&map)),
        Top::Extractor(_) => format!("{about_basis}\n{}", about_extraction(&map)),
    };

    map.scaling = scaling;
    map.input_names = table.named.then_some(table.names);
    let facts = [
        ("source", json!(super::file_name(source))),
        ("scale", json!(scale_name(scale))),
        ("seed", json!(basis.seed)),
        ("settings", recipe.settings.into_iter().collect()),
        ("target", labels.as_ref().map(|_| args::text(args, "target").unwrap_or("target")).into()),
        ("task", labels.as_ref().map(task_name).into()),
    ];
    map.facts.extend(facts.map(|(name, value)| (name.to_string(), value)));
    context.write(|| map.save(output))?;
    context.say(&format!("{summary}\nwrote {output}, {:.2} s", started.elapsed().as_secs_f64()));
    Ok(())
}

/// A kernel matrix is not scaled: its columns are rows.
fn scale(args: &ArgMatches) -> Result<Scale> {
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

fn about_basis(fitted: &FittedBasis) -> String {
    let stop = match fitted.stop {
        Stop::Rule => "its own rule",
        Stop::Cap => "the largest number of components",
        Stop::Rank => "having spanned all rows",
    };
    let m = fitted.n_components();
    format!(
        "{}, residual {}, {} kernel values, stopped by {stop}",
        plural(m, "component"),
        short(fitted.residual),
        fitted.n_kernel_evaluations,
    )
}

fn about_selection(map: &FeatureMap) -> String {
    format!(
        "kept {} of {} coordinates, which need {}; best scores: {}",
        map.n_features(),
        map.facts["coordinates"],
        plural(map.expansion.landmarks.len(), "landmark"),
        best_scores(map, BEST)
    )
}

fn about_extraction(map: &FeatureMap) -> String {
    let mut parts = vec![format!(
        "made {} of {} coordinates",
        plural(map.n_features(), "feature"),
        map.facts["coordinates"]
    )];
    if !map.eigenvalues.is_empty() {
        let values: Vec<String> = map.eigenvalues.iter().copied().map(short).collect();
        let word = if values.len() == 1 { "eigenvalue" } else { "eigenvalues" };
        parts.push(format!("{word} {}", first(&values, BEST)));
    }
    parts.extend(shares(map, BEST).map(|shares| format!("of the whole {shares}")));
    parts.extend(alignment(map).map(|path| format!("alignment with the labels {path}")));
    parts.join("; ")
}

fn numbers(map: &FeatureMap, fact: &str) -> Option<Vec<f64>> {
    map.facts.get(fact)?.as_array().map(|values| values.iter().filter_map(Value::as_f64).collect())
}

/// The share that each feature holds of what its method maximises, and that of all.
pub(super) fn shares(map: &FeatureMap, most: usize) -> Option<String> {
    let shares = numbers(map, "explained").filter(|shares| !shares.is_empty())?;
    let each: Vec<String> = shares.iter().map(|share| percent(*share)).collect();
    let all = if shares.len() == 1 {
        String::new()
    } else {
        format!("; {} together", percent(shares.iter().sum()))
    };
    Some(format!("{}{all}", first(&each, most)))
}

/// How the alignment with the labels grew.
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
