//! Jobs that are stopped and started again: the same bits as if nothing had happened, and nothing taken from another job.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mercer::basis::{Method, Threshold};
use mercer::data::{Labels, Task, synth};
use mercer::evaluate::Comparison;
use mercer::evaluate::advise::Adviser;
use mercer::{
    Basis, Checkpoint, Error, FittedBasis, Gamma, Kernel, Monitor, Options, Progress, Result, Rows,
};

use serde_json::{Value, json};

use crate::evaluate::compare::timeless;
use crate::naive;

/// The four that are kept after every pass.
const PIVOTED: [Method; 4] = [Method::Kobl, Method::Sparse, Method::Nystrom, Method::Rpcholesky];

/// Kept whenever there is something to keep.
fn eager(folder: &Path) -> Checkpoint {
    Checkpoint::new(folder.join("kept")).every(Duration::ZERO)
}

fn table(spec: &str) -> (Rows<'static>, Labels) {
    let table = synth::generate(spec).expect("rows");
    let labels = Labels::decide(table.target.expect("a target"), Task::Auto).expect("labels");
    (table.rows, labels)
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool").install(work)
}

/// A basis with some hundred pivots.
fn basis(method: Method) -> Basis {
    let mut basis =
        Basis::new(method, Kernel::rbf(0.05)).n_components(600).threshold(Threshold::Constant(0.0));
    (basis.nu, basis.seed) = (Some(0.01), 3);
    basis
}

/// Does the work until its progress is so far, and stops it.
fn stopped<T>(monitor: &Monitor, far: impl Fn(Progress) -> bool + Send, work: impl FnOnce() -> T) -> T {
    let (done, over) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while over.recv_timeout(Duration::from_micros(50)).is_err() {
                if far(monitor.progress()) {
                    monitor.stop();
                }
            }
        });
        let result = work();
        done.send(()).expect("a watcher");
        result
    })
}

/// Fits with a checkpoint.
fn fit(basis: &Basis, rows: &Rows, checkpoint: &Checkpoint) -> Result<FittedBasis> {
    Ok(basis.fit_with(rows, None, &Options::default().checkpoint(checkpoint))?.0)
}

/// Fits until the pivots are so many, and stops.
fn stopped_at(basis: &Basis, rows: &Rows, checkpoint: &Checkpoint, pivots: usize) -> Result<FittedBasis> {
    let monitor = Monitor::default();
    let options = Options::watched(&monitor).checkpoint(checkpoint);
    let far = |progress: Progress| progress.stage == "choosing pivots" && progress.done >= pivots;
    Ok(stopped(&monitor, far, || basis.fit_with(rows, None, &options))?.0)
}

fn assert_same(a: &FittedBasis, b: &FittedBasis, what: &str) {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(a.pivots, b.pivots, "{what}");
    assert_eq!(bits(&a.pivot_norms), bits(&b.pivot_norms), "{what}");
    assert_eq!(a.residual.to_bits(), b.residual.to_bits(), "{what}");
    assert!(a.expansion.matrix == b.expansion.matrix, "{what}");
    assert!(a.expansion.landmarks == b.expansion.landmarks, "{what}");
    assert_eq!(bits(&a.expansion.offset), bits(&b.expansion.offset), "{what}");
    assert_eq!(a.expansion.origin, b.expansion.origin, "{what}");
    assert_eq!(a.expansion.kernel, b.expansion.kernel, "{what}");
    assert_eq!(a.eigenvalues, b.eigenvalues, "{what}");
    assert_eq!((a.method, a.stop, a.n_rows), (b.method, b.stop, b.n_rows), "{what}");
    assert_eq!((a.n_kernel_evaluations, &a.warnings), (b.n_kernel_evaluations, &b.warnings), "{what}");
}

#[test]
fn a_fit_that_was_stopped_ends_in_the_same_bits() {
    let (rows, _) = table("ringnorm?n=3000&seed=1");
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    for method in PIVOTED {
        let basis = basis(method);
        let whole = fit(&basis, &rows, &checkpoint).expect("fits");
        assert!(whole.n_components() > 400, "{method:?}: {}", whole.n_components());
        let mut stops = 0;
        for (first, second) in [(1, 150), (97, 98), (290, 400)] {
            checkpoint.clear().expect("cleared");
            for (threads, pivots) in [(1, first), (2, second)] {
                match in_pool(threads, || stopped_at(&basis, &rows, &checkpoint, pivots)) {
                    Err(Error::Interrupted) => stops += 1,
                    // It was faster than who watched it.
                    ended => drop(ended.expect("fits")),
                }
            }
            let what = format!("{method:?} stopped at {first} and {second}");
            assert_same(&in_pool(3, || fit(&basis, &rows, &checkpoint)).expect("fits"), &whole, &what);
            // Now nothing is left to be done.
            assert_same(&fit(&basis, &rows, &checkpoint).expect("read"), &whole, &what);
        }
        assert!(stops > 0, "{method:?} was never stopped");
        checkpoint.clear().expect("cleared");
        assert!(!checkpoint.folder().exists(), "nothing is left");
        // Without a checkpoint coordinates are kept and not recomputed: the same basis, up to rounding.
        let plain = basis.fit(&rows).expect("fits");
        assert_eq!((plain.pivots, plain.stop), (whole.pivots, whole.stop), "{method:?}");
    }
}

#[test]
fn a_basis_that_is_done_is_read() {
    let (rows, labels) = table("ringnorm?n=150&seed=1");
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    let gram = Kernel::rbf(0.05).matrix(&rows, &rows).expect("a kernel matrix");
    let gram = Rows::from_mat(gram.as_ref());
    let (sparse, _) = table("ringnorm?n=40&seed=2");
    for method in Method::ALL {
        for (kind, of_kind) in ["plain", "precomputed", "landmarks", "loo"].into_iter().enumerate() {
            if method == Method::Kmeans && of_kind == "precomputed" {
                continue;
            }
            let mut basis = Basis::new(method, Kernel::rbf(0.05));
            basis.center = method == Method::Kpca && kind == 0;
            match of_kind {
                "precomputed" => basis.shape = mercer::Shape::Precomputed,
                "landmarks" if method != Method::Csi => basis.landmarks = Some(sparse.clone()),
                "loo" => basis.gamma = Gamma::Loo,
                _ => {}
            }
            let data = if of_kind == "precomputed" { &gram } else { &rows };
            let options = || Options::default().checkpoint(&checkpoint).with_coordinates();
            let (first, features) = basis.fit_with(data, Some(&labels), &options()).expect("fits");
            let once_more = options();
            let (second, again) = basis.fit_with(data, Some(&labels), &once_more).expect("read");
            let what = format!("{method:?} {of_kind}");
            assert_same(&second, &first, &what);
            let stage = once_more.monitor.progress().stage;
            assert_eq!(stage, "transforming rows", "{what}: nothing else was to be done");
            let (a, b) = (features.expect("features").to_dense(), again.expect("features").to_dense());
            let worst = a.iter().zip(&b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
            assert!(worst < 1e-9, "{what}: {worst:e}");
            checkpoint.clear().expect("cleared");
        }
    }
}

#[test]
fn a_checkpoint_of_another_job_is_refused() {
    let (rows, labels) = table("ringnorm?n=200&seed=1");
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    let basis = basis(Method::Rpcholesky);
    fit(&basis, &rows, &checkpoint).expect("fits");
    let kept = |basis: &Basis, rows: &Rows, labels: Option<&Labels>| {
        let options = Options::default().checkpoint(&checkpoint);
        let refused = basis.fit_with(rows, labels, &options).expect_err("refused").to_string();
        assert!(refused.contains("mercer-basis.checkpoint: the checkpoint is of another job: "), "{refused}");
        assert!(refused.contains("\nhint: remove this file to start again"), "{refused}");
        refused
    };
    let text = kept(&basis.clone().seed(4), &rows, None);
    assert!(text.contains("it was made with seed = 3, but now seed = 4"), "{text}");
    let text = kept(&basis.clone().n_components(5), &rows, None);
    assert!(text.contains("n_components = 600, but now n_components = 5"), "{text}");
    let text = kept(&basis.clone().gamma(Gamma::Median), &rows, None);
    assert!(text.contains("gamma = 0.05, but now gamma = Median"), "{text}");
    let mut values = rows.to_dense();
    values[777] += 1e-15;
    let other = Rows::dense(values, rows.n(), rows.p()).expect("rows");
    assert!(kept(&basis, &other, None).contains("it was made with rows = 200 × 20 (digest "));
    assert!(kept(&basis, &rows, Some(&labels)).contains("labels = none, but now labels = 200 of 2 classes"));
    // Memory changes nothing here.
    let options = Options::default().checkpoint(&checkpoint).memory(1 << 40);
    assert!(basis.fit_with(&rows, None, &options).is_ok());
    let function = basis.threshold(Threshold::Function(|t| t));
    let function = fit(&function, &rows, &checkpoint).expect_err("refused").to_string();
    assert!(function.starts_with("threshold is a function"), "{function}");
}

#[test]
fn a_checkpoint_that_is_damaged_is_refused() {
    let (rows, _) = table("ringnorm?n=200&seed=1");
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    let basis = basis(Method::Kobl);
    let whole = fit(&basis, &rows, &checkpoint).expect("fits");
    let file = checkpoint.folder().join("mercer-basis.checkpoint");
    let bytes = fs::read(&file).expect("a file");
    let header = bytes.iter().position(|b| *b == b'\n').expect("a line");
    let mut flipped = [header / 2, header + 9, bytes.len() / 2, bytes.len() - 1].map(|at| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        bytes
    });
    let cut = [0, 1, header, header + 1, header + 20, bytes.len() - 1].map(|length| bytes[..length].to_vec());
    for damaged in flipped.iter_mut().map(std::mem::take).chain(cut) {
        fs::write(&file, &damaged).expect("written");
        let refused = fit(&basis, &rows, &checkpoint).expect_err("refused").to_string();
        assert!(refused.contains("damaged") || refused.contains("another job"), "{refused}");
        assert!(refused.contains("hint: remove this file"), "{refused}");
    }
    fs::remove_file(&file).expect("removed");
    // What a run that was killed left behind while it wrote is no state, and goes with the rest.
    let unfinished = checkpoint.folder().join("mercer-basis.checkpoint.new");
    fs::write(&unfinished, "half").expect("written");
    assert!(!checkpoint.holds_something());
    assert_same(&fit(&basis, &rows, &checkpoint).expect("fits"), &whole, "once more");
    fs::write(&unfinished, "half").expect("written");
    fs::write(checkpoint.folder().join("mine.txt"), "mine").expect("written");
    checkpoint.clear().expect("cleared");
    let left: Vec<_> = fs::read_dir(checkpoint.folder()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "what is the user's stays");
}

#[test]
fn a_folder_that_cannot_be_is_refused_before_the_work() {
    let folder = tempfile::tempdir().expect("folder");
    let text = |name: &str| Checkpoint::new(folder.path().join(name)).check().map_err(|e| e.to_string());
    fs::write(folder.path().join("file"), "").expect("written");
    assert!(text("file").is_err_and(|e| e.contains("is a file, but a folder is needed")));
    assert!(text("no/where").is_err_and(|e| e.contains("does not exist")));
    assert!(text("new").is_ok() && text(".").is_ok() && Checkpoint::new("new").check().is_ok());
    assert!(Checkpoint::new("").check().is_err());
}

#[test]
fn a_comparison_that_was_stopped_ends_in_the_same_numbers() {
    let (rows, labels) = table("ringnorm?n=160&seed=1");
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    let gammas = ["scale", "loo"].map(String::from).to_vec();
    let plain = Comparison { sizes: vec![None, Some(6)], gammas, folds: 3, ..Comparison::default() };
    let whole = timeless(plain.run(&rows, &labels).expect("compared"));
    let kept = Comparison { options: Options::default().checkpoint(&checkpoint), ..plain };
    let mut stops = 0;
    for far in [1, 5, 60, 170, 300] {
        let monitor = Monitor::default();
        let options = Options::watched(&monitor).checkpoint(&checkpoint);
        let comparison = Comparison { options, ..kept.clone() };
        let run = || in_pool(1 + far % 3, || comparison.run(&rows, &labels));
        match stopped(&monitor, |progress| progress.done >= far, run) {
            Err(Error::Interrupted) => stops += 1,
            Ok(outcome) if outcome.interrupted => stops += 1,
            ended => assert!(timeless(ended.expect("compared")) == whole, "stopped at {far}"),
        }
    }
    assert!(stops > 0 && checkpoint.holds_something());
    let ended = kept.run(&rows, &labels).expect("compared");
    assert!(ended.entries.iter().all(|entry| entry.seconds.len() == entry.scores.len()));
    assert!(timeless(ended) == whole);
    // Once more, with nothing left to do.
    let options = Options::default().checkpoint(&checkpoint);
    let again = Comparison { options, ..kept.clone() };
    assert!(timeless(again.run(&rows, &labels).expect("read")) == whole);
    let progress = again.options.monitor.progress();
    assert_eq!((progress.stage, progress.done), ("comparing", progress.total));
    let other = Comparison { folds: 4, ..kept.clone() };
    let refused = other.run(&rows, &labels).expect_err("refused").to_string();
    assert!(refused.contains("mercer-split-0.checkpoint"), "{refused}");
    assert!(refused.contains("made with folds = 3, but now folds = 4"), "{refused}");
    checkpoint.clear().expect("cleared");
}

#[test]
fn results_that_cannot_be_of_a_split_are_computed_again() {
    let (rows, labels) = table("ringnorm?n=60&seed=1");
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    let plain = Comparison { methods: vec!["gda".into()], folds: 2, ..Comparison::default() };
    let whole = timeless(plain.run(&rows, &labels).expect("compared"));
    let kept = Comparison { options: Options::default().checkpoint(&checkpoint), ..plain };
    assert!(timeless(kept.run(&rows, &labels).expect("compared")) == whole);
    let file = checkpoint.folder().join("mercer-split-0.checkpoint");
    let bytes = fs::read(&file).expect("a file");
    let line = bytes.split(|b| *b == b'\n').next().expect("a line");
    let header: Value = serde_json::from_slice(line).expect("a header");
    let changed = |field: &str, value: Value| {
        let mut header = header.clone();
        let result = &mut header["facts"]["baseline 0"]["results"][0][1];
        result["score"] = json!(0.125f64.to_bits());
        result[field] = value;
        let text = header.to_string();
        fs::write(&file, [text.as_bytes(), b"\n", &digest(text.as_bytes()).to_le_bytes()].concat())
            .expect("written");
        timeless(kept.run(&rows, &labels).expect("compared")) == whole
    };
    assert!(!changed("n_features", json!(20)), "a result that could be is taken as it is");
    for (field, value) in [
        ("losses", json!([0])),
        ("confusion", json!([[30]])),
        ("confusion", json!([[u64::MAX, 1], [0, 30]])),
        ("predictions", json!([0])),
        ("score", json!(f64::NAN.to_bits())),
    ] {
        assert!(changed(field, value.clone()), "{field} = {value}");
    }
}

/// The digest at the end of a checkpoint without lists; see `checkpoint.rs`.
fn digest(header: &[u8]) -> u64 {
    let mut digest = 0u64;
    let mut add = |word: u64| {
        let mixed = (digest ^ word).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        digest = mixed ^ (mixed >> 32);
    };
    add(header.len() as u64);
    for chunk in header.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        add(u64::from_le_bytes(word));
    }
    digest
}

#[test]
fn failures_and_skipped_sizes_are_kept_as_well() {
    let rows = crate::kernel::rows(&naive::random_rows(90, 2, 5));
    let labels = Labels::classes(&(0..90).map(|i| (i * 7 % 9).to_string()).collect::<Vec<_>>());
    let folder = tempfile::tempdir().expect("folder");
    let settings = [("n_components", "25"), ("weighted", "true")];
    let comparison = Comparison {
        methods: ["takes", "gda", "kobl", "nystrom"].map(String::from).to_vec(),
        settings: settings.map(|(name, value)| (name.to_string(), value.to_string())).to_vec(),
        sizes: vec![None, Some(3), Some(200)],
        options: Options::default().checkpoint(&eager(folder.path())),
        ..Comparison::default()
    };
    let first = timeless(comparison.run(&rows, &labels).expect("compared"));
    assert!(first.entries.iter().any(|entry| entry.failed.is_some()));
    assert!(timeless(comparison.run(&rows, &labels).expect("read")) == first);
}

#[test]
fn advice_that_was_stopped_ends_in_the_same_words() {
    let folder = tempfile::tempdir().expect("folder");
    let checkpoint = eager(folder.path());
    for spec in ["ringnorm?n=800&seed=1", "friedman?n=1500&seed=1"] {
        let (rows, labels) = table(spec);
        let plain = Adviser { max_components: 60, ..Adviser::default() };
        let whole = plain.advise(&rows, &labels).expect("advice").to_json();
        let kept = Adviser { options: Options::default().checkpoint(&checkpoint), ..plain };
        let mut stops = 0;
        for stage in ["looking at kernels", "looking at sizes", "trying methods on inner folds"] {
            let monitor = Monitor::default();
            let options = Options::watched(&monitor).checkpoint(&checkpoint);
            let adviser = Adviser { options, ..kept.clone() };
            let begun = std::sync::atomic::AtomicBool::new(false);
            let far = |progress: Progress| {
                // Stages of the parts come in between.
                let seen = std::sync::atomic::Ordering::Relaxed;
                begun.fetch_or(progress.stage == stage, seen) || begun.load(seen)
            };
            match stopped(&monitor, far, || adviser.advise(&rows, &labels)) {
                Err(Error::Interrupted) => stops += 1,
                ended => assert_eq!(ended.expect("advice").to_json(), whole),
            }
        }
        assert!(stops > 0, "{spec} was never stopped");
        assert_eq!(kept.advise(&rows, &labels).expect("advice").to_json(), whole);
        assert_eq!(kept.advise(&rows, &labels).expect("read").to_json(), whole);
        let refused = Adviser { seed: 1, ..kept }.advise(&rows, &labels).expect_err("refused").to_string();
        assert!(refused.contains("made with seed = 0, but now seed = 1"), "{refused}");
        checkpoint.clear().expect("cleared");
    }
}
