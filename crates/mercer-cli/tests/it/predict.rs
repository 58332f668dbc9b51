//! `mercer fit --method auto` and `mercer predict`: rows in, classes or numbers out.

use std::fs;

use crate::program::{csv, done, fit, folder, refused};

const RING: &str = "synth:ringnorm?n=300&seed=1";

#[test]
fn classes_are_predicted_with_probabilities() {
    let folder = folder();
    let (_, stderr) = done(folder.path(), &["fit", RING, "--method", "auto", "-o", "ring.mercer"]);
    assert!(stderr.contains("predicts by ridge on"), "{stderr}");
    assert!(stderr.contains("% of left-out rows are predicted right, log loss"), "{stderr}");
    let fresh = "synth:ringnorm?n=200&seed=2";
    let args = ["predict", "ring.mercer", fresh, "--keep", "target", "--probabilities"];
    let (out, _) = done(folder.path(), &args);
    let (head, rows) = csv(&out);
    assert_eq!(head, ["target", "prediction", "p(0)", "p(1)"]);
    assert!(rows.iter().filter(|row| row[0] == row[1]).count() > 180, "{out}");
    for row in &rows {
        let p: Vec<f64> = row[2..].iter().map(|text| text.parse().expect("a number")).collect();
        assert!((p[0] + p[1] - 1.0).abs() < 1e-12, "{row:?}");
        assert_eq!(p[1] > p[0], row[1] == "1", "{row:?}");
    }
    let (plain, _) = done(folder.path(), &["predict", "ring.mercer", fresh]);
    assert_eq!(csv(&plain).0, ["prediction"]);
    done(folder.path(), &["predict", "ring.mercer", fresh, "-o", "out.parquet"]);
    assert!(folder.path().join("out.parquet").exists());
    let (seen, _) = done(folder.path(), &["inspect", "ring.mercer"]);
    assert!(seen.contains("predicts") && seen.contains("2 classes (0, 1), by "), "{seen}");
    // The features are there as well.
    let (features, _) = done(folder.path(), &["transform", "ring.mercer", fresh]);
    assert!(csv(&features).0.len() > 10);
}

#[test]
fn numbers_are_predicted_in_their_unit() {
    let folder = folder();
    let train = ["fit", "synth:friedman?n=300&seed=1", "--method", "auto", "-o", "model.mercer"];
    let (_, stderr) = done(folder.path(), &train);
    assert!(stderr.contains("root mean squared error of left-out rows"), "{stderr}");
    assert!(stderr.contains("input weights (mean square 1), the largest: "), "{stderr}");
    let args = ["predict", "model.mercer", "synth:friedman?n=100&seed=2", "--keep", "target"];
    let (out, _) = done(folder.path(), &args);
    let (_, rows) = csv(&out);
    let off =
        |row: &Vec<&str>| row[0].parse::<f64>().expect("a number") - row[1].parse::<f64>().expect("a number");
    let error = (rows.iter().map(|row| off(row).powi(2)).sum::<f64>() / 100.0).sqrt();
    assert!(error < 2.0, "{error}");
    let error = refused(folder.path(), 2, &[&args[..3], &["--probabilities"]].concat());
    assert!(error.contains("predicts numbers"), "{error}");
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "4", "-q"]);
    let error = refused(folder.path(), 2, &["predict", "model.mercer", "train.csv"]);
    assert!(error.contains("predicts nothing") && error.contains("--method auto"), "{error}");
    let auto = ["fit", "train.csv", "--method", "auto", "-o", "other.mercer"];
    let error = refused(folder.path(), 2, &auto);
    assert!(error.contains("this command needs a target"), "{error}");
    let with = |more: &[&'static str]| [&auto[..], &["--target", "kind"], more].concat();
    let error = refused(folder.path(), 2, &with(&["--gamma", "0.1"]));
    assert!(error.contains("gamma = 0.1 is given, but `auto` chooses it"), "{error}");
    let (_, stderr) = done(folder.path(), &with(&["--report", "page.html"]));
    assert!(stderr.contains("no better than chance"), "forty rows of noise: {stderr}");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("Weights of the inputs") && page.contains("No better than chance"), "{page}");
    let error = refused(folder.path(), 2, &with(&["--n-components", "0"]));
    assert!(error.contains("n_components = 0"), "{error}");
    done(folder.path(), &with(&["--n-components", "10", "--input-weights=false", "-q"]));
    fs::write(folder.path().join("few.csv"), "a,c\n1,4\n").expect("written");
    let error = refused(folder.path(), 1, &["predict", "other.mercer", "few.csv"]);
    assert!(error.contains("column `b` is missing"), "{error}");
}

#[test]
fn rows_that_have_weights_are_predicted_right_by_weight() {
    let folder = folder();
    let ring = ["fit", RING, "--method", "auto", "-o", "ring.mercer"];
    let (_, stderr) = done(folder.path(), &[&ring[..], &["--class-weight", "balanced"]].concat());
    assert!(stderr.contains("% of left-out rows, by weight, are predicted right"), "{stderr}");
    assert!(stderr.contains("chance: weighted accuracy "), "{stderr}");
    let (_, stderr) = done(folder.path(), &ring);
    assert!(!stderr.contains("weight, are") && !stderr.contains("weighted accuracy"), "{stderr}");
}

#[test]
fn gaps_of_new_rows_are_filled_where_the_model_was_asked_to_keep_medians() {
    let folder = folder();
    let fit = ["fit", "train.csv", "--target", "kind", "--method", "auto", "-o", "m.mercer"];
    fs::write(folder.path().join("gap.csv"), "a,b,c\n1,,4\n1,4,4\n").expect("written");
    let predict = ["predict", "m.mercer", "gap.csv"];
    done(folder.path(), &fit);
    let error = refused(folder.path(), 1, &predict);
    assert!(error.contains("column `b`, and the model has no medians to fill it with"), "{error}");
    assert!(error.contains("hint: fit it again so that it keeps them (`--missing fill`)"), "{error}");
    done(folder.path(), &[&fit[..], &["--missing", "fill"]].concat());
    let (out, stderr) = done(folder.path(), &predict);
    assert_eq!(csv(&out).1.len(), 2);
    assert!(stderr.contains("1 value is missing (`b` 1)"), "{stderr}");
}

#[test]
fn columns_without_names_are_taken_by_position_and_not_in_silence() {
    let folder = folder();
    done(folder.path(), &["fit", "train.csv", "--target", "kind", "--method", "auto", "-o", "m.mercer"]);
    fs::write(folder.path().join("bare.csv"), "1,2,4\n1,4,4\n").expect("written");
    for command in ["predict", "transform"] {
        let (_, stderr) = done(folder.path(), &[command, "m.mercer", "bare.csv"]);
        let told =
            "bare.csv has no column names: its first 3 columns are taken by position, as `a`, `b`, `c`";
        assert!(stderr.contains(told), "{stderr}");
        let (_, stderr) = done(folder.path(), &[command, "m.mercer", "train.csv"]);
        assert!(!stderr.contains("by position"), "{stderr}");
    }
    // A model without names goes by position anyway.
    fs::write(folder.path().join("rows.csv"), "1,2\n3,5\n2,2\n7,1\n4,4\n2,6\n").expect("written");
    done(folder.path(), &["fit", "rows.csv", "--method", "kobl", "-o", "bare.mercer"]);
    let (_, stderr) = done(folder.path(), &["transform", "bare.mercer", "rows.csv"]);
    assert!(!stderr.contains("by position"), "{stderr}");
}

#[test]
fn input_weights_are_named_and_kept_in_the_model() {
    let folder = folder();
    let friedman = "synth:friedman?n=300&seed=1";
    let fit = ["fit", friedman, "--method", "kpls", "--n-components", "3", "-o", "model.mercer"];
    let (_, plain) = done(folder.path(), &fit);
    assert!(!plain.contains("input weights"), "{plain}");
    let before = done(folder.path(), &["transform", "model.mercer", friedman]).0;
    let (_, weighted) = done(folder.path(), &[&fit[..], &["--input-weights"]].concat());
    assert!(weighted.contains("input weights (mean square 1), the largest: "), "{weighted}");
    assert_ne!(done(folder.path(), &["transform", "model.mercer", friedman]).0, before);
    let error = refused(
        folder.path(),
        2,
        &["fit", "train.csv", "--drop", "kind", "--method", "kobl", "--input-weights", "-o", "x.mercer"],
    );
    assert!(error.contains("looks at the labels, but none were given"), "{error}");
    let error = refused(folder.path(), 2, &["compare", friedman, "--methods", "kpls", "--input-weights"]);
    assert!(error.contains("is for one fit"), "{error}");
}
