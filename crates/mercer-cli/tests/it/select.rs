//! `mercer select`: the best columns of a file, as a table and as a model.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{csv, done, folder, refused, run, text};

/// `six.csv`: 80 rows of six columns and a `kind` that `signal` decides; `noise.csv`: the same without `signal`.
fn data(folder: &Path) {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let (mut six, mut noise) = ("u,v,signal,w,x,y,kind\n".to_string(), "u,v,w,x,y,kind\n".to_string());
    for i in 0..80 {
        let r: Vec<f64> = (0..6).map(|_| random()).collect();
        let (signal, kind) = (r[2] + 4.0 * f64::from(i % 2), if i % 2 == 0 { "even" } else { "odd" });
        let rest = format!("{},{},{},{kind}\n", r[3], r[4], r[5]);
        six.extend([format!("{},{},{signal},", r[0], r[1]), rest.clone()]);
        noise.extend([format!("{},{},", r[0], r[1]), rest]);
    }
    fs::write(folder.join("six.csv"), six).expect("written");
    fs::write(folder.join("noise.csv"), noise).expect("written");
}

fn select<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["select", data, "--target", "kind"][..], more].concat()
}

#[test]
fn the_informative_column_is_first_and_stable() {
    let folder = folder();
    data(folder.path());
    let (table, stderr) = done(folder.path(), &select("six.csv", &["--method", "f", "--n-features", "1"]));
    insta::assert_snapshot!(table, @r"
    rank  column  kept   score   p-value  stability
    1     signal  yes     4752  1.19e-71       1.00
    2     x       no     4.552   0.03603       0.00
    3     w       no     2.481    0.1193       0.00
    4     v       no     2.105    0.1508       0.00
    5     u       no    0.5657    0.4542       0.00
    6     y       no    0.1284     0.721       0.00
    ");
    assert!(stderr.contains("f keeps 1 of 6 columns: signal"), "{stderr}");
    let (table, _) =
        done(folder.path(), &select("six.csv", &["--method", "mi", "--n-features", "1", "--resamples", "0"]));
    assert!(table.starts_with("rank  column  kept    score\n1     signal  yes"), "{table}");
}

#[test]
fn columns_of_numbers_may_be_names_of_categories() {
    let folder = folder();
    let rows =
        (0..90).map(|i| format!("{},{},{}\n", [3, 1, 2][i % 3], (i * 37) % 11, ["a", "b", "a"][i % 3]));
    fs::write(folder.path().join("codes.csv"), "code,other,kind\n".to_string() + &rows.collect::<String>())
        .expect("written");
    let mi = |more: &[&'static str]| {
        let all = [&["--method", "mi", "--resamples", "0", "--format", "csv"][..], more].concat();
        select("codes.csv", &all)
    };
    let (table, _) = done(folder.path(), &mi(&["--categorical-features", "code", "-m", "kept.mercer"]));
    // A third of the rows is of the kind b, and the codes tell which.
    let entropy = -(1.0f64 / 3.0 * (1.0f64 / 3.0).ln() + 2.0 / 3.0 * (2.0f64 / 3.0).ln());
    let first: f64 = table
        .lines()
        .nth(1)
        .and_then(|row| row.split(',').nth(3))
        .expect("a score")
        .parse()
        .expect("a number");
    assert!(
        table.lines().nth(1).is_some_and(|row| row.starts_with("1,code")) && (first - entropy).abs() < 1e-9,
        "{table}"
    );
    let (shown, _) = done(folder.path(), &["inspect", "kept.mercer", "--format", "json"]);
    assert!(
        shown.contains("\"categorical_features\": \"code\"")
            || shown.contains("\"categorical_features\":\"code\""),
        "{shown}"
    );
    let text = refused(folder.path(), 2, &mi(&["--categorical-features", "cod"]));
    assert!(text.contains("no input column has this name; they are code, other"), "{text}");
    let f = ["--method", "f", "--categorical-features", "code"];
    let text = refused(folder.path(), 2, &select("codes.csv", &f));
    assert!(text.contains("`f` has no use for categorical columns"), "{text}");
    let share = |k: &'static str| {
        done(folder.path(), &select("codes.csv", &["--method", "relieff", "--n-neighbors", k])).0
    };
    assert_eq!(share("0.2"), share("9"));
}

#[test]
fn every_method_is_accepted_and_finds_the_column() {
    let folder = folder();
    data(folder.path());
    let finds = |name: &str| name != "rrelieff" && !name.ends_with("star"); // For numbers, and for columns that matter together.
    for spec in mercer::methods::column_selector_specs().filter(|spec| finds(spec.name)) {
        let args = ["--method", spec.name, "--n-features", "1", "--resamples", "2", "--format", "csv"];
        let (table, _) = done(folder.path(), &select("six.csv", &args));
        let (head, rows) = csv(&table);
        assert_eq!(head[..4], ["rank", "column", "kept", "score"], "{}", spec.name);
        assert_eq!((rows[0][..3].to_vec(), rows.len()), (vec!["1", "signal", "true"], 6), "{}", spec.name);
        // One half of the rows ranks another column first by the Laplacian score, which does not look at the labels.
        let share = if spec.name == "laplacian" { "0.5" } else { "1" };
        assert_eq!(rows[0].last(), Some(&share), "{}", spec.name);
    }
}

#[test]
fn noise_is_called_noise() {
    let folder = folder();
    data(folder.path());
    let args = ["--method", "relieff", "--n-features", "1"];
    let (table, stderr) = done(folder.path(), &select("noise.csv", &args));
    insta::assert_snapshot!(table.lines().last().unwrap_or_default(), @"The columns kept change from one half of the rows to the other (overlap 0.20, by chance 0.20): these scores may be noise, or many columns equally good.");
    assert!(!stderr.contains("may be noise"), "{stderr}");
    let (table, stderr) =
        done(folder.path(), &select("noise.csv", &[&args[..], &["--format", "csv"]].concat()));
    assert_eq!(csv(&table).1.len(), 5);
    assert!(
        stderr.contains("warning: The columns kept change from one half of the rows to the other"),
        "{stderr}"
    );
    let (json, _) = done(folder.path(), &select("noise.csv", &[&args[..], &["--format", "json"]].concat()));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["resamples"]["may_be_noise"], true);
    assert_eq!(json["columns"][0]["rank"], 1);
    assert_eq!(json["kept"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_model_copies_the_columns_whatever_their_order() {
    let folder = folder();
    data(folder.path());
    let args = ["--method", "relieff", "--n-features", "2", "-o", "chosen.csv", "-m", "chosen.mercer"];
    let (out, stderr) = done(folder.path(), &select("six.csv", &args));
    assert_eq!(out, "");
    assert!(stderr.contains("wrote chosen.csv") && stderr.contains("wrote chosen.mercer"), "{stderr}");
    let rows = fs::read_to_string(folder.path().join("chosen.csv")).expect("a table");
    let kept: Vec<&str> = csv(&rows).1.iter().filter(|row| row[2] == "true").map(|row| row[1]).collect();
    assert!(kept.contains(&"signal") && kept.len() == 2, "{kept:?}");

    // Values stay as they are written, and nothing but the kept columns is needed.
    let (columns, _) = done(folder.path(), &["transform", "chosen.mercer", "six.csv"]);
    let (head, values) = csv(&columns);
    let six = fs::read_to_string(folder.path().join("six.csv")).expect("rows");
    let (all, lines) = csv(&six);
    let places: Vec<usize> =
        head.iter().filter_map(|name| all.iter().position(|other| other == name)).collect();
    assert!(places.len() == 2 && places.is_sorted(), "{head:?}");
    for (line, values) in lines.iter().zip(&values) {
        let number = |text: &str| text.parse::<f64>().expect("a number").to_bits();
        assert!(places.iter().zip(values).all(|(&at, value)| number(line[at]) == number(value)));
    }
    let turned: String = std::iter::once(format!("{},id,{}\n", head[1], head[0]))
        .chain(values.iter().map(|row| format!("{},7,{}\n", row[1], row[0])))
        .collect();
    fs::write(folder.path().join("turned.csv"), turned).expect("written");
    assert_eq!(done(folder.path(), &["transform", "chosen.mercer", "turned.csv"]).0, columns);
    let (with, stderr) =
        done(folder.path(), &["transform", "chosen.mercer", "turned.csv", "--keep", "id", "-o", "kept.csv"]);
    assert!(with.is_empty() && stderr.contains("80 rows of 2 columns"), "{stderr}");

    let (about, _) = done(folder.path(), &["inspect", "chosen.mercer"]);
    for part in [
        "relieff",
        "keeps",
        "2 of 6 columns",
        "as they are",
        "rank  column",
        "signal",
        "stability",
        "format 2",
    ] {
        assert!(about.contains(part), "{part}: {about}");
    }
    let (about, _) = done(folder.path(), &["inspect", "chosen.mercer", "--format", "json"]);
    let about: Value = serde_json::from_str(&about).expect("JSON");
    assert_eq!((&about["n_inputs"], &about["facts"]["scale"]), (&6.into(), &"standard".into()));
    assert_eq!(about["columns"].as_array().map(Vec::len), Some(6));
    assert_eq!(about["facts"]["settings"]["n_features"], "2");

    let error = refused(folder.path(), 2, &["predict", "chosen.mercer", "six.csv"]);
    assert!(error.contains("keeps columns by `relieff` and predicts nothing"), "{error}");
    let error = refused(folder.path(), 2, &["inspect", "chosen.mercer", "--importance", "six.csv"]);
    assert!(error.contains("keeps columns by `relieff` as they are"), "{error}");
    fs::write(folder.path().join("few.csv"), "u,v\n1,2\n").expect("written");
    let error = refused(folder.path(), 1, &["transform", "chosen.mercer", "few.csv"]);
    assert!(error.contains("is missing"), "{error}");
}

#[test]
fn columns_without_names_are_matched_by_place() {
    let folder = folder();
    fs::write(folder.path().join("bare.csv"), "1,9,0\n2,4,1\n1,7,0\n2,5,1\n1,6,0\n2,8,1\n").expect("written");
    let args =
        ["select", "bare.csv", "--target", "-1", "--method", "f", "--n-features", "1", "--resamples", "0"];
    let (table, _) = done(folder.path(), &[&args[..], &["--model", "m.mercer"]].concat());
    assert!(table.contains("x1"), "{table}");
    fs::write(folder.path().join("new.csv"), "0.5,3\n0.25,4\n").expect("written");
    assert_eq!(
        done(folder.path(), &["transform", "m.mercer", "new.csv", "--no-header"]).0,
        "x1\n0.5\n0.25\n"
    );
    let (about, _) = done(folder.path(), &["inspect", "m.mercer"]);
    assert!(about.contains("2, matched by position"), "{about}");
}

#[test]
fn the_model_goes_through_a_pipe() {
    let folder = folder();
    data(folder.path());
    let args = ["--method", "f", "--n-features", "1", "-o", "t.md", "-m", "-", "-q"];
    let output = run(folder.path(), &select("six.csv", &args));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    fs::write(folder.path().join("piped.mercer"), &output.stdout).expect("written");
    assert!(done(folder.path(), &["transform", "piped.mercer", "six.csv"]).0.starts_with("signal\n"));
    let table = fs::read_to_string(folder.path().join("t.md")).expect("a table");
    assert!(
        table.starts_with("| rank | column | kept | score | p-value | stability |\n|---|---|---|---:|"),
        "{table}"
    );
}

#[test]
fn permutations_fill_in_p_values_and_all_columns_leave_no_choice() {
    let folder = folder();
    data(folder.path());
    let args =
        ["--method", "relief", "--n-features", "1", "--permutations", "19", "--format", "csv", "--seed", "4"];
    let (table, _) = done(folder.path(), &select("six.csv", &args));
    let (head, rows) = csv(&table);
    assert_eq!((head[4], rows[0][4]), ("p_value", "0.05"));
    let (table, stderr) = done(folder.path(), &select("six.csv", &["--method", "relief"]));
    assert!(!table.contains("stability") && stderr.contains("every column is kept"), "{table}{stderr}");
    let (table, stderr) = done(folder.path(), &select("noise.csv", &["--method", "fwe", "--level", "1e-9"]));
    assert!(table.contains("no ") && stderr.contains("warning: no column is kept"), "{table}{stderr}");
}

/// `gaps.csv`: `signal` decides `kind`, but is missing in every ninth row; `ok` is yes or no.
fn gaps(folder: &Path) {
    let line = |i: usize| {
        let signal = if i.is_multiple_of(9) { String::new() } else { format!("{}.25", i % 2 * 50 + i % 7) };
        let ok = if i.is_multiple_of(3) { "yes" } else { "no" };
        format!("{signal},{},{ok},{}\n", i * 7 % 11, ["even", "odd"][i % 2])
    };
    let text: String = std::iter::once("signal,b,ok,kind\n".into()).chain((0..60).map(line)).collect();
    fs::write(folder.join("gaps.csv"), text).expect("written");
}

#[test]
fn a_model_of_columns_reads_its_own_file_and_gaps_stay_gaps() {
    let folder = folder();
    gaps(folder.path());
    for (inputs, kept) in [("signal,b", "signal"), ("ok", "ok")] {
        let (_, stderr) = done(
            folder.path(),
            &select(
                "gaps.csv",
                &["--inputs", inputs, "--method", "f", "--n-features", "1", "-m", "m.mercer"],
            ),
        );
        let told =
            "which keeps columns as they are: missing values were filled to score them, but stay missing";
        assert_eq!(stderr.contains(told), kept == "signal", "{stderr}");
        let (out, stderr) = done(folder.path(), &["transform", "m.mercer", "gaps.csv"]);
        let (head, rows) = csv(&out);
        assert_eq!((head, rows.len()), (vec![kept], 60));
        match kept {
            "signal" => {
                assert_eq!(rows.iter().filter(|row| row[0] == "NaN").count(), 7, "{out}");
                assert!(stderr.contains("7 values are missing (`signal` 7); they stay missing"), "{stderr}");
            }
            _ => assert_eq!((&rows[0][0], &rows[1][0]), (&"1", &"0")),
        }
    }
}

#[test]
fn nothing_is_said_of_chance_where_no_column_or_every_column_is_kept() {
    let folder = folder();
    data(folder.path());
    for more in [["--method", "fwe", "--level", "1e-9"], ["--method", "fpr", "--level", "0.999"]] {
        let (table, stderr) = done(folder.path(), &select("noise.csv", &more));
        assert!(!table.contains("by chance") && !stderr.contains("by chance"), "{more:?}: {table}{stderr}");
        let (json, _) =
            done(folder.path(), &select("noise.csv", &[&more[..], &["--format", "json"]].concat()));
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert!([0, 5].contains(&json["kept"].as_array().map_or(1, Vec::len)), "{more:?}: {json}");
        assert_eq!(json["resamples"]["may_be_noise"], false, "{more:?}");
    }
}
