//! `mercer demo`: every method on synthetic data, compared with the nearest neighbour on the plain columns and a support
//! vector machine. The summary is computed from the results, because other seeds have other results.

use std::time::Instant;

use clap::ArgMatches;
use mercer::basis::Method;
use mercer::data::{Task, synth};
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::evaluate::{Comparison, Evaluator};
use mercer::{Error, Labels, Result, report};

use super::compare::{CHART_SIZES, diagnostics, run_comparison, settings};
use super::output_target::OutputTarget;
use super::page::{about, write_page};
use super::ranking::{self, described, score};
use crate::args;
use crate::context::Context;
use crate::stderr::warn;
use crate::stdout::print;
use crate::text::{plural, table};

/// Rows of each data set.
const DEMO_ROWS: usize = 500;

/// The report's name in the temporary folder, unless the user names a file.
const REPORT_NAME: &str = "mercer-demo.html";

/// Generator, its parameters, and a description. The report shows the first.
const DATA_SETS: [(&str, &str, &str); 2] = [
    ("ringnorm", "", "two normals around nearly one centre, a wide and a narrow one, in 20 columns"),
    (
        "twin-sine",
        "&snr=10",
        "two parallel sine curves, one per class, seen through a random matrix, in 10 columns",
    ),
];

pub(crate) fn run(args: &ArgMatches, context: &Context) -> Result<()> {
    let started = Instant::now();
    let seed: u64 = args.get_one("seed").copied().unwrap_or_default();
    let usual = std::env::temp_dir().join(REPORT_NAME).display().to_string();
    let (target, asked) = match args::text(args, "report") {
        Some(path) => (Some(OutputTarget::checked(path, &[])?), true),
        None => (OutputTarget::checked(&usual, &[]).ok(), false),
    };
    let mut page = None;
    for (at, (name, more, about_data)) in DATA_SETS.iter().enumerate() {
        let source = format!("synth:{name}?n={DEMO_ROWS}&seed={seed}{more}");
        let made = synth::generate(source.trim_start_matches("synth:"))?;
        let column = made.target.ok_or_else(|| Error::Data(format!("{name} has no target")))?;
        let labels = Labels::decide(column, Task::Classes)?;
        let for_page = at == 0 && target.is_some();
        let comparison = Comparison {
            gammas: vec!["loo".into()],
            sizes: [None].into_iter().chain(CHART_SIZES.map(Some).into_iter().filter(|_| for_page)).collect(),
            evaluators: vec![Evaluator::Knn { n_neighbors: 1 }],
            seed,
            ..Comparison::default()
        };
        context.info(&format!("{name}: {about_data}\n{DEMO_ROWS} rows, 5 folds; {source}\n"));
        let outcome = run_comparison(&comparison, &made.rows, &labels, context)?;
        let shown: Vec<&Entry> = outcome.entries.iter().filter(|entry| entry.asked.is_none()).collect();
        ranking::failures(&shown).iter().for_each(|text| warn(text));
        if target != Some(OutputTarget::Stdout) {
            print(&format!("{}\n", listed(&outcome, &shown)))?;
        }
        context.info(&format!("{}\n", summary(&outcome, &shown)));
        if outcome.interrupted {
            return Err(Error::Interrupted);
        }
        if for_page {
            let diagnostics =
                diagnostics(&comparison, &outcome, (&made.rows, &labels, &made.names), context)?;
            let mut about = about(args, Some(&labels), seed, settings(&comparison));
            about.source = source;
            page = Some(report::comparison(&outcome, diagnostics.as_ref(), &about));
        }
    }
    context.info(&format!("{:.1} s", started.elapsed().as_secs_f64()));
    let Some((target, page)) = target.zip(page) else {
        warn(
            "the temporary folder cannot be written, so there is no report\nhint: name a file: `--report FILE`",
        );
        return Ok(());
    };
    match write_page(target, &page, context) {
        Err(error) if !asked => {
            warn(&format!("there is no report: {error}\nhint: name a file: `--report FILE`"));
            Ok(())
        }
        written => written,
    }
}

/// The table without seconds, so that the same seed prints the same text.
fn listed(outcome: &Outcome, entries: &[&Entry]) -> String {
    let mut lines = ranking::lines(outcome, entries);
    lines.iter_mut().for_each(|line| line.truncate(line.len() - 1));
    table(&lines, ranking::NUMBER_COLUMNS)
}

/// The results in a few sentences.
fn summary(outcome: &Outcome, entries: &[&Entry]) -> String {
    let baseline = |name: &str, evaluator: &str| {
        entries.iter().find(|e| e.method == name && e.evaluator == evaluator && e.mean().is_some()).copied()
    };
    let methods: Vec<&Entry> =
        entries.iter().filter(|e| !e.is_baseline() && e.mean().is_some()).copied().collect();
    let mut sentences = Vec::new();
    if let (Some(raw), Some(best)) = (baseline("raw", "knn"), methods.first()) {
        sentences.push(format!(
            "On the plain columns the nearest neighbour has an accuracy of {} on test rows. On the features of {} it is {}: {}.",
            score(outcome, raw),
            best.method,
            match best.clearly_better(raw) {
                Some(true) => "clearly better",
                Some(false) => "clearly worse",
                None => "not clearly different",
            },
            described(outcome, best),
        ));
        let (alone, asking): (Vec<&Entry>, Vec<&Entry>) =
            methods.iter().partition(|entry| Method::named(&entry.method).is_ok());
        let clearly =
            |entries: &[&Entry]| entries.iter().filter(|e| e.clearly_better(raw) == Some(true)).count();
        sentences.push(format!(
            "Coordinates of a basis alone are clearly better than the plain columns for {} of {} bases; features selected or \
             extracted with the labels for {} of {}.",
            clearly(&alone),
            alone.len(),
            clearly(&asking),
            plural(asking.len(), "method"),
        ));
    }
    if let (Some(svm), Some(best)) = (baseline("rbf-svm", "rbf-svm"), methods.first()) {
        let relation = match best.clearly_better(svm) {
            Some(true) => "clearly less than",
            Some(false) => "clearly more than",
            None => "not clearly different from",
        };
        sentences.push(format!(
            "A support vector machine, tuned by inner folds, has an accuracy of {}, {relation} the nearest neighbour on \
             these features.",
            score(outcome, svm)
        ));
        let equals = |entry: &&&Entry| entry.clearly_better(best).is_none();
        let cost = |entry: &Entry| entry.kernel_values().unwrap_or(f64::INFINITY);
        if let Some(cheap) = methods.iter().filter(equals).min_by(|a, b| cost(a).total_cmp(&cost(b))) {
            sentences.push(format!(
                "Of the methods that are not clearly different from the best, {} needs the fewest kernel values per \
                 prediction: {} (the support vector machine: {}).",
                cheap.method,
                ranking::count(cost(cheap)),
                ranking::count(cost(svm)),
            ));
        }
    }
    sentences.join("\n")
}
