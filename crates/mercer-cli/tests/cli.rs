//! Real runs of the program: what it writes, what it says, how it ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with `train.csv`: 40 rows of `a`, `b`, `c` and a `kind`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let kind = |i: usize| if i.is_multiple_of(3) { "yes" } else { "no" };
    let line = |i: usize| format!("{},{},{},{}\n", i % 7, (i * i) % 11, (i % 5) * 2, kind(i));
    let text: String = std::iter::once("a,b,c,kind\n".to_string()).chain((0..40).map(line)).collect();
    fs::write(folder.path().join("train.csv"), text).expect("written");
    folder
}

fn run_with_input(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut command = cargo_bin_cmd!("mercer");
    command
        .current_dir(folder)
        .env_remove("MERCER_NUM_THREADS")
        .env("COLUMNS", "100")
        .args(args)
        .write_stdin(input);
    command.output().expect("started")
}

fn run(folder: &Path, args: &[&str]) -> Output {
    run_with_input(folder, args, "")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs what must succeed; standard output and standard error.
fn done(folder: &Path, args: &[&str]) -> (String, String) {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Runs what must fail with this code, leaving the folder as it was; standard error.
fn refused(folder: &Path, code: i32, args: &[&str]) -> String {
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

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.display().to_string()).collect();
    names.sort();
    names
}

const FIT: [&str; 8] = ["fit", "train.csv", "--target", "kind", "--method", "kobl", "-o", "model.mercer"];

fn fit(folder: &Path, more: &[&str]) -> (String, String) {
    done(folder, &[&FIT[..], more].concat())
}

fn to_model<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["fit"], args, &["-o", "model.mercer"]].concat()
}

/// The lines of a CSV text, its head apart.
fn csv(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect());
    (lines.next().expect("a head"), lines.collect())
}

#[test]
fn rows_become_a_model_and_the_model_makes_features() {
    let folder = folder();
    let (out, talk) = fit(folder.path(), &["--n-components", "4", "--gamma", "0.5"]);
    assert_eq!(out, "");
    for part in [
        "40 rows of 3 inputs",
        "2 classes (no, yes)",
        "beside the data",
        "4 components",
        "wrote model.mercer",
    ] {
        assert!(talk.contains(part), "{part}: {talk}");
    }
    let (out, _) = done(folder.path(), &["transform", "model.mercer", "train.csv"]);
    let (head, rows) = csv(&out);
    assert_eq!(head, ["kobl0", "kobl1", "kobl2", "kobl3"]);
    assert_eq!(rows.len(), 40);
    let dashed = done(folder.path(), &["transform", "model.mercer", "train.csv", "-o", "-"]).0;
    assert_eq!(dashed, out);

    for ending in ["parquet", "arrow", "csv", "tsv.gz", "npz"] {
        let file = format!("features.{ending}");
        let (out, _) = done(folder.path(), &["transform", "model.mercer", "train.csv", "-o", &file]);
        assert_eq!(out, "");
        let again = ["fit", &file, "--method", "nystrom", "--n-components", "2", "-o", "again.mercer"];
        assert!(done(folder.path(), &again).1.contains("40 rows of 4 inputs"), "{ending}");
    }
}

#[test]
fn columns_are_matched_by_name_and_others_are_ignored() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "4"]);
    fs::write(folder.path().join("plain.csv"), "a,b,c\n1,2,4\n6,0,8\n").expect("written");
    fs::write(folder.path().join("mixed.csv"), "c,id,a,kind,b\n4,u,1,yes,2\n8,v,6,?,0\n").expect("written");
    let plain = done(folder.path(), &["transform", "model.mercer", "plain.csv"]).0;
    let mixed = done(folder.path(), &["transform", "model.mercer", "mixed.csv"]).0;
    assert_eq!(plain, mixed);
    let kept = done(folder.path(), &["transform", "model.mercer", "mixed.csv", "--keep", "id,kind"]).0;
    let (head, rows) = csv(&kept);
    assert_eq!((&head[..3], &rows[1][..2]), (&["id", "kind", "kobl0"][..], &["v", "?"][..]));

    fs::write(folder.path().join("few.csv"), "a,c\n1,4\n").expect("written");
    let error = refused(folder.path(), 1, &["transform", "model.mercer", "few.csv"]);
    assert!(error.contains("column `b` is missing"), "{error}");
}

#[test]
fn columns_without_names_are_matched_by_place() {
    let folder = folder();
    fs::write(folder.path().join("bare.csv"), "1,2,0\n3,4,1\n5,7,0\n").expect("written");
    done(folder.path(), &["fit", "bare.csv", "--target", "-1", "--method", "nystrom", "-o", "model.mercer"]);
    let bare = done(folder.path(), &["transform", "model.mercer", "bare.csv"]).0;
    fs::write(folder.path().join("named.csv"), "u,v\n1,2\n3,4\n5,7\n").expect("written");
    assert_eq!(done(folder.path(), &["transform", "model.mercer", "named.csv"]).0, bare);
    fs::write(folder.path().join("wide.csv"), "1,2,0,9\n").expect("written");
    let error = refused(folder.path(), 1, &["transform", "model.mercer", "wide.csv"]);
    assert!(error.contains("2 input columns are needed"), "{error}");
}

#[test]
fn inspect_tells_what_fit_was_told() {
    let folder = folder();
    fit(folder.path(), &["--gamma", "0.5", "--n-components", "4", "--seed", "3", "--scale", "min-max"]);
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    for part in ["rbf, gamma = 0.5", "min-max", "3: a, b, c", "4: kobl0", "4 rows", "train.csv", "residual"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (out, _) = done(folder.path(), &["inspect", "model.mercer", "--format", "json"]);
    let model: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(model["kernel"]["gamma"], 0.5);
    assert_eq!(model["features"].as_array().map(Vec::len), Some(4));
    assert_eq!(model["facts"]["seed"], 3);
    assert_eq!(model["facts"]["settings"]["n_components"], "4");
    assert_eq!(model["facts"]["target"], "kind");
    assert_eq!(model["facts"]["source"], "train.csv");
}

#[test]
fn a_model_does_not_tell_where_its_data_lay() {
    let folder = folder();
    let data = folder.path().join("train.csv").display().to_string();
    done(folder.path(), &["fit", &data, "--target", "kind", "--method", "kobl", "-o", "model.mercer"]);
    let bytes = fs::read(folder.path().join("model.mercer")).expect("a model");
    let parent = folder.path().display().to_string();
    assert!(!bytes.windows(parent.len()).any(|w| w == parent.as_bytes()));
}

#[test]
fn the_same_seed_makes_the_same_file_on_any_number_of_threads() {
    let folder = folder();
    let model = |threads: &str, file: &str| {
        let data = "synth:ringnorm?n=600";
        let args =
            ["fit", data, "--method", "rpcholesky", "--n-components", "50", "-o", file, "--threads", threads];
        done(folder.path(), &args);
        fs::read(folder.path().join(file)).expect("a model")
    };
    assert!(model("1", "one.mercer") == model("3", "three.mercer"));
}

#[test]
fn standard_input_is_csv() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    let output = run_with_input(folder.path(), &["transform", "model.mercer", "-"], "a,b,c\n1,2,3\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(csv(&text(&output.stdout)).1.len(), 1);
    let args = ["fit", "-", "--method", "kobl", "-o", "piped.mercer"];
    let output = run_with_input(folder.path(), &args, "a,b\n1,2\n3,4\n5,9\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.path().join("piped.mercer").exists());
}

#[test]
fn quiet_leaves_warnings_alone() {
    let folder = folder();
    assert_eq!(fit(folder.path(), &["--quiet"]), (String::new(), String::new()));
    fs::write(folder.path().join("flat.csv"), "a,same,label\n1,5,0\n2,5,1\n3,5,0\n").expect("written");
    let args = ["fit", "flat.csv", "--method", "kobl", "-o", "flat.mercer", "--quiet"];
    let talk = done(folder.path(), &args).1;
    assert!(talk.contains("warning: 1 column is constant"), "{talk}");
    assert!(talk.contains("`same`"), "{talk}");
    assert!(talk.contains("warning: column `label` is used as an input\nhint: "), "{talk}");
    assert!(!talk.contains('\u{1b}'), "colours without a terminal: {talk}");
}

#[test]
fn data_that_cannot_be_used_is_refused_with_its_place() {
    let folder = folder();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    file("hole.csv", "a,b\n1,2\n3,nan\n");
    file("words.csv", "a,city\n1,Oslo\n2,Rome\n");
    file("numbers.csv", "a,y\n1,0.5\n2,1.25\n3,7.5\n");
    let error = refused(folder.path(), 1, &to_model(&["hole.csv", "--method", "kobl"]));
    assert!(error.contains("row 2, column `b`") && error.contains("\nhint: "), "{error}");
    let error = refused(folder.path(), 1, &to_model(&["words.csv", "--method", "kobl"]));
    assert!(
        error.contains("`city` holds text (`Oslo` at row 1)") && error.contains("--drop city"),
        "{error}"
    );
    let error = refused(folder.path(), 1, &to_model(&["train.csv", "--target", "kinds", "--method", "kobl"]));
    assert!(error.contains("there is no column `kinds`; the columns are `a`, `b`, `c`, `kind`"), "{error}");
    let error = refused(folder.path(), 2, &to_model(&["hole.csv", "--drop", "b", "--method", "csi"]));
    assert!(error.contains("`csi` looks at the labels") && error.contains("--target"), "{error}");
    let text_as_numbers = ["train.csv", "--target", "kind", "--task", "numbers", "--method", "csi"];
    let error = refused(folder.path(), 1, &to_model(&text_as_numbers));
    assert!(error.contains("the target holds the text"), "{error}");
    let without_target = ["hole.csv", "--drop", "b", "--task", "classes", "--method", "kobl"];
    let error = refused(folder.path(), 2, &to_model(&without_target));
    assert!(error.contains("there is no target\nhint: "), "{error}");
    let error = refused(folder.path(), 1, &to_model(&["missing.csv", "--method", "kobl"]));
    assert!(error.contains("missing.csv"), "{error}");
    let drop = ["words.csv", "--drop", "city", "--method", "kobl"];
    done(folder.path(), &to_model(&drop));
    done(folder.path(), &to_model(&["numbers.csv", "--target", "y", "--method", "csi"]));
}

#[test]
fn bad_usage_is_told_apart_from_failure() {
    let folder = folder();
    let fit = |more: &[&str]| refused(folder.path(), 2, &[&FIT[..], more].concat());
    let error = refused(folder.path(), 2, &["fit", "train.csv", "--method", "kobI", "-o", "model.mercer"]);
    for card in mercer::methods::METHODS {
        assert!(error.contains(card.name), "{error}");
    }
    let error = fit(&["--nu", "0.2"]);
    assert!(error.contains("`nu` is not a parameter of `kobl`; it has kernel, gamma"), "{error}");
    assert!(fit(&["--threshold", "2"]).contains("threshold = 2, but it must be"));
    assert!(fit(&["--coef0=-inf"]).contains("coef0 = -inf, but it must be a finite number"));
    assert!(fit(&["--n-components", "0"]).contains("at least 1"));
    assert!(fit(&["--n-components", "ten"]).contains("n_components = ten"));
    assert!(fit(&["--kernel", "gauss"]).contains("rbf, laplacian"));
    assert!(fit(&["--kernel", "precomputed", "--scale", "standard"]).contains("cannot be scaled"));
    assert!(fit(&["--memory", "much"]).contains("500MB"));
    assert!(fit(&["--threads", "0"]).contains("--threads"));
    assert!(fit(&["--colour"]).contains("--colour"));
    refused(folder.path(), 2, &["methods", "nope"]);
    let error = refused(folder.path(), 1, &[&FIT[..], &["--memory", "1kB"]].concat());
    assert!(error.contains("but the budget is 1 kB") && error.contains("\nhint: "), "{error}");
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_work() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    // The data is not there either: the place is looked at first.
    let transform =
        |place: &str| refused(folder.path(), 1, &["transform", "model.mercer", "nothing.csv", "-o", place]);
    assert!(transform("features.xlsx").contains(".parquet"));
    assert!(transform("nowhere/features.csv").contains("the folder `nowhere` does not exist"));
    let args = ["fit", "nothing.csv", "--method", "kobl", "-o", "nowhere/model.mercer"];
    assert!(refused(folder.path(), 1, &args).contains("does not exist"));
    assert!(
        refused(folder.path(), 1, &["fit", "nothing.csv", "--method", "kobl", "-o", "."]).contains("folder")
    );
    let args = ["fit", "train.csv", "--method", "kobl", "--drop", "kind", "-o", "./train.csv"];
    assert!(refused(folder.path(), 2, &args).contains("would overwrite"));
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    let whole = fs::read(folder.path().join("model.mercer")).expect("a model");
    let refuse = |bytes: &[u8], what: &str| {
        fs::write(folder.path().join("bad.mercer"), bytes).expect("written");
        for args in [&["inspect", "bad.mercer"][..], &["transform", "bad.mercer", "train.csv"]] {
            let error = refused(folder.path(), 1, args);
            assert!(error.contains("bad.mercer: ") && error.contains(what), "{what}: {error}");
        }
    };
    refuse(&whole[..whole.len() - 8], "truncated");
    refuse(&whole[..40], "truncated");
    refuse(b"", "truncated or empty");
    refuse(b"a,b\n1,2\n3,4\n5,6\n", "not a mercer model");
    let text = String::from_utf8_lossy(&whole).into_owned();
    assert!(text.contains(r#"\"format\":1"#));
    let newer: Vec<u8> = {
        let (old, new) = (br#"\"format\":1"#, br#"\"format\":9"#);
        let at = whole.windows(old.len()).position(|w| w == old).expect("a version");
        [&whole[..at], new, &whole[at + old.len()..]].concat()
    };
    refuse(&newer, "newer than this program");
}

#[test]
fn a_damaged_file_gets_one_error_and_no_trace_of_a_panic() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    for ending in ["parquet", "arrow", "npy", "npz"] {
        let file = format!("features.{ending}");
        done(folder.path(), &["transform", "model.mercer", "train.csv", "-o", &file]);
        let whole = fs::read(folder.path().join(&file)).expect("features");
        for at in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            fs::write(folder.path().join(&file), &bytes).expect("written");
            let output = run(folder.path(), &["fit", &file, "--method", "nystrom", "-q", "-o", "out.mercer"]);
            let talk = text(&output.stderr);
            match output.status.code() {
                Some(0) => assert!(!talk.contains("error"), "{talk}"),
                Some(1) => assert!(talk.starts_with("error: ") && !talk.contains("bug in mercer"), "{talk}"),
                code => panic!("{ending}, byte {at}: {code:?}: {talk}"),
            }
        }
    }
}

#[test]
fn the_catalogue_is_there_for_people_and_programs() {
    let folder = folder();
    let (list, _) = done(folder.path(), &["methods"]);
    let (json, _) = done(folder.path(), &["methods", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    for card in mercer::methods::METHODS {
        assert!(list.contains(card.name) && list.contains(card.help), "{list}");
        let (about, _) = done(folder.path(), &["methods", card.name]);
        assert!(about.contains(card.source) && about.contains(card.cost), "{about}");
        for parameter in card.parameters {
            assert!(about.contains(&format!("--{}", parameter.replace('_', "-"))), "{about}");
        }
        let (one, _) = done(folder.path(), &["methods", card.name, "--format", "json"]);
        let one: Value = serde_json::from_str(&one).expect("JSON");
        assert_eq!(one["parameters"][0]["name"], "kernel");
    }
    assert_eq!(json["methods"].as_array().map(Vec::len), Some(mercer::methods::METHODS.len()));
}

#[test]
fn every_parameter_is_a_flag_and_every_command_has_an_example() {
    let folder = folder();
    let (help, _) = done(folder.path(), &["fit", "--help"]);
    for parameter in mercer::methods::PARAMETERS {
        assert!(help.contains(&format!("--{}", parameter.name.replace('_', "-"))), "{help}");
    }
    for command in ["fit", "transform", "inspect", "methods", "demo"] {
        let (help, _) = done(folder.path(), &[command, "--help"]);
        assert!(help.contains(&format!("\n  mercer {command}")), "{help}");
    }
    assert!(done(folder.path(), &["--version"]).0.starts_with("mercer "));
}

#[test]
fn the_page_of_methods_in_the_docs_is_the_catalogue() {
    let folder = folder();
    let (page, _) = done(folder.path(), &["methods", "--format", "markdown"]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods/README.md");
    assert_eq!(page, fs::read_to_string(docs).expect("docs/methods/README.md"), "`make gen` writes it again");
    for card in mercer::methods::METHODS {
        let file = format!("../mercer/src/{}/{}.rs", card.stage.name(), card.name.replace('-', "_"));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).exists(), "{file}");
        let page = format!("../../docs/methods/{}.md", card.name);
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&page).exists(), "{page}");
    }
    refused(folder.path(), 2, &["methods", "kobl", "--format", "markdown"]);
}

#[test]
fn the_help_fits_on_a_screen() {
    let folder = folder();
    insta::assert_snapshot!(done(folder.path(), &["--help"]).0, @r"
    Feature selection and feature extraction in kernel space

    Usage: mercer [OPTIONS] <COMMAND>

    Commands:
      fit        Learn a map from rows to features, and store it
      transform  Turn rows into features with a stored model
      inspect    Say what is in a model
      methods    List the methods, or say all about one
      demo       See every basis at work on made-up data
      help       Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options of every command:
          --threads <N>  Threads; the results do not depend on it [env: MERCER_NUM_THREADS=]
      -q, --quiet        Only warnings and errors on standard error

    Examples:
      mercer demo
      mercer fit train.csv --target class --method kobl -o model.mercer
      mercer transform model.mercer new.csv -o features.parquet
      mercer inspect model.mercer

    Standard output is data, standard error is talk.
    Exit: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    ");
}

#[test]
fn the_demo_compares_every_basis() {
    let folder = folder();
    let (out, talk) = done(folder.path(), &["demo", "--seed", "2"]);
    for card in mercer::methods::METHODS {
        assert!(out.contains(card.name), "{out}");
    }
    let error = |name: &str| {
        let line = out.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().find(|word| word.contains('.')).map(String::from)
    };
    assert_eq!(error("gram-schmidt"), error("the columns"), "{out}");
    let percent = error("klfe on kobl").and_then(|e| e.parse::<f64>().ok()).expect("a number");
    assert!(percent < 5.0, "{out}");
    assert!(talk.contains("labels"), "{talk}");
    assert_eq!(done(folder.path(), &["demo", "--seed", "2", "-q"]), (out, String::new()));
    refused(folder.path(), 2, &["demo", "--seed", "-1"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = folder();
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    done(folder.path(), &["fit", "synth:ringnorm?n=300", "--method", "kobl", "-q", "-o", "model.mercer"]);
    let mut child = Command::new(program)
        .args(["transform", "model.mercer", "synth:ringnorm?n=3000"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

/// Starts a fit of minutes, waits until it works, and interrupts it.
#[cfg(unix)]
fn interrupted(folder: &Path) -> Output {
    use std::io::{BufRead, BufReader, Read};
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    let data = "synth:ringnorm?n=60000";
    let mut child = Command::new(program)
        .args([
            "fit",
            data,
            "--method",
            "kobl",
            "--n-components",
            "8000",
            "--threshold",
            "0",
            "-o",
            "m.mercer",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut talk = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = String::new();
    while !said.contains("fitting") {
        assert!(talk.read_line(&mut said).expect("a line") > 0, "ended early: {said}");
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("sent");
    assert!(sent.success());
    let mut stderr = Vec::new();
    talk.read_to_end(&mut stderr).expect("read");
    Output { status: child.wait().expect("ended"), stdout: Vec::new(), stderr }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_fit_and_leaves_nothing_behind() {
    let folder = folder();
    let before = listing(folder.path());
    let output = interrupted(folder.path());
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).ends_with("interrupted\n"), "{}", text(&output.stderr));
    assert_eq!(listing(folder.path()), before);
}
