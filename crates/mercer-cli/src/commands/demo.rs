//! `mercer demo`: every method on made-up data, beside the nearest neighbour on the plain columns and a support vector
//! machine. What is said about the outcome is computed from it: other seeds have other outcomes.

use std::time::Instant;

use clap::ArgMatches;
use mercer::data::{Task, synth};
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::evaluate::{Comparison, Judge};
use mercer::methods::BASES;
use mercer::{Error, Labels, Result, report};

use super::compare::{CHART_SIZES, compared, portrait, settings};
use super::page::{about, write_page};
use super::place::Place;
use super::ranking::{self, Against, BASELINES, against, score, told};
use crate::args;
use crate::context::Context;
use crate::talk::{plural, print, table, warn};

/// Rows made of each.
const ROWS: usize = 500;

/// The page, in the temporary folder unless the user names a place.
const PAGE: &str = "mercer-demo.html";

/// Made-up data, and what it is. The page is about the first.
const DATA: [(&str, &str, &str); 2] = [
    ("ringnorm", "", "two normals around nearly one centre, a wide and a narrow one, in 20 columns"),
    ("twin-sine", "&snr=10", "two sine waves beside each other, seen through a random matrix, in 10 columns"),
];

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let seed: u64 = args.get_one("seed").copied().unwrap_or_default();
    let usual = std::env::temp_dir().join(PAGE).display().to_string();
    let (place, asked) = match args::text(args, "report") {
        Some(path) => (Some(Place::checked(path, &[])?), true),
        None => (Place::checked(&usual, &[]).ok(), false),
    };
    let mut page = None;
    for (at, (name, more, about_data)) in DATA.iter().enumerate() {
        let source = format!("synth:{name}?n={ROWS}&seed={seed}{more}");
        let made = synth::generate(source.trim_start_matches("synth:"))?;
        let column = made.target.ok_or_else(|| Error::Data(format!("{name} has no target")))?;
        let labels = Labels::decide(column, Task::Classes)?;
        let for_page = at == 0 && place.is_some();
        let comparison = Comparison {
            gammas: vec!["loo".into()],
            sizes: [None].into_iter().chain(CHART_SIZES.map(Some).into_iter().filter(|_| for_page)).collect(),
            judges: vec![Judge::Knn { n_neighbors: 1 }],
            seed,
            ..Comparison::default()
        };
        context.say(&format!("{name}: {about_data}\n{ROWS} rows, 5 folds; {source}\n"));
        let outcome = compared(&comparison, &made.rows, &labels, context)?;
        let shown: Vec<&Entry> = outcome.entries.iter().filter(|entry| entry.asked.is_none()).collect();
        ranking::failures(&shown).iter().for_each(|text| warn(text));
        if place != Some(Place::Out) {
            print(&format!("{}\n", listed(&outcome, &shown)))?;
        }
        context.say(&format!("{}\n", seen(&outcome, &shown)));
        if outcome.interrupted {
            return Err(Error::Interrupted);
        }
        if for_page {
            let portrait = portrait(&comparison, &shown, (&made.rows, &labels, &made.names), context)?;
            let mut about = about(args, Some(&labels), seed, settings(&comparison));
            about.source = source;
            page = Some(report::comparison(&outcome, portrait.as_ref(), &about));
        }
    }
    context.say(&format!("{:.1} s", started.elapsed().as_secs_f64()));
    let Some((place, page)) = place.zip(page) else {
        warn(
            "the temporary folder cannot be written, so there is no page\nhint: name a place: `--report FILE`",
        );
        return Ok(());
    };
    match write_page(place, &page, context) {
        Err(error) if !asked => {
            warn(&format!("there is no page: {error}\nhint: name a place: `--report FILE`"));
            Ok(())
        }
        written => written,
    }
}

/// The table without its seconds: the same seed prints the same text.
fn listed(outcome: &Outcome, entries: &[&Entry]) -> String {
    let mut lines = ranking::lines(outcome, entries);
    lines.iter_mut().for_each(|line| line.truncate(line.len() - 1));
    table(&lines, ranking::RIGHT)
}

/// What the outcome says, in a few sentences.
fn seen(outcome: &Outcome, entries: &[&Entry]) -> String {
    let baseline = |name: &str| entries.iter().find(|e| e.method == name && e.mean().is_some()).copied();
    let methods: Vec<&Entry> = entries
        .iter()
        .filter(|e| !BASELINES.contains(&e.method.as_str()) && e.mean().is_some())
        .copied()
        .collect();
    let mut sentences = Vec::new();
    if let (Some(raw), Some(best)) = (baseline("raw"), methods.first()) {
        sentences.push(format!(
            "The nearest neighbour is right on {} of the rows it has not seen. From the features of {} it is {}: {}.",
            score(outcome, raw),
            best.method,
            match against(best, raw) {
                Against::Better => "clearly better",
                Against::Worse => "clearly worse",
                Against::Unclear => "not clearly different",
            },
            told(outcome, best),
        ));
        let (alone, asking): (Vec<&Entry>, Vec<&Entry>) =
            methods.iter().partition(|entry| BASES.contains(&entry.method.as_str()));
        let clearly =
            |entries: &[&Entry]| entries.iter().filter(|e| against(e, raw) == Against::Better).count();
        sentences.push(format!(
            "Coordinates alone are clearly better than the plain columns in {} of {} bases; features that were chosen or \
             mixed by the labels in {} of {}.",
            clearly(&alone),
            alone.len(),
            clearly(&asking),
            plural(asking.len(), "method"),
        ));
    }
    if let (Some(svm), Some(best)) = (baseline("rbf-svm"), methods.first()) {
        let relation = match against(best, svm) {
            Against::Better => "less than",
            Against::Worse => "more than",
            Against::Unclear => "not clearly different from",
        };
        sentences.push(format!(
            "A support vector machine, tuned by inner folds, is right on {}, {relation} the nearest neighbour on these \
             features.",
            score(outcome, svm)
        ));
        let equals = |entry: &&&Entry| against(entry, best) == Against::Unclear;
        let cost = |entry: &Entry| entry.kernel_values().unwrap_or(f64::INFINITY);
        if let Some(cheap) = methods.iter().filter(equals).min_by(|a, b| cost(a).total_cmp(&cost(b))) {
            sentences.push(format!(
                "Of the methods that are not clearly different from the best, {} needs the fewest kernel values for a \
                 prediction: {} (the machine: {}).",
                cheap.method,
                ranking::count(cost(cheap)),
                ranking::count(cost(svm)),
            ));
        }
    }
    sentences.join("\n")
}
