//! `--task`: the command line reads targets as the library's table says.

#[path = "../../../mercer-tests/tests/it/targets/table.rs"]
mod table;

use crate::program::{done, run_with_input, text};
use table::{Case, cases};

const MODEL: [&str; 8] = ["fit", "-", "--target", "y", "--method", "nystrom", "--n-components", "2"];

/// Rows of one input and the case's target.
fn rows(case: &Case) -> String {
    let lines = case.values.iter().enumerate().map(|(i, v)| format!("{},{v}\n", i % 9));
    std::iter::once("x,y\n".to_string()).chain(lines).collect()
}

/// The same numbers, written with a decimal point.
fn with_points(case: &Case) -> Case {
    Case { values: case.values.iter().map(|v| format!("{v}.0")).collect(), ..case.clone() }
}

fn check(case: &Case) {
    let folder = tempfile::tempdir().expect("a folder");
    let args = [&MODEL[..], &["-o", "m.mercer", "--task", case.task]].concat();
    let output = run_with_input(folder.path(), &args, &rows(case));
    let (name, stderr) = (case.name, text(&output.stderr));
    if case.read_as == "error" {
        assert!(stderr.contains("the target holds the text"), "{name}: {stderr}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{name}: {stderr}");
    assert!(stderr.contains(&format!("a target of {}", case.read_as)), "{name}: {stderr}");
    let warned = stderr.matches(&format!("warning: the target was read as {}", case.read_as)).count();
    assert_eq!(warned, usize::from(case.warns), "{name}: {stderr}");
    let other = if case.read_as == "numbers" { "classification" } else { "regression" };
    assert_eq!(stderr.contains(&format!("(`--task {other}`)")), case.warns, "{name}: {stderr}");
}

#[test]
fn targets_are_read_as_the_table_says() {
    for case in cases() {
        match case.kind {
            // In a text file such a column holds numbers.
            "text" if case.is_numeric() => {}
            "whole" => {
                check(&case);
                check(&with_points(&case));
            }
            _ => check(&case),
        }
    }
}

#[test]
fn every_command_with_a_target_has_the_task_and_warns_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = (0..120).map(|i| format!("{},{},{}\n", i % 7, i * i % 11, i % 24));
    let rows: String = std::iter::once("a,b,y\n".to_string()).chain(lines).collect();
    std::fs::write(folder.path().join("t.csv"), rows).expect("written");
    let few = ["--methods", "kobl", "--folds", "2", "--n-components", "3"];
    let commands: [(&str, &[&str]); 3] = [
        ("fit", &["--method", "kpls", "--basis", "kobl", "--basis-components", "3", "-o", "m.mercer"]),
        ("compare", &few),
        ("advise", &[]),
    ];
    for command in ["compare", "advise"] {
        let more = if command == "compare" { &few[..] } else { &[] };
        let all = [&[command, "t.csv", "--target", "y", "--format", "json"], more].concat();
        let found: serde_json::Value = serde_json::from_str(&done(folder.path(), &all).0).expect("JSON");
        let first = found["warnings"][0].as_str().unwrap_or_default();
        assert!(first.starts_with("the target was read as 24 classes"), "{command}: {first}");
    }
    for (command, more) in commands {
        let all = [&[command, "t.csv", "--target", "y"], more].concat();
        let (_, stderr) = done(folder.path(), &all);
        assert_eq!(stderr.matches("warning: the target was read as 24 classes").count(), 1, "{stderr}");
        assert_eq!(
            stderr.matches("hint: if they are amounts, override the choice (`--task regression`)").count(),
            1
        );
        for (task, read_as) in [
            ("classes", "24 classes"),
            ("classification", "24 classes"),
            ("numbers", "numbers"),
            ("regression", "numbers"),
        ] {
            let (_, stderr) = done(folder.path(), &[&all[..], &["--task", task]].concat());
            assert!(stderr.contains(&format!("a target of {read_as}")), "{command} {task}: {stderr}");
            assert!(!stderr.contains("was read as"), "{command} {task}: {stderr}");
        }
    }
}
