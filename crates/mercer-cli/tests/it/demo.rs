//! `mercer demo`: a comparison on synthetic data.

use std::fs;

use crate::program::{done, folder};

#[test]
fn the_demo_compares_every_method() {
    let folder = folder();
    let args = ["demo", "--seed", "2", "--report", "demo.html"];
    let (out, stderr) = done(folder.path(), &args);
    let methods = mercer::methods::all().filter(|spec| spec.stage != mercer::methods::Stage::Select);
    for name in methods.map(|spec| spec.name).chain(["rbf-svm", "kknn", "dummy"]) {
        let lines = out.lines().filter(|line| line.starts_with(&format!("{name} "))).count();
        assert_eq!(lines, 2, "on both data sets, {name}: {out}");
    }
    for part in [
        "ringnorm: ",
        "twin-sine: ",
        "On the plain columns the nearest neighbour has an accuracy of ",
        "wrote the report demo.html",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let page = fs::read_to_string(folder.path().join("demo.html")).expect("a page");
    assert!(page.contains("mercer demo --seed 2") && page.contains("<svg"));
    let (again, stderr) = done(folder.path(), &["demo", "--seed", "2", "-q", "--threads", "1"]);
    assert_eq!(again, out, "the same seed prints the same text");
    assert!(!stderr.contains("wrote"), "{stderr}");
}
