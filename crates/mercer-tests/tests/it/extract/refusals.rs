//! Refusals in words, and what every fit must give.

use mercer::basis::Method;
use mercer::data::Labels;
use mercer::extract::{AkdaQr, Extractor, Gda, Kanmm, Klfe, Kmfa, Kpca, Kpls, Skfe, Start};
use mercer::{Basis, Error, FittedBasis, Kernel, Options, Rows};

use crate::extract::{
    Settings, Typed, assert_close, basis, basis_of_means, case, classes, coordinates, every_extractor,
    features, fit, forms, matrix, with_one_feature,
};
use crate::kernel::rows;
use crate::naive::extractors as slow;
use crate::naive::{self, Matrix};

/// A case on which each refusal is tried, with its basis.
fn plain() -> (Rows<'static>, Vec<usize>, FittedBasis) {
    let case = case("three classes", 30, 4, 3, 377);
    let x = rows(&case.x);
    let basis = basis(Method::Kobl, Kernel::rbf(0.3), Some(12)).fit(&x).expect("fits");
    (x, case.codes, basis)
}

fn refused(extractor: &Extractor, x: &Rows, labels: &Labels, basis: &FittedBasis) -> Error {
    match extractor.fit(x, labels, basis.clone(), None, &Options::default()) {
        Ok((_, found)) => panic!("{extractor:?} did not refuse: {found:?}"),
        Err(error) => error,
    }
}

fn with_components(q: usize) -> [Typed; 7] {
    [
        Typed::from(Klfe { n_components: Some(q), n_neighbors: 1, ..Klfe::default() }),
        Typed::from(Skfe { n_components: Some(q), ..Skfe::default() }),
        Typed::from(Gda { n_components: Some(q), ..Gda::default() }),
        Typed::from(Kpls { n_components: Some(q) }),
        Typed::from(Kmfa { n_components: Some(q), ..Kmfa::default() }),
        Typed::from(Kanmm { n_components: Some(q), ..Kanmm::default() }),
        Typed::from(Kpca { n_components: Some(q), ..Kpca::default() }),
    ]
}

#[test]
fn too_many_components_are_refused_with_the_most_there_are() {
    let (x, codes, basis) = plain();
    let z = coordinates(&basis, &x);
    let distance = naive::kernel_distances("rbf", 0.3, 2, 1.0, &matrix_of(&x));
    for extractor in with_components(500) {
        let most = match &extractor.settings {
            Settings::Klfe(e) => slow::klfe(&z, &distance, &codes, e.n_neighbors, None).eigenvalues.len(),
            Settings::Kanmm(e) => slow::kanmm(&z, &distance, &codes, e.n_neighbors, None).eigenvalues.len(),
            Settings::Gda(_) => 2,
            Settings::Kpls(_) => slow::kpls(&z, &naive::one_hot(&codes, 3), 500).eigenvalues.len(),
            _ => 12,
        };
        let error = refused(&extractor, &x, &classes(&codes), &basis);
        assert!(matches!(error, Error::Argument(_)), "{}: {error:?}", extractor.name());
        let text = error.to_string();
        let numbers: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).collect();
        let said = text.contains("n_components = 500") && numbers.contains(&most.to_string().as_str());
        assert!(said, "{}, at most {most}: {text}", extractor.name());
    }
    // The most there are is allowed.
    for (extractor, most) in with_components(12).iter().zip([0, 12, 0, 0, 12, 0, 12]) {
        if most == 12 {
            assert_eq!(
                fit(extractor, &x, &classes(&codes), &basis).0.n_features(),
                12,
                "{}",
                extractor.name()
            );
        }
    }
}

fn matrix_of(x: &Rows) -> Matrix {
    x.to_dense().chunks(x.p()).map(<[f64]>::to_vec).collect()
}

#[test]
fn kpls_has_as_many_components_as_the_rows_have_dimensions() {
    let case = case("three classes", 40, 3, 3, 378);
    let x = rows(&case.x);
    let basis = Basis::kobl(Kernel::linear()).fit(&x).expect("fits");
    let labels = classes(&case.codes);
    assert_eq!(fit(&Typed::from(Kpls { n_components: Some(3) }), &x, &labels, &basis).0.n_features(), 3);
    let text = refused(&Typed::from(Kpls { n_components: Some(4) }), &x, &labels, &basis).to_string();
    assert!(text.contains("n_components = 4") && text.contains('3'), "{text}");
    // One direction explains the numbers wholly: there is no second.
    let y = case.x.iter().map(|row| 3.0 * row[1] - 7.0).collect::<Vec<f64>>();
    let along: Matrix = case.x.iter().map(|row| vec![row[1]]).collect();
    let along = rows(&along);
    let basis = Basis::kobl(Kernel::linear()).fit(&along).expect("fits");
    let text = refused(&Typed::from(Kpls { n_components: Some(2) }), &along, &Labels::Numbers(y), &basis)
        .to_string();
    assert!(text.contains("n_components = 2") && text.contains('1'), "{text}");
}

#[test]
fn no_components_are_refused() {
    let (x, codes, basis) = plain();
    for extractor in with_components(0) {
        let error = refused(&extractor, &x, &classes(&codes), &basis);
        assert!(matches!(error, Error::Argument(_)), "{}: {error:?}", extractor.name());
        assert!(error.to_string().contains("n_components = 0"), "{}: {error}", extractor.name());
    }
}

#[test]
fn numbers_are_refused_where_classes_are_needed() {
    let (x, _, basis) = plain();
    let numbers = Labels::Numbers((0..30).map(|i| f64::from(i) * 0.3).collect());
    for extractor in every_extractor() {
        if ["kpls", "kpca"].contains(&extractor.name()) {
            fit(&extractor, &x, &numbers, &basis);
            continue;
        }
        // Asked before a basis is fitted, the answer is the same.
        let early = extractor.check(Some(&numbers)).expect_err("refused");
        for error in [refused(&extractor, &x, &numbers, &basis), early] {
            let text = error.to_string();
            assert!(text.contains(&format!("`{}` needs classes", extractor.name())), "{text}");
            assert!(text.contains("task = classification"), "{text}");
        }
    }
}

#[test]
fn one_class_is_refused() {
    let (x, _, basis) = plain();
    for extractor in every_extractor() {
        if extractor.name() == "kpca" {
            fit(&extractor, &x, &classes(&[0; 30]), &basis);
            continue;
        }
        let text = refused(&extractor, &x, &classes(&[0; 30]), &basis).to_string();
        if extractor.name() != "kpls" {
            assert!(text.contains("at least 2 classes, but the target holds only one"), "{text}");
        }
    }
    let same = refused(&Typed::from(Kpls::default()), &x, &Labels::Numbers(vec![0.1; 30]), &basis);
    assert!(!same.to_string().is_empty());
}

#[test]
fn missing_labels_are_refused_by_all_but_kpca() {
    let (x, _, basis) = plain();
    for extractor in every_extractor() {
        let found = extractor.fit(&x, None, basis.clone(), None, &Options::default());
        if extractor.name() == "kpca" {
            found.expect("needs no labels");
        } else {
            let text = found.expect_err("no labels").to_string();
            assert!(
                text.contains("looks at the labels, but none were given"),
                "{}: {text}",
                extractor.name()
            );
        }
    }
}

#[test]
fn labels_of_another_length_or_without_a_value_are_refused() {
    let (x, _, basis) = plain();
    for extractor in every_extractor() {
        let text = refused(&extractor, &x, &classes(&[0, 1, 0]), &basis).to_string();
        assert!(text.contains("30 rows, but 3 labels"), "{}: {text}", extractor.name());
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let mut y = vec![0.5; 30];
        y[3] = bad;
        y[4] = 1.0;
        let text = refused(&Typed::from(Kpls::default()), &x, &Labels::Numbers(y), &basis).to_string();
        assert!(text.contains("not a finite number at row 4"), "{text}");
    }
}

#[test]
fn rows_that_do_not_fit_the_basis_are_refused() {
    let (_, codes, basis) = plain();
    let labels = classes(&codes);
    let mut holes = naive::random_rows(30, 4, 379);
    holes[7][2] = f64::NAN;
    for extractor in every_extractor() {
        let text = refused(&extractor, &rows(&naive::random_rows(30, 3, 380)), &labels, &basis).to_string();
        assert!(
            text.contains("X has 3 features, but the map was fitted on 4"),
            "{}: {text}",
            extractor.name()
        );
        let text = refused(&extractor, &rows(&holes), &labels, &basis).to_string();
        assert!(text.contains("NaN at row 8, column 3"), "{}: {text}", extractor.name());
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let (x, codes, basis) = plain();
    let gda = |reg| Typed::from(Gda { reg, ..Gda::default() });
    let akda_qr = |reg| Typed::from(AkdaQr { reg, ..AkdaQr::default() });
    let kmfa = |reg, k_within, k_between| Typed::from(Kmfa { n_components: None, k_within, k_between, reg });
    let skfe = |tol| Typed::from(Skfe { tol, ..Skfe::default() });
    let mut bad = vec![
        (kmfa(1e-3, 0, 5), "k_within"),
        (kmfa(1e-3, 5, 0), "k_between"),
        (Typed::from(Klfe { n_components: None, n_neighbors: 0, ..Klfe::default() }), "at least 1"),
        (Typed::from(Kanmm { n_components: None, n_neighbors: 0 }), "at least 1"),
        (Typed::from(Skfe { max_iter: 0, ..Skfe::default() }), "max_iter"),
        (skfe(-1.0), "tol"),
        (skfe(f64::NAN), "tol"),
    ];
    for reg in [-0.1, f64::NAN, f64::INFINITY] {
        bad.extend([(gda(reg), "reg"), (akda_qr(reg), "reg"), (kmfa(reg, 5, 5), "reg")]);
    }
    for (extractor, word) in bad {
        let error = refused(&extractor, &x, &classes(&codes), &basis);
        assert!(matches!(error, Error::Argument(_)), "{extractor:?}: {error:?}");
        assert!(error.to_string().contains(word), "{extractor:?}: {error}");
        let early = extractor.check(Some(&classes(&codes))).expect_err("refused before a basis is fitted");
        assert_eq!(early.to_string(), error.to_string(), "{extractor:?}");
    }
}

#[test]
fn akda_qr_refuses_a_precomputed_kernel_and_a_basis_of_other_rows() {
    let case = case("two classes", 30, 4, 2, 381);
    let [dense, _, given] = forms(&case.x, &case.x, "rbf", 0.3);
    let labels = classes(&case.codes);
    let settings = basis(Method::GramSchmidt, given.kernel, None);
    let error = AkdaQr::basis(&settings, &given.rows, &labels).expect_err("no rows to average");
    assert!(error.to_string().contains("precomputed"), "{error}");
    for form in [dense, given] {
        let basis = basis(Method::GramSchmidt, form.kernel, None).fit(&form.rows).expect("fits");
        let error = refused(&Typed::from(AkdaQr::default()), &form.rows, &labels, &basis);
        assert!(error.to_string().contains("2 class means"), "{error}");
    }
    let settings = basis(Method::GramSchmidt, Kernel::rbf(0.3), None);
    let numbers = Labels::Numbers(vec![0.5; 30]);
    let error = AkdaQr::basis(&settings, &rows(&case.x), &numbers).expect_err("no classes");
    assert!(error.to_string().contains("`akda-qr` needs classes"), "{error}");
}

#[test]
fn a_precomputed_kernel_must_be_the_square_one() {
    let case = case("two classes", 30, 4, 2, 382);
    let [_, _, given] = forms(&case.x, &naive::random_rows(5, 4, 383), "rbf", 0.3);
    let basis = basis(Method::Kobl, given.kernel, Some(10)).fit(&given.rows).expect("fits");
    for extractor in with_one_feature() {
        let text = refused(&extractor, &given.fresh, &classes(&[0, 1, 0, 1, 1]), &basis).to_string();
        assert!(text.contains("square matrix"), "{}: {text}", extractor.name());
    }
}

#[test]
fn every_extractor_stops_when_it_is_told_to() {
    let (x, codes, basis) = plain();
    let means = basis_of_means(Kernel::rbf(0.3), &matrix_of(&x), &codes).fit(&x).expect("fits");
    let options = Options::default();
    options.monitor.stop();
    let mut all = every_extractor().to_vec();
    for init in [Start::Gda, Start::Kpls, Start::Random] {
        all.push(Typed::from(Skfe { init, ..Skfe::default() }));
    }
    for extractor in all {
        let basis = if extractor.name() == "akda-qr" { &means } else { &basis };
        let stopped = extractor.fit(&x, &classes(&codes), basis.clone(), None, &options);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{extractor:?}: {stopped:?}");
    }
}

#[test]
fn directions_have_the_shape_of_their_features() {
    let (x, codes, basis) = plain();
    for extractor in every_extractor().into_iter().filter(|e| e.name() != "akda-qr") {
        let (map, found) = fit(&extractor, &x, &classes(&codes), &basis);
        let (q, name) = (map.n_features(), extractor.name());
        assert_eq!((found.matrix.nrows(), found.matrix.ncols()), (q, 12), "{name}");
        assert!(found.offset.is_empty() || found.offset.len() == q, "{name}");
        assert_eq!(found.eigenvalues.len(), if name == "koc" { 0 } else { q }, "{name}");
        let shares = if ["koc", "kpls", "skfe"].contains(&name) { 0 } else { q };
        assert_eq!(found.explained.len(), shares, "{name}");
        assert_eq!(found.alignment_path.is_empty(), name != "skfe", "{name}");
        // feature = matrix·z − offset.
        let z = coordinates(&basis, &x);
        let mut by_hand = naive::matmul(&z, &naive::transpose(&matrix(&found.matrix)));
        for row in &mut by_hand {
            row.iter_mut().zip(&found.offset).for_each(|(v, b)| *v -= b);
        }
        assert_close(&features(&map, &x).concat(), &by_hand.concat(), 1e-9, name);
        // Where there is an offset, it is what the directions make of the origin.
        if !found.origin.is_empty() {
            let origin: Matrix = vec![found.origin.clone()];
            let of_origin = naive::matmul(&origin, &naive::transpose(&matrix(&found.matrix))).concat();
            assert_close(&found.offset, &of_origin, 1e-12, name);
        }
        // Centred methods subtract the mean, others nothing.
        let centred = ["gda", "kpls", "kpca"].contains(&name);
        let means = slow::mean_of(&by_hand, |_| true);
        assert_eq!(
            means.iter().all(|v| v.abs() < 1e-9 * naive::max_abs(&by_hand)),
            centred,
            "{name}: {means:?}"
        );
    }
}
