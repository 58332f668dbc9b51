//! The page about a predictor.

use crate::evaluate::learn::{Attempt, Learned};
use crate::map::Predictor;

use super::About;
use super::features::{measured, weights};
use super::page::{Page, table};
use super::predicted::predicted;
use super::sizes::capital;
use super::text::{escaped, joined, short};

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
        ("kernels averaged", members.to_string()),
        ("landmarks", learned.map.predictor.as_ref().map_or(0, Predictor::n_support).to_string()),
        ("rows", learned.left_out.labels.len().to_string()),
    ]);
    page.warnings(&learned.warnings);
    let whose = "Leave-one-out predictions. Kernels, widths and sizes were chosen by the same rows, so new rows are predicted \
                 a little worse.";
    let left_out = &learned.left_out;
    predicted(&mut page, &left_out.labels, &left_out.predictions, whose, &about.target);
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
        format!("<b>{}</b> by leave-one-out predictions; shuffled labels give {chance}.", capital(&value))
    } else {
        format!(
            "<b>No better than chance:</b> {value} by leave-one-out predictions, and shuffled labels give {chance}. No \
             kernel that was tried predicts this target from these inputs."
        )
    };
    page.finish("Predictor", &answer, about)
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
        ("Averaged", false),
    ];
    page.add(&table("", &head, &rows));
    page.add(
        "<p class=\"soft\">Ridge on the coordinates of each kernel at its best width and size; the error is squared, and low is \
         good. The prediction is the mean over the kernels that are averaged.</p>",
    );
}
