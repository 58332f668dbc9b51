//! `mercer completions` and `mercer man`: made from the one list of flags.

use std::fs;
use std::process::Command;

use crate::program::{done, folder};

#[test]
fn every_shell_gets_every_command_and_every_word() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (script, stderr) = done(folder.path(), &["completions", shell]);
        assert_eq!(stderr, "");
        for word in [
            "compare",
            "select",
            "input-weights",
            "advise",
            "completions",
            "basis-components",
            "test-share",
            "gram-schmidt",
            "matern52",
            "rbf-svm",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_completes_methods() {
    let folder = folder();
    let (script, _) = done(folder.path(), &["completions", "bash"]);
    fs::write(folder.path().join("mercer.bash"), script).expect("written");
    let ask = "source ./mercer.bash && COMP_WORDS=(mercer fit a.csv --method k) COMP_CWORD=4 && \
               _mercer mercer k --method && echo \"${COMPREPLY[@]}\"";
    let Ok(output) = Command::new("bash").args(["-c", ask]).current_dir(folder.path()).output() else {
        return; // There is no bash here.
    };
    let words = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(words.contains("kobl") && words.contains("klfe") && !words.contains("takes"), "{words}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder();
    let (page, _) = done(folder.path(), &["man"]);
    assert!(page.contains(".TH") && page.contains("compare") && page.contains("mercer"), "{page}");
    for command in [
        "fit",
        "select",
        "transform",
        "predict",
        "export",
        "inspect",
        "compare",
        "advise",
        "methods",
        "demo",
        "completions",
        "man",
    ] {
        let (page, _) = done(folder.path(), &["man", command]);
        assert!(page.contains(&format!("mercer\\-{command}")), "{page}");
        assert!(page.contains("Example"), "{page}");
    }
    fs::create_dir(folder.path().join("man1")).expect("a folder");
    let (_, stderr) = done(folder.path(), &["man", "--dir", "man1"]);
    assert_eq!(stderr, "wrote 13 pages to man1\n");
    let pages = fs::read_dir(folder.path().join("man1")).expect("a folder").count();
    assert_eq!(pages, 13);
    assert_eq!(fs::read_to_string(folder.path().join("man1/mercer.1")).expect("a page"), page);
}
