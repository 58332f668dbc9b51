//! Bases against the naive references, and the identities that they must satisfy.

use mercer::basis::{Landmarks, Method, Stop, Threshold};
use mercer::data::{Labels, synth};
use mercer::{Basis, Error, FittedBasis, Gamma, Kernel, Options, Rows, Shape};
use proptest::prelude::*;

use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};

fn gram(gamma: f64, x: &Matrix) -> Matrix {
    naive::gram("rbf", gamma, 3, 1.0, 1.0, x)
}

fn features(basis: &FittedBasis, x: &Rows) -> Matrix {
    let z = basis.expansion.transform(x).expect("features");
    (0..z.nrows()).map(|i| z.row(i).iter().copied().collect()).collect()
}

fn assert_close(a: &Matrix, b: &Matrix, tolerance: f64, what: &str) {
    assert_eq!((a.len(), naive::width(a)), (b.len(), naive::width(b)), "{what}");
    let size = naive::max_abs(b).max(f64::MIN_POSITIVE);
    let worst = naive::max_abs(&naive::subtract(a, b)) / size;
    assert!(worst <= tolerance, "{what}: {worst:e} above {tolerance:e}");
}

/// With the method, every other setting at its default.
fn basis(method: Method, gamma: f64) -> Basis {
    Basis::new(method, Kernel::rbf(gamma))
}

/// Fits in at most this many bytes.
fn fit_within(
    settings: &Basis,
    data: &Rows,
    labels: Option<&Labels>,
    memory: u64,
) -> mercer::Result<FittedBasis> {
    Ok(settings.fit_with(data, labels, &Options::default().memory(memory))?.0)
}

const PIVOTED: [Method; 4] = [Method::Kobl, Method::Sparse, Method::Nystrom, Method::Rpcholesky];

#[test]
fn kobl_has_the_textbook_pivots_norms_and_features() {
    for (n, p, seed) in [(60, 2, 1), (250, 5, 2), (300, 20, 3)] {
        let x = naive::random_rows(n, p, seed);
        let gamma = naive::gamma_scale(&x, false);
        let slow = naive::kobl(&gram(gamma, &x), &|t| t, None);
        for data in [rows(&x), sparse(&x)] {
            let fast = basis(Method::Kobl, gamma).threshold(Threshold::Linear).fit(&data).expect("fits");
            assert_eq!(fast.pivots, slow.pivots);
            assert_eq!(fast.stop, Stop::Rule);
            for (a, b) in fast.pivot_norms.iter().zip(&slow.norms) {
                assert!((a - b).abs() < 1e-9 * b);
            }
            assert_close(&features(&fast, &data), &slow.features, 1e-9, "features");
            let residual = slow.residuals.iter().map(|r| r.max(0.0)).sum::<f64>() / n as f64;
            assert!((fast.residual - residual).abs() < 1e-9);
        }
    }
}

#[test]
fn kobl_agrees_with_the_textbook_on_nasty_rows_and_every_threshold() {
    type Function = fn(f64) -> f64;
    let thresholds: [(Threshold, Function); 5] = [
        (Threshold::Linear, |t| t),
        (Threshold::Power(0.5), f64::sqrt),
        (Threshold::Constant(0.2), |_| 0.2),
        (Threshold::Function(|t| t * t), |t| t * t),
        (Threshold::Values([0.0, 0.5, 0.5].into()), |t| t.min(0.5)),
    ];
    for (set, x) in naive::nasty_sets() {
        let gamma = naive::gamma_scale(&x, false);
        let k = gram(gamma, &x);
        for (threshold, f) in thresholds.clone() {
            let slow = naive::kobl(&k, &f, None);
            let fast = basis(Method::Kobl, gamma).threshold(threshold.clone()).fit(&rows(&x)).expect("fits");
            assert_eq!(fast.pivots, slow.pivots, "{set}, {threshold:?}");
        }
    }
}

#[test]
fn copies_of_rows_cost_kobl_no_passes() {
    // Without room for the factor every pass computes the kernel values of all earlier pivots again.
    let distinct = naive::random_rows(2_000, 6, 12);
    let copied: Matrix = (0..2_000).map(|i| distinct[i * 7 % 200].clone()).collect();
    let settings = basis(Method::Kobl, 0.2).threshold(Threshold::Constant(0.0)).n_components(200);
    let run = |x: &Matrix| fit_within(&settings, &rows(x), None, 8 * 2_000 * 200 - 1).expect("fits");
    let (a, b) = (run(&distinct), run(&copied));
    assert_eq!((a.n_components(), b.n_components()), (200, 200));
    assert!(b.n_kernel_evaluations <= a.n_kernel_evaluations, "{}", b.n_kernel_evaluations);
    // The pivots are those of the loop that looks at every row.
    let small: Matrix = copied[..400].to_vec();
    let slow = naive::kobl(&gram(0.2, &small), &|_| 0.0, Some(60));
    for data in [rows(&small), sparse(&small)] {
        let fast = settings.clone().n_components(60).fit(&data).expect("fits");
        assert_eq!(fast.pivots, slow.pivots);
    }
}

#[test]
fn ties_go_to_the_lowest_index() {
    // A regular grid: most residuals are tied at every step.
    let x: Matrix = (0..144).map(|i| vec![f64::from(i % 12), f64::from(i / 12)]).collect();
    let slow = naive::kobl(&gram(0.3, &x), &|_| 0.0, Some(60));
    let fast = basis(Method::Kobl, 0.3).threshold(Threshold::Constant(0.0)).n_components(60);
    assert_eq!(fast.fit(&rows(&x)).expect("fits").pivots, slow.pivots);
}

#[test]
fn gram_schmidt_keeps_the_rows_of_the_reference() {
    for (n, p, seed) in [(40, 3, 4), (200, 20, 5)] {
        let x = naive::random_rows(n, p, seed);
        let gamma = naive::gamma_scale(&x, false);
        let slow = naive::gram_schmidt(&gram(gamma, &x), 1e-6, None);
        let fast = basis(Method::GramSchmidt, gamma).fit(&rows(&x)).expect("fits");
        assert_eq!(fast.pivots, slow.pivots);
        let tolerance = 1e-9 / slow.norms.iter().copied().fold(1.0, f64::min);
        assert_close(&features(&fast, &rows(&x)), &slow.features, tolerance, "features");
    }
}

#[test]
fn gram_schmidt_is_orthonormal_on_nearly_dependent_rows() {
    for (set, x) in naive::nasty_sets() {
        let gamma = naive::gamma_scale(&x, false);
        let fitted = basis(Method::GramSchmidt, gamma).fit(&rows(&x)).expect("fits");
        let loss = fitted.orthogonality_loss(None).expect("loss");
        assert!(loss < 1e-5, "{set}: {loss:e}");
    }
}

#[test]
fn the_hilbert_matrix_yields_a_few_orthonormal_vectors() {
    let k = rows(&naive::hilbert(100));
    let fitted = Basis::new(Method::GramSchmidt, Kernel::precomputed()).fit(&k).expect("fits");
    assert!((8..=20).contains(&fitted.n_components()), "{} vectors", fitted.n_components());
    let loss = fitted.orthogonality_loss(Some(&k)).expect("loss");
    assert!(loss < 1e-5, "{loss:e}");
}

#[test]
fn sparse_keeps_what_the_one_pass_reference_keeps() {
    for (n, p, nu) in [(80, 2, 0.1), (250, 6, 0.3), (200, 4, 0.01)] {
        let x = naive::random_rows(n, p, 6);
        let gamma = naive::gamma_scale(&x, false);
        let mut settings = basis(Method::Sparse, gamma).seed(3);
        settings.nu = Some(nu);
        let fast = settings.fit(&rows(&x)).expect("fits");
        // The reference follows the library's own random order, read off a fit that keeps every row.
        let mut all = Basis::new(Method::Sparse, Kernel::precomputed()).seed(3);
        all.nu = Some(0.0);
        let order = all.fit(&rows(&naive::identity(n))).expect("fits").pivots;
        assert_eq!(order.len(), n);
        let slow = naive::sparse(&gram(gamma, &x), &order, nu, None);
        assert_eq!(fast.pivots, slow.pivots);
        assert_eq!(fast.stop, Stop::Rule);
        assert_close(&features(&fast, &rows(&x)), &slow.features, 1e-9, "features");
    }
}

#[test]
fn nystrom_spans_its_landmarks() {
    let x = naive::random_rows(120, 4, 7);
    let gamma = naive::gamma_scale(&x, false);
    let fitted = basis(Method::Nystrom, gamma).n_components(30).fit(&rows(&x)).expect("fits");
    let z = features(&fitted, &rows(&x));
    let expected = naive::nystrom_gram(&gram(gamma, &x), &fitted.pivots);
    assert_close(&naive::matmul(&z, &naive::transpose(&z)), &expected, 1e-8, "Z Zᵀ");
}

#[test]
fn rpcholesky_draws_in_proportion_to_the_residual() {
    // Two far-apart groups of 30 and 10 equal rows: the first pivot falls into a group in proportion to its size, the
    // second one into the other group for certain.
    let x: Matrix = (0..40).map(|i| vec![if i < 30 { 0.0 } else { 100.0 }]).collect();
    let mut first = 0;
    for seed in 0..400 {
        let fitted = basis(Method::Rpcholesky, 1.0).seed(seed).fit(&rows(&x)).expect("fits");
        assert_eq!(fitted.n_components(), 2);
        assert_eq!(fitted.stop, Stop::Rank);
        assert!((fitted.pivots[0] < 30) != (fitted.pivots[1] < 30));
        first += usize::from(fitted.pivots[0] < 30);
    }
    // 300 expected, standard deviation 8.7.
    assert!((260..=340).contains(&first), "{first} of 400");
}

#[test]
fn rpcholesky_in_blocks_has_the_law_of_one_pivot_at_a_time() {
    // How often each row is among the first three pivots, against drawing one at a time from the explicit residual.
    let x = naive::random_rows(12, 1, 8);
    let k = gram(2.0, &x);
    let trials = 4_000;
    let (mut fast, mut slow) = ([0.0f64; 12], [0.0f64; 12]);
    let mut state = 17u64;
    for seed in 0..trials {
        let fitted = basis(Method::Rpcholesky, 2.0).n_components(3).seed(seed).fit(&rows(&x)).expect("fits");
        fitted.pivots.iter().for_each(|&i| fast[i] += 1.0);
        let mut r = k.clone();
        for _ in 0..3 {
            let mut target = naive::random_uniform(&mut state) * naive::trace(&r);
            let chosen = (0..12).find(|&i| {
                target -= r[i][i];
                target < 0.0
            });
            let chosen = chosen.unwrap_or(11);
            slow[chosen] += 1.0;
            naive::eliminate(&mut r, chosen);
        }
    }
    for i in 0..12 {
        let deviation = f64::from(u32::try_from(trials).expect("small")).sqrt();
        assert!((fast[i] - slow[i]).abs() < 5.0 * deviation, "row {i}: {} against {}", fast[i], slow[i]);
    }
}

#[test]
fn rpcholesky_leaves_out_rows_whose_coefficients_are_too_large() {
    // Twins so near to rows of their own that more than rounding is left of them, and their coefficients are beyond 1e5.
    let groups = naive::random_rows(40, 3, 9);
    let twin = |row: &Vec<f64>| row.iter().map(|v| v + 1e-5).collect::<Vec<f64>>();
    let x: Matrix = groups.iter().flat_map(|row| [row.clone(), twin(row)]).collect();
    for seed in 0..5 {
        let fitted = basis(Method::Rpcholesky, 1.0).n_components(80).seed(seed).fit(&rows(&x)).expect("fits");
        assert_eq!((fitted.n_components(), fitted.stop), (40, Stop::Rank));
        let mut found: Vec<usize> = fitted.pivots.iter().map(|pivot| pivot / 2).collect();
        found.sort_unstable();
        assert_eq!(found, (0..40).collect::<Vec<_>>(), "one of each pair");
        assert!(fitted.residual > 1e-11, "{}: something is left of the twins", fitted.residual);
        assert!(fitted.orthogonality_loss(None).expect("loss") < 1e-10);
    }
}

#[test]
fn kfa_takes_the_best_of_the_candidates_drawn() {
    for (n, p, candidates, seed) in [
        (60, 2, Some(10), 1),
        (250, 5, Some(10), 2),
        (300, 20, Some(1), 3),
        (120, 3, Some(40), 4),
        (90, 4, None, 5),
    ] {
        let x = naive::random_rows(n, p, seed);
        let gamma = naive::gamma_scale(&x, false);
        let m = if p == 2 { 20 } else { n / 3 };
        let slow = naive::kfa(&gram(gamma, &x), candidates, seed, m);
        for data in [rows(&x), sparse(&x)] {
            let fast = basis(Method::Kfa, gamma).candidates(candidates).seed(seed).n_components(m);
            let fast = fast.fit(&data).expect("fits");
            assert_eq!(fast.pivots, slow, "{n} {candidates:?}");
            assert_eq!(fast.stop, Stop::Cap);
        }
    }
}

#[test]
fn kfa_agrees_with_the_reference_on_nasty_rows() {
    for (set, x) in naive::nasty_sets() {
        let gamma = naive::gamma_scale(&x, false);
        for candidates in [Some(3), Some(10), None] {
            let slow = naive::kfa(&gram(gamma, &x), candidates, 7, 8);
            let fast = basis(Method::Kfa, gamma).candidates(candidates).seed(7).n_components(8);
            assert_eq!(fast.fit(&rows(&x)).expect("fits").pivots, slow, "{set}, {candidates:?}");
        }
    }
}

#[test]
fn kfa_leaves_less_than_rpcholesky_and_all_candidates_leave_least() {
    let table = synth::generate("ringnorm?n=600&seed=3").expect("rows");
    let residual = |settings: Basis| -> f64 {
        let fit =
            |seed: u64| settings.clone().n_components(40).seed(seed).fit(&table.rows).expect("fits").residual;
        (0..5).map(fit).sum()
    };
    let kernel = Kernel::rbf(0.02);
    let drawn = residual(Basis::kfa(kernel));
    assert!(residual(Basis::kfa(kernel).candidates(None)) < drawn);
    assert!(drawn < 0.97 * residual(Basis::rpcholesky(kernel)));
}

#[test]
fn a_smaller_kfa_is_the_beginning_of_a_larger_one() {
    let x = rows(&naive::random_rows(300, 4, 9));
    for candidates in [Some(10), None] {
        let settings = basis(Method::Kfa, 0.1).candidates(candidates);
        let large = settings.clone().n_components(70).fit(&x).expect("fits");
        for m in [1, 7, 30] {
            let small = settings.clone().n_components(m).fit(&x).expect("fits");
            assert_eq!(small.pivots, large.pivots[..m]);
            for i in 0..m {
                for j in 0..m {
                    let (a, b) = (small.expansion.matrix[(i, j)], large.expansion.matrix[(i, j)]);
                    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0));
                }
            }
        }
    }
}

#[test]
fn kfa_stays_within_its_kernel_values() {
    for (n, m, gamma) in [(250, 40, 0.01), (2_000, 150, 0.01), (2_000, 100, 1e-4), (20_000, 60, 0.05)] {
        let table = synth::generate(&format!("ringnorm?n={n}&seed=1")).expect("rows");
        for candidates in [1, 10] {
            let settings = basis(Method::Kfa, gamma).candidates(Some(candidates)).n_components(m);
            let fitted = settings.fit(&table.rows).expect("fits");
            let (n, m, c) = (n as u64, fitted.n_components() as u64, candidates as u64);
            // Columns for the scores and for the factor, the diagonal, and a block's values among itself for each pivot.
            let budget = n * (3 * c * (m + 1) / 2 + m + 1) + 4 * c * m;
            let used = fitted.n_kernel_evaluations;
            assert!(used >= n * m && used <= budget, "n = {n}, c = {c}, m = {m}: {used} of {budget}");
        }
    }
    let table = synth::generate("ringnorm?n=500&seed=1").expect("rows");
    let fitted = basis(Method::Kfa, 0.01).candidates(None).n_components(100).fit(&table.rows).expect("fits");
    // Two blocks of at most 96 pivots.
    assert!(fitted.n_kernel_evaluations <= 2 * 500 * 500 + 2 * 500 * 101, "{}", fitted.n_kernel_evaluations);
}

#[test]
fn kfa_without_room_for_the_coordinates_finds_the_same_basis() {
    let table = synth::generate("ringnorm?n=1500&seed=5").expect("rows");
    let settings = basis(Method::Kfa, 0.02).n_components(120).seed(3);
    let kept = settings.fit(&table.rows).expect("fits");
    let again = fit_within(&settings, &table.rows, None, 8 * 1_500 * 120 - 1).expect("fits in less");
    assert!(again.warnings.iter().any(|w| w.contains("recomputed")), "{:?}", again.warnings);
    assert_eq!((&again.pivots, again.stop), (&kept.pivots, kept.stop));
    assert!((again.residual - kept.residual).abs() < 1e-10);
    let all = settings.candidates(None);
    let text = fit_within(&all, &table.rows, None, 8 * 1_500 * 1_500).expect_err("too little").to_string();
    assert!(text.contains("hint: set candidates to a number"), "{text}");
}

#[test]
fn kmeans_spans_the_means_of_its_clusters() {
    let x = naive::random_rows(300, 3, 7);
    for data in [rows(&x), sparse(&x)] {
        let fitted = basis(Method::Kmeans, 0.2).n_components(25).fit(&data).expect("fits");
        let Landmarks::Rows(centres) = &fitted.expansion.landmarks else { panic!("rows") };
        assert_eq!((centres.n(), centres.is_sparse()), (25, data.is_sparse()));
        assert_eq!((fitted.stop, fitted.n_components()), (Stop::Cap, 25));
        assert!(fitted.pivots.is_empty() && fitted.pivot_norms.len() == 25);
        // The same space as that of the centres given as rows, and the residual of the training rows.
        let given = basis(Method::Nystrom, 0.2).landmarks(centres.clone()).fit(&data).expect("fits");
        let (z, w) = (features(&fitted, &data), features(&given, &data));
        let inner = |z: &Matrix| naive::matmul(z, &naive::transpose(z));
        assert_close(&inner(&z), &inner(&w), 1e-9, "Z Zᵀ");
        assert!((fitted.residual - given.residual).abs() < 1e-10);
        // Every centre is the mean of the rows nearest to it, or nearly so after few rounds.
        let centres: Matrix = centres.to_dense().chunks(3).map(<[f64]>::to_vec).collect();
        let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let spread = |centres: &Matrix| -> f64 {
            x.iter().map(|r| centres.iter().map(|c| far(r, c)).fold(f64::INFINITY, f64::min)).sum()
        };
        let drawn: Matrix = x[..25].to_vec();
        assert!(spread(&centres) < 0.7 * spread(&drawn));
    }
}

#[test]
fn kmeans_leaves_less_than_any_rows_do_at_small_sizes() {
    let table = synth::generate("ringnorm?n=900&seed=4").expect("rows");
    let residual = |method: Method| {
        let settings = basis(method, 0.01).n_components(30);
        settings.fit(&table.rows).expect("fits").residual
    };
    assert!(residual(Method::Kmeans) < 0.97 * residual(Method::Nystrom));
}

#[test]
fn kmeans_has_fewer_components_where_fewer_rows_are_distinct() {
    let x: Matrix = (0..200).map(|i| vec![f64::from(i % 7), 1.0]).collect();
    let fitted = basis(Method::Kmeans, 0.3).n_components(20).fit(&rows(&x)).expect("fits");
    assert_eq!((fitted.n_components(), fitted.stop), (7, Stop::Rank));
    assert!(fitted.residual < 1e-12);
    let text = Basis::kmeans(Kernel::precomputed()).fit(&rows(&naive::identity(4))).expect_err("no rows");
    assert!(text.to_string().contains("`kmeans` averages rows, which a precomputed kernel"), "{text}");
    let opposite = rows(&vec![vec![1.0, 2.0], vec![-1.0, -2.0]]);
    let text =
        Basis::kmeans(Kernel::linear()).n_components(1).fit(&opposite).expect_err("nothing").to_string();
    assert!(text.contains("the rows cancel in their means"), "{text}");
    let wide = sparse(&naive::random_rows(4, 300, 1));
    let text = fit_within(&basis(Method::Kmeans, 1.0), &wide, None, 20_000).expect_err("memory").to_string();
    assert!(text.contains("4 centres of 300 columns need 29 kB") && text.contains("stay sparse"), "{text}");
}

#[test]
fn kmeans_of_many_rows_looks_at_a_sample() {
    let table = synth::generate("ringnorm?n=30000&seed=1").expect("rows");
    let fitted = basis(Method::Kmeans, 0.01).n_components(10).fit(&table.rows).expect("fits");
    assert_eq!((fitted.n_components(), fitted.n_rows), (10, 30_000));
    let z = features(&fitted, &table.rows.slice(0..2_000));
    let left: f64 = z.iter().map(|z| 1.0 - naive::dot(z, z)).sum::<f64>() / 2_000.0;
    assert!((fitted.residual - left).abs() < 0.02);
}

#[test]
fn csi_keeps_the_factor_of_a_sample_where_that_of_all_rows_would_not_fit() {
    let table = synth::generate("ringnorm?n=2000&seed=6").expect("rows");
    let labels =
        Labels::decide(table.target.clone().expect("labels"), mercer::data::Task::Auto).expect("labels");
    let settings = basis(Method::Csi, 0.02).n_components(100);
    let small = fit_within(&settings, &table.rows, Some(&labels), 1_000_000).expect("fits");
    assert_eq!(small.n_components(), 100);
}

#[test]
fn csi_has_the_pivots_of_the_reference() {
    for seed in [11, 12, 13] {
        let x = naive::random_rows(90, 4, seed);
        let gamma = naive::gamma_scale(&x, false);
        let codes: Vec<usize> =
            x.iter().map(|r| usize::from(r[0] * r[1] > 0.0) + usize::from(r[2] > 1.0)).collect();
        let labels = Labels::classes(&codes.iter().map(usize::to_string).collect::<Vec<_>>());
        let slow = naive::csi(&gram(gamma, &x), &naive::one_hot(&codes, 3), 0.99, 40, 25);
        let fast =
            basis(Method::Csi, gamma).n_components(25).fit_supervised(&rows(&x), &labels).expect("fits");
        assert_eq!(fast.pivots, slow);
    }
}

#[test]
fn kpca_equals_the_jacobi_reference_centred_or_not() {
    let x = naive::random_rows(70, 3, 14);
    let fresh = naive::random_rows(9, 3, 15);
    let gamma = naive::gamma_scale(&x, false);
    let k = gram(gamma, &x);
    let cross = naive::cross_gram("rbf", gamma, 3, 1.0, 1.0, &fresh, &x);
    for center in [false, true] {
        for (m, share) in [(Some(8), None), (None, Some(0.95)), (None, None)] {
            let mut settings = basis(Method::Kpca, gamma);
            (settings.n_components, settings.tol, settings.center) = (m, share, center);
            let fast = settings.fit(&rows(&x)).expect("fits");
            let (values, _) = naive::kpca(&k, m, share, center);
            let found = fast.eigenvalues.clone().expect("eigenvalues");
            assert_eq!(found.len(), values.len());
            for (a, b) in found.iter().zip(&values) {
                assert!((a - b).abs() < 1e-12 * values[0]);
            }
            let top = values.iter().take_while(|v| **v > 1e-3 * values[0]).count();
            let expected = naive::kpca_project(&k, &cross, Some(top), None, center);
            let z: Matrix = features(&fast, &rows(&fresh)).iter().map(|r| r[..top].to_vec()).collect();
            assert_close(&z, &expected, 1e-8, "features of new rows");
            let kept: f64 = values.iter().sum();
            let centered = if center { naive::center_gram(&k) } else { k.clone() };
            assert!((fast.residual - (1.0 - kept / naive::trace(&centered)).max(0.0)).abs() < 1e-10);
        }
    }
}

#[test]
fn a_few_components_of_many_rows_equal_those_of_the_full_decomposition() {
    let table = synth::generate("ringnorm?n=700&seed=2").expect("rows");
    let few = basis(Method::Kpca, 0.05).n_components(20).fit(&table.rows).expect("fits");
    // 500 of 700 components: too many for the Krylov space, so the full decomposition.
    let full = basis(Method::Kpca, 0.05).n_components(500).fit(&table.rows).expect("fits");
    let (few_values, full_values) =
        (few.eigenvalues.clone().expect("values"), full.eigenvalues.clone().expect("values"));
    for (a, b) in few_values.iter().zip(&full_values) {
        assert!((a - b).abs() < 1e-11 * full_values[0], "{a} for {b}");
    }
    let (a, b) = (features(&few, &table.rows), features(&full, &table.rows));
    // Components whose eigenvalues nearly coincide may rotate into each other; what they span may not.
    let b: Matrix = b.iter().map(|r| r[..20].to_vec()).collect();
    let gap = full_values[19] - full_values[20];
    let tolerance = 1e-9 * full_values[0] / gap;
    assert_close(
        &naive::matmul(&a, &naive::transpose(&a)),
        &naive::matmul(&b, &naive::transpose(&b)),
        tolerance,
        "ZZᵀ",
    );
}

#[test]
fn kpca_beyond_the_memory_budget_comes_from_a_factor_and_says_so() {
    let table = synth::generate("ringnorm?n=900&seed=4").expect("rows");
    for center in [false, true] {
        let mut settings = basis(Method::Kpca, 0.005).n_components(6);
        settings.center = center;
        let exact = settings.fit(&table.rows).expect("fits");
        let all = Basis { n_components: None, ..settings.clone() };
        let all = fit_within(&all, &table.rows, None, 10_000_000).expect_err("all").to_string();
        assert!(all.contains("the budget is 10 MB") && all.contains("hint: set n_components"), "{all}");
        let factor = fit_within(&settings, &table.rows, None, 10_000_000).expect("fits");
        assert!(
            factor.warnings.iter().any(|w| w.contains("does not fit into 10 MB")),
            "{:?}",
            factor.warnings
        );
        assert!(!factor.pivots.is_empty());
        let (a, b) = (features(&exact, &table.rows), features(&factor, &table.rows));
        assert_close(&b, &a, 1e-4, "features");
        assert!((exact.residual - factor.residual).abs() < 1e-6);
    }
}

#[test]
fn without_room_for_the_coordinates_the_same_basis_is_found() {
    let table = synth::generate("ringnorm?n=3000&seed=5").expect("rows");
    for (data, kernel) in [
        (table.rows.clone(), Kernel::rbf(0.02)),
        (sparse(&naive::random_rows(700, 9, 3)), Kernel::rbf(0.05)),
        (rows(&naive::random_rows(400, 30, 4)), Kernel { shape: Shape::Laplacian, gamma: 0.02 }),
    ] {
        for method in PIVOTED {
            let settings = Basis::new(method, kernel).n_components(data.n() / 4).seed(3);
            let kept = settings.fit(&data).expect("fits");
            let memory = 8 * (data.n() * data.n() / 4) as u64 - 1;
            let again = fit_within(&settings, &data, None, memory).expect("fits in less");
            assert!(again.warnings.iter().any(|w| w.contains("recomputed")), "{:?}", again.warnings);
            assert!(again.n_components() > 96, "several passes");
            assert_eq!(again.pivots, kept.pivots, "{}", method.name());
            assert_eq!(again.stop, kept.stop);
            assert!((again.residual - kept.residual).abs() < 1e-10);
            let some = data.slice(0..200);
            assert_close(&features(&again, &some), &features(&kept, &some), 1e-7, "features");
            assert!(again.orthogonality_loss(None).expect("loss") < 1e-7);
            assert!(kept.n_kernel_evaluations < again.n_kernel_evaluations);
        }
    }
}

#[test]
fn csi_chooses_among_a_sample_where_all_rows_do_not_fit() {
    let table = synth::generate("ringnorm?n=2000&seed=6").expect("rows");
    let labels =
        Labels::decide(table.target.clone().expect("labels"), mercer::data::Task::Auto).expect("labels");
    let settings = basis(Method::Csi, 0.02).n_components(20);
    let all = settings.fit_supervised(&table.rows, &labels).expect("fits");
    let small = fit_within(&settings, &table.rows, Some(&labels), 500_000).expect("fits");
    assert!(small.warnings[0].contains("chosen among 312 of them"), "{:?}", small.warnings);
    assert_eq!(small.n_components(), 20);
    // Pivots are places among all rows.
    let Landmarks::Rows(landmarks) = &small.expansion.landmarks else { panic!("rows") };
    assert_eq!(landmarks, &table.rows.select(&small.pivots));
    let cost = small.reconstruction_cost(&table.rows).expect("cost");
    assert!((small.residual.sqrt() - cost).abs() < 0.1 && small.residual < 1.2 * all.residual);
    let text = fit_within(&settings, &table.rows, Some(&labels), 10_000).expect_err("too little");
    assert!(text.to_string().contains("the budget is 10 kB"), "{text}");
}

#[test]
fn the_laws_of_an_orthonormal_basis_hold() {
    let x = naive::random_rows(150, 6, 16);
    let fresh = rows(&naive::random_rows(40, 6, 17));
    let labels = Labels::Numbers(x.iter().map(|r| r[0] * r[1]).collect());
    for method in Method::ALL {
        for kernel in ["rbf", "laplacian", "matern32", "rq", "poly", "linear", "cosine"] {
            let kernel = Kernel { shape: Shape::named(kernel, 2, 1.0, 1.0).expect("known"), gamma: 0.1 };
            let mut settings = Basis::new(method, kernel).n_components(40);
            settings.threshold = Some(Threshold::Constant(0.0));
            let fitted = settings.fit_supervised(&rows(&x), &labels).expect("fits");
            let name = format!("{} with {}", method.name(), kernel.shape.name());
            assert!(fitted.n_components() <= 40);
            let loss = fitted.orthogonality_loss(None).expect("loss");
            assert!(loss < 1e-8, "{name}: A K Aᵀ − I is {loss:e}");
            let z = features(&fitted, &fresh);
            let own = kernel.matrix(&fresh, &fresh).expect("values");
            for (i, z) in z.iter().enumerate() {
                let square = naive::dot(z, z);
                assert!(square <= own[(i, i)] * (1.0 + 1e-10), "{name}: ‖z‖² ≤ k(x,x)");
            }
        }
    }
}

#[test]
fn at_full_rank_the_features_give_the_kernel_back() {
    for (set, x) in naive::nasty_sets() {
        let gamma = naive::gamma_scale(&x, false);
        let k = gram(gamma, &x);
        for method in
            [Method::Kobl, Method::Sparse, Method::Nystrom, Method::Rpcholesky, Method::Kfa, Method::Kpca]
        {
            let mut settings = basis(method, gamma);
            (settings.threshold, settings.nu) = (Some(Threshold::Constant(0.0)), Some(0.0));
            let fitted = settings.fit(&rows(&x)).expect("fits");
            let z = features(&fitted, &rows(&x));
            // Squared residuals up to 1e−10 count as nothing. On one smooth column the orders that are not greedy meet
            // nearly dependent rows first and then, to stay orthonormal, leave out rows that are not.
            let in_any_order = set == "one column" && !matches!(method, Method::Kobl | Method::Kpca);
            let tolerance = if in_any_order { 1e-2 } else { 1e-8 };
            let what = format!("{set}, {}", method.name());
            assert_close(&naive::matmul(&z, &naive::transpose(&z)), &k, tolerance, &what);
            assert!(fitted.residual < tolerance, "{what}");
            assert!(fitted.orthogonality_loss(None).expect("loss") < 1e-4, "{what}");
        }
    }
}

#[test]
fn the_reported_residual_is_the_mean_squared_distance_from_the_span() {
    let x = naive::random_rows(120, 5, 18);
    let labels = Labels::Numbers(x.iter().map(|r| r[0]).collect());
    for method in Method::ALL {
        let fitted = basis(method, 0.1).n_components(15).fit_supervised(&rows(&x), &labels).expect("fits");
        let z = features(&fitted, &rows(&x));
        let left: f64 = z.iter().map(|z| 1.0 - naive::dot(z, z)).sum::<f64>() / 120.0;
        assert!((fitted.residual - left).abs() < 1e-10, "{}: {} for {left}", method.name(), fitted.residual);
        let cost = fitted.reconstruction_cost(&rows(&x)).expect("cost");
        assert!((cost - naive::reconstruction_cost(&[1.0; 120], &z)).abs() < 1e-9);
    }
}

#[test]
fn theorems_one_and_two_hold_for_kobl() {
    for seed in 0..8 {
        let x = naive::random_rows(150, 3, 20 + seed);
        let fitted = basis(Method::Kobl, naive::gamma_scale(&x, false)).fit(&rows(&x)).expect("fits");
        assert_eq!(fitted.stop, Stop::Rule);
        assert!(fitted.pivot_norms.windows(2).all(|r| r[1] <= r[0] + 1e-6), "norms never rise");
        let bound = fitted.pivot_norms[0] * fitted.n_components() as f64 / 150.0;
        assert!(fitted.reconstruction_cost(&rows(&x)).expect("cost") < bound);
    }
}

#[test]
fn pivoted_bases_stay_within_their_kernel_values() {
    for (n, m) in [(250, None), (250, Some(40)), (2_000, None), (50_000, Some(60))] {
        let table = synth::generate(&format!("ringnorm?n={n}&seed=1")).expect("rows");
        for method in PIVOTED {
            let mut settings = basis(method, 0.01);
            settings.n_components = m;
            let fitted = settings.fit(&table.rows).expect("fits");
            let (n, m) = (n as u64, fitted.n_components() as u64);
            let budget = 3 * n * (m + 1) / 2 + m * m;
            let used = fitted.n_kernel_evaluations;
            assert!(
                used >= n * m && used <= budget,
                "{}, n = {n}, m = {m}: {used} of {budget}",
                method.name()
            );
        }
    }
    let table = synth::generate("ringnorm?n=1000&seed=1").expect("rows");
    let labels =
        Labels::decide(table.target.clone().expect("classes"), mercer::data::Task::Auto).expect("labels");
    let fitted =
        basis(Method::Csi, 0.01).n_components(50).fit_supervised(&table.rows, &labels).expect("fits");
    assert!(fitted.n_kernel_evaluations <= 1_000 * (50 + 40 + 1), "{}", fitted.n_kernel_evaluations);
}

#[test]
fn early_stop_keeps_the_last_pivot() {
    // Rank 5: a peer came back with 4 vectors and 12 % trace error, another with pivots padded by 0.
    let x = naive::random_rows(60, 5, 30);
    let methods =
        [Method::Kobl, Method::Sparse, Method::Nystrom, Method::Rpcholesky, Method::Kfa, Method::GramSchmidt];
    for method in methods {
        let mut settings = Basis::new(method, Kernel::linear());
        settings.threshold = Some(Threshold::Constant(0.0));
        settings.nu = Some(0.0);
        let fitted = settings.fit(&rows(&x)).expect("fits");
        assert_eq!(fitted.n_components(), 5, "{}", method.name());
        assert!(fitted.residual < 1e-12);
        let mut pivots = fitted.pivots.clone();
        pivots.sort_unstable();
        pivots.dedup();
        assert_eq!(pivots.len(), 5, "pivots are distinct");
    }
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let table = synth::generate("ringnorm?n=1500&seed=6").expect("rows");
    let labels =
        Labels::decide(table.target.clone().expect("classes"), mercer::data::Task::Auto).expect("labels");
    for method in Method::ALL {
        for gamma in [Gamma::Scale, Gamma::Loo] {
            if gamma == Gamma::Loo && method != Method::Kobl {
                continue;
            }
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                pool.install(|| {
                    let settings = basis(method, 0.05).gamma(gamma).n_components(40);
                    let fitted = settings.fit_supervised(&table.rows, &labels).expect("fits");
                    let z = fitted.expansion.transform(&table.rows).expect("features");
                    let bits: Vec<u64> = (0..z.nrows())
                        .flat_map(|i| z.row(i).iter().map(|v| v.to_bits()).collect::<Vec<_>>())
                        .collect();
                    (fitted.pivots, fitted.residual.to_bits(), bits)
                })
            };
            let one = run(1);
            assert!(one == run(2) && one == run(3), "{} differs", method.name());
        }
    }
}

#[test]
fn a_precomputed_kernel_gives_what_the_kernel_itself_gives() {
    let x = naive::random_rows(80, 3, 31);
    let fresh = naive::random_rows(7, 3, 32);
    let k = gram(0.4, &x);
    let cross = rows(&naive::cross_gram("rbf", 0.4, 3, 1.0, 1.0, &fresh, &x));
    let labels = Labels::Numbers(x.iter().map(|r| r[0]).collect());
    for method in Method::ALL.into_iter().filter(|m| *m != Method::Kmeans) {
        let own = basis(method, 0.4).n_components(12).fit_supervised(&rows(&x), &labels).expect("fits");
        let given = Basis::new(method, Kernel::precomputed()).n_components(12);
        let given = given.fit_supervised(&rows(&k), &labels).expect("fits");
        assert_eq!(own.pivots, given.pivots);
        assert!(matches!(given.expansion.landmarks, Landmarks::Columns { n: 80, .. }));
        assert_close(&features(&given, &cross), &features(&own, &rows(&fresh)), 1e-8, method.name());
    }
}

#[test]
fn a_kernel_rounded_to_float32_is_taken_for_what_it_is() {
    let x = naive::random_rows(200, 2, 37);
    let rounded: Matrix =
        gram(0.1, &x).iter().map(|r| r.iter().map(|v| f64::from(*v as f32)).collect()).collect();
    for method in Method::ALL.into_iter().filter(|m| ![Method::Csi, Method::Kmeans].contains(m)) {
        let mut settings = Basis::new(method, Kernel::precomputed()).threshold(Threshold::Constant(0.0));
        settings.rounding = f64::from(f32::EPSILON);
        let fitted = settings.fit(&rows(&rounded)).expect("fits");
        assert!(fitted.residual < 1e-2, "{}: {}", method.name(), fitted.residual);
    }
}

#[test]
fn csi_stays_orthonormal_when_labels_ask_for_what_is_hardly_left() {
    let x: Matrix = (0..300).map(|i| vec![f64::from(i * 37 % 300) / 300.0]).collect();
    let mut state = 3;
    let labels = Labels::Numbers((0..300).map(|_| naive::random_normal(&mut state)).collect());
    for tol in [1e-4, 1e-8, 0.0] {
        let settings = Basis { tol: Some(tol), ..basis(Method::Csi, 0.05) };
        let fitted = settings.fit_supervised(&rows(&x), &labels).expect("fits");
        let loss = fitted.orthogonality_loss(None).expect("loss");
        assert!(loss < 1e-5, "tol = {tol}: {loss:e}");
    }
}

#[test]
fn training_rows_are_checked_even_when_landmarks_are_given() {
    let given = |kernel: Kernel, landmarks: Vec<f64>, x: Vec<f64>| {
        let landmarks = Some(Rows::dense(landmarks, 2, 1).expect("rows"));
        Basis { landmarks, ..Basis::kobl(kernel) }.fit(&Rows::dense(x, 2, 1).expect("rows"))
    };
    let chi2 = given(Kernel { shape: Shape::Chi2, gamma: 1.0 }, vec![1.0, 2.0], vec![-1.0, 3.0]);
    assert!(chi2.expect_err("negative").to_string().contains("at least 0"));
    let linear = given(Kernel::linear(), vec![1.0, 2.0], vec![1e200, 1.0]);
    assert!(linear.expect_err("overflow").to_string().contains("overflows"));
    assert_eq!(given(Kernel::linear(), vec![1.0, 2.0], vec![0.0, 0.0]).expect("fits").residual, 0.0);
}

#[test]
fn one_bad_label_is_refused_by_its_row() {
    let x = rows(&naive::random_rows(3, 2, 1));
    let labels = Labels::Numbers(vec![1.0, f64::NAN, 2.0]);
    let text = basis(Method::Csi, 1.0).fit_supervised(&x, &labels).expect_err("NaN").to_string();
    assert!(text.contains("not a finite number at row 2"), "{text}");
}

#[test]
fn equal_rows_have_no_centred_components() {
    let x = rows(&vec![vec![1.0, 2.0]; 4]);
    let text = Basis { center: true, ..basis(Method::Kpca, 1.0) }.fit(&x).expect_err("nothing").to_string();
    assert!(text.contains("nothing is left after centring"), "{text}");
}

#[test]
fn given_landmarks_are_what_the_basis_is_chosen_from() {
    let x = naive::random_rows(100, 3, 33);
    let own = naive::random_rows(25, 3, 34);
    for method in Method::ALL.into_iter().filter(|m| *m != Method::Csi) {
        let mut settings = basis(method, 0.3);
        settings.landmarks = Some(rows(&own));
        let fitted = settings.fit(&rows(&x)).expect("fits");
        let alone = basis(method, 0.3).fit(&rows(&own)).expect("fits");
        assert_eq!(fitted.pivots, alone.pivots);
        assert_eq!(fitted.expansion, alone.expansion);
        let z = features(&fitted, &rows(&x));
        let left: f64 = z.iter().map(|z| 1.0 - naive::dot(z, z)).sum::<f64>() / 100.0;
        assert!((fitted.residual - left).abs() < 1e-9, "the residual is of the training rows");
    }
    let mut csi = basis(Method::Csi, 0.3);
    csi.landmarks = Some(rows(&own));
    let labels = Labels::Numbers((0..100).map(|i| f64::from(i) + 0.5).collect());
    assert!(
        csi.fit_supervised(&rows(&x), &labels)
            .expect_err("refused")
            .to_string()
            .contains("leave landmarks out")
    );
}

#[test]
fn a_kernel_that_is_not_positive_semi_definite_is_named() {
    let x = rows(&naive::random_rows(60, 3, 35));
    let kernel = Kernel { shape: Shape::Sigmoid { coef0: -1.0 }, gamma: 1.0 };
    for method in [Method::Kobl, Method::Rpcholesky, Method::Kfa, Method::GramSchmidt, Method::Kpca] {
        let error = Basis::new(method, kernel).fit(&x).expect_err("not PSD");
        let text = error.to_string();
        assert!(matches!(error, Error::Numerical(_)), "{text}");
        assert!(
            text.contains("`sigmoid` is not positive semi-definite") && text.contains("hint: use"),
            "{text}"
        );
    }
}

#[test]
fn bad_settings_are_refused_in_words_before_any_work() {
    let x = rows(&naive::random_rows(20, 3, 36));
    let refuse = |change: &dyn Fn(&mut Basis), words: &str| {
        let mut settings = basis(Method::Kobl, 1.0);
        change(&mut settings);
        let text = settings.fit(&x).expect_err(words).to_string();
        assert!(text.contains(words), "{text}");
    };
    refuse(&|b| b.n_components = Some(0), "n_components = 0, but at least 1");
    refuse(&|b| b.nu = Some(1.0), "nu = 1, but it must be at least 0 and below 1");
    refuse(&|b| b.tol = Some(2.0), "tol = 2, but it must lie between 0 and 1");
    refuse(&|b| b.threshold = Some(Threshold::Constant(1.5)), "a constant must lie between 0 and 1");
    refuse(&|b| b.threshold = Some(Threshold::Power(0.0)), "the power must be finite and above 0");
    refuse(&|b| b.candidates = Some(0), "candidates = 0, but at least 1 is needed");
    refuse(&|b| b.center = true, "center = true is for the basis `kpca` alone");
    refuse(&|b| b.method = Method::Csi, "looks at the labels, but none were given");
    refuse(&|b| b.landmarks = Some(rows(&naive::random_rows(4, 2, 1))), "at least one row of 3 columns");
    let text = fit_within(&basis(Method::Kobl, 1.0), &x, None, 1_000).expect_err("memory").to_string();
    assert!(text.contains("the budget is 1 kB"), "{text}");
    let nan = Rows::dense(vec![1.0, 2.0, f64::NAN, 4.0], 2, 2).expect("rows");
    let text = basis(Method::Kobl, 1.0).fit(&nan).expect_err("NaN").to_string();
    assert!(text.contains("NaN at row 2, column 1"), "{text}");
    let zero = Rows::dense(vec![0.0; 6], 3, 2).expect("rows");
    for method in Method::ALL {
        let labels = Labels::Numbers(vec![0.5, 1.5, 2.5]);
        let text = Basis::new(method, Kernel::linear())
            .fit_supervised(&zero, &labels)
            .expect_err("zero")
            .to_string();
        assert!(text.contains("all zero in the kernel's space"), "{text}");
    }
    let labels = Labels::Numbers(vec![1.0; 3]);
    let text = basis(Method::Kobl, 1.0).fit_supervised(&x, &labels).expect_err("lengths").to_string();
    assert!(text.contains("20 rows, but 3 labels"), "{text}");
    let text = fit_within(&basis(Method::GramSchmidt, 1.0), &x, None, 1_000).expect_err("memory").to_string();
    assert!(text.contains("hint: use method = `kobl`"), "{text}");
}

#[test]
fn beyond_five_thousand_rows_the_cap_is_announced() {
    let table = synth::generate("ringnorm?n=5100&seed=1").expect("rows");
    let fitted = basis(Method::Sparse, 0.001).fit(&table.rows).expect("fits");
    assert!(fitted.warnings.iter().any(|w| w.contains("capped at 1000 components")), "{:?}", fitted.warnings);
}

#[test]
fn tiny_sets_work() {
    for x in [vec![vec![1.0]], vec![vec![1.0, 2.0], vec![3.0, -1.0]], vec![vec![2.0]; 5]] {
        let labels = Labels::Numbers((0..x.len()).map(|i| i as f64 + 0.5).collect());
        // A single label says nothing, which `csi` refuses.
        for method in Method::ALL.into_iter().filter(|m| x.len() > 1 || *m != Method::Csi) {
            let fitted = basis(method, 1.0).fit_supervised(&rows(&x), &labels).expect("fits");
            assert!(fitted.n_components() >= 1, "{} on {x:?}", method.name());
            assert!(fitted.residual < 1e-9);
        }
    }
}

#[test]
fn the_features_returned_by_fit_are_those_of_transform() {
    let x = rows(&naive::random_rows(90, 4, 40));
    let options = Options::default().with_coordinates();
    let labels = Labels::Numbers((0..90).map(|i| f64::from(i) * 0.3).collect());
    for method in Method::ALL {
        for landmarks in [None, Some(rows(&naive::random_rows(30, 4, 41)))] {
            if landmarks.is_some() && method == Method::Csi {
                continue;
            }
            let settings = Basis { landmarks, ..basis(method, 0.2).n_components(20) };
            let (fitted, z) = settings.fit_with(&x, Some(&labels), &options).expect("fits");
            let z = z.expect("wanted").to_dense();
            let z: Matrix = z.chunks(fitted.n_components()).map(<[f64]>::to_vec).collect();
            assert_close(&z, &features(&fitted, &x), 1e-9, method.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn permuting_the_rows_permutes_the_pivots(seed in 0u64..1_000, n in 5usize..60, p in 1usize..5) {
        let x = naive::random_rows(n, p, seed);
        let mut state = seed;
        let order = naive::random_order(n, naive::random_bits(&mut state));
        let permuted: Matrix = order.iter().map(|&i| x[i].clone()).collect();
        // A linear kernel, where no two residuals are tied at the start.
        let fit = |x: &Matrix| Basis::kobl(Kernel::linear()).threshold(Threshold::Constant(0.05)).fit(&rows(x)).expect("fits");
        let (a, b) = (fit(&x), fit(&permuted));
        prop_assert_eq!(a.pivots, b.pivots.iter().map(|&i| order[i]).collect::<Vec<_>>());
    }

    #[test]
    fn duplicated_rows_add_no_component(seed in 0u64..1_000, n in 3usize..40, p in 1usize..6) {
        let x = naive::random_rows(n, p, seed);
        let doubled: Matrix = x.iter().chain(&x).cloned().collect();
        let settings = basis(Method::Kobl, 0.5).threshold(Threshold::Constant(0.01));
        let (a, b) = (settings.fit(&rows(&x)).expect("fits"), settings.fit(&rows(&doubled)).expect("fits"));
        prop_assert_eq!(a.pivots, b.pivots);
    }

    #[test]
    fn a_constant_column_changes_nothing(seed in 0u64..1_000, n in 3usize..40, shift in -1e3..1e3f64) {
        let x = naive::random_rows(n, 3, seed);
        let wider: Matrix = x.iter().map(|r| [r.clone(), vec![shift]].concat()).collect();
        let settings = basis(Method::Kobl, 0.5).threshold(Threshold::Constant(0.02));
        let (a, b) = (settings.fit(&rows(&x)).expect("fits"), settings.fit(&rows(&wider)).expect("fits"));
        prop_assert_eq!(a.pivots, b.pivots);
    }

    #[test]
    fn scaling_the_kernel_scales_its_spectrum(seed in 0u64..1_000, factor in 1e-3..1e3f64) {
        let k = gram(0.4, &naive::random_rows(30, 3, seed));
        let scaled: Matrix = k.iter().map(|r| r.iter().map(|v| v * factor).collect()).collect();
        let values = |k: &Matrix| {
            let fitted = Basis::new(Method::Kpca, Kernel::precomputed()).n_components(5).fit(&rows(k)).expect("fits");
            fitted.eigenvalues.expect("values")
        };
        for (a, b) in values(&k).iter().zip(values(&scaled)) {
            prop_assert!((a * factor - b).abs() < 1e-10 * b.abs());
        }
    }
}

#[test]
fn an_overflowing_kernel_is_refused_by_every_method() {
    let rows = Rows::dense(vec![1e200, 2e200, 3.0], 3, 1).expect("rows");
    let labels = Labels::classes(&["a", "b", "a"]);
    for method in Method::ALL {
        let error =
            Basis::new(method, Kernel::linear()).fit_supervised(&rows, &labels).expect_err("overflows");
        assert!(matches!(&error, Error::Data(text) if text.contains("row 1")), "{method:?}: {error}");
    }
}

/// v by its definition, over the pairs that the library draws: half the mean squared distance of the images.
fn varies(k: &Matrix) -> f64 {
    let n = k.len();
    let all: f64 = (0..n).map(|i| k[i].iter().sum::<f64>()).sum::<f64>() / (n * n) as f64;
    (0..n).map(|i| k[i][i]).sum::<f64>() / n as f64 - all
}

#[test]
fn without_a_threshold_kobl_and_sparse_end_where_little_is_left_of_what_varies() {
    let x = naive::random_rows(400, 3, 61);
    for gamma in [1e-4, 1e-2, 1.0, 50.0] {
        let v = varies(&gram(gamma, &x));
        // The library looks at 200 pairs of rows, so that it knows v to about a tenth.
        for tol in [0.3, 0.03, 0.003] {
            let kobl = basis(Method::Kobl, gamma).tol(tol).fit(&rows(&x)).expect("fits");
            let what = format!("gamma {gamma}, tol {tol}, {} components", kobl.n_components());
            let norms = &kobl.pivot_norms;
            assert!(norms[1..].iter().all(|r| r * r >= 0.7 * tol * v), "{what}");
            let all =
                basis(Method::Kobl, gamma).threshold(Threshold::Constant(0.0)).fit(&rows(&x)).expect("fits");
            if let Some(next) = all.pivot_norms.get(norms.len()) {
                assert_eq!(kobl.stop, Stop::Rule, "{what}");
                assert!(next * next <= 1.4 * tol * v, "{what}: {next}");
            }
            assert_eq!(kobl.pivots, all.pivots[..norms.len()], "{what}");
            let sparse = basis(Method::Sparse, gamma).tol(tol).fit(&rows(&x)).expect("fits");
            assert!(sparse.pivot_norms[1..].iter().all(|r| r * r >= 0.7 * tol * v), "{what}");
            let left = features(&sparse, &rows(&x)).into_iter().map(|z| 1.0 - naive::dot(&z, &z));
            assert!(left.into_iter().all(|r| r <= 1.4 * tol * v + 1e-9), "{what}");
        }
    }
    // A wide kernel: the paper's rule ends at once, this one goes on.
    let x = naive::random_rows(100, 60, 62);
    let wide = |settings: Basis| settings.fit(&rows(&x)).expect("fits").n_components();
    let ours = wide(basis(Method::Kobl, 1e-4));
    let theirs = wide(basis(Method::Kobl, 1e-4).threshold(Threshold::Linear));
    assert!(ours > 2 * theirs, "{ours} against {theirs}");
}

#[test]
fn equal_rows_have_one_component_whatever_ends_a_basis() {
    let x = vec![vec![1.0, 2.0]; 30];
    for method in [Method::Kobl, Method::Sparse] {
        let fitted = basis(method, 1.0).fit(&rows(&x)).expect("fits");
        assert_eq!(fitted.n_components(), 1, "{}", method.name());
    }
    assert_eq!(basis(Method::Kobl, 1.0).fit(&rows(&x[..1].to_vec())).expect("fits").n_components(), 1);
}

#[test]
fn a_basis_shrinks_to_what_the_labels_ask_for() {
    let table = mercer::data::synth::generate("twonorm?n=400&seed=3").expect("rows");
    let labels = Labels::decide(table.target.expect("classes"), mercer::data::Task::Auto).expect("labels");
    let settings = Basis::rpcholesky(Kernel::rbf(0.02));
    let all = settings.fit_supervised(&table.rows, &labels).expect("fits");
    let options = mercer::Options::default().with_coordinates();
    let (small, z) = settings.clone().shrink(0).fit_with(&table.rows, Some(&labels), &options).expect("fits");
    let m = small.n_components();
    assert!((10..=200).contains(&m), "{m} of {}", all.n_components());
    assert_eq!(small.pivots, all.pivots[..m]);
    assert_eq!((small.stop, small.expansion.landmarks.len()), (Stop::Rule, m));
    assert!(small.orthogonality_loss(None).expect("loss") < 1e-8);
    // It is the basis of that size: coordinates and residual are its own.
    let same = settings.clone().n_components(m).fit(&table.rows).expect("fits");
    assert!((small.residual - same.residual).abs() < 1e-10, "{} for {}", small.residual, same.residual);
    let z: Matrix = z.expect("asked for").to_dense().chunks(m).map(<[f64]>::to_vec).collect();
    assert_close(&z, &features(&same, &table.rows), 1e-9, "coordinates");
    // It keeps what is asked for, and without labels all.
    let kept = settings.clone().shrink(m + 5).fit_supervised(&table.rows, &labels).expect("fits");
    assert!(kept.n_components() >= m + 5);
    assert_eq!(settings.shrink(0).fit(&table.rows).expect("fits").n_components(), all.n_components());
}

#[test]
fn gamma_is_found_by_left_out_error_where_there_are_labels() {
    let table = mercer::data::synth::generate("ringnorm?n=200&seed=4").expect("rows");
    let labels = Labels::decide(table.target.expect("classes"), mercer::data::Task::Auto).expect("labels");
    let unset = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Unset);
    let width = |settings: Basis, labels: Option<&Labels>| {
        let fitted = settings.fit_with(&table.rows, labels, &mercer::Options::default()).expect("fits").0;
        fitted.expansion.kernel.gamma
    };
    let rule = |rule: Gamma| unset.clone().gamma(rule);
    assert_eq!(width(unset.clone(), Some(&labels)), width(rule(Gamma::Loo), Some(&labels)));
    assert_eq!(width(unset.clone(), None), width(rule(Gamma::Scale), None));
    // One class tells nothing.
    let one = Labels::classes(&vec!["a"; 200]);
    assert_eq!(width(unset.clone(), Some(&one)), width(rule(Gamma::Scale), None));
    let wide = rows(&naive::random_rows(20, 30, 5));
    let median = unset.clone().gamma(Gamma::Median).fit(&wide).expect("fits").expansion.kernel.gamma;
    assert_eq!(unset.fit(&wide).expect("fits").expansion.kernel.gamma, median);
}

/// How many coordinates are relevant, by orthogonalising the centred columns one by one and trying every number.
fn relevant_by_hand(z: &Matrix, codes: &[usize]) -> usize {
    let (n, m) = (z.len(), z[0].len());
    let mut directions: Vec<Vec<f64>> = Vec::new();
    for j in 0..m {
        let mean = z.iter().map(|row| row[j]).sum::<f64>() / n as f64;
        let mut column: Vec<f64> = z.iter().map(|row| row[j] - mean).collect();
        for _ in 0..2 {
            for earlier in &directions {
                let along: f64 = column.iter().zip(earlier).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(earlier).for_each(|(v, e)| *v -= along * e);
            }
        }
        let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt();
        directions.push(column.iter().map(|v| v / norm).collect());
    }
    let classes = codes.iter().max().expect("rows") + 1;
    let energy = |u: &Vec<f64>| -> f64 {
        (0..classes)
            .map(|class| {
                u.iter().zip(codes).filter(|(_, code)| **code == class).map(|(u, _)| u).sum::<f64>().powi(2)
            })
            .sum()
    };
    let share = |class: usize| codes.iter().filter(|code| **code == class).count() as f64 / n as f64;
    let total: f64 = (0..classes).map(|class| n as f64 * share(class) * (1.0 - share(class))).sum();
    let value = |d: usize| {
        let signal: f64 = directions[..d].iter().map(energy).sum();
        let part = d as f64 / n as f64;
        part * (signal / d as f64).ln() + (1.0 - part) * ((total - signal) / (n - d) as f64).ln()
    };
    (1..m).min_by(|a, b| value(*a).total_cmp(&value(*b))).expect("two coordinates")
}

#[test]
fn relevant_keeps_the_components_that_a_search_by_hand_keeps() {
    let x = naive::random_rows(60, 3, 11);
    let codes: Vec<usize> = x.iter().map(|row| usize::from(row[0] * row[1] > 0.1)).collect();
    let labels = crate::extract::classes(&codes);
    for method in
        [Method::Kobl, Method::Rpcholesky, Method::Kfa, Method::Sparse, Method::GramSchmidt, Method::Csi]
    {
        let settings = basis(method, 0.5).n_components(25);
        let all = settings.fit_supervised(&rows(&x), &labels).expect("fits");
        let z = crate::extract::coordinates(&all, &rows(&x));
        let found = settings.relevant().fit_supervised(&rows(&x), &labels).expect("fits");
        let size = relevant_by_hand(&z, &codes);
        assert_eq!(found.n_components(), size, "{method:?}");
        assert_eq!(found.pivots, all.pivots[..size], "{method:?}");
        let first: Matrix = z.iter().map(|row| row[..size].to_vec()).collect();
        let own = crate::extract::coordinates(&found, &rows(&x));
        crate::extract::assert_close(&own.concat(), &first.concat(), 1e-9, method.name());
    }
}

#[test]
fn relevant_components_of_centred_kpca_are_the_relevant_dimension() {
    let x = naive::random_rows(50, 3, 5);
    let codes: Vec<usize> =
        x.iter().map(|row| usize::from(row[0] > 0.1) + usize::from(row[1] > 0.8)).collect();
    let (data, labels) = (rows(&x), crate::extract::classes(&codes));
    let settings = basis(Method::Kpca, 0.5).center(true).relevant();
    let found = settings.fit_supervised(&data, &labels).expect("fits");
    let k = Kernel::rbf(0.5).matrix(&data, &data).expect("kernel");
    let (dimension, _) =
        mercer::evaluate::metrics::relevant_dimension(k.as_ref(), &labels, &mercer::Monitor::default())
            .expect("rank");
    assert_eq!(found.n_components(), dimension);
    assert_eq!(found.eigenvalues.expect("of kpca").len(), dimension);
}

#[test]
fn relevant_needs_labels_and_an_order() {
    let x = rows(&naive::random_rows(20, 2, 1));
    let without = basis(Method::Kobl, 0.5).relevant().fit(&x).expect_err("refused").to_string();
    assert!(without.starts_with("n_components = relevant looks at the labels"), "{without}");
    let labels = crate::extract::classes(&(0..20).map(|i| i % 2).collect::<Vec<_>>());
    for method in [Method::Nystrom, Method::Kmeans] {
        let error =
            basis(method, 0.5).relevant().fit_supervised(&x, &labels).expect_err("refused").to_string();
        assert!(error.contains("have no order"), "{error}");
    }
}
