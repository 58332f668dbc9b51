//! The pipeline is the folder tree: a stage uses only stages before it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Ground first, then the stages in the order the data flows. Equal ranks do not see each other.
const ORDER: [(&str, usize); 29] = [
    ("error", 0),
    ("allocator", 0),
    ("limits", 0),
    ("monitor", 1),
    ("random", 1),
    ("whole_file", 1),
    ("real", 1),
    ("size", 1),
    ("cuda", 3),
    ("device", 4),
    ("spec", 2),
    ("linalg", 2),
    ("data", 5),
    ("checkpoint", 6),
    ("options", 7),
    ("kernel", 7),
    ("basis", 8),
    ("evidence", 9),
    ("select", 10),
    ("extract", 10),
    ("map", 11),
    ("onnx", 12),
    ("systems", 12),
    ("methods", 13),
    ("pipeline", 14),
    ("partitions", 15),
    ("evaluate", 16),
    ("report", 17),
    ("lib", 18),
];

/// Stages that use these alone, though their rank would allow more.
const ALONE: [(&str, &[&str]); 1] = [("spec", &["error"])];

fn rank(stage: &str) -> usize {
    let found = ORDER.iter().find(|(name, _)| *name == stage);
    found.unwrap_or_else(|| panic!("`{stage}` is not a stage; give it a place in ORDER")).1
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_none_or(|s| s != "tests")
        {
            found.push(path);
        }
    }
}

/// The modules that a file is in, from the stage down to its own: `["map", "file"]`; none for `lib.rs`.
fn module_of(inside: &Path) -> Vec<String> {
    let parts = inside.with_extension("");
    let parts = parts.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| part != "mod" && part != "lib").collect()
}

/// What a file holds beside comments and what is compiled for tests alone, which may reach for any stage.
fn code(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            // An item ends on its only line, or where its brace closes.
            let mut item = lines.by_ref().skip_while(|l| l.trim_start().starts_with("#["));
            if item.next().is_some_and(|first| !first.ends_with([';', '}'])) {
                item.find(|l| *l == end);
            }
        } else if !line.trim_start().starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// What follows a path to the root of the crate, wherever one is written: `crate::`, or as many `super::` as it takes.
fn after_root<'a>(module: &[String], code: &'a str) -> Vec<&'a str> {
    let starts = |at: &usize| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let through_crate = code.match_indices("crate::").map(|(at, _)| at).filter(starts);
    let mut found: Vec<&str> = through_crate.map(|at| &code[at + "crate::".len()..]).collect();
    for at in code.match_indices("super::").map(|(at, _)| at).filter(starts) {
        let (mut rest, mut up) = (&code[at..], 0);
        while let Some(next) = rest.strip_prefix("super::") {
            (rest, up) = (next, up + 1);
        }
        if up == module.len() {
            found.push(rest);
        }
    }
    found
}

/// The stages that code of a module names. `exported` are the stages of what the root exports: `crate::Rows` is data's.
fn stages_used(module: &[String], code: &str, exported: &BTreeMap<String, String>) -> Vec<String> {
    assert!(
        !has_inline_module(code),
        "{module:?}: a module inside a file is not looked into; give it a file"
    );
    let mut stages = Vec::new();
    for rest in after_root(module, code) {
        let name = word(rest);
        assert!(
            !name.is_empty(),
            "{module:?}: a path from the root names one stage, so that it can be read: {:?}",
            rest.lines().next()
        );
        stages.push(exported.get(name).map_or(name, String::as_str).to_string());
    }
    stages
}

fn has_inline_module(code: &str) -> bool {
    let is_one = |line: &str| {
        let line = line.trim();
        line.ends_with('{') && (line.starts_with("mod ") || line.contains(" mod "))
    };
    code.lines().any(is_one)
}

/// The names that `lib.rs` exports from stages, with their stage.
fn exported(lib: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.strip_prefix("pub use ")) {
        let Some((stage, names)) = line.trim_end_matches(';').split_once("::") else { continue };
        for name in names.trim_matches(['{', '}']).split(", ") {
            found.insert(name.to_string(), stage.to_string());
        }
    }
    found
}

#[test]
fn a_stage_uses_only_stages_before_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer/src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 100, "the sources are where they are looked for");
    let exported = exported(&fs::read_to_string(src.join("lib.rs")).expect("text"));
    assert!(exported.len() > 15, "{exported:?}");
    let (mut uses, mut wrong) = (0, Vec::new());
    for file in files {
        let inside = file.strip_prefix(&src).expect("inside");
        let module = module_of(inside);
        let own = module.first().map_or("lib", String::as_str);
        let code = code(&fs::read_to_string(&file).expect("text"));
        for used in stages_used(&module, &code, &exported) {
            if used == own {
                continue;
            }
            uses += 1;
            let alone = ALONE.iter().find(|(stage, _)| *stage == own);
            if rank(&used) >= rank(own) || alone.is_some_and(|(_, others)| !others.contains(&used.as_str())) {
                wrong.push(format!("{}: `{own}` uses `{used}`", inside.display()));
            }
        }
    }
    assert!(uses > 500, "only {uses} uses were seen");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_path_to_another_stage_is_seen_however_it_is_written() {
    let exported = exported("pub use map::FeatureMap;\npub use data::{Labels, Rows};\n");
    let used = |file: &str, text: &str| {
        let mut stages = stages_used(&module_of(Path::new(file)), &code(text), &exported);
        stages.sort();
        stages
    };
    assert_eq!(used("basis/fit.rs", "use crate::data::rows::Rows;"), ["data"]);
    assert_eq!(used("basis/fit.rs", "let a = f(crate::map::b(), crate::real::X);"), ["map", "real"]);
    assert_eq!(used("basis/fit.rs", "fn f(r: &crate::Rows) -> crate::FeatureMap {"), ["data", "map"]);
    assert_eq!(used("basis/fit.rs", "use super::expansion::Expansion;"), [] as [&str; 0]);
    assert_eq!(used("basis/fit.rs", "use super::super::map::Facts;"), ["map"]);
    assert_eq!(used("basis/mod.rs", "use super::map::Facts;"), ["map"]);
    assert_eq!(used("pipeline.rs", "use super::evaluate;\npub(super) fn f() {}"), ["evaluate"]);
    assert_eq!(used("evaluate/compare/split.rs", "use super::super::folds::Split;"), [] as [&str; 0]);
    assert_eq!(used("evaluate/compare/split.rs", "super::super::super::report::page()"), ["report"]);
    assert_eq!(used("map.rs", "//! See crate::report.\n    /// crate::report\n"), [] as [&str; 0]);
    // Tests may reach for any stage; what follows them may not.
    let tests = "#[cfg(test)]\nmod tests {\n    use crate::report::x;\n}\nuse crate::error::Error;\n";
    assert_eq!(used("map.rs", tests), ["error"]);
    assert_eq!(used("map.rs", "#[cfg(test)]\nmod tests;\nuse crate::error::Error;\n"), ["error"]);
}

#[test]
#[should_panic(expected = "names one stage")]
fn several_stages_in_one_path_are_refused() {
    stages_used(&module_of(Path::new("map.rs")), "use crate::{data, kernel};", &BTreeMap::new());
}
