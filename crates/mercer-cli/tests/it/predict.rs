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
