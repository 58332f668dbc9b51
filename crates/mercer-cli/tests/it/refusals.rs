//! Every error that a user can meet, as tables of command, exit code and message. The tables are in `snapshots/`;
//! `INSTA_UPDATE=always cargo test -p mercer-cli` rewrites them, and a diff shows what changed.

mod usage;
mod files;
mod data;
mod models;
mod places;
mod columns;

use std::fs;
use std::path::Path;

use crate::program::{listing, run_with_input, text, words};

/// Compares a table with the stored one.
fn check(name: &str, table: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, table);
    });
}

/// Runs commands that must fail, written as `fit 'two words.csv' --method kobl`, and lists their errors. Messages before the
/// error are left out.
fn refusals(folder: &Path, commands: &[&str]) -> String {
    commands.iter().map(|command| refusal(folder, command, "")).collect::<Vec<_>>().join("\n")
}

fn refusal(folder: &Path, command: &str, input: &str) -> String {
    let args = words(command);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let before = listing(folder);
    let output = run_with_input(folder, &args, input);
    let (code, stderr) = (output.status.code(), text(&output.stderr));
    assert!(matches!(code, Some(1 | 2)), "{command}: {code:?}: {stderr}");
    assert_eq!(text(&output.stdout), "", "{command}");
    assert_eq!(listing(folder), before, "{command} left something behind");
    for trace in ["panicked", "bug in mercer"] {
        assert!(!stderr.contains(trace), "{command}: {stderr}");
    }
    let lines: Vec<&str> = stderr.lines().collect();
    let errors = lines.iter().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{command}: {stderr}");
    let from = lines.iter().position(|line| line.starts_with("error: ")).unwrap_or(0);
    let stderr = lines[from..].join("\n").replace(&folder.display().to_string(), "FOLDER");
    format!("$ mercer {command}\n[exit {}]\n{}\n", code.unwrap_or_default(), stderr.trim_end())
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(name), bytes).expect("written");
}
