//! Commands that are interrupted and resumed give the same result as without the interruption.

use std::fs;
use std::path::Path;

use crate::program::{done, folder, refused, run, text};

/// A fit of a second.
const LONG: [&str; 9] = [
    "fit",
    "synth:ringnorm?n=4000&seed=1",
    "--method",
    "gda",
    "--basis",
    "kobl",
    "--basis-components",
    "1200",
    "--threshold=0",
];

/// Starts the program, sends it a signal as soon as `ready` is true, and returns its exit code and standard error.
#[cfg(unix)]
fn interrupted(
    folder: &Path,
    args: &[&str],
    signal: &str,
    ready: impl Fn(&Path) -> bool,
) -> (Option<i32>, String) {
    use std::process::{Command, Stdio};
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .env("MERCER_CHECKPOINT_SECONDS", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    while !ready(folder) && child.try_wait().expect("known").is_none() {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    Command::new("kill").args([signal, &child.id().to_string()]).status().expect("sent");
    let output = child.wait_with_output().expect("ended");
    (output.status.code(), text(&output.stderr))
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |data| data.len())
}

#[cfg(unix)]
#[test]
fn a_resumed_fit_makes_the_same_model() {
    let folder = folder();
    let with = |more: &[&'static str]| [&LONG[..], &["--checkpoint", "kept"], more].concat();
    let (_, stderr) = done(folder.path(), &with(&["-o", "whole.mercer"]));
    assert!(!stderr.contains("resuming") && !folder.path().join("kept").exists(), "{stderr}");
    let whole = fs::read(folder.path().join("whole.mercer")).expect("a model");
    let begun = |folder: &Path| size(&folder.join("kept/mercer-basis.checkpoint")) > 8 * 4000 + 8 * 200;
    let args = with(&["-o", "again.mercer"]);
    for signal in ["-INT", "-KILL"] {
        let (code, stderr) = interrupted(folder.path(), &args, signal, begun);
        assert!(!folder.path().join("again.mercer").exists(), "it ended by itself: {stderr}");
        match signal {
            "-INT" => {
                assert_eq!(code, Some(130), "{stderr}");
                let hint = "interrupted\nhint: run the same command again to resume from kept; remove that folder to start over\n";
                assert!(stderr.ends_with(hint), "{stderr}");
            }
            _ => assert_eq!(code, None, "{stderr}"),
        }
        // Another command refuses the checkpoint and leaves it unchanged.
        let other = [&LONG[..8], &["--checkpoint", "kept", "-o", "other.mercer"]].concat();
        let error = refused(folder.path(), 1, &other);
        assert!(error.contains("made with threshold = Constant(0.0), but now threshold = none"), "{error}");
        let (_, stderr) = done(folder.path(), &[&args[..], &["--threads", "1"]].concat());
        assert!(stderr.contains("resuming from kept\n"), "{stderr}");
        assert!(fs::read(folder.path().join("again.mercer")).expect("a model") == whole, "the same model");
        fs::remove_file(folder.path().join("again.mercer")).expect("removed");
        assert!(!folder.path().join("kept").exists(), "nothing is left");
    }
}

#[cfg(unix)]
#[test]
fn a_resumed_comparison_makes_the_same_table() {
    let folder = folder();
    let args = ["compare", "synth:waveform?n=240&seed=1", "--format", "json", "--checkpoint", "kept"];
    let table = || {
        let mut all: serde_json::Value =
            serde_json::from_str(&done(folder.path(), &args).0).expect("a table as JSON");
        for entry in all["entries"].as_array_mut().expect("entries") {
            entry.as_object_mut().expect("an entry").remove("fit_seconds");
        }
        all
    };
    let whole = table();
    for signal in ["-INT", "-KILL"] {
        let begun = |folder: &Path| size(&folder.join("kept/mercer-split-1.checkpoint")) > 3000;
        let (code, stderr) = interrupted(folder.path(), &args, signal, begun);
        assert_eq!(code, if signal == "-INT" { Some(130) } else { None }, "{stderr}");
        assert!(folder.path().join("kept").exists(), "it ended by itself: {stderr}");
        assert!(table() == whole, "the same table");
        assert!(!folder.path().join("kept").exists(), "nothing is left");
    }
}

#[cfg(unix)]
#[test]
fn resumed_advice_is_the_same() {
    let folder = folder();
    let args = ["advise", "synth:ringnorm?n=600&seed=1", "--checkpoint", "kept"];
    let whole = done(folder.path(), &args).0;
    for signal in ["-INT", "-KILL"] {
        let begun = |folder: &Path| folder.join("kept/mercer-advice.checkpoint").exists();
        let (code, stderr) = interrupted(folder.path(), &args, signal, begun);
        assert_eq!(code, if signal == "-INT" { Some(130) } else { None }, "{stderr}");
        assert_eq!(done(folder.path(), &args).0, whole);
        assert!(!folder.path().join("kept").exists(), "nothing is left");
    }
}

#[cfg(unix)]
#[test]
fn a_second_process_is_refused_a_checkpoint_folder_in_use() {
    let folder = folder();
    fs::create_dir(folder.path().join("kept")).expect("made");
    let used = fs::File::open(folder.path().join("kept")).expect("opened");
    used.lock().expect("locked");
    let args = [&LONG[..], &["-o", "m.mercer", "--checkpoint", "kept"]].concat();
    let error = refused(folder.path(), 1, &args);
    assert!(
        error.contains("another process is using this checkpoint folder\nhint: wait until it has ended"),
        "{error}"
    );
    drop(used);
    done(folder.path(), &args);
}

#[test]
fn every_method_can_have_a_checkpoint() {
    let folder = folder();
    fs::create_dir(folder.path().join("kept")).expect("made");
    fs::write(folder.path().join("kept/mine.txt"), "mine").expect("written");
    for spec in mercer::methods::all().filter(|spec| spec.stage != mercer::methods::Stage::Select) {
        let args =
            ["fit", "train.csv", "--target", "kind", "--method", spec.name, "-q", "-o", "model.mercer"];
        let model = |more: &[&str]| {
            done(folder.path(), &[&args[..], more].concat());
            mercer::FeatureMap::load(folder.path().join("model.mercer")).expect("a model")
        };
        let (plain, kept) = (model(&[]), model(&["--checkpoint", "kept", "--report", "page.html"]));
        assert_eq!(plain.pivots, kept.pivots, "{}", spec.name);
        assert_eq!(plain.feature_names, kept.feature_names, "{}", spec.name);
    }
    assert!(folder.path().join("kept/mine.txt").exists(), "what is the user's stays");
}

#[test]
fn a_place_that_is_no_folder_is_refused() {
    let folder = folder();
    let args = |place: &'static str| [&LONG[..], &["-o", "m.mercer", "--checkpoint", place]].concat();
    assert!(refused(folder.path(), 2, &args("train.csv")).contains("is a file, but a folder is needed"));
    assert!(refused(folder.path(), 2, &args("no/where")).contains("the folder `no` does not exist"));
    fs::create_dir(folder.path().join("kept")).expect("made");
    fs::write(folder.path().join("kept/mercer-basis.checkpoint"), "half").expect("written");
    let error = refused(folder.path(), 1, &args("kept"));
    assert!(error.contains("the checkpoint is damaged\nhint: remove this file to start again"), "{error}");
    let output = run(folder.path(), &args("kept"));
    assert_eq!(output.status.code(), Some(1), "it is not forgotten: {}", text(&output.stderr));
}
