//! `mercer fit --method` with a system: some coordinates of a basis.

use std::fs;

use serde_json::Value;

use crate::program::{csv, done, folder, refused, to_model, wave};

#[test]
fn a_system_selects_some_coordinates_and_names_them() {
    let folder = folder();
    wave(folder.path());
    for (method, more) in [
        ("takes", &[][..]),
        ("takes", &["--weighted=false", "--reweight", "--n-features", "4", "--threshold", "0.2"]),
        ("k-relief", &["--n-features", "4", "--n-neighbors", "3", "--power", "2"]),
        ("sk-relief", &["--nu", "0.3", "--n-features", "positive", "--weighted"]),
        ("sk-relief", &["--basis", "nystrom", "--n-components", "9", "--n-features", "all"]),
        ("sk-relief", &["--nu", "0.3", "--n-features", "4", "--weighted", "sqrt"]),
        ("eks", &["--selector", "relief", "--weighted=sqrt"]),
        (
            "eks",
            &[
                "--selector",
                "relieff",
                "--n-features",
                "0.6667",
                "--basis",
                "kpca",
                "--n-components",
                "9",
                "--center",
            ],
        ),
    ] {
        let fit = ["wave.csv", "--target", "kind", "--method", method, "--gamma", "1"];
        let (out, stderr) = done(folder.path(), &to_model(&[&fit[..], more].concat()));
        assert_eq!(out, "");
        assert!(stderr.contains(&format!("fitting `{method}` (`")), "{stderr}");
        let kept = stderr.lines().find_map(|line| line.strip_prefix("selected ")).expect("a summary");
        let (kept, rest) = kept.split_once(" of ").expect("of how many");
        assert!(rest.contains(" coordinates, which need ") && rest.contains("; best scores: "), "{stderr}");
        let (out, _) = done(folder.path(), &["transform", "model.mercer", "wave.csv"]);
        let (head, rows) = csv(&out);
        assert_eq!((head.len().to_string().as_str(), rows.len()), (kept, 60), "{stderr}");
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
    hint: give them (`--target COL`)
    ");
    insta::assert_snapshot!(refuse(2, &["wave.csv", "--method", "relief"]), @r"
    error: `relief` is a selector: it scores columns, and needs a basis for coordinates in kernel space
    hint: `--method eks --selector relief`; `mercer select --method relief` keeps columns of the data
    ");
    insta::assert_snapshot!(refuse(1, &["numbers.csv", "--target", "y", "--method", "k-relief"]), @r"
    error: `k-relief` needs classes, but the target was read as numbers
    hint: if the values are classes, give them as text, or override the choice (`--task classification`)
    ");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["takes", "--nu", "0.2"]].concat()), @"error: `nu` is not a parameter of `takes` with `kobl`; it has basis, n_features, weighted, reweight, theta, kernel, gamma, degree, coef0, alpha, input_weights, n_components, threshold, tol, precision, seed");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["eks", "--cv", "3"]].concat()), @"error: `cv` is not a parameter of `eks` with `f`, `gram-schmidt`, `rpcholesky`; it has basis, selector, n_features, weighted, kernel, gamma, degree, coef0, alpha, input_weights, n_components, tol, seed, precision");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["eks", "--selector", "best"]].concat()), @"error: selector = `best` is not known; use one of relief, relieff, rrelieff, irelief, surf, surf-star, multisurf, multisurf-star, kffs, f, fpr, fdr, fwe, mi, laplacian, lasso");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["sk-relief", "--basis", "kobl", "--nu", "0.2"]].concat()), @r"
    error: nu = 0.2 is for the basis `sparse`, but basis = kobl
    hint: leave one of them out
    ");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["takes", "--n-features", "1.5"]].concat()), @"error: n_features = 1.5, but it must be a whole number of at least 1, a share above 0 and at most 1, `positive`, `all` or, in systems, `cv`");
    insta::assert_snapshot!(refuse(2, &[&wave[..], &["k-relief", "--threshold", "0.1"]].concat()), @"error: `threshold` is not a parameter of `k-relief` with `kpca`, `rpcholesky`; it has basis, n_features, n_neighbors, power, neighbors, n_queries, weighted, seed, kernel, gamma, degree, coef0, alpha, input_weights, n_components, tol, center, precision");
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
    let (_, stderr) = done(folder.path(), &to_model(&many));
    assert!(stderr.starts_with("warning: n_features = 500, but there are only "), "{stderr}");
    let large = ["synth:ringnorm?n=5100", "--method", "k-relief", "--n-components", "20", "-q"];
    let (_, stderr) = done(folder.path(), &to_model(&large));
    insta::assert_snapshot!(stderr, @"warning: 5100 rows are more than 5000: `k-relief` uses the basis `rpcholesky` in place of `kpca`; set basis to choose");
}
