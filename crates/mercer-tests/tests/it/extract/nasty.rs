//! Data that breaks careless code.

use mercer::basis::Method;
use mercer::data::Labels;
use mercer::extract::{AkdaQr, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls, Skfe};
use mercer::{Basis, Error, FittedBasis, Kernel, Options, Rows};
use proptest::prelude::*;

use crate::extract::{
    Typed, assert_close, assert_equals_reference, assert_signs, basis, basis_of_means, case, classes,
    closed_extractors, coordinates, every_extractor, features, fit, forms, reference, with_one_feature,
};
use crate::kernel::rows;
use crate::naive::extractors::Extracted;
use crate::naive::{self, Matrix};

/// Classes whose rows lie among each other.
fn mixed_codes(n: usize, classes: usize) -> Vec<usize> {
    (0..n).map(|i| (i * i + i / 2) % classes).map(|c| if n < 12 { c % 2 } else { c }).collect()
}

/// What the reference finds, if that is more than rounding: not of equal rows or means, nor a largest eigenvalue that is
/// small beside the others, a difference of large sums.
fn reference_if_any(extractor: &Typed, z: &Matrix, distance: &Matrix, codes: &[usize]) -> Option<Extracted> {
    let found = reference(extractor, z, distance, codes);
    let largest = found.eigenvalues.first().copied()?;
    let size = naive::frobenius(z);
    if naive::frobenius(&naive::center_columns(z)) < 1e-9 * size {
        return None; // all rows in one place
    }
    let beside = found.spectrum.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let least = match extractor.name() {
        "gda" | "kmfa" => 1e-9,
        "klfe" | "kanmm" => 1e-9 * size * size, // where hits and misses cancel
        _ => 0.0,
    };
    (largest > least && largest > 1e-6 * beside).then_some(found)
}

/// Numbers where there should be some, signs as they should be.
fn assert_sane(extractor: &Extractor, x: &Rows, labels: &Labels, basis: &FittedBasis, what: &str) {
    match extractor.fit(x, labels, basis.clone(), None, &Options::default()) {
        Ok((map, found)) => {
            let f = features(&map, x);
            assert!(f.iter().flatten().all(|v| v.is_finite()), "{what}: features");
            assert!(found.eigenvalues.iter().all(|v| v.is_finite()), "{what}: {:?}", found.eigenvalues);
            assert!(
                found.explained.iter().all(|v| (0.0..=1.0 + 1e-9).contains(v)),
                "{what}: {:?}",
                found.explained
            );
            assert!(found.explained.iter().sum::<f64>() < 1.0 + 1e-9, "{what}: {:?}", found.explained);
            if extractor.name() != "kpls" {
                assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b), "{what}: {:?}", found.eigenvalues);
            }
            assert!(map.n_features() >= 1, "{what}");
            assert_signs(&f, what);
        }
        // Nothing to find is an answer, if it comes in words.
        Err(Error::Argument(text) | Error::Data(text)) => assert!(text.len() > 20, "{what}: {text}"),
        Err(other) => panic!("{what}: {other}"),
    }
}

#[test]
fn every_extractor_equals_its_reference_on_nasty_rows() {
    for (set, x) in naive::nasty_sets() {
        let codes = mixed_codes(x.len(), 3);
        let gamma = naive::gamma_scale(&x, false);
        let [dense, sparse, _] = forms(&x, &x, "rbf", gamma);
        for form in [dense, sparse] {
            for method in [Method::Kobl, Method::GramSchmidt] {
                let basis = basis(method, form.kernel, None).fit(&form.rows).expect("fits");
                let z = coordinates(&basis, &form.rows);
                for extractor in with_one_feature() {
                    if extractor.name() == "skfe" {
                        continue;
                    }
                    let values = reference(&extractor, &z, &form.distance, &codes).eigenvalues;
                    if values.iter().all(|v| *v > 0.0) {
                        let what = format!("{extractor:?}, {set}, {}, {}", form.name, method.name());
                        assert_equals_reference(&extractor, &form, &basis, &codes, 1e-6, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn tied_neighbours_and_pairs_are_those_of_the_lower_rows() {
    // A grid: nearly all distances are tied, some rows are there twice, in both classes.
    let mut x: Matrix = (0..49).map(|i| vec![f64::from(i % 7), f64::from(i / 7)]).collect();
    x.extend([vec![3.0, 3.0], vec![0.0, 6.0], vec![3.0, 3.0]]);
    let codes: Vec<usize> = (0..52).map(|i| (i * 5 % 7) % 3).collect();
    for (name, gamma) in [("linear", 1.0), ("rbf", 0.1), ("laplacian", 0.1)] {
        for form in forms(&x, &x, name, gamma) {
            if form.name == "precomputed" && name != "linear" {
                continue; // 2 − 2k of different pairs differs by rounding
            }
            let basis = basis(Method::Kobl, form.kernel, Some(10)).fit(&form.rows).expect("fits");
            let q = Some(1);
            for k in [1, 3, 8] {
                for extractor in [
                    Typed::from(Klfe { n_components: q, n_neighbors: k, ..Klfe::default() }),
                    Typed::from(Kanmm { n_components: q, n_neighbors: k }),
                    Typed::from(Kmfa { n_components: q, k_within: k, k_between: 5 * k, reg: 1e-3 }),
                ] {
                    let z = coordinates(&basis, &form.rows);
                    let expected = reference(&extractor, &z, &form.distance, &codes);
                    let what = format!("{extractor:?}, {name}, {}", form.name);
                    if expected.eigenvalues[0] <= 0.0 {
                        continue;
                    }
                    // Symmetric data may have equal eigenvalues, so these alone are compared.
                    let (_, found) = fit(&extractor, &form.rows, &classes(&codes), &basis);
                    assert_close(&found.eigenvalues, &expected.eigenvalues, 1e-8, &what);
                    assert_close(&found.explained, &expected.explained, 1e-8, &what);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_small_data_has_the_features_of_the_references(
        seed in 0u64..100_000, n in 3usize..26, p in 1usize..5, c in 2usize..5, whole: bool, kernel in 0usize..4,
        method in 0usize..3, cap in 1usize..12
    ) {
        let mut x = naive::random_rows(n, p, seed);
        if whole {
            // Few different rows, most distances tied.
            x.iter_mut().flatten().for_each(|v| *v = v.round());
        }
        let mut state = seed;
        let classes_at_random = (0..n).map(|i| if i < c { i } else { naive::random_bits(&mut state) as usize % c });
        let codes: Vec<usize> = classes_at_random.map(|code| code.min(n - 1)).collect();
        let (name, gamma) = [("rbf", 0.4), ("linear", 1.0), ("poly", 0.5), ("laplacian", 0.3)][kernel];
        let method = [Method::Kobl, Method::GramSchmidt, Method::Kpca][method];
        let [form, ..] = forms(&x, &naive::random_rows(3, p, seed + 1), name, gamma);
        let Ok(basis) = basis(method, form.kernel, Some(cap)).fit(&form.rows) else { return Ok(()) };
        let z = coordinates(&basis, &form.rows);
        for extractor in with_one_feature() {
            let what = format!("{extractor:?}, {name}, {}", method.name());
            assert_sane(&extractor, &form.rows, &classes(&codes), &basis, &what);
            if extractor.name() == "skfe" {
                continue;
            }
            if reference_if_any(&extractor, &z, &form.distance, &codes).is_some() {
                assert_equals_reference(&extractor, &form, &basis, &codes, 1e-6, &what);
            }
        }
    }
}

#[test]
fn every_extractor_is_sane_on_nasty_rows() {
    for (set, x) in naive::nasty_sets() {
        for c in [2, 3] {
            let labels = classes(&mixed_codes(x.len(), c));
            for kernel in [Kernel::rbf(naive::gamma_scale(&x, false)), Kernel::linear(), Kernel::rbf(1e-6)] {
                for method in [Method::Kobl, Method::GramSchmidt, Method::Kpca] {
                    let data = rows(&x);
                    let basis = basis(method, kernel, None).fit(&data).expect("fits");
                    let all =
                        every_extractor().into_iter().chain(with_one_feature()).chain(closed_extractors());
                    for extractor in all.filter(|e| e.name() != "akda-qr") {
                        let what =
                            format!("{extractor:?}, {set}, {}, {}", kernel.shape.name(), method.name());
                        assert_sane(&extractor, &data, &labels, &basis, &what);
                    }
                }
                let codes = mixed_codes(x.len(), c);
                let means = basis_of_means(kernel, &x, &codes).fit(&rows(&x)).expect("fits");
                let what = format!("akda-qr, {set}, {}", kernel.shape.name());
                assert_sane(&Typed::from(AkdaQr::default()), &rows(&x), &labels, &means, &what);
            }
        }
    }
}

#[test]
fn rows_that_are_all_equal_are_refused_or_answered_without_a_panic() {
    let x = rows(&vec![vec![1.0, -2.0]; 12]);
    let labels = classes(&mixed_codes(12, 3));
    for method in [Method::Kobl, Method::GramSchmidt, Method::Kpca] {
        for kernel in [Kernel::rbf(1.0), Kernel::linear()] {
            let basis = basis(method, kernel, None).fit(&x).expect("fits");
            for extractor in every_extractor() {
                let what = format!("{extractor:?}, {}, {}", kernel.shape.name(), method.name());
                assert_sane(&extractor, &x, &labels, &basis, &what);
            }
            for nothing in [Typed::from(Gda::default()), Typed::from(Kanmm::default())] {
                let found = nothing.fit(&x, &labels, basis.clone(), None, &Options::default());
                assert!(found.is_err(), "{}: nothing tells the classes apart", nothing.name());
            }
        }
    }
}

#[test]
fn two_rows_are_enough() {
    let x = rows(&vec![vec![0.0, 1.0], vec![2.0, -1.0]]);
    let labels = classes(&[0, 1]);
    let basis = basis(Method::Kobl, Kernel::rbf(0.2), None).fit(&x).expect("fits");
    for extractor in with_one_feature() {
        assert_sane(&extractor, &x, &labels, &basis, extractor.name());
    }
    let (map, found) = fit(&Typed::from(Gda { n_components: None, reg: 0.0 }), &x, &labels, &basis);
    assert_close(&found.eigenvalues, &[1.0], 1e-9, "eigenvalue");
    let f = features(&map, &x).concat();
    assert_close(&f, &[0.5f64.sqrt(), -(0.5f64.sqrt())], 1e-9, "features");
}

#[test]
fn one_coordinate_has_one_feature_of_everything() {
    let x: Matrix = naive::random_rows(30, 1, 370);
    let codes: Vec<usize> = x.iter().map(|r| usize::from(r[0] > -0.5) + usize::from(r[0] > 0.5)).collect();
    let labels = classes(&codes);
    let data = rows(&x);
    let basis = Basis::kobl(Kernel::linear()).fit(&data).expect("fits");
    assert_eq!(basis.n_components(), 1);
    for extractor in with_one_feature() {
        let (map, found) = fit(&extractor, &data, &labels, &basis);
        assert_eq!(map.n_features(), 1, "{}", extractor.name());
        let one = extractor.name() == "koc";
        assert_eq!(one, !found.warnings.is_empty(), "{}: {:?}", extractor.name(), found.warnings);
    }
    // By default too: there is room for no more.
    for extractor in [
        Typed::from(Gda::default()),
        Typed::from(Skfe::default()),
        Typed::from(Kmfa::default()),
        Typed::from(Kpca::default()),
    ] {
        assert_eq!(fit(&extractor, &data, &labels, &basis).0.n_features(), 1, "{}", extractor.name());
    }
    let text =
        Typed::from(Kpls { n_components: Some(2) }).fit(&data, &labels, basis, None, &Options::default());
    let text = text.expect_err("one coordinate").to_string();
    assert!(text.contains("n_components = 2") && text.contains('1'), "{text}");
}

#[test]
fn more_classes_than_coordinates_leave_room_for_the_coordinates() {
    let case = case("five classes", 60, 2, 5, 371);
    let x = rows(&case.x);
    let basis = Basis::kobl(Kernel::linear()).fit(&x).expect("fits");
    let labels = classes(&case.codes);
    for extractor in [Typed::from(Gda::default()), Typed::from(Skfe::default()), Typed::from(Koc::default())]
    {
        let (map, found) = fit(&extractor, &x, &labels, &basis);
        assert_eq!(map.n_features(), 2, "{}", extractor.name());
        if extractor.name() == "koc" {
            assert!(!found.warnings.is_empty(), "three centroids were left out");
        }
    }
    let means = basis_of_means(Kernel::linear(), &case.x, &case.codes).fit(&x).expect("fits");
    assert_eq!(means.n_components(), 2);
    let (map, _) = fit(&Typed::from(AkdaQr::default()), &x, &labels, &means);
    assert_eq!(map.n_features(), 2);
    let refused = Typed::from(Gda { n_components: Some(3), reg: 1e-3 });
    let text =
        refused.fit(&x, &labels, basis, None, &Options::default()).expect_err("two coordinates").to_string();
    assert!(text.contains("n_components = 3") && text.contains('2'), "{text}");
}

#[test]
fn a_class_of_one_row_counts_with_its_misses_and_a_warning() {
    let mut case = case("three classes", 40, 3, 2, 372);
    case.codes[11] = 2;
    let [form, ..] = forms(&case.x, &naive::random_rows(5, 3, 373), "rbf", 0.3);
    let basis = basis(Method::Kobl, form.kernel, Some(10)).fit(&form.rows).expect("fits");
    for extractor in closed_extractors() {
        let what = format!("{extractor:?}, a class of one row");
        assert_equals_reference(&extractor, &form, &basis, &case.codes, 1e-6, &what);
        let (_, found) = fit(&extractor, &form.rows, &classes(&case.codes), &basis);
        if ["klfe", "kanmm"].contains(&extractor.name()) {
            assert!(found.warnings.iter().any(|w| w.contains("single row")), "{what}: {:?}", found.warnings);
        }
    }
}

#[test]
fn classes_of_one_row_each_have_no_hits_at_all() {
    let x = naive::random_rows(8, 3, 374);
    let codes: Vec<usize> = (0..8).collect();
    let (data, labels) = (rows(&x), classes(&codes));
    let basis = basis(Method::Kobl, Kernel::rbf(0.3), None).fit(&data).expect("fits");
    for extractor in every_extractor().into_iter().chain(with_one_feature()) {
        if extractor.name() != "akda-qr" {
            assert_sane(&extractor, &data, &labels, &basis, &format!("{extractor:?}"));
        }
    }
    let [form, ..] = forms(&x, &x, "rbf", 0.3);
    for k in [1, 3, 50] {
        let kanmm = Typed::from(Kanmm { n_components: Some(2), n_neighbors: k });
        assert_equals_reference(&kanmm, &form, &basis, &codes, 1e-6, "kanmm");
    }
}

#[test]
fn dependent_centroids_are_left_out_with_a_warning() {
    // The third class has the mean of the first two, in the linear kernel's space.
    let x = vec![vec![2.0, 0.0], vec![4.0, 0.0], vec![0.0, 2.0], vec![0.0, 4.0], vec![1.5, 1.5]];
    let data = rows(&x);
    let basis = Basis::kobl(Kernel::linear()).fit(&data).expect("fits");
    let (map, found) = fit(&Typed::from(Koc::default()), &data, &classes(&[0, 0, 1, 1, 2]), &basis);
    assert_eq!(map.n_features(), 2);
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    assert_close(&features(&map, &data).concat(), &x.concat(), 1e-12, "centroids along the axes");
    // Classes with one and the same mean have no discriminant.
    let x = rows(&vec![vec![1.0, 0.0], vec![-1.0, 0.0], vec![0.0, 1.0], vec![0.0, -1.0]]);
    let basis = Basis::kobl(Kernel::linear()).fit(&x).expect("fits");
    for extractor in [Typed::from(Gda::default()), Typed::from(Kpls { n_components: Some(1) })] {
        let found = extractor.fit(&x, &classes(&[0, 0, 1, 1]), basis.clone(), None, &Options::default());
        assert!(found.is_err(), "{}: equal means", extractor.name());
    }
    // The same where rounding makes the means differ: 0.1 + 0.2 + 0.3 in two orders, and in another place.
    let x = rows(&vec![
        vec![0.1, 1.0],
        vec![0.2, 2.0],
        vec![0.3, 3.0],
        vec![0.3, 2.0],
        vec![0.2, 3.0],
        vec![0.1, 1.0],
    ]);
    let equal = Basis::kobl(Kernel::linear()).fit(&x).expect("fits");
    for extractor in [Typed::from(Gda::default()), Typed::from(Kpls { n_components: Some(1) })] {
        let found =
            extractor.fit(&x, &classes(&[0, 0, 0, 1, 1, 1]), equal.clone(), None, &Options::default());
        let values = found.map(|(_, found)| found.eigenvalues);
        assert!(values.is_err(), "{}: means equal up to rounding, eigenvalues {values:?}", extractor.name());
    }
    // Centroids at the origin: no direction at all.
    let x = rows(&vec![vec![1.0, 0.0], vec![-1.0, 0.0], vec![0.0, 1.0], vec![0.0, -1.0]]);
    let found =
        Typed::from(Koc::default()).fit(&x, &classes(&[0, 0, 1, 1]), basis, None, &Options::default());
    assert!(found.is_err(), "centroids of length 0");
}

#[test]
fn a_unit_of_the_inputs_is_a_unit_of_the_features() {
    let case = case("three classes", 40, 4, 3, 375);
    let labels = classes(&case.codes);
    let fitted = |unit: f64, extractor: &Extractor| {
        let x: Matrix = case.x.iter().map(|r| r.iter().map(|v| v * unit).collect()).collect();
        let data = rows(&x);
        let basis = Basis::kobl(Kernel::linear()).fit(&data).expect("fits");
        let (map, found) = fit(extractor, &data, &labels, &basis);
        (features(&map, &data), found)
    };
    for unit in [1e-60, 1e-8, 1e8, 1e60] {
        for extractor in with_one_feature() {
            let what = format!("{extractor:?}, unit {unit}");
            let (plain, expected) = fitted(1.0, &extractor);
            let (scaled, found) = fitted(unit, &extractor);
            // Powers of the unit in features and in eigenvalues.
            let (power, of_values) = match extractor.name() {
                "gda" | "kmfa" => (0, 0),
                "klfe" => (2, 2),
                _ => (1, 2),
            };
            let back: Vec<f64> = scaled.concat().iter().map(|v| v / unit.powi(power)).collect();
            assert_close(&back, &plain.concat(), 1e-5, &what);
            let values: Vec<f64> = found.eigenvalues.iter().map(|v| v / unit.powi(of_values)).collect();
            assert_close(&values, &expected.eigenvalues, 1e-5, &what);
            assert_close(&found.explained, &expected.explained, 1e-6, &what);
        }
    }
}

#[test]
fn features_survive_inputs_far_from_the_origin() {
    // Moments about a mean: an offset in the kernel's space (a constant feature) does no harm to what is centred.
    let case = case("three classes", 60, 4, 3, 376);
    let far: Matrix = case.x.iter().map(|row| [row.clone(), vec![1e4]].concat()).collect();
    let (near, far) = (rows(&case.x), rows(&far));
    for extractor in [
        Typed::from(Gda { n_components: None, reg: 0.0 }),
        Typed::from(Kpls { n_components: Some(2) }),
        Typed::from(Kpca { n_components: Some(2), center: true }),
    ] {
        let [expected, found] = [&near, &far].map(|x| {
            let basis = Basis::new(Method::GramSchmidt, Kernel::linear()).fit(x).expect("fits");
            features(&fit(&extractor, x, &classes(&case.codes), &basis).0, x)
        });
        assert_close(&found.concat(), &expected.concat(), 1e-5, extractor.name());
    }
}

#[test]
fn tight_clusters_keep_the_directions_within_them() {
    let mut case = case("tight clusters", 45, 5, 3, 384);
    for (row, &code) in case.x.iter_mut().zip(&case.codes) {
        row.iter_mut().for_each(|v| *v *= 1e-4);
        row[code] += 1.0;
    }
    let [form, ..] = forms(&case.x, &case.x, "linear", 1.0);
    let basis = basis(Method::GramSchmidt, Kernel::linear(), None).fit(&form.rows).expect("fits");
    assert_eq!(basis.n_components(), 5);
    for extractor in closed_extractors() {
        let z = coordinates(&basis, &form.rows);
        let values = reference(&extractor, &z, &form.distance, &case.codes).eigenvalues;
        if values.iter().all(|v| *v > 1e-9 * values[0]) {
            let what = format!("{extractor:?}, tight clusters");
            assert_equals_reference(&extractor, &form, &basis, &case.codes, 1e-5, &what);
        }
    }
}

#[test]
fn coordinates_that_vary_by_rounding_alone_have_no_components() {
    // So wide a kernel that all its values are 1 up to rounding, and so is the only coordinate.
    let x = rows(&(0..40).map(|i| vec![f64::from(i).cos(), f64::from(i).sin()]).collect());
    let basis = Basis::kobl(Kernel::rbf(1e-16)).n_components(1).fit(&x).expect("fits");
    let refused = Kpca::default().fit(&x, None, basis.clone()).expect_err("nothing varies").to_string();
    assert!(refused.contains("none varies"), "{refused}");
    let whole = Kpca { center: false, ..Kpca::default() }.fit(&x, None, basis).expect("the mean itself");
    assert!((whole.eigenvalues[0] - 40.0).abs() < 1e-9);
}
