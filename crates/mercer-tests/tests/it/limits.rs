//! Input of absurd sizes: it works, or an error says what was given and what it would take.

use std::collections::HashMap;

use mercer::data::{Column, Labels, Task, synth};
use mercer::evaluate::{Comparison, Learner, advise::Adviser};
use mercer::map::Model;
use mercer::methods::{Stage, column_selector, names};
use mercer::select::Columns;
use mercer::{Basis, Error, FeatureMap, Gamma, Kernel, Monitor, Options, Pipeline, Rows};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;

/// 60 sparse rows of p columns, of which only the first 12 and, in every seventh row, the last have numbers.
fn wide(p: usize) -> Rows<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..60usize {
        let mut columns: Vec<usize> = (0..12).filter(|j| (i * (j + 3)) % 5 < 2).collect();
        columns.extend(i.is_multiple_of(7).then_some(p - 1));
        for j in columns {
            indices.push(u32::try_from(j).expect("32 bits"));
            values.push(((i * 7 + j.min(12) * 3) % 11) as f64 / 11.0 + 0.1);
        }
        indptr.push(indices.len());
    }
    Rows::sparse(indptr, indices, values, p).expect("rows")
}

fn three_classes(n: usize) -> Labels {
    Labels::classes(&(0..n).map(|i| ["a", "b", "c"][i % 3]).collect::<Vec<_>>())
}

#[test]
fn sparse_rows_of_2_to_the_31_columns_are_fitted_by_every_basis_and_extractor() {
    let (rows, labels) = (wide((1 << 31) + 5), three_classes(60));
    let methods = names(Stage::Basis).into_iter().chain(names(Stage::Extract));
    for method in methods {
        let pipeline = Pipeline::new(method, &[("gamma", "0.5")]).expect(method);
        match pipeline.fit(&rows, Some(&labels), &Options::default()) {
            Ok(fitted) => assert_eq!(fitted.map.transform(&rows).expect(method).nrows(), 60),
            // Centres are dense.
            Err(Error::Memory(text)) => {
                assert!(method == "kmeans" && text.contains("2147483653 columns need"), "{method}: {text}");
            }
            Err(error) => panic!("{method}: {error}"),
        }
    }
}

#[test]
fn columns_that_no_row_has_change_no_kernel_value() {
    let (narrow, far) = (wide(13), wide(1 << 32));
    for name in ["rbf", "laplacian", "linear", "cosine", "chi2", "poly"] {
        let kernel = Kernel { shape: mercer::Shape::named(name, 2, 1.0, 1.0).expect("known"), gamma: 0.5 };
        let [a, b] = [&narrow, &far].map(|rows| kernel.matrix(rows, rows).expect("values"));
        assert!((&a - &b).norm_max() <= 1e-14 * a.norm_max(), "{name}");
    }
    let fit = |rows: &Rows| Basis::kobl(Kernel::rbf(0.5)).n_components(9).fit(rows).expect("fits");
    let [a, b] = [&narrow, &far].map(fit);
    assert_eq!(a.pivots, b.pivots);
    assert!((&a.expansion.matrix - &b.expansion.matrix).norm_max() < 1e-12);
}

#[test]
fn sparse_rows_of_more_than_2_to_the_32_columns_are_refused() {
    let rows = Rows::sparse(vec![0, 1], vec![7], vec![1.0], (1 << 32) + 1);
    let refused = rows.expect_err("refused").to_string();
    assert!(refused.contains("4294967297 columns; at most 4294967296"), "{refused}");
}

#[test]
fn scores_of_2_to_the_31_columns_are_refused_with_what_they_take() {
    let (rows, labels) = (wide((1 << 31) + 5), three_classes(60));
    let numbers = Labels::Numbers((0..60).map(f64::from).collect());
    let specs = mercer::methods::column_selector_specs();
    for name in specs.map(|spec| spec.name) {
        let (selector, _) = column_selector::<&str>(name, &[]).expect(name);
        let labels = if name == "rrelieff" { &numbers } else { &labels };
        let refused = selector.score(&Columns::new(&rows, labels, &Monitor::default())).expect_err(name);
        assert!(
            matches!(&refused, Error::Memory(text) if text.contains("the budget is 8.6 GB")),
            "{refused}"
        );
    }
}

/// A model file of two landmarks, with as many inputs as its header says.
fn model(kernel: &str, n_inputs: u64) -> Vec<u8> {
    let floats = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let whole = |values: &[u64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut parts = vec![
        ("matrix", Dtype::F64, vec![2, 2], floats(&[1.0, 0.0, 0.0, 1.0])),
        ("offset", Dtype::F64, vec![2], floats(&[0.0, 0.0])),
    ];
    if kernel == "precomputed" {
        parts.push(("landmarks.columns", Dtype::U64, vec![2], whole(&[0, 1])));
    } else {
        parts.push(("landmarks.indptr", Dtype::U64, vec![3], whole(&[0, 1, 2])));
        parts.push(("landmarks.indices", Dtype::U64, vec![2], whole(&[0, 1])));
        parts.push(("landmarks.values", Dtype::F64, vec![2], floats(&[1.0, 2.0])));
    }
    let views = parts.iter().map(|(name, dtype, shape, bytes)| {
        (*name, TensorView::new(*dtype, shape.clone(), bytes).expect("a tensor"))
    });
    let kernel = json!({ "name": kernel, "gamma": 1.0, "degree": 3, "coef0": 1.0, "alpha": 1.0 });
    let header = json!({ "format": 1, "method": "kobl", "kernel": kernel, "n_inputs": n_inputs,
                         "feature_names": ["a", "b"] });
    let metadata = HashMap::from([("mercer".to_string(), header.to_string())]);
    safetensors::serialize(views.collect::<Vec<_>>(), Some(metadata)).expect("bytes")
}

#[test]
fn a_model_file_of_10_to_the_12_inputs_is_refused_at_load() {
    for kernel in ["precomputed", "rbf"] {
        for inputs in [10u64.pow(12), 1 << 60, u64::MAX] {
            let refused = Model::read_from(&model(kernel, inputs)[..], "model").expect_err("refused");
            let text = refused.to_string();
            assert!(text.contains(&format!("rows have {inputs} columns, but at most 4294967296")), "{text}");
        }
    }
}

#[test]
fn a_model_file_of_2_to_the_32_inputs_takes_no_memory_for_them() {
    let map = FeatureMap::read_from(&model("rbf", 1 << 32)[..], "model").expect("loads");
    let rows = Rows::sparse(vec![0, 1, 1], vec![0], vec![1.0], 1 << 32).expect("rows");
    let z = map.transform(&rows).expect("features");
    assert_eq!((z[(0, 0)], z[(1, 0)]), (1.0, (-1.0f64).exp()));
    let given = FeatureMap::read_from(&model("precomputed", 1 << 32)[..], "model").expect("loads");
    let other = given.transform(&Rows::dense(vec![1.0; 6], 2, 3).expect("rows")).expect_err("refused");
    assert!(other.to_string().contains("4294967296"), "{other}");
    let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect_err("refused");
    assert!(
        matches!(&back, Error::Memory(text) if text.contains("which the system does not give")),
        "{back}"
    );
    let graph = mercer::onnx::Export::default().map(&map).expect_err("refused");
    assert!(matches!(&graph, Error::Memory(text) if text.contains("densely")), "{graph}");
}

#[test]
fn precomputed_kernels_of_1e308_are_refused_in_words_by_every_method() {
    let table = synth::generate("ringnorm?n=40&seed=1").expect("rows");
    let k = Kernel::rbf(0.05).matrix(&table.rows, &table.rows).expect("values");
    let times = |factor: f64| {
        let values: Vec<f64> =
            (0..40).flat_map(|i| k.row(i).iter().map(|v| v * factor).collect::<Vec<_>>()).collect();
        Rows::dense(values, 40, 40).expect("rows")
    };
    let labels = three_classes(40);
    let stages = [Stage::Basis, Stage::System, Stage::Extract];
    for method in stages.into_iter().flat_map(names).filter(|name| !["kmeans", "akda-qr"].contains(name)) {
        let pipeline = Pipeline::new(method, &[("kernel", "precomputed")]).expect(method);
        let fit = |rows: &Rows| pipeline.fit(rows, Some(&labels), &Options::default());
        let refused = fit(&times(1e308)).expect_err(method).to_string();
        assert!(refused.contains("cannot be added up\nhint: divide the matrix"), "{method}: {refused}");
        // Squares of these overflow.
        match fit(&times(1e200)) {
            Ok(fitted) => {
                let z = fitted.map.transform(&times(1e200)).expect(method);
                assert!(z.col_iter().all(|column| column.iter().all(|v| v.is_finite())), "{method}");
            }
            Err(error) => assert!(error.to_string().contains("\nhint: "), "{method}: {error}"),
        }
    }
}

#[test]
fn a_linear_kernel_whose_trace_overflows_is_refused_in_words() {
    let rows =
        Rows::dense((0..40).map(|i| 1e154 + f64::from(i) * 1e150).collect::<Vec<_>>(), 40, 1).expect("rows");
    let basis = Basis::new(mercer::basis::Method::Rpcholesky, Kernel::linear());
    let refused = basis.fit(&rows).expect_err("refused").to_string();
    assert!(refused.contains("the sum of k(x,x) over the 40 rows is too large"), "{refused}");
}

/// n rows whose target names c classes.
fn named(n: usize, c: usize) -> (Rows<'static>, Labels) {
    let rows = synth::generate(&format!("ringnorm?n={n}&seed=2")).expect("rows").rows;
    let names = (0..n).map(|i| format!("id{}", i % c)).collect();
    (rows, Labels::decide(Column::Text(names), Task::Auto).expect("labels"))
}

#[test]
fn a_target_with_a_class_for_every_row_looks_like_an_identifier() {
    let (rows, labels) = named(60, 60);
    let pipeline = Pipeline::new::<&str>("gda", &[]).expect("a pipeline");
    let refusals = [
        pipeline.fit(&rows, Some(&labels), &Options::default()).expect_err("gda"),
        Learner::default().fit(&rows, &labels).expect_err("auto"),
        Adviser::default().advise(&rows, &labels).expect_err("advice"),
    ];
    for text in refusals.map(|error| error.to_string()) {
        assert!(text.contains("60 rows have 60 classes") && text.contains("identifier"), "{text}");
    }
    let (rows, labels) = named(60, 30);
    Learner::default().fit(&rows, &labels).expect("30 classes of two rows");
}

#[test]
fn a_target_of_1000_classes_in_2000_rows_looks_like_an_identifier() {
    let (rows, labels) = named(2_000, 1_000);
    let says = |error: Error, method: &str| {
        let text = error.to_string();
        assert!(
            text.contains("2000 rows have 1000 classes") && text.contains("identifier"),
            "{method}: {text}"
        );
    };
    for method in [Stage::System, Stage::Extract].into_iter().flat_map(names).filter(|name| *name != "kpca") {
        let pipeline = Pipeline::new::<&str>(method, &[]).expect(method);
        says(pipeline.fit(&rows, Some(&labels), &Options::default()).expect_err(method), method);
    }
    let monitor = Monitor::default();
    for name in ["kffs", "f", "relief", "mi"] {
        let (selector, _) = column_selector::<&str>(name, &[]).expect(name);
        says(selector.score(&Columns::new(&rows, &labels, &monitor)).expect_err(name), name);
    }
    says(Comparison::default().run(&rows, &labels).expect_err("refused"), "compare");
    says(Adviser::default().advise(&rows, &labels).expect_err("refused"), "advise");
    // Few classes, and many with enough rows, are classes.
    for (n, c) in [(600, 300), (2_600, 510)] {
        let (rows, labels) = named(n, c);
        let (selector, _) = column_selector::<&str>("kffs", &[]).expect("known");
        selector.score(&Columns::new(&rows, &labels, &monitor)).expect("scores");
    }
}

#[test]
fn a_basis_of_rows_with_5000_names_finds_its_width() {
    let (rows, labels) = named(5_000, 5_000);
    let basis = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Loo).n_components(5);
    assert_eq!(basis.fit_supervised(&rows, &labels).expect("fits").n_components(), 5);
}

#[test]
fn what_is_kept_of_many_classes_counts_in_the_memory() {
    let (rows, labels) = named(6_000, 1_000);
    for method in ["takes", "gda", "koc", "kpls", "skfe"] {
        let settings = [("basis", "kobl"), ("gamma", "0.05")];
        let pipeline = Pipeline::new(method, &settings).expect(method);
        let pipeline = pipeline.on(Basis::kobl(Kernel::rbf(0.05)).n_components(10));
        let refused =
            pipeline.fit(&rows, Some(&labels), &Options::default().memory(8 << 20)).expect_err(method);
        assert!(
            matches!(&refused, Error::Memory(text) if text.contains("1000 classes")),
            "{method}: {refused}"
        );
    }
}

#[test]
fn classes_count_in_the_memory_of_a_comparison() {
    let refusal = |c: usize| {
        let (rows, labels) = named(3_000, c);
        let options = Options::default().memory(1 << 20);
        let comparison = Comparison { methods: vec!["gda".into()], options, ..Comparison::default() };
        comparison.run(&rows, &labels).expect_err("refused").to_string()
    };
    let megabytes = |text: String| {
        let number =
            text.split("needs ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::parse::<f64>);
        number.expect("an estimate").expect("a number")
    };
    let [few, many] = [2, 500].map(|c| megabytes(refusal(c)));
    assert!(many >= few + 8.0 * 498.0 * 3_000.0 / 1e6 - 1.0, "{few} MB, {many} MB");
}

#[test]
fn a_job_with_99999_threads_starts_as_many_as_are_of_use() {
    let rows = synth::generate("ringnorm?n=200&seed=1").expect("rows").rows;
    let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(20);
    let [many, one] = [99_999, 1].map(|threads| {
        let (fitted, _) = basis.fit_with(&rows, None, &Options::default().threads(threads)).expect("fits");
        fitted.expansion.matrix
    });
    assert_eq!(many, one);
}
