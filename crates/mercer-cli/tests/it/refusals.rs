//! Every way to be refused, as a table: the command, how it ends, what it says. The tables are in `snapshots/`;
//! `INSTA_UPDATE=always cargo test -p mercer-cli` writes them again, and a diff shows what changed.

mod usage;
mod files;
mod data;
mod models;
mod places;

use std::fs;
use std::path::Path;

use crate::program::{listing, run_with_input, text, words};

/// Compares a table with the one that is kept.
fn check(name: &str, table: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, table);
    });
}

/// Runs commands that must fail, each in words such as `fit 'two words.csv' --method kobl`; what they said, below each other.
/// What a command says before its error is left out: it is shown elsewhere.
fn refusals(folder: &Path, commands: &[&str]) -> String {
    commands.iter().map(|command| refusal(folder, command, "")).collect::<Vec<_>>().join("\n")
}

fn refusal(folder: &Path, command: &str, input: &str) -> String {
    let args = words(command);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let before = listing(folder);
    let output = run_with_input(folder, &args, input);
    let (code, talk) = (output.status.code(), text(&output.stderr));
    assert!(matches!(code, Some(1 | 2)), "{command}: {code:?}: {talk}");
    assert_eq!(text(&output.stdout), "", "{command}");
    assert_eq!(listing(folder), before, "{command} left something behind");
    for trace in ["panicked", "bug in mercer"] {
        assert!(!talk.contains(trace), "{command}: {talk}");
    }
    let lines: Vec<&str> = talk.lines().collect();
    let errors = lines.iter().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{command}: {talk}");
    let from = lines.iter().position(|line| line.starts_with("error: ")).unwrap_or(0);
    let said = lines[from..].join("\n").replace(&folder.display().to_string(), "FOLDER");
    format!("$ mercer {command}\n[exit {}]\n{}\n", code.unwrap_or_default(), said.trim_end())
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(name), bytes).expect("written");
}
