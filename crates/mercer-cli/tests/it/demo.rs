//! `mercer demo`: the story on made-up data.

use std::fs;

use crate::program::{done, folder};

#[test]
fn the_demo_compares_every_method() {
    let folder = folder();
    let args = ["demo", "--seed", "2", "--report", "demo.html"];
    let (out, talk) = done(folder.path(), &args);
    let systems = ["takes", "k-relief", "sk-relief", "eks", "raw", "rbf-svm", "kknn"];
    for name in mercer::methods::BASES.iter().chain(&systems).chain(&mercer::methods::EXTRACTORS) {
        let lines = out.lines().filter(|line| line.starts_with(&format!("{name} "))).count();
        assert_eq!(lines, 2, "on both data sets, {name}: {out}");
    }
    for part in
        ["ringnorm: ", "twin-sine: ", "The nearest neighbour is right on ", "wrote the page demo.html"]
    {
        assert!(talk.contains(part), "{part}: {talk}");
    }
    let page = fs::read_to_string(folder.path().join("demo.html")).expect("a page");
    assert!(page.contains("mercer demo --seed 2") && page.contains("<svg"));
    let (again, talk) = done(folder.path(), &["demo", "--seed", "2", "-q", "--threads", "1"]);
    assert_eq!(again, out, "the same seed prints the same text");
    assert!(!talk.contains("wrote"), "{talk}");
}
