//! `--weights` and `--class-weight`: what each row counts.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::program::{done, folder, refused};

/// `counted.csv`: 60 rows with a column `count` of 0 to 3; `copies.csv`: every row as often as it counts, without the column.
fn data(folder: &Path) {
    let (mut counted, mut copies) = ("a,b,count,kind\n".to_string(), "a,b,kind\n".to_string());
    for i in 0..60 {
        let (a, b) = ((i as f64 * 1.3).sin() + f64::from(i % 3 == 0), (i as f64 * 0.7).cos());
        let (count, kind) = ([1, 2, 0, 3, 1][i * i % 5], if i % 3 == 0 { "x" } else { "y" });
        writeln!(counted, "{a},{b},{count},{kind}").expect("written");
        (0..count).for_each(|_| writeln!(copies, "{a},{b},{kind}").expect("written"));
    }
    fs::write(folder.join("counted.csv"), counted).expect("written");
    fs::write(folder.join("copies.csv"), copies).expect("written");
}

#[test]
fn a_column_of_weights_counts_rows() {
    let folder = folder();
    data(folder.path());
    let select = |data: &'static str, more: &[&'static str]| {
        let all =
            ["select", data, "--target", "kind", "--method", "f", "--scale", "none", "--resamples", "0"];
        done(folder.path(), &[&all[..], more].concat()).0
    };
    assert_eq!(select("counted.csv", &["--weights", "count"]), select("copies.csv", &[]));
    let fit = |data: &'static str, model: &'static str, more: &[&'static str]| {
        let all = ["fit", data, "--target", "kind", "--method", "koc", "--basis", "kobl", "--gamma", "0.5"];
        let last = ["--basis-components", "10", "--scale", "none", "-o", model];
        done(folder.path(), &[&all[..], &last, more].concat());
        let (features, _) = done(folder.path(), &["transform", model, "copies.csv"]);
        features
    };
    let weighted = fit("counted.csv", "weighted.mercer", &["--weights", "count"]);
    let copied = fit("copies.csv", "copied.mercer", &[]);
    let numbers = |table: &str| -> Vec<f64> {
        table.lines().skip(1).flat_map(|line| line.split(',')).filter_map(|v| v.parse().ok()).collect()
    };
    let (a, b) = (numbers(&weighted), numbers(&copied));
    assert!(a.len() == b.len() && a.len() > 60);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?}\n{b:?}");
}

#[test]
fn classes_can_be_balanced() {
    let folder = folder();
    data(folder.path());
    let fit = |more: &[&'static str]| {
        let all =
            ["fit", "copies.csv", "--target", "kind", "--method", "gda", "--gamma", "0.5", "-o", "m.mercer"];
        done(folder.path(), &[&all[..], more].concat());
        fs::read(folder.path().join("m.mercer")).expect("a model")
    };
    assert_ne!(fit(&["--class-weight", "balanced"]), fit(&[]));
}

#[test]
fn weights_that_are_no_numbers_are_refused_by_row() {
    let folder = folder();
    fs::write(folder.path().join("bad.csv"), "a,w,kind\n1,1,x\n2,lots,y\n3,1,x\n4,1,y\n").expect("written");
    let args = ["fit", "bad.csv", "--target", "kind", "--method", "gda", "--weights", "w", "-o", "m.mercer"];
    let error = refused(folder.path(), 1, &args);
    assert!(error.contains("the weight in column `w` of row 2 is `lots`"), "{error}");
    data(folder.path());
    let with =
        |more: &[&'static str]| [&["fit", "counted.csv", "--target", "kind", "-o", "m"][..], more].concat();
    let error = refused(folder.path(), 2, &with(&["--method", "kmfa", "--weights", "count"]));
    assert!(error.contains("`kmfa` takes no sample weights"), "{error}");
}

#[test]
fn the_score_of_a_report_counts_rows_by_their_weights() {
    let folder = folder();
    // Rows of weight 2 have their labels right, rows of weight 0 all wrong.
    let row = |i: usize| {
        let (x, light) = (if i.is_multiple_of(2) { 0.0 } else { 5.0 } + 0.01 * i as f64, i.is_multiple_of(3));
        format!("{x},{},{}\n", if light { 0 } else { 2 }, if (x > 3.0) == light { "low" } else { "high" })
    };
    fs::write(folder.path().join("light.csv"), format!("a,w,kind\n{}", (0..90).map(row).collect::<String>()))
        .expect("written");
    let args =
        ["fit", "light.csv", "--target", "kind", "--method", "gda", "--weights", "w", "-o", "m.mercer"];
    done(folder.path(), &[&args[..], &["--report", "page.html"]].concat());
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(!page.contains("of these labels is noise"), "{page}");
    let args = ["fit", "light.csv", "--target", "kind", "--method", "gda", "--drop", "w", "-o", "m.mercer"];
    done(folder.path(), &[&args[..], &["--report", "page.html"]].concat());
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("of these labels is noise"), "{page}");
}
