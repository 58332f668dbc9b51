//! Scores by number of features.

use std::collections::BTreeMap;

use crate::evaluate::outcome::{Entry, Outcome};

use super::axis::{Axis, Spacing};
use super::chart::{Chart, Layer, key, line_key};
use super::comparison::{candidate, is_baseline, measure_name, on_axis, score};
use super::ink::Ink;
use super::page::{Page, folded};
use super::text::{escaped, joined};

/// The most lines with a colour; the others are faint.
const COLOURED_LINES: usize = 5;

/// A method with all its numbers of features.
struct Path<'a> {
    entries: Vec<&'a Entry>,
    best: f64,
}

/// The chart; nothing if no numbers of features were compared.
pub(super) fn chart(page: &mut Page, outcome: &Outcome) {
    let paths = paths(outcome);
    if paths.iter().all(|path| path.entries.len() < 2) {
        return;
    }
    page.section("How many features are needed");
    let shown = &paths[..paths.len().min(COLOURED_LINES)];
    let others = &paths[shown.len()..];
    let levels = levels(outcome);
    let legend = legend(outcome, shown, others, &levels);
    let chart = drawn(outcome, shown, others, &levels);
    let caption = format!(
        "<b>{} by number of features</b> for the best {}; bars are ± one standard error over the splits. Higher is \
         better; the size from which a line stays level is enough.{}",
        escaped(&capital(measure_name(&outcome.measure))),
        if shown.len() == 1 { "method".to_string() } else { format!("{} methods", shown.len()) },
        if levels.is_empty() { "" } else { " Dashed: baselines without kernel features." },
    );
    page.panels(|page| {
        page.figure(&chart, &caption);
        page.add(&legend);
    });
}

fn paths(outcome: &Outcome) -> Vec<Path<'_>> {
    let mut found: BTreeMap<_, Vec<&Entry>> = BTreeMap::new();
    for entry in outcome.entries.iter().filter(|e| e.asked.is_some() && !is_baseline(e)) {
        if entry.mean().is_some_and(f64::is_finite) {
            found
                .entry((&entry.method, &entry.basis, &entry.gamma_rule, &entry.evaluator))
                .or_default()
                .push(entry);
        }
    }
    let mut paths: Vec<Path<'_>> = found
        .into_values()
        .map(|mut entries| {
            entries.sort_by_key(|entry| entry.asked);
            let best = entries.iter().filter_map(|e| e.mean()).fold(f64::NEG_INFINITY, f64::max);
            Path { entries, best }
        })
        .collect();
    // Methods with a single size come last.
    paths.sort_by(|a, b| (b.entries.len() > 1).cmp(&(a.entries.len() > 1)).then(b.best.total_cmp(&a.best)));
    paths
}

// The best entry of each baseline: its name, dash pattern and value.
fn levels(outcome: &Outcome) -> Vec<(String, u32, f64)> {
    let best = |method: &str| {
        let mut of = outcome.entries.iter().filter(|e| e.method == method && e.asked.is_none());
        of.find(|e| e.mean().is_some_and(f64::is_finite))
    };
    [("raw", 5), ("rbf-svm", 2)]
        .into_iter()
        .filter_map(|(method, dash)| {
            let entry = best(method)?;
            Some((candidate(outcome, entry), dash, on_axis(&outcome.measure, entry.mean()?)))
        })
        .collect()
}

fn drawn(outcome: &Outcome, shown: &[Path<'_>], others: &[Path<'_>], levels: &[(String, u32, f64)]) -> Chart {
    let value = |entry: &Entry| on_axis(&outcome.measure, entry.mean().unwrap_or(f64::NAN));
    let error = |entry: &Entry| on_axis(&outcome.measure, entry.standard_error().unwrap_or(0.0));
    let size = |entry: &Entry| entry.asked.unwrap_or(0) as f64;
    let line =
        |path: &Path<'_>| -> Vec<(f64, f64)> { path.entries.iter().map(|e| (size(e), value(e))).collect() };

    let mut heights: Vec<f64> = levels.iter().map(|(_, _, level)| *level).collect();
    for entry in shown.iter().flat_map(|path| &path.entries) {
        heights.extend([value(entry) - error(entry), value(entry) + error(entry)]);
    }
    // Faint lines may extend the axis downwards to twice its height at most.
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let floor = low - (high - low);
    let faint = others.iter().flat_map(&line).map(|(_, y)| y);
    heights.extend(faint.filter(|y| *y >= floor));
    let y = Axis::over(heights, Spacing::Even);

    let mut sizes: Vec<usize> =
        shown.iter().chain(others).flat_map(|p| &p.entries).filter_map(|e| e.asked).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let numbers: Vec<f64> = sizes.iter().map(|&q| q as f64).collect();
    let wide = sizes.first().zip(sizes.last()).is_some_and(|(first, last)| *first > 0 && *last >= 8 * first);
    let labels: Vec<(f64, String)> = sizes.iter().map(|&q| (q as f64, q.to_string())).collect();
    let x = Axis::labelled(&numbers, if wide { Spacing::Decades } else { Spacing::Whole }, &labels);

    let mut layers: Vec<Layer> = Vec::new();
    for path in others {
        let points =
            line(path).into_iter().map(|(x, y)| (x, if y >= floor { y } else { f64::NAN })).collect();
        layers.push(Layer::Line { ink: Ink::Faint, width: 0.8, points });
    }
    layers.extend(levels.iter().map(|(_, dash, value)| Layer::Level {
        ink: Ink::Muted,
        dash: *dash,
        value: *value,
    }));
    for (k, path) in shown.iter().enumerate().rev() {
        let ink = Ink::Series(k);
        let bars = path.entries.iter().map(|e| (size(e), value(e) - error(e), value(e) + error(e))).collect();
        layers.push(Layer::Whiskers { ink, bars });
        layers.push(Layer::Line { ink, width: 1.8, points: line(path) });
        layers.push(Layer::Marks { ink, shape: k, size: 2.8, opacity: 1.0, points: line(path) });
    }
    let best = shown.first().map(|path| {
        let top = path.entries.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
        top.map_or_else(String::new, |e| {
            format!(
                "Best: {} with {} features, {}.",
                candidate(outcome, e),
                e.asked.unwrap_or(0),
                score(&outcome.measure, e.mean())
            )
        })
    });
    let unit = if super::comparison::is_share(&outcome.measure) { ", %" } else { "" };
    Chart {
        name: format!("{} by number of features", capital(measure_name(&outcome.measure))),
        description: best.unwrap_or_default(),
        x: ("number of features".to_string(), x),
        y: (format!("{}{unit}", capital(measure_name(&outcome.measure))), y),
        height: 260,
        layers,
    }
}

fn legend(
    outcome: &Outcome,
    shown: &[Path<'_>],
    others: &[Path<'_>],
    levels: &[(String, u32, f64)],
) -> String {
    let title =
        |path: &Path<'_>| path.entries.first().map_or_else(String::new, |e| escaped(&candidate(outcome, e)));
    let mut items = joined(
        shown
            .iter()
            .enumerate()
            .map(|(k, path)| format!("<li>{}{}</li>", key(Ink::Series(k), k), title(path))),
    );
    items += &joined(
        levels
            .iter()
            .map(|(name, dash, _)| format!("<li>{}{}</li>", line_key(Ink::Muted, *dash), escaped(name))),
    );
    let mut legend = format!("<ul class=\"legend column\">{items}</ul>");
    if !others.is_empty() {
        let names = joined(others.iter().map(|path| format!("<li>{}</li>", title(path))));
        let summary = format!("{}{} more, faint", line_key(Ink::Faint, 0), others.len());
        legend += &folded(&summary, &format!("<ul class=\"legend column\">{names}</ul>"));
    }
    format!("<div>{legend}</div>")
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
