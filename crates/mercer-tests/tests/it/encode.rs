//! Tables as people have them: separators, decimal commas, booleans, dates, categories, missing values and row numbers.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::Int8Type;
use mercer::data::encode::{EncodeSettings, Encoder, Medians, Missing, RawTable, RawValues};
use mercer::data::read::{EncodeMode, ReadOptions, read};
use mercer::data::{Column, Labels, Table};
use mercer::evaluate::advise::Adviser;
use mercer::evaluate::{Comparison, Evaluator};
use mercer::{Basis, FeatureMap, Kernel, Rows};

fn learn(settings: EncodeSettings) -> ReadOptions {
    ReadOptions { encode: EncodeMode::Learn(settings), ..ReadOptions::default() }
}

fn with_target(name: &str) -> ReadOptions {
    ReadOptions { target: Some(name.into()), ..learn(EncodeSettings::default()) }
}

fn read_text(name: &str, text: &str, options: &ReadOptions) -> Result<Table, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name).display().to_string();
    std::fs::write(&path, text).expect("written");
    read(&path, options).map_err(|e| e.to_string().replace(&path, name))
}

fn csv(text: &str) -> Table {
    read_text("t.csv", text, &learn(EncodeSettings::default())).expect("read")
}

fn lines_of(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// New rows, encoded as a table's were.
fn again(table: &Table, text: &str) -> Result<Table, String> {
    let encoder = table.encoder.clone().expect("an encoder");
    let options = ReadOptions {
        columns: Some(encoder.inputs()),
        by_place: encoder.by_place,
        encode: EncodeMode::Apply(encoder),
        ..ReadOptions::default()
    };
    read_text("new.csv", text, &options)
}

fn row(table: &Table, i: usize) -> Vec<f64> {
    table.rows.slice(i..i + 1).to_dense()
}

#[test]
fn separators_and_decimal_commas_are_detected_or_given() {
    let expected = [1.5, 2.0, 3.0, 4.25];
    for (name, text) in [
        ("t.csv", "a,b\n1.5,2\n3,4.25\n"),
        ("t.csv", "a;b\n1,5;2\n3;4,25\n"),
        ("t.csv", "a\tb\n1,5\t2\n3\t4,25\n"),
        ("t.csv", "a|b\n1.5|2\n3|4.25\n"),
        ("t.tsv", "a,b\n1.5,2\n3,4.25\n"),
        ("t.csv", "\u{feff}a;b\r\n\"1,5\";2\r\n3;\"4,25\"\r\n"),
    ] {
        for options in [ReadOptions::default(), learn(EncodeSettings::default())] {
            let table = read_text(name, text, &options).expect("read");
            assert_eq!(
                (table.names, table.rows.to_dense()),
                (vec!["a".into(), "b".into()], expected.to_vec())
            );
            assert_eq!(table.encoder, None);
        }
    }
    let table = read_text("t.csv", "a;y\n1,5;2,5\n3;4,25\n", &with_target("y")).expect("read");
    assert_eq!(table.target, Some(Column::Numbers(vec![2.5, 4.25])));
    assert_eq!(table.notes, ["fields are separated by `;`, decimals follow a comma"]);
    let given = ReadOptions { separator: Some(b' '), decimal: Some(b','), ..ReadOptions::default() };
    assert_eq!(read_text("t.csv", "a b\n1,5 2\n", &given).expect("read").rows.to_dense(), [1.5, 2.0]);
}

#[test]
fn a_table_of_numbers_is_read_as_before() {
    let text = "a,b,y\n1,0.1,x\n-3e-5,1e300,y\n";
    let plain = ReadOptions { target: Some("y".into()), ..ReadOptions::default() };
    assert_eq!(read_text("t.csv", text, &plain), read_text("t.csv", text, &with_target("y")));
}

#[test]
fn every_kind_of_column_becomes_numbers() {
    let table = csv(
        "size,ok,day,kind\n1,true,2024-01-31,red\n,False,2024-02-01,blue\n4,YES,,red\n7,no,2024-02-29,NA\n",
    );
    assert_eq!(
        table.names,
        [
            "size",
            "size missing",
            "ok",
            "day month",
            "day weekday",
            "day days",
            "day missing",
            "kind=blue",
            "kind=red",
            "kind missing"
        ]
    );
    assert_eq!(row(&table, 0), [1.0, 0.0, 1.0, 1.0, 2.0, 19_753.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(row(&table, 1), [4.0, 1.0, 0.0, 2.0, 3.0, 19_754.0, 0.0, 1.0, 0.0, 0.0]);
    // A missing date is the median of its parts, a missing category is a column of its own.
    assert_eq!(row(&table, 2), [4.0, 0.0, 1.0, 2.0, 3.0, 19_754.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(row(&table, 3), [7.0, 0.0, 0.0, 2.0, 3.0, 19_782.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        table.notes[1..],
        [
            "3 values are missing (`size` 1, `day` 1, `kind` 1); numbers are filled by the medians of the training rows"
        ]
    );
}

#[test]
fn new_rows_are_encoded_by_column_name_with_what_was_learned() {
    let table = csv("size,kind\n1,red\n,blue\n4,red\n8,blue\n");
    let new = again(&table, "kind,other,size\ngreen,x,\n,y,2\nred,z,3\n").expect("read");
    assert_eq!(new.names, table.names);
    assert_eq!(new.rows.to_dense(), [4.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        new.notes,
        [
            "2 values are missing (`size` 1, `kind` 1); numbers are filled by the medians of the training rows",
            "1 value of column `kind` is new (`green`): 0 in all of its columns"
        ]
    );
    assert_eq!(
        again(&table, "kind,size\nred,many\n").expect_err("refused"),
        "new.csv: column `size` holds `many` at row 1, but it held numbers when the encoding was learned\n\
         hint: mend the value, or leave it empty if it is missing"
    );
    assert!(again(&table, "kind\nred\n").expect_err("refused").contains("column `size` is missing"));
}

#[test]
fn numbers_are_categories_where_they_are_named() {
    let settings = EncodeSettings { categorical: vec!["zip".into()], ..EncodeSettings::default() };
    let table = read_text("t.csv", "zip,a\n10,1\n9,2\n10.0,5\n", &learn(settings.clone())).expect("read");
    assert_eq!(table.names, ["zip=9", "zip=10", "a"]);
    assert_eq!(table.rows.to_dense(), [0.0, 1.0, 1.0, 1.0, 0.0, 2.0, 0.0, 1.0, 5.0]);
    assert_eq!(again(&table, "a,zip\n3,9\n").expect("read").rows.to_dense(), [1.0, 0.0, 3.0]);
    let error = read_text("t.csv", "a,b\n1,2\n", &learn(settings)).expect_err("refused");
    assert_eq!(error, "categorical = zip, but no input column has this name; they are a, b");
}

#[test]
fn missing_values_are_refused_where_that_is_asked_for() {
    let refuse = EncodeSettings { missing: Missing::Refuse, ..EncodeSettings::default() };
    let error = read_text("t.csv", "a,kind\n1,x\nNone,y\n", &learn(refuse.clone())).expect_err("refused");
    assert!(error.starts_with("t.csv: a value is missing (`None`) at row 2, column `a`"), "{error}");
    let table = read_text("t.csv", "a,kind\n1,x\n2,y\n", &learn(refuse)).expect("read");
    assert_eq!(table.names, ["a", "kind=x", "kind=y"]);
    let error = again(&table, "a,kind\n,x\n").expect_err("refused");
    assert!(error.contains("a value is missing at row 1, column `a`"), "{error}");
    for word in ["", "NA", "nan", "NULL", "?", "None", "n/a", "<NA>", "NaT"] {
        let table = csv(&format!("a,b\n1,2\n{word},3\n5,4\n"));
        assert_eq!(table.names, ["a", "a missing", "b"], "{word}");
    }
}

#[test]
fn text_of_many_values_is_dropped_with_a_warning_and_refused_where_nothing_is_left() {
    let lines: String = lines_of(30, |i| format!("name {i},{}\n", (i * i) % 7));
    let table = csv(&format!("who,a\n{lines}"));
    assert_eq!(table.names, ["a"]);
    assert!(
        table.warnings[0].starts_with("dropped column `who`: it holds text (`name 0`), more than 20 values")
    );
    let few: String = lines_of(12, |i| format!("n{i},{}\n", (i * i) % 7));
    let table = csv(&format!("who,a\n{few}"));
    assert!(table.warnings[0].contains("another one in every row"), "{:?}", table.warnings);
    let only: String = lines_of(30, |i| format!("name {i}\n"));
    let error = read_text("t.csv", &format!("who\n{only}"), &learn(EncodeSettings::default()));
    assert!(error.expect_err("refused").contains("no input columns are left: `who` holds text"));
    let named = EncodeSettings { categorical: vec!["who".into()], ..EncodeSettings::default() };
    assert_eq!(read_text("t.csv", &format!("who,a\n{lines}"), &learn(named)).expect("read").names.len(), 31);
}

#[test]
fn a_stray_cell_in_a_column_of_numbers_is_named_with_the_way_out() {
    let cells = |stray: &str, number: fn(usize) -> String| -> Vec<String> {
        let lines = lines_of(40, |i| {
            format!("{},{}\n", if i == 8 { stray.to_string() } else { number(i) }, (i * i) % 7)
        });
        csv(&format!("a,b\n{lines}")).warnings
    };
    assert_eq!(
        cells("12O", |i| format!("{}.5", i * 3)),
        ["dropped column `a`: it holds numbers, but 1 of its 40 values is not one (`12O` at row 9)\n\
             hint: mend such cells, empty them (an empty cell is a gap), or take such lines out; or leave the column out without this warning (drop = a)"]
    );
    assert_eq!(
        cells("n.a.", |i| (i % 9).to_string()),
        [
            "read as categories: column `a`: it holds numbers, but 1 of its 40 values is not one (`n.a.` at row 9)\n\
          hint: mend such cells, empty them (an empty cell is a gap), or take such lines out; if they are categories, say so (categorical = a)"
        ]
    );
    assert_eq!(cells("", |i| format!("{}.5", i * 3)), Vec::<String>::new(), "an empty cell is a gap");
    let several = lines_of(40, |i| if i % 5 == 3 { "<0.1\n".to_string() } else { format!("{i}.5\n") });
    let several = csv(&format!("a,b\n{}", several.replace('\n', ",1\n"))).warnings;
    assert!(several[0].contains("8 of its 40 values are not (the first is `<0.1` at row 4)"), "{several:?}");
}

#[test]
fn text_that_looks_like_dates_or_numbers_is_said_to() {
    let warnings = |text: fn(usize) -> String| {
        csv(&format!("a;b\n{}", lines_of(40, |i| format!("{};{}\n", text(i), (i * i) % 7)))).warnings
    };
    for text in [|i| format!("{:02}.03.2020", i % 28 + 1), |i: usize| format!("{}/3/20", i % 28 + 1)] {
        assert!(warnings(text)[0].contains("; these look like dates: write them as 2024-02-29\n"));
    }
    let numbers: [fn(usize) -> String; 4] =
        [|i| format!("{i}.5 €"), |i| format!("${i}.50"), |i| format!("{i} kg"), |i| format!("{i}'100.5")];
    for text in numbers {
        let said = warnings(text);
        assert!(said[0].contains("; these look like numbers: write them without sign, unit"), "{said:?}");
    }
    for text in [|i| format!("n{i}"), |i: usize| format!("{i}{}", ["a", "b"][i % 2])] {
        assert!(!warnings(text)[0].contains("look like"));
    }
}

#[test]
fn booleans_that_were_numbers_when_the_encoding_was_learned_are_numbers_as_text() {
    let columns: [(&str, ArrayRef); 2] = [
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("a", Arc::new(Float64Array::from(vec![1.0, 2.0, 4.0]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.parquet").display().to_string();
    let file = std::fs::File::create(&path).expect("a file");
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("whole");
    let table = read(&path, &learn(EncodeSettings::default())).expect("read");
    let new = again(&table, "flag,a\nTrue,1\nFALSE,2\n").expect("read");
    assert_eq!(new.rows.to_dense(), [1.0, 0.0, 1.0, 0.0, 0.0, 2.0]);
    assert!(again(&table, "flag,a\nmaybe,1\n").expect_err("refused").contains("holds `maybe` at row 1"));
}

#[test]
fn row_numbers_are_no_inputs_unless_they_are_named() {
    let lines = |number: fn(usize) -> usize| -> String {
        lines_of(12, |i| format!("{},{}\n", number(i), (i * i) % 7))
    };
    let counting: [fn(usize) -> usize; 2] = [|i| i, |i| i + 1];
    for (head, numbers) in [
        ("", counting[0]),
        ("", counting[1]),
        ("Unnamed: 0", counting[0]),
        ("t", counting[1]),
        ("ID", |i| 900 - 7 * i),
        ("customer_id", |i| (i * 5) % 12 + 100),
        ("__index_level_0__", |i| i / 2),
    ] {
        let text = format!("{head},a\n{}", lines(numbers));
        let table = csv(&text);
        assert_eq!(table.names, ["a"], "{head}");
        assert!(table.notes[0].starts_with("dropped column `"), "{:?}", table.notes);
        // The number of the row is not needed in new rows.
        assert_eq!(again(&table, "a\n5\n").expect("read").rows.to_dense(), [5.0]);
        let name = if head.is_empty() { "x1" } else { head };
        let all = ReadOptions { inputs: vec![name.into(), "a".into()], ..learn(EncodeSettings::default()) };
        let kept = read_text("t.csv", &text, &all).expect("read");
        assert_eq!((kept.names, kept.encoder), (vec![name.to_string(), "a".into()], None));
    }
    for (head, numbers) in [("b", (|i| i * 2) as fn(usize) -> usize), ("id", |i| i / 2), ("t", |i| i + 2)] {
        assert_eq!(csv(&format!("{head},a\n{}", lines(numbers))).names, [head, "a"], "{head}");
    }
    // A few rows count by chance.
    assert_eq!(csv("a,b\n1,5\n2,7\n3,9\n").names, ["a", "b"]);
}

#[test]
fn row_numbers_without_a_header_are_dropped_by_place() {
    let text: String = lines_of(12, |i| format!("{i},{},{}\n", (i * i) % 7, (i * 3) % 5));
    let table = csv(&text);
    assert_eq!(table.rows.p(), 2);
    assert_eq!(again(&table, "77,1,2\n78,3,4\n").expect("read").rows.to_dense(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn chosen_inputs_are_read_in_their_order() {
    let options = ReadOptions { inputs: vec!["c".into(), "a".into()], ..with_target("y") };
    let table = read_text("t.csv", "a,b,c,y\n1,2,3,u\n4,5,6,v\n", &options).expect("read");
    assert_eq!(
        (table.names, table.rows.to_dense()),
        (vec!["c".into(), "a".into()], vec![3.0, 1.0, 6.0, 4.0])
    );
    let options = ReadOptions { inputs: vec!["y".into()], ..with_target("y") };
    let error = read_text("t.csv", "a,y\n1,u\n", &options).expect_err("refused");
    assert_eq!(error, "t.csv: column `y` is the target, but it is named as an input");
}

#[test]
fn typed_columns_of_parquet_and_arrow_are_encoded() {
    let kinds: DictionaryArray<Int8Type> = vec![Some("7"), Some("b"), None].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::NAN)]))),
        ("ok", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("day", Arc::new(Date32Array::from(vec![0, 31, 59]))),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![0, 43_200_000_000, 0]))),
        ("kind", Arc::new(kinds)),
        ("word", Arc::new(StringArray::from(vec!["01", "2", "01"]))),
        ("__index_level_0__", Arc::new(Int64Array::from(vec![5, 3, 9]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ["parquet", "arrow"] {
        let path = folder.path().join(format!("t.{ending}")).display().to_string();
        let file = std::fs::File::create(&path).expect("created");
        if ending == "parquet" {
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
            writer.write(&batch).expect("written");
            writer.close().expect("closed");
        } else {
            let mut writer =
                arrow::ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
            writer.write(&batch).expect("written");
            writer.finish().expect("finished");
        }
        let table = read(&path, &learn(EncodeSettings::default())).expect("read");
        assert_eq!(
            table.names,
            [
                "a",
                "a missing",
                "ok",
                "ok missing",
                "day month",
                "day weekday",
                "day days",
                "at hour",
                "at days",
                "kind=7",
                "kind=b",
                "kind missing",
                "word=01",
                "word=2"
            ]
        );
        let second = [1.0, 1.0, 0.0, 0.0, 2.0, 6.0, 31.0, 12.0, 0.5, 0.0, 1.0, 0.0, 0.0, 1.0];
        assert_eq!(row(&table, 1), second);
        assert!(table.notes[0].contains("`__index_level_0__`: it is an index that pandas wrote"));
    }
}

#[test]
fn a_model_keeps_its_encoder_and_older_files_have_none() {
    let table = csv("size,kind\n1,red\n,blue\n4,red\n8,blue\n");
    let mut map = FeatureMap::from(Basis::kobl(Kernel::rbf(0.1)).fit(&table.rows).expect("fitted"));
    let plain = {
        let mut bytes = Vec::new();
        map.write_to(&mut bytes, "memory").expect("written");
        bytes
    };
    assert!(!String::from_utf8_lossy(&plain).contains("encoder"));
    assert_eq!(FeatureMap::read_from(&plain[..], "memory").expect("read").encoder, None);
    map.encoder = table.encoder.clone();
    let mut bytes = Vec::new();
    map.write_to(&mut bytes, "memory").expect("written");
    assert_eq!(FeatureMap::read_from(&bytes[..], "memory").expect("read").encoder, table.encoder);
    map.encoder.as_mut().expect("there").columns.pop();
    map.encoder.as_mut().expect("there").medians = None;
    let mut damaged = Vec::new();
    map.write_to(&mut damaged, "memory").expect("written");
    let error = FeatureMap::read_from(&damaged[..], "memory").expect_err("refused").to_string();
    assert!(error.contains("its encoder makes 2 columns, but the model has 4 inputs"), "{error}");
}

#[test]
fn batches_of_different_kinds_make_one_table() {
    let texts = |texts: &[&str]| RawValues::Texts(texts.iter().map(|t| Some((*t).to_string())).collect());
    let mut raw = RawTable::new(&["a", "b"], Some(0));
    raw.push(vec![RawValues::Numbers(vec![1.0, 2.0]), RawValues::Dates(vec![0.0, 40.0])]).expect("pushed");
    raw.push(vec![texts(&["3", ""]), texts(&["1970-03-01", "?"])]).expect("pushed");
    assert!(raw.push(vec![texts(&["3"])]).is_err());
    let (encoder, encoded) =
        Encoder::learn(&raw.finish().expect("rows"), &EncodeSettings::default()).expect("learned");
    assert_eq!(encoder.names(), ["a", "a missing", "b month", "b weekday", "b days", "b missing"]);
    assert_eq!(encoded.rows.slice(3..4).to_dense(), [2.0, 1.0, 2.0, 3.0, 40.0, 1.0]);
    assert_eq!(Encoder::from_json(&encoder.to_json()).expect("read"), encoder);
}

/// Rows whose first column is missing in every second row, and labels.
fn with_holes(n: usize, hole: f64) -> (Rows<'static>, Labels) {
    let value = |i: usize, j: usize| match (i % 2, j) {
        (0, 0) => hole,
        _ => ((i * (7 + j * 4)) % 23) as f64,
    };
    let values: Vec<f64> = (0..n).flat_map(|i| (0..3).map(move |j| value(i, j))).collect();
    let labels: Vec<&str> = (0..n).map(|i| if value(i, 1) > 11.0 { "u" } else { "d" }).collect();
    (Rows::dense(values, n, 3).expect("rows"), Labels::classes(&labels))
}

#[test]
fn a_comparison_learns_medians_in_each_training_part() {
    let (mut values, labels) = {
        let (rows, labels) = with_holes(60, f64::NAN);
        (rows.to_dense(), labels)
    };
    let comparison = Comparison {
        methods: vec!["kobl".into()],
        gammas: vec!["0.1".into()],
        evaluators: vec![Evaluator::Ridge],
        test_share: Some(0.5),
        fill_missing: true,
        ..Comparison::default()
    };
    let run = |values: &[f64]| {
        let rows = Rows::dense(values.to_vec(), 60, 3).expect("rows");
        let outcome = comparison.run(&rows, &labels).expect("compared");
        outcome.entries.iter().map(|entry| entry.mean().expect("a score")).collect::<Vec<_>>()
    };
    assert!(comparison.check(&Rows::dense(vec![f64::INFINITY; 180], 60, 3).expect("rows"), &labels).is_err());
    let before = run(&values);
    // What fills the holes of a part does not depend on the other part: the medians of the parts differ, and by hand the
    // training part's alone gives the same scores.
    let (splits, _) = mercer::evaluate::folds::splits(&labels, 0.5, 1, 0).expect("split");
    let train = Rows::dense(values.clone(), 60, 3).expect("rows").select(&splits[0].train);
    let medians = Medians::fit(&train);
    let all = Medians::fit(&Rows::dense(values.clone(), 60, 3).expect("rows"));
    assert_ne!(medians, all);
    for row in values.chunks_exact_mut(3) {
        if row[0].is_nan() {
            row[0] = medians.values[0];
        }
    }
    assert_eq!(run(&values), before);
}

#[test]
fn advice_fills_missing_values_and_refuses_them_otherwise() {
    let (rows, labels) = with_holes(80, f64::NAN);
    let adviser = Adviser { max_components: 20, ..Adviser::default() };
    assert!(adviser.advise(&rows, &labels).is_err());
    let adviser = Adviser { fill_missing: true, ..adviser };
    assert!(!adviser.advise(&rows, &labels).expect("advised").method.is_empty());
    // Without holes it is the same advice.
    let (rows, labels) = with_holes(80, 3.0);
    let plain = Adviser { fill_missing: false, ..adviser.clone() };
    let [a, b] = [&adviser, &plain].map(|adviser| adviser.advise(&rows, &labels).expect("advised").to_json());
    assert_eq!(a, b);
}

#[test]
fn arrays_with_missing_values_are_filled_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.npz").display().to_string();
    let features = faer::mat![[1.0, 5.0], [f64::NAN, 6.0], [3.0, 7.0]];
    mercer::data::write::write_features(&path, &["a".into(), "b".into()], features.as_ref(), &[])
        .expect("written");
    assert!(read(&path, &ReadOptions::default()).is_err());
    let table = read(&path, &learn(EncodeSettings::default())).expect("read");
    assert_eq!(table.rows.to_dense(), [1.0, 0.0, 5.0, 2.0, 1.0, 6.0, 3.0, 0.0, 7.0]);
    let encoder = table.encoder.expect("an encoder");
    let options = ReadOptions {
        by_place: encoder.by_place,
        columns: Some(encoder.inputs()),
        encode: EncodeMode::Apply(encoder),
        ..ReadOptions::default()
    };
    assert_eq!(read(&path, &options).expect("read").rows, table.rows);
    let refuse = EncodeSettings { missing: Missing::Refuse, ..EncodeSettings::default() };
    assert!(read(&path, &learn(refuse)).expect_err("refused").to_string().contains("NaN at row 2"));
}

#[test]
fn numbers_that_come_as_text_are_numbers_where_the_training_rows_had_some() {
    let numbers = |values: &[f64]| vec![RawValues::Numbers(values.to_vec())];
    let words =
        |words: &[&str]| vec![RawValues::Words(words.iter().map(|w| Some((*w).to_string())).collect())];
    let mut train = RawTable::new(&["a"], None);
    train.push(numbers(&[1.0, 2.5])).expect("pushed");
    train.push(words(&["4", "?"])).expect("pushed");
    let (encoder, encoded) =
        Encoder::learn(&train.finish().expect("rows"), &EncodeSettings::default()).expect("learned");
    assert_eq!(encoded.rows.to_dense(), [1.0, 0.0, 2.5, 0.0, 4.0, 0.0, 2.5, 1.0]);
    let mut new = RawTable::new(&["a"], None);
    new.push(words(&["7"])).expect("pushed");
    assert_eq!(encoder.apply(&new.finish().expect("rows")).expect("encoded").rows.to_dense(), [7.0, 0.0]);
    let mut codes = RawTable::new(&["a"], None);
    codes.push(words(&["007", "7"])).expect("pushed");
    let (encoder, _) =
        Encoder::learn(&codes.finish().expect("rows"), &EncodeSettings::default()).expect("learned");
    assert_eq!(encoder.names(), ["a=007", "a=7"]);
}
