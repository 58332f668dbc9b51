//! Files that hold no rows, each format's way.

use std::fs;
use std::io::Write;

use super::{check, refusal, refusals, write};
use crate::program::{done, fit, folder};

#[test]
fn text_that_holds_no_rows() {
    let folder = folder();
    let file = |name: &str, bytes: &[u8]| write(folder.path(), name, bytes);
    file("empty.csv", b"");
    file("head.csv", b"a,b\n");
    file("hole.csv", b"a,b\n1,2\n3,\n");
    file("mark.csv", b"a,b\n1,2\n3,?\n");
    file("infinite.csv", b"a,b\n1,2\n3,inf\n");
    file("ragged.csv", b"a,b\n1,2\n3,4,5\n");
    file("twice.csv", b"a,a\n1,2\n");
    file("latin.csv", b"a,b\n1,2\n3,caf\xe9\n");
    file("latin-head.csv", b"caf\xe9,b\n1,2\n");
    file("semicolons.csv", b"a;b;kind\n1;2;x\n3;4;y\n");
    file("target-hole.csv", b"a,y\n1,2\n3,\n");
    file("cut.csv.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 75]);
    file("plain.csv.gz", b"a,b\n1,2\n");
    check(
        "text_that_holds_no_rows",
        &refusals(
            folder.path(),
            &[
                "fit nothing.csv --method kobl -o m.mercer",
                "fit . --method kobl -o m.mercer",
                "fit rows.xlsx --method kobl -o m.mercer",
                "fit rows --method kobl -o m.mercer",
                "fit empty.csv --method kobl -o m.mercer",
                "fit - --method kobl -o m.mercer",
                "fit head.csv --method kobl -o m.mercer",
                "fit hole.csv --method kobl --missing refuse -o m.mercer",
                "fit mark.csv --method kobl --missing refuse -o m.mercer",
                "fit infinite.csv --method kobl -o m.mercer",
                "fit ragged.csv --method kobl -o m.mercer",
                "fit twice.csv --method kobl -o m.mercer",
                "fit latin.csv --method kobl -o m.mercer",
                "fit latin-head.csv --method kobl -o m.mercer",
                "fit semicolons.csv --target kind --sep , --method kobl -o m.mercer",
                "fit target-hole.csv --target y --method kobl -o m.mercer",
                "fit cut.csv.gz --method kobl -o m.mercer",
                "fit plain.csv.gz --method kobl -o m.mercer",
                "fit train.csv --target kinds --method kobl -o m.mercer",
                "fit train.csv --target -9 --method kobl -o m.mercer",
                "fit train.csv --target kind --drop d --method kobl -o m.mercer",
                "fit train.csv --target kind --drop a,b,c --method kobl -o m.mercer",
            ],
        ),
    );
    check(
        "standard_input_that_holds_no_rows",
        &[
            refusal(folder.path(), "fit - --method kobl --missing refuse -o m.mercer", "a,b\n1,?\n"),
            refusal(folder.path(), "fit - --target y --sep , --method kobl -o m.mercer", "a;b;y\n1;2;3\n"),
        ]
        .join("\n"),
    );
}

#[test]
fn pairs_that_hold_no_rows() {
    let folder = folder();
    let file = |name: &str, bytes: &[u8]| write(folder.path(), name, bytes);
    file("unlabelled.svm", b"1:2 2:3\n");
    file("words.svm", b"1 1:2 two\n");
    file("zero.svm", b"1 0:2\n");
    file("wide.svm", b"1 99999999999:2\n");
    file("nan.svm", b"1 1:nan\n");
    file("twice.svm", b"1 3:1 3:2\n");
    file("latin.svm", b"1 1:\xe9\n");
    file("empty.svm", b"");
    file("labels.svm", b"1\n2\n");
    check(
        "pairs_that_hold_no_rows",
        &refusals(
            folder.path(),
            &[
                "fit unlabelled.svm --method kobl -o m.mercer",
                "fit words.svm --method kobl -o m.mercer",
                "fit zero.svm --method kobl -o m.mercer",
                "fit wide.svm --method kobl -o m.mercer",
                "fit nan.svm --method kobl -o m.mercer",
                "fit twice.svm --method kobl -o m.mercer",
                "fit latin.svm --method kobl -o m.mercer",
                "fit empty.svm --method kobl -o m.mercer",
                "fit labels.svm --method kobl -o m.mercer",
            ],
        ),
    );
}

/// An NPY array with this description.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let head = format!("{head:<117}\n");
    let length = u16::try_from(head.len()).expect("short").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], head.as_bytes(), data].concat()
}

/// An archive of arrays.
fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).expect("started");
        zip.write_all(bytes).expect("written");
    }
    zip.finish().expect("finished").into_inner()
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn arrays_that_hold_no_rows() {
    let folder = folder();
    let file = |name: &str, bytes: Vec<u8>| write(folder.path(), name, bytes);
    let matrix = || array("'<f8'", "(2, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0]));
    file("foreign.npy", b"a,b\n1,2\n".to_vec());
    file("head.npy", b"\x93NUMPY\x01\x00".to_vec());
    file("short.npy", array("'<f8'", "(3, 2)", &doubles(&[1.0, 2.0])));
    file("cube.npy", array("'<f8'", "(1, 1, 1)", &doubles(&[1.0])));
    file("objects.npy", array("'|O'", "(1, 1)", b""));
    file("complex.npy", array("'<c16'", "(1, 1)", &doubles(&[1.0, 2.0])));
    file("records.npy", array("[('a', '<f8')]", "(1,)", &doubles(&[1.0])));
    file("text.npy", array("'<U1'", "(1, 1)", &[97, 0, 0, 0]));
    file("huge.npy", array("'<f8'", "(9999999999, 9999999999)", b""));
    file("nan.npy", array("'<f8'", "(2, 1)", &doubles(&[1.0, f64::NAN])));
    file("none.npy", array("'<f8'", "(0, 2)", b""));
    file("foreign.npz", b"a,b\n1,2\n".to_vec());
    file("no-matrix.npz", archive(&[("a", array("'<f8'", "(1,)", &doubles(&[1.0])))]));
    file("no-target.npz", archive(&[("X", matrix())]));
    file("long-target.npz", archive(&[("X", matrix()), ("y", array("'<f8'", "(3,)", &doubles(&[0.0; 3])))]));
    file("wide-target.npz", archive(&[("X", matrix()), ("y", matrix())]));
    file("damaged.npz", archive(&[("X", b"nothing".to_vec())]));
    let whole = |values: &[i64]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let sparse = |format: &str, indptr: &[i64], indices: &[i64], shape: &[i64]| {
        let list = |values: &[i64]| array("'<i8'", &format!("({},)", values.len()), &whole(values));
        let (data, name) = (doubles(&vec![1.0; indices.len()]), format.as_bytes());
        archive(&[
            ("format", array(&format!("'|S{}'", name.len()), "()", name)),
            ("data", array("'<f8'", &format!("({},)", indices.len()), &data)),
            ("indices", list(indices)),
            ("indptr", list(indptr)),
            ("shape", list(shape)),
        ])
    };
    file("columns.npz", sparse("csc", &[0, 1], &[0], &[1, 1]));
    file("past.npz", sparse("csr", &[0, 5], &[0], &[1, 1]));
    file("few.npz", sparse("csr", &[0], &[0], &[1, 1]));
    file("outside.npz", sparse("csr", &[0, 1], &[7], &[1, 1]));
    file("negative.npz", sparse("csr", &[0, 1], &[-1], &[1, 1]));
    file("flat.npz", sparse("csr", &[0, 1], &[0], &[1]));
    file("wide.npz", sparse("csr", &[0, 1], &[0], &[1, 999_999_999_999]));
    check(
        "arrays_that_hold_no_rows",
        &refusals(
            folder.path(),
            &[
                "fit foreign.npy --method kobl -o m.mercer",
                "fit head.npy --method kobl -o m.mercer",
                "fit short.npy --method kobl -o m.mercer",
                "fit cube.npy --method kobl -o m.mercer",
                "fit objects.npy --method kobl -o m.mercer",
                "fit complex.npy --method kobl -o m.mercer",
                "fit records.npy --method kobl -o m.mercer",
                "fit text.npy --method kobl -o m.mercer",
                "fit huge.npy --method kobl -o m.mercer",
                "fit nan.npy --method kobl --missing refuse -o m.mercer",
                "fit none.npy --method kobl -o m.mercer",
                "fit foreign.npz --method kobl -o m.mercer",
                "fit no-matrix.npz --method kobl -o m.mercer",
                "fit no-target.npz --target y --method kobl -o m.mercer",
                "fit long-target.npz --target y --method kobl -o m.mercer",
                "fit wide-target.npz --target y --method kobl -o m.mercer",
                "fit damaged.npz --method kobl -o m.mercer",
                "fit columns.npz --method kobl -o m.mercer",
                "fit past.npz --method kobl -o m.mercer",
                "fit few.npz --method kobl -o m.mercer",
                "fit outside.npz --method kobl -o m.mercer",
                "fit negative.npz --method kobl -o m.mercer",
                "fit flat.npz --method kobl -o m.mercer",
                "fit wide.npz --method kobl -o m.mercer",
            ],
        ),
    );
}

#[test]
fn columnar_files_that_hold_no_rows() {
    let folder = folder();
    let file = |name: &str, bytes: &[u8]| write(folder.path(), name, bytes);
    fit(folder.path(), &["--n-components", "2", "-q"]);
    for ending in ["parquet", "arrow"] {
        let (words, cut) = (format!("words.{ending}"), format!("cut.{ending}"));
        done(folder.path(), &["transform", "model.mercer", "train.csv", "--keep", "kind", "-o", &words]);
        let whole = fs::read(folder.path().join(&words)).expect("a file");
        file(&cut, &whole[..whole.len() / 2]);
        file(&format!("foreign.{ending}"), b"a,b\n1,2\n");
        file(&format!("empty.{ending}"), b"");
    }
    file("old.arrow", b"FEA1 and so on");
    check(
        "columnar_files_that_hold_no_rows",
        &refusals(
            folder.path(),
            &[
                "fit words.parquet --target kind --drop kobl0,kobl1 --method kobl -o m.mercer",
                "fit words.parquet --target kinds --method kobl -o m.mercer",
                "fit cut.parquet --method kobl -o m.mercer",
                "fit foreign.parquet --method kobl -o m.mercer",
                "fit empty.parquet --method kobl -o m.mercer",
                "fit cut.arrow --method kobl -o m.mercer",
                "fit foreign.arrow --method kobl -o m.mercer",
                "fit empty.arrow --method kobl -o m.mercer",
                "fit old.arrow --method kobl -o m.mercer",
            ],
        ),
    );
}

#[test]
fn generators_that_make_no_rows() {
    let folder = folder();
    check(
        "generators_that_make_no_rows",
        &refusals(
            folder.path(),
            &[
                "fit synth:rings --method kobl -o m.mercer",
                "fit synth: --method kobl -o m.mercer",
                "fit 'synth:ringnorm?rows=20' --method kobl -o m.mercer",
                "fit 'synth:ringnorm?n=20&n=30' --method kobl -o m.mercer",
                "fit 'synth:ringnorm?n=few' --method kobl -o m.mercer",
                "fit 'synth:ringnorm?n=0' --method kobl -o m.mercer",
                "fit 'synth:blobs?classes=0' --method kobl -o m.mercer",
                "fit 'synth:moons?noise=-1' --method kobl -o m.mercer",
                "fit 'synth:friedman?p=4' --method kobl -o m.mercer",
                "fit 'synth:ringnorm?seed=-1' --method kobl -o m.mercer",
            ],
        ),
    );
}
