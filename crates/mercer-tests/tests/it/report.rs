//! The pages: whole, safe, the same every time, and saying what the results say.

mod samples;

use mercer::data::Labels;
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::evaluate::held_out::{HeldOut, Score};
use mercer::evaluate::measures::{Measure, Predictions};
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::map::ImportantPoints;
use mercer::report::{About, comparison, model};

use samples::{
    ATTACKS, about, classes, many_points, nasty_about, nasty_diagnostics, nasty_outcome, pages, ringnorm,
};

/// Names of the elements in their order; panics where one is not closed by the element that opened it. Attributes must be
/// quoted, and texts free of `<` and of bare `&`.
fn elements(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(start) = rest.find('<') {
        bare(&rest[..start]);
        let end = rest[start..].find('>').expect("an end of the tag") + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in the wrong order");
            continue;
        }
        let (inside, single) = tag.strip_suffix('/').map_or((tag, false), |inside| (inside, true));
        let name = inside.split_whitespace().next().expect("a name").to_string();
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "`{name}` is no element");
        let attributes = &inside[name.len()..];
        assert_eq!(attributes.matches('"').count() % 2, 0, "unbalanced quotes in <{tag}>");
        assert_eq!(attributes.matches('"').count(), 2 * attributes.matches("=\"").count(), "<{tag}>");
        bare(attributes);
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("an end of the style")..];
        }
        if !single {
            open.push(name.clone());
        }
        all.push(name);
    }
    assert!(open.is_empty(), "left open: {open:?}");
    all
}

fn bare(text: &str) {
    for part in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "apos;", "#39;"];
        assert!(known.iter().any(|entity| part.starts_with(entity)), "a bare & before `{part:.30}`");
    }
}

/// What stands after the first `start` and before the `end` that follows it.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    let (_, after) = page.split_once(start).expect("a start");
    after.split(end).next().unwrap_or_default()
}

fn words(page: &str) -> String {
    let body = &page[page.find("<body>").expect("a body")..];
    let mut text = String::new();
    let mut inside = false;
    for letter in body.chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            other if !inside => text.push(other),
            _ => {}
        }
    }
    text
}

#[test]
fn every_page_is_whole_and_loads_nothing() {
    for (name, page) in pages() {
        let all = elements(&page);
        for unwanted in ["script", "link", "img", "iframe", "object", "embed", "form", "base", "image", "use"]
        {
            assert!(!all.iter().any(|element| element == unwanted), "{name} has <{unwanted}>");
        }
        for unwanted in ["http:", "https:", "url(", "@import", "javascript:", " src=", " href="] {
            let safe = ATTACKS.iter().fold(page.clone(), |page, text| {
                page.replace(&text.replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"), "")
            });
            assert!(!safe.contains(unwanted), "{name} has {unwanted}");
        }
        let texts = words(&page);
        assert!(!texts.contains("NaN") && !texts.contains(" inf"), "{name} shows a number that is none");
        let coordinates = page
            .split("<svg class=\"chart\"")
            .skip(1)
            .map(|svg| svg.split("</svg>").next().unwrap_or_default());
        for svg in coordinates {
            assert!(!svg.contains("NaN") && !svg.contains("\"inf") && !svg.contains("2147483"), "{name}");
        }
    }
}

#[test]
fn every_chart_has_a_name_a_description_and_a_caption() {
    for (name, page) in pages() {
        let charts = page.matches("<svg class=\"chart\"").count();
        assert_eq!(page.matches("role=\"img\"").count(), charts, "{name}");
        assert_eq!(page.matches("<title id=").count(), charts, "{name}");
        assert_eq!(page.matches("<desc id=").count(), charts, "{name}");
        assert_eq!(page.matches("<figcaption>").count(), charts, "{name}");
        assert!(!page.contains("<figcaption></figcaption>"), "{name}");
        let mut ids: Vec<&str> =
            page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect();
        let n = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n, "{name} uses an id twice");
    }
}

#[test]
fn the_same_results_give_the_same_bytes() {
    for ((name, first), (_, second)) in pages().into_iter().zip(pages()) {
        assert!(first == second, "{name}");
    }
}

#[test]
fn foreign_texts_stay_texts() {
    let page = comparison(&nasty_outcome(), Some(&nasty_diagnostics()), &nasty_about());
    assert!(page.contains("&lt;script&gt;document.title = &#39;caught&#39;&lt;/script&gt;"));
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<h1>out"));
    assert!(!page.contains('\u{0}') && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("🧪🔬 κλάση 類 צבע") && page.contains("(empty)"));
}

fn candidate(method: &str, scores: &[f64]) -> Entry {
    Entry { method: method.into(), evaluator: "knn".into(), scores: scores.to_vec(), ..Entry::default() }
}

fn outcome(entries: Vec<Entry>) -> Outcome {
    let mut outcome = Outcome { measure: "accuracy".into(), entries, n_splits: 3, ..Outcome::default() };
    outcome.sort();
    outcome
}

fn answer(outcome: &Outcome) -> String {
    let page = comparison(outcome, None, &About::default());
    between(&page, "<p class=\"answer\">", "</p>")
        .replace('\u{a0}', " ")
        .replace("<b>", "")
        .replace("</b>", "")
}

#[test]
fn the_answer_calls_a_difference_clear_only_if_it_exceeds_three_standard_errors() {
    // Differences 0.02, 0.02, 0.02 never waver; 0.04, 0.02, 0 have a mean of 0.02 and an error of 0.012.
    let svm = Entry { method: "rbf-svm".into(), scores: vec![0.86, 0.88, 0.96], ..Entry::default() };
    let entries = vec![candidate("gda", &[0.90, 0.90, 0.96]), candidate("raw", &[0.88, 0.88, 0.94]), svm];
    let text = answer(&outcome(entries));
    assert!(text.starts_with("Recommended: gda, knn with an accuracy of 92.0 % ± 2.0"), "{text}");
    assert!(text.contains("2.0 ± 0.0 points better than the plain columns (knn), 90.0 %"), "{text}");
    assert!(text.contains("not clearly different from an SVM with an rbf kernel, 90.0 %"), "{text}");
}

#[test]
fn the_answer_says_so_where_the_plain_columns_are_best() {
    let entries = vec![candidate("raw", &[0.9, 0.9, 0.9]), candidate("gda", &[0.7, 0.7, 0.7])];
    let text = answer(&outcome(entries));
    assert!(text.contains("Best is plain columns, knn"), "{text}");
    assert!(text.contains("gda, knn with an accuracy of 70.0 % ± 0.0 is recommended: 20.0 ± 0.0 points worse than the plain columns"), "{text}");
}

#[test]
fn the_answer_is_about_candidates_of_a_given_size_too() {
    let sized = Entry { asked: Some(5), n_features: vec![5; 3], ..candidate("gda", &[0.95, 0.95, 0.95]) };
    let entries = vec![candidate("raw", &[0.9, 0.9, 0.9]), candidate("gda", &[0.7, 0.7, 0.7]), sized];
    let text = answer(&outcome(entries));
    assert!(
        text.starts_with("Recommended: gda, knn with an accuracy of 95.0 % ± 0.0 from 5 features"),
        "{text}"
    );
    let mut several = candidate("gda", &[0.9, 0.9, 0.9]);
    several.n_features = vec![10, 11, 12, 12];
    assert!(answer(&outcome(vec![several])).contains("from about 11 features"));
}

#[test]
fn one_split_and_no_split_have_answers_too() {
    let text = answer(&outcome(vec![candidate("gda", &[0.9]), candidate("raw", &[0.8])]));
    assert!(
        text.contains("90.0 %: not clearly different from the plain columns (knn), 80.0 % (difference 10.0)"),
        "{text}"
    );
    let failed = Entry { failed: Some("why & how".into()), ..candidate("gda", &[]) };
    let page = comparison(&outcome(vec![failed]), None, &About::default());
    assert!(page.contains("No candidate has a score") && page.contains("why &amp; how"));
}

#[test]
fn sizes_stand_in_the_chart_and_the_methods_own_number_in_the_table() {
    let results = classes();
    let page = comparison(&results, None, &about());
    assert!(page.contains("How many features are needed"));
    let table = between(&page, "<table class=\"candidates\">", "</table>");
    let own = results.entries.iter().filter(|e| e.asked.is_none() && e.mean().is_some()).count();
    assert_eq!(table.matches("<tr").count(), own + 1);

    // What the answer names is in the table, too: here the fewest features near the best.
    let mut few = results.clone();
    let named =
        few.entries.iter_mut().find(|e| e.method == "kobl" && e.asked == Some(1)).expect("one feature");
    named.scores = vec![0.979; 10];
    few.sort();
    let chosen = few.recommended().expect("recommended");
    assert_eq!((chosen.method.as_str(), chosen.asked), ("kobl", Some(1)));
    let page = comparison(&few, None, &about());
    let table = between(&page, "<table class=\"candidates\">", "</table>");
    assert_eq!(table.matches("<tr").count(), own + 2);

    // Without any of their own, the sized ones are the results.
    let mut sized = results.clone();
    sized.entries.retain(|e| e.asked.is_some() || e.method == "raw");
    let page = comparison(&sized, None, &about());
    let table = between(&page, "<table class=\"candidates\">", "</table>");
    assert_eq!(table.matches("<tr").count(), sized.entries.len() + 1);

    // Without sizes there is no chart of them.
    let mut own = results;
    own.entries.retain(|e| e.asked.is_none());
    assert!(!comparison(&own, None, &about()).contains("How many features are needed"));
}

#[test]
fn a_row_is_drawn_once_in_every_panel() {
    let mut diagnostics = ringnorm();
    let Some(Labels::Classes { codes, .. }) = &diagnostics.point_labels else { panic!("classes") };
    let inner = codes.iter().filter(|code| **code == 0).count();
    (diagnostics.residuals, diagnostics.pivot_norms) = (Vec::new(), Vec::new());
    (diagnostics.spectrum, diagnostics.scores) = (Vec::new(), Vec::new());
    // The first class is drawn by circles; the legend has one more.
    let page = model(&diagnostics, &about());
    assert_eq!(page.matches("<circle").count(), 3 * inner + 1);
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 3);

    diagnostics.point_names.truncate(2);
    assert_eq!(model(&diagnostics, &about()).matches("<svg class=\"chart\"").count(), 1);
    diagnostics.point_names.truncate(1);
    assert_eq!(model(&diagnostics, &about()).matches("<circle").count(), inner + 1);
    diagnostics.point_names.clear();
    assert!(!model(&diagnostics, &about()).contains("<svg"));
}

#[test]
fn the_rows_that_carry_the_features_are_listed() {
    let mut diagnostics = ringnorm();
    diagnostics.important = ImportantPoints {
        rows: (0..30).rev().collect(),
        shares: (0..30).map(|k| f64::from(30 - k) / 465.0).collect(),
    };
    let page = model(&diagnostics, &about());
    let section = between(&page, "Which training rows matter</h2>", "<h2>");
    assert!(section.contains("<td class=\"n\">30</td><td class=\"n\">6.5\u{a0}%</td>"), "{section}");
    assert_eq!(section.matches("<tr>").count(), 1 + 10, "a head and the first rows");
    assert!(
        section.contains("The first 10 of the 30 rows that features need, with 54.8\u{a0}% together."),
        "{section}"
    );
    diagnostics.important = ImportantPoints { rows: vec![4], shares: vec![1.0] };
    assert!(model(&diagnostics, &about()).contains("The features need this row only."));
    diagnostics.important = ImportantPoints::default();
    assert!(!model(&diagnostics, &about()).contains("Which training rows matter"));
}

#[test]
fn rows_without_labels_are_drawn_without_a_legend() {
    let mut diagnostics = ringnorm();
    diagnostics.point_labels = None;
    let page = model(&diagnostics, &About { target: String::new(), ..about() });
    assert!(
        page.contains("without labels") && !page.contains("class=\"legend\"") && !page.contains("<dt>target")
    );
    diagnostics.point_names.truncate(1);
    assert!(model(&diagnostics, &about()).contains("the height has no meaning"));
}

#[test]
fn rows_far_off_do_not_press_the_others_into_a_corner() {
    let mut points: Vec<Vec<f64>> = (0..100).map(|i| vec![f64::from(i % 10), f64::from(i / 10)]).collect();
    points.push(vec![1e6, 0.0]);
    let diagnostics =
        FitDiagnostics { points, point_names: vec!["a".into(), "b".into()], ..FitDiagnostics::default() };
    let page = model(&diagnostics, &About::default());
    assert!(page.contains("One row lies beyond an edge"));
    let mut places: Vec<&str> =
        page.split(" cx=\"").skip(1).map(|c| c.split('"').next().unwrap_or_default()).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 11, "{places:?}");
}

/// Rows that were held out, and what was predicted for them.
fn held_out(predictions: Predictions, measure: Measure) -> HeldOut {
    let score = Score { measure, value: 0.9, chance: 0.1, p_value: 0.005 };
    HeldOut { n_train: 6, rows: vec![0, 3, 6], predictions, score, inputs: None }
}

#[test]
fn predictions_of_rows_held_out_are_shown_beside_the_truth() {
    let mut diagnostics = FitDiagnostics {
        method: "kpls".into(),
        point_names: vec!["a".into(), "b".into()],
        points: vec![vec![0.0, 1.0], vec![1.0, 0.0], vec![1.0, 1.0]],
        point_labels: Some(Labels::Numbers(vec![0.0, 0.5, 1.0])),
        held_out: Some(held_out(Predictions::Numbers(vec![0.1, 0.5, 0.8]), Measure::R2)),
        ..FitDiagnostics::default()
    };
    let page = model(&diagnostics, &About { target: "price".into(), ..About::default() });
    for text in
        ["Predicted against true values", "Residuals", "predicted price", "true price", "<bdi>price</bdi>"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 3, "two of predictions and one of features");
    diagnostics.point_labels = Some(Labels::classes(&["x", "y", "x"]));
    diagnostics.held_out = Some(held_out(Predictions::Classes(vec![0, 1, 1]), Measure::Accuracy));
    let page = model(&diagnostics, &About::default());
    assert!(
        page.contains("Which classes are confused")
            && page.contains("Ridge on the features, 3\u{a0}rows held out.")
    );
}

#[test]
fn charts_that_show_nothing_are_left_out() {
    let mut diagnostics = FitDiagnostics {
        method: "gda".into(),
        basis: "kfa".into(),
        spectrum: vec![0.9, 0.8, 0.1],
        pivot_norms: vec![1.0, 0.5, 0.4],
        ..FitDiagnostics::default()
    };
    let page = model(&diagnostics, &About::default());
    assert!(page.contains("<b>Spectrum.</b>") && page.contains("<b>Norms of the pivots.</b>"));
    diagnostics.spectrum.truncate(2);
    diagnostics.pivot_norms = vec![1.0, 0.3, 0.9];
    assert!(!model(&diagnostics, &About::default()).contains("How the features were found"));
}

#[test]
fn coordinates_of_a_basis_are_the_first_and_not_the_best() {
    let mut diagnostics = ringnorm();
    assert!(model(&diagnostics, &about()).contains("The best features"));
    diagnostics.method.clone_from(&diagnostics.basis);
    let page = model(&diagnostics, &about());
    assert!(page.contains("The first features") && page.contains("by their first three features"));
}

#[test]
fn numbers_are_coloured_from_low_to_high() {
    let values = [0.0, 0.5, 1.0];
    let diagnostics = FitDiagnostics {
        method: "kpls".into(),
        point_names: vec!["a".into(), "b".into()],
        points: values.iter().map(|v| vec![*v, *v]).collect(),
        point_labels: Some(Labels::Numbers(values.to_vec())),
        ..FitDiagnostics::default()
    };
    let page = model(&diagnostics, &About::default());
    let fills: Vec<&str> = page.split("<circle").skip(1).map(|c| between(c, "fill=\"", "\"")).collect();
    assert_eq!(fills.len(), 3);
    assert!(fills[0] != fills[1] && fills[1] != fills[2]);
    assert!(page.contains("class=\"ramp\""));
}

#[test]
fn a_legend_of_sixty_classes_is_folded() {
    let page = model(&many_points(), &about());
    assert!(page.contains("<details><summary>Legend: 60 classes"));
    assert!(page.contains("280\u{a0}more inputs"));
}

#[test]
fn a_page_of_1500_rows_stays_small() {
    let page = model(&many_points(), &about());
    assert!(page.len() < 250_000, "{} bytes", page.len());
}

// `tools/check_browser.py` opens these in a browser.
#[test]
fn sample_pages_are_written_where_asked() {
    let Some(folder) = std::env::var_os("MERCER_SAMPLE_PAGES") else { return };
    let folder = std::path::Path::new(&folder);
    std::fs::create_dir_all(folder).expect("a folder");
    for (name, page) in pages() {
        std::fs::write(folder.join(format!("{name}.html")), page).expect("a page");
    }
}
