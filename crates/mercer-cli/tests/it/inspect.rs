//! `mercer inspect`: what is in a model.

use std::fs;

use serde_json::Value;

use crate::program::{done, fit, folder, refused, to_model, wave};

#[test]
fn inspect_shows_the_settings_of_the_fit() {
    let folder = folder();
    fit(folder.path(), &["--gamma", "0.5", "--n-components", "4", "--seed", "3", "--scale", "min-max"]);
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    for part in ["rbf, gamma = 0.5", "min-max", "3: a, b, c", "4: kobl0", "4 rows", "train.csv", "residual"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(out.contains("the features of a row need 4 training rows"), "{out}");
    let (out, _) = done(folder.path(), &["inspect", "model.mercer", "--format", "json"]);
    let model: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(model["kernel"]["gamma"], 0.5);
    assert_eq!(model["features"].as_array().map(Vec::len), Some(4));
    assert_eq!(model["n_support"], 4);
    assert_eq!(model["facts"]["seed"], 3);
    assert_eq!(model["facts"]["settings"]["n_components"], "4");
    assert_eq!(model["facts"]["target"], "kind");
    assert_eq!(model["facts"]["source"], "train.csv");
}

#[test]
fn inspect_lists_the_training_rows_that_carry_the_features() {
    let folder = folder();
    wave(folder.path());
    let fit = ["wave.csv", "--target", "kind", "--method", "sk-relief", "--n-features", "3", "--gamma", "1"];
    done(folder.path(), &to_model(&fit));
    let json = ["inspect", "model.mercer", "--format", "json"];
    let model: Value = serde_json::from_str(&done(folder.path(), &json).0).expect("JSON");
    let list = |name: &str| model["important_points"][name].as_array().cloned().expect("a list");
    let (rows, shares) = (list("rows"), list("shares"));
    assert_eq!(model["n_support"].as_u64(), Some(rows.len() as u64));
    assert!((shares.iter().filter_map(Value::as_f64).sum::<f64>() - 1.0).abs() < 1e-9);
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    let (row, share) = (rows[0].as_u64().expect("a row") + 1, 100.0 * shares[0].as_f64().expect("a share"));
    assert!(out.contains(&format!("training rows {row} ({share:.1} %), ")), "{out}");

    let means = ["wave.csv", "--target", "kind", "--method", "akda-qr"];
    done(folder.path(), &to_model(&means));
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    assert!(out.contains("none: the landmarks of this model are class means, not training rows"), "{out}");
    let model: Value = serde_json::from_str(&done(folder.path(), &json).0).expect("JSON");
    assert_eq!(model["important_points"], Value::Null);
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
fn inspect_shows_which_inputs_the_features_use() {
    let folder = folder();
    wave(folder.path());
    let linear =
        ["wave.csv", "--target", "kind", "--method", "k-relief", "--kernel", "linear", "--n-features", "2"];
    done(folder.path(), &to_model(&linear));
    let (out, stderr) = done(folder.path(), &["inspect", "model.mercer", "--importance", "wave.csv"]);
    insta::assert_snapshot!(out, @r"
    input   share   total  features that use it most
    a      41.8 %  0.8369  kpca1 85.9 %, kpca0 14.1 %
    b      32.1 %  0.6429  kpca0 56.5 %, kpca1 43.5 %
    noise  26.0 %  0.5202  kpca0 99.7 %, kpca1 0.3 %
    ");
    insta::assert_snapshot!(stderr, @"mean squared derivatives of the features with respect to the inputs (after scaling), over 60 rows of wave.csv");
    let (own, stderr) = done(folder.path(), &["inspect", "model.mercer", "--importance"]);
    assert_eq!(own, out, "the slopes of a linear kernel are the same everywhere");
    insta::assert_snapshot!(stderr, @"mean squared derivatives of the features with respect to the inputs (after scaling), over the model's 60 landmarks, as no data was given");
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
fn of_a_model_that_predicts_the_predictions_count() {
    let folder = folder();
    // The first five of eight columns matter.
    let data = "synth:friedman?n=300&p=8&seed=1";
    done(folder.path(), &to_model(&[data, "--method", "auto"]));
    for over in [&[data][..], &[]] {
        let (out, stderr) =
            done(folder.path(), &[&["inspect", "model.mercer", "--importance"], over].concat());
        let last: Vec<&str> = out.lines().skip(1 + 5).filter_map(|line| line.split(' ').next()).collect();
        assert!(["x6", "x7", "x8"].iter().all(|noise| last.contains(noise)), "{out}");
        assert!(stderr.starts_with("mean squared derivatives of the predictions"), "{stderr}");
    }
}

#[test]
fn of_many_inputs_the_most_important_are_shown() {
    let folder = folder();
    let data = "synth:friedman?n=80&p=40";
    done(folder.path(), &to_model(&[data, "--method", "nystrom", "--n-components", "5"]));
    let (out, _) = done(folder.path(), &["inspect", "model.mercer", "--importance", data]);
    assert_eq!(out.lines().count(), 1 + 30 + 1, "{out}");
    assert!(out.lines().last().expect("a line").starts_with("… and 10 more with "), "{out}");
}
