//! Scatter plots of the best features of a sample of rows, coloured by their labels.

use crate::data::labels::Labels;
use crate::evaluate::diagnostics::FitDiagnostics;

use super::axis::{Axis, Spacing};
use super::chart::{Chart, Layer, key, title};
use super::ink::{Ink, SERIES_COLOURS, STEPS_OF_SCALE};
use super::page::{Page, folded};
use super::text::{counted, joined, name, short};

/// The most classes of a legend that is not folded.
const CLASSES_SHOWN: usize = 12;

/// Rows that are drawn alike: colour, shape and indices.
struct Group {
    ink: Ink,
    shape: usize,
    rows: Vec<usize>,
}

/// Two or three features: one panel per pair. One feature: a lane per class, or the target against the feature.
pub(super) fn best_features(page: &mut Page, diagnostics: &FitDiagnostics, target: &str) {
    let width = diagnostics.point_names.len().min(3);
    let finite = diagnostics
        .points
        .iter()
        .filter(|row| row.len() >= width && row[..width].iter().all(|v| v.is_finite()));
    let drawn = finite.count();
    if width == 0 || drawn == 0 {
        return;
    }
    // The coordinates of a basis are in the order in which it found them, which labels had no part in.
    let order = if diagnostics.method == diagnostics.basis { "first" } else { "best" };
    let what = if width == 1 { "The feature".to_string() } else { format!("The {order} features") };
    let of = match (&diagnostics.held_out, &diagnostics.point_labels) {
        (Some(_), _) => " of rows held out",
        (None, Some(_)) => " of the rows that they were learned from",
        (None, None) => "",
    };
    page.section(&format!(
        "{what}{}",
        if width == 1 { of.replace("they were", "it was") } else { of.into() }
    ));
    if diagnostics.held_out.is_none() && diagnostics.point_labels.is_some() {
        page.add("<p>These rows were used to learn the features: new rows will lie less far apart.</p>");
    }
    let target = if target.trim().is_empty() { "target" } else { target };
    let (groups, legend) = groups(diagnostics, target);
    page.add(&legend);
    let (coloured, reading) = match &diagnostics.point_labels {
        Some(Labels::Classes { .. }) => {
            ("coloured by class", "Where classes overlap, these features alone do not separate them.")
        }
        Some(Labels::Several { .. }) => ("drawn alike", "There are several targets, of which none is shown."),
        Some(Labels::Numbers(_)) => (
            "coloured by the target",
            "Where the colour changes smoothly, these features predict the target.",
        ),
        None => ("without labels", "Clusters are rows that are similar in the kernel's space."),
    };
    if width == 1 {
        let (chart, caption) = single(diagnostics, &groups, drawn, target);
        page.panels(|page| page.figure(&chart, &caption));
        return;
    }
    let pairs: &[(usize, usize)] = if width == 2 { &[(0, 1)] } else { &[(0, 1), (0, 2), (1, 2)] };
    page.panels(|page| {
        for &(i, j) in pairs {
            let at = |row: usize| {
                Some((*diagnostics.points.get(row)?.get(i)?, *diagnostics.points.get(row)?.get(j)?))
            };
            let (chart, outside) = cloud(
                &format!(
                    "Feature {} against feature {}",
                    diagnostics.point_names[j], diagnostics.point_names[i]
                ),
                &format!("{}, {coloured}.", counted(drawn, "row", "rows")),
                (&title(&diagnostics.point_names[i]), &title(&diagnostics.point_names[j])),
                &groups,
                at,
            );
            page.figure(
                &chart,
                &format!(
                    "{} against {}.{}",
                    name(&diagnostics.point_names[j]),
                    name(&diagnostics.point_names[i]),
                    outliers(outside)
                ),
            );
        }
    });
    page.add(&format!(
        "<p class=\"soft\">{} by their {order} {} features, {coloured}. {reading}</p>",
        counted(drawn, "row", "rows"),
        if width == 2 { "two" } else { "three" },
    ));
}

fn cloud(
    called: &str,
    description: &str,
    (x_title, y_title): (&str, &str),
    groups: &[Group],
    at: impl Fn(usize) -> Option<(f64, f64)>,
) -> (Chart, usize) {
    let of = |group: &Group| -> Vec<(f64, f64)> { group.rows.iter().filter_map(|&row| at(row)).collect() };
    let clouds: Vec<Vec<(f64, f64)>> = groups.iter().map(of).collect();
    let n: usize = clouds.iter().map(Vec::len).sum();
    let size = if n > 600 {
        1.9
    } else if n > 150 {
        2.6
    } else {
        3.0
    };
    let x = edges(clouds.iter().flatten().map(|p| p.0).collect());
    let y = edges(clouds.iter().flatten().map(|p| p.1).collect());
    let beyond =
        |(a, b): &&(f64, f64)| [(a, x), (b, y)].iter().any(|(v, (low, high))| **v < *low || **v > *high);
    let outside = clouds.iter().flatten().filter(beyond).count();
    let inside = |edges: (f64, f64), v: f64| if v.is_finite() { v.clamp(edges.0, edges.1) } else { v };
    let x = Axis::over(clouds.iter().flatten().map(|p| inside(x, p.0)), Spacing::Even);
    let y = Axis::over(clouds.iter().flatten().map(|p| inside(y, p.1)), Spacing::Even);
    let layers = groups
        .iter()
        .zip(clouds)
        .map(|(group, points)| Layer::Marks {
            ink: group.ink,
            shape: group.shape,
            size,
            opacity: 0.8,
            points,
        })
        .collect();
    let chart = Chart {
        name: called.to_string(),
        description: description.to_string(),
        x: (x_title.to_string(), x),
        y: (y_title.to_string(), y),
        height: 300,
        layers,
    };
    (chart, outside)
}

// The range that is shown: that of the middle 95 % of the rows, extended by its width on either side. Otherwise a few
// outliers would press all other rows into a corner.
fn edges(mut values: Vec<f64>) -> (f64, f64) {
    values.retain(|v| v.is_finite());
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return (0.0, 0.0) };
    let cut = last / 40;
    let (low, high) = (values[cut], values[last - cut]);
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return (values[0], values[last]);
    }
    ((low - span).max(values[0]), (high + span).min(values[last]))
}

// A note on rows beyond the edges.
fn outliers(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " One row lies beyond an edge and is drawn on it.".to_string(),
        many => format!(" {many} rows lie beyond an edge and are drawn on it."),
    }
}

fn single(diagnostics: &FitDiagnostics, groups: &[Group], drawn: usize, target: &str) -> (Chart, String) {
    let feature = &diagnostics.point_names[0];
    let value = |row: usize| diagnostics.points.get(row)?.first().copied();
    let description = counted(drawn, "row", "rows");
    if let Some(Labels::Numbers(targets)) = &diagnostics.point_labels {
        let at = |row: usize| Some((value(row)?, *targets.get(row)?));
        let called = format!("Target against feature {feature}");
        let (chart, outside) = cloud(&called, &description, (&title(feature), &title(target)), groups, at);
        let caption = format!("The target against {}: a narrow band is a good feature.", name(feature));
        return (chart, caption + &outliers(outside));
    }
    let lanes = groups.len().max(1);
    let lane: std::collections::BTreeMap<usize, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(k, group)| group.rows.iter().map(move |&row| (row, k)))
        .collect();
    // Spread within a lane by the golden ratio: even, and the same every time.
    let at = |row: usize| {
        let spread = (row as f64 * 0.618_033_988_749_894_9).fract() * 0.7 + 0.15;
        Some((value(row)?, (lanes - lane.get(&row)?) as f64 - 1.0 + spread))
    };
    let (mut chart, outside) =
        cloud(&format!("Feature {feature}"), &description, (&title(feature), ""), groups, at);
    chart.y.1.ticks.clear();
    chart.height = (80 + 34 * u32::try_from(lanes).unwrap_or(1)).clamp(120, 420);
    let text = match &diagnostics.point_labels {
        None => format!("{} by {}; the height has no meaning.", description, name(feature)),
        Some(_) => format!(
            "{description} by {}, one lane per class; the height within a lane has no meaning. Lanes that do not overlap are \
             separated by this feature alone.",
            name(feature)
        ),
    };
    (chart, text + &outliers(outside))
}

// Five shapes and ten colours: the shapes move on where the colours begin again.
fn shape_of(class: usize) -> usize {
    class + class / SERIES_COLOURS
}

// Groups of rows that are drawn alike, and the legend.
fn groups(diagnostics: &FitDiagnostics, target: &str) -> (Vec<Group>, String) {
    let n = diagnostics.points.len();
    match &diagnostics.point_labels {
        None | Some(Labels::Several { .. }) => {
            (vec![Group { ink: Ink::Series(0), shape: 0, rows: (0..n).collect() }], String::new())
        }
        Some(Labels::Classes { codes, names }) => {
            let mut groups: Vec<Group> = (0..names.len())
                .map(|k| Group { ink: Ink::Series(k), shape: shape_of(k), rows: Vec::new() })
                .collect();
            for (row, &code) in codes.iter().enumerate().take(n) {
                if let Some(group) = groups.get_mut(code) {
                    group.rows.push(row);
                }
            }
            let items =
                joined(names.iter().enumerate().map(|(k, class)| {
                    format!("<li>{}{}</li>", key(Ink::Series(k), shape_of(k)), name(class))
                }));
            let list = format!("<ul class=\"legend\">{items}</ul>");
            let legend = if names.len() > CLASSES_SHOWN {
                folded(&format!("Legend: {} classes; colours and shapes repeat after 50", names.len()), &list)
            } else {
                list
            };
            (groups, legend)
        }
        Some(Labels::Numbers(values)) => numbers(values, n, target),
    }
}

// Nine steps between the 5 % and the 95 % quantile, so that an outlier does not use up the colour scale.
fn numbers(values: &[f64], n: usize, target: &str) -> (Vec<Group>, String) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let mut groups: Vec<Group> =
        (0..STEPS_OF_SCALE).map(|k| Group { ink: Ink::Step(k), shape: 0, rows: Vec::new() }).collect();
    let Some(last) = sorted.len().checked_sub(1) else { return (groups, String::new()) };
    let (low, high) = (sorted[last * 5 / 100], sorted[last - last * 5 / 100]);
    for (row, value) in values.iter().enumerate().take(n).filter(|(_, v)| v.is_finite()) {
        // Halved first, because the range of all float64 numbers would overflow.
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        let step =
            if share.is_finite() { (share * STEPS_OF_SCALE as f64).clamp(0.0, 8.0) as usize } else { 4 };
        groups[step.min(STEPS_OF_SCALE - 1)].rows.push(row);
    }
    let clipped = last >= 20;
    let (below, above) = if clipped { ("≤ ", "≥ ") } else { ("", "") };
    let legend = format!(
        "<div class=\"ramp\"><span>{} {below}{}</span><span class=\"bar\"></span><span>{above}{}</span></div>",
        name(target),
        short(low),
        short(high)
    );
    (groups, legend)
}
