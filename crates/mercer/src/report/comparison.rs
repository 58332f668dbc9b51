//! The page about a comparison.

use std::fmt::Write;

use crate::evaluate::diagnostics::FitDiagnostics;
use crate::evaluate::measures::Measure;
use crate::evaluate::outcome::{Chance, Entry, Outcome};

use super::About;
use super::page::{Page, folded, table};
use super::text::{MISSING, count, counted, escaped, joined, minus, name, prose, seconds, short};
use super::{confusion, features, sizes};

/// A page about a comparison: the best candidate and whether its lead is clear, a table of all candidates, scores by number of
/// features, the confusion matrix of the best one, and its features.
///
/// ```
/// use mercer::evaluate::outcome::{Entry, Outcome};
/// use mercer::report::{About, comparison};
///
/// let entry = |method: &str, scores: [f64; 2]| Entry {
///     method: method.into(), evaluator: "knn".into(), scores: scores.to_vec(), ..Entry::default()
/// };
/// let entries = vec![entry("klfe", [0.97, 0.99]), entry("raw", [0.70, 0.74])];
/// let outcome = Outcome { measure: "accuracy".into(), entries, ..Outcome::default() };
/// let page = comparison(&outcome, None, &About::default());
/// assert!(page.contains("26.0 ±\u{a0}1.0\u{a0}points better than the plain columns"));
/// ```
pub fn comparison(outcome: &Outcome, diagnostics: Option<&FitDiagnostics>, about: &About) -> String {
    let mut page = Page::default();
    facts(&mut page, outcome, about);
    if outcome.interrupted {
        page.warnings(&[format!(
            "The comparison was stopped early; the results are those of {} of {} splits.",
            outcome.n_finished(),
            outcome.n_splits
        )]);
    }
    page.warnings(&outcome.warnings);
    let listed = listed(outcome);
    results(&mut page, outcome, &listed);
    sizes::chart(&mut page, outcome);
    if let Some(best) = outcome.recommended().or_else(|| outcome.best()).or_else(|| listed.first().copied()) {
        confusion::of_entry(&mut page, outcome, best);
    }
    if let Some(diagnostics) = diagnostics {
        page.section(&format!("A closer look at {}", escaped(&diagnostics.method)));
        let which = match outcome.recommended() {
            Some(_) => "The recommended method",
            None => "The best features, which are not recommended",
        };
        page.add(&format!("<p class=\"soft\">{which}; what is drawn are rows that were held out.</p>"));
        features::facts(&mut page, diagnostics);
        features::score(&mut page, diagnostics);
        page.below(|page| {
            // The confusion of classes is above, from all splits.
            if outcome.classes.is_empty() {
                features::predictions(page, diagnostics, &about.target);
            }
            features::charts(page, diagnostics, &about.target);
        });
    }
    page.repeat(about);
    page.finish("Comparison", &answer(outcome, &listed), about)
}

/// Whether an entry is a baseline.
pub(super) fn is_baseline(entry: &Entry) -> bool {
    entry.is_baseline()
}

/// The name of a candidate, in one line. The rule for γ is included only if there are several.
pub(super) fn candidate(outcome: &Outcome, entry: &Entry) -> String {
    let mut who = match entry.method.as_str() {
        "raw" => "plain columns".to_string(),
        "rbf-svm" => return "SVM with an rbf kernel".to_string(),
        "kknn" => return "nearest neighbour in kernel space".to_string(),
        "dummy" => return "largest class or mean".to_string(),
        other => other.to_string(),
    };
    if let Some(basis) = entry.basis.as_deref().filter(|basis| *basis != entry.method && !basis.is_empty()) {
        let _ = write!(who, " on {basis}");
    }
    if let Some(rule) = entry.gamma_rule.as_ref().filter(|_| several_rules(outcome)) {
        let _ = write!(who, ", γ {rule}");
    }
    if !entry.evaluator.is_empty() {
        let _ = write!(who, ", {}", entry.evaluator);
    }
    who
}

// Whether methods were compared at several rules for γ; baselines have their own.
fn several_rules(outcome: &Outcome) -> bool {
    let mut rules = outcome.entries.iter().filter(|e| !is_baseline(e)).filter_map(|e| e.gamma_rule.as_ref());
    rules.next().is_some_and(|first| rules.any(|rule| rule != first))
}

/// Whether a measure is a share, to be shown as percent.
pub(super) fn is_share(measure: &str) -> bool {
    Measure::named(measure).is_ok_and(Measure::is_share)
}

/// The name of a measure in a sentence.
pub(super) fn measure_name(measure: &str) -> &str {
    match Measure::named(measure) {
        Ok(measure) => measure.words(),
        Err(_) => measure,
    }
}

// A long name as it stands above a column.
fn abbreviated(measure: &str) -> Option<&'static str> {
    match measure {
        "rmse" => Some("RMSE"),
        "mse" => Some("MSE"),
        "mae" => Some("MAE"),
        _ => None,
    }
}

/// A value of the measure on a chart's axis.
pub(super) fn on_axis(measure: &str, value: f64) -> f64 {
    if is_share(measure) { 100.0 * value } else { value }
}

/// A value of a measure as text.
pub(super) fn score(measure: &str, value: Option<f64>) -> String {
    match value {
        Some(v) if !v.is_finite() => short(v),
        Some(v) if is_share(measure) => format!("{:.1}\u{a0}%", 100.0 * v),
        Some(v) if measure == "r2" && v.abs() < 1000.0 => minus(&format!("{v:.3}")),
        Some(v) => short(v),
        None => MISSING.to_string(),
    }
}

// The error of a score, without a unit.
fn uncertainty(measure: &str, error: f64) -> String {
    match (is_share(measure), error.is_finite()) {
        (true, true) => format!("{:.1}", 100.0 * error),
        (false, true) if measure == "r2" && error < 1000.0 => format!("{error:.3}"),
        _ => short(error),
    }
}

// Candidates with their own number of features, and those that the answer names; all candidates if every method was given a number.
fn listed(outcome: &Outcome) -> Vec<&Entry> {
    let own = outcome.entries.iter().any(|e| e.asked.is_none() && !is_baseline(e));
    let fits = |e: &&Entry| {
        (!own || e.asked.is_none() || outcome.is_named(e)) && e.mean().is_some_and(f64::is_finite)
    };
    outcome.entries.iter().filter(fits).collect()
}

fn facts(page: &mut Page, outcome: &Outcome, about: &About) {
    let mut facts = vec![("rows", outcome.rows.to_string()), ("inputs", outcome.inputs.to_string())];
    if !outcome.classes.is_empty() {
        facts.push(("classes", outcome.classes.len().to_string()));
    }
    if !about.target.is_empty() {
        facts.push(("target", name(&about.target)));
    }
    let (finished, asked) = (outcome.n_finished(), outcome.n_splits);
    facts.push((
        "splits",
        if finished < asked { format!("{finished} of {asked}") } else { asked.to_string() },
    ));
    facts.push(("candidates", outcome.entries.len().to_string()));
    if !outcome.measure.is_empty() {
        facts.push(("measure", escaped(measure_name(&outcome.measure))));
    }
    page.facts(&facts);
}

// The recommended features and the best, whether they are clearly better than the baselines, and how far above chance.
fn answer(outcome: &Outcome, listed: &[&Entry]) -> String {
    if outcome.entries.is_empty() {
        return "Nothing was compared.".to_string();
    }
    // Of all candidates, those with a given number of features too.
    let scored = |e: &&Entry| e.failed.is_none() && e.mean().is_some_and(f64::is_finite);
    let Some(first) = outcome.entries.iter().find(scored).or_else(|| listed.first().copied()) else {
        return "No candidate has a score; the reasons are below.".to_string();
    };
    let best = outcome.recommended().or_else(|| outcome.best());
    let Some(best) = best.or_else(|| listed.iter().find(|e| !is_baseline(e)).copied()) else {
        return format!("Best is {}.", described(outcome, first));
    };
    let mut text = if outcome.recommended().is_none() {
        format!("No features are recommended. The best are {}", described(outcome, best))
    } else if is_baseline(first) {
        format!(
            "Best is {}. Of the kernel features {} is recommended",
            described(outcome, first),
            described(outcome, best)
        )
    } else {
        format!("Recommended: {}", described(outcome, best))
    };
    let rivals = [
        (Some(first).filter(|top| !std::ptr::eq(*top, best) && !is_baseline(top)), None),
        (listed.iter().find(|e| e.method == "raw").copied(), Some("the plain columns")),
        (listed.iter().find(|e| e.method == "rbf-svm").copied(), Some("an SVM with an rbf kernel")),
    ];
    let comparisons: Vec<String> = rivals
        .into_iter()
        .filter_map(|(rival, called)| {
            let rival = rival?;
            let called = called.map_or_else(
                || {
                    format!(
                        "the best, <b>{}</b> with {}",
                        escaped(&candidate(outcome, rival)),
                        features_text(rival.features().unwrap_or(0.0))
                    )
                },
                |called| match rival.evaluator.as_str() {
                    own if own.is_empty() || own == rival.method => called.to_string(),
                    evaluator => format!("{called} ({})", escaped(evaluator)),
                },
            );
            Some(against(&outcome.measure, best, rival, &called))
        })
        .collect();
    if !comparisons.is_empty() {
        let _ = write!(text, ": {}", comparisons.join("; "));
    }
    text.push('.');
    if let Some(chance) = outcome.chance {
        text.push_str(&by_chance(outcome, chance));
    }
    text
}

// A candidate with its score and size.
fn described(outcome: &Outcome, entry: &Entry) -> String {
    let measure = &outcome.measure;
    let error = entry.standard_error().filter(|e| e.is_finite());
    let spread = error.map_or_else(String::new, |e| format!(" ±\u{a0}{}", uncertainty(measure, e)));
    let mut text = format!(
        "<b>{}</b> with {} {}{spread}",
        escaped(&candidate(outcome, entry)),
        article(measure),
        score(measure, entry.mean()),
    );
    if let Some(q) = entry.features().filter(|_| !is_baseline(entry)) {
        let _ = write!(text, " from {}", features_text(q));
    }
    text
}

// A mean number of features in a sentence.
fn features_text(mean: f64) -> String {
    match mean {
        1.0 => "one feature".into(),
        whole if whole.fract() == 0.0 => format!("{whole:.0} features"),
        other => format!("about {other:.0} features"),
    }
}

// What shuffled labels give.
fn by_chance(outcome: &Outcome, chance: Chance) -> String {
    let reached = score(&outcome.measure, Some(chance.score));
    let of_features = outcome.best().and_then(|best| outcome.p_value(best)).unwrap_or(chance.p_value);
    if of_features <= 0.05 {
        return format!(" With shuffled labels the best candidate has {reached}.");
    }
    let (who, p) = if chance.p_value <= 0.05 {
        ("No features are", of_features)
    } else {
        ("No candidate is", chance.p_value)
    };
    format!(
        " <b>{who} better than chance:</b> with shuffled labels the best candidate has {reached} (p\u{a0}=\u{a0}{p:.2})."
    )
}

fn article(measure: &str) -> String {
    match measure {
        "accuracy" => "an accuracy of".to_string(),
        "r2" => "an R² of".to_string(),
        other => format!("a {} of", escaped(measure_name(other))),
    }
}

fn against(measure: &str, best: &Entry, rival: &Entry, called: &str) -> String {
    let (Some((lead, paired)), Some(other)) = (best.lead_over(rival), rival.mean()) else {
        return String::new();
    };
    let unit = if is_share(measure) { "\u{a0}points" } else { "" };
    let error = paired.filter(|e| e.is_finite());
    let spread = error.map_or_else(String::new, |e| format!(" ±\u{a0}{}", uncertainty(measure, e)));
    let difference = uncertainty(measure, lead.abs());
    let other = score(measure, Some(other));
    match best.clearly_better(rival) {
        Some(true) => format!("{difference}{spread}{unit} better than {called}, {other}"),
        Some(false) => format!("{difference}{spread}{unit} worse than {called}, {other}"),
        None => format!("not clearly different from {called}, {other} (difference {difference}{spread})"),
    }
}

fn results(page: &mut Page, outcome: &Outcome, listed: &[&Entry]) {
    if outcome.entries.is_empty() {
        return;
    }
    page.section("All candidates");
    if !listed.is_empty() {
        page.add(&candidates(outcome, listed));
        let errors = match outcome.n_finished() {
            0 | 1 => "Only one split was made, so there are no standard errors.".to_string(),
            n => format!(
                "± is the standard error over {n} splits; the splits share rows, so it is somewhat too small."
            ),
        };
        page.add(&format!(
            "<p class=\"soft\">Best first. {errors} The best of many candidates looks a little better than it is. \
             <i>Kernel values</i> is the cost of one prediction; <i>time</i> is that of one fit and evaluation; both and \
             the number of features are means over the splits. Italic: baselines without kernel features.</p>",
        ));
    }
    let sized: Vec<&Entry> = outcome
        .entries
        .iter()
        .filter(|e| e.mean().is_some_and(f64::is_finite) && !listed.iter().any(|l| std::ptr::eq(*l, *e)))
        .collect();
    if !sized.is_empty() {
        let summary =
            format!("{} with a given number of features", counted(sized.len(), "candidate", "candidates"));
        page.add(&folded(&summary, &candidates(outcome, &sized)));
    }
    failures(page, outcome);
}

fn candidates(outcome: &Outcome, entries: &[&Entry]) -> String {
    let widths = entries.iter().any(|e| e.gamma().is_some());
    let scale = scale(entries);
    let rows = joined(entries.iter().enumerate().map(|(k, e)| row(outcome, e, k == 0, widths, scale)));
    let (first, second) = (measure_name(&outcome.measure), measure_name(&outcome.second));
    let second = abbreviated(&outcome.second).unwrap_or(second);
    let (first, second) = (escaped(&sizes::capital(first)), escaped(&sizes::capital(second)));
    let mut head = vec![
        ("Method", false),
        (first.as_str(), true),
        ("", false),
        ("Evaluator", false),
        (second.as_str(), true),
        ("Features", true),
        ("Kernel values", true),
        ("Time", true),
    ];
    if widths {
        head.push(("γ", true));
    }
    table("candidates", &head, &rows)
}

// The range of scores with their errors. A very low outlier is cut off, so that the others remain distinguishable.
fn scale(entries: &[&Entry]) -> (f64, f64) {
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    let ends = |e: &&Entry| e.mean().map(|mean| (mean, finite(e.standard_error().unwrap_or(0.0))));
    let mut lows: Vec<f64> = entries.iter().filter_map(ends).map(|(mean, error)| mean - error).collect();
    let high =
        entries.iter().filter_map(ends).map(|(mean, error)| mean + error).fold(f64::NEG_INFINITY, f64::max);
    lows.sort_by(f64::total_cmp);
    let (Some(low), Some(middle)) = (lows.first(), lows.get(lows.len() / 2)) else { return (0.0, 1.0) };
    (low.max(high - 6.0 * (high - middle)), high)
}

// A dot with its error bar; the numbers are in the table.
fn dot(entry: &Entry, (low, high): (f64, f64)) -> String {
    let Some(mean) = entry.mean() else { return String::new() };
    let error = entry.standard_error().filter(|e| e.is_finite()).unwrap_or(0.0);
    let place = |value: f64| {
        let share = 100.0 * (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if share.is_finite() { share.clamp(0.0, 100.0) } else { 50.0 }
    };
    let (from, at, to) = (place(mean - error), place(mean), place(mean + error));
    format!(
        "<span class=\"track\"><i style=\"left:{from:.1}%;right:{:.1}%\"></i><b style=\"left:{at:.1}%\"></b></span>",
        100.0 - to
    )
}

fn row(outcome: &Outcome, entry: &Entry, best: bool, widths: bool, scale: (f64, f64)) -> String {
    let class = match (best, is_baseline(entry)) {
        (true, true) => " class=\"best baseline\"",
        (true, false) => " class=\"best\"",
        (false, true) => " class=\"baseline\"",
        (false, false) => "",
    };
    let below = match &entry.basis {
        Some(basis) if !basis.is_empty() && *basis != entry.method => {
            format!(" <span class=\"soft\">on {}</span>", escaped(basis))
        }
        _ => String::new(),
    };
    let spread = entry.standard_error().filter(|e| e.is_finite()).map_or_else(String::new, |e| {
        format!(" <span class=\"soft\">±\u{a0}{}</span>", uncertainty(&outcome.measure, e))
    });
    let asked = entry.asked.filter(|q| entry.features() != Some(*q as f64));
    let asked = asked.map_or_else(String::new, |q| format!(" <span class=\"soft\">of {q}</span>"));
    let cut = if entry.scores.len() < outcome.n_splits && entry.failed.is_some() {
        format!(" <span class=\"soft\">({} of {} splits)</span>", entry.scores.len(), outcome.n_splits)
    } else {
        String::new()
    };
    let mut cells = format!(
        "<tr{class}><th scope=\"row\">{}{below}{cut}</th><td class=\"n\">{}{spread}</td><td aria-hidden=\"true\">{}</td><td>{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}{asked}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
        escaped(&entry.method),
        score(&outcome.measure, entry.mean()),
        dot(entry, scale),
        escaped(&entry.evaluator),
        score(&outcome.second, entry.second_mean()),
        count(entry.features().filter(|q| *q > 0.0)),
        count(entry.kernel_values()),
        seconds(entry.fit_seconds()),
    );
    if widths {
        let named = |rule: &&String| several_rules(outcome) && rule.parse::<f64>().is_err();
        let rule = entry.gamma_rule.as_ref().filter(named);
        let rule =
            rule.map_or_else(String::new, |rule| format!(" <span class=\"soft\">{}</span>", escaped(rule)));
        let width = entry.gamma().map_or_else(|| MISSING.to_string(), short);
        let _ = write!(cells, "<td class=\"n\">{width}{rule}</td>");
    }
    cells + "</tr>"
}

fn failures(page: &mut Page, outcome: &Outcome) {
    let failed: Vec<&Entry> = outcome
        .entries
        .iter()
        .filter(|e| e.failed.is_some() || !e.mean().is_some_and(f64::is_finite))
        .collect();
    if failed.is_empty() {
        return;
    }
    let rows = joined(failed.iter().map(|entry| {
        let size =
            entry.asked.map_or_else(String::new, |q| format!(", {}", counted(q, "feature", "features")));
        let reason = entry.failed.as_deref().unwrap_or("its scores are not finite");
        format!(
            "<tr><th scope=\"row\">{}{size}</th><td class=\"wide\">{}</td></tr>",
            escaped(&candidate(outcome, entry)),
            prose(reason)
        )
    }));
    let summary = format!("{} without a full result", counted(failed.len(), "candidate", "candidates"));
    page.add(&folded(&summary, &table("", &[("Candidate", false), ("Why", false)], &rows)));
}
