//! `mercer fit --method` with an extractor: directions in the coordinates of a basis.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{csv, done, folder, refused, to_model, wave};

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
        let (out, stderr) = done(folder.path(), &to_model(&[&fit[..], more].concat()));
        assert_eq!(out, "");
        assert!(stderr.contains(&format!("fitting `{method}` in the coordinates of ")), "{stderr}");
        assert!(stderr.contains(", which needs up to ") && !stderr.contains("warning"), "{stderr}");
        let summary = stderr.lines().find_map(|line| line.strip_prefix("extracted ")).expect("a summary");
        assert!(summary.contains(" coordinates"), "{summary}");
        assert_eq!(summary.contains("; alignment with the labels from "), method == "skfe", "{summary}");
        let (has_values, has_shares) = (method != "koc", !matches!(method, "koc" | "kpls" | "skfe"));
        assert_eq!(summary.contains("; eigenvalue"), has_values, "{summary}");
        assert_eq!(summary.contains("; explained share "), has_shares, "{summary}");

        let (out, _) = done(folder.path(), &["transform", "model.mercer", "wave.csv"]);
        let (head, rows) = csv(&out);
        assert!(
            summary.starts_with(&format!("{} feature", head.len())) && rows.len() == 60,
            "{summary}: {head:?}"
        );
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

/// The messages of `fit` on the waves, without the lines about the rows read and the file written.
fn messages(folder: &Path, args: &[&str]) -> String {
    let fit = ["wave.csv", "--target", "kind", "--gamma", "1", "--method"];
    let (_, stderr) = done(folder, &to_model(&[&fit[..], args].concat()));
    let lines = stderr.lines().filter(|line| !line.starts_with("read ") && !line.starts_with("wrote "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn points_that_were_moved_have_one_alignment_and_no_steps() {
    let folder = folder();
    wave(folder.path());
    let summary = messages(folder.path(), &["skfe", "--points", "3"]);
    let (_, alignment) = summary.split_once("; alignment with the labels ").expect("an alignment");
    assert!(alignment.parse::<f64>().is_ok(), "{alignment}");
}

#[test]
fn the_summary_of_an_extractor_has_its_eigenvalues() {
    let folder = folder();
    wave(folder.path());
    insta::assert_snapshot!(messages(folder.path(), &["klfe", "--basis", "kobl"]), @r"
    fitting `klfe` in the coordinates of `kobl`, which needs up to 403 kB besides the data
    60 components, residual 0, 5067 kernel values, stopped by full rank
    extracted 24 features from 60 coordinates; eigenvalues 28.63, 22.8, 16.86, …; explained share 22.7 %, 18.0 %, 13.3 %, …; 100.0 % in total
    ");
    insta::assert_snapshot!(done(folder.path(), &["inspect", "model.mercer"]).0, @r"
    method              klfe
    kernel              rbf, gamma = 1
    scaling             standard
    inputs              3: a, b, noise
    features            24: klfe0, klfe1, klfe2, klfe3, klfe4, …
    landmarks           60 rows
    support             the features of a row need 60 training rows
    important           training rows 8 (4.5 %), 40 (3.7 %), 57 (3.7 %), 9 (3.6 %), 4 (3.5 %), …
    pivots              training rows 1, 2, 35, 24, 58, …
    norms               from 1 to 0.1696
    eigenvalues         from 28.63 to 0.04312
    shares              22.7 %, 18.0 %, 13.3 %, 9.5 %, 8.3 %, …; 100.0 % in total
    file                format 1, 16 kB
    basis               kobl
    coordinates         60
    kernel evaluations  5067
    residual            0
    rows                60
    seed                0
    settings            basis = kobl, gamma = 1
    source              wave.csv
    stopped by          rank
    target              kind
    task                classification
    ");
    insta::assert_snapshot!(messages(folder.path(), &["gda", "--basis", "kobl"]), @r"
    fitting `gda` in the coordinates of `kobl`, which needs up to 490 kB besides the data
    60 components, residual 0, 5067 kernel values, stopped by full rank
    extracted 1 feature from 60 coordinates; eigenvalue 0.8577; explained share 100.0 %
    ");
    insta::assert_snapshot!(messages(folder.path(), &["koc", "--basis", "kobl"]), @r"
    fitting `koc` in the coordinates of `kobl`, which needs up to 490 kB besides the data
    60 components, residual 0, 5067 kernel values, stopped by full rank
    extracted 2 features from 60 coordinates
    ");
}

#[test]
fn the_summary_has_class_means_and_the_alignment() {
    let folder = folder();
    wave(folder.path());
    insta::assert_snapshot!(messages(folder.path(), &["akda-qr"]), @r"
    fitting `akda-qr` in the coordinates of the class means, which needs up to 544 bytes besides the data
    2 components, residual 0.933, 186 kernel values, stopped by its own rule
    extracted 1 feature from 2 coordinates; eigenvalue 0.001908; explained share 100.0 %
    ");
    insta::assert_snapshot!(done(folder.path(), &["inspect", "model.mercer"]).0, @r"
    method              akda-qr
    kernel              rbf, gamma = 1
    scaling             standard
    inputs              3: a, b, noise
    features            1: akdaqr0
    landmarks           2 class means
    support             the features of a row need 2 landmarks
    important           none: the landmarks of this model are class means, not training rows
    norms               from 1 to 0.8902
    eigenvalues         0.001908
    shares              100.0 %
    file                format 1, 1 kB
    basis               gram-schmidt
    coordinates         2
    kernel evaluations  186
    residual            0.933
    rows                60
    seed                0
    settings            gamma = 1
    source              wave.csv
    stopped by          rule
    target              kind
    task                classification
    ");
    insta::assert_snapshot!(messages(folder.path(), &["kpls", "--basis", "kobl"]), @r"
    fitting `kpls` in the coordinates of `kobl`, which needs up to 490 kB besides the data
    60 components, residual 0, 5067 kernel values, stopped by full rank
    extracted 4 features from 60 coordinates; eigenvalues 37.82, 18.86, 4.118, …
    ");
    insta::assert_snapshot!(messages(folder.path(), &["skfe", "--max-iter", "2", "--basis-components", "10"]), @r"
    fitting `skfe` in the coordinates of `kobl`, which needs up to 14 kB besides the data
    warning: `skfe` of 2 features ended after max_iter = 2 steps while the alignment, 0.600856, still rose by 1.4e-2 per step
    hint: raise max_iter
    10 components, residual 0.6639, 900 kernel values, stopped by the limit on components
    extracted 2 features from 10 coordinates; eigenvalues 2.917, 1.602; alignment with the labels from 0.5362 to 0.6009 in 2 steps
    ");
    insta::assert_snapshot!(done(folder.path(), &["inspect", "model.mercer"]).0, @r"
    method              skfe
    kernel              rbf, gamma = 1
    scaling             standard
    inputs              3: a, b, noise
    features            2: skfe0, skfe1
    landmarks           10 rows
    support             the features of a row need 10 training rows
    important           training rows 35 (31.6 %), 1 (18.3 %), 24 (17.1 %), 2 (13.2 %), 33 (9.8 %), …
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
    task                classification
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
    for method in mercer::methods::names(mercer::methods::Stage::Extract) {
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
    insta::assert_snapshot!(early(2, &wave(&["skfe", "--init", "middle"])), @"error: init = middle, but it must be one of koc, gda, kpls, kpca, akda-qr, random");
    insta::assert_snapshot!(early(2, &wave(&["gda", "--reg", "-1"])), @"error: reg = -1, but it must be a finite number of at least 0");
    insta::assert_snapshot!(early(2, &wave(&["klfe", "--n-components", "0"])), @"error: n_components = 0, but it must be a whole number of at least 1");
    insta::assert_snapshot!(early(2, &wave(&["klfe", "--k-within", "3"])), @"error: `k_within` is not a parameter of `klfe` with `kpca`, `rpcholesky`; it has basis, n_components, basis_components, n_neighbors, metric, neighbors, n_queries, seed, kernel, gamma, degree, coef0, alpha, input_weights, tol, center, precision");
    insta::assert_snapshot!(early(2, &wave(&["klfe", "--basis", "koc"])), @"error: basis = koc, but it must be one of gram-schmidt, kobl, sparse, kpca, nystrom, rpcholesky, kfa, kmeans, csi");
    insta::assert_snapshot!(early(2, &wave(&["koc", "--n-components", "2"])), @"error: `n_components` is not a parameter of `koc` with `kfa`, `rpcholesky`; it has basis, basis_components, n_clusters, seed, kernel, gamma, degree, coef0, alpha, input_weights, candidates, precision");
    insta::assert_snapshot!(early(2, &wave(&["gda", "--basis", "kobl", "--nu", "0.1"])), @"error: `nu` is not a parameter of `gda` with `kobl`; it has basis, n_components, basis_components, reg, kernel, gamma, degree, coef0, alpha, input_weights, threshold, tol, precision, seed");
    insta::assert_snapshot!(early(2, &wave(&["akda-qr", "--basis", "kobl"])), @"error: `basis` is not a parameter of `akda-qr`; it has kernel, gamma, degree, coef0, alpha, input_weights, n_components, reg, seed");
    insta::assert_snapshot!(early(2, &wave(&["takes", "--basis-components", "4"])), @"error: `basis_components` is not a parameter of `takes` with `kobl`; it has basis, n_features, weighted, reweight, theta, kernel, gamma, degree, coef0, alpha, input_weights, n_components, threshold, tol, precision, seed");
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
    insta::assert_snapshot!(late(&["skfe", "--n-components", "500"]), @r"
    error: n_components = 500, but only 60 can be had: the basis has 60 coordinates
    hint: lower it, or leave it out
    ");
    insta::assert_snapshot!(late(&["klfe", "--basis", "kobl", "--n-components", "500"]), @r"
    error: n_components = 500, but only 24 can be had: in other directions misses are not farther away than hits (no positive eigenvalue)
    hint: lower it, or leave it out
    ");
    insta::assert_snapshot!(late(&["kpls", "--basis-components", "5", "--n-components", "9"]), @r"
    error: n_components = 9, but only 5 can be had: what is left of the features then has no covariance with the target
    hint: lower it, or leave it out
    ");
    let (error, _) = words(1, &wave(&["klfe", "--memory", "1kB"]));
    insta::assert_snapshot!(error, @r"
    error: the basis `kpca` of 60 rows with up to 60 components needs 144 kB, but the budget is 1 kB
    hint: set n_components, for which an `rpcholesky` factor will do, or use method = `kobl`
    ");
}

#[test]
fn warnings_of_an_extractor_are_shown() {
    let folder = folder();
    wave(folder.path());
    let few = ["wave.csv", "--target", "kind", "--method", "skfe", "--gamma", "1", "--max-iter", "2", "-q"];
    insta::assert_snapshot!(done(folder.path(), &to_model(&few)).1, @r"
    warning: `skfe` of 2 features ended after max_iter = 2 steps while the alignment, 0.843180, still rose by 2.0e-2 per step
    hint: raise max_iter
    ");
    let large =
        ["synth:ringnorm?n=5100", "--method", "klfe", "--basis-components", "20", "--n-queries", "50", "-q"];
    insta::assert_snapshot!(done(folder.path(), &to_model(&large)).1, @"warning: 5100 rows are more than 5000: `klfe` uses the basis `rpcholesky` in place of `kpca`; set basis to choose");
}
