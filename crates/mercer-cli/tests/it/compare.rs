//! `mercer compare`: many methods on the same splits, evaluated by the predictions from their features.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{csv, done, folder, refused, wave};

const WAVE: [&str; 4] = ["compare", "wave.csv", "--target", "kind"];

fn compare(folder: &Path, more: &[&str]) -> (String, String) {
    done(folder, &[&WAVE[..], more].concat())
}

#[test]
fn the_table_has_the_best_first_and_the_baselines_in_it() {
    let folder = folder();
    wave(folder.path());
    let (out, stderr) = compare(folder.path(), &["--methods", "gda,klfe,kobl", "--gamma", "1"]);
    let head: Vec<&str> = out.lines().next().expect("a head").split("  ").filter(|w| !w.is_empty()).collect();
    let heads = [
        "method",
        "basis",
        "evaluator",
        "features",
        "accuracy",
        "balanced accuracy",
        "kernel values",
        "gamma",
    ];
    assert_eq!(head.iter().map(|w| w.trim()).take(8).collect::<Vec<_>>(), heads, "{out}");
    for name in ["gda", "klfe", "kobl", "raw", "rbf-svm", "kknn"] {
        assert!(out.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {out}");
    }
    let scores: Vec<f64> = out
        .lines()
        .skip(1)
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|w| *w == "±").expect("a standard error");
            words[at - 1].parse().expect("a number")
        })
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{out}");
    assert!(stderr.contains("comparing 3 methods, evaluated with knn and ridge, on 5 folds"), "{stderr}");
    assert!(stderr.lines().any(|line| line.starts_with("best features: ")), "{stderr}");
}

#[test]
fn a_number_of_features_that_a_method_cannot_have_is_reported_as_skipped() {
    let folder = folder();
    wave(folder.path());
    let (_, stderr) =
        compare(folder.path(), &["--methods", "gda,kobl", "--n-features", "own,5", "--folds", "3"]);
    assert!(
        stderr
            .contains("n_features = 5 is skipped for `gda`: fewer features than requested are possible here"),
        "{stderr}"
    );
}

#[test]
fn every_format_of_the_table_holds_the_same_results() {
    let folder = folder();
    wave(folder.path());
    let more = ["--methods", "gda,kobl", "--evaluators", "knn", "--knn", "3", "--folds", "3", "--format"];
    let of = |form: &str| compare(folder.path(), &[&more[..], &[form]].concat()).0;
    let json: Value = serde_json::from_str(&of("json")).expect("JSON");
    assert_eq!((&json["measure"], &json["splits"]), (&"accuracy".into(), &3.into()));
    let entries = json["entries"].as_array().expect("entries");
    let table = of("csv");
    let (head, rows) = csv(&table);
    assert_eq!(rows.len(), entries.len());
    for (row, entry) in rows.iter().zip(entries) {
        let cell = |name: &str| row[head.iter().position(|h| *h == name).expect("a column")];
        assert_eq!(cell("method"), entry["method"]);
        assert_eq!(cell("accuracy").parse::<f64>().ok(), entry["mean"].as_f64(), "to the last digit");
        assert_eq!(cell("splits"), "3");
    }
    let (text, markdown) = (of("text"), of("markdown"));
    assert_eq!(text.lines().count(), entries.len() + 1);
    assert_eq!(markdown.lines().count(), entries.len() + 2);
    assert!(
        markdown.starts_with("| method | basis | evaluator |") && markdown.contains("\n|---|---|---|---:|"),
        "{markdown}"
    );

    for (file, starts) in [("t.json", "{"), ("t.csv", "method,"), ("t.md", "| method"), ("t.txt", "method ")]
    {
        let (out, stderr) = compare(folder.path(), &[&more[..8], &["-o", file, "--seed", "1"]].concat());
        assert_eq!(out, "");
        assert!(stderr.contains(&format!("wrote {file}")), "{stderr}");
        let written = fs::read_to_string(folder.path().join(file)).expect("a table");
        assert!(written.starts_with(starts), "{written}");
    }
    let dashed = compare(folder.path(), &[&more[..], &["csv", "-o", "-"]].concat()).0;
    let without_seconds = |table: &str| -> Vec<String> {
        table.lines().map(|line| line.split(',').take(11).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(without_seconds(&dashed), without_seconds(&table));
}

#[test]
fn widths_and_sizes_are_lines_of_their_own() {
    let folder = folder();
    wave(folder.path());
    let more =
        ["--methods", "klfe", "--gamma", "scale,0.5", "--n-features", "own,2,1000", "--evaluators", "ridge"];
    let (out, _) = compare(folder.path(), &[&more[..], &["--format", "csv", "-q"]].concat());
    let (head, rows) = csv(&out);
    let at = |name: &str| head.iter().position(|h| *h == name).expect("a column");
    let klfe: Vec<_> = rows.iter().filter(|row| row[0] == "klfe").collect();
    for (rule, asked) in [("scale", ""), ("scale", "2"), ("0.5", ""), ("0.5", "2")] {
        let found =
            klfe.iter().filter(|row| row[at("gamma_rule")] == rule && row[at("asked")] == asked).count();
        assert_eq!(found, 1, "{rule}, {asked}: {out}");
    }
    assert!(
        klfe.iter().all(|row| row[at("asked")] != "1000"),
        "what a method cannot give is left out: {out}"
    );
    let (text, _) = compare(folder.path(), &more);
    assert!(text.contains(" scale ") && text.contains(" 0.5"), "{text}");
}

#[test]
fn the_former_name_of_the_evaluators_still_works() {
    let folder = folder();
    wave(folder.path());
    let table = |flag: &str| {
        let more = ["--methods", "gda", "--folds", "3", "--format", "csv", "-q", flag, "ridge"];
        let (out, _) = compare(folder.path(), &more);
        let (head, rows) = csv(&out);
        let seconds = head.iter().position(|h| *h == "fit_seconds").expect("a column");
        let timeless = |row: Vec<&str>| [&row[..seconds], &row[seconds + 1..]].concat().join(",");
        rows.into_iter().map(timeless).collect::<Vec<_>>()
    };
    assert_eq!(table("--judges"), table("--evaluators"));
}

#[test]
fn numbers_are_evaluated_by_r2() {
    let folder = folder();
    let data = "synth:friedman?n=80&seed=1";
    let more = ["--methods", "kpls,nystrom", "--test-share", "0.25", "--repeats", "2"];
    let (out, stderr) = done(folder.path(), &[&["compare", data], &more[..]].concat());
    assert!(out.lines().next().expect("a head").contains(" r2 ") && out.contains(" rmse "), "{out}");
    assert!(stderr.contains("on 2 splits, 0.25 of the rows for testing"), "{stderr}");
    let error = refused(folder.path(), 1, &["compare", data, "--methods", "gda"]);
    assert!(error.contains("`gda` needs classes"), "{error}");
}

#[test]
fn the_same_seed_makes_the_same_table_on_any_number_of_threads() {
    let folder = folder();
    wave(folder.path());
    let table = |threads: &str| {
        let more = [
            "--methods",
            "klfe,skfe,nystrom,takes",
            "--format",
            "json",
            "--seed",
            "4",
            "-q",
            "--threads",
            threads,
        ];
        let mut json: Value = serde_json::from_str(&compare(folder.path(), &more).0).expect("JSON");
        json["entries"]
            .as_array_mut()
            .expect("entries")
            .iter_mut()
            .for_each(|e| e["fit_seconds"] = Value::Null);
        json
    };
    assert_eq!(table("1"), table("3"));
}

#[test]
fn a_method_that_fails_stops_no_other() {
    let folder = folder();
    let data = "synth:blobs?n=60&classes=2&seed=1";
    // So strict that nothing is kept.
    let more = ["--methods", "eks,kobl", "--selector", "fwe", "--level", "1e-200", "--n-features", "own"];
    let (out, stderr) = done(folder.path(), &[&["compare", data], &more[..]].concat());
    assert!(out.lines().any(|line| line.starts_with("kobl ")), "{out}");
    if out.lines().all(|line| !line.starts_with("eks ")) {
        assert!(stderr.contains("warning: `eks` failed: "), "{stderr}");
    }
}

#[test]
fn a_page_shows_the_comparison() {
    let folder = folder();
    wave(folder.path());
    let more = ["--methods", "klfe,gda", "--gamma", "1", "--evaluators", "knn"];
    let (out, stderr) = compare(folder.path(), &[&more[..], &["--report", "page.html"]].concat());
    assert!(stderr.contains("wrote the report page.html"), "{stderr}");
    assert!(stderr.contains("with shuffled labels the best of all candidates has"), "{stderr}");
    assert_eq!(
        out.lines().filter(|line| line.starts_with("klfe ")).count(),
        1,
        "no sizes of the chart: {out}"
    );
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("mercer compare wave.csv --target kind --methods klfe,gda"), "how to repeat it");
    assert!(page.contains("<svg") && page.contains("wave.csv"), "{page}");
    let parent = folder.path().display().to_string();
    assert!(!page.contains(&parent));
    let line = stderr.lines().find(|l| l.starts_with("recommended: ") || l.starts_with("best features: "));
    let named = line.and_then(|line| line.split_once(": ")).expect("a recommendation").1;
    let best = named.split_whitespace().next().expect("a method");
    assert!(page.contains(&format!("A closer look at {best}")), "what is recommended, {best}: {page}");
    assert!(page.contains("of rows held out"), "{page}");

    let (page, stderr) = compare(folder.path(), &[&more[..], &["--report", "-", "-q"]].concat());
    assert!(page.starts_with("<!") && page.contains("<svg"), "the page alone: {page}");
    assert_eq!(stderr, "");
    let (page, _) = compare(folder.path(), &[&more[..], &["--report", "-", "-o", "table.csv"]].concat());
    assert!(page.starts_with("<!"));
    assert!(fs::read_to_string(folder.path().join("table.csv")).expect("a table").starts_with("method,"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_shows_what_is_finished() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};
    let folder = folder();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("mercer"))
        .args([
            "compare",
            "synth:ringnorm?n=300",
            "--methods",
            "kobl,takes",
            "--repeats",
            "2000",
            "--threads",
            "2",
        ])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut pipe = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut stderr = String::new();
    while !stderr.contains("comparing") {
        assert!(pipe.read_line(&mut stderr).expect("a line") > 0, "ended early: {stderr}");
    }
    std::thread::sleep(std::time::Duration::from_secs(3));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("sent");
    assert!(sent.success());
    pipe.read_to_string(&mut stderr).expect("read");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.ends_with("interrupted\n"), "{stderr}");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(out.lines().any(|line| line.starts_with("kobl ")), "{out}");
    let last = out.lines().last().expect("a last line");
    assert!(last.starts_with("stopped early: ") && last.ends_with(" of 10000 splits were finished"), "{out}");
    assert!(stderr.lines().any(|line| line == last), "{stderr}");
}

#[test]
fn features_that_are_named_are_in_the_table() {
    let folder = folder();
    wave(folder.path());
    let more =
        ["--methods", "skfe,kobl", "--evaluators", "ridge", "--report", "page.html", "-o", "table.csv"];
    let (_, stderr) = compare(folder.path(), &more);
    let table = fs::read_to_string(folder.path().join("table.csv")).expect("a table");
    let (head, rows) = csv(&table);
    let at = |name: &str| head.iter().position(|h| *h == name).expect("a column");
    let features: Vec<&str> =
        stderr.lines().filter(|line| line.contains(" evaluated with ridge, ")).collect();
    let named: Vec<(&str, f64)> = features
        .iter()
        .filter_map(|line| {
            let (text, count) = line.rsplit_once(" from ")?;
            let count =
                if count == "one feature" { 1.0 } else { count.split(' ').find_map(|w| w.parse().ok())? };
            let text = text.split(": ").last()?.rsplit("the best, ").next()?;
            Some((text.split(' ').next()?, count))
        })
        .collect();
    assert!(!named.is_empty(), "{stderr}");
    for (method, count) in named {
        let is_it = |row: &Vec<&str>| {
            row[at("method")] == method
                && row[at("n_features")].parse::<f64>().is_ok_and(|q| (q - count).abs() <= 0.5)
        };
        assert!(rows.iter().any(is_it), "{method} with {count} features: {table}\n{stderr}");
    }
}

#[test]
fn baselines_without_probabilities_are_named_where_they_are_left_out() {
    let folder = folder();
    wave(folder.path());
    let (out, stderr) = compare(
        folder.path(),
        &["--methods", "kobl", "--score", "log-loss", "--folds", "3", "--report", "page.html"],
    );
    let text = "`rbf-svm`, `linear-svm` and `kknn` are left out";
    assert!(!out.contains("rbf-svm") && stderr.contains(text), "{stderr}");
    assert!(fs::read_to_string(folder.path().join("page.html")).expect("a page").contains("are left out"));
}

#[test]
fn noise_is_recommended_to_nobody() {
    let folder = folder();
    let mut state = 7u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let row = |_| format!("{},{},{},{}", number(), number(), number(), number() % 2);
    let lines: Vec<String> = std::iter::once("a,b,c,ill".into()).chain((0..80).map(row)).collect();
    fs::write(folder.path().join("noise.csv"), lines.join("\n") + "\n").expect("written");
    let args = ["compare", "noise.csv", "--target", "ill", "--methods", "gda,kpls", "--format", "json"];
    let (out, stderr) = done(folder.path(), &args);
    let json: Value = serde_json::from_str(&out).expect("JSON");
    assert!(json["recommended"].is_null() && stderr.contains("better than chance"), "{stderr}");
    assert!(stderr.contains("best features, not recommended: "), "{stderr}");
}

#[test]
fn scores_groups_and_time_can_be_asked_for() {
    let folder = folder();
    let row = |i: usize| format!("{},{},{},{}", i % 7, i % 5, i / 6, i % 2);
    let lines: Vec<String> = std::iter::once("a,b,patient,ill".into()).chain((0..60).map(row)).collect();
    fs::write(folder.path().join("visits.csv"), lines.join("\n") + "\n").expect("written");
    let base = ["compare", "visits.csv", "--target", "ill", "--methods", "kobl", "--evaluators", "ridge"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let (out, stderr) =
        done(folder.path(), &with(&["--score", "roc-auc", "--groups", "patient", "--folds", "4"]));
    assert!(out.lines().next().expect("a head").contains(" roc auc "), "{out}");
    assert!(stderr.contains("60 rows of 2 inputs"), "groups are no input: {stderr}");
    let (out, _) = done(folder.path(), &with(&["--ordered", "--folds", "3"]));
    assert!(out.contains("dummy"), "{out}");
    let error = refused(folder.path(), 2, &with(&["--score", "guess"]));
    assert!(error.contains("`guess` is not known; use one of accuracy"), "{error}");
    let error = refused(folder.path(), 2, &with(&["--groups", "patient", "--folds", "11"]));
    assert!(error.contains("11 folds of 10 groups"), "{error}");
}
