//! The inputs of `fuzz/corpus`: seeds, and all that was ever found to break something. None of them may panic.

#[path = "../../../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[test]
fn every_input_of_the_corpus_comes_back() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut broken = Vec::new();
    for (target, body) in targets::TARGETS {
        let folder = fs::read_dir(corpus.join(target)).unwrap_or_else(|e| panic!("{target}: {e}"));
        let files: Vec<_> = folder.map(|entry| entry.expect("an entry").path()).collect();
        assert!(files.len() > 1, "{target} has {} inputs", files.len());
        for file in files {
            let bytes = fs::read(&file).expect("an input");
            if catch_unwind(|| body(&bytes)).is_err() {
                broken.push(file);
            }
        }
    }
    assert!(broken.is_empty(), "these inputs panic: {broken:?}");
}
