//! `mercer compare`: many methods on the same splits, judged by what their features predict.

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
    let (out, talk) = compare(folder.path(), &["--methods", "gda,klfe,kobl", "--gamma", "1"]);
    let head: Vec<&str> = out.lines().next().expect("a head").split("  ").filter(|w| !w.is_empty()).collect();
    let heads =
        ["method", "basis", "judge", "features", "accuracy", "balanced accuracy", "kernel values", "gamma"];
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
    assert!(talk.contains("comparing 3 methods, judged by knn and ridge, on 5 folds"), "{talk}");
    assert!(talk.lines().any(|line| line.starts_with("best features: ")), "{talk}");
}

#[test]
fn a_number_of_features_that_a_method_cannot_have_is_said_to_be_left_out() {
    let folder = folder();
    wave(folder.path());
    let (_, talk) =
        compare(folder.path(), &["--methods", "gda,kobl", "--n-features", "own,5", "--folds", "3"]);
    assert!(talk.contains("n_features = 5 is left out for `gda`, which cannot have so many here"), "{talk}");
}

#[test]
fn every_form_of_the_table_tells_the_same() {
    let folder = folder();
    wave(folder.path());
    let more = ["--methods", "gda,kobl", "--judges", "knn", "--knn", "3", "--folds", "3", "--format"];
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
        markdown.starts_with("| method | basis | judge |") && markdown.contains("\n|---|---|---|---:|"),
        "{markdown}"
    );

    for (file, starts) in [("t.json", "{"), ("t.csv", "method,"), ("t.md", "| method"), ("t.txt", "method ")]
    {
        let (out, talk) = compare(folder.path(), &[&more[..8], &["-o", file, "--seed", "1"]].concat());
        assert_eq!(out, "");
        assert!(talk.contains(&format!("wrote {file}")), "{talk}");
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
        ["--methods", "klfe", "--gamma", "scale,0.5", "--n-features", "own,2,1000", "--judges", "ridge"];
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
fn numbers_are_judged_by_r2() {
    let folder = folder();
    let data = "synth:friedman?n=80&seed=1";
    let more = ["--methods", "kpls,nystrom", "--test-share", "0.25", "--repeats", "2"];
    let (out, talk) = done(folder.path(), &[&["compare", data], &more[..]].concat());
    assert!(out.lines().next().expect("a head").contains(" r2 ") && out.contains(" mse "), "{out}");
    assert!(talk.contains("on 2 splits, 0.25 of the rows for testing"), "{talk}");
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
    let (out, talk) = done(folder.path(), &[&["compare", data], &more[..]].concat());
    assert!(out.lines().any(|line| line.starts_with("kobl ")), "{out}");
    if out.lines().all(|line| !line.starts_with("eks ")) {
        assert!(talk.contains("warning: `eks` failed: "), "{talk}");
    }
}

#[test]
fn a_page_shows_the_comparison() {
    let folder = folder();
    wave(folder.path());
    let more = ["--methods", "klfe,gda", "--gamma", "1", "--judges", "knn"];
    let (out, talk) = compare(folder.path(), &[&more[..], &["--report", "page.html"]].concat());
    assert!(talk.contains("wrote the page page.html"), "{talk}");
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
    let mut names = out.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let best = names.find(|name| !["raw", "kknn", "rbf-svm"].contains(name)).expect("a method");
    assert!(page.contains(&format!("A closer look at {best}")), "the best of the table, {best}: {page}");

    let (page, talk) = compare(folder.path(), &[&more[..], &["--report", "-", "-q"]].concat());
    assert!(page.starts_with("<!") && page.contains("<svg"), "the page alone: {page}");
    assert_eq!(talk, "");
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
    let mut talk = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("comparing") {
        assert!(talk.read_line(&mut said).expect("a line") > 0, "ended early: {said}");
    }
    std::thread::sleep(std::time::Duration::from_secs(3));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("sent");
    assert!(sent.success());
    talk.read_to_string(&mut said).expect("read");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.ends_with("interrupted\n"), "{said}");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(out.lines().any(|line| line.starts_with("kobl ")), "{out}");
}
