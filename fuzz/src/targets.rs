//! The bodies of the fuzz targets: each takes any bytes, and must come back. They also compile on a stable toolchain, where
//! the tests of the command line call them with the corpus and with every input that was ever found to break something.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use std::{fs, str};

use mercer::basis::Threshold;
use mercer::data::encode::EncodeSettings;
use mercer::data::read::{EncodeMode, ReadOptions, read};
use mercer::data::{Labels, Task, synth};
use mercer::evaluate::advice::Advice;
use mercer::evaluate::outcome::Outcome;
use mercer::evaluate::{Adviser, Comparison, Evaluator, Split};
use mercer::map::Model;
use mercer::onnx::Export;
use mercer::options::size_in_bytes;
use mercer::{Basis, Checkpoint, FeatureMap, Gamma, Kernel, Monitor, Options, Rows, Shape};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A target and its name.
type Target = (&'static str, fn(&[u8]));

/// Every target by its name, which is that of its folder in the corpus.
pub(crate) const TARGETS: &[Target] = &[
    ("csv", csv),
    ("tsv", tsv),
    ("libsvm", libsvm),
    ("npy", npy),
    ("npz", npz),
    ("parquet", parquet),
    ("arrow", arrow),
    ("gzip", gzip),
    ("model", model),
    ("checkpoint", checkpoint),
    ("comparison", comparison),
    ("advice", advice),
    ("synth", synthetic),
    ("kernel", kernel),
    ("threshold", threshold),
    ("words", words),
];

/// What a reader may hold in memory.
const BUDGET: u64 = 1 << 20;

/// The most numbers in the rows for a model or of a generator.
const MOST_NUMBERS: usize = 1 << 12;

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// A file of this thread with this extension.
fn path(extension: &str) -> PathBuf {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a folder"));
        folder.path().join(format!("rows.{extension}"))
    })
}

fn csv(bytes: &[u8]) {
    read_as("csv", bytes);
}

fn tsv(bytes: &[u8]) {
    read_as("tsv", bytes);
}

fn libsvm(bytes: &[u8]) {
    read_as("libsvm", bytes);
}

fn npy(bytes: &[u8]) {
    read_as("npy", bytes);
}

fn parquet(bytes: &[u8]) {
    read_as("parquet", bytes);
}

fn arrow(bytes: &[u8]) {
    read_as("arrow", bytes);
}

/// Compressed text; what comes out of it may be pairs as well as fields.
fn gzip(bytes: &[u8]) {
    read_as("csv.gz", bytes);
    read_as("svm.gz", bytes);
}

/// An archive as it is. Anything else is made one, so that checksums do not hide what is in it: arrays, each after a line with
/// its name and its number of bytes.
fn npz(bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        return read_as("npz", bytes);
    }
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let Some((name, length)) = str::from_utf8(&rest[..end]).ok().and_then(|line| line.split_once(' '))
        else {
            break;
        };
        let length = length.parse::<usize>().unwrap_or(0).min(rest.len() - end - 1);
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        if archive.start_file(format!("{name}.npy"), stored).is_err() {
            break;
        }
        archive.write_all(&rest[end + 1..][..length]).expect("written to memory");
        rest = &rest[end + 1 + length..];
    }
    read_as("npz", archive.finish().expect("written to memory").get_ref());
}

/// Reads a file as rows for a model are read, as training rows are, and as these again with what was learned of them.
fn read_as(extension: &str, bytes: &[u8]) {
    let path = path(extension);
    fs::write(&path, bytes).expect("a file");
    let path = path.to_str().expect("a plain name");
    let plain = ReadOptions { memory: Some(BUDGET), ..ReadOptions::default() };
    let _ = read(path, &plain);
    let _ = read(path, &ReadOptions { encode: EncodeMode::Keep, ..plain.clone() });
    let encode = EncodeMode::Learn(EncodeSettings::default());
    let train = ReadOptions { target: Some("-1".into()), encode, ..plain.clone() };
    let Ok(table) = read(path, &train) else { return };
    if let Some(target) = table.target {
        let _ = Labels::decide(target, Task::Auto);
    }
    if let Some(encoder) = table.encoder {
        let columns = Some(encoder.inputs());
        let again =
            ReadOptions { columns, by_place: encoder.by_place, encode: EncodeMode::Apply(encoder), ..plain };
        let _ = read(path, &again);
    }
}

/// A model file: what the command line shows of it, features, predictions, importance, pre-images, ONNX, and itself again.
fn model(bytes: &[u8]) {
    let Ok(model) = Model::read_from(bytes, "model") else { return };
    mercer_cli::describe(&model, bytes.len() as u64);
    let _ = Export::default().model(&model);
    let mut written = Vec::new();
    match &model {
        Model::Features(map) => {
            features(map);
            if map.write_to(&mut written, "model").is_err() {
                return;
            }
        }
        Model::Columns(selected) => {
            if let Some(rows) = rows(selected.n_inputs) {
                let _ = selected.transform(&rows);
            }
            selected.write_to(&mut written, "model").expect("what was read can be written");
        }
    }
    Model::read_from(&written[..], "model").expect("what was written can be read");
}

fn features(map: &FeatureMap) {
    let Some(rows) = rows(map.expansion.landmarks.p()) else { return };
    let Ok(features) = map.transform(&rows) else { return };
    assert_eq!((features.nrows(), features.ncols()), (rows.n(), map.n_features()));
    let monitor = Monitor::default();
    let _ = map.input_importance(&rows, &monitor);
    let _ = map.inverse_transform(features.as_ref(), &monitor);
    let _ = map.important_points();
    if let Some(predictor) = &map.predictor {
        let _ = predictor.predict(&rows);
        let _ = predictor.probabilities(&rows);
    }
}

/// A few rows of p columns; None if they would be large.
fn rows(p: usize) -> Option<Rows<'static>> {
    let values = (0..3 * p.min(MOST_NUMBERS)).map(|i| (i % 7) as f64 / 3.0 - 0.5).collect::<Vec<_>>();
    if p > MOST_NUMBERS { None } else { Rows::dense(values, 3, p).ok() }
}

/// The basis whose checkpoint is fuzzed.
fn job() -> (Basis, Rows<'static>) {
    let (rows, _) = few_rows();
    (Basis::kobl(Kernel::rbf(0.5)).threshold(Threshold::Constant(0.1)).n_components(6), rows)
}

const BASIS_FILE: &str = "mercer-basis.checkpoint";
const SPLIT_FILE: &str = "mercer-split-0.checkpoint";
const ADVICE_FILE: &str = "mercer-advice.checkpoint";

/// What the checkpoints must say of their jobs.
static ABOUT_BASIS: LazyLock<Value> = LazyLock::new(|| {
    about(BASIS_FILE, |checkpoint| {
        let (basis, rows) = job();
        basis.fit_with(&rows, None, &Options::default().checkpoint(checkpoint)).expect("a fit");
    })
});
static ABOUT_SPLIT: LazyLock<Value> =
    LazyLock::new(|| about(SPLIT_FILE, |checkpoint| drop(compare(checkpoint))));
static ABOUT_ADVICE: LazyLock<Value> =
    LazyLock::new(|| about(ADVICE_FILE, |checkpoint| drop(advise(checkpoint))));

/// What the checkpoint of a job says of it.
fn about(file: &str, job: impl FnOnce(&Checkpoint)) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    job(&Checkpoint::new(folder.path()).every(Duration::ZERO));
    let bytes = fs::read(folder.path().join(file)).expect("a checkpoint");
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Value>(line).expect("a header")["about"].take()
}

/// A checkpoint in a folder of this thread, with this file in it.
fn with_file(file: &str, content: &[u8]) -> Checkpoint {
    let path = path("checkpoint");
    let folder = path.parent().expect("a folder");
    fs::write(folder.join(file), content).expect("a file");
    Checkpoint::new(folder).every(Duration::from_secs(3600))
}

/// A file whose header is this, with the digest that belongs to it.
fn with_digest(header: &Value, numbers: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let whole = &numbers[..numbers.len() / 8 * 8];
    [header.as_bytes(), b"\n", whole, &digest(header.as_bytes(), whole).to_le_bytes()].concat()
}

/// A checkpoint without what it says of its job and without its digest, which would hide all that comes after them; bytes
/// that do not start with a header are taken as they are.
fn checkpoint(bytes: &[u8]) {
    let end = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
    let mut file = bytes.to_vec();
    if let Ok(Value::Object(mut header)) = serde_json::from_slice(&bytes[..end]) {
        header.insert("about".into(), ABOUT_BASIS.clone());
        file = with_digest(&Value::Object(header), bytes.get(end + 1..).unwrap_or_default());
    }
    let checkpoint = with_file(BASIS_FILE, &file);
    let (basis, rows) = job();
    if let Ok((fitted, _)) = basis.fit_with(&rows, None, &Options::default().checkpoint(&checkpoint)) {
        let _ = FeatureMap::from(fitted).transform(&rows);
    }
}

/// What a split of a comparison has found, as JSON; all that is found of it again, and what is written about that.
fn comparison(bytes: &[u8]) {
    let Ok(facts @ Value::Object(_)) = serde_json::from_slice(bytes) else { return };
    let header = json!({ "about": *ABOUT_SPLIT, "lists": [], "facts": facts });
    if let Ok(outcome) = compare(&with_file(SPLIT_FILE, &with_digest(&header, &[]))) {
        outcome.to_json().to_string();
    }
}

fn compare(checkpoint: &Checkpoint) -> mercer::Result<Outcome> {
    let (rows, labels) = few_rows();
    let comparison = Comparison {
        methods: vec!["kobl".into()],
        gammas: vec!["scale".into()],
        sizes: vec![Some(2)],
        evaluators: vec![Evaluator::Knn { n_neighbors: 1 }],
        splits: Some(vec![Split { train: (0..8).collect(), test: (8..12).collect() }]),
        keep_predictions: true,
        options: Options::default().checkpoint(checkpoint),
        ..Comparison::default()
    };
    comparison.run(&rows, &labels)
}

/// What an adviser has found, as JSON; the advice, and the pipeline that it names.
fn advice(bytes: &[u8]) {
    let Ok(facts @ Value::Object(_)) = serde_json::from_slice(bytes) else { return };
    let header = json!({ "about": *ABOUT_ADVICE, "lists": [], "facts": facts });
    if let Ok(advice) = advise(&with_file(ADVICE_FILE, &with_digest(&header, &[]))) {
        advice.to_json().to_string();
        let _ = advice.pipeline();
    }
}

fn advise(checkpoint: &Checkpoint) -> mercer::Result<Advice> {
    let (rows, labels) = few_rows();
    Adviser { options: Options::default().checkpoint(checkpoint), ..Adviser::default() }
        .advise(&rows, &labels)
}

fn few_rows() -> (Rows<'static>, Labels) {
    let table = synth::generate("moons?n=12&seed=1").expect("rows");
    (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
}

/// The digest at the end of a checkpoint; see `checkpoint.rs`.
fn digest(header: &[u8], numbers: &[u8]) -> u64 {
    let mut digest = 0u64;
    let mut add = |word: u64| {
        let mixed = (digest ^ word).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        digest = mixed ^ (mixed >> 32);
    };
    add(header.len() as u64);
    for chunk in header.chunks(8).chain(numbers.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        add(u64::from_le_bytes(word));
    }
    digest
}

/// `synth:` strings. What would take long or much memory because it was asked for is left out.
fn synthetic(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let counts = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<usize>().ok());
    if counts.filter(|count| *count < usize::MAX / 1_000).any(|count| count > 50) {
        return;
    }
    let options = ReadOptions { memory: Some(BUDGET), ..ReadOptions::default() };
    if let Ok(table) = read(&format!("synth:{text}"), &options) {
        let _ = Labels::decide(table.target.expect("a target"), Task::Auto);
    }
}

/// Kernels and the rules for their width. A kernel that was read is read again from what it is written as, the same, and has
/// values on rows.
fn kernel(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    // A sum of kernels is never freed, and these are large.
    if text.contains(':')
        && text.split(|c: char| !c.is_ascii_digit()).any(|digits| (5..8).contains(&digits.len()))
    {
        return;
    }
    let _ = text.parse::<Gamma>();
    if let Ok(shape) = text.parse::<Shape>()
        && !shape.is_own()
    {
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let _ = shape.with_names(&names);
    }
    let Ok(kernel) = text.parse::<Kernel>() else { return };
    let written = kernel.to_string();
    let again = written.parse::<Kernel>();
    assert_eq!(again.as_ref().ok(), Some(&kernel), "`{written}`");
    let rows = Rows::dense(vec![0.5, 1.0, 0.0, 0.25, 1.0, 2.0], 2, 3).expect("rows");
    let _ = Basis::kobl(kernel).fit(&rows);
}

/// Thresholds, budgets, and all parameters of all methods: a line is a name and its value.
fn threshold(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let _ = text.parse::<Threshold>();
    let _ = size_in_bytes(text);
    let mut lines = text.lines();
    let Some(method) = lines.next() else { return };
    let settings: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('=')).collect();
    let _ = mercer::Pipeline::new(method, &settings);
    let _ = mercer::pipeline::ColumnSelection::new(method, &settings);
}

/// A command line, each line a word, up to where files would be opened.
fn words(bytes: &[u8]) {
    let words =
        bytes.split(|b| *b == b'\n').map(|word| OsString::from(String::from_utf8_lossy(word).as_ref()));
    // The device of this machine is not in question, and looking for one takes long.
    let words = words.filter(|word| !word.to_string_lossy().contains("cuda"));
    let _ = mercer_cli::check_words(std::iter::once("mercer".into()).chain(words));
}
