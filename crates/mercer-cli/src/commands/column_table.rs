//! Scores of columns as a table: text, Markdown, CSV or JSON.

use mercer::Result;
use mercer::data::table::plain_names;
use mercer::map::SelectedColumns;
use mercer::pipeline::FittedColumns;
use mercer::select::Overlap;
use serde_json::{Value, json};

use super::ranking::{Form, NUMBER_COLUMNS, csv_text, markdown};
use crate::text::{plural, short, table};

/// Columns that a table for people shows at least; kept ones are always shown, and the other formats have all.
const COLUMNS_SHOWN: usize = 30;

/// Decimals of a share of resamples.
const SHARE_DIGITS: usize = 2;

/// The columns that were found, and for people a last line if the choice may be chance.
pub(super) fn formatted(found: &FittedColumns, resamples: usize, form: Form) -> Result<String> {
    let model = &found.model;
    let table = match form {
        Form::Json => return Ok(format!("{:#}\n", json(found, resamples))),
        Form::Csv => return csv_text(&lines(model, &model.best(), true)),
        Form::Markdown => markdown(&lines(model, &model.best(), false)),
        Form::Text => text(model, COLUMNS_SHOWN),
    };
    Ok(about_noise(found).map_or(table.clone(), |noise| format!("{table}\n{noise}\n")))
}

/// A sentence if halves of the rows agree on the columns no more than by chance. Where none or all are kept, chance would do
/// the same.
pub(super) fn about_noise(found: &FittedColumns) -> Option<String> {
    let Overlap { mean, by_chance, .. } = found.overlap.filter(|_| may_be_noise(found))?;
    Some(format!(
        "The columns kept change from one half of the rows to the other (overlap {mean:.SHARE_DIGITS$}, by chance \
         {by_chance:.SHARE_DIGITS$}): these scores may be noise, or many columns equally good."
    ))
}

fn may_be_noise(found: &FittedColumns) -> bool {
    let some_are_kept = (1..found.model.n_inputs).contains(&found.model.n_features());
    some_are_kept && found.overlap.is_some_and(|overlap| overlap.may_be_chance)
}

fn json(found: &FittedColumns, resamples: usize) -> Value {
    let model = &found.model;
    let resamples = found.overlap.map(|Overlap { mean, by_chance, .. }| {
        json!({ "count": resamples, "overlap": mean, "by_chance": by_chance, "may_be_noise": may_be_noise(found) })
    });
    json!({ "method": model.method, "rows": model.facts.rows, "inputs": model.n_inputs, "kept": model.feature_names(),
            "resamples": resamples, "columns": entries(model) })
}

/// The best columns: all that are kept, and others up to this many in all.
pub(super) fn text(model: &SelectedColumns, least: usize) -> String {
    let (best, support) = (model.best(), model.support());
    let last_kept = best.iter().rposition(|&j| support[j]).map_or(0, |at| at + 1);
    let shown = last_kept.max(least).min(best.len());
    let text = table(&lines(model, &best[..shown], false), NUMBER_COLUMNS);
    match best.len() - shown {
        0 => text,
        left => format!(
            "{text}… and {} that {} not kept\n",
            plural(left, "column"),
            if left == 1 { "is" } else { "are" }
        ),
    }
}

/// Every column as JSON, best first.
pub(super) fn entries(model: &SelectedColumns) -> Vec<Value> {
    let (names, support) = (names(model), model.support());
    let number = |values: &Option<Vec<f64>>, j: usize| values.as_ref().map(|values| values[j]);
    let entry = |j: usize| {
        json!({ "rank": model.ranking[j], "column": names[j], "kept": support[j],
                "score": model.scores[j], "p_value": number(&model.pvalues, j),
                "stability": number(&model.stability, j) })
    };
    model.best().into_iter().map(entry).collect()
}

/// The header, then one line per column: names and numbers for people, or for programs in full precision.
fn lines(model: &SelectedColumns, columns: &[usize], full: bool) -> Vec<Vec<String>> {
    let (names, support) = (names(model), model.support());
    let mut header = vec!["rank", "column", "kept", "score"];
    header.extend(model.pvalues.is_some().then_some(if full { "p_value" } else { "p-value" }));
    header.extend(model.stability.is_some().then_some("stability"));
    let mut lines = vec![header.into_iter().map(String::from).collect::<Vec<_>>()];
    let number = |v: f64| if full { v.to_string() } else { short(v) };
    let share = |v: f64| if full { v.to_string() } else { format!("{v:.SHARE_DIGITS$}") };
    for &j in columns {
        let kept = match (support[j], full) {
            (kept, true) => kept.to_string(),
            (true, false) => "yes".into(),
            (false, false) => "no".into(),
        };
        let mut line = vec![model.ranking[j].to_string(), names[j].clone(), kept, number(model.scores[j])];
        line.extend(model.pvalues.as_ref().map(|p| number(p[j])));
        line.extend(model.stability.as_ref().map(|shares| share(shares[j])));
        lines.push(line);
    }
    lines
}

fn names(model: &SelectedColumns) -> Vec<String> {
    model.input_names.clone().unwrap_or_else(|| plain_names(model.n_inputs))
}
