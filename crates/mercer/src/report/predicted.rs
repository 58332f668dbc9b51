//! Predictions beside the truth: a confusion matrix for classes, two charts for numbers.

use crate::data::labels::Labels;
use crate::evaluate::measures::{Predictions, confusion};

use super::axis::{Axis, Spacing};
use super::chart::{Chart, Layer, title};
use super::confusion::matrix;
use super::ink::Ink;
use super::page::Page;
use super::text::counted;

/// The most rows that are drawn.
const POINTS_SHOWN: usize = 1_500;

/// Shows what was predicted for rows with these labels; `whose` says by what and which rows, in a sentence of HTML.
pub(super) fn predicted(
    page: &mut Page,
    truth: &Labels,
    predictions: &Predictions,
    whose: &str,
    target: &str,
) {
    match (truth, predictions) {
        (Labels::Classes { codes, names }, Predictions::Classes(predicted)) => {
            matrix(page, &confusion(codes, predicted, names.len()), names, whose);
        }
        (Labels::Numbers(truth), Predictions::Numbers(predicted)) => {
            numbers(page, truth, predicted, whose, target);
        }
        _ => {}
    }
}

fn numbers(page: &mut Page, truth: &[f64], predicted: &[f64], whose: &str, target: &str) {
    let step = truth.len().div_ceil(POINTS_SHOWN).max(1);
    let points: Vec<(f64, f64)> =
        truth.iter().copied().zip(predicted.iter().copied()).step_by(step).collect();
    if points.is_empty() {
        return;
    }
    page.section("Predicted and true values");
    let (low, high) = points
        .iter()
        .flat_map(|p| [p.0, p.1])
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let both = || Axis::over([low, high], Spacing::Even);
    let of = |what: &str| title(&if target.is_empty() { what.into() } else { format!("{what} {target}") });
    let marks = |points: Vec<(f64, f64)>| Layer::Marks {
        ink: Ink::Series(0),
        shape: 0,
        size: 2.4,
        opacity: 0.7,
        points,
    };
    let line = |points| Layer::Line { ink: Ink::Muted, width: 1.0, points };
    let description = counted(points.len(), "row", "rows");
    let against = Chart {
        name: "Predicted against true values".into(),
        description: description.clone(),
        x: (of("true"), both()),
        y: (of("predicted"), both()),
        height: 300,
        layers: vec![line(vec![(low, low), (high, high)]), marks(points.clone())],
    };
    let errors: Vec<(f64, f64)> =
        points.iter().map(|(truth, predicted)| (*predicted, predicted - truth)).collect();
    let residuals = Chart {
        name: "Residuals".into(),
        description,
        x: (of("predicted"), both()),
        y: ("predicted − true".into(), Axis::over(errors.iter().map(|e| e.1).chain([0.0]), Spacing::Even)),
        height: 300,
        layers: vec![line(vec![(low, 0.0), (high, 0.0)]), marks(errors)],
    };
    page.panels(|page| {
        page.figure(&against, "<b>Predicted against true values.</b> On the line both are equal.");
        page.figure(
            &residuals,
            "<b>Residuals.</b> A bend or a slope is a pattern that the features miss; a widening band means that large \
             values are predicted less well.",
        );
    });
    page.add(&format!("<p class=\"soft\">{whose}</p>"));
}
