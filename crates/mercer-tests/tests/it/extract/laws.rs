//! Independence of the basis and of the order of rows, files, and bits that do not depend on threads.

use mercer::basis::Method;
use mercer::data::{Labels, Task, synth};
use mercer::extract::{Extractor, Gda, Kpls, Skfe, Start};
use mercer::{Basis, FeatureMap, Kernel, Monitor, Options, Rows};

use crate::extract::{
    Typed, assert_close, assert_same_features, basis, basis_of_means, case, cases, classes,
    closed_extractors, coordinates, every_extractor, features, fit, kernel, matrix, reference,
};
use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};

#[test]
fn sparse_rows_have_the_features_of_dense_ones() {
    let case = case("three classes", 60, 6, 3, 361);
    let basis = basis(Method::Kobl, Kernel::rbf(0.3), Some(15));
    let [dense, sparse] = [rows(&case.x), sparse(&case.x)].map(|x| {
        let basis = basis.fit(&x).expect("fits");
        let of = |extractor: &Typed| features(&fit(extractor, &x, &classes(&case.codes), &basis).0, &x);
        closed_extractors().iter().map(of).collect::<Vec<_>>()
    });
    for ((a, b), extractor) in dense.iter().zip(&sparse).zip(closed_extractors()) {
        let kept: Vec<usize> = (0..naive::width(a).min(3)).collect();
        let what = format!("{extractor:?}");
        assert_close(&naive::columns(b, &kept).concat(), &naive::columns(a, &kept).concat(), 1e-6, &what);
    }
}

#[test]
fn features_do_not_depend_on_which_basis_of_the_same_span_is_used() {
    for case in cases() {
        for (name, gamma) in [("rbf", 0.8), ("linear", 1.0)] {
            let x = rows(&case.x);
            let methods = [Method::GramSchmidt, Method::Kpca, Method::Kobl];
            let bases = methods.map(|method| basis(method, kernel(name, gamma), None).fit(&x).expect("fits"));
            let m = bases[0].n_components();
            assert!(bases.iter().all(|b| b.n_components() == m), "{}, {name}", case.name);
            for extractor in closed_extractors() {
                let z = coordinates(&bases[0], &x);
                let distance = naive::kernel_distances(name, gamma, 2, 1.0, &case.x);
                let by_loops = reference(&extractor, &z, &distance, &case.codes);
                if by_loops.eigenvalues.iter().any(|v| *v < 1e-9 * by_loops.eigenvalues[0]) {
                    continue; // more directions than there are
                }
                let fits = bases.each_ref().map(|basis| fit(&extractor, &x, &classes(&case.codes), basis));
                let (expected, values) = (features(&fits[0].0, &x), &fits[0].1.eigenvalues);
                for ((map, found), method) in fits.iter().zip(methods).skip(1) {
                    let what = format!("{extractor:?}, {}, {name}, {}", case.name, method.name());
                    assert_close(&found.eigenvalues, values, 1e-6, &what);
                    assert_same_features(&features(map, &x), &expected, &by_loops.spectrum, 1e-6, &what);
                }
            }
        }
    }
}

#[test]
fn skfe_reaches_the_same_alignment_through_bases_of_the_same_span() {
    let case = case("three classes", 40, 5, 3, 362);
    let x = rows(&case.x);
    let skfe = Typed::from(Skfe { max_iter: 2_000, tol: 1e-8, ..Skfe::default() });
    let paths = [Method::GramSchmidt, Method::Kpca, Method::Kobl].map(|method| {
        let basis = basis(method, Kernel::rbf(0.8), None).fit(&x).expect("fits");
        fit(&skfe, &x, &classes(&case.codes), &basis).1.alignment_path
    });
    for path in &paths[1..] {
        assert!((path[0] - paths[0][0]).abs() < 1e-8, "{} for {}", path[0], paths[0][0]);
        let ends = [path, &paths[0]].map(|p| *p.last().expect("a path"));
        assert!((ends[0] - ends[1]).abs() < 1e-5, "{ends:?}");
    }
}

#[test]
fn permuting_the_rows_permutes_the_features() {
    let case = case("three classes", 50, 4, 3, 363);
    let order = naive::random_order(50, 364);
    let x: Matrix = order.iter().map(|&i| case.x[i].clone()).collect();
    let codes: Vec<usize> = order.iter().map(|&i| case.codes[i]).collect();
    let fit_on = |x: &Matrix, codes: &[usize], extractor: &Extractor| {
        let x = rows(x);
        // All of the span: pivots would depend on the order.
        let basis = basis(Method::GramSchmidt, Kernel::rbf(0.8), None).fit(&x).expect("fits");
        let (map, found) = fit(extractor, &x, &classes(codes), &basis);
        (features(&map, &x), found.eigenvalues)
    };
    for extractor in closed_extractors() {
        let (plain, values) = fit_on(&case.x, &case.codes, &extractor);
        let (permuted, other) = fit_on(&x, &codes, &extractor);
        let what = format!("{extractor:?}");
        assert_close(&other, &values, 1e-6, &what);
        let expected: Matrix = order.iter().map(|&i| plain[i].clone()).collect();
        // The first alone: eigenvalues of later ones may be close, and centroids come in the order of the classes.
        assert_close(
            &naive::columns(&permuted, &[0]).concat(),
            &naive::columns(&expected, &[0]).concat(),
            1e-6,
            &what,
        );
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    let table = synth::generate("ringnorm?n=2500&seed=7").expect("rows");
    let labels = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let Labels::Classes { codes, .. } = &labels else { unreachable!("ringnorm has classes") };
    let values = table.rows.to_dense();
    let x: Matrix = values.chunks(table.rows.p()).map(<[f64]>::to_vec).collect();
    let plain = Basis::kobl(Kernel::rbf(0.05)).n_components(24).fit(&table.rows).expect("fits");
    let means = basis_of_means(Kernel::rbf(0.05), &x, codes).fit(&table.rows).expect("fits");
    let mut all = every_extractor().to_vec();
    for init in [Start::Gda, Start::Kpls, Start::Random] {
        all.push(Typed::from(Skfe { init, n_components: Some(3), max_iter: 20, ..Skfe::default() }));
    }
    let mut with_numbers: Vec<(Typed, Labels)> = all.iter().map(|e| (e.clone(), labels.clone())).collect();
    let numbers = Labels::Numbers(x.iter().map(|row| row[0] * row[1]).collect());
    with_numbers.push((Typed::from(Kpls { n_components: Some(4) }), numbers));
    for (extractor, labels) in with_numbers {
        let basis = if extractor.name() == "akda-qr" { &means } else { &plain };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            pool.install(|| {
                let (map, found) = fit(&extractor, &table.rows, &labels, basis);
                let first: Rows = table.rows.slice(0..100);
                (
                    bits(&matrix(&found.matrix).concat()),
                    [found.offset, found.eigenvalues, found.explained, found.alignment_path]
                        .map(|v| bits(&v)),
                    bits(&features(&map, &first).concat()),
                )
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{extractor:?} differs");
    }
}

#[test]
fn a_fitted_map_comes_back_from_its_file() {
    let case = case("three classes", 50, 4, 3, 365);
    let x = rows(&case.x);
    let folder = tempfile::tempdir().expect("a folder");
    let basis = basis(Method::Kobl, Kernel::rbf(0.3), Some(10)).fit(&x).expect("fits");
    for extractor in every_extractor() {
        let (map, _) = match extractor.name() {
            "akda-qr" => {
                let means = basis_of_means(Kernel::rbf(0.3), &case.x, &case.codes).fit(&x).expect("fits");
                fit(&extractor, &x, &classes(&case.codes), &means)
            }
            _ => fit(&extractor, &x, &classes(&case.codes), &basis),
        };
        let path = folder.path().join(extractor.name());
        map.save(&path).expect("saved");
        let again = FeatureMap::load(&path).expect("loaded");
        assert_eq!(again.transform(&x).expect("features"), map.transform(&x).expect("features"));
        assert_eq!(again.method, extractor.name());
        let first = format!("{}0", extractor.name().replace('-', ""));
        assert_eq!(again.feature_names[0], first);
        assert_eq!(again.expansion.origin, map.expansion.origin);
    }
}

#[test]
fn progress_is_shown_while_rows_are_added_up() {
    let case = case("two classes", 40, 3, 2, 366);
    let x = rows(&case.x);
    let monitor = Monitor::default();
    let basis = basis(Method::Kobl, Kernel::rbf(0.3), Some(8)).fit(&x).expect("fits");
    Typed::from(Gda::default())
        .fit(&x, &classes(&case.codes), basis, None, &Options::watched(&monitor))
        .expect("fits");
    let progress = monitor.progress();
    assert!(progress.total > 0 && progress.done == progress.total, "{progress:?}");
}
