//! What all extractors have in common, and laws of single ones.

use super::*;
use crate::basis::Threshold;
use crate::data::labels::Task;
use crate::data::rows::Rows;
use crate::data::synth;
use crate::kernel::{Gamma, Kernel, Shape};
use crate::linalg::positive_signs;
use crate::map::FeatureMap;
use crate::monitor::Monitor;
use crate::options::Options;

fn all() -> Vec<Extractor> {
    vec![
        Extractor::from(Klfe::default()),
        Extractor::from(Skfe::default()),
        Extractor::from(Gda::default()),
        Extractor::from(Koc::default()),
        Extractor::from(AkdaQr::default()),
        Extractor::from(Kpls { n_components: Some(1) }),
        Extractor::from(Kmfa::default()),
        Extractor::from(Kanmm::default()),
        Extractor::from(Kpca::default()),
    ]
}

fn table(spec: &str) -> (Rows<'static>, Labels) {
    let table = synth::generate(spec).expect("rows");
    (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
}

/// n rows of p numbers in c classes that overlap.
fn blobs(n: usize, p: usize, c: usize) -> (Rows<'static>, Labels) {
    let value = |i: usize, j: usize| ((i * i * 31 + j * j * 17 + i * j * 7) as f64 * 0.37).sin();
    let values = (0..n * p)
        .map(|at| value(at / p, at % p) + ((at / p) % c * (at % p % 5 + 1)) as f64 * 0.9)
        .collect::<Vec<_>>();
    let names: Vec<String> = (0..n).map(|i| (i % c).to_string()).collect();
    (Rows::dense(values, n, p).expect("rows"), Labels::classes(&names))
}

fn fit(
    extractor: &Extractor,
    settings: &Basis,
    rows: &Rows,
    labels: &Labels,
) -> Result<(FeatureMap, Directions)> {
    let basis = extractor.basis(settings.clone(), rows, Some(labels))?;
    extractor.fit(rows, labels, basis.fit_supervised(rows, labels)?, None, &Options::default())
}

/// All of the span.
fn full(kernel: Kernel) -> Basis {
    Basis::kobl(kernel).threshold(Threshold::Constant(0.0))
}

fn check_features(what: &str, map: &FeatureMap, rows: &Rows) {
    let z = map.transform(rows).expect("features");
    assert!(z.ncols() > 0, "{what}");
    for j in 0..z.ncols() {
        assert!(z.col(j).iter().all(|v| v.is_finite()), "{what}: feature {j}");
        assert!(z.col(j).norm_max() > 0.0, "{what}: feature {j} is 0");
    }
    assert!(positive_signs(z.as_ref()).iter().all(|s| *s > 0.0), "{what}: a sign");
}

#[test]
fn features_of_gda_have_scatter_one_and_classes_apart_by_the_eigenvalues() {
    let (rows, labels) = blobs(90, 4, 4);
    let (codes, _) = labels.require_classes("test").expect("classes");
    let gda = Extractor::from(Gda { reg: 0.0, n_components: None });
    let (map, found) = fit(&gda, &full(Kernel::rbf(0.02)).n_components(20), &rows, &labels).expect("fits");
    let z = map.transform(&rows).expect("features");
    let scatter = z.transpose() * &z;
    let mut means = Mat::<f64>::zeros(4, 3);
    for (i, &code) in codes.iter().enumerate() {
        let size = codes.iter().filter(|c| **c == code).count() as f64;
        (0..3).for_each(|j| means[(code, j)] += z[(i, j)] / size.sqrt());
    }
    let between = means.transpose() * &means;
    for i in 0..3 {
        for j in 0..3 {
            let one = f64::from(u8::from(i == j));
            assert!((scatter[(i, j)] - one).abs() < 1e-8, "{}", scatter[(i, j)]);
            assert!((between[(i, j)] - one * found.eigenvalues[i]).abs() < 1e-8, "{}", between[(i, j)]);
        }
    }
    assert!((found.explained.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b) && found.eigenvalues[0] < 1.0);
}

#[test]
fn scores_of_kpls_are_orthogonal_over_many_components() {
    let (rows, _) = blobs(80, 3, 2);
    let y = Labels::Numbers((0..80).map(|i| 1e5 + f64::from(i * i % 37)).collect());
    let kpls = Extractor::from(Kpls { n_components: Some(25) });
    let (map, found) = fit(&kpls, &full(Kernel::rbf(0.5)), &rows, &y).expect("fits");
    let z = map.transform(&rows).expect("features");
    let scores = z.transpose() * &z;
    for i in 0..25 {
        for j in 0..i {
            let size = (scores[(i, i)] * scores[(j, j)]).sqrt();
            assert!(scores[(i, j)].abs() < 1e-9 * size, "{i} {j}: {}", scores[(i, j)] / size);
        }
    }
    assert_eq!(found.eigenvalues.len(), 25);
    let many = fit(&Extractor::from(Kpls { n_components: Some(500) }), &full(Kernel::linear()), &rows, &y);
    assert!(many.expect_err("refused").to_string().contains("n_components = 500, but only 3 can be had"));
}

#[test]
fn kpca_in_any_basis_of_the_span_is_the_kpca_basis() {
    let (rows, labels) = blobs(40, 3, 2);
    for center in [true, false] {
        let kpca = Extractor::from(Kpca { n_components: Some(6), center });
        let own = Basis { center, ..Basis::new(Method::Kpca, Kernel::rbf(0.3)) };
        let (direct, quick) = fit(&kpca, &own, &rows, &labels).expect("fits");
        let (through, found) = fit(&kpca, &full(Kernel::rbf(0.3)), &rows, &labels).expect("fits");
        let [a, b] = [&direct, &through].map(|map| map.transform(&rows).expect("features"));
        assert!((&a - &b).norm_max() < 1e-7 * a.norm_max(), "{}", (&a - &b).norm_max());
        for j in 0..6 {
            assert!((quick.eigenvalues[j] - found.eigenvalues[j]).abs() < 1e-9 * found.eigenvalues[0]);
            assert!((quick.explained[j] - found.explained[j]).abs() < 1e-9);
        }
        let monitor = Monitor::default();
        let [x, y] =
            [&direct, &through].map(|map| map.inverse_transform(a.as_ref(), &monitor).expect("back"));
        assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-4), "pre-images about the same origin");
    }
}

#[test]
fn koc_spans_the_centroids_and_says_what_it_leaves_out() {
    let (rows, labels) = blobs(60, 3, 5);
    let (map, found) =
        fit(&Extractor::from(Koc::default()), &full(Kernel::linear()), &rows, &labels).expect("fits");
    assert_eq!(map.n_features(), 3);
    assert!(found.warnings[0].starts_with("2 of 5 centroids lie in the span"), "{:?}", found.warnings);
    let gram = &found.matrix * found.matrix.transpose();
    assert!((gram - Mat::<f64>::identity(3, 3)).norm_max() < 1e-14);
}

#[test]
fn a_class_that_lost_its_rows_changes_nothing() {
    let (rows, labels) = blobs(60, 3, 3);
    let Labels::Classes { codes, .. } = &labels else { unreachable!("classes") };
    let names = ["0", "1", "gone", "2"].map(String::from).to_vec();
    let codes = codes.iter().map(|&code| code + usize::from(code == 2)).collect();
    let with_a_gap = Labels::Classes { codes, names };
    for extractor in all() {
        let settings = Basis::kobl(Kernel::rbf(0.2)).n_components(12);
        let [a, b] =
            [&labels, &with_a_gap].map(|labels| fit(&extractor, &settings, &rows, labels).expect("fits").1);
        let tolerance = if extractor.name() == "skfe" { 1e-4 } else { 1e-9 };
        let difference = (&a.matrix - &b.matrix).norm_max();
        assert!(difference < tolerance * a.matrix.norm_max(), "{}: {difference}", extractor.name());
    }
}

#[test]
fn sparse_rows_and_precomputed_kernels_give_the_same_features() {
    let (dense, labels) = blobs(50, 4, 3);
    let kernel = Kernel::rbf(0.2);
    let k = kernel.matrix(&dense, &dense).expect("values");
    let given = Rows::from_mat(k.as_ref());
    for extractor in all() {
        // A search ends where rounding leads it.
        let tolerance = if extractor.name() == "skfe" { 1e-4 } else { 1e-8 };
        let (map, _) = fit(&extractor, &Basis::kobl(kernel).n_components(12), &dense, &labels).expect("fits");
        let z = map.transform(&dense).expect("features");
        let settings = Basis::kobl(kernel).n_components(12);
        let sparse = dense.to_sparse();
        let (again, _) = fit(&extractor, &settings, &sparse, &labels).expect("fits");
        let difference = (&z - again.transform(&sparse).expect("features")).norm_max();
        assert!(difference < tolerance * z.norm_max(), "{}: {difference}", extractor.name());
        let settings = Basis::kobl(Kernel::precomputed()).n_components(12);
        match fit(&extractor, &settings, &given, &labels) {
            Ok((again, _)) => {
                let difference = (&z - again.transform(&given).expect("features")).norm_max();
                assert!(difference < tolerance * z.norm_max(), "{}: {difference}", extractor.name());
            }
            Err(error) => {
                assert!(error.to_string().contains("a precomputed kernel does not know"), "{error}");
            }
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let (rows, labels) = table("ringnorm?n=3000&seed=1");
    for extractor in all() {
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            let settings = Basis::kobl(Kernel::rbf(0.05)).n_components(30);
            pool.install(|| fit(&extractor, &settings, &rows, &labels)).expect("fits").1
        };
        let one = of(1);
        assert!(one == of(2) && one == of(5), "{}", extractor.name());
    }
}

#[test]
fn a_stop_is_honoured() {
    let (rows, labels) = blobs(40, 2, 2);
    let options = Options::default();
    let basis = Basis::kobl(Kernel::rbf(1.0)).fit(&rows).expect("fits");
    let means = AkdaQr::basis(&Basis::kobl(Kernel::rbf(1.0)), &rows, &labels).expect("means");
    let means = means.fit(&rows).expect("fits");
    options.monitor.stop();
    for extractor in all() {
        let basis = if extractor.name() == "akda-qr" { &means } else { &basis };
        let coordinates = Coordinates::new(&rows, Some(&labels), basis, None, &options).expect("they fit");
        let stopped = extractor.directions(coordinates);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{}", extractor.name());
    }
}

#[test]
fn nasty_rows_have_features_all_the_same() {
    let (few, genes) = blobs(50, 10_000, 3);
    let (one_column, _) = blobs(30, 1, 2);
    let (plain, halves) = blobs(40, 3, 2);
    let (crowded, ten) = blobs(40, 3, 10);
    let lonely =
        Labels::classes(&(0..40).map(|i| if i == 7 { "z" } else { ["a", "b"][i % 2] }).collect::<Vec<_>>());
    // Columns 1 and 2 are multiples of column 0; column 3 is constant.
    let collinear: Vec<f64> = (0..40)
        .flat_map(|i| {
            let x = f64::from(i * i % 17 + i % 2 * 20);
            [x, 2.0 * x, -x, 1e6]
        })
        .collect();
    let collinear = Rows::dense(collinear, 40, 4).expect("rows");
    let scaled = |by: f64| {
        Rows::dense(plain.to_dense().iter().map(|v| v * by).collect::<Vec<_>>(), 40, 3).expect("rows")
    };
    let (huge, tiny, far) = (scaled(1e150), scaled(1e-150), scaled(1.0));
    let far: Vec<f64> = far.to_dense().iter().map(|v| v + 1e7).collect();
    let far = Rows::dense(far, 40, 3).expect("rows");
    let thirty = Labels::classes(&(0..30).map(|i| (i % 2).to_string()).collect::<Vec<_>>());
    let cases: [(&str, &Rows, &Labels, Kernel); 10] = [
        ("genes", &few, &genes, Kernel::rbf(1.0)),
        ("genes, linear", &few, &genes, Kernel::linear()),
        ("one coordinate", &one_column, &thirty, Kernel::linear()),
        ("more classes than coordinates", &crowded, &ten, Kernel::linear()),
        ("a class of one", &plain, &lonely, Kernel::rbf(1.0)),
        ("collinear and constant", &collinear, &halves, Kernel::linear()),
        ("huge", &huge, &halves, Kernel::linear()),
        ("tiny", &tiny, &halves, Kernel::linear()),
        ("far from 0", &far, &halves, Kernel::rbf(1.0)),
        ("more coordinates than rows would fill", &plain, &halves, Kernel::rbf(50.0)),
    ];
    for (what, rows, labels, kernel) in cases {
        for extractor in all() {
            let mut settings = full(kernel);
            if kernel.shape == Shape::Rbf && kernel.gamma == 1.0 {
                settings = settings.gamma(Gamma::Scale);
            }
            let what = format!("{}: {what}", extractor.name());
            let (map, found) = fit(&extractor, &settings, rows, labels).expect(&what);
            check_features(&what, &map, rows);
            assert!(found.eigenvalues.iter().all(|v| v.is_finite() && *v > 0.0), "{what}");
            assert!(found.explained.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)), "{what}");
        }
    }
}

#[test]
fn what_cannot_be_had_is_refused_in_words() {
    let (rows, labels) = blobs(30, 3, 3);
    let text = |extractor: Extractor, labels: &Labels| {
        fit(&extractor, &Basis::kobl(Kernel::rbf(0.5)), &rows, labels).expect_err("refused").to_string()
    };
    let gda = |n_components, reg| Extractor::from(Gda { n_components, reg });
    assert!(
        text(gda(Some(3), 1e-3), &labels)
            .contains("n_components = 3, but only 2 can be had: the means of 3 classes")
    );
    assert!(text(gda(Some(0), 1e-3), &labels).contains("n_components = 0, but at least 1"));
    assert!(text(gda(None, -1.0), &labels).contains("reg = -1, but it must be"));
    let numbers = Labels::Numbers((0..30).map(f64::from).collect());
    assert!(text(Extractor::from(Koc::default()), &numbers).contains("(task = classification)"));
    let same = Labels::Numbers(vec![2.0; 30]);
    assert!(text(Extractor::from(Kpls::default()), &same).contains("the same number in every row"));
    let kpca = Extractor::from(Kpca { n_components: Some(31), center: true });
    assert!(text(kpca, &labels).contains("n_components = 31, but only"));
    let equal = Rows::dense(vec![1.0; 30], 30, 1).expect("rows");
    // One centroid, with which all rows are aligned, is there even so.
    for extractor in all().iter().filter(|e| !["koc", "skfe"].contains(&e.name())) {
        let refused = fit(extractor, &Basis::kobl(Kernel::rbf(0.5)), &equal, &labels);
        assert!(matches!(refused, Err(Error::Data(_))), "{}: {refused:?}", extractor.name());
    }
    let one_left = Labels::Classes { codes: vec![1; 30], names: vec!["a".into(), "b".into()] };
    assert!(
        text(Extractor::from(Koc::default()), &one_left).contains("at least 2 classes, but all are of one")
    );
    let basis = Basis::kobl(Kernel::rbf(0.5)).fit(&rows).expect("fits");
    let wrong = AkdaQr::default().fit(&rows, &labels, basis.clone()).expect_err("refused").to_string();
    assert!(wrong.contains("make the basis with `AkdaQr::basis`"), "{wrong}");
    let none = Koc::default().fit(&rows, None, basis).expect_err("refused").to_string();
    assert!(none.contains("`koc` looks at the labels, but none were given"), "{none}");
}
