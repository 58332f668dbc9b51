//! Tables as people have them: separators, decimal commas, dates, categories, missing values and row numbers.

use std::fs;
use std::path::Path;

use crate::program::{csv, done, folder, refused, words};

/// `people.csv`: semicolons, decimal commas, a column of row numbers without a name, missing values, dates, categories, booleans
/// and text of many values.
fn people(folder: &Path) {
    let line = |i: usize| {
        let age = if i.is_multiple_of(9) { String::new() } else { format!("{},5", 20 + i % 37) };
        let city = if i.is_multiple_of(20) { "NA" } else { ["Bern", "Rome"][i % 2] };
        let smokes = if i.is_multiple_of(4) { "no" } else { "yes" };
        let kind = if i % 37 > 18 { "up" } else { "down" };
        format!("{i};{age};{city};2023-{:02}-{:02};{smokes};Person {i};{kind}\n", i % 12 + 1, i % 28 + 1)
    };
    let head = ";age;city;joined;smokes;name;kind\n".to_string();
    let text: String = std::iter::once(head).chain((0..80).map(line)).collect();
    fs::write(folder.join("people.csv"), text).expect("written");
    fs::write(
        folder.join("new.csv"),
        "smokes;age;city;joined\nyes;;Oslo;2024-01-01\nno;31,5;Rome;2024-06-30\n",
    )
    .expect("written");
}

const FIT: &str = "fit people.csv --target kind --method gda --gamma 0.1 -o m.mercer";

fn run(folder: &Path, command: &str) -> (String, String) {
    let words = words(command);
    done(folder, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn refusal(folder: &Path, code: i32, command: &str) -> String {
    let words = words(command);
    refused(folder, code, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_fit_says_what_it_did_with_the_columns_and_inspect_shows_it() {
    let folder = folder();
    people(folder.path());
    let (_, stderr) = run(folder.path(), FIT);
    let said: Vec<&str> = stderr.lines().take_while(|line| !line.starts_with("fitting")).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    fields are separated by `;`, decimals follow a comma
    dropped column `x1`: it counts the rows
    hint: to keep it, list the columns to use, with this one (`--inputs COL,…`)
    read as categories: `city` (2); as dates: `joined`; as yes or no: `smokes`
    13 values are missing (`age` 9, `city` 4); numbers are filled by the medians of the training rows
    warning: dropped column `name`: it holds text (`Person 0`), more than 20 values
    hint: leave it out without this warning (`--drop name`), or use it as categories (`--categorical name`)
    read 80 rows of 9 inputs and a target of 2 classes (down, up)
    ");
    let (out, _) = run(folder.path(), "inspect m.mercer");
    let encoding: Vec<&str> = out.lines().skip(3).take(7).map(str::trim_end).collect();
    insta::assert_snapshot!(encoding.join("\n"), @r"
    inputs              9: age, age missing, city=Bern, city=Rome, city missing, …
    encoding            column `x1`: dropped: it counts the rows
                        column `age`: a number; missing is 36.5, the median
                        column `city`: a category of 2 values (Bern, Rome); missing is a column of its own
                        column `joined`: a date, as month, weekday, days
                        column `smokes`: yes or no, as 1 or 0
                        column `name`: dropped: it holds text (`Person 0`), more than 20 values
    ");
    let (out, _) = run(folder.path(), "inspect m.mercer --format json");
    assert!(out.contains(r#""as": "category""#), "{out}");
    let (_, quiet) = run(folder.path(), &format!("{FIT} -q"));
    assert!(quiet.starts_with("warning: dropped column `name`"), "{quiet}");
}

#[test]
fn new_rows_are_encoded_as_the_training_rows_were() {
    let folder = folder();
    people(folder.path());
    run(folder.path(), FIT);
    let (out, stderr) = run(folder.path(), "transform m.mercer new.csv --keep city");
    insta::assert_snapshot!(stderr, @r"
    fields are separated by `;`, decimals follow a comma
    1 value is missing (`age` 1); numbers are filled by the medians of the training rows
    1 value of column `city` is new (`Oslo`): 0 in all of its columns
    ");
    let (head, rows) = csv(&out);
    assert_eq!(head, ["city", "gda0"]);
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["Oslo", "Rome"]);
    let error = refusal(folder.path(), 1, "transform m.mercer train.csv");
    assert!(error.contains("column `age` is missing"), "{error}");
    fs::write(folder.path().join("bad.csv"), "smokes,age,city,joined\nmaybe,3,Rome,2024-01-01\n")
        .expect("written");
    insta::assert_snapshot!(refusal(folder.path(), 1, "transform m.mercer bad.csv"), @r"
    error: bad.csv: column `smokes` holds `maybe` at row 1, but it held true and false, or yes and no, when the encoding was learned
    hint: mend the value, or leave it empty if it is missing
    ");
    run(folder.path(), "fit people.csv --target kind --method auto -o a.mercer");
    let (out, _) = run(folder.path(), "predict a.mercer new.csv");
    assert_eq!(csv(&out).1.len(), 2);
    run(folder.path(), "inspect m.mercer --importance people.csv");
}

#[test]
fn comparisons_and_advice_take_such_tables() {
    let folder = folder();
    people(folder.path());
    let (out, _) =
        run(folder.path(), "compare people.csv --target kind --methods gda --gamma 0.1 --report r.html");
    assert!(out.contains("gda"), "{out}");
    let options = "--inputs age,city --categorical city --missing fill --sep ';' --decimal ,";
    let (out, _) = run(folder.path(), &format!("advise people.csv --target kind {options}"));
    let command = out.lines().last().expect("a command");
    let asked = "mercer fit people.csv --target kind --inputs age,city --categorical city --sep ';' --decimal , --method";
    assert!(command.starts_with(asked), "{command}");
}

#[test]
fn missing_values_and_separators_are_as_the_flags_say() {
    let folder = folder();
    people(folder.path());
    insta::assert_snapshot!(refusal(folder.path(), 1, &format!("{FIT} --missing refuse")), @r"
    error: people.csv: a value is missing at row 1, column `age`; only finite numbers are allowed
    hint: fill or drop such rows first
    ");
    let error = refusal(folder.path(), 2, &format!("{FIT} --sep ab"));
    assert!(error.contains("it must be one character, such as , ; | or a space, or the word tab"), "{error}");
    let error = refusal(folder.path(), 2, &format!("{FIT} --decimal x"));
    assert!(error.contains("it must be . or ,"), "{error}");
    insta::assert_snapshot!(refusal(folder.path(), 2, &format!("{FIT} --categorical town")), @"error: categorical = town, but no input column has this name; they are x1, age, city, joined, smokes, …");
    let all = "--inputs x1,age,smokes";
    let (_, stderr) = run(folder.path(), &format!("{FIT} {all}"));
    assert!(stderr.contains("read 80 rows of 4 inputs") && !stderr.contains("dropped"), "{stderr}");
    let (out, _) = run(folder.path(), "inspect m.mercer");
    assert!(out.contains("4: x1, age, age missing, smokes"), "{out}");
}

#[test]
fn a_target_that_was_forgotten_is_asked_about() {
    let folder = folder();
    fs::write(folder.path().join("t.csv"), "a,class\n1,x\n2,y\n4,x\n").expect("written");
    let (_, stderr) = run(folder.path(), "fit t.csv --method kobl -o m.mercer");
    assert!(
        stderr
            .contains("column `class` is used as an input\nhint: if it is the target, add `--target class`"),
        "{stderr}"
    );
}

#[test]
fn a_model_of_columns_that_are_called_by_numbers_reads_its_own_file() {
    let folder = folder();
    let row = |i: usize| [(i * 37 % 101) as f64 / 7.0, (i * i % 31) as f64 / 3.0, (i % 13) as f64 / 9.0];
    let kind = |i: usize| if row(i)[0] > 7.0 { "up" } else { "down" };
    let (mut train, mut new) = ("0,1,2,y\n".to_string(), "2,0,1\n".to_string());
    for i in 0..60 {
        let [a, b, c] = row(i);
        train.extend([format!("{a},{b},{c},{}\n", kind(i))]);
        new.extend([format!("{c},{a},{b}\n")]);
    }
    fs::write(folder.path().join("numbers.csv"), &train).expect("written");
    fs::write(folder.path().join("other_order.csv"), new).expect("written");
    let (_, stderr) = run(folder.path(), "fit numbers.csv --target y --method auto -o m.mercer");
    assert!(stderr.contains("read 60 rows of 3 inputs and a target of 2 classes"), "{stderr}");
    let (own, _) = run(folder.path(), "predict m.mercer numbers.csv");
    let (other, _) = run(folder.path(), "predict m.mercer other_order.csv");
    assert_eq!((csv(&own).1.len(), &own), (60, &other));
    let (_, stderr) = run(folder.path(), "fit other_order.csv --header --target 1 --method kobl -o k.mercer");
    assert!(stderr.contains("read 60 rows of 2 inputs"), "{stderr}");
    let (_, stderr) = run(folder.path(), "fit numbers.csv --drop -1 --method kobl -o k.mercer");
    insta::assert_snapshot!(stderr.lines().take(3).collect::<Vec<_>>().join("\n"), @r"
    the first line (0, 1, 2, …) holds names, as pandas numbers columns
    hint: if it is a row, say so (`--no-header`)
    read 60 rows of 3 inputs and no target
    ");
    let (_, stderr) = run(folder.path(), "fit other_order.csv --method kobl -o k.mercer");
    insta::assert_snapshot!(stderr.lines().take(3).collect::<Vec<_>>().join("\n"), @r"
    warning: the first line (2, 0, 1) was taken as a row, but it holds whole numbers, and most columns below it do not
    hint: if it holds names, say so (`--header`)
    read 61 rows of 3 inputs and no target
    ");
}
