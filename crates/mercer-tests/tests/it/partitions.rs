//! Fits on rows in partitions against fits on all rows in one place.

use std::sync::Mutex;

use mercer::basis::Threshold;
use mercer::data::{Column, Labels, Task, synth};
use mercer::partitions::{Answer, Engine, Parted, PartedOptions, Partition, Question, State};
use mercer::select::Columns;
use mercer::{Basis, Error, FittedPipeline, Kernel, Monitor, Options, Pipeline, Result, Rows, methods};
use proptest::prelude::*;

use crate::naive;

/// Partitions to which everything is sent as bytes, and every question twice.
struct Sent {
    parts: Vec<Partition<'static>>,
    states: Mutex<Vec<Vec<u8>>>,
}

impl Engine for Sent {
    fn n_partitions(&self) -> usize {
        self.parts.len()
    }

    fn ask(&self, question: &Question, first: &[usize]) -> Result<Vec<Answer>> {
        let mut states = self.states.lock().expect("no panic");
        let question = Question::from_bytes(&question.to_bytes()?)?;
        let mut answers = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let state = State::from_bytes(&states[number])?;
            let ask = || {
                let first = first.get(number).copied();
                let (state, answer) = part.answer(&state, &question, number, first, &Monitor::default())?;
                Ok::<_, Error>((state.map(|state| state.to_bytes()).transpose()?, answer.to_bytes()?))
            };
            let (once, again) = (ask()?, ask()?);
            assert_eq!(once, again, "the same question has the same answer, to the last bit");
            assert_eq!(once.0.is_some(), question.makes_state(), "{}", question.name());
            states[number] = once.0.unwrap_or_else(|| states[number].clone());
            answers.push(Answer::from_bytes(&once.1)?);
        }
        Ok(answers)
    }
}

/// Rows and targets in partitions of these sizes; what is left over is the last.
fn split(rows: &Rows, target: Option<&Column>, sizes: &[usize]) -> Sent {
    let mut start = 0;
    let mut parts = Vec::new();
    for size in sizes.iter().copied().chain([usize::MAX]) {
        let end = rows.n().min(start + size.min(rows.n()));
        let places: Vec<usize> = (start..end).collect();
        let own = |column: &Column| match column {
            Column::Text(v) => Column::Text(v[start..end].to_vec()),
            Column::Integers(v) => Column::Integers(v[start..end].to_vec()),
            Column::Numbers(v) => Column::Numbers(v[start..end].to_vec()),
        };
        parts.push(Partition::new(rows.select(&places), target.map(own)));
        start = end;
    }
    let nothing = State::default().to_bytes().expect("bytes");
    Sent { states: Mutex::new(vec![nothing; parts.len()]), parts }
}

/// Normal numbers, the same sorted by the first column, a grid of whole numbers with many ties and copies, and clusters.
fn kinds(n: usize) -> Vec<(&'static str, Rows<'static>)> {
    let normal = naive::random_rows(n, 4, 7);
    let mut sorted = normal.clone();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let grid: Vec<Vec<f64>> =
        (0..n).map(|i| vec![(i * 7 % 5) as f64, (i * 3 % 4) as f64, (i % 3) as f64, 0.0]).collect();
    let clusters: Vec<Vec<f64>> = normal
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().map(|v| 0.05 * v + (i % 6) as f64).collect())
        .collect();
    [("normal", normal), ("sorted", sorted), ("grid", grid), ("clusters", clusters)]
        .map(|(name, rows)| (name, Rows::dense(rows.concat(), n, 4).expect("rows")))
        .into()
}

fn bases() -> Vec<Basis> {
    let kernel = Kernel::rbf(0.1);
    vec![
        Basis::kobl(kernel).threshold(Threshold::Constant(0.0)).n_components(60),
        Basis::kobl(kernel),
        Basis::kobl(kernel).threshold(Threshold::Linear),
        Basis::rpcholesky(kernel).n_components(50).seed(3),
        Basis::nystrom(kernel).n_components(120).seed(3),
        Basis::sparse(kernel).seed(3),
        Basis::sparse(kernel).nu(0.05).n_components(40),
        Basis::kfa(kernel).n_components(30).seed(3),
        Basis::kmeans(kernel).n_components(12),
    ]
}

fn parted_options(kept: u64) -> PartedOptions {
    PartedOptions { kept, ..PartedOptions::default() }
}

#[test]
fn bases_of_partitions_have_the_pivots_of_all_rows_in_one_place() {
    for (kind, rows) in kinds(700) {
        for basis in bases() {
            let whole = basis.fit(&rows).expect("fits");
            for (sizes, kept) in [(vec![], 0), (vec![100, 0, 1, 350], 0), (vec![233, 233], 1 << 40)] {
                let engine = split(&rows, None, &sizes);
                let mut parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
                let pipeline = Pipeline::of_basis(basis.clone());
                let found = parted.fit(&pipeline, &parted_options(kept)).expect("fits").basis;
                let about = format!("{kind}, {}, {sizes:?}, {kept}", basis.method.name());
                assert_eq!(found.pivots, whole.pivots, "{about}");
                assert_eq!(found.stop, whole.stop, "{about}");
                assert!((found.residual - whole.residual).abs() < 1e-9, "{about}");
                assert!((found.trace - whole.trace).abs() < 1e-9 * whole.trace, "{about}");
                let (a, b) = (&found.expansion.matrix, &whole.expansion.matrix);
                assert!((a - b).norm_max() <= 1e-6 * b.norm_max(), "{about}");
            }
        }
    }
}

/// What a pipeline makes of rows in one place, and in partitions.
fn both(
    pipeline: &Pipeline,
    rows: &Rows,
    target: &Column,
    sizes: &[usize],
    kept: u64,
) -> (FittedPipeline, FittedPipeline) {
    let labels = Labels::decide(target.clone(), Task::Auto).expect("labels");
    let whole = pipeline.fit(rows, Some(&labels), &Options::default()).expect("fits");
    let engine = split(rows, Some(target), sizes);
    let mut parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
    (whole, parted.fit(pipeline, &parted_options(kept)).expect("fits"))
}

/// The largest difference of features, relative to the largest feature.
fn apart(a: &FittedPipeline, b: &FittedPipeline, rows: &Rows) -> f64 {
    let [x, y] = [a, b].map(|fitted| fitted.map.transform(rows).expect("features"));
    assert_eq!(x.shape(), y.shape());
    (&x - &y).norm_max() / x.norm_max()
}

#[test]
fn extractors_of_partitions_make_the_features_of_all_rows_in_one_place() {
    let table = synth::generate("ringnorm?n=600&seed=1").expect("rows");
    let target = table.target.expect("classes");
    let numbers = Column::Numbers(table.rows.to_dense().chunks(20).map(|x| 1e3 + x[0] * x[1]).collect());
    // So many classes that singular vectors are found one by one.
    let first: Vec<f64> = table.rows.to_dense().chunks(20).map(|x| x[0]).collect();
    let mut order: Vec<usize> = (0..600).collect();
    order.sort_by(|&a, &b| first[a].total_cmp(&first[b]));
    let mut many = vec![String::new(); 600];
    order.iter().enumerate().for_each(|(rank, &row)| many[row] = format!("class{}", rank / 6));
    let many = Column::Text(many);
    let basis = Basis::kobl(Kernel::rbf(0.02)).threshold(Threshold::Constant(0.0)).n_components(40);
    for (method, target, settings) in [
        ("gda", &target, &[][..]),
        ("koc", &target, &[]),
        ("kpls", &target, &[("n_components", "3")]),
        ("kpls", &numbers, &[("n_components", "3")]),
        ("kpls", &many, &[("n_components", "3")]),
        ("kpca", &target, &[("n_components", "5")]),
        ("skfe", &target, &[("max_iter", "5")]),
        ("skfe", &target, &[("init", "akda-qr"), ("max_iter", "3")]),
        ("skfe", &target, &[("criterion", "margin"), ("max_iter", "3")]),
        ("akda-qr", &target, &[("gamma", "0.02")]),
        ("klfe", &target, &[("n_queries", "150"), ("n_components", "4")]),
        ("klfe", &target, &[("n_queries", "150"), ("n_components", "4"), ("n_neighbors", "1")]),
        ("kanmm", &target, &[("n_queries", "150"), ("n_components", "4")]),
    ] {
        let pipeline = Pipeline::new(method, settings).expect("settings");
        let pipeline = if method == "akda-qr" { pipeline } else { pipeline.on(basis.clone()) };
        for (sizes, kept) in [(vec![200, 0, 199], 0), (vec![200, 0, 199], 1 << 40), (vec![1, 598], 0)] {
            let (whole, parted) = both(&pipeline, &table.rows, target, &sizes, kept);
            let far = apart(&whole, &parted, &table.rows);
            assert!(far < 1e-9, "{method} {settings:?} {sizes:?}: {far:.1e}");
            assert_eq!(whole.warnings, parted.warnings, "{method}");
        }
    }
}

#[test]
fn systems_of_partitions_keep_the_coordinates_of_all_rows_in_one_place() {
    let table = synth::generate("ringnorm?n=600&seed=1").expect("rows");
    let target = table.target.expect("classes");
    let three =
        Column::Integers(table.rows.to_dense().chunks(20).map(|x| (x[0] as i64).clamp(-1, 1)).collect());
    let basis = Basis::kobl(Kernel::rbf(0.02)).threshold(Threshold::Constant(0.0)).n_components(30);
    for (method, target, settings) in [
        ("takes", &target, &[][..]),
        ("takes", &three, &[]),
        ("sk-relief", &target, &[("n_queries", "100"), ("n_features", "5")]),
        ("k-relief", &three, &[("n_queries", "100"), ("n_features", "5"), ("weighted", "sqrt")]),
        ("eks", &target, &[("selector", "f")]),
        ("eks", &three, &[("selector", "fdr")]),
        ("eks", &three, &[("selector", "relieff"), ("n_queries", "80")]),
        ("eks", &target, &[("selector", "rrelieff"), ("n_queries", "80")]),
        ("eks", &target, &[("selector", "kffs"), ("weighted", "true")]),
    ] {
        let pipeline = Pipeline::new(method, settings).expect("settings").on(basis.clone());
        for (sizes, kept) in [(vec![200, 0, 199], 0), (vec![300], 1 << 40)] {
            let (whole, parted) = both(&pipeline, &table.rows, target, &sizes, kept);
            let far = apart(&whole, &parted, &table.rows);
            assert!(far < 1e-9, "{method} {settings:?} {sizes:?}: {far:.1e}");
            assert_eq!(whole.map.feature_names, parted.map.feature_names);
            assert_eq!(whole.warnings, parted.warnings, "{method} {settings:?}");
        }
    }
}

#[test]
fn columns_of_partitions_have_the_scores_of_all_rows_in_one_place() {
    let table = synth::generate("ringnorm?n=500&seed=2").expect("rows");
    let target = table.target.expect("classes");
    let numbers = Column::Numbers(table.rows.to_dense().chunks(20).map(|x| 7.0 + x[0] * x[1]).collect());
    let queries = [("n_queries", "90"), ("seed", "5")];
    for (name, target, settings) in [
        ("f", &target, &[][..]),
        ("f", &numbers, &[]),
        ("kffs", &target, &[]),
        ("relief", &target, &queries),
        ("relieff", &target, &queries),
        ("rrelieff", &numbers, &queries),
    ] {
        let (selector, _) = methods::selector(name, settings).expect("settings");
        let labels = Labels::decide(target.clone(), Task::Auto).expect("labels");
        let monitor = Monitor::default();
        let whole = selector.score(&Columns::new(&table.rows, &labels, &monitor)).expect("scores");
        for sizes in [vec![], vec![1, 0, 300], vec![120, 120, 120]] {
            let engine = split(&table.rows, Some(target), &sizes);
            let parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
            let found = parted.scores(&selector, &monitor).expect("scores");
            let most = whole.scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (a, b) in found.scores.iter().zip(&whole.scores) {
                assert!((a - b).abs() <= 1e-10 * most, "{name} {sizes:?}: {a} {b}");
            }
            assert_eq!((found.order, found.warnings), (whole.order.clone(), whole.warnings.clone()));
        }
    }
}

#[test]
fn what_looks_at_all_rows_at_once_is_refused_by_name() {
    let table = synth::generate("twonorm?n=60&seed=1").expect("rows");
    let target = table.target.expect("classes");
    let fit = |method: &str, settings: &[(&str, &str)], basis: Option<&str>| {
        let engine = split(&table.rows, Some(&target), &[30]);
        let mut parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
        let given = basis.map(|basis| ("basis", basis));
        let settings: Vec<_> = settings.iter().copied().chain(given).collect();
        let pipeline = Pipeline::new(method, &settings).expect("settings");
        parted.fit(&pipeline, &parted_options(0)).map(|_| ()).expect_err("refused").to_string()
    };
    for (method, settings, basis, why) in [
        ("csi", &[][..], None, "`csi` looks at all rows at once"),
        ("gram-schmidt", &[], None, "`gram-schmidt` looks at all rows at once"),
        ("kpca", &[], None, "`kpca` looks at all rows at once"),
        ("kfa", &[("candidates", "all")], None, "kfa with candidates = all"),
        ("kmfa", &[], Some("kobl"), "`kmfa` looks at all rows at once"),
        ("klfe", &[], Some("kobl"), "set n_queries"),
        ("sk-relief", &[], None, "set n_queries"),
        ("eks", &[("selector", "lasso")], Some("kobl"), "`lasso` looks at all rows at once"),
        ("koc", &[("n_clusters", "2")], Some("kobl"), "n_clusters above 1"),
        ("skfe", &[("points", "3")], None, "skfe with points"),
        ("kobl", &[("n_components", "relevant")], None, "n_components = relevant"),
        ("kobl", &[("kernel", "precomputed")], None, "a precomputed kernel"),
    ] {
        let text = fit(method, settings, basis);
        assert!(text.contains(why) && text.contains("hint"), "{method}: {text}");
    }
}

#[test]
fn what_is_wrong_with_the_rows_is_said_with_the_row_among_all() {
    let open =
        |engine: &Sent| Parted::open(engine, Task::Auto, &mut Vec::new()).map(|_| ()).expect_err("refused");
    let rows = |x: Vec<f64>| {
        let n = x.len() / 2;
        Rows::dense(x, n, 2).expect("rows")
    };
    let bad = rows(vec![0.0, 1.0, 2.0, 3.0, 4.0, f64::NAN]);
    let text = open(&split(&bad, None, &[1, 0, 1])).to_string();
    assert!(text.contains("NaN at row 3, column 2"), "{text}");
    let good = rows(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let target = Column::Numbers(vec![0.5, 1.5, f64::INFINITY]);
    assert!(open(&split(&good, Some(&target), &[2])).to_string().contains("not a finite number at row 3"));
    assert!(
        open(&split(&rows(Vec::new()), None, &[0, 0])).to_string().contains("all 3 partitions are empty")
    );
    let mut engine = split(&good, None, &[1]);
    engine.parts[1].rows = Rows::dense(vec![1.0], 1, 1).expect("rows");
    assert!(open(&engine).to_string().contains("partition 2 has 1 columns"));
    let mut engine = split(&good, Some(&Column::Integers(vec![0, 1, 1])), &[2]);
    engine.parts[1] = Partition::new(engine.parts[1].rows.clone(), Some(Column::Text(vec!["a".into()])));
    assert!(open(&engine).to_string().contains("text in some partitions and numbers in others"));
}

#[test]
fn landmarks_are_chosen_among_some_rows_where_that_is_asked_for() {
    let table = synth::generate("ringnorm?n=400&seed=1").expect("rows");
    let engine = split(&table.rows, None, &[150]);
    let mut parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
    let basis = Basis::gram_schmidt(Kernel::rbf(0.05));
    let options = PartedOptions { basis_rows: Some(50), ..PartedOptions::default() };
    let found = parted.fit(&Pipeline::of_basis(basis), &options).expect("fits").basis;
    assert_eq!(found.n_components(), 50);
    let chosen = table.rows.select(&found.pivots);
    let mercer::basis::Landmarks::Rows(landmarks) = &found.expansion.landmarks else { panic!("rows") };
    assert_eq!(*landmarks, chosen);
    assert_eq!(found.n_rows, 400);
    let left =
        mercer::Basis::kobl(Kernel::rbf(0.05)).landmarks(chosen).fit(&table.rows).expect("fits").residual;
    assert!((found.residual - left).abs() < 1e-6, "{} {left}", found.residual);
}

#[test]
fn weights_of_the_columns_are_those_of_all_rows_in_one_place() {
    let table = synth::generate("friedman?n=500&seed=1").expect("rows");
    let target = table.target.expect("numbers");
    let pipeline =
        Pipeline::new("kpls", &[("basis", "kobl"), ("basis_components", "40"), ("input_weights", "true")]);
    let (whole, parted) = both(&pipeline.expect("settings"), &table.rows, &target, &[200, 100], 0);
    assert_eq!(
        whole.weights.as_ref().expect("found").weights,
        parted.weights.as_ref().expect("found").weights
    );
    assert!(apart(&whole, &parted, &table.rows) < 1e-8);
}

/// What targets are is decided from all partitions, as it is from one column.
#[test]
fn targets_are_decided_from_all_partitions() {
    let columns = [
        Column::Text(["b", "a", "10", "2", "b"].map(String::from).into()),
        Column::Text(["10", "2", "2", "1", "10"].map(String::from).into()),
        Column::Integers((0..60).collect()),
        Column::Integers((0..200).map(|i| i % 25).collect()),
        Column::Numbers((0..90).map(f64::from).collect()),
        Column::Numbers(vec![0.0, -0.0, 1.0, 1.0]),
        Column::Numbers(vec![0.5, 1.0, 1.0, 2.0]),
    ];
    for column in columns {
        let n = column.len();
        let rows = Rows::dense(vec![1.0; n], n, 1).expect("rows");
        for task in [Task::Auto, Task::Classes, Task::Numbers] {
            let (mut local, mut merged) = (Vec::new(), Vec::new());
            let labels = Labels::decide_with(column.clone(), task, &mut local);
            let engine = split(&rows, Some(&column), &[1, 0, n / 2]);
            let parted = Parted::open(&engine, task, &mut merged);
            match (labels, parted) {
                (Ok(labels), Ok(parted)) => {
                    let all = parted.take(&(0..n).collect::<Vec<_>>()).expect("rows");
                    assert_eq!(all.1.expect("labels"), labels, "{column:?}");
                    assert_eq!(local, merged, "{column:?}");
                }
                (labels, parted) => {
                    assert!(labels.is_err() && parted.is_err(), "{column:?} {task:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However the rows are split, dense or sparse, with copies or without: the same pivots, and features to rounding.
    #[test]
    fn any_split_gives_the_same_fit(
        n in 6usize..120,
        seed in 0u64..1_000,
        cuts in prop::collection::vec(0usize..60, 0..5),
        copies in any::<bool>(),
        sparse in any::<bool>(),
    ) {
        let mut rows = naive::random_rows(n, 3, seed);
        // Copies are of one class, so that the classes differ.
        let period = if copies { 5.max(n / 3) } else { n };
        (0..n).for_each(|i| rows[i] = rows[i % period].clone());
        if sparse {
            rows.iter_mut().enumerate().for_each(|(i, row)| row[i % 3] = 0.0);
        }
        let dense = Rows::dense(rows.concat(), n, 3).expect("rows");
        let csr: Vec<(usize, f64)> = rows.iter().flat_map(|row| row.iter().copied().enumerate()).collect();
        let rows = if sparse {
            let indptr: Vec<usize> = (0..=n).map(|i| i * 3).collect();
            let indices: Vec<u32> = csr.iter().map(|(j, _)| *j as u32).collect();
            let values: Vec<f64> = csr.iter().map(|(_, v)| *v).collect();
            Rows::sparse(indptr, indices, values, 3).expect("rows")
        } else {
            dense
        };
        let target = Column::Integers((0..n).map(|i| i64::from(i % period % 2 == 1)).collect());
        for basis in ["kobl", "rpcholesky", "sparse", "nystrom", "kfa"] {
            let settings = [("basis", basis), ("basis_components", "12"), ("gamma", "0.3")];
            let pipeline = Pipeline::new("gda", &settings).expect("settings");
            let (whole, parted) = both(&pipeline, &rows, &target, &cuts, 0);
            prop_assert_eq!(&whole.basis.pivots, &parted.basis.pivots, "{}", basis);
            prop_assert!(apart(&whole, &parted, &rows) < 1e-5, "{}", basis);
        }
    }
}

#[test]
fn sums_of_kernels_are_sent_by_value_and_functions_are_refused() {
    let (fixed, free): (Kernel, mercer::Shape) = (
        "0.5*rbf(gamma=0.1, columns=0:2)*match(columns=3)+rbf(gamma=0.3)+0.1*linear"
            .parse()
            .expect("a kernel"),
        "rbf(columns=0:2)+0.1*linear".parse().expect("a kernel"),
    );
    for (kind, rows) in kinds(300) {
        let by_rule = Basis::kobl(Kernel { shape: free, gamma: 1.0 }).gamma(mercer::Gamma::Median);
        for basis in [Basis::kobl(fixed), Basis::kfa(fixed).seed(3), Basis::kmeans(fixed), by_rule] {
            let basis = basis.n_components(20);
            let whole = basis.fit(&rows).expect("fits");
            let engine = split(&rows, None, &[100, 0, 1]);
            let mut parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
            let pipeline = Pipeline::of_basis(basis.clone());
            let found = parted.fit(&pipeline, &parted_options(0)).expect("fits").basis;
            let about = format!("{kind}, {}", basis.method.name());
            assert_eq!(found.pivots, whole.pivots, "{about}");
            assert_eq!(found.expansion.kernel, whole.expansion.kernel, "{about}");
        }
    }
    let (_, rows) = kinds(50).remove(0);
    let engine = split(&rows, None, &[20]);
    let mut parted = Parted::open(&engine, Task::Auto, &mut Vec::new()).expect("rows");
    let own = Kernel::own("product", |x, z| x[0] * z[0]) + Kernel::rbf(1.0);
    let refused = parted.fit(&Pipeline::of_basis(Basis::kobl(own)), &parted_options(0)).expect_err("refused");
    assert!(refused.to_string().contains("is a function, and rows in partitions"), "{refused}");
}
