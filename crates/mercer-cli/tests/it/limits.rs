//! Files and settings of absurd sizes: an error in words, or the result, in a moment.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::{Value, json};

use crate::program::{done, folder, refused, text};

/// Writes a model file of two landmarks whose header is changed before.
fn write_model(path: &Path, kernel: &str, n_inputs: u64, change: impl FnOnce(&mut Value)) {
    let kernel_header = json!({ "name": kernel, "gamma": 1.0, "degree": 3, "coef0": 1.0, "alpha": 1.0 });
    let mut header = json!({ "format": 1, "method": "kobl", "kernel": kernel_header, "n_inputs": n_inputs,
                             "feature_names": ["a", "b"], "facts": {} });
    change(&mut header);
    let floats = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let whole = |values: &[u64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut parts = vec![
        ("matrix", "F64", json!([2, 2]), floats(&[1.0, 0.0, 0.0, 1.0])),
        ("offset", "F64", json!([2]), floats(&[0.0, 0.0])),
    ];
    if kernel == "precomputed" {
        parts.push(("landmarks.columns", "U64", json!([2]), whole(&[0, 1])));
    } else {
        parts.push(("landmarks.indptr", "U64", json!([3]), whole(&[0, 1, 2])));
        parts.push(("landmarks.indices", "U64", json!([2]), whole(&[0, 1])));
        parts.push(("landmarks.values", "F64", json!([2]), floats(&[1.0, 2.0])));
    }
    let mut tensors = json!({ "__metadata__": { "mercer": header.to_string() } });
    let mut body = Vec::new();
    for (name, dtype, shape, bytes) in parts {
        let start = body.len();
        body.extend(bytes);
        tensors[name] = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, body.len()] });
    }
    let mut text = tensors.to_string();
    text.push_str(&" ".repeat((8 - text.len() % 8) % 8));
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.bytes());
    bytes.extend(body);
    fs::write(path, bytes).expect("written");
}

#[test]
fn models_of_10_to_the_12_inputs_are_refused_in_words() {
    let folder = folder();
    let path = folder.path();
    for kernel in ["precomputed", "rbf"] {
        for inputs in [10u64.pow(12), 1 << 60] {
            write_model(&path.join("m.mercer"), kernel, inputs, |_| {});
            for args in [&["inspect", "m.mercer"][..], &["transform", "m.mercer", "train.csv"]] {
                assert!(refused(path, 1, args).contains("columns, but at most 4294967296 are possible"));
            }
        }
        write_model(&path.join("m.mercer"), kernel, 1 << 32, |_| {});
        done(path, &["inspect", "m.mercer"]);
        let wide = refused(path, 2, &["transform", "m.mercer", "train.csv"]);
        assert!(wide.contains("the model has 4294967296 input columns, but at most 16777216"), "{wide}");
    }
}

#[test]
fn three_rows_of_ten_million_columns_are_transformed_in_a_moment() {
    let folder = folder();
    let path = folder.path();
    write_model(&path.join("m.mercer"), "rbf", 10_000_000, |_| {});
    fs::write(path.join("rows.libsvm"), "1 1:1 2:2\n0 1:3\n1 9999999:3\n").expect("written");
    let start = std::time::Instant::now();
    let (out, _) = done(path, &["transform", "m.mercer", "rows.libsvm"]);
    assert_eq!(out.lines().count(), 4, "{out}");
    assert!(start.elapsed().as_secs() < 25, "{:?}", start.elapsed());
}

/// What is done to the header of a model file, given a long name.
type Change = fn(&mut Value, &str);

#[test]
fn names_of_ten_million_characters_are_cut_where_they_are_shown() {
    let folder = folder();
    let path = folder.path();
    let long = "n".repeat(10_000_000);
    let models: [(&str, Change); 4] = [
        ("features", |header, long| header["feature_names"][0] = long.into()),
        ("inputs", |header, long| header["input_names"] = json!([long, "b", "c"])),
        ("method", |header, long| header["method"] = long.into()),
        ("facts", |header, long| header["facts"] = json!({ "basis": long })),
    ];
    for (what, change) in models {
        write_model(&path.join("m.mercer"), "precomputed", 3, |header| change(header, &long));
        let (out, _) = done(path, &["inspect", "m.mercer"]);
        assert!(out.contains("nnn…") && out.len() < 100_000, "{what}: {} bytes", out.len());
        if what == "inputs" {
            let missing = refused(path, 1, &["transform", "m.mercer", "train.csv"]);
            assert!(missing.contains("nnn…` is missing") && missing.len() < 2_000, "{} bytes", missing.len());
        }
    }
}

fn run_with(folder: &Path, variable: &str, value: &str, args: &[&str]) -> Output {
    let mut command = cargo_bin_cmd!("mercer");
    command.current_dir(folder).env_remove("MERCER_NUM_THREADS").env_remove("RAYON_NUM_THREADS");
    command.env(variable, value).args(args).output().expect("started")
}

#[test]
fn thousands_of_threads_are_not_started_and_a_warning_says_so() {
    let folder = folder();
    let path = folder.path();
    let args = |model: &'static str| {
        ["fit", "train.csv", "--target", "kind", "--method", "kobl", "--gamma", "0.1", "-o", model]
    };
    done(path, &args("one.mercer"));
    for (variable, value) in [("RAYON_NUM_THREADS", "99999"), ("MERCER_NUM_THREADS", "65535")] {
        let output = run_with(path, variable, value, &args("many.mercer"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{error}");
        assert!(error.contains(&format!("warning: {value} threads were asked for")), "{error}");
        let [many, one] = ["many.mercer", "one.mercer"].map(|file| fs::read(path.join(file)).expect("model"));
        assert_eq!(many, one, "{variable}");
    }
    let few = run_with(path, "RAYON_NUM_THREADS", "2", &args("many.mercer"));
    assert!(!text(&few.stderr).contains("threads"), "{}", text(&few.stderr));
}
