//! `mercer demo`: the story on made-up data.

use crate::program::{done, folder, refused};

#[test]
fn the_demo_compares_every_method() {
    let folder = folder();
    let (out, talk) = done(folder.path(), &["demo", "--seed", "2"]);
    let systems = ["takes", "k-relief", "sk-relief"];
    for name in mercer::methods::BASES.iter().chain(&systems).chain(&mercer::methods::EXTRACTORS) {
        assert!(out.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {out}");
    }
    let error = |name: &str| {
        let line = out.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().find(|word| word.contains('.')).map(String::from)
    };
    assert_eq!(error("gram-schmidt"), error("the columns"), "{out}");
    for name in
        ["k-relief", "sk-relief", "klfe on kobl", "kpls on kobl", "gda on kobl", "akda-qr on class means"]
    {
        let percent = error(name).and_then(|e| e.parse::<f64>().ok()).expect("a number");
        assert!(percent < 5.0, "{out}");
    }
    assert!(talk.contains("labels"), "{talk}");
    assert_eq!(done(folder.path(), &["demo", "--seed", "2", "-q"]), (out, String::new()));
    refused(folder.path(), 2, &["demo", "--seed", "-1"]);
}
