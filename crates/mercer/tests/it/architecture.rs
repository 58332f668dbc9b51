//! The pipeline is the folder tree: a stage uses only stages before it.

use std::fs;
use std::path::{Path, PathBuf};

/// Ground first, then the stages in the order the data flows. Equal ranks do not see each other.
const ORDER: [(&str, usize); 20] = [
    ("error", 0),
    ("monitor", 1),
    ("random", 1),
    ("whole_file", 1),
    ("real", 1),
    ("linalg", 2),
    ("data", 3),
    ("checkpoint", 4),
    ("kernel", 4),
    ("basis", 5),
    ("evidence", 6),
    ("select", 7),
    ("extract", 7),
    ("map", 8),
    ("systems", 9),
    ("methods", 10),
    ("pipeline", 11),
    ("evaluate", 12),
    ("report", 13),
    ("lib", 14),
];

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

#[test]
fn a_stage_uses_only_stages_before_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 20, "the sources are where they are looked for");
    let mut uses = 0;
    for file in files {
        let inside = file.strip_prefix(&src).expect("inside");
        let own =
            inside.components().next().expect("a name").as_os_str().to_string_lossy().replace(".rs", "");
        let text = fs::read_to_string(&file).expect("text");
        // Tests may reach for any stage, here as in files of their own.
        let code = text.split("#[cfg(test)]").next().expect("code");
        for line in code.lines().map(str::trim).filter(|l| !l.starts_with("//")) {
            assert!(
                !line.contains("crate::{"),
                "{}: one `use crate::` a line, so that it can be read",
                inside.display()
            );
            for part in line.split("crate::").skip(1) {
                let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if used.starts_with(char::is_lowercase) && used != own {
                    uses += 1;
                    assert!(rank(&used) < rank(&own), "{}: `{own}` uses `{used}`", inside.display());
                }
            }
        }
    }
    assert!(uses > 50, "only {uses} uses were seen");
}
