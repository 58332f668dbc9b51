//! What a GPU computes is what the processor computes.
//!
//! `make test-gpu` runs these on a GPU, `make test-stand-in` on a slow imitation of one; without `MERCER_TEST_DEVICE` they
//! are left out.

use mercer::basis::{Basis, FittedBasis, Method, Precision};
use mercer::data::{Task, synth};
use mercer::device::Device;
use mercer::evidence::neighbours::Neighbours;
use mercer::faer::{Mat, MatMut};
use mercer::pipeline::ColumnSelection;
use mercer::{Error, FeatureMap, Kernel, Labels, Monitor, Options, Pipeline, Rows, Shape};

/// The GPU to test, if one is to be tested.
fn gpu() -> Option<Device> {
    std::env::var("MERCER_TEST_DEVICE")
        .ok()
        .map(|name| name.parse().expect("MERCER_TEST_DEVICE names a device"))
}

/// Options to compute there.
fn there(device: Device) -> Options {
    Options::default().device(device)
}

/// n rows of p columns, in clusters, with classes.
fn data(n: usize, p: usize) -> (Rows<'static>, Labels) {
    let value = |i: usize, j: usize| {
        let noise = ((i * 7919 + j * 104_729 + i * j * 31) % 1_000) as f64 / 1_000.0;
        ((i % 3) as f64 - 1.0) * if j.is_multiple_of(2) { 0.8 } else { -0.5 } + noise
    };
    let values: Vec<f64> = (0..n * p).map(|at| value(at / p, at % p)).collect();
    let names: Vec<String> = (0..n).map(|i| format!("c{}", i % 3)).collect();
    (Rows::dense(values, n, p).expect("rows"), Labels::classes(&names))
}

fn close(a: &Mat<f64>, b: &Mat<f64>, tolerance: f64, what: &str) {
    assert_eq!(a.shape(), b.shape(), "{what}");
    let size = b.norm_max().max(1.0);
    let apart = (a - b).norm_max();
    assert!(apart <= tolerance * size, "{what}: {apart:e} apart, of {size:e}");
}

/// A fit here and a fit there.
fn both(basis: &Basis, rows: &Rows, device: Device) -> (FittedBasis, FittedBasis) {
    let here = basis.fit(rows).expect("fitted here");
    let found = basis.fit_with(rows, None, &there(device)).expect("fitted there").0;
    (here, found)
}

fn kernels() -> Vec<Kernel> {
    let of =
        |name: &str, gamma: f64| Kernel { shape: Shape::named(name, 3, 1.0, 1.5).expect("known"), gamma };
    vec![
        of("rbf", 0.3),
        of("laplacian", 0.2),
        of("linear", 1.0),
        of("poly", 0.2),
        of("cosine", 1.0),
        of("matern12", 0.3),
        of("matern32", 0.3),
        of("matern52", 0.3),
        of("rq", 0.3),
    ]
}

fn named(method: &str, kernel: Kernel) -> Basis {
    let mut basis = Basis::kobl(kernel);
    basis.method = Method::named(method).expect("known");
    basis.threshold = None;
    basis
}

#[test]
fn pivots_of_every_kernel_are_those_of_the_processor() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(301, 5);
    for kernel in kernels() {
        let basis = Basis::kobl(kernel).n_components(40);
        let (here, found) = both(&basis, &rows, device);
        assert_eq!(here.pivots, found.pivots, "{:?}", kernel.shape);
        assert_eq!(here.stop, found.stop);
        close(&found.expansion.matrix, &here.expansion.matrix, 1e-9, "coefficients");
        assert!((here.residual - found.residual).abs() < 1e-10);
        let (z, expected) = (
            found.expansion.transform(&rows.clone().on(device).expect("there")),
            here.expansion.transform(&rows),
        );
        close(&z.expect("there"), &expected.expect("here"), 1e-10, kernel.shape.name());
    }
}

#[test]
fn every_method_chooses_the_same_rows() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(1_111, 4);
    for method in ["kobl", "nystrom", "sparse", "kfa"] {
        let basis = named(method, Kernel::rbf(0.4)).n_components(30).seed(3);
        let (here, found) = both(&basis, &rows, device);
        assert_eq!(here.pivots, found.pivots, "{method}");
        close(&found.expansion.matrix, &here.expansion.matrix, 1e-9, method);
        assert!((here.residual - found.residual).abs() < 1e-10, "{method}");
    }
}

#[test]
fn random_pivots_make_an_orthonormal_basis_of_the_right_residual_and_the_same_bits_again() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(2_050, 6);
    for m in [1, 7, 90] {
        let basis = named("rpcholesky", Kernel::rbf(0.5)).n_components(m).seed(1);
        let first = basis.fit_with(&rows, None, &there(device)).expect("fitted").0;
        let again = basis.fit_with(&rows, None, &there(device)).expect("fitted").0;
        assert_eq!((&first.pivots, first.residual), (&again.pivots, again.residual));
        assert_eq!(first.expansion, again.expansion);
        assert_eq!(first.pivots.len(), m);
        let mut distinct = first.pivots.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), m);
        assert!(first.expansion.orthogonality_loss(None).expect("loss") < 1e-9);
        // Of k(x,x) = 1 this is left.
        let z = first.expansion.transform(&rows).expect("features");
        let here = 1.0 - (0..2_050).map(|i| z.row(i).squared_norm_l2()).sum::<f64>() / 2_050.0;
        assert!((first.residual - here).abs() < 1e-10, "{} for {here}", first.residual);
    }
}

#[test]
fn draws_follow_the_residuals() {
    let Some(device) = gpu() else { return };
    // One row in four is far from zero: with the linear kernel its residual is nine times as large.
    let values: Vec<f64> = (0..40).map(|i| if i % 4 == 0 { 3.0 } else { 1.0 }).collect();
    let rows = Rows::dense(values, 40, 1).expect("rows");
    let count = 300;
    let far = (0..count)
        .filter(|&seed| {
            let basis = named("rpcholesky", Kernel::linear()).n_components(1).seed(seed);
            basis.fit_with(&rows, None, &there(device)).expect("fitted").0.pivots[0] % 4 == 0
        })
        .count();
    let expected = count as f64 * 90.0 / 120.0;
    assert!((far as f64 - expected).abs() < 4.0 * (expected * 0.25).sqrt(), "{far} for {expected}");
}

#[test]
fn awkward_sizes() {
    let Some(device) = gpu() else { return };
    for (n, p) in [(1, 1), (2, 1), (3, 7), (257, 1), (1_025, 2), (40, 33), (64, 64)] {
        let (rows, _) = data(n, p);
        for kernel in [Kernel::rbf(0.7), Kernel { shape: Shape::Laplacian, gamma: 0.7 }, Kernel::linear()] {
            let basis = Basis::kobl(kernel);
            let (here, found) = both(&basis, &rows, device);
            assert_eq!(here.pivots, found.pivots, "{n} × {p}");
            let z = found.expansion.transform(&rows.clone().on(device).expect("there")).expect("there");
            close(&z, &here.expansion.transform(&rows).expect("here"), 1e-9, &format!("{n} × {p}"));
        }
    }
}

#[test]
fn copies_constant_columns_and_scales() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(120, 3);
    let mut values = rows.to_dense();
    let again = values.clone();
    values.extend(again);
    for scale in [1e-9, 1.0, 1e9] {
        let scaled: Vec<f64> =
            values.iter().enumerate().map(|(at, v)| if at % 3 == 2 { 5.0 } else { scale * v }).collect();
        let rows = Rows::dense(scaled, 240, 3).expect("rows");
        let (here, found) = both(&Basis::kobl(Kernel::rbf(0.3 / (scale * scale))), &rows, device);
        assert_eq!(here.pivots, found.pivots, "{scale:e}");
        assert!(found.pivots.iter().all(|&i| i < 120), "copies are no pivots");
    }
}

#[test]
fn what_does_not_fit_is_recomputed_with_the_same_pivots() {
    let Some(device) = gpu() else { return };
    let (rows, labels) = data(900, 4);
    let basis = Basis::kobl(Kernel::rbf(0.5)).n_components(60);
    let whole = basis.fit_with(&rows, None, &there(device)).expect("fitted").0;
    // The rows take 29 kB, the factor 432 kB.
    temp_env("MERCER_DEVICE_MEMORY", "300kB", || {
        let parts = basis.fit_with(&rows, None, &there(device)).expect("fitted").0;
        assert_eq!(whole.pivots, parts.pivots);
        close(&parts.expansion.matrix, &whole.expansion.matrix, 1e-8, "coefficients");
        let pipeline =
            Pipeline::new("gda", &[("basis", "kobl"), ("basis_components", "40"), ("gamma", "0.5")]);
        let pipeline = pipeline.expect("known");
        let there = pipeline.fit(&rows, Some(&labels), &there(device)).expect("fitted there");
        let here = pipeline.fit(&rows, Some(&labels), &Options::default()).expect("fitted here");
        close(&there.map.expansion.matrix, &here.map.expansion.matrix, 1e-6, "gda");
    });
}

#[test]
fn rows_that_do_not_fit_are_copied_there_in_pieces_with_the_same_results() {
    let Some(device) = gpu() else { return };
    let (rows, labels) = data(900, 4);
    let codes: Vec<usize> = (0..900).map(|i| i % 3).collect();
    let single: Vec<f32> = rows.to_dense().iter().map(|v| *v as f32).collect();
    let single = Rows::dense_f32(single, 900, 4).expect("rows");
    // The rows take 29 kB.
    temp_env("MERCER_DEVICE_MEMORY", "20kB", || {
        for method in ["kobl", "nystrom", "sparse", "kfa"] {
            let basis = named(method, Kernel::rbf(0.4)).n_components(30).seed(3);
            let (here, found) = both(&basis, &rows, device);
            assert_eq!(here.pivots, found.pivots, "{method}");
            assert!((here.residual - found.residual).abs() < 1e-9, "{method}");
        }
        let basis =
            Basis { precision: Some(Precision::Double), ..Basis::kobl(Kernel::rbf(0.4)).n_components(30) };
        let (here, found) = both(&basis, &single, device);
        assert_eq!(here.pivots, found.pivots);
        let on_gpu = rows.clone().on(device).expect("there");
        let z = here.expansion.transform(&on_gpu).expect("there");
        close(&z, &here.expansion.transform(&rows).expect("here"), 1e-10, "features");
        for kernel in [Kernel::rbf(0.3), Kernel { shape: Shape::Laplacian, gamma: 0.3 }] {
            let here = Neighbours::find(kernel, &rows, &codes, 5, &Monitor::default()).expect("here");
            let found = Neighbours::find(kernel, &on_gpu, &codes, 5, &Monitor::default()).expect("there");
            assert_eq!(here, found);
        }
        for method in ["gda", "klfe"] {
            let settings = [("basis", "kobl"), ("basis_components", "25"), ("gamma", "0.5")];
            let pipeline = Pipeline::new(method, &settings).expect("known");
            let here = pipeline.fit(&rows, Some(&labels), &Options::default()).expect("fitted here");
            let found = pipeline.fit(&rows, Some(&labels), &there(device)).expect("fitted there");
            let (z, expected) = (found.map.transform(&rows), here.map.transform(&rows));
            close(&z.expect("features"), &expected.expect("features"), 1e-7, method);
        }
    });
}

/// Runs with a variable set; tests that read it are of this file alone.
fn temp_env(name: &str, value: &str, work: impl FnOnce()) {
    // SAFETY: tests of a GPU run one after the other (`--test-threads=1`).
    unsafe { std::env::set_var(name, value) };
    work();
    // SAFETY: as above.
    unsafe { std::env::remove_var(name) };
}

#[test]
fn extractors_find_the_same_directions() {
    let Some(device) = gpu() else { return };
    let (rows, labels) = data(700, 4);
    let numbers =
        Labels::Numbers((0..700).map(|i| f64::from((i * 37) % 100) / 10.0 + f64::from(i % 3)).collect());
    for (method, labels) in [
        ("gda", &labels),
        ("kpls", &numbers),
        ("koc", &labels),
        ("skfe", &labels),
        ("klfe", &labels),
        ("kanmm", &labels),
    ] {
        let settings = [("basis", "kobl"), ("basis_components", "25"), ("gamma", "0.5")];
        let pipeline = Pipeline::new(method, &settings).expect("known");
        let here = pipeline.fit(&rows, Some(labels), &Options::default()).expect("fitted here");
        let found = pipeline.fit(&rows, Some(labels), &there(device)).expect("fitted there");
        let (z, expected) = (found.map.transform(&rows), here.map.transform(&rows));
        close(&z.expect("features"), &expected.expect("features"), 1e-7, method);
    }
}

#[test]
fn neighbours_are_those_of_the_processor() {
    let Some(device) = gpu() else { return };
    for (n, p, k) in [(5, 1, 3), (300, 4, 1), (700, 20, 10)] {
        let (rows, _) = data(n, p);
        let codes: Vec<usize> = (0..n).map(|i| i % 3).collect();
        let on_gpu = rows.clone().on(device).expect("there");
        for kernel in [Kernel::rbf(0.3), Kernel { shape: Shape::Laplacian, gamma: 0.3 }] {
            let here = Neighbours::find(kernel, &rows, &codes, k, &Monitor::default()).expect("here");
            let found = Neighbours::find(kernel, &on_gpu, &codes, k, &Monitor::default()).expect("there");
            assert_eq!(here, found, "{n} × {p}, {k}");
        }
    }
}

#[test]
fn neighbours_in_many_rows_are_those_of_the_processor_whatever_their_order() {
    type Value = fn(usize, usize) -> f64;
    let Some(device) = gpu() else { return };
    let wave =
        |i: usize, j: usize| ((i * 31 + j * 17) % 97) as f64 / 97.0 + (i as f64 * 0.37 + j as f64).sin();
    let (rbf, laplacian) = (Kernel::rbf(0.3), Kernel { shape: Shape::Laplacian, gamma: 0.3 });
    let sets: [(&str, usize, usize, usize, Kernel, Value); 8] = [
        ("noise", 1_200, 3, 1, rbf, wave),
        ("two classes", 2_100, 3, 2, rbf, wave),
        ("sums of differences", 1_200, 3, 1, laplacian, wave),
        ("more columns than a tile is deep", 1_200, 19, 1, rbf, wave),
        ("more columns than are compared without distances", 1_200, 70, 1, rbf, wave),
        // Neighbours lie together, so that the first rows would say little of others.
        ("in order", 1_200, 2, 1, rbf, |i, j| i as f64 / 100.0 + 0.01 * (j * i % 7) as f64),
        ("copies", 1_200, 2, 1, laplacian, |i, j| (i % 4) as f64 + (j * (i % 3)) as f64),
        // More rows are equally close than can be listed.
        ("one row", 2_600, 1, 1, rbf, |i, _| if i % 200 == 0 { i as f64 } else { 5.0 }),
    ];
    for (what, n, p, classes, kernel, value) in sets {
        let values: Vec<f64> = (0..n * p).map(|at| value(at / p, at % p)).collect();
        let rows = Rows::dense(values, n, p).expect("rows");
        let on_gpu = rows.clone().on(device).expect("there");
        let codes: Vec<usize> = (0..n).map(|i| i % classes).collect();
        let here = Neighbours::find(kernel, &rows, &codes, 4, &Monitor::default()).expect("here");
        let found = Neighbours::find(kernel, &on_gpu, &codes, 4, &Monitor::default()).expect("there");
        assert_eq!(here, found, "{what}");
    }
}

#[test]
fn features_of_many_rows_come_back_in_pieces() {
    let Some(device) = gpu() else { return };
    // Two pieces and a part; rows and features are more than fits into locked memory at a time.
    let (n, p) = (40_000, 30);
    let (rows, _) = data(n, p);
    let some = rows.select(&(0..60).map(|i| i * 7).collect::<Vec<_>>());
    let basis = named("nystrom", Kernel::rbf(0.1)).n_components(55).seed(3);
    let map = FeatureMap::from(basis.fit(&some).expect("fitted"));
    let on_gpu = rows.clone().on(device).expect("there");
    let expected = map.transform(&rows).expect("here");
    close(&map.transform(&on_gpu).expect("there"), &expected, 1e-10, "features");
    let there = map.transform_there(&on_gpu, &Monitor::default()).expect("features").to_dense();
    let q = expected.ncols();
    close(&Mat::from_fn(n, q, |i, j| there[i * q + j]), &expected, 1e-10, "features left there");
    // Row after row, as NumPy has them, and in both precisions.
    let mut found = vec![0.0; n * q];
    let out = MatMut::from_row_major_slice_mut(&mut found, n, q);
    map.transform_into(&on_gpu, out, &Monitor::default()).expect("there");
    assert!(found.iter().zip(&there).all(|(a, b)| (a - b).abs() < 1e-10));
    let single: Vec<f32> = rows.to_dense().iter().map(|v| *v as f32).collect();
    let single = Rows::dense_f32(single, n, p).expect("rows");
    let in_single = |rows: &Rows| {
        let (mut rowwise, mut columnwise) = (vec![0.0f32; n * q], Mat::<f32>::zeros(n, q));
        let out = MatMut::from_row_major_slice_mut(&mut rowwise, n, q);
        map.transform_f32_into(rows, out, &Monitor::default()).expect("features");
        map.transform_f32_into(rows, columnwise.as_mut(), &Monitor::default()).expect("features");
        assert!((0..n * q).all(|at| rowwise[at] == columnwise[(at / q, at % q)]));
        rowwise
    };
    let (z, expected) = (in_single(&single.clone().on(device).expect("there")), in_single(&single));
    assert!(z.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4));
    // Rows that do not fit come in pieces, too.
    temp_env("MERCER_DEVICE_MEMORY", "1MB", || {
        let rows = rows.clone().on(device).expect("there");
        close(
            &map.transform(&rows).expect("there"),
            &map.transform(&on_gpu).expect("there"),
            1e-10,
            "pieces",
        );
        let again = in_single(&single.clone().on(device).expect("there"));
        assert!(z.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-6));
    });
}

#[test]
fn what_is_left_of_a_row_is_told_where_a_kernel_is_not_definite() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(300, 3);
    let sigmoid = Basis::kobl(Kernel { shape: Shape::Sigmoid { coef0: 0.5 }, gamma: 2.0 });
    let here = sigmoid.fit(&rows).expect_err("refused").to_string();
    let there = sigmoid.fit_with(&rows, None, &there(device)).expect_err("refused").to_string();
    let left = |text: &str| -> f64 {
        let number = text.split("squared residual ").nth(1).and_then(|rest| rest.lines().next());
        number.expect("a number").trim().parse().expect("a number")
    };
    // Passes have other lengths there, so that it may be another row, but not one at the limit.
    assert!(left(&here) < -1e-3 && left(&there) < -1e-3, "{here}\n{there}");
}

#[test]
fn clusters_that_float32_cannot_tell_apart_are_told_apart() {
    let Some(device) = gpu() else { return };
    let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2) * 1e6 + f64::from(i) * 1e-6).collect();
    let rows = Rows::dense(values, 400, 1).expect("rows");
    let codes = vec![0; 400];
    let here = Neighbours::find(Kernel::linear(), &rows, &codes, 2, &Monitor::default()).expect("here");
    let on_gpu = rows.clone().on(device).expect("there");
    let found = Neighbours::find(Kernel::linear(), &on_gpu, &codes, 2, &Monitor::default()).expect("there");
    assert_eq!(here, found);
}

#[test]
fn features_stay_there_until_they_are_looked_at() {
    let Some(device) = gpu() else { return };
    let (rows, labels) = data(500, 3);
    let pipeline = Pipeline::new("gda", &[("basis", "kobl"), ("gamma", "0.5")]).expect("known");
    let map = pipeline.fit(&rows, Some(&labels), &there(device)).expect("fitted").map;
    let on_gpu = rows.clone().on(device).expect("there");
    let z = map.transform_there(&on_gpu, &Monitor::default()).expect("features");
    assert_eq!(z.device(), device);
    let expected = map.transform(&rows).expect("features");
    let z = Mat::from_fn(500, expected.ncols(), |i, j| z.to_dense()[i * expected.ncols() + j]);
    close(&z, &expected, 1e-10, "features");
    assert!(map.transform_there(&rows, &Monitor::default()).is_err());
}

#[test]
fn float32_rows() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(600, 5);
    let single: Vec<f32> = rows.to_dense().iter().map(|v| *v as f32).collect();
    let rows = Rows::dense_f32(single, 600, 5).expect("rows");
    let basis = Basis::kobl(Kernel::rbf(0.3)).n_components(50);
    let here = Basis { precision: Some(Precision::Double), ..basis.clone() }.fit(&rows).expect("here");
    let found = basis.fit_with(&rows, None, &there(device)).expect("there").0;
    assert_eq!(here.pivots, found.pivots);
    let map = FeatureMap::from(found);
    let on_gpu = rows.clone().on(device).expect("there");
    close(&map.transform(&on_gpu).expect("there"), &map.transform(&rows).expect("here"), 1e-10, "features");
}

#[test]
fn what_a_gpu_cannot_do_is_refused_by_name() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(50, 3);
    let sparse = Rows::sparse(vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0], 2).expect("rows");
    let text = |result: Result<(FittedBasis, Option<Rows<'static>>), Error>| {
        result.expect_err("refused").to_string()
    };
    let rbf = Kernel::rbf(1.0);
    let refused = text(Basis::kobl(rbf).fit_with(&sparse, None, &there(device)));
    assert!(refused.contains("the rows are sparse"), "{refused}");
    let refused = text(named("gram-schmidt", rbf).fit_with(&rows, None, &there(device)));
    assert!(refused.contains("the basis `gram-schmidt` is not fitted on a GPU"), "{refused}");
    let chi2 = Kernel { shape: Shape::Chi2, gamma: 1.0 };
    let refused = text(Basis::kobl(chi2).fit_with(&rows, None, &there(device)));
    assert!(refused.contains("the kernel `chi2` is not computed on a GPU"), "{refused}");
    assert!(named("gram-schmidt", rbf).fit_with(&rows, None, &there(Device::Auto)).is_ok());
    let grown = named("sparse", rbf).grow(None, &rows, &there(device)).expect_err("refused").to_string();
    assert!(grown.contains("batch by batch is not fitted on a GPU"), "{grown}");
    let labels = Labels::classes(&(0..50).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect::<Vec<_>>());
    let of = |name: &str| {
        ColumnSelection::new::<&str>(name, &[]).expect("known").fit(&rows, Some(&labels), &there(device))
    };
    let refused = of("f").expect_err("refused").to_string();
    assert!(refused.contains("the selector `f` is not computed on a GPU"), "{refused}");
    assert!(of("relieff").is_ok());
    let far = text(Basis::kobl(rbf).fit_with(&rows, None, &there(Device::Cuda(99))));
    assert!(far.contains("cuda:99") && far.contains("hint"), "{far}");
}

#[test]
fn rows_that_are_not_finite_and_kernels_that_are_not_definite_are_refused_as_here() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(50, 3);
    let mut values = rows.to_dense();
    values[31] = f64::NAN;
    let broken = Rows::dense(values, 50, 3).expect("rows");
    let basis = Basis::kobl(Kernel::rbf(1.0));
    let here = basis.fit(&broken).expect_err("refused").to_string();
    assert_eq!(basis.fit_with(&broken, None, &there(device)).expect_err("refused").to_string(), here);
    let sigmoid = Basis::kobl(Kernel { shape: Shape::Sigmoid { coef0: -1.0 }, gamma: 0.7 });
    let (here, found) = (sigmoid.fit(&rows).is_err(), sigmoid.fit_with(&rows, None, &there(device)).is_err());
    assert_eq!(here, found);
}

#[test]
fn a_stop_is_heeded() {
    let Some(device) = gpu() else { return };
    let (rows, _) = data(500, 3);
    let monitor = Monitor::default();
    monitor.stop();
    let options = Options { monitor, ..there(device) };
    let result = Basis::kobl(Kernel::rbf(1.0)).fit_with(&rows, None, &options);
    assert!(matches!(result, Err(Error::Interrupted)));
}

#[test]
fn synthetic_rows_of_more_pivots_than_one_pass_has() {
    let Some(device) = gpu() else { return };
    let table = synth::generate("ringnorm?n=1500&seed=5").expect("rows");
    let labels = Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels");
    let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(420);
    let (here, found) = both(&basis, &table.rows, device);
    assert_eq!(here.pivots, found.pivots);
    close(&found.expansion.matrix, &here.expansion.matrix, 1e-8, "coefficients");
    assert_eq!(labels.len(), 1_500);
    let random = named("rpcholesky", Kernel::rbf(0.05)).n_components(420).seed(2);
    let found = random.fit_with(&table.rows, None, &there(device)).expect("fitted").0;
    assert_eq!(found.pivots.len(), 420);
    assert!(found.expansion.orthogonality_loss(None).expect("loss") < 1e-8);
}
