//! The page about a recommendation.

use crate::evaluate::advice::{Advice, Verdict};
use crate::evaluate::diagnostics::FitDiagnostics;
use crate::evaluate::measures::Measure;

use super::About;
use super::axis::{Axis, Spacing};
use super::chart::{Chart, Layer};
use super::features;
use super::ink::Ink;
use super::page::{Page, table};
use super::sizes::capital;
use super::text::{counted, escaped, joined, name, prose, shell_word, short};

/// A page about a recommendation: whether a kernel helps, what to use and why, the command to run, and the curves behind it.
///
/// ```
/// use mercer::evaluate::advice::{Advice, Verdict};
/// use mercer::report::{About, advice};
///
/// let found = Advice { verdict: Verdict::Helps, method: "gda".into(), ..Advice::default() };
/// let page = advice(&found, None, &About { source: "my data.csv".into(), target: "kind".into(), ..About::default() });
/// assert!(page.contains("Kernel features help here"));
/// assert!(page.contains("mercer fit &#39;my data.csv&#39; --target kind --method gda -o model.mercer"));
/// ```
pub fn advice(advice: &Advice, diagnostics: Option<&FitDiagnostics>, about: &About) -> String {
    let mut page = Page::default();
    let mut facts = vec![("rows used", advice.rows.to_string()), ("task", advice.task())];
    if !about.target.is_empty() {
        facts.push(("target", name(&about.target)));
    }
    page.facts(&facts);
    page.warnings(&advice.warnings);
    recommendation(&mut page, advice, about);
    findings(&mut page, advice);
    curves(&mut page, advice);
    inner(&mut page, advice);
    if let Some(diagnostics) = diagnostics {
        page.section(&format!("A closer look at {}", escaped(&diagnostics.method)));
        features::facts(&mut page, diagnostics);
        features::score(&mut page, diagnostics);
        page.below(|page| {
            features::predictions(page, diagnostics, &about.target);
            features::charts(page, diagnostics, &about.target);
        });
    }
    page.repeat(about);
    page.finish("Advice", &answer(advice), about)
}

fn answer(advice: &Advice) -> String {
    let verdict = match advice.verdict {
        Verdict::Helps => "Kernel features help here",
        Verdict::MakesNoDifference => {
            "Kernel features make no clear difference here: the plain columns do as well"
        }
        Verdict::Hurts => "Kernel features hurt here: the plain columns do better",
    };
    if advice.is_chance() {
        return format!("<b>{}</b>", advice.headline());
    }
    match (advice.verdict, advice.method.is_empty()) {
        (_, true) => format!("<b>{verdict}.</b>"),
        (Verdict::Helps, false) => format!("<b>{verdict}.</b> Use <b>{}</b>.", escaped(&advice.method)),
        (_, false) => {
            format!("<b>{verdict}.</b> If you want them, use <b>{}</b>.", escaped(&advice.method))
        }
    }
}

fn recommendation(page: &mut Page, advice: &Advice, about: &About) {
    page.section("What to do");
    if !advice.method.is_empty() {
        let command = format!(
            "mercer fit {} --target {} {} -o model.mercer",
            shell_word(&about.source),
            shell_word(&about.target),
            advice.arguments(),
        );
        page.add(&format!("<pre><code>{}</code></pre>", escaped(&command)));
    }
    if !advice.reasons.is_empty() {
        let reasons = joined(advice.reasons.iter().map(|why| format!("<li>{}</li>", prose(why))));
        page.add(&format!("<h3>Why</h3><ul>{reasons}</ul>"));
    }
}

fn findings(page: &mut Page, advice: &Advice) {
    if advice.findings.is_empty() {
        return;
    }
    page.section("Findings");
    let rows = joined(advice.findings.iter().map(|finding| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"wide\">{}</td><td class=\"wide\">{}</td></tr>",
            escaped(&finding.name),
            prose(&finding.value),
            prose(&finding.meaning)
        )
    }));
    page.add(&table("", &[("Finding", false), ("Value", false), ("What it means", false)], &rows));
}

fn curves(page: &mut Page, advice: &Advice) {
    let sizes: Vec<(f64, f64)> = advice.loo_by_size.iter().map(|(m, e)| (*m as f64, *e)).collect();
    let charts = [
        curve(
            "Alignment with the labels over γ",
            ("γ", "Alignment"),
            &advice.alignments,
            (Ink::Series(2), Best::Highest),
            "<b>Is the kernel aligned with the labels?</b> Centred alignment of the kernel with the labels for every γ; high \
             is good, 0 means no alignment.",
        ),
        curve(
            "Leave-one-out error over γ",
            ("γ", "Leave-one-out error"),
            &advice.loo_by_gamma,
            (Ink::Series(0), Best::Lowest),
            "<b>Which width?</b> Leave-one-out error of ridge on the basis for every γ; low is good. Too small a γ \
             underfits (left), too large a γ overfits (right).",
        ),
        curve(
            "Leave-one-out error over the size of the basis",
            ("basis size", "Leave-one-out error"),
            &sizes,
            (Ink::Series(1), Best::Lowest),
            "<b>How large a basis?</b> Leave-one-out error of ridge for every size at the chosen width; low is good. \
             Where the line is level, more coordinates only add cost.",
        ),
    ];
    let charts: Vec<(Chart, String)> = charts.into_iter().flatten().collect();
    if !charts.is_empty() {
        page.section("Width and size");
        page.panels(|page| charts.iter().for_each(|(chart, caption)| page.figure(chart, caption)));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Best {
    Highest,
    Lowest,
}

fn curve(
    called: &str,
    (x_title, y_title): (&str, &str),
    points: &[(f64, f64)],
    (ink, best): (Ink, Best),
    caption: &str,
) -> Option<(Chart, String)> {
    let mut points: Vec<(f64, f64)> = points.to_vec();
    points.retain(|(x, y)| x.is_finite() && y.is_finite());
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let better = |a: &&(f64, f64), b: &&(f64, f64)| match best {
        Best::Highest => b.1.total_cmp(&a.1),
        Best::Lowest => a.1.total_cmp(&b.1),
    };
    let found = *points.iter().min_by(better)?;
    let ratio = points.last()?.0 / points.first()?.0;
    let spacing = if points[0].0 > 0.0 && ratio > 8.0 { Spacing::Decades } else { Spacing::Even };
    let chart = Chart {
        name: called.to_string(),
        description: format!("Best at {x_title} = {}, where it is {}.", short(found.0), short(found.1)),
        x: (x_title.to_string(), Axis::over(points.iter().map(|p| p.0), spacing)),
        y: (y_title.to_string(), Axis::over(points.iter().map(|p| p.1), Spacing::Even)),
        height: 220,
        layers: vec![
            Layer::Position { ink: Ink::Muted, value: found.0 },
            Layer::Line { ink, width: 1.8, points: points.clone() },
            Layer::Marks { ink, shape: 0, size: 2.8, opacity: 1.0, points },
        ],
    };
    let caption = format!("{caption} Best at {} ({}), dashed.", short(found.0), short(found.1));
    Some((chart, caption))
}

fn inner(page: &mut Page, advice: &Advice) {
    if advice.inner.is_empty() {
        return;
    }
    page.section("Results on inner folds");
    let measure = match (advice.score, advice.classes) {
        (Some(score), _) => score.measure,
        (None, Some(_)) => Measure::Accuracy,
        (None, None) => Measure::R2,
    };
    let rows = joined(advice.inner.iter().map(|(candidate, mean, error)| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escaped(candidate),
            features::of_measure(measure, *mean),
            features::of_measure(measure, *error)
        )
    }));
    let title = capital(measure.words());
    let head = [("Candidate", false), (title.as_str(), true), ("± standard error", true)];
    page.add(&table("", &head, &rows));
    page.add(&format!(
        "<p class=\"soft\">{}, best first; high is good. Differences smaller than the standard errors are not significant.</p>",
        counted(advice.inner.len(), "candidate", "candidates")
    ));
}
