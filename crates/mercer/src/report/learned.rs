//! The page about a predictor.

use crate::data::labels::Labels;
use crate::evaluate::learn::{Attempt, Learned};
use crate::evaluate::measures::{Predictions, confusion};

use super::About;
use super::axis::{Axis, Spacing};
use super::chart::{Chart, Layer};
use super::confusion;
use super::features::{measured, weights};
use super::ink::Ink;
use super::page::{Page, table};
use super::text::{counted, escaped, joined, short};

/// The most rows that are drawn.
const POINTS: usize = 1_500;

/// A page about a predictor: what it consists of, how well it predicts rows that were left out, and the weights of the inputs.
///
/// ```
/// use mercer::{data::{Labels, Task, synth}, evaluate::Learner, report::{About, learned}};
///
/// let table = synth::generate("ringnorm?n=120&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let found = Learner::default().fit(&table.rows, &labels)?;
/// let page = learned(&found, &table.names, &About { source: "rings.csv".into(), ..About::default() });
/// assert!(page.contains("Which classes are confused") && page.contains("rings.csv"));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn learned(learned: &Learned, input_names: &[String], about: &About) -> String {
    let mut page = Page::default();
    let members = learned.tried.iter().filter(|attempt| attempt.is_member).count();
    page.facts(&[
        ("members", members.to_string()),
        ("landmarks", learned.map.expansion.landmarks.len().to_string()),
        ("rows left out in turn", learned.left_out.labels.len().to_string()),
    ]);
    page.warnings(&learned.warnings);
    predictions(&mut page, learned);
    tried(&mut page, learned);
    if let Some(found) = &learned.weights {
        let name = |j: usize| input_names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1));
        let named: Vec<(String, f64)> =
            found.weights.iter().enumerate().map(|(j, weight)| (name(j), *weight)).collect();
        weights(&mut page, &named);
    }
    page.repeat(about);
    let score = &learned.left_out.score;
    let (value, chance) = (measured(score.measure, score.value), measured(score.measure, score.chance));
    let answer = if score.is_above_chance() {
        format!("<b>{value}</b> on rows left out in turn; shuffled labels give {chance}.")
    } else {
        format!(
            "<b>No better than chance:</b> {value} on rows left out in turn, and shuffled labels give {chance}. The inputs \
             say nothing about this target that was found."
        )
    };
    page.finish("Predictor", &answer, about)
}

fn predictions(page: &mut Page, learned: &Learned) {
    match (&learned.left_out.labels, &learned.left_out.predictions) {
        (Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
            let caption = "Rows left out in turn. Kernels, widths and sizes were chosen by the same rows, so new rows are \
                           predicted a little worse.";
            confusion::matrix(page, &confusion(codes, predicted, names.len()), names, caption);
        }
        (Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
            page.section("True and predicted numbers");
            let step = truth.len().div_ceil(POINTS).max(1);
            let points: Vec<(f64, f64)> =
                truth.iter().copied().zip(predicted.iter().copied()).step_by(step).collect();
            let ends = points.iter().flat_map(|p| [p.0, p.1]);
            let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            let marks = Layer::Marks {
                ink: Ink::Series(0),
                shape: 0,
                size: 2.0,
                opacity: 0.7,
                points: points.clone(),
            };
            let diagonal =
                Layer::Line { ink: Ink::Muted, width: 1.0, points: vec![(low, low), (high, high)] };
            let chart = Chart {
                name: "True and predicted numbers".into(),
                description: counted(points.len(), "row", "rows"),
                x: ("true".into(), Axis::over([low, high], Spacing::Even)),
                y: ("predicted".into(), Axis::over([low, high], Spacing::Even)),
                height: 300,
                layers: vec![diagonal, marks],
            };
            page.panels(|page| {
                page.figure(&chart, "Rows left out in turn; on the line both are the same.");
            });
        }
        _ => {}
    }
}

/// How many coordinates there are, and with how many the error was measured.
fn coordinates(attempt: &Attempt) -> String {
    match attempt.tried_size {
        tried if tried == attempt.size => tried.to_string(),
        tried => format!("{}, tried with {tried}", attempt.size),
    }
}

fn tried(page: &mut Page, learned: &Learned) {
    page.section("What was tried");
    let rows = joined(learned.tried.iter().map(|attempt| {
        format!(
            "<tr><th scope=\"row\">{}{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            escaped(attempt.kernel),
            if attempt.weighted { ", weighted inputs" } else { "" },
            short(attempt.gamma),
            coordinates(attempt),
            short(attempt.error),
            if attempt.is_member { "yes" } else { "no" }
        )
    }));
    let head = [
        ("Kernel", false),
        ("γ", true),
        ("Coordinates", true),
        ("Leave-one-out error", true),
        ("Member", false),
    ];
    page.add(&table("", &head, &rows));
    page.add(
        "<p class=\"soft\">Ridge on the coordinates of each kernel at its best width and size; the error is squared, and low is \
         good. The prediction is the mean of the members.</p>",
    );
}
