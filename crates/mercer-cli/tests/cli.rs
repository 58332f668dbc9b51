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
        assert_eq!(one["parameters"][0]["name"], card.parameters[0]);
    }
    assert_eq!(json["methods"].as_array().map(Vec::len), Some(mercer::methods::METHODS.len()));
}

#[test]
fn methods_are_listed_by_stage() {
    let folder = folder();
    let (list, _) = done(folder.path(), &["methods"]);
    insta::assert_snapshot!(list.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>().join("\n"), @r"
    Bases: coordinates of the kernel's space (`--method NAME`, below another method `--basis NAME`)

    Selectors: scores of columns (`--method eks --selector NAME`)

    Extractors: directions in a basis' coordinates (`--method NAME`)

    Systems: a basis and a selector (`--method NAME`)

    `mercer methods NAME` says all about one.
    ");
    insta::assert_snapshot!(done(folder.path(), &["methods", "takes"]).0, @r"
    takes: kobl and kffs, features multiplied by their weights

      stage   system
      source  TAKES
      cost    kobl, then n·m² votes

    Parameters:
      --basis
          what      the basis in whose coordinates features are chosen or made
          allowed   gram-schmidt | kobl | sparse | kpca | nystrom | rpcholesky | csi
          left out  takes, skfe: kobl; sk-relief: sparse; klfe: kpca, others: gram-schmidt, these two kobl beyond 5000 rows
      --n-features
          what     how many of the best to keep: a number, a share with a decimal point (0.5), `positive` for those with a score above 0, or `all`
          allowed  a number ≥ 1 | a share in (0, 1.0] | positive | all
          default  positive
      --weighted
          what     whether features are multiplied by their weights
          allowed  true | false
          default  true
      --reweight
          what     takes, kffs: rows that the ensemble gets right lose weight
          allowed  true | false
          default  false

    and those of its basis: `mercer methods BASIS`.
    ");
    let (about, _) = done(folder.path(), &["methods", "relieff"]);
    assert!(about.ends_with("On the command line: `--method eks --selector relieff`.\n"), "{about}");
    assert!(about.contains("default  10\n"), "its own default: {about}");
    let (about, _) = done(folder.path(), &["methods", "eks"]);
    assert!(about.contains("those of its basis and its selector"), "{about}");
    let (about, _) = done(folder.path(), &["methods", "klfe"]);
    assert!(about.contains("  stage   extract\n") && about.contains("those of its basis:"), "{about}");
    let (about, _) = done(folder.path(), &["methods", "akda-qr"]);
    assert!(about.contains("--kernel\n") && !about.contains("those of its basis"), "{about}");
}

/// `wave.csv`: 60 rows of `a`, `b`, `noise` and a `kind` that a wave in `a` decides.
fn wave(folder: &Path) {
    let line = |i: u32| {
        let (a, b, noise) = (i % 12, (i * 7) % 10, (i * i * 31) % 17);
        format!("{a},{b},{noise},{}\n", if a % 6 < 3 { "up" } else { "down" })
    };
    let text: String = std::iter::once("a,b,noise,kind\n".to_string()).chain((0..60).map(line)).collect();
    fs::write(folder.join("wave.csv"), text).expect("written");
}

#[test]
fn a_system_keeps_some_coordinates_and_says_which() {
    let folder = folder();
    wave(folder.path());
    for (method, more) in [
        ("takes", &[][..]),
        ("takes", &["--weighted=false", "--reweight", "--n-features", "4", "--threshold", "0.2"]),
        ("k-relief", &["--n-features", "4", "--n-neighbors", "3", "--power", "2"]),
        ("sk-relief", &["--nu", "0.3", "--n-features", "positive", "--weighted"]),
        ("sk-relief", &["--basis", "nystrom", "--n-components", "9", "--n-features", "all"]),
        ("eks", &["--selector", "relieff", "--basis", "kpca", "--n-components", "9", "--center"]),
    ] {
        let fit = ["wave.csv", "--target", "kind", "--method", method, "--gamma", "1"];
        let (out, talk) = done(folder.path(), &to_model(&[&fit[..], more].concat()));
        assert_eq!(out, "");
        assert!(talk.contains(&format!("fitting `{method}` (`")), "{talk}");
        let kept = talk.lines().find_map(|line| line.strip_prefix("kept ")).expect("what was kept");
        let (kept, rest) = kept.split_once(" of ").expect("of how many");
        assert!(rest.contains(" coordinates, which need ") && rest.contains("; best scores: "), "{talk}");
        let (out, _) = done(folder.path(), &["transform", "model.mercer", "wave.csv"]);
        let (head, rows) = csv(&out);
        assert_eq!((head.len().to_string().as_str(), rows.len()), (kept, 60), "{talk}");
        let (about, _) = done(folder.path(), &["inspect", "model.mercer"]);
        assert!(about.contains(&format!("method              {method}\n")), "{about}");
        assert!(
            about.contains("\nbasis ") && about.contains("\nselector ") && about.contains("\nscores "),
            "{about}"
        );
        assert_eq!(about.contains("training error      "), method == "takes", "{about}");
    }
    let (about, _) = done(folder.path(), &["inspect", "model.mercer", "--format", "json"]);
    let model: Value = serde_json::from_str(&about).expect("JSON");
    assert_eq!((&model["facts"]["selector"], &model["facts"]["basis"]), (&"relieff".into(), &"kpca".into()));
    assert_eq!(model["scores"].as_array().map(Vec::len), Some(6)); // two thirds of nine
}

#[test]
fn a_system_that_cannot_be_fitted_is_refused_before_the_work() {
    let folder = folder();
    wave(folder.path());
    fs::write(folder.path().join("numbers.csv"), "a,y\n1,0.5\n2,1.25\n3,7.5\n").expect("written");
    let refuse = |code: i32, args: &[&str]| {
        let error = refused(folder.path(), code, &to_model(args));
        assert!(!error.contains("fitting"), "{error}");
        error.lines().skip_while(|line| !line.starts_with("error")).collect::<Vec<_>>().join("\n")
    };
    let wave = ["wave.csv", "--target", "kind", "--method"];
    insta::assert_snapshot!(refuse(2, &["wave.csv", "--drop", "kind", "--method", "takes"]), @r"
    error: `takes` looks at the labels, but none were given
    hint: give them (y, `--target COL`)
    ");
    insta::assert_snapshot!(refuse(2, &["wave.csv", "--method", "relief"]), @r"
    error: `relief` scores columns; in a kernel's space it needs a basis beside it
    hint: `--method eks --selector relief`
    ");
    insta::assert_snapshot!(refuse(1, &["numbers.csv", "--target", "y", "--method", "k-relief"]), @r"
    error: `k-relief` needs classes, but the target was read as numbers
    hint: if the values are classes, give them as integers or text, or say so: task = classes (`--task classes`)
    ");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["takes", "--nu", "0.2"]].concat()), @"error: `nu` is not a parameter of `takes` with `kobl`; it has basis, n_features, weighted, reweight, kernel, gamma, degree, coef0, alpha, n_components, threshold, seed");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["eks", "--cv", "3"]].concat()), @"error: `cv` is not a parameter of `eks` with `f`, `gram-schmidt`, `kobl`; it has basis, selector, n_features, kernel, gamma, degree, coef0, alpha, n_components, tol, seed, threshold");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["eks", "--selector", "best"]].concat()), @"error: selector = `best` is not known; use one of relief, relieff, rrelieff, irelief, multisurf, kffs, f, fpr, fdr, fwe, mi, laplacian, lasso");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["sk-relief", "--basis", "kobl", "--nu", "0.2"]].concat()), @r"
    error: nu = 0.2 is for the basis `sparse`, but basis = kobl
    hint: leave one of them out
    ");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["takes", "--n-features", "1.5"]].concat()), @"error: n_features = 1.5, but it must be a whole number of at least 1, a share above 0 and at most 1, `positive` or `all`");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["k-relief", "--threshold", "0.1"]].concat()), @"error: `threshold` is not a parameter of `k-relief` with `gram-schmidt`; it has basis, n_features, n_neighbors, power, n_queries, weighted, seed, kernel, gamma, degree, coef0, alpha, n_components, tol");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["eks", "--selector", "fdr", "--alpha", "0.01"]].concat()), @r"
    error: alpha = 0.01 is for the kernel `rq`, but kernel = rbf
    hint: leave it out; the level of fpr, fdr and fwe is `--level`
    ");
    // Labels that no coordinate has anything to do with leave none; that is known only at the end.
    let strict = ["eks", "--selector", "fwe", "--level", "1e-200"];
    let error = refused(folder.path(), 1, &to_model(&[&wave[..], &strict].concat()));
    assert!(error.contains("coordinates was kept: no score is good enough\nhint: "), "{error}");
}

#[test]
fn warnings_of_a_system_are_shown() {
    let folder = folder();
    wave(folder.path());
    let many = ["wave.csv", "--target", "kind", "--method", "k-relief", "--n-features", "500", "-q"];
    let (_, talk) = done(folder.path(), &to_model(&many));
    assert!(talk.starts_with("warning: n_features = 500, but there are only "), "{talk}");
    let large = ["synth:ringnorm?n=5100", "--method", "k-relief", "--n-components", "20", "-q"];
    let (_, talk) = done(folder.path(), &to_model(&large));
    insta::assert_snapshot!(talk, @"warning: 5100 rows are more than 5000: `k-relief` uses the basis `kobl` in place of `gram-schmidt`; set basis to choose");
}

#[test]
fn every_extractor_makes_features_that_a_model_keeps() {
    let folder = folder();
    wave(folder.path());
    for (method, more) in [
        ("klfe", &["--n-components", "4", "--n-neighbors", "2"][..]),
        ("klfe", &["--basis", "kobl", "--threshold", "0.5"]),
        ("skfe", &["--n-components", "3", "--init", "random", "--seed", "2", "--center", "--tol", "1e-3"]),
        ("gda", &["--basis", "kpca", "--basis-components", "9", "--reg", "0.01"]),
        ("koc", &["--basis-components", "9"]),
        ("akda-qr", &["--reg", "0.1"]),
        ("kpls", &["--n-components", "4", "--basis", "sparse", "--nu", "0.2"]),
        ("kmfa", &["--k-within", "2", "--k-between", "9"]),
        ("kanmm", &["--n-neighbors", "2", "--basis", "nystrom", "--basis-components", "12"]),
    ] {
        let fit = ["wave.csv", "--target", "kind", "--method", method, "--gamma", "1"];
        let (out, talk) = done(folder.path(), &to_model(&[&fit[..], more].concat()));
        assert_eq!(out, "");
        assert!(talk.contains(&format!("fitting `{method}` in the coordinates of ")), "{talk}");
        assert!(talk.contains(", which takes up to ") && !talk.contains("warning"), "{talk}");
        let made = talk.lines().find_map(|line| line.strip_prefix("made ")).expect("what was made");
        assert!(made.contains(" coordinates"), "{made}");
        assert_eq!(made.contains("; alignment with the labels from "), method == "skfe", "{made}");
        let (has_values, has_shares) = (method != "koc", !matches!(method, "koc" | "kpls" | "skfe"));
        assert_eq!(made.contains("; eigenvalue"), has_values, "{made}");
        assert_eq!(made.contains("; of the whole "), has_shares, "{made}");

        let (out, _) = done(folder.path(), &["transform", "model.mercer", "wave.csv"]);
        let (head, rows) = csv(&out);
        assert!(made.starts_with(&format!("{} feature", head.len())) && rows.len() == 60, "{made}: {head:?}");
        assert_eq!(head[0], format!("{}0", method.replace('-', "")));
        let (about, _) = done(folder.path(), &["inspect", "model.mercer"]);
        assert!(about.starts_with(&format!("method              {method}\n")), "{about}");
        assert!(about.contains("\nbasis ") && about.contains("\ncoordinates "), "{about}");
        assert_eq!(about.contains("\neigenvalues "), has_values, "{about}");
        assert_eq!(about.contains("\nshares "), has_shares, "{about}");
        assert_eq!(about.contains("\nalignment "), method == "skfe", "{about}");
        assert_eq!(about.contains(" class means\n"), method == "akda-qr", "{about}");
        let json = done(folder.path(), &["inspect", "model.mercer", "--format", "json"]).0;
        let model: Value = serde_json::from_str(&json).expect("JSON");
        let length = |value: &Value| value.as_array().map_or(0, Vec::len);
        assert_eq!(length(&model["eigenvalues"]), if has_values { head.len() } else { 0 });
        assert_eq!(length(&model["facts"]["explained"]), if has_shares { head.len() } else { 0 });
        assert_eq!(length(&model["facts"]["alignment_path"]) > 1, method == "skfe");
        assert_eq!(model["facts"]["settings"]["gamma"], "1");
        assert!(model["facts"]["coordinates"].as_u64() >= Some(head.len() as u64));

        let importance = ["inspect", "model.mercer", "--importance", "wave.csv"];
        assert_eq!(done(folder.path(), &importance).0.lines().count(), 1 + 3);
        let before = fs::read(folder.path().join("model.mercer")).expect("a model");
        done(folder.path(), &to_model(&[&fit[..], more, &["--threads", "3", "-q"]].concat()));
        assert!(fs::read(folder.path().join("model.mercer")).expect("a model") == before, "{method}");
    }
}

/// What `fit` says about the waves, but for the rows read and the file written.
fn told(folder: &Path, args: &[&str]) -> String {
    let fit = ["wave.csv", "--target", "kind", "--gamma", "1", "--method"];
    let (_, talk) = done(folder, &to_model(&[&fit[..], args].concat()));
    let lines = talk.lines().filter(|line| !line.starts_with("read ") && !line.starts_with("wrote "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_an_extractor_found_is_told_in_numbers() {
    let folder = folder();
    wave(folder.path());
    insta::assert_snapshot!(told(folder.path(), &["klfe", "--basis", "kobl"]), @r"
    fitting `klfe` in the coordinates of `kobl`, which takes up to 29 kB beside the data
    39 components, residual 0.08274, 3336 kernel values, stopped by its own rule
    made 21 features of 39 coordinates; eigenvalues 4.388, 3.547, 3.426, …; of the whole 14.4 %, 11.6 %, 11.2 %, …; 100.0 % together
    ");
    insta::assert_snapshot!(done(folder.path(), &["inspect", "model.mercer"]).0, @r"
    method              klfe
    kernel              rbf, gamma = 1
    scaling             standard
    inputs              3: a, b, noise
    features            21: klfe0, klfe1, klfe2, klfe3, klfe4, …
    landmarks           39 rows
    pivots              training rows 1, 2, 35, 24, 58, …
    norms               from 1 to 0.6385
    eigenvalues         from 4.388 to 0.024
    shares              14.4 %, 11.6 %, 11.2 %, 9.8 %, 9.5 %, …; 100.0 % together
    file                format 1, 10 kB
    basis               kobl
    coordinates         39
    kernel evaluations  3336
    residual            0.08274
    rows                60
    seed                0
    settings            basis = kobl, gamma = 1
    source              wave.csv
    stopped by          rule
    target              kind
    task                classes
    ");
    insta::assert_snapshot!(told(folder.path(), &["gda", "--basis", "kobl"]), @r"
    fitting `gda` in the coordinates of `kobl`, which takes up to 29 kB beside the data
    39 components, residual 0.08274, 3336 kernel values, stopped by its own rule
    made 1 feature of 39 coordinates; eigenvalue 0.8435; of the whole 100.0 %
    ");
    insta::assert_snapshot!(told(folder.path(), &["koc", "--basis", "kobl"]), @r"
    fitting `koc` in the coordinates of `kobl`, which takes up to 29 kB beside the data
    39 components, residual 0.08274, 3336 kernel values, stopped by its own rule
    made 2 features of 39 coordinates
    ");
}

#[test]
fn class_means_and_an_alignment_are_told_in_numbers() {
    let folder = folder();
    wave(folder.path());
    insta::assert_snapshot!(told(folder.path(), &["akda-qr"]), @r"
    fitting `akda-qr` in the coordinates of the class means, which takes up to 96 bytes beside the data
    2 components, residual 0.933, 190 kernel values, stopped by its own rule
    made 1 feature of 2 coordinates; eigenvalue 0.001908; of the whole 100.0 %
    ");
    insta::assert_snapshot!(done(folder.path(), &["inspect", "model.mercer"]).0, @r"
    method              akda-qr
    kernel              rbf, gamma = 1
    scaling             standard
    inputs              3: a, b, noise
    features            1: akdaqr0
    landmarks           2 class means
    norms               from 1 to 0.8902
    eigenvalues         0.001908
    shares              100.0 %
    file                format 1, 1 kB
    basis               gram-schmidt
    coordinates         2
    kernel evaluations  190
    residual            0.933
    rows                60
    seed                0
    settings            gamma = 1
    source              wave.csv
    stopped by          rule
    target              kind
    task                classes
    ");
    insta::assert_snapshot!(told(folder.path(), &["kpls", "--basis", "kobl"]), @r"
    fitting `kpls` in the coordinates of `kobl`, which takes up to 29 kB beside the data
    39 components, residual 0.08274, 3336 kernel values, stopped by its own rule
    made 2 features of 39 coordinates; eigenvalues 35.37, 16.12
    ");
    insta::assert_snapshot!(told(folder.path(), &["skfe", "--max-iter", "2", "--basis-components", "10"]), @r"
    fitting `skfe` in the coordinates of `kobl`, which takes up to 5 kB beside the data
    warning: `skfe` ended after max_iter = 2 steps with the gradient at 2.7e-1 of its first, above tol = 1e-6; the alignment is 0.600856
    10 components, residual 0.6639, 900 kernel values, stopped by the largest number of components
    made 2 features of 10 coordinates; eigenvalues 2.917, 1.602; alignment with the labels from 0.5362 to 0.6009 in 2 steps
    ");
    insta::assert_snapshot!(done(folder.path(), &["inspect", "model.mercer"]).0, @r"
    method              skfe
    kernel              rbf, gamma = 1
    scaling             standard
    inputs              3: a, b, noise
    features            2: skfe0, skfe1
    landmarks           10 rows
    pivots              training rows 1, 2, 35, 24, 58, …
    norms               from 1 to 0.9954
    eigenvalues         from 2.917 to 1.602
    alignment           from 0.5362 to 0.6009 in 2 steps
    file                format 1, 2 kB
    basis               kobl
    coordinates         10
    kernel evaluations  900
    residual            0.6639
    rows                60
    seed                0
    settings            basis_components = 10, gamma = 1, max_iter = 2
    source              wave.csv
    stopped by          cap
    target              kind
    task                classes
    ");
}

#[test]
fn an_extractor_that_cannot_be_fitted_is_refused() {
    let folder = folder();
    wave(folder.path());
    fs::write(folder.path().join("numbers.csv"), "a,b,y\n1,0,0.5\n2,4,1.25\n3,1,7.5\n5,2,3.5\n")
        .expect("written");
    fs::write(folder.path().join("gram.csv"), "2,1,0,a\n1,2,0,a\n0,0,2,b\n").expect("written");
    let words = |code: i32, args: &[&str]| {
        let error = refused(folder.path(), code, &to_model(args));
        let lines = error.lines().skip_while(|line| !line.starts_with("error"));
        (lines.collect::<Vec<_>>().join("\n"), error.contains("fitting"))
    };
    let early = |code: i32, args: &[&str]| {
        let (text, worked) = words(code, args);
        assert!(!worked, "{text}");
        text
    };
    let wave = |more: &[&'static str]| [&["wave.csv", "--target", "kind", "--method"], more].concat();
    for method in mercer::methods::EXTRACTORS {
        let error = early(2, &["wave.csv", "--drop", "kind", "--method", method]);
        assert!(
            error.contains(&format!("`{method}` looks at the labels, but none were given\nhint: ")),
            "{error}"
        );
        let numbers = ["numbers.csv", "--target", "y", "--method", method];
        if method == "kpls" {
            done(folder.path(), &to_model(&numbers));
            fs::remove_file(folder.path().join("model.mercer")).expect("removed");
            continue;
        }
        let error = early(1, &numbers);
        assert!(
            error.contains(&format!("`{method}` needs classes, but the target was read as numbers\nhint: "))
        );
    }
    insta::assert_snapshot!(early(2, &wave(&["skfe", "--init", "middle"])), @"error: init = middle, but it must be one of koc, gda, kpls, random");
    insta::assert_snapshot!(early(2, &wave(&["gda", "--reg", "-1"])), @"error: reg = -1, but it must be a finite number of at least 0");
    insta::assert_snapshot!(early(2, &wave(&["klfe", "--n-components", "0"])), @"error: n_components = 0, but it must be a whole number of at least 1");
    insta::assert_snapshot!(early(2, &wave(&["klfe", "--k-within", "3"])), @"error: `k_within` is not a parameter of `klfe` with `kpca`, `kobl`; it has basis, n_components, basis_components, n_neighbors, kernel, gamma, degree, coef0, alpha, tol, center, seed, threshold");
    insta::assert_snapshot!(early(2, &wave(&["klfe", "--basis", "koc"])), @"error: basis = koc, but it must be one of gram-schmidt, kobl, sparse, kpca, nystrom, rpcholesky, csi");
    insta::assert_snapshot!(early(2, &wave(&["koc", "--n-components", "2"])), @"error: `n_components` is not a parameter of `koc` with `gram-schmidt`, `kobl`; it has basis, basis_components, kernel, gamma, degree, coef0, alpha, tol, seed, threshold");
    insta::assert_snapshot!(early(2, &wave(&["gda", "--basis", "kobl", "--nu", "0.1"])), @"error: `nu` is not a parameter of `gda` with `kobl`; it has basis, n_components, basis_components, reg, kernel, gamma, degree, coef0, alpha, threshold, seed");
    insta::assert_snapshot!(early(2, &wave(&["akda-qr", "--basis", "kobl"])), @"error: `basis` is not a parameter of `akda-qr`; it has kernel, gamma, degree, coef0, alpha, reg, seed");
    insta::assert_snapshot!(early(2, &wave(&["takes", "--basis-components", "4"])), @"error: `basis_components` is not a parameter of `takes` with `kobl`; it has basis, n_features, weighted, reweight, kernel, gamma, degree, coef0, alpha, n_components, threshold, seed");
    let gram =
        ["gram.csv", "--no-header", "--target", "-1", "--kernel", "precomputed", "--method", "akda-qr"];
    insta::assert_snapshot!(early(2, &gram), @r"
    error: `akda-qr` takes the means of the classes' rows, which a precomputed kernel does not know
    hint: use `gda`, or give rows and a kernel
    ");
    // How many there are is known only when they have been looked for.
    let late = |more: &[&'static str]| {
        let (text, worked) = words(2, &wave(more));
        assert!(worked, "{text}");
        text
    };
    insta::assert_snapshot!(late(&["gda", "--n-components", "5"]), @r"
    error: n_components = 5, but only 1 can be had: the means of 2 classes span 1 dimensions of the basis
    hint: lower it, or leave it out
    ");
    insta::assert_snapshot!(late(&["skfe", "--n-components", "50"]), @r"
    error: n_components = 50, but only 25 can be had: the basis has 25 coordinates
    hint: lower it, or leave it out
    ");
    insta::assert_snapshot!(late(&["klfe", "--basis", "kobl", "--n-components", "500"]), @r"
    error: n_components = 500, but only 13 can be had: in other directions misses are not farther away than hits (no positive eigenvalue)
    hint: lower it, or leave it out
    ");
    insta::assert_snapshot!(late(&["kpls", "--basis-components", "5", "--n-components", "9"]), @r"
    error: n_components = 9, but only 5 can be had: what is left of the features then has no covariance with the target
    hint: lower it, or leave it out
    ");
    let (error, _) = words(1, &wave(&["klfe", "--memory", "1kB"]));
    insta::assert_snapshot!(error, @r"
    error: the basis `kpca` of 60 rows with up to 60 components needs 144 kB, but the budget is 1 kB
    hint: set n_components, for which a `kobl` factor will do, or use method = `kobl`
    ");
}

#[test]
fn warnings_of_an_extractor_are_shown() {
    let folder = folder();
    wave(folder.path());
    let few = ["wave.csv", "--target", "kind", "--method", "skfe", "--gamma", "1", "--max-iter", "2", "-q"];
    insta::assert_snapshot!(done(folder.path(), &to_model(&few)).1, @"warning: `skfe` ended after max_iter = 2 steps with the gradient at 3.3e-1 of its first, above tol = 1e-6; the alignment is 0.830812");
    let large = ["synth:ringnorm?n=5100", "--method", "gda", "--basis-components", "20", "-q"];
    insta::assert_snapshot!(done(folder.path(), &to_model(&large)).1, @"warning: 5100 rows are more than 5000: `gda` uses the basis `kobl` in place of `gram-schmidt`; set basis to choose");
}

#[test]
fn inspect_tells_which_inputs_the_features_use() {
    let folder = folder();
    wave(folder.path());
    let linear =
        ["wave.csv", "--target", "kind", "--method", "k-relief", "--kernel", "linear", "--n-features", "2"];
    done(folder.path(), &to_model(&linear));
    let (out, talk) = done(folder.path(), &["inspect", "model.mercer", "--importance", "wave.csv"]);
    insta::assert_snapshot!(out, @r"
    input   share   total  features that use it most
    a      49.4 %  0.9887  gramschmidt1 70.9 %, gramschmidt0 29.1 %
    noise  33.9 %  0.6786  gramschmidt0 64.1 %, gramschmidt1 35.9 %
    b      16.6 %  0.3327  gramschmidt0 83.5 %, gramschmidt1 16.5 %
    ");
    insta::assert_snapshot!(talk, @"mean squared slopes of the features along the inputs, as the kernel sees them, over 60 rows of wave.csv");
    let (own, talk) = done(folder.path(), &["inspect", "model.mercer", "--importance"]);
    assert_eq!(own, out, "the slopes of a linear kernel are the same everywhere");
    insta::assert_snapshot!(talk, @"mean squared slopes of the features along the inputs, as the kernel sees them, over the model's 2 landmarks, as no data was given");
    let json = ["inspect", "model.mercer", "--importance", "wave.csv", "--format", "json"];
    let table: Value = serde_json::from_str(&done(folder.path(), &json).0).expect("JSON");
    assert_eq!((&table["averaged_over"], &table["rows"]), (&"wave.csv".into(), &60.into()));
    assert_eq!(table["inputs"], serde_json::json!(["a", "b", "noise"]));
    for q in 0..2 {
        let slopes: f64 = (0..3).filter_map(|j| table["importance"][q][j].as_f64()).sum();
        assert!((slopes - 1.0).abs() < 1e-9, "orthonormal coordinates: {table}");
    }
    assert_eq!(table["features"].as_array().map(Vec::len), Some(2));

    let nothing = refused(folder.path(), 1, &["inspect", "model.mercer", "--importance", "missing.csv"]);
    assert!(nothing.contains("missing.csv"), "{nothing}");
    let other = refused(folder.path(), 1, &["inspect", "model.mercer", "--importance", "train.csv"]);
    assert!(other.contains("column `noise` is missing"), "{other}");
    fs::write(folder.path().join("gram.csv"), "2,1,0\n1,2,0\n0,0,2\n").expect("written");
    done(
        folder.path(),
        &to_model(&["gram.csv", "--no-header", "--method", "kobl", "--kernel", "precomputed"]),
    );
    let error = refused(folder.path(), 2, &["inspect", "model.mercer", "--importance"]);
    assert!(error.contains("the kernel is precomputed") && error.contains("\nhint: "), "{error}");
}

#[test]
fn many_inputs_are_told_by_the_most_important() {
    let folder = folder();
    let data = "synth:friedman?n=80&p=40";
    done(folder.path(), &to_model(&[data, "--method", "nystrom", "--n-components", "5"]));
    let (out, _) = done(folder.path(), &["inspect", "model.mercer", "--importance", data]);
    assert_eq!(out.lines().count(), 1 + 30 + 1, "{out}");
    assert!(out.lines().last().expect("a line").starts_with("… and 10 more with "), "{out}");
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
        let file = format!("../mercer/src/{}", card.file);
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).exists(), "{file}");
        // One test, four levels of it.
        let name = if card.file == "select/f_test.rs" { "f" } else { card.name };
        let page = format!("../../docs/methods/{name}.md");
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
      inspect    Say what is in a model, and which inputs its features use
      methods    List the methods, or say all about one
      demo       See bases, selection and extraction at work on made-up data
      help       Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options of every command:
          --threads <N>  Threads; the results do not depend on it [env: MERCER_NUM_THREADS=]
      -q, --quiet        Only warnings and errors on standard error

    Examples:
      mercer demo
      mercer fit train.csv --target class --method takes -o model.mercer
      mercer transform model.mercer new.csv -o features.parquet
      mercer inspect model.mercer --importance train.csv

    Standard output is data, standard error is talk.
    Exit: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    ");
}

#[test]
fn the_demo_compares_every_method() {
    let folder = folder();
    let (out, talk) = done(folder.path(), &["demo", "--seed", "2"]);
    let systems = ["takes", "k-relief", "sk-relief"];
    for name in mercer::methods::BASES.iter().chain(&systems).chain(&mercer::methods::EXTRACTORS) {
        assert!(out.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {out}");
    }
    let error = |name: &str| {
        let line = out.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().find(|word| word.contains('.')).map(String::from)
    };
    assert_eq!(error("gram-schmidt"), error("the columns"), "{out}");
    for name in
        ["k-relief", "sk-relief", "klfe on kobl", "kpls on kobl", "gda on kobl", "akda-qr on class means"]
    {
        let percent = error(name).and_then(|e| e.parse::<f64>().ok()).expect("a number");
        assert!(percent < 5.0, "{out}");
    }
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
