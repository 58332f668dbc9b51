//! A comparison as a table: text, Markdown, CSV or JSON.

use mercer::evaluate::measures::Measure;
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::{Error, Result};

use super::output_target::OutputTarget;
use crate::text::{short, table};

/// Format of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    Text,
    Json,
    Csv,
    Markdown,
}

impl Form {
    /// The requested format, else the one of the output's file extension.
    pub(super) fn of(name: Option<&str>, output: Option<OutputTarget>) -> Result<Self> {
        let ending = match output {
            Some(OutputTarget::File(file)) => file.rsplit_once('.').map_or("", |(_, ending)| ending),
            _ => "",
        };
        match name.unwrap_or(ending) {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "markdown" | "md" => Ok(Self::Markdown),
            "text" | "txt" | "" => Ok(Self::Text),
            other => Err(Error::Argument(format!(
                "a table cannot be written as `{other}`; a name may end in .txt, .json, .csv or .md\n\
                 hint: name a format: `--format text`"
            ))),
        }
    }
}

/// The table of these entries of an outcome.
pub(super) fn formatted(outcome: &Outcome, entries: &[&Entry], form: Form) -> Result<String> {
    match form {
        Form::Json => {
            let shown =
                Outcome { entries: entries.iter().map(|e| (*e).clone()).collect(), ..outcome.clone() };
            Ok(format!("{:#}\n", shown.to_json()))
        }
        Form::Csv => csv(outcome, entries),
        Form::Text => Ok(table(&lines(outcome, entries), NUMBER_COLUMNS) + &stopped(outcome, "")),
        Form::Markdown => Ok(markdown(&lines(outcome, entries)) + &stopped(outcome, "\n")),
    }
}

/// A line below the table of a comparison that was stopped early, after `gap`.
fn stopped(outcome: &Outcome, gap: &str) -> String {
    if outcome.interrupted { format!("{gap}{}\n", finished(outcome)) } else { String::new() }
}

/// How many splits a comparison that was stopped early has finished.
fn finished(outcome: &Outcome) -> String {
    format!("stopped early: {} of {} splits were finished", outcome.n_finished(), outcome.n_splits)
}

/// The columns that hold numbers, after method, basis and evaluator.
pub(super) const NUMBER_COLUMNS: std::ops::RangeFrom<usize> = 3..;

/// The header and one line per candidate that has scores.
pub(super) fn lines(outcome: &Outcome, entries: &[&Entry]) -> Vec<Vec<String>> {
    let share = Measure::named(&outcome.second).is_ok_and(Measure::is_share);
    let rules: Vec<_> = entries.iter().filter(|e| !e.is_baseline()).map(|e| &e.gamma_rule).collect();
    let several = rules.windows(2).any(|two| two[0] != two[1]);
    let words = |name: &str| name.replace('_', " ");
    let header =
        ["method", "basis", "evaluator", "features", &words(&outcome.measure), &words(&outcome.second)];
    let mut header = header.map(String::from).to_vec();
    header.extend(["kernel values", "gamma", "seconds"].map(String::from));
    let mut lines = vec![header];
    for entry in entries.iter().filter(|entry| entry.mean().is_some()) {
        let number =
            |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or_else(|| "-".into(), text);
        let second = |v: f64| if share { format!("{:.1} %", 100.0 * v) } else { short(v) };
        let gamma = match (&entry.gamma_rule, entry.gamma()) {
            (Some(rule), Some(gamma)) if several && rule.parse::<f64>().is_err() => {
                format!("{rule} {}", short(gamma))
            }
            (_, gamma) => number(gamma, &short),
        };
        lines.push(vec![
            entry.method.clone(),
            entry.basis.clone().unwrap_or_else(|| "-".into()),
            entry.evaluator.clone(),
            number(entry.features().filter(|q| *q > 0.0), &count),
            score(outcome, entry),
            number(entry.second_mean(), &second),
            number(entry.kernel_values(), &count),
            gamma,
            number(entry.fit_seconds(), &|v| format!("{v:.2}")),
        ]);
    }
    lines
}

/// A mean of counts, without decimals if it is whole.
pub(super) fn count(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean}") } else { format!("{mean:.1}") }
}

pub(super) fn markdown(lines: &[Vec<String>]) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let Some((head, rest)) = lines.split_first() else { return String::new() };
    let marks: Vec<String> = (0..head.len())
        .map(|j| if NUMBER_COLUMNS.contains(&j) { "---:".into() } else { "---".into() })
        .collect();
    let body: String = rest.iter().map(|line| row(line)).collect();
    format!("{}|{}|\n{body}", row(head), marks.join("|"))
}

/// All numbers in full precision; missing ones are empty.
fn csv(outcome: &Outcome, entries: &[&Entry]) -> Result<String> {
    let header = [
        "method",
        "basis",
        "evaluator",
        "gamma_rule",
        "gamma",
        "asked",
        "n_features",
        &outcome.measure,
        "standard_error",
        &outcome.second,
        "kernel_values",
        "fit_seconds",
        "splits",
        "failed",
    ];
    let mut lines = vec![header.map(String::from).to_vec()];
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    for entry in entries {
        lines.push(vec![
            entry.method.clone(),
            text(&entry.basis),
            entry.evaluator.clone(),
            text(&entry.gamma_rule),
            number(entry.gamma()),
            entry.asked.map_or_else(String::new, |asked| asked.to_string()),
            number(entry.features()),
            number(entry.mean()),
            number(entry.standard_error()),
            number(entry.second_mean()),
            number(entry.kernel_values()),
            number(entry.fit_seconds()),
            entry.scores.len().to_string(),
            text(&entry.failed),
        ]);
    }
    csv_text(&lines)
}

/// Lines of cells as CSV.
pub(super) fn csv_text(lines: &[Vec<String>]) -> Result<String> {
    let broken = |e: std::io::Error| Error::Io { path: "the table".into(), source: e };
    let mut out = csv::Writer::from_writer(Vec::new());
    for cells in lines {
        out.write_record(cells).map_err(|e| broken(e.into()))?;
    }
    let bytes = out.into_inner().map_err(|e| broken(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Warnings about candidates that failed on some or all splits, each once.
pub(super) fn failures(entries: &[&Entry]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for entry in entries {
        let Some(reason) = &entry.failed else { continue };
        let asked = entry.asked.map_or_else(String::new, |asked| format!(" with {asked} features"));
        let text = format!("`{}`{asked} failed: {reason}", entry.method);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The recommended features and the best, beside the best baseline and chance.
pub(super) fn best(outcome: &Outcome) -> String {
    let verdict = verdict(outcome);
    if outcome.interrupted { format!("{}\n{verdict}", finished(outcome)) } else { verdict }
}

fn verdict(outcome: &Outcome) -> String {
    let Some(best) = outcome.best() else {
        return "no method has a score on every split".into();
    };
    let Some(chosen) = outcome.recommended() else {
        return format!(
            "{}\n  best features, not recommended: {}",
            nothing_found(outcome, best),
            described(outcome, best)
        );
    };
    let near = if outcome.n_finished() > 1 {
        "that are within a standard error of the best"
    } else {
        // One split has no standard error.
        "not clearly worse than the best on the only split"
    };
    let mut lines = vec![if std::ptr::eq(best, chosen) {
        format!("best features: {}", described(outcome, best))
    } else {
        format!(
            "recommended: {}\n  the fewest features {near}, {}",
            described(outcome, chosen),
            described(outcome, best)
        )
    }];
    let is_scored = |e: &&Entry| e.is_baseline() && e.failed.is_none() && e.mean().is_some();
    if let Some(baseline) = outcome.entries.iter().find(is_scored) {
        let relation = match chosen.clearly_better(baseline) {
            Some(true) => "clearly better than",
            Some(false) => "clearly worse than",
            None => "not clearly different from",
        };
        lines.push(format!("  {relation} {}", described(outcome, baseline)));
    }
    lines.extend(outcome.chance.map(|chance| {
        format!("  with shuffled labels the best of all candidates has {}", value(outcome, chance.score))
    }));
    lines.join("\n")
}

/// Why no features are recommended.
fn nothing_found(outcome: &Outcome, best: &Entry) -> String {
    let of_features = outcome.p_value(best).filter(|p| *p > 0.05);
    match outcome.chance.zip(of_features) {
        Some((chance, of_features)) => {
            let is_above = chance.p_value <= 0.05;
            format!(
                "{} better than chance: with shuffled labels the best of all candidates has {} (p = {:.2})",
                if is_above { "no features are" } else { "no" },
                value(outcome, chance.score),
                if is_above { of_features } else { chance.p_value }
            )
        }
        None => "no better than the mean of the target: R² is not above 0".into(),
    }
}

/// A candidate and its score.
pub(super) fn described(outcome: &Outcome, entry: &Entry) -> String {
    let evaluator = if entry.evaluator == entry.method {
        String::new()
    } else {
        format!(" evaluated with {}", entry.evaluator)
    };
    let basis = entry.basis.as_ref().filter(|basis| **basis != entry.method);
    let on = basis.map_or_else(String::new, |basis| format!(" on {basis}"));
    let features = match entry.features().filter(|q| *q > 0.0 && !entry.is_baseline()) {
        Some(1.0) => " from one feature".into(),
        Some(q) if q.fract() == 0.0 => format!(" from {q} features"),
        Some(q) => format!(" from about {q:.0} features"),
        None => String::new(),
    };
    format!("{}{on}{evaluator}, {}{features}", entry.method, score(outcome, entry))
}

/// `97.2 ± 0.5 %`.
pub(super) fn score(outcome: &Outcome, entry: &Entry) -> String {
    let (factor, digits, unit) = units(outcome);
    let error = entry.standard_error().map_or_else(String::new, |e| format!(" ± {:.digits$}", factor * e));
    entry.mean().map_or_else(|| "-".into(), |mean| format!("{:.digits$}{error}{unit}", factor * mean))
}

/// A score without its error.
fn value(outcome: &Outcome, value: f64) -> String {
    let (factor, digits, unit) = units(outcome);
    format!("{:.digits$}{unit}", factor * value)
}

/// Factor, digits and unit of the measure.
fn units(outcome: &Outcome) -> (f64, usize, &'static str) {
    if Measure::named(&outcome.measure).is_ok_and(Measure::is_share) {
        (100.0, 1, " %")
    } else {
        (1.0, 3, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_split_of_many_is_told_and_has_no_standard_error() {
        let entry = |method: &str, score: f64, q: usize| Entry {
            method: method.into(),
            evaluator: "knn".into(),
            scores: vec![score],
            second: vec![score],
            losses: (0..10).map(|i| f32::from(u8::from(f64::from(i) >= 10.0 * score))).collect(),
            n_features: vec![q],
            ..Entry::default()
        };
        let entries = vec![entry("kobl", 0.9, 30), entry("gda", 0.8, 1)];
        let outcome = Outcome {
            measure: "accuracy".into(),
            second: "balanced_accuracy".into(),
            entries,
            n_splits: 5,
            interrupted: true,
            ..Outcome::default()
        };
        let text = best(&outcome);
        assert!(text.starts_with("stopped early: 1 of 5 splits were finished\nrecommended: gda"), "{text}");
        assert!(!text.contains("standard error"), "{text}");
        let shown: Vec<&Entry> = outcome.entries.iter().collect();
        for form in [Form::Text, Form::Markdown] {
            let table = formatted(&outcome, &shown, form).expect("a table");
            assert!(table.ends_with("\nstopped early: 1 of 5 splits were finished\n"), "{table}");
        }
    }
}
