//! `mercer export`: a model in, an ONNX file out. Python's tests run such files.

use std::fs;
use std::path::Path;

use crate::program::{FIT, done, fit, folder, refused, run};

/// Whether a file names an operator or a value.
fn holds(folder: &Path, file: &str, word: &str) -> bool {
    let bytes = fs::read(folder.join(file)).expect("a file");
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}

#[test]
fn features_columns_and_predictions_are_written() {
    let folder = folder();
    let at = folder.path();
    fit(at, &["--n-components", "4", "-q"]);
    let (out, stderr) = done(at, &["export", "model.mercer", "-o", "model.onnx"]);
    assert_eq!(out, "");
    assert!(stderr.starts_with("wrote model.onnx: 4 features, "), "{stderr}");
    assert!(holds(at, "model.onnx", "variable") && holds(at, "model.onnx", "Gemm"));
    let size = |name: &str| fs::metadata(at.join(name)).expect("a file").len();
    done(at, &["export", "model.mercer", "-o", "small.onnx", "--float32", "-q"]);
    assert!(size("small.onnx") < size("model.onnx") + 200);
    let piped = run(at, &["export", "model.mercer", "-o", "-"]);
    assert_eq!(piped.stdout, fs::read(at.join("model.onnx")).expect("a file"));

    let select = ["select", "train.csv", "--target", "kind", "--method", "f", "--n-features", "2"];
    done(at, &[&select[..], &["-m", "chosen.mercer", "-o", "chosen.csv", "-q"]].concat());
    let (_, stderr) = done(at, &["export", "chosen.mercer", "-o", "chosen.onnx"]);
    assert!(stderr.contains("2 columns"), "{stderr}");

    let auto = ["fit", "synth:ringnorm?n=200&seed=1", "--method", "auto", "-o", "auto.mercer", "-q"];
    done(at, &[&auto[..], &["--n-components", "20"]].concat());
    let (_, stderr) = done(at, &["export", "auto.mercer", "-o", "auto.onnx"]);
    assert!(stderr.contains("label and probabilities"), "{stderr}");
    assert!(holds(at, "auto.onnx", "probabilities") && !holds(at, "auto.onnx", "variable"));
    let (_, stderr) = done(at, &["export", "auto.mercer", "-o", "auto.onnx", "--features"]);
    assert!(stderr.contains(" features"), "{stderr}");
    assert!(holds(at, "auto.onnx", "variable") && !holds(at, "auto.onnx", "probabilities"));
}

#[test]
fn what_cannot_be_exported_is_refused_and_leaves_nothing() {
    let folder = folder();
    let at = folder.path();
    let line = |i: usize| format!("{},{},{}\n", i % 7, ["red", "blue"][i % 2], i % 3);
    let text: String = std::iter::once("size,colour,class\n".to_string()).chain((0..40).map(line)).collect();
    fs::write(at.join("kinds.csv"), text).expect("written");
    let train = ["fit", "kinds.csv", "--target", "class", "--method", "kobl", "-o", "kinds.mercer", "-q"];
    done(at, &train);
    let error = refused(at, 2, &["export", "kinds.mercer", "-o", "kinds.onnx"]);
    assert!(error.contains("column `colour` of the model's table is a category"), "{error}");
    assert!(error.contains("hint: ") && error.contains("`--encoded`"), "{error}");
    done(at, &["export", "kinds.mercer", "-o", "kinds.onnx", "--encoded", "-q"]);
    assert!(holds(at, "kinds.onnx", "colour=blue"));

    done(at, &[&FIT[..], &["-q"]].concat());
    let error = refused(at, 2, &["export", "model.mercer", "-o", "model.mercer"]);
    assert!(error.contains("would overwrite"), "{error}");
    let error = refused(at, 2, &["export", "model.mercer", "-o", "no/such/folder.onnx"]);
    assert!(error.contains("no/such"), "{error}");
    let error = refused(at, 1, &["export", "train.csv", "-o", "model.onnx"]);
    assert!(error.contains("not a mercer model"), "{error}");
}
