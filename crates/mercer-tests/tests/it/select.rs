//! Selectors against the naive references, and the identities that they must satisfy.
//!
//! references  the references themselves, against numbers worked out by hand or by other programs
//! reliefs     the Relief family
//! others      kffs, F-test, mutual information, Laplacian score, lasso
//! laws        what holds for every selector, and what each refuses

mod references;
mod reliefs;
mod approximate;
mod others;
mod laws;

use mercer::data::Labels;
use mercer::methods;
use mercer::select::{Columns, Scores, Selector};
use mercer::{Kernel, Monitor, Result, Rows, Shape};

use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix, Norm};

/// Rows with classes and with numbers.
struct Case {
    name: &'static str,
    x: Matrix,
    codes: Vec<usize>,
    y: Vec<f64>,
}

/// Classes that go with some columns and not with others, and as many numbers.
fn case(name: &'static str, x: Matrix, classes: usize) -> Case {
    let n = x.len();
    let mut state = n as u64;
    let middle = |j: usize| {
        let mut v: Vec<f64> = x.iter().map(|row| row[j]).collect();
        v.sort_by(f64::total_cmp);
        v[n / 2]
    };
    let (first, last) = (middle(0), middle(x[0].len() - 1));
    let codes = x
        .iter()
        .enumerate()
        .map(|(i, row)| {
            // Every class has rows, whatever the columns are.
            let by_columns = usize::from(row[0] > first) + usize::from(row[x[0].len() - 1] > last);
            if i % 3 == 0 { i / 3 % classes } else { by_columns % classes }
        })
        .collect();
    let spread = naive::max_abs(&naive::center_columns(&x)).max(f64::MIN_POSITIVE);
    let y = x.iter().map(|row| (row[0] - first) / spread + 0.3 * naive::random_normal(&mut state)).collect();
    Case { name, x, codes, y }
}

/// Random and nasty rows with 2, 3 and 5 classes.
fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("two classes", naive::random_rows(60, 5, 60), 2),
        case("three classes", naive::random_rows(70, 4, 61), 3),
        case("five classes", naive::random_rows(50, 8, 62), 5),
    ];
    for (at, (name, x)) in naive::nasty_sets().into_iter().enumerate() {
        cases.push(case(name, x, 2 + at % 2));
    }
    let mut lonely = case("classes of one row", naive::random_rows(40, 3, 63), 3);
    lonely.codes[11] = 3;
    lonely.codes[30] = 4;
    cases.push(lonely);
    cases
}

/// Every tenth value is missing, one column mostly; never all that two rows could share.
fn case_with_missing_values() -> Case {
    let mut case = case("missing values", naive::random_rows(45, 6, 64), 3);
    let mut state = 65;
    for row in &mut case.x {
        for (j, v) in row.iter_mut().enumerate().skip(1) {
            if naive::random_uniform(&mut state) < if j == 4 { 0.7 } else { 0.1 } {
                *v = f64::NAN;
            }
        }
    }
    case
}

/// Columns 1 and 3 are names of categories: their sizes mean nothing.
const CATEGORICAL: [usize; 2] = [1, 3];

fn case_with_categories() -> Case {
    let mut case = case("categories", naive::random_rows(50, 5, 66), 3);
    for row in &mut case.x {
        row[1] = (row[1] * 2.0).round() * 100.0;
        row[3] = f64::from(u8::from(row[3] + row[0] > 0.0));
    }
    case
}

/// Both at once.
fn case_with_categories_and_missing_values() -> Case {
    let mut case = case_with_categories();
    for i in 0..case.x.len() {
        if i % 7 == 2 {
            case.x[i][1] = f64::NAN;
        }
        if i % 5 == 3 {
            case.x[i][2] = f64::NAN;
        }
    }
    Case { name: "categories and missing values", ..case }
}

fn classes(codes: &[usize]) -> Labels {
    let names = (0..=*codes.iter().max().expect("rows")).map(|c| c.to_string()).collect();
    Labels::Classes { codes: codes.to_vec(), names }
}

/// A selector by its name, with settings as text.
fn selector(name: &str, settings: &[(&str, &str)]) -> Selector {
    methods::selector(name, settings).expect("a selector").0
}

fn try_score(selector: &Selector, x: &Rows, labels: &Labels) -> Result<Scores> {
    selector.score(&Columns::new(x, labels, &Monitor::default()))
}

fn score(selector: &Selector, x: &Rows, labels: &Labels) -> Scores {
    try_score(selector, x, labels).expect("scores")
}

/// Scores with categorical columns.
fn score_categorical(selector: &Selector, x: &Rows, labels: &Labels, categorical: &[usize]) -> Scores {
    let monitor = Monitor::default();
    selector.score(&Columns { categorical, ..Columns::new(x, labels, &monitor) }).expect("scores")
}

/// Scores with neighbours in a kernel's space.
fn score_in_space(selector: &Selector, x: &Rows, labels: &Labels, kernel: Kernel, space: &Rows) -> Scores {
    let monitor = Monitor::default();
    let space = Some((kernel, space));
    selector.score(&Columns { space, ..Columns::new(x, labels, &monitor) }).expect("scores")
}

/// Dense and sparse.
fn both(x: &Matrix) -> [Rows<'static>; 2] {
    [rows(x), sparse(x)]
}

/// What rounding may do to sums over these rows: 1e-9, and more where the values are far larger than their spread.
fn tolerance(x: &Matrix) -> f64 {
    let spread = naive::max_abs(&naive::center_columns(x)).max(f64::MIN_POSITIVE);
    (1e-14 * naive::max_abs(x) / spread).max(1e-9)
}

/// Equal to within the tolerance times the largest; all zero means exactly that.
#[track_caller]
fn assert_near(fast: &[f64], slow: &[f64], tolerance: f64, what: &str) {
    assert_eq!(fast.len(), slow.len(), "{what}");
    let size = slow.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (j, (a, b)) in fast.iter().zip(slow).enumerate() {
        assert!((a - b).abs() <= tolerance * size, "{what}, column {j}: {a:e} for {b:e}");
    }
}

/// Every one equal to within the tolerance times itself: p-values are small numbers that mean something.
#[track_caller]
fn assert_each_near(fast: &[f64], slow: &[f64], tolerance: f64, what: &str) {
    assert_eq!(fast.len(), slow.len(), "{what}");
    for (j, (a, b)) in fast.iter().zip(slow).enumerate() {
        assert!(
            a == b || (a - b).abs() <= tolerance * b.abs() + f64::MIN_POSITIVE,
            "{what}, column {j}: {a:e} for {b:e}"
        );
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// The norm of the columns' own space by its name; `default` where none is given.
fn norm(metric: Option<&str>, default: Norm) -> Norm {
    match metric {
        None => default,
        Some("euclidean") => Norm::Euclidean,
        Some(_) => Norm::Manhattan,
    }
}

fn with_metric<'a>(metric: Option<&'a str>, settings: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    settings.iter().copied().chain(metric.map(|m| ("metric", m))).collect()
}

fn kernel(name: &str, gamma: f64) -> Kernel {
    Kernel { shape: Shape::named(name, 2, 1.0, 1.0).expect("known"), gamma }
}
