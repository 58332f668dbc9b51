//! One small job, for `tools/instructions.py` to count its instructions under callgrind.
//!
//!   cargo run --example instructions --features formats             the names of the jobs
//!   cargo run --example instructions --features formats kobl        does that one
//!
//! Only what runs inside [`counted`] is counted: not the start of the program, nor the rows or the basis that a job needs.

use faer::MatMut;
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Labels, Task, synth};
use mercer::evaluate::Evaluator;
use mercer::select::Columns;
use mercer::{Basis, FeatureMap, Gamma, Kernel, Monitor, Options, Pipeline, Result, Rows, methods};

/// A name and what it does.
type Job = (&'static str, fn() -> Result<()>);

const JOBS: [Job; 19] = [
    ("kobl", || fit("kobl", 2_000, &[("n_components", "100"), ("threshold", "0"), ("gamma", "scale")])),
    ("rpcholesky", || fit("rpcholesky", 2_000, &[("n_components", "100"), ("gamma", "scale")])),
    ("kpca", || fit("kpca", 520, &[("n_components", "4"), ("gamma", "0.001")])),
    ("align", || width(Gamma::Align, 200)),
    ("loo", || width(Gamma::Loo, 80)),
    ("transform", transform),
    ("transform-f32", transform_f32),
    ("relieff", || score("relieff")),
    ("multisurf", || score("multisurf")),
    ("mi", || score("mi")),
    ("takes", || finish("takes", "n_components")),
    ("klfe", || finish("klfe", "basis_components")),
    ("skfe", || finish("skfe", "basis_components")),
    ("gda", || finish("gda", "basis_components")),
    ("kpls", || finish("kpls", "basis_components")),
    ("knn", || predict("knn")),
    ("ridge", || predict("ridge")),
    ("rbf-svm", || predict("rbf-svm")),
    ("read-csv", read_csv),
];

/// What is counted, by its name in the binary.
#[inline(never)]
fn counted<T>(job: impl FnOnce() -> T) -> T {
    std::hint::black_box(job())
}

fn ringnorm(n: usize) -> Result<(Rows<'static>, Labels)> {
    let table = synth::generate(&format!("ringnorm?n={n}&seed=1"))?;
    let labels = Labels::decide(table.target.expect("classes"), Task::Auto)?;
    Ok((table.rows, labels))
}

fn fit(method: &str, n: usize, settings: &[(&str, &str)]) -> Result<()> {
    let (rows, labels) = ringnorm(n)?;
    let basis = Pipeline::new(method, settings)?.basis(&rows, Some(&labels), &mut Vec::new())?;
    let options = Options::default().with_coordinates();
    counted(|| basis.fit_with(&rows, Some(&labels), &options)).map(drop)
}

fn width(rule: Gamma, n: usize) -> Result<()> {
    let (rows, labels) = ringnorm(n)?;
    let basis = Basis::kobl(Kernel::rbf(1.0)).gamma(rule).n_components(10);
    counted(|| basis.fit_supervised(&rows, &labels)).map(drop)
}

fn kobl(rows: &Rows) -> Result<FeatureMap> {
    Ok(Basis::kobl(Kernel::rbf(0.05)).n_components(100).fit(rows)?.into())
}

fn transform() -> Result<()> {
    let (rows, _) = ringnorm(1_000)?;
    let map = kobl(&rows.slice(0..200))?;
    counted(|| map.transform(&rows)).map(drop)
}

fn transform_f32() -> Result<()> {
    let (rows, _) = ringnorm(1_000)?;
    let map = kobl(&rows.slice(0..200))?;
    let values: Vec<f32> = rows.to_dense().iter().map(|v| *v as f32).collect();
    let (rows, q) = (Rows::dense_f32(values, rows.n(), rows.p())?, map.n_features());
    let mut out = vec![0.0; rows.n() * q];
    let out = MatMut::from_row_major_slice_mut(&mut out, rows.n(), q);
    counted(|| map.transform_f32_into(&rows, out, &Monitor::default())).map(drop)
}

fn score(selector: &str) -> Result<()> {
    let (rows, labels) = ringnorm(400)?;
    let ((selector, _), monitor) = (methods::selector::<&str>(selector, &[])?, Monitor::default());
    counted(|| selector.score(&Columns::new(&rows, &labels, &monitor))).map(drop)
}

/// What a method does with the coordinates of a basis of 50.
fn finish(method: &str, size: &str) -> Result<()> {
    let (rows, labels) = ringnorm(400)?;
    // A width of its own: the search for one takes a minute under valgrind, and is counted by `loo`.
    let pipeline = Pipeline::new(method, &[("basis", "kobl"), ("gamma", "0.05"), (size, "50")])?;
    let basis = pipeline.basis(&rows, Some(&labels), &mut Vec::new())?;
    let options = Options::default().with_coordinates();
    let (basis, z) = basis.fit_with(&rows, Some(&labels), &options)?;
    counted(|| pipeline.finish(&rows, Some(&labels), basis, z, &options)).map(drop)
}

fn predict(name: &str) -> Result<()> {
    let (rows, labels) = ringnorm(400)?;
    let (test, evaluator) = (rows.slice(0..100), Evaluator::named(name)?);
    counted(|| evaluator.predict(&rows, &labels, &test, 0, &Monitor::default())).map(drop)
}

fn read_csv() -> Result<()> {
    let (rows, _) = ringnorm(1_000)?;
    let file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file");
    let lines: Vec<String> = rows.to_dense().chunks(rows.p()).map(|row| format!("{row:?}")).collect();
    std::fs::write(file.path(), lines.join("\n").replace(['[', ']', ' '], "")).expect("written");
    counted(|| read(&file.path().display().to_string(), &ReadOptions::default())).map(drop)
}

#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
fn main() -> Result<()> {
    // On the main thread alone: threads that wait count instructions, now more, now fewer.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("one thread");
    let Some(name) = std::env::args().nth(1) else {
        JOBS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let (_, job) = JOBS.iter().find(|(job, _)| *job == name).expect("a name of the list");
    job()
}
