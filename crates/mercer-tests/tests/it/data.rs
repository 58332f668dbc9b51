//! Stage 1: what is written is read back, what is wrong is said, and no bytes make a reader panic.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray,
};
use arrow::datatypes::Int8Type;
use faer::{Mat, MatRef, mat};
use mercer::data::read::{EncodeMode, ReadOptions, read};
use mercer::data::synth::{GENERATORS, generate};
use mercer::data::write::{check_kept, check_output, write_csv, write_features};
use mercer::data::{Column, Labels, Table, Task};
use mercer::{Error, Rows};
use tempfile::TempDir;

const ENDINGS: [&str; 12] = [
    "csv", "csv.gz", "tsv", "tsv.gz", "parquet", "arrow", "ipc", "feather", "npy", "npz", "libsvm", "svm.gz",
];

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn within(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn target(name: &str) -> ReadOptions {
    ReadOptions { target: Some(name.into()), ..ReadOptions::default() }
}

fn columns(names: &[&str]) -> ReadOptions {
    ReadOptions { columns: Some(texts(names)), ..ReadOptions::default() }
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_string()).collect()
}

/// What reading these bytes under this name gives; an error without the folder it was in.
fn read_bytes(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, String> {
    let folder = folder();
    let path = within(&folder, name);
    std::fs::write(&path, bytes).expect("written");
    read(&path, options).map_err(|e| e.to_string().replace(&path, name))
}

fn csv(text: &str, options: &ReadOptions) -> Result<Table, String> {
    read_bytes("t.csv", text, options)
}

fn csv_error(text: &str, options: &ReadOptions) -> String {
    csv(text, options).expect_err("an error")
}

/// Numbers that are hard to print: the smallest, the largest, no short decimal.
fn hard_numbers() -> Mat<f64> {
    let hard =
        [0.1, -0.0, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, -1e16, 123_456_789.123_456_78, 2.0, 1e-5];
    Mat::from_fn(5, 2, |i, j| hard[2 * i + j])
}

fn bits(rows: &Rows) -> Vec<u64> {
    // A zero that is not stored has lost its sign.
    rows.to_dense().iter().map(|v| (v + 0.0).to_bits()).collect()
}

#[test]
fn every_format_gives_back_the_bits_it_was_given() {
    let folder = folder();
    let z = hard_numbers();
    for strided in [z.as_ref(), z.transpose().to_owned().transpose()] {
        for ending in ENDINGS {
            let path = within(&folder, &format!("z.{ending}"));
            write_features(&path, &texts(&["a", "b c"]), strided, &[]).expect(ending);
            let table = read(&path, &ReadOptions::default()).expect(ending);
            for memory in [0, 20, 1_000] {
                let options = ReadOptions { memory: Some(memory), ..ReadOptions::default() };
                assert_eq!(read(&path, &options).expect(ending), table, "{ending} with {memory} bytes");
            }
            assert_eq!(bits(&table.rows), bits(&Rows::from_mat(z.as_ref())), "{ending}");
            assert_eq!((table.rows.n(), table.rows.p()), (5, 2), "{ending}");
            if table.named {
                assert_eq!(table.names, ["a", "b c"], "{ending}");
            } else {
                assert_eq!(table.names, ["x1", "x2"], "{ending}");
            }
            assert_eq!(table.target, None, "{ending}");
        }
    }
    let left = std::fs::read_dir(folder.path()).expect("listed").count();
    assert_eq!(left, ENDINGS.len(), "temporary files remain");
}

#[test]
fn kept_columns_stand_before_the_features_with_their_own_types() {
    let folder = folder();
    let z = mat![[1.5], [2.5]];
    let kept = [
        ("id".to_string(), texts(&["7", "-8"])),
        ("size".to_string(), texts(&["1.0", "2.5"])),
        ("note".to_string(), texts(&["a, \"b\"", "007"])),
    ];
    for ending in ["csv", "tsv", "parquet", "arrow"] {
        let path = within(&folder, &format!("z.{ending}"));
        write_features(&path, &texts(&["z1"]), z.as_ref(), &kept).expect(ending);
        let options = ReadOptions { keep: texts(&["id", "size", "note"]), ..ReadOptions::default() };
        let table = read(&path, &options).expect(ending);
        let on_disk = ReadOptions { memory: Some(0), ..options };
        assert_eq!(read(&path, &on_disk).expect(ending), table, "{ending} in a file");
        assert_eq!(table.kept, kept, "{ending}");
        assert_eq!(
            table.names,
            ["id", "size", "z1"],
            "{ending}: kept numbers remain inputs, kept text does not"
        );
        assert_eq!(table.rows.to_dense(), [7.0, 1.0, 1.5, -8.0, 2.5, 2.5], "{ending}");
    }
    for (ending, expected) in
        [("npz", Column::Text(texts(&["yes", "no"]))), ("libsvm", Column::Text(texts(&["yes", "no"])))]
    {
        let path = within(&folder, &format!("z.{ending}"));
        let kept = [("target".to_string(), texts(&["yes", "no"]))];
        write_features(&path, &texts(&["z1"]), z.as_ref(), &kept).expect(ending);
        assert_eq!(read(&path, &target("target")).expect(ending).target, Some(expected), "{ending}");
    }
    let path = within(&folder, "integers.npz");
    write_features(&path, &texts(&["z1"]), z.as_ref(), &[("y".into(), texts(&["3", "4"]))]).expect("written");
    assert_eq!(read(&path, &target("y")).expect("read").target, Some(Column::Integers(vec![3, 4])));
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let folder = folder();
    let path = within(&folder, "z.libsvm");
    let kept = [("label".to_string(), texts(&["fine", "two words"]))];
    let error =
        write_features(&path, &texts(&["z1"]), mat![[1.0], [2.0]].as_ref(), &kept).expect_err("refused");
    assert!(error.to_string().contains("row 2: `two words` cannot be a LIBSVM label"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let folder = folder();
    let text = |result: mercer::Result<()>| result.expect_err("an error").to_string();
    assert!(text(check_output("z.xlsx")).contains("not a known format; use one of .csv, .tsv"));
    assert!(text(check_output("z")).contains("not a known format"));
    assert!(text(check_output(&within(&folder, "none/z.csv"))).contains("does not exist"));
    std::fs::create_dir(folder.path().join("d.csv")).expect("made");
    assert!(text(check_output(&within(&folder, "d.csv"))).contains("is a folder"));
    assert!(text(check_kept("z.npy", 1)).contains("NPY holds numbers only"));
    assert!(text(check_kept("z.svm", 2)).contains("room for one kept column"));
    let z: MatRef<f64> = MatRef::from_row_major_slice(&[1.0], 1, 1);
    let kept = [("z1".to_string(), texts(&["a"]))];
    let out = &mut Vec::new();
    assert!(text(write_csv(out, &texts(&["z1"]), z, &kept)).contains("two columns are called `z1`"));
    assert!(text(write_csv(out, &[], z, &[])).contains("0 names for 1 columns"));
    assert!(out.is_empty());
}

#[cfg(unix)]
#[test]
fn a_written_file_is_as_readable_as_any_other() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let (ours, plain) = (within(&folder, "z.csv"), within(&folder, "plain"));
    write_features(&ours, &texts(&["z1"]), mat![[1.0]].as_ref(), &[]).expect("written");
    std::fs::write(&plain, "").expect("written");
    let mode = |path: &str| std::fs::metadata(path).expect("there").permissions().mode();
    assert_eq!(mode(&ours), mode(&plain));
}

#[test]
fn quotes_line_ends_and_marks_of_csv_are_understood() {
    let text = "\u{feff}\"a,1\",b,kind\r\n1, 2 ,\"say \"\"hi\"\"\"\r\n\r\n3,4e0,\"two\nlines\"\r\n";
    let table = csv(text, &target("kind")).expect("read");
    assert_eq!(table.names, ["a,1", "b"]);
    assert_eq!(table.rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.target, Some(Column::Text(texts(&["say \"hi\"", "two\nlines"]))));
}

#[test]
fn a_header_is_detected_unless_told() {
    let with = |header| ReadOptions { header, ..ReadOptions::default() };
    let table = csv("1,2\n3,4\n", &with(None)).expect("read");
    assert_eq!((table.named, table.rows.n(), table.names), (false, 2, texts(&["x1", "x2"])));
    let table = csv("1,2\n3,4\n", &with(Some(true))).expect("read");
    assert_eq!((table.named, table.rows.n(), table.names), (true, 1, texts(&["1", "2"])));
    let table = csv("a,2\n3,4\n", &with(None)).expect("read");
    assert_eq!((table.named, table.rows.n()), (true, 1));
    let table = csv(",b\n3,4\n", &with(None)).expect("read");
    assert_eq!(table.names, ["x1", "b"], "an index column without a name");
    let no_header = ReadOptions { header: Some(false), ..target("-1") };
    let table = csv("a\nb\n", &no_header).map(|t| t.rows.n());
    assert!(table.is_err_and(|e| e.contains("no input columns are left")));
    let table = csv("5.1,3.5,setosa\n4.9,3.0,virginica\n", &target("-1")).expect("read");
    assert_eq!((table.named, table.rows.n()), (false, 2));
    assert_eq!(table.target, Some(Column::Text(texts(&["setosa", "virginica"]))));
}

#[test]
fn names_that_are_numbers_are_no_row() {
    // What pandas writes for `DataFrame(X)`, with and without its index.
    for (text, names) in [
        ("0,1,2\n0.5,1.5,2.5\n3.5,4.5,5.5\n", &["0", "1", "2"][..]),
        (",0,1\n0,1.5,2.5\n1,4.5,5.5\n", &["x1", "0", "1"]),
    ] {
        let table = csv(text, &ReadOptions::default()).expect("read");
        assert_eq!((table.named, table.rows.n(), &table.names[..]), (true, 2, &texts(names)[..]));
        assert!(table.notes[0].starts_with("the first line ("), "{:?}", table.notes);
        assert!(
            table.notes[0].ends_with("hint: if it is a row, say so (header = false)"),
            "{:?}",
            table.notes
        );
    }
    let told = ReadOptions { header: Some(false), ..ReadOptions::default() };
    assert_eq!(csv("0,1\n0.5,1.5\n", &told).expect("read").rows.n(), 2);
    let table = csv("0,1,2,y\n0.5,1.5,2.5,n\n3.5,4.5,5.5,m\n", &target("y")).expect("read");
    assert_eq!((table.rows.n(), table.names, table.notes), (2, texts(&["0", "1", "2"]), Vec::new()));
    // A column that the user names, unless it may be a place.
    let years = "2019,2020,2\n0.5,1.5,2.5\n3.5,4.5,5.5\n";
    let table = csv(years, &target("2020")).expect("read");
    assert_eq!((table.names, table.target), (texts(&["2019", "2"]), Some(Column::Numbers(vec![1.5, 4.5]))));
    assert_eq!(csv(years, &target("2")).expect("read").target, Some(Column::Numbers(vec![2020.0, 1.5, 4.5])));
    // The inputs of a model, in another order.
    let table = csv("7,5,6\n0.7,0.5,0.6\n", &columns(&["5", "6"])).expect("read");
    assert_eq!(table.rows.to_dense(), [0.5, 0.6]);
}

#[test]
fn a_first_row_of_whole_numbers_over_fractions_is_doubted() {
    let warnings = |text: &str| csv(text, &ReadOptions::default()).expect("read").warnings;
    assert_eq!(
        warnings("2019,2020,2021,2022\n0.5,1.5,2.5,3.5\n"),
        [
            "the first line (2019, 2020, 2021, …) was taken as a row, but it holds whole numbers, and most columns below it do \
          not\nhint: if it holds names, say so (header = true)"
        ]
    );
    for fine in ["5,3,1\n4,1,0\n", "5,3,1\n4.5,1,0\n", "5,5\n0.5,0.5\n", "5\n0.5\n"] {
        assert_eq!(warnings(fine), Vec::<String>::new(), "{fine}");
    }
    let told = ReadOptions { header: Some(false), ..ReadOptions::default() };
    assert_eq!(csv("2019,2020\n0.5,1.5\n", &told).expect("read").warnings, Vec::<String>::new());
}

#[test]
fn a_comment_or_a_line_for_excel_before_the_header_is_named() {
    let error = csv_error("# made by tool\na,b,y\n1,2,3\n", &target("y"));
    assert!(error.contains("there is no column `y`"), "{error}");
    assert!(
        error.ends_with("hint: the first line starts with `#`; if it is a comment, delete it"),
        "{error}"
    );
    let error = csv_error("# made by tool\na,b,y\n1,2,3\n", &ReadOptions::default());
    assert!(error.contains("line 2 has 3 fields, but") && error.contains("if it is a comment"), "{error}");
    let error = csv_error("sep=;\na;b;y\n1;2;3\n", &target("y"));
    assert!(error.ends_with("hint: the first line starts with `sep=`, which only Excel reads; delete it"));
}

#[test]
fn booleans_that_were_numbers_when_a_model_was_fitted_are_numbers_as_text() {
    let table = csv("flag,a\nTrue,1\nFALSE,2\n", &columns(&["flag", "a"])).expect("read");
    assert_eq!(table.rows.to_dense(), [1.0, 1.0, 0.0, 2.0]);
    let error = csv_error("flag,a\nTrue,1\nno,2\n", &columns(&["flag", "a"]));
    assert!(error.contains("column `flag` holds text (`no` at row 2)"), "{error}");
}

#[test]
fn a_missing_target_is_counted_and_not_called_a_number() {
    let error = csv_error("a,y\n1,\n2,yes\n3,NA\n", &target("y"));
    assert_eq!(
        error,
        "t.csv: the target `y` is missing in 2 of 3 rows, first at row 1; every row needs one\n\
         hint: fill in these cells, or take these rows out of the file"
    );
    let a: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]));
    let targets: [ArrayRef; 3] = [
        Arc::new(StringArray::from(vec![Some("u"), None, None])),
        Arc::new(Int32Array::from(vec![Some(1), None, None])),
        Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::NAN)])),
    ];
    for y in targets {
        let batch = RecordBatch::try_from_iter([("a", a.clone()), ("y", y)]).expect("a batch");
        let mut parquet =
            parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
        parquet.write(&batch).expect("written");
        let error = read_bytes("t.parquet", parquet.into_inner().expect("whole"), &target("y"));
        let error = error.expect_err("refused");
        assert!(error.contains("the target `y` is missing in 2 of 3 rows, first at row 2"), "{error}");
    }
}

#[test]
fn gaps_stay_gaps_where_columns_are_kept_as_they_are() {
    let keep = |names: &[&str]| ReadOptions { encode: EncodeMode::Keep, ..columns(names) };
    let table = csv("a,b,kind,ok\n1,,x,yes\nn/a,2,y,\n3,4,x,no\n", &keep(&["b", "a", "ok"])).expect("read");
    let values = table.rows.to_dense();
    assert_eq!(
        values.iter().map(|v| v.is_nan()).collect::<Vec<_>>()[..6],
        [true, false, false, false, true, true]
    );
    assert_eq!(values[6..], [4.0, 3.0, 0.0]);
    assert_eq!(table.notes, ["3 values are missing (`b` 1, `a` 1, `ok` 1); they stay missing"]);
    assert!(table.encoder.is_none());
    let error = csv_error("a,b\n1,2\n3,no\n", &keep(&["a", "b"]));
    assert!(error.contains("column `b` holds `no` at row 2, but it held numbers"), "{error}");
}

#[test]
fn a_target_is_found_by_name_and_by_place() {
    let text = "a,b,c\n1,2,3\n4,5,6\n";
    let numbers = |name: &str| csv(text, &target(name)).expect("read").target;
    assert_eq!(numbers("b"), Some(Column::Numbers(vec![2.0, 5.0])));
    assert_eq!(numbers("-1"), Some(Column::Numbers(vec![3.0, 6.0])));
    assert_eq!(numbers("-3"), Some(Column::Numbers(vec![1.0, 4.0])));
    assert_eq!(csv_error(text, &target("d")), "t.csv: there is no column `d`; the columns are `a`, `b`, `c`");
    assert!(csv_error(text, &target("-4")).contains("there is no column `-4`"));
    assert!(csv_error(text, &target("1")).contains("there is no column `1`"), "names are there to be used");
    let unnamed = csv("1,2\n3,4\n", &target("1")).expect("read");
    assert_eq!(unnamed.target, Some(Column::Numbers(vec![1.0, 3.0])));
    assert_eq!(unnamed.names, ["x2"]);
    let wide = (1..20).map(|j| format!("gene{j}")).collect::<Vec<_>>().join(",") + ",Target\n";
    let wide = wide.clone() + &wide.replace(|c: char| c != ',' && c != '\n', "1");
    assert!(csv_error(&wide, &target("tarket")).contains("the closest of 20 columns are `Target`, "));
}

#[test]
fn a_number_target_in_text_keeps_its_numbers_and_a_mixed_one_its_texts() {
    assert_eq!(
        csv("a,y\n1,1.0\n2,007\n", &target("y")).expect("read").target,
        Some(Column::Numbers(vec![1.0, 7.0]))
    );
    let mixed = csv("a,y\n1,1.0\n2,007\n3,x\n", &target("y")).expect("read").target;
    assert_eq!(mixed, Some(Column::Text(texts(&["1.0", "007", "x"]))));
}

#[test]
fn missing_and_infinite_values_are_named_by_row_and_column() {
    for value in ["", "NA", "NaN", "nan", "null", "?"] {
        let error = csv_error(&format!("a,b\n1,2\n3,{value}\n"), &ReadOptions::default());
        assert!(error.contains("a value is missing") && error.contains("at row 2, column `b`"), "{error}");
        assert!(error.ends_with("hint: fill or drop such rows first"), "{error}");
        let error = csv_error(&format!("a,b\n1,2\n3,{value}\n"), &target("b"));
        assert!(error.contains("the target `b` is missing in 1 of 2 rows, at row 2; every row"), "{error}");
    }
    for value in ["inf", "-Infinity", "1e999"] {
        for options in [ReadOptions::default(), target("b")] {
            let error = csv_error(&format!("a,b\n1,2\n3,{value}\n"), &options);
            assert!(error.contains("inf at row 2, column `b`; only finite"), "{error}");
        }
    }
}

#[test]
fn a_dropped_column_may_hold_anything() {
    let options = ReadOptions { drop: texts(&["b"]), ..ReadOptions::default() };
    let table = csv("a,b,c\n1,,3\n4,x,6\n", &options).expect("read");
    assert_eq!((table.names, table.rows.to_dense()), (texts(&["a", "c"]), vec![1.0, 3.0, 4.0, 6.0]));
    let options = ReadOptions { drop: texts(&["z"]), ..ReadOptions::default() };
    assert!(csv_error("a,b\n1,2\n", &options).contains("there is no column `z`"));
}

#[test]
fn text_inputs_are_refused_together_with_the_way_out() {
    let error = csv_error("a,city,b,name\n1,Paris,2,Ann\n", &ReadOptions::default());
    assert_eq!(
        error,
        "t.csv: columns `city`, `name` hold text (`Paris` at row 1), but an input must be a number\n\
         hint: ignore these columns (drop = city,name), or encode them as numbers"
    );
}

#[test]
fn broken_text_files_are_reported_by_line() {
    let all = ReadOptions::default();
    assert!(
        csv_error("a,b\n1,2\n\"3\n\",4\n5\n", &all).contains("line 5 has 1 fields"),
        "a quoted line end counts"
    );
    assert_eq!(
        csv_error("a,b\n1,2\n3,4,5\n", &all),
        "t.csv: line 3 has 3 fields, but the first line has 2; every line needs as many"
    );
    for end in ["\n", "\r\n"] {
        for blank in [0, 2] {
            for last in ["", end] {
                let text = ["a,b", end, "1,\"2\n\"", &end.repeat(1 + blank), "3,4", end, "5", last].concat();
                let (error, line) = (csv_error(&text, &all), 5 + blank);
                let exact = blank == 0 || last == end;
                assert!(error.contains(&format!("line {line} has 1 fields")) || !exact, "{text:?}: {error}");
            }
        }
    }
    assert!(csv_error("", &all).contains("the file is empty"));
    assert!(csv_error("\n\n", &all).contains("the file is empty"));
    assert!(csv_error("a,b\n", &all).contains("there are no rows below the header"));
    assert!(csv_error("a,b,a\n1,2,3\n", &all).contains("two columns are called `a`"));
    assert!(csv_error("a\n1\n", &target("a")).contains("no input columns are left"));
    let latin = read_bytes("t.csv", b"a,y\n1,caf\xe9\n", &target("y")).expect_err("not UTF-8");
    assert!(latin.contains("line 2 is not UTF-8"), "{latin}");
    let plain = read_bytes("t.csv.gz", "a,b\n1,2\n", &all).expect_err("not gzip");
    assert!(plain.contains("cannot be read to its end"), "{plain}");
}

#[test]
fn what_is_not_there_or_not_known_is_said() {
    let folder = folder();
    let all = ReadOptions::default();
    assert!(matches!(read(&within(&folder, "none.csv"), &all), Err(Error::Io { .. })));
    let error = read("rows.xlsx", &all).expect_err("unknown").to_string();
    assert!(
        error.starts_with("rows.xlsx: the file extension is not a known format; use one of .csv"),
        "{error}"
    );
    std::fs::create_dir(folder.path().join("d.csv")).expect("made");
    assert!(read(&within(&folder, "d.csv"), &all).expect_err("a folder").to_string().contains("is a folder"));
}

#[test]
fn wanted_columns_come_by_name_in_their_order() {
    let text = "c,y,b,a\n3,yes,2,1\n6,no,5,4\n";
    let table = csv(text, &columns(&["a", "b", "c"])).expect("the text column y is not wanted");
    assert_eq!(table.rows.to_dense(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(table.names, ["a", "b", "c"]);
    let error = csv_error(text, &columns(&["a", "d"]));
    assert_eq!(error, "t.csv: column `d` is missing; the columns are `c`, `y`, `b`, `a`");
    let error = csv_error(text, &ReadOptions { drop: texts(&["a"]), ..columns(&["a", "b"]) });
    assert!(error.contains("column `a` is dropped, but it is needed"), "{error}");
    let kept = csv(text, &ReadOptions { keep: texts(&["y", "a"]), ..columns(&["b", "a"]) }).expect("read");
    assert_eq!(kept.kept, [("y".into(), texts(&["yes", "no"])), ("a".into(), texts(&["1", "4"]))]);
    assert_eq!(kept.rows.to_dense(), [2.0, 1.0, 5.0, 4.0]);
}

#[test]
fn without_names_the_first_columns_are_taken_if_the_count_fits() {
    let two = columns(&["u", "v"]);
    assert_eq!(csv("1,2\n3,4\n", &two).expect("equal").rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
    let trailing = csv("1,2,yes\n3,4,no\n", &two).expect("a trailing target");
    assert_eq!(trailing.rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        csv_error("1,2,3,4\n5,6,7,8\n", &two),
        "t.csv: 2 input columns are needed (or one more, a target at the end), but there are 4, and no names to go by"
    );
    let by_place = ReadOptions { by_place: true, ..two.clone() };
    assert_eq!(csv("a,b\n1,2\n3,4\n", &by_place).expect("by place").rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
    let known = ReadOptions { target: Some("1".into()), ..two };
    assert_eq!(csv("9,1,2\n9,3,4\n", &known).expect("target first").rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
    assert!(csv_error("1,2,3,4\n5,6,7,8\n", &known).contains("2 input columns are needed, but there are 3"));
}

#[test]
fn kept_columns_keep_their_exact_text() {
    let options = ReadOptions { keep: texts(&["id", "a"]), ..ReadOptions::default() };
    let table = csv("id,a,b\nx 1,1.50,2\n,3,4\n", &options).expect("read");
    assert_eq!(table.kept, [("id".into(), texts(&["x 1", ""])), ("a".into(), texts(&["1.50", "3"]))]);
    assert_eq!((table.names, table.rows.to_dense()), (texts(&["a", "b"]), vec![1.5, 2.0, 3.0, 4.0]));
    let error = csv_error("id,a\n,1\n2,3\n", &ReadOptions { keep: texts(&["id"]), ..ReadOptions::default() });
    assert!(error.contains("a value is missing at row 1, column `id`"), "{error}");
}

#[test]
fn libsvm_rows_are_sparse_and_count_from_one() {
    let text = "+1 3:0.5 1:2 # a comment\n\n# only a comment\n-1 qid:7 2:-1e-3\r\n";
    let table = read_bytes("t.svm", text, &target("whatever")).expect("read");
    assert!(table.rows.is_sparse());
    assert_eq!(table.rows.to_dense(), [2.0, 0.0, 0.5, 0.0, -1e-3, 0.0]);
    assert_eq!(table.target, Some(Column::Numbers(vec![1.0, -1.0])));
    assert_eq!(read_bytes("t.svm", text, &ReadOptions::default()).expect("read").target, None);
    let wider =
        read_bytes("t.svm", text, &columns(&["x1", "x2", "x3", "x4"])).expect("absent columns are zero");
    assert_eq!(wider.rows.to_dense(), [2.0, 0.0, 0.5, 0.0, 0.0, -1e-3, 0.0, 0.0]);
    let error = |text: &str, options: &ReadOptions| read_bytes("t.svm", text, options).expect_err("an error");
    let all = ReadOptions::default();
    assert!(error(text, &columns(&["x1", "x2"])).contains("2 input columns are needed, but there are 3"));
    assert!(error("1 0:5\n", &all).contains("line 1: `0` is not an index; indices count from 1"));
    assert!(error("1 0:5\n", &all).contains("hint: scikit-learn's `dump_svmlight_file` writes them from 1"));
    assert!(!error("1 -1:5\n", &all).contains("hint"));
    let notes = |name: &str| read_bytes("t.svm", text, &target(name)).expect("read").notes;
    assert_eq!(notes("whatever"), ["the target is the label of each line: no column is called `whatever`"]);
    assert!(notes("target").is_empty() && notes("x2").is_empty());
    assert!(error("1 2:5 2:6\n", &all).contains("index 2 is given twice"));
    assert!(error("1 2:nan\n", &all).contains("column 2 holds `nan`"));
    assert!(error("1 2\n", &all).contains("`2` is not a pair"));
    assert!(error("1:2\n", &all).contains("must start with a label"));
    assert!(error("1 4000000000:1\n", &all).contains("is not an index"));
    assert!(error("", &all).contains("there are no rows"));
    let chosen = ReadOptions { drop: texts(&["x1"]), keep: texts(&["target", "x3"]), ..target("x2") };
    let table = read_bytes("t.svm", text, &chosen).expect("read");
    assert_eq!((table.names, table.rows.to_dense()), (texts(&["x3"]), vec![0.5, 0.0]));
    assert_eq!(table.target, Some(Column::Numbers(vec![0.0, -1e-3])));
    assert_eq!(table.kept, [("target".into(), texts(&["1", "-1"])), ("x3".into(), texts(&["0.5", "0"]))]);
}

#[test]
fn npy_has_its_target_among_its_columns() {
    let folder = folder();
    let path = within(&folder, "m.npy");
    write_features(&path, &texts(&["a", "b"]), mat![[1.0, 0.5], [2.0, 1.5]].as_ref(), &[]).expect("written");
    let table = read(&path, &target("-1")).expect("read");
    assert_eq!((table.target, table.named), (Some(Column::Numbers(vec![0.5, 1.5])), false));
    assert_eq!(table.rows.to_dense(), [1.0, 2.0]);
    assert_eq!(read(&path, &target("x1")).expect("read").names, ["x2"]);
    let error = read(&path, &target("3")).expect_err("two columns").to_string();
    assert!(error.contains("there is no column `3`; the columns are `x1`, `x2`"), "{error}");
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n";
    let length = [header.len() as u8, 0];
    let bytes = [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), &[1, 7, 2, 8]].concat();
    let integers = read_bytes("u.npy", bytes, &target("2")).expect("read");
    assert_eq!(integers.target, Some(Column::Integers(vec![7, 8])));
    write_features(&path, &texts(&["a"]), mat![[1.0], [f64::NAN]].as_ref(), &[]).expect("written");
    let error = read(&path, &ReadOptions::default()).expect_err("NaN").to_string();
    assert!(error.contains("NaN at row 2, column 1 (`x1`)"), "{error}");
}

#[test]
fn npz_without_a_target_says_what_it_has() {
    let folder = folder();
    let path = within(&folder, "m.npz");
    write_features(&path, &texts(&["a"]), mat![[1.0]].as_ref(), &[("id".into(), texts(&["u"]))])
        .expect("written");
    let error = read(&path, &target("target")).expect_err("no target").to_string();
    assert!(error.contains("there is no array `target` or `y`; the arrays are `X`, `id`"), "{error}");
}

/// A table of every kind of column that has its own treatment.
fn mixed_batch() -> RecordBatch {
    let columns: [(&str, ArrayRef); 5] = [
        ("number", Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5]))),
        ("integer", Arc::new(Int32Array::from(vec![3, 1, 2]))),
        ("truth", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("text", Arc::new(StringArray::from(vec!["u", "v", "w"]))),
        ("kind", Arc::new(["a", "b", "a"].into_iter().collect::<DictionaryArray<Int8Type>>())),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

fn mixed_files() -> Vec<(&'static str, Vec<u8>)> {
    let batch = mixed_batch();
    let mut file = arrow::ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    file.write(&batch).expect("written");
    let mut stream =
        arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    stream.write(&batch).expect("written");
    let mut parquet =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    parquet.write(&batch).expect("written");
    vec![
        ("t.arrow", file.into_inner().expect("whole")),
        ("t.ipc", stream.into_inner().expect("whole")),
        ("t.parquet", parquet.into_inner().expect("whole")),
    ]
}

#[test]
fn types_of_columnar_files_decide_what_a_target_is() {
    for (name, bytes) in mixed_files() {
        let with = |target: &str, drop: &[&str]| {
            read_bytes(
                name,
                &bytes,
                &ReadOptions { target: Some(target.into()), drop: texts(drop), ..Default::default() },
            )
        };
        let table = with("text", &["kind"]).expect(name);
        assert_eq!(table.target, Some(Column::Text(texts(&["u", "v", "w"]))), "{name}");
        assert_eq!(table.names, ["number", "integer", "truth"], "{name}");
        assert_eq!(table.rows.to_dense(), [0.5, 3.0, 1.0, 1.5, 1.0, 0.0, 2.5, 2.0, 1.0], "{name}");
        assert_eq!(with("kind", &["text"]).expect(name).target, Some(Column::Text(texts(&["a", "b", "a"]))));
        let truth = with("truth", &["text", "kind"]).expect(name).target;
        assert_eq!(truth, Some(Column::Text(texts(&["true", "false", "true"]))), "{name}");
        let integer = with("integer", &["text", "kind"]).expect(name).target;
        assert_eq!(integer, Some(Column::Integers(vec![3, 1, 2])), "{name}");
        let number = with("number", &["text", "kind"]).expect(name).target;
        assert_eq!(number, Some(Column::Numbers(vec![0.5, 1.5, 2.5])), "{name}");
        let error = with("number", &[]).expect_err("text inputs");
        assert!(error.contains("columns `text`, `kind` hold values of the type Utf8"), "{name}: {error}");
        assert!(error.contains("(drop = text,kind)"), "{name}: {error}");
        let wanted = ReadOptions { keep: texts(&["kind", "integer"]), ..columns(&["truth", "number"]) };
        let table = read_bytes(name, &bytes, &wanted).expect(name);
        assert_eq!(table.rows.to_dense(), [1.0, 0.5, 0.0, 1.5, 1.0, 2.5], "{name}");
        assert_eq!(table.kept[0], ("kind".into(), texts(&["a", "b", "a"])), "{name}");
        assert_eq!(table.kept[1], ("integer".into(), texts(&["3", "1", "2"])), "{name}");
    }
}

#[test]
fn nulls_of_columnar_files_are_named_by_row_and_column() {
    let column: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None]));
    let batch = RecordBatch::try_from_iter([("a", column)]).expect("a batch");
    let mut parquet =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    parquet.write(&batch).expect("written");
    parquet.write(&batch).expect("written");
    let error = read_bytes("t.parquet", parquet.into_inner().expect("whole"), &ReadOptions::default());
    let error = error.expect_err("a null");
    assert!(error.contains("a value is missing at row 2, column `a`"), "{error}");
}

#[test]
fn every_format_tells_that_a_file_is_not_its_own() {
    for ending in ENDINGS.iter().filter(|e| !e.starts_with("csv") && !e.starts_with("tsv")) {
        let error =
            read_bytes(&format!("t.{ending}"), "a,b\n1,2\n", &ReadOptions::default()).expect_err(ending);
        assert!(error.starts_with(&format!("t.{ending}: ")), "{error}");
    }
}

/// A short list of numbers that looks random and is the same every time.
fn scatter(count: usize, below: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    })
    .take(count)
}

#[test]
fn damaged_files_of_every_format_give_a_table_or_an_error_but_no_panic() {
    let folder = folder();
    let z = hard_numbers();
    let written = ENDINGS.map(|ending| {
        let path = within(&folder, &format!("z.{ending}"));
        let kept = if ending == "npy" {
            vec![]
        } else {
            vec![("target".to_string(), texts(&["a", "b", "c", "d", "e"]))]
        };
        write_features(&path, &texts(&["u", "v"]), z.as_ref(), &kept).expect(ending);
        (format!("t.{ending}"), std::fs::read(&path).expect("read"))
    });
    let mixed = mixed_files().into_iter().map(|(name, bytes)| (name.to_string(), bytes));
    let options = ReadOptions { target: Some("-1".into()), ..ReadOptions::default() };
    let mut refused = 0;
    let mut panicked = Vec::new();
    for (name, bytes) in written.into_iter().chain(mixed) {
        let path = within(&folder, &name);
        let mut attempt = |damaged: &[u8]| {
            // A file that is written over is flushed to the disk by some file systems; a new one is not.
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, damaged).expect("written");
            match std::panic::catch_unwind(|| read(&path, &options)) {
                Ok(result) => refused += usize::from(result.is_err()),
                Err(_) => panicked.push(name.clone()),
            }
        };
        for length in (0..bytes.len()).step_by((bytes.len() / 100).max(1)) {
            attempt(&bytes[..length]);
        }
        for (at, value) in scatter(300, bytes.len()).zip(scatter(301, 256).skip(1)) {
            let mut damaged = bytes.clone();
            damaged[at] = value as u8;
            attempt(&damaged);
            let end = (at + 8).min(damaged.len());
            damaged[at..end].fill(0xff);
            attempt(&damaged);
        }
        let garbage: Vec<u8> = scatter(500, 256).map(|v| v as u8).collect();
        attempt(&garbage);
        attempt(&[&bytes[..bytes.len().min(8)], &garbage].concat());
    }
    assert!(panicked.is_empty(), "{panicked:?}");
    assert!(refused > 1000, "only {refused} damaged files were refused");
}

#[test]
fn every_shared_data_set_is_read_as_its_manifest_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let manifest = folder.join("MANIFEST.csv");
    let Ok(mut manifest) = csv::Reader::from_path(&manifest) else {
        eprintln!(
            "skipped: there is no {}, the list of data sets outside the repository",
            manifest.display()
        );
        return;
    };
    let mut seen = 0;
    for record in manifest.records().map(|r| r.expect("a record")) {
        let (name, n, p, c) = (&record[0], &record[1], &record[2], &record[3]);
        let table = read(&folder.join(name).display().to_string(), &target("target")).expect(name);
        assert_eq!((table.rows.n().to_string(), table.rows.p().to_string()), (n.into(), p.into()), "{name}");
        let labels = Labels::decide(table.target.expect("a target"), Task::Auto).expect(name);
        let read_as = labels.n_classes().map_or_else(|| "regression".to_string(), |c| c.to_string());
        assert_eq!(read_as, c, "{name}");
        assert_eq!(table.rows.is_sparse(), name.ends_with("npz"), "{name}");
        seen += 1;
    }
    assert!(seen > 0);
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

/// Mean and variance of column j over the rows of a class.
fn moments(table: &Table, class: i64, j: usize) -> (f64, f64) {
    let Some(Column::Integers(codes)) = &table.target else { panic!("classes") };
    let (values, p) = (table.rows.to_dense(), table.rows.p());
    let column =
        codes.iter().zip(values.chunks_exact(p)).filter(|(c, _)| **c == class).map(|(_, row)| row[j]);
    let m = mean(column.clone());
    (m, mean(column.map(|v| (v - m).powi(2))))
}

#[test]
fn every_generator_is_the_same_for_the_same_seed_and_finite() {
    for generator in GENERATORS {
        let table = generate(&format!("{}?n=40&seed=3", generator.name)).expect(generator.name);
        assert_eq!(table.rows.n(), 40);
        assert_eq!(table.target.as_ref().map(Column::len), Some(40));
        assert!(table.named && table.names[0] == "x1" && table.names.len() == table.rows.p());
        table.rows.check_finite(None).expect(generator.name);
        assert_eq!(table, generate(&format!("{}?seed=3&n=40", generator.name)).expect(generator.name));
        assert_ne!(table, generate(&format!("{}?seed=4&n=40", generator.name)).expect(generator.name));
        let read = read(&format!("synth:{}?n=40&seed=3", generator.name), &ReadOptions::default());
        assert_eq!(table, read.expect("read"), "its target is always given");
        assert_eq!(generate(generator.name).expect("defaults").rows.n(), 1000);
    }
}

#[test]
fn breimans_normals_have_their_moments() {
    // 20 000 rows a class: 6 standard errors of a mean are below 0.09, of a variance below 0.25.
    let a = 2.0 / 20f64.sqrt();
    for (spec, expected) in
        [("ringnorm?n=40000", [(0.0, 4.0), (a, 1.0)]), ("twonorm?n=40000", [(a, 1.0), (-a, 1.0)])]
    {
        let table = generate(spec).expect(spec);
        for (class, (m, v)) in (0..).zip(expected) {
            for j in [0, 19] {
                let (mean, variance) = moments(&table, class, j);
                assert!((mean - m).abs() < 0.09, "{spec} {class}: mean {mean}");
                assert!((variance - v).abs() < 0.25, "{spec} {class}: variance {variance}");
            }
        }
    }
}

#[test]
fn waveform_peaks_where_two_waves_meet() {
    let table = generate("waveform?n=30000&seed=1").expect("made");
    // Column 11 is the top of wave 1 (6), where waves 2 and 3 are at 2; u is uniform, so classes 0, 1 average 4.
    for (class, expected) in [(0, 4.0), (1, 4.0), (2, 2.0)] {
        assert!((moments(&table, class, 10).0 - expected).abs() < 0.1, "class {class}");
        let (_, edge) = moments(&table, class, 0);
        assert!((edge - 1.0).abs() < 0.1, "column 1 is noise alone, but for wave 3: {edge}");
    }
}

#[test]
fn twin_sine_has_the_noise_its_snr_asks_for() {
    for (snr, noise) in [(0.0, 1.0), (20.0, 0.1), (-6.020_599_913, 2.0)] {
        let table = generate(&format!("twin-sine?n=20000&p=0&snr={snr}")).expect("made");
        let Some(Column::Integers(y)) = &table.target else { panic!("classes") };
        let values = table.rows.to_dense();
        let rest = y.iter().zip(values.chunks_exact(3)).map(|(y, x)| x[1] - x[0].sin() - f64::from(*y == 1));
        let m = mean(rest.clone());
        let deviation = mean(rest.map(|v| (v - m).powi(2))).sqrt();
        assert!((deviation / noise - 1.0).abs() < 0.04, "{snr} dB: {deviation}");
        assert!(y.iter().all(|y| y.abs() == 1));
    }
    assert_eq!(generate("twin-sine?n=5").expect("made").rows.p(), 10);
}

#[test]
fn swiss_roll_has_its_angle_as_its_radius() {
    let table = generate("swiss-roll?n=200").expect("made");
    let Some(Column::Numbers(t)) = &table.target else { panic!("numbers") };
    for (t, x) in t.iter().zip(table.rows.to_dense().chunks_exact(3)) {
        assert!((x[0].hypot(x[1]) - t).abs() < 1e-12 && (0.0..2.0).contains(&x[2]));
    }
    let cut = generate("swiss-roll?n=200&classes=2").expect("made");
    let classes = t.iter().map(|t| i64::from(*t >= std::f64::consts::TAU)).collect();
    assert_eq!((cut.target, cut.rows), (Some(Column::Integers(classes)), table.rows));
}

#[test]
fn friedman_without_noise_is_its_formula() {
    let table = generate("friedman?n=50&noise=0&p=7").expect("made");
    let Some(Column::Numbers(y)) = &table.target else { panic!("numbers") };
    for (y, x) in y.iter().zip(table.rows.to_dense().chunks_exact(7)) {
        let f = 10.0 * (std::f64::consts::PI * x[0] * x[1]).sin()
            + 20.0 * (x[2] - 0.5).powi(2)
            + 10.0 * x[3]
            + 5.0 * x[4];
        assert!((y - f).abs() < 1e-12);
    }
}

#[test]
fn moons_and_blobs_have_the_shape_that_is_asked_for() {
    let moons = generate("moons?n=100&noise=0").expect("made");
    let Some(Column::Integers(codes)) = &moons.target else { panic!("classes") };
    for (class, x) in codes.iter().zip(moons.rows.to_dense().chunks_exact(2)) {
        let centre = if *class == 0 { [0.0, 0.0] } else { [1.0, 0.5] };
        assert!(((x[0] - centre[0]).hypot(x[1] - centre[1]) - 1.0).abs() < 1e-12);
    }
    let blobs = generate("blobs?n=6000&classes=4&p=3&noise=0.5").expect("made");
    for class in 0..4 {
        assert!((moments(&blobs, class, 2).1 - 0.25).abs() < 0.05);
    }
}

#[test]
fn a_generator_that_is_not_understood_lists_what_is_allowed() {
    let error = |spec: &str| generate(spec).expect_err(spec).to_string();
    assert!(
        error("ring")
            .starts_with("there is no generator `ring`; use one of ringnorm, twonorm, waveform, twin-sine")
    );
    assert_eq!(error("moons?noize=1"), "moons has no parameter `noize`; it takes n, seed, noise");
    assert_eq!(
        error("moons?n=0"),
        "moons: n = `0`, but it must be a whole number of at least 1, as in `n=1000`"
    );
    assert_eq!(
        error("moons?noise=-1"),
        "moons: noise = `-1`, but it must be a number of at least 0, as in `noise=0.1`"
    );
    assert!(error("moons?noise=inf").contains("must be a number"));
    assert!(error("moons?n").contains("n = ``"));
    assert!(error("moons?n=5&n=6").contains("`n` is set twice"));
    assert!(error("friedman?p=4").contains("at least 5"));
    assert!(error("moons?n=1152921504606846976").contains("do not fit into memory"));
    assert!(read("synth:ring", &ReadOptions::default()).is_err());
}
