//! Confusion matrix.

use std::fmt::Write;

use crate::evaluate::outcome::{Entry, Outcome};

use super::comparison::candidate;
use super::page::{Page, folded};
use super::text::{counted, escaped, joined, name, width};

/// With more classes than this the table is folded, and the most confused pairs are listed before it.
const CLASSES_SHOWN: usize = 12;
const PAIRS_SHOWN: usize = 10;
/// The strongest tint on which text is still easy to read.
const MAX_TINT: f64 = 0.5;

/// The confusion matrix of an entry; nothing for numbers.
pub(super) fn of_entry(page: &mut Page, outcome: &Outcome, entry: &Entry) {
    let caption =
        format!("<b>{}</b>, test rows of all splits together.", escaped(&candidate(outcome, entry)));
    matrix(page, &entry.confusion, &outcome.classes, &caption);
}

/// How often classes are predicted as others, true class first; `caption` is HTML.
pub(super) fn matrix(page: &mut Page, counts: &[Vec<usize>], classes: &[String], caption: &str) {
    if counts.iter().flatten().sum::<usize>() == 0 {
        return;
    }
    page.section("Which classes are confused");
    let class = |k: usize| classes.get(k).map_or_else(|| format!("{k}"), |text| name(text));
    let letters = classes.iter().map(|class| width(class)).max().unwrap_or(0);
    let table = table(counts, letters.clamp(3, 10), &class);
    let caption = format!(
        "<p class=\"soft\">{caption} Rows are true classes, columns predicted ones; percentages are of \
         the row. Framed cells are correct predictions; elsewhere a stronger tint means more frequent confusion.</p>",
    );
    let worst = worst(counts, &class);
    if counts.len() > CLASSES_SHOWN {
        page.add(&caption);
        page.add(&worst);
        page.add(&folded(&format!("All {} classes", counts.len()), &table));
    } else {
        page.add(&table);
        page.add(&caption);
    }
}

fn table(counts: &[Vec<usize>], letters: usize, class: &impl Fn(usize) -> String) -> String {
    let columns = counts.iter().map(Vec::len).max().unwrap_or(0);
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"heat\" style=\"--names:{letters}ch\" aria-label=\"Confusion of classes\"><thead><tr>\
         <th class=\"soft\">true \\ predicted</th>",
    );
    for k in 0..columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", class(k));
    }
    html.push_str("</tr></thead><tbody>");
    for (i, row) in counts.iter().enumerate() {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", class(i));
        let total = row.iter().sum::<usize>().max(1) as f64;
        for k in 0..columns {
            let count = row.get(k).copied().unwrap_or(0);
            let share = count as f64 / total;
            let right = if i == k { " class=\"right\"" } else { "" };
            if count == 0 {
                let _ = write!(html, "<td{right}><span class=\"soft\">0</span></td>");
                continue;
            }
            let _ = write!(
                html,
                "<td{right} style=\"--share:{:.3}\">{count}<br/><span class=\"small\">{:.1}\u{a0}%</span></td>",
                MAX_TINT * share,
                100.0 * share,
            );
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn worst(counts: &[Vec<usize>], class: &impl Fn(usize) -> String) -> String {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (i, row) in counts.iter().enumerate() {
        pairs.extend(row.iter().enumerate().filter(|(k, n)| *k != i && **n > 0).map(|(k, n)| (*n, i, k)));
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    if pairs.is_empty() {
        return "<p>No two classes were confused.</p>".to_string();
    }
    let rows = joined(pairs.iter().take(PAIRS_SHOWN).map(|&(n, i, k)| {
        format!("<li>{} predicted as {}: {}</li>", class(i), class(k), counted(n, "row", "rows"))
    }));
    format!("<p>Confused most often:</p><ol>{rows}</ol>")
}
