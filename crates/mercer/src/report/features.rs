//! Charts of a fitted method, shared by the pages.

use std::fmt::Write;

use crate::evaluate::diagnostics::FitDiagnostics;
use crate::evaluate::held_out::{HeldOut, Score};
use crate::evaluate::measures::Measure;
use crate::map::ImportantPoints;

use super::axis::{Axis, Spacing};
use super::chart::{Chart, Layer};
use super::ink::Ink;
use super::page::{Page, folded, table};
use super::predicted::predicted;
use super::scatter;
use super::text::{counted, escaped, joined, name, short, width};

/// The most inputs whose importance is shown without unfolding.
const INPUTS_SHOWN: usize = 20;
/// The training rows that are shown of those that carry the features.
const ROWS_SHOWN: usize = 10;
/// Longer names are wrapped, so that bars have room on a phone.
const NAME_WIDTH: usize = 16;
/// Smaller shares are not told apart in a sentence.
const LEAST_SHARE: f64 = 1e-5;
/// A line through fewer values says less than the values.
const LEAST_VALUES: usize = 3;
/// The most points of a line; more would not be visible.
const POINTS_SHOWN: usize = 400;

/// Facts about the method.
pub(super) fn facts(page: &mut Page, diagnostics: &FitDiagnostics) {
    let mut facts = vec![("method", escaped(&diagnostics.method))];
    if !diagnostics.basis.is_empty() {
        facts.push(("basis", escaped(&diagnostics.basis)));
    }
    if let Some(gamma) = diagnostics.gamma {
        facts.push(("γ", short(gamma)));
    }
    facts.push(("features", diagnostics.n_features.to_string()));
    facts.push(("kernel values per row", diagnostics.kernel_values.to_string()));
    page.facts(&facts);
}

/// How well rows are predicted that were held out, as a sentence.
pub(super) fn score_text(held_out: &HeldOut) -> String {
    let HeldOut { n_train, rows, score, .. } = held_out;
    let Score { measure, value, chance, .. } = *score;
    let rows = format!(
        "{} held out ({} were for learning)",
        counted(rows.len(), "row", "rows"),
        counted(*n_train, "other", "others")
    );
    let (value, chance) = (measured(measure, value), measured(measure, chance));
    if score.is_above_chance() {
        format!("Ridge on the features has {value} on {rows}; shuffled labels give {chance}.")
    } else {
        format!(
            "<b>No better than chance:</b> ridge on the features has {value} on {rows}, and shuffled labels give {chance}. \
             What the features show of these labels is noise."
        )
    }
}

/// A score with its measure.
pub(super) fn measured(measure: Measure, value: f64) -> String {
    format!("{} {}", measure.words(), of_measure(measure, value))
}

/// A score alone.
pub(super) fn of_measure(measure: Measure, value: f64) -> String {
    if measure.is_share() { percent(value) } else { short(value) }
}

/// How well rows are predicted that were held out, where it is not the page's first sentence.
pub(super) fn score(page: &mut Page, diagnostics: &FitDiagnostics) {
    if let Some(held_out) = &diagnostics.held_out {
        page.add(&format!("<p>{}</p>", score_text(held_out)));
    }
}

/// What is predicted for the rows held out.
pub(super) fn predictions(page: &mut Page, diagnostics: &FitDiagnostics, target: &str) {
    if let (Some(held_out), Some(truth)) = (&diagnostics.held_out, &diagnostics.point_labels) {
        let whose =
            format!("Ridge on the features, {} held out.", counted(held_out.rows.len(), "row", "rows"));
        predicted(page, truth, &held_out.predictions, &whose, target);
    }
}

/// All charts for which there is data.
pub(super) fn charts(page: &mut Page, diagnostics: &FitDiagnostics, target: &str) {
    scatter::best_features(page, diagnostics, target);
    let curves =
        [residuals(diagnostics), pivot_norms(diagnostics), spectrum(diagnostics), scores(diagnostics)];
    let curves: Vec<(Chart, String)> = curves.into_iter().flatten().collect();
    if !curves.is_empty() {
        page.section("How the features were found");
        page.panels(|page| curves.iter().for_each(|(chart, caption)| page.figure(chart, caption)));
    }
    important_rows(page, diagnostics);
    importance(page, diagnostics);
    weights(page, &diagnostics.weights);
}

/// The training rows that carry the features.
fn important_rows(page: &mut Page, diagnostics: &FitDiagnostics) {
    let ImportantPoints { rows, shares } = &diagnostics.important;
    if rows.is_empty() {
        return;
    }
    page.section("Which training rows matter");
    let mut sum = 0.0;
    let lines = joined(rows.iter().zip(shares).take(ROWS_SHOWN).map(|(row, share)| {
        sum += share;
        format!("<tr><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>", row + 1, percent(*share))
    }));
    page.add(&table("", &[("training row", true), ("share", true)], &lines));
    let shown = rows.len().min(ROWS_SHOWN);
    let which = match (shown == rows.len(), shown) {
        (true, 1) => "The features need this row only.".to_string(),
        (true, _) => format!("The features need these {shown} rows only."),
        (false, _) => {
            format!(
                "The first {shown} of the {} rows that features need, with {} together.",
                rows.len(),
                percent(sum)
            )
        }
    };
    page.add(&format!(
        "<p class=\"soft\">{which} Rows are counted from 1, in the order of the training data. A row’s share is that in the \
         squared coefficients of each feature, averaged over the features by their variance.</p>"
    ));
}

fn residuals(diagnostics: &FitDiagnostics) -> Option<(Chart, String)> {
    let curve = curve("Share left", "coordinates of the basis", 0, &diagnostics.residuals, Ink::Series(0))?;
    let last = diagnostics.residuals.iter().rev().find(|v| v.is_finite())?;
    let basis = if diagnostics.basis.is_empty() { "the basis" } else { diagnostics.basis.as_str() };
    let caption = format!(
        "<b>Residual of the basis.</b> Share of the kernel's trace that the first coordinates of {} do not explain: a line \
         that falls fast means that few coordinates are enough. {} remain at the end.",
        escaped(basis),
        if *last > 0.0 && *last < LEAST_SHARE { "Less than 0.001\u{a0}%".into() } else { percent(*last) },
    );
    Some((named(curve, "Residual of the basis", &diagnostics.residuals), caption))
}

// Only where each pivot is the farthest row: in an order by chance the norms jump, and show nothing.
fn pivot_norms(diagnostics: &FitDiagnostics) -> Option<(Chart, String)> {
    if diagnostics.pivot_norms.windows(2).any(|two| two[1] > two[0]) {
        return None;
    }
    let curve = curve("Norm", "pivot, in the order chosen", 1, &diagnostics.pivot_norms, Ink::Series(2))?;
    let caption = "<b>Norms of the pivots.</b> Norm of the part of each chosen row that the rows before it do not \
                   span. Where it levels off near 0, more pivots add little.";
    Some((named(curve, "Norms of the pivots", &diagnostics.pivot_norms), caption.to_string()))
}

fn spectrum(diagnostics: &FitDiagnostics) -> Option<(Chart, String)> {
    let curve = curve("Eigenvalue", "component", 1, &diagnostics.spectrum, Ink::Series(3))?;
    let caption = "<b>Spectrum.</b> Eigenvalues in descending order. A drop after the first few means that these \
                   features hold most of what the method maximises.";
    Some((named(curve, "Spectrum", &diagnostics.spectrum), caption.to_string()))
}

fn scores(diagnostics: &FitDiagnostics) -> Option<(Chart, String)> {
    // Scores that equal the spectrum are shown once.
    if diagnostics.scores == diagnostics.spectrum {
        return None;
    }
    let mut sorted: Vec<f64> = diagnostics.scores.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let curve = curve("Score", "feature, best first", 1, &sorted, Ink::Series(1))?;
    let caption = "<b>Scores of the features</b>, best first; high is good. A long flat tail means features that \
                   matter little.";
    Some((named(curve, "Scores of the features", &sorted), caption.to_string()))
}

/// A line through a sequence of numbers; None if fewer than [`LEAST_VALUES`] are finite.
fn curve(y_title: &str, x_title: &str, first: usize, values: &[f64], ink: Ink) -> Option<Chart> {
    let all: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| ((i + first) as f64, *v)).collect();
    if all.iter().filter(|(_, v)| v.is_finite()).count() < LEAST_VALUES {
        return None;
    }
    let points = thinned(&all);
    let mut layers = vec![Layer::Line { ink, width: 1.8, points: points.clone() }];
    if points.len() <= 30 {
        layers.push(Layer::Marks { ink, shape: 0, size: 2.6, opacity: 1.0, points: points.clone() });
    }
    Some(Chart {
        name: String::new(),
        description: String::new(),
        x: (x_title.to_string(), Axis::over(points.iter().map(|p| p.0), Spacing::Whole)),
        y: (y_title.to_string(), Axis::over(points.iter().map(|p| p.1), Spacing::Fitting)),
        height: 210,
        layers,
    })
}

fn named(mut chart: Chart, title: &str, values: &[f64]) -> Chart {
    let ends = |value: Option<&f64>| value.map_or_else(String::new, |v| short(*v));
    chart.name = title.to_string();
    chart.description = format!(
        "{} from {} to {}.",
        counted(values.len(), "value", "values"),
        ends(values.first()),
        ends(values.last()),
    );
    chart
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS_SHOWN {
        return points.to_vec();
    }
    let last = points.len() - 1;
    (0..POINTS_SHOWN).map(|k| points[k * last / (POINTS_SHOWN - 1)]).collect()
}

fn importance(page: &mut Page, diagnostics: &FitDiagnostics) {
    let mut inputs: Vec<(&str, f64)> =
        diagnostics.importance.iter().map(|(input, share)| (input.as_str(), *share)).collect();
    inputs.retain(|(_, share)| share.is_finite());
    if inputs.is_empty() {
        return;
    }
    page.section("Which inputs matter");
    let caption = match &diagnostics.held_out {
        Some(held_out) => of_predictions(held_out),
        None => "Share of the features’ dependence on each input: how much the features move when that input moves a \
                 little, averaged over the rows. What matters for a target may be other inputs."
            .to_string(),
    };
    bars(page, inputs, percent, &caption);
}

/// What the shares of the inputs are, and what the largest are worth.
fn of_predictions(held_out: &HeldOut) -> String {
    let mut text = String::from(
        "Share of each input in what is predicted: how much ridge on the features changes its predictions when that input \
         moves a little, averaged over the rows held out. A long bar does not mean that the input is a cause.",
    );
    if !held_out.score.is_above_chance() {
        text.push_str(" As the predictions are no better than chance, neither is this order.");
        return text;
    }
    if let Some(inputs) = held_out.inputs {
        let measure = held_out.score.measure;
        let first = if inputs.count == 1 {
            "The first input alone".into()
        } else {
            format!("The first {} inputs alone", inputs.count)
        };
        let _ = write!(
            text,
            " {first}: {}; all others without {}: {}; all inputs: {}.",
            measured(measure, inputs.alone),
            if inputs.count == 1 { "it" } else { "them" },
            measured(measure, inputs.without),
            measured(measure, held_out.score.value)
        );
    }
    text
}

/// Weights of the inputs before the kernel.
pub(super) fn weights(page: &mut Page, weights: &[(String, f64)]) {
    if weights.is_empty() {
        return;
    }
    page.section("Weights of the inputs");
    if weights.iter().all(|(_, weight)| *weight == 1.0) {
        page.add("<p>Weights do not help to predict rows held out: all inputs have the weight 1.</p>");
        return;
    }
    let weights = weights.iter().map(|(input, weight)| (input.as_str(), *weight)).collect();
    let caption = "Inputs are multiplied by these weights before the kernel sees them (mean square 1). They are learned \
                   from the labels, and used because rows held out are then predicted better.";
    bars(page, weights, short, caption);
}

/// One bar per input, the longest first; those beyond [`INPUTS_SHOWN`] are folded.
fn bars(page: &mut Page, mut inputs: Vec<(&str, f64)>, text: fn(f64) -> String, caption: &str) {
    inputs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = inputs[0].1.max(f64::MIN_POSITIVE);
    let (shown, others) = inputs.split_at(inputs.len().min(INPUTS_SHOWN));
    let rows = joined(shown.iter().map(|(input, value)| {
        let length = (value / most).clamp(0.0, 1.0);
        format!(
            "<tr><th scope=\"row\">{}</th><td><span class=\"bar\" style=\"--share:{length:.4}\"></span>{}</td></tr>",
            name(input),
            text(*value),
        )
    }));
    let letters = shown.iter().map(|(input, _)| width(input)).max().unwrap_or(0);
    page.add(&format!(
        "<table class=\"bars\" style=\"--names:{}ch\"><tbody>{rows}</tbody></table>",
        letters.clamp(3, NAME_WIDTH) + 3
    ));
    page.add(&format!("<p class=\"soft\">{caption}</p>"));
    if !others.is_empty() {
        let summary = format!(
            "{} with at most {} each",
            counted(others.len(), "more input", "more inputs"),
            text(others[0].1)
        );
        let rows = joined(others.iter().take(1000).map(|(input, value)| {
            format!("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td></tr>", name(input), text(*value))
        }));
        page.add(&folded(&summary, &table("", &[("input", false), ("value", true)], &rows)));
    }
}

fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if !value.is_finite() || value == 0.0 || (0.05..=1e6).contains(&value.abs()) {
        return super::text::minus(&if value.is_finite() {
            format!("{value:.1}\u{a0}%")
        } else {
            short(value)
        });
    }
    format!("{}\u{a0}%", short(value))
}
