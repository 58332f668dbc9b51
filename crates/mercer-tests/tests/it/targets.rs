//! Classes or numbers: the table of border cases, as columns and from files of every format.

mod table;

use std::fmt::Display;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt64Array,
};
use arrow::datatypes::Int16Type;
use mercer::Result;
use mercer::data::read::{ReadOptions, read};
use mercer::data::{Column, Labels, Task};
use table::{Case, cases};

/// What a column was read as, in the table's words, and the warnings.
fn reading(column: Column, task: &str) -> (String, Vec<String>) {
    let mut warnings = Vec::new();
    let labels: Result<Labels> =
        task.parse::<Task>().and_then(|task| Labels::decide_with(column, task, &mut warnings));
    let read_as = match labels {
        Ok(Labels::Numbers(_)) => "numbers".into(),
        Ok(Labels::Several { .. }) => unreachable!("a column is one target"),
        Ok(Labels::Classes { names, .. }) => format!("{} classes", names.len()),
        Err(_) => "error".into(),
    };
    (read_as, warnings)
}

fn check(case: &Case, form: &str, column: Column) {
    let name = case.name;
    let (read_as, warnings) = reading(column, case.task);
    assert_eq!(read_as, case.read_as, "{name}, {form}");
    assert_eq!(warnings.len(), usize::from(case.warns), "{name}, {form}: {warnings:?}");
    for text in warnings {
        let other = if read_as == "numbers" { "classification" } else { "regression" };
        assert!(text.starts_with(&format!("the target was read as {read_as}: ")), "{name}, {form}: {text}");
        assert!(text.ends_with(&format!("(task = {other})")), "{name}, {form}: {text}");
    }
}

fn integers(case: &Case) -> Vec<i64> {
    case.values.iter().map(|v| v.parse().expect("an integer")).collect()
}

fn floats(case: &Case) -> Vec<f64> {
    case.values.iter().map(|v| v.parse().expect("a number")).collect()
}

#[test]
fn columns_are_read_as_the_table_says() {
    for case in cases() {
        match case.kind {
            "whole" => {
                check(&case, "integers", Column::Integers(integers(&case)));
                check(&case, "floats", Column::Numbers(floats(&case)));
            }
            "fraction" => check(&case, "floats", Column::Numbers(floats(&case))),
            "bool" | "text" => check(&case, "text", Column::Text(case.values.clone())),
            kind => panic!("{kind}"),
        }
    }
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    for case in cases().iter().filter(|case| case.kind == "whole") {
        let mut values = integers(case);
        values.reverse();
        let middle = values.len() / 3;
        values.rotate_left(middle);
        check(case, "another order", Column::Integers(values));
    }
}

/// A text file of one input and the target.
fn lines<T: Display>(head: &str, targets: &[T], line: impl Fn(usize, &T) -> String) -> Vec<u8> {
    let lines: Vec<String> = targets.iter().enumerate().map(|(i, v)| line(i % 9, v)).collect();
    format!("{head}{}\n", lines.join("\n")).into_bytes()
}

/// A file of one input and the target, in every format that has such a type.
fn files(case: &Case) -> Vec<(&'static str, Vec<u8>)> {
    let mut files: Vec<(&'static str, Vec<u8>)> = Vec::new();
    // In a text file, numbers as text are numbers.
    if case.kind != "text" || !case.is_numeric() {
        files.push(("t.csv", lines("x,y\n", &case.values, |x, v| format!("{x},{v}"))));
        files.push(("t.libsvm", lines("", &case.values, |x, v| format!("{v} 1:{}", x + 1))));
    }
    let mut columns: Vec<ArrayRef> = Vec::new();
    match case.kind {
        "whole" => {
            let (whole, floats) = (integers(case), floats(case));
            files.push(("t.csv", lines("x,y\n", &floats, |x, v| format!("{x},{v:.1}"))));
            files.push(("t.npy", npy("<i8", &whole, |v| v.to_le_bytes())));
            files.push(("t.npy", npy("<f8", &floats, |v| v.to_le_bytes())));
            let short: std::result::Result<Vec<i32>, _> = whole.iter().map(|v| (*v).try_into()).collect();
            if let Ok(short) = short {
                columns.push(Arc::new(Int32Array::from(short)));
                columns.push(Arc::new(floats.iter().map(|v| Some(*v as f32)).collect::<Float32Array>()));
            }
            let unsigned: std::result::Result<Vec<u64>, _> = whole.iter().map(|v| (*v).try_into()).collect();
            if let Ok(unsigned) = unsigned {
                columns.push(Arc::new(UInt64Array::from(unsigned)));
            }
            columns.push(Arc::new(Int64Array::from(whole)));
            columns.push(Arc::new(Float64Array::from(floats)));
        }
        "fraction" => columns.push(Arc::new(Float64Array::from(floats(case)))),
        "bool" => {
            let truths: Vec<bool> = case.values.iter().map(|v| v == "True").collect();
            columns.push(Arc::new(BooleanArray::from(truths)));
        }
        _ => {
            let texts: Vec<&str> = case.values.iter().map(String::as_str).collect();
            columns.push(Arc::new(StringArray::from(texts.clone())));
            columns.push(Arc::new(texts.into_iter().collect::<DictionaryArray<Int16Type>>()));
        }
    }
    files.extend(columns.into_iter().map(|column| ("t.parquet", parquet(column))));
    files
}

/// A matrix of two equal columns.
fn npy<T>(kind: &str, values: &[T], bytes: impl Fn(&T) -> [u8; 8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}, 2), }}\n", values.len());
    let mut file = [b"\x93NUMPY\x01\x00", &[header.len() as u8, 0][..], header.as_bytes()].concat();
    values.iter().for_each(|v| file.extend([bytes(v), bytes(v)].as_flattened()));
    file
}

fn parquet(target: ArrayRef) -> Vec<u8> {
    let x: ArrayRef = Arc::new((0..target.len()).map(|i| Some((i % 9) as f64)).collect::<Float64Array>());
    let batch = RecordBatch::try_from_iter([("x", x), ("y", target)]).expect("a batch");
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("whole")
}

#[test]
fn files_of_every_format_are_read_as_the_table_says() {
    let folder = tempfile::tempdir().expect("a folder");
    for case in cases() {
        for (name, bytes) in files(&case) {
            let path = folder.path().join(name).display().to_string();
            std::fs::write(&path, bytes).expect("written");
            let target = if name == "t.npy" { "x2" } else { "y" };
            let options = ReadOptions { target: Some(target.into()), ..ReadOptions::default() };
            let table = read(&path, &options).expect(name);
            check(&case, name, table.target.expect("a target"));
        }
    }
}

#[test]
fn unsigned_integers_that_do_not_fit_are_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet").display().to_string();
    let values: Vec<u64> = (0..40).map(|i| u64::MAX - i).collect();
    std::fs::write(&path, parquet(Arc::new(UInt64Array::from(values)))).expect("written");
    let options = ReadOptions { target: Some("y".into()), ..ReadOptions::default() };
    let (read_as, warnings) = reading(read(&path, &options).expect("read").target.expect("a target"), "auto");
    assert_eq!((read_as.as_str(), warnings.len()), ("40 classes", 1));
}

#[test]
fn warnings_say_what_was_read_and_why() {
    let warning = |values: Vec<i64>| reading(Column::Integers(values), "auto").1.join("; ");
    assert_eq!(
        warning((0..30).collect()),
        "the target was read as numbers: 30 whole numbers differ in 30 rows, and the rarest occurs once\n\
         hint: if they are classes, override the choice (task = classification)"
    );
    assert_eq!(
        warning((0..400).map(|i| i % 40).collect()),
        "the target was read as 40 classes: each of its whole numbers occurs 10 times or more\n\
         hint: if they are amounts, override the choice (task = regression)"
    );
    assert_eq!(
        warning((0..2600).map(|i| i % 26).collect()),
        "the target was read as 26 classes: only 26 whole numbers differ in 2600 rows\n\
         hint: if they are amounts, override the choice (task = regression)"
    );
    let texts = Column::Text((0..30).map(|i| i.to_string()).collect());
    assert_eq!(
        reading(texts, "auto").1.join("; "),
        "the target was read as 30 classes: its numbers are given as text or categories\n\
         hint: if they are amounts, override the choice (task = regression)"
    );
}
