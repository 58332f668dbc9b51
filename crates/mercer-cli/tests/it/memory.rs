//! Files larger than the memory that the program may have, under a limit that the system enforces.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::{csv, done, folder, text};

/// Rows of 20 numbers and a class, as NPY: two clouds that overlap.
fn write_rows(path: &Path, n: usize) {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 21), }}");
    header.push_str(&" ".repeat(117 - header.len()));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    for i in 0..n {
        let class = (i % 2) as f64;
        (0..20).for_each(|_| bytes.extend((uniform() + uniform() + 0.15 * class).to_le_bytes()));
        bytes.extend(class.to_le_bytes());
    }
    fs::write(path, bytes).expect("written");
}

/// What products of matrices reserve for a thread, in kilobytes: twice the last cache.
#[cfg(target_os = "linux")]
fn reserved_by_products() -> usize {
    let told = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
    let cache = told.and_then(|text| text.trim().strip_suffix('K')?.parse::<usize>().ok());
    2 * cache.unwrap_or(32 << 10)
}

/// The program with two threads and at most this many kilobytes of memory of its own, besides those that products reserve for these
/// and for the one that waits for them.
#[cfg(target_os = "linux")]
fn limited(folder: &Path, kilobytes: usize, args: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    let line = format!("ulimit -d {}; exec \"$0\" \"$@\"", kilobytes + 3 * reserved_by_products());
    let mut command = Command::new("sh");
    command.current_dir(folder).env("MERCER_NUM_THREADS", "2").arg("-c").arg(line).arg(program).args(args);
    command.output().expect("started")
}

#[cfg(target_os = "linux")]
fn fits_a_file_larger_than_memory(method: &str, more: &[&str]) {
    let folder = folder();
    let path = folder.path();
    write_rows(&path.join("rows.npy"), 150_000);
    write_rows(&path.join("few.npy"), 50);
    let common = [
        "fit",
        "rows.npy",
        "--target",
        "-1",
        "--gamma",
        "0.05",
        "--basis",
        "kobl",
        "--basis-components",
        "300",
    ];
    let args = [&common[..], &["--method", method], more].concat();
    let small = [&args[..], &["--memory", "40MB", "-o", "small.mercer"]].concat();
    // The rows are 25 MB and are scaled, and the coordinates would be 360 MB.
    let output = limited(path, 134_000, &small);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("recomputed"), "{}", text(&output.stderr));
    let large = [&args[..], &["-o", "large.mercer"]].concat();
    if reserved_by_products() < 100_000 {
        // The budget follows the limit where none is given.
        let output = limited(path, 134_000, &large);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("360 MB, are more than the memory of"), "{said}");
    } else {
        eprintln!(
            "no budget by the limit alone: of this processor's cache products reserve more than half of it"
        );
    }
    done(path, &large);
    let features = |model: &str| -> Vec<f64> {
        let (out, _) = done(path, &["transform", model, "few.npy"]);
        csv(&out).1.concat().iter().map(|v| v.parse().expect("a number")).collect()
    };
    let (small, large) = (features("small.mercer"), features("large.mercer"));
    let (out, _) = done(path, &["transform", "large.mercer", "few.npy", "--memory", "10B"]);
    assert_eq!(out, done(path, &["transform", "large.mercer", "few.npy"]).0, "features in a file");
    let size = large.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert_eq!(small.len(), large.len());
    assert!(small.iter().zip(&large).all(|(a, b)| (a - b).abs() < 1e-6 * size), "{method}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_larger_than_memory_is_fitted_within_it() {
    fits_a_file_larger_than_memory("gda", &[]);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: `make check-all`"]
fn a_file_larger_than_memory_is_fitted_within_it_by_pairs_of_rows() {
    fits_a_file_larger_than_memory("klfe", &["--n-queries", "2000", "--n-components", "2"]);
}

#[cfg(target_os = "linux")]
fn fits_in_half_the_memory(method: &str) {
    let folder = folder();
    let path = folder.path();
    write_rows(&path.join("rows.npy"), 100_000);
    let common = ["fit", "rows.npy", "--target", "-1", "--gamma", "0.05", "--basis", "nystrom"];
    let args = [&common[..], &["--method", method, "--n-components", "500", "-o", "m.mercer"]].concat();
    let single = [&args[..], &["--precision", "single"]].concat();
    // Coordinates are 200 MB, or 400 MB in float64.
    let output = limited(path, 324_000, &single);
    assert_eq!(output.status.code(), Some(0), "{method}: {}", text(&output.stderr));
    assert_ne!(limited(path, 324_000, &args).status.code(), Some(0), "{method}: the limit is one");
}

#[cfg(target_os = "linux")]
#[test]
fn coordinates_in_float32_take_half_the_memory() {
    fits_in_half_the_memory("takes");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: `make check-all`"]
fn coordinates_in_float32_take_half_the_memory_for_another_selector() {
    fits_in_half_the_memory("eks");
}

/// The program with at most this many kilobytes of address space.
#[cfg(target_os = "linux")]
fn in_address_space(folder: &Path, kilobytes: usize, args: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    let line = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.current_dir(folder).env("MERCER_NUM_THREADS", "2").arg("-c").arg(line).arg(program).args(args);
    command.output().expect("started")
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_the_system_refuses_is_an_error_in_words() {
    let folder = folder();
    let fit = ["fit", "synth:ringnorm?n=600&seed=1", "--method", "gda", "-o", "m.mercer"];
    let mut refused = 0;
    for kilobytes in [80_000, 100_000, 130_000, 170_000, 220_000, 300_000] {
        let output = in_address_space(folder.path(), kilobytes, &fit);
        let said = text(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                refused += 1;
                assert!(said.contains("error: ") && said.contains("\nhint: "), "{kilobytes} kB: {said}");
                assert!(!said.contains("bug"), "{kilobytes} kB: {said}");
                assert!(!folder.path().join("m.mercer").exists(), "{kilobytes} kB");
            }
            code => panic!("{kilobytes} kB: {code:?} {said}"),
        }
        let _ = fs::remove_file(folder.path().join("m.mercer"));
    }
    assert!(refused > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_budget_above_what_the_system_leaves_is_lowered_with_a_warning() {
    let folder = folder();
    let methods = ["select", "synth:ringnorm?n=60&seed=1", "--method", "f", "--memory", "40GB"];
    let output = in_address_space(folder.path(), 2_000_000, &methods);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said.matches("40.0 GB of memory were asked for, but a limit of the system leaves").count(),
        1,
        "{said}"
    );
}
