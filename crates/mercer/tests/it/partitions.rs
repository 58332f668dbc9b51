//! Fits on rows in partitions against fits on all rows in one place.

use mercer::basis::Threshold;
use mercer::data::{Column, Labels, Task, synth};
use mercer::partitions::{InProcess, Parted, PartedOptions, Partition};
use mercer::{Basis, FittedPipeline, Kernel, Options, Pipeline, Rows};

use crate::naive;

/// Rows and targets in partitions of these sizes; what is left over is the last.
fn split(rows: &Rows, target: Option<&Column>, sizes: &[usize]) -> InProcess<'static> {
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
    InProcess::new(parts)
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
    let basis = Basis::kobl(Kernel::rbf(0.02)).threshold(Threshold::Constant(0.0)).n_components(40);
    for (method, target, settings) in [
        ("gda", &target, &[][..]),
        ("koc", &target, &[]),
        ("kpls", &target, &[("n_components", "3")]),
        ("kpls", &numbers, &[("n_components", "3")]),
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
