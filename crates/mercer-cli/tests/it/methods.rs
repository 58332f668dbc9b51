//! `mercer methods`: the catalogue.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{done, folder, refused};

#[test]
fn the_catalogue_is_there_for_people_and_programs() {
    let folder = folder();
    let (list, _) = done(folder.path(), &["methods"]);
    let (json, _) = done(folder.path(), &["methods", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    for spec in mercer::methods::all() {
        assert!(list.contains(spec.name) && list.contains(spec.help), "{list}");
        let (about, _) = done(folder.path(), &["methods", spec.name]);
        assert!(about.contains(spec.source) && about.contains(spec.cost), "{about}");
        for parameter in spec.parameters {
            assert!(about.contains(&format!("--{}", parameter.name.replace('_', "-"))), "{about}");
        }
        let (one, _) = done(folder.path(), &["methods", spec.name, "--format", "json"]);
        let one: Value = serde_json::from_str(&one).expect("JSON");
        assert_eq!(one["parameters"][0]["name"], spec.parameters[0].name);
    }
    assert_eq!(json["methods"].as_array().map(Vec::len), Some(mercer::methods::all().count()));
}

#[test]
fn methods_are_listed_by_stage() {
    let folder = folder();
    let (list, _) = done(folder.path(), &["methods"]);
    insta::assert_snapshot!(list.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>().join("\n"), @r"
    Bases: coordinates of the kernel's space (`--method NAME`, or `--basis NAME` for another method's basis)

    Selectors: scores of columns (`mercer select --method NAME` for columns, `mercer fit --method eks --selector NAME` for coordinates)

    Extractors: directions in a basis' coordinates (`--method NAME`)

    Systems: a basis and a selector (`--method NAME`)

    `mercer methods NAME` describes one of them.
    ");
    insta::assert_snapshot!(done(folder.path(), &["methods", "takes"]).0, @r"
    takes: two-stage fast kernel feature selection: kobl and kffs, features multiplied by their weights

      stage   system
      source  TAKES
      cost    kobl, then n·m² votes

    Parameters:
      --basis
          what      the basis in whose coordinates features are chosen or made
          allowed   gram-schmidt | kobl | sparse | kpca | nystrom | rpcholesky | kfa | kmeans | csi
          left out  kobl, with threshold = linear
      --n-features
          what     how many of the best to keep: a number, a share with a decimal point (0.5), `positive` for those with a score above 0, `all`, or in systems `cv` for as many as cross-validated ridge asks for
          allowed  a number ≥ 1 | a share in (0, 1.0] | positive | all | cv
          default  positive
      --weighted
          what     whether features are multiplied by their weights, or their roots
          allowed  true | false | sqrt
          default  true
      --reweight
          what     rows that the ensemble gets right lose weight
          allowed  true | false
          default  false
      --theta
          what     votes by which a class must lead for the ensemble to decide; below, the newest column does
          allowed  a whole number ≥ 1
          default  1

    and those of its basis: `mercer methods BASIS`.
    ");
    let (about, _) = done(folder.path(), &["methods", "relieff"]);
    let last = "`mercer select --method relieff` for columns, `mercer fit --method eks --selector relieff` for coordinates.\n";
    assert!(about.ends_with(last), "{about}");
    assert!(about.contains("default  10\n"), "its own default: {about}");
    let (about, _) = done(folder.path(), &["methods", "input-weights"]);
    assert!(
        about.contains("--rounds") && about.ends_with("`mercer select --method input-weights`.\n"),
        "{about}"
    );
    let (about, _) = done(folder.path(), &["methods", "input-weights", "--format", "json"]);
    assert!(about.contains("\"rounds\""), "{about}");
    let (about, _) = done(folder.path(), &["methods", "eks"]);
    assert!(about.contains("those of its basis and its selector"), "{about}");
    let (about, _) = done(folder.path(), &["methods", "klfe"]);
    assert!(about.contains("  stage   extract\n") && about.contains("those of its basis:"), "{about}");
    let (about, _) = done(folder.path(), &["methods", "akda-qr"]);
    assert!(about.contains("--kernel\n") && !about.contains("those of its basis"), "{about}");
}

#[test]
fn the_page_of_methods_in_the_docs_is_the_catalogue() {
    let folder = folder();
    let (page, _) = done(folder.path(), &["methods", "--format", "markdown"]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods/README.md");
    assert_eq!(page, fs::read_to_string(docs).expect("docs/methods/README.md"), "`make gen` writes it again");
    for spec in mercer::methods::all() {
        let file = format!("../mercer/src/{}", spec.file);
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).exists(), "{file}");
        let name = match spec.name {
            "fpr" | "fdr" | "fwe" => "f", // One test, four levels of it.
            "surf-star" | "multisurf-star" => "surf",
            own => own,
        };
        let page = format!("../../docs/methods/{name}.md");
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&page).exists(), "{page}");
    }
    refused(folder.path(), 2, &["methods", "kobl", "--format", "markdown"]);
}

#[test]
fn a_misspelt_method_gets_a_suggestion_and_auto_is_described() {
    let folder = folder();
    let error = refused(folder.path(), 2, &["methods", "gdda"]);
    assert!(
        error.contains("method = `gdda` is not known") && error.contains("did you mean `gda`?"),
        "{error}"
    );
    assert!(refused(folder.path(), 2, &["methods", "fisher-score"]).contains("is not known; use one of"));
    assert!(refused(folder.path(), 2, &["methods", "atuo"]).contains("did you mean `auto`?"));
    let (out, _) = done(folder.path(), &["methods", "auto"]);
    assert!(out.starts_with("auto: a predictor without choices") && out.contains("--n-components"), "{out}");
    let error = refused(folder.path(), 2, &["methods", "auto", "--format", "json"]);
    assert!(error.contains("`auto` is not in the catalogue"), "{error}");
}
