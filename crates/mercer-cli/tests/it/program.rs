//! How the tests run the program: each in a folder of its own, with files, output and exit code.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use tempfile::TempDir;

/// A folder with `train.csv`: 40 rows of `a`, `b`, `c` and a `kind`.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let kind = |i: usize| if i.is_multiple_of(3) { "yes" } else { "no" };
    let line = |i: usize| format!("{},{},{},{}\n", i % 7, (i * i) % 11, (i % 5) * 2, kind(i));
    let text: String = std::iter::once("a,b,c,kind\n".to_string()).chain((0..40).map(line)).collect();
    fs::write(folder.path().join("train.csv"), text).expect("written");
    folder
}

pub(crate) fn run_with_input(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut command = cargo_bin_cmd!("mercer");
    command
        .current_dir(folder)
        .env_remove("MERCER_NUM_THREADS")
        .env_remove("MERCER_DEVICE")
        .env("COLUMNS", "100")
        .args(args)
        .write_stdin(input);
    command.output().expect("started")
}

pub(crate) fn run(folder: &Path, args: &[&str]) -> Output {
    run_with_input(folder, args, "")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs what must succeed; standard output and standard error.
pub(crate) fn done(folder: &Path, args: &[&str]) -> (String, String) {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Runs what must fail with this code, leaving the folder as it was; standard error.
pub(crate) fn refused(folder: &Path, code: i32, args: &[&str]) -> String {
    let before = listing(folder);
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "{args:?}");
    assert_eq!(listing(folder), before, "{args:?} left something behind");
    let error = text(&output.stderr);
    assert!(error.contains("error: "), "{args:?}: {error}");
    assert!(!error.contains("panicked"), "{args:?}: {error}");
    error
}

pub(crate) fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.display().to_string()).collect();
    names.sort();
    names
}

pub(crate) const FIT: [&str; 8] =
    ["fit", "train.csv", "--target", "kind", "--method", "kobl", "-o", "model.mercer"];

pub(crate) fn fit(folder: &Path, more: &[&str]) -> (String, String) {
    done(folder, &[&FIT[..], more].concat())
}

pub(crate) fn to_model<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["fit"], args, &["-o", "model.mercer"]].concat()
}

/// The lines of a CSV text, its head apart.
pub(crate) fn csv(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect());
    (lines.next().expect("a head"), lines.collect())
}

/// `wave.csv`: 60 rows of `a`, `b`, `noise` and a `kind` that a wave in `a` decides.
pub(crate) fn wave(folder: &Path) {
    let line = |i: u32| {
        let (a, b, noise) = (i % 12, (i * 7) % 10, (i * i * 31) % 17);
        format!("{a},{b},{noise},{}\n", if a % 6 < 3 { "up" } else { "down" })
    };
    let text: String = std::iter::once("a,b,noise,kind\n".to_string()).chain((0..60).map(line)).collect();
    fs::write(folder.join("wave.csv"), text).expect("written");
}

/// The words of a command; single quotes keep one together.
pub(crate) fn words(command: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in command.chars() {
        match (c, words.last_mut()) {
            ('\'', _) => quoted = !quoted,
            (' ', Some(last)) if !quoted => {
                if !last.is_empty() {
                    words.push(String::new());
                }
            }
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    words
}
