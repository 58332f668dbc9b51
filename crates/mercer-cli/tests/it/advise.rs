//! `mercer advise`: whether a kernel helps, and what to start with.

use std::fs;

use serde_json::Value;

use crate::program::{done, folder, refused, run, text};

#[test]
fn the_last_line_of_an_advice_is_a_command_that_follows_it() {
    let folder = folder();
    let (out, _) = done(folder.path(), &["advise", "synth:ringnorm?n=300&seed=1", "-q"]);
    assert!(out.starts_with("A kernel helps here.\n"), "{out}");
    let command = out.lines().last().expect("a line");
    assert!(command.starts_with("mercer fit 'synth:ringnorm?n=300&seed=1' --method "), "{command}");
    assert!(command.ends_with(" -o model.mercer"), "{command}");
    let args: Vec<String> =
        command.split(' ').skip(1).map(|word| word.trim_matches('\'').to_string()).collect();
    done(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(folder.path().join("model.mercer").exists());
}

#[test]
fn an_advice_is_there_for_programs_and_as_a_page() {
    let folder = folder();
    fs::rename(folder.path().join("train.csv"), folder.path().join("two words.csv")).expect("renamed");
    let args = ["advise", "two words.csv", "--target", "kind", "--drop", "c", "--scale", "min-max"];
    let (out, _) =
        done(folder.path(), &[&args[..], &["--format", "json", "--report", "advice.html"]].concat());
    let advice: Value = serde_json::from_str(&out).expect("JSON");
    let command = advice["command"].as_str().expect("a command");
    assert!(
        command.starts_with("mercer fit 'two words.csv' --target kind --scale min-max --drop c --method "),
        "{command}"
    );
    assert!(advice["verdict"].is_string() && advice["findings"].is_array());
    let page = fs::read_to_string(folder.path().join("advice.html")).expect("a page");
    assert!(page.starts_with("<!") && page.contains("two words.csv"), "{page}");
    let (again, _) = done(folder.path(), &[&args[..], &["--format", "json", "--threads", "3"]].concat());
    assert_eq!(again, out, "the same on any number of threads");
}

#[test]
fn groups_are_for_comparisons() {
    let folder = folder();
    let args = ["advise", "train.csv", "--target", "kind", "--groups", "a"];
    let error = refused(folder.path(), 2, &args);
    assert!(error.contains("groups = a is given, but `advise` keeps no rows together"), "{error}");
    assert!(error.contains("hint: `mercer compare` does (`--groups a`)"), "{error}");
    assert!(!done(folder.path(), &["advise", "--help"]).0.contains("--groups"));
}

#[test]
fn an_advice_for_numbers() {
    let folder = folder();
    let output = run(folder.path(), &["advise", "synth:friedman?n=200&seed=1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).lines().last().expect("a line").starts_with("mercer fit "));
}
