//! `skfe`: a search, so what it finds is held to the objective itself, to a slow ascent and to the laws.

use mercer::basis::Method;
use mercer::basis::criterion::Criterion;
use mercer::basis::points::Move;
use mercer::extract::{Directions, Extractor, Skfe, Start};
use mercer::kernel::Shape;
use mercer::{Basis, FeatureMap, FittedBasis, Kernel};
use proptest::prelude::*;

use crate::extract::{
    assert_close, assert_signs, basis, case, cases, classes, coordinates, features, fit, forms, matrix,
};
use crate::kernel::rows;
use crate::naive::extractors as slow;
use crate::naive::subspaces::{Alignment, alignment_of_features, start_at};
use crate::naive::{self, Matrix};

/// Long enough to settle.
fn patient(q: Option<usize>, init: Start, center: bool) -> Skfe {
    Skfe { n_components: q, init, max_iter: 2_000, tol: 1e-8, center, seed: 3, ..Skfe::default() }
}

fn run(skfe: &Skfe, x: &Matrix, codes: &[usize], basis: &FittedBasis) -> (FeatureMap, Directions) {
    fit(&Extractor::from(skfe.clone()), &rows(x), &classes(codes), basis)
}

fn small_basis(x: &Matrix, m: usize) -> FittedBasis {
    basis(Method::Kobl, Kernel::rbf(0.3), Some(m)).fit(&rows(x)).expect("fits")
}

fn last(path: &[f64]) -> f64 {
    *path.last().expect("a path")
}

/// B, m×q, from directions.
fn columns_of(directions: &Directions) -> Matrix {
    naive::transpose(&matrix(&directions.matrix))
}

#[test]
fn skfe_starts_where_it_is_told_to() {
    for case in cases() {
        let basis = small_basis(&case.x, 12);
        let z = coordinates(&basis, &rows(&case.x));
        let c = slow::classes_of(&case.codes);
        let y = naive::one_hot(&case.codes, c);
        let starts = [
            (Start::Koc, slow::koc(&z, &case.codes)),
            (Start::Gda, slow::gda(&z, &case.codes, 0.1, None)),
            (Start::Kpls, slow::kpls(&z, &y, c)),
        ];
        for (init, start) in starts {
            for center in [false, true] {
                let b = start_at(&start.directions);
                let expected = Alignment::new(&z, &case.codes, center).value(&b);
                let skfe = patient(Some(naive::width(&b)), init, center);
                let (_, found) = run(&skfe, &case.x, &case.codes, &basis);
                let first = found.alignment_path[0];
                let what = format!("{}, {init:?}, center {center}", case.name);
                assert!((first - expected).abs() < 1e-6, "{what}: {first} for {expected}");
            }
        }
    }
}

#[test]
fn skfe_never_falls_and_ends_at_the_alignment_of_its_features() {
    for case in cases() {
        let (basis, c) = (small_basis(&case.x, 12), slow::classes_of(&case.codes));
        let z = coordinates(&basis, &rows(&case.x));
        for init in [Start::Koc, Start::Gda, Start::Kpls, Start::Kpca, Start::AkdaQr, Start::Random] {
            for q in [None, Some(1), Some(c - 1), Some(c + 2), Some(12)] {
                for center in [false, true] {
                    let what = format!("{}, {init:?}, q = {q:?}, center {center}", case.name);
                    let (map, found) = run(&patient(q, init, center), &case.x, &case.codes, &basis);
                    let q = q.unwrap_or(c);
                    assert_eq!((found.matrix.nrows(), found.matrix.ncols()), (q, 12), "{what}");
                    let path = &found.alignment_path;
                    assert!(path.windows(2).all(|w| w[1] >= w[0]), "{what}: {path:?}");
                    assert!(path.iter().all(|a| (0.0..=1.0 + 1e-12).contains(a)), "{what}: {path:?}");
                    let alignment = Alignment::new(&z, &case.codes, center);
                    let b = columns_of(&found);
                    assert!((alignment.value(&b) - last(path)).abs() < 1e-9, "{what}");
                    let f = features(&map, &rows(&case.x));
                    let by_kernels = alignment_of_features(&f, &case.codes, center);
                    assert!(
                        (by_kernels - last(path)).abs() < 1e-9,
                        "{what}: {by_kernels} for {}",
                        last(path)
                    );
                }
            }
        }
    }
}

#[test]
fn skfe_directions_are_orthonormal_and_diagonal_in_descending_order() {
    for case in cases() {
        for form in forms(&case.x, &case.x, "rbf", 0.3) {
            let basis = basis(Method::Kobl, form.kernel, Some(14)).fit(&form.rows).expect("fits");
            let z = coordinates(&basis, &form.rows);
            for center in [false, true] {
                let what = format!("{}, {}, center {center}", case.name, form.name);
                let skfe = Extractor::from(patient(Some(4), Start::Koc, center));
                let (map, found) = fit(&skfe, &form.rows, &classes(&case.codes), &basis);
                let b = columns_of(&found);
                let gram = naive::matmul(&naive::transpose(&b), &b);
                assert_close(&gram.concat(), &naive::identity(4).concat(), 1e-9, &what);
                let alignment = Alignment::new(&z, &case.codes, center);
                let mut diagonal = naive::zeros(4, 4);
                (0..4).for_each(|j| diagonal[j][j] = found.eigenvalues[j]);
                assert_close(&alignment.inner(&b).concat(), &diagonal.concat(), 1e-9, &what);
                assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b), "{what}");
                assert_eq!(map.eigenvalues, found.eigenvalues);
                assert!(found.explained.is_empty(), "{what}");
                // Centred features have mean 0, others are plain projections.
                let f = features(&map, &form.rows);
                assert_signs(&f, &what);
                let expected = alignment.finished(&z, &b, center);
                assert_close(&f.concat(), &expected.features(&z).concat(), 1e-8, &what);
            }
        }
    }
}

#[test]
fn skfe_reaches_at_least_what_a_slow_ascent_reaches() {
    for case in cases() {
        let (basis, c) = (small_basis(&case.x, 10), slow::classes_of(&case.codes));
        let z = coordinates(&basis, &rows(&case.x));
        for center in [false, true] {
            let alignment = Alignment::new(&z, &case.codes, center);
            let start = start_at(&slow::koc(&z, &case.codes).directions);
            let expected = alignment.value(&alignment.ascend(&start, 3_000));
            let (_, found) = run(&patient(None, Start::Koc, center), &case.x, &case.codes, &basis);
            assert_eq!(found.matrix.nrows(), c);
            let reached = last(&found.alignment_path);
            assert!(reached > expected - 1e-5, "{}, center {center}: {reached} for {expected}", case.name);
        }
    }
}

#[test]
fn skfe_ends_where_the_gradient_is_nothing_beside_the_first() {
    for case in cases() {
        let basis = small_basis(&case.x, 10);
        let z = coordinates(&basis, &rows(&case.x));
        for (tol, center) in [(1e-3, false), (1e-5, false), (1e-5, true)] {
            let skfe = Skfe { tol, max_iter: 5_000, center, ..Skfe::default() };
            let (_, found) = run(&skfe, &case.x, &case.codes, &basis);
            let what = format!("{}, tol {tol}, center {center}", case.name);
            assert!(found.alignment_path.len() < 5_000, "{what}");
            let alignment = Alignment::new(&z, &case.codes, center);
            let norm = |b: &Matrix| naive::frobenius(&alignment.slope_on_manifold(b));
            let first = norm(&start_at(&slow::koc(&z, &case.codes).directions));
            let end = norm(&columns_of(&found));
            assert!(end <= tol * first * (1.0 + 1e-6) + 1e-12, "{what}: {end:e} after {first:e}");
        }
    }
}

#[test]
fn skfe_with_one_direction_finds_the_best_line() {
    // A(b) = bᵀCCᵀb/(bᵀSb·‖YᵀY‖): the leading generalised eigenvector is the best there is.
    for case in cases() {
        let basis = small_basis(&case.x, 10);
        let z = coordinates(&basis, &rows(&case.x));
        for center in [false, true] {
            let alignment = Alignment::new(&z, &case.codes, center);
            let cc = naive::matmul(&alignment.c, &naive::transpose(&alignment.c));
            let best = slow::generalised_eigen(&cc, &alignment.s).0[0] / alignment.target;
            for init in [Start::Koc, Start::Gda, Start::Kpls, Start::Random] {
                let (_, found) = run(&patient(Some(1), init, center), &case.x, &case.codes, &basis);
                let reached = last(&found.alignment_path);
                let what = format!("{}, {init:?}, center {center}", case.name);
                assert!((reached - best).abs() < 1e-6, "{what}: {reached} for {best}");
            }
        }
    }
}

#[test]
fn alignment_does_not_see_a_rotation_of_the_directions() {
    let case = case("three classes", 40, 4, 3, 350);
    let alignment = Alignment::new(&case.x, &case.codes, false);
    let b = start_at(&naive::random_rows(3, 4, 351));
    let rotation = start_at(&naive::random_rows(3, 3, 352));
    let turned = naive::matmul(&b, &rotation);
    assert!((alignment.value(&turned) - alignment.value(&b)).abs() < 1e-14);
}

#[test]
fn the_number_of_steps_is_bounded() {
    let case = case("three classes", 50, 4, 3, 353);
    let basis = small_basis(&case.x, 12);
    let mut reached = 0.0;
    for max_iter in [1, 2, 5] {
        let skfe = Skfe { max_iter, tol: 0.0, ..Skfe::default() };
        let (_, found) = run(&skfe, &case.x, &case.codes, &basis);
        assert_eq!(found.alignment_path.len(), max_iter + 1);
        assert!(last(&found.alignment_path) > reached, "more steps, more alignment");
        reached = last(&found.alignment_path);
    }
}

#[test]
fn a_random_start_is_that_of_its_seed() {
    let case = case("two classes", 50, 4, 2, 354);
    let basis = small_basis(&case.x, 12);
    let of = |seed: u64| {
        let skfe = Skfe { init: Start::Random, max_iter: 5, seed, ..Skfe::default() };
        run(&skfe, &case.x, &case.codes, &basis).1
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1).alignment_path, of(2).alignment_path);
}

/// The rows of a map's matrix over all n training rows: the W of the paper, q×n.
fn weights_of_rows(map: &FeatureMap, n: usize) -> Matrix {
    let found = matrix(&map.expansion.matrix);
    let pivots = if map.pivots.is_empty() { (0..n).collect() } else { map.pivots.clone() };
    let mut all = naive::zeros(found.len(), n);
    for (at, &i) in pivots.iter().enumerate() {
        (0..found.len()).for_each(|j| all[j][i] = found[j][at]);
    }
    all
}

#[test]
fn on_a_basis_that_spans_the_rows_alignment_is_that_of_the_paper() {
    let case = case("three classes", 30, 5, 3, 355);
    let k = naive::gram("rbf", 1.0, 3, 1.0, 1.0, &case.x);
    let y = naive::one_hot(&case.codes, 3);
    let target = naive::matmul(&y, &naive::transpose(&y));
    for method in [Method::GramSchmidt, Method::Kobl, Method::Kpca] {
        let basis = basis(method, Kernel::rbf(1.0), None).fit(&rows(&case.x)).expect("fits");
        assert_eq!(basis.n_components(), 30, "{}", method.name());
        for center in [false, true] {
            let (map, found) = run(&patient(None, Start::Koc, center), &case.x, &case.codes, &basis);
            let w = weights_of_rows(&map, 30);
            let inner = naive::matmul(&naive::matmul(&w, &k), &naive::transpose(&w));
            assert_close(&inner.concat(), &naive::identity(3).concat(), 1e-6, "WᵀKW = I");
            let projected = naive::matmul(&w, &k);
            let kernel = naive::matmul(&naive::transpose(&projected), &projected);
            let expected = naive::alignment(&kernel, &target, center);
            let reached = last(&found.alignment_path);
            assert!((reached - expected).abs() < 1e-8, "{}: {reached} for {expected}", method.name());
        }
    }
}

#[test]
fn shuffled_labels_are_fitted_on_a_basis_that_spans_the_rows_and_less_on_a_small_one() {
    let case = case("three classes", 90, 8, 3, 356);
    let order = naive::random_order(90, 357);
    let shuffled: Vec<usize> = order.iter().map(|&i| case.codes[i]).collect();
    let of = |basis: &Basis| {
        let basis = basis.fit(&rows(&case.x)).expect("fits");
        last(&run(&patient(None, Start::Koc, false), &case.x, &shuffled, &basis).1.alignment_path)
    };
    let spanning = of(&basis(Method::GramSchmidt, Kernel::rbf(0.5), None));
    let small = of(&basis(Method::Kobl, Kernel::rbf(0.5), Some(15)));
    assert!(spanning > 0.95, "{spanning}");
    assert!(small < spanning - 0.1, "{small} beside {spanning}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_slow_ascent_finds_nothing_left_to_climb_on_any_small_data(
        seed in 0u64..100_000, n in 6usize..40, p in 2usize..5, c in 2usize..5, m in 2usize..9, center: bool
    ) {
        let x = naive::random_rows(n, p, seed);
        let mut state = seed;
        let codes: Vec<usize> =
            (0..n).map(|i| if i < c { i } else { naive::random_bits(&mut state) as usize % c }).collect();
        let basis = small_basis(&x, m);
        let z = coordinates(&basis, &rows(&x));
        let start = start_at(&slow::koc(&z, &codes).directions);
        if naive::width(&start) < c || c > m {
            return Ok(()); // filled up with directions that the reference does not know
        }
        let alignment = Alignment::new(&z, &codes, center);
        let (map, found) = run(&patient(None, Start::Koc, center), &x, &codes, &basis);
        let path = &found.alignment_path;
        prop_assert!(path.windows(2).all(|w| w[1] >= w[0]), "{path:?}");
        prop_assert!((path[0] - alignment.value(&start)).abs() < 1e-6);
        // A slow ascent from the start may end at another, higher or lower, local maximum; from here it stays.
        let climbed = alignment.value(&alignment.ascend(&columns_of(&found), 300));
        let settled = path.len() <= 2_000; // not ended by the number of steps
        prop_assert!(!settled || climbed < last(path) + 1e-9, "{climbed} after {}", last(path));
        let by_kernels = alignment_of_features(&features(&map, &rows(&x)), &codes, center);
        prop_assert!((by_kernels - last(path)).abs() < 1e-8);
    }
}

/// Points that k-means finds, and where they are moved to.
fn points_of(criterion: Criterion, case: &crate::extract::Case, kernel: Kernel) -> [FittedBasis; 2] {
    let settings = Basis::kmeans(kernel).n_components(4);
    let moves = Move { criterion, center: false, reg: 0.1, max_iter: 30, tol: 1e-6 };
    [settings.clone(), settings.moves(moves)]
        .map(|basis| basis.fit_supervised(&rows(&case.x), &classes(&case.codes)).expect("fits"))
}

#[test]
fn moved_points_are_better_aligned_than_the_centres_they_start_at() {
    for case in cases() {
        for kernel in [Kernel::rbf(0.3), Kernel { shape: Shape::Poly { degree: 2, coef0: 1.0 }, gamma: 0.5 }]
        {
            let [before, after] = points_of(Criterion::Alignment, &case, kernel)
                .map(|basis| alignment_of_features(&coordinates(&basis, &rows(&case.x)), &case.codes, false));
            assert!(after > before, "{}: {after} for {before}", case.name);
        }
    }
}

#[test]
fn skfe_with_points_is_the_moved_basis_turned() {
    for case in cases() {
        let skfe = Skfe { points: Some(4), max_iter: 30, ..Skfe::default() };
        let (labels, data) = (classes(&case.codes), rows(&case.x));
        let settings =
            Extractor::from(skfe.clone()).basis(Basis::kmeans(Kernel::rbf(0.3)), &data, Some(&labels));
        let basis = settings.expect("points").fit_supervised(&data, &labels).expect("fits");
        let [_, moved] = points_of(Criterion::Alignment, &case, Kernel::rbf(0.3));
        let (map, found) = run(&skfe, &case.x, &case.codes, &basis);
        let (f, z) = (features(&map, &data), coordinates(&moved, &data));
        assert_eq!(naive::width(&f), naive::width(&z), "{}", case.name);
        let kernel_of = |f: &Matrix| naive::matmul(f, &naive::transpose(f)).concat();
        assert_close(&kernel_of(&f), &kernel_of(&z), 1e-9, case.name);
        assert!((alignment_of_features(&f, &case.codes, false) - last(&found.alignment_path)).abs() < 1e-9);
        assert!(found.eigenvalues.is_sorted_by(|a, b| a >= b), "{}", case.name);
    }
}

#[test]
fn points_need_a_smooth_kernel_and_no_other_basis() {
    let case = case("three classes", 30, 3, 3, 5);
    let (labels, data) = (classes(&case.codes), rows(&case.x));
    let skfe = Extractor::from(Skfe { points: Some(2), ..Skfe::default() });
    let other = skfe.basis(Basis::kobl(Kernel::rbf(0.3)), &data, Some(&labels)).expect_err("refused");
    assert!(other.to_string().starts_with("points = 2 are a basis of their own"), "{other}");
    let settings = skfe
        .basis(Basis::kmeans(Kernel { shape: Shape::Laplacian, gamma: 0.3 }), &data, Some(&labels))
        .expect("settings");
    let rough = settings.fit_supervised(&data, &labels).expect_err("refused").to_string();
    assert!(rough.contains("`laplacian` does not have, or not everywhere"), "{rough}");
    let many = Skfe { points: Some(2), n_components: Some(3), ..Skfe::default() };
    let many = Extractor::from(many).check(Some(&labels)).expect_err("refused").to_string();
    assert!(many.contains("2 points span at most 2 directions"), "{many}");
}

#[test]
fn margins_have_orthonormal_directions_and_other_features_than_alignment() {
    for case in cases() {
        let basis = small_basis(&case.x, 12);
        let plain = run(&Skfe::default(), &case.x, &case.codes, &basis).1.matrix;
        for criterion in [Criterion::Margin, Criterion::RadiusMargin] {
            let skfe = Skfe { criterion, ..Skfe::default() };
            let (map, found) = run(&skfe, &case.x, &case.codes, &basis);
            let b = columns_of(&found);
            let q = naive::width(&b);
            let gram = naive::matmul(&naive::transpose(&b), &b);
            assert_close(&gram.concat(), &naive::identity(q).concat(), 1e-9, case.name);
            assert_ne!(found.matrix, plain, "{}", case.name);
            let f = features(&map, &rows(&case.x));
            let alignment = alignment_of_features(&f, &case.codes, false);
            assert!((alignment - last(&found.alignment_path)).abs() < 1e-9, "{}", case.name);
        }
    }
}
