//! Every extractor against its reference, on random rows, in every form, through every basis.

use mercer::basis::Method;
use mercer::data::{Labels, Scale, Scaling, Task, synth};
use mercer::evaluate::knn::nearest_neighbour_error;
use mercer::extract::{AkdaQr, Gda, KlfeMetric, Kpca, Kpls};
use mercer::{Basis, Extractor, FittedBasis, Gamma, Kernel, Klfe, Monitor, Options, Rows};

use crate::extract::{
    Form, Typed, assert_close, assert_equals_reference, assert_same_features, assert_signs, basis,
    basis_of_means, cases, classes, closed_extractors, coordinates, features, fit, forms, kernel, reference,
};
use crate::kernel::{rows, sparse};
use crate::naive::extractors as slow;
use crate::naive::{self, Matrix};

const TOLERANCE: f64 = 1e-6;

fn fitted(method: Method, form: &Form, codes: &[usize], m: Option<usize>) -> FittedBasis {
    basis(method, form.kernel, m).fit_supervised(&form.rows, &classes(codes)).expect("fits")
}

#[test]
fn every_extractor_equals_its_reference_on_dense_sparse_and_precomputed_rows() {
    for case in cases() {
        let fresh = naive::random_rows(12, case.x[0].len(), 330);
        for form in forms(&case.x, &fresh, "rbf", 0.3) {
            for (method, m) in [(Method::Kobl, Some(20)), (Method::GramSchmidt, None)] {
                let basis = fitted(method, &form, &case.codes, m);
                for extractor in closed_extractors() {
                    let what = format!("{extractor:?}, {}, {}, {}", case.name, form.name, method.name());
                    assert_equals_reference(&extractor, &form, &basis, &case.codes, TOLERANCE, &what);
                }
            }
        }
    }
}

#[test]
fn every_extractor_equals_its_reference_through_every_basis() {
    for case in cases() {
        let fresh = naive::random_rows(12, case.x[0].len(), 331);
        let [form, ..] = forms(&case.x, &fresh, "rbf", 0.3);
        for method in Method::ALL {
            let basis = fitted(method, &form, &case.codes, Some(15));
            for extractor in closed_extractors() {
                let what = format!("{extractor:?}, {}, {}", case.name, method.name());
                assert_equals_reference(&extractor, &form, &basis, &case.codes, TOLERANCE, &what);
            }
        }
        // A basis that subtracts an offset itself.
        let centred = Basis { center: true, ..basis(Method::Kpca, form.kernel, Some(15)) };
        let centred = centred.fit(&form.rows).expect("fits");
        for extractor in closed_extractors() {
            let what = format!("{extractor:?}, {}, centred", case.name);
            assert_equals_reference(&extractor, &form, &centred, &case.codes, TOLERANCE, &what);
        }
    }
}

#[test]
fn every_extractor_equals_its_reference_in_every_kernel() {
    for case in cases() {
        let fresh = naive::random_rows(12, case.x[0].len(), 332);
        for (name, gamma) in
            [("linear", 1.0), ("laplacian", 0.2), ("poly", 0.3), ("matern32", 0.1), ("cosine", 1.0)]
        {
            let [dense, stored_sparse, _] = forms(&case.x, &fresh, name, gamma);
            for form in [dense, stored_sparse] {
                let basis = fitted(Method::Kobl, &form, &case.codes, Some(12));
                for extractor in closed_extractors() {
                    // Few coordinates have few directions; `nasty` asks for too many of them.
                    let z = coordinates(&basis, &form.rows);
                    let values = reference(&extractor, &z, &form.distance, &case.codes).eigenvalues;
                    if values.iter().all(|v| *v > 1e-9 * values[0]) {
                        let what = format!("{extractor:?}, {}, {}, {name}", case.name, form.name);
                        assert_equals_reference(&extractor, &form, &basis, &case.codes, TOLERANCE, &what);
                    }
                }
            }
        }
    }
}

/// Total scatter with reg on its diagonal, and the scatter of the class means.
fn scatters(z: &Matrix, codes: &[usize], reg: f64) -> (Matrix, Matrix) {
    let (n, m) = (z.len(), z[0].len());
    let mean = |rows: &[usize], j: usize| rows.iter().map(|&i| z[i][j]).sum::<f64>() / rows.len() as f64;
    let all: Vec<usize> = (0..n).collect();
    let centre: Vec<f64> = (0..m).map(|j| mean(&all, j)).collect();
    let (mut total, mut between) = (naive::zeros(m, m), naive::zeros(m, m));
    for a in 0..m {
        for b in 0..m {
            total[a][b] = z.iter().map(|row| (row[a] - centre[a]) * (row[b] - centre[b])).sum();
            for class in 0..=*codes.iter().max().expect("rows") {
                let rows: Vec<usize> = (0..n).filter(|&i| codes[i] == class).collect();
                if !rows.is_empty() {
                    between[a][b] +=
                        rows.len() as f64 * (mean(&rows, a) - centre[a]) * (mean(&rows, b) - centre[b]);
                }
            }
        }
    }
    let share = reg * (0..m).map(|j| total[j][j]).sum::<f64>() / m as f64;
    (0..m).for_each(|j| total[j][j] += share);
    (total, between)
}

#[test]
fn akda_qr_has_one_feature_a_class_if_asked_and_the_last_is_the_direction_that_remains() {
    for case in cases() {
        let c = case.codes.iter().max().expect("rows") + 1;
        for reg in [1e-3, 0.3] {
            let (x, labels) = (rows(&case.x), classes(&case.codes));
            let fitted = basis_of_means(Kernel::rbf(0.3), &case.x, &case.codes).fit(&x).expect("fits");
            assert_eq!(fitted.n_components(), c, "{}", case.name);
            let find = |n_components: Option<usize>| {
                let extractor = Extractor::from(AkdaQr { n_components, reg });
                extractor.fit(&x, &labels, fitted.clone(), None, &Options::default())
            };
            let (usual, _) = find(None).expect("fits");
            let (map, found) = find(Some(c)).expect("fits");
            assert_eq!((usual.n_features(), map.n_features()), (c - 1, c));
            let (few, all) = (usual.transform(&x).expect("features"), map.transform(&x).expect("features"));
            for i in 0..x.n() {
                for j in 0..c - 1 {
                    assert!((few[(i, j)] - all[(i, j)]).abs() < 1e-9, "{}", case.name);
                }
            }
            assert_eq!((map.eigenvalues.len(), map.eigenvalues[c - 1]), (c, 0.0));
            // MTMᵀ = I and M S_b Mᵀ = diag(λ, 0).
            let (total, between) = scatters(&coordinates(&fitted, &x), &case.codes, reg);
            let turned = |scatter: &Matrix, a: usize, b: usize| -> f64 {
                let m = &found.matrix;
                (0..c).map(|k| (0..c).map(|l| m[(a, k)] * scatter[k][l] * m[(b, l)]).sum::<f64>()).sum()
            };
            for a in 0..c {
                for b in 0..c {
                    let one = f64::from(u8::from(a == b));
                    let what = format!("{}, reg {reg}, {a} {b}", case.name);
                    assert!((turned(&total, a, b) - one).abs() < 1e-7, "{what}: {}", turned(&total, a, b));
                    assert!((turned(&between, a, b) - one * map.eigenvalues[a]).abs() < 1e-7, "{what}");
                }
            }
            let more = find(Some(c + 1)).expect_err("too many").to_string();
            assert!(more.contains(&format!("n_components = {}, but only", c + 1)), "{more}");
            assert_eq!(find(Some(1)).expect("fits").0.n_features(), 1);
        }
    }
}

#[test]
fn klfe_finds_neighbours_by_the_distance_that_is_asked_for() {
    let l1 = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum() };
    let l2 = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    let all = |x: &Matrix, distance: &dyn Fn(&[f64], &[f64]) -> f64| -> Matrix {
        x.iter().map(|a| x.iter().map(|b| distance(a, b)).collect()).collect()
    };
    for case in cases() {
        let fresh = naive::random_rows(12, case.x[0].len(), 341);
        for (name, gamma) in [("poly", 0.3), ("rbf", 0.3), ("laplacian", 0.2)] {
            let [dense, stored_sparse, given] = forms(&case.x, &fresh, name, gamma);
            for form in [dense, stored_sparse] {
                let basis = fitted(Method::Kobl, &form, &case.codes, Some(12));
                let own = form.distance.clone();
                let mut form = form;
                for (metric, distance) in [
                    (KlfeMetric::Kernel, own),
                    (KlfeMetric::L1, all(&case.x, &l1)),
                    (KlfeMetric::L2, all(&case.x, &l2)),
                ] {
                    form.distance = distance;
                    let klfe = Klfe { n_components: Some(2), n_neighbors: 3, metric };
                    let what = format!("{klfe:?}, {}, {}, {name}", case.name, form.name);
                    assert_equals_reference(&Typed::from(klfe), &form, &basis, &case.codes, TOLERANCE, &what);
                }
            }
            let basis = fitted(Method::Kobl, &given, &case.codes, Some(12));
            let klfe = Klfe { metric: KlfeMetric::L1, ..Klfe::default() };
            let error = klfe.fit(&given.rows, &classes(&case.codes), basis).expect_err("no rows").to_string();
            assert!(
                error.contains("metric = l1 is a distance of rows") && error.contains("\nhint: "),
                "{error}"
            );
        }
    }
}

#[test]
fn more_than_one_panel_of_rows_adds_up_to_the_reference() {
    let case = super::case("many rows", 1_500, 3, 3, 333);
    let fresh = naive::random_rows(5, 3, 334);
    let form = Form {
        name: "dense",
        kernel: Kernel::rbf(0.3),
        rows: rows(&case.x),
        fresh: rows(&fresh),
        distance: Vec::new(),
        gram: Vec::new(),
    };
    let basis = fitted(Method::Kobl, &form, &case.codes, Some(8));
    for extractor in closed_extractors() {
        // Those that look at moments; all distances of so many rows would take the reference long.
        if ["gda", "koc", "kpls", "kpca"].contains(&extractor.name()) {
            let what = format!("{extractor:?}, many rows");
            assert_equals_reference(&extractor, &form, &basis, &case.codes, TOLERANCE, &what);
        }
    }
}

#[test]
fn akda_qr_equals_its_reference_on_the_images_of_the_class_means() {
    for case in cases() {
        let fresh = naive::random_rows(12, case.x[0].len(), 335);
        for name in ["rbf", "laplacian", "poly"] {
            let gamma = 0.3;
            let k = |a: &Matrix, b: &Matrix| -> Matrix {
                let value = |a: &[f64], b: &[f64]| naive::kernel(name, gamma, 2, 1.0, 1.0, a, b);
                a.iter().map(|a| b.iter().map(|b| value(a, b)).collect()).collect()
            };
            let means = slow::class_means(&case.x, &case.codes);
            for reg in [1e-3, 0.3] {
                let (z, expected) = slow::akda_qr(&k(&means, &means), &k(&case.x, &means), &case.codes, reg);
                let [dense, stored_sparse, _] = forms(&case.x, &fresh, name, gamma);
                for form in [dense, stored_sparse] {
                    let what = format!("{}, {}, {name}, reg {reg}", case.name, form.name);
                    let basis = basis_of_means(form.kernel, &case.x, &case.codes);
                    let basis = basis.fit(&form.rows).expect("fits");
                    let extractor = Typed::from(AkdaQr { reg, ..AkdaQr::default() });
                    let (map, directions) = fit(&extractor, &form.rows, &classes(&case.codes), &basis);
                    assert_eq!(map.n_features(), slow::classes_of(&case.codes) - 1, "{what}");
                    assert_close(&directions.eigenvalues, &expected.eigenvalues, TOLERANCE, &what);
                    assert_close(&directions.explained, &expected.explained, TOLERANCE, &what);
                    let found = features(&map, &form.rows);
                    assert_same_features(
                        &found,
                        &expected.features(&z),
                        &expected.spectrum,
                        TOLERANCE,
                        &what,
                    );
                    assert_signs(&found, &what);
                    assert_equals_reference(&extractor, &form, &basis, &case.codes, TOLERANCE, &what);
                }
            }
        }
    }
}

#[test]
fn akda_qr_has_a_basis_of_the_class_means_and_a_width_by_the_rows() {
    let case = super::case("three classes", 60, 5, 3, 336);
    let labels = classes(&case.codes);
    let settings = Basis { gamma: Gamma::Scale, ..Basis::kobl(Kernel::rbf(1.0)) };
    let width = naive::gamma_scale(&case.x, false);
    for x in [rows(&case.x), sparse(&case.x)] {
        let basis = AkdaQr::basis(&settings, &x, &labels).expect("a basis");
        assert_eq!(basis.method, Method::GramSchmidt);
        let means = basis.landmarks.as_ref().expect("the class means");
        assert_eq!(means.is_sparse(), x.is_sparse());
        let expected = slow::class_means(&case.x, &case.codes);
        assert_close(&means.to_dense(), &expected.concat(), 1e-14, "class means");
        let fitted = basis.fit(&x).expect("fits");
        assert!((fitted.expansion.kernel.gamma - width).abs() < 1e-12 * width);
        // n·c kernel values, n more for the residual, and those among the means.
        assert!(fitted.n_kernel_evaluations <= 60 * 4 + 4 * 9, "{}", fitted.n_kernel_evaluations);
        let (map, _) = fit(&Typed::from(AkdaQr { reg: 0.1, ..AkdaQr::default() }), &x, &labels, &fitted);
        assert_eq!(map.expansion.landmarks.len(), 3, "three kernel values a new row");
        let by_hand = basis_of_means(Kernel::rbf(width), &case.x, &case.codes).fit(&x).expect("fits");
        let (other, _) = fit(&Typed::from(AkdaQr { reg: 0.1, ..AkdaQr::default() }), &x, &labels, &by_hand);
        assert_close(&features(&map, &x).concat(), &features(&other, &x).concat(), 1e-9, "features");
    }
}

#[test]
fn kpls_on_numbers_equals_the_reference() {
    let case = super::case("numbers", 50, 4, 2, 337);
    let y: Vec<f64> = case.x.iter().map(|row| (2.0 * row[0]).sin() + 0.3 * row[1] + 100.0).collect();
    let column: Matrix = y.iter().map(|v| vec![*v]).collect();
    for form in forms(&case.x, &naive::random_rows(9, 4, 338), "rbf", 0.3) {
        for method in [Method::Kobl, Method::GramSchmidt, Method::Kpca] {
            let what = format!("{}, {}", form.name, method.name());
            let basis = fitted(method, &form, &case.codes, Some(20));
            let z = coordinates(&basis, &form.rows);
            for q in [1, 2, 5] {
                let expected = slow::kpls(&z, &column, q);
                let extractor = Typed::from(Kpls { n_components: Some(q) });
                let (map, directions) = fit(&extractor, &form.rows, &Labels::Numbers(y.clone()), &basis);
                assert_close(&directions.eigenvalues, &expected.eigenvalues, TOLERANCE, &what);
                assert!(directions.explained.is_empty());
                let found = features(&map, &form.rows);
                assert_same_features(&found, &expected.features(&z), &[], TOLERANCE, &what);
                assert_signs(&found, &what);
                let fresh = expected.features(&coordinates(&basis, &form.fresh));
                assert_same_features(&features(&map, &form.fresh), &fresh, &[], TOLERANCE, &what);
            }
        }
    }
}

#[test]
fn kpls_of_many_classes_equals_the_reference() {
    let case = super::case("eighty classes", 320, 6, 80, 341);
    let (x, y) = (rows(&case.x), naive::one_hot(&case.codes, 80));
    let basis = basis(Method::Kobl, Kernel::rbf(0.5), Some(75)).fit(&x).expect("fits");
    let z = coordinates(&basis, &x);
    let expected = slow::kpls(&z, &y, 4);
    let extractor = Typed::from(Kpls { n_components: Some(4) });
    let (map, directions) = fit(&extractor, &x, &classes(&case.codes), &basis);
    assert_close(&directions.eigenvalues, &expected.eigenvalues, TOLERANCE, "eigenvalues");
    assert_same_features(&features(&map, &x), &expected.features(&z), &[], TOLERANCE, "features");
    let (map, _) = fit(&Typed::from(Kpls { n_components: None }), &x, &classes(&case.codes), &basis);
    assert_eq!(map.n_features(), 75, "no more than coordinates, and no more than 100");
}

#[test]
fn kpls_scores_are_orthogonal_and_centred() {
    for case in cases() {
        let x = rows(&case.x);
        let basis = basis(Method::GramSchmidt, Kernel::rbf(0.3), None).fit(&x).expect("fits");
        let (map, _) = fit(&Typed::from(Kpls { n_components: Some(8) }), &x, &classes(&case.codes), &basis);
        let scores = features(&map, &x);
        let gram = slow::sum_of_products(&scores, &scores);
        for a in 0..8 {
            let mean = scores.iter().map(|row| row[a]).sum::<f64>() / scores.len() as f64;
            assert!(mean.abs() < 1e-9 * gram[a][a].sqrt(), "{}: {mean:e}", case.name);
            for b in 0..a {
                let overlap = gram[a][b] / (gram[a][a] * gram[b][b]).sqrt();
                assert!(overlap.abs() < 1e-8, "{}, scores {a} and {b}: {overlap:e}", case.name);
            }
        }
    }
}

#[test]
fn gda_without_reg_works_on_the_range_of_a_singular_scatter() {
    // Seven coordinates of which the last three repeat combinations of the first.
    let case = super::case("three classes", 60, 4, 3, 339);
    let with_copies = |row: &Vec<f64>| {
        let extra = [row[0] + row[1], row[2] - row[3], 2.0 * row[1]];
        row.iter().copied().chain(extra).collect::<Vec<f64>>()
    };
    let x: Matrix = case.x.iter().map(with_copies).collect();
    let fresh: Matrix = naive::random_rows(9, 4, 340).iter().map(with_copies).collect();
    let [form, ..] = forms(&x, &fresh, "linear", 1.0);
    let extractor = Typed::from(Gda { n_components: None, reg: 0.0 });
    let basis = fitted(Method::Kobl, &form, &case.codes, None);
    assert_equals_reference(&extractor, &form, &basis, &case.codes, TOLERANCE, "linear");
    // A rescaled column has the same features: without reg they do not depend on the coordinates.
    let z = rows(&case.x);
    let plain = Basis::kobl(Kernel::linear()).fit(&z).expect("fits");
    let (map, _) = fit(&extractor, &z, &classes(&case.codes), &plain);
    let (copies, directions) = fit(&extractor, &form.rows, &classes(&case.codes), &basis);
    let (a, b) = (features(&copies, &form.rows), features(&map, &z));
    assert_same_features(&a, &b, &directions.eigenvalues, TOLERANCE, "copies of columns");
}

#[test]
fn gda_without_reg_separates_perfectly_in_a_basis_that_spans_the_rows() {
    // More coordinates than rows: the total scatter is singular and every class collapses to a point, λ = 1.
    let case = super::case("three classes", 40, 6, 3, 341);
    let x = rows(&case.x);
    let basis = basis(Method::GramSchmidt, Kernel::rbf(1.0), None).fit(&x).expect("fits");
    assert_eq!(basis.n_components(), 40);
    let (map, directions) =
        fit(&Typed::from(Gda { n_components: None, reg: 0.0 }), &x, &classes(&case.codes), &basis);
    assert_close(&directions.eigenvalues, &[1.0, 1.0], 1e-6, "eigenvalues");
    let z = features(&map, &x);
    for i in 0..40 {
        let twin = (0..40).find(|&j| case.codes[j] == case.codes[i]).expect("its class");
        assert_close(&z[i], &z[twin], 1e-5, "rows of one class");
    }
}

#[test]
fn kpca_equals_the_components_of_the_kernel_matrix() {
    let case = super::case("two classes", 45, 4, 2, 342);
    let x = rows(&case.x);
    let k = naive::gram("rbf", 0.3, 3, 1.0, 1.0, &case.x);
    let k_new = {
        let fresh = naive::random_rows(7, 4, 343);
        let value = |a: &Vec<f64>, b: &Vec<f64>| naive::kernel("rbf", 0.3, 2, 1.0, 1.0, a, b);
        let k: Matrix = fresh.iter().map(|a| case.x.iter().map(|b| value(a, b)).collect()).collect();
        (rows(&fresh), k)
    };
    for center in [true, false] {
        let (values, expected) = naive::kpca(&k, Some(5), None, center);
        let projected = naive::kpca_project(&k, &k_new.1, Some(5), None, center);
        for method in [Method::GramSchmidt, Method::Kobl, Method::Kpca] {
            let basis = basis(method, Kernel::rbf(0.3), None).fit(&x).expect("fits");
            let extractor = Typed::from(Kpca { n_components: Some(5), center });
            // No labels are needed.
            let (map, directions) = extractor.fit(&x, None, basis, None, &Options::default()).expect("fits");
            let what = format!("{}, center {center}", method.name());
            assert_close(&directions.eigenvalues, &values, TOLERANCE, &what);
            assert_same_features(&features(&map, &x), &expected, &values, TOLERANCE, &what);
            assert_same_features(&features(&map, &k_new.0), &projected, &values, TOLERANCE, &what);
        }
        // In the components' own basis they are the coordinates themselves.
        let own = Basis { center, ..basis(Method::Kpca, Kernel::rbf(0.3), Some(5)) }.fit(&x).expect("fits");
        let z = coordinates(&own, &x);
        let extractor = Typed::from(Kpca { n_components: None, center });
        let (map, _) = extractor.fit(&x, None, own, None, &Options::default()).expect("fits");
        assert_close(&features(&map, &x).concat(), &z.concat(), 1e-9, "its own basis");
    }
}

#[test]
fn centred_components_find_their_way_back_to_the_rows() {
    let case = super::case("two classes", 30, 3, 2, 344);
    let x = rows(&case.x);
    for name in ["linear", "rbf"] {
        for method in [Method::GramSchmidt, Method::Kobl, Method::Kpca] {
            for (center, own) in [(true, false), (false, false), (true, true)] {
                if own && method != Method::Kpca {
                    continue;
                }
                let basis = Basis { center: own, ..basis(method, kernel(name, 0.5), None) };
                let basis = basis.fit(&x).expect("fits");
                let extractor = Typed::from(Kpca { n_components: None, center });
                let (map, _) = extractor.fit(&x, None, basis, None, &Options::default()).expect("fits");
                let z = map.transform(&x).expect("features");
                let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
                let what = format!("{name}, {}, center {center}, of a centred basis {own}", method.name());
                assert_close(&back, &case.x.concat(), 1e-4, &what);
            }
        }
    }
    // Fewer components: the nearest point in the plane, as classical PCA has it.
    let basis = Basis::kobl(Kernel::linear()).fit(&x).expect("fits");
    let extractor = Typed::from(Kpca { n_components: Some(1), center: true });
    let (map, _) = extractor.fit(&x, None, basis, None, &Options::default()).expect("fits");
    let z = map.transform(&x).expect("features");
    let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
    let (_, vectors) = naive::jacobi_eigen(&slow::total_scatter(&case.x));
    let line: Vec<f64> = vectors.iter().map(|row| row[0]).collect();
    let mean = slow::mean_of(&case.x, |_| true);
    let expected: Matrix = naive::center_columns(&case.x)
        .iter()
        .map(|row| (0..3).map(|j| mean[j] + naive::dot(row, &line) * line[j]).collect())
        .collect();
    assert_close(&back, &expected.concat(), 1e-9, "one component");
}

#[test]
fn klfe_separates_ringnorm_where_raw_neighbours_fail() {
    let table = synth::generate("ringnorm?n=2400&seed=3").expect("rows");
    let all = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let (train, test): (Vec<usize>, Vec<usize>) = ((0..400).collect(), (400..2_400).collect());
    let scaling = Scaling::fit(Scale::Standard, &table.rows.select(&train)).0.expect("scaled");
    let [x, fresh] = [&train, &test].map(|rows| scaling.apply(&table.rows.select(rows)).expect("scaled"));
    let [y, right] = [&train, &test].map(|rows| match all.select(rows) {
        Labels::Classes { codes, .. } => codes,
        Labels::Numbers(_) | Labels::Several { .. } => unreachable!("ringnorm has classes"),
    });
    let raw = nearest_neighbour_error(&x, &y, &fresh, &right).expect("error");
    let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&x).expect("fits");
    let map = Klfe { n_components: Some(10), n_neighbors: 1, ..Klfe::default() }
        .fit(&x, &all.select(&train), basis)
        .expect("fits");
    let [z, z_fresh] = [&x, &fresh].map(|x| Rows::from_mat(map.transform(x).expect("features").as_ref()));
    let extracted = nearest_neighbour_error(&z, &y, &z_fresh, &right).expect("error");
    assert!(raw > 0.2 && extracted < 0.03, "raw {raw}, KLFE {extracted}");
}
