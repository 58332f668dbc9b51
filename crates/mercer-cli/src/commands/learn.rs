//! `mercer fit --method auto`: a predictor without choices.

use std::time::Instant;

use clap::ArgMatches;
use mercer::data::Table;
use mercer::evaluate::held_out::Score;
use mercer::evaluate::learn::{Attempt, Learned, Learner};
use mercer::map::Facts;
use mercer::select::input_weights::FoundWeights;
use mercer::{Error, Labels, Result};

use super::output_target::OutputTarget;
use super::page::{about, write_page};
use super::source;
use crate::args;
use crate::context::Context;
use crate::stderr::warn;
use crate::text::{percent, plural, short};

/// The name under which `fit` does this.
pub(super) const NAME: &str = "auto";

/// Parameters that it has, and what they mean here.
pub(super) const PARAMETERS: [(&str, &str); 3] = [
    ("n_components", "the most landmarks"),
    ("input_weights", "whether columns are weighted"),
    ("seed", "the seed"),
];

/// The most input weights that the summary names.
const WEIGHTS_SHOWN: usize = 5;

pub(super) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let source = args::required(args, "data")?;
    let mut learner = learner(args, context)?;
    source::check_target(args)?;
    let output = OutputTarget::checked(args::required(args, "output")?, &[source])?;
    output.check_not_a_terminal()?;
    let report = args::text(args, "report").map(|path| OutputTarget::checked(path, &[source])).transpose()?;
    output.check_distinct("the model", report, "the report")?;
    let (table, labels, _) = source::read_labelled(args, context)?;
    learner.options.weights = source::weights(args, &table, Some(&labels))?;
    let Table { rows, names, named, encoder, .. } = table;
    source::warn_of_constant_columns(&names, &rows);
    context.info("looking for kernels, widths, sizes and input weights that predict left-out rows");
    let learned = context.work(|monitor| {
        learner.options.monitor = monitor.clone();
        learner.fit(&rows, &labels)
    })?;
    learned.warnings.iter().for_each(|warning| warn(warning));
    let summary = summary(&learned, &labels, &names, learner.options.weights.is_some());
    let page = report.map(|target| {
        let settings = vec![("scale".to_string(), source::scale_name(learner.scale).to_string())];
        let about = about(args, Some(&labels), learner.seed, settings);
        (target, mercer::report::learned(&learned, &names, &about))
    });
    let mut map = learned.map;
    map.input_names = (named || encoder.is_some()).then_some(names);
    map.encoder = encoder;
    map.facts = Facts {
        source: Some(super::file_name(source).into()),
        scale: Some(source::scale_name(learner.scale).into()),
        seed: Some(learner.seed),
        target: Some(args::text(args, "target").unwrap_or("target").into()),
        task: Some(source::task_name(&labels).into()),
        ..map.facts
    };
    output.write_model(context, &map)?;
    context.info(&format!("{summary}\nwrote {}, {:.2} s", output.name(), started.elapsed().as_secs_f64()));
    if let Some((target, page)) = page {
        write_page(target, &page, context)?;
    }
    Ok(())
}

/// The settings; an error for flags that mean nothing here.
pub(super) fn learner(args: &ArgMatches, context: &Context) -> Result<Learner> {
    let default = Learner::default();
    let settings = args::settings(args);
    if let Some((name, value)) =
        settings.iter().find(|(name, _)| PARAMETERS.iter().all(|(known, _)| known != name))
    {
        let known: Vec<String> = PARAMETERS.iter().map(|(name, what)| format!("{name} ({what})")).collect();
        return Err(Error::Argument(format!(
            "{name} = {value} is given, but `{NAME}` chooses it; it has {}\nhint: leave it out, or name a method",
            known.join(", ")
        )));
    }
    if args::text(args, "checkpoint").is_some() {
        return Err(Error::Argument(format!(
            "--checkpoint is given, but not for `{NAME}`: its search is short"
        )));
    }
    let value = |name: &str| settings.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
    for (name, text) in &settings {
        mercer::methods::parameter(name)?.parameter.check(text)?;
    }
    Ok(Learner {
        scale: source::scale(args)?,
        max_components: value("n_components").and_then(|m| m.parse().ok()).unwrap_or(default.max_components),
        input_weights: value("input_weights") != Some("false"),
        seed: value("seed").and_then(|seed| seed.parse().ok()).unwrap_or(default.seed),
        options: args::options(args, context)?,
    })
}

/// `weighted`: whether rows have weights, by which rows left out count, too.
fn summary(learned: &Learned, labels: &Labels, names: &[String], weighted: bool) -> String {
    let by_weight = if weighted { ", by weight," } else { "" };
    let member = |attempt: &&Attempt| attempt.is_member;
    let members: Vec<String> = learned.tried.iter().filter(member).map(in_words).collect();
    let mut lines = vec![format!("predicts by ridge on {}", members.join(" and on "))];
    let right = if let (Labels::Classes { .. }, Some(missed), Some(loss)) =
        (labels, learned.missed, learned.log_loss)
    {
        format!(
            "{:.1} % of left-out rows{by_weight} are predicted right, log loss {} ({})",
            100.0 * (1.0 - missed),
            short(loss),
            if learned.weights.as_ref().is_some_and(|found| found.rounds > 0) {
                "by models that saw fewer rows: this one may do better"
            } else {
                "slightly optimistic: the choices were made by the same rows"
            }
        )
    } else {
        let of = if weighted { "weighted root" } else { "root" };
        format!("{of} mean squared error of left-out rows {}", short(learned.error.sqrt()))
    };
    lines.push(right);
    let Score { measure, value, chance, p_value } = learned.left_out.score;
    let text = |v: f64| if measure.is_share() { percent(v) } else { short(v) };
    let of = if weighted { "weighted " } else { "" };
    let chance = format!("{of}{} {}, {} with shuffled labels", measure.words(), text(value), text(chance));
    lines.push(if learned.left_out.score.is_above_chance() {
        format!("above chance: {chance}")
    } else {
        format!("no better than chance: {chance} (p = {p_value:.2})")
    });
    lines.extend(learned.weights.as_ref().map(|found| heaviest(found, names)));
    lines.join("\n")
}

/// The inputs with the largest weights.
pub(super) fn heaviest(found: &FoundWeights, names: &[String]) -> String {
    if found.rounds == 0 {
        return "input weights do not help left-out rows: all are 1".into();
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| found.weights[b].total_cmp(&found.weights[a]));
    let one = |j: usize| format!("{} {}", names[j], short(found.weights[j]));
    let heaviest: Vec<String> = order.into_iter().take(WEIGHTS_SHOWN).map(one).collect();
    format!("input weights (mean square 1), the largest: {}", heaviest.join(", "))
}

fn in_words(attempt: &Attempt) -> String {
    format!(
        "{} of the kernel {} with gamma = {}{}",
        plural(attempt.size, "coordinate"),
        attempt.kernel,
        short(attempt.gamma),
        if attempt.weighted { " of weighted inputs" } else { "" }
    )
}
