//! `--device`: where passes over the rows are computed.

use std::fs;

use assert_cmd::cargo::cargo_bin_cmd;
use mercer::device::Device;

use crate::program::{FIT, done, fit, folder, refused, text};

/// Whether a command would compute on a GPU here.
fn has_gpu() -> bool {
    Device::Cuda(0).name().is_ok()
}

#[test]
fn a_device_that_is_none_is_refused_before_rows_are_read() {
    let folder = folder();
    let expected =
        "device = `gpu`, but it must be `cpu`, `cuda`, `cuda:1` (the GPU with that number) or `auto`";
    for command in [
        "fit nothing.csv --method kobl -o m.mercer",
        "fit nothing.csv --target kind --method auto -o m.mercer",
        "select nothing.csv --target kind --method relief",
        "compare nothing.csv --target kind",
        "advise nothing.csv --target kind",
    ] {
        let args: Vec<&str> = command.split(' ').chain(["--device", "gpu"]).collect();
        assert!(refused(folder.path(), 2, &args).contains(expected), "{command}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_with_a_hint() {
    if has_gpu() {
        return;
    }
    let folder = folder();
    fit(folder.path(), &["-q"]);
    fs::rename(folder.path().join("model.mercer"), folder.path().join("kept.mercer")).expect("renamed");
    for command in [
        "fit train.csv --target kind --method kobl -o model.mercer",
        "fit train.csv --target kind --method auto -o model.mercer",
        "transform kept.mercer train.csv -o features.csv",
        "select train.csv --target kind --method relief -o table.csv",
        "compare train.csv --target kind --methods gda -o table.csv",
        "advise train.csv --target kind",
    ] {
        let args: Vec<&str> = command.split(' ').chain(["--device", "cuda"]).collect();
        let error = refused(folder.path(), 1, &args);
        assert!(error.contains("there is no NVIDIA driver on this machine"), "{command}: {error}");
        assert!(error.contains("\nhint: "), "{command}: {error}");
    }
}

#[test]
fn auto_without_a_gpu_is_the_cpu_and_is_noted() {
    if has_gpu() {
        return;
    }
    let folder = folder();
    let path = folder.path();
    fit(path, &["-q"]);
    let expected = fs::read(path.join("model.mercer")).expect("written");
    let (_, notes) = fit(path, &["--device", "auto"]);
    assert_eq!(notes.matches("device = `auto`: computed on the CPU").count(), 1, "{notes}");
    assert_eq!(fs::read(path.join("model.mercer")).expect("written"), expected);
    let (features, notes) = done(path, &["transform", "model.mercer", "train.csv", "--device", "auto"]);
    assert_eq!(notes.matches("computed on the CPU").count(), 1, "{notes}");
    assert_eq!(features, done(path, &["transform", "model.mercer", "train.csv"]).0);
    let (_, notes) = fit(path, &["--device", "auto", "-q"]);
    assert_eq!(notes, "");
}

#[test]
fn the_environment_names_a_device_and_the_flag_overrides_it() {
    let folder = folder();
    let mut command = cargo_bin_cmd!("mercer");
    command.current_dir(folder.path()).env("MERCER_DEVICE", "gpu").args(FIT);
    let output = command.output().expect("started");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("device = `gpu`"), "{}", text(&output.stderr));
    command.args(["--device", "cpu"]).assert().success();
}
